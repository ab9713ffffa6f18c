//! Entries: one page is visited once, a withdrawn entry is removed, and entries that change with each poll cost little.

use crate::test_world::*;

fn feed_of(items: &str) -> Reply {
    text(rss(items))
}

fn atom(inner: &str) -> Reply {
    let body = format!(
        "<feed xmlns='http://www.w3.org/2005/Atom' xmlns:at='http://purl.org/atompub/tombstones/1.0'>\
         <title>Waders</title><id>urn:waders</id>{inner}</feed>"
    );
    text(body)
}

async fn visits(world: &TestWorld) -> Vec<VisitJob> {
    world.visits().await.into_iter().map(|(visit, _)| visit).collect()
}

/// Returns the URLs of all waiting visits.
async fn named(world: &TestWorld) -> Vec<String> {
    visits(world).await.into_iter().flat_map(|visit| visit.items).map(|item| item.url).collect()
}

#[tokio::test(start_paused = true)]
async fn an_article_in_36_feeds_is_one_page_and_called_once() {
    let world = TestWorld::new();
    let poll = world.poll_stage();
    // Each feed lists the article differently: with a campaign, a fragment, the scheme's port, or an id of its own.
    let forms = ["?utm_source=feed", "#top", "", "?utm_campaign=a&utm_medium=rss"];
    for n in 0..36_usize {
        let url = format!("https://feeds-{n}.example/feed");
        let feed = FeedSource::new(key(&url), Slot::from_hash(0), url.clone());
        world.sources.insert(&Source::Feed(feed)).await.unwrap();
        let (form, id) = (forms[n % forms.len()].replace('&', "&amp;"), n);
        let item =
            format!("<item><guid isPermaLink='false'>{id}</guid><link>https://example.org/a{form}</link></item>");
        world.web.answer(&url, Ok(feed_of(&item)));
        let job = Envelope::new(PollJob::new(key(&url), url));
        assert_eq!(poll.run(&job).await.unwrap(), Verdict::Done);
    }
    let pages: BTreeSet<PageId> = named(&world).await.iter().map(|url| page(url)).collect();
    assert_eq!(pages.len(), 1, "one page must have one id");
    world.serve_page(A, "");
    for visit in visits(&world).await {
        while world.fetch(&visit).await != Verdict::Done {
            world.sleep(Millis::from_secs(5)).await;
        }
    }
    assert_eq!(world.calls(CallKind::Page).len(), 1);
}

#[tokio::test(start_paused = true)]
async fn the_changes_of_a_wiki_lead_to_one_visit_of_each_page_itself() {
    for (changes, pages) in [
        (
            "/w/index.php?title=Tern&diff=18&oldid=17 /w/index.php?title=Tern&diff=17&oldid=0 /wiki/Bay?diff=9&oldid=8",
            ["/w/index.php?title=Tern", "/wiki/Bay"],
        ),
        (
            "/doku.php?id=tern&rev=1700000002&do=diff /doku.php?id=tern&rev=1700000001&do=diff /bay?rev=3&do=diff",
            ["/doku.php?id=tern", "/bay"],
        ),
        (
            "/Tern?action=diff&rev1=2&rev2=3 /Tern?action=diff&rev1=1&rev2=2 /Bay?action=diff&rev1=7&rev2=8",
            ["/Tern", "/Bay"],
        ),
    ] {
        let world = TestWorld::of_feed().await;
        let item = |path: &str| format!("<item><link>https://wiki.example{}</link></item>", path.replace('&', "&amp;"));
        world.web.answer(FEED, Ok(feed_of(&changes.split(' ').map(item).collect::<String>())));
        world.poll(0).await;
        assert_eq!(named(&world).await, pages.map(|path| format!("https://wiki.example{path}")));
    }
}

/// The feed is listed in both orders, since archives list the oldest entry first.
#[tokio::test(start_paused = true)]
async fn of_more_entries_than_are_looked_at_the_newest_are() {
    for oldest_first in [true, false] {
        let world = TestWorld::of_feed().await;
        let most = world.politeness.rules.entries_per_poll;
        let item = |n: usize| {
            let (day, hour) = (1 + n / 24, n % 24);
            format!(
                "<item><link>https://pages.example/{n}</link><pubDate>{day:02} Jan 2026 {hour:02}:00:00 GMT</pubDate></item>"
            )
        };
        let mut items: Vec<String> = (0..most + 20).map(item).collect();
        if !oldest_first {
            items.reverse();
        }
        world.web.keep(FEED, feed_of(&items.concat()));
        world.poll(0).await;
        let first: BTreeSet<String> = named(&world).await.into_iter().collect();
        assert!(first.len() == most && !first.contains("https://pages.example/19"), "{oldest_first}");
        let new = item(most + 20);
        items.insert(if oldest_first { items.len() } else { 0 }, new);
        world.web.keep(FEED, feed_of(&items.concat()));
        world.sleep(Millis::from_days(10)).await;
        assert_eq!(world.poll(0).await, Verdict::Done);
        assert!(named(&world).await.contains(&format!("https://pages.example/{}", most + 20)), "{oldest_first}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_article_under_36_queries_is_one_page_and_a_copy_on_another_host_is_its_own() {
    let world = TestWorld::new();
    let mut urls: Vec<String> = (0..36).map(|n| format!("https://example.org/a?from=feed-{n}")).collect();
    urls.push("https://copy.example/a?from=feed-0".into());
    for url in &urls {
        world.serve_page(url, IMAGE);
        let host = if url.contains("copy") { "copy.example" } else { "example.org" };
        while world.fetch(&visit(host, &[url], &new())).await != Verdict::Done {
            world.sleep(Millis::from_secs(5)).await;
        }
    }
    let jobs = world.extract_jobs().await;
    assert_eq!(jobs.len(), 37);
    // The pages are extracted in several batches, one of which runs twice.
    for batch in [&jobs[..5], &jobs[..5], &jobs[5..20], &jobs[20..]] {
        assert!(world.extract().run_batch(&page_jobs(batch)).await.iter().all(Result::is_ok));
    }
    let mut kept = vec![];
    for url in &urls {
        match world.state(url).await {
            Some(PageState::Accepted { .. }) => kept.push(url.as_str()),
            Some(PageState::Alias { of }) => assert_eq!(of, page(&urls[0])),
            other => panic!("{url}: {other:?}"),
        }
    }
    assert_eq!(kept, [urls[0].as_str(), urls[36].as_str()]);
    assert_eq!(world.publish().await.added, 2);
}

#[tokio::test(start_paused = true)]
async fn f09_many_entries_with_one_id_and_link_are_one_visit() {
    let world = TestWorld::of_feed().await;
    let item = "<item><guid>https://example.org/a</guid><link>https://example.org/a</link></item>";
    world.web.answer(FEED, Ok(feed_of(&item.repeat(400))));
    world.poll(0).await;
    let visits = visits(&world).await;
    assert_eq!((visits.len(), visits[0].items.len(), world.feed().await.seen.len()), (1, 1, 1));
}

#[tokio::test(start_paused = true)]
async fn f09_an_entry_with_other_text_or_another_id_is_not_new() {
    let world = TestWorld::of_feed().await;
    let item = |id: &str, title: &str| {
        let link = "<link>https://example.org/a</link>";
        Ok(feed_of(&format!("<item><guid isPermaLink='false'>{id}</guid><title>{title}</title>{link}</item>")))
    };
    world.web.answer(FEED, item("1", "On curlews"));
    world.web.answer(FEED, item("1", "On curlews, corrected"));
    world.web.answer(FEED, item("2", "On curlews, corrected"));
    world.poll(0).await;
    world.serve_page(A, "");
    let visit = visits(&world).await.remove(0);
    world.sleep(Millis::from_secs(5)).await;
    world.fetch(&visit).await;
    for _ in 0..2 {
        world.next_poll().await;
    }
    assert_eq!(world.calls(CallKind::Feed).len(), 3);
    assert_eq!(visits(&world).await.len(), 1, "one visit for one page");
}

#[tokio::test(start_paused = true)]
async fn entries_of_one_link_are_one_visit_and_all_are_remembered() {
    let world = TestWorld::of_feed().await;
    let items: String = (0..15)
        .map(|n| format!("<item><title>Count {n}</title><link>https://example.org/counts</link></item>"))
        .collect();
    world.web.answer(FEED, Ok(feed_of(&items)));
    world.poll(0).await;
    let visits = visits(&world).await;
    assert_eq!((visits.len(), visits[0].items.len(), world.feed().await.seen.len()), (1, 1, 15));
}

#[tokio::test(start_paused = true)]
async fn a_date_of_an_entry_that_lies_days_ahead_is_no_date() {
    let world = TestWorld::of_feed().await;
    let now = world.politeness.clock.now();
    let dates = [now + Millis::from_days(2), now + Millis::from_hours(3), now - Millis::from_days(2)];
    let item = |(n, date)| format!("<item><link>https://example.org/{n}</link><pubDate>{date}</pubDate></item>");
    world.web.answer(FEED, Ok(feed_of(&dates.iter().enumerate().map(item).collect::<String>())));
    world.poll(0).await;
    let visits = visits(&world).await;
    let hint = |item: &VisitItem| if let Purpose::New { hints } = &item.purpose { hints.published } else { panic!() };
    let hinted: Vec<_> = visits.iter().flat_map(|visit| &visit.items).map(hint).collect();
    let now = world.feed().await.polled_at;
    assert_eq!(hinted, [None, Some(now), Some(dates[2])]);
}

#[tokio::test(start_paused = true)]
async fn an_entry_that_its_feed_has_taken_back_is_removed_once() {
    let world = TestWorld::of_feed().await;
    world.with_page(A, "example.org").await;
    let entry = "<entry><id>urn:b</id><title>B</title><link href='https://example.org/b'/></entry>";
    let deleted = "<at:deleted-entry ref='https://example.org/a' when='2026-11-20T00:00:00Z'/>";
    world.web.answer(FEED, Ok(atom(&format!("{entry}{deleted}"))));
    world.poll(0).await;
    assert_eq!(world.gone(A).await, Some(Gone::Deleted));
    assert_eq!(world.keys("audit/").await.len(), 1);
    let seen = world.feed().await.seen;
    world.next_poll().await;
    assert_eq!(world.feed().await.seen, seen, "the feed's row must remember the removal");
    assert!(visits(&world).await.iter().all(|visit| visit.items.iter().all(|item| item.page != page(A))));
}

#[tokio::test(start_paused = true)]
async fn x17_a_feed_cannot_take_back_another_sites_page_nor_claim_it_by_an_id() {
    let world = TestWorld::of_feed().await;
    let url = "https://other.example/a";
    world.with_page(url, "other.example").await;
    let before = world.pages.get(&page(url)).await.unwrap();
    let entry =
        "<entry><id>https://other.example/a</id><title>Mine</title><link href='https://example.org/b'/></entry>";
    let deleted = "<at:deleted-entry ref='https://other.example/a' when='2026-11-20T00:00:00Z'/>";
    world.web.answer(FEED, Ok(atom(&format!("{entry}{deleted}"))));
    world.web.answer(FEED, Ok(atom(entry)));
    world.poll(0).await;
    world.next_poll().await;
    assert_eq!(world.pages.get(&page(url)).await.unwrap(), before);
    assert_eq!(named(&world).await, [B], "an id must mean nothing outside its feed");
}

#[tokio::test(start_paused = true)]
async fn x19_a_feed_of_new_entries_with_each_call_brings_only_so_many_a_day() {
    let mut world = TestWorld::new();
    world.with_rules(|rules| rules.entries_per_day = 50);
    world.with_feed(|_| {}).await;
    for call in 0..6 {
        let items: String =
            (0..40).map(|n| format!("<item><link>https://example.org/{call}-{n}</link></item>")).collect();
        let mut reply = feed_of(&items);
        reply.headers.validators.etag = Some(format!("\"{call}\""));
        world.web.answer(FEED, Ok(reply));
    }
    let count = async |world: &TestWorld| visits(world).await.iter().map(|visit| visit.items.len()).sum::<usize>();
    world.poll(0).await;
    assert_eq!(count(&world).await, 40);
    world.sleep(Millis::from_hours(9)).await;
    world.poll(0).await;
    assert_eq!(count(&world).await, 50, "the other entries stay unseen");
    assert_eq!(world.feed().await.polling.taken.entries, 50);
    world.sleep(Millis::from_hours(16)).await;
    world.poll(0).await;
    assert_eq!(count(&world).await, 90, "the next day has its own budget");
}

#[tokio::test(start_paused = true)]
async fn x19_what_changes_in_a_document_but_not_in_its_entries_is_not_written() {
    let world = TestWorld::of_feed().await;
    let item = "<item><link>https://example.org/a</link></item>";
    for call in 0..4 {
        world.web.answer(FEED, Ok(feed_of(&format!("{item}<lastBuildDate>{call}</lastBuildDate><!-- {call} -->"))));
    }
    world.poll(0).await;
    world.next_poll().await;
    let row = world.sources.get(&key(FEED)).await.unwrap();
    world.next_poll().await;
    assert_eq!(world.calls(CallKind::Feed).len(), 3);
    assert_eq!(world.sources.get(&key(FEED)).await.unwrap(), row);
}
