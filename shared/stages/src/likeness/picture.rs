//! Perceptual hash of a picture: whether each of its 64 coarsest waves is stronger than their median.
//!
//! The picture in shades of grey, 32 by 32, is taken apart into waves by the discrete cosine transform, as JPEG does it.
//! The coarsest ones are what is left of a picture in every size and quality; brightness is left out with the wave that
//! has no length, and contrast with the median.

use curlew_model::Fingerprint;
use image::RgbImage;
use image::imageops::{self, FilterType};
use std::f32::consts::PI;

/// Width and height of the picture that is looked at, in pixels.
const SIDE: usize = 32;
/// Waves that count: the first ones by their sum of crests across and down, without the one that has none.
const WAVES: usize = 64;
/// Crests of a wave, across or down, that the first 64 have at most, and one more.
const CRESTS: usize = 11;
/// A picture whose shades deviate less than this from their mean, of 255, shows nothing that could be told apart.
const MIN_DEVIATION: f32 = 3.0;

/// The fingerprint of a picture; none if there is nothing to see on it, or if it has no pixels.
pub fn of_picture(picture: &RgbImage) -> Option<Fingerprint> {
    if picture.width() == 0 || picture.height() == 0 {
        return None;
    }
    let grey = imageops::grayscale(picture);
    let small = imageops::resize(&grey, SIDE as u32, SIDE as u32, FilterType::Triangle);
    let shades: Vec<f32> = small.pixels().map(|p| f32::from(p.0[0])).collect();
    if deviation(&shades) < MIN_DEVIATION {
        return None;
    }
    let waves = waves(&shades);
    let mut sorted = waves;
    sorted.sort_by(f32::total_cmp);
    let median = f32::midpoint(sorted[WAVES / 2 - 1], sorted[WAVES / 2]);
    let bits = waves.iter().enumerate().filter(|(_, wave)| **wave > median);
    Some(Fingerprint(bits.fold(0, |sum, (bit, _)| sum | 1 << bit)))
}

fn deviation(shades: &[f32]) -> f32 {
    let count = shades.len() as f32;
    let mean = shades.iter().sum::<f32>() / count;
    (shades.iter().map(|s| (s - mean).powi(2)).sum::<f32>() / count).sqrt()
}

/// How strong each wave is (DCT-II), the coarsest first.
fn waves(shades: &[f32]) -> [f32; WAVES] {
    let cosine = |crests: usize, at: usize| ((2 * at + 1) as f32 * crests as f32 * PI / (2 * SIDE) as f32).cos();
    let mut table = [[0.0f32; SIDE]; CRESTS];
    for (crests, row) in table.iter_mut().enumerate() {
        row.iter_mut().enumerate().for_each(|(at, value)| *value = cosine(crests, at));
    }
    // Across first, then down: a wave is the product of two.
    let mut across = [[0.0f32; SIDE]; CRESTS];
    for (y, line) in shades.chunks_exact(SIDE).enumerate() {
        for (crests, row) in table.iter().enumerate() {
            across[crests][y] = row.iter().zip(line).map(|(c, s)| c * s).sum();
        }
    }
    let mut order: Vec<(usize, usize)> = (0..CRESTS).flat_map(|u| (0..CRESTS).map(move |v| (u, v))).collect();
    order.sort_by_key(|(u, v)| (u + v, *u));
    let mut waves = [0.0f32; WAVES];
    for (wave, (u, v)) in waves.iter_mut().zip(order.iter().skip(1)) {
        *wave = table[*v].iter().zip(&across[*u]).map(|(c, s)| c * s).sum();
    }
    waves
}
