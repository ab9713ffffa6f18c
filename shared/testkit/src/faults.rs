//! Wrappers of ports that inject faults: before or after a call takes effect, a delay, or a crash of the process.
//!
//! A [`Faults`] has the faults of one incarnation of one process. All [`Faulty`] ports of that process share it, so
//! that none of them does anything after a crash, even if tasks of the process still run.

mod blobs;
mod pool;
mod ports;

pub use blobs::{BlobCall, BlobFate, JudgedBlobs};
pub use pool::OverrunPool;

use curlew_model::Millis;
use curlew_policy::chance::mix;
use curlew_ports::{Clock, PortError};
use std::collections::BTreeMap;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// Rates of the faults, in thousandths of all calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rates {
    /// The call fails without effect.
    pub refuse: u32,
    /// The call is throttled without effect.
    pub throttle: u32,
    /// The call takes effect, but its response is lost: the caller gets an error.
    pub lose_answer: u32,
    /// The call is delayed by up to [`Rates::longest_delay`].
    pub delay: u32,
    /// The process crashes before the call, or after it took effect.
    pub crash: u32,
    /// A later receive returns a delivery a second time.
    pub duplicate: u32,
    /// Maximum delay, and maximum time that throttling asks for.
    pub longest_delay: Millis,
}

impl Rates {
    /// No faults.
    pub const NONE: Rates =
        Rates { refuse: 0, throttle: 0, lose_answer: 0, delay: 0, crash: 0, duplicate: 0, longest_delay: Millis::ZERO };
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    Pass,
    Refuse,
    Throttle(Millis),
    LoseAnswer,
    Delay(Millis),
    CrashBefore,
    CrashAfter,
}

/// The error of every call after the process has crashed; see [`is_crash`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this incarnation of the process is no more")]
pub struct Crashed;

/// Returns true if an error means that the process has crashed, so that its tasks can be dropped.
pub fn is_crash(error: &PortError) -> bool {
    matches!(error, PortError::Unavailable { source: Some(source), .. } if source.is::<Crashed>())
}

/// The faults of one incarnation of a process.
pub struct Faults {
    clock: Arc<dyn Clock>,
    rates: Rates,
    state: Mutex<FaultsState>,
    ended: Notify,
}

#[derive(Debug)]
struct FaultsState {
    random: u64,
    calls: u64,
    /// Number of calls since [`Faulty::taken`] was last called, by the first word of the operation.
    taken: BTreeMap<&'static str, u32>,
    crash_at: Option<u64>,
    crashed: bool,
}

impl Faults {
    /// Returns faults that depend only on `seed` and the order of calls.
    pub fn seeded(seed: u64, rates: Rates, clock: Arc<dyn Clock>) -> Arc<Faults> {
        Faults::with(mix(seed), None, rates, clock)
    }

    /// Returns a [`Faults`] that never injects a fault.
    pub fn none(clock: Arc<dyn Clock>) -> Arc<Faults> {
        Faults::seeded(0, Rates::default(), clock)
    }

    /// Returns faults with a single crash: the process crashes just before call number `call`, counted from 0. A loop
    /// over all numbers interrupts a process between any two of its steps.
    pub fn crash_at(call: u64, clock: Arc<dyn Clock>) -> Arc<Faults> {
        Faults::with(0, Some(call), Rates::default(), clock)
    }

    /// Returns the next incarnation of the same process: alive, with faults that depend on the previous ones. This
    /// incarnation stays crashed, so that its running tasks do no harm.
    pub fn restarted(&self) -> Arc<Faults> {
        let random = mix(self.state().random ^ 1);
        Faults::with(random, None, self.rates, Arc::clone(&self.clock))
    }

    /// Crashes the process now.
    pub fn crash(&self) {
        self.state().crashed = true;
        self.ended.notify_waiters();
    }

    /// Returns when the process has crashed and its tasks should be dropped.
    pub async fn until_crash(&self) {
        loop {
            let ended = self.ended.notified();
            tokio::pin!(ended);
            // Listening starts before the check, so that a crash in between is not missed.
            ended.as_mut().enable();
            if self.has_crashed() {
                return;
            }
            ended.await;
        }
    }

    /// Returns true if the process has crashed.
    pub fn has_crashed(&self) -> bool {
        self.state().crashed
    }

    /// Returns the number of calls before the crash.
    pub fn calls(&self) -> u64 {
        self.state().calls
    }

    fn with(random: u64, crash_at: Option<u64>, rates: Rates, clock: Arc<dyn Clock>) -> Arc<Faults> {
        let state = FaultsState { random, calls: 0, taken: BTreeMap::new(), crash_at, crashed: false };
        Arc::new(Faults { clock, rates, state: Mutex::new(state), ended: Notify::new() })
    }

    fn state(&self) -> MutexGuard<'_, FaultsState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Chooses the fault of the next call. After a crash, every call crashes.
    fn next_fault(&self) -> Fault {
        let mut state = self.state();
        if state.crashed {
            return Fault::CrashBefore;
        }
        let (call, roll, detail) = (state.calls, state.roll(), state.roll());
        state.calls += 1;
        let fault = if state.crash_at == Some(call) { Fault::CrashBefore } else { self.rates.fault(roll, detail) };
        if fault == Fault::CrashBefore {
            state.crashed = true;
            self.ended.notify_waiters();
        }
        fault
    }

    fn next_is_duplicate(&self) -> bool {
        self.rates.duplicate > 0 && self.state().roll() % 1_000 < u64::from(self.rates.duplicate)
    }

    async fn call<T>(
        &self,
        what: &'static str,
        call: impl Future<Output = Result<T, PortError>> + Send,
    ) -> Result<T, PortError> {
        let word = what.split(' ').next().unwrap_or(what);
        *self.state().taken.entry(word).or_default() += 1;
        let fault = self.next_fault();
        match fault {
            Fault::Pass | Fault::LoseAnswer | Fault::CrashAfter => {}
            Fault::CrashBefore => return Err(crashed(what)),
            Fault::Refuse => return Err(PortError::unavailable(format!("cannot {what}"), "a fault by plan")),
            Fault::Throttle(retry_after) => return Err(PortError::Throttled { retry_after }),
            Fault::Delay(time) => {
                self.clock.sleep(time).await;
                if self.has_crashed() {
                    return Err(crashed(what));
                }
            }
        }
        let answer = call.await;
        if fault == Fault::CrashAfter {
            self.crash();
        }
        if self.has_crashed() {
            return Err(crashed(what));
        }
        if fault == Fault::LoseAnswer {
            return Err(PortError::unavailable(format!("cannot {what}"), "the answer was lost by plan"));
        }
        answer
    }
}

impl Rates {
    /// Returns the fault for a random number, or none; `detail` determines the delay or the kind of crash.
    fn fault(&self, roll: u64, detail: u64) -> Fault {
        let some_time = Millis(detail % self.longest_delay.0.saturating_add(1));
        let crash = if detail.is_multiple_of(2) { Fault::CrashBefore } else { Fault::CrashAfter };
        let faults = [
            (self.refuse, Fault::Refuse),
            (self.throttle, Fault::Throttle(some_time)),
            (self.lose_answer, Fault::LoseAnswer),
            (self.delay, Fault::Delay(some_time)),
            (self.crash, crash),
        ];
        let mut left = roll % 1_000;
        for (rate, fault) in faults {
            match left.checked_sub(u64::from(rate)) {
                Some(rest) => left = rest,
                None => return fault,
            }
        }
        Fault::Pass
    }
}

impl FaultsState {
    fn roll(&mut self) -> u64 {
        self.random = self.random.wrapping_add(1);
        mix(self.random)
    }
}

fn crashed(what: &str) -> PortError {
    PortError::unavailable(format!("cannot {what}: the process has crashed"), Crashed)
}

/// A port with injected faults. `P` is the port's trait object or an adapter.
pub struct Faulty<P: ?Sized> {
    port: Arc<P>,
    faults: Arc<Faults>,
    again: Mutex<Vec<(curlew_model::QueueName, curlew_ports::Delivery)>>,
}

impl<P: ?Sized> Faulty<P> {
    /// Wraps a port with the faults of a process.
    pub fn new(port: Arc<P>, faults: Arc<Faults>) -> Faulty<P> {
        Faulty { port, faults, again: Mutex::default() }
    }

    /// Returns the number of calls of each operation since the last call of this function, over all ports of the
    /// process.
    pub fn taken(&self) -> Vec<(&'static str, u32)> {
        std::mem::take(&mut self.faults.state().taken).into_iter().collect()
    }
}
