//! Sites whose pages redirect, inward and outward, and pages under several addresses.

use crate::blog::{Blog, Plan};
use crate::feeds::Format;
use crate::log::Kind;
use crate::publisher::Style;
use crate::reply::Reply;
use crate::site::{Outcome, Site};
use crate::text::{CUCINA, HARBOUR, MONTAGNA, WALKS};

pub(crate) fn sites() -> Vec<Site> {
    vec![signposts(), back_doors(), moved_house(), one_true_page()]
}

fn signposts() -> Site {
    let mut blog =
        Blog::new("signposts.test", "Signposts", "Every road leads somewhere else", &WALKS, Style::Microdata);
    blog.about = "pages behind 1 and 2 redirects are taken; behind 4, in a circle, or with no target they are not";
    blog.posts(2);
    behind(&mut blog, 2, &["/old/two"], Outcome::Accepted);
    behind(&mut blog, 3, &["/old/three", "/older/three"], Outcome::Accepted);
    let far = ["/old/four", "/older/four", "/oldest/four", "/lost/four"];
    behind(&mut blog, 4, &far, Outcome::Rejected("redirect"));
    blog.at("http://signposts.test/round/a", Reply::redirect(302, "/round/b"));
    blog.at("http://signposts.test/round/b", Reply::redirect(302, "/round/a"));
    named(&mut blog, 5, "/round/a", Outcome::Rejected("redirect"));
    let nowhere = Reply::status(Kind::Page, 302);
    blog.at("http://signposts.test/nowhere", nowhere);
    named(&mut blog, 6, "/nowhere", Outcome::Rejected("redirect"));
    blog.feed(Plan::new("/feed.xml", Format::Rss2));
    blog.finish()
}

fn back_doors() -> Site {
    let mut blog =
        Blog::new("porte-di-servizio.test", "Porte di servizio", "Non tutte danno sulla strada", &CUCINA, Style::Plain);
    blog.about = "redirects to a loopback address, to the metadata address, to file: each refused at that hop";
    blog.posts(3);
    let doors = [
        ("/porta/uno", "http://127.0.0.1:9001/2018-06-01/runtime/invocation/next"),
        ("/porta/due", "http://169.254.169.254/latest/meta-data/"),
        ("/porta/tre", "file:///etc/hostname"),
        ("/porta/quattro", "http://[::ffff:7f00:1]/"),
    ];
    for (number, (path, target)) in (3..).zip(doors) {
        let url = blog.publisher.url(path);
        blog.at(&url, Reply::redirect(302, target));
        named(&mut blog, number, path, Outcome::Rejected("address"));
    }
    blog.feed(Plan::new("/feed.xml", Format::Rss2));
    blog.finish()
}

fn moved_house() -> Site {
    let mut blog =
        Blog::new("moved-house.test", "Moved House", "We have moved, please follow", &HARBOUR, Style::OpenGraph);
    blog.about = "its pages redirect to new-house.test, another host key with a robots.txt and a turn of its own";
    blog.posts(1);
    let mut new_house = blog.publisher.clone();
    new_house.page_host = "new-house.test".to_owned();
    for number in 1..4 {
        let post = new_house.post(number);
        let page = new_house.page(&post);
        let old = blog.publisher.post(number);
        blog.at(&post.url, page).picture(&post);
        blog.at(&old.url, Reply::redirect(301, &post.url));
        let entry = blog.publisher.entry(&old);
        blog.entry(entry, Outcome::Accepted);
    }
    blog.feed(Plan::new("/feed.xml", Format::Rss2));
    blog.finish()
}

fn one_true_page() -> Site {
    let mut blog =
        Blog::new("una-sola-pagina.test", "Una sola pagina", "Tanti indirizzi, un sentiero", &MONTAGNA, Style::JsonLd);
    blog.about = "print versions name the page proper as canonical: two pages proper with a print version each in the feed too, and one that is only named by its ?id= address";
    blog.posts(3);
    for number in 0..2 {
        let mut print = blog.publisher.post(number);
        print.canonical = Some(print.url.clone());
        let page = blog.publisher.page(&print);
        print.url = blog.publisher.url(&format!("/stampa/{number}"));
        blog.post_as(&print, page, Outcome::Duplicate);
    }
    let proper = blog.publisher.post(5);
    let page = blog.publisher.page(&proper);
    blog.at(&proper.url, page.clone());
    let mut by_id = proper.clone();
    by_id.url = blog.publisher.url("/leggi?id=5");
    blog.post_as(&by_id, page, Outcome::Accepted);
    blog.feed(Plan::new("/feed.xml", Format::Rss2));
    blog.finish()
}

/// Adds article `number` behind redirects: the feed names the first of these paths.
fn behind(blog: &mut Blog, number: usize, path: &[&str], outcome: Outcome) {
    let post = blog.publisher.post(number);
    let page = blog.publisher.page(&post);
    blog.at(&post.url, page).picture(&post);
    for (i, from) in path.iter().enumerate() {
        let to = path.get(i + 1).map_or_else(|| post.url.clone(), |next| blog.publisher.url(next));
        let url = blog.publisher.url(from);
        // The first hop is permanent and absolute, later ones are temporary and relative.
        let reply = match i {
            0 => Reply::redirect(301, &to),
            _ => Reply::redirect(302, to.strip_prefix(&blog.publisher.url("")).unwrap_or(&to)),
        };
        blog.at(&url, reply);
    }
    named(blog, number, path.first().copied().unwrap_or("/"), outcome);
}

/// Adds an entry with the title of article `number` that names this path.
fn named(blog: &mut Blog, number: usize, path: &str, outcome: Outcome) {
    let post = blog.publisher.post(number);
    let mut entry = blog.publisher.entry(&post);
    entry.link = blog.publisher.url(path);
    entry.id = Some(entry.link.clone());
    blog.entry(entry, outcome);
}
