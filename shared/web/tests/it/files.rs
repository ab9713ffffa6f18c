//! The pages about ourselves, and what programs ask a site for.

use crate::support::{Shelf, World, settings};
use axum::body::Body;
use axum::http::{Request, StatusCode};
use curlew_ports::StatusLine;
use curlew_web::Settings;

fn bare() -> World {
    World::with(Shelf::default(), Settings { base_url: None, contact: None, ..settings() })
}

#[tokio::test]
async fn h15_the_bot_page_says_what_why_how_to_block_how_to_be_removed_and_where_to_write() {
    let page = World::of(Shelf::default()).get("/bot").await;
    assert_eq!(page.status, StatusCode::OK);
    assert!(page.header("cache-control").contains("max-age=86400"));
    let blocks = page.all("pre");
    assert!(blocks.contains(&"User-agent: CurlewBot Disallow: /".to_owned()), "{blocks:?}");
    assert!(blocks.contains(&"User-Agent: CurlewBot/9.9 (+https://search.example/bot)".to_owned()));
    assert!(page.body.contains("Crawl-delay") && page.body.contains("noindex") && page.body.contains("410"));
    assert_eq!(page.attributes("#contact ~ p a", "href"), ["/contact", "mailto:crawler@search.example"]);
    assert_eq!(page.body, World::of(Shelf { broken: Some(false), ..Shelf::default() }).get("/bot").await.body);
    assert!(bare().get("/bot").await.body.contains("has given no address"));
}

#[tokio::test]
async fn settings_are_text_and_nothing_else() {
    let nasty = "<b>&\"'".to_owned();
    let settings = Settings {
        title: nasty.clone(),
        user_agent_token: nasty.clone(),
        user_agent: nasty.clone(),
        contact: Some(nasty.clone()),
        ..settings()
    };
    let world = World::with(Shelf::default(), settings);
    for path in ["/", "/bot", "/suggest", "/owner", "/contact", "/status", "/nowhere", "/?q=x"] {
        assert!(world.get(path).await.text("title").contains(&nasty), "{path}");
    }
}

#[tokio::test]
async fn status_is_a_table_and_json() {
    let line = |name: &str, value: &str| StatusLine { name: name.into(), value: value.into() };
    let status = vec![line("Pages", "12 345"), line("Last poll", "<never>\u{1}")];
    let world = World::of(Shelf { status, ..Shelf::default() });
    let page = world.get("/status").await;
    assert_eq!(page.all("tbody th"), ["Pages", "Last poll"]);
    assert_eq!(page.all("tbody td"), ["12 345", "<never>"]);
    let json = world.get("/status.json").await;
    assert_eq!(json.header("content-type"), "application/json");
    assert_eq!(json.json()["status"][1]["value"], "<never>");
    assert_eq!(json.header("access-control-allow-origin"), "", "only the search is open to other pages");
    assert!(bare().get("/status").await.body.contains("Nothing has been done"));
}

#[tokio::test]
async fn our_own_robots_txt_keeps_results_out_of_other_engines() {
    let robots = bare().get("/robots.txt").await;
    assert_eq!(robots.header("content-type"), "text/plain; charset=utf-8");
    for line in ["User-agent: *", "Allow: /", "Allow: /bot", "Disallow: /?", "Disallow: /api/"] {
        assert!(robots.body.lines().any(|l| l == line), "{line}");
    }
}

#[tokio::test]
async fn i09_security_txt_has_the_fields_that_rfc_9116_wants() {
    let file = World::of(Shelf::default()).get("/.well-known/security.txt").await;
    assert_eq!(file.status, StatusCode::OK);
    let lines: Vec<&str> = file.body.lines().collect();
    assert_eq!(lines[0], "Contact: mailto:crawler@search.example");
    assert_eq!(lines[1], "Expires: 2027-05-20T00:00:00Z");
    assert_eq!(lines[3], "Canonical: https://search.example/.well-known/security.txt");
    assert_eq!(bare().get("/.well-known/security.txt").await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn the_search_can_be_added_to_a_browser_where_our_address_is_known() {
    let world = World::of(Shelf::default());
    assert_eq!(world.get("/").await.attributes("link[rel=search]", "href"), ["/opensearch.xml"]);
    let xml = world.get("/opensearch.xml").await;
    assert_eq!(xml.header("content-type"), "application/opensearchdescription+xml");
    assert!(xml.body.contains("template=\"https://search.example/?q={searchTerms}\""));
    assert_eq!(bare().get("/opensearch.xml").await.status, StatusCode::NOT_FOUND);
    assert!(bare().get("/").await.attributes("link[rel=search]", "href").is_empty());
}

#[tokio::test]
async fn the_style_sheet_and_the_icon_are_our_own() {
    let world = World::of(Shelf::default());
    let sheet = world.get("/").await.attributes("link[rel=stylesheet]", "href").remove(0);
    let style = world.get(&sheet).await;
    assert_eq!(style.header("content-type"), "text/css; charset=utf-8");
    assert!(style.body.contains("prefers-color-scheme: dark"));
    assert!(!style.body.contains("url(") && !style.body.contains("@import"));
    let icon = world.get("/favicon.svg").await;
    assert_eq!(icon.header("content-type"), "image/svg+xml");
    let events = quick_xml::Reader::from_str(&icon.body).read_event();
    assert!(events.is_ok());
}

#[tokio::test]
async fn an_unknown_address_and_a_wrong_method_get_a_page_of_ours() {
    let world = World::of(Shelf::default());
    assert_eq!(world.get("/nowhere").await.text("h1"), "Nothing here");
    for method in ["POST", "DELETE", "PUT", "TRACE", "BREW"] {
        let answer = world.send(Request::builder().method(method).uri("/").body(Body::empty()).unwrap()).await;
        assert_eq!(answer.status, StatusCode::METHOD_NOT_ALLOWED, "{method}");
        assert_eq!(answer.text("h1"), "Not like this");
    }
    let head = world.send(Request::head("/bot").body(Body::empty()).unwrap()).await;
    assert_eq!((head.status, head.body.as_str()), (StatusCode::OK, ""));
}
