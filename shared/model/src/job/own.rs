//! Requests of owners.

use crate::backfill::BackfillLine;
use crate::ids::{PageId, SourceKey};
use crate::kind::Kind;
use crate::ownership::{Challenge, FeedLine, LookResult, OwnerRequest, PageLine, ReportedState};
use crate::queue_name::QueueName;
use crate::time::Timestamp;
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
    /// Progress of the steps before this one, for a request that reads the rows of all pages; `None` for its first
    /// step.
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

impl Kind for OwnJob {
    const NAME: &'static str = "own";
    const QUEUE: QueueName = QueueName::Remove;

    fn chain(&self) -> (String, Timestamp) {
        (format!("{} {}", self.host, self.challenge), Timestamp::EPOCH)
    }

    /// Looking for a proof is for the queue whose jobs call sites; all else reads nothing of a site.
    fn queue(&self) -> QueueName {
        if self.needs_look() { QueueName::Discover } else { Self::QUEUE }
    }
}
