//! Imported pages are processed like crawled ones, without a call.

use crate::revision::document;
use crate::test_world::*;
use curlew_crawl::pages::import::{ForeignPage, ForeignPages, ImportOutcome};
use curlew_policy::site::exclusions::{Exclusions, Lists};

const IMAGE: &str = "<meta property=\"og:image\" content=\"https://example.org/a.jpg\">";

/// Returns a page for import with this markup in its head.
fn foreign(url: &str, head: &str) -> ForeignPage {
    let body = String::from_utf8(document(url).body.to_vec()).unwrap();
    let body = body.replace("<head>", &format!("<head>{head}"));
    let headers = vec![("content-type".into(), "text/html".into()), ("etag".into(), "\"7\"".into())];
    ForeignPage { url: url.into(), fetched_at: Timestamp::EPOCH, headers, body: body.into() }
}

async fn take(world: &TestWorld, pages: Vec<ForeignPage>) -> Vec<ImportOutcome> {
    let program = world.program();
    let foreign =
        ForeignPages { extract: &program.crawler.extract, politeness: &program.crawler.politeness, keeps_raw: true };
    let outcomes = foreign.take(pages).await.unwrap();
    assert_eq!((world.web.calls().len(), world.jobs.left().len()), (0, 0), "nobody is called, now or later");
    outcomes
}

#[tokio::test(start_paused = true)]
async fn foreign_pages_are_accepted_once() {
    let world = TestWorld::new();
    let canonical = format!("{IMAGE}<link rel=canonical href=\"https://example.org/c\">");
    let pages = vec![
        foreign(A, IMAGE),
        foreign(A, IMAGE),
        foreign("https://example.org/b?utm=1", &canonical),
        foreign("https://example.org/d", ""),
        foreign("https://example.org/e", &format!("{IMAGE}<meta name=robots content=noindex>")),
    ];
    let outcomes = take(&world, pages.clone()).await;
    let rejected = |why| ImportOutcome::Rejected(why);
    assert_eq!(
        outcomes,
        [
            ImportOutcome::Accepted,
            ImportOutcome::Known,
            ImportOutcome::Accepted,
            rejected(Rejection::NoImage),
            rejected(Rejection::Noindex)
        ]
    );
    assert!(world.is_accepted(C).await);
    let objects = || async { world.keys("").await };
    let before = objects().await;
    assert!(before.iter().any(|key| key.starts_with("raw/")));
    assert_eq!(take(&world, pages.clone()).await, vec![ImportOutcome::Known; 5], "a second import changes nothing");
    assert_eq!(objects().await, before);
    // A page that was removed does not come back.
    let program = world.program();
    program.library.removal.remove(&page(A), Gone::NotFound).await.unwrap();
    assert_eq!(take(&world, vec![pages[0].clone()]).await, [ImportOutcome::Known]);
}

#[tokio::test(start_paused = true)]
async fn what_the_operator_or_an_owner_keeps_out_stays_out() {
    const LICENCE: &str = "<script type=\"application/rsl+xml\"><rsl xmlns=\"https://rslstandard.org/rsl\"><content url=\"/\">\
        <license><prohibits type=\"usage\">search</prohibits></license></content></rsl></script>";
    let lists = Lists { substrings: vec!["/private/".into()], ..Lists::default() };
    let exclusions = Exclusions::compile(&lists).unwrap();
    let world = TestWorld::with_scope(Scope { exclusions, ..Scope::default() });
    world.program().desk.blocks.block("example.net").await.unwrap();
    world.web.refuse("https://intern.example/");
    let with = |name: &str, value: &str| {
        let mut page = foreign("https://example.org/h", IMAGE);
        page.headers.push((name.into(), value.into()));
        page
    };
    let pages = vec![
        foreign("https://www.example.net/a", IMAGE),
        foreign("https://example.org/private/a", IMAGE),
        foreign("https://intern.example/", IMAGE),
        foreign("ftp://example.org/", IMAGE),
        with("x-robots-tag", "noindex"),
        foreign("https://example.org/licensed", &format!("{IMAGE}{LICENCE}")),
    ];
    let codes = |outcomes: Vec<ImportOutcome>| -> Vec<&'static str> {
        outcomes.into_iter().map(|o| if let ImportOutcome::Rejected(why) = o { why.code() } else { "taken" }).collect()
    };
    assert_eq!(
        codes(take(&world, pages).await),
        ["blocked", "excluded", "address", "address", "noindex", "preference"]
    );
    assert_eq!(world.state("https://example.org/licensed").await, None, "no row is written");
}

#[tokio::test(start_paused = true)]
async fn pages_that_were_imported_before_their_host_was_called_are_not_fetched_when_its_feeds_are_found() {
    let world = TestWorld::new();
    let (home, imported, new) = (HOME, A, B);
    take(&world, vec![foreign(imported, IMAGE)]).await;
    world.with_site(home, SiteState::Waiting).await;
    let link = "<html><head><link rel=alternate type=application/rss+xml href=/feed></head></html>";
    world.web.serve(home, "text/html", link);
    let items = [imported, new].map(|url| format!("<item><link>{url}</link></item>")).concat();
    world.web.serve("https://example.org/feed", "application/rss+xml", rss(&items));
    world.serve_page(new, "");
    let program = world.program();
    // This imitates a store where reading a row costs more than a call.
    let fetch = program.crawler.fetch.clone().remember_sent_in_host_state(6);
    let discover = Discover { fetch: Some(Arc::new(fetch)), ..program.crawler.discover };
    discover.run(&Envelope::new(DiscoverJob::new(key(home), home.into()))).await.unwrap();
    let called = world.urls(CallKind::Page);
    assert_eq!(called, [new]);
}
