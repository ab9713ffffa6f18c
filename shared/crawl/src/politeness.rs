//! Every call to a site: leases of hosts, robots.txt, pauses, holds.

pub mod access;
pub(crate) mod failures;
pub mod robots_cache;
pub mod signing;
pub(crate) mod usage_preferences;
pub mod visit;
