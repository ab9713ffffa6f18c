//! Checks a document tag by tag against XML and a schema, and records faults.

use super::place::Notes;
use super::xsd::{Complex, MAX_CHILDREN, TypeId, Wildcard, XsdSchema};
use crate::limits::{MAX_ATTRIBUTES, MAX_DEPTH, MAX_NAMESPACES};
use crate::token::{Tag, Token, Tokens};
use crate::work::Work;
use curlew_model::FaultCode;
use curlew_text::references;
use std::{collections::HashMap, collections::hash_map::Entry, fmt};

const MAX_COMPARED: usize = 32;
/// Maximum number of bytes of a value that are checked. No valid checked value is longer.
const MAX_VALUE: usize = 4_096;
/// Namespace of the prefix `xml`, which needs no declaration (Namespaces in XML §3).
const XML: &str = "http://www.w3.org/XML/1998/namespace";

pub(super) fn check(text: &str, schema: Option<&XsdSchema>, work: &Work, notes: &mut Notes<'_>) {
    work.add(text.len());
    control_characters(text, notes);
    let mut checker = XsdChecker {
        tokens: Tokens::new(text, work),
        work,
        text,
        schema,
        notes,
        scopes: vec![("xml", XML)],
        open: Vec::new(),
        names: HashMap::new(),
        value: String::new(),
        begun: false,
        ended: false,
        junk: false,
    };
    while let Some(token) = checker.tokens.next() {
        match token {
            Token::Start(tag) => checker.start(&tag),
            Token::End(name) => checker.end(name),
            Token::Text(text) => checker.text(text, true),
            Token::CData(text) => checker.text(text, false),
        }
        if checker.notes.is_full() {
            return;
        }
    }
    checker.finish();
}

struct Frame<'a> {
    name: &'a str,
    offset: usize,
    /// Type of the element; `None` if its content is not checked.
    kind: Option<TypeId>,
    /// Number of occurrences of each child element of the type.
    seen: [u32; MAX_CHILDREN],
    scopes: usize,
}

struct XsdChecker<'a, 'n, 't> {
    tokens: Tokens<'a>,
    work: &'a Work,
    text: &'a str,
    schema: Option<&'a XsdSchema>,
    notes: &'n mut Notes<'t>,
    /// Namespace declarations in scope: prefix and namespace, innermost last.
    scopes: Vec<(&'a str, &'a str)>,
    open: Vec<Frame<'a>>,
    /// Number of open elements of each name, so that an unmatched end tag is detected without a search.
    names: HashMap<&'a str, usize>,
    /// Text of the innermost element so far, if it must be checked.
    value: String,
    begun: bool,
    ended: bool,
    /// True if text outside the root element was recorded.
    junk: bool,
}

impl<'a> XsdChecker<'a, '_, '_> {
    fn kind(&self, id: Option<TypeId>) -> Option<&'a Complex> {
        self.schema?.types.get(id?)
    }

    fn start(&mut self, tag: &Tag<'a>) {
        let offset = self.tokens.offset();
        if self.open.len() >= MAX_DEPTH {
            self.notes.add(offset, FaultCode::TooDeep, "", "");
            return self.tokens.stop();
        }
        if self.ended {
            self.stray(offset);
        }
        let scopes = self.scopes.len();
        self.declare(tag, offset);
        let (namespace, local) = self.resolve(tag.name, tag.name, offset);
        let kind = if self.begun {
            self.child(namespace, local, tag, offset)
        } else {
            self.root(namespace, local, tag, offset)
        };
        self.attributes(tag, kind, offset);
        self.value.clear();
        *self.names.entry(tag.name).or_default() += 1;
        self.open.push(Frame { name: tag.name, offset, kind, seen: [0; MAX_CHILDREN], scopes });
        if tag.empty {
            self.close();
        }
    }

    /// Handles an element before or at the root. Anything before the root element is recorded as a fault.
    fn root(&mut self, namespace: &str, local: &str, tag: &Tag<'a>, offset: usize) -> Option<TypeId> {
        let before = &self.text[..offset];
        let Some(schema) = self.schema else {
            self.begun = true;
            self.late_declaration(before);
            return None;
        };
        let found = schema.roots.iter().find(|(name, _)| name == local).map(|(_, id)| *id);
        let looks_right = schema.roots.iter().any(|(name, _)| name.eq_ignore_ascii_case(local));
        if !looks_right {
            self.stray(offset);
            return None;
        }
        self.begun = true;
        self.open.clear();
        self.names.clear();
        self.late_declaration(before);
        if found.is_none() || namespace != schema.namespace {
            self.notes.add(offset, FaultCode::UnknownRoot, quoted(tag.name), "");
            return None;
        }
        found
    }

    fn late_declaration(&mut self, before: &str) {
        if before.trim_start_matches('\u{FEFF}').find("<?xml ").is_some_and(|at| at > 0) {
            self.stray(0);
        }
    }

    fn child(&mut self, namespace: &str, local: &str, tag: &Tag<'a>, offset: usize) -> Option<TypeId> {
        let schema = self.schema?;
        let parent = self.open.last_mut()?;
        let kind = schema.types.get(parent.kind?)?;
        let own = namespace == schema.namespace;
        if own && let Some(at) = kind.children.iter().position(|c| c.name == local) {
            let child = &kind.children[at];
            let seen = &mut parent.seen[at];
            *seen = seen.saturating_add(1);
            if *seen == child.most.saturating_add(1) {
                self.notes.add(offset, FaultCode::TooMany, quoted(parent.name), quoted(tag.name));
            }
            return Some(child.kind);
        }
        if !(kind.open == Wildcard::Any || kind.open == Wildcard::Other && !own) {
            self.notes.add(offset, FaultCode::Unexpected, quoted(parent.name), quoted(tag.name));
        }
        None
    }

    /// Adds a tag's namespace declarations, and records syntax faults in its attributes.
    fn declare(&mut self, tag: &Tag<'a>, offset: usize) {
        if tag.attributes.is_empty() {
            return;
        }
        let mut names: [&str; MAX_COMPARED] = [""; MAX_COMPARED];
        for (n, (name, value)) in tag.attributes().take(MAX_ATTRIBUTES).enumerate() {
            if !is_quoted(tag.attributes, value) {
                self.notes.add(offset, FaultCode::AttributeSyntax, quoted(tag.name), "");
            } else if names.iter().take(n).any(|other| *other == name) {
                self.notes.add(offset, FaultCode::AttributeTwice, quoted(tag.name), name);
            }
            if let Some(place) = names.get_mut(n) {
                *place = name;
            }
            self.references(value);
            if self.scopes.len() <= MAX_NAMESPACES {
                match name.strip_prefix("xmlns") {
                    Some("") => self.scopes.push(("", value)),
                    Some(prefix) if prefix.starts_with(':') => self.scopes.push((&prefix[1..], value)),
                    _ => {}
                }
            }
        }
    }

    /// Returns namespace and local name of a name in the element `tag`.
    fn resolve(&mut self, name: &'a str, tag: &str, offset: usize) -> (&'a str, &'a str) {
        let (prefix, local) = name.split_once(':').unwrap_or(("", name));
        let found = self.scopes.iter().rposition(|(declared, _)| *declared == prefix);
        self.work.add(name.len() + self.scopes.len() - found.unwrap_or(0));
        match found.and_then(|at| self.scopes.get(at)) {
            Some((_, namespace)) => (namespace, local),
            None if prefix.is_empty() => ("", local),
            None => {
                self.notes.add(offset, FaultCode::UndeclaredPrefix, quoted(tag), prefix);
                // An element of an unknown namespace counts as an extension.
                (name, local)
            }
        }
    }

    fn attributes(&mut self, tag: &Tag<'a>, kind: Option<TypeId>, offset: usize) {
        let Some(kind) = self.kind(kind) else { return };
        for (name, value) in tag.attributes().take(MAX_ATTRIBUTES) {
            if name.starts_with("xmlns") {
                continue;
            }
            match kind.attributes.iter().find(|a| a.name == name) {
                Some(known) => {
                    let value = references::decode(value);
                    if let Some(code) = known.kind.fault(&value) {
                        self.notes.add(
                            offset,
                            code,
                            format_args!("'{name}' of {}", quoted(tag.name)),
                            without_address(code, &value),
                        );
                    }
                }
                None if name.contains(':') && kind.any_attribute => {}
                None => self.notes.add(offset, FaultCode::UnexpectedAttribute, quoted(tag.name), name),
            }
        }
        for needed in kind.attributes.iter().filter(|a| a.required) {
            if !tag.attributes().any(|(name, _)| name == needed.name) {
                self.notes.add(offset, FaultCode::MissingAttribute, quoted(tag.name), &needed.name);
            }
        }
    }

    fn text(&mut self, text: &str, has_references: bool) {
        let offset = self.tokens.offset();
        if has_references {
            if text == "<" {
                self.notes.add(offset, FaultCode::BareLessThan, "", "");
            }
            self.references(text);
        }
        let Some(frame) = self.open.last() else {
            if !text.trim_matches(|c: char| c.is_whitespace() || c == '\u{FEFF}').is_empty() {
                self.stray(offset);
            }
            return;
        };
        let Some(kind) = self.kind(frame.kind) else { return };
        match &kind.text {
            Some(simple) if simple.takes_all() => {}
            Some(_) => {
                let room = MAX_VALUE.saturating_sub(self.value.len());
                let text = &text[..text.floor_char_boundary(room)];
                self.value.push_str(&if has_references { references::decode(text) } else { text.into() });
            }
            None if kind.mixed || text.trim().is_empty() => {}
            None => self.notes.add(offset, FaultCode::UnexpectedText, quoted(frame.name), text),
        }
    }

    /// Records each `&` that does not begin a reference known to XML. A DOCTYPE may declare further entities.
    fn references(&mut self, raw: &str) {
        self.work.add(raw.len());
        let mut rest = raw;
        while let Some(at) = rest.find('&') {
            if let Some(known) = references::predefined(&rest[at..]) {
                rest = &rest[at + known.length..];
                continue;
            }
            let after = &rest[at + 1..];
            let end =
                after.bytes().take(MAX_REFERENCE).position(|b| !b.is_ascii_alphanumeric() && b != b'#').unwrap_or(0);
            let name = &after[..end];
            let offset = self.notes.offset_of(rest) + at;
            if !after[end..].starts_with(';') || name.is_empty() {
                self.notes.add(offset, FaultCode::BareAmpersand, "", "");
            } else if !is_character(name) && !self.tokens.doctype {
                self.notes.add(offset, FaultCode::UnknownEntity, "", &rest[at..at + end + 2]);
            }
            rest = &after[end..];
        }
    }

    fn end(&mut self, name: &'a str) {
        if !self.names.contains_key(name) {
            return self.notes.add(self.tokens.offset(), FaultCode::Unopened, format_args!("</{name}>"), "");
        }
        while let Some(frame) = self.open.last() {
            self.work.add(1);
            let is_it = frame.name == name;
            if !is_it {
                self.notes.add(frame.offset, FaultCode::Unclosed, quoted(frame.name), "");
            }
            self.close();
            if is_it {
                return;
            }
        }
    }

    fn close(&mut self) {
        let Some(frame) = self.open.pop() else { return };
        if let Entry::Occupied(mut open) = self.names.entry(frame.name) {
            *open.get_mut() -= 1;
            if *open.get() == 0 {
                open.remove();
            }
        }
        self.scopes.truncate(frame.scopes);
        self.ended |= self.begun && self.open.is_empty();
        let Some(kind) = self.kind(frame.kind) else { return };
        let at = || quoted(frame.name);
        let named = |name: &str| match frame.name.split_once(':') {
            Some((prefix, _)) => format!("<{prefix}:{name}>"),
            None => quoted(name).to_string(),
        };
        if let Some(code) = kind.text.as_ref().filter(|t| !t.takes_all()).and_then(|t| t.fault(&self.value)) {
            self.notes.add(frame.offset, code, at(), without_address(code, &self.value));
        }
        self.value.clear();
        for (child, seen) in kind.children.iter().zip(frame.seen) {
            if seen < child.least {
                self.notes.add(frame.offset, FaultCode::Missing, at(), named(&child.name));
            }
        }
        for names in &kind.one_of {
            let seen =
                |name: &String| kind.children.iter().position(|c| c.name == *name).is_some_and(|n| frame.seen[n] > 0);
            if !names.iter().any(seen) {
                let names: Vec<String> = names.iter().map(|name| named(name)).collect();
                self.notes.add(frame.offset, FaultCode::Missing, at(), names.join(" or "));
            }
        }
    }

    /// Records text outside the root element, once.
    fn stray(&mut self, offset: usize) {
        if !std::mem::replace(&mut self.junk, true) {
            let code = if self.ended { FaultCode::TextAfterEnd } else { FaultCode::TextBeforeStart };
            self.notes.add(offset, code, "", "");
        }
    }

    fn finish(mut self) {
        if self.tokens.cut || !self.open.is_empty() {
            self.notes.add(self.text.len(), FaultCode::Truncated, "", "");
            self.open.clear();
        }
        if !self.begun {
            self.notes.add(0, FaultCode::UnknownRoot, "the first element", "");
        }
    }
}

const MAX_REFERENCE: usize = 40;

/// True for a character reference to a character that XML allows (§2.2).
fn is_character(name: &str) -> bool {
    let code = name.strip_prefix('#').and_then(|number| match number.strip_prefix('x') {
        Some(hex) => u32::from_str_radix(hex, 16).ok(),
        None => number.parse().ok(),
    });
    let allowed = |c: char| matches!(c, '\t' | '\n' | '\r') || c >= ' ' && !matches!(c, '\u{FFFE}' | '\u{FFFF}');
    code.and_then(char::from_u32).is_some_and(allowed)
}

fn is_quoted(attributes: &str, value: &str) -> bool {
    let at = (value.as_ptr() as usize).checked_sub(attributes.as_ptr() as usize);
    at.filter(|at| (1..=attributes.len()).contains(at))
        .is_some_and(|at| matches!(attributes.as_bytes()[at - 1], b'"' | b'\''))
}

/// Records the first control character, on behalf of all of them.
fn control_characters(text: &str, notes: &mut Notes<'_>) {
    let is_bad = |b: &u8| *b < b' ' && !matches!(b, b'\t' | b'\n' | b'\r');
    let bytes = text.as_bytes();
    // Scanning a whole chunk without an early exit is many times faster.
    let piece = bytes.chunks(4_096).position(|chunk| chunk.iter().fold(false, |bad, b| bad | is_bad(b)));
    let Some(from) = piece.map(|n| n * 4_096) else { return };
    if let Some(at) = bytes[from..].iter().position(is_bad) {
        notes.add(from + at, FaultCode::ControlCharacter, "", format_args!("U+{:04X}", bytes[from + at]));
    }
}

fn quoted(name: &str) -> impl fmt::Display {
    fmt::from_fn(move |f| write!(f, "<{name}>"))
}

/// Returns the part of an invalid value that may be shown: nothing if it may be a person's address.
fn without_address(code: FaultCode, value: &str) -> &str {
    if code == FaultCode::BadMailAddress { "" } else { value }
}
