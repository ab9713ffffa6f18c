//! Jobs: messages of the queues. Every job may be delivered more than once. It is long since it is one list: each kind of
//! job with its fields.

use crate::backfill::BackfillLine;
use crate::ids::{HostKey, ImageId, Location, PageId, SourceKey, TraceId};
use crate::ownership::{Challenge, FeedLine, LookResult, OwnerRequest, PageLine, ReportedState};
use crate::page::Gone;
use crate::poll_group::PollGroup;
use crate::polling::is_default;
use crate::raw::Exchange;
use crate::record::{EntryHints, StatedPreferences};
use crate::source::Validators;
use crate::time::Timestamp;
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Version of the jobs' format; a job of another version is dead-lettered, never interpreted.
const VERSION: u8 = 1;

/// The queues, in the order in which a page passes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Finds the feeds of a site.
    Discover,
    /// Reads a feed.
    Poll,
    /// Visits a host.
    Fetch,
    /// Makes a record of a page.
    Extract,
    /// Takes a page out of the index, and does what owners ask for.
    Remove,
}

impl Stage {
    /// All queues.
    pub const ALL: [Stage; 5] = [Stage::Discover, Stage::Poll, Stage::Fetch, Stage::Extract, Stage::Remove];

    /// Returns the queue's name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Stage::Discover => "discover",
            Stage::Poll => "poll",
            Stage::Fetch => "fetch",
            Stage::Extract => "extract",
            Stage::Remove => "remove",
        }
    }
}

/// A piece of work for one stage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "job", rename_all = "snake_case")]
pub enum Job {
    /// For [`Stage::Discover`].
    Discover(DiscoverJob),
    /// For [`Stage::Discover`] as long as a proof is to be looked for, which examines a site in the same way; else for
    /// [`Stage::Remove`], which reads nothing of a site.
    Own(OwnJob),
    /// For [`Stage::Poll`].
    Poll(PollJob),
    /// For [`Stage::Poll`], too: polls that fall due together.
    Polls(PollsJob),
    /// For [`Stage::Poll`], too: it is rare, and results from a poll.
    Subscribe(SubscribeJob),
    /// For [`Stage::Poll`], too: it reads documents like feeds, and never many.
    Backfill(BackfillJob),
    /// For [`Stage::Poll`], too: it is one call for many matches.
    Deliver(DeliverJob),
    /// For [`Stage::Fetch`].
    Fetch(VisitJob),
    /// For [`Stage::Extract`].
    Extract(Box<ExtractJob>),
    /// For [`Stage::Remove`].
    Remove(RemovalJob),
    /// For [`Stage::Remove`], too: it reads rows of pages, and nothing of a site.
    TakeUp(TakeUpJob),
}

impl Job {
    /// Returns the queue of the job.
    pub const fn stage(&self) -> Stage {
        match self {
            Job::Own(job) if job.needs_look() => Stage::Discover,
            Job::Discover(_) => Stage::Discover,
            Job::Own(_) | Job::Remove(_) | Job::TakeUp(_) => Stage::Remove,
            Job::Poll(_) | Job::Polls(_) | Job::Subscribe(_) | Job::Backfill(_) | Job::Deliver(_) => Stage::Poll,
            Job::Fetch(_) => Stage::Fetch,
            Job::Extract(_) => Stage::Extract,
        }
    }

    /// Returns the name of its kind, as in its message.
    pub const fn kind(&self) -> &'static str {
        match self {
            Job::Discover(_) => "discover",
            Job::Own(_) => "own",
            Job::Poll(_) => "poll",
            Job::Polls(_) => "polls",
            Job::Subscribe(_) => "subscribe",
            Job::Backfill(_) => "backfill",
            Job::Deliver(_) => "deliver",
            Job::Fetch(_) => "fetch",
            Job::Extract(_) => "extract",
            Job::Remove(_) => "remove",
            Job::TakeUp(_) => "take_up",
        }
    }

    /// Returns the chain of jobs that it says it belongs to.
    pub const fn trace(&self) -> Option<&TraceId> {
        match self {
            Job::Poll(j) => j.trace.as_ref(),
            Job::Fetch(j) => j.trace.as_ref(),
            Job::Extract(j) => j.trace.as_ref(),
            Job::Remove(j) => j.trace.as_ref(),
            Job::Discover(_)
            | Job::Own(_)
            | Job::Polls(_)
            | Job::Subscribe(_)
            | Job::Backfill(_)
            | Job::Deliver(_)
            | Job::TakeUp(_) => None,
        }
    }

    /// Returns the same job, deferred once more. Its waits for its host key count anew after that.
    #[must_use]
    pub fn deferred(mut self) -> Job {
        match &mut self {
            Job::Discover(j) => j.deferrals = j.deferrals.saturating_add(1),
            Job::Poll(j) => (j.deferrals, j.waits) = (j.deferrals.saturating_add(1), 0),
            Job::Subscribe(j) => j.deferrals = j.deferrals.saturating_add(1),
            Job::Fetch(j) => (j.deferrals, j.waits) = (j.deferrals.saturating_add(1), 0),
            Job::Own(_)
            | Job::Polls(_)
            | Job::Backfill(_)
            | Job::Deliver(_)
            | Job::Extract(_)
            | Job::Remove(_)
            | Job::TakeUp(_) => {}
        }
        self
    }

    /// Returns the same job, which found its host key in use once more. Kinds of which few wait for one host key, and
    /// without a limit, count nothing.
    #[must_use]
    pub fn waited(mut self) -> Job {
        match &mut self {
            Job::Poll(j) => j.waits = j.waits.saturating_add(1),
            Job::Fetch(j) => j.waits = j.waits.saturating_add(1),
            Job::Own(j) => j.waits = j.waits.saturating_add(1),
            Job::Discover(_)
            | Job::Polls(_)
            | Job::Subscribe(_)
            | Job::Backfill(_)
            | Job::Deliver(_)
            | Job::Extract(_)
            | Job::Remove(_)
            | Job::TakeUp(_) => {}
        }
        self
    }

    /// Returns the same job, of which an earlier delivery did not come to its end.
    #[must_use]
    pub fn again(mut self) -> Job {
        match &mut self {
            Job::Discover(j) => j.is_again = true,
            Job::Poll(j) => j.is_again = true,
            Job::Polls(j) => j.groups.iter_mut().flat_map(|group| &mut group.polls).for_each(|j| j.is_again = true),
            Job::Own(_)
            | Job::Subscribe(_)
            | Job::Backfill(_)
            | Job::Deliver(_)
            | Job::Fetch(_)
            | Job::Extract(_)
            | Job::Remove(_)
            | Job::TakeUp(_) => {}
        }
        self
    }

    /// Serializes to a message: JSON with the version in front.
    ///
    /// # Errors
    /// Never for jobs made by this crate; serde's error otherwise.
    pub fn to_message(&self) -> Result<String, serde_json::Error> {
        #[derive(Serialize)]
        struct Out<'a> {
            v: u8,
            #[serde(flatten)]
            job: &'a Job,
        }
        serde_json::to_string(&Out { v: VERSION, job: self })
    }

    /// Parses a message.
    ///
    /// # Errors
    /// If it is not JSON, of another version, or of an unknown kind; the text says which.
    pub fn from_message(text: &str) -> Result<Job, String> {
        #[derive(Deserialize)]
        struct Version {
            v: u8,
        }
        let version: Version = serde_json::from_str(text).map_err(|e| format!("not a job: {e}"))?;
        if version.v != VERSION {
            return Err(format!("a job of version {}, but this program knows version {VERSION}", version.v));
        }
        serde_json::from_str(text).map_err(|e| format!("not a job of version {VERSION}: {e}"))
    }
}

/// Job that finds the feeds of a site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiscoverJob {
    /// Key of the site's row.
    pub site: SourceKey,
    /// Start URL of the site.
    pub url: String,
    /// Address of the home page after all redirects, once it was read. It is not called again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub home: Option<String>,
    /// Feeds named by the home page that are still to be tried.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<String>,
    /// Index of the usual address to try next, once the home page is known to name no working feed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_guess: Option<u8>,
    /// Number of times that this job was deferred.
    #[serde(default)]
    pub deferrals: u32,
    /// True if an earlier delivery did not come to its end, perhaps since a page that it fetched ended the process. New pages are left
    /// to visits of their own then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_again: bool,
}

impl DiscoverJob {
    /// Creates the job for the first examination of a site.
    pub fn new(site: SourceKey, url: String) -> DiscoverJob {
        DiscoverJob { site, url, home: None, links: vec![], next_guess: None, deferrals: 0, is_again: false }
    }
}

/// Job that carries out a request of somebody who claims a site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnJob {
    /// The host's name, in canonical form.
    pub host: String,
    /// Challenge of the claim.
    pub challenge: Challenge,
    /// Requested action.
    #[serde(rename = "wish")]
    pub request: OwnerRequest,
    /// True if the proof is looked up in the DNS alone, without calling the site.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dns_only: bool,
    /// Result of a look, which is written down by another stage than the one that looks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub looked: Option<LookResult>,
    /// Number of times that it found its host key in use.
    #[serde(default, skip_serializing_if = "is_default")]
    pub waits: u8,
    /// Progress of the steps before this one, for a request that reads the rows of all pages; `None` for its first step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<OwnProgress>,
}

impl OwnJob {
    /// Creates the job for a request, with its first step if it has several.
    pub fn new(host: String, challenge: Challenge, request: OwnerRequest) -> OwnJob {
        OwnJob { host, challenge, request, dns_only: false, looked: None, waits: 0, progress: None }
    }

    /// True if a proof is still to be looked for.
    pub const fn needs_look(&self) -> bool {
        matches!(self.request, OwnerRequest::Look) && self.looked.is_none()
    }
}

/// Progress of an owner's request that reads the rows of all pages and sources, a bounded number in each step. Each
/// step is a job.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnProgress {
    /// Time at which the owner made the request, the same in all its steps.
    pub asked: Timestamp,
    /// The last row of a page that was read; `None` before the first row, and when no rows are left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<PageId>,
    /// The last row of a source that was read; `None` before the first row, and when no rows are left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_source: Option<SourceKey>,
    /// Numbers of pages so far, by their states.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub counts: BTreeMap<ReportedState, u64>,
    /// Pages so far that the report names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pages: Vec<PageLine>,
    /// Feeds so far that the report names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub feeds: Vec<FeedLine>,
    /// Back catalogues so far that the report names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<BackfillLine>,
}

impl OwnProgress {
    /// True if rows are left for another step.
    pub const fn is_under_way(&self) -> bool {
        self.after.is_some() || self.after_source.is_some()
    }
}

/// Job that sends visits to the pages that a block of their host has kept out, a bounded number in each step. Each step
/// is a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TakeUpJob {
    /// The name that is not blocked any more.
    pub host: String,
    /// The last row of a page that was read; `None` in the first step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<PageId>,
}

/// Job that reads a feed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PollJob {
    /// Key of the feed's row.
    pub feed: SourceKey,
    /// URL of the feed.
    pub url: String,
    /// Number of times that this job was deferred.
    #[serde(default)]
    pub deferrals: u32,
    /// Number of times in a row that it found its host key in use.
    #[serde(default, skip_serializing_if = "is_default")]
    pub waits: u8,
    /// True if a person requested it, so that the feed's schedule does not apply.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub on_request: bool,
    /// Time at which the feed's schedule asks for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due: Option<Timestamp>,
    /// Chain of jobs that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceId>,
    /// True if an earlier delivery did not come to its end, perhaps since a page that it fetched ended the process. New pages are left
    /// to visits of their own then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_again: bool,
}

impl PollJob {
    /// Creates the job that a feed's schedule sends.
    pub fn new(feed: SourceKey, url: String) -> PollJob {
        PollJob { feed, url, deferrals: 0, waits: 0, on_request: false, due: None, trace: None, is_again: false }
    }
}

/// Polls that fell due at about the same time, in one message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PollsJob {
    /// The polls by their group.
    pub groups: Vec<GroupPolls>,
}

impl PollsJob {
    /// Returns the number of its polls.
    pub fn len(&self) -> usize {
        self.groups.iter().map(|group| group.polls.len()).sum()
    }

    /// Returns true if it has no polls.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns its polls.
    pub fn polls(&self) -> impl Iterator<Item = &PollJob> {
        self.groups.iter().flat_map(|group| &group.polls)
    }
}

/// Polls of feeds of one [`PollGroup`]; quiet ones share one lease.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupPolls {
    /// The group that all of them belong to.
    pub group: PollGroup,
    /// Time at which the slot of the first of them came.
    pub due: Timestamp,
    /// The polls, one for each feed.
    pub polls: Vec<PollJob>,
}

/// Job that asks a feed's hub for a subscription, or ends one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubscribeJob {
    /// Key of the feed's row.
    pub feed: SourceKey,
    /// The hub's address.
    pub url: String,
    /// True to end the subscription.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub end: bool,
    /// Number of times that this job was deferred.
    #[serde(default)]
    pub deferrals: u32,
}

/// Job that does one step of a backfill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackfillJob {
    /// Key of the backfill's row.
    pub backfill: SourceKey,
    /// Address of the site or feed.
    pub url: String,
    /// Number of the step; void if the row has come further.
    pub step: u32,
}

/// Job that posts the new matches of a watch to its receiver, or verifies a subscription to them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeliverJob {
    /// Name of the watch.
    pub watch: String,
    /// Address of the receiver.
    pub url: String,
    /// Instant of the try that it was sent for, after the receiver had failed; `None` if it was sent for something new.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_at: Option<Timestamp>,
}

/// Facts about a feed that the records of its pages take from it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedBy {
    /// The feed's address.
    pub url: String,
    /// Title of the feed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Address of its image.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// Language of the feed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
}

/// Job that visits one host key for a list of URLs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VisitJob {
    /// Host key whose lease the visit needs.
    pub host: HostKey,
    /// Feed that the items come from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feed: Option<SourceKey>,
    /// Facts about that feed; if they are missing, its row has them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub named_by: Option<NamedBy>,
    /// The site's image, for pages that have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub site_image: Option<String>,
    /// URLs to visit, at most [`VisitJob::MAX_ITEMS`].
    pub items: Vec<VisitItem>,
    /// Number of times that this job was deferred.
    #[serde(default)]
    pub deferrals: u32,
    /// Number of times in a row that it found its host key in use.
    #[serde(default, skip_serializing_if = "is_default")]
    pub waits: u8,
    /// Chain of jobs that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceId>,
}

impl VisitJob {
    /// Maximum number of URLs in one visit.
    pub const MAX_ITEMS: usize = 100;

    /// Creates a visit of a host key for these URLs, which no feed names.
    pub fn new(host: HostKey, items: Vec<VisitItem>) -> VisitJob {
        VisitJob { host, feed: None, named_by: None, site_image: None, items, deferrals: 0, waits: 0, trace: None }
    }

    /// Returns a visit for each item, so that one that kills its process kills no other item's.
    pub fn singles(&self) -> impl Iterator<Item = VisitJob> {
        self.items.iter().map(|item| VisitJob { items: vec![item.clone()], ..self.clone() })
    }

    /// Splits items into visits to one host key.
    pub fn several(host: &HostKey, feed: Option<&SourceKey>, items: &[VisitItem]) -> impl Iterator<Item = VisitJob> {
        let visit = |items: &[VisitItem]| VisitJob::new(host.clone(), items.to_vec());
        items.chunks(VisitJob::MAX_ITEMS).map(move |items| VisitJob { feed: feed.cloned(), ..visit(items) })
    }
}

/// A URL of a visit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VisitItem {
    /// The URL to call.
    pub url: String,
    /// Page at that URL, or for an image the page that it belongs to.
    pub page: PageId,
    /// Purpose.
    pub purpose: Purpose,
}

/// Purpose of visiting a URL.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "for", rename_all = "snake_case")]
pub enum Purpose {
    /// A page that a feed named.
    New {
        /// Metadata from the feed.
        #[serde(default)]
        hints: EntryHints,
    },
    /// Checks that an indexed page still exists and may still be shown.
    Recheck,
    /// The main image of a page, located on another host key.
    Image {
        /// Id under which its thumbnail is stored.
        image: ImageId,
        /// Chain of jobs that the page belongs to: a visit may ask for images of several chains.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        trace: Option<TraceId>,
    },
}

impl Purpose {
    /// Returns the chain of jobs that the item belongs to, where that need not be its visit's.
    pub const fn trace(&self) -> Option<&TraceId> {
        match self {
            Purpose::Image { trace, .. } => trace.as_ref(),
            Purpose::New { .. } | Purpose::Recheck => None,
        }
    }
}

/// Job that makes a record of a fetched page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExtractJob {
    /// Requested page.
    pub page: PageId,
    /// Host key under which it was fetched.
    pub host: HostKey,
    /// Canonical form of the requested URL; its hash is `page`.
    pub url: String,
    /// URL that answered, after redirects.
    pub final_url: String,
    /// Feed that named it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feed: Option<SourceKey>,
    /// Facts about that feed; if they are missing, its row has them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub named_by: Option<NamedBy>,
    /// Metadata from the feed.
    #[serde(default)]
    pub hints: EntryHints,
    /// The site's image, for a page that has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub site_image: Option<String>,
    /// `Content-Type` as the server sent it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
    /// Values of `X-Robots-Tag` headers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub robots_tags: Vec<String>,
    /// Preferences stated when it was fetched.
    #[serde(flatten)]
    pub preferences: StatedPreferences,
    /// The document.
    pub body: PageBody,
    /// Time of the fetch.
    pub fetched_at: Timestamp,
    /// The main image, if it was requested together with the page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<MainImage>,
    /// Number of calls that the page may still cost: one for its main image, unless that or a redirect has used it up.
    #[serde(default)]
    pub calls_left: u32,
    /// The validators of the document, for the next conditional request.
    #[serde(default, skip_serializing_if = "Validators::is_empty")]
    pub validators: Validators,
    /// True if the page had no row when it was fetched, and the fetch wrote none.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_without_row: bool,
    /// Location of the record that the page's row points to, if a re-check found a changed text; the new record
    /// replaces it. The row stays unchanged if the page would no longer be accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces: Option<Location>,
    /// Chain of jobs that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceId>,
    /// The heads of the call, if the page is to be kept raw; `body` is then the document as it came, in its own charset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exchange: Option<Exchange>,
}

/// Job that changes what the index knows of a page. It is sent by stages that read documents of strangers, which may not write
/// index and records themselves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RemovalJob {
    /// The page.
    pub page: PageId,
    /// URL of the page, for people.
    pub url: String,
    /// The change.
    #[serde(flatten)]
    pub change: IndexChange,
    /// Time of the judgement. The job is void if the page was accepted, or found present, after it.
    pub judged_at: Timestamp,
    /// Chain of jobs that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceId>,
}

impl RemovalJob {
    /// Creates the job that takes a page out of the index, as was judged at this time.
    pub fn remove(page: PageId, url: String, reason: Gone, judged_at: Timestamp) -> RemovalJob {
        RemovalJob { page, url, change: IndexChange::Remove { reason }, judged_at, trace: None }
    }
}

/// Change of what the index knows of a page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum IndexChange {
    /// The page leaves the index for good.
    Remove {
        /// Reason.
        reason: Gone,
    },
    /// The page stays, and names another time at which it becomes unavailable.
    Expire {
        /// The time that the page names; `None` if it names none any more.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at: Option<Timestamp>,
        /// Validators of the document, if its content is that of the record.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        validators: Option<Validators>,
    },
}

/// A page's main image, requested right after the page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MainImage {
    /// The image.
    pub id: ImageId,
    /// Thumbnail of the image as JPEG; `None` if the image yields none.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "base64_bytes_or_none")]
    pub thumbnail: Option<Bytes>,
}

/// A document on its way from fetching to extraction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PageBody {
    /// Document compressed with zstd, inside the message.
    Inline(#[serde(with = "base64_bytes")] Bytes),
    /// Key of the document in the object store, compressed with zstd, since it did not fit into a message.
    Stored(String),
}

/// Serializes bytes as standard base64, which grows them by a third in JSON instead of to four times their size.
mod base64_bytes {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use bytes::Bytes;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(bytes: &Bytes, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(&STANDARD.encode(bytes))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Bytes, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(d)?;
        STANDARD.decode(text.as_bytes()).map(Bytes::from).map_err(serde::de::Error::custom)
    }
}

/// Serializes optional bytes in base64; see [`base64_bytes`].
mod base64_bytes_or_none {
    use super::base64_bytes;
    use bytes::Bytes;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    #[serde(transparent)]
    struct Wrapped(#[serde(with = "base64_bytes")] Bytes);

    pub(super) fn serialize<S: Serializer>(bytes: &Option<Bytes>, s: S) -> Result<S::Ok, S::Error> {
        bytes.clone().map(Wrapped).serialize(s)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Option<Bytes>, D::Error> {
        Ok(Option::<Wrapped>::deserialize(d)?.map(|wrapped| wrapped.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ownership::{Miss, Way};

    fn poll() -> Result<Job, crate::InvalidId> {
        let feed = SourceKey::new("0123456789abcdef0123456789abcdef")?;
        Ok(Job::Poll(PollJob {
            feed,
            url: "https://example.org/feed".into(),
            deferrals: 2,
            waits: 0,
            on_request: false,
            due: None,
            is_again: false,
            trace: None,
        }))
    }

    #[test]
    fn waits_count_anew_after_a_deferral() -> Result<(), crate::InvalidId> {
        let waiting = poll()?.waited().waited();
        assert!(matches!(&waiting, Job::Poll(job) if (job.waits, job.deferrals) == (2, 2)));
        assert!(matches!(waiting.deferred(), Job::Poll(job) if (job.waits, job.deferrals) == (0, 3)));
        Ok(())
    }

    #[test]
    fn a_job_comes_back_from_its_message() -> Result<(), Box<dyn std::error::Error>> {
        let job = poll()?;
        assert_eq!(Job::from_message(&job.to_message()?)?, job);
        let body = PageBody::Inline(Bytes::from_static(b"\0\xff"));
        assert_eq!(serde_json::from_str::<PageBody>(&serde_json::to_string(&body)?)?, body);
        let id = ImageId::new("0123456789abcdef0123456789abcdef")?;
        for thumbnail in [None, Some(Bytes::from_static(b"\xff\xd8"))] {
            let image = MainImage { id: id.clone(), thumbnail };
            assert_eq!(serde_json::from_str::<MainImage>(&serde_json::to_string(&image)?)?, image);
        }
        Ok(())
    }

    #[test]
    fn removals_come_back_from_their_messages_and_have_a_queue_of_their_own() -> Result<(), Box<dyn std::error::Error>>
    {
        let at = Timestamp::from_millis(1_795_000_000_000);
        for change in [
            IndexChange::Remove { reason: Gone::NotFound },
            IndexChange::Expire { at: Some(at), validators: Some(Validators::default()) },
            IndexChange::Expire { at: None, validators: None },
        ] {
            let page = PageId::new("0123456789abcdef0123456789abcdef")?;
            let url = "https://example.org/a".to_owned();
            let job = Job::Remove(RemovalJob { page, url, change, judged_at: at, trace: None });
            assert_eq!(Job::from_message(&job.to_message()?)?, job);
            assert_eq!((job.stage(), job.stage().as_str(), job.kind()), (Stage::Remove, "remove", "remove"));
        }
        Ok(())
    }

    #[test]
    fn only_looking_for_a_proof_is_for_the_queue_whose_stage_calls_sites() -> Result<(), Box<dyn std::error::Error>> {
        let challenge = Challenge::new(&"a".repeat(Challenge::DIGITS))?;
        let of =
            |request, looked| OwnJob { looked, ..OwnJob::new("example.org".to_owned(), challenge.clone(), request) };
        let at = Timestamp::from_millis(1_795_000_000_000);
        let looked = LookResult { at, found: Some(Way::File), misses: vec![(Way::Dns, Miss::Absent)] };
        let (url, state) = ("https://example.org/a".to_owned(), ReportedState::Accepted);
        let line = PageLine { url: url.clone(), state, reason: None, at, checked_at: None };
        let progress = OwnProgress {
            asked: at,
            after: Some(PageId::new("0123456789abcdef0123456789abcdef")?),
            after_source: Some(SourceKey::new("0123456789abcdef0123456789abcdef")?),
            counts: [(state, 100_000)].into(),
            pages: vec![line],
            feeds: vec![FeedLine { url, polled_at: None, next: Some(at) }],
            history: vec![],
        };
        let first = of(OwnerRequest::Forget, None);
        let further = OwnJob { progress: Some(progress), ..first.clone() };
        assert_eq!(Job::Own(of(OwnerRequest::Look, None)).stage(), Stage::Discover);
        for job in [of(OwnerRequest::Look, Some(looked)), of(OwnerRequest::Report, None), first.clone(), further] {
            let job = Job::Own(job);
            assert_eq!(job.stage(), Stage::Remove);
            assert_eq!(Job::from_message(&job.to_message()?)?, job);
        }
        assert!(!Job::Own(first).to_message()?.contains("progress"), "as a job of an earlier version");
        Ok(())
    }

    #[test]
    fn every_kind_that_bounds_its_waits_counts_them() -> Result<(), Box<dyn std::error::Error>> {
        let challenge = Challenge::new(&"a".repeat(Challenge::DIGITS))?;
        let look = OwnJob::new("example.org".to_owned(), challenge, OwnerRequest::Look);
        assert!(matches!(Job::Own(look).waited().waited(), Job::Own(job) if job.waits == 2));
        Ok(())
    }

    #[test]
    fn a_job_of_another_version_is_named_as_such() -> Result<(), Box<dyn std::error::Error>> {
        let message = poll()?.to_message()?.replacen("\"v\":1", "\"v\":9", 1);
        let error = Job::from_message(&message).err().unwrap_or_default();
        assert!(error.contains("version 9"), "{error}");
        assert!(Job::from_message("{").is_err());
        Ok(())
    }
}
