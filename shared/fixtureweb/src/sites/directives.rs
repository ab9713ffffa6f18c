//! Sites whose pages restrict their use: robots meta tags and X-Robots-Tag headers.

use crate::blog::{Blog, Plan};
use crate::feeds::Format;
use crate::publisher::Style;
use crate::site::{Outcome, Site};
use crate::text::{BIRDS, ORCHARD};

pub(crate) fn sites() -> Vec<Site> {
    vec![quiet_pages(), short_quotes()]
}

fn quiet_pages() -> Site {
    let mut blog =
        Blog::new("quiet-pages.test", "Quiet Pages", "Some notes are not for lists", &BIRDS, Style::Microdata);
    blog.about = "noindex in five forms: meta, none in capitals, our name, header, header with our name";
    blog.posts(3);
    let metas = [
        "<meta name=\"robots\" content=\"noindex, follow\">\n",
        "<META NAME=\"ROBOTS\" CONTENT=\"NOARCHIVE, NONE\">\n",
        "<meta name=\"CurlewBot\" content=\"noindex\">\n",
    ];
    for (number, meta) in (3..).zip(metas) {
        with_meta(&mut blog, number, meta, Outcome::Rejected("noindex"));
    }
    with_header(&mut blog, 6, "noindex", Outcome::Rejected("noindex"));
    with_header(&mut blog, 7, "curlewbot: noindex", Outcome::Rejected("noindex"));
    blog.feed(Plan::new("/feed.xml", Format::Rss2));
    blog.finish()
}

fn short_quotes() -> Site {
    let mut blog =
        Blog::new("short-quotes.test", "Short Quotes", "Read it here, quote it sparingly", &ORCHARD, Style::OpenGraph);
    blog.about = "directives that do not keep a page out: nosnippet, max-snippet, noarchive, nofollow, a date in 2035, another bot's noindex";
    let metas = [
        "<meta name=\"robots\" content=\"nosnippet\">\n",
        "<meta name=\"robots\" content=\"max-snippet:60, nofollow\">\n",
        "<meta name=\"robots\" content=\"noarchive\">\n",
        "<meta name=\"otherbot\" content=\"noindex\">\n",
    ];
    for (number, meta) in metas.into_iter().enumerate() {
        with_meta(&mut blog, number, meta, Outcome::Accepted);
    }
    with_header(&mut blog, 4, "otherbot: noindex", Outcome::Accepted);
    with_header(&mut blog, 5, "unavailable_after: Wed, 03 Jan 2035 15:00:00 GMT", Outcome::Accepted);
    blog.feed(Plan::new("/feed.xml", Format::Atom));
    blog.finish()
}

fn with_meta(blog: &mut Blog, number: usize, meta: &str, outcome: Outcome) {
    let mut post = blog.publisher.post(number);
    post.head = meta.to_owned();
    blog.post(&post, outcome);
}

fn with_header(blog: &mut Blog, number: usize, value: &str, outcome: Outcome) {
    let post = blog.publisher.post(number);
    let page = blog.publisher.page(&post).with("x-robots-tag", value);
    blog.post_as(&post, page, outcome);
}
