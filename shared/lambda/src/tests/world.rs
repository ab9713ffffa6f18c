//! Surroundings for tests: the real stages over in-memory ports, and a batch over an in-memory queue.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

use crate::batch::{Batch, Bounds, Summary};
use crate::sqs_queue::{Deaths, Message, MessageQueue};
use async_trait::async_trait;
use curlew_app::program::Program;
use curlew_aws::ReadError;
use curlew_crawl::politeness::access::Politeness;
use curlew_model::{
    EntryHints, ExtractJob, HostKey, Job, Millis, PageBody, PageId, Purpose, QueueName, Timestamp, VisitItem, VisitJob,
    Work,
};
use curlew_policy::address::{self, HostGroups};
use curlew_policy::chance::between;
use curlew_policy::rules::Rules;
use curlew_ports::Ports;
use curlew_ports::{Blobs, Call, Clock, Delivery, Fetch as Calls, FetchError, Inbox, PortError, Queue, Receipt, Reply};
use curlew_testkit::conformance::queue::SendRaw;
use curlew_testkit::faults::{BlobCall, BlobFate, JudgedBlobs};
use curlew_testkit::memory::{
    CountingSeeds, MemoryBlobs, MemoryFetch, MemoryHosts, MemoryJobs, MemoryMarks, MemoryPages, MemoryRobots,
    MemorySources, TokioClock,
};
use curlew_testkit::sample;
use std::sync::Arc;
use url::Url;

pub(crate) const ARTICLE: &str = "<html><head><title>Curlews return to the estuary</title>\
    <meta property=\"og:image\" content=\"https://pictures.example/curlew.jpg\"></head><body><article>\
    <p>The first curlews of the year have come back to the mudflats, some weeks before they were expected, and the \
    wardens who count them each morning say that there are more of them than in any year since the counts began.</p>\
    <p>They feed on ragworms and small crabs, which they pull out of the mud with their long bent bills while the tide \
    is low, and they rest on the saltmarsh while it is high.</p></article></body></html>";

pub(crate) struct TestWorld {
    pub(crate) stage: QueueName,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) jobs: Arc<MemoryJobs>,
    pub(crate) web: Arc<Web>,
    pub(crate) politeness: Arc<Politeness>,
    pub(crate) bounds: Bounds,
    /// True if sending jobs and putting a message back never return.
    pub(crate) hangs: bool,
    pub(crate) sends_fail: bool,
    pub(crate) ports: Ports,
}

impl TestWorld {
    pub(crate) fn new(stage: QueueName) -> TestWorld {
        TestWorld::seeded(stage, 7)
    }

    /// Creates a world whose pauses and responses follow from the seed.
    pub(crate) fn seeded(stage: QueueName, seed: u64) -> TestWorld {
        let clock: Arc<dyn Clock> = Arc::new(TokioClock::starting_at("2026-11-21T12:00:00Z".parse().unwrap()));
        let (jobs, hosts) = (Arc::new(MemoryJobs::default()), Arc::new(MemoryHosts::default()));
        let web = Arc::new(Web { inner: MemoryFetch::default(), clock: clock.clone(), seed });
        let ports = Ports {
            ledger: hosts.clone(),
            hosts,
            robots: Arc::new(MemoryRobots::default()),
            marks: Arc::new(MemoryMarks::default()),
            pages: Arc::new(MemoryPages::default()),
            sources: Arc::new(MemorySources::default()),
            queue: jobs.clone(),
            inbox: jobs.clone(),
            blobs: traps(),
            is_billed: true,
        };
        let rules = Rules::default();
        let groups = HostGroups::default();
        let politeness = Politeness::over(&ports, web.clone(), clock.clone(), Arc::new(CountingSeeds::new(seed)));
        let politeness =
            Arc::new(Politeness { rules: Arc::new(rules.clone()), groups: Arc::new(groups.clone()), ..politeness });
        let bounds = Bounds { slots: 100, rules, groups, deadline: Millis::from_mins(15) };
        TestWorld { stage, clock, jobs, web, politeness, bounds, hangs: false, sends_fail: false, ports }
    }

    /// Returns messages with these receive counts, as SQS passes them on; message n has the id `message-n`.
    async fn receive(&self, messages: &[(&str, u32)]) -> Vec<Message> {
        let now = self.clock.now();
        for (message, _) in messages {
            self.jobs.send_raw(self.stage, message, now).await.unwrap();
        }
        let handed = self.jobs.receive(self.stage, messages.len(), Millis::from_hours(1), now).await.unwrap();
        let received = |n: usize, receipt: Receipt| Message {
            id: format!("message-{n}"),
            handle: receipt.0,
            body: messages[n].0.to_owned(),
            receives: messages[n].1,
        };
        handed.into_iter().enumerate().map(|(n, delivery)| received(n, delivery.receipt)).collect()
    }

    pub(crate) async fn open(&self, messages: &[(&str, u32)]) -> Batch {
        self.batch(self.receive(messages).await).await
    }

    /// Returns the messages that are due, as an event source mapping passes them on.
    pub(crate) async fn handed_out(&self, visibility: Millis) -> Vec<Message> {
        messages(self.jobs.receive(self.stage, 1_000, visibility, self.clock.now()).await.unwrap())
    }

    pub(crate) async fn batch(&self, messages: Vec<Message>) -> Batch {
        Batch::open(self.stage, messages, self.queue(), self.clock.clone(), self.bounds.clone()).await
    }

    pub(crate) fn queue(&self) -> Arc<MemoryMessages> {
        Arc::new(MemoryMessages {
            jobs: self.jobs.clone(),
            queue: self.jobs.clone(),
            inbox: self.jobs.clone(),
            deaths: Deaths(self.ports.blobs.clone()),
            hangs: self.hangs,
            sends_fail: self.sends_fail,
        })
    }

    /// Runs a batch of messages at their first delivery.
    pub(crate) async fn run_first(&self, messages: &[String]) -> Summary {
        self.run(&messages.iter().map(|message| (message.as_str(), 1)).collect::<Vec<_>>()).await
    }

    pub(crate) async fn run(&self, messages: &[(&str, u32)]) -> Summary {
        let batch = self.open(messages).await;
        let plan = batch.plan();
        let program = self.program();
        let fetch = program.crawler.fetch.clone().with_time_slice(plan.turn);
        let program = program.with_crawler(|crawler| crawler.fetching(fetch));
        batch.run(plan, Arc::new(program)).await
    }

    pub(crate) fn program(&self) -> Program {
        Program::over(self.politeness.clone(), self.ports.clone(), Arc::default())
    }

    /// Returns the reasons of dead-lettered messages.
    pub(crate) async fn reasons(&self) -> Vec<String> {
        self.jobs.dead(100).await.unwrap().into_iter().map(|dead| dead.error).collect()
    }

    /// Returns the messages of this stage for a later invocation, in the order of sending.
    pub(crate) async fn sent_again(&self) -> Vec<String> {
        let soon = self.clock.now() + Millis::from_mins(20);
        let handed = self.jobs.receive(self.stage, 100, Millis(1), soon).await.unwrap();
        handed.into_iter().map(|delivery| delivery.job.unwrap().to_message().unwrap()).collect()
    }

    pub(crate) async fn segments(&self) -> Vec<String> {
        self.ports.blobs.list("segments/", None, 100).await.unwrap()
    }
}

fn item(url: &str) -> VisitItem {
    let page = address::page_id(&Url::parse(url).unwrap());
    VisitItem { url: url.to_owned(), page, purpose: Purpose::Recheck }
}

pub(crate) fn visit(host: &str, urls: &[&str]) -> Job {
    let items = urls.iter().map(|url| item(url)).collect();
    Job::new(VisitJob::new(HostKey::new(host).unwrap(), items))
}

/// Returns the message of a visit to pages of a host at these paths.
pub(crate) fn visit_message(host: &str, paths: &[&str]) -> String {
    let urls: Vec<String> = paths.iter().map(|path| format!("https://{host}/{path}")).collect();
    visit(host, &urls.iter().map(String::as_str).collect::<Vec<_>>()).to_message().unwrap()
}

/// Returns a visit to pages that a feed has named, and their ids.
pub(crate) fn new_pages(host: &str, urls: &[String]) -> (Job, Vec<PageId>) {
    let items = |url: &String| VisitItem { purpose: Purpose::New { hints: EntryHints::default() }, ..item(url) };
    let items: Vec<VisitItem> = urls.iter().map(items).collect();
    let ids = items.iter().map(|item| item.page.clone()).collect();
    (Job::new(VisitJob::new(HostKey::new(host).unwrap(), items)), ids)
}

/// Returns the job of a fetched page.
pub(crate) fn page(url: &str) -> Job {
    let body = PageBody::Inline(zstd::bulk::compress(ARTICLE.as_bytes(), 1).unwrap().into());
    let content_type = Some("text/html; charset=utf-8".into());
    let fetched_at = "2026-11-21T11:59:00Z".parse().unwrap();
    Job::new(ExtractJob { content_type, fetched_at, ..sample::page(url, body) })
}

/// Returns the job of a page whose document is an object.
pub(crate) fn stored(key: &str) -> Job {
    let Job { work: Work::Extract(mut job), .. } = page(&format!("https://stored.example/{key}")) else {
        panic!("no page")
    };
    job.body = PageBody::Stored(key.into());
    Job::new(job)
}

/// Returns objects that make the reader panic, that are unreachable, or that never arrive.
fn traps() -> Arc<dyn Blobs> {
    JudgedBlobs::new(Arc::<MemoryBlobs>::default(), |call, key| match (call, key) {
        (BlobCall::Get, "bodies/panic") => panic!("this object is too much"),
        (BlobCall::Get, "bodies/hang") => BlobFate::Hang,
        (BlobCall::Get, "bodies/later") => BlobFate::Fail(PortError::unavailable("the objects", "out of reach")),
        _ => BlobFate::Pass,
    })
}

pub(crate) struct MemoryMessages {
    pub(crate) jobs: Arc<MemoryJobs>,
    pub(crate) queue: Arc<dyn Queue>,
    pub(crate) inbox: Arc<dyn Inbox>,
    pub(crate) deaths: Deaths,
    pub(crate) hangs: bool,
    pub(crate) sends_fail: bool,
}

#[async_trait]
impl MessageQueue for MemoryMessages {
    async fn read(&self, message: &Message) -> Result<Job, ReadError> {
        Job::from_message(&message.body).map_err(ReadError::Unreadable)
    }

    async fn send(&self, jobs: &[(Job, Timestamp)]) -> Result<(), PortError> {
        if self.sends_fail {
            return Err(PortError::unavailable("sending", "the queue is out of reach"));
        }
        if self.hangs {
            std::future::pending::<()>().await;
        }
        self.queue.send(jobs).await
    }

    async fn put_back(&self, message: &Message, due: Timestamp) -> Result<(), PortError> {
        if self.hangs {
            std::future::pending::<()>().await;
        }
        self.inbox.put_back(&Receipt(message.handle.clone()), due).await
    }

    async fn hide(&self, message: &Message, until: Timestamp) -> Result<(), PortError> {
        self.jobs.hide(&Receipt(message.handle.clone()), until);
        Ok(())
    }

    async fn deaths(&self, message: &Message) -> Result<u32, PortError> {
        self.deaths.count(&message.id).await
    }

    async fn note_deaths(&self, message: &Message, deaths: u32) -> Result<(), PortError> {
        self.deaths.note(&message.id, deaths).await
    }

    async fn delete(&self, message: &Message) -> Result<(), PortError> {
        self.inbox.ack(&Receipt(message.handle.clone())).await
    }

    async fn give_up(&self, message: &Message, why: &str, now: Timestamp) -> Result<(), PortError> {
        self.inbox.dead_letter(&Receipt(message.handle.clone()), why, now).await
    }
}

/// A web with slow responses, one host that makes the caller panic, and one that never responds.
pub(crate) struct Web {
    pub(crate) inner: MemoryFetch,
    clock: Arc<dyn Clock>,
    seed: u64,
}

#[async_trait]
impl Calls for Web {
    async fn call(&self, call: &Call) -> Result<Reply, FetchError> {
        assert!(!call.url.contains("//panic.example/p"), "this page is too much");
        if call.url.contains("//hang") {
            std::future::pending::<()>().await;
        }
        let draw = call.url.bytes().fold(self.seed, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
        self.clock.sleep(Millis(between(draw, 50, 1_000))).await;
        self.inner.call(call).await
    }

    fn vet(&self, url: &str) -> Result<(), String> {
        self.inner.vet(url)
    }
}

/// Converts deliveries to the messages of an event source mapping.
pub(crate) fn messages(deliveries: Vec<Delivery>) -> Vec<Message> {
    deliveries
        .into_iter()
        .map(|delivery| Message {
            id: delivery.receipt.0.rsplit_once('-').unwrap().0.to_owned(),
            handle: delivery.receipt.0,
            body: delivery.job.unwrap().to_message().unwrap(),
            receives: delivery.receives,
        })
        .collect()
}
