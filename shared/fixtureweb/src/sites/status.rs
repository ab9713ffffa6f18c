//! Sites that differ in their status codes and response times.

use crate::blog::Blog;
use crate::log::Kind;
use crate::publisher::Style;
use crate::reply::{Body, Reply};
use crate::site::{Outcome, RateLimit, Site};
use crate::text::{BIRDS, BORGO, CUCINA, CYCLING, GIARDINO, HARBOUR, LIBRI, STRADE, WORKSHOP};
use std::time::Duration;

pub(crate) fn sites() -> Vec<Site> {
    vec![
        busy_bakery(),
        Blog::new("members-only.test", &LIBRI, Style::OpenGraph)
            .titled("Members Only", "A club of few words")
            .about(
                "the home page answers 403: nothing is guessed, it is left alone for three days, and all else for \
                an hour",
            )
            .at("http://members-only.test/", Reply::status(Kind::Home, 403))
            .posts(2)
            .rss()
            .unreachable(Some("rest"))
            .finish(),
        maintenance(),
        one_broken_step(),
        Blog::new("lumaca-lenta.test", &GIARDINO, Style::Microdata)
            .titled("La lumaca", "Un orto senza fretta")
            .about("every answer takes 1.2 s, so the pause is at least that long")
            .set(|blog| blog.site.delay = Duration::from_millis(1_200))
            .posts(4)
            .rss()
            .finish(),
        Blog::new("metronome.test", &WORKSHOP, Style::OpenGraph)
            .titled("The Metronome", "One tick a second, no more")
            .about("answers 429 to a call that starts within 950 ms of the one before: a polite crawler never sees it")
            .set(|blog| blog.site.rate_limit = RateLimit::MinGap(Duration::from_millis(950)))
            .posts(6)
            .rss()
            .finish(),
        dead_links(),
        fading_ink(),
        Blog::new("empty-lot.test", &BIRDS, Style::OpenGraph)
            .titled("Empty Lot", "Nothing here")
            .about("the start address answers 404: held, tried again after a day")
            .at("http://empty-lot.test/", Reply::status(Kind::Home, 404))
            .unreachable(Some("not_found"))
            .finish(),
        Blog::new("hang-up.test", &HARBOUR, Style::OpenGraph)
            .titled("Hang Up", "Hello? Hello?")
            .about("the home page closes the connection without an answer: left alone for a day")
            .at("http://hang-up.test/", Reply::home("").body(Body::Hangup))
            .unreachable(None)
            .finish(),
    ]
}

fn busy_bakery() -> Site {
    let mut blog = Blog::new("forno-affollato.test", &CUCINA, Style::OpenGraph);
    blog.titled("Il forno affollato", "Pane per tutti, uno alla volta").about(
        "after the third page every page and feed answers 429 with Retry-After: 120: the visit ends, four \
                entries are parked",
    );
    blog.site.rate_limit = RateLimit::PageLimit { pages: 3, retry_after: 120 };
    blog.site.expect.held = Some("too_many_requests");
    blog.posts(3);
    for number in 3..7 {
        blog.post(&blog.publisher.post(number), Outcome::Parked);
    }
    blog.rss().finish()
}

fn maintenance() -> Site {
    let mut blog = Blog::new("lavori-in-corso.test", &STRADE, Style::JsonLd);
    blog.titled("Lavori in corso", "Scusate la polvere")
        .about("home page and feed work, every page answers 503: the first ends the visit, all entries are parked");
    blog.site.expect.held = Some("server_error");
    for number in 0..4 {
        let post = blog.publisher.post(number);
        let page = Reply::status(Kind::Page, 503).with("retry-after", "3600");
        blog.post_as(&post, page, Outcome::Parked);
    }
    blog.rss().finish()
}

fn one_broken_step() -> Site {
    let mut blog = Blog::new("one-broken-step.test", &WORKSHOP, Style::OpenGraph);
    blog.titled("One Broken Step", "The stairs are fine, but for the third")
        .about("the third of five pages answers 500: it is left alone for two days, and all else for an hour");
    blog.site.expect.held = Some("rest");
    blog.posts(2);
    for number in 2..5 {
        let post = blog.publisher.post(number);
        let page = if number == 2 { Reply::status(Kind::Page, 500) } else { blog.publisher.page(&post) };
        blog.post_as(&post, page, Outcome::Parked);
    }
    blog.rss().finish()
}

fn dead_links() -> Site {
    let mut blog = Blog::new("dead-links.test", &CYCLING, Style::Microdata);
    blog.titled("Dead Links", "Old roads that end in a field")
        .about("the feed names two pages that answer 404, one that answers 410, and a PDF");
    blog.posts(3);
    for (number, status, code) in [(3, 404, "not_found"), (4, 404, "not_found"), (5, 410, "gone")] {
        let post = blog.publisher.post(number);
        blog.post_as(&post, Reply::status(Kind::Page, status), Outcome::Rejected(code));
    }
    let pdf = Reply::new(Kind::Page, 200, "application/pdf", PDF);
    blog.post_at(6, "/files/brochure.pdf", pdf, Outcome::Rejected("media_type"));
    blog.rss().finish()
}

const PDF: &str = "%PDF-1.4\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n2 0 obj\n\
    << /Type /Pages /Kids [] /Count 0 >>\nendobj\ntrailer\n<< /Root 1 0 R >>\n%%EOF\n";

fn fading_ink() -> Site {
    let mut blog = Blog::new("inchiostro-che-svanisce.test", &BORGO, Style::JsonLd);
    blog.titled("Inchiostro", "Notizie di breve durata").about(
        "all six pages are fine at first; in Mode::Later the first answers 404, the second 410, the third \
                has noindex in a meta tag, the fourth in a header",
    );
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
    blog.rss().finish()
}
