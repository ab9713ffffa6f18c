//! The layer that takes spans as they close.

use crate::message::{KeyValue, Span, SpanKind, Status, Value};
use std::collections::hash_map::RandomState;
use std::fmt;
use std::hash::BuildHasher;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};
use tokio::sync::mpsc::Sender;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Metadata, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

/// Name of the spans of jobs. Their fields `trace` and `kind` say which trace they belong to, and what kind of job it is.
const JOB: &str = "job";
/// Beginning of the targets whose spans are exported.
const TARGET: &str = "curlew_stages";
/// Fields that have a name of their own among OpenTelemetry's semantic conventions. The others are `curlew.` and their name.
const CONVENTIONS: [(&str, &str); 3] =
    [("host", "server.address"), ("status", "http.response.status_code"), ("url", "url.full")];
/// Maximum number of bytes of a text.
const MAX_TEXT: usize = 2_048;

/// Hands spans to the exporter when they close. It never waits.
pub struct SpanLayer {
    queue: Sender<Span>,
    /// Number of spans for which the queue had no room.
    lost: Arc<AtomicU64>,
    ids: SpanIds,
}

/// A span that is open.
struct OpenSpan {
    trace: [u8; 16],
    id: [u8; 8],
    parent: Option<[u8; 8]>,
    name: &'static str,
    began: SystemTime,
    fields: Fields,
}

impl SpanLayer {
    pub(crate) fn new(queue: Sender<Span>, lost: Arc<AtomicU64>) -> SpanLayer {
        SpanLayer { queue, lost, ids: SpanIds::default() }
    }

    /// Returns the layer with a filter that lets it see the spans of jobs and those in them, whatever the log shows.
    pub fn filtered<S: Subscriber + for<'a> LookupSpan<'a>>(self) -> impl Layer<S> + Send + Sync {
        self.with_filter(filter_fn(is_wanted))
    }

    /// Returns the span as it begins; `None` if it is not exported.
    fn opened(&self, name: &'static str, fields: Fields, around: Option<Around>) -> Option<OpenSpan> {
        let (trace, parent) = match (fields.trace, around) {
            // The same job, seen by its stage.
            (Some(trace), Some(around)) if name == JOB && around.name == JOB && trace == around.trace => return None,
            (Some(trace), _) if name == JOB => (trace, None),
            (_, Some(around)) => (around.trace, Some(around.id)),
            (_, None) => return None,
        };
        Some(OpenSpan { trace, id: self.ids.next(), parent, name, began: SystemTime::now(), fields })
    }
}

fn is_wanted(metadata: &Metadata<'_>) -> bool {
    metadata.is_span() && metadata.target().starts_with(TARGET)
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for SpanLayer {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        let around = span.parent().and_then(|parent| {
            parent.scope().find_map(|span| span.extensions().get::<OpenSpan>().map(OpenSpan::as_parent))
        });
        if let Some(open) = self.opened(span.name(), fields, around) {
            span.extensions_mut().insert(open);
        }
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        if let Some(open) = span.extensions_mut().get_mut::<OpenSpan>() {
            values.record(&mut open.fields);
        }
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        let Some(span) = context.span(&id) else { return };
        let Some(open) = span.extensions_mut().remove::<OpenSpan>() else { return };
        if self.queue.try_send(open.ended(SystemTime::now())).is_err() {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// The span around another one.
#[derive(Clone, Copy)]
struct Around {
    trace: [u8; 16],
    id: [u8; 8],
    name: &'static str,
}

impl OpenSpan {
    fn as_parent(&self) -> Around {
        Around { trace: self.trace, id: self.id, name: self.name }
    }

    fn ended(self, at: SystemTime) -> Span {
        let OpenSpan { trace, id, parent, name, began, fields } = self;
        let Fields { kind, failure, mut attributes, .. } = fields;
        let (name, span_kind) = match (name, kind) {
            (JOB, Some(kind)) => (kind, SpanKind::Consumer),
            (name, Some(kind)) => (format!("{name} {kind}"), SpanKind::Client),
            (name, None) => (name.to_owned(), SpanKind::Unspecified),
        };
        let status = failure.map(|message| Status { message, code: Status::ERROR });
        attributes.sort_by(|a, b| a.key.cmp(&b.key));
        Span {
            trace_id: trace.to_vec(),
            span_id: id.to_vec(),
            parent_span_id: parent.map(|parent| parent.to_vec()).unwrap_or_default(),
            name,
            kind: span_kind.into(),
            start_time_unix_nano: nanos(began),
            end_time_unix_nano: nanos(at.max(began)),
            attributes,
            status,
        }
    }
}

/// Fields of a span.
#[derive(Default)]
struct Fields {
    trace: Option<[u8; 16]>,
    kind: Option<String>,
    failure: Option<String>,
    attributes: Vec<KeyValue>,
}

impl Fields {
    fn text(&mut self, field: &Field, text: String) {
        match field.name() {
            "trace" => self.trace = trace_id(&text),
            "kind" => self.kind = Some(text),
            "failure" => self.failure = Some(text),
            _ => self.put(field, Value::Text(cut(text))),
        }
    }

    fn put(&mut self, field: &Field, value: Value) {
        let convention = CONVENTIONS.iter().find(|(name, _)| *name == field.name());
        let key = convention.map_or_else(|| format!("curlew.{}", field.name()), |(_, key)| (*key).to_owned());
        self.attributes.retain(|attribute| attribute.key != key);
        self.attributes.push(KeyValue::new(key, value));
    }
}

impl Visit for Fields {
    fn record_i64(&mut self, field: &Field, value: i64) {
        self.put(field, Value::Number(value));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.put(field, Value::Number(i64::try_from(value).unwrap_or(i64::MAX)));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.text(field, value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.text(field, format!("{value:?}"));
    }
}

/// Reads a trace id: 32 hexadecimal digits that are not all zero (W3C Trace Context §3.2.2.3).
fn trace_id(text: &str) -> Option<[u8; 16]> {
    let is_id = text.len() == 32 && text.bytes().all(|b| b.is_ascii_hexdigit());
    let number = u128::from_str_radix(text, 16).ok().filter(|number| is_id && *number > 0)?;
    Some(number.to_be_bytes())
}

fn cut(mut text: String) -> String {
    text.truncate(text.floor_char_boundary(MAX_TEXT));
    text
}

fn nanos(at: SystemTime) -> u64 {
    at.duration_since(UNIX_EPOCH).map_or(0, |since| u64::try_from(since.as_nanos()).unwrap_or(u64::MAX))
}

/// Ids of spans, which need not be secret, but differ from those of other processes: a hash with a key of this process.
#[derive(Default)]
struct SpanIds {
    key: RandomState,
    last: AtomicU64,
}

impl SpanIds {
    fn next(&self) -> [u8; 8] {
        // Zero is no id.
        self.key.hash_one(self.last.fetch_add(1, Ordering::Relaxed)).max(1).to_be_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::mpsc;
    use tracing::field::Empty;
    use tracing::{error_span, trace_span};
    use tracing_subscriber::layer::SubscriberExt;
    use tracing_subscriber::registry;

    const ONE: &str = "019a0000000000000000000000000001";
    const OTHER: &str = "019a0000000000000000000000000002";

    /// Returns the spans that `work` leaves, and how many had no room in a queue of `room`.
    fn exported(room: usize, work: impl FnOnce()) -> (Vec<Span>, u64) {
        let (sender, mut receiver) = mpsc::channel(room);
        let lost: Arc<AtomicU64> = Arc::default();
        let layer = SpanLayer::new(sender, lost.clone());
        tracing::subscriber::with_default(
            registry().with(layer.with_filter(filter_fn(|metadata| metadata.is_span()))),
            work,
        );
        let spans = std::iter::from_fn(|| receiver.try_recv().ok()).collect();
        (spans, lost.load(Ordering::Relaxed))
    }

    #[test]
    fn jobs_are_roots_of_their_trace_and_calls_are_in_them() {
        let (spans, lost) = exported(16, || {
            let poll = error_span!("job", kind = "poll", trace = %ONE, failure = Empty);
            let fetch = error_span!("job", kind = "fetch", trace = %ONE, failure = Empty);
            fetch.record("failure", "transient");
            fetch.in_scope(|| {
                let call =
                    trace_span!("call", kind = "page", host = "example.org", url = Some("http://a/"), status = Empty);
                call.record("status", 404_u16);
                tracing::error!(secret = "hush", "a message");
            });
            drop((poll, fetch));
        });
        let names: Vec<&str> = spans.iter().map(|span| span.name.as_str()).collect();
        assert_eq!((names.as_slice(), lost), (["call page", "poll", "fetch"].as_slice(), 0));
        let [call, poll, fetch] = spans.as_slice() else { panic!("{spans:?}") };
        assert!(spans.iter().all(|span| span.trace_id == trace_id(ONE).unwrap_or_default()));
        assert!(poll.parent_span_id.is_empty() && fetch.parent_span_id.is_empty());
        assert_eq!(call.parent_span_id, fetch.span_id);
        assert_ne!(poll.span_id, fetch.span_id);
        assert_eq!((call.kind(), poll.kind()), (SpanKind::Client, SpanKind::Consumer));
        assert_eq!(
            (fetch.status.as_ref().map(|status| status.code), poll.status.as_ref()),
            (Some(Status::ERROR), None)
        );
        let text = |text: &str| Value::Text(text.to_owned());
        assert_eq!(
            call.attributes,
            [
                KeyValue::new("http.response.status_code", Value::Number(404)),
                KeyValue::new("server.address", text("example.org")),
                KeyValue::new("url.full", text("http://a/"))
            ]
        );
        assert!(spans.iter().all(|span| span.end_time_unix_nano >= span.start_time_unix_nano));
    }

    #[test]
    fn a_job_in_a_job_is_another_one_only_in_another_trace() {
        let (spans, _) = exported(16, || {
            let _outer = error_span!("job", kind = "fetch", trace = %ONE).entered();
            error_span!("job", kind = "fetch", trace = %ONE).in_scope(|| drop(trace_span!("call", kind = "image")));
            error_span!("job", kind = "fetch", trace = %OTHER).in_scope(|| drop(trace_span!("call", kind = "image")));
        });
        let [first, second, other, outer] = spans.as_slice() else { panic!("{spans:?}") };
        assert_eq!((&first.parent_span_id, &first.trace_id), (&outer.span_id, &outer.trace_id));
        assert_eq!((&second.parent_span_id, &second.trace_id), (&other.span_id, &other.trace_id));
        assert_eq!(other.trace_id, trace_id(OTHER).unwrap_or_default());
        assert!(other.parent_span_id.is_empty());
    }

    #[test]
    fn spans_outside_of_jobs_and_jobs_without_a_trace_are_left_out() {
        let (spans, _) = exported(16, || {
            drop(error_span!("settlement", kind = "extract", trace = %ONE));
            drop(trace_span!("call", kind = "page"));
            for wrong in ["", "0", "00000000000000000000000000000000", "+19a0000000000000000000000000001", "x"] {
                drop(error_span!("job", kind = "poll", trace = %wrong));
            }
        });
        assert!(spans.is_empty(), "{spans:?}");
    }

    #[test]
    fn spans_beyond_the_queue_are_dropped_and_counted() {
        let (spans, lost) = exported(3, || {
            for _ in 0..10 {
                drop(error_span!("job", kind = "poll", trace = %ONE));
            }
        });
        assert_eq!((spans.len(), lost), (3, 7));
    }
}
