//! Reads the statements of single elements in addition to their text: names, dates, URLs, images, headings.

use crate::read::boilerplate::ElementNames;
use crate::read::boxes::{Contents, begins_comments};
use crate::read::changes::{says_change, says_published};
use crate::read::dom::{attr, text_of, text_without, texts};
use crate::read::elements::{
    Attributes, instant, instant_in, is_called, is_label, is_long_property, is_sign_link, profiles_in, property_value,
};
use crate::read::links;
use crate::read::outline::{Byline, Heading, Kind, Moment, Picture, Prop};
use crate::read::scan_head::{CANONICALS, is_directive};
use crate::read::walk::{MANY, Walk};
use curlew_text::date::{Hints, Order, ascii_digits, find};
use curlew_text::hygiene;
use curlew_text::leftovers::is_leftover;
use ego_tree::NodeRef;
use scraper::Node;
use scraper::node::Element;

/// Maximum size of JSON-LD that is read, in bytes; parsed values take many times as much memory.
const JSON_BYTES: usize = 1024 * 1024;
const MAX_ICONS: usize = 8;
const MAX_BYLINE_CHARS: usize = 160;
const MAX_HOME_NAMES: usize = 8;
const MAX_BYLINES: usize = 24;

impl<'a> Walk<'a> {
    /// Reads an `<a>`; returns true if its text is a link.
    pub(super) fn anchor(&mut self, node: NodeRef<'a, Node>, element: &'a Element) -> bool {
        /// Maximum length of a link's text in bytes. An `<a>` that is never closed may surround the article.
        const LINK: usize = 4_000;
        let href = attr(element, "href");
        let is_place = href.is_none() && (attr(element, "name").is_some() || attr(element, "id").is_some());
        let is_plain = node.children().nth(1).is_none();
        let is_link = !is_place && (is_plain || text_of(node, LINK, &mut self.looks).len() <= LINK);
        self.links += usize::from(is_link);
        self.own_link = href.is_some_and(|href| links::is_own(&self.out.base, href));
        self.home_link = href.is_some_and(|href| links::is_home(&self.out.base, href));
        if self.home_link && self.out.page.path() != "/" && self.out.home_names.len() < MAX_HOME_NAMES {
            let name = self.line_of(node, 80);
            self.out.home_names.push(name);
        }
        if begins_comments(element) {
            self.next += 1;
            let start = self.out.blocks.len() + usize::from(self.line_says);
            self.add_contents(Contents::of_anchor(start, self.next));
        }
        let profile = self.own_link && href.is_some_and(links::is_profile);
        if profile && self.out.profiles.len() < MAX_BYLINES && self.beside == 0 {
            let name = self.line_of(node, 80);
            self.out.profiles.push((name, self.out.blocks.len()));
        }
        is_link
    }

    pub(super) fn heading(&mut self, node: NodeRef<'a, Node>, level: u8) {
        const MAX_BYTES: usize = 4_096;
        if self.out.headings.len() >= MANY {
            return;
        }
        let is_beside = |node: NodeRef<'_, Node>, element: &Element| is_label(element) || is_sign_link(node, element);
        let line = text_without(node, MAX_BYTES, &mut self.looks, is_beside);
        let line = if line.trim().is_empty() { text_of(node, MAX_BYTES, &mut self.looks) } else { line };
        let text = hygiene::line(&line, self.out.limits.title_chars);
        if text.is_empty() || is_leftover(&text) {
            return;
        }
        let leads_home = self.leads_home(node, level);
        if leads_home && self.out.home_names.len() < MAX_HOME_NAMES {
            self.out.home_names.push(text.clone());
        }
        let own = text_without(node, MAX_BYTES, &mut self.looks, |inner, _| inner.id() != node.id());
        let own = hygiene::line(&own, text.len());
        self.out.headings.push(Heading { level, text, own, block: self.out.blocks.len(), leads_home });
    }

    /// True if a heading is in or has a link to the home page or a folder above the page, so that it names that page.
    fn leads_home(&mut self, node: NodeRef<'a, Node>, level: u8) -> bool {
        const MAX_STEPS: usize = 12;
        if level > 2 || self.out.page.path() == "/" {
            return false;
        }
        let steps = MAX_STEPS.min(self.looks);
        self.looks -= steps;
        let is_home = |href: &str| links::is_home(&self.out.base, href) || links::leads_up(&self.out.page, href);
        let mut inner = node.descendants().take(steps).filter_map(|node| node.value().as_element());
        (self.links > 0 && self.home_link)
            || inner.any(|element| element.name() == "a" && attr(element, "href").is_some_and(is_home))
    }

    pub(super) fn meta(&mut self, element: &'a Element) {
        self.out.meta_tags += 1;
        let Some(content) = attr(element, "content") else { return };
        if attr(element, "http-equiv").is_none_or(|name| !name.trim().eq_ignore_ascii_case("refresh"))
            && let Some(name) = attr(element, "name").or_else(|| attr(element, "property"))
        {
            let name = name.trim().to_ascii_lowercase();
            if self.out.robots.len() < self.out.limits.robots_metas && is_directive(&name, content) {
                self.out.robots.push((name, content));
            }
        }
        if is_leftover(content) {
            return;
        }
        for key in ["property", "name", "itemprop", "http-equiv"] {
            if let Some(name) = attr(element, key) {
                if key == "itemprop" {
                    self.prop(name, content.to_owned());
                } else if self.out.metas.len() < MANY * 4 {
                    self.out.metas.push((name.trim().to_ascii_lowercase(), content));
                }
            }
        }
    }

    pub(super) fn link(&mut self, element: &'a Element) {
        let (Some(rel), Some(href)) = (attr(element, "rel"), attr(element, "href")) else { return };
        let has = |relation: &str| rel.split_ascii_whitespace().any(|rel| rel.eq_ignore_ascii_case(relation));
        if has("canonical") && self.out.canonicals.len() < CANONICALS {
            self.out.canonicals.push(href);
        }
        if self.out.icons.len() < MAX_ICONS && (has("icon") || has("apple-touch-icon")) {
            self.out.icons.push(href);
        }
        if rel.eq_ignore_ascii_case("image_src") {
            self.out.image_src = self.out.image_src.or(Some(href));
        }
        if let Some(name) = attr(element, "itemprop") {
            self.prop(name, href.to_owned());
        }
    }

    pub(super) fn script(&mut self, node: NodeRef<'a, Node>, element: &'a Element) {
        const MAX_SCRIPTS: usize = 32;
        let is_json = attr(element, "type")
            .is_some_and(|kind| kind.trim().to_ascii_lowercase().starts_with("application/ld+json"));
        if is_json && self.out.json.len() < MAX_SCRIPTS {
            let text: String = texts(node).collect();
            self.json_bytes += text.len();
            if self.json_bytes <= JSON_BYTES {
                self.out.json.push(text);
            }
        }
    }

    pub(super) fn picture(&mut self, sources: Vec<&'a str>, is_behind: bool) {
        if self.out.pictures.len() < self.out.limits.images && !sources.is_empty() {
            let (block, outside) = (self.out.blocks.len(), self.outside.clone());
            self.out.pictures.push(Picture { sources, is_behind, block, outside });
        }
    }

    pub(super) fn time(&mut self, node: NodeRef<'a, Node>, element: &'a Element) {
        if self.out.moments.len() >= MANY {
            return;
        }
        let shown = self.line_of(node, 64);
        let changes = tells_change(&shown);
        let value = attr(element, "datetime").or_else(|| instant(element)).map(str::to_owned).unwrap_or(shown);
        let says = |word: &str| is_called(element, &[word]);
        // Drupal puts the class on the element around it.
        let around = node.parent().and_then(|parent| parent.value().as_element());
        let field = around.is_some_and(|field| is_called(field, &["changed", "updated", "modified"]));
        // WordPress sets both classes on a post that was never changed; then the words before it decide.
        let modified = says("updated") || says("modif") || field;
        let published = attr(element, "pubdate").is_some() || says("publish") || says("entry-date") || says("created");
        let published = published && !(modified && says_change(&self.line));
        self.moment(value, published, changes || (modified && !published));
    }

    fn moment(&mut self, value: String, published: bool, modified: bool) {
        if self.out.moments.len() < MANY {
            let modified = modified || (!published && says_change(&self.line));
            let inside =
                |kinds: &[Kind]| self.open.iter().any(|open| open.kind.is_some_and(|(kind, _)| kinds.contains(&kind)));
            let foreign = inside(&[Kind::Comments, Kind::Hidden]);
            let outside = foreign || inside(&[Kind::Related]);
            let block = self.out.blocks.len();
            self.out.moments.push(Moment { value, block, published, modified, foreign, outside });
        }
    }

    fn line_of(&mut self, node: NodeRef<'_, Node>, chars: usize) -> String {
        hygiene::line(&text_of(node, 256, &mut self.looks), chars)
    }

    pub(super) fn annotations(
        &mut self,
        node: NodeRef<'a, Node>,
        element: &'a Element,
        attributes: &Attributes<'a>,
        names: &ElementNames,
    ) {
        let Attributes { class, rel, itemprop, property, .. } = *attributes;
        if !itemprop.is_empty() && !is_long_property(itemprop) && self.out.props.len() < MANY {
            let value = property_value(itemprop, node, element, &mut self.looks);
            self.prop(itemprop, value);
        }
        let author = rel.split_ascii_whitespace().any(|rel| rel.eq_ignore_ascii_case("author"));
        let byline = author || names.class.byline || names.id.byline;
        if byline && self.out.bylines.len() < MAX_BYLINES && self.beside == 0 {
            let profiles = profiles_in(node, &mut self.looks);
            let is_name = author || names.class.name || profiles.is_some();
            let raw = if profiles.is_some() { String::new() } else { text_of(node, 512, &mut self.looks) };
            // Whole posts have classes with their writers' names, too; long text is dropped before it is cleaned.
            let is_short = raw.chars().filter(|c| !c.is_whitespace()).count() <= MAX_BYLINE_CHARS;
            let text =
                profiles.unwrap_or_else(|| if is_short { hygiene::line(&raw, 2 * MAX_BYLINE_CHARS) } else { raw });
            if is_short && text.chars().count() <= MAX_BYLINE_CHARS {
                self.out.bylines.push(Byline { text, block: self.out.blocks.len(), is_name });
            }
        }
        if property.split_ascii_whitespace().any(|name| CREATED.contains(&name))
            && let Some(value) = instant(element)
        {
            self.moment(value.to_owned(), true, false);
        } else if element.name() != "time" && names.class.date && self.out.moments.len() < MANY {
            let shown = ascii_digits(&self.line_of(node, 80)).into_owned();
            let stated = instant_in(node, &mut self.looks).map(str::to_owned);
            let days = find(&shown, &Hints::page(Order::DayFirst));
            let named = class.contains("publish") || class.contains("post") || class.contains("entry");
            if days.len() < 2 {
                let modified = tells_change(&shown) || class.contains("updat") || class.contains("modif");
                return self.moment(stated.unwrap_or(shown), named, modified);
            }
            let mut from = 0;
            // Each of several days has its own words before it. Elements with instants are read themselves.
            for day in days.iter().filter(|_| stated.is_none()) {
                let before = shown.get(from..day.start).unwrap_or_default();
                let (modified, value) = (says_change(before), shown.get(from..).unwrap_or_default().to_owned());
                self.moment(value, says_published(before) || (named && !modified), modified);
                from = day.end;
            }
        }
    }

    fn prop(&mut self, names: &'a str, value: String) {
        if self.out.props.len() < MANY {
            self.out.props.push(Prop { names, value, in_item: self.items > 0 });
        }
    }
}

/// RDFa properties whose content is the date of publication, as in Drupal 7.
const CREATED: [&str; 4] = ["dc:created", "dcterms:created", "schema:dateCreated", "schema:datePublished"];

fn tells_change(text: &str) -> bool {
    says_change(text) && !says_published(text)
}
