//! Parses XML sitemaps as tolerantly as feeds: by the local names of elements, in any namespace, closed or not.

use super::{Sitemap, SitemapLimits, SitemapLink, SitemapUrl};
use crate::token::{Token, Tokens};
use crate::{NotAFeed, link, text, work::Work};
use curlew_text::references;
use std::collections::BTreeMap;
use url::Url;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum NotXml {
    #[error("it is a feed")]
    Feed,
    #[error("{0}")]
    Other(NotAFeed),
    #[error("there is no element in it")]
    NoElement,
}

pub(super) fn read(text: &str, url: &Url, limits: &SitemapLimits) -> Result<Sitemap, NotXml> {
    let work = Work::default();
    let mut tokens = Tokens::new(text, &work);
    let mut reader = Reader::new(url, limits, find_root(&mut tokens)?);
    while !reader.is_over {
        match tokens.next() {
            Some(Token::Start(tag)) => {
                reader.start(tag.name);
                if tag.empty {
                    reader.end(tag.name);
                }
            }
            Some(Token::End(name)) => reader.end(name),
            Some(Token::Text(text)) => reader.text(text, true),
            Some(Token::CData(text)) => reader.text(text, false),
            None => {
                reader.stop();
                reader.out.is_cut = true;
            }
        }
    }
    Ok(reader.out)
}

/// Skips everything before the root element of a sitemap, and returns that element's name.
fn find_root<'a>(tokens: &mut Tokens<'a>) -> Result<&'a str, NotXml> {
    let (mut first, mut in_page) = (None, false);
    while let Some(token) = tokens.next() {
        let Token::Start(tag) = token else { continue };
        let name = local(tag.name).to_ascii_lowercase();
        let is_root = match name.as_str() {
            "rss" | "feed" | "rdf" => return Err(NotXml::Feed),
            "urlset" | "sitemapindex" => true,
            // An entry without a root must be the document's first element.
            "url" | "sitemap" => first.is_none(),
            "html" if !in_page && !["<urlset", "<sitemapindex"].iter().any(|root| tokens.rest().contains(root)) => {
                return Err(NotXml::Other(NotAFeed::WebPage));
            }
            _ => false,
        };
        if is_root {
            tokens.rewind();
            return Ok(tag.name);
        }
        in_page |= name == "html";
        if matches!(name.as_str(), "script" | "style" | "textarea") {
            tokens.pass_over(tag.name);
        }
        first.get_or_insert(tag.name);
    }
    Err(first.map_or(NotXml::NoElement, |name| NotXml::Other(NotAFeed::beginning_with(local(name)))))
}

struct Reader<'a> {
    url: &'a Url,
    limits: &'a SitemapLimits,
    /// Name of the root element, as written.
    root: &'a str,
    /// Raw texts of the open entry, by field.
    entry: Option<BTreeMap<&'static str, String>>,
    /// True if the open entry is a sitemap in an index.
    is_sitemap: bool,
    /// Extension in progress: `news` or `image`.
    extension: Option<&'static str>,
    field: Option<&'static str>,
    begun: usize,
    is_over: bool,
    out: Sitemap,
}

impl<'a> Reader<'a> {
    fn new(url: &'a Url, limits: &'a SitemapLimits, root: &'a str) -> Reader<'a> {
        let (entry, is_sitemap, extension, field) = (None, false, None, None);
        let (begun, is_over, out) = (0, false, Sitemap::default());
        Reader { url, limits, root, entry, is_sitemap, extension, field, begun, is_over, out }
    }

    fn start(&mut self, name: &str) {
        let local = local(name);
        let is = |known: &str| local.eq_ignore_ascii_case(known);
        self.field = None;
        if is("url") || is("sitemap") {
            self.begin(is("sitemap") || self::local(self.root).eq_ignore_ascii_case("sitemapindex"));
        } else if is("news") {
            self.extension = Some("news");
        } else if is("image") {
            self.extension = Some("image");
        } else {
            self.field = match self.extension {
                None if is("loc") => Some("loc"),
                None if is("lastmod") => Some("lastmod"),
                Some("news") if is("title") => Some("title"),
                Some("news") if is("publication_date") => Some("published"),
                Some("image") if is("loc") => Some("image"),
                _ => None,
            };
            // The first non-empty value of a field wins.
            let entry = self.entry.as_ref();
            let is_empty = |field: &&str| entry.is_some_and(|texts| texts.get(field).is_none_or(String::is_empty));
            self.field = self.field.filter(is_empty);
        }
    }

    fn end(&mut self, name: &str) {
        self.field = None;
        let local = local(name);
        let is = |known: &str| local.eq_ignore_ascii_case(known);
        if is("news") || is("image") {
            self.extension = None;
        } else if is("url") || is("sitemap") {
            self.close();
        } else if self.root.eq_ignore_ascii_case(name) {
            self.stop();
        }
    }

    fn text(&mut self, text: &str, has_references: bool) {
        let Some((field, entry)) = self.field.zip(self.entry.as_mut()) else { return };
        // More than any value can need, even if most of it is references.
        let max_bytes = self.limits.url_bytes.max(self.limits.title_chars).saturating_mul(8);
        let into = entry.entry(field).or_default();
        let text = &text[..text.floor_char_boundary(max_bytes.saturating_sub(into.len()))];
        into.push_str(&if has_references { references::decode(text) } else { text.into() });
    }

    fn begin(&mut self, is_sitemap: bool) {
        self.close();
        if self.begun == self.limits.urls {
            (self.out.is_cut, self.is_over) = (true, true);
            return;
        }
        self.begun += 1;
        (self.entry, self.is_sitemap) = (Some(BTreeMap::new()), is_sitemap);
    }

    fn close(&mut self) {
        self.extension = None;
        let Some(texts) = self.entry.take() else { return };
        let text = |field| texts.get(field).map_or("", String::as_str);
        let resolve = |field| link::resolve(text(field), self.url, self.limits.url_bytes);
        let date = |field| Some(text(field)).filter(|text| text.len() <= MAX_DATE).and_then(|it| text::date(it, None));
        let Some(loc) = resolve("loc") else { return };
        let lastmod = date("lastmod");
        // Some list further sitemaps as if they were pages.
        let path = loc.split(['?', '#']).next().unwrap_or_default();
        if self.is_sitemap || path.ends_with(".xml") || path.ends_with(".xml.gz") {
            return self.out.sitemaps.push(SitemapLink { loc, lastmod });
        }
        let title = text::plain(text("title"), false, self.limits.title_chars);
        let (published, image) = (date("published"), resolve("image"));
        self.out.pages.push(SitemapUrl { loc, lastmod, title, published, image });
    }

    /// Stops parsing, and drops a text that is still open and therefore incomplete.
    fn stop(&mut self) {
        if let Some((field, entry)) = self.field.zip(self.entry.as_mut()) {
            entry.remove(field);
        }
        self.close();
        self.is_over = true;
    }
}

const MAX_DATE: usize = 100;

fn local(name: &str) -> &str {
    name.split_once(':').map_or(name, |(_, local)| local)
}
