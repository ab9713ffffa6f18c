//! Finds names in scripts whose combining marks are letters, or in which names occur inside a run of letters.

use super::Named;
use crate::fold::is_unseen;
use aho_corasick::{AhoCorasick, BuildError};
use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

/// Syllables of the particles and forms of address that may follow a Korean name in the same word.
const KOREAN_ENDINGS: &str = "은는이가을를의에게서께와과랑도로으만씨님";
/// Maximum number of letters examined after a Korean name. The longest endings have fewer.
const MAX_ENDING: usize = 9;

pub(super) struct AsWritten {
    automaton: AhoCorasick,
    /// Main names of persons, indexed by pattern of the automaton.
    persons: Vec<String>,
}

/// True for a name with a letter in one of the scripts that this module handles.
pub(super) fn is_meant(name: &str) -> bool {
    name.nfkd().any(|c| {
        let is_of_such_a_script = matches!(c, '\u{900}'..='\u{109f}' | '\u{1100}'..='\u{1c7f}' | '\u{2e80}'..='\u{a63f}'
            | '\u{a800}'..='\u{ab2f}' | '\u{abc0}'..='\u{faff}' | '\u{11000}'..='\u{16fff}' | '\u{20000}'..);
        c.is_alphanumeric() && is_of_such_a_script
    })
}

pub(super) fn is_long_enough(name: &str) -> bool {
    /// In letters and marks.
    const MIN_NAME: usize = 2;
    name.nfc().filter(|c| is_letter(*c)).count() >= MIN_NAME
}

impl AsWritten {
    /// Builds the search from pairs of main name and name to find. Fails if there are too many names.
    pub(super) fn new<'n>(names: impl Iterator<Item = (&'n str, &'n str)>) -> Result<AsWritten, BuildError> {
        let (mut patterns, mut persons) = (Vec::new(), Vec::new());
        for (person, name) in names {
            let apart = Letters::new(name).text.trim().to_owned();
            // Most of these scripts may write both parts of a name as one word.
            let is_joined = apart.contains(' ') && Class::of_char(apart.chars().next()) != Class::Word;
            for pattern in is_joined.then(|| apart.replace(' ', "")).into_iter().chain([apart]) {
                patterns.push(pattern);
                persons.push(person.to_owned());
            }
        }
        Ok(AsWritten { automaton: AhoCorasick::new(&patterns)?, persons })
    }

    pub(super) fn find(&self, text: &str) -> Vec<Named> {
        let mut found: Vec<Named> = Vec::new();
        if self.persons.is_empty() {
            return found;
        }
        let letters = Letters::new(text);
        for hit in self.automaton.find_overlapping_iter(&letters.text) {
            let Some(person) = self.persons.get(hit.pattern().as_usize()) else { continue };
            if found.iter().all(|f| f.person != *person) {
                found.extend(letters.whole_name(person, hit.start(), hit.end()));
            }
        }
        found
    }
}

/// A text with its marks, decomposed (NFKD), in lower case, with one space between words.
struct Letters {
    text: String,
    /// Start offset of each character, in `text` and in the given text, followed by the end offsets.
    starts: Vec<(usize, usize)>,
}

impl Letters {
    fn new(given: &str) -> Letters {
        let mut letters = Letters { text: String::with_capacity(given.len()), starts: Vec::new() };
        for (from, written) in given.char_indices().filter(|(_, c)| !is_unseen(*c)) {
            let at = letters.text.len();
            let decomposed = std::iter::once(written).nfkd().filter(|c| is_letter(*c));
            letters.text.extend(decomposed.flat_map(char::to_lowercase));
            if letters.text.len() == at && !letters.text.ends_with(' ') {
                letters.text.push(' ');
            }
            if letters.text.len() > at {
                letters.starts.push((at, from));
            }
        }
        letters.starts.push((letters.text.len(), given.len()));
        letters
    }

    /// Returns a match if it starts and ends where a name can.
    fn whole_name(&self, person: &str, start: usize, end: usize) -> Option<Named> {
        // A match that starts or ends inside a character of the given text contains a part of a syllable.
        let origin = |at| self.starts.binary_search_by_key(&at, |(here, _)| *here).ok().map(|i| self.starts[i].1);
        let (from, to) = (origin(start)?, origin(end)?);
        let (head, name, rest) = (self.text.get(..start)?, self.text.get(start..end)?, self.text.get(end..)?);
        let (before, after) = (head.chars().next_back(), rest.chars().next());
        let first = Class::of_char(name.chars().next());
        let last = Class::of_char(name.chars().next_back());
        // Thai and Lao vowels written before their consonant, and those written after it.
        let is_syllable_begun = matches!(before, Some('\u{e40}'..='\u{e44}' | '\u{ec0}'..='\u{ec4}'));
        let goes_on = matches!(after, Some('\u{e30}' | '\u{e32}' | '\u{e45}' | '\u{eb0}' | '\u{eb2}'))
            || after.is_some_and(is_combining_mark);
        let begins = first.may_meet(Class::of_char(before)) && !is_syllable_begun;
        let ends = last.may_meet(Class::of_char(after)) && !goes_on;
        let has_ending = last == Class::Hangul && {
            let ending = rest.chars().take_while(|c| Class::of_char(Some(*c)) == Class::Hangul).take(MAX_ENDING);
            ending.nfc().all(|c| KOREAN_ENDINGS.contains(c))
        };
        (begins && (ends || has_ending)).then(|| Named { person: person.to_owned(), from, to })
    }
}

/// How a character may adjoin others.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    /// A space, or an end of the text.
    Gap,
    /// A letter of a script without spaces between words: Thai to Burmese, Khmer, Chinese, Hiragana and Yi.
    Run,
    Katakana,
    Hangul,
    /// A letter of any other script.
    Word,
}

impl Class {
    fn of_char(c: Option<char>) -> Class {
        match c {
            None | Some(' ') => Class::Gap,
            Some('\u{1100}'..='\u{11ff}') => Class::Hangul,
            Some('\u{30a0}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}') => Class::Katakana,
            Some(
                '\u{e00}'..='\u{109f}'
                | '\u{1780}'..='\u{17ff}'
                | '\u{2e80}'..='\u{a4cf}'
                | '\u{f900}'..='\u{faff}'
                | '\u{20000}'..,
            ) => Class::Run,
            Some(_) => Class::Word,
        }
    }

    /// True if a name may end with a letter of this class, next to a letter of the other class.
    fn may_meet(self, neighbour: Class) -> bool {
        self == Class::Run || self != neighbour
    }
}

fn is_letter(c: char) -> bool {
    c.is_alphanumeric() || is_combining_mark(c)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;

    /// Returns the matches of a name in a text.
    fn found(name: &str, text: &str) -> Vec<String> {
        assert!(is_meant(name) && is_long_enough(name), "{name}");
        let names = AsWritten::new([("X", name)].into_iter()).unwrap();
        names.find(text).into_iter().map(|named| text[named.from..named.to].to_owned()).collect()
    }

    #[test]
    fn a_name_is_found_within_a_run_of_letters() {
        for (name, text, expected) in [
            ("张伟", "昨天张伟说了话。", "张伟"),
            ("張偉", "張偉", "張偉"),
            ("汤姆·克鲁斯", "演员汤姆·克鲁斯来了", "汤姆·克鲁斯"),
            ("汤姆·克鲁斯", "演员汤姆克鲁斯来了", "汤姆克鲁斯"),
            ("山田 太郎", "俳優の山田太郎さんは", "山田太郎"),
            ("山田 太郎", "俳優の山田\u{3000}太郎さんは", "山田\u{3000}太郎"),
            ("マリア", "昨日ﾏﾘｱが来た", "ﾏﾘｱ"),
            ("さくらももこ", "作家さくらももこの本", "さくらももこ"),
            ("สมชาย ใจดี", "เมื่อวานสมชายใจดีพูด", "สมชายใจดี"),
            ("김연아", "어제 김연아는 말했다", "김연아"),
            ("김연아", "김연아", "김연아"),
            ("राम कुमार", "कल राम  कुमार आया", "राम  कुमार"),
        ] {
            assert_eq!(found(name, text), [expected], "{name} in {text}");
        }
    }

    #[test]
    fn a_part_of_another_name_or_syllable_is_none() {
        for (name, text) in [
            ("マリア", "マリアンヌが来た"),
            ("マリア", "アマリアが来た"),
            ("たに", "ただに行く"),
            ("はら", "ばらの花"),
            ("김수", "배우 김수현은"),
            ("이가", "이각이 왔다"),
            ("연아", "김연아는"),
            ("राम", "रमा आई"),
            ("राम", "रामन आया"),
            ("สม", "สมาธิ"),
            ("มานี", "เมานี"),
            ("张伟", "张，小伟"),
        ] {
            assert!(found(name, text).is_empty(), "{name} in {text}");
        }
    }

    #[test]
    fn names_with_accents_are_for_the_folded_words() {
        for name in ["Zoe Álvarez", "Добрыня", "Ελένη", "محمد", "ნინო", "\u{1d400}\u{1d401}\u{1d402}"]
        {
            assert!(!is_meant(name), "{name}");
        }
    }
}
