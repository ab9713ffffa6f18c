//! The three entry points over one set of ports, and the dispatch of each kind of job to its stage.

use async_trait::async_trait;
use curlew_catalog::index::PublishReport;
use curlew_catalog::library::Library;
use curlew_crawl::crawler::Crawler;
use curlew_crawl::pages::judge::Judge;
use curlew_crawl::pages::sample::Sampled;
use curlew_crawl::politeness::access::Politeness;
use curlew_crawl::worker::{PageJob, Stages};
use curlew_model::{Job, Work, Year};
use curlew_people::desk::Desk;
use curlew_people::fsck::{Fsck, ROWS_AT_ONCE};
use curlew_ports::stage::{StageError, Verdict};
use curlew_ports::{Clock, Ports};
use std::sync::Arc;

/// The crawler, the library and the desk over one set of ports.
pub struct Program {
    /// The stores and queues.
    pub ports: Ports,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Stages that crawl sites.
    pub crawler: Crawler,
    /// Records, index, search and removal.
    pub library: Library,
    /// Requests of owners, readers and operators.
    pub desk: Desk,
}

impl Program {
    /// Returns the program over these ports; `judge` screens pages.
    pub fn over(politeness: Arc<Politeness>, ports: Ports, judge: Arc<Judge>) -> Program {
        let clock = politeness.clock.clone();
        let library = Library::over(&ports, &clock, &politeness.pool, &politeness.events);
        let crawler = Crawler::over(politeness, &ports, judge);
        let desk = Desk::over(&ports, &crawler, &library);
        Program { ports, clock, crawler, library, desk }
    }

    /// Returns the program with a changed crawler.
    #[must_use]
    pub fn with_crawler(self, change: impl FnOnce(Crawler) -> Crawler) -> Program {
        Program { crawler: change(self.crawler), ..self }
    }

    /// Returns the program with a changed desk.
    #[must_use]
    pub fn with_desk(self, change: impl FnOnce(Desk) -> Desk) -> Program {
        Program { desk: change(self.desk), ..self }
    }

    /// Returns the check of the store. `is_alone` means that all jobs are visible and no other process takes any.
    pub fn fsck(&self, is_alone: bool) -> Fsck<'_> {
        Fsck {
            pages: self.ports.pages.as_ref(),
            blobs: self.ports.blobs.as_ref(),
            inbox: is_alone.then_some(self.ports.inbox.as_ref()),
            queue: self.ports.queue.as_ref(),
            clock: self.clock.as_ref(),
            removal: &self.library.removal,
            index: &self.library.index,
            rows_at_once: ROWS_AT_ONCE,
        }
    }

    /// Publishes new records and finds their matches with watches. May be repeated after an error.
    pub async fn publish(&self) -> Result<Vec<(Year, PublishReport)>, StageError> {
        let done = self.library.publish().await?;
        self.desk.watches.match_new().await?;
        Ok(done)
    }

    /// Does the daily work: deletes expired messages, claims and raw pages, and re-checks pages ([`Crawler::recheck`]).
    pub async fn recheck(&self, count: Option<usize>) -> Result<Sampled, StageError> {
        let (messages, claims) = self.desk.forget().await?;
        let raw = self.library.raw.expire().await?;
        tracing::debug!(messages, claims, raw, "what was kept for long enough is forgotten");
        self.crawler.recheck(&self.library.index, count).await
    }
}

#[async_trait]
impl Stages for Program {
    async fn run(&self, job: &Job) -> Result<Verdict, StageError> {
        let Program { crawler, library, desk, .. } = self;
        match &job.work {
            Work::Discover(work) => crawler.discover.run(&job.with(work.clone())).await,
            Work::Own(work) => desk.own.run(&job.with(work.clone())).await,
            Work::Poll(work) => crawler.poll.run(&job.with(work.clone())).await,
            Work::Polls(work) => crawler.poll.run_all(self, &job.with(work.clone())).await,
            Work::Subscribe(work) => crawler.subscribe.run(&job.with(work.clone())).await,
            Work::Deliver(work) => desk.watches.deliver(work).await,
            Work::Backfill(work) => crawler.backfills.run(work).await,
            Work::Fetch(work) => crawler.fetch.run(&job.with(work.clone())).await,
            Work::Extract(work) => crawler.extract.run(&job.with(work.clone())).await,
            Work::Remove(work) => library.removal.run(work).await,
            Work::TakeUp(work) => desk.blocks.take_up(work).await,
        }
    }

    async fn run_batch(&self, jobs: &[PageJob]) -> Vec<Result<Verdict, StageError>> {
        self.crawler.extract.run_batch(jobs).await
    }
}
