//! Overrides: the operator allows or denies a page or a site, regardless of the content policy. They are applied at
//! each screening, and so survive re-checks and changes of the lists.

use crate::settings::is_of;
use crate::topic::{Topic, Verdict};
use serde::{Deserialize, Serialize};

/// An operator's override.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Override {
    /// The page or site that the override covers.
    pub scope: Scope,
    /// Verdict for the page or site.
    pub verdict: Verdict,
    /// Topics that the override lets through. An empty list stands for all topics and persons.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub topics: Vec<Topic>,
    /// The operator's reason, shown with the verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Scope of an override.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// One page, by its URL in the form that the caller stores.
    Page(String),
    /// A host in lower case, with its subdomains.
    Site(String),
}

/// Displays a page as its URL, and a site as `the site HOST`.
impl std::fmt::Display for Scope {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Scope::Page(url) => f.write_str(url),
            Scope::Site(host) => write!(f, "the site {host}"),
        }
    }
}

impl Scope {
    /// True if the scope covers a page with this URL and host.
    pub fn covers(&self, url: &str, host: &str) -> bool {
        self.exactness(url, host).is_some()
    }

    /// Returns the rank of a scope that covers the page: longer sites rank higher, and a page ranks highest.
    fn exactness(&self, url: &str, host: &str) -> Option<usize> {
        match self {
            Scope::Page(page) => (page == url).then_some(usize::MAX),
            Scope::Site(site) => is_of(host, site).then_some(site.len()),
        }
    }
}

impl Override {
    /// Returns the override with the most specific scope that covers the page; the last of several equal ones.
    pub fn find<'a>(rules: &'a [Override], url: &str, host: &str) -> Option<&'a Override> {
        let covering = rules.iter().filter_map(|r| Some((r.scope.exactness(url, host)?, r)));
        covering.max_by_key(|(exactness, _)| *exactness).map(|(_, rule)| rule)
    }

    pub(crate) fn explain(&self) -> String {
        let what = match (&self.scope, self.verdict) {
            (Scope::Page(_), Verdict::Pass) => "The operator let this page through".to_owned(),
            (Scope::Page(_), Verdict::Reject) => "The operator keeps this page out".to_owned(),
            (Scope::Site(site), Verdict::Pass) => format!("The operator let {site} through"),
            (Scope::Site(site), Verdict::Reject) => format!("The operator keeps {site} out"),
        };
        self.note.as_ref().map_or_else(|| format!("{what}."), |note| format!("{what}: {note}."))
    }
}
