//! Suggests the query that somebody may have meant.
//!
//! The dictionary holds stems. The word behind a stem is looked up on a page that may be shown, so a word that occurred
//! only on deleted pages is never suggested.

use crate::analyze::{Analyzers, Mode};
use crate::error::SearchError;
use crate::hidden::Hidden;
use crate::plan::{Stem, languages};
use crate::query::{Clause, Query};
use crate::run::{Request, Results, search};
use crate::schema::{self, head};
use crate::spelling::{DOUBTED, Neighbour, most_slips, neighbours, stems_of};
use crate::split::Split;
use curlew_model::Timestamp;
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use strsim::osa_distance as distance;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocSet, TERMINATED};

/// Number of pages from which a word counts as spelled as intended.
const KNOWN_FROM: u64 = 3;
/// Minimum ratio of pages with the other word to pages with the typed word, for a suggestion.
const MORE_BY: u64 = 20;
/// Maximum number of similar stems that are examined closely.
const CLOSE_LOOKS: usize = 6;
/// Maximum number of pages of one stem that are read for a word.
const PAGES_READ: usize = 2;
/// Prefix of a page's text that is read for a word, in bytes.
const TEXT_READ: usize = 16 * 1024;
/// Number of results from which nobody needs a suggestion.
const ENOUGH: u64 = 3;

/// Returns the query that may have been meant, if it finds more than the original; `text` is the input of
/// [`Query::read`], and `found` the results of that query.
///
/// # Errors
/// If a split cannot be read.
pub fn suggest(
    splits: &[&Split],
    hidden: &Hidden,
    (text, query): (&str, &Query),
    found: &Results,
    now: Timestamp,
) -> Result<Option<String>, SearchError> {
    if found.total >= ENOUGH {
        return Ok(None);
    }
    let (analyzers, languages) = (Analyzers::default(), languages(splits, query));
    let mut words = Lookup { splits, hidden, neighbours: &found.neighbours, analyzers, languages };
    let mut meant = String::new();
    let (mut done, mut doubted) = (0, 0);
    for clause in &query.wanted {
        let Some(word) = words.meant(clause, &mut doubted)? else { continue };
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
    let Results { total, partial, unknown, .. } = search(splits, hidden, Request::new(&query, 0, now))?;
    let is_better = total > found.total || (found.total == 0 && partial > 0 && unknown.is_empty());
    Ok(is_better.then_some(meant))
}

struct Lookup<'a> {
    splits: &'a [&'a Split],
    hidden: &'a Hidden,
    /// Similar stems that the search has looked up already.
    neighbours: &'a HashMap<String, Vec<Neighbour>>,
    analyzers: Analyzers,
    languages: BTreeSet<String>,
}

impl Lookup<'_> {
    /// Returns the word that was meant by a clause of one word; counts the words that are checked in `doubted`.
    fn meant(&mut self, clause: &Clause, doubted: &mut usize) -> Result<Option<String>, SearchError> {
        let word = clause.text.to_lowercase();
        let stems = stems_of(&word, &self.languages, &mut self.analyzers);
        let mut known = 0;
        for stem in &stems {
            known = self.pages_with(stem)?.max(known);
        }
        if stems.is_empty() || known >= KNOWN_FROM || *doubted >= DOUBTED {
            return Ok(None);
        }
        *doubted += 1;
        let most = most_slips(&word);
        let near = match self.neighbours.get(&word) {
            Some(near) => Cow::Borrowed(near),
            None => Cow::Owned(neighbours(self.splits, &stems, most)?),
        };
        let common = near.iter().filter(|other| other.pages > known.saturating_mul(MORE_BY));
        let mut best: Option<(usize, String)> = None;
        for other in common.take(CLOSE_LOOKS) {
            let found = self.word_of(other, &word)?.filter(|found| *found != word);
            // One more than for the stem, since the two words may be inflected differently.
            let found = found.map(|found| (distance(&word, &found), found)).filter(|(apart, _)| *apart <= most + 1);
            best = match (best, found) {
                (Some(best), Some(found)) if found.0 < best.0 => Some(found),
                (None, found) => found,
                (best, _) => best,
            };
        }
        Ok(best.map(|(_, word)| word))
    }

    fn pages_with(&self, stem: &Stem) -> Result<u64, SearchError> {
        self.splits.iter().map(|split| Ok(split.searcher().doc_freq(&stem.term(split))?)).sum()
    }

    /// Returns the word with this stem that is most similar to `like`, from one of the pages that may be shown.
    fn word_of(&mut self, of: &Neighbour, like: &str) -> Result<Option<String>, SearchError> {
        let mut best: Option<(usize, String)> = None;
        let mut read = 0;
        for split in self.splits {
            let dead = split.dead(self.hidden)?;
            let inverted = split.segment().inverted_index(split.fields().body)?;
            let postings = inverted.read_postings(&of.stem.term(split), IndexRecordOption::Basic)?;
            let Some(mut postings) = postings else { continue };
            while postings.doc() != TERMINATED && read < PAGES_READ {
                let doc = postings.doc();
                postings.advance();
                if dead.contains(doc) {
                    continue;
                }
                read += 1;
                let record = split.record(doc)?;
                let language = schema::primary_language(record.language.as_deref());
                let author = record.author.as_deref().unwrap_or_default();
                for text in [&record.title, author, head(&record.text, TEXT_READ)] {
                    self.analyzers.of(&language).each(text, Mode::Index, &mut |word| {
                        if word.form == of.stem.form || word.other == Some(&of.stem.form) {
                            let word = text[word.span].to_lowercase();
                            let apart = distance(like, &word);
                            if best.as_ref().is_none_or(|(least, _)| apart < *least) {
                                best = Some((apart, word));
                            }
                        }
                    });
                }
            }
        }
        Ok(best.map(|(_, word)| word))
    }
}
