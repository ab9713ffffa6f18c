//! Polls that fall due together share one message, and each host key has its own lease.

use crate::test_world::*;

/// Returns a world whose store is billed, with these feeds, and the polls of the feeds.
async fn world_of(urls: impl Iterator<Item = String>) -> (TestWorld, PollsJob) {
    let mut world = TestWorld::new();
    world.ports.is_billed = true;
    let mut polls = vec![];
    for url in urls {
        let mut feed = FeedSource::new(key(&url), Slot::from_hash(0), &url);
        feed.validators.etag = Some("\"1\"".into());
        feed.polled_at = world.now() - Millis::from_hours(9);
        feed.polling.trust.verify_at = Some(world.now() + Millis::from_days(30));
        assert!(world.sources.insert(&Source::Feed(feed)).await.unwrap());
        (0..9).for_each(|_| world.web.answer(&url, Ok(status(304))));
        polls.push(PollJob::new(key(&url), url));
    }
    let made_at = world.now();
    (world, PollsJob { made_at, polls })
}

/// Returns a world with this number of feeds, each on its own host, and their polls.
async fn hosts(feeds: usize) -> (TestWorld, PollsJob) {
    world_of((0..feeds).map(|n| format!("https://h{n}.example/feed"))).await
}

/// Returns a world with this number of feeds on one platform, and their polls.
async fn platform(feeds: usize) -> (TestWorld, PollsJob) {
    world_of((0..feeds).map(|n| format!("https://b{n}.wordpress.com/feed"))).await
}

async fn run(world: &TestWorld, job: &PollsJob) -> Verdict {
    world.program().run(&Job::new(job.clone())).await.unwrap()
}

async fn run_again(world: &TestWorld, job: &PollsJob) -> Verdict {
    world.program().run(&Job::new(job.clone()).again()).await.unwrap()
}

/// Returns the same polls in a later cycle.
async fn later(world: &TestWorld, job: &PollsJob, hours: u64) -> PollsJob {
    world.sleep(Millis::from_hours(hours)).await;
    PollsJob { made_at: world.now(), ..job.clone() }
}

async fn version(world: &TestWorld, name: &str) -> u64 {
    world.hosts.load(&host(name)).await.unwrap().1.0
}

#[tokio::test(start_paused = true)]
async fn a_quiet_poll_writes_the_lease_of_its_host_and_nothing_else() {
    let (world, job) = hosts(12).await;
    assert_eq!(run(&world, &job).await, Verdict::Done);
    let before = version(&world, "h7.example").await;
    let row = world.sources.get(&job.polls[7].feed).await.unwrap();
    let job = later(&world, &job, 8).await;
    assert_eq!(run(&world, &job).await, Verdict::Done);
    assert_eq!(version(&world, "h7.example").await, before + 1);
    assert_eq!(world.sources.get(&job.polls[7].feed).await.unwrap(), row);
    assert_eq!(world.calls(CallKind::Feed).len(), 24);
    assert_eq!(world.queued(QueueName::Poll).await, []);
}

#[tokio::test(start_paused = true)]
async fn a_second_delivery_of_polls_that_were_done_does_nothing_at_any_time() {
    let (world, job) = hosts(3).await;
    run(&world, &job).await;
    for hours in [0, 1, 3] {
        world.sleep(Millis::from_hours(hours)).await;
        assert!(matches!(run_again(&world, &job).await, Verdict::Drop(_)));
        assert!(matches!(run(&world, &job).await, Verdict::Drop(_)), "even if it looks like a first delivery");
    }
    assert_eq!(world.calls(CallKind::Feed).len(), 3);
    assert_eq!(world.queued(QueueName::Poll).await, []);
    let next = later(&world, &job, 8).await;
    assert_eq!(run(&world, &next).await, Verdict::Done);
    assert_eq!(world.calls(CallKind::Feed).len(), 6, "the next message is a new one");
}

#[tokio::test(start_paused = true)]
async fn polls_whose_process_died_are_run_each_on_its_own() {
    let (world, job) = hosts(3).await;
    let (program, polls) = (world.program(), Job::new(job.clone()));
    // The process dies while the first calls are under way.
    tokio::select! {
        biased;
        _ = program.run(&polls) => panic!("the process must die first"),
        () = world.sleep(Millis(1)) => {}
    }
    assert_eq!(run_again(&world, &job).await, Verdict::Done);
    let left: Vec<Job> = world.queued(QueueName::Poll).await.into_iter().map(|(job, _)| job).collect();
    let single = |poll: &PollJob| Job { is_again: true, ..Job::new(poll.clone()) };
    assert_eq!(left, job.polls.iter().map(single).collect::<Vec<_>>());
    assert!(matches!(run_again(&world, &job).await, Verdict::Drop(_)), "the polls must be sent only once");
}

#[tokio::test(start_paused = true)]
async fn a_poll_whose_host_is_in_use_waits_as_a_job_of_its_own() {
    let (world, job) = hosts(2).await;
    let busy = visit("h0.example", &[], &new());
    let lease = world.politeness.open(&busy.host, "somebody").await.unwrap();
    assert_eq!(run(&world, &job).await, Verdict::Done);
    drop(lease);
    let left = world.queued(QueueName::Poll).await;
    let [(Job { work: Work::Poll(poll), waits: 1, .. }, due)] = &left[..] else { panic!("{left:?}") };
    assert_eq!(poll.url, job.polls[0].url);
    assert!(*due > world.now());
}

#[tokio::test(start_paused = true)]
async fn feeds_of_a_platform_are_polled_one_after_the_other_under_one_visit() {
    let (world, job) = platform(12).await;
    let began = world.now();
    assert_eq!(run(&world, &job).await, Verdict::Done);
    assert_eq!(world.calls(CallKind::Feed).len(), 12);
    assert!(world.now() >= began + world.politeness.rules.min_pause.saturating_mul(11));
    assert_eq!(world.queued(QueueName::Poll).await, []);
    let (state, Version(before)) = world.hosts.load(&host("wordpress.com")).await.unwrap();
    assert!(state.lease.is_none(), "a visit with many calls must be recorded and its lease returned");
    let job = later(&world, &job, 9).await;
    assert_eq!(run(&world, &job).await, Verdict::Done);
    assert_eq!(world.calls(CallKind::Feed).len(), 24);
    let after = version(&world, "wordpress.com").await;
    assert!(after <= before + 3, "a lease, a longer one and its return for all of them: {}", after - before);
}

#[tokio::test(start_paused = true)]
async fn polls_of_a_platform_that_is_in_use_wait_together() {
    let (world, job) = platform(5).await;
    let lease = world.politeness.open(&host("wordpress.com"), "somebody").await.unwrap();
    assert_eq!(run(&world, &job).await, Verdict::Done);
    drop(lease);
    let left = world.queued(QueueName::Poll).await;
    let [(Job { work: Work::Polls(again), .. }, due)] = &left[..] else { panic!("{left:?}") };
    assert_eq!(again.polls, job.polls);
    assert!(*due > world.now());
    // The message that the polls came with is done, but the polls are not.
    world.sleep(Millis::from_hours(1)).await;
    run(&world, again).await;
    assert_eq!(world.calls(CallKind::Feed).len(), 5);
    run_again(&world, again).await;
    assert_eq!(world.calls(CallKind::Feed).len(), 5, "a second delivery must do nothing");
}

#[tokio::test(start_paused = true)]
async fn dispatch_sends_what_is_due_as_one_job() {
    let (world, _) = hosts(0).await;
    let urls = (100..140).map(|n| format!("https://h{n}.example/feed"));
    let urls: Vec<String> = urls.chain((0..9).map(|n| format!("https://a{n}.wordpress.com/feed"))).collect();
    for url in &urls {
        let feed = FeedSource::new(key(url), address::slot(&key(url)), url);
        assert!(world.sources.insert(&Source::Feed(feed)).await.unwrap());
    }
    let dispatch = world.dispatch_stage();
    dispatch.tick().await.unwrap();
    world.sleep(Millis::from_secs(8 * HOUR)).await;
    dispatch.tick().await.unwrap();
    let (mut sent, mut made): (Vec<String>, Vec<Timestamp>) = Default::default();
    for (job, _) in world.queued(QueueName::Poll).await {
        let Job { work: Work::Polls(job), .. } = job else { panic!("{job:?}") };
        made.push(job.made_at);
        sent.extend(job.polls.into_iter().map(|poll| poll.url));
    }
    let messages = made.len();
    made.dedup();
    sent.sort();
    sent.dedup();
    assert!(messages <= 2 && made.len() == messages, "{made:?}");
    assert_eq!(sent.len(), urls.len());
}

/// Serves an unchanging robots.txt for each feed.
fn serve_robots(world: &TestWorld, job: &PollsJob) {
    for poll in &job.polls {
        let url = poll.url.replace("/feed", "/robots.txt");
        world.web.serve(&url, "text/plain", "User-agent: *\nDisallow: /x\n");
    }
}

fn robots_calls(world: &TestWorld) -> usize {
    world.web.calls().iter().filter(|call| call.url.ends_with("/robots.txt")).count()
}

async fn written_at(world: &TestWorld, job: &PollsJob) -> Timestamp {
    let origin = address::origin(&url::Url::parse(&job.polls[0].url).unwrap()).unwrap();
    world.politeness.robots.get(&origin).await.unwrap().unwrap().fetched_at
}

#[tokio::test(start_paused = true)]
async fn a_robots_txt_that_has_not_changed_is_noted_with_its_host_and_its_copy_written_every_25_days() {
    let (mut world, mut job) = hosts(3).await;
    serve_robots(&world, &job);
    run(&world, &job).await;
    let (written, mut days) = (written_at(&world, &job).await, 0);
    while written_at(&world, &job).await == written {
        days += 1;
        assert!(days < 30, "the copy must be written again");
        for (hours, calls, writes) in [(9, 0, 1), (16, 3, 2)] {
            // Another process makes the polls, so only the store knows the copy.
            world = TestWorld::sharing(&world);
            let (asked, before) = (robots_calls(&world), version(&world, "h0.example").await);
            job = later(&world, &job, hours).await;
            assert_eq!(run(&world, &job).await, Verdict::Done);
            assert_eq!(robots_calls(&world) - asked, calls, "day {days}, after {hours} hours");
            let written_again = written_at(&world, &job).await != written;
            let writes = if written_again { 1 } else { writes };
            assert_eq!(version(&world, "h0.example").await - before, writes, "day {days}, after {hours} hours");
        }
    }
    // Each of these days has 25 hours.
    assert_eq!(days, 24);
}

#[tokio::test(start_paused = true)]
async fn a_robots_txt_that_is_too_old_by_the_next_poll_is_not_noted() {
    let (mut world, mut job) = hosts(1).await;
    world.with_rules(|rules| rules.poll_interval = Millis::from_hours(24));
    serve_robots(&world, &job);
    run(&world, &job).await;
    let (row, _) = world.sources.get(&job.polls[0].feed).await.unwrap().unwrap();
    assert!(matches!(row, Source::Feed(FeedSource { interval, .. }) if interval == Millis::from_hours(24)), "{row:?}");
    let written = written_at(&world, &job).await;
    for day in 1..4 {
        world = TestWorld::sharing(&world);
        let (asked, before) = (robots_calls(&world), version(&world, "h0.example").await);
        job = later(&world, &job, 24).await;
        assert_eq!(run(&world, &job).await, Verdict::Done);
        assert_eq!(robots_calls(&world) - asked, 1, "day {day}");
        assert_eq!(version(&world, "h0.example").await - before, 1, "only the lease is written");
        assert_eq!(written_at(&world, &job).await, written);
    }
}

#[tokio::test(start_paused = true)]
async fn hosts_are_called_in_the_same_order_each_time() {
    let called = async || -> Vec<String> {
        let (world, job) = hosts(12).await;
        assert_eq!(run(&world, &job).await, Verdict::Done);
        world.calls(CallKind::Robots).into_iter().map(|call| call.url.to_string()).collect()
    };
    let first = called().await;
    assert_eq!((first.len(), called().await), (12, first));
}
