#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

mod faults;
mod simulation;

use super::*;
use crate::tests::world::{TestWorld, page, stored, visit, visit_message};
use curlew_model::{Challenge, DiscoverJob, Gone, OwnJob, OwnerRequest, RemovalJob, Slot, Source, SourceKey, Work};
use curlew_policy::delivery::{MAX_HANDOUTS, MAX_RECEIVES, RETRY};
use curlew_ports::{Delivery, Inbox, Queue};

#[tokio::test(start_paused = true)]
async fn what_cannot_be_read_is_given_up_with_the_reason_and_the_rest_is_done() {
    let world = TestWorld::new(QueueName::Fetch);
    let good = visit_message("example.org", &["a"]);
    let old = good.replacen("\"v\":1", "\"v\":7", 1);
    let other = page("https://example.org/b").to_message().unwrap();
    let summary = world.run(&[(&good, 1), ("{", 1), (&old, 1), (&other, 1)]).await;
    assert_eq!((summary.done, summary.given_up, summary.failures.len()), (1, 3, 0));
    let reasons = world.reasons().await;
    assert_eq!(reasons.len(), 3);
    for says in ["not a job", "version 7", "wrong queue: it is one for extract"] {
        assert!(reasons.iter().any(|why| why.contains(says)), "{says}: {reasons:?}");
    }
    assert_eq!(world.web.inner.calls().len(), 2, "robots.txt and the page");
}

#[tokio::test(start_paused = true)]
async fn what_killed_its_function_time_and_again_is_given_up_without_another_run() {
    let world = TestWorld::new(QueueName::Fetch);
    let poison = visit_message("poison.example", &["a"]);
    let good = visit_message("example.org", &["a"]);
    let summary = world.run(&[(&poison, MAX_HANDOUTS), (&good, MAX_HANDOUTS - 1)]).await;
    assert_eq!((summary.done, summary.given_up), (1, 1));
    assert!(world.reasons().await[0].contains("without finishing"));
    assert!(world.web.inner.calls().iter().all(|call| !call.url.contains("poison")));
}

#[tokio::test(start_paused = true)]
async fn a_panic_in_one_visit_fails_that_visit_alone() {
    let world = TestWorld::new(QueueName::Fetch);
    let jobs = ["a.example", "panic.example", "b.example"].map(|host| visit_message(host, &["page"]));
    let summary = world.run_first(&jobs).await;
    assert_eq!((summary.done, summary.failures.as_slice()), (2, ["message-1".to_owned()].as_slice()));
    // Let the lease expire.
    world.clock.sleep(world.bounds.rules.lease_length()).await;
    let last = world.run(&[(&jobs[1], MAX_RECEIVES)]).await;
    assert_eq!((last.given_up, last.failures.len()), (1, 0));
    assert!(world.reasons().await[0].contains("panicked: this page is too much"));
}

#[tokio::test(start_paused = true)]
async fn a_panic_in_one_page_fails_that_page_alone() {
    let world = TestWorld::new(QueueName::Extract);
    let pages = [page("https://a.example/"), stored("bodies/panic"), page("https://b.example/")];
    let messages = pages.map(|job| job.to_message().unwrap());
    let summary = world.run_first(&messages).await;
    assert_eq!((summary.done, summary.failures.as_slice()), (2, ["message-1".to_owned()].as_slice()));
}

#[tokio::test(start_paused = true)]
async fn a_body_that_is_gone_is_given_up_and_one_that_is_out_of_reach_is_tried_again() {
    let world = TestWorld::new(QueueName::Extract);
    let messages = [stored("bodies/gone"), stored("bodies/later"), page("https://a.example/")];
    let messages = messages.map(|job| job.to_message().unwrap());
    let before = world.clock.now();
    let summary = world.run_first(&messages).await;
    assert_eq!((summary.done, summary.given_up), (1, 1));
    assert_eq!(summary.failures, ["message-1"]);
    assert!(world.reasons().await[0].contains("bodies/gone does not exist"));
    let waiting = world.jobs.waiting(before, 10).await.unwrap();
    assert!(waiting[0].due.since(before) >= RETRY, "it is put back for a while");
    let given_up = world.run(&[(&messages[1], MAX_RECEIVES)]).await;
    assert_eq!((given_up.given_up, given_up.failures.len()), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn w12_a_message_that_comes_twice_leaves_what_it_left_once_and_one_that_is_no_job_is_given_up() {
    let world = TestWorld::new(QueueName::Extract);
    let message = page("https://a.example/").to_message().unwrap();
    for _ in 0..2 {
        assert_eq!(world.run(&[(&message, 1)]).await.failures, Vec::<String>::new());
        assert_eq!(world.segments().await.len(), 1);
    }
    let poison = world.run(&[("{\"v\":1,\"job\":\"extract\"}", 1), ("not even JSON", 1)]).await;
    assert_eq!((poison.given_up, poison.failures.len()), (2, 0));
    assert_eq!(world.reasons().await.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn pages_of_one_batch_share_a_segment_but_for_those_that_failed_before() {
    let world = TestWorld::new(QueueName::Extract);
    let messages: Vec<String> = (0..5).map(|n| page(&format!("https://a.example/{n}")).to_message().unwrap()).collect();
    let deliveries: Vec<(&str, u32)> =
        messages.iter().enumerate().map(|(n, job)| (job.as_str(), if n == 4 { 2 } else { 1 })).collect();
    assert_eq!(world.run(&deliveries).await.done, 5);
    assert_eq!(world.segments().await.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn removals_run_a_few_at_a_time_and_a_look_for_a_proof_is_none() {
    let world = TestWorld::new(QueueName::Remove);
    let job = |n: usize| {
        let url = format!("https://h{n}.example/a");
        let page = address::page_id(&url::Url::parse(&url).unwrap());
        Job::new(RemovalJob::remove(page, url, Gone::NotFound, world.clock.now())).to_message().unwrap()
    };
    let challenge = Challenge::new(&"a".repeat(Challenge::DIGITS)).unwrap();
    let own =
        |request| Job::new(OwnJob::new("example.org".to_owned(), challenge.clone(), request)).to_message().unwrap();
    let mut messages: Vec<String> = (0..20).map(job).collect();
    messages.extend([own(OwnerRequest::Report), own(OwnerRequest::Look)]);
    let summary = world.run_first(&messages).await;
    assert_eq!((summary.done, summary.given_up, summary.slots), (21, 1, REMOVALS_AT_ONCE));
    assert!(world.reasons().await[0].contains("it is one for discover"));
    assert!(world.bounds.least_time(QueueName::Remove) < Millis::from_mins(1), "the shortest timeout has room for one");
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_begun_any_more_is_sent_again_in_order() {
    let mut world = TestWorld::new(QueueName::Fetch);
    world.bounds.slots = 1;
    world.bounds.deadline = world.bounds.least_time(QueueName::Fetch) + Millis(1_500);
    // The third visit is the longest and runs first.
    let paths = |n: usize| &["0", "1", "2", "3"][..if n == 2 { 4 } else { 1 }];
    let messages: Vec<String> = (0..5).map(|n| visit_message(&format!("host{n}.example"), paths(n))).collect();
    let summary = world.run_first(&messages).await;
    assert_eq!((summary.done, summary.deferred, summary.failures.len()), (1, 4, 0));
    let expected: Vec<String> = [0, 1, 3, 4].map(|n: usize| messages[n].clone()).into();
    assert_eq!(world.sent_again().await, expected);
}

#[tokio::test(start_paused = true)]
async fn a_visit_that_hangs_is_cut_off_before_the_deadline_and_comes_again_when_its_lease_has_run_out() {
    let mut world = TestWorld::new(QueueName::Fetch);
    world.bounds.deadline = world.bounds.least_time(QueueName::Fetch) + Millis(1);
    let good = visit_message("a.example", &["a"]);
    let hangs = visit_message("hang.example", &["a"]);
    let summary = world.run(&[(&hangs, 1), (&good, 1)]).await;
    assert_eq!((summary.done, summary.failures.as_slice()), (1, ["message-0".to_owned()].as_slice()));
    assert!(world.clock.monotonic() < world.bounds.deadline);
    let lease_ends = world.clock.now() + world.bounds.rules.lease_length();
    let early = world.jobs.receive(QueueName::Fetch, 10, Millis(1), lease_ends).await.unwrap();
    let soon = world.jobs.receive(QueueName::Fetch, 10, Millis(1), lease_ends + RETRY).await.unwrap();
    let receives: Vec<u32> = soon.iter().filter(|delivery| delivery.job.is_ok()).map(|d| d.receives).collect();
    assert!(early.iter().all(|delivery| delivery.job.as_ref().unwrap().to_message().unwrap() == good), "{early:?}");
    assert!(receives.contains(&2), "it counts as handed out, and so runs alone: {soon:?}");
}

#[tokio::test(start_paused = true)]
async fn what_was_not_begun_when_time_ran_out_is_sent_again_and_no_failure() {
    let mut world = TestWorld::new(QueueName::Fetch);
    world.bounds.slots = 1;
    world.bounds.deadline = world.bounds.least_time(QueueName::Fetch) + Millis(1);
    let hangs = visit_message("hang.example", &["a", "b"]);
    let behind = visit_message("hang.example", &["c"]);
    let other = visit_message("a.example", &["a"]);
    let summary = world.run(&[(&hangs, 1), (&behind, 1), (&other, 1)]).await;
    assert_eq!((summary.deferred, summary.failures.as_slice()), (2, ["message-0".to_owned()].as_slice()));
    let now = world.jobs.receive(QueueName::Fetch, 10, Millis(1), world.clock.now()).await.unwrap();
    let first = |delivery: Delivery| (delivery.job.unwrap().to_message().unwrap(), delivery.receives);
    assert_eq!(now.into_iter().map(first).collect::<Vec<_>>(), [(behind, 1), (other, 1)]);
}

#[tokio::test(start_paused = true)]
async fn a_queue_that_hangs_does_not_keep_an_invocation_beyond_its_deadline() {
    let mut world = TestWorld::new(QueueName::Fetch);
    world.bounds.deadline = world.bounds.least_time(QueueName::Fetch) + Millis(1);
    world.hangs = true;
    let (hangs, behind) = (visit_message("hang.example", &["a"]), visit_message("hang.example", &["b"]));
    let summary = world.run(&[(&hangs, 1), (&behind, 1)]).await;
    assert_eq!(summary.failures, ["message-0", "message-1"]);
    assert!(world.clock.monotonic() < world.bounds.deadline);
}

#[tokio::test(start_paused = true)]
async fn a_message_whose_job_cannot_be_sent_again_is_handed_out_when_the_job_is_due() {
    let mut world = TestWorld::new(QueueName::Fetch);
    world.sends_fail = true;
    let job = visit_message("a.example", &["1"]);
    let until = world.clock.now() + Millis::from_mins(5);
    let summary = world.open(&[(&job, 1)]).await.put_off(until).await;
    assert_eq!((summary.deferred, summary.failures.as_slice()), (0, ["message-0".to_owned()].as_slice()));
    assert_eq!(world.jobs.waiting(world.clock.now(), 10).await.unwrap()[0].due, until);
}

#[tokio::test(start_paused = true)]
async fn visits_of_one_host_follow_each_other_and_none_is_told_that_it_is_busy() {
    let world = TestWorld::new(QueueName::Fetch);
    let jobs = ["0", "1", "2", "3"].map(|path| visit_message("a.example", &[path]));
    let summary = world.run_first(&jobs).await;
    assert_eq!((summary.done, summary.deferred, summary.slots), (4, 0, 1));
}

#[tokio::test(start_paused = true)]
async fn a_busy_host_puts_its_job_off_and_that_is_no_failure() {
    let world = TestWorld::new(QueueName::Fetch);
    let host = curlew_model::HostKey::new("a.example").unwrap();
    let politeness = world.politeness.clone();
    let curlew_crawl::politeness::visit::LeaseOutcome::Granted(_other) =
        politeness.open(&host, "somebody else").await.unwrap()
    else {
        panic!()
    };
    let job = visit_message("a.example", &["1"]);
    let summary = world.run(&[(&job, 4)]).await;
    assert_eq!((summary.deferred, summary.failures.len(), summary.given_up), (1, 0, 0));
    let [again] = world.sent_again().await.try_into().unwrap();
    let Ok(Job { work: Work::Fetch(visit), waits, .. }) = Job::from_message(&again) else { panic!("{again}") };
    assert_eq!((waits, visit.items[0].url.as_str()), (1, "https://a.example/1"));
}

#[tokio::test(start_paused = true)]
async fn what_is_sent_again_knows_that_an_earlier_delivery_did_not_end() {
    // Cases: the job's host is in use, there is no time to start the job, or crawling is paused.
    for case in ["busy", "late", "paused"] {
        let mut world = TestWorld::new(QueueName::Discover);
        let host = curlew_model::HostKey::new("a.example").unwrap();
        let politeness = world.politeness.clone();
        let _other = politeness.open(&host, "somebody else").await.unwrap();
        let mut messages = Vec::new();
        for n in [1, 2] {
            let (key, url) = (SourceKey::new(&format!("{n:032x}")).unwrap(), "https://a.example/");
            messages.push(Job::new(DiscoverJob::new(key.clone(), url.to_owned())).to_message().unwrap());
            let site = curlew_testkit::sample::site(key, Slot::from_hash(0), url);
            assert!(world.ports.sources.insert(&Source::Site(site)).await.unwrap());
        }
        let messages = [(messages[0].as_str(), 2), (messages[1].as_str(), 1)];
        if case == "late" {
            world.bounds.deadline = world.clock.monotonic() + LAST_THINGS;
        }
        match case {
            "paused" => drop(world.open(&messages).await.put_off(world.clock.now()).await),
            _ => drop(world.run(&messages).await),
        }
        let sent: Vec<Job> =
            world.sent_again().await.iter().map(|message| Job::from_message(message).unwrap()).collect();
        // The result may include messages that the mapping has not deleted yet.
        let is_sent = |n: u8, again: bool| {
            let is_it = |job: &DiscoverJob| job.site.as_str().ends_with(&n.to_string());
            let is_sent = |job: &Job| matches!(&job.work, Work::Discover(site) if is_it(site)) && job.is_again == again;
            sent.iter().any(is_sent)
        };
        assert!(is_sent(1, true) && is_sent(2, false) && !is_sent(2, true), "{case}: {sent:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn while_paused_nothing_is_called_and_nothing_is_lost() {
    let world = TestWorld::new(QueueName::Fetch);
    let job = visit_message("a.example", &["1"]);
    let batch = world.open(&[(&job, 1), ("nonsense", 1)]).await;
    let until = world.clock.now() + Millis::from_mins(15);
    let summary = batch.put_off(until).await;
    assert_eq!((summary.deferred, summary.given_up, summary.failures.len()), (1, 1, 0));
    assert!(world.web.inner.calls().is_empty());
    assert_eq!(world.sent_again().await, [job]);
}

#[tokio::test(start_paused = true)]
async fn an_empty_batch_is_no_trouble() {
    let summary = TestWorld::new(QueueName::Poll).run(&[]).await;
    assert_eq!(summary, Summary::default());
    assert_eq!(summary.utilisation(), None);
}

#[tokio::test(start_paused = true)]
async fn a_job_that_ends_the_process_costs_itself_alone_once_it_is_handed_out_again() {
    for stage in [QueueName::Fetch, QueueName::Extract] {
        let mut world = TestWorld::new(stage);
        let message = |name: &str| match stage {
            QueueName::Fetch => visit_message(&format!("{name}.example"), &["a"]),
            _ if name == "hang" => stored("bodies/hang").to_message().unwrap(),
            _ => page(&format!("https://{name}.example/a")).to_message().unwrap(),
        };
        let poison = message("hang");
        let [new, first, last] = ["new", "first", "last"].map(message);
        // This one was sent as a new message after an unfinished delivery.
        let last = Job::from_message(&last).unwrap().again().to_message().unwrap();
        let batch = world.open(&[(&new, 1), (&first, 2), (&poison, 3), (&last, 1)]).await;
        let plan = batch.plan();
        assert_eq!((plan.alone.as_slice(), plan.lanes.as_slice()), ([1, 2, 3].as_slice(), [vec![0]].as_slice()));
        let program = std::sync::Arc::new(world.program());
        // The process dies while the poison job runs.
        tokio::select! {
            summary = batch.run(plan, program) => panic!("{summary:?}"),
            () = world.clock.sleep(Millis::from_mins(5)) => {}
        }
        let left: Vec<String> =
            world.jobs.left().into_iter().filter(|(of, _)| *of == stage).map(|(_, job)| job).collect();
        assert_eq!(left, [new.clone(), poison.clone(), last.clone()], "what was done is out of the queue");
        let called = world.web.inner.calls().iter().any(|call| call.url.contains("//new.example/"));
        assert!(!called, "nothing ran beside it");
        // After the poison job is given up, the others are done.
        world.clock.sleep(Millis::from_hours(2)).await;
        world.bounds.deadline = world.clock.monotonic() + Millis::from_mins(15);
        let summary = world.run(&[(&new, 2), (&last, 4)]).await;
        assert_eq!((summary.done, summary.failures.len()), (2, 0), "{summary:?}");
    }
}

/// Runs deliveries until none are left; a process that runs for five minutes is dead. Returns the number of deaths.
async fn run_to_the_end(world: &mut TestWorld) -> u32 {
    const VISIBILITY: Millis = Millis::from_mins(95);
    let mut deaths = 0;
    for _ in 0..1_000 {
        let messages = world.handed_out(VISIBILITY).await;
        if world.jobs.left().is_empty() {
            break;
        }
        if messages.is_empty() {
            world.clock.sleep(Millis::from_mins(1)).await;
            continue;
        }
        world.bounds.deadline = world.clock.monotonic() + Millis::from_mins(15);
        let batch = world.batch(messages.clone()).await;
        let (plan, program) = (batch.plan(), Arc::new(world.program()));
        tokio::select! {
            summary = batch.run(plan, program) => {
                for message in messages.iter().filter(|message| !summary.failures.contains(&message.id)) {
                    world.jobs.ack(&curlew_ports::Receipt(message.handle.clone())).await.unwrap();
                }
            }
            () = world.clock.sleep(Millis::from_mins(5)) => deaths += 1,
        }
    }
    deaths
}

#[tokio::test(start_paused = true)]
async fn of_many_jobs_those_that_end_the_process_are_given_up_and_all_others_are_done() {
    // With more poison jobs, the receive limit is reached before each job has run three times.
    for (poisons, times, died) in [(1, "3", 4), (2, "3", 7), (5, "", 7)] {
        judge_poisons(poisons, times, died).await;
    }
}

async fn judge_poisons(poisons: usize, times: &str, died: u32) {
    const GOOD: usize = 5;
    let mut world = TestWorld::new(QueueName::Fetch);
    let began = world.clock.now();
    let names = (0..poisons * GOOD).map(|n| if n % GOOD == 2 { format!("hang{n}") } else { format!("good{n}") });
    for name in names {
        let job = visit(&format!("{name}.example"), &[&format!("https://{name}.example/a")]);
        world.jobs.send(&[(job, began)]).await.unwrap();
    }
    let deaths = run_to_the_end(&mut world).await;
    let dead = world.jobs.dead(100).await.unwrap();
    assert_eq!(dead.len(), poisons);
    let reason = format!("the process died while this job ran, {times}");
    assert!(dead.iter().all(|dead| dead.error.starts_with(&reason)), "{dead:?}");
    assert!(dead.iter().all(|dead| dead.message.contains("//hang")), "{dead:?}");
    assert!(world.jobs.left().is_empty());
    let called = |name: &str| world.web.inner.calls().iter().filter(|call| call.url.contains(name)).count();
    // One call for robots.txt, and two for the page: in the first batch, and alone.
    assert_eq!(called("//good"), 3 * (GOOD - 1) * poisons);
    assert_eq!(deaths, died);
    // The queue's own visibility timeout once, and half an hour for each death at most.
    let took = world.clock.now().since(began);
    assert!(took < Millis::from_mins(95 + 30 * u64::from(died)), "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn a_visit_that_ends_the_process_is_split_and_only_its_page_is_given_up() {
    let mut world = TestWorld::new(QueueName::Fetch);
    let urls = ["https://pages.example/a", "https://pages.example/hang//hang", "https://pages.example/c"];
    world.jobs.send(&[(visit("pages.example", &urls), world.clock.now())]).await.unwrap();
    run_to_the_end(&mut world).await;
    let dead = world.jobs.dead(100).await.unwrap();
    assert_eq!(dead.len(), 1, "{dead:?}");
    assert!(dead[0].message.contains(urls[1]) && !dead[0].message.contains(urls[0]), "{dead:?}");
    assert!(dead[0].error.contains("died while this job ran"), "{dead:?}");
    let called = |url: &str| world.web.inner.calls().iter().any(|call| call.url == url);
    assert!(called(urls[0]) && called(urls[2]) && world.jobs.left().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_job_that_fails_by_itself_ends_no_process() {
    let mut world = TestWorld::new(QueueName::Fetch);
    let job = visit_message("panic.example", &["page"]);
    for receives in 2..MAX_RECEIVES {
        assert_eq!(world.run(&[(&job, receives)]).await.failures.len(), 1);
        world.clock.sleep(world.bounds.rules.lease_length()).await;
        world.bounds.deadline = world.clock.monotonic() + Millis::from_mins(15);
    }
    world.run(&[(&job, MAX_RECEIVES)]).await;
    let reasons = world.reasons().await;
    assert!(reasons.len() == 1 && reasons[0].contains("panicked"), "{reasons:?}");
}

#[tokio::test(start_paused = true)]
async fn jobs_that_are_run_alone_leave_half_of_the_time_to_the_others() {
    let mut world = TestWorld::new(QueueName::Fetch);
    world.bounds.deadline = world.bounds.least_time(QueueName::Fetch) + Millis::from_mins(5);
    let again: Vec<String> = (0..200).map(|n| visit_message(&format!("h{n}.example"), &[""])).collect();
    let new = visit_message("new.example", &[""]);
    let deliveries: Vec<(&str, u32)> = again.iter().map(|job| (job.as_str(), 2)).chain([(new.as_str(), 1)]).collect();
    let summary = world.run(&deliveries).await;
    assert_eq!((summary.done + summary.deferred, summary.failures.len()), (201, 0));
    assert!(summary.done > 50 && summary.deferred > 20, "{summary:?}");
    assert!(world.web.inner.calls().iter().any(|call| call.url == "https://new.example/"));
}
