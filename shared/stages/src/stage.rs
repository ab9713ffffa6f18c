//! What a stage is, and what it answers.

use curlew_model::{Millis, Timestamp};
use curlew_ports::PortError;
use serde::{Serialize, de::DeserializeOwned};
use std::future::Future;

/// A stage that is woken by a job from its queue.
pub trait Stage: Send + Sync {
    /// The stage's name, as in its queue.
    const NAME: &'static str;
    /// What it is woken by.
    type Job: Serialize + DeserializeOwned + Send + 'static;
    /// Does the job. It may have been done before.
    fn run(&self, job: &Self::Job) -> impl Future<Output = Result<Verdict, StageError>> + Send;
}

/// What the driver does with a job that has run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Acknowledge it.
    Done,
    /// Hand it out again at this instant; it does not count as a failure.
    Defer(Timestamp),
    /// Acknowledge it; it has become pointless, for this reason.
    Drop(String),
}

/// Why a job did not come to a verdict: it is tried again a few times, then buried with this error.
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
    /// How long a port asked to be left alone; zero if none did.
    pub fn retry_after(&self) -> Millis {
        match self {
            StageError::Port(PortError::Throttled { retry_after }) => *retry_after,
            _ => Millis::ZERO,
        }
    }

    /// Whether trying again may help.
    pub fn is_transient(&self) -> bool {
        matches!(self, StageError::Port(e) if e.is_transient())
    }
}
