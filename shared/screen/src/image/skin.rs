//! Skin region analysis: measures how much of an image one connected region of skin colours fills. Sand, wood, fur and
//! portraits have the same colours, so the score alone never reaches the default threshold. It counts only together
//! with words of the page that come close to the threshold by themselves.

use super::{Detection, ImageClassifier, ImageInput, NotClassified, Region, Rgb};
use crate::topic::{Topic, TopicScore};
use async_trait::async_trait;

/// Maximum number of cells on the longer side of the grid.
const GRID: usize = 96;
/// Minimum share of the image for a region to count.
const REGION_FROM: f32 = 0.25;
/// Share of the image from which a region gets the full score.
const REGION_FULL: f32 = 0.6;
/// Maximum score: colours alone prove nothing.
const MAX_SCORE: f32 = 0.45;
/// Maximum mean difference between neighbouring cells, of 255. A grainier region is sand, wood or fur.
const MAX_GRAIN: f32 = 14.0;
/// Minimum standard deviation of brightness, of 255. A flatter region is a drawing, not a lit body.
const MIN_SPREAD: f32 = 6.0;
/// Share of untouched border from which a region is taken for a portrait, which halves the score.
const BORDER_FREE: f32 = 0.97;

/// The built-in classifier, for [`Topic::Adult`] only.
#[derive(Clone, Copy, Debug, Default)]
pub struct SkinRegions;

impl SkinRegions {
    /// Classifies an image in time proportional to its pixels: about a millisecond for a thumbnail.
    pub fn look(image: &Rgb<'_>) -> Option<Detection> {
        let patch = Grid::from_image(image).largest_region()?;
        let score = patch.score();
        if score <= 0.0 {
            return None;
        }
        let why = format!("one region with the colours of skin fills {:.0} % of it", patch.share * 100.0);
        Some(Detection { score: TopicScore { topic: Topic::Adult, score }, why, region: Some(patch.place) })
    }
}

#[async_trait]
impl ImageClassifier for SkinRegions {
    fn name(&self) -> &'static str {
        "skin regions"
    }

    fn highest(&self) -> f32 {
        MAX_SCORE
    }

    async fn classify(&self, image: &ImageInput<'_>) -> Result<Vec<Detection>, NotClassified> {
        Ok(SkinRegions::look(&image.rgb).into_iter().collect())
    }
}

/// The image in equal square cells, each the mean of its pixels.
struct Grid {
    width: usize,
    height: usize,
    cells: Vec<[f32; 3]>,
}

/// The largest connected region of skin colours.
#[derive(Clone, Copy, Debug)]
struct Patch {
    /// Bounding box.
    place: Region,
    /// Share of the image's cells in the region.
    share: f32,
    /// Mean difference in brightness between neighbouring cells.
    grain: f32,
    /// Standard deviation of the brightness.
    spread: f32,
    /// Share of the image's border that the region does not touch.
    border_free: f32,
}

impl Patch {
    fn score(&self) -> f32 {
        if self.grain > MAX_GRAIN || self.spread < MIN_SPREAD {
            return 0.0;
        }
        let size = ((self.share - REGION_FROM) / (REGION_FULL - REGION_FROM)).clamp(0.0, 1.0);
        let whole = if self.border_free >= BORDER_FREE { 0.5 } else { 1.0 };
        (size * whole * MAX_SCORE * 1_000.0).round() / 1_000.0
    }
}

impl Grid {
    fn from_image(image: &Rgb<'_>) -> Grid {
        let side = image.width().max(image.height()).div_ceil(GRID).max(1);
        let (width, height) = (image.width().div_ceil(side), image.height().div_ceil(side));
        let mut sums = vec![([0.0_f32; 3], 0.0_f32); width * height];
        for (at, pixel) in image.pixels().enumerate() {
            let (x, y) = (at % image.width() / side, at / image.width() / side);
            if let Some((sum, count)) = sums.get_mut(y * width + x) {
                sum.iter_mut().zip(pixel).for_each(|(s, p)| *s += f32::from(p));
                *count += 1.0;
            }
        }
        let cells = sums.into_iter().map(|(sum, count)| sum.map(|s| s / count.max(1.0))).collect();
        Grid { width, height, cells }
    }

    fn largest_region(&self) -> Option<Patch> {
        let mut left: Vec<bool> = self.cells.iter().map(|c| is_skin(*c)).collect();
        let mut largest: Vec<usize> = Vec::new();
        for start in 0..left.len() {
            let region = self.take_region(start, &mut left);
            if region.len() > largest.len() {
                largest = region;
            }
        }
        (!largest.is_empty()).then(|| self.measure(&largest))
    }

    /// Returns the cells connected with `start`. Each cell is taken once, so all regions together take linear time.
    fn take_region(&self, start: usize, left: &mut [bool]) -> Vec<usize> {
        let mut region = Vec::new();
        let mut open = vec![start];
        while let Some(at) = open.pop() {
            if std::mem::take(&mut left[at]) {
                region.push(at);
                open.extend(self.neighbours(at));
            }
        }
        region
    }

    fn neighbours(&self, at: usize) -> impl Iterator<Item = usize> + use<> {
        let (x, y, width, height) = (at % self.width, at / self.width, self.width, self.height);
        let beside = [(x > 0).then(|| at - 1), (x + 1 < width).then_some(at + 1)];
        let above = [(y > 0).then(|| at - width), (y + 1 < height).then_some(at + width)];
        beside.into_iter().chain(above).flatten()
    }

    fn measure(&self, region: &[usize]) -> Patch {
        let light = |at: usize| self.cells.get(at).map_or(0.0, |[r, g, b]| 0.299 * r + 0.587 * g + 0.114 * b);
        let count = region.len() as f32;
        let mean = region.iter().map(|at| light(*at)).sum::<f32>() / count;
        let variance = region.iter().map(|at| (light(*at) - mean).powi(2)).sum::<f32>() / count;
        let steps: Vec<f32> =
            region.iter().flat_map(|at| self.neighbours(*at).map(|n| (light(*at) - light(n)).abs())).collect();
        let on_border = |at: usize| {
            let (x, y) = (at % self.width, at / self.width);
            x == 0 || y == 0 || x + 1 == self.width || y + 1 == self.height
        };
        let border = (2 * (self.width + self.height)) as f32;
        let touched = region.iter().filter(|at| on_border(**at)).count() as f32;
        Patch {
            place: self.enclosing(region),
            share: count / self.cells.len() as f32,
            grain: steps.iter().sum::<f32>() / (steps.len() as f32).max(1.0),
            spread: variance.sqrt(),
            border_free: 1.0 - touched / border,
        }
    }

    fn enclosing(&self, region: &[usize]) -> Region {
        let bounds = |at: fn(usize, usize) -> usize, size: usize| {
            let places = || region.iter().map(|cell| at(*cell, self.width));
            let (first, last) = (places().min().unwrap_or(0), places().max().unwrap_or(0));
            let percent = |cells: usize| u8::try_from(cells * 100 / size).unwrap_or(100);
            (percent(first), percent(last + 1) - percent(first))
        };
        let (left, width) = bounds(|cell, width| cell % width, self.width);
        let (top, height) = bounds(|cell, width| cell / width, self.height);
        Region { left, top, width, height }
    }
}

/// True for skin colours, light or dark, whose hues are similar in the chroma planes of ITU-R BT.601.
fn is_skin([r, g, b]: [f32; 3]) -> bool {
    let cb = 128.0 - 0.169 * r - 0.331 * g + 0.5 * b;
    let cr = 128.0 + 0.5 * r - 0.419 * g - 0.081 * b;
    let lit = r > 60.0 && r > g && g > b * 0.8 && r - b > 15.0;
    lit && (80.0..=125.0).contains(&cb) && (136.0..=172.0).contains(&cr)
}
