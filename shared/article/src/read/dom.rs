//! Builds the tree within its limits, and reads its elements.

use crate::lists::BLOCKS;
use crate::read::gate::{Limits, Unreadable};
use crate::read::sink::{CountingSink, Guard};
use crate::read::tokens::Tokens;
use ego_tree::iter::Edge;
use ego_tree::{NodeId, NodeRef, Tree};
use html5ever::tokenizer::{Token, TokenSink};
use scraper::node::Element;
use scraper::{Html, Node};
use std::collections::{HashMap, HashSet};

/// Steps of the tree builder that every page is allowed, regardless of its length.
const FREE_STEPS: u64 = 4_000_000;
/// Additional steps of the tree builder per byte, beyond [`FREE_STEPS`]. Real pages take less than one.
const STEPS_A_BYTE: u64 = 8;
/// Number of bytes of the page that are read between two counts of the open elements.
const PIECE: usize = 4_096;

/// Builds the tree within the limits, and adds its steps to `steps`; the walk checks depth again, since elements move.
pub(crate) fn build(html: &str, limits: &Limits, steps: &mut u64) -> Result<Html, Unreadable> {
    const NODE_BYTES: usize = 48;
    let mut document = Html::new_document();
    document.tree = Tree::with_capacity(Node::Document, html.len() / NODE_BYTES);
    let most_steps = FREE_STEPS.saturating_add(STEPS_A_BYTE.saturating_mul(html.len() as u64));
    let guard = Guard::new(CountingSink::new(document, *limits), most_steps);
    let outcome = pass_all(&mut Tokens::new(html, limits), &guard);
    *steps += guard.sink().steps();
    outcome?;
    let mut tree = guard.finish();
    let has = |part: &str| memchr::memmem::find(html.as_bytes(), part.as_bytes()).is_some();
    if has("template") && has("S:") {
        settle_streamed(&mut tree, limits);
    }
    if has("shadowrootmode") {
        flatten_shadow_trees(&mut tree);
    }
    Ok(tree)
}

fn pass_all(tokens: &mut Tokens<'_>, guard: &Guard) -> Result<(), Unreadable> {
    while tokens.pass(guard, PIECE)? {
        guard.check()?;
    }
    guard.check()?;
    let _end = guard.process_token(Token::EOFToken, 1);
    guard.end();
    guard.check()
}

fn flatten_shadow_trees(html: &mut Html) {
    let mut hosts = HashSet::new();
    // Of several templates, the first makes the shadow tree.
    let is_first = |root: &NodeRef<'_, Node>| {
        is_root(*root) && root.parent().is_some_and(|host| can_host(host) && hosts.insert(host.id()))
    };
    let roots: Vec<NodeId> = html.tree.nodes().filter(is_first).map(|root| root.id()).collect();
    for root in roots {
        settle(html, root);
    }
}

fn can_host(host: NodeRef<'_, Node>) -> bool {
    const HOSTS: &str = "article aside blockquote body div footer h1 h2 h3 h4 h5 h6 header main nav p section span";
    let is_host = |name: &str| name.contains('-') || HOSTS.split(' ').any(|host| host == name);
    host.value().as_element().is_some_and(|host| is_host(host.name()))
}

fn is_root(node: NodeRef<'_, Node>) -> bool {
    let is_mode = |mode: &str| mode.eq_ignore_ascii_case("open") || mode.eq_ignore_ascii_case("closed");
    let template = node.value().as_element().filter(|element| element.name() == "template");
    template.and_then(|template| template.attr("shadowrootmode")).is_some_and(is_mode)
}

fn settle(html: &mut Html, root: NodeId) -> Option<()> {
    let template = html.tree.get(root)?;
    let (host, content) = (template.parent()?, template.first_child()?);
    let slots = slots(content);
    let slot_of = |child: NodeRef<'_, Node>| match child.value() {
        Node::Element(element) => slots.get(element.attr("slot").unwrap_or_default()).copied(),
        Node::Text(_) => slots.get("").copied(),
        _ => None,
    };
    let is_blank = |child: NodeRef<'_, Node>| child.value().as_text().is_some_and(|text| text.trim().is_empty());
    let children = host.children().filter(|child| child.id() != root);
    let children: Vec<_> = children.map(|child| (child.id(), slot_of(child), is_blank(child))).collect();
    let (host, content) = (host.id(), content.id());
    let mut filled = HashSet::new();
    for (child, slot, is_blank) in children {
        // A child without a slot is not shown.
        html.tree.get_mut(child)?.detach();
        let Some(slot) = slot else { continue };
        if !is_blank && filled.insert(slot) {
            let fallback: Vec<NodeId> = html.tree.get(slot)?.children().map(|child| child.id()).collect();
            for child in fallback {
                html.tree.get_mut(child)?.detach();
            }
        }
        html.tree.get_mut(slot)?.append_id(child);
    }
    html.tree.get_mut(host)?.reparent_from_id_append(content);
    html.tree.get_mut(root)?.detach();
    Some(())
}

/// Returns the first slot of each name in a shadow tree, without nested shadow trees.
fn slots(content: NodeRef<'_, Node>) -> HashMap<String, NodeId> {
    let mut slots = HashMap::new();
    let mut waiting = vec![content];
    while let Some(node) = waiting.pop() {
        if let Some(slot) = node.value().as_element().filter(|element| element.name() == "slot") {
            slots.entry(slot.attr("name").unwrap_or_default().to_owned()).or_insert(node.id());
        }
        if !is_root(node) {
            let above = waiting.len();
            waiting.extend(node.children());
            waiting.get_mut(above..).into_iter().for_each(<[_]>::reverse);
        }
    }
    slots
}

/// Moves parts that the server streamed late: React's `<div hidden id="S:1">` belongs at `<template id="B:1">`.
fn settle_streamed(html: &mut Html, limits: &Limits) {
    const MAX_PARTS: usize = 1_000;
    let mut places = HashMap::new();
    let mut late = Vec::new();
    for node in html.tree.nodes() {
        let Some(element) = node.value().as_element() else { continue };
        let Some((kind, number)) = attr(element, "id").and_then(|id| id.split_once(':')) else { continue };
        match (element.name(), kind) {
            ("template", "B" | "P") => drop(places.insert(number.to_owned(), node.id())),
            (_, "S") if late.len() < MAX_PARTS && attr(element, "hidden").is_some() => {
                late.push((number.to_owned(), node.id()));
            }
            _ => {}
        }
    }
    for (number, part) in late {
        let Some(place) = places.get(&number).copied().filter(|place| takes(html, *place, part, limits)) else {
            continue;
        };
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

/// True if a part can be moved to a place: the place is in the tree, not in the part, and not too deep.
fn takes(html: &Html, place: NodeId, part: NodeId, limits: &Limits) -> bool {
    let deepest = limits.depth + limits.formatting_depth;
    let Some(place) = html.tree.get(place).filter(|place| place.parent().is_some()) else { return false };
    let mut above = 0;
    let holds = place.ancestors().take(deepest).inspect(|_| above += 1).any(|ancestor| ancestor.id() == part);
    !holds && above < deepest
}

pub(crate) fn attr<'a>(element: &'a Element, name: &str) -> Option<&'a str> {
    // A scan over the few attributes of a tag is faster than interning the name to look it up.
    element.attrs.iter().find(|(key, _)| &*key.local == name).map(|(_, value)| &**value)
}

pub(crate) fn texts(node: NodeRef<'_, Node>) -> impl Iterator<Item = &str> {
    node.children().filter_map(|child| child.value().as_text()).map(|text| &**text)
}

/// Number of bytes of a text that count as a step of the budget.
const CHARGED_BYTES: usize = 8;

/// True for elements that only explain the text next to them: readings of ruby, and the source of a formula.
pub(crate) fn is_gloss(tag: &str) -> bool {
    matches!(tag, "rp" | "rt" | "rtc" | "annotation" | "annotation-xml")
}

/// Returns all text below a node except glosses, with spaces between blocks, up to `max` bytes or one character more.
/// Each node, attribute and [`CHARGED_BYTES`] of text takes a step of the budget; reading stops when it is used up.
pub(crate) fn text_of(node: NodeRef<'_, Node>, max: usize, budget: &mut usize) -> String {
    text_without(node, max, budget, |_, _| false)
}

pub(crate) fn text_without(
    node: NodeRef<'_, Node>,
    max: usize,
    budget: &mut usize,
    leaves_out: impl Fn(NodeRef<'_, Node>, &Element) -> bool,
) -> String {
    let is_block = |node: NodeRef<'_, Node>| node.value().as_element().is_some_and(|e| !is_inline(e.name()));
    let mut out = String::new();
    let mut without = None;
    // Empty elements add no text, so the steps are counted too.
    for edge in node.traverse().take(max.saturating_mul(2).min(*budget)) {
        // Looking up an attribute scans all attributes of the element.
        let attributes = match &edge {
            Edge::Open(node) => node.value().as_element().map_or(0, |element| element.attrs.len()),
            Edge::Close(_) => 0,
        };
        *budget = budget.saturating_sub(1 + attributes);
        match edge {
            Edge::Open(_) if without.is_some() => {}
            Edge::Open(node) => match node.value() {
                Node::Element(element) if is_gloss(element.name()) || leaves_out(node, element) => {
                    without = Some(node.id());
                }
                Node::Text(text) => {
                    let end = text.ceil_char_boundary(max + 1 - out.len());
                    out.push_str(text.get(..end).unwrap_or_default());
                    *budget = budget.saturating_sub(end / CHARGED_BYTES);
                }
                Node::Element(element) if !is_inline(element.name()) => out.push(' '),
                _ => {}
            },
            Edge::Close(node) if without == Some(node.id()) => without = None,
            Edge::Close(node) if without.is_none() && is_block(node) => out.push(' '),
            Edge::Close(_) => {}
        }
        if out.len() > max {
            break;
        }
    }
    out
}

/// True for elements within a line of text: all but those that CSS makes blocks (HTML, "Rendering"), also custom ones.
pub(crate) fn is_inline(tag: &str) -> bool {
    !BLOCKS.contains(tag)
}

/// Returns a text without tags, which JSON-LD often contains: block tags become line breaks, others are removed.
pub(crate) fn without_tags(raw: &str) -> String {
    if !raw.contains('<') {
        return raw.to_owned();
    }
    let mut out = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = rest.find('<') {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        rest = from;
        if !from[1..].starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '/' | '!')) {
            out.push('<');
            rest = from.get(1..).unwrap_or_default();
            continue;
        }
        // If one tag does not end, no later one does.
        let Some(end) = from.find('>') else { break };
        let name = from.get(1..end).unwrap_or_default().trim_start_matches('/');
        let name = name.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
        if !is_inline(&name.to_ascii_lowercase()) {
            out.push('\n');
        }
        rest = from.get(end + 1..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}
