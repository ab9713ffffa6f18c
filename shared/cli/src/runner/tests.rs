#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

use super::*;
use curlew_app::{Flags, Settings};
use curlew_embedded::Access;
use curlew_model::{EntryHints, HostKey, PollJob, Purpose, Timestamp, VisitItem, VisitJob, Work};
use curlew_policy::address;
use curlew_policy::delivery::{MAX_HANDOUTS, MAX_RECEIVES};
use tempfile::TempDir;
use url::Url;

/// Opens the store as the next process does, and sends these due jobs.
async fn world_with(dir: &TempDir, jobs: impl IntoIterator<Item = Job>) -> Arc<World> {
    let flags = Flags { data: Some(dir.path().into()), contact: Some("curlew@example.org".into()), ..Flags::default() };
    let settings = Settings::load(&flags, std::iter::empty()).unwrap();
    let world = World::open(settings, Access::Exclusive).unwrap();
    world.recover().await.unwrap();
    let jobs: Vec<_> = jobs.into_iter().map(|job| (job, Timestamp::EPOCH)).collect();
    world.ports.queue.send(&jobs).await.unwrap();
    Arc::new(world)
}

async fn handed(world: &World, queue: QueueName) -> Vec<Delivery> {
    world.ports.inbox.receive(queue, 9, VISIBILITY, world.clock.now()).await.unwrap()
}

/// Returns a poll that ends as soon as it runs, because its feed is unknown.
fn poll(url: &str) -> Job {
    Job::new(PollJob::new(address::source_key(&Url::parse(url).unwrap()), url.into()))
}

fn visit(pages: usize) -> VisitJob {
    let item = |n| {
        let url = format!("https://example.org/{n}");
        let page = address::page_id(&Url::parse(&url).unwrap());
        VisitItem { url, page, purpose: Purpose::New { hints: EntryHints::default() } }
    };
    let items = (0..pages).map(item).collect();
    VisitJob::new(HostKey::new("example.org").unwrap(), items)
}

/// Simulates `times` processes that receive the jobs and die.
async fn killed(dir: &TempDir, times: u32, jobs: usize) {
    for _ in 0..times {
        assert_eq!(handed(&*world_with(dir, []).await, QueueName::Poll).await.len(), jobs);
    }
}

async fn ended(world: &Arc<World>) -> Vec<String> {
    Runner::new(world.clone(), Arc::default()).run(End::Idle(None)).await.unwrap();
    world.ports.inbox.dead(10).await.unwrap().into_iter().map(|dead| dead.error).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_paused_crawl_leaves_every_job_where_it_is() {
    let dir = TempDir::new().unwrap();
    for paused in [true, false] {
        let mut world = world_with(&dir, [poll("https://nobody.example/")]).await;
        Arc::get_mut(&mut world).unwrap().config.paused = paused;
        assert_eq!(ended(&world).await, Vec::<String>::new());
        assert_eq!(world.ports.inbox.next_due().await.unwrap().is_some(), paused);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_kills_its_process_each_time_is_given_up_and_the_rest_is_done() {
    let dir = TempDir::new().unwrap();
    drop(world_with(&dir, [poll("https://poison.example/")]).await);
    killed(&dir, MAX_HANDOUTS - 1, 1).await;
    let last = world_with(&dir, [poll("https://example.org/")]).await;
    let dead = ended(&last).await;
    assert_eq!(dead, ["delivered 7 times without finishing; the last process died or was killed"]);
    let left = last.ports.inbox.counts(last.clock.now()).await.unwrap()[&QueueName::Poll];
    assert_eq!((left.ready, left.waiting, left.in_flight), (0, 0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_may_outlive_more_deaths_than_failures() {
    let dir = TempDir::new().unwrap();
    drop(world_with(&dir, [poll("https://example.org/")]).await);
    killed(&dir, MAX_RECEIVES, 1).await;
    assert!(ended(&world_with(&dir, []).await).await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_visit_that_never_ends_is_split_into_its_pages() {
    let dir = TempDir::new().unwrap();
    let world = world_with(&dir, [Job::new(visit(3))]).await;
    for receives in 1..=SUSPECT {
        let mut handed = handed(&world, QueueName::Fetch).await;
        assert_eq!((handed.len(), handed[0].receives), (1, receives));
        if receives == SUSPECT {
            run(&world, QueueName::Fetch, handed, true).await.unwrap();
        } else {
            world.ports.inbox.put_back(&handed.remove(0).receipt, Timestamp::EPOCH).await.unwrap();
        }
    }
    let pages = handed(&world, QueueName::Fetch).await.into_iter().map(|delivery| match &delivery.job {
        Ok(Job { work: Work::Fetch(visit), .. }) => (delivery.receives, visit.items.len()),
        other => panic!("{other:?}"),
    });
    assert_eq!(pages.collect::<Vec<_>>(), [(1, 1), (1, 1), (1, 1)]);
}

/// Jobs that two crashed processes were running run one at a time, before all other jobs.
#[tokio::test(flavor = "multi_thread")]
async fn suspects_are_handed_out_one_at_a_time() {
    let dir = TempDir::new().unwrap();
    drop(world_with(&dir, (0..4).map(|n| poll(&format!("https://h{n}.example/")))).await);
    killed(&dir, SUSPECT - 1, 4).await;
    let last = world_with(&dir, []).await;
    let mut runner = Runner::new(last.clone(), Arc::default());
    let in_flight = async || last.ports.inbox.counts(last.clock.now()).await.unwrap()[&QueueName::Poll].in_flight;
    for _ in 0..4 {
        while runner.start_what_is_due().await.unwrap() == 0 {}
        assert!(in_flight().await <= 1);
        while runner.tasks.join_next().await.is_some() {}
    }
    runner.start_what_is_due().await.unwrap();
    assert!(runner.unsettled.is_empty());
    assert_eq!(last.ports.inbox.next_due().await.unwrap(), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_is_interrupted_has_not_failed() {
    let dir = TempDir::new().unwrap();
    let world = world_with(&dir, [poll("https://example.org/")]).await;
    let mut runner = Runner::new(world.clone(), Arc::new(AtomicBool::new(true)));
    let received = handed(&world, QueueName::Poll).await.into_iter();
    runner.under_way.lock().extend(received.map(|delivery| (delivery.receipt, delivery.job.unwrap())));
    let (clock, is_ending) = (world.clock.clone(), runner.ending.subscribe());
    runner.tasks.spawn(async move {
        unless_interrupted(is_ending, clock.sleep(Millis::from_hours(1))).await;
        Ok(())
    });
    runner.finish().await;
    let handed = handed(&world, QueueName::Poll).await;
    assert_eq!(handed.iter().map(|delivery| delivery.receives).collect::<Vec<_>>(), [1]);
}

#[test]
fn pages_are_gathered_while_visits_bring_more() {
    let (last, soon) = (Some(Millis(5_000)), Millis(5_999));
    assert!(gathers(1, last, soon));
    assert!(!gathers(0, last, soon), "nothing more will come");
    assert!(!gathers(1, last, soon + Millis(1)), "they have waited");
    assert!(!gathers(1, None, soon), "the first does not wait, nor one behind a full one");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_whose_host_is_in_use_follows_without_being_put_off() {
    let dir = TempDir::new().unwrap();
    let world = world_with(&dir, (0..3).map(|n| poll(&format!("https://example.org/{n}")))).await;
    let mut runner = Runner::new(world.clone(), Arc::default());
    runner.unsettled.clear();
    assert_eq!(runner.start_what_is_due().await.unwrap(), 3);
    for _ in 0..3 {
        assert_eq!(runner.tasks.len(), 1);
        runner.tasks.join_next().await.unwrap().unwrap().unwrap();
        runner.start_what_is_due().await.unwrap();
    }
    assert!(runner.tasks.is_empty() && runner.lines.is_empty());
    assert_eq!(world.ports.inbox.next_due().await.unwrap(), None);
}

#[tokio::test]
async fn the_first_job_of_a_process_has_a_turn_too() {
    let dir = TempDir::new().unwrap();
    let mut runner = Runner::new(world_with(&dir, [poll("https://example.org/")]).await, Arc::default());
    runner.unsettled = BTreeSet::from([QueueName::Poll]);
    // On one thread, the job has not run yet when `settle` returns.
    assert_eq!(runner.settle().await.unwrap(), 1);
    assert!(!runner.lines.is_empty(), "others of its host wait for its end, not for their own next try");
}
