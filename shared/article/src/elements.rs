//! What single elements are, told from their names, roles and classes.

use crate::boilerplate::Names;
use crate::dom::{attr, text_of};
use crate::outline::{Mark, Tag, is_inline};
use curlew_text::date::{Hints, Order, parse_instant};
use ego_tree::NodeRef;
use scraper::Node;
use scraper::node::Element;

/// Elements whose text is never part of what is read.
pub(crate) fn is_mute(tag: &str) -> bool {
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

/// Whether a row holds data rather than a page's layout: short cells without blocks in them.
pub(crate) fn is_short_row(row: NodeRef<'_, Node>, budget: &mut usize) -> bool {
    /// Longest text of such a row, in bytes.
    const LONGEST: usize = 400;
    /// More cells than this are not looked at.
    const CELLS: usize = 40;
    let cells = row.children().filter(|node| node.value().is_element()).take(CELLS);
    let blocks = |cell: NodeRef<'_, Node>| {
        cell.children().take(CELLS).filter_map(|node| node.value().as_element()).any(|e| !is_inline(e.name()))
    };
    !cells.clone().any(blocks) && text_of(row, LONGEST + 1, budget).len() <= LONGEST
}

/// Whether a class names a writer, and not what belongs to one (a box, an image, a biography).
pub(crate) fn is_byline(class: &str) -> bool {
    let lower = class.to_ascii_lowercase();
    let says = |word: &str, name: &str| {
        name == word || (name.contains(word) && name.len() <= 40 && !OF_AUTHOR.iter().any(|part| name.contains(part)))
    };
    lower.split_ascii_whitespace().any(|name| says("author", name) || says("byline", name)) || is_formatted_name(class)
}

/// Whether a class is that of a formatted name (hCard).
fn is_formatted_name(class: &str) -> bool {
    class.split_ascii_whitespace().any(|name| name == "fn")
}

/// Parts of class names of things beside an author's name.
const OF_AUTHOR: [&str; 12] =
    ["bio", "box", "img", "image", "avatar", "photo", "social", "desc", "link-", "card", "about", "icon"];

/// Whether a class says that a date stands there.
pub(crate) fn is_date_class(class: &str) -> bool {
    let lower = |word: &str| {
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
        )
    };
    let camel = ["Date", "Time", "ublished"].iter().any(|word| class.contains(word));
    camel || class.split(|c: char| !c.is_ascii_alphanumeric()).any(lower)
}

/// The instant that an attribute of an element states, whatever its text says.
pub(crate) fn instant(element: &Element) -> Option<&str> {
    /// Whether the day or the month comes first does not matter: machines write the year first, or the month by name.
    const HINTS: Hints = Hints::page(Order::DayFirst);
    let mut values = ["datetime", "content", "title"].iter().filter_map(|key| attr(element, key));
    values.find(|value| parse_instant(value, &HINTS).is_some())
}

/// The instant that an element, or else one of the first few in it, states in an attribute: a `<time>` in a block that is
/// named as a date says the hour, which is not shown. What is called the time of a change comes last.
pub(crate) fn instant_in<'a>(node: NodeRef<'a, Node>, budget: &mut usize) -> Option<&'a str> {
    /// Steps into the element; one that holds more is no line with a date.
    const NEAR: usize = 48;
    let mut changed = None;
    for inner in node.descendants().take(NEAR.min(*budget)) {
        *budget -= 1;
        let Some(element) = inner.value().as_element() else { continue };
        match instant(element) {
            Some(stated) if !is_called(element, &["updated", "modif"]) => return Some(stated),
            stated => changed = changed.or(stated),
        }
    }
    changed
}

/// Returns whether the class, the id or the property of an element holds one of the words, which are in lower case.
pub(crate) fn is_called(element: &Element, words: &[&str]) -> bool {
    let mut names = ["class", "itemprop", "id"].iter().filter_map(|key| attr(element, key));
    names.any(|names| {
        let names = names.to_ascii_lowercase();
        words.iter().any(|word| names.contains(word))
    })
}

/// The level of a heading.
pub(crate) fn heading(tag: &str) -> Option<u8> {
    match tag.as_bytes() {
        [b'h', level @ b'1'..=b'6'] => Some(level - b'0'),
        _ => None,
    }
}

/// What kind of block an element makes of the text directly in it.
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

/// Why an element is a candidate for the article, if it is one.
pub(crate) fn mark<'a>(element: &'a Element, tag: &str, names: &mut Names<'a>) -> Option<Mark> {
    if attr(element, "itemprop").is_some_and(|names| names.split_ascii_whitespace().any(|name| name == "articleBody")) {
        return Some(Mark::ArticleBody);
    }
    let mut named = ["class", "id"].iter().filter_map(|key| attr(element, key));
    if matches!(tag, "div" | "section" | "article" | "main" | "td") && named.any(|value| names.told(value).content) {
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
