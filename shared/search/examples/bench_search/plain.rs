//! Indexes the same records with tantivy as in its examples: default tokenizer, BM25 over title and text, one segment.

use crate::{Done, LIMIT};
use curlew_model::Record;
use tantivy::collector::TopDocs;
use tantivy::directory::RamDirectory;
use tantivy::query::QueryParser;
use tantivy::schema::{Field, STORED, Schema, TEXT, Value as _};
use tantivy::store::{Compressor, ZstdCompressor};
use tantivy::{Index, IndexBuilder, IndexSettings, Searcher, SingleSegmentIndexWriter, TantivyDocument};

/// Memory of the writer in bytes, enough for all records, so that nothing is merged.
const ARENA: usize = 2_000_000_000;

pub(crate) struct Plain {
    searcher: Searcher,
    parser: QueryParser,
    record: Field,
    /// Size of the index in bytes.
    pub(crate) bytes: usize,
}

impl Plain {
    pub(crate) fn new(records: impl Iterator<Item = Done<Record>>) -> Done<Plain> {
        let mut schema = Schema::builder();
        let (title, body) = (schema.add_text_field("title", TEXT), schema.add_text_field("body", TEXT));
        let record = schema.add_bytes_field("record", STORED);
        let settings = IndexSettings {
            docstore_compression: Compressor::Zstd(ZstdCompressor::default()),
            docstore_compress_dedicated_thread: false,
            docstore_blocksize: 64 * 1024,
            ..IndexSettings::default()
        };
        let directory = RamDirectory::create();
        let builder = IndexBuilder::new().schema(schema.build()).settings(settings);
        let mut writer: SingleSegmentIndexWriter = builder.single_segment_index_writer(directory.clone(), ARENA)?;
        for page in records {
            let page = page?;
            let mut document = TantivyDocument::new();
            document.add_text(title, &page.title);
            document.add_text(body, &page.text);
            document.add_bytes(record, &serde_json::to_vec(&page)?);
            writer.add_document(document)?;
        }
        let index: Index = writer.finalize()?;
        let parser = QueryParser::for_index(&index, vec![title, body]);
        let searcher = index.reader()?.searcher();
        Ok(Plain { searcher, parser, record, bytes: directory.total_mem_usage() })
    }

    /// Requires all words of a query from now on; by default one word is enough.
    pub(crate) fn ask_for_all_words(&mut self) {
        self.parser.set_conjunction_by_default();
    }

    pub(crate) fn ask(&self, text: &str) -> Done<Vec<Record>> {
        let (query, _) = self.parser.parse_query_lenient(text);
        let top = self.searcher.search(&query, &TopDocs::with_limit(LIMIT).order_by_score())?;
        let record = |(_, at)| {
            let document: TantivyDocument = self.searcher.doc(at)?;
            let json = document.get_first(self.record).and_then(|value| value.as_bytes()).ok_or("no record")?;
            Ok(serde_json::from_slice(json)?)
        };
        top.into_iter().map(record).collect()
    }
}

/// Returns a text in which each pair of neighbouring Thai, Chinese or Japanese characters is one word of Latin letters
/// and digits, which the default tokenizer does not split.
pub(crate) fn paired(text: &str) -> String {
    let is_unparted =
        |c: &char| matches!(u32::from(*c), 0x0e01..=0x0e4e | 0x3005..=0x3007 | 0x3041..=0x30ff | 0x3400..=0x9fff);
    let chars: Vec<char> = text.chars().collect();
    let runs = chars.chunk_by(|a, b| is_unparted(a) == is_unparted(b));
    let word = |pair: &[char]| pair.iter().map(|c| format!("{:x}", u32::from(*c))).collect::<String>() + "x ";
    runs.map(|run| match run {
        [c] if is_unparted(c) => format!(" {}", word(run)),
        [c, ..] if is_unparted(c) => format!(" {}", run.windows(2).map(word).collect::<String>()),
        _ => run.iter().collect(),
    })
    .collect()
}
