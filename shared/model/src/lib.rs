//! Domain types: ids, timestamps, jobs, records. No I/O, no clock.
//!
//! Everything here is plain data that serializes with serde. This crate makes no decisions; decisions live in
//! `curlew-policy`, and effects live in adapters.

mod backfill;
mod failure;
mod fault;
mod fingerprint;
mod hex;
mod host;
mod ids;
mod job;
mod kind;
mod language;
mod ownership;
mod page;
mod polling;
mod query;
mod queue_name;
mod raw;
mod record;
mod ring;
mod signature;
mod slot;
mod source;
mod thumbnail;
mod time;

pub use backfill::{
    AddressList, Backfill, BackfillDocument, BackfillLine, BackfillPhase, BackfillState, DocumentKind, Listed,
};
pub use failure::{Failure, FailureCause, JobFailure};
pub use fault::{Fault, FaultCode, Faults};
pub use fingerprint::Fingerprint;
pub use hex::{hex, unhex};
pub use host::{
    Circuit, Hold, HoldReason, HomeLook, HostState, Lease, PendingRedirect, RobotsNotes, SentPages, Substitute,
    Substitutes, TokenBucket, UrlHold, WindowPart, is_at_or_below,
};
pub use ids::{HostKey, ImageId, InvalidId, Location, Origin, PageId, SegmentKey, SourceKey, TraceId};
pub use job::{
    BackfillJob, DeliverJob, DiscoverJob, Envelope, ExtractJob, IndexChange, Job, MainImage, NamedBy, OwnJob,
    OwnProgress, PageBody, PollJob, PollsJob, Purpose, RemovalJob, SubscribeJob, TakeUpJob, VisitItem, VisitJob, Work,
};
pub use kind::Kind;
pub use language::primary_language;
pub use ownership::{
    Challenge, Claim, FeedLine, HostReport, LookResult, Miss, OwnerRequest, Ownership, PageLine, ReportedState, Way,
};
pub use page::{Confidence, Gone, Page, PageState, Rejection, Screened, Year};
pub use polling::{FailureKind, FailureStreak, Habit, Hub, PollHints, Polling, Subscription, Taken, Trust, Why};
pub use query::{MAX_QUERY_BYTES, MAX_QUERY_TERMS, QueryError};
pub use queue_name::QueueName;
pub use raw::{Exchange, RawFrame};
pub use record::{EntryHints, Record, SnippetLimit, StatedPreferences};
pub use signature::SignatureHeaders;
pub use slot::Slot;
pub use source::{ExtraSlot, FeedSource, SiteSource, SiteState, Source, Validators};
pub use thumbnail::ThumbnailId;
pub use time::{InvalidMillis, InvalidTimestamp, Millis, Timestamp};
