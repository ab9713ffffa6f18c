//! The stages: each gathers facts through ports, asks a pure function, and applies the answer.
//!
//! Three drivers run them unchanged: the local runner, the Lambda glue and the simulator of `curlew-testkit`.
//! A stage holds only the ports that it needs. Every job may run twice.

mod aftermath;
mod audit;
mod block;
mod body;
mod bulk;
mod callback;
mod census;
mod discover;
mod dispatch;
mod extract;
mod failures;
mod feed_row;
mod fetch;
mod find;
mod image;
mod index;
mod intake;
mod judge;
mod known;
pub mod likeness;
mod listing;
mod manners;
mod messages;
mod news;
mod object;
mod overrules;
mod own;
mod owner;
mod parsing;
mod poll;
mod remembered;
mod removal;
mod robots;
mod row;
mod sample;
mod segment;
mod splits;
mod standing;
mod subscribe;
mod suggest;
mod usage;
mod variant;
mod visit;

pub use audit::{Audit, Left, Subject, Trail};
pub use block::Blocks;
pub use body::{INLINE_LIMIT, pack, unpack};
pub use callback::{Callbacks, SECRET_BYTES, WEB_SECRET, web_secret};
pub use census::{Census, Population, kept_census};
pub use discover::Discover;
pub use dispatch::{Dispatch, Dispatched, TickLimits};
pub use extract::Extract;
pub use fetch::Fetch;
pub use find::Finder;
pub use image::{THUMBNAIL_PREFIX, opened, scaled_down, thumbnail, thumbnail_key};
pub use index::{Index, Published};
pub use judge::{Judge, Picture};
pub use known::KnownRobots;
pub use manners::{Manners, Opening, Weather};
pub use messages::{Kept, MESSAGES_A_DAY, MESSAGES_KEPT, Messages};
pub use news::Pushes;
pub use overrules::{Followed, Given, MAX_OVERRULES, Overrules};
pub use own::Own;
pub use owner::{Owners, claims, expire_claims};
pub use poll::Poll;
pub use removal::Removal;
pub use sample::{HowMany, Sample};
pub use segment::{RecordReader, segment_day};
pub use standing::indexed_years;
pub use subscribe::Subscribe;
pub use suggest::{Named, Suggest};
pub use visit::{End, Got, Visit};

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

impl From<StageError> for PortError {
    fn from(error: StageError) -> PortError {
        match error {
            StageError::Port(error) => error,
            StageError::Job(what) => PortError::Unavailable { what, source: None },
        }
    }
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
