//! Compares the parsed form of a fixture in each dialect with its expected result in `snapshots`.

use curlew_feed::{Limits, discover, parse};
use url::Url;

fn page() -> Url {
    "https://page.example/feeds/all".parse().unwrap()
}

macro_rules! reads {
    ($($name:ident: $file:literal),* $(,)?) => {
        $(
            #[test]
            fn $name() {
                let body = include_bytes!(concat!("fixtures/", $file));
                insta::assert_debug_snapshot!(parse(body, None, &page(), &Limits::default()));
            }
        )*
    };
}

reads! {
    rss_2: "rss2.xml",
    rss_1: "rss1.xml",
    rss_0_91: "rss09.xml",
    atom_1: "atom.xml",
    atom_0_3: "atom03.xml",
    json_feed: "feed.json",
    a_broken_feed: "broken.xml",
}

#[test]
fn feeds_of_a_page() {
    let body = include_bytes!("fixtures/page.html");
    insta::assert_debug_snapshot!(discover(body, Some("text/html; charset=utf-8"), &page(), &[]));
}

#[test]
fn the_serialised_form_uses_the_words_of_the_domain() {
    let body = include_bytes!("fixtures/rss2.xml");
    let feed = parse(body, None, &page(), &Limits::default()).unwrap();
    let json = serde_json::to_value(&feed).unwrap();
    assert_eq!(json["format"], feed.format.as_str());
    assert_eq!(json["entries"][0]["published"], "2026-05-03T17:05:09Z");
    assert_eq!(json["hints"]["update_period"], 21_600_000);
}
