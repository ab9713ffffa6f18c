//! Bounds on a split's pages, by which a query decides whether to open the split.

use crate::error::Result;
use crate::query::Query;
use crate::schema::{self, Fields};
use curlew_model::{Timestamp, is_at_or_below};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use tantivy::{Index, ReloadPolicy, SegmentReader};

/// Maximum number of hosts that a manifest names for a split; larger splits have pages of nearly every large site.
pub const HOSTS_NAMED: usize = 32;

/// Bounds on the dates and hosts of a split's pages, as far as they are known. Splits of older formats have none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bounds {
    /// Date of the oldest page: the date by which pages are filtered and sorted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oldest: Option<Timestamp>,
    /// Date of the newest page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub newest: Option<Timestamp>,
    /// Hosts of the pages, without `www.`, if there are at most [`HOSTS_NAMED`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<BTreeSet<String>>,
}

impl Bounds {
    pub(crate) fn read(index: &Index) -> Result<Bounds> {
        let (_, fields) = schema::schema();
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
        let mut bounds = Bounds { hosts: Some(BTreeSet::new()), ..Bounds::default() };
        for segment in reader.searcher().segment_readers() {
            let dates = segment.fast_fields().i64(schema::DATE)?;
            let dates = || (0..segment.max_doc()).filter_map(|doc| dates.first(doc)).map(Timestamp::from_millis);
            bounds.oldest = bounds.oldest.into_iter().chain(dates()).min();
            bounds.newest = bounds.newest.into_iter().chain(dates()).max();
            bounds.hosts = bounds.hosts.zip(hosts(segment, &fields)?).map(|(mut all, some)| {
                all.extend(some);
                all
            });
        }
        bounds.hosts = bounds.hosts.filter(|hosts| hosts.len() <= HOSTS_NAMED);
        Ok(bounds)
    }

    /// True if a page within these bounds may match the query.
    pub fn may_match(&self, query: &Query) -> bool {
        let is_before = query.after.is_some_and(|after| self.newest.is_some_and(|newest| newest < after));
        let is_after = query.before.is_some_and(|before| self.oldest.is_some_and(|oldest| oldest >= before));
        let is_elsewhere = !query.only.sites.is_empty()
            && self.hosts.as_ref().is_some_and(|hosts| {
                // A site name without `www.` also matches the host with it.
                let of_site = |site: &String, host: &String| is_at_or_below(host, schema::without_www(site));
                !query.only.sites.iter().any(|site| hosts.iter().any(|host| of_site(site, host)))
            });
        !is_before && !is_after && !is_elsewhere
    }
}

/// Returns the hosts of a segment's pages without parent domains, or `None` if there are more than [`HOSTS_NAMED`].
fn hosts(segment: &SegmentReader, fields: &Fields) -> Result<Option<BTreeSet<String>>> {
    let (column, mut sites) = (segment.fast_fields().u64(schema::SITE)?, BTreeSet::new());
    for doc in 0..segment.max_doc() {
        sites.extend(column.first(doc));
        if sites.len() > HOSTS_NAMED {
            return Ok(None);
        }
    }
    let inverted = segment.inverted_index(fields.host)?;
    let mut names = inverted.terms().stream()?;
    let mut hosts = BTreeSet::new();
    while names.advance() {
        let Ok(name) = std::str::from_utf8(names.key()) else { continue };
        if sites.contains(&schema::site(name)) {
            hosts.insert(schema::without_www(name).to_owned());
        }
    }
    Ok(Some(hosts))
}
