//! The smoke test of a deployed function: an event that it answers without doing any work.

use crate::failure::Failure;
use crate::in_force::InForce;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The event `{"smoke": true}`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SmokeEvent {
    smoke: bool,
}

/// Response to the smoke test: the function has started, and read the settings in force.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Smoke {
    function: &'static str,
    /// Version of the program.
    version: &'static str,
    /// True if the function uses the last valid settings because the stack's file is invalid.
    settings_rejected: bool,
    paused: bool,
    /// True if the function names a contact to sites.
    has_contact: bool,
}

impl Smoke {
    pub(crate) fn new(function: &'static str, in_force: &InForce) -> Smoke {
        Smoke {
            function,
            version: env!("CARGO_PKG_VERSION"),
            settings_rejected: in_force.is_rejected,
            paused: in_force.settings.paused,
            has_contact: in_force.settings.contact.is_some(),
        }
    }
}

/// Response of an invocation.
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum Reply<R> {
    Smoke(Smoke),
    Work(R),
}

/// True if an event requests a smoke test; fails if the request has an unknown form.
pub(crate) fn is_asked(payload: &Value) -> Result<bool, Failure> {
    if payload.get("smoke").is_none() {
        return Ok(false);
    }
    let wrong = |e: serde_json::Error| Failure::Event(format!("the event is not understood: {e}"));
    serde_json::from_value(payload.clone()).map(|SmokeEvent { smoke }| smoke).map_err(wrong)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;
    use serde_json::json;

    #[test]
    fn a_smoke_test_is_an_event_of_its_own() {
        assert!(is_asked(&json!({"smoke": true})).unwrap());
        for other in [json!({}), json!({"count": 3}), json!({"Records": []}), json!([1]), Value::Null] {
            assert!(!is_asked(&other).unwrap(), "{other}");
        }
        assert!(is_asked(&json!({"smoke": true, "count": 3})).is_err());
        assert!(is_asked(&json!({"smoke": "yes"})).is_err());
    }
}
