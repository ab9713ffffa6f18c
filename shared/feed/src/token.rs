//! Splits a document into tags, text and CDATA. It never fails, and takes linear time: every search ends where the next
//! begins, or its result is remembered. quick-xml stops at the first fault, even if the meaning is unambiguous.

use crate::work::Work;
use curlew_text::references;

/// A token of a document. Comments, declarations and processing instructions are skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Token<'a> {
    Start(Tag<'a>),
    /// The name in an end tag, as written.
    End(&'a str),
    /// Text with its references unresolved.
    Text(&'a str),
    CData(&'a str),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tag<'a> {
    pub(crate) name: &'a str,
    pub(crate) attributes: &'a str,
    pub(crate) empty: bool,
    pub(crate) raw: &'a str,
    work: &'a Work,
}

impl<'a> Tag<'a> {
    /// Returns the attributes: names as written, values with unresolved references. Tolerates wrong quotes.
    pub(crate) fn attributes(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        let work = self.work;
        attributes(self.attributes).inspect(move |(name, value)| work.add(name.len() + value.len() + 1))
    }
}

pub(crate) struct Tokens<'a> {
    text: &'a str,
    at: usize,
    last: usize,
    work: &'a Work,
    /// Offsets after which no further double quote, or single quote, follows.
    hopeless: [usize; 2],
    /// End of the last apparent start tag that turned out not to be one. A value that begins before this offset may not
    /// contain a `<`; otherwise each `<` inside that tag could cause a scan to the same end.
    doubtful: usize,
    pub(crate) cut: bool,
    pub(crate) doctype: bool,
    pub(crate) subset: &'a str,
    pub(crate) bare: bool,
}

impl<'a> Tokens<'a> {
    pub(crate) fn new(text: &'a str, work: &'a Work) -> Tokens<'a> {
        Tokens {
            text,
            at: 0,
            last: 0,
            work,
            hopeless: [usize::MAX; 2],
            doubtful: 0,
            cut: false,
            doctype: false,
            subset: "",
            bare: false,
        }
    }

    pub(crate) fn rewind(&mut self) {
        self.at = self.last;
    }

    pub(crate) fn offset(&self) -> usize {
        self.last
    }

    pub(crate) fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    pub(crate) fn stop(&mut self) {
        self.at = self.text.len();
    }

    /// Skips to the end of an element whose content HTML does not parse as markup.
    pub(crate) fn pass_over(&mut self, name: &str) {
        while let Some(token) = self.next() {
            if matches!(token, Token::End(end) if end.eq_ignore_ascii_case(name)) {
                return;
            }
        }
    }

    pub(crate) fn next(&mut self) -> Option<Token<'a>> {
        let from = self.at;
        let token = self.advance();
        // Every search ends where its token does, except those of `tag_end`, which are counted there.
        self.work.add(1 + self.at - from);
        token
    }

    fn advance(&mut self) -> Option<Token<'a>> {
        loop {
            self.last = self.at;
            let rest = &self.text[self.at..];
            if rest.is_empty() {
                return None;
            }
            if !rest.starts_with('<') {
                let end = rest.find('<').unwrap_or(rest.len());
                self.at += end;
                return Some(Token::Text(&rest[..end]));
            }
            match rest.as_bytes().get(1) {
                Some(b'/') => return Some(self.end_tag(rest)),
                Some(b'!') if rest.starts_with("<![CDATA[") => return Some(self.cdata(rest)),
                Some(b'!') if rest.starts_with("<!--") => self.comment(rest),
                Some(b'!') => self.declaration(rest),
                Some(b'?') => self.at += short_end(rest),
                Some(b'a'..=b'z' | b'A'..=b'Z' | b'_' | b':' | 0x80..) => return Some(self.start_tag(rest)),
                _ => return Some(self.bare_less_than(rest)),
            }
        }
    }

    fn bare_less_than(&mut self, rest: &'a str) -> Token<'a> {
        self.bare = true;
        self.at += 1;
        Token::Text(&rest[..1])
    }

    fn end_tag(&mut self, rest: &'a str) -> Token<'a> {
        let body = &rest[2..];
        let end = body.find(['>', '<']).unwrap_or(body.len());
        self.cut |= end == body.len();
        self.at += 2 + end + usize::from(body[end..].starts_with('>'));
        let name = body[..end].trim();
        Token::End(name.split(|c: char| c.is_whitespace()).next().unwrap_or_default())
    }

    fn cdata(&mut self, rest: &'a str) -> Token<'a> {
        let body = &rest["<![CDATA[".len()..];
        let end = cdata_end(body);
        self.cut |= end.is_none();
        self.at += end.map_or(rest.len(), |end| "<![CDATA[".len() + end + "]]>".len());
        Token::CData(&body[..end.unwrap_or(body.len())])
    }

    fn comment(&mut self, rest: &str) {
        let end = rest[4..].find("-->");
        self.cut |= end.is_none();
        self.at += end.map_or(rest.len(), |end| 4 + end + 3);
    }

    /// Skips a declaration up to its first `>`, except that the first `<!DOCTYPE …>` may have an internal subset.
    fn declaration(&mut self, rest: &'a str) {
        // Only the first DOCTYPE is searched for its end, so that many of them cost no more than one.
        if !std::mem::replace(&mut self.doctype, true) {
            self.work.add(rest.len());
            if let Some((subset, end)) = doctype(rest) {
                self.subset = subset;
                self.at += end;
                return;
            }
        }
        self.at += short_end(rest);
    }

    fn start_tag(&mut self, rest: &'a str) -> Token<'a> {
        let is_end = |c: char| c.is_ascii_whitespace() || matches!(c, '/' | '>' | '<' | '=' | '"' | '\'');
        let name_end = rest[1..].find(is_end).map_or(rest.len(), |n| n + 1);
        let name = &rest[1..name_end];
        let Some(end) = self.tag_end(name_end, rest) else { return self.bare_less_than(rest) };
        self.at += end + 1;
        let attributes = &rest[name_end..end];
        let empty = attributes.ends_with('/');
        let attributes = attributes.strip_suffix('/').unwrap_or(attributes);
        Token::Start(Tag { name, attributes, empty, raw: &rest[..=end], work: self.work })
    }

    /// Returns the position of the tag's `>`; `None` if the document ends or a `<` outside quotes comes first.
    fn tag_end(&mut self, from: usize, rest: &str) -> Option<usize> {
        let bytes = rest.as_bytes();
        let mut at = from;
        let mut after_equals = false;
        while let Some(byte) = bytes.get(at) {
            match byte {
                b'>' => {
                    self.work.add(at - from);
                    return Some(at);
                }
                b'<' => {
                    self.work.add(at - from);
                    self.doubtful = self.doubtful.max(self.at + at);
                    return None;
                }
                b'"' | b'\'' if after_equals => at = self.quote_end(at, rest).unwrap_or(at),
                _ => {}
            }
            after_equals = *byte == b'=' || after_equals && byte.is_ascii_whitespace();
            at += 1;
        }
        self.work.add(at - from);
        self.cut = true;
        // The document ends inside a tag, nothing of which is kept.
        self.text = &self.text[..=self.last];
        None
    }

    /// Returns the position of the closing quote for the quote at `from`; `None` if none is plausible.
    fn quote_end(&mut self, from: usize, rest: &str) -> Option<usize> {
        let double = rest.as_bytes()[from] == b'"';
        let (quote, flag) = if double { ('"', 0) } else { ('\'', 1) };
        if self.at + from >= self.hopeless[flag] {
            return None;
        }
        let Some(length) = rest[from + 1..].find(quote) else {
            self.work.add(rest.len() - from);
            self.hopeless[flag] = self.at + from;
            return None;
        };
        self.work.add(2 * length);
        let end = from + 1 + length;
        let value = &rest[from + 1..end];
        // A value that contains a tag is plausible only if an attribute could end there.
        let plausible = self.at >= self.doubtful
            && rest.as_bytes().get(end + 1).is_none_or(|b| b.is_ascii_whitespace() || b"/>?".contains(b));
        (plausible || !value.contains('<')).then_some(end)
    }
}

fn attributes(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '=' | '/' | '?'));
        if rest.is_empty() {
            return None;
        }
        let end = rest.find(|c: char| c.is_whitespace() || matches!(c, '=' | '"' | '\'')).unwrap_or(rest.len());
        let name = &rest[..end];
        rest = rest[end..].trim_start();
        let Some(value) = rest.strip_prefix('=') else { return Some((name, "")) };
        let (value, after) = attribute_value(value.trim_start());
        rest = after;
        Some((name, value))
    })
}

fn attribute_value(text: &str) -> (&str, &str) {
    for quote in ['"', '\''] {
        if let Some(body) = text.strip_prefix(quote) {
            return body.split_once(quote).unwrap_or((body, ""));
        }
    }
    text.split_at(text.find(char::is_whitespace).unwrap_or(text.len()))
}

/// Returns the position of `]]>`. Brackets are rare in HTML, so this is faster than a search for all three characters.
fn cdata_end(body: &str) -> Option<usize> {
    let mut from = 0;
    while let Some(at) = body[from..].find(']') {
        if body[from + at..].starts_with("]]>") {
            return Some(from + at);
        }
        from += at + 1;
    }
    None
}

/// Returns the internal subset of a DOCTYPE that has one, and the length of the DOCTYPE.
fn doctype(rest: &str) -> Option<(&str, usize)> {
    let start = rest.find(['[', '>']).filter(|at| rest[*at..].starts_with('['))? + 1;
    let subset = &rest[start..];
    subset.match_indices(']').find_map(|(at, _)| {
        let after = subset[at + 1..].trim_start();
        after.starts_with('>').then(|| (&subset[..at], rest.len() - after.len() + 1))
    })
}

/// Returns the length of a declaration or instruction: it ends after its `>`, or before the next `<`.
fn short_end(rest: &str) -> usize {
    let end = rest[1..].find(['>', '<']).map_or(rest.len(), |n| n + 1);
    end + usize::from(rest[end..].starts_with('>'))
}

pub(crate) fn attribute(tag: &Tag<'_>, name: &str) -> Option<String> {
    let found = tag.attributes().take(MAX_LOOKED_AT).find(|(n, _)| n.eq_ignore_ascii_case(name));
    found.map(|(_, value)| references::decode(value).into_owned())
}

/// True if a link has Atom's form. RSS feeds use it with and without a prefix.
pub(crate) fn has_href(tag: &Tag<'_>) -> bool {
    attribute(tag, "href").is_some()
}

const MAX_LOOKED_AT: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        let work = Work::default();
        let mut tokens = Tokens::new(text, &work);
        std::iter::from_fn(|| tokens.next())
            .map(|t| match t {
                Token::Start(tag) => format!("<{}{}", tag.name, if tag.empty { "/" } else { "" }),
                Token::End(name) => format!("/{name}"),
                Token::Text(text) => text.to_owned(),
                Token::CData(text) => format!("[{text}]"),
            })
            .collect()
    }

    #[test]
    fn well_formed_text_is_cut_as_xml_says() {
        let text =
            "<?xml version='1.0'?><!DOCTYPE a [<!ENTITY b 'c>'>]><a b='>' c=\"'\"><!-- <x> --><b/>t<![CDATA[<]]></a >";
        assert_eq!(names(text), ["<a", "<b/", "t", "[<]", "/a"]);
    }

    #[test]
    fn faults_are_passed_over() {
        assert_eq!(names("1 < 2 <3 <a>x"), ["1 ", "<", " 2 ", "<", "3 ", "<a", "x"]);
        assert_eq!(names("<a b=\"x><c>y</c><d e=\"f\"/>"), ["<a", "<c", "y", "/c", "<d/"]);
        assert_eq!(names("<a>x</a><b c="), ["<a", "x", "/a", "<"]);
        assert_eq!(names("<a><![CDATA[x"), ["<a", "[x]"]);
        assert_eq!(names("<a <b>c"), ["<", "a ", "<b", "c"]);
        // The values of an apparent tag are parsed as ordinary text.
        assert_eq!(names("<a b='<c d=\"1\">' <e>f"), ["<", "a b='", "<c", "' ", "<e", "f"]);
        // An unclosed quote does not affect earlier quotes.
        assert_eq!(names("<a b=\"<c d='>'>\" e=\"<f>g"), ["<", "a b=\"", "<c", "\" e=\"", "<f", "g"]);
    }

    #[test]
    fn attributes_need_no_quotes() {
        let found: Vec<_> = attributes(" a='1' b = \"2 3\" c=4 d e='5'f=6").collect();
        assert_eq!(found, [("a", "1"), ("b", "2 3"), ("c", "4"), ("d", ""), ("e", "5"), ("f", "6")]);
    }
}
