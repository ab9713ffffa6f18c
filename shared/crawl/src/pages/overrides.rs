//! The operator's overrides of content policy, as they are stored.

use curlew_model::Timestamp;
use curlew_ports::{Blobs, PortError};
use curlew_screen::{Override, Scope, Verdict};
use serde::{Deserialize, Serialize};
use url::Url;

/// Key of the object that holds the overrides.
pub const KEY: &str = "overrides.json";

/// An override and the time at which it was set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredOverride {
    /// The override.
    #[serde(flatten)]
    pub rule: Override,
    /// The time it was set.
    pub at: Timestamp,
}

impl StoredOverride {
    /// Returns the target of the override: a page's URL or a host.
    pub fn target(&self) -> &str {
        let (Scope::Page(target) | Scope::Site(target)) = &self.rule.scope;
        target
    }

    /// Returns true if the override allows its target, false if it denies it.
    pub fn is_allowing(&self) -> bool {
        self.rule.verdict == Verdict::Pass
    }

    /// Returns the comma-separated names of the topics to which the override is limited; empty for all topics.
    pub fn topics(&self) -> String {
        self.rule.topics.iter().map(|topic| topic.as_str()).collect::<Vec<_>>().join(", ")
    }
}

/// The content of the object that stores the overrides.
#[derive(Default, Serialize, Deserialize)]
pub struct OverrideList {
    /// The overrides, oldest first.
    pub overrides: Vec<StoredOverride>,
}

/// Returns all overrides, oldest first.
pub async fn all(blobs: &dyn Blobs) -> Result<Vec<StoredOverride>, PortError> {
    blobs.get(KEY).await?.map_or_else(|| Ok(vec![]), |blob| parse(&blob.bytes).map(|all| all.overrides))
}

/// Returns the override that applies to a page with this URL, if there is one.
pub fn about<'a>(rules: &'a [Override], url: &str) -> Option<&'a Override> {
    Override::find(rules, url, &host_of(url))
}

/// Parses the object that stores the overrides.
pub fn parse(bytes: &[u8]) -> Result<OverrideList, PortError> {
    serde_json::from_slice(bytes).map_err(|e| PortError::Corrupt { what: KEY.into(), why: e.to_string() })
}

/// Returns the host of a URL, or an empty string if it has none.
pub fn host_of(url: &str) -> String {
    Url::parse(url).ok().and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_default()
}
