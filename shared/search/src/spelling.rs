//! Finds what a word that no page has may have been meant to be: stems of the index that are like its own, and the words
//! behind them.
//!
//! The dictionary holds stems. The word behind a stem is looked up on a page that may be shown, so a word that occurred
//! only on deleted pages is never suggested.

use crate::analyze::{Analyzers, Mode};
use crate::error::SearchError;
use crate::leaf::{Answer, Ask, Leaf, PAGES_READ, SpelledPage, ask_each};
use crate::plan::{Plan, Stem, Typed};
use crate::split::Split;
use crate::statistics::Statistics;
use crate::tokens::{MARK, form_and_rules};
use serde::{Deserialize, Serialize};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use strsim::osa_distance as distance;
use tantivy::Term;
use tantivy::query::FuzzyTermQuery;
use tantivy_fst::Automaton;

/// Minimum length of a word that is looked up, in characters; shorter ones have too many neighbours.
const SHORTEST: usize = 4;
/// Length from which the first letter of a stem may be the wrong one, in characters.
const FIRST_LETTER_FROM: usize = 5;
/// Length from which a word may have two wrong letters, in characters.
const LONG: usize = 8;
/// Maximum length of a word that is looked up, in characters.
const LONGEST: usize = 32;
/// Maximum number of last letters of a stem that may be missing: a typo in the ending keeps the ending on its stem.
const ENDING: usize = 4;
/// Maximum number of stems that replace one word, and whose words are read.
const STAND_INS: usize = 3;
/// Maximum number of words of a query that are checked.
const DOUBTED: usize = 3;
/// Maximum number of bytes of terms that are compared with one word, over all splits: a few milliseconds.
const STEPS: usize = 60_000;

/// A word that no page has, and what it is taken for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mended {
    /// The word as typed.
    pub(crate) word: String,
    /// The word that is most like it.
    pub(crate) meant: String,
    /// The stems of words that are as much like it.
    pub(crate) stems: Vec<Stem>,
}

/// A stem of the index that is similar to one of the query.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Neighbour {
    pub(crate) stem: Stem,
    /// Number of pages that have it, in the split where it is most frequent.
    pages: u64,
    distance: usize,
}

/// Returns what some words that no page has are taken for, in the languages of the query: those in which most of its words
/// are known, or nearly.
pub(crate) fn mend(
    leaves: &[&dyn Leaf],
    plan: &Plan,
    unknown: &[Typed],
    statistics: &Statistics,
    analyzers: &mut Analyzers,
) -> Result<Vec<Mended>, SearchError> {
    let languages: Vec<&String> = plan.languages.iter().map(|language| &language.rules).collect();
    let steps = STEPS / leaves.iter().map(|leaf| leaf.splits().len()).sum::<usize>().max(1);
    let stems = unknown.iter().map(|word| (&word.text, stems_of(&word.text.to_lowercase(), &languages, analyzers)));
    let words: Vec<(&String, Vec<Stem>)> = stems.filter(|(_, stems)| !stems.is_empty()).take(DOUBTED).collect();
    let asks = words.iter().map(|(word, stems)| Ask::Similar { stems: stems.clone(), most: most_slips(word), steps });
    let asks: Vec<Ask> = asks.collect();
    let requests = asks.iter().flat_map(|ask| leaves.iter().map(|leaf| (*leaf, ask.clone())));
    let answers = ask_each(requests, |answer| match answer {
        Answer::Similar(near) => Some(near),
        _ => None,
    })?;
    let near = answers.chunks(leaves.len().max(1)).map(|near| in_order(near.iter().flatten()));
    let mut near: Vec<Vec<Neighbour>> = near.collect();
    let spoken = spoken(plan, statistics, &near);
    for near in &mut near {
        near.retain(|near| spoken.contains(near.stem.rules.as_str()));
        near.truncate(STAND_INS);
    }
    let typed = words.iter().zip(&near).flat_map(|((word, _), near)| near.iter().map(move |near| (near, *word)));
    let typed: Vec<(Stem, String)> = typed.map(|(near, word)| (near.stem.clone(), word.to_lowercase())).collect();
    let mut spelled = spelled(leaves, typed)?.into_iter();
    let mended = words.into_iter().zip(near).filter_map(|((word, _), near)| {
        let lower = word.to_lowercase();
        let spelled = spelled.by_ref().take(near.len());
        let like = near.into_iter().zip(spelled).filter_map(|(near, spelled)| {
            let (apart, other) = spelled?;
            // Two words of one stem may be inflected differently.
            let inflected = near.distance <= most_slips(word) && other.chars().next() == lower.chars().next();
            let is_like = 0 < apart && apart <= most_slips(word) + usize::from(inflected);
            is_like.then_some((apart, other, near.stem))
        });
        let mut like: Vec<(usize, String, Stem)> = like.collect();
        like.sort_by_key(|(apart, ..)| *apart);
        let (least, meant, _) = like.first()?;
        let stems = like.iter().filter(|(apart, ..)| apart == least).map(|(.., stem)| stem.clone());
        Some(Mended { word: word.clone(), meant: meant.clone(), stems: stems.collect() })
    });
    Ok(mended.collect())
}

/// Returns the languages in which the most words of a plan are known, are stop words, or have neighbours.
fn spoken<'a>(plan: &'a Plan, statistics: &Statistics, near: &[Vec<Neighbour>]) -> BTreeSet<&'a str> {
    let words = plan.languages.iter().enumerate().map(|(number, language)| {
        let rules = language.rules.as_str();
        let known = plan.units.iter().filter(|unit| unit.written[number].is_known(statistics)).count();
        let nearly = near.iter().filter(|near| near.iter().any(|near| near.stem.rules == rules)).count();
        (rules, known + nearly + language.stop_words.count_ones() as usize)
    });
    let words: Vec<(&str, usize)> = words.collect();
    let most = words.iter().map(|(_, count)| *count).max();
    words.into_iter().filter(|(_, count)| Some(*count) == most).map(|(rules, _)| rules).collect()
}

/// Returns the stems of a word that may be mistyped, in some languages; nothing for words of unsuitable length.
fn stems_of(word: &str, languages: &[&String], analyzers: &mut Analyzers) -> Vec<Stem> {
    if !(SHORTEST..=LONGEST).contains(&word.chars().count()) || !word.chars().all(char::is_alphabetic) {
        return Vec::new();
    }
    let mut stems = Vec::new();
    for rules in languages {
        let words = analyzers.of(rules).words(word, Mode::Query);
        let [only] = words.as_slice() else { return Vec::new() };
        let forms = [Some(only.form.clone()), only.other.clone()].into_iter().flatten();
        stems.extend(forms.map(|form| Stem { rules: (*rules).clone(), form }));
    }
    stems
}

/// Returns the maximum number of typos in a word.
fn most_slips(word: &str) -> usize {
    if word.chars().count() < LONG { 1 } else { 2 }
}

/// Returns the stems of some splits that are similar to some others, in no order, some several times. Those with the same first letter are looked
/// for before others, which may have no other typo. Of each split at most `steps` bytes of terms are read.
pub(crate) fn neighbours(
    splits: &[&Split],
    stems: &[Stem],
    most: usize,
    steps: usize,
) -> Result<Vec<Neighbour>, SearchError> {
    // Prefix and number of typos, with the stems that they come from: one lookup covers all languages.
    let mut begins: BTreeMap<(bool, String, usize), Vec<&Stem>> = BTreeMap::new();
    for stem in stems {
        let letters = stem.form.chars().count();
        for cut in 0..=ENDING.min(letters.saturating_sub(SHORTEST)) {
            let begin: String = stem.form.chars().take(letters - cut).collect();
            if letters >= FIRST_LETTER_FROM {
                begins.entry((true, begin.clone(), 1)).or_default().push(stem);
            }
            begins.entry((false, begin, if cut == 0 { most } else { 1 })).or_default().push(stem);
        }
    }
    let mut near = Vec::new();
    for split in splits {
        let body = split.fields().body;
        let inverted = split.segment().inverted_index(body)?;
        let left = Cell::new(steps);
        for ((any_first, begin, slips), of) in &begins {
            let query = FuzzyTermQuery::new(Term::from_field_text(body, begin), *slips as u8, true);
            let terms = inverted.terms().search(InAnyLanguage::new(query.automaton()?, begin, &left));
            let first = &begin[..begin.ceil_char_boundary(1)];
            let mut terms = match any_first {
                true => terms.into_stream()?,
                // No letter begins with this byte.
                false => terms.ge(first).lt([first.as_bytes(), &[u8::MAX]].concat()).into_stream()?,
            };
            while terms.advance() {
                let Ok(term) = std::str::from_utf8(terms.key()) else { continue };
                let (form, rules) = form_and_rules(term);
                let pages = u64::from(terms.value().doc_freq);
                near.extend(of.iter().filter(|stem| stem.rules == rules).map(|stem| Neighbour {
                    stem: Stem { rules: rules.to_owned(), form: form.to_owned() },
                    pages,
                    distance: distance(&stem.form, form),
                }));
            }
        }
    }
    Ok(near)
}

/// Combines the [`neighbours`] of several leaves: the nearest first, then those on the most pages.
fn in_order<'a>(near: impl IntoIterator<Item = &'a Neighbour>) -> Vec<Neighbour> {
    let mut near: Vec<Neighbour> = near.into_iter().cloned().collect();
    near.sort_by(|a, b| a.distance.cmp(&b.distance).then(b.pages.cmp(&a.pages)).then_with(|| a.stem.cmp(&b.stem)));
    let mut seen = HashSet::new();
    near.retain(|near| seen.insert(near.stem.clone()));
    near
}

/// Returns for each stem the word with it that is most similar to another word, from the first pages that may be shown, and
/// its distance.
fn spelled(leaves: &[&dyn Leaf], stems: Vec<(Stem, String)>) -> Result<Vec<Option<(usize, String)>>, SearchError> {
    if stems.is_empty() {
        return Ok(Vec::new());
    }
    let requests = leaves.iter().map(|leaf| (*leaf, Ask::Spell { stems: stems.clone() }));
    let answers = ask_each(requests, |answer| match answer {
        Answer::Spelled(words) => Some(words),
        _ => None,
    })?;
    let best = (0..stems.len()).map(|at| {
        let mut pages: Vec<&SpelledPage> = answers.iter().filter_map(|of| of.get(at)).flatten().collect();
        pages.sort_by_key(|(split, _)| *split);
        let words = pages.into_iter().take(PAGES_READ).filter_map(|(_, word)| word.as_ref());
        words.min_by_key(|(apart, _)| *apart).cloned()
    });
    Ok(best.collect())
}

/// Automaton that matches terms whose form matches another automaton, in any language ([`crate::tokens::term_text`]), and
/// that gives up after some steps.
struct InAnyLanguage<'a, A> {
    form: A,
    /// Bytes that may stand in a form: letters of scripts that the word has none of are no slips.
    expected: [bool; 256],
    /// Number of steps that are left.
    left: &'a Cell<usize>,
}

impl<'a, A> InAnyLanguage<'a, A> {
    fn new(form: A, word: &str, left: &'a Cell<usize>) -> InAnyLanguage<'a, A> {
        let mut expected = [false; 256];
        for byte in word.bytes() {
            // Scripts of two bytes a letter share the first ones; those of three mostly have some of their own.
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

/// State of [`InAnyLanguage`] within a term.
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
        let may_match = match state {
            TermState::Form(state) => self.form.can_match(state),
            TermState::Language => true,
            TermState::Wrong => false,
        };
        may_match && self.left.get() > 0
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

    /// A split of English pages and of Chinese ones, which have a hundred thousand pairs of characters.
    fn split() -> Split {
        let page = |number: u32, language: &str, text: String| Record {
            title: "Notes".to_owned(),
            text,
            language: Some(language.to_owned()),
            ..Record::new(
                PageId::new(&format!("{number:032x}")).unwrap(),
                format!("https://e.org/{number}"),
                Timestamp::EPOCH,
            )
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
        let found = |stem: &str, steps| {
            let stem = Stem { rules: "en".to_owned(), form: stem.to_owned() };
            let near = neighbours(&[&split], &[stem], 2, steps).unwrap();
            in_order(&near).into_iter().map(|near| near.stem.form).collect::<Vec<_>>()
        };
        for (stem, other) in
            [("univeristi", "universiti"), ("lighthos", "lighthous"), ("keper", "keeper"), ("gniversiti", "universiti")]
        {
            assert_eq!(found(stem, 2_000), [other], "{stem}");
            assert_eq!(found(stem, 10), [""; 0], "{stem}");
        }
    }
}
