//! Tests of deleted entries (RFC 6721), and of hubs named by feeds (WebSub §4).

use crate::documents::{atom, read, rss};
use curlew_feed::{Feed, Limits};

fn deleted(feed: &Feed) -> Vec<(&str, Option<&str>, Option<String>)> {
    feed.deleted.iter().map(|d| (d.id.as_str(), d.url.as_deref(), d.when.map(|w| w.to_string()))).collect()
}

#[test]
fn a_deleted_entry_is_told_with_its_time_and_page() {
    let feed = read(atom(
        "<at:deleted-entry ref='urn:curlew:1' when='2026-05-02T10:00:00+02:00'>\
           <at:by><name>Ines Marsh</name><email>ines@mudflat.example</email></at:by><at:comment>It was a godwit.</at:comment>\
           <link href='/2026/curlew'/></at:deleted-entry>\
         <at:deleted-entry ref='https://mudflat.example/2026/rail' when='yesterday'/>\
         <at:deleted-entry ref='urn:curlew:3' when='2026-05-01T00:00:00Z'/>\
         <at:deleted-entry when='2026-05-01T00:00:00Z'/>\
         <entry><id>urn:curlew:4</id><title>Still here</title><link href='/4'/></entry>",
    ));
    let first = Some("2026-05-02T08:00:00Z".to_owned());
    let third = Some("2026-05-01T00:00:00Z".to_owned());
    assert_eq!(
        deleted(&feed),
        [
            ("urn:curlew:1", Some("https://mudflat.example/2026/curlew"), first),
            ("https://mudflat.example/2026/rail", Some("https://mudflat.example/2026/rail"), None),
            ("urn:curlew:3", None, third),
        ]
    );
    assert_eq!(feed.entries.len(), 1);
    assert_eq!(feed.entries[0].title.as_deref(), Some("Still here"));
    // The content of a deletion is not part of the feed.
    assert_eq!(feed.link, None);
    assert!(!format!("{feed:?}").contains("ines@"));
}

#[test]
fn of_an_entry_and_its_deletion_the_later_one_counts() {
    let entry = "<entry><id>urn:1</id><title>T</title><link href='/1'/><updated>2026-05-02T00:00:00Z</updated></entry>";
    let tombstone = |when: &str| format!("<at:deleted-entry ref='urn:1' when='{when}'/>");
    let gone = read(atom(&format!("{entry}{}", tombstone("2026-05-03T00:00:00Z"))));
    assert_eq!((gone.entries.len(), gone.deleted.len()), (0, 1));
    assert_eq!(gone.deleted[0].url.as_deref(), Some("https://mudflat.example/1"));
    let before = tombstone("2026-05-01T00:00:00Z");
    let twice = read(atom(&format!("{before}{entry}{}", tombstone("2026-05-03T00:00:00Z"))));
    assert_eq!((twice.entries.len(), twice.deleted.len()), (0, 1));
    let back = read(atom(&format!("{before}{entry}")));
    assert_eq!((back.entries.len(), back.deleted.len()), (1, 0));
}

#[test]
fn deletions_are_known_in_other_feeds_and_never_too_many() {
    let deletion = "<at:deleted-entry ref='https://mudflat.example/1' when='2026-05-01T00:00:00Z'/>";
    let one = read(rss(&format!("{deletion}<item><title>A</title></item>")));
    assert_eq!((one.deleted.len(), one.entries.len()), (1, 1));
    let many = read(atom(&"<at:deleted-entry ref='urn:x'/>".repeat(100_000)));
    assert!(many.truncated && many.deleted.len() <= Limits::default().entries);
}

#[test]
fn f10_hub_and_topic_are_found_in_every_dialect() {
    let links =
        "<atom:link rel='self' href='https://mudflat.example/feed'/><atom:link rel='hub' href='https://hub.example/'/>";
    let in_item = links.replace("hub.example", "other.example").replace("/feed'", "/1'");
    let in_rss = rss(&format!("{links}<item><title>A</title>{in_item}</item>"));
    let in_atom = atom(&format!("{links}<entry><id>1</id>{in_item}</entry>")).replace("atom:link", "link");
    let json = r#"{"version": "https://jsonfeed.org/version/1.1", "title": "T", "feed_url": "https://mudflat.example/feed",
        "hubs": [{"type": "rssCloud", "url": "https://cloud.example/"}, {"type": "WebSub", "url": "https://hub.example/"}], "items": []}"#;
    for body in [in_rss.as_str(), &in_atom, json] {
        let hints = read(body).hints;
        assert_eq!(hints.hub.as_deref(), Some("https://hub.example/"), "{body}");
        assert_eq!(hints.self_url.as_deref(), Some("https://mudflat.example/feed"), "{body}");
    }
}
