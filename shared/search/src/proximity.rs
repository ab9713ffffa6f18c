//! Raises the score of pages on which neighbouring words of the query are near each other.

use crate::error::Result;
use crate::plan::{Plan, Written};
use crate::rank::Candidate;
use crate::split::Split;
use std::collections::HashMap;
use tantivy::DocSet;
use tantivy::postings::Postings;
use tantivy::schema::IndexRecordOption;

/// Gain of a page on which all neighbours of the query are adjacent.
const GAIN: f32 = 0.3;
/// Maximum distance of two words that still counts as near, in words.
const FAR: u32 = 10;
/// Maximum occurrences of a word on a page. Pages with more are skipped: they are very long, or spam.
const MOST: u32 = 2_000;

/// Positions of a word on a page, keyed by the index of the candidate and the bit of the word.
type Positions = HashMap<(usize, usize), Vec<u32>>;

/// Returns the factor for the score of each candidate; `split` returns the split with a number.
pub(crate) fn factors<'a>(
    split: impl Fn(usize) -> Option<&'a Split>,
    plan: &Plan,
    candidates: &[Candidate],
) -> Result<Vec<f32>> {
    let mut order: Vec<usize> = (0..candidates.len()).collect();
    order.sort_unstable_by_key(|place| candidates[*place].at);
    let mut positions = Positions::new();
    for (bit, unit) in plan.units.iter().enumerate() {
        for (language, written) in (0_u8..).zip(&unit.written) {
            let Written::Word(terms) = written else { continue };
            let has = |place: &usize| candidates[*place].language == language && candidates[*place].has.contains(bit);
            let places: Vec<usize> = order.iter().copied().filter(has).collect();
            for same_split in places.chunk_by(|one, two| candidates[*one].at.0 == candidates[*two].at.0) {
                let Some(split) = split(candidates[same_split[0]].at.0) else { continue };
                let inverted = split.segment().inverted_index(split.fields.body)?;
                for term in terms.iter().filter(|term| plan.reads_positions(written, true, term)) {
                    let read = inverted.read_postings(term, IndexRecordOption::WithFreqsAndPositions)?;
                    let Some(mut postings) = read else { continue };
                    for place in same_split {
                        let doc = candidates[*place].at.1;
                        if postings.doc() < doc {
                            postings.seek(doc);
                        }
                        if postings.doc() == doc && postings.term_freq() <= MOST {
                            let there = positions.entry((*place, bit)).or_default();
                            postings.append_positions_with_offset(0, there);
                        }
                    }
                }
            }
        }
    }
    for there in positions.values_mut() {
        there.sort_unstable();
    }
    Ok(candidates.iter().enumerate().map(|(place, of)| factor(plan, &positions, place, of)).collect())
}

fn factor(plan: &Plan, positions: &Positions, place: usize, candidate: &Candidate) -> f32 {
    let is_word = |bit: &usize| match plan.units[*bit].written.get(usize::from(candidate.language)) {
        Some(Written::Word(terms)) => !terms.is_empty(),
        _ => false,
    };
    let words: Vec<usize> = (0..plan.units.len()).filter(is_word).collect();
    let pairs = words.windows(2).map(|pair| {
        let of = |bit: usize| positions.get(&(place, bit)).map_or(&[][..], Vec::as_slice);
        closeness(of(pair[0]), of(pair[1]))
    });
    let (count, sum) = pairs.fold((0, 0.0), |(count, sum), closeness| (count + 1, sum + closeness));
    if count == 0 { 1.0 } else { 1.0 + GAIN * sum / count as f32 }
}

/// Returns the closeness of two words: 1 if adjacent, less the further apart, half as much in reverse order.
fn closeness(one: &[u32], two: &[u32]) -> f32 {
    let (mut best, mut from) = (0.0_f32, 0);
    for at in one {
        while two.get(from).is_some_and(|other| other < at) {
            from += 1;
        }
        let ahead = two[from..].iter().find(|other| *other > at).map(|other| (other - at, 1.0));
        let behind = from.checked_sub(1).map(|before| (at - two[before], 0.5));
        for (apart, worth) in [ahead, behind].into_iter().flatten().filter(|(apart, _)| *apart <= FAR) {
            best = best.max(worth / apart as f32);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_near() {
        for (one, two, near) in [
            (&[3][..], &[4][..], 1.0),
            (&[3], &[5], 0.5),
            (&[4], &[3], 0.5),
            (&[1, 30], &[14, 29, 99], 0.5),
            (&[1], &[12], 0.0),
            (&[1], &[1], 0.0),
            (&[], &[1], 0.0),
            (&[1], &[], 0.0),
            (&[5, 9], &[3, 4, 9, 11], 0.5),
        ] {
            assert!((closeness(one, two) - near).abs() < 1e-6, "{one:?} {two:?}");
        }
    }
}
