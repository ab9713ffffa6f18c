//! Scores the pages of one split, counts them, and keeps the best.
//!
//! Words are read one after another, and each adds to the scores of the pages that have it (term at a time).

use crate::analyze::compared;
use crate::bits::Bits;
use crate::cursor::Place;
use crate::error::Result;
use crate::hidden::Hidden;
use crate::plan::{Allowed, Language, Plan, Written};
use crate::query::{Query, Sort};
use crate::split::Split;
use crate::statistics::Statistics;
use curlew_model::{Millis, Timestamp};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;
use tantivy::postings::{Postings, SegmentPostings};
use tantivy::query::{Bm25StatisticsProvider, EnableScoring, Query as _};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocId, DocSet, TERMINATED, Term};

/// Saturation of term frequency: lower values let repetitions count for less (BM25, Robertson and Zaragoza 2009).
const K1: f32 = 1.2;
/// Penalty for long pages (BM25, the same source).
const B: f32 = 0.75;
/// Gain of a page that has all words over one with some of them.
const ALL_WORDS_GAIN: f32 = 0.1;
/// Gain of a page of today over an old one with the same words; it only breaks near-ties.
const FRESHNESS_GAIN: f64 = 0.02;
/// Time after which half of that gain is left.
const FRESHNESS_HALF_LIFE: Millis = Millis::from_days(30);

/// Assumed share of the pages in a language that contain a given stop word of that language.
const STOP_WORD_RATE: f32 = 0.5;
/// Added to the number of a language's pages, so that few pages say little about how common a word is in it.
const FEW_PAGES: f32 = 20.0;
/// Ratio by which a word may be rarer in one language than in another and still count as equally common.
const USUAL_RATIO: f32 = 4.0;
/// Lower bound for the ratio of the shares of pages that have a word in two languages.
const LEAST_RATIO: f32 = 0.02;

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
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Candidate {
    /// Primary and secondary sort key: [`Score`] and date, or date and score.
    pub(crate) rank: (i64, i64),
    pub(crate) key: Reverse<u64>,
    /// Index of the split, and the document in it.
    pub(crate) at: (usize, DocId),
    pub(crate) score: Score,
    pub(crate) has_all: bool,
    pub(crate) has: Bits,
    /// Language of the page, as an index into the plan's languages.
    pub(crate) language: u8,
    /// Date of the page in milliseconds.
    pub(crate) date: i64,
    pub(crate) site: u64,
    pub(crate) print: Option<u64>,
}

/// Score of a page, as a number that sorts like it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Score(u32);

impl Score {
    pub(crate) fn new(score: f32) -> Score {
        // The bits of non-negative floats sort like the floats.
        Score(score.max(0.0).to_bits())
    }

    pub(crate) fn value(self) -> f32 {
        f32::from_bits(self.0)
    }
}

impl Candidate {
    /// Returns its position in the order of all results.
    pub(crate) fn place(&self) -> Place {
        Place { rank: self.rank, key: self.key.0 }
    }

    /// Returns the candidate with this score, for results that are sorted by it.
    #[must_use]
    pub(crate) fn with(self, score: Score) -> Candidate {
        Candidate { score, rank: (i64::from(score.0), self.rank.1), ..self }
    }
}

/// Pages of a split that a query selects, and the number of them that is kept.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Selection {
    /// True if pages with only some of the words count.
    pub(crate) partial: bool,
    pub(crate) sort: Sort,
    /// Range of dates, in milliseconds.
    pub(crate) dates: Range<i64>,
    pub(crate) now: Timestamp,
    /// Place after which a page may be among the best.
    pub(crate) after: Option<Place>,
    /// Number of best candidates, and number of very best ones (`head`), to keep; at least one.
    pub(crate) keep: usize,
    pub(crate) head: usize,
}

/// Returns the range of dates that match a query, in milliseconds.
pub(crate) fn dates_of(query: &Query) -> Range<i64> {
    let millis = |at: Option<Timestamp>, or| at.map_or(or, Timestamp::as_millis);
    millis(query.after, i64::MIN)..millis(query.before, i64::MAX)
}

/// Words of the query that a page has, with its score.
#[derive(Clone, Copy, Default)]
struct Tally {
    doc: DocId,
    has: Bits,
    score: f32,
    language: u8,
}

/// Tallies of the pages of a split that have any of the words.
pub(crate) struct Tallies {
    /// For each document, one more than the index of its tally; 0 if it has none.
    places: Vec<u32>,
    all: Vec<Tally>,
}

impl Tallies {
    fn add(&mut self, doc: DocId, bit: usize, language: u8, score: f32) {
        let Some(place) = self.places.get_mut(doc as usize) else { return };
        if *place == 0 {
            self.all.push(Tally { doc, ..Tally::default() });
            *place = self.all.len() as u32;
        }
        let tally = &mut self.all[*place as usize - 1];
        tally.has.insert(bit);
        tally.score += score;
        tally.language = language;
    }

    pub(crate) fn score(&self, doc: DocId) -> f32 {
        let place = self.places.get(doc as usize).and_then(|place| place.checked_sub(1));
        place.and_then(|place| self.all.get(place as usize)).map_or(0.0, |tally| tally.score)
    }
}

/// Scores the pages of a split by some of the units of a plan.
pub(crate) fn tally(split: &Split, plan: &Plan, corpus: &Corpus<'_>, units: Range<usize>) -> Result<Tallies> {
    let mut tallies = Tallies { places: vec![0; split.max_doc() as usize], all: Vec::new() };
    let lengths = split.segment().get_fieldnorms_reader(split.fields.body)?;
    for bit in units {
        for (language, written) in (0_u8..).zip(&plan.units[bit].written) {
            let weight = corpus.weights[bit][usize::from(language)];
            match written {
                Written::Word(terms) => {
                    each_posting(split, terms, &mut |doc, times| {
                        let (times, norm) = (times as f32, corpus.norms[usize::from(lengths.fieldnorm_id(doc))]);
                        tallies.add(doc, bit, language, weight * times / (times + norm));
                    })?;
                }
                Written::Phrase(phrases) => {
                    let scoring = EnableScoring::enabled_from_statistics_provider(corpus, &split.searcher);
                    let query = Written::phrase_query(phrases).weight(scoring)?;
                    let mut add = |doc, score| tallies.add(doc, bit, language, weight * score);
                    query.for_each(split.segment(), &mut add)?;
                }
            }
        }
    }
    Ok(tallies)
}

/// Calls `show` for each page that has any of some terms, with the count of the most frequent of them on that page.
fn each_posting(split: &Split, terms: &[Term], show: &mut dyn FnMut(DocId, u32)) -> Result<()> {
    let inverted = split.segment().inverted_index(split.fields.body)?;
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

pub(crate) fn rank(
    number: usize,
    split: &Split,
    plan: &Plan,
    hidden: &Hidden,
    corpus: &Corpus<'_>,
    selection: &Selection,
) -> Result<SplitHits> {
    let tallies = tally(split, plan, corpus, 0..plan.units.len())?;
    let mut ranking = Ranking {
        number,
        split,
        selection,
        allowed: plan.allowed(split, hidden)?,
        found: SplitHits::default(),
        heads: Best::new(selection.head),
        bests: Best::new(selection.keep),
    };
    if plan.units.is_empty() {
        (0..split.max_doc()).for_each(|doc| ranking.look(Tally { doc, ..Tally::default() }, true));
    }
    // Stop words alone find no page, unless the query consists of them.
    let telling = (0..plan.units.len()).collect::<Bits>() - plan.stop_words();
    for tally in tallies.all {
        let strict = plan.languages[usize::from(tally.language)].strict;
        let has_strict = tally.has & strict == strict;
        if has_strict && (telling.is_empty() || !(tally.has & telling).is_empty()) {
            let has_all = plan.lacked(tally.language, tally.has).next().is_none();
            ranking.look(tally, has_all);
        }
    }
    Ok(SplitHits { head: ranking.heads.into_vec(), best: ranking.bests.into_vec(), ..ranking.found })
}

struct Ranking<'a> {
    number: usize,
    split: &'a Split,
    selection: &'a Selection,
    allowed: Allowed,
    found: SplitHits,
    heads: Best,
    bests: Best,
}

impl Ranking<'_> {
    fn look(&mut self, tally: Tally, has_all: bool) {
        let doc = tally.doc;
        let is_wanted = (has_all || self.selection.partial) && self.allowed.contains(doc);
        if !is_wanted || self.split.has_expired(doc, self.selection.now) {
            return;
        }
        let date_of = |split: &Split| split.dates.first(doc).unwrap_or(Timestamp::MIN.as_millis());
        let is_filtered = self.selection.dates != (i64::MIN..i64::MAX);
        if is_filtered && !self.selection.dates.contains(&date_of(self.split)) {
            return;
        }
        *if has_all { &mut self.found.total } else { &mut self.found.partial } += 1;
        let score = tally.score * completeness(has_all);
        // Most pages would not be among the best even if they were published today.
        let most = Score::new(score * (1.0 + FRESHNESS_GAIN) as f32);
        if self.selection.sort == Sort::Relevance && !self.takes((i64::from(most.0), i64::MAX)) {
            return;
        }
        let date = date_of(self.split);
        let score = Score::new(score * freshness(Timestamp::from_millis(date), self.selection.now));
        let rank = match self.selection.sort {
            Sort::Relevance => (i64::from(score.0), date),
            Sort::Date => (date, i64::from(score.0)),
        };
        if !self.takes(rank) {
            return;
        }
        let key = Reverse(self.split.keys.first(doc).unwrap_or(u64::MAX));
        let is_after = self.selection.after.is_none_or(|after| Place { rank, key: key.0 }.comes_after(after));
        let candidate = Candidate {
            rank,
            key,
            at: (self.number, doc),
            score,
            has_all,
            has: tally.has,
            language: tally.language,
            date,
            site: self.split.sites.first(doc).unwrap_or_default(),
            print: self.split.prints.first(doc),
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

struct Best {
    most: usize,
    /// Heap with the worst candidate on top.
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

/// Returns the factor of the score of a page that has all words, or only some.
pub(crate) fn completeness(has_all: bool) -> f32 {
    if has_all { 1.0 + ALL_WORDS_GAIN } else { 1.0 }
}

/// Weights that statistics give to the words of a plan.
pub(crate) struct Corpus<'a> {
    statistics: &'a Statistics,
    /// Maximum that each unit can add to the score of a page in each language; for a phrase, the factor of its score.
    weights: Vec<Vec<f32>>,
    /// True for each unit that some page may have; always true for phrases, which are not counted before they are read.
    pub(crate) is_known: Vec<bool>,
    /// Effect of a page's length on its score, indexed by the engine's code of the length.
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
        // Of several terms, the most frequent one counts. A page has one language, so the counts of different languages
        // can be summed.
        let pages = |written: &Written| written.terms().map(|term| corpus.pages_with(term)).max().unwrap_or_default();
        let rows = plan.units.iter().map(|unit| unit.written.iter().map(pages).collect());
        let rows: Vec<Vec<u64>> = rows.collect();
        let fits = corpus.fits(plan, &rows);
        for (unit, pages) in plan.units.iter().zip(&rows) {
            let pages = pages.iter().sum();
            let weight = unit.times as f32 * weight(statistics.docs, pages);
            let weights = unit.written.iter().zip(&fits).map(|(written, fit)| match written {
                Written::Phrase(_) => unit.times as f32 * fit,
                _ => weight * fit,
            });
            corpus.weights.push(weights.collect());
            let has_phrase = unit.written.iter().any(|written| matches!(written, Written::Phrase(_)));
            corpus.is_known.push(has_phrase || pages > 0);
        }
        corpus
    }

    /// Returns a factor for the pages in each language, smaller if the query's words are rarer in it; 1 if unknown.
    fn fits(&self, plan: &Plan, rows: &[Vec<u64>]) -> Vec<f32> {
        let mut sums = vec![0.0_f32; plan.languages.len()];
        for (bit, pages) in rows.iter().enumerate() {
            let typed = compared(&plan.units[bit].text).unwrap_or_default();
            let rate = |(language, pages): (&Language, &u64)| match language.rules.as_str() {
                "" => 0.0,
                _ if language.own_stop_words.contains(bit) => STOP_WORD_RATE,
                // Pages in this language have a different word with the same stem.
                rules if self.statistics.is_foreign(&typed, rules) => 0.0,
                rules => *pages as f32 / (self.statistics.pages_in(rules) as f32 + FEW_PAGES),
            };
            let rates: Vec<f32> = plan.languages.iter().zip(pages).map(rate).collect();
            let most = rates.iter().copied().fold(f32::MIN_POSITIVE, f32::max);
            let logs = rates.into_iter().map(|rate| (rate / most * USUAL_RATIO).clamp(LEAST_RATIO, 1.0).ln());
            sums.iter_mut().zip(logs).for_each(|(sum, log)| *sum += log / rows.len() as f32);
        }
        let best = sums.iter().copied().fold(f32::MIN, f32::max);
        let fits = plan.languages.iter().zip(sums);
        // The square root of the geometric mean of the ratios.
        fits.map(|(language, sum)| if language.rules.is_empty() { 1.0 } else { ((sum - best) / 2.0).exp() }).collect()
    }

    fn pages_with(&self, term: &Term) -> u64 {
        term.value().as_str().and_then(|text| self.statistics.pages_with(text)).unwrap_or_default()
    }
}

/// Returns the weight of a word that `pages` of `docs` pages have.
fn weight(docs: u64, pages: u64) -> f32 {
    let (docs, pages) = (docs.max(pages) as f32, pages as f32);
    (1.0 + K1) * (1.0 + (docs - pages + 0.5) / (pages + 0.5)).ln()
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
}
