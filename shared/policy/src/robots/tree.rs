//! A prefix tree of rules by the part before their first star: a flat list of the rules, sorted by prefix, each with
//! its parent, which is the longest other prefix that it begins with.
//!
//! The greatest prefix that is not greater than a path begins with every rule's prefix that the path begins with. So
//! one binary search finds a node, and the matching rules are that node and its ancestors, or some of them.

use super::pattern::{Steps, TooManySteps};

#[derive(Clone, Debug, Default)]
pub(super) struct Tree(Box<[Node]>);

#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    rank: u32,
    /// Position, counted from one, of the longest prefix that this one begins with.
    parent: Option<std::num::NonZeroU32>,
}

impl Tree {
    pub(super) const BYTES_PER_RULE: usize = size_of::<Node>();

    /// Builds the tree of these prefixes, whose positions are their ranks.
    pub(super) fn from_prefixes<'a>(prefixes: impl Iterator<Item = &'a [u8]>) -> Tree {
        let mut order: Vec<(&[u8], u32)> = prefixes.zip(0..).collect();
        order.sort_unstable();
        let mut open: Vec<(&[u8], u32)> = Vec::new();
        let nodes = order.into_iter().zip(1..).map(|((prefix, rank), place)| {
            while open.pop_if(|(above, _)| !prefix.starts_with(above)).is_some() {}
            let parent = open.last().and_then(|(_, place)| std::num::NonZeroU32::new(*place));
            open.push((prefix, place));
            Node { rank, parent }
        });
        Tree(nodes.collect())
    }

    /// Returns the ranks of the rules whose prefix is a prefix of the path, best first.
    pub(super) fn met<'a>(
        &self,
        path: &[u8],
        steps: &mut Steps,
        prefix_of: impl Fn(u32) -> &'a [u8],
    ) -> Result<Vec<u32>, TooManySteps> {
        // All prefixes before `low` are not greater than the path; all from `high` on are greater.
        let (mut low, mut high, mut shared) = (0, self.0.len(), 0);
        while low < high {
            let middle = low.midpoint(high);
            let Some(node) = self.0.get(middle) else { break };
            let prefix = prefix_of(node.rank);
            let alike = prefix.iter().zip(path).take_while(|(a, b)| a == b).count();
            steps.spend(1 + alike)?;
            if prefix.get(alike) <= path.get(alike) {
                (low, shared) = (middle + 1, alike);
            } else {
                high = middle;
            }
        }
        let mut met = Vec::new();
        let mut next = low.checked_sub(1);
        while let Some(node) = next.and_then(|place| self.0.get(place)) {
            steps.spend(1)?;
            if prefix_of(node.rank).len() <= shared {
                met.push(node.rank);
            }
            next = node.parent.map(|place| place.get() as usize - 1);
        }
        met.sort_unstable();
        Ok(met)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn met(prefixes: &[Vec<u8>], path: &[u8]) -> (Vec<u32>, u64) {
        let tree = Tree::from_prefixes(prefixes.iter().map(Vec::as_slice));
        let mut steps = Steps::new(u64::MAX);
        let met = tree.met(path, &mut steps, |rank| &prefixes[rank as usize]).unwrap_or_default();
        (met, u64::MAX - steps.left())
    }

    #[test]
    fn all_that_the_path_begins_with_and_nothing_else() {
        let prefixes: Vec<Vec<u8>> =
            [&b"/ab"[..], b"", b"/", b"/abc", b"/b", b"/ab", b"/\xFF", b"/ab/"].map(Vec::from).into();
        for path in [&b"/abc/d"[..], b"/ab", b"/a", b"/", b"", b"/b", b"/ab/x", b"/\xFF\xFF", b"x"] {
            let obvious: Vec<u32> = (0..).zip(&prefixes).filter(|(_, p)| path.starts_with(p)).map(|(n, _)| n).collect();
            assert_eq!(met(&prefixes, path).0, obvious, "{path:?}");
        }
        assert!(met(&[], b"/a").0.is_empty());
    }

    proptest::proptest! {
        #[test]
        fn agrees_with_asking_each_prefix(
            prefixes in proptest::collection::vec("[ab]{0,6}", 0..24), path in "[ab]{0,8}"
        ) {
            let prefixes: Vec<Vec<u8>> = prefixes.into_iter().map(String::into_bytes).collect();
            let path = path.as_bytes();
            let obvious: Vec<u32> = (0..).zip(&prefixes).filter(|(_, p)| path.starts_with(p)).map(|(n, _)| n).collect();
            proptest::prop_assert_eq!(met(&prefixes, path).0, obvious);
        }
    }

    #[test]
    fn r24_a_descent_compares_the_path_once_for_each_halving_of_the_rules() {
        for (rules, octets) in [(1, 16_000), (30, 16_000), (30, 32_000), (1_000, 400)] {
            let path = b"a".repeat(octets);
            let alike = vec![path.clone(); rules];
            let each_longer: Vec<Vec<u8>> = (0..rules).map(|n| b"a".repeat(n * octets / rules)).collect();
            let late: Vec<Vec<u8>> = (0..rules).map(|n| [&path[..octets - n % 9], b"b"].concat()).collect();
            for prefixes in [alike, each_longer, late] {
                let (_, spent) = met(&prefixes, &path);
                let halvings = rules.ilog2() as usize + 1;
                assert!(spent <= (halvings * (octets + 1) + rules) as u64, "{rules} {octets} {spent}");
            }
        }
    }
}
