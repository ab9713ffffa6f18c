//! One article under many queries (`?from=feed-7`): pages with the same text under the same path of the same host are
//! one page. A page with a query gets a small row that maps its path and the hash of its text to it; a page without a
//! query is found by its own URL. Hashes are never compared across hosts: a site that copies an article must not
//! displace the original.

use curlew_model::{ExtractJob, Page, PageId, PageState, Record, Timestamp};
use curlew_policy::address::{self, hash_hex};
use curlew_ports::stage::Result;
use curlew_ports::{Pages, swapped};
use url::Url;

const DIGITS: usize = 16;

/// Returns a hash of a page's title and text.
pub fn content_hash(record: &Record) -> String {
    hash_of(&record.title, &record.text)
}

pub(crate) fn hash_of(title: &str, text: &str) -> String {
    hash_hex(format!("{title}\n{text}").as_bytes())[..DIGITS].to_owned()
}

/// Returns the page with the same text of which this one is a variant. Without one, registers this page for later ones.
pub(crate) async fn same_page(
    pages: &dyn Pages,
    job: &ExtractJob,
    content_hash: &str,
    now: Timestamp,
) -> Result<Option<PageId>> {
    let Some(mut url) = Url::parse(&job.url).ok().filter(|url| url.query().is_some()) else { return Ok(None) };
    url.set_query(None);
    let bare = address::page_id(&address::canonical(&url));
    if let Some((page, _)) = pages.load_eventual(&bare).await?
        && matches!(&page.state, PageState::Accepted { content_hash: known, .. } if known == content_hash)
    {
        return Ok(Some(bare));
    }
    url.set_fragment(Some(&format!("content-{content_hash}")));
    let guide =
        Page::new(address::page_id(&url), url.into(), job.host.clone(), PageState::Alias { of: job.page.clone() }, now);
    if pages.insert(&guide).await? {
        return Ok(None);
    }
    let Some((row, seen)) = pages.get(&guide.id).await? else { return Ok(None) };
    let PageState::Alias { of } = row.state else { return Ok(None) };
    if of == job.page {
        return Ok(None);
    }
    let is_there = match pages.get(&of).await? {
        None => true,
        Some((page, _)) => matches!(page.state, PageState::Pending | PageState::Accepted { .. }),
    };
    if is_there {
        return Ok(Some(of));
    }
    swapped(pages.swap(seen, &guide).await)?;
    Ok(None)
}
