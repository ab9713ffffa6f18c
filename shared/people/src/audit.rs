//! Audit: reports the history of a page or of all pages of a host, and every remnant of removed ones.

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
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Looks for remnants of pages.
pub struct Audit {
    /// Segments, splits, manifests, thumbnails, audit lines.
    pub blobs: Arc<dyn Blobs>,
    /// Rows of pages.
    pub pages: Arc<dyn Pages>,
}

/// Subject of an audit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A page.
    Page(PageId),
    /// A host and all that is below it, lower case, A-labels.
    Host(String),
}

/// Everything that an audit found about its subject.
#[derive(Clone, Debug, Default, Serialize)]
pub struct AuditReport {
    /// The rows of the pages, with state and time.
    pub pages: Vec<Page>,
    /// The lines of the audit: page, time and reason of each removal.
    pub removed: Vec<Value>,
    /// Number of records of pages that are indexed or pending.
    pub records: u64,
    /// Number of occurrences of such pages in splits.
    pub indexed: u64,
    /// Remnants of pages that are gone and must not be found, each with its place and page.
    pub left: Vec<Remnant>,
    /// Keys of objects that could not be read, since another version has written them.
    pub unread: Vec<String>,
}

/// A remnant of a page that is gone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Remnant {
    /// Key of the object.
    pub key: String,
    /// The page.
    pub page: PageId,
    /// True if no query finds it there, and the split that holds it is rewritten without it in time.
    pub hidden: bool,
}

impl Audit {
    /// Reads all rows, audit lines, segments, splits and thumbnails that may hold anything of a subject.
    pub async fn report(&self, subject: &Subject) -> Result<AuditReport> {
        let mut report = AuditReport { pages: self.rows(subject).await?, ..AuditReport::default() };
        let accepted = |page: &&Page| matches!(page.state, PageState::Accepted { .. } | PageState::Pending);
        let alive: BTreeSet<PageId> = report.pages.iter().filter(accepted).map(|page| page.id.clone()).collect();
        self.lines(subject, &mut report).await?;
        self.segments(subject, &alive, &mut report).await?;
        self.splits(subject, &alive, &mut report).await?;
        self.bodies(subject, &alive, &mut report).await?;
        Ok(report)
    }

    /// Returns the splits of a year that hold a page, each with the time at which it was built.
    pub async fn splits_with(&self, year: Year, page: &PageId) -> Result<Vec<(String, Timestamp)>> {
        let (manifest, _) = load_manifest(self.blobs.as_ref(), year).await?;
        let mut found = Vec::new();
        for entry in manifest.splits.iter().filter(|entry| entry.is_readable()) {
            let Some(blob) = self.blobs.get(&entry.key).await? else { continue };
            if Split::open(blob.bytes).map_err(search_error)?.holds(page).map_err(search_error)? {
                found.push((entry.key.clone(), entry.built_at));
            }
        }
        Ok(found)
    }

    /// Returns the rows of a subject; of a page that is another one's address, that one's too.
    pub async fn rows(&self, subject: &Subject) -> Result<Vec<Page>> {
        let mut found = Vec::new();
        match subject {
            Subject::Page(id) => {
                let mut next = Some(id.clone());
                // Follows an alias to the page itself.
                while let Some(id) = next.take().filter(|id| !found.iter().any(|page: &Page| page.id == *id)) {
                    let Some((page, _)) = self.pages.get(&id).await? else { break };
                    if let PageState::Alias { of } = &page.state {
                        next = Some(of.clone());
                    }
                    found.push(page);
                }
            }
            Subject::Host(_) => {
                found = pages_that(self.pages.as_ref(), |page| subject.covers(&page.id, &page.url)).await?;
            }
        }
        Ok(found)
    }

    async fn lines(&self, subject: &Subject, report: &mut AuditReport) -> Result<()> {
        let ids: BTreeSet<PageId> = report.pages.iter().map(|page| page.id.clone()).collect();
        for key in all_keys(self.blobs.as_ref(), AUDIT_PREFIX, None).await? {
            let Some(blob) = self.blobs.get(&key).await? else { continue };
            let Ok(line) = serde_json::from_slice::<Value>(&blob.bytes) else { continue };
            let page = line["page"].as_str().and_then(|id| PageId::new(id).ok());
            let Some(page) =
                page.filter(|id| ids.contains(id) || subject.covers(id, line["url"].as_str().unwrap_or_default()))
            else {
                continue;
            };
            let image: Option<ImageId> = serde_json::from_value(line["thumbnail"].clone()).ok();
            if let Some(image) = image
                && self.blobs.get(&thumbnail_key(&image)).await?.is_some_and(|blob| !blob.bytes.is_empty())
            {
                // Another page may have the same image; that is no remnant of this one, but it is reported.
                report.left.push(Remnant { key: thumbnail_key(&image), page, hidden: true });
            }
            report.removed.push(line);
        }
        Ok(())
    }

    async fn segments(&self, subject: &Subject, alive: &BTreeSet<PageId>, report: &mut AuditReport) -> Result<()> {
        for key in all_keys(self.blobs.as_ref(), SEGMENTS, None).await? {
            let Ok(segment) = SegmentKey::new(&key) else { continue };
            let Some(blob) = self.blobs.get(&key).await? else { continue };
            for (_, record) in segment::decode_all(&segment, &blob.bytes)? {
                if !report.is_about(subject, &record.id, &record.url) {
                    continue;
                }
                report.records += 1;
                if !alive.contains(&record.id) {
                    report.left.push(Remnant { key: key.clone(), page: record.id, hidden: false });
                }
            }
        }
        Ok(())
    }

    async fn splits(&self, subject: &Subject, alive: &BTreeSet<PageId>, report: &mut AuditReport) -> Result<()> {
        let mut tombstones = BTreeSet::new();
        let mut listed = BTreeSet::new();
        for key in all_keys(self.blobs.as_ref(), "manifests/", None).await? {
            let Some(blob) = self.blobs.get(&key).await? else { continue };
            let manifest = Manifest::from_json(&blob.bytes).map_err(search_error)?;
            tombstones.extend(manifest.tombstones);
            listed.extend(manifest.splits.into_iter().map(|split| split.key));
        }
        for key in all_keys(self.blobs.as_ref(), "splits/", None).await? {
            let Some(blob) = self.blobs.get(&key).await? else { continue };
            let split = match Split::open(blob.bytes) {
                Ok(split) => split,
                Err(SearchError::UnknownForm { .. } | SearchError::Damaged { .. }) => {
                    report.unread.push(key);
                    continue;
                }
                Err(error) => return Err(search_error(error)),
            };
            let mut ids: BTreeSet<PageId> = match subject {
                Subject::Host(host) => split.pages_of(host).map_err(search_error)?.into_iter().collect(),
                Subject::Page(_) => BTreeSet::new(),
            };
            for id in subject.page().into_iter().chain(report.pages.iter().map(|page| &page.id)) {
                if split.holds(id).map_err(search_error)? {
                    ids.insert(id.clone());
                }
            }
            for page in ids {
                report.indexed += u64::from(listed.contains(&key));
                if !alive.contains(&page) {
                    let hidden = tombstones.contains(&page) || !listed.contains(&key);
                    report.left.push(Remnant { key: key.clone(), page, hidden });
                }
            }
        }
        Ok(())
    }

    /// Looks for bodies of large pages on their way to extraction, in objects named by the page.
    async fn bodies(&self, subject: &Subject, alive: &BTreeSet<PageId>, report: &mut AuditReport) -> Result<()> {
        for key in all_keys(self.blobs.as_ref(), "bodies/", None).await? {
            let name = key.rsplit('/').next().and_then(|name| name.split('.').next()).unwrap_or_default();
            let Ok(page) = PageId::new(name) else { continue };
            if report.is_about(subject, &page, "") && !alive.contains(&page) {
                report.left.push(Remnant { key, page, hidden: false });
            }
        }
        Ok(())
    }
}

impl Subject {
    /// Parses a page's URL, a page id or a host name; `None` if it is none of these.
    pub fn read(text: &str) -> Option<Subject> {
        if let Ok(id) = PageId::new(text) {
            return Some(Subject::Page(id));
        }
        if text.contains("://") {
            return address::parse(text, None)
                .ok()
                .map(|url| Subject::Page(address::page_id(&address::canonical(&url))));
        }
        let url = address::parse_typed(text).ok()?;
        (url.path() == "/" && url.query().is_none())
            .then(|| url.host_str().map(|host| Subject::Host(host.to_owned())))?
    }

    fn page(&self) -> Option<&PageId> {
        match self {
            Subject::Page(id) => Some(id),
            Subject::Host(_) => None,
        }
    }

    fn covers(&self, id: &PageId, url: &str) -> bool {
        match self {
            Subject::Page(page) => page == id,
            Subject::Host(host) => is_on(url, host),
        }
    }
}

impl AuditReport {
    fn is_about(&self, subject: &Subject, id: &PageId, url: &str) -> bool {
        subject.covers(id, url) || self.pages.iter().any(|page| page.id == *id)
    }

    /// True if nothing that is gone can still be reached: every remnant is hidden.
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
