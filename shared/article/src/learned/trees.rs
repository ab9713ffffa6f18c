//! Reads the model's file and evaluates its trees. The file begins with the advantage of the rules and the number of
//! trees, each tree with the number of its leaves; all numbers are little-endian integers.

#[derive(Clone, Copy, Debug)]
struct Node {
    feature: u16,
    threshold: i16,
    /// Next node if the feature is at most the threshold, and if it is more. Negative numbers are leaves, from -1 on.
    at_most: i8,
    more: i8,
}

#[derive(Debug, Default)]
struct Tree {
    nodes: Vec<Node>,
    leaves: Vec<i16>,
}

#[derive(Debug, Default)]
pub(crate) struct Trees {
    /// Advantage of the rules over the model, in units of 1/65,536 of expected F1.
    pub(crate) rules_ahead: u16,
    trees: Vec<Tree>,
}

struct Stop {
    trees: usize,
    /// Sums of at most `low`, or at least `high`, are certain.
    low: i32,
    high: i32,
    times: i32,
}

const STOPS: [Stop; 2] =
    [Stop { trees: 16, low: -700, high: i32::MAX, times: 4 }, Stop { trees: 60, low: -2_560, high: 2_560, times: 1 }];

struct TreeReader<'b>(&'b [u8]);

impl TreeReader<'_> {
    fn bytes<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (bytes, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*bytes)
    }

    fn node(&mut self) -> Option<Node> {
        Some(Node {
            feature: u16::from_le_bytes(self.bytes()?),
            threshold: i16::from_le_bytes(self.bytes()?),
            at_most: i8::from_le_bytes(self.bytes()?),
            more: i8::from_le_bytes(self.bytes()?),
        })
    }

    fn tree(&mut self) -> Option<Tree> {
        let [leaves] = self.bytes()?;
        let nodes = (1..leaves).map(|_| self.node()).collect::<Option<Vec<Node>>>()?;
        let leaves = (0..leaves).map(|_| self.bytes().map(i16::from_le_bytes)).collect::<Option<Vec<i16>>>()?;
        // If each node leads to later ones, every path ends.
        let leads_on = |(at, node): (usize, &Node)| {
            [node.at_most, node.more].into_iter().all(|next| usize::try_from(next).map_or(true, |next| next > at))
        };
        nodes.iter().enumerate().all(leads_on).then_some(Tree { nodes, leaves })
    }
}

/// Reads the trees of a model; `None` if the file has the wrong length, or a path that leads back.
pub(crate) fn read(file: &[u8]) -> Option<Trees> {
    let mut reader = TreeReader(file);
    let rules_ahead = u16::from_le_bytes(reader.bytes()?);
    let many = u16::from_le_bytes(reader.bytes()?);
    let trees = (0..many).map(|_| reader.tree()).collect::<Option<Vec<Tree>>>()?;
    reader.0.is_empty().then_some(Trees { rules_ahead, trees })
}

impl Tree {
    /// Returns the value of the leaf that a row reaches; passes each feature on the way to `passed`.
    fn value(&self, row: &[i16], mut passed: impl FnMut(u16)) -> i32 {
        let mut at = 0_i8;
        // A negative number is that of a leaf and ends the loop.
        while let Some(node) = self.nodes.get(at as usize) {
            passed(node.feature);
            let value = row.get(usize::from(node.feature)).copied().unwrap_or_default();
            at = if value <= node.threshold { node.at_most } else { node.more };
        }
        let leaf = usize::from(at.unsigned_abs()).saturating_sub(1);
        self.leaves.get(leaf).copied().unwrap_or_default().into()
    }
}

impl Trees {
    /// Returns the logarithm of the odds that a row is text, in 1/1,024; stops early if the first trees are certain.
    pub(crate) fn score(&self, row: &[i16]) -> i32 {
        let (mut sum, mut asked) = (0, 0);
        let mut ask = |until: usize| {
            let some = self.trees.get(asked..until.min(self.trees.len())).unwrap_or_default();
            sum += some.iter().map(|tree| tree.value(row, |_| ())).sum::<i32>();
            asked = until;
            sum
        };
        for stop in STOPS {
            let answer = ask(stop.trees);
            if answer <= stop.low || answer >= stop.high {
                return answer * stop.times;
            }
        }
        ask(usize::MAX)
    }

    /// Returns what each group adds to the score: the features on a path share the tree's value, less its mean.
    pub(crate) fn contributions(&self, row: &[i16], groups: usize, group: impl Fn(u16) -> usize) -> Vec<i32> {
        let mut sums = vec![0; groups];
        for tree in &self.trees {
            let mut asked = Vec::new();
            let value = tree.value(row, |feature| asked.push(group(feature)));
            let many = i32::try_from(tree.leaves.len()).unwrap_or(i32::MAX).max(1);
            let mean = tree.leaves.iter().map(|leaf| i32::from(*leaf)).sum::<i32>() / many;
            let share = (value - mean) / i32::try_from(asked.len()).unwrap_or(i32::MAX).max(1);
            for group in asked {
                if let Some(sum) = sums.get_mut(group) {
                    *sum += share;
                }
            }
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_goes_left_up_to_its_threshold_and_a_short_file_is_none() {
        let mut file = vec![0, 0, 1, 0, 2, 1, 0, 5, 0, 255, 254, 10, 0, 246, 255];
        let trees = read(&file).expect("a model");
        assert_eq!((trees.score(&[0, 5]), trees.score(&[0, 6]), trees.score(&[])), (10, -10, 10));
        assert_eq!(trees.contributions(&[0, 5], 2, usize::from), [0, 10]);
        file.pop();
        assert!(read(&file).is_none());
    }

    #[test]
    fn a_tree_that_goes_in_a_circle_is_none() {
        assert!(read(&[0, 0, 1, 0, 2, 0, 0, 0, 0, 0, 0, 10, 0, 246, 255]).is_none());
    }
}
