//! The time of a feed's next poll, and the reason for it.

use super::{after_skips, estimate};
use crate::rules::Rules;
use curlew_model::{Habit, Millis, PollHints, Timestamp, Why};

/// Reasons to wait.
#[derive(Clone, Copy, Debug, Default)]
pub struct Inputs {
    /// Hints of the feed and its server, from this answer and those before.
    pub hints: PollHints,
    /// The feed's own history.
    pub habit: Habit,
    /// Age of the answer when it came (`Age`, RFC 9111 §5.1); it is fresh for so much less.
    pub age: Millis,
    /// The instant that `Retry-After` names.
    pub retry_after: Option<Timestamp>,
    /// True if a hub tells of news until well after the next poll.
    pub pushed: bool,
    /// True if the next poll can be conditional and its answer believed.
    pub conditional: bool,
    /// Wait demanded by the feed's failure.
    pub wrong: Option<(Millis, Why)>,
}

/// The next poll of a feed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// From poll to poll, as long as all stays as it is.
    pub interval: Millis,
    /// The next one not before this.
    pub not_before: Timestamp,
    /// The reason that decided.
    pub why: Why,
}

/// Returns the next poll of a feed: hints only lengthen its own interval, within [`Rules::poll_floor`] and
/// [`Rules::poll_cap`].
pub fn plan(inputs: &Inputs, rules: &Rules, now: Timestamp) -> Plan {
    let fresh = inputs.hints.fresh_for.map(|whole| whole.saturating_sub(inputs.age));
    let hints = [
        (inputs.hints.ttl, Why::Ttl),
        (inputs.hints.update_period, Why::UpdatePeriod),
        (fresh, Why::Fresh),
        (inputs.hints.crawl_delay, Why::CrawlDelay),
    ];
    let mut ruling = own_interval(inputs, rules, now);
    for (hint, why) in hints {
        if let Some(hint) = hint.filter(|hint| *hint > ruling.0) {
            ruling = (hint, why);
        }
    }
    let (interval, mut why) = (ruling.0.clamp(rules.poll_floor, rules.poll_cap), ruling.1);
    let mut wait = fresh.unwrap_or_default().min(rules.poll_cap);
    if let Some((longer, wrong)) = inputs.wrong {
        (wait, why) = (wait.max(longer), wrong);
    }
    let asked = inputs.retry_after.map_or(Millis::ZERO, |at| at.since(now)).min(rules.retry_after_cap);
    if asked > wait.max(interval) {
        why = Why::RetryAfter;
    }
    let earliest = now + wait.max(asked);
    let not_before = after_skips(earliest, &inputs.hints);
    if not_before > earliest && not_before > now + interval {
        why = Why::Skips;
    }
    Plan { interval, not_before, why }
}

/// Returns the interval without hints: usual or by history; longer where each poll costs the server a whole feed, or
/// while a hub sends news.
fn own_interval(inputs: &Inputs, rules: &Rules, now: Timestamp) -> (Millis, Why) {
    let learned = if rules.adaptive { estimate(&inputs.habit, rules, now) } else { None };
    let own = learned.map_or((rules.poll_interval, Why::Usual), |interval| (interval, Why::History));
    let floors = [
        (!inputs.conditional, rules.poll_interval_blind, Why::Blind),
        (inputs.pushed, rules.poll_interval_pushed, Why::Pushed),
    ];
    floors.into_iter().filter(|(holds, ..)| *holds).fold(own, |ruling, (_, floor, why)| {
        if ruling.0 < floor || ruling == (floor, Why::History) { (floor, why) } else { ruling }
    })
}
