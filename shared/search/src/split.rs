//! Splits: immutable pieces of the index, opened and read.

use crate::bundle::{self, BundleDirectory, Contents};
use crate::cold::Cold;
use crate::error::{Result, SearchError};
use crate::hidden::{Hidden, Since};
use crate::schema::{self, Fields};
use bytes::Bytes;
use curlew_model::{PageId, Record, Timestamp};
use parking_lot::Mutex;
use std::collections::{BTreeSet, HashSet};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use tantivy::columnar::Column;
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{
    BitSet, DocAddress, DocId, DocSet, Index, ReloadPolicy, Searcher, SegmentReader, TERMINATED, TantivyDocument, Term,
};

/// Number of blocks of stored records that a split keeps decompressed.
const STORE_CACHE_BLOCKS: usize = 8;

/// An open split. Reading it copies only the bytes that a query needs.
pub struct Split {
    contents: Contents,
    pub(crate) searcher: Searcher,
    pub(crate) fields: Fields,
    pub(crate) dates: Column<i64>,
    expires: Column<i64>,
    pub(crate) keys: Column<u64>,
    pub(crate) sites: Column<u64>,
    pub(crate) prints: Column<u64>,
    /// Source of the bytes, if they are not all present.
    cold: Option<Arc<Cold>>,
    dead: Mutex<Option<Dead>>,
    outdated: Mutex<Arc<BTreeSet<PageId>>>,
}

/// Documents of the hidden pages of a split, which stay the same for many queries.
struct Dead {
    tombstones: Arc<BTreeSet<PageId>>,
    outdated: Arc<BTreeSet<PageId>>,
    hosts: BTreeSet<String>,
    docs: Arc<BitSet>,
}

impl Split {
    /// Opens a split and checks every byte of it.
    pub fn open(bytes: Bytes) -> Result<Split> {
        let (contents, directory) = bundle::unpack(&bytes)?;
        Split::over(contents, directory, None)
    }

    /// Opens a split of `length` bytes from its end. Reads fail while bytes that they need [are wanted](Split::wanted).
    /// Fails with [`SearchError::Short`] if `end` lacks a part of the tail.
    pub fn open_cold(end: Bytes, length: u64) -> Result<Split> {
        let (contents, directory, cold) = bundle::unpack_tail(&end, length)?;
        Split::over(contents, directory, Some(cold))
    }

    fn over(contents: Contents, directory: BundleDirectory, cold: Option<Arc<Cold>>) -> Result<Split> {
        let fields = schema::schema().1;
        let index = Index::open(directory)?;
        if !schema::is_known(&index.schema()) {
            return Err(SearchError::damaged_split("its fields are other ones"));
        }
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual);
        let reader = reader.doc_store_cache_num_blocks(STORE_CACHE_BLOCKS).try_into()?;
        let searcher = reader.searcher();
        let [segment] = searcher.segment_readers() else {
            return Err(SearchError::damaged_split("it is not made of one segment"));
        };
        let (columns, docs) = (segment.fast_fields(), contents.docs as u32);
        Ok(Split {
            contents,
            fields,
            dates: columns.i64(schema::DATE)?,
            expires: columns.column_opt(schema::EXPIRES)?.unwrap_or_else(|| Column::build_empty_column(docs)),
            keys: columns.u64(schema::KEY)?,
            sites: columns.u64(schema::SITE)?,
            prints: columns.column_opt(schema::LIKENESS)?.unwrap_or_else(|| Column::build_empty_column(docs)),
            searcher,
            cold,
            dead: Mutex::new(None),
            outdated: Mutex::default(),
        })
    }

    /// Reads everything that all searches read, so that these ranges can be stored in the tail.
    pub(crate) fn warm_up(contents: Contents, directory: BundleDirectory) -> Result<()> {
        let split = Split::over(contents, directory, None)?;
        let fields = split.fields;
        let exact = [fields.id, fields.host, fields.language, fields.label, fields.spelling];
        for field in exact.into_iter().chain([fields.body, fields.author, fields.title]) {
            split.segment().inverted_index(field)?;
        }
        split.segment().get_fieldnorms_reader(fields.body)?;
        Ok(())
    }

    /// Returns the missing chunks that a search has asked for, and clears the list; [`Split::supply`] accepts them.
    pub fn wanted(&self) -> Vec<Range<u64>> {
        self.cold.as_ref().map(|cold| cold.wanted()).unwrap_or_default()
    }

    /// Accepts bytes that were wanted.
    pub fn supply(&self, at: u64, bytes: &Bytes) -> Result<()> {
        self.cold.as_ref().map_or(Ok(()), |cold| cold.supply(at, bytes))
    }

    /// Returns the number of supplied bytes that are kept.
    pub fn kept(&self) -> u64 {
        self.cold.as_ref().map_or(0, |cold| cold.kept())
    }

    /// Drops the least recently read bytes until at most `most` bytes are kept.
    pub fn trim(&self, most: u64) {
        if let Some(cold) = &self.cold {
            cold.trim(most);
        }
    }

    /// Returns the number of pages in it, including hidden ones.
    pub fn docs(&self) -> u64 {
        self.contents.docs
    }

    /// True if it has the format that this version writes; an older split can only be searched and rewritten.
    pub(crate) fn is_current(&self) -> bool {
        self.contents.form == bundle::FORM
    }

    /// True if its format has a field; [`SegmentReader`] panics if asked for any other.
    pub(crate) fn has(&self, field: Field) -> bool {
        (field.field_id() as usize) < self.searcher.schema().num_fields()
    }

    /// Returns the languages of its pages (primary subtags); the empty string stands for unknown.
    pub fn languages(&self) -> &BTreeSet<String> {
        &self.contents.languages
    }

    /// Returns the ids of its pages, sorted.
    pub fn ids(&self) -> impl Iterator<Item = Result<PageId>> + '_ {
        // Either all ids, read from the term dictionary, or the one error that prevents reading them.
        let (inverted, error) = match self.segment().inverted_index(self.fields.id) {
            Ok(inverted) => (Some(inverted), None),
            Err(error) => (None, Some(Err(error.into()))),
        };
        let ids = inverted.into_iter().flat_map(|inverted| {
            let mut bytes = Vec::new();
            (0..inverted.terms().num_terms() as u64).map(move |ord| {
                bytes.clear();
                inverted.terms().ord_to_term(ord, &mut bytes)?;
                schema::page_id(&bytes)
            })
        });
        error.into_iter().chain(ids)
    }

    /// Returns its records, in the order in which they were given.
    pub fn records(&self) -> impl Iterator<Item = Result<Record>> + '_ {
        (0..self.max_doc()).map(|doc| self.record(doc))
    }

    pub(crate) fn record(&self, doc: DocId) -> Result<Record> {
        let document: TantivyDocument = self.searcher.doc(DocAddress::new(0, doc))?;
        schema::record(&document, &self.fields)
    }

    /// Sets the pages whose copies here are outdated ([`crate::Manifest::outdated_in`]); these are not found or merged.
    pub fn set_outdated(&self, ids: Arc<BTreeSet<PageId>>) {
        *self.outdated.lock() = ids;
    }

    pub(crate) fn outdated(&self) -> Arc<BTreeSet<PageId>> {
        self.outdated.lock().clone()
    }

    /// Returns the documents of pages that are hidden.
    pub(crate) fn dead(&self, hidden: &Hidden) -> Result<Arc<BitSet>> {
        let mut known = self.dead.lock();
        let outdated = self.outdated();
        // Addresses identify sets, since a set that is kept here cannot share its address with another.
        let known_with = |tombstones: &Arc<BTreeSet<PageId>>| {
            known.as_ref().filter(|dead| {
                Arc::ptr_eq(&dead.tombstones, tombstones)
                    && Arc::ptr_eq(&dead.outdated, &outdated)
                    && dead.hosts == hidden.hosts
            })
        };
        if let Some(dead) = known_with(&hidden.tombstones) {
            return Ok(dead.docs.clone());
        }
        let mut docs;
        if let Some(Since { earlier, added }) = &hidden.since
            && let Some(dead) = known_with(earlier)
        {
            docs = BitSet::clone(&dead.docs);
            self.insert_pages(added.iter(), &mut docs);
        } else {
            docs = BitSet::with_max_value(self.max_doc());
            self.insert_pages(hidden.tombstones.iter().chain(outdated.iter()), &mut docs);
            for host in &hidden.hosts {
                self.insert_docs(&Term::from_field_text(self.fields.host, host), &mut docs)?;
            }
        }
        let docs = Arc::new(docs);
        let (tombstones, hosts) = (hidden.tombstones.clone(), hidden.hosts.clone());
        *known = Some(Dead { tombstones, outdated, hosts, docs: docs.clone() });
        Ok(docs)
    }

    /// Adds the documents of pages, found by their keys, since the dictionary of ids is a tenth of the split.
    fn insert_pages<'a>(&self, pages: impl Iterator<Item = &'a PageId>, docs: &mut BitSet) {
        let keys: HashSet<u64> = pages.map(schema::key).collect();
        if keys.is_empty() {
            return;
        }
        for doc in 0..self.max_doc() {
            if self.keys.first(doc).is_some_and(|key| keys.contains(&key)) {
                docs.insert(doc);
            }
        }
    }

    pub(crate) fn insert_docs(&self, term: &Term, docs: &mut BitSet) -> Result<()> {
        if !self.has(term.field()) {
            return Ok(());
        }
        let inverted = self.segment().inverted_index(term.field())?;
        if let Some(mut postings) = inverted.read_postings(term, IndexRecordOption::Basic)? {
            while postings.doc() != TERMINATED {
                docs.insert(postings.doc());
                postings.advance();
            }
        }
        Ok(())
    }

    /// Returns the pages that have expired at `now`, as their records say.
    pub fn lapsed(&self, now: Timestamp) -> Result<HashSet<PageId>> {
        let lapsed = (0..self.max_doc()).filter(|doc| self.has_expired(*doc, now));
        lapsed.map(|doc| Ok(self.record(doc)?.id)).collect()
    }

    pub(crate) fn has_expired(&self, doc: DocId, now: Timestamp) -> bool {
        self.expires.first(doc).is_some_and(|expires| expires <= now.as_millis())
    }

    /// True if it contains a page.
    pub fn holds(&self, id: &PageId) -> Result<bool> {
        Ok(self.doc_of(id)?.is_some())
    }

    /// Returns the pages of a host and its subdomains.
    pub fn pages_of(&self, host: &str) -> Result<Vec<PageId>> {
        let mut docs = BitSet::with_max_value(self.max_doc());
        self.insert_docs(&Term::from_field_text(self.fields.host, host), &mut docs)?;
        (0..self.max_doc()).filter(|doc| docs.contains(*doc)).map(|doc| Ok(self.record(doc)?.id)).collect()
    }

    pub(crate) fn doc_of(&self, id: &PageId) -> Result<Option<DocId>> {
        let inverted = self.segment().inverted_index(self.fields.id)?;
        let postings = inverted.read_postings(&schema::id_term(&self.fields, id), IndexRecordOption::Basic)?;
        Ok(postings.map(|postings| postings.doc()).filter(|doc| *doc != TERMINATED))
    }

    pub(crate) fn segment(&self) -> &SegmentReader {
        self.searcher.segment_reader(0)
    }

    pub(crate) fn max_doc(&self) -> DocId {
        self.segment().max_doc()
    }
}

impl fmt::Debug for Split {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Split({} pages)", self.docs())
    }
}
