//! Listings of all keys and rows, read in parts.

use curlew_model::{HostKey, HostState, Page, PageId, Source, SourceKey};
use curlew_ports::{Blobs, Hosts, Pages, PortError, Sources};
use futures::stream::{self, Stream, TryStreamExt};

const KEYS: usize = 1_000;
/// Number of rows of pages that one call lists: about 1 MB, the maximum of a DynamoDB response.
const ROWS: usize = 2_000;
const STATE_ROWS: usize = 1_000;

/// Returns all keys below a prefix, in order; only those after `after` if it is given.
pub async fn all_keys(blobs: &dyn Blobs, prefix: &str, after: Option<String>) -> Result<Vec<String>, PortError> {
    each_key(blobs, prefix, after).try_collect().await
}

/// Lists all keys below a prefix, in order; only those after `after` if it is given.
pub fn each_key<'a>(
    blobs: &'a dyn Blobs,
    prefix: &'a str,
    after: Option<String>,
) -> impl Stream<Item = Result<String, PortError>> + Unpin + 'a {
    let next = move |after: Option<String>| async move {
        let keys = blobs.list(prefix, after.as_deref(), KEYS).await?;
        let last = keys.last().cloned();
        Ok::<_, PortError>(last.map(|last| (stream::iter(keys.into_iter().map(Ok)), Some(last))))
    };
    Box::pin(stream::try_unfold(after, next).try_flatten())
}

/// Returns the rows of all pages that `choose` accepts.
pub async fn pages_that(pages: &dyn Pages, choose: impl Fn(&Page) -> bool) -> Result<Vec<Page>, PortError> {
    let (chosen, _) = choose_from(pages, None, usize::MAX, usize::MAX, |page| Some(page).filter(&choose)).await?;
    Ok(chosen)
}

/// Passes the row of every page to `take`.
pub async fn each_page(pages: &dyn Pages, mut take: impl FnMut(Page)) -> Result<(), PortError> {
    pages_from(pages, None, usize::MAX, |page| {
        take(page);
        true
    })
    .await?;
    Ok(())
}

/// Applies `choose` to at most `rows` rows after `after`. Returns up to `most` values, and where to continue.
pub async fn choose_from<T>(
    pages: &dyn Pages,
    after: Option<PageId>,
    rows: usize,
    most: usize,
    mut choose: impl FnMut(Page) -> Option<T>,
) -> Result<(Vec<T>, Option<PageId>), PortError> {
    let (mut chosen, most) = (Vec::new(), most.max(1));
    let next = pages_from(pages, after, rows, |page| {
        let has_room = chosen.len() < most;
        if has_room {
            chosen.extend(choose(page));
        }
        has_room
    })
    .await?;
    Ok((chosen, next))
}

/// Passes the rows of pages after `after` to `take`, until it has taken `rows` of them, at least one, or refuses one.
/// Returns the last row taken, after which the next call continues, if rows are left.
pub async fn pages_from(
    pages: &dyn Pages,
    mut after: Option<PageId>,
    rows: usize,
    mut take: impl FnMut(Page) -> bool,
) -> Result<Option<PageId>, PortError> {
    let mut left = rows.max(1);
    loop {
        // One row more than may be returned is listed, to see whether rows are left.
        let listed = pages.list(after.as_ref(), ROWS.min(left.saturating_add(1))).await?;
        if listed.is_empty() {
            return Ok(None);
        }
        for page in listed {
            let id = page.id.clone();
            if left == 0 || !take(page) {
                return Ok(after);
            }
            (after, left) = (Some(id), left - 1);
        }
    }
}

/// Passes the row of every site and feed to `take`.
pub async fn each_source(sources: &dyn Sources, take: impl FnMut(Source)) -> Result<(), PortError> {
    sources_from(sources, None, usize::MAX, take).await.map(drop)
}

/// Passes at most `rows` rows after `after`, and at least one, to `take`; returns where the next call continues.
pub async fn sources_from(
    sources: &dyn Sources,
    mut after: Option<SourceKey>,
    rows: usize,
    mut take: impl FnMut(Source),
) -> Result<Option<SourceKey>, PortError> {
    let mut left = rows.max(1);
    while left > 0 {
        let listed = sources.list(after.as_ref(), STATE_ROWS.min(left)).await?;
        let Some(last) = listed.last() else { return Ok(None) };
        after = Some(last.key().clone());
        left = left.saturating_sub(listed.len());
        listed.into_iter().for_each(&mut take);
    }
    Ok(after)
}

/// Passes every known host key with its state to `take`.
pub async fn each_host(hosts: &dyn Hosts, take: impl FnMut(HostKey, HostState)) -> Result<(), PortError> {
    let (mut take, mut after) = (take, None);
    loop {
        let rows = hosts.list(after.as_ref(), STATE_ROWS).await?;
        let Some((last, _)) = rows.last() else { return Ok(()) };
        after = Some(last.clone());
        rows.into_iter().for_each(|(key, state)| take(key, state));
    }
}
