//! Sites that exceed limits: bombs, endless bodies, false lengths, deep trees. Each has valid pages too, and the bad
//! page is the last in the feed.

use crate::blog::Blog;
use crate::publisher::Style;
use crate::reply::{Body, Reply};
use crate::site::{Outcome, Site};
use crate::text::{BORGO, CYCLING, HARBOUR, LIBRI, ORCHARD, WORKSHOP};
use bytes::Bytes;
use std::time::Duration;

/// Decoded size of the bomb, in MiB.
const BOMB: usize = 64;
/// Number of pieces of the endless page, 64 KiB each: 256 MiB, so that even a reader without a limit finishes.
const ENDLESS_PIECES: u32 = 4_096;
/// Pause before each byte of the drip. With [`DRIPS`] bytes it lasts 90 s: longer than any total timeout in use, but no
/// single pause triggers a read timeout.
const DRIP: Duration = Duration::from_millis(150);
const DRIPS: usize = 600;
/// Number of nested elements on the deep page.
const DEPTH: usize = 20_000;
/// Number of attributes of one tag on the wide page.
const ATTRIBUTES: usize = 50_000;
/// Number of sibling elements in a large but legitimate drawing.
const STROKES: usize = 3_000;

pub(crate) fn sites() -> Vec<Site> {
    vec![bomb_shelter(), endless_river(), slow_drip(), false_length(), deep_well(), many_strokes()]
}

/// Finishes a site with three valid pages and a bad one.
fn with_bad_page(mut blog: Blog, bad: Body, outcome: Outcome) -> Site {
    blog.posts(3).post_at(3, "/special", Reply::page("").body(bad), outcome).rss().finish()
}

fn bomb_shelter() -> Site {
    let mut blog = Blog::new("bomb-shelter.test", &WORKSHOP, Style::OpenGraph);
    blog.titled("Bomb Shelter", "Small parcels, large contents")
        .about("one page is a gzip bomb: 64 KB on the wire, 64 MiB decoded");
    with_bad_page(blog, Body::Bomb(BOMB), Outcome::Rejected("limit"))
}

fn endless_river() -> Site {
    let mut blog = Blog::new("fiume-senza-fine.test", &BORGO, Style::OpenGraph);
    blog.titled("Fiume senza fine", "Scorre, scorre")
        .about("one page has no end: chunked, 256 MiB as fast as it is read");
    let line = "<p>E il fiume scorre ancora, sotto il ponte e oltre la curva, senza fermarsi mai.</p>\n";
    let piece = Bytes::from(line.repeat(65_536 / line.len()));
    with_bad_page(blog, Body::Endless(piece, ENDLESS_PIECES), Outcome::Rejected("limit"))
}

fn slow_drip() -> Site {
    let mut blog = Blog::new("slow-drip.test", &ORCHARD, Style::OpenGraph);
    blog.titled("The Slow Drip", "A tap that nobody mends")
        .about("one page comes a byte every 150 ms for 90 s: no pause breaks a read timeout, the total time does");
    let text = "<!doctype html>\n<html><head><title>Drip</title></head><body><p>".to_owned() + &"drip ".repeat(DRIPS);
    let body = Bytes::from(text.into_bytes()).slice(..DRIPS);
    with_bad_page(blog, Body::Drip(body, DRIP), Outcome::Rejected("limit"))
}

fn false_length() -> Site {
    let mut blog = Blog::new("false-length.test", &CYCLING, Style::Plain);
    blog.titled("False Length", "Promises, promises").about(
        "one page promises 5,000 bytes more than it sends, then closes: not stored in part; the page waits \
                alone",
    );
    let Body::Plain(sent) = blog.publisher.page(&blog.publisher.post(50)).body else { return blog.finish() };
    let promised = sent.len() as u64 + 5_000;
    with_bad_page(blog, Body::Short { sent, promised }, Outcome::Parked)
}

fn deep_well() -> Site {
    let mut blog = Blog::new("pozzo-profondo.test", &LIBRI, Style::Plain);
    blog.titled("Pozzo profondo", "Pagine senza fondo").about(
        "one page has 20,000 elements within each other, one a tag with 50,000 attributes: neither is \
                parsed",
    );
    let tree = format!("{}<p>fondo</p>{}", "<div>".repeat(DEPTH), "</div>".repeat(DEPTH));
    blog.posts(3).post_at(3, "/profondo", wrapped("Profondo", &tree), Outcome::Rejected("unreadable"));
    let attributes: String = (0..ATTRIBUTES).map(|i| format!(" data-a{i}=1")).collect();
    let tag = format!("<p{attributes}>largo</p>");
    blog.post_at(4, "/largo", wrapped("Largo", &tag), Outcome::Rejected("unreadable")).rss().finish()
}

fn wrapped(title: &str, body: &str) -> Reply {
    Reply::page(format!(
        "<!doctype html>\n<html lang=\"it\"><head><title>{title}</title></head><body>{body}</body></html>\n"
    ))
}

fn many_strokes() -> Site {
    let mut blog = Blog::new("many-strokes.test", &HARBOUR, Style::Plain);
    blog.titled("Many Strokes", "Drawings of boats, line by line")
        .about("one page holds a drawing of 3,000 elements beside each other: large, but fair, and taken");
    blog.posts(2);
    let post = blog.publisher.post(2);
    if let Body::Plain(bytes) = blog.publisher.page(&post).body {
        let strokes: String = (0..STROKES).map(|i| format!("<path d=\"M{} {}h1\"/>", i % 64, i / 64)).collect();
        let drawing = format!("<svg viewBox=\"0 0 64 64\">{strokes}</svg></article>");
        let html = String::from_utf8_lossy(&bytes).replacen("</article>", &drawing, 1);
        blog.post_as(&post, Reply::page(html), Outcome::Accepted);
    }
    blog.rss().finish()
}
