//! Counts the work on a document, so that a test can see how it grows with the document.

use std::cell::Cell;

/// Steps taken on one document by all that read it: a step is a byte looked at or a name compared.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Work(Cell<u64>);

impl Work {
    /// Counts further steps.
    pub(crate) fn add(&self, steps: usize) {
        self.0.set(self.0.get().saturating_add(steps as u64));
    }

    /// Steps so far.
    pub(crate) fn steps(&self) -> u64 {
        self.0.get()
    }
}
