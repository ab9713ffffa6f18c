//! The operator's exclusions, and preferences about the use of pages (rows P13 to P19).

/// Tests that excluded URLs are not called, whoever names them.
mod exclusions {
    use crate::robots::suggest;
    use crate::test_world::*;
    use curlew_policy::site::exclusions::{Exclusions, Lists};

    fn world() -> TestWorld {
        let lists = Lists {
            substrings: vec!["/text/".into()],
            prefixes: vec!["https://closed.example/".into()],
            patterns: vec![r"\?print=\d".into()],
            extensions: vec!["png".into(), "txt".into()],
        };
        let exclusions = Exclusions::compile(&lists).unwrap();
        TestWorld::with_scope(Scope { exclusions, ..Scope::default() })
    }

    fn says(reason: Option<Rejection>, rule: &str) {
        assert!(matches!(&reason, Some(Rejection::Excluded(why)) if why.contains(rule)), "{reason:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn an_entry_is_rejected_with_the_rule_at_intake_and_no_visit_is_sent() {
        let world = world();
        world.with_feed(|_| {}).await;
        let items =
            "<item><link>https://example.org/text/1</link></item><item><link>https://example.org/b</link></item>";
        world.web.serve(FEED, "application/rss+xml", rss(items));
        world.poll(0).await;
        says(world.rejection("https://example.org/text/1").await, "the substring '/text/'");
        let (job, _) = world.only_visit().await;
        assert_eq!(job.items.len(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_page_is_not_called_nor_is_what_it_redirects_to_nor_its_image() {
        let world = world();
        world.web.answer(A, moved(302, "https://example.org/b?print=1"));
        world.serve_page(C, IMAGE);
        world.visit(&["https://example.org/text/1", A, C]).await;
        says(world.rejection("https://example.org/text/1").await, "'/text/'");
        says(world.rejection(A).await, "the pattern");
        assert_eq!(world.state(C).await, Some(PageState::Pending));
        let kinds: Vec<CallKind> = world.web.calls().iter().map(|call| call.kind).collect();
        // robots.txt itself is called, since its rules are needed for the URLs that are not excluded.
        assert_eq!(kinds, [CallKind::Robots, CallKind::Page, CallKind::Page]);
    }

    #[tokio::test(start_paused = true)]
    async fn r04_a_robots_txt_that_leads_to_what_is_excluded_is_out_of_reach() {
        let world = world();
        world.serve_page(A, "");
        world.web.answer(ROBOTS, moved(301, "https://closed.example/r"));
        world.visit(&[A]).await;
        assert!(world.called(A) == 0 && world.called("https://closed.example/r") == 0);
    }

    #[tokio::test(start_paused = true)]
    async fn a_suggestion_is_refused_and_a_page_that_was_indexed_leaves_the_index() {
        let world = world();
        let error = suggest(&world).site("https://closed.example/", true).await.unwrap_err().to_string();
        assert!(error.contains("the prefix 'https://closed.example/'"), "{error}");
        assert!(suggest(&world).feed("https://example.org/text/feed", true).await.is_err());
        let url = "https://example.org/text/1";
        world.with_page(url, "example.org").await;
        world.recheck(url).await;
        assert!(world.web.calls().is_empty());
        assert_eq!(world.gone(url).await, Some(Gone::Excluded));
    }

    #[tokio::test(start_paused = true)]
    async fn a_feed_and_a_site_are_not_called() {
        let world = world();
        world.with_feed(|feed| feed.url = "https://example.org/text/feed".into()).await;
        world.poll(0).await;
        assert!(world.web.calls().is_empty());
        let Some((Source::Feed(feed), _)) = world.sources.get(&key(FEED)).await.unwrap() else { panic!("no feed") };
        assert!(feed.trouble.is_some_and(|why| why.contains("excluded by")));
    }
}

/// Tests of content signals and licences.
mod preferences {
    use crate::robots::recheck;
    use crate::test_world::*;

    fn says(reason: &Option<Rejection>, what: &str) {
        assert!(matches!(reason, Some(Rejection::Preference(why)) if why.contains(what)), "{reason:?}");
    }

    fn page_with(head: &str) -> Result<Reply, FetchError> {
        Ok(text(html(head)))
    }

    const RSL: &str = "https://example.org/license.xml";

    fn licence(usage: &str) -> String {
        let license = format!("<license><prohibits type=\"usage\">{usage}</prohibits></license>");
        format!("<rsl xmlns=\"https://rslstandard.org/rsl\"><content url=\"/\">{license}</content></rsl>")
    }

    #[tokio::test(start_paused = true)]
    async fn p16_robots_tag_is_heeded_beside_x_robots_tag() {
        let world = TestWorld::new();
        let mut reply = text(html(""));
        reply.headers.structured_robots_tags = vec!["*;nosnippet, CurlewBot;noindex".into()];
        world.web.answer(A, Ok(reply));
        world.visit(&[A]).await;
        assert_eq!(world.rejection(A).await, Some(Rejection::Noindex));
    }

    #[tokio::test(start_paused = true)]
    async fn p13_p17_a_content_signal_that_refuses_search_is_obeyed_and_the_rest_is_kept() {
        let world = TestWorld::new();
        let file = |search: &str| {
            format!(
                "User-agent: *\nContent-Signal: search={search}, ai-train=no, use=reference\n\
            Content-Signal: /closed/ search=no\nAllow: /\n"
            )
        };
        world.with_feed(|_| {}).await;
        let closed = "https://example.org/closed/a";
        world.web.serve(ROBOTS, "text/plain", file("yes"));
        world.web.answer(A, page_with(IMAGE));
        world.web.answer(closed, page_with(""));
        world.visit(&[A, closed]).await;
        says(&world.rejection(closed).await, "Content-Signal: search=no");
        world.extract_all().await;
        let kept = world.record(A).await.preferences;
        assert_eq!(kept.content_signal.as_deref(), Some("ai-train=no, search=yes, use=reference"));
        // A site that refuses search from now on loses its pages when they are re-checked.
        world.web.serve(ROBOTS, "text/plain", file("no"));
        recheck(&world).await;
        recheck(&world).await;
        assert_eq!(world.gone(A).await, Some(Gone::Preference));
    }

    #[tokio::test(start_paused = true)]
    async fn p18_the_licence_that_robots_txt_names_is_asked_before_the_pages_once_a_day() {
        let world = TestWorld::of_feed().await;
        world.web.serve(ROBOTS, "text/plain", format!("License: {RSL}\nUser-agent: *\nAllow: /\n"));
        world.web.serve(RSL, "application/rsl+xml", licence("ai-train"));
        world.web.answer(A, page_with(IMAGE));
        world.web.answer(B, page_with(""));
        world.visit(&[A, B]).await;
        let order: Vec<String> = world.web.calls().into_iter().map(|call| call.url).take(3).collect();
        assert_eq!(order, [ROBOTS, RSL, A]);
        assert_eq!(world.called(RSL), 1);
        world.extract_all().await;
        assert_eq!(world.record(A).await.preferences.license.as_deref(), Some(RSL));
        world.web.serve(RSL, "application/rsl+xml", licence("search"));
        recheck(&world).await;
        recheck(&world).await;
        assert_eq!(world.gone(A).await, Some(Gone::Preference));
        world.visit(&[C]).await;
        assert!(world.called(RSL) <= 3);
    }

    #[tokio::test(start_paused = true)]
    async fn p18_a_licence_that_a_page_names_or_holds_is_heeded_and_one_document_a_site_is_asked_for() {
        let link = |url: &str| format!("<link rel=license type=application/rsl+xml href={url}>");
        let world = TestWorld::new();
        world.web.serve(RSL, "application/rsl+xml", licence("all"));
        world.web.answer(A, page_with(&link("/license.xml")));
        let mut by_header = text(html(""));
        by_header.headers.links = vec![format!("<{RSL}>; rel=\"license\"; type=\"application/rsl+xml\"")];
        world.web.answer(B, Ok(by_header));
        // A second licence document is not called, and an unknown licence refuses nothing.
        let script = format!("<script type=\"application/rsl+xml\">{}</script>", licence("search"));
        world.web.answer(C, page_with(&script));
        world.visit(&[A, B, C]).await;
        says(&world.rejection(A).await, "prohibits search");
        says(&world.rejection(B).await, "prohibits search");
        says(&world.rejection(C).await, "in the page prohibits search");
        assert_eq!(world.called(RSL), 1);
        // A licence of another kind is no RSL licence.
        let free = "<link rel=license href=https://creativecommons.org/licenses/by/4.0/>";
        let plain = TestWorld::new();
        plain.web.answer(A, page_with(free));
        plain.visit(&[A]).await;
        assert_eq!(plain.state(A).await, Some(PageState::Pending));
        assert_eq!(plain.web.calls().len(), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn p18_pages_that_each_name_another_licence_cost_one_call_a_day_and_what_is_not_to_be_had_refuses_nothing() {
        let world = TestWorld::new();
        let urls: Vec<String> = (0..5).map(|n| format!("https://example.org/p{n}")).collect();
        for (n, url) in urls.iter().enumerate() {
            let head = format!("<link rel=license type=application/rsl+xml href=https://terms.example/{n}>");
            world.web.answer(url, page_with(&head));
        }
        world.web.answer("https://terms.example/0", Ok(status(503)));
        world.visit(&urls.iter().map(String::as_str).collect::<Vec<_>>()).await;
        let licences = world.web.calls().iter().filter(|call| call.url.starts_with("https://terms.example/")).count();
        assert_eq!(licences, 2, "only robots.txt of the other host and one document are called");
        assert_eq!(world.state(&urls[4]).await, Some(PageState::Pending));
        assert_eq!(world.host_state("example.org").await.hold, None);
    }

    #[tokio::test(start_paused = true)]
    async fn p18_a_host_with_a_long_crawl_delay_is_asked_for_the_licence_that_a_page_names_by_the_next_visit() {
        let world = TestWorld::new();
        world.web.serve(ROBOTS, "text/plain", "User-agent: *\nCrawl-delay: 600\n");
        world.web.serve(RSL, "application/rsl+xml", licence("search"));
        world.serve_page(A, "<link rel=license type=application/rsl+xml href=/license.xml>");
        for _ in 0..4 {
            world.visit(&[A]).await;
            world.sleep(Millis::from_secs(605)).await;
        }
        let order: Vec<String> = world.web.calls().into_iter().map(|call| call.url).collect();
        assert_eq!(order, [ROBOTS, A, RSL, A]);
        says(&world.rejection(A).await, "prohibits search");
    }

    #[tokio::test(start_paused = true)]
    async fn p18_a_wall_in_place_of_the_licence_neither_permits_nor_prohibits_and_the_pages_wait() {
        let file = format!("License: {RSL}\nUser-agent: *\nAllow: /\n");
        let anubis = "<html><script id=\"anubis_challenge\" type=\"application/json\">{}</script><p>Wait.</p></html>";
        let wall = text(anubis);
        for answer in [wall, status(202), status(402), status(403), status(429), status(451)] {
            let code = answer.status;
            let world = TestWorld::new();
            world.web.serve(ROBOTS, "text/plain", file.clone());
            world.web.keep(RSL, answer);
            world.web.answer(A, page_with(IMAGE));
            world.visit(&[A]).await;
            assert_eq!((world.state(A).await, world.called(A)), (None, 0), "{code}: the page must wait");
            for _ in 0..20 {
                let Some((job, due)) = world.queued(QueueName::Fetch).await.pop() else { panic!("{code}") };
                assert!(due.since(world.now()) >= Millis::from_hours(23), "{code}: at most one call a day");
                run_at(&world, due).await;
                assert_eq!((job.deferrals, world.called(A)), (0, 0), "{code}");
            }
            world.web.keep(RSL, text(licence("ai-train")));
            for _ in 0..2 {
                let Some((_, due)) = world.queued(QueueName::Fetch).await.pop() else { break };
                run_at(&world, due).await;
            }
            assert_eq!(world.state(A).await, Some(PageState::Pending), "{code}: the licence permits it");
        }
    }

    /// Runs the visits that are due at `at`.
    async fn run_at(world: &TestWorld, at: Timestamp) {
        world.sleep_until(at).await;
        world.run_due_visits().await;
    }

    #[tokio::test(start_paused = true)]
    async fn p18_what_a_licence_said_before_a_wall_stood_there_still_holds() {
        for (usage, left) in [("search", false), ("ai-train", true)] {
            let world = TestWorld::new();
            world.web.serve(ROBOTS, "text/plain", format!("License: {RSL}\nUser-agent: *\nAllow: /\n"));
            world.web.serve(RSL, "application/rsl+xml", licence(usage));
            world.web.answer(A, page_with(IMAGE));
            world.visit(&[A]).await;
            world.web.keep(RSL, status(402));
            world.sleep(Millis::from_days(2)).await;
            world.web.answer(B, page_with(IMAGE));
            world.visit(&[B]).await;
            assert_eq!(world.state(B).await == Some(PageState::Pending), left, "{usage}: {:?}", world.state(B).await);
            assert!(world.called(RSL) >= 2);
        }
    }
}
