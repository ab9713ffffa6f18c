//! Turns: the soft limit on the time in which a visit may begin calls.

use crate::test_world::{AsVisit, TestWorld, host, html, new, page, visit, visited};
use curlew_crawl::pages::fetch::Fetch;
use curlew_model::{Millis, PageState, QueueName};
use curlew_ports::stage::Verdict;
use curlew_ports::{CallKind, HostLedger, Pages};

/// Returns the URLs of three pages of one host that their visit sends on after a turn of `turn` seconds.
async fn left_after(world: &TestWorld, turn: u64) -> Vec<String> {
    let urls = ["https://example.org/a", "https://example.org/b", "https://example.org/c"];
    for url in urls {
        world.web.serve(url, "text/html", html(""));
    }
    let fetch = Fetch::new(world.politeness.clone(), world.pages.clone(), world.jobs.clone(), world.blobs.clone());
    let job = visit("example.org", &urls, &new());
    assert_eq!(fetch.with_time_slice(Millis::from_secs(turn)).run(&job.as_visit()).await.unwrap(), Verdict::Done);
    match &world.queued(QueueName::Fetch).await[..] {
        [] => vec![],
        [(rest, due)] => {
            assert_eq!(rest.deferrals, 0, "that a turn is over counts against no page");
            assert!(*due >= world.now() && due.since(world.now()) < Millis::from_mins(1));
            visited(rest).into_iter().map(str::to_owned).collect()
        }
        more => panic!("{more:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_visit_begins_nothing_more_when_its_turn_is_over() {
    let world = TestWorld::new();
    assert_eq!(left_after(&world, 2).await.last().map(String::as_str), Some("https://example.org/c"));
    let (state, _) = world.hosts.load(&host("example.org")).await.unwrap();
    assert_eq!(state.lease, None, "the lease is given back");
}

#[tokio::test(start_paused = true)]
async fn a_visit_gets_one_item_done_however_short_its_turn() {
    let world = TestWorld::new();
    assert_eq!(left_after(&world, 0).await, ["https://example.org/b", "https://example.org/c"]);
    let (row, _) = world.pages.get(&page("https://example.org/a")).await.unwrap().unwrap();
    assert_eq!(row.state, PageState::Pending);
    assert_eq!(world.calls(CallKind::Page).len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_long_turn_changes_nothing() {
    assert!(left_after(&TestWorld::new(), 200).await.is_empty());
}
