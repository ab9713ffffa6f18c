//! Holds of the right width, circuits, our own outages, and blocks that reach below a public suffix.

use crate::house::{House, host, html, new, page, status, visit};
use async_trait::async_trait;
use curlew_model::{
    Circuit, HoldReason, HostState, Job, Millis, Page, PageState, Rejection, Stage as QueueName, Timestamp, Validators,
    VisitJob,
};
use curlew_ports::{Blobs, Call, Clock, Fetch, FetchError, HostLedger, Inbox, Pages, Reply};
use curlew_stages::operator::block::Blocks;
use curlew_stages::politeness::access::Politeness;
use curlew_stages::stage::Verdict;
use curlew_testkit::memory::MemoryFetch;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

const A: &str = "https://example.org/a";
const B: &str = "https://example.org/b";
const C: &str = "https://example.org/c";

async fn state(house: &House, name: &str) -> HostState {
    house.hosts.load(&host(name)).await.unwrap().0
}

fn called(house: &House, url: &str) -> usize {
    house.web.calls().iter().filter(|call| call.url == url).count()
}

/// The jobs that wait in the queue of visits, which is emptied: their URLs, and in how long they are due.
async fn left(house: &House) -> Vec<(VisitJob, Millis)> {
    let queued = house.queued(QueueName::Fetch).await;
    for delivery in house.jobs.receive(QueueName::Fetch, 100, Millis(1), Timestamp::MAX).await.unwrap() {
        house.jobs.ack(&delivery.receipt).await.unwrap();
    }
    let visit = |(job, due): (Job, Timestamp)| match job {
        Job::Fetch(job) => (job, due.since(house.now())),
        other => panic!("{other:?}"),
    };
    queued.into_iter().map(visit).collect()
}

fn urls(job: &VisitJob) -> Vec<&str> {
    job.items.iter().map(|item| item.url.as_str()).collect()
}

fn cut() -> Result<Reply, FetchError> {
    Err(FetchError::Cut("the answer was cut short".into()))
}

fn unreached() -> Result<Reply, FetchError> {
    Err(FetchError::Network("no connection in time".into()))
}

#[tokio::test(start_paused = true)]
async fn one_403_ends_the_visit_and_holds_its_url_and_a_second_holds_the_host() {
    let house = House::new();
    house.web.answer(A, Ok(status(403)));
    house.web.serve(B, "text/html", html(""));
    house.web.answer(C, Ok(status(403)));
    house.fetch(&visit("example.org", &[A, B, C], &new())).await;
    assert_eq!((called(&house, A), called(&house, B), called(&house, C)), (1, 0, 0), "the visit ends at once");
    assert_eq!(state(&house, "example.org").await.hold, None, "one URL does not speak for its host");
    let waiting = left(&house).await;
    let [(rest, soon), (refused, late)] = &waiting[..] else { panic!("{waiting:?}") };
    assert_eq!((urls(rest), rest.deferrals), (vec![B, C], 0));
    assert!(*soon >= Millis::from_mins(59) && *soon <= Millis::from_mins(61));
    assert_eq!((urls(refused), refused.deferrals), (vec![A], 1));
    assert!(*late >= Millis::from_hours(72) && *late <= Millis::from_hours(80));

    // Whoever asks for it before its time does not call it, and others have their turn.
    house.politeness.clock.sleep(*soon).await;
    house.fetch(&VisitJob { items: [refused.items.clone(), rest.items.clone()].concat(), ..rest.clone() }).await;
    assert_eq!((called(&house, A), called(&house, B), called(&house, C)), (1, 1, 1));
    let hold = state(&house, "example.org").await.hold.unwrap();
    assert_eq!(hold.reason, HoldReason::Forbidden);
    assert!(hold.until.since(house.now()) >= Millis::from_hours(71));
}

#[tokio::test(start_paused = true)]
async fn h09_a_429_of_one_feed_slows_all_of_its_host_down() {
    let house = House::new();
    house.web.answer(A, Ok(status(429)));
    house.fetch(&visit("example.org", &[A, B], &new())).await;
    house.fetch(&visit("example.org", &[C], &new())).await;
    assert_eq!((called(&house, A), called(&house, B), called(&house, C)), (1, 0, 0));
    let waiting = left(&house).await;
    assert_eq!(waiting.len(), 2);
    assert!(waiting.iter().all(|(_, wait)| *wait >= Millis::from_hours(72)), "{waiting:?}");
}

#[tokio::test(start_paused = true)]
async fn h18_a_page_that_is_always_cut_short_waits_alone_and_is_given_up_in_the_end() {
    let house = House::new();
    house.web.answer(A, cut());
    house.web.serve(B, "text/html", html(""));
    let mut job = visit("example.org", &[A, B], &new());
    for n in 0..=house.politeness.rules.max_deferrals {
        house.fetch(&job).await;
        assert_eq!(state(&house, "example.org").await.hold, None, "{n}");
        let mut waiting = left(&house).await;
        if n == 0 {
            // What is left of the visit waits an hour and is fetched then.
            let (rest, wait) = waiting.remove(0);
            house.politeness.clock.sleep(wait).await;
            house.fetch(&rest).await;
            assert_eq!(house.state(B).await, Some(PageState::Pending));
        }
        let Some((next, wait)) = waiting.pop() else { break };
        assert_eq!((urls(&next), next.deferrals), (vec![A], n + 1));
        assert!(wait >= Millis::from_hours(24), "{wait:?}");
        house.politeness.clock.sleep(wait).await;
        job = next;
    }
    let given_up = house.state(A).await;
    assert!(matches!(given_up, Some(PageState::Rejected { reason: Rejection::HostUnavailable(_) })), "{given_up:?}");
}

#[tokio::test(start_paused = true)]
async fn after_a_hold_a_page_that_is_broken_for_good_is_not_what_is_tried_first() {
    let house = House::new();
    for url in [A, B, C] {
        house.web.answer(url, cut());
        house.fetch(&visit("example.org", &[url], &new())).await;
        house.politeness.clock.sleep(Millis::from_mins(5)).await;
    }
    let held = state(&house, "example.org").await;
    let hold = held.hold.unwrap_or_else(|| panic!("three pages are not the host's trouble"));
    left(&house).await;
    house.politeness.clock.sleep(hold.until.since(house.now())).await;
    house.fetch(&visit("example.org", &[A, C], &new())).await;
    assert_eq!((called(&house, A), called(&house, C)), (1, 1), "nothing is asked for that brought the hold");
    let waiting = left(&house).await;
    assert!(waiting.iter().all(|(_, wait)| *wait >= Millis::from_mins(59) && *wait < Millis::from_hours(2)));
    // Anything else decides; from then on each of them speaks for itself again.
    let other = "https://example.org/d";
    house.web.serve(other, "text/html", html(""));
    house.fetch(&visit("example.org", &[other], &new())).await;
    house.fetch(&visit("example.org", &[A], &new())).await;
    let now = state(&house, "example.org").await;
    assert_eq!((now.hold, now.circuit, now.holds_in_a_row), (None, Circuit::Closed, 0));
    assert_eq!((called(&house, A), called(&house, C)), (2, 1));
}

#[tokio::test(start_paused = true)]
async fn r05_robots_txt_that_is_refused_forbids_everything_but_loses_nothing_at_once() {
    for code in [401, 403] {
        let house = House::new();
        house.web.answer("https://example.org/robots.txt", Ok(status(code)));
        house.web.serve("https://example.org/robots.txt", "text/plain", "User-agent: *\nDisallow:\n");
        house.web.serve(A, "text/html", html(""));
        house.fetch(&visit("example.org", &[A], &new())).await;
        assert_eq!((called(&house, A), house.state(A).await), (0, None), "{code}");
        let mut waiting = left(&house).await;
        let (job, wait) = waiting.pop().unwrap();
        assert!(wait >= Millis::from_hours(23), "{wait:?}");
        house.politeness.clock.sleep(wait).await;
        house.fetch(&job).await;
        assert_eq!(house.state(A).await, Some(PageState::Pending));
    }
}

#[tokio::test(start_paused = true)]
async fn the_circuit_opens_after_three_failures_and_one_probe_closes_it() {
    let house = House::new();
    let robots = "https://example.org/robots.txt";
    for _ in 0..4 {
        house.web.answer(robots, unreached());
    }
    house.web.answer(robots, Ok(status(404)));
    house.web.serve(A, "text/html", html(""));
    let mut job = visit("example.org", &[A], &new());
    // Two short waits, the second longer than the first.
    for (least, most) in [(15, 17), (60, 67)] {
        house.fetch(&job).await;
        let (next, wait) = left(&house).await.pop().unwrap();
        assert!(wait >= Millis::from_mins(least) && wait <= Millis::from_mins(most), "{wait:?}");
        assert_eq!(state(&house, "example.org").await.hold, None);
        house.politeness.clock.sleep(wait).await;
        job = next;
    }
    // The third opens the circuit for a day; the probe fails and opens it for two.
    for hours in [24, 48] {
        house.fetch(&job).await;
        let now = state(&house, "example.org").await;
        assert_eq!((now.hold.map(|hold| hold.reason), now.circuit), (Some(HoldReason::Network), Circuit::Probe));
        let (next, wait) = left(&house).await.pop().unwrap();
        assert!(wait >= Millis::from_hours(hours) && wait <= Millis::from_hours(hours * 11 / 10 + 1), "{wait:?}");
        house.politeness.clock.sleep(wait).await;
        job = next;
    }
    assert_eq!(house.web.calls().len(), 4, "each of them one call");
    house.fetch(&job).await;
    assert_eq!(house.state(A).await, Some(PageState::Pending));
    let now = state(&house, "example.org").await;
    assert_eq!((now.failures, now.circuit, now.holds_in_a_row), (0, Circuit::Closed, 0));
}

/// A network that is down for three hours.
struct Down(Arc<MemoryFetch>, Arc<dyn Clock>, AtomicU32);

#[async_trait]
impl Fetch for Down {
    async fn call(&self, call: &Call) -> Result<Reply, FetchError> {
        if self.1.monotonic() < Millis::from_hours(3) {
            self.1.sleep(Millis::from_secs(10)).await;
            self.2.fetch_add(1, Ordering::Relaxed);
            return unreached();
        }
        self.0.call(call).await
    }

    fn vet(&self, url: &str) -> Result<(), String> {
        self.0.vet(url)
    }
}

#[tokio::test(start_paused = true)]
async fn when_our_own_network_is_down_no_host_is_blamed_and_it_mends_by_itself() {
    let mut house = House::new();
    let down = Arc::new(Down(house.web.clone(), house.politeness.clock.clone(), AtomicU32::new(0)));
    house.politeness = Arc::new(Politeness { fetch: down.clone(), ..Politeness::clone(&house.politeness) });
    let name = |n: usize| format!("h{n}.example");
    let url = |n: usize| format!("https://{}/a", name(n));
    (0..40).for_each(|n| house.web.serve(&url(n), "text/html", html("")));
    let mut jobs: Vec<VisitJob> = (0..40).map(|n| visit(&name(n), &[url(n).as_str()], &new())).collect();
    for round in 0.. {
        assert!(round < 60, "it does not end: {}", jobs.len());
        let mut again = vec![];
        for job in std::mem::take(&mut jobs) {
            match house.fetch(&job).await {
                Verdict::Defer(_) => again.push(job),
                _ => again.extend(left(&house).await.into_iter().map(|(job, _)| job)),
            }
        }
        for n in 0..40 {
            let state = state(&house, &name(n)).await;
            assert_eq!((state.hold, state.circuit), (None, Circuit::Closed), "host {n}, round {round}");
        }
        assert!(again.iter().all(|job| job.deferrals < house.politeness.rules.circuit_failures));
        if again.is_empty() {
            break;
        }
        jobs = again;
        house.politeness.clock.sleep(Millis::from_mins(10)).await;
    }
    for n in 0..40 {
        assert_eq!(house.state(&url(n)).await, Some(PageState::Pending), "{n}");
    }
    let tries = down.2.load(Ordering::Relaxed);
    assert!(tries < 60, "most visits were put off without a call: {tries}");
}

fn blocks(house: &House) -> Blocks {
    Blocks {
        ledger: house.hosts.clone(),
        hosts: house.hosts.clone(),
        pages: house.pages.clone(),
        queue: house.jobs.clone(),
        clock: house.politeness.clock.clone(),
        blobs: house.blobs.clone(),
        groups: house.politeness.groups.clone(),
    }
}

#[tokio::test(start_paused = true)]
async fn a_block_of_a_public_suffix_reaches_the_host_keys_below_it() {
    let house = House::new();
    let urls = ["https://anna.github.io/a", "https://ben.github.io/a", "https://github.com/a"];
    for url in urls {
        house.web.serve(url, "text/html", html(""));
    }
    // Anna's is known before the block, Ben's is not.
    house.fetch(&visit("anna.github.io", &["https://anna.github.io/b"], &new())).await;
    let calls = house.web.calls().len();
    blocks(&house).block("github.io").await.unwrap();
    for (name, url) in ["anna.github.io", "ben.github.io"].into_iter().zip(urls) {
        house.fetch(&visit(name, &[url], &new())).await;
        assert_eq!(house.state(url).await, Some(PageState::Rejected { reason: Rejection::Blocked }));
        let state = state(&house, name).await;
        assert!(state.is_blocked(name) && state.lease.is_none(), "in its own state: {state:?}");
    }
    assert_eq!(house.web.calls().len(), calls, "nothing is called");
    house.fetch(&visit("github.com", &[urls[2]], &new())).await;
    assert_eq!(house.state(urls[2]).await, Some(PageState::Pending));

    // Taken back, it is so for both, and what it kept out is taken up.
    assert!(blocks(&house).unblock("github.io").await.unwrap());
    assert!(!blocks(&house).unblock("github.io").await.unwrap());
    let mut waiting = left(&house).await;
    waiting.sort_by(|a, b| a.0.host.cmp(&b.0.host));
    assert_eq!(
        waiting.iter().map(|(job, _)| job.host.as_str()).collect::<Vec<_>>(),
        ["anna.github.io", "ben.github.io"]
    );
    for ((job, _), url) in waiting.iter().zip(urls) {
        house.fetch(job).await;
        assert_eq!(house.state(url).await, Some(PageState::Pending));
    }
}

#[tokio::test(start_paused = true)]
async fn a_block_of_one_blog_spares_the_others_of_its_platform() {
    let house = House::new();
    let (anna, ben) = ("https://anna.tumblr.com/a", "https://ben.tumblr.com/a");
    house.web.serve(anna, "text/html", html(""));
    house.web.serve(ben, "text/html", html(""));
    assert_eq!(blocks(&house).block("anna.tumblr.com").await.unwrap(), host("tumblr.com"));
    house.fetch(&visit("tumblr.com", &[anna, ben], &new())).await;
    assert_eq!(house.state(anna).await, Some(PageState::Rejected { reason: Rejection::Blocked }));
    assert_eq!(house.state(ben).await, Some(PageState::Pending));
}

#[tokio::test(start_paused = true)]
async fn unblock_takes_up_what_was_out_of_reach_too_and_leaves_what_is_decided() {
    let house = House::new();
    house.web.serve(A, "text/html", html(""));
    let row = |url: &str, reason| Page {
        id: page(url),
        url: url.into(),
        host: host("example.org"),
        feed: None,
        state: PageState::Rejected { reason },
        at: house.now(),
        checked_at: None,
        expires: None,
        doubted_at: None,
        validators: Validators::default(),
    };
    for row in [row(A, Rejection::HostUnavailable("held".into())), row(B, Rejection::NoTitle)] {
        house.pages.insert(&row).await.unwrap();
    }
    blocks(&house).block("example.org").await.unwrap();
    blocks(&house).unblock("example.org").await.unwrap();
    let waiting = left(&house).await;
    let [(job, _)] = &waiting[..] else { panic!("{waiting:?}") };
    assert_eq!(urls(job), [A]);
    house.fetch(job).await;
    assert_eq!(house.state(A).await, Some(PageState::Pending));
    assert!(house.blobs.get("hidden-hosts.json").await.unwrap().is_some());
}
