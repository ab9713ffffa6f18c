//! Polls that bring nothing new. Most polls are such, so they decide what polling costs.

use crate::test_world::{FEED, TestWorld, host, html, key, moved, rss, status};
use async_trait::async_trait;
use curlew_crawl::feeds::first_pages::FIRST_PAGES;
use curlew_crawl::politeness::access::Politeness;
use curlew_crawl::worker::Stages;
use curlew_model::{HostState, Job, Millis, PollJob, QueueName, Validators, Work};
use curlew_policy::rules::BUSY_RETRY;
use curlew_ports::stage::Verdict;
use curlew_ports::{Call, CallKind, Fetch, FetchError, HostLedger, Reply};
use curlew_testkit::memory::MemoryFetch;
use std::collections::BTreeSet;
use std::sync::Arc;

const ITEM: &str = "<item><link>https://example.org/a</link></item>";

fn document(items: &str) -> Reply {
    let mut reply = Reply { body: rss(items).into(), ..status(200) };
    reply.headers.validators = Validators { etag: Some("\"1\"".into()), last_modified: None };
    reply
}

async fn state(world: &TestWorld) -> HostState {
    world.hosts.load(&host("example.org")).await.unwrap().0
}

async fn hours(world: &TestWorld, hours: u64) {
    world.politeness.clock.sleep(Millis::from_hours(hours)).await;
}

#[tokio::test(start_paused = true)]
async fn a_poll_that_brings_nothing_lets_its_lease_run_out_and_one_with_news_gives_it_back() {
    let world = TestWorld::new();
    world.with_feed(|_| {}).await;
    for answer in [document(ITEM), status(304), document(ITEM), status(304)] {
        world.web.answer(FEED, Ok(answer));
    }
    let rules = &world.politeness.rules;
    assert_eq!(world.poll(0).await, Verdict::Done);
    assert_eq!(state(&world).await.lease, None, "the visits that it sent need the lease");
    for n in 1..=3 {
        hours(&world, 9).await;
        let before = world.now();
        let version = world.hosts.load(&host("example.org")).await.unwrap().1;
        assert_eq!(world.poll(0).await, Verdict::Done);
        let (now, written) = world.hosts.load(&host("example.org")).await.unwrap();
        // The third poll reads robots.txt again, a pause before the feed, and notes with the host that it has not
        // changed.
        if n == 3 {
            assert_eq!((written.0, now.lease), (version.0 + 2, None));
            continue;
        }
        assert_eq!(written.0, version.0 + 1, "one write for the lease and none for its end");
        let until = now.lease.map(|lease| lease.until);
        assert!(until.is_some_and(|until| until > world.now() && until <= before + rules.brief_length()));
        assert!(now.visited[0].spent >= rules.brief_length(), "it is charged in full");
        if n == 2 {
            assert!(world.now() < before + rules.min_pause, "a lease that ran out hours ago costs no pause");
        }
    }
    assert_eq!(world.calls(CallKind::Feed).len(), 4);
    assert_eq!(world.queued(QueueName::Fetch).await.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_host_that_is_visited_often_gets_its_lease_back() {
    let world = TestWorld::new();
    world.with_feed(|feed| feed.validators.etag = Some("\"1\"".into())).await;
    let not_before = world.now() - Millis::from_mins(5);
    let busy = HostState { not_before, ..HostState::default() };
    world.hosts.swap(&host("example.org"), curlew_ports::Version::ABSENT, busy).await.unwrap();
    world.web.answer(FEED, Ok(status(304)));
    assert_eq!(world.poll(0).await, Verdict::Done);
    assert_eq!(state(&world).await.lease, None);
}

#[tokio::test(start_paused = true)]
async fn a_lease_that_was_left_keeps_others_out_until_it_ends() {
    let world = TestWorld::new();
    world.with_feed(|feed| feed.validators.etag = Some("\"1\"".into())).await;
    world.web.answer(FEED, Ok(status(304)));
    world.poll(0).await;
    let until = state(&world).await.lease.map(|lease| lease.until).unwrap();
    let visit = crate::test_world::visit("example.org", &["https://example.org/a"], &crate::test_world::new());
    assert!(matches!(world.fetch(&visit).await, Verdict::Defer(at) if at <= until));
    let patient = Job { waits: 3, ..Job::new(visit.clone()) };
    let Verdict::Defer(at) = world.fetch(&patient).await else { panic!("the lease is in force") };
    assert!(at.since(world.now()) >= BUSY_RETRY.saturating_mul(8), "who found it in use three times asks less often");
    world.politeness.clock.sleep(until.since(world.now())).await;
    let ended = world.now();
    assert_eq!(world.fetch(&visit).await, Verdict::Done);
    assert_eq!(world.calls(CallKind::Page).len(), 1);
    assert!(world.now() >= ended + world.politeness.rules.min_pause);
}

/// A web that delays each answer.
struct Slow(Arc<MemoryFetch>, Arc<dyn curlew_ports::Clock>, Millis);

#[async_trait]
impl Fetch for Slow {
    async fn call(&self, call: &Call) -> Result<Reply, FetchError> {
        self.1.sleep(self.2).await;
        self.0.call(call).await
    }

    fn vet(&self, url: &str) -> Result<(), String> {
        self.0.vet(url)
    }
}

#[tokio::test(start_paused = true)]
async fn a_poll_that_takes_long_gets_a_longer_lease_and_gives_it_back() {
    let mut world = TestWorld::new();
    world.with_feed(|feed| feed.validators.etag = Some("\"1\"".into())).await;
    world.web.answer(FEED, moved(302, "https://example.org/b"));
    world.web.answer("https://example.org/b", Ok(status(304)));
    let slow = Slow(world.web.clone(), world.politeness.clock.clone(), Millis::from_secs(20));
    world.politeness = Arc::new(Politeness { fetch: Arc::new(slow), ..Politeness::clone(&world.politeness) });
    let began = world.now();
    assert_eq!(world.poll(0).await, Verdict::Done);
    assert_eq!(world.calls(CallKind::Feed).len(), 2);
    let took = world.now().since(began);
    assert!(took > world.politeness.rules.brief_length(), "{took:?}");
    let after = state(&world).await;
    assert_eq!(after.lease, None);
    assert!(after.visited[0].spent >= took && after.visited[0].spent <= took + Millis(10), "{:?}", after.visited);
}

#[tokio::test(start_paused = true)]
async fn the_first_new_pages_are_fetched_under_the_lease_of_the_poll() {
    let world = TestWorld::new();
    world.with_feed(|_| {}).await;
    let page = |n: usize| format!("https://example.org/{n}");
    let many = FIRST_PAGES + 2;
    let items: String = (0..many).map(|n| format!("<item><link>{}</link></item>", page(n))).collect();
    let elsewhere = "https://another.example/p";
    let items = format!("{items}<item><link>{elsewhere}</link></item>");
    world.web.serve(FEED, "application/rss+xml", rss(&items));
    (0..many).for_each(|n| world.web.serve(&page(n), "text/html", html("")));
    let job = Job::new(PollJob::new(key(FEED), FEED.into()));
    let began = world.now();
    assert_eq!(world.program().run(&job).await.unwrap(), Verdict::Done);
    let called: Vec<String> = world.calls(CallKind::Page).into_iter().map(|call| call.url).collect();
    assert_eq!(called, (0..FIRST_PAGES).map(page).collect::<Vec<_>>());
    let pauses = u64::try_from(FIRST_PAGES).unwrap();
    assert!(world.now() >= began + world.politeness.rules.min_pause.saturating_mul(pauses), "the feed, and the pages");
    assert_eq!(world.queued(QueueName::Extract).await.len(), FIRST_PAGES);
    let left = world.queued(QueueName::Fetch).await;
    let left: BTreeSet<String> = left
        .into_iter()
        .flat_map(
            |(job, _)| if let Job { work: Work::Fetch(visit), .. } = job { visit.items } else { panic!("{job:?}") },
        )
        .map(|item| item.url)
        .collect();
    assert_eq!(left, BTreeSet::from([elsewhere.to_owned(), page(many - 2), page(many - 1)]));
    let (state, _) = world.hosts.load(&host("example.org")).await.unwrap();
    assert!(state.lease.is_none(), "it was given back");
    assert_eq!(world.feed().await.seen.len(), many + 1);
}

#[tokio::test(start_paused = true)]
async fn pages_that_a_poll_could_not_fetch_are_visited_later() {
    let world = TestWorld::new();
    world.with_feed(|_| {}).await;
    let page = "https://example.org/a";
    world.web.serve(FEED, "application/rss+xml", rss(&format!("<item><link>{page}</link></item>")));
    world.web.answer(page, Ok(status(503)));
    let job = Job::new(PollJob::new(key(FEED), FEED.into()));
    assert_eq!(world.program().run(&job).await.unwrap(), Verdict::Done);
    assert_eq!(world.calls(CallKind::Page).len(), 1);
    let left = world.queued(QueueName::Fetch).await;
    let [(Job { work: Work::Fetch(visit), .. }, due)] = &left[..] else { panic!("{left:?}") };
    assert_eq!(visit.items[0].url, page);
    assert!(*due > world.now());
}
