//! How the feeds of a site are found: in which order, with how many calls, and never twice.

use crate::house::{House, key, moved, rss, status};
use curlew_model::{DiscoverJob, Job, Millis, SiteState, Source, Stage as QueueName, Validators};
use curlew_ports::{CallKind, Reply, Sources};
use curlew_stages::stage::{Stage, Verdict};

const HOME: &str = "https://example.org/";

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

fn addresses(house: &House) -> Vec<String> {
    house.web.calls().into_iter().map(|call| call.url).collect()
}

async fn working(house: &House) -> Vec<curlew_model::SourceKey> {
    match house.site(HOME).await.state {
        SiteState::Working { feeds } => feeds,
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn discovery_asks_robots_first_then_home_once_and_takes_three_feeds_at_most_comments_last() {
    let house = House::new();
    house.with_site(HOME, SiteState::Waiting).await;
    let links = ["/comments/feed", "/a", "/b", "/c", "/d"];
    house.web.serve(HOME, "text/html", page(&links));
    for link in links {
        house.web.serve(&format!("https://example.org{link}"), "application/rss+xml", item(link));
    }
    assert_eq!(house.discover(HOME).await, 1);
    let expected = ["robots.txt", "", "a", "b", "c"].map(|path| format!("{HOME}{path}"));
    assert_eq!(addresses(&house), expected);
    assert_eq!(working(&house).await, ["a", "b", "c"].map(|path| key(&format!("{HOME}{path}"))));
}

#[tokio::test(start_paused = true)]
async fn discovery_of_a_usual_site_costs_two_to_four_calls() {
    for (links, calls) in [(vec!["/feed"], 3), (vec!["/feed", "/atom"], 4), (vec![], 3)] {
        let house = House::new();
        house.with_site(HOME, SiteState::Waiting).await;
        house.web.serve(HOME, "text/html", page(&links));
        house.web.serve("https://example.org/feed", "application/rss+xml", item("one"));
        house.web.serve("https://example.org/atom", "application/rss+xml", item("two"));
        house.discover(HOME).await;
        assert_eq!(house.web.calls().len(), calls, "{links:?}");
        assert!(!working(&house).await.is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn discovery_guesses_in_order_only_without_a_link_that_works_and_ends_with_the_first() {
    let house = House::new();
    house.with_site(HOME, SiteState::Waiting).await;
    house.web.serve(HOME, "text/html", page(&["/no-feed"]));
    house.web.serve("https://example.org/no-feed", "text/html", page(&[]));
    house.web.serve("https://example.org/rss", "text/html", page(&[]));
    house.web.serve("https://example.org/?feed=rss", "text/xml", item("a"));
    house.web.serve("https://example.org/rss.xml", "text/xml", item("a"));
    house.discover(HOME).await;
    let expected = ["robots.txt", "", "no-feed", "feed", "feed/atom", "rss", "?feed=rss"];
    assert_eq!(addresses(&house), expected.map(|path| format!("{HOME}{path}")));
    assert_eq!(working(&house).await, [key("https://example.org/?feed=rss")]);
}

#[tokio::test(start_paused = true)]
async fn discovery_goes_on_where_it_was_and_calls_the_home_page_once() {
    let house = House::new();
    house.with_site(HOME, SiteState::Waiting).await;
    house.web.serve(HOME, "text/html", page(&[]));
    house.web.answer("https://example.org/feed/atom", Ok(status(503)));
    house.web.serve("https://example.org/feed/atom", "application/rss+xml", rss(""));
    let discover = house.discover_stage();
    let job = DiscoverJob::new(key(HOME), HOME.into());
    assert_eq!(discover.run(&job).await.unwrap(), Verdict::Done);
    assert!(matches!(discover.run(&job).await.unwrap(), Verdict::Drop(_)), "a job that was sent twice calls nothing");
    let (next, due) = house.queued(QueueName::Discover).await.pop().unwrap();
    let Job::Discover(next) = next else { panic!("{next:?}") };
    assert_eq!((next.next_guess, next.deferrals), (Some(1), 1));
    house.politeness.clock.sleep(due.since(house.now())).await;
    discover.run(&next).await.unwrap();
    assert_eq!(house.calls(CallKind::Home).len(), 1, "the home page is called once");
    assert_eq!(working(&house).await, [key("https://example.org/feed/atom")]);
    assert!(matches!(discover.run(&next).await.unwrap(), Verdict::Drop(_)), "a site with a feed is not scanned again");
    house.politeness.clock.sleep(Millis::from_days(365)).await;
    let before = house.web.calls().len();
    house.dispatch_stage().tick().await.unwrap();
    assert!(matches!(discover.run(&job).await.unwrap(), Verdict::Drop(_)), "not even a year later");
    assert_eq!(house.web.calls().len(), before);
}

#[tokio::test(start_paused = true)]
async fn discovery_takes_one_feed_under_two_addresses_for_one() {
    for same_by in ["redirect", "content", "dialect"] {
        let house = House::new();
        house.with_site(HOME, SiteState::Waiting).await;
        house.web.serve(HOME, "text/html", page(&["/a", "/b", "/c"]));
        house.web.serve("https://example.org/a", "text/xml", item("one"));
        match same_by {
            "redirect" => house.web.answer("https://example.org/b", moved(302, "https://example.org/a")),
            "dialect" => house.web.serve("https://example.org/b", "application/atom+xml", atom("one")),
            _ => house.web.serve("https://example.org/b", "text/xml", item("one")),
        }
        house.web.serve("https://example.org/c", "text/xml", item("two"));
        house.discover(HOME).await;
        assert_eq!(working(&house).await, ["a", "c"].map(|path| key(&format!("{HOME}{path}"))), "{same_by}");
        assert_eq!(house.feed_at("https://example.org/b").await, None);
        assert_eq!(house.queued(QueueName::Fetch).await.len(), 2);
    }
}

#[tokio::test(start_paused = true)]
async fn discovery_keeps_what_moved_for_good_under_its_new_address() {
    let house = House::new();
    house.with_site(HOME, SiteState::Waiting).await;
    house.web.serve(HOME, "text/html", page(&["http://example.org/feed"]));
    house.web.answer("http://example.org/feed", moved(301, "https://example.org/feed"));
    house.web.serve("https://example.org/feed", "text/xml", item("a"));
    house.discover(HOME).await;
    assert_eq!(working(&house).await, [key("https://example.org/feed")]);
}

#[tokio::test(start_paused = true)]
async fn discovery_follows_two_redirects_and_ends_in_a_circle_at_once() {
    let house = House::new();
    house.with_site(HOME, SiteState::Waiting).await;
    house.web.serve(HOME, "text/html", page(&["/1", "/round"]));
    for (from, to) in [("1", "2"), ("2", "3"), ("3", "4"), ("round", "about"), ("about", "round")] {
        house.web.answer(&format!("{HOME}{from}"), moved(302, &format!("{HOME}{to}")));
    }
    house.web.serve("https://example.org/4", "text/xml", item("a"));
    house.discover(HOME).await;
    let expected = ["robots.txt", "", "1", "2", "3", "round", "about"].map(|path| format!("{HOME}{path}"));
    assert_eq!(addresses(&house)[..7], expected);
    assert!(matches!(house.site(HOME).await.state, SiteState::Feedless { .. }));
}

#[tokio::test(start_paused = true)]
async fn a_site_that_has_moved_its_home_is_looked_at_under_the_other_hosts_lease() {
    let house = House::new();
    house.with_site(HOME, SiteState::Waiting).await;
    let new = "https://new.example/";
    house.web.answer(HOME, moved(301, new));
    // Slow enough that no visit waits for its pauses within another visit's lease.
    house.web.serve("https://new.example/robots.txt", "text/plain", "User-agent: *\nCrawl-delay: 30\n");
    house.web.serve(new, "text/html", page(&["/a", "/b"]));
    house.web.serve("https://new.example/a", "text/xml", item("one"));
    house.web.serve("https://new.example/b", "text/xml", item("two"));
    house.discover(HOME).await;
    assert_eq!(working(&house).await, ["a", "b"].map(|path| key(&format!("{new}{path}"))));
    let homes = house.calls(CallKind::Home);
    assert_eq!(homes.len(), 2, "the redirect and its target, once each: {homes:?}");
}

#[tokio::test(start_paused = true)]
async fn r25_a_candidate_that_robots_forbids_is_not_called() {
    let house = House::new();
    house.with_site(HOME, SiteState::Waiting).await;
    house.web.serve("https://example.org/robots.txt", "text/plain", "User-agent: *\nDisallow: /feed\n");
    house.web.serve(HOME, "text/html", page(&["/feed", "/b"]));
    house.web.serve("https://example.org/b", "text/xml", item("a"));
    house.discover(HOME).await;
    assert!(addresses(&house).iter().all(|url| url != "https://example.org/feed"));
    assert_eq!(working(&house).await, [key("https://example.org/b")]);
}

#[tokio::test(start_paused = true)]
async fn a_feed_that_waits_elsewhere_does_not_keep_the_others_waiting() {
    let house = House::new();
    house.with_site(HOME, SiteState::Waiting).await;
    house.web.serve(HOME, "text/html", page(&["https://feeds.example/a", "/b"]));
    house.web.answer("https://feeds.example/a", Ok(status(503)));
    house.web.serve("https://example.org/b", "text/xml", item("a"));
    assert_eq!(house.discover(HOME).await, 1);
    assert_eq!(working(&house).await, [key("https://example.org/b"), key("https://feeds.example/a")]);
    assert_eq!(house.queued(QueueName::Poll).await.len(), 1, "the other one is left to be polled");
}

#[tokio::test(start_paused = true)]
async fn h05_the_first_poll_after_discovery_is_conditional() {
    let house = House::new();
    house.with_site(HOME, SiteState::Waiting).await;
    house.web.serve(HOME, "text/html", page(&["/feed"]));
    let mut reply = Reply { body: item("a").into(), ..status(200) };
    reply.headers.validators = Validators { etag: Some("\"1\"".into()), last_modified: None };
    house.web.keep("https://example.org/feed", reply);
    house.discover(HOME).await;
    house.politeness.clock.sleep(Millis::from_hours(9)).await;
    house.poll(0).await;
    let conditional: Vec<bool> = house.calls(CallKind::Feed).iter().map(|c| !c.validators.is_empty()).collect();
    assert_eq!(conditional, [false, true]);
}

#[tokio::test(start_paused = true)]
async fn f04_discovery_revives_a_retired_feed_only_if_it_works_again() {
    for (answer, works) in [(410, false), (200, true)] {
        let house = House::new();
        house.with_site(HOME, SiteState::Waiting).await;
        house.with_feed(|feed| (feed.gone, feed.polling.reopened) = (true, true)).await;
        house.web.serve(HOME, "text/html", page(&["/feed"]));
        house.web.answer("https://example.org/feed", Ok(Reply { body: item("a").into(), ..status(answer) }));
        house.discover(HOME).await;
        let feed = house.feed().await;
        assert_eq!((feed.gone, feed.polling.reopened), (!works, true), "{answer}");
        assert_eq!(matches!(house.site(HOME).await.state, SiteState::Working { .. }), works);
    }
}

#[tokio::test(start_paused = true)]
async fn a_home_page_in_trouble_is_left_alone_for_days_and_then_called_again() {
    for (answer, days) in [(403, 3), (500, 2), (503, 2)] {
        let house = House::new();
        house.with_site(HOME, SiteState::Waiting).await;
        house.web.answer(HOME, Ok(status(answer)));
        house.web.serve(HOME, "text/html", page(&["/a"]));
        house.web.serve("https://example.org/a", "text/xml", item("a"));
        let began = house.now();
        house.discover(HOME).await;
        assert!(house.now() >= began + Millis::from_days(days), "{answer}");
        assert_eq!(house.calls(CallKind::Home).len(), 2, "{answer}");
        assert_eq!(working(&house).await, [key("https://example.org/a")], "{answer}");
    }
}

#[tokio::test(start_paused = true)]
async fn p15_files_that_no_standard_knows_are_not_asked_for() {
    let house = House::new();
    house.with_site(HOME, SiteState::Waiting).await;
    house.web.serve(HOME, "text/html", page(&["/feed"]));
    house.web.serve("https://example.org/feed", "text/xml", item("a"));
    house.web.serve("https://example.org/a", "text/html", page(&[]));
    house.discover(HOME).await;
    for (job, _) in house.queued(QueueName::Fetch).await {
        let Job::Fetch(visit) = job else { panic!("{job:?}") };
        house.fetch(&visit).await;
    }
    assert_eq!(addresses(&house), ["robots.txt", "", "feed", "a"].map(|path| format!("{HOME}{path}")));
}

#[tokio::test(start_paused = true)]
async fn a_feed_of_comments_is_taken_only_where_there_is_no_other_one() {
    for (links, expected) in [(vec!["/comments/feed", "/a"], "/a"), (vec!["/comments/feed"], "/comments/feed")] {
        let house = House::new();
        house.with_site(HOME, SiteState::Waiting).await;
        house.web.serve(HOME, "text/html", page(&links));
        for link in &links {
            house.web.serve(&format!("https://example.org{link}"), "application/rss+xml", item(link));
        }
        house.discover(HOME).await;
        assert_eq!(working(&house).await, [key(&format!("https://example.org{expected}"))]);
        assert_eq!(house.calls(CallKind::Feed).len(), 1, "the other one is not called");
    }
}

#[tokio::test(start_paused = true)]
async fn a_page_is_never_named_after_a_feed_of_comments() {
    for (url, title) in [
        ("https://example.org/comments/feed", "Waders of the bay"),
        ("https://example.org/feed/2", "Comments for Waders of the bay"),
    ] {
        let house = House::new();
        let main = "https://example.org/feed/1";
        let feeds = vec![key(url), key(main)];
        house.with_site(HOME, SiteState::Working { feeds }).await;
        for (url, title) in [(url, title), (main, "Waders")] {
            let slot = curlew_model::Slot::of(0);
            let feed = curlew_model::FeedSource {
                title: Some(title.into()),
                site: Some(key(HOME)),
                ..curlew_model::FeedSource::new(key(url), slot, url)
            };
            assert!(house.sources.insert(&Source::Feed(feed)).await.unwrap());
        }
        let a = "https://example.org/a";
        house.web.serve(a, "text/html", crate::house::html(""));
        let visit = crate::house::visit("example.org", &[a], &crate::house::new());
        let site_image = Some("https://example.org/logo.png".to_owned());
        house.fetch(&curlew_model::VisitJob { feed: Some(key(url)), site_image, ..visit }).await;
        let queued = house.queued(QueueName::Extract).await;
        let [(Job::Extract(job), _)] = queued.as_slice() else { panic!("{queued:?}") };
        curlew_stages::stage::Stage::run(&house.extract(), job).await.unwrap();
        let Some(curlew_model::PageState::Accepted { location, .. }) = house.state(a).await else { panic!("{url}") };
        let record =
            curlew_stages::catalog::segment::RecordReader(house.blobs.as_ref()).read(&location).await.unwrap().unwrap();
        assert_eq!(record.site_name.as_deref(), Some("Waders"), "{url}");
    }
}
