//! Messages that this process has received and not yet dealt with.
//!
//! A receipt of SQS names a delivery but does not return its text, which giving a message up needs. And SQS may accept
//! an expired receipt; here one has no effect.

use curlew_model::{QueueName, Timestamp};
use curlew_ports::Receipt;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A message that was received.
#[derive(Clone, Debug)]
pub(super) struct ReceivedMessage {
    pub(super) stage: QueueName,
    pub(super) body: String,
    /// End of its visibility timeout.
    pub(super) until: Timestamp,
}

/// Messages by receipt.
#[derive(Debug, Default)]
pub(super) struct Held(Mutex<HashMap<Receipt, ReceivedMessage>>);

impl Held {
    /// Stores messages, and drops expired ones.
    pub(super) fn keep(&self, now: Timestamp, messages: impl IntoIterator<Item = (Receipt, ReceivedMessage)>) {
        let mut held = self.lock();
        held.retain(|_, kept| kept.until > now);
        held.extend(messages);
    }

    /// Removes and returns the message of a receipt, unless it has expired.
    pub(super) fn take(&self, receipt: &Receipt, now: Timestamp) -> Option<ReceivedMessage> {
        self.lock().remove(receipt).filter(|kept| kept.until > now)
    }

    /// Stores a message again.
    pub(super) fn put_back(&self, receipt: &Receipt, kept: ReceivedMessage) {
        self.lock().insert(receipt.clone(), kept);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Receipt, ReceivedMessage>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
