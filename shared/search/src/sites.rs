//! The sites whose pages are in the index.

use crate::error::Result;
use crate::hidden::Hidden;
use crate::schema;
use crate::split::Split;
use curlew_model::Timestamp;
use std::collections::BTreeMap;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, DocSet, TERMINATED};

/// A host with pages in the index; `www.` is left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SiteEntry {
    /// The host name (A-labels, lower case).
    pub host: String,
    /// Number of its pages, without those of its subdomains.
    pub pages: u64,
    /// Date of its newest page.
    pub newest: Timestamp,
}

/// A site as its newest page describes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SiteProfile {
    /// The site.
    pub site: SiteEntry,
    /// Name of the site; its host if its newest page states none or was not read.
    pub name: String,
    /// Language of its newest page (primary subtag).
    pub language: Option<String>,
    /// URL of the feed that named its newest page.
    pub feed: Option<String>,
}

/// Counts of a site's pages, and the position of its newest page.
struct SiteCount {
    pages: u64,
    newest: i64,
    split: usize,
    doc: DocId,
}

/// Returns the sites of all splits by host name, in linear time. After an error all missing ranges are wanted.
pub fn sites(splits: &[&Split], hidden: &Hidden) -> Result<Vec<SiteEntry>> {
    Ok(count(splits, hidden)?.into_iter().map(|(host, count)| count.entry(host)).collect())
}

/// Returns the profiles of all sites by host name; all but the `most` newest have only a host and its counts.
pub fn site_profiles(splits: &[&Split], hidden: &Hidden, most: usize) -> Result<Vec<SiteProfile>> {
    let counts = count(splits, hidden)?;
    let mut dates: Vec<i64> = counts.values().map(|count| count.newest).collect();
    dates.sort_unstable_by(|one, two| two.cmp(one));
    let too_old = dates.get(most).copied();
    let mut error = None;
    let mut profiles = Vec::with_capacity(counts.len());
    for (host, count) in counts {
        let record = match too_old.is_none_or(|old| count.newest > old) {
            // Reading goes on after an error, so that the ranges of all records become wanted.
            true => splits[count.split].record(count.doc).map_err(|failed| error.get_or_insert(failed)).ok(),
            false => None,
        };
        let (name, language, feed) = match record {
            Some(record) => (record.site_name, record.language, record.feed),
            None => (None, None, None),
        };
        profiles.push(SiteProfile {
            name: name.filter(|name| !name.trim().is_empty()).unwrap_or_else(|| host.clone()),
            language: language.as_deref().and_then(curlew_model::primary_language),
            feed,
            site: count.entry(host),
        });
    }
    error.map_or(Ok(profiles), Err)
}

impl SiteCount {
    fn entry(&self, host: String) -> SiteEntry {
        SiteEntry { host, pages: self.pages, newest: Timestamp::from_millis(self.newest) }
    }
}

fn count(splits: &[&Split], hidden: &Hidden) -> Result<BTreeMap<String, SiteCount>> {
    let (mut sites, mut counted) = (BTreeMap::new(), Ok(()));
    for (at, split) in splits.iter().enumerate().filter(|(_, split)| split.docs() > 0) {
        // All splits are read, also after an error.
        counted = counted.and(add(at, split, hidden, &mut sites));
    }
    counted.map(|()| sites)
}

fn add(at: usize, split: &Split, hidden: &Hidden, sites: &mut BTreeMap<String, SiteCount>) -> Result<()> {
    let dead = split.dead(hidden)?;
    let inverted = split.segment().inverted_index(split.fields.host)?;
    let mut names = inverted.terms().stream()?;
    let mut error = None;
    while let Some((name, info)) = names.next() {
        let Ok(name) = std::str::from_utf8(name) else { continue };
        // Pages of `www.` hosts are counted under the name without it, which is indexed as well.
        if name.starts_with(schema::WWW) {
            continue;
        }
        let read = inverted.read_postings_from_terminfo(info, IndexRecordOption::Basic);
        let Ok(mut postings) = read.map_err(|failed| error.get_or_insert(failed)) else { continue };
        let site = schema::site(name);
        let mut found = SiteCount { pages: 0, newest: i64::MIN, split: at, doc: 0 };
        // The postings of a name include the pages of its subdomains, which belong to other sites.
        while postings.doc() != TERMINATED {
            let doc = postings.doc();
            if split.sites.first(doc) == Some(site) && !dead.contains(doc) {
                found.pages += 1;
                let date = split.dates.first(doc).unwrap_or_default();
                if date > found.newest {
                    (found.newest, found.doc) = (date, doc);
                }
            }
            postings.advance();
        }
        if found.pages > 0 {
            let before = sites.remove(name);
            let pages = found.pages + before.as_ref().map_or(0, |before| before.pages);
            let newest = before.filter(|before| before.newest >= found.newest).unwrap_or(found);
            sites.insert(name.to_owned(), SiteCount { pages, ..newest });
        }
    }
    error.map_or(Ok(()), |error| Err(error.into()))
}
