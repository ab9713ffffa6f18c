//! State of a site that changes while the server runs: its mode, published articles, and the number of calls.

use crate::feeds::{Entry, FeedDoc};
use crate::log::Kind;
use crate::publisher::FRESH;
use crate::reply::{Body, Reply};
use crate::site::{RateLimit, Site};
use crate::wall::Wall;
use bytes::Bytes;
use std::collections::HashMap;
use std::sync::Arc;

/// Behaviour of a site, or of one of its addresses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// The site's initial behaviour.
    #[default]
    Normal,
    /// The changes that the site's `about` announces have happened: pages are gone or ask not to be indexed.
    Later,
    /// Every page (not home, robots.txt, feeds, pictures) has this status, such as 404 or 410.
    Pages(u16),
    /// Every page in UTF-8 has `<meta name="robots" content="noindex">`.
    NoindexMeta,
    /// A bot wall replaces the site's answers.
    Wall(Wall),
}

#[derive(Debug, Default)]
pub(crate) struct Live {
    mode: Mode,
    /// Number of calls since the mode was set.
    calls: usize,
    /// Modes by host and path.
    pub(crate) page_modes: HashMap<String, Mode>,
    pages_served: usize,
    last_start: Option<u64>,
    fresh: Vec<Entry>,
    fresh_routes: HashMap<String, Reply>,
    /// Answers by host and path that take precedence over all others.
    put: HashMap<String, Reply>,
}

impl Live {
    /// Returns the answer to a call that starts now.
    pub(crate) fn decide(&mut self, site: &Site, host: &str, path: &str, now: u64) -> Reply {
        let mode = self.page_modes.get(&format!("{host}{path}")).copied().unwrap_or(self.mode);
        self.calls += 1;
        let reply = self.look_up(site, host, path, mode);
        if let Some(refusal) = self.refusal(site, reply.kind, now) {
            return refusal;
        }
        changed(self.with_fresh_entries(reply), mode, self.calls)
    }

    pub(crate) fn set_mode(&mut self, mode: Mode) {
        (self.mode, self.calls) = (mode, 0);
    }

    fn look_up(&self, site: &Site, host: &str, path: &str, mode: Mode) -> Reply {
        if let Some(reply) = self.put.get(&format!("{host}{path}")) {
            return reply.clone();
        }
        if let Some(route) = site.route(host, path) {
            let later = route.later.as_ref().filter(|_| mode == Mode::Later);
            return later.unwrap_or(&route.now).clone();
        }
        if let Some(reply) = self.fresh_routes.get(&format!("{host}{path}")) {
            return reply.clone();
        }
        site.made(path).unwrap_or_else(|| Reply::status(Kind::Other, 404))
    }

    /// Returns a 429 if the site's rate limit requires it.
    fn refusal(&mut self, site: &Site, kind: Kind, now: u64) -> Option<Reply> {
        let before = self.last_start.replace(now);
        match site.rate_limit {
            RateLimit::None => None,
            RateLimit::MinGap(gap) => {
                let soon = before.is_some_and(|then| u128::from(now.saturating_sub(then)) < gap.as_micros());
                soon.then(|| Reply::status(kind, 429).with("retry-after", "60"))
            }
            RateLimit::PageLimit { pages, retry_after } => {
                if self.pages_served >= pages && kind != Kind::Robots && kind != Kind::Image {
                    return Some(Reply::status(kind, 429).with("retry-after", retry_after.to_string()));
                }
                self.pages_served += usize::from(kind == Kind::Page);
                None
            }
        }
    }

    fn with_fresh_entries(&self, mut reply: Reply) -> Reply {
        if let Body::Feed(doc) = &reply.body
            && !self.fresh.is_empty()
        {
            let mut doc = FeedDoc::clone(doc);
            doc.entries.splice(0..0, self.fresh.iter().cloned());
            reply.headers.retain(|(name, _)| *name != "last-modified");
            reply.body = Body::Feed(Arc::new(doc));
        }
        reply
    }

    /// Sets the document at an address, and replaces an existing one.
    pub(crate) fn put(&mut self, host: &str, path: &str, media_type: &str, text: &str) {
        let reply = Reply::new(Kind::Other, 200, media_type, text.to_owned());
        self.put.insert(format!("{host}{path}"), reply);
    }

    /// Publishes `more` new articles; returns their addresses, the newest first.
    pub(crate) fn publish(&mut self, site: &Site, more: usize) -> Vec<String> {
        let Some(publisher) = &site.publisher else { return Vec::new() };
        let first = self.fresh.len();
        let mut links = Vec::new();
        for number in first..first + more {
            let post = publisher.post(FRESH + number);
            self.fresh_routes.insert(bare(&post.url), publisher.page(&post));
            if let Some(url) = &post.picture {
                self.fresh_routes.insert(bare(url), Reply::picture_at(url));
            }
            links.insert(0, post.url.clone());
            self.fresh.insert(0, publisher.entry(&post));
        }
        links
    }
}

fn bare(url: &str) -> String {
    url.strip_prefix("http://").unwrap_or(url).to_owned()
}

/// Modifies an answer according to the mode; `call` is the number of the call since the mode was set.
fn changed(reply: Reply, mode: Mode, call: usize) -> Reply {
    let kind = reply.kind;
    match mode {
        Mode::Pages(status) if kind == Kind::Page => Reply::status(kind, status),
        Mode::NoindexMeta if kind == Kind::Page => with_noindex(reply),
        Mode::Wall(wall) => wall.replace(reply, call),
        _ => reply,
    }
}

fn with_noindex(reply: Reply) -> Reply {
    const META: &str = "<meta name=\"robots\" content=\"noindex\">\n</head>";
    // Pages in other encodings stay unchanged, since an ASCII insertion would corrupt UTF-16.
    let insert = |bytes: &Bytes| match std::str::from_utf8(bytes) {
        Ok(text) => Bytes::from(text.replacen("</head>", META, 1)),
        Err(_) => bytes.clone(),
    };
    let body = match &reply.body {
        Body::Plain(bytes) => Body::Plain(insert(bytes)),
        Body::Pieces(pieces) => Body::Pieces(pieces.iter().map(insert).collect()),
        _ => return reply,
    };
    reply.body(body)
}
