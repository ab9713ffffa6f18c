//! Words and phrases as terms of the index, in the rules of one language.

use super::forms::Phrasing;
use crate::budget::Unread;
use crate::error::Result;
use crate::split::Split;
use crate::statistics::Statistics;
use crate::tokens::term_text;
use std::collections::BTreeSet;
use tantivy::query::{DisjunctionMaxQuery, EnableScoring, PhraseQuery, Query as _, TermQuery};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{BitSet, Term};

/// Maximum number of occurrences of a word that count in a phrase: each one reads the word's positions again.
const SAME_IN_PHRASE: usize = 4;

pub(crate) enum Written {
    /// Forms of a word, such as its stem, and the stem of the word without accents. There is none for a stop word, and
    /// for what cannot be searched for.
    Word(Vec<Term>),
    /// Forms of a phrase: terms and their positions.
    Phrase(Vec<Vec<(usize, Term)>>),
}

impl Written {
    /// Returns the forms of a word or a phrase as terms of a field.
    pub(super) fn new(field: Field, forms: BTreeSet<Phrasing>, rules: &str) -> Written {
        let term = |form: &str| Term::from_field_text(field, &term_text(form, rules));
        if forms.iter().all(|form| form.len() == 1) {
            return Written::Word(forms.iter().flatten().map(|(_, form)| term(form)).collect());
        }
        let phrase = |form: Phrasing| {
            let mut terms: Vec<(usize, Term)> = Vec::new();
            for (at, form) in form {
                let term = term(&form);
                if terms.iter().filter(|(_, known)| *known == term).count() < SAME_IN_PHRASE {
                    terms.push((at, term));
                }
            }
            terms
        };
        Written::Phrase(forms.into_iter().map(phrase).collect())
    }

    pub(crate) fn terms(&self) -> impl Iterator<Item = &Term> {
        let (words, phrases) = match self {
            Written::Word(terms) => (terms.as_slice(), &[][..]),
            Written::Phrase(phrases) => (&[][..], phrases.as_slice()),
        };
        words.iter().chain(phrases.iter().flatten().map(|(_, term)| term))
    }

    /// True if it has no form, so that nothing is searched for.
    pub(crate) fn is_empty(&self) -> bool {
        self.terms().next().is_none()
    }

    pub(crate) fn is_known(&self, statistics: &Statistics) -> bool {
        self.terms().filter_map(text_of).any(|text| statistics.pages_with(text).is_some_and(|pages| pages > 0))
    }

    /// Removes the terms that are not read. A phrase with only one word left becomes that word.
    pub(super) fn leave_unread(&mut self, unread: &Unread) {
        let is_in = |texts: &BTreeSet<String>, term: &Term| text_of(term).is_some_and(|text| texts.contains(text));
        match self {
            Written::Word(terms) => terms.retain(|term| !is_in(&unread.postings, term)),
            Written::Phrase(phrases) => {
                for phrase in phrases.iter_mut() {
                    phrase.retain(|(_, term)| !is_in(&unread.postings, term) && !is_in(&unread.positions, term));
                }
                phrases.retain(|phrase| !phrase.is_empty());
                if phrases.iter().all(|phrase| phrase.len() == 1) {
                    let words = phrases.iter().filter_map(|phrase| phrase.first()).map(|(_, term)| term.clone());
                    *self = Written::Word(words.collect());
                }
            }
        }
    }

    /// Returns the engine's query for a phrase, which scores the best of its forms.
    pub(crate) fn phrase_query(phrases: &[Vec<(usize, Term)>]) -> DisjunctionMaxQuery {
        let phrase = |terms: &Vec<(usize, Term)>| match terms.as_slice() {
            // A spelling as one word.
            [(_, only)] => Box::new(TermQuery::new(only.clone(), IndexRecordOption::WithFreqs)) as Box<_>,
            _ => Box::new(PhraseQuery::new_with_offset(terms.clone())) as Box<_>,
        };
        DisjunctionMaxQuery::new(phrases.iter().map(phrase).collect())
    }

    pub(super) fn insert_docs(&self, split: &Split, docs: &mut BitSet) -> Result<()> {
        match self {
            Written::Word(terms) => terms.iter().try_for_each(|term| split.insert_docs(term, docs))?,
            Written::Phrase(_) if !self.terms().all(|term| split.has(term.field())) => {}
            Written::Phrase(phrases) => {
                let scoring = EnableScoring::disabled_from_searcher(&split.searcher);
                let weight = Written::phrase_query(phrases).weight(scoring)?;
                weight.for_each_no_score(split.segment(), &mut |found| {
                    for doc in found {
                        docs.insert(*doc);
                    }
                })?;
            }
        }
        Ok(())
    }
}

/// Returns the text of a term of words.
pub(super) fn text_of(term: &Term) -> Option<&str> {
    std::str::from_utf8(term.serialized_value_bytes()).ok()
}
