//! Pseudo-random numbers as pure functions of a seed.

/// Returns the next number of a well-mixed sequence (SplitMix64, Steele et al. 2014).
pub const fn mix(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// Returns a number above 0 and at most 1.
pub fn unit(seed: u64) -> f64 {
    // A double holds 53 bits exactly. Adding one excludes zero, which has no logarithm.
    ((mix(seed) >> 11) + 1) as f64 / (1u64 << 53) as f64
}

/// Returns a whole number from `low` to `high`, inclusive; `low` if `high` is less.
pub const fn between(seed: u64, low: u64, high: u64) -> u64 {
    if high <= low {
        return low;
    }
    let span = (high - low).wrapping_add(1);
    if span == 0 { mix(seed) } else { low + mix(seed) % span }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_within_their_bounds() {
        for seed in 0..10_000 {
            let u = unit(seed);
            assert!(u > 0.0 && u <= 1.0);
            assert!((3..=7).contains(&between(seed, 3, 7)));
        }
        assert_eq!(between(1, 9, 3), 9);
    }
}
