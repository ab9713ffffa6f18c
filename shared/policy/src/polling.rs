//! Polling of feeds: schedule, conditional requests, failures, WebSub; and the reading of back catalogues.

pub mod backfill;
pub mod conditional;
pub mod decision;
pub mod failure;
pub mod poll_notes;
pub mod schedule;
pub mod subscription;
pub mod websub;
