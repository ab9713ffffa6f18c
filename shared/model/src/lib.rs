//! Domain types: plain data that serializes with serde. No I/O, no clock, no decisions.

mod backfill;
mod failure;
mod fault;
mod fingerprint;
mod hex;
mod host;
mod ids;
mod job;
mod ownership;
mod packed;
mod page;
mod polling;
mod query;
mod record;
mod signature;
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
pub use ids::{Challenge, HostKey, ImageId, InvalidId, Location, Origin, PageId, SegmentKey, SourceKey, TraceId};
pub use job::{
    BackfillJob, DeliverJob, DiscoverJob, Envelope, ExtractJob, IndexChange, Job, MainImage, NamedBy, OwnJob,
    OwnProgress, PageBody, PollJob, PollsJob, Purpose, QueueName, RemovalJob, SubscribeJob, TakeUpJob, VisitItem,
    VisitJob, Work,
};
pub use ownership::{
    Claim, FeedLine, HostReport, LookResult, Miss, OwnerRequest, Ownership, PageLine, ReportedState, Way,
};
pub use page::{Confidence, Gone, Page, PageState, Rejection, Screened, Year};
pub use polling::{FailureKind, FailureStreak, Habit, Hub, PollHints, Polling, Subscription, Taken, Trust, Why};
pub use query::{MAX_QUERY_BYTES, MAX_QUERY_TERMS, QueryError};
pub use record::{EntryHints, Exchange, RawFrame, Record, SnippetLimit, StatedPreferences, primary_language};
pub use signature::SignatureHeaders;
pub use source::{ExtraSlot, FeedSource, SiteSource, SiteState, Slot, Source, Validators};
pub use thumbnail::ThumbnailId;
pub use time::{InvalidMillis, InvalidTimestamp, Millis, Timestamp};
