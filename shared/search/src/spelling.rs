//! What somebody may have meant: a word that no page has, in place of which a similar one is found in the index.
//!
//! The dictionary holds stems. Which word of a page a stem belongs to is looked up on a page that may be shown, so a word
//! that stood only on pages which are gone is never suggested.

use crate::analyze::{Analyzers, Mode};
use crate::plan::languages;
use crate::query::{Clause, Query};
use crate::run::{Hidden, Request, search};
use crate::schema::{self, head};
use crate::split::Split;
use crate::tokens::{MARK, form_and_rules, term_text};
use crate::{Results, SearchError};
use curlew_model::Timestamp;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use strsim::osa_distance as distance;
use tantivy::query::FuzzyTermQuery;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocSet, TERMINATED, Term};
use tantivy_fst::Automaton;

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
/// Stems that stand in for one word.
const STAND_INS: usize = 3;
/// Similar stems that are looked at closely.
const CLOSE_LOOKS: usize = 6;
/// Pages of one stem that are read for a word.
const PAGES_READ: usize = 2;
/// So much of a page's text is read for a word, in bytes.
const TEXT_READ: usize = 16 * 1024;
/// With this many results nobody needs a suggestion.
const ENOUGH: u64 = 3;
/// So many words of a query are doubted: looking for similar ones is dear.
pub(crate) const DOUBTED: usize = 3;

/// The query as it may have been meant, if that finds more than it did; `text` is what [`Query::read`] was given, and
/// `found` how many pages have all words of that query.
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
    let mut words = Lookup { splits, hidden, analyzers: Analyzers::default(), languages: languages(splits, query) };
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
    let is_better = total > found || (found == 0 && partial > 0 && unknown.is_empty());
    Ok(is_better.then_some(meant))
}

struct Lookup<'a> {
    splits: &'a [&'a Split],
    hidden: &'a Hidden,
    analyzers: Analyzers,
    languages: BTreeSet<String>,
}

/// A stem by the rules of a language.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Stem {
    pub(crate) rules: String,
    form: String,
}

impl Stem {
    pub(crate) fn term(&self, split: &Split) -> Term {
        Term::from_field_text(split.fields().body, &term_text(&self.form, &self.rules))
    }
}

/// A stem of the index that is like one of the query.
struct Neighbour {
    stem: Stem,
    /// Pages that have it in the split in which most do.
    pages: u64,
    distance: usize,
}

/// The stems that stand nearest to those of a word that is in no page, of pages in any of some languages.
pub(crate) fn stand_ins<'a>(
    splits: &[&Split],
    languages: impl IntoIterator<Item = &'a String>,
    word: &str,
    analyzers: &mut Analyzers,
) -> Result<Vec<Stem>, SearchError> {
    let word = word.to_lowercase();
    let stems = stems_of(&word, languages, analyzers);
    let mut near = neighbours(splits, &stems, most_slips(&word))?;
    let nearest = near.first().map(|first| first.distance);
    near.retain(|other| Some(other.distance) == nearest);
    near.truncate(STAND_INS);
    Ok(near.into_iter().map(|near| near.stem).collect())
}

/// The stems of a word that may be a slip of the fingers, in some languages; none of any other word.
fn stems_of<'a>(word: &str, languages: impl IntoIterator<Item = &'a String>, analyzers: &mut Analyzers) -> Vec<Stem> {
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

/// How many slips a word may have.
fn most_slips(word: &str) -> usize {
    if word.chars().count() < LONG { 1 } else { 2 }
}

/// Stems of the index that are like some others, the nearest first, and of equals those of the most pages.
fn neighbours(splits: &[&Split], stems: &[Stem], most: usize) -> Result<Vec<Neighbour>, SearchError> {
    // What is looked up, with how many slips, and whose stem it is: one look at the dictionary finds those of all languages.
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
    let mut near: Vec<_> = near.map(|(stem, (pages, distance))| Neighbour { stem, pages, distance }).collect();
    near.sort_by(|a, b| a.distance.cmp(&b.distance).then(b.pages.cmp(&a.pages)).then_with(|| a.stem.cmp(&b.stem)));
    Ok(near)
}

/// Finds the terms whose form another automaton finds, whatever language stands behind it ([`term_text`]).
struct InAnyLanguage<A>(A);

/// How far [`InAnyLanguage`] has read a term.
#[derive(Clone)]
enum Reading<S> {
    Form(S),
    Language,
    Wrong,
}

impl<A: Automaton> Automaton for InAnyLanguage<A>
where
    A::State: Clone,
{
    type State = Reading<A::State>;

    fn start(&self) -> Self::State {
        Reading::Form(self.0.start())
    }

    fn is_match(&self, state: &Self::State) -> bool {
        match state {
            Reading::Form(state) => self.0.is_match(state),
            Reading::Language => true,
            Reading::Wrong => false,
        }
    }

    fn can_match(&self, state: &Self::State) -> bool {
        match state {
            Reading::Form(state) => self.0.can_match(state),
            Reading::Language => true,
            Reading::Wrong => false,
        }
    }

    fn accept(&self, state: &Self::State, byte: u8) -> Self::State {
        match state {
            Reading::Form(form) if byte != MARK as u8 => Reading::Form(self.0.accept(form, byte)),
            Reading::Form(form) if !self.0.is_match(form) => Reading::Wrong,
            Reading::Form(_) | Reading::Language => Reading::Language,
            Reading::Wrong => Reading::Wrong,
        }
    }
}

impl Lookup<'_> {
    /// The word that was meant by a clause of one word; counts the words that are doubted.
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
        let mut near = neighbours(self.splits, &stems, most)?;
        near.retain(|other| other.pages > known.saturating_mul(MORE_BY));
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

    fn pages_with(&self, stem: &Stem) -> Result<u64, SearchError> {
        self.splits.iter().map(|split| Ok(split.searcher().doc_freq(&stem.term(split))?)).sum()
    }

    /// The word with this stem that is most like another word, on one of the pages that may be shown.
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
