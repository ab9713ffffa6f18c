//! When a feed is asked: schedule, conditional requests, failures, WebSub; and how its back catalogue is read.

pub mod backfill;
pub mod conditional;
pub mod decision;
pub mod failure;
pub mod schedule;
pub mod subscription;
pub mod websub;
