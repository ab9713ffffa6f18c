//! What somebody may have meant: a word that no page has, in place of which a similar one is found in the index.
//!
//! The dictionary holds stems. Which word of a page a stem belongs to is looked up on a page that may be shown, so a word
//! that stood only on pages which are gone is never suggested.

use crate::analyze::{Analyzers, Mode};
use crate::query::{Clause, Query};
use crate::run::{Hidden, Request, languages, search};
use crate::schema::{self, head};
use crate::split::Split;
use crate::{Results, SearchError};
use curlew_model::Timestamp;
use std::collections::HashMap;
use tantivy::query::FuzzyTermQuery;
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocSet, TERMINATED, Term};

/// Shorter words have too many neighbours, in characters.
const SHORTEST: usize = 4;
/// From this length on a word may have two wrong letters, in characters.
const LONG: usize = 8;
/// Longer words are not looked up, in characters.
const LONGEST: usize = 32;
/// A word that this many pages have is taken for what was meant.
const KNOWN_FROM: u64 = 3;
/// A known word is doubted only if the other one is on so many times as many pages.
const MORE_BY: u64 = 20;
/// A slip in the ending of a word keeps the ending on its stem, so stems are looked up without so many last letters too.
const ENDING: usize = 4;
/// Similar stems that are looked at closely.
const CLOSE_LOOKS: usize = 6;
/// Pages of one stem that are read for a word.
const PAGES_READ: usize = 2;
/// So much of a page's text is read for a word, in bytes.
const TEXT_READ: usize = 16 * 1024;
/// With this many results nobody needs a suggestion.
const ENOUGH: u64 = 3;

/// The query as it may have been meant, if that finds more than it did; `text` is what [`Query::read`] was given, and
/// `found` how many pages that query finds.
///
/// # Errors
/// If a split cannot be read.
pub fn suggest(
    splits: &[&Split],
    hidden: &Hidden,
    (text, query): (&str, &Query),
    found: u64,
    now: Timestamp,
) -> Result<Option<String>, SearchError> {
    if found >= ENOUGH {
        return Ok(None);
    }
    let mut words = Lookup { splits, hidden, analyzers: Analyzers::default(), query };
    let mut meant = String::new();
    let mut done = 0;
    for clause in &query.wanted {
        let Some(word) = words.meant(clause)? else { continue };
        let Some(before) = text.get(done..clause.at.start) else { continue };
        meant.push_str(before);
        meant.push_str(&word);
        done = clause.at.end;
    }
    if done == 0 {
        return Ok(None);
    }
    meant.push_str(text.get(done..).unwrap_or_default());
    let (query, _) = Query::read(&meant);
    let request = Request { query: &query, limit: 0, offset: 0, after: None, now };
    let Results { total, .. } = search(splits, hidden, request)?;
    Ok((total > found).then_some(meant))
}

struct Lookup<'a> {
    splits: &'a [&'a Split],
    hidden: &'a Hidden,
    analyzers: Analyzers,
    query: &'a Query,
}

/// A stem of the index that is like one of the query.
struct Neighbour {
    field: Field,
    stem: String,
    /// Pages that have it in the split in which most do.
    pages: u64,
    distance: usize,
}

impl Lookup<'_> {
    /// The word that was meant by a clause of one word.
    fn meant(&mut self, clause: &Clause) -> Result<Option<String>, SearchError> {
        let word = clause.text.to_lowercase();
        let length = word.chars().count();
        if !(SHORTEST..=LONGEST).contains(&length) || !word.chars().all(char::is_alphabetic) {
            return Ok(None);
        }
        let Some(fields) = self.splits.first().map(|split| *split.fields()) else { return Ok(None) };
        let fields = [fields.title, fields.body];
        let mut stems = Vec::new();
        for language in languages(self.splits, self.query) {
            let words = self.analyzers.of(&language).words(&word, Mode::Query);
            let [only] = words.as_slice() else { return Ok(None) };
            stems.push(only.form.clone());
            stems.extend(only.other.clone());
        }
        stems.sort();
        stems.dedup();
        let mut known = 0;
        for stem in &stems {
            for field in fields {
                known = self.pages_with(&Term::from_field_text(field, stem))?.max(known);
            }
        }
        if known >= KNOWN_FROM {
            return Ok(None);
        }
        let most = if length < LONG { 1 } else { 2 };
        let mut near = self.neighbours(&stems, fields, most)?;
        near.retain(|other| other.pages > known.saturating_mul(MORE_BY));
        near.sort_by(|a, b| a.distance.cmp(&b.distance).then(b.pages.cmp(&a.pages)).then_with(|| a.stem.cmp(&b.stem)));
        let mut best: Option<(usize, String)> = None;
        for other in near.iter().take(CLOSE_LOOKS) {
            let found = self.word_of(other, &word)?.filter(|found| *found != word);
            // One more than for the stem, since the two may be inflected differently.
            let found = found.map(|found| (distance(&word, &found), found)).filter(|(apart, _)| *apart <= most + 1);
            best = match (best, found) {
                (Some(best), Some(found)) if found.0 < best.0 => Some(found),
                (None, found) => found,
                (best, _) => best,
            };
        }
        Ok(best.map(|(_, word)| word))
    }

    fn pages_with(&self, term: &Term) -> Result<u64, SearchError> {
        self.splits.iter().map(|split| Ok(split.searcher().doc_freq(term)?)).sum()
    }

    fn neighbours(&self, stems: &[String], fields: [Field; 2], most: usize) -> Result<Vec<Neighbour>, SearchError> {
        let mut near: HashMap<(Field, String), (u64, usize)> = HashMap::new();
        for stem in stems {
            let letters = stem.chars().count();
            for cut in 0..=ENDING.min(letters.saturating_sub(SHORTEST)) {
                let begin: String = stem.chars().take(letters - cut).collect();
                let slips = if cut == 0 { most } else { 1 };
                for field in fields {
                    let query = FuzzyTermQuery::new(Term::from_field_text(field, &begin), slips as u8, true);
                    for split in self.splits {
                        let inverted = split.segment().inverted_index(field)?;
                        let mut terms = inverted.terms().search(query.automaton()?).into_stream()?;
                        while terms.advance() {
                            let Ok(other) = std::str::from_utf8(terms.key()) else { continue };
                            let known = near.entry((field, other.to_owned())).or_insert((0, usize::MAX));
                            known.0 = known.0.max(u64::from(terms.value().doc_freq));
                            known.1 = known.1.min(distance(stem, other));
                        }
                    }
                }
            }
        }
        let near = near.into_iter().filter(|((_, stem), _)| !stems.contains(stem));
        Ok(near.map(|((field, stem), (pages, distance))| Neighbour { field, stem, pages, distance }).collect())
    }

    /// The word with this stem that is most like another word, on one of the pages that may be shown.
    fn word_of(&mut self, of: &Neighbour, like: &str) -> Result<Option<String>, SearchError> {
        let term = Term::from_field_text(of.field, &of.stem);
        let mut best: Option<(usize, String)> = None;
        let mut read = 0;
        for split in self.splits {
            let dead = split.dead(self.hidden)?;
            let inverted = split.segment().inverted_index(of.field)?;
            let Some(mut postings) = inverted.read_postings(&term, IndexRecordOption::Basic)? else { continue };
            while postings.doc() != TERMINATED && read < PAGES_READ {
                let doc = postings.doc();
                postings.advance();
                if dead.contains(doc) {
                    continue;
                }
                read += 1;
                let record = split.record(doc)?;
                let text = if of.field == split.fields().title { &record.title } else { head(&record.text, TEXT_READ) };
                let language = schema::primary_language(record.language.as_deref());
                for word in self.analyzers.of(&language).words(text, Mode::Index) {
                    if word.form == of.stem || word.other.as_ref() == Some(&of.stem) {
                        let word = text[word.span].to_lowercase();
                        let apart = distance(like, &word);
                        if best.as_ref().is_none_or(|(least, _)| apart < *least) {
                            best = Some((apart, word));
                        }
                    }
                }
            }
        }
        Ok(best.map(|(_, word)| word))
    }
}

/// How many letters have to be put in, left out, changed, or swapped with their neighbour, each place touched once
/// (optimal string alignment).
fn distance(one: &str, two: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (one.chars().collect(), two.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut row = Vec::with_capacity(b.len() + 1);
        row.push(i + 1);
        for (j, y) in b.iter().enumerate() {
            let mut least = (last[j] + usize::from(x != y)).min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *x == b[j - 1] && a[i - 1] == *y {
                least = least.min(before[j - 1] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut last, row);
    }
    last.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_count_slips_of_the_fingers() {
        for (one, two, apart) in [
            ("", "abc", 3),
            ("curlew", "curlew", 0),
            ("curlw", "curlew", 1),
            ("crulew", "curlew", 1),
            ("kurlew", "curlew", 1),
            ("estuaries", "estuary", 3),
            ("città", "citta", 1),
        ] {
            assert_eq!(distance(one, two), apart, "{one} {two}");
            assert_eq!(distance(two, one), apart, "{two} {one}");
        }
    }
}
