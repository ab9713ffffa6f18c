//! The operator's overrides of content policy, as the judge of pages reads them.

use curlew_model::Timestamp;
use curlew_ports::{Blobs, PortError};
use curlew_screen::{Override, Scope, Verdict};
use serde::{Deserialize, Serialize};
use url::Url;

/// Key of the object that holds the overrides.
pub const KEY: &str = "overrides.json";

/// An override, and when it was given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredOverride {
    /// The override.
    #[serde(flatten)]
    pub rule: Override,
    /// The time it was set.
    pub at: Timestamp,
}

impl StoredOverride {
    /// Returns its target as operators name it: a page's URL or a host.
    pub fn target(&self) -> &str {
        let (Scope::Page(target) | Scope::Site(target)) = &self.rule.scope;
        target
    }

    /// True if it allows its target, false if it denies it.
    pub fn is_allowing(&self) -> bool {
        self.rule.verdict == Verdict::Pass
    }

    /// Returns the names of the topics to which it is limited, separated by commas; empty if it is not.
    pub fn topics(&self) -> String {
        self.rule.topics.iter().map(|topic| topic.as_str()).collect::<Vec<_>>().join(", ")
    }
}

/// The operator's overrides, as their object holds them.
#[derive(Default, Serialize, Deserialize)]
pub struct OverrideList {
    /// The overrides, oldest first.
    pub overrides: Vec<StoredOverride>,
}

/// Returns all overrides there are, oldest first.
pub async fn all(blobs: &dyn Blobs) -> Result<Vec<StoredOverride>, PortError> {
    blobs.get(KEY).await?.map_or_else(|| Ok(vec![]), |blob| parse(&blob.bytes).map(|all| all.overrides))
}

/// The override about a page of this address, if there is one.
pub fn about<'a>(rules: &'a [Override], url: &str) -> Option<&'a Override> {
    Override::find(rules, url, &host_of(url))
}

/// Reads the overrides from the bytes of their object.
pub fn parse(bytes: &[u8]) -> Result<OverrideList, PortError> {
    serde_json::from_slice(bytes).map_err(|e| PortError::Corrupt { what: KEY.into(), why: e.to_string() })
}

/// Returns the host of an address, or nothing if it has none.
pub fn host_of(url: &str) -> String {
    Url::parse(url).ok().and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_default()
}
