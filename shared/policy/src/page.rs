//! Decisions about pages: directives, permitted uses, dates and re-checks.

pub mod dates;
pub mod directives;
pub mod offer;
pub mod publication;
pub mod sampling;
pub mod signals;
pub mod soft404;
