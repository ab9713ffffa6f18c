//! Counts what happens in one invocation, and says it to CloudWatch.

use curlew_app::{Counts, Tally};
use curlew_model::{HoldReason, Millis, Timestamp};
use curlew_ports::{Event, Events};
use serde_json::{Map, Value, json};
use std::sync::atomic::{AtomicU64, Ordering};

/// The namespace of all metrics.
const NAMESPACE: &str = "Curlew";
/// Lateness from which a poll counts as late.
const LATE: Millis = Millis::from_mins(30);
/// Holds by which a site says that it does not want to be called.
const REFUSALS: [HoldReason; 3] = [HoldReason::Forbidden, HoldReason::TooManyRequests, HoldReason::Interstitial];

/// The counter of one invocation.
#[derive(Default)]
pub(crate) struct Meter {
    tally: Tally,
    holds: AtomicU64,
    rejected_settings: AtomicU64,
    failed_batches: AtomicU64,
    throttled: AtomicU64,
}

impl Meter {
    /// Returns the counters.
    pub(crate) fn counts(&self) -> Counts {
        self.tally.counts()
    }

    /// Holds that were laid on hosts.
    pub(crate) fn holds(&self) -> u64 {
        self.holds.load(Ordering::Relaxed)
    }

    /// Notes that the stack states settings that cannot be used.
    pub(crate) fn note_rejected_settings(&self) {
        self.rejected_settings.fetch_add(1, Ordering::Relaxed);
    }

    /// Notes that no message of the invocation's batch did well.
    pub(crate) fn note_failed_batch(&self) {
        self.failed_batches.fetch_add(1, Ordering::Relaxed);
    }

    /// Notes calls that tables refused because they were too many.
    pub(crate) fn note_throttled(&self, calls: u64) {
        self.throttled.fetch_add(calls, Ordering::Relaxed);
    }

    /// The metrics as one line of CloudWatch's embedded metric format; none if all of them are zero. Each metric is billed
    /// by the month, so they are few: reasons stand beside them as properties, which cost nothing but their bytes.
    pub(crate) fn line(&self, stack: &str, function: &str, given_up: u64, at: Timestamp) -> Option<String> {
        let counts = self.counts();
        let refusals = REFUSALS.iter().filter_map(|reason| counts.held.get(reason.as_str())).sum();
        let all = [
            ("Calls", counts.calls),
            ("Polls", counts.polls),
            ("PollsLate", counts.poll_lateness.longer_than(LATE)),
            ("NewEntries", counts.entries_seen),
            ("PagesAccepted", counts.accepted),
            ("PagesRejected", counts.rejections()),
            ("Holds", self.holds()),
            ("Refusals", refusals),
            ("TablesThrottled", self.throttled.load(Ordering::Relaxed)),
            ("GivenUp", given_up),
            ("SettingsRejected", self.rejected_settings.load(Ordering::Relaxed)),
            ("BatchesFailed", self.failed_batches.load(Ordering::Relaxed)),
        ];
        let told: Vec<(&str, u64)> = all.into_iter().filter(|(_, count)| *count > 0).collect();
        if told.is_empty() {
            return None;
        }
        let metrics: Vec<Value> = told.iter().map(|(name, _)| json!({"Name": name, "Unit": "Count"})).collect();
        let directive = json!({"Namespace": NAMESPACE, "Dimensions": [["Stack"]], "Metrics": metrics});
        let mut line = Map::new();
        line.insert("_aws".into(), json!({"Timestamp": at.as_millis(), "CloudWatchMetrics": [directive]}));
        line.insert("Stack".into(), stack.into());
        line.insert("function".into(), function.into());
        line.extend(told.into_iter().map(|(name, count)| (name.to_owned(), count.into())));
        if !counts.rejected.is_empty() {
            line.insert("rejected".into(), json!(counts.rejected));
        }
        Some(Value::Object(line).to_string())
    }
}

impl Events for Meter {
    fn note(&self, event: &Event<'_>) {
        if matches!(event, Event::Held { .. }) {
            self.holds.fetch_add(1, Ordering::Relaxed);
        }
        self.tally.note(event);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;
    use curlew_model::{HostKey, Rejection};

    #[test]
    fn only_what_happened_is_a_metric() {
        let meter = Meter::default();
        let at = Timestamp::from_millis(1_795_000_000_000);
        assert_eq!(meter.line("curlew", "fetch", 0, at), None);
        meter.note(&Event::Accepted);
        meter.note(&Event::Rejected(&Rejection::Noindex));
        let line: Value = serde_json::from_str(&meter.line("curlew", "extract", 2, at).unwrap()).unwrap();
        let directive = &line["_aws"]["CloudWatchMetrics"][0];
        assert_eq!((&directive["Namespace"], &directive["Dimensions"][0][0]), (&json!("Curlew"), &json!("Stack")));
        let names: Vec<&str> =
            directive["Metrics"].as_array().unwrap().iter().map(|m| m["Name"].as_str().unwrap()).collect();
        assert_eq!(names, ["PagesAccepted", "PagesRejected", "GivenUp"]);
        assert_eq!(
            (&line["Stack"], &line["GivenUp"], &line["_aws"]["Timestamp"]),
            (&json!("curlew"), &json!(2), &json!(at.as_millis()))
        );
        assert_eq!(line["rejected"]["noindex"], 1);
    }

    #[test]
    fn what_alarms_ask_for_is_told() {
        let meter = Meter::default();
        let host = HostKey::new("example.org").unwrap();
        for reason in
            [HoldReason::Forbidden, HoldReason::TooManyRequests, HoldReason::Interstitial, HoldReason::Network]
        {
            meter.note(&Event::Held { host: &host, reason });
        }
        for late in [None, Some(LATE), Some(LATE + Millis(1))] {
            meter.note(&Event::Polled { late });
        }
        meter.note(&Event::EntriesSeen(9));
        meter.note_throttled(4);
        meter.note_failed_batch();
        let line = meter.line("curlew", "poll", 0, Timestamp::from_millis(1_795_000_000_000)).unwrap();
        let line: Value = serde_json::from_str(&line).unwrap();
        let told = ["Polls", "PollsLate", "NewEntries", "Holds", "Refusals", "TablesThrottled", "BatchesFailed"];
        assert_eq!(told.map(|name| &line[name]), [3, 1, 9, 4, 3, 4, 1].map(Value::from).each_ref());
    }
}
