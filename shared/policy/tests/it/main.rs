//! Rules, held against what they are taken from.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod directives;
mod exclusions;
mod preferences;
mod robots;
mod robots_differential;
mod site_owners;
