//! Last step for all dialects: stable ids, plain titles, cleaned and truncated text.

use crate::draft::{Deletion, RawEntry};
use crate::{DeletedEntry, Entry, Feed, Limits, Repair, byline::byline, link, text, work::Work};
use curlew_model::{Timestamp, hex};
use curlew_text::{leftovers::is_leftover, url::parse};
use sha2::{Digest as _, Sha256};
use std::collections::{HashMap, HashSet};

const MAX_TAG_CHARS: usize = 100;

pub(crate) fn finish(
    feed: &mut Feed,
    title: Option<(bool, String)>,
    entries: Vec<RawEntry>,
    limits: &Limits,
    work: &Work,
) {
    (feed.title, feed.title_html) = titles(title, limits);
    feed.description = feed.description.take().and_then(|d| text::body(&d, limits.text_chars));
    // Index of the first entry with each id and link, and the ids that distinguish entries with equal ones.
    let (mut seen, mut said) = (HashMap::new(), HashSet::new());
    let mut deletions = Deletions::take_from(&mut feed.deleted);
    for raw in entries {
        let has_id = !raw.id.trim().is_empty();
        let named = has_id || raw.link.is_some();
        work.add(raw.bytes());
        let mut entry = complete(raw, limits, &mut feed.repairs);
        if deletions.supersede(&entry) {
            continue;
        }
        let (key, own) = (entry.key(), own_id(&entry));
        let is_new = said.insert(own.clone());
        // Entries with equal id and link are one entry. If only one of the two is equal, a different text means a
        // different entry: many sites have one page for all entries, or one id.
        match seen.get(&key) {
            None => {
                seen.insert(key, (feed.entries.len(), Some(own).filter(|_| named)));
                feed.entries.push(entry);
            }
            Some(_) if !named => feed.entries.push(entry),
            Some(_) if !is_new || has_id && entry.link.is_some() => Repair::Duplicate.note_in(&mut feed.repairs),
            Some(_) => {
                // The first one gets a distinct id too, or else the next entry that the site adds would take its place.
                if let Some((at, first)) = seen.get_mut(&key)
                    && let (Some(id), Some(first)) = (first.take(), feed.entries.get_mut(*at))
                {
                    first.id = id;
                }
                entry.id = own;
                feed.entries.push(entry);
            }
        }
    }
    feed.deleted = deletions.all.into_iter().flatten().collect();
}

pub(crate) fn deletions(drafts: Vec<Deletion>, limits: &Limits) -> Vec<DeletedEntry> {
    let known = drafts.into_iter().filter(|d| !d.id.trim().is_empty());
    known
        .map(|draft| {
            let own = draft.id.trim();
            let stated = draft.link.get().cloned();
            let address = || {
                let own = Some(own).filter(|own| own.len() <= limits.url_bytes)?;
                link::resolve(own, &parse(own, None).ok()?, limits.url_bytes)
            };
            DeletedEntry { url: stated.or_else(address), id: entry_id(own, limits), when: draft.when }
        })
        .collect()
}

struct Deletions {
    all: Vec<Option<DeletedEntry>>,
    by_id: HashMap<String, usize>,
}

impl Deletions {
    /// Empties the list and merges deletions of the same entry: the latest time and the first URL win.
    fn take_from(deleted: &mut Vec<DeletedEntry>) -> Deletions {
        let (mut all, mut by_id): (Vec<Option<DeletedEntry>>, HashMap<String, usize>) = Default::default();
        for deleted in std::mem::take(deleted) {
            match by_id.get(&deleted.id).and_then(|at| all.get_mut(*at)?.as_mut()) {
                Some(known) => {
                    known.when = known.when.max(deleted.when);
                    known.url = known.url.take().or(deleted.url);
                }
                None => {
                    by_id.insert(deleted.id.clone(), all.len());
                    all.push(Some(deleted));
                }
            }
        }
        Deletions { all, by_id }
    }

    /// True if the entry is deleted. The later of both wins (RFC 6721 §2), in doubt the deletion, which gets the link.
    fn supersede(&mut self, entry: &Entry) -> bool {
        let Some(place) = self.by_id.get(&entry.id).and_then(|at| self.all.get_mut(*at)) else { return false };
        let Some(deletion) = place else { return false };
        let changed = entry.updated.or(entry.published);
        if changed.zip(deletion.when).is_some_and(|(changed, deleted)| changed > deleted) {
            *place = None;
            return false;
        }
        if entry.link.is_some() {
            deletion.url.clone_from(&entry.link);
        }
        true
    }
}

fn entry_id(id: &str, limits: &Limits) -> String {
    let kept = if id.len() > limits.url_bytes { None } else { text::plain(id, true, limits.url_bytes) };
    kept.unwrap_or_else(|| hashed(&[Some(id)], None))
}

fn complete(raw: RawEntry, limits: &Limits, repairs: &mut Vec<Repair>) -> Entry {
    let (title, title_html) = titles(raw.title, limits);
    let summary = raw.summary.and_then(|s| text::body(&s, limits.text_chars));
    let content = raw.content.and_then(|c| text::body(&c, limits.text_chars));
    let id = match raw.id.trim() {
        "" => {
            Repair::MissingId.note_in(repairs);
            let said = [title.as_deref(), summary.as_deref(), content.as_deref()];
            raw.link.clone().unwrap_or_else(|| hashed(&said, raw.published))
        }
        id => entry_id(id, limits),
    };
    let author = raw.author.and_then(|a| byline(&text::plain(&a, false, limits.title_chars)?));
    Entry {
        id,
        title,
        title_html,
        link: raw.link,
        published: raw.published,
        updated: raw.updated,
        author: author.filter(|author| !is_leftover(author)),
        summary,
        content,
        tags: raw.tags.iter().filter_map(|tag| text::plain(tag, false, MAX_TAG_CHARS)).collect(),
    }
}

/// Returns a hash of id, link, date and title (or else text), which distinguishes entries with equal ids.
fn own_id(entry: &Entry) -> String {
    let text = entry.title.as_deref().or(entry.summary.as_deref()).or(entry.content.as_deref());
    hashed(&[Some(&entry.id), entry.link.as_deref(), text], entry.published.or(entry.updated))
}

fn titles(title: Option<(bool, String)>, limits: &Limits) -> (Option<String>, Option<String>) {
    let Some((literal, written)) = title else {
        return (None, None);
    };
    let plain = text::plain(&written, literal, limits.title_chars);
    let written = if literal { None } else { text::plain(&written, true, limits.title_chars) };
    let html = written.filter(|w| plain.as_ref() != Some(w));
    (plain, html)
}

/// Returns an id made of a hash of `parts` and `time`, so that it is the same at the next poll.
fn hashed(parts: &[Option<&str>], time: Option<Timestamp>) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part.unwrap_or_default().as_bytes());
        hash.update([0]);
    }
    hash.update(time.map_or(0, Timestamp::as_millis).to_be_bytes());
    format!("urn:sha256:{}", hex(&hash.finalize()[..16]))
}
