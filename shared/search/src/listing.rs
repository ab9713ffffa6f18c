//! Turns ranked pages into a list of results: copies are shown as one, and no site more than twice on a page.

use crate::cursor::AHEAD;
use crate::rank::Candidate;
use std::collections::HashMap;

/// Maximum number of bits in which the fingerprints of copies differ. Texts with one word in twenty changed stay within
/// it; unrelated texts, which differ in about 31 bits, do so in less than one of a million pairs.
pub const COPY_BITS: u32 = 10;
/// Number of best pages among which copies are detected and counted.
pub(crate) const GROUPED: usize = 1_000;
/// Maximum number of results of one site on a page of results, if there are others near them.
const ON_A_PAGE: usize = 2;

/// Pages with the same text; usually only one.
pub(crate) struct Group {
    /// The page that gives the group its rank: the best match, or the earliest page if results are sorted by date.
    pub(crate) best: Candidate,
    /// The earliest page, which is shown.
    pub(crate) first: Candidate,
    pub(crate) size: u32,
}

/// Keeps only the latest split's copy of each page. Returns how many were dropped, with all words and without.
pub(crate) fn keep_newest_copies(ranked: &mut Vec<Candidate>) -> [u64; 2] {
    let mut newest: HashMap<u64, usize> = HashMap::new();
    for candidate in ranked.iter() {
        let split = newest.entry(candidate.key.0).or_insert(candidate.at.0);
        *split = candidate.at.0.max(*split);
    }
    let mut left_out = [0, 0];
    ranked.retain(|candidate| {
        let is_newest = newest.get(&candidate.key.0) == Some(&candidate.at.0);
        left_out[usize::from(!candidate.has_all)] += u64::from(!is_newest);
        is_newest
    });
    left_out
}

/// Groups copies if `may_group` is set. Returns the groups in order of rank.
pub(crate) fn groups(ranked: &[Candidate], may_group: bool, by_relevance: bool) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::with_capacity(ranked.len());
    // Fingerprints of the groups, kept separately since each page is compared with all.
    let mut prints: [Vec<(u64, usize)>; 2] = Default::default();
    let mut ranked: Vec<(usize, &Candidate)> = ranked.iter().enumerate().collect();
    if !by_relevance {
        // The earliest comes first, since it represents its copies.
        ranked.reverse();
    }
    for (at, candidate) in ranked {
        let print = candidate.print.filter(|_| may_group && at < GROUPED);
        let known = &mut prints[usize::from(candidate.has_all)];
        let copy_of = print.and_then(|print| {
            let is_copy = |(other, _): &&(u64, usize)| (print ^ other).count_ones() <= COPY_BITS;
            known.iter().find(is_copy).map(|(_, group)| *group)
        });
        if let Some(group) = copy_of {
            let group = &mut groups[group];
            group.size += 1;
            if candidate.date < group.first.date {
                group.first = *candidate;
            }
        } else {
            known.extend(candidate.print.map(|print| (print, groups.len())));
            groups.push(Group { best: *candidate, first: *candidate, size: 1 });
        }
    }
    if !by_relevance {
        groups.reverse();
    }
    groups
}

/// Returns the order in which groups are shown: by rank, at most [`ON_A_PAGE`] of one site per `limit` results.
pub(crate) fn order(groups: &[Group], mix_sites: bool, count: usize, limit: usize) -> Vec<usize> {
    let mut order: Vec<usize> = Vec::with_capacity(count.min(groups.len()));
    let mut shown = vec![false; groups.len()];
    let mut front = 0;
    while order.len() < count {
        while shown.get(front).is_some_and(|shown| *shown) {
            front += 1;
        }
        if front == groups.len() {
            break;
        }
        let page = &order[order.len() - order.len() % limit.max(1)..];
        let is_new = |group: &Group| {
            let is_same = |shown: &&usize| groups[**shown].first.site == group.first.site;
            page.iter().filter(is_same).count() < ON_A_PAGE
        };
        let mut near = (front..groups.len().min(front + AHEAD)).filter(|at| mix_sites && !shown[*at]);
        let at = near.find(|at| is_new(&groups[*at])).unwrap_or(front);
        shown[at] = true;
        order.push(at);
    }
    order
}
