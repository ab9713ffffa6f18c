//! Interstitials: a wall in place of all pages removes no page, and rejects no page for good.

use crate::index::{accept, ask};
use crate::test_world::*;

const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];
const URLS: [&str; 5] = [
    "https://example.org/a",
    "https://example.org/b",
    "https://example.org/c",
    "https://example.org/d",
    "https://example.org/e",
];
pub(crate) const TEXT: &str =
    "The curlew walks along the edge of the water and probes the mud for worms and small crabs of the bay.";

/// Returns a text that is unique to the page with this name.
pub(crate) fn own(name: &str) -> String {
    format!("{} On {name} it sings, {}", TEXT, format!("{name} and more {name}, ").repeat(9))
}

pub(crate) fn document(title: &str, head: &str, text: &str) -> Reply {
    let body = format!("<html><head><title>{title}</title>{head}</head><body><p>{text}</p></body></html>");
    html_reply(body)
}

/// Returns a typical challenge page: status 200, always the same text, a new number each time, and a `noindex`
/// directive.
pub(crate) fn wall(n: usize) -> Reply {
    let text = format!("Making sure you are not a bot. Your request 8f{n}c3 is being looked at.");
    document("One moment", "<meta name=robots content=\"noindex,nofollow\">", &text)
}

pub(crate) fn url(name: &str) -> String {
    format!("https://example.org/{name}")
}

async fn indexed() -> TestWorld {
    let world = TestWorld::new();
    for name in NAMES {
        accept(&world, name, &own(name)).await;
    }
    world.publish().await;
    world.sleep(Millis::from_days(2)).await;
    world
}

fn show(world: &TestWorld, reply: impl Fn(usize, &str) -> Reply) {
    for (n, name) in NAMES.iter().enumerate() {
        world.web.keep(&url(name), reply(n, name));
    }
}

/// Runs every visit that comes due within some days, in order, and settles the jobs as the program does.
async fn days(world: &TestWorld, days: u64) {
    let end = world.now() + Millis::from_days(days);
    while world.now() < end {
        let waiting = world.queued(QueueName::Fetch).await;
        let Some((_, due)) = waiting.first() else { break };
        world.sleep((*due).min(end).since(world.now())).await;
        world.run_due_visits().await;
    }
}

async fn held(world: &TestWorld) -> Option<(HoldReason, Millis)> {
    let hold = world.host_state("example.org").await.hold;
    hold.map(|hold| (hold.reason, hold.until.since(hold.since)))
}

async fn left(world: &TestWorld) -> usize {
    let mut left = 0;
    for name in NAMES {
        left += usize::from(world.is_accepted(&url(name)).await);
    }
    left
}

async fn recheck_all(world: &TestWorld) {
    world.fetch(&visit("example.org", &URLS, &Purpose::Recheck)).await;
}

#[tokio::test(start_paused = true)]
async fn a_wall_in_place_of_all_pages_erases_none_and_holds_the_host() {
    for with_noindex in [true, false] {
        let world = indexed().await;
        show(&world, |n, _| if with_noindex { wall(n) } else { document("One moment", "", "Checking your browser.") });
        recheck_all(&world).await;
        let (why, length) = held(&world).await.unwrap();
        assert_eq!(why, HoldReason::Interstitial);
        assert!(length >= Millis::from_hours(72));
        days(&world, 60).await;
        assert_eq!((left(&world).await, ask(&world, "curlew").await.total), (5, 5), "noindex: {with_noindex}");
        let (_, later) = held(&world).await.unwrap();
        assert!(later > length, "the host is called less and less often");

        // The wall is taken down: the next re-check finds each page again, and the host is no longer held.
        show(&world, |_, name| document(&format!("Page {name}"), "", &own(name)));
        world.sleep(Millis::from_days(20)).await;
        recheck_all(&world).await;
        assert_eq!((left(&world).await, held(&world).await), (5, None));
        for name in NAMES {
            let row = world.row(&url(name)).await;
            assert_eq!((row.doubted_at, row.checked_at.is_some()), (None, true), "{name}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_wall_that_is_met_one_page_at_a_time_erases_none_if_it_stands_before_the_home_page_too() {
    let world = indexed().await;
    show(&world, |n, _| wall(n));
    world.web.keep(HOME, wall(9));
    for name in NAMES {
        world.recheck(&url(name)).await;
        days(&world, 4).await;
    }
    assert_eq!(left(&world).await, 5);
    assert_eq!(held(&world).await.map(|(why, _)| why), Some(HoldReason::Interstitial));
}

#[tokio::test(start_paused = true)]
async fn a_noindex_for_the_whole_site_is_obeyed_at_once_when_three_pages_say_so() {
    let world = indexed().await;
    let noindex = "<meta name=robots content=noindex>";
    show(&world, |_, name| document(&format!("Page {name}"), noindex, &own(name)));
    recheck_all(&world).await;
    assert_eq!(left(&world).await, 2, "the first two pages wait for a second look");
    days(&world, 3).await;
    assert_eq!((left(&world).await, held(&world).await), (0, None));
    assert_eq!(world.gone(&url("a")).await, Some(Gone::Noindex));
}

#[tokio::test(start_paused = true)]
async fn a_noindex_among_pages_that_do_not_say_so_is_confirmed_by_a_second_look() {
    let world = indexed().await;
    let noindex = |name: &str| if name == "b" { "<meta name=robots content=noindex>" } else { "" };
    show(&world, |_, name| document(&format!("Page {name}"), noindex(name), &own(name)));
    recheck_all(&world).await;
    assert_eq!(left(&world).await, 5, "a first look decides nothing");
    days(&world, 3).await;
    assert_eq!(left(&world).await, 4);
    assert_eq!(world.gone(&url("b")).await, Some(Gone::Noindex));
}

#[tokio::test(start_paused = true)]
async fn soft_404s_among_pages_that_are_there_are_removed_one_by_one() {
    let world = indexed().await;
    let missing = |name: &str| ["a", "c", "e"].contains(&name);
    show(&world, |_, name| {
        if missing(name) {
            document("Nothing here", "", "This page does not exist. Go to the start page of the site.")
        } else {
            document(&format!("Page {name}"), "", &own(name))
        }
    });
    recheck_all(&world).await;
    days(&world, 4).await;
    assert_eq!(left(&world).await, 3, "no page has shown its own text after the last of them");
    recheck_all(&world).await;
    days(&world, 9).await;
    assert_eq!((left(&world).await, held(&world).await), (2, None));
    assert_eq!(world.gone(&url("c")).await, Some(Gone::Replaced));
}

#[tokio::test(start_paused = true)]
async fn not_found_and_gone_remove_at_once_though_all_say_the_same() {
    for (code, reason) in [(404, Gone::NotFound), (410, Gone::Gone)] {
        let world = indexed().await;
        show(&world, |_, _| status(code));
        recheck_all(&world).await;
        assert_eq!(left(&world).await, 0);
        assert_eq!(world.gone(&url("e")).await, Some(reason));
    }
}

#[tokio::test(start_paused = true)]
async fn a_refusal_of_any_kind_erases_nothing() {
    for code in [402, 403, 451] {
        let world = indexed().await;
        show(&world, |_, _| status(code));
        recheck_all(&world).await;
        days(&world, 90).await;
        assert_eq!((left(&world).await, ask(&world, "curlew").await.total), (5, 5), "{code}");
        let calls = world.web.calls().iter().filter(|call| call.url.starts_with(HOME) && call.url != ROBOTS).count();
        assert!(calls <= 20, "{code}: {calls} calls in 90 days");
    }
}

#[tokio::test(start_paused = true)]
async fn new_pages_behind_a_wall_wait_and_are_taken_in_when_it_is_gone() {
    for with_noindex in [true, false] {
        let world = TestWorld::new();
        show(&world, |n, _| if with_noindex { wall(n) } else { document("One moment", "", "Checking your browser.") });
        world.visit(&URLS).await;
        assert_eq!(held(&world).await.map(|(why, _)| why), Some(HoldReason::Interstitial));
        let waiting = world.queued(QueueName::Fetch).await;
        let items = |job: &Job| job.deferrals == 0 && visited(job).len() > 1;
        assert_eq!(waiting.len(), 2, "pages that came before the wall was known wait, too");
        assert!(waiting.iter().all(|(job, due)| items(job) && due.since(world.now()) >= Millis::from_hours(71)));
        let text = format!("<p>{}</p>", TEXT.repeat(4));
        show(&world, |_, name| Reply {
            body: html("").replace("On curlews", name).replace("</article>", &format!("{text}</article>")).into(),
            ..document("", "", "")
        });
        days(&world, 9).await;
        for name in NAMES {
            assert_eq!(world.state(&url(name)).await, Some(PageState::Pending), "{name}, noindex: {with_noindex}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn short_pages_that_each_say_something_else_are_rejected_and_hold_nothing() {
    let world = TestWorld::new();
    show(&world, |n, name| {
        document(&format!("Photo {name}"), if n == 4 { "<meta name=robots content=noindex>" } else { "" }, "Light.")
    });
    world.visit(&URLS).await;
    assert_eq!(held(&world).await, None);
    assert!(matches!(world.rejection(&url("e")).await, Some(Rejection::Noindex)));
    assert!(world.queued(QueueName::Fetch).await.is_empty());
    assert!(world.now() > Timestamp::EPOCH);
}

/// A page is removed only if the removal was confirmed or the page answered 404, for all answers at two looks.
/// One text in place of all pages removes nothing.
#[tokio::test(start_paused = true)]
async fn pages_leave_the_index_only_for_a_reason_that_lasts() {
    let answer = |kind: usize, n: usize, name: &str| match kind {
        0 => wall(n),
        1 => document(&format!("Page {name}"), "<meta name=robots content=noindex>", &own(name)),
        2 => status(404),
        3 => status(403),
        _ => document(&format!("Page {name}"), "", &own(name)),
    };
    for case in 0..50 {
        let world = indexed().await;
        let (step, shift) = (case % 5, case / 5);
        let first = |n: usize| (n * step + shift) % 5;
        let second = |n: usize| (n * (shift + 1) + step * 2) % 5;
        show(&world, |n, name| answer(first(n), n, name));
        recheck_all(&world).await;
        show(&world, |n, name| answer(second(n), n, name));
        days(&world, 2).await;
        for (n, name) in NAMES.iter().enumerate() {
            let is_gone = matches!(world.state(&url(name)).await, Some(PageState::Gone { .. }));
            let looks = [first(n), second(n)];
            let is_site_wide =
                |look: &dyn Fn(usize) -> usize| look(n) == 1 && (0..5).filter(|n| look(*n) == 1).count() >= 3;
            let may_go = looks.iter().all(|kind| *kind < 2) || looks.contains(&2);
            let may_go = may_go || is_site_wide(&first) || is_site_wide(&second);
            assert!(!is_gone || may_go, "{case}: {name} {looks:?}");
        }
    }
}
