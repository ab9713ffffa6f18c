//! Pages that change: after a re-check the index has the new content.

use crate::index::{ask, removal, traces};
use crate::test_world::*;

const ITEM: &str = "<item><title>T</title><link>https://example.org/a</link></item>";

/// Returns a page with a word of its own; the rest is always the same.
pub(crate) fn document(word: &str) -> Reply {
    let prose =
        "The curlew walks along the edge of the water and probes the mud for worms and small crabs of the bay. ";
    let body = format!(
        "<html><head><title>On waders</title></head><body><article><h1>On waders</h1><p>{}</p><p>Correction of today: it was \
         the {word}.</p></article></body></html>",
        prose.repeat(6)
    );
    let mut reply = text(body);
    reply.headers.content_type = Some("text/html; charset=utf-8".into());
    reply.headers.validators = Validators { etag: Some(format!("\"{word}\"")), last_modified: None };
    reply
}

/// Runs all due jobs of fetch and extract, each of them twice.
pub(crate) async fn work(world: &TestWorld) {
    for _ in 0..20 {
        let mut ran = 0;
        for stage in [QueueName::Fetch, QueueName::Extract] {
            for delivery in world.jobs.receive(stage, 99, Millis::from_hours(1), world.now()).await.unwrap() {
                ran += 1;
                for _ in 0..2 {
                    let job = delivery.job.as_ref().unwrap();
                    match &job.work {
                        Work::Fetch(_) => drop(world.fetch(job).await),
                        Work::Extract(page) => drop(world.extract().run(&job.with(page.clone())).await.unwrap()),
                        other => panic!("{other:?}"),
                    }
                }
                world.jobs.ack(&delivery.receipt).await.unwrap();
            }
        }
        if ran == 0 {
            return;
        }
    }
    panic!("the jobs do not end");
}

pub(crate) async fn wait(world: &TestWorld, hours: u64) {
    world.sleep(Millis::from_hours(hours)).await;
}

/// Publishes a page that a feed lists.
pub(crate) async fn publish(world: &TestWorld, word: &str) {
    publish_as(world, document(word)).await;
}

/// Publishes a page that a feed lists and that has this reply.
pub(crate) async fn publish_as(world: &TestWorld, reply: Reply) {
    world.with_feed(|_| {}).await;
    world.web.keep(FEED, text(rss(ITEM)));
    world.web.keep(A, reply);
    world.poll(0).await;
    work(world).await;
    world.index().publish(world.now().year()).await.unwrap();
    wait(world, 49).await;
}

/// Returns a world with a published page that a feed lists.
pub(crate) async fn published(word: &str) -> TestWorld {
    let world = TestWorld::new();
    publish(&world, word).await;
    world
}

/// Returns a world with a published page that has this reply.
pub(crate) async fn published_as(reply: Reply) -> TestWorld {
    published_in(TestWorld::new(), reply).await
}

pub(crate) async fn published_in(world: TestWorld, reply: Reply) -> TestWorld {
    publish_as(&world, reply).await;
    world
}

pub(crate) async fn recheck(world: &TestWorld) {
    world.recheck(A).await;
    work(world).await;
}

async fn finds(world: &TestWorld, word: &str) -> u64 {
    ask(world, word).await.total
}

#[tokio::test(start_paused = true)]
async fn an_edited_page_is_found_by_its_new_words_and_by_no_old_one() {
    let world = published("whimbrel").await;
    let words = ["whimbrel", "godwit", "dunlin", "sanderling"];
    for (n, pair) in words.windows(2).enumerate() {
        let [old, new] = pair else { panic!() };
        assert_eq!(finds(&world, old).await, 1, "{old}");
        world.web.keep(A, document(new));
        recheck(&world).await;
        assert!(world.record(A).await.text.contains(new), "the record must be new at once");
        assert_eq!(finds(&world, old).await, 1, "the index must be unchanged until it is published");
        match n {
            // A merged index has one copy of the page. An unmerged one has two, and the older one is hidden.
            0 => drop(world.publish().await),
            _ => drop(world.index().refresh(2026).await.unwrap()),
        }
        for gone in &words[..=n] {
            assert_eq!(finds(&world, gone).await, 0, "{gone} after {new}");
        }
        assert_eq!((finds(&world, new).await, finds(&world, "curlew").await), (1, 1), "{new}");
        // The count does not open splits, so it cannot know that two copies belong to one page.
        assert_eq!(world.index().indexed(2026).await.unwrap(), if n == 0 { 2 } else { 1 }, "{new}");
        wait(&world, 25).await;
    }
    // Nothing of the old texts is left once unlisted objects are swept.
    world.index().refresh(2026).await.unwrap();
    wait(&world, 25).await;
    world.publish().await;
    wait(&world, 25).await;
    world.publish().await;
    for old in ["whimbrel", "godwit", "dunlin"] {
        assert_eq!(traces(&world, &[old]).await, Vec::<String>::new(), "{old}");
    }
    assert_eq!(finds(&world, "sanderling").await, 1);
    let row = world.row(A).await;
    assert!(row.checked_at > Some(row.at), "the time of acceptance must stay");
}

#[tokio::test(start_paused = true)]
async fn a_page_that_goes_after_an_edit_goes_with_all_its_copies() {
    for publishes in 0..3 {
        let world = published("whimbrel").await;
        for (n, word) in ["godwit", "dunlin"].iter().enumerate() {
            world.web.keep(A, document(word));
            recheck(&world).await;
            if n < publishes {
                world.publish().await;
            }
            wait(&world, 25).await;
        }
        removal(&world).remove(&page(A), Gone::NotFound).await.unwrap();
        assert_eq!(finds(&world, "curlew").await, 0, "{publishes}");
        let segments = traces(&world, &["whimbrel", "godwit", "dunlin"]).await;
        let left: Vec<&String> = segments.iter().filter(|key| key.starts_with("segments/")).collect();
        // No segment may keep a record of the page, whether the revisions were published or not.
        assert!(left.is_empty(), "{publishes}: {left:?}");
        for _ in 0..3 {
            world.index().refresh(2026).await.unwrap();
            assert_eq!(finds(&world, "curlew").await, 0, "{publishes}: a merge must not bring the page back");
            wait(&world, 25).await;
        }
        assert_eq!(traces(&world, &["whimbrel", "godwit", "dunlin"]).await, Vec::<String>::new(), "{publishes}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_removal_that_was_cut_off_anywhere_leaves_no_text_once_it_is_repeated() {
    for cut in 0.. {
        let world = published("whimbrel").await;
        for word in ["godwit", "dunlin"] {
            world.web.keep(A, document(word));
            recheck(&world).await;
            wait(&world, 25).await;
        }
        let faults = Faults::crash_at(cut, world.politeness.clock.clone());
        let ended = world.faulty_program(&faults).library.removal.remove(&page(A), Gone::NotFound).await;
        assert_eq!(ended.is_err(), faults.has_crashed(), "{cut}");
        removal(&world).remove(&page(A), Gone::NotFound).await.unwrap();
        assert_eq!(finds(&world, "curlew").await, 0, "{cut}");
        let segments = traces(&world, &["whimbrel", "godwit", "dunlin"]).await;
        let left: Vec<&String> = segments.iter().filter(|key| key.starts_with("segments/")).collect();
        assert!(left.is_empty(), "cut before call {cut}: {left:?}");
        if !faults.has_crashed() {
            assert!(cut > 8, "a removal has more steps than {cut}");
            return;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn at_new_year_an_edited_page_changes_over_and_is_found_once() {
    let world = published("whimbrel").await;
    let to: Timestamp = "2027-01-02T00:00:00Z".parse().unwrap();
    world.sleep_until(to).await;
    world.web.keep(A, document("godwit"));
    recheck(&world).await;
    world.index().publish(2027).await.unwrap();
    world.publish().await;
    assert_eq!((finds(&world, "whimbrel").await, finds(&world, "godwit").await), (0, 1));
    world.index().refresh(2026).await.unwrap();
    world.index().refresh(2027).await.unwrap();
    assert_eq!((finds(&world, "whimbrel").await, finds(&world, "godwit").await), (0, 1));
    let indexed = (world.index().indexed(2026).await.unwrap(), world.index().indexed(2027).await.unwrap());
    assert_eq!(indexed, (0, 1));
    removal(&world).remove(&page(A), Gone::NotFound).await.unwrap();
    assert_eq!(finds(&world, "curlew").await, 0);
}

#[tokio::test(start_paused = true)]
async fn a_page_that_says_too_little_now_stays_as_it_was_and_one_that_is_screened_goes() {
    let world = published("whimbrel").await;
    let short = "<html><head><title>On waders</title></head><body><p>Subscribe to read on.</p></body></html>";
    world.web.keep(A, Reply { body: short.into(), ..document("x") });
    recheck(&world).await;
    assert!(world.record(A).await.text.contains("whimbrel"));
    wait(&world, 25).await;
    let listed = curlew_screen::Screener::standard();
    let adult =
        format!("{} {}", String::from_utf8_lossy(&document("x").body), "porn xxx hardcore sex porn videos ".repeat(60));
    let said = curlew_screen::Page { title: "On waders", text: &adult, language: None, host: None };
    assert_eq!(listed.screen(&said).verdict, curlew_screen::Verdict::Reject, "the rules reject the new text");
    let body = adult.replace("</article>", "").replace("</body></html>", "") + "</article></body></html>";
    world.web.keep(A, Reply { body: body.into(), ..document("y") });
    recheck(&world).await;
    assert_eq!(world.gone(A).await, Some(Gone::Screened));
    assert_eq!(finds(&world, "curlew").await, 0);
}

#[tokio::test(start_paused = true)]
async fn a_recheck_is_conditional_and_a_304_is_one_that_was_passed() {
    let world = published("whimbrel").await;
    let before = world.row(A).await;
    recheck(&world).await;
    let asked = world.calls(CallKind::Page);
    assert_eq!(asked.last().unwrap().validators.etag.as_deref(), Some("\"whimbrel\""));
    let after = world.row(A).await;
    assert_eq!((after.checked_at, &after.state), (Some(world.now()), &before.state));
    // A changed page is requested with its new validators from then on.
    wait(&world, 25).await;
    world.web.keep(A, document("godwit"));
    recheck(&world).await;
    wait(&world, 25).await;
    recheck(&world).await;
    let asked: Vec<_> = world.calls(CallKind::Page).into_iter().filter_map(|call| call.validators.etag).collect();
    // Each visit runs twice.
    assert_eq!(asked.last().map(String::as_str), Some("\"godwit\""), "{asked:?}");
}

fn atom(updated: &[&str]) -> Reply {
    let entries: String = updated
        .iter()
        .enumerate()
        .map(|(n, at)| {
            let link = format!("https://example.org/{}", ["a", "b", "c", "d", "e", "f"][n]);
            format!("<entry><title>T{n}</title><id>{link}</id><link href=\"{link}\"/><updated>{at}</updated></entry>")
        })
        .collect();
    let feed = format!("<feed xmlns=\"http://www.w3.org/2005/Atom\"><title>W</title><id>x</id>{entries}</feed>");
    text(feed)
}

/// Returns the pages that the polls so far have had re-checked.
async fn rechecks(world: &TestWorld) -> Vec<String> {
    let items = world.visits().await.into_iter().flat_map(|(visit, _)| visit.items);
    let found = items.filter(|item| item.purpose == Purpose::Recheck).map(|item| item.url).collect();
    world.settle(QueueName::Fetch, 99, Timestamp::MAX).await;
    found
}

async fn six_pages() -> TestWorld {
    let world = TestWorld::of_feed().await;
    world.web.keep(FEED, atom(&["2026-11-20T00:00:00Z"; 6]));
    for n in ["a", "b", "c", "d", "e", "f"] {
        world.web.keep(&format!("https://example.org/{n}"), document(n));
    }
    world.poll(0).await;
    work(&world).await;
    wait(&world, 9).await;
    world
}

#[tokio::test(start_paused = true)]
async fn an_entry_that_its_feed_calls_updated_has_its_page_rechecked() {
    let world = six_pages().await;
    let (old, new) = ("2026-11-20T00:00:00Z", "2026-11-21T08:00:00Z");
    world.web.keep(FEED, atom(&[old, new, old, old, old, old]));
    world.next_poll().await;
    assert_eq!(rechecks(&world).await, Vec::<String>::new(), "no re-check within a day of the last one");
    world.sleep(Millis::from_secs(18 * HOUR)).await;
    world.next_poll().await;
    assert_eq!(rechecks(&world).await, [B], "the page must be re-checked a day later");
    let (state, _) = world.hosts.load(&host("example.org")).await.unwrap();
    assert_eq!(state.lease, None, "the visit that the poll has sent needs the lease");
    world.next_poll().await;
    assert_eq!(rechecks(&world).await, Vec::<String>::new(), "the page must be re-checked once");
    assert_eq!(world.feed().await.stamps.len(), 6);
    assert_eq!(world.feed().await.key, key(FEED));
}

#[tokio::test(start_paused = true)]
async fn a_feed_that_renews_all_its_dates_each_time_has_nothing_rechecked() {
    let world = six_pages().await;
    for day in 22..30 {
        let at = format!("2026-11-{day}T03:00:00Z");
        world.web.keep(FEED, atom(&[at.as_str(); 6]));
        world.sleep(Millis::from_days(1)).await;
        world.next_poll().await;
        assert_eq!(rechecks(&world).await, Vec::<String>::new(), "{day}");
    }
}
