//! Failure of a command: its exit code and its message.

use curlew_app::BadSettings;
use curlew_ports::stage::with_causes;
use std::process::ExitCode;

/// Wrong usage, which ends with exit code 2 and one line that says what is wrong and what to do.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Usage(String);

pub(crate) fn usage(text: impl Into<String>) -> anyhow::Error {
    anyhow::Error::new(Usage(text.into()))
}

/// Prints an error with its causes in one line, and returns its exit code.
pub(crate) fn report(error: &anyhow::Error) -> ExitCode {
    crate::output::error_line(format!("curlew: {}", with_causes(error.as_ref())));
    let is_wrong_usage = error.downcast_ref::<Usage>().is_some() || error.downcast_ref::<BadSettings>().is_some();
    ExitCode::from(if is_wrong_usage { 2 } else { 1 })
}
