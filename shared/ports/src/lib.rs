//! The ports of the stages to the world: narrow traits in the domain's words, without a type of a database, a cloud SDK
//! or an HTTP library. `curlew-testkit` has a conformance suite for each.
//!
//! Every method that returns a [`PortError`] may fail in transport, or at an item that cannot be read; its comment
//! names the other errors.

mod all;
mod blobs;
mod clock;
mod cpu;
mod error;
mod events;
mod fetch;
mod ledger;
mod names;
mod pages;
mod queue;
mod range_cache;
mod sources;
pub mod stage;

pub use all::Ports;
pub use blobs::{Blob, Blobs, Seen, Tag};
pub use clock::{Clock, Seeds};
pub use cpu::{CpuError, CpuPool, CpuTask, InlinePool, LARGE_DOCUMENT, compute};
pub use error::{PortError, swapped};
pub use events::{Event, Events, SearchOutcome, WaitReason};
pub use fetch::{Call, CallKind, Fetch, FetchError, Post, Reply, ReplyHeaders};
pub use ledger::{
    HostLedger, Hosts, Marks, RobotsCopy, RobotsStore, SWAP_TRIES, Version, update_host, update_host_from,
};
pub use names::{Names, NoNames};
pub use pages::Pages;
pub use queue::{Dead, Delivery, Inbox, Queue, QueueCount, Receipt, Waiting};
pub use range_cache::RangeCache;
pub use sources::Sources;
