//! Polls of a group: one message and one lease for many that bring nothing.

use crate::test_world::{HOUR, TestWorld, host, key, new, status, visit};
use curlew_crawl::politeness::poll_groups::PollGroups;
use curlew_crawl::worker::Stages;
use curlew_model::{
    FeedSource, GroupPolls, Job, Millis, PollGroup, PollJob, PollsJob, QueueName, Slot, Source, Timestamp, Work,
};
use curlew_policy::address;
use curlew_ports::stage::Verdict;
use curlew_ports::{CallKind, HostLedger, Sources, Version};
use curlew_testkit::memory::MemoryGroups;
use std::sync::Arc;

/// A world whose store has leases of groups, with this number of feeds on a host each, all in one group.
async fn world_of(feeds: usize) -> (TestWorld, GroupPolls) {
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
    (world, GroupPolls { group, due, polls })
}

fn message(job: &GroupPolls) -> Job {
    Job::new(PollsJob { groups: vec![job.clone()] })
}

async fn run(world: &TestWorld, job: &GroupPolls) -> Verdict {
    world.program().run(&message(job)).await.unwrap()
}

/// The polls of a later cycle.
async fn later(world: &TestWorld, job: &GroupPolls, hours: u64) -> GroupPolls {
    world.politeness.clock.sleep(Millis::from_hours(hours)).await;
    GroupPolls { due: world.now(), ..job.clone() }
}

async fn versions(world: &TestWorld, job: &GroupPolls) -> Vec<Version> {
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
    run(&world, &job).await;
    assert_eq!(world.calls(CallKind::Feed).len(), 3);
    assert_eq!(world.queued(QueueName::Poll).await, []);
}

#[tokio::test(start_paused = true)]
async fn polls_whose_process_died_are_run_each_on_its_own() {
    let (world, job) = world_of(3).await;
    let (program, polls) = (world.program(), message(&job));
    // It dies while the first calls are under way.
    tokio::select! {
        biased;
        _ = program.run(&polls) => panic!("it was to die"),
        () = world.politeness.clock.sleep(Millis(1)) => {}
    }
    assert_eq!(run(&world, &job).await, Verdict::Done);
    let left: Vec<(Job, Timestamp)> = world.queued(QueueName::Poll).await;
    let [(again, at)] = &left[..] else { panic!("the lease is in force: {left:?}") };
    assert_eq!(*again, polls);
    assert!(*at > world.now());
    world.politeness.clock.sleep(world.politeness.rules.lease_length()).await;
    assert_eq!(run(&world, &job).await, Verdict::Done);
    let left = world.queued(QueueName::Poll).await.into_iter().map(|(job, _)| job).filter(|job| *job != polls);
    let singles: Vec<Job> = job.polls.iter().cloned().map(Job::new).collect();
    assert_eq!(left.collect::<Vec<_>>(), singles);
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
        let group = message(&job);
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
    let [(Job { work: Work::Poll(poll), waits: 1, .. }, due)] = &left[..] else { panic!("{left:?}") };
    assert_eq!(poll.url, job.polls[0].url);
    assert!(*due > world.now());
}

/// A world with feeds of a platform whose group has been polled before, and their polls.
async fn platform(feeds: usize) -> (TestWorld, GroupPolls) {
    let (world, _) = world_of(0).await;
    let urls: Vec<String> = (0..feeds).map(|n| format!("https://b{n}.wordpress.com/feed")).collect();
    let host = address::host_key_of(&urls[0], &world.politeness.groups).unwrap();
    let group = address::poll_group(Slot::of(0), &key(&urls[0]), &host, &world.politeness.groups);
    let mut polls = vec![];
    for url in urls {
        let mut feed = FeedSource::new(key(&url), Slot::of(0), &url);
        feed.validators.etag = Some("\"1\"".into());
        feed.polled_at = world.now() - Millis::from_hours(9);
        feed.polling.trust.verify_at = Some(world.now() + Millis::from_days(30));
        assert!(world.sources.insert(&Source::Feed(feed)).await.unwrap());
        (0..4).for_each(|_| world.web.answer(&url, Ok(status(304))));
        polls.push(PollJob::new(key(&url), url));
    }
    (world, GroupPolls { group, due: Timestamp::EPOCH, polls })
}

#[tokio::test(start_paused = true)]
async fn feeds_of_a_platform_are_polled_one_after_the_other_under_one_visit() {
    let (world, job) = platform(12).await;
    let job = later(&world, &job, 9).await;
    let began = world.now();
    assert_eq!(run(&world, &job).await, Verdict::Done);
    assert_eq!(world.calls(CallKind::Feed).len(), 12);
    assert!(world.now() >= began + world.politeness.rules.min_pause.saturating_mul(11));
    assert_eq!(world.queued(QueueName::Poll).await, []);
    let (state, Version(before)) = world.hosts.load(&host("wordpress.com")).await.unwrap();
    assert!(state.lease.is_none(), "many calls are told, so that the next visit knows of them");
    let job = later(&world, &job, 9).await;
    assert_eq!(run(&world, &job).await, Verdict::Done);
    assert_eq!(world.calls(CallKind::Feed).len(), 24);
    let (_, Version(after)) = world.hosts.load(&host("wordpress.com")).await.unwrap();
    assert_eq!(after, before + 1, "one write for all of them");
}

#[tokio::test(start_paused = true)]
async fn polls_of_a_platform_that_is_in_use_wait_together() {
    let (world, job) = platform(5).await;
    let lease = world.politeness.open(&host("wordpress.com"), "somebody").await.unwrap();
    assert_eq!(run(&world, &job).await, Verdict::Done);
    drop(lease);
    let left = world.queued(QueueName::Poll).await;
    let [(Job { work: Work::Polls(again), .. }, due)] = &left[..] else { panic!("{left:?}") };
    let [again] = &again.groups[..] else { panic!("{again:?}") };
    assert_eq!((again.group, &again.polls), (job.group, &job.polls));
    assert!(*due > world.now());
    // The message that they came with is done; they are not.
    world.politeness.clock.sleep(Millis::from_hours(1)).await;
    run(&world, again).await;
    assert_eq!(world.calls(CallKind::Feed).len(), 5);
    run(&world, again).await;
    assert_eq!(world.calls(CallKind::Feed).len(), 5, "a second delivery of it does nothing");
}

#[tokio::test(start_paused = true)]
async fn dispatch_sends_what_is_due_as_one_job_and_polls_of_a_platform_as_one_group() {
    let (world, _) = world_of(0).await;
    let urls = (100..140).map(|n| format!("https://h{n}.example/feed"));
    let urls: Vec<String> = urls.chain((0..9).map(|n| format!("https://a{n}.wordpress.com/feed"))).collect();
    for url in &urls {
        let feed = FeedSource::new(key(url), address::slot(&key(url)), url);
        assert!(world.sources.insert(&Source::Feed(feed)).await.unwrap());
    }
    let dispatch = world.dispatch_stage();
    dispatch.tick().await.unwrap();
    world.politeness.clock.sleep(Millis::from_secs(8 * HOUR)).await;
    dispatch.tick().await.unwrap();
    let (mut sent, mut messages) = (vec![], 0);
    for (job, _) in world.queued(QueueName::Poll).await {
        let Job { work: Work::Polls(job), .. } = job else { panic!("{job:?}") };
        messages += 1;
        for group in job.groups {
            for poll in group.polls {
                let host = address::host_key_of(&poll.url, &world.politeness.groups).unwrap();
                let its = address::poll_group(address::slot(&poll.feed), &poll.feed, &host, &world.politeness.groups);
                assert_eq!(its, group.group);
                sent.push(poll.url);
            }
        }
    }
    assert!(messages <= 2, "{messages}");
    sent.sort();
    sent.dedup();
    assert_eq!(sent.len(), urls.len());
}

#[tokio::test(start_paused = true)]
async fn a_robots_txt_that_has_not_changed_is_noted_and_its_copy_written_every_three_weeks() {
    let (mut world, first) = world_of(3).await;
    let web = world.web.clone();
    let asked = || web.calls().iter().filter(|call| call.url.ends_with("/robots.txt")).count();
    let names: Vec<String> = first.polls.iter().map(|poll| poll.url.replace("/feed", "/robots.txt")).collect();
    names.iter().for_each(|url| world.web.serve(url, "text/plain", "User-agent: *\nDisallow: /x\n"));
    let origin = address::origin(&url::Url::parse(&first.polls[0].url).unwrap()).unwrap();
    let fetched_at = async |world: &TestWorld| world.politeness.robots.get(&origin).await.unwrap().unwrap().fetched_at;
    // The first time each host takes a lease of its own, and joins.
    run(&world, &first).await;
    let (written, mut job) = (fetched_at(&world).await, first.clone());
    let mut days = 0;
    while fetched_at(&world).await == written {
        days += 1;
        assert!(days < 25, "the copy is written again");
        for (hours, calls) in [(9, 0), (16, 3)] {
            // Nothing but the store knows it: another process polls.
            world = TestWorld::sharing(&world);
            let before = asked();
            job = later(&world, &job, hours).await;
            assert_eq!(run(&world, &job).await, Verdict::Done);
            assert_eq!(asked() - before, calls, "day {days}, after {hours} hours");
        }
    }
    assert_eq!(days, 21);
}

#[tokio::test(start_paused = true)]
async fn the_hosts_of_a_group_are_called_in_the_same_order_each_time() {
    let called = async || -> Vec<String> {
        let (world, job) = world_of(12).await;
        assert_eq!(run(&world, &job).await, Verdict::Done);
        world.calls(CallKind::Robots).into_iter().map(|call| call.url.to_string()).collect()
    };
    let first = called().await;
    assert_eq!((first.len(), called().await), (12, first));
}
