//! A small web that follows from a seed: hosts with feeds, pages, robots.txt files, and bad times.

use super::dice::Dice;
use super::outsiders::{History, Hub, Owner};
use crate::bad_time::{BadTime, HOUR, MINUTE, Moment, WebFailure};
use curlew_model::{Millis, Way};
use curlew_policy::site::ownership;
use std::collections::BTreeMap;
use url::Url;

#[derive(Clone, Debug)]
pub(super) struct World {
    pub(super) hosts: Vec<Host>,
    /// Answers by URL, except robots.txt.
    pub(super) routes: BTreeMap<String, Route>,
    /// robots.txt by `scheme://name`.
    pub(super) robots: BTreeMap<String, Vec<(Moment, RobotsAnswer)>>,
    /// Texts of robots.txt files.
    pub(super) texts: Vec<RobotsText>,
    /// Sites and feeds that somebody names.
    pub(super) named: Vec<Named>,
    /// Hubs, in a run that has them.
    pub(super) hubs: Vec<Hub>,
    /// Owners of sites, in a run that has them.
    pub(super) owners: Vec<Owner>,
    /// Back catalogues, in a run that has them.
    pub(super) history: History,
}

/// A site or feed that somebody names, and when.
#[derive(Clone, Debug)]
pub(super) struct Named {
    pub(super) url: String,
    pub(super) is_feed: bool,
    pub(super) at: Moment,
}

#[derive(Clone, Debug)]
pub(super) struct Host {
    /// Host names below the host key, the key itself first.
    pub(super) names: Vec<String>,
    pub(super) bad_times: Vec<BadTime>,
    /// Percentage of answers that take as long as a call may take.
    pub(super) slow: u64,
}

/// Answer of robots.txt during some time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RobotsAnswer {
    Text(usize),
    Status(u16),
    Redirect(String),
}

/// Text of a robots.txt file, and its meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RobotsText {
    pub(super) body: String,
    pub(super) disallowed: Vec<&'static str>,
    pub(super) delay: Millis,
}

/// Answer at a URL.
#[derive(Clone, Debug)]
pub(super) enum Route {
    Home {
        feeds: Vec<String>,
    },
    /// A feed; `older` is the URL of an archive with earlier entries.
    Feed {
        entries: Vec<Entry>,
        gone_from: Option<Moment>,
        hub: Option<String>,
        older: Option<String>,
    },
    Sitemap {
        is_index: bool,
        links: Vec<String>,
    },
    Page(Page),
    Redirect {
        to: String,
        status: u16,
    },
    Robots(usize),
    Image,
}

#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) link: String,
    pub(super) from: Moment,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Page {
    /// Determines the title and text.
    pub(super) number: u64,
    pub(super) short: bool,
    pub(super) image: Option<String>,
    pub(super) canonical: Option<String>,
    pub(super) noindex_from: Option<Moment>,
    /// True if a header says noindex, instead of a tag.
    pub(super) noindex_by_header: bool,
    pub(super) gone_from: Option<(Moment, u16)>,
    /// From this moment on the page has an additional word.
    pub(super) revised_from: Option<Moment>,
}

/// A path that some robots.txt files forbid.
const PRIVATE: &str = "/private/";
/// Another path that some robots.txt files forbid.
const DRAFTS: &str = "/drafts/";
/// URLs that must never be called.
const REFUSED: [&str; 3] = ["http://127.0.0.1/admin", "http://10.1.2.3/", "http://169.254.169.254/latest/meta-data"];

/// Makes a web. In a `steady` web, the answer of a URL does not depend on the time, and nothing fails.
pub(super) fn make(seed: u64, steady: bool) -> World {
    let mut maker = Maker { dice: Dice::new(seed, "world"), steady, pages: 0, world: World::empty() };
    maker.texts();
    let hosts = if maker.dice.percent(10) { maker.dice.between(7, 12) } else { maker.dice.between(3, 5) };
    for n in 0..hosts {
        maker.host(n);
    }
    for n in 0..maker.world.hosts.len() {
        maker.site(n);
    }
    maker.world
}

fn moved_robots(name: &str) -> String {
    format!("https://{name}/the-robots.txt")
}

pub(super) struct Maker {
    pub(super) dice: Dice,
    pub(super) steady: bool,
    pub(super) pages: u64,
    pub(super) world: World,
}

impl Maker {
    fn texts(&mut self) {
        for (disallowed, delay) in [
            (vec![], 0),
            (vec![PRIVATE], 0),
            (vec![PRIVATE, DRAFTS], 5),
            (vec![DRAFTS], 20),
            (vec![PRIVATE], if self.steady { 10 } else { 45 }),
            (vec!["/"], 0),
        ] {
            let mut body = "User-agent: *\n".to_owned();
            for path in &disallowed {
                body.push_str(&format!("Disallow: {path}\n"));
            }
            if delay > 0 {
                body.push_str(&format!("Crawl-delay: {delay}\n"));
            }
            self.world.texts.push(RobotsText { body, disallowed, delay: Millis::from_secs(delay) });
        }
    }

    fn host(&mut self, n: u64) {
        let key = format!("h{n}.example");
        let mut names = vec![key.clone()];
        for below in ["www", "blog"] {
            if self.dice.percent(30) {
                names.push(format!("{below}.{key}"));
            }
        }
        for name in &names {
            self.robots(name, n);
        }
        let mut bad_times = vec![];
        if !self.steady && self.dice.percent(35) {
            for _ in 0..self.dice.between(1, 3) {
                bad_times.push(self.bad_time());
            }
        }
        let slow = *self.dice.pick(&[0, 0, 5, 60]);
        self.world.hosts.push(Host { names, bad_times, slow });
    }

    fn bad_time(&mut self) -> BadTime {
        let from = if self.dice.percent(40) { 0 } else { self.dice.between(0, 6 * HOUR) };
        let length = *self.dice.pick(&[2 * MINUTE, 20 * MINUTE, 3 * HOUR, 30 * HOUR]);
        let failure = *self.dice.pick(&[
            WebFailure::Status(403),
            WebFailure::Status(429),
            WebFailure::RetryAfter(429, 7_200),
            WebFailure::Status(500),
            WebFailure::RetryAfter(503, 600),
            WebFailure::Network,
            WebFailure::TooLarge,
        ]);
        BadTime { from, to: from + length, failure }
    }

    fn robots(&mut self, name: &str, n: u64) {
        let text = RobotsAnswer::Text(usize::try_from(self.dice.between(0, 4)).unwrap_or(0));
        let first = match self.dice.between(0, 99) {
            0..=59 => text,
            60..=79 => RobotsAnswer::Status(404),
            80..=89 => {
                // The redirect leads to another URL of the same host, or to the host before it.
                let at = if n > 0 && self.dice.percent(50) { format!("h{}.example", n - 1) } else { name.to_owned() };
                let to = moved_robots(&at);
                self.world.routes.insert(to.clone(), Route::Robots(1));
                RobotsAnswer::Redirect(to)
            }
            90..=92 => RobotsAnswer::Text(5),
            93 => RobotsAnswer::Status(401),
            94..=96 if !self.steady => RobotsAnswer::Redirect(REFUSED[0].to_owned()),
            97..=99 if !self.steady => RobotsAnswer::Status(500),
            _ => text,
        };
        let mut versions = vec![(0, first)];
        if !self.steady && self.dice.percent(25) {
            let next = match self.dice.between(0, 3) {
                0 => RobotsAnswer::Status(503),
                1 => RobotsAnswer::Text(5),
                _ => RobotsAnswer::Text(2),
            };
            versions.push((self.dice.between(MINUTE, 8 * HOUR), next));
        }
        self.world.robots.insert(format!("https://{name}"), versions);
        let to_tls = RobotsAnswer::Redirect(format!("https://{name}/robots.txt"));
        self.world.robots.insert(format!("http://{name}"), vec![(0, to_tls)]);
    }

    /// Makes the content of a host: a home page, its pages, its feeds.
    fn site(&mut self, n: usize) {
        let names = self.world.hosts[n].names.clone();
        let mut links = vec![];
        for _ in 0..self.dice.between(1, 4) {
            let name = self.dice.pick(&names).clone();
            let link = self.page(&name, n);
            links.push(link);
        }
        if self.dice.percent(15) {
            links.push((*self.dice.pick(&REFUSED)).to_owned());
        }
        let name = self.dice.pick(&names).clone();
        let mut feeds = vec![];
        for place in ["feed.xml", "news/feed.xml"].iter().take(usize::try_from(self.dice.between(1, 2)).unwrap_or(1)) {
            let url = format!("https://{name}/{place}");
            let feed = self.feed(&links);
            self.world.routes.insert(url.clone(), feed);
            feeds.push(url);
        }
        self.names(n, &name, feeds);
    }

    /// Chooses how the feeds of a site become known.
    fn names(&mut self, n: usize, name: &str, feeds: Vec<String>) {
        let home = format!("https://{name}/");
        let at = if self.dice.percent(70) { 0 } else { self.dice.between(0, 2 * HOUR) };
        match self.dice.between(0, 9) {
            // The home page names the feeds.
            0..=3 => {
                self.world.named.push(Named { url: home.clone(), is_feed: false, at });
                self.world.routes.insert(home, Route::Home { feeds });
            }
            4 => {
                // The home page names no feed, but a usual URL redirects to one.
                self.world.named.push(Named { url: home.clone(), is_feed: false, at });
                let to = feeds.first().cloned().unwrap_or_default();
                self.world.routes.insert(home, Route::Home { feeds: vec![] });
                self.world.routes.insert(format!("https://{name}/rss"), Route::Redirect { to, status: 302 });
            }
            5 if n > 0 => {
                // The page of another host names the feeds.
                let other = format!("https://h{}.example/elsewhere", n - 1);
                self.world.named.push(Named { url: other.clone(), is_feed: false, at });
                self.world.routes.insert(other, Route::Home { feeds });
            }
            _ => {
                let named = feeds.into_iter().map(|url| Named { url, is_feed: true, at });
                self.world.named.extend(named);
            }
        }
    }

    fn feed(&mut self, links: &[String]) -> Route {
        let mut entries = vec![];
        for link in links {
            if self.dice.percent(85) {
                let later = !self.steady && self.dice.percent(25);
                let from = if later { self.dice.between(MINUTE, 20 * HOUR) } else { 0 };
                let campaign = if self.dice.percent(10) { "?utm_source=feed" } else { "" };
                entries.push(Entry { link: format!("{link}{campaign}"), from });
            }
        }
        let pages: Vec<String> =
            self.world.routes.iter().filter(|(_, r)| matches!(r, Route::Page(_))).map(|(url, _)| url.clone()).collect();
        if self.dice.percent(20) && !pages.is_empty() {
            entries.push(Entry { link: self.dice.pick(&pages).clone(), from: 0 });
        }
        let gone_from = (!self.steady && self.dice.percent(4)).then(|| self.dice.between(HOUR, 12 * HOUR));
        Route::Feed { entries, gone_from, hub: None, older: None }
    }

    /// Makes a page and all URLs that lead to it; returns the URL that a feed lists.
    pub(super) fn page(&mut self, name: &str, n: usize) -> String {
        self.pages += 1;
        let number = self.pages;
        let folder = match self.dice.between(0, 9) {
            0 => PRIVATE,
            1 => DRAFTS,
            _ => "/posts/",
        };
        let url = format!("https://{name}{folder}{number}");
        // The revision does not use `dice`, so that everything else in the run stays the same.
        let revised_from = (!self.steady && number.is_multiple_of(3)).then_some(number * 37 % 12 * HOUR + MINUTE);
        let image = Some(self.image(name, n, number));
        let mut page = Page { number, image, revised_from, ..Page::default() };
        let mut link = url.clone();
        match self.dice.between(0, 99) {
            0..=9 => {
                link = format!("http://{name}/go/{number}");
                self.world.routes.insert(link.clone(), Route::Redirect { to: url.clone(), status: 301 });
            }
            10..=17 => {
                // The link is a redirect on another host key.
                let other = self.dice.between(0, self.world.hosts.len() as u64 - 1);
                link = format!("https://h{other}.example/go/{number}");
                self.world.routes.insert(link.clone(), Route::Redirect { to: url.clone(), status: 302 });
            }
            18..=20 => {
                let to = (*self.dice.pick(&REFUSED)).to_owned();
                self.world.routes.insert(url, Route::Redirect { to, status: 302 });
                return link;
            }
            21..=23 => return format!("https://{name}/missing/{number}"),
            24..=33 => {
                // The page has two URLs, and names one of them as canonical.
                let twin = format!("https://{name}{folder}{number}-print");
                page.canonical = Some(url.clone());
                self.world.routes.insert(twin.clone(), Route::Page(page.clone()));
                link = twin;
            }
            34..=38 => page.short = true,
            39..=42 => page.noindex_from = Some(0),
            43..=45 => page.gone_from = Some((0, 410)),
            46..=57 if !self.steady => {
                page.noindex_from = Some(self.dice.between(MINUTE, 12 * HOUR));
                page.noindex_by_header = self.dice.percent(50);
            }
            58..=69 if !self.steady => {
                page.gone_from = Some((self.dice.between(MINUTE, 12 * HOUR), *self.dice.pick(&[404, 410])));
            }
            _ => {}
        }
        self.world.routes.insert(url, Route::Page(page));
        link
    }

    fn image(&mut self, name: &str, n: usize, number: u64) -> String {
        let at = match self.dice.between(0, 9) {
            0 if n > 0 => format!("https://h{}.example", n - 1),
            1 => return format!("{}.png", REFUSED[1]),
            _ => format!("https://{name}"),
        };
        // Some pages share an image.
        let url = format!("{at}/img/{}.png", if self.dice.percent(20) { 0 } else { number });
        self.world.routes.insert(url.clone(), Route::Image);
        url
    }
}

impl World {
    pub(super) fn empty() -> World {
        World {
            hosts: vec![],
            routes: BTreeMap::new(),
            robots: BTreeMap::new(),
            texts: vec![],
            named: vec![],
            hubs: vec![],
            owners: vec![],
            history: History::default(),
        }
    }

    /// Returns the content of the file that proves an owner's claim.
    pub(super) fn proof(&self, url: &Url, now: Moment) -> Option<String> {
        let host = url.host_str()?;
        let is_file = ownership::file_url(host, "https").is_some_and(|file| file == *url);
        let owner = self.owners.iter().find(|owner| is_file && owner.publishes(host, Way::File, now))?;
        Some(owner.challenge.to_string())
    }

    /// Returns the challenge on the home page of a site, and the feeds of that page, if the owner publishes the
    /// challenge there.
    pub(super) fn proving_home(&self, url: &Url, now: Moment) -> Option<(String, &[String])> {
        let host = url.host_str().filter(|_| url.path() == "/")?;
        let owner = self.owners.iter().find(|owner| owner.publishes(host, Way::Meta, now))?;
        let feeds = match self.routes.get(url.as_str()) {
            Some(Route::Home { feeds }) => feeds.as_slice(),
            _ => &[],
        };
        Some((format!("<meta name=\"{}\" content=\"{}\">", ownership::META, owner.challenge), feeds))
    }

    /// Returns the status of a hub's answer to a request, or `None` if there is no hub at this URL.
    pub(super) fn hub_status(&self, url: &str, now: Moment) -> Option<u16> {
        let hub = self.hubs.iter().find(|hub| hub.url == url)?;
        Some(if hub.gone_from.is_some_and(|from| from <= now) { 404 } else { 202 })
    }
}
