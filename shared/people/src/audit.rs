//! Reports of the history of a page or of a host's pages, and of all remnants of removed pages.

use crate::objects::each_object;
use curlew_catalog::hidden::is_on;
use curlew_catalog::listing::{all_keys, pages_that};
use curlew_catalog::manifest::{load_manifest, search_error};
use curlew_catalog::removal::AUDIT_PREFIX;
use curlew_catalog::segment::{self, SEGMENTS};
use curlew_catalog::thumbnails::thumbnail_key;
use curlew_model::{ImageId, Page, PageId, PageState, SegmentKey, Timestamp, Year};
use curlew_policy::address;
use curlew_ports::stage::Result;
use curlew_ports::{Blobs, Pages};
use curlew_search::{Manifest, SearchError, Split};
use futures::TryStreamExt;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Searches a store for remnants of pages.
pub struct Audit {
    /// Store of segments, splits, manifests, thumbnails and audit lines.
    pub blobs: Arc<dyn Blobs>,
    /// Rows of pages.
    pub pages: Arc<dyn Pages>,
}

/// Subject of an audit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A page.
    Page(PageId),
    /// A host with its subdomains, in lower case and A-labels.
    Host(String),
}

/// Everything that an audit has found about its subject.
#[derive(Clone, Debug, Default, Serialize)]
pub struct AuditReport {
    /// Rows of the pages, with state and time.
    pub pages: Vec<Page>,
    /// Audit lines: page, time and reason of each removal.
    pub removed: Vec<Value>,
    /// Number of records of the subject's pages.
    pub records: u64,
    /// Number of occurrences of the subject's pages in splits that a manifest lists.
    pub indexed: u64,
    /// Remnants of pages that are neither accepted nor pending.
    pub left: Vec<Remnant>,
    /// Keys of splits that could not be read: damaged, or written by another version.
    pub unread: Vec<String>,
}

/// A remnant of a page that is neither accepted nor pending.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Remnant {
    /// Key of the object.
    pub key: String,
    /// The page.
    pub page: PageId,
    /// True if no query finds the remnant: a tombstone hides it, its split is not listed, or it is a thumbnail.
    pub hidden: bool,
}

struct RemnantSearch<'a> {
    blobs: &'a dyn Blobs,
    subject: &'a Subject,
    /// Pages that are accepted or pending.
    alive: BTreeSet<PageId>,
    report: AuditReport,
}

impl Audit {
    /// Searches all rows, audit lines, segments, splits, thumbnails and stored bodies for a subject.
    pub async fn report(&self, subject: &Subject) -> Result<AuditReport> {
        let pages = self.rows(subject).await?;
        let is_alive = |page: &&Page| matches!(page.state, PageState::Accepted { .. } | PageState::Pending);
        let alive = pages.iter().filter(is_alive).map(|page| page.id.clone()).collect();
        let report = AuditReport { pages, ..AuditReport::default() };
        let mut search = RemnantSearch { blobs: self.blobs.as_ref(), subject, alive, report };
        search.lines().await?;
        search.segments().await?;
        search.splits().await?;
        search.bodies().await?;
        Ok(search.report)
    }

    /// Returns the keys of a year's splits that contain a page, each with the time at which the split was built.
    pub async fn splits_with(&self, year: Year, page: &PageId) -> Result<Vec<(String, Timestamp)>> {
        let manifest = load_manifest(self.blobs.as_ref(), year).await?;
        let mut found = Vec::new();
        for entry in manifest.splits.iter().filter(|entry| entry.is_readable()) {
            let Some(blob) = self.blobs.get(&entry.key).await? else { continue };
            if Split::open(blob.bytes).map_err(search_error)?.holds(page).map_err(search_error)? {
                found.push((entry.key.clone(), entry.built_at));
            }
        }
        Ok(found)
    }

    /// Returns the rows of a subject. For an alias, the rows of the pages that it leads to follow.
    pub async fn rows(&self, subject: &Subject) -> Result<Vec<Page>> {
        let Subject::Page(id) = subject else {
            return Ok(pages_that(self.pages.as_ref(), |page| subject.covers(&page.id, &page.url)).await?);
        };
        let (mut found, mut next) = (Vec::new(), Some(id.clone()));
        while let Some(id) = next.take().filter(|id| !found.iter().any(|page: &Page| page.id == *id)) {
            let Some((page, _)) = self.pages.get(&id).await? else { break };
            if let PageState::Alias { of } = &page.state {
                next = Some(of.clone());
            }
            found.push(page);
        }
        Ok(found)
    }
}

impl RemnantSearch<'_> {
    async fn lines(&mut self) -> Result<()> {
        let mut objects = each_object(self.blobs, AUDIT_PREFIX);
        while let Some((_, blob)) = objects.try_next().await? {
            let Ok(line) = serde_json::from_slice::<Value>(&blob.bytes) else { continue };
            let Some(page) = line["page"].as_str().and_then(|id| PageId::new(id).ok()) else { continue };
            if !self.is_about(&page, line["url"].as_str().unwrap_or_default()) {
                continue;
            }
            let image: Option<ImageId> = serde_json::from_value(line["thumbnail"].clone()).ok();
            if let Some(key) = image.as_ref().map(thumbnail_key)
                && self.blobs.get(&key).await?.is_some_and(|blob| !blob.bytes.is_empty())
            {
                // The image may belong to another page; it is reported all the same, as hidden.
                self.report.left.push(Remnant { key, page, hidden: true });
            }
            self.report.removed.push(line);
        }
        Ok(())
    }

    async fn segments(&mut self) -> Result<()> {
        let mut objects = each_object(self.blobs, SEGMENTS);
        while let Some((key, blob)) = objects.try_next().await? {
            let Ok(segment) = SegmentKey::new(&key) else { continue };
            for (_, record) in segment::decode_all(&segment, &blob.bytes)? {
                if self.is_about(&record.id, &record.url) {
                    self.report.records += 1;
                    self.found(&key, record.id, false);
                }
            }
        }
        Ok(())
    }

    async fn splits(&mut self) -> Result<()> {
        let (mut tombstones, mut listed) = (BTreeSet::new(), BTreeSet::new());
        let mut manifests = each_object(self.blobs, "manifests/");
        while let Some((_, blob)) = manifests.try_next().await? {
            let manifest = Manifest::from_json(&blob.bytes).map_err(search_error)?;
            tombstones.extend(manifest.tombstones);
            listed.extend(manifest.splits.into_iter().map(|split| split.key));
        }
        let mut objects = each_object(self.blobs, "splits/");
        while let Some((key, blob)) = objects.try_next().await? {
            let split = match Split::open(blob.bytes) {
                Ok(split) => split,
                Err(SearchError::UnknownForm { .. } | SearchError::Damaged { .. }) => {
                    self.report.unread.push(key);
                    continue;
                }
                Err(error) => return Err(search_error(error)),
            };
            let mut ids: BTreeSet<PageId> = self.report.pages.iter().map(|page| page.id.clone()).collect();
            if let Subject::Page(id) = self.subject {
                ids.insert(id.clone());
            }
            let mut held = BTreeSet::new();
            for id in ids {
                if split.holds(&id).map_err(search_error)? {
                    held.insert(id);
                }
            }
            if let Subject::Host(host) = self.subject {
                held.extend(split.pages_of(host).map_err(search_error)?);
            }
            for page in held {
                self.report.indexed += u64::from(listed.contains(&key));
                let hidden = tombstones.contains(&page) || !listed.contains(&key);
                self.found(&key, page, hidden);
            }
        }
        Ok(())
    }

    /// Searches the bodies of large pages that wait for extraction; their keys contain the page id.
    async fn bodies(&mut self) -> Result<()> {
        for key in all_keys(self.blobs, "bodies/", None).await? {
            let name = key.rsplit('/').next().and_then(|name| name.split('.').next()).unwrap_or_default();
            let Ok(page) = PageId::new(name) else { continue };
            if self.is_about(&page, "") {
                self.found(&key, page, false);
            }
        }
        Ok(())
    }

    fn is_about(&self, id: &PageId, url: &str) -> bool {
        self.subject.covers(id, url) || self.report.pages.iter().any(|page| page.id == *id)
    }

    /// Reports a remnant unless its page is accepted or pending.
    fn found(&mut self, key: &str, page: PageId, hidden: bool) {
        if !self.alive.contains(&page) {
            self.report.left.push(Remnant { key: key.to_owned(), page, hidden });
        }
    }
}

impl Subject {
    /// Parses a page's URL, a page id or a host name; returns `None` for anything else.
    pub fn read(text: &str) -> Option<Subject> {
        if let Ok(id) = PageId::new(text) {
            return Some(Subject::Page(id));
        }
        if text.contains("://") {
            let url = address::parse(text, None).ok()?;
            return Some(Subject::Page(address::page_id(&address::canonical(&url))));
        }
        let url = address::parse_typed(text).ok().filter(|url| url.path() == "/" && url.query().is_none())?;
        url.host_str().map(|host| Subject::Host(host.to_owned()))
    }

    fn covers(&self, id: &PageId, url: &str) -> bool {
        match self {
            Subject::Page(page) => page == id,
            Subject::Host(host) => is_on(url, host),
        }
    }
}

impl AuditReport {
    /// True if every remnant is hidden, so that nothing removed can still be reached.
    pub fn is_clean(&self) -> bool {
        self.left.iter().all(|left| left.hidden)
    }

    /// True if nothing is stored about the subject.
    pub fn is_empty(&self) -> bool {
        self.pages.is_empty()
            && self.removed.is_empty()
            && self.records == 0
            && self.indexed == 0
            && self.left.is_empty()
    }
}
