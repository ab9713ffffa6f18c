//! Domain types: plain data, serialized with serde. No I/O, no clock, no decisions.

mod backfill;
mod failure;
mod fault;
mod fingerprint;
mod hex;
mod host;
mod ids;
mod job;
mod ownership;
mod packed;
mod page;
mod polling;
mod query;
mod record;
mod signature;
mod source;
mod thumbnail;
mod time;
mod words;

pub use backfill::*;
pub use failure::*;
pub use fault::*;
pub use fingerprint::*;
pub use hex::{hex, unhex};
pub use host::*;
pub use ids::*;
pub use job::*;
pub use ownership::*;
pub use page::*;
pub use polling::*;
pub use query::*;
pub use record::*;
pub use signature::*;
pub use source::*;
pub use thumbnail::*;
pub use time::*;
