//! Tests of feeds of all kinds, valid and broken.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod deleted;
mod documents;
mod elements;
mod faults;
mod hostile;
mod linear;
mod paging;
mod properties;
mod recovery;
mod snapshots;
