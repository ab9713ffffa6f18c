//! Sites made with WordPress.

use crate::blog::{Blog, Plan};
use crate::coding::Coding;
use crate::feeds::Format;
use crate::publisher::Style;
use crate::site::Site;
use crate::text::{CUCINA, GIARDINO, HARBOUR, MONTAGNA};

pub(crate) fn sites() -> Vec<Site> {
    vec![alpine_notes(), cucina_di_casa(), harbour_lantern(), taccuino_verde()]
}

fn alpine_notes() -> Site {
    let mut blog = Blog::new(
        "alpine-notes.test",
        "Alpine Notes",
        "Appunti di sentieri, rifugi e stagioni in montagna",
        &MONTAGNA,
        Style::WordPress,
    );
    blog.about = "a WordPress blog; /feed/ in the head, comments feed beside it; everything gzipped";
    blog.coding = Some(Coding::Gzip);
    blog.posts(10).feed(Plan { full: true, ..Plan::new("/feed/", Format::Rss2) });
    comments(&mut blog);
    blog.finish()
}

fn cucina_di_casa() -> Site {
    let mut blog = Blog::new(
        "cucina-di-casa.test",
        "Cucina di casa",
        "Ricette semplici, provate e riprovate",
        &CUCINA,
        Style::WordPress,
    );
    blog.about = "a WordPress blog with full texts in its feed and ?p= addresses as guids";
    blog.posts(10).feed(Plan { full: true, ..Plan::new("/feed/", Format::Rss2) });
    blog.finish()
}

fn harbour_lantern() -> Site {
    let mut blog = Blog::new(
        "harbour-lantern.test",
        "The Harbour Lantern",
        "Notes from small ports, written between two tides",
        &HARBOUR,
        Style::WordPress,
    );
    blog.about = "a WordPress blog in English, summaries only in the feed";
    blog.posts(9).feed(Plan::new("/feed/", Format::Rss2));
    blog.finish()
}

fn taccuino_verde() -> Site {
    let mut blog = Blog::new(
        "taccuino-verde.test",
        "Taccuino verde",
        "Orto, frutteto e qualche fiore",
        &GIARDINO,
        Style::WordPress,
    );
    blog.about = "three feeds in the head that share entries, and the comments feed as the fourth link";
    blog.posts(9);
    blog.feed(Plan::new("/feed/", Format::Rss2));
    blog.feed(Plan { title: "Orto", pick: (2, 0), ..Plan::new("/category/orto/feed/", Format::Rss2) });
    blog.feed(Plan { title: "Fiori", pick: (2, 1), ..Plan::new("/category/fiori/feed/", Format::Atom) });
    comments(&mut blog);
    blog.finish()
}

/// Adds the comments feed: its entries are fragments of pages that the main feed names too.
fn comments(blog: &mut Blog) {
    blog.feed(Plan {
        title: "Comments",
        optional: true,
        pick: (3, 0),
        suffix: "#comment-17",
        ..Plan::new("/comments/feed/", Format::Rss2)
    });
}
