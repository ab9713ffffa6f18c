//! Character references: XML's five names, HTML's names, and numbers with HTML's rules.

use std::borrow::Cow;
use std::sync::LazyLock;
use web_atoms::NAMED_ENTITIES;

/// Maximum length of a name between `&` and `;`. The longest HTML name has 31 letters.
pub const MAX_NAME: usize = 32;

/// A character reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reference {
    /// Length of the reference in bytes, including `&` and `;`.
    pub length: usize,
    /// Characters of the reference, at most two. None if it is the number of a control character.
    pub chars: [Option<char>; 2],
    /// True if plain XML defines it: one of the five names, or the number of a character that is not a control.
    pub is_xml: bool,
}

/// Resolves the references in a text. A bare `&` stays, and names need a semicolon: URLs contain `&copy=2`.
pub fn decode(text: &str) -> Cow<'_, str> {
    if !text.contains('&') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    decode_with(text, &mut out, |_| None);
    Cow::Owned(out)
}

/// Appends a text to `out` with its references resolved like [`decode`]. `declared` receives the text from an `&` on,
/// and returns the length of a reference declared by the document, and its replacement text.
///
/// Returns true if plain XML does not define all references, or a bare `&` was found.
pub fn decode_with<'d>(text: &str, out: &mut String, declared: impl Fn(&str) -> Option<(usize, &'d str)>) -> bool {
    let mut odd = false;
    let mut rest = text;
    out.reserve(text.len());
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some((length, replacement)) = declared(rest) {
            out.push_str(replacement);
            rest = &rest[length..];
        } else if let Some(reference) = reference(rest) {
            odd |= !reference.is_xml;
            out.extend(reference.chars.into_iter().flatten());
            rest = &rest[reference.length..];
        } else {
            odd = true;
            out.push('&');
            rest = &rest[1..];
        }
    }
    out.push_str(rest);
    odd
}

/// Returns the reference at the start of a text.
pub fn reference(text: &str) -> Option<Reference> {
    // HTML's table is large, and nearly all references are one of XML's five.
    if let Some(predefined) = predefined(text) {
        return Some(predefined);
    }
    let name = name(text)?;
    if let Some(number) = name.strip_prefix('#') {
        return numeric(text, number, name.len() + 2);
    }
    // Names in the table include their semicolon. Entries without one are mere prefixes, and have no characters.
    let (first, second) = NAMED_ENTITIES.get(&text[1..name.len() + 2])?;
    let chars = [*first, *second].map(|code| char::from_u32(code).filter(|c| *c != '\0'));
    Some(Reference { length: name.len() + 2, chars, is_xml: false })
}

/// Returns the name between the `&` at the start of a text and the next `;`.
pub fn name(text: &str) -> Option<&str> {
    let window = text.as_bytes().get(1..text.len().min(MAX_NAME + 2))?;
    text.get(1..=window.iter().position(|b| *b == b';')?)
}

/// Returns the reference at the start of a text, if it is one of XML's five (XML §4.6).
pub fn predefined(text: &str) -> Option<Reference> {
    const FIVE: [(&str, char); 5] = [("&lt;", '<'), ("&gt;", '>'), ("&amp;", '&'), ("&quot;", '"'), ("&apos;", '\'')];
    let (name, c) = FIVE.iter().find(|(name, _)| text.starts_with(name))?;
    Some(Reference { length: name.len(), chars: [Some(*c), None], is_xml: true })
}

fn numeric(text: &str, number: &str, length: usize) -> Option<Reference> {
    let code = code_point(number)?;
    // Two references that form one UTF-16 surrogate pair, as some software writes them.
    if (0xD800..0xDC00).contains(&code) {
        let after = &text[length..];
        let low = after.strip_prefix("&#").and_then(|t| t.split_once(';')).filter(|(n, _)| n.len() <= MAX_NAME);
        if let Some((digits, low)) = low.and_then(|(n, _)| Some((n, code_point(n)?)))
            && (0xDC00..0xE000).contains(&low)
        {
            let whole = 0x1_0000 + ((code - 0xD800) << 10) + (low - 0xDC00);
            let length = length + digits.len() + "&#;".len();
            return Some(Reference { length, chars: [char::from_u32(whole), None], is_xml: false });
        }
    }
    let meant = legible(code);
    let is_xml = meant.is_some() && (matches!(code, 9 | 10 | 13 | 0x20..0x7F) || code >= 0xA0);
    Some(Reference { length, chars: [meant, None], is_xml })
}

fn code_point(number: &str) -> Option<u32> {
    let (digits, radix) = number.strip_prefix(['x', 'X']).map_or((number, 10), |hex| (hex, 16));
    // `from_str_radix` would accept a sign.
    digits.bytes().all(|b| b.is_ascii_alphanumeric()).then(|| u32::from_str_radix(digits, radix).ok())?
}

/// Returns the intended character: C1 controls are mapped as windows-1252, like in HTML; other controls are dropped.
fn legible(code: u32) -> Option<char> {
    let c = char::from_u32(code)?;
    if is_c1(c) { windows_1252(c) } else { Some(c).filter(|c| *c >= ' ' || matches!(c, '\t' | '\n' | '\r')) }
}

/// True for C1 controls (U+0080 to U+009F), which are never intentional.
pub fn is_c1(c: char) -> bool {
    ('\u{80}'..='\u{9F}').contains(&c)
}

/// Returns the windows-1252 character for a C1 control (HTML, "numeric character reference end state").
pub fn windows_1252(control: char) -> Option<char> {
    static MEANT: LazyLock<Vec<Option<char>>> = LazyLock::new(|| {
        let decode = |byte: u8| encoding_rs::WINDOWS_1252.decode_without_bom_handling(&[byte]).0.chars().next();
        (0x80..=0x9F).map(|byte| decode(byte).filter(|c| !c.is_control())).collect()
    });
    MEANT.get(usize::try_from(u32::from(control).checked_sub(0x80)?).ok()?).copied().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_references_are_resolved_once_and_the_rest_stays() {
        for (text, meant) in [
            ("a&nbsp;b &eacute;&hellip; &amp; &X; & &copy=2;", "a\u{a0}b \u{e9}\u{2026} & &X; & &copy=2;"),
            ("&#X41;&#x41;&#65;&#8217;&#146;&#0;&#x1F;&#99999999;&#+65;", "AAA\u{2019}\u{2019}&#+65;"),
            ("&#55357;&#56832;", "\u{1F600}"),
            ("&#55357; &#xZ; &", " &#xZ; &"),
            ("Tom &amp; Jerry &#8211; &#x2019; &#146; &zzz; &amp;lt; a&b &", "Tom & Jerry – ’ ’ &zzz; &lt; a&b &"),
            ("&CounterClockwiseContourIntegral;&NotEqualTilde;&Zcaron;&am;&amp", "∳≂̸Ž&am;&amp"),
            // The prefix of a name is not a name, and names are case-sensitive.
            ("&gamm; &GAMMA; &gammaa; &; &a;", "&gamm; &GAMMA; &gammaa; &; &a;"),
        ] {
            assert_eq!(decode(text), meant);
        }
    }

    #[test]
    fn every_name_of_the_standard_is_resolved() {
        let list = include_str!("../tests/character-references.txt");
        let (mut names, mut without_semicolon) = (0, 0);
        for line in list.lines().filter(|line| !line.starts_with('#')) {
            let mut words = line.split(' ');
            let (Some(name), Some(codes)) = (words.next(), words.next()) else { panic!("{line}") };
            let code = |hex| u32::from_str_radix(hex, 16).ok().and_then(char::from_u32);
            let meant: Option<String> = codes.split('+').map(code).collect();
            let decoded = decode(&format!("a&{name};b")).into_owned();
            assert_eq!(Some(decoded), meant.map(|meant| format!("a{meant}b")), "{name}");
            names += 1;
            if words.next().is_some() {
                // In a URL this is the name of a parameter.
                assert_eq!(decode(&format!("?a=1&{name}=2")), format!("?a=1&{name}=2"));
                without_semicolon += 1;
            }
        }
        assert_eq!((names, without_semicolon, names + without_semicolon), (2_125, 106, 2_231));
    }

    #[test]
    fn many_ampersands_take_linear_time() {
        let hostile = "&".repeat(1_000_000);
        assert_eq!(decode(&hostile).len(), 1_000_000);
    }
}
