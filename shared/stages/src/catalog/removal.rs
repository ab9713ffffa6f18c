//! Removal: deletes pages that are gone from the web or must not be shown.

use crate::catalog::segment::{key_day, segment_year};
use crate::catalog::thumbnails::thumbnail_key;
use crate::catalog::{manifest, segment};
use crate::stage::StageError;
use curlew_model::{Gone, ImageId, Location, Page, PageId, PageState, Record, ThumbnailId, Timestamp, Validators};
use curlew_policy::address::hash_hex;
use curlew_policy::page::directives::Directives;
use curlew_ports::{Blobs, Clock, Event, Events, Pages, PortError, Version};
use serde::Serialize;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Prefix of the keys of audit lines.
pub(crate) const AUDIT_PREFIX: &str = "audit/";
/// Number of records of one page that replaced each other and are erased together; publishing erases all but the last.
const REPLACED_IN_A_ROW: usize = 16;

/// Removes pages and records the results of re-checks.
#[derive(Clone)]
pub struct Removal {
    pages: Arc<dyn Pages>,
    blobs: Arc<dyn Blobs>,
    clock: Arc<dyn Clock>,
    events: Arc<dyn Events>,
}

/// One line of the audit: the page that was removed, the time and the reason. It holds nothing of the page's text.
#[derive(Serialize)]
struct AuditLine<'a> {
    at: Timestamp,
    what: &'static str,
    page: &'a PageId,
    url: &'a str,
    reason: &'static str,
    /// Time at which the page was accepted.
    accepted: Timestamp,
    /// The thumbnail object that was removed with the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    thumbnail: Option<&'a ImageId>,
}

impl Removal {
    /// Creates a removal over these ports.
    pub fn new(
        pages: Arc<dyn Pages>,
        blobs: Arc<dyn Blobs>,
        clock: Arc<dyn Clock>,
        events: Arc<dyn Events>,
    ) -> Removal {
        Removal { pages, blobs, clock, events }
    }

    /// Removes a page for good. A tombstone first hides it from queries; then its records are erased, an audit line is
    /// written, and its row is updated last. Every step may run twice.
    ///
    /// # Errors
    /// Any error of the ports; the call may then be repeated.
    pub async fn remove(&self, id: &PageId, reason: Gone) -> Result<(), StageError> {
        let Some((page, seen)) = self.pages.get(id).await? else { return Ok(()) };
        let PageState::Accepted { year, location, .. } = &page.state else { return Ok(()) };
        let blobs = self.blobs.as_ref();
        let records = self.records(location).await?;
        // A record that this one replaces and that is not erased yet may be in the index of another year.
        let years = records.iter().filter_map(|(at, _)| segment_year(at)).chain([*year]);
        for year in years.collect::<BTreeSet<_>>() {
            manifest::change_manifest(blobs, year, |m| Ok(m.with_tombstones([id.clone()]))).await?;
        }
        let mut thumbnail = None;
        // The oldest goes first: each record is found through the one that replaces it, so the next run finds what a
        // crash left.
        for (at, record) in records.into_iter().rev() {
            // The site's own image stays for its other pages.
            if let Some(ThumbnailId::Object(image)) = record.thumbnail.as_ref().filter(|_| !record.image_of_site) {
                blobs.delete(&thumbnail_key(image)).await?;
                thumbnail = Some(image.clone());
            }
            segment::erase(blobs, &at.segment.clone(), &[(at, record)]).await?;
        }
        let now = self.clock.now();
        let state = PageState::Gone { reason };
        let gone = Page { state, at: now, checked_at: Some(now), doubted_at: None, ..page.clone() };
        self.audit(&page, reason, thumbnail.as_ref(), now).await?;
        self.write(seen, &gone).await?;
        self.events.note(&Event::Removed(reason));
        Ok(())
    }

    /// Returns the record at a location, and the earlier ones that it replaces and that still exist.
    async fn records(&self, at: &Location) -> Result<Vec<(Location, Record)>, StageError> {
        let mut records: Vec<(Location, Record)> = Vec::new();
        let mut next = Some(at.clone());
        while let Some(at) = next.take().filter(|_| records.len() < REPLACED_IN_A_ROW) {
            match segment::RecordReader(self.blobs.as_ref()).read(&at).await {
                Ok(Some(record)) => {
                    next.clone_from(&record.replaces);
                    records.push((at, record));
                }
                Ok(None) => {}
                Err(StageError::Port(PortError::NotFound(_))) if !records.is_empty() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(records)
    }

    /// Records that a page was re-checked and may stay. An `unavailable_after` date that the page names now and its
    /// record lacks is noted in the manifest, so that no query finds the page after it. `directives` is `None` if the
    /// page could not be read; the date then stays as it was. `validators` are those of the document, if its content is
    /// that of the record.
    ///
    /// # Errors
    /// Any error of the ports.
    pub async fn still_there(
        &self,
        id: &PageId,
        directives: Option<&Directives>,
        validators: Option<Validators>,
    ) -> Result<(), StageError> {
        let Some((page, seen)) = self.pages.get(id).await? else { return Ok(()) };
        let PageState::Accepted { year, .. } = page.state else { return Ok(()) };
        let expires = directives.map_or(page.expires, |directives| directives.unavailable_after);
        if page.expires != expires {
            manifest::change_manifest(self.blobs.as_ref(), year, |m| Ok(m.with_expiry(id, expires))).await?;
        }
        let validators = validators.unwrap_or_else(|| page.validators.clone());
        let next = Page { checked_at: Some(self.clock.now()), expires, doubted_at: None, validators, ..page };
        self.write(seen, &next).await?;
        self.events.note(&Event::StillThere);
        Ok(())
    }

    /// Marks a page as doubtful, since its URL now serves something else; the next re-check decides.
    ///
    /// # Errors
    /// Any error of the ports.
    pub async fn doubt(&self, id: &PageId) -> Result<(), StageError> {
        let Some((page, seen)) = self.pages.get(id).await? else { return Ok(()) };
        if !matches!(page.state, PageState::Accepted { .. }) {
            return Ok(());
        }
        self.events.note(&Event::Doubted);
        self.write(seen, &Page { doubted_at: Some(self.clock.now()), ..page }).await
    }

    /// Clears the doubt about a page: the same interstitial covers its whole host.
    ///
    /// # Errors
    /// Any error of the ports.
    pub async fn trust(&self, id: &PageId) -> Result<(), StageError> {
        let Some((page, seen)) = self.pages.get(id).await? else { return Ok(()) };
        if page.doubted_at.is_none() {
            return Ok(());
        }
        self.write(seen, &Page { doubted_at: None, ..page }).await
    }

    async fn write(&self, seen: Version, page: &Page) -> Result<(), StageError> {
        match self.pages.swap(seen, page).await {
            Ok(_) => Ok(()),
            // Somebody else re-checked it at the same time and knows as much.
            Err(PortError::Conflict) => Ok(()),
            Err(other) => Err(other.into()),
        }
    }

    async fn audit(
        &self,
        page: &Page,
        reason: Gone,
        thumbnail: Option<&ImageId>,
        now: Timestamp,
    ) -> Result<(), StageError> {
        let line = AuditLine {
            at: now,
            what: "removed",
            page: &page.id,
            url: &page.url,
            reason: reason.as_str(),
            accepted: page.at,
            thumbnail,
        };
        let json = serde_json::to_vec(&line).map_err(|e| StageError::Job(e.to_string()))?;
        // One line for each removal, however many times it is tried.
        let name = hash_hex(format!("{}{}", page.id, page.at).as_bytes());
        let key = format!("{AUDIT_PREFIX}{}/{name}.json", key_day(now));
        self.blobs.put_if_absent(&key, json.into()).await?;
        Ok(())
    }
}
