//! Listings of all keys and rows, read in parts.

use curlew_model::{HostKey, HostState, Page, Source};
use curlew_ports::{Blobs, Hosts, Pages, PortError, Sources};

/// Keys that one call lists.
const KEYS: usize = 1_000;
/// Rows of pages that one call lists: about the megabyte that one answer of DynamoDB holds.
const ROWS: usize = 2_000;
/// Rows of hosts, or of sites and feeds, that one call lists.
const STATE_ROWS: usize = 1_000;

/// Returns all keys below a prefix, in order; only those after `after` if it is given.
pub(crate) async fn all_keys(
    blobs: &dyn Blobs,
    prefix: &str,
    mut after: Option<String>,
) -> Result<Vec<String>, PortError> {
    let mut all = Vec::new();
    loop {
        let keys = blobs.list(prefix, after.as_deref(), KEYS).await?;
        let Some(last) = keys.last() else { return Ok(all) };
        after = Some(last.clone());
        all.extend(keys);
    }
}

/// Returns the rows of all pages that `choose` accepts.
pub(crate) async fn pages_that(pages: &dyn Pages, choose: impl Fn(&Page) -> bool) -> Result<Vec<Page>, PortError> {
    let mut chosen = Vec::new();
    each_page(pages, |page| chosen.extend(Some(page).filter(&choose))).await?;
    Ok(chosen)
}

/// Passes the row of every page to `take`.
pub(crate) async fn each_page(pages: &dyn Pages, take: impl FnMut(Page)) -> Result<(), PortError> {
    let (mut take, mut after) = (take, None);
    loop {
        let rows = pages.list(after.as_ref(), ROWS).await?;
        let Some(last) = rows.last() else { return Ok(()) };
        after = Some(last.id.clone());
        rows.into_iter().for_each(&mut take);
    }
}

/// Passes the row of every site and feed to `take`.
pub(crate) async fn each_source(sources: &dyn Sources, take: impl FnMut(Source)) -> Result<(), PortError> {
    let (mut take, mut after) = (take, None);
    loop {
        let rows = sources.list(after.as_ref(), STATE_ROWS).await?;
        let Some(last) = rows.last() else { return Ok(()) };
        after = Some(last.key().clone());
        rows.into_iter().for_each(&mut take);
    }
}

/// Passes every known host key with its state to `take`.
pub(crate) async fn each_host(hosts: &dyn Hosts, take: impl FnMut(HostKey, HostState)) -> Result<(), PortError> {
    let (mut take, mut after) = (take, None);
    loop {
        let rows = hosts.list(after.as_ref(), STATE_ROWS).await?;
        let Some((last, _)) = rows.last() else { return Ok(()) };
        after = Some(last.clone());
        rows.into_iter().for_each(|(key, state)| take(key, state));
    }
}
