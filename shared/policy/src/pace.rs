//! How long to wait between two calls to one host key.

use crate::Rules;
use crate::chance::{between, mix, unit};
use curlew_model::{HostState, Millis, Timestamp, TokenBucket};

/// Thousandths of a call that one call takes from the bucket.
const ONE_CALL: u64 = 1_000;

/// The pause after a call: the largest of the least pause, uniform jitter, an exponential gap, the
/// Crawl-delay and the host's own last response time.
pub fn pause(state: &HostState, rules: &Rules, seed: u64) -> Millis {
    let jitter = Millis(between(seed, rules.jitter.0.0, rules.jitter.1.0));
    let gap = Millis((-unit(mix(seed)).ln() * rules.poisson_mean.0 as f64) as u64);
    // Once in a few million draws the exponential is absurdly long; the Crawl-delay cap bounds it too.
    let gap = gap.min(rules.crawl_delay_cap);
    [rules.min_pause, jitter, gap, state.crawl_delay.min(rules.crawl_delay_cap), state.last_response]
        .into_iter()
        .max()
        .unwrap_or(rules.min_pause)
}

/// When the next call may start: after the pause, and when the burst allowance holds a call.
pub fn next_call_at(state: &HostState, rules: &Rules, now: Timestamp) -> Timestamp {
    let bucket = filled(state.bucket, rules, now);
    let missing = ONE_CALL.saturating_sub(bucket.milli_tokens);
    let refill = rules.refill.0.saturating_mul(missing).div_ceil(ONE_CALL);
    state.not_before.max(now + Millis(refill))
}

/// The allowance after one call that ended at `now`.
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
        // Keep the old instant, or many short steps would never add up to a thousandth.
        return TokenBucket { milli_tokens: b.milli_tokens.min(capacity), at: b.at };
    }
    TokenBucket { milli_tokens: b.milli_tokens.saturating_add(grown).min(capacity), at: now }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_slowest_wish_wins() {
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
