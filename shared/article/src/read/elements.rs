//! Classifies single elements by their names, roles and classes.

use crate::lists::{HIDING, MUTE};
use crate::read::boilerplate::ElementNames;
use crate::read::dom::{attr, is_gloss, is_inline, text_of};
use crate::read::images::{background, is_photo, sources};
use crate::read::links::is_profile;
use crate::read::outline::{Mark, Tag};
use curlew_text::date::{Hints, Order, parse_instant};
use curlew_text::hygiene::{self, head_bytes};
use ego_tree::NodeRef;
use scraper::Node;
use scraper::node::Element;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Attributes<'a> {
    pub(crate) class: &'a str,
    pub(crate) id: &'a str,
    pub(crate) role: &'a str,
    pub(crate) rel: &'a str,
    pub(crate) itemprop: &'a str,
    pub(crate) property: &'a str,
    pub(crate) itemscope: bool,
    /// True if anything but its class and `aria-hidden` hides it or forbids quoting it.
    pub(crate) conceals: bool,
    /// True if it is hidden from screen readers, like ornaments.
    pub(crate) is_unspoken: bool,
    pub(crate) background: Option<&'a str>,
}

impl<'a> Attributes<'a> {
    pub(crate) fn read(element: &'a Element) -> Attributes<'a> {
        let mut found = Attributes::default();
        for (name, value) in &element.attrs {
            let value: &str = value;
            match &*name.local {
                "class" => found.class = value,
                "id" => found.id = value,
                "role" => found.role = value,
                "rel" => found.rel = value,
                "itemprop" => found.itemprop = value,
                "property" => found.property = value,
                "itemscope" => found.itemscope = true,
                "aria-hidden" => found.is_unspoken = value.eq_ignore_ascii_case("true"),
                "style" => {
                    found.conceals |= concealing(value);
                    found.background = found.background.or_else(|| background(value));
                }
                name if name.starts_with("data-b") && is_photo(value) => found.background = Some(value),
                "data-nosnippet" | "popover" => found.conceals = true,
                "hidden" => found.conceals |= !value.eq_ignore_ascii_case("until-found"),
                _ => {}
            }
        }
        found
    }
}

fn concealing(style: &str) -> bool {
    is_undisplayed(style)
        || declares(style, "visibility", |value| value.eq_ignore_ascii_case("hidden"))
        || declares(style, "font-size", |value| matches!(value, "0" | "0px" | "1px"))
}

/// True if a style attribute removes the element from the page; a script may show it again.
fn is_undisplayed(style: &str) -> bool {
    declares(style, "display", |value| value.eq_ignore_ascii_case("none"))
}

fn declares(style: &str, property: &str, is: impl Fn(&str) -> bool) -> bool {
    style.split(';').filter_map(|declaration| declaration.split_once(':')).any(|(name, value)| {
        name.trim().eq_ignore_ascii_case(property) && is(value.trim().trim_end_matches("!important").trim_end())
    })
}

pub(crate) fn is_mute(tag: &str) -> bool {
    is_gloss(tag) || MUTE.contains(tag)
}

/// True if an element is hidden until a script shows it, and may be quoted.
pub(crate) fn folds(element: &Element) -> bool {
    let shut = |(name, value): (&str, &str)| match name {
        "hidden" => true,
        "aria-hidden" => value.eq_ignore_ascii_case("true"),
        "style" => is_undisplayed(value),
        _ => false,
    };
    attr(element, "data-nosnippet").is_none() && element.attrs().any(shut)
}

/// True if an element is a panel of an accordion or of tabs (ARIA Authoring Practices).
pub(crate) fn is_panel(element: &Element) -> bool {
    let class = || attr(element, "class").unwrap_or_default().to_ascii_lowercase();
    match attr(element, "role") {
        Some("tabpanel") => true,
        Some("region") => attr(element, "aria-labelledby").is_some(),
        _ => element.name() == "dd" || ["accordion", "tab-pane", "tabpanel"].iter().any(|name| class().contains(name)),
    }
}

/// True for a button whose text is read: words in the middle of a sentence, or the heading of a panel that it opens.
pub(crate) fn is_text_button(node: NodeRef<'_, Node>, element: &Element) -> bool {
    if element.name() != "button" {
        return false;
    }
    let named = |node: Option<NodeRef<'_, Node>>, is: fn(&Element) -> bool| {
        node.and_then(|node| node.value().as_element()).is_some_and(is)
    };
    let says = |node: Option<NodeRef<'_, Node>>| {
        node.and_then(|node| node.value().as_text()).is_some_and(|text| text.contains(char::is_alphabetic))
    };
    let is_panels = || {
        named(node.parent(), |parent| heading(parent.name()).is_some() || parent.name() == "dt")
            || named(node.next_siblings().find(|node| node.value().is_element()), folds)
    };
    (says(node.prev_sibling()) && says(node.next_sibling()))
        || (attr(element, "aria-expanded").is_some() && is_panels())
}

/// True if a row contains data and not a page's layout: short cells without blocks in them.
pub(crate) fn is_short_row(row: NodeRef<'_, Node>, budget: &mut usize) -> bool {
    const MAX_BYTES: usize = 400;
    const MAX_CELLS: usize = 40;
    let cells = row.children().filter(|node| node.value().is_element()).take(MAX_CELLS);
    let blocks = |cell: NodeRef<'_, Node>| {
        cell.children().take(MAX_CELLS).filter_map(|node| node.value().as_element()).any(|e| !is_inline(e.name()))
    };
    !cells.clone().any(blocks) && text_of(row, MAX_BYTES + 1, budget).len() <= MAX_BYTES
}

/// True if the cells of a table are boxes of the page's layout: one of them has several parts.
pub(crate) fn is_layout(table: NodeRef<'_, Node>, budget: &mut usize) -> bool {
    const MIN_PARTS: usize = 4;
    const MAX_OF_TABLE: usize = 60;
    const MAX_OF_CELL: usize = 160;
    let is = |node: &NodeRef<'_, Node>, names: &[&str]| {
        node.value().as_element().is_some_and(|element| names.contains(&element.name()))
    };
    let rows = table
        .children()
        .flat_map(|part| if is(&part, &["tr"]) { vec![part] } else { part.children().take(MAX_OF_TABLE).collect() });
    let cells = rows.take(MAX_OF_TABLE).flat_map(|row| row.children()).filter(|cell| is(cell, &["td", "th"]));
    cells.take(MAX_OF_TABLE).any(|cell| {
        let near = cell.descendants().skip(1).take(MAX_OF_CELL.min(*budget)).inspect(|_| *budget -= 1);
        let is_part = |node: &NodeRef<'_, Node>| {
            is(node, &["p", "h1", "h2", "h3", "h4", "ul", "ol", "table", "blockquote", "hr"])
        };
        near.filter(is_part).count() >= MIN_PARTS
    })
}

pub(crate) fn instant(element: &Element) -> Option<&str> {
    /// The order of day and month does not matter: machines write the year first, or the month by name.
    const HINTS: Hints = Hints::page(Order::DayFirst);
    const MAX_BYTES: usize = 256;
    let mut values = ["datetime", "content", "title"].iter().filter_map(|key| attr(element, key));
    values.find(|value| value.len() <= MAX_BYTES && parse_instant(value, &HINTS).is_some())
}

/// Returns the instant in an attribute of an element, or of the first few in it; that of a change if there is no other.
pub(crate) fn instant_in<'a>(node: NodeRef<'a, Node>, budget: &mut usize) -> Option<&'a str> {
    /// Maximum number of nodes examined; an element with a date has few.
    const NEAR: usize = 48;
    let mut changed = None;
    for inner in node.descendants().take(NEAR.min(*budget)) {
        let Some(element) = inner.value().as_element() else { continue };
        *budget = budget.saturating_sub(1 + element.attrs.len());
        match instant(element) {
            Some(stated) if !is_called(element, &["updated", "modif"]) => return Some(stated),
            stated => changed = changed.or(stated),
        }
    }
    changed
}

/// Returns the texts of the links to writers' pages among the first elements of a byline, joined, if there are any.
pub(crate) fn profiles_in(node: NodeRef<'_, Node>, budget: &mut usize) -> Option<String> {
    const MAX_STEPS: usize = 48;
    const MAX_NAMES: usize = 8;
    let mut names: Vec<String> = Vec::new();
    for inner in node.descendants().take(MAX_STEPS.min(*budget)) {
        *budget = budget.saturating_sub(1);
        let Some(element) = inner.value().as_element().filter(|element| element.name() == "a") else { continue };
        if attr(element, "href").is_some_and(is_profile) {
            let name = hygiene::line(&text_of(inner, 256, budget), 80);
            if !name.is_empty() && !names.contains(&name) && names.len() < MAX_NAMES {
                names.push(name);
            }
        }
    }
    (!names.is_empty()).then(|| names.join(", "))
}

pub(crate) fn is_called(element: &Element, words: &[&str]) -> bool {
    const MAX_BYTES: usize = 512;
    let mut names = ["class", "itemprop", "id"].iter().filter_map(|key| attr(element, key));
    names.any(|names| {
        let names = head_bytes(names, MAX_BYTES).to_ascii_lowercase();
        words.iter().any(|word| names.contains(word))
    })
}

/// True if a class says that an element within a heading is a label beside it, such as the section, or is hidden.
pub(crate) fn is_label(element: &Element) -> bool {
    const LABELS: &str = "antetitulo badge dachzeile eyebrow flag flair kicker label occhiello overline prefix volanta";
    /// Elements are examined once for each heading around them.
    const MAX_BYTES: usize = 256;
    attr(element, "class").is_some_and(|class| {
        head_bytes(class, MAX_BYTES).split_ascii_whitespace().any(|name| {
            let mut parts = name.split(['-', '_']).filter(|part| !part.is_empty());
            let ends = [parts.next(), parts.next_back()];
            (HIDING.contains(name) && !class.contains(':'))
                || ends
                    .into_iter()
                    .flatten()
                    .any(|part| LABELS.split(' ').any(|label| part.eq_ignore_ascii_case(label)))
        })
    })
}

/// True for a link to a fragment whose text is only a sign: to the heading around it, to a footnote or back.
pub(crate) fn is_sign_link(node: NodeRef<'_, Node>, element: &Element) -> bool {
    const NEAR: usize = 12;
    const MAX_BYTES: usize = 6;
    let is_note = || {
        attr(element, "role") == Some("doc-noteref")
            || attr(element, "data-footnote-ref").is_some()
            || attr(element, "class").is_some_and(|class| class.starts_with("footnote"))
            || node.parent().and_then(|around| around.value().as_element()).is_some_and(|around| around.name() == "sup")
    };
    let is_sign = || {
        let text = text_of(node, MAX_BYTES, &mut { NEAR });
        let sign = text.trim().trim_matches(['[', ']', '(', ')']);
        let is_number = sign.len() <= 3 && sign.bytes().all(|b| b.is_ascii_digit());
        let is_key = is_number || (sign.len() == 1 && sign.starts_with(char::is_lowercase));
        let is_short = text.len() <= MAX_BYTES && !text.trim().is_empty();
        is_short && (!sign.contains(char::is_alphanumeric) || (is_key && is_note()))
    };
    element.name() == "a" && attr(element, "href").is_some_and(|href| href.contains('#')) && is_sign()
}

/// True if an element that is hidden from screen readers is the first letter of a word that continues after it.
pub(crate) fn is_initial(node: NodeRef<'_, Node>) -> bool {
    const MAX_BYTES: usize = 12;
    const MAX_STEPS: usize = 8;
    const MAX_BEHIND: usize = 3;
    let text = |node: NodeRef<'_, Node>| match node.value() {
        Node::Text(text) => head_bytes(text, MAX_BYTES).to_owned(),
        _ => text_of(node, MAX_BYTES, &mut { MAX_STEPS }),
    };
    let letter = text(node);
    let mut behind = node.next_siblings().take(MAX_BEHIND).map(text).filter(|text| *text != letter && !text.is_empty());
    let next = behind.next().and_then(|word| word.chars().next());
    // Icon fonts use lower-case letters for icons, before labels that begin with capital letters.
    let goes_on = |c: char| next.is_some_and(|next| next.is_alphabetic() && (!c.is_lowercase() || next.is_lowercase()));
    letter.ends_with(|c: char| c.is_alphabetic() && goes_on(c))
        && letter.chars().filter(|c| c.is_alphabetic()).count() == 1
}

/// True if a hidden element contains a formula that is shown as an image next to it.
pub(crate) fn is_pictured_formula(node: NodeRef<'_, Node>) -> bool {
    const NEAR: usize = 4;
    let is = |name: &'static str| {
        move |node: NodeRef<'_, Node>| node.value().as_element().is_some_and(|element| element.name() == name)
    };
    node.children().take(NEAR).any(is("math"))
        && (node.next_siblings().take(NEAR).any(is("img")) || node.prev_siblings().take(NEAR).any(is("img")))
}

pub(crate) fn heading(tag: &str) -> Option<u8> {
    match tag.as_bytes() {
        [b'h', level @ b'1'..=b'6'] => Some(level - b'0'),
        _ => None,
    }
}

pub(crate) fn block_tag(tag: &str) -> Option<Tag> {
    Some(match tag {
        "p" => Tag::Paragraph,
        "li" | "dd" | "dt" => Tag::Item,
        "td" | "th" | "tr" => Tag::Cell,
        "blockquote" => Tag::Quote,
        "pre" => Tag::Pre,
        "div" | "section" | "article" | "main" | "table" | "ul" | "ol" | "figure" | "header" | "footer" | "aside"
        | "nav" => Tag::Other,
        _ => return heading(tag).map(Tag::Heading),
    })
}

pub(crate) fn mark(tag: &str, attributes: &Attributes<'_>, names: &ElementNames) -> Option<Mark> {
    if attributes.itemprop.split_ascii_whitespace().any(|name| name == "articleBody") {
        return Some(Mark::ArticleBody);
    }
    let is_text = names.class.content || names.id.content;
    if is_text && matches!(tag, "div" | "section" | "article" | "main" | "td") {
        return Some(Mark::Content);
    }
    match (tag, attributes.role) {
        ("main", _) => Some(Mark::Main),
        ("article", _) | (_, "article") => Some(Mark::Article),
        (_, "main") => Some(Mark::Main),
        _ => None,
    }
}

/// True if a property is a long text, which is read elsewhere or not at all.
pub(crate) fn is_long_property(name: &str) -> bool {
    matches!(name, "articleBody" | "text" | "description" | "reviewBody")
}

/// Returns the value of a property (HTML, "values"): `content` counts on every element, and a linked name is its text.
pub(crate) fn property_value(name: &str, node: NodeRef<'_, Node>, element: &Element, budget: &mut usize) -> String {
    const MAX_TEXT_BYTES: usize = 1_024;
    const MAX_GIVEN_BYTES: usize = 4_096;
    /// Bytes of attributes that count as a step.
    const BYTES_A_STEP: usize = 64;
    /// Steps for an image, whose sources may be those of a `<noscript>` after it.
    const IMAGE_STEPS: usize = 128;
    let bytes: usize = element.attrs.iter().map(|(_, value)| value.len()).sum();
    *budget = budget.saturating_sub(bytes / BYTES_A_STEP);
    if *budget == 0 {
        return String::new();
    }
    let date = matches!(name, "datePublished" | "dateCreated" | "dateModified");
    let address = matches!(name, "image" | "thumbnailUrl" | "contentUrl" | "url" | "mainEntityOfPage" | "sameAs");
    *budget = budget.saturating_sub(if element.name() == "img" { IMAGE_STEPS } else { 0 });
    let given = match element.name() {
        "link" => attr(element, "href"),
        "a" | "area" if address => attr(element, "href"),
        "img" | "amp-img" => sources(node).into_iter().next(),
        "audio" | "embed" | "iframe" | "source" | "track" | "video" => attr(element, "src"),
        "object" => attr(element, "data"),
        "data" | "meter" => attr(element, "value"),
        "time" => attr(element, "datetime"),
        _ => None,
    };
    let given = given.or_else(|| attr(element, "content")).or_else(|| attr(element, "datetime"));
    let given = given.or_else(|| if date { instant_in(node, budget) } else { None });
    let given = given.map(|given| head_bytes(given, MAX_GIVEN_BYTES).to_owned());
    given.unwrap_or_else(|| hygiene::line(&text_of(node, MAX_TEXT_BYTES, budget), 300))
}
