//! The candidates in order.

use crate::candidates::candidate::Candidate;

/// The factors of a candidate's score.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Weight {
    pub(crate) agreement: f64,
    pub(crate) prior: f64,
    pub(crate) score: f64,
}

/// The candidates, the weight of each, and the index of the best.
#[derive(Debug, Default)]
pub(crate) struct Ranking {
    pub(crate) candidates: Vec<Candidate>,
    pub(crate) weights: Vec<Weight>,
    pub(crate) best: Option<usize>,
    /// True for each block of the page that is not shown, or is marked not to be quoted.
    pub(crate) hidden: Vec<bool>,
    /// Number of steps taken.
    pub(crate) steps: u64,
}

impl Ranking {
    /// Returns the block after the last one that the best candidate keeps.
    pub(crate) fn end(&self) -> Option<usize> {
        let best = self.candidates.get(self.best?)?;
        let last = best.left.iter().rposition(Option::is_none)?;
        Some(best.span.start + last + 1)
    }
}
