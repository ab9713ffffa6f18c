//! The program over its store: a folder on this machine, or a stack on AWS.

use crate::interruption::{InterruptibleCalls, InterruptiblePauses};
use anyhow::Result;
use curlew_app::Settings as Config;
use curlew_app::program::Program;
use curlew_app::{KeyStore, Memory, STACK_SETTINGS, Surroundings, SystemClock, SystemSeeds, Tally, fetcher, program};
use curlew_catalog::listing::each_host;
use curlew_crawl::crawler::Crawler;
use curlew_embedded::{Access, Store};
use curlew_fetcher::TxtRecords;
use curlew_model::{Source, SourceKey};
use curlew_ports::{Blobs, PortError, Ports, Tag};
use std::ops::Deref;
use std::sync::Arc;

const LIST: usize = 500;

/// Everything that a command may need: the program, its settings and its store.
pub(crate) struct World {
    pub(crate) config: Config,
    pub(crate) tally: Arc<Tally>,
    pub(crate) memory: Memory,
    pub(crate) keys: KeyStore,
    program: Program,
    /// The store on this machine; `None` for a stack.
    embedded: Option<Store>,
}

/// Returns the text of a stack's settings, empty if there are none, and the version of their object.
pub(crate) async fn stack_settings(blobs: &dyn Blobs) -> Result<(String, Option<Tag>), PortError> {
    let Some(blob) = blobs.get(STACK_SETTINGS).await? else { return Ok((String::new(), None)) };
    match String::from_utf8(blob.bytes.to_vec()) {
        Ok(text) => Ok((text, Some(blob.tag))),
        Err(e) => Err(PortError::Corrupt { what: STACK_SETTINGS.to_owned(), why: e.to_string() }),
    }
}

impl Deref for World {
    type Target = Program;

    fn deref(&self) -> &Program {
        &self.program
    }
}

impl World {
    /// Opens the store on this machine, and builds the program over it.
    pub(crate) fn open(config: Config, access: Access) -> Result<World> {
        let store = Store::open(&config.data, access)?;
        let keys = KeyStore::in_folder(&config.data);
        World::over(config, store.ports(), keys, Some(store))
    }

    /// Connects to the named stack, with the credentials and the region of the environment.
    pub(crate) async fn of_stack(mut config: Config, name: &str) -> Result<World> {
        let ports = crate::optional::stack(name).await?;
        if !config.have_file() {
            config = config.over_text(STACK_SETTINGS, &stack_settings(ports.blobs.as_ref()).await?.0)?;
        }
        World::of_ports(config, ports)
    }

    pub(crate) fn of_ports(mut config: Config, ports: Ports) -> Result<World> {
        // This process calls no site. The functions do, with the contact of their own settings.
        config.contact.get_or_insert_with(|| "https://curlew.invalid/".to_owned());
        let keys = KeyStore::Objects(ports.blobs.clone());
        World::over(config, ports, keys, None)
    }

    fn over(config: Config, ports: Ports, keys: KeyStore, embedded: Option<Store>) -> Result<World> {
        config.warn();
        let (tally, memory) = (Arc::new(Tally::default()), Memory::new(&config));
        let surroundings = Surroundings {
            clock: Arc::new(InterruptiblePauses(SystemClock::new())),
            seeds: Arc::new(SystemSeeds::new()),
            events: tally.clone(),
        };
        let fetch = Arc::new(InterruptibleCalls(fetcher(&config, &memory)?));
        let program = program(fetch, &config, ports, keys.clone(), surroundings, &memory)
            .with_desk(|desk| desk.looking_up(Arc::new(TxtRecords::new(config.name_server))));
        Ok(World { config, tally, memory, keys, program, embedded })
    }

    /// Returns this world for a process that serves the pages, so that hubs can announce updates.
    pub(crate) fn listening(self) -> World {
        World { program: self.program.with_crawler(Crawler::listening), ..self }
    }

    /// Returns the store on this machine; `None` for a stack.
    pub(crate) fn store(&self) -> Option<&Store> {
        self.embedded.as_ref()
    }

    /// Recovers from a crash before the first worker starts: makes in-flight jobs ready again, and breaks the leases of
    /// dead processes, at the cost of one pause.
    pub(crate) async fn recover(&self) -> Result<()> {
        let Some(store) = &self.embedded else { return Ok(()) };
        let now = self.clock.now();
        let jobs = store.recover(now).await?;
        let mut leased = Vec::new();
        // Skip expired leases, which are no sign of a crash: a poll without news never returns its lease.
        each_host(self.ports.hosts.as_ref(), |host, state| {
            leased.extend(state.lease.filter(|lease| lease.until > now).map(|_| host));
        })
        .await?;
        for host in &leased {
            self.crawler.politeness.break_lease(host).await?;
        }
        if jobs > 0 || !leased.is_empty() {
            tracing::info!(jobs, leases = leased.len(), "the last run was interrupted; its work is resumed");
        }
        Ok(())
    }
}

pub(crate) async fn each_source(world: &World, mut each: impl FnMut(&Source) -> Result<()>) -> Result<()> {
    let mut after: Option<SourceKey> = None;
    loop {
        let rows = world.ports.sources.list(after.as_ref(), LIST).await?;
        let Some(last) = rows.last() else { return Ok(()) };
        after = Some(last.key().clone());
        rows.iter().try_for_each(&mut each)?;
    }
}
