//! All ports in memory, the stages over them, and documents for their web.

use curlew_app::program::Program;
use curlew_catalog::index::Index;
use curlew_crawl::feeds::discover::Discover;
use curlew_crawl::feeds::dispatch::Dispatch;
use curlew_crawl::feeds::poll::Poll;
use curlew_crawl::pages::extract::Extract;
use curlew_crawl::pages::judge::Judge;
use curlew_crawl::politeness::access::Politeness;
use curlew_crawl::worker::PageJob;
use curlew_model::{
    DiscoverJob, Envelope, ExtractJob, FeedSource, HostKey, Job, Millis, Page, PageId, PageState, PollJob, Purpose,
    QueueName, SiteSource, SiteState, Slot, Source, SourceKey, Timestamp, VisitItem, VisitJob, Work,
};
use curlew_people::overrides::Overrides;
use curlew_people::suggest::Suggest;
use curlew_policy::address;
use curlew_policy::politeness::scope::Scope;
use curlew_policy::rules::Rules;
use curlew_ports::Ports;
use curlew_ports::stage::Verdict;
use curlew_ports::{CallKind, FetchError, Inbox, Pages, Reply, Sources};
use curlew_testkit::memory::{
    CountingSeeds, MemoryBlobs, MemoryFetch, MemoryHosts, MemoryJobs, MemoryMarks, MemoryPages, MemoryRobots,
    MemorySources, TokioClock,
};
use std::sync::Arc;
use url::Url;

pub(crate) const FEED: &str = "https://example.org/feed";
pub(crate) const HOUR: u64 = 3_600;

/// All ports in memory, and the stages over them.
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

    /// Another process over the same store and the same web.
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

    /// The stages over these ports.
    pub(crate) fn program(&self) -> Program {
        Program::over(self.politeness.clone(), self.ports.clone(), self.judge.clone())
    }

    /// The stages over other ports, which the politeness has too.
    pub(crate) fn program_over(&self, ports: Ports) -> Program {
        let Ports { ledger, robots, blobs, .. } = ports.clone();
        let politeness = Politeness { ledger, robots, blobs, ..Politeness::clone(&self.politeness) };
        Program::over(Arc::new(politeness), ports, self.judge.clone())
    }

    /// Changes the rules; must be called before anything else holds the politeness.
    pub(crate) fn with_rules(&mut self, change: impl FnOnce(&mut Rules)) {
        let politeness = Arc::get_mut(&mut self.politeness).unwrap();
        let mut rules = Rules::clone(&politeness.rules);
        change(&mut rules);
        politeness.rules = Arc::new(rules);
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.politeness.clock.now()
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

    /// The stage that sends every new page as a visit.
    pub(crate) fn poll_stage(&self) -> Poll {
        Poll { fetch: None, ..self.program().crawler.poll }
    }

    /// The stage that sends every page as a visit.
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

    /// Runs the removals that a stage has sent.
    pub(crate) async fn remove_what_was_sent(&self) {
        for delivery in self.jobs.receive(QueueName::Remove, 99, Millis(1), self.now()).await.unwrap() {
            let Ok(Job { work: Work::Remove(job), .. }) = &delivery.job else { panic!("a removal: {delivery:?}") };
            self.program().library.removal.run(job).await.unwrap();
            self.jobs.ack(&delivery.receipt).await.unwrap();
        }
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

    /// Returns the stored feed of a URL.
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
        self.politeness.clock.sleep(at.since(self.now())).await;
    }

    /// Polls the feed in its slots for this number of days, or until polling ends.
    pub(crate) async fn days(&self, days: u64) {
        let end = self.now() + Millis::from_days(days);
        while self.now() < end && !self.feed().await.gone {
            self.next_slot().await;
            self.poll(0).await;
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

    pub(crate) async fn site(&self, url: &str) -> SiteSource {
        match self.sources.get(&key(url)).await.unwrap() {
            Some((Source::Site(site), _)) => site,
            other => panic!("no site but {other:?}"),
        }
    }

    /// Runs the first discovery of a site and all jobs that follow from it, each when it is due; returns their number.
    pub(crate) async fn discover(&self, url: &str) -> usize {
        let discover = self.discover_stage();
        let mut job = Envelope::new(DiscoverJob::new(key(url), url.into()));
        for n in 1..20 {
            while let Verdict::Defer(at) = discover.run(&job).await.unwrap() {
                self.politeness.clock.sleep(at.since(self.now())).await;
            }
            let queued = self.queued(QueueName::Discover).await;
            let Some((next, due)) = queued.into_iter().next_back() else { return n };
            let Work::Discover(site) = next.work.clone() else { panic!("{next:?}") };
            let next = next.with(site);
            if next.clone().traced(None) == job.clone().traced(None) {
                return n;
            }
            self.politeness.clock.sleep(due.since(self.now())).await;
            for delivery in self.jobs.receive(QueueName::Discover, 9, Millis(1), self.now()).await.unwrap() {
                self.jobs.ack(&delivery.receipt).await.unwrap();
            }
            job = next;
        }
        panic!("discovery does not end");
    }

    pub(crate) async fn state(&self, url: &str) -> Option<PageState> {
        self.pages.get(&page(url)).await.unwrap().map(|(row, _)| row.state)
    }

    /// Returns the jobs of one queue in the order in which they are due, however late that is.
    pub(crate) async fn queued(&self, stage: QueueName) -> Vec<(Job, Timestamp)> {
        let mut queued: Vec<_> = self.jobs.waiting(Timestamp::MIN, 100).await.unwrap();
        queued.retain(|w| w.job.as_ref().is_ok_and(|job| job.work.queue() == stage));
        queued.into_iter().map(|w| (w.job.unwrap(), w.due)).collect()
    }

    pub(crate) fn calls(&self, kind: CallKind) -> Vec<curlew_ports::Call> {
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

pub(crate) fn html(head: &str) -> String {
    let text = "The curlew walks along the edge of the water and probes the mud for worms and small crabs. ".repeat(6);
    format!(
        "<html><head><title>On curlews</title>{head}</head><body><article><h1>On curlews</h1><p>{text}</p></article></body></html>"
    )
}

/// Returns the URLs of a visit.
pub(crate) fn visited(job: &Job) -> Vec<&str> {
    let Work::Fetch(visit) = &job.work else { panic!("no visit: {job:?}") };
    visit.items.iter().map(|item| item.url.as_str()).collect()
}

/// Returns the extraction that a job is.
pub(crate) fn page_job(job: &Job) -> PageJob {
    let Work::Extract(page) = &job.work else { panic!("no page: {job:?}") };
    job.with(page.clone())
}

/// Returns the jobs of extractions that belong to no chain.
pub(crate) fn page_jobs(pages: &[ExtractJob]) -> Vec<PageJob> {
    pages.iter().map(|page| PageJob::new(page.clone())).collect()
}

/// A job that is a visit.
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
    Purpose::New { hints: curlew_model::EntryHints::default() }
}

pub(crate) fn accepted(url: &str) -> Page {
    let segment = curlew_model::SegmentKey::new("segments/2026/11/20/ab.jsonl.zst").unwrap();
    Page::new(
        page(url),
        url.into(),
        host("example.org"),
        PageState::Accepted {
            year: 2026,
            location: curlew_model::Location { segment, offset: 0, length: 0 },
            content_hash: String::new(),
        },
        Timestamp::EPOCH,
    )
}
