//! Words as they are spelled: a dictionary in addition to that of stems, in which words are looked up by their
//! beginning, or by similarity to a word that no page has.
//!
//! An entry has a word without accents, the language of its pages, and the word with accents if it has any. Its
//! postings list only the first few texts that have the word.

use crate::analyze::{Analyzers, Mode, compared};
use crate::error::Result;
use crate::hidden::Hidden;
use crate::plan::Stem;
use crate::split::Split;
use crate::tokens::{MARK, spelling_term};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;
use strsim::osa_distance as typos;
use tantivy::query::FuzzyTermQuery;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocSet, InvertedIndexReader, TERMINATED, Term};
use tantivy_fst::Automaton;

/// Minimum length of a word that is looked up by similarity, in characters; shorter ones resemble too many words.
const SHORTEST: usize = 4;
/// Minimum length of a word whose first letter may be wrong, in characters.
const FIRST_LETTER_FROM: usize = 5;
/// Minimum length of a word that may have two wrong letters, in characters.
const LONG: usize = 8;
/// Maximum number of typos in dictionary look-ups: a short word may have one in its stem, and one in its ending.
const MOST_SLIPS: u8 = 2;
/// Maximum number of words of a split that are considered as replacements of one word.
const CONSIDERED: usize = 12;

/// Word of the dictionary of some splits, in a language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Spelling {
    pub(crate) word: String,
    /// Stem of the word in the language.
    pub(crate) stem: Stem,
    /// Number of pages that have the stem, in the split where it is most frequent.
    pub(crate) pages: u64,
    /// Number of typos between it and the word that it resembles.
    pub(crate) distance: usize,
}

struct Entry {
    bare: String,
    rules: String,
    /// The word in lower case, with its accents.
    word: String,
}

impl Entry {
    fn parse(key: &[u8]) -> Option<Entry> {
        let mut parts = std::str::from_utf8(key).ok()?.split(MARK);
        let (bare, rules) = (parts.next()?.to_owned(), parts.next()?.to_owned());
        let word = parts.next().map_or_else(|| bare.clone(), str::to_owned);
        Some(Entry { bare, rules, word })
    }
}

struct Dictionary<'a> {
    split: &'a Split,
    words: Arc<InvertedIndexReader>,
    stems: Arc<InvertedIndexReader>,
}

impl<'a> Dictionary<'a> {
    /// Opens the dictionaries of those splits whose format has one, all before an error is returned.
    fn open_all(splits: &[&'a Split]) -> Result<Vec<Dictionary<'a>>> {
        let open = |split: &&'a Split| {
            let [words, stems] =
                [split.fields.spelling, split.fields.body].map(|field| split.segment().inverted_index(field));
            Ok(Dictionary { split, words: words?, stems: stems? })
        };
        let splits = splits.iter().filter(|split| split.has(split.fields.spelling));
        let opened: Vec<Result<Dictionary<'a>>> = splits.map(open).collect();
        opened.into_iter().collect()
    }

    /// Calls `read` for at most [`ENTRIES_READ`] entries from `first` (inclusive) to `last` (exclusive).
    fn range(&self, first: &str, last: &[u8], mut read: impl FnMut(Entry)) -> Result<()> {
        let mut terms = self.words.terms().range().ge(first).lt(last).into_stream()?;
        let mut left = ENTRIES_READ;
        while left > 0 && terms.advance() {
            left -= 1;
            Entry::parse(terms.key()).into_iter().for_each(&mut read);
        }
        Ok(())
    }

    /// True if an entry lists a page that is not hidden.
    fn is_alive(&self, found: &Spelling, hidden: &Hidden) -> Result<bool> {
        let dead = self.split.dead(hidden)?;
        let term = Term::from_field_text(self.split.fields.spelling, &spelling_term(&found.word, &found.stem.rules));
        let Some(mut postings) = self.words.read_postings(&term, IndexRecordOption::Basic)? else {
            return Ok(false);
        };
        while postings.doc() != TERMINATED && dead.contains(postings.doc()) {
            postings.advance();
        }
        Ok(postings.doc() != TERMINATED)
    }

    /// Returns the entries within `slips` typos of a word: those with its first letter, or those with another.
    fn like(&self, word: &str, other_first: bool, slips: u8, left: &Cell<usize>) -> Result<Vec<Entry>> {
        let field = self.split.fields.spelling;
        let automaton = FuzzyTermQuery::new(Term::from_field_text(field, word), slips, true).automaton()?;
        let terms = self.words.terms().search(InAnyLanguage::new(automaton, word, left));
        let first = &word[..word.ceil_char_boundary(1)];
        let mut terms = match other_first {
            true => terms.into_stream()?,
            false => terms.ge(first).lt(after(first)).into_stream()?,
        };
        let mut entries = Vec::new();
        while terms.advance() {
            let entry = Entry::parse(terms.key());
            entries.extend(entry.filter(|entry| entry.bare.starts_with(first) != other_first));
        }
        Ok(entries)
    }

    fn pages_with(&self, stem: &Stem) -> Result<u64> {
        let term = Term::from_field_text(self.split.fields.body, &stem.text());
        Ok(u64::from(self.stems.doc_freq(&term)?))
    }

    /// Returns a word with the number of its pages; `None` if its entry lists only hidden pages.
    fn find(&self, found: Spelling, hidden: &Hidden) -> Result<Option<Spelling>> {
        if !self.is_alive(&found, hidden)? {
            return Ok(None);
        }
        Ok(Some(Spelling { pages: self.pages_with(&found.stem)?, ..found }))
    }
}

/// Returns a key that sorts after all that begin with a text: its last byte does not occur in UTF-8.
fn after(begin: &str) -> Vec<u8> {
    [begin.as_bytes(), &[u8::MAX]].concat()
}

/// Returns the stem of a word by the rules of a language; `None` if it is not one word there.
fn stem_of(word: &str, rules: &str, analyzers: &mut Analyzers) -> Option<Stem> {
    let words = analyzers.for_language(rules).words(word, Mode::Query);
    let [only] = words.as_slice() else { return None };
    Some(Stem { rules: rules.to_owned(), form: only.form.clone() })
}

/// Returns, for each word, the rules of the languages in which some page has it in this spelling.
pub(crate) fn languages_of(splits: &[&Split], words: &BTreeSet<String>) -> Result<BTreeMap<String, BTreeSet<String>>> {
    let mut all: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    if words.is_empty() {
        return Ok(all);
    }
    for dictionary in Dictionary::open_all(splits)? {
        for word in words {
            let first = format!("{word}{MARK}");
            dictionary.range(&first, &after(&first), |entry| {
                all.entry(word.clone()).or_default().insert(entry.rules);
            })?;
        }
    }
    Ok(all)
}

/// Maximum number of entries of a split that are read for one word or beginning.
const ENTRIES_READ: usize = 4_000;
/// Maximum number of stems that a beginning stands for: those on the most pages.
pub(crate) const STEMS: usize = 64;

/// Returns the words in some splits that start with `begin`, one for each stem of a split.
pub(crate) fn beginning_with(splits: &[&Split], begin: &str, analyzers: &mut Analyzers) -> Result<Vec<Spelling>> {
    let Some(begin) = compared(begin) else { return Ok(Vec::new()) };
    let mut all = Vec::new();
    for dictionary in Dictionary::open_all(splits)? {
        let mut stems: BTreeMap<Stem, String> = BTreeMap::new();
        dictionary.range(&begin, &after(&begin), |entry| {
            if let Some(stem) = stem_of(&entry.word, &entry.rules, analyzers) {
                stems.entry(stem).or_insert(entry.word);
            }
        })?;
        let mut here = Vec::with_capacity(stems.len());
        for (stem, word) in stems {
            here.push(Spelling { pages: dictionary.pages_with(&stem)?, word, stem, distance: 0 });
        }
        all.extend(in_order(here).into_iter().take(STEMS));
    }
    Ok(all)
}

/// Returns the words on visible pages, in languages with these rules, that resemble a word that no page has; unordered
/// and with duplicates. At most `steps` bytes of entries are compared in each split.
pub(crate) fn similar_words(
    splits: &[&Split],
    hidden: &Hidden,
    word: &str,
    languages: &BTreeSet<String>,
    steps: usize,
    analyzers: &mut Analyzers,
) -> Result<Vec<Spelling>> {
    let Some(typed) = compared(word) else { return Ok(Vec::new()) };
    let letters = typed.chars().count();
    if letters < SHORTEST || typed.chars().any(char::is_numeric) {
        return Ok(Vec::new());
    }
    let most = if letters < LONG { 1 } else { 2 };
    let mut like = |entry: Entry| {
        let distance = typos(&typed, &entry.bare);
        let stems = [&typed, &entry.word].map(|word| stem_of(word, &entry.rules, analyzers));
        let [Some(typed_stem), Some(stem)] = stems else { return None };
        // Stems are compared too, since the words may be inflected differently.
        let is_like = distance > 0 && (distance <= most || typos(&typed_stem.form, &stem.form) <= most);
        is_like.then_some(Spelling { word: entry.word, stem, pages: 0, distance })
    };
    let mut found = Vec::new();
    for dictionary in Dictionary::open_all(splits)? {
        let left = Cell::new(steps);
        let mut entries = dictionary.like(&typed, false, MOST_SLIPS, &left)?;
        if letters >= FIRST_LETTER_FROM {
            entries.extend(dictionary.like(&typed, true, 1, &left)?);
        }
        entries.retain(|entry| languages.contains(&entry.rules));
        entries.sort_by_cached_key(|entry| typos(&typed, &entry.bare));
        let alike = entries.into_iter().filter_map(&mut like).take(CONSIDERED);
        found.extend(alike.map(|found| dictionary.find(found, hidden)));
    }
    // All words were looked up before the first error is returned, so that all missing parts become wanted at once.
    found.into_iter().filter_map(Result::transpose).collect()
}

/// Sorts words by distance, then by number of pages (descending), and keeps one of each stem.
pub(crate) fn in_order(mut words: Vec<Spelling>) -> Vec<Spelling> {
    words.sort_by(|a, b| a.distance.cmp(&b.distance).then(b.pages.cmp(&a.pages)).then_with(|| a.stem.cmp(&b.stem)));
    let mut seen = HashSet::new();
    words.retain(|word| seen.insert(word.stem.clone()));
    words
}

/// Automaton for terms of any language whose form matches another automaton; it stops after `left` steps.
struct InAnyLanguage<'a, A> {
    form: A,
    /// Bytes that may occur in a form: letters of scripts that the word does not use are not considered typos.
    expected: [bool; 256],
    left: &'a Cell<usize>,
}

impl<'a, A> InAnyLanguage<'a, A> {
    fn new(form: A, word: &str, left: &'a Cell<usize>) -> InAnyLanguage<'a, A> {
        let mut expected = [false; 256];
        for byte in word.bytes() {
            // Scripts with two-byte letters share lead bytes; most scripts with three have lead bytes of their own.
            let of_script = match byte {
                0..0x80 => 0..=0x7F,
                0x80..0xE0 => 0x80..=0xDF,
                _ => byte..=byte,
            };
            of_script.for_each(|byte| expected[usize::from(byte)] = true);
        }
        InAnyLanguage { form, expected, left }
    }
}

#[derive(Clone)]
enum TermState<S> {
    Form(S),
    Language,
    Wrong,
}

impl<A: Automaton> Automaton for InAnyLanguage<'_, A>
where
    A::State: Clone,
{
    type State = TermState<A::State>;

    fn start(&self) -> Self::State {
        TermState::Form(self.form.start())
    }

    fn is_match(&self, state: &Self::State) -> bool {
        match state {
            TermState::Form(state) => self.form.is_match(state),
            TermState::Language => true,
            TermState::Wrong => false,
        }
    }

    fn can_match(&self, state: &Self::State) -> bool {
        let is_over = self.left.get() == 0;
        !is_over && if let TermState::Form(state) = state { self.form.can_match(state) } else { self.is_match(state) }
    }

    fn accept(&self, state: &Self::State, byte: u8) -> Self::State {
        self.left.set(self.left.get().saturating_sub(1));
        match state {
            TermState::Form(form) if byte == MARK as u8 => match self.form.is_match(form) {
                true => TermState::Language,
                false => TermState::Wrong,
            },
            TermState::Form(form) if self.expected[usize::from(byte)] => TermState::Form(self.form.accept(form, byte)),
            TermState::Language => TermState::Language,
            TermState::Form(_) | TermState::Wrong => TermState::Wrong,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]
    use super::*;
    use crate::{BuildBudget, build_split};
    use curlew_model::{PageId, Record, Timestamp};

    /// Returns a split of an English page, and of Chinese pages with a hundred thousand pairs of characters.
    fn split() -> Split {
        let page = |number: u32, language: &str, text: String| {
            let id = PageId::new(&format!("{number:032x}")).unwrap();
            let record = Record::new(id, format!("https://e.org/{number}"), Timestamp::EPOCH);
            Record { title: "Notes".to_owned(), text, language: Some(language.to_owned()), ..record }
        };
        let characters =
            |page: u32| (0..5_000).filter_map(move |n| char::from_u32(0x4E00 + (page * 5_000 + n) * 7_919 % 20_000));
        let chinese = (0..20).map(|number| page(number, "zh", characters(number).collect()));
        let english = page(99, "en", "A lighthouse keeper went to the university.".to_owned());
        let built = build_split(chinese.chain([english]), &BuildBudget::default()).unwrap();
        Split::open(built.bytes.into()).unwrap()
    }

    #[test]
    fn characters_of_other_scripts_cost_no_work() {
        let split = split();
        let found = |word: &str, steps| {
            let languages = BTreeSet::from(["en".to_owned()]);
            let mut analyzers = Analyzers::default();
            let words = similar_words(&[&split], &Hidden::default(), word, &languages, steps, &mut analyzers).unwrap();
            in_order(words).into_iter().map(|like| like.word).collect::<Vec<_>>()
        };
        for (word, other) in [
            ("univeristy", "university"),
            ("lighthose", "lighthouse"),
            ("keper", "keeper"),
            ("gniversity", "university"),
        ] {
            assert_eq!(found(word, 2_000), [other], "{word}");
            assert_eq!(found(word, 3), [""; 0], "{word}");
        }
    }
}
