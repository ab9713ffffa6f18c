//! Routes: the leaf that answers for a split. Pure, and the same in every process.
//!
//! Each split prefers leaves in an order of its own (rendezvous hashing, Thaler and Ravishankar 1998), so that a leaf keeps
//! its splits, and what it has read of them, whatever splits come and go. It takes the first of them that has room (bounded
//! loads, Mirrokni and others 2018), since the slowest leaf decides how long a search takes.

use sha2::{Digest, Sha256};
use std::cmp::Reverse;

/// Maximum number of pages of a leaf, in percent of what each would have if all had as many. Less than that moves more
/// splits when one comes.
const MOST_PERCENT: u64 = 150;

/// Returns for each split, given by its key and its number of pages, the number of its leaf, of as many as there are.
pub fn routes(splits: &[(&str, u64)], leaves: usize) -> Vec<usize> {
    let leaves = leaves.max(1);
    let all: u64 = splits.iter().map(|(_, pages)| pages).sum();
    let most = (all.saturating_mul(MOST_PERCENT) / 100).div_ceil(leaves as u64);
    // The largest choose first: small ones fit between them.
    let seeds: Vec<u64> = splits.iter().map(|(key, _)| seed(key)).collect();
    let mut order: Vec<usize> = (0..splits.len()).collect();
    order.sort_by_key(|at| (Reverse(splits[*at].1), seeds[*at]));
    let mut loads = vec![0_u64; leaves];
    let mut routes = vec![0; splits.len()];
    for at in order {
        let pages = splits[at].1;
        let mut preferred: Vec<usize> = (0..leaves).collect();
        preferred.sort_by_key(|leaf| Reverse(mixed(seeds[at], *leaf)));
        let has_room = |leaf: &usize| loads[*leaf] == 0 || loads[*leaf] + pages <= most;
        let least = || preferred.iter().copied().min_by_key(|leaf| loads[*leaf]).unwrap_or_default();
        let leaf = preferred.iter().copied().find(has_room).unwrap_or_else(least);
        loads[leaf] += pages;
        routes[at] = leaf;
    }
    routes
}

fn seed(key: &str) -> u64 {
    Sha256::digest(key).iter().take(8).fold(0, |seed, byte| seed << 8 | u64::from(*byte))
}

/// Mixes a seed with the number of a leaf (SplitMix64, Steele and others 2014).
fn mixed(seed: u64, leaf: usize) -> u64 {
    let mut z = seed.wrapping_add((leaf as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keys and pages of splits: a few large ones, and many of every size.
    fn splits(count: u64) -> Vec<(String, u64)> {
        let pages = |n: u64| if n.is_multiple_of(9) { 900_000 } else { 20_000 + mixed(n, 0) % 300_000 };
        (0..count).map(|n| (format!("splits/2026/{:016x}.split", mixed(n, 1)), pages(n))).collect()
    }

    fn routed(splits: &[(String, u64)], leaves: usize) -> Vec<usize> {
        routes(&splits.iter().map(|(key, pages)| (key.as_str(), *pages)).collect::<Vec<_>>(), leaves)
    }

    #[test]
    fn a_split_that_comes_moves_few_others() {
        for leaves in [2, 4, 8, 16] {
            let (mut moved, mut all) = (0, 0);
            for count in 40..120 {
                let (before, after) = (routed(&splits(count), leaves), routed(&splits(count + 1), leaves));
                moved += before.iter().zip(&after).filter(|(before, after)| before != after).count();
                all += before.len();
            }
            assert!(moved * 20 <= all, "{leaves} leaves: {moved} of {all} have moved");
        }
    }

    #[test]
    fn order_and_other_processes_do_not_matter() {
        let (mut splits, leaves) = (splits(50), 4);
        let routes = routed(&splits, leaves);
        splits.reverse();
        let again: Vec<usize> = routed(&splits, leaves).into_iter().rev().collect();
        assert_eq!(routes, again);
        assert_eq!(routed(&splits[..4], leaves), [1, 0, 3, 2], "written down, so that another version routes alike");
    }

    #[test]
    fn no_leaf_has_much_more_than_another() {
        for leaves in 1..=16 {
            for count in [1, 5, 30, 100] {
                let splits = splits(count);
                let mut loads = vec![0; leaves];
                routed(&splits, leaves).into_iter().zip(&splits).for_each(|(leaf, (_, pages))| loads[leaf] += pages);
                let mean = splits.iter().map(|(_, pages)| pages).sum::<u64>() / leaves as u64;
                let largest = splits.iter().map(|(_, pages)| *pages).max().unwrap_or_default();
                let most = loads.into_iter().max().unwrap_or_default();
                assert!(most <= (mean * 150 / 100 + 1).max(mean + largest), "{leaves} leaves, {count} splits: {most}");
            }
        }
    }
}
