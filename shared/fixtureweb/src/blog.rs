//! Builds a [`Site`] from articles, feeds and oddities; its expectation is counted from the outcome given for each
//! entry.

use crate::coding::Coding;
use crate::feeds::{Damage, Entry, FeedDoc, Format};
use crate::html::{self, FeedLink};
use crate::log::Kind;
use crate::publisher::{Pictures, Post, Publisher, Style};
use crate::reply::Reply;
use crate::site::{Expect, Outcome, RateLimit, Route, Site};
use crate::text::Bank;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

impl Publisher {
    /// Returns an article's page as an answer.
    pub(crate) fn page(&self, post: &Post) -> Reply {
        Reply::page(html::article(self, self.style, post))
    }
}

/// A feed of a site.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) path: &'static str,
    pub(crate) format: Format,
    pub(crate) title: &'static str,
    /// True if the home page's head names it.
    pub(crate) linked: bool,
    /// True if a crawler may leave it out (comments).
    pub(crate) optional: bool,
    /// Stride and offset of the entries to include: `(1, 0)` is all of them.
    pub(crate) pick: (usize, usize),
    /// Appended to every link.
    pub(crate) suffix: &'static str,
    pub(crate) damage: Damage,
    pub(crate) hints: &'static str,
    /// True if entries carry their full text.
    pub(crate) full: bool,
    pub(crate) headers: Vec<(&'static str, &'static str)>,
    /// Overrides the usual media type.
    pub(crate) media_type: Option<&'static str>,
}

impl Plan {
    /// Returns a feed of all entries, named in the head.
    pub(crate) fn new(path: &'static str, format: Format) -> Plan {
        Plan {
            path,
            format,
            title: "",
            linked: true,
            optional: false,
            pick: (1, 0),
            suffix: "",
            damage: Damage::None,
            hints: "",
            full: false,
            headers: Vec::new(),
            media_type: None,
        }
    }
}

/// A site under construction.
#[derive(Clone, Debug)]
pub(crate) struct Blog {
    pub(crate) publisher: Publisher,
    pub(crate) about: &'static str,
    pub(crate) held: Option<&'static str>,
    pub(crate) delay: Duration,
    pub(crate) rate_limit: RateLimit,
    pub(crate) crawl_delay: Option<Duration>,
    /// Content coding of all pages and feeds.
    pub(crate) coding: Option<Coding>,
    plans: Vec<Plan>,
    entries: Vec<(Entry, Outcome)>,
    routes: HashMap<String, Route>,
    robots: Option<Reply>,
    off_limits: Vec<String>,
    start: Option<String>,
    start_expected: bool,
}

impl Blog {
    pub(crate) fn new(
        host: &str,
        name: &'static str,
        tagline: &'static str,
        bank: &'static Bank,
        style: Style,
    ) -> Blog {
        let publisher = Publisher {
            host: host.to_owned(),
            page_host: host.to_owned(),
            name,
            tagline,
            bank,
            style,
            pictures: Pictures::Own,
        };
        Blog {
            publisher,
            about: "",
            held: None,
            delay: Duration::ZERO,
            rate_limit: RateLimit::None,
            crawl_delay: None,
            coding: None,
            plans: Vec::new(),
            entries: Vec::new(),
            routes: HashMap::new(),
            robots: None,
            off_limits: Vec::new(),
            start: None,
            start_expected: true,
        }
    }

    /// Adds articles 0 to `count` - 1, all fit to be accepted.
    pub(crate) fn posts(&mut self, count: usize) -> &mut Blog {
        for number in 0..count {
            let post = self.publisher.post(number);
            self.post(&post, Outcome::Accepted);
        }
        self
    }

    /// Adds an article: its page, its picture, its entry.
    pub(crate) fn post(&mut self, post: &Post, outcome: Outcome) -> &mut Blog {
        let page = self.publisher.page(post);
        self.post_as(post, page, outcome)
    }

    /// Adds an article whose page is answered in this way.
    pub(crate) fn post_as(&mut self, post: &Post, page: Reply, outcome: Outcome) -> &mut Blog {
        self.at(&post.url, page);
        self.picture(post);
        let entry = self.publisher.entry(post);
        self.entry(entry, outcome)
    }

    /// Adds the picture of an article whose page is made elsewhere.
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

    /// Adds an answer at an absolute `http://` address.
    pub(crate) fn at(&mut self, url: &str, reply: Reply) -> &mut Blog {
        let key = url.strip_prefix("http://").unwrap_or(url).to_owned();
        self.routes.insert(key, Route { now: reply, later: None });
        self
    }

    /// Sets the answer at an address once [`crate::Mode::Later`] is set.
    pub(crate) fn later(&mut self, url: &str, reply: Reply) -> &mut Blog {
        if let Some(route) = self.routes.get_mut(url.strip_prefix("http://").unwrap_or(url)) {
            route.later = Some(reply);
        }
        self
    }

    /// Sets robots.txt, and the path prefixes on the articles' host that it forbids to the crawler.
    pub(crate) fn robots(&mut self, reply: Reply, off_limits: &[&str]) -> &mut Blog {
        self.robots = Some(reply);
        self.off_limits = off_limits.iter().map(|path| format!("{}{path}", self.publisher.page_host)).collect();
        self
    }

    /// Sets the start URL, if it is not the home page.
    pub(crate) fn start(&mut self, url: &str) -> &mut Blog {
        self.start = Some(url.to_owned());
        self
    }

    /// Marks the start URL as unreachable, so that nothing is expected to be found.
    pub(crate) fn unreachable(&mut self, held: Option<&'static str>) -> &mut Blog {
        self.held = held;
        self.start_expected = false;
        self
    }

    pub(crate) fn finish(mut self) -> Site {
        let feeds = self.feed_docs();
        self.front_page();
        for (plan, doc) in feeds {
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
            for route in self.routes.values_mut().filter(|r| matches!(r.now.kind, Kind::Page | Kind::Feed | Kind::Home))
            {
                route.now.coding = Some(coding);
            }
        }
        let expect = self.expect();
        let hosts = self.hosts().into_iter().collect();
        Site {
            host: self.publisher.host.clone(),
            start_url: self.start.clone().unwrap_or_else(|| format!("{}/", self.publisher.home())),
            about: self.about,
            expect,
            crawl_delay: self.crawl_delay,
            hosts,
            entries: self.entries.into_iter().map(|(entry, outcome)| (entry.link, outcome)).collect(),
            routes: self.routes,
            off_limits: self.off_limits,
            delay: self.delay,
            rate_limit: self.rate_limit,
            publisher: Some(self.publisher),
            uniform: None,
            catalogue: None,
        }
    }

    /// Adds an answer unless the address has one.
    fn missing(&mut self, url: &str, reply: Reply) {
        if !self.routes.contains_key(url.strip_prefix("http://").unwrap_or(url)) {
            self.at(url, reply);
        }
    }

    fn hosts(&self) -> BTreeSet<String> {
        let of_routes = self.routes.keys().filter_map(|key| key.split('/').next()).map(str::to_owned);
        of_routes.chain([self.publisher.host.clone(), self.publisher.page_host.clone()]).collect()
    }

    fn front_page(&mut self) {
        let links: Vec<FeedLink> = self
            .plans
            .iter()
            .filter(|plan| plan.linked)
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
        if plan.title.is_empty() {
            self.publisher.name.to_owned()
        } else {
            format!("{} – {}", self.publisher.name, plan.title)
        }
    }

    fn feed_docs(&self) -> Vec<(Plan, FeedDoc)> {
        self.plans.iter().map(|plan| (plan.clone(), self.feed_doc(plan))).collect()
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
        let mut expect = Expect { held: self.held, ..Expect::default() };
        if !self.start_expected {
            return expect;
        }
        expect.feeds = self.plans.len() - optional_feeds;
        expect.optional_feeds = optional_feeds;
        let mut rejected: BTreeMap<&'static str, usize> = BTreeMap::new();
        for (_, outcome) in &self.entries {
            match outcome {
                Outcome::Accepted => expect.accepted += 1,
                Outcome::Rejected(code) => *rejected.entry(code).or_default() += 1,
                Outcome::Parked => expect.parked += 1,
                Outcome::Duplicate => expect.duplicates += 1,
                Outcome::Repeat | Outcome::Ignored => {}
            }
        }
        expect.rejected = rejected;
        expect
    }
}
