//! The tree builder's sink: wraps scraper's and counts its calls. Each step of html5ever whose cost grows with the open
//! elements calls the sink, so the calls measure the work; [`Guard`] charges for formatting elements without calls.

use crate::read::gate::{Limits, Unreadable, is_formatting};
use ego_tree::NodeId;
use foldhash::HashSet;
use html5ever::interface::{ElementFlags, NodeOrText, QuirksMode, Tracer, TreeSink};
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{Tag, TagKind, Token, TokenSink, TokenSinkResult};
use html5ever::tree_builder::{TreeBuilder, TreeBuilderOpts};
use html5ever::{Attribute, QualName, local_name};
use scraper::{Html, HtmlTreeSink};
use std::borrow::Cow;
use std::cell::{Cell, Ref, RefCell};
use std::hash::BuildHasher;

/// Cost in steps of comparing one attribute with that of another formatting element, which copies and sorts it.
const COMPARISON: usize = 16;

/// Maximum length of an attribute's value, in bytes, since rules read elements repeatedly.
const VALUE_BYTES: u32 = 16 * 1024;

/// Maximum number of formatting elements that are distinguished; beyond it, the limit on open ones is tighter.
const KINDS: usize = 2_000;

pub(crate) struct CountingSink {
    inner: HtmlTreeSink,
    limits: Limits,
    steps: Cell<u64>,
    attributes: Cell<usize>,
    attribute_bytes: Cell<usize>,
    /// Hashes of distinct formatting elements. Their seed is random, so that nobody can construct collisions.
    kinds: RefCell<HashSet<u64>>,
    /// Upper bound on the formatting elements that the tree builder remembers.
    listed: Cell<usize>,
    refused: Cell<Option<Unreadable>>,
    /// True if a link that is created now is one that was left open when its parent ended.
    reopens: Cell<bool>,
}

impl CountingSink {
    pub(crate) fn new(html: Html, limits: Limits) -> CountingSink {
        CountingSink {
            inner: HtmlTreeSink::new(html),
            limits,
            steps: Cell::new(0),
            attributes: Cell::new(0),
            attribute_bytes: Cell::new(0),
            kinds: RefCell::default(),
            listed: Cell::new(0),
            refused: Cell::new(None),
            reopens: Cell::new(false),
        }
    }

    fn charge(&self, steps: usize) {
        self.steps.set(self.steps.get().saturating_add(steps as u64));
    }

    pub(crate) fn steps(&self) -> u64 {
        self.steps.get()
    }

    fn refuse(&self, why: Unreadable) {
        self.refused.set(self.refused.get().or(Some(why)));
    }

    fn recount(&self, formatting: usize) {
        /// Maximum number of equal elements that are remembered (HTML, "Noah's Ark clause").
        const EQUAL: usize = 3;
        self.listed.set(formatting.min(EQUAL * self.kinds.borrow().len()));
    }

    /// Charges work without calls: the tree builder compares a formatting element with all that it remembers.
    fn charge_formatting(&self, tag: &Tag) {
        if tag.kind == TagKind::EndTag {
            return self.charge(self.listed.get());
        }
        let mut kinds = self.kinds.borrow_mut();
        if kinds.len() < KINDS {
            // Hashed by letters, since the hash that a name contains has only 32 bits.
            let attributes: Vec<_> = tag.attrs.iter().map(|a| (&a.name.local[..], &a.value[..])).collect();
            let hash = kinds.hasher().hash_one((&tag.name[..], attributes));
            kinds.insert(hash);
        }
        drop(kinds);
        self.charge(self.listed.get() * (1 + COMPARISON * tag.attrs.len()));
        // Only one link is remembered at a time.
        self.recount(self.listed.get() + usize::from(&*tag.name != "a"));
    }
}

impl TreeSink for CountingSink {
    type Handle = NodeId;
    type Output = Html;
    type ElemName<'a> = Ref<'a, QualName>;

    fn finish(self) -> Html {
        self.inner.finish()
    }

    fn parse_error(&self, msg: Cow<'static, str>) {
        self.inner.parse_error(msg);
    }

    fn get_document(&self) -> NodeId {
        self.inner.get_document()
    }

    fn elem_name<'a>(&'a self, target: &'a NodeId) -> Ref<'a, QualName> {
        self.charge(1);
        self.inner.elem_name(target)
    }

    fn create_element(&self, name: QualName, attrs: Vec<Attribute>, flags: ElementFlags) -> NodeId {
        self.charge(1 + attrs.len());
        let together = self.attributes.get().saturating_add(attrs.len());
        self.attributes.set(together);
        let bytes: usize = attrs.iter().map(|attribute| attribute.value.len()).sum();
        let bytes = self.attribute_bytes.get().saturating_add(bytes);
        self.attribute_bytes.set(bytes);
        // Two attributes per tag are plenty. Those of reopened elements count again.
        let is_too_much = together > self.limits.tags.saturating_mul(2) || bytes > 2 * self.limits.bytes;
        let mut attrs = if is_too_much {
            self.refuse(Unreadable::TooManyAttributes);
            Vec::new()
        } else {
            attrs
        };
        // Nobody can tell where such a link was meant to end, so it becomes a mere place.
        if self.reopens.get() && name.local == local_name!("a") {
            let links = attrs.iter_mut().filter(|attribute| attribute.name.local == local_name!("href"));
            links.for_each(|attribute| attribute.name.local = local_name!("name"));
        }
        for value in attrs.iter_mut().map(|attribute| &mut attribute.value).filter(|value| value.len32() > VALUE_BYTES)
        {
            let end = value.floor_char_boundary(VALUE_BYTES as usize);
            value.pop_back(value.len32() - u32::try_from(end).unwrap_or(VALUE_BYTES));
        }
        self.inner.create_element(name, attrs, flags)
    }

    fn create_comment(&self, text: StrTendril) -> NodeId {
        self.charge(1);
        self.inner.create_comment(text)
    }

    fn create_pi(&self, target: StrTendril, data: StrTendril) -> NodeId {
        self.charge(1);
        self.inner.create_pi(target, data)
    }

    fn append(&self, parent: &NodeId, child: NodeOrText<NodeId>) {
        self.charge(1);
        self.inner.append(parent, child);
    }

    fn append_based_on_parent_node(&self, element: &NodeId, prev_element: &NodeId, child: NodeOrText<NodeId>) {
        self.charge(1);
        self.inner.append_based_on_parent_node(element, prev_element, child);
    }

    fn append_doctype_to_document(&self, name: StrTendril, public_id: StrTendril, system_id: StrTendril) {
        self.charge(1);
        self.inner.append_doctype_to_document(name, public_id, system_id);
    }

    fn get_template_contents(&self, target: &NodeId) -> NodeId {
        self.charge(1);
        self.inner.get_template_contents(target)
    }

    fn same_node(&self, x: &NodeId, y: &NodeId) -> bool {
        self.charge(1);
        self.inner.same_node(x, y)
    }

    fn set_quirks_mode(&self, mode: QuirksMode) {
        self.inner.set_quirks_mode(mode);
    }

    fn append_before_sibling(&self, sibling: &NodeId, new_node: NodeOrText<NodeId>) {
        self.charge(1);
        self.inner.append_before_sibling(sibling, new_node);
    }

    /// Adds the attributes of a second `<html>` or `<body>` to the first one; each addition moves all the others.
    fn add_attrs_if_missing(&self, target: &NodeId, attrs: Vec<Attribute>) {
        let known =
            self.inner.0.borrow().tree.get(*target).and_then(|node| Some(node.value().as_element()?.attrs.len()));
        let together = known.unwrap_or(0) + attrs.len();
        self.charge(together);
        if together > 2 * self.limits.attributes {
            self.refuse(Unreadable::TooManyAttributes);
        } else {
            self.inner.add_attrs_if_missing(target, attrs);
        }
    }

    fn remove_from_parent(&self, target: &NodeId) {
        self.charge(1);
        self.inner.remove_from_parent(target);
    }

    fn reparent_children(&self, node: &NodeId, new_parent: &NodeId) {
        let moved = self.inner.0.borrow().tree.get(*node).map_or(0, |node| node.children().count());
        self.charge(moved);
        self.inner.reparent_children(node, new_parent);
    }
}

pub(crate) struct Guard {
    builder: TreeBuilder<NodeId, CountingSink>,
    most_steps: u64,
}

impl Guard {
    pub(crate) fn new(sink: CountingSink, most_steps: u64) -> Guard {
        Guard { builder: TreeBuilder::new(sink, TreeBuilderOpts::default()), most_steps }
    }

    pub(crate) fn sink(&self) -> &CountingSink {
        &self.builder.sink
    }

    pub(crate) fn check(&self) -> Result<(), Unreadable> {
        let limits = &self.sink().limits;
        let open = OpenElements { sink: self.sink(), structure: Cell::new(0), formatting: Cell::new(0) };
        self.builder.trace_handles(&open);
        let (structure, formatting) = (open.structure.get(), open.formatting.get());
        self.sink().recount(formatting);
        self.sink().charge(structure + formatting);
        // Open formatting elements are also remembered, so they are counted twice.
        if structure > limits.depth || formatting > 2 * limits.formatting_depth {
            self.sink().refuse(Unreadable::TooDeep);
        }
        self.sink().refused.get().map_or(Ok(()), Err)
    }

    pub(crate) fn finish(self) -> Html {
        self.builder.sink.finish()
    }
}

impl TokenSink for Guard {
    type Handle = NodeId;

    fn process_token(&self, token: Token, line_number: u64) -> TokenSinkResult<NodeId> {
        let sink = self.sink();
        if sink.refused.get().is_some() {
            return TokenSinkResult::Continue;
        }
        if let Token::TagToken(tag) = &token
            && is_formatting(&tag.name)
        {
            sink.charge_formatting(tag);
        }
        sink.reopens.set(!matches!(&token, Token::TagToken(tag) if tag.kind == TagKind::EndTag || &*tag.name == "a"));
        if sink.steps() > self.most_steps {
            sink.refuse(Unreadable::TooDeep);
        }
        // Text and comments are nodes too; one of each per tag is plenty.
        if sink.inner.0.borrow().tree.values().len() > sink.limits.tags.saturating_mul(4) {
            sink.refuse(Unreadable::TooManyTags);
        }
        self.builder.process_token(token, line_number)
    }

    fn end(&self) {
        self.builder.end();
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.builder.adjusted_current_node_present_but_not_in_html_namespace()
    }
}

struct OpenElements<'s> {
    sink: &'s CountingSink,
    structure: Cell<usize>,
    formatting: Cell<usize>,
}

impl Tracer for OpenElements<'_> {
    type Handle = NodeId;

    fn trace_handle(&self, node: &NodeId) {
        let html = self.sink.inner.0.borrow();
        let Some(element) = html.tree.get(*node).and_then(|node| node.value().as_element()) else { return };
        let count = if is_formatting(element.name()) { &self.formatting } else { &self.structure };
        count.set(count.get() + 1);
    }
}
