//! The API for programs: its versions, its problem details, and the range of its cursors.

use crate::support::{Answer, Backend, World, backend, page, problem, ready, settings};
use axum::http::StatusCode;
use curlew_model::{FeedSource, SiteSource, SiteState, Slot, Source, Timestamp};
use curlew_policy::address::source_key;
use curlew_web::PageSettings;
use serde_json::json;

fn many(count: usize) -> World {
    let pages = (0..count).map(|n| page(&format!("https://tide.example/{n}"), &format!("Curlew {n}"), "A curlew."));
    World::of(backend(pages.collect()))
}

/// Checks that an answer has problem details (RFC 9457) of this kind and status.
fn must_be_problem(answer: &Answer, status: u16, kind: &str) {
    let told = answer.json();
    assert_eq!((answer.header("content-type"), &told["type"]), ("application/problem+json", &problem(kind)));
    assert_eq!((answer.status.as_u16(), &told["status"]), (status, &json!(status)), "{kind}");
    assert!(!told["title"].as_str().unwrap().is_empty());
    assert!(told["detail"].as_str().unwrap().ends_with(['.', '>']), "the detail must be a sentence: {told}");
}

#[tokio::test]
async fn the_former_addresses_answer_as_the_new_ones_do_and_name_them() {
    let world = many(3);
    for path in ["/search?q=curlew&limit=1", "/search?q=curlew&cursor=forged", "/search", "/sites", "/openapi.json"] {
        let former = world.get(&format!("/api{path}")).await;
        let new = world.get(&format!("/api/v1{path}")).await;
        assert_eq!((former.status, &former.body), (new.status, &new.body), "{path}");
        for header in ["content-type", "cache-control", "etag", "access-control-allow-origin"] {
            assert_eq!(former.header(header), new.header(header), "{path} {header}");
        }
        assert_eq!(former.header("deprecation"), "@1795824000", "{path}");
        assert_eq!(former.header("link"), format!("</api/v1{path}>; rel=\"successor-version\""));
        assert_eq!((new.header("deprecation"), new.header("link")), ("", ""), "{path}");
    }
    let nowhere = world.get("/api/nowhere").await;
    assert_eq!((nowhere.status, nowhere.header("link")), (StatusCode::NOT_FOUND, ""));
}

#[tokio::test]
async fn whatever_goes_wrong_a_program_is_told_a_problem() {
    let world = many(1);
    let (search, feed) = ("/api/v1/search", "/feed/atom");
    for (status, kind, path, ends) in [
        (400, "bad_query", search, " ?q= ?q=x&limit=0 ?q=x&limit=101 ?q=x&limit=-1 ?q=x&offset=100 ?q=*x"),
        (400, "bad_query", search, "?q=x&offset=99999999999999999999"),
        (400, "bad_query", "/api/v1/sites", "?limit=101"),
        (
            400,
            "bad_query",
            feed,
            " ?q= ?q=*x ?q=%28a ?q=%2A%FF%F3%AF%88%B1%5B ?q=lang:german ?q=site: ?q=sort:relevance",
        ),
        (400, "bad_cursor", search, "?q=curlew&cursor=forged"),
        (404, "not_found", "/api/", " v1/nowhere v2/search?q=curlew v1/search/"),
        (404, "not_found", "/feed/", " html?q=curlew"),
        (500, "internal", search, "?q=panic"),
    ] {
        for end in ends.split(' ') {
            must_be_problem(&world.get(&format!("{path}{end}")).await, status, kind);
        }
    }
    for path in ["/feed/atom?q=x", "/api/v1/search?q=x", "/status.json"] {
        must_be_problem(&world.post(path, &[]).await, 405, "wrong_method");
    }
    for (for_a_while, status, kind) in [(true, 503, "unavailable"), (false, 500, "internal")] {
        let broken = World::of(Backend { broken: Some(for_a_while), ..Backend::default() });
        must_be_problem(&broken.get("/api/v1/search?q=x").await, status, kind);
        must_be_problem(&broken.get("/feed/atom?q=x").await, status, kind);
        must_be_problem(&broken.get("/healthz").await, 503, "unavailable");
    }
    let unnamed = World::with(Backend::default(), PageSettings { base_url: None, ..settings() });
    let nameless = unnamed.get("/feed/atom?q=curlew").await;
    must_be_problem(&nameless, 404, "no_address");
    assert!(nameless.body.contains("base_url in the table [web]"), "{}", nameless.body);
}

#[tokio::test]
async fn the_server_is_well_as_long_as_its_store_can_be_read() {
    let world = many(1);
    let well = world.get("/healthz").await;
    assert_eq!((well.status, well.body.as_str(), well.header("cache-control")), (StatusCode::OK, "ok", "no-store"));
    assert!(world.asked().is_empty(), "no search may be made");
}

#[tokio::test]
async fn cursors_reach_beyond_the_offsets() {
    let world = many(250);
    let mut next = String::new();
    let mut seen = 0;
    for _ in 0..3 {
        let answer = world.get(&format!("/api/v1/search?q=curlew&limit=100&cursor={next}")).await.json();
        seen += answer["hits"].as_array().unwrap().len();
        next = answer["next"].as_str().unwrap_or_default().to_owned();
    }
    assert_eq!((seen, next.as_str()), (250, ""));
    // A cursor at the maximum depth gives no results, even if somebody made it up.
    let deep = many(1).get("/api/v1/search?q=curlew&cursor=10000").await.json();
    assert_eq!((deep["hits"].as_array().map(Vec::len), &deep["next"]), (Some(0), &serde_json::Value::Null));
}

/// Stores a site with two feeds. The first has a description and is in a folder.
fn store_site(world: &World) {
    let [home, one, other] = ["https://tide.example/", "https://tide.example/feed", "https://tide.example/notes"]
        .map(|url| source_key(&url.parse().unwrap()));
    let described = FeedSource {
        site: Some(home.clone()),
        description: Some("Notes from <the> flats".into()),
        folder: vec!["birds".into()],
        ..FeedSource::new(one.clone(), Slot::from_hash(0), "https://tide.example/feed")
    };
    let second = FeedSource::new(other.clone(), Slot::from_hash(0), "https://tide.example/notes");
    let site = SiteSource {
        key: home,
        slot: Slot::from_hash(0),
        url: "https://tide.example/".into(),
        state: SiteState::Working { feeds: vec![one, other] },
        image: None,
        not_before: Timestamp::MIN,
        failures: 0,
        failure: None,
    };
    for row in [Source::Site(site), Source::Feed(described), Source::Feed(second)] {
        assert!(ready(world.ports.sources.insert(&row)).unwrap());
    }
}

#[tokio::test]
async fn sites_are_listed_with_what_their_feeds_say() {
    let mut pages: Vec<_> = ["a", "tide", "z"].map(|n| page(&format!("https://{n}.example/1"), "Mud", "")).into();
    pages[1].feed = Some("https://tide.example/feed".into());
    pages[1].language = Some("en".into());
    pages[1].categories = vec!["birds".into()];
    let world = World::of(backend(pages));
    store_site(&world);
    let first = world.get("/api/v1/sites?limit=2").await.json();
    assert_eq!((&first["total"], &first["next"]), (&json!(3), &json!("tide.example")));
    assert_eq!(
        first["sites"][1],
        json!({
            "host": "tide.example", "name": "Tidal Notes", "description": "Notes from <the> flats", "language": "en",
            "feeds": ["https://tide.example/feed", "https://tide.example/notes"], "pages": 1,
            "newest": "2026-05-01T00:00:00Z"
        })
    );
    let second = world.get("/api/v1/sites?limit=2&cursor=tide.example").await.json();
    assert_eq!((&second["sites"][0]["host"], &second["next"]), (&json!("z.example"), &json!(null)));
    let filtered = world.get("/api/v1/sites?filter=TIDE&limit=1").await.json();
    assert_eq!((&filtered["total"], &filtered["sites"][0]["host"]), (&json!(1), &json!("tide.example")));
    assert_eq!(filtered["next"], json!(null));

    assert_eq!(world.get("/sites").await.all(".about"), ["Notes from <the> flats"]);
    let site = world.get("/site/tide.example").await;
    assert_eq!(site.text("h1 + p"), "Notes from <the> flats");
    let chips =
        ["Visit the site", "Its feed 1", "Its feed 2", "Follow it here", "Collection: birds", "This is my site"];
    assert_eq!(site.all(".chips a"), chips);
    assert_eq!(site.attributes(".chips a", "href")[4], "/c/birds");
    let collection = world.get("/c/birds").await;
    assert_eq!((collection.status, collection.text("h1").as_str()), (StatusCode::OK, "birds"));
    assert_eq!(collection.all(".new h3"), ["Mud"]);
    assert_eq!(collection.all(".new .source a"), ["Tidal Notes"]);
    assert_eq!(collection.attributes("input[name=q]", "value"), ["in:\"birds\" "]);
    assert_eq!(collection.attributes(".chips a", "href"), ["/feed/atom?q=in%3A%22birds%22"]);
    for none in ["nothing", "%22", "a%2Fb"] {
        assert_eq!(world.get(&format!("/c/{none}")).await.status, StatusCode::NOT_FOUND, "{none}");
    }
}
