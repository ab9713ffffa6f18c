//! Splits: immutable pieces of the index, built, opened and merged.

use crate::analyze::Analyzers;
use crate::bundle::{self, Contents};
use crate::schema::{self, Fields};
use crate::{Hidden, SearchError};
use bytes::Bytes;
use curlew_model::{PageId, Record, Timestamp};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use tantivy::columnar::{Column, StrColumn};
use tantivy::directory::{OwnedBytes, RamDirectory};
use tantivy::fastfield::{AliveBitSet, write_alive_bitset};
use tantivy::index::{Segment, SegmentId};
use tantivy::indexer::merge_filtered_segments;
use tantivy::schema::{IndexRecordOption, Schema};
use tantivy::store::{Compressor, ZstdCompressor};
use tantivy::{
    BitSet, Directory, DocAddress, DocId, DocSet, Index, IndexBuilder, IndexSettings, ReloadPolicy, Searcher,
    SegmentReader, SingleSegmentIndexWriter, TERMINATED, TantivyDocument, Term,
};

/// Limits of one split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuildBudget {
    /// Memory for words that are not yet laid down, in bytes; when it is used up, a part is laid down in memory in its
    /// final, compressed form, and the parts are merged at the end.
    pub arena_bytes: usize,
    /// Most pages of one split.
    pub docs: u64,
    /// So much of a page's text is searchable, in bytes; all of it is stored.
    pub text_bytes: usize,
}

impl Default for BuildBudget {
    fn default() -> BuildBudget {
        BuildBudget { arena_bytes: 15_000_000, docs: 1_000_000, text_bytes: 1 << 20 }
    }
}

/// A split that was built.
#[derive(Clone, PartialEq)]
pub struct SplitBuilt {
    /// The blob; [`Split::open`] reads it. The same records in the same order give the same bytes.
    pub bytes: Vec<u8>,
    /// The first half of the blob's checksum in hexadecimal digits, to name the object by.
    pub name: String,
    /// Pages in it.
    pub docs: u64,
    /// Their languages (primary subtags); the empty word stands for pages whose language is not known.
    pub languages: BTreeSet<String>,
    /// Pages that were asked to be left out, and that were there to be left out.
    pub dropped: BTreeSet<PageId>,
}

impl fmt::Debug for SplitBuilt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SplitBuilt({}, {} pages, {} bytes)", self.name, self.docs, self.bytes.len())
    }
}

/// Builds one split from records, on the caller's thread.
///
/// Of several records of one page the last is taken.
///
/// # Errors
/// [`SearchError::Empty`] without records, [`SearchError::TooLarge`] beyond the budget.
pub fn build_split(records: impl Iterator<Item = Record>, budget: &BuildBudget) -> Result<SplitBuilt, SearchError> {
    let mut builder = Builder::new(*budget)?;
    for record in records {
        builder.add(&record)?;
    }
    builder.finish()
}

/// Merges several splits into one, leaving out some pages; nothing is taken apart anew.
///
/// Of a page that is in several of them the one in the later split is taken. `None` if nothing is left.
///
/// # Errors
/// [`SearchError::TooLarge`] if more pages are left than the budget allows.
pub fn merge_splits(
    splits: &[&Split],
    leave_out: &HashSet<PageId>,
    budget: &BuildBudget,
) -> Result<Option<SplitBuilt>, SearchError> {
    let mut seen: HashSet<[u8; 16]> = HashSet::new();
    let mut dropped = BTreeSet::new();
    let mut parts = Vec::with_capacity(splits.len());
    for split in splits.iter().rev() {
        let mut dead = Vec::new();
        for id in split.ids() {
            let id = id?;
            let repeated = !seen.insert(schema::id_bytes(&id));
            let unwanted = leave_out.contains(&id);
            if repeated || unwanted {
                dead.extend(split.doc_of(&id)?);
            }
            if unwanted {
                dropped.insert(id);
            }
        }
        parts.push(Part { index: split.searcher.index().clone(), docs: split.max_doc(), dead });
    }
    parts.reverse();
    let docs = parts.iter().map(Part::alive).sum();
    if docs == 0 {
        return Ok(None);
    }
    if docs > budget.docs {
        return Err(SearchError::TooLarge { limit: budget.docs, unit: "pages" });
    }
    let merged = merge(&parts)?;
    drop(parts);
    let languages = languages_of(&merged.index)?;
    Ok(Some(SplitBuilt { dropped, ..seal(&merged, docs, languages)? }))
}

/// An open split. Reading it copies no more than what a query needs.
pub struct Split {
    contents: Contents,
    searcher: Searcher,
    fields: Fields,
    dates: Column<i64>,
    expires: Column<i64>,
    urls: StrColumn,
    dead: Mutex<Option<Dead>>,
}

/// Where the hidden pages lie in a split. Looked up once, since what is hidden lasts for many queries.
struct Dead {
    tombstones: Arc<BTreeSet<PageId>>,
    hosts: BTreeSet<String>,
    docs: Arc<BitSet>,
}

impl Split {
    /// Opens a split and checks every byte of it.
    ///
    /// # Errors
    /// [`SearchError::Damaged`] if it is cut or changed, [`SearchError::UnknownForm`] if another version wrote it.
    pub fn open(bytes: Bytes) -> Result<Split, SearchError> {
        let (contents, directory) = bundle::unpack(&bytes)?;
        let (schema, fields) = schema::schema();
        let index = Index::open(directory)?;
        if index.schema() != schema {
            return Err(SearchError::damaged_split("its fields are other ones"));
        }
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual);
        let reader = reader.doc_store_cache_num_blocks(STORE_CACHE_BLOCKS).try_into()?;
        let searcher = reader.searcher();
        let [segment] = searcher.segment_readers() else {
            return Err(SearchError::damaged_split("it is not made of one segment"));
        };
        let columns = segment.fast_fields();
        let dates = columns.i64(schema::DATE)?;
        let expires =
            columns.column_opt(schema::EXPIRES)?.unwrap_or_else(|| Column::build_empty_column(contents.docs as u32));
        let urls = columns.str(schema::URL)?.ok_or_else(|| SearchError::damaged_split("it has no URLs"))?;
        Ok(Split { contents, fields, dates, expires, urls, searcher, dead: Mutex::new(None) })
    }

    /// Pages in it, those that are hidden included.
    pub fn docs(&self) -> u64 {
        self.contents.docs
    }

    /// Languages of its pages (primary subtags); the empty word stands for pages whose language is not known.
    pub fn languages(&self) -> &BTreeSet<String> {
        &self.contents.languages
    }

    /// Ids of its pages, in their order.
    pub fn ids(&self) -> impl Iterator<Item = Result<PageId, SearchError>> + '_ {
        // Either all ids, one by one out of the term dictionary, or the one error that keeps them from being read.
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

    /// Its records, in the order in which they were given.
    pub fn records(&self) -> impl Iterator<Item = Result<Record, SearchError>> + '_ {
        (0..self.max_doc()).map(|doc| self.record(doc))
    }

    pub(crate) fn record(&self, doc: DocId) -> Result<Record, SearchError> {
        let document: TantivyDocument = self.searcher.doc(DocAddress::new(0, doc))?;
        schema::record(&document, &self.fields)
    }

    /// The documents of pages that are hidden.
    pub(crate) fn dead(&self, hidden: &Hidden) -> Result<Arc<BitSet>, SearchError> {
        let mut known = self.dead.lock().unwrap_or_else(PoisonError::into_inner);
        // The set of tombstones is kept, so its address cannot have become that of another one.
        let same = |dead: &&Dead| Arc::ptr_eq(&dead.tombstones, &hidden.tombstones) && dead.hosts == hidden.hosts;
        if let Some(dead) = known.as_ref().filter(same) {
            return Ok(dead.docs.clone());
        }
        let mut docs = BitSet::with_max_value(self.max_doc());
        for id in hidden.tombstones.iter() {
            self.insert_docs(&schema::id_term(&self.fields, id), &mut docs)?;
        }
        for host in &hidden.hosts {
            self.insert_docs(&Term::from_field_text(self.fields.host, host), &mut docs)?;
        }
        let docs = Arc::new(docs);
        *known = Some(Dead { tombstones: hidden.tombstones.clone(), hosts: hidden.hosts.clone(), docs: docs.clone() });
        Ok(docs)
    }

    fn insert_docs(&self, term: &Term, docs: &mut BitSet) -> Result<(), SearchError> {
        let inverted = self.segment().inverted_index(term.field())?;
        if let Some(mut postings) = inverted.read_postings(term, IndexRecordOption::Basic)? {
            while postings.doc() != TERMINATED {
                docs.insert(postings.doc());
                postings.advance();
            }
        }
        Ok(())
    }

    /// The pages that no query finds any more: those that are hidden, and those that were to vanish before `now`. A
    /// merge may leave them out for good.
    ///
    /// # Errors
    /// If the split cannot be read.
    pub fn lapsed(&self, hidden: &Hidden, now: Timestamp) -> Result<HashSet<PageId>, SearchError> {
        let dead = self.dead(hidden)?;
        let lapsed = (0..self.max_doc()).filter(|doc| dead.contains(*doc) || self.has_expired(*doc, now));
        lapsed.map(|doc| Ok(self.record(doc)?.id)).collect()
    }

    fn has_expired(&self, doc: DocId, now: Timestamp) -> bool {
        self.expires.first(doc).is_some_and(|expires| expires <= now.as_millis())
    }

    /// The document of a page.
    fn doc_of(&self, id: &PageId) -> Result<Option<DocId>, SearchError> {
        let inverted = self.segment().inverted_index(self.fields.id)?;
        let postings = inverted.read_postings(&schema::id_term(&self.fields, id), IndexRecordOption::Basic)?;
        Ok(postings.map(|postings| postings.doc()).filter(|doc| *doc != TERMINATED))
    }

    pub(crate) fn url(&self, ord: u64) -> Result<String, SearchError> {
        let mut url = String::new();
        self.urls.ord_to_str(ord, &mut url)?;
        Ok(url)
    }

    pub(crate) fn searcher(&self) -> &Searcher {
        &self.searcher
    }

    pub(crate) fn fields(&self) -> &Fields {
        &self.fields
    }

    pub(crate) fn dates(&self) -> &Column<i64> {
        &self.dates
    }

    pub(crate) fn expires(&self) -> &Column<i64> {
        &self.expires
    }

    pub(crate) fn url_ords(&self) -> &Column<u64> {
        self.urls.ords()
    }

    pub(crate) fn segment(&self) -> &SegmentReader {
        self.searcher.segment_reader(0)
    }

    fn max_doc(&self) -> DocId {
        self.segment().max_doc()
    }
}

impl fmt::Debug for Split {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Split({} pages)", self.docs())
    }
}

/// The engine cannot size its tables for less.
const MIN_ARENA_BYTES: usize = 1_000_000;
/// Blocks of stored records that a split keeps decompressed.
const STORE_CACHE_BLOCKS: usize = 8;
/// Bytes of a block of stored records before compression.
const STORE_BLOCK_BYTES: usize = 64 * 1024;
/// The segment of every split has this name, in place of a random one, so that the same records give the same bytes.
const SEGMENT: &str = "00000000000000000000000000000001";
/// The engine's list of segments.
const META: &str = "meta.json";

/// An index that was built in memory.
struct Finished {
    index: Index,
    /// Its files; the index's own view of them leaves out the checksum at the end of each.
    directory: RamDirectory,
}

/// An index, and what of it is not taken over.
struct Part {
    index: Index,
    docs: DocId,
    dead: Vec<DocId>,
}

impl Part {
    fn alive(&self) -> u64 {
        u64::from(self.docs) - self.dead.len() as u64
    }

    fn filter(&self) -> Result<Option<AliveBitSet>, SearchError> {
        if self.dead.is_empty() {
            return Ok(None);
        }
        let mut alive = BitSet::with_max_value_and_full(self.docs);
        for doc in &self.dead {
            alive.remove(*doc);
        }
        let mut bytes = Vec::new();
        write_alive_bitset(&alive, &mut bytes)?;
        Ok(Some(AliveBitSet::open(OwnedBytes::new(bytes))))
    }
}

/// Gathers records into parts.
struct Builder {
    budget: BuildBudget,
    schema: Schema,
    fields: Fields,
    analyzers: Analyzers,
    writer: SingleSegmentIndexWriter,
    /// Where the writer writes to.
    directory: RamDirectory,
    docs: DocId,
    parts: Vec<Part>,
    /// Where the last part lies.
    laid_down: RamDirectory,
    /// Which part each page is in, and as which document.
    pages: HashMap<[u8; 16], (usize, DocId)>,
    /// Documents of pages that came again later.
    repeated: Vec<(usize, DocId)>,
    languages: BTreeSet<String>,
}

impl Builder {
    fn new(budget: BuildBudget) -> Result<Builder, SearchError> {
        let (schema, fields) = schema::schema();
        let directory = RamDirectory::create();
        Ok(Builder {
            budget,
            writer: writer(&schema, &budget, directory.clone())?,
            directory,
            schema,
            fields,
            analyzers: Analyzers::default(),
            docs: 0,
            parts: Vec::new(),
            laid_down: RamDirectory::create(),
            pages: HashMap::new(),
            repeated: Vec::new(),
            languages: BTreeSet::new(),
        })
    }

    fn add(&mut self, record: &Record) -> Result<(), SearchError> {
        if self.pages.len() as u64 >= self.budget.docs {
            return Err(SearchError::TooLarge { limit: self.budget.docs, unit: "pages" });
        }
        let document = schema::document(record, &self.fields, &mut self.analyzers, &self.budget)?;
        self.writer.add_document(document)?;
        self.languages.insert(schema::primary_language(record.language.as_deref()));
        let place = (self.parts.len(), self.docs);
        self.repeated.extend(self.pages.insert(schema::id_bytes(&record.id), place));
        self.docs += 1;
        if self.writer.mem_usage() >= self.budget.arena_bytes {
            self.lay_down()?;
        }
        Ok(())
    }

    fn lay_down(&mut self) -> Result<(), SearchError> {
        let directory = RamDirectory::create();
        let next = writer(&self.schema, &self.budget, directory.clone())?;
        let index = std::mem::replace(&mut self.writer, next).finalize()?;
        self.laid_down = std::mem::replace(&mut self.directory, directory);
        self.parts.push(Part { index, docs: std::mem::take(&mut self.docs), dead: Vec::new() });
        Ok(())
    }

    fn finish(mut self) -> Result<SplitBuilt, SearchError> {
        if self.pages.is_empty() {
            return Err(SearchError::Empty);
        }
        if self.docs > 0 {
            self.lay_down()?;
        }
        for (part, doc) in self.repeated {
            self.parts[part].dead.push(doc);
        }
        let docs = self.pages.len() as u64;
        drop(self.pages);
        drop(self.analyzers);
        let finished = match self.parts.as_slice() {
            [only] if only.dead.is_empty() => Finished { index: only.index.clone(), directory: self.laid_down },
            parts => merge(parts)?,
        };
        drop(self.parts);
        seal(&finished, docs, self.languages)
    }
}

/// A writer that works on the caller's thread and fills one segment.
fn writer(
    schema: &Schema,
    budget: &BuildBudget,
    directory: RamDirectory,
) -> Result<SingleSegmentIndexWriter, SearchError> {
    let builder = IndexBuilder::new().schema(schema.clone()).settings(settings());
    Ok(builder.single_segment_index_writer(directory, budget.arena_bytes.max(MIN_ARENA_BYTES))?)
}

fn settings() -> IndexSettings {
    IndexSettings {
        docstore_compression: Compressor::Zstd(ZstdCompressor::default()),
        docstore_compress_dedicated_thread: false,
        docstore_blocksize: STORE_BLOCK_BYTES,
        ..IndexSettings::default()
    }
}

fn merge(parts: &[Part]) -> Result<Finished, SearchError> {
    let mut segments: Vec<Segment> = Vec::new();
    let mut filters = Vec::new();
    for part in parts.iter().filter(|part| part.alive() > 0) {
        for segment in part.index.searchable_segments()? {
            segments.push(segment);
            filters.push(part.filter()?);
        }
    }
    let directory = RamDirectory::create();
    let index = merge_filtered_segments(&segments, settings(), filters, directory.clone())?;
    Ok(Finished { index, directory })
}

/// The languages that are left after a merge.
fn languages_of(index: &Index) -> Result<BTreeSet<String>, SearchError> {
    let (_, fields) = schema::schema();
    let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
    let searcher = reader.searcher();
    let mut languages = BTreeSet::new();
    for segment in searcher.segment_readers() {
        let inverted = segment.inverted_index(fields.language)?;
        let mut known = 0;
        let mut terms = inverted.terms().stream()?;
        while terms.advance() {
            known += u64::from(terms.value().doc_freq);
            languages.insert(String::from_utf8_lossy(terms.key()).into_owned());
        }
        if known < u64::from(segment.max_doc()) {
            languages.insert(String::new());
        }
    }
    Ok(languages)
}

/// Packs a finished index, under names that do not depend on chance.
fn seal(finished: &Finished, docs: u64, languages: BTreeSet<String>) -> Result<SplitBuilt, SearchError> {
    let random = finished.index.searchable_segment_ids()?;
    let [random] = random.as_slice() else {
        return Err(SearchError::damaged_split("it is not made of one segment"));
    };
    let mut files = BTreeMap::new();
    for path in finished.index.load_metas()?.list_segment_files() {
        // What could be there is listed, also what never is, such as a list of deleted documents.
        if let (Some(name), Ok(file)) = (path.to_str(), finished.directory.get_file_handle(&path)) {
            let bytes = file.read_bytes(0..file.len())?;
            files.insert(name.replace(&random.uuid_string(), SEGMENT), bytes);
        }
    }
    files.insert(META.to_owned(), OwnedBytes::new(meta(finished, random)?));
    let bytes = bundle::pack(docs, languages.clone(), &files)?;
    Ok(SplitBuilt { name: bundle::name(&bytes), bytes, docs, languages, dropped: BTreeSet::new() })
}

/// The engine's list of segments, with the fixed name and without the note on what was merged.
fn meta(finished: &Finished, random: &SegmentId) -> Result<Vec<u8>, SearchError> {
    let meta = finished.directory.atomic_read(Path::new(META)).map_err(tantivy::TantivyError::from)?;
    let mut meta: Value = serde_json::from_slice(&meta).map_err(std::io::Error::from)?;
    for segment in meta["segments"].as_array_mut().into_iter().flatten() {
        if segment["segment_id"].as_str().is_some_and(|id| id.replace('-', "") == random.uuid_string()) {
            // An id is read with and without its hyphens.
            segment["segment_id"] = Value::String(SEGMENT.to_owned());
        }
    }
    if let Some(meta) = meta.as_object_mut() {
        meta.remove("payload");
    }
    Ok(serde_json::to_vec(&meta).map_err(std::io::Error::from)?)
}
