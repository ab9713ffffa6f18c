//! The API as programs rely on it: its versions, its problems, and how far its cursors reach.

use crate::support::{Answer, Backend, World, backend, page, problem, settings};
use axum::http::StatusCode;
use curlew_web::PageSettings;

fn many(count: usize) -> World {
    let pages = (0..count).map(|n| page(&format!("https://tide.example/{n}"), &format!("Curlew {n}"), "A curlew."));
    World::of(backend(pages.collect()))
}

/// Checks that an answer is a problem (RFC 9457) of a kind, with the status that it states.
fn must_be_problem(answer: &Answer, kind: &str) {
    let told = answer.json();
    assert_eq!((answer.header("content-type"), &told["type"]), ("application/problem+json", &problem(kind)));
    assert_eq!(told["status"], answer.status.as_u16());
    for member in ["title", "detail"] {
        assert!(told[member].as_str().is_some_and(|text| !text.is_empty()), "{member}: {told}");
    }
}

#[tokio::test]
async fn the_former_addresses_answer_as_the_new_ones_do_and_name_them() {
    let world = many(3);
    for path in ["/search?q=curlew&limit=1", "/search?q=curlew&cursor=forged", "/search", "/openapi.json"] {
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
    for (path, kind) in [
        ("/api/v1/search", "bad_query"),
        ("/api/v1/search?q=curlew&cursor=forged", "bad_cursor"),
        ("/api/v1/nowhere", "not_found"),
        ("/api/v2/search?q=curlew", "not_found"),
        ("/api/v1/search?q=panic", "internal"),
    ] {
        must_be_problem(&world.get(path).await, kind);
    }
    for (for_a_while, kind) in [(true, "unavailable"), (false, "internal")] {
        let broken = World::of(Backend { broken: Some(for_a_while), ..Backend::default() });
        must_be_problem(&broken.get("/api/v1/search?q=x").await, kind);
        must_be_problem(&broken.get("/healthz").await, "unavailable");
    }
    let unnamed = World::with(Backend::default(), PageSettings { base_url: None, ..settings() });
    must_be_problem(&unnamed.get("/feed/atom?q=curlew").await, "no_address");
}

#[tokio::test]
async fn the_server_is_well_as_long_as_its_store_can_be_read() {
    let world = many(1);
    let well = world.get("/healthz").await;
    assert_eq!((well.status, well.body.as_str(), well.header("cache-control")), (StatusCode::OK, "ok", "no-store"));
    assert!(world.backend.asked.lock().unwrap().is_empty(), "no search");
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
    // As deep as a program may go, whoever made the cursor.
    let deep = many(1).get("/api/v1/search?q=curlew&cursor=10000").await.json();
    assert_eq!((deep["hits"].as_array().map(Vec::len), &deep["next"]), (Some(0), &serde_json::Value::Null));
}

#[tokio::test]
async fn hits_and_feeds_name_what_the_feed_files_a_page_under() {
    let mut hit = page("https://tide.example/1", "Curlew", "A curlew.");
    hit.categories = vec!["Birds & mud".into(), "Wadden\u{0} Sea".into()];
    let world = World::of(backend(vec![hit]));
    let found = world.get("/api/v1/search?q=curlew").await.json();
    assert_eq!(found["hits"][0]["categories"], serde_json::json!(["Birds & mud", "Wadden Sea"]));
    let atom = world.get("/feed/atom?q=curlew").await.body;
    assert!(atom.contains("<category term=\"Birds &#38; mud\"/>"), "{atom}");
    let rss = world.get("/feed/rss?q=curlew").await.body;
    assert!(rss.contains("<category>Wadden Sea</category>"), "{rss}");
    let json = world.get("/feed/json?q=curlew").await.json();
    assert_eq!(json["items"][0]["tags"], found["hits"][0]["categories"]);
}
