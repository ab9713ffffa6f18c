//! Counts the parsing steps for a document, so that tests can check how they grow.

use std::cell::Cell;

/// Number of steps that all parsers took on one document: bytes examined and names compared.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Work(Cell<u64>);

impl Work {
    pub(crate) fn add(&self, steps: usize) {
        self.0.set(self.0.get().saturating_add(steps as u64));
    }

    pub(crate) fn steps(&self) -> u64 {
        self.0.get()
    }
}
