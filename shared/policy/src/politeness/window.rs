//! The time that visits may spend on a host key: at most [`Rules::window_limit`] in any [`Rules::window`]. A window has
//! several parts; the time spent in one counts until the end of the part is a whole window ago.

use crate::rules::Rules;
use curlew_model::{Millis, Timestamp, WindowPart};

/// Number of parts of a window; more parts free a host key sooner, but lengthen its row.
const PARTS: u64 = 8;

/// Charges `time` for a lease that ends at `until`.
pub(crate) fn charge(visited: &mut Vec<WindowPart>, until: Timestamp, time: Millis, rules: &Rules) {
    let length = length(rules).0.cast_signed();
    let began = Timestamp::from_millis(until.as_millis().div_euclid(length).saturating_mul(length));
    match visited.iter_mut().find(|part| part.began == began) {
        Some(part) => part.spent = part.spent + time,
        None => visited.push(WindowPart { began, spent: time }),
    }
}

pub(crate) fn refund(visited: &mut Vec<WindowPart>, mut time: Millis) {
    for part in visited.iter_mut().rev() {
        let taken = part.spent.min(time);
        (part.spent, time) = (part.spent.saturating_sub(taken), time.saturating_sub(taken));
    }
    visited.retain(|part| part.spent > Millis::ZERO);
}

pub(crate) fn forget(visited: &mut Vec<WindowPart>, rules: &Rules, now: Timestamp) {
    visited.retain(|part| counts_until(part, rules) > now);
}

pub(crate) fn left(visited: &[WindowPart], rules: &Rules, now: Timestamp) -> Millis {
    rules.window_limit.saturating_sub(spent(visited, rules, now))
}

/// Returns when `time` may be spent again; `None` if it may be spent now.
pub fn free_at(visited: &[WindowPart], rules: &Rules, time: Millis, now: Timestamp) -> Option<Timestamp> {
    let most = rules.window_limit.saturating_sub(time);
    let mut spent = spent(visited, rules, now);
    let mut at = None;
    for part in visited.iter().filter(|part| counts_until(part, rules) > now) {
        if spent <= most {
            break;
        }
        spent = spent.saturating_sub(part.spent);
        at = Some(counts_until(part, rules));
    }
    at
}

fn spent(visited: &[WindowPart], rules: &Rules, now: Timestamp) -> Millis {
    let counting = visited.iter().filter(|part| counts_until(part, rules) > now);
    counting.fold(Millis::ZERO, |sum, part| sum + part.spent)
}

fn counts_until(part: &WindowPart, rules: &Rules) -> Timestamp {
    part.began + length(rules) + rules.window
}

fn length(rules: &Rules) -> Millis {
    Millis((rules.window.0 / PARTS).max(1))
}
