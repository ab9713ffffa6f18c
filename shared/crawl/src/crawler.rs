//! The entry point of the crate: builds the stages once.

use crate::bulk::Bulk;
use crate::feeds::backfill::Backfills;
use crate::feeds::discover::Discover;
use crate::feeds::dispatch::Dispatch;
use crate::feeds::intake::Intake;
use crate::feeds::poll::{Poll, RowsAtHand};
use crate::feeds::subscribe::Subscribe;
use crate::feeds::websub::Callbacks;
use crate::feeds::websub_delivery::Pushes;
use crate::pages::extract::Extract;
use crate::pages::fetch::Fetch;
use crate::pages::judge::Judge;
use crate::pages::sample::{HowMany, Sample, Sampled};
use crate::politeness::access::Politeness;
use curlew_catalog::index::Index;
use curlew_model::{Gone, Job, PageState, RemovalJob, Year};
use curlew_policy::page::sampling;
use curlew_ports::Ports;
use curlew_ports::stage::Result;
use std::sync::Arc;

/// Minimum number of pages to re-check a day, if that many were not re-checked within the last day.
const LEAST_SAMPLE: usize = 1_000;

/// All stages of the crawler.
pub struct Crawler {
    /// The context shared by all visits.
    pub politeness: Arc<Politeness>,
    /// Finds feeds.
    pub discover: Discover,
    /// Reads feeds.
    pub poll: Poll,
    /// Reads back catalogues.
    pub backfills: Backfills,
    /// Asks hubs to announce updates.
    pub subscribe: Subscribe,
    /// Receives the notifications of hubs.
    pub pushes: Pushes,
    /// Fetches pages.
    pub fetch: Fetch,
    /// Makes records of fetched pages.
    pub extract: Extract,
    /// Chooses pages to re-check.
    pub sample: Sample,
    /// Sends the jobs of due feeds and sites.
    pub dispatch: Dispatch,
}

impl Crawler {
    /// Returns the crawler over these ports; `judge` screens pages.
    pub fn over(politeness: Arc<Politeness>, ports: &Ports, judge: Arc<Judge>) -> Crawler {
        let Ports { pages, sources, queue, blobs, .. } = ports;
        let Politeness { clock, rules, .. } = &*politeness;
        let callbacks = Arc::new(Callbacks::new(None, blobs.clone()));
        let intake = Arc::new(Intake::new(politeness.clone(), ports));
        let mut fetch = Fetch::new(politeness.clone(), ports);
        fetch.judge = judge.clone();
        Crawler {
            discover: Discover { intake: intake.clone(), fetch: Some(Arc::new(fetch.clone())) },
            poll: Poll {
                intake: intake.clone(),
                fetch: Some(Arc::new(fetch.clone())),
                rows: RowsAtHand::default(),
                marks: ports.marks.clone(),
            },
            backfills: Backfills { intake },
            subscribe: Subscribe {
                politeness: politeness.clone(),
                sources: sources.clone(),
                queue: queue.clone(),
                callbacks: callbacks.clone(),
            },
            pushes: Pushes {
                sources: sources.clone(),
                queue: queue.clone(),
                clock: clock.clone(),
                rules: rules.clone(),
                callbacks,
            },
            fetch,
            extract: Extract {
                pages: pages.clone(),
                sources: sources.clone(),
                blobs: blobs.clone(),
                queue: queue.clone(),
                judge,
                politeness: politeness.clone(),
            },
            sample: Sample { politeness: politeness.clone(), pages: pages.clone(), queue: queue.clone() },
            dispatch: Dispatch {
                marks: ports.marks.clone(),
                sources: sources.clone(),
                queue: queue.clone(),
                clock: clock.clone(),
                rules: rules.clone(),
                sends_together: ports.is_billed,
            },
            politeness,
        }
    }

    /// Sets the origin under which hubs reach this process, if there is one.
    #[must_use]
    pub fn reached_at(self, base: Option<String>) -> Crawler {
        let callbacks = Arc::new(Callbacks::new(base, self.politeness.blobs.clone()));
        let subscribe = Subscribe { callbacks: callbacks.clone(), ..self.subscribe };
        Crawler { subscribe, pushes: Pushes { callbacks, ..self.pushes }, ..self }
    }

    /// Replaces the fetch stage, which discovery and polls also use.
    #[must_use]
    pub fn fetching(self, fetch: Fetch) -> Crawler {
        let first = Some(Arc::new(fetch.clone()));
        let discover = Discover { fetch: first.clone(), ..self.discover };
        Crawler { discover, poll: Poll { fetch: first, ..self.poll }, fetch, ..self }
    }

    /// Makes the crawler ask the hubs of feeds to announce updates, if hubs can reach this process.
    #[must_use]
    pub fn listening(self) -> Crawler {
        if self.subscribe.callbacks.base.is_none() {
            return self;
        }
        let intake = Arc::new(self.poll.intake.listening());
        let discover = Discover { intake: intake.clone(), ..self.discover };
        Crawler { discover, poll: Poll { intake, ..self.poll }, ..self }
    }

    /// Runs daily: sends the removal of the pages of `index` whose `unavailable_after` has passed, and `count`
    /// re-checks; by default enough to check every page twice a year, and at least a thousand. Returns the sample.
    pub async fn recheck(&self, index: &Index, count: Option<usize>) -> Result<Sampled> {
        let mut indexed = 0;
        for year in index.years().await? {
            self.send_expired(index, year).await?;
            indexed += index.indexed(year).await?;
        }
        let daily = HowMany::Daily(sampling::a_day(indexed, LEAST_SAMPLE));
        self.sample.run(count.map_or(daily, HowMany::AtMost)).await
    }

    async fn send_expired(&self, index: &Index, year: Year) -> Result<()> {
        let Sample { pages, queue, politeness } = &self.sample;
        let now = politeness.clock.now();
        let mut jobs = Bulk::new(queue.as_ref());
        for id in index.expired(year).await? {
            let Some((page, _)) = pages.get(&id).await? else { continue };
            if matches!(page.state, PageState::Accepted { .. }) {
                jobs.push(Job::new(RemovalJob::remove(id, page.url, Gone::Expired, now)), now).await?;
            }
        }
        Ok(jobs.send().await?)
    }
}
