//! The meter: it collects the bill of the calls that are reported to it, line by line.

use super::call::{Call, Service};
use super::charge::{Charge, json};
use super::lambda::{Architecture, Run};
use super::sqs::Sent;
use super::unit::Unit;
use super::{mapping, s3, sqs};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Bytes that CloudWatch adds to each log line (CloudWatch pricing, logs).
const LOG_LINE_OVERHEAD: u64 = 26;
/// Two figures count as equal if they differ by less than this.
const SAME: f64 = 1e-9;

/// Origin of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Source {
    /// Read from the calls that passed through the proxy.
    Metered,
    /// Reported by the functions in their log lines.
    Logged,
    /// Computed from other figures, because nobody outside AWS can observe it.
    Modelled,
}

impl Source {
    /// Returns its name in a table.
    pub const fn as_str(self) -> &'static str {
        match self {
            Source::Metered => "metered",
            Source::Logged => "from logs",
            Source::Modelled => "modelled",
        }
    }
}

/// Subject of one line of a bill.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Line {
    /// The service.
    pub service: Service,
    /// The table, the queue, the function, or the first folder of the objects' keys.
    pub target: String,
    /// The operation.
    pub operation: String,
    /// The caller; empty if it is not known.
    pub caller: String,
    /// The unit in which it is counted.
    pub unit: Unit,
    /// Origin of the figure.
    pub source: Source,
}

impl Line {
    /// Creates a line without a caller.
    pub fn new(service: Service, target: &str, operation: &str, unit: Unit, source: Source) -> Line {
        Line {
            service,
            target: target.to_owned(),
            operation: operation.to_owned(),
            caller: String::new(),
            unit,
            source,
        }
    }
}

/// Sums of one line.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counted {
    /// Calls.
    pub calls: u64,
    /// Units.
    pub units: f64,
}

/// Calls for which our own reading was exact and the endpoint reported another figure.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Difference {
    /// Calls.
    pub calls: u64,
    /// Units by our own reading.
    pub ours: f64,
    /// Units by the endpoint.
    pub theirs: f64,
}

/// Everything that was metered since the meter was last reset.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Metered {
    /// Counts by line.
    pub lines: BTreeMap<Line, Counted>,
    /// Messages sent to each queue.
    pub sent: BTreeMap<String, Sent>,
    /// Differences from the endpoint's figures, by operation. The larger figure of each call is billed.
    pub differences: BTreeMap<String, Difference>,
    /// Number of calls whose size neither the answer nor the endpoint shows, by operation: billed too low, if at all.
    pub unclear: BTreeMap<String, u64>,
    /// Number of bytes of objects that were put.
    pub object_bytes: u64,
}

impl Metered {
    /// Returns the units of this kind of all lines.
    pub fn units(&self, unit: Unit) -> f64 {
        self.lines.iter().filter(|(line, _)| line.unit == unit).map(|(_, counted)| counted.units).sum()
    }

    /// Returns the calls of all lines that `wanted` accepts.
    pub fn calls_where(&self, wanted: impl Fn(&Line) -> bool) -> u64 {
        self.lines.iter().filter(|(line, _)| wanted(line)).map(|(_, counted)| counted.calls).sum()
    }

    /// Keeps only the lines that `wanted` accepts.
    #[must_use]
    pub fn only(&self, wanted: impl Fn(&Line) -> bool) -> Metered {
        let lines = self.lines.iter().filter(|(line, _)| wanted(line));
        Metered { lines: lines.map(|(line, counted)| (line.clone(), *counted)).collect(), ..Metered::default() }
    }

    /// Adds all figures of another measurement.
    pub fn merge(&mut self, other: &Metered) {
        other.lines.iter().for_each(|(line, counted)| self.add(line.clone(), counted.calls, counted.units));
        self.object_bytes += other.object_bytes;
    }

    /// Adds calls and units to a line.
    pub fn add(&mut self, line: Line, calls: u64, units: f64) {
        let counted = self.lines.entry(line).or_default();
        counted.calls += calls;
        counted.units += units;
    }
}

/// A thread-safe counter.
#[derive(Debug, Default)]
pub struct Meter(Mutex<Metered>);

impl Meter {
    /// Counts a call that the endpoint has answered.
    pub fn call(&self, call: &Call, charges: &[Charge]) {
        let mut metered = self.lock();
        for charge in charges {
            let line = Line::new(call.service, &charge.target, &call.operation, charge.unit, Source::Metered);
            metered.add(Line { caller: call.caller.clone(), ..line }, 1, charge.units());
            match charge.theirs {
                Some(theirs) if charge.exact && (theirs - charge.ours).abs() > SAME => {
                    let difference = metered.differences.entry(call.operation.clone()).or_default();
                    difference.calls += 1;
                    difference.ours += charge.ours;
                    difference.theirs += theirs;
                }
                None if !charge.exact => *metered.unclear.entry(call.operation.clone()).or_default() += 1,
                _ => {}
            }
        }
    }

    /// Counts a call to a service other than DynamoDB that the endpoint has answered.
    pub(crate) fn answered(&self, call: &Call, path: &str, request: &[u8], status: u16, answer: &[u8]) {
        let charges = match call.service {
            Service::Sqs => {
                let (request, answer) = (json(request), json(answer));
                self.sent(sqs::queue(&request), sqs::sent(&call.operation, &request, &answer));
                sqs::charges(&call.operation, &request, &answer)
            }
            Service::S3 => {
                if call.operation == "PutObject" && status == 200 {
                    self.object(request.len());
                }
                s3::charges(&call.operation, path)
            }
            _ => vec![Charge { target: String::new(), unit: Unit::Unpriced, ours: 1.0, theirs: None, exact: true }],
        };
        self.call(call, &charges);
    }

    pub(crate) fn count(&self, line: Line, units: f64) {
        self.lock().add(line, 1, units);
    }

    /// Counts messages that a queue accepted.
    pub(crate) fn sent(&self, queue: String, sent: Sent) {
        if sent.messages > 0 {
            let mut metered = self.lock();
            let all = metered.sent.entry(queue).or_default();
            all.messages += sent.messages;
            all.bytes += sent.bytes;
        }
    }

    pub(crate) fn object(&self, bytes: usize) {
        self.lock().object_bytes += bytes as u64;
    }

    /// Counts an invocation that its function has logged.
    pub fn lambda(&self, run: &Run, architecture: Architecture) {
        let operation = format!("{} MB", run.memory_mb);
        let line = |unit: Unit| Line::new(Service::Lambda, &run.function, &operation, unit, Source::Logged);
        let mut metered = self.lock();
        metered.add(line(Unit::LambdaRequest), 1, 1.0);
        metered.add(line(architecture.unit()), 1, run.gb_seconds());
    }

    /// Counts the lines that a function logged.
    pub fn logged(&self, function: &str, lines: u64, bytes: u64) {
        let line = Line::new(Service::Logs, function, "lines", Unit::LogByte, Source::Logged);
        self.lock().add(line, lines, (bytes + lines * LOG_LINE_OVERHEAD) as f64);
    }

    /// Counts the requests by which an event source mapping received messages of a queue (see [`mapping`]).
    pub fn mapping(&self, queue: &str, delivered: Sent) {
        let line = |operation: &str| Line {
            caller: "mapping".to_owned(),
            ..Line::new(Service::Sqs, queue, operation, Unit::SqsRequest, Source::Modelled)
        };
        let requests = mapping::requests(delivered);
        let mut metered = self.lock();
        metered.add(line("receive"), requests.receives, requests.receive_units);
        metered.add(line("delete"), requests.deletes, requests.deletes as f64);
    }

    /// Returns everything that was metered so far.
    pub fn look(&self) -> Metered {
        self.lock().clone()
    }

    /// Returns everything that was metered so far, and resets the meter.
    pub fn take(&self) -> Metered {
        std::mem::take(&mut *self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, Metered> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn charge(ours: f64, theirs: Option<f64>, exact: bool) -> Charge {
        Charge { target: "t".to_owned(), unit: Unit::Read, ours, theirs, exact }
    }

    #[test]
    fn what_is_not_sure_is_said() {
        let meter = Meter::default();
        let call = Call { service: Service::DynamoDb, operation: "Query".to_owned(), caller: String::new() };
        meter.call(&call, &[charge(12.5, Some(0.5), true), charge(1.0, Some(1.0), true)]);
        meter.call(&call, &[charge(0.5, None, false)]);
        let metered = meter.take();
        assert_eq!(metered.differences["Query"], Difference { calls: 1, ours: 12.5, theirs: 0.5 });
        assert_eq!(metered.unclear["Query"], 1);
        assert!((metered.units(Unit::Read) - 14.0).abs() < SAME);
        assert_eq!(metered.calls_where(|line| line.target == "t"), 3);
        assert_eq!(meter.look(), Metered::default());
    }
}
