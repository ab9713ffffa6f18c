//! Back catalogues: every page is found within the budget of each day, and nothing that a site names makes it endless.

use crate::interstitial::{document, own};
use crate::test_world::*;
use curlew_crawl::feeds::backfill::{BackfillRequest, Backfills, key_of};
use curlew_crawl::feeds::intake::Intake;
use curlew_policy::politeness::admission;

const ASKED: BackfillRequest = BackfillRequest { since: None, limit: None, asked: true, again: false };

pub(crate) fn keep(world: &TestWorld, url: &str, kind: &str, body: String) {
    let mut reply = text(body);
    reply.headers.content_type = Some(kind.to_owned());
    world.web.keep(url, reply);
}

pub(crate) fn post(n: usize) -> String {
    format!("{HOME}post-{n}")
}

pub(crate) fn posts(count: usize) -> BTreeSet<String> {
    (0..count).map(post).collect()
}

/// Returns the day on which a post was written; post 0 is the newest.
pub(crate) fn day(n: usize) -> Timestamp {
    let newest: Timestamp = "2026-11-20T00:00:00Z".parse().unwrap();
    newest - Millis::from_days(n as u64)
}

fn item(n: usize) -> String {
    let url = post(n);
    format!(
        "<item><title>Post {n}</title><link>{url}</link><guid>{url}</guid><pubDate>{}</pubDate></item>",
        day(n).http_date()
    )
}

pub(crate) fn rss(head: &str, posts: impl Iterator<Item = usize>) -> String {
    let items: String = posts.map(item).collect();
    format!(
        "<rss version='2.0' xmlns:atom='http://www.w3.org/2005/Atom'><channel><title>Waders</title>{head}{items}</channel></rss>"
    )
}

pub(crate) fn link(rel: &str, to: &str) -> String {
    format!("<atom:link rel='{rel}' href='{to}'/>")
}

/// Serves a WordPress feed with this number of posts, ten in each document.
fn wordpress(world: &TestWorld, posts: usize) {
    let generator = "<generator>https://wordpress.org/?v=6.4</generator>";
    for n in 0..posts.div_ceil(10) {
        let url = if n == 0 { FEED.to_owned() } else { format!("{FEED}?paged={}", n + 1) };
        keep(world, &url, "application/rss+xml", rss(generator, 10 * n..posts.min(10 * n + 10)));
    }
    pages(world, posts);
}

fn pages(world: &TestWorld, posts: usize) {
    for n in 0..posts {
        let name = format!("post-{n}");
        world.web.keep(&post(n), document(&name, "", &own(&name)));
    }
}

pub(crate) fn sitemap(urls: impl Iterator<Item = String>) -> String {
    let urls: String = urls.map(|url| format!("<url><loc>{url}</loc></url>")).collect();
    format!("<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>{urls}</urlset>")
}

pub(crate) fn index(urls: impl Iterator<Item = String>) -> String {
    let urls: String = urls.map(|url| format!("<sitemap><loc>{url}</loc></sitemap>")).collect();
    format!("<sitemapindex xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>{urls}</sitemapindex>")
}

pub(crate) async fn begin(world: &TestWorld, of: &str, request: BackfillRequest) {
    assert!(world.program().crawler.backfills.begin(&key(of), request).await.unwrap());
}

pub(crate) async fn row(world: &TestWorld, of: &str) -> Backfill {
    match world.sources.get(&key_of(&key(of)).unwrap()).await.unwrap() {
        Some((Source::Backfill(row), _)) => row,
        other => panic!("no backfill but {other:?}"),
    }
}

pub(crate) fn reason(row: &Backfill) -> String {
    match &row.state {
        BackfillState::Done { reason } | BackfillState::GivenUp { reason } => reason.clone(),
        BackfillState::Running => panic!("it runs: {row:?}"),
    }
}

pub(crate) fn addresses(row: &BTreeMap<i64, BTreeSet<String>>) -> BTreeSet<String> {
    row.values().flatten().cloned().collect()
}

/// Runs the stages for some days, each job when it is due; jobs of visits only if `visits`. Returns the URLs of the
/// pages that were sent on each day, and the highest number of pages in one visit.
pub(crate) async fn run(world: &TestWorld, days: u64, visits: bool) -> (BTreeMap<i64, BTreeSet<String>>, usize) {
    let program = world.program();
    run_program(world, &program, days, visits).await
}

async fn run_program(
    world: &TestWorld,
    program: &Program,
    days: u64,
    visits: bool,
) -> (BTreeMap<i64, BTreeSet<String>>, usize) {
    let clock = world.politeness.clock.as_ref();
    let mailbox = world.mailbox();
    let worker = Worker { stages: program, queue: &mailbox, clock };
    let end = world.now() + Millis::from_days(days);
    let (mut sent, mut most): (BTreeMap<i64, BTreeSet<String>>, usize) = Default::default();
    while let Some(due) = world.jobs.next_due().await.unwrap().filter(|due| *due < end) {
        clock.sleep(due.since(world.now())).await;
        let today = world.now().as_millis().div_euclid(86_400_000);
        for queue in [QueueName::Poll, QueueName::Fetch, QueueName::Extract] {
            let all = world.jobs.receive(queue, 50, Millis::from_hours(1), world.now()).await.unwrap();
            for delivery in &all {
                if let Ok(Job { work: Work::Fetch(VisitJob { items, .. }), .. }) = &delivery.job {
                    sent.entry(today).or_default().extend(items.iter().map(|item| item.url.clone()));
                    most = most.max(items.len());
                }
            }
            if queue == QueueName::Extract || (queue == QueueName::Fetch && !visits) {
                for delivery in all {
                    world.jobs.ack(&delivery.receipt).await.unwrap();
                }
            } else {
                worker.deliver(queue, all).await.unwrap();
            }
        }
    }
    (sent, most)
}

async fn named(world: &TestWorld) {
    world.with_feed(|_| {}).await;
    begin(world, FEED, ASKED).await;
}

#[tokio::test(start_paused = true)]
async fn a_thousand_posts_of_wordpress_are_found_within_the_budget_of_each_day() {
    let world = TestWorld::new();
    wordpress(&world, 1_000);
    named(&world).await;
    let (sent, most) = run(&world, 1, true).await;
    let first = row(&world, FEED).await;
    assert_eq!(first.state, BackfillState::Running);
    assert!((440..=500).contains(&first.sent), "{}", first.sent);
    let (rest, _) = run(&world, 2, true).await;
    let found: BTreeSet<String> = addresses(&sent).union(&addresses(&rest)).cloned().collect();
    assert!(found == posts(1_000));
    assert!(most <= 20, "a new post waits behind no more than {most}");
    for (day, pages) in sent.iter().chain(&rest) {
        assert!(pages.len() <= 500, "{} on day {day}", pages.len());
    }
    let row = row(&world, FEED).await;
    assert_eq!((row.sent, row.documents, reason(&row).as_str()), (1_000, 101, "the archive was read to its end"));
    assert_eq!(world.calls(CallKind::Page).len(), 1_000, "each page must be called once");
    assert!(world.keys("backfill/").await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn the_pages_of_a_portion_belong_to_the_chain_of_its_step() {
    let world = TestWorld::new();
    wordpress(&world, 30);
    named(&world).await;
    run(&world, 1, true).await;
    let backfill = row(&world, FEED).await;
    let steps: Vec<_> = (0..backfill.step).map(|step| trace::of_backfill(&backfill.key, step)).collect();
    let mut chains = BTreeSet::new();
    for n in 0..30 {
        let (page, _) = world.pages.get(&page(&post(n))).await.unwrap().unwrap();
        chains.insert(page.trace.filter(|trace| steps.contains(trace)).expect("the chain of a step"));
    }
    assert_eq!(chains.len(), 3, "three documents of ten posts");
}

#[tokio::test(start_paused = true)]
async fn a_thousand_posts_of_blogger_are_found_though_a_document_has_more_than_a_portion() {
    let world = TestWorld::new();
    let document = |from: usize, to: usize| {
        let entries: String = (from..to)
            .map(|n| format!("<entry><id>tag:{n}</id><title>Post {n}</title><published>{}</published><link rel='alternate' href='{}'/></entry>", day(n), post(n)))
            .collect();
        let next = "<link rel='next' href='https://www.blogger.com/feeds/1/posts/default?start-index=26'/>";
        format!(
            "<feed xmlns='http://www.w3.org/2005/Atom'><id>b</id><title>Waders</title><generator uri='http://www.blogger.com'>Blogger</generator>{next}{entries}</feed>"
        )
    };
    keep(&world, FEED, "application/atom+xml", document(0, 25));
    let mut from = 25;
    while from < 1_000 {
        let to = 1_000.min(from + 150);
        keep(
            &world,
            &format!("{FEED}?start-index={}&max-results=150", from + 1),
            "application/atom+xml",
            document(from, to),
        );
        from = to;
    }
    keep(&world, &format!("{FEED}?start-index=1001&max-results=150"), "application/atom+xml", document(0, 0));
    pages(&world, 1_000);
    named(&world).await;
    let (sent, most) = run(&world, 4, true).await;
    assert!(addresses(&sent) == posts(1_000));
    assert!(most <= 20 && sent.values().all(|pages| pages.len() <= 500));
    assert_eq!(reason(&row(&world, FEED).await), "the archive was read to its end");
    assert!(!world.web.calls().iter().any(|call| call.url.contains("blogger.com")), "the blogs' shared host is called");
}

#[tokio::test(start_paused = true)]
async fn twenty_thousand_pages_of_a_sitemap_index_are_found_and_the_index_is_called_once() {
    let mut world = TestWorld::new();
    world.with_rules(|rules| rules.backfill_per_day = 5_000);
    world.with_site(HOME, SiteState::Feedless { reason: "none".into() }).await;
    let maps = || (0..4).map(|n| format!("{HOME}map-{n}.xml"));
    keep(&world, ROBOTS, "text/plain", format!("Sitemap: {HOME}maps.xml\n"));
    keep(&world, &format!("{HOME}maps.xml"), "text/xml", index(maps()));
    for (n, map) in maps().enumerate() {
        keep(&world, &map, "text/xml", sitemap((5_000 * n..5_000 * n + 5_000).map(post)));
    }
    begin(&world, HOME, BackfillRequest::default()).await;
    let (sent, most) = run(&world, 6, false).await;
    assert_eq!(addresses(&sent).len(), 20_000);
    assert!(most <= 20 && sent.values().all(|pages| pages.len() <= 5_000));
    let row = row(&world, HOME).await;
    assert_eq!((row.sent, row.found, row.documents), (20_000, 20_000, 5));
    assert!(matches!(row.state, BackfillState::Done { .. }), "{:?}", row.state);
    assert_eq!(world.calls(CallKind::Sitemap).len(), 5);
    assert!(world.keys("backfill/").await.is_empty(), "the stored lists are erased");
}

#[tokio::test(start_paused = true)]
async fn sitemaps_follow_a_feed_without_older_documents_only_if_somebody_asks() {
    for asked in [false, true] {
        let world = TestWorld::new();
        keep(&world, FEED, "application/rss+xml", rss("", 0..3));
        keep(&world, &format!("{HOME}sitemap.xml"), "text/xml", sitemap((0..9).map(post)));
        world.with_feed(|_| {}).await;
        begin(&world, FEED, BackfillRequest { asked, ..ASKED }).await;
        let (sent, _) = run(&world, 2, true).await;
        assert_eq!(addresses(&sent).len(), if asked { 9 } else { 3 });
        assert_eq!(world.calls(CallKind::Sitemap).len(), if asked { 2 } else { 0 }, "only the usual URLs are called");
    }
}

#[tokio::test(start_paused = true)]
async fn a_sitemap_speaks_for_its_own_host_and_its_index_too() {
    let world = TestWorld::new();
    world.with_site(HOME, SiteState::Feedless { reason: "none".into() }).await;
    let urls = [A, "https://other.example/b", "https://www.example.org/c", "ftp://example.org/d"];
    keep(&world, &format!("{HOME}sitemap.xml"), "text/xml", sitemap(urls.map(str::to_owned).into_iter()));
    let maps =
        ["https://other.example/map.xml", "https://example.org/sitemap.xml", "https://example.org/sitemap_index.xml"];
    keep(&world, &format!("{HOME}sitemap_index.xml"), "text/xml", index(maps.map(str::to_owned).into_iter()));
    begin(&world, HOME, BackfillRequest::default()).await;
    let (sent, _) = run(&world, 2, false).await;
    assert_eq!(addresses(&sent), [urls[0], urls[2]].map(str::to_owned).into());
    assert_eq!(world.calls(CallKind::Sitemap).len(), 2, "a circle is followed once, and no other host is called");
}

#[tokio::test(start_paused = true)]
async fn links_to_older_documents_in_circles_or_without_end_come_to_an_end_with_a_reason() {
    // The links lead to the document itself, to each other, and to ever new URLs with the same entries.
    let circles: [&dyn Fn(usize) -> (String, String); 3] = [
        &|_| (FEED.to_owned(), FEED.to_owned()),
        &|n| (format!("{FEED}?p={n}"), format!("{FEED}?p={}", (n + 1) % 5)),
        &|n| (format!("{FEED}?p={n}"), format!("{FEED}?p={}", n + 1)),
    ];
    for (kind, circle) in circles.iter().enumerate() {
        let world = TestWorld::new();
        keep(&world, FEED, "application/rss+xml", rss(&link("next", &circle(0).1), 0..3));
        for n in 0..100 {
            let (url, next) = circle(n);
            let posts = if kind == 1 { n..n + 3 } else { 0..3 };
            keep(&world, &url, "application/rss+xml", rss(&link("next", &next), posts));
        }
        pages(&world, 20);
        world.with_feed(|_| {}).await;
        begin(&world, FEED, BackfillRequest::default()).await;
        run(&world, 3, true).await;
        let row = row(&world, FEED).await;
        assert!(row.documents <= 8 && row.sent <= 8, "{row:?}");
        assert!(reason(&row).contains("circle") || reason(&row).contains("an earlier one"), "{}", reason(&row));
    }
}

#[tokio::test(start_paused = true)]
async fn made_up_entries_without_end_cost_the_budget_of_each_day_and_no_more_than_the_limit() {
    let world = TestWorld::new();
    for n in 0..400 {
        let url = if n == 0 { FEED.to_owned() } else { format!("{FEED}?p={n}") };
        keep(
            &world,
            &url,
            "application/rss+xml",
            rss(&link("next", &format!("{FEED}?p={}", n + 1)), 20 * n..20 * n + 20),
        );
    }
    world.with_feed(|_| {}).await;
    begin(&world, FEED, BackfillRequest { limit: Some(1_500), ..ASKED }).await;
    let (sent, _) = run(&world, 5, false).await;
    assert_eq!(addresses(&sent).len(), 1_500);
    assert!(sent.values().all(|pages| pages.len() <= 500));
    assert!(reason(&row(&world, FEED).await).contains("limit"));
}

#[tokio::test(start_paused = true)]
async fn pages_before_the_wanted_date_are_left_out_and_end_the_archive() {
    let world = TestWorld::new();
    wordpress(&world, 100);
    world.with_feed(|_| {}).await;
    begin(&world, FEED, BackfillRequest { since: Some(day(24)), ..ASKED }).await;
    let (sent, _) = run(&world, 2, true).await;
    assert!(addresses(&sent) == posts(25));
    let row = row(&world, FEED).await;
    assert_eq!(row.documents, 4);
    assert!(reason(&row).contains("everything since 2026-10-27"), "{}", reason(&row));
}

#[tokio::test(start_paused = true)]
async fn a_step_that_dies_anywhere_is_repeated_and_no_page_is_lost() {
    for crash in 1..40 {
        let world = TestWorld::new();
        wordpress(&world, 35);
        named(&world).await;
        let faults = Faults::crash_at(crash, world.politeness.clock.clone());
        let faulty = |world: &TestWorld| {
            let sources = Arc::new(Faulty::new(world.sources.clone(), faults.clone()));
            let queue = Arc::new(Faulty::new(world.jobs.clone(), faults.clone()));
            let pages = Arc::new(Faulty::new(world.pages.clone(), faults.clone()));
            let ports = Ports { sources, queue, pages, ..world.ports.clone() };
            Backfills { intake: Arc::new(Intake::new(world.politeness.clone(), &ports)) }
        };
        let stage = faulty(&world);
        for _ in 0..4 {
            for delivery in world.jobs.receive(QueueName::Poll, 9, Millis::from_hours(1), world.now()).await.unwrap() {
                let Ok(Job { work: Work::Backfill(job), .. }) = &delivery.job else { panic!("{delivery:?}") };
                match stage.run(job).await {
                    Ok(_) => world.jobs.ack(&delivery.receipt).await.unwrap(),
                    Err(_) => world.jobs.put_back(&delivery.receipt, world.now()).await.unwrap(),
                }
            }
            world.sleep(Millis::from_mins(30)).await;
        }
        let (sent, _) = run(&world, 3, true).await;
        let row = row(&world, FEED).await;
        assert!(matches!(row.state, BackfillState::Done { .. }), "{crash}: {row:?}");
        let known: BTreeSet<String> = world.calls(CallKind::Page).into_iter().map(|call| call.url).collect();
        assert!(known == posts(35), "{crash}: {} of {}", known.len(), addresses(&sent).len());
        assert_eq!(world.calls(CallKind::Page).len(), 35, "{crash}: a page that is sent twice must be called once");
    }
}

#[tokio::test(start_paused = true)]
async fn a_job_of_an_earlier_step_is_void_and_a_lost_one_is_sent_again() {
    let world = TestWorld::new();
    wordpress(&world, 35);
    named(&world).await;
    let (of, stage) = (key_of(&key(FEED)).unwrap(), world.program().crawler.backfills);
    let job = |step| BackfillJob { backfill: of.clone(), url: FEED.into(), step };
    assert_eq!(stage.run(&job(0)).await.unwrap(), Verdict::Done);
    let after = row(&world, FEED).await;
    assert_eq!((after.step, after.sent), (1, 10));
    assert!(matches!(stage.run(&job(0)).await.unwrap(), Verdict::Drop(_)));
    assert_eq!(stage.run(&job(1)).await.unwrap(), Verdict::Defer(after.due));
    let early = stage.run(&job(2)).await.unwrap();
    assert!(matches!(early, Verdict::Defer(at) if at > world.now()), "a job that precedes its row is not lost");
    world.settle(QueueName::Poll, 9, after.due).await;
    let dispatch = world.dispatch_stage();
    dispatch.tick().await.unwrap();
    assert!(
        world.queued(QueueName::Poll).await.iter().all(|(job, _)| !matches!(job, Job { work: Work::Backfill(_), .. }))
    );
    world.sleep(Millis::from_hours(10)).await;
    dispatch.tick().await.unwrap();
    let sent = world.queued(QueueName::Poll).await;
    assert!(sent.iter().any(|(sent, _)| *sent == Job::new(job(1))), "{sent:?}");
}

#[tokio::test(start_paused = true)]
async fn a_held_host_waits_and_a_blocked_one_ends_it() {
    let world = TestWorld::new();
    wordpress(&world, 35);
    named(&world).await;
    let until = world.now() + Millis::from_days(3);
    let hold = Hold { until, reason: HoldReason::Forbidden, since: world.now() };
    let (ledger, example): (&dyn HostLedger, _) = (world.hosts.as_ref(), host("example.org"));
    update_host(ledger, &example, |state| (HostState { hold: Some(hold.clone()), ..state }, ())).await.unwrap();
    run(&world, 1, true).await;
    let waiting = row(&world, FEED).await;
    assert_eq!((waiting.due, world.web.calls().len()), (until, 0));
    assert!(waiting.note.is_some_and(|note| note.contains("forbidden")));
    update_host(ledger, &example, |state| (admission::block(state, "example.org"), ())).await.unwrap();
    run(&world, 4, true).await;
    assert_eq!((reason(&row(&world, FEED).await).as_str(), world.web.calls().len()), ("the host is blocked", 0));
}

#[tokio::test(start_paused = true)]
async fn a_document_that_robots_txt_forbids_is_not_called_and_excluded_pages_neither() {
    let world = TestWorld::new();
    wordpress(&world, 35);
    keep(&world, ROBOTS, "text/plain", "User-agent: *\nDisallow: /*?paged=3\nDisallow: /post-1$\n".into());
    named(&world).await;
    run(&world, 2, true).await;
    let calls: Vec<String> = world.web.calls().into_iter().map(|call| call.url).collect();
    assert!(!calls.iter().any(|url| url.contains("paged=3") || url.ends_with("post-1")), "{calls:?}");
    assert_eq!(world.calls(CallKind::Page).len(), 19);
    assert!(reason(&row(&world, FEED).await).contains("robots.txt"), "{}", reason(&row(&world, FEED).await));
}

#[tokio::test(start_paused = true)]
async fn a_setting_begins_it_for_every_site_whose_discovery_ends() {
    for on in [false, true] {
        let mut world = TestWorld::new();
        world.with_rules(|rules| rules.backfill = on);
        world.with_site(HOME, SiteState::Waiting).await;
        wordpress(&world, 35);
        keep(
            &world,
            HOME,
            "text/html",
            format!(
                "<html><head><title>W</title><link rel=alternate type=application/rss+xml href='{FEED}'></head><body>x</body></html>"
            ),
        );
        world.discover(HOME).await;
        run(&world, 3, true).await;
        assert_eq!(world.calls(CallKind::Page).len(), if on { 35 } else { 10 });
    }
}

#[tokio::test(start_paused = true)]
async fn a_site_without_a_feed_is_read_by_its_sitemap_and_again_when_it_still_has_none() {
    let world = TestWorld::new();
    world.with_site(HOME, SiteState::Waiting).await;
    keep(&world, HOME, "text/html", "<html><head><title>W</title></head><body>x</body></html>".into());
    let map = |pages: usize| keep(&world, &format!("{HOME}sitemap.xml"), "text/xml", sitemap((0..pages).map(post)));
    map(9);
    world.discover(HOME).await;
    let (sent, _) = run(&world, 2, false).await;
    assert_eq!(addresses(&sent), posts(9));
    map(12);
    world.sleep(Millis::from_days(2)).await;
    world.discover(HOME).await;
    let (sent, _) = run(&world, 2, false).await;
    assert!(addresses(&sent).is_superset(&(9..12).map(post).collect()), "{sent:?}");
}

#[tokio::test(start_paused = true)]
async fn a_site_whose_feeds_are_still_unknown_is_waited_for_and_the_heirs_of_its_feeds_are_read() {
    let world = TestWorld::new();
    wordpress(&world, 35);
    world.with_site(HOME, SiteState::Waiting).await;
    begin(&world, HOME, ASKED).await;
    let job = BackfillJob { backfill: key_of(&key(HOME)).unwrap(), url: HOME.into(), step: 0 };
    assert_eq!(world.program().crawler.backfills.run(&job).await.unwrap(), Verdict::Done);
    assert_eq!((row(&world, HOME).await.due, world.web.calls().len()), (world.now() + Millis::from_secs(20), 0));
    let old = "https://example.org/old-feed";
    world.change_site(HOME, |site| site.state = SiteState::Working { feeds: vec![key(old)] }).await;
    let moved =
        FeedSource { gone: true, moved: Some((FEED.into(), 3)), ..FeedSource::new(key(old), Slot::from_hash(1), old) };
    world.sources.insert(&Source::Feed(moved)).await.unwrap();
    world.with_feed(|_| {}).await;
    run(&world, 2, true).await;
    assert_eq!(world.calls(CallKind::Page).len(), 35);
}
