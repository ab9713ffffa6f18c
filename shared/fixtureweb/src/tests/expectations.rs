//! Tests that the expectations are consistent. `demo.rs` tests that a crawl by the real program meets them.

use super::{get, running};
use crate::feeds::{Damage, FeedDoc, Format};
use crate::log::Kind;
use crate::reply::Body;
use crate::{Farm, Site, Uniform, judge};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Returns the feeds of a site with their addresses, without comment feeds.
fn feeds(site: &Site) -> Vec<(String, Arc<FeedDoc>)> {
    let mut found: Vec<(String, Arc<FeedDoc>)> = site
        .routes
        .iter()
        .filter_map(|(address, route)| match &route.now.body {
            Body::Feed(doc) if !address.contains("/comments/") => Some((format!("http://{address}"), Arc::clone(doc))),
            _ => None,
        })
        .collect();
    found.sort_by(|a, b| a.0.cmp(&b.0));
    found
}

/// Returns the address without fragment and tracking parameters; `None` if it is not an HTTP address.
fn plain(link: &str) -> Option<String> {
    let bare = link.split('#').next().unwrap_or(link);
    if !bare.starts_with("http://") && !bare.starts_with("https://") {
        return None;
    }
    let Some((path, query)) = bare.split_once('?') else { return Some(bare.to_owned()) };
    let kept: Vec<&str> =
        query.split('&').filter(|pair| !pair.starts_with("utm_") && !pair.starts_with("fbclid=")).collect();
    Some(if kept.is_empty() { path.to_owned() } else { format!("{path}?{}", kept.join("&")) })
}

#[test]
fn there_are_enough_sites_and_no_two_share_a_host_key() {
    let farm = Farm::demo();
    assert!(farm.sites().len() >= 60, "{} sites", farm.sites().len());
    let mut owners = std::collections::BTreeMap::new();
    for site in farm.sites() {
        assert!(!site.about.is_empty(), "{} says nothing about itself", site.host);
        for host in site.hosts() {
            let owner = owners.entry(judge::registrable(host)).or_insert_with(|| site.host.clone());
            assert_eq!(owner, &site.host, "{host}");
            assert!(std::ptr::eq(farm.site(host).unwrap(), site));
        }
    }
}

#[test]
fn two_farms_are_the_same() {
    for (a, b) in Farm::demo().sites().iter().zip(Farm::demo().sites()) {
        assert_eq!(a.expect, b.expect);
        assert_eq!(a.entries, b.entries);
        for (address, route) in &a.routes {
            let other = b.routes.get(address).unwrap();
            assert_eq!(format!("{route:?}"), format!("{other:?}"), "{address}");
        }
    }
}

#[test]
fn expectations_add_up_to_the_distinct_entries() {
    for site in Farm::demo().sites() {
        let feeds = feeds(site);
        if site.expect.feeds == 0 {
            assert_eq!(site.expect.entries(), 0, "{}", site.host);
            continue;
        }
        assert_eq!(feeds.len(), site.expect.feeds, "{}", site.host);
        let mut links = BTreeSet::new();
        for (_, doc) in &feeds {
            let whole = doc.entries.len() - usize::from(doc.damage == Damage::CutShort);
            links.extend(doc.entries.iter().take(whole).filter_map(|entry| plain(&entry.link)));
        }
        assert_eq!(links.len(), site.expect.entries(), "{}: {links:#?}", site.host);
        assert!(site.expect.entries() <= 14 || site.host == "long-ledger.test", "{} takes too long", site.host);
    }
}

/// Crawling the bundled web takes little more than a minute, since the busiest host key is limited.
#[test]
fn no_site_takes_too_long_to_crawl() {
    // The mean of max(1 s, an exponential gap of 1 s) is 1.37 s.
    const PAUSE: f64 = 1.4;
    // Maximum total time of a drip, in seconds.
    const TOTAL: f64 = 30.0;
    for site in Farm::demo().sites() {
        let expect = &site.expect;
        let fetched = expect.rejected.values().sum::<usize>() - expect.rejected.get("robots").unwrap_or(&0);
        let calls = site.hosts().len() + 1 + site.feed_urls().len() + 2 * expect.accepted + fetched + expect.duplicates;
        let pause = site.crawl_delay.map_or(PAUSE, |delay| delay.as_secs_f64()) + 2.0 * site.delay.as_secs_f64();
        let drip = if site.host == "slow-drip.test" { TOTAL } else { 0.0 };
        let seconds = calls as f64 * pause + drip;
        assert!(seconds < 50.0, "{}: {calls} calls in {seconds:.0} s", site.host);
    }
}

#[test]
fn every_code_is_one_that_the_model_knows() {
    const CODES: &str = "robots address blocked noindex not_found gone status redirect limit transport media_type \
        unreadable no_title short_text no_image screened host_unavailable";
    const HOLDS: &str = "forbidden too_many_requests server_error network not_found hostile window_spent rest";
    let is_in = |known: &str, code: &str| known.split(' ').any(|one| one == code);
    let farm = Farm::demo();
    let seen: BTreeSet<&str> = farm.sites().iter().flat_map(|site| site.expect.rejected.keys().copied()).collect();
    assert!(seen.iter().all(|code| is_in(CODES, code)), "{seen:?}");
    assert!(seen.len() >= 13, "only {seen:?} occur");
    assert!(farm.sites().iter().filter_map(|site| site.expect.held).all(|reason| is_in(HOLDS, reason)));
}

#[test]
fn whole_feeds_are_read_in_full_by_a_strict_reader() {
    for site in Farm::demo().sites() {
        for (url, doc) in feeds(site) {
            if doc.damage != Damage::None || doc.format == Format::Atom03 {
                continue;
            }
            let feed = feed_rs::parser::parse(doc.write().as_slice()).unwrap_or_else(|e| panic!("{url}: {e}"));
            assert_eq!(feed.entries.len(), doc.entries.len(), "{url}");
            assert!(feed.title.is_some(), "{url}");
        }
    }
}

#[test]
fn broken_feeds_are_broken() {
    let farm = Farm::demo();
    let broken = farm.sites().iter().flat_map(feeds).filter(|(_, doc)| doc.damage != Damage::None);
    let mut seen = 0;
    for (url, doc) in broken {
        let bytes = doc.write();
        let read = feed_rs::parser::parse(bytes.as_slice());
        let fault = match doc.damage {
            Damage::LatinAsUtf8 => std::str::from_utf8(&bytes).is_err(),
            Damage::LeadingText => !bytes.starts_with(b"<?xml"),
            Damage::BareAmpersands => String::from_utf8_lossy(&bytes).contains("&nbsp;"),
            Damage::CutShort | Damage::None => read.is_err(),
        };
        assert!(fault, "{url} is not broken");
        seen += 1;
    }
    assert_eq!(seen, 4);
}

#[tokio::test]
async fn the_pages_of_a_keyed_farm_compress_as_real_ones_do() {
    let spec = Uniform { hosts: 1, pages: 2, bytes: 100 * 1024, images: false, prefix: "keyed".into() };
    let running = running(Farm::keyed(&spec, &[7])).await;
    assert_eq!(running.farm().sites().len(), 1);
    for number in 0..2 {
        let page = format!("http://keyed-0007.test/news/{number}.html");
        let html = get(&running, &page).await.unwrap().text().await.unwrap();
        assert!((100 * 1024..120 * 1024).contains(&html.len()), "{} bytes", html.len());
        let packed = zstd::bulk::compress(html.as_bytes(), 3).unwrap().len();
        assert!((18 * 1024..24 * 1024).contains(&packed), "{packed} bytes packed");
        assert_eq!(html, get(&running, &page).await.unwrap().text().await.unwrap(), "the same each time");
    }
}

#[tokio::test]
async fn a_uniform_farm_is_as_large_as_asked() {
    let spec = Uniform { hosts: 3, pages: 4, bytes: 100 * 1024, images: true, prefix: "even".into() };
    let running = running(Farm::uniform(&spec)).await;
    assert_eq!(running.farm().sites().len(), 3);
    assert_eq!(running.farm().sites()[2].host, "even-0003.test");
    let feed = get(&running, "http://even-0003.test/feed.xml").await.unwrap().bytes().await.unwrap();
    let feed = feed_rs::parser::parse(feed.as_ref()).unwrap();
    assert_eq!(feed.entries.len(), 4);
    let mut bodies = BTreeSet::new();
    for entry in &feed.entries {
        let html = get(&running, &entry.links[0].href).await.unwrap().text().await.unwrap();
        assert!((100 * 1024..120 * 1024).contains(&html.len()), "{} bytes", html.len());
        let picture = html.split_once("<img src=\"").unwrap().1.split_once('"').unwrap().0.to_owned();
        assert_eq!(get(&running, &picture).await.unwrap().status(), 200);
        bodies.insert(html);
    }
    assert_eq!(bodies.len(), 4);
    assert_eq!(get(&running, "http://even-0003.test/news/4.html").await.unwrap().status(), 404);
    assert!(running.calls().iter().any(|call| call.kind == Kind::Image));
}
