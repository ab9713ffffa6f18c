//! Politeness towards hosts: admission, pauses, holds, the meaning of answers, redirects, the scope of the crawl.

pub mod admission;
pub mod deferral;
pub mod http;
pub mod interstitial;
pub mod marks;
pub mod outage;
pub mod outcome;
pub mod pace;
pub mod redirect;
pub mod robots_notes;
pub mod scope;
pub mod visit;
pub mod window;

use crate::chance::{between, mix};
use crate::rules::Rules;
use curlew_model::{Hold, Millis};

/// Returns `base` doubled for each hold in a row, at least `asked`, plus a random tenth at most; limited to `hold_cap`.
fn hold_length(base: Millis, asked: Millis, in_a_row: u32, rules: &Rules, seed: u64) -> Millis {
    let doubled = base.saturating_mul(1u64 << in_a_row.min(16)).max(asked).min(rules.hold_cap);
    (doubled + Millis(between(mix(seed), 0, doubled.0 / 10))).min(rules.hold_cap)
}

fn longer(a: Option<Hold>, b: Option<Hold>) -> Option<Hold> {
    b.into_iter().chain(a).max_by_key(|hold| hold.until)
}
