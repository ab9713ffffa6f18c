//! Requests of an event source mapping to its queue. This is a **model**: the mapping makes its calls inside AWS (in
//! tests, inside the emulator). They are billed to the account like any others, but pass through no proxy.
//!
//! A receive returns up to 10 messages, and is billed as one request for each 64 KiB begun. A deletion removes up to 10
//! messages. Receives are assumed to be full, which holds if jobs are sent in batches, as Curlew's stages do.

use super::sqs::Sent;
use super::unit::{SQS_STEP, steps};
use serde_json::{Value, json};

/// Maximum number of messages of a receive and of a deletion.
const BATCH: u64 = 10;
/// Number of long polls that a mapping keeps open while its queue is empty (Lambda's guide, scaling of SQS mappings).
const IDLE_POLLERS: f64 = 5.0;
/// Length of an empty long poll, in seconds.
const LONG_POLL: f64 = 20.0;
/// Seconds of a day.
const DAY: f64 = 86_400.0;

/// Requests of a mapping.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Requests {
    /// Number of receiving calls.
    pub receives: u64,
    /// Number of requests of 64 KiB that the receiving calls are billed as.
    pub receive_units: f64,
    /// Number of deleting calls, each billed as one request.
    pub deletes: u64,
}

/// Returns the requests for receiving and deleting these messages.
pub fn requests(delivered: Sent) -> Requests {
    if delivered.messages == 0 {
        return Requests::default();
    }
    let calls = delivered.messages.div_ceil(BATCH);
    let bytes_a_call = delivered.bytes.div_ceil(calls);
    let units = calls as f64 * steps(usize::try_from(bytes_a_call).unwrap_or(usize::MAX), SQS_STEP);
    Requests { receives: calls, receive_units: units, deletes: calls }
}

/// Returns the number of empty receives of one idle queue's mapping in a number of days. The bill counts them for every
/// queue and for the whole time, as if no queue were ever busy.
pub fn idle_receives(days: f64) -> f64 {
    IDLE_POLLERS * days * DAY / LONG_POLL
}

/// Converts a message's attributes from SQS's form to the form in which a mapping passes them to a function.
pub(crate) fn attributes_for_function(attributes: &Value) -> Value {
    let in_camel_case = |(name, attribute): (&String, &Value)| {
        let form = json!({
            "dataType": attribute["DataType"], "stringValue": attribute["StringValue"],
            "binaryValue": attribute["BinaryValue"], "stringListValues": [], "binaryListValues": []
        });
        (name.clone(), form)
    };
    attributes.as_object().into_iter().flatten().map(in_camel_case).collect::<serde_json::Map<_, _>>().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_messages_or_64_kib_are_a_request() {
        let of = |messages, bytes| requests(Sent { messages, bytes });
        assert_eq!(of(0, 0), Requests::default());
        assert_eq!(of(1, 300), Requests { receives: 1, receive_units: 1.0, deletes: 1 });
        assert_eq!(of(95, 95 * 300), Requests { receives: 10, receive_units: 10.0, deletes: 10 });
        // Each message has 27 KB, so ten of them are billed as five requests of 64 KiB.
        assert_eq!(of(100, 100 * 27_000), Requests { receives: 10, receive_units: 50.0, deletes: 10 });
    }

    #[test]
    fn a_month_of_idleness() {
        assert!((idle_receives(30.0) - 648_000.0).abs() < 1e-6);
    }
}
