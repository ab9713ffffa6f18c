//! The composition root: all stages, put together over one set of ports.

use crate::bulk::Bulk;
use crate::catalog::export::Export;
use crate::catalog::find::Finder;
use crate::catalog::index::{Index, PAGES_PER_SPLIT, PORTIONS_AT_ONCE, PublishReport};
use crate::catalog::raw::RawPages;
use crate::catalog::removal::Removal;
use crate::feeds::backfill::Backfills;
use crate::feeds::discover::Discover;
use crate::feeds::dispatch::Dispatch;
use crate::feeds::intake::Intake;
use crate::feeds::poll::{Poll, RowsAtHand};
use crate::feeds::subscribe::Subscribe;
use crate::feeds::websub::Callbacks;
use crate::feeds::websub_delivery::Pushes;
use crate::operator::actions::Actions;
use crate::operator::audit_log::AuditLog;
use crate::operator::block::Blocks;
use crate::operator::deliver::{Deliver, FeedRenderer};
use crate::operator::erasure::StepLimits;
use crate::operator::fsck::{Fsck, ROWS_AT_ONCE};
use crate::operator::lookup::Lookup;
use crate::operator::messages::Messages;
use crate::operator::overrides::Overrides;
use crate::operator::owner_jobs::Own;
use crate::operator::ownership::{Owners, expire_claims};
use crate::operator::stats::Stats;
use crate::operator::suggest::Suggest;
use crate::operator::watches::Watches;
use crate::pages::extract::Extract;
use crate::pages::fetch::Fetch;
use crate::pages::image::DECODED_BYTES;
use crate::pages::judge::Judge;
use crate::pages::sample::{HowMany, Sample, Sampled};
use crate::politeness::access::Politeness;
use crate::politeness::poll_groups::PollGroups;
use crate::stage::{Stage, StageError, Verdict};
use crate::worker::Stages;
use async_trait::async_trait;
use curlew_model::{ExtractJob, Gone, Job, Millis, PageId, PageState, RemovalJob, Year};
use curlew_policy::page::sampling;
use curlew_policy::politeness::visit::{LOOK_EVERY, LOOK_SELDOM};
use curlew_ports::{
    Blobs, Clock, Fetch as FetchPort, GroupLeases, HostLedger, Hosts, Inbox, InlinePool, Marks, Names, NoNames, Pages,
    Queue, RobotsStore, Seeds, Sources,
};
use std::sync::Arc;

/// Minimum number of pages re-checked a day, if there are as many that were not within the last day.
const LEAST_SAMPLE: usize = 1_000;

/// Time for which pages are kept raw, unless configured.
pub const RAW_LIFETIME: Millis = Millis::from_days(30);

/// The ports that a store implements.
#[derive(Clone)]
pub struct Ports {
    /// The state of host keys, by compare-and-swap.
    pub ledger: Arc<dyn HostLedger>,
    /// States of hosts, for listing.
    pub hosts: Arc<dyn Hosts>,
    /// Copies of robots.txt.
    pub robots: Arc<dyn RobotsStore>,
    /// Named instants.
    pub marks: Arc<dyn Marks>,
    /// The rows of pages.
    pub pages: Arc<dyn Pages>,
    /// The rows of feeds and sites.
    pub sources: Arc<dyn Sources>,
    /// Sends jobs.
    pub queue: Arc<dyn Queue>,
    /// Receives jobs.
    pub inbox: Arc<dyn Inbox>,
    /// Objects.
    pub blobs: Arc<dyn Blobs>,
    /// Leases that polls of a group share, if the store has such: where each write is paid for.
    pub groups: Option<Arc<dyn GroupLeases>>,
}

impl Ports {
    /// Returns the politeness context over these ports, with the default rules and nothing learned yet; documents are
    /// parsed at once. Callers change fields of it.
    pub fn politeness(&self, fetch: Arc<dyn FetchPort>, clock: Arc<dyn Clock>, seeds: Arc<dyn Seeds>) -> Politeness {
        let groups = self.groups.clone();
        Politeness {
            ledger: self.ledger.clone(),
            robots: self.robots.clone(),
            fetch,
            clock: clock.clone(),
            seeds,
            events: Arc::new(()),
            rules: Arc::default(),
            groups: Arc::default(),
            blobs: self.blobs.clone(),
            hidden: Arc::default(),
            outage: Arc::default(),
            token: "CurlewBot".to_owned(),
            scope: Arc::default(),
            known: Arc::default(),
            pool: Arc::new(InlinePool),
            decoded_bytes: DECODED_BYTES,
            signer: None,
            // A store with such leases is one where every read and write is billed.
            look_every: if groups.is_some() { LOOK_SELDOM } else { LOOK_EVERY },
            poll_groups: groups.map(|store| Arc::new(PollGroups::new(store, clock))),
        }
    }
}

/// All stages over one store.
pub struct Program {
    /// The stores and queues.
    pub ports: Ports,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// The context shared by all visits.
    pub politeness: Arc<Politeness>,
    /// Finds feeds.
    pub discover: Discover,
    /// Does what owners of sites ask for.
    pub own: Own,
    /// Takes what they ask for.
    pub owners: Owners,
    /// Takes messages.
    pub messages: Messages,
    /// Reads feeds.
    pub poll: Poll,
    /// Reads back catalogues.
    pub backfills: Backfills,
    /// Asks hubs to tell of news.
    pub subscribe: Subscribe,
    /// Takes what hubs tell.
    pub pushes: Pushes,
    /// Visits hosts.
    pub fetch: Fetch,
    /// Makes records.
    pub extract: Extract,
    /// Publishes.
    pub index: Index,
    /// Counts what there is.
    pub stats: Stats,
    /// Chooses pages to re-check.
    pub sample: Sample,
    /// Sends what is due.
    pub dispatch: Dispatch,
    /// Takes suggestions.
    pub suggest: Suggest,
    /// Blocks and unblocks hosts.
    pub blocks: Blocks,
    /// The operator's overrides.
    pub overrides: Arc<Overrides>,
    /// Acts of operators.
    pub actions: Arc<Actions>,
    /// Views of rows and jobs, for operators.
    pub lookup: Lookup,
    /// Runs queries.
    pub finder: Arc<Finder>,
    /// Removes pages, and notes when they become unavailable.
    pub removal: Removal,
    /// Pages that are kept as they were fetched.
    pub raw: RawPages,
    /// Adds watches, and finds their new matches.
    pub watches: Watches,
    /// Brings new matches to their receivers.
    pub deliver: Deliver,
}

impl Program {
    /// The stages over one store, with these politeness and this judge of pages.
    pub fn over(politeness: Arc<Politeness>, ports: Ports, judge: Arc<Judge>) -> Program {
        let Ports { pages, sources, queue, blobs, .. } = &ports;
        let Politeness { clock, events, rules, groups, scope, pool, .. } = &*politeness;
        let callbacks = Arc::new(Callbacks::new(None, blobs.clone()));
        let blocks = Blocks {
            ledger: ports.ledger.clone(),
            hosts: ports.hosts.clone(),
            pages: pages.clone(),
            queue: queue.clone(),
            clock: clock.clone(),
            blobs: blobs.clone(),
            groups: groups.clone(),
            limits: StepLimits::default(),
        };
        let suggest = Suggest {
            sources: sources.clone(),
            blobs: blobs.clone(),
            fetch: politeness.fetch.clone(),
            queue: queue.clone(),
            clock: clock.clone(),
            scope: scope.clone(),
            groups: groups.clone(),
        };
        let removal = Removal::new(pages.clone(), blobs.clone(), clock.clone(), events.clone());
        let intake = Intake::new(politeness.clone(), sources.clone(), pages.clone(), queue.clone());
        let backfills = Backfills { intake: Arc::new(intake) };
        let messages = Messages { blobs: blobs.clone(), clock: clock.clone() };
        let overrides =
            Arc::new(Overrides::new(pages.clone(), blobs.clone(), queue.clone(), clock.clone(), removal.clone()));
        let lookup = Lookup {
            politeness: politeness.clone(),
            hosts: ports.hosts.clone(),
            pages: pages.clone(),
            sources: sources.clone(),
            inbox: ports.inbox.clone(),
        };
        let watches = Watches {
            blobs: blobs.clone(),
            queue: queue.clone(),
            fetch: politeness.fetch.clone(),
            clock: clock.clone(),
            pool: pool.clone(),
            groups: groups.clone(),
        };
        let actions = Arc::new(Actions {
            suggest: suggest.clone(),
            watches: watches.clone(),
            lookup: lookup.clone(),
            queue: queue.clone(),
            blocks: blocks.clone(),
            overrides: overrides.clone(),
            messages: messages.clone(),
            inbox: ports.inbox.clone(),
            clock: clock.clone(),
            log: AuditLog { blobs: blobs.clone(), clock: clock.clone() },
        });
        let fetch =
            Fetch::new(politeness.clone(), pages.clone(), queue.clone(), blobs.clone()).with_judge(judge.clone());
        let sample = Sample { politeness: politeness.clone(), pages: pages.clone(), queue: queue.clone() };
        Program {
            own: Own {
                politeness: politeness.clone(),
                names: Arc::new(NoNames),
                blobs: blobs.clone(),
                pages: pages.clone(),
                sources: sources.clone(),
                queue: queue.clone(),
                blocks: blocks.clone(),
                suggest: suggest.clone(),
                removal: removal.clone(),
                backfills: backfills.clone(),
                sample: sample.clone(),
                limits: StepLimits::default(),
                scheme: "https",
            },
            owners: Owners {
                blobs: blobs.clone(),
                ledger: ports.ledger.clone(),
                robots: ports.robots.clone(),
                poll_groups: politeness.poll_groups.clone(),
                blocks: blocks.clone(),
                queue: queue.clone(),
                fetch: politeness.fetch.clone(),
                clock: clock.clone(),
                rules: rules.clone(),
                token: politeness.token.clone(),
                scheme: "https",
                pool: pool.clone(),
            },
            messages,
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
            discover: Discover { intake: backfills.intake.clone(), fetch: Some(Arc::new(fetch.clone())) },
            poll: Poll {
                intake: backfills.intake.clone(),
                fetch: Some(Arc::new(fetch.clone())),
                rows: RowsAtHand::default(),
            },
            backfills,
            fetch,
            extract: Extract {
                pages: pages.clone(),
                sources: sources.clone(),
                blobs: blobs.clone(),
                queue: queue.clone(),
                clock: clock.clone(),
                events: events.clone(),
                groups: groups.clone(),
                token: politeness.token.clone(),
                judge,
                scope: scope.clone(),
                pool: pool.clone(),
            },
            index: Index {
                blobs: blobs.clone(),
                pages: pages.clone(),
                clock: clock.clone(),
                pool: pool.clone(),
                portions_at_once: PORTIONS_AT_ONCE,
                pages_per_split: PAGES_PER_SPLIT,
            },
            stats: Stats {
                pages: pages.clone(),
                sources: sources.clone(),
                hosts: ports.hosts.clone(),
                blobs: blobs.clone(),
                clock: clock.clone(),
            },
            sample,
            dispatch: Dispatch {
                marks: ports.marks.clone(),
                sources: sources.clone(),
                queue: queue.clone(),
                clock: clock.clone(),
                rules: rules.clone(),
                hosts: groups.clone(),
                groups_polls: ports.groups.is_some(),
            },
            suggest,
            blocks,
            overrides,
            actions,
            lookup,
            finder: Arc::new(
                Finder::new(blobs.clone(), clock.clone()).with_pool(pool.clone()).with_events(events.clone()),
            ),
            removal,
            raw: RawPages { blobs: blobs.clone(), clock: clock.clone(), lifetime: RAW_LIFETIME },
            watches,
            deliver: Deliver {
                politeness: politeness.clone(),
                blobs: blobs.clone(),
                pages: pages.clone(),
                queue: queue.clone(),
                feeds: None,
            },
            clock: clock.clone(),
            ports,
            politeness,
        }
    }

    /// Returns the program for a process that hubs reach under this address, if they do.
    #[must_use]
    pub fn reached_at(self, base: Option<String>) -> Program {
        let callbacks = Arc::new(Callbacks::new(base, self.ports.blobs.clone()));
        let subscribe = Subscribe { callbacks: callbacks.clone(), ..self.subscribe };
        Program { subscribe, pushes: Pushes { callbacks, ..self.pushes }, ..self }
    }

    /// Returns the program with this resolver of names, so that owners can prove by a TXT record that a site is theirs.
    #[must_use]
    pub fn looking_up(self, names: Arc<dyn Names>) -> Program {
        Program { own: Own { names, ..self.own }, ..self }
    }

    /// Returns the program with our search feeds, so that readers can subscribe to them.
    #[must_use]
    pub fn publishing(self, feeds: Arc<dyn FeedRenderer>) -> Program {
        Program { deliver: Deliver { feeds: Some(feeds), ..self.deliver }, ..self }
    }

    /// Returns the program with another fetch stage, for visits of its own and for those that polls make.
    #[must_use]
    pub fn fetching(self, fetch: Fetch) -> Program {
        let first = Some(Arc::new(fetch.clone()));
        let discover = Discover { fetch: first.clone(), ..self.discover };
        Program { discover, poll: Poll { fetch: first, ..self.poll }, fetch, ..self }
    }

    /// Returns the program for a process that serves the pages, so that hubs can tell us of news: those that feeds name
    /// are asked to, if there is an address for them to tell it to.
    #[must_use]
    pub fn listening(self) -> Program {
        if !self.subscribe.callbacks.are_reachable() {
            return self;
        }
        let intake = Arc::new(self.poll.intake.listening());
        let discover = Discover { intake: intake.clone(), ..self.discover };
        Program { discover, poll: Poll { intake, ..self.poll }, ..self }
    }

    /// Returns the reader of all current records.
    pub fn export(&self) -> Export<'_> {
        Export(&self.index)
    }

    /// Returns the check of the store. `is_alone` says that all jobs can be seen, and that no other process takes any.
    pub fn fsck(&self, is_alone: bool) -> Fsck<'_> {
        Fsck {
            pages: self.ports.pages.as_ref(),
            blobs: self.ports.blobs.as_ref(),
            inbox: is_alone.then_some(self.ports.inbox.as_ref()),
            queue: self.ports.queue.as_ref(),
            clock: self.clock.as_ref(),
            removal: &self.removal,
            index: &self.index,
            rows_at_once: ROWS_AT_ONCE,
        }
    }

    /// True if there is something new to publish. Nothing is written for the answer.
    ///
    /// # Errors
    /// The errors of the ports.
    pub async fn has_unpublished(&self) -> Result<bool, StageError> {
        let this = self.clock.now().year();
        Ok(self.index.has_unpublished(this).await? || self.index.has_unpublished(this - 1).await?)
    }

    /// Publishes new records: soon after they have come, or a few times a day. Last year's too, since those of its last
    /// hours are published in the first of the next; and once, older years that another version has written.
    ///
    /// # Errors
    /// The errors of the ports; the next call tries again.
    pub async fn publish(&self) -> Result<Vec<(Year, PublishReport)>, StageError> {
        let this = self.clock.now().year();
        let mut done = Vec::new();
        for year in self.index.years().await? {
            if year >= this - 1 || self.index.is_outdated(year).await? {
                done.push((year, self.index.publish(year).await?));
            }
        }
        self.watches.match_new().await?;
        Ok(done)
    }

    /// Monthly: merges the indexes of older years, so that what is gone leaves them for good.
    ///
    /// # Errors
    /// The errors of the ports; the next call tries again.
    pub async fn archive(&self) -> Result<Vec<(Year, PublishReport)>, StageError> {
        let this = self.clock.now().year();
        let mut done = Vec::new();
        for older in self.index.years().await?.into_iter().filter(|y| *y != this) {
            done.push((older, self.index.refresh(older).await?));
        }
        Ok(done)
    }

    /// Refreshes the index of one year by hand.
    ///
    /// # Errors
    /// The errors of the ports.
    pub async fn refresh(&self, year: Year) -> Result<PublishReport, StageError> {
        self.remove_expired(year).await?;
        self.index.refresh(year).await
    }

    /// Forgets messages, claims and raw pages whose time is over.
    async fn forget(&self) -> Result<(), StageError> {
        let messages = self.messages.expire().await?;
        let claims = expire_claims(self.ports.blobs.as_ref(), self.clock.now()).await?;
        let raw = self.raw.expire().await?;
        tracing::debug!(messages, claims, raw, "what was kept for long enough is forgotten");
        Ok(())
    }

    /// Daily: forgets messages, claims and raw pages whose time is over, sends the removal of pages whose time is over, and
    /// re-checks of others; returns how many. Without a `count` as many as let every page have its turn at least twice a year, and a
    /// thousand at least.
    ///
    /// # Errors
    /// The errors of the ports; the next call tries again.
    pub async fn recheck(&self, count: Option<usize>) -> Result<Sampled, StageError> {
        self.forget().await?;
        let mut indexed = 0;
        for year in self.index.years().await? {
            self.send_expired(year).await?;
            indexed += self.index.indexed(year).await?;
        }
        let daily = HowMany::Daily(sampling::a_day(indexed, LEAST_SAMPLE));
        self.sample.run(count.map_or(daily, HowMany::AtMost)).await
    }

    /// Sends the removal of the pages of a year whose `unavailable_after` has passed.
    async fn send_expired(&self, year: Year) -> Result<(), StageError> {
        let now = self.clock.now();
        let mut jobs = Bulk::new(self.ports.queue.as_ref());
        for id in self.index.expired(year).await? {
            let Some((page, _)) = self.ports.pages.get(&id).await? else { continue };
            if matches!(page.state, PageState::Accepted { .. }) {
                jobs.push((Job::Remove(RemovalJob::remove(id, page.url, Gone::Expired, now)), now)).await?;
            }
        }
        Ok(jobs.send().await?)
    }

    /// Removes the pages of a year whose `unavailable_after` has passed; says how many.
    ///
    /// # Errors
    /// The errors of the ports.
    pub async fn remove_expired(&self, year: Year) -> Result<usize, StageError> {
        let expired: Vec<PageId> = self.index.expired(year).await?;
        for id in &expired {
            self.removal.remove(id, Gone::Expired).await?;
        }
        Ok(expired.len())
    }
}

#[async_trait]
impl Stages for Program {
    async fn run(&self, job: &Job) -> Result<Verdict, StageError> {
        match job {
            Job::Discover(job) => self.discover.run(job).await,
            Job::Own(job) => self.own.run(job).await,
            Job::Poll(job) => self.poll.run(job).await,
            Job::Polls(job) => self.poll.run_groups(self, job).await,
            Job::Subscribe(job) => self.subscribe.run(job).await,
            Job::Deliver(job) => self.deliver.run(job).await,
            Job::Backfill(job) => self.backfills.run(job).await,
            Job::Fetch(job) => self.fetch.run(job).await,
            Job::Extract(job) => self.extract.run(job).await,
            Job::Remove(job) => self.removal.run(job).await,
            Job::TakeUp(job) => self.blocks.take_up(job).await,
        }
    }

    async fn run_batch(&self, jobs: &[ExtractJob]) -> Vec<Result<Verdict, StageError>> {
        self.extract.run_batch(jobs).await
    }
}
