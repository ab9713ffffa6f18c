//! Finds the words of a text, and the runs of scripts that do not separate words by spaces.

use std::ops::Range;
use unicode_normalization::char::is_combining_mark;

/// Part of a text between separators.
pub(crate) enum Piece {
    /// Letters and digits, and apostrophes between them.
    Word { span: Range<usize>, apostrophes: bool },
    /// Run of characters of scripts without word separators.
    Run(Range<usize>),
}

/// Iterator over the pieces of a text, in order.
pub(crate) struct Pieces<'a> {
    text: &'a str,
    at: usize,
}

impl Pieces<'_> {
    pub(crate) fn of(text: &str) -> Pieces<'_> {
        Pieces { text, at: 0 }
    }

    fn run(&mut self, start: usize) -> Piece {
        let rest = &self.text[start..];
        self.at = start + rest.find(|c| !is_unparted(c)).unwrap_or(rest.len());
        Piece::Run(start..self.at)
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
                begins_word(c) || (!is_unparted(c) && (is_combining_mark(c) || is_invisible(c)))
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

fn begins_word(c: char) -> bool {
    // One of the apostrophes is a letter by its Unicode class (U+02BC).
    c.is_alphanumeric() && !is_unparted(c) && !is_apostrophe(c)
}

impl Iterator for Pieces<'_> {
    type Item = Piece;

    fn next(&mut self) -> Option<Piece> {
        let rest = &self.text[self.at..];
        let (skipped, first) = rest.char_indices().find(|(_, c)| is_unparted(*c) || begins_word(*c))?;
        let start = self.at + skipped;
        Some(if is_unparted(first) { self.run(start) } else { self.word(start) })
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

/// True for Chinese characters.
pub(crate) fn is_ideograph(c: char) -> bool {
    matches!(u32::from(c), 0x3005..=0x3007 | 0x3400..=0x4dbf | 0x4e00..=0x9fff | 0xf900..=0xfaff | 0x2_0000..=0x3_ffff)
}

pub(crate) fn is_apostrophe(c: char) -> bool {
    matches!(c, '\'' | '’' | '‘' | 'ʼ' | '＇' | '`' | '´')
}

/// True for the soft hyphen and zero-width characters.
pub(crate) fn is_invisible(c: char) -> bool {
    matches!(u32::from(c), 0x00ad | 0x200b..=0x200d | 0x2060 | 0xfeff)
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
                    for piece in Pieces::of(&text) {
                        let (Piece::Word { span, .. } | Piece::Run(span)) = piece;
                        assert!(end <= span.start && span.start < span.end, "{text:?}");
                        end = span.end;
                    }
                }
            }
        }
    }
}
