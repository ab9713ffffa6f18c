//! The directory of sites: descriptions of indexed sites, from the rows of their feeds.

use curlew_model::{FeedSource, SiteState, Source, SourceKey};
use curlew_policy::address::source_key;
use curlew_ports::{PortError, Sources};
use futures::stream::{self, StreamExt, TryStreamExt};
use url::Url;

/// Maximum number of sites whose rows are read concurrently.
const AT_ONCE: usize = 16;
const FEEDS: usize = 10;

/// Description of a site, from the rows of its feeds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SiteNotes {
    /// Addresses of the site's feeds; the requested one comes first.
    pub feeds: Vec<String>,
    /// Description of the site in the requested feed.
    pub description: Option<String>,
    /// Folder of the requested feed in the operator's list, as a path from the outermost folder.
    pub folder: Vec<String>,
}

/// Returns the notes on each of these sites. Each site is named by the address of one of its feeds.
pub async fn notes_on(sources: &dyn Sources, feeds: Vec<Option<String>>) -> Result<Vec<SiteNotes>, PortError> {
    stream::iter(feeds).map(|feed| notes(sources, feed)).buffered(AT_ONCE).try_collect().await
}

/// Returns the notes on the site that has this feed; empty notes if `feed` is `None`.
pub async fn notes(sources: &dyn Sources, feed: Option<String>) -> Result<SiteNotes, PortError> {
    let Some(address) = feed else { return Ok(SiteNotes::default()) };
    let key = Url::parse(&address).map(|url| source_key(&url));
    let mut notes = SiteNotes { feeds: vec![address], ..SiteNotes::default() };
    let Ok(key) = key else { return Ok(notes) };
    let Some(FeedSource { description, folder, site, .. }) = feed_row(sources, &key).await? else { return Ok(notes) };
    (notes.description, notes.folder) = (description, folder);
    if let Some(site) = site
        && let Some((Source::Site(site), _)) = sources.get(&site).await?
        && let SiteState::Working { feeds } = site.state
    {
        for other in feeds.iter().filter(|other| **other != key).take(FEEDS - 1) {
            notes.feeds.extend(feed_row(sources, other).await?.filter(|feed| !feed.gone).map(|feed| feed.url));
        }
    }
    Ok(notes)
}

async fn feed_row(sources: &dyn Sources, key: &SourceKey) -> Result<Option<FeedSource>, PortError> {
    let row = sources.get(key).await?;
    Ok(row.and_then(|(row, _)| if let Source::Feed(feed) = row { Some(feed) } else { None }))
}
