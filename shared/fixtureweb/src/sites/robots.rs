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
        three_second_rule(),
        closed_rooms(),
        keep_out(),
        no_robots(),
        robots_broken(),
        robots_moved(),
        robots_bom(),
        robots_html(),
        named_guest(),
    ]
}

fn three_second_rule() -> Site {
    let mut blog = Blog::new(
        "three-second-rule.test",
        "The Three Second Rule",
        "Please knock, then wait",
        &WALKS,
        Style::Microdata,
    );
    blog.about = "Crawl-delay: 3, written between two rules that must still be read as one group";
    blog.robots(
        Reply::robots("User-agent: *\nDisallow: /attic/\nCrawl-delay: 3\nDisallow: /cellar/\n"),
        &["/attic/", "/cellar/"],
    );
    blog.crawl_delay = Some(Duration::from_secs(3));
    blog.posts(4);
    forbidden(&mut blog, 4, "/cellar/barrels");
    blog.feed(Plan::new("/feed.xml", Format::Rss2));
    blog.finish()
}

fn closed_rooms() -> Site {
    let mut blog = Blog::new(
        "stanze-chiuse.test",
        "Stanze chiuse",
        "Una casa con qualche porta a chiave",
        &STRADE,
        Style::OpenGraph,
    );
    blog.about = "some paths are forbidden: by prefix, by wildcard, with an Allow that is longer, with an end mark";
    blog.robots(
        Reply::robots(
            "# le stanze\nUser-agent: *\nDisallow: /private/\nAllow: /private/open/\nDisallow: /*/draft-\nDisallow: /*.pdf$\n",
        ),
        &["/private/closed", "/rooms/draft-", "/plan.pdf"],
    );
    blog.posts(4);
    forbidden(&mut blog, 4, "/private/closed-cupboard");
    forbidden(&mut blog, 5, "/rooms/draft-kitchen");
    forbidden(&mut blog, 6, "/plan.pdf");
    let mut open = blog.publisher.post(7);
    open.url = blog.publisher.url("/private/open/veranda");
    blog.post(&open, Outcome::Accepted);
    blog.feed(Plan::new("/feed.xml", Format::Rss2));
    blog.finish()
}

fn keep_out() -> Site {
    let mut blog = Blog::new("keep-out.test", "Keep Out", "Nobody home, and rightly so", &WORKSHOP, Style::WordPress);
    blog.about = "robots.txt forbids everything to everyone: nothing but robots.txt is ever called";
    blog.robots(Reply::robots("User-agent: *\nDisallow: /\n"), &["/"]);
    blog.posts(3).feed(Plan::new("/feed/", Format::Rss2)).unreachable(None);
    blog.finish()
}

fn no_robots() -> Site {
    let mut blog =
        Blog::new("no-robots.test", "No Robots Here", "A harbour without a sign", &HARBOUR, Style::OpenGraph);
    blog.about = "robots.txt answers 404: everything is allowed";
    blog.robots(Reply::status(Kind::Robots, 404), &[]);
    blog.posts(5).feed(Plan::new("/feed.xml", Format::Rss2));
    blog.finish()
}

fn robots_broken() -> Site {
    let mut blog = Blog::new("robots-rotto.test", "Insegna rotta", "Torniamo subito", &BORGO, Style::OpenGraph);
    blog.about = "robots.txt answers 500: everything counts as forbidden until it is asked again";
    blog.robots(Reply::status(Kind::Robots, 500), &["/"]);
    blog.posts(3).feed(Plan::new("/feed.xml", Format::Rss2)).unreachable(None);
    blog.finish()
}

fn robots_moved() -> Site {
    let mut blog =
        Blog::new("robots-altrove.test", "Insegna altrove", "La regola sta dietro l’angolo", &LIBRI, Style::Plain);
    blog.about = "robots.txt is behind two redirects and forbids /bozze/";
    let hop = |to: &str| Reply::redirect(302, to).of_kind(Kind::Robots);
    blog.robots(hop("/policy/robots"), &["/bozze/"]);
    blog.at("http://robots-altrove.test/policy/robots", hop("http://robots-altrove.test/policy/robots-2026.txt"));
    let rules = Reply::robots("User-agent: *\r\nDisallow: /bozze/\r\n");
    blog.at("http://robots-altrove.test/policy/robots-2026.txt", rules);
    blog.posts(4);
    forbidden(&mut blog, 4, "/bozze/capitolo-primo");
    blog.feed(Plan::new("/feed.xml", Format::Rss2));
    blog.finish()
}

fn robots_bom() -> Site {
    let mut blog =
        Blog::new("bom-garden.test", "Il giardino del segno", "Un segno invisibile", &GIARDINO, Style::Microdata);
    blog.about = "robots.txt begins with a byte order mark and has upper-case field names: its rules hold";
    blog.robots(Reply::robots("\u{feff}USER-AGENT: *\nDISALLOW: /serra/\n"), &["/serra/"]);
    blog.posts(4);
    forbidden(&mut blog, 4, "/serra/orchidee");
    blog.feed(Plan::new("/feed.xml", Format::Rss2));
    blog.finish()
}

fn robots_html() -> Site {
    let mut blog = Blog::new(
        "robots-html.test",
        "One Page for All",
        "Whatever you ask, here is the front page",
        &CYCLING,
        Style::OpenGraph,
    );
    blog.about = "robots.txt is an HTML page with status 200: no rules in it, so everything is allowed";
    let page =
        "<!doctype html>\n<html><head><title>Welcome</title></head><body><p>Disallow nothing here.</p></body></html>\n";
    blog.robots(Reply::robots(page).typed("text/html; charset=utf-8"), &[]);
    blog.posts(4).feed(Plan::new("/feed.xml", Format::Rss2));
    blog.finish()
}

fn named_guest() -> Site {
    let mut blog = Blog::new("named-guest.test", "The Named Guest", "By invitation only", &MONTAGNA, Style::JsonLd);
    blog.about =
        "everybody is kept out but CurlewBot, whose own group (written in two parts) forbids /members/ and /staff/";
    blog.robots(
        Reply::robots(
            "User-agent: *\nDisallow: /\n\nUser-agent: curlewbot\nDisallow: /members/\n\nUser-agent: OtherBot\nDisallow: /news/\n\nUser-agent: CurlewBot/1.0\nDisallow: /staff/\n",
        ),
        &["/members/", "/staff/"],
    );
    blog.posts(4);
    forbidden(&mut blog, 4, "/members/minutes");
    forbidden(&mut blog, 5, "/staff/rota");
    blog.feed(Plan::new("/feed.xml", Format::Rss2));
    blog.finish()
}

/// Adds an entry whose page exists and must not be called; calling it would drop the connection.
fn forbidden(blog: &mut Blog, number: usize, path: &str) {
    let mut post = blog.publisher.post(number);
    post.url = blog.publisher.url(path);
    let page = Reply::page("").body(Body::Hangup);
    blog.post_as(&post, page, Outcome::Rejected("robots"));
}
