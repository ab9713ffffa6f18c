//! Actions of operators, and the lists that they see: each action leaves an entry in the audit log, lists come in
//! parts, and sessions end.

use crate::test_world::*;
use curlew_people::actions::HoldLift;
use curlew_people::sessions::{IDLE_FOR, SESSION_VALID_FOR, Sessions, TOKEN_VALID_FOR};
use curlew_people::site_table::SiteOrder;
use curlew_people::watches::WatchError;
use curlew_policy::politeness::admission;

/// Returns the audit log, the oldest entry first: the action, its subject, the reason and the note.
async fn log(program: &Program) -> Vec<(String, String, String, Option<String>)> {
    let entries = program.desk.actions.log.latest(100).await.unwrap();
    assert!(entries.iter().all(|entry| entry.by == "ana"));
    entries.into_iter().rev().map(|e| (e.act.what, e.act.about, e.act.reason, e.act.note)).collect()
}

#[tokio::test(start_paused = true)]
async fn an_act_is_logged_a_refusal_and_a_no_op_are_not() {
    let world = TestWorld::new();
    let program = world.program();
    let actions = &program.desk.actions;
    let pause = || world.sleep(Millis(1));

    assert_eq!(actions.lift_hold("ana", "example.org").await.unwrap(), HoldLift::WasNone);
    assert!(!actions.unblock("ana", "example.org").await.unwrap());
    assert!(!actions.discard("ana", "no-job").await.unwrap());
    assert!(!actions.remove_watch("ana", "no-watch").await.unwrap());
    assert_eq!(actions.redrive_all("ana").await.unwrap(), 0);
    assert!(matches!(actions.hold("ana", "no host", Millis::from_days(1)).await, Err(StageError::Job(_))));
    assert!(matches!(actions.poll("ana", &["https://nowhere.example/".into()]).await, Err(StageError::Job(_))));
    let bad = actions.add_watch("ana", "curlew", "ftp://hooks.example/", &[7; 32]).await;
    assert!(matches!(bad, Err(WatchError::Refused(_))));
    assert_eq!(log(&program).await, []);

    actions.block("ana", "example.org").await.unwrap();
    pause().await;
    let watch = actions.add_watch("ana", "curlew mud", "https://hooks.example/new", &[7; 32]).await.unwrap();
    pause().await;
    assert!(actions.remove_watch("ana", &watch.name).await.unwrap());
    let line = |what: &str, about: &str, reason: &str| (what.to_owned(), about.to_owned(), reason.to_owned(), None);
    assert_eq!(
        log(&program).await,
        [
            line("block", "example.org", ""),
            line("watch", "curlew mud", "to https://hooks.example/new"),
            line("remove_watch", &watch.name, ""),
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_hold_has_an_end_and_lifting_it_leaves_what_the_host_has_brought_about() {
    let world = TestWorld::new();
    let program = world.program();
    let state = async || world.hosts.list(None, 9).await.unwrap()[0].1.clone();
    program.desk.actions.hold("ana", "www.example.org", Millis::from_days(100_000)).await.unwrap();
    let until = state().await.left_alone_until.unwrap();
    assert_eq!(until, world.now() + Millis::from_days(366), "a hold must end");
    let own = world.now() + Millis::from_days(3);
    update_host(world.hosts.as_ref(), &host("example.org"), |known| (held_by_its_answers(known, own), ()))
        .await
        .unwrap();
    assert_eq!(program.desk.actions.lift_hold("ana", "example.org").await.unwrap(), HoldLift::Lifted);
    assert_eq!(program.desk.actions.lift_hold("ana", "example.org").await.unwrap(), HoldLift::OthersRemain(own));
    assert_eq!(log(&program).await.len(), 2);
}

fn held_by_its_answers(state: HostState, until: Timestamp) -> HostState {
    HostState { hold: Some(Hold { until, reason: HoldReason::TooManyRequests, since: Timestamp::EPOCH }), ..state }
}

#[tokio::test(start_paused = true)]
async fn an_act_that_fails_midway_is_logged_with_its_error() {
    let world = TestWorld::new();
    let rates = Rates { lose_answer: 1_000, ..Rates::default() };
    let faults = Faults::seeded(1, rates, world.politeness.clock.clone());
    let mut ports = world.ports.clone();
    ports.hosts = Arc::new(Faulty::new(world.hosts.clone(), faults.clone()));
    ports.ledger = Arc::new(Faulty::new(world.hosts.clone(), faults));
    let program = world.program_over(ports);
    assert!(matches!(program.desk.actions.block("ana", "example.org").await, Err(StageError::Port(_))));
    let log = log(&program).await;
    assert_eq!((log.len(), log[0].0.as_str()), (1, "block"));
    assert!(log[0].3.as_ref().unwrap().starts_with("failed: "), "{log:?}");
}

#[tokio::test(start_paused = true)]
async fn an_act_that_is_cut_off_leaves_its_entry() {
    let world = TestWorld::new();
    let stuck = JudgedBlobs::new(world.blobs.clone(), |call, key| match (call, key) {
        (BlobCall::Swap, "hidden-hosts.json" | "overrides.json") => BlobFate::Hang,
        _ => BlobFate::Pass,
    });
    let ports = Ports { blobs: stuck, ..world.ports.clone() };
    let program = world.program_over(ports);
    let (actions, why) = (&program.desk.actions, Some("a court says so".to_owned()));
    tokio::select! {
        done = actions.block("ana", "example.org") => panic!("{done:?}"),
        () = world.sleep(Millis(1)) => {}
    }
    tokio::select! {
        done = actions.deny("ana", "example.org", why.clone()) => panic!("{done:?}"),
        () = world.sleep(Millis(1)) => {}
    }
    let line = |what: &str, reason: &str, note| (what.to_owned(), "example.org".to_owned(), reason.to_owned(), note);
    let begun = "its end is not recorded";
    assert_eq!(log(&program).await, [line("block", begun, None), line("override", &format!("deny; {begun}"), why)]);
}

#[tokio::test(start_paused = true)]
async fn an_act_that_changes_nothing_takes_no_other_from_the_log() {
    let world = TestWorld::new();
    let program = world.program();
    program.desk.actions.block("ana", "example.org").await.unwrap();
    let twice = [(); 2].map(|()| program.desk.actions.unblock("ana", "example.org"));
    let [first, second] = twice;
    assert_eq!((first.await.unwrap(), second.await.unwrap()), (true, false), "within one millisecond");
    let log = log(&program).await;
    assert_eq!(log.iter().filter(|(what, ..)| what == "unblock").count(), 1, "{log:?}");
}

#[tokio::test(start_paused = true)]
async fn a_list_is_read_in_the_pool_and_may_not_take_long() {
    let world = TestWorld::new();
    let politeness = Politeness { pool: Arc::new(OverrunPool::after(1)), ..Politeness::clone(&world.politeness) };
    let program = Program::over(Arc::new(politeness), world.ports.clone(), world.judge.clone());
    let list = || "<opml><body><outline xmlUrl='https://a.example/feed'/></body></opml>".to_owned();
    assert_eq!(program.desk.actions.read_list(list()).await.unwrap()[0].url, "https://a.example/feed");
    let overrun = program.desk.actions.read_list(list()).await;
    assert!(matches!(&overrun, Err(StageError::Job(why)) if why.contains("processor time")), "{overrun:?}");
}

#[tokio::test(start_paused = true)]
async fn a_damaged_watch_hides_no_other_and_can_be_removed() {
    let world = TestWorld::new();
    let program = world.program();
    let watch = program.desk.actions.add_watch("ana", "curlew", "https://hooks.example/new", &[7; 32]).await.unwrap();
    let damaged = "0".repeat(watch.name.len());
    world.blobs.put(&format!("watches/{damaged}.json"), b"{".to_vec().into()).await.unwrap();
    assert_eq!(program.desk.watches.list().await.unwrap(), [watch]);
    assert_eq!(program.desk.watches.match_new().await.unwrap(), 0);
    assert!(program.desk.actions.remove_watch("ana", &damaged).await.unwrap());
}

#[tokio::test(start_paused = true)]
async fn the_table_has_each_site_once_with_its_feeds_and_their_pages() {
    let world = TestWorld::new();
    let site_url = |n: usize| format!("https://www.site{n}.example.org/");
    for n in 0..3 {
        world.with_site(&site_url(n), SiteState::Waiting).await;
    }
    for n in 0..4 {
        let url = format!("https://feeds.example.net/{n}");
        let mut feed = FeedSource::new(key(&url), Slot::from_hash(0), &url);
        // The first two feeds belong to a named site, the third one to a home page, and the last one to nothing.
        feed.site = (n < 2).then(|| key(&site_url(0)));
        feed.link = (n == 2).then(|| "https://blog.example.com/".to_owned());
        feed.title = (n == 2).then(|| "Tidal Notes".to_owned());
        feed.polling.habit.news_at = (n == 1).then(|| world.now());
        (feed.trouble, feed.failures) = ((n == 3).then(|| "it answered 500".to_owned()), u32::from(n == 3));
        assert!(world.sources.insert(&Source::Feed(feed.clone())).await.unwrap());
        let url = format!("https://site0.example.org/{n}");
        let mut taken = Page::new(page(&url), url, host("example.org"), PageState::Pending, world.now());
        let reason = Rejection::NoImage;
        (taken.feed, taken.state) = (Some(feed.key), PageState::Rejected { reason });
        assert!(world.pages.insert(&taken).await.unwrap());
    }
    let lookup = world.program().desk.lookup;
    let hosts = async |text: &str, order| {
        let table = lookup.site_table(text, order).await.unwrap();
        assert!(table.is_counted && !table.is_cut);
        table.lines.into_iter().map(|line| line.host).collect::<Vec<_>>()
    };
    let all = ["blog.example.com", "feeds.example.net", "site0.example.org", "site1.example.org", "site2.example.org"];
    assert_eq!(hosts("", SiteOrder::Host).await, all);
    assert_eq!(hosts("", SiteOrder::News).await[0], "site0.example.org");
    assert_eq!(hosts("", SiteOrder::Rejected).await[0], "site0.example.org");
    assert_eq!(hosts("tidal", SiteOrder::Host).await, ["blog.example.com"], "a feed is found by its title");
    let lines = lookup.site_table("e", SiteOrder::Host).await.unwrap().lines;
    let named = &lines[2];
    assert_eq!((named.feeds, named.pages.rejected["no_image"], named.state.as_str()), (2, 2, ""));
    assert!(named.next_poll.is_some() && named.last_news == Some(world.now()));
    assert_eq!(
        (lines[1].state.as_str(), lines[3].state.as_str()),
        ("failed 1 time: it answered 500", "not looked at yet")
    );
    // A block and a hold are found by host name.
    world.program().desk.actions.block("ana", "feeds.example.net").await.unwrap();
    world.program().desk.actions.hold("ana", "example.net", Millis::from_days(1)).await.unwrap();
    let state = lookup.host_state("feeds.example.net").await.unwrap().unwrap();
    assert!(state.is_blocked("feeds.example.net") && state.hold_at(world.now()).is_some());
}

#[tokio::test(start_paused = true)]
async fn a_report_of_a_site_plans_what_will_happen_and_counts_pages_alone() {
    let world = TestWorld::new();
    world.with_site(HOME, SiteState::Waiting).await;
    world.discover(HOME).await;
    let again = world.site(HOME).await.not_before;
    let url = "https://example.org/p#content-99765b227c92ef01";
    let guide = Page::new(page(url), url.into(), host("example.org"), PageState::Alias { of: page(HOME) }, world.now());
    assert!(world.pages.insert(&guide).await.unwrap());
    let report = world.program().desk.lookup.site("example.org").await.unwrap().unwrap();
    let next: Vec<_> = report.next.iter().map(|next| (next.at, next.what)).collect();
    assert_eq!((next, report.pages.len()), (vec![(again, "discovery")], 0));

    world.with_feed(|_| {}).await;
    let planned = async || {
        let next = world.program().desk.lookup.site("example.org").await.unwrap().unwrap().next;
        next.into_iter().filter(|next| next.what == "poll").count()
    };
    assert_eq!(planned().await, 1);
    world.program().desk.actions.block("ana", "example.org").await.unwrap();
    assert_eq!(planned().await, 0, "a blocked host is not polled");
}

#[tokio::test(start_paused = true)]
async fn held_hosts_and_screened_pages_are_found_among_the_others() {
    let world = TestWorld::new();
    let actions = world.program().desk.actions;
    for n in 0..4 {
        actions.block("ana", &format!("blocked{n}.example")).await.unwrap();
        let (quiet, over) = (host(&format!("quiet{n}.example")), world.now() - Millis(1));
        update_host(world.hosts.as_ref(), &quiet, |known| (admission::leave_alone(known, over), ())).await.unwrap();
    }
    let lookup = world.program().desk.lookup;
    let first = lookup.held(None, 3).await.unwrap();
    let second = lookup.held(first.next.clone(), 3).await.unwrap();
    let names: Vec<&str> = first.rows.iter().chain(&second.rows).map(|(host, _)| host.as_str()).collect();
    assert_eq!(names, ["blocked0.example", "blocked1.example", "blocked2.example", "blocked3.example"]);
    assert!(first.next.is_some() && second.next.is_none());

    for (url, lifted) in [(A, false), (B, true), ("https://other.org/c", false)] {
        let why = Screened { lifted, ..Screened::new(vec!["gambling".into()], None) };
        let state = PageState::Rejected { reason: Rejection::Screened(why) };
        let row = Page::new(page(url), url.into(), host("example.org"), state, world.now());
        assert!(world.pages.insert(&row).await.unwrap());
    }
    assert!(world.pages.insert(&accepted("https://example.org/fine")).await.unwrap());
    let urls = async |host: Option<&str>| {
        let rows = lookup.screened(host, None, 9).await.unwrap().rows;
        rows.into_iter().map(|row| row.url).collect::<Vec<_>>()
    };
    assert_eq!(urls(Some("example.org")).await, [A], "a page that an operator allowed is not listed");
    assert_eq!(urls(None).await.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_token_begins_one_session_which_ends_by_age_by_idleness_and_by_command() {
    let world = TestWorld::new();
    let (clock, blobs) = (world.politeness.clock.clone(), world.blobs.clone());
    let sessions = Sessions { blobs: blobs.clone(), clock: clock.clone() };
    let name = Some("ana".to_owned());

    sessions.issue(b"late", "ana").await.unwrap();
    clock.sleep(TOKEN_VALID_FOR).await;
    assert_eq!(sessions.begin(b"late", b"s0").await.unwrap(), None);
    sessions.issue(b"token", "ana").await.unwrap();
    assert_eq!(sessions.begin(b"token", b"s1").await.unwrap(), name);
    assert_eq!(sessions.begin(b"token", b"s2").await.unwrap(), None, "a token works once");
    assert_eq!(sessions.find(b"s2").await.unwrap(), None);
    for _ in 0..SESSION_VALID_FOR.0 / Millis::from_hours(1).0 {
        assert_eq!(sessions.find(b"s1").await.unwrap(), name);
        clock.sleep(Millis::from_hours(1)).await;
    }
    assert_eq!(sessions.find(b"s1").await.unwrap(), None, "a session ends however much it is used");

    for (token, session) in [(b"t3", b"s3"), (b"t4", b"s4")] {
        sessions.issue(token, "ana").await.unwrap();
        assert_eq!(sessions.begin(token, session).await.unwrap(), name);
    }
    clock.sleep(IDLE_FOR).await;
    assert_eq!(sessions.find(b"s3").await.unwrap(), None, "an unused session ends");
    sessions.issue(b"t5", "ana").await.unwrap();
    sessions.begin(b"t5", b"s5").await.unwrap();
    sessions.issue(b"t6", "ana").await.unwrap();
    sessions.end(b"s4").await.unwrap();
    assert_eq!(sessions.end_all().await.unwrap(), 1);
    assert_eq!(sessions.find(b"s5").await.unwrap(), None);
    assert_eq!(sessions.begin(b"t6", b"s6").await.unwrap(), None, "tokens expire, too");

    blobs.put("sessions.json", b"{".to_vec().into()).await.unwrap();
    let corrupt = sessions.find(b"s5").await;
    assert!(matches!(corrupt, Err(StageError::Port(PortError::Corrupt { .. }))), "{corrupt:?}");
}
