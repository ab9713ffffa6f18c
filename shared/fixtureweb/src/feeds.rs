//! Feeds: their content, their formats, and damage as in real feeds.

use crate::date::{NEWEST, Stamp};
use crate::html::{escape, paragraphs};
use crate::publisher::{Post, Publisher, Style};
use serde_json::json;
use std::borrow::Cow;

#[derive(Clone, Debug, Default)]
pub(crate) struct Entry {
    pub(crate) link: String,
    pub(crate) id: Option<String>,
    pub(crate) title: Option<String>,
    pub(crate) summary: String,
    /// Full text as HTML, if the feed includes it.
    pub(crate) html: Option<String>,
    pub(crate) author: String,
    pub(crate) at: Option<Stamp>,
    pub(crate) category: Option<String>,
}

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

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Format {
    #[default]
    Rss2,
    Atom,
    JsonFeed,
    Rdf,
    Rss091,
    Atom03,
}

impl Format {
    /// Returns the usual media type, also used as the `type` of the feed's link in a page's head.
    pub(crate) const fn media_type(self) -> &'static str {
        match self {
            Format::Rss2 | Format::Rss091 => "application/rss+xml",
            Format::Atom | Format::Atom03 => "application/atom+xml",
            Format::JsonFeed => "application/feed+json",
            Format::Rdf => "application/rdf+xml",
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Damage {
    #[default]
    None,
    /// Titles and texts have unescaped `&` and `&nbsp;`.
    BareAmpersands,
    /// The document ends within the title of its last entry.
    CutShort,
    /// Blank lines and a comment precede the XML declaration.
    LeadingText,
    /// The XML declaration says UTF-8, but the bytes are ISO-8859-1.
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
    pub(crate) fn write(&self) -> Vec<u8> {
        let text = match self.format {
            Format::Rss2 => self.escaped().rss2(),
            Format::Atom => self.escaped().atom(),
            Format::JsonFeed => self.json(),
            Format::Rdf => self.escaped().rdf(),
            Format::Rss091 => self.escaped().rss091(),
            Format::Atom03 => self.escaped().atom03(),
        };
        damaged(text, self.damage)
    }

    pub(crate) fn newest(&self) -> Stamp {
        self.entries.iter().filter_map(|entry| entry.at).max().unwrap_or(Stamp::new(NEWEST, 0))
    }

    /// Returns the same feed with its texts escaped for XML, except the full texts of its entries.
    fn escaped(&self) -> FeedDoc {
        let optional = |text: &Option<String>| text.as_deref().map(escape);
        let entries = self.entries.iter().map(|entry| Entry {
            link: escape(&entry.link),
            id: optional(&entry.id),
            title: optional(&entry.title),
            summary: escape(&entry.summary),
            author: escape(&entry.author),
            category: optional(&entry.category),
            ..entry.clone()
        });
        FeedDoc {
            title: escape(&self.title),
            description: escape(&self.description),
            home: escape(&self.home),
            url: escape(&self.url),
            image: optional(&self.image),
            entries: entries.collect(),
            ..self.clone()
        }
    }

    fn items(&self, item: impl Fn(&Entry) -> String) -> String {
        self.entries.iter().map(item).collect()
    }

    /// Returns the element for the feed's image; empty if it has none.
    fn image(&self, element: impl Fn(&str) -> String) -> String {
        self.image.as_deref().map(element).unwrap_or_default()
    }

    fn rss2(&self) -> String {
        let FeedDoc { title, description, home, url, lang, hints, .. } = self;
        let built = self.newest().http();
        let image =
            self.image(|url| format!("<image><url>{url}</url><title>{title}</title><link>{home}</link></image>\n"));
        let items = self.items(rss2_item);
        format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
             <rss version=\"2.0\" xmlns:content=\"http://purl.org/rss/1.0/modules/content/\" xmlns:dc=\"http://purl.org/dc/elements/1.1/\" xmlns:atom=\"http://www.w3.org/2005/Atom\" xmlns:sy=\"http://purl.org/rss/1.0/modules/syndication/\">\n\
             <channel>\n<title>{title}</title>\n<link>{home}</link>\n<description>{description}</description>\n\
             <language>{lang}</language>\n<atom:link href=\"{url}\" rel=\"self\" type=\"application/rss+xml\"/>\n\
             <lastBuildDate>{built}</lastBuildDate>\n{hints}{image}{items}</channel>\n</rss>\n"
        )
    }

    fn atom(&self) -> String {
        let FeedDoc { title, description, home, url, lang, hints, .. } = self;
        let updated = self.newest().rfc3339();
        let logo = self.image(|url| format!("<logo>{url}</logo>\n"));
        let entries = self.items(atom_entry);
        format!(
            "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n\
             <feed xmlns=\"http://www.w3.org/2005/Atom\" xml:lang=\"{lang}\">\n<title>{title}</title>\n\
             <subtitle>{description}</subtitle>\n<id>{home}</id>\n\
             <link rel=\"alternate\" type=\"text/html\" href=\"{home}\"/>\n\
             <link rel=\"self\" type=\"application/atom+xml\" href=\"{url}\"/>\n<updated>{updated}</updated>\n\
             {hints}{logo}{entries}</feed>\n"
        )
    }

    fn json(&self) -> String {
        let item = |e: &Entry| {
            json!({
                "id": e.id.as_deref().unwrap_or(&e.link),
                "url": e.link,
                "title": e.title,
                "summary": e.summary,
                "content_html": e.html.clone().unwrap_or_else(|| format!("<p>{}</p>", escape(&e.summary))),
                "date_published": e.at.map(Stamp::rfc3339),
                "authors": [{ "name": e.author }],
            })
        };
        let doc = json!({
            "version": "https://jsonfeed.org/version/1.1",
            "title": self.title,
            "description": self.description,
            "home_page_url": self.home,
            "feed_url": self.url,
            "icon": self.image,
            "language": self.lang,
            "items": self.entries.iter().map(item).collect::<Vec<_>>(),
        });
        format!("{doc:#}\n")
    }

    fn rdf(&self) -> String {
        let FeedDoc { title, description, home, url, lang, .. } = self;
        let seq = self.items(|e| format!("<rdf:li rdf:resource=\"{}\"/>\n", e.link));
        let image = self.image(|url| {
            format!("<image rdf:about=\"{url}\"><title>{title}</title><url>{url}</url><link>{home}</link></image>\n")
        });
        let items = self.items(|e| {
            let Entry { link, summary, author, .. } = e;
            let date = e.at.map(|at| format!("<dc:date>{}</dc:date>", at.rfc3339())).unwrap_or_default();
            format!(
                "<item rdf:about=\"{link}\">\n<title>{title}</title>\n<link>{link}</link>\n\
                 <description>{summary}</description>\n<dc:creator>{author}</dc:creator>{date}\n</item>\n",
                title = e.title(),
            )
        });
        format!(
            "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n\
             <rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\" xmlns=\"http://purl.org/rss/1.0/\" xmlns:dc=\"http://purl.org/dc/elements/1.1/\">\n\
             <channel rdf:about=\"{url}\">\n<title>{title}</title>\n<link>{home}</link>\n\
             <description>{description}</description>\n<dc:language>{lang}</dc:language>\n<items><rdf:Seq>\n\
             {seq}</rdf:Seq></items>\n</channel>\n{image}{items}</rdf:RDF>\n"
        )
    }

    fn rss091(&self) -> String {
        let FeedDoc { title, description, home, lang, .. } = self;
        let image =
            self.image(|url| format!("<image><title>{title}</title><url>{url}</url><link>{home}</link></image>\n"));
        let items = self.items(|e| {
            let (title, Entry { link, summary, .. }) = (e.title(), e);
            format!("<item><title>{title}</title><link>{link}</link><description>{summary}</description></item>\n")
        });
        format!(
            "<?xml version=\"1.0\"?>\n<rss version=\"0.91\">\n<channel>\n<title>{title}</title>\n<link>{home}</link>\n\
             <description>{description}</description>\n<language>{lang}</language>\n{image}{items}</channel>\n</rss>\n"
        )
    }

    fn atom03(&self) -> String {
        let FeedDoc { title, description, home, lang, .. } = self;
        let modified = self.newest().rfc3339();
        let entries = self.items(|e| {
            let (title, id, at) = (e.title(), e.id(), e.at.unwrap_or_else(|| self.newest()).rfc3339());
            let Entry { link, author, summary, .. } = e;
            format!(
                "<entry>\n<title mode=\"escaped\">{title}</title>\n\
                 <link rel=\"alternate\" type=\"text/html\" href=\"{link}\"/>\n<id>{id}</id>\n<issued>{at}</issued>\n\
                 <modified>{at}</modified>\n<author><name>{author}</name></author>\n\
                 <summary type=\"text/plain\">{summary}</summary>\n</entry>\n"
            )
        });
        format!(
            "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n\
             <feed version=\"0.3\" xmlns=\"http://purl.org/atom/ns#\" xml:lang=\"{lang}\">\n<title>{title}</title>\n\
             <tagline>{description}</tagline>\n<link rel=\"alternate\" type=\"text/html\" href=\"{home}\"/>\n\
             <modified>{modified}</modified>\n{entries}</feed>\n"
        )
    }
}

impl Entry {
    fn title(&self) -> &str {
        self.title.as_deref().unwrap_or("")
    }

    fn id(&self) -> &str {
        self.id.as_deref().unwrap_or(&self.link)
    }
}

fn element(name: &str, value: Option<&str>) -> String {
    value.map(|text| format!("<{name}>{text}</{name}>\n")).unwrap_or_default()
}

fn rss2_item(e: &Entry) -> String {
    let guid = |id: &String| format!("<guid isPermaLink=\"{}\">{id}</guid>\n", *id == e.link);
    let content = |html: &String| format!("<content:encoded><![CDATA[{html}]]></content:encoded>\n");
    format!(
        "<item>\n{title}<link>{link}</link>\n{guid}{author}{date}{category}<description>{summary}</description>\n\
         {content}</item>\n",
        title = element("title", e.title.as_deref()),
        link = e.link,
        guid = e.id.as_ref().map(guid).unwrap_or_default(),
        author = element("dc:creator", Some(e.author.as_str()).filter(|a| !a.is_empty())),
        date = element("pubDate", e.at.map(Stamp::http).as_deref()),
        category = element("category", e.category.as_deref()),
        summary = e.summary,
        content = e.html.as_ref().map(content).unwrap_or_default(),
    )
}

fn atom_entry(e: &Entry) -> String {
    let (title, id, at) = (e.title(), e.id(), e.at.unwrap_or(Stamp::new(NEWEST, 0)).rfc3339());
    let Entry { link, author, summary, .. } = e;
    let content = |html: &String| format!("<content type=\"html\">{}</content>\n", escape(html));
    let content = e.html.as_ref().map(content).unwrap_or_default();
    format!(
        "<entry>\n<title>{title}</title>\n<link rel=\"alternate\" type=\"text/html\" href=\"{link}\"/>\n\
         <id>{id}</id>\n<published>{at}</published>\n<updated>{at}</updated>\n<author><name>{author}</name></author>\n\
         <summary>{summary}</summary>\n{content}</entry>\n"
    )
}

fn damaged(text: String, damage: Damage) -> Vec<u8> {
    match damage {
        Damage::None => text.into_bytes(),
        Damage::BareAmpersands => {
            text.replace("&amp;", "&").replace("<description>", "<description>Bread & butter,&nbsp;").into_bytes()
        }
        Damage::CutShort => {
            // Cuts within the last entry's title, so that this entry has no link yet.
            let cut = text.rfind("<item>\n<title>").map_or(text.len(), |at| at + "<item>\n<title>".len() + 6);
            let cut = (cut..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
            text.into_bytes()[..cut].to_vec()
        }
        Damage::LeadingText => format!("\n\n<!-- cached copy -->\n{text}").into_bytes(),
        Damage::LatinAsUtf8 => latin1(&text),
    }
}

/// Encodes text as ISO-8859-1; typographic marks become the nearest ASCII, other characters `?`.
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
