//! From a new URL to a record: fetching, extraction, screening, re-checks.

pub mod body;
pub mod extract;
pub mod fetch;
pub mod fingerprint;
pub mod image;
pub mod import;
pub mod judge;
pub mod overrides;
pub mod reextract;
pub mod sample;
pub mod variant;
