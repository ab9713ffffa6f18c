//! Requests of owners that read the rows of all pages. Run in bounded steps, such a request has the same effect as in a
//! single run.

use super::*;
use crate::index::accept_on;
use crate::test_world::*;

/// Another host, about which nobody makes a request.
const OTHER: &str = "other.example";
/// Number of pages of each host.
const PAGES: usize = 25;
/// Limits that exceed everything in the tests.
const AMPLE: StepLimits = StepLimits { rows: 1_000, sources: 1_000, pages: 1_000 };
/// With this limit on rows, the pages of both hosts take 8 steps.
const FEW_ROWS: StepLimits = StepLimits { rows: 7, ..AMPLE };
/// With this limit on pages, the pages of one host take 9 steps.
const FEW_PAGES: StepLimits = StepLimits { pages: 3, ..AMPLE };
/// With this limit on sources, the sources of the test take 5 steps.
const FEW_SOURCES: StepLimits = StepLimits { sources: 5, ..AMPLE };

/// Returns a host with a proven owner and another host, each with its pages.
async fn two_hosts(limits: StepLimits) -> Town {
    let town = Town { limits, ..Town::proven().await };
    for n in 2..PAGES {
        accept(&town.world, &format!("page-{n}"), &format!("A whimbrel is no curlew, says page {n}.")).await;
    }
    for n in 0..PAGES {
        accept_on(&town.world, OTHER, &format!("page-{n}"), &format!("A godwit is no curlew, says page {n}.")).await;
    }
    town.world.publish().await;
    town.pass(Millis::from_mins(10)).await;
    town
}

impl Town {
    async fn next_job(&self) -> Option<Envelope<OwnJob>> {
        let deliveries = self.world.jobs.receive(QueueName::Remove, 1, Millis(1), self.world.now()).await.unwrap();
        let delivery = deliveries.into_iter().next()?;
        self.world.jobs.ack(&delivery.receipt).await.unwrap();
        match delivery.job {
            Ok(Job { work: Work::Own(job), .. }) => Some(Envelope::new(job)),
            other => panic!("{other:?}"),
        }
    }

    /// Makes a request and runs its jobs; runs the job with the index `twice` a second time. Returns the completion
    /// time of the request as it is known after each job.
    async fn in_steps(&self, request: OwnerRequest, twice: Option<usize>) -> Vec<Option<Timestamp>> {
        self.begin(request).await;
        let mut done = vec![];
        while let Some(job) = self.next_job().await {
            let deliveries = if twice == Some(done.len()) { 2 } else { 1 };
            for _ in 0..deliveries {
                self.own().run(&job).await.unwrap();
            }
            done.push(self.done_at(request).await);
            self.pass(Millis::from_secs(1)).await;
        }
        done
    }

    async fn done_at(&self, request: OwnerRequest) -> Option<Timestamp> {
        let claim = self.owners().claimed(HOST, &challenge(1)).await.unwrap().claim.unwrap();
        claim.done.get(&request).copied()
    }

    async fn report(&self) -> HostReport {
        self.held().await.report.unwrap()
    }

    /// Returns the numbers of accepted pages of the host and of the other host.
    async fn accepted(&self) -> (usize, usize) {
        let rows = self.world.pages.list(None, 1_000).await.unwrap();
        let of = |name: &str| {
            let is_accepted = |state: &PageState| matches!(state, PageState::Accepted { .. });
            rows.iter().filter(|page| page.host == host(name) && is_accepted(&page.state)).count()
        };
        (of(HOST), of(OTHER))
    }

    async fn segments_with(&self, word: &str) -> usize {
        traces(&self.world, &[word]).await.iter().filter(|key| key.starts_with("segments/")).count()
    }
}

fn all_gone() -> BTreeMap<ReportedState, u64> {
    BTreeMap::from([(ReportedState::Gone, PAGES as u64)])
}

#[tokio::test(start_paused = true)]
async fn i05_an_erasure_in_steps_comes_to_the_same_as_in_a_single_run() {
    for (limits, steps) in [(StepLimits::default(), 1), (FEW_ROWS, 8), (FEW_PAGES, 9)] {
        // No step is repeated, or the first one, one in the middle, or the last one.
        let twice = BTreeSet::from([None, Some(0), Some(steps / 2), Some(steps - 1)]);
        for twice in twice {
            let town = Box::pin(two_hosts(limits)).await;
            town.world.with_feed(|_| {}).await;
            assert_eq!((town.accepted().await, town.segments_with("whimbrel").await), ((PAGES, PAGES), PAGES - 2));
            let done = town.in_steps(OwnerRequest::Forget, twice).await;
            let context = format!("{limits:?}, twice: {twice:?}, {done:?}");
            assert_eq!(town.accepted().await, (0, PAGES), "{context}");
            assert_eq!(town.segments_with("whimbrel").await, 0, "{context}");
            assert_eq!(town.segments_with("godwit").await, PAGES, "{context}");
            assert_eq!(town.report().await.counts, all_gone(), "{context}");
            assert!(town.world.feed().await.gone, "{context}");
            let times: BTreeSet<Timestamp> = done.iter().copied().flatten().collect();
            assert_eq!(times.len(), 1, "the completion must be recorded once: {context}");
            if twice.is_none() {
                assert_eq!((done.len(), done.iter().flatten().count()), (steps, 1), "at the last step: {context}");
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_report_in_steps_tells_the_same_as_one_of_a_single_run() {
    let mut town = Box::pin(two_hosts(StepLimits::default())).await;
    assert_eq!(town.in_steps(OwnerRequest::Report, None).await.len(), 1);
    let single = town.report().await;
    assert_eq!(single.counts, BTreeMap::from([(ReportedState::Accepted, PAGES as u64)]));
    assert_eq!(single.pages.len(), PAGES);
    let is_renewed = async |town: &Town, before: Timestamp| {
        let report = town.report().await;
        assert!(report.at > before);
        assert_eq!(HostReport { at: single.at, ..report }, single);
    };
    town.limits = FEW_ROWS;
    for (twice, jobs) in [(None, 8), (Some(3), 12), (Some(7), 8)] {
        town.pass(Millis::from_mins(10)).await;
        let before = town.world.now();
        assert_eq!(town.in_steps(OwnerRequest::Report, twice).await.len(), jobs, "{twice:?}");
        is_renewed(&town, before).await;
    }
    // Work that follows from a proof that was found is done in steps, too.
    let before = town.world.now();
    assert_eq!(town.look(1).await.0, Some(Way::Dns));
    is_renewed(&town, before).await;
}

#[tokio::test(start_paused = true)]
async fn a_visit_in_steps_has_every_page_rechecked_and_every_feed_polled_once() {
    for (limits, steps) in [(StepLimits::default(), 1), (FEW_ROWS, 8), (FEW_PAGES, 9)] {
        let town = Box::pin(two_hosts(limits)).await;
        town.world.with_feed(|_| {}).await;
        let done = town.in_steps(OwnerRequest::Visit, None).await;
        assert_eq!((done.len(), done.iter().flatten().count()), (steps, 1), "{limits:?}");
        assert_eq!(town.world.queued(QueueName::Poll).await.len(), 1, "{limits:?}");
        let items = town.world.visits().await.into_iter().flat_map(|(visit, _)| visit.items);
        let urls: Vec<String> = items.map(|item| item.url).collect();
        assert!(urls.iter().all(|url| url.starts_with(HOME)), "{urls:?}");
        assert_eq!((urls.len(), urls.iter().collect::<BTreeSet<_>>().len()), (PAGES, PAGES), "{limits:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn i06_the_steps_end_when_the_proof_does() {
    let town = Box::pin(two_hosts(FEW_ROWS)).await;
    town.begin(OwnerRequest::Forget).await;
    let first = town.next_job().await.unwrap();
    assert_eq!(town.own().run(&first).await.unwrap(), Verdict::Done);
    let left = town.accepted().await;
    assert!(left.0 >= PAGES - FEW_ROWS.rows, "{left:?}");
    town.pass(PROOF_LIFE).await;
    let second = town.next_job().await.unwrap();
    assert!(matches!(town.own().run(&second).await.unwrap(), Verdict::Drop(_)));
    assert_eq!((town.next_job().await, town.accepted().await), (None, left));
}

#[tokio::test(start_paused = true)]
async fn i05_what_comes_after_the_block_was_taken_back_outlives_the_steps_that_are_left() {
    const NEW: usize = 10;
    let town = Box::pin(two_hosts(FEW_ROWS)).await;
    town.begin(OwnerRequest::Forget).await;
    for _ in 0..3 {
        let job = town.next_job().await.unwrap();
        assert_eq!(town.own().run(&job).await.unwrap(), Verdict::Done);
    }
    town.pass(Millis::from_secs(1)).await;
    town.begin(OwnerRequest::Unblock).await;
    town.pass(Millis::from_secs(1)).await;
    for n in 0..NEW {
        accept(&town.world, &format!("new-{n}"), TEXT).await;
    }
    while let Some(job) = town.next_job().await {
        assert_eq!(town.own().run(&job).await.unwrap(), Verdict::Done);
    }
    assert_eq!(town.accepted().await, (NEW, PAGES));
    assert!(town.world.is_accepted("https://example.org/new-0").await);
    assert_eq!(town.report().await.counts, all_gone());
}

#[tokio::test(start_paused = true)]
async fn a_report_that_an_erasure_overtakes_does_not_replace_what_that_one_tells() {
    let town = Box::pin(two_hosts(FEW_ROWS)).await;
    town.begin(OwnerRequest::Report).await;
    let first = town.next_job().await.unwrap();
    assert_eq!(town.own().run(&first).await.unwrap(), Verdict::Done);
    let mut step = town.next_job().await;
    town.pass(Millis::from_secs(1)).await;
    town.in_steps(OwnerRequest::Forget, None).await;
    while let Some(job) = step {
        assert_eq!(town.own().run(&job).await.unwrap(), Verdict::Done);
        step = town.next_job().await;
    }
    assert!(town.done_at(OwnerRequest::Report).await.is_some());
    assert_eq!(town.report().await.counts, all_gone());
}

/// Returns a world whose two hosts have ten feeds each in addition to their pages.
async fn twenty_feeds(limits: StepLimits) -> Town {
    let town = Box::pin(two_hosts(limits)).await;
    for url in [HOST, OTHER].iter().flat_map(|of| (0..10).map(move |n| format!("https://{of}/feed-{n}"))) {
        let feed = FeedSource::new(key(&url), Slot::from_hash(0), &url);
        assert!(town.world.sources.insert(&Source::Feed(feed)).await.unwrap());
    }
    town
}

#[tokio::test(start_paused = true)]
async fn the_rows_of_sources_are_read_in_steps_as_well() {
    let single = Box::pin(twenty_feeds(AMPLE)).await;
    assert_eq!(single.in_steps(OwnerRequest::Report, None).await.len(), 1);
    let expected = single.report().await;
    assert_eq!(expected.feeds.len(), 10);
    for twice in [None, Some(2)] {
        let town = Box::pin(twenty_feeds(FEW_SOURCES)).await;
        assert!(town.in_steps(OwnerRequest::Report, twice).await.len() >= 5);
        let report = town.report().await;
        assert_eq!((&report.feeds, &report.counts), (&expected.feeds, &expected.counts));

        let town = Box::pin(twenty_feeds(FEW_SOURCES)).await;
        assert!(town.in_steps(OwnerRequest::Visit, None).await.len() >= 5);
        let polls = town.world.queued(QueueName::Poll).await;
        let polled: BTreeSet<_> = polls.iter().map(|(job, _)| format!("{job:?}")).collect();
        assert_eq!((polls.len(), polled.len()), (10, 10), "each feed must be polled once");
        assert_eq!(town.world.queued(QueueName::Discover).await, [], "a host with feeds needs no new discovery");

        let town = Box::pin(twenty_feeds(FEW_SOURCES)).await;
        assert!(town.in_steps(OwnerRequest::Forget, twice).await.len() >= 5);
        assert_eq!((town.accepted().await, town.report().await.counts), ((0, PAGES), all_gone()));
        for row in town.world.sources.list(None, 1_000).await.unwrap() {
            let Source::Feed(feed) = row else { panic!("{row:?}") };
            assert_eq!(feed.gone, feed.url.contains(HOST), "{}", feed.url);
        }
    }
}
