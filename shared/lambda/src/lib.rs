//! Shared code of the functions: SQS batches, cold start, JSON logs, metrics.
//!
//! A function's `main` is one call of this crate: [`queue`], [`discover`], [`extract`], [`dispatch`], [`index`],
//! [`sample`] or [`web`]. The stages decide about crawling, as in every other driver. This crate decides about Lambda:
//! the order of a batch's work, which jobs fit before the deadline ([`plan`] is pure), and which messages SQS must
//! redeliver.
//!
//! **Invariants.** The result of a cold start (the clients of AWS) lives as long as the process and makes no requests
//! by itself. The stack's settings are at most a minute old ([`in_force`]), and so is the check that no newer program
//! has written the stack ([`stack_version`]), which is a condition for all work. Connections to sites are new for each
//! invocation, since sockets may be dead after a thaw. No work of an invocation continues after its response.

mod batch;
mod cold;
mod endpoints;
mod failure;
mod in_force;
mod logs;
mod meter;
mod plan;
mod queue;
mod queue_watch;
mod range_cache;
pub mod rehearsal;
mod resting;
mod scheduled;
mod serve;
mod smoke;
mod sqs_queue;
mod stack_model;
mod stack_version;
mod stored_status;
mod time;
mod usage;
mod web;

pub use curlew_model::QueueName;
pub use queue::{discover, extract, queue};
pub use scheduled::{dispatch, index, sample};
pub use web::web;

#[cfg(test)]
mod tests;
