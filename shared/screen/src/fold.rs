//! One spelling for words that are meant to be the same: without capitals, accents, and letters drawn as digits.

use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

/// A text as words of lower-case letters and digits, one blank between two.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Folded {
    pub(crate) text: String,
    /// How many words.
    pub(crate) words: usize,
}

/// Folds a text, in one pass.
pub(crate) fn fold(text: &str) -> Folded {
    let mut folded = Folded::default();
    let mut word = String::new();
    for c in text.nfkd().filter(|c| !is_combining_mark(*c) && !is_unseen(*c)) {
        match c {
            'ß' => word.push_str("ss"),
            'æ' | 'Æ' => word.push_str("ae"),
            'œ' | 'Œ' => word.push_str("oe"),
            'ø' | 'Ø' => word.push('o'),
            'ł' | 'Ł' => word.push('l'),
            'ı' => word.push('i'),
            '$' => word.push(c),
            '@' if !word.is_empty() => word.push(c),
            _ if c.is_alphanumeric() => word.extend(c.to_lowercase()),
            _ => folded.end(&mut word),
        }
    }
    folded.end(&mut word);
    folded
}

impl Folded {
    /// Takes the word over, and leaves it empty.
    fn end(&mut self, word: &mut String) {
        if is_disguised(word) {
            let plain: String = word.chars().map(|c| plain_letter(c).unwrap_or(c)).collect();
            self.push(&plain);
        } else {
            word.split(['@', '$']).for_each(|part| self.push(part));
        }
        word.clear();
    }

    fn push(&mut self, word: &str) {
        if word.is_empty() {
            return;
        }
        if !self.text.is_empty() {
            self.text.push(' ');
        }
        self.text.push_str(word);
        self.words += 1;
    }
}

/// Characters that part a word for the program but not for the eye: the soft hyphen, zero-width blanks and joiners,
/// marks of direction.
fn is_unseen(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}' | '\u{feff}')
}

/// The letter that a digit or sign is drawn for, as in `p0rn`.
fn plain_letter(c: char) -> Option<char> {
    Some(match c {
        '0' => 'o',
        '1' => 'i',
        '3' => 'e',
        '4' | '@' => 'a',
        '5' | '$' => 's',
        '7' => 't',
        _ => return None,
    })
}

/// At least two letters, fewer signs than letters, and no digit that stands for none: `s3x`, but not `mp3s2` or `2nd`.
fn is_disguised(word: &str) -> bool {
    let (mut letters, mut signs) = (0, 0);
    for c in word.chars() {
        if plain_letter(c).is_some() {
            signs += 1;
        } else if c.is_alphabetic() {
            letters += 1;
        } else {
            return false;
        }
    }
    signs > 0 && letters >= 2 && signs < letters
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_spelling() {
        for (text, expected) in [
            ("", ""),
            ("  L'ÉTÉ, così... Straße! ", "l ete cosi strasse"),
            ("ﬁne Ｗｉｄｅ", "fine wide"),
            ("p0rn S3X b@d $ale", "porn sex bad sale"),
            ("1488 2024 $100 covid19 4x4 H2O", "1488 2024 100 covid19 4x4 h2o"),
            ("me@here.example @handle", "meahere example handle"),
            ("se\u{ad}cr\u{200b}et", "secret"),
            ("Добрый день", "добрыи день"),
        ] {
            assert_eq!(fold(text).text, expected, "{text}");
            assert_eq!(fold(text).words, expected.split_whitespace().count(), "{text}");
        }
    }

    #[test]
    fn what_is_folded_stays_so() {
        for text in ["Größe ÆØ p0rn", "a1b2c3", "İstanbul", "$$@@", "x$y"] {
            let once = fold(text).text;
            assert_eq!(fold(&once).text, once, "{text}");
        }
    }
}
