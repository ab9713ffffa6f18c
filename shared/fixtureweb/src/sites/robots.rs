//! Sites that differ in their robots.txt (RFC 9309).

use crate::blog::{Blog, Plan};
use crate::feeds::Format;
use crate::log::Kind;
use crate::publisher::Style;
use crate::reply::{Body, Reply};
use crate::site::{Outcome, Site};
use crate::text::{BORGO, CYCLING, GIARDINO, HARBOUR, LIBRI, MONTAGNA, STRADE, WALKS, WORKSHOP};
use std::time::Duration;

pub(crate) fn sites() -> Vec<Site> {
    vec![
        Blog::new("three-second-rule.test", &WALKS, Style::Microdata)
            .titled("The Three Second Rule", "Please knock, then wait")
            .about("Crawl-delay: 3, written between two rules that must still be read as one group")
            .robots(
                Reply::robots("User-agent: *\nDisallow: /attic/\nCrawl-delay: 3\nDisallow: /cellar/\n"),
                &["/attic/", "/cellar/"],
            )
            .set(|blog| blog.site.crawl_delay = Some(Duration::from_secs(3)))
            .posts(4)
            .forbidden(4, "/cellar/barrels")
            .rss()
            .finish(),
        closed_rooms(),
        Blog::new("keep-out.test", &WORKSHOP, Style::WordPress)
            .titled("Keep Out", "Nobody home, and rightly so")
            .about("robots.txt forbids everything to everyone: nothing but robots.txt is ever called")
            .robots(Reply::robots("User-agent: *\nDisallow: /\n"), &["/"])
            .posts(3)
            .feed(Plan::new("/feed/", Format::Rss2))
            .unreachable(None)
            .finish(),
        Blog::new("no-robots.test", &HARBOUR, Style::OpenGraph)
            .titled("No Robots Here", "A harbour without a sign")
            .about("robots.txt answers 404: everything is allowed")
            .robots(Reply::status(Kind::Robots, 404), &[])
            .posts(5)
            .rss()
            .finish(),
        Blog::new("robots-rotto.test", &BORGO, Style::OpenGraph)
            .titled("Insegna rotta", "Torniamo subito")
            .about("robots.txt answers 500: everything counts as forbidden until it is asked again")
            .robots(Reply::status(Kind::Robots, 500), &["/"])
            .posts(3)
            .rss()
            .unreachable(None)
            .finish(),
        robots_moved(),
        Blog::new("bom-garden.test", &GIARDINO, Style::Microdata)
            .titled("Il giardino del segno", "Un segno invisibile")
            .about("robots.txt begins with a byte order mark and has upper-case field names: its rules hold")
            .robots(Reply::robots("\u{feff}USER-AGENT: *\nDISALLOW: /serra/\n"), &["/serra/"])
            .posts(4)
            .forbidden(4, "/serra/orchidee")
            .rss()
            .finish(),
        robots_html(),
        Blog::new("named-guest.test", &MONTAGNA, Style::JsonLd)
            .titled("The Named Guest", "By invitation only")
            .about(
                "everybody is kept out but CurlewBot, whose own group (written in two parts) forbids /members/ and \
                /staff/",
            )
            .robots(
                Reply::robots(
                    "User-agent: *\nDisallow: /\n\nUser-agent: curlewbot\nDisallow: /members/\n\n\
                 User-agent: OtherBot\nDisallow: /news/\n\nUser-agent: CurlewBot/1.0\nDisallow: /staff/\n",
                ),
                &["/members/", "/staff/"],
            )
            .posts(4)
            .forbidden(4, "/members/minutes")
            .forbidden(5, "/staff/rota")
            .rss()
            .finish(),
    ]
}

fn closed_rooms() -> Site {
    let mut blog = Blog::new("stanze-chiuse.test", &STRADE, Style::OpenGraph);
    blog.titled("Stanze chiuse", "Una casa con qualche porta a chiave")
        .about("some paths are forbidden: by prefix, by wildcard, with an Allow that is longer, with an end mark");
    blog.robots(
        Reply::robots(
            "# le stanze\nUser-agent: *\nDisallow: /private/\nAllow: /private/open/\nDisallow: /*/draft-\n\
             Disallow: /*.pdf$\n",
        ),
        &["/private/closed", "/rooms/draft-", "/plan.pdf"],
    );
    blog.posts(4).forbidden(4, "/private/closed-cupboard").forbidden(5, "/rooms/draft-kitchen");
    blog.forbidden(6, "/plan.pdf");
    let mut open = blog.publisher.post(7);
    open.url = blog.publisher.url("/private/open/veranda");
    blog.post(&open, Outcome::Accepted);
    blog.rss().finish()
}

fn robots_moved() -> Site {
    let mut blog = Blog::new("robots-altrove.test", &LIBRI, Style::Plain);
    blog.titled("Insegna altrove", "La regola sta dietro l’angolo")
        .about("robots.txt is behind two redirects and forbids /bozze/");
    let hop = |to: &str| Reply::redirect(302, to).of_kind(Kind::Robots);
    blog.robots(hop("/policy/robots"), &["/bozze/"]);
    blog.at("http://robots-altrove.test/policy/robots", hop("http://robots-altrove.test/policy/robots-2026.txt"));
    let rules = Reply::robots("User-agent: *\r\nDisallow: /bozze/\r\n");
    blog.at("http://robots-altrove.test/policy/robots-2026.txt", rules);
    blog.posts(4).forbidden(4, "/bozze/capitolo-primo").rss().finish()
}

fn robots_html() -> Site {
    let mut blog = Blog::new("robots-html.test", &CYCLING, Style::OpenGraph);
    blog.titled("One Page for All", "Whatever you ask, here is the front page")
        .about("robots.txt is an HTML page with status 200: no rules in it, so everything is allowed");
    let page =
        "<!doctype html>\n<html><head><title>Welcome</title></head><body><p>Disallow nothing here.</p></body></html>\n";
    blog.robots(Reply::robots(page).typed("text/html; charset=utf-8"), &[]);
    blog.posts(4).rss().finish()
}

impl Blog {
    /// Adds an entry whose page must not be called; a call would drop the connection.
    fn forbidden(&mut self, number: usize, path: &str) -> &mut Blog {
        self.post_at(number, path, Reply::page("").body(Body::Hangup), Outcome::Rejected("robots"))
    }
}
