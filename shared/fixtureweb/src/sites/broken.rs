//! Sites with broken feeds, and feeds with odd links.

use crate::blog::{Blog, Plan};
use crate::feeds::{Damage, Entry, Format};
use crate::log::Kind;
use crate::publisher::Style;
use crate::reply::Reply;
use crate::site::{Outcome, Site};
use crate::text::{BIRDS, BORGO, CUCINA, GIARDINO, LIBRI, ORCHARD, STRADE};

pub(crate) fn sites() -> Vec<Site> {
    vec![bare_ampersand(), cut_short(), chatty_preamble(), wrong_label(), latin_liar(), feed_gone(), odd_links()]
}

fn bare_ampersand() -> Site {
    let mut blog =
        Blog::new("pane-e-olio.test", "Pane & olio", "Ricette & avanzi, sale & pepe", &CUCINA, Style::OpenGraph);
    blog.about = "a feed with bare & and &nbsp; in titles and texts: repaired, all entries kept";
    blog.posts(5).feed(Plan { damage: Damage::BareAmpersands, ..Plan::new("/feed.xml", Format::Rss2) });
    blog.finish()
}

fn cut_short() -> Site {
    let mut blog = Blog::new("cut-short.test", "Cut Short", "A ledger with its last page torn", &BIRDS, Style::Plain);
    blog.about =
        "the feed ends in the title of its sixth entry, though the transfer is complete: five entries are whole";
    blog.posts(5);
    let torn = blog.publisher.post(5);
    let entry = blog.publisher.entry(&torn);
    blog.entry(entry, Outcome::Ignored);
    blog.feed(Plan { damage: Damage::CutShort, ..Plan::new("/feed.xml", Format::Rss2) });
    blog.finish()
}

fn chatty_preamble() -> Site {
    let mut blog = Blog::new(
        "chatty-preamble.test",
        "The Chatty Preamble",
        "Some words before the words",
        &ORCHARD,
        Style::Microdata,
    );
    blog.about = "blank lines and a comment stand before the feed's XML declaration: skipped";
    blog.posts(5).feed(Plan { damage: Damage::LeadingText, ..Plan::new("/feed.xml", Format::Atom) });
    blog.finish()
}

fn wrong_label() -> Site {
    let mut blog = Blog::new(
        "etichetta-sbagliata.test",
        "L’etichetta sbagliata",
        "Vetrine e insegne d’altri tempi",
        &STRADE,
        Style::JsonLd,
    );
    blog.about = "the feed is labelled text/html: what it is shows in its bytes";
    blog.posts(5).feed(Plan { media_type: Some("text/html"), ..Plan::new("/feed.xml", Format::Rss2) });
    blog.finish()
}

fn latin_liar() -> Site {
    let mut blog =
        Blog::new("citta-perche.test", "Città, perché?", "Più domande che risposte", &BORGO, Style::OpenGraph);
    blog.about = "the feed says UTF-8 and is ISO-8859-1: the links are ASCII, so no entry is lost";
    blog.posts(5).feed(Plan {
        damage: Damage::LatinAsUtf8,
        media_type: Some("application/rss+xml"),
        ..Plan::new("/feed.xml", Format::Rss2)
    });
    blog.finish()
}

fn feed_gone() -> Site {
    let mut blog =
        Blog::new("feed-gone.test", "Closed Shelf", "This shelf is no longer filled", &LIBRI, Style::OpenGraph);
    blog.about = "the head names a feed that answers 410, and there is no other: no feed, no hold";
    blog.posts(3).feed(Plan::new("/feed.xml", Format::Rss2));
    blog.at("http://feed-gone.test/feed.xml", Reply::status(Kind::Feed, 410));
    blog.unreachable(None);
    blog.finish()
}

fn odd_links() -> Site {
    let mut blog =
        Blog::new("strani-legami.test", "Strani legami", "Un orto pieno di erbacce", &GIARDINO, Style::Plain);
    blog.about =
        "entries that link to javascript:, data: and mailto: (no page at all) and to private addresses (refused)";
    blog.posts(3);
    for link in ["javascript:alert(1)", "data:text/html,<h1>hello</h1>", "mailto:nobody@strani-legami.test"] {
        blog.entry(odd(link), Outcome::Ignored);
    }
    for link in
        ["http://127.0.0.1:9001/2018-06-01/runtime/invocation/next", "http://192.168.1.1/setup", "http://[::1]/"]
    {
        blog.entry(odd(link), Outcome::Rejected("address"));
    }
    blog.feed(Plan::new("/feed.xml", Format::Rss2));
    blog.finish()
}

fn odd(link: &str) -> Entry {
    Entry {
        link: link.to_owned(),
        title: Some("Un legame strano".to_owned()),
        summary: "Da non seguire.".to_owned(),
        ..Entry::default()
    }
}
