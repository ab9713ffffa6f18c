//! Sets of the words of a query.

use crate::MAX_QUERY_TERMS;
use std::ops::{BitAnd, BitOr, Sub};

/// Set with one bit per word or phrase of a query.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Bits([u64; MAX_QUERY_TERMS.div_ceil(64)]);

impl Bits {
    /// Adds a bit; one beyond the maximum is ignored.
    pub(crate) fn insert(&mut self, bit: usize) {
        self.0.iter_mut().skip(bit / 64).take(1).for_each(|part| *part |= 1 << (bit % 64));
    }

    pub(crate) fn contains(self, bit: usize) -> bool {
        self.0.get(bit / 64).is_some_and(|part| part & (1 << (bit % 64)) != 0)
    }

    pub(crate) fn is_empty(self) -> bool {
        self == Bits::default()
    }

    pub(crate) fn count(self) -> usize {
        self.0.iter().map(|part| part.count_ones() as usize).sum()
    }

    fn zip(self, other: Bits, with: impl Fn(u64, u64) -> u64) -> Bits {
        Bits(std::array::from_fn(|at| with(self.0[at], other.0[at])))
    }
}

impl BitOr for Bits {
    type Output = Bits;

    fn bitor(self, other: Bits) -> Bits {
        self.zip(other, |one, two| one | two)
    }
}

impl BitAnd for Bits {
    type Output = Bits;

    fn bitand(self, other: Bits) -> Bits {
        self.zip(other, |one, two| one & two)
    }
}

impl Sub for Bits {
    type Output = Bits;

    fn sub(self, other: Bits) -> Bits {
        self.zip(other, |one, two| one & !two)
    }
}

impl FromIterator<usize> for Bits {
    fn from_iter<I: IntoIterator<Item = usize>>(bits: I) -> Bits {
        let mut all = Bits::default();
        bits.into_iter().for_each(|bit| all.insert(bit));
        all
    }
}

/// Returns the set of the indexes of true flags.
pub(crate) fn bits(flags: impl Iterator<Item = bool>) -> Bits {
    flags.enumerate().filter(|(_, flag)| *flag).map(|(bit, _)| bit).collect()
}
