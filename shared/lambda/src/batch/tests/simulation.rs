//! A thousand visits in one batch, in virtual time: the real fetch stage with its pauses and turns, over an in-memory
//! web.

#![allow(clippy::print_stdout, reason = "the figures are what a person runs it for")]

use crate::tests::world::{TestWorld, visit_message};
use curlew_model::{Job, QueueName, Work};
use curlew_policy::chance::unit;
use curlew_ports::Reply;

const VISITS: u64 = 1_000;
/// Minimum share of the slots' time that a batch of a thousand visits must use, in percent.
const BAR: u64 = 70;

#[derive(Clone, Copy, Debug)]
enum Lengths {
    /// Most visits have few pages, some a hundred (Pareto distribution; an exponent of 1.1 has a heavy tail).
    HeavyTail,
    /// One visit in a hundred has a hundred pages, the others one: the worst case for concurrent lanes.
    FewGiants,
    /// A hundred pages each: far more than one invocation can fetch.
    AllLong,
}

fn items(lengths: Lengths, seed: u64, n: u64) -> usize {
    match lengths {
        Lengths::HeavyTail => unit(seed * VISITS + n).powf(-1.0 / 1.1).min(100.0) as usize,
        Lengths::FewGiants if !n.is_multiple_of(100) => 1,
        Lengths::FewGiants | Lengths::AllLong => 100,
    }
}

fn batch(lengths: Lengths, seed: u64, world: &TestWorld) -> Vec<String> {
    (0..VISITS)
        .map(|n| {
            let host = format!("host{n}.example");
            if n % 50 == 7 {
                // Some hosts ask for a crawl delay that was unknown when the batch was planned.
                let slowly = Reply { status: 200, body: "User-agent: *\nCrawl-delay: 10\n".into(), ..Reply::default() };
                world.web.inner.answer(&format!("https://{host}/robots.txt"), Ok(slowly));
            }
            if n % 20 == 3 {
                // Some hosts are overloaded: their visit ends with its first page.
                let busy = Reply { status: 503, ..Reply::default() };
                world.web.inner.answer(&format!("https://{host}/0"), Ok(busy));
            }
            let paths: Vec<String> = (0..items(lengths, seed, n)).map(|n| n.to_string()).collect();
            visit_message(&host, &paths.iter().map(String::as_str).collect::<Vec<_>>())
        })
        .collect()
}

async fn simulate(lengths: Lengths, seed: u64) {
    let world = TestWorld::seeded(QueueName::Fetch, seed);
    let messages = batch(lengths, seed, &world);
    let summary = world.run_first(&messages).await;
    let used = summary.utilisation().unwrap();
    let rest = world.jobs.left().iter().filter(|(_, message)| !messages.contains(message)).count();
    println!(
        "{lengths:?}, seed {seed}: {used} % of {} slots for {} s; {} done, {} handed on, {} not begun",
        summary.slots,
        summary.span.0 / 1_000,
        summary.done,
        rest,
        summary.deferred,
    );
    assert_eq!(summary.done + summary.deferred, VISITS as usize, "{summary:?}");
    assert!(used >= BAR, "{used} % with seed {seed}");
    assert!(world.clock.monotonic() <= world.bounds.deadline);
    // All pages that were not visited are in the queue again.
    let again = world.jobs.left().into_iter().filter_map(|(_, text)| match Job::from_message(&text) {
        Ok(Job { work: Work::Fetch(visit), .. }) => Some(visit.items.len()),
        _ => None,
    });
    assert!(again.count() >= summary.deferred);
}

#[tokio::test(start_paused = true)]
async fn a_thousand_visits_with_a_heavy_tail_use_the_slots() {
    for seed in 0..8 {
        simulate(Lengths::HeavyTail, seed).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_few_giants_among_a_thousand_visits_do_not_keep_the_slots_waiting() {
    simulate(Lengths::FewGiants, 1).await;
}

#[tokio::test(start_paused = true)]
async fn more_than_an_invocation_can_do_is_handed_on_and_the_slots_are_used() {
    simulate(Lengths::AllLong, 1).await;
}
