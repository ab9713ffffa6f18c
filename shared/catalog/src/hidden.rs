//! Blocked hosts: no search finds their pages, and no visit calls them.

use curlew_model::is_at_or_below;
use curlew_ports::stage::Result;
use curlew_ports::{Blobs, PortError};
use futures::lock::Mutex;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use url::Url;

/// Key of the list of blocked hosts, which every query reads.
pub const HIDDEN_KEY: &str = "hidden-hosts.json";

/// The blocked hosts.
#[derive(Default, Serialize, Deserialize)]
pub struct Hidden {
    /// All blocked hosts; names below them are blocked, too.
    pub hosts: BTreeSet<String>,
    /// The hosts that only their owners have blocked, not the operator.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub by_owner: BTreeSet<String>,
    /// The hosts whose owners do not want their back catalogues to be read; they are not hidden.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub without_history: BTreeSet<String>,
}

impl Hidden {
    /// True if the back catalogue at this address is not to be read.
    pub fn is_without_history(&self, url: &str) -> bool {
        is_hidden(&self.without_history, url)
    }
}

/// The blocked hosts, for many concurrent visits: one read serves all callers that asked before it began. So every
/// caller sees all blocks made before its call.
#[derive(Debug, Default)]
pub struct HiddenHosts {
    /// Number of calls and reads so far, which orders them.
    order: AtomicU64,
    /// Number of the last read in that order, and its result.
    last: Mutex<(u64, Arc<BTreeSet<String>>)>,
}

impl HiddenHosts {
    /// Returns the hosts that are blocked now.
    pub async fn now(&self, blobs: &dyn Blobs) -> Result<Arc<BTreeSet<String>>> {
        let next = || self.order.fetch_add(1, Ordering::Relaxed) + 1;
        let asked = next();
        let mut last = self.last.lock().await;
        if last.0 < asked {
            let began = next();
            *last = (began, Arc::new(hidden_hosts(blobs).await?));
        }
        Ok(last.1.clone())
    }
}

/// Returns the hosts whose pages are hidden.
pub async fn hidden_hosts(blobs: &dyn Blobs) -> Result<BTreeSet<String>> {
    Ok(hidden(blobs).await?.hosts)
}

/// Returns the whole list.
pub async fn hidden(blobs: &dyn Blobs) -> Result<Hidden> {
    blobs.get(HIDDEN_KEY).await?.map_or_else(|| Ok(Hidden::default()), |blob| parse(&blob.bytes))
}

/// Reads the list from its object.
pub fn parse(bytes: &[u8]) -> Result<Hidden> {
    serde_json::from_slice(bytes).map_err(|e| PortError::Corrupt { what: HIDDEN_KEY.into(), why: e.to_string() }.into())
}

/// True if a URL's host is one of these names or below one.
pub fn is_hidden(names: &BTreeSet<String>, url: &str) -> bool {
    !names.is_empty() && Url::parse(url).is_ok_and(|url| url.host_str().is_some_and(|h| covering(names, h).is_some()))
}

/// Returns the longest of these names that a host is equal to or below.
pub fn covering<'a>(names: &'a BTreeSet<String>, host: &str) -> Option<&'a String> {
    let mut above = std::iter::successors(Some(host), |name| name.split_once('.').map(|(_, parent)| parent));
    above.find_map(|name| names.get(name))
}

/// True if a URL's host is this name or below it.
pub fn is_on(url: &str, name: &str) -> bool {
    Url::parse(url).is_ok_and(|url| url.host_str().is_some_and(|host| is_at_or_below(host, name)))
}
