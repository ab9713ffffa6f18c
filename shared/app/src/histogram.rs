//! Lengths of time, counted by size.

use curlew_model::Millis;

/// Upper bounds of the buckets, in milliseconds: from a quick search to a poll that is a day late.
const BOUNDS: [u64; 16] = [
    5, 20, 50, 100, 250, 500, 1_000, 2_500, 5_000, 15_000, 60_000, 300_000, 1_800_000, 7_200_000, 28_800_000,
    86_400_000,
];

/// Number of observations in each bucket, and their sum.
#[derive(Clone, Debug, Default)]
pub struct Histogram {
    /// Counts: one for each bound, and one for longer times.
    counts: [u64; BOUNDS.len() + 1],
    /// In milliseconds.
    sum: u64,
}

impl Histogram {
    /// Counts an observation.
    pub fn observe(&mut self, time: Millis) {
        let bucket = BOUNDS.partition_point(|bound| *bound < time.0);
        self.counts[bucket] += 1;
        self.sum = self.sum.saturating_add(time.0);
    }

    /// Returns the number of observations.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Returns the number of observations that are longer than a time, which is one of the buckets' bounds.
    pub fn longer_than(&self, time: Millis) -> u64 {
        self.counts[BOUNDS.partition_point(|bound| *bound <= time.0)..].iter().sum()
    }

    /// Returns the sum of all observations, in seconds.
    pub fn seconds(&self) -> f64 {
        self.sum as f64 / 1_000.0
    }

    /// Returns the upper bound of each bucket in seconds, the last one infinite, with its own observations.
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
