//! The DynamoDB, SQS and S3 adapters.
//!
//! A deployed Curlew is a *stack*: four tables, four queues each with its dead-letter queue, and one bucket, all found
//! by the stack's name ([`Names`]). A [`Store`] over a [`Connection`] gives one adapter for each port.
//!
//! Nothing is done before it is needed: neither [`Store::new`] nor taking a part of it makes a request, queue addresses
//! are requested at their first use, and no task is left running when a call returns.
//!
//! Every compare-and-swap is one conditional write. Each item carries its version `v`, its state `s` and the name of
//! the write that made it, `w`. A write whose answer was lost and which is sent again recognises itself by that name,
//! so a conflict always means that another writer was first.

mod chance;
mod connection;
mod endpoint;
mod error;
mod functions;
mod hosts;
mod item;
mod jobs;
mod mappings;
mod marks;
mod names;
mod objects;
mod pack;
mod pages;
mod provision;
mod robots;
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
