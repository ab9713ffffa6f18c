//! Receivers that fail: one job waits for each receiver, and none is lost.

use crate::test_world::*;
use crate::watches::{HOOK, add, minutes, posts, publish, titles, work};

#[tokio::test(start_paused = true)]
async fn a_try_that_fails_and_dies_anywhere_is_made_again_without_news() {
    let mut later = status(500);
    // This is longer than the time until the job of a dead worker is handed out again.
    later.headers.retry_after = Some("86400".into());
    for crash in 0.. {
        let world = TestWorld::new();
        let sound = world.program();
        add(&sound, "curlew").await;
        world.web.keep(HOOK, later.clone());
        publish(&world, &sound, &["one"]).await;
        let faults = Faults::crash_at(crash, world.politeness.clock.clone());
        let jobs = Arc::new(Faulty::new(world.jobs.clone(), faults.clone()));
        let faulty = world.faulty_program(&faults);
        // The process that settles the job is the one that dies.
        let mailbox = Mailbox { inbox: jobs.clone(), queue: jobs, clock: world.politeness.clock.clone() };
        let worker = Worker { stages: &faulty, queue: &mailbox, clock: world.politeness.clock.as_ref() };
        let due = world.jobs.receive(QueueName::Poll, 10, Millis::from_hours(1), world.now()).await.unwrap();
        let settled = worker.deliver(QueueName::Poll, due).await;
        world.web.keep(HOOK, status(200));
        for _ in 0..50 {
            work(&world, &sound).await;
            world.sleep(Millis::from_hours(1)).await;
        }
        let posts = posts(&world);
        assert_eq!(titles(&posts).last().map(String::as_str), Some("Page one"), "{crash}");
        assert!(posts.len() <= 3, "{crash}: {} tries", posts.len());
        assert!(world.keys("outbox/").await.is_empty(), "{crash}");
        assert!(world.jobs.left().is_empty(), "{crash}: {:?}", world.jobs.left());
        assert_eq!(world.program().desk.watches.list().await.unwrap()[0].receiver.failures, 0, "{crash}");
        if !faults.has_crashed() {
            assert!(settled.is_ok() && crash > 6, "{crash}: {settled:?}");
            return;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn one_job_waits_for_a_receiver_that_fails_whatever_is_new_meanwhile() {
    let world = TestWorld::new();
    let program = world.program();
    let watch = add(&program, "curlew").await;
    world.web.keep(HOOK, status(500));
    let news = DeliverJob { watch: watch.name.clone(), url: HOOK.into(), retry_at: None };
    for hour in 0..12 {
        publish(&world, &program, &[&format!("h{hour:02}")]).await;
        let jobs = vec![(Job::new(news.clone()), world.now()); 5];
        world.jobs.send(&jobs).await.unwrap();
        minutes(&world, &program, 60).await;
        assert_eq!(world.jobs.left().len(), 1, "{hour}: {:?}", world.jobs.left());
    }
    // A job that was handed out before its time, because of a clock that is ahead, is not lost. Any other job is
    // superfluous.
    let (Job { work: Work::Deliver(next), .. }, due) = world.queued(QueueName::Poll).await.remove(0) else {
        panic!("the job must be a delivery")
    };
    let retry_at = program.desk.watches.list().await.unwrap()[0].receiver.retry_at;
    assert_eq!((next.retry_at, retry_at), (Some(due), Some(due)));
    assert_eq!(program.desk.watches.deliver(&next).await.unwrap(), Verdict::Defer(due));
    for other in [news, DeliverJob { retry_at: Some(due - Millis(1)), ..next }] {
        let verdict = program.desk.watches.deliver(&other).await.unwrap();
        assert!(matches!(verdict, Verdict::Drop(_)), "{other:?}: {verdict:?}");
    }
    // None of these jobs starts a second week.
    minutes(&world, &program, 9 * 24 * 60).await;
    assert_eq!((world.jobs.left().len(), world.jobs.dead(9).await.unwrap().len()), (0, 1));
    assert!(program.desk.watches.list().await.unwrap()[0].receiver.given_up);
}
