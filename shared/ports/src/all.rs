//! All ports of one store.

use crate::{Blobs, HostLedger, Hosts, Inbox, Marks, Pages, Queue, RobotsStore, Sources};
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
    /// True if each reading, write and message is paid for: polls go as one message, and rows are read less often.
    pub is_billed: bool,
}
