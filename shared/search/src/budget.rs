//! Limits how much of the index a query reads.

use curlew_model::with_defaults;
use std::collections::BTreeSet;

with_defaults! {
    /// Limits on what a query reads from all splits together. Beyond them, the most frequent words are left out.
    /// By default, each limit equals some tens of millions of pages or positions. A query uses up to twice as much
    /// memory.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct ReadBudget {
        /// Maximum total length of the postings of its words (lists of the pages that have them), in bytes.
        pub postings: u64 = 64 * 1024 * 1024,
        /// Maximum total length of the positions that phrases and proximity need, in bytes; repeated reads count each
        /// time.
        pub positions: u64 = 64 * 1024 * 1024,
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Unread {
    /// Terms that are not searched at all.
    pub(crate) postings: BTreeSet<String>,
    /// Terms whose positions are not read: they may match anywhere on a page.
    pub(crate) positions: BTreeSet<String>,
}

#[derive(Debug)]
pub(crate) struct Lists {
    pub(crate) text: String,
    /// Length of its postings, in bytes.
    pub(crate) postings: u64,
    /// Length of its positions in bytes, times the number of reads.
    pub(crate) positions: u64,
}

impl Unread {
    /// Returns the terms that do not fit into the budget together with all rarer ones.
    pub(crate) fn beyond(budget: ReadBudget, lists: &[Lists]) -> Unread {
        let postings = beyond(budget.postings, lists.iter().map(|list| (list.postings, list.text.as_str())));
        let found = lists.iter().filter(|list| !postings.contains(&list.text));
        let positions = beyond(budget.positions, found.map(|list| (list.positions, list.text.as_str())));
        Unread { postings, positions }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.postings.is_empty() && self.positions.is_empty()
    }
}

/// Returns the texts whose sizes do not fit into the budget together with all smaller ones; the smallest always fits.
fn beyond<'a>(budget: u64, sizes: impl Iterator<Item = (u64, &'a str)>) -> BTreeSet<String> {
    let mut sizes: Vec<(u64, &str)> = sizes.collect();
    sizes.sort_unstable();
    let mut sum = 0_u64;
    let sums = sizes.iter().map(|(size, _)| {
        sum = sum.saturating_add(*size);
        sum
    });
    let fitting = sums.take_while(|sum| *sum <= budget).count();
    let least = sizes.iter().take_while(|(size, _)| *size == 0).count() + 1;
    let fitting = fitting.max(least);
    sizes.into_iter().skip(fitting).map(|(_, text)| text.to_owned()).collect()
}
