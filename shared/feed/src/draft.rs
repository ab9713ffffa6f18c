//! State of a feed or an entry while the document is parsed.

use crate::paging::{Generator, Paging};
use crate::{Hints, too_many};
use curlew_model::Timestamp;

/// The best value found so far for one field.
#[derive(Debug, Default)]
pub(crate) struct Slot<T = String> {
    rank: u8,
    value: Option<T>,
}

impl<T> Slot<T> {
    pub(crate) fn wants(&self, rank: u8) -> bool {
        self.value.is_none() || rank < self.rank
    }

    pub(crate) fn wants_last(&self, rank: u8) -> bool {
        self.value.is_none() || rank <= self.rank
    }

    pub(crate) fn get(&self) -> Option<&T> {
        self.value.as_ref()
    }

    pub(crate) fn take(self) -> Option<T> {
        self.value
    }
}

impl Slot {
    /// Stores a non-empty value, unless a value of the same or a better rank is stored.
    pub(crate) fn offer(&mut self, rank: u8, value: String) {
        if self.wants(rank) && !value.trim().is_empty() {
            *self = Slot { rank, value: Some(value) };
        }
    }

    /// Stores a non-empty value, unless a value of a better rank is stored; a value of the same rank is replaced.
    pub(crate) fn offer_last(&mut self, rank: u8, value: String) {
        if self.wants_last(rank) && !value.trim().is_empty() {
            *self = Slot { rank, value: Some(value) };
        }
    }
}

/// A title, with true for literal text.
impl Slot<(bool, String)> {
    pub(crate) fn offer_title(&mut self, rank: u8, literal: bool, title: String) {
        if self.wants(rank) && !title.trim().is_empty() {
            *self = Slot { rank, value: Some((literal, title)) };
        }
    }
}

impl Slot<Timestamp> {
    pub(crate) fn offer_last_time(&mut self, rank: u8, time: Timestamp) {
        if self.wants_last(rank) {
            *self = Slot { rank, value: Some(time) };
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct FeedDraft {
    pub(crate) title: Slot<(bool, String)>,
    pub(crate) summary: Slot,
    pub(crate) link: Slot,
    pub(crate) language: Slot,
    pub(crate) image: Slot,
    pub(crate) author: Slot,
    pub(crate) updated: Slot<Timestamp>,
    pub(crate) hints: Hints,
    pub(crate) generator: Option<Generator>,
    pub(crate) paging: Paging,
    pub(crate) deleted: Vec<Deletion>,
    /// `sy:updatePeriod` in milliseconds.
    pub(crate) period: Option<u64>,
    pub(crate) frequency: Option<u64>,
}

impl FeedDraft {
    pub(crate) fn relation(&mut self, relation: &str) -> Option<&mut Option<String>> {
        match relation {
            "self" => Some(&mut self.hints.self_url),
            "hub" => Some(&mut self.hints.hub),
            "next" => Some(&mut self.paging.next),
            "prev-archive" => Some(&mut self.paging.prev_archive),
            _ => None,
        }
    }
}

pub(crate) const MAX_TAGS: usize = 16;

#[derive(Debug, Default)]
pub(crate) struct EntryDraft {
    pub(crate) id: Slot,
    pub(crate) title: Slot<(bool, String)>,
    pub(crate) link: Slot,
    pub(crate) published: Slot<Timestamp>,
    pub(crate) updated: Slot<Timestamp>,
    pub(crate) author: Slot,
    pub(crate) has_author: bool,
    pub(crate) summary: Slot,
    pub(crate) content: Slot,
    pub(crate) tags: Vec<String>,
}

impl EntryDraft {
    /// Converts the draft to an entry. Only Atom titles can be literal text.
    pub(crate) fn into_raw(self, atom: bool) -> RawEntry {
        let published = self.published.take();
        RawEntry {
            id: self.id.take().unwrap_or_default(),
            title: self.title.take().map(|(literal, title)| (literal && atom, title)),
            link: self.link.take(),
            // Many RSS feeds repeat the publication date as the update date.
            updated: self.updated.take().filter(|u| atom || Some(*u) != published),
            published,
            // An empty author keeps the entry from inheriting the feed's author.
            author: self.author.take().or_else(|| self.has_author.then(String::new)),
            summary: self.summary.take(),
            content: self.content.take(),
            tags: self.tags,
        }
    }
}

/// An entry as parsed. The flag of its title is true for literal text.
#[derive(Debug, Default)]
pub(crate) struct RawEntry {
    pub(crate) id: String,
    pub(crate) title: Option<(bool, String)>,
    pub(crate) link: Option<String>,
    pub(crate) published: Option<Timestamp>,
    pub(crate) updated: Option<Timestamp>,
    pub(crate) author: Option<String>,
    pub(crate) summary: Option<String>,
    pub(crate) content: Option<String>,
    pub(crate) tags: Vec<String>,
}

impl RawEntry {
    pub(crate) fn bytes(&self) -> usize {
        let title = self.title.as_ref().map_or(0, |(_, title)| title.len());
        let texts = [&self.link, &self.author, &self.summary, &self.content];
        self.id.len() + title + texts.into_iter().flatten().chain(&self.tags).map(String::len).sum::<usize>()
    }
}

/// Keeps the newest `most` entries in their order. Returns true if entries were dropped.
pub(crate) fn keep_newest(entries: &mut Vec<RawEntry>, most: usize) -> bool {
    let too_many = too_many(entries.iter().map(|entry| entry.published.or(entry.updated)), most);
    let mut places = 0..;
    entries.retain(|_| places.next().is_some_and(|place| !too_many.contains(&place)));
    !too_many.is_empty()
}

#[derive(Debug, Default)]
pub(crate) struct Deletion {
    pub(crate) id: String,
    pub(crate) link: Slot,
    pub(crate) when: Option<Timestamp>,
}
