//! The program over the store of this run: the folder of this machine, or a stack on AWS.

use crate::interruption::{InterruptibleCalls, InterruptiblePauses};
use anyhow::Result;
use curlew_app::program::Program;
use curlew_app::{
    KeyStore, Memory, STACK_SETTINGS, Settings as Config, Surroundings, SystemClock, SystemSeeds, Tally, fetcher,
    program,
};
use curlew_crawl::crawler::Crawler;
use curlew_embedded::{Access, Store};
use curlew_fetcher::TxtRecords;
use curlew_model::{HostKey, HostState, Source, SourceKey};
use curlew_ports::Ports;
use curlew_ports::{Blobs, Clock, PortError, Seeds, Tag};
use std::ops::Deref;
use std::sync::Arc;

/// Number of rows read at a time.
pub(crate) const LIST: usize = 500;

/// Everything that a command may need: the program, and what the command line adds to it.
pub(crate) struct World {
    pub(crate) config: Config,
    pub(crate) tally: Arc<Tally>,
    pub(crate) memory: Memory,
    pub(crate) keys: KeyStore,
    program: Program,
    /// The store of this machine, unless the run works on a stack.
    embedded: Option<Store>,
}

/// Returns the settings that a stack states, as the text of a file, with the version of the object; none are an empty
/// text.
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
    /// Opens the store of this machine and builds the stages over it.
    pub(crate) fn open(config: Config, access: Access) -> Result<World> {
        let store = Store::open(&config.data, access)?;
        let (hosts, jobs) = (store.hosts(), store.jobs());
        let ports = Ports {
            ledger: hosts.clone(),
            hosts,
            robots: store.robots(),
            marks: store.marks(),
            pages: store.pages(),
            sources: store.sources(),
            queue: jobs.clone(),
            inbox: jobs,
            blobs: store.objects(),
            is_billed: false,
        };
        let keys = KeyStore::in_folder(&config.data);
        World::over(config, ports, keys, Some(store))
    }

    /// Connects to the stack of this name, with the credentials and the region of the environment.
    pub(crate) async fn of_stack(mut config: Config, name: &str) -> Result<World> {
        let ports = crate::optional::stack(name).await?;
        if !config.have_file() {
            config = config.over_text(STACK_SETTINGS, &stack_settings(ports.blobs.as_ref()).await?.0)?;
        }
        World::of_ports(config, ports)
    }

    /// Builds the stages over the ports of a stack.
    pub(crate) fn of_ports(mut config: Config, ports: Ports) -> Result<World> {
        // This machine calls no site: the functions do, and they have a contact of their own.
        config.contact.get_or_insert_with(|| "https://curlew.invalid/".to_owned());
        let keys = KeyStore::Objects(ports.blobs.clone());
        World::over(config, ports, keys, None)
    }

    fn over(config: Config, ports: Ports, keys: KeyStore, embedded: Option<Store>) -> Result<World> {
        let clock: Arc<dyn Clock> = Arc::new(InterruptiblePauses(SystemClock::new()));
        let seeds: Arc<dyn Seeds> = Arc::new(SystemSeeds::new());
        let tally = Arc::new(Tally::default());
        config.warn();
        let memory = Memory::new(&config);
        let fetch = Arc::new(InterruptibleCalls(fetcher(&config, &memory)?));
        let surroundings = Surroundings { clock, seeds, events: tally.clone() };
        let program = program(fetch, &config, ports, keys.clone(), surroundings, &memory)
            .with_desk(|desk| desk.looking_up(Arc::new(TxtRecords::new(config.name_server))));
        Ok(World { config, tally, memory, keys, program, embedded })
    }

    /// Returns the same world while the pages are served, so that hubs can announce updates.
    pub(crate) fn listening(self) -> World {
        World { program: self.program.with_crawler(Crawler::listening), ..self }
    }

    /// Returns the store of this machine, unless the run works on a stack.
    pub(crate) fn store(&self) -> Option<&Store> {
        self.embedded.as_ref()
    }

    /// Recovers from a crash, before the first worker starts: jobs that were handed out become ready again, and leases
    /// of dead holders are broken, each at the cost of one pause. The store's lock guarantees that there is no other
    /// process.
    pub(crate) async fn recover(&self) -> Result<()> {
        let Some(store) = &self.embedded else { return Ok(()) };
        let jobs = store.recover(self.clock.now()).await?;
        let mut broken = 0;
        let mut after: Option<HostKey> = None;
        loop {
            let hosts = self.ports.hosts.list(after.as_ref(), LIST).await?;
            let Some((last, _)) = hosts.last() else { break };
            after = Some(last.clone());
            // A lease that has expired no longer belonged to the dead process; that of a poll without news is never
            // given back.
            let now = self.clock.now();
            let in_force = |state: &HostState| state.lease.as_ref().is_some_and(|lease| lease.until > now);
            for (host, _) in hosts.iter().filter(|(_, state)| in_force(state)) {
                self.crawler.politeness.break_lease(host).await?;
                broken += 1;
            }
        }
        if jobs > 0 || broken > 0 {
            tracing::info!(jobs, leases = broken, "the last run was interrupted; its work is taken up again");
        }
        Ok(())
    }
}

/// Visits all rows of feeds, sites and back catalogues, one after another.
pub(crate) async fn each_source(world: &World, mut each: impl FnMut(&Source) -> Result<()>) -> Result<()> {
    let mut after: Option<SourceKey> = None;
    loop {
        let rows = world.ports.sources.list(after.as_ref(), LIST).await?;
        let Some(last) = rows.last() else { return Ok(()) };
        after = Some(last.key().clone());
        rows.iter().try_for_each(&mut each)?;
    }
}
