//! The random numbers of a run: one seed gives one sequence.

use curlew_policy::chance::mix;

/// A sequence of numbers that follows from its seed.
#[derive(Clone, Debug)]
pub(super) struct Dice(u64);

impl Dice {
    /// Returns the sequence of a seed for one purpose; every purpose has its own.
    pub(super) fn new(seed: u64, purpose: &str) -> Dice {
        Dice(purpose.bytes().fold(mix(seed), |state, byte| mix(state ^ u64::from(byte))))
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(1);
        mix(self.0)
    }

    pub(super) fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.next() % (high.saturating_sub(low) + 1)
    }

    /// Returns true in `chance` of a hundred cases.
    pub(super) fn percent(&mut self, chance: u64) -> bool {
        self.next() % 100 < chance
    }

    /// Returns one element of `of`, which must not be empty.
    pub(super) fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        let n = usize::try_from(self.next() % of.len() as u64).unwrap_or(0);
        &of[n]
    }
}
