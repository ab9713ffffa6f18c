//! Faults that the proxy injects, by a plan: the same seed makes the same call fail.
//!
//! A call's random number is drawn from the seed, the rule and the number of earlier calls that the rule covers. So
//! failures depend only on the number of earlier calls, and hardly on the order of two concurrent calls.

use super::call::Service;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Kinds of faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fault {
    /// The call is not forwarded, but answered as by a throttled table, queue or bucket.
    Throttled,
    /// The call is not forwarded, but answered with the service's own 500.
    ServerError,
    /// The call is forwarded and done; then the connection is cut instead of an answer.
    CutAfter,
    /// The call is forwarded and done, and then answered with the service's own 500.
    ErrorAfter,
    /// The call is forwarded twice and answered once, so a message is delivered twice. This applies only to calls that
    /// send messages.
    Twice,
    /// The call is forwarded only after this time.
    Slow(Duration),
}

/// A rule by which a share of calls fail.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// The service whose calls fail.
    pub service: Service,
    /// The operation whose calls fail; `None` for every operation of the service.
    pub operation: Option<&'static str>,
    /// The fault of the calls that fail.
    pub fault: Fault,
    /// Share of calls that fail, from 0 for none to 1 for all.
    pub rate: f64,
}

impl Rule {
    /// Creates a rule for all calls of a service.
    pub fn all(service: Service, fault: Fault, rate: f64) -> Rule {
        Rule { service, operation: None, fault, rate }
    }

    /// Creates a rule for the calls of one operation.
    pub fn only(service: Service, operation: &'static str, fault: Fault, rate: f64) -> Rule {
        Rule { operation: Some(operation), ..Rule::all(service, fault, rate) }
    }

    /// Returns true if the rule applies to such calls.
    fn covers(&self, service: Service, operation: &str) -> bool {
        let sends = matches!(operation, "SendMessage" | "SendMessageBatch");
        self.service == service
            && self.operation.is_none_or(|only| only == operation)
            && (self.fault != Fault::Twice || sends)
    }
}

/// A plan of the calls that fail.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// Seed of the random numbers; another seed makes other calls fail.
    pub seed: u64,
    /// Rules in the order of evaluation; the first one that draws a fault decides.
    pub rules: Vec<Rule>,
}

/// The faults of one proxy: the plan, its progress, and the injected faults.
#[derive(Debug, Default)]
pub struct Faults(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    plan: Plan,
    /// Number of calls so far that each rule covers.
    covered: Vec<u64>,
    made: BTreeMap<Made, u64>,
}

/// A kind of injected fault, and its operation.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Made {
    /// The service.
    pub service: Service,
    /// The operation.
    pub operation: String,
    /// The fault.
    pub fault: Fault,
}

impl Faults {
    /// Starts a new plan. Faults that were injected so far stay counted.
    pub fn set(&self, plan: Plan) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.covered = vec![0; plan.rules.len()];
        state.plan = plan;
    }

    /// Returns the fault of the next call of this operation, if it fails.
    pub(crate) fn next(&self, service: Service, operation: &str) -> Option<Fault> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let State { plan, covered, made } = &mut *state;
        let mut fault = None;
        for (n, (rule, covered)) in plan.rules.iter().zip(covered).enumerate() {
            if !rule.covers(service, operation) {
                continue;
            }
            let lot = lot(plan.seed, n as u64, *covered);
            // A call is also counted when an earlier rule has decided, because each rule draws its own numbers.
            *covered += 1;
            if fault.is_none() && lot < rule.rate {
                fault = Some(rule.fault);
            }
        }
        if let Some(fault) = fault {
            *made.entry(Made { service, operation: operation.to_owned(), fault }).or_default() += 1;
        }
        fault
    }

    /// Returns the number of times each fault was injected so far, by operation.
    pub fn made(&self) -> BTreeMap<Made, u64> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).made.clone()
    }

    /// Returns the number of times this fault was injected so far, for all operations.
    pub fn count(&self, fault: Fault) -> u64 {
        self.made().iter().filter(|(made, _)| made.fault == fault).map(|(_, times)| times).sum()
    }
}

/// Returns a pseudorandom number from 0 up to 1, by SplitMix64 over the three arguments.
fn lot(seed: u64, rule: u64, number: u64) -> f64 {
    const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut mixed = 0;
    for part in [seed, rule, number] {
        mixed = mix((mixed ^ part).wrapping_add(STEP));
    }
    // A double represents the upper 53 bits exactly.
    (mixed >> 11) as f64 / (1_u64 << 53) as f64
}

const fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALLS: usize = 10_000;

    fn faults_drawn(seed: u64) -> Vec<Option<Fault>> {
        let faults = Faults::default();
        faults.set(Plan {
            seed,
            rules: vec![
                Rule::only(Service::DynamoDb, "PutItem", Fault::CutAfter, 0.05),
                Rule::all(Service::DynamoDb, Fault::Throttled, 0.1),
            ],
        });
        (0..CALLS).map(|_| faults.next(Service::DynamoDb, "PutItem")).collect()
    }

    #[test]
    fn the_same_seed_makes_the_same_calls_fail() {
        assert_eq!(faults_drawn(7), faults_drawn(7));
        assert_ne!(faults_drawn(7), faults_drawn(8));
    }

    #[test]
    fn as_many_fail_as_the_rates_say() {
        let faults_drawn = faults_drawn(1);
        let count = |fault| faults_drawn.iter().filter(|drawn| **drawn == Some(fault)).count();
        assert!((400..600).contains(&count(Fault::CutAfter)), "{}", count(Fault::CutAfter));
        assert!((800..1100).contains(&count(Fault::Throttled)), "{}", count(Fault::Throttled));
    }

    #[test]
    fn a_rule_covers_what_it_names_and_what_was_made_is_counted() {
        let faults = Faults::default();
        faults.set(Plan { seed: 1, rules: vec![Rule::all(Service::Sqs, Fault::Twice, 1.0)] });
        let faults_drawn = ["SendMessage", "DeleteMessage", "SendMessageBatch"].map(|op| faults.next(Service::Sqs, op));
        assert_eq!(faults_drawn, [Some(Fault::Twice), None, Some(Fault::Twice)]);
        assert_eq!(faults.next(Service::S3, "PutObject"), None);
        assert_eq!((faults.count(Fault::Twice), faults.count(Fault::Throttled)), (2, 0));
        faults.set(Plan::default());
        assert_eq!(faults.next(Service::Sqs, "SendMessage"), None);
        assert_eq!(faults.made().len(), 2);
    }
}
