//! The pages about the crawler and its status, and the files that programs request from any site.

use crate::support::{Answer, Backend, World, request, settings};
use axum::http::{Method, StatusCode};
use curlew_catalog::indexed_years::IndexedYear;
use curlew_model::{HoldReason, Millis, QueueName, Timestamp};
use curlew_people::activity::DayCounts;
use curlew_people::stats::PublicCounts;
use curlew_ports::QueueCount;
use curlew_web::{PageSettings, QueueStatus, SystemStatus};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tokio::sync::Semaphore;

fn bare() -> World {
    World::with(Backend::default(), PageSettings { base_url: None, contact: None, ..settings() })
}

#[tokio::test]
async fn h15_the_bot_page_says_what_why_how_to_block_how_to_be_removed_and_where_to_write() {
    let page = World::of(Backend::default()).get("/bot").await;
    assert_eq!(page.status, StatusCode::OK);
    assert!(page.header("cache-control").contains("max-age=86400"));
    let blocks = page.all("pre");
    assert!(blocks.contains(&"User-agent: CurlewBot Disallow: /".to_owned()), "{blocks:?}");
    assert!(blocks.contains(&"User-Agent: CurlewBot/9.9 (+https://search.example/bot)".to_owned()));
    assert!(page.body.contains("Crawl-delay") && page.body.contains("noindex") && page.body.contains("410"));
    assert_eq!(page.attributes("#contact ~ p a", "href"), ["/contact", "mailto:crawler@search.example"]);
    assert_eq!(page.body, World::of(Backend { broken: Some(false), ..Backend::default() }).get("/bot").await.body);
    assert!(bare().get("/bot").await.body.contains("has given no address"));
}

#[tokio::test]
async fn m19_the_bot_page_says_in_each_language_for_how_long_what_is_left_alone_by_the_rules_in_force() {
    let mut usual = settings();
    usual.rules.hold_refused = Millis::from_hours(96);
    usual.rules.hold_server_error = Millis::from_hours(49);
    usual.rules.window_limit = Millis::from_mins(50);
    usual.rules.window = Millis::from_hours(7);
    let world = World::with(Backend::default(), usual);
    let english = "After a 429 it calls nothing at the domain for 4 days or more, after a 503 for 49 hours or more.|\
         it leaves that address alone for 4 days or more, after another server error for 49 hours or more, and calls \
         nothing at the domain for 1 hour. A second address|take at most 50 minutes within any 7 hours, unless|\
         later at most once in 1 day, to tell";
    let italian = "Dopo un 429 non chiama nulla del dominio per 4 giorni o più, dopo un 503 per 49 ore o più.|\
         lascia in pace quell’indirizzo per 4 giorni o più, dopo un altro errore del server per 49 ore o più, e non \
         chiama nulla del dominio per 1 ora. Un secondo|durano al massimo 50 minuti in qualsiasi periodo di 7 ore, a \
         meno|al massimo una volta in 1 giorno, per capire";
    for (language, sentences) in [("en", english), ("it", italian)] {
        let text = world.get_in(language, "/bot").await.all("li").join("\n");
        for sentence in sentences.split('|') {
            assert!(text.contains(sentence), "{language}: it does not say {sentence}: {text}");
        }
    }
}

#[tokio::test]
async fn settings_are_text_and_nothing_else() {
    let nasty = "<b>&\"'".to_owned();
    let settings = PageSettings {
        title: nasty.clone(),
        user_agent_token: nasty.clone(),
        user_agent: nasty.clone(),
        contact: Some(nasty.clone()),
        ..settings()
    };
    let world = World::with(Backend::default(), settings);
    for path in ["/", "/bot", "/suggest", "/owner", "/contact", "/status", "/nowhere", "/?q=x"] {
        assert!(world.get(path).await.text("title").contains(&nasty), "{path}");
    }
}

fn status() -> SystemStatus {
    let at = |time: &str| Some(time.parse().unwrap());
    let year =
        |year, pages, published| IndexedYear { year, pages, splits: 1, published: at(published), is_newer: false };
    SystemStatus {
        index: vec![year(2026, 12_345, "2026-11-21T02:00:04Z"), year(2025, 1, "2026-11-01T00:00:00Z")],
        counted: Some(PublicCounts {
            sites: 3,
            feeds: 4,
            accepted: 12_346,
            pending: 1,
            rejected: 20,
            gone: 5,
            held: [(HoldReason::TooManyRequests, 2)].into(),
        }),
        queues: vec![QueueStatus {
            stage: QueueName::Fetch,
            count: QueueCount { ready: 7, waiting: 1_000, in_flight: 2, dead: 0 },
        }],
        counted_at: None,
        due_since: at("2026-11-21T02:57:00Z"),
        activity: vec![],
    }
}

async fn status_page(status: SystemStatus) -> Answer {
    World::of(Backend { status, ..Backend::default() }).get("/status").await
}

#[tokio::test]
async fn the_status_says_what_there_is_and_what_is_done_and_since_when() {
    let world = World::of(Backend { status: status(), ..Backend::default() });
    let page = world.get("/status").await;
    assert_eq!(page.all("h2, summary"), ["Index", "Sites and pages", "Sites on hold", "Work"]);
    assert_eq!(page.all(".numbers dt"), ["Indexed pages", "Sites", "Index updated"]);
    assert_eq!(page.all(".numbers dd"), ["12,346", "3", "59 minutes ago"]);
    assert_eq!(page.attributes("time", "title"), ["21 November 2026, 02:00 UTC"]);
    assert!(!page.all("tbody th").iter().any(|name| name == "Sites" || name == "Indexed pages"), "each figure once");
    let rows: Vec<String> = page.all("tbody tr");
    for row in ["of 202612,345", "Feeds4", "Too many requests (429)2", "Fetch pages71,00020"] {
        assert!(rows.iter().any(|r| r == row), "{row} in {rows:?}");
    }
    assert_eq!(page.attributes("time", "datetime"), ["2026-11-21T02:00:04Z"]);
    assert!(page.body.contains("has been so for 3 minutes"));
    let json = world.get("/status.json").await;
    assert_eq!(json.header("content-type"), "application/json");
    let status = json.json()["status"].take();
    assert_eq!(status["index"][0]["pages"], 12_345);
    assert_eq!(status["counted"]["held"]["too_many_requests"], 2);
    assert_eq!((&status["queues"][0]["stage"], &status["queues"][0]["waiting"]), (&"fetch".into(), &1_000.into()));
    assert_eq!(json.header("access-control-allow-origin"), "", "only the search is open to other pages");
}

#[tokio::test]
async fn what_is_not_counted_is_not_shown_as_nothing() {
    let index = vec![IndexedYear { year: 2026, pages: 0, splits: 0, published: None, is_newer: false }];
    let page = status_page(SystemStatus { index, ..SystemStatus::default() }).await;
    assert_eq!(page.all("h2"), [""; 0]);
    assert!(page.body.contains("were not counted yet"));
    let at = Timestamp::from_millis(1_795_140_000_000);
    let calm = SystemStatus { counted: Some(PublicCounts::default()), ..SystemStatus::default() };
    let page = status_page(SystemStatus { counted_at: Some(at), ..calm.clone() }).await;
    assert!(page.body.contains("were counted on 20 November 2026"), "{}", page.body);
    assert_eq!(status_page(calm).await.text("h2:nth-of-type(2) + p"), "None.");
}

#[tokio::test]
async fn the_status_is_counted_once_a_minute_however_often_it_is_asked_for() {
    let world = World::of(Backend { status: status(), ..Backend::default() });
    for _ in 0..5 {
        world.get("/status").await;
        world.get("/status.json").await;
    }
    assert_eq!(world.backend.counted.load(Ordering::SeqCst), 1);
    world.clock.advance(Millis::from_mins(1));
    world.get("/status").await;
    assert_eq!(world.backend.counted.load(Ordering::SeqCst), 2);
}

/// Counting a large store takes longer than a visitor waits.
#[tokio::test]
async fn one_count_at_a_time_goes_on_when_its_visitors_have_left() {
    let gate = Some(Semaphore::new(0));
    let world = Arc::new(World::of(Backend { status: status(), gate, ..Backend::default() }));
    let opens = |world: &World| world.backend.gate.as_ref().unwrap().add_permits(1);
    let ask = || {
        let world = world.clone();
        tokio::spawn(async move { world.get("/status.json").await })
    };
    let visitors: Vec<_> = (0..20).map(|_| ask()).collect();
    while world.backend.counted.load(Ordering::SeqCst) == 0 {
        tokio::task::yield_now().await;
    }
    visitors.iter().for_each(tokio::task::JoinHandle::abort);
    opens(&world);
    assert_eq!(ask().await.unwrap().status, StatusCode::OK);
    assert_eq!(world.backend.counted.load(Ordering::SeqCst), 1, "the finished count must be used");

    world.clock.advance(Millis::from_mins(10));
    let impatient = ask();
    while world.backend.counted.load(Ordering::SeqCst) == 1 {
        tokio::task::yield_now().await;
    }
    world.clock.advance(Millis::from_secs(3));
    assert_eq!(impatient.await.unwrap().status, StatusCode::OK, "the status of ten minutes ago");
    opens(&world);
    ask().await.unwrap();
    assert_eq!(world.backend.counted.load(Ordering::SeqCst), 2);
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
    let file = World::of(Backend::default()).get("/.well-known/security.txt").await;
    assert_eq!(file.status, StatusCode::OK);
    let lines: Vec<&str> = file.body.lines().collect();
    assert_eq!(lines[0], "Contact: mailto:crawler@search.example");
    assert_eq!(lines[1], "Expires: 2027-05-20T00:00:00Z");
    assert_eq!(lines[3], "Canonical: https://search.example/.well-known/security.txt");
    assert_eq!(bare().get("/.well-known/security.txt").await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn the_search_can_be_added_to_a_browser_where_our_address_is_known() {
    let world = World::of(Backend::default());
    assert_eq!(world.get("/").await.attributes("link[rel=search]", "href"), ["/opensearch.xml"]);
    let xml = world.get("/opensearch.xml").await;
    assert_eq!(xml.header("content-type"), "application/opensearchdescription+xml");
    assert!(xml.body.contains("template=\"https://search.example/?q={searchTerms}\""));
    assert_eq!(bare().get("/opensearch.xml").await.status, StatusCode::NOT_FOUND);
    assert!(bare().get("/").await.attributes("link[rel=search]", "href").is_empty());
}

#[tokio::test]
async fn the_style_sheet_and_the_icon_are_our_own() {
    let world = World::of(Backend::default());
    let sheet = world.get("/").await.attributes("link[rel=stylesheet]", "href").remove(0);
    let style = world.get(&sheet).await;
    assert_eq!(style.header("content-type"), "text/css; charset=utf-8");
    assert!(style.body.contains("prefers-color-scheme: dark"));
    assert!(!style.body.contains("url(") && !style.body.contains("@import"));
    let old = world.get("/favicon.ico").await;
    assert_eq!((old.status, old.header("content-type")), (StatusCode::OK, "image/vnd.microsoft.icon"));
    assert!(old.body.starts_with("\0\0\u{1}\0\u{1}\0"), "an icon file with one icon");
    let icon = world.get("/favicon.svg").await;
    assert_eq!(icon.header("content-type"), "image/svg+xml");
    let events = quick_xml::Reader::from_str(&icon.body).read_event();
    assert!(events.is_ok());
}

#[tokio::test]
async fn an_unknown_address_a_wrong_method_and_a_panic_get_a_page_of_ours() {
    let world = World::of(Backend::default());
    assert_eq!(world.get("/nowhere").await.text("h1"), "Nothing here");
    let panic = world.get("/?q=panic").await;
    assert_eq!((panic.status, panic.text("h1").as_str()), (StatusCode::INTERNAL_SERVER_ERROR, "That went wrong"));
    for method in ["POST", "DELETE", "PUT", "TRACE", "BREW"] {
        let answer = world.send(request(method.parse().unwrap(), "/", &[])).await;
        assert_eq!(answer.status, StatusCode::METHOD_NOT_ALLOWED, "{method}");
        assert_eq!(answer.text("h1"), "Not like this");
    }
    let head = world.send(request(Method::HEAD, "/bot", &[])).await;
    assert_eq!((head.status, head.body.as_str()), (StatusCode::OK, ""));
}

#[tokio::test]
async fn the_last_days_are_charts_that_can_be_read_as_text() {
    let of = |day: &str, polls, accepted, holds| DayCounts { day: day.to_owned(), polls, accepted, holds };
    let activity = vec![of("2026-11-21", 0, 0, 0), of("2026-11-22", 4_800, 1, 0), of("2026-11-23", 2_400, 100, 0)];
    let page = status_page(SystemStatus { activity, ..status() }).await.body;
    assert_eq!(page.matches("<figure>").count(), 3);
    assert_eq!(page.matches("<rect ").count(), 4, "a day of nothing has no bar: {page}");
    assert!(page.contains(r#"<rect x="10" y="0" width="8" height="48"/>"#), "the highest bar: {page}");
    assert!(page.contains(r#"<rect x="10" y="47" width="8" height="1"/>"#), "one must differ from nothing");
    for text in ["7,200 in all, at most 4,800 a day.", "22 November 2026", "Sites put on hold", "0 in all"] {
        assert!(page.contains(text), "{text}");
    }
    assert!(!page.contains("style=") && !page.contains("<script"));
    assert!(!status_page(status()).await.body.contains("<figure>"));
}
