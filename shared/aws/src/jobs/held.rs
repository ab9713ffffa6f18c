//! Messages that this process has received and not yet settled.
//!
//! An SQS receipt does not give access to the message's text, but dead-lettering a message needs the text. Also, SQS
//! may accept an expired receipt; here an expired receipt has no effect.

use curlew_model::{QueueName, Timestamp};
use curlew_ports::Receipt;
use parking_lot::Mutex;
use std::collections::HashMap;

#[derive(Clone, Debug)]
pub(super) struct ReceivedMessage {
    pub(super) stage: QueueName,
    pub(super) body: String,
    /// End of the message's visibility timeout.
    pub(super) until: Timestamp,
}

/// Received messages by receipt.
#[derive(Debug, Default)]
pub(super) struct Held(Mutex<HashMap<Receipt, ReceivedMessage>>);

impl Held {
    /// Stores messages and drops expired ones.
    pub(super) fn keep(&self, now: Timestamp, messages: impl IntoIterator<Item = (Receipt, ReceivedMessage)>) {
        let mut held = self.0.lock();
        held.retain(|_, kept| kept.until > now);
        held.extend(messages);
    }

    /// Removes and returns the message of a receipt; `None` if it has expired.
    pub(super) fn take(&self, receipt: &Receipt, now: Timestamp) -> Option<ReceivedMessage> {
        self.0.lock().remove(receipt).filter(|kept| kept.until > now)
    }

    pub(super) fn put_back(&self, receipt: &Receipt, kept: ReceivedMessage) {
        self.0.lock().insert(receipt.clone(), kept);
    }
}
