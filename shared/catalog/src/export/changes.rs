//! Changes: the pages that another search engine has to index or delete in order to find the same pages as a search
//! here. docs/decisions/0097 explains why nothing is lost between two runs.

use super::*;
use crate::listing::all_keys;
use crate::removal::AUDIT_PREFIX;
use crate::segment::RecordReader;
use curlew_model::with_defaults;
use futures::stream::{self, TryStreamExt};
use serde::{Deserialize, Serialize};

const VERSION: u32 = 1;
const SEGMENTS_AT_ONCE: usize = 8;
/// Maximum number of pages that are passed on together, unless they share a segment.
const PAGES_AT_ONCE: usize = 1_000;
/// Time after the end of a day until which objects of that day may still be written.
const DAY_IS_COMPLETE_AFTER: Millis = Millis::from_hours(25);
/// First character of the names of dated objects; names of operators' actions in the audit log begin differently.
const CENTURY: &str = "2";

/// An action of another engine on one page.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// Index this record in place of an earlier one of its page.
    Index(Box<Record>),
    /// Delete this page, which the engine may not have.
    Delete(PageId),
}

with_defaults! {
    /// The changes that another engine has received. The default is that of an empty engine.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
    pub struct Cursor {
        version: u32 = VERSION,
        segments: DoneObjects = DoneObjects::default(),
        /// The audit lines of the removals that were passed on.
        removals: DoneObjects = DoneObjects::default(),
        hidden: BTreeSet<String> = BTreeSet::new(),
        /// The pages that had expired and were not removed yet.
        expired: BTreeSet<PageId> = BTreeSet::new(),
        /// Hosts and pages that a run began to pass on; if it was interrupted, the engine may or may not know them.
        #[serde(default)]
        in_doubt: InDoubt = InDoubt::default(),
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct InDoubt {
    hosts: BTreeSet<String>,
    pages: BTreeSet<PageId>,
}

impl Cursor {
    /// Returns the cursor of an engine that knows all changes until an instant.
    pub fn since(at: Timestamp) -> Cursor {
        let through = end_of_day(at - DAY_IS_COMPLETE_AFTER - CLOCKS_DIFFER);
        let before = DoneObjects { through, later: BTreeSet::new() };
        Cursor { segments: before.clone(), removals: before, ..Cursor::default() }
    }

    /// True if this version of the program wrote the cursor, or can go on from it.
    pub fn is_known(&self) -> bool {
        self.version == VERSION
    }
}

/// The dated objects that are done, by their names after the common prefix, such as `2026/11/28/0123.json`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct DoneObjects {
    /// All names up to this one, in their order, are done.
    through: String,
    later: BTreeSet<String>,
}

impl DoneObjects {
    fn contains(&self, name: &str) -> bool {
        name <= self.through.as_str() || self.later.contains(name)
    }

    /// Adds a name. If no earlier name can be added later (`is_first_open`), it stands for all earlier ones.
    fn add(&mut self, name: &str, is_first_open: bool) {
        if is_first_open && name > self.through.as_str() {
            name.clone_into(&mut self.through);
            self.later = self.later.split_off(name);
        }
        if name > self.through.as_str() {
            self.later.insert(name.to_owned());
        } else {
            self.later.remove(name);
        }
    }
}

/// Returns a name after those of all objects of a day and before those of the next.
fn end_of_day(at: Timestamp) -> String {
    format!("{}/~", key_day(at))
}

#[derive(Deserialize)]
struct RemovedPage {
    page: PageId,
}

impl Export<'_> {
    /// Passes all changes since a cursor to `write`, each part with the cursor to store once the engine has applied it.
    /// Returns the last cursor. A part may be empty; the last change of a page counts. After an error, changes since
    /// the stored cursor are passed again.
    pub async fn changes<E: From<StageError>>(
        &self,
        mut cursor: Cursor,
        write: impl AsyncFnMut(Vec<Change>, &Cursor) -> Result<(), E>,
    ) -> Result<Cursor, E> {
        let snapshot = self.published(RecordFilter::default()).await?;
        if cursor.removals == DoneObjects::default() {
            // An engine without pages needs no earlier removals.
            cursor.removals = Cursor::since(snapshot.now).removals;
        }
        let mut run = Run { export: self, snapshot, cursor, write };
        run.hosts_changed().await?;
        // The segments are passed on without these pages, so the cursors after them have to include the expired pages.
        run.pages_expired().await?;
        run.segments_published().await?;
        // Removals come last, so that they also cover the records that have just been read.
        run.pages_removed().await?;
        Ok(run.cursor)
    }

    async fn names(&self, prefix: &str, done: Option<&DoneObjects>) -> Result<Vec<String>> {
        let after = done.map(|done| format!("{prefix}{}", done.through));
        let keys = all_keys(self.0.blobs.as_ref(), &format!("{prefix}{CENTURY}"), after).await?;
        Ok(keys.iter().filter_map(|key| key.strip_prefix(prefix)).map(ToOwned::to_owned).collect())
    }

    async fn segment(&self, name: &str) -> Result<(String, Vec<(Location, Record)>)> {
        let Ok(key) = SegmentKey::new(&format!("{SEGMENTS}{name}")) else { return Ok((name.to_owned(), vec![])) };
        Ok((name.to_owned(), self.records(&key).await?))
    }

    async fn removed_page(&self, line: &str) -> Result<Option<PageId>> {
        let key = format!("{AUDIT_PREFIX}{line}");
        let Some(blob) = self.0.blobs.get(&key).await? else { return Ok(None) };
        let removed: RemovedPage =
            serde_json::from_slice(&blob.bytes).map_err(|e| PortError::Corrupt { what: key, why: e.to_string() })?;
        Ok(Some(removed.page))
    }

    /// Returns changes according to the rows of pages: a page may have been accepted again since its audit line.
    async fn changes_of(&self, snapshot: &Snapshot, pages: &BTreeSet<PageId>) -> Result<Vec<Change>> {
        let changes = stream::iter(pages).map(|id| self.change_of(snapshot, id)).buffered(ROWS_AT_ONCE);
        changes.try_collect().await
    }

    async fn change_of(&self, snapshot: &Snapshot, id: &PageId) -> Result<Change> {
        let row = self.0.pages.get(id).await?;
        let Some(PageState::Accepted { location, .. }) = row.map(|(page, _)| page.state) else {
            return Ok(Change::Delete(id.clone()));
        };
        match RecordReader(self.0.blobs.as_ref()).read(&location).await {
            Ok(Some(record)) => Ok(snapshot.change(&location, record)),
            Ok(None) | Err(StageError::Port(PortError::NotFound(_))) => Ok(Change::Delete(id.clone())),
            Err(error) => Err(error),
        }
    }
}

struct Run<'a, W> {
    export: &'a Export<'a>,
    snapshot: Snapshot,
    /// The cursor after the changes passed on so far.
    cursor: Cursor,
    write: W,
}

impl<E: From<StageError>, W: AsyncFnMut(Vec<Change>, &Cursor) -> Result<(), E>> Run<'_, W> {
    /// Passes on the pages of hosts whose block has changed; reads all segments, since there is no index by host.
    async fn hosts_changed(&mut self) -> Result<(), E> {
        let export = self.export;
        let mut changed: BTreeSet<String> =
            self.cursor.hidden.symmetric_difference(&self.snapshot.blocked).cloned().collect();
        changed.extend(self.cursor.in_doubt.hosts.iter().cloned());
        if !changed.is_empty() {
            // If this run is interrupted, the next one passes on these hosts even if their blocks are reverted by then.
            self.cursor.in_doubt.hosts.clone_from(&changed);
            (self.write)(Vec::new(), &self.cursor).await?;
            let mut names = export.names(SEGMENTS, None).await?;
            names.retain(|name| self.cursor.segments.contains(name));
            let mut segments =
                Box::pin(stream::iter(&names).map(|name| export.segment(name)).buffered(SEGMENTS_AT_ONCE));
            while let Some((_, mut records)) = segments.try_next().await? {
                records.retain(|(_, record)| is_hidden(&changed, &record.url));
                self.pass_on(self.snapshot.changes(records)).await?;
            }
        }
        self.cursor.hidden.clone_from(&self.snapshot.blocked);
        self.cursor.in_doubt.hosts.clear();
        Ok(())
    }

    /// Passes on the records of published segments. Publishing has erased the records that are not current.
    async fn segments_published(&mut self) -> Result<(), E> {
        let export = self.export;
        let complete = end_of_day(self.snapshot.now - DAY_IS_COMPLETE_AFTER);
        let names = export.names(SEGMENTS, Some(&self.cursor.segments)).await?;
        let (published, waiting): (Vec<_>, Vec<_>) =
            names.into_iter().partition(|name| self.snapshot.has_published(name));
        // The next run lists all segments from the first unpublished one on again.
        let open = waiting.into_iter().next().map_or(complete.clone(), |first| first.min(complete));
        let (known, new): (Vec<_>, Vec<_>) =
            published.into_iter().partition(|name| self.cursor.segments.contains(name));
        let mut known = known.into_iter().peekable();
        let mut segments = Box::pin(stream::iter(&new).map(|name| export.segment(name)).buffered(SEGMENTS_AT_ONCE));
        while let Some((name, records)) = segments.try_next().await? {
            while let Some(before) = known.next_if(|known| *known < name) {
                self.cursor.segments.add(&before, before < open);
            }
            self.cursor.segments.add(&name, name < open);
            // Hidden pages are deleted, since a run whose cursor was not stored may have passed them on.
            self.pass_on(self.snapshot.changes(records)).await?;
        }
        known.for_each(|name| self.cursor.segments.add(&name, name < open));
        Ok(())
    }

    async fn pages_removed(&mut self) -> Result<(), E> {
        let export = self.export;
        let complete = end_of_day(self.snapshot.now - DAY_IS_COMPLETE_AFTER);
        let lines = export.names(AUDIT_PREFIX, Some(&self.cursor.removals)).await?;
        for lines in lines.chunks(PAGES_AT_ONCE) {
            let new = lines.iter().filter(|line| !self.cursor.removals.contains(line));
            let pages = stream::iter(new).map(|line| export.removed_page(line)).buffered(ROWS_AT_ONCE);
            let pages: BTreeSet<PageId> = pages.try_filter_map(async |page| Ok(page)).try_collect().await?;
            let changes = export.changes_of(&self.snapshot, &pages).await?;
            lines.iter().for_each(|line| self.cursor.removals.add(line, *line < complete));
            self.pass_on(changes).await?;
        }
        Ok(())
    }

    /// Passes on the pages that have expired since the last run, and those whose expiry has been postponed.
    async fn pages_expired(&mut self) -> Result<(), E> {
        let export = self.export;
        let mut expired = BTreeSet::new();
        for year in self.snapshot.manifests.keys() {
            expired.extend(export.0.expired(*year).await?);
        }
        let mut pages: BTreeSet<PageId> = self.cursor.expired.symmetric_difference(&expired).cloned().collect();
        pages.extend(self.cursor.in_doubt.pages.iter().cloned());
        if pages.is_empty() {
            return Ok(());
        }
        // If this run is interrupted, the next one passes on these pages even if their expiry is postponed by then.
        self.cursor.in_doubt.pages.clone_from(&pages);
        (self.write)(Vec::new(), &self.cursor).await?;
        let changes = export.changes_of(&self.snapshot, &pages).await?;
        self.cursor.expired = expired;
        self.cursor.in_doubt.pages.clear();
        self.pass_on(changes).await
    }

    async fn pass_on(&mut self, changes: Vec<Change>) -> Result<(), E> {
        if changes.is_empty() { Ok(()) } else { (self.write)(changes, &self.cursor).await }
    }
}

impl Snapshot {
    fn has_published(&self, name: &str) -> bool {
        let Ok(key) = SegmentKey::new(&format!("{SEGMENTS}{name}")) else { return true };
        self.manifest_of(&key).is_some_and(|manifest| manifest.is_indexed(&key))
    }

    fn changes(&self, records: Vec<(Location, Record)>) -> Vec<Change> {
        records.into_iter().map(|(at, record)| self.change(&at, record)).collect()
    }

    fn change(&self, at: &Location, record: Record) -> Change {
        if self.takes(at, &record) { Change::Index(Box::new(without_copy(record))) } else { Change::Delete(record.id) }
    }
}
