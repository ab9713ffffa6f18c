//! The event source mappings of a stack, which are on or off, and the two operations of Lambda's API with which
//! dispatch reads and switches them. Both are free of charge.

use super::access::lock;
use super::clock::now;
use curlew_model::Timestamp;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

/// Beginning of the path of a mapping; the mapping's id follows.
const PATH: &str = "/2015-03-31/event-source-mappings/";
/// Time that a mapping takes to switch on or off (Lambda's API reference: up to a minute).
const SWITCHING: Duration = Duration::from_secs(60);

/// All mappings, by their ids.
#[derive(Debug, Default)]
pub(super) struct MemoryMappings(Mutex<BTreeMap<String, Arc<MappingSwitch>>>);

/// The switch that decides whether a mapping polls its queue.
#[derive(Debug)]
pub(super) struct MappingSwitch {
    state: Mutex<SwitchState>,
    changed: Notify,
}

#[derive(Clone, Copy, Debug)]
struct SwitchState {
    is_on: bool,
    since: Instant,
    changed_at: Timestamp,
}

impl MemoryMappings {
    /// Returns the mapping with this id. A new mapping is on.
    pub(super) fn of(&self, id: &str) -> Arc<MappingSwitch> {
        let new = || {
            let state = SwitchState { is_on: true, since: Instant::now() - SWITCHING, changed_at: now() };
            Arc::new(MappingSwitch { state: Mutex::new(state), changed: Notify::new() })
        };
        Arc::clone(lock(&self.0).entry(id.to_owned()).or_insert_with(new))
    }

    /// Answers a request to Lambda's API: status and body.
    pub(super) fn call(&self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let id =
            path.strip_prefix(PATH).unwrap_or_else(|| panic!("the endpoint in memory does not know {method} {path}"));
        let Some(mapping) = lock(&self.0).get(id).map(Arc::clone) else {
            return (404, json!({"Type": "User", "Message": "The resource you requested does not exist."}));
        };
        if method == "PUT" {
            if mapping.is_changing() {
                return (400, json!({"Type": "User", "Message": "The mapping is being changed."}));
            }
            mapping.switch(body["Enabled"].as_bool().expect("only `Enabled` is ever changed"));
        }
        let state = *lock(&mapping.state);
        let name = match (state.is_on, mapping.is_changing()) {
            (true, false) => "Enabled",
            (true, true) => "Enabling",
            (false, false) => "Disabled",
            (false, true) => "Disabling",
        };
        let seconds = state.changed_at.as_millis() as f64 / 1e3;
        (200, json!({"UUID": id, "State": name, "LastModified": seconds}))
    }
}

impl MappingSwitch {
    /// Switches the mapping on or off, which takes [`SWITCHING`].
    pub(super) fn switch(&self, is_on: bool) {
        let mut state = lock(&self.state);
        if state.is_on != is_on {
            *state = SwitchState { is_on, since: Instant::now(), changed_at: now() };
            self.changed.notify_waiters();
        }
    }

    fn is_changing(&self) -> bool {
        lock(&self.state).since.elapsed() < SWITCHING
    }

    /// Waits until the mapping polls its queue.
    pub(super) async fn until_on(&self) {
        loop {
            let SwitchState { is_on, since, .. } = *lock(&self.state);
            match (is_on, since.elapsed() < SWITCHING) {
                (true, false) | (false, true) => return,
                (true, true) => sleep_until(since + SWITCHING).await,
                (false, false) => self.changed.notified().await,
            }
        }
    }
}
