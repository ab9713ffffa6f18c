//! Sums over runs of blocks, so that each of many runs is weighed in one step.

use crate::read::outline::Block;

/// Returns, for each of `blocks` blocks, whether it is in a run; takes linear time even for deeply nested runs.
pub(crate) fn covered(blocks: usize, runs: impl Iterator<Item = (usize, usize)>) -> Vec<bool> {
    let mut change = vec![0_i32; blocks + 1];
    for (start, end) in runs {
        change.get_mut(start).into_iter().for_each(|n| *n += 1);
        change.get_mut(end).into_iter().for_each(|n| *n -= 1);
    }
    let mut open = 0;
    let is_open = |change: &i32| {
        open += change;
        open > 0
    };
    change.iter().take(blocks).map(is_open).collect()
}

pub(crate) fn sums(blocks: &[Block], number: impl Fn(&Block) -> usize) -> Vec<usize> {
    let mut sum = 0;
    let added = blocks.iter().map(|block| {
        sum += number(block);
        sum
    });
    [0].into_iter().chain(added).collect()
}

pub(crate) fn between(sums: &[usize], start: usize, end: usize) -> usize {
    let at = |index: usize| sums.get(index).or(sums.last()).copied().unwrap_or(0);
    at(end).saturating_sub(at(start))
}
