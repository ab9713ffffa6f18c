//! The stages: each gathers facts through ports, asks a pure function, and applies the answer.
//!
//! Three drivers run them unchanged: the local runner, the Lambda glue and the simulator of `curlew-testkit`.
//! A stage holds only the ports that it needs. Every job may run twice.
//!
//! There are five rooms; a room imports only from those above it in this list: [`catalog`] (records, index, search, removal),
//! [`politeness`] (every call to a site), [`pages`] (from a new URL to a record), [`feeds`] (from a named site to new URLs),
//! [`operator`] (requests of operators and of sites' owners).

mod bulk;
pub mod catalog;
pub mod feeds;
mod frames;
pub mod operator;
pub mod pages;
mod parsing;
pub mod politeness;
pub mod program;
pub mod stage;
pub mod worker;
