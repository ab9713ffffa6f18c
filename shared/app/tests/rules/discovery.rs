//! Discovery of a site's feeds: the order of the tries, the number of calls, and no repeated call.

use crate::test_world::*;
use curlew_crawl::feeds::first_pages::FIRST_PAGES;

fn page(links: &[&str]) -> String {
    let links: String =
        links.iter().map(|url| format!("<link rel=alternate type=application/rss+xml href='{url}'>")).collect();
    format!("<html><head><title>Waders</title>{links}</head><body>Hello</body></html>")
}

fn item(path: &str) -> String {
    rss(&format!("<item><title>{path}</title><link>https://example.org/{path}</link></item>"))
}

fn atom(path: &str) -> String {
    format!(
        "<feed xmlns='http://www.w3.org/2005/Atom'><title>T</title><entry><id>urn:{path}</id><link href='https://example.org/{path}'/></entry></feed>"
    )
}

fn addresses(world: &TestWorld) -> Vec<String> {
    world.web.calls().into_iter().map(|call| call.url).collect()
}

fn urls<const N: usize>(paths: [&str; N]) -> [String; N] {
    paths.map(|path| format!("{HOME}{path}"))
}

fn keys<const N: usize>(paths: [&str; N]) -> [SourceKey; N] {
    urls(paths).map(|url| key(&url))
}

/// Returns a world with a site that is waiting for its discovery.
async fn waiting() -> TestWorld {
    let world = TestWorld::new();
    world.with_site(HOME, SiteState::Waiting).await;
    world
}

/// Returns a world with a waiting site whose home page names these feeds.
async fn site(links: &[&str]) -> TestWorld {
    let world = waiting().await;
    world.web.serve(HOME, "text/html", page(links));
    world
}

async fn working(world: &TestWorld) -> Vec<SourceKey> {
    match world.site(HOME).await.state {
        SiteState::Working { feeds } => feeds,
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn discovery_asks_robots_first_then_home_once_and_takes_three_feeds_at_most_comments_last() {
    let world = waiting().await;
    let links = ["/comments/feed", "/a", "/b", "/c", "/d"];
    world.web.serve(HOME, "text/html", page(&links));
    for link in links {
        world.web.serve(&format!("https://example.org{link}"), "application/rss+xml", item(link));
    }
    assert_eq!(world.discover(HOME).await, 1);
    assert_eq!(addresses(&world), urls(["robots.txt", "", "a", "b", "c"]));
    assert_eq!(working(&world).await, keys(["a", "b", "c"]));
}

#[tokio::test(start_paused = true)]
async fn the_first_pages_of_a_sites_feeds_are_fetched_once_each_under_the_lease_of_its_discovery() {
    let world = site(&["/a", "/b", "/c"]).await;
    let address = |n: usize| format!("{HOME}{n}");
    let feed = |numbers: [usize; 7]| {
        let item = |n| format!("<item><link>{}</link></item>", address(n));
        rss(&numbers.map(item).concat())
    };
    // The feeds share pages. The third feed's further pages do not fit into the visit.
    world.web.serve(&format!("{HOME}a"), "application/rss+xml", feed([0, 1, 2, 3, 4, 5, 6]));
    world.web.serve(&format!("{HOME}b"), "application/rss+xml", feed([5, 6, 7, 8, 9, 10, 11]));
    world.web.serve(&format!("{HOME}c"), "application/rss+xml", feed([1, 3, 5, 7, 8, 9, 12]));
    (0..13).for_each(|n| world.serve_page(&address(n), ""));
    let job = Job::new(DiscoverJob::new(key(HOME), HOME.into()));
    assert_eq!(world.program().run(&job).await.unwrap(), Verdict::Done);
    let called = world.urls(CallKind::Page);
    assert_eq!(called, (0..FIRST_PAGES).map(address).collect::<Vec<_>>());
    assert_eq!(world.queued(QueueName::Extract).await.len(), FIRST_PAGES);
    let left = world.visits().await.into_iter().flat_map(|(visit, _)| visit.items);
    assert_eq!(left.map(|item| item.url).collect::<Vec<_>>(), (FIRST_PAGES..13).map(address).collect::<Vec<_>>());
    let state = world.host_state("example.org").await;
    assert!(state.lease.is_none(), "the lease must be given back");
    for feed in working(&world).await {
        let Some((Source::Feed(feed), _)) = world.sources.get(&feed).await.unwrap() else { panic!("no row") };
        assert_eq!(feed.seen.len(), 7);
    }
}

#[tokio::test(start_paused = true)]
async fn a_discovery_or_a_poll_that_did_not_end_leaves_pages_to_visits_of_their_own() {
    let world = site(&["/a"]).await;
    let feed = format!("{HOME}a");
    for items in ["one", "two"] {
        world.web.serve(&feed, "application/rss+xml", item(items));
    }
    let program = world.program();
    let worker = Worker { stages: &program, queue: &world.mailbox(), clock: world.politeness.clock.as_ref() };
    let discover = Job::new(DiscoverJob::new(key(HOME), HOME.into()));
    let poll = Job::new(PollJob { on_request: true, ..PollJob::new(key(&feed), feed.clone()) });
    for (n, job) in [discover, poll].iter().enumerate() {
        worker.run(&Receipt("any".into()), 2, job).await.unwrap();
        assert_eq!(world.calls(CallKind::Page).len(), 0, "{job:?}");
        assert_eq!(world.queued(QueueName::Fetch).await.len(), n + 1, "{job:?}");
        world.sleep(Millis::from_hours(2)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_discovery_whose_visit_fails_has_written_no_feed_whose_pages_nobody_fetches() {
    let world = site(&["/a", "/b"]).await;
    world.web.serve(&format!("{HOME}a"), "application/rss+xml", item("one"));
    world.web.answer(&format!("{HOME}b"), Err(FetchError::Local("no memory".into())));
    world.serve_page(&format!("{HOME}one"), "");
    world.discover(HOME).await;
    let rows = working(&world).await;
    assert_eq!(rows, keys(["a", "b"]), "the other feed is left to be polled");
    let sent = world.queued(QueueName::Fetch).await;
    assert_eq!(sent.len(), 1, "the page of the first feed: {sent:?}");
}

#[tokio::test(start_paused = true)]
async fn discovery_of_a_usual_site_costs_two_to_four_calls() {
    for (links, calls) in [(vec!["/feed"], 3), (vec!["/feed", "/atom"], 4), (vec![], 3)] {
        let world = site(&links).await;
        world.web.serve("https://example.org/feed", "application/rss+xml", item("one"));
        world.web.serve("https://example.org/atom", "application/rss+xml", item("two"));
        world.discover(HOME).await;
        assert_eq!(world.web.calls().len(), calls, "{links:?}");
        assert!(!working(&world).await.is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn discovery_guesses_in_order_only_without_a_link_that_works_and_ends_with_the_first() {
    let world = site(&["/no-feed"]).await;
    world.web.serve("https://example.org/no-feed", "text/html", page(&[]));
    world.web.serve("https://example.org/rss", "text/html", page(&[]));
    world.web.serve("https://example.org/?feed=rss", "text/xml", item("a"));
    world.web.serve("https://example.org/rss.xml", "text/xml", item("a"));
    world.discover(HOME).await;
    assert_eq!(addresses(&world), urls(["robots.txt", "", "no-feed", "feed", "feed/atom", "rss", "?feed=rss"]));
    assert_eq!(working(&world).await, keys(["?feed=rss"]));
}

#[tokio::test(start_paused = true)]
async fn a_site_without_a_feed_says_whether_its_home_page_names_one() {
    for (links, why) in
        [(vec!["/gone"], "none of the feeds that the home page names works"), (vec![], "no feed is named")]
    {
        let world = site(&links).await;
        world.web.answer("https://example.org/gone", Ok(status(410)));
        world.discover(HOME).await;
        let state = world.site(HOME).await.state;
        assert!(matches!(&state, SiteState::Feedless { reason } if reason.starts_with(why)), "{state:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_site_whose_feed_is_there_and_cannot_be_read_says_why() {
    let too_large = FetchError::Limit("the body has more bytes than it may".into());
    let unreadable = FetchError::Protocol("the body is not what its coding says".into());
    for (error, says) in [(too_large, "a limit was broken"), (unreadable, "not what its coding says")] {
        let world = site(&["/large", "/deep"]).await;
        world.web.answer("https://example.org/large", Err(error));
        world.web.serve("https://example.org/deep", "text/xml", format!("<rss><channel>{}", "<a>".repeat(300)));
        world.discover(HOME).await;
        let state = world.site(HOME).await.state;
        let told =
            |reason: &str| reason.contains("; https://example.org/large cannot be read") && reason.contains(says);
        assert!(matches!(&state, SiteState::Feedless { reason } if told(reason)), "{state:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn discovery_goes_on_where_it_was_and_calls_the_home_page_once() {
    let world = site(&[]).await;
    world.web.answer("https://example.org/feed/atom", Ok(status(503)));
    world.web.serve("https://example.org/feed/atom", "application/rss+xml", rss(""));
    let discover = world.discover_stage();
    let job = Envelope::new(DiscoverJob::new(key(HOME), HOME.into()));
    assert_eq!(discover.run(&job).await.unwrap(), Verdict::Done);
    assert!(matches!(discover.run(&job).await.unwrap(), Verdict::Drop(_)), "a job that was sent twice calls nothing");
    let (next, due) = world.queued(QueueName::Discover).await.pop().unwrap();
    let Work::Discover(site) = &next.work else { panic!("{next:?}") };
    let next = next.with(site.clone());
    assert_eq!((next.work.next_guess, next.deferrals), (Some(1), 1));
    world.sleep_until(due).await;
    discover.run(&next).await.unwrap();
    assert_eq!(world.calls(CallKind::Home).len(), 1, "the home page is called once");
    assert_eq!(working(&world).await, keys(["feed/atom"]));
    assert!(matches!(discover.run(&next).await.unwrap(), Verdict::Drop(_)), "a site with a feed is not scanned again");
    world.sleep(Millis::from_days(365)).await;
    let before = world.web.calls().len();
    world.dispatch_stage().tick().await.unwrap();
    assert!(matches!(discover.run(&job).await.unwrap(), Verdict::Drop(_)), "not even a year later");
    assert_eq!(world.web.calls().len(), before);
}

#[tokio::test(start_paused = true)]
async fn discovery_takes_one_feed_under_two_addresses_for_one() {
    for same_by in ["redirect", "content", "dialect"] {
        let world = site(&["/a", "/b", "/c"]).await;
        world.web.serve(A, "text/xml", item("one"));
        match same_by {
            "redirect" => world.web.answer(B, moved(302, A)),
            "dialect" => world.web.serve(B, "application/atom+xml", atom("one")),
            _ => world.web.serve(B, "text/xml", item("one")),
        }
        world.web.serve(C, "text/xml", item("two"));
        world.discover(HOME).await;
        assert_eq!(working(&world).await, keys(["a", "c"]), "{same_by}");
        assert_eq!(world.feed_at(B).await, None);
        assert_eq!(world.queued(QueueName::Fetch).await.len(), 2);
    }
}

#[tokio::test(start_paused = true)]
async fn an_empty_feed_is_kept_once_whichever_of_its_addresses_leads_to_the_other() {
    for (from, to) in [("b", "a"), ("a", "b")] {
        let world = site(&["/a", "/b"]).await;
        world.web.serve(&format!("{HOME}{to}"), "text/xml", rss(""));
        world.web.answer(&format!("{HOME}{from}"), moved(302, &format!("{HOME}{to}")));
        world.discover(HOME).await;
        assert_eq!(working(&world).await, [key(&format!("{HOME}a"))], "{from} leads to {to}");
        assert_eq!(world.feed_at(&format!("{HOME}b")).await, None);
    }
}

#[tokio::test(start_paused = true)]
async fn discovery_keeps_what_moved_for_good_under_its_new_address() {
    let world = site(&["http://example.org/feed"]).await;
    world.web.answer("http://example.org/feed", moved(301, "https://example.org/feed"));
    world.web.serve("https://example.org/feed", "text/xml", item("a"));
    world.discover(HOME).await;
    assert_eq!(working(&world).await, keys(["feed"]));
}

#[tokio::test(start_paused = true)]
async fn discovery_follows_two_redirects_and_ends_in_a_circle_at_once() {
    let world = site(&["/1", "/round"]).await;
    for (from, to) in [("1", "2"), ("2", "3"), ("3", "4"), ("round", "about"), ("about", "round")] {
        world.web.answer(&format!("{HOME}{from}"), moved(302, &format!("{HOME}{to}")));
    }
    world.web.serve("https://example.org/4", "text/xml", item("a"));
    world.discover(HOME).await;
    let expected = urls(["robots.txt", "", "1", "2", "3", "round", "about"]);
    assert_eq!(addresses(&world)[..7], expected);
    assert!(matches!(world.site(HOME).await.state, SiteState::Feedless { .. }));
}

/// Returns a document that only refers to another one.
fn leads_to(target: &str) -> String {
    format!("<html><head><meta http-equiv=refresh content='0; URL={target}'></head></html>")
}

#[tokio::test(start_paused = true)]
async fn a_home_page_or_a_feed_that_only_leads_on_is_followed_as_a_redirect_is() {
    let header = text("<html></html>");
    let by_header =
        Reply { headers: ReplyHeaders { refresh: Some("3; url=/blog/".into()), ..header.headers }, ..header };
    let by_document = text(leads_to("/blog/"));
    for home in [by_header, by_document] {
        let world = waiting().await;
        world.web.answer(HOME, Ok(home));
        world.web.serve("https://example.org/blog/", "text/html", page(&["/feed.html"]));
        world.web.serve("https://example.org/feed.html", "text/html", leads_to("/rss"));
        world.web.serve("https://example.org/rss", "text/xml", item("a"));
        world.discover(HOME).await;
        assert_eq!(addresses(&world), urls(["robots.txt", "", "blog/", "feed.html", "rss"]));
        assert_eq!(working(&world).await, keys(["feed.html"]));
    }
}

#[tokio::test(start_paused = true)]
async fn refreshes_count_among_the_two_redirects_and_a_circle_or_a_walls_is_not_followed() {
    let wall = "<html><head><meta http-equiv=refresh content='1; url=/.within.website/x/pass?id=1'></head></html>";
    for (home, calls) in
        [(leads_to("/1"), 4), (leads_to("/"), 2), (leads_to("ftp://example.org/"), 2), (wall.into(), 2)]
    {
        let world = waiting().await;
        world.web.serve(HOME, "text/html", home.clone());
        world.web.answer("https://example.org/1", moved(301, "/2"));
        world.web.serve("https://example.org/2", "text/html", leads_to("/3"));
        world.discover_stage().run(&Envelope::new(DiscoverJob::new(key(HOME), HOME.into()))).await.unwrap();
        let before_guesses = world.web.calls().into_iter().take_while(|call| call.kind != CallKind::Feed);
        assert_eq!(before_guesses.count(), calls, "{home}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_feed_is_found_by_a_link_header_or_by_the_title_of_a_link_to_xml() {
    let by_title = "<html><head><link rel=alternate type=text/xml title=RSS href=/notes/all.xml></head></html>";
    let link = "</notes/all.xml>; rel=alternate; type=\"application/rss+xml\"";
    for (body, links) in [(by_title, vec![]), ("<html></html>", vec![link.to_owned()])] {
        let world = waiting().await;
        let headers = ReplyHeaders { links, ..ReplyHeaders::default() };
        world.web.answer(HOME, Ok(Reply { body: body.into(), headers, ..status(200) }));
        world.web.serve("https://example.org/notes/all.xml", "text/xml", item("a"));
        world.discover(HOME).await;
        assert_eq!(working(&world).await, keys(["notes/all.xml"]));
        assert_eq!(world.web.calls().len(), 3, "{body}");
    }
}

#[tokio::test(start_paused = true)]
async fn as_many_usual_addresses_are_tried_as_the_settings_say() {
    for (number, tried) in [(0, 0), (5, 5), (8, 8)] {
        let mut world = TestWorld::new();
        world.with_rules(|rules| rules.usual_addresses = number);
        world.with_site(HOME, SiteState::Waiting).await;
        world.web.serve(HOME, "text/html", page(&[]));
        world.web.serve("https://example.org/index.xml", "text/xml", item("a"));
        world.discover(HOME).await;
        assert_eq!(world.calls(CallKind::Feed).len(), tried);
        assert_eq!(matches!(world.site(HOME).await.state, SiteState::Working { .. }), number == 8);
    }
}

#[tokio::test(start_paused = true)]
async fn what_fails_a_discovery_is_told_and_not_that_its_finds_could_not_be_sent() {
    let world = site(&["/a", "/b"]).await;
    world.web.serve(&format!("{HOME}a"), "application/rss+xml", item("one"));
    let clock = &world.politeness.clock;
    let refused = Faults::seeded(1, Rates { refuse: 1_000, ..Rates::default() }, clock.clone());
    let ports = Ports {
        // The third row that is read is the second feed's.
        sources: Arc::new(Faulty::new(world.sources.clone(), Faults::crash_at(2, clock.clone()))),
        queue: Arc::new(Faulty::new(world.jobs.clone(), refused.clone())),
        ..world.ports.clone()
    };
    let program = world.program_over(ports);
    let discover = Discover { fetch: None, ..program.crawler.discover };
    let error = discover.run(&Envelope::new(DiscoverJob::new(key(HOME), HOME.into()))).await.unwrap_err();
    assert!(matches!(&error, StageError::Port(error) if is_crash(error)), "{error:?}");
    assert!(refused.calls() > 0, "the discovery must try to send the feeds that it found");
}

#[tokio::test(start_paused = true)]
async fn a_site_that_has_moved_its_home_is_looked_at_under_the_other_hosts_lease() {
    let world = waiting().await;
    let new = "https://new.example/";
    world.web.answer(HOME, moved(301, new));
    // The Crawl-delay is so long that no visit waits for its pauses within another visit's lease.
    world.web.serve("https://new.example/robots.txt", "text/plain", "User-agent: *\nCrawl-delay: 30\n");
    world.web.serve(new, "text/html", page(&["/a", "/b"]));
    world.web.serve("https://new.example/a", "text/xml", item("one"));
    world.web.serve("https://new.example/b", "text/xml", item("two"));
    world.discover(HOME).await;
    assert_eq!(working(&world).await, ["a", "b"].map(|path| key(&format!("{new}{path}"))));
    let homes = world.calls(CallKind::Home);
    assert_eq!(homes.len(), 2, "the redirect and its target, once each: {homes:?}");
}

#[tokio::test(start_paused = true)]
async fn r25_a_candidate_that_robots_forbids_is_not_called() {
    let world = waiting().await;
    world.web.serve(ROBOTS, "text/plain", "User-agent: *\nDisallow: /feed\n");
    world.web.serve(HOME, "text/html", page(&["/feed", "/b"]));
    world.web.serve(B, "text/xml", item("a"));
    world.discover(HOME).await;
    assert!(addresses(&world).iter().all(|url| url != "https://example.org/feed"));
    assert_eq!(working(&world).await, keys(["b"]));
}

#[tokio::test(start_paused = true)]
async fn a_feed_that_waits_elsewhere_does_not_keep_the_others_waiting() {
    let world = site(&["https://feeds.example/a", "/b"]).await;
    world.web.answer("https://feeds.example/a", Ok(status(503)));
    world.web.serve(B, "text/xml", item("a"));
    assert_eq!(world.discover(HOME).await, 1);
    assert_eq!(working(&world).await, [key(B), key("https://feeds.example/a")]);
    assert_eq!(world.queued(QueueName::Poll).await.len(), 1, "the other feed is left to be polled");
}

#[tokio::test(start_paused = true)]
async fn h05_the_first_poll_after_discovery_is_conditional() {
    let world = site(&["/feed"]).await;
    let mut reply = text(item("a"));
    reply.headers.validators = Validators { etag: Some("\"1\"".into()), last_modified: None };
    world.web.keep("https://example.org/feed", reply);
    world.discover(HOME).await;
    world.sleep(Millis::from_hours(9)).await;
    world.poll(0).await;
    let conditional: Vec<bool> = world.calls(CallKind::Feed).iter().map(|c| !c.validators.is_empty()).collect();
    assert_eq!(conditional, [false, true]);
}

#[tokio::test(start_paused = true)]
async fn f04_discovery_revives_a_retired_feed_only_if_it_works_again() {
    for (answer, works) in [(410, false), (200, true)] {
        let world = waiting().await;
        world.with_feed(|feed| (feed.gone, feed.polling.reopened) = (true, true)).await;
        world.web.serve(HOME, "text/html", page(&["/feed"]));
        world.web.answer("https://example.org/feed", Ok(Reply { body: item("a").into(), ..status(answer) }));
        world.discover(HOME).await;
        let feed = world.feed().await;
        assert_eq!((feed.gone, feed.polling.reopened), (!works, true), "{answer}");
        assert_eq!(matches!(world.site(HOME).await.state, SiteState::Working { .. }), works);
    }
}

#[tokio::test(start_paused = true)]
async fn f04_a_feed_that_was_retired_a_moment_ago_is_not_called_by_the_discovery_that_follows() {
    let world = TestWorld::new();
    world.with_site(HOME, SiteState::Working { feeds: vec![key("https://example.org/feed")] }).await;
    world.with_feed(|feed| feed.site = Some(key(HOME))).await;
    world.web.serve(HOME, "text/html", page(&["/feed"]));
    world.web.answer("https://example.org/feed", Ok(status(410)));
    world.poll(0).await;
    assert!(world.feed().await.gone);
    world.sleep(Millis::from_mins(20)).await;
    world.discover(HOME).await;
    let feeds = || world.calls(CallKind::Feed).into_iter().filter(|call| call.url.ends_with("org/feed")).count();
    assert!(matches!(world.site(HOME).await.state, SiteState::Feedless { .. }));
    assert_eq!(feeds(), 1, "the feed is called neither by its link nor as a usual address");
    world.sleep(Millis::from_days(8)).await;
    world.discover(HOME).await;
    assert_eq!(feeds(), 2, "the feed may exist again");
}

#[tokio::test(start_paused = true)]
async fn a_home_page_in_trouble_is_left_alone_for_days_and_then_called_again() {
    for (answer, days) in [(403, 3), (500, 2), (503, 2)] {
        let world = waiting().await;
        world.web.answer(HOME, Ok(status(answer)));
        world.web.serve(HOME, "text/html", page(&["/a"]));
        world.web.serve(A, "text/xml", item("a"));
        let began = world.now();
        world.discover(HOME).await;
        assert!(world.now() >= began + Millis::from_days(days), "{answer}");
        assert_eq!(world.calls(CallKind::Home).len(), 2, "{answer}");
        assert_eq!(working(&world).await, [key(A)], "{answer}");
    }
}

#[tokio::test(start_paused = true)]
async fn p15_files_that_no_standard_knows_are_not_asked_for() {
    let world = site(&["/feed"]).await;
    world.web.serve("https://example.org/feed", "text/xml", item("a"));
    world.web.serve(A, "text/html", page(&[]));
    world.discover(HOME).await;
    for (visit, _) in world.visits().await {
        world.fetch(&visit).await;
    }
    assert_eq!(addresses(&world), urls(["robots.txt", "", "feed", "a"]));
}

#[tokio::test(start_paused = true)]
async fn a_feed_of_comments_is_taken_only_where_there_is_no_other_one() {
    for (links, expected) in [(vec!["/comments/feed", "/a"], "/a"), (vec!["/comments/feed"], "/comments/feed")] {
        let world = site(&links).await;
        for link in &links {
            world.web.serve(&format!("https://example.org{link}"), "application/rss+xml", item(link));
        }
        world.discover(HOME).await;
        assert_eq!(working(&world).await, [key(&format!("https://example.org{expected}"))]);
        assert_eq!(world.calls(CallKind::Feed).len(), 1, "only the expected feed is called");
    }
}

#[tokio::test(start_paused = true)]
async fn a_page_is_never_named_after_a_feed_of_comments() {
    for (url, title) in [
        ("https://example.org/comments/feed", "Waders of the bay"),
        ("https://example.org/feed/2", "Comments for Waders of the bay"),
    ] {
        let world = TestWorld::new();
        let main = "https://example.org/feed/1";
        let feeds = vec![key(url), key(main)];
        world.with_site(HOME, SiteState::Working { feeds }).await;
        for (url, title) in [(url, title), (main, "Waders")] {
            let slot = Slot::from_hash(0);
            let feed =
                FeedSource { title: Some(title.into()), site: Some(key(HOME)), ..FeedSource::new(key(url), slot, url) };
            assert!(world.sources.insert(&Source::Feed(feed)).await.unwrap());
        }
        world.serve_page(A, "");
        let visit = visit("example.org", &[A], &new());
        let site_image = Some("https://example.org/logo.png".to_owned());
        world.fetch(&VisitJob { feed: Some(key(url)), site_image, ..visit }).await;
        world.extract_all().await;
        assert_eq!(world.record(A).await.site_name.as_deref(), Some("Waders"), "{url}");
    }
}
