//! Invariants about back catalogues.

use super::{Violation, violated};
use crate::sim::trace::{SendSnapshot, Trace};
use curlew_model::{HostKey, Timestamp};
use curlew_policy::rules::{BACKFILL_PORTION, Rules};
use curlew_ports::CallKind;
use std::collections::BTreeMap;

/// Number of portions of older pages that may precede a new post: one under way, and one that was sent meanwhile.
const PORTIONS: usize = 2;

/// 16. A host key is asked for no more pages and documents of its back catalogue in a day than the budget allows.
pub(super) fn the_past_has_a_budget(trace: &Trace, rules: &Rules) -> Result<(), Violation> {
    let pages = trace.sends.iter().filter(|send| trace.history.pages.contains(&send.url));
    let pages = pages.map(|send| (send.at, &send.host, &send.url));
    // A call that began shortly after midnight may have been granted before.
    let is_of_its_day = |at: Timestamp| at.day() == (at - rules.lease_length()).day();
    let documents = trace.calls.iter().filter(|call| matches!(call.kind, CallKind::Feed | CallKind::Sitemap));
    let documents = documents.filter(|call| trace.history.documents.contains(&call.url) && is_of_its_day(call.start));
    let documents = documents.map(|call| (call.start, &call.host, &call.url));
    let mut used: BTreeMap<(&HostKey, String), u32> = BTreeMap::new();
    for (at, host, url) in pages.chain(documents) {
        let count = used.entry((host, at.day())).or_default();
        *count += 1;
        if *count > rules.backfill_per_day {
            let what = format!("{url} is number {count} of the past of {host} on its day");
            return violated("16 the past has a budget", at, what);
        }
    }
    Ok(())
}

/// 17. A new post waits behind no more than [`PORTIONS`] portions of older pages of its host key: when it is sent, no
///     more of these pages have been sent and not yet called.
pub(super) fn new_posts_come_first(trace: &Trace) -> Result<(), Violation> {
    let mut first_called: BTreeMap<&str, Timestamp> = BTreeMap::new();
    for call in trace.calls.iter().filter(|call| call.kind == CallKind::Page) {
        first_called.entry(&call.url).or_insert(call.start);
    }
    let is_older = |send: &&SendSnapshot| trace.history.pages.contains(&send.url);
    let older: Vec<&SendSnapshot> = trace.sends.iter().filter(is_older).collect();
    for post in trace.sends.iter().filter(|send| !is_older(send)) {
        let before = older.iter().filter(|send| send.host == post.host && send.at <= post.at);
        let waiting = before.filter(|send| first_called.get(send.url.as_str()).is_some_and(|at| *at > post.at)).count();
        if waiting > PORTIONS * BACKFILL_PORTION {
            let what = format!("{} was sent while {waiting} older pages of {} waited", post.url, post.host);
            return violated("17 new posts come first", post.at, what);
        }
    }
    Ok(())
}
