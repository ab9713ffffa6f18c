//! Back catalogues of the model web: archives of feeds, sitemaps, and people who request them.

use super::dice::Dice;
use super::outsiders::HistoryRequest;
use super::world::{Entry, Maker, Named, Route, World};
use crate::bad_time::{HOUR, MINUTE};
use curlew_policy::address;
use curlew_policy::polling::backfill::is_same_host;
use url::Url;

/// Number of the first page of back catalogues, higher than the numbers of all other pages.
const FIRST_PAGE: u64 = 1_000;
const LARGE_PERCENT: u64 = 15;
const ASKED_PERCENT: u64 = 60;

/// Adds back catalogues to a web: archives to its feeds, sitemaps to its hosts, and some posts and feeds that appear
/// while the back catalogues are read.
pub(super) fn join(world: &mut World, seed: u64) {
    let made = std::mem::replace(world, World::empty());
    let mut maker = Maker { dice: Dice::new(seed, "history"), steady: false, pages: FIRST_PAGE, world: made };
    let is_feed = |(url, route): (&String, &Route)| matches!(route, Route::Feed { .. }).then(|| url.clone());
    let feeds: Vec<String> = maker.world.routes.iter().filter_map(is_feed).collect();
    for feed in feeds {
        maker.late_posts(&feed);
        if maker.dice.percent(60) {
            maker.archive(&feed);
        }
    }
    for host in 0..maker.world.hosts.len() {
        maker.sitemap(host);
    }
    for named in maker.world.named.clone() {
        if maker.dice.percent(ASKED_PERCENT) {
            let limit = maker.dice.percent(10).then(|| maker.dice.between(1, 9));
            let at = named.at + maker.dice.between(MINUTE, HOUR);
            maker.world.history.asked.push(HistoryRequest { url: named.url, at, limit });
        }
    }
    *world = maker.world;
}

impl Maker {
    /// Returns the index of the host of a URL, and the host name.
    fn place(&self, url: &str) -> (usize, String) {
        let name = url.split('/').nth(2).unwrap_or_default().to_owned();
        (self.world.hosts.iter().position(|host| host.names.contains(&name)).unwrap_or(0), name)
    }

    /// Adds pages to a host and returns their URLs. Nothing else names these pages.
    fn older(&mut self, (host, name): (usize, &str), count: u64) -> Vec<String> {
        let links: Vec<String> = (0..count).map(|_| self.page(name, host)).collect();
        let canonical = links.iter().filter_map(|link| address::parse(link, None).ok());
        let canonical: Vec<String> = canonical.map(|url| address::canonical(&url).into()).collect();
        self.world.history.pages.extend(canonical);
        links
    }

    /// Adds posts to a feed that appear while the run goes on.
    fn late_posts(&mut self, feed: &str) {
        let (host, name) = self.place(feed);
        for _ in 0..self.dice.between(0, 2) {
            let link = self.page(&name, host);
            let from = self.dice.between(MINUTE, 20 * HOUR);
            if let Some(Route::Feed { entries, .. }) = self.world.routes.get_mut(feed) {
                entries.push(Entry { link, from });
            }
        }
    }

    /// Adds a chain of older documents to a feed. Some chains have no end, or a document is missing.
    fn archive(&mut self, feed: &str) {
        let (host, name) = self.place(feed);
        let folder = if self.dice.percent(10) { "private/" } else { "" };
        let number = self.pages;
        let length = self.dice.between(1, 4);
        let urls: Vec<String> = (0..length).map(|n| format!("https://{name}/{folder}older/{number}-{n}.xml")).collect();
        let last = match self.dice.between(0, 9) {
            0 => Some(feed.to_owned()),
            1 => urls.first().cloned(),
            _ => None,
        };
        for (n, url) in urls.iter().enumerate() {
            self.world.history.documents.insert(url.clone());
            if self.dice.percent(5) {
                continue;
            }
            let count = self.dice.between(1, 5);
            let links = self.older((host, &name), count);
            let entries = links.into_iter().map(|link| Entry { link, from: 0 }).collect();
            let older = urls.get(n + 1).cloned().or(last.clone());
            self.world.routes.insert(url.clone(), Route::Feed { entries, gone_from: None, hub: None, older });
        }
        if let Some(Route::Feed { older, .. }) = self.world.routes.get_mut(feed) {
            *older = urls.into_iter().next();
        }
    }

    /// Adds a sitemap, or an index of some, to a host. While a large one is read, a new feed is named.
    fn sitemap(&mut self, host: usize) {
        let name = self.dice.pick(&self.world.hosts[host].names.clone()).clone();
        let at = |place: &str| format!("https://{name}/{place}");
        let usual = at("sitemap.xml");
        self.world.history.documents.extend([usual.clone(), at("sitemap_index.xml")]);
        if self.dice.percent(40) {
            return;
        }
        let is_large = self.dice.percent(LARGE_PERCENT);
        let maps: Vec<String> = (0..self.dice.between(1, 3)).map(|n| at(&format!("map-{n}.xml"))).collect();
        let is_index = !is_large && self.dice.percent(40);
        let maps = if is_index { maps } else { vec![usual.clone()] };
        for map in &maps {
            let count = if is_large { self.dice.between(50, 80) } else { self.dice.between(1, 6) };
            let links = self.older((host, &name), count);
            self.world.history.documents.insert(map.clone());
            self.world.routes.insert(map.clone(), Route::Sitemap { is_index: false, links });
        }
        if is_index {
            // Some indexes list themselves.
            let links = maps.into_iter().chain(self.dice.percent(20).then(|| usual.clone())).collect();
            self.world.routes.insert(usual, Route::Sitemap { is_index: true, links });
        }
        if is_large {
            self.busy_site(host, &name);
        }
    }

    /// Adds a site without a feed, whose sitemap is read, and a feed of the same host that is named meanwhile.
    fn busy_site(&mut self, host: usize, name: &str) {
        let home = format!("https://{name}/all/");
        self.world.routes.insert(home.clone(), Route::Home { feeds: vec![] });
        let at = self.dice.between(0, 2 * HOUR);
        self.world.named.push(Named { url: home.clone(), is_feed: false, at });
        let asked = at + self.dice.between(MINUTE, 40 * MINUTE);
        self.world.history.asked.push(HistoryRequest { url: home, at: asked, limit: None });
        let feed = format!("https://{name}/late.xml");
        let entries = (0..2).map(|_| Entry { link: self.page(name, host), from: 0 }).collect();
        self.world.routes.insert(feed.clone(), Route::Feed { entries, gone_from: None, hub: None, older: None });
        let named = asked + self.dice.between(0, 10 * MINUTE);
        self.world.named.push(Named { url: feed, is_feed: true, at: named });
    }
}

impl World {
    /// Returns the links that a backfill of the site or feed at `home` should take from an archive or a sitemap.
    pub(super) fn older_links(&self, document: &str, home: &Url) -> Vec<&str> {
        let is_ours = |link: &&str| Url::parse(link).is_ok_and(|link| is_same_host(&link, home));
        match self.routes.get(document) {
            Some(Route::Feed { entries, .. }) => entries.iter().map(|entry| entry.link.as_str()).collect(),
            Some(Route::Sitemap { is_index: false, links }) => {
                links.iter().map(String::as_str).filter(is_ours).collect()
            }
            _ => vec![],
        }
    }
}
