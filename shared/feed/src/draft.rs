//! What is known of a feed or an entry while it is being read.

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
#[derive(Debug, Default)]
pub(crate) struct Slot {
    rank: u8,
    value: Option<String>,
    kind: Kind,
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

    /// Whether a value of that rank would be taken.
    fn wants(&self, rank: u8) -> bool {
        self.value.is_none() || rank < self.rank
    }

    pub(crate) fn get(&self) -> Option<&str> {
        self.value.as_deref()
    }

    pub(crate) fn kind(&self) -> Kind {
        self.kind
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
    pub(crate) updated: Slot,
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
    pub(crate) published: Slot,
    pub(crate) updated: Slot,
    pub(crate) author: Slot,
    pub(crate) summary: Slot,
    pub(crate) content: Slot,
}

/// A deletion that is being read (RFC 6721 §3).
#[derive(Debug, Default)]
pub(crate) struct Deletion {
    pub(crate) id: String,
    pub(crate) link: Slot,
    pub(crate) when: Option<Timestamp>,
}
