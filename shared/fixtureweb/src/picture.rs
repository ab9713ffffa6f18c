//! Small landscapes of 640 x 360 pixels, drawn from a seed: a sky, a sun, three ranges of hills.

use crate::text::Mixer;
use bytes::Bytes;
use image::{DynamicImage, ImageFormat, Rgb, RgbImage};
use std::collections::HashMap;
use std::io::Cursor;
use std::sync::{Arc, Mutex, PoisonError};

pub(crate) const WIDTH: u32 = 640;
pub(crate) const HEIGHT: u32 = 360;

/// Maximum number of cached pictures (about 10 to 40 KB each).
const MAX_KEPT: usize = 1_024;

const HILLS: usize = 3;
/// Side length in pixels of the squares in a picture: larger squares are drawn faster. Must divide both dimensions.
const GRAIN: usize = 2;

#[derive(Clone, Debug, Default)]
pub(crate) struct Gallery(Arc<Mutex<HashMap<(u64, ImageFormat), Bytes>>>);

impl Gallery {
    /// Returns the picture of this seed, drawn on first use. Blocks for some milliseconds, so do not call it on an
    /// async thread.
    pub(crate) fn picture(&self, seed: u64, form: ImageFormat) -> Bytes {
        if let Some(kept) = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&(seed, form)) {
            return kept.clone();
        }
        let drawn = encode(draw(seed), form);
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() < MAX_KEPT {
            kept.insert((seed, form), drawn.clone());
        }
        drawn
    }
}

fn encode(picture: RgbImage, format: ImageFormat) -> Bytes {
    let mut out = Cursor::new(Vec::new());
    // Writing to memory does not fail; an empty body would reveal it.
    match DynamicImage::ImageRgb8(picture).write_to(&mut out, format) {
        Ok(()) => Bytes::from(out.into_inner()),
        Err(_) => Bytes::new(),
    }
}

fn draw(seed: u64) -> RgbImage {
    let mut mixer = Mixer::new(seed);
    let top = colour(&mut mixer, 60, 120);
    let bottom = colour(&mut mixer, 170, 80);
    let shades: [[u8; 3]; HILLS] = std::array::from_fn(|i| shade(&mut mixer, i).0);
    let outlines: [Vec<u32>; HILLS] = std::array::from_fn(|i| outline(&mut mixer, i as u32));
    let columns: Vec<[u32; HILLS]> =
        (0..WIDTH as usize).map(|x| std::array::from_fn(|i| outlines[i].get(x).copied().unwrap_or(HEIGHT))).collect();
    let (sun_x, sun_y) = (80 + mixer.below(480) as i64, 40 + mixer.below(90) as i64);
    let radius = 18 + mixer.below(24) as i64;
    let sun = [250, 225 + mixer.below(30) as u8, 150 + mixer.below(80) as u8];
    let mut pixels = Vec::with_capacity((WIDTH * HEIGHT * 3) as usize);
    let mut row = Vec::with_capacity((WIDTH * 3) as usize);
    for y in (0..HEIGHT).step_by(GRAIN) {
        let sky = blend(top, bottom, y).0;
        let reach = radius * radius - (i64::from(y) - sun_y).pow(2);
        let half = if reach > 0 { reach.isqrt() } else { -1 };
        row.clear();
        for (x, column) in columns.iter().enumerate().step_by(GRAIN) {
            let colour = match column.iter().rposition(|height| y >= *height) {
                Some(range) => shades[range],
                None if (x as i64 - sun_x).abs() <= half => sun,
                None => sky,
            };
            row.extend_from_slice([colour; GRAIN].as_flattened());
        }
        (0..GRAIN).for_each(|_| pixels.extend_from_slice(&row));
    }
    RgbImage::from_raw(WIDTH, HEIGHT, pixels).unwrap_or_default()
}

fn colour(mixer: &mut Mixer, floor: usize, span: usize) -> Rgb<u8> {
    let mut channel = || (floor + mixer.below(span)).min(255) as u8;
    Rgb([channel(), channel(), channel()])
}

/// Returns the colour of a range of hills; nearer ones are darker.
fn shade(mixer: &mut Mixer, range: usize) -> Rgb<u8> {
    let floor = [110, 70, 30].get(range).copied().unwrap_or(30);
    let base = colour(mixer, floor, 40);
    Rgb([base[0], base[1].saturating_add(25), base[2]])
}

/// Returns the height of a range above each column, as the sum of two triangle waves.
fn outline(mixer: &mut Mixer, range: u32) -> Vec<u32> {
    let base = 170 + 55 * range;
    let (long, short) = (170 + mixer.below(160) as u32, 40 + mixer.below(60) as u32);
    let (shift_long, shift_short) = (mixer.below(300) as u32, mixer.below(90) as u32);
    let wave = |x: u32, period: u32, height: u32| {
        let phase = x % period;
        let up = if phase * 2 < period { phase } else { period - phase };
        up * 2 * height / period
    };
    (0..WIDTH)
        .map(|x| (base + wave(x + shift_long, long, 60) + wave(x + shift_short, short, 14)).min(HEIGHT - 1))
        .collect()
}

fn blend(top: Rgb<u8>, bottom: Rgb<u8>, y: u32) -> Rgb<u8> {
    let mix = |a: u8, b: u8| ((u32::from(a) * (HEIGHT - y) + u32::from(b) * y) / HEIGHT) as u8;
    Rgb([mix(top[0], bottom[0]), mix(top[1], bottom[1]), mix(top[2], bottom[2])])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_can_be_read_and_differ() {
        let gallery = Gallery::default();
        for (seed, form) in [(1, ImageFormat::Jpeg), (2, ImageFormat::Png)] {
            let bytes = gallery.picture(seed, form);
            let read = image::load_from_memory(&bytes).map(|p| (p.width(), p.height())).ok();
            assert_eq!(read, Some((WIDTH, HEIGHT)));
            assert!(bytes.len() < 120_000, "{} bytes", bytes.len());
            assert_eq!(bytes, gallery.picture(seed, form));
        }
        assert_ne!(gallery.picture(3, ImageFormat::Jpeg), gallery.picture(1, ImageFormat::Jpeg));
    }
}
