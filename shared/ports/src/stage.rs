//! The verdict on a job that has run, and the error of one that did not come to a verdict.

use crate::PortError;
use curlew_model::{JobFailure, Timestamp, TraceId};
use std::{any::Any, error::Error};
use tracing::Span;
use tracing::field::Empty;

/// Returns the span of a job, which no filter of the log leaves out: each log line within it carries kind and trace id.
pub fn job_span(kind: &'static str, trace: &TraceId) -> Span {
    tracing::error_span!("job", kind, %trace, failure = Empty)
}

/// Returns the span in which a job is settled that ran together with others: its own has ended by then.
pub fn settlement_span(kind: &'static str, trace: &TraceId) -> Span {
    tracing::error_span!("settlement", kind, %trace)
}

/// Instruction to the driver about a job that has run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Acknowledge it.
    Done,
    /// Hand it out again at this instant; it does not count as a failure.
    Defer(Timestamp),
    /// Acknowledge it; it has become pointless, for this reason.
    Drop(String),
}

/// Result of the work of a stage.
pub type Result<T, E = StageError> = std::result::Result<T, E>;

/// Error of a job that did not come to a verdict: it is tried again a few times, then given up with this error.
#[derive(Debug, thiserror::Error)]
pub enum StageError {
    /// A port failed.
    #[error(transparent)]
    Port(#[from] PortError),
    /// The job itself cannot be done, however often it is tried.
    #[error("{0}")]
    Job(String),
}

impl StageError {
    /// Returns the kind of failure for a job that ended with this error.
    pub fn kind(&self) -> JobFailure {
        match self {
            StageError::Port(PortError::Throttled { retry_after }) => JobFailure::Throttled(*retry_after),
            StageError::Port(error) if error.is_transient() => JobFailure::Transient,
            _ => JobFailure::Permanent,
        }
    }
}

/// Returns the words of a panic.
pub fn panic_message(panic: &(dyn Any + Send)) -> &str {
    let owned = panic.downcast_ref::<String>().map(String::as_str);
    panic.downcast_ref::<&str>().copied().or(owned).unwrap_or("without a word")
}

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
