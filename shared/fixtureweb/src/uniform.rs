//! Identical sites for measurements: any number of hosts, pages and bytes, generated on request.

use crate::date::{NEWEST, Stamp};
use crate::feeds::{Damage, Entry, FeedDoc, Format};
use crate::html::{self, FeedLink};
use crate::publisher::{Pictures, Post, Publisher, Style};
use crate::reply::{Body, Reply};
use crate::text::{self, Bank, Mixer};
use bytes::Bytes;
use image::ImageFormat;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// Number of different pictures in uniform farms; drawing pictures is not part of the measurement.
const PICTURES: usize = 16;

/// Number of days over which the articles of uniform farms are spread.
const DAYS: i64 = 600;

/// Number of rounds for an article's middle: about 600 words.
const ROUNDS: usize = 5;

/// Number of sixteen-digit numbers in a link's key, on pages that compress like real ones.
const KEY_WORDS: usize = 9;

/// Size of a uniform farm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uniform {
    /// Number of sites, each with its own registrable domain.
    pub hosts: usize,
    /// Number of entries in each site's only feed, each with its own page.
    pub pages: usize,
    /// Minimum size of each page in bytes; the article itself has about 5 KB, and the rest is page furniture like that
    /// of real pages.
    pub bytes: usize,
    /// True if each page has a picture (two calls per page); otherwise only the site has one (one call per page).
    pub images: bool,
    /// Prefix of the host names, as in `PREFIX-0001.test`.
    pub prefix: String,
}

impl Default for Uniform {
    fn default() -> Uniform {
        Uniform { hosts: 100, pages: 10, bytes: 100 * 1024, images: true, prefix: "uniform".to_owned() }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct UniformSite {
    pub(crate) publisher: Publisher,
    pub(crate) pages: usize,
    images: bool,
    /// Number of days over which the articles are spread.
    days: i64,
    shared: Arc<PageParts>,
    /// The feed of all articles, once it is made: tens of thousands of entries take the better part of a second.
    feed: Arc<OnceLock<Reply>>,
}

#[derive(Debug)]
struct PageParts {
    script: Bytes,
    furniture: LinkLists,
}

#[derive(Debug)]
enum LinkLists {
    /// Lists that are the same on each page; such pages compress far better than real ones.
    Same(Bytes),
    /// Length in bytes of lists with different keys on each page: zstd reduces such a page to about a fifth.
    Keyed(usize),
}

/// Returns the sites with these numbers; with `keyed`, their furniture compresses only as well as that of real pages.
pub(crate) fn sites(
    spec: &Uniform,
    numbers: impl IntoIterator<Item = usize>,
    keyed: bool,
) -> impl Iterator<Item = UniformSite> {
    let shared = Arc::new(shared(spec.bytes, keyed));
    let banks: [&'static Bank; 4] = [&text::MONTAGNA, &text::HARBOUR, &text::BORGO, &text::CYCLING];
    numbers.into_iter().map(move |i| {
        let host = format!("{}-{i:04}.test", spec.prefix);
        let publisher = Publisher {
            host: host.clone(),
            page_host: host,
            name: "The Even Gazette",
            tagline: "One of many papers that are all alike.",
            bank: banks[i % banks.len()],
            style: Style::JsonLd,
            pictures: if spec.images { Pictures::Own } else { Pictures::OfTheSite },
        };
        UniformSite {
            publisher,
            pages: spec.pages,
            images: spec.images,
            days: DAYS,
            shared: Arc::clone(&shared),
            feed: Arc::default(),
        }
    })
}

impl UniformSite {
    /// Returns a site without pictures that has this number of articles, spread over as many days as needed.
    pub(crate) fn long(host: String, pages: usize) -> UniformSite {
        let publisher = Publisher {
            page_host: host.clone(),
            host,
            name: "The Long Gazette",
            tagline: "Everything that was ever printed, kept in order.",
            bank: &text::HARBOUR,
            style: Style::JsonLd,
            pictures: Pictures::OfTheSite,
        };
        UniformSite {
            publisher,
            pages,
            images: false,
            days: i64::MAX,
            shared: Arc::new(shared(0, false)),
            feed: Arc::default(),
        }
    }

    /// Returns the answer at a path; `None` if there is no document.
    pub(crate) fn reply(&self, path: &str) -> Option<Reply> {
        let path = path.split('?').next().unwrap_or(path);
        match path {
            "/" => Some(Reply::home(self.home(Some(("/feed.xml", Format::Rss2))))),
            "/robots.txt" => Some(Reply::robots("User-agent: *\nDisallow:\n")),
            "/feed.xml" => Some(self.feed()),
            "/images/site.png" => Some(Reply::picture(0, ImageFormat::Png)),
            _ => {
                if let Some(number) = path.strip_prefix("/images/").and_then(|rest| number(rest, ".jpg")) {
                    let seed = (number % PICTURES) as u64;
                    return (self.images && number < self.pages).then(|| Reply::picture(seed, ImageFormat::Jpeg));
                }
                let number = path.strip_prefix("/news/").and_then(|rest| number(rest, ".html"))?;
                (number < self.pages).then(|| self.page(number))
            }
        }
    }

    /// Returns the feed of all articles.
    pub(crate) fn feed(&self) -> Reply {
        let make = || Reply::feed(self.doc(Format::Rss2, "/feed.xml", 0..self.pages, String::new()));
        self.feed.get_or_init(make).clone()
    }

    fn post(&self, number: usize) -> Post {
        let prose = text::longer_article(self.publisher.bank, self.publisher.seed(), number, ROUNDS);
        Post {
            number,
            summary: prose.summary(),
            title: Some(format!("{} ({number})", prose.title)),
            author: prose.author,
            paragraphs: prose.paragraphs,
            at: self.date(number),
            url: self.address(number),
            picture: self.images.then(|| self.publisher.url(&format!("/images/{number}.jpg"))),
            head: String::new(),
            canonical: None,
        }
    }

    fn page(&self, number: usize) -> Reply {
        let html = html::article(&self.publisher, Style::JsonLd, &self.post(number));
        let (head, rest) = html.split_once("</head>").unwrap_or((html.as_str(), ""));
        let (main, foot) = rest.split_once("</main>").unwrap_or((rest, ""));
        let pieces = vec![
            Bytes::from(head.to_owned()),
            self.shared.script.clone(),
            Bytes::from(format!("</head>{main}</main>")),
            self.furniture(number),
            Bytes::from(foot.to_owned()),
        ];
        Reply::page("").body(Body::Pieces(pieces))
    }

    fn furniture(&self, number: usize) -> Bytes {
        match &self.shared.furniture {
            LinkLists::Same(bytes) => bytes.clone(),
            LinkLists::Keyed(bytes) => {
                let mut mixer = Mixer::new(self.publisher.seed() ^ (number as u64).rotate_left(32));
                let mut key = || (0..KEY_WORDS).map(|_| format!("{:016x}", mixer.next())).collect::<String>();
                Bytes::from(furniture(*bytes, || format!(" data-key=\"{}\"", key())))
            }
        }
    }

    pub(crate) fn home(&self, feed: Option<(&str, Format)>) -> String {
        let link = |(path, format): (&str, Format)| FeedLink {
            title: self.publisher.name.to_owned(),
            url: format!("{}{path}", self.publisher.home()),
            media_type: format.media_type(),
        };
        let links: Vec<FeedLink> = feed.map(link).into_iter().collect();
        html::home(&self.publisher, &links, self.publisher.image().as_deref(), &[])
    }

    pub(crate) fn address(&self, number: usize) -> String {
        self.publisher.url(&format!("/news/{number}.html"))
    }

    /// Returns the publication time of an article: four per day; higher numbers are older.
    pub(crate) fn date(&self, number: usize) -> Stamp {
        Stamp::new(NEWEST - (number / 4) as i64 % self.days, 28_800 + (number % 4) as u32 * 7_200)
    }

    /// Returns the feed entry of an article.
    pub(crate) fn entry(&self, number: usize) -> Entry {
        let prose = text::article(self.publisher.bank, self.publisher.seed(), number);
        let link = self.address(number);
        Entry {
            id: Some(link.clone()),
            link,
            title: Some(format!("{} ({number})", prose.title)),
            summary: prose.summary(),
            html: None,
            author: prose.author,
            at: Some(self.date(number)),
            category: None,
        }
    }

    /// Returns a feed with the articles of these numbers.
    pub(crate) fn doc(&self, format: Format, path: &str, numbers: Range<usize>, hints: String) -> FeedDoc {
        FeedDoc {
            format,
            title: self.publisher.name.to_owned(),
            description: self.publisher.tagline.to_owned(),
            home: format!("{}/", self.publisher.home()),
            url: format!("{}{path}", self.publisher.home()),
            lang: self.publisher.bank.lang.to_owned(),
            image: self.publisher.image(),
            hints: hints.into(),
            entries: numbers.map(|number| self.entry(number)).collect(),
            damage: Damage::None,
        }
    }
}

fn number(name: &str, extension: &str) -> Option<usize> {
    name.strip_suffix(extension)?.parse().ok()
}

/// Returns the script and furniture that fill a page up to its size: a third script and data, the rest lists of links.
fn shared(bytes: usize, keyed: bool) -> PageParts {
    const ARTICLE: usize = 9 * 1024;
    let filler = bytes.saturating_sub(ARTICLE);
    let mut script = String::from("<script>\nwindow.gazette = {};\n");
    let mut i = 0;
    while script.len() < filler / 3 {
        script.push_str(&format!("gazette.slot{i} = {{ id: {i}, sizes: [[320, 50], [728, 90]], lazy: true }};\n"));
        i += 1;
    }
    script.push_str("</script>\n");
    let rest = filler.saturating_sub(script.len());
    let furniture = match keyed {
        true => LinkLists::Keyed(rest),
        false => LinkLists::Same(Bytes::from(furniture(rest, String::new))),
    };
    PageParts { script: Bytes::from(script), furniture }
}

/// Returns at least `bytes` bytes of links; `key` returns an additional attribute for each link.
fn furniture(bytes: usize, mut key: impl FnMut() -> String) -> String {
    let mut furniture = String::from("<section class=\"related\">\n<ul>\n");
    let mut i = 0;
    while furniture.len() < bytes {
        let key = key();
        furniture.push_str(&format!(
            "<li class=\"card card--small\" data-position=\"{i}\"{key}><a class=\"card__link\" href=\"/topic/{i}\"><span class=\"card__label\">Topic {i}</span></a></li>\n"
        ));
        i += 1;
    }
    furniture.push_str("</ul>\n</section>\n");
    furniture
}
