//! Errors and panics in words.

use std::any::Any;
use std::error::Error;

/// An error with its causes in one line; a cause that the text before it repeats is left out.
pub fn with_causes(error: &dyn Error) -> String {
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

/// What a job said when it panicked.
pub fn said_in_panic(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().or(panic.downcast_ref::<String>().map(String::as_str));
    format!("the job panicked: {}", text.unwrap_or("without a word"))
}
