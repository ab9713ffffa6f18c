//! Pages: one row with the outcome for every URL that was ever processed.

use crate::{HostKey, Location, PageId, SourceKey, Timestamp, TraceId, Validators, with_defaults, words};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Calendar year (UTC) of the index that contains a page: the year in which the page was accepted.
pub type Year = i16;

words! {
    /// Reliability of a date that a page states.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Confidence {
        /// A guess: a date in running text, or the time of some other event.
        Low = "low",
        /// A date shown near the headline, or contained in the URL.
        Medium = "medium",
        /// Markup that names the event of the date.
        High = "high",
    }
}

with_defaults! {
    /// Row of one URL.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub struct Page {
        /// Hash of the canonical URL.
        pub id: PageId,
        /// The canonical URL.
        pub url: String,
        /// Host key whose politeness rules apply to the page.
        pub host: HostKey,
        /// Feed that named the page.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub feed: Option<SourceKey> = None,
        /// State of the page.
        pub state: PageState,
        /// Time at which the state was written.
        pub at: Timestamp,
        /// Time of the last check that found the page still present.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub checked_at: Option<Timestamp> = None,
        /// Expiry that the page states itself, if a re-check found a different one from that in the record.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub expires: Option<Timestamp> = None,
        /// Time at which a re-check found other content at the URL; a second check decides whether the page is gone.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub doubted_at: Option<Timestamp> = None,
        /// Time of the first rejection, if the page was fetched again since.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub rejected_at: Option<Timestamp> = None,
        /// Validators of the document that the record was made from, for the next conditional request.
        #[serde(default, skip_serializing_if = "Validators::is_empty")]
        pub validators: Validators = Validators::default(),
        /// Chain of jobs in which the page was fetched.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub trace: Option<TraceId> = None,
    }

    /// Creates the row of a page that no feed named and no re-check has seen.
    new(id: PageId, url: String, host: HostKey, state: PageState, at: Timestamp)
}

/// State of a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum PageState {
    /// Fetched, and waiting for extraction.
    Pending,
    /// The page's record is stored.
    Accepted {
        /// Year of the index.
        year: Year,
        /// Location of the record.
        location: Location,
        /// Hash of title and text: 16 hexadecimal digits.
        content_hash: String,
    },
    /// Examined and not accepted.
    Rejected {
        /// Reason.
        reason: Rejection,
    },
    /// The page no longer exists, or must no longer be found.
    Gone {
        /// Reason.
        reason: Gone,
    },
    /// Alternative address of another page, whose row has the outcome.
    Alias {
        /// Id of the other page.
        of: PageId,
    },
}

impl PageState {
    /// True if the page was rejected for content that its author may change, so that it is fetched again later.
    pub const fn has_second_chance(&self) -> bool {
        let PageState::Rejected { reason } = self else { return false };
        matches!(
            reason,
            Rejection::Noindex
                | Rejection::Status(404)
                | Rejection::SoftNotFound(_)
                | Rejection::NoTitle
                | Rejection::ShortText
                | Rejection::NoImage
        )
    }

    /// True if the page may still be accepted without a decision by a person: it is pending, or will be fetched again.
    pub const fn is_open(&self) -> bool {
        matches!(self, PageState::Pending) || self.may_be_taken_up() || self.has_second_chance()
    }

    /// True if the reason may pass, or the operator has lifted the rejection, so that a new visit fetches the page.
    pub const fn may_be_taken_up(&self) -> bool {
        let PageState::Rejected { reason } = self else { return false };
        matches!(
            reason,
            Rejection::Blocked | Rejection::HostUnavailable(_) | Rejection::Screened(Screened { lifted: true, .. })
        )
    }
}

/// Reason why a page was not accepted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "why", content = "detail", rename_all = "snake_case")]
pub enum Rejection {
    /// robots.txt disallows the URL (RFC 9309).
    #[error("robots.txt forbids it")]
    Robots,
    /// robots.txt disallows the URL according to the second matcher, but not according to our own.
    #[error("robots.txt forbids it as its second reader, texting_robots, understands it; our own would allow it")]
    RobotsDoubted,
    /// The address guard refused the address: not public, a wrong port or a wrong scheme.
    #[error("the address is refused: {0}")]
    Address(String),
    /// The page's host is blocked by the operator or its owner.
    #[error("the host is blocked")]
    Blocked,
    /// The operator's settings exclude the URL. Contains the rule.
    #[error("it is excluded by {0}")]
    Excluded(String),
    /// A content signal or a licence (RSL) forbids indexing. Contains the preference.
    #[error("it asks not to be searched: {0}")]
    Preference(String),
    /// `noindex` or `none` in a meta tag or an X-Robots-Tag header.
    #[error("the page asks not to be indexed")]
    Noindex,
    /// The server answered with this status code, such as 404 or 410.
    #[error("the server answered {0}")]
    Status(u16),
    /// Soft 404: a 200 with a message that the page does not exist. Contains the title given by the page's feed.
    #[error("the server answered that there is no such page, in place of '{0}'")]
    SoftNotFound(String),
    /// Too many redirects, a loop, or a redirect without a usable target.
    #[error("the redirect was not followed: {0}")]
    Redirect(String),
    /// A limit on bytes, time or compression was exceeded.
    #[error("a limit was broken: {0}")]
    Limit(String),
    /// The transport failed in a way that a retry cannot fix.
    #[error("the transfer failed: {0}")]
    Transport(String),
    /// The document is not HTML.
    #[error("the document is {0}, not HTML")]
    MediaType(String),
    /// The page could not be parsed within its limits.
    #[error("the page cannot be read: {0}")]
    Unreadable(String),
    /// The page has no title.
    #[error("the page has no title")]
    NoTitle,
    /// Too little text: neither 250 characters nor 50 words.
    #[error("the page has too little text")]
    ShortText,
    /// Neither the page nor its site has an image.
    #[error("neither the page nor its site has an image")]
    NoImage,
    /// Content screening rejected it.
    #[error("content screening: {0}")]
    Screened(Screened),
    /// The host stayed on hold or unreachable for the maximum number of tries.
    #[error("the host stayed out of reach: {0}")]
    HostUnavailable(String),
}

impl Rejection {
    /// Returns the name under which summaries count the rejection.
    pub const fn code(&self) -> &'static str {
        match self {
            Rejection::Robots | Rejection::RobotsDoubted => "robots",
            Rejection::Address(_) => "address",
            Rejection::Blocked => "blocked",
            Rejection::Excluded(_) => "excluded",
            Rejection::Preference(_) => "preference",
            Rejection::Noindex => "noindex",
            Rejection::Status(404) => "not_found",
            Rejection::Status(410) => "gone",
            Rejection::Status(_) => "status",
            Rejection::SoftNotFound(_) => "soft_404",
            Rejection::Redirect(_) => "redirect",
            Rejection::Limit(_) => "limit",
            Rejection::Transport(_) => "transport",
            Rejection::MediaType(_) => "media_type",
            Rejection::Unreadable(_) => "unreadable",
            Rejection::NoTitle => "no_title",
            Rejection::ShortText => "short_text",
            Rejection::NoImage => "no_image",
            Rejection::Screened(_) => "screened",
            Rejection::HostUnavailable(_) => "host_unavailable",
        }
    }
}

/// Reason why content screening rejected a page.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Screened {
    /// Topics that caused the rejection, `person` or `operator`.
    pub topics: Vec<String>,
    /// Explanation for people, at most [`Screened::MAX_BECAUSE`] bytes: the scores, and the decisive term or image.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
    /// A tiny blurred preview of the image that caused the rejection, if one did: a bitmap file in base64.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub picture: Option<String>,
    /// True if the operator has allowed the page since, so that it is to be fetched again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lifted: bool,
}

impl Screened {
    /// Name used instead of a topic if only the operator's override rejects a page.
    pub const OPERATOR: &str = "operator";

    /// Maximum length of an explanation in bytes; rows are billed by the KB.
    pub const MAX_BECAUSE: usize = 480;

    /// Creates a reason from topics and explanation, and truncates the explanation to [`Screened::MAX_BECAUSE`].
    pub fn new(topics: Vec<String>, because: Option<String>) -> Screened {
        let because = because.map(|mut text| {
            if text.len() > Screened::MAX_BECAUSE {
                text.truncate(text.floor_char_boundary(Screened::MAX_BECAUSE - '…'.len_utf8()));
                text.push('…');
            }
            text
        });
        Screened { topics, because, picture: None, lifted: false }
    }

    /// True if only the operator's override rejected the page.
    pub fn is_operators(&self) -> bool {
        self.topics == [Screened::OPERATOR]
    }
}

impl fmt::Display for Screened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.topics.join(", "))?;
        self.because.as_ref().map_or(Ok(()), |because| write!(f, ". {because}"))
    }
}

words! {
    /// Reason why an accepted page must no longer be found.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Gone {
        /// A re-check got 404 Not Found.
        NotFound = "not_found",
        /// 410 Gone.
        Gone = "gone",
        /// `noindex` was added.
        Noindex = "noindex",
        /// robots.txt now disallows the URL.
        Robots = "robots",
        /// The page's host was blocked.
        Blocked = "blocked",
        /// The operator's settings now exclude the URL.
        Excluded = "excluded",
        /// A content signal or a licence that forbids indexing was added.
        Preference = "preference",
        /// `unavailable_after` has passed.
        Expired = "expired",
        /// The page redirects to another one.
        Moved = "moved",
        /// The page's feed has deleted the entry (RFC 6721).
        Deleted = "deleted",
        /// Content screening rejects the page now: its image was fetched later, or the operator denied the page.
        Screened = "screened",
        /// Two checks got a 200 with other content: the home page, or a message that the page does not exist.
        Replaced = "replaced",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_screening_found_is_kept_with_a_short_reason() -> Result<(), serde_json::Error> {
        let bare = PageState::Rejected { reason: Rejection::Screened(Screened::new(vec!["adult".into()], None)) };
        assert_eq!(serde_json::from_str::<PageState>(&serde_json::to_string(&bare)?)?, bare);
        let why = Screened::new(vec!["adult".into()], Some("è".repeat(1_000)));
        assert!(why.because.as_ref().is_some_and(|b| b.len() <= Screened::MAX_BECAUSE && b.ends_with("è…")));
        let whole = PageState::Rejected { reason: Rejection::Screened(why) };
        assert_eq!(serde_json::from_str::<PageState>(&serde_json::to_string(&whole)?)?, whole);
        Ok(())
    }
}
