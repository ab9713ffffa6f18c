//! Tests that faults occur as planned, and reproducibly.

use bytes::Bytes;
use curlew_model::{Millis, QueueName, Timestamp, Validators};
use curlew_ports::{Blobs, Call, CallKind, Clock, Fetch, FetchError, Inbox, Marks, PortError, Queue, Version};
use curlew_testkit::faults::{Faults, Faulty, Rates, is_crash};
use curlew_testkit::memory::{MemoryBlobs, MemoryFetch, MemoryJobs, MemoryMarks, TokioClock};
use curlew_testkit::sample::poll;
use std::sync::Arc;

fn clock() -> Arc<TokioClock> {
    Arc::new(TokioClock::starting_at(Timestamp::EPOCH))
}

fn faulty_blobs(seed: u64, rates: Rates) -> (Arc<MemoryBlobs>, Faulty<MemoryBlobs>) {
    let store = Arc::new(MemoryBlobs::default());
    let faults = Faults::seeded(seed, rates, clock());
    (Arc::clone(&store), Faulty::new(store, faults))
}

#[tokio::test]
async fn a_refused_call_has_no_effect() {
    let (store, faulty) = faulty_blobs(1, Rates { refuse: 1_000, ..Rates::default() });
    let refused = faulty.put("a", Bytes::from_static(b"x")).await.expect_err("is refused");
    assert!(refused.is_transient() && !is_crash(&refused));
    assert_eq!(store.get("a").await.expect("reads"), None);
}

#[tokio::test]
async fn a_throttled_call_says_how_long_to_wait() {
    let (store, faulty) = faulty_blobs(1, Rates { throttle: 1_000, longest_delay: Millis(10), ..Rates::default() });
    let throttled = faulty.put("a", Bytes::from_static(b"x")).await;
    assert!(matches!(throttled, Err(PortError::Throttled { retry_after }) if retry_after <= Millis(10)));
    assert_eq!(store.get("a").await.expect("reads"), None);
}

#[tokio::test]
async fn a_lost_answer_hides_a_call_that_took_effect() {
    let (store, faulty) = faulty_blobs(1, Rates { lose_answer: 1_000, ..Rates::default() });
    let lost = faulty.put("a", Bytes::from_static(b"x")).await.expect_err("is lost");
    assert!(lost.is_transient() && !is_crash(&lost));
    assert_eq!(store.get("a").await.expect("reads").expect("is there").bytes, "x");
}

#[tokio::test(start_paused = true)]
async fn a_late_call_waits_on_the_clock() {
    let clock = clock();
    let store = Arc::new(MemoryBlobs::default());
    let rates = Rates { delay: 1_000, longest_delay: Millis::from_hours(10), ..Rates::default() };
    let faulty = Faulty::new(store, Faults::seeded(3, rates, clock.clone()));
    faulty.put("a", Bytes::new()).await.expect("writes");
    assert!(clock.monotonic() > Millis::from_mins(1), "{:?}", clock.monotonic());
    assert!(clock.monotonic() <= Millis::from_hours(10) + Millis(1), "{:?}", clock.monotonic());
}

#[tokio::test]
async fn a_crash_ends_every_port_of_its_process_and_of_no_other() {
    let (marks, blobs) = (Arc::new(MemoryMarks::default()), Arc::new(MemoryBlobs::default()));
    let faults = Faults::crash_at(1, clock());
    let faulty_marks = Faulty::new(Arc::clone(&marks), Arc::clone(&faults));
    let faulty_blobs = Faulty::new(Arc::clone(&blobs), Arc::clone(&faults));
    faulty_marks.swap("m", Version::ABSENT, Timestamp::EPOCH).await.expect("comes before the crash");
    let cut = faulty_blobs.put("a", Bytes::new()).await.expect_err("is cut off");
    assert!(is_crash(&cut) && faults.has_crashed());
    assert!(is_crash(&faulty_marks.load("m").await.expect_err("is dead")));
    assert_eq!(blobs.get("a").await.expect("reads"), None);
    assert_eq!(faults.calls(), 2);

    let next = faults.restarted();
    let faulty_blobs = Faulty::new(Arc::clone(&blobs), next);
    faulty_blobs.put("a", Bytes::new()).await.expect("is alive");
    assert!(is_crash(&faulty_marks.load("m").await.expect_err("stays dead")));
}

#[tokio::test(start_paused = true)]
async fn a_call_that_waits_through_a_crash_has_no_effect() {
    let rates = Rates { delay: 1_000, longest_delay: Millis::from_hours(1), ..Rates::default() };
    let store = Arc::new(MemoryBlobs::default());
    let faults = Faults::seeded(5, rates, clock());
    let faulty = Faulty::new(Arc::clone(&store), Arc::clone(&faults));
    let waiting = tokio::spawn(async move { faulty.put("a", Bytes::new()).await });
    tokio::task::yield_now().await;
    faults.crash();
    assert!(is_crash(&waiting.await.expect("ends").expect_err("is cut off")));
    assert_eq!(store.get("a").await.expect("reads"), None);
}

#[tokio::test]
async fn who_waits_for_a_crash_is_told() {
    for crash_by_call in [true, false] {
        let faults = Faults::crash_at(0, clock());
        let waiting = tokio::spawn({
            let faults = Arc::clone(&faults);
            async move { faults.until_crash().await }
        });
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        if crash_by_call {
            let blobs = Faulty::new(Arc::new(MemoryBlobs::default()), Arc::clone(&faults));
            blobs.delete("a").await.expect_err("crashes");
        } else {
            faults.crash();
        }
        waiting.await.expect("ends");
        faults.until_crash().await;
    }
}

#[tokio::test]
async fn a_crash_falls_before_or_after_the_effect() {
    let rates = Rates { crash: 1_000, ..Rates::default() };
    let mut after = 0;
    for seed in 0..64 {
        let (store, faulty) = faulty_blobs(seed, rates);
        assert!(is_crash(&faulty.put("a", Bytes::new()).await.expect_err("crashes")));
        after += u32::from(store.get("a").await.expect("reads").is_some());
    }
    assert!((16..=48).contains(&after), "{after} of 64");
}

#[tokio::test]
async fn a_process_that_has_crashed_calls_nobody() {
    let fetch = Arc::new(MemoryFetch::default());
    let call = Call {
        url: "https://example.org/".into(),
        kind: CallKind::Page,
        validators: Validators::default(),
        post: None,
        signature: None,
        time: Millis::from_secs(30),
    };
    let faults = Faults::none(clock());
    let faulty = Faulty::new(Arc::clone(&fetch), Arc::clone(&faults));
    assert_eq!(faulty.call(&call).await.expect("is answered").status, 404);
    faults.crash();
    assert!(matches!(faulty.call(&call).await, Err(FetchError::Network(_))));
    assert_eq!(fetch.calls(), [call]);
}

#[tokio::test]
async fn a_duplicate_comes_with_a_later_receive() {
    let jobs = Arc::new(MemoryJobs::default());
    let rates = Rates { duplicate: 1_000, ..Rates::default() };
    let inbox = Faulty::new(Arc::clone(&jobs), Faults::seeded(1, rates, clock()));
    jobs.send(&[(poll(1), Timestamp::EPOCH)]).await.expect("sends");
    let receive =
        async |stage| inbox.receive(stage, 10, Millis::from_mins(1), Timestamp::EPOCH).await.expect("receives");
    let first = receive(QueueName::Poll).await;
    inbox.ack(&first[0].receipt).await.expect("acknowledges");
    assert_eq!(receive(QueueName::Fetch).await, []);
    let second = receive(QueueName::Poll).await;
    assert_eq!(second, first, "the job was done, and is delivered nevertheless");
    inbox.ack(&second[0].receipt).await.expect("is harmless");
    assert_eq!(receive(QueueName::Poll).await, []);
}

/// Returns the outcomes of all calls of a run, in order.
async fn run(seed: u64) -> Vec<String> {
    let rates = Rates { refuse: 200, throttle: 5, lose_answer: 200, delay: 50, ..Rates::default() };
    let (_, faulty) = faulty_blobs(seed, rates);
    let mut outcomes = Vec::new();
    for n in 0..200 {
        outcomes.push(format!("{:?}", faulty.put_if_absent(&format!("k{}", n / 2), Bytes::new()).await));
    }
    assert!(outcomes.iter().filter(|outcome| outcome.starts_with("Err")).count() > 40, "{outcomes:?}");
    outcomes
}

#[tokio::test]
async fn the_same_seed_gives_the_same_run() {
    assert_eq!(run(7).await, run(7).await);
    assert_ne!(run(7).await, run(8).await);
}
