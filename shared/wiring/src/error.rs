//! Settings that cannot be used.

/// A setting that cannot be used; one line that says which and why.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct BadSettings(pub(crate) String);

impl BadSettings {
    /// One line that says which setting is wrong, and why: for what only the driver finds out.
    pub fn new(line: &str) -> BadSettings {
        BadSettings(line.to_owned())
    }
}
