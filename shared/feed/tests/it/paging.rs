//! Tests of links to older documents of a feed (RFC 5005, JSON Feed), and of the recognition of its generator.

use crate::documents::{self, read};
use curlew_feed::Feed;
use curlew_feed::paging::{Generator, Paging};

fn atom(inside: &str) -> Feed {
    read(documents::atom(inside))
}

fn rss(inside: &str) -> Feed {
    read(documents::rss(inside))
}

#[test]
fn a_feed_names_its_older_documents() {
    let expected = Paging {
        next: Some("https://mudflat.example/feed?page=2".to_owned()),
        prev_archive: Some("https://archive.example/2025".to_owned()),
        ..Paging::default()
    };
    let entry = "<entry><id>1</id><link rel='next' href='/no'/></entry>";
    let source = "<entry><id>2</id><source><link rel='prev-archive' href='/no'/></source></entry>";
    let links = "<link rel='NEXT' type='application/atom+xml' href='?page=2'/><link rel='next' href='/no'/>\
        <link rel='prev' href='/no'/><link rel='next-archive' href='/no'/><link rel='current' href='/no'/>\
        <link rel='prev-archive' href='//archive.example/2025'/>";
    assert_eq!(atom(&format!("{entry}{source}{links}")).paging, expected);
    let long = "http://www.iana.org/assignments/relation/prev-archive";
    assert_eq!(atom(&links.replace("'prev-archive'", &format!("'{long}'"))).paging, expected);
    let item = "<item><title>A</title><atom:link rel='next' href='/no'/></item>";
    assert_eq!(rss(&format!("{}{item}", links.replace("<link", "<atom:link"))).paging, expected);
    let json = r#"{"version": "https://jsonfeed.org/version/1.1", "title": "T", "next_url": "?page=2", "items": []}"#;
    assert_eq!(read(json).paging, Paging { prev_archive: None, ..expected });
    assert_eq!(read(json.replace("\"?page=2\"", "[2]")).paging, Paging::default());
    assert_eq!(atom("<link rel='next' href='javascript:x'/><link rel='prev-archive'/>").paging, Paging::default());
}

#[test]
fn a_feed_says_whether_it_is_an_archive_or_complete() {
    let archive = Paging { is_archive: true, ..Paging::default() };
    let complete = Paging { is_complete: true, ..Paging::default() };
    for (feed, paging) in [
        (atom("<fh:archive/>"), &archive),
        (atom("<archive xmlns='http://purl.org/syndication/history/1.0'/>"), &archive),
        (atom("<fh:complete></fh:complete>"), &complete),
        (rss("<fh:complete/>"), &complete),
        (atom("<archive/><x:complete/>"), &Paging::default()),
        (atom("<entry><id>1</id><fh:archive/></entry>"), &Paging::default()),
    ] {
        assert_eq!(feed.paging, *paging, "{feed:?}");
    }
}

#[test]
fn the_number_of_all_entries_is_read() {
    let total = |text: &str| rss(&format!("<openSearch:totalResults>{text}</openSearch:totalResults>")).paging.total;
    assert_eq!(total(" 1000 "), Some(1_000));
    for bad in ["", "many", "-1", "99999999999999999999"] {
        assert_eq!(total(bad), None, "{bad}");
    }
    let declared = "<o:totalResults xmlns:o='http://a9.com/-/spec/opensearchrss/1.0/'>7</o:totalResults>";
    assert_eq!(atom(declared).paging.total, Some(7));
}

#[test]
fn the_program_is_known_by_its_generator_element() {
    let (wordpress, blogger) = (Some(Generator::WordPress), Some(Generator::Blogger));
    for (feed, generator) in [
        (rss("<generator>https://wordpress.org/?v=6.4.2</generator>"), wordpress),
        (atom("<generator uri='https://wordpress.org/' version='6.4'>WordPress</generator>"), wordpress),
        (atom("<generator version='7.00' uri='http://www.blogger.com'>Blogger</generator>"), blogger),
        (atom("<generator uri='http://www.blogger.com'/>"), blogger),
        (rss("<generator>Blogger</generator>"), blogger),
        (rss("<admin:generatorAgent rdf:resource='http://wordpress.org/?v=2.0'/>"), wordpress),
        (rss("<generator>Hugo</generator><item><generator>Blogger</generator></item>"), None),
    ] {
        assert_eq!(feed.generator, generator, "{feed:?}");
    }
}
