//! Polls of a group: one message and one lease for many that bring nothing.

use crate::test_world::{HOUR, TestWorld, host, key, new, status, visit};
use curlew_model::{
    FeedSource, Job, Millis, PollGroup, PollGroupJob, PollJob, Slot, Source, Stage as QueueName, Timestamp,
};
use curlew_policy::address;
use curlew_ports::{CallKind, HostLedger, Sources, Version};
use curlew_stages::politeness::poll_groups::PollGroups;
use curlew_stages::stage::Verdict;
use curlew_stages::worker::Stages;
use curlew_testkit::memory::MemoryGroups;
use std::sync::Arc;

/// A world whose store has leases of groups, with this number of feeds on a host each, all in one group.
async fn world_of(feeds: usize) -> (TestWorld, PollGroupJob) {
    let mut world = TestWorld::new();
    let groups: Arc<MemoryGroups> = Arc::default();
    world.ports.groups = Some(groups.clone());
    let clock = world.politeness.clock.clone();
    Arc::get_mut(&mut world.politeness).unwrap().poll_groups = Some(Arc::new(PollGroups::new(groups, clock)));
    let urls = (0..).map(|n| format!("https://h{n}.example/feed"));
    let group = PollGroup::of(Slot::of(0), &key("https://h0.example/feed"));
    let urls: Vec<String> = urls.filter(|url| PollGroup::of(Slot::of(0), &key(url)) == group).take(feeds).collect();
    let mut polls = vec![];
    for url in urls {
        let mut feed = FeedSource::new(key(&url), Slot::of(0), &url);
        feed.validators.etag = Some("\"1\"".into());
        feed.polled_at = world.now() - Millis::from_hours(9);
        feed.polling.trust.verify_at = Some(world.now() + Millis::from_days(30));
        assert!(world.sources.insert(&Source::Feed(feed)).await.unwrap());
        for _ in 0..4 {
            world.web.answer(&url, Ok(status(304)));
        }
        polls.push(PollJob::new(key(&url), url));
    }
    let due = world.now();
    (world, PollGroupJob { group, due, polls })
}

async fn run(world: &TestWorld, job: &PollGroupJob) -> Verdict {
    world.program().run(&Job::PollGroup(job.clone())).await.unwrap()
}

/// The polls of a later cycle.
async fn later(world: &TestWorld, job: &PollGroupJob, hours: u64) -> PollGroupJob {
    world.politeness.clock.sleep(Millis::from_hours(hours)).await;
    PollGroupJob { due: world.now(), ..job.clone() }
}

async fn versions(world: &TestWorld, job: &PollGroupJob) -> Vec<Version> {
    let mut versions = vec![];
    for poll in &job.polls {
        let name = url::Url::parse(&poll.url).unwrap().host_str().unwrap().to_owned();
        versions.push(world.hosts.load(&host(&name)).await.unwrap().1);
    }
    versions
}

#[tokio::test(start_paused = true)]
async fn quiet_polls_of_a_group_write_nothing_of_their_hosts() {
    let (world, job) = world_of(12).await;
    assert_eq!(run(&world, &job).await, Verdict::Done, "the first time each host takes a lease, and joins the group");
    let before = versions(&world, &job).await;
    let job = later(&world, &job, 9).await;
    assert_eq!(run(&world, &job).await, Verdict::Done);
    assert_eq!(versions(&world, &job).await, before);
    assert_eq!(world.calls(CallKind::Feed).len(), 24);
    assert_eq!(world.queued(QueueName::Poll).await, []);
}

#[tokio::test(start_paused = true)]
async fn a_second_delivery_of_the_polls_does_nothing() {
    let (world, job) = world_of(3).await;
    run(&world, &job).await;
    assert!(matches!(run(&world, &job).await, Verdict::Drop(_)));
    assert_eq!(world.calls(CallKind::Feed).len(), 3);
}

#[tokio::test(start_paused = true)]
async fn polls_whose_process_died_are_run_each_on_its_own() {
    let (world, job) = world_of(3).await;
    let (program, polls) = (world.program(), Job::PollGroup(job.clone()));
    // It dies while the first calls are under way.
    tokio::select! {
        biased;
        _ = program.run(&polls) => panic!("it was to die"),
        () = world.politeness.clock.sleep(Millis(1)) => {}
    }
    let Verdict::Defer(at) = run(&world, &job).await else { panic!("the lease is in force") };
    world.politeness.clock.sleep(at.since(world.now())).await;
    assert_eq!(run(&world, &job).await, Verdict::Done);
    let left: Vec<(Job, Timestamp)> = world.queued(QueueName::Poll).await;
    let singles: Vec<Job> = job.polls.iter().cloned().map(Job::Poll).collect();
    assert_eq!(left.into_iter().map(|(job, _)| job).collect::<Vec<_>>(), singles);
}

#[tokio::test(start_paused = true)]
async fn a_visit_steps_back_while_a_group_may_poll_its_host_and_keeps_the_pause_after_it() {
    let (world, job) = world_of(2).await;
    run(&world, &job).await;
    // The copies of robots.txt are too old by then, so the feeds come a pause later.
    let job = later(&world, &job, 25).await;
    let program = world.program();
    let page = "https://h0.example/a";
    world.web.serve(page, "text/html", crate::test_world::html(""));
    let job_of_page = visit("h0.example", &[page], &new());
    let other = TestWorld::sharing(&world);
    {
        let group = Job::PollGroup(job.clone());
        let polls = program.run(&group);
        tokio::pin!(polls);
        tokio::select! {
            biased;
            _ = &mut polls => panic!("it waits for robots.txt"),
            () = world.politeness.clock.sleep(Millis(1)) => {}
        }
        let verdict = other.fetch(&job_of_page).await;
        assert!(matches!(verdict, Verdict::Defer(_)), "{verdict:?}");
        assert_eq!(polls.await.unwrap(), Verdict::Done);
    }
    let called = world.web.calls().len();
    let ended = world.now();
    assert_eq!(other.fetch(&job_of_page).await, Verdict::Done);
    assert!(world.now() >= ended + world.politeness.rules.min_pause);
    assert!(world.web.calls().len() > called);
}

#[tokio::test(start_paused = true)]
async fn what_fails_in_a_group_goes_back_as_a_job_of_its_own() {
    let (world, job) = world_of(2).await;
    // A poll of a feed whose host is in use waits alone.
    let busy = visit("h0.example", &[], &new());
    let lease = world.politeness.open(&busy.host, "somebody").await.unwrap();
    assert_eq!(run(&world, &job).await, Verdict::Done);
    drop(lease);
    let left = world.queued(QueueName::Poll).await;
    let [(Job::Poll(poll), due)] = &left[..] else { panic!("{left:?}") };
    assert_eq!(poll.url, job.polls[0].url);
    assert!(*due > world.now() && poll.waits == 1);
}

#[tokio::test(start_paused = true)]
async fn dispatch_sends_the_polls_of_a_group_together_and_those_of_a_platform_each_alone() {
    let (world, _) = world_of(0).await;
    let alone = "https://a.wordpress.com/feed";
    let urls = (100..140).map(|n| format!("https://h{n}.example/feed")).chain([alone.to_owned()]);
    let urls: Vec<String> = urls.collect();
    for url in &urls {
        let feed = FeedSource::new(key(url), address::slot(&key(url)), url);
        assert!(world.sources.insert(&Source::Feed(feed)).await.unwrap());
    }
    let dispatch = world.dispatch_stage();
    dispatch.tick().await.unwrap();
    world.politeness.clock.sleep(Millis::from_secs(8 * HOUR)).await;
    dispatch.tick().await.unwrap();
    let (mut together, mut singles) = (vec![], vec![]);
    for (job, _) in world.queued(QueueName::Poll).await {
        match job {
            Job::PollGroup(group) => {
                assert!(
                    group.polls.iter().all(|poll| PollGroup::of(address::slot(&poll.feed), &poll.feed) == group.group)
                );
                together.extend(group.polls.into_iter().map(|poll| poll.url));
            }
            Job::Poll(poll) => singles.push(poll.url),
            other => panic!("{other:?}"),
        }
    }
    assert!(singles.iter().all(|url| url == alone) && !singles.is_empty(), "{singles:?}");
    together.sort();
    together.dedup();
    assert_eq!(together.len(), urls.len() - 1);
}
