//! SQS's billing: a call is billed as one request for each 64 KiB of its payload begun (SQS pricing).
//!
//! Sent messages are the payload of the request; received ones are the payload of the answer. Every other call is one
//! request. A batch is one call, and so is an empty receive.

use super::charge::Charge;
use super::unit::{SQS_STEP, Unit, steps};
use serde_json::Value;

/// Messages that were sent to a queue, from which their deliveries can be modelled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// Number of messages that the queue accepted.
    pub messages: u64,
    /// Number of bytes of these messages, including attributes.
    pub bytes: u64,
}

pub(crate) fn charges(operation: &str, request: &Value, answer: &Value) -> Vec<Charge> {
    let bytes = match operation {
        "SendMessage" => message(request),
        "SendMessageBatch" => entries(request).map(message).sum(),
        "ReceiveMessage" => list(answer, "Messages").map(received).sum(),
        _ => 0,
    };
    vec![Charge {
        target: queue(request),
        unit: Unit::SqsRequest,
        ours: steps(bytes, SQS_STEP),
        theirs: None,
        exact: true,
    }]
}

/// Returns the messages that a call put into its queue.
pub(crate) fn sent(operation: &str, request: &Value, answer: &Value) -> Sent {
    let of = |message: usize| Sent { messages: 1, bytes: message as u64 };
    match operation {
        "SendMessage" => of(message(request)),
        "SendMessageBatch" => {
            let taken: Vec<&Value> = list(answer, "Successful").map(|entry| &entry["Id"]).collect();
            let taken = entries(request).filter(|entry| taken.contains(&&entry["Id"])).map(message).map(of);
            taken.fold(Sent::default(), |a, b| Sent { messages: a.messages + b.messages, bytes: a.bytes + b.bytes })
        }
        _ => Sent::default(),
    }
}

/// Returns the queue's name: the last part of its URL.
pub(crate) fn queue(request: &Value) -> String {
    let url = request["QueueUrl"].as_str().or_else(|| request["QueueName"].as_str()).unwrap_or_default();
    url.rsplit('/').next().unwrap_or_default().to_owned()
}

fn entries(request: &Value) -> impl Iterator<Item = &Value> {
    list(request, "Entries")
}

fn list<'a>(value: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    value[name].as_array().into_iter().flatten()
}

/// Returns the number of bytes of a message: its body, and the name, type and value of each attribute (SQS developer
/// guide, message quotas).
fn message(entry: &Value) -> usize {
    entry["MessageBody"].as_str().map_or(0, str::len) + attributes(entry)
}

fn received(message: &Value) -> usize {
    message["Body"].as_str().map_or(0, str::len) + attributes(message)
}

fn attributes(message: &Value) -> usize {
    of_attributes(&message["MessageAttributes"])
}

pub(crate) fn of_attributes(attributes: &Value) -> usize {
    let Some(attributes) = attributes.as_object() else { return 0 };
    let value = |value: &Value| -> usize {
        let part = |name: &str| value[name].as_str().map_or(0, str::len);
        part("DataType") + part("StringValue") + super::item::binary(value["BinaryValue"].as_str().unwrap_or_default())
    };
    attributes.iter().map(|(name, attribute)| name.len() + value(attribute)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const QUEUE: &str = "http://127.0.0.1:4566/000000000000/s-fetch";

    fn billed(operation: &str, request: &Value, answer: &Value) -> f64 {
        let charge = charges(operation, request, answer).remove(0);
        assert_eq!((charge.unit, charge.target.as_str()), (Unit::SqsRequest, "s-fetch"));
        charge.units()
    }

    #[test]
    fn each_begun_64_kib_of_a_call_is_a_request() {
        let body = |bytes: usize| json!({"QueueUrl": QUEUE, "MessageBody": "x".repeat(bytes)});
        let counted = [1, SQS_STEP, SQS_STEP + 1, 4 * SQS_STEP].map(|n| billed("SendMessage", &body(n), &Value::Null));
        assert_eq!(counted, [1.0, 1.0, 2.0, 4.0]);
        let attribute = json!({"error": {"DataType": "String", "StringValue": "y".repeat(SQS_STEP)}});
        let with = json!({"QueueUrl": QUEUE, "MessageBody": "x", "MessageAttributes": attribute});
        assert!((billed("SendMessage", &with, &Value::Null) - 2.0).abs() < f64::EPSILON);
    }

    #[test]
    fn a_batch_is_one_call_of_all_its_bytes() {
        let entry = |id: usize, bytes: usize| json!({"Id": id.to_string(), "MessageBody": "x".repeat(bytes)});
        let small = json!({"QueueUrl": QUEUE, "Entries": [entry(1, 10), entry(2, 10)]});
        let large = json!({"QueueUrl": QUEUE, "Entries": [entry(1, SQS_STEP), entry(2, 10)]});
        let answer = json!({"Successful": [{"Id": "2"}], "Failed": [{"Id": "1"}]});
        assert!((billed("SendMessageBatch", &small, &answer) - 1.0).abs() < f64::EPSILON);
        assert!((billed("SendMessageBatch", &large, &answer) - 2.0).abs() < f64::EPSILON);
        assert_eq!(sent("SendMessageBatch", &large, &answer), Sent { messages: 1, bytes: 10 });
    }

    #[test]
    fn what_is_received_counts_and_so_does_nothing() {
        let ask = json!({"QueueUrl": QUEUE});
        let two = json!({"Messages": [{"Body": "x".repeat(SQS_STEP)}, {"Body": "y"}]});
        assert!((billed("ReceiveMessage", &ask, &two) - 2.0).abs() < f64::EPSILON);
        assert!((billed("ReceiveMessage", &ask, &json!({})) - 1.0).abs() < f64::EPSILON);
        assert!((billed("DeleteMessageBatch", &ask, &json!({})) - 1.0).abs() < f64::EPSILON);
    }
}
