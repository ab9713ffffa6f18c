//! Sites with more articles than their feed lists. A crawler finds the older ones through links of RFC 5005, at the
//! usual addresses of a program, or through sitemaps. All documents are generated on request.

use crate::coding::Coding;
use crate::feeds::Format;
use crate::html::escape;
use crate::log::Kind;
use crate::reply::Reply;
use crate::uniform::UniformSite;
use bytes::Bytes;
use std::ops::Range;

/// Kind of a site with older articles; article 0 is the newest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Catalogue {
    /// WordPress: `/feed/` lists ten entries, `?paged=N` further ones, with a 404 after the last page.
    WordPress,
    /// Blogger: `/feeds/posts/default` lists 25 entries, with the parameters `start-index` and `max-results` (at most
    /// 150). Links to the next document on [`BLOGGER`], a host that all blogs share. Empty after the last entry.
    Blogger,
    /// Archived feed (RFC 5005 §4): `/feed.atom` lists ten entries, archive documents list 50 each.
    Archived,
    /// No feed: robots.txt names `/sitemap_index.xml`, which lists sitemaps of 250 pages; every second one is gzipped.
    /// The first has titles and dates of the news extension, all have images.
    Sitemap,
}

/// Host that Blogger's feeds name in addition to the blog's own host.
pub const BLOGGER: &str = "blogger-service.test";
/// Number of entries in WordPress' documents, and in the first document of the archived feed.
const SHORT: usize = 10;
const ARCHIVE: usize = 50;
/// Number of entries that Blogger lists by default, and at most.
const BLOGGER_ENTRIES: (usize, usize) = (25, 150);
const SITEMAP: usize = 250;

impl Catalogue {
    /// All kinds.
    pub const ALL: [Catalogue; 4] = [Catalogue::WordPress, Catalogue::Blogger, Catalogue::Archived, Catalogue::Sitemap];

    /// Returns the kind's name, which is part of its host name: `catalogue-NAME.test`.
    pub const fn name(self) -> &'static str {
        match self {
            Catalogue::WordPress => "wordpress",
            Catalogue::Blogger => "blogger",
            Catalogue::Archived => "archived",
            Catalogue::Sitemap => "sitemap",
        }
    }

    /// Returns the default number of articles.
    pub const fn pages(self) -> usize {
        if matches!(self, Catalogue::Sitemap) { 20_000 } else { 1_000 }
    }

    pub(crate) const fn feed(self) -> Option<(&'static str, Format)> {
        match self {
            Catalogue::WordPress => Some(("/feed/", Format::Rss2)),
            Catalogue::Blogger => Some(("/feeds/posts/default", Format::Atom)),
            Catalogue::Archived => Some(("/feed.atom", Format::Atom)),
            Catalogue::Sitemap => None,
        }
    }

    /// Returns the answer at a path of a site; `None` if there is no document.
    pub(crate) fn reply(self, site: &UniformSite, path: &str) -> Option<Reply> {
        let feed = self.feed();
        match (self, path.split('?').next().unwrap_or(path)) {
            (_, "/") => Some(Reply::home(site.home(feed))),
            (_, "/feed.xml") => None,
            (Catalogue::WordPress, "/feed/") => Some(wordpress(site, path)),
            (Catalogue::Blogger, "/feeds/posts/default") => Some(blogger(site, path)),
            (Catalogue::Archived, "/feed.atom") => Some(subscription(site)),
            (Catalogue::Archived, path) if path.starts_with("/archive/") => archive(site, path),
            (Catalogue::Sitemap, "/robots.txt") => Some(Reply::robots(format!(
                "User-agent: *\nDisallow:\n\nSitemap: {}/sitemap_index.xml\n",
                site.publisher.home()
            ))),
            (Catalogue::Sitemap, "/sitemap_index.xml") => Some(index(site)),
            (Catalogue::Sitemap, path) if path.starts_with("/sitemap-") => sitemap(site, path),
            (_, path) => site.reply(path),
        }
    }
}

/// Returns the number in a query parameter.
fn field(path: &str, name: &str) -> Option<usize> {
    let (_, query) = path.split_once('?')?;
    query.split('&').find_map(|field| field.strip_prefix(name)?.strip_prefix('=')?.parse().ok())
}

/// Returns a document of a feed. Newly published articles appear only in the first document.
fn document(site: &UniformSite, format: Format, path: &str, numbers: Range<usize>, hints: String) -> Reply {
    let is_first = numbers.start == 0;
    let doc = site.doc(format, path, numbers, hints);
    if is_first {
        return Reply::feed(doc);
    }
    Reply::new(Kind::Feed, 200, &format!("{}; charset=utf-8", format.media_type()), doc.write())
}

fn wordpress(site: &UniformSite, path: &str) -> Reply {
    let start = field(path, "paged").unwrap_or(1).saturating_sub(1).saturating_mul(SHORT);
    if start >= site.pages {
        return Reply::status(Kind::Feed, 404);
    }
    let generator = "<generator>https://wordpress.org/?v=6.8.3</generator>\n".to_owned();
    document(site, Format::Rss2, path, start..(start + SHORT).min(site.pages), generator)
}

fn blogger(site: &UniformSite, path: &str) -> Reply {
    let (usual, most) = BLOGGER_ENTRIES;
    let count = field(path, "max-results").unwrap_or(usual).min(most);
    let start = field(path, "start-index").unwrap_or(1).saturating_sub(1).min(site.pages);
    let end = (start + count).min(site.pages);
    let mut hints = format!(
        "<generator version=\"7.00\" uri=\"http://www.blogger.com\">Blogger</generator>\n<o:totalResults xmlns:o=\"http://a9.com/-/spec/opensearchrss/1.0/\">{}</o:totalResults>\n",
        site.pages
    );
    if end < site.pages {
        let next = format!("http://{BLOGGER}/feeds/posts/default?start-index={}&amp;max-results={count}", end + 1);
        hints.push_str(&format!("<link rel=\"next\" type=\"application/atom+xml\" href=\"{next}\"/>\n"));
    }
    document(site, Format::Atom, path, start..end, hints)
}

/// Returns the number of archive documents of a site; the first is the oldest.
fn archives(site: &UniformSite) -> usize {
    site.pages.saturating_sub(SHORT).div_ceil(ARCHIVE)
}

/// Returns a link to an archive document; empty if there is no document with that number.
fn archive_link(site: &UniformSite, relation: &str, number: usize) -> String {
    let exists = (1..=archives(site)).contains(&number);
    if exists { format!("<link rel=\"{relation}\" href=\"/archive/{number}.atom\"/>\n") } else { String::new() }
}

fn subscription(site: &UniformSite) -> Reply {
    let hints = archive_link(site, "prev-archive", archives(site));
    document(site, Format::Atom, "/feed.atom", 0..SHORT.min(site.pages), hints)
}

fn archive(site: &UniformSite, path: &str) -> Option<Reply> {
    let number: usize = path.strip_prefix("/archive/")?.strip_suffix(".atom")?.parse().ok()?;
    let newer = archives(site).checked_sub(number).filter(|_| number > 0)?;
    let hints = format!(
        "<fh:archive xmlns:fh=\"http://purl.org/syndication/history/1.0\"/>\n<link rel=\"current\" href=\"/feed.atom\"/>\n{}{}",
        archive_link(site, "prev-archive", number - 1),
        archive_link(site, "next-archive", number + 1)
    );
    let start = SHORT + newer * ARCHIVE;
    Some(document(site, Format::Atom, path, start..(start + ARCHIVE).min(site.pages), hints))
}

/// Returns the path of a sitemap; numbers start at 1.
fn sitemap_path(number: usize) -> String {
    let extension = if number.is_multiple_of(2) { "xml.gz" } else { "xml" };
    format!("/sitemap-{number}.{extension}")
}

fn index(site: &UniformSite) -> Reply {
    let sitemap = |number| {
        let loc = site.publisher.url(&sitemap_path(number));
        let at = site.date((number - 1) * SITEMAP).rfc3339();
        format!("<sitemap><loc>{loc}</loc><lastmod>{at}</lastmod></sitemap>\n")
    };
    let sitemaps: String = (1..=site.pages.div_ceil(SITEMAP)).map(sitemap).collect();
    let text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n{sitemaps}</sitemapindex>\n"
    );
    Reply::new(Kind::Sitemap, 200, "application/xml", text)
}

fn sitemap(site: &UniformSite, path: &str) -> Option<Reply> {
    let number: usize = path.strip_prefix("/sitemap-")?.split('.').next()?.parse().ok()?;
    let start = number.checked_sub(1)?.checked_mul(SITEMAP).filter(|start| *start < site.pages)?;
    if path != sitemap_path(number) {
        return None;
    }
    let page = |article| {
        let (loc, at) = (site.address(article), site.date(article).rfc3339());
        let image = site.publisher.image().unwrap_or_default();
        let news = if number == 1 { news(site, article) } else { String::new() };
        format!(
            "<url><loc>{loc}</loc><lastmod>{at}</lastmod><image:image><image:loc>{image}</image:loc></image:image>{news}</url>\n"
        )
    };
    let pages: String = (start..(start + SITEMAP).min(site.pages)).map(page).collect();
    let text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\" xmlns:image=\"http://www.google.com/schemas/sitemap-image/1.1\" xmlns:news=\"http://www.google.com/schemas/sitemap-news/0.9\">\n{pages}</urlset>\n"
    );
    let (media_type, body) = match path.ends_with(".gz") {
        true => ("application/gzip", Coding::Gzip.encode(text.as_bytes())),
        false => ("application/xml", Bytes::from(text)),
    };
    Some(Reply::new(Kind::Sitemap, 200, media_type, body))
}

fn news(site: &UniformSite, article: usize) -> String {
    let entry = site.entry(article);
    format!(
        "<news:news><news:publication><news:name>{}</news:name><news:language>{}</news:language></news:publication><news:publication_date>{}</news:publication_date><news:title>{}</news:title></news:news>",
        escape(site.publisher.name),
        site.publisher.bank.lang,
        site.date(article).rfc3339(),
        escape(entry.title.as_deref().unwrap_or_default())
    )
}
