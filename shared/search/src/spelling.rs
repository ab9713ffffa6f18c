//! Finds stems of the index that are similar to a word that no page has.

use crate::analyze::{Analyzers, Mode};
use crate::error::SearchError;
use crate::plan::Stem;
use crate::split::Split;
use crate::tokens::{MARK, form_and_rules};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use strsim::osa_distance as distance;
use tantivy::Term;
use tantivy::query::FuzzyTermQuery;
use tantivy_fst::Automaton;

/// Minimum length of a word that is looked up, in characters; shorter ones have too many neighbours.
const SHORTEST: usize = 4;
/// Length from which a word may have two wrong letters, in characters.
const LONG: usize = 8;
/// Maximum length of a word that is looked up, in characters.
const LONGEST: usize = 32;
/// Maximum number of last letters that are cut from a stem for a second look: a typo in the ending keeps the ending on
/// its stem.
const ENDING: usize = 4;
/// Maximum number of stems that replace one word.
const STAND_INS: usize = 3;
/// Maximum number of words of a query that are checked: the search for similar ones is expensive.
pub(crate) const DOUBTED: usize = 3;

/// A stem of the index that is similar to one of the query.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Neighbour {
    pub(crate) stem: Stem,
    /// Number of pages that have it, in the split where it is most frequent.
    pub(crate) pages: u64,
    distance: usize,
}

/// Returns the stems that replace a word that no page has: the nearest of its [`neighbours`].
pub(crate) fn stand_ins(near: &[Neighbour]) -> Vec<Stem> {
    let is_nearest = |other: &&Neighbour| near.first().is_some_and(|first| first.distance == other.distance);
    near.iter().filter(is_nearest).take(STAND_INS).map(|near| near.stem.clone()).collect()
}

/// Returns the stems of a word that may be mistyped, in some languages; nothing for words of unsuitable length.
pub(crate) fn stems_of<'a>(
    word: &str,
    languages: impl IntoIterator<Item = &'a String>,
    analyzers: &mut Analyzers,
) -> Vec<Stem> {
    if !(SHORTEST..=LONGEST).contains(&word.chars().count()) || !word.chars().all(char::is_alphabetic) {
        return Vec::new();
    }
    let mut stems = Vec::new();
    for rules in languages {
        let words = analyzers.of(rules).words(word, Mode::Query);
        let [only] = words.as_slice() else { return Vec::new() };
        let forms = [Some(only.form.clone()), only.other.clone()].into_iter().flatten();
        stems.extend(forms.map(|form| Stem { rules: rules.clone(), form }));
    }
    stems
}

/// Returns the maximum number of typos in a word.
pub(crate) fn most_slips(word: &str) -> usize {
    if word.chars().count() < LONG { 1 } else { 2 }
}

/// Returns stems of some splits that are similar to some others, in no order.
pub(crate) fn neighbours(splits: &[&Split], stems: &[Stem], most: usize) -> Result<Vec<Neighbour>, SearchError> {
    // Prefix and number of typos, with the stems that they come from: one lookup covers all languages.
    let mut begins: BTreeMap<(String, usize), Vec<&Stem>> = BTreeMap::new();
    for stem in stems {
        let letters = stem.form.chars().count();
        for cut in 0..=ENDING.min(letters.saturating_sub(SHORTEST)) {
            let begin = stem.form.chars().take(letters - cut).collect();
            begins.entry((begin, if cut == 0 { most } else { 1 })).or_default().push(stem);
        }
    }
    let mut near: HashMap<Stem, (u64, usize)> = HashMap::new();
    for ((begin, slips), of) in begins {
        for split in splits {
            let body = split.fields().body;
            let query = FuzzyTermQuery::new(Term::from_field_text(body, &begin), slips as u8, true);
            let inverted = split.segment().inverted_index(body)?;
            let mut terms = inverted.terms().search(InAnyLanguage(query.automaton()?)).into_stream()?;
            while terms.advance() {
                let Ok(term) = std::str::from_utf8(terms.key()) else { continue };
                let (form, rules) = form_and_rules(term);
                for stem in of.iter().filter(|stem| stem.rules == rules) {
                    let other = Stem { rules: rules.to_owned(), form: form.to_owned() };
                    let known = near.entry(other).or_insert((0, usize::MAX));
                    known.0 = known.0.max(u64::from(terms.value().doc_freq));
                    known.1 = known.1.min(distance(&stem.form, form));
                }
            }
        }
    }
    let near = near.into_iter().filter(|(stem, _)| !stems.contains(stem));
    Ok(near.map(|(stem, (pages, distance))| Neighbour { stem, pages, distance }).collect())
}

/// Combines the [`neighbours`] of several leaves: the nearest first, then those on the most pages.
pub(crate) fn in_order(near: impl IntoIterator<Item = Neighbour>) -> Vec<Neighbour> {
    let mut all: HashMap<Stem, (u64, usize)> = HashMap::new();
    for Neighbour { stem, pages, distance } in near {
        let known = all.entry(stem).or_insert((0, usize::MAX));
        *known = (known.0.max(pages), known.1.min(distance));
    }
    let near = all.into_iter().map(|(stem, (pages, distance))| Neighbour { stem, pages, distance });
    let mut near: Vec<Neighbour> = near.collect();
    near.sort_by(|a, b| a.distance.cmp(&b.distance).then(b.pages.cmp(&a.pages)).then_with(|| a.stem.cmp(&b.stem)));
    near
}

/// Automaton that matches terms whose form matches another automaton, in any language ([`term_text`]).
struct InAnyLanguage<A>(A);

/// State of [`InAnyLanguage`] within a term.
#[derive(Clone)]
enum TermState<S> {
    Form(S),
    Language,
    Wrong,
}

impl<A: Automaton> Automaton for InAnyLanguage<A>
where
    A::State: Clone,
{
    type State = TermState<A::State>;

    fn start(&self) -> Self::State {
        TermState::Form(self.0.start())
    }

    fn is_match(&self, state: &Self::State) -> bool {
        match state {
            TermState::Form(state) => self.0.is_match(state),
            TermState::Language => true,
            TermState::Wrong => false,
        }
    }

    fn can_match(&self, state: &Self::State) -> bool {
        match state {
            TermState::Form(state) => self.0.can_match(state),
            TermState::Language => true,
            TermState::Wrong => false,
        }
    }

    fn accept(&self, state: &Self::State, byte: u8) -> Self::State {
        match state {
            TermState::Form(form) if byte != MARK as u8 => TermState::Form(self.0.accept(form, byte)),
            TermState::Form(form) if !self.0.is_match(form) => TermState::Wrong,
            TermState::Form(_) | TermState::Language => TermState::Language,
            TermState::Wrong => TermState::Wrong,
        }
    }
}
