//! Recognizes sentences about the page instead of its subject: sign up, follow us, this post may earn a commission.

use crate::lists::PHRASES;
use aho_corasick::{AhoCorasick, MatchKind};
use std::sync::LazyLock;

/// True if a short paragraph contains a phrase that only such sentences contain.
pub(crate) fn is_about_the_page(text: &str) -> bool {
    let Some(automaton) = AUTOMATON.as_ref() else { return false };
    automaton.is_match(text) || is_reading_time(text) || is_feed_footer(text)
}

/// True for the line that WordPress adds to a post in a feed, which copies keep.
fn is_feed_footer(text: &str) -> bool {
    text.starts_with("The post ") && text.contains(" appeared first on ")
}

/// True for `5 min read`, `Lesezeit: 3 Minuten`, `Tempo di lettura: 4 minuti`.
fn is_reading_time(text: &str) -> bool {
    /// Maximum length of such a line, in bytes.
    const LONGEST: usize = 60;
    text.len() <= LONGEST && text.contains(|c: char| c.is_ascii_digit()) && {
        let line = crate::text::fold(text);
        let time = ["min", "mins", "minute", "minutes", "minuten", "minuti", "minutos"];
        let timed = line.split(' ').any(|word| time.contains(&word));
        let read = [" read", "lesezeit", "lettura", "lectura", "lecture", "leitura", "leestijd"];
        timed && read.iter().any(|word| line.contains(word))
    }
}

static AUTOMATON: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    AhoCorasick::builder().ascii_case_insensitive(true).match_kind(MatchKind::LeftmostFirst).build(PHRASES.iter()).ok()
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_about_the_page_are_told_from_those_of_the_text() {
        for line in [
            "Get the best of our stories delivered to your inbox.",
            "Iscriviti alla newsletter",
            "저작권자 © 무단 전재 및 재배포 금지",
            "記事・写真の無断転載を禁じます。",
            "The post A bridge falls appeared first on The Weir.",
            "5 min read",
            "Lesezeit: 3 Minuten",
        ] {
            assert!(is_about_the_page(line), "{line}");
        }
        for line in [
            "The harbour was closed for 5 minutes.",
            "He read the letter.",
            "They signed the treaty in May.",
            "The county's paper was first published on the first of May, and its keeper appeared first on its front page.",
            "Bei der Prüfung wurden mehrere Fehler gefunden.",
        ] {
            assert!(!is_about_the_page(line), "{line}");
        }
    }
}
