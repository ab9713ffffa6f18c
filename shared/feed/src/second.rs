//! Second parser: feed-rs may recognize a feed that this crate's parser does not.

use crate::draft::{MAX_TAGS, RawEntry, keep_newest};
use crate::{Feed, Format, Limits, finish::finish, link, text, work::Work};
use curlew_model::Timestamp;
use feed_rs::model;
use std::panic::{AssertUnwindSafe, catch_unwind};
use url::Url;

/// Maximum size of a document in bytes: feed-rs limits neither entries nor time.
const MOST_BYTES: usize = 256 * 1024;

pub(crate) fn read(text: &str, url: &Url, limits: &Limits, work: &Work) -> Option<Feed> {
    if text.len() > MOST_BYTES {
        return None;
    }
    work.add(text.len());
    let parser = feed_rs::parser::Builder::new()
        // The random ids of feed-rs are replaced in `finish`.
        .id_generator(|_, _, _| String::new())
        .sanitize_content(false)
        .timestamp_parser(|text| text::date(text, None)?.to_string().parse().ok())
        .build();
    // feed-rs is known to panic on some documents, and one feed must not end the process.
    let read = catch_unwind(AssertUnwindSafe(|| parser.parse(text.as_bytes()))).ok()?.ok()?;
    if read.entries.is_empty() {
        return None;
    }
    let (format, atom) = match read.feed_type {
        model::FeedType::Atom => (Format::Atom, true),
        model::FeedType::JSON => (Format::Json, false),
        model::FeedType::RSS0 => (Format::Rss09x, false),
        model::FeedType::RSS1 => (Format::Rss1, false),
        model::FeedType::RSS2 => (Format::Rss2, false),
    };
    let address = |text: String| link::resolve(&text, url, limits.url_bytes);
    let mut feed = Feed {
        format,
        description: read.description.map(|d| d.content),
        link: read.links.into_iter().find_map(|l| address(l.href)),
        language: read.language.map(|l| l.to_ascii_lowercase()),
        image: read.logo.and_then(|i| address(i.uri)),
        updated: read.updated.map(|t| Timestamp::from_millis(t.timestamp_millis())),
        ..Feed::default()
    };
    let mut entries = read.entries.into_iter().map(|e| entry(e, atom, &address)).collect();
    feed.truncated = keep_newest(&mut entries, limits.entries);
    finish(&mut feed, read.title.map(|t| title(t, atom)), entries, limits, work);
    Some(feed)
}

fn entry(entry: model::Entry, atom: bool, address: &dyn Fn(String) -> Option<String>) -> RawEntry {
    let published = entry.published.map(|t| Timestamp::from_millis(t.timestamp_millis()));
    let updated = entry.updated.map(|t| Timestamp::from_millis(t.timestamp_millis()));
    let permalink = link::is_absolute(&entry.id).then(|| entry.id.clone());
    let tag = |tag: model::Category| tag.label.filter(|label| !label.trim().is_empty()).unwrap_or(tag.term);
    let links = entry.links.into_iter().filter(|l| l.rel.as_deref().is_none_or(|rel| rel == "alternate"));
    RawEntry {
        id: entry.id,
        title: entry.title.map(|t| title(t, atom)),
        link: links.map(|l| l.href).chain(permalink).find_map(address),
        published,
        // If RSS states no modification date, feed-rs repeats the publication date.
        updated: updated.filter(|u| atom || Some(*u) != published),
        author: entry.authors.into_iter().next().and_then(|p| p.name),
        summary: entry.summary.map(|s| s.content),
        content: entry.content.and_then(|c| c.body),
        tags: entry.categories.into_iter().take(MAX_TAGS).map(tag).collect(),
    }
}

/// Returns a title, with a flag that is true for literal text, which only Atom can declare.
fn title(text: model::Text, atom: bool) -> (bool, String) {
    (atom && text.content_type.as_str() == "text/plain", text.content)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares two independent parsers on documents that both can parse.
    #[test]
    fn both_readers_find_the_same_entries_in_documents_that_are_in_order() {
        let base = Url::parse("https://example.org/feed").unwrap_or_else(|e| panic!("{e}"));
        let limits = Limits::default();
        let documents = [
            include_str!("../tests/it/fixtures/rss2.xml"),
            include_str!("../tests/it/fixtures/atom.xml"),
            include_str!("../tests/it/fixtures/rss1.xml"),
        ];
        for document in documents {
            let ours = crate::parse(document.as_bytes(), None, &base, &limits).unwrap_or_else(|e| panic!("{e}"));
            let theirs = read(document, &base, &limits, &Work::default())
                .unwrap_or_else(|| panic!("feed-rs reads none: {document}"));
            assert_eq!(theirs.format, ours.format);
            assert_eq!(theirs.title, ours.title);
            let said = |feed: &Feed| {
                let entries = feed.entries.iter();
                entries.map(|e| (e.link.clone(), e.title.clone(), e.published)).collect::<Vec<_>>()
            };
            assert_eq!(said(&theirs), said(&ours));
        }
    }

    #[test]
    fn what_is_no_feed_or_kills_feed_rs_gives_none() {
        let base = Url::parse("https://example.org/feed").unwrap_or_else(|e| panic!("{e}"));
        for document in ["<html><body>no</body></html>", "<a><?xml version='1.0' encoding='x'?></a>", "", "<rss"] {
            assert_eq!(read(document, &base, &Limits::default(), &Work::default()), None, "{document}");
        }
    }
}
