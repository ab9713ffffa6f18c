//! Tests that parse elements in each dialect: dates, ids, authors, links, media and URLs.

use crate::documents::{atom, first_title, read, read_with, rss};
use curlew_feed::{Format, Limits, Repair};
use curlew_model::{Millis, Timestamp};
use std::collections::{BTreeMap, BTreeSet};

#[test]
fn tags_are_read_in_every_dialect() {
    let item = "<item><title>T</title><category>Sea &amp; sand</category><category domain=\"x\"> </category>\
                <dc:subject>Birds</dc:subject></item><category>of the feed</category>";
    assert_eq!(read(rss(item)).entries[0].tags, ["Sea & sand", "Birds"]);
    let entry = "<entry><id>a</id><category term=\"waders\"/><category term=\"x\" label=\"Tide tables\"/></entry>";
    assert_eq!(read(atom(entry)).entries[0].tags, ["waders", "Tide tables"]);
    let json = r#"{"version": "https://jsonfeed.org/version/1.1", "title": "W",
        "items": [{"id": "1", "content_text": "t", "tags": ["a b", "", 5, {"c": 1}]}, {"id": "2", "tags": "one"}]}"#;
    let feed = read(json);
    assert_eq!((&feed.entries[0].tags[..], feed.entries[1].tags.len()), (&["a b".to_owned(), "5".to_owned()][..], 0));
    let many = "<category>x</category>".repeat(1_000);
    assert_eq!(read(rss(&format!("<item><title>T</title>{many}</item>"))).entries[0].tags.len(), 16);
}

#[test]
fn every_dialect_is_known() {
    let item = "<item><title>T</title><link>https://a.example/1</link></item>";
    let rdf = |ns: &str| {
        format!(
            "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns='{ns}'><channel><title>W</title></channel>{item}</rdf:RDF>"
        )
    };
    let old = |version: &str| format!("<rss version='{version}'><channel><title>W</title>{item}</channel></rss>");
    let atom = |attributes: &str| {
        format!(
            "<feed {attributes}><title>W</title><entry><title>T</title><link rel='alternate' href='https://a.example/1'/></entry></feed>"
        )
    };
    let json = |version: &str| {
        format!(
            "{{\"version\":\"https://jsonfeed.org/version/{version}\",\"title\":\"W\",\"items\":[{{\"id\":\"1\",\"url\":\"https://a.example/1\",\"title\":\"T\",\"content_text\":\"C\"}}]}}"
        )
    };
    for (body, format) in [
        (rdf("http://my.netscape.com/rdf/simple/0.9/"), Format::Rss09x),
        (old("0.91"), Format::Rss09x),
        (old("0.92"), Format::Rss09x),
        (rdf("http://purl.org/rss/1.0/"), Format::Rss1),
        (old("2.0"), Format::Rss2),
        (atom("version='0.3' xmlns='http://purl.org/atom/ns#'"), Format::Atom03),
        (atom("xmlns='http://www.w3.org/2005/Atom'"), Format::Atom),
        (json("1"), Format::Json),
        (json("1.1"), Format::Json),
    ] {
        let feed = read(&body);
        let entry = &feed.entries[0];
        assert_eq!((feed.title.as_deref(), first_title(&feed)), (Some("W"), "T"), "{body}");
        assert_eq!(entry.link.as_deref(), Some("https://a.example/1"), "{body}");
        assert_eq!(feed.format, format, "{body}");
    }
}

#[test]
fn no_e_mail_address_is_collected() {
    let person = "ines@mudflat.example";
    let rss = rss(&format!(
        "<managingEditor>{person} (Ines Marsh)</managingEditor><webMaster>{person}</webMaster>\
         <item><title>A</title><author>{person} (Ines Marsh)</author></item>\
         <item><title>B</title><author>{person}</author><itunes:email>{person}</itunes:email></item>\
         <item><title>C</title><dc:creator>Ines Marsh &lt;{person}&gt;</dc:creator></item>"
    ));
    let atom = format!(
        "<feed xmlns='http://www.w3.org/2005/Atom'><title>W</title><author><name>Ines Marsh</name><email>{person}</email></author>\
         <entry><title>A</title><author><name>Ines Marsh</name><email>{person}</email></author></entry>\
         <entry><title>B</title><author><email>{person}</email></author></entry>\
         <entry><title>C</title><author><name>Ines Marsh ({person})</name></author></entry></feed>"
    );
    let json = format!(
        "{{\"version\":\"https://jsonfeed.org/version/1.1\",\"title\":\"W\",\"items\":[\
         {{\"id\":\"1\",\"title\":\"A\",\"authors\":[{{\"name\":\"Ines Marsh\",\"url\":\"mailto:{person}\"}}]}},\
         {{\"id\":\"2\",\"title\":\"B\",\"authors\":[{{\"name\":\"{person}\"}}]}},\
         {{\"id\":\"3\",\"title\":\"C\",\"author\":{{\"name\":\"{person} (Ines Marsh)\"}}}}]}}"
    );
    for body in [rss, atom, json] {
        let feed = read(&body);
        let authors: Vec<Option<&str>> = feed.entries.iter().map(|e| e.author.as_deref()).collect();
        assert_eq!(authors, [Some("Ines Marsh"), None, Some("Ines Marsh")], "{body}");
        let told: String = feed.faults.first.iter().map(ToString::to_string).collect();
        let parts = serde_json::to_string(&feed.entries).unwrap();
        assert!(!told.contains('@') && !parts.contains('@'), "{told} {parts}");
    }
}

#[test]
fn f05_f08_a_ttl_is_told_as_it_is_written() {
    let ttl = |text: &str| read(rss(&format!("<ttl>{text}</ttl>"))).hints.ttl_minutes;
    assert_eq!((ttl(" 90 "), ttl("0"), ttl("1000000000")), (Some(90), Some(0), Some(1_000_000_000)));
    assert_eq!((ttl("-5"), ttl("soon"), ttl("99999999999999")), (None, None, None));
}

#[test]
fn f06_hours_and_days_to_skip_are_told() {
    let feed = read(rss("<skipHours><hour>3</hour><hour>24</hour><hour>25</hour><hour>x</hour></skipHours>\
        <skipDays><day>Sunday</day><day> monday</day><day>Montag</day></skipDays>"));
    assert_eq!((feed.hints.skip_hours, feed.hints.skip_days), (vec![0, 3], vec![0, 6]));
}

#[test]
fn f07_the_period_of_updates_is_told() {
    for (period, frequency, hours) in [
        ("daily", "<sy:updateFrequency>4</sy:updateFrequency>", Some(6)),
        ("hourly", "", Some(1)),
        ("weekly", "<sy:updateFrequency>0</sy:updateFrequency>", Some(168)),
        ("weekly", "<sy:updateFrequency>-2</sy:updateFrequency>", Some(168)),
        ("often", "", None),
    ] {
        let feed = read(rss(&format!("<sy:updatePeriod>{period}</sy:updatePeriod>{frequency}")));
        assert_eq!(feed.hints.update_period, hours.map(Millis::from_hours), "{period} {frequency}");
    }
}

#[test]
fn f09_x19_ids_are_stable_and_one_id_is_one_entry() {
    let key = |inside: &str| read(rss(&format!("<item>{inside}</item>"))).entries[0].key();
    let link = "<link>https://a.example/1</link>";
    for (one, other) in [
        ("<guid>1</guid><title>A</title>", "<guid>1</guid><title>B</title><description>new</description>"),
        (&format!("{link}<title>A</title>"), &format!("{link}<title>B</title>")),
        ("<title>A</title>", "<title>A</title>"),
    ] {
        assert_eq!(key(one), key(other));
    }
    assert_ne!(key("<title>A</title>"), key("<title>B</title>"));
}

#[test]
fn one_feed_in_two_dialects_is_known_as_one() {
    let items = |pages: std::ops::Range<u32>| {
        pages.map(|n| format!("<item><link>https://mudflat.example/{n}</link></item>")).collect::<String>()
    };
    let entries = |pages: std::ops::Range<u32>| {
        let all: String = pages.map(|n| format!("<entry><id>urn:{n}</id><link href='/{n}'/></entry>")).collect();
        read(atom(&all))
    };
    let feed = read(rss(&items(0..10)));
    assert!(feed.is_same_as(&entries(0..10)) && feed.is_same_as(&entries(0..7)));
    for other in [entries(1..10), entries(0..3), entries(0..0), entries(5..15)] {
        assert!(!feed.is_same_as(&other) && !other.is_same_as(&feed));
    }
    assert!(!read(rss("")).is_same_as(&read(rss(""))));
    let own = "<atom:link rel='self' href='https://mudflat.example/feed'/>";
    assert!(read(rss(&format!("{own}{}", items(0..1)))).is_same_as(&read(rss(&format!("{own}{}", items(5..9))))));
}

#[test]
fn xhtml_is_kept_without_its_prefix() {
    let content = |feed: &str, inside: &str| {
        let body = atom(&format!("<entry><id>1</id>{inside}</entry>")).replacen("<feed", &format!("<feed{feed}"), 1);
        read(body).entries[0].content.clone().unwrap()
    };
    let xhtml = "http://www.w3.org/1999/xhtml";
    let inside = "<xh:div><xh:p class='a'>A <xh:b>B</xh:b><xh:br/></xh:p></xh:div>";
    let declared = format!(" xmlns:xh='{xhtml}'");
    let in_content = format!("<content type='xhtml'{declared}>{inside}</content>");
    let plain = format!("<content type='xhtml'>{inside}</content>");
    let in_div = plain.replacen("<xh:div", &format!("<xh:div{declared}"), 1);
    // The first `div` is XHTML even if its prefix is not declared.
    for (feed, inside) in [(&*declared, &plain), ("", &in_content), ("", &in_div), ("", &plain)] {
        assert_eq!(content(feed, inside), "<p class='a'>A <b>B</b><br/></p>", "{feed} {inside}");
    }
    // SVG and MathML elements are part of HTML too. Elements of other namespaces keep their prefixes.
    let others = "<content type='xhtml'><div><m:math xmlns:m='http://www.w3.org/1998/Math/MathML'><m:mi>x</m:mi></m:math>\
        <v:svg xmlns:v='http://www.w3.org/2000/svg'><v:g/></v:svg><xh:p>A</xh:p><n:note xmlns:n='urn:n'>B</n:note></div></content>";
    let kept = content(&declared, others);
    assert!(kept.starts_with("<math ") && kept.contains("><mi>x</mi></math><svg "), "{kept}");
    assert!(kept.contains("><g/></svg><p>A</p><n:note xmlns:n='urn:n'>B</n:note>"), "{kept}");
    let body = "<xhtml:p>A <xhtml:i>B</xhtml:i></xhtml:p>";
    let feed = read(rss(&format!("<item><xhtml:body xmlns:xhtml='{xhtml}'>{body}</xhtml:body></item>")));
    assert_eq!(feed.entries[0].content.as_deref(), Some("<p>A <i>B</i></p>"));
}

#[test]
fn entities_that_a_document_declares_are_known() {
    let doctype = "<!DOCTYPE rss [\n<!-- ours --><!ENTITY id \"https://a.example/1\"><!ENTITY caf 'caf&#233;'>]>";
    let feed = read(format!("{doctype}{}", rss("<item><title>A &caf; &nope;</title><link>&id;</link></item>")));
    let first = &feed.entries[0];
    assert_eq!((first_title(&feed), first.link.as_deref()), ("A caf\u{e9} &nope;", Some("https://a.example/1")));
    // Entities also work inside other entities, and in URLs.
    let doctype =
        "<!DOCTYPE feed [<!ENTITY post '&site;/1'><!ENTITY site 'https://a.example'><!ENTITY b '<b>bold</b>'>]>";
    let entry = "<entry><title type='html'>A &b; word</title><link href='&post;'/></entry>";
    let feed = read(format!("{doctype}{}", atom(entry)));
    let first = &feed.entries[0];
    assert_eq!((first.title.as_deref(), first.link.as_deref()), (Some("A bold word"), Some("https://a.example/1")));
    assert_eq!(first.title_html.as_deref(), Some("A <b>bold</b> word"));
}

#[test]
fn a_video_has_the_title_and_description_of_its_media_group() {
    let group = "<media:group><media:title>Curlews at dusk</media:title><media:content url='https://a.example/v'/>\
        <media:description>At the Eider, 3 May.\nSecond line.</media:description><media:credit>Nobody</media:credit></media:group>";
    // A file in a group may contain the title and description. Those of a file outside a group may be unrelated.
    let file = "<media:content url='https://a.example/v'><media:title>Dusk</media:title>\
        <media:description>At the Eider.</media:description></media:content>";
    for (inside, title, summary) in [
        (group.to_owned(), Some("Curlews at dusk"), Some("At the Eider, 3 May.\nSecond line.")),
        (format!("{group}<title>T</title><summary>S</summary>"), Some("T"), Some("S")),
        (
            format!("<media:group><media:content url='https://a.example/w'/>{file}</media:group>"),
            Some("Dusk"),
            Some("At the Eider."),
        ),
        (file.to_owned(), None, None),
    ] {
        let feed = read(atom(&format!("<entry><id>1</id>{inside}<link href='/1'/></entry>")));
        let first = &feed.entries[0];
        assert_eq!((first.title.as_deref(), first.summary.as_deref()), (title, summary), "{inside}");
        assert!(first.link.is_some() && feed.repairs.is_empty(), "{:?}", feed.repairs);
    }
}

#[test]
fn an_entry_without_an_author_has_the_feeds() {
    let ines = "<author><name>Ines Marsh</name><uri>/ines</uri></author>";
    let two = format!("{ines}<author><name>Lee</name></author>");
    let bo = "<author><name>Bo</name></author>";
    // The author of an entry's source takes precedence over the feed's, and an unnamed author counts as an author.
    let source = "<source><id>urn:2</id><title>Theirs</title><author><name>Sam</name></author></source>";
    for (own, feed, author) in [
        ("", ines, Some("Ines Marsh")),
        ("", &two, Some("Ines Marsh")),
        (bo, ines, Some("Bo")),
        (source, ines, Some("Sam")),
        (&format!("{source}{bo}"), ines, Some("Bo")),
        ("<author>Bo</author>", ines, Some("Bo")),
        ("<author> <![CDATA[Bo]]></author>", ines, Some("Bo")),
        ("", "<author>Ines Marsh</author>", Some("Ines Marsh")),
        ("<author><email>bo@mudflat.example</email></author>", ines, None),
        ("<contributor><name>Lee</name></contributor>", "", None),
    ] {
        let kim = "<entry><id>2</id><author><name>Kim</name></author></entry>";
        let read = read(atom(&format!("{feed}<entry><id>1</id>{own}</entry>{kim}")));
        let authors: Vec<_> = read.entries.iter().map(|entry| entry.author.as_deref()).collect();
        assert_eq!(authors, [author, Some("Kim")], "{own} {feed}");
    }
    for (author, name) in [
        ("<author> <name>Bo</name><email>bo@mudflat.example</email></author>", Some("Bo")),
        ("<author/><name>Bo</name>", None),
        ("<author>undefined</author>", None),
        ("<dc:creator>[object Object]</dc:creator>", None),
    ] {
        let feed = read(rss(&format!("<item>{author}<title>T</title></item>")));
        assert_eq!((first_title(&feed), feed.entries[0].author.as_deref()), ("T", name), "{author}");
    }
    // RSS has no author element for feeds.
    assert_eq!(read(rss(&format!("{ines}<item><title>T</title></item>"))).entries[0].author, None);
}

#[test]
fn entries_that_share_a_link_or_an_id_are_lost_only_if_they_are_the_same() {
    let item = |title: &str, rest: &str| format!("<item><title>{title}</title>{rest}</item>");
    let link = "<link>https://a.example/</link>";
    let dated = |day: u8| item("A", &format!("{link}<pubDate>2026-05-0{day}</pubDate>"));
    let untitled = |text: &str| format!("<item>{link}<description>{text}</description></item>");
    let guid = "<guid isPermaLink='false'>1</guid>";
    // Equal id and link mean one entry, whatever its other content. So does an equal id without a link.
    let both = format!("{guid}{link}");
    let other = both.replace('1', "2");
    for (items, titles) in [
        ([item("A", link), item("B", link)].concat(), &["A", "B"][..]),
        ([dated(1), dated(2), dated(1)].concat(), &["A", "A"]),
        ([untitled("a"), untitled("b"), untitled("a")].concat(), &["", ""]),
        ([item("A", guid), item("B", guid), item("A", guid)].concat(), &["A", "B"]),
        ([item("A", &both), item("B", &both)].concat(), &["A"]),
        ([item("A", &both), item("A", &other)].concat(), &["A", "A"]),
    ] {
        let feed = read(rss(&items));
        let keys: BTreeSet<u64> = feed.entries.iter().map(|e| e.key()).collect();
        let ids: BTreeSet<&str> = feed.entries.iter().map(|e| e.id.as_str()).collect();
        let found: Vec<_> = feed.entries.iter().map(|e| e.title.as_deref().unwrap_or_default()).collect();
        assert_eq!((&found[..], keys.len(), ids.len()), (titles, titles.len(), titles.len()), "{items}");
    }
}

#[test]
fn an_entry_that_shares_its_link_keeps_its_key_when_others_come_before_it() {
    let keys = |titles: &str| -> BTreeMap<Option<String>, u64> {
        let item = |title| format!("<item><title>{title}</title><link>https://a.example/</link></item>");
        let items: String = titles.chars().map(item).collect();
        read(rss(&items)).entries.into_iter().map(|e| (e.title.clone(), e.key())).collect()
    };
    let (before, mut after) = (keys("BA"), keys("CBA"));
    // The new entry's key equals none of the old ones.
    let new = after.remove(&Some("C".to_owned())).unwrap();
    assert_eq!((before.len(), &before), (2, &after));
    assert!(before.values().all(|key| *key != new));
}

/// Repeated elements, which RSS 2.0 and Atom do not allow. Like feedparser we use a feed's last link, date, id and
/// description, and its first title, author and summary. For Atom entries, feedparser uses the last link and author,
/// but we use the first: Atom allows several, with the main one first.
#[test]
fn of_repeated_elements_the_one_counts_that_other_readers_take() {
    let feed = read(rss("<description>One</description><description>Two</description>\
        <lastBuildDate>2026-05-01</lastBuildDate><lastBuildDate>2026-05-02</lastBuildDate>\
        <item><title>One</title><title>Two</title><link>https://a.example/1</link><link>https://a.example/2</link>\
        <guid isPermaLink='false'>1</guid><guid isPermaLink='false'>2</guid><guid/>\
        <pubDate>2026-05-01</pubDate><pubDate>2026-05-02</pubDate><pubDate>soon</pubDate>\
        <author>Ines</author><author>Bo</author><description>One</description><description>Two</description></item>"));
    let day = |time: Option<Timestamp>| time.unwrap().to_string()[..10].to_owned();
    assert_eq!((feed.description.as_deref(), day(feed.updated).as_str()), (Some("Two"), "2026-05-02"));
    let entry = &feed.entries[0];
    assert_eq!((entry.title.as_deref(), entry.summary.as_deref()), (Some("One"), Some("One")));
    assert_eq!((entry.link.as_deref(), entry.id.as_str()), (Some("https://a.example/2"), "2"));
    assert_eq!((day(entry.published).as_str(), entry.author.as_deref()), ("2026-05-02", Some("Ines")));
    let feed = read(atom(
        "<entry><id>urn:1</id><id>urn:2</id><title>One</title><title>Two</title>\
         <link href='https://a.example/1'/><link href='https://a.example/2'/><author><name>Ines</name></author>\
         <author><name>Bo</name></author><updated>2026-05-01</updated><updated>2026-05-02</updated></entry>",
    ));
    let entry = &feed.entries[0];
    assert_eq!((entry.title.as_deref(), entry.id.as_str()), (Some("One"), "urn:2"));
    assert_eq!((entry.link.as_deref(), entry.author.as_deref()), (Some("https://a.example/1"), Some("Ines")));
    assert_eq!(day(entry.updated), "2026-05-02");
}

#[test]
fn less_usual_elements_are_known() {
    let feed = read(rss("<language>en_US</language><dcterms:issued>2026-05-03</dcterms:issued>\
        <item><dc:author>Bo</dc:author><fullitem>&lt;p&gt;All of it&lt;/p&gt;</fullitem></item>"));
    assert_eq!(feed.language.as_deref(), Some("en-us"));
    assert_eq!(feed.updated.unwrap().to_string(), "2026-05-03T00:00:00Z");
    let entry = &feed.entries[0];
    assert_eq!((entry.author.as_deref(), entry.content.as_deref()), (Some("Bo"), Some("<p>All of it</p>")));
}

/// Returns item number `n` of a document; a higher number means a later date.
fn aged(n: usize) -> String {
    let (day, hour) = (1 + n / 24, n % 24);
    format!(
        "<item><title>T{n}</title><link>/{n}</link><guid>https://a.example/{n}</guid>\
         <pubDate>2026-05-{day:02}T{hour:02}:00:00Z</pubDate></item>"
    )
}

#[test]
fn a_feed_beyond_the_limit_keeps_its_newest_entries_in_any_order() {
    let limits = Limits { entries: 5, ..Limits::default() };
    let titles = |body: &str| {
        let feed = read_with(body, &limits).unwrap();
        assert!(feed.truncated && !feed.repairs.contains(&Repair::Cut));
        feed.entries.into_iter().map(|entry| entry.title.unwrap()).collect::<Vec<_>>()
    };
    let oldest_first: Vec<usize> = (0..37).collect();
    let mixed: Vec<usize> = (0..37).map(|n| n * 11 % 37).collect();
    for order in [oldest_first.clone(), oldest_first.iter().rev().copied().collect(), mixed] {
        let newest: Vec<String> = order.iter().filter(|n| **n >= 32).map(|n| format!("T{n}")).collect();
        let items = |item: &dyn Fn(usize) -> String| order.iter().map(|n| item(*n)).collect::<String>();
        assert_eq!(titles(&rss(&items(&aged))), newest);
        let json = |n: usize| {
            let (day, hour) = (1 + n / 24, n % 24);
            format!("{{\"id\":\"{n}\",\"title\":\"T{n}\",\"date_published\":\"2026-05-{day:02}T{hour:02}:00:00Z\"}},")
        };
        let json = items(&json);
        assert_eq!(titles(&format!("{{\"title\":\"W\",\"items\":[{}]}}", json.trim_end_matches(','))), newest);
    }
    // Without dates the first entries are kept. An entry with a date takes precedence over those without.
    let bare: String = (0..37).map(|n| format!("<item><title>T{n}</title></item>")).collect();
    assert_eq!(titles(&rss(&bare)), ["T0", "T1", "T2", "T3", "T4"]);
    assert_eq!(titles(&rss(&(bare + &aged(40)))), ["T0", "T1", "T2", "T3", "T40"]);
}

#[test]
fn the_last_entries_of_a_long_archive_are_whole() {
    let items: String = (0..15_000)
        .map(|n| {
            let (year, month, day) = (1980 + n / 336, 1 + n / 28 % 12, 1 + n % 28);
            format!(
                "<item><title>T</title><link>/{n}</link><guid>https://a.example/{n}</guid><comments>/c</comments>\
                 <pubDate>{year}-{month:02}-{day:02}</pubDate></item>"
            )
        })
        .collect();
    let feed = read(rss(&items));
    assert_eq!(feed.entries.len(), Limits::default().entries);
    assert_eq!(feed.entries.last().unwrap().link.as_deref(), Some("https://mudflat.example/14999"));
    assert!(feed.entries.iter().all(|entry| entry.link.is_some() && entry.published.is_some()));
}

#[test]
fn relative_links_of_rss_belong_to_the_channels_page() {
    let item = "<link>2026/a</link>";
    let channel = "<link>https://www.example.org/</link>";
    for (channel, item, link) in [
        ("<link>https://www.example.org/blog/</link>", item, "https://www.example.org/blog/2026/a"),
        ("<link>/notes/</link>", item, "https://mudflat.example/notes/2026/a"),
        ("<link>ftp://a.example/</link>", item, "https://mudflat.example/2026/a"),
        ("", item, "https://mudflat.example/2026/a"),
        (channel, "<link xml:base='https://b.example/x/'>a</link>", "https://b.example/x/a"),
        (channel, "<atom:link href='/a'/>", "https://www.example.org/a"),
        (channel, "<link>https://c.example/a</link>", "https://c.example/a"),
    ] {
        let feed = read(rss(&format!("{channel}<item><title>T</title>{item}</item>")));
        assert_eq!(feed.entries[0].link.as_deref(), Some(link), "{channel} {item}");
    }
    // Atom has a different rule (RFC 4287 §4.2.7.1).
    let entry = "<link href='https://www.example.org/'/><entry><id>urn:1</id><link href='/a'/></entry>";
    assert_eq!(read(atom(entry)).entries[0].link.as_deref(), Some("https://mudflat.example/a"));
}

#[test]
fn an_id_that_is_an_address_counts_where_there_is_no_usable_link() {
    let guid = "<guid>https://example.org/1</guid>";
    let own = "<id>https://example.org/1</id>";
    for (feed, link) in [
        (rss(&format!("<item><link>null</link>{guid}</item>")), "https://example.org/1"),
        (rss(&format!("<item>{guid}<link>undefined</link></item>")), "https://example.org/1"),
        (
            rss(&format!("<item><link><a href=\"/2?a&amp;b\">Two</a></link>{guid}</item>")),
            "https://mudflat.example/2?a&b",
        ),
        (atom(&format!("<entry>{own}<link rel='enclosure' href='/a.mp3'/></entry>")), "https://example.org/1"),
        (atom(&format!("<entry>{own}<content src='/2'/></entry>")), "https://mudflat.example/2"),
        (atom(&format!("<entry>{own}<link href='/2'/></entry>")), "https://mudflat.example/2"),
    ] {
        assert_eq!(read(&feed).entries[0].link.as_deref(), Some(link), "{feed}");
    }
}

#[test]
fn a_date_in_an_html_element_is_that_of_its_attribute() {
    let time = "<time datetime=\"2024-05-01T10:00:00+00:00\" title=\"x\">Wed, 05/01/2024 - 12:00</time>";
    for date in [time.to_owned(), time.replace('<', "&lt;").replace('"', "'"), format!("<![CDATA[ {time}]]>")] {
        let feed = read(rss(&format!("<item><title>T</title><pubDate>{date}</pubDate></item>")));
        let published = feed.entries[0].published.map(|at| at.to_string());
        assert_eq!(published.as_deref(), Some("2024-05-01T10:00:00Z"), "{date}");
    }
}

#[test]
fn the_articles_own_address_counts_before_that_of_a_proxy() {
    let proxy = "https://feeds.proxy.example/~r/notes/~3/x/";
    let own = "<feedburner:origLink>https://example.org/a</feedburner:origLink>";
    for feed in [
        rss(&format!("<item><link>{proxy}</link><guid>https://example.org/?p=1</guid>{own}</item>")),
        rss(&format!("<item>{own}<atom:link href='{proxy}'/><link>{proxy}</link></item>")),
        atom(&format!("<entry><id>urn:1</id><link rel='alternate' type='text/html' href='{proxy}'/>{own}</entry>")),
    ] {
        assert_eq!(read(&feed).entries[0].link.as_deref(), Some("https://example.org/a"), "{feed}");
    }
}

#[test]
fn a_month_that_two_languages_share_is_that_of_the_feeds() {
    let month = |language: &str| {
        let feed = read(rss(&format!("{language}<item><title>T</title><pubDate>5 listopada 2026</pubDate></item>")));
        feed.entries[0].published.map(|at| at.to_string()[5..7].to_owned())
    };
    assert_eq!(month("<language>hr</language>").as_deref(), Some("10"));
    assert_eq!(month("<language>pl-PL</language>").as_deref(), Some("11"));
    assert_eq!(month(""), None);
}
