//! Counts what matches and keeps the best of it.

use crate::query::Sort;
use crate::split::Split;
use curlew_model::{Millis, Timestamp};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;
use tantivy::BitSet;
use tantivy::collector::{Collector, SegmentCollector};
use tantivy::columnar::Column;
use tantivy::{DocId, Score, SegmentOrdinal, SegmentReader};

/// What a page of today gains over one of long ago with the same words.
const FRESHNESS_GAIN: f64 = 0.2;
/// After so long, half of that is left.
const FRESHNESS_HALF_LIFE: Millis = Millis::from_days(30);

/// What is found in one split.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// All that matches.
    pub(crate) total: u64,
    /// The best of it, in no order.
    pub(crate) best: Vec<Candidate>,
}

/// A page that may become a hit. The greater one is the better one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Candidate {
    /// What is compared first and second: score and date, or date and score.
    pub(crate) rank: (i64, i64),
    /// The URL's rank in the alphabet, within the split.
    pub(crate) url: Reverse<u64>,
    /// The document, within the split.
    pub(crate) doc: DocId,
    /// The bits of the score.
    score: u32,
}

impl Candidate {
    /// The score: relevance times freshness.
    pub(crate) fn score(&self) -> f32 {
        f32::from_bits(self.score)
    }
}

/// Ranks the pages of one split.
pub(crate) struct Ranking {
    sort: Sort,
    now: Timestamp,
    keep: usize,
    dates: Column<i64>,
    urls: Column<u64>,
    dead: Arc<BitSet>,
}

impl Ranking {
    /// Keeps so many of a split's pages; those that are `dead` are neither kept nor counted.
    pub(crate) fn new(split: &Split, sort: Sort, now: Timestamp, keep: usize, dead: Arc<BitSet>) -> Ranking {
        Ranking { sort, now, keep, dates: split.dates().clone(), urls: split.url_ords().clone(), dead }
    }
}

impl Collector for Ranking {
    type Fruit = Found;
    type Child = SegmentRanking;

    fn for_segment(&self, _ordinal: SegmentOrdinal, _segment: &SegmentReader) -> tantivy::Result<SegmentRanking> {
        Ok(SegmentRanking {
            sort: self.sort,
            now: self.now,
            keep: self.keep,
            dates: self.dates.clone(),
            urls: self.urls.clone(),
            dead: self.dead.clone(),
            total: 0,
            best: BinaryHeap::with_capacity(self.keep.saturating_add(1).min(1024)),
        })
    }

    fn requires_scoring(&self) -> bool {
        true
    }

    fn merge_fruits(&self, found: Vec<Found>) -> tantivy::Result<Found> {
        // A split has one segment.
        Ok(found.into_iter().next().unwrap_or_default())
    }
}

/// Ranks the pages of one segment.
pub(crate) struct SegmentRanking {
    sort: Sort,
    now: Timestamp,
    keep: usize,
    dates: Column<i64>,
    urls: Column<u64>,
    dead: Arc<BitSet>,
    total: u64,
    /// The worst of the best is on top.
    best: BinaryHeap<Reverse<Candidate>>,
}

impl SegmentCollector for SegmentRanking {
    type Fruit = Found;

    fn collect(&mut self, doc: DocId, score: Score) {
        if self.dead.contains(doc) {
            return;
        }
        self.total += 1;
        let date = self.dates.first(doc).unwrap_or(Timestamp::MIN.as_millis());
        let score = score * freshness(Timestamp::from_millis(date), self.now);
        // The bits of floats that are not negative have the order of the floats.
        let ordered = i64::from(score.max(0.0).to_bits());
        let rank = match self.sort {
            Sort::Relevance => (ordered, date),
            Sort::Date => (date, ordered),
        };
        let worst = self.best.peek().filter(|_| self.best.len() >= self.keep);
        if worst.is_some_and(|worst| rank < worst.0.rank) {
            return;
        }
        let url = Reverse(self.urls.first(doc).unwrap_or(u64::MAX));
        self.best.push(Reverse(Candidate { rank, url, doc, score: score.to_bits() }));
        if self.best.len() > self.keep {
            self.best.pop();
        }
    }

    fn harvest(self) -> Found {
        Found { total: self.total, best: self.best.into_iter().map(|candidate| candidate.0).collect() }
    }
}

/// Between 1 for what is old and 1 + [`FRESHNESS_GAIN`] for what is of now.
fn freshness(date: Timestamp, now: Timestamp) -> f32 {
    let half_lives = now.since(date).0 as f64 / FRESHNESS_HALF_LIFE.0 as f64;
    (1.0 + FRESHNESS_GAIN * (-half_lives).exp2()) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn freshness_fades_gently() {
        let now = Timestamp::from_millis(1_800_000_000_000);
        let at = |age| freshness(now - Millis::from_days(age), now);
        assert!((at(0) - 1.2).abs() < 1e-6 && (at(30) - 1.1).abs() < 1e-6 && (at(3650) - 1.0).abs() < 1e-6);
        assert!((freshness(now + Millis::from_days(9), now) - 1.2).abs() < 1e-6);
    }
}
