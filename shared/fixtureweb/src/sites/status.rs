//! Sites that differ in their status codes and response times.

use crate::blog::{Blog, Plan};
use crate::feeds::Format;
use crate::log::Kind;
use crate::publisher::Style;
use crate::reply::{Body, Reply};
use crate::site::{Outcome, RateLimit, Site};
use crate::text::{BIRDS, BORGO, CUCINA, CYCLING, GIARDINO, HARBOUR, LIBRI, STRADE, WORKSHOP};
use std::time::Duration;

pub(crate) fn sites() -> Vec<Site> {
    vec![
        busy_bakery(),
        members_only(),
        maintenance(),
        one_broken_step(),
        slow_snail(),
        metronome(),
        dead_links(),
        fading_ink(),
        empty_lot(),
        hang_up(),
    ]
}

fn busy_bakery() -> Site {
    let mut blog = Blog::new(
        "forno-affollato.test",
        "Il forno affollato",
        "Pane per tutti, uno alla volta",
        &CUCINA,
        Style::OpenGraph,
    );
    blog.about = "after the third page every page and feed answers 429 with Retry-After: 120: the visit ends, four entries are parked";
    blog.rate_limit = RateLimit::PageLimit { pages: 3, retry_after: 120 };
    blog.held = Some("too_many_requests");
    blog.posts(3);
    for number in 3..7 {
        let post = blog.publisher.post(number);
        blog.post(&post, Outcome::Parked);
    }
    blog.feed(Plan::new("/feed.xml", Format::Rss2));
    blog.finish()
}

fn members_only() -> Site {
    let mut blog = Blog::new("members-only.test", "Members Only", "A club of few words", &LIBRI, Style::OpenGraph);
    blog.about =
        "the home page answers 403: nothing is guessed, it is left alone for three days, and all else for an hour";
    blog.at("http://members-only.test/", Reply::status(Kind::Home, 403));
    blog.posts(2).feed(Plan::new("/feed.xml", Format::Rss2)).unreachable(Some("rest"));
    blog.finish()
}

fn maintenance() -> Site {
    let mut blog = Blog::new("lavori-in-corso.test", "Lavori in corso", "Scusate la polvere", &STRADE, Style::JsonLd);
    blog.about = "home page and feed work, every page answers 503: the first ends the visit, all entries are parked";
    blog.held = Some("server_error");
    for number in 0..4 {
        let post = blog.publisher.post(number);
        let page = Reply::status(Kind::Page, 503).with("retry-after", "3600");
        blog.post_as(&post, page, Outcome::Parked);
    }
    blog.feed(Plan::new("/feed.xml", Format::Rss2));
    blog.finish()
}

fn one_broken_step() -> Site {
    let mut blog = Blog::new(
        "one-broken-step.test",
        "One Broken Step",
        "The stairs are fine, but for the third",
        &WORKSHOP,
        Style::OpenGraph,
    );
    blog.about = "the third of five pages answers 500: it is left alone for two days, and all else for an hour";
    blog.held = Some("rest");
    blog.posts(2);
    for number in 2..5 {
        let post = blog.publisher.post(number);
        let page = if number == 2 { Reply::status(Kind::Page, 500) } else { blog.publisher.page(&post) };
        blog.post_as(&post, page, Outcome::Parked);
    }
    blog.feed(Plan::new("/feed.xml", Format::Rss2));
    blog.finish()
}

fn slow_snail() -> Site {
    let mut blog = Blog::new("lumaca-lenta.test", "La lumaca", "Un orto senza fretta", &GIARDINO, Style::Microdata);
    blog.about = "every answer takes 1.2 s, so the pause is at least that long";
    blog.delay = Duration::from_millis(1_200);
    blog.posts(4).feed(Plan::new("/feed.xml", Format::Rss2));
    blog.finish()
}

fn metronome() -> Site {
    let mut blog =
        Blog::new("metronome.test", "The Metronome", "One tick a second, no more", &WORKSHOP, Style::OpenGraph);
    blog.about = "answers 429 to a call that starts within 950 ms of the one before: a polite crawler never sees it";
    blog.rate_limit = RateLimit::MinGap(Duration::from_millis(950));
    blog.posts(6).feed(Plan::new("/feed.xml", Format::Rss2));
    blog.finish()
}

fn dead_links() -> Site {
    let mut blog =
        Blog::new("dead-links.test", "Dead Links", "Old roads that end in a field", &CYCLING, Style::Microdata);
    blog.about = "the feed names two pages that answer 404, one that answers 410, and a PDF";
    blog.posts(3);
    for (number, status, code) in [(3, 404, "not_found"), (4, 404, "not_found"), (5, 410, "gone")] {
        let post = blog.publisher.post(number);
        blog.post_as(&post, Reply::status(Kind::Page, status), Outcome::Rejected(code));
    }
    let mut brochure = blog.publisher.post(6);
    brochure.url = blog.publisher.url("/files/brochure.pdf");
    let pdf = Reply::new(Kind::Page, 200, "application/pdf", PDF);
    blog.post_as(&brochure, pdf, Outcome::Rejected("media_type"));
    blog.feed(Plan::new("/feed.xml", Format::Rss2));
    blog.finish()
}

const PDF: &str = "%PDF-1.4\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n2 0 obj\n<< /Type /Pages /Kids [] /Count 0 >>\nendobj\ntrailer\n<< /Root 1 0 R >>\n%%EOF\n";

fn fading_ink() -> Site {
    let mut blog =
        Blog::new("inchiostro-che-svanisce.test", "Inchiostro", "Notizie di breve durata", &BORGO, Style::JsonLd);
    blog.about = "all six pages are fine at first; in Mode::Later the first answers 404, the second 410, the third has noindex in a meta tag, the fourth in a header";
    blog.posts(6);
    let later: Vec<(String, Reply)> = (0..4)
        .map(|number| {
            let mut post = blog.publisher.post(number);
            let reply = match number {
                0 => Reply::status(Kind::Page, 404),
                1 => Reply::status(Kind::Page, 410),
                2 => {
                    post.head = "<meta name=\"robots\" content=\"noindex\">\n".to_owned();
                    blog.publisher.page(&post)
                }
                _ => blog.publisher.page(&post).with("x-robots-tag", "noindex"),
            };
            (post.url, reply)
        })
        .collect();
    for (url, reply) in later {
        blog.later(&url, reply);
    }
    blog.feed(Plan::new("/feed.xml", Format::Rss2));
    blog.finish()
}

fn empty_lot() -> Site {
    let mut blog = Blog::new("empty-lot.test", "Empty Lot", "Nothing here", &BIRDS, Style::OpenGraph);
    blog.about = "the start address answers 404: held, tried again after a day";
    blog.at("http://empty-lot.test/", Reply::status(Kind::Home, 404));
    blog.unreachable(Some("not_found"));
    blog.finish()
}

fn hang_up() -> Site {
    let mut blog = Blog::new("hang-up.test", "Hang Up", "Hello? Hello?", &HARBOUR, Style::OpenGraph);
    blog.about = "the home page closes the connection without an answer: left alone for a day";
    blog.at("http://hang-up.test/", Reply::home("").body(Body::Hangup));
    blog.unreachable(None);
    blog.finish()
}
