//! Errors in words.

use std::error::Error;

/// An error with its causes in one line; a cause that the text before it repeats is left out.
pub(crate) fn with_causes(error: &dyn Error) -> String {
    let mut line = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let text = error.to_string();
        if !line.contains(&text) {
            line.push_str(": ");
            line.push_str(&text);
        }
        cause = error.source();
    }
    line.replace(['\n', '\r'], " ")
}
