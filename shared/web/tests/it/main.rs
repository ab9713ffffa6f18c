//! Calls the whole router through its service interface, with a small real program behind it.

#![allow(
    clippy::unwrap_used,
    missing_docs,
    unreachable_pub,
    reason = "a test may panic and explains itself by its name"
)]

mod admin;
mod admin_acts;
mod admin_lists;
mod answer;
mod api;
mod contact;
mod feeds;
mod files;
mod hostile;
mod keys;
mod language;
mod mcp;
mod owner;
mod requests;
mod search;
mod suggest;
mod support;
mod websub;
