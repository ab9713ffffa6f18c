//! Detects the encoding of a document, and decodes the document.

mod legacy;

use crate::references::windows_1252;
use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252, X_USER_DEFINED};
use legacy::CodePage;
use memchr::memmem;
use std::borrow::Cow;

/// Length of the prefix of a page that is searched for `meta` tags (HTML asks for 1024 bytes; real heads are longer).
const META_BYTES: usize = 16 * 1024;
/// Length of the prefix of a feed that is searched for an XML declaration or a `meta` tag.
const DECLARATION_BYTES: usize = 1_024;
/// Length of the sample that the encoding is guessed from; the detector is slow.
const GUESS_BYTES: usize = 64 * 1024;

/// Kind of a document, which determines where it may declare its encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Document {
    /// A page: in its first `meta` tag with a known charset (HTML, "determining the character encoding").
    Page,
    /// A feed: in its XML declaration (RFC 7303 §3), or else in a `meta` tag.
    Feed,
}

/// Decoded text of a document.
#[derive(Debug)]
pub struct DecodedText<'a> {
    /// The text, with U+FFFD for each sequence that cannot be decoded.
    pub text: Cow<'a, str>,
    /// True if a label was unknown or wrong, or some bytes could not be decoded.
    pub faulty: bool,
}

/// Decodes a document. `content_type` is the unparsed header (RFC 9110 §8.3).
///
/// A byte order mark takes precedence over every label, as do the zero bytes of UTF-16 next to a leading `<` or `{`.
/// Next is the charset in the header, then the one declared in the document, unless the bytes refute it:
///
/// - Non-ASCII text that is valid UTF-8 is UTF-8: text in another encoding is valid UTF-8 only by chance.
/// - An encoding is refuted if it leaves more broken sequences than valid non-ASCII characters.
/// - An encoding with a broken sequence is refuted if the other declared one has none. UTF-8 is tried first.
///
/// Without a usable label, the encoding is guessed from the bytes. UTF-7 is never used, as in browsers (Encoding
/// Standard §4). Undecodable bytes become U+FFFD.
pub fn decode<'a>(body: &'a [u8], content_type: Option<&str>, document: Document) -> DecodedText<'a> {
    if let Some((encoding, mark)) = Encoding::for_bom(body) {
        return decode_as(&body[mark..], encoding, false);
    }
    if let Some(encoding) = utf_16(body) {
        return decode_as(body, encoding, false);
    }
    let header = content_type.and_then(charset_parameter);
    if document == Document::Page {
        let declared = meta_labels(head(body, META_BYTES)).find(|label| known(label).is_some());
        return by_labels(body, header, declared);
    }
    let declared_label = declared(head(body, DECLARATION_BYTES));
    if let Some(page) = code_page(body, header, declared_label) {
        let text = page.decode(body);
        let faulty = text.contains(char::REPLACEMENT_CHARACTER);
        return DecodedText { text: Cow::Owned(text), faulty };
    }
    by_labels(body, header, declared_label)
}

/// Returns the code page named by the header, or by the document if the header does not disagree; `None` for UTF-8.
fn code_page(body: &[u8], header: Option<&str>, declared: Option<&str>) -> Option<&'static CodePage> {
    if header.and_then(known).is_some_and(|e| e != UTF_8) {
        return None;
    }
    let page = header.and_then(CodePage::for_label).or_else(|| declared.and_then(CodePage::for_label))?;
    std::str::from_utf8(body).is_err().then_some(page)
}

/// Decodes by the label of the header or the document, unless the bytes refute it; see [`decode`].
fn by_labels<'a>(body: &'a [u8], header: Option<&str>, declared: Option<&str>) -> DecodedText<'a> {
    let labels = [header, declared].into_iter().flatten();
    let is_named = labels.clone().count();
    let mut named: Vec<_> = labels.filter_map(plain).collect();
    let is_unknown = named.len() < is_named;
    let first = named.first().copied();
    let is_utf_8 = match std::str::from_utf8(body) {
        Ok(text) => first.is_none_or(|e| e == UTF_8) || !text.is_ascii(),
        // The text may be truncated inside a character.
        Err(cut) => cut.error_len().is_none() && !body[..cut.valid_up_to()].is_ascii(),
    };
    if is_utf_8 {
        return decode_as(body, UTF_8, is_unknown || first.is_some_and(|e| e != UTF_8));
    }
    named.sort_by_key(|e| *e != UTF_8);
    let mut next_best = None;
    for encoding in named {
        let (text, is_broken) = encoding.decode_without_bom_handling(body);
        let is_mostly_whole = !is_broken || is_mostly_whole(&text);
        let read = DecodedText { text, faulty: is_broken || is_unknown || Some(encoding) != first };
        if !is_broken || is_mostly_whole && encoding == UTF_8 {
            return read;
        }
        next_best = next_best.or(Some(read).filter(|_| is_mostly_whole));
    }
    next_best.unwrap_or_else(|| decode_as(body, guess(body), is_unknown || first.is_some()))
}

fn decode_as<'a>(body: &'a [u8], encoding: &'static Encoding, faulty: bool) -> DecodedText<'a> {
    let (text, lossy) = encoding.decode_without_bom_handling(body);
    DecodedText { text, faulty: faulty || lossy }
}

/// Returns the encoding for a label, except those that the Encoding Standard replaces because they are dangerous.
fn known(label: &str) -> Option<&'static Encoding> {
    Encoding::for_label_no_replacement(label.as_bytes())
}

/// Returns the encoding for a label inside an ASCII-compatible document (HTML, "prescan a byte stream").
fn plain(label: &str) -> Option<&'static Encoding> {
    let encoding = known(label).or_else(|| legacy::by_other_name(label))?;
    let is_plain = encoding.is_ascii_compatible() || encoding.name() == "ISO-2022-JP";
    is_plain.then_some(if encoding == X_USER_DEFINED { WINDOWS_1252 } else { encoding })
}

/// Returns the `charset` parameter of a media type (RFC 9110 §8.3.1).
fn charset_parameter(content_type: &str) -> Option<&str> {
    content_type.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        let value = value.trim().trim_matches(['"', '\'']);
        (name.trim().eq_ignore_ascii_case("charset") && !value.is_empty()).then_some(value)
    })
}

fn declared(head: &[u8]) -> Option<&str> {
    match position(head, b"<?xml ") {
        Some(at) => label_after(until_bracket(&head[at..]), b"encoding"),
        None => meta_labels(head).next(),
    }
}

/// Returns the charsets that `meta` tags name, without those in comments (HTML, "prescan a byte stream").
fn meta_labels(head: &[u8]) -> impl Iterator<Item = &str> {
    let mut rest = head;
    std::iter::from_fn(move || {
        while let Some(at) = position(rest, b"<meta") {
            if let Some(comment) = position(&rest[..at], b"<!--") {
                // The end of a comment may share the dashes of its beginning: `<!-->`.
                let inside = &rest[comment + 2..];
                rest = &inside[position(inside, b"-->")? + 3..];
                continue;
            }
            let tag = until_bracket(&rest[at + 5..]);
            rest = &rest[at + 5 + tag.len()..];
            if let Some(label) = label_after(tag, b"charset") {
                return Some(label);
            }
        }
        None
    })
}

/// Returns the value that follows `name` and an equals sign in a tag.
fn label_after<'a>(tag: &'a [u8], name: &[u8]) -> Option<&'a str> {
    let value = tag[position(tag, name)? + name.len()..].trim_ascii_start().strip_prefix(b"=")?;
    let start = value.iter().position(|b| !b.is_ascii_whitespace() && !matches!(b, b'"' | b'\''))?;
    let is_label = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b':' | b'.');
    let length = value[start..].iter().take_while(|b| is_label(b)).count();
    std::str::from_utf8(&value[start..start + length]).ok().filter(|label| !label.is_empty())
}

fn head(body: &[u8], bytes: usize) -> &[u8] {
    &body[..body.len().min(bytes)]
}

fn until_bracket(tag: &[u8]) -> &[u8] {
    &tag[..tag.iter().position(|b| *b == b'>').unwrap_or(tag.len())]
}

/// Returns the position of the lower-case `needle` in `haystack`, ignoring ASCII case.
fn position(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|window| window.eq_ignore_ascii_case(needle))
}

fn guess(body: &[u8]) -> &'static Encoding {
    // Valid UTF-8 is UTF-8. A truncated document may end inside a character.
    if std::str::from_utf8(body).map_or_else(|fault| fault.error_len().is_none(), |_| true) {
        return UTF_8;
    }
    // The sample starts near the first non-ASCII byte, because ASCII text is no evidence.
    let start = body.iter().position(|b| !b.is_ascii()).unwrap_or(0).saturating_sub(64);
    let sample = head(&body[start..], GUESS_BYTES);
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(sample, start + sample.len() == body.len());
    let guessed = detector.guess(None, Utf8Detection::Allow);
    let is_wrong = guessed == UTF_8 && !is_mostly_whole(&String::from_utf8_lossy(body));
    if is_wrong { WINDOWS_1252 } else { guessed }
}

/// True if a text has no more broken sequences than other non-ASCII characters.
fn is_mostly_whole(text: &str) -> bool {
    let beyond = text.chars().filter(|c| !c.is_ascii()).count();
    beyond >= 2 * text.chars().filter(|c| *c == char::REPLACEMENT_CHARACTER).count()
}

/// Detects UTF-16 without a byte order mark by the zero byte next to a leading `<`, `{` or white space.
fn utf_16(body: &[u8]) -> Option<&'static Encoding> {
    match body {
        [0, b'<' | b'{' | b'\t' | b'\n' | b'\r' | b' ', 0, ..] => Some(UTF_16BE),
        [b'<' | b'{' | b'\t' | b'\n' | b'\r' | b' ', 0, second, 0, ..] if *second != 0 => Some(UTF_16LE),
        _ => None,
    }
}

/// Repairs double encoding: UTF-8 that was decoded as windows-1252 and encoded as UTF-8 again ("donâ€™t"). Text is
/// changed only if it has a sequence of at least three characters that is valid UTF-8 this way.
pub fn undo_double_encoding(text: Cow<'_, str>) -> Cow<'_, str> {
    /// Double-encoded first two bytes of punctuation marks, which reveal the defect quickly.
    const LEADS: [&str; 2] = ["\u{E2}\u{80}", "\u{E2}\u{20AC}"];
    const LEAD: &str = "\u{E2}";
    let leads = |at: usize| LEADS.iter().any(|lead| text.as_bytes()[at..].starts_with(lead.as_bytes()));
    if !memmem::find_iter(text.as_bytes(), LEAD).any(leads) {
        return text;
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = &*text;
    let mut certain = false;
    while let Some(at) = rest.find(|c: char| ('\u{C2}'..='\u{F4}').contains(&c)) {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let (original, length) = original_character(from);
        if let Some(c) = original {
            certain |= c.len_utf8() > 2;
            out.push(c);
        } else {
            out.push_str(from.get(..length).unwrap_or_default());
        }
        rest = from.get(length..).unwrap_or_default();
    }
    out.push_str(rest);
    if certain { Cow::Owned(out) } else { text }
}

/// Returns the character that a double-encoded text starts with, if any, and the length in bytes of its encoded form;
/// otherwise the length of the text's first character.
fn original_character(text: &str) -> (Option<char>, usize) {
    let first = text.chars().next();
    let wanted = match first.and_then(byte_of) {
        Some(0xC2..=0xDF) => 2,
        Some(0xE0..=0xEF) => 3,
        _ => 4,
    };
    let bytes: Vec<u8> = text.chars().take(wanted).map_while(byte_of).collect();
    let decoded = std::str::from_utf8(&bytes).ok().filter(|_| bytes.len() == wanted);
    match decoded.and_then(|text| text.chars().next()) {
        Some(c) => (Some(c), text.chars().take(wanted).map(char::len_utf8).sum()),
        None => (None, first.map_or(1, char::len_utf8)),
    }
}

/// Returns the byte for a character in windows-1252, or in ISO 8859-1 for bytes that windows-1252 leaves undefined.
fn byte_of(c: char) -> Option<u8> {
    u8::try_from(u32::from(c)).ok().or_else(|| (0x80..=0x9F).find(|byte| windows_1252(char::from(*byte)) == Some(c)))
}

#[cfg(test)]
mod tests;
