//! Sites made with WordPress.

use crate::blog::{Blog, Plan};
use crate::coding::Coding;
use crate::feeds::Format;
use crate::publisher::Style;
use crate::site::Site;
use crate::text::{CUCINA, GIARDINO, HARBOUR, MONTAGNA};

pub(crate) fn sites() -> Vec<Site> {
    vec![
        Blog::new("alpine-notes.test", &MONTAGNA, Style::WordPress)
            .titled("Alpine Notes", "Appunti di sentieri, rifugi e stagioni in montagna")
            .about("a WordPress blog; /feed/ in the head, comments feed beside it; everything gzipped")
            .set(|blog| blog.coding = Some(Coding::Gzip))
            .posts(10)
            .feed(Plan { full: true, ..Plan::new("/feed/", Format::Rss2) })
            .comments()
            .finish(),
        Blog::new("cucina-di-casa.test", &CUCINA, Style::WordPress)
            .titled("Cucina di casa", "Ricette semplici, provate e riprovate")
            .about("a WordPress blog with full texts in its feed and ?p= addresses as guids")
            .posts(10)
            .feed(Plan { full: true, ..Plan::new("/feed/", Format::Rss2) })
            .finish(),
        Blog::new("harbour-lantern.test", &HARBOUR, Style::WordPress)
            .titled("The Harbour Lantern", "Notes from small ports, written between two tides")
            .about("a WordPress blog in English, summaries only in the feed")
            .posts(9)
            .feed(Plan::new("/feed/", Format::Rss2))
            .finish(),
        Blog::new("taccuino-verde.test", &GIARDINO, Style::WordPress)
            .titled("Taccuino verde", "Orto, frutteto e qualche fiore")
            .about("three feeds in the head that share entries, and the comments feed as the fourth link")
            .posts(9)
            .feed(Plan::new("/feed/", Format::Rss2))
            .feed(Plan { title: "Orto", pick: (2, 0), ..Plan::new("/category/orto/feed/", Format::Rss2) })
            .feed(Plan { title: "Fiori", pick: (2, 1), ..Plan::new("/category/fiori/feed/", Format::Atom) })
            .comments()
            .finish(),
    ]
}

impl Blog {
    /// Adds the comments feed, whose entries are fragments of pages in the main feed.
    fn comments(&mut self) -> &mut Blog {
        let feed = Plan::new("/comments/feed/", Format::Rss2);
        self.feed(Plan { title: "Comments", optional: true, pick: (3, 0), suffix: "#comment-17", ..feed })
    }
}
