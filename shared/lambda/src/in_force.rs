//! The settings in force: a settings file in the stack's bucket, overridden by environment variables. The file is
//! read at the first invocation and then at most once a minute, so that a change needs no deployment.
//!
//! An invalid file changes nothing: the last valid settings stay in force in this process and, since dispatch stores a
//! copy of their text, in processes that start later. A stack whose file was never valid does no work at all, since the
//! file may forbid calls.

use crate::failure::Failure;
use curlew_app::{BadSettings, STACK_SETTINGS, Settings};
use curlew_fetcher::Endpoint;
use curlew_model::Millis;
use curlew_ports::stage::{StageError, with_causes};
use curlew_ports::{Blobs, Clock};
use std::sync::Arc;
use tokio::sync::Mutex;

/// Key of the copy of the last valid file.
const ACCEPTED: &str = "config/accepted.toml";
const MAX_TEXT: usize = 1 << 20;
/// Interval at which the settings file is read.
const READ_EVERY: Millis = Millis::from_mins(1);
/// Share of a function's memory for large bodies, in percent. Data derived from the bodies, and growing buffers, take
/// up to three times as much.
const BODIES_PERCENT: usize = 20;
/// Share of a function's memory for one sitemap, in percent; its text and the parsed data need more.
const SITEMAP_PERCENT: usize = 10;
/// Share of a function's memory for decoding an image, in percent. The encoded image is one of the bodies.
const DECODED_PERCENT: usize = 44;

/// The settings of one invocation.
pub(crate) struct InForce {
    pub(crate) settings: Settings,
    /// True if the stack's settings file is invalid, so that older settings are in force.
    pub(crate) is_rejected: bool,
    /// Text of the stack's settings file.
    text: String,
}

impl InForce {
    /// Returns a copy with other settings.
    pub(crate) fn with_settings(&self, settings: Settings) -> InForce {
        InForce { settings, is_rejected: self.is_rejected, text: self.text.clone() }
    }

    #[cfg(test)]
    pub(crate) fn for_test(settings: Settings) -> InForce {
        InForce { settings, is_rejected: false, text: String::new() }
    }
}

/// Properties of this function that affect its settings.
#[derive(Default)]
pub(crate) struct Machine {
    /// Memory of the function in bytes, if known.
    pub(crate) memory: Option<usize>,
    /// Local services of the runtime, which are never called.
    pub(crate) refused: Vec<Endpoint>,
}

impl Machine {
    /// Returns the settings adapted to this function; fails if one of them is none that a function can support.
    pub(crate) fn fit(&self, mut settings: Settings) -> Result<Settings, BadSettings> {
        settings.check_for_stack()?;
        if let Some(percent) = self.memory.map(|bytes| bytes / 100) {
            settings.limits.bodies_bytes.get_or_insert(percent * BODIES_PERCENT);
            settings.limits.sitemap_bytes.get_or_insert(percent * SITEMAP_PERCENT);
            settings.limits.decoded_bytes.get_or_insert((percent * DECODED_PERCENT) as u64);
        }
        settings.guard.refused_endpoints.extend(self.refused.iter().cloned());
        Ok(settings)
    }
}

pub(crate) struct StackSettings {
    pub(crate) blobs: Arc<dyn Blobs>,
    pub(crate) clock: Arc<dyn Clock>,
    /// Settings of the environment.
    pub(crate) base: Settings,
    pub(crate) machine: Machine,
    /// The settings read last, and the monotonic time of reading.
    pub(crate) last: Mutex<Option<(Millis, Arc<InForce>)>>,
    /// The text that dispatch has stored a copy of.
    pub(crate) kept: Mutex<Option<String>>,
}

impl StackSettings {
    /// Returns the settings in force; fails if there were never valid ones, or they cannot be read and none are known.
    pub(crate) async fn current(&self) -> Result<Arc<InForce>, Failure> {
        let now = self.clock.monotonic();
        let mut last = self.last.lock().await;
        let known = match &*last {
            Some((read_at, known)) if now.saturating_sub(*read_at) < READ_EVERY => return Ok(known.clone()),
            known => known.as_ref().map(|(_, known)| known.clone()),
        };
        let stated = self.text(STACK_SETTINGS).await.map(Option::unwrap_or_default);
        let next = match (stated, known) {
            (Err(failure), None) => return Err(failure),
            (Err(failure), Some(known)) => {
                tracing::warn!(error = %failure, "the stack's settings could not be read; those known stay in force");
                known
            }
            (Ok(text), Some(known)) if text == known.text => known,
            (Ok(text), known) => Arc::new(self.read_or_keep(text, known).await?),
        };
        *last = Some((now, next.clone()));
        Ok(next)
    }

    /// Stores a copy of a valid settings file. Only dispatch has permission to write it.
    pub(crate) async fn keep(&self, in_force: &InForce) -> Result<(), Failure> {
        let mut kept = self.kept.lock().await;
        if in_force.is_rejected || kept.as_ref() == Some(&in_force.text) {
            return Ok(());
        }
        let put = self.blobs.put(ACCEPTED, in_force.text.clone().into_bytes().into()).await;
        put.map_err(StageError::from)?;
        *kept = Some(in_force.text.clone());
        Ok(())
    }

    /// Returns the settings of a new text; if it is invalid, the known settings, or else those of the stored copy.
    async fn read_or_keep(&self, text: String, known: Option<Arc<InForce>>) -> Result<InForce, Failure> {
        let why = match self.read(&text) {
            Ok(settings) => {
                settings.warn();
                tracing::info!(bytes = text.len(), "the stack's settings were read");
                return Ok(InForce { settings, is_rejected: false, text });
            }
            Err(why) => why,
        };
        let good = match known {
            Some(known) => Some(known.settings.clone()),
            None => self.text(ACCEPTED).await?.and_then(|accepted| self.read(&accepted).ok()),
        };
        let said = format!("the stack's settings cannot be used: {}", with_causes(&why));
        let Some(settings) = good else { return Err(Failure::Settings(said)) };
        tracing::error!(error = said, "the last good settings stay in force");
        Ok(InForce { settings, is_rejected: true, text })
    }

    fn read(&self, text: &str) -> Result<Settings, BadSettings> {
        if text.len() > MAX_TEXT {
            return Err(BadSettings(format!("{STACK_SETTINGS} has more than {MAX_TEXT} bytes")));
        }
        self.machine.fit(self.base.over_text(STACK_SETTINGS, text)?)
    }

    /// Returns the text of an object; `None` if there is no object.
    async fn text(&self, key: &str) -> Result<Option<String>, Failure> {
        let blob = self.blobs.get(key).await.map_err(StageError::from)?;
        // Replacement characters for invalid UTF-8 make the text an invalid settings file.
        let text = |bytes: &[u8]| String::from_utf8_lossy(&bytes[..bytes.len().min(MAX_TEXT + 1)]).into_owned();
        Ok(blob.map(|blob| text(&blob.bytes)))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]
    use super::*;
    use curlew_app::Flags;
    use curlew_model::Timestamp;
    use curlew_testkit::memory::{MemoryBlobs, TokioClock};

    /// Memory of a function before it reads anything, in bytes.
    const PROGRAM: u64 = 45 << 20;

    #[test]
    fn b13_bodies_and_the_decoder_of_images_fit_into_the_smallest_function() {
        let template = std::fs::read_to_string("../../infra/template.yaml").unwrap();
        let sizes = template.lines().filter_map(|line| line.trim().strip_prefix("MemorySize: ")?.parse::<usize>().ok());
        let smallest = sizes.min().unwrap();
        let machine = Machine { memory: Some(smallest << 20), ..Machine::default() };
        let environment = [("CURLEW_CONTACT".to_owned(), "a@b.example".to_owned())];
        let limits = machine.fit(Settings::load(&Flags::default(), environment.into_iter()).unwrap()).unwrap().limits;
        let together = PROGRAM + limits.decoded_bytes.unwrap() + limits.bodies_bytes.unwrap() as u64;
        assert!(together <= (smallest as u64) << 20, "{together} bytes in a function of {smallest} MB");
    }

    /// Returns the settings of a function with this bucket and CURLEW_WORKERS=7 in its environment.
    fn function(blobs: &Arc<MemoryBlobs>) -> StackSettings {
        let environment = [("CURLEW_WORKERS", "7"), ("CURLEW_CONTACT", "a@b.example")];
        let environment = environment.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned()));
        StackSettings {
            blobs: blobs.clone(),
            clock: Arc::new(TokioClock::starting_at(Timestamp::EPOCH)),
            base: Settings::load(&Flags::default(), environment.into_iter()).unwrap(),
            machine: Machine { memory: Some(256 << 20), ..Machine::default() },
            last: Mutex::default(),
            kept: Mutex::default(),
        }
    }

    async fn state(blobs: &Arc<MemoryBlobs>, text: &str) {
        blobs.put(STACK_SETTINGS, text.to_owned().into_bytes().into()).await.unwrap();
    }

    async fn title(function: &StackSettings) -> Option<String> {
        function.current().await.unwrap_or_else(|e| panic!("{e}")).settings.web.title.clone()
    }

    #[tokio::test(start_paused = true)]
    async fn a_change_is_in_force_a_minute_later_and_the_environment_decides_first() {
        let blobs = Arc::new(MemoryBlobs::default());
        let function = function(&blobs);
        assert_eq!(title(&function).await, None, "a stack without an object has the usual settings");
        state(&blobs, "workers = 9\npaused = true\n[web]\ntitle = \"Notes\"\n").await;
        function.clock.sleep(Millis::from_secs(59)).await;
        assert_eq!(title(&function).await, None, "it is read once a minute");
        function.clock.sleep(Millis::from_secs(1)).await;
        assert_eq!(title(&function).await.as_deref(), Some("Notes"));
        let now = function.current().await.unwrap_or_else(|e| panic!("{e}"));
        assert!(now.settings.paused && !now.is_rejected);
        assert_eq!(now.settings.workers, 7);
        assert_eq!(now.settings.limits.bodies_bytes.map(|bytes| bytes >> 20), Some(51));
        assert_eq!(now.settings.limits.sitemap_bytes.map(|bytes| bytes >> 20), Some(25));
        blobs.delete(STACK_SETTINGS).await.unwrap();
        function.clock.sleep(READ_EVERY).await;
        assert_eq!(title(&function).await, None);
    }

    #[tokio::test(start_paused = true)]
    async fn a_text_that_cannot_be_used_leaves_the_last_good_one_also_in_processes_that_start_later() {
        let blobs = Arc::new(MemoryBlobs::default());
        let dispatch = function(&blobs);
        state(&blobs, "[web]\ntitle = \"Notes\"\n").await;
        dispatch.keep(&dispatch.current().await.unwrap_or_else(|e| panic!("{e}"))).await.unwrap();
        let long = format!("# {}\n", "x".repeat(MAX_TEXT));
        for bad in [long.as_str(), "[web\n", "titel = 1\n", "[rules]\nmin_pause = 2\n", "data = \"/tmp\"\n", "\u{fffd}"]
        {
            state(&blobs, bad).await;
            dispatch.clock.sleep(READ_EVERY).await;
            let later = function(&blobs);
            for function in [&dispatch, &later] {
                let now = function.current().await.unwrap_or_else(|e| panic!("{e}"));
                assert!(now.is_rejected, "{bad}");
                assert_eq!(now.settings.web.title.as_deref(), Some("Notes"), "{bad}");
                function.keep(&now).await.unwrap();
            }
        }
        state(&blobs, "[web]\ntitle = \"Mended\"\n").await;
        dispatch.clock.sleep(READ_EVERY).await;
        assert_eq!(title(&dispatch).await.as_deref(), Some("Mended"));
    }

    #[tokio::test(start_paused = true)]
    async fn a_stack_that_was_wrong_from_the_beginning_does_nothing_and_says_where_the_fault_is() {
        let blobs = Arc::new(MemoryBlobs::default());
        state(&blobs, "workers = 9\n[rules]\nmin_puase = \"2s\"\n").await;
        let Err(Failure::Settings(why)) = function(&blobs).current().await else { panic!("it was taken") };
        assert!(why.contains("config/curlew.toml, line 3") && why.contains("did you mean `min_pause`?"), "{why}");
    }
}
