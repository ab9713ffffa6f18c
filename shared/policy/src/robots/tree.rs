//! A prefix tree of rules by what stands before their first star.
//!
//! It is kept flat: the rules in the order of their prefixes, in which all that share a beginning lie side by side. Going
//! down one octet narrows the range, so a walk takes as many steps as the path is long, and each costs a search by halves.

/// Ranks of rules in the order of their prefixes.
#[derive(Clone, Debug, Default)]
pub(super) struct Tree(Box<[u32]>);

impl Tree {
    /// The tree of these prefixes; the rank of each is its place.
    pub(super) fn of<'a>(prefixes: impl Iterator<Item = &'a [u8]>) -> Tree {
        let mut order: Vec<(&[u8], u32)> = prefixes.zip(0..).collect();
        order.sort_unstable();
        Tree(order.into_iter().map(|(_, rank)| rank).collect())
    }

    /// Ranks of the rules whose prefix the path begins with, best first. `prefix_of` gives the prefix of a rank.
    pub(super) fn met<'a>(&self, path: &[u8], prefix_of: impl Fn(u32) -> &'a [u8]) -> Vec<u32> {
        let mut met = Vec::new();
        let mut range = &*self.0;
        for depth in 0..=path.len() {
            // Of those that share the path so far, the ones that end here come first.
            let end = range.partition_point(|rank| prefix_of(*rank).len() == depth);
            let (ending, longer) = range.split_at(end);
            met.extend_from_slice(ending);
            let Some(next) = path.get(depth) else { break };
            let octet = |rank: &u32| prefix_of(*rank).get(depth).copied().unwrap_or_default();
            let low = longer.partition_point(|rank| octet(rank) < *next);
            let high = low + longer.get(low..).unwrap_or_default().partition_point(|rank| octet(rank) == *next);
            range = longer.get(low..high).unwrap_or_default();
            if range.is_empty() {
                break;
            }
        }
        met.sort_unstable();
        met
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_the_path_begins_with_and_nothing_else() {
        let prefixes: Vec<&[u8]> = vec![b"/ab", b"", b"/", b"/abc", b"/b", b"/ab", b"/\xFF", b"/ab/"];
        let tree = Tree::of(prefixes.iter().copied());
        for path in [&b"/abc/d"[..], b"/ab", b"/a", b"/", b"", b"/b", b"/ab/x", b"/\xFF\xFF", b"x"] {
            let obvious: Vec<u32> = (0..).zip(&prefixes).filter(|(_, p)| path.starts_with(p)).map(|(n, _)| n).collect();
            assert_eq!(tree.met(path, |rank| prefixes[rank as usize]), obvious, "{path:?}");
        }
        assert!(Tree::default().met(b"/a", |_| &[]).is_empty());
    }
}
