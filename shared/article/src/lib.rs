//! HTML to article: title, text, main image, canonical URL, dates, author, language. Pure.
//!
//! [`scan_head`] is one cheap pass over the tags: canonical URL, page directives, an image from the head. [`extract`]
//! builds the tree and takes the article from it: each rule (`jsonld`, `microdata`, `content`, …) reports its findings,
//! and `choose` weighs them against each other. No rule is trusted alone.
//!
#![doc = include_str!("../README.md")]

mod candidates;
mod choose;
mod explain;
mod learned;
mod lists;
mod markup;
mod read;
mod text;

pub use choose::dates::DateSource;
pub use explain::{Explanation, Line, ScoredCandidate};
pub use read::gate::{Limits, Unreadable};
pub use read::scan_head::{HeadScan, Refresh, head_metas, scan_head};
pub use text::text_words;

use candidates::candidate::Ranking;
use choose::{Evidence, author, body, dates, head, image, language, title};
use curlew_model::{Rejection, Timestamp};
use curlew_text::charset::{self, Document};
use markup::{jsonld, microdata};
use read::{dom, gate, outline, walk};
use std::borrow::Cow;
use url::Url;

/// Minimum number of characters in a valid page's text, unless it has [`MIN_TEXT_WORDS`] words (design, "valid page").
pub const MIN_TEXT_CHARS: usize = 250;
/// Minimum number of words ([`text_words`]) in a valid page's text, unless it has [`MIN_TEXT_CHARS`] characters.
pub const MIN_TEXT_WORDS: usize = 50;

/// An article extracted from a page. Every text is plain text: NFC, without control characters and bidi overrides.
#[derive(Clone, Debug, PartialEq)]
pub struct Article {
    /// The headline, without the site's name.
    pub title: Option<String>,
    /// The text; paragraphs are separated by a blank line. Empty if there is none.
    pub text: String,
    /// The main image; absolute http(s).
    pub image: Option<Url>,
    /// Further choices of the main image, best first.
    pub other_images: Vec<Url>,
    /// Canonical address according to the page itself (RFC 6596); only a hint.
    pub canonical: Option<Url>,
    /// Primary language subtag (BCP 47), such as `it`.
    pub language: Option<String>,
    /// Date of first publication.
    pub published: Option<Timestamp>,
    /// Source of that date, and how reliable it is.
    pub published_by: Option<DateSource>,
    /// Date of the last change.
    pub modified: Option<Timestamp>,
    /// Name of the author.
    pub author: Option<String>,
    /// Name that the site gives itself.
    pub site_name: Option<String>,
    /// True if the page's data say that the article is not entirely free (schema.org, `isAccessibleForFree`).
    pub is_paywalled: bool,
    /// Page directives: the name of each robots meta tag in lower case, and its content.
    pub robots_meta: Vec<(String, String)>,
    /// Rule that found the text; empty if none did.
    pub from: &'static str,
}

/// Steps that reading a page takes, each kind in a different unit; they grow at most linearly with its length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Building the tree: open elements looked up; elements, attributes and nodes made or moved.
    pub tree: u64,
    /// Walking it: nodes entered and left, and the text read below single elements.
    pub walk: u64,
    /// Structured data: values of JSON-LD, nodes and texts of microdata.
    pub data: u64,
    /// Choosing the text: lines that the candidates examine, and the input of the fallback.
    pub text: u64,
}

impl Work {
    /// Returns all steps.
    pub fn total(&self) -> u64 {
        self.tree + self.walk + self.data + self.text
    }
}

/// Decodes a page according to its byte order mark, the charset of the Content-Type header, a `meta` tag, or a guess. A
/// character that cannot be decoded becomes U+FFFD; double-encoded text is repaired.
pub fn decode<'a>(body: &'a [u8], content_type: Option<&str>) -> Cow<'a, str> {
    charset::undo_double_encoding(charset::decode(body, content_type, Document::Page).text)
}

/// Extracts the article from a page that was fetched from `page`, in time linear in its length. Never panics, and never
/// recurses on the tree. A page that exceeds one of the limits, or is not HTML, is refused.
pub fn extract(html: &str, page: &Url, limits: &Limits) -> Result<Article, Unreadable> {
    measure(html, page, limits).0
}

/// Extracts like [`extract`]; also returns the steps taken, even for a page that is refused.
pub fn measure(html: &str, page: &Url, limits: &Limits) -> (Result<Article, Unreadable>, Work) {
    let mut work = Work::default();
    let read = read(html, page, limits, &mut work, |_, _, _, _| ());
    (read.map(|(article, ())| article), work)
}

/// Extracts like [`extract`]; also returns an explanation of the result.
pub fn explain(html: &str, page: &Url, limits: &Limits) -> Result<(Article, Explanation), Unreadable> {
    read(html, page, limits, &mut Work::default(), |outline, chosen, weighed, [image_by, canonical_by]| Explanation {
        image_by,
        canonical_by,
        ..Explanation::new(outline, chosen, weighed)
    })
}

#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct LearnedBlock {
    pub text: String,
    pub features: Vec<i16>,
}

/// Returns the blocks of a page with their features.
#[doc(hidden)]
pub fn learned_blocks(html: &str, page: &Url, limits: &Limits) -> Result<Vec<LearnedBlock>, Unreadable> {
    let read = read(html, page, limits, &mut Work::default(), |outline, chosen, _, _| {
        let blocks = outline.blocks.iter().zip(&chosen.table);
        blocks.map(|(block, row)| LearnedBlock { text: block.text.clone(), features: row.to_vec() }).collect()
    });
    read.map(|(_, blocks)| blocks)
}

/// Reads a page; `also` receives the sources of the image and the canonical URL, too.
fn read<T>(
    html: &str,
    page: &Url,
    limits: &Limits,
    work: &mut Work,
    also: impl FnOnce(&outline::Outline<'_>, &body::Body, &Ranking, [Option<&'static str>; 2]) -> T,
) -> Result<(Article, T), Unreadable> {
    gate::admit(html, limits)?;
    let tree = dom::build(html, limits, &mut work.tree)?;
    let mut outline = walk::walk(&tree, page, limits)?;
    work.walk = outline.steps;
    let head = head::read(html, &outline)?;
    let linked = jsonld::read(&outline);
    let micro = microdata::read(&tree, &outline);
    work.data = linked.steps + micro.steps;
    let tier = outline.meta(&["article:content_tier"]);
    outline.is_paywalled = linked.is_paywalled || micro.is_paywalled || tier == Some("locked");

    let evidence = Evidence { outline: &outline, linked: &linked, micro: &micro };
    let title = title::choose(evidence);
    let site_name = title::site_name(evidence, title.as_deref());
    let folded = title.as_deref().map(text::fold).unwrap_or_default();
    let weighed = body::weigh(&outline, &folded);
    let author = author::choose(evidence, title.as_deref(), site_name.as_deref(), weighed.end());
    let chosen = body::text(&tree, &outline, &weighed, linked.body.as_deref(), &folded);
    work.text = weighed.steps + chosen.steps + outline.looks.get();
    let language = language::choose(evidence, &chosen.text);
    let dated = dates::choose(evidence, &chosen, html, language.as_deref());
    let images = image::choose(evidence, &chosen);
    let canonical = head::canonical(&head, evidence);
    let sources = [images.first(), canonical.as_ref()].map(|address| address.map(|(_, source)| *source));
    let also = also(&outline, &chosen, &weighed, sources);
    let mut images = images.into_iter().map(|(url, _)| url);
    let article = Article {
        image: images.next(),
        other_images: images.collect(),
        canonical: canonical.map(|(url, _)| url),
        language,
        published: dated.published.map(|(at, _)| at),
        published_by: dated.published.map(|(_, source)| source),
        modified: dated.modified.map(|(at, _)| at),
        author,
        site_name,
        is_paywalled: outline.is_paywalled,
        robots_meta: head.robots_meta,
        from: chosen.from,
        text: chosen.text,
        title,
    };
    Ok((article, also))
}

/// Returns the first reason why a page is not valid (design, "valid page"): it needs a title, a text of at least
/// [`MIN_TEXT_CHARS`] characters or [`MIN_TEXT_WORDS`] words, and an image (its own or its site's).
pub fn validity(title: Option<&str>, text: &str, image: Option<&str>) -> Result<(), Rejection> {
    let filled = |field: Option<&str>| field.is_some_and(|value| !value.trim().is_empty());
    if !filled(title) {
        return Err(Rejection::NoTitle);
    }
    let long = text.trim().chars().nth(MIN_TEXT_CHARS - 1).is_some();
    if !long && text_words(text) < MIN_TEXT_WORDS {
        return Err(Rejection::ShortText);
    }
    if !filled(image) {
        return Err(Rejection::NoImage);
    }
    Ok(())
}
