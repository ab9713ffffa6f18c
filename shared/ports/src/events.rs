use crate::CallKind;
use curlew_model::{Gone, HoldReason, HostKey, Rejection};

/// Something worth counting. Told once when it happens; a job that runs twice may tell it twice.
#[derive(Clone, Debug, PartialEq)]
pub enum Event<'a> {
    /// A call ended.
    Called {
        /// Under this host key.
        host: &'a HostKey,
        /// The purpose.
        kind: CallKind,
        /// The status, if there was an answer.
        status: Option<u16>,
        /// Decoded bytes of the body.
        bytes: u64,
    },
    /// A working feed was found.
    FeedFound,
    /// A site turned out to have no feed, or none that works.
    Feedless,
    /// Number of entries seen in a feed for the first time.
    EntriesSeen(u64),
    /// A page was fetched.
    PageFetched,
    /// A page was accepted.
    Accepted,
    /// A page was rejected.
    Rejected(&'a Rejection),
    /// A page turned out to be another one's address.
    Alias,
    /// An indexed page must no longer be found.
    Removed(Gone),
    /// An indexed page was re-checked and is still there.
    StillThere,
    /// The record of an indexed page was replaced, since its text has changed.
    Revised,
    /// A re-check found something else in place of an indexed page, or that it asks not to be indexed: a second look decides.
    Doubted,
    /// A hold was laid on a host key.
    Held {
        /// The host key.
        host: &'a HostKey,
        /// Reason for the hold.
        reason: HoldReason,
    },
    /// A job was put off until its host may be called again.
    PutOff,
    /// A thumbnail was made.
    Thumbnail,
}

/// Sink of events that are counted.
pub trait Events: Send + Sync {
    /// Takes notice; must be quick and must not fail.
    fn note(&self, event: &Event<'_>);
}

/// The sink that counts nothing.
impl Events for () {
    fn note(&self, _: &Event<'_>) {}
}
