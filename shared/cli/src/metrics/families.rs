//! The families of metrics, and their series. Every label has a closed set of values, which `docs/reference/metrics.md`
//! lists.

use super::gauges::Gauges;
use crate::process;
use curlew_app::{Counts, Histogram};
use curlew_model::{HoldReason, Millis};
use curlew_ports::{SearchOutcome, WaitReason};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use std::collections::BTreeMap;
use std::fmt;

/// The families in the order of their text: name without the suffix of its samples, type, help.
pub(crate) const FAMILIES: [(&str, MetricType, &str); 32] = [
    ("curlew_calls", MetricType::Counter, "Calls to sites"),
    ("curlew_received_bytes", MetricType::Counter, "Decoded bytes of bodies"),
    ("curlew_politeness_wait_seconds", MetricType::Histogram, "Time for which politeness made a visit wait"),
    ("curlew_holds", MetricType::Counter, "Holds laid on host keys"),
    ("curlew_hosts_held", MetricType::Gauge, "Host keys that are held now"),
    ("curlew_polls", MetricType::Counter, "Polls of feeds"),
    ("curlew_poll_lateness_seconds", MetricType::Histogram, "Time between the due time of a poll and its call"),
    ("curlew_feeds_found", MetricType::Counter, "Working feeds found by discovery"),
    ("curlew_sites_without_feed", MetricType::Counter, "Sites at which discovery found no working feed"),
    ("curlew_entries", MetricType::Counter, "Entries seen in a feed for the first time"),
    ("curlew_pages_fetched", MetricType::Counter, "Pages fetched"),
    ("curlew_pages", MetricType::Counter, "Pages judged"),
    ("curlew_pages_rejected", MetricType::Counter, "Pages rejected"),
    ("curlew_pages_gone", MetricType::Counter, "Indexed pages removed"),
    ("curlew_rechecks_doubtful", MetricType::Counter, "Re-checks after which a second look decides"),
    ("curlew_thumbnails", MetricType::Counter, "Thumbnails made"),
    ("curlew_jobs_put_off", MetricType::Counter, "Jobs put off until their host may be called again"),
    ("curlew_queue_jobs", MetricType::Gauge, "Jobs in the queues"),
    ("curlew_queue_oldest_seconds", MetricType::Gauge, "Time since which the oldest job has been due"),
    ("curlew_dead_jobs", MetricType::Gauge, "Jobs that were given up"),
    ("curlew_index_pages", MetricType::Gauge, "Indexed pages"),
    ("curlew_index_splits", MetricType::Gauge, "Splits of the index"),
    ("curlew_index_age_seconds", MetricType::Gauge, "Time since the last publishing while something new waits, else 0"),
    ("curlew_messages_open", MetricType::Gauge, "Messages to the operator that are not closed"),
    ("curlew_search_seconds", MetricType::Histogram, "Time that queries took"),
    ("curlew_store_bytes", MetricType::Gauge, "Size of the store"),
    ("curlew_store_free_bytes", MetricType::Gauge, "Bytes that the file system has left for the store"),
    ("process_cpu_seconds", MetricType::Counter, "Processor time of the process"),
    ("process_resident_memory_bytes", MetricType::Gauge, "Memory of the process"),
    ("process_start_time_seconds", MetricType::Gauge, "Start of the process, since 1970"),
    ("process_open_fds", MetricType::Gauge, "Open file descriptors"),
    ("process_max_fds", MetricType::Gauge, "Limit of open file descriptors"),
];

/// Returns the name that stands in queries: a counter's with `_total`.
#[cfg(test)]
pub(crate) fn full_name(name: &str, kind: MetricType) -> String {
    let is_counter = matches!(kind, MetricType::Counter);
    format!("{name}{}", if is_counter { "_total" } else { "" })
}

/// All numbers at one moment.
#[derive(Debug)]
pub(super) struct Snapshot {
    pub(super) counts: Counts,
    pub(super) gauges: Gauges,
}

/// Labels with their values.
type Labels = Vec<(&'static str, &'static str)>;

/// A value of a series.
enum Value<'a> {
    Whole(u64),
    Real(f64),
    Times(&'a Histogram),
}

impl Collector for Snapshot {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        for (name, kind, help) in FAMILIES {
            let mut family = encoder.encode_descriptor(name, help, None, kind)?;
            for (labels, value) in self.series(name) {
                if labels.is_empty() {
                    write(&mut family, kind, &value)?;
                } else {
                    write(&mut family.encode_family(&labels)?, kind, &value)?;
                }
            }
        }
        Ok(())
    }
}

fn write(encoder: &mut MetricEncoder<'_>, kind: MetricType, value: &Value<'_>) -> fmt::Result {
    match (kind, value) {
        (MetricType::Counter, Value::Whole(value)) => encoder.encode_counter::<NoLabelSet, _, u64>(value, None),
        (MetricType::Counter, Value::Real(value)) => encoder.encode_counter::<NoLabelSet, _, u64>(value, None),
        (_, Value::Whole(value)) => encoder.encode_gauge(&(*value as f64)),
        (_, Value::Real(value)) => encoder.encode_gauge(value),
        (_, Value::Times(times)) => {
            encoder.encode_histogram::<NoLabelSet>(times.seconds(), times.count(), &times.buckets(), None)
        }
    }
}

impl Snapshot {
    /// Returns the series of a family. Those that alerts look at are there from the start, since a counter that appears
    /// with its first event has no increase.
    fn series(&self, name: &str) -> Vec<(Labels, Value<'_>)> {
        let (c, g) = (&self.counts, &self.gauges);
        match name {
            "curlew_calls" => {
                let each = c.calls_by_status.iter();
                each.map(|((kind, status), n)| (vec![("kind", *kind), ("status", *status)], Value::Whole(*n))).collect()
            }
            "curlew_received_bytes" => by("kind", &c.bytes_by_kind),
            "curlew_politeness_wait_seconds" => {
                let times = WaitReason::ALL.iter().filter_map(|reason| Some((reason.as_str(), c.waits.get(reason)?)));
                times.map(|(reason, times)| (vec![("reason", reason)], Value::Times(times))).collect()
            }
            "curlew_holds" => {
                let laid = HoldReason::ALL.iter().map(|reason| reason.as_str());
                laid.map(|r| (vec![("reason", r)], Value::Whole(c.held.get(r).copied().unwrap_or(0)))).collect()
            }
            "curlew_hosts_held" => {
                let held = HoldReason::ALL.iter().map(|reason| (reason.as_str(), g.held.get(reason)));
                held.map(|(r, n)| (vec![("reason", r)], Value::Whole(n.copied().unwrap_or(0)))).collect()
            }
            "curlew_polls" => whole(c.polls),
            "curlew_poll_lateness_seconds" => vec![(vec![], Value::Times(&c.poll_lateness))],
            "curlew_feeds_found" => whole(c.feeds_found),
            "curlew_sites_without_feed" => whole(c.feedless),
            "curlew_entries" => whole(c.entries_seen),
            "curlew_pages_fetched" => whole(c.pages_fetched),
            "curlew_pages" => {
                let verdicts = [
                    ("accepted", c.accepted),
                    ("rejected", c.rejections()),
                    ("alias", c.aliases),
                    ("revised", c.revised),
                    ("unchanged", c.still_there),
                    ("gone", c.removed.values().sum()),
                ];
                verdicts.into_iter().map(|(verdict, n)| (vec![("verdict", verdict)], Value::Whole(n))).collect()
            }
            "curlew_pages_rejected" => by("reason", &c.rejected),
            "curlew_pages_gone" => by("reason", &c.removed),
            "curlew_rechecks_doubtful" => whole(c.doubted),
            "curlew_thumbnails" => whole(c.thumbnails),
            "curlew_jobs_put_off" => whole(c.put_off),
            "curlew_queue_jobs" => {
                let states = |(stage, count, _): &(curlew_model::QueueName, curlew_ports::QueueCount, Millis)| {
                    let stage = stage.as_str();
                    let states = [("ready", count.ready), ("waiting", count.waiting), ("in_flight", count.in_flight)];
                    states.map(|(state, n)| (vec![("stage", stage), ("state", state)], Value::Whole(n)))
                };
                g.queues.iter().flat_map(states).collect()
            }
            "curlew_queue_oldest_seconds" => {
                g.queues.iter().map(|(stage, _, age)| (vec![("stage", stage.as_str())], seconds(*age))).collect()
            }
            "curlew_dead_jobs" => {
                let dead = g.queues.iter().map(|(stage, count, _)| (stage.as_str(), count.dead));
                dead.map(|(stage, n)| (vec![("stage", stage)], Value::Whole(n))).collect()
            }
            "curlew_index_pages" => whole(g.index_pages),
            "curlew_index_splits" => whole(g.index_splits as u64),
            "curlew_index_age_seconds" => vec![(vec![], seconds(g.index_age))],
            "curlew_messages_open" => whole(g.messages as u64),
            "curlew_search_seconds" => {
                let times = SearchOutcome::ALL.iter().filter_map(|o| Some((o.as_str(), c.searches.get(o)?)));
                times.map(|(outcome, times)| (vec![("outcome", outcome)], Value::Times(times))).collect()
            }
            "curlew_store_bytes" => vec![
                (vec![("part", "database")], Value::Whole(g.size.database)),
                (vec![("part", "objects")], Value::Whole(g.size.objects)),
            ],
            "curlew_store_free_bytes" => g.free.map(Value::Whole).map(|free| (vec![], free)).into_iter().collect(),
            "process_cpu_seconds" => vec![(vec![], Value::Real(process::cpu_seconds()))],
            "process_resident_memory_bytes" => whole(process::resident_bytes()),
            "process_start_time_seconds" => vec![(vec![], Value::Real(process::start_seconds()))],
            "process_open_fds" => whole(process::open_descriptors()),
            "process_max_fds" => crate::server::descriptors::limit().map(whole).unwrap_or_default(),
            _ => vec![],
        }
    }
}

fn whole<'a>(value: u64) -> Vec<(Labels, Value<'a>)> {
    vec![(vec![], Value::Whole(value))]
}

fn seconds<'a>(time: Millis) -> Value<'a> {
    Value::Real(time.0 as f64 / 1_000.0)
}

fn by<'a>(label: &'static str, counts: &BTreeMap<&'static str, u64>) -> Vec<(Labels, Value<'a>)> {
    counts.iter().map(|(value, n)| (vec![(label, *value)], Value::Whole(*n))).collect()
}
