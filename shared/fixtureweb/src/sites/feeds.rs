//! Sites that differ in their feeds: format, location, number, length, behaviour.

use crate::blog::{Blog, Plan};
use crate::feeds::Format;
use crate::publisher::{Pictures, Style};
use crate::reply::Reply;
use crate::site::{Outcome, Site};
use crate::text::{BIRDS, BORGO, CUCINA, CYCLING, HARBOUR, LIBRI, MONTAGNA, ORCHARD, STRADE, WALKS, WORKSHOP};

pub(crate) fn sites() -> Vec<Site> {
    vec![
        json_orchard(),
        rdf_relics(),
        vecchio_bollettino(),
        early_echo(),
        hidden_spring(),
        last_resort(),
        senza_feed(),
        long_ledger(),
        one_guid(),
        two_doors(),
        patient_press(),
        planet_hiking(),
        senza_date(),
        tide_table(),
    ]
}

fn json_orchard() -> Site {
    let mut blog = Blog::new(
        "json-orchard.test",
        "The JSON Orchard",
        "Fruit trees, grafts and windfalls",
        &ORCHARD,
        Style::Microdata,
    );
    blog.about = "JSON Feed 1.1";
    blog.posts(7).feed(Plan { full: true, ..Plan::new("/feed.json", Format::JsonFeed) });
    blog.finish()
}

fn rdf_relics() -> Site {
    let mut blog = Blog::new(
        "rdf-relics.test",
        "Relics of the Road",
        "Milestones, toll houses and other leftovers",
        &WALKS,
        Style::OpenGraph,
    );
    blog.about = "RSS 1.0 (RDF)";
    blog.posts(6).feed(Plan::new("/index.rdf", Format::Rdf));
    blog.finish()
}

fn vecchio_bollettino() -> Site {
    let mut blog = Blog::new(
        "vecchio-bollettino.test",
        "Il vecchio bollettino",
        "Il foglio del paese, come una volta",
        &BORGO,
        Style::Plain,
    );
    blog.about = "RSS 0.91: no guids, no dates";
    blog.posts(5).feed(Plan::new("/rss091.xml", Format::Rss091));
    blog.finish()
}

fn early_echo() -> Site {
    let mut blog = Blog::new("early-echo.test", "Early Echo", "A log kept since the old days", &HARBOUR, Style::Plain);
    blog.about = "Atom 0.3";
    blog.posts(5).feed(Plan::new("/atom03.xml", Format::Atom03));
    blog.finish()
}

fn hidden_spring() -> Site {
    let mut blog = Blog::new(
        "hidden-spring.test",
        "Hidden Spring",
        "A garden that does not advertise",
        &ORCHARD,
        Style::OpenGraph,
    );
    blog.about = "no feed link in the head, but /feed works: the first address that is tried";
    blog.posts(5).feed(Plan { linked: false, ..Plan::new("/feed", Format::Rss2) });
    blog.finish()
}

fn last_resort() -> Site {
    let mut blog =
        Blog::new("ultima-spiaggia.test", "L’ultima spiaggia", "Portici e piazze di provincia", &STRADE, Style::JsonLd);
    blog.about =
        "no feed link in the head, /?feed=rss is the home page, only /rss.xml is a feed: the last that is tried";
    blog.posts(5).feed(Plan { linked: false, ..Plan::new("/rss.xml", Format::Rss2) });
    blog.finish()
}

fn senza_feed() -> Site {
    let mut blog =
        Blog::new("senza-feed.test", "Senza feed", "Un sito bello da vedere e basta", &MONTAGNA, Style::OpenGraph);
    blog.about =
        "no feed anywhere: scanned once, then left alone; a guessed address that is missing is no reason to hold";
    for number in 0..4 {
        let post = blog.publisher.post(number);
        let page = blog.publisher.page(&post);
        blog.at(&post.url, page);
    }
    blog.finish()
}

fn long_ledger() -> Site {
    let mut blog = Blog::new(
        "long-ledger.test",
        "The Long Ledger",
        "Everything ever counted, in one feed",
        &BIRDS,
        Style::Microdata,
    );
    blog.about = "150 entries: 6 pages, 44 more links to the same pages with tracking or fragment, 100 under /archive/, which robots.txt forbids";
    blog.robots(Reply::robots("User-agent: *\nDisallow: /archive/\n"), &["/archive/"]);
    blog.posts(6);
    for number in 6..50 {
        let post = blog.publisher.post(number);
        let target = blog.publisher.post(number % 6).url;
        let mut entry = blog.publisher.entry(&post);
        entry.link = match number % 2 {
            0 => format!("{target}?utm_source=ledger&utm_medium=rss&utm_campaign=count-{number}"),
            _ => format!("{target}#count-{number}"),
        };
        entry.id = Some(format!("count-{number}@long-ledger.test"));
        blog.entry(entry, Outcome::Repeat);
    }
    for number in 50..150 {
        let post = blog.publisher.post(number);
        let mut entry = blog.publisher.entry(&post);
        entry.link = blog.publisher.url(&format!("/archive/count-{number}"));
        entry.id = Some(entry.link.clone());
        let page = blog.publisher.page(&post);
        blog.at(&entry.link.clone(), page);
        blog.entry(entry, Outcome::Rejected("robots"));
    }
    blog.feed(Plan::new("/feed.xml", Format::Rss2));
    blog.finish()
}

fn one_guid() -> Site {
    let mut blog = Blog::new(
        "one-guid.test",
        "One and the Same",
        "A machine that publishes its one repair over and over",
        &WORKSHOP,
        Style::Plain,
    );
    blog.about = "25 entries with one guid and one link, then two proper ones: three pages";
    blog.posts(3);
    let post = blog.publisher.post(0);
    for _ in 0..24 {
        let entry = blog.publisher.entry(&post);
        blog.entry(entry, Outcome::Repeat);
    }
    blog.feed(Plan::new("/feed.xml", Format::Rss2));
    blog.finish()
}

fn two_doors() -> Site {
    let mut blog = Blog::new("due-porte.test", "Due porte", "Una casa sola, due ingressi", &CUCINA, Style::JsonLd);
    blog.about = "two feeds name the same pages, one with utm_ parameters, one with fbclid: each page is fetched once";
    blog.posts(7);
    let rss = Plan::new("/feed.xml", Format::Rss2);
    blog.feed(Plan { suffix: "?utm_source=rss&utm_medium=feed", ..rss });
    blog.feed(Plan { title: "Atom", suffix: "?fbclid=IwAR0a1b2c3", ..Plan::new("/atom.xml", Format::Atom) });
    blog.finish()
}

fn patient_press() -> Site {
    let mut blog = Blog::new(
        "patient-press.test",
        "The Patient Press",
        "Printed slowly, and not on Sundays",
        &CYCLING,
        Style::OpenGraph,
    );
    blog.about = "asks not to be polled often: ttl, skipHours, skipDays, sy:updatePeriod, Cache-Control: max-age=14400";
    blog.posts(5).feed(Plan {
        hints: "<ttl>240</ttl>\n<skipHours><hour>0</hour><hour>1</hour><hour>2</hour></skipHours>\n<skipDays><day>Sunday</day></skipDays>\n<sy:updatePeriod>daily</sy:updatePeriod>\n<sy:updateFrequency>2</sy:updateFrequency>\n",
        headers: vec![("cache-control", "public, max-age=14400")],
        ..Plan::new("/feed.xml", Format::Rss2)
    });
    blog.finish()
}

fn planet_hiking() -> Site {
    let mut blog =
        Blog::new("planet-hiking.test", "Planet Hiking", "What others wrote about walking", &MONTAGNA, Style::Plain);
    blog.about = "a planet: two pages of its own, three on guest-walks.test, which is another host key";
    blog.posts(2);
    let mut guest = blog.publisher.clone();
    guest.page_host = "guest-walks.test".to_owned();
    guest.bank = &WALKS;
    for number in 2..5 {
        let post = guest.post(number);
        let page = guest.page(&post);
        blog.post_as(&post, page, Outcome::Accepted);
    }
    blog.feed(Plan::new("/feed.xml", Format::Atom));
    blog.finish()
}

fn senza_date() -> Site {
    let mut blog = Blog::new("senza-date.test", "Senza data", "Letture che non invecchiano", &LIBRI, Style::JsonLd);
    blog.about = "entries with a link and a description only: no title, no date, no guid; the pages have them";
    blog.publisher.pictures = Pictures::Own;
    for number in 0..5 {
        let post = blog.publisher.post(number);
        let page = blog.publisher.page(&post);
        blog.at(&post.url, page).picture(&post);
        let mut entry = blog.publisher.entry(&post);
        (entry.title, entry.at, entry.id) = (None, None, None);
        entry.author.clear();
        blog.entry(entry, Outcome::Accepted);
    }
    blog.feed(Plan::new("/feed.xml", Format::Rss2));
    blog.finish()
}

fn tide_table() -> Site {
    let mut blog = Blog::new(
        "tide-table.test",
        "The Tide Table",
        "High water, low water, and what lies between",
        &HARBOUR,
        Style::OpenGraph,
    );
    blog.about = "its feed names a hub, which tells of news (WebSub)";
    let links = "<http://hub.test/>; rel=\"hub\", <http://tide-table.test/feed.xml>; rel=\"self\"";
    blog.posts(4).feed(Plan { headers: vec![("link", links)], ..Plan::new("/feed.xml", Format::Rss2) });
    blog.finish()
}
