//! The ports of the stages to the outside world: narrow traits in terms of the domain, without types of databases,
//! cloud SDKs or HTTP libraries. `curlew-testkit` has a conformance suite for each.
//!
//! Every method that returns a [`PortError`] may fail because of the transport or an unreadable item; its comment names
//! only other errors.

mod blobs;
mod clock;
mod cpu;
mod error;
mod events;
mod fetch;
mod ledger;
mod names;
mod queue;
mod range_cache;
mod rows;
pub mod stage;

pub use blobs::*;
pub use clock::*;
pub use cpu::*;
pub use error::*;
pub use events::*;
pub use fetch::*;
pub use ledger::*;
pub use names::*;
pub use queue::*;
pub use range_cache::*;
pub use rows::*;

use std::sync::Arc;

/// The ports that a store implements.
#[derive(Clone)]
pub struct Ports {
    /// The state of host keys, by compare-and-swap.
    pub ledger: Arc<dyn HostLedger>,
    /// States of hosts, for listing.
    pub hosts: Arc<dyn Hosts>,
    /// Copies of robots.txt.
    pub robots: Arc<dyn RobotsStore>,
    /// Named instants.
    pub marks: Arc<dyn Marks>,
    /// The rows of pages.
    pub pages: Arc<dyn Pages>,
    /// The rows of feeds and sites.
    pub sources: Arc<dyn Sources>,
    /// Sends jobs.
    pub queue: Arc<dyn Queue>,
    /// Receives jobs.
    pub inbox: Arc<dyn Inbox>,
    /// Objects.
    pub blobs: Arc<dyn Blobs>,
    /// True if each read, write and message is billed: polls are sent in one message, and rows are read less often.
    pub is_billed: bool,
}
