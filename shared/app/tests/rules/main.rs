//! The rules of the stages, one by one, over ports in memory and a web that fits into a test.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

mod backfill;
mod bulk;
mod changes;
mod conditional;
mod costs;
mod discovery;
mod dispatch;
mod entries;
mod export;
mod feed_failures;
mod freshness;
mod fsck;
mod hostile_catalogues;
mod import;
mod index;
mod index_versions;
mod interstitial;
mod on_request;
mod operators;
mod overruns;
mod owner;
mod politeness;
mod polls;
mod polls_together;
mod push;
mod raw;
mod receivers;
mod reextract;
mod removal;
mod removal_jobs;
mod revision;
mod robots;
mod scale;
mod schedule;
mod scope;
mod screening;
mod second_chances;
mod signing;
mod stats;
mod test_world;
mod thumbnails;
mod turns;
mod walls;
mod watches;

use curlew_crawl::pages::judge::Judge;
use curlew_model::{Gone, HoldReason, Job, Millis, Page, PageState, Purpose, QueueName, Rejection, WindowPart, Work};
use curlew_ports::stage::Verdict;
use curlew_ports::{Blobs, CallKind, FetchError, HostLedger, Inbox, Pages, Reply, Version};
use std::sync::Arc;
use test_world::{
    AsVisit, FEED, HOUR, TestWorld, accepted, host, html, moved, new, page, page_jobs, status, visit, visited,
};

#[tokio::test(start_paused = true)]
async fn a_held_feed_is_parked_once_and_its_schedule_waits() {
    let world = TestWorld::new();
    world.with_feed(|_| {}).await;
    world.web.answer(FEED, Ok(status(429)));
    assert_eq!(world.poll(0).await, Verdict::Done);
    let parked = world.queued(QueueName::Poll).await;
    assert_eq!(parked.len(), 1);
    assert!(parked[0].1.since(world.now()).0 >= 72 * HOUR * 1_000);
    let feed = world.feed().await;
    assert_eq!(feed.not_before, parked[0].1);
    assert!(!curlew_policy::polling::schedule::feed_is_due(&feed, feed.slot, &world.politeness.rules, world.now()));
    assert!(feed.trouble.is_some_and(|why| why.contains("too_many_requests")));
    // A job that was sent before the hold changes nothing.
    assert!(matches!(world.poll(0).await, Verdict::Drop(_)));
    assert_eq!(world.queued(QueueName::Poll).await.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn h08_a_held_host_is_not_called_and_its_visit_is_given_up_in_the_end() {
    let world = TestWorld::new();
    let url = "https://example.org/a";
    world.web.answer(url, Ok(status(503)));
    let mut job = Job::new(visit("example.org", &[url, "https://example.org/b"], &new()));
    for n in 0..=world.politeness.rules.max_deferrals {
        assert_eq!(job.deferrals, n);
        world.fetch(&job).await;
        let Some((next, due)) = world.queued(QueueName::Fetch).await.pop() else { break };
        assert!(due.since(world.now()).0 >= 48 * HOUR * 1_000);
        let before = world.web.calls().len();
        world.fetch(&job).await;
        assert_eq!(world.web.calls().len(), before, "a held host is left alone");
        world.politeness.clock.sleep(due.since(world.now())).await;
        while let [delivery] = &world.jobs.receive(QueueName::Fetch, 1, curlew_model::Millis(1), due).await.unwrap()[..]
        {
            world.jobs.ack(&delivery.receipt).await.unwrap();
        }
        job = next;
    }
    for url in [url, "https://example.org/b"] {
        let state = world.state(url).await;
        assert!(
            matches!(state, Some(PageState::Rejected { reason: Rejection::HostUnavailable(_) })),
            "{url}: {state:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn our_own_hour_being_used_up_never_counts_against_a_page() {
    let world = TestWorld::new();
    let name = host("example.org");
    let rules = &world.politeness.rules;
    let state = curlew_model::HostState {
        visited: vec![WindowPart { began: world.now(), spent: rules.window_limit }],
        ..Default::default()
    };
    world.hosts.swap(&name, Version::ABSENT, state).await.unwrap();
    let job = Job::new(visit("example.org", &["https://example.org/a"], &new()));
    let job = Job { deferrals: rules.max_deferrals, ..job };
    world.fetch(&job).await;
    let (sent_on, due) = world.queued(QueueName::Fetch).await.pop().unwrap();
    assert_eq!(sent_on, job);
    assert_eq!(due, world.now() + rules.window + Millis(rules.window.0 / 8));
    assert_eq!(world.state("https://example.org/a").await, None);
}

#[tokio::test(start_paused = true)]
async fn a_platform_may_be_visited_all_day() {
    let world = TestWorld::new();
    let (name, page) = (host("wordpress.com"), "https://blog.wordpress.com/a");
    let visited = vec![WindowPart { began: world.now(), spent: world.politeness.rules.window }];
    let state = curlew_model::HostState { visited, ..Default::default() };
    world.hosts.swap(&name, Version::ABSENT, state).await.unwrap();
    world.web.serve(page, "text/html", html(""));
    assert_eq!(world.fetch(&visit("wordpress.com", &[page], &new())).await, Verdict::Done);
    assert!(world.calls(CallKind::Page).iter().any(|call| call.url == page));
}

#[tokio::test(start_paused = true)]
async fn a_redirect_to_a_held_host_holds_up_only_its_own_page() {
    let world = TestWorld::new();
    world.web.answer("https://example.org/a", moved(302, "https://other.example/a"));
    world.web.answer("https://other.example/a", Ok(status(503)));
    world.web.serve("https://example.org/b", "text/html", html(""));
    world.fetch(&visit("example.org", &["https://example.org/a", "https://example.org/b"], &new())).await;
    assert_eq!(world.state("https://example.org/b").await, Some(PageState::Pending));
    let queued = world.queued(QueueName::Fetch).await;
    let [(rest, due)] = &queued[..] else { panic!("{queued:?}") };
    assert_eq!(visited(rest), ["https://example.org/a"]);
    assert_eq!(rest.deferrals, 1);
    assert!(due.since(world.now()).0 >= 48 * HOUR * 1_000);
    let (other, _) = world.hosts.load(&host("other.example")).await.unwrap();
    assert_eq!(other.hold.map(|h| h.reason), Some(HoldReason::ServerError));
    assert_eq!(other.lease, None, "the guest's lease is given back");
    let (own, _) = world.hosts.load(&host("example.org")).await.unwrap();
    assert_eq!((own.hold, own.lease), (None, None));
}

#[tokio::test(start_paused = true)]
async fn r25_each_hop_asks_the_robots_txt_of_its_own_host() {
    let world = TestWorld::new();
    world.web.answer("https://example.org/a", moved(301, "https://other.example/private"));
    world.web.serve("https://other.example/robots.txt", "text/plain", "User-agent: *\nDisallow: /private\n");
    world.web.serve("https://other.example/private", "text/html", html(""));
    world.fetch(&visit("example.org", &["https://example.org/a"], &new())).await;
    let rejected = PageState::Rejected { reason: Rejection::Robots };
    assert_eq!(world.state("https://example.org/a").await, Some(rejected));
    assert!(world.web.calls().iter().all(|call| call.url != "https://other.example/private"));
}

#[tokio::test(start_paused = true)]
async fn a_page_that_leads_on_without_delay_is_the_page_that_it_leads_to_within_its_two_calls() {
    let (a, b) = ("https://example.org/a", "https://example.org/b");
    let refresh = |seconds: u32| format!("<meta http-equiv=refresh content='{seconds}; url=/b'>");
    let short =
        |seconds: u32| format!("<html><head><title>A</title>{}</head><body>Moved</body></html>", refresh(seconds));
    let mut by_header = Reply { body: html("").into(), ..status(200) };
    by_header.headers.refresh = Some("0; url=/b".into());
    for (first, called) in [
        (Ok(Reply { body: short(0).into(), ..status(200) }), vec![a, b]),
        (Ok(Reply { body: refresh(0).into(), ..status(200) }), vec![a, b]),
        (Ok(by_header), vec![a, b]),
        // What can be read until then may be meant to be.
        (Ok(Reply { body: html(&refresh(3)).into(), ..status(200) }), vec![a]),
        (moved(302, "/c"), vec![a, "https://example.org/c"]),
    ] {
        let world = TestWorld::new();
        world.web.answer(a, first);
        world.web.serve("https://example.org/c", "text/html", short(0));
        world.web.serve(b, "text/html", html(""));
        world.fetch(&visit("example.org", &[a], &new())).await;
        // The home page is asked whether a wall stands in place of so short a page.
        let calls = world.calls(CallKind::Page).into_iter().map(|call| call.url);
        let urls: Vec<String> = calls.filter(|url| url != "https://example.org/").collect();
        assert_eq!(urls, called);
        if called == [a, b] {
            assert_eq!(world.state(a).await, Some(PageState::Alias { of: page(b) }));
            assert_eq!(world.state(b).await, Some(PageState::Pending));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_page_that_a_redirect_leads_to_counts_under_its_own_host() {
    let world = TestWorld::new();
    world.web.answer("https://example.org/a", moved(302, "https://other.example/b"));
    world.web.serve("https://other.example/b", "text/html", html(""));
    world.fetch(&visit("example.org", &["https://example.org/a"], &new())).await;
    let (row, _) = world.pages.get(&page("https://other.example/b")).await.unwrap().unwrap();
    assert_eq!((row.host, row.state), (host("other.example"), PageState::Pending));
    let alias = PageState::Alias { of: page("https://other.example/b") };
    assert_eq!(world.state("https://example.org/a").await, Some(alias));
    let before = world.web.calls().len();
    world.fetch(&visit("example.org", &["https://example.org/a"], &new())).await;
    assert_eq!(world.web.calls().len(), before, "a known page is not called again");
}

#[tokio::test(start_paused = true)]
async fn a_canonical_link_names_the_page_unless_it_leads_elsewhere_or_home() {
    for (link, kept) in [
        ("https://example.org/b", "https://example.org/b"),
        ("https://other.example/b", "https://example.org/a"),
        ("https://example.org/", "https://example.org/a"),
    ] {
        let world = TestWorld::new();
        let head = format!("<link rel=canonical href=\"{link}\">");
        for url in ["https://example.org/a", "https://example.org/b"] {
            world.web.serve(url, "text/html", html(&head));
        }
        world.fetch(&visit("example.org", &["https://example.org/a"], &new())).await;
        assert_eq!(world.state(kept).await, Some(PageState::Pending), "{link}");
    }
}

#[tokio::test(start_paused = true)]
async fn p02_noindex_in_the_header_holds_for_what_cannot_be_read_too() {
    let world = TestWorld::new();
    for (url, skipped) in [("https://example.org/a", false), ("https://example.org/b", true)] {
        let mut reply = Reply { body_skipped: skipped, ..status(200) };
        reply.headers.robots_tags = vec!["otherbot: nofollow".into(), "CurlewBot: noindex".into()];
        world.web.answer(url, Ok(reply));
    }
    world.fetch(&visit("example.org", &["https://example.org/a"], &new())).await;
    let rejected = PageState::Rejected { reason: Rejection::Noindex };
    assert_eq!(world.state("https://example.org/a").await, Some(rejected));
}

#[tokio::test(start_paused = true)]
async fn r06_robots_unreachable_parks_the_page_and_a_304_out_of_nowhere_allows_nothing() {
    for answer in [Ok(status(304)), Err(FetchError::Limit("too large".into()))] {
        let world = TestWorld::new();
        world.web.answer("https://example.org/robots.txt", answer);
        world.fetch(&visit("example.org", &["https://example.org/a"], &new())).await;
        assert!(world.calls(CallKind::Page).is_empty());
        let queued = world.queued(QueueName::Fetch).await;
        let [(rest, due)] = &queued[..] else { panic!("{queued:?}") };
        assert_eq!(rest.deferrals, 1);
        assert!(due.since(world.now()).0 >= HOUR * 1_000 - 5_000);
    }
}

#[tokio::test(start_paused = true)]
async fn r09_an_older_robots_txt_stands_in_while_a_newer_one_cannot_be_read() {
    let world = TestWorld::new();
    let robots = "https://example.org/robots.txt";
    world.web.serve(robots, "text/plain", "User-agent: *\nDisallow: /private\n");
    world.web.answer(robots, Err(FetchError::Limit("too large".into())));
    world.web.serve("https://example.org/a", "text/html", html(""));
    world.web.serve("https://example.org/b", "text/html", html(""));
    world.fetch(&visit("example.org", &["https://example.org/a"], &new())).await;
    world.politeness.clock.sleep(curlew_model::Millis::from_days(2)).await;
    world.fetch(&visit("example.org", &["https://example.org/private", "https://example.org/b"], &new())).await;
    assert_eq!(world.calls(CallKind::Robots).len(), 2);
    assert_eq!(world.state("https://example.org/b").await, Some(PageState::Pending));
    let rejected = PageState::Rejected { reason: Rejection::Robots };
    assert_eq!(world.state("https://example.org/private").await, Some(rejected));
}

#[tokio::test(start_paused = true)]
async fn r03_robots_txt_is_followed_to_another_host_and_holds_for_the_first() {
    let world = TestWorld::new();
    world.web.answer("https://example.org/robots.txt", moved(301, "https://other.example/r.txt"));
    world.web.serve("https://other.example/r.txt", "text/plain", "User-agent: *\nDisallow: /a\n");
    world.fetch(&visit("example.org", &["https://example.org/a"], &new())).await;
    let rejected = PageState::Rejected { reason: Rejection::Robots };
    assert_eq!(world.state("https://example.org/a").await, Some(rejected));
}

#[tokio::test(start_paused = true)]
async fn an_image_elsewhere_gets_a_visit_there_and_one_that_is_not_to_be_had_is_asked_for_once() {
    let world = TestWorld::new();
    let head = "<meta property=\"og:image\" content=\"https://images.example/a.png\">";
    world.web.serve("https://example.org/a", "text/html", html(head));
    world.web.serve("https://example.org/b", "text/html", html(head));
    world.fetch(&visit("example.org", &["https://example.org/a", "https://example.org/b"], &new())).await;
    assert!(world.calls(CallKind::Image).is_empty());
    let pages: Vec<_> = world.queued(QueueName::Extract).await.into_iter().map(|(job, _)| job).collect();
    let pages: Vec<_> = pages
        .into_iter()
        .map(|job| if let Job { work: Work::Extract(job), .. } = job { *job } else { panic!() })
        .collect();
    world.extract().run_batch(&page_jobs(&pages)).await;
    let queued = world.queued(QueueName::Fetch).await;
    let [(Job { work: Work::Fetch(images), .. }, _)] = &queued[..] else { panic!("{queued:?}") };
    assert_eq!(
        (images.host.clone(), images.items.len()),
        (host("images.example"), 1),
        "both pages show the same image"
    );
    world.fetch(images).await;
    assert_eq!(world.calls(CallKind::Image).len(), 1);
    world.fetch(images).await;
    assert_eq!(world.calls(CallKind::Image).len(), 1, "it is not there, and is not asked for again");
}

#[tokio::test(start_paused = true)]
async fn p04_p07_a_recheck_removes_what_is_gone_expired_or_blocked_and_nothing_else() {
    let expired = "<meta name=robots content=\"unavailable_after: 2020-01-01\">";
    for (reply, gone) in [
        (status(404), Some(Gone::NotFound)),
        (status(410), Some(Gone::Gone)),
        (Reply { body: html("<meta name=robots content=noindex>").into(), ..status(200) }, Some(Gone::Noindex)),
        (Reply { body: html(expired).into(), ..status(200) }, Some(Gone::Expired)),
        (Reply { body: html("").into(), ..status(200) }, None),
        (status(401), None),
    ] {
        let world = TestWorld::new();
        let url = "https://example.org/a";
        world.pages.insert(&accepted(url)).await.unwrap();
        let record = zstd_record();
        world.blobs.put("segments/2026/11/20/ab.jsonl.zst", record.clone().into()).await.unwrap();
        let (mut row, seen) = world.pages.get(&page(url)).await.unwrap().unwrap();
        if let PageState::Accepted { location, .. } = &mut row.state {
            location.length = record.len() as u64;
        }
        world.pages.swap(seen, &row).await.unwrap();
        world.web.answer(url, Ok(reply));
        world.fetch(&visit("example.org", &[url], &Purpose::Recheck)).await;
        if gone == Some(Gone::Noindex) {
            world.politeness.clock.sleep(world.politeness.rules.confirm_after).await;
            world.fetch(&visit("example.org", &[url], &Purpose::Recheck)).await;
        }
        let state = world.state(url).await.unwrap();
        match gone {
            Some(reason) => {
                assert_eq!(state, PageState::Gone { reason });
                let left = world.blobs.get("segments/2026/11/20/ab.jsonl.zst").await.unwrap().unwrap();
                assert_eq!(left.bytes.len(), record.len(), "offsets stay");
                assert!(left.bytes[8..].iter().all(|b| *b == 0), "and the text is gone");
                assert_eq!(world.blobs.list("audit/", None, 9).await.unwrap().len(), 1);
            }
            None => assert_eq!(state, row.state),
        }
    }
}

/// Returns a frame that reads as erased, so that removal has only its location to keep.
fn zstd_record() -> Vec<u8> {
    let mut frame = 0x184D_2A50_u32.to_le_bytes().to_vec();
    frame.extend(8_u32.to_le_bytes());
    frame.extend([0; 8]);
    frame
}

#[tokio::test(start_paused = true)]
async fn a_recheck_of_a_blocked_host_removes_its_page_without_a_call() {
    let world = TestWorld::new();
    let url = "https://example.org/a";
    let mut row = accepted(url);
    if let PageState::Accepted { location, .. } = &mut row.state {
        location.length = zstd_record().len() as u64;
    }
    world.pages.insert(&row).await.unwrap();
    world.blobs.put("segments/2026/11/20/ab.jsonl.zst", zstd_record().into()).await.unwrap();
    let state = curlew_model::HostState { blocked: ["example.org".to_owned()].into(), ..Default::default() };
    world.hosts.swap(&host("example.org"), Version::ABSENT, state).await.unwrap();
    world.fetch(&visit("example.org", &[url], &Purpose::Recheck)).await;
    assert_eq!(world.state(url).await, Some(PageState::Gone { reason: Gone::Blocked }));
    assert!(world.web.calls().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_page_without_an_image_is_taken_where_images_are_optional_and_else_rejected() {
    for are_optional in [false, true] {
        let mut world = TestWorld::new();
        world.judge = Arc::new(Judge::default().with_images_optional(are_optional));
        let url = "https://example.org/a";
        world.web.serve(url, "text/html", html(""));
        let program = world.program();
        assert_eq!(
            program.crawler.fetch.run(&visit("example.org", &[url], &new()).as_visit()).await.unwrap(),
            Verdict::Done
        );
        let queued = world.queued(QueueName::Extract).await;
        let [(Job { work: Work::Extract(job), .. }, _)] = &queued[..] else { panic!("{} jobs", queued.len()) };
        program.crawler.extract.run_batch(&page_jobs(&[(**job).clone()])).await;
        let state = world.state(url).await;
        match are_optional {
            true => assert!(matches!(state, Some(PageState::Accepted { .. })), "{state:?}"),
            false => assert_eq!(state, Some(PageState::Rejected { reason: Rejection::NoImage })),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_batch_that_runs_twice_leaves_one_record_and_no_document_behind() {
    let world = TestWorld::new();
    world.with_feed(|_| {}).await;
    let url = "https://example.org/a";
    // Noise does not compress, so that the document is too large for a message.
    let noise: String =
        (0..500_000_u64).map(|n| char::from(b'a' + (curlew_policy::chance::mix(n) % 26) as u8)).collect();
    let head = format!("<meta property=\"og:image\" content=\"https://example.org/i.png\"><!-- {noise} -->");
    world.web.serve(url, "text/html", html(&head));
    world.fetch(&visit("example.org", &[url], &new())).await;
    let queued = world.queued(QueueName::Extract).await;
    let [(Job { work: Work::Extract(job), .. }, _)] = &queued[..] else { panic!("{} jobs", queued.len()) };
    assert_eq!(world.blobs.list("bodies/", None, 9).await.unwrap().len(), 1);
    let jobs = [(**job).clone(), (**job).clone()];
    for _ in 0..2 {
        assert!(world.extract().run_batch(&page_jobs(&jobs)).await.iter().all(|v| matches!(v, Ok(Verdict::Done))));
    }
    assert!(matches!(world.state(url).await, Some(PageState::Accepted { .. })));
    assert_eq!(world.blobs.list("segments/", None, 9).await.unwrap().len(), 1);
    assert!(world.blobs.list("bodies/", None, 9).await.unwrap().is_empty());
    assert_eq!(world.index().publish(2026).await.unwrap().added, 1, "both frames are there, one counts");
}

#[tokio::test(start_paused = true)]
async fn a_segment_whose_rows_are_still_to_be_written_is_indexed_later() {
    let world = TestWorld::new();
    let url = "https://example.org/a";
    let head = "<meta property=\"og:image\" content=\"https://example.org/i.png\">";
    world.web.serve(url, "text/html", html(head));
    world.fetch(&visit("example.org", &[url], &new())).await;
    let queued = world.queued(QueueName::Extract).await;
    let [(Job { work: Work::Extract(job), .. }, _)] = &queued[..] else { panic!("{} jobs", queued.len()) };
    world.extract().run_batch(&page_jobs(&[(**job).clone()])).await;
    let (written, seen) = world.pages.get(&page(url)).await.unwrap().unwrap();
    // As it was between writing the segment and writing the row.
    let seen = world.pages.swap(seen, &Page { state: PageState::Pending, ..written.clone() }).await.unwrap();
    world.blobs.put("segments/.DS_Store", "x".into()).await.unwrap();
    assert_eq!(world.index().years().await.unwrap(), [2026]);
    assert_eq!(world.index().publish(2026).await.unwrap().added, 0);
    world.pages.swap(seen, &written).await.unwrap();
    assert_eq!(world.index().publish(2026).await.unwrap().added, 1);
}

#[tokio::test(start_paused = true)]
async fn r26_the_longest_crawl_delay_lets_a_redirected_page_come_to_an_end() {
    let world = TestWorld::new();
    world.web.serve("https://example.org/robots.txt", "text/plain", "User-agent: *\nCrawl-delay: 3600\n");
    world.web.answer("https://example.org/a", moved(301, "https://example.org/b"));
    world.web.answer("https://example.org/b", moved(301, "https://example.org/c"));
    world.web.serve("https://example.org/c", "text/html", html(""));
    for _ in 0..4 {
        let queued = world.queued(QueueName::Fetch).await;
        let first = Job::new(visit("example.org", &["https://example.org/a"], &new()));
        let job = match queued.into_iter().next_back() {
            Some((job, due)) => {
                world.politeness.clock.sleep(due.since(world.now())).await;
                job
            }
            _ => first,
        };
        while world.fetch(&job).await != Verdict::Done {
            world.politeness.clock.sleep(curlew_model::Millis::from_secs(10)).await;
        }
    }
    assert_eq!(world.state("https://example.org/c").await, Some(PageState::Pending));
    assert!(world.calls(CallKind::Page).len() <= 6);
}
