//! Makes text from the web safe to display: cleans it, cuts it, and splits it into highlighted pieces and others.

use curlew_text::hygiene::storable;
use std::ops::Range;

/// Maximum length of a displayed title, in characters.
pub(crate) const MAX_TITLE: usize = 200;
/// Maximum length of a displayed site name, in characters.
pub(crate) const MAX_SITE: usize = 60;
/// Maximum length of a displayed snippet, in characters.
const MAX_SNIPPET: usize = 600;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    /// Text of the piece; the template still has to escape it.
    pub(crate) text: String,
    /// True if it matches the query.
    pub(crate) marked: bool,
}

/// Removes control characters, all others that XML 1.0 §2.2 forbids, and direction marks. Line ends become spaces.
pub(crate) fn clean(text: &str) -> String {
    text.chars().filter_map(kept).collect()
}

/// Trims and cleans a text, and cuts it after `max` characters with an ellipsis.
pub(crate) fn clipped(text: &str, max: usize) -> String {
    let mut chars = text.trim().chars().filter_map(kept);
    let mut out: String = chars.by_ref().take(max).collect();
    if chars.next().is_some() {
        out.push('…');
    }
    out
}

/// Splits a snippet at the byte ranges that match the query, given in any order. Overlaps count once. A range that ends
/// outside the text, or begins or ends inside a character, is ignored; its text is kept unmarked.
pub(crate) fn pieces(snippet: &str, marks: &[Range<usize>]) -> Vec<Piece> {
    let mut marks: Vec<Range<usize>> = marks.to_vec();
    marks.sort_by_key(|m| (m.start, m.end));
    let mut pieces = Vec::new();
    let mut left = MAX_SNIPPET;
    let mut done = 0;
    for mark in marks {
        let start = mark.start.max(done);
        if start >= mark.end || !snippet.is_char_boundary(start) || !snippet.is_char_boundary(mark.end) {
            continue;
        }
        push(&mut pieces, &snippet[done..start], false, &mut left);
        push(&mut pieces, &snippet[start..mark.end], true, &mut left);
        done = mark.end;
    }
    push(&mut pieces, &snippet[done..], false, &mut left);
    pieces
}

fn push(pieces: &mut Vec<Piece>, text: &str, marked: bool, left: &mut usize) {
    if text.is_empty() || *left == 0 {
        return;
    }
    let mut text = clean(text);
    let length = text.chars().count();
    if length > *left {
        text = text.chars().take(*left).chain(['…']).collect();
    }
    *left = left.saturating_sub(length);
    if !text.is_empty() {
        pieces.push(Piece { text, marked });
    }
}

/// Returns the displayed form of a character: a space for a tab or a line end, `None` if [`storable`] rejects it.
fn kept(c: char) -> Option<char> {
    storable(c).map(|c| if matches!(c, '\t' | '\n') { ' ' } else { c })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::single_range_in_vec_init, reason = "one mark is a list of marks, too")]
    use super::*;

    fn shown(snippet: &str, marks: &[Range<usize>]) -> String {
        pieces(snippet, marks).iter().map(|p| if p.marked { format!("[{}]", p.text) } else { p.text.clone() }).collect()
    }

    #[test]
    fn marks_split_a_snippet_at_their_bytes() {
        assert_eq!(shown("mud and tide", &[0..3, 8..12]), "[mud] and [tide]");
        assert_eq!(shown("né à marée", &[7..13]), "né à [marée]");
        assert_eq!(shown("plain", &[]), "plain");
        assert_eq!(shown("", &[]), "");
    }

    #[test]
    #[allow(clippy::reversed_empty_ranges, reason = "hostile on purpose")]
    fn wrong_marks_lose_nothing_and_double_nothing() {
        assert_eq!(shown("abcdef", &[4..99, 2..4, 3..5]), "ab[cd][e]f");
        assert_eq!(shown("abc", &[2..1, 3..3, usize::MAX..usize::MAX]), "abc");
        assert_eq!(shown("éé", &[0..1]), "éé");
        assert_eq!(shown("abcdef", &[0..6, 0..6, 1..2]), "[abcdef]");
    }

    #[test]
    fn controls_and_direction_marks_go_and_line_ends_become_spaces() {
        assert_eq!(clean("a\0b\u{1b}[31m\u{202e}c\r\nd\u{ffff}"), "ab[31mc  d");
        assert_eq!(clipped("  abcdef ", 3), "abc…");
        assert_eq!(clipped("abc", 3), "abc");
    }

    #[test]
    fn a_snippet_without_end_is_cut() {
        let long = "a".repeat(10_000);
        let total: usize = pieces(&long, &[0..5_000]).iter().map(|p| p.text.chars().count()).sum();
        assert_eq!(total, MAX_SNIPPET + 1);
    }
}
