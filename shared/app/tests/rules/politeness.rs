//! Politeness: the scope of holds, circuit breakers, our own outages, and blocks of public suffixes.

use crate::test_world::*;
use curlew_people::block::Blocks;
use curlew_people::erasure::StepLimits;
use curlew_policy::politeness::admission;
use curlew_policy::rules::{CIRCUIT_FAILURES, VISIT_REST};
use std::sync::atomic::{AtomicU32, Ordering};

/// Empties the queue of visits; returns the jobs, each with the time until it is due.
async fn left(world: &TestWorld) -> Vec<(Job, Millis)> {
    let queued = world.queued(QueueName::Fetch).await;
    world.settle(QueueName::Fetch, 100, Timestamp::MAX).await;
    queued.into_iter().map(|(job, due)| (job, due.since(world.now()))).collect()
}

/// Runs the jobs that fetch the pages of a host after its block; returns their number.
async fn take_up(world: &TestWorld, program: &Program) -> usize {
    for runs in 0.. {
        let Some((job @ Job { work: Work::TakeUp(_), .. }, due)) =
            world.queued(QueueName::Remove).await.into_iter().next()
        else {
            return runs;
        };
        world.sleep_until(due).await;
        world.settle(QueueName::Remove, 1, world.now()).await;
        assert_eq!(program.run(&job).await.unwrap(), Verdict::Done);
    }
    unreachable!()
}

fn cut() -> Result<Reply, FetchError> {
    Err(FetchError::Cut("the answer was cut short".into()))
}

fn unreached() -> Result<Reply, FetchError> {
    Err(FetchError::Network("no connection in time".into()))
}

#[tokio::test(start_paused = true)]
async fn t19_a_call_whose_connection_was_closed_as_idle_is_made_once_more_after_its_pause_and_no_third_time() {
    for (closed, taken) in [(1, true), (2, false)] {
        let world = TestWorld::new();
        for _ in 0..closed {
            world.web.answer(A, Err(FetchError::ClosedIdle));
        }
        world.serve_page(A, "");
        let began = world.now();
        world.visit(&[A]).await;
        assert_eq!(world.called(A), 2, "{closed}");
        // There is one pause after robots.txt, and another one between the two calls.
        assert!(world.now().since(began) >= world.politeness.rules.min_pause.saturating_mul(2), "{closed}");
        assert_eq!(world.host_state("example.org").await.hold, None);
        assert_eq!(!world.queued(QueueName::Extract).await.is_empty(), taken, "{closed}");
    }
}

#[tokio::test(start_paused = true)]
async fn one_403_ends_the_visit_and_holds_its_url_and_a_second_holds_the_host() {
    let world = TestWorld::new();
    world.web.answer(A, Ok(status(403)));
    world.serve_page(B, "");
    world.web.answer(C, Ok(status(403)));
    world.visit(&[A, B, C]).await;
    assert_eq!((world.called(A), world.called(B), world.called(C)), (1, 0, 0), "the visit ends at once");
    let rest = world.host_state("example.org").await;
    assert_eq!(rest.hold.map(|hold| hold.reason), Some(HoldReason::Rest), "one URL does not speak for its host");
    assert_eq!((rest.circuit, rest.holds_in_a_row), (Circuit::Closed, 0));
    let waiting = left(&world).await;
    let [(rest, soon), (refused, late)] = &waiting[..] else { panic!("{waiting:?}") };
    assert_eq!((visited(rest), rest.deferrals), (vec![B, C], 0));
    assert!(*soon >= Millis::from_mins(59) && *soon <= Millis::from_mins(61));
    assert_eq!((visited(refused), refused.deferrals), (vec![A], 1));
    assert!(*late >= Millis::from_hours(72) && *late <= Millis::from_hours(80));

    // A visit before that time does not call the URL, but calls the other URLs.
    world.sleep(*soon).await;
    let (mut both, rest) = (rest.as_visit(), refused.as_visit());
    both.work.items.splice(0..0, rest.work.items);
    world.fetch(&both).await;
    assert_eq!((world.called(A), world.called(B), world.called(C)), (1, 1, 1));
    let hold = world.host_state("example.org").await.hold.unwrap();
    assert_eq!(hold.reason, HoldReason::Forbidden);
    assert!(hold.until.since(world.now()) >= Millis::from_hours(71));
}

/// After one refusal or error of a page, an image, a feed or the target of a redirect, nobody calls the host for an
/// hour, for any purpose.
#[tokio::test(start_paused = true)]
async fn after_one_refusal_or_server_error_nobody_calls_the_host_for_an_hour_and_nothing_is_lost() {
    const IMAGE: &str = "https://example.org/i.png";
    const OTHER: &str = "https://blog.example.org/b";
    const FROM: &str = "https://example.net/from";
    let id = curlew_policy::address::image_id(&IMAGE.parse().unwrap());
    let image = || visit("example.org", &[IMAGE], &Purpose::Image { image: id.clone(), trace: None });
    let guest = || visit("example.net", &[FROM], &new());
    for (code, refused) in [(403, A), (500, A), (451, A), (403, IMAGE), (502, IMAGE), (500, FEED), (403, B)] {
        let world = TestWorld::of_feed().await;
        world.web.keep(FROM, moved(302, B).unwrap());
        for url in [A, B, C, OTHER] {
            world.web.keep(url, text(html("")));
        }
        world.web.keep(FEED, text(rss("")));
        world.web.keep(refused, status(code));
        match refused {
            FEED => drop(world.poll(0).await),
            IMAGE => drop(world.fetch(&image()).await),
            B => drop(world.fetch(&guest()).await),
            url => drop(world.visit(&[url]).await),
        }
        assert_eq!(world.called(refused), 1, "{code} {refused}");
        left(&world).await;
        let made = to_host(&world);
        // The clock counts in steps.
        let most = VISIT_REST + Millis(2);
        let (rest, many) = (world.now() + most, world.politeness.rules.max_deferrals);
        let deferred = |visit| Job { deferrals: many, ..Job::new(visit) };
        let waiting = deferred(visit("example.org", &[C, OTHER], &new()));
        world.fetch(&waiting).await;
        world.fetch(&deferred(image())).await;
        world.fetch(&deferred(guest())).await;
        if refused != FEED {
            world.poll(0).await;
            assert!(world.feed().await.not_before <= rest && world.feed().await.failures == 0);
        }
        assert_eq!(to_host(&world), made, "{code} {refused}: a call was made within the hour");
        let put_off = left(&world).await;
        assert_eq!(put_off.len(), 3, "{code} {refused}: {put_off:?}");
        for (job, wait) in &put_off {
            assert_eq!(job.deferrals, many, "{code} {refused}: a rest must not count as a deferral");
            assert!(*wait <= most && *wait + Millis::from_mins(5) > most, "{wait:?}");
        }
        world.sleep(most).await;
        let pages = put_off.iter().find(|(job, _)| visited(job).len() == 2).unwrap();
        world.fetch(&pages.0).await;
        assert_eq!((world.called(C), world.called(OTHER)), (1, 1), "{code} {refused}");
        assert_eq!(world.host_state("example.org").await.hold, None);
    }
}

/// Returns the number of calls to the host key so far, including those for robots.txt.
fn to_host(world: &TestWorld) -> usize {
    world.web.calls().iter().filter(|call| call.url.contains("example.org/")).count()
}

#[tokio::test(start_paused = true)]
async fn h09_a_429_of_one_feed_slows_all_of_its_host_down() {
    let world = TestWorld::new();
    world.web.answer(A, Ok(status(429)));
    world.visit(&[A, B]).await;
    world.visit(&[C]).await;
    assert_eq!((world.called(A), world.called(B), world.called(C)), (1, 0, 0));
    let waiting = left(&world).await;
    assert_eq!(waiting.len(), 2);
    assert!(waiting.iter().all(|(_, wait)| *wait >= Millis::from_hours(72)), "{waiting:?}");
}

#[tokio::test(start_paused = true)]
async fn h18_a_page_that_is_always_cut_short_waits_alone_and_is_given_up_in_the_end() {
    let world = TestWorld::new();
    world.web.answer(A, cut());
    world.serve_page(B, "");
    let mut job = Job::new(visit("example.org", &[A, B], &new()));
    for n in 0..=world.politeness.rules.max_deferrals {
        world.fetch(&job).await;
        assert_eq!(world.host_state("example.org").await.hold, None, "{n}");
        let mut waiting = left(&world).await;
        if n == 0 {
            // The rest of the visit waits an hour and is then fetched.
            let (rest, wait) = waiting.remove(0);
            world.sleep(wait).await;
            world.fetch(&rest).await;
            assert_eq!(world.state(B).await, Some(PageState::Pending));
        }
        let Some((next, wait)) = waiting.pop() else { break };
        assert_eq!((visited(&next), next.deferrals), (vec![A], n + 1));
        assert!(wait >= Millis::from_hours(24), "{wait:?}");
        world.sleep(wait).await;
        job = next;
    }
    let given_up = world.state(A).await;
    assert!(matches!(given_up, Some(PageState::Rejected { reason: Rejection::HostUnavailable(_) })), "{given_up:?}");
}

#[tokio::test(start_paused = true)]
async fn after_a_hold_a_page_that_is_broken_for_good_is_not_what_is_tried_first() {
    let world = TestWorld::new();
    for url in [A, B, C] {
        world.web.answer(url, cut());
        world.visit(&[url]).await;
        world.sleep(Millis::from_mins(5)).await;
    }
    let held = world.host_state("example.org").await;
    let hold = held.hold.unwrap_or_else(|| panic!("three broken pages must hold the host"));
    left(&world).await;
    world.sleep_until(hold.until).await;
    world.visit(&[A, C]).await;
    assert_eq!((world.called(A), world.called(C)), (1, 1), "URLs that caused the hold must not be called");
    let waiting = left(&world).await;
    assert!(waiting.iter().all(|(_, wait)| *wait >= Millis::from_mins(59) && *wait < Millis::from_hours(2)));
    // Any other URL decides. From then on each answer counts for its own URL again.
    let other = "https://example.org/d";
    world.serve_page(other, "");
    world.visit(&[other]).await;
    world.visit(&[A]).await;
    let now = world.host_state("example.org").await;
    assert_eq!((now.hold, now.circuit, now.holds_in_a_row), (None, Circuit::Closed, 0));
    assert_eq!((world.called(A), world.called(C)), (2, 1));
}

#[tokio::test(start_paused = true)]
async fn r05_robots_txt_that_is_refused_forbids_everything_but_loses_nothing_at_once() {
    for code in [401, 403] {
        let world = TestWorld::new();
        world.web.answer(ROBOTS, Ok(status(code)));
        world.web.serve(ROBOTS, "text/plain", "User-agent: *\nDisallow:\n");
        world.serve_page(A, "");
        world.visit(&[A]).await;
        assert_eq!((world.called(A), world.state(A).await), (0, None), "{code}");
        let mut waiting = left(&world).await;
        let (job, wait) = waiting.pop().unwrap();
        assert!(wait >= Millis::from_hours(23), "{wait:?}");
        world.sleep(wait).await;
        world.fetch(&job).await;
        assert_eq!(world.state(A).await, Some(PageState::Pending));
    }
}

#[tokio::test(start_paused = true)]
async fn the_circuit_opens_after_three_failures_and_one_probe_closes_it() {
    let world = TestWorld::new();
    for _ in 0..4 {
        world.web.answer(ROBOTS, unreached());
    }
    world.web.answer(ROBOTS, Ok(status(404)));
    world.serve_page(A, "");
    let mut job = Job::new(visit("example.org", &[A], &new()));
    // There are two short waits, the second one longer.
    for (least, most) in [(15, 17), (60, 67)] {
        world.fetch(&job).await;
        let (next, wait) = left(&world).await.pop().unwrap();
        assert!(wait >= Millis::from_mins(least) && wait <= Millis::from_mins(most), "{wait:?}");
        assert_eq!(world.host_state("example.org").await.hold, None);
        world.sleep(wait).await;
        job = next;
    }
    // The third failure opens the circuit for a day. The probe fails and opens it for two days.
    for hours in [24, 48] {
        world.fetch(&job).await;
        let now = world.host_state("example.org").await;
        assert_eq!((now.hold.map(|hold| hold.reason), now.circuit), (Some(HoldReason::Network), Circuit::Probe));
        let (next, wait) = left(&world).await.pop().unwrap();
        assert!(wait >= Millis::from_hours(hours) && wait <= Millis::from_hours(hours * 11 / 10 + 1), "{wait:?}");
        world.sleep(wait).await;
        job = next;
    }
    assert_eq!(world.web.calls().len(), 4, "one call for each job");
    world.fetch(&job).await;
    assert_eq!(world.state(A).await, Some(PageState::Pending));
    let now = world.host_state("example.org").await;
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
    let mut world = TestWorld::new();
    let down = Arc::new(Down(world.web.clone(), world.politeness.clock.clone(), AtomicU32::new(0)));
    world.politeness = Arc::new(Politeness { fetch: down.clone(), ..Politeness::clone(&world.politeness) });
    let name = |n: usize| format!("h{n}.example");
    let url = |n: usize| format!("https://{}/a", name(n));
    (0..40).for_each(|n| world.serve_page(&url(n), ""));
    let mut jobs: Vec<Job> = (0..40).map(|n| Job::new(visit(&name(n), &[url(n).as_str()], &new()))).collect();
    for round in 0.. {
        assert!(round < 60, "the jobs do not end: {}", jobs.len());
        let mut again = vec![];
        for job in std::mem::take(&mut jobs) {
            match world.fetch(&job).await {
                Verdict::Defer(_) => again.push(job),
                _ => again.extend(left(&world).await.into_iter().map(|(job, _)| job)),
            }
        }
        for n in 0..40 {
            let state = world.host_state(&name(n)).await;
            assert_eq!((state.hold, state.circuit), (None, Circuit::Closed), "host {n}, round {round}");
        }
        assert!(again.iter().all(|job| job.deferrals < CIRCUIT_FAILURES));
        if again.is_empty() {
            break;
        }
        jobs = again;
        world.sleep(Millis::from_mins(10)).await;
    }
    for n in 0..40 {
        assert_eq!(world.state(&url(n)).await, Some(PageState::Pending), "{n}");
    }
    let tries = down.2.load(Ordering::Relaxed);
    assert!(tries < 60, "most visits were put off without a call: {tries}");
}

#[tokio::test(start_paused = true)]
async fn a_block_of_a_public_suffix_reaches_the_host_keys_below_it() {
    let world = TestWorld::new();
    let urls = ["https://anna.github.io/a", "https://ben.github.io/a", "https://github.com/a"];
    urls.iter().for_each(|url| world.serve_page(url, ""));
    // Anna's host is known before the block and Ben's is not. Carl's has a row because of a hold.
    world.fetch(&visit("anna.github.io", &["https://anna.github.io/b"], &new())).await;
    let held = |state| (admission::leave_alone(state, world.now()), ());
    let calls = world.web.calls().len();
    world.program().desk.blocks.block("github.io").await.unwrap();
    let carl = "carl.github.io";
    update_host(world.politeness.ledger.as_ref(), &host(carl), held).await.unwrap();
    world.fetch(&visit(carl, &["https://carl.github.io/a"], &new())).await;
    assert!(world.host_state(carl).await.is_blocked(carl));
    for (name, url) in ["anna.github.io", "ben.github.io"].into_iter().zip(urls) {
        world.fetch(&visit(name, &[url], &new())).await;
        assert_eq!(world.rejection(url).await, Some(Rejection::Blocked));
        let state = world.host_state(name).await;
        assert!(state.is_blocked(name) && state.lease.is_none(), "blocked in its own state: {state:?}");
    }
    assert_eq!(world.web.calls().len(), calls, "no call may be made");
    world.fetch(&visit("github.com", &[urls[2]], &new())).await;
    assert_eq!(world.state(urls[2]).await, Some(PageState::Pending));

    // After the block is lifted, both hosts are free, and the pages that it kept out are fetched.
    assert!(world.program().desk.blocks.unblock("github.io").await.unwrap());
    assert!(!world.program().desk.blocks.unblock("github.io").await.unwrap());
    let [(_, due)] = &world.queued(QueueName::Remove).await[..] else { panic!("one job for all hosts") };
    assert!(*due > world.now(), "its visits must not meet the block that is being lifted");
    take_up(&world, &world.program()).await;
    let waiting = left(&world).await;
    let mut waiting: Vec<_> = waiting.iter().map(|(job, _)| job.as_visit()).collect();
    waiting.sort_by(|a, b| a.work.host.cmp(&b.work.host));
    waiting.retain(|job| job.work.host.as_str() != carl);
    assert_eq!(
        waiting.iter().map(|job| job.work.host.as_str()).collect::<Vec<_>>(),
        ["anna.github.io", "ben.github.io"]
    );
    for (job, url) in waiting.iter().zip(urls) {
        world.fetch(job).await;
        assert_eq!(world.state(url).await, Some(PageState::Pending));
    }
}

#[tokio::test(start_paused = true)]
async fn a_block_of_one_blog_spares_the_others_of_its_platform() {
    let world = TestWorld::new();
    let (anna, ben) = ("https://anna.tumblr.com/a", "https://ben.tumblr.com/a");
    world.serve_page(anna, "");
    world.serve_page(ben, "");
    assert_eq!(world.program().desk.blocks.block("anna.tumblr.com").await.unwrap(), host("tumblr.com"));
    world.fetch(&visit("tumblr.com", &[anna, ben], &new())).await;
    assert_eq!(world.rejection(anna).await, Some(Rejection::Blocked));
    assert_eq!(world.state(ben).await, Some(PageState::Pending));
}

#[tokio::test(start_paused = true)]
async fn unblock_takes_up_what_was_out_of_reach_too_and_leaves_what_is_decided() {
    let world = TestWorld::new();
    world.serve_page(A, "");
    let row = |url: &str, reason| {
        Page::new(page(url), url.into(), host("example.org"), PageState::Rejected { reason }, world.now())
    };
    for row in [row(A, Rejection::HostUnavailable("held".into())), row(B, Rejection::NoTitle)] {
        world.pages.insert(&row).await.unwrap();
    }
    world.program().desk.blocks.block("example.org").await.unwrap();
    world.program().desk.blocks.unblock("example.org").await.unwrap();
    take_up(&world, &world.program()).await;
    let waiting = left(&world).await;
    let [(job, _)] = &waiting[..] else { panic!("{waiting:?}") };
    assert_eq!(visited(job), [A]);
    world.fetch(job).await;
    assert_eq!(world.state(A).await, Some(PageState::Pending));
    assert!(world.blobs.get("hidden-hosts.json").await.unwrap().is_some());
}

#[tokio::test(start_paused = true)]
async fn the_end_of_a_block_takes_up_pages_in_bounded_steps() {
    let world = TestWorld::new();
    for n in 0..50 {
        let (url, reason) = (format!("https://{}/{n}", ["example.org", "other.example"][n % 2]), Rejection::Blocked);
        let row = Page::new(page(&url), url, host("example.org"), PageState::Rejected { reason }, world.now());
        world.pages.insert(&row).await.unwrap();
    }
    for (limits, steps) in
        [(StepLimits { rows: 7, ..StepLimits::default() }, 8), (StepLimits { pages: 3, ..StepLimits::default() }, 9)]
    {
        let mut program = world.program();
        program.desk.blocks.limits = limits;
        program.desk.blocks.block("example.org").await.unwrap();
        program.desk.blocks.unblock("example.org").await.unwrap();
        assert_eq!(take_up(&world, &program).await, steps, "{limits:?}");
        let visits = left(&world).await;
        assert!(visits.iter().all(|(visit, _)| visited(visit).len() <= limits.pages.min(limits.rows)), "{limits:?}");
        let taken_up: BTreeSet<&str> = visits.iter().flat_map(|(visit, _)| visited(visit)).collect();
        assert!(taken_up.len() == 25 && taken_up.iter().all(|url| url.contains("example.org")), "{limits:?}");
    }
    // A new block stops a job that is under way.
    let program = world.program();
    program.desk.blocks.block("example.org").await.unwrap();
    let late = Job::new(TakeUpJob { host: "example.org".into(), after: None });
    assert!(matches!(program.run(&late).await.unwrap(), Verdict::Drop(_)));
}

/// A queue that makes somebody block a host whenever a job is sent.
struct BlocksMeanwhile(Blocks, &'static str);

#[async_trait]
impl Queue for BlocksMeanwhile {
    async fn send(&self, jobs: &[(Job, Timestamp)]) -> Result<(), PortError> {
        self.0.block(self.1).await.unwrap();
        self.0.queue.send(jobs).await
    }
}

#[tokio::test(start_paused = true)]
async fn a_block_outlasts_an_unblock_that_was_under_way() {
    for (name, key) in [("example.org", "example.org"), ("github.io", "anna.github.io")] {
        let world = TestWorld::new();
        let url = format!("https://{key}/a");
        let reason = Rejection::HostUnavailable("held".into());
        let row = Page::new(page(&url), url, host(key), PageState::Rejected { reason }, world.now());
        world.pages.insert(&row).await.unwrap();
        let known = |state| (admission::leave_alone(state, world.now()), ());
        update_host(world.politeness.ledger.as_ref(), &host(key), known).await.unwrap();
        let blocks = world.program().desk.blocks;
        blocks.block(name).await.unwrap();
        let queue = Arc::new(BlocksMeanwhile(blocks.clone(), name));
        Blocks { queue, ..blocks }.unblock(name).await.unwrap();
        assert!(world.host_state(key).await.is_blocked(key), "{key}");
    }
}
