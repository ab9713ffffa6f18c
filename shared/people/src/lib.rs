//! Requests of site owners, readers and operators: suggestions, blocks, overrides, claims, watches, audits, counts.

pub mod actions;
pub mod activity;
pub mod audit;
pub mod audit_log;
pub mod block;
pub mod deliver;
pub mod descriptions;
pub mod desk;
pub mod directory;
pub mod erasure;
pub mod fsck;
pub mod lookup;
pub mod messages;
mod objects;
pub mod outcomes;
pub mod overrides;
pub mod owner_jobs;
pub mod ownership;
pub mod poll_requests;
pub mod sessions;
pub mod site_report;
pub mod site_table;
pub mod stats;
pub mod suggest;
pub mod watches;
