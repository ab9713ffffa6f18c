//! The functions' shared code: SQS batches, cold start, JSON logs, metrics.
//!
//! A function's `main` is one call of this crate: [`queue`], [`dispatch`], [`index`], [`sample`] or [`web`]. Nothing is
//! decided here about crawling: the stages do that, as in every other driver. The crate decides what belongs to Lambda:
//! in which order a batch is worked off, what still fits before the deadline ([`plan`] is pure), and which messages SQS
//! has to hand out again.
//!
//! **Invariants.** What a cold start makes (the way to AWS) lives as long as the process and makes no request by
//! itself. Settings are those of the moment: [`in_force`] reads the stack's own once a minute. No function works on a
//! stack that a later program has written: [`stack_version`] reads that as often. Everything that talks to sites is
//! made anew for each invocation, since sockets may be dead after a thaw. Nothing that an invocation began runs on
//! after its answer.

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
