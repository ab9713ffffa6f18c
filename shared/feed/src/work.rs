//! Counts the work on a document, so that tests can check its growth.

use std::cell::Cell;

/// Steps taken on one document by all its readers: bytes examined and names compared.
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
