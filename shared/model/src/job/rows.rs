//! Jobs that change what is stored, or tell of it.

use crate::{BackfillLine, Challenge, FeedLine, Gone, LookResult, OwnerRequest, PageId, PageLine};
use crate::{ReportedState, SourceKey, Timestamp, Validators};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Job that carries out a request of somebody who claims a site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnJob {
    /// The host's name, in canonical form.
    pub host: String,
    /// Challenge of the claim.
    pub challenge: Challenge,
    /// Requested action.
    pub request: OwnerRequest,
    /// True if the proof is looked up in the DNS alone, without calling the site.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dns_only: bool,
    /// Result of a look, which is written down by another stage than the one that looks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub looked: Option<LookResult>,
    /// Progress of the steps before this one; `None` for the first step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<OwnProgress>,
}

impl OwnJob {
    /// Creates the job for a request, with its first step if it has several.
    pub fn new(host: String, challenge: Challenge, request: OwnerRequest) -> OwnJob {
        OwnJob { host, challenge, request, dns_only: false, looked: None, progress: None }
    }

    /// True if a proof is still to be looked for.
    pub const fn needs_look(&self) -> bool {
        matches!(self.request, OwnerRequest::Look) && self.looked.is_none()
    }
}

/// Progress of an owner's request that reads the rows of all pages and sources; each bounded step is a job.
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

/// Job that changes the index's knowledge of a page, for stages that read strangers' documents and may not write there.
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
}

impl RemovalJob {
    /// Creates the job that takes a page out of the index, as was judged at this time.
    pub fn remove(page: PageId, url: String, reason: Gone, judged_at: Timestamp) -> RemovalJob {
        RemovalJob { page, url, change: IndexChange::Remove { reason }, judged_at }
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

/// Job that sends visits to the pages that a block of their host has kept out; each bounded step is a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TakeUpJob {
    /// The name that is not blocked any more.
    pub host: String,
    /// The last row of a page that was read; `None` in the first step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<PageId>,
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
