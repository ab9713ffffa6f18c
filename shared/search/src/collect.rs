//! Counts what matches and keeps the best of it.

use crate::cursor::Place;
use crate::query::{Query, Sort};
use crate::split::Split;
use curlew_model::{Millis, Timestamp};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;
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
    /// What of it comes after the place that was asked for.
    pub(crate) rest: u64,
    /// The best of what comes after the place that was asked for, in no order.
    pub(crate) best: Vec<Candidate>,
}

/// A page that may become a hit. The greater one is the better one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Candidate {
    /// What is compared first and second: score and date, or date and score.
    pub(crate) rank: (i64, i64),
    /// The page's key.
    pub(crate) key: Reverse<u64>,
    /// The document, within the split.
    pub(crate) doc: DocId,
    /// The bits of the score.
    score: u32,
    /// The fingerprint of the text.
    pub(crate) print: Option<u64>,
}

impl Candidate {
    /// The score: relevance times freshness.
    pub(crate) fn score(&self) -> f32 {
        f32::from_bits(self.score)
    }

    /// Where it stands among all results.
    pub(crate) fn place(&self) -> Place {
        Place { rank: self.rank, key: self.key.0 }
    }
}

/// Counts and ranks the pages of one split.
///
/// Whatever leaves a page out besides the words is minded here, before it is counted: the engine's own exclusion goes
/// wrong with phrases (it seeks backwards, which a phrase does not allow).
#[derive(Clone)]
pub(crate) struct Ranking {
    /// The order.
    pub(crate) sort: Sort,
    /// The present.
    pub(crate) now: Timestamp,
    /// How many pages to keep; at least one.
    pub(crate) keep: usize,
    /// Pages that are neither kept nor counted.
    pub(crate) excluded: Arc<BitSet>,
    /// Only pages of these dates count, in milliseconds.
    pub(crate) dated: Range<i64>,
    /// Only what comes after it is kept; what comes before is counted all the same.
    pub(crate) after: Option<Place>,
    dates: Column<i64>,
    expires: Column<i64>,
    keys: Column<u64>,
    prints: Column<u64>,
}

impl Ranking {
    /// Ranks a split.
    pub(crate) fn new(split: &Split, query: &Query, now: Timestamp, keep: usize, excluded: Arc<BitSet>) -> Ranking {
        let millis = |at: Option<Timestamp>, or| at.map_or(or, Timestamp::as_millis);
        Ranking {
            sort: query.sort,
            now,
            keep,
            excluded,
            dated: millis(query.after, i64::MIN)..millis(query.before, i64::MAX),
            after: None,
            dates: split.dates().clone(),
            expires: split.expires().clone(),
            keys: split.keys().clone(),
            prints: split.prints().clone(),
        }
    }

    /// Keeps only what comes after a place.
    pub(crate) fn after(self, place: Option<Place>) -> Ranking {
        Ranking { after: place, ..self }
    }

    fn is_shown(&self, doc: DocId, date: i64) -> bool {
        !self.excluded.contains(doc)
            && self.dated.contains(&date)
            && self.expires.first(doc).is_none_or(|expires| expires > self.now.as_millis())
    }
}

impl Collector for Ranking {
    type Fruit = Found;
    type Child = SegmentRanking;

    fn for_segment(&self, _ordinal: SegmentOrdinal, _segment: &SegmentReader) -> tantivy::Result<SegmentRanking> {
        let best = BinaryHeap::with_capacity(self.keep.saturating_add(1).min(1024));
        Ok(SegmentRanking { ranking: self.clone(), total: 0, rest: 0, best })
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
    ranking: Ranking,
    total: u64,
    rest: u64,
    /// The worst of the best is on top.
    best: BinaryHeap<Reverse<Candidate>>,
}

impl SegmentCollector for SegmentRanking {
    type Fruit = Found;

    fn collect(&mut self, doc: DocId, score: Score) {
        let date = self.ranking.dates.first(doc).unwrap_or(Timestamp::MIN.as_millis());
        if !self.ranking.is_shown(doc, date) {
            return;
        }
        self.total += 1;
        let score = score * freshness(Timestamp::from_millis(date), self.ranking.now);
        // The bits of floats that are not negative have the order of the floats.
        let ordered = i64::from(score.max(0.0).to_bits());
        let rank = match self.ranking.sort {
            Sort::Relevance => (ordered, date),
            Sort::Date => (date, ordered),
        };
        let key = || self.ranking.keys.first(doc).unwrap_or(u64::MAX);
        if self.ranking.after.is_some_and(|after| !Place { rank, key: key() }.comes_after(after)) {
            return;
        }
        self.rest += 1;
        let worst = self.best.peek().filter(|_| self.best.len() >= self.ranking.keep);
        if worst.is_some_and(|worst| rank < worst.0.rank) {
            return;
        }
        let print = self.ranking.prints.first(doc);
        let candidate = Candidate { rank, key: Reverse(key()), doc, score: score.to_bits(), print };
        self.best.push(Reverse(candidate));
        if self.best.len() > self.ranking.keep {
            self.best.pop();
        }
    }

    fn harvest(self) -> Found {
        let best = self.best.into_iter().map(|candidate| candidate.0).collect();
        Found { total: self.total, rest: self.rest, best }
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
