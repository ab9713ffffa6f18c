//! Building the tree within its limits, and reading elements of it.

use crate::gate::is_formatting;
use crate::{Limits, Unreadable};
use ego_tree::{NodeRef, Tree};
use html5ever::driver::{ParseOpts, Parser, parse_document};
use html5ever::tendril::{StrTendril, TendrilSink};
use scraper::node::Element;
use scraper::{Html, HtmlTreeSink, Node};
use std::collections::HashMap;

/// How many bytes the tree builder is given before the tree is looked at again.
const PIECE: usize = 4_096;
/// The same once formatting elements are nested this deep, for each paragraph may re-open all of them.
const SMALL_PIECE: usize = 256;
/// See [`SMALL_PIECE`].
const TANGLED: usize = 32;

/// Builds the tree piece by piece, and stops as soon as it grows too deep or too large.
pub(crate) fn build(html: &str, limits: &Limits) -> Result<Html, Unreadable> {
    /// About so many bytes of a page make one node of its tree.
    const NODE_BYTES: usize = 48;
    let mut document = Html::new_document();
    document.tree = Tree::with_capacity(Node::Document, html.len() / NODE_BYTES);
    let mut parser = parse_document(HtmlTreeSink::new(document), ParseOpts::default());
    let mut rest = html;
    let mut known = 0;
    let mut tangled = 0;
    while !rest.is_empty() {
        let (piece, next) = rest.split_at(rest.ceil_char_boundary(if tangled > TANGLED { SMALL_PIECE } else { PIECE }));
        parser.process(StrTendril::from_slice(piece));
        rest = next;
        tangled = inspect(&parser, &mut known, limits)?;
    }
    let mut tree = parser.finish();
    settle_streamed(&mut tree);
    if tree.tree.values().len() > limits.tags.saturating_mul(4) { Err(Unreadable::TooManyTags) } else { Ok(tree) }
}

/// Puts parts that the server sent late where they belong, as the page's own script would: React sends
/// `<div hidden id="S:1">` at the end for the place that `<template id="B:1">` marks.
fn settle_streamed(html: &mut Html) {
    let mut places = HashMap::new();
    let mut late = Vec::new();
    for node in html.tree.nodes() {
        let Some(element) = node.value().as_element() else { continue };
        let Some((kind, number)) = attr(element, "id").and_then(|id| id.split_once(':')) else { continue };
        match (element.name(), kind) {
            ("template", "B" | "P") => drop(places.insert(number.to_owned(), node.id())),
            (_, "S") if attr(element, "hidden").is_some() => late.push((number.to_owned(), node.id())),
            _ => {}
        }
    }
    for (number, part) in late {
        let Some(place) = places.get(&number).copied() else { continue };
        // A part that holds its own place would become its own ancestor.
        let circular = html.tree.get(place).is_none_or(|node| node.ancestors().any(|ancestor| ancestor.id() == part));
        let orphan = html.tree.get(place).is_none_or(|node| node.parent().is_none());
        if circular || orphan {
            continue;
        }
        if let Some(mut node) = html.tree.get_mut(part) {
            if let Node::Element(element) = node.value() {
                element.attrs.retain(|(name, _)| &*name.local != "hidden");
            }
            node.detach();
        }
        if let Some(mut node) = html.tree.get_mut(place) {
            node.insert_id_before(part);
        }
    }
}

/// Looks at the nodes that are new since the last time. Gives the deepest nesting of formatting elements among them.
fn inspect(parser: &Parser<HtmlTreeSink>, known: &mut usize, limits: &Limits) -> Result<usize, Unreadable> {
    let html = parser.tokenizer.sink.sink.0.borrow();
    let total = html.tree.values().len();
    // Text and comments are nodes too; one of each to a tag is plenty.
    if total > limits.tags.saturating_mul(4) {
        return Err(Unreadable::TooManyTags);
    }
    let mut last_parent = None;
    let mut tangled = 0;
    for node in html.tree.nodes().rev().take(total.saturating_sub(*known)) {
        // Only leaves are measured, and of siblings only one: the others are no deeper.
        if !node.value().is_element() || node.children().any(|child| child.value().is_element()) {
            continue;
        }
        let parent = node.parent().map(|parent| parent.id());
        if parent == last_parent {
            continue;
        }
        last_parent = parent;
        let (structure, formatting) = depth(node);
        if structure > limits.depth || formatting > limits.formatting_depth {
            return Err(Unreadable::TooDeep);
        }
        tangled = tangled.max(formatting);
    }
    *known = total;
    Ok(tangled)
}

/// How many elements a node lies in, itself included: formatting elements apart.
fn depth(node: NodeRef<'_, Node>) -> (usize, usize) {
    let mut counts = (0, 0);
    for node in std::iter::once(node).chain(node.ancestors()) {
        match node.value().as_element() {
            Some(element) if is_formatting(element.name()) => counts.1 += 1,
            Some(_) => counts.0 += 1,
            None => {}
        }
    }
    counts
}

/// The value of an attribute.
pub(crate) fn attr<'a>(element: &'a Element, name: &str) -> Option<&'a str> {
    // A scan over the few attributes of a tag is faster than interning the name to look it up.
    element.attrs().find(|(key, _)| *key == name).map(|(_, value)| value)
}

/// All text below a node, with a space wherever an element begins or ends, up to `max` bytes.
pub(crate) fn text_of(node: NodeRef<'_, Node>, max: usize) -> String {
    use ego_tree::iter::Edge;
    let mut out = String::new();
    // Empty elements add no text, so the steps are counted too.
    for edge in node.traverse().take(max.saturating_mul(2)) {
        match edge {
            Edge::Open(node) => match node.value() {
                Node::Text(text) => out.push_str(text),
                Node::Element(element) if !crate::outline::is_inline(element.name()) => out.push(' '),
                _ => {}
            },
            Edge::Close(_) => {}
        }
        if out.len() > max {
            break;
        }
    }
    out
}
