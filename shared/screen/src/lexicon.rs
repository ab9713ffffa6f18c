//! The word lists, compiled in, and finding their words in a folded text.

use crate::{Topic, fold::fold};
use aho_corasick::AhoCorasick;
use std::collections::HashMap;
use std::sync::LazyLock;

/// The languages that have a list, English first: it counts for every text.
pub(crate) const LANGUAGES: [&str; 5] = ["en", "it", "de", "fr", "es"];
/// The place of English in [`LANGUAGES`].
pub(crate) const ENGLISH: usize = 0;

const LISTS: [&str; 5] = [
    include_str!("../lists/en.txt"),
    include_str!("../lists/it.txt"),
    include_str!("../lists/de.txt"),
    include_str!("../lists/fr.txt"),
    include_str!("../lists/es.txt"),
];

/// Built with the first text that is screened.
pub(crate) static LEXICON: LazyLock<Lexicon> = LazyLock::new(|| Lexicon::new(&LISTS));

/// What a word speaks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Side {
    /// For a topic.
    Topic(Topic),
    /// Against all of them.
    Context,
    /// For the language: words that every text of it holds.
    Common,
}

/// What one list says of a word.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Entry {
    /// Place in [`LANGUAGES`].
    pub(crate) language: usize,
    pub(crate) side: Side,
    /// 0 to 10, as the lists explain.
    pub(crate) weight: f32,
    /// Further letters may follow.
    is_stem: bool,
}

/// All words of all lists.
pub(crate) struct Lexicon {
    automaton: AhoCorasick,
    /// By the automaton's pattern.
    entries: Vec<Vec<Entry>>,
}

impl Lexicon {
    fn new(lists: &[&str]) -> Lexicon {
        let mut entries: Vec<Vec<Entry>> = Vec::new();
        let mut places: HashMap<String, usize> = HashMap::new();
        for (language, list) in lists.iter().enumerate() {
            for (word, entry) in read_list(list, language) {
                let place = *places.entry(word).or_insert(entries.len());
                if place == entries.len() {
                    entries.push(Vec::new());
                }
                entries[place].push(entry);
            }
        }
        let mut words = vec![String::new(); entries.len()];
        places.into_iter().for_each(|(word, place)| words[place] = word);
        // The lists are part of the program, and the tests build them; a hundred times as many words would fit.
        let automaton = AhoCorasick::new(&words).expect("a few thousand short words fit into an automaton");
        Lexicon { automaton, entries }
    }

    /// How many words there are.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// What the lists say of a word that was found.
    pub(crate) fn entries(&self, word: usize) -> &[Entry] {
        self.entries.get(word).map_or(&[], Vec::as_slice)
    }

    /// The listed words of a folded text, from left to right, of those entries that `wanted` lets through.
    ///
    /// Where one lies within another, or over its edge, the longer one counts: `sex education` hides `sex`.
    pub(crate) fn find(&self, folded: &str, wanted: impl Fn(&Entry) -> bool) -> Vec<usize> {
        let mut found: Vec<Span> = Vec::new();
        for hit in self.automaton.find_overlapping_iter(folded) {
            let word = hit.pattern().as_usize();
            if !starts_a_word(folded, hit.start()) {
                continue;
            }
            let rest = rest_of_word(folded, hit.end());
            let fits = |e: &Entry| wanted(e) && (e.is_stem || is_ending(rest));
            if self.entries(word).iter().any(fits) {
                place(&mut found, Span { start: hit.start(), end: hit.end() + rest.len(), word });
            }
        }
        found.into_iter().map(|span| span.word).collect()
    }
}

#[derive(Clone, Copy)]
struct Span {
    start: usize,
    end: usize,
    word: usize,
}

/// Adds a span to those found so far. Words come in the order of their ends.
fn place(found: &mut Vec<Span>, new: Span) {
    while found.last().is_some_and(|last| last.start >= new.start) {
        found.pop();
    }
    match found.last_mut() {
        // Over its edge: the longer of the two stays.
        Some(last) if last.end > new.start => {
            if new.end - new.start > last.end - last.start {
                *last = new;
            }
        }
        _ => found.push(new),
    }
}

fn starts_a_word(folded: &str, at: usize) -> bool {
    at == 0 || folded.as_bytes().get(at - 1) == Some(&b' ')
}

fn rest_of_word(folded: &str, from: usize) -> &str {
    let rest = folded.get(from..).unwrap_or_default();
    rest.split(' ').next().unwrap_or_default()
}

/// Nothing, or the plural of English, French and Spanish.
fn is_ending(rest: &str) -> bool {
    matches!(rest, "" | "s" | "es")
}

/// The words of one list, folded. A line that is neither comment, head nor entry is passed over; a test finds it.
fn read_list(list: &str, language: usize) -> impl Iterator<Item = (String, Entry)> {
    let mut side = None;
    list.lines().filter_map(move |line| {
        if let Some(name) = line.strip_prefix('[').and_then(|l| l.strip_suffix(']')) {
            side = side_named(name);
            return None;
        }
        let (word, weight) = line.split_once('\t').filter(|_| !line.starts_with('#'))?;
        let (word, is_stem) = word.strip_suffix('*').map_or((word, false), |stem| (stem, true));
        let entry = Entry { language, side: side?, weight: weight.parse().ok()?, is_stem };
        Some((fold(word).text, entry)).filter(|(word, _)| !word.is_empty())
    })
}

fn side_named(name: &str) -> Option<Side> {
    match name {
        "context" => Some(Side::Context),
        "common" => Some(Side::Common),
        _ => Topic::ALL.into_iter().find(|t| t.as_str() == name).map(Side::Topic),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_line_of_every_list_is_read() {
        for (language, list) in LISTS.iter().enumerate() {
            let written = list.lines().filter(|l| !l.is_empty() && !l.starts_with(['#', '['])).count();
            let entries: Vec<_> = read_list(list, language).collect();
            assert_eq!(entries.len(), written, "{}", LANGUAGES[language]);
            assert!(
                list.lines().filter(|l| l.starts_with('[')).all(|l| side_named(l.trim_matches(['[', ']'])).is_some())
            );
            let mut seen = HashSet::new();
            for (word, entry) in entries {
                assert!([0.0, 1.0, 3.0, 6.0, 10.0].contains(&entry.weight), "{word}");
                assert!(seen.insert((word.clone(), entry.side)), "{word} is listed twice");
            }
        }
    }

    #[test]
    fn words_are_found_whole_and_the_longest_counts() {
        let lexicon = Lexicon::new(&[
            "[adult]\nsex\t1\nsex education\t0\norgasm*\t3\neducation film\t6\nass\t1\n",
            "[adult]\nsesso\t1\n",
        ]);
        let words = |text: &str, language: usize| -> Vec<String> {
            let found = lexicon.find(&fold(text).text, |e| e.language == language);
            found.iter().map(|w| format!("{}", lexicon.entries(*w)[0].weight)).collect()
        };
        assert_eq!(words("Sex, sexes! sexton Essex", 0), ["1", "1"]);
        assert_eq!(words("sex education", 0), ["0"]);
        assert_eq!(words("sex education film", 0), ["6"], "the longer of two that overlap");
        assert_eq!(words("orgasmically orgasm", 0), ["3", "3"]);
        assert_eq!(words("assess the class as a lass", 0), [""; 0]);
        assert_eq!(words("sesso", 0), [""; 0]);
        assert_eq!(words("sesso", 1), ["1"]);
    }
}
