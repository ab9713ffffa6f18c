//! The program put together: adapters below, stages above.

use crate::clock::{SystemClock, SystemSeeds};
use crate::config::Config;
use crate::contact::ContactFirst;
use crate::tally::Tally;
use anyhow::{Context, Result};
use curlew_embedded::{Access, Store};
use curlew_fetcher::HttpFetcher;
use curlew_model::{Gone, HostKey, Year};
use curlew_policy::Rules;
use curlew_ports::{Blobs, Clock, Fetch as FetchPort, Hosts, Inbox, Marks, Pages, Queue, Seeds, Sources};
use curlew_stages::{
    Blocks, Discover, Dispatch, Extract, Fetch, Finder, Index, Manners, Poll, Removal, Sample, Suggest,
};
use std::sync::Arc;

/// Host states read at a time.
const LIST: usize = 500;

/// Everything that a command may need.
pub(crate) struct World {
    pub(crate) config: Config,
    pub(crate) store: Store,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) tally: Arc<Tally>,
    pub(crate) manners: Arc<Manners>,
    pub(crate) marks: Arc<dyn Marks>,
    pub(crate) pages: Arc<dyn Pages>,
    pub(crate) sources: Arc<dyn Sources>,
    pub(crate) hosts: Arc<dyn Hosts>,
    pub(crate) inbox: Arc<dyn Inbox>,
    pub(crate) queue: Arc<dyn Queue>,
    pub(crate) blobs: Arc<dyn Blobs>,
    pub(crate) discover: Discover,
    pub(crate) poll: Poll,
    pub(crate) fetch: Fetch,
    pub(crate) extract: Extract,
    pub(crate) index: Index,
    pub(crate) sample: Sample,
    pub(crate) dispatch: Dispatch,
    pub(crate) suggest: Suggest,
    pub(crate) blocks: Blocks,
    pub(crate) finder: Finder,
    pub(crate) removal: Removal,
}

impl World {
    /// Opens the store and builds the stages over it.
    pub(crate) fn open(config: Config, access: Access) -> Result<World> {
        let store = Store::open(&config.data, access)?;
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
        let seeds: Arc<dyn Seeds> = Arc::new(SystemSeeds::new());
        let tally = Arc::new(Tally::default());
        let rules: Arc<Rules> = Arc::new(config.rules.clone());
        let groups = Arc::new(config.groups.clone());
        let fetch_port = fetcher(&config)?;
        let pages: Arc<dyn Pages> = store.pages();
        let sources: Arc<dyn Sources> = store.sources();
        let jobs = store.jobs();
        let queue: Arc<dyn Queue> = jobs.clone();
        let blobs: Arc<dyn Blobs> = store.objects();
        let hosts = store.hosts();
        let manners = Arc::new(Manners {
            ledger: hosts.clone(),
            robots: store.robots(),
            fetch: fetch_port.clone(),
            clock: clock.clone(),
            seeds,
            events: tally.clone(),
            rules: rules.clone(),
            groups: groups.clone(),
            token: config.token.clone(),
        });
        Ok(World {
            discover: Discover::new(manners.clone(), sources.clone(), pages.clone(), queue.clone()),
            poll: Poll::new(manners.clone(), sources.clone(), pages.clone(), queue.clone()),
            fetch: Fetch::new(manners.clone(), pages.clone(), queue.clone(), blobs.clone()),
            extract: Extract {
                pages: pages.clone(),
                sources: sources.clone(),
                blobs: blobs.clone(),
                queue: queue.clone(),
                clock: clock.clone(),
                events: tally.clone(),
                groups: groups.clone(),
                token: config.token.clone(),
            },
            index: Index { blobs: blobs.clone(), pages: pages.clone(), clock: clock.clone() },
            sample: Sample { manners: manners.clone(), pages: pages.clone(), queue: queue.clone() },
            dispatch: Dispatch {
                marks: store.marks(),
                sources: sources.clone(),
                queue: queue.clone(),
                clock: clock.clone(),
                rules,
            },
            suggest: Suggest {
                sources: sources.clone(),
                blobs: blobs.clone(),
                fetch: fetch_port,
                queue: queue.clone(),
                clock: clock.clone(),
            },
            blocks: Blocks { ledger: hosts.clone(), blobs: blobs.clone(), groups },
            finder: Finder::new(blobs.clone(), clock.clone()),
            removal: Removal::new(pages.clone(), blobs.clone(), clock.clone(), tally.clone()),
            config,
            clock,
            tally,
            manners,
            marks: store.marks(),
            store,
            pages,
            sources,
            hosts,
            inbox: jobs,
            queue,
            blobs,
        })
    }

    /// Removes the pages of a year whose `unavailable_after` has passed; says how many.
    pub(crate) async fn remove_expired(&self, year: Year) -> Result<usize> {
        let expired = self.index.expired(year).await?;
        for id in &expired {
            self.removal.remove(id, Gone::Expired).await?;
        }
        Ok(expired.len())
    }

    /// After a crash, before the first worker starts: jobs that were handed out are ready again, and leases whose
    /// holder is dead are broken, each at the cost of one pause. The store's lock says that there is no other process.
    pub(crate) async fn recover(&self) -> Result<()> {
        let jobs = self.store.recover(self.clock.now()).await?;
        let mut broken = 0;
        let mut after: Option<HostKey> = None;
        loop {
            let hosts = self.hosts.list(after.as_ref(), LIST).await?;
            let Some((last, _)) = hosts.last() else { break };
            after = Some(last.clone());
            for (host, _) in hosts.iter().filter(|(_, state)| state.lease.is_some()) {
                self.manners.break_lease(host).await?;
                broken += 1;
            }
        }
        if jobs > 0 || broken > 0 {
            tracing::info!(jobs, leases = broken, "the last run did not end well; its work is taken up again");
        }
        Ok(())
    }
}

fn fetcher(config: &Config) -> Result<Arc<dyn FetchPort>> {
    let mut settings = curlew_fetcher::Config::new(config.page_agent.clone(), config.feed_agent.clone());
    settings.guard = config.guard.clone();
    settings.call_timeout = config.rules.call_time;
    let limits = &config.limits;
    settings.connect_timeout = limits.connect_timeout.unwrap_or(settings.connect_timeout);
    settings.read_timeout = limits.read_timeout.unwrap_or(settings.read_timeout);
    settings.bytes.page = limits.page_bytes.unwrap_or(settings.bytes.page);
    settings.bytes.feed = limits.feed_bytes.unwrap_or(settings.bytes.feed);
    settings.bytes.image = limits.image_bytes.unwrap_or(settings.bytes.image);
    let http = HttpFetcher::new(settings).context("the HTTP client cannot be set up")?;
    if config.contact.is_some() {
        return Ok(Arc::new(http));
    }
    Ok(Arc::new(ContactFirst::new(http, config.guard.clone())))
}
