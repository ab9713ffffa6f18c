//! Has feed-rs read the strict document, and takes over what it found.

use crate::finish::{Raw, deletions, finish};
use crate::mend::Mended;
use crate::{Feed, FeedError, Format, Limits, date};
use curlew_model::Timestamp;
use feed_rs::model;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Reads a mended feed.
pub(crate) fn read(mended: Mended, limits: &Limits) -> Result<Feed, FeedError> {
    let parser = feed_rs::parser::Builder::new()
        // feed-rs makes up random ids; ours are made in `finish`, from what the entry says.
        .id_generator(|_, _, _| String::new())
        .sanitize_content(false)
        .timestamp_parser(|text| date::parse(text)?.to_string().parse().ok())
        .build();
    // The strict document is well-formed and small in kinds, so no panic is known; but one feed must not end a process.
    let read = catch_unwind(AssertUnwindSafe(|| parser.parse(mended.document.as_bytes())));
    let read = read
        .map_err(|_| FeedError::Unreadable("the parser gave up".to_owned()))?
        .map_err(|e| FeedError::Unreadable(e.to_string()))?;

    let mut feed = Feed {
        format: mended.format,
        title: None,
        title_html: None,
        description: read.description.map(|d| d.content),
        link: read.links.into_iter().next().map(|l| l.href),
        language: mended.language,
        image: read.logo.map(|i| i.uri),
        updated: read.updated.map(|t| Timestamp::from_millis(t.timestamp_millis())),
        hints: mended.hints,
        entries: Vec::new(),
        deleted: deletions(mended.deleted, limits),
        repairs: mended.repairs,
        truncated: mended.truncated,
    };
    let atom = matches!(feed.format, Format::Atom | Format::Atom03);
    let entries = read.entries.into_iter().map(|e| entry(e, atom)).collect();
    finish(&mut feed, read.title.map(|t| title(t, atom)), entries, limits);
    Ok(feed)
}

fn entry(entry: model::Entry, atom: bool) -> Raw {
    let published = entry.published.map(|t| Timestamp::from_millis(t.timestamp_millis()));
    let updated = entry.updated.map(|t| Timestamp::from_millis(t.timestamp_millis()));
    Raw {
        id: entry.id,
        title: entry.title.map(|t| title(t, atom)),
        link: entry.links.into_iter().next().map(|l| l.href),
        published,
        // Where RSS says nothing of a change, feed-rs says that it was changed when it was published.
        updated: updated.filter(|u| atom || Some(*u) != published),
        author: entry.authors.into_iter().next().and_then(|p| p.name.or(p.email)),
        summary: entry.summary.map(|s| s.content),
        content: entry.content.and_then(|c| c.body),
    }
}

/// A title, and whether it is literal text. Only Atom can say so; RSS titles are HTML whatever feed-rs calls them.
fn title(text: model::Text, atom: bool) -> (bool, String) {
    (atom && text.content_type.as_str() == "text/plain", text.content)
}
