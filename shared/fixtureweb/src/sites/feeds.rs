//! Sites that differ in their feeds: format, location, number, length, behaviour.

use crate::blog::{Blog, Plan};
use crate::feeds::Format;
use crate::publisher::{Publisher, Style};
use crate::reply::Reply;
use crate::site::{Outcome, Site};
use crate::text::{BIRDS, BORGO, CUCINA, CYCLING, HARBOUR, LIBRI, MONTAGNA, ORCHARD, STRADE, WALKS, WORKSHOP};

pub(crate) fn sites() -> Vec<Site> {
    vec![
        Blog::new("json-orchard.test", &ORCHARD, Style::Microdata)
            .titled("The JSON Orchard", "Fruit trees, grafts and windfalls")
            .about("JSON Feed 1.1")
            .posts(7)
            .feed(Plan { full: true, ..Plan::new("/feed.json", Format::JsonFeed) })
            .finish(),
        Blog::new("rdf-relics.test", &WALKS, Style::OpenGraph)
            .titled("Relics of the Road", "Milestones, toll houses and other leftovers")
            .about("RSS 1.0 (RDF)")
            .posts(6)
            .feed(Plan::new("/index.rdf", Format::Rdf))
            .finish(),
        Blog::new("vecchio-bollettino.test", &BORGO, Style::Plain)
            .titled("Il vecchio bollettino", "Il foglio del paese, come una volta")
            .about("RSS 0.91: no guids, no dates")
            .posts(5)
            .feed(Plan::new("/rss091.xml", Format::Rss091))
            .finish(),
        Blog::new("early-echo.test", &HARBOUR, Style::Plain)
            .titled("Early Echo", "A log kept since the old days")
            .about("Atom 0.3")
            .posts(5)
            .feed(Plan::new("/atom03.xml", Format::Atom03))
            .finish(),
        Blog::new("hidden-spring.test", &ORCHARD, Style::OpenGraph)
            .titled("Hidden Spring", "A garden that does not advertise")
            .about("no feed link in the head, but /feed works: the first address that is tried")
            .posts(5)
            .feed(Plan { unlinked: true, ..Plan::new("/feed", Format::Rss2) })
            .finish(),
        Blog::new("ultima-spiaggia.test", &STRADE, Style::JsonLd)
            .titled("L’ultima spiaggia", "Portici e piazze di provincia")
            .about(
                "no feed link in the head, /?feed=rss is the home page, only /rss.xml is a feed: the last that is \
                tried",
            )
            .posts(5)
            .feed(Plan { unlinked: true, ..Plan::new("/rss.xml", Format::Rss2) })
            .finish(),
        senza_feed(),
        long_ledger(),
        one_guid(),
        two_doors(),
        Blog::new("patient-press.test", &CYCLING, Style::OpenGraph)
            .titled("The Patient Press", "Printed slowly, and not on Sundays")
            .about(
                "asks not to be polled often: ttl, skipHours, skipDays, sy:updatePeriod, Cache-Control: \
                max-age=14400",
            )
            .posts(5)
            .feed(Plan {
                hints: "<ttl>240</ttl>\n<skipHours><hour>0</hour><hour>1</hour><hour>2</hour></skipHours>\n\
                <skipDays><day>Sunday</day></skipDays>\n<sy:updatePeriod>daily</sy:updatePeriod>\n\
                <sy:updateFrequency>2</sy:updateFrequency>\n",
                headers: vec![("cache-control", "public, max-age=14400")],
                ..Plan::new("/feed.xml", Format::Rss2)
            })
            .finish(),
        planet_hiking(),
        senza_date(),
        tide_table(),
    ]
}

fn senza_feed() -> Site {
    let mut blog = Blog::new("senza-feed.test", &MONTAGNA, Style::OpenGraph);
    blog.titled("Senza feed", "Un sito bello da vedere e basta").about(
        "no feed anywhere: scanned once, then left alone; a guessed address that is missing is no reason \
                to hold",
    );
    for number in 0..4 {
        let post = blog.publisher.post(number);
        blog.at(&post.url, blog.publisher.page(&post));
    }
    blog.finish()
}

fn long_ledger() -> Site {
    let mut blog = Blog::new("long-ledger.test", &BIRDS, Style::Microdata);
    blog.titled("The Long Ledger", "Everything ever counted, in one feed").about(
        "150 entries: 6 pages, 44 more links to the same pages with tracking or fragment, 100 under \
                /archive/, which robots.txt forbids",
    );
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
        blog.at(&entry.link, blog.publisher.page(&post));
        blog.entry(entry, Outcome::Rejected("robots"));
    }
    blog.rss().finish()
}

fn one_guid() -> Site {
    let mut blog = Blog::new("one-guid.test", &WORKSHOP, Style::Plain);
    blog.titled("One and the Same", "A machine that publishes its one repair over and over")
        .about("25 entries with one guid and one link, then two proper ones: three pages");
    blog.posts(3);
    let entry = blog.publisher.entry(&blog.publisher.post(0));
    for _ in 0..24 {
        blog.entry(entry.clone(), Outcome::Repeat);
    }
    blog.rss().finish()
}

fn two_doors() -> Site {
    let mut blog = Blog::new("due-porte.test", &CUCINA, Style::JsonLd);
    blog.titled("Due porte", "Una casa sola, due ingressi").about(
        "two feeds name the same pages, one with utm_ parameters, one with fbclid: each page is fetched \
                once",
    );
    blog.posts(7)
        .feed(Plan { suffix: "?utm_source=rss&utm_medium=feed", ..Plan::new("/feed.xml", Format::Rss2) })
        .feed(Plan { title: "Atom", suffix: "?fbclid=IwAR0a1b2c3", ..Plan::new("/atom.xml", Format::Atom) })
        .finish()
}

fn planet_hiking() -> Site {
    let mut blog = Blog::new("planet-hiking.test", &MONTAGNA, Style::Plain);
    blog.titled("Planet Hiking", "What others wrote about walking")
        .about("a planet: two pages of its own, three on guest-walks.test, which is another host key");
    blog.posts(2);
    let page_host = "guest-walks.test".to_owned();
    let guest = Publisher { page_host, bank: &WALKS, ..blog.publisher.clone() };
    for number in 2..5 {
        let post = guest.post(number);
        blog.post_as(&post, guest.page(&post), Outcome::Accepted);
    }
    blog.feed(Plan::new("/feed.xml", Format::Atom)).finish()
}

fn senza_date() -> Site {
    let mut blog = Blog::new("senza-date.test", &LIBRI, Style::JsonLd);
    blog.titled("Senza data", "Letture che non invecchiano")
        .about("entries with a link and a description only: no title, no date, no guid; the pages have them");
    for number in 0..5 {
        let post = blog.publisher.post(number);
        blog.at(&post.url, blog.publisher.page(&post)).picture(&post);
        let mut entry = blog.publisher.entry(&post);
        (entry.title, entry.at, entry.id) = (None, None, None);
        entry.author.clear();
        blog.entry(entry, Outcome::Accepted);
    }
    blog.rss().finish()
}

fn tide_table() -> Site {
    let mut blog = Blog::new("tide-table.test", &HARBOUR, Style::OpenGraph);
    blog.titled("The Tide Table", "High water, low water, and what lies between")
        .about("its feed names a hub, which tells of news (WebSub)");
    let links = "<http://hub.test/>; rel=\"hub\", <http://tide-table.test/feed.xml>; rel=\"self\"";
    blog.posts(4).feed(Plan { headers: vec![("link", links)], ..Plan::new("/feed.xml", Format::Rss2) });
    blog.finish()
}
