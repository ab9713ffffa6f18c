//! Faults that the proxy makes, by a plan: the same seed makes the same call fail.
//!
//! A call's lot is drawn from the seed, the rule and the call's number among those that the rule covers, so what fails
//! does not depend on which of two calls at once comes first by a hair, but only on how many came before.

use super::call::Service;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// What may become of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fault {
    /// Not forwarded: answered as a throttled table, queue or bucket does.
    Throttled,
    /// Not forwarded: answered with the service's own 500.
    ServerError,
    /// Forwarded and done, then the connection is cut instead of an answer.
    CutAfter,
    /// Forwarded and done, then answered with the service's own 500.
    ErrorAfter,
    /// Forwarded twice, answered once: a message that is delivered twice. Only for what sends messages.
    Twice,
    /// Forwarded only after so long.
    Slow(Duration),
}

/// How often which calls fail, and how.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// Calls of this service.
    pub service: Service,
    /// Only of this operation; of all that [`Rule::covers`] if there is none.
    pub operation: Option<&'static str>,
    /// What becomes of those that fail.
    pub fault: Fault,
    /// How many of them do, from 0 for none to 1 for all.
    pub rate: f64,
}

impl Rule {
    /// All calls of a service.
    pub fn all(service: Service, fault: Fault, rate: f64) -> Rule {
        Rule { service, operation: None, fault, rate }
    }

    /// The calls of one operation.
    pub fn only(service: Service, operation: &'static str, fault: Fault, rate: f64) -> Rule {
        Rule { operation: Some(operation), ..Rule::all(service, fault, rate) }
    }

    /// True if the rule is about such calls.
    fn covers(&self, service: Service, operation: &str) -> bool {
        let sends = matches!(operation, "SendMessage" | "SendMessageBatch");
        self.service == service
            && self.operation.is_none_or(|only| only == operation)
            && (self.fault != Fault::Twice || sends)
    }
}

/// Which calls fail, and how.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// Another seed, other calls.
    pub seed: u64,
    /// In the order in which they are asked; the first whose lot falls decides.
    pub rules: Vec<Rule>,
}

/// The faults of one proxy: the plan, how far it has come, and what it did.
#[derive(Debug, Default)]
pub struct Faults(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    plan: Plan,
    /// Calls so far that each rule covers.
    covered: Vec<u64>,
    made: BTreeMap<Made, u64>,
}

/// A kind of fault that was made, and on what.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Made {
    /// The service.
    pub service: Service,
    /// The operation.
    pub operation: String,
    /// What became of it.
    pub fault: Fault,
}

impl Faults {
    /// From now on calls fail by this plan, which begins anew. What was made so far stays counted.
    pub fn set(&self, plan: Plan) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.covered = vec![0; plan.rules.len()];
        state.plan = plan;
    }

    /// What becomes of the next call of this operation.
    pub(crate) fn next(&self, service: Service, operation: &str) -> Option<Fault> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let State { plan, covered, made } = &mut *state;
        let mut fault = None;
        for (n, (rule, covered)) in plan.rules.iter().zip(covered).enumerate() {
            if !rule.covers(service, operation) {
                continue;
            }
            let lot = lot(plan.seed, n as u64, *covered);
            // Also counted when another rule has decided already: each rule's lots are its own.
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

    /// How often each fault was made so far, by operation.
    pub fn made(&self) -> BTreeMap<Made, u64> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).made.clone()
    }

    /// How often this fault was made so far, on whatever.
    pub fn count(&self, fault: Fault) -> u64 {
        self.made().iter().filter(|(made, _)| made.fault == fault).map(|(_, times)| times).sum()
    }
}

/// A number from 0 up to 1 that looks random: SplitMix64 over the three.
fn lot(seed: u64, rule: u64, number: u64) -> f64 {
    const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut mixed = 0;
    for part in [seed, rule, number] {
        mixed = mix((mixed ^ part).wrapping_add(STEP));
    }
    // The upper 53 bits are what a double holds exactly.
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
