//! One walk over the tree that writes down everything the rules ask for.
//!
//! The text becomes a list of blocks in document order. Whatever lies in an element is then a run of blocks, so a
//! candidate for the article is a [`Span`], and so is a part of the page that is something else.

use crate::boilerplate::{self, Kind};
use crate::dom::{attr, text_of};
use crate::jsonld::Linked;
use crate::links;
use crate::microdata::Micro;
use crate::opengraph::OpenGraph;
use crate::wordpress;
use crate::{Limits, text};
use ego_tree::iter::Edge;
use ego_tree::{NodeId, NodeRef};
use scraper::node::Element;
use scraper::{Html, Node};
use url::Url;

/// A paragraph, a heading, a list item, or any other run of text without a block boundary in it.
#[derive(Debug)]
pub(crate) struct Block {
    /// Cleaned; line breaks only where the page forces them.
    pub(crate) text: String,
    /// Characters that are no white space.
    pub(crate) chars: usize,
    /// Those of them that are inside links.
    pub(crate) link_chars: usize,
    /// The element that holds it.
    pub(crate) tag: Tag,
}

/// What kind of element holds a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tag {
    Paragraph,
    Heading(u8),
    Item,
    Cell,
    Quote,
    Pre,
    Other,
}

/// A run of blocks that one element holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    /// The first block.
    pub(crate) start: usize,
    /// The block after the last one.
    pub(crate) end: usize,
    /// Number of the element in document order; ancestors have smaller ones.
    pub(crate) serial: usize,
    /// Number of the parent element.
    pub(crate) parent: usize,
}

impl Span {
    /// Whether the element of `other` lies inside this one's.
    pub(crate) fn holds(&self, other: &Span) -> bool {
        self.serial < other.serial && self.start <= other.start && other.end <= self.end
    }
}

/// Why an element is a candidate for the article.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    /// Microdata `articleBody`.
    ArticleBody,
    /// A class that WordPress and its kin give to the text.
    Content,
    /// `<article>`.
    Article,
    /// `<main>` or `role=main`.
    Main,
}

/// An image of the body.
#[derive(Debug)]
pub(crate) struct Picture<'a> {
    /// The element.
    pub(crate) element: &'a Element,
    /// How many blocks come before it.
    pub(crate) block: usize,
    /// Whether it lies in a part that is something else than the article.
    pub(crate) outside: bool,
}

/// A `<time>` or another element that is marked as a date.
#[derive(Debug)]
pub(crate) struct Moment {
    /// The machine-readable value, or the text.
    pub(crate) value: String,
    /// How many blocks come before it.
    pub(crate) block: usize,
    /// Whether the markup says that it is the time of publication.
    pub(crate) published: bool,
    /// Whether the markup says that it is the time of the last change.
    pub(crate) modified: bool,
    /// Whether it lies in comments, teasers, or page furniture.
    pub(crate) outside: bool,
}

/// Everything that the rules ask for.
#[derive(Debug)]
pub(crate) struct Outline<'a> {
    pub(crate) base: Url,
    pub(crate) limits: Limits,
    /// Name or property in lower case, content.
    pub(crate) metas: Vec<(String, &'a str)>,
    pub(crate) html_lang: Option<&'a str>,
    pub(crate) title: Option<String>,
    pub(crate) headings: Vec<(u8, String, usize)>,
    pub(crate) json: Vec<String>,
    pub(crate) props: Vec<(&'a str, String)>,
    pub(crate) bylines: Vec<String>,
    pub(crate) moments: Vec<Moment>,
    pub(crate) pictures: Vec<Picture<'a>>,
    pub(crate) image_src: Option<&'a str>,
    pub(crate) blocks: Vec<Block>,
    /// Every element that holds text, in the order of their ends.
    pub(crate) spans: Vec<Span>,
    pub(crate) marks: Vec<(Mark, Span, NodeId)>,
    /// Parts that are something else than the article.
    pub(crate) parts: Vec<(Kind, Span)>,
}

impl<'a> Outline<'a> {
    /// Walks the tree.
    pub(crate) fn of(tree: &'a Html, page: &Url, limits: &Limits) -> Outline<'a> {
        let mut walk = Walk::new(page, limits);
        let mut skipping: Option<NodeId> = None;
        for edge in tree.tree.root().traverse() {
            match edge {
                Edge::Open(node) if skipping.is_none() => match node.value() {
                    Node::Text(text) => walk.text(text),
                    Node::Element(element) if !walk.open(node, element) => skipping = Some(node.id()),
                    _ => {}
                },
                Edge::Close(node) if skipping.is_some() => {
                    if skipping == Some(node.id()) {
                        skipping = None;
                    }
                }
                Edge::Close(node) => {
                    if let Node::Element(element) = node.value() {
                        walk.close(node, element);
                    }
                }
                Edge::Open(_) => {}
            }
        }
        walk.flush();
        walk.out
    }

    /// The first filled content of the first of these metas that there is.
    pub(crate) fn meta(&self, names: &[&str]) -> Option<&'a str> {
        names.iter().find_map(|name| {
            self.metas
                .iter()
                .find(|(known, content)| known == name && !content.trim().is_empty())
                .map(|(_, content)| *content)
        })
    }

    /// Who wrote the page.
    pub(crate) fn author(&self, graph: &OpenGraph<'_>, linked: &Linked, micro: &Micro<'_>) -> Option<String> {
        let metas = [
            "author",
            "article:author",
            "dc.creator",
            "dcterms.creator",
            "parsely-author",
            "sailthru.author",
            "byl",
            "citation_author",
        ];
        let named = |name: &str| is_name(name).then(|| text::line(strip_by(name), self.limits.title_chars));
        linked
            .author
            .as_deref()
            .and_then(named)
            .or_else(|| micro.author.and_then(named))
            .or_else(|| metas.iter().filter_map(|name| self.meta(&[name])).find_map(named))
            .or_else(|| graph.author.and_then(named))
            .or_else(|| self.bylines.iter().find_map(|byline| named(byline)))
            .filter(|name| !name.is_empty())
    }

    /// What the site calls itself.
    pub(crate) fn site_name(&self, graph: &OpenGraph<'_>, linked: &Linked) -> Option<String> {
        let name = graph.site_name.map(str::to_owned).or_else(|| linked.site_name.clone()).or_else(|| {
            self.meta(&["application-name", "apple-mobile-web-app-title", "al:android:app_name"]).map(str::to_owned)
        })?;
        let name = text::line(&text::unescape(&name), self.limits.title_chars);
        (!name.is_empty()).then_some(name)
    }
}

/// Whether a text can be a person's or an editorial office's name.
fn is_name(text: &str) -> bool {
    let text = text.trim();
    (2..=120).contains(&text.chars().count())
        && !text.contains("://")
        && !text.starts_with(['@', '{', '['])
        && text.chars().any(char::is_alphabetic)
        && text.split_whitespace().count() <= 14
}

fn strip_by(name: &str) -> &str {
    let name = name.trim();
    for word in ["by ", "von ", "di ", "par ", "por ", "written by ", "posted by ", "author: "] {
        if let Some(start) = name.get(..word.len())
            && start.eq_ignore_ascii_case(word)
        {
            return strip_by(name.get(word.len()..).unwrap_or_default());
        }
    }
    name
}

/// Whether an element stands in a line of text.
pub(crate) fn is_inline(tag: &str) -> bool {
    matches!(
        tag,
        "a" | "abbr"
            | "acronym"
            | "b"
            | "bdi"
            | "bdo"
            | "big"
            | "cite"
            | "code"
            | "data"
            | "del"
            | "dfn"
            | "em"
            | "font"
            | "i"
            | "img"
            | "ins"
            | "kbd"
            | "label"
            | "mark"
            | "nobr"
            | "picture"
            | "q"
            | "rp"
            | "rt"
            | "ruby"
            | "s"
            | "samp"
            | "small"
            | "source"
            | "span"
            | "strike"
            | "strong"
            | "sub"
            | "sup"
            | "time"
            | "tt"
            | "u"
            | "var"
            | "wbr"
    )
}

/// Elements whose text is never part of what is read.
fn is_mute(tag: &str) -> bool {
    matches!(
        tag,
        "script"
            | "style"
            | "noscript"
            | "template"
            | "svg"
            | "iframe"
            | "object"
            | "embed"
            | "canvas"
            | "video"
            | "audio"
            | "select"
            | "datalist"
            | "option"
            | "button"
            | "input"
            | "textarea"
            | "dialog"
            | "map"
            | "progress"
            | "meter"
            | "noembed"
            | "noframes"
            | "frameset"
            | "rp"
            | "rt"
    )
}

struct Open {
    serial: usize,
    start: usize,
    kind: Option<Kind>,
    mark: Option<Mark>,
}

/// The walk's state.
struct Walk<'a> {
    out: Outline<'a>,
    open: Vec<Open>,
    tags: Vec<Tag>,
    next: usize,
    line: String,
    link_chars: usize,
    links: usize,
    pre: usize,
    /// Open elements that are something else than the article.
    outside: usize,
    has_base: bool,
    page: Url,
}

/// Longest text of one block, in bytes; longer ones are cut here and go on in the next block.
const BLOCK_BYTES: usize = 64 * 1024;
/// Most machine-readable fragments of each sort that are kept.
const MANY: usize = 200;

impl<'a> Walk<'a> {
    fn new(page: &Url, limits: &Limits) -> Walk<'a> {
        let out = Outline {
            base: page.clone(),
            limits: *limits,
            metas: Vec::new(),
            html_lang: None,
            title: None,
            headings: Vec::new(),
            json: Vec::new(),
            props: Vec::new(),
            bylines: Vec::new(),
            moments: Vec::new(),
            pictures: Vec::new(),
            image_src: None,
            blocks: Vec::new(),
            spans: Vec::new(),
            marks: Vec::new(),
            parts: Vec::new(),
        };
        Walk {
            out,
            open: Vec::new(),
            tags: Vec::new(),
            next: 0,
            line: String::new(),
            link_chars: 0,
            links: 0,
            pre: 0,
            outside: 0,
            has_base: false,
            page: page.clone(),
        }
    }

    /// Enters an element. Gives false if what is in it is to be passed over.
    fn open(&mut self, node: NodeRef<'a, Node>, element: &'a Element) -> bool {
        let tag = element.name();
        match tag {
            "html" => self.out.html_lang = attr(element, "lang").or_else(|| attr(element, "xml:lang")),
            "base" if !self.has_base => {
                self.has_base = true;
                self.out.base = links::base(&self.page, attr(element, "href"), self.out.limits.url_bytes);
            }
            "meta" => self.meta(element),
            "link" => self.link(element),
            "title" => {
                if self.out.title.is_none()
                    && node.parent().is_some_and(|parent| parent.value().as_element().is_none_or(|e| e.name() != "svg"))
                {
                    let title = text::line(&text_of(node, 16 * 1024), self.out.limits.title_chars);
                    self.out.title = (!title.is_empty()).then_some(title);
                }
                return false;
            }
            "script" => {
                self.script(node, element);
                return false;
            }
            "br" => self.break_line(),
            "hr" => self.flush(),
            "img" | "amp-img" => self.picture(element),
            "time" => self.time(node, element),
            _ => {}
        }
        if is_mute(tag) {
            return false;
        }
        self.enter(node, element, tag);
        true
    }

    fn enter(&mut self, node: NodeRef<'a, Node>, element: &'a Element, tag: &str) {
        let inline = is_inline(tag);
        if !inline {
            self.flush();
        } else if tag == "a" {
            self.links += 1;
        }
        if let Some(kind) = block_tag(tag) {
            self.tags.push(kind);
        }
        if tag == "pre" {
            self.pre += 1;
        }
        if matches!(tag, "td" | "th" | "dd" | "dt") && !self.line.is_empty() {
            self.line.push(' ');
        }
        let kind = boilerplate::kind(element);
        if element.attrs().any(|(name, _)| matches!(name, "itemprop" | "rel" | "class")) {
            self.annotations(node, element);
        }
        if let Some(level) = heading(tag)
            && self.out.headings.len() < MANY
        {
            let heading = text::line(&text_of(node, 4_096), self.out.limits.title_chars);
            if !heading.is_empty() {
                self.out.headings.push((level, heading, self.out.blocks.len()));
            }
        }
        self.outside += usize::from(kind.is_some());
        self.next += 1;
        self.open.push(Open { serial: self.next, start: self.out.blocks.len(), kind, mark: mark(element, tag) });
    }

    fn close(&mut self, node: NodeRef<'a, Node>, element: &'a Element) {
        let tag = element.name();
        if is_inline(tag) {
            self.links -= usize::from(tag == "a");
        } else {
            self.flush();
        }
        if block_tag(tag).is_some() {
            self.tags.pop();
        }
        if tag == "pre" {
            self.pre -= 1;
        }
        let Some(open) = self.open.pop() else { return };
        self.outside -= usize::from(open.kind.is_some());
        let end = self.out.blocks.len() + usize::from(!self.line.trim().is_empty());
        if end == open.start {
            return;
        }
        let parent = self.open.last().map_or(0, |parent| parent.serial);
        let span = Span { start: open.start, end, serial: open.serial, parent };
        if !is_inline(tag) {
            self.out.spans.push(span);
        }
        if let Some(kind) = open.kind {
            // Part of a line cannot be taken away from it, unless the line is nothing else.
            if !is_inline(tag) || open.start + 1 == end {
                self.out.parts.push((kind, span));
            }
        }
        if let Some(mark) = open.mark
            && self.out.marks.len() < MANY
        {
            self.out.marks.push((mark, span, node.id()));
        }
    }

    fn text(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        if self.links > 0 {
            self.link_chars += text::dense_chars(text);
        }
        self.line.push_str(text);
        if self.line.len() > BLOCK_BYTES {
            self.flush();
        }
    }

    fn break_line(&mut self) {
        if self.line.ends_with('\u{1}') {
            self.line.pop();
            self.flush();
        } else {
            // Stands for a forced line break until white space is folded; text cannot hold it, for it is a control.
            self.line.push('\u{1}');
        }
    }

    /// Ends the block that is being read.
    fn flush(&mut self) {
        let raw = std::mem::take(&mut self.line);
        let link_chars = std::mem::take(&mut self.link_chars);
        if raw.trim().is_empty() {
            return;
        }
        let mut text = String::with_capacity(raw.len());
        for line in raw.split(['\u{1}']) {
            let clean = text::clean(line);
            let lines: &mut dyn Iterator<Item = &str> =
                if self.pre > 0 { &mut clean.lines() } else { &mut std::iter::once(clean.as_ref()) };
            for line in lines {
                let before = text.len();
                for word in line.split_whitespace() {
                    if text.len() > before && !text.ends_with('\n') {
                        text.push(' ');
                    }
                    text.push_str(word);
                }
                if text.len() > before {
                    text.push('\n');
                }
            }
        }
        text.truncate(text.trim_end().len());
        let chars = text::dense_chars(&text);
        if chars > 0 {
            let tag = self.tags.last().copied().unwrap_or(Tag::Other);
            self.out.blocks.push(Block { text, chars, link_chars: link_chars.min(chars), tag });
        }
    }

    fn meta(&mut self, element: &'a Element) {
        let Some(content) = attr(element, "content") else { return };
        for key in ["property", "name", "itemprop", "http-equiv"] {
            if let Some(name) = attr(element, key) {
                if key == "itemprop" {
                    if self.out.props.len() < MANY {
                        self.out.props.push((name, content.to_owned()));
                    }
                } else if self.out.metas.len() < MANY * 4 {
                    self.out.metas.push((name.trim().to_ascii_lowercase(), content));
                }
            }
        }
    }

    fn link(&mut self, element: &'a Element) {
        let (Some(rel), Some(href)) = (attr(element, "rel"), attr(element, "href")) else { return };
        if rel.eq_ignore_ascii_case("image_src") {
            self.out.image_src = self.out.image_src.or(Some(href));
        }
        if let Some(name) = attr(element, "itemprop")
            && self.out.props.len() < MANY
        {
            self.out.props.push((name, href.to_owned()));
        }
    }

    fn script(&mut self, node: NodeRef<'a, Node>, element: &'a Element) {
        /// More blocks of JSON-LD than this are not read.
        const SCRIPTS: usize = 32;
        let is_json = attr(element, "type")
            .is_some_and(|kind| kind.trim().to_ascii_lowercase().starts_with("application/ld+json"));
        if is_json && self.out.json.len() < SCRIPTS {
            self.out
                .json
                .push(node.children().filter_map(|child| child.value().as_text()).map(|text| &**text).collect());
        }
    }

    fn picture(&mut self, element: &'a Element) {
        if self.out.pictures.len() < self.out.limits.images {
            self.out.pictures.push(Picture { element, block: self.out.blocks.len(), outside: self.outside > 0 });
        }
    }

    fn time(&mut self, node: NodeRef<'a, Node>, element: &'a Element) {
        let value = attr(element, "datetime").map_or_else(|| text::line(&text_of(node, 256), 64), str::to_owned);
        let says = |word: &str| {
            ["class", "itemprop", "id"]
                .iter()
                .filter_map(|key| attr(element, key))
                .any(|names| names.to_ascii_lowercase().contains(word))
        };
        let modified = says("updated") || says("modif");
        let published = attr(element, "pubdate").is_some() || says("publish") || says("entry-date") || says("created");
        self.moment(value, published, modified && !published);
    }

    fn moment(&mut self, value: String, published: bool, modified: bool) {
        if self.out.moments.len() < MANY {
            let other =
                self.open.iter().any(|open| matches!(open.kind, Some(Kind::Comments | Kind::Related | Kind::Hidden)));
            self.out.moments.push(Moment { value, block: self.out.blocks.len(), published, modified, outside: other });
        }
    }

    /// Microdata, `rel=author`, and the class names that dates and bylines commonly have.
    fn annotations(&mut self, node: NodeRef<'a, Node>, element: &'a Element) {
        let is_text = matches!(element.name(), "time");
        if let Some(name) = attr(element, "itemprop")
            && self.out.props.len() < MANY
            && !matches!(name, "articleBody" | "text" | "description" | "reviewBody")
        {
            let value = ["content", "datetime"].iter().find_map(|key| attr(element, key)).map(str::to_owned);
            let value = value
                .or_else(|| (element.name() == "img").then(|| attr(element, "src").unwrap_or_default().to_owned()));
            let value = value.unwrap_or_else(|| text::line(&text_of(node, 1_024), 300));
            self.out.props.push((name, value));
        }
        let class = attr(element, "class").unwrap_or_default();
        let author = attr(element, "rel")
            .is_some_and(|rel| rel.split_ascii_whitespace().any(|r| r.eq_ignore_ascii_case("author")));
        if (author || is_byline(class)) && self.out.bylines.len() < 16 && !self.in_comments() {
            self.out.bylines.push(text::line(&text_of(node, 512), 160));
        }
        if !is_text && class.len() < 200 && is_date_class(class) {
            let value = text::line(&text_of(node, 256), 80);
            self.moment(
                value,
                class.contains("publish") || class.contains("post") || class.contains("entry"),
                class.contains("updat") || class.contains("modif"),
            );
        }
    }

    fn in_comments(&self) -> bool {
        self.open.iter().any(|open| matches!(open.kind, Some(Kind::Comments | Kind::Related)))
    }
}

fn is_byline(class: &str) -> bool {
    class.split_ascii_whitespace().any(|name| {
        matches!(
            name,
            "author"
                | "byline"
                | "author-name"
                | "byline-name"
                | "post-author"
                | "entry-author"
                | "article-author"
                | "fn"
                | "author_name"
                | "byline__name"
                | "author__name"
        )
    })
}

fn is_date_class(class: &str) -> bool {
    class.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| {
        matches!(
            word,
            "date"
                | "dates"
                | "dateline"
                | "datetime"
                | "pubdate"
                | "published"
                | "timestamp"
                | "posted"
                | "publish"
                | "publication"
                | "time"
                | "Date"
        )
    }) || class.contains("ublishDate")
        || class.contains("PubDate")
}

fn heading(tag: &str) -> Option<u8> {
    match tag.as_bytes() {
        [b'h', level @ b'1'..=b'6'] => Some(level - b'0'),
        _ => None,
    }
}

fn block_tag(tag: &str) -> Option<Tag> {
    Some(match tag {
        "p" => Tag::Paragraph,
        "li" | "dd" | "dt" => Tag::Item,
        "td" | "th" => Tag::Cell,
        "blockquote" => Tag::Quote,
        "pre" => Tag::Pre,
        "div" | "section" | "article" | "main" | "table" | "ul" | "ol" | "figure" | "header" | "footer" | "aside"
        | "nav" => Tag::Other,
        _ => return heading(tag).map(Tag::Heading),
    })
}

fn mark(element: &Element, tag: &str) -> Option<Mark> {
    if attr(element, "itemprop").is_some_and(|names| names.split_ascii_whitespace().any(|name| name == "articleBody")) {
        return Some(Mark::ArticleBody);
    }
    if matches!(tag, "div" | "section" | "article" | "main" | "td") && wordpress::is_content(element) {
        return Some(Mark::Content);
    }
    match tag {
        "article" => Some(Mark::Article),
        "main" => Some(Mark::Main),
        _ if attr(element, "role") == Some("main") => Some(Mark::Main),
        _ if attr(element, "role") == Some("article") => Some(Mark::Article),
        _ => None,
    }
}
