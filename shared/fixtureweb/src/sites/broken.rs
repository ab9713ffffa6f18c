//! Sites with broken feeds, and feeds with odd links.

use crate::blog::{Blog, Plan};
use crate::feeds::{Damage, Entry, Format};
use crate::log::Kind;
use crate::publisher::Style;
use crate::reply::Reply;
use crate::site::{Outcome, Site};
use crate::text::{BIRDS, BORGO, CUCINA, GIARDINO, LIBRI, ORCHARD, STRADE};

pub(crate) fn sites() -> Vec<Site> {
    vec![
        Blog::new("pane-e-olio.test", &CUCINA, Style::OpenGraph)
            .titled("Pane & olio", "Ricette & avanzi, sale & pepe")
            .about("a feed with bare & and &nbsp; in titles and texts: repaired, all entries kept")
            .posts(5)
            .feed(Plan { damage: Damage::BareAmpersands, ..Plan::new("/feed.xml", Format::Rss2) })
            .finish(),
        cut_short(),
        Blog::new("chatty-preamble.test", &ORCHARD, Style::Microdata)
            .titled("The Chatty Preamble", "Some words before the words")
            .about("blank lines and a comment stand before the feed's XML declaration: skipped")
            .posts(5)
            .feed(Plan { damage: Damage::LeadingText, ..Plan::new("/feed.xml", Format::Atom) })
            .finish(),
        Blog::new("etichetta-sbagliata.test", &STRADE, Style::JsonLd)
            .titled("L’etichetta sbagliata", "Vetrine e insegne d’altri tempi")
            .about("the feed is labelled text/html: what it is shows in its bytes")
            .posts(5)
            .feed(Plan { media_type: Some("text/html"), ..Plan::new("/feed.xml", Format::Rss2) })
            .finish(),
        Blog::new("citta-perche.test", &BORGO, Style::OpenGraph)
            .titled("Città, perché?", "Più domande che risposte")
            .about("the feed says UTF-8 and is ISO-8859-1: the links are ASCII, so no entry is lost")
            .posts(5)
            .feed(Plan {
                damage: Damage::LatinAsUtf8,
                media_type: Some("application/rss+xml"),
                ..Plan::new("/feed.xml", Format::Rss2)
            })
            .finish(),
        Blog::new("feed-gone.test", &LIBRI, Style::OpenGraph)
            .titled("Closed Shelf", "This shelf is no longer filled")
            .about("the head names a feed that answers 410, and there is no other: no feed, no hold")
            .posts(3)
            .rss()
            .at("http://feed-gone.test/feed.xml", Reply::status(Kind::Feed, 410))
            .unreachable(None)
            .finish(),
        odd_links(),
    ]
}

fn cut_short() -> Site {
    let mut blog = Blog::new("cut-short.test", &BIRDS, Style::Plain);
    blog.titled("Cut Short", "A ledger with its last page torn").about(
        "the feed ends in the title of its sixth entry, though the transfer is complete: five entries are \
                whole",
    );
    blog.posts(5);
    blog.entry(blog.publisher.entry(&blog.publisher.post(5)), Outcome::Ignored);
    blog.feed(Plan { damage: Damage::CutShort, ..Plan::new("/feed.xml", Format::Rss2) });
    blog.finish()
}

fn odd_links() -> Site {
    let mut blog = Blog::new("strani-legami.test", &GIARDINO, Style::Plain);
    blog.titled("Strani legami", "Un orto pieno di erbacce").about(
        "entries that link to javascript:, data: and mailto: (no page at all) and to private addresses \
                (refused)",
    );
    blog.posts(3);
    for link in ["javascript:alert(1)", "data:text/html,<h1>hello</h1>", "mailto:nobody@strani-legami.test"] {
        blog.entry(odd(link), Outcome::Ignored);
    }
    for link in
        ["http://127.0.0.1:9001/2018-06-01/runtime/invocation/next", "http://192.168.1.1/setup", "http://[::1]/"]
    {
        blog.entry(odd(link), Outcome::Rejected("address"));
    }
    blog.rss().finish()
}

fn odd(link: &str) -> Entry {
    Entry {
        link: link.to_owned(),
        title: Some("Un legame strano".to_owned()),
        summary: "Da non seguire.".to_owned(),
        ..Entry::default()
    }
}
