//! Functions: their execution environments, the duration of their invocations, and the bill.

use super::access::{list, lock};
use super::clock::{START, now};
use super::cloud::{Cloud, Entrance};
use super::processor::Processor;
use super::sites::{Caller, Sites};
use super::template::FunctionSize;
use crate::aws::call::Service;
use crate::aws::meter::{Line, Source};
use crate::aws::unit::Unit;
use curlew_aws::Connection;
use curlew_lambda::rehearsal::{Environment, Outside};
use curlew_model::Millis;
use curlew_testkit::memory::{CountingSeeds, TokioClock};
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// Billed time from the start of a process to its first invocation.
const INIT: Duration = Duration::from_millis(40);
/// Time after which an idle environment is shut down.
const IDLE: Duration = Duration::from_secs(600);

/// Number of lines and bytes that functions have logged since the counters were last read. They are global, like the
/// log itself.
static LINES: AtomicU64 = AtomicU64::new(0);
static BYTES: AtomicU64 = AtomicU64::new(0);
/// Names of the metrics that functions have written since the set was last read.
static METRICS: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

pub(super) fn logged(bytes: &[u8]) {
    let lines = bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
    LINES.fetch_add(lines, Ordering::Relaxed);
    BYTES.fetch_add(bytes.len() as u64 - lines, Ordering::Relaxed);
}

/// Returns the lines and bytes logged since the last call.
pub(super) fn take_logged() -> (u64, u64) {
    (LINES.swap(0, Ordering::Relaxed), BYTES.swap(0, Ordering::Relaxed))
}

/// Returns the number of metrics that functions have written since the last call. Each is billed by the hour.
pub(super) fn take_metrics() -> usize {
    std::mem::take(&mut *lock(&METRICS)).len()
}

/// Records the metrics of log lines in CloudWatch's embedded metric format.
fn note_metrics(lines: &[u8]) {
    for line in lines.split(|byte| *byte == b'\n') {
        let line: Value = serde_json::from_slice(line).unwrap_or_default();
        let metrics = list(&line["_aws"]["CloudWatchMetrics"]).flat_map(|directive| list(&directive["Metrics"]));
        lock(&METRICS).extend(metrics.filter_map(|metric| metric["Name"].as_str().map(str::to_owned)));
    }
}

/// A deployed function.
pub(super) struct DeployedFunction {
    pub(super) name: &'static str,
    pub(super) size: FunctionSize,
    pub(super) cloud: Arc<Cloud>,
    pub(super) sites: Arc<Sites>,
    pub(super) variables: Vec<(String, String)>,
    pub(super) idle: Mutex<Vec<(Instant, Process)>>,
}

/// An execution environment.
pub(super) struct Process {
    environment: Environment,
    processor: Arc<Processor>,
}

impl DeployedFunction {
    pub(super) async fn invoke(&self, event: Value, messages: usize) -> Value {
        let idle = {
            let mut idle = lock(&self.idle);
            idle.retain(|(since, _)| since.elapsed() < IDLE);
            idle.pop()
        };
        let began = Instant::now();
        let process = match idle {
            Some((_, process)) => process,
            None => {
                sleep(INIT).await;
                self.start().await
            }
        };
        process.processor.begun(messages).await;
        let deadline = now() + Millis::from_secs(self.size.timeout.as_secs());
        let mut metrics = Vec::new();
        let answer = process.environment.invoke(event, deadline, &mut metrics).await;
        logged(&metrics);
        note_metrics(&metrics);
        let milliseconds = (began.elapsed().as_secs_f64() * 1e3).ceil();
        let memory = f64::from(self.size.memory_mb) / 1024.0;
        self.bill(Unit::LambdaRequest, 1.0);
        self.bill(Unit::GbSecondArm64, milliseconds / 1e3 * memory);
        lock(&self.idle).push((Instant::now(), process));
        answer.unwrap_or_else(|why| panic!("{} failed: {why}", self.name))
    }

    async fn start(&self) -> Process {
        let processor = Arc::new(Processor::new(self.name, self.size.memory_mb));
        let door = Entrance { cloud: Arc::clone(&self.cloud), caller: self.name, processor: Arc::clone(&processor) };
        let outside = Outside {
            connection: Connection::to_endpoint(Arc::new(door), now).await,
            clock: Arc::new(TokioClock::starting_at(now())),
            seeds: Arc::new(CountingSeeds::new(now().since(START).0)),
            fetch: Arc::new(Caller::new(Arc::clone(&self.sites), Arc::clone(&processor))),
        };
        let memory = i32::try_from(self.size.memory_mb).unwrap();
        let environment = Environment::start(self.name, memory, &self.variables, &outside);
        Process { environment: environment.unwrap_or_else(|why| panic!("{why}")), processor }
    }

    fn bill(&self, unit: Unit, units: f64) {
        let line = Line {
            service: Service::Lambda,
            target: self.name.to_owned(),
            operation: format!("{} MB", self.size.memory_mb),
            caller: String::new(),
            unit,
            source: Source::Modelled,
        };
        self.cloud.meter.count(line, units);
    }
}
