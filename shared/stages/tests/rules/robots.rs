//! robots.txt and page directives as a visit keeps to them: rows R and P of the rules of etiquette.

use crate::house::{FEED, House, host, html, moved, new, page, rss, status, visit};
use curlew_model::{
    Gone, Job, Millis, PageState, Purpose, Rejection, SiteState, Source, Stage as QueueName, Validators,
};
use curlew_ports::{Blobs, CallKind, FetchError, HostLedger, Reply, Sources};
use curlew_stages::catalog::find::Finder;
use curlew_stages::catalog::results::Start;
use curlew_stages::feeds::discover::Discover;
use curlew_stages::operator::suggest::Suggest;
use curlew_stages::stage::{Stage, Verdict};

pub(crate) const ROBOTS: &str = "https://example.org/robots.txt";
pub(crate) const A: &str = "https://example.org/a";

/// A house whose page `A` is there.
fn house() -> House {
    let house = House::new();
    house.web.serve(A, "text/html", html(""));
    house
}

pub(crate) async fn days(house: &House, days: u64) {
    house.politeness.clock.sleep(Millis::from_days(days)).await;
}

pub(crate) async fn fetch(house: &House, urls: &[&str]) {
    house.fetch(&visit("example.org", urls, &new())).await;
}

/// Whether a page was called.
pub(crate) fn called(house: &House, url: &str) -> bool {
    house.web.calls().iter().any(|call| call.url == url)
}

pub(crate) async fn rejected(house: &House, url: &str) -> Option<Rejection> {
    match house.state(url).await {
        Some(PageState::Rejected { reason }) => Some(reason),
        _ => None,
    }
}

pub(crate) fn text(body: &str) -> Reply {
    Reply { body: body.to_owned().into(), ..status(200) }
}

#[tokio::test(start_paused = true)]
async fn r01_each_scheme_host_and_port_is_asked_for_its_own_file() {
    let house = House::new();
    let origins = ["http://example.org", "https://example.org", "https://example.org:8443", "https://www.example.org"];
    let pages: Vec<String> = origins.iter().map(|origin| format!("{origin}/a")).collect();
    house.web.serve("https://www.example.org/robots.txt", "text/plain", "User-agent: *\nDisallow: /\n");
    pages.iter().for_each(|url| house.web.serve(url, "text/html", html("")));
    fetch(&house, &pages.iter().map(String::as_str).collect::<Vec<_>>()).await;
    let mut asked: Vec<String> = house.calls(CallKind::Robots).into_iter().map(|call| call.url).collect();
    asked.sort();
    let mut files: Vec<String> = origins.iter().map(|origin| format!("{origin}/robots.txt")).collect();
    files.sort();
    assert_eq!(asked, files);
    let seen: Vec<bool> = pages.iter().map(|url| called(&house, url)).collect();
    assert_eq!(seen, [true, true, true, false]);
}

#[tokio::test(start_paused = true)]
async fn r02_an_html_page_in_place_of_the_file_forbids_nothing() {
    let house = house();
    house.web.serve(ROBOTS, "text/html", "<html><body>Disallow: /</body></html>");
    fetch(&house, &[A]).await;
    assert!(called(&house, A));
}

#[tokio::test(start_paused = true)]
async fn r03_five_redirects_are_followed_and_the_rules_found_are_obeyed() {
    let house = house();
    house.web.answer(ROBOTS, moved(301, "/1"));
    for n in 1..=4 {
        house.web.answer(&format!("https://example.org/{n}"), moved(308, &format!("/{}", n + 1)));
    }
    house.web.serve("https://example.org/5", "text/plain", "User-agent: *\nDisallow: /a\n");
    fetch(&house, &[A]).await;
    assert_eq!(house.calls(CallKind::Robots).len(), 6);
    assert_eq!(rejected(&house, A).await, Some(Rejection::Robots));
}

#[tokio::test(start_paused = true)]
async fn r04_a_sixth_redirect_a_circle_and_no_target_mean_that_there_is_no_file() {
    let six = |house: &House| {
        house.web.answer(ROBOTS, moved(302, "/1"));
        (1..=6).for_each(|n| house.web.answer(&format!("https://example.org/{n}"), moved(302, &format!("/{}", n + 1))));
    };
    let circle = |house: &House| {
        house.web.answer(ROBOTS, moved(302, "/1"));
        house.web.answer("https://example.org/1", moved(302, "/robots.txt"));
    };
    let nowhere = |house: &House| house.web.answer(ROBOTS, Ok(status(301)));
    type SetUp<'a> = (&'a dyn Fn(&House), usize);
    let cases: [SetUp<'_>; 3] = [(&six, 6), (&circle, 2), (&nowhere, 1)];
    for (set_up, calls) in cases {
        let house = house();
        set_up(&house);
        fetch(&house, &[A]).await;
        assert_eq!(house.calls(CallKind::Robots).len(), calls);
        assert!(called(&house, A));
    }
}

#[tokio::test(start_paused = true)]
async fn r04_a_hop_that_may_not_be_called_is_out_of_reach_and_no_permission() {
    for target in ["https://127.0.0.1/r.txt", "ftp://example.org/r.txt", "https://u:p@example.org/r.txt"] {
        let house = house();
        house.web.refuse("https://127.0.0.1/r.txt");
        house.web.answer(ROBOTS, moved(302, target));
        fetch(&house, &[A]).await;
        assert!(!called(&house, A), "{target}");
        assert_eq!(house.queued(QueueName::Fetch).await.len(), 1, "{target}: the page waits");
    }
}

#[tokio::test(start_paused = true)]
async fn r05_what_4xx_means() {
    for code in [400, 402, 404, 405, 410, 451] {
        let house = house();
        house.web.answer(ROBOTS, Ok(status(code)));
        fetch(&house, &[A]).await;
        assert!(called(&house, A), "{code}");
    }
    for code in [401, 403, 429] {
        let house = house();
        house.web.answer(ROBOTS, Ok(status(code)));
        fetch(&house, &[A]).await;
        assert!(!called(&house, A), "{code}");
    }
}

#[tokio::test(start_paused = true)]
async fn r06_r07_whatever_goes_wrong_allows_nothing() {
    for answer in [
        Ok(status(500)),
        Ok(status(503)),
        Ok(status(599)),
        Ok(status(206)),
        Ok(status(304)),
        Err(FetchError::Network("no such name".into())),
        Err(FetchError::Network("the certificate is not valid".into())),
        Err(FetchError::Network("the answer was cut short".into())),
        Err(FetchError::Limit("too slow".into())),
        Err(FetchError::Protocol("no HTTP".into())),
    ] {
        let house = house();
        house.web.answer(ROBOTS, answer.clone());
        fetch(&house, &[A]).await;
        assert!(!called(&house, A), "{answer:?}");
        assert_eq!(house.state(A).await, None, "{answer:?}: and nothing is decided about the page");
        assert_eq!(house.queued(QueueName::Fetch).await.len(), 1, "{answer:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn r08_r09_an_older_copy_stands_in_on_day_29_and_on_day_31_nothing_is_called() {
    for (waited, expected) in [(29, true), (31, false)] {
        let house = house();
        house.web.answer(ROBOTS, Ok(text("User-agent: *\nDisallow: /private\n")));
        house.web.answer(ROBOTS, Err(FetchError::Limit("too large".into())));
        fetch(&house, &["https://example.org/other"]).await;
        days(&house, waited).await;
        fetch(&house, &["https://example.org/private", A]).await;
        assert_eq!(called(&house, A), expected, "day {waited}");
        assert!(!called(&house, "https://example.org/private"), "day {waited}");
    }
}

#[tokio::test(start_paused = true)]
async fn r10_a_copy_is_used_for_a_day_or_less_and_asked_for_again_by_its_validators() {
    let house = house();
    let mut first = text("User-agent: *\nDisallow: /private\n");
    first.headers.validators = Validators { etag: Some("\"1\"".into()), last_modified: None };
    first.headers.cache_control = Some("max-age=31536000".into());
    house.web.answer(ROBOTS, Ok(first));
    let mut unchanged = status(304);
    unchanged.headers.cache_control = Some("max-age=3600".into());
    house.web.answer(ROBOTS, Ok(unchanged));
    let asked = || house.calls(CallKind::Robots).len();
    fetch(&house, &[A]).await;
    house.politeness.clock.sleep(Millis::from_hours(23)).await;
    fetch(&house, &["https://example.org/b"]).await;
    assert_eq!(asked(), 1);
    house.politeness.clock.sleep(Millis::from_hours(2)).await;
    fetch(&house, &["https://example.org/private"]).await;
    assert_eq!(asked(), 2, "a year is a day");
    assert_eq!(house.calls(CallKind::Robots)[1].validators.etag.as_deref(), Some("\"1\""));
    assert_eq!(
        rejected(&house, "https://example.org/private").await,
        Some(Rejection::Robots),
        "304: the copy holds on"
    );
    house.politeness.clock.sleep(Millis::from_mins(61)).await;
    fetch(&house, &["https://example.org/c"]).await;
    assert_eq!(asked(), 3, "and an hour is an hour");
}

#[tokio::test(start_paused = true)]
async fn r10_what_another_process_has_asked_for_is_not_asked_for_again() {
    let one = house();
    fetch(&one, &[A]).await;
    let other = House::sharing(&one);
    other.web.serve("https://example.org/b", "text/html", html(""));
    fetch(&other, &["https://example.org/b"]).await;
    assert!(called(&other, "https://example.org/b"));
    assert_eq!(other.calls(CallKind::Robots).len(), 1, "one call in all: {:?}", other.web.calls());
}

#[tokio::test(start_paused = true)]
async fn r25_canonical_targets_and_images_are_asked_about_too() {
    let house = House::new();
    house.web.serve(ROBOTS, "text/plain", "User-agent: *\nDisallow: /private/\nDisallow: /images/\n");
    let head = "<link rel=canonical href=\"/private/a\"><meta property=\"og:image\" content=\"/images/a.png\">";
    house.web.serve(A, "text/html", html(head));
    fetch(&house, &[A]).await;
    assert_eq!(house.state(A).await, Some(PageState::Pending));
    assert_eq!(house.state("https://example.org/private/a").await, None);
    assert!(house.calls(CallKind::Image).is_empty());
}

#[tokio::test(start_paused = true)]
async fn r25_feeds_and_sites_that_a_person_names_are_asked_about_too() {
    let house = House::new();
    house.web.serve(ROBOTS, "text/plain", "User-agent: *\nDisallow: /\n");
    house.web.serve(FEED, "application/rss+xml", rss(""));
    house.with_feed(|_| {}).await;
    house.poll(0).await;
    let suggest = suggest(&house);
    let home = suggest.site("example.org", true).await.unwrap();
    let discover = Discover::new(
        house.politeness.clone(),
        house.sources.clone(),
        house.pages.clone(),
        house.jobs.clone(),
        house.blobs.clone(),
    );
    let Some((Job::Discover(job), _)) = house.queued(QueueName::Discover).await.pop() else { panic!("no job") };
    assert_eq!(discover.run(&job).await.unwrap(), Verdict::Done);
    assert!(house.web.calls().iter().all(|call| call.kind == CallKind::Robots), "{:?}", house.web.calls());
    let Some((Source::Site(site), _)) = house.sources.get(&home.key).await.unwrap() else { panic!("no site") };
    assert!(matches!(site.state, SiteState::Feedless { reason } if reason.contains("robots.txt")));
    assert!(house.feed().await.trouble.is_some_and(|why| why.contains("robots.txt")));
}

#[tokio::test(start_paused = true)]
async fn r26_crawl_delay_slows_down_and_one_of_a_day_is_the_cap_and_not_nothing() {
    for (delay, at_least) in [("10", 10_000), ("86400", 60_000), ("0.1", 500)] {
        let house = house();
        house.web.serve(ROBOTS, "text/plain", format!("User-agent: *\nCrawl-delay: {delay}\n"));
        let began = house.now();
        fetch(&house, &[A]).await;
        // robots.txt, the pause, the page.
        let took = house.now().since(began).0;
        assert!((at_least..at_least + 20_000).contains(&took), "{delay}: {took}");
        let (state, _) = house.hosts.load(&host("example.org")).await.unwrap();
        assert!(state.crawl_delay <= house.politeness.rules.crawl_delay_cap);
    }
}

/// A page that was fetched, accepted and indexed.
async fn indexed(head: &str) -> House {
    let house = House::new();
    house.with_feed(|_| {}).await;
    let head = format!("{head}<meta property=\"og:image\" content=\"https://example.org/i.png\">");
    house.web.serve(A, "text/html", html(&head));
    fetch(&house, &[A]).await;
    extract_all(&house).await;
    assert_eq!(house.index().publish(2026).await.unwrap().added, 1);
    house
}

pub(crate) async fn extract_all(house: &House) {
    let mut jobs = Vec::new();
    for (job, _) in house.queued(QueueName::Extract).await {
        if let Job::Extract(job) = job {
            jobs.push(*job);
        }
    }
    assert!(house.extract().run_batch(&jobs).await.iter().all(Result::is_ok));
}

async fn found(house: &House) -> Vec<String> {
    let finder = Finder::new(house.blobs.clone(), house.politeness.clock.clone());
    finder.find("curlew", Start::Offset(0), 10).await.unwrap().hits.into_iter().map(|hit| hit.snippet).collect()
}

pub(crate) async fn recheck(house: &House) {
    days(house, 2).await;
    house.fetch(&visit("example.org", &[A], &Purpose::Recheck)).await;
}

#[tokio::test(start_paused = true)]
async fn p04_noindex_that_appears_takes_the_page_out_when_a_second_look_confirms_it() {
    let house = indexed("").await;
    assert_eq!(found(&house).await.len(), 1);
    house.web.serve(A, "text/html", html("<meta name=curlewbot content=none>"));
    recheck(&house).await;
    // The first answer is given once more, since the fake gives each in turn.
    recheck(&house).await;
    assert_eq!(found(&house).await.len(), 1, "a wall would ask the same");
    recheck(&house).await;
    assert_eq!(house.state(A).await, Some(PageState::Gone { reason: Gone::Noindex }));
    assert_eq!(found(&house).await.len(), 0);
    let segments = house.blobs.list("segments/", None, 9).await.unwrap();
    let bytes = house.blobs.get(&segments[0]).await.unwrap().unwrap().bytes;
    assert!(!bytes.windows(4).any(|w| w == [0x28, 0xB5, 0x2F, 0xFD]), "no compressed frame is left");
}

#[tokio::test(start_paused = true)]
async fn p06_what_is_shown_of_a_page_is_what_it_allows() {
    let plain = found(&indexed("").await).await;
    assert!(plain[0].contains("curlew"), "{plain:?}");
    assert_eq!(found(&indexed("<meta name=robots content=nosnippet>").await).await, [""]);
    let short = found(&indexed("<meta name=robots content='max-snippet:12'>").await).await;
    assert!((1..=12).contains(&short[0].chars().count()), "{short:?}");
    let house = indexed("<meta name=robots content=noarchive>").await;
    let segments = house.blobs.list("segments/", None, 9).await.unwrap();
    assert_eq!(segments.len(), 1);
    assert_eq!(found(&house).await.len(), 1, "it is found, but no copy is offered");
}

#[tokio::test(start_paused = true)]
async fn p07_a_page_vanishes_at_its_time_by_itself_also_if_a_recheck_learned_of_it() {
    let directive = |date: &str| format!("<meta name=robots content=\"unavailable_after: {date}\">");
    let house = indexed(&directive("2026-11-25T00:00:00Z")).await;
    assert_eq!(found(&house).await.len(), 1);
    days(&house, 5).await;
    assert_eq!(found(&house).await.len(), 0, "no call was needed");
    assert_eq!(house.index().expired(2026).await.unwrap(), [page(A)]);

    let house = indexed("").await;
    house.web.serve(A, "text/html", html(&directive("2026-12-10T00:00:00Z")));
    recheck(&house).await;
    recheck(&house).await;
    assert!(matches!(house.state(A).await, Some(PageState::Accepted { .. })));
    assert_eq!(found(&house).await.len(), 1);
    let calls = house.web.calls().len();
    days(&house, 20).await;
    assert_eq!(found(&house).await.len(), 0);
    assert_eq!(house.index().expired(2026).await.unwrap(), [page(A)]);
    assert_eq!(house.web.calls().len(), calls);

    // A directive that is taken back in time, and a bad date, change nothing.
    let house = indexed("").await;
    house.web.serve(A, "text/html", html(&directive("2026-12-10T00:00:00Z")));
    house.web.serve(A, "text/html", html(&directive("soon")));
    for _ in 0..3 {
        recheck(&house).await;
    }
    days(&house, 30).await;
    assert_eq!(found(&house).await.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn p08_a_page_that_robots_txt_comes_to_forbid_leaves_the_index_without_a_call() {
    let house = indexed("").await;
    house.web.serve(ROBOTS, "text/plain", "User-agent: CurlewBot\nDisallow: /a\n");
    let before = house.calls(CallKind::Page).len();
    recheck(&house).await;
    assert_eq!(house.state(A).await, Some(PageState::Gone { reason: Gone::Robots }));
    assert_eq!(house.calls(CallKind::Page).len(), before);
    assert!(found(&house).await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn robots_txt_and_meta_tags_of_the_operators_own_sites_may_be_left_aside() {
    use curlew_policy::politeness::scope::{OwnHosts, Scope};
    let own = OwnHosts::read(&["example.org".to_owned()]).unwrap();
    let scope = Scope { robots_ignored: own.clone(), meta_ignored: own, ..Scope::default() };
    let house = House::with_scope(scope);
    house.web.serve(ROBOTS, "text/plain", "User-agent: *\nDisallow: /\n");
    house.web.serve("https://other.example/robots.txt", "text/plain", "User-agent: *\nDisallow: /\n");
    let noindex = "<meta name=robots content=noindex>";
    house.web.serve(A, "text/html", html(noindex));
    fetch(&house, &[A]).await;
    assert!(house.calls(CallKind::Robots).is_empty());
    assert_eq!(house.state(A).await, Some(PageState::Pending));
    house.fetch(&visit("other.example", &["https://other.example/a"], &new())).await;
    assert_eq!(rejected(&house, "https://other.example/a").await, Some(Rejection::Robots));
}

pub(crate) fn suggest(house: &House) -> Suggest {
    Suggest {
        sources: house.sources.clone(),
        blobs: house.blobs.clone(),
        fetch: house.web.clone(),
        queue: house.jobs.clone(),
        clock: house.politeness.clock.clone(),
        scope: house.politeness.scope.clone(),
        groups: house.politeness.groups.clone(),
    }
}
