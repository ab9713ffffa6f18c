//! Publishers of sites, and their articles.

use crate::date::{NEWEST, Stamp};
use crate::text::{self, Bank};
use image::ImageFormat;

/// Number of the first article that is published while the server runs.
pub(crate) const FRESH: usize = 10_000;

/// Identity of a site: the properties of all its pages.
#[derive(Clone, Debug)]
pub(crate) struct Publisher {
    /// Host of the home page and the feeds.
    pub(crate) host: String,
    /// Host of the articles.
    pub(crate) page_host: String,
    pub(crate) name: &'static str,
    pub(crate) tagline: &'static str,
    pub(crate) bank: &'static Bank,
    pub(crate) style: Style,
    pub(crate) pictures: Pictures,
}

/// Location of a site's pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pictures {
    /// Each article has a picture, on the articles' host.
    Own,
    /// Articles have no pictures; the home page and the feed name one for the site.
    OfTheSite,
    /// There are no pictures.
    None,
    /// Each article has a picture, on this other host.
    Elsewhere(&'static str),
}

impl Publisher {
    pub(crate) fn home(&self) -> String {
        format!("http://{}", self.host)
    }

    pub(crate) fn seed(&self) -> u64 {
        text::fnv(self.host.as_bytes())
    }

    pub(crate) fn image(&self) -> Option<String> {
        (self.pictures != Pictures::None).then(|| format!("{}/images/site.png", self.home()))
    }

    /// Returns the absolute address of a path on the articles' host.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.page_host)
    }

    pub(crate) fn post(&self, number: usize) -> Post {
        let prose = text::article(self.bank, self.seed(), number);
        let at = self.date(number);
        let slug = match text::slug(&prose.title) {
            plain if plain.len() > 2 => plain,
            _ => format!("note-{number}"),
        };
        let slug = if number >= FRESH { format!("{slug}-{}", number - FRESH) } else { slug };
        let url = self.url(&self.path(&slug, at));
        let form = if self.seed() & 1 == 0 { ImageFormat::Jpeg } else { ImageFormat::Png };
        let picture_host = match self.pictures {
            Pictures::Own => Some(self.page_host.as_str()),
            Pictures::Elsewhere(host) => Some(host),
            Pictures::OfTheSite | Pictures::None => None,
        };
        Post {
            number,
            summary: prose.summary(),
            title: Some(prose.title),
            author: prose.author,
            paragraphs: prose.paragraphs,
            at,
            url,
            picture: picture_host.map(|host| format!("http://{host}/images/{slug}.{}", form.extensions_str()[0])),
            head: String::new(),
            canonical: None,
        }
    }

    fn date(&self, number: usize) -> Stamp {
        let second = 21_600 + (self.seed() >> 8) as u32 % 43_200;
        if number >= FRESH {
            return Stamp::new(NEWEST, second);
        }
        let step = 3 + (self.seed() >> 16) as i64 % 23;
        Stamp::new(NEWEST - 1 - number as i64 * step, second)
    }

    fn path(&self, slug: &str, at: Stamp) -> String {
        let (year, month) = (at.day().year(), at.day().month());
        match self.style {
            Style::WordPress => format!("/{year}/{month:02}/{slug}/"),
            Style::JsonLd => format!("/news/{year}/{slug}.html"),
            Style::Microdata => format!("/articles/{slug}"),
            Style::OpenGraph => format!("/{slug}"),
            Style::Plain => format!("/{slug}.html"),
        }
    }
}

/// Markup of a site's articles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// WordPress with a block theme.
    WordPress,
    /// schema.org Article in Microdata.
    Microdata,
    /// schema.org NewsArticle in JSON-LD, and Open Graph.
    JsonLd,
    /// Open Graph in the head, `div`s in the body.
    OpenGraph,
    /// HTML5 elements and nothing else.
    Plain,
}

/// Data of an article for a template.
#[derive(Clone, Debug)]
pub(crate) struct Post {
    pub(crate) number: usize,
    /// `None` omits every form of the title.
    pub(crate) title: Option<String>,
    pub(crate) author: String,
    pub(crate) paragraphs: Vec<String>,
    pub(crate) summary: String,
    pub(crate) at: Stamp,
    pub(crate) url: String,
    /// Absolute URL of the picture.
    pub(crate) picture: Option<String>,
    /// Additional HTML for the head, verbatim.
    pub(crate) head: String,
    /// Canonical address, if it differs from `url`.
    pub(crate) canonical: Option<String>,
}
