//! Watches: new matches are posted to their receivers, in order, through outages, and never for pages that are gone.

use crate::index::{accept, removal};
use crate::test_world::*;
use curlew_people::watches::{MAX_WATCHES, Watch, WatchError};
use serde_json::Value;

pub(crate) const HOOK: &str = "https://hooks.example/new";
/// Runs the due jobs in the queue of polls, once.
pub(crate) async fn work(world: &TestWorld, program: &Program) {
    let mailbox = world.mailbox();
    let worker = Worker { stages: program, queue: &mailbox, clock: world.politeness.clock.as_ref() };
    let due = world.jobs.receive(QueueName::Poll, 10, Millis::from_hours(1), world.now()).await.unwrap();
    worker.deliver(QueueName::Poll, due).await.unwrap();
}

/// Runs the due jobs each minute, for some minutes.
pub(crate) async fn minutes(world: &TestWorld, program: &Program, minutes: u64) {
    for _ in 0..minutes {
        work(world, program).await;
        world.sleep(Millis::from_mins(1)).await;
    }
}

pub(crate) async fn add(program: &Program, query: &str) -> Watch {
    program.desk.watches.add(query, HOOK, &[7; 32]).await.unwrap()
}

pub(crate) fn posts(world: &TestWorld) -> Vec<Call> {
    world.calls(CallKind::Receiver).into_iter().filter(|call| call.post.is_some()).collect()
}

pub(crate) fn titles(posts: &[Call]) -> Vec<String> {
    let titles = |call: &Call| -> Vec<String> {
        let body: Value = serde_json::from_slice(&call.post.as_ref().unwrap().body).unwrap();
        body["matches"].as_array().unwrap().iter().map(|m| m["title"].as_str().unwrap().to_owned()).collect()
    };
    posts.iter().flat_map(titles).collect()
}

/// Accepts pages, a second apart, and publishes them.
pub(crate) async fn publish(world: &TestWorld, program: &Program, names: &[&str]) {
    for name in names {
        accept(world, name, &format!("A curlew probes the mud near {name}.")).await;
        world.sleep(Millis::from_secs(1)).await;
    }
    program.publish().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn new_matches_are_posted_once_in_the_order_of_their_acceptance_and_signed() {
    let world = TestWorld::new();
    let program = world.program();
    publish(&world, &program, &["before"]).await;
    let watch = add(&program, "curlew mud").await;
    assert_eq!(add(&program, "curlew mud").await, watch, "the watch exists already");
    add(&program, "godwit").await;
    world.web.keep(HOOK, status(204));
    publish(&world, &program, &["z", "a", "m"]).await;
    minutes(&world, &program, 3).await;
    let posts = posts(&world);
    assert_eq!(titles(&posts), ["Page z", "Page a", "Page m"]);
    let post = posts[0].post.as_ref().unwrap();
    let names: Vec<&str> = post.headers.iter().map(|(name, _)| *name).collect();
    assert_eq!(
        (post.content_type, names),
        ("application/json", vec!["webhook-id", "webhook-timestamp", "webhook-signature"])
    );
    let body: Value = serde_json::from_slice(&post.body).unwrap();
    assert_eq!((body["query"].as_str(), body["watch"].as_str()), (Some("curlew mud"), Some(watch.name.as_str())));
    assert!(body["matches"][0]["excerpt"].as_str().unwrap().starts_with("A curlew probes the mud near z."));
    // Publishing again, or a job that runs twice, posts nothing new; the next pages are posted.
    program.publish().await.unwrap();
    let again = DeliverJob { watch: watch.name.clone(), url: HOOK.into(), retry_at: None };
    world.jobs.send(&[(Job::new(again), world.now())]).await.unwrap();
    minutes(&world, &program, 3).await;
    assert_eq!(self::posts(&world).len(), 1);
    for day in 0..5 {
        world.sleep(Millis::from_days(1)).await;
        publish(&world, &program, &[&format!("day-{day}")]).await;
    }
    minutes(&world, &program, 3).await;
    assert_eq!(titles(&self::posts(&world)[1..]), (0..5).map(|day| format!("Page day-{day}")).collect::<Vec<_>>());
    for is_there in [true, false] {
        assert_eq!(program.desk.watches.remove(&watch.name).await.unwrap(), is_there);
    }
    publish(&world, &program, &["after"]).await;
    minutes(&world, &program, 3).await;
    assert_eq!(titles(&self::posts(&world)).len(), 8);
}

#[tokio::test(start_paused = true)]
async fn through_an_outage_of_a_day_nothing_is_lost_and_a_removed_page_does_not_come() {
    let world = TestWorld::new();
    let program = world.program();
    add(&program, "curlew").await;
    for hour in 0..24 {
        world.web.keep(HOOK, status([500, 404, 301, 410][hour % 4]));
        publish(&world, &program, &[&format!("h{hour:02}")]).await;
        minutes(&world, &program, 60).await;
    }
    let tries = posts(&world).len();
    assert!((24..60).contains(&tries), "{tries}");
    removal(&world).remove(&page("https://example.org/h03"), Gone::NotFound).await.unwrap();
    program.desk.blocks.block("blocked.example").await.unwrap();
    let watch = program.desk.watches.list().await.unwrap().remove(0);
    assert!(watch.receiver.error.is_some() && watch.receiver.failures > 0, "{watch:?}");
    world.web.keep(HOOK, status(200));
    minutes(&world, &program, 24 * 60).await;
    let all = titles(&posts(&world)[tries..]);
    let expected: Vec<String> = (0..24).filter(|h| *h != 3).map(|h| format!("Page h{h:02}")).collect();
    assert_eq!(all, expected);
    let watch = program.desk.watches.list().await.unwrap().remove(0);
    assert_eq!((watch.receiver.delivered, watch.receiver.failures, watch.receiver.error), (23, 0, None));
    assert!(world.keys("outbox/").await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_receiver_that_takes_nothing_for_a_week_is_given_up_until_its_job_is_put_back() {
    let world = TestWorld::new();
    let program = world.program();
    add(&program, "curlew").await;
    world.web.keep(HOOK, status(500));
    publish(&world, &program, &["one"]).await;
    minutes(&world, &program, 9 * 24 * 60).await;
    let dead = world.jobs.dead(9).await.unwrap();
    assert_eq!(dead.len(), 1);
    assert!(dead[0].error.contains("took nothing for a week"), "{}", dead[0].error);
    assert!(program.desk.watches.list().await.unwrap()[0].receiver.given_up);
    // New matches wait without a job.
    publish(&world, &program, &["two"]).await;
    assert!(world.queued(QueueName::Poll).await.is_empty());
    world.web.keep(HOOK, status(200));
    let before = posts(&world).len();
    world.jobs.redrive(&dead[0].receipt, world.now()).await.unwrap();
    minutes(&world, &program, 5).await;
    assert_eq!(titles(&posts(&world)[before..]), ["Page one", "Page two"]);
    assert!(!program.desk.watches.list().await.unwrap()[0].receiver.given_up);
}

#[tokio::test(start_paused = true)]
async fn a_step_that_dies_anywhere_loses_no_match() {
    for crash in 1..60 {
        let world = TestWorld::new();
        let sound = world.program();
        add(&sound, "curlew").await;
        world.web.keep(HOOK, status(200));
        for name in ["one", "two"] {
            accept(&world, name, "A curlew.").await;
        }
        sound.library.index.publish(world.now().year()).await.unwrap();
        let faults = Faults::crash_at(crash, world.politeness.clock.clone());
        let faulty = world.faulty_program(&faults);
        let _died = faulty.desk.watches.match_new().await;
        work(&world, &faulty).await;
        sound.publish().await.unwrap();
        minutes(&world, &sound, 90).await;
        let all = titles(&posts(&world));
        assert!(["Page one", "Page two"].iter().all(|title| all.iter().any(|t| t == title)), "{crash}: {all:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_watched_is_refused() {
    let world = TestWorld::new();
    let program = world.program();
    world.web.refuse("http://127.0.0.1/");
    for (query, to) in
        [("", HOOK), ("lang:", HOOK), ("mud", "ftp://hooks.example/"), ("mud", "hooks"), ("mud", "http://127.0.0.1/")]
    {
        let refused = program.desk.watches.add(query, to, &[7; 32]).await;
        assert!(matches!(refused, Err(WatchError::Refused(_))), "{query} {to}: {refused:?}");
    }
    // A watch has no reader who would notice that a part of the query was left out or interpreted differently.
    let (long, many) = ("tide".repeat(2_500), "t ".repeat(300));
    for (query, said) in [
        ("before:foo tide", "'foo' is not a date"),
        ("tide before:2026-13-01", "'2026-13-01' is not a date"),
        ("tide lang:", "is not a language"),
        ("tide site:", "is not a host name"),
        ("tide author:…", "is not a name"),
        ("tide sort:size", "'size' is not an order"),
        ("inurl:tide mud", "There is no filter 'inurl:'"),
        ("mu*", "mu*"),
        ("tide OR mud", "OR between words"),
        ("tide after:2026-05-02 before:2026-05-01", "No day"),
        ("-tide", "only says what pages must not have"),
        (long.as_str(), "too long"),
        (many.as_str(), "too many words"),
    ] {
        match program.desk.watches.add(query, HOOK, &[7; 32]).await {
            Err(WatchError::Refused(why)) => assert!(why.contains(said), "{query}: {why}"),
            other => panic!("{query}: {other:?}"),
        }
    }
    assert_eq!(stored(&world).await, 0);
    for query in ["tide NOT mud", "\"inurl:tide\" \"mud OR sand\"", "tide -mud author:\"Anna Rossi\" after:2026-05-02"]
    {
        add(&program, query).await;
    }
}

async fn stored(world: &TestWorld) -> usize {
    world.blobs.list("watches/", None, 2 * MAX_WATCHES).await.unwrap().len()
}

async fn fill(world: &TestWorld, most: usize) {
    for n in stored(world).await..most {
        world.blobs.put(&format!("watches/{n:016x}.json"), Bytes::from_static(b"{}")).await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn one_watch_too_many_is_refused_and_one_that_is_there_stays() {
    let world = TestWorld::new();
    let program = world.program();
    let watch = add(&program, "curlew").await;
    fill(&world, MAX_WATCHES).await;
    assert_eq!(add(&program, "curlew").await, watch, "the watch exists already");
    let refused = program.desk.watches.add("godwit", HOOK, &[7; 32]).await;
    assert!(matches!(refused, Err(WatchError::Refused(_))), "{refused:?}");
}

#[tokio::test(start_paused = true)]
async fn what_is_not_there_any_more_is_not_posted() {
    let world = TestWorld::new();
    let program = world.program();
    add(&program, "curlew").await;
    world.web.keep(HOOK, status(200));
    for name in ["kept", "gone"] {
        accept(&world, name, "A curlew.").await;
    }
    program.publish().await.unwrap();
    // These pages vanish between the match and its delivery.
    let end = async |url| {
        let state = PageState::Gone { reason: Gone::NotFound };
        world.change_page(&page(url), |row| row.state = state).await;
    };
    end("https://example.org/gone").await;
    minutes(&world, &program, 2).await;
    assert_eq!(titles(&posts(&world)), ["Page kept"]);
    // A receiver to which nothing was posted has not failed.
    let told = program.desk.watches.list().await.unwrap();
    publish(&world, &program, &["late"]).await;
    end("https://example.org/late").await;
    minutes(&world, &program, 2).await;
    assert_eq!((posts(&world).len(), program.desk.watches.list().await.unwrap()), (1, told));
    assert!(world.keys("outbox/").await.is_empty());
    let unknown = DeliverJob { watch: "0123456789abcdef".into(), url: HOOK.into(), retry_at: None };
    let verdict = program.desk.watches.deliver(&unknown).await.unwrap();
    assert!(matches!(verdict, Verdict::Drop(_)), "{verdict:?}");
}
