//! The queues: SQS for jobs that are due within 15 minutes, a table for later ones, which `release.rs` moves to SQS.

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

use crate::connection::Connection;
use crate::error::RequestContext;
use crate::names::Names;
use crate::objects::Objects;
use crate::table::Table;
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
use tokio::sync::OnceCell;

/// Maximum delay of a message in SQS. Jobs with later due times are parked.
const LONGEST_DELAY: Millis = Millis::from_mins(15);

/// The queues of a stack: [`Queue`] for the stages, [`Inbox`](curlew_ports::Inbox) for operators and tests. In a
/// deployed stack, the event source mappings receive the messages.
///
/// Delivery is at least once, in no particular order.
#[derive(Debug)]
pub struct Jobs {
    sqs: Client,
    parked: Table,
    objects: Arc<Objects>,
    names: Names,
    /// Addresses of the queues and of the dead-letter queues, each requested at its first use.
    live: [OnceCell<String>; QueueName::ALL.len()],
    dead: [OnceCell<String>; QueueName::ALL.len()],
    together: [Together; QueueName::ALL.len()],
    held: Held,
    /// The real time. SQS counts a delay from the moment when it accepts a message, so delays are computed from real
    /// time.
    now: fn() -> Timestamp,
}

impl Jobs {
    pub(crate) fn new(connection: &Connection, parked: Table, objects: Arc<Objects>, names: &Names) -> Jobs {
        Jobs {
            sqs: connection.sqs(),
            parked,
            objects,
            names: names.clone(),
            live: Default::default(),
            dead: Default::default(),
            together: Default::default(),
            held: Held::default(),
            now: connection.now,
        }
    }

    async fn address(&self, stage: QueueName) -> Result<&str, PortError> {
        let ask = || self.find(self.names.queue(stage));
        self.live[place(stage)].get_or_try_init(ask).await.map(String::as_str)
    }

    async fn dead_address(&self, stage: QueueName) -> Result<&str, PortError> {
        let ask = || self.find(self.names.dead_queue(stage));
        self.dead[place(stage)].get_or_try_init(ask).await.map(String::as_str)
    }

    async fn find(&self, name: String) -> Result<String, PortError> {
        let found = self.sqs.get_queue_url().queue_name(&name).send().await;
        let found = found.map_err(|e| self.context("find a queue", &name).failed(e))?;
        Ok(found.queue_url.unwrap_or_default())
    }

    /// Describes a request to a queue, for error messages.
    fn context<'a>(&'a self, what: &'a str, name: &'a str) -> RequestContext<'a> {
        RequestContext { what, kind: "queue", name, stack: &self.names.stack }
    }

    /// Returns the whole seconds from now until `due`, rounded up so that nothing is early, and at most `most`.
    fn seconds_until(&self, due: Timestamp, most: Millis) -> i32 {
        let wait = due.since((self.now)()).min(most);
        i32::try_from(wait.0.div_ceil(1_000)).unwrap_or(i32::MAX)
    }
}

#[async_trait]
impl Queue for Jobs {
    /// Calls within some tens of milliseconds share requests, since SQS bills each request per 64 KB. Dropping the
    /// future stops all its work; messages that were already sent stay sent.
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

pub(crate) fn wall_clock() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

fn queue_named(name: &str) -> Option<QueueName> {
    QueueName::ALL.into_iter().find(|stage| stage.as_str() == name)
}

/// Returns the index of a stage in [`QueueName::ALL`].
fn place(stage: QueueName) -> usize {
    stage as usize
}
