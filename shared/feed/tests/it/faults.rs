//! Tests of the faults reported to a feed's author: line, column and code of each. Valid feeds have none.

use crate::documents::{read, read_with};
use curlew_feed::{Limits, Repair};
use curlew_model::FaultCode;

/// Returns line, column, code, element and excerpt of each fault.
fn faults(body: &str) -> Vec<String> {
    let feed = read(body);
    assert_eq!(feed.faults.count as usize, feed.faults.first.len(), "{body}");
    feed.faults.first.iter().map(|f| format!("{}:{} {} {} {}", f.line, f.column, f.code, f.at, f.found)).collect()
}

const RSS: &str = "<?xml version=\"1.0\"?>
<rss version=\"2.0\" xmlns:dc=\"http://purl.org/dc/elements/1.1/\">
<channel><title>T</title><link>https://mudflat.example/</link><description>D</description>
ITEM
</channel>
</rss>
";

fn item(inside: &str) -> Vec<String> {
    faults(&RSS.replace("ITEM", &format!("<item><title>T</title>\n{inside}</item>")))
}

const ATOM: &str = "<feed xmlns=\"http://www.w3.org/2005/Atom\">
<id>urn:mudflat</id><title>T</title><updated>2026-05-03T17:05:09Z</updated>
ENTRY
</feed>";

fn entry(inside: &str) -> Vec<String> {
    let rest = "<id>urn:1</id><title type='html'>T</title><updated>2026-05-03T17:05:09.5+02:00</updated>";
    faults(&ATOM.replace("ENTRY", &format!("<entry>{rest}\n{inside}</entry>")))
}

#[test]
fn what_is_sound_has_no_fault() {
    let none = [""; 0];
    assert_eq!(faults(&RSS.replace("ITEM", "")), none);
    let all = "<link>https://mudflat.example/1?a=1&amp;b=2</link><guid isPermaLink='false'>1</guid><dc:creator>Bo</dc:creator>\
        <pubDate>Sun, 03 May 2026 17:05:09 +0200</pubDate><author>bo@mudflat.example (Bo)</author><category domain='x'>y</category>\
        <enclosure url='https://mudflat.example/a.mp3' length='12' type='audio/mpeg'/><source url='https://b.example/'>B</source>\
        <description><![CDATA[<p>A & B]]></description><comments>https://mudflat.example/1#c</comments>";
    assert_eq!(item(all), none);
    let all = "<link href='/1'/><content type='xhtml'><div xmlns='http://www.w3.org/1999/xhtml'><b>A</b></div></content>\
        <author><name>Bo</name><uri>/bo</uri></author><category term='x'/><x:y xmlns:x='urn:x' z='1'><x:z/></x:y>\
        <source><id>urn:2</id></source><published>2026-05-03T17:05:09Z</published><summary>&#8217;&lt;</summary>";
    assert_eq!(entry(all), none);
    let json = r#"{"version": "https://jsonfeed.org/version/1.1", "title": "T", "feed_url": "https://mudflat.example/feed",
        "authors": [{"name": "Bo"}], "hubs": [{"type": "WebSub", "url": "https://hub.example/"}], "_more": {"a": [1, null]},
        "items": [{"id": "1", "url": "https:\/\/mudflat.example\/1", "content_html": "<p>\"A\"</p>", "tags": ["x"],
            "date_published": "2026-05-03T17:05:09+02:00", "attachments": [{"url": "https://mudflat.example/a.mp3",
            "mime_type": "audio/mpeg", "size_in_bytes": 12}]}]}"#;
    assert_eq!(faults(json), none);
}

#[test]
fn rss_is_checked_against_its_schema() {
    assert_eq!(
        faults("<rss version='2.0'><channel>\n <title>T</title>x<ttl>soon</ttl></channel></rss>"),
        [
            "1:20 missing <channel> <link>",
            "1:20 missing <channel> <description>",
            "2:18 unexpected_text <channel> x",
            "2:19 bad_number <ttl> soon",
        ]
    );
    assert_eq!(faults(&RSS.replace("ITEM", "<item>\n<link>/1</link></item>")).len(), 2);
    for (inside, wanted) in [
        ("<pubDate>2026-05-03T17:05:09Z</pubDate>", "5:1 bad_rss_date <pubDate> 2026-05-03T17:05:09Z"),
        ("<link>/1</link>", "5:1 bad_address <link> /1"),
        ("<author>bo at mudflat (b@mudflat)</author>", "5:1 bad_mail_address <author> "),
        ("<guid></guid>", "5:1 empty <guid> "),
        ("<guid isPermaLink='no'>1</guid>", "5:1 bad_value 'isPermaLink' of <guid> no"),
        ("<title>U</title>", "5:1 too_many <item> <title>"),
        ("<enclosure url='https://a.example/' type='a/b'/>", "5:1 missing_attribute <enclosure> length"),
        ("<content>C</content>", "5:1 unexpected <item> <content>"),
        ("<description lang='en'>C</description>", "5:1 unexpected_attribute <description> lang"),
        ("<description>A <b>C</b></description>", "5:16 unexpected <description> <b>"),
    ] {
        assert_eq!(item(inside), [wanted], "{inside}");
    }
    assert!(
        faults("<rss version='2.0' xmlns='urn:x'><channel><title>T</title></channel></rss>")[0]
            .contains("unknown_root <rss>")
    );
}

#[test]
fn atom_is_checked_against_its_schema() {
    assert_eq!(
        faults(&ATOM.replace("ENTRY", "<entry><title>T</title>\n<content/></entry>")),
        ["3:1 missing <entry> <id>", "3:1 missing <entry> <updated>"]
    );
    for (inside, wanted) in [
        ("", "3:1 missing <entry> <content> or <link>"),
        ("<content/><published>May 3rd</published>", "4:11 bad_date <published> May 3rd"),
        ("<content/><link/>", "4:11 missing_attribute <link> href"),
        ("<content type='rich'/>", "4:1 bad_value 'type' of <content> rich"),
        ("<content/><summary type='text/html'/>", "4:11 bad_value 'type' of <summary> text/html"),
        ("<content/><author><email>b@c.example</email></author>", "4:11 missing <author> <name>"),
        ("<content/><modified/>", "4:11 unexpected <entry> <modified>"),
    ] {
        assert_eq!(entry(inside), [wanted], "{inside}");
    }
    let prefixed = "<a:feed xmlns:a='http://www.w3.org/2005/Atom'><a:id>urn:1</a:id><a:title>T</a:title></a:feed>";
    assert_eq!(faults(prefixed), ["1:1 missing <a:feed> <a:updated>"]);
}

#[test]
fn json_feed_is_checked_against_its_schema() {
    let text = "{\"version\": \"https://jsonfeed.org/version/1.1\", \"title\": 5,\n \"icon\": \"/i.png\", \"_more\": [{}],\n \
        \"items\": [\n  {\"id\": 1, \"url\": \"https:\\/\\/a.example\\/\\\"\"},\n  {\"content_text\": \"t\", \"date_published\": \"2026\"}]}";
    assert_eq!(
        faults(text),
        [
            "1:58 wrong_type title a text in quotes",
            "2:10 bad_address icon /i.png",
            "4:3 missing items[0] \"content_html\" or \"content_text\"",
            "4:10 wrong_type items[0].id a text in quotes",
            "4:20 bad_address items[0].url https://a.example/\\\"",
            "5:3 missing items[1] \"id\"",
            "5:43 bad_date items[1].date_published 2026",
        ]
    );
    // Version 1.0 does not define `authors`, so it counts as an extension.
    let old = "{\"version\": \"https://jsonfeed.org/version/1\", \"title\": \"T\", \"authors\": 1, \"items\": []}";
    assert_eq!(faults(old), [""; 0]);
    assert_eq!(faults(&old.replace("version/1", "version/1.1")).len(), 1);
}

#[test]
fn xml_is_checked_in_every_dialect() {
    let old = |inside: &str| {
        faults(&format!(
            "<rss version='0.91'><channel><title>T</title>\n<item><title>{inside}</title></item></channel></rss>"
        ))
    };
    assert_eq!(old("A &amp; B &#8217; &#x26;"), [""; 0]);
    for (inside, wanted) in [
        ("A & B", "2:16 bare_ampersand  "),
        ("A&B;", "2:15 unknown_entity  &B;"),
        ("A&nbsp;B", "2:15 unknown_entity  &nbsp;"),
        ("A &#0;", "2:16 unknown_entity  &#0;"),
        ("1 < 2", "2:16 bare_less_than  "),
        ("A <b>C</b></i>", "2:24 unopened </i> "),
        ("<b>C", "2:14 unclosed <b> "),
        ("<b a='1' a='2'/>", "2:14 attribute_twice <b> a"),
        ("<b a=1/>", "2:14 attribute_syntax <b> "),
        ("<b a/>", "2:14 attribute_syntax <b> "),
        ("<x:b/>", "2:14 undeclared_prefix <x:b> x"),
        ("A\u{b}", "2:15 control_character  U+000B"),
    ] {
        assert_eq!(old(inside), [wanted], "{inside}");
    }
}

#[test]
fn what_stands_around_a_feed_is_told_once() {
    let sound = RSS.replace("ITEM", "");
    assert_eq!(faults(&format!("\n{sound}")), ["1:1 text_before_start  "]);
    let warned = format!("<br/><b>Warning</b>: line 3 <br/>\n{sound}");
    assert_eq!(faults(&warned)[0], "1:1 text_before_start  ");
    assert_eq!(faults(&format!("{sound}<!-- 12 queries -->\n")), [""; 0]);
    assert_eq!(faults(&format!("{sound}<p>12 queries")).first().map(String::as_str), Some("7:1 text_after_end  "));
    let cut = &sound[..sound.len() - 12];
    assert!(faults(cut).last().unwrap().contains("truncated"), "{:?}", faults(cut));
}

#[test]
fn a_document_type_may_declare_entities() {
    let body = "<!DOCTYPE rss [<!ENTITY eacute '&#233;'>]><rss version='0.91'><channel><title>caf&eacute;</title></channel></rss>";
    assert_eq!(faults(body), [""; 0]);
}

#[test]
fn faults_are_counted_all_and_listed_up_to_a_limit() {
    let feed = read(RSS.replace("ITEM", &"<item><b/></item>".repeat(500)));
    let limit = Limits::default().faults;
    assert_eq!((feed.faults.count, feed.faults.first.len()), (1_000, limit));
    assert_eq!(feed.faults.first[0].code, FaultCode::Missing);
    let tiny = Limits { faults: 0, ..Limits::default() };
    let feed = read_with(RSS, &tiny).unwrap();
    assert!(feed.faults.count > 0 && feed.faults.first.is_empty());
}

#[test]
fn a_wrong_encoding_is_a_fault_and_mended() {
    let body =
        b"<?xml version='1.0' encoding='utf-8'?><rss version='0.92'><channel><title>caf\xE9</title></channel></rss>";
    let feed = read(body);
    assert_eq!((feed.faults.first[0].code, feed.repairs[0]), (FaultCode::Encoding, Repair::Encoding));
    assert_eq!(feed.title.as_deref(), Some("caf\u{e9}"));
}
