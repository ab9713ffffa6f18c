//! Hosts whose pages no search finds and no visit calls, since somebody blocked them.

use crate::stage::StageError;
use curlew_model::is_at_or_below;
use curlew_ports::{Blobs, PortError};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use url::Url;

/// Where the list of blocked hosts is kept that every query reads.
pub(crate) const HIDDEN_KEY: &str = "hidden-hosts.json";

/// The blocked hosts.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Hidden {
    pub(crate) hosts: BTreeSet<String>,
    /// Those of them that their owners have blocked and the operator has not.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(crate) by_owner: BTreeSet<String>,
}

/// The hosts whose pages are not found.
pub(crate) async fn hidden_hosts(blobs: &dyn Blobs) -> Result<BTreeSet<String>, StageError> {
    Ok(hidden(blobs).await?.hosts)
}

/// The whole list.
pub(crate) async fn hidden(blobs: &dyn Blobs) -> Result<Hidden, StageError> {
    blobs.get(HIDDEN_KEY).await?.map_or_else(|| Ok(Hidden::default()), |blob| parse(&blob.bytes))
}

/// Reads the list from its object.
pub(crate) fn parse(bytes: &[u8]) -> Result<Hidden, StageError> {
    serde_json::from_slice(bytes).map_err(|e| PortError::Corrupt { what: HIDDEN_KEY.into(), why: e.to_string() }.into())
}

/// Whether an address lies on a host or below it.
pub(crate) fn is_on(url: &str, name: &str) -> bool {
    Url::parse(url).is_ok_and(|url| url.host_str().is_some_and(|host| is_at_or_below(host, name)))
}
