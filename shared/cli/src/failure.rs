//! Failure of a command: its exit code and its message.

use std::process::ExitCode;

/// Wrong usage: exit code 2, one line that says what is wrong and what to do.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Usage(pub(crate) String);

/// An error of wrong usage.
pub(crate) fn usage(text: impl Into<String>) -> anyhow::Error {
    anyhow::Error::new(Usage(text.into()))
}

/// Prints an error with its causes in one line, and returns the exit code as cli.md defines it.
pub(crate) fn report(error: &anyhow::Error) -> ExitCode {
    let causes: Vec<String> = error.chain().map(|e| e.to_string().replace(['\n', '\r'], " ")).collect();
    let mut line = String::new();
    for cause in causes {
        // Some libraries repeat their source in their own text.
        if !line.contains(&cause) {
            if !line.is_empty() {
                line.push_str(": ");
            }
            line.push_str(&cause);
        }
    }
    crate::output::error_line(&format!("curlew: {line}"));
    let wrong_usage =
        error.downcast_ref::<Usage>().is_some() || error.downcast_ref::<curlew_app::BadSettings>().is_some();
    if wrong_usage { ExitCode::from(2) } else { ExitCode::from(1) }
}
