//! Searches as feeds, and the description of the interface for programs.

use crate::support::{Answer, Shelf, World, page, settings, shelf};
use axum::body::Body;
use axum::http::{Request, StatusCode};
use curlew_ports::PageSettings;
use quick_xml::events::Event;

/// Names of elements in their order; fails if it is not well-formed.
fn elements(xml: &str) -> Vec<String> {
    let mut reader = quick_xml::Reader::from_str(xml);
    let mut names = Vec::new();
    loop {
        match reader.read_event().unwrap() {
            Event::Eof => return names,
            Event::Start(tag) | Event::Empty(tag) => {
                names.push(tag.name().as_ref().to_owned());
            }
            _ => {}
        }
    }
}

fn world() -> World {
    let mut dated = page("https://tide.example/a?x=1&y=2", "Curlews & <godwits>", "A curlew walked by.");
    dated.published = Some("2026-05-01T10:00:00Z".parse().unwrap());
    dated.site = "The Tide".into();
    let mut undated = page("https://mud.example/", "", "curlew");
    undated.published = None;
    let nowhere = page("javascript:alert(1)", "curlew", "");
    World::of(shelf(vec![dated, undated, nowhere]))
}

#[tokio::test]
async fn a_search_can_be_followed_in_three_forms() {
    let world = world();
    let atom = world.get("/feed/atom?q=curlew").await;
    assert_eq!((atom.status, atom.header("content-type")), (StatusCode::OK, "application/atom+xml; charset=utf-8"));
    assert_eq!(elements(&atom.body).iter().filter(|name| *name == "entry").count(), 2, "{}", atom.body);
    for part in [
        "<id>https://tide.example/a?x=1&#38;y=2</id>",
        "<title>Curlews &#38; &#60;godwits&#62;</title>",
        "<published>2026-05-01T10:00:00Z</published>",
        "<updated>1970-01-01T00:00:00Z</updated>",
        "href=\"https://search.example/feed/atom?q=curlew\"",
        "href=\"https://search.example/?q=curlew\"",
        "<name>The Tide</name>",
    ] {
        assert!(atom.body.contains(part), "{part} is missing: {}", atom.body);
    }
    let rss = world.get("/feed/rss?q=curlew").await;
    assert_eq!(rss.header("content-type"), "application/rss+xml; charset=utf-8");
    assert_eq!(elements(&rss.body).iter().filter(|name| *name == "item").count(), 2);
    assert!(rss.body.contains("<pubDate>Fri, 01 May 2026 10:00:00 +0000</pubDate>"), "{}", rss.body);
    let json = world.get("/feed/json?q=curlew").await;
    assert_eq!(json.header("content-type"), "application/feed+json");
    let json = json.json();
    assert_eq!(json["version"], "https://jsonfeed.org/version/1.1");
    assert_eq!(
        (json["items"].as_array().unwrap().len(), &json["items"][0]["title"]),
        (2, &"Curlews & <godwits>".into())
    );
    assert_eq!(json["items"][1]["title"], "https://mud.example/");
    let asked = world.shelf.asked.lock().unwrap().clone();
    assert!(asked.iter().all(|(query, offset, limit)| query == "curlew sort:date" && (*offset, *limit) == (0, 30)));
}

#[tokio::test]
async fn a_reader_that_has_the_feed_is_told_no_more_than_that() {
    let world = world();
    for form in ["atom", "rss", "json"] {
        let path = format!("/feed/{form}?q=curlew");
        let first = world.get(&path).await;
        assert_eq!((first.header("x-robots-tag"), first.header("cache-control")), ("noindex", "public, max-age=3600"));
        let again = |tag: &str| Request::get(&path).header("if-none-match", tag).body(Body::empty()).unwrap();
        let tag = first.header("etag").to_owned();
        let same: Answer = world.send(again(&format!("\"x\", W/{tag}"))).await;
        assert_eq!(
            (same.status, same.body.as_str(), same.header("etag")),
            (StatusCode::NOT_MODIFIED, "", tag.as_str())
        );
        assert_eq!(world.send(again("\"x\"")).await.status, StatusCode::OK);
    }
}

#[tokio::test]
async fn o10_a_feed_of_hostile_text_is_sound() {
    let nasty = "curlew \0\u{1}\u{b}\u{1b}[31m\u{fffe}\u{ffff}\u{202e}]]>&<\"'\\";
    let mut hit = page("https://tide.example/\"><x>", nasty, nasty);
    hit.site = nasty.into();
    let settings = PageSettings { title: "A & <B> \"C\"".into(), ..settings() };
    let world = World::with(shelf(vec![hit]), settings);
    for form in ["atom", "rss"] {
        let xml = world.get(&format!("/feed/{form}?q=curlew")).await.body;
        assert!(elements(&xml).iter().all(|name| !["x", "B"].contains(&name.as_str())), "{xml}");
        assert!(xml.contains("curlew [31m]]&#62;&#38;&#60;"), "{xml}");
    }
    let json = world.get("/feed/json?q=curlew").await.json();
    assert_eq!(json["items"][0]["title"], "curlew [31m]]>&<\"'\\");
}

#[tokio::test]
async fn there_is_no_feed_of_nothing_nor_without_an_address_of_our_own() {
    let world = world();
    for path in ["/feed/atom", "/feed/atom?q=", "/feed/rss?q=*x", "/feed/json?q=%28a"] {
        assert_eq!(world.get(path).await.status, StatusCode::BAD_REQUEST, "{path}");
    }
    assert_eq!(world.get("/feed/html?q=curlew").await.status, StatusCode::NOT_FOUND);
    let bare = World::with(Shelf::default(), PageSettings { base_url: None, ..settings() });
    assert_eq!(bare.get("/feed/atom?q=curlew").await.status, StatusCode::NOT_FOUND);
    assert!(bare.get("/?q=curlew").await.attributes("link[rel=alternate]", "href").is_empty());
    let broken = World::of(Shelf { broken: Some(true), ..Shelf::default() });
    assert_eq!(broken.get("/feed/atom?q=curlew").await.status, StatusCode::SERVICE_UNAVAILABLE);
}

#[tokio::test]
async fn the_results_and_the_browser_s_description_lead_to_the_feeds() {
    let world = world();
    let results = world.get("/?q=curlew+%22a+b%22").await;
    assert_eq!(
        results.attributes("head link[rel=alternate]", "href"),
        ["/feed/atom?q=curlew+%22a+b%22", "/feed/rss?q=curlew+%22a+b%22", "/feed/json?q=curlew+%22a+b%22"]
    );
    assert_eq!(world.get("/?q=curlew").await.attributes("p.quiet a", "href"), ["/feed/atom?q=curlew"]);
    let description = world.get("/opensearch.xml").await.body;
    for form in ["atom", "rss"] {
        let url = format!("template=\"https://search.example/feed/{form}?q={{searchTerms}}\"");
        assert!(description.contains(&url), "{description}");
    }
}

#[tokio::test]
async fn the_interface_for_programs_is_described_and_is_as_described() {
    let world = world();
    let answer = world.get("/api/openapi.json").await;
    assert_eq!(
        (answer.header("content-type"), answer.header("access-control-allow-origin")),
        ("application/json", "*")
    );
    let document = answer.json();
    assert_eq!(document["openapi"], "3.1.0");
    for path in document["paths"].as_object().unwrap().keys() {
        let path = path.replace("{form}", "json");
        let answer = world.get(&format!("{path}?q=curlew")).await;
        assert_eq!(answer.status, StatusCode::OK, "{path}");
    }
    let hit = world.get("/api/search?q=curlew").await.json()["hits"][0].take();
    let described = &document["components"]["schemas"]["Hit"]["properties"];
    let (mut ours, mut theirs): (Vec<_>, Vec<_>) =
        (hit.as_object().unwrap().keys().collect(), described.as_object().unwrap().keys().collect());
    ours.sort();
    theirs.sort();
    assert_eq!(ours, theirs);
}
