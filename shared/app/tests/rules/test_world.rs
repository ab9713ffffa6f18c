//! In-memory ports, the stages over them, and documents for their web. This file is long because all tests of the rules
//! build their world with it.

pub(crate) use async_trait::async_trait;
pub(crate) use bytes::Bytes;
pub(crate) use curlew_app::program::Program;
pub(crate) use curlew_catalog::find::Finder;
pub(crate) use curlew_catalog::index::{Index, PublishReport};
pub(crate) use curlew_catalog::removal::Removal;
pub(crate) use curlew_catalog::results::Start;
use curlew_catalog::segment::RecordReader;
pub(crate) use curlew_crawl::feeds::discover::Discover;
pub(crate) use curlew_crawl::feeds::dispatch::Dispatch;
pub(crate) use curlew_crawl::feeds::poll::Poll;
pub(crate) use curlew_crawl::pages::extract::Extract;
pub(crate) use curlew_crawl::pages::judge::Judge;
use curlew_crawl::pages::sample::Sample;
pub(crate) use curlew_crawl::politeness::access::Politeness;
pub(crate) use curlew_crawl::worker::{Mailbox, PageJob, Stages, Worker};
pub(crate) use curlew_model::*;
use curlew_people::overrides::Overrides;
pub(crate) use curlew_people::suggest::Suggest;
pub(crate) use curlew_policy::politeness::scope::Scope;
pub(crate) use curlew_policy::rules::Rules;
pub(crate) use curlew_policy::{address, trace};
pub(crate) use curlew_ports::stage::{StageError, Verdict};
pub(crate) use curlew_ports::*;
pub(crate) use curlew_testkit::faults::{
    BlobCall, BlobFate, Faults, Faulty, JudgedBlobs, OverrunPool, Rates, is_crash,
};
pub(crate) use curlew_testkit::memory::*;
pub(crate) use std::collections::{BTreeMap, BTreeSet};
pub(crate) use std::sync::Arc;
pub(crate) use url::Url;

pub(crate) const A: &str = "https://example.org/a";
pub(crate) const B: &str = "https://example.org/b";
pub(crate) const C: &str = "https://example.org/c";
pub(crate) const HOME: &str = "https://example.org/";
pub(crate) const ROBOTS: &str = "https://example.org/robots.txt";
pub(crate) const IMAGE: &str = "<meta property=\"og:image\" content=\"https://example.org/i.png\">";
pub(crate) const FEED: &str = "https://example.org/feed";
pub(crate) const HOUR: u64 = 3_600;

/// In-memory ports, and the stages over them.
pub(crate) struct TestWorld {
    pub(crate) web: Arc<MemoryFetch>,
    pub(crate) hosts: Arc<MemoryHosts>,
    pub(crate) sources: Arc<MemorySources>,
    pub(crate) pages: Arc<MemoryPages>,
    pub(crate) jobs: Arc<MemoryJobs>,
    pub(crate) blobs: Arc<MemoryBlobs>,
    pub(crate) ports: Ports,
    pub(crate) politeness: Arc<Politeness>,
    pub(crate) judge: Arc<Judge>,
}

impl TestWorld {
    pub(crate) fn new() -> TestWorld {
        TestWorld::with_scope(Scope::default())
    }

    /// Returns another process over the same store and the same web.
    pub(crate) fn sharing(other: &TestWorld) -> TestWorld {
        let politeness =
            Politeness { outage: Arc::default(), known: Arc::default(), ..Politeness::clone(&other.politeness) };
        TestWorld {
            web: other.web.clone(),
            hosts: other.hosts.clone(),
            sources: other.sources.clone(),
            pages: other.pages.clone(),
            jobs: other.jobs.clone(),
            blobs: other.blobs.clone(),
            ports: other.ports.clone(),
            politeness: Arc::new(politeness),
            judge: Arc::default(),
        }
    }

    pub(crate) fn with_scope(scope: Scope) -> TestWorld {
        let web = Arc::new(MemoryFetch::default());
        let (hosts, jobs): (Arc<MemoryHosts>, Arc<MemoryJobs>) = Default::default();
        let (sources, pages): (Arc<MemorySources>, Arc<MemoryPages>) = Default::default();
        let blobs: Arc<MemoryBlobs> = Arc::default();
        let ports = Ports {
            ledger: hosts.clone(),
            hosts: hosts.clone(),
            robots: Arc::new(MemoryRobots::default()),
            marks: Arc::new(MemoryMarks::default()),
            pages: pages.clone(),
            sources: sources.clone(),
            queue: jobs.clone(),
            inbox: jobs.clone(),
            blobs: blobs.clone(),
            is_billed: false,
        };
        let clock = Arc::new(TokioClock::starting_at("2026-11-21T00:00:00Z".parse().unwrap()));
        let seeds = Arc::new(CountingSeeds::new(1));
        let politeness = Politeness { scope: Arc::new(scope), ..Politeness::over(&ports, web.clone(), clock, seeds) };
        let (politeness, judge) = (Arc::new(politeness), Arc::default());
        TestWorld { web, hosts, sources, pages, jobs, blobs, ports, politeness, judge }
    }

    pub(crate) fn program(&self) -> Program {
        Program::over(self.politeness.clone(), self.ports.clone(), self.judge.clone())
    }

    /// Returns the stages over other ports, which the politeness uses, too.
    pub(crate) fn program_over(&self, ports: Ports) -> Program {
        let Ports { ledger, robots, blobs, .. } = ports.clone();
        let politeness = Politeness { ledger, robots, blobs, ..Politeness::clone(&self.politeness) };
        Program::over(Arc::new(politeness), ports, self.judge.clone())
    }

    /// Returns the stages over this world's ports with these faults in the queue, the objects and the pages.
    pub(crate) fn faulty_program(&self, faults: &Arc<Faults>) -> Program {
        self.program_over(Ports {
            queue: Arc::new(Faulty::new(self.jobs.clone(), faults.clone())),
            blobs: Arc::new(Faulty::new(self.blobs.clone(), faults.clone())),
            pages: Arc::new(Faulty::new(self.pages.clone(), faults.clone())),
            ..self.ports.clone()
        })
    }

    /// Changes the rules. Must be called before anything else holds the politeness.
    pub(crate) fn with_rules(&mut self, change: impl FnOnce(&mut Rules)) {
        let politeness = Arc::get_mut(&mut self.politeness).unwrap();
        let mut rules = Rules::clone(&politeness.rules);
        change(&mut rules);
        politeness.rules = Arc::new(rules);
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.politeness.clock.now()
    }

    pub(crate) async fn sleep(&self, time: Millis) {
        self.politeness.clock.sleep(time).await;
    }

    pub(crate) async fn sleep_until(&self, time: Timestamp) {
        self.sleep(time.since(self.now())).await;
    }

    pub(crate) async fn poll(&self, deferrals: u32) -> Verdict {
        let verdict = self
            .poll_stage()
            .run(&Envelope { deferrals, ..Envelope::new(PollJob::new(key(FEED), FEED.into())) })
            .await
            .unwrap();
        self.remove_what_was_sent().await;
        verdict
    }

    /// Returns a poll stage that sends every new page as a visit.
    pub(crate) fn poll_stage(&self) -> Poll {
        Poll { fetch: None, ..self.program().crawler.poll }
    }

    /// Returns a discovery stage that sends every page as a visit.
    pub(crate) fn discover_stage(&self) -> Discover {
        Discover { fetch: None, ..self.program().crawler.discover }
    }

    pub(crate) fn dispatch_stage(&self) -> Dispatch {
        Dispatch { marks: Arc::new(MemoryMarks::default()), ..self.program().crawler.dispatch }
    }

    pub(crate) async fn fetch(&self, job: &impl AsVisit) -> Verdict {
        let verdict = self.program().crawler.fetch.run(&job.as_visit()).await.unwrap();
        self.remove_what_was_sent().await;
        verdict
    }

    /// Visits pages of example.org that no feed has listed before.
    pub(crate) async fn visit(&self, urls: &[&str]) -> Verdict {
        self.fetch(&visit("example.org", urls, &new())).await
    }

    pub(crate) async fn crawl(&self, urls: &[&str]) {
        self.visit(urls).await;
        self.extract_all().await;
    }

    pub(crate) async fn recheck(&self, url: &str) -> Verdict {
        self.fetch(&visit("example.org", &[url], &Purpose::Recheck)).await
    }

    /// Runs the visits that are due, and settles the jobs as the program does.
    pub(crate) async fn run_due_visits(&self) {
        for delivery in self.jobs.receive(QueueName::Fetch, 50, Millis::from_hours(1), self.now()).await.unwrap() {
            match self.fetch(delivery.job.as_ref().unwrap()).await {
                Verdict::Defer(at) => self.jobs.put_back(&delivery.receipt, at).await.unwrap(),
                _ => self.jobs.ack(&delivery.receipt).await.unwrap(),
            }
        }
    }

    pub(crate) async fn remove_what_was_sent(&self) {
        for delivery in self.jobs.receive(QueueName::Remove, 99, Millis(1), self.now()).await.unwrap() {
            let Ok(Job { work: Work::Remove(job), .. }) = &delivery.job else { panic!("a removal: {delivery:?}") };
            self.program().library.removal.run(job).await.unwrap();
            self.jobs.ack(&delivery.receipt).await.unwrap();
        }
    }

    /// Takes at most `most` jobs that are due at `at` off a queue without running them.
    pub(crate) async fn settle(&self, queue: QueueName, most: usize, at: Timestamp) {
        for delivery in self.jobs.receive(queue, most, Millis(1), at).await.unwrap() {
            self.jobs.ack(&delivery.receipt).await.unwrap();
        }
    }

    pub(crate) fn mailbox(&self) -> Mailbox {
        let (inbox, queue) = (self.ports.inbox.clone(), self.ports.queue.clone());
        Mailbox { inbox, queue, clock: self.politeness.clock.clone() }
    }

    pub(crate) async fn extract_jobs(&self) -> Vec<ExtractJob> {
        self.queued(QueueName::Extract).await.iter().map(|(job, _)| *page_job(job).work).collect()
    }

    pub(crate) async fn extract_all(&self) {
        let jobs: Vec<_> = self.queued(QueueName::Extract).await.iter().map(|(job, _)| page_job(job)).collect();
        let ends = self.extract().run_batch(&jobs).await;
        assert!(ends.iter().all(|verdict| matches!(verdict, Ok(Verdict::Done))), "{ends:?}");
    }

    pub(crate) fn extract(&self) -> Extract {
        self.program().crawler.extract
    }

    pub(crate) fn overrides(&self) -> Arc<Overrides> {
        self.program().desk.overrides
    }

    pub(crate) fn index(&self) -> Index {
        self.program().library.index
    }

    /// Publishes the year in which all tests begin.
    pub(crate) async fn publish(&self) -> PublishReport {
        self.index().publish(2026).await.unwrap()
    }

    pub(crate) async fn host_state(&self, name: &str) -> HostState {
        self.hosts.load(&host(name)).await.unwrap().0
    }

    pub(crate) fn finder(&self) -> Finder {
        Finder::new(self.blobs.clone(), self.politeness.clock.clone())
    }

    pub(crate) fn sample(&self) -> Sample {
        let (politeness, pages, queue) = (self.politeness.clone(), self.pages.clone(), self.jobs.clone());
        Sample { politeness, pages, queue }
    }

    pub(crate) async fn keys(&self, prefix: &str) -> Vec<String> {
        self.blobs.list(prefix, None, 100_000).await.unwrap()
    }

    pub(crate) async fn row(&self, url: &str) -> Page {
        self.pages.get(&page(url)).await.unwrap().unwrap().0
    }

    pub(crate) async fn is_accepted(&self, url: &str) -> bool {
        matches!(self.state(url).await, Some(PageState::Accepted { .. }))
    }

    /// Returns the reason why a page was rejected, or `None` if it is in another state.
    pub(crate) async fn rejection(&self, url: &str) -> Option<Rejection> {
        if let Some(PageState::Rejected { reason }) = self.state(url).await { Some(reason) } else { None }
    }

    /// Returns the reason why a page is gone, or `None` if it is in another state.
    pub(crate) async fn gone(&self, url: &str) -> Option<Gone> {
        if let Some(PageState::Gone { reason }) = self.state(url).await { Some(reason) } else { None }
    }

    pub(crate) async fn record(&self, url: &str) -> Record {
        let state = self.state(url).await;
        let Some(PageState::Accepted { location, .. }) = state else { panic!("{url}: {state:?}") };
        RecordReader(self.blobs.as_ref()).read(&location).await.unwrap().unwrap()
    }

    pub(crate) fn urls(&self, kind: CallKind) -> Vec<String> {
        self.calls(kind).into_iter().map(|call| call.url).collect()
    }

    /// Returns the waiting visits, each with the time when it is due.
    pub(crate) async fn visits(&self) -> Vec<(VisitJob, Timestamp)> {
        let queued = self.queued(QueueName::Fetch).await.into_iter();
        queued.map(|(job, due)| (job.as_visit().work, due)).collect()
    }

    /// Returns the only waiting visit, and the time when it is due.
    pub(crate) async fn only_visit(&self) -> (VisitJob, Timestamp) {
        let mut visits = self.visits().await;
        assert_eq!(visits.len(), 1, "{visits:?}");
        visits.remove(0)
    }

    pub(crate) fn called(&self, url: &str) -> usize {
        self.web.calls().iter().filter(|call| call.url == url).count()
    }

    pub(crate) fn serve_page(&self, url: &str, head: &str) {
        self.web.serve(url, "text/html", html(head));
    }

    pub(crate) async fn of_feed() -> TestWorld {
        let world = TestWorld::new();
        world.with_feed(|_| {}).await;
        world
    }

    /// Returns a world with a feed whose server gives these answers in turn.
    pub(crate) async fn answering<const N: usize>(replies: [Reply; N]) -> TestWorld {
        let world = TestWorld::of_feed().await;
        replies.into_iter().for_each(|reply| world.web.answer(FEED, Ok(reply)));
        world
    }

    pub(crate) async fn with_feed(&self, change: impl FnOnce(&mut FeedSource)) {
        let mut feed = FeedSource {
            image: Some("https://example.org/logo.png".into()),
            ..FeedSource::new(key(FEED), Slot::from_hash(0), FEED)
        };
        change(&mut feed);
        assert!(self.sources.insert(&Source::Feed(feed)).await.unwrap());
    }

    pub(crate) async fn feed(&self) -> FeedSource {
        match self.sources.get(&key(FEED)).await.unwrap() {
            Some((Source::Feed(feed), _)) => feed,
            other => panic!("no feed but {other:?}"),
        }
    }

    pub(crate) async fn feed_at(&self, url: &str) -> Option<FeedSource> {
        match self.sources.get(&key(url)).await.unwrap() {
            Some((Source::Feed(feed), _)) => Some(feed),
            _ => None,
        }
    }

    /// Waits until the feed's next slot that is at least a minute ahead.
    pub(crate) async fn next_slot(&self) {
        let (feed, from) = (self.feed().await, self.now() + Millis::from_mins(1));
        let at = curlew_policy::polling::schedule::next_poll(&feed, &self.politeness.rules, from).unwrap();
        self.sleep_until(at).await;
    }

    pub(crate) async fn next_poll(&self) -> Verdict {
        self.next_slot().await;
        self.poll(0).await
    }

    /// Polls the feed in its slots for this number of days, or until polling ends.
    pub(crate) async fn days(&self, days: u64) {
        let end = self.now() + Millis::from_days(days);
        while self.now() < end && !self.feed().await.gone {
            self.next_poll().await;
        }
    }

    pub(crate) fn suggest(&self) -> Suggest {
        self.program().desk.suggest
    }

    pub(crate) async fn with_site(&self, url: &str, state: SiteState) {
        let site = SiteSource {
            key: key(url),
            slot: Slot::from_hash(0),
            url: url.into(),
            state,
            image: None,
            not_before: Timestamp::MIN,
            failures: 0,
            failure: None,
        };
        assert!(self.sources.insert(&Source::Site(site)).await.unwrap());
    }

    /// Accepts a page whose record is already erased, so that its removal needs only the location of the record.
    pub(crate) async fn with_page(&self, url: &str, of: &str) -> Page {
        let frame = [&0x184D_2A50_u32.to_le_bytes()[..], &8_u32.to_le_bytes(), &[0; 8]].concat();
        let mut row = Page { host: host(of), ..accepted(url) };
        let PageState::Accepted { location, .. } = &mut row.state else { unreachable!() };
        location.length = frame.len() as u64;
        self.blobs.put(location.segment.as_str(), frame.into()).await.unwrap();
        assert!(self.pages.insert(&row).await.unwrap());
        row
    }

    pub(crate) async fn change_page(&self, id: &PageId, change: impl FnOnce(&mut Page)) {
        let (mut row, seen) = self.pages.get(id).await.unwrap().unwrap();
        change(&mut row);
        self.pages.swap(seen, &row).await.unwrap();
    }

    pub(crate) async fn change(&self, key: &SourceKey, change: impl FnOnce(&mut Source)) {
        let (mut row, seen) = self.sources.get(key).await.unwrap().unwrap();
        change(&mut row);
        self.sources.swap(seen, &row).await.unwrap();
    }

    pub(crate) async fn change_feed(&self, url: &str, change: impl FnOnce(&mut FeedSource)) {
        self.change(&key(url), |row| if let Source::Feed(feed) = row { change(feed) } else { panic!("{row:?}") }).await;
    }

    pub(crate) async fn change_site(&self, url: &str, change: impl FnOnce(&mut SiteSource)) {
        self.change(&key(url), |row| if let Source::Site(site) = row { change(site) } else { panic!("{row:?}") }).await;
    }

    /// Writes the first state of a host.
    pub(crate) async fn with_host(&self, name: &str, state: HostState) {
        self.hosts.swap(&host(name), Version::ABSENT, state).await.unwrap();
    }

    pub(crate) async fn site(&self, url: &str) -> SiteSource {
        match self.sources.get(&key(url)).await.unwrap() {
            Some((Source::Site(site), _)) => site,
            other => panic!("no site but {other:?}"),
        }
    }

    /// Runs the first discovery of a site and all jobs that follow from it when they are due; returns their number.
    pub(crate) async fn discover(&self, url: &str) -> usize {
        let discover = self.discover_stage();
        let mut job = Envelope::new(DiscoverJob::new(key(url), url.into()));
        for n in 1..20 {
            while let Verdict::Defer(at) = discover.run(&job).await.unwrap() {
                self.sleep_until(at).await;
            }
            let queued = self.queued(QueueName::Discover).await;
            let Some((next, due)) = queued.into_iter().next_back() else { return n };
            let Work::Discover(site) = next.work.clone() else { panic!("{next:?}") };
            let next = next.with(site);
            if next.clone().traced(None) == job.clone().traced(None) {
                return n;
            }
            self.sleep_until(due).await;
            self.settle(QueueName::Discover, 9, self.now()).await;
            job = next;
        }
        panic!("discovery does not end");
    }

    pub(crate) async fn state(&self, url: &str) -> Option<PageState> {
        self.pages.get(&page(url)).await.unwrap().map(|(row, _)| row.state)
    }

    /// Returns the jobs of one queue in the order in which they are due, without any time limit.
    pub(crate) async fn queued(&self, stage: QueueName) -> Vec<(Job, Timestamp)> {
        let mut queued: Vec<_> = self.jobs.waiting(Timestamp::MIN, 100).await.unwrap();
        queued.retain(|w| w.job.as_ref().is_ok_and(|job| job.work.queue() == stage));
        queued.into_iter().map(|w| (w.job.unwrap(), w.due)).collect()
    }

    pub(crate) fn calls(&self, kind: CallKind) -> Vec<Call> {
        self.web.calls().into_iter().filter(|call| call.kind == kind).collect()
    }
}

pub(crate) fn key(url: &str) -> SourceKey {
    address::source_key(&Url::parse(url).unwrap())
}

pub(crate) fn page(url: &str) -> PageId {
    address::page_id(&Url::parse(url).unwrap())
}

pub(crate) fn host(name: &str) -> HostKey {
    HostKey::new(name).unwrap()
}

pub(crate) fn status(status: u16) -> Reply {
    Reply { status, ..Reply::default() }
}

pub(crate) fn text(body: impl Into<Bytes>) -> Reply {
    Reply { body: body.into(), ..status(200) }
}

pub(crate) fn html_reply(body: impl Into<Bytes>) -> Reply {
    let mut reply = text(body);
    reply.headers.content_type = Some("text/html".into());
    reply
}

pub(crate) fn moved(code: u16, to: &str) -> Result<Reply, FetchError> {
    let mut reply = status(code);
    reply.headers.location = Some(to.into());
    Ok(reply)
}

pub(crate) fn rss(items: &str) -> String {
    format!(
        "<rss version=\"2.0\"><channel><title>Waders</title><link>https://example.org/</link>{items}</channel></rss>"
    )
}

pub(crate) fn tagged(items: &str, etag: &str) -> Reply {
    let mut reply = text(rss(items));
    reply.headers.validators = Validators { etag: Some(etag.into()), last_modified: None };
    reply
}

/// Returns a black square picture with this number of pixels on each side.
pub(crate) fn png(side: u32) -> Vec<u8> {
    let mut out = std::io::Cursor::new(Vec::new());
    image::DynamicImage::new_rgb8(side, side).write_to(&mut out, image::ImageFormat::Png).unwrap();
    out.into_inner()
}

pub(crate) fn html(head: &str) -> String {
    let text = "The curlew walks along the edge of the water and probes the mud for worms and small crabs. ".repeat(6);
    format!(
        "<html><head><title>On curlews</title>{head}</head><body><article><h1>On curlews</h1><p>{text}</p></article></body></html>"
    )
}

pub(crate) fn visited(job: &Job) -> Vec<&str> {
    let Work::Fetch(visit) = &job.work else { panic!("no visit: {job:?}") };
    visit.items.iter().map(|item| item.url.as_str()).collect()
}

pub(crate) fn page_job(job: &Job) -> PageJob {
    let Work::Extract(page) = &job.work else { panic!("no page: {job:?}") };
    job.with(page.clone())
}

/// Returns extraction jobs that belong to no chain.
pub(crate) fn page_jobs(pages: &[ExtractJob]) -> Vec<PageJob> {
    pages.iter().map(|page| PageJob::new(page.clone())).collect()
}

/// A value that can be read as a visit.
pub(crate) trait AsVisit {
    fn as_visit(&self) -> Envelope<VisitJob>;
}

impl AsVisit for VisitJob {
    fn as_visit(&self) -> Envelope<VisitJob> {
        Envelope::new(self.clone())
    }
}

impl AsVisit for Envelope<VisitJob> {
    fn as_visit(&self) -> Envelope<VisitJob> {
        self.clone()
    }
}

impl AsVisit for Job {
    fn as_visit(&self) -> Envelope<VisitJob> {
        let Work::Fetch(visit) = &self.work else { panic!("no visit: {self:?}") };
        self.with(visit.clone())
    }
}

pub(crate) fn visit(name: &str, urls: &[&str], purpose: &Purpose) -> VisitJob {
    let items = urls.iter().map(|url| VisitItem { url: (*url).into(), page: page(url), purpose: purpose.clone() });
    VisitJob::new(host(name), items.collect())
}

pub(crate) fn new() -> Purpose {
    Purpose::New { hints: EntryHints::default() }
}

pub(crate) fn accepted(url: &str) -> Page {
    let segment = SegmentKey::new("segments/2026/11/20/ab.jsonl.zst").unwrap();
    Page::new(
        page(url),
        url.into(),
        host("example.org"),
        PageState::Accepted {
            year: 2026,
            location: Location { segment, offset: 0, length: 0 },
            content_hash: String::new(),
        },
        Timestamp::EPOCH,
    )
}
