//! A histogram of durations.

use curlew_model::Millis;

/// Upper bounds of the buckets, in milliseconds: from a quick search to a poll that is a day late.
const BOUNDS: [u64; 16] = [
    5, 20, 50, 100, 250, 500, 1_000, 2_500, 5_000, 15_000, 60_000, 300_000, 1_800_000, 7_200_000, 28_800_000,
    86_400_000,
];

/// Number of durations in each bucket, and their sum.
#[derive(Clone, Debug, Default)]
pub struct Histogram {
    /// Counts of durations: one for each bound, and one for longer durations.
    counts: [u64; BOUNDS.len() + 1],
    /// Sum of all durations, in milliseconds.
    sum: u64,
}

impl Histogram {
    /// Counts a duration.
    pub fn observe(&mut self, time: Millis) {
        let bucket = BOUNDS.partition_point(|bound| *bound < time.0);
        self.counts[bucket] += 1;
        self.sum = self.sum.saturating_add(time.0);
    }

    /// Returns the number of durations.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Returns the number of durations that are longer than `time`, which must be the bound of a bucket.
    pub fn longer_than(&self, time: Millis) -> u64 {
        self.counts[BOUNDS.partition_point(|bound| *bound <= time.0)..].iter().sum()
    }

    /// Returns the sum of all durations, in seconds.
    pub fn seconds(&self) -> f64 {
        self.sum as f64 / 1_000.0
    }

    /// Returns each bucket's upper bound in seconds (the last is infinite) and its number of durations, not cumulated.
    pub fn buckets(&self) -> Vec<(f64, u64)> {
        let bounds = BOUNDS.iter().map(|ms| *ms as f64 / 1_000.0).chain([f64::INFINITY]);
        bounds.zip(self.counts).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_observation_counts_in_the_first_bucket_that_holds_it() {
        let mut histogram = Histogram::default();
        for ms in [0, 5, 6, 1_000, u64::MAX] {
            histogram.observe(Millis(ms));
        }
        let filled: Vec<(f64, u64)> = histogram.buckets().into_iter().filter(|(_, count)| *count > 0).collect();
        assert_eq!(filled, [(0.005, 2), (0.02, 1), (1.0, 1), (f64::INFINITY, 1)]);
        assert_eq!(histogram.count(), 5);
        assert_eq!([5, 20, 1_000].map(|ms| histogram.longer_than(Millis(ms))), [3, 2, 1]);
    }
}
