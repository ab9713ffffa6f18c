//! Sites with redirects, to the same or another site, and pages with several addresses.

use crate::blog::Blog;
use crate::feeds::Entry;
use crate::log::Kind;
use crate::publisher::Style;
use crate::reply::Reply;
use crate::site::{Outcome, Site};
use crate::text::{CUCINA, HARBOUR, MONTAGNA, WALKS};

pub(crate) fn sites() -> Vec<Site> {
    vec![signposts(), back_doors(), moved_house(), one_true_page()]
}

fn signposts() -> Site {
    let mut blog = Blog::new("signposts.test", &WALKS, Style::Microdata);
    blog.titled("Signposts", "Every road leads somewhere else")
        .about("pages behind 1 and 2 redirects are taken; behind 4, in a circle, or with no target they are not");
    blog.posts(2);
    blog.behind(2, &["/old/two"], Outcome::Accepted);
    blog.behind(3, &["/old/three", "/older/three"], Outcome::Accepted);
    let far = ["/old/four", "/older/four", "/oldest/four", "/lost/four"];
    blog.behind(4, &far, Outcome::Rejected("redirect"));
    blog.at("http://signposts.test/round/a", Reply::redirect(302, "/round/b"));
    blog.at("http://signposts.test/round/b", Reply::redirect(302, "/round/a"));
    blog.named(5, "/round/a", Outcome::Rejected("redirect"));
    blog.at("http://signposts.test/nowhere", Reply::status(Kind::Page, 302));
    blog.named(6, "/nowhere", Outcome::Rejected("redirect")).rss().finish()
}

fn back_doors() -> Site {
    let mut blog = Blog::new("porte-di-servizio.test", &CUCINA, Style::Plain);
    blog.titled("Porte di servizio", "Non tutte danno sulla strada")
        .about("redirects to a loopback address, to the metadata address, to file: each refused at that hop");
    blog.posts(3);
    let doors = [
        ("/porta/uno", "http://127.0.0.1:9001/2018-06-01/runtime/invocation/next"),
        ("/porta/due", "http://169.254.169.254/latest/meta-data/"),
        ("/porta/tre", "file:///etc/hostname"),
        ("/porta/quattro", "http://[::ffff:7f00:1]/"),
    ];
    for (number, (path, target)) in (3..).zip(doors) {
        blog.at(&blog.publisher.url(path), Reply::redirect(302, target));
        blog.named(number, path, Outcome::Rejected("address"));
    }
    blog.rss().finish()
}

fn moved_house() -> Site {
    let mut blog = Blog::new("moved-house.test", &HARBOUR, Style::OpenGraph);
    blog.titled("Moved House", "We have moved, please follow")
        .about("its pages redirect to new-house.test, another host key with a robots.txt and a turn of its own");
    blog.posts(1);
    let mut new_house = blog.publisher.clone();
    new_house.page_host = "new-house.test".to_owned();
    for number in 1..4 {
        let post = new_house.post(number);
        let page = new_house.page(&post);
        let old = blog.publisher.post(number);
        blog.at(&post.url, page).picture(&post);
        blog.at(&old.url, Reply::redirect(301, &post.url));
        blog.entry(blog.publisher.entry(&old), Outcome::Accepted);
    }
    blog.rss().finish()
}

fn one_true_page() -> Site {
    let mut blog = Blog::new("una-sola-pagina.test", &MONTAGNA, Style::JsonLd);
    blog.titled("Una sola pagina", "Tanti indirizzi, un sentiero").about(
        "print versions name the page proper as canonical: two pages proper with a print version each in \
                the feed too, and one that is only named by its ?id= address",
    );
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
    blog.post_at(5, "/leggi?id=5", page, Outcome::Accepted).rss().finish()
}

impl Blog {
    /// Adds article `number` behind redirects through these paths; the feed names the first path.
    fn behind(&mut self, number: usize, path: &[&str], outcome: Outcome) -> &mut Blog {
        let post = self.publisher.post(number);
        let page = self.publisher.page(&post);
        self.at(&post.url, page).picture(&post);
        for (i, from) in path.iter().enumerate() {
            let to = path.get(i + 1).map_or_else(|| post.url.clone(), |next| self.publisher.url(next));
            // The first hop is permanent and absolute, later ones are temporary and relative.
            let reply = match i {
                0 => Reply::redirect(301, &to),
                _ => Reply::redirect(302, to.strip_prefix(&self.publisher.url("")).unwrap_or(&to)),
            };
            self.at(&self.publisher.url(from), reply);
        }
        self.named(number, path.first().copied().unwrap_or("/"), outcome)
    }

    /// Adds an entry with the title of article `number` and a link to this path.
    fn named(&mut self, number: usize, path: &str, outcome: Outcome) -> &mut Blog {
        let link = self.publisher.url(path);
        let entry = self.publisher.entry(&self.publisher.post(number));
        self.entry(Entry { id: Some(link.clone()), link, ..entry }, outcome)
    }
}
