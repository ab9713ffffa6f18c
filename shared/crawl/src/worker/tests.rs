#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

use super::*;
use curlew_model::{Envelope, Millis, PageBody, SourceKey, Work};
use curlew_policy::delivery::{MAX_HANDOUTS, MAX_RECEIVES, RETRY};
use curlew_ports::stage::StageError;
use curlew_testkit::memory::{MemoryJobs, TokioClock};
use curlew_testkit::sample;
use std::sync::Mutex;

/// Stages that answer each job with the scripted result for its URL, and panic if there is none.
struct Script(fn(&str) -> Option<Result<Verdict>>, Mutex<Vec<usize>>);

impl Script {
    fn of(answer: fn(&str) -> Option<Result<Verdict>>) -> Script {
        Script(answer, Mutex::default())
    }

    fn answer(&self, url: &str) -> Result<Verdict> {
        self.0(url).unwrap_or_else(|| panic!("no answer to {url}"))
    }
}

fn url_of(job: &Job) -> &str {
    match &job.work {
        Work::Poll(job) => &job.url,
        Work::Extract(job) => &job.url,
        other => panic!("{other:?}"),
    }
}

#[async_trait]
impl Stages for Script {
    async fn run(&self, job: &Job) -> Result<Verdict> {
        self.answer(url_of(job))
    }

    async fn run_batch(&self, jobs: &[PageJob]) -> Vec<Result<Verdict>> {
        self.1.lock().unwrap().push(jobs.len());
        jobs.iter().map(|job| self.answer(&job.work.url)).collect()
    }
}

fn poll(url: &str) -> Job {
    let feed = SourceKey::new(&"ab".repeat(16)).unwrap();
    Job::new(curlew_model::PollJob::new(feed, url.to_owned()))
}

struct Post {
    jobs: Arc<MemoryJobs>,
    clock: Arc<TokioClock>,
}

impl Post {
    fn new() -> Post {
        Post { jobs: Arc::default(), clock: Arc::new(TokioClock::starting_at("2026-11-21T00:00:00Z".parse().unwrap())) }
    }

    /// Delivers the jobs that are due within `wait` and runs them; returns their number.
    async fn work(&self, stages: &Script, wait: Millis) -> usize {
        let due = self.clock.now() + wait;
        let handed = self.jobs.receive(QueueName::Poll, 10, Millis::from_mins(15), due).await.unwrap();
        let count = handed.len();
        let (inbox, queue, clock) = (self.jobs.clone(), self.jobs.clone(), self.clock.clone());
        let mailbox = Mailbox { inbox, queue, clock };
        let worker = Worker { stages, queue: &mailbox, clock: self.clock.as_ref() };
        worker.deliver(QueueName::Poll, handed).await.unwrap();
        count
    }

    async fn reasons(&self) -> Vec<String> {
        self.jobs.dead(10).await.unwrap().into_iter().map(|dead| dead.error).collect()
    }
}

async fn sent(url: &str) -> Post {
    let post = Post::new();
    post.jobs.send(&[(poll(url), post.clock.now())]).await.unwrap();
    post
}

const DAY: Millis = Millis::from_days(1);

fn throttled() -> Option<Result<Verdict>> {
    Some(Err(PortError::Throttled { retry_after: Millis::from_mins(1) }.into()))
}

#[tokio::test(start_paused = true)]
async fn what_is_done_or_pointless_is_not_handed_out_again() {
    for answer in [|_: &str| Some(Ok(Verdict::Done)), |_: &str| Some(Ok(Verdict::Drop("old".into())))] {
        let (post, stages) = (sent("a").await, Script::of(answer));
        assert_eq!((post.work(&stages, DAY).await, post.work(&stages, DAY).await), (1, 0));
        assert_eq!(post.reasons().await, Vec::<String>::new());
    }
}

#[tokio::test(start_paused = true)]
async fn to_wait_is_no_failure() {
    // The number of waits is far above the allowed number of failures.
    let deferred = Script::of(|_| Some(Ok(Verdict::Defer(Timestamp::EPOCH))));
    let throttled = Script::of(|_| throttled());
    for stages in [deferred, throttled] {
        let post = sent("a").await;
        for _ in 0..3 * MAX_HANDOUTS {
            assert_eq!(post.work(&stages, DAY).await, 1);
        }
        assert_eq!(post.reasons().await, Vec::<String>::new());
    }
}

#[tokio::test(start_paused = true)]
async fn a_job_that_waits_says_how_often() {
    let post = sent("a").await;
    let stages = Script::of(|_| Some(Ok(Verdict::Defer("2026-11-21T00:00:02Z".parse().unwrap()))));
    for waits in 1..4 {
        post.work(&stages, DAY).await;
        let waiting = post.jobs.waiting(post.clock.now(), 1).await.unwrap();
        assert!(matches!(&waiting[0].job, Ok(job) if job.waits == waits), "{waiting:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_throttled_job_comes_when_the_store_said() {
    let post = sent("a").await;
    let stages = Script::of(|_| throttled());
    assert_eq!(post.work(&stages, Millis::ZERO).await, 1);
    assert_eq!(post.work(&stages, Millis::from_secs(59)).await, 0);
    assert_eq!(post.work(&stages, Millis::from_secs(60)).await, 1);
}

#[tokio::test(start_paused = true)]
async fn what_fails_is_tried_five_times_and_given_up_with_all_its_causes() {
    let post = sent("a").await;
    let stages = Script::of(|_| {
        let source = std::io::Error::other("the disk is gone");
        Some(Err(StageError::Port(PortError::Unavailable { what: "pages".into(), source: Some(Box::new(source)) })))
    });
    assert_eq!(post.work(&stages, Millis::ZERO).await, 1);
    assert_eq!(post.work(&stages, Millis(RETRY.0 - 1)).await, 0);
    for _ in 1..MAX_RECEIVES {
        assert_eq!(post.work(&stages, DAY).await, 1);
    }
    assert_eq!(post.work(&stages, DAY).await, 0);
    let reasons = post.reasons().await;
    assert!(
        reasons.len() == 1 && reasons[0].contains("pages") && reasons[0].contains("the disk is gone"),
        "{reasons:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_done_is_given_up_at_once_and_a_panic_keeps_its_message() {
    let post = sent("a").await;
    assert_eq!(post.work(&Script::of(|_| Some(Err(StageError::Job("no such thing".into())))), DAY).await, 1);
    assert_eq!(post.reasons().await, ["no such thing"]);
    let post = sent("b").await;
    for _ in 0..MAX_RECEIVES {
        assert_eq!(post.work(&Script::of(|_| None), DAY).await, 1);
    }
    assert_eq!(post.reasons().await, ["the job panicked: no answer to b"]);
}

#[tokio::test(start_paused = true)]
async fn what_kills_its_process_is_given_up_without_another_run() {
    let post = sent("a").await;
    for _ in 1..MAX_HANDOUTS {
        let due = post.clock.now() + DAY;
        let handed = post.jobs.receive(QueueName::Poll, 1, Millis::from_mins(15), due).await.unwrap();
        post.jobs.put_back(&handed[0].receipt, due).await.unwrap();
    }
    assert_eq!(post.work(&Script::of(|_| None), DAY).await, 1);
    assert!(post.reasons().await[0].starts_with("delivered 7 times without finishing"));
}

#[tokio::test(start_paused = true)]
async fn of_pages_that_are_extracted_together_only_the_one_that_panics_fails() {
    let pages = || {
        ["a", "b", "c"].iter().enumerate().map(|(n, name)| {
            let url = format!("https://example.org/{name}");
            (n, 1, Envelope::new(sample::page(&url, PageBody::Stored("body".to_owned()))))
        })
    };
    #[derive(Default)]
    struct Slip(Mutex<Vec<(usize, &'static str)>>);
    #[async_trait]
    impl Settlement for Slip {
        type Handle = usize;
        async fn done(&self, n: &usize) -> Result<(), PortError> {
            self.note(*n, "done")
        }
        async fn defer(&self, n: &usize, _: &Job, _: Timestamp) -> Result<(), PortError> {
            self.note(*n, "deferred")
        }
        async fn retry(&self, n: &usize, _: Timestamp) -> Result<(), PortError> {
            self.note(*n, "retried")
        }
        async fn dead_letter(&self, n: &usize, _: &str) -> Result<(), PortError> {
            self.note(*n, "dead")
        }
    }
    impl Slip {
        fn note(&self, n: usize, end: &'static str) -> Result<(), PortError> {
            self.0.lock().unwrap().push((n, end));
            Ok(())
        }
    }
    let stages = Script::of(|url| if url.ends_with("/b") { None } else { Some(Ok(Verdict::Done)) });
    let (slip, clock) = (Slip::default(), TokioClock::starting_at("2026-11-21T00:00:00Z".parse().unwrap()));
    let worker = Worker { stages: &stages, queue: &slip, clock: &clock };
    // In the batch "b" panics, so each page then runs alone.
    assert_eq!(worker.run_together(pages().collect(), || true).await.unwrap(), 0);
    assert_eq!(*slip.0.lock().unwrap(), [(0, "done"), (1, "retried"), (2, "done")]);
    assert_eq!(worker.run_together(pages().collect(), || false).await.unwrap(), 3, "no time is left");
    assert_eq!(*stages.1.lock().unwrap(), [3, 3]);
}
