//! Sites whose pages restrict their use: robots meta tags and X-Robots-Tag headers.

use crate::blog::{Blog, Plan};
use crate::feeds::Format;
use crate::publisher::{Post, Style};
use crate::site::{Outcome, Site};
use crate::text::{BIRDS, ORCHARD};

pub(crate) fn sites() -> Vec<Site> {
    vec![quiet_pages(), short_quotes()]
}

fn quiet_pages() -> Site {
    let mut blog = Blog::new("quiet-pages.test", &BIRDS, Style::Microdata);
    blog.titled("Quiet Pages", "Some notes are not for lists")
        .about("noindex in five forms: meta, none in capitals, our name, header, header with our name");
    blog.posts(3);
    let metas = [
        "<meta name=\"robots\" content=\"noindex, follow\">\n",
        "<META NAME=\"ROBOTS\" CONTENT=\"NOARCHIVE, NONE\">\n",
        "<meta name=\"CurlewBot\" content=\"noindex\">\n",
    ];
    for (number, meta) in (3..).zip(metas) {
        blog.with_meta(number, meta, Outcome::Rejected("noindex"));
    }
    blog.with_header(6, "noindex", Outcome::Rejected("noindex"));
    blog.with_header(7, "curlewbot: noindex", Outcome::Rejected("noindex"));
    blog.rss().finish()
}

fn short_quotes() -> Site {
    let mut blog = Blog::new("short-quotes.test", &ORCHARD, Style::OpenGraph);
    blog.titled("Short Quotes", "Read it here, quote it sparingly").about(
        "directives that do not keep a page out: nosnippet, max-snippet, noarchive, nofollow, a date in \
                2035, another bot's noindex",
    );
    let metas = [
        "<meta name=\"robots\" content=\"nosnippet\">\n",
        "<meta name=\"robots\" content=\"max-snippet:60, nofollow\">\n",
        "<meta name=\"robots\" content=\"noarchive\">\n",
        "<meta name=\"otherbot\" content=\"noindex\">\n",
    ];
    for (number, meta) in metas.into_iter().enumerate() {
        blog.with_meta(number, meta, Outcome::Accepted);
    }
    blog.with_header(4, "otherbot: noindex", Outcome::Accepted);
    blog.with_header(5, "unavailable_after: Wed, 03 Jan 2035 15:00:00 GMT", Outcome::Accepted);
    blog.feed(Plan::new("/feed.xml", Format::Atom)).finish()
}

impl Blog {
    fn with_meta(&mut self, number: usize, meta: &str, outcome: Outcome) -> &mut Blog {
        let post = Post { head: meta.to_owned(), ..self.publisher.post(number) };
        self.post(&post, outcome)
    }

    fn with_header(&mut self, number: usize, value: &str, outcome: Outcome) -> &mut Blog {
        let post = self.publisher.post(number);
        let page = self.publisher.page(&post).with("x-robots-tag", value);
        self.post_as(&post, page, outcome)
    }
}
