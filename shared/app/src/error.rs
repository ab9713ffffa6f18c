//! Settings that cannot be used.

/// A setting that cannot be used; one line that says which and why.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct BadSettings(pub(crate) String);

impl BadSettings {
    /// Returns an error whose line says which setting is wrong, and why: for faults that only the driver finds.
    pub fn new(line: &str) -> BadSettings {
        BadSettings(line.to_owned())
    }
}
