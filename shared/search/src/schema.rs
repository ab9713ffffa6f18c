//! Fields of the index, and the conversion of records to documents.

use crate::analyze::{Analyzers, Mode};
use crate::error::{Result, SearchError};
use crate::tokens::{self, as_spelled, of_language};
use curlew_model::{PageId, Record, hex};
use curlew_text::hygiene::head_bytes;
use sha2::{Digest, Sha256};
use std::io;
use tantivy::schema::{
    BytesOptions, Field, INDEXED, IndexRecordOption, NumericOptions, STORED, Schema, TextFieldIndexing, TextOptions,
    Value,
};
use tantivy::{TantivyDocument, Term};

/// Maximum number of parent domains indexed for a host name; a sensible name of 255 octets has no more.
const MAX_PARENTS: usize = 16;

/// Maximum number of bytes of a label that distinguish it from others.
const MAX_LABEL: usize = 128;

/// The fields, in the order in which [`schema`] adds them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fields {
    /// The 16 bytes of the page id; searchable as a term.
    pub(crate) id: Field,
    /// Second half of the page id; it breaks ties, and identifies a page that is in two splits.
    pub(crate) key: Field,
    /// Host name and all its parent domains.
    pub(crate) host: Field,
    pub(crate) language: Field,
    /// Stems of title, author and text, with positions; the title occurs [`TITLE_TIMES`] times.
    pub(crate) body: Field,
    /// Words of the author's name, with positions; names are not stemmed.
    pub(crate) author: Field,
    pub(crate) date: Field,
    /// `unavailable_after`.
    pub(crate) expires: Field,
    /// Number of the page's site ([`site`]).
    pub(crate) site: Field,
    /// Fingerprint of the text, by which copies are recognized.
    pub(crate) likeness: Field,
    /// Whole record as JSON, for results and for rebuilding.
    pub(crate) record: Field,
    /// Stems of the title, with positions.
    pub(crate) title: Field,
    /// Labels ([`label`]).
    pub(crate) label: Field,
    /// Words as they are spelled ([`crate::spelling`]). Splits of format 8 lack this field.
    pub(crate) spelling: Field,
}

// Field names that the engine needs to read columns.
pub(crate) const DATE: &str = "date";
pub(crate) const EXPIRES: &str = "expires";
pub(crate) const LIKENESS: &str = "likeness";
pub(crate) const KEY: &str = "key";
pub(crate) const SITE: &str = "site";

/// Number of times that a title counts among a page's words (BM25F, Robertson and others 2004).
const TITLE_TIMES: usize = 2;

/// Returns the schema of format [`crate::bundle::FORM`].
pub(crate) fn schema() -> (Schema, Fields) {
    let text = |option, has_lengths| {
        let indexing = TextFieldIndexing::default().set_tokenizer(tokens::NAME).set_index_option(option);
        TextOptions::default().set_indexing_options(indexing.set_fieldnorms(has_lengths))
    };
    let exact = text(IndexRecordOption::Basic, false);
    let words = text(IndexRecordOption::WithFreqsAndPositions, true);
    let names = text(IndexRecordOption::WithFreqsAndPositions, false);
    let column = NumericOptions::default().set_fast();
    let mut builder = Schema::builder();
    let fields = Fields {
        id: builder.add_bytes_field("id", BytesOptions::from(INDEXED)),
        key: builder.add_u64_field(KEY, column.clone()),
        host: builder.add_text_field("host", exact.clone()),
        language: builder.add_text_field("language", exact.clone()),
        body: builder.add_text_field("body", words),
        author: builder.add_text_field("author", names.clone()),
        date: builder.add_i64_field(DATE, column.clone()),
        expires: builder.add_i64_field(EXPIRES, column.clone()),
        site: builder.add_u64_field(SITE, column.clone()),
        likeness: builder.add_u64_field(LIKENESS, column),
        record: builder.add_bytes_field("record", BytesOptions::from(STORED)),
        title: builder.add_text_field("title", names),
        label: builder.add_text_field("label", exact.clone()),
        spelling: builder.add_text_field("spelling", exact),
    };
    (builder.build(), fields)
}

/// True if a split may have this schema: that of [`schema`], or that of format 8, which lacks the last field.
pub(crate) fn is_known(other: &Schema) -> bool {
    let (known, fields) = schema();
    other.num_fields() > fields.label.field_id() as usize
        && other.num_fields() <= known.num_fields()
        && other.fields().zip(known.fields()).all(|((_, one), (_, other))| one == other)
}

/// Returns the primary subtag of a page's language tag; an empty string if there is none.
pub(crate) fn primary_language(tag: Option<&str>) -> String {
    // Pages name Norwegian itself, or one of its two written forms.
    let norwegian = |tag: String| if matches!(tag.as_str(), "nb" | "nn") { "no".to_owned() } else { tag };
    tag.and_then(curlew_model::primary_language).map(norwegian).unwrap_or_default()
}

/// Converts a record to the engine's document; at most `text_bytes` bytes of each of its texts are searchable.
pub(crate) fn document(record: &Record, fields: &Fields, text_bytes: usize) -> Result<TantivyDocument> {
    let language = primary_language(record.language.as_deref());
    let mut document = TantivyDocument::new();
    document.add_bytes(fields.id, &id_bytes(&record.id));
    document.add_u64(fields.key, key(&record.id));
    for name in names_above(&record.host) {
        document.add_text(fields.host, name);
    }
    if !language.is_empty() {
        document.add_text(fields.language, &language);
    }
    let texts = [Some(&record.title), record.author.as_ref(), Some(&record.text)];
    for text in texts.into_iter().flatten() {
        document.add_text(fields.spelling, as_spelled(&language, head_bytes(text, text_bytes)));
    }
    let mut add = |field, language: &str, text: &str| {
        document.add_text(field, of_language(language, head_bytes(text, text_bytes)));
    };
    for _ in 0..TITLE_TIMES {
        add(fields.body, &language, &record.title);
    }
    if let Some(author) = &record.author {
        add(fields.author, "", author);
        add(fields.body, &language, author);
    }
    add(fields.body, &language, &record.text);
    add(fields.title, &language, &record.title);
    let tags = record.tags.iter().filter_map(|tag| label("tag", tag));
    for label in tags.chain(record.folder.iter().filter_map(|name| label("in", name))) {
        document.add_text(fields.label, label);
    }
    document.add_u64(fields.site, site(&record.host));
    document.add_i64(fields.date, record.date().as_millis());
    if let Some(expires) = record.unavailable_after {
        document.add_i64(fields.expires, expires.as_millis());
    }
    if let Some(print) = record.simhash {
        document.add_u64(fields.likeness, print.0);
    }
    document.add_bytes(fields.record, &serde_json::to_vec(record).map_err(io::Error::from)?);
    Ok(document)
}

pub(crate) fn record(document: &TantivyDocument, fields: &Fields) -> Result<Record> {
    let json = document.get_first(fields.record).and_then(|value| value.as_bytes());
    let json = json.ok_or_else(|| SearchError::damaged_split("a page without its record"))?;
    serde_json::from_slice(json).map_err(|error| SearchError::damaged_split(error.to_string()))
}

/// Returns a label in which case, accents and signs do not matter; `None` if there is nothing in it that can be typed.
/// Its `kind` is that of the operator: `tag`, or `in` for a folder of feeds.
pub(crate) fn label(kind: &str, name: &str) -> Option<String> {
    let words = Analyzers::default().for_language("").words(head_bytes(name, MAX_LABEL), Mode::Query);
    let words: Vec<String> = words.into_iter().filter(|word| word.words < 2).map(|word| word.form).collect();
    (!words.is_empty()).then(|| format!("{kind}:{}", words.join(" ")))
}

/// Prefix of host names that is ignored when sites are compared.
pub(crate) const WWW: &str = "www.";

pub(crate) fn without_www(host: &str) -> &str {
    host.strip_prefix(WWW).unwrap_or(host)
}

/// Returns a number for a site; all pages of one host share it, with and without `www.`.
pub(crate) fn site(host: &str) -> u64 {
    let hash: [u8; 32] = Sha256::digest(without_www(host)).into();
    u64::from(u32::from_le_bytes([hash[0], hash[1], hash[2], hash[3]]))
}

pub(crate) fn id_term(fields: &Fields, id: &PageId) -> Term {
    Term::from_field_bytes(fields.id, &id_bytes(id))
}

/// Returns the 16 bytes that the hexadecimal digits of an id stand for.
pub(crate) fn id_bytes(id: &PageId) -> [u8; 16] {
    u128::from_str_radix(id.as_str(), 16).unwrap_or_default().to_be_bytes()
}

/// Returns the second half of an id. Ids are hashes, so a collision of two keys is not a concern.
pub(crate) fn key(id: &PageId) -> u64 {
    let [.., a, b, c, d, e, f, g, h] = id_bytes(id);
    u64::from_be_bytes([a, b, c, d, e, f, g, h])
}

/// Returns the id that 16 bytes stand for.
pub(crate) fn page_id(bytes: &[u8]) -> Result<PageId> {
    PageId::new(&hex(bytes)).map_err(|error| SearchError::damaged_split(error.to_string()))
}

/// Returns a host name and its parent domains: `a.b.org`, `b.org`, `org`. An IP address has no parents.
fn names_above(host: &str) -> impl Iterator<Item = &str> {
    let is_address = host.starts_with('[') || host.parse::<std::net::IpAddr>().is_ok();
    let parents = if is_address { 0 } else { MAX_PARENTS };
    std::iter::once(host).chain(host.match_indices('.').map(|(at, _)| &host[at + 1..]).take(parents))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]
    use super::*;

    #[test]
    fn a_host_is_found_by_every_name_above_it() {
        assert_eq!(names_above("blog.example.org").collect::<Vec<_>>(), ["blog.example.org", "example.org", "org"]);
        assert_eq!(names_above("192.0.2.1").collect::<Vec<_>>(), ["192.0.2.1"]);
        assert_eq!(names_above("[2001:db8::1]").collect::<Vec<_>>(), ["[2001:db8::1]"]);
    }

    #[test]
    fn an_id_survives_its_bytes() {
        let id = PageId::new("00ff00000000000000000000000000a1").unwrap();
        assert_eq!(page_id(&id_bytes(&id)).unwrap(), id);
    }

    #[test]
    fn a_language_is_its_primary_subtag() {
        assert_eq!(primary_language(Some("pt-BR")), "pt");
        assert_eq!(primary_language(Some("IT_it")), "it");
        assert_eq!(primary_language(Some("nn-NO")), primary_language(Some("no")));
        assert_eq!(primary_language(None), "");
        assert_eq!(primary_language(Some("x-klingon")), "");
        assert_eq!(primary_language(Some("italiano")), "");
    }
}
