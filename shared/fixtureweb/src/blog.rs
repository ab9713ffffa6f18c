//! Builds a [`Site`] from articles, feeds and oddities, and its expectation from the outcome of each entry.

use crate::coding::Coding;
use crate::feeds::{Damage, Entry, FeedDoc, Format};
use crate::html::{self, FeedLink};
use crate::log::Kind;
use crate::publisher::{Pictures, Post, Publisher, Style};
use crate::reply::Reply;
use crate::site::{Expect, Outcome, Route, Site};
use crate::text::Bank;
use std::collections::BTreeSet;

impl Publisher {
    pub(crate) fn page(&self, post: &Post) -> Reply {
        Reply::page(html::article(self, self.style, post))
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Plan {
    pub(crate) path: &'static str,
    pub(crate) format: Format,
    pub(crate) title: &'static str,
    /// True if the home page's head does not link to the feed.
    pub(crate) unlinked: bool,
    /// True if a crawler may leave the feed out (comments).
    pub(crate) optional: bool,
    /// Stride and offset of the entries to include; a stride of 0 includes all.
    pub(crate) pick: (usize, usize),
    /// Appended to every link.
    pub(crate) suffix: &'static str,
    pub(crate) damage: Damage,
    pub(crate) hints: &'static str,
    /// True if entries carry their full text.
    pub(crate) full: bool,
    pub(crate) headers: Vec<(&'static str, &'static str)>,
    pub(crate) media_type: Option<&'static str>,
}

impl Plan {
    /// Returns a feed of all entries, named in the head.
    pub(crate) fn new(path: &'static str, format: Format) -> Plan {
        Plan { path, format, ..Plan::default() }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Blog {
    pub(crate) publisher: Publisher,
    /// The site as built so far.
    pub(crate) site: Site,
    /// Content coding of all pages and feeds.
    pub(crate) coding: Option<Coding>,
    plans: Vec<Plan>,
    entries: Vec<(Entry, Outcome)>,
    robots: Option<Reply>,
    start_expected: bool,
}

impl Blog {
    pub(crate) fn new(host: &str, bank: &'static Bank, style: Style) -> Blog {
        let (host, page_host) = (host.to_owned(), host.to_owned());
        let publisher = Publisher { host, page_host, name: "", tagline: "", bank, style, pictures: Pictures::Own };
        let site = Site { start_url: format!("{}/", publisher.home()), ..Site::default() };
        let (plans, entries) = (Vec::new(), Vec::new());
        Blog { publisher, site, coding: None, plans, entries, robots: None, start_expected: true }
    }

    pub(crate) fn titled(&mut self, name: &'static str, tagline: &'static str) -> &mut Blog {
        (self.publisher.name, self.publisher.tagline) = (name, tagline);
        self
    }

    /// Sets the description: the site's special property, and the reason for its expectation.
    pub(crate) fn about(&mut self, about: &'static str) -> &mut Blog {
        self.site.about = about;
        self
    }

    pub(crate) fn set(&mut self, change: impl FnOnce(&mut Blog)) -> &mut Blog {
        change(self);
        self
    }

    /// Adds articles 0 to `count` - 1, all with the outcome [`Outcome::Accepted`].
    pub(crate) fn posts(&mut self, count: usize) -> &mut Blog {
        for number in 0..count {
            self.post(&self.publisher.post(number), Outcome::Accepted);
        }
        self
    }

    /// Adds an article: its page, its picture and its feed entry.
    pub(crate) fn post(&mut self, post: &Post, outcome: Outcome) -> &mut Blog {
        self.post_as(post, self.publisher.page(post), outcome)
    }

    /// Adds an article with this answer for its page.
    pub(crate) fn post_as(&mut self, post: &Post, page: Reply, outcome: Outcome) -> &mut Blog {
        self.at(&post.url, page);
        self.picture(post);
        self.entry(self.publisher.entry(post), outcome)
    }

    /// Adds article `number` at this path, with this answer for its page.
    pub(crate) fn post_at(&mut self, number: usize, path: &str, page: Reply, outcome: Outcome) -> &mut Blog {
        let url = self.publisher.url(path);
        self.post_as(&Post { url, ..self.publisher.post(number) }, page, outcome)
    }

    /// Adds the picture of an article whose page is added separately.
    pub(crate) fn picture(&mut self, post: &Post) -> &mut Blog {
        if let Some(url) = &post.picture {
            self.at(url, Reply::picture_at(url));
        }
        self
    }

    pub(crate) fn entry(&mut self, entry: Entry, outcome: Outcome) -> &mut Blog {
        self.entries.push((entry, outcome));
        self
    }

    pub(crate) fn feed(&mut self, plan: Plan) -> &mut Blog {
        self.plans.push(plan);
        self
    }

    /// Adds an RSS feed of all entries.
    pub(crate) fn rss(&mut self) -> &mut Blog {
        self.feed(Plan::new("/feed.xml", Format::Rss2))
    }

    /// Adds an answer at an absolute `http://` address.
    pub(crate) fn at(&mut self, url: &str, reply: Reply) -> &mut Blog {
        let key = url.strip_prefix("http://").unwrap_or(url).to_owned();
        self.site.routes.insert(key, Route { now: reply, later: None });
        self
    }

    /// Sets the answer at an address for the time after [`crate::Mode::Later`] is set.
    pub(crate) fn later(&mut self, url: &str, reply: Reply) -> &mut Blog {
        if let Some(route) = self.site.routes.get_mut(url.strip_prefix("http://").unwrap_or(url)) {
            route.later = Some(reply);
        }
        self
    }

    /// Sets robots.txt, and the path prefixes on the articles' host that it disallows for the crawler.
    pub(crate) fn robots(&mut self, reply: Reply, off_limits: &[&str]) -> &mut Blog {
        self.robots = Some(reply);
        self.site.off_limits = off_limits.iter().map(|path| format!("{}{path}", self.publisher.page_host)).collect();
        self
    }

    /// Sets the start URL, if it is not the home page.
    pub(crate) fn start(&mut self, url: &str) -> &mut Blog {
        self.site.start_url = url.to_owned();
        self
    }

    /// Marks the start URL as unreachable, so that the expectation is empty.
    pub(crate) fn unreachable(&mut self, held: Option<&'static str>) -> &mut Blog {
        self.site.expect.held = held;
        self.start_expected = false;
        self
    }

    pub(crate) fn finish(&mut self) -> Site {
        self.front_page();
        for plan in self.plans.clone() {
            let doc = self.feed_doc(&plan);
            let url = doc.url.clone();
            let mut reply = Reply::feed(doc);
            if let Some(media_type) = plan.media_type {
                reply = reply.typed(media_type);
            }
            for (name, value) in &plan.headers {
                reply = reply.with(name, *value);
            }
            self.missing(&url, reply);
        }
        let robots = self.robots.clone().unwrap_or_else(|| Reply::robots("User-agent: *\nDisallow:\n"));
        for host in self.hosts() {
            self.missing(&format!("http://{host}/robots.txt"), robots.clone());
        }
        if let Some(image) = self.publisher.image() {
            self.missing(&image, Reply::picture_at(&image));
        }
        if let Some(coding) = self.coding {
            for route in
                self.site.routes.values_mut().filter(|r| matches!(r.now.kind, Kind::Page | Kind::Feed | Kind::Home))
            {
                route.now.coding = Some(coding);
            }
        }
        Site {
            host: self.publisher.host.clone(),
            expect: self.expect(),
            hosts: self.hosts().into_iter().collect(),
            entries: self.entries.iter().map(|(entry, outcome)| (entry.link.clone(), *outcome)).collect(),
            publisher: Some(self.publisher.clone()),
            ..std::mem::take(&mut self.site)
        }
    }

    /// Adds an answer unless the address already has one.
    fn missing(&mut self, url: &str, reply: Reply) {
        if !self.site.routes.contains_key(url.strip_prefix("http://").unwrap_or(url)) {
            self.at(url, reply);
        }
    }

    fn hosts(&self) -> BTreeSet<String> {
        let of_routes = self.site.routes.keys().filter_map(|key| key.split('/').next()).map(str::to_owned);
        of_routes.chain([self.publisher.host.clone(), self.publisher.page_host.clone()]).collect()
    }

    fn front_page(&mut self) {
        let links: Vec<FeedLink> = self
            .plans
            .iter()
            .filter(|plan| !plan.unlinked)
            .map(|plan| FeedLink {
                title: self.feed_title(plan),
                url: format!("{}{}", self.publisher.home(), plan.path),
                media_type: plan.format.media_type(),
            })
            .collect();
        let posts: Vec<(String, String)> = self
            .entries
            .iter()
            .filter(|(entry, _)| entry.link.starts_with("http"))
            .take(12)
            .map(|(entry, _)| (entry.title.clone().unwrap_or_else(|| "…".to_owned()), entry.link.clone()))
            .collect();
        let html = html::home(&self.publisher, &links, self.publisher.image().as_deref(), &posts);
        self.missing(&format!("{}/", self.publisher.home()), Reply::home(html));
    }

    fn feed_title(&self, plan: &Plan) -> String {
        let name = self.publisher.name;
        if plan.title.is_empty() { name.to_owned() } else { format!("{name} – {}", plan.title) }
    }

    fn feed_doc(&self, plan: &Plan) -> FeedDoc {
        let (every, offset) = plan.pick;
        let picked = self.entries.iter().skip(offset).step_by(every.max(1));
        let entries = picked
            .map(|(entry, _)| {
                let mut entry = entry.clone();
                entry.link.push_str(plan.suffix);
                entry.html = entry.html.filter(|_| plan.full);
                entry
            })
            .collect();
        FeedDoc {
            format: plan.format,
            title: self.feed_title(plan),
            description: self.publisher.tagline.to_owned(),
            home: format!("{}/", self.publisher.home()),
            url: format!("{}{}", self.publisher.home(), plan.path),
            lang: self.publisher.bank.lang.to_owned(),
            image: self.publisher.image(),
            hints: plan.hints.into(),
            entries,
            damage: plan.damage,
        }
    }

    fn expect(&self) -> Expect {
        let optional_feeds = self.plans.iter().filter(|plan| plan.optional).count();
        let mut expect = self.site.expect.clone();
        if !self.start_expected {
            return expect;
        }
        expect.feeds = self.plans.len() - optional_feeds;
        expect.optional_feeds = optional_feeds;
        for (_, outcome) in &self.entries {
            match outcome {
                Outcome::Accepted => expect.accepted += 1,
                Outcome::Rejected(code) => *expect.rejected.entry(code).or_default() += 1,
                Outcome::Parked => expect.parked += 1,
                Outcome::Duplicate => expect.duplicates += 1,
                Outcome::Repeat | Outcome::Ignored => {}
            }
        }
        expect
    }
}
