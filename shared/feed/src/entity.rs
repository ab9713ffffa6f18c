//! Character references: XML's five, HTML's names, and numbers as HTML reads them.

use quick_xml::escape::resolve_html5_entity;

/// Longest name between `&` and `;`; HTML's longest is 31 letters.
const MAX_NAME: usize = 32;

/// Puts `raw` at the end of `out` with its references resolved. What is no reference stays as it is, so a bare `&` is
/// an `&`, and an entity that only a document type declaration could explain keeps its name.
///
/// Returns whether a reference was met that plain XML does not know.
pub(crate) fn decode_into(raw: &str, out: &mut String) -> bool {
    let mut odd = false;
    let mut rest = raw;
    out.reserve(raw.len());
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        match reference(rest) {
            Some((length, resolved)) => {
                odd |= resolved.odd;
                match resolved.text {
                    Resolution::Named(text) => out.push_str(text),
                    Resolution::Number(number) => out.extend(number),
                }
                rest = &rest[length..];
            }
            None => {
                odd = true;
                out.push('&');
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
    odd
}

/// [`decode_into`] to a new text.
pub(crate) fn decode(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len());
    decode_into(raw, &mut out);
    out
}

struct Resolved {
    text: Resolution,
    odd: bool,
}

enum Resolution {
    Named(&'static str),
    Number(Option<char>),
}

/// The reference that `text` begins with, and its length.
fn reference(text: &str) -> Option<(usize, Resolved)> {
    if let Some((length, known)) = frequent(text) {
        return Some((length, Resolved { text: Resolution::Named(known), odd: false }));
    }
    let window = text.as_bytes().get(1..text.len().min(MAX_NAME + 2))?;
    let length = window.iter().position(|b| *b == b';')?;
    let name = text.get(1..=length)?;
    if let Some(number) = name.strip_prefix('#') {
        return numeric(text, number, length + 2);
    }
    let known = resolve_html5_entity(name)?;
    Some((length + 2, Resolved { text: Resolution::Named(known), odd: true }))
}

/// XML's own five, with which a text begins, and their length. HTML's table is long, and nearly all references are these.
pub(crate) fn frequent(text: &str) -> Option<(usize, &'static str)> {
    match text.as_bytes() {
        [b'&', b'l', b't', b';', ..] => Some((4, "<")),
        [b'&', b'g', b't', b';', ..] => Some((4, ">")),
        [b'&', b'a', b'm', b'p', b';', ..] => Some((5, "&")),
        [b'&', b'q', b'u', b'o', b't', b';', ..] => Some((6, "\"")),
        [b'&', b'a', b'p', b'o', b's', b';', ..] => Some((6, "'")),
        _ => None,
    }
}

fn numeric(text: &str, number: &str, length: usize) -> Option<(usize, Resolved)> {
    let code = code_point(number)?;
    // Two references that make one character in UTF-16, as some writers emit them.
    if (0xD800..0xDC00).contains(&code) {
        let after = &text[length..];
        let low = after.strip_prefix("&#").and_then(|t| t.split_once(';')).filter(|(n, _)| n.len() <= MAX_NAME);
        if let Some((digits, low)) = low.and_then(|(n, _)| Some((n, code_point(n)?)))
            && (0xDC00..0xE000).contains(&low)
        {
            let whole = 0x1_0000 + ((code - 0xD800) << 10) + (low - 0xDC00);
            let both = length + 2 + digits.len() + 1;
            return Some((both, Resolved { text: Resolution::Number(char::from_u32(whole)), odd: true }));
        }
    }
    let odd = code < 0xA0 && code != 9 && code != 10 && code != 13 && !(0x20..0x7F).contains(&code);
    let resolved = legible(code);
    Some((length, Resolved { odd: odd || resolved.is_none(), text: Resolution::Number(resolved) }))
}

fn code_point(number: &str) -> Option<u32> {
    match number.strip_prefix(['x', 'X']) {
        Some(hex) => u32::from_str_radix(hex, 16).ok(),
        None => number.bytes().all(|b| b.is_ascii_digit()).then(|| number.parse().ok())?,
    }
}

/// The character that is meant: numbers of Windows-1252 are read as HTML reads them, what cannot stand in text is left out.
fn legible(code: u32) -> Option<char> {
    if let Ok(byte @ 0x80..=0x9F) = u8::try_from(code) {
        return encoding_rs::WINDOWS_1252.decode_without_bom_handling(&[byte]).0.chars().next();
    }
    char::from_u32(code).filter(|c| *c >= ' ' || matches!(c, '\t' | '\n' | '\r'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_references_are_resolved_and_the_rest_stays() {
        assert_eq!(
            decode("a&nbsp;b &eacute;&hellip; &amp; &X; & &copy=2;"),
            "a\u{a0}b \u{e9}\u{2026} & &X; & &copy=2;"
        );
        assert_eq!(decode("&#X41;&#x41;&#65;&#8217;&#146;&#0;&#x1F;&#99999999;"), "AAA\u{2019}\u{2019}");
        assert_eq!(decode("&#55357;&#56832;"), "\u{1F600}");
        assert_eq!(decode("&#55357; &#xZ; &"), " &#xZ; &");
    }

    #[test]
    fn many_ampersands_take_linear_time() {
        let hostile = "&".repeat(1_000_000);
        assert_eq!(decode(&hostile).len(), 1_000_000);
    }
}
