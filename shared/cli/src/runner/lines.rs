//! Lines of jobs that wait for a host key which another job of this process is using. Without a line, such a job would
//! meet the other job's lease and be deferred for seconds, however soon the other job ends.

use curlew_model::{HostKey, Millis, QueueName};
use curlew_ports::Delivery;
use parking_lot::Mutex;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// Maximum number of jobs in a line. Further jobs run at once, and are deferred because of the lease.
const IN_LINE: usize = 16;

#[derive(Debug)]
pub(super) struct InLine {
    pub(super) queue: QueueName,
    pub(super) delivery: Delivery,
    /// Monotonic time at which the job was received.
    pub(super) since: Millis,
}

#[derive(Debug, Default)]
struct State {
    /// The line of each host key that is in use.
    lines: BTreeMap<HostKey, VecDeque<InLine>>,
    /// Jobs whose turn has come but that have not started, with their host keys.
    called: Vec<(HostKey, InLine)>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Lines(Arc<Mutex<State>>);

/// A job's turn at a host key. When it is dropped, the first job in line gets its turn.
#[derive(Debug)]
pub(super) struct Turn {
    host: HostKey,
    lines: Lines,
}

impl Lines {
    /// Gives a job its turn, or puts it in line. Returns a job to run at once, without a turn if the line is full.
    pub(super) fn enter(&self, host: &HostKey, job: InLine) -> Option<(Option<Turn>, InLine)> {
        let mut state = self.0.lock();
        match state.lines.get_mut(host) {
            Some(line) if line.len() >= IN_LINE => Some((None, job)),
            Some(line) => {
                line.push_back(job);
                None
            }
            None => {
                state.lines.insert(host.clone(), VecDeque::new());
                Some((Some(Turn { host: host.clone(), lines: self.clone() }), job))
            }
        }
    }

    pub(super) fn called(&self) -> Vec<(Turn, InLine)> {
        let called = std::mem::take(&mut self.0.lock().called);
        called.into_iter().map(|(host, job)| (Turn { host, lines: self.clone() }, job)).collect()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.lock().lines.is_empty()
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut state = self.lines.0.lock();
        match state.lines.get_mut(&self.host).and_then(VecDeque::pop_front) {
            Some(next) => state.called.push((self.host.clone(), next)),
            None => {
                state.lines.remove(&self.host);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;
    use curlew_ports::Receipt;

    fn job(number: usize) -> InLine {
        let delivery = Delivery { receipt: Receipt(number.to_string()), job: Err(String::new()), receives: 1 };
        InLine { queue: QueueName::Fetch, delivery, since: Millis::ZERO }
    }

    fn number(job: &InLine) -> usize {
        job.delivery.receipt.0.parse().unwrap()
    }

    #[test]
    fn one_job_of_a_host_has_its_turn_and_the_others_follow_in_order() {
        let lines = Lines::default();
        let (left, right) = (HostKey::new("left.example").unwrap(), HostKey::new("right.example").unwrap());
        let (first, _) = lines.enter(&left, job(0)).unwrap();
        assert!(lines.enter(&left, job(1)).is_none());
        assert!(lines.enter(&left, job(2)).is_none());
        let (other, _) = lines.enter(&right, job(3)).unwrap();
        assert!(lines.called().is_empty());
        drop((first, other));
        for expected in [1, 2] {
            let mut called = lines.called();
            assert_eq!(called.iter().map(|(_, job)| number(job)).collect::<Vec<_>>(), [expected]);
            assert!(lines.called().is_empty());
            called.clear();
        }
        assert!(lines.called().is_empty() && lines.is_empty());
    }

    #[test]
    fn a_full_line_takes_no_job() {
        let lines = Lines::default();
        let host = HostKey::new("example.org").unwrap();
        let _turn = lines.enter(&host, job(0)).unwrap();
        for n in 0..IN_LINE {
            assert!(lines.enter(&host, job(n)).is_none());
        }
        let (turn, _) = lines.enter(&host, job(99)).unwrap();
        assert!(turn.is_none());
    }
}
