//! Normalizes letters to the one form in which they are compared.

use crate::pieces::is_invisible;
use curlew_text::date::ascii_digit;
use std::ops::Range;
use unicode_normalization::UnicodeNormalization;

/// Maximum length of a word in characters; the rest is cut off, so words that share this prefix match each other.
const MAX_WORD_CHARS: usize = 64;

/// Returns the word in lower case and NFKC, with digits of all scripts as ASCII ones, without invisible characters.
pub(super) fn lower(word: &str, dotless_i: bool) -> String {
    if word.is_ascii() && !dotless_i {
        return word.chars().take(MAX_WORD_CHARS).map(|c| c.to_ascii_lowercase()).collect();
    }
    let visible = word.chars().filter(|c| !is_invisible(*c)).take(MAX_WORD_CHARS);
    let folded = visible.nfkc().map(|c| match c {
        'I' if dotless_i => 'ı',
        'İ' if dotless_i => 'i',
        // Persian keyboards type the first two letters, Arabic keyboards their replacements.
        'ی' => 'ي',
        'ک' => 'ك',
        c => ascii_digit(c).unwrap_or(c),
    });
    folded.flat_map(char::to_lowercase).nfc().collect()
}

/// Returns a lower-case word without accents, with variants of Latin, Greek and Arabic letters unified.
pub(crate) fn without_accents(word: &str) -> String {
    if word.is_ascii() {
        return word.to_owned();
    }
    let mut bare = String::with_capacity(word.len());
    for c in word.nfkd().filter(|c| !is_accent(*c)).nfc() {
        match c {
            'ß' => bare.push_str("ss"),
            'æ' => bare.push_str("ae"),
            'œ' => bare.push_str("oe"),
            'þ' => bare.push_str("th"),
            'ø' => bare.push('o'),
            'ł' => bare.push('l'),
            'đ' | 'ð' => bare.push('d'),
            'ħ' => bare.push('h'),
            'ı' => bare.push('i'),
            'ς' => bare.push('σ'),
            'ى' => bare.push('ي'),
            'ٱ' => bare.push('ا'),
            'ة' | 'ہ' | 'ۃ' | 'ھ' | 'ە' => bare.push('ه'),
            c => bare.push(c),
        }
    }
    // A word that consists only of accents is still a word.
    if bare.is_empty() { word.to_owned() } else { bare }
}

/// True for marks that people often omit: accents, Hebrew points, Arabic vowel signs and marks of recitation, the dot
/// below letters of Indic scripts (nukta). Other vowel signs are letters.
fn is_accent(c: char) -> bool {
    let is_nukta = matches!(u32::from(c), 0x093c | 0x09bc | 0x0a3c | 0x0abc | 0x0b3c | 0x0cbc);
    let is_hebrew = matches!(u32::from(c), 0x0591..=0x05bd | 0x05bf | 0x05c1 | 0x05c2 | 0x05c4 | 0x05c5 | 0x05c7);
    let is_arabic =
        matches!(u32::from(c), 0x0610..=0x061a | 0x0640 | 0x064b..=0x065f | 0x0670 | 0x06d6..=0x06dc | 0x06df..=0x06ed);
    matches!(c, '\u{300}'..='\u{36f}') || is_hebrew || is_arabic || is_nukta
}

/// Returns the characters of a run in NFKC, each with its byte range; a kana and its sound mark form one character.
pub(super) fn compatible(run: &str) -> Vec<(char, Range<usize>)> {
    let mut all = Vec::with_capacity(run.len() / 3);
    let mut chars = run.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        // Sound marks of kana, combining and half-width.
        let mark = chars.next_if(|(_, next)| matches!(next, '\u{3099}' | '\u{309a}' | '\u{ff9e}' | '\u{ff9f}'));
        let mark = mark.map(|(_, mark)| mark);
        let end = chars.peek().map_or(run.len(), |(end, _)| *end);
        if mark.is_none() && is_compatible(c) {
            all.push((c, at..end));
        } else {
            all.extend([c].into_iter().chain(mark).nfkc().map(|c| (c, at..end)));
        }
    }
    all
}

/// True for the common characters of scripts without word separators. NFKC leaves them unchanged.
fn is_compatible(c: char) -> bool {
    matches!(u32::from(c), 0x3041..=0x3096 | 0x30a1..=0x30fa | 0x30fc | 0x4e00..=0x9fff | 0xac00..=0xd7a3)
}
