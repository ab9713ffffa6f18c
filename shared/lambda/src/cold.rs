//! The cold start: reads the settings and creates the clients of AWS, once per process.

use crate::endpoints;
use crate::failure::Failure;
use crate::in_force::{Machine, StackSettings};
use crate::queue_watch::QueueWatch;
use crate::rehearsal::Outside;
use crate::resting::{RestPlan, Resting};
use crate::stack_version::VersionCheck;
use curlew_app::program::Program;
use curlew_app::{Counts, Flags, KeyStore, Memory, Settings, Surroundings, SystemClock, SystemSeeds, fetcher, program};
use curlew_aws::{Connection, Mappings, Names, Store};
use curlew_ports::stage::{StageError, with_causes};
use curlew_ports::{Clock, Events, Fetch, Seeds};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use tokio::sync::{Mutex, OnceCell};

const STACK: &str = "CURLEW_STACK";
const BUCKET: &str = "CURLEW_BUCKET";
/// The function's memory in MB.
const MEMORY: &str = "AWS_LAMBDA_FUNCTION_MEMORY_SIZE";
/// Set by every Lambda runtime and by its emulators.
const RUNTIME_API: &str = "AWS_LAMBDA_RUNTIME_API";

/// Number of consecutively rejected pages at which an operator should look.
const MANY_REJECTED: u64 = 200;

pub(crate) struct Cold {
    pub(crate) settings: StackSettings,
    pub(crate) stack: String,
    pub(crate) store: Store,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) seeds: Arc<dyn Seeds>,
    /// The event source mappings that dispatch may disable.
    rest_plan: RestPlan,
    /// Dispatch's state of the mappings. Other functions never create it, and are linked without Lambda's client.
    resting: OnceLock<Resting>,
    /// Dispatch's monitoring of the queues.
    pub(crate) queue_watch: QueueWatch,
    /// Number of pages that this process has rejected since it last accepted one.
    rejected_in_a_row: AtomicU64,
    pub(crate) connection: Connection,
    /// Makes calls to sites; `None` for a client on the real network.
    fetch: Option<Arc<dyn Fetch>>,
    pub(crate) memory: Memory,
    init: Duration,
    first: AtomicBool,
    /// Remembers whether a newer program has written the stack.
    version: VersionCheck,
    /// Set when the stack's version is known to be the one that this program writes.
    known_version: OnceCell<()>,
}

impl Cold {
    /// Reads the settings and creates the clients of AWS; makes no request. An error is one line with the invalid
    /// setting and the reason.
    pub(crate) async fn start(began: Instant, environment: &[(String, String)]) -> Result<Cold, Failure> {
        let read = read(environment)?;
        let connection = Connection::from_environment().await;
        let memory = Memory::new(&read.base);
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
        let seeds = Arc::new(SystemSeeds::new());
        Ok(Cold::assemble(read, &connection, clock, seeds, memory, began.elapsed()))
    }

    /// Starts a function with the given surroundings; see [`Cold::start`].
    pub(crate) fn over(outside: &Outside, environment: &[(String, String)]) -> Result<Cold, Failure> {
        let Outside { connection, clock, seeds, fetch } = outside;
        let (clock, seeds, memory) = (clock.clone(), seeds.clone(), Memory::without_threads());
        let cold = Cold::assemble(read(environment)?, connection, clock, seeds, memory, Duration::ZERO);
        Ok(Cold { fetch: Some(fetch.clone()), ..cold })
    }

    fn assemble(
        Read { base, names, machine, rest_plan }: Read,
        connection: &Connection,
        clock: Arc<dyn Clock>,
        seeds: Arc<dyn Seeds>,
        memory: Memory,
        init: Duration,
    ) -> Cold {
        let stack = names.stack.clone();
        let store = Store::new(connection, names);
        let settings = StackSettings {
            blobs: store.objects(),
            clock: clock.clone(),
            base,
            machine,
            last: Mutex::default(),
            kept: Mutex::default(),
        };
        Cold {
            settings,
            stack,
            store,
            clock,
            seeds,
            rest_plan,
            resting: OnceLock::new(),
            queue_watch: QueueWatch::default(),
            rejected_in_a_row: AtomicU64::new(0),
            connection: connection.clone(),
            fetch: None,
            memory,
            init,
            first: AtomicBool::new(true),
            version: VersionCheck::default(),
            known_version: OnceCell::new(),
        }
    }

    /// Returns the reason for refusing all work if a newer program has written the stack.
    pub(crate) async fn refusal(&self) -> Option<String> {
        // On the heap, because the future is large.
        let read = Box::pin(self.store.check_not_later());
        self.version.refusal(self.clock.monotonic(), read).await
    }

    /// Checks the stack's version once per process, and writes this program's version if the stack has none or an
    /// earlier one; fails if a newer program has written it. For the functions that create jobs, which have permission
    /// to write it.
    pub(crate) async fn check_version(&self) -> Result<(), Failure> {
        let check = async || self.store.check_version().await.map_err(StageError::from);
        self.known_version.get_or_try_init(check).await?;
        Ok(())
    }

    /// Returns this process's state of the mappings that may be disabled; the first call creates it.
    pub(crate) fn resting(&self) -> &Resting {
        self.resting.get_or_init(|| {
            let mappings = Mappings::new(&self.connection, &self.stack);
            Resting::new(self.rest_plan.clone(), mappings, self.clock.now())
        })
    }

    /// Adds the pages of an invocation. Returns the number of consecutive rejections whenever it has reached the limit
    /// for an alarm, and then restarts the count; else returns 0.
    pub(crate) fn rejected_in_a_row(&self, counts: &Counts) -> u64 {
        let before = self.rejected_in_a_row.load(Ordering::Relaxed);
        let now = if counts.accepted > 0 { 0 } else { before + counts.rejections() };
        let (kept, in_a_row) = if now < MANY_REJECTED { (now, 0) } else { (0, now) };
        self.rejected_in_a_row.store(kept, Ordering::Relaxed);
        in_a_row
    }

    /// Returns the program for one invocation with these settings. Its HTTP client is new, because older connections
    /// may be dead after Lambda has frozen the process. Fails if the HTTP client cannot be created.
    pub(crate) fn program(&self, settings: &Settings, events: Arc<dyn Events>) -> Result<Program, Failure> {
        let fetch = match &self.fetch {
            Some(fetch) => fetch.clone(),
            None => fetcher(settings, &self.memory)
                .map_err(|e| Failure::Settings(format!("the HTTP client cannot be set up: {}", with_causes(&e))))?,
        };
        let surroundings = Surroundings { clock: self.clock.clone(), seeds: self.seeds.clone(), events };
        let keys = KeyStore::Objects(self.store.objects());
        Ok(program(fetch, settings, self.store.ports(), keys, surroundings, &self.memory))
    }

    /// Returns the duration of the cold start, but only to the first invocation.
    pub(crate) fn init(&self) -> Option<Duration> {
        self.first.swap(false, Ordering::Relaxed).then_some(self.init)
    }
}

struct Read {
    base: Settings,
    names: Names,
    machine: Machine,
    rest_plan: RestPlan,
}

fn read(environment: &[(String, String)]) -> Result<Read, Failure> {
    let value = |name: &str| environment.iter().find(|(key, _)| key == name).map(|(_, value)| value.trim());
    let required = |name: &str, what: &str| {
        let found = value(name).filter(|value| !value.is_empty()).map(str::to_owned);
        found.ok_or_else(|| Failure::Settings(format!("{name} is not set: it names {what}")))
    };
    required(RUNTIME_API, "the API of Lambda's runtime; this program runs in Lambda, or locally by `cargo lambda`")?;
    let names = Names { stack: required(STACK, "the stack")?, bucket: required(BUCKET, "the stack's data bucket")? };
    let megabytes = value(MEMORY).and_then(|megabytes| megabytes.parse::<usize>().ok());
    let machine = Machine {
        memory: megabytes.map(|megabytes| megabytes.saturating_mul(1 << 20)),
        refused: endpoints::refused(environment),
    };
    let wrong = |e| Failure::Settings(with_causes(&e));
    let base = Settings::load(&Flags::default(), environment.iter().cloned()).map_err(wrong)?;
    base.check_for_stack().map_err(wrong)?;
    let rest_plan = RestPlan::read(|name| value(name).map(str::to_owned)).map_err(Failure::Settings)?;
    Ok(Read { base, names, machine, rest_plan })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]
    use super::*;

    const GOOD: [(&str, &str); 4] = [
        (RUNTIME_API, "127.0.0.1:9001"),
        (STACK, "curlew"),
        (BUCKET, "curlew-data"),
        ("CURLEW_CONTACT", "a@b.example"),
    ];

    fn environment(changes: &[(&str, &str)]) -> Vec<(String, String)> {
        let kept = GOOD.iter().filter(|(name, _)| changes.iter().all(|(changed, _)| changed != name));
        kept.chain(changes).map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn settings_come_from_the_environment() {
        let set = [("CURLEW_WORKERS", "7"), ("CURLEW_PAUSED", "true"), (MEMORY, "256")];
        let Read { base, names, machine, .. } = read(&environment(&set)).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!((base.workers, base.paused, names.stack.as_str()), (7, true, "curlew"));
        assert_eq!(machine.memory, Some(256 << 20));
        assert!(machine.refused.iter().any(|e| e.to_string() == "127.0.0.1:9001"));
    }

    #[test]
    fn a_wrong_setting_is_one_clear_line() {
        for (name, value, says) in [
            (STACK, "", "CURLEW_STACK is not set"),
            (BUCKET, " ", "CURLEW_BUCKET is not set"),
            (RUNTIME_API, "", "cargo lambda"),
            ("CURLEW_SCREEN_IMAGE", "onnx", "needs model"),
            // An invalid switch must be an error, not be ignored.
            ("CURLEW_PAUSED", "yes", "invalid type"),
            ("CURLEW_WORKERS", "0", "workers must be"),
            ("CURLEW_RULES_MIN_PAUSE", "fast", "no length of time"),
        ] {
            let failure = read(&environment(&[(name, value)])).err().unwrap_or_else(|| panic!("{name} was taken"));
            let text = failure.to_string();
            assert!(matches!(failure, Failure::Settings(_)) && text.contains(says) && !text.contains('\n'), "{text}");
        }
    }
}
