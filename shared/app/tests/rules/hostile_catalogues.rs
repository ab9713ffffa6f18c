//! Back catalogues that are made to cause cost: each takes a bounded number of calls and rows, and ends with a reason.

use crate::backfill::{addresses, begin, day, index, keep, link, post, posts, reason, row, rss, run, sitemap};
use crate::test_world::*;
use curlew_crawl::feeds::backfill::{BackfillRequest, key_of};
use curlew_policy::rules::{BACKFILL_DEPTH, BACKFILL_DOCUMENTS};
use flate2::{Compression, write::GzEncoder};
use std::io::Write;

const MAP: &str = "https://example.org/sitemap.xml";
/// Number of bytes that exceeds the row of a backfill with the most lists and hashes.
const ROW_BYTES: usize = 16 * 1024;
/// Number of bytes that exceeds the limit for a sitemap.
const TOO_LARGE: usize = 51 << 20;

/// Adds a site without a feed and requests its back catalogue.
async fn site(world: &TestWorld, request: BackfillRequest) {
    world.with_site(HOME, SiteState::Feedless { reason: "none".into() }).await;
    begin(world, HOME, request).await;
}

fn serve(world: &TestWorld, body: Vec<u8>) {
    let mut reply = text(body);
    reply.headers.content_type = Some("text/xml".to_owned());
    world.web.keep(MAP, reply);
}

/// Sets the number of documents that a backfill has read to the maximum.
async fn exhaust(world: &TestWorld, of: &str) {
    let key = key_of(&key(of)).unwrap();
    world
        .change(&key, |row| {
            if let Source::Backfill(row) = row {
                row.documents = BACKFILL_DOCUMENTS
            }
        })
        .await;
}

fn size(row: &Backfill) -> usize {
    serde_json::to_vec(row).unwrap().len()
}

#[tokio::test(start_paused = true)]
async fn m49_a_sitemap_of_a_million_addresses_costs_one_call_and_the_budget_of_the_day() {
    let world = TestWorld::new();
    let body = sitemap((0..1_000_000).map(post));
    assert!(body.len() > 50 << 20);
    keep(&world, MAP, "text/xml", body);
    site(&world, BackfillRequest::default()).await;
    let (sent, most) = run(&world, 1, false).await;
    let row = row(&world, HOME).await;
    assert_eq!((row.state.clone(), row.found, row.documents), (BackfillState::Running, 50_000, 1));
    assert!((400..=500).contains(&row.sent) && addresses(&sent).len() as u64 == row.sent && most <= 20, "{row:?}");
    assert!(row.outcome.as_ref().is_some_and(|why| why.contains("larger than a sitemap may be")), "{row:?}");
    assert_eq!(world.calls(CallKind::Sitemap).len(), 1);
    // No page is lost: the pages that were not sent are in the lists.
    let left: u64 =
        row.lists.iter().filter(|list| list.object.contains("pages")).map(|l| u64::from(l.count - l.done)).sum();
    assert_eq!(left + row.sent, 50_000);
    let objects = world.keys("backfill/").await;
    assert!(objects.len() <= 11 && size(&row) < ROW_BYTES, "{objects:?}, {}", size(&row));
}

#[tokio::test(start_paused = true)]
async fn m49_a_sitemap_that_is_too_large_or_a_gzip_bomb_gives_what_comes_first_and_a_reason() {
    let urls = |count: usize| (0..count).map(post);
    let padded = |padding: &str| {
        let (head, tail) = (sitemap(urls(30)).replace("</urlset>", ""), sitemap((30..40).map(post)));
        head + &padding.repeat(TOO_LARGE / padding.len()) + &tail
    };
    let gzip = |body: &str, times: usize| {
        let mut packed = GzEncoder::new(vec![], Compression::fast());
        packed.write_all(body.replace("</urlset>", "").as_bytes()).unwrap();
        (0..times).for_each(|_| packed.write_all(&[b' '; 1 << 20]).unwrap());
        packed.finish().unwrap()
    };
    let bomb = gzip(&sitemap(urls(30)), 300);
    assert!(bomb.len() < 2 << 20);
    for body in [padded("<!-- padding -->").into_bytes(), bomb] {
        let world = TestWorld::new();
        serve(&world, body);
        site(&world, BackfillRequest::default()).await;
        let (sent, _) = run(&world, 2, false).await;
        assert!(addresses(&sent) == posts(30));
        let row = row(&world, HOME).await;
        assert!(reason(&row).contains("sitemap.xml: it is larger than a sitemap may be"), "{}", reason(&row));
        assert_eq!(world.calls(CallKind::Sitemap).len(), 2, "only the usual URLs are called");
    }
    let garbage = |times| gzip("", times);
    for (answer, why) in [
        (Err(FetchError::Limit("more than 52428800 bytes".into())), "more than 52428800 bytes"),
        (Ok(text(garbage(300))), "not a sitemap"),
        (Ok(text(vec![0x1f, 0x8b, 7, 7])), "broken gzip file"),
    ] {
        let world = TestWorld::new();
        world.web.answer(MAP, answer);
        site(&world, BackfillRequest::default()).await;
        let (sent, _) = run(&world, 2, false).await;
        let row = row(&world, HOME).await;
        assert!(reason(&row).contains(why) && addresses(&sent).is_empty(), "{}", reason(&row));
        assert_eq!(world.calls(CallKind::Sitemap).len(), 2);
    }
}

#[tokio::test(start_paused = true)]
async fn m49_indexes_of_sitemaps_in_circles_and_below_each_other_without_end_are_left_at_a_depth() {
    let world = TestWorld::new();
    let map = |name: String| format!("{HOME}{name}.xml");
    // Three indexes name each other, and in a tree of indexes each names two more.
    keep(&world, MAP, "text/xml", index(["a", "b", "t-"].map(|name| map(name.into())).into_iter()));
    keep(&world, &map("a".into()), "text/xml", index([MAP.into(), map("b".into())].into_iter()));
    keep(&world, &map("b".into()), "text/xml", index([map("a".into()), MAP.into()].into_iter()));
    let mut names = vec!["t-".to_owned()];
    for _ in 0..6 {
        for name in &names {
            let below = [0, 1].map(|n| map(format!("{name}{n}"))).into_iter();
            keep(&world, &map(name.clone()), "text/xml", index(below));
        }
        names = names.iter().flat_map(|name| [0, 1].map(|n| format!("{name}{n}"))).collect();
    }
    site(&world, BackfillRequest::default()).await;
    run(&world, 2, false).await;
    let mut calls: BTreeMap<String, usize> = BTreeMap::new();
    world.calls(CallKind::Sitemap).into_iter().for_each(|call| *calls.entry(call.url).or_default() += 1);
    assert!(calls.values().all(|count| *count == 1), "{calls:?}");
    // The tree begins below the first index.
    let in_tree = calls.keys().filter(|url| url.contains("/t-")).count();
    assert_eq!(in_tree, (0..BACKFILL_DEPTH).map(|depth| 1 << depth).sum::<usize>());
    assert_eq!(calls.len(), in_tree + 4, "{calls:?}");
    let row = row(&world, HOME).await;
    assert!(!reason(&row).is_empty() && row.sent == 0 && world.keys("backfill/").await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn m49_an_index_of_sitemaps_that_do_not_exist_costs_the_budget_of_the_day_and_comes_to_an_end() {
    let mut world = TestWorld::new();
    world.with_rules(|rules| rules.backfill_per_day = 100);
    keep(&world, MAP, "text/xml", index((0..60_000).map(|n| format!("{HOME}map-{n}.xml"))));
    site(&world, BackfillRequest::default()).await;
    run(&world, 1, false).await;
    let known = row(&world, HOME).await;
    assert_eq!(known.state, BackfillState::Running);
    assert!((80..=100).contains(&world.calls(CallKind::Sitemap).len()) && size(&known) < ROW_BYTES);
    exhaust(&world, HOME).await;
    run(&world, 1, false).await;
    let ended = row(&world, HOME).await;
    assert_eq!(reason(&ended), "it has more than 10000 feed documents and sitemaps");
    assert!(world.keys("backfill/").await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn m49_dates_in_the_future_and_before_the_web_date_no_page_and_leave_none_out() {
    let world = TestWorld::new();
    let dates = ["2999-01-01", "1970-01-01", "2026-05-01", "2020-01-01", "not a date"];
    let urls = dates.iter().enumerate().map(|(n, date)| format!("{}</loc><lastmod>{date}</lastmod><loc>", post(n)));
    keep(&world, MAP, "text/xml", sitemap(urls).replace("<loc></loc>", ""));
    let since = "2026-01-01T00:00:00Z".parse().unwrap();
    site(&world, BackfillRequest { since: Some(since), ..BackfillRequest::default() }).await;
    for _ in 0..50 {
        let row = row(&world, HOME).await;
        if row.state != BackfillState::Running {
            break;
        }
        world.sleep_until(row.due).await;
        let job = BackfillJob { backfill: row.key, url: row.url, step: row.step };
        world.program().crawler.backfills.run(&job).await.unwrap();
    }
    let mut stated = BTreeMap::new();
    for (visit, _) in world.visits().await {
        for item in visit.items {
            let Purpose::New { hints } = item.purpose else { panic!("{}", item.url) };
            stated.insert(item.url, hints.published.map(Timestamp::day));
        }
    }
    let wanted = [(0, None), (1, None), (2, Some("2026-05-01".to_owned())), (4, None)];
    assert_eq!(stated, wanted.map(|(n, date)| (post(n), date)).into());
}

#[tokio::test(start_paused = true)]
async fn m49_documents_without_end_that_say_they_are_ever_older_cost_the_budget_of_the_day_and_end() {
    let world = TestWorld::new();
    for n in 0..600 {
        // The feed lists the same page again and again, each time with another id and an earlier date.
        let item = format!(
            "<item><title>{n}</title><link>{}</link><guid>g{n}</guid><pubDate>{}</pubDate></item>",
            post(0),
            day(n).http_date()
        );
        let url = if n == 0 { FEED.to_owned() } else { format!("{FEED}?p={n}") };
        let head = link("next", &format!("{FEED}?p={}", n + 1)) + &item;
        keep(&world, &url, "application/rss+xml", rss(&head, 0..0));
    }
    world.with_feed(|_| {}).await;
    begin(&world, FEED, BackfillRequest::default()).await;
    let (sent, _) = run(&world, 1, true).await;
    assert_eq!(addresses(&sent).len(), 1);
    let known = row(&world, FEED).await;
    assert_eq!(known.state, BackfillState::Running);
    assert!((400..=500).contains(&known.documents) && size(&known) < ROW_BYTES, "{known:?}");
    exhaust(&world, FEED).await;
    run(&world, 1, true).await;
    assert_eq!(reason(&row(&world, FEED).await), "it has more than 10000 feed documents and sitemaps");
}
