//! The fields of the index, and how a record becomes a document.

use crate::error::SearchError;
use crate::tokens::{self, of_language};
use curlew_model::{PageId, Record, Timestamp, hex};
use sha2::{Digest, Sha256};
use std::io;
use tantivy::schema::{
    BytesOptions, Field, INDEXED, IndexRecordOption, NumericOptions, STORED, Schema, TextFieldIndexing, TextOptions,
    Value,
};
use tantivy::{TantivyDocument, Term};

/// Labels of a host name that are indexed as parents of it; no more than a name of 255 octets sensibly has.
const MAX_PARENTS: usize = 16;

/// The fields, by the order in which [`schema`] adds them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fields {
    /// The 16 bytes of the page id; found by term.
    pub(crate) id: Field,
    /// The last half of the page id, to order equals by and to know a page again that lies in two splits.
    pub(crate) key: Field,
    /// The host name and every name that it is below.
    pub(crate) host: Field,
    /// The primary language subtag.
    pub(crate) language: Field,
    /// Stems of title, author and text, with positions; the title stands there [`TITLE_TIMES`] times.
    pub(crate) body: Field,
    /// Words of the author's name, with positions; a name has no stems.
    pub(crate) author: Field,
    /// [`date`] in milliseconds.
    pub(crate) date: Field,
    /// `unavailable_after` in milliseconds.
    pub(crate) expires: Field,
    /// Which site a page is of, as a number ([`site`]).
    pub(crate) site: Field,
    /// The fingerprint of the text, by which copies are known.
    pub(crate) likeness: Field,
    /// The whole record as JSON, for results and for building anew.
    pub(crate) record: Field,
}

/// Names that the engine wants where it reads columns.
pub(crate) const DATE: &str = "date";
/// As [`DATE`].
pub(crate) const EXPIRES: &str = "expires";
/// As [`DATE`].
pub(crate) const LIKENESS: &str = "likeness";
/// As [`DATE`].
pub(crate) const KEY: &str = "key";
/// As [`DATE`].
pub(crate) const SITE: &str = "site";

/// How often a title is counted among the words of its page. As words of the one field they share its statistics (BM25F,
/// Robertson and others 2004); a field of its own would have statistics of its own, by which one word of a title outweighs
/// everything.
const TITLE_TIMES: usize = 2;

/// The schema of form [`crate::bundle::FORM`].
pub(crate) fn schema() -> (Schema, Fields) {
    let exact = TextOptions::default().set_indexing_options(
        TextFieldIndexing::default()
            .set_tokenizer(tokens::NAME)
            .set_index_option(IndexRecordOption::Basic)
            .set_fieldnorms(false),
    );
    let words = TextOptions::default().set_indexing_options(
        TextFieldIndexing::default()
            .set_tokenizer(tokens::NAME)
            .set_index_option(IndexRecordOption::WithFreqsAndPositions),
    );
    let names = TextOptions::default().set_indexing_options(
        TextFieldIndexing::default()
            .set_tokenizer(tokens::NAME)
            .set_index_option(IndexRecordOption::WithFreqsAndPositions)
            .set_fieldnorms(false),
    );
    let column = NumericOptions::default().set_fast();
    let mut builder = Schema::builder();
    let fields = Fields {
        id: builder.add_bytes_field("id", BytesOptions::from(INDEXED)),
        key: builder.add_u64_field(KEY, column.clone()),
        host: builder.add_text_field("host", exact.clone()),
        language: builder.add_text_field("language", exact),
        body: builder.add_text_field("body", words),
        author: builder.add_text_field("author", names),
        date: builder.add_i64_field(DATE, column.clone()),
        expires: builder.add_i64_field(EXPIRES, column.clone()),
        site: builder.add_u64_field(SITE, column.clone()),
        likeness: builder.add_u64_field(LIKENESS, column),
        record: builder.add_bytes_field("record", BytesOptions::from(STORED)),
    };
    (builder.build(), fields)
}

/// The day by which a page is filtered and sorted: when it says that it was published, unless it does not say so or
/// says a time after it was fetched; then when it was fetched.
pub(crate) fn date(record: &Record) -> Timestamp {
    record.published.filter(|published| *published <= record.fetched_at).unwrap_or(record.fetched_at)
}

/// The primary subtag of a BCP 47 tag in lower case: two or three letters (RFC 5646 §2.2.1, ISO 639), or else empty,
/// so that pages cannot fill the index with languages of their own making.
pub(crate) fn primary_language(tag: Option<&str>) -> String {
    let primary = tag.and_then(|tag| tag.split(['-', '_']).next()).unwrap_or_default().trim();
    let is_subtag = matches!(primary.len(), 2 | 3) && primary.bytes().all(|b| b.is_ascii_alphabetic());
    if is_subtag { primary.to_ascii_lowercase() } else { String::new() }
}

/// A record as the engine takes it; at most `text_bytes` of each of its texts are searchable.
pub(crate) fn document(record: &Record, fields: &Fields, text_bytes: usize) -> Result<TantivyDocument, SearchError> {
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
    let mut add = |field, language: &str, text: &str| {
        document.add_text(field, of_language(language, head(text, text_bytes)));
    };
    for _ in 0..TITLE_TIMES {
        add(fields.body, &language, &record.title);
    }
    if let Some(author) = &record.author {
        add(fields.author, "", author);
        add(fields.body, &language, author);
    }
    add(fields.body, &language, &record.text);
    document.add_u64(fields.site, site(&record.host));
    document.add_i64(fields.date, date(record).as_millis());
    if let Some(expires) = record.unavailable_after {
        document.add_i64(fields.expires, expires.as_millis());
    }
    if let Some(print) = record.simhash {
        document.add_u64(fields.likeness, print.0);
    }
    document.add_bytes(fields.record, &serde_json::to_vec(record).map_err(io::Error::from)?);
    Ok(document)
}

/// The record that a document was made of.
pub(crate) fn record(document: &TantivyDocument, fields: &Fields) -> Result<Record, SearchError> {
    let json = document.get_first(fields.record).and_then(|value| value.as_bytes());
    let json = json.ok_or_else(|| SearchError::damaged_split("a page without its record"))?;
    serde_json::from_slice(json).map_err(|error| SearchError::damaged_split(error.to_string()))
}

/// A number for a site, which pages of one host share, with and without its `www.`.
fn site(host: &str) -> u64 {
    let hash: [u8; 32] = Sha256::digest(host.strip_prefix("www.").unwrap_or(host)).into();
    u64::from(u32::from_le_bytes([hash[0], hash[1], hash[2], hash[3]]))
}

/// A page id as a term.
pub(crate) fn id_term(fields: &Fields, id: &PageId) -> Term {
    Term::from_field_bytes(fields.id, &id_bytes(id))
}

/// The 16 bytes that the hexadecimal digits of an id stand for.
pub(crate) fn id_bytes(id: &PageId) -> [u8; 16] {
    u128::from_str_radix(id.as_str(), 16).unwrap_or_default().to_be_bytes()
}

/// The last half of an id. Ids are hashes, so that two pages with one key are not to be feared.
pub(crate) fn key(id: &PageId) -> u64 {
    let [.., a, b, c, d, e, f, g, h] = id_bytes(id);
    u64::from_be_bytes([a, b, c, d, e, f, g, h])
}

/// The id that 16 bytes stand for.
pub(crate) fn page_id(bytes: &[u8]) -> Result<PageId, SearchError> {
    PageId::new(&hex(bytes)).map_err(|error| SearchError::damaged_split(error.to_string()))
}

/// A host name and every name that it is below: `a.b.org`, `b.org`, `org`. An address stands for itself alone.
fn names_above(host: &str) -> impl Iterator<Item = &str> {
    let is_address = host.starts_with('[') || host.parse::<std::net::IpAddr>().is_ok();
    let parents = if is_address { 0 } else { MAX_PARENTS };
    std::iter::once(host).chain(host.match_indices('.').map(|(at, _)| &host[at + 1..]).take(parents))
}

/// The first bytes of a text, cut between characters.
pub(crate) fn head(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
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
        assert_eq!(primary_language(None), "");
        assert_eq!(primary_language(Some("x-klingon")), "");
        assert_eq!(primary_language(Some("italiano")), "");
    }
}
