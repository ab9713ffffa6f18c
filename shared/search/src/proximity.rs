//! Words that stand side by side in the query, and near each other on a page, mean more than the same words apart.

use crate::error::SearchError;
use crate::plan::{Plan, Written};
use crate::rank::Candidate;
use crate::split::Split;
use std::collections::HashMap;
use tantivy::DocSet;
use tantivy::postings::Postings;
use tantivy::schema::IndexRecordOption;

/// What a page gains on which all neighbours of the query are neighbours.
const GAIN: f32 = 0.3;
/// Further apart words have nothing to do with each other, in words.
const FAR: u32 = 10;
/// A page that has a word more often is not looked at: it is long, or it was made to be found.
const MOST: u32 = 2_000;

/// The positions of a word on a page, by the page's place among the candidates and the word's bit.
type Positions = HashMap<(usize, usize), Vec<u32>>;

/// What each of some candidates of these splits gains, as a factor of its score.
pub(crate) fn factors(splits: &[&Split], plan: &Plan, candidates: &[Candidate]) -> Result<Vec<f32>, SearchError> {
    let mut order: Vec<usize> = (0..candidates.len()).collect();
    order.sort_unstable_by_key(|place| candidates[*place].at);
    let mut positions = Positions::new();
    for (bit, unit) in plan.units.iter().enumerate() {
        for (language, written) in (0_u8..).zip(&unit.written) {
            let Written::Word(terms) = written else { continue };
            let has =
                |place: &usize| candidates[*place].language == language && candidates[*place].has & (1 << bit) != 0;
            let places: Vec<usize> = order.iter().copied().filter(has).collect();
            for same_split in places.chunk_by(|one, two| candidates[*one].at.0 == candidates[*two].at.0) {
                let split = splits[candidates[same_split[0]].at.0];
                let inverted = split.segment().inverted_index(split.fields().body)?;
                for term in terms {
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
    let is_word =
        |bit: &usize| matches!(plan.units[*bit].written.get(usize::from(candidate.language)), Some(Written::Word(_)));
    let words: Vec<usize> = (0..plan.units.len()).filter(is_word).collect();
    let pairs = words.windows(2).map(|pair| {
        let of = |bit: usize| positions.get(&(place, bit)).map_or(&[][..], Vec::as_slice);
        closeness(of(pair[0]), of(pair[1]))
    });
    let (count, sum) = pairs.fold((0, 0.0), |(count, sum), closeness| (count + 1, sum + closeness));
    if count == 0 { 1.0 } else { 1.0 + GAIN * sum / count as f32 }
}

/// How near two words come to each other: 1 side by side and in this order, less the further they are apart, half of it in
/// the other order.
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
