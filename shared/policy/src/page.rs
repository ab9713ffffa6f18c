//! Decisions about pages: their own statements, the permitted use, and re-checks.

pub mod dates;
pub mod directives;
pub mod offer;
pub mod publication;
pub mod sampling;
pub mod signals;
pub mod soft404;
