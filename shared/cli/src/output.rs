//! Writing to standard output and standard error. A reader that has gone away ends the command quietly.

use curlew_model::{Fault, Faults};
use serde::Serialize;
use serde_json::{Value, json};
use std::io::{self, Write};

/// Writes a line to standard output.
///
/// # Errors
/// If nobody reads any more, or the disk behind it is full.
pub(crate) fn line(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.write_all(b"\n")
}

/// Writes a value as one line of JSON to standard output.
///
/// # Errors
/// As [`line`].
pub(crate) fn json(value: &impl Serialize) -> io::Result<()> {
    line(&serde_json::to_string(value).map_err(io::Error::other)?)
}

/// Writes a line to standard error; that it cannot be written is nobody's to know.
pub(crate) fn error_line(text: &str) {
    let _unread = writeln!(io::stderr().lock(), "{text}");
}

/// A text made safe for a terminal: no control characters, no longer than `most` characters.
pub(crate) fn shown(text: &str, most: usize) -> String {
    let clean: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if clean.chars().count() <= most {
        return clean;
    }
    clean.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}

/// The faults of a feed: how many, and the first of them with place, code and a sentence for its author.
pub(crate) fn faults(faults: &Faults) -> Value {
    let sentence = |fault: &Fault| json!({"line": fault.line, "column": fault.column, "code": fault.code, "message": fault.to_string()});
    json!({"count": faults.count, "first": faults.first.iter().map(sentence).collect::<Vec<_>>()})
}
