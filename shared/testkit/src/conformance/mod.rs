//! The contract of every port, as plain async functions with one behaviour each.
//!
//! The crate of an adapter runs them with [`crate::conformance!`], which generates one test for each behaviour. Each
//! test gets a fresh, empty store.

pub mod blobs;
pub mod cpu;
pub mod hosts;
mod macros;
pub mod marks;
pub mod pages;
pub mod queue;
pub mod queue_exact;
pub mod range_cache;
pub mod robots;
mod samples;
pub mod sources;

use std::any::Any;

/// The store under test, and a value with the same lifetime, such as a temporary folder.
pub struct Fresh<T> {
    /// The ports of an empty store.
    pub subject: T,
    _keep: Box<dyn Any + Send>,
}

impl<T> Fresh<T> {
    /// Wraps ports that need no other value.
    pub fn new(subject: T) -> Fresh<T> {
        Fresh::with(subject, ())
    }

    /// Wraps ports, and a value to keep until the test ends.
    pub fn with(subject: T, keep: impl Any + Send) -> Fresh<T> {
        Fresh { subject, _keep: Box::new(keep) }
    }
}
