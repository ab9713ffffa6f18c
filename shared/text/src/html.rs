//! Splits an HTML page into tags, texts and comments (HTML, "tokenization"). A piece is a slice of the page;
//! [`resolve`] returns its characters. The caller decides what a tag means.

use memchr::{memchr, memchr_iter, memchr2, memchr3};
use std::borrow::Cow;
use web_atoms::NAMED_ENTITIES;

/// A piece of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'p> {
    /// Text as written.
    Text(&'p str, TextKind),
    /// A start tag. Its attributes are returned by [`Pieces::attributes`] until the next piece is read.
    Start(Tag<'p>),
    /// Name of an end tag, as written. Attributes of end tags have no meaning and are dropped.
    End(&'p str),
    /// Text of a comment, or of other markup that HTML treats as a comment.
    Comment(&'p str),
    /// A DOCTYPE, from `<!` on.
    Doctype(&'p str),
}

/// A start tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tag<'p> {
    /// Name, as written.
    pub name: &'p str,
    /// True if it ends in `/>`.
    pub self_closing: bool,
}

/// Rules for parsing a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextKind {
    /// Ordinary text; references are resolved.
    Data,
    /// Text up to an end tag, with references resolved (`<title>`, `<textarea>`).
    RcData,
    /// Literal text up to an end tag (`<style>`, `<iframe>` …).
    RawText,
    /// Literal text in a CDATA section.
    CData,
    /// Like `RawText`, but comments can hide an end tag inside `<script>`.
    Script,
    /// Literal text up to the end of the page.
    PlainText,
}

/// Iterator over the pieces of a page, in time linear in the length of the page.
#[derive(Debug)]
pub struct Pieces<'p> {
    page: &'p str,
    at: usize,
    kind: TextKind,
    /// Name of the most recent start tag. Its end tag ends the text after it.
    last_start: &'p str,
    attributes: Vec<(&'p str, &'p str)>,
    most_attributes: usize,
    /// True inside SVG or MathML, in a parse without a tree.
    foreign: bool,
}

impl<'p> Pieces<'p> {
    /// Starts parsing a page. At most `most_attributes` + 1 attributes of a tag are kept.
    pub fn new(page: &'p str, most_attributes: usize) -> Pieces<'p> {
        let at = if page.starts_with('\u{FEFF}') { '\u{FEFF}'.len_utf8() } else { 0 };
        let (kind, last_start, attributes) = (TextKind::Data, "", Vec::new());
        Pieces { page, at, kind, last_start, attributes, most_attributes, foreign: false }
    }

    /// Returns names and values of the most recent start tag's attributes, as written.
    pub fn attributes(&self) -> &[(&'p str, &'p str)] {
        &self.attributes
    }

    /// Returns the raw value of an attribute of the most recent start tag. `name` is in lower case.
    pub fn attribute(&self, name: &str) -> Option<&'p str> {
        self.attributes.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| *value)
    }

    /// True if the most recent start tag has more than `most_attributes` attributes.
    pub fn has_too_many_attributes(&self) -> bool {
        self.attributes.len() > self.most_attributes
    }

    /// Returns the number of bytes parsed so far.
    pub fn position(&self) -> usize {
        self.at
    }

    /// Parses the following text by the rules of `kind`, up to the end tag of the most recent start tag.
    pub fn text_until_end_tag(&mut self, kind: TextKind) {
        self.kind = kind;
    }

    /// Returns the next piece; `None` at the end of the page or if the last tag is unterminated. `cdata` returns true
    /// where CDATA may begin, that is inside SVG and MathML.
    pub fn next_piece(&mut self, cdata: impl Fn() -> bool) -> Option<Piece<'p>> {
        loop {
            let rest = self.page.get(self.at..).filter(|rest| !rest.is_empty())?;
            let kind = std::mem::replace(&mut self.kind, TextKind::Data);
            let length = match kind {
                TextKind::Data => data_length(rest),
                TextKind::RcData | TextKind::RawText => raw_length(rest, self.last_start),
                TextKind::Script => script_length(rest),
                TextKind::PlainText | TextKind::CData => rest.len(),
            };
            if length > 0 {
                self.at += length;
                return Some(Piece::Text(&rest[..length], kind));
            }
            match self.markup(rest, &cdata) {
                Markup::Piece(piece) => return Some(piece),
                Markup::Nothing => {}
                Markup::Endless => self.at = self.page.len(),
            }
        }
    }

    /// Returns the next piece for a parse without a tree: the name of a tag determines how the text after it is parsed,
    /// except inside SVG and MathML. The content of `<noscript>` and `<template>` is parsed as markup.
    pub fn next_without_tree(&mut self) -> Option<Piece<'p>> {
        let foreign = self.foreign;
        let piece = self.next_piece(|| foreign)?;
        match piece {
            Piece::Start(tag) => self.follow(&tag),
            Piece::End(name) if name.eq_ignore_ascii_case("svg") || name.eq_ignore_ascii_case("math") => {
                self.foreign = false;
            }
            Piece::End(_) | Piece::Text(..) | Piece::Comment(_) | Piece::Doctype(_) => {}
        }
        Some(piece)
    }

    fn follow(&mut self, tag: &Tag<'_>) {
        /// Length in bytes of the longest tag name with special rules.
        const LONGEST: usize = 9;
        let mut name = [0; LONGEST];
        let Some(name) = name.get_mut(..tag.name.len()) else { return };
        name.copy_from_slice(tag.name.as_bytes());
        name.make_ascii_lowercase();
        match &*name {
            b"svg" | b"math" => self.foreign = !tag.self_closing,
            // These tags end SVG and MathML, wherever they are (HTML, "foreign content").
            b"body" | b"br" | b"center" | b"dd" | b"div" | b"dl" | b"dt" | b"embed" | b"h1" | b"h2" | b"h3" | b"h4"
            | b"h5" | b"h6" | b"head" | b"hr" | b"img" | b"li" | b"meta" | b"nobr" | b"ol" | b"p" | b"pre"
            | b"span" | b"table" | b"ul" => self.foreign = false,
            _ if self.foreign => {}
            b"title" | b"textarea" => self.kind = TextKind::RcData,
            b"style" | b"iframe" | b"xmp" | b"noembed" | b"noframes" => self.kind = TextKind::RawText,
            b"script" => self.kind = TextKind::Script,
            b"plaintext" => self.kind = TextKind::PlainText,
            _ => {}
        }
    }

    fn markup(&mut self, rest: &'p str, cdata: &impl Fn() -> bool) -> Markup<'p> {
        let bytes = rest.as_bytes();
        match bytes.get(1) {
            Some(b'/') => match bytes.get(2) {
                Some(b) if b.is_ascii_alphabetic() => self.tag(2),
                Some(b'>') => {
                    self.at += 3;
                    Markup::Nothing
                }
                _ => self.bogus_comment(rest, 2),
            },
            Some(b'!') => {
                let inner = &rest[2..];
                if let Some(comment) = inner.strip_prefix("--") {
                    let (text, length) = comment_in(comment);
                    self.at += 4 + length;
                    Markup::Piece(Piece::Comment(text))
                } else if starts_with(inner, "doctype") {
                    let length = memchr(b'>', bytes).map_or(rest.len(), |end| end + 1);
                    self.at += length;
                    Markup::Piece(Piece::Doctype(&rest[..length]))
                } else if inner.starts_with(CDATA) && cdata() {
                    let inner = &inner[CDATA.len()..];
                    let length = inner.find("]]>");
                    self.at += 2 + CDATA.len() + length.map_or(inner.len(), |length| length + 3);
                    match &inner[..length.unwrap_or(inner.len())] {
                        "" => Markup::Nothing,
                        text => Markup::Piece(Piece::Text(text, TextKind::CData)),
                    }
                } else {
                    self.bogus_comment(rest, 2)
                }
            }
            Some(b'?') => self.bogus_comment(rest, 1),
            _ => self.tag(1),
        }
    }

    fn bogus_comment(&mut self, rest: &'p str, from: usize) -> Markup<'p> {
        let inner = &rest[from..];
        let end = memchr(b'>', inner.as_bytes());
        self.at += from + end.map_or(inner.len(), |end| end + 1);
        Markup::Piece(Piece::Comment(&inner[..end.unwrap_or(inner.len())]))
    }

    /// Reads a tag whose name begins `from` bytes after the current position.
    fn tag(&mut self, from: usize) -> Markup<'p> {
        let (page, bytes) = (self.page, self.page.as_bytes());
        let is_start = from == 1;
        let start = self.at + from;
        let mut at = skip(bytes, start, |b| !is(b, SPACE | SLASH | END));
        let name = &page[start..at];
        let mut self_closing = false;
        if is_start {
            self.attributes.clear();
        }
        loop {
            at = skip(bytes, at, |b| is(b, SPACE));
            match bytes.get(at) {
                None => return Markup::Endless,
                Some(b'>') => break,
                Some(b'/') => {
                    at += 1;
                    self_closing = bytes.get(at) == Some(&b'>');
                }
                Some(_) => {
                    let first = at;
                    // The first character is part of the name, whatever it is.
                    at = skip(bytes, at + 1, |b| !is(b, SPACE | SLASH | END | EQUALS));
                    let key = &page[first..at];
                    at = skip(bytes, at, |b| is(b, SPACE));
                    let mut value = "";
                    if bytes.get(at) == Some(&b'=') {
                        at = skip(bytes, at + 1, |b| is(b, SPACE));
                        at = match bytes.get(at) {
                            None => return Markup::Endless,
                            Some(quote @ (b'"' | b'\'')) => {
                                let from = at + 1;
                                let Some(length) = memchr(*quote, &bytes[from..]) else { return Markup::Endless };
                                value = &page[from..from + length];
                                from + length + 1
                            }
                            Some(_) => {
                                let end = skip(bytes, at, |b| !is(b, SPACE | END));
                                value = &page[at..end];
                                end
                            }
                        };
                    }
                    if is_start && self.attributes.len() <= self.most_attributes {
                        self.attributes.push((key, value));
                    }
                }
            }
        }
        self.at = at + 1;
        Markup::Piece(if is_start {
            self.last_start = name;
            Piece::Start(Tag { name, self_closing })
        } else {
            Piece::End(name)
        })
    }
}

enum Markup<'p> {
    Piece(Piece<'p>),
    /// `</>`, which is ignored.
    Nothing,
    /// An unterminated tag, which is dropped together with the rest of the page.
    Endless,
}

const CDATA: &str = "[CDATA[";

const SPACE: u8 = 1;
const SLASH: u8 = 2;
const END: u8 = 4;
const EQUALS: u8 = 8;

/// Classes of bytes that end names and values.
static SORTS: [u8; 256] = {
    let mut sorts = [0; 256];
    sorts[b' ' as usize] = SPACE;
    sorts[b'\t' as usize] = SPACE;
    sorts[b'\n' as usize] = SPACE;
    sorts[b'\r' as usize] = SPACE;
    sorts[b'\x0C' as usize] = SPACE;
    sorts[b'/' as usize] = SLASH;
    sorts[b'>' as usize] = END;
    sorts[b'=' as usize] = EQUALS;
    sorts
};

fn is(byte: u8, sorts: u8) -> bool {
    SORTS[byte as usize] & sorts != 0
}

/// Returns the first position from `at` whose byte does not satisfy `like`.
fn skip(bytes: &[u8], mut at: usize, like: impl Fn(u8) -> bool) -> usize {
    while bytes.get(at).is_some_and(|b| like(*b)) {
        at += 1;
    }
    at
}

/// True if a text begins with a lower-case word, ignoring ASCII case.
fn starts_with(text: &str, word: &str) -> bool {
    text.as_bytes().get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word.as_bytes()))
}

/// Returns the length of the text before the next markup.
fn data_length(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let begins = |at: usize| match bytes.get(at + 1) {
        Some(b'/') => at + 2 < bytes.len(),
        Some(b) => b.is_ascii_alphabetic() || matches!(b, b'!' | b'?'),
        None => false,
    };
    memchr_iter(b'<', bytes).find(|at| begins(*at)).unwrap_or(bytes.len())
}

fn is_end_tag(rest: &str, name: &str) -> bool {
    let Some(tag) = rest.strip_prefix("</") else { return false };
    starts_with(tag, name) && tag.as_bytes().get(name.len()).is_some_and(|b| is(*b, SPACE | SLASH | END))
}

fn raw_length(rest: &str, name: &str) -> usize {
    memchr_iter(b'<', rest.as_bytes()).find(|at| is_end_tag(&rest[*at..], name)).unwrap_or(rest.len())
}

/// Returns the length of a script: `<!--` hides a `<script>` until `-->` (HTML, "contents of script elements").
fn script_length(rest: &str) -> usize {
    const NAME: &str = "script";
    let bytes = rest.as_bytes();
    let (mut at, mut escaped, mut hidden) = (0, false, false);
    loop {
        let next = if escaped { memchr2(b'<', b'-', &bytes[at..]) } else { memchr(b'<', &bytes[at..]) };
        let Some(next) = next else { return rest.len() };
        at += next;
        let here = &rest[at..];
        if here.starts_with('-') {
            if here.starts_with("-->") {
                (escaped, hidden) = (false, false);
            }
            at += 1;
        } else if !hidden && is_end_tag(here, NAME) {
            return at;
        } else if !escaped && here.starts_with("<!--") {
            // The dashes of `<!--` may also be those of `-->`.
            escaped = true;
            at += 2;
        } else {
            let name = if hidden { here.strip_prefix("</") } else { here.strip_prefix('<').filter(|_| escaped) };
            let delimited = |tag: &str| tag.as_bytes().get(NAME.len()).is_some_and(|b| is(*b, SPACE | SLASH | END));
            if name.is_some_and(|tag| starts_with(tag, NAME) && delimited(tag)) {
                hidden = !hidden;
            }
            at += 1;
        }
    }
}

/// Returns the text of a comment, and its length including its end.
fn comment_in(rest: &str) -> (&str, usize) {
    if let Some(end) = [">", "->"].iter().find(|end| rest.starts_with(**end)) {
        return ("", end.len());
    }
    let bytes = rest.as_bytes();
    let mut at = 0;
    while let Some(dash) = memchr(b'-', &bytes[at..]) {
        let first = at + dash;
        at = skip(bytes, first, |b| b == b'-');
        // Of more than two dashes, the last two belong to the end.
        if at - first >= 2
            && let Some(end) = [">", "!>"].iter().find(|end| rest[at..].starts_with(**end))
        {
            return (&rest[..at - 2], at + end.len());
        }
    }
    let text = ["--!", "--", "-"].iter().find_map(|end| rest.strip_suffix(end)).unwrap_or(rest);
    (text, rest.len())
}

/// Returns the characters of a text or attribute value by the rules of `kind`. Line breaks become `\n`, and NUL becomes
/// U+FFFD. In an attribute, a possible URL parameter (`&copy=2`) is not a reference.
pub fn resolve(raw: &str, kind: TextKind, in_attribute: bool) -> Cow<'_, str> {
    let bytes = raw.as_bytes();
    let refers = matches!(kind, TextKind::Data | TextKind::RcData);
    let special = if refers { memchr3(b'&', b'\r', 0, bytes) } else { memchr2(b'\r', 0, bytes) };
    let Some(first) = special else { return Cow::Borrowed(raw) };
    let mut out = String::with_capacity(raw.len());
    out.push_str(&raw[..first]);
    let mut at = first;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\r' => {
                out.push('\n');
                at += if bytes.get(at + 1) == Some(&b'\n') { 2 } else { 1 };
            }
            0 => {
                out.push('\u{FFFD}');
                at += 1;
            }
            b'&' if refers => match reference(&raw[at..], in_attribute) {
                Some((chars, length)) => {
                    out.extend(chars.into_iter().flatten());
                    at += length;
                }
                None => {
                    out.push('&');
                    at += 1;
                }
            },
            _ => {
                let rest = &bytes[at..];
                let length = if refers { memchr3(b'&', b'\r', 0, rest) } else { memchr2(b'\r', 0, rest) };
                let length = length.unwrap_or(rest.len());
                out.push_str(&raw[at..at + length]);
                at += length;
            }
        }
    }
    Cow::Owned(out)
}

/// Returns the characters and the length of the reference at the start of a text (HTML, "character reference state").
fn reference(text: &str, in_attribute: bool) -> Option<([Option<char>; 2], usize)> {
    /// Length of the longest name that is valid without a semicolon.
    const LEGACY: usize = 6;
    if let Some(xml) = crate::references::predefined(text) {
        return Some((xml.chars, xml.length));
    }
    if let Some(number) = text.strip_prefix("&#") {
        let (c, length) = numeric(number)?;
        return Some(([Some(c), None], length + 2));
    }
    let name = &text[1..];
    let length = skip(name.as_bytes(), 0, |b| b.is_ascii_alphanumeric()).min(crate::references::MAX_NAME);
    let known = |name: &str| NAMED_ENTITIES.get(name).filter(|(first, _)| *first != 0);
    let chars = |(first, second): &(u32, u32)| {
        [char::from_u32(*first), Some(*second).filter(|c| *c != 0).and_then(char::from_u32)]
    };
    if name.as_bytes().get(length) == Some(&b';')
        && let Some(found) = known(&name[..=length])
    {
        return Some((chars(found), length + 2));
    }
    let (length, found) = (2..=length.min(LEGACY)).rev().find_map(|length| Some((length, known(&name[..length])?)))?;
    let goes_on = name.as_bytes().get(length).is_some_and(|b| *b == b'=' || b.is_ascii_alphanumeric());
    (!in_attribute || !goes_on).then(|| (chars(found), length + 1))
}

/// Returns the character for a number after `&#`, and the length of the number including its semicolon (HTML, "numeric
/// character reference end state").
fn numeric(text: &str) -> Option<(char, usize)> {
    let (from, radix) = if text.starts_with(['x', 'X']) { (1, 16) } else { (0, 10) };
    let bytes = text.as_bytes();
    let end = skip(bytes, from, |b| char::from(b).is_digit(radix));
    if end == from {
        return None;
    }
    let digit = |b: &u8| char::from(*b).to_digit(radix).unwrap_or_default();
    let code = bytes[from..end].iter().fold(0_u32, |code, b| code.saturating_mul(radix).saturating_add(digit(b)));
    let c = match char::from_u32(code).filter(|c| *c != '\0') {
        Some(c) if crate::references::is_c1(c) => crate::references::windows_1252(c).unwrap_or(c),
        Some(c) => c,
        None => char::REPLACEMENT_CHARACTER,
    };
    Some((c, end + usize::from(bytes.get(end) == Some(&b';'))))
}

#[cfg(test)]
mod tests;
