//! Blocks: a host that is blocked is not called from the next call on and not found from now on.

use crate::StageError;
use curlew_model::HostKey;
use curlew_policy::address::{self, HostGroups};
use curlew_policy::admission;
use curlew_ports::{Blobs, HostLedger, PortError, update_host};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::sync::Arc;
use url::Url;

/// Where the list of blocked hosts is kept that every query reads.
const HIDDEN_KEY: &str = "hidden-hosts.json";
/// How often the list is tried to be swapped while others swap it.
const SWAP_TRIES: u32 = 16;

/// Blocks and unblocks hosts.
pub struct Blocks {
    /// For the next call.
    pub ledger: Arc<dyn HostLedger>,
    /// For the next query.
    pub blobs: Arc<dyn Blobs>,
    /// What counts as one host.
    pub groups: Arc<HostGroups>,
}

#[derive(Default, Serialize, Deserialize)]
struct Hidden {
    hosts: BTreeSet<String>,
}

/// The hosts whose pages are not found.
pub(crate) async fn hidden_hosts(blobs: &dyn Blobs) -> Result<BTreeSet<String>, StageError> {
    match blobs.get(HIDDEN_KEY).await? {
        None => Ok(BTreeSet::new()),
        Some(blob) => Ok(parse(&blob.bytes)?.hosts),
    }
}

fn parse(bytes: &[u8]) -> Result<Hidden, StageError> {
    serde_json::from_slice(bytes).map_err(|e| PortError::Corrupt { what: HIDDEN_KEY.into(), why: e.to_string() }.into())
}

impl Blocks {
    /// Blocks a host and all that is below it; says which host key it counts under.
    ///
    /// # Errors
    /// If the name is no host, or what the ports say.
    pub async fn block(&self, host: &str) -> Result<HostKey, StageError> {
        let (name, key) = self.name(host)?;
        update_host(self.ledger.as_ref(), &key, |s| (admission::block(s, &name), ())).await?;
        self.change_hidden(|hosts| hosts.insert(name.clone())).await?;
        Ok(key)
    }

    /// Takes a block back; says whether there was one.
    ///
    /// # Errors
    /// If the name is no host, or what the ports say.
    pub async fn unblock(&self, host: &str) -> Result<bool, StageError> {
        let (name, key) = self.name(host)?;
        let was = update_host(self.ledger.as_ref(), &key, |s| admission::unblock(s, &name)).await?;
        self.change_hidden(|hosts| hosts.remove(&name)).await?;
        Ok(was)
    }

    fn name(&self, host: &str) -> Result<(String, HostKey), StageError> {
        let text = if host.contains("://") { host.to_owned() } else { format!("http://{host}/") };
        let bad = |why: String| StageError::Job(format!("'{host}' is not a host: {why}"));
        let url: Url = address::parse(&text, None).map_err(|e| bad(e.to_string()))?;
        let key = address::host_key(&url, &self.groups).map_err(|e| bad(e.to_string()))?;
        Ok((url.host_str().unwrap_or_default().to_owned(), key))
    }

    async fn change_hidden(&self, change: impl Fn(&mut BTreeSet<String>) -> bool) -> Result<(), StageError> {
        for _ in 0..SWAP_TRIES {
            let blob = self.blobs.get(HIDDEN_KEY).await?;
            let mut hidden = blob.as_ref().map(|b| parse(&b.bytes)).transpose()?.unwrap_or_default();
            if !change(&mut hidden.hosts) {
                return Ok(());
            }
            let json = serde_json::to_vec(&hidden).map_err(|e| StageError::Job(e.to_string()))?;
            match self.blobs.swap(HIDDEN_KEY, blob.as_ref().map(|b| &b.tag), json.into()).await {
                Ok(_) => return Ok(()),
                Err(PortError::Conflict) => {}
                Err(other) => return Err(other.into()),
            }
        }
        Err(PortError::Conflict.into())
    }
}
