//! Sums over runs of blocks, so that each of many runs is weighed in one step.

use crate::read::outline::Block;

/// Width of running text from which a part is no navigation, whatever its name says.
pub(crate) const NO_MENU: usize = 1_000;

/// Returns for each of `blocks` blocks true if it lies in one of the runs. Runs nest, and a page may have very many of
/// them, so only their beginnings and ends are counted.
pub(crate) fn covered(blocks: usize, runs: impl Iterator<Item = (usize, usize)>) -> Vec<bool> {
    let mut change = vec![0_i32; blocks + 1];
    for (start, end) in runs {
        change.get_mut(start).into_iter().for_each(|n| *n += 1);
        change.get_mut(end).into_iter().for_each(|n| *n -= 1);
    }
    let mut open = 0;
    change
        .iter()
        .take(blocks)
        .map(|n| {
            open += n;
            open > 0
        })
        .collect()
}

/// Returns the running sums of a number of each block, beginning with zero.
pub(crate) fn sums(blocks: &[Block], number: impl Fn(&Block) -> usize) -> Vec<usize> {
    let mut out = vec![0];
    let mut sum = 0;
    for block in blocks {
        sum += number(block);
        out.push(sum);
    }
    out
}

/// Returns the sum from one block up to another.
pub(crate) fn between(sums: &[usize], start: usize, end: usize) -> usize {
    let at = |index: usize| sums.get(index).or(sums.last()).copied().unwrap_or(0);
    at(end).saturating_sub(at(start))
}
