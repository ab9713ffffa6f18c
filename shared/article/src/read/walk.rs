//! Fills the [`Outline`] in one walk: text into blocks, elements into spans, and the statements of attributes.

mod statements;

use crate::read::boilerplate::{ElementNames, Names, kind};
use crate::read::boxes::Contents;
use crate::read::dom::{attr, is_inline, text_of};
use crate::read::elements::{
    Attributes, block_tag, folds, heading, is_initial, is_layout, is_mute, is_panel, is_pictured_formula, is_short_row,
    is_sign_link, is_text_button, mark,
};
use crate::read::gate::{Limits, Unreadable, is_formatting};
use crate::read::images::{is_large, is_photo, pairs, sources, without_scripts};
use crate::read::links;
use crate::read::outline::{Block, Kind, Mark, Outline, Part, PartName, Span, Tag};
use crate::read::place::{Around, Surroundings, words_of};
use crate::text;
use curlew_text::hygiene;
use ego_tree::iter::Edge;
use ego_tree::{NodeId, NodeRef};
use scraper::node::Element;
use scraper::{Html, Node};
use url::Url;

struct OpenElement {
    serial: usize,
    start: usize,
    is_inline: bool,
    /// Length in bytes of the current line when the element began, and whether it had more than white space.
    line: usize,
    line_says: bool,
    kind: Option<(Kind, Option<PartName>)>,
    mark: Option<Mark>,
    item: bool,
    is_link: bool,
    contents: Contents,
    around: Around,
}

struct Table {
    is_layout: bool,
    joined: bool,
}

/// Walks the tree once, without recursion. Fails if an element is nested deeper than allowed.
pub(crate) fn walk<'a>(tree: &'a Html, page: &Url, limits: &Limits) -> Result<Outline<'a>, Unreadable> {
    let mut walk = Walk::new(page, limits);
    let mut skipping: Option<NodeId> = None;
    let (mut structure, mut formatting) = (0_usize, 0_usize);
    for edge in tree.tree.root().traverse() {
        walk.out.steps += 1;
        match edge {
            Edge::Open(node) => match node.value() {
                Node::Text(text) if skipping.is_none() => walk.text(text),
                Node::Element(element) => {
                    *if is_formatting(element.name()) { &mut formatting } else { &mut structure } += 1;
                    if structure > limits.depth || formatting > limits.formatting_depth {
                        return Err(Unreadable::TooDeep);
                    }
                    if skipping.is_none() && !walk.open(node, element) {
                        skipping = Some(node.id());
                    }
                }
                _ => {}
            },
            Edge::Close(node) => {
                let Node::Element(element) = node.value() else { continue };
                *if is_formatting(element.name()) { &mut formatting } else { &mut structure } -= 1;
                match skipping {
                    None => walk.close(element),
                    Some(id) if id == node.id() => skipping = None,
                    Some(_) => {}
                }
            }
        }
    }
    walk.flush();
    walk.out.steps += (LOOKS - walk.looks) as u64;
    Ok(walk.out)
}

struct Walk<'a> {
    out: Outline<'a>,
    open: Vec<OpenElement>,
    tags: Vec<Tag>,
    next: usize,
    line: String,
    /// True if the line has more than white space; scanning it again for each element would be quadratic.
    line_says: bool,
    looks: usize,
    link_chars: usize,
    own_link_chars: usize,
    links: usize,
    /// True if the most recently opened link leads to another page of the same host, or to the home page.
    own_link: bool,
    home_link: bool,
    pre: usize,
    /// An inline element that does not belong to the article and makes up the line so far, and its length in bytes.
    whole_line: Option<(Part, usize)>,
    silent: Option<usize>,
    formulas: usize,
    joined: bool,
    tables: Vec<Table>,
    outside: Vec<usize>,
    items: usize,
    beside: usize,
    has_base: bool,
    json_bytes: usize,
    names: Names<'a>,
}

/// Maximum length of one block, in bytes; longer text continues in the next block.
const BLOCK_BYTES: usize = 64 * 1024;
/// Maximum number of bytes of the document's title that are read; cleaning may remove most of them.
const TITLE_BYTES: usize = 64 * 1024;
const BYTES_A_STEP: u64 = 64;
/// Steps for reading the texts below single elements; elements nest, so one text may contain another.
const LOOKS: usize = 2_000_000;
/// Maximum number of machine-readable fragments of each kind kept.
const MANY: usize = 200;

impl<'a> Walk<'a> {
    fn new(page: &Url, limits: &Limits) -> Walk<'a> {
        Walk {
            out: Outline::new(page, limits),
            open: Vec::new(),
            tags: Vec::new(),
            next: 0,
            line: String::new(),
            line_says: false,
            looks: LOOKS,
            link_chars: 0,
            own_link_chars: 0,
            links: 0,
            own_link: false,
            home_link: false,
            pre: 0,
            whole_line: None,
            silent: None,
            formulas: 0,
            joined: false,
            tables: Vec::new(),
            outside: Vec::new(),
            items: 0,
            beside: 0,
            has_base: false,
            json_bytes: 0,
            names: Names::default(),
        }
    }

    fn open(&mut self, node: NodeRef<'a, Node>, element: &'a Element) -> bool {
        let tag = element.name();
        match tag {
            "html" => self.out.html_lang = attr(element, "lang").or_else(|| attr(element, "xml:lang")),
            "base" if !self.has_base => {
                self.has_base = true;
                self.out.base = links::base(&self.out.page, attr(element, "href"), self.out.limits.url_bytes);
            }
            "meta" => self.meta(element),
            "link" => self.link(element),
            "title" => {
                if self.out.title.is_none()
                    && node.parent().is_some_and(|parent| parent.value().as_element().is_none_or(|e| e.name() != "svg"))
                {
                    let title = text_of(node, TITLE_BYTES, &mut self.looks);
                    let title = hygiene::line(&title, self.out.limits.title_chars);
                    self.out.title = (!title.is_empty()).then_some(title);
                }
                return false;
            }
            "script" => {
                self.script(node, element);
                return false;
            }
            "img" | "amp-img" if is_large(pairs(element)) => self.picture(sources(node), false),
            "video" => self.picture(attr(element, "poster").into_iter().collect(), true),
            // Most other images in `<noscript>` only count readers.
            "noscript" => self.picture(without_scripts(node).filter(|address| is_photo(address)).collect(), false),
            "time" | "relative-time" => self.time(node, element),
            "br" if self.pre > 0 => {
                self.text("\n");
                return false;
            }
            _ => {}
        }
        if is_mute(tag) && !is_text_button(node, element) {
            self.add_contents(Contents::of_mute(element));
            return false;
        }
        if is_sign_link(node, element) {
            return false;
        }
        self.enter(node, element, tag);
        true
    }

    fn enter(&mut self, node: NodeRef<'a, Node>, element: &'a Element, tag: &str) {
        if tag == "table" {
            self.tables.push(Table { is_layout: is_layout(node, &mut self.looks), joined: self.joined });
        }
        if matches!(tag, "table" | "tr") {
            self.joined = tag == "tr" && is_short_row(node, &mut self.looks);
        }
        let is_inline = is_inline(tag);
        if !self.stays_in_line(tag, is_inline) {
            self.flush();
        }
        let is_link = tag == "a" && self.anchor(node, element);
        let in_layout = matches!(tag, "td" | "th") && self.tables.last().is_some_and(|table| table.is_layout);
        if let Some(kind) = if in_layout { Some(Tag::Other) } else { block_tag(tag) } {
            // A wrapper inside a list item or a quotation does not change the kind of its text.
            let is_wrapper = matches!(tag, "div" | "section");
            let outer = self.tags.last().copied().filter(|outer| is_wrapper && matches!(outer, Tag::Item | Tag::Quote));
            self.tags.push(outer.unwrap_or(kind));
        }
        self.pre += usize::from(tag == "pre");
        self.formulas += usize::from(tag == "math");
        if matches!(tag, "td" | "th") && self.line_says && self.silent.is_none() {
            self.line.push_str(" | ");
        }
        let mut attributes = Attributes::read(element);
        // Numbers of lines. Elsewhere such short names are generated.
        attributes.conceals |= self.pre > 0 && matches!(attributes.class, "ln" | "lnt");
        let (class, id) = (self.names.meaning(attributes.class), self.names.meaning(attributes.id));
        let names = ElementNames { class, id };
        /// Maximum length of an icon's name in bytes. An icon that is never closed surrounds all that follows.
        const ICON: usize = 40;
        let mut is_said = || is_initial(node) || (tag == "i" && text_of(node, ICON, &mut self.looks).len() > ICON);
        let mut is_seen = || is_pictured_formula(node) || attributes.is_unspoken && !attributes.conceals && is_said();
        let kind = kind(tag, &attributes, &names).filter(|(kind, _)| *kind != Kind::Hidden || !is_seen());
        self.annotations(node, element, &attributes, &names);
        if let Some(level) = heading(tag) {
            self.heading(node, level);
        }
        self.next += 1;
        if kind.is_some() {
            self.outside.push(self.next);
        }
        if let Some(address) = attributes.background.filter(|_| !matches!(tag, "html" | "body")) {
            self.picture(vec![address], true);
        }
        let is_hidden = self.silent.is_none() && matches!(kind, Some((Kind::Hidden, _)));
        if is_hidden && self.stays_in_line(tag, is_inline) && self.is_short(node) {
            self.silent = Some(self.next);
        }
        self.beside += usize::from(is_beside(kind));
        let item = attributes.itemscope;
        if item {
            self.items += 1;
            self.out.items.push(node.id());
        }
        let (start, line, line_says) = (self.out.blocks.len(), self.line.len(), self.line_says);
        let mark = mark(tag, &attributes, &names);
        let (serial, contents) = (self.next, Contents::default());
        let words = names.class.words | names.id.words | words_of(attributes.role) | words_of(attributes.itemprop);
        let outer = self.open.last().map(|open| open.around).unwrap_or_default();
        let around = outer.inner(tag, words, names.class.hash, if is_inline { 0 } else { serial });
        let of = OpenElement { serial, start, is_inline, line, line_says, kind, mark, item, is_link, contents, around };
        self.open.push(of);
    }

    /// True if an element begins no new block: it is inline, a cell of a short row, or left out.
    fn stays_in_line(&self, tag: &str, is_inline: bool) -> bool {
        is_inline || self.silent.is_some() || (self.joined && matches!(tag, "td" | "th"))
    }

    /// True if an element has no more text than a tooltip; a script may show longer text.
    fn is_short(&mut self, node: NodeRef<'_, Node>) -> bool {
        const MAX_BYTES: usize = 200;
        // Reading ends early after many empty elements.
        let is_small = node.descendants().nth(MAX_BYTES).is_none();
        is_small && text_of(node, MAX_BYTES, &mut self.looks).len() <= MAX_BYTES && self.looks > 0
    }

    fn close(&mut self, element: &'a Element) {
        let tag = element.name();
        let is_inline = self.open.last().is_some_and(|open| open.is_inline);
        let in_line = self.stays_in_line(tag, is_inline);
        self.links -= usize::from(self.open.last().is_some_and(|open| open.is_link));
        if !in_line {
            self.flush();
        }
        if tag == "table"
            && let Some(table) = self.tables.pop()
        {
            self.joined = table.joined;
        }
        if block_tag(tag).is_some() {
            self.tags.pop();
        }
        self.pre -= usize::from(tag == "pre");
        self.formulas -= usize::from(tag == "math");
        let Some(open) = self.open.pop() else { return };
        if open.kind.is_some() {
            self.outside.pop();
        }
        self.beside -= usize::from(is_beside(open.kind));
        self.items -= usize::from(open.item);
        let has_blocks = open.start < self.out.blocks.len();
        if has_blocks && open.kind.is_some() {
            // Text after the element does not belong to it.
            self.flush();
        }
        let end = self.out.blocks.len() + usize::from(self.line_says);
        let was_silent = self.silent.take_if(|silent| *silent == open.serial).is_some();
        if was_silent || end == open.start {
            self.add_contents(open.contents);
            return;
        }
        let parent = self.open.last().map_or(0, |parent| parent.serial);
        let span = Span { start: open.start, end, serial: open.serial, parent };
        let mut contents = open.contents;
        if let Some(anchor) = contents.comments.take_if(|anchor| anchor.block < end) {
            let span = Span { start: anchor.block, end, serial: anchor.serial, parent: open.serial };
            self.out.parts.push(Part::new(Kind::Comments, span));
        }
        let blocks = self.out.blocks.get(open.start..).unwrap_or_default();
        if let Some(kind) = contents.judged(tag, in_line, blocks)
            && open.kind.is_none()
        {
            self.out.parts.push(Part::new(kind, span));
        }
        self.add_contents(contents);
        // A custom element is a box if it has blocks in it.
        if !in_line || (has_blocks && tag.contains('-')) {
            self.out.spans.push(span);
        }
        if let Some((kind, name)) = open.kind {
            let folded = kind == Kind::Hidden && folds(element);
            let part = Part { kind, span, name, folded, panel: folded && is_panel(element) };
            if !in_line || has_blocks {
                self.out.parts.push(part);
            } else if open.line == 0 {
                // So far the whole line; known for certain only at the end of the line.
                self.whole_line = Some((part, self.line.len()));
            }
        }
        if let Some(mark) = open.mark
            && self.out.marks.len() < MANY
        {
            self.out.marks.push((mark, span));
        }
    }

    fn add_contents(&mut self, contents: Contents) {
        if let Some(around) = self.open.last_mut() {
            around.contents.add(contents);
        }
    }

    fn text(&mut self, text: &str) {
        // White space between the signs of a formula belongs to its markup.
        let text = if self.formulas > 0 { text.trim_ascii() } else { text };
        if text.is_empty() || self.silent.is_some() {
            return;
        }
        if self.links > 0 {
            let width = text::width(text);
            self.link_chars += width;
            self.own_link_chars += if self.own_link { width } else { 0 };
        }
        self.line.push_str(text);
        self.line_says |= text.contains(|c: char| !c.is_whitespace());
        self.out.steps += text.len() as u64 / BYTES_A_STEP;
        if self.line.len() > BLOCK_BYTES {
            self.flush();
        }
    }

    fn flush(&mut self) {
        if self.silent.is_some() {
            return;
        }
        let raw = std::mem::take(&mut self.line);
        let says = std::mem::take(&mut self.line_says);
        let link_chars = std::mem::take(&mut self.link_chars);
        let own_link_chars = std::mem::take(&mut self.own_link_chars);
        if let Some((part, length)) = self.whole_line.take()
            && raw.trim_end().len() <= length + length / 2
        {
            self.out.parts.push(part);
        }
        if !says {
            return;
        }
        let mut text = String::with_capacity(raw.len());
        let clean = hygiene::clean(&raw);
        for line in clean.split(|c| self.pre > 0 && c == '\n') {
            // ASCII white space is found faster; `clean` leaves no other in ASCII text.
            if line.is_ascii() {
                push_words(&mut text, line.split_ascii_whitespace());
            } else {
                push_words(&mut text, line.split_whitespace());
            }
        }
        let tag = self.tags.last().copied().unwrap_or(Tag::Other);
        let chars = text::width(&text);
        // A stray `</p>` makes a paragraph, but is not counted as a tag.
        let block = self.out.blocks.len();
        if chars > 0 && block < self.out.limits.tags {
            // An element that began after other text of the block starts with the next block.
            for open in self.open.iter_mut().rev().take_while(|open| open.start == block) {
                open.start += usize::from(open.line_says);
                open.line_says = false;
            }
            let level = if let Tag::Heading(level) = tag { level } else { 0 };
            self.out.places.push(Surroundings::within(self.open.iter().map(|open| &open.around), level));
            self.out.blocks.push(Block {
                text,
                chars,
                link_chars: link_chars.min(chars),
                own_link_chars: own_link_chars.min(chars),
                tag,
                ..Block::default()
            });
        }
    }
}

fn is_beside(kind: Option<(Kind, Option<PartName>)>) -> bool {
    matches!(kind, Some((Kind::Comments | Kind::Related, _)))
}

fn push_words<'a>(text: &mut String, words: impl Iterator<Item = &'a str>) {
    let mut before = if text.is_empty() { "" } else { "\n" };
    for word in words {
        text.push_str(before);
        text.push_str(word);
        before = " ";
    }
}
