//! Cleaning of text for storage: permitted characters, and normalization of white space. The meaning is not judged.

use crate::references::{is_c1, windows_1252};
use std::borrow::Cow;
use unicode_normalization::char::is_combining_mark;
use unicode_normalization::{IsNormalized, UnicodeNormalization as _, is_nfc_quick};

/// Maximum number of combining marks per letter. Vietnamese needs two, pointed Hebrew four (UAX #15 allows 30).
pub const MAX_MARKS: usize = 6;
/// First byte of U+0300, the first combining mark, in UTF-8. No lower character has a greater first byte.
const FIRST_MARK: u8 = 0xCC;

/// Returns a text as one line of at most `max` characters: cleaned, truncated, each run of white space as one space.
pub fn line(text: &str, max: usize) -> String {
    let mut out = String::with_capacity(text.len().min(max.saturating_mul(4)));
    let mut chars = 0;
    for word in clean(text).split_whitespace() {
        let gap = usize::from(!out.is_empty());
        if chars + gap >= max {
            break;
        }
        if gap == 1 {
            out.push(' ');
            chars += 1;
        }
        let part = head(word, max - chars);
        out.push_str(part);
        if part.len() < word.len() {
            break;
        }
        chars += word.chars().count();
    }
    out
}

/// Returns the first `max` characters of a text.
pub fn head(text: &str, max: usize) -> &str {
    if text.len() <= max { text } else { text.char_indices().nth(max).map_or(text, |(at, _)| &text[..at]) }
}

/// Returns the first `max` bytes of a text, or fewer, so that no character is split.
pub fn head_bytes(text: &str, max: usize) -> &str {
    text.get(..text.floor_char_boundary(max)).unwrap_or(text)
}

/// Removes characters that must not be stored ([`storable`]), limits combining marks to [`MAX_MARKS`] per letter, and
/// composes characters (NFC). Line breaks of every kind become `\n`.
pub fn clean(text: &str) -> Cow<'_, str> {
    match filter(text) {
        Cow::Borrowed(text) => compose(text),
        Cow::Owned(text) => Cow::Owned(compose(&text).into_owned()),
    }
}

/// Returns the character to store for `c`, if any. U+0080 to U+009F are mapped as bytes of windows-1252.
pub fn storable(c: char) -> Option<char> {
    match c {
        '\t' | '\n' => Some(c),
        '\r' | '\u{C}' | '\u{2028}' | '\u{2029}' => Some('\n'),
        c if is_c1(c) => windows_1252(c),
        c if c.is_control() => None,
        // Bidirectional embeddings, overrides and isolates (UAX #9) can make a text look like a different one.
        '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' => None,
        // Invisible characters. The joiners U+200C and U+200D are kept, because Persian and emoji need them.
        '\u{AD}' | '\u{200B}' | '\u{2060}'..='\u{2065}' | '\u{FEFF}' | '\u{FFF9}'..='\u{FFFB}' | '\u{180E}' => None,
        // Tag characters can hide ASCII. Icon fonts use the private use areas.
        '\u{E0000}'..='\u{E007F}' | '\u{E000}'..='\u{F8FF}' | '\u{F0000}'..='\u{10FFFF}' => None,
        // Noncharacters.
        '\u{FDD0}'..='\u{FDEF}' => None,
        c => Some(c).filter(|c| u32::from(*c) & 0xFFFE != 0xFFFE),
    }
}

fn filter(text: &str) -> Cow<'_, str> {
    // Scanning all bytes without an early exit is many times faster.
    let odd = |b: u8| !(matches!(b, b'\t' | b'\n') || (b' '..=b'~').contains(&b));
    if !text.bytes().fold(false, |found, b| found | odd(b)) {
        return Cow::Borrowed(text);
    }
    // Characters of most texts that need no change. Combining marks are not among them.
    let plain = |c: char| match c {
        ..'\u{80}' => !odd(c as u8),
        ..'\u{300}' => c >= '\u{A0}' && c != '\u{AD}',
        '–' | '—' | '‘' | '’' | '“' | '”' | '…' => true,
        _ => storable(c) == Some(c) && !is_combining_mark(c),
    };
    if text.chars().all(plain) {
        return Cow::Borrowed(text);
    }
    let mut previous = '\0';
    let lines = text.chars().filter(|&c| std::mem::replace(&mut previous, c) != '\r' || c != '\n');
    let mut marks = 0;
    let kept = lines.filter_map(storable).filter(|&c| {
        marks = if is_combining_mark(c) { marks + 1 } else { 0 };
        marks <= MAX_MARKS
    });
    Cow::Owned(kept.collect())
}

/// Returns a text in NFC. Only characters from U+0300 on and their neighbours can change.
fn compose(text: &str) -> Cow<'_, str> {
    let is_composed = text.bytes().all(|b| b < FIRST_MARK) || is_nfc_quick(text.chars()) == IsNormalized::Yes;
    if is_composed { Cow::Borrowed(text) } else { Cow::Owned(text.nfc().collect()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controls_overrides_and_long_runs_of_marks_go() {
        assert_eq!(line("A\0\u{1}B \u{202E}evil\u{202C} e\u{301}\u{200B}", 99), "AB evil é");
        assert_eq!(line("a\0b\u{1}c\u{202E}d\u{200B}e\u{FEFF}", 99), "abcde");
        for mark in ['\u{330}', '\u{301}'] {
            let pile = format!("z{}", mark.to_string().repeat(10_000));
            assert!((MAX_MARKS..=1 + MAX_MARKS).contains(&line(&pile, 999).chars().count()));
        }
    }

    #[test]
    fn one_list_says_what_is_stored() {
        let gone = "\0\u{7F}\u{81}\u{AD}\u{180E}\u{200B}\u{202E}\u{2061}\u{2065}\u{2067}\u{E001}\u{F8FF}\u{FDD0}\
             \u{FEFF}\u{FFF9}\u{FFFF}\u{1FFFE}\u{E0041}\u{10FFFF}";
        for gone in gone.chars() {
            assert_eq!(clean(&format!("a{gone}b")), "ab", "{gone:?}");
        }
        let stays = "é ä\u{30A}\u{323} \u{200C} \u{200D} 🐦 漢字 \u{FFFD}";
        assert_eq!(clean(stays), stays.nfc().collect::<String>());
        assert_eq!(clean("it\u{92}s \u{93}so\u{94}\u{85}"), "it’s “so”…");
    }

    #[test]
    fn line_breaks_of_every_kind_are_one() {
        assert_eq!(clean("a\r\nb\rc\u{C}d\u{2028}e\u{2029}f\r\r\n\n"), "a\nb\nc\nd\ne\nf\n\n\n");
        assert_eq!(line("a\r\nb\u{C}c\u{2028}d\u{B}e", 99), "a b c de");
    }

    #[test]
    fn a_line_is_cut_at_its_limit() {
        assert_eq!(line("  one \n two three", 7), "one two");
        assert_eq!(line("one two", 4), "one");
        assert_eq!(line("èèèè", 3), "èèè");
        assert_eq!((head("èèèè", 3), head("è", 0), head("abc", 3)), ("èèè", "", "abc"));
    }

    #[test]
    fn texts_are_normal_wherever_a_mark_stands() {
        for text in [
            "e\u{301}te\u{301} l\u{2019}e\u{301}te\u{301}",
            "\u{2019}\u{301}a",
            "\u{301}a\u{301}",
            "A\u{30A}ngstr\u{F6}m \u{212B} caf\u{E9}\u{301}\u{323}",
            "\u{AC00}\u{11A8} \u{1112}\u{1161}\u{11AB} \u{30AB}\u{3099}x",
            "plain\u{85}t\u{AD}ext\t\u{200B}.",
            // Letters and marks that become adjacent only when the character between them is removed.
            "e\u{AD}\u{301} \u{1112}\u{AD}\u{1161} \u{81}\u{301}",
        ] {
            let wanted: String = text.chars().filter_map(storable).nfc().collect();
            assert_eq!(clean(text), wanted, "{text:?}");
        }
    }
}
