//! Feeds: their content, formats, and the damage that occurs in real ones.

use crate::date::{NEWEST, Stamp};
use crate::html::{escape, paragraphs};
use crate::publisher::{Post, Publisher, Style};
use serde_json::json;
use std::borrow::Cow;

/// An entry of a feed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Entry {
    pub(crate) link: String,
    pub(crate) id: Option<String>,
    pub(crate) title: Option<String>,
    pub(crate) summary: String,
    /// Full text as HTML, if the feed carries it.
    pub(crate) html: Option<String>,
    pub(crate) author: String,
    pub(crate) at: Option<Stamp>,
    pub(crate) category: Option<String>,
}

/// A feed before it is written.
#[derive(Clone, Debug)]
pub(crate) struct FeedDoc {
    pub(crate) format: Format,
    pub(crate) title: String,
    pub(crate) description: String,
    pub(crate) home: String,
    pub(crate) url: String,
    pub(crate) lang: String,
    pub(crate) image: Option<String>,
    /// Further elements of the channel, such as `<ttl>`, verbatim.
    pub(crate) hints: Cow<'static, str>,
    pub(crate) entries: Vec<Entry>,
    pub(crate) damage: Damage,
}

/// Feed formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Rss2,
    Atom,
    JsonFeed,
    Rdf,
    Rss091,
    Atom03,
}

impl Format {
    /// Returns its usual media type, also used as the `type` of its link in a page's head.
    pub(crate) const fn media_type(self) -> &'static str {
        match self {
            Format::Rss2 | Format::Rss091 => "application/rss+xml",
            Format::Atom | Format::Atom03 => "application/atom+xml",
            Format::JsonFeed => "application/feed+json",
            Format::Rdf => "application/rdf+xml",
        }
    }
}

/// Damage of a feed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Damage {
    #[default]
    None,
    /// `&` and `&nbsp;` stand unescaped in titles and texts.
    BareAmpersands,
    /// The document ends within the title of its last entry.
    CutShort,
    /// Blank lines and a comment stand before the XML declaration.
    LeadingText,
    /// The declaration says UTF-8, the bytes are ISO-8859-1.
    LatinAsUtf8,
}

impl Publisher {
    /// Returns an article as an entry of a feed.
    pub(crate) fn entry(&self, post: &Post) -> Entry {
        let id = match self.style {
            Style::WordPress => Some(format!("{}/?p={}", self.home(), 100 + post.number)),
            _ => Some(post.url.clone()),
        };
        Entry {
            link: post.url.clone(),
            id,
            title: post.title.clone(),
            summary: post.summary.clone(),
            html: Some(paragraphs(post)),
            author: post.author.clone(),
            at: Some(post.at),
            category: None,
        }
    }
}

impl FeedDoc {
    /// Returns the document's bytes.
    pub(crate) fn write(&self) -> Vec<u8> {
        let text = match self.format {
            Format::Rss2 => self.rss2(),
            Format::Atom => self.atom(),
            Format::JsonFeed => self.json(),
            Format::Rdf => self.rdf(),
            Format::Rss091 => self.rss091(),
            Format::Atom03 => self.atom03(),
        };
        damaged(text, self.damage)
    }

    pub(crate) fn newest(&self) -> Stamp {
        self.entries.iter().filter_map(|entry| entry.at).max().unwrap_or(Stamp::new(NEWEST, 0))
    }

    fn rss2(&self) -> String {
        let image = self.image.as_deref().map_or_else(String::new, |url| {
            format!(
                "<image><url>{}</url><title>{}</title><link>{}</link></image>\n",
                escape(url),
                escape(&self.title),
                escape(&self.home)
            )
        });
        let items: String = self.entries.iter().map(rss2_item).collect();
        format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<rss version=\"2.0\" xmlns:content=\"http://purl.org/rss/1.0/modules/content/\" xmlns:dc=\"http://purl.org/dc/elements/1.1/\" xmlns:atom=\"http://www.w3.org/2005/Atom\" xmlns:sy=\"http://purl.org/rss/1.0/modules/syndication/\">\n<channel>\n<title>{}</title>\n<link>{}</link>\n<description>{}</description>\n<language>{}</language>\n<atom:link href=\"{}\" rel=\"self\" type=\"application/rss+xml\"/>\n<lastBuildDate>{}</lastBuildDate>\n{}{image}{items}</channel>\n</rss>\n",
            escape(&self.title),
            escape(&self.home),
            escape(&self.description),
            self.lang,
            escape(&self.url),
            self.newest().http(),
            self.hints,
        )
    }

    fn atom(&self) -> String {
        let logo = self.image.as_deref().map_or_else(String::new, |url| format!("<logo>{}</logo>\n", escape(url)));
        let entries: String = self.entries.iter().map(atom_entry).collect();
        format!(
            "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<feed xmlns=\"http://www.w3.org/2005/Atom\" xml:lang=\"{}\">\n<title>{}</title>\n<subtitle>{}</subtitle>\n<id>{}</id>\n<link rel=\"alternate\" type=\"text/html\" href=\"{}\"/>\n<link rel=\"self\" type=\"application/atom+xml\" href=\"{}\"/>\n<updated>{}</updated>\n{}{logo}{entries}</feed>\n",
            self.lang,
            escape(&self.title),
            escape(&self.description),
            escape(&self.home),
            escape(&self.home),
            escape(&self.url),
            self.newest().rfc3339(),
            self.hints,
        )
    }

    fn json(&self) -> String {
        let items: Vec<serde_json::Value> = self
            .entries
            .iter()
            .map(|e| {
                json!({
                    "id": e.id.as_deref().unwrap_or(&e.link),
                    "url": e.link,
                    "title": e.title,
                    "summary": e.summary,
                    "content_html": e.html.clone().unwrap_or_else(|| format!("<p>{}</p>", escape(&e.summary))),
                    "date_published": e.at.map(Stamp::rfc3339),
                    "authors": [{ "name": e.author }],
                })
            })
            .collect();
        let doc = json!({
            "version": "https://jsonfeed.org/version/1.1",
            "title": self.title,
            "description": self.description,
            "home_page_url": self.home,
            "feed_url": self.url,
            "icon": self.image,
            "language": self.lang,
            "items": items,
        });
        format!("{doc:#}\n")
    }

    fn rdf(&self) -> String {
        let seq: String =
            self.entries.iter().map(|e| format!("<rdf:li rdf:resource=\"{}\"/>\n", escape(&e.link))).collect();
        let image = self.image.as_deref().map_or_else(String::new, |url| {
            let url = escape(url);
            let (title, home) = (escape(&self.title), escape(&self.home));
            format!("<image rdf:about=\"{url}\"><title>{title}</title><url>{url}</url><link>{home}</link></image>\n")
        });
        let items: String = self
            .entries
            .iter()
            .map(|e| {
                let date = e.at.map_or_else(String::new, |at| format!("<dc:date>{}</dc:date>", at.rfc3339()));
                format!(
                    "<item rdf:about=\"{}\">\n<title>{}</title>\n<link>{}</link>\n<description>{}</description>\n<dc:creator>{}</dc:creator>{date}\n</item>\n",
                    escape(&e.link),
                    escape(e.title.as_deref().unwrap_or("")),
                    escape(&e.link),
                    escape(&e.summary),
                    escape(&e.author),
                )
            })
            .collect();
        format!(
            "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\" xmlns=\"http://purl.org/rss/1.0/\" xmlns:dc=\"http://purl.org/dc/elements/1.1/\">\n<channel rdf:about=\"{}\">\n<title>{}</title>\n<link>{}</link>\n<description>{}</description>\n<dc:language>{}</dc:language>\n<items><rdf:Seq>\n{seq}</rdf:Seq></items>\n</channel>\n{image}{items}</rdf:RDF>\n",
            escape(&self.url),
            escape(&self.title),
            escape(&self.home),
            escape(&self.description),
            self.lang,
        )
    }

    fn rss091(&self) -> String {
        let image = self.image.as_deref().map_or_else(String::new, |url| {
            let (title, home) = (escape(&self.title), escape(&self.home));
            format!("<image><title>{title}</title><url>{}</url><link>{home}</link></image>\n", escape(url))
        });
        let items: String = self
            .entries
            .iter()
            .map(|e| {
                let title = escape(e.title.as_deref().unwrap_or(""));
                let (link, text) = (escape(&e.link), escape(&e.summary));
                format!("<item><title>{title}</title><link>{link}</link><description>{text}</description></item>\n")
            })
            .collect();
        format!(
            "<?xml version=\"1.0\"?>\n<rss version=\"0.91\">\n<channel>\n<title>{}</title>\n<link>{}</link>\n<description>{}</description>\n<language>{}</language>\n{image}{items}</channel>\n</rss>\n",
            escape(&self.title),
            escape(&self.home),
            escape(&self.description),
            self.lang,
        )
    }

    fn atom03(&self) -> String {
        let entries: String = self
            .entries
            .iter()
            .map(|e| {
                let at = e.at.unwrap_or_else(|| self.newest()).rfc3339();
                format!(
                    "<entry>\n<title mode=\"escaped\">{}</title>\n<link rel=\"alternate\" type=\"text/html\" href=\"{}\"/>\n<id>{}</id>\n<issued>{at}</issued>\n<modified>{at}</modified>\n<author><name>{}</name></author>\n<summary type=\"text/plain\">{}</summary>\n</entry>\n",
                    escape(e.title.as_deref().unwrap_or("")),
                    escape(&e.link),
                    escape(e.id.as_deref().unwrap_or(&e.link)),
                    escape(&e.author),
                    escape(&e.summary),
                )
            })
            .collect();
        format!(
            "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<feed version=\"0.3\" xmlns=\"http://purl.org/atom/ns#\" xml:lang=\"{}\">\n<title>{}</title>\n<tagline>{}</tagline>\n<link rel=\"alternate\" type=\"text/html\" href=\"{}\"/>\n<modified>{}</modified>\n{entries}</feed>\n",
            self.lang,
            escape(&self.title),
            escape(&self.description),
            escape(&self.home),
            self.newest().rfc3339(),
        )
    }
}

fn element(name: &str, value: Option<&str>) -> String {
    value.map_or_else(String::new, |text| format!("<{name}>{}</{name}>\n", escape(text)))
}

fn rss2_item(e: &Entry) -> String {
    let guid = e.id.as_deref().map_or_else(String::new, |id| {
        let permalink = id == e.link;
        format!("<guid isPermaLink=\"{permalink}\">{}</guid>\n", escape(id))
    });
    let content = e
        .html
        .as_deref()
        .map_or_else(String::new, |html| format!("<content:encoded><![CDATA[{html}]]></content:encoded>\n"));
    format!(
        "<item>\n{}<link>{}</link>\n{guid}{}{}{}<description>{}</description>\n{content}</item>\n",
        element("title", e.title.as_deref()),
        escape(&e.link),
        element("dc:creator", Some(e.author.as_str()).filter(|a| !a.is_empty())),
        element("pubDate", e.at.map(Stamp::http).as_deref()),
        element("category", e.category.as_deref()),
        escape(&e.summary),
    )
}

fn atom_entry(e: &Entry) -> String {
    let at = e.at.unwrap_or(Stamp::new(NEWEST, 0)).rfc3339();
    let content = e
        .html
        .as_deref()
        .map_or_else(String::new, |html| format!("<content type=\"html\">{}</content>\n", escape(html)));
    format!(
        "<entry>\n<title>{}</title>\n<link rel=\"alternate\" type=\"text/html\" href=\"{}\"/>\n<id>{}</id>\n<published>{at}</published>\n<updated>{at}</updated>\n<author><name>{}</name></author>\n<summary>{}</summary>\n{content}</entry>\n",
        escape(e.title.as_deref().unwrap_or("")),
        escape(&e.link),
        escape(e.id.as_deref().unwrap_or(&e.link)),
        escape(&e.author),
        escape(&e.summary),
    )
}

fn damaged(text: String, damage: Damage) -> Vec<u8> {
    match damage {
        Damage::None => text.into_bytes(),
        Damage::BareAmpersands => {
            text.replace("&amp;", "&").replace("<description>", "<description>Bread & butter,&nbsp;").into_bytes()
        }
        Damage::CutShort => {
            // Cuts after the opening of the last entry's title, so that this entry has no link yet.
            let cut = text.rfind("<item>\n<title>").map_or(text.len(), |at| at + "<item>\n<title>".len() + 6);
            let cut = (cut..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
            text.into_bytes()[..cut].to_vec()
        }
        Damage::LeadingText => format!("\n\n<!-- cached copy -->\n{text}").into_bytes(),
        Damage::LatinAsUtf8 => latin1(&text),
    }
}

/// Encodes as ISO-8859-1; typographic marks become the nearest ASCII, other characters become `?`.
pub(crate) fn latin1(text: &str) -> Vec<u8> {
    text.chars()
        .map(|c| match c {
            '’' | '‘' => b'\'',
            '“' | '”' => b'"',
            '–' | '—' => b'-',
            c => u8::try_from(u32::from(c)).unwrap_or(b'?'),
        })
        .collect()
}
