//! Assembly of the program from ports, settings and the HTTP adapter.

use crate::contact::ContactFirst;
use crate::keys::KeyStore;
use crate::program::Program;
use crate::settings::Settings;
use crate::threads::{CpuThreads, PARSE_TIME};
use curlew_crawl::pages::image::DECODED_BYTES;
use curlew_crawl::politeness::access::{OutageWatch, Politeness};
use curlew_crawl::politeness::robots_cache::KnownRobots;
use curlew_crawl::politeness::signing::{KnownKeys, Signer};
use curlew_fetcher::{ConfigError, HttpFetcher};
use curlew_model::Millis;
use curlew_ports::{Clock, CpuPool, Events, Fetch, InlinePool, Ports, Seeds};
use std::sync::Arc;

/// State of a process that outlives a program, so that the invocations of a function share it.
#[derive(Clone)]
pub struct Memory {
    outage: Arc<OutageWatch>,
    known: Arc<KnownRobots>,
    keys: Arc<KnownKeys>,
    /// `None` if tasks run on the caller's thread.
    threads: Option<Arc<CpuThreads>>,
}

impl Memory {
    /// Returns the state of a new process, with its threads for CPU-bound tasks.
    pub fn new(settings: &Settings) -> Memory {
        let threads = Arc::new(CpuThreads::new(settings.limits.parse_time.unwrap_or(PARSE_TIME)));
        Memory { threads: Some(threads), ..Memory::without_threads() }
    }

    /// Returns the state of a new process that runs CPU-bound tasks on the caller's thread.
    pub fn without_threads() -> Memory {
        Memory { outage: Arc::default(), known: Arc::default(), keys: Arc::default(), threads: None }
    }

    fn pool(&self) -> Arc<dyn CpuPool> {
        if let Some(threads) = &self.threads { threads.clone() } else { Arc::new(InlinePool) }
    }

    /// True if so many abandoned tasks are still running that the process should be restarted.
    pub fn is_worn_out(&self) -> bool {
        self.threads.as_ref().is_some_and(|threads| threads.is_worn_out())
    }
}

/// Ports that a driver supplies in addition to its store.
pub struct Surroundings {
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Seeds of random choices.
    pub seeds: Arc<dyn Seeds>,
    /// Receiver of events.
    pub events: Arc<dyn Events>,
}

/// Returns the program over these ports; `fetch` makes the calls to sites (see [`fetcher`]).
pub fn program(
    fetch: Arc<dyn Fetch>,
    settings: &Settings,
    ports: Ports,
    keys: KeyStore,
    Surroundings { clock, seeds, events }: Surroundings,
    memory: &Memory,
) -> Program {
    let politeness = Arc::new(Politeness {
        events,
        rules: Arc::new(settings.rules.clone()),
        groups: Arc::new(settings.groups.clone()),
        outage: memory.outage.clone(),
        token: settings.token.clone(),
        scope: Arc::new(settings.scope.clone()),
        known: memory.known.clone(),
        pool: memory.pool(),
        decoded_bytes: settings.limits.decoded_bytes.unwrap_or(DECODED_BYTES),
        signer: signer(settings, keys, memory),
        ..Politeness::over(&ports, fetch, clock, seeds)
    });
    let mut program = Program::over(politeness, ports, settings.judge.clone());
    // Set even if raw pages are no longer stored: those stored earlier must still expire.
    program.library.raw.lifetime = Millis::from_days(settings.raw.days.into());
    program.library.index.portions_at_once = memory.threads.as_ref().map_or(0, |threads| threads.builders) + 1;
    program.desk.own.owners.scheme = settings.proof_scheme();
    program.with_crawler(|crawler| crawler.reached_at(settings.hub_base()))
}

/// Returns the signer of requests if signing is on and sites can reach the key directory.
fn signer(settings: &Settings, keys: KeyStore, memory: &Memory) -> Option<Arc<Signer>> {
    let (mode, agent) = (settings.signatures?, settings.signature_agent()?);
    Some(Arc::new(Signer { mode, agent, keys: Arc::new(keys), known: memory.keys.clone() }))
}

/// Returns the HTTP adapter for these settings; fails if the HTTP client cannot be created.
pub fn fetcher(settings: &Settings, memory: &Memory) -> Result<Arc<dyn Fetch>, ConfigError> {
    let mut config = curlew_fetcher::Config::new(settings.page_agent.clone(), settings.feed_agent.clone());
    config.guard = settings.guard.clone();
    config.call_timeout = settings.rules.call_time;
    let limits = &settings.limits;
    config.connect_timeout = limits.connect_timeout.unwrap_or(config.connect_timeout);
    config.read_timeout = limits.read_timeout.unwrap_or(config.read_timeout);
    config.bytes.page = limits.page_bytes.unwrap_or(config.bytes.page);
    config.bytes.feed = limits.feed_bytes.unwrap_or(config.bytes.feed);
    config.bytes.sitemap = limits.sitemap_bytes.unwrap_or(config.bytes.sitemap);
    config.bytes.image = limits.image_bytes.unwrap_or(config.bytes.image);
    config.keep_heads = settings.raw.keep;
    config.bodies_bytes = limits.bodies_bytes.unwrap_or(config.bodies_bytes);
    let http = HttpFetcher::new(config)?.decoding_in(memory.pool());
    if settings.contact.is_some() {
        return Ok(Arc::new(http));
    }
    Ok(Arc::new(ContactFirst { inner: http, guard: settings.guard.clone() }))
}
