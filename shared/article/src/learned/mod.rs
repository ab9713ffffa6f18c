//! Decides with a learned model which blocks of a page are its text: decision trees over features, some of which are
//! answers of the rules. `cargo xtask learn` makes the model (`model.bin`, with its card `model.md`). All numbers are
//! integers, so the answers are identical on all machines.

pub(crate) mod features;
mod trees;

use crate::candidates::candidate::Candidate;
use crate::read::outline::Block;
use features::{GROUPS, PageFacts, Row};
use foldhash::HashSet;
use std::sync::LazyLock;
use trees::Trees;

/// The trees; `None` if the file is not a model, which a test rules out.
static MODEL: LazyLock<Option<Trees>> = LazyLock::new(|| trees::read(include_bytes!("model.bin")));

/// Number of blocks below which the rules decide: the model has seen no such pages.
const FEWEST: usize = 30;
/// Width at which a repeated paragraph is no coincidence.
pub(crate) const REPEATED: usize = 50;

#[derive(Clone, Debug)]
pub(crate) struct Answer {
    /// For each block, the logarithm of the odds that it is text, in units of 1/1,024.
    pub(crate) scores: Vec<i32>,
    pub(crate) candidate: Candidate,
}

/// Returns the blocks of a page that are text; `None` if the model rates the rules' answer about as good.
pub(crate) fn decide(evidence: &PageFacts<'_>, table: &[Row]) -> Option<Answer> {
    let trees = MODEL.as_ref().filter(|_| table.len() >= FEWEST)?;
    let scores: Vec<i32> = table.iter().map(|row| trees.score(row)).collect();
    let worth = Worth::new(evidence, table, &scores);
    let (best, kept) = worth.best();
    let rules = worth.value((0..scores.len()).filter(|at| features::is_kept(evidence.best, *at)));
    if rules + u64::from(trees.rules_ahead) >= best {
        return None;
    }
    let left = kept.into_iter().map(|kept| (!kept).then_some("no text"));
    let candidate = Candidate::whole(evidence.outline, "learned", left.collect());
    (candidate.chars > 0).then_some(Answer { scores, candidate })
}

/// Expected F1 of choices of blocks: twice the right words, as a share of those chosen and those of the text.
struct Worth {
    /// For each block, its words (0 if it is hidden or a copy), and the probability that it is text, in 1/65,536.
    blocks: Vec<(u64, u64)>,
    order: Vec<usize>,
    /// Expected number of words that are text, in units of 1/65,536.
    all: u64,
}

/// Denominator of probabilities.
const ONE: u64 = 1 << 16;

impl Worth {
    fn new(evidence: &PageFacts<'_>, table: &[Row], scores: &[i32]) -> Worth {
        let left_out = left_out(&evidence.outline.blocks, &evidence.weighed.hidden);
        let block = |(at, score): (usize, &i32)| {
            let is_out = left_out.get(at) == Some(&true);
            let words = table.get(at).map_or(0, |row| u64::from(row[0].unsigned_abs()) + 1);
            (if is_out { 0 } else { words }, chance(*score))
        };
        let blocks: Vec<(u64, u64)> = scores.iter().enumerate().map(block).collect();
        let mut order: Vec<usize> = (0..scores.len()).collect();
        order.sort_by_key(|at| (scores.get(*at).map(|score| -score), *at));
        let all = blocks.iter().map(|(words, chance)| words * chance).sum();
        Worth { blocks, order, all }
    }

    fn value(&self, chosen: impl Iterator<Item = usize>) -> u64 {
        let (mut right, mut taken) = (0, 0);
        for (words, chance) in chosen.filter_map(|at| self.blocks.get(at)) {
            right += words * chance;
            taken += words * ONE;
        }
        f1(right, taken, self.all)
    }

    fn best(&self) -> (u64, Vec<bool>) {
        let (mut right, mut taken, mut best, mut many) = (0, 0, 0, 0);
        for (place, at) in self.order.iter().enumerate() {
            let (words, chance) = self.blocks.get(*at).copied().unwrap_or_default();
            right += words * chance;
            taken += words * ONE;
            let value = f1(right, taken, self.all);
            if value > best {
                (best, many) = (value, place + 1);
            }
        }
        let mut kept = vec![false; self.blocks.len()];
        for at in self.order.iter().take(many) {
            let has_words = self.blocks.get(*at).is_some_and(|(words, _)| *words > 0);
            if let Some(kept) = kept.get_mut(*at) {
                *kept = has_words;
            }
        }
        (best, kept)
    }
}

/// Returns twice the right words, as a share of those taken and those of the text, in units of 1/65,536.
fn f1(right: u64, taken: u64, all: u64) -> u64 {
    (2 * right).saturating_mul(ONE) / (taken + all).max(1)
}

/// Returns the probability that a block with a score is text, in units of 1/65,536: a logistic curve, interpolated from
/// a table, since machines differ in the last bits of exponentials.
fn chance(score: i32) -> u64 {
    /// `65536 / (1 + exp(-x / 2))` for x from 0.
    const CURVE: [u64; 18] = [
        32_768, 40_793, 47_911, 53_581, 57_724, 60_565, 62_428, 63_615, 64_357, 64_816, 65_097, 65_269, 65_374, 65_438,
        65_476, 65_500, 65_514, 65_523,
    ];
    const STEP: u32 = 512;
    let distance = score.unsigned_abs();
    let (step, rest) = ((distance / STEP) as usize, u64::from(distance % STEP));
    let at = |step: usize| CURVE.get(step).copied().unwrap_or(ONE - 8);
    let above = at(step) + (at(step + 1) - at(step)) * rest / u64::from(STEP);
    if score < 0 { ONE - above } else { above }
}

/// Returns, for each block, whether it is hidden, or a copy of the line before or of an earlier paragraph.
fn left_out(blocks: &[Block], hidden: &[bool]) -> Vec<bool> {
    let mut seen = HashSet::default();
    let mut last = "";
    let mut out = hidden.to_vec();
    for (block, out) in blocks.iter().zip(&mut out).filter(|(_, hidden)| !**hidden) {
        let text = block.text.as_str();
        let is_copy = block.chars >= REPEATED && !seen.insert(text);
        *out = std::mem::replace(&mut last, text) == text || is_copy;
    }
    out
}

pub(crate) fn reasons(table: &[Row], scores: &[i32]) -> Vec<String> {
    const MAX_NAMED: usize = 3;
    let Some(trees) = MODEL.as_ref() else { return Vec::new() };
    let group = |feature: u16| GROUPS.iter().position(|(_, end)| usize::from(feature) < *end).unwrap_or(GROUPS.len());
    let reason = |(row, score): (&Row, &i32)| {
        let sums = trees.contributions(row, GROUPS.len(), group);
        let mut against: Vec<(i32, (&str, usize))> = sums.into_iter().zip(GROUPS).filter(|(sum, _)| *sum < 0).collect();
        against.sort_by_key(|(sum, _)| *sum);
        let named: Vec<&str> = against.into_iter().take(MAX_NAMED).map(|(_, (name, _))| name).collect();
        format!("no text, {:.2} sure: {}", 1.0 - chance(*score) as f64 / ONE as f64, named.join(", "))
    };
    table.iter().zip(scores).map(reason).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Limits, Work, read};

    /// A thread: posts with names, replies and a menu.
    const THREAD: &str = "<html><title>Kettle leaks - Forum</title><body><nav><a href=/>Home</a> <a href=/new>New posts</a></nav>
        <main><h1>Kettle leaks</h1><div class=post><span class=author>ada</span><div class=body>My kettle leaks at the
        handle. I have turned the screw, and it still does.</div></div><div class=post><span class=author>bert</span>
        <div class=body>Mine did, too. There is a ring of rubber below the screw, which costs next to nothing.</div></div>
        </main><footer>© Forum | <a href=/legal>Legal</a></footer></body></html>";
    /// A shop's list: entries with a name and a price.
    const LIST: &str = "<html><title>Kettles</title><body><header><a href=/>Shop</a></header><h1>Kettles</h1><ul class=products>
        <li><a href=/1>Copper kettle</a><p class=price>40</p></li><li><a href=/2>Tin kettle</a><p class=price>12</p></li>
        <li><a href=/3>Glass kettle</a><p class=price>25</p></li></ul><p>We send them anywhere within two days.</p></body></html>";

    #[test]
    fn the_file_is_a_model_and_its_answers_are_these_bits() {
        let trees = MODEL.as_ref().expect("a model");
        let mut told = String::new();
        for html in [THREAD, LIST] {
            let page = "https://example.org/t/1".parse().expect("an address");
            let read = read(html, &page, &Limits::default(), &mut Work::default(), |outline, chosen, _, _| {
                let rows = outline.blocks.iter().zip(&chosen.table);
                rows.map(|(block, row)| format!("{} {}\n", trees.score(row), block.text)).collect::<String>()
            });
            told += &read.expect("a page").1;
        }
        insta::assert_snapshot!(told);
    }

    #[test]
    fn chances_grow_with_scores_and_mirror_each_other() {
        assert_eq!((chance(0), chance(512), chance(i32::MAX), chance(i32::MIN)), (32_768, 40_793, 65_528, 8));
        assert!(
            (-20_000..20_000).all(|score| chance(score) <= chance(score + 1) && chance(score) + chance(-score) == ONE)
        );
    }

    #[test]
    fn every_group_of_features_has_room() {
        assert!(GROUPS.is_sorted_by_key(|(_, end)| *end) && GROUPS[GROUPS.len() - 1].1 == features::FEATURES);
    }
}
