//! The cold start: settings are read once, the way to AWS is opened once.

use crate::endpoints;
use crate::failure::Failure;
use curlew_aws::{Connection, Names, Store};
use curlew_ports::{Clock, Events, Seeds};
use curlew_rekognition::Rekognition;
use curlew_screen::image::ImageClassifier;
use curlew_stages::program::{Ports, Program};
use curlew_stages::stage::{StageError, with_causes};
use curlew_wiring::{Flags, ImageScreening, KeyStore, Memory, Settings, SystemClock, SystemSeeds, program};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::OnceCell;

/// The stack's name.
const STACK: &str = "CURLEW_STACK";
/// The data bucket's name.
const BUCKET: &str = "CURLEW_BUCKET";
/// The kill switch: `true` stops all crawling.
const PAUSED: &str = "CURLEW_PAUSED";
/// The function's memory in MB.
const MEMORY: &str = "AWS_LAMBDA_FUNCTION_MEMORY_SIZE";
/// The part of it that large bodies may take, in percent. What is made of them while they are read takes about as much again.
const BODIES_PERCENT: usize = 40;
/// The part of it that one sitemap may take, in percent: its text and what is read from it come besides.
const SITEMAP_PERCENT: usize = 10;
/// Set by every Lambda runtime, and by those that stand in for it.
const RUNTIME_API: &str = "AWS_LAMBDA_RUNTIME_API";

/// Makes a classifier of images that a service runs. A function of its own for those functions that judge pages, so that the
/// others are linked without the client of a service that they never call.
pub(crate) type ClassifierFactory = fn(&Connection) -> Option<Arc<dyn ImageClassifier>>;

/// For functions that judge no pages.
pub(crate) fn no_classifier(_: &Connection) -> Option<Arc<dyn ImageClassifier>> {
    None
}

/// Amazon Rekognition.
pub(crate) fn by_rekognition(connection: &Connection) -> Option<Arc<dyn ImageClassifier>> {
    Some(Arc::new(Rekognition::new(connection.config())))
}

/// State of a function from its start to its end.
pub(crate) struct Cold {
    pub(crate) settings: Settings,
    pub(crate) stack: String,
    pub(crate) store: Store,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) seeds: Arc<dyn Seeds>,
    /// Nothing is crawled until somebody changes the settings.
    pub(crate) paused: bool,
    memory: Memory,
    init: Duration,
    first: AtomicBool,
    /// Set once the stack's version is known to be one that this program reads.
    known_version: OnceCell<()>,
}

impl Cold {
    /// Reads the settings and opens the way to AWS; makes no request.
    ///
    /// # Errors
    /// One line that says which setting is wrong, and why.
    pub(crate) async fn start(
        began: Instant,
        environment: &[(String, String)],
        classifier: ClassifierFactory,
    ) -> Result<Cold, Failure> {
        let Read { mut settings, names, paused } = read(environment)?;
        settings.warn();
        let stack = names.stack.clone();
        let connection = Connection::from_environment().await;
        if settings.image == ImageScreening::Rekognition
            && let Some(eye) = classifier(&connection)
        {
            settings = settings.with_eye(eye);
        }
        let store = Store::new(&connection, names);
        let memory = Memory::new(&settings);
        Ok(Cold {
            settings,
            stack,
            store,
            clock: Arc::new(SystemClock::default()),
            seeds: Arc::new(SystemSeeds::default()),
            paused,
            memory,
            init: began.elapsed(),
            first: AtomicBool::new(true),
            known_version: OnceCell::new(),
        })
    }

    /// Checks the stack's version, once a process. For the functions that give out work: what a later program has written,
    /// this one must not go on with.
    ///
    /// # Errors
    /// That it is a later version, or the store's error.
    pub(crate) async fn check_version(&self) -> Result<(), Failure> {
        let check = async || self.store.check_version().await.map_err(StageError::from);
        self.known_version.get_or_try_init(check).await?;
        Ok(())
    }

    /// True if this process should end, so that Lambda starts another one: see [`Memory::is_worn_out`].
    pub(crate) fn is_worn_out(&self) -> bool {
        self.memory.is_worn_out()
    }

    /// The stages for one invocation. The HTTP client is a new one: the connections of the last may be dead after a thaw.
    ///
    /// # Errors
    /// If the HTTP client cannot be set up.
    pub(crate) fn program(&self, events: Arc<dyn Events>) -> Result<Program, Failure> {
        let (store, jobs) = (&self.store, self.store.jobs());
        let ports = Ports {
            ledger: store.hosts(),
            hosts: store.hosts(),
            robots: store.robots(),
            marks: store.marks(),
            pages: store.pages(),
            sources: store.sources(),
            queue: jobs.clone(),
            inbox: jobs,
            blobs: store.objects(),
        };
        let keys = KeyStore::Objects(store.objects());
        program(&self.settings, ports, keys, self.clock.clone(), self.seeds.clone(), events, &self.memory)
            .map_err(|e| Failure::Settings(format!("the HTTP client cannot be set up: {}", with_causes(&e))))
    }

    /// Returns the duration of the start, to the first invocation only.
    pub(crate) fn init(&self) -> Option<Duration> {
        self.first.swap(false, Ordering::Relaxed).then_some(self.init)
    }
}

struct Read {
    settings: Settings,
    names: Names,
    paused: bool,
}

fn read(environment: &[(String, String)]) -> Result<Read, Failure> {
    let value = |name: &str| environment.iter().find(|(key, _)| key == name).map(|(_, value)| value.trim());
    let required = |name: &str, what: &str| {
        let found = value(name).filter(|value| !value.is_empty()).map(str::to_owned);
        found.ok_or_else(|| Failure::Settings(format!("{name} is not set: it names {what}")))
    };
    required(RUNTIME_API, "the API of Lambda's runtime; this program runs in Lambda, or locally by `cargo lambda`")?;
    let names = Names { stack: required(STACK, "the stack")?, bucket: required(BUCKET, "the stack's data bucket")? };
    let paused = match value(PAUSED) {
        None | Some("" | "false") => false,
        Some("true") => true,
        // A switch that is not understood must not be one that does nothing.
        Some(other) => return Err(Failure::Settings(format!("{PAUSED} must be 'true' or 'false', not '{other}'"))),
    };
    let mut settings = Settings::load(&Flags::default(), environment.iter().cloned())
        .map_err(|e| Failure::Settings(with_causes(&e)))?;
    if matches!(settings.image, ImageScreening::Onnx(_)) {
        return Err(Failure::Settings(
            "[screen]: image = \"onnx\" is for one machine; use \"rekognition\" here".to_owned(),
        ));
    }
    if let Some(memory) = value(MEMORY).and_then(|megabytes| megabytes.parse::<usize>().ok()) {
        let percent = memory.saturating_mul(1 << 20) / 100;
        settings.limits.bodies_bytes.get_or_insert(percent * BODIES_PERCENT);
        settings.limits.sitemap_bytes.get_or_insert(percent * SITEMAP_PERCENT);
    }
    settings.guard.refused_endpoints.extend(endpoints::refused(environment));
    Ok(Read { settings, names, paused })
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
        let set = [("CURLEW_WORKERS", "7"), (PAUSED, "true"), (MEMORY, "256")];
        let read = read(&environment(&set)).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(read.settings.limits.bodies_bytes.map(|bytes| bytes >> 20), Some(102));
        assert_eq!(read.settings.limits.sitemap_bytes.map(|bytes| bytes >> 20), Some(25));
        assert_eq!((read.settings.workers, read.paused, read.names.stack.as_str()), (7, true, "curlew"));
        assert!(read.settings.guard.refused_endpoints.iter().any(|e| e.to_string() == "127.0.0.1:9001"));
    }

    #[test]
    fn a_wrong_setting_is_one_clear_line() {
        for (name, value, says) in [
            (STACK, "", "CURLEW_STACK is not set"),
            (BUCKET, " ", "CURLEW_BUCKET is not set"),
            (RUNTIME_API, "", "cargo lambda"),
            ("CURLEW_SCREEN_IMAGE", "onnx", "needs model"),
            (PAUSED, "yes", "'true' or 'false', not 'yes'"),
            ("CURLEW_WORKERS", "0", "workers must be"),
            ("CURLEW_RULES_MIN_PAUSE", "fast", "no length of time"),
        ] {
            let failure = read(&environment(&[(name, value)])).err().unwrap_or_else(|| panic!("{name} was taken"));
            let text = failure.to_string();
            assert!(matches!(failure, Failure::Settings(_)) && text.contains(says) && !text.contains('\n'), "{text}");
        }
    }
}
