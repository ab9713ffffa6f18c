//! Sends many jobs in few calls: a queue takes hundreds in little more time than one.

use curlew_model::{Job, Timestamp};
use curlew_ports::{PortError, Queue};

/// Number of jobs that are sent in one call. If all are visits of a hundred long URLs, they take some ten megabytes.
const TOGETHER: usize = 200;

/// Buffers jobs for a queue. The pushed jobs are in the queue once [`Bulk::send`] has returned.
pub struct Bulk<'a> {
    queue: &'a dyn Queue,
    jobs: Vec<(Job, Timestamp)>,
}

impl<'a> Bulk<'a> {
    /// Returns an empty buffer for this queue.
    pub fn new(queue: &'a dyn Queue) -> Bulk<'a> {
        Bulk { queue, jobs: Vec::new() }
    }

    /// Adds a job, to be delivered no earlier than `due`; sends the buffer once it is full.
    pub async fn push(&mut self, job: Job, due: Timestamp) -> Result<(), PortError> {
        self.jobs.push((job, due));
        if self.jobs.len() >= TOGETHER { self.send().await } else { Ok(()) }
    }

    /// Sends the buffered jobs.
    pub async fn send(&mut self) -> Result<(), PortError> {
        let jobs = std::mem::take(&mut self.jobs);
        if jobs.is_empty() { Ok(()) } else { self.queue.send(&jobs).await }
    }
}
