//! The sites whose pages are in the index.

use crate::error::SearchError;
use crate::hidden::Hidden;
use crate::schema;
use crate::split::Split;
use curlew_model::Timestamp;
use std::collections::BTreeMap;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocSet, TERMINATED};

/// A host with pages in the index; `www.` is left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SiteEntry {
    /// The host name (A-labels, lower case).
    pub host: String,
    /// Number of its pages, without those of its subdomains.
    pub pages: u64,
    /// Date of its newest page.
    pub newest: Timestamp,
}

/// Returns the sites of all splits, in the order of their host names. It reads the posting lists of all host names, and
/// so takes time linear in the number of pages.
///
/// # Errors
/// If a split cannot be read. All ranges that it lacks are wanted then.
pub fn sites(splits: &[&Split], hidden: &Hidden) -> Result<Vec<SiteEntry>, SearchError> {
    let mut sites: BTreeMap<String, (u64, i64)> = BTreeMap::new();
    let mut error = None;
    for split in splits.iter().filter(|split| split.docs() > 0) {
        if let Err(failed) = add(split, hidden, &mut sites) {
            error.get_or_insert(failed);
        }
    }
    let entry = |(host, (pages, newest))| SiteEntry { host, pages, newest: Timestamp::from_millis(newest) };
    error.map_or_else(|| Ok(sites.into_iter().map(entry).collect()), Err)
}

fn add(split: &Split, hidden: &Hidden, sites: &mut BTreeMap<String, (u64, i64)>) -> Result<(), SearchError> {
    let dead = split.dead(hidden)?;
    let inverted = split.segment().inverted_index(split.fields().host)?;
    let mut names = inverted.terms().stream()?;
    let mut error = None;
    while let Some((name, info)) = names.next() {
        let Ok(name) = std::str::from_utf8(name) else { continue };
        // Its pages are counted by the name without it, which each page has as well.
        if name.starts_with(schema::WWW) {
            continue;
        }
        let mut postings = match inverted.read_postings_from_terminfo(info, IndexRecordOption::Basic) {
            Ok(postings) => postings,
            Err(failed) => {
                error.get_or_insert(failed);
                continue;
            }
        };
        let (site, mut pages, mut newest) = (schema::site(name), 0, i64::MIN);
        // A name stands for the pages of its subdomains, too; those have another site.
        while postings.doc() != TERMINATED {
            let doc = postings.doc();
            if split.sites().first(doc) == Some(site) && !dead.contains(doc) {
                pages += 1;
                newest = newest.max(split.dates().first(doc).unwrap_or_default());
            }
            postings.advance();
        }
        if pages > 0 {
            let known = sites.entry(name.to_owned()).or_insert((0, newest));
            *known = (known.0 + pages, known.1.max(newest));
        }
    }
    error.map_or(Ok(()), |error| Err(error.into()))
}
