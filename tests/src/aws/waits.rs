//! Time that callers wait for an endpoint, and the time that they would wait for AWS.
//!
//! The emulator is slower than AWS, and even slower on a busy machine. The time that a function waits for the emulator
//! is no property of the function, so a bill uses the services' times instead.

use super::call::{Call, Service};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Time of a call to a table, to a queue and to an object, from a function in the same region.
const TABLE: Duration = Duration::from_millis(5);
const QUEUE: Duration = Duration::from_millis(10);
const OBJECT: Duration = Duration::from_millis(30);
/// Time of a call to Lambda's API.
const API: Duration = Duration::from_millis(60);

impl Service {
    /// Returns the time that a call to this service takes on AWS.
    pub fn call_time(self) -> Duration {
        match self {
            Service::DynamoDb => TABLE,
            Service::Sqs => QUEUE,
            Service::S3 => OBJECT,
            _ => API,
        }
    }
}

/// Times that a caller has waited for calls.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Waited {
    /// Time in which at least one call was under way.
    pub any: Duration,
    /// Sum of the times of all calls.
    pub all: Duration,
    /// Sum of the times that the same calls take on AWS.
    pub on_aws: Duration,
}

impl Waited {
    /// Returns the time in which at least one call would have been under way on AWS, with the same overlap of calls as
    /// here.
    pub fn any_on_aws(&self) -> Duration {
        if self.all.is_zero() {
            return Duration::ZERO;
        }
        self.any.mul_f64(self.on_aws.as_secs_f64() / self.all.as_secs_f64())
    }

    /// Returns the factor for the waiting time of runs that waited `here_ms` milliseconds in all. Part of that time is
    /// for these calls, one run at a time. The rest takes as long on AWS: calls to sites, and the pauses between them.
    pub fn scale(&self, here_ms: f64) -> f64 {
        let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
        let other = (here_ms - milliseconds(self.any)).max(0.0);
        if here_ms > 0.0 { (other + milliseconds(self.any_on_aws())) / here_ms } else { 1.0 }
    }
}

/// Times that each caller has waited for calls. All methods may be called from many threads.
#[derive(Debug, Default)]
pub struct Waits(Mutex<BTreeMap<String, Waiting>>);

#[derive(Debug, Default)]
struct Waiting {
    waited: Waited,
    /// Number of calls under way, and since when at least one is.
    under_way: usize,
    since: Option<Instant>,
}

/// A call under way, which ends when this guard is dropped.
#[derive(Debug)]
pub(super) struct UnderWay<'a> {
    waits: &'a Waits,
    caller: String,
    service: Service,
    began: Instant,
}

impl Waits {
    pub(super) fn begin(&self, call: &Call) -> UnderWay<'_> {
        let began = Instant::now();
        let mut callers = self.lock();
        let caller = callers.entry(call.caller.clone()).or_default();
        caller.under_way += 1;
        caller.since.get_or_insert(began);
        UnderWay { waits: self, caller: call.caller.clone(), service: call.service, began }
    }

    /// Returns what a caller has waited since the last call of this function. A call counts when it ends.
    pub fn take(&self, caller: &str) -> Waited {
        self.lock().get_mut(caller).map(|caller| std::mem::take(&mut caller.waited)).unwrap_or_default()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Waiting>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        let mut callers = self.waits.lock();
        let caller = callers.entry(self.caller.clone()).or_default();
        caller.waited.all += self.began.elapsed();
        caller.waited.on_aws += self.service.call_time();
        caller.under_way = caller.under_way.saturating_sub(1);
        if caller.under_way == 0 {
            caller.waited.any += caller.since.take().map(|since| since.elapsed()).unwrap_or_default();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAUSE: Duration = Duration::from_millis(20);

    fn call(service: Service) -> Call {
        Call { service, operation: "GetItem".to_owned(), caller: "fetch".to_owned() }
    }

    #[test]
    fn calls_side_by_side_are_waited_for_once() {
        let waits = Waits::default();
        let both = [waits.begin(&call(Service::DynamoDb)), waits.begin(&call(Service::S3))];
        std::thread::sleep(PAUSE);
        drop(both);
        std::thread::sleep(PAUSE);
        drop(waits.begin(&call(Service::DynamoDb)));
        let waited = waits.take("fetch");
        assert!(waited.any >= PAUSE && waited.all >= PAUSE * 2 && waited.any < waited.all, "{waited:?}");
        assert_eq!(waited.on_aws, TABLE * 2 + OBJECT);
        assert_eq!((waits.take("fetch"), waits.take("poll")), (Waited::default(), Waited::default()));
    }

    #[test]
    fn the_services_times_take_the_emulators_place() {
        let milliseconds = Duration::from_millis;
        let waited = Waited { any: milliseconds(300), all: milliseconds(600), on_aws: milliseconds(100) };
        assert_eq!(waited.any_on_aws(), milliseconds(50));
        assert_eq!(Waited::default().any_on_aws(), Duration::ZERO);
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} {b}");
        close(waited.scale(1_300.0), 1_050.0 / 1_300.0);
        // The functions spent part of the 100 ms computing.
        close(waited.scale(100.0), 0.5);
        close(Waited::default().scale(1_300.0), 1.0);
        close(waited.scale(0.0), 1.0);
    }
}
