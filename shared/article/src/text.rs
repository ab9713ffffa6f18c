//! Text hygiene: what may stand in a stored text, and how white space is folded.
//!
//! Nothing here judges meaning. Text that tries to give orders to a program stays what it is: text.

use std::borrow::Cow;
use unicode_normalization::char::is_combining_mark;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

/// Most combining marks that may follow each other; no writing system needs more (UAX #15 stream-safe allows 30).
const MAX_MARKS: usize = 6;

/// One line: white space folded to single spaces, cleaned, at most `max` characters.
pub(crate) fn line(text: &str, max: usize) -> String {
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
        for c in word.chars() {
            if chars == max {
                return out;
            }
            out.push(c);
            chars += 1;
        }
    }
    out
}

/// Drops what must not be stored, limits runs of combining marks, and composes (NFC).
pub(crate) fn clean(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|b| matches!(b, b'\t' | b'\n' | b' '..=b'~')) {
        return Cow::Borrowed(text);
    }
    // Letters of most languages need none of it.
    let plain = |c: char| c < '\u{300}' && (c >= '\u{A0}' || !c.is_control()) && c != '\u{AD}';
    if text.chars().all(|c| plain(c) || matches!(c, '\t' | '\n' | '–' | '—' | '‘' | '’' | '“' | '”' | '…'))
    {
        return Cow::Borrowed(text);
    }
    let mut marks = 0;
    let kept: String = text
        .chars()
        .filter_map(admitted)
        .filter(|&c| {
            marks = if is_combining_mark(c) { marks + 1 } else { 0 };
            marks <= MAX_MARKS
        })
        .collect();
    if is_nfc_quick(kept.chars()) == IsNormalized::Yes { Cow::Owned(kept) } else { Cow::Owned(kept.nfc().collect()) }
}

/// The character to store for one that was read; none if it is to vanish.
fn admitted(c: char) -> Option<char> {
    match c {
        '\t' | '\n' => Some(c),
        '\r' | '\u{B}' | '\u{C}' | '\u{85}' | '\u{2028}' => Some('\n'),
        '\u{2029}' => Some('\n'),
        c if c.is_control() => None,
        // Bidi embeddings, overrides and isolates (UAX #9) can make a text read as another.
        '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' => None,
        // Invisible: soft hyphen, zero-width space, word joiner and invisible operators, BOM, interlinear marks.
        '\u{AD}' | '\u{200B}' | '\u{2060}'..='\u{2065}' | '\u{FEFF}' | '\u{FFF9}'..='\u{FFFB}' | '\u{180E}' => None,
        // Tag characters carry hidden ASCII; private use is what icon fonts are made of.
        '\u{E0000}'..='\u{E007F}' | '\u{E000}'..='\u{F8FF}' | '\u{F0000}'..='\u{10FFFF}' => None,
        '\u{FDD0}'..='\u{FDEF}' => None,
        c if (u32::from(c) & 0xFFFE) == 0xFFFE => None,
        _ => Some(c),
    }
}

/// How wide a text is, white space apart. Chinese, Japanese and Korean characters count twice (they are "wide",
/// UAX #11): each says about as much as two letters, so that one limit does for all scripts.
pub(crate) fn width(text: &str) -> usize {
    if text.is_ascii() {
        return text.bytes().filter(|byte| !byte.is_ascii_whitespace()).count();
    }
    text.chars().filter(|c| !c.is_whitespace()).map(|c| if is_wide(c) { 2 } else { 1 }).sum()
}

/// Whether a character is of a script whose words are not parted by spaces or have few letters (UAX #11, "wide").
pub(crate) fn is_wide(c: char) -> bool {
    matches!(c,
        '\u{1100}'..='\u{115F}' | '\u{2E80}'..='\u{303E}' | '\u{3041}'..='\u{33FF}' | '\u{3400}'..='\u{4DBF}'
        | '\u{4E00}'..='\u{9FFF}' | '\u{A000}'..='\u{A4CF}' | '\u{AC00}'..='\u{D7A3}' | '\u{F900}'..='\u{FAFF}'
        | '\u{FF01}'..='\u{FF60}' | '\u{20000}'..='\u{3FFFD}')
}

/// Whether a text ends as a sentence does, in any of the scripts of the web; quotes and brackets may follow.
pub(crate) fn ends_sentence(text: &str) -> bool {
    let closing = |c: char| {
        c.is_whitespace()
            || matches!(c, '"' | '\'' | '”' | '’' | '»' | '«' | ')' | ']' | '）' | '」' | '』' | '】' | '›' | '“' | '*')
    };
    let end = text.trim_end_matches(closing);
    end.ends_with([
        '.', '!', '?', '…', ':', ';', '。', '！', '？', '．', '｡', '：', '؟', '۔', '।', '॥', '։', '።', '၊', '။', '។',
    ]) || text.ends_with(['」', '』', '”', '»'])
}

/// Whether a text is in a script that has no mark for the end of a sentence (Thai, Lao), by its last letter.
pub(crate) fn has_no_marks(text: &str) -> bool {
    text.chars().rev().find(|c| c.is_alphanumeric()).is_some_and(|c| ('\u{E01}'..='\u{EFF}').contains(&c))
}

/// Whether a text has so many words: what stands between white space, and for Chinese and Japanese, which put none between
/// words, one for every two characters.
pub(crate) fn has_words(text: &str, many: usize) -> bool {
    let mut sum = 0;
    many == 0
        || text.split_whitespace().any(|run| {
            sum += words_of(run);
            sum >= many
        })
}

/// How many words a text has, counted in the same way.
pub(crate) fn words(text: &str) -> usize {
    text.split_whitespace().map(words_of).sum()
}

fn words_of(run: &str) -> usize {
    if run.is_ascii() { 1 } else { run.chars().filter(|c| is_unspaced(*c)).count().div_ceil(2).max(1) }
}

/// Whether a character is of a script that puts no space between words: kana and Han.
pub(crate) fn is_unspaced(c: char) -> bool {
    is_wide(c) && c.is_alphanumeric() && !matches!(c, '\u{1100}'..='\u{115F}' | '\u{AC00}'..='\u{D7A3}')
}

/// A text reduced to what tells it from others: letters and digits in lower case, single spaces between.
pub(crate) fn fold(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_ascii_alphanumeric() {
            out.push(c.to_ascii_lowercase());
        } else if c.is_alphanumeric() {
            out.extend(c.to_lowercase());
        } else if !matches!(c, '\'' | '’' | '‘') && !out.ends_with(' ') && !out.is_empty() {
            out.push(' ');
        }
    }
    out.truncate(out.trim_end().len());
    out
}

/// Decodes the character references of attribute values and titles: numeric ones, and HTML's names with their semicolon.
pub(crate) fn unescape(text: &str) -> Cow<'_, str> {
    /// Longest name looked for after `&`, with its semicolon; HTML's longest is `CounterClockwiseContourIntegral;`.
    const LONGEST: usize = 32;
    if !text.contains('&') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let decoded = from.bytes().take(LONGEST + 1).position(|b| b == b';').and_then(|end| {
            let name = from.get(1..=end)?;
            Some((reference(name)?, from.get(end + 1..)?))
        });
        if let Some((chars, after)) = decoded {
            out.extend(chars.into_iter().flatten());
            rest = after;
        } else {
            out.push('&');
            rest = from.get(1..).unwrap_or_default();
        }
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// The characters, one or two, that a reference stands for; without its `&`, with its `;`.
fn reference(name: &str) -> Option<[Option<char>; 2]> {
    if let Some(number) = name.strip_prefix('#') {
        let number = number.strip_suffix(';')?;
        let code = match number.strip_prefix(['x', 'X']) {
            Some(hex) => u32::from_str_radix(hex, 16).ok()?,
            None => number.parse().ok()?,
        };
        // 0x80 to 0x9F mean windows-1252 (HTML, "numeric character reference end state").
        if (0x80..=0x9F).contains(&code) {
            let byte = [u8::try_from(code).ok()?];
            return Some([encoding_rs::WINDOWS_1252.decode_without_bom_handling(&byte).0.chars().next(), None]);
        }
        return char::from_u32(code).filter(|c| *c != '\0').map(|c| [Some(c), None]);
    }
    let (first, second) = web_atoms::NAMED_ENTITIES.get(name)?;
    // The table pads with zeros.
    Some([*first, *second].map(|code| char::from_u32(code).filter(|c| *c != '\0')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_decoded_once_and_unknown_ones_stay() {
        assert_eq!(
            unescape("Tom &amp; Jerry &#8211; &#x2019; &#146; &zzz; &amp;lt; a&b &"),
            "Tom & Jerry – ’ ’ &zzz; &lt; a&b &"
        );
        assert_eq!(unescape("&CounterClockwiseContourIntegral;&NotEqualTilde;&Zcaron;&am;&amp"), "∳≂̸Ž&am;&amp");
    }

    #[test]
    fn controls_overrides_and_long_runs_of_marks_go() {
        assert_eq!(line("A\0\u{1}B \u{202E}evil\u{202C} e\u{301}\u{200B}", 99), "AB evil é");
        let zalgo = format!("a{}", "\u{330}".repeat(10_000));
        assert!(line(&zalgo, 99).chars().count() <= 1 + MAX_MARKS);
    }

    #[test]
    fn wide_characters_count_twice_and_sentences_end_in_every_script() {
        assert_eq!((width("a b c"), width("橋が落ちた"), width("다리 é")), (3, 10, 5));
        for text in
            ["It fell.", "He said “no.”", "橋が落ちた。", "「そうだ」", "다리가 무너졌다.", "वह गिर गया।", "سقط؟"]
        {
            assert!(ends_sentence(text), "{text}");
        }
        assert!(!ends_sentence("By Ada Example") && !ends_sentence("橋の記事"));
        assert!(has_no_marks("สะพานปิดเมื่อวันจันทร์") && !has_no_marks("The bridge"));
        assert_eq!((words("The bridge fell"), words("橋が落ちた。 昨日"), words("다리가 무너졌다")), (3, 4, 2));
    }

    #[test]
    fn a_line_is_cut_at_its_limit() {
        assert_eq!(line("  one \n two three", 7), "one two");
        assert_eq!(line("one two", 4), "one");
        assert_eq!(line("èèèè", 3), "èèè");
    }

    #[test]
    fn folding_keeps_letters_and_digits() {
        assert_eq!(fold("  It’s: “PERCHÉ” – 3! "), "its perché 3");
    }
}
