//! Reads the text of one element: decodes it, keeps its markup as HTML, and truncates it to a limit.

use crate::entity::{self, Entities};
use crate::names::{MAX_HTML_PREFIXES, Ns, is_html};
use crate::{token::Tag, work::Work};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use curlew_text::{references, url::parse};
use std::rc::Rc;
use url::Url;

/// Encoding of an element's text (RFC 4287 §3.1 and §4.1.3; Atom 0.3 §3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Construct {
    /// References are resolved; tags, escaped or not, are HTML.
    Html,
    /// References are resolved; the result is literal text.
    Plain,
    /// Inline XHTML: escaped text stays escaped.
    Xhtml,
    Base64,
    /// Not text.
    Binary,
}

impl Construct {
    /// Derives the encoding from `type` and Atom 0.3's `mode`. RSS has neither: its texts are HTML.
    pub(crate) fn from_tag(tag: &Tag<'_>, ns: Ns, atom: bool) -> Construct {
        if !(atom && ns == Ns::Core || ns == Ns::Atom) {
            return Construct::Html;
        }
        let (mut media, mut mode) = (String::new(), String::new());
        for (name, value) in tag.attributes().take(16) {
            match name {
                "type" => media = value.trim().to_ascii_lowercase(),
                "mode" => mode = value.trim().to_ascii_lowercase(),
                _ => {}
            }
        }
        match (media.as_str(), mode.as_str()) {
            (_, "base64") => Construct::Base64,
            ("text" | "plain" | "text/plain", _) => Construct::Plain,
            ("xhtml" | "application/xhtml+xml" | "xml", m) if m != "escaped" => Construct::Xhtml,
            (t, m) if m != "escaped" && (t.ends_with("+xml") || t.ends_with("/xml")) => Construct::Xhtml,
            ("application/octet-stream", _) => Construct::Base64,
            (t, _) if ["image/", "audio/", "video/"].iter().any(|b| t.starts_with(b)) => Construct::Binary,
            _ => Construct::Html,
        }
    }
}

pub(crate) struct Leaf<'a> {
    construct: Construct,
    out: String,
    /// True once something other than white space was appended.
    has_begun: bool,
    max_bytes: usize,
    /// Base of relative addresses in the text, if the feed states one.
    base: Option<Url>,
    /// Namespace prefixes of HTML elements, which are stripped.
    prefixes: Vec<&'a str>,
    declared: Rc<Entities<'a>>,
    work: &'a Work,
    pub(crate) odd_reference: bool,
}

impl<'a> Leaf<'a> {
    pub(crate) fn new(
        construct: Construct,
        max_chars: usize,
        base: Option<Url>,
        prefixes: Vec<&'a str>,
        declared: Rc<Entities<'a>>,
        work: &'a Work,
    ) -> Leaf<'a> {
        // A character has at most four bytes. A little markup may precede the first character that counts.
        let max_bytes = max_chars.saturating_mul(4);
        let (out, has_begun, odd_reference) = (String::new(), false, false);
        Leaf { construct, out, has_begun, max_bytes, base, prefixes, declared, work, odd_reference }
    }

    /// True if markup is expected here, or the text is discarded.
    pub(crate) fn takes_markup(&self) -> bool {
        matches!(self.construct, Construct::Xhtml | Construct::Binary)
    }

    fn full(&self) -> bool {
        self.out.len() >= self.max_bytes || self.construct == Construct::Binary
    }

    fn fitting<'t>(&self, text: &'t str) -> &'t str {
        let room = self.max_bytes.saturating_sub(self.out.len());
        &text[..text.floor_char_boundary(room)]
    }

    pub(crate) fn text(&mut self, raw: &str) {
        if self.full() {
            return;
        }
        let raw = self.fitting(raw);
        self.work.add(raw.len());
        if self.construct == Construct::Xhtml {
            let mut decoded = String::new();
            self.odd_reference |= entity::decode_declared(raw, &mut decoded, &self.declared);
            self.has_begun |= !decoded.trim_start().is_empty();
            escape_markup(&decoded, &mut self.out);
        } else {
            self.odd_reference |= entity::decode_declared(raw, &mut self.out, &self.declared);
        }
    }

    pub(crate) fn cdata(&mut self, text: &str) {
        if self.full() {
            return;
        }
        let text = self.fitting(text);
        self.work.add(text.len());
        self.has_begun |= !text.trim_start().is_empty();
        if self.construct == Construct::Xhtml { escape_markup(text, &mut self.out) } else { self.out.push_str(text) }
    }

    pub(crate) fn start(&mut self, tag: &Tag<'a>) {
        if self.full() || tag.raw.len() > self.max_bytes {
            return;
        }
        self.work.add(tag.raw.len());
        match tag.name.split_once(':') {
            Some((prefix, local)) if self.is_html_prefix(prefix, local, tag) => {
                self.out.extend(["<", local, &tag.raw[1 + tag.name.len()..]]);
            }
            _ => self.out.push_str(tag.raw),
        }
        self.has_begun = true;
    }

    pub(crate) fn end(&mut self, name: &str) {
        if !self.full() {
            let local = name.split_once(':').filter(|(prefix, _)| self.prefixes.contains(prefix));
            let local = local.map(|(_, local)| local);
            self.out.extend(["</", local.unwrap_or(name), ">"]);
            self.has_begun = true;
        }
    }

    /// True if a prefix denotes HTML elements: it is declared around the text or in the tag, is `xhtml`, or belongs to
    /// the `div` that must enclose XHTML (RFC 4287 §3.1.1.3).
    fn is_html_prefix(&mut self, prefix: &'a str, local: &str, tag: &Tag<'a>) -> bool {
        if self.prefixes.contains(&prefix) {
            return true;
        }
        let is_declared = || {
            let mut declared = tag.attributes().filter_map(|(name, value)| Some((name.strip_prefix("xmlns:")?, value)));
            declared.any(|(declared, uri)| declared == prefix && is_html(uri))
        };
        let is_first = self.construct == Construct::Xhtml && !self.has_begun;
        let is_wrapper = || is_first && local.eq_ignore_ascii_case("div");
        let is_new = self.prefixes.len() < MAX_HTML_PREFIXES
            && (prefix == "xhtml" || is_wrapper() || tag.raw.contains("xmlns:") && is_declared());
        if is_new {
            self.prefixes.push(prefix);
        }
        is_new
    }

    /// Returns the text. Making its addresses absolute may add up to `growth_left` bytes, which is reduced accordingly.
    pub(crate) fn finish(mut self, growth_left: &mut usize) -> String {
        self.work.add(self.out.len());
        match self.construct {
            Construct::Binary => String::new(),
            Construct::Base64 => {
                self.out.retain(|c| !c.is_whitespace());
                STANDARD.decode(&self.out).ok().and_then(|b| String::from_utf8(b).ok()).unwrap_or_default()
            }
            Construct::Plain => self.out,
            Construct::Html | Construct::Xhtml => {
                let html = self.out.trim();
                // Escaped XHTML includes the wrapper `div` of inline XHTML.
                let is_wrapped = self.construct == Construct::Xhtml || html.starts_with("<div xmlns=");
                let html = if is_wrapped { without_wrapper(html) } else { html };
                let Some(base) = &self.base else { return html.to_owned() };
                let whole = absolute_addresses(html, base, growth_left);
                self.work.add(html.len() + whole.len());
                whole
            }
        }
    }
}

fn escape_markup(text: &str, out: &mut String) {
    for piece in text.split_inclusive(['&', '<', '>']) {
        match piece.as_bytes().last() {
            Some(b'&') => out.extend([&piece[..piece.len() - 1], "&amp;"]),
            Some(b'<') => out.extend([&piece[..piece.len() - 1], "&lt;"]),
            Some(b'>') => out.extend([&piece[..piece.len() - 1], "&gt;"]),
            _ => out.push_str(piece),
        }
    }
}

/// Returns XHTML content without the enclosing `div` of RFC 4287 §3.1.1.3, if that is its only top-level element.
fn without_wrapper(html: &str) -> &str {
    let inner = html.strip_suffix("</div>").filter(|h| h.starts_with("<div"));
    let Some((_, inner)) = inner.and_then(|inner| inner.split_once('>')) else { return html };
    let mut depth = 0_usize;
    for (at, _) in inner.match_indices("div") {
        if inner[..at].ends_with("</") {
            let Some(less) = depth.checked_sub(1) else { return html };
            depth = less;
        } else if inner[..at].ends_with('<') {
            depth += 1;
        }
    }
    inner.trim()
}

/// Makes `href` and `src` absolute (XML Base §4.1) within `growth_left`: a long base could produce gigabytes.
fn absolute_addresses(html: &str, base: &Url, growth_left: &mut usize) -> String {
    let mut out = String::with_capacity(html.len());
    let mut rest = html;
    while let Some(at) = rest.find(['h', 's', 'H', 'S']) {
        let after_space = rest[..at].ends_with(|c: char| c.is_ascii_whitespace());
        match address_at(&rest[at..]).filter(|_| after_space) {
            Some((before, value, length)) => {
                out.push_str(&rest[..at + before]);
                let url = parse(&references::decode(value), Some(base)).ok();
                let left = url.as_ref().and_then(|url| growth_left.checked_sub(url.as_str().len()));
                match url.zip(left) {
                    Some((url, left)) => {
                        *growth_left = left + value.len();
                        escape_markup(url.as_str(), &mut out);
                    }
                    None => out.push_str(value),
                }
                rest = &rest[at + length..];
            }
            None => {
                out.push_str(&rest[..=at]);
                rest = &rest[at + 1..];
            }
        }
    }
    out.push_str(rest);
    out
}

/// Parses `href="…"` or `src="…"` at the start of a text. Returns the offset of the value, the value, and its end.
fn address_at(text: &str) -> Option<(usize, &str, usize)> {
    let name = ["href=", "src="].iter().find(|n| text.get(..n.len()).is_some_and(|t| t.eq_ignore_ascii_case(n)))?;
    let quote = text[name.len()..].chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let start = name.len() + 1;
    let window = &text[start..text.floor_char_boundary((start + 2_048).min(text.len()))];
    let end = window.find(quote)?;
    Some((start, &window[..end], start + end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_wrapper_is_taken_off() {
        assert_eq!(without_wrapper("<div class='x'>a <div>b</div></div>"), "a <div>b</div>");
        assert_eq!(without_wrapper("<div>a</div><div>b</div>"), "<div>a</div><div>b</div>");
        assert_eq!(without_wrapper("<p>a</p>"), "<p>a</p>");
    }

    #[test]
    fn addresses_become_absolute() {
        let base: Url = "https://example.org/a/".parse().expect("a URL");
        let html = "<a title='x' href=\"b?c=1&amp;d=2\">href=\"no\"</a> <img src='/e.png'/>";
        let wanted = "<a title='x' href=\"https://example.org/a/b?c=1&amp;d=2\">href=\"no\"</a> <img src='https://example.org/e.png'/>";
        assert_eq!(absolute_addresses(html, &base, &mut 1_000), wanted);
        // Each address grows by twenty bytes.
        let three = "<a href='1'><a href='2'><a href='3'>";
        let two = "<a href='https://example.org/a/1'><a href='https://example.org/a/2'><a href='3'>";
        assert_eq!(absolute_addresses(three, &base, &mut 60), two);
    }
}
