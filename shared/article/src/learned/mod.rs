//! What a block is, learned from labelled pages: features of each block, and trees that say from them whether it is part of the text.
//!
//! Reading, metadata and structured data are rules; their answers are features here. The model (`model.bin`, with its card `model.md`)
//! is made by `cargo xtask learn`. All numbers are integers, so the answers are the same bits on every machine.

pub(crate) mod features;
mod trees;

use features::{FEATURES, GROUPS, Table};
use std::sync::LazyLock;
use trees::Trees;

/// Maximum number of blocks of a page that the model is asked about; the rules read what is longer.
pub(crate) const BLOCKS: usize = 6_000;
/// Distances of the blocks whose first answers the second stage sees, and widths of windows around a block.
const NEIGHBOURS: [isize; 6] = [-3, -2, -1, 1, 2, 3];
const WINDOWS: [usize; 2] = [3, 10];
/// Number of features of the second stage: those of the first, and the first answers around the block.
const ALL_FEATURES: usize = FEATURES + 1 + NEIGHBOURS.len() + WINDOWS.len() + 2 * features::CONTAINERS + 2;
/// What the second stage's own features are called in explanations.
const AROUND: &str = "what stands around it";

/// The first stage and the second.
static MODEL: LazyLock<Option<[Trees; 2]>> = LazyLock::new(|| trees::read(include_bytes!("model.bin")));

/// Returns for each block the logarithm of the odds that it is text, in parts of 1,024; `None` if the page has too many blocks.
pub(crate) fn scores(table: &Table) -> Option<Vec<i32>> {
    let [first, second] = MODEL.as_ref().filter(|_| table.rows.len() <= BLOCKS)?;
    let first: Vec<i32> = table.rows.iter().map(|row| first.score(row)).collect();
    let around = Around::of(table, &first);
    let mut row = [0; ALL_FEATURES];
    let all = (0..table.rows.len()).map(|at| {
        around.fill(at, &mut row);
        second.score(&row)
    });
    Some(all.collect())
}

/// Returns for each block why it is left out if it is no text: how sure the model is, and the groups of features that say so most.
pub(crate) fn reasons(table: &Table, scores: &[i32]) -> Vec<String> {
    /// Number of groups that are named.
    const NAMED: usize = 3;
    let Some([first, second]) = MODEL.as_ref() else { return Vec::new() };
    let first: Vec<i32> = table.rows.iter().map(|row| first.score(row)).collect();
    let around = Around::of(table, &first);
    let group = |feature: u16| GROUPS.iter().position(|(_, end)| usize::from(feature) < *end).unwrap_or(GROUPS.len());
    let mut row = [0; ALL_FEATURES];
    let reason = |(at, score): (usize, &i32)| {
        around.fill(at, &mut row);
        let names = GROUPS.iter().map(|(name, _)| *name).chain([AROUND]);
        let sums = second.contributions(&row, GROUPS.len() + 1, group);
        let mut against: Vec<(i32, &str)> = sums.into_iter().zip(names).filter(|(sum, _)| *sum < 0).collect();
        against.sort_by_key(|(sum, _)| *sum);
        let named: Vec<&str> = against.into_iter().take(NAMED).map(|(_, name)| name).collect();
        let sure = 1.0 / (1.0 + (f64::from(*score) / 1_024.0).exp());
        format!("no text, {sure:.2} sure, by {}", named.join(", "))
    };
    scores.iter().enumerate().map(reason).collect()
}

/// The first stage's answers and their sums, for the second.
struct Around<'t> {
    table: &'t Table,
    first: Vec<i64>,
    /// Sums over the blocks before each: of the answers, of the answers times words, of words, and of words that are kept.
    sums: Vec<[i64; 4]>,
}

impl Around<'_> {
    fn of<'t>(table: &'t Table, first: &[i32]) -> Around<'t> {
        let first: Vec<i64> = first.iter().map(|score| i64::from(cut((*score).into()))).collect();
        let mut sums = vec![[0; 4]];
        let mut sum = [0; 4];
        for (score, row) in first.iter().zip(&table.rows) {
            let words = i64::from(row[0]);
            let more = [*score, score * words, words, if *score > 0 { words } else { 0 }];
            for (sum, more) in sum.iter_mut().zip(more) {
                *sum += more;
            }
            sums.push(sum);
        }
        Around { table, first, sums }
    }

    fn between(&self, start: usize, end: usize) -> [i64; 4] {
        let at = |index: usize| self.sums.get(index).or(self.sums.last()).copied().unwrap_or_default();
        let (before, behind) = (at(start), at(end));
        std::array::from_fn(|n| behind[n] - before[n])
    }

    /// Fills in the features of a block for the second stage.
    fn fill(&self, at: usize, out: &mut [i16; ALL_FEATURES]) {
        let (own, around) = out.split_at_mut(FEATURES);
        let Some(row) = self.table.rows.get(at) else { return };
        own.copy_from_slice(row);
        let score = |at: Option<usize>| at.and_then(|at| self.first.get(at)).copied().unwrap_or(i16::MIN.into());
        let many = self.first.len();
        let neighbours = NEIGHBOURS.iter().map(|distance| score(at.checked_add_signed(*distance)));
        let windows = WINDOWS.iter().map(|width| {
            let (start, end) = (at.saturating_sub(*width), (at + width + 1).min(many));
            self.between(start, end)[0].div_euclid((end - start) as i64)
        });
        let containers = self.table.containers.get(at).into_iter().flatten().flat_map(|(start, end)| {
            let [_, weighed, words, kept] = self.between(*start, *end);
            [weighed.div_euclid(words.max(1)), (kept * 1_000).div_euclid(words.max(1))]
        });
        let [_, _, words, kept] = self.between(0, many);
        let page = [(kept * 1_000).div_euclid(words.max(1)), kept];
        let all = [score(Some(at))].into_iter().chain(neighbours).chain(windows).chain(containers).chain(page);
        for (slot, number) in around.iter_mut().zip(all) {
            *slot = cut(number);
        }
    }
}

/// Returns the nearest number of 16 bits.
fn cut(number: i64) -> i16 {
    i16::try_from(number.clamp(i16::MIN.into(), i16::MAX.into())).unwrap_or_default()
}
