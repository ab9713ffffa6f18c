#![allow(clippy::unwrap_used, reason = "a test may panic")]
use super::*;
use curlew_model::{HostKey, PageId, Purpose, VisitItem, VisitJob};
use proptest::prelude::*;
use std::collections::BTreeMap;

const SLICE: Millis = Millis::from_mins(4);

fn tasks(lengths: &[(u8, u64)]) -> Vec<Task> {
    lengths.iter().map(|(lane, ms)| Task { lane: format!("host{lane}"), length: Millis(*ms) }).collect()
}

fn visit(items: usize) -> Job {
    let page = PageId::new("0123456789abcdef0123456789abcdef").unwrap();
    let item = VisitItem { url: "https://example.org/a".into(), page, purpose: Purpose::Recheck };
    let host = HostKey::new("example.org").unwrap();
    Job::new(VisitJob::new(host, vec![item; items]))
}

#[test]
fn the_longest_lane_goes_first_and_one_host_is_one_lane() {
    let plan = plan(&tasks(&[(1, 500), (2, 90_000), (1, 700), (3, 1_000)]), 2, SLICE);
    assert_eq!(plan.lanes, [vec![1], vec![0, 2], vec![3]]);
}

#[test]
fn a_visit_is_as_long_as_its_calls_and_never_longer_than_its_slice() {
    let rules = Rules::default();
    let lengths: Vec<u64> = [1, 10, 30, 100].map(|n| length(&visit(n), &rules).0).into();
    assert!(lengths.is_sorted() && lengths[0] < 10_000, "{lengths:?}");
    assert!(lengths[3] <= rules.slice.0);
}

#[test]
fn a_visit_is_cut_where_that_costs_less_than_waiting_for_it() {
    let short: Vec<(u8, u64)> = (0..200).map(|n| (n, 3_000)).collect();
    assert!(plan(&tasks(&short), 10, SLICE).turn > Millis(3_000));
    // One long visit among many short ones is cut; the rest continues in the next invocation.
    let one_long: Vec<(u8, u64)> = short.iter().copied().chain([(200, SLICE.0)]).collect();
    assert_eq!(plan(&tasks(&one_long), 100, SLICE).turn, MIN_TURN);
    // With other work left, no slot waits for the long visit.
    assert!(plan(&tasks(&one_long), 4, SLICE).turn > Millis::from_mins(2));
    // To cut as many visits as there are slots costs more than to finish them.
    let equal: Vec<(u8, u64)> = (0..100).map(|n| (n, 36_000)).collect();
    assert!(plan(&tasks(&equal), 100, SLICE).turn >= Millis(36_000));
    let long: Vec<(u8, u64)> = (0..200).map(|n| (n, SLICE.0)).collect();
    assert_eq!(plan(&tasks(&long), 10, SLICE).turn, SLICE);
}

proptest! {
    #[test]
    fn nothing_is_lost_and_all_bounds_are_kept(
        lengths in prop::collection::vec((any::<u8>(), 1u64..300_000), 0..300),
        slots in 1usize..200,
        slice in 1u64..300_000,
    ) {
        let (tasks, slice) = (tasks(&lengths), Millis(slice));
        let plan = plan(&tasks, slots, slice);
        let mut all: Vec<usize> = plan.lanes.iter().flatten().copied().collect();
        all.sort_unstable();
        prop_assert_eq!(all, (0..tasks.len()).collect::<Vec<_>>());
        prop_assert!(plan.turn <= slice && plan.turn >= MIN_TURN.min(slice));
        let mut homes: BTreeMap<&str, usize> = BTreeMap::new();
        for (n, lane) in plan.lanes.iter().enumerate() {
            prop_assert!(lane.is_sorted(), "jobs of one host stay in their order");
            for task in lane {
                prop_assert_eq!(*homes.entry(&tasks[*task].lane).or_insert(n), n);
            }
        }
        let sums: Vec<u64> = plan.lanes.iter().map(|lane| lane.iter().map(|n| tasks[*n].length.0).sum()).collect();
        prop_assert!(sums.is_sorted_by(|a, b| a >= b));
    }

    #[test]
    fn the_turn_fills_the_slots_or_costs_least(
        lengths in prop::collection::vec((any::<u8>(), 1u64..300_000), 1..300),
        slots in 1usize..200,
        other in MIN_TURN.0..=SLICE.0,
    ) {
        let tasks = tasks(&lengths);
        let plan = plan(&tasks, slots, SLICE);
        let lanes: Vec<u64> = plan.lanes.iter().map(|lane| lane.iter().map(|n| tasks[*n].length.0).sum()).collect();
        let work = |turn: u64| lanes.iter().map(|length| length.min(&turn)).sum::<u64>();
        let fills = |turn: u64| work(turn) * 100 >= turn * slots as u64 * FILL;
        if fills(MIN_TURN.0) {
            prop_assert!(fills(plan.turn.0));
            prop_assert!(plan.turn == SLICE || !fills(plan.turn.0 + 1), "a longer one would not");
            return Ok(());
        }
        let cost = |turn: u64| {
            let longest = lanes.iter().map(|length| *length.min(&turn)).max().unwrap();
            let cut = lanes.iter().filter(|length| **length > turn).count() as u64;
            let elsewhere = lanes.iter().sum::<u64>() - work(turn);
            longest.max(work(turn) / slots as u64) + elsewhere / slots as u64 + cut * HANDING_ON.0
        };
        // The tolerance covers rounding.
        prop_assert!(cost(plan.turn.0) <= cost(other) + 2, "{} costs more than {other}", plan.turn.0);
    }

    #[test]
    fn chunks_hold_every_page_once_and_keep_their_bounds(
        sizes in prop::collection::vec(0..2 * CHUNK_BYTES, 0..50),
        most in 0usize..20,
    ) {
        let chunks = chunks(&sizes, most);
        let all: Vec<usize> = chunks.iter().flatten().copied().collect();
        prop_assert_eq!(all, (0..sizes.len()).collect::<Vec<_>>());
        for chunk in &chunks {
            let bytes: usize = chunk.iter().map(|n| sizes[*n]).sum();
            prop_assert!(chunk.len() == 1 || (chunk.len() <= most && bytes <= CHUNK_BYTES));
        }
    }
}
