//! Entries: one page is visited once, a withdrawn entry is removed, and entries that change with each call cost little.

use crate::test_world::{FEED, TestWorld, accepted, html, key, page, page_jobs, status};
use curlew_model::{
    Envelope, FeedSource, Gone, HostKey, Job, Millis, PageState, PollJob, Purpose, QueueName, Slot, Source, VisitJob,
    Work,
};
use curlew_ports::stage::Verdict;
use curlew_ports::{Blobs, CallKind, Pages, Reply, Sources};

fn rss(items: &str) -> Reply {
    Reply { body: crate::test_world::rss(items).into(), ..status(200) }
}

fn atom(inner: &str) -> Reply {
    let body = format!(
        "<feed xmlns='http://www.w3.org/2005/Atom' xmlns:at='http://purl.org/atompub/tombstones/1.0'>\
         <title>Waders</title><id>urn:waders</id>{inner}</feed>"
    );
    Reply { body: body.into(), ..status(200) }
}

async fn visits(world: &TestWorld) -> Vec<VisitJob> {
    let jobs = world.queued(QueueName::Fetch).await;
    jobs.into_iter()
        .filter_map(|(job, _)| if let Job { work: Work::Fetch(job), .. } = job { Some(job) } else { None })
        .collect()
}

#[tokio::test(start_paused = true)]
async fn an_article_in_36_feeds_is_one_page_and_called_once() {
    let world = TestWorld::new();
    let poll = world.poll_stage();
    // Each feed names it in its own way: by campaign, fragment, scheme's port, an id of its own.
    let forms = ["?utm_source=feed", "#top", "", "?utm_campaign=a&utm_medium=rss"];
    for n in 0..36_usize {
        let url = format!("https://feeds-{n}.example/feed");
        let feed = FeedSource::new(key(&url), Slot::from_hash(0), url.clone());
        world.sources.insert(&Source::Feed(feed)).await.unwrap();
        let (form, id) = (forms[n % forms.len()].replace('&', "&amp;"), n);
        let item =
            format!("<item><guid isPermaLink='false'>{id}</guid><link>https://example.org/a{form}</link></item>");
        world.web.answer(&url, Ok(rss(&item)));
        let job = Envelope::new(PollJob::new(key(&url), url));
        assert_eq!(poll.run(&job).await.unwrap(), Verdict::Done);
    }
    let pages: std::collections::BTreeSet<_> =
        visits(&world).await.iter().flat_map(|visit| visit.items.iter().map(|item| item.page.clone())).collect();
    assert_eq!(pages.len(), 1, "one page under one id");
    world.web.serve("https://example.org/a", "text/html", html(""));
    for visit in visits(&world).await {
        while world.fetch(&visit).await != Verdict::Done {
            world.politeness.clock.sleep(Millis::from_secs(5)).await;
        }
    }
    assert_eq!(world.calls(CallKind::Page).len(), 1);
}

#[tokio::test(start_paused = true)]
async fn the_changes_of_a_wiki_lead_to_one_visit_of_each_page_itself() {
    for (changes, pages) in [
        (
            [
                "/w/index.php?title=Tern&diff=18&oldid=17",
                "/w/index.php?title=Tern&diff=17&oldid=0",
                "/wiki/Bay?diff=9&oldid=8",
            ],
            ["/w/index.php?title=Tern", "/wiki/Bay"],
        ),
        (
            [
                "/doku.php?id=birds:tern&rev=1700000002&do=diff",
                "/doku.php?id=birds:tern&rev=1700000001&do=diff",
                "/bay?rev=1700000003&do=diff",
            ],
            ["/doku.php?id=birds:tern", "/bay"],
        ),
        (
            ["/Tern?action=diff&rev1=2&rev2=3", "/Tern?action=diff&rev1=1&rev2=2", "/Bay?action=diff&rev1=7&rev2=8"],
            ["/Tern", "/Bay"],
        ),
    ] {
        let world = TestWorld::new();
        world.with_feed(|_| {}).await;
        let item = |path: &str| format!("<item><link>https://wiki.example{}</link></item>", path.replace('&', "&amp;"));
        world.web.answer(FEED, Ok(rss(&changes.map(item).concat())));
        world.poll(0).await;
        let urls: Vec<String> =
            visits(&world).await.into_iter().flat_map(|visit| visit.items).map(|item| item.url).collect();
        assert_eq!(urls, pages.map(|path| format!("https://wiki.example{path}")));
    }
}

/// As in an archive that lists the oldest first.
#[tokio::test(start_paused = true)]
async fn of_more_entries_than_are_looked_at_the_newest_are() {
    for oldest_first in [true, false] {
        let world = TestWorld::new();
        world.with_feed(|_| {}).await;
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
        world.web.keep(FEED, rss(&items.concat()));
        world.poll(0).await;
        let named = async || -> std::collections::BTreeSet<String> {
            visits(&world).await.into_iter().flat_map(|visit| visit.items).map(|item| item.url).collect()
        };
        let first = named().await;
        assert!(first.len() == most && !first.contains("https://pages.example/19"), "{oldest_first}");
        let new = item(most + 20);
        items.insert(if oldest_first { items.len() } else { 0 }, new);
        world.web.keep(FEED, rss(&items.concat()));
        world.politeness.clock.sleep(Millis::from_days(10)).await;
        assert_eq!(world.poll(0).await, Verdict::Done);
        assert!(named().await.contains(&format!("https://pages.example/{}", most + 20)), "{oldest_first}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_article_under_36_queries_is_one_page_and_a_copy_on_another_host_is_its_own() {
    let world = TestWorld::new();
    let image = "<meta property=\"og:image\" content=\"https://example.org/i.png\">";
    let mut urls: Vec<String> = (0..36).map(|n| format!("https://example.org/a?from=feed-{n}")).collect();
    urls.push("https://copy.example/a?from=feed-0".into());
    for url in &urls {
        world.web.serve(url, "text/html", html(image));
        let host = if url.contains("copy") { "copy.example" } else { "example.org" };
        while world.fetch(&crate::test_world::visit(host, &[url], &crate::test_world::new())).await != Verdict::Done {
            world.politeness.clock.sleep(Millis::from_secs(5)).await;
        }
    }
    let mut jobs = vec![];
    for (job, _) in world.queued(QueueName::Extract).await {
        if let Job { work: Work::Extract(job), .. } = job {
            jobs.push(*job);
        }
    }
    assert_eq!(jobs.len(), 37);
    // In several batches, one of which runs twice.
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
    assert_eq!(world.index().publish(2026).await.unwrap().added, 2);
}

#[tokio::test(start_paused = true)]
async fn f09_many_entries_with_one_id_and_link_are_one_visit() {
    let world = TestWorld::new();
    world.with_feed(|_| {}).await;
    let item = "<item><guid>https://example.org/a</guid><link>https://example.org/a</link></item>";
    world.web.answer(FEED, Ok(rss(&item.repeat(400))));
    world.poll(0).await;
    let visits = visits(&world).await;
    assert_eq!((visits.len(), visits[0].items.len(), world.feed().await.seen.len()), (1, 1, 1));
}

#[tokio::test(start_paused = true)]
async fn f09_an_entry_with_other_text_or_another_id_is_not_new() {
    let world = TestWorld::new();
    world.with_feed(|_| {}).await;
    let item = |id: &str, title: &str| {
        let link = "<link>https://example.org/a</link>";
        Ok(rss(&format!("<item><guid isPermaLink='false'>{id}</guid><title>{title}</title>{link}</item>")))
    };
    world.web.answer(FEED, item("1", "On curlews"));
    world.web.answer(FEED, item("1", "On curlews, corrected"));
    world.web.answer(FEED, item("2", "On curlews, corrected"));
    world.poll(0).await;
    world.web.serve("https://example.org/a", "text/html", html(""));
    let visit = visits(&world).await.remove(0);
    world.politeness.clock.sleep(Millis::from_secs(5)).await;
    world.fetch(&visit).await;
    for _ in 0..2 {
        world.next_slot().await;
        world.poll(0).await;
    }
    assert_eq!(world.calls(CallKind::Feed).len(), 3);
    assert_eq!(visits(&world).await.len(), 1, "one visit for one page");
}

#[tokio::test(start_paused = true)]
async fn entries_of_one_link_are_one_visit_and_all_are_remembered() {
    let world = TestWorld::new();
    world.with_feed(|_| {}).await;
    let items: String = (0..15)
        .map(|n| format!("<item><title>Count {n}</title><link>https://example.org/counts</link></item>"))
        .collect();
    world.web.answer(FEED, Ok(rss(&items)));
    world.poll(0).await;
    let visits = visits(&world).await;
    assert_eq!((visits.len(), visits[0].items.len(), world.feed().await.seen.len()), (1, 1, 15));
}

#[tokio::test(start_paused = true)]
async fn a_date_of_an_entry_that_lies_days_ahead_is_no_date() {
    let world = TestWorld::new();
    world.with_feed(|_| {}).await;
    let now = world.politeness.clock.now();
    let dates = [now + Millis::from_days(2), now + Millis::from_hours(3), now - Millis::from_days(2)];
    let item = |(n, date)| format!("<item><link>https://example.org/{n}</link><pubDate>{date}</pubDate></item>");
    world.web.answer(FEED, Ok(rss(&dates.iter().enumerate().map(item).collect::<String>())));
    world.poll(0).await;
    let visits = visits(&world).await;
    let hinted: Vec<_> = visits
        .iter()
        .flat_map(|visit| &visit.items)
        .map(|item| match &item.purpose {
            Purpose::New { hints } => hints.published,
            other => panic!("{other:?}"),
        })
        .collect();
    let now = world.feed().await.polled_at;
    assert_eq!(hinted, [None, Some(now), Some(dates[2])]);
}

/// A page that is accepted, and whose record lies in a segment.
async fn with_page(world: &TestWorld, url: &str, host: &str) {
    let mut frame = 0x184D_2A50_u32.to_le_bytes().to_vec();
    frame.extend(8_u32.to_le_bytes());
    frame.extend([0; 8]);
    let mut row = accepted(url);
    row.host = HostKey::new(host).unwrap();
    if let PageState::Accepted { location, .. } = &mut row.state {
        location.length = frame.len() as u64;
    }
    world.blobs.put("segments/2026/11/20/ab.jsonl.zst", frame.into()).await.unwrap();
    assert!(world.pages.insert(&row).await.unwrap());
}

#[tokio::test(start_paused = true)]
async fn an_entry_that_its_feed_has_taken_back_is_removed_once() {
    let world = TestWorld::new();
    world.with_feed(|_| {}).await;
    let url = "https://example.org/a";
    with_page(&world, url, "example.org").await;
    let entry = "<entry><id>urn:b</id><title>B</title><link href='https://example.org/b'/></entry>";
    let deleted = "<at:deleted-entry ref='https://example.org/a' when='2026-11-20T00:00:00Z'/>";
    world.web.answer(FEED, Ok(atom(&format!("{entry}{deleted}"))));
    world.poll(0).await;
    assert_eq!(world.state(url).await, Some(PageState::Gone { reason: Gone::Deleted }));
    assert_eq!(world.blobs.list("audit/", None, 9).await.unwrap().len(), 1);
    let seen = world.feed().await.seen;
    world.next_slot().await;
    world.poll(0).await;
    assert_eq!(world.feed().await.seen, seen, "it is remembered that it was done");
    assert!(visits(&world).await.iter().all(|visit| visit.items.iter().all(|item| item.page != page(url))));
}

#[tokio::test(start_paused = true)]
async fn x17_a_feed_cannot_take_back_another_sites_page_nor_claim_it_by_an_id() {
    let world = TestWorld::new();
    world.with_feed(|_| {}).await;
    let url = "https://other.example/a";
    with_page(&world, url, "other.example").await;
    let before = world.pages.get(&page(url)).await.unwrap();
    let entry =
        "<entry><id>https://other.example/a</id><title>Mine</title><link href='https://example.org/b'/></entry>";
    let deleted = "<at:deleted-entry ref='https://other.example/a' when='2026-11-20T00:00:00Z'/>";
    world.web.answer(FEED, Ok(atom(&format!("{entry}{deleted}"))));
    world.web.answer(FEED, Ok(atom(entry)));
    world.poll(0).await;
    world.next_slot().await;
    world.poll(0).await;
    assert_eq!(world.pages.get(&page(url)).await.unwrap(), before);
    let named: Vec<_> = visits(&world).await.iter().flat_map(|v| v.items.iter().map(|i| i.url.clone())).collect();
    assert_eq!(named, ["https://example.org/b"], "the id means nothing outside its feed");
}

#[tokio::test(start_paused = true)]
async fn x19_a_feed_of_new_entries_with_each_call_brings_only_so_many_a_day() {
    let mut world = TestWorld::new();
    world.with_rules(|rules| rules.entries_per_day = 50);
    world.with_feed(|_| {}).await;
    for call in 0..6 {
        let items: String =
            (0..40).map(|n| format!("<item><link>https://example.org/{call}-{n}</link></item>")).collect();
        let mut reply = rss(&items);
        reply.headers.validators.etag = Some(format!("\"{call}\""));
        world.web.answer(FEED, Ok(reply));
    }
    let count = async |world: &TestWorld| visits(world).await.iter().map(|visit| visit.items.len()).sum::<usize>();
    world.poll(0).await;
    assert_eq!(count(&world).await, 40);
    world.politeness.clock.sleep(Millis::from_hours(9)).await;
    world.poll(0).await;
    assert_eq!(count(&world).await, 50, "the rest stays unseen");
    assert_eq!(world.feed().await.polling.taken.entries, 50);
    world.politeness.clock.sleep(Millis::from_hours(16)).await;
    world.poll(0).await;
    assert_eq!(count(&world).await, 90, "and the next day has its own budget");
}

#[tokio::test(start_paused = true)]
async fn x19_what_changes_in_a_document_but_not_in_its_entries_is_not_written() {
    let world = TestWorld::new();
    world.with_feed(|_| {}).await;
    let item = "<item><link>https://example.org/a</link></item>";
    for call in 0..4 {
        world.web.answer(FEED, Ok(rss(&format!("{item}<lastBuildDate>{call}</lastBuildDate><!-- {call} -->"))));
    }
    world.poll(0).await;
    world.next_slot().await;
    world.poll(0).await;
    let version = world.sources.get(&key(FEED)).await.unwrap().unwrap().1;
    world.next_slot().await;
    world.poll(0).await;
    assert_eq!(world.calls(CallKind::Feed).len(), 3);
    assert_eq!(world.sources.get(&key(FEED)).await.unwrap().unwrap().1, version);
}
