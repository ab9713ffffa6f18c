//! Settings that cannot be used.

/// A setting that cannot be used; one line that says which and why.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct BadSettings(pub String);
