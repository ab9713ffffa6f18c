//! What a kind of work says of itself.

use crate::queue_name::QueueName;
use crate::time::Timestamp;

/// A kind of work.
pub trait Kind {
    /// Name of the kind, as in its message.
    const NAME: &'static str;
    /// Queue of the kind.
    const QUEUE: QueueName;
    /// Returns the subject of the chain of jobs that this work begins, and the instant at which that chain begins, if
    /// the work knows it.
    fn chain(&self) -> (String, Timestamp);
    /// Returns the queue of this piece of work.
    fn queue(&self) -> QueueName {
        Self::QUEUE
    }
}

impl<K: Kind> Kind for Box<K> {
    const NAME: &'static str = K::NAME;
    const QUEUE: QueueName = K::QUEUE;

    fn chain(&self) -> (String, Timestamp) {
        (**self).chain()
    }
}
