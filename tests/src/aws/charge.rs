//! What of a call is billed.

use super::unit::Unit;
use serde_json::Value;

/// What of a call is billed.
#[derive(Clone, Debug, PartialEq)]
pub struct Charge {
    /// The table, the queue, or the first folder of the object's key.
    pub target: String,
    /// In what it is counted.
    pub unit: Unit,
    /// How much, by our own reading of request and answer.
    pub ours: f64,
    /// How much, by what the endpoint said.
    pub theirs: Option<f64>,
    /// True if request and answer show all that our reading needs.
    pub exact: bool,
}

impl Charge {
    /// What is billed: the larger figure, so that neither a size that the answer does not show nor an endpoint that
    /// counts too little makes the bill smaller.
    pub fn units(&self) -> f64 {
        self.theirs.map_or(self.ours, |theirs| theirs.max(self.ours))
    }
}

/// A JSON text, or null where it is none.
pub(crate) fn json(body: &[u8]) -> Value {
    serde_json::from_slice(body).unwrap_or(Value::Null)
}
