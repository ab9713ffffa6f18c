//! Tests of the rules against their sources: standards, documents and other implementations.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod directives;
mod exclusions;
mod preferences;
mod robots;
mod robots_differential;
mod site_owners;
