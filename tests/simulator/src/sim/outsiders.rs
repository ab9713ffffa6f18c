//! Hubs and owners of sites in the model web.

use crate::bad_time::Moment;
use curlew_model::{Challenge, Way};
use std::collections::BTreeSet;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Conduct {
    /// Verifies the intent, and delivers real news.
    Honest,
    /// Verifies the intent, and delivers false news, several deliveries at a time, with wrong signatures, and after its
    /// subscription has ended.
    Liar,
    /// Accepts requests, and denies them later.
    Denies,
    /// Accepts requests, and never calls back.
    Silent,
    /// Grants a lease of an hour.
    Stingy,
    /// Verifies another topic, and unsubscriptions that nobody requested.
    Confused,
}

/// All kinds of conduct, repeated by their frequency.
pub(super) const CONDUCTS: [Conduct; 8] = [
    Conduct::Honest,
    Conduct::Honest,
    Conduct::Liar,
    Conduct::Liar,
    Conduct::Denies,
    Conduct::Silent,
    Conduct::Stingy,
    Conduct::Confused,
];

#[derive(Clone, Debug)]
pub(super) struct Hub {
    pub(super) url: String,
    pub(super) conduct: Conduct,
    /// From this moment on the hub answers 404 and delivers nothing.
    pub(super) gone_from: Option<Moment>,
}

/// A person who claims that a site is theirs.
#[derive(Clone, Debug)]
pub(super) struct Owner {
    pub(super) host: String,
    pub(super) challenge: Challenge,
    /// Where the owner publishes the challenge; `None` for a false owner, who cannot.
    pub(super) way: Option<Way>,
    /// Start and end of the time in which the challenge is published.
    pub(super) published: (Moment, Moment),
}

impl Owner {
    pub(super) fn publishes(&self, host: &str, way: Way, now: Moment) -> bool {
        self.host == host && self.way == Some(way) && self.published.0 <= now && now < self.published.1
    }
}

/// Back catalogues of a web.
#[derive(Clone, Debug, Default)]
pub(super) struct History {
    /// URLs of archives and sitemaps, including those without an answer.
    pub(super) documents: BTreeSet<String>,
    /// Canonical URLs of pages that only these documents name.
    pub(super) pages: BTreeSet<String>,
    /// Requests for back catalogues.
    pub(super) asked: Vec<HistoryRequest>,
}

/// A request for a back catalogue.
#[derive(Clone, Debug)]
pub(super) struct HistoryRequest {
    /// URL of the site or feed.
    pub(super) url: String,
    pub(super) at: Moment,
    pub(super) limit: Option<u64>,
}
