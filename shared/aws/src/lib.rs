//! Adapters of the ports on DynamoDB, SQS and S3.
//!
//! A deployed Curlew is a *stack*: four tables, five queues each with a dead-letter queue, and one bucket, all found by
//! the stack's name ([`Names`]). A [`Store`] over a [`Connection`] has one adapter for each port.
//!
//! Work is done on demand: [`Store::new`] and the getters of its ports make no request, queue addresses are requested
//! at their first use, and no task keeps running after a call returns. Every method that returns a
//! [`PortError`](curlew_ports::PortError) may fail because of the transport or a missing permission; its comment names
//! only other errors.
//!
//! Every compare-and-swap is one conditional write. Each item has a version `v`, a state `s` and the unique name `w` of
//! the write that stored it. A write that is retried because its response was lost recognises the item by that name, so
//! a conflict always means that another writer was first.

mod chance;
mod connection;
mod endpoint;
mod error;
mod functions;
mod item;
mod jobs;
mod mappings;
mod names;
mod objects;
mod pack;
mod provision;
mod robots;
mod rows;
mod sources;
mod store;
mod table;
mod throttles;
mod version;

pub use connection::Connection;
pub use endpoint::Endpoint;
pub use error::MissingRight;
pub use functions::{DeployedFunction, ExecutionQuota, Functions, SmokeAnswer};
pub use jobs::{Jobs, ReadError, put_back};
pub use mappings::{MAPPINGS, Mapping, Mappings, mapping_ids};
pub use names::Names;
pub use objects::Objects;
pub use provision::{find_bucket, provision};
pub use store::Store;
pub use version::KNOWN_VERSION;

#[cfg(test)]
mod tests;
