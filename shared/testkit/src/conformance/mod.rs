//! The contract of every port, as plain async functions: one behaviour each.
//!
//! A crate that holds an adapter runs all of them with [`crate::conformance!`], which makes one test for each
//! behaviour. Each test gets a fresh, empty store.

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

/// The store under test, and what has to live as long, such as a temporary folder.
pub struct Fresh<T> {
    /// The ports of an empty store.
    pub subject: T,
    _keep: Box<dyn Any + Send>,
}

impl<T> Fresh<T> {
    /// Ports that need nothing beside them.
    pub fn new(subject: T) -> Fresh<T> {
        Fresh::with(subject, ())
    }

    /// Ports, and what to keep until the test is over.
    pub fn with(subject: T, keep: impl Any + Send) -> Fresh<T> {
        Fresh { subject, _keep: Box::new(keep) }
    }
}
