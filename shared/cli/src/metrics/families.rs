//! The families of metrics. Every label has a closed set of values (`docs/reference/metrics.md`).

use super::gauges::Gauges;
use crate::process;
use crate::server::descriptors;
use curlew_app::{Counts, Histogram};
use curlew_model::{HoldReason, Millis};
use curlew_ports::{SearchOutcome, WaitReason};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType::{self, Counter, Gauge, Histogram as Times};
use std::borrow::Borrow;
use std::fmt;

const SITES_WITHOUT_FEED: &str = "Sites at which discovery found no working feed";
const START_TIME: &str = "Start time, in seconds since 1970";
const INDEX_AGE: &str = "Time since the index was last published while new pages wait, otherwise 0";

#[derive(Debug)]
pub(super) struct Snapshot {
    pub(super) counts: Counts,
    pub(super) gauges: Gauges,
}

/// A metric with all of its series.
pub(crate) struct Family<'a> {
    /// Name without the suffix of its samples.
    pub(crate) name: &'static str,
    pub(crate) kind: MetricType,
    help: &'static str,
    series: Series<'a>,
}

/// Series, each with its labels and its value.
type Series<'a> = Vec<(Vec<(&'static str, &'static str)>, Value<'a>)>;

enum Value<'a> {
    Whole(u64),
    Real(f64),
    Times(&'a Histogram),
}

impl Collector for Snapshot {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        for Family { name, kind, help, series } in families(&self.counts, &self.gauges) {
            let mut family = encoder.encode_descriptor(name, help, None, kind)?;
            for (labels, value) in series {
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
        (Counter, Value::Whole(value)) => encoder.encode_counter::<NoLabelSet, _, u64>(value, None),
        (Counter, Value::Real(value)) => encoder.encode_counter::<NoLabelSet, _, u64>(value, None),
        (_, Value::Whole(value)) => encoder.encode_gauge(&(*value as f64)),
        (_, Value::Real(value)) => encoder.encode_gauge(value),
        (_, Value::Times(times)) => {
            encoder.encode_histogram::<NoLabelSet>(times.seconds(), times.count(), &times.buckets(), None)
        }
    }
}

/// Returns the families. Series that alerts use exist from the start: one that appears later shows no increase.
pub(crate) fn families<'a>(c: &'a Counts, g: &Gauges) -> Vec<Family<'a>> {
    let calls = c.calls_by_status.iter();
    let calls = calls.map(|((kind, status), n)| (vec![("kind", *kind), ("status", *status)], Value::Whole(*n)));
    let waits = WaitReason::ALL.iter().filter_map(|reason| Some((reason.as_str(), c.waits.get(reason)?)));
    let waits = waits.map(|(reason, times)| (vec![("reason", reason)], Value::Times(times)));
    let lateness = vec![(vec![], Value::Times(&c.poll_lateness))];
    let searches = SearchOutcome::ALL.iter().filter_map(|outcome| Some((outcome.as_str(), c.searches.get(outcome)?)));
    let searches = searches.map(|(outcome, times)| (vec![("outcome", outcome)], Value::Times(times)));
    let holds = HoldReason::ALL.map(|reason| reason.as_str()).map(|r| (r, c.held.get(r).copied().unwrap_or(0)));
    let held = HoldReason::ALL.map(|reason| (reason.as_str(), g.held.get(&reason).copied().unwrap_or(0)));
    let verdicts = [
        ("accepted", c.accepted),
        ("rejected", c.rejections()),
        ("alias", c.aliases),
        ("revised", c.revised),
        ("unchanged", c.still_there),
        ("gone", c.removed.values().sum()),
    ];
    let jobs = g.queues.iter().flat_map(|(stage, count, _)| {
        let states = [("ready", count.ready), ("waiting", count.waiting), ("in_flight", count.in_flight)];
        states.map(|(state, n)| (vec![("stage", stage.as_str()), ("state", state)], Value::Whole(n)))
    });
    let ages = g.queues.iter().map(|(stage, _, age)| (vec![("stage", stage.as_str())], Value::Real(seconds(*age))));
    let dead = g.queues.iter().map(|(stage, count, _)| (stage.as_str(), count.dead));
    let sizes = [("database", g.size.database), ("objects", g.size.objects)];
    let free = g.free.map(whole).unwrap_or_default();
    let most_files = descriptors::limit().map(whole).unwrap_or_default();
    vec![
        family("curlew_calls", Counter, "Calls to sites", calls.collect()),
        family("curlew_received_bytes", Counter, "Bytes of decoded bodies", by("kind", &c.bytes_by_kind)),
        family("curlew_politeness_wait_seconds", Times, "Time for which politeness delays visits", waits.collect()),
        family("curlew_holds", Counter, "New holds of host keys", by("reason", holds)),
        family("curlew_hosts_held", Gauge, "Host keys on hold", by("reason", held)),
        family("curlew_polls", Counter, "Polls of feeds", whole(c.polls)),
        family("curlew_poll_lateness_seconds", Times, "Time between the due time of a poll and its call", lateness),
        family("curlew_feeds_found", Counter, "Working feeds found by discovery", whole(c.feeds_found)),
        family("curlew_sites_without_feed", Counter, SITES_WITHOUT_FEED, whole(c.feedless)),
        family("curlew_entries", Counter, "Entries seen in a feed for the first time", whole(c.entries_seen)),
        family("curlew_pages_fetched", Counter, "Pages fetched", whole(c.pages_fetched)),
        family("curlew_pages", Counter, "Pages judged", by("verdict", verdicts)),
        family("curlew_pages_rejected", Counter, "Pages rejected", by("reason", &c.rejected)),
        family("curlew_pages_gone", Counter, "Indexed pages removed", by("reason", &c.removed)),
        family("curlew_rechecks_doubtful", Counter, "Re-checks with a doubtful result", whole(c.doubted)),
        family("curlew_thumbnails", Counter, "Thumbnails made", whole(c.thumbnails)),
        family("curlew_jobs_put_off", Counter, "Jobs deferred until their host may be called", whole(c.put_off)),
        family("curlew_queue_jobs", Gauge, "Jobs in the queues", jobs.collect()),
        family("curlew_queue_oldest_seconds", Gauge, "Time for which the oldest job has been due", ages.collect()),
        family("curlew_dead_jobs", Gauge, "Jobs that were given up", by("stage", dead)),
        family("curlew_index_pages", Gauge, "Indexed pages", whole(g.index_pages)),
        family("curlew_index_splits", Gauge, "Splits of the index", whole(g.index_splits as u64)),
        family("curlew_index_age_seconds", Gauge, INDEX_AGE, real(seconds(g.index_age))),
        family("curlew_messages_open", Gauge, "Messages to the operator that are not closed", whole(g.messages as u64)),
        family("curlew_search_seconds", Times, "Duration of queries", searches.collect()),
        family("curlew_store_bytes", Gauge, "Size of the store", by("part", sizes)),
        family("curlew_store_free_bytes", Gauge, "Free bytes in the file system of the store", free),
        family("process_cpu_seconds", Counter, "Processor time of the process", real(process::cpu_seconds())),
        family("process_resident_memory_bytes", Gauge, "Memory of the process", whole(process::resident_bytes())),
        family("process_start_time_seconds", Gauge, START_TIME, real(process::start_seconds())),
        family("process_open_fds", Gauge, "Open file descriptors", whole(process::open_descriptors())),
        family("process_max_fds", Gauge, "Maximum number of open file descriptors", most_files),
    ]
}

fn family<'a>(name: &'static str, kind: MetricType, help: &'static str, series: Series<'a>) -> Family<'a> {
    Family { name, kind, help, series }
}

fn whole<'a>(value: u64) -> Series<'a> {
    vec![(vec![], Value::Whole(value))]
}

fn real<'a>(value: f64) -> Series<'a> {
    vec![(vec![], Value::Real(value))]
}

fn seconds(time: Millis) -> f64 {
    time.0 as f64 / 1_000.0
}

fn by<'a>(
    label: &'static str,
    numbers: impl IntoIterator<Item = (impl Borrow<&'static str>, impl Borrow<u64>)>,
) -> Series<'a> {
    let numbers = numbers.into_iter();
    numbers.map(|(value, n)| (vec![(label, *value.borrow())], Value::Whole(*n.borrow()))).collect()
}
