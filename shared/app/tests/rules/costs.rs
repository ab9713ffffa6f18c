//! Costs of a page, a poll and a query, counted in operations that cloud stores bill.

use crate::test_world::*;
use curlew_catalog::segment::{self, Draft};
use curlew_crawl::feeds::intake::Intake;
use curlew_crawl::feeds::poll::RowsAtHand;
use curlew_crawl::pages::fetch::Fetch;
use curlew_crawl::politeness::visit::LeaseOutcome;
use curlew_people::erasure::{Erasure, StepLimits};
use curlew_policy::politeness::visit::LOOK_SELDOM;
use futures::future::{join, try_join_all};

/// Wraps a port so that its calls are counted.
fn counted<P>(world: &TestWorld, port: &Arc<P>) -> Arc<Faulty<P>> {
    Arc::new(Faulty::new(port.clone(), Faults::none(world.politeness.clock.clone())))
}

/// Returns the politeness of a world over another ledger.
fn politeness(world: &TestWorld, over: Arc<dyn HostLedger>) -> Arc<Politeness> {
    Arc::new(Politeness { ledger: over, ..Politeness::clone(&world.politeness) })
}

#[tokio::test(start_paused = true)]
async fn a_poll_that_brings_nothing_costs_one_write_and_one_cheap_read_of_its_host() {
    let world = TestWorld::of_feed().await;
    let mut first = text(rss(""));
    first.headers.validators = Validators { etag: Some("\"1\"".into()), last_modified: None };
    world.web.answer(FEED, Ok(first));
    world.web.answer(FEED, Ok(status(304)));
    let ledger = counted(&world, &world.hosts);
    let politeness = politeness(&world, ledger.clone());
    let intake = Intake::new(politeness, &world.ports);
    let poll =
        Poll { intake: Arc::new(intake), fetch: None, rows: RowsAtHand::default(), marks: world.ports.marks.clone() };
    let job = Envelope::new(PollJob::new(key(FEED), FEED.into()));
    poll.run(&job).await.unwrap();
    world.sleep(Millis::from_hours(9)).await;
    ledger.taken();
    assert_eq!(poll.run(&job).await.unwrap(), Verdict::Done);
    assert_eq!(ledger.taken(), [("load_eventual", 1), ("swap", 1)]);
}

#[tokio::test(start_paused = true)]
async fn a_publishing_with_nothing_new_writes_nothing() {
    let world = TestWorld::new();
    crate::index::accept(&world, "a", "A curlew probes the mud.").await;
    let blobs = counted(&world, &world.blobs);
    let index = Index { blobs: blobs.clone(), ..world.index() };
    assert!(index.has_unpublished(2026).await.unwrap());
    assert!(index.publish(2026).await.unwrap().has_changed());
    assert!(blobs.taken().iter().any(|(name, _)| *name == "put"));
    for _ in 0..3 {
        assert!(!index.has_unpublished(2026).await.unwrap());
        assert!(!index.publish(2026).await.unwrap().has_changed());
        world.sleep(Millis::from_mins(10)).await;
    }
    let counts = blobs.taken();
    assert!(counts.iter().all(|(name, _)| ["get", "list"].contains(name)), "{counts:?}");
}

/// Number of pages that the next tests fetch.
const PAGES: u32 = 10;

/// Returns a world with pages that have an image each, and the URLs of the pages.
fn pages_with_images() -> (TestWorld, Vec<String>) {
    let world = TestWorld::new();
    let urls: Vec<String> = (0..PAGES).map(|n| format!("https://example.org/{n}")).collect();
    for url in &urls {
        world.serve_page(url, &format!("<meta property=\"og:image\" content=\"{url}.png\">"));
        world.web.serve(&format!("{url}.png"), "image/png", png(64));
    }
    (world, urls)
}

#[tokio::test(start_paused = true)]
async fn a_page_costs_two_writes_and_two_reads_of_its_row_and_no_object_of_its_own() {
    let (world, urls) = pages_with_images();
    let (ledger, pages, blobs) =
        (counted(&world, &world.hosts), counted(&world, &world.pages), counted(&world, &world.blobs));
    let ports = Ports { pages: pages.clone(), blobs: blobs.clone(), ..world.ports.clone() };
    let fetch = Fetch::new(politeness(&world, ledger.clone()), &ports);
    let urls: Vec<&str> = urls.iter().map(String::as_str).collect();
    fetch.run(&visit("example.org", &urls, &new()).as_visit()).await.unwrap();
    // robots.txt, the pages and their images are one call each. The lease is taken and returned.
    assert_eq!(ledger.taken(), [("load_eventual", 2 * PAGES + 1), ("swap", 2)]);
    assert_eq!(pages.taken(), [("get", PAGES), ("insert", PAGES)]);
    assert_eq!(blobs.taken(), []);
    // The overrides are read once a minute, however many batches there are.
    world.judge.rules(world.blobs.as_ref(), world.politeness.clock.as_ref()).await.unwrap();
    let extract = Extract { pages: pages.clone(), blobs: blobs.clone(), ..world.extract() };
    let jobs = world.extract_jobs().await;
    assert!(extract.run_batch(&page_jobs(&jobs)).await.iter().all(Result::is_ok));
    assert_eq!(pages.taken(), [("load_eventual", PAGES), ("swap", PAGES)]);
    assert_eq!(blobs.taken(), [("get", 1), ("put", 1)], "the blocked hosts, and one segment for all of them");
    let index = Index { pages: pages.clone(), ..world.index() };
    assert_eq!(index.publish(2026).await.unwrap().added, u64::from(PAGES));
    assert_eq!(pages.taken(), [("load_eventual", PAGES)]);
    assert!(world.host_state("example.org").await.lease.is_none());
}

#[tokio::test(start_paused = true)]
async fn where_reads_are_billed_a_visit_looks_at_its_hosts_row_every_five_seconds_and_hears_of_a_block() {
    let (world, urls) = pages_with_images();
    let ledger = counted(&world, &world.hosts);
    let politeness = Politeness { look_every: LOOK_SELDOM, ..Politeness::clone(&politeness(&world, ledger.clone())) };
    let fetch = Fetch::new(Arc::new(politeness), &world.ports);
    let urls: Vec<&str> = urls.iter().map(String::as_str).collect();
    let job = visit("example.org", &urls, &new()).as_visit();
    let block = async {
        world.sleep(Millis::from_secs(8)).await;
        let (looks, calls) = (ledger.taken(), world.web.calls().len());
        world.program().desk.blocks.block("example.org").await.unwrap();
        (looks, calls)
    };
    let (done, (looks, calls)) = join(fetch.run(&job), block).await;
    done.unwrap();
    assert_eq!(looks, [("load_eventual", 2), ("swap", 1)], "one read for the lease, and one later");
    // The calls are at least a second apart.
    let late = world.web.calls().len() - calls;
    assert!(late <= 5, "{late}");
}

#[tokio::test(start_paused = true)]
async fn with_few_rows_a_page_costs_one_write_and_is_fetched_once_all_the_same() {
    let (world, urls) = pages_with_images();
    let pages = counted(&world, &world.pages);
    let ports = Ports { pages: pages.clone(), ..world.ports.clone() };
    let fetch = Fetch::new(world.politeness.clone(), &ports);
    let fetch = fetch.remember_sent_in_host_state(6);
    let urls: Vec<&str> = urls.iter().map(String::as_str).collect();
    let (first, last) = urls.split_at(4);
    // Nobody has fetched a page of this host before.
    fetch.run(&visit("example.org", first, &new()).as_visit()).await.unwrap();
    assert_eq!(pages.taken(), []);
    // Another feed lists pages that are on their way to extraction, and new pages. Pages that do not fit into the state
    // of the host get a row.
    fetch.run(&visit("example.org", first, &new()).as_visit()).await.unwrap();
    assert_eq!(pages.taken(), [("load_eventual", 4)]);
    fetch.run(&visit("example.org", last, &new()).as_visit()).await.unwrap();
    assert_eq!(pages.taken(), [("load_eventual", 6)]);
    fetch.run(&visit("example.org", last, &new()).as_visit()).await.unwrap();
    assert_eq!(pages.taken(), [("load_eventual", 6)]);
    assert_eq!(world.calls(CallKind::Page).len(), urls.len(), "no page was called again");
    let jobs = world.extract_jobs().await;
    let extract = Extract { pages: pages.clone(), ..world.extract() };
    assert!(extract.run_batch(&page_jobs(&jobs)).await.iter().all(Result::is_ok));
    assert_eq!(pages.taken(), [("insert", PAGES)]);
    // Pages that the state of the host has forgotten by now have a row.
    fetch.run(&visit("example.org", &urls, &new()).as_visit()).await.unwrap();
    assert_eq!(world.calls(CallKind::Page).len(), urls.len());

    // A page that was rejected since is fetched on request, although the state of the host still remembers it.
    let last = urls[urls.len() - 1];
    let (row, seen) = world.pages.get(&page(last)).await.unwrap().unwrap();
    let reason = Rejection::HostUnavailable("held".into());
    world.pages.swap(seen, &Page { state: PageState::Rejected { reason }, ..row }).await.unwrap();
    fetch.run(&visit("example.org", &[last], &new()).as_visit()).await.unwrap();
    assert_eq!(world.calls(CallKind::Page).len(), urls.len() + 1);
}

#[tokio::test(start_paused = true)]
async fn of_a_visit_with_more_pages_than_are_remembered_the_others_have_rows() {
    let (world, urls) = pages_with_images();
    let pages = counted(&world, &world.pages);
    let ports = Ports { pages: pages.clone(), ..world.ports.clone() };
    let fetch = Fetch::new(world.politeness.clone(), &ports);
    let fetch = fetch.remember_sent_in_host_state(6);
    let urls: Vec<&str> = urls.iter().map(String::as_str).collect();
    for _ in 0..2 {
        fetch.run(&visit("example.org", &urls, &new()).as_visit()).await.unwrap();
    }
    assert_eq!(pages.taken(), [("insert", 4), ("load_eventual", PAGES)]);
    assert_eq!(world.calls(CallKind::Page).len(), urls.len());
}

#[tokio::test(start_paused = true)]
async fn first_visits_at_once_share_readings_of_the_blocked_hosts_that_began_after_their_leases() {
    let world = TestWorld::new();
    // Each read of the blocked hosts takes time, as in a real store.
    let rates = Rates { delay: 1_000, longest_delay: Millis(9), ..Rates::NONE };
    let faults = Faults::seeded(1, rates, world.politeness.clock.clone());
    let blobs = Arc::new(Faulty::new(world.blobs.clone(), faults));
    let politeness = Arc::new(Politeness { blobs: blobs.clone(), ..Politeness::clone(&world.politeness) });
    let hosts: Vec<HostKey> = (0..50).map(|n| host(&format!("{n}.example"))).collect();
    let open = hosts.iter().map(|host| politeness.open(host, "somebody"));
    let opened: Vec<LeaseOutcome> = try_join_all(open).await.unwrap();
    assert!(opened.iter().all(|outcome| matches!(outcome, LeaseOutcome::Granted(_))));
    let [("get", readings)] = blobs.taken()[..] else { panic!("the blocked hosts must be read") };
    assert!(readings < 5, "{readings}");
    // A visit that starts later does not use an earlier read.
    world.program().desk.blocks.block("example").await.unwrap();
    let outcome = politeness.open(&host("late.example"), "somebody").await.unwrap();
    assert!(matches!(outcome, LeaseOutcome::Blocked));
}

#[tokio::test(start_paused = true)]
async fn queries_list_nothing_but_now_and_then_and_what_is_removed_or_published_shows_at_once() {
    let world = TestWorld::new();
    let blobs = counted(&world, &world.blobs);
    let finder = Finder::new(blobs.clone(), world.politeness.clock.clone());
    for _ in 0..100 {
        finder.find("curlew", Start::Offset(0), 9).await.unwrap();
    }
    assert_eq!(blobs.taken(), [("get", 200), ("list", 1)], "the manifest of the year and the hidden hosts");
    world.serve_page(A, IMAGE);
    world.crawl(&[A]).await;
    world.publish().await;
    assert_eq!(finder.find("curlew", Start::Offset(0), 9).await.unwrap().total, 1);
    world.web.keep(A, status(410));
    world.recheck(A).await;
    assert_eq!(finder.find("curlew", Start::Offset(0), 9).await.unwrap().total, 0);
    let lists = |counts: Vec<(&str, u32)>| counts.iter().find(|(name, _)| *name == "list").map_or(0, |(_, n)| *n);
    world.sleep(Millis::from_mins(11)).await;
    finder.find("curlew", Start::Offset(0), 9).await.unwrap();
    assert_eq!(lists(blobs.taken()), 1, "after a while the years are listed again");
}

/// Returns a world with a split whose pages exceed the size of one range read.
async fn with_a_large_split() -> TestWorld {
    let world = TestWorld::new();
    let mut seed = 1_u64;
    let mut word = move || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        format!("w{:x}", (seed >> 33) % 300 * ((seed >> 45) % 300))
    };
    for n in 0..1_200 {
        let text: Vec<String> = (0..250).map(|_| word()).collect();
        crate::index::accept(&world, &n.to_string(), &format!("curlew mud {}", text.join(" "))).await;
    }
    world.publish().await;
    world
}

#[tokio::test(start_paused = true)]
async fn a_cold_query_of_two_words_takes_at_most_twelve_range_reads_of_one_split() {
    let world = with_a_large_split().await;
    let blobs = counted(&world, &world.blobs);
    for query in ["curlew mud", "w1a curlew", "\"curlew mud\" w40"] {
        let finder = Finder::new(blobs.clone(), world.politeness.clock.clone());
        let found = finder.find(query, Start::Offset(0), 10).await.unwrap();
        assert_eq!(found.hits.len(), 10, "{query}");
        let cold = blobs.taken();
        let gets = cold.iter().find(|(name, _)| *name == "get").map_or(0, |(_, n)| *n);
        assert!((4..=12).contains(&gets), "{query}: {cold:?}, including the manifest and the hidden hosts");
        finder.find(query, Start::Offset(0), 10).await.unwrap();
        assert_eq!(blobs.taken(), [("get", 2)], "a warm query reads only the objects that change");
    }
}

#[tokio::test(start_paused = true)]
async fn what_lies_in_the_range_cache_is_not_read_again_unless_it_is_damaged() {
    let world = with_a_large_split().await;
    let blobs = counted(&world, &world.blobs);
    let cache = Arc::new(MemoryRangeCache::default());
    let finder = || Finder::new(blobs.clone(), world.politeness.clock.clone()).with_range_cache(cache.clone());
    let found = finder().find("curlew mud", Start::Offset(0), 10).await.unwrap();
    let gets = |taken: Vec<(&str, u32)>| taken.iter().find(|(name, _)| *name == "get").map_or(0, |(_, n)| *n);
    let cold = gets(blobs.taken());
    assert!(cold > 3 && found.hits.len() == 10, "{cold}");
    // Another process with the same cache reads only the objects that change, and nothing of the split.
    assert_eq!(finder().find("curlew mud", Start::Offset(0), 10).await.unwrap(), found);
    assert_eq!(gets(blobs.taken()), 2);
    cache.damage();
    assert_eq!(finder().find("curlew mud", Start::Offset(0), 10).await.unwrap(), found);
    assert_eq!(gets(blobs.taken()), cold, "a damaged cache is read again");
    assert_eq!(finder().find("curlew mud", Start::Offset(0), 10).await.unwrap(), found);
    assert_eq!(gets(blobs.taken()), 2, "the cache is good again");
    // The cache also drops a split that is no longer listed.
    crate::index::accept(&world, "later", "curlew mud").await;
    world.publish().await;
    world.index().refresh(2026).await.unwrap();
    assert_eq!(finder().find("curlew mud", Start::Offset(0), 10).await.unwrap().total, found.total + 1);
    let kept = cache.len();
    cache.keep_only(&[]).await;
    assert!(cache.is_empty() && kept > 0);
    finder().find("curlew mud", Start::Offset(0), 10).await.unwrap();
    assert_eq!(cache.len(), kept, "the cache had only pieces of the new split");
}

#[tokio::test(start_paused = true)]
async fn the_erasure_of_a_host_rewrites_each_segment_once() {
    const PAGES: usize = 32;
    let world = TestWorld::new();
    let url = |n: usize| format!("https://example.org/{n}");
    let drafts: Vec<Draft> = (0..PAGES)
        .map(|n| {
            let record = Record { host: "example.org".into(), ..Record::new(page(&url(n)), url(n), world.now()) };
            Draft { record, thumbnail: None, raw: None }
        })
        .collect();
    let places = segment::write(world.blobs.as_ref(), &drafts, world.now()).await.unwrap();
    for (n, location) in places.into_iter().enumerate() {
        let state = PageState::Accepted { year: 2026, location, content_hash: String::new() };
        let row = Page::new(page(&url(n)), url(n), host("example.org"), state, world.now());
        assert!(world.pages.insert(&row).await.unwrap());
    }
    world.publish().await;
    let (blobs, pages) = (counted(&world, &world.blobs), counted(&world, &world.pages));
    let clock = world.politeness.clock.clone();
    let removal = Removal::new(pages.clone(), blobs.clone(), clock, Arc::new(()));
    let (blobs_of, pages_of) = (blobs.as_ref(), pages.as_ref());
    let erasure = Erasure { pages: pages_of, blobs: blobs_of, removal: &removal, limits: StepLimits::default() };
    let (erased, left) = erasure.of_host("example.org", world.now(), Timestamp::MAX, None).await.unwrap();
    assert_eq!((erased, left), (PAGES as u64, None));
    let writes = blobs.taken().into_iter().filter(|(name, _)| ["put", "swap"].contains(name));
    let writes: u32 = writes.map(|(_, count)| count).sum();
    assert_eq!(writes, 2 + PAGES as u32, "the manifest, the segment, and an audit line for each page");
    assert!(pages.taken().contains(&("swap", PAGES as u32)));
    let text = world.blobs.get(drafts_key(&world).await.as_str()).await.unwrap().unwrap().bytes;
    assert!(zstd::stream::decode_all(&text[..]).unwrap().is_empty(), "nothing may be left of the records");
}

async fn drafts_key(world: &TestWorld) -> String {
    world.keys("segments/").await.remove(0)
}
