//! Properties of a text that depend on its characters alone: width, words, ends of sentences.

use curlew_text::hygiene::head_bytes;
use foldhash::HashSet;

/// Returns the width of a text without white space. Chinese, Japanese and Korean characters count twice ("wide", UAX
/// #11): each carries about as much as two letters, so that one limit fits all scripts.
pub(crate) fn width(text: &str) -> usize {
    if text.is_ascii() {
        return text.bytes().filter(|byte| !byte.is_ascii_whitespace()).count();
    }
    let of = |c: char| match c {
        // Nearly all characters are ASCII, or at least below the first wide one.
        ..'\u{80}' => usize::from(!matches!(c, '\t'..='\r' | ' ')),
        ..'\u{1100}' => usize::from(!matches!(c, '\u{85}' | '\u{A0}')),
        _ if c.is_whitespace() => 0,
        _ => 1 + usize::from(is_wide(c)),
    };
    text.chars().map(of).sum()
}

/// True for characters of scripts that do not separate words by spaces or have few letters (UAX #11, "wide").
pub(crate) fn is_wide(c: char) -> bool {
    matches!(c,
        '\u{1100}'..='\u{115F}' | '\u{2E80}'..='\u{303E}' | '\u{3041}'..='\u{33FF}' | '\u{3400}'..='\u{4DBF}'
        | '\u{4E00}'..='\u{9FFF}' | '\u{A000}'..='\u{A4CF}' | '\u{AC00}'..='\u{D7A3}' | '\u{F900}'..='\u{FAFF}'
        | '\u{FF01}'..='\u{FF60}' | '\u{20000}'..='\u{3FFFD}')
}

/// True if a text has a letter or a digit, and few signs before it.
pub(crate) fn has_letters(text: &str) -> bool {
    const MAX_SIGNS: usize = 24;
    let mut signs = 0;
    let ends = |c: &char| {
        let is_letter = c.is_alphanumeric();
        signs += usize::from(!is_letter && !c.is_ascii());
        is_letter || signs > MAX_SIGNS
    };
    text.chars().find(ends).is_some_and(char::is_alphanumeric)
}

/// True if a text ends like a sentence, in any of the scripts of the web; quotes and brackets may follow.
pub(crate) fn ends_sentence(text: &str) -> bool {
    const END_BYTES: usize = 256;
    let text = tail(text, END_BYTES);
    let closing = |c: char| {
        c.is_whitespace()
            || matches!(c, '"' | '\'' | '”' | '’' | '»' | '«' | ')' | ']' | '）' | '」' | '』' | '】' | '›' | '“' | '*')
    };
    let end = text.trim_end_matches(closing);
    end.ends_with([
        '.', '!', '?', '…', ':', ';', '。', '！', '？', '．', '｡', '：', '؟', '۔', '।', '॥', '։', '።', '၊', '။', '។',
    ]) || text.ends_with(['」', '』', '”', '»'])
}

/// True if the last letter of a text is of a script without a mark for the end of a sentence (Thai, Lao).
pub(crate) fn has_no_marks(text: &str) -> bool {
    const END_CHARS: usize = 8;
    let last = text.chars().rev().take(END_CHARS).find(|c| c.is_alphanumeric());
    last.is_some_and(|c| ('\u{E01}'..='\u{EFF}').contains(&c))
}

/// Returns the number of words that a text would have in English: three characters of Chinese are two words, two of
/// kana or of Korean one, and three of Thai, Lao, Khmer and Burmese one; white space separates all others.
pub fn text_words(text: &str) -> usize {
    const PARTS: usize = 6;
    let parts = |run: &str| {
        let of_characters = run.chars().map(|c| match c {
            '\u{E00}'..='\u{EFF}' | '\u{1000}'..='\u{109F}' | '\u{1780}'..='\u{17FF}' if c.is_alphanumeric() => 2,
            '\u{3041}'..='\u{30FF}' | '\u{AC00}'..='\u{D7A3}' => 3,
            _ if is_unspaced(c) => 4,
            _ => 0,
        });
        Some(of_characters.sum()).filter(|parts| *parts > 0).unwrap_or(PARTS)
    };
    text.split_whitespace().map(parts).sum::<usize>() / PARTS
}

/// Returns the number of words of a text; every two characters of Chinese and Japanese count as one.
pub(crate) fn words(text: &str) -> usize {
    let words_of = |run: &str| match run.is_ascii() {
        true => 1,
        false => run.chars().filter(|c| is_unspaced(*c)).count().div_ceil(2).max(1),
    };
    text.split_whitespace().map(words_of).sum()
}

/// True for characters of scripts without spaces between words: kana and Han.
pub(crate) fn is_unspaced(c: char) -> bool {
    is_wide(c) && !matches!(c, '\u{1100}'..='\u{115F}' | '\u{AC00}'..='\u{D7A3}') && c.is_alphanumeric()
}

/// Returns the letters and digits of a text in lower case, with single spaces between words.
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

/// True if a heading is the title, or ends with it after a label.
pub(crate) fn ends_with_title(heading: &str, title: &str) -> bool {
    heading.strip_suffix(title).is_some_and(|label| !label.ends_with(char::is_alphanumeric)) && !title.is_empty()
}

pub(crate) fn place_in(text: &str, slice: &str) -> usize {
    slice.as_ptr().addr().wrapping_sub(text.as_ptr().addr())
}

/// Returns the last bytes of a text, cut between characters.
pub(crate) fn tail(text: &str, bytes: usize) -> &str {
    text.get(text.ceil_char_boundary(text.len().saturating_sub(bytes))..).unwrap_or(text)
}

/// Returns the similarity (Dice) of two folded titles: the share of words, or characters without spaces, that the
/// beginnings of both have in common. Returns 0 early if their lengths rule out `least`, since pages may have very many
/// short headings.
pub(crate) fn alike(one: &str, two: &str, least: f64) -> f64 {
    const MAX_BYTES: usize = 300;
    if one == two {
        return 1.0;
    }
    let (one, two) = (head_bytes(one, MAX_BYTES), head_bytes(two, MAX_BYTES));
    let (short, long) = if one.len() <= two.len() { (one, two) } else { (two, one) };
    let most = title_parts(short).count() as f64 * (2.0 / least - 1.0);
    // Rounded up, so that titles at the threshold are still compared.
    if title_parts(long).nth(most.ceil() as usize).is_some() {
        return 0.0;
    }
    let known: HashSet<&str> = title_parts(one).collect();
    let (mut parts, mut common) = (title_parts(one).count(), 0);
    for part in title_parts(two) {
        parts += 1;
        common += usize::from(known.contains(part));
    }
    2.0 * common as f64 / parts.max(1) as f64
}

/// Returns the words of a folded title, and its single characters where there are no words.
fn title_parts(title: &str) -> impl Iterator<Item = &str> {
    title.split(' ').flat_map(|word| word.split_inclusive(is_unspaced))
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn folding_keeps_letters_and_digits() {
        assert_eq!(fold("  It’s: “PERCHÉ” – 3! "), "its perché 3");
    }
}
