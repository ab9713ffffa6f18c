//! Counts the events of one invocation, and writes a line with what an operator should look at.
//!
//! CloudWatch bills each metric in the line per month, so there are only two: [`TROUBLE`] for the alarm, and
//! [`BATCHES_FAILED`], which rolls back a gradual deployment. All other counts are plain properties of the line, which
//! cost only their bytes and can be summed by a query over the logs.

use curlew_app::{Counts, Tally};
use curlew_model::{HoldReason, Millis, Timestamp};
use curlew_ports::{Event, Events};
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

const NAMESPACE: &str = "Curlew";
/// Metric of everything that an operator should look at.
const TROUBLE: &str = "Trouble";
/// Metric of batches without a successful message.
const BATCHES_FAILED: &str = "BatchesFailed";
/// Minimum delay of a poll that counts as late.
const LATE: Millis = Millis::from_mins(30);
/// Minimum number of late polls in one invocation that may be trouble.
const MANY_LATE: u64 = 5;
/// Minimum number of refusals in one invocation that may be trouble.
const MANY_REFUSALS: u64 = 10;
/// Minimum number of throttled calls in one invocation that is trouble: tables scale, and calls are retried.
const MANY_THROTTLED: u64 = 100;
/// Reasons for holds that mean that a site refuses to be called.
const REFUSALS: [HoldReason; 3] = [HoldReason::Forbidden, HoldReason::TooManyRequests, HoldReason::Interstitial];

/// A reason for an operator to look; `docs/runbooks.md` has a row for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Trouble {
    DeadLetters,
    /// Scheduled events have failed for good.
    DeadEvents,
    /// Jobs are ready, but nothing receives them.
    QueueStandsStill,
    /// The stack's settings file is invalid.
    SettingsRejected,
    TablesThrottled,
    /// More than one poll in ten is more than half an hour late.
    PollsLate,
    /// More than five calls in a hundred end with a refusal by a site.
    Refusals,
    /// Many consecutive pages were rejected.
    NothingAccepted,
    /// Building the index comes close to the function's timeout.
    IndexSlow,
}

#[derive(Default)]
pub(crate) struct Meter {
    tally: Tally,
    failed_batches: AtomicU64,
    throttled: AtomicU64,
    trouble: Mutex<BTreeMap<Trouble, u64>>,
}

impl Meter {
    pub(crate) fn counts(&self) -> Counts {
        self.tally.counts()
    }

    /// Adds `times` occurrences of a trouble; does nothing if that is zero.
    pub(crate) fn note_trouble(&self, what: Trouble, times: u64) {
        if times > 0 {
            *self.trouble.lock().unwrap_or_else(PoisonError::into_inner).entry(what).or_default() += times;
        }
    }

    /// Adds a batch without a successful message.
    pub(crate) fn note_failed_batch(&self) {
        self.failed_batches.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn note_throttled(&self, calls: u64) {
        self.throttled.fetch_add(calls, Ordering::Relaxed);
    }

    /// Returns the troubles that were added, and those that follow from the counts.
    fn trouble(&self, counts: &Counts, late: u64, refusals: u64, throttled: u64) -> BTreeMap<Trouble, u64> {
        let mut trouble = self.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let seen = [
            (Trouble::PollsLate, late, late >= MANY_LATE && late * 10 > counts.polls),
            (Trouble::Refusals, refusals, refusals >= MANY_REFUSALS && refusals * 20 > counts.calls),
            (Trouble::TablesThrottled, throttled, throttled >= MANY_THROTTLED),
        ];
        trouble.extend(seen.into_iter().filter(|(.., is_much)| *is_much).map(|(what, times, _)| (what, times)));
        trouble
    }

    /// Returns the counts as one line of JSON; `None` if all are zero. With a metric, the line is in CloudWatch's
    /// embedded metric format.
    pub(crate) fn line(&self, stack: &str, function: &str, given_up: u64, at: Timestamp) -> Option<String> {
        let counts = self.counts();
        let refusals = REFUSALS.iter().filter_map(|reason| counts.held.get(reason.as_str())).sum();
        let late = counts.poll_lateness.longer_than(LATE);
        let throttled = self.throttled.load(Ordering::Relaxed);
        let trouble = self.trouble(&counts, late, refusals, throttled);
        let metrics =
            [(TROUBLE, trouble.values().sum()), (BATCHES_FAILED, self.failed_batches.load(Ordering::Relaxed))];
        let properties = [
            ("Calls", counts.calls),
            ("Polls", counts.polls),
            ("PollsLate", late),
            ("NewEntries", counts.entries_seen),
            ("PagesAccepted", counts.accepted),
            ("PagesRejected", counts.rejections()),
            ("Holds", counts.held.values().sum()),
            ("Refusals", refusals),
            ("TablesThrottled", throttled),
            ("GivenUp", given_up),
        ];
        let of_note = |all: &[(&'static str, u64)]| all.iter().filter(|(_, n)| *n > 0).copied().collect::<Vec<_>>();
        let (metrics, properties) = (of_note(&metrics), of_note(&properties));
        if metrics.is_empty() && properties.is_empty() {
            return None;
        }
        let mut line = Map::new();
        if !metrics.is_empty() {
            let names: Vec<Value> = metrics.iter().map(|(name, _)| json!({"Name": name, "Unit": "Count"})).collect();
            let directive = json!({"Namespace": NAMESPACE, "Dimensions": [["Stack"]], "Metrics": names});
            line.insert("_aws".into(), json!({"Timestamp": at.as_millis(), "CloudWatchMetrics": [directive]}));
        }
        line.insert("Stack".into(), stack.into());
        line.insert("function".into(), function.into());
        line.extend(metrics.into_iter().chain(properties).map(|(name, count)| (name.to_owned(), count.into())));
        if !trouble.is_empty() {
            line.insert("trouble".into(), json!(trouble));
        }
        if !counts.rejected.is_empty() {
            line.insert("rejected".into(), json!(counts.rejected));
        }
        Some(Value::Object(line).to_string())
    }
}

impl Events for Meter {
    fn note(&self, event: &Event<'_>) {
        self.tally.note(event);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;
    use curlew_model::{HostKey, Rejection};

    const NOW: Timestamp = Timestamp::from_millis(1_795_000_000_000);

    fn line(meter: &Meter, function: &str, given_up: u64) -> Value {
        serde_json::from_str(&meter.line("curlew", function, given_up, NOW).unwrap()).unwrap()
    }

    #[test]
    fn what_is_ordinary_is_no_metric() {
        let meter = Meter::default();
        assert_eq!(meter.line("curlew", "fetch", 0, NOW), None);
        meter.note(&Event::Accepted);
        meter.note(&Event::Rejected(&Rejection::Noindex));
        meter.note_throttled(MANY_THROTTLED - 1);
        let line = line(&meter, "extract", 2);
        assert_eq!((&line["_aws"], &line["trouble"]), (&Value::Null, &Value::Null));
        let counts = ["PagesAccepted", "PagesRejected", "GivenUp", "TablesThrottled"];
        assert_eq!(counts.map(|name| &line[name]), [1, 1, 2, 99].map(Value::from).each_ref());
        assert_eq!((&line["Stack"], &line["rejected"]["noindex"]), (&json!("curlew"), &json!(1)));
    }

    #[test]
    fn trouble_is_one_metric_and_names_each_reason() {
        let meter = Meter::default();
        meter.note_trouble(Trouble::SettingsRejected, 1);
        meter.note_trouble(Trouble::DeadLetters, 3);
        meter.note_trouble(Trouble::DeadLetters, 2);
        meter.note_trouble(Trouble::DeadEvents, 0);
        meter.note_failed_batch();
        let line = line(&meter, "dispatch", 0);
        let directive = &line["_aws"]["CloudWatchMetrics"][0];
        assert_eq!((&directive["Namespace"], &directive["Dimensions"][0][0]), (&json!("Curlew"), &json!("Stack")));
        assert_eq!(directive["Metrics"].as_array().unwrap().len(), 2);
        assert_eq!((&line["Trouble"], &line["BatchesFailed"]), (&json!(6), &json!(1)));
        assert_eq!(line["trouble"], json!({"settings-rejected": 1, "dead-letters": 5}));
        assert_eq!(line["_aws"]["Timestamp"], NOW.as_millis());
    }

    #[test]
    fn refusals_and_late_polls_are_trouble_if_they_are_many_and_a_large_part() {
        let host = HostKey::new("example.org").unwrap();
        let refused = |reason, times: u64, calls: u64| {
            let meter = Meter::default();
            (0..times).for_each(|_| meter.note(&Event::Held { host: &host, reason }));
            let counts = Counts { calls, ..meter.counts() };
            meter.trouble(&counts, 0, if REFUSALS.contains(&reason) { times } else { 0 }, 0)
        };
        assert!(refused(HoldReason::Forbidden, 9, 9).is_empty());
        assert!(refused(HoldReason::Forbidden, 10, 200).is_empty());
        assert!(refused(HoldReason::Network, 10, 10).is_empty());
        assert_eq!(refused(HoldReason::Interstitial, 10, 199), BTreeMap::from([(Trouble::Refusals, 10)]));

        let late = |late: u64, in_time: u64| {
            let meter = Meter::default();
            (0..late).for_each(|_| meter.note(&Event::Polled { late: Some(LATE + Millis(1)) }));
            (0..in_time).for_each(|_| meter.note(&Event::Polled { late: Some(LATE) }));
            line(&meter, "poll", 0)["trouble"]["polls-late"].clone()
        };
        assert_eq!([late(4, 0), late(5, 45), late(5, 44)], [Value::Null, Value::Null, json!(5)]);
    }
}
