//! The queues: SQS for jobs that are due within 15 minutes, a table for later ones.
//!
//! | file | job |
//! |---|---|
//! | `message.rs` | jobs as messages, claim checks for long ones |
//! | `attachments.rs` | their bytes as binary attributes |
//! | `together.rs` | many senders, few requests |
//! | `send.rs` | requests to SQS, with retries of unprocessed entries |
//! | `park.rs` | rows of jobs that wait for long |
//! | `release.rs` | their way back to the queues |
//! | `receive.rs` | requests to SQS about received messages |
//! | `inbox.rs`, `held.rs` | receiving, for operators and tests |
//! | `dead.rs` | dead-letter queues |

mod addresses;
mod attachments;
mod dead;
mod held;
mod inbox;
mod message;
mod park;
mod receive;
mod release;
mod send;
mod together;

pub use attachments::put_back;
pub use message::ReadError;

use crate::error::RequestContext;
use crate::names::Names;
use crate::objects::Objects;
use crate::table::Table;
use addresses::Addresses;
use async_trait::async_trait;
use aws_sdk_sqs::Client;
use curlew_model::{Job, Millis, QueueName, Timestamp};
use curlew_ports::{PortError, Queue};
use futures::future::{try_join, try_join_all};
use held::Held;
use message::OutgoingMessage;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};
use together::Together;

/// Maximum delay of a message in SQS. Jobs that are due later are parked.
const LONGEST_DELAY: Millis = Millis::from_mins(15);

/// The queues of a stack: [`Queue`] for the stages, [`Inbox`](curlew_ports::Inbox) for operators and tests. In a
/// deployed stack the event source mappings receive.
///
/// Delivery is at least once and in no order.
#[derive(Debug)]
pub struct Jobs {
    sqs: Client,
    parked: Table,
    objects: Arc<Objects>,
    names: Names,
    addresses: Addresses,
    together: [Together; QueueName::ALL.len()],
    held: Held,
    /// The true time. SQS counts delays from the moment at which it accepts a message, so they must be computed from
    /// it.
    now: fn() -> Timestamp,
}

impl Jobs {
    pub(crate) fn new(
        sqs: Client,
        parked: Table,
        objects: Arc<Objects>,
        names: &Names,
        now: fn() -> Timestamp,
    ) -> Jobs {
        Jobs {
            sqs,
            parked,
            objects,
            names: names.clone(),
            addresses: Addresses::default(),
            together: Default::default(),
            held: Held::default(),
            now,
        }
    }

    /// Describes a request to a queue, for its errors.
    fn context<'a>(&'a self, what: &'a str, name: &'a str) -> RequestContext<'a> {
        RequestContext { what, kind: "queue", name, stack: &self.names.stack }
    }

    /// Returns whole seconds from now until an instant, rounded up so that nothing comes too early, at most `most`.
    fn seconds_until(&self, due: Timestamp, most: Millis) -> i32 {
        let wait = due.since((self.now)()).min(most);
        i32::try_from(wait.0.div_ceil(1_000)).unwrap_or(i32::MAX)
    }
}

#[async_trait]
impl Queue for Jobs {
    /// Calls within some tens of milliseconds share requests, since SQS bills by the request of 64 KB. Dropping the
    /// call leaves nothing running; messages that it has sent by then stay sent.
    async fn send(&self, jobs: &[(Job, Timestamp)]) -> Result<(), PortError> {
        let horizon = (self.now)() + LONGEST_DELAY;
        let mut soon: [Vec<OutgoingMessage>; QueueName::ALL.len()] = Default::default();
        let mut later = Vec::new();
        for (job, due) in jobs {
            let text = message::text(job)?;
            if *due > horizon {
                later.push((job.work.queue(), text, *due));
            } else {
                soon[place(job.work.queue())].push(self.outgoing(job.work.queue(), text, *due).await?);
            }
        }
        let mut sends = Vec::new();
        for (stage, messages) in QueueName::ALL.into_iter().zip(soon).filter(|(_, messages)| !messages.is_empty()) {
            sends.push(self.together[place(stage)].send(self, stage, messages));
        }
        try_join(try_join_all(sends), self.park(later)).await.map(drop)
    }
}

/// Returns the true time.
pub(crate) fn wall_clock() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// Returns the index of a stage in [`QueueName::ALL`].
fn place(stage: QueueName) -> usize {
    stage as usize
}
