//! Ownership: who has shown that a site is theirs, and what they asked for. One small object for each host that somebody
//! has claimed.

use crate::hex::is_hex;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// Challenge that a claimant publishes: 160 bits as hexadecimal digits, of which nobody can tell the claimant's own key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Challenge(String);

impl Challenge {
    /// Hexadecimal digits.
    pub const DIGITS: usize = 40;

    /// From its digits, in lower case.
    ///
    /// # Errors
    /// If they are not as many, or others.
    pub fn new(text: &str) -> Result<Challenge, String> {
        if is_hex(text, Self::DIGITS) {
            Ok(Challenge(text.to_owned()))
        } else {
            Err(format!("a challenge has {} hexadecimal digits", Self::DIGITS))
        }
    }

    /// Its digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for Challenge {
    type Error = String;

    fn try_from(text: String) -> Result<Challenge, String> {
        Challenge::new(&text)
    }
}

impl From<Challenge> for String {
    fn from(challenge: Challenge) -> String {
        challenge.0
    }
}

impl fmt::Display for Challenge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Place where a challenge may be published.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// In a TXT record below the host's name.
    Dns,
    /// In a file at a fixed place of the site.
    File,
    /// In a meta tag of the home page.
    Meta,
}

impl Way {
    /// All of them, in the order in which they are looked at: the one that costs the site no call first.
    pub const ALL: [Way; 3] = [Way::Dns, Way::File, Way::Meta];
}

/// Why a challenge was not found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Miss {
    /// There is nothing at that place.
    Absent,
    /// There is something else.
    Other,
    /// It leads elsewhere; who can lead visitors away from a site need not own it.
    Redirect,
    /// robots.txt keeps us out, so it was not looked at.
    Robots,
    /// The host is blocked, so it was not looked at.
    Blocked,
    /// The host is left alone for a while, so it was not looked at.
    Held,
    /// It could not be read.
    #[serde(rename = "trouble")]
    Unreachable,
}

/// Request of a claimant. All but [`OwnerRequest::Look`] needs a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OwnerRequest {
    /// Look whether the challenge is published.
    Look,
    /// Tell anew what is kept of the host.
    Report,
    /// No further call, and nothing of it is found.
    Block,
    /// Take the block back.
    Unblock,
    /// Ask its feeds and its pages again.
    Visit,
    /// Remove everything, and block.
    Forget,
}

/// All claims to one host, and what its owner is told.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ownership {
    /// The host's name, in canonical form.
    pub host: String,
    /// When a proof was looked for lately, the oldest first.
    #[serde(default)]
    pub looks: Vec<Timestamp>,
    /// The oldest first.
    #[serde(default)]
    pub claims: Vec<Claim>,
    /// The last report to its owner.
    #[serde(rename = "dossier", default, skip_serializing_if = "Option::is_none")]
    pub report: Option<HostReport>,
}

/// One claim to a host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    /// The challenge to publish.
    pub challenge: Challenge,
    /// When something was asked for last, by what.
    #[serde(default)]
    pub asked: BTreeMap<OwnerRequest, Timestamp>,
    /// When it was done last, by what.
    #[serde(default)]
    pub done: BTreeMap<OwnerRequest, Timestamp>,
    /// Places where the last look did not find the challenge.
    #[serde(default)]
    pub misses: Vec<(Way, Miss)>,
    /// Place and time of the last look that found it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<(Way, Timestamp)>,
}

/// Report to an owner of everything that is stored of a host.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HostReport {
    /// When it was told.
    pub at: Timestamp,
    /// Its feeds.
    pub feeds: Vec<FeedLine>,
    /// Number of pages of each state.
    pub counts: BTreeMap<String, u64>,
    /// Its pages, those that were written last first; not all of them if there are many.
    pub pages: Vec<PageLine>,
}

/// A feed in a report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FeedLine {
    /// Its address.
    pub url: String,
    /// When it was read last, if it ever was.
    pub polled_at: Option<Timestamp>,
    /// When it is read next; never if it is not read any more.
    pub next: Option<Timestamp>,
}

/// A page in a report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PageLine {
    /// Its address.
    pub url: String,
    /// Its state and the reason, each as a word.
    pub state: String,
    /// When that was written: for a page that can be found, when it was fetched and taken in.
    pub at: Timestamp,
    /// When it was last seen to be still there.
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
            done: BTreeMap::new(),
            misses: vec![(Way::Dns, Miss::Absent)],
            proof: Some((Way::File, at)),
        };
        let whole = Ownership { host: "example.org".into(), looks: vec![at], claims: vec![claim], report: None };
        assert_eq!(serde_json::from_str::<Ownership>(&serde_json::to_string(&whole)?)?, whole);
        Ok(())
    }
}
