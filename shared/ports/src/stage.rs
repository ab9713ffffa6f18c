//! The verdict on a job that has run, and the error of a job that did not reach a verdict.

use crate::PortError;
use curlew_model::{JobFailure, Timestamp, TraceId};
use std::{any::Any, error::Error};
use tracing::Span;
use tracing::field::Empty;

/// Returns the span of a job, which adds kind and trace id to each log line within it. No log filter removes the span.
pub fn job_span(kind: &'static str, trace: &TraceId) -> Span {
    tracing::error_span!("job", kind, %trace, failure = Empty)
}

/// Returns the span for settling a job that ran together with others: the job's own span has ended by then.
pub fn settlement_span(kind: &'static str, trace: &TraceId) -> Span {
    tracing::error_span!("settlement", kind, %trace)
}

/// Instruction to the driver about a job that has run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Acknowledge the job.
    Done,
    /// Hand out the job again at this instant; this does not count as a failure.
    Defer(Timestamp),
    /// Acknowledge the job, which has become pointless for this reason.
    Drop(String),
}

/// Result of the work of a stage.
pub type Result<T, E = StageError> = std::result::Result<T, E>;

/// Error of a job that did not reach a verdict: the job is retried a few times, then given up with this error.
#[derive(Debug, thiserror::Error)]
pub enum StageError {
    /// A port failed.
    #[error(transparent)]
    Port(#[from] PortError),
    /// The job itself cannot be done, however often it is retried.
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

/// Returns the message of a panic.
pub fn panic_message(panic: &(dyn Any + Send)) -> &str {
    let owned = panic.downcast_ref::<String>().map(String::as_str);
    panic.downcast_ref::<&str>().copied().or(owned).unwrap_or("without a word")
}

/// Returns an error with its causes in one line, without causes that the text before them already contains.
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
