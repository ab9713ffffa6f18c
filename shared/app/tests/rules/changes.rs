//! Changes: an engine that receives them has the same pages as a search, wherever a run was interrupted.

use crate::index::removal;
use crate::revision::wait;
use crate::test_world::*;
use curlew_catalog::export::changes::{Change, Cursor};
use curlew_catalog::export::{Export, RecordFilter};
use curlew_catalog::segment::{Draft, write};

/// The documents of an engine: the text of each page.
type Engine = BTreeMap<PageId, String>;

const HOSTS: [&str; 3] = ["example.org", "shore.example.org", "example.com"];

/// Accepts a page, or a new version of it.
async fn accept(world: &TestWorld, url: &str, text: &str) {
    let (id, now) = (page(url), world.now());
    let known = world.pages.get(&id).await.unwrap();
    let replaces = known.as_ref().and_then(|(page, _)| match &page.state {
        PageState::Accepted { location, .. } => Some(location.clone()),
        _ => None,
    });
    let name = url.split('/').nth(2).unwrap();
    let record = Record { host: name.into(), text: text.into(), replaces, ..Record::new(id.clone(), url.into(), now) };
    let draft = Draft { record, thumbnail: None, raw: None };
    let location = write(world.blobs.as_ref(), [&draft], now).await.unwrap().remove(0);
    let state = PageState::Accepted { year: now.year(), location, content_hash: String::new() };
    let row = Page::new(id, url.into(), host(name), state, now);
    match known {
        Some((_, seen)) => drop(world.pages.swap(seen, &row).await.unwrap()),
        None => assert!(world.pages.insert(&row).await.unwrap()),
    }
}

/// Sends an engine the changes since a cursor. The run is interrupted after `portions` portions, and then keeps the
/// cursor of the portion before the last.
async fn tell(world: &TestWorld, engine: &mut Engine, cursor: &mut Cursor, portions: usize) {
    let (mut seen, mut kept) = (0, cursor.clone());
    let take = async |changes: Vec<Change>, at: &Cursor| -> Result<(), StageError> {
        if seen == portions {
            return Err(StageError::Job("cut off".into()));
        }
        seen += 1;
        let is_kept = seen < portions || portions == usize::MAX;
        for change in changes {
            match change {
                Change::Index(record) => drop(engine.insert(record.id, record.text)),
                Change::Delete(id) => drop(engine.remove(&id)),
            }
        }
        // The engine has received the last portion, but the cursor does not include it.
        if is_kept {
            kept = at.clone();
        }
        Ok(())
    };
    let ended = Export(&world.index()).changes(cursor.clone(), take).await;
    // A cursor is stored as text.
    let json = serde_json::to_vec(&ended.unwrap_or(kept)).unwrap();
    *cursor = serde_json::from_slice(&json).unwrap();
}

async fn found(world: &TestWorld) -> Engine {
    let mut all = Engine::new();
    let write = async |part: Vec<Record>| -> Result<(), StageError> {
        all.extend(part.into_iter().map(|record| (record.id, record.text)));
        Ok(())
    };
    Export(&world.index()).run(RecordFilter::default(), |records| records, write).await.unwrap();
    all
}

async fn expire(world: &TestWorld, url: &str, in_hours: Option<u64>) {
    let at = in_hours.map(|hours| world.now() + Millis::from_hours(hours));
    let change = IndexChange::Expire { at, validators: None };
    let job = RemovalJob { page: page(url), url: url.into(), change, judged_at: world.now() };
    drop(removal(world).run(&job).await.unwrap());
}

async fn publish(world: &TestWorld) {
    for year in world.index().years().await.unwrap() {
        world.index().publish(year).await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn an_engine_holds_what_a_search_finds_over_seeds() {
    for seed in 0..40_u64 {
        let world = TestWorld::new();
        let blocks = world.program().desk.blocks;
        let (mut engine, mut cursor, mut state) = (Engine::new(), Cursor::default(), seed * 7_919 + 1);
        let mut draw = |most: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % most
        };
        for step in 0..120 {
            world.sleep(Millis(1)).await;
            let name = HOSTS[draw(3) as usize];
            let url = format!("https://{name}/{}", draw(4));
            match draw(12) {
                0..=3 => accept(&world, &url, &format!("text {step}")).await,
                4 | 5 => publish(&world).await,
                6 => removal(&world).remove(&page(&url), Gone::NotFound).await.unwrap(),
                7 => drop(blocks.block(name).await.unwrap()),
                8 => drop(blocks.unblock(name).await.unwrap()),
                9 => expire(&world, &url, [None, Some(0), Some(9)][draw(3) as usize]).await,
                10 => wait(&world, draw(40)).await,
                _ => {
                    let portions = draw(6) as usize;
                    tell(&world, &mut engine, &mut cursor, portions).await;
                }
            }
        }
        wait(&world, 1).await;
        publish(&world).await;
        tell(&world, &mut engine, &mut cursor, usize::MAX).await;
        assert_eq!(engine, found(&world).await, "seed {seed}");
        let mut portions = 0;
        let count = async |_: Vec<Change>, _: &Cursor| -> Result<(), StageError> {
            portions += 1;
            Ok(())
        };
        Export(&world.index()).changes(cursor, count).await.unwrap();
        assert_eq!(portions, 0, "seed {seed}: nothing has changed since");
    }
}

#[tokio::test(start_paused = true)]
async fn a_cursor_forgets_the_names_of_days_that_are_complete() {
    let world = TestWorld::new();
    let (mut engine, mut cursor) = (Engine::new(), Cursor::default());
    for n in 0..5 {
        let url = format!("https://example.org/{n}");
        accept(&world, &url, "text").await;
        accept(&world, &format!("https://example.com/{n}"), "text").await;
        publish(&world).await;
        removal(&world).remove(&page(&url), Gone::NotFound).await.unwrap();
        tell(&world, &mut engine, &mut cursor, usize::MAX).await;
        wait(&world, 24).await;
    }
    wait(&world, 48).await;
    tell(&world, &mut engine, &mut cursor, usize::MAX).await;
    let json = serde_json::to_value(&cursor).unwrap();
    assert_eq!((&json["segments"]["later"], &json["removals"]["later"]), (&[(); 0][..].into(), &[(); 0][..].into()));
    assert_eq!(engine.len(), 5);

    // An engine that was filled by other means receives only later changes.
    accept(&world, "https://example.com/9", "new").await;
    removal(&world).remove(&page("https://example.com/1"), Gone::NotFound).await.unwrap();
    publish(&world).await;
    let mut since = Cursor::since(world.now());
    tell(&world, &mut engine, &mut since, usize::MAX).await;
    assert_eq!(engine, found(&world).await);
}
