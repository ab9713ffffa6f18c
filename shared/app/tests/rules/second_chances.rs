//! Second looks and second choices: rejected pages are fetched again, a wrong canonical link names no page, and an
//! image that cannot be fetched has successors.

use crate::revision::{wait, work};
use crate::test_world::*;
use curlew_crawl::pages::sample::{HowMany, Sampled};

/// Returns a page about a bird, with a text that no other bird's page has.
fn about(bird: &str, head: &str) -> Reply {
    let text: String = (0..40).map(|n| format!("The {bird} number {n} of {bird} bay calls {bird}{n}. ")).collect();
    html_reply(format!(
        "<html><head><title>On the {bird}</title>{IMAGE}{head}</head><body><article><h1>On the {bird}</h1><p>{text}</p></article></body></html>"
    ))
}

fn item(title: &str) -> String {
    rss(&format!("<item><guid>a</guid><title>{title}</title><link>{A}</link></item>"))
}

async fn polled(world: &TestWorld, title: &str) {
    world.web.keep(FEED, text(item(title)));
    let polls = world.calls(CallKind::Feed).len();
    if polls > 0 {
        world.next_slot().await;
    }
    world.poll(0).await;
    assert_eq!(world.calls(CallKind::Feed).len(), polls + 1);
    // The wait covers the host's pause.
    wait(world, 1).await;
    work(world).await;
}

async fn sampled(world: &TestWorld) -> Sampled {
    let sample = world.sample();
    let sampled = sample.run(HowMany::Daily(50)).await.unwrap();
    work(world).await;
    sampled
}

fn rejected(reason: Rejection) -> Option<PageState> {
    Some(PageState::Rejected { reason })
}

fn pages_called(world: &TestWorld, url: &str) -> usize {
    world.calls(CallKind::Page).iter().filter(|call| call.url == url).count()
}

#[tokio::test(start_paused = true)]
async fn a_rejected_page_is_looked_at_again_when_its_entry_changes() {
    for (reply, reason) in [
        (about("godwit", "<meta name=robots content=noindex>"), Rejection::Noindex),
        (status(404), Rejection::Status(404)),
        (html_reply(html("")), Rejection::NoImage),
    ] {
        let world = TestWorld::new();
        world.with_feed(|feed| feed.image = None).await;
        world.web.keep(A, reply);
        polled(&world, "The godwit").await;
        assert_eq!(world.state(A).await, rejected(reason.clone()));
        let calls = pages_called(&world, A);
        wait(&world, 25).await;
        polled(&world, "The godwit").await;
        assert_eq!(pages_called(&world, A), calls, "{reason}: nothing has changed");
        world.web.keep(A, about("godwit", ""));
        polled(&world, "The godwit, once more").await;
        assert_eq!(pages_called(&world, A), calls + 1, "{reason}");
        assert!(world.is_accepted(A).await, "{reason}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_rejected_page_is_looked_at_again_after_a_week_and_after_a_month_and_no_more() {
    let world = TestWorld::new();
    world.with_feed(|feed| feed.image = None).await;
    world.web.keep(A, html_reply(html("")));
    polled(&world, "The godwit").await;
    let first = world.row(A).await;
    let mut looks = vec![];
    for day in 1..120 {
        wait(&world, 24).await;
        let calls = pages_called(&world, A);
        let sampled = sampled(&world).await;
        assert_eq!((sampled.indexed, sampled.second_looks), (0, pages_called(&world, A) - calls), "one call per look");
        looks.extend((sampled.second_looks > 0).then_some(day));
        assert_eq!(world.state(A).await, rejected(Rejection::NoImage));
    }
    assert_eq!(looks, [7, 30]);
    let row = world.row(A).await;
    assert_eq!((row.rejected_at, row.feed), (Some(first.at), first.feed), "the row must keep its content");
    assert!(row.at > first.at);
}

#[tokio::test(start_paused = true)]
async fn a_second_look_takes_the_page_that_is_better_now_and_leaves_what_was_screened_out() {
    for (reason, is_taken) in [
        (Rejection::ShortText, true),
        (Rejection::NoTitle, true),
        (Rejection::Screened(Screened::new(vec!["adult".into()], None)), false),
        (Rejection::Status(410), false),
    ] {
        let world = TestWorld::new();
        let state = PageState::Rejected { reason: reason.clone() };
        world.pages.insert(&Page { state, at: world.now(), ..accepted(A) }).await.unwrap();
        world.web.keep(A, about("godwit", ""));
        wait(&world, 8 * 24).await;
        assert_eq!(sampled(&world).await.second_looks, usize::from(is_taken), "{reason}");
        assert_eq!(world.is_accepted(A).await, is_taken, "{reason}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_host_out_of_reach_leaves_the_reason_of_a_rejection() {
    let world = TestWorld::new();
    let state = PageState::Rejected { reason: Rejection::ShortText };
    let row = Page { state, at: world.now(), ..accepted(A) };
    world.pages.insert(&row).await.unwrap();
    world.web.answer(A, Err(FetchError::Network("gone".into())));
    wait(&world, 8 * 24).await;
    let mut days = 0;
    assert_eq!(sampled(&world).await.second_looks, 1);
    while !world.jobs.left().is_empty() {
        wait(&world, 24).await;
        work(&world).await;
        days += 1;
        assert!(days < 100, "the looks must come to an end");
    }
    assert_eq!(world.state(A).await, rejected(Rejection::ShortText));
}

#[tokio::test(start_paused = true)]
async fn a_message_in_place_of_an_announced_page_is_rejected_until_the_page_is_there() {
    let world = TestWorld::new();
    world.with_feed(|feed| feed.image = None).await;
    let text = "We are sorry: there is nothing at this address. Please try the search or go to the start. ".repeat(5);
    let message = |title: &str| {
        html_reply(format!(
            "<html><head><title>{title}</title>{IMAGE}</head><body><article><h1>{title}</h1><p>{text}</p></article></body></html>"
        ))
    };
    world.web.keep(A, message("Page not found"));
    polled(&world, "Godwits of Friesland").await;
    for _ in 0..4 {
        wait(&world, 25).await;
        work(&world).await;
    }
    assert_eq!(world.state(A).await, rejected(Rejection::SoftNotFound("Godwits of Friesland".into())));
    wait(&world, 6 * 24).await;
    assert_eq!(sampled(&world).await.second_looks, 1);
    for _ in 0..4 {
        wait(&world, 25).await;
        work(&world).await;
    }
    assert_eq!(world.state(A).await, rejected(Rejection::SoftNotFound("Godwits of Friesland".into())), "rejected");
    world.web.keep(A, about("godwit", ""));
    wait(&world, 25 * 24).await;
    assert_eq!(sampled(&world).await.second_looks, 1);
    assert!(world.is_accepted(A).await);
}

#[tokio::test(start_paused = true)]
async fn pages_that_share_a_wrong_canonical_link_are_pages_of_their_own() {
    let birds = ["godwit", "curlew", "whimbrel", "dunlin"];
    let url = |bird: &str| format!("https://example.org/{bird}");
    for link in [
        "https://example.org/undefined",
        "https://example.org/blog/[slug]",
        "https://example.org/{{ page.url }}",
        "https://example.org/blog/",
        "https://example.org/godwit",
        "https://example.org/www.example.org/post",
        "https://example.org/missing",
    ] {
        let world = TestWorld::new();
        let list =
            birds.map(|bird| format!("<p>The newest of the {bird}, and what else there is of it in the bay.</p>"));
        world.web.keep("https://example.org/blog/", html_reply(html(&format!("{IMAGE}{}", list.concat()))));
        for bird in birds {
            world.web.keep(&url(bird), about(bird, &format!("<link rel=canonical href=\"{link}\">")));
        }
        let urls = birds.map(url);
        world.fetch(&visit("example.org", &urls.each_ref().map(String::as_str), &new())).await;
        work(&world).await;
        for bird in birds {
            assert_eq!(world.record(&url(bird)).await.title, format!("On the {bird}"), "{link}");
        }
        assert!(pages_called(&world, link) <= 2, "{link}: the URL may be called once as a page and once as a link");
        // A re-check removes no page.
        wait(&world, 48).await;
        sampled(&world).await;
        world.remove_what_was_sent().await;
        for bird in birds {
            assert!(world.is_accepted(&url(bird)).await, "{link}: {bird}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_canonical_link_that_only_drops_what_a_feed_added_costs_no_call() {
    let world = TestWorld::new();
    let link = format!("<link rel=canonical href=\"{A}\">");
    world.web.keep("https://example.org/a?source=rss", about("godwit", &link));
    world.visit(&["https://example.org/a?source=rss"]).await;
    work(&world).await;
    assert_eq!((world.record(A).await.url.as_str(), pages_called(&world, A)), (A, 0));
    // A parameter that looks like the number of an article is not dropped.
    let world = TestWorld::new();
    for (n, bird) in ["godwit", "curlew"].into_iter().enumerate() {
        world.web.keep(&format!("https://example.org/a?id={n}"), about(bird, &link));
    }
    world.visit(&["https://example.org/a?id=0", "https://example.org/a?id=1"]).await;
    work(&world).await;
    for (n, bird) in ["godwit", "curlew"].into_iter().enumerate() {
        assert_eq!(world.record(&format!("https://example.org/a?id={n}")).await.title, format!("On the {bird}"));
    }
}

#[tokio::test(start_paused = true)]
async fn a_canonical_link_that_the_visit_has_fetched_is_not_called_again() {
    let world = TestWorld::new();
    let (link, print) = (format!("<link rel=canonical href=\"{A}\">"), "https://example.org/print/a");
    for url in [A, print] {
        world.web.keep(url, about("godwit", &link));
    }
    world.visit(&[A, print]).await;
    assert_eq!(pages_called(&world, A), 1);
    assert!(matches!(world.state(print).await, Some(PageState::Alias { .. })));
    work(&world).await;
    assert_eq!((world.record(A).await.url.as_str(), pages_called(&world, A)), (A, 1));
}

#[tokio::test(start_paused = true)]
async fn a_canonical_link_to_a_host_that_is_not_known_costs_the_visit_nothing() {
    let world = TestWorld::new();
    world.web.answer("https://staging.example.org/robots.txt", Err(FetchError::Network("no answer".into())));
    let urls = [A, B, C];
    for (url, bird) in urls.iter().zip(["godwit", "curlew", "dunlin"]) {
        let path = url.trim_start_matches("https://example.org");
        let link = format!("<link rel=canonical href=\"https://staging.example.org{path}\">");
        world.web.keep(url, about(bird, &link));
    }
    world.visit(&urls).await;
    work(&world).await;
    for url in urls {
        assert_eq!(world.record(url).await.url, url);
    }
    assert!(world.web.calls().iter().all(|call| !call.url.contains("staging")), "{:?}", world.web.calls());
}

fn with_images(head: &str) -> String {
    html(head).replace("<article>", "<article><img src=\"/body.png\" width=640 height=400>")
}

fn images_called(world: &TestWorld) -> Vec<String> {
    world.calls(CallKind::Image).into_iter().map(|call| call.url).collect()
}

#[tokio::test(start_paused = true)]
async fn the_second_choice_of_an_image_is_called_at_once_if_the_first_may_not_be() {
    let world = TestWorld::new();
    world.web.serve(ROBOTS, "text/plain", "User-agent: *\nDisallow: /private/\n");
    let head = "<meta property=og:image content=/private/a.png><meta name=twitter:image content=/card.png>";
    world.web.keep(A, html_reply(with_images(head)));
    world.web.serve("https://example.org/card.png", "image/png", png(120));
    world.visit(&[A]).await;
    work(&world).await;
    let record = world.record(A).await;
    assert_eq!(record.image.as_deref(), Some("https://example.org/card.png"));
    assert!(record.thumbnail.is_some());
    assert_eq!(images_called(&world), ["https://example.org/card.png"]);
}

#[tokio::test(start_paused = true)]
async fn the_second_choice_of_an_image_that_failed_is_called_a_day_later() {
    let world = TestWorld::new();
    world.web.keep(A, html_reply(with_images("<meta property=og:image content=/missing.png>")));
    world.web.serve("https://example.org/body.png", "image/png", png(120));
    let hints = EntryHints::default();
    world.fetch(&visit("example.org", &[A], &Purpose::New { hints })).await;
    work(&world).await;
    assert_eq!(images_called(&world), ["https://example.org/missing.png"], "two calls for each look at a page");
    let record = world.record(A).await;
    assert_eq!(record.image.as_deref(), Some("https://example.org/body.png"));
    let Some(ThumbnailId::Object(image)) = record.thumbnail else { panic!("the record must have a second choice") };
    wait(&world, 25).await;
    work(&world).await;
    assert_eq!(images_called(&world), ["https://example.org/missing.png", "https://example.org/body.png"]);
    let id = ThumbnailId::Object(image);
    let jpeg = curlew_catalog::thumbnails::thumbnail(world.blobs.as_ref(), &id).await.unwrap();
    assert!(jpeg.is_some());
}

#[tokio::test(start_paused = true)]
async fn an_image_elsewhere_that_gave_none_gives_way_on_later_pages() {
    let world = TestWorld::new();
    let elsewhere = "https://cdn.example.net/card.png";
    let mut images = Vec::new();
    for bird in ["godwit", "curlew"] {
        let url = format!("https://example.org/{bird}");
        let page = String::from_utf8(about(bird, "").body.to_vec()).unwrap();
        let page = page.replace("https://example.org/i.png", elsewhere);
        world.web.keep(&url, html_reply(page.replace("<article>", &format!("<article><img src=/{bird}.png>"))));
        world.visit(&[&url]).await;
        work(&world).await;
        wait(&world, 1).await;
        work(&world).await;
        images.push(world.record(&url).await.image.unwrap());
    }
    assert_eq!(images, [elsewhere, "https://example.org/curlew.png"]);
    assert_eq!(images_called(&world), images, "each image must be called once");
}
