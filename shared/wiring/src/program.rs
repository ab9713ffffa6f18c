//! The program put together: ports below, stages above.

use crate::contact::ContactFirst;
use crate::settings::Settings;
use crate::threads::{CpuThreads, PARSE_TIME};
use curlew_fetcher::{ConfigError, HttpFetcher};
use curlew_model::{Gone, Job, PageId, Year};
use curlew_policy::page::sampling;
use curlew_ports::{
    Blobs, Clock, Events, Fetch as FetchPort, HostLedger, Hosts, Inbox, Marks, Names, NoNames, Pages, Queue,
    RobotsStore, Seeds, Sources,
};
use curlew_stages::catalog::find::Finder;
use curlew_stages::catalog::index::{Index, Published};
use curlew_stages::catalog::removal::Removal;
use curlew_stages::feeds::discover::Discover;
use curlew_stages::feeds::dispatch::Dispatch;
use curlew_stages::feeds::poll::Poll;
use curlew_stages::feeds::subscribe::Subscribe;
use curlew_stages::feeds::websub::Callbacks;
use curlew_stages::feeds::websub_delivery::Pushes;
use curlew_stages::operator::block::Blocks;
use curlew_stages::operator::messages::Messages;
use curlew_stages::operator::overrides::Overrules;
use curlew_stages::operator::owner_jobs::Own;
use curlew_stages::operator::ownership::{Owners, expire_claims};
use curlew_stages::operator::stats::Census;
use curlew_stages::operator::suggest::Suggest;
use curlew_stages::pages::extract::Extract;
use curlew_stages::pages::fetch::Fetch;
use curlew_stages::pages::judge::Judge;
use curlew_stages::pages::sample::{HowMany, Sample};
use curlew_stages::politeness::access::{Manners, Weather};
use curlew_stages::politeness::robots_cache::KnownRobots;
use curlew_stages::stage::{Stage, StageError, Verdict};
use std::sync::Arc;

/// So many pages are re-checked a day, if there are as many that were not within the last day.
const LEAST_SAMPLE: usize = 1_000;

/// What a store has to offer.
#[derive(Clone)]
pub struct Ports {
    /// The state of host keys, by compare-and-swap.
    pub ledger: Arc<dyn HostLedger>,
    /// The same, for people who look.
    pub hosts: Arc<dyn Hosts>,
    /// Copies of robots.txt.
    pub robots: Arc<dyn RobotsStore>,
    /// Named instants.
    pub marks: Arc<dyn Marks>,
    /// The rows of pages.
    pub pages: Arc<dyn Pages>,
    /// The rows of feeds and sites.
    pub sources: Arc<dyn Sources>,
    /// Where jobs go.
    pub queue: Arc<dyn Queue>,
    /// Where they come from.
    pub inbox: Arc<dyn Inbox>,
    /// Objects.
    pub blobs: Arc<dyn Blobs>,
}

/// What a process learns and may use in its next program: without it, a function would learn anew in each invocation
/// that our own network is down, and compile the same rules again.
#[derive(Clone)]
pub struct Memory {
    weather: Arc<Weather>,
    known: Arc<KnownRobots>,
    pool: Arc<CpuThreads>,
}

impl Memory {
    /// What a process that has just begun knows, and its threads for CPU-bound tasks.
    pub fn new(settings: &Settings) -> Memory {
        let pool = Arc::new(CpuThreads::new(settings.limits.parse_time.unwrap_or(PARSE_TIME)));
        Memory { weather: Arc::default(), known: Arc::default(), pool }
    }

    /// Whether so many documents are still being parsed beyond their limit that the process should be started again.
    pub fn is_worn_out(&self) -> bool {
        self.pool.is_worn_out()
    }
}

/// All stages over one store.
pub struct Program {
    /// What they stand on.
    pub ports: Ports,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// What every visit shares.
    pub manners: Arc<Manners>,
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
    pub census: Census,
    /// Chooses pages to re-check.
    pub sample: Sample,
    /// Sends what is due.
    pub dispatch: Dispatch,
    /// Takes suggestions.
    pub suggest: Suggest,
    /// Blocks and unblocks hosts.
    pub blocks: Blocks,
    /// The operator's last word on pages and sites.
    pub overrules: Overrules,
    /// Runs queries.
    pub finder: Finder,
    /// Removes pages.
    pub removal: Removal,
}

impl Program {
    /// Puts the stages together. The HTTP client is made here, anew for each program.
    ///
    /// # Errors
    /// If the HTTP client cannot be set up.
    pub fn new(
        settings: &Settings,
        ports: Ports,
        clock: Arc<dyn Clock>,
        seeds: Arc<dyn Seeds>,
        events: Arc<dyn Events>,
        memory: &Memory,
    ) -> Result<Program, ConfigError> {
        let manners = Arc::new(Manners {
            ledger: ports.ledger.clone(),
            robots: ports.robots.clone(),
            fetch: fetcher(settings)?,
            clock,
            seeds,
            events,
            rules: Arc::new(settings.rules.clone()),
            groups: Arc::new(settings.groups.clone()),
            blobs: ports.blobs.clone(),
            weather: memory.weather.clone(),
            token: settings.token.clone(),
            scope: Arc::new(settings.scope.clone()),
            known: memory.known.clone(),
            pool: memory.pool.clone(),
        });
        let program = Program::over(manners, ports, settings.judge.clone());
        let own = Own { scheme: settings.proof_scheme(), ..program.own };
        let owners = Owners { scheme: settings.proof_scheme(), ..program.owners };
        Ok(Program { own, owners, ..program }.reached_at(settings.hub_base()))
    }

    /// The stages over one store, with these manners and this judge of pages.
    pub fn over(manners: Arc<Manners>, ports: Ports, judge: Arc<Judge>) -> Program {
        let Ports { pages, sources, queue, blobs, .. } = &ports;
        let Manners { clock, events, rules, groups, scope, pool, .. } = &*manners;
        let callbacks = Arc::new(Callbacks::new(None, blobs.clone()));
        let blocks = Blocks {
            ledger: ports.ledger.clone(),
            hosts: ports.hosts.clone(),
            pages: pages.clone(),
            queue: queue.clone(),
            clock: clock.clone(),
            blobs: blobs.clone(),
            groups: groups.clone(),
        };
        let suggest = Suggest {
            sources: sources.clone(),
            blobs: blobs.clone(),
            fetch: manners.fetch.clone(),
            queue: queue.clone(),
            clock: clock.clone(),
            scope: scope.clone(),
            groups: groups.clone(),
        };
        Program {
            own: Own {
                manners: manners.clone(),
                names: Arc::new(NoNames),
                blobs: blobs.clone(),
                pages: pages.clone(),
                sources: sources.clone(),
                queue: queue.clone(),
                blocks: blocks.clone(),
                suggest: suggest.clone(),
                scheme: "https",
            },
            owners: Owners {
                blobs: blobs.clone(),
                ledger: ports.ledger.clone(),
                robots: ports.robots.clone(),
                blocks: blocks.clone(),
                queue: queue.clone(),
                fetch: manners.fetch.clone(),
                clock: clock.clone(),
                rules: rules.clone(),
                token: manners.token.clone(),
                scheme: "https",
                pool: pool.clone(),
            },
            messages: Messages { blobs: blobs.clone(), clock: clock.clone() },
            subscribe: Subscribe {
                manners: manners.clone(),
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
            discover: Discover::new(manners.clone(), sources.clone(), pages.clone(), queue.clone(), blobs.clone()),
            poll: Poll::new(manners.clone(), sources.clone(), pages.clone(), queue.clone(), blobs.clone()),
            fetch: Fetch::new(manners.clone(), pages.clone(), queue.clone(), blobs.clone()).with_judge(judge.clone()),
            extract: Extract {
                pages: pages.clone(),
                sources: sources.clone(),
                blobs: blobs.clone(),
                queue: queue.clone(),
                clock: clock.clone(),
                events: events.clone(),
                groups: groups.clone(),
                token: manners.token.clone(),
                judge,
                scope: scope.clone(),
                pool: pool.clone(),
            },
            index: Index { blobs: blobs.clone(), pages: pages.clone(), clock: clock.clone(), pool: pool.clone() },
            census: Census {
                pages: pages.clone(),
                sources: sources.clone(),
                hosts: ports.hosts.clone(),
                blobs: blobs.clone(),
                clock: clock.clone(),
            },
            sample: Sample { manners: manners.clone(), pages: pages.clone(), queue: queue.clone() },
            dispatch: Dispatch {
                marks: ports.marks.clone(),
                sources: sources.clone(),
                queue: queue.clone(),
                clock: clock.clone(),
                rules: rules.clone(),
            },
            suggest,
            blocks,
            overrules: Overrules::new(pages.clone(), blobs.clone(), queue.clone(), clock.clone(), events.clone()),
            finder: Finder::new(blobs.clone(), clock.clone()).with_pool(pool.clone()),
            removal: Removal::new(pages.clone(), blobs.clone(), clock.clone(), events.clone()),
            clock: clock.clone(),
            ports,
            manners,
        }
    }

    /// The same where hubs reach us under this address, if they do.
    fn reached_at(self, base: Option<String>) -> Program {
        let callbacks = Arc::new(Callbacks::new(base, self.ports.blobs.clone()));
        let subscribe = Subscribe { callbacks: callbacks.clone(), ..self.subscribe };
        Program { subscribe, pushes: Pushes { callbacks, ..self.pushes }, ..self }
    }

    /// The same where names may be looked up, so that owners can prove by a TXT record that a site is theirs.
    #[must_use]
    pub fn looking_up(self, names: Arc<dyn Names>) -> Program {
        Program { own: Own { names, ..self.own }, ..self }
    }

    /// The same where the pages are served, so that hubs can tell us of news: those that feeds name are asked to, if there
    /// is an address for them to tell it to.
    #[must_use]
    pub fn listening(self) -> Program {
        if !self.subscribe.callbacks.are_reachable() {
            return self;
        }
        Program { discover: self.discover.listening(), poll: self.poll.listening(), ..self }
    }

    /// Gives a job to its stage.
    ///
    /// # Errors
    /// What the stage says.
    pub async fn run(&self, job: &Job) -> Result<Verdict, StageError> {
        match job {
            Job::Discover(job) => self.discover.run(job).await,
            Job::Own(job) => self.own.run(job).await,
            Job::Poll(job) => self.poll.run(job).await,
            Job::Subscribe(job) => self.subscribe.run(job).await,
            Job::Fetch(job) => self.fetch.run(job).await,
            Job::Extract(job) => self.extract.run(job).await,
        }
    }

    /// Three times a day: publishes what is new. Last year's too: what was accepted in its last hours is published in
    /// the first of the next. And older ones that another version has written, once.
    ///
    /// # Errors
    /// What the ports say; the next time does it again.
    pub async fn publish(&self) -> Result<Vec<(Year, Published)>, StageError> {
        let this = self.clock.now().year();
        let mut done = Vec::new();
        for year in self.index.years().await? {
            if year >= this - 1 || self.index.is_outdated(year).await? {
                done.push((year, self.index.publish(year).await?));
            }
        }
        Ok(done)
    }

    /// Monthly: merges the indexes of older years, so that what is gone leaves them for good.
    ///
    /// # Errors
    /// What the ports say; the next time does it again.
    pub async fn archive(&self) -> Result<Vec<(Year, Published)>, StageError> {
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
    /// What the ports say.
    pub async fn refresh(&self, year: Year) -> Result<Published, StageError> {
        self.remove_expired(year).await?;
        self.index.refresh(year).await
    }

    /// Forgets messages and claims whose time is over.
    async fn forget(&self) -> Result<(), StageError> {
        let messages = self.messages.expire().await?;
        let claims = expire_claims(self.ports.blobs.as_ref(), self.clock.now()).await?;
        tracing::debug!(messages, claims, "what was kept for long enough is forgotten");
        Ok(())
    }

    /// Daily: forgets messages and claims whose time is over, removes pages whose time is over, and sends re-checks of others; says how many. Without a `count` as many as let
    /// every page have its turn at least twice a year, and a thousand at least.
    ///
    /// # Errors
    /// What the ports say; the next time does it again.
    pub async fn recheck(&self, count: Option<usize>) -> Result<usize, StageError> {
        self.forget().await?;
        let mut indexed = 0;
        for year in self.index.years().await? {
            self.remove_expired(year).await?;
            indexed += self.index.indexed(year).await?;
        }
        let daily = HowMany::Daily(sampling::a_day(indexed, LEAST_SAMPLE));
        self.sample.run(count.map_or(daily, HowMany::AtMost)).await
    }

    /// Removes the pages of a year whose `unavailable_after` has passed; says how many.
    ///
    /// # Errors
    /// What the ports say.
    pub async fn remove_expired(&self, year: Year) -> Result<usize, StageError> {
        let expired: Vec<PageId> = self.index.expired(year).await?;
        for id in &expired {
            self.removal.remove(id, Gone::Expired).await?;
        }
        Ok(expired.len())
    }
}

fn fetcher(settings: &Settings) -> Result<Arc<dyn FetchPort>, ConfigError> {
    let mut config = curlew_fetcher::Config::new(settings.page_agent.clone(), settings.feed_agent.clone());
    config.guard = settings.guard.clone();
    config.call_timeout = settings.rules.call_time;
    let limits = &settings.limits;
    config.connect_timeout = limits.connect_timeout.unwrap_or(config.connect_timeout);
    config.read_timeout = limits.read_timeout.unwrap_or(config.read_timeout);
    config.bytes.page = limits.page_bytes.unwrap_or(config.bytes.page);
    config.bytes.feed = limits.feed_bytes.unwrap_or(config.bytes.feed);
    config.bytes.image = limits.image_bytes.unwrap_or(config.bytes.image);
    config.bodies_bytes = limits.bodies_bytes.unwrap_or(config.bodies_bytes);
    let http = HttpFetcher::new(config)?;
    if settings.contact.is_some() {
        return Ok(Arc::new(http));
    }
    Ok(Arc::new(ContactFirst::new(http, settings.guard.clone())))
}
