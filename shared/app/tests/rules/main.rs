//! Tests of the stages' rules, one by one, over in-memory ports and a small web.

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

use test_world::*;

#[tokio::test(start_paused = true)]
async fn a_held_feed_is_parked_once_and_its_schedule_waits() {
    let world = TestWorld::answering([status(429)]).await;
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
    world.web.answer(A, Ok(status(503)));
    let mut job = Job::new(visit("example.org", &[A, B], &new()));
    for n in 0..=world.politeness.rules.max_deferrals {
        assert_eq!(job.deferrals, n);
        world.fetch(&job).await;
        let Some((next, due)) = world.queued(QueueName::Fetch).await.pop() else { break };
        assert!(due.since(world.now()).0 >= 48 * HOUR * 1_000);
        let before = world.web.calls().len();
        world.fetch(&job).await;
        assert_eq!(world.web.calls().len(), before, "a held host is left alone");
        world.sleep_until(due).await;
        world.settle(QueueName::Fetch, 99, due).await;
        job = next;
    }
    for url in [A, B] {
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
    let state =
        HostState { visited: vec![WindowPart { began: world.now(), spent: rules.window_limit }], ..Default::default() };
    world.hosts.swap(&name, Version::ABSENT, state).await.unwrap();
    let job = Job::new(visit("example.org", &[A], &new()));
    let job = Job { deferrals: rules.max_deferrals, ..job };
    world.fetch(&job).await;
    let (sent_on, due) = world.queued(QueueName::Fetch).await.pop().unwrap();
    assert_eq!(sent_on, job);
    assert_eq!(due, world.now() + rules.window + Millis(rules.window.0 / 8));
    assert_eq!(world.state(A).await, None);
}

#[tokio::test(start_paused = true)]
async fn a_platform_may_be_visited_all_day() {
    let world = TestWorld::new();
    let (name, page) = (host("wordpress.com"), "https://blog.wordpress.com/a");
    let visited = vec![WindowPart { began: world.now(), spent: world.politeness.rules.window }];
    let state = HostState { visited, ..Default::default() };
    world.hosts.swap(&name, Version::ABSENT, state).await.unwrap();
    world.serve_page(page, "");
    assert_eq!(world.fetch(&visit("wordpress.com", &[page], &new())).await, Verdict::Done);
    assert!(world.calls(CallKind::Page).iter().any(|call| call.url == page));
}

#[tokio::test(start_paused = true)]
async fn a_redirect_to_a_held_host_holds_up_only_its_own_page() {
    let world = TestWorld::new();
    world.web.answer(A, moved(302, "https://other.example/a"));
    world.web.answer("https://other.example/a", Ok(status(503)));
    world.serve_page(B, "");
    world.visit(&[A, B]).await;
    assert_eq!(world.state(B).await, Some(PageState::Pending));
    let queued = world.queued(QueueName::Fetch).await;
    let [(rest, due)] = &queued[..] else { panic!("{queued:?}") };
    assert_eq!(visited(rest), [A]);
    assert_eq!(rest.deferrals, 1);
    assert!(due.since(world.now()).0 >= 48 * HOUR * 1_000);
    let other = world.host_state("other.example").await;
    assert_eq!(other.hold.map(|h| h.reason), Some(HoldReason::ServerError));
    assert_eq!(other.lease, None, "the guest's lease is given back");
    let own = world.host_state("example.org").await;
    assert_eq!((own.hold, own.lease), (None, None));
}

#[tokio::test(start_paused = true)]
async fn r25_each_hop_asks_the_robots_txt_of_its_own_host() {
    let world = TestWorld::new();
    world.web.answer(A, moved(301, "https://other.example/private"));
    world.web.serve("https://other.example/robots.txt", "text/plain", "User-agent: *\nDisallow: /private\n");
    world.serve_page("https://other.example/private", "");
    world.visit(&[A]).await;
    assert_eq!(world.rejection(A).await, Some(Rejection::Robots));
    assert!(world.web.calls().iter().all(|call| call.url != "https://other.example/private"));
}

#[tokio::test(start_paused = true)]
async fn a_page_that_leads_on_without_delay_is_the_page_that_it_leads_to_within_its_two_calls() {
    let refresh = |seconds: u32| format!("<meta http-equiv=refresh content='{seconds}; url=/b'>");
    let short =
        |seconds: u32| format!("<html><head><title>A</title>{}</head><body>Moved</body></html>", refresh(seconds));
    let mut by_header = text(html(""));
    by_header.headers.refresh = Some("0; url=/b".into());
    for (first, called) in [
        (Ok(text(short(0))), vec![A, B]),
        (Ok(text(refresh(0))), vec![A, B]),
        (Ok(by_header), vec![A, B]),
        // A page that leads on only after some seconds may be meant to be read.
        (Ok(text(html(&refresh(3)))), vec![A]),
        (moved(302, "/c"), vec![A, C]),
    ] {
        let world = TestWorld::new();
        world.web.answer(A, first);
        world.web.serve(C, "text/html", short(0));
        world.serve_page(B, "");
        world.visit(&[A]).await;
        // The home page is called to check whether a wall replaces so short a page.
        let calls = world.calls(CallKind::Page).into_iter().map(|call| call.url);
        let urls: Vec<String> = calls.filter(|url| url != HOME).collect();
        assert_eq!(urls, called);
        if called == [A, B] {
            assert_eq!(world.state(A).await, Some(PageState::Alias { of: page(B) }));
            assert_eq!(world.state(B).await, Some(PageState::Pending));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_page_that_a_redirect_leads_to_counts_under_its_own_host() {
    let world = TestWorld::new();
    world.web.answer(A, moved(302, "https://other.example/b"));
    world.serve_page("https://other.example/b", "");
    world.visit(&[A]).await;
    let (row, _) = world.pages.get(&page("https://other.example/b")).await.unwrap().unwrap();
    assert_eq!((row.host, row.state), (host("other.example"), PageState::Pending));
    let alias = PageState::Alias { of: page("https://other.example/b") };
    assert_eq!(world.state(A).await, Some(alias));
    let before = world.web.calls().len();
    world.visit(&[A]).await;
    assert_eq!(world.web.calls().len(), before, "a known page is not called again");
}

#[tokio::test(start_paused = true)]
async fn a_canonical_link_names_the_page_unless_it_leads_elsewhere_or_home() {
    for (link, kept) in [(B, B), ("https://other.example/b", A), (HOME, A)] {
        let world = TestWorld::new();
        let head = format!("<link rel=canonical href=\"{link}\">");
        for url in [A, B] {
            world.serve_page(url, &head);
        }
        world.visit(&[A]).await;
        assert_eq!(world.state(kept).await, Some(PageState::Pending), "{link}");
    }
}

#[tokio::test(start_paused = true)]
async fn p02_noindex_in_the_header_holds_for_what_cannot_be_read_too() {
    let world = TestWorld::new();
    for (url, skipped) in [(A, false), (B, true)] {
        let mut reply = Reply { body_skipped: skipped, ..status(200) };
        reply.headers.robots_tags = vec!["otherbot: nofollow".into(), "CurlewBot: noindex".into()];
        world.web.answer(url, Ok(reply));
    }
    world.visit(&[A]).await;
    assert_eq!(world.rejection(A).await, Some(Rejection::Noindex));
}

#[tokio::test(start_paused = true)]
async fn an_image_elsewhere_gets_a_visit_there_and_one_that_is_not_to_be_had_is_asked_for_once() {
    let world = TestWorld::new();
    let head = "<meta property=\"og:image\" content=\"https://images.example/a.png\">";
    world.serve_page(A, head);
    world.serve_page(B, head);
    world.visit(&[A, B]).await;
    assert!(world.calls(CallKind::Image).is_empty());
    world.extract_all().await;
    let (images, _) = world.only_visit().await;
    assert_eq!((&images.host, images.items.len()), (&host("images.example"), 1), "both pages have the same image");
    world.fetch(&images).await;
    assert_eq!(world.calls(CallKind::Image).len(), 1);
    world.fetch(&images).await;
    assert_eq!(world.calls(CallKind::Image).len(), 1, "a missing image is not called again");
}

#[tokio::test(start_paused = true)]
async fn p04_p07_a_recheck_removes_what_is_gone_expired_or_blocked_and_nothing_else() {
    let expired = "<meta name=robots content=\"unavailable_after: 2020-01-01\">";
    for (reply, gone) in [
        (status(404), Some(Gone::NotFound)),
        (status(410), Some(Gone::Gone)),
        (text(html("<meta name=robots content=noindex>")), Some(Gone::Noindex)),
        (text(html(expired)), Some(Gone::Expired)),
        (text(html("")), None),
        (status(401), None),
    ] {
        let world = TestWorld::new();
        let row = world.with_page(A, "example.org").await;
        let segment = world.keys("segments/").await.remove(0);
        let length = world.blobs.get(&segment).await.unwrap().unwrap().bytes.len();
        world.web.answer(A, Ok(reply));
        world.recheck(A).await;
        if gone == Some(Gone::Noindex) {
            world.sleep(world.politeness.rules.confirm_after).await;
            world.recheck(A).await;
        }
        assert_eq!(world.state(A).await, Some(gone.map_or(row.state, |reason| PageState::Gone { reason })));
        if gone.is_some() {
            let left = world.blobs.get(&segment).await.unwrap().unwrap().bytes;
            assert_eq!(left.len(), length, "offsets must stay");
            assert!(left[8..].iter().all(|b| *b == 0), "the text must be erased");
            assert_eq!(world.keys("audit/").await.len(), 1);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_recheck_of_a_blocked_host_removes_its_page_without_a_call() {
    let world = TestWorld::new();
    world.with_page(A, "example.org").await;
    let state = HostState { blocked: ["example.org".to_owned()].into(), ..Default::default() };
    world.with_host("example.org", state).await;
    world.recheck(A).await;
    assert_eq!(world.gone(A).await, Some(Gone::Blocked));
    assert!(world.web.calls().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_page_without_an_image_is_taken_where_images_are_optional_and_else_rejected() {
    for are_optional in [false, true] {
        let mut world = TestWorld::new();
        world.judge = Arc::new(Judge::default().with_images_optional(are_optional));
        world.serve_page(A, "");
        assert_eq!(world.visit(&[A]).await, Verdict::Done);
        world.extract_all().await;
        let outcome = (world.is_accepted(A).await, world.rejection(A).await);
        assert_eq!(outcome, if are_optional { (true, None) } else { (false, Some(Rejection::NoImage)) });
    }
}

#[tokio::test(start_paused = true)]
async fn a_batch_that_runs_twice_leaves_one_record_and_no_document_behind() {
    let world = TestWorld::of_feed().await;
    // Noise does not compress, so the document is too large for a message.
    let noise: String =
        (0..500_000_u64).map(|n| char::from(b'a' + (curlew_policy::chance::mix(n) % 26) as u8)).collect();
    let head = format!("<meta property=\"og:image\" content=\"https://example.org/i.png\"><!-- {noise} -->");
    world.serve_page(A, &head);
    world.visit(&[A]).await;
    let job = world.extract_jobs().await.remove(0);
    assert_eq!(world.keys("bodies/").await.len(), 1);
    let jobs = [job.clone(), job];
    for _ in 0..2 {
        assert!(world.extract().run_batch(&page_jobs(&jobs)).await.iter().all(|v| matches!(v, Ok(Verdict::Done))));
    }
    assert!(world.is_accepted(A).await);
    assert_eq!(world.keys("segments/").await.len(), 1);
    assert!(world.keys("bodies/").await.is_empty());
    assert_eq!(world.publish().await.added, 1, "there are two frames, and one of them counts");
}

#[tokio::test(start_paused = true)]
async fn a_segment_whose_rows_are_still_to_be_written_is_indexed_later() {
    let world = TestWorld::new();
    world.serve_page(A, IMAGE);
    world.crawl(&[A]).await;
    let (written, seen) = world.pages.get(&page(A)).await.unwrap().unwrap();
    // The row is set to its state between the segment's write and its own.
    let seen = world.pages.swap(seen, &Page { state: PageState::Pending, ..written.clone() }).await.unwrap();
    world.blobs.put("segments/.DS_Store", "x".into()).await.unwrap();
    assert_eq!(world.index().years().await.unwrap(), [2026]);
    assert_eq!(world.publish().await.added, 0);
    world.pages.swap(seen, &written).await.unwrap();
    assert_eq!(world.publish().await.added, 1);
}

#[tokio::test(start_paused = true)]
async fn r26_the_longest_crawl_delay_lets_a_redirected_page_come_to_an_end() {
    let world = TestWorld::new();
    world.web.serve(ROBOTS, "text/plain", "User-agent: *\nCrawl-delay: 3600\n");
    world.web.answer(A, moved(301, B));
    world.web.answer(B, moved(301, C));
    world.serve_page(C, "");
    for _ in 0..4 {
        let queued = world.queued(QueueName::Fetch).await;
        let first = Job::new(visit("example.org", &[A], &new()));
        let job = match queued.into_iter().next_back() {
            Some((job, due)) => {
                world.sleep_until(due).await;
                job
            }
            _ => first,
        };
        while world.fetch(&job).await != Verdict::Done {
            world.sleep(Millis::from_secs(10)).await;
        }
    }
    assert_eq!(world.state(C).await, Some(PageState::Pending));
    assert!(world.calls(CallKind::Page).len() <= 6);
}
