//! Finds the words of a text, and the runs of scripts that do not separate words by spaces.

use std::ops::Range;
use unicode_normalization::char::is_combining_mark;

pub(crate) enum Piece {
    /// Letters and digits, and apostrophes between them.
    Word { span: Range<usize>, apostrophes: bool },
    /// Run of characters of scripts without word separators.
    Run(Range<usize>),
    /// An emoji with its modifiers, or a flag.
    Emoji(Range<usize>),
}

pub(crate) struct Pieces<'a> {
    text: &'a str,
    at: usize,
}

impl Pieces<'_> {
    pub(crate) fn new(text: &str) -> Pieces<'_> {
        Pieces { text, at: 0 }
    }

    fn run(&mut self, start: usize) -> Piece {
        let rest = &self.text[start..];
        self.at = start + rest.find(|c| !is_unparted(c)).unwrap_or(rest.len());
        Piece::Run(start..self.at)
    }

    fn emoji(&mut self, start: usize, first: char) -> Piece {
        let rest = &self.text[start..];
        let mut chars = rest.char_indices().skip(1).peekable();
        if is_flag_letter(first) {
            chars.next_if(|(_, c)| is_flag_letter(*c));
        }
        while chars.next_if(|(_, c)| is_look(*c)).is_some() {}
        self.at = start + chars.peek().map_or(rest.len(), |(end, _)| *end);
        Piece::Emoji(start..self.at)
    }

    fn word(&mut self, start: usize) -> Piece {
        let rest = &self.text[start..];
        // Most words consist of ASCII letters only.
        let plain = rest.bytes().position(|b| !b.is_ascii_alphanumeric()).unwrap_or(rest.len());
        if rest.as_bytes().get(plain).is_none_or(|b| b.is_ascii() && !matches!(b, b'\'' | b'`')) {
            self.at = start + plain;
            return Piece::Word { span: start..self.at, apostrophes: false };
        }
        let mut apostrophes = false;
        let mut end = rest.len();
        let mut chars = rest.char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            let inside = if is_apostrophe(c) {
                let joins = chars.peek().is_some_and(|&(_, next)| begins_word(next));
                apostrophes |= joins;
                joins
            } else {
                continues_word(c)
            };
            if !inside {
                end = at;
                break;
            }
        }
        self.at = start + end;
        Piece::Word { span: start..self.at, apostrophes }
    }
}

/// True if a text has anything that can be searched for.
pub(crate) fn has_words(text: &str) -> bool {
    Pieces::new(text).next().is_some()
}

/// True for signs that divide a query's text into words that are searched separately: `input/output`, `rust^3`.
pub(crate) fn is_divider(c: char) -> bool {
    matches!(
        c,
        '-' | '/' | '\\' | '<' | '>' | '^' | '=' | '|' | '~' | '(' | ')' | '{' | '}' | '[' | ']' | ';' | '!' | '?'
    )
}

/// Maximum number of words that signs join into one: `U.S.S.R.`
const MAX_JOINED: usize = 4;

/// Returns the ends of the words that signs join to `first`, as in `Wi-Fi` and `Node.js`, each with the number of words
/// up to it: the end of the next word and, if at most [`MAX_JOINED`] words are joined, of the last one. A number is
/// joined with a group of three digits, and with a unit after a space: `2,499` and `10 km`.
pub(crate) fn joined(text: &str, first: &Range<usize>) -> Vec<(usize, usize)> {
    let mut ends = Vec::new();
    let mut last = next_joined(text, first);
    while let Some(word) = last.filter(|_| ends.len() < MAX_JOINED) {
        ends.push((word.end, ends.len() + 2));
        last = next_joined(text, &word);
    }
    // Longer chains are ad-hoc compounds.
    let whole = ends.last().filter(|(_, words)| (3..=MAX_JOINED).contains(words)).copied();
    ends.truncate(1);
    ends.extend(whole);
    ends
}

/// Returns the single word as which a text is indexed if signs join all of its words; `None` if they do not.
pub(crate) fn joined_word(text: &str) -> Option<String> {
    let Some(Piece::Word { span, apostrophes: false }) = Pieces::new(text).next() else { return None };
    let (end, _) = joined(text, &span).pop()?;
    let is_whole = span.start == 0 && end == text.len();
    is_whole.then(|| text.chars().filter(|c| continues_word(*c)).collect())
}

fn next_joined(text: &str, word: &Range<usize>) -> Option<Range<usize>> {
    let after = &text[word.end..];
    let sign = after.chars().next().filter(|c| !c.is_alphanumeric())?;
    let is_hyphen = matches!(sign, '-' | '\u{200c}' | '\u{2010}' | '\u{2011}' | '.' | '&' | '＆' | '－');
    let is_space = matches!(sign, ' ' | '\u{a0}' | '\u{2009}' | '\u{202f}');
    let is_number = |span: &Range<usize>| is_number(&text[span.clone()]);
    let may_join = is_hyphen || ((is_space || sign == ',') && is_number(word));
    if !may_join || !after[sign.len_utf8()..].starts_with(begins_word) {
        return None;
    }
    let from = word.end + sign.len_utf8();
    let Some(Piece::Word { span: next, .. }) = (Pieces { text, at: from }).next() else { return None };
    let chars = text[next.clone()].chars().count();
    let is_joined = match (is_number(word), is_number(&next)) {
        (true, true) => chars == GROUP && sign != '-',
        (true, false) if is_space => chars <= MAX_UNIT,
        _ => is_hyphen,
    };
    is_joined.then_some(next)
}

pub(crate) fn is_number(text: &str) -> bool {
    text.chars().all(char::is_numeric)
}

/// Number of digits between the signs that divide a long number.
const GROUP: usize = 3;
/// Maximum length of a unit of measure that counts as joined with the number before it, in characters.
const MAX_UNIT: usize = 3;

/// Returns the span of a word with the signs that belong to its name, if there are any: `C++`, `C#`, `.NET`.
pub(crate) fn with_signs(text: &str, word: &Range<usize>) -> Option<Range<usize>> {
    let (before, after) = (&text[..word.start], &text[word.end..]);
    let rest = after.trim_start_matches(['+', '#', '＋', '＃']);
    let signs = after.len() - rest.len();
    // A single sign between two words belongs to neither: `a+b`.
    let is_last = !rest.starts_with(begins_word) || after[..signs].chars().count() > 1;
    let end = if is_last { word.end + signs } else { word.end };
    let begins = before.strip_suffix('.').filter(|before| {
        let is_name = text[word.clone()].starts_with(char::is_alphabetic);
        is_name && before.chars().next_back().is_none_or(|c| c.is_whitespace() || matches!(c, '(' | '[' | '"' | '/'))
    });
    let start = begins.map_or(word.start, str::len);
    let signed = start..end;
    (signed != *word).then_some(signed)
}

fn begins_word(c: char) -> bool {
    // Some of the apostrophes are letters by their Unicode class (U+02BC).
    c.is_alphanumeric() && !is_unparted(c) && !is_apostrophe(c)
}

/// True for letters and digits of words, and for combining marks and invisible characters within them.
pub(crate) fn continues_word(c: char) -> bool {
    begins_word(c) || (!is_unparted(c) && (is_combining_mark(c) || is_invisible(c)))
}

impl Iterator for Pieces<'_> {
    type Item = Piece;

    fn next(&mut self) -> Option<Piece> {
        let rest = &self.text[self.at..];
        let begins = |(_, c): &(usize, char)| is_unparted(*c) || begins_word(*c) || is_emoji(*c);
        let (skipped, first) = rest.char_indices().find(begins)?;
        let start = self.at + skipped;
        Some(match first {
            _ if is_unparted(first) => self.run(start),
            _ if is_emoji(first) => self.emoji(start, first),
            _ => self.word(start),
        })
    }
}

/// True for scripts that do not separate words by spaces, and for Korean, whose particles attach to words.
pub(crate) fn is_unparted(c: char) -> bool {
    // All letters before Thai belong to scripts that separate words.
    if u32::from(c) < 0x0e01 {
        return false;
    }
    is_ideograph(c)
        || matches!(u32::from(c), 0x3041..=0x3096 | 0x3099..=0x309a | 0x309d..=0x309f | 0x30a1..=0x30fa | 0x30fc..=0x30ff | 0x31f0..=0x31ff | 0xff66..=0xff9f)
        || matches!(u32::from(c), 0xac00..=0xd7a3)
        || matches!(u32::from(c), 0x0e01..=0x0e4e | 0x0e80..=0x0ece | 0x1000..=0x103f | 0x1780..=0x17d3)
}

/// True for emoji and other pictures (Unicode's `Extended_Pictographic` from U+2600 on), and for the letters of flags.
fn is_emoji(c: char) -> bool {
    matches!(u32::from(c), 0x2600..=0x27bf | 0x2b50 | 0x2b55 | 0x1_f000..=0x1_f3fa | 0x1_f400..=0x1_faff)
        && !c.is_alphanumeric()
        || is_flag_letter(c)
}

fn is_flag_letter(c: char) -> bool {
    matches!(c, '\u{1f1e6}'..='\u{1f1ff}')
}

/// True for modifiers of the emoji before them: variation selectors and skin tones.
pub(crate) fn is_look(c: char) -> bool {
    matches!(c, '\u{fe0e}' | '\u{fe0f}' | '\u{1f3fb}'..='\u{1f3ff}')
}

pub(crate) fn is_ideograph(c: char) -> bool {
    matches!(u32::from(c), 0x3005..=0x3007 | 0x3400..=0x4dbf | 0x4e00..=0x9fff | 0xf900..=0xfaff | 0x2_0000..=0x3_ffff)
}

pub(crate) fn is_apostrophe(c: char) -> bool {
    matches!(c, '\'' | '’' | '‘' | 'ʼ' | 'ʻ' | 'ʾ' | 'ʿ' | '＇' | '`' | '´')
}

/// True for the soft hyphen and zero-width characters, except the non-joiner, which Persian puts where others put a
/// hyphen.
pub(crate) fn is_invisible(c: char) -> bool {
    matches!(u32::from(c), 0x00ad | 0x200b | 0x200d | 0x2060 | 0xfeff)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tests every character by itself and next to others: an empty piece would make the iterator loop forever.
    #[test]
    fn every_piece_leads_further() {
        let mut text = String::new();
        for c in char::MIN..=char::MAX {
            for before in ["", "a", "東"] {
                for after in ["", "é", "ʼ"] {
                    text.clear();
                    text.extend([before, c.encode_utf8(&mut [0; 4]), after]);
                    let mut end = 0;
                    for piece in Pieces::new(&text) {
                        let (Piece::Word { span, .. } | Piece::Run(span) | Piece::Emoji(span)) = piece;
                        assert!(end <= span.start && span.start < span.end, "{text:?}");
                        end = span.end;
                    }
                }
            }
        }
    }
}
