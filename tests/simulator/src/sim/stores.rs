//! The state that all machines of a run share: the stores, the web, the time, and the trace.

use super::Scenario;
use super::answer::moment;
use super::hub::Hubs;
use super::late::Late;
use super::trace::{RemovalSnapshot, SendSnapshot, Trace};
use super::world::World;
use crate::bad_time::Moment;
use crate::memory::{
    MemoryBlobs, MemoryHosts, MemoryJobs, MemoryMarks, MemoryPages, MemoryRobots, MemorySources, TokioClock,
};
use async_trait::async_trait;
use curlew_model::{Job, Millis, Purpose, Timestamp, Work};
use curlew_policy::address::HostGroups;
use curlew_policy::rules::Rules;
use curlew_ports::{Clock, PortError, Queue};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// A run whose log exceeds this number of lines does not come to rest.
const TOO_MUCH: usize = 10_000;

pub(super) struct Shared {
    pub(super) plan: Scenario,
    pub(super) world: World,
    pub(super) rules: Arc<Rules>,
    pub(super) groups: Arc<HostGroups>,
    pub(super) start: Timestamp,
    pub(super) clock: Arc<TokioClock>,
    pub(super) hosts: Arc<MemoryHosts>,
    /// States of host keys, as the machines see them.
    pub(super) ledger: Arc<Late>,
    pub(super) robots: Arc<MemoryRobots>,
    pub(super) marks: Arc<MemoryMarks>,
    pub(super) pages: Arc<MemoryPages>,
    pub(super) sources: Arc<MemorySources>,
    pub(super) blobs: Arc<MemoryBlobs>,
    pub(super) jobs: Arc<MemoryJobs>,
    /// Sends jobs to `jobs`, and notes them.
    pub(super) queue: Arc<NotedQueue>,
    pub(super) hubs: Hubs,
    /// Counts calls, which determines their luck.
    pub(super) calls: AtomicU64,
    /// True once faults and crashes are switched off.
    pub(super) calm: AtomicBool,
    /// True once polls of feeds and sites are no longer scheduled.
    pub(super) no_more_ticks: AtomicBool,
    /// Notified when the log grows too long.
    pub(super) overrun: Notify,
    trace: Mutex<Trace>,
}

impl Shared {
    /// Creates empty stores around a web. Requires a tokio runtime.
    pub(super) fn new(plan: Scenario, world: World, rules: Rules, start: Timestamp) -> Shared {
        let clock = Arc::new(TokioClock::starting_at(start));
        let (hosts, jobs): (Arc<MemoryHosts>, Arc<MemoryJobs>) = Default::default();
        Shared {
            plan,
            world,
            rules: Arc::new(rules),
            groups: Arc::default(),
            start,
            ledger: Arc::new(Late::new(hosts.clone(), clock.clone())),
            clock,
            hosts,
            robots: Arc::default(),
            marks: Arc::default(),
            pages: Arc::default(),
            sources: Arc::default(),
            blobs: Arc::default(),
            queue: Arc::new(NotedQueue { jobs: jobs.clone(), sends: Mutex::default() }),
            jobs,
            hubs: Hubs::default(),
            calls: AtomicU64::new(0),
            calm: AtomicBool::new(false),
            no_more_ticks: AtomicBool::new(false),
            overrun: Notify::new(),
            trace: Mutex::default(),
        }
    }

    pub(super) fn trace(&self) -> MutexGuard<'_, Trace> {
        self.trace.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn note(&self, line: impl Into<String>) {
        let at = self.clock.now();
        let mut trace = self.trace();
        trace.note(at, line.into());
        if trace.log.len() >= TOO_MUCH {
            trace.restless = true;
            self.overrun.notify_one();
        }
    }

    pub(super) fn moment(&self) -> Moment {
        moment(self.start, self.clock.now())
    }

    pub(super) fn instant(&self, moment: Moment) -> Timestamp {
        self.start + Millis(moment)
    }

    pub(super) fn is_calm(&self) -> bool {
        self.calm.load(Ordering::Relaxed)
    }
}

/// A queue that notes the jobs that are sent.
#[derive(Debug, Default)]
pub(super) struct NotedQueue {
    jobs: Arc<MemoryJobs>,
    sends: Mutex<Sends>,
}

/// The first job of each page, and all removals.
#[derive(Debug, Default)]
struct Sends {
    known: BTreeSet<String>,
    all: Vec<SendSnapshot>,
    removals: Vec<RemovalSnapshot>,
}

impl NotedQueue {
    pub(super) fn take_sends(&self) -> Vec<SendSnapshot> {
        std::mem::take(&mut self.sends.lock().unwrap_or_else(PoisonError::into_inner).all)
    }

    pub(super) fn take_removals(&self) -> Vec<RemovalSnapshot> {
        std::mem::take(&mut self.sends.lock().unwrap_or_else(PoisonError::into_inner).removals)
    }

    fn note_sends(&self, jobs: &[(Job, Timestamp)]) {
        let mut sends = self.sends.lock().unwrap_or_else(PoisonError::into_inner);
        for (job, at) in jobs {
            if let Job { work: Work::Remove(job), .. } = job
                && sends.removals.iter().all(|known| known.job != *job)
            {
                sends.removals.push(RemovalSnapshot { due: *at, job: job.clone() });
            }
            let Job { work: Work::Fetch(visit), .. } = job else { continue };
            for item in visit.items.iter().filter(|item| matches!(item.purpose, Purpose::New { .. })) {
                if sends.known.insert(item.url.clone()) {
                    sends.all.push(SendSnapshot { at: *at, host: visit.host.clone(), url: item.url.clone() });
                }
            }
        }
    }
}

#[async_trait]
impl Queue for NotedQueue {
    async fn send(&self, jobs: &[(Job, Timestamp)]) -> Result<(), PortError> {
        self.jobs.send(jobs).await?;
        self.note_sends(jobs);
        Ok(())
    }
}
