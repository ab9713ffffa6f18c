//! The fallback: a port of Mozilla's Readability, the crate `dom_smoothie`.
//!
//! It has a tree of its own and is slow on deep ones, so it is not given the page but what is left of it: block
//! elements, links, and text, with formatting, scripts, and attributes other than names taken out.

use crate::Limits;
use crate::boilerplate::{Kind, Names};
use crate::dom::attr;
use crate::gate::is_formatting;
use crate::text;
use dom_smoothie::{Config, Readability, TextMode};
use ego_tree::iter::Edge;
use scraper::{Html, Node};

/// Longest page handed on, in bytes.
const LONGEST: usize = 1024 * 1024;
/// Most work handed on: the depths of all elements, added up, and [`EACH`] for every one of them. Its time grows with the
/// one and its memory with the other; real pages stay well below.
const WORK: usize = 1_000_000;
/// See [`WORK`].
const EACH: usize = 20;

/// The text that the fallback finds; empty when it finds none.
pub(crate) fn read(tree: &Html, limits: &Limits) -> String {
    let config = Config { text_mode: TextMode::Formatted, disable_json_ld: true, ..Config::default() };
    let Some(reduced) = reduced(tree) else { return String::new() };
    let Ok(mut reader) = Readability::new(reduced, None, Some(config)) else { return String::new() };
    let Ok(article) = reader.parse() else { return String::new() };
    let mut out = String::new();
    let mut left = limits.text_chars;
    let mut last = String::new();
    for paragraph in article.text_content.lines() {
        let paragraph = text::line(paragraph, left);
        // The same line twice in a row is a copy for another width of screen.
        if paragraph.is_empty() || paragraph == last {
            continue;
        }
        last.clone_from(&paragraph);
        if !out.is_empty() {
            out.push_str("\n\n");
        }
        out.push_str(&paragraph);
        left = left.saturating_sub(paragraph.chars().count() + 2);
        if left == 0 {
            break;
        }
    }
    out
}

/// The page as HTML again, with only what the fallback looks at; none if that would be too much work for it.
fn reduced(tree: &Html) -> Option<String> {
    let mut out = String::from("<!DOCTYPE html><html><body>");
    let mut names = Names::default();
    let mut skipping = None;
    let (mut depth, mut work) = (0, 0);
    for edge in tree.tree.root().traverse() {
        match edge {
            Edge::Open(node) if skipping.is_none() => match node.value() {
                Node::Text(text) if out.len() < LONGEST => escape(&mut out, text),
                Node::Element(element) => {
                    let name = element.name();
                    if mute(name) || out.len() >= LONGEST || names.kind(element) == Some(Kind::Hidden) {
                        skipping = Some(node.id());
                    } else if emitted(name) {
                        depth += usize::from(!is_void(name));
                        work += depth + EACH;
                        if work > WORK {
                            return None;
                        }
                        out.push('<');
                        out.push_str(name);
                        for key in ["class", "id", "href", "role"] {
                            if let Some(value) = attr(element, key).filter(|value| value.len() < 256) {
                                out.push(' ');
                                out.push_str(key);
                                out.push_str("=\"");
                                escape(&mut out, value);
                                out.push('"');
                            }
                        }
                        out.push('>');
                    }
                }
                _ => {}
            },
            Edge::Close(node) if skipping.is_some() => {
                if skipping == Some(node.id()) {
                    skipping = None;
                }
            }
            Edge::Close(node) => {
                if let Node::Element(element) = node.value()
                    && emitted(element.name())
                    && !is_void(element.name())
                {
                    depth -= 1;
                    out.push_str("</");
                    out.push_str(element.name());
                    out.push('>');
                }
            }
            Edge::Open(_) => {}
        }
    }
    Some(out)
}

/// Elements without an end (HTML, "void elements"), of those that are handed on.
fn is_void(tag: &str) -> bool {
    matches!(tag, "br" | "hr" | "img")
}

fn mute(tag: &str) -> bool {
    matches!(
        tag,
        "head"
            | "script"
            | "style"
            | "noscript"
            | "template"
            | "svg"
            | "math"
            | "iframe"
            | "object"
            | "canvas"
            | "video"
            | "audio"
            | "select"
            | "textarea"
            | "button"
            | "frameset"
    )
}

fn emitted(tag: &str) -> bool {
    tag == "a"
        || (!is_formatting(tag)
            && !matches!(
                tag,
                "html" | "body" | "span" | "img" | "input" | "wbr" | "picture" | "source" | "link" | "meta"
            )
            && tag.bytes().all(|b| b.is_ascii_alphanumeric()))
}

fn escape(out: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c => out.push(c),
        }
    }
}

/// A text that may hold tags, as JSON-LD often does: block tags become line breaks, the others vanish.
pub(crate) fn without_tags(raw: &str) -> String {
    if !raw.contains('<') {
        return raw.to_owned();
    }
    let mut out = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = rest.find('<') {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let is_tag = from[1..].starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '/' | '!'));
        match from.find('>') {
            Some(end) if is_tag => {
                let name = from.get(1..end).unwrap_or_default().trim_start_matches('/');
                let name = name.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
                if !crate::outline::is_inline(&name.to_ascii_lowercase()) {
                    out.push('\n');
                }
                rest = from.get(end + 1..).unwrap_or_default();
            }
            _ => {
                out.push('<');
                rest = from.get(1..).unwrap_or_default();
            }
        }
    }
    out.push_str(rest);
    out
}
