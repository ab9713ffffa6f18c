//! The sites that one server serves.

use crate::catalogue::{BLOGGER, Catalogue};
use crate::site::{Expect, Outcome, Site};
use crate::sites;
use crate::uniform::{self, Uniform, UniformSite};
use std::collections::HashMap;

/// All sites that one server serves.
#[derive(Clone, Debug)]
pub struct Farm {
    sites: Vec<Site>,
    by_host: HashMap<String, usize>,
}

impl Farm {
    /// Returns the bundled web: some seventy small sites, each with different properties.
    pub fn demo() -> Farm {
        Farm::new(sites::all())
    }

    /// Returns identical sites, for measurements.
    pub fn uniform(spec: &Uniform) -> Farm {
        Farm::new(uniform::sites(spec, 1..=spec.hosts, false).map(site).collect())
    }

    /// Returns uniform sites whose pages compress like real ones, to about a fifth with zstd; see [`Farm::uniform`].
    /// `numbers` selects the hosts: 7 gives `PREFIX-0007.test`.
    pub fn keyed(spec: &Uniform, numbers: &[usize]) -> Farm {
        Farm::new(uniform::sites(spec, numbers.iter().copied(), true).map(site).collect())
    }

    /// Returns one site of each given kind, with this number of articles. A crawl of only the feed finds few entries;
    /// [`Site::expect`] and [`Site::entries`] count all.
    pub fn catalogues(kinds: &[(Catalogue, usize)]) -> Farm {
        Farm::new(kinds.iter().map(|(kind, pages)| catalogue(*kind, *pages)).collect())
    }

    pub(crate) fn new(sites: Vec<Site>) -> Farm {
        let mut by_host = HashMap::new();
        for (i, site) in sites.iter().enumerate() {
            for host in &site.hosts {
                by_host.entry(host.clone()).or_insert(i);
            }
        }
        Farm { sites, by_host }
    }

    /// Makes the feeds of all uniform sites, so that no call waits for one of tens of thousands of entries.
    pub fn make_feeds(&self) {
        for uniform in self.sites.iter().filter_map(|site| site.uniform.as_ref()) {
            uniform.feed();
        }
    }

    /// Returns all sites, in a fixed order.
    pub fn sites(&self) -> &[Site] {
        &self.sites
    }

    /// Returns the site that answers for a host name (lower case, without a port).
    pub fn site(&self, host: &str) -> Option<&Site> {
        self.sites.get(*self.by_host.get(host)?)
    }
}

/// Converts a uniform site to an ordinary one.
fn site(uniform: UniformSite) -> Site {
    let host = uniform.publisher.host.clone();
    Site {
        start_url: format!("http://{host}/"),
        about: "one of many alike: an RSS feed, pages of one size, every one fit to be accepted",
        expect: Expect { accepted: uniform.pages, feeds: 1, ..Expect::default() },
        hosts: vec![host.clone()],
        host,
        publisher: Some(uniform.publisher.clone()),
        uniform: Some(uniform),
        ..Site::default()
    }
}

fn catalogue(kind: Catalogue, pages: usize) -> Site {
    let mut site = site(UniformSite::long(format!("catalogue-{}.test", kind.name()), pages));
    site.about = "more articles than its feed lists";
    site.expect.feeds = usize::from(kind.feed().is_some());
    site.entries =
        site.uniform.iter().flat_map(|long| (0..pages).map(|n| (long.address(n), Outcome::Accepted))).collect();
    site.hosts.extend((kind == Catalogue::Blogger).then(|| BLOGGER.to_owned()));
    site.catalogue = Some(kind);
    site
}
