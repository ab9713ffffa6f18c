//! Charges: the billed part of a call.

use super::unit::Unit;
use serde_json::Value;

/// The billed part of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Charge {
    /// The table, the queue, or the first folder of the object's key.
    pub target: String,
    /// The unit in which it is counted.
    pub unit: Unit,
    /// Number of units by our own reading of request and answer.
    pub ours: f64,
    /// Number of units that the endpoint reports.
    pub theirs: Option<f64>,
    /// True if request and answer show everything that our own reading needs.
    pub exact: bool,
}

impl Charge {
    /// Returns the billed number of units: the larger figure. So the bill becomes no smaller if the answer does not
    /// show a size, or if the endpoint counts too little.
    pub fn units(&self) -> f64 {
        self.theirs.map_or(self.ours, |theirs| theirs.max(self.ours))
    }
}

/// Parses a JSON text; returns null if the text is not JSON.
pub(crate) fn json(body: &[u8]) -> Value {
    serde_json::from_slice(body).unwrap_or(Value::Null)
}
