//! Surroundings of a block: the elements around it, their tags and names. They are features of the learned model.

use crate::lists::NAMES;
use foldhash::HashMap;
use std::sync::LazyLock;

/// Tags that are counted among the elements around a block.
static TAGS: LazyLock<Vec<&str>> = LazyLock::new(|| {
    let tags = "nav header footer aside main article form table ul ol li section figure dl blockquote details button \
                label a pre";
    tags.split(' ').collect()
});
const TAG_COUNT: usize = 20;
/// Number of containers around a block whose serial numbers are kept.
pub(crate) const CONTAINERS: usize = 5;
/// Number of innermost elements whose names count as near.
const NEAR: usize = 4;

/// Words of names, one bit each, in the order of their list.
pub(crate) type NameBits = u128;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Surroundings {
    pub(crate) depth: u16,
    pub(crate) tags: [u8; TAG_COUNT],
    pub(crate) names: NameBits,
    pub(crate) near: NameBits,
    /// Hash of the tags from the root to it, and one that adds the classes of the nearest elements.
    pub(crate) path: u64,
    pub(crate) styled: u64,
    /// Serial numbers of the block elements around it, the innermost first; 0 if there are no more.
    pub(crate) containers: [usize; CONTAINERS],
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Around {
    depth: u16,
    tags: [u8; TAG_COUNT],
    names: NameBits,
    own: NameBits,
    path: u64,
    classes: u64,
    /// Serial number of the element; 0 for an inline element.
    serial: usize,
}

impl Around {
    pub(crate) fn inner(&self, tag: &str, own: NameBits, classes: u64, serial: usize) -> Around {
        let mut tags = self.tags;
        if let Some(count) = TAGS.iter().position(|known| *known == tag).and_then(|at| tags.get_mut(at)) {
            *count = count.saturating_add(1);
        }
        Around {
            depth: self.depth.saturating_add(1),
            tags,
            names: self.names | own,
            own,
            path: hash(self.path, tag.as_bytes()),
            classes,
            serial,
        }
    }
}

impl Surroundings {
    /// Returns the surroundings of a block in these open elements, the innermost last; `level` is a heading's, or 0.
    pub(crate) fn within<'o>(open: impl DoubleEndedIterator<Item = &'o Around> + Clone, level: u8) -> Surroundings {
        let Some(last) = open.clone().next_back() else { return Surroundings::default() };
        let near = open.clone().rev().take(NEAR);
        let mut containers = [0; CONTAINERS];
        let around = open.rev().map(|around| around.serial).filter(|serial| *serial > 0);
        for (slot, serial) in containers.iter_mut().zip(around) {
            *slot = serial;
        }
        Surroundings {
            depth: last.depth,
            tags: last.tags,
            names: last.names,
            near: near.clone().fold(0, |names, around| names | around.own),
            path: hash(last.path, &[level]),
            styled: near.fold(last.path, |hash, around| hash.rotate_left(17) ^ around.classes),
            containers,
        }
    }
}

pub(crate) fn hash(seed: u64, bytes: &[u8]) -> u64 {
    bytes.iter().chain(&[0]).fold(seed, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Returns the words of names: runs of letters, split before capital letters, without a plural `s`.
pub(crate) fn words_of(names: &str) -> NameBits {
    let (mut bits, mut word, mut was_small) = (0, 0, false);
    for byte in names.bytes().chain([b' ']) {
        if word > 0 && (!byte.is_ascii_alphabetic() || (byte.is_ascii_uppercase() && was_small)) {
            bits |= bit_of(word);
            word = 0;
        }
        was_small = byte.is_ascii_lowercase();
        if byte.is_ascii_alphabetic() {
            word = packed(word, byte.to_ascii_lowercase());
        }
    }
    bits
}

/// Last 16 letters of a word; all words in the list are shorter.
type Packed = u128;

fn packed(word: Packed, letter: u8) -> Packed {
    word << 8 | Packed::from(letter)
}

static BITS: LazyLock<HashMap<Packed, NameBits>> =
    LazyLock::new(|| NAMES.iter().enumerate().map(|(at, name)| (name.bytes().fold(0, packed), 1 << at)).collect());

fn bit_of(word: Packed) -> NameBits {
    let without_s = || BITS.get(&(word >> 8)).filter(|_| word & 0xFF == Packed::from(b's'));
    BITS.get(&word).or_else(without_s).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_words_split_at_signs_and_capital_letters() {
        let bit = |word: &str| 1_u128 << NAMES.binary_search(&word).expect("a word");
        assert_eq!(
            words_of("post-list__Items mainContent x9"),
            bit("post") | bit("list") | bit("item") | bit("main") | bit("content")
        );
        assert_eq!(words_of(""), 0);
        assert!(NAMES.is_sorted() && NAMES.len() <= 128 && NAMES.iter().all(|name| name.len() < 16));
    }
}
