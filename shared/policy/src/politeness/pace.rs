//! The pause between two calls to one host key.

use crate::chance::{between, mix, unit};
use crate::rules::Rules;
use curlew_model::{HostState, Millis, Timestamp, TokenBucket};

const ONE_CALL: u64 = 1_000;

/// Returns the pause after a call: the longest of the random jitter, the random exponential gap and the other limits.
pub fn pause(state: &HostState, rules: &Rules, seed: u64) -> Millis {
    let jitter = Millis(between(seed, rules.jitter.0.0, rules.jitter.1.0));
    let gap = Millis((-unit(mix(seed)).ln() * rules.poisson_mean.0 as f64) as u64);
    // The exponential distribution has no upper bound.
    let gap = gap.min(rules.crawl_delay_cap);
    demands(state, rules).into_iter().map(|(_, least)| least).fold(jitter.max(gap), Millis::max)
}

/// Returns a Crawl-delay that is above the maximum pause; the host's feeds are polled at most once in that time.
pub fn beyond_cap(crawl_delay: Option<Millis>, rules: &Rules) -> Option<Millis> {
    crawl_delay.filter(|delay| *delay > rules.crawl_delay_cap)
}

/// Returns the name of the limit that determines the pause, and the pause without its random part.
pub fn ruled_by(state: &HostState, rules: &Rules) -> (&'static str, Millis) {
    let [first, rest @ ..] = demands(state, rules);
    rest.into_iter().fold(first, |longest, next| if next.1 > longest.1 { next } else { longest })
}

fn demands(state: &HostState, rules: &Rules) -> [(&'static str, Millis); 3] {
    let slow = Millis((state.last_response.0 as f64 * rules.response_factor) as u64);
    [
        ("least_pause", rules.min_pause),
        ("crawl_delay", state.crawl_delay.min(rules.crawl_delay_cap)),
        ("response_time", slow),
    ]
}

/// Returns when the next call may start: after the pause, and once the burst allowance permits a call.
pub fn next_call_at(state: &HostState, rules: &Rules, now: Timestamp) -> Timestamp {
    let bucket = filled(state.bucket, rules, now);
    let missing = ONE_CALL.saturating_sub(bucket.milli_tokens);
    let refill = rules.refill.0.saturating_mul(missing).div_ceil(ONE_CALL);
    state.not_before.max(now + Millis(refill))
}

/// Returns the burst allowance after one call that ended at `now`.
pub fn spend(bucket: Option<TokenBucket>, rules: &Rules, now: Timestamp) -> TokenBucket {
    let full = filled(bucket, rules, now);
    TokenBucket { milli_tokens: full.milli_tokens.saturating_sub(ONE_CALL), at: full.at }
}

fn filled(bucket: Option<TokenBucket>, rules: &Rules, now: Timestamp) -> TokenBucket {
    let capacity = u64::from(rules.burst) * ONE_CALL;
    let Some(b) = bucket else { return TokenBucket { milli_tokens: capacity, at: now } };
    if rules.refill == Millis::ZERO {
        return TokenBucket { milli_tokens: capacity, at: now };
    }
    let grown = now.since(b.at).0.saturating_mul(ONE_CALL) / rules.refill.0;
    if grown == 0 {
        // The old instant is kept: otherwise many short steps would never add up to a thousandth.
        return TokenBucket { milli_tokens: b.milli_tokens.min(capacity), at: b.at };
    }
    TokenBucket { milli_tokens: b.milli_tokens.saturating_add(grown).min(capacity), at: now }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_longest_pause_asked_for_wins() {
        let rules = Rules::default();
        let calm = HostState::default();
        for seed in 0..1_000 {
            assert!(pause(&calm, &rules, seed) >= rules.min_pause);
        }
        let slow = HostState { last_response: Millis::from_secs(20), ..HostState::default() };
        assert!(pause(&slow, &rules, 1) >= Millis::from_secs(20));
        let asks = HostState { crawl_delay: Millis::from_hours(5), ..HostState::default() };
        assert_eq!(pause(&asks, &rules, 1), rules.crawl_delay_cap);
    }

    #[test]
    fn the_mean_pause_is_that_of_its_largest_part() {
        let rules = Rules::default();
        let mean = (0..20_000).map(|s| pause(&HostState::default(), &rules, s).0).sum::<u64>() / 20_000;
        // max(1 s, Exp(1 s)) has the mean 1 s + 1 s / e; the jitter adds a little.
        assert!((1_350..1_450).contains(&mean), "{mean} ms");
    }

    #[test]
    fn the_jitter_is_uniform_between_its_bounds_and_the_gap_that_of_poisson_arrivals() {
        let only = |jitter: (Millis, Millis), mean: Millis| {
            let rules = Rules { min_pause: Millis::ZERO, jitter, poisson_mean: mean, ..Rules::default() };
            (0..40_000).map(|seed| pause(&HostState::default(), &rules, seed).0).collect::<Vec<u64>>()
        };
        let jitter = only(Rules::default().jitter, Millis::ZERO);
        assert_eq!((jitter.iter().min(), jitter.iter().max()), (Some(&500), Some(&1_200)));
        let below = |pauses: &[u64], ms: u64| pauses.iter().filter(|p| **p < ms).count() as f64 / pauses.len() as f64;
        assert!((below(&jitter, 850) - 0.5).abs() < 0.01);
        // P(gap < t) = 1 - exp(-λ t) with λ = 1/s.
        let gaps = only((Millis::ZERO, Millis::ZERO), Millis::from_secs(1));
        for (ms, share) in [(100, 0.095_2), (693, 0.5), (1_000, 0.632_1), (3_000, 0.950_2)] {
            assert!((below(&gaps, ms) - share).abs() < 0.01, "{ms} ms: {}", below(&gaps, ms));
        }
    }

    #[test]
    fn who_rules_the_pause_is_told() {
        let rules = Rules { response_factor: 2.0, ..Rules::default() };
        let state =
            |took, delay| HostState { last_response: Millis(took), crawl_delay: Millis(delay), ..HostState::default() };
        assert_eq!(ruled_by(&state(300, 0), &rules), ("least_pause", Millis(1_000)));
        assert_eq!(ruled_by(&state(3_000, 5_000), &rules), ("response_time", Millis(6_000)));
        assert_eq!(ruled_by(&state(3_000, 9_000), &rules), ("crawl_delay", Millis(9_000)));
    }

    #[test]
    fn a_burst_ends_where_the_bucket_is_empty() {
        let rules = Rules { burst: 2, refill: Millis(10_000), ..Rules::default() };
        let now = Timestamp::from_millis(1_000_000);
        let mut state = HostState::default();
        for _ in 0..2 {
            assert_eq!(next_call_at(&state, &rules, now), now);
            state.bucket = Some(spend(state.bucket, &rules, now));
        }
        assert_eq!(next_call_at(&state, &rules, now), now + Millis(10_000));
        assert_eq!(next_call_at(&state, &rules, now + Millis(4_000)), now + Millis(10_000));
    }

    proptest! {
        #[test]
        fn h16_the_pause_is_never_shorter_than_anything_that_demands_one(
            took in 0u64..60_000, delay in 0u64..600_000, factor in 0.0f64..5.0, seed: u64,
        ) {
            let rules = Rules { response_factor: factor, ..Rules::default() };
            let state = HostState {
                last_response: Millis(took), crawl_delay: Millis(delay), ..HostState::default()
            };
            let pause = pause(&state, &rules, seed);
            prop_assert!(pause >= Millis::from_secs(1));
            prop_assert!(pause >= Millis(delay).min(rules.crawl_delay_cap));
            prop_assert!(pause.0 >= (took as f64 * factor) as u64);
            prop_assert!(pause >= ruled_by(&state, &rules).1);
            let usual = 60_000.max((took as f64 * factor) as u64);
            prop_assert!(pause.0 <= usual.max(delay), "and nothing else lengthens it");
        }

        #[test]
        fn r26_a_crawl_delay_slows_down_up_to_its_cap_and_is_never_ignored(delay in 1_000u64..u64::MAX, seed: u64) {
            let rules = Rules { jitter: (Millis(0), Millis(0)), poisson_mean: Millis(0), ..Rules::default() };
            let state = HostState { crawl_delay: Millis(delay), ..HostState::default() };
            prop_assert_eq!(pause(&state, &rules, seed), Millis(delay).min(Millis::from_mins(10)));
        }

        #[test]
        fn over_any_time_no_more_calls_than_burst_and_refill_allow(gaps in prop::collection::vec(0u64..3_000, 1..200)) {
            let rules = Rules { burst: 5, refill: Millis(1_000), ..Rules::default() };
            let start = Timestamp::from_millis(5_000_000);
            let (mut now, mut state, mut calls) = (start, HostState::default(), 0u64);
            for gap in gaps {
                now = now + Millis(gap);
                if next_call_at(&state, &rules, now) <= now {
                    calls += 1;
                    state.bucket = Some(spend(state.bucket, &rules, now));
                }
                prop_assert!(calls <= 5 + now.since(start).0 / 1_000);
            }
        }
    }
}
