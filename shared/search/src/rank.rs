//! Scores the pages of one split, counts them, and keeps the best.
//!
//! Words are read one after another, and each adds to the scores of the pages that have it (term at a time). Afterwards
//! it is known which of the words each page has, and so whether it has all of them.

use crate::cursor::Place;
use crate::error::SearchError;
use crate::hidden::Hidden;
use crate::plan::{Allowed, Bits, Plan, Written, bits};
use crate::query::{Query, Sort};
use crate::split::Split;
use crate::statistics::Statistics;
use curlew_model::{Millis, Timestamp};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;
use tantivy::postings::{Postings, SegmentPostings};
use tantivy::query::{Bm25StatisticsProvider, EnableScoring, Query as _};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocId, DocSet, TERMINATED, Term};

/// Saturation of term frequency: lower values let repetitions of a word count for less (BM25, Robertson and Zaragoza
/// 2009).
const K1: f32 = 1.2;
/// Penalty for long pages (BM25, the same source).
const B: f32 = 0.75;
/// Gain of a page of today over an old one with the same words; it only breaks near-ties.
const FRESHNESS_GAIN: f64 = 0.02;
/// Time after which half of that gain is left.
const FRESHNESS_HALF_LIFE: Millis = Millis::from_days(30);

/// Results of one split.
#[derive(Debug, Default)]
pub(crate) struct SplitHits {
    /// Number of pages that have all words.
    pub(crate) total: u64,
    /// Number of pages that have some of them.
    pub(crate) partial: u64,
    /// Best of all candidates, unordered.
    pub(crate) head: Vec<Candidate>,
    /// Best candidates after the requested place, unordered.
    pub(crate) best: Vec<Candidate>,
}

/// A page that may become a hit; the greater one is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "Row", into = "Row")]
pub(crate) struct Candidate {
    /// Primary and secondary sort key: [`Standing`] and date, or date and standing.
    pub(crate) rank: (i64, i64),
    /// The page's key.
    pub(crate) key: Reverse<u64>,
    /// Index of the split, and the document in it.
    pub(crate) at: (usize, DocId),
    pub(crate) standing: Standing,
    /// True if it has all words.
    pub(crate) has_all: bool,
    /// Words that it has.
    pub(crate) has: Bits,
    /// Its language, as an index into the plan's languages.
    pub(crate) language: u8,
    /// Its date in milliseconds.
    pub(crate) date: i64,
    /// Number of its site.
    pub(crate) site: u64,
    /// Fingerprint of its text.
    pub(crate) print: Option<u64>,
}

/// A candidate as it is serialized: a leaf gives a thousand of them, so they have no names of fields.
type Row = ((i64, i64), u64, (usize, DocId), Standing, bool, Bits, u8, i64, u64, Option<u64>);

impl From<Row> for Candidate {
    fn from((rank, key, at, standing, has_all, has, language, date, site, print): Row) -> Candidate {
        Candidate { rank, key: Reverse(key), at, standing, has_all, has, language, date, site, print }
    }
}

impl From<Candidate> for Row {
    fn from(candidate: Candidate) -> Row {
        let Candidate { rank, key, at, standing, has_all, has, language, date, site, print } = candidate;
        (rank, key.0, at, standing, has_all, has, language, date, site, print)
    }
}

/// Part of the results that a page belongs to, and its score, as one number. Pages that have all words form the first
/// part, and precede the others; a sentence has no first part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Standing(i64);

impl Standing {
    pub(crate) fn new(is_first: bool, score: f32) -> Standing {
        // The bits of non-negative floats sort like the floats.
        Standing(i64::from(is_first) << 32 | i64::from(score.max(0.0).to_bits()))
    }

    pub(crate) fn is_first(self) -> bool {
        self.0 >> 32 != 0
    }

    pub(crate) fn score(self) -> f32 {
        f32::from_bits(self.0 as u32)
    }
}

impl Candidate {
    /// Returns its position in the order of all results.
    pub(crate) fn place(&self) -> Place {
        Place { rank: self.rank, key: self.key.0 }
    }

    /// Returns the candidate with its score multiplied by a factor of at least 1.
    #[must_use]
    pub(crate) fn times(self, factor: f32) -> Candidate {
        self.with(Standing::new(self.standing.is_first(), self.standing.score() * factor))
    }

    /// Returns the candidate with this standing, for results that are sorted by it.
    #[must_use]
    pub(crate) fn with(self, standing: Standing) -> Candidate {
        Candidate { standing, rank: (standing.0, self.rank.1), ..self }
    }
}

/// Pages of a split that a query selects, and the number of them that is kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Selection {
    /// True if pages count that have only some of the words.
    pub(crate) partial: bool,
    /// Current time.
    pub(crate) now: Timestamp,
    /// Place after which a page may be among the best.
    pub(crate) after: Option<Place>,
    /// Number of best candidates, and number of very best ones (`head`), to keep; at least one.
    pub(crate) keep: usize,
    pub(crate) head: usize,
}

/// Range of dates that match a query, in milliseconds.
fn dated(query: &Query) -> Range<i64> {
    let millis = |at: Option<Timestamp>, or| at.map_or(or, Timestamp::as_millis);
    millis(query.after, i64::MIN)..millis(query.before, i64::MAX)
}

/// Words of the query that a page has, with its score.
#[derive(Clone, Copy, Default)]
struct Tally {
    has: Bits,
    score: f32,
    language: u8,
}

/// Tallies of the pages of a split that have any of the words.
pub(crate) struct Tallies {
    /// One per document.
    all: Vec<Tally>,
    /// Documents that have any of the words.
    touched: Vec<DocId>,
}

impl Tallies {
    fn add(&mut self, doc: DocId, bit: usize, language: u8, score: f32) {
        let Some(tally) = self.all.get_mut(doc as usize) else { return };
        if tally.has == 0 {
            self.touched.push(doc);
        }
        *tally = Tally { has: tally.has | (1 << bit), score: tally.score + score, language };
    }

    /// Returns the words that a document has, and its score.
    pub(crate) fn of(&self, doc: DocId) -> (Bits, f32) {
        self.all.get(doc as usize).map_or((0, 0.0), |tally| (tally.has, tally.score))
    }
}

/// Scores the pages of a split by the words in `bits`.
pub(crate) fn tally(split: &Split, plan: &Plan, corpus: &Corpus<'_>, bits: Bits) -> Result<Tallies, SearchError> {
    let mut tallies = Tallies { all: vec![Tally::default(); split.max_doc() as usize], touched: Vec::new() };
    let lengths = split.segment().get_fieldnorms_reader(split.fields().body)?;
    for (bit, unit) in plan.units.iter().enumerate().filter(|(bit, _)| bits & (1 << bit) != 0) {
        for (language, written) in (0_u8..).zip(&unit.written) {
            match written {
                Written::Not => {}
                Written::Word(terms) => {
                    let weight = corpus.weights[bit];
                    each_posting(split, terms, &mut |doc, times| {
                        let (times, norm) = (times as f32, corpus.norms[usize::from(lengths.fieldnorm_id(doc))]);
                        tallies.add(doc, bit, language, weight * times / (times + norm));
                    })?;
                }
                Written::Phrase(phrases) => {
                    let scoring = EnableScoring::enabled_from_statistics_provider(corpus, split.searcher());
                    let weight = Written::phrase_query(phrases).weight(scoring)?;
                    weight.for_each(split.segment(), &mut |doc, score| tallies.add(doc, bit, language, score))?;
                }
            }
        }
    }
    Ok(tallies)
}

/// Calls `show` for each page that has any of some terms, with the count of the most frequent of them on that page.
fn each_posting(split: &Split, terms: &[Term], show: &mut dyn FnMut(DocId, u32)) -> Result<(), SearchError> {
    let inverted = split.segment().inverted_index(split.fields().body)?;
    let mut lists: Vec<SegmentPostings> = Vec::with_capacity(terms.len());
    for term in terms {
        lists.extend(inverted.read_postings(term, IndexRecordOption::WithFreqs)?);
    }
    loop {
        let doc = lists.iter().map(DocSet::doc).min().unwrap_or(TERMINATED);
        if doc == TERMINATED {
            return Ok(());
        }
        let mut most = 0;
        for list in lists.iter_mut().filter(|list| list.doc() == doc) {
            most = list.term_freq().max(most);
            list.advance();
        }
        show(doc, most);
    }
}

/// Ranks the pages of a split.
pub(crate) fn rank(
    (number, split): (usize, &Split),
    (query, plan): (&Query, &Plan),
    hidden: &Hidden,
    corpus: &Corpus<'_>,
    selection: &Selection,
) -> Result<SplitHits, SearchError> {
    let tallies = tally(split, plan, corpus, Bits::MAX)?;
    let mut ranking = Ranking {
        number,
        split,
        selection,
        sort: query.sort,
        dated: dated(query),
        allowed: plan.allowed(split, hidden)?,
        is_sentence: plan.is_sentence,
        found: SplitHits::default(),
        heads: Best::new(selection.head),
        bests: Best::new(selection.keep),
    };
    if plan.units.is_empty() {
        (0..split.max_doc()).for_each(|doc| ranking.look(doc, Tally::default(), true));
    }
    // A page that has nothing but a stop word of some language says nothing about the query, unless that is made of
    // them.
    let telling = bits(plan.units.iter().map(|_| true)) & !plan.stop_words();
    for doc in tallies.touched {
        let tally = tallies.all[doc as usize];
        if tally.has & plan.strict == plan.strict && (telling == 0 || tally.has & telling != 0) {
            let has_all = plan.lacked(tally.language, tally.has).next().is_none();
            ranking.look(doc, tally, has_all);
        }
    }
    Ok(SplitHits { head: ranking.heads.into_vec(), best: ranking.bests.into_vec(), ..ranking.found })
}

struct Ranking<'a> {
    number: usize,
    split: &'a Split,
    selection: &'a Selection,
    sort: Sort,
    dated: Range<i64>,
    allowed: Allowed,
    is_sentence: bool,
    found: SplitHits,
    heads: Best,
    bests: Best,
}

impl Ranking<'_> {
    fn look(&mut self, doc: DocId, tally: Tally, has_all: bool) {
        let is_wanted = (has_all || self.selection.partial) && self.allowed.contains(doc);
        if !is_wanted || self.split.has_expired(doc, self.selection.now) {
            return;
        }
        let date_of = |split: &Split| split.dates().first(doc).unwrap_or(Timestamp::MIN.as_millis());
        let is_filtered = self.dated != (i64::MIN..i64::MAX);
        if is_filtered && !self.dated.contains(&date_of(self.split)) {
            return;
        }
        *if has_all { &mut self.found.total } else { &mut self.found.partial } += 1;
        let is_first = has_all && !self.is_sentence;
        // Most pages would not be among the best even if they were of today.
        let most = Standing::new(is_first, tally.score * (1.0 + FRESHNESS_GAIN) as f32);
        if self.sort == Sort::Relevance && !self.takes((most.0, i64::MAX)) {
            return;
        }
        let date = date_of(self.split);
        let score = tally.score * freshness(Timestamp::from_millis(date), self.selection.now);
        let standing = Standing::new(is_first, score);
        let rank = match self.sort {
            Sort::Relevance => (standing.0, date),
            Sort::Date => (date, standing.0),
        };
        if !self.takes(rank) {
            return;
        }
        let key = Reverse(self.split.keys().first(doc).unwrap_or(u64::MAX));
        let is_after = self.selection.after.is_none_or(|after| Place { rank, key: key.0 }.comes_after(after));
        let candidate = Candidate {
            rank,
            key,
            at: (self.number, doc),
            standing,
            has_all,
            has: tally.has,
            language: tally.language,
            date,
            site: self.split.sites().first(doc).unwrap_or_default(),
            print: self.split.prints().first(doc),
        };
        self.heads.push(candidate);
        if is_after {
            self.bests.push(candidate);
        }
    }

    /// True if a candidate of this rank may be among the best.
    fn takes(&self, rank: (i64, i64)) -> bool {
        self.heads.takes(rank) || self.bests.takes(rank)
    }
}

/// The best of all candidates seen so far.
struct Best {
    most: usize,
    /// Heap with the worst of them on top.
    heap: BinaryHeap<Reverse<Candidate>>,
}

impl Best {
    fn new(most: usize) -> Best {
        Best { most, heap: BinaryHeap::new() }
    }

    /// True if a candidate of this rank may be among the best.
    fn takes(&self, rank: (i64, i64)) -> bool {
        self.heap.len() < self.most || self.heap.peek().is_some_and(|worst| rank >= worst.0.rank)
    }

    fn push(&mut self, candidate: Candidate) {
        if self.takes(candidate.rank) {
            self.heap.push(Reverse(candidate));
            if self.heap.len() > self.most {
                self.heap.pop();
            }
        }
    }

    fn into_vec(self) -> Vec<Candidate> {
        self.heap.into_iter().map(|candidate| candidate.0).collect()
    }
}

/// Returns a factor between 1 for old pages and 1 + [`FRESHNESS_GAIN`] for new ones.
pub(crate) fn freshness(date: Timestamp, now: Timestamp) -> f32 {
    let half_lives = now.since(date).0 as f64 / FRESHNESS_HALF_LIFE.0 as f64;
    (1.0 + FRESHNESS_GAIN * (-half_lives).exp2()) as f32
}

/// Weights that statistics give to the words of a plan.
pub(crate) struct Corpus<'a> {
    statistics: &'a Statistics,
    /// Maximum that each unit of the plan can add to a score; unused for phrases.
    weights: Vec<f32>,
    /// True for each unit that some page may have; unknown for a phrase until it is read, and then true.
    pub(crate) is_known: Vec<bool>,
    /// Effect of a page's length on its score, by the code of the length.
    norms: [f32; 256],
}

impl<'a> Corpus<'a> {
    pub(crate) fn new(statistics: &'a Statistics, plan: &Plan) -> Corpus<'a> {
        let mut corpus = Corpus { statistics, weights: Vec::new(), is_known: Vec::new(), norms: [0.0; 256] };
        let mean = statistics.tokens as f32 / statistics.docs.max(1) as f32;
        for (id, norm) in (0_u8..=u8::MAX).zip(&mut corpus.norms) {
            let length = tantivy::fieldnorm::FieldNormReader::id_to_fieldnorm(id) as f32;
            *norm = K1 * (1.0 - B + B * length / mean.max(1.0));
        }
        for unit in &plan.units {
            // A page has one language, so pages of two languages are distinct.
            let words = unit.written.iter().filter_map(|written| match written {
                Written::Word(terms) => terms.iter().map(|term| corpus.pages_with(term)).max(),
                _ => None,
            });
            let pages = words.sum();
            let has_phrase = unit.written.iter().any(|written| matches!(written, Written::Phrase(_)));
            corpus.weights.push(corpus.weight(pages));
            corpus.is_known.push(has_phrase || pages > 0);
        }
        corpus
    }

    /// Returns the weight of a word that `pages` pages have.
    fn weight(&self, pages: u64) -> f32 {
        let (docs, pages) = (self.statistics.docs.max(pages) as f32, pages as f32);
        (1.0 + K1) * (1.0 + (docs - pages + 0.5) / (pages + 0.5)).ln()
    }

    fn pages_with(&self, term: &Term) -> u64 {
        term.value().as_str().and_then(|text| self.statistics.pages_with(text)).unwrap_or_default()
    }
}

impl Bm25StatisticsProvider for Corpus<'_> {
    fn total_num_tokens(&self, _: Field) -> tantivy::Result<u64> {
        Ok(self.statistics.tokens)
    }

    fn total_num_docs(&self) -> tantivy::Result<u64> {
        Ok(self.statistics.docs)
    }

    fn doc_freq(&self, term: &Term) -> tantivy::Result<u64> {
        Ok(self.pages_with(term))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn freshness_fades_gently() {
        let now = Timestamp::from_millis(1_800_000_000_000);
        let at = |age| freshness(now - Millis::from_days(age), now);
        assert!((at(0) - 1.02).abs() < 1e-6 && (at(30) - 1.01).abs() < 1e-6 && (at(3650) - 1.0).abs() < 1e-6);
        assert!((freshness(now + Millis::from_days(9), now) - 1.02).abs() < 1e-6);
    }

    #[test]
    fn all_words_stand_before_any_score() {
        let rising =
            [(false, 0.0), (false, 1e-9), (false, 3.5), (false, f32::MAX), (true, 0.0), (true, 0.1), (true, 9e9)];
        assert!(rising.is_sorted_by_key(|(is_first, score)| Standing::new(*is_first, *score)));
        for (is_first, score) in rising {
            let standing = Standing::new(is_first, score);
            assert_eq!((standing.is_first(), standing.score().to_bits()), (is_first, score.to_bits()));
        }
    }
}
