//! Turns: the soft limit on the time in which a visit may begin calls.

use crate::test_world::*;
use curlew_crawl::pages::fetch::Fetch;

/// Visits three pages of one host with a turn of `turn` seconds; returns the URLs that the visit sends on.
async fn left_after(world: &TestWorld, turn: u64) -> Vec<String> {
    let urls = [A, B, C];
    urls.iter().for_each(|url| world.serve_page(url, ""));
    let fetch = Fetch::new(world.politeness.clone(), &world.ports);
    let job = visit("example.org", &urls, &new());
    assert_eq!(fetch.with_time_slice(Millis::from_secs(turn)).run(&job.as_visit()).await.unwrap(), Verdict::Done);
    match &world.queued(QueueName::Fetch).await[..] {
        [] => vec![],
        [(rest, due)] => {
            assert_eq!(rest.deferrals, 0, "the end of a turn must not count as a deferral");
            assert!(*due >= world.now() && due.since(world.now()) < Millis::from_mins(1));
            visited(rest).into_iter().map(str::to_owned).collect()
        }
        more => panic!("{more:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_visit_gets_one_item_done_and_begins_nothing_more_when_its_turn_is_over() {
    for (turn, left) in [(0, 2..=2), (2, 1..=2), (200, 0..=0)] {
        let world = TestWorld::new();
        let all = left_after(&world, turn).await;
        assert!(left.contains(&all.len()) && all == [A, B, C][3 - all.len()..], "{turn}: {all:?}");
        assert_eq!(world.host_state("example.org").await.lease, None, "the lease must be given back");
        assert_eq!(world.row(A).await.state, PageState::Pending);
        assert_eq!(world.calls(CallKind::Page).len(), 3 - all.len(), "{turn}");
    }
}
