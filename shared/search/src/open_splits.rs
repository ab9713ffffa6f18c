//! The open splits of a search, and the requests that read them.
//!
//! Statistics are summed over all splits before anything is ranked. A request that lacks bytes marks everything that it
//! needs as wanted, and fails with [`SearchError::is_not_here`].

use crate::error::{Result, SearchError};
use crate::hidden::Hidden;
use crate::plan::Plan;
use crate::proximity;
use crate::rank::{Candidate, Corpus, Score, Selection, rank, tally};
use crate::split::Split;
use crate::statistics::Statistics;
use curlew_model::Record;
use std::collections::BTreeSet;
use tantivy::DocId;

pub(crate) type Address = (usize, DocId);

#[derive(Debug, Default)]
pub(crate) struct Ranked {
    /// Number of pages that have all words, and of those that have some.
    pub(crate) total: u64,
    pub(crate) partial: u64,
    pub(crate) is_cut: bool,
    /// Best of all candidates in order, each with its score including proximity.
    pub(crate) head: Vec<(Candidate, Score)>,
    pub(crate) best: Vec<Candidate>,
}

/// Splits that are open in this process, and the pages that no query may find. The number of a split is its index.
pub(crate) struct OpenSplits<'a> {
    pub(crate) splits: Vec<&'a Split>,
    pub(crate) hidden: &'a Hidden,
}

impl<'a> OpenSplits<'a> {
    /// Prepares splits for a search; leaves out those without pages.
    pub(crate) fn new(splits: &[&'a Split], hidden: &'a Hidden) -> OpenSplits<'a> {
        OpenSplits { splits: splits.iter().copied().filter(|split| split.docs() > 0).collect(), hidden }
    }

    pub(crate) fn languages(&self) -> BTreeSet<String> {
        self.splits.iter().flat_map(|split| split.languages()).cloned().collect()
    }

    /// Counts the pages that have each of some terms of a plan that is about to be ranked.
    pub(crate) fn count(&self, terms: &[String], plan: &Plan) -> Result<Statistics> {
        // Only counts tell how long the terms' lists are, and whether to read them: the lists do not become wanted yet.
        let counted = Statistics::gather(&self.splits, terms);
        counted.inspect_err(|_| self.want(|split| plan.look_up(split)))
    }

    pub(crate) fn rank(&self, plan: &Plan, statistics: &Statistics, selection: &Selection) -> Result<Ranked> {
        let ranked = self.rank_present(plan, statistics, selection);
        ranked.inspect_err(|_| self.want(|split| plan.touch(split)))
    }

    fn rank_present(&self, plan: &Plan, statistics: &Statistics, selection: &Selection) -> Result<Ranked> {
        let corpus = Corpus::new(statistics, plan);
        let (mut all, mut head) = (Ranked::default(), Vec::new());
        for (number, split) in self.splits.iter().enumerate() {
            let found = rank(number, split, plan, self.hidden, &corpus, selection)?;
            all.total += found.total;
            all.partial += found.partial;
            all.is_cut |= found.best.len() >= selection.keep;
            head.extend(found.head);
            all.best.extend(found.best);
        }
        all.is_cut |= keep_best(&mut all.best, selection.keep);
        // Only the scores of the best pages are raised by proximity.
        keep_best(&mut head, selection.head);
        let factors = proximity::factors(|number| self.splits.get(number).copied(), plan, &head)?;
        all.head =
            head.iter().zip(factors).map(|(page, factor)| (*page, Score::new(page.score.value() * factor))).collect();
        Ok(all)
    }

    /// Returns the records of pages. Reads all of them before it returns an error, so that all become wanted at once.
    pub(crate) fn records(&self, pages: &[Address], plan: &Plan) -> Result<Vec<Record>> {
        let no_split = || SearchError::damaged_split("it is not among the open ones");
        let read = |(number, doc): &Address| self.splits.get(*number).ok_or_else(no_split)?.record(*doc);
        let records: Vec<Result<Record>> = pages.iter().map(read).collect();
        let records: Result<Vec<Record>> = records.into_iter().collect();
        records.inspect_err(|_| self.want(|split| plan.touch(split)))
    }

    /// Returns the amount that each unit of the plan adds to the scores of some pages.
    pub(crate) fn explain(&self, plan: &Plan, statistics: &Statistics, pages: &[Address]) -> Result<Vec<Vec<f32>>> {
        let corpus = Corpus::new(statistics, plan);
        let mut shares = vec![vec![0.0; plan.units.len()]; pages.len()];
        for (number, split) in self.splits.iter().enumerate() {
            let is_there = |(_, (other, _)): &(_, &Address)| *other == number;
            let mut here: Vec<(&mut Vec<f32>, &Address)> = shares.iter_mut().zip(pages).filter(is_there).collect();
            let units = if here.is_empty() { 0 } else { plan.units.len() };
            for bit in 0..units {
                let tallies =
                    tally(split, plan, &corpus, bit..bit + 1).inspect_err(|_| self.want(|split| plan.touch(split)))?;
                here.iter_mut().for_each(|(shares, (_, doc))| shares[bit] = tallies.score(*doc));
            }
        }
        Ok(shares)
    }

    /// Reads everything that a plan needs, so that missing bytes become wanted; the next search reports errors.
    fn want(&self, read: impl Fn(&Split)) {
        for split in &self.splits {
            let _ = split.dead(self.hidden);
            read(split);
        }
    }
}

/// Sorts candidates, the best first, and keeps at most `most` of them; returns true if there were more.
pub(crate) fn keep_best(candidates: &mut Vec<Candidate>, most: usize) -> bool {
    candidates.sort_unstable_by(|one, other| other.cmp(one));
    let is_cut = candidates.len() > most;
    candidates.truncate(most);
    is_cut
}
