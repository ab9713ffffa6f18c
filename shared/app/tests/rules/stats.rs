//! Statistics about everything that is stored. They are themselves stored where counting costs money.

use crate::index::{accept, removal};
use crate::test_world::*;
use curlew_people::activity::{DAYS, DayCounts, add, last_days};
use curlew_people::stats::stored_stats;

#[tokio::test(start_paused = true)]
async fn what_there_is_is_counted_by_what_became_of_it() {
    let world = TestWorld::of_feed().await;
    for name in ["a", "b", "c"] {
        accept(&world, name, "A curlew is a curlew.").await;
    }
    removal(&world).remove(&page(A), Gone::NotFound).await.unwrap();
    let all = world.program().desk.stats.take().await.unwrap();
    assert_eq!((all.sites, all.feeds), (0, 1));
    assert_eq!((all.pages.get("accepted"), all.pages.get("gone")), (Some(&2), Some(&1)));
    assert_eq!((all.gone.get("not_found"), all.rejected.len()), (Some(&1), 0));
    assert_eq!((all.for_public().accepted, all.for_public().gone), (2, 1));
}

#[tokio::test(start_paused = true)]
async fn a_host_is_counted_as_held_while_it_is() {
    let world = TestWorld::new();
    world.web.answer("https://example.org/x", Ok(status(429)));
    world.visit(&["https://example.org/x"]).await;
    assert_eq!(world.program().desk.stats.held().await.unwrap(), [(HoldReason::TooManyRequests, 1)].into());
    world.sleep(Millis::from_days(5)).await;
    assert!(world.program().desk.stats.held().await.unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn stats_are_taken_once_a_week_by_whoever_asks_daily() {
    let world = TestWorld::new();
    let (stats, blobs) = (world.program().desk.stats, world.blobs.as_ref());
    assert_eq!(stored_stats(blobs).await.unwrap(), None);
    let mut taken = vec![];
    for day in 0..15 {
        if stats.keep().await.unwrap() {
            taken.push(day);
        }
        world.sleep(Millis::from_days(1)).await;
    }
    assert_eq!(taken, [0, 7, 14]);
    let at = world.now() - Millis::from_days(1);
    assert_eq!(stored_stats(blobs).await.unwrap().map(|(taken, _)| taken), Some(at));
    // An unfinished count is not started again each day, and the last finished count stays.
    let unfinished = b"{\"begun\":\"2026-12-25T00:00:00Z\",\"counted\":null}";
    blobs.put("census.json", Bytes::from_static(unfinished)).await.unwrap();
    assert!(!stats.keep().await.unwrap());
    // A stored object that cannot be read is replaced.
    blobs.put("census.json", Bytes::from_static(b"{\"at\":")).await.unwrap();
    assert_eq!(stored_stats(blobs).await.unwrap(), None);
    assert!(stats.keep().await.unwrap());
}

#[tokio::test(start_paused = true)]
async fn the_counts_of_thirty_days_are_kept_and_no_more() {
    let world = TestWorld::new();
    let (clock, blobs) = (world.politeness.clock.clone(), world.blobs.as_ref());
    assert!(last_days(blobs, clock.now()).await.unwrap().is_empty());
    for polls in 1..=40 {
        let more = DayCounts { polls, ..DayCounts::default() };
        for _ in 0..2 {
            add(blobs, clock.now(), &more).await.unwrap();
        }
        // Counts are taken every other day only.
        clock.sleep(Millis::from_days(2)).await;
    }
    let days = last_days(blobs, clock.now()).await.unwrap();
    let polls: Vec<u64> = days.iter().map(|of| of.polls).collect();
    assert_eq!(days.len(), DAYS);
    assert_eq!(&polls[polls.len() - 5..], [78, 0, 80, 0, 0]);
    assert_eq!(days.last().unwrap().day, clock.now().day());
    blobs.put("activity.json", Bytes::from_static(b"[{")).await.unwrap();
    assert!(last_days(blobs, clock.now()).await.unwrap().is_empty(), "an unreadable object is ignored");
}
