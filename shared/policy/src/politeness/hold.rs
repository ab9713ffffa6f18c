//! The length of holds, and which of two is in force.

use crate::chance::{between, mix};
use crate::rules::Rules;
use curlew_model::{Hold, Millis};

/// Returns `base` doubled for each hold in a row, or `asked` by Retry-After if that is longer; up to a tenth longer by
/// chance, so that hosts held together do not return together.
pub(crate) fn hold_length(base: Millis, asked: Millis, in_a_row: u32, rules: &Rules, seed: u64) -> Millis {
    let doubled = base.saturating_mul(1u64 << in_a_row.min(16)).max(asked).min(rules.hold_cap);
    (doubled + Millis(between(mix(seed), 0, doubled.0 / 10))).min(rules.hold_cap)
}

pub(crate) fn longer(a: Option<Hold>, b: Option<Hold>) -> Option<Hold> {
    match (a, b) {
        (Some(a), Some(b)) => Some(if a.until >= b.until { a } else { b }),
        (a, b) => a.or(b),
    }
}
