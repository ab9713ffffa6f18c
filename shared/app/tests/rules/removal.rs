//! Removal of pages that are gone from the web, or were replaced or moved.

use crate::index::{accept, ask, removal, traces};
use crate::test_world::*;
use curlew_crawl::pages::sample::HowMany;
use curlew_people::audit::{Audit, Subject};

const TEXT: &str = "The curlew walks along the edge of the water and probes the mud for worms and small crabs. In spring \
    it sings over the moor, and in autumn it comes down to the coast again with its young of the year.";

fn document(title: &str, text: &str) -> Reply {
    let body = format!(
        "<html><head><title>{title}</title></head><body><article><h1>{title}</h1><p>{text}</p></article></body></html>"
    );
    html_reply(body)
}

async fn indexed() -> TestWorld {
    let world = TestWorld::new();
    accept(&world, "a", TEXT).await;
    accept(&world, "b", "A curlew is a curlew.").await;
    world.publish().await;
    world
}

async fn recheck(world: &TestWorld, reply: Result<Reply, FetchError>) -> Option<PageState> {
    world.sleep(Millis::from_days(2)).await;
    match reply {
        Ok(reply) => world.web.keep(A, reply),
        error => world.web.answer(A, error),
    }
    let job = Job::new(visit("example.org", &[A], &Purpose::Recheck)).traced(Some(chain()));
    world.fetch(&job).await;
    world.state(A).await
}

/// Returns the chain of jobs that the re-checks belong to.
pub(crate) fn chain() -> TraceId {
    trace::of_recheck(&host("example.org"), Timestamp::from_millis(1_795_000_000_000))
}

async fn row_of(world: &TestWorld) -> Page {
    world.row(A).await
}

fn is_there(state: Option<PageState>) -> bool {
    matches!(state, Some(PageState::Accepted { .. }))
}

#[tokio::test(start_paused = true)]
async fn what_stands_in_place_of_a_page_needs_a_second_look_to_remove_it() {
    for (title, text) in [
        ("Waders of the north", "Welcome! These are our newest articles, pictures of the moor, and the shop."),
        ("Page not found", "We looked everywhere and there was nothing. Try the search, or go to the start page."),
        ("Page a", "Sorry, this page does not exist any more."),
    ] {
        let world = indexed().await;
        assert!(is_there(recheck(&world, Ok(document(title, text))).await), "{title}: one look is not enough");
        assert_eq!(ask(&world, "curlew").await.total, 2);
        let (job, due) = world.only_visit().await;
        assert!(due.since(world.now()) > Millis::from_hours(20) && job.items[0].purpose == Purpose::Recheck);
        assert!(is_there(recheck(&world, Ok(document(title, text))).await), "a wall may stand before all pages");
        world.web.keep(B, document("Page b", "A curlew is a curlew."));
        world.recheck(B).await;
        assert_eq!(recheck(&world, Ok(document(title, text))).await, Some(PageState::Gone { reason: Gone::Replaced }));
        assert_eq!(ask(&world, "curlew").await.total, 1, "{title}");
        assert_eq!(world.keys("audit/").await.len(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_doubt_that_was_wrong_is_forgotten() {
    let world = indexed().await;
    recheck(&world, Ok(document("Closed for maintenance", "We are back tomorrow."))).await;
    assert!(row_of(&world).await.doubted_at.is_some());
    // The visit runs twice, which counts as one look.
    world.recheck(A).await;
    assert!(is_there(world.state(A).await));
    assert!(is_there(recheck(&world, Ok(document("Page a", TEXT))).await));
    let known = row_of(&world).await;
    assert_eq!((known.doubted_at, known.checked_at), (None, Some(world.now())));
    // An article that was rewritten, or became shorter, is still the same article.
    let shorter = format!("{} And more.", &TEXT[..90]);
    for (title, text) in
        [("A new title", shorter.as_str()), ("Page a", "All of it in other words, as much had changed.")]
    {
        assert!(is_there(recheck(&world, Ok(document(title, text))).await));
        assert_eq!(row_of(&world).await.doubted_at, None, "{title}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_page_that_has_moved_for_good_goes_and_is_taken_in_where_it_is_now() {
    let world = indexed().await;
    world.web.serve("https://example.org/new", "text/html", document("Page a", TEXT).body);
    assert_eq!(
        recheck(&world, moved(301, "https://example.org/new")).await,
        Some(PageState::Gone { reason: Gone::Moved })
    );
    let next = world.queued(QueueName::Fetch).await;
    let [(Job { work: Work::Fetch(job), trace, .. }, _)] = next.as_slice() else { panic!("{next:?}") };
    assert_eq!((job.items[0].url.as_str(), &job.items[0].purpose), ("https://example.org/new", &new()));
    assert_eq!(*trace, Some(chain()), "it follows from the re-check");

    // After a temporary redirect, or one to the home page, a second look decides.
    for (code, to, reason) in [(302, "https://example.org/new", Gone::Moved), (301, HOME, Gone::Replaced)] {
        let world = indexed().await;
        world.web.serve(to, "text/html", document("Page a", TEXT).body);
        assert!(is_there(recheck(&world, moved(code, to)).await), "{code}");
        assert_eq!(recheck(&world, moved(code, to)).await, Some(PageState::Gone { reason }), "{code}");
    }

    // The answer of a temporary redirect's target is not final, not even that it may not be called.
    let login = "https://example.org/login?next=/a";
    for (reply, reason) in [(status(404), Gone::NotFound), (status(410), Gone::Gone)] {
        let world = indexed().await;
        world.web.keep(B, document("Page b", "A curlew is a curlew."));
        world.web.keep(login, reply);
        assert!(is_there(recheck(&world, moved(302, login)).await), "{reason:?}");
        world.recheck(B).await;
        assert_eq!(recheck(&world, moved(302, login)).await, Some(PageState::Gone { reason }));
    }
    let world = indexed().await;
    world.web.serve(ROBOTS, "text/plain", "User-agent: *\nDisallow: /login");
    assert!(is_there(recheck(&world, moved(302, login)).await), "robots.txt forbids only the login page");

    // A redirect to a page that names the first URL as canonical changes nothing.
    let world = indexed().await;
    let to = "https://example.org/a?session=7";
    let body = String::from_utf8(document("Page a", TEXT).body.to_vec()).unwrap();
    world.web.serve(to, "text/html", body.replace("</head>", &format!("<link rel=canonical href=\"{A}\"></head>")));
    assert!(is_there(recheck(&world, moved(301, to)).await));
    assert_eq!(row_of(&world).await.doubted_at, None);
}

/// If a server is asked about one URL with the validators of another, it says that nothing has changed.
#[tokio::test(start_paused = true)]
async fn validators_are_those_of_one_address() {
    let world = TestWorld::new();
    let known = Validators { etag: Some("\"1\"".into()), last_modified: None };
    let with = |mut reply: Reply| {
        reply.headers.validators.clone_from(&known);
        reply
    };
    world.web.keep(A, with(document("Page a", TEXT)));
    accept(&world, "a", TEXT).await;
    world.change_page(&page(A), |row| row.validators = known.clone()).await;
    world.web.keep(HOME, with(document("Waders of the north", "Welcome to our newest articles.")));
    assert!(is_there(recheck(&world, moved(301, HOME)).await));
    let sent: Vec<_> =
        world.web.calls().into_iter().rev().take(2).map(|call| (call.url, call.validators.is_empty())).collect();
    assert_eq!(sent, [(HOME.to_owned(), true), (A.to_owned(), false)]);
    assert!(row_of(&world).await.doubted_at.is_some());
}

#[tokio::test(start_paused = true)]
async fn trouble_of_a_server_or_of_the_network_removes_nothing() {
    for reply in
        [Ok(status(500)), Ok(status(503)), Ok(status(401)), Ok(status(429)), Err(FetchError::Network("gone".into()))]
    {
        let world = indexed().await;
        assert!(is_there(recheck(&world, reply).await));
        assert_eq!(ask(&world, "curlew").await.total, 2);
        assert_eq!(row_of(&world).await.doubted_at, None);
    }
}

#[tokio::test(start_paused = true)]
async fn a_page_answering_410_is_not_found_by_the_next_query_and_its_record_is_erased_at_once() {
    let world = TestWorld::new();
    accept(&world, "a", "The xylomarimbula of Quillfeather.").await;
    world.publish().await;
    let words = ["xylomarimbul", "quillfeath"];
    assert_eq!(traces(&world, &words).await.len(), 2, "the segment and the split have the text");
    recheck(&world, Ok(status(410))).await;
    assert_eq!(ask(&world, "xylomarimbula").await.total, 0);
    assert_eq!(traces(&world, &words).await.len(), 1, "only the split has the text");

    // The audit reports the removal for the page and for its host, and finally that the page is gone for good.
    let audit = Audit { blobs: world.blobs.clone(), pages: world.pages.clone() };
    for subject in [Subject::read(A), Subject::read("example.org"), Subject::read(page(A).as_str())] {
        let report = audit.report(&subject.unwrap()).await.unwrap();
        assert_eq!((report.pages.len(), report.removed.len(), report.records, report.indexed), (1, 1, 0, 1));
        assert_eq!(
            (report.removed[0]["reason"].as_str(), report.left.len(), report.left[0].hidden),
            (Some("gone"), 1, true)
        );
        assert!(report.removed[0]["accepted"].is_string());
    }
    world.index().refresh(2026).await.unwrap();
    world.sleep(Millis::from_hours(25)).await;
    world.publish().await;
    let report = audit.report(&Subject::read(A).unwrap()).await.unwrap();
    assert!(report.left.is_empty() && report.indexed == 0 && report.is_clean());
    assert!(audit.report(&Subject::read("https://example.org/never").unwrap()).await.unwrap().is_empty());
    for nothing in ["", "a b", "host/path", "ftp://x/"] {
        assert_eq!(Subject::read(nothing), None, "{nothing}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_page_whose_record_is_damaged_is_hidden_all_the_same() {
    let world = indexed().await;
    let PageState::Accepted { location, .. } = row_of(&world).await.state else { panic!("the page must be accepted") };
    world.blobs.put(location.segment.as_str(), "damaged".into()).await.unwrap();
    assert_eq!(ask(&world, "curlew").await.total, 2);
    let error = removal(&world).remove(&page(A), Gone::NotFound).await.unwrap_err();
    assert!(matches!(error, StageError::Port(PortError::Corrupt { .. })), "a person must be told: {error:?}");
    assert_eq!(ask(&world, "curlew").await.total, 1);
}

#[tokio::test(start_paused = true)]
async fn in_a_simulated_year_of_samples_every_page_has_its_turn_twice() {
    let world = TestWorld::new();
    let template = accepted(A);
    let mut ids = vec![];
    for n in 0..1_500 {
        let url = format!("https://h{}.example/{n}", n % 40);
        // One row in three is of a page that is still pending.
        let state = if n % 3 == 0 { PageState::Pending } else { template.state.clone() };
        let host = HostKey::new(&format!("h{}.example", n % 40)).unwrap();
        let row = Page { id: page(&url), url, host, at: world.now(), state, ..template.clone() };
        if n % 3 > 0 {
            ids.push(row.id.clone());
        }
        world.pages.insert(&row).await.unwrap();
    }
    let sample = world.sample();
    let a_day = curlew_policy::page::sampling::a_day(ids.len() as u64, 0);
    assert_eq!(a_day, 7);
    let mut last: BTreeMap<PageId, (Millis, u32)> = ids.iter().map(|id| (id.clone(), (Millis::ZERO, 0))).collect();
    let (begin, mut longest, mut all) = (world.now(), Millis::ZERO, 0);
    for _ in 0..365 {
        all += sample.run(HowMany::Daily(a_day)).await.unwrap().indexed;
        let now = world.now().since(begin);
        for delivery in Inbox::receive(world.jobs.as_ref(), QueueName::Fetch, 99, Millis(1), world.now()).await.unwrap()
        {
            let Ok(Job { work: Work::Fetch(job), trace, .. }) = &delivery.job else { panic!("a visit") };
            assert_eq!(*trace, Some(trace::of_recheck(&job.host, world.now())), "one chain per host key");
            for item in &job.items {
                let (seen, times) = last.get_mut(&item.page).unwrap();
                longest = longest.max(Millis(now.0 - seen.0));
                (*seen, *times) = (now, *times + 1);
                world.change_page(&item.page, |row| row.checked_at = Some(world.now())).await;
            }
            Inbox::ack(world.jobs.as_ref(), &delivery.receipt).await.unwrap();
        }
        world.sleep(Millis::from_days(1)).await;
    }
    let least = last.values().map(|(_, times)| *times).min().unwrap();
    assert!(least >= 2, "{least}");
    assert!(longest <= Millis::from_days(182), "{longest:?}");
    assert!(all < 365 * 10, "{all} re-checks, the rate must hold");
}
