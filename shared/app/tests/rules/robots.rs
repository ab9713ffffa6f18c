//! robots.txt and page directives as a visit obeys them: rules R and P of the table in `tests/politeness.md`.

use crate::test_world::*;

/// Returns a world in which the page `A` exists.
fn world() -> TestWorld {
    let world = TestWorld::new();
    world.serve_page(A, "");
    world
}

#[tokio::test(start_paused = true)]
async fn r01_each_scheme_host_and_port_is_asked_for_its_own_file() {
    let world = TestWorld::new();
    let origins = ["http://example.org", "https://example.org", "https://example.org:8443", "https://www.example.org"];
    let pages: Vec<String> = origins.iter().map(|origin| format!("{origin}/a")).collect();
    world.web.serve("https://www.example.org/robots.txt", "text/plain", "User-agent: *\nDisallow: /\n");
    pages.iter().for_each(|url| world.serve_page(url, ""));
    world.visit(&pages.iter().map(String::as_str).collect::<Vec<_>>()).await;
    let mut asked: Vec<String> = world.calls(CallKind::Robots).into_iter().map(|call| call.url).collect();
    asked.sort();
    let mut files: Vec<String> = origins.iter().map(|origin| format!("{origin}/robots.txt")).collect();
    files.sort();
    assert_eq!(asked, files);
    let seen: Vec<bool> = pages.iter().map(|url| world.called(url) > 0).collect();
    assert_eq!(seen, [true, true, true, false]);
}

#[tokio::test(start_paused = true)]
async fn r02_an_html_page_in_place_of_the_file_forbids_nothing() {
    let world = world();
    world.web.serve(ROBOTS, "text/html", "<html><body>Disallow: /</body></html>");
    world.visit(&[A]).await;
    assert!(world.called(A) > 0);
}

#[tokio::test(start_paused = true)]
async fn what_the_second_matcher_alone_refuses_is_not_called_and_the_reason_says_so() {
    let world = world();
    // Our own matcher cuts a line of this length before its pattern.
    let far = format!("User-agent: *\nDisallow:{}/a\n", " ".repeat(20_000));
    world.web.serve(ROBOTS, "text/plain", far);
    world.visit(&[A]).await;
    assert_eq!(world.called(A), 0);
    let why = world.rejection(A).await;
    assert_eq!(why, Some(Rejection::RobotsDoubted));
    assert!(why.is_some_and(|why| why.code() == "robots" && why.to_string().contains("texting_robots")));
}

#[tokio::test(start_paused = true)]
async fn r03_five_redirects_are_followed_and_the_rules_found_are_obeyed() {
    let world = world();
    world.web.answer(ROBOTS, moved(301, "/1"));
    for n in 1..=3 {
        world.web.answer(&format!("https://example.org/{n}"), moved(308, &format!("/{}", n + 1)));
    }
    // A redirect may lead to another host; the rules apply to the first host.
    world.web.answer("https://example.org/4", moved(308, "https://other.example/r.txt"));
    world.web.serve("https://other.example/r.txt", "text/plain", "User-agent: *\nDisallow: /a\n");
    world.visit(&[A]).await;
    assert_eq!(world.calls(CallKind::Robots).len(), 6);
    assert_eq!(world.rejection(A).await, Some(Rejection::Robots));
}

#[tokio::test(start_paused = true)]
async fn r04_a_sixth_redirect_a_circle_and_no_target_mean_that_there_is_no_file() {
    let six = |world: &TestWorld| {
        world.web.answer(ROBOTS, moved(302, "/1"));
        (1..=6).for_each(|n| world.web.answer(&format!("https://example.org/{n}"), moved(302, &format!("/{}", n + 1))));
    };
    let circle = |world: &TestWorld| {
        world.web.answer(ROBOTS, moved(302, "/1"));
        world.web.answer("https://example.org/1", moved(302, "/robots.txt"));
    };
    let nowhere = |world: &TestWorld| world.web.answer(ROBOTS, Ok(status(301)));
    type SetUp<'a> = (&'a dyn Fn(&TestWorld), usize);
    let cases: [SetUp<'_>; 3] = [(&six, 6), (&circle, 2), (&nowhere, 1)];
    for (set_up, calls) in cases {
        let world = world();
        set_up(&world);
        world.visit(&[A]).await;
        assert_eq!(world.calls(CallKind::Robots).len(), calls);
        assert!(world.called(A) > 0);
    }
}

#[tokio::test(start_paused = true)]
async fn r04_a_hop_that_may_not_be_called_is_out_of_reach_and_no_permission() {
    for target in ["https://127.0.0.1/r.txt", "ftp://example.org/r.txt", "https://u:p@example.org/r.txt"] {
        let world = world();
        world.web.refuse("https://127.0.0.1/r.txt");
        world.web.answer(ROBOTS, moved(302, target));
        world.visit(&[A]).await;
        assert_eq!(world.called(A), 0, "{target}");
        assert_eq!(world.queued(QueueName::Fetch).await.len(), 1, "{target}: the page waits");
    }
}

#[tokio::test(start_paused = true)]
async fn r05_r06_r07_most_4xx_mean_that_there_is_no_file_and_whatever_else_goes_wrong_allows_nothing() {
    for code in [400, 402, 404, 405, 410, 451] {
        let world = world();
        world.web.answer(ROBOTS, Ok(status(code)));
        world.visit(&[A]).await;
        assert!(world.called(A) > 0, "{code}");
    }
    let network = ["no such name", "the certificate is not valid", "the answer was cut short"];
    let answers = [401, 403, 429, 500, 503, 599, 206, 304].map(|code| Ok(status(code))).into_iter();
    let answers = answers.chain(network.map(|why| Err(FetchError::Network(why.into()))));
    for answer in
        answers.chain([Err(FetchError::Limit("too large".into())), Err(FetchError::Protocol("no HTTP".into()))])
    {
        let world = world();
        world.web.answer(ROBOTS, answer.clone());
        world.visit(&[A]).await;
        assert_eq!((world.called(A), world.state(A).await), (0, None), "{answer:?}: the page must stay undecided");
        let queued = world.queued(QueueName::Fetch).await;
        let [(rest, due)] = &queued[..] else { panic!("{answer:?}: {queued:?}") };
        if matches!(answer, Ok(Reply { status: 304, .. }) | Err(FetchError::Limit(_))) {
            assert!(rest.deferrals == 1 && due.since(world.now()) >= Millis::from_mins(59), "{answer:?}: {due}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn r08_r09_an_older_copy_stands_in_on_day_29_and_on_day_31_nothing_is_called() {
    for (waited, expected) in [(29, true), (31, false)] {
        let world = world();
        world.web.answer(ROBOTS, Ok(text("User-agent: *\nDisallow: /private\n")));
        world.web.answer(ROBOTS, Err(FetchError::Limit("too large".into())));
        world.visit(&["https://example.org/other"]).await;
        world.sleep(Millis::from_days(waited)).await;
        world.visit(&["https://example.org/private", A]).await;
        assert_eq!(world.called(A) > 0, expected, "day {waited}");
        assert_eq!(world.called("https://example.org/private"), 0, "day {waited}");
        let why = world.rejection("https://example.org/private").await;
        assert_eq!(why, expected.then_some(Rejection::Robots), "day {waited}");
    }
}

#[tokio::test(start_paused = true)]
async fn r10_a_copy_is_used_for_a_day_or_less_and_asked_for_again_by_its_validators() {
    let world = world();
    let mut first = text("User-agent: *\nDisallow: /private\n");
    first.headers.validators = Validators { etag: Some("\"1\"".into()), last_modified: None };
    first.headers.cache_control = Some("max-age=31536000".into());
    world.web.answer(ROBOTS, Ok(first));
    let mut unchanged = status(304);
    unchanged.headers.cache_control = Some("max-age=3600".into());
    world.web.answer(ROBOTS, Ok(unchanged));
    let asked = || world.calls(CallKind::Robots).len();
    world.visit(&[A]).await;
    world.sleep(Millis::from_hours(23)).await;
    world.visit(&[B]).await;
    assert_eq!(asked(), 1);
    world.sleep(Millis::from_hours(2)).await;
    world.visit(&["https://example.org/private"]).await;
    assert_eq!(asked(), 2, "a max-age of a year counts as a day");
    assert_eq!(world.calls(CallKind::Robots)[1].validators.etag.as_deref(), Some("\"1\""));
    assert_eq!(world.rejection("https://example.org/private").await, Some(Rejection::Robots), "a 304 renews the copy");
    world.sleep(Millis::from_mins(61)).await;
    world.visit(&[C]).await;
    assert_eq!(asked(), 3, "a max-age of an hour counts as an hour");
}

#[tokio::test(start_paused = true)]
async fn r10_what_another_process_has_asked_for_is_not_asked_for_again() {
    let one = world();
    one.visit(&[A]).await;
    let other = TestWorld::sharing(&one);
    other.web.serve(B, "text/html", html(""));
    other.visit(&[B]).await;
    assert!(other.called(B) > 0);
    assert_eq!(other.calls(CallKind::Robots).len(), 1, "one call for both processes: {:?}", other.web.calls());
}

#[tokio::test(start_paused = true)]
async fn r25_canonical_targets_and_images_are_asked_about_too() {
    let world = TestWorld::new();
    world.web.serve(ROBOTS, "text/plain", "User-agent: *\nDisallow: /private/\nDisallow: /images/\n");
    let head = "<link rel=canonical href=\"/private/a\"><meta property=\"og:image\" content=\"/images/a.png\">";
    world.serve_page(A, head);
    world.visit(&[A]).await;
    assert_eq!(world.state(A).await, Some(PageState::Pending));
    assert_eq!(world.state("https://example.org/private/a").await, None);
    assert!(world.calls(CallKind::Image).is_empty());
}

#[tokio::test(start_paused = true)]
async fn r25_feeds_and_sites_that_a_person_names_are_asked_about_too() {
    let world = TestWorld::new();
    world.web.serve(ROBOTS, "text/plain", "User-agent: *\nDisallow: /\n");
    world.web.serve(FEED, "application/rss+xml", rss(""));
    world.with_feed(|_| {}).await;
    world.poll(0).await;
    let suggest = suggest(&world);
    let home = suggest.site("example.org", true).await.unwrap();
    let discover = world.discover_stage();
    let Some((Job { work: Work::Discover(job), .. }, _)) = world.queued(QueueName::Discover).await.pop() else {
        panic!("no job was sent")
    };
    assert_eq!(discover.run(&Envelope::new(job)).await.unwrap(), Verdict::Done);
    assert!(world.web.calls().iter().all(|call| call.kind == CallKind::Robots), "{:?}", world.web.calls());
    let Some((Source::Site(site), _)) = world.sources.get(&home.key).await.unwrap() else { panic!("no site row") };
    assert!(matches!(site.state, SiteState::Feedless { reason } if reason.contains("robots.txt")));
    assert!(world.feed().await.trouble.is_some_and(|why| why.contains("robots.txt")));
}

#[tokio::test(start_paused = true)]
async fn r26_a_crawl_delay_that_a_visit_can_wait_for_slows_it_down() {
    for (delay, at_least) in [("10", 10_000), ("0.1", 500), ("180", 180_000)] {
        let world = world();
        world.web.serve(ROBOTS, "text/plain", format!("User-agent: *\nCrawl-delay: {delay}\n"));
        let began = world.now();
        world.visit(&[A]).await;
        // The time covers robots.txt, the pause, and the page.
        let took = world.now().since(began).0;
        assert!((at_least..at_least + 20_000).contains(&took), "{delay}: {took}");
        assert_eq!(world.web.calls().len(), 2);
    }
}

#[tokio::test(start_paused = true)]
async fn r26_a_host_with_a_long_crawl_delay_gets_one_call_a_visit_and_its_redirects_come_to_an_end() {
    for (delay, pause) in [("600", 600), ("86400", 600), ("400", 400)] {
        let world = TestWorld::new();
        let (www, b) = ("https://example.org/www-robots.txt", B);
        world.web.serve(ROBOTS, "text/plain", format!("User-agent: *\nCrawl-delay: {delay}\n"));
        world.web.answer(A, moved(301, "/b"));
        world.serve_page(b, "");
        let mut made = vec![];
        for _ in 0..3 {
            let began = world.now();
            world.visit(&[A]).await;
            made.push(world.web.calls().len());
            assert!(world.now().since(began) < Millis::from_mins(1), "no visit may wait for the pause");
            // It is too early, so no call is made.
            world.sleep(Millis::from_secs(pause / 2)).await;
            world.visit(&[A]).await;
            assert_eq!(world.web.calls().len(), *made.last().unwrap());
            world.sleep(Millis::from_secs(pause / 2 + 5)).await;
        }
        let calls = || world.web.calls().into_iter().map(|call| call.url).collect::<Vec<_>>();
        assert_eq!((made, calls()), (vec![1, 2, 3], vec![ROBOTS.into(), A.into(), b.into()]), "{delay}");
        assert_eq!(world.state(b).await, Some(PageState::Pending));
        let state = world.host_state("example.org").await;
        assert_eq!((state.crawl_delay, state.pending_redirect), (Millis::from_secs(pause), None));
        // A redirected robots.txt is read to the end, too, once its copy is too old.
        world.web.answer(ROBOTS, moved(301, www));
        world.web.serve(www, "text/plain", "User-agent: *\nDisallow: /b\n");
        // The fake web first gives the previous answer once more.
        world.sleep(Millis::from_days(2)).await;
        world.visit(&[C]).await;
        world.sleep(Millis::from_days(2)).await;
        for _ in 0..3 {
            world.visit(&[C]).await;
            world.sleep(Millis::from_secs(pause + 5)).await;
        }
        assert_eq!(calls()[4..], [ROBOTS.to_owned(), www.to_owned(), C.to_owned()], "{delay}");
    }
}

/// Returns a world with a page that was fetched, accepted and indexed.
async fn indexed(head: &str) -> TestWorld {
    let world = TestWorld::of_feed().await;
    world.serve_page(A, &format!("{head}{IMAGE}"));
    world.crawl(&[A]).await;
    assert_eq!(world.publish().await.added, 1);
    world
}

async fn found(world: &TestWorld) -> Vec<String> {
    let finder = world.finder();
    finder.find("curlew", Start::Offset(0), 10).await.unwrap().hits.into_iter().map(|hit| hit.snippet).collect()
}

pub(crate) async fn recheck(world: &TestWorld) {
    world.sleep(Millis::from_days(2)).await;
    world.recheck(A).await;
}

#[tokio::test(start_paused = true)]
async fn p04_noindex_that_appears_takes_the_page_out_when_a_second_look_confirms_it() {
    let world = indexed("").await;
    assert_eq!(found(&world).await.len(), 1);
    world.serve_page(A, "<meta name=curlewbot content=none>");
    recheck(&world).await;
    // The fake web serves each answer in turn, so the first re-check gets the first answer once more.
    recheck(&world).await;
    assert_eq!(found(&world).await.len(), 1, "a wall could have sent the noindex");
    recheck(&world).await;
    assert_eq!(world.gone(A).await, Some(Gone::Noindex));
    assert_eq!(found(&world).await.len(), 0);
    let segments = world.keys("segments/").await;
    let bytes = world.blobs.get(&segments[0]).await.unwrap().unwrap().bytes;
    assert!(!bytes.windows(4).any(|w| w == [0x28, 0xB5, 0x2F, 0xFD]), "no compressed frame is left");
}

#[tokio::test(start_paused = true)]
async fn p06_what_is_shown_of_a_page_is_what_it_allows() {
    let plain = found(&indexed("").await).await;
    assert!(plain[0].contains("curlew"), "{plain:?}");
    assert_eq!(found(&indexed("<meta name=robots content=nosnippet>").await).await, [""]);
    let short = found(&indexed("<meta name=robots content='max-snippet:12'>").await).await;
    assert!((1..=12).contains(&short[0].chars().count()), "{short:?}");
    let world = indexed("<meta name=robots content=noarchive>").await;
    let segments = world.keys("segments/").await;
    assert_eq!(segments.len(), 1);
    assert_eq!(found(&world).await.len(), 1, "the page is found, but no copy is offered");
}

#[tokio::test(start_paused = true)]
async fn p07_a_page_vanishes_at_its_time_by_itself_also_if_a_recheck_learned_of_it() {
    let directive = |date: &str| format!("<meta name=robots content=\"unavailable_after: {date}\">");
    let world = indexed(&directive("2026-11-25T00:00:00Z")).await;
    assert_eq!(found(&world).await.len(), 1);
    world.sleep(Millis::from_days(5)).await;
    assert_eq!(found(&world).await.len(), 0, "the page must vanish without a call");
    assert_eq!(world.index().expired(2026).await.unwrap(), [page(A)]);

    let world = indexed("").await;
    world.serve_page(A, &directive("2026-12-10T00:00:00Z"));
    recheck(&world).await;
    recheck(&world).await;
    assert!(world.is_accepted(A).await);
    assert_eq!(found(&world).await.len(), 1);
    let calls = world.web.calls().len();
    world.sleep(Millis::from_days(20)).await;
    assert_eq!(found(&world).await.len(), 0);
    assert_eq!(world.index().expired(2026).await.unwrap(), [page(A)]);
    assert_eq!(world.web.calls().len(), calls);

    // A directive that is withdrawn in time has no effect, nor has a malformed date.
    let world = indexed("").await;
    world.serve_page(A, &directive("2026-12-10T00:00:00Z"));
    world.serve_page(A, &directive("soon"));
    for _ in 0..3 {
        recheck(&world).await;
    }
    world.sleep(Millis::from_days(30)).await;
    assert_eq!(found(&world).await.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn p08_a_page_that_robots_txt_comes_to_forbid_leaves_the_index_without_a_call() {
    let world = indexed("").await;
    world.web.serve(ROBOTS, "text/plain", "User-agent: CurlewBot\nDisallow: /a\n");
    let before = world.calls(CallKind::Page).len();
    recheck(&world).await;
    assert_eq!(world.gone(A).await, Some(Gone::Robots));
    assert_eq!(world.calls(CallKind::Page).len(), before);
    assert!(found(&world).await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn robots_txt_and_meta_tags_of_the_operators_own_sites_may_be_left_aside() {
    use curlew_policy::politeness::scope::OwnHosts;
    let own = OwnHosts::read(&["example.org".to_owned()]).unwrap();
    let scope = Scope { robots_ignored: own.clone(), meta_ignored: own, ..Scope::default() };
    let world = TestWorld::with_scope(scope);
    world.web.serve(ROBOTS, "text/plain", "User-agent: *\nDisallow: /\n");
    world.web.serve("https://other.example/robots.txt", "text/plain", "User-agent: *\nDisallow: /\n");
    let noindex = "<meta name=robots content=noindex>";
    world.serve_page(A, noindex);
    world.visit(&[A]).await;
    assert!(world.calls(CallKind::Robots).is_empty());
    assert_eq!(world.state(A).await, Some(PageState::Pending));
    world.fetch(&visit("other.example", &["https://other.example/a"], &new())).await;
    assert_eq!(world.rejection("https://other.example/a").await, Some(Rejection::Robots));
}

pub(crate) fn suggest(world: &TestWorld) -> Suggest {
    Suggest { politeness: world.politeness.clone(), sources: world.sources.clone(), queue: world.jobs.clone() }
}
