//! Requests of operators and of sites' owners: suggestions, blocks, overrides, ownership, audits, statistics.

pub mod activity;
pub mod audit;
pub mod block;
pub mod deliver;
pub mod fsck;
pub mod messages;
pub mod overrides;
pub mod owner_jobs;
pub mod ownership;
pub mod stats;
pub mod suggest;
pub mod watches;
