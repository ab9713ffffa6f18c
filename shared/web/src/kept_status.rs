//! Cache of the system status: anybody may request the status at any time, and gathering it may take seconds.

use crate::app::held;
use crate::services::StatusSource;
use crate::system_status::SystemStatus;
use curlew_model::Millis;
use curlew_ports::Clock;
use curlew_ports::stage::StageError;
use std::sync::{Arc, Mutex};

/// Time for which a status is reused.
const KEPT: Millis = Millis::from_mins(1);
/// Maximum time that a visitor waits for a new status if one younger than [`EARLIER`] is cached.
const PATIENCE: Millis = Millis::from_secs(2);
const EARLIER: Millis = Millis::from_hours(1);

pub(crate) struct KeptStatus {
    source: Arc<dyn StatusSource>,
    clock: Arc<dyn Clock>,
    /// The last status, and the monotonic time at which it was gathered.
    last: Mutex<Option<(Millis, Arc<SystemStatus>)>>,
    /// Held by the task that gathers the next status.
    gathering: tokio::sync::Mutex<()>,
}

impl KeptStatus {
    pub(crate) fn new(source: Arc<dyn StatusSource>, clock: Arc<dyn Clock>) -> Arc<KeptStatus> {
        Arc::new(KeptStatus { source, clock, last: Mutex::default(), gathering: tokio::sync::Mutex::default() })
    }

    /// Returns a status less than a minute old, or up to an hour old if gathering takes longer than [`PATIENCE`].
    pub(crate) async fn get(self: &Arc<Self>) -> Result<Arc<SystemStatus>, StageError> {
        if let Some(status) = self.within(KEPT) {
            return Ok(status);
        }
        let asked = self.clone();
        // A separate task, which continues after the visitor disconnects and fills the cache for the next one.
        let gathered = tokio::spawn(async move { asked.gather().await });
        let gathered = async { gathered.await.unwrap_or_else(|error| Err(StageError::Job(error.to_string()))) };
        let Some(earlier) = self.within(EARLIER) else { return gathered.await };
        tokio::select! {
            status = gathered => status,
            () = self.clock.sleep(PATIENCE) => Ok(earlier),
        }
    }

    async fn gather(&self) -> Result<Arc<SystemStatus>, StageError> {
        let _one_at_a_time = self.gathering.lock().await;
        if let Some(status) = self.within(KEPT) {
            return Ok(status);
        }
        let status = Arc::new(self.source.status().await?);
        let kept = Some((self.clock.monotonic(), status.clone()));
        *held(&self.last) = kept;
        Ok(status)
    }

    /// Returns the last status if it is younger than `age`.
    fn within(&self, age: Millis) -> Option<Arc<SystemStatus>> {
        let last = held(&self.last);
        let is_new = |at: Millis| self.clock.monotonic().saturating_sub(at) < age;
        last.as_ref().filter(|(at, _)| is_new(*at)).map(|(_, status)| status.clone())
    }
}
