//! Words as they are spelled, without stemming.

use super::letters::without_accents;
use super::lower;
use crate::pieces::{Piece, Pieces, is_apostrophe};
use std::ops::RangeInclusive;

/// Lengths of words that are indexed as they are spelled, in characters.
const LENGTHS: RangeInclusive<usize> = 2..=32;

/// Returns the words of a text as written, if they begin with a letter and their script puts spaces between words.
pub(crate) fn spelled_words(text: &str) -> impl Iterator<Item = &str> {
    let words = Pieces::new(text).filter_map(|piece| match piece {
        Piece::Word { span, .. } => Some(&text[span]),
        Piece::Run(_) | Piece::Emoji(_) => None,
    });
    let words = words.flat_map(|word| word.split(is_apostrophe));
    words.filter(|word| word.starts_with(char::is_alphabetic) && LENGTHS.contains(&word.chars().count()))
}

/// Returns a word in lower case and without accents, for comparison; `None` if it is not one of [`spelled_words`].
pub(crate) fn compared(word: &str) -> Option<String> {
    let only = spelled_words(word).next().filter(|only| *only == word)?;
    Some(without_accents(&lower(only, "")))
}
