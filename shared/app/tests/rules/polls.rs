//! Polls that bring nothing new. Most polls are like this, so they determine the cost of polling.

use crate::test_world::*;
use curlew_crawl::feeds::first_pages::FIRST_PAGES;
use curlew_policy::rules::BUSY_RETRY;

const ITEM: &str = "<item><link>https://example.org/a</link></item>";

async fn hours(world: &TestWorld, hours: u64) {
    world.sleep(Millis::from_hours(hours)).await;
}

#[tokio::test(start_paused = true)]
async fn a_poll_that_brings_nothing_lets_its_lease_run_out_and_one_with_news_gives_it_back() {
    let world = TestWorld::of_feed().await;
    for answer in [tagged(ITEM, "\"1\""), status(304), tagged(ITEM, "\"1\""), status(304)] {
        world.web.answer(FEED, Ok(answer));
    }
    let rules = &world.politeness.rules;
    assert_eq!(world.poll(0).await, Verdict::Done);
    assert_eq!(world.host_state("example.org").await.lease, None, "the visits that the poll sent need the lease");
    for n in 1..=3 {
        hours(&world, 9).await;
        let before = world.now();
        let version = world.hosts.load(&host("example.org")).await.unwrap().1;
        assert_eq!(world.poll(0).await, Verdict::Done);
        let (now, written) = world.hosts.load(&host("example.org")).await.unwrap();
        // The third poll reads robots.txt again, a pause before the feed, and records with the host that it is
        // unchanged.
        if n == 3 {
            assert_eq!((written.0, now.lease), (version.0 + 2, None));
            continue;
        }
        assert_eq!(written.0, version.0 + 1, "one write for the lease and none for its end");
        let until = now.lease.map(|lease| lease.until);
        assert!(until.is_some_and(|until| until > world.now() && until <= before + rules.brief_length()));
        assert!(now.visited[0].spent >= rules.brief_length(), "the lease must be charged in full");
        if n == 2 {
            assert!(world.now() < before + rules.min_pause, "a lease that ran out hours ago costs no pause");
        }
    }
    assert_eq!(world.calls(CallKind::Feed).len(), 4);
    assert_eq!(world.queued(QueueName::Fetch).await.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn h07_quiet_polls_of_each_hour_are_noted_with_their_host_alone_and_keep_the_floor() {
    let world = TestWorld::new();
    let now = world.now();
    world
        .with_feed(|feed| {
            feed.validators.etag = Some("\"1\"".into());
            (feed.interval, feed.polling.why, feed.polling.extra_slots) = (Millis::from_hours(1), Why::History, 7);
            feed.polling.habit = Habit { gap: Some(Millis::from_hours(1)), news_at: Some(now) };
            feed.polling.trust.verify_at = Some(Timestamp::MAX);
        })
        .await;
    world.web.keep(FEED, status(304));
    assert_eq!(world.next_poll().await, Verdict::Done);
    let (polled_at, mut ends) = (world.feed().await.polled_at, vec![world.now()]);
    for poll in 1..=3 {
        let writes = world.hosts.load(&host("example.org")).await.unwrap().1;
        assert_eq!(world.next_poll().await, Verdict::Done, "poll {poll}");
        assert_eq!(world.feed().await.polled_at, polled_at, "poll {poll}");
        assert_eq!(world.hosts.load(&host("example.org")).await.unwrap().1.0, writes.0 + 1, "poll {poll}");
        ends.push(world.now());
    }
    world.sleep(Millis::from_mins(10)).await;
    assert!(matches!(world.poll(0).await, Verdict::Drop(_)), "a second delivery must be dropped");
    assert_eq!(world.calls(CallKind::Feed).len(), ends.len());
    assert!(ends.windows(2).all(|pair| pair[1].since(pair[0]) >= world.politeness.rules.poll_floor), "{ends:?}");
}

#[tokio::test(start_paused = true)]
async fn a_host_that_is_visited_often_gets_its_lease_back() {
    let world = TestWorld::new();
    world.with_feed(|feed| feed.validators.etag = Some("\"1\"".into())).await;
    let not_before = world.now() - Millis::from_mins(5);
    let busy = HostState { not_before, ..HostState::default() };
    world.with_host("example.org", busy).await;
    world.web.answer(FEED, Ok(status(304)));
    assert_eq!(world.poll(0).await, Verdict::Done);
    assert_eq!(world.host_state("example.org").await.lease, None);
}

#[tokio::test(start_paused = true)]
async fn a_lease_that_was_left_keeps_others_out_until_it_ends() {
    let world = TestWorld::new();
    world.with_feed(|feed| feed.validators.etag = Some("\"1\"".into())).await;
    world.web.answer(FEED, Ok(status(304)));
    world.poll(0).await;
    let until = world.host_state("example.org").await.lease.map(|lease| lease.until).unwrap();
    let visit = visit("example.org", &[A], &new());
    assert!(matches!(world.fetch(&visit).await, Verdict::Defer(at) if at <= until));
    let patient = Job { waits: 3, ..Job::new(visit.clone()) };
    let Verdict::Defer(at) = world.fetch(&patient).await else { panic!("the lease is in force") };
    assert!(at.since(world.now()) >= BUSY_RETRY.saturating_mul(8), "after three waits a job waits longer");
    world.sleep_until(until).await;
    let ended = world.now();
    assert_eq!(world.fetch(&visit).await, Verdict::Done);
    assert_eq!(world.calls(CallKind::Page).len(), 1);
    assert!(world.now() >= ended + world.politeness.rules.min_pause);
}

/// A web that delays each answer.
struct Slow(Arc<MemoryFetch>, Arc<dyn Clock>, Millis);

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
    world.web.answer(FEED, moved(302, B));
    world.web.answer(B, Ok(status(304)));
    let slow = Slow(world.web.clone(), world.politeness.clock.clone(), Millis::from_secs(20));
    world.politeness = Arc::new(Politeness { fetch: Arc::new(slow), ..Politeness::clone(&world.politeness) });
    let began = world.now();
    assert_eq!(world.poll(0).await, Verdict::Done);
    assert_eq!(world.calls(CallKind::Feed).len(), 2);
    let took = world.now().since(began);
    assert!(took > world.politeness.rules.brief_length(), "{took:?}");
    let after = world.host_state("example.org").await;
    assert_eq!(after.lease, None);
    assert!(after.visited[0].spent >= took && after.visited[0].spent <= took + Millis(10), "{:?}", after.visited);
}

#[tokio::test(start_paused = true)]
async fn the_first_new_pages_are_fetched_under_the_lease_of_the_poll() {
    let world = TestWorld::of_feed().await;
    let page = |n: usize| format!("https://example.org/{n}");
    let many = FIRST_PAGES + 2;
    let items: String = (0..many).map(|n| format!("<item><link>{}</link></item>", page(n))).collect();
    let elsewhere = "https://another.example/p";
    let items = format!("{items}<item><link>{elsewhere}</link></item>");
    world.web.serve(FEED, "application/rss+xml", rss(&items));
    (0..many).for_each(|n| world.serve_page(&page(n), ""));
    let job = Job::new(PollJob::new(key(FEED), FEED.into()));
    let began = world.now();
    assert_eq!(world.program().run(&job).await.unwrap(), Verdict::Done);
    let called = world.urls(CallKind::Page);
    assert_eq!(called, (0..FIRST_PAGES).map(page).collect::<Vec<_>>());
    let pauses = u64::try_from(FIRST_PAGES).unwrap();
    assert!(world.now() >= began + world.politeness.rules.min_pause.saturating_mul(pauses), "a pause for each call");
    assert_eq!(world.queued(QueueName::Extract).await.len(), FIRST_PAGES);
    let left = world.visits().await.into_iter().flat_map(|(visit, _)| visit.items);
    let left: BTreeSet<String> = left.map(|item| item.url).collect();
    assert_eq!(left, BTreeSet::from([elsewhere.to_owned(), page(many - 2), page(many - 1)]));
    let state = world.host_state("example.org").await;
    assert!(state.lease.is_none(), "the lease must be given back");
    assert_eq!(world.feed().await.seen.len(), many + 1);
}

#[tokio::test(start_paused = true)]
async fn pages_that_a_poll_could_not_fetch_are_visited_later() {
    let world = TestWorld::of_feed().await;
    world.web.serve(FEED, "application/rss+xml", rss(&format!("<item><link>{A}</link></item>")));
    world.web.answer(A, Ok(status(503)));
    let job = Job::new(PollJob::new(key(FEED), FEED.into()));
    assert_eq!(world.program().run(&job).await.unwrap(), Verdict::Done);
    assert_eq!(world.calls(CallKind::Page).len(), 1);
    let (visit, due) = world.only_visit().await;
    assert_eq!(visit.items[0].url, A);
    assert!(due > world.now());
}
