//! Finds the stems of splits that are like some others, within a number of steps.

use crate::analyze::{Analyzers, Mode};
use crate::error::SearchError;
use crate::plan::Stem;
use crate::split::Split;
use crate::tokens::{MARK, form_and_rules};
use serde::{Deserialize, Serialize};
use std::cell::Cell;
use std::collections::{BTreeMap, HashSet};
use strsim::osa_distance as distance;
use tantivy::Term;
use tantivy::query::FuzzyTermQuery;
use tantivy_fst::Automaton;

/// Minimum length of a word that is looked up, and of the beginning of a stem, in characters; shorter ones have too
/// many neighbours.
pub(crate) const SHORTEST: usize = 4;
/// Length from which the first letter of a stem may be the wrong one, in characters.
const FIRST_LETTER_FROM: usize = 5;
/// Maximum number of last letters of a stem that may be missing: a typo in the ending keeps the ending on its stem.
const ENDING: usize = 4;

/// A stem of the index that is similar to one of the query.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Neighbour {
    pub(crate) stem: Stem,
    /// Number of pages that have it, in the split where it is most frequent.
    pages: u64,
    /// Number of typos between the two.
    pub(crate) distance: usize,
}

/// Returns the stems of some splits that are similar to some others, in no order, some several times. Those with the
/// same first letter are looked for before others, which may have no other typo. Of each split at most `steps` bytes of
/// terms are read.
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

/// Maximum number of stems that a beginning stands for: those on the most pages.
pub(crate) const STEMS: usize = 64;
/// Maximum number of terms of a split that are read for one beginning.
const TERMS_READ: usize = 20_000;

/// Returns the stems of some splits that begin with the forms of a word in some language.
pub(crate) fn beginning_with(splits: &[&Split], begin: &str) -> Result<Vec<Neighbour>, SearchError> {
    let forms = Analyzers::default().of("").words(begin, Mode::Query);
    let [begin] = forms.as_slice() else { return Ok(Vec::new()) };
    let mut near = Vec::new();
    for split in splits {
        let inverted = split.segment().inverted_index(split.fields().body)?;
        // No letter begins with this byte.
        let last = [begin.form.as_bytes(), &[u8::MAX]].concat();
        let mut terms = inverted.terms().range().ge(&begin.form).lt(last).into_stream()?;
        let (mut left, mut here) = (TERMS_READ, Vec::new());
        while left > 0 && terms.advance() {
            left -= 1;
            let Ok(term) = std::str::from_utf8(terms.key()) else { continue };
            let (form, rules) = form_and_rules(term);
            let stem = Stem { rules: rules.to_owned(), form: form.to_owned() };
            here.push(Neighbour { stem, pages: u64::from(terms.value().doc_freq), distance: 0 });
        }
        near.extend(in_order(&here).into_iter().take(STEMS));
    }
    Ok(near)
}

/// Combines the [`neighbours`] of several leaves: the nearest first, then those on the most pages.
pub(crate) fn in_order<'a>(near: impl IntoIterator<Item = &'a Neighbour>) -> Vec<Neighbour> {
    let mut near: Vec<Neighbour> = near.into_iter().cloned().collect();
    near.sort_by(|a, b| a.distance.cmp(&b.distance).then(b.pages.cmp(&a.pages)).then_with(|| a.stem.cmp(&b.stem)));
    let mut seen = HashSet::new();
    near.retain(|near| seen.insert(near.stem.clone()));
    near
}

/// Automaton that matches terms whose form matches another automaton, in any language ([`crate::tokens::term_text`]),
/// and that gives up after some steps.
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
