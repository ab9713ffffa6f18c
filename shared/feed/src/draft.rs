//! State of a feed or an entry while it is being read.

use crate::Hints;
use curlew_model::Timestamp;

/// How a text is meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Kind {
    /// HTML, or nobody said what.
    #[default]
    Html,
    /// Literal text.
    Plain,
}

/// The best value found so far for one place.
#[derive(Debug)]
pub(crate) struct Slot<T = String> {
    rank: u8,
    value: Option<T>,
    kind: Kind,
}

impl<T> Default for Slot<T> {
    fn default() -> Slot<T> {
        Slot { rank: 0, value: None, kind: Kind::Html }
    }
}

impl<T> Slot<T> {
    /// True if a value of that rank would be taken.
    pub(crate) fn wants(&self, rank: u8) -> bool {
        self.value.is_none() || rank < self.rank
    }

    pub(crate) fn get(&self) -> Option<&T> {
        self.value.as_ref()
    }

    pub(crate) fn take(self) -> Option<T> {
        self.value
    }
}

impl Slot {
    /// Takes a value if there is none yet or only one of a worse rank; an empty one is never taken.
    pub(crate) fn offer(&mut self, rank: u8, value: String, kind: Kind) {
        if self.wants(rank) && !value.trim().is_empty() {
            *self = Slot { rank, value: Some(value), kind };
        }
    }

    /// [`Slot::offer`] where of two values of one rank the later one is taken.
    pub(crate) fn offer_last(&mut self, rank: u8, value: String) {
        if self.value.is_none() || rank <= self.rank {
            *self = Slot { rank, value: Some(value), kind: Kind::Plain };
        }
    }

    /// The value, and whether it is literal text.
    pub(crate) fn with_kind(self) -> Option<(bool, String)> {
        let literal = self.kind == Kind::Plain;
        self.value.map(|value| (literal, value))
    }
}

impl Slot<Timestamp> {
    /// Takes a time if there is none yet or only one of a worse rank.
    pub(crate) fn offer_time(&mut self, rank: u8, time: Timestamp) {
        if self.wants(rank) {
            *self = Slot { rank, value: Some(time), kind: Kind::Plain };
        }
    }
}

/// A feed that is being read.
#[derive(Debug, Default)]
pub(crate) struct FeedDraft {
    pub(crate) title: Slot,
    pub(crate) summary: Slot,
    pub(crate) link: Slot,
    pub(crate) language: Slot,
    pub(crate) image: Slot,
    pub(crate) author: Slot,
    pub(crate) updated: Slot<Timestamp>,
    pub(crate) hints: Hints,
    pub(crate) deleted: Vec<Deletion>,
    /// Milliseconds of `sy:updatePeriod`.
    pub(crate) period: Option<u64>,
    /// `sy:updateFrequency`.
    pub(crate) frequency: Option<u64>,
}

/// An entry that is being read.
#[derive(Debug, Default)]
pub(crate) struct EntryDraft {
    pub(crate) id: Slot,
    pub(crate) title: Slot,
    pub(crate) link: Slot,
    pub(crate) published: Slot<Timestamp>,
    pub(crate) updated: Slot<Timestamp>,
    pub(crate) author: Slot,
    /// An author stands in it, named or not.
    pub(crate) has_author: bool,
    pub(crate) summary: Slot,
    pub(crate) content: Slot,
}

impl EntryDraft {
    /// Turns the draft into an entry. Only Atom can say that a title is literal text; RSS's are HTML whatever their element says.
    pub(crate) fn into_raw(self, atom: bool) -> RawEntry {
        let published = self.published.take();
        RawEntry {
            id: self.id.take().unwrap_or_default(),
            title: self.title.with_kind().map(|(literal, title)| (literal && atom, title)),
            link: self.link.take(),
            // Where RSS says nothing of a change, it is the time of publication that many repeat.
            updated: self.updated.take().filter(|u| atom || Some(*u) != published),
            published,
            // One without a name is an author all the same, so that the feed's is none.
            author: self.author.take().or_else(|| self.has_author.then(String::new)),
            summary: self.summary.take(),
            content: self.content.take(),
        }
    }
}

/// An entry as a reader found it. A title says whether it is literal text.
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
}

impl RawEntry {
    /// Bytes of all texts.
    pub(crate) fn bytes(&self) -> usize {
        let title = self.title.as_ref().map_or(0, |(_, title)| title.len());
        let texts = [&self.link, &self.author, &self.summary, &self.content];
        self.id.len() + title + texts.into_iter().flatten().map(String::len).sum::<usize>()
    }
}

/// A deletion that is being read (RFC 6721 §3).
#[derive(Debug, Default)]
pub(crate) struct Deletion {
    pub(crate) id: String,
    pub(crate) link: Slot,
    pub(crate) when: Option<Timestamp>,
}
