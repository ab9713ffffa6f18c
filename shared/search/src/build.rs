//! Builds splits from records and from other splits.

use crate::bounds::Bounds;
use crate::bundle;
use crate::error::{Result, SearchError};
use crate::schema::{self, Fields};
use crate::split::Split;
use crate::tiers::SPLIT_DOCS;
use crate::tokens::Tokens;
use curlew_model::{PageId, Record, Timestamp, with_defaults};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt;
use std::path::Path;
use tantivy::directory::{OwnedBytes, RamDirectory};
use tantivy::fastfield::{AliveBitSet, write_alive_bitset};
use tantivy::index::{Segment, SegmentId};
use tantivy::indexer::merge_filtered_segments;
use tantivy::store::{Compressor, ZstdCompressor};
use tantivy::{BitSet, Directory, DocId, Index, IndexBuilder, IndexSettings, ReloadPolicy, SingleSegmentIndexWriter};

with_defaults! {
    /// Limits of one split.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct BuildBudget {
        /// Memory for words not yet written, in bytes. When it is used up, the words are written to a compressed part.
        pub arena_bytes: usize = 15_000_000,
        /// Maximum number of pages in one split.
        pub docs: u64 = SPLIT_DOCS,
        /// Searchable prefix of a page's text, in bytes; the whole text is stored.
        pub text_bytes: usize = 1 << 20,
    }
}

/// A split that was built.
#[derive(Clone, PartialEq)]
pub struct SplitBuilt {
    /// The blob; [`Split::open`] reads it. The same records in the same order give the same bytes.
    pub bytes: Vec<u8>,
    /// Hash of the blob in hexadecimal digits; used as the object's name. Another format gives another name.
    pub name: String,
    /// Number of bytes at the end of the blob that [`Split::open_cold`] needs.
    pub tail: u64,
    /// Number of pages in it.
    pub docs: u64,
    /// Languages of the pages (primary subtags); the empty string stands for pages whose language is unknown.
    pub languages: BTreeSet<String>,
    /// Pages that the caller asked to leave out and that one of the inputs contained.
    pub dropped: BTreeSet<PageId>,
    /// Earliest time at which one of its pages expires by its own directive (`unavailable_after`).
    pub first_expiry: Option<Timestamp>,
    /// Bounds on the dates and hosts of its pages.
    pub bounds: Bounds,
}

impl fmt::Debug for SplitBuilt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SplitBuilt({}, {} pages, {} bytes)", self.name, self.docs, self.bytes.len())
    }
}

/// Builds one split from the last record of each page. Fails with [`SearchError::Empty`] if there are no records.
pub fn build_split(records: impl Iterator<Item = Record>, budget: &BuildBudget) -> Result<SplitBuilt> {
    let mut builder = Builder::new(*budget);
    for record in records {
        builder.add(&record)?;
    }
    builder.finish()
}

/// Merges splits, without the pages of `leave_out` and [outdated](Split::set_outdated) copies; later splits win.
/// Returns `None` if nothing is left. Needs 1.5 times the size of the result in memory, in addition to the splits.
pub fn merge_splits(
    splits: &[&Split],
    leave_out: &HashSet<PageId>,
    budget: &BuildBudget,
) -> Result<Option<SplitBuilt>> {
    if splits.iter().any(|split| !split.is_current()) {
        return rewrite(splits, leave_out, budget);
    }
    let mut seen: HashSet<[u8; 16]> = HashSet::new();
    let mut dropped = BTreeSet::new();
    let mut parts = Vec::with_capacity(splits.len());
    for split in splits.iter().rev() {
        let mut dead = Vec::new();
        let outdated = split.outdated();
        for id in split.ids() {
            let id = id?;
            let unwanted = leave_out.contains(&id);
            if unwanted || outdated.contains(&id) || !seen.insert(schema::id_bytes(&id)) {
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
    let (languages, first_expiry) = properties_of(&merged.index)?;
    Ok(Some(SplitBuilt { dropped, first_expiry, ..seal(merged, docs, languages)? }))
}

/// Builds one split from the records of several. Formats differ in the engine's structures, but not in records.
fn rewrite(splits: &[&Split], leave_out: &HashSet<PageId>, budget: &BuildBudget) -> Result<Option<SplitBuilt>> {
    let (mut builder, mut dropped) = (Builder::new(*budget), BTreeSet::new());
    for split in splits {
        let outdated = split.outdated();
        for record in split.records() {
            let record = record?;
            if leave_out.contains(&record.id) {
                dropped.insert(record.id);
            } else if !outdated.contains(&record.id) {
                builder.add(&record)?;
            }
        }
    }
    match builder.finish() {
        Err(SearchError::Empty) => Ok(None),
        built => Ok(Some(SplitBuilt { dropped, ..built? })),
    }
}

/// Memory in bytes for which the engine sizes its first table of words, which grows with the words. To clear a table for
/// many words takes longer than to index a few pages.
const FIRST_TABLE_BYTES: usize = 1_000_000;
/// Size of a block of stored records before compression, in bytes. Each hit decompresses one block.
const STORE_BLOCK_BYTES: usize = 128 * 1024;
/// Segment name in every split. It replaces a random one, so that the same records give the same bytes.
const SEGMENT: &str = "00000000000000000000000000000001";
const META: &str = "meta.json";

struct Finished {
    index: Index,
    /// Files of the index, with the checksums at their ends that the index's view of them hides.
    directory: RamDirectory,
}

/// One input of a merge: an index, and its documents that are left out.
struct Part {
    index: Index,
    docs: DocId,
    dead: Vec<DocId>,
}

impl Part {
    fn alive(&self) -> u64 {
        u64::from(self.docs) - self.dead.len() as u64
    }

    fn filter(&self) -> Result<Option<AliveBitSet>> {
        if self.dead.is_empty() {
            return Ok(None);
        }
        let mut alive = BitSet::with_max_value_and_full(self.docs);
        self.dead.iter().for_each(|doc| alive.remove(*doc));
        let mut bytes = Vec::new();
        write_alive_bitset(&alive, &mut bytes)?;
        Ok(Some(AliveBitSet::open(OwnedBytes::new(bytes))))
    }
}

struct Builder {
    budget: BuildBudget,
    fields: Fields,
    tokens: Tokens,
    writer: Option<SingleSegmentIndexWriter>,
    directory: RamDirectory,
    docs: DocId,
    parts: Vec<Part>,
    laid_down: RamDirectory,
    pages: HashMap<[u8; 16], (usize, DocId)>,
    /// Documents of pages that a later record replaced.
    repeated: Vec<(usize, DocId)>,
    languages: BTreeSet<String>,
    first_expiry: Option<Timestamp>,
}

impl Builder {
    fn new(budget: BuildBudget) -> Builder {
        Builder {
            budget,
            writer: None,
            directory: RamDirectory::create(),
            fields: schema::schema().1,
            tokens: Tokens::default(),
            docs: 0,
            parts: Vec::new(),
            laid_down: RamDirectory::create(),
            pages: HashMap::new(),
            repeated: Vec::new(),
            languages: BTreeSet::new(),
            first_expiry: None,
        }
    }

    fn add(&mut self, record: &Record) -> Result<()> {
        if self.pages.len() as u64 >= self.budget.docs {
            return Err(SearchError::TooLarge { limit: self.budget.docs, unit: "pages" });
        }
        let document = schema::document(record, &self.fields, self.budget.text_bytes)?;
        let writer = match &mut self.writer {
            Some(writer) => writer,
            None => self.writer.insert(writer(self.directory.clone(), &self.tokens)?),
        };
        writer.add_document(document)?;
        let is_full = writer.mem_usage() >= self.budget.arena_bytes;
        self.languages.insert(schema::primary_language(record.language.as_deref()));
        self.first_expiry = [self.first_expiry, record.unavailable_after].into_iter().flatten().min();
        let place = (self.parts.len(), self.docs);
        self.repeated.extend(self.pages.insert(schema::id_bytes(&record.id), place));
        self.docs += 1;
        if is_full {
            self.lay_down()?;
        }
        Ok(())
    }

    fn lay_down(&mut self) -> Result<()> {
        let Some(writer) = self.writer.take() else { return Ok(()) };
        let index = writer.finalize()?;
        self.laid_down = std::mem::replace(&mut self.directory, RamDirectory::create());
        self.parts.push(Part { index, docs: std::mem::take(&mut self.docs), dead: Vec::new() });
        Ok(())
    }

    fn finish(mut self) -> Result<SplitBuilt> {
        if self.pages.is_empty() {
            return Err(SearchError::Empty);
        }
        self.lay_down()?;
        for (part, doc) in self.repeated {
            self.parts[part].dead.push(doc);
        }
        let docs = self.pages.len() as u64;
        drop(self.pages);
        drop(self.tokens);
        let finished = match self.parts.as_slice() {
            [only] if only.dead.is_empty() => Finished { index: only.index.clone(), directory: self.laid_down },
            parts => merge(parts)?,
        };
        drop(self.parts);
        Ok(SplitBuilt { first_expiry: self.first_expiry, ..seal(finished, docs, self.languages)? })
    }
}

/// Creates a writer that works on the caller's thread and fills one segment.
fn writer(directory: RamDirectory, tokens: &Tokens) -> Result<SingleSegmentIndexWriter> {
    let builder = IndexBuilder::new().schema(schema::schema().0).settings(settings()).tokenizers(tokens.manager());
    Ok(builder.single_segment_index_writer(directory, FIRST_TABLE_BYTES)?)
}

fn settings() -> IndexSettings {
    IndexSettings {
        docstore_compression: Compressor::Zstd(ZstdCompressor::default()),
        docstore_compress_dedicated_thread: false,
        docstore_blocksize: STORE_BLOCK_BYTES,
        ..IndexSettings::default()
    }
}

fn merge(parts: &[Part]) -> Result<Finished> {
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

/// Returns the languages of all pages of a merged index, and the earliest expiry.
fn properties_of(index: &Index) -> Result<(BTreeSet<String>, Option<Timestamp>)> {
    let (_, fields) = schema::schema();
    let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
    let searcher = reader.searcher();
    let (mut languages, mut first) = (BTreeSet::new(), None);
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
        if let Some(expires) = segment.fast_fields().column_opt::<i64>(schema::EXPIRES)? {
            let all = (0..segment.max_doc()).filter_map(|doc| expires.first(doc));
            first = first.into_iter().chain(all).min();
        }
    }
    Ok((languages, first.map(Timestamp::from_millis)))
}

/// Packs a finished index under deterministic names.
fn seal(finished: Finished, docs: u64, languages: BTreeSet<String>) -> Result<SplitBuilt> {
    let bounds = Bounds::read(&finished.index)?;
    let random = finished.index.searchable_segment_ids()?;
    let [random] = random.as_slice() else {
        return Err(SearchError::damaged_split("it is not made of one segment"));
    };
    let mut files = BTreeMap::new();
    for path in finished.index.load_metas()?.list_segment_files() {
        // The engine lists every file that may exist, including ones that were never written.
        if let (Some(name), Ok(file)) = (path.to_str(), finished.directory.get_file_handle(&path)) {
            let bytes = file.read_bytes(0..file.len())?;
            // From here on only `files` holds the bytes, so each file is freed as soon as it is packed.
            finished.directory.delete(&path).map_err(std::io::Error::other)?;
            files.insert(name.replace(&random.uuid_string(), SEGMENT), bytes);
        }
    }
    files.insert(META.to_owned(), OwnedBytes::new(meta(&finished, random)?));
    let (bytes, tail) = bundle::pack(docs, languages.clone(), files, Split::warm_up)?;
    Ok(SplitBuilt {
        tail,
        name: bundle::name(&bytes),
        bytes,
        docs,
        languages,
        dropped: BTreeSet::new(),
        first_expiry: None,
        bounds,
    })
}

/// Returns the engine's list of segments with the fixed name and without its payload about merged segments.
fn meta(finished: &Finished, random: &SegmentId) -> Result<Vec<u8>> {
    let meta = finished.directory.atomic_read(Path::new(META)).map_err(tantivy::TantivyError::from)?;
    let mut meta: Value = serde_json::from_slice(&meta).map_err(std::io::Error::from)?;
    for segment in meta["segments"].as_array_mut().into_iter().flatten() {
        if segment["segment_id"].as_str().is_some_and(|id| id.replace('-', "") == random.uuid_string()) {
            // The engine reads ids with or without hyphens.
            segment["segment_id"] = Value::String(SEGMENT.to_owned());
        }
    }
    if let Some(meta) = meta.as_object_mut() {
        meta.remove("payload");
    }
    Ok(serde_json::to_vec(&meta).map_err(std::io::Error::from)?)
}
