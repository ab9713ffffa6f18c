//! Plain text out of what feeds put into titles, and text that is safe to keep.

use crate::entity::{self, is_c1, windows_1252};
use unicode_normalization::char::is_combining_mark;
use unicode_normalization::{IsNormalized, UnicodeNormalization as _, is_nfc_quick};

/// Marks that may stand on one letter. Vietnamese needs two, pointed Hebrew three or four.
const MAX_MARKS: usize = 6;

/// A title as plain text: markup left out, references resolved, white space folded, cleaned, cut.
pub(crate) fn plain(text: &str, literal: bool, max_chars: usize) -> Option<String> {
    let folded = if literal { fold(text) } else { fold(&entity::decode(&strip_tags(text))) };
    clean(&folded, max_chars)
}

/// A longer text: cleaned and cut, its markup kept.
pub(crate) fn body(text: &str, max_chars: usize) -> Option<String> {
    clean(text.trim(), max_chars)
}

/// Takes out what has no place in kept text: controls, overrides of the writing direction, invisible characters; piles
/// of combining marks are cut down; normal form C. A control between ASCII and Latin-1 is what Windows-1252 has in its place.
/// `None` if nothing is left.
///
/// Below U+0300 nothing combines with anything, so most of most texts is copied as it is.
fn clean(text: &str, max_chars: usize) -> Option<String> {
    let mut rest = cut(text, max_chars.saturating_mul(2));
    let mut out = String::with_capacity(rest.len());
    let is_ascii = rest.is_ascii();
    while !is_ascii && let Some(at) = rest.bytes().position(|b| b >= FIRST_MARK) {
        // What stands before a mark is part of what it makes.
        let before = rest[..at].char_indices().next_back().map_or(0, |(at, _)| at);
        push_simple(&rest[..before], &mut out);
        let low = |b: u8| b < 0x80 || (0xC0..FIRST_MARK).contains(&b);
        let end = rest[at..].bytes().position(low).map_or(rest.len(), |length| at + length);
        push_any(&rest[before..end], &mut out);
        rest = &rest[end..];
    }
    push_simple(rest, &mut out);
    out.truncate(cut(&out, max_chars).len());
    let cleaned = out.trim();
    if cleaned.len() == out.len() {
        (!out.is_empty()).then_some(out)
    } else {
        (!cleaned.is_empty()).then(|| cleaned.to_owned())
    }
}

/// The first byte of U+0300, the first combining mark, in UTF-8; no character below has one that is greater.
const FIRST_MARK: u8 = 0xCC;

/// The first characters of a text.
fn cut(text: &str, max_chars: usize) -> &str {
    if text.len() <= max_chars {
        return text;
    }
    text.char_indices().nth(max_chars).map_or(text, |(at, _)| &text[..at])
}

/// Text below U+0300.
fn push_simple(text: &str, out: &mut String) {
    // 0xC2 begins the C1 controls, among others. To look at all without a way out in the middle is many times as fast.
    let odd = |b: u8| b < b' ' && b != b'\t' && b != b'\n' || b == 0x7F || b == 0xC2;
    if text.bytes().fold(false, |found, b| found | odd(b)) {
        out.extend(text.chars().filter_map(admitted));
    } else {
        out.push_str(text);
    }
}

/// Any text: without what is unwanted, no more marks than may be on one letter, in normal form C.
fn push_any(text: &str, out: &mut String) {
    let mut marks = 0;
    let kept = text.chars().filter_map(admitted).filter(|c| {
        marks = if is_combining_mark(*c) { marks + 1 } else { 0 };
        marks <= MAX_MARKS
    });
    if is_nfc_quick(text.chars()) == IsNormalized::Yes {
        out.extend(kept);
    } else {
        out.extend(kept.nfc());
    }
}

/// The character to keep for one that was read, if any.
fn admitted(c: char) -> Option<char> {
    if is_c1(c) { windows_1252(c) } else { Some(c).filter(|c| !is_unwanted(*c)) }
}

/// Whether a character has no place in kept text.
pub(crate) fn is_unwanted(c: char) -> bool {
    match c {
        '\t' | '\n' => false,
        // Direction overrides and isolates, which make text read as something else than it says.
        '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' => true,
        // Zero width. The joiners U+200C and U+200D stay: Persian and emoji need them.
        '\u{200B}' | '\u{2060}' | '\u{FEFF}' | '\u{FFF9}'..='\u{FFFB}' => true,
        // Unassigned for ever, and tag characters, which carry hidden text.
        '\u{FFFE}' | '\u{FFFF}' | '\u{E0000}'..='\u{E007F}' => true,
        c => c.is_control(),
    }
}

/// White space of any length becomes one space. What only ASCII calls white space is a control character to XML (§2.2), and
/// U+0085 is an ellipsis that was decoded wrongly.
fn fold(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let space = |c: char| c.is_whitespace() && !matches!(c, '\u{B}' | '\u{C}' | '\u{85}');
    for word in text.split(space).filter(|word| !word.is_empty()) {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

/// Leaves HTML tags out. What only looks like one stays, since titles speak of `Vec<T>` and of 1 < 2.
fn strip_tags(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        match tag_length(rest) {
            Some((length, breaks)) => {
                if breaks {
                    out.push(' ');
                }
                rest = &rest[length..];
            }
            None => {
                out.push('<');
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
    out
}

/// The length of the HTML tag that `text` begins with, and whether it parts words.
fn tag_length(text: &str) -> Option<(usize, bool)> {
    let after = text[1..].strip_prefix('/').unwrap_or(&text[1..]);
    let end = after.bytes().take(MAX_TAG_NAME + 1).position(|b| !b.is_ascii_alphanumeric()).unwrap_or(after.len());
    let name = after.get(..end).filter(|n| n.len() <= MAX_TAG_NAME)?.to_ascii_lowercase();
    let close = text[1..].find(['>', '<'])? + 1;
    let known = INLINE.contains(&name.as_str()) || BLOCK.contains(&name.as_str());
    (known && text[close..].starts_with('>')).then(|| (close + 1, BLOCK.contains(&name.as_str())))
}

/// Longest name in the two lists.
const MAX_TAG_NAME: usize = 10;
/// Elements inside a line.
const INLINE: [&str; 34] = [
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "del", "dfn", "em", "embed", "font", "i",
    "iframe", "img", "ins", "kbd", "mark", "q", "s", "samp", "script", "small", "span", "strike", "strong", "sub",
    "sup", "tt", "u", "var", "wbr",
];
/// Elements that begin a new line.
const BLOCK: [&str; 24] = [
    "article",
    "aside",
    "blockquote",
    "br",
    "center",
    "dd",
    "div",
    "dl",
    "dt",
    "figcaption",
    "figure",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "li",
    "ol",
    "p",
    "pre",
    "section",
    "ul",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn title(text: &str) -> Option<String> {
        plain(text, false, 1_000)
    }

    #[test]
    fn titles_lose_markup_and_keep_what_only_looks_like_it() {
        assert_eq!(title("<b>Curlews</b>  &amp;\n<i>godwits</i>").as_deref(), Some("Curlews & godwits"));
        assert_eq!(title("<p>One</p><p>Two</p>").as_deref(), Some("One Two"));
        assert_eq!(title("Vec<T> when 1 < 2").as_deref(), Some("Vec<T> when 1 < 2"));
        assert_eq!(title("<script>alert(1)</script>").as_deref(), Some("alert(1)"));
        assert_eq!(plain("<b>literal</b>", true, 1_000).as_deref(), Some("<b>literal</b>"));
        assert_eq!(title("<p> </p>"), None);
    }

    #[test]
    fn what_deceives_the_eye_is_taken_out() {
        assert_eq!(title("a\0b\u{1}c\u{202E}d\u{200B}e\u{FEFF}").as_deref(), Some("abcde"));
        let pile = format!("z{}", "\u{301}".repeat(10_000));
        assert_eq!(title(&pile).map(|t| t.chars().count()), Some(MAX_MARKS));
        assert_eq!(title("e\u{301}").as_deref(), Some("\u{e9}"));
    }

    #[test]
    fn c1_controls_are_read_as_their_references_are() {
        for code in 0x80..=0x9F_u8 {
            let raw = title(&format!("a{}b", char::from(code)));
            assert_eq!(raw, title(&format!("a&#{code};b")), "{code:X}");
            assert!(raw.is_some_and(|raw| !raw.contains(char::is_control)), "{code:X}");
        }
        assert_eq!(title("it\u{92}s \u{93}so\u{94}\u{85}").as_deref(), Some("it\u{2019}s \u{201c}so\u{201d}\u{2026}"));
        assert_eq!(body("it\u{92}s", 9).as_deref(), Some("it\u{2019}s"));
    }

    #[test]
    fn long_titles_are_cut_at_a_character() {
        let long = "\u{e9}".repeat(5_000);
        assert_eq!(title(&long).map(|t| t.chars().count()), Some(1_000));
    }

    #[test]
    fn texts_are_normal_wherever_a_mark_stands() {
        for text in [
            "e\u{301}te\u{301} l\u{2019}e\u{301}te\u{301}",
            "\u{2019}\u{301}a",
            "\u{301}a\u{301}",
            "A\u{30A}ngstr\u{F6}m \u{212B} caf\u{E9}\u{301}\u{323}",
            "\u{AC00}\u{11A8} \u{1112}\u{1161}\u{11AB} \u{30AB}\u{3099}x",
            "plain\u{85}t\u{AD}ext\r\n\t\u{200B}.",
        ] {
            let wanted: String = text.chars().filter_map(admitted).nfc().collect();
            assert_eq!(clean(text, 1_000).as_deref(), Some(wanted.trim()), "{text:?}");
        }
        assert_eq!(clean("\u{1F426}a\u{e9}bc", 3).as_deref(), Some("\u{1F426}a\u{e9}"));
    }
}
