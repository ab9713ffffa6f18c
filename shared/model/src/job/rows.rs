//! Jobs that change stored rows, or send messages about them.

use crate::{
    BackfillLine, Challenge, FeedLine, Gone, LookResult, OwnerRequest, PageId, PageLine, ReportedState, SourceKey,
    Timestamp, Validators,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Job that carries out a request of a claimant of a site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnJob {
    /// The host's name, in canonical form.
    pub host: String,
    /// Challenge of the claim.
    pub challenge: Challenge,
    /// Requested action.
    pub request: OwnerRequest,
    /// True if the proof is only looked up in the DNS, without a call to the site.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dns_only: bool,
    /// Result of the check for a proof, for the stage that stores it; a different stage makes the check.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub looked: Option<LookResult>,
    /// Progress of the previous steps; `None` for the first step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<OwnProgress>,
}

impl OwnJob {
    /// Creates the job for a request, or for its first step if it has several.
    pub fn new(host: String, challenge: Challenge, request: OwnerRequest) -> OwnJob {
        OwnJob { host, challenge, request, dns_only: false, looked: None, progress: None }
    }

    /// True if the job has to check for a proof.
    pub const fn needs_look(&self) -> bool {
        matches!(self.request, OwnerRequest::Look) && self.looked.is_none()
    }
}

/// Progress of an owner's request that reads the rows of all pages and sources in bounded steps, one job each.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnProgress {
    /// Time of the owner's request, the same in all steps.
    pub asked: Timestamp,
    /// Last page row that was read; `None` before the first row, and when no rows are left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<PageId>,
    /// Last source row that was read; `None` before the first row, and when no rows are left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_source: Option<SourceKey>,
    /// Number of pages counted so far, for each state.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub counts: BTreeMap<ReportedState, u64>,
    /// Pages to list in the report, so far.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pages: Vec<PageLine>,
    /// Feeds to list in the report, so far.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub feeds: Vec<FeedLine>,
    /// Backfills to list in the report, so far.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<BackfillLine>,
}

impl OwnProgress {
    /// True if rows are left to read.
    pub const fn is_under_way(&self) -> bool {
        self.after.is_some() || self.after_source.is_some()
    }
}

/// Job that changes a page in the index, sent by stages that read untrusted documents and may not write there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RemovalJob {
    /// The page.
    pub page: PageId,
    /// URL of the page, for people.
    pub url: String,
    /// The change.
    #[serde(flatten)]
    pub change: IndexChange,
    /// Time of the decision. The job is void if the page was accepted, or found present, afterwards.
    pub judged_at: Timestamp,
}

impl RemovalJob {
    /// Creates the job that removes a page from the index. `judged_at` is the time of the decision.
    pub fn remove(page: PageId, url: String, reason: Gone, judged_at: Timestamp) -> RemovalJob {
        RemovalJob { page, url, change: IndexChange::Remove { reason }, judged_at }
    }
}

/// Change to a page in the index.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum IndexChange {
    /// The page is removed permanently.
    Remove {
        /// Reason.
        reason: Gone,
    },
    /// The page stays, but states a different time at which it becomes unavailable.
    Expire {
        /// The time that the page states; `None` if it no longer states one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at: Option<Timestamp>,
        /// Validators of the document, if its content equals that of the record.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        validators: Option<Validators>,
    },
}

/// Job that sends visits to the pages that a block of their host had excluded, in bounded steps, one job each.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TakeUpJob {
    /// Host name that is no longer blocked.
    pub host: String,
    /// Last page row that was read; `None` in the first step.
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
    /// Instant of the scheduled retry after a failure of the receiver; `None` if new matches caused the job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_at: Option<Timestamp>,
}
