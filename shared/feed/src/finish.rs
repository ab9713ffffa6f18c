//! The last step for all dialects: stable ids, plain titles, clean and capped text.

use crate::byline::byline;
use crate::draft::Deletion;
use crate::{Deleted, Entry, Feed, Limits, Repair, link, text};
use curlew_model::{Timestamp, hex};
use sha2::{Digest as _, Sha256};
use std::collections::HashSet;
use url::Url;

/// An entry as a reader found it. A title says whether it is literal text.
#[derive(Debug, Default)]
pub(crate) struct Raw {
    pub(crate) id: String,
    pub(crate) title: Option<(bool, String)>,
    pub(crate) link: Option<String>,
    pub(crate) published: Option<Timestamp>,
    pub(crate) updated: Option<Timestamp>,
    pub(crate) author: Option<String>,
    pub(crate) summary: Option<String>,
    pub(crate) content: Option<String>,
}

/// Completes a feed of which title and entries are missing and texts are raw.
pub(crate) fn finish(feed: &mut Feed, title: Option<(bool, String)>, entries: Vec<Raw>, limits: &Limits) {
    (feed.title, feed.title_html) = titles(title, limits);
    feed.description = feed.description.take().and_then(|d| text::body(&d, limits.text_chars));
    let mut repairs = Vec::new();
    let mut seen = HashSet::new();
    for raw in entries {
        let named = !raw.id.trim().is_empty() || raw.link.is_some();
        let entry = complete(raw, limits, &mut repairs);
        if is_superseded(&entry, &mut feed.deleted) {
            continue;
        }
        if !named || seen.insert(entry.key()) {
            feed.entries.push(entry);
        } else {
            repairs.push(Repair::Duplicate);
        }
    }
    for repair in repairs {
        if !feed.repairs.contains(&repair) {
            feed.repairs.push(repair);
        }
    }
}

/// The deletions that a feed states, their ids as those of entries are.
pub(crate) fn deletions(drafts: Vec<Deletion>, limits: &Limits) -> Vec<Deleted> {
    let known = drafts.into_iter().filter(|d| !d.id.trim().is_empty());
    known
        .map(|draft| {
            let own = draft.id.trim();
            let stated = draft.link.get().cloned();
            let address = || Url::parse(own).ok().and_then(|base| link::resolve(own, &base, limits.url_bytes));
            Deleted { url: stated.or_else(address), id: entry_id(own, limits), when: draft.when }
        })
        .collect()
}

/// Whether the feed says that this entry is deleted. Of an entry and a deletion the later one counts (RFC 6721 §2), and
/// the deletion if there is no telling; one that does not count is taken away, the other learns the entry's page.
fn is_superseded(entry: &Entry, deleted: &mut Vec<Deleted>) -> bool {
    let Some(at) = deleted.iter().position(|d| d.id == entry.id) else { return false };
    let later = entry.updated.or(entry.published).zip(deleted[at].when).is_some_and(|(entry, deleted)| entry > deleted);
    if later {
        deleted.remove(at);
    } else if entry.link.is_some() {
        deleted[at].url.clone_from(&entry.link);
    }
    !later
}

/// A stated id in the form that is kept.
fn entry_id(id: &str, limits: &Limits) -> String {
    let kept = if id.len() > limits.url_bytes { None } else { text::plain(id, true, limits.url_bytes) };
    kept.unwrap_or_else(|| hashed(&[Some(id)], None))
}

fn complete(raw: Raw, limits: &Limits, repairs: &mut Vec<Repair>) -> Entry {
    let (title, title_html) = titles(raw.title, limits);
    let summary = raw.summary.and_then(|s| text::body(&s, limits.text_chars));
    let content = raw.content.and_then(|c| text::body(&c, limits.text_chars));
    let id = match raw.id.trim() {
        "" => {
            if !repairs.contains(&Repair::MissingId) {
                repairs.push(Repair::MissingId);
            }
            let said = [title.as_deref(), summary.as_deref(), content.as_deref()];
            raw.link.clone().unwrap_or_else(|| hashed(&said, raw.published))
        }
        id => entry_id(id, limits),
    };
    Entry {
        id,
        title,
        title_html,
        link: raw.link,
        published: raw.published,
        updated: raw.updated,
        author: raw.author.and_then(|a| byline(&text::plain(&a, false, limits.title_chars)?)),
        summary,
        content,
    }
}

/// A title as plain text, and as it was written if that says more.
fn titles(title: Option<(bool, String)>, limits: &Limits) -> (Option<String>, Option<String>) {
    let Some((literal, written)) = title else {
        return (None, None);
    };
    let plain = text::plain(&written, literal, limits.title_chars);
    let written = if literal { None } else { text::plain(&written, true, limits.title_chars) };
    let html = written.filter(|w| plain.as_ref() != Some(w));
    (plain, html)
}

/// An id for what has none: a hash of what it says, so that the same entry has the same id at the next poll.
fn hashed(parts: &[Option<&str>], time: Option<Timestamp>) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part.unwrap_or_default().as_bytes());
        hash.update([0]);
    }
    hash.update(time.map_or(0, Timestamp::as_millis).to_be_bytes());
    format!("urn:sha256:{}", hex(&hash.finalize()[..16]))
}
