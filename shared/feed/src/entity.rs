//! Character references: XML's five, HTML's names, and numbers as HTML reads them.

use std::cell::Cell;
use std::collections::HashMap;
use web_atoms::NAMED_ENTITIES;

/// Longest name between `&` and `;`; HTML's longest is 31 letters.
const MAX_NAME: usize = 32;
/// Entities of one document type declaration that are known; HTML 4 has 252.
const MAX_DECLARED: usize = 300;
/// Bytes of the text that a declared entity stands for.
const MAX_DECLARED_BYTES: usize = 256;
/// Bytes by which the declared entities of a document may make its texts longer.
const MAX_EXPANSION: usize = 256 * 1024;

/// Puts `raw` at the end of `out` with its references resolved. What is no reference stays as it is, so a bare `&` is
/// an `&`, and an entity that nobody has explained keeps its name. A name needs its semicolon, though HTML knows a few
/// without: addresses are full of `&copy=2`.
///
/// Returns whether a reference was met that plain XML does not know.
pub(crate) fn decode_into(raw: &str, out: &mut String) -> bool {
    decode_declared(raw, out, &Declared::default())
}

/// [`decode_into`] where a document type declaration has declared entities.
pub(crate) fn decode_declared(raw: &str, out: &mut String, declared: &Declared<'_>) -> bool {
    let mut odd = false;
    let mut rest = raw;
    out.reserve(raw.len());
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        match declared.reference(rest).or_else(|| reference(rest)) {
            Some((length, resolved)) => {
                odd |= resolved.odd;
                match resolved.text {
                    Resolution::Text(text) => out.push_str(text),
                    Resolution::Chars(chars) => out.extend(chars.into_iter().flatten()),
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

/// The entities that a document type declaration declares in its internal subset (XML §4.2), as far as they are short and
/// stand for literal text. One that names another entity or brings markup is not known, so that nothing is ever expanded
/// twice.
#[derive(Debug, Default)]
pub(crate) struct Declared<'a> {
    texts: HashMap<&'a str, String>,
    /// Bytes that they have made out of fewer.
    expanded: Cell<usize>,
}

impl<'a> Declared<'a> {
    /// Those of an internal subset.
    pub(crate) fn of(subset: &'a str) -> Declared<'a> {
        let mut declared = Declared::default();
        let mut rest = subset;
        while let Some(at) = rest.find("<!").filter(|_| declared.texts.len() < MAX_DECLARED) {
            rest = &rest[at + 2..];
            if let Some(comment) = rest.strip_prefix("--") {
                rest = comment.find("-->").map_or("", |end| &comment[end..]);
            } else if let Some((name, text)) = rest.strip_prefix("ENTITY").and_then(declaration) {
                // Of two declarations the first one counts.
                declared.texts.entry(name).or_insert(text);
            }
        }
        declared
    }

    /// The declared entity that `text` begins with, unless the five of XML have its name or too much was expanded.
    fn reference(&self, text: &str) -> Option<(usize, Resolved<'_>)> {
        if self.texts.is_empty() || frequent(text).is_some() {
            return None;
        }
        let window = text.as_bytes().get(1..text.len().min(MAX_NAME + 2))?;
        let length = window.iter().position(|b| *b == b';')?;
        let known = self.texts.get(text.get(1..=length)?)?;
        let expanded = self.expanded.get() + known.len();
        if expanded > MAX_EXPANSION {
            return None;
        }
        self.expanded.set(expanded);
        Some((length + 2, Resolved { text: Resolution::Text(known), odd: false }))
    }
}

/// The name and the text of a general entity's declaration, of which the first word was read.
fn declaration(rest: &str) -> Option<(&str, String)> {
    let window = &rest[..rest.floor_char_boundary(MAX_NAME + MAX_DECLARED_BYTES + 32)];
    let named = window.trim_start();
    let (name, after) = named.split_at(named.find(char::is_whitespace)?);
    let value = after.trim_start();
    let quote = value.chars().next().filter(|c| named.len() < window.len() && matches!(c, '"' | '\''))?;
    let value = &value[1..];
    let value = value.get(..value.find(quote)?).filter(|v| v.len() <= MAX_DECLARED_BYTES && !v.contains('%'))?;
    let is_plain = value.match_indices('&').all(|(at, _)| value[at..].starts_with("&#"));
    let text = decode(value);
    (is_plain && name != "%" && !text.contains(['&', '<'])).then_some((name, text))
}

struct Resolved<'t> {
    text: Resolution<'t>,
    odd: bool,
}

enum Resolution<'t> {
    Text(&'t str),
    Chars([Option<char>; 2]),
}

/// The reference that `text` begins with, and its length.
fn reference(text: &str) -> Option<(usize, Resolved<'static>)> {
    if let Some((length, known)) = frequent(text) {
        return Some((length, Resolved { text: Resolution::Text(known), odd: false }));
    }
    let window = text.as_bytes().get(1..text.len().min(MAX_NAME + 2))?;
    let length = window.iter().position(|b| *b == b';')?;
    let name = text.get(1..=length)?;
    if let Some(number) = name.strip_prefix('#') {
        return numeric(text, number, length + 2);
    }
    // The table's names have their semicolon, and beginnings of names, which stand for nothing, have none.
    let (first, second) = NAMED_ENTITIES.get(text.get(1..length + 2)?)?;
    let chars = [*first, *second].map(|code| char::from_u32(code).filter(|c| *c != '\0'));
    Some((length + 2, Resolved { text: Resolution::Chars(chars), odd: true }))
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

fn numeric(text: &str, number: &str, length: usize) -> Option<(usize, Resolved<'static>)> {
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
            return Some((both, Resolved { text: Resolution::Chars([char::from_u32(whole), None]), odd: true }));
        }
    }
    let odd = code < 0xA0 && code != 9 && code != 10 && code != 13 && !(0x20..0x7F).contains(&code);
    let resolved = legible(code);
    Some((length, Resolved { odd: odd || resolved.is_none(), text: Resolution::Chars([resolved, None]) }))
}

fn code_point(number: &str) -> Option<u32> {
    match number.strip_prefix(['x', 'X']) {
        Some(hex) => u32::from_str_radix(hex, 16).ok(),
        None => number.bytes().all(|b| b.is_ascii_digit()).then(|| number.parse().ok())?,
    }
}

/// The character that is meant: numbers of Windows-1252 are read as HTML reads them, what cannot stand in text is left out.
fn legible(code: u32) -> Option<char> {
    let c = char::from_u32(code)?;
    if is_c1(c) {
        return windows_1252(c);
    }
    Some(c).filter(|c| *c >= ' ' || matches!(c, '\t' | '\n' | '\r'))
}

/// Whether a character is one of the controls between ASCII and Latin-1, which nobody writes.
pub(crate) fn is_c1(c: char) -> bool {
    ('\u{80}'..='\u{9F}').contains(&c)
}

/// The character that was meant where such a control stands: that of Windows-1252 at the same place, if there is one (HTML
/// §13.2.5.80 reads numeric references so).
pub(crate) fn windows_1252(control: char) -> Option<char> {
    let byte = u8::try_from(u32::from(control)).ok()?;
    let meant = encoding_rs::WINDOWS_1252.decode_without_bom_handling(&[byte]).0.chars().next();
    meant.filter(|c| !c.is_control())
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
    fn every_name_of_the_standard_is_resolved() {
        let list = include_str!("../tests/it/fixtures/character-references.txt");
        let (mut names, mut without_semicolon) = (0, 0);
        for line in list.lines().filter(|line| !line.starts_with('#')) {
            let mut words = line.split(' ');
            let (Some(name), Some(codes)) = (words.next(), words.next()) else { panic!("{line}") };
            let code = |hex| u32::from_str_radix(hex, 16).ok().and_then(char::from_u32);
            let meant: Option<String> = codes.split('+').map(code).collect();
            assert_eq!(Some(decode(&format!("a&{name};b"))), meant.map(|meant| format!("a{meant}b")), "{name}");
            names += 1;
            if words.next().is_some() {
                // In an address it is the name of a parameter.
                assert_eq!(decode(&format!("?a=1&{name}=2")), format!("?a=1&{name}=2"));
                without_semicolon += 1;
            }
        }
        assert_eq!((names, without_semicolon, names + without_semicolon), (2_125, 106, 2_231));
        // A beginning of a name is none, and letter case matters.
        assert_eq!(decode("&gamm; &GAMMA; &gammaa; &; &a;"), "&gamm; &GAMMA; &gammaa; &; &a;");
    }

    #[test]
    fn declared_entities_are_known_if_they_are_literal_text() {
        let subset = "<!ENTITY id 'Curlew &#38; co'><!ENTITY hens \"hens\"> <!ENTITY hens 'no'><!ENTITY lt 'no'>\n\
            <!-- <!ENTITY gone 'no'> --><!ENTITY % part2 'no'><!ENTITY file SYSTEM 'no'><!ENTITY nested 'a&hens;b'>\
            <!ENTITY tag '<b>'><!ENTITY\tcaf\u{e9}\n'&#233;' ><!ENTITY open 'no";
        let declared = Declared::of(subset);
        let said = |raw: &str| {
            let mut out = String::new();
            decode_declared(raw, &mut out, &declared);
            out
        };
        assert_eq!(said("&hens; &lt; &caf\u{e9}; &eacute;"), "hens < \u{e9} \u{e9}");
        let unknown = "&id; &gone; &part2; &file; &nested; &tag; &open; &%;";
        assert_eq!(said(unknown), unknown);
    }

    #[test]
    fn declared_entities_make_a_text_only_so_much_longer() {
        let subset = format!("<!ENTITY a '{}'>", "x".repeat(MAX_DECLARED_BYTES));
        let declared = Declared::of(&subset);
        let mut out = String::new();
        decode_declared(&"&a;".repeat(100_000), &mut out, &declared);
        assert!(out.len() <= MAX_EXPANSION + 300_000, "{}", out.len());
        assert!(Declared::of(&"<!ENTITY a 'b'>".repeat(9)).texts.len() == 1);
        let many: String = (0..10_000).map(|n| format!("<!ENTITY e{n} 'x'>")).collect();
        assert_eq!(Declared::of(&many).texts.len(), MAX_DECLARED);
    }

    #[test]
    fn many_ampersands_take_linear_time() {
        let hostile = "&".repeat(1_000_000);
        assert_eq!(decode(&hostile).len(), 1_000_000);
    }
}
