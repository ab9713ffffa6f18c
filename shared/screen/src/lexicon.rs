//! Combines the words of all lists, and finds them in a folded text.

use crate::fold::fold_plain;
use crate::lists::{Line, Side};
use foldhash::{HashMap, HashMapExt, HashSet, HashSetExt};

/// Minimum length in bytes of a stem that is searched for in disguised words.
const MIN_STEM: usize = size_of::<Beginning>();

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Entry {
    /// Index in [`crate::lists::LANGUAGES`].
    pub(crate) language: usize,
    pub(crate) side: Side,
    /// From 0 to 10.
    pub(crate) weight: f32,
    /// True if the word matches with any further letters.
    pub(crate) is_stem: bool,
}

type Beginning = [u8; 4];

struct Word {
    folded: String,
    /// Spelling in the first list that contains the word.
    written: String,
    entries: Vec<Entry>,
}

#[derive(Default)]
pub(crate) struct Lexicon {
    words: Vec<Word>,
    /// Indexes in `words`, by first word.
    by_word: HashMap<String, Vec<usize>>,
    /// Indexes of stems, by their first bytes.
    by_stem: HashMap<Beginning, Vec<usize>>,
    /// Indexes of stems shorter than [`Beginning`], by first byte.
    short_stems: HashMap<u8, Vec<usize>>,
    /// Single words that occur in listed words and phrases.
    known: HashSet<String>,
    stems: HashSet<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hit {
    /// Byte range in the folded text.
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) word: usize,
}

impl Lexicon {
    /// Builds the lexicon. A later line replaces an earlier one with the same word, side and language.
    pub(crate) fn new(lines: impl IntoIterator<Item = Line>) -> Lexicon {
        let mut words: Vec<Word> = Vec::new();
        let mut places: HashMap<String, usize> = HashMap::new();
        let (mut known, mut stems) = (HashSet::new(), HashSet::new());
        for line in lines {
            let folded = fold_plain(&line.word);
            if folded.is_empty() {
                continue;
            }
            if matches!(line.entry.side, Side::Topic(_)) && line.entry.weight > 0.0 {
                learn(&folded, line.entry.is_stem, &mut known, &mut stems);
            }
            let place = *places.entry(folded.clone()).or_insert(words.len());
            if place == words.len() {
                let written = if line.entry.is_stem { format!("{}*", line.word) } else { line.word };
                words.push(Word { folded, written, entries: Vec::new() });
            }
            if let Some(word) = words.get_mut(place) {
                word.entries.retain(|e| !replaces(&line.entry, e));
                word.entries.push(line.entry);
            }
        }
        let mut lexicon = Lexicon { words, known, stems, ..Lexicon::default() };
        for (place, Word { folded, entries, .. }) in lexicon.words.iter().enumerate() {
            let is_stem = !folded.contains(' ') && entries.iter().any(|e| e.is_stem);
            let bytes = folded.as_bytes();
            match (bytes.first_chunk::<MIN_STEM>(), bytes.first()) {
                (Some(beginning), _) if is_stem => lexicon.by_stem.entry(*beginning).or_default().push(place),
                (None, Some(first)) if is_stem => lexicon.short_stems.entry(*first).or_default().push(place),
                _ => lexicon.by_word.entry(first_word(folded).to_owned()).or_default().push(place),
            }
        }
        lexicon
    }

    pub(crate) fn written(&self, word: usize) -> &str {
        self.words.get(word).map_or("", |w| w.written.as_str())
    }

    pub(crate) fn entries(&self, word: usize) -> &[Entry] {
        self.words.get(word).map_or(&[], |w| w.entries.as_slice())
    }

    /// True if a single folded word is listed, or occurs in a listed phrase.
    pub(crate) fn knows(&self, word: &str) -> bool {
        let mut singular = ENDINGS.iter().filter_map(|ending| word.strip_suffix(ending));
        singular.any(|word| self.known.contains(word))
            || (MIN_STEM..=word.len()).filter_map(|n| word.get(..n)).any(|stem| self.stems.contains(stem))
    }

    /// Returns the listed words in a folded text, from left to right, with an entry that `wanted` accepts. Of
    /// overlapping words the longer one counts: `sex education` hides `sex`.
    pub(crate) fn find(&self, folded: &str, wanted: impl Fn(&Entry) -> bool) -> Vec<Hit> {
        let mut found: Vec<Hit> = Vec::new();
        let mut start = 0;
        for word in folded.split(' ') {
            let text = folded.get(start..).unwrap_or_default();
            let fitting = self.beginnings(word, text).filter_map(|(at, length)| {
                let rest = first_word(text.get(length..).unwrap_or_default());
                let fits = |e: &Entry| wanted(e) && (e.is_stem || ENDINGS.contains(&rest));
                self.entries(at).iter().any(fits).then_some((length, start + length + rest.len(), at))
            });
            if let Some((_, end, word)) = fitting.max_by_key(|(length, ..)| *length) {
                place(&mut found, Hit { start, end, word });
            }
            start += word.len() + 1;
        }
        found
    }

    /// Returns the listed words that may match at the start of `text`, whose first word is `word`, with their lengths.
    fn beginnings(&self, word: &str, text: &str) -> impl Iterator<Item = (usize, usize)> {
        let singular = ENDINGS.iter().filter_map(|ending| word.strip_suffix(ending));
        let listed = singular.filter_map(|word| self.by_word.get(word)).flatten();
        let bytes = word.as_bytes();
        let stems = bytes.first_chunk().and_then(|beginning| self.by_stem.get(beginning)).into_iter().flatten();
        let short = bytes.first().and_then(|byte| self.short_stems.get(byte)).into_iter().flatten();
        listed.chain(stems).chain(short).filter_map(|place| {
            let folded = &self.words.get(*place)?.folded;
            text.starts_with(folded.as_str()).then_some((*place, folded.len()))
        })
    }
}

fn first_word(text: &str) -> &str {
    text.split(' ').next().unwrap_or(text)
}

/// True if entries conflict: for one language, a word can only be for or against a topic.
fn replaces(new: &Entry, old: &Entry) -> bool {
    let same = match (new.side, old.side) {
        (Side::Topic(a) | Side::Against(a), Side::Topic(b) | Side::Against(b)) => a == b,
        (a, b) => a == b,
    };
    same && new.language == old.language
}

fn learn(folded: &str, is_stem: bool, known: &mut HashSet<String>, stems: &mut HashSet<String>) {
    let last = folded.rsplit(' ').next().unwrap_or_default();
    known.extend(folded.split(' ').map(str::to_owned));
    if is_stem && last.len() >= MIN_STEM {
        stems.insert(last.to_owned());
    }
}

fn place(found: &mut Vec<Hit>, new: Hit) {
    match found.last_mut() {
        // The longer of two overlapping words is kept.
        Some(last) if last.end > new.start => {
            if new.end - new.start > last.end - last.start {
                *last = new;
            }
        }
        _ => found.push(new),
    }
}

/// Endings with which a listed word also matches: none, and plural endings of several languages.
const ENDINGS: [&str; 3] = ["", "s", "es"];

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;
    use crate::fold::fold;
    use crate::lists::read;

    fn lexicon(lists: &[(&str, &str)]) -> Lexicon {
        Lexicon::new(lists.iter().flat_map(|(name, text)| read(name, text).unwrap()))
    }

    fn words(lexicon: &Lexicon, text: &str, language: usize) -> Vec<String> {
        let folded = fold(text, |w| lexicon.knows(w));
        let found = lexicon.find(&folded.text, |e| e.language == language);
        found.iter().map(|h| lexicon.written(h.word).to_owned()).collect()
    }

    #[test]
    fn words_are_found_whole_and_the_longest_counts() {
        let list = "sex\t1\nsex education\t0\norgasm*\t3\neducation film\t6\nass\t1\n";
        let lexicon = lexicon(&[("adult.en.txt", list), ("adult.it.txt", "sesso\t1\n")]);
        assert_eq!(words(&lexicon, "Sex, sexes! sexton Essex", 0), ["sex", "sex"]);
        assert_eq!(words(&lexicon, "sex education", 0), ["sex education"]);
        assert_eq!(words(&lexicon, "sex education film", 0), ["education film"], "the longer of two that overlap");
        assert_eq!(words(&lexicon, "orgasmically 0rgasm", 0), ["orgasm*", "orgasm*"]);
        assert_eq!(words(&lexicon, "assess the class as a lass", 0), [""; 0]);
        assert_eq!(words(&lexicon, "sesso", 0), [""; 0]);
        assert_eq!(words(&lexicon, "sesso", 1), ["sesso"]);
    }

    #[test]
    fn an_operators_line_replaces_one_of_ours() {
        let lexicon = lexicon(&[("adult.en.txt", "bare\t3\nlace\t1"), ("adult.en.txt", "bare\t0\nlace\t-3\nlewd\t6")]);
        let weights: Vec<(Side, f32)> = lexicon
            .find(" bare lace lewd", |_| true)
            .iter()
            .map(|h| lexicon.entries(h.word)[0])
            .map(|e| (e.side, e.weight))
            .collect();
        let topic = crate::Topic::Adult;
        assert_eq!(weights, [(Side::Topic(topic), 0.0), (Side::Against(topic), 3.0), (Side::Topic(topic), 6.0)]);
    }
}
