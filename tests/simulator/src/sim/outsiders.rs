//! Hubs and owners of sites as the model web has them.

use crate::bad_time::Moment;
use curlew_model::{Challenge, Way};
use std::collections::BTreeSet;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Conduct {
    /// Asks back, and delivers what is new.
    Honest,
    /// Asks back, and delivers news that are none, several at a time, with wrong signatures, and after its subscription
    /// has ended.
    Liar,
    /// Takes requests, and denies them later.
    Denies,
    /// Takes requests, and is never heard of again.
    Silent,
    /// Grants an hour.
    Stingy,
    /// Asks back about another topic, and about the end of what nobody wants to end.
    Confused,
}

/// All, as often as they are met.
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
    /// From then on it is not found, and delivers nothing.
    pub(super) gone_from: Option<Moment>,
}

/// Somebody who says that a site is theirs.
#[derive(Clone, Debug)]
pub(super) struct Owner {
    pub(super) host: String,
    pub(super) challenge: Challenge,
    /// Where they publish their challenge; a false owner cannot.
    pub(super) way: Option<Way>,
    /// From when until when it is published.
    pub(super) published: (Moment, Moment),
}

impl Owner {
    pub(super) fn publishes(&self, host: &str, way: Way, now: Moment) -> bool {
        self.host == host && self.way == Some(way) && self.published.0 <= now && now < self.published.1
    }
}

/// The past of a web.
#[derive(Clone, Debug, Default)]
pub(super) struct History {
    /// Addresses of archives and sitemaps, those without an answer included.
    pub(super) documents: BTreeSet<String>,
    /// Addresses of pages that only these name, in canonical form.
    pub(super) pages: BTreeSet<String>,
    /// Requests of people.
    pub(super) asked: Vec<HistoryRequest>,
}

/// A request for a back catalogue.
#[derive(Clone, Debug)]
pub(super) struct HistoryRequest {
    /// Address of the site or feed.
    pub(super) url: String,
    pub(super) at: Moment,
    pub(super) limit: Option<u64>,
}
