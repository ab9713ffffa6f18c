//! Ownership: proofs that a site belongs to a claimant, and the claimant's requests. One object per claimed host.

use crate::{BackfillLine, Challenge, Timestamp, words};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

words! {
    /// Place where a challenge may be published, in the order of the checks. DNS needs no call to the site.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Way {
        /// In a DNS TXT record below the host's name.
        Dns = "a TXT record",
        /// In a file at a fixed path of the site.
        File = "a file",
        /// In a meta tag of the home page.
        Meta = "its home page",
    }
}

/// Reason why a challenge was not found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Miss {
    /// Nothing is published at that place.
    Absent,
    /// Something other than the challenge is published there.
    Other,
    /// The address redirects. Control over a redirect does not prove ownership of the site.
    Redirect,
    /// robots.txt disallows the address, so it was not checked.
    Robots,
    /// The host is blocked, so it was not checked.
    Blocked,
    /// The host is on hold, so it was not checked.
    Held,
    /// The proof could not be read.
    Unreachable,
}

/// Result of a check for a challenge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LookResult {
    /// Time of the check.
    pub at: Timestamp,
    /// Place where the challenge was found, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<Way>,
    /// Places where the challenge was not found, with the reason for each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub misses: Vec<(Way, Miss)>,
}

/// Request of a claimant. Each one except [`OwnerRequest::Look`] needs a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OwnerRequest {
    /// Check whether the challenge is published.
    Look,
    /// Refresh the report of everything stored about the host.
    Report,
    /// Stop calls to the host, and hide its pages.
    Block,
    /// Remove the block.
    Unblock,
    /// Poll the host's feeds and re-check its pages.
    Visit,
    /// Remove everything stored about the host, and block it.
    Forget,
    /// Do not read the back catalogue.
    HistoryOff,
    /// Read the back catalogue again.
    HistoryOn,
}

/// All claims to one host, and the report to its owner.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ownership {
    /// The host's name, in canonical form.
    pub host: String,
    /// Times of recent checks for a proof, oldest first.
    #[serde(default)]
    pub looks: Vec<Timestamp>,
    /// Claims, oldest first.
    #[serde(default)]
    pub claims: Vec<Claim>,
    /// Last report to the owner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<HostReport>,
}

/// A claim to a host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    /// The challenge to publish.
    pub challenge: Challenge,
    /// Time of the last request of each kind.
    #[serde(default)]
    pub asked: BTreeMap<OwnerRequest, Timestamp>,
    /// Requests whose jobs may not have been sent, so that they may be repeated at once.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub unsent: BTreeSet<OwnerRequest>,
    /// Time at which a request of each kind was last completed.
    #[serde(default)]
    pub done: BTreeMap<OwnerRequest, Timestamp>,
    /// Places where the last check did not find the challenge.
    #[serde(default)]
    pub misses: Vec<(Way, Miss)>,
    /// Place and time of the last successful check.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<(Way, Timestamp)>,
}

/// Report to an owner of everything stored about a host.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HostReport {
    /// Time of the report.
    pub at: Timestamp,
    /// The host's feeds.
    pub feeds: Vec<FeedLine>,
    /// Backfills of the host, running or ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<BackfillLine>,
    /// Number of pages in each state.
    pub counts: BTreeMap<ReportedState, u64>,
    /// Pages of the host, most recently written first. Incomplete if there are many.
    pub pages: Vec<PageLine>,
}

/// A feed in a report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FeedLine {
    /// Address of the feed.
    pub url: String,
    /// Time of the last poll, if any.
    pub polled_at: Option<Timestamp>,
    /// Time of the next poll; `None` if the feed is no longer polled.
    pub next: Option<Timestamp>,
}

/// State of a page in a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReportedState {
    /// The page waits for its fetch or its extraction.
    Pending,
    /// The page is in the index.
    Accepted,
    /// The page was not accepted.
    Rejected,
    /// The page was removed.
    Gone,
}

/// A page in a report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageLine {
    /// Address of the page.
    pub url: String,
    /// State of the page.
    pub state: ReportedState,
    /// Name of the reason for a rejection or a removal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Time at which the state was written: for an indexed page, the time at which it was fetched and accepted.
    pub at: Timestamp,
    /// Time of the last check that found the page still present.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checked_at: Option<Timestamp>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_challenge_is_forty_digits_and_nothing_else() {
        let good = "0123456789abcdef0123456789abcdef01234567";
        assert_eq!(Challenge::new(good).map(String::from).as_deref(), Ok(good));
        for bad in ["", "0123", &good.to_uppercase(), &format!("{good}0"), &good.replace('0', "g"), &"é".repeat(20)] {
            assert!(Challenge::new(bad).is_err(), "{bad}");
        }
        assert!(serde_json::from_str::<Challenge>("\"nonsense\"").is_err());
    }

    #[test]
    fn an_ownership_comes_back_from_json() -> Result<(), Box<dyn std::error::Error>> {
        let at = Timestamp::from_millis(1_800_000_000_000);
        let claim = Claim {
            challenge: Challenge::new(&"a".repeat(Challenge::DIGITS))?,
            asked: BTreeMap::from([(OwnerRequest::Look, at)]),
            unsent: BTreeSet::from([OwnerRequest::Look]),
            done: BTreeMap::new(),
            misses: vec![(Way::Dns, Miss::Absent)],
            proof: Some((Way::File, at)),
        };
        let whole = Ownership { host: "example.org".into(), looks: vec![at], claims: vec![claim], report: None };
        assert_eq!(serde_json::from_str::<Ownership>(&serde_json::to_string(&whole)?)?, whole);
        Ok(())
    }
}
