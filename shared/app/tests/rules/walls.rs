//! Kinds of bot walls, and honest pages that look like one. Indexed pages stay, new pages are accepted once a wall is
//! gone, and a host with a wall is rarely called. Honest pages are taken at their word.

use crate::index::accept;
use crate::interstitial::{TEXT, document, own, url, wall};
use crate::test_world::*;

/// Pages that are indexed when a wall goes up.
const INDEXED: [&str; 5] = ["avocet", "bittern", "curlew", "dunlin", "egret"];
/// Pages that the feed lists while the wall stands: three on the first day, and one on each later day.
const NEW: [&str; 6] = ["fulmar", "godwit", "heron", "ibis", "jacana", "knot"];
const NOINDEX: &str = "<meta name=robots content=\"noindex\">";

fn with_header(code: u16, name: &str, value: &str) -> Reply {
    let mut reply = status(code);
    reply.headers.lines = vec![(name.to_owned(), value.to_owned())];
    reply
}

fn open_page(name: &str) -> Reply {
    let image = format!("<meta property=og:image content=\"https://example.org/{name}.jpg\">");
    document(&format!("Page {name}"), &image, &own(name))
}

/// Serves the site without a wall.
fn open(world: &TestWorld) {
    for name in INDEXED.iter().chain(&NEW) {
        world.web.keep(&url(name), open_page(name));
        world.web.keep(&format!("https://example.org/{name}.jpg"), status(404));
    }
    world.web.keep(HOME, document("Waders", "", &TEXT.repeat(4)));
    world.web.keep(ROBOTS, status(404));
    world.web.keep(FEED, text(rss("")));
}

/// Serves a wall in place of everything.
fn everywhere(world: &TestWorld, reply: impl Fn(usize) -> Reply) {
    let pages = INDEXED.iter().chain(&NEW).map(|name| url(name));
    for (n, url) in pages.chain([HOME.into(), ROBOTS.into(), FEED.into()]).enumerate() {
        world.web.keep(&url, reply(n));
    }
}

async fn site() -> TestWorld {
    let world = TestWorld::new();
    for name in INDEXED {
        accept(&world, name, &own(name)).await;
    }
    world.with_feed(|_| {}).await;
    open(&world);
    world.sleep(Millis::from_days(2)).await;
    world
}

fn visit(names: &[&str], purpose: impl Fn(&str) -> Purpose) -> VisitJob {
    let item = |name: &&str| VisitItem { url: url(name), page: page(&url(name)), purpose: purpose(name) };
    let items = names.iter().map(item).collect();
    VisitJob::new(host("example.org"), items)
}

/// Returns the purpose of a visit to a new page; every second page comes with a title from the feed.
fn announced(name: &str) -> Purpose {
    let has_title = NEW.iter().position(|new| *new == name).is_some_and(|n| n % 2 == 0);
    let title = has_title.then(|| format!("Page {name}"));
    Purpose::New { hints: EntryHints { title, ..EntryHints::default() } }
}

/// Returns the reason of a hold that is not a mere rest.
async fn hold(world: &TestWorld) -> Option<HoldReason> {
    let hold = world.host_state("example.org").await.hold;
    hold.map(|hold| hold.reason).filter(|reason| *reason != HoldReason::Rest)
}

fn calls(world: &TestWorld) -> usize {
    world.web.calls().iter().filter(|call| call.url.starts_with(HOME)).count()
}

/// Runs an hour: the visits that are due, and a poll at every eighth hour.
async fn hour(world: &TestWorld, hour: u64) {
    if hour.is_multiple_of(8) && world.feed().await.not_before <= world.now() {
        let job = Envelope::new(PollJob::new(key(FEED), FEED.into()));
        world.poll_stage().run(&job).await.unwrap();
    }
    world.run_due_visits().await;
    world.sleep(Millis::from_hours(1)).await;
}

/// Runs some days, with weekly re-checks of all indexed pages and with new pages on the first days. Returns the highest
/// number of calls in a day after the host was first held.
async fn days(world: &TestWorld, days: u64, new: &[&str]) -> usize {
    let (mut most, mut is_held) = (0, false);
    for day in 0..days {
        let mut jobs = vec![];
        if day.is_multiple_of(7) {
            jobs.push(visit(&INDEXED, |_| Purpose::Recheck));
        }
        match day {
            0 if !new.is_empty() => jobs.push(visit(&new[..3.min(new.len())], announced)),
            _ => jobs.extend(new.get(day as usize + 2).map(|name| visit(&[name], announced))),
        }
        for job in jobs {
            world.ports.queue.send(&[(Job::new(job), world.now())]).await.unwrap();
        }
        let mut today = 0;
        for n in 0..24 {
            let before = calls(world);
            hour(world, n).await;
            today += if is_held { calls(world) - before } else { 0 };
            is_held |= hold(world).await.is_some();
        }
        most = most.max(today);
    }
    most
}

async fn states(world: &TestWorld, names: &[&str], is_meant: impl Fn(&PageState) -> bool) -> usize {
    let mut count = 0;
    for name in names {
        count += usize::from(world.state(&url(name)).await.is_some_and(|state| is_meant(&state)));
    }
    count
}

async fn indexed(world: &TestWorld) -> usize {
    states(world, &INDEXED, |state| matches!(state, PageState::Accepted { .. })).await
}

async fn gone(world: &TestWorld, why: Gone) -> usize {
    states(world, &INDEXED, |state| matches!(state, PageState::Gone { reason } if *reason == why)).await
}

/// Returns a consent page that is long enough to be an article.
fn consent(_: usize) -> Reply {
    let asks =
        "We and our 814 partners store and access personal data on your device. Choose whether you agree to that. ";
    document("Before you continue", "", &asks.repeat(5))
}

fn anubis(n: usize) -> Reply {
    let script = "<script id=\"anubis_challenge\" type=\"application/json\">{}</script>";
    let head = format!("{script}<script src=\"/.within.website/x/cmd/anubis/static/js/main.mjs\"></script>");
    document("Making sure you're not a bot!", &head, &format!("Loading {n}... {}", "Why am I seeing this? ".repeat(40)))
}

/// A function that returns the answer of a page by its number.
type Answer = fn(usize) -> Reply;

/// A function that puts something in place of the pages.
type PutUp = fn(&TestWorld);

/// Returns the kinds of walls, each with a function that puts it up.
fn walls() -> Vec<(&'static str, PutUp)> {
    vec![
        ("200 with noindex", |world| everywhere(world, wall)),
        ("200 without noindex", |world| {
            everywhere(world, |n| document("One moment", "", &format!("Checking your browser. Ray {n}8fa.")));
        }),
        ("202", |world| everywhere(world, |_| status(202))),
        ("202 with the mark of AWS WAF", |world| {
            everywhere(world, |_| with_header(202, "x-amzn-waf-action", "challenge"));
        }),
        ("403 with a challenge", |world| everywhere(world, |_| with_header(403, "cf-mitigated", "challenge"))),
        ("402", |world| {
            everywhere(world, |_| status(402));
            world.web.keep(ROBOTS, status(404));
        }),
        ("429 page", |world| everywhere(world, |_| status(429))),
        ("451", |world| everywhere(world, |_| status(451))),
        ("a consent page", |world| everywhere(world, consent)),
        ("a consent page elsewhere", |world| {
            let there = "https://consent.yahoo.com/v2/collectConsent";
            everywhere(world, |_| moved(302, there).unwrap());
            world.web.keep(ROBOTS, status(404));
            world.web.keep(there, consent(0));
        }),
        ("a JavaScript shell", |world| {
            everywhere(world, |_| document("Waders", "", "<div id=root></div><script src=/app.js></script>"));
        }),
        ("robots.txt alone", |world| world.web.keep(ROBOTS, anubis(1))),
        ("feeds alone", |world| world.web.keep(FEED, anubis(2))),
        ("images alone", |world| {
            for name in INDEXED.iter().chain(&NEW) {
                world.web.keep(&format!("https://example.org/{name}.jpg"), with_header(403, "x-datadome", "protected"));
            }
        }),
        ("after the tenth call", |world| everywhere(world, wall)),
        ("Anubis", |world| everywhere(world, anubis)),
    ]
}

#[tokio::test(start_paused = true)]
async fn no_kind_of_wall_costs_a_page_and_a_walled_host_is_called_three_times_a_day_at_most() {
    for (kind, put_up) in walls() {
        let world = site().await;
        if kind == "after the tenth call" {
            world.fetch(&visit(&INDEXED, |_| Purpose::Recheck)).await;
            world.fetch(&visit(&NEW[..2], announced)).await;
            assert!(calls(&world) >= 10, "robots.txt, seven pages and their images");
        }
        put_up(&world);
        let most = days(&world, 40, &NEW).await;
        assert!(kind == "feeds alone" || most <= 3, "{kind}: {most} calls a day");
        assert_eq!(indexed(&world).await, 5, "{kind}: indexed pages must stay");
        let rejected = states(&world, &NEW, |state| matches!(state, PageState::Rejected { .. })).await;
        assert_eq!(rejected, 0, "{kind}: nothing is rejected");
        let is_whole = !["robots.txt alone", "feeds alone", "images alone"].contains(&kind);
        assert!(!is_whole || hold(&world).await.is_some(), "{kind}: the host is held");
        if kind == "images alone" {
            assert_eq!(hold(&world).await, None, "{kind}");
        }
        assert!(!world.feed().await.gone, "{kind}: the feed stays");

        open(&world);
        let polls = world.calls(CallKind::Feed).len();
        days(&world, 45, &[]).await;
        assert_eq!(indexed(&world).await, 5, "{kind}: no page may be lost afterwards");
        let taken = states(&world, &NEW, |state| matches!(state, PageState::Pending)).await;
        assert_eq!((taken, hold(&world).await), (NEW.len(), None), "{kind}: waiting pages must be accepted");
        let feed = world.feed().await;
        let polls = world.calls(CallKind::Feed).len() - polls;
        assert!(!feed.gone && feed.failures == 0 && polls > 2, "{kind}: the feed is read again, {polls} times");
    }
}

/// Returns the number of new pages that were rejected, and of those that were fetched.
async fn ends(world: &TestWorld) -> (usize, usize) {
    let rejected = states(world, &NEW, |state| matches!(state, PageState::Rejected { .. })).await;
    (rejected, states(world, &NEW, |state| matches!(state, PageState::Pending)).await)
}

#[tokio::test(start_paused = true)]
async fn a_page_that_is_refused_waits_as_long_as_the_crawler_is_and_is_taken_in_then() {
    for (code, robots) in [(402, 404), (403, 404), (403, 403), (429, 429), (451, 404)] {
        let world = site().await;
        everywhere(&world, |_| status(code));
        world.web.keep(ROBOTS, status(robots));
        let most = days(&world, 150, &NEW).await;
        assert!(most <= 3, "{code}, robots.txt {robots}: {most} calls a day");
        assert_eq!((indexed(&world).await, ends(&world).await), (5, (0, 0)), "{code}, robots.txt {robots}");
        open(&world);
        days(&world, 45, &[]).await;
        assert_eq!((indexed(&world).await, ends(&world).await), (5, (0, 6)), "{code}, robots.txt {robots}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_wall_before_posts_alone_that_come_one_a_visit_costs_none() {
    let kinds: [(&str, Answer); 4] = [
        ("200 with noindex", wall),
        ("200 without noindex", |n| document("One moment", "", &format!("Checking your browser. Ray {n}8fa."))),
        ("402", |_| status(402)),
        ("403", |_| status(403)),
    ];
    for (kind, answer) in kinds {
        let world = site().await;
        for (n, name) in INDEXED.iter().chain(&NEW).enumerate() {
            world.web.keep(&url(name), answer(n));
        }
        for (n, name) in NEW.iter().enumerate() {
            let known = INDEXED[n % INDEXED.len()];
            for job in [visit(&[name], announced), visit(&[known], |_| Purpose::Recheck)] {
                world.ports.queue.send(&[(Job::new(job), world.now())]).await.unwrap();
                for n in 0..7 * 12 {
                    hour(&world, n).await;
                }
            }
        }
        for n in 0..90 * 24 {
            hour(&world, n).await;
        }
        assert_eq!((indexed(&world).await, ends(&world).await), (5, (0, 0)), "{kind}");
        open(&world);
        days(&world, 45, &[]).await;
        assert_eq!((indexed(&world).await, ends(&world).await), (5, (0, 6)), "{kind}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_page_that_is_refused_among_others_that_are_not_is_given_up_with_a_reason() {
    let world = site().await;
    world.web.keep(&url("fulmar"), status(403));
    for name in NEW {
        world.ports.queue.send(&[(Job::new(visit(&[name], announced)), world.now())]).await.unwrap();
        for n in 0..14 * 24 {
            hour(&world, n).await;
        }
    }
    days(&world, 60, &[]).await;
    assert_eq!((ends(&world).await, hold(&world).await), ((1, 5), None), "the page is for members only");
    let Some(PageState::Rejected { reason }) = world.state(&url("fulmar")).await else { panic!() };
    assert!(reason.to_string().contains("repeatedly refused"), "{reason}");
}

#[tokio::test(start_paused = true)]
async fn a_page_in_place_of_robots_txt_lifts_no_rule_for_thirty_days() {
    let world = site().await;
    world.web.keep(ROBOTS, text("User-agent: *\nDisallow: /fulmar\n"));
    days(&world, 1, &["godwit"]).await;
    world.web.keep(ROBOTS, document("One moment", "", "Checking your browser."));
    days(&world, 2, &["fulmar"]).await;
    let robots = Some(PageState::Rejected { reason: Rejection::Robots });
    assert_eq!(world.state(&url("fulmar")).await, robots, "the older copy must be used");
    days(&world, 30, &[]).await;
    days(&world, 1, &["heron"]).await;
    assert_eq!(world.state(&url("heron")).await, Some(PageState::Pending), "the site has no rules any more");
}

#[tokio::test(start_paused = true)]
async fn a_wall_is_remembered_by_its_vendor_and_since_when_it_stands() {
    let world = site().await;
    everywhere(&world, anubis);
    let began = world.now();
    world.fetch(&visit(&INDEXED[..1], |_| Purpose::Recheck)).await;
    let calls: BTreeSet<_> = world.calls(CallKind::Page).iter().map(|call| call.url.clone()).collect();
    assert_eq!(calls.len(), 0, "the sign of a wall on robots.txt is enough");
    days(&world, 20, &[]).await;
    let known = world.host_state("example.org").await.substitutes;
    assert_eq!(known.vendor, "Anubis");
    assert!(known.since.unwrap().since(began) < Millis::from_hours(1) && known.holds > 1);
}

/// Expected outcome of a look-alike: the number of pages that stay indexed, the reason why the others are gone, and the
/// reason of the host's hold.
type End = (usize, Option<Gone>, Option<HoldReason>);

/// Returns honest pages that look like a wall, each with the expected outcome.
fn look_alikes() -> Vec<(&'static str, PutUp, End)> {
    fn show(world: &TestWorld, reply: impl Fn(&str) -> Reply) {
        INDEXED.iter().for_each(|name| world.web.keep(&url(name), reply(name)));
    }
    vec![
        (
            "a noindex for the whole site",
            |world| show(world, |name| document(&format!("Page {name}"), NOINDEX, &own(name))),
            (0, Some(Gone::Noindex), None),
        ),
        (
            "a parked domain",
            |world| {
                let parked = "<script src=\"https://img.sedoparking.com/templates/x.js\"></script>";
                everywhere(world, |_| document("example.org", parked, "This domain may be for sale."));
            },
            (0, Some(Gone::Replaced), None),
        ),
        ("maintenance with 503", |world| everywhere(world, |_| status(503)), (5, None, Some(HoldReason::ServerError))),
        (
            "maintenance with 200",
            |world| everywhere(world, |_| document("Maintenance", "", "We will be back soon.")),
            (5, None, Some(HoldReason::Interstitial)),
        ),
        (
            "a redesign",
            |world| {
                show(world, |name| {
                    let menu = "Home News Birds Places About Contact ".repeat(8);
                    document(&format!("{name} | New Waders"), "", &format!("{menu} {}", own(name)))
                });
            },
            (5, None, None),
        ),
        (
            "a paywall with a teaser",
            |world| {
                show(world, |name| {
                    let teaser: String = own(name).chars().take(160).collect();
                    document(&format!("Page {name}"), "", &format!("{teaser}... Subscribe to read on."))
                });
            },
            (5, None, None),
        ),
        (
            "a choice of language on the home page",
            |world| world.web.keep(HOME, document("Waders", "", "Choose your language: English, Italiano.")),
            (5, None, None),
        ),
        (
            "a question for the age before all pages",
            |world| everywhere(world, |_| document("Are you of age?", "", "Confirm that you are 18 years old.")),
            (5, None, Some(HoldReason::Interstitial)),
        ),
        (
            "a login for good",
            |world| {
                everywhere(world, |_| moved(302, "https://example.org/login").unwrap());
                world.web.keep(ROBOTS, status(404));
                world.web.keep("https://example.org/login", document("Log in", "", "Name and password, please."));
            },
            (5, None, Some(HoldReason::Interstitial)),
        ),
        (
            "missing pages with 200",
            |world| {
                for name in ["avocet", "bittern", "egret"] {
                    world.web.keep(&url(name), document("Nothing here", "", "This page does not exist."));
                }
            },
            (2, Some(Gone::Replaced), None),
        ),
        (
            "a page that is a stub now",
            |world| world.web.keep(&url("dunlin"), document("Taken back", "", "The author has taken this text back.")),
            (4, Some(Gone::Replaced), None),
        ),
        (
            "a cookie banner over the text, and a vendor's script",
            |world| {
                show(world, |name| {
                    let script = "<script src=\"/cdn-cgi/challenge-platform/scripts/jsd/main.js\"></script>";
                    let banner = "We use cookies. Accept all? </p></div><article><p>";
                    document(&format!("Page {name}"), script, &format!("<div>{banner}{}", own(name)))
                });
            },
            (5, None, None),
        ),
        ("pages that are not found", |world| show(world, |_| status(404)), (0, Some(Gone::NotFound), None)),
    ]
}

#[tokio::test(start_paused = true)]
async fn honest_pages_that_look_like_a_wall_end_as_they_should() {
    for (kind, show, (left, why, reason)) in look_alikes() {
        let world = site().await;
        show(&world);
        days(&world, 10, &[]).await;
        assert_eq!((indexed(&world).await, hold(&world).await), (left, reason), "{kind}");
        if let Some(why) = why {
            assert_eq!(gone(&world, why).await, 5 - left, "{kind}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn new_pages_that_look_like_a_wall_are_judged_by_what_they_are() {
    let world = site().await;
    let jsd = "<script src=\"/cdn-cgi/challenge-platform/scripts/jsd/main.js\"></script>";
    let mentions =
        format!("{} It sets id=\"anubis_challenge\" below /.within.website/ and cf-mitigated.", own("heron"));
    let shown = [
        ("fulmar", document("Page fulmar", jsd, "Light.")),
        ("heron", document("Page heron", "", &mentions)),
        ("jacana", document("Page jacana", NOINDEX, &own("jacana"))),
        ("godwit", document("Nothing", "", "Short.")),
    ];
    for (name, reply) in shown {
        world.web.keep(&url(name), reply);
    }
    days(&world, 2, &["fulmar", "godwit", "heron", "jacana"]).await;
    let state = async |name| world.state(&url(name)).await;
    assert!(matches!(state("fulmar").await, Some(PageState::Pending)), "extraction will find the page short");
    assert!(matches!(state("godwit").await, Some(PageState::Pending)), "extraction will find this page short, too");
    assert!(matches!(state("heron").await, Some(PageState::Pending)), "the page mentions signs of walls but has none");
    assert!(matches!(state("jacana").await, Some(PageState::Rejected { .. })), "the page asks not to be indexed");
    assert_eq!(hold(&world).await, None);
    let homes = world.called(HOME);
    assert_eq!(homes, 1, "the home page is called for a page without a title from the feed");
}

/// A page that says next to nothing, or asks not to be indexed, is compared with the home page, which is called instead
/// of the page's image. Later pages of the day are compared with the content that the home page had then.
#[tokio::test(start_paused = true)]
async fn the_home_page_is_looked_at_once_a_day_as_the_second_call_of_a_page() {
    let world = site().await;
    let image = |name: &str| format!("https://example.org/{name}.jpg");
    let head = |name: &str| format!("<meta property=og:image content=\"{}\">", image(name));
    let [first, second, third, brief, briefer, _] = NEW;
    for name in [first, second, third] {
        world.web.keep(&url(name), document(&format!("Notes of {name}"), NOINDEX, &own(name)));
    }
    for name in [brief, briefer] {
        world.web.keep(&url(name), document("Nothing", &head(name), "Short."));
    }
    let called = |url: &str| world.called(url);
    let fetch = async |name| {
        let before = calls(&world);
        world.fetch(&visit(&[name], |_| Purpose::New { hints: EntryHints::default() })).await;
        calls(&world) - before
    };
    assert_eq!(
        (fetch(first).await, called(HOME)),
        (3, 1),
        "robots.txt, the page, and the home page as its second call"
    );
    for name in [second, third] {
        assert_eq!((fetch(name).await, called(HOME)), (1, 1), "{name}: later visits of the day use the stored content");
    }
    world.sleep(Millis::from_hours(24)).await;
    assert_eq!((fetch(brief).await, called(HOME)), (3, 2), "robots.txt, the page, and the home page, a day later");
    assert_eq!(called(&image(brief)), 0, "the page has used up its two calls");
    assert!(matches!(world.state(&url(brief)).await, Some(PageState::Pending)));
    assert_eq!((fetch(briefer).await, called(HOME)), (2, 2));
    assert_eq!(called(&image(briefer)), 1, "a stored comparison costs no call");
}
