//! Puts shadow trees that a page declares in its markup where browsers show them (DOM, "finding flattened slottables").

use ego_tree::{NodeId, NodeRef};
use scraper::{Html, Node};
use std::collections::{HashMap, HashSet};

/// Replaces the children of each host of a `<template shadowrootmode>` by its content, with the slots filled.
pub(super) fn flatten(html: &mut Html) {
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

/// True for an element that may have a shadow tree (DOM, "valid shadow host name").
fn can_host(host: NodeRef<'_, Node>) -> bool {
    const HOSTS: &str = "article aside blockquote body div footer h1 h2 h3 h4 h5 h6 header main nav p section span";
    let is_host = |name: &str| name.contains('-') || HOSTS.split(' ').any(|host| host == name);
    host.value().as_element().is_some_and(|host| is_host(host.name()))
}

/// True for a template that makes a shadow tree.
fn is_root(node: NodeRef<'_, Node>) -> bool {
    let is_mode = |mode: &str| mode.eq_ignore_ascii_case("open") || mode.eq_ignore_ascii_case("closed");
    let template = node.value().as_element().filter(|element| element.name() == "template");
    template.and_then(|template| template.attr("shadowrootmode")).is_some_and(is_mode)
}

/// Puts one shadow tree in its place; `None` if it has none.
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

/// Returns the first slot of each name in a shadow tree, without the shadow trees in it.
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
