//! Runs the simulator over many seeds. `CURLEW_SIM_SEEDS=n` sets their number; `CURLEW_SIM_SEED=n` runs one seed and
//! prints its trace.

use curlew_simulator::sim::{Mutation, Scenario, Violation, invariants, run};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Number of seeds that every test run tries; the nightly run tries ten times as many.
const SEEDS: u64 = 500;
const TAIL: usize = 60;

fn check(plan: Scenario) -> Result<(), Violation> {
    invariants::all(&run(plan), &plan.rules())
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

/// Runs many plans on all cores, and returns the first failure that `is_wanted` accepts.
fn first_failure(
    seeds: impl Fn(u64) -> Option<Scenario> + Sync,
    count: u64,
    is_wanted: impl Fn(&Violation) -> bool + Sync,
) -> Option<(Scenario, Violation)> {
    let (next, found) = (AtomicU64::new(0), AtomicBool::new(false));
    // All seeds below the first one that fails are started before it, and each seed that was started runs to its end.
    let failures = Mutex::new(BTreeMap::new());
    let threads = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while !found.load(Ordering::Relaxed) {
                    let n = next.fetch_add(1, Ordering::Relaxed);
                    if n >= count {
                        break;
                    }
                    let Some(plan) = seeds(n) else { continue };
                    if let Err(violation) = check(plan)
                        && is_wanted(&violation)
                    {
                        found.store(true, Ordering::Relaxed);
                        failures.lock().expect("no panic").insert(n, (plan, violation));
                    }
                }
            });
        }
    });
    failures.into_inner().expect("no panic").into_values().next()
}

#[test]
fn seeds_hold() {
    if let Some(seed) = number("CURLEW_SIM_SEED") {
        let plan = Scenario::of(seed);
        let trace = run(plan);
        eprintln!("{}{plan:?}\n{:?}", trace.tail(usize::MAX), plan.rules());
        invariants::all(&trace, &plan.rules()).expect("holds");
        return;
    }
    let count = number("CURLEW_SIM_SEEDS").unwrap_or(SEEDS);
    if let Some((plan, violation)) = first_failure(|seed| Some(Scenario::of(seed)), count, |_| true) {
        let tail = run(plan).tail(TAIL);
        panic!("{tail}seed {}: {violation}\nCURLEW_SIM_SEED={} shows the whole trace", plan.seed, plan.seed);
    }
}

/// Seeds that once found a fault, and the fault.
const REGRESSIONS: [(u64, &str); 3] = [
    (1, "the Crawl-delay of another origin of the same host key took effect one call too late"),
    (396, "a visit went on although another one, whose lease was lost, had written a hold meanwhile"),
    (3, "polls of a host whose robots.txt cannot be fetched were repeated for ever, and not counted"),
];

#[test]
fn regressions_hold() {
    for (seed, fault) in REGRESSIONS {
        if let Err(violation) = check(Scenario::of(seed)) {
            panic!("seed {seed}, {fault}: {violation}");
        }
    }
}

#[test]
fn a_seed_replays_identically() {
    for seed in [0, 1, 2, 3, 6, 12] {
        let plan = Scenario::of(seed);
        assert_eq!(run(plan).fingerprint(), run(plan).fingerprint(), "seed {seed}");
    }
    assert_ne!(run(Scenario::of(1)).fingerprint(), run(Scenario::of(2)).fingerprint());
}

#[test]
fn running_twice_is_running_once() {
    let seeds = number("CURLEW_SIM_SEED").map_or(0..60, |seed| seed..seed + 1);
    for seed in seeds {
        let (troubled, calm) = (run(Scenario::steady(seed, true)), run(Scenario::steady(seed, false)));
        invariants::all(&troubled, &Scenario::steady(seed, true).rules()).expect("holds");
        if let Err(violation) = invariants::twice_is_once(&troubled, &calm) {
            let lines = number("CURLEW_SIM_SEED").map_or(TAIL, |_| usize::MAX);
            panic!("{}seed {seed}: {violation}", troubled.tail(lines));
        }
    }
}

/// A mutation has to be noticed within this number of seeds. The run ends at the first seed that notices it, usually an
/// early one.
const MUTANT_SEEDS: u64 = 2_000;

/// Asserts that a mutation is noticed among the seeds that concern it.
fn noticed_in(concerns: fn(&Scenario) -> bool, mutation: Mutation, invariant: &str) {
    noticed_of(|seed| Some(Scenario::of(seed)).filter(concerns), mutation, invariant);
}

fn noticed_of(plans: impl Fn(u64) -> Option<Scenario> + Sync, mutation: Mutation, invariant: &str) {
    let plan = |seed| Some(plans(seed)?.without(mutation));
    let is_wanted = |violation: &Violation| violation.invariant.starts_with(&format!("{invariant} "));
    let found = first_failure(plan, MUTANT_SEEDS, is_wanted);
    let (plan, violation) = found.unwrap_or_else(|| panic!("nobody noticed {mutation:?}"));
    eprintln!("{mutation:?} was noticed at seed {}: {violation}", plan.seed);
}

#[test]
fn without_a_rule_of_the_ledger_the_worker_or_removal_the_simulator_fails() {
    for (mutation, invariant) in [
        (Mutation::NoCompareAndSwap, "1"),
        (Mutation::NoPauseAfterLease, "1"),
        (Mutation::AckFirst, "4"),
        (Mutation::AckBeforeSend, "4"),
        (Mutation::FailureAcknowledged, "4"),
        (Mutation::DeadLetterDropped, "4"),
        (Mutation::PanicLosesBatch, "4"),
        (Mutation::RemovalsUnsent, "5"),
        (Mutation::RemovalsUndone, "5"),
        (Mutation::ThrottlingCounts, "8"),
        (Mutation::ThrottlingIgnored, "8"),
    ] {
        noticed_in(|plan| !plan.history, mutation, invariant);
    }
}

#[test]
fn without_a_promise_to_owners_the_simulator_fails() {
    for (mutation, invariant) in [
        (Mutation::StopIgnored, "9"),
        (Mutation::RecordsKept, "10"),
        (Mutation::ClaimantBelieved, "11"),
        (Mutation::UnblockDropped, "12"),
    ] {
        noticed_in(|plan| plan.owners, mutation, invariant);
    }
}

#[test]
fn without_the_rest_of_a_host_or_the_memory_of_its_home_page_the_simulator_fails() {
    // Few runs show these faults, so each search starts shortly before one that does.
    for (mutation, invariant, first) in [(Mutation::RestForgotten, "19", 660), (Mutation::HomeLookForgotten, "20", 850)]
    {
        let plan = |seed| Some(Scenario::of(first + seed)).filter(|plan| !plan.history);
        noticed_of(plan, mutation, invariant);
    }
}

#[test]
fn without_erasing_raw_pages_the_simulator_fails() {
    noticed_in(|plan| plan.raw, Mutation::RawPagesKept, "18");
}

#[test]
fn with_too_much_trust_in_hubs_the_simulator_fails() {
    for (mutation, invariant) in
        [(Mutation::DeliveryBelieved, "13"), (Mutation::PollFloorIgnored, "14"), (Mutation::HubNotTold, "15")]
    {
        noticed_in(|plan| plan.hubs, mutation, invariant);
    }
}

#[test]
fn without_a_rule_of_back_catalogues_the_simulator_fails() {
    for (mutation, invariant) in [
        (Mutation::HistoryListsDropped, "4"),
        (Mutation::HistoryBudgetIgnored, "16"),
        (Mutation::NoCompareAndSwap, "16"),
    ] {
        noticed_in(|plan| plan.history, mutation, invariant);
    }
    // This run has no failing ports: they would multiply the jobs of a busy host, which another invariant would notice
    // first.
    let well = |seed| Scenario { faults: false, duplicates: false, ..Scenario::of(seed) };
    noticed_of(|seed| Some(well(seed)).filter(|plan| plan.history), Mutation::HistoryUnpaced, "17");
}
