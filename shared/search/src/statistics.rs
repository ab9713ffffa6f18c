//! Statistics of splits: numbers of pages and of words, and the lengths of each term's lists.

use crate::analyze::rules;
use crate::budget::Lists;
use crate::error::Result;
use crate::split::Split;
use std::collections::{BTreeMap, BTreeSet};
use tantivy::Term;
use tantivy::postings::TermInfo;

/// Sums over splits, so that the distribution of pages over splits does not matter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Statistics {
    /// Number of pages, hidden ones included.
    pub(crate) docs: u64,
    pub(crate) tokens: u64,
    pages_in: BTreeMap<String, u64>,
    /// Statistics of the terms of titles and texts that were looked up.
    terms: BTreeMap<String, TermStatistics>,
    /// For each word that was looked up, the rules of the languages in which pages have it as typed.
    pub(crate) spelled_in: BTreeMap<String, BTreeSet<String>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct TermStatistics {
    pages: u64,
    /// Length of the list of those pages (its postings), in bytes.
    bytes_of_postings: u64,
    /// Length of its positions on them, in bytes.
    bytes_of_positions: u64,
}

impl TermStatistics {
    fn add(&mut self, info: &TermInfo) {
        self.pages += u64::from(info.doc_freq);
        self.bytes_of_postings += info.postings_range.len() as u64;
        self.bytes_of_positions += info.positions_range.len() as u64;
    }
}

impl Statistics {
    /// Counts the pages that have each term. Looks up all terms before it returns an error, so that all become wanted.
    pub(crate) fn gather(splits: &[&Split], terms: &[String]) -> Result<Statistics> {
        let mut all = Statistics {
            terms: terms.iter().map(|term| (term.clone(), TermStatistics::default())).collect(),
            ..Statistics::default()
        };
        let mut failed = None;
        for split in splits {
            all.docs += u64::from(split.max_doc());
            if let Err(error) = all.add_languages(split) {
                failed = Some(error);
            }
            let body = split.fields.body;
            let inverted = split.segment().inverted_index(body);
            let Ok(inverted) = inverted.map_err(|error| failed = Some(error)) else { continue };
            all.tokens += inverted.total_num_tokens();
            for (text, term) in &mut all.terms {
                match inverted.get_term_info(&Term::from_field_text(body, text)) {
                    Ok(info) => info.iter().for_each(|info| term.add(info)),
                    Err(error) => failed = Some(error.into()),
                }
            }
        }
        failed.map_or(Ok(all), |error| Err(error.into()))
    }

    fn add_languages(&mut self, split: &Split) -> tantivy::Result<()> {
        let field = split.fields.language;
        let inverted = split.segment().inverted_index(field)?;
        let mut unknown = u64::from(split.max_doc());
        for language in split.languages().iter().filter(|language| !language.is_empty()) {
            let pages = u64::from(inverted.doc_freq(&Term::from_field_text(field, language))?);
            *self.pages_in.entry(rules(language).to_owned()).or_default() += pages;
            unknown = unknown.saturating_sub(pages);
        }
        *self.pages_in.entry(String::new()).or_default() += unknown;
        Ok(())
    }

    /// Returns the number of pages whose language has these rules.
    pub(crate) fn pages_in(&self, rules: &str) -> u64 {
        self.pages_in.get(rules).copied().unwrap_or_default()
    }

    /// True if pages have a word as typed, but none of them is in a language with these rules.
    pub(crate) fn is_foreign(&self, word: &str, rules: &str) -> bool {
        self.spelled_in.get(word).is_some_and(|languages| !languages.contains(rules))
    }

    /// Returns these statistics with the counts of terms of earlier ones, which are of the same splits.
    #[must_use]
    pub(crate) fn with_terms_of(mut self, earlier: Statistics) -> Statistics {
        self.terms.extend(earlier.terms);
        Statistics { spelled_in: earlier.spelled_in, ..self }
    }

    /// Returns the number of pages that have a term, if it was counted.
    pub(crate) fn pages_with(&self, term: &str) -> Option<u64> {
        self.terms.get(term).map(|term| term.pages)
    }

    /// Returns the lengths of a term's postings, and of its positions if they are read `times` times.
    pub(crate) fn lists(&self, text: String, times: u64) -> Lists {
        let TermStatistics { bytes_of_postings: postings, bytes_of_positions, .. } =
            self.terms.get(&text).copied().unwrap_or_default();
        Lists { text, postings, positions: bytes_of_positions.saturating_mul(times) }
    }
}
