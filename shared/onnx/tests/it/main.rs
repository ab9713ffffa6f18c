//! Tests of loading models with their cards, and of classifying images.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test may panic, and writes the model that it reads"
)]

mod known;
mod reference;
mod tiny;

use curlew_onnx::Onnx;
use curlew_screen::Topic;
use curlew_screen::image::{Detection, ImageClassifier, ImageInput, Rgb};
use std::path::PathBuf;
use tempfile::TempDir;

const CARD: &str = r#"
name = "a model of red"
file = "red.onnx"
width = 8
height = 8
activation = "sigmoid"

[[label]]
name = "grey"

[[label]]
name = "red"
topic = "violence"
from = 0.6
"#;

/// Weights: red without green and blue yields the label "red", and equal colours yield none.
const WEIGHTS: [[f32; 3]; 2] = [[0.0, 0.0, 0.0], [12.0, -6.0, -6.0]];

fn written(card: &str, model: &[u8]) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("card.toml");
    std::fs::write(&path, card).unwrap();
    std::fs::write(folder.path().join("red.onnx"), model).unwrap();
    (folder, path)
}

async fn classified(onnx: &Onnx, colour: [u8; 3], (width, height): (usize, usize)) -> Vec<Detection> {
    let pixels = colour.repeat(width * height);
    let rgb = Rgb::new(width, height, &pixels).unwrap();
    onnx.classify(&ImageInput { rgb, jpeg: &[] }).await.unwrap()
}

#[test]
fn a_model_with_another_hash_is_refused() {
    let card = |hash: &str| format!("sha256 = \"{hash}\"\n{CARD}");
    let (_folder, path) = written(&card("00"), &tiny::of_colours(8, &WEIGHTS));
    let error = Onnx::load(&path).unwrap_err().to_string();
    assert!(error.contains("and the card states 00"), "{error}");
    let hash = error.split("its SHA-256 is ").nth(1).and_then(|rest| rest.split(',').next()).unwrap();
    std::fs::write(&path, card(hash)).unwrap();
    assert!(Onnx::load(&path).is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_model_says_what_its_card_makes_of_it() {
    let (_folder, card) = written(CARD, &tiny::of_colours(8, &WEIGHTS));
    let onnx = Onnx::load(&card).unwrap();
    assert_eq!(onnx.name(), "a model of red");
    let red = classified(&onnx, [250, 20, 20], (320, 200)).await;
    assert_eq!((red.len(), red[0].score.topic), (1, Topic::Violence));
    assert!(red[0].score.score > 0.99, "{red:?}");
    assert_eq!(red[0].why, "a model of red calls it “red” with 100 %");
    let grey = classified(&onnx, [120, 120, 120], (7, 301)).await;
    // The sigmoid of 0 is 0.5, which is below the label's threshold of 0.6.
    assert!((grey[0].score.score - 0.5 / 0.6 * 0.5).abs() < 0.002, "{grey:?}");
    let again = classified(&onnx, [250, 20, 20], (320, 200)).await;
    assert_eq!(red, again, "the same image is classified the same way");
}

#[tokio::test(start_paused = true)]
async fn mean_std_and_softmax_are_those_of_the_card() {
    let card = CARD.replace("activation = \"sigmoid\"", "mean = [0.5, 0.5, 0.5]\nstd = [0.25, 0.25, 0.25]");
    let (_folder, card) = written(&card, &tiny::of_colours(8, &[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]));
    let onnx = Onnx::load(&card).unwrap();
    // (1 - 0.5) / 0.25 = 2. The softmax of 0 and 2 is 0.881, and a probability of 0.6 has a score of 0.5.
    let white = classified(&onnx, [255, 255, 255], (8, 8)).await;
    assert!((white[0].score.score - (0.5 + (0.881 - 0.6) / 0.4 * 0.5)).abs() < 0.003, "{white:?}");
}

#[tokio::test(start_paused = true)]
async fn channels_range_and_the_centre_are_those_of_the_card() {
    // Only the centre of the image is red. In the order blue, green, red it is in the third channel.
    let card =
        CARD.replace("width = 8", "width = 8\nresize = [32, 8]\nchannels = \"bgr\"\nrange = 255\nmean = [255, 0, 0]");
    let (_folder, path) = written(&card, &tiny::of_colours(8, &[[0.0, 0.0, 0.0], [0.0, 0.0, 1.0]]));
    let onnx = Onnx::load(&path).unwrap();
    let mut pixels = Vec::new();
    for at in 0..64 * 16 {
        pixels.extend(if (20..44).contains(&(at % 64)) { [255, 0, 0] } else { [0, 0, 0] });
    }
    let score = |found: Vec<Detection>| found[0].score.score;
    let middle = onnx.classify(&ImageInput { rgb: Rgb::new(64, 16, &pixels).unwrap(), jpeg: &[] }).await.unwrap();
    // Red in the centre, minus its mean, is 0. The sigmoid of 0 is 0.5, or 0.5 / 0.6 of the threshold.
    assert!((score(middle) - 0.5 / 0.6 * 0.5).abs() < 0.002);
    // If the centre is black, the sigmoid of -255 is 0.
    assert!(score(classified(&onnx, [0, 0, 0], (64, 16)).await) < 0.001);
}

#[tokio::test(start_paused = true)]
async fn images_wait_for_their_turn() {
    let (_folder, card) = written(CARD, &tiny::of_colours(8, &WEIGHTS));
    let onnx = Onnx::load(&card).unwrap();
    let all = tokio::join!(
        classified(&onnx, [250, 20, 20], (300, 200)),
        classified(&onnx, [20, 20, 250], (300, 200)),
        classified(&onnx, [250, 20, 20], (300, 200)),
    );
    assert_eq!(all.0, all.2);
    assert!(all.1[0].score.score < 0.1);
}

#[test]
fn what_does_not_fit_is_refused_in_one_line() {
    let good = tiny::of_colours(8, &WEIGHTS);
    let cases: [(&str, String, Vec<u8>); 13] = [
        ("resize is at least", CARD.replace("width", "resize = [4, 8]\nwidth"), good.clone()),
        ("range is", CARD.replace("width", "range = 0\nwidth"), good.clone()),
        ("jpeg is", CARD.replace("width", "jpeg = 0\nwidth"), good.clone()),
        ("'hint' below it", CARD.replace("from = 0.6", "from = 0.6\nhint = 0.7"), good.clone()),
        ("cannot be read", CARD.replace("red.onnx", "other.onnx"), good.clone()),
        ("unknown field", CARD.replace("width", "breadth = 3\nwidth"), good.clone()),
        ("width and height", CARD.replace("width = 8", "width = 5000"), good.clone()),
        ("'from' of the label 'red'", CARD.replace("0.6", "1.5"), good.clone()),
        ("unknown variant", CARD.replace("violence", "cats"), good.clone()),
        ("no label has a topic", CARD.replace("topic = \"violence\"", ""), good.clone()),
        ("there are 3 labels", format!("{CARD}\n[[label]]\nname = \"more\"\n"), good.clone()),
        ("red.onnx", CARD.to_owned(), b"no model".to_vec()),
        ("red.onnx", CARD.to_owned(), tiny::of_operator("NonMaxSuppression")),
    ];
    for (says, card, model) in cases {
        let (_folder, path) = written(&card, &model);
        let error = Onnx::load(&path).unwrap_err().to_string();
        assert!(error.contains(says) && !error.contains('\n'), "{says}: {error}");
    }
}
