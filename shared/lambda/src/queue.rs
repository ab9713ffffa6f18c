//! The functions that SQS invokes: discover, poll, fetch, extract, remove.

use crate::batch::{Batch, Bounds, Summary, put_back_all};
use crate::failure::Failure;
use crate::serve::{Answer, Call, serve};
use crate::sqs_queue::{Deaths, Message, SqsQueue};
use crate::stack_model::StackModel;
use curlew_app::Settings;
use curlew_app::program::Program;
use curlew_aws::put_back;
use curlew_crawl::crawler::Crawler;
use curlew_crawl::politeness::access::Politeness;
use curlew_fetcher::TxtRecords;
use curlew_model::{Millis, QueueName};
use curlew_ports::{Names, NoNames};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::process::ExitCode;
use std::sync::Arc;

/// Delay of messages while everything is paused: the maximum of SQS. The jobs are sent again instead of put back, since
/// deliveries count as failures until a message is given up. Each message costs one send, one receive and one delete
/// per quarter of an hour, but only where event source mappings are still enabled.
const PAUSE: Millis = Millis::from_mins(15);

/// Number of sent pages that the state of a host key remembers: small enough for the host's row to stay within one
/// write unit of 1 KB. Separate rows would be a sixth of the cost of a new page (BENCHMARKS.md).
const SENT_PAGES: usize = 24;

/// Runs the function of a stage's queue.
pub async fn queue(stage: QueueName) -> ExitCode {
    serve(stage.as_str(), move |call| handle(stage, call, no_names)).await
}

/// Runs the function that finds feeds and checks proofs of ownership; it is the only one with DNS look-ups.
pub async fn discover() -> ExitCode {
    let stage = QueueName::Discover;
    let names = |settings: &Settings| -> Arc<dyn Names> { Arc::new(TxtRecords::new(settings.name_server)) };
    serve(stage.as_str(), move |call| handle(stage, call, names)).await
}

/// Runs the function that extracts records; it is the only one that classifies images with a model.
pub async fn extract() -> ExitCode {
    let (stage, model) = (QueueName::Extract, Arc::new(StackModel::default()));
    let act = move |call: Call| {
        let model = model.clone();
        async move {
            let (blobs, now) = (call.cold.store.objects(), call.cold.clock.monotonic());
            let in_force = model.over(blobs.as_ref(), now, call.in_force.clone()).await?;
            handle(stage, Call { in_force, ..call }, no_names).await
        }
    };
    serve(stage.as_str(), act).await
}

pub(crate) fn no_names(_: &Settings) -> Arc<dyn Names> {
    Arc::new(NoNames)
}

pub(crate) async fn handle(
    stage: QueueName,
    call: Call,
    names: impl Fn(&Settings) -> Arc<dyn Names>,
) -> Result<Answer<Value>, Failure> {
    let Call { cold, in_force, refusal, payload, deadline, meter } = call;
    let messages = messages(payload)?;
    let queue = Arc::new(SqsQueue { stage, jobs: cold.store.jobs(), deaths: Deaths(cold.store.objects()) });
    if let Some(error) = refusal {
        tracing::error!(error, messages = messages.len(), "all work is refused; the messages go back to their queue");
        return Ok(answer(put_back_all(&messages, queue.as_ref(), cold.clock.as_ref()).await));
    }
    let settings = &in_force.settings;
    let bounds =
        Bounds { slots: settings.workers, rules: settings.rules.clone(), groups: settings.groups.clone(), deadline };
    let (left, needed) = (deadline.saturating_sub(cold.clock.monotonic()), bounds.least_time(stage));
    if left < needed && !messages.is_empty() && !settings.paused {
        let (left, needed) = (left.0.div_ceil(1_000), needed.0.div_ceil(1_000));
        return Err(Failure::Settings(format!(
            "an invocation of {left} s is too short for one job of {}, which may take {needed} s: raise the function's \
             timeout",
            stage.as_str()
        )));
    }
    let batch = Batch::open(stage, messages, queue, cold.clock.clone(), bounds).await;
    let summary = if settings.paused {
        tracing::warn!("crawling is paused; every job waits");
        batch.put_off(cold.clock.now() + PAUSE).await
    } else {
        let plan = batch.plan();
        let program = cold
            .program(settings, meter.clone())?
            .with_crawler(Crawler::listening)
            .with_desk(|desk| desk.looking_up(names(settings)));
        if stage == QueueName::Poll {
            keep_directory(&program).await;
        }
        let fetch = program.crawler.fetch.clone().with_time_slice(plan.turn).remember_sent_in_host_state(SENT_PAGES);
        let program = program.with_crawler(|crawler| crawler.fetching(fetch));
        batch.run(plan, Arc::new(program)).await
    };
    if has_failed(&summary) {
        meter.note_failed_batch();
    }
    Ok(answer(summary))
}

/// True if there were messages and none succeeded. Lambda counts such an invocation as successful.
fn has_failed(summary: &Summary) -> bool {
    summary.messages > 0 && summary.failures.len() + summary.given_up == summary.messages
}

/// Returns the response to the event source mapping (ReportBatchItemFailures): the messages to hand out again.
fn answer(summary: Summary) -> Answer<Value> {
    let failures: Vec<Value> = summary.failures.iter().map(|id| json!({ "itemIdentifier": id })).collect();
    Answer { response: json!({ "batchItemFailures": failures }), summary }
}

/// Signs the key directory again if it is due. This function runs many times a day and has permission to read the keys;
/// the public web function has not.
async fn keep_directory(program: &Program) {
    let Politeness { signer: Some(signer), clock, seeds, blobs, .. } = &*program.crawler.politeness else { return };
    if let Err(error) = signer.publish_hourly(blobs.as_ref(), clock.now(), seeds.next()).await {
        tracing::warn!(%error, "the directory of keys was not signed anew; it is tried again in an hour");
    }
}

/// The fields used from an SQS event (Lambda's guide, "Using Lambda with Amazon SQS").
#[derive(Debug, Deserialize)]
struct Event {
    #[serde(rename = "Records")]
    records: Vec<Record>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Record {
    message_id: String,
    receipt_handle: String,
    body: String,
    attributes: Attributes,
    #[serde(default)]
    message_attributes: HashMap<String, MessageAttribute>,
    event_source: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct MessageAttribute {
    /// Base64, if the attribute is binary.
    #[serde(default)]
    binary_value: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Attributes {
    approximate_receive_count: String,
}

pub(crate) fn messages(payload: Value) -> Result<Vec<Message>, Failure> {
    let wrong = |why: &str| Failure::Event(format!("this is no event of SQS: {why}"));
    let event: Event = serde_json::from_value(payload).map_err(|e| wrong(&e.to_string()))?;
    event
        .records
        .into_iter()
        .map(|record| {
            if record.event_source != "aws:sqs" {
                return Err(wrong(&format!("its source is '{}'", record.event_source)));
            }
            let receives = record.attributes.approximate_receive_count.parse();
            let attributes = record.message_attributes;
            Ok(Message {
                receives: receives.map_err(|_| wrong("ApproximateReceiveCount is no number"))?,
                id: record.message_id,
                handle: record.receipt_handle,
                body: put_back(record.body, |name| attributes.get(name)?.binary_value.clone()),
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;

    #[test]
    fn what_is_no_event_of_sqs_is_refused_with_the_reason() {
        assert!(messages(json!({"Records": []})).unwrap().is_empty());
        for (event, says) in [
            (json!({}), "missing field `Records`"),
            (json!("hello"), "invalid type"),
            (json!({"Records": [{"eventSource": "aws:s3", "s3": {}}]}), "missing field `messageId`"),
        ] {
            let failure = messages(event).unwrap_err();
            assert!(failure.to_string().contains(says), "{failure}");
        }
    }

    #[test]
    fn bytes_that_came_as_an_attribute_are_in_the_text() {
        let record = json!({"messageId": "1", "receiptHandle": "2", "eventSource": "aws:sqs",
            "attributes": {"ApproximateReceiveCount": "1"}, "body": "{\"inline\":\"\t\"}",
            "messageAttributes": {"inline": {"binaryValue": "QUJD", "dataType": "Binary"},
                "error": {"stringValue": "x", "dataType": "String"}}});
        assert_eq!(messages(json!({"Records": [record]})).unwrap()[0].body, r#"{"inline":"QUJD"}"#);
    }

    #[test]
    fn the_answer_has_the_form_that_lambda_expects() {
        let answer = answer(Summary { messages: 2, done: 1, failures: vec!["a".into()], ..Summary::default() });
        assert_eq!(answer.response, json!({"batchItemFailures": [{"itemIdentifier": "a"}]}));
    }

    #[test]
    fn a_batch_has_failed_if_no_message_of_it_did_well() {
        let failed = |messages: usize, failures: usize, given_up: usize| {
            let failures = vec![String::new(); failures];
            has_failed(&Summary { messages, failures, given_up, ..Summary::default() })
        };
        assert!(failed(1, 1, 0) && failed(1, 0, 1) && failed(5, 3, 2));
        assert!(!failed(0, 0, 0), "nothing came");
        assert!(!failed(5, 3, 1), "one was done, or waits");
    }
}
