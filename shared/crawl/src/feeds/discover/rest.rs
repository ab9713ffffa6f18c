//! The remaining work of a discovery between two visits.

use curlew_model::DiscoverJob;
use curlew_policy::address;
use url::Url;

/// The remaining work of a discovery, as its job carries it.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Rest {
    /// The home page's address, once it was read.
    pub(super) home: Option<Url>,
    /// Feeds that it names and that are still to be tried; once the usual addresses are, those of which none works.
    pub(super) links: Vec<Url>,
    /// The usual address that is tried next, once the links are done with.
    pub(super) next_guess: Option<u8>,
}

impl Rest {
    /// Reads it from a job.
    pub(super) fn new(job: &DiscoverJob) -> Rest {
        let url = |text: &String| address::parse(text, None).ok();
        let links = job.links.iter().filter_map(url).collect();
        Rest { home: job.home.as_ref().and_then(url), links, next_guess: job.next_guess }
    }

    /// The job that carries it on.
    pub(super) fn job(&self, job: &DiscoverJob) -> DiscoverJob {
        DiscoverJob {
            home: self.home.as_ref().map(|url| url.as_str().to_owned()),
            links: self.links.iter().map(|url| url.as_str().to_owned()).collect(),
            next_guess: self.next_guess,
            ..job.clone()
        }
    }
}
