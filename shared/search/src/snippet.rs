//! Selects the part of a text that shows why a page was found.

use crate::analyze::{Analyzer, FirstLetters, Mode};
use curlew_model::SnippetLimit;
use curlew_text::hygiene::head_bytes;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// Maximum length of a snippet in characters.
const SNIPPET_CHARS: usize = 240;
/// Number of bytes of a text that are searched for matches; the next constant is for all texts shown together.
const SCANNED_BYTES: usize = 256 * 1024;
const SCANNED_TOGETHER: usize = 10 * SCANNED_BYTES;
/// Maximum number of characters shown before the first match.
const LEAD_CHARS: usize = 60;
/// Maximum number of characters dropped at the end to avoid cutting a word.
const RAGGED_CHARS: usize = 24;
const ELLIPSIS: char = '…';

/// Plain part of a text on one line, with the positions of the searched words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Snippet {
    pub(crate) text: String,
    /// Byte ranges of `text`, in order, not overlapping.
    pub(crate) marks: Vec<Range<usize>>,
}

/// Returns the best part of a text within its page's limit; `many` is the number of texts that are shown together.
pub(crate) fn snippet(
    text: &str,
    many: usize,
    limit: SnippetLimit,
    marked: &HashSet<String>,
    analyzer: &mut Analyzer,
) -> Snippet {
    let limit = limit.0.map_or(SNIPPET_CHARS, |limit| usize::try_from(limit).unwrap_or(SNIPPET_CHARS));
    let limit = limit.min(SNIPPET_CHARS);
    if limit == 0 {
        return Snippet::default();
    }
    let scanned = head_bytes(text, SCANNED_BYTES.min(SCANNED_TOGETHER / many.max(1)));
    let matches = matches(scanned, marked, analyzer);
    let start = start(scanned, best_window(&matches, limit), limit);
    cut(text, start, limit, &matches)
}

struct Match {
    span: Range<usize>,
    form: usize,
}

fn matches(text: &str, marked: &HashSet<String>, analyzer: &mut Analyzer) -> Vec<Match> {
    if marked.is_empty() {
        return Vec::new();
    }
    let forms: HashMap<&str, usize> = marked.iter().map(String::as_str).zip(0..).collect();
    let mut matches = Vec::new();
    analyzer.each(text, Mode::Index, Some(&FirstLetters::new(marked)), &mut |word| {
        let form = [Some(word.form), word.other].into_iter().flatten().find_map(|form| forms.get(form));
        matches.extend(form.map(|form| Match { span: word.span.clone(), form: *form }));
    });
    matches
}

/// Returns the start of the window that shows the most distinct words, then the most words; the first of equals.
fn best_window(matches: &[Match], limit: usize) -> Option<usize> {
    let mut best = (0, 0);
    let mut begin = None;
    let mut times: HashMap<usize, usize> = HashMap::new();
    let mut end = 0;
    for (number, first) in matches.iter().enumerate() {
        // Bytes are counted instead of characters: a window with fewer characters is still valid.
        while let Some(next) =
            matches.get(end).filter(|next| end == number || next.span.end <= first.span.start + limit)
        {
            *times.entry(next.form).or_default() += 1;
            end += 1;
        }
        let shown = (times.len(), end - number);
        if shown > best {
            best = shown;
            begin = Some(first.span.start);
        }
        if let Some(left) = times.get_mut(&first.form) {
            *left -= 1;
            if *left == 0 {
                times.remove(&first.form);
            }
        }
    }
    begin
}

/// Returns the beginning of the first match's sentence, or of a word near the match.
fn start(text: &str, first: Option<usize>, limit: usize) -> usize {
    let Some(first) = first else { return 0 };
    let before = &text[..first];
    let lead = LEAD_CHARS.min(limit / 4);
    let Some((far, _)) = before.char_indices().rev().take(lead + 1).last() else { return 0 };
    if far == 0 {
        return 0;
    }
    let near = &before[far..];
    let ends_sentence = |c: char| matches!(c, '.' | '!' | '?' | '…' | '。' | '！' | '？' | '\n');
    let sentence = near.char_indices().rev().find(|(_, c)| ends_sentence(*c)).map(|(at, c)| at + c.len_utf8());
    // A full stop inside a number or a name is not followed by a space.
    let sentence = sentence.filter(|at| near[*at..].is_empty() || near[*at..].starts_with(char::is_whitespace));
    let word = near.char_indices().find(|(_, c)| c.is_whitespace()).map(|(at, c)| at + c.len_utf8());
    far + sentence.or(word).unwrap_or(0)
}

/// Returns the text from `start` on one line, with marks at the matches.
fn cut(text: &str, start: usize, limit: usize, matches: &[Match]) -> Snippet {
    let mut out = Writer { limit, ..Writer::default() };
    let rest = text[start..].trim_start();
    let start = text.len() - rest.len();
    if start > 0 && limit > 2 {
        out.push(ELLIPSIS);
    }
    let mut spans = matches.iter().map(|m| &m.span).skip_while(|span| span.end <= start).peekable();
    let mut space = false;
    let mut complete = true;
    for (at, c) in rest.char_indices().map(|(at, c)| (start + at, c)) {
        if c.is_whitespace() || c.is_control() {
            space = true;
            continue;
        }
        if out.chars + usize::from(space) >= out.limit {
            complete = false;
            break;
        }
        if std::mem::take(&mut space) {
            out.push(' ');
        }
        while spans.next_if(|span| span.end <= at).is_some() {}
        let from = out.text.len();
        out.push(c);
        if let Some(span) = spans.peek().filter(|span| span.contains(&at)) {
            out.mark(from, span.start == at);
        }
    }
    if !complete {
        out.end_ragged();
    }
    Snippet { text: out.text, marks: out.marks }
}

#[derive(Default)]
struct Writer {
    text: String,
    chars: usize,
    limit: usize,
    marks: Vec<Range<usize>>,
}

impl Writer {
    fn push(&mut self, c: char) {
        self.text.push(c);
        self.chars += 1;
    }

    /// Marks the character just written; the mark extends the previous one unless a new word begins.
    fn mark(&mut self, from: usize, begins: bool) {
        let to = self.text.len();
        match self.marks.last_mut() {
            // Pairs of characters overlap, so neighbours without a space between them are one mark.
            Some(last) if last.end == from && (!begins || from > last.start) => last.end = to,
            _ => self.marks.push(from..to),
        }
    }

    /// Ends with an ellipsis, at the end of a word if there is one near.
    fn end_ragged(&mut self) {
        if self.chars >= self.limit {
            self.text.pop();
            self.chars -= 1;
        }
        let near = self.text.char_indices().rev().take(RAGGED_CHARS).find(|(_, c)| c.is_whitespace());
        if let Some((at, _)) = near.filter(|(at, _)| *at > self.text.len() / 2) {
            self.text.truncate(at);
        }
        let end = self.text.trim_end().len();
        self.text.truncate(end);
        self.text.push(ELLIPSIS);
        self.marks.retain_mut(|mark| {
            mark.end = mark.end.min(end);
            mark.start < mark.end
        });
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]
    use super::*;
    use crate::analyze::Analyzers;
    use proptest::prelude::*;

    fn of(text: &str, limit: Option<u32>, language: &str, marked: &[&str]) -> Snippet {
        let marked = marked.iter().map(|form| (*form).to_owned()).collect();
        snippet(text, 1, SnippetLimit(limit), &marked, Analyzers::default().for_language(language))
    }

    fn marked(snippet: &Snippet) -> Vec<&str> {
        snippet.marks.iter().map(|mark| &snippet.text[mark.clone()]).collect()
    }

    #[test]
    fn words_are_marked_as_they_are_written() {
        let snippet = of("L'Articolo\n\nsugli   articoli.", None, "it", &["articol"]);
        assert_eq!(snippet.text, "L'Articolo sugli articoli.");
        assert_eq!(marked(&snippet), ["Articolo", "articoli"]);
    }

    #[test]
    fn the_window_moves_to_the_words() {
        let text =
            format!("{} A sentence about curlews and godwits. {}", "filler words. ".repeat(80), "more. ".repeat(90));
        let snippet = of(&text, None, "en", &["curlew", "godwit"]);
        assert!(snippet.text.starts_with("…A sentence about curlews"), "{}", snippet.text);
        assert!(snippet.text.ends_with('…'));
        assert_eq!(marked(&snippet), ["curlews", "godwits"]);
        assert!(snippet.text.chars().count() <= SNIPPET_CHARS);
    }

    #[test]
    fn the_page_limits_what_is_shown() {
        assert_eq!(of("some text", Some(0), "en", &["text"]), Snippet::default());
        assert_eq!(of("some text that is long", Some(10), "en", &[]).text.chars().count(), 10);
        assert_eq!(of("some text", Some(9), "en", &[]).text, "some text");
        assert_eq!(of("some text", Some(1), "en", &[]).text, "…");
    }

    #[test]
    fn pairs_are_marked_as_one() {
        let snippet = of("昨日、東京都に行った", None, "ja", &["東京", "京都"]);
        assert_eq!(marked(&snippet), ["東京都"]);
    }

    proptest! {
        #[test]
        fn marks_lie_inside_and_limits_hold(text in "([a-zà-ü東京。.\n\u{301}]|curlew |  ){0,200}", limit in 0_u32..300) {
            let snippet = of(&text, Some(limit), "it", &["curlew", "東京", "a", "京"]);
            prop_assert!(snippet.text.chars().count() <= limit as usize);
            let mut last = 0;
            for mark in &snippet.marks {
                prop_assert!(last <= mark.start && mark.start < mark.end);
                prop_assert!(snippet.text.get(mark.clone()).is_some());
                last = mark.end;
            }
        }
    }
}
