//! Measures the built-in image classifier on drawn images: shaded bodies, and other objects in the same colours.
//! `cargo nextest run -p curlew-screen drawn --no-capture` prints the figures.

use curlew_screen::image::{MAX_PIXELS, Rgb, SkinRegions};

const WIDTH: usize = 240;
const HEIGHT: usize = 320;
/// Skin colours from very light to very dark.
const TONES: [[f32; 3]; 6] = [
    [245.0, 214.0, 190.0],
    [232.0, 184.0, 152.0],
    [205.0, 150.0, 115.0],
    [165.0, 112.0, 80.0],
    [120.0, 76.0, 52.0],
    [84.0, 54.0, 38.0],
];

/// Returns a pseudorandom number from 0 to 1, which depends only on the arguments.
fn noise(x: usize, y: usize, seed: usize) -> f32 {
    let mut n = (x * 374_761_393).wrapping_add(y * 668_265_263).wrapping_add(seed * 2_147_483_647) as u32;
    n = (n ^ (n >> 13)).wrapping_mul(1_274_126_177);
    ((n ^ (n >> 16)) & 0xffff) as f32 / 65_535.0
}

fn drawn(paint: impl Fn(f32, f32, usize, usize) -> [f32; 3]) -> f32 {
    let mut pixels = Vec::with_capacity(WIDTH * HEIGHT * 3);
    for y in 0..HEIGHT {
        for x in 0..WIDTH {
            let colour = paint(x as f32 / WIDTH as f32, y as f32 / HEIGHT as f32, x, y);
            pixels.extend(colour.map(|c| c.clamp(0.0, 255.0) as u8));
        }
    }
    let image = Rgb::new(WIDTH, HEIGHT, &pixels).unwrap();
    SkinRegions::look(&image).map_or(0.0, |seen| seen.score.score)
}

/// Returns the score of an upright body in front of a wall, lit from one side, with half the width `half` as a share of
/// the image.
fn body(tone: [f32; 3], half: f32, seed: usize) -> f32 {
    drawn(|x, y, px, py| {
        let waist = half * (1.0 - 0.25 * (y * 9.0 + seed as f32).sin().abs());
        let across = (x - 0.5) / waist;
        if across.abs() > 1.0 {
            return [70.0, 90.0 + 40.0 * y, 120.0];
        }
        let light = 0.62 + 0.38 * (1.0 - (across - 0.3).powi(2)).max(0.0) + 0.03 * noise(px, py, seed);
        tone.map(|c| c * light)
    })
}

/// Returns the score of a face and neck above dark clothes.
fn portrait(tone: [f32; 3], seed: usize) -> f32 {
    drawn(|x, y, px, py| {
        let face = ((x - 0.5) / 0.22).powi(2) + ((y - 0.35) / 0.22).powi(2);
        let light = 0.7 + 0.3 * (1.0 - face).max(0.0) + 0.03 * noise(px, py, seed);
        if face < 1.0 {
            tone.map(|c| c * light)
        } else if y > 0.6 {
            [30.0, 35.0, 60.0]
        } else {
            [150.0, 170.0, 160.0]
        }
    })
}

fn harmless() -> Vec<(&'static str, f32)> {
    let mut scores = Vec::new();
    for (seed, tone) in TONES.into_iter().enumerate() {
        scores.push(("portrait", portrait(tone, seed)));
        let grain = |x: f32, px, py| tone.map(|c| c * (0.5 + 0.2 * x + 0.9 * noise(px / 4, py / 4, seed)));
        scores.push(("sand", drawn(|x, _, px, py| grain(x, px, py))));
        scores.push(("wood", drawn(|x, y, _, _| tone.map(|c| c * (0.7 + 0.35 * (x * 90.0 + (y * 4.0).sin()).sin())))));
        scores.push(("flat colour", drawn(|_, _, _, _| tone)));
    }
    for seed in 0..6 {
        scores.push(("meadow", drawn(|_, y, px, py| [60.0, 120.0 + 60.0 * noise(px, py, seed), 40.0 + 20.0 * y])));
        scores.push(("sea", drawn(|_, y, px, py| [20.0, 80.0 + 60.0 * y, 160.0 + 30.0 * noise(px, py, seed)])));
        scores.push((
            "grey text",
            drawn(|_, _, px, py| [if noise(px / 3, py / 6, seed) > 0.7 { 40.0 } else { 250.0 }; 3]),
        ));
        scores.push(("sunset", drawn(|_, y, _, _| [250.0 - 40.0 * y, 200.0 - 150.0 * y, 60.0 + 60.0 * y])));
    }
    scores
}

#[test]
fn bodies_are_told_from_drawn_things_of_their_colours() {
    let seen_from = 0.2;
    let bodies: Vec<f32> =
        (0..30).map(|n| body(TONES[n % TONES.len()], 0.34 + 0.05 * (n / TONES.len()) as f32, n)).collect();
    let found = bodies.iter().filter(|s| **s >= seen_from).count();
    let others = harmless();
    let wrong: Vec<_> = others.iter().filter(|(_, s)| *s >= seen_from).collect();
    println!("bodies: {found} of {} found; {bodies:?}", bodies.len());
    println!("others: {} of {} taken for bodies: {wrong:?}", wrong.len(), others.len());
    assert!(found * 10 >= bodies.len() * 8);
    assert!(wrong.len() * 10 <= others.len() * 2);
}

#[test]
fn colours_alone_never_reach_the_threshold() {
    let most = (0..6).map(|n| body(TONES[n], 0.6, n)).chain(harmless().into_iter().map(|(_, s)| s)).fold(0.0, f32::max);
    assert!(most < curlew_screen::REJECT_AT, "{most}");
}

#[test]
fn only_what_fits_is_an_image() {
    assert!(Rgb::new(2, 2, &[0; 12]).is_some());
    for (width, height, bytes) in [(0, 0, 0), (2, 2, 11), (2, 2, 13), (usize::MAX, 2, 6), (MAX_PIXELS + 1, 1, 3)] {
        assert!(Rgb::new(width, height, &vec![0; bytes]).is_none());
    }
    assert_eq!(SkinRegions::look(&Rgb::new(1, 1, &[0, 0, 0]).unwrap()), None);
}
