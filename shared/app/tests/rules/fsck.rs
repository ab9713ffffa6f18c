//! Fsck: passes over a few rows at a time, and repairs that the end-to-end tests do not reach.

use crate::index::{accept, ask};
use crate::test_world::*;
use curlew_catalog::thumbnails::thumbnail_key;
use curlew_people::fsck::{Damage, Fsck};
use curlew_search::Manifest;

async fn set_state(world: &TestWorld, url: &str, state: PageState) {
    world.change_page(&page(url), |row| row.state = state).await;
}

fn url(n: usize) -> String {
    format!("https://example.org/{n}")
}

fn unreachable() -> PageState {
    PageState::Rejected { reason: Rejection::HostUnavailable("held".into()) }
}

/// Returns a world with twelve published pages.
async fn published() -> TestWorld {
    let world = TestWorld::new();
    for n in 0..12 {
        accept(&world, &n.to_string(), "A curlew probes the mud.").await;
    }
    world.publish().await;
    world
}

#[tokio::test(start_paused = true)]
async fn passes_of_few_rows_find_what_a_single_one_finds() {
    let world = published().await;
    for n in [1, 5] {
        set_state(&world, &url(n), unreachable()).await;
    }
    set_state(&world, &url(2), PageState::Pending).await;
    let key = format!("segments/{}/{}.jsonl.zst", world.now().day().replace('-', "/"), page(&url(3)));
    world.blobs.delete(&key).await.unwrap();
    for n in 0..8_u8 {
        let image = ImageId::new(&format!("{n:x}").repeat(32)).unwrap();
        let bytes: &[u8] = if n % 2 == 0 { b"\xff\xd8\xff" } else { b"no picture" };
        world.blobs.put(&thumbnail_key(&image), bytes.to_vec().into()).await.unwrap();
    }
    world.blobs.put("bodies/2026-11-20/0.zst", vec![1].into()).await.unwrap();
    world.blobs.put("hidden-hosts.json", vec![b'{'].into()).await.unwrap();
    let program = world.program();
    let single = program.fsck(true).look().await.unwrap();
    assert_eq!((single.pages, single.records, single.splits, single.orphans.len()), (12, 11, 1, 5));
    let has = |what: fn(&Damage) -> bool| single.damage.iter().filter(|damage| what(damage)).count();
    assert_eq!(has(|damage| matches!(damage, Damage::Unreadable { .. })), 5);
    assert_eq!(has(|damage| matches!(damage, Damage::LostRecord { .. })), 1);
    assert_eq!(has(|damage| matches!(damage, Damage::Stranded { .. })), 1);
    assert_eq!(has(|damage| matches!(damage, Damage::StrayRecord { .. })), 3);
    assert_eq!(has(|damage| matches!(damage, Damage::StrayHit { .. })), 3);
    for rows_at_once in [1, 2, 5, 12] {
        let report = Fsck { rows_at_once, ..program.fsck(true) }.look().await.unwrap();
        assert_eq!(format!("{report:?}"), format!("{single:?}"), "{rows_at_once}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_page_whose_document_is_lost_is_fetched_again() {
    let world = TestWorld::new();
    let (id, key) = (page(&url(0)), "bodies/2026-11-21/0.zst".to_owned());
    world.serve_page(&url(0), "");
    world.visit(&[&url(0)]).await;
    for delivery in world.jobs.receive(QueueName::Extract, 1, Millis(1), world.now()).await.unwrap() {
        world.jobs.ack(&delivery.receipt).await.unwrap();
        let Ok(Job { work: Work::Extract(job), .. }) = delivery.job else { panic!("{delivery:?}") };
        let job = ExtractJob { body: PageBody::Stored(key.clone()), ..*job };
        world.jobs.send(&[(Job::new(job), world.now())]).await.unwrap();
    }
    let program = world.program();
    let fsck = program.fsck(true);
    let report = fsck.look().await.unwrap();
    assert_eq!(report.damage, [Damage::LostBody { page: id, key }]);
    assert_eq!(fsck.repair(&report).await.unwrap(), []);
    let (visit, _) = world.only_visit().await;
    assert_eq!(visit.items[0].url, url(0));
    assert!(world.state(&url(0)).await.unwrap().may_be_taken_up());
    assert_eq!(fsck.look().await.unwrap().damage, []);
}

#[tokio::test(start_paused = true)]
async fn a_hit_of_a_page_that_is_still_open_is_hidden_without_a_tombstone() {
    let world = published().await;
    set_state(&world, &url(1), unreachable()).await;
    set_state(&world, &url(2), PageState::Rejected { reason: Rejection::Robots }).await;
    let program = world.program();
    let fsck = program.fsck(true);
    let report = fsck.look().await.unwrap();
    assert_eq!(report.damage.len(), 4, "{report:?}");
    assert_eq!(fsck.repair(&report).await.unwrap(), []);
    assert_eq!((fsck.look().await.unwrap().damage, ask(&world, "curlew").await.total), (vec![], 10));
    let manifest = world.blobs.get("manifests/2026.json").await.unwrap().unwrap();
    let manifest = Manifest::from_json(&manifest.bytes).unwrap();
    let has_tombstone = [1, 2].map(|n| manifest.tombstones.contains(&page(&url(n))));
    assert_eq!(has_tombstone, [false, true], "a final decision leaves a tombstone");
}
