//! The functions that EventBridge Scheduler or a person invokes: dispatch, index, sample.
//!
//! A schedule fires at least once, so each function may run twice: a repeated tick finds nothing due, a repeated
//! publish finds nothing new, and a sample is drawn once for the time that the schedule states.

use crate::batch::LAST_THINGS;
use crate::failure::Failure;
use crate::meter::Trouble;
use crate::serve::{Answer, Call, serve};
use curlew_catalog::index::PublishReport;
use curlew_crawl::feeds::dispatch::{Dispatched, TickLimits};
use curlew_crawl::pages::sample::Sampled;
use curlew_model::{Millis, QueueName, Timestamp, Year};
use curlew_ports::stage::{StageError, with_causes};
use curlew_ports::swapped;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::future::Future;
use std::process::ExitCode;

/// Name of the mark with the scheduled time of the last sample.
const SAMPLE_MARK: &str = "sample";
/// Time reserved in a tick for the last list of rows, for sending their jobs and for the mark.
const LAST_LIST: Millis = Millis::from_secs(10);
/// Minimum time that should be left to the index function when the index is built.
const LITTLE_LEFT: Millis = Millis::from_mins(2);

/// Runs dispatch: sends the jobs that are due, and releases parked jobs.
pub async fn dispatch() -> ExitCode {
    serve("dispatch", dispatched).await
}

/// Runs index: publishes new records, or merges the indexes of older years.
pub async fn index() -> ExitCode {
    serve("index", indexed).await
}

/// Runs sample: sends re-checks of indexed pages.
pub async fn sample() -> ExitCode {
    serve("sample", sampled).await
}

pub(crate) async fn dispatched(call: Call) -> Result<Answer<Value>, Failure> {
    let (Nothing {}, meant_for) = read(&call.payload)?;
    in_time(&call, tick(&call, meant_for)).await
}

pub(crate) async fn indexed(call: Call) -> Result<Answer<Value>, Failure> {
    let (event, _) = read(&call.payload)?;
    in_time(&call, publish(&call, event)).await
}

pub(crate) async fn sampled(call: Call) -> Result<Answer<Value>, Failure> {
    let (event, meant_for) = read(&call.payload)?;
    in_time(&call, recheck(&call, event, meant_for)).await
}

#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Nothing {}

/// Request to the index function; an empty one publishes new records.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct IndexEvent {
    /// Year to refresh.
    year: Option<Year>,
    /// Task of one of the two schedules.
    what: Option<What>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum What {
    /// Publish the new records of the current year, and those of the last hours of the previous year.
    Publish,
    /// Merge the indexes of older years.
    Archive,
}

#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct SampleEvent {
    count: Option<usize>,
}

async fn tick(call: &Call, meant_for: Option<Timestamp>) -> Result<Value, Failure> {
    let Call { cold, in_force, .. } = call;
    cold.settings.keep(in_force).await?;
    if in_force.settings.paused {
        return Ok(paused());
    }
    cold.check_version().await?;
    let program = cold.program(&in_force.settings, call.meter.clone())?;
    let jobs = cold.store.jobs();
    // On the heap, so that the future of a tick stays small.
    let release = Box::pin(jobs.release_parked(program.ports.marks.as_ref(), cold.clock.now()));
    let until = call.deadline.saturating_sub(LAST_THINGS).saturating_sub(LAST_LIST);
    let (released, sent) = program.crawler.dispatch.tick_after(release, TickLimits::until(until)).await;
    // Even if sending failed, messages may be waiting.
    let was_sent_to = |stage: QueueName| match (stage, &sent) {
        (QueueName::Discover, Ok(sent)) => sent.discoveries > 0,
        (QueueName::Poll, Ok(sent)) => sent.polls > 0,
        // Released jobs are seen when their queue is counted.
        _ => false,
    };
    let until = call.deadline.saturating_sub(LAST_THINGS.saturating_mul(2));
    cold.resting().keep(&jobs, cold.clock.as_ref(), until, was_sent_to).await;
    // On the heap, for the same reason as the release.
    Box::pin(cold.queue_watch.look(&jobs, &call.meter, cold.clock.now())).await;
    let sent = sent?;
    let released = released.map_err(StageError::from)?;
    let late_s = meant_for.map(|time| cold.clock.now().since(time).0 / 1_000);
    let Dispatched { slots, rows, polls, discoveries, is_behind } = sent;
    if is_behind {
        tracing::warn!(slots, rows, polls, "dispatch has not sent all that is due; the next tick goes on");
    }
    tracing::debug!(slots, rows, polls, discoveries, released, late_s, "what is due was sent");
    Ok(json!({
        "slots": slots, "rows": rows, "polls": polls, "discoveries": discoveries, "behind": is_behind,
        "released": released, "late_s": late_s
    }))
}

async fn publish(call: &Call, event: IndexEvent) -> Result<Value, Failure> {
    let program = call.cold.program(&call.in_force.settings, call.meter.clone())?;
    let done: Vec<(Year, PublishReport)> = match (event.year, event.what) {
        (Some(_), Some(_)) => return Err(Failure::Event("an event names a year, or says what to do, not both".into())),
        (Some(year), None) => vec![(year, program.library.refresh(year).await?)],
        (None, Some(What::Archive)) => program.library.archive().await?,
        (None, None | Some(What::Publish)) => program.publish().await?,
    };
    if call.deadline.saturating_sub(call.cold.clock.monotonic()) < LITTLE_LEFT {
        call.meter.note_trouble(Trouble::IndexSlow, 1);
    }
    let done = done.into_iter().map(|(year, done)| {
        let PublishReport { added, segments, damaged, purged, splits, rewritten } = done;
        tracing::info!(year, added, segments, damaged, purged, splits, rewritten, "the index of a year was published");
        json!({
            "year": year, "added": added, "segments": segments, "damaged": damaged, "purged": purged, "splits": splits,
            "rewritten": rewritten
        })
    });
    Ok(json!({ "years": done.collect::<Vec<_>>() }))
}

async fn recheck(call: &Call, event: SampleEvent, meant_for: Option<Timestamp>) -> Result<Value, Failure> {
    let Call { cold, in_force, .. } = call;
    if in_force.settings.paused {
        return Ok(paused());
    }
    cold.check_version().await?;
    let program = cold.program(&in_force.settings, call.meter.clone())?;
    if let Some(time) = meant_for {
        let marks = &program.ports.marks;
        let (last, seen) = marks.load(SAMPLE_MARK).await.map_err(StageError::from)?;
        let is_done = last.is_some_and(|last| last >= time);
        // The mark comes first: a failed sample is a day without re-checks, but a repeated one is many calls.
        if is_done || !swapped(marks.swap(SAMPLE_MARK, seen, time).await).map_err(StageError::from)? {
            return Ok(json!({ "pages": 0, "done_before": true }));
        }
    }
    let Sampled { indexed: pages, second_looks } = program.recheck(event.count).await?;
    tracing::info!(pages, second_looks, "a sample of pages is re-checked");
    // This is for the status page. Its failure must not fail the invocation, since the sample must not be repeated.
    let left = call.deadline.saturating_sub(cold.clock.monotonic()).saturating_sub(LAST_THINGS.saturating_mul(2));
    tokio::select! {
        kept = program.desk.stats.keep() => match kept {
            Ok(taken) => tracing::debug!(taken, "what there is is counted once a week"),
            Err(error) => tracing::warn!(error = with_causes(&error), "what there is could not be counted"),
        },
        () = cold.clock.sleep(left) => tracing::warn!("there was no time to count what there is"),
    }
    Ok(json!({ "pages": pages, "second_looks": second_looks }))
}

fn paused() -> Value {
    tracing::warn!("crawling is paused; nothing was sent");
    json!({ "paused": true })
}

/// Cancels work that would outlast the invocation; a later invocation can repeat it safely. Refuses all work if the
/// stack has a newer version.
async fn in_time(call: &Call, work: impl Future<Output = Result<Value, Failure>>) -> Result<Answer<Value>, Failure> {
    if let Some(why) = &call.refusal {
        return Err(Failure::Version(why.clone()));
    }
    // On the heap: these futures together are large.
    let work = Box::pin(work);
    let clock = &call.cold.clock;
    let left = call.deadline.saturating_sub(clock.monotonic()).saturating_sub(LAST_THINGS);
    tokio::select! {
        done = work => done.map(Answer::new),
        () = clock.sleep(left) => {
            Err(Failure::Settings(
                "the work did not finish within the function's timeout; the finished part is kept".into(),
            ))
        }
    }
}

/// EventBridge's envelope of an event; absent if the schedule has an input of its own.
#[derive(Deserialize)]
struct Envelope {
    #[serde(rename = "detail-type")]
    _kind: String,
    source: String,
    time: Timestamp,
    #[serde(default)]
    detail: Value,
}

/// Returns an event, and the scheduled time if the payload has it: as `time` among the event's fields, or in
/// EventBridge's envelope. Fails if a field is unknown or has an invalid value.
pub(crate) fn read<E: DeserializeOwned>(payload: &Value) -> Result<(E, Option<Timestamp>), Failure> {
    let wrong = |e: serde_json::Error| Failure::Event(format!("the event is not understood: {e}"));
    let (mut fields, mut time) = (payload.clone(), None);
    if payload.get("detail-type").is_some() {
        let envelope: Envelope = serde_json::from_value(fields).map_err(wrong)?;
        tracing::debug!(source = envelope.source, "the event came in EventBridge's envelope");
        time = Some(envelope.time);
        // EventBridge Scheduler sends the detail as text.
        fields = match envelope.detail {
            Value::Null => json!({}),
            Value::String(text) => serde_json::from_str(&text).map_err(wrong)?,
            detail => detail,
        };
    } else if let Some(given) = fields.as_object_mut().and_then(|fields| fields.remove("time")) {
        time = Some(serde_json::from_value(given).map_err(wrong)?);
    }
    if !fields.is_object() {
        // Serde would read a list as the values of the fields in order.
        return Err(Failure::Event("the event is not understood: it is no JSON object".into()));
    }
    Ok((serde_json::from_value(fields).map_err(wrong)?, time))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;

    #[test]
    fn events_are_read_with_and_without_an_envelope() {
        let (event, time): (SampleEvent, _) = read(&json!({"count": 7})).unwrap();
        assert_eq!((event.count, time), (Some(7), None));
        let (event, time): (SampleEvent, _) = read(&json!({"time": "2026-11-21T03:00:00Z"})).unwrap();
        assert_eq!((event, time.map(|t| t.hour())), (SampleEvent::default(), Some(3)));
        let enveloped = json!({
            "version": "0", "id": "x", "detail-type": "Scheduled Event", "source": "aws.scheduler",
            "account": "123456789012", "time": "2026-11-21T03:00:00Z", "region": "eu-west-1", "resources": [],
            "detail": "{\"what\":\"archive\"}"
        });
        let (event, time): (IndexEvent, _) = read(&enveloped).unwrap();
        assert_eq!((event.what, time.map(|t| t.hour())), (Some(What::Archive), Some(3)));
        let (event, _): (IndexEvent, _) = read(&json!({"what": "publish"})).unwrap();
        assert_eq!(event.what, Some(What::Publish));
        read::<Nothing>(&json!({})).unwrap();
    }

    #[test]
    fn what_is_not_understood_is_refused_with_the_reason() {
        for (event, says) in [
            (json!({"coutn": 7}), "unknown field `coutn`"),
            (json!({"count": -1}), "invalid value"),
            (json!({"time": "noon"}), "noon"),
            (json!([7]), "no JSON object"),
        ] {
            let failure = read::<SampleEvent>(&event).map(|_| ()).unwrap_err().to_string();
            assert!(failure.contains(says), "{event}: {failure}");
        }
        assert!(read::<Nothing>(&json!({"slots": 3})).is_err());
        assert!(read::<IndexEvent>(&json!({"what": "everything"})).is_err());
        assert!(read::<IndexEvent>(&json!({"year": 99_999})).is_err());
    }
}
