//! Translates a query into terms of the index: words and phrases in each language's forms, and the required ones.

mod forms;
mod parts;
mod written;

use crate::MAX_QUERY_TERMS;
use crate::analyze::{Analyzers, compared, rules};
use crate::bits::{Bits, bits};
use crate::budget::Unread;
use crate::error::Result;
use crate::hidden::Hidden;
use crate::query::{Filters, Query};
use crate::schema::{Fields, id_term};
use crate::split::Split;
use crate::statistics::Statistics;
use crate::tokens::term_text;
use forms::{forms_in, joined_words};
use parts::{Wanted, parts};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{BitSet, Term};
pub(crate) use written::Written;
use written::text_of;

/// Minimum number of stop words in a query that counts as a sentence; the next constant is that of other words.
const SENTENCE_STOP_WORDS: usize = 2;
const SENTENCE_WORDS: usize = 3;

pub(crate) struct Plan {
    /// Words and phrases that are scored; the index of each is its bit.
    pub(crate) units: Vec<Unit>,
    pub(crate) typed: Vec<Typed>,
    /// Languages by whose rules pages were indexed, with the units that a page in each must have.
    pub(crate) languages: Vec<Language>,
    unwanted: Vec<Unit>,
    filters: Vec<Filter>,
    left_out: Vec<Filter>,
    /// Words and phrases of which at least a part is not searched, as typed.
    pub(crate) too_common: Vec<String>,
    without_positions: BTreeSet<String>,
}

pub(crate) struct Language {
    /// Name of its rules ([`rules`]).
    pub(crate) rules: String,
    /// Units that a page in it must have to be found: phrases, and words after a `+`.
    pub(crate) strict: Bits,
    /// Units that a page in it must have to count as having all words: all but stop words, if there are others.
    pub(crate) required: Bits,
    /// Units that are stop words of the language, or of one that makes the query a sentence.
    pub(crate) stop_words: Bits,
    /// Units that are stop words of the language itself.
    pub(crate) own_stop_words: Bits,
}

/// A word or a phrase as typed. A run of a script without spaces is one of them, although each of its pairs is a unit.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Typed {
    pub(crate) text: String,
    pub(crate) units: Bits,
}

pub(crate) struct Unit {
    /// Text as typed, or a pair of characters of it.
    pub(crate) text: String,
    /// Number of times that it was typed, by which its weight is multiplied.
    pub(crate) times: u32,
    pub(crate) written: Vec<Written>,
}

/// Filter that a page passes if any of these matches.
struct Filter(Vec<Written>);

impl Filter {
    fn docs(&self, split: &Split) -> Result<BitSet> {
        let mut docs = BitSet::with_max_value(split.max_doc());
        self.0.iter().try_for_each(|any| any.insert_docs(split, &mut docs))?;
        Ok(docs)
    }
}

impl Plan {
    pub(crate) fn new(query: &Query, languages: BTreeSet<String>, fields: &Fields, analyzers: &mut Analyzers) -> Plan {
        let languages: Vec<String> = languages.into_iter().collect();
        let mut words = Words { fields, languages: &languages, analyzers };
        let (wanted, typed) = parts(&query.wanted);
        let own_stop_words: Vec<Bits> = languages.iter().map(|language| words.stop_words(&wanted, language)).collect();
        // For a page of unknown language, or of one without rules, the stop words of all languages here count as stop
        // words; for other pages those of the page's language, and of languages in which the query is a sentence.
        let is_sentence_in = |stop_words: &&Bits| {
            let stop_words = stop_words.count();
            stop_words >= SENTENCE_STOP_WORDS && wanted.len() - stop_words >= SENTENCE_WORDS
        };
        let none = Bits::default();
        let of_sentence = own_stop_words.iter().filter(is_sentence_in).fold(none, |all, of| all | *of);
        let anywhere = own_stop_words.iter().fold(none, |all, of| all | *of);
        let mut units: Vec<Unit> = wanted.iter().map(|word| words.unit(&word.text, word.times)).collect();
        words.join(&mut units, &joined_words(&query.wanted));
        let unwanted = query.unwanted.iter().map(|clause| words.unit(&clause.text, 1)).collect();
        let [mut filters, left_out] = [&query.only, &query.except].map(|given| words.filters(given));
        if !query.pages.is_empty() {
            let pages = query.pages.iter().map(|id| id_term(fields, id));
            filters.push(Filter(vec![Written::Word(pages.collect())]));
        }
        let strict = bits(wanted.iter().map(|word| word.must));
        let languages = languages.into_iter().enumerate().zip(own_stop_words);
        let languages = languages.map(|((number, rules), own_stop_words)| {
            let required = bits(units.iter().map(|unit| !unit.written[number].is_empty()));
            let stop_words = own_stop_words | if rules.is_empty() { anywhere } else { of_sentence };
            let telling = required - stop_words;
            let required = strict | if telling.is_empty() { required } else { telling };
            Language { rules, strict, required, stop_words, own_stop_words }
        });
        let languages: Vec<Language> = languages.collect();
        // Unrequired words are stop words, which nearly every page has: they are not even looked up.
        for (bit, unit) in units.iter_mut().enumerate() {
            for (written, language) in unit.written.iter_mut().zip(&languages) {
                if !language.required.contains(bit) {
                    *written = Written::Word(Vec::new());
                }
            }
        }
        let (too_common, without_positions) = Default::default();
        Plan { units, typed, languages, unwanted, filters, left_out, too_common, without_positions }
    }

    pub(crate) fn stop_words(&self) -> Bits {
        self.languages.iter().fold(Bits::default(), |all, language| all | language.stop_words)
    }

    /// True if a page must have a word, or a part of it, to be found.
    pub(crate) fn is_strict(&self, word: &Typed) -> bool {
        self.languages.iter().any(|language| !(language.strict & word.units).is_empty())
    }

    /// Returns the required words that a page lacks, given the units that it has. Most pairs of a run count as the run.
    pub(crate) fn lacked(&self, language: u8, has: Bits) -> impl Iterator<Item = &Typed> {
        let required = self.languages.get(usize::from(language)).map(|language| language.required).unwrap_or_default();
        let lacks = move |word: &&Typed| {
            let (all, missing) = (required & word.units, (required & word.units) - has);
            !missing.is_empty() && 2 * missing.count() >= all.count()
        };
        self.typed.iter().filter(lacks)
    }

    /// Adds the stems that start with a beginning of a word (`tid*`) to its units.
    pub(crate) fn spell_out(&mut self, word: &str, stems: &[Stem], fields: &Fields) {
        for unit in self.units.iter_mut().chain(&mut self.unwanted).filter(|unit| unit.text == word) {
            for (written, language) in unit.written.iter_mut().zip(&self.languages) {
                if let Written::Word(terms) = written
                    && !terms.is_empty()
                {
                    terms.extend(terms_of(stems, language, fields));
                    terms.sort_unstable();
                    terms.dedup();
                }
            }
        }
    }

    /// Adds stems to search for in place of a word that no page has. Stems add to scores, and never count as missing.
    pub(crate) fn stand_in(&mut self, word: &str, stems: &[Stem], fields: &Fields) {
        let written = |language: &Language| Written::Word(terms_of(stems, language, fields));
        if self.units.len() < MAX_QUERY_TERMS && !stems.is_empty() {
            let written = self.languages.iter().map(written).collect();
            self.units.push(Unit { text: like(word), times: 1, written });
        }
    }

    pub(crate) fn has_stand_in(&self, word: &Typed, has: Bits) -> bool {
        let name = like(&word.text);
        self.units.iter().enumerate().any(|(bit, unit)| has.contains(bit) && unit.text == name)
    }

    /// Leaves out words that are not read. In phrases, any word matches in their places.
    pub(crate) fn leave_unread(&mut self, unread: &Unread) {
        if unread.is_empty() {
            return;
        }
        let number_of_terms = |unit: &Unit| unit.written.iter().flat_map(Written::terms).count();
        for unit in &mut self.units {
            let before = number_of_terms(unit);
            unit.written.iter_mut().for_each(|written| written.leave_unread(unread));
            if number_of_terms(unit) < before {
                self.too_common.push(unit.text.clone());
            }
        }
        for (number, language) in self.languages.iter_mut().enumerate() {
            let gone = bits(self.units.iter().map(|unit| unit.written[number].is_empty()));
            language.required = language.required - gone;
            language.strict = language.strict - gone;
        }
        self.unwanted.retain(|unit| {
            // With fewer words, an excluded phrase would exclude more pages.
            let is_unread = unit.written.iter().any(|written| {
                let is_phrase = matches!(written, Written::Phrase(_));
                let mut texts = written.terms().filter_map(text_of);
                texts.any(|text| unread.postings.contains(text) || (is_phrase && unread.positions.contains(text)))
            });
            if is_unread {
                self.too_common.push(unit.text.clone());
            }
            !is_unread
        });
        self.without_positions.clone_from(&unread.positions);
    }

    /// True if the positions of a term are read: those of phrases, and of scored words if there are several units.
    pub(crate) fn reads_positions(&self, written: &Written, is_scored: bool, term: &Term) -> bool {
        let are_needed = matches!(written, Written::Phrase(_)) || (is_scored && self.units.len() > 1);
        are_needed && text_of(term).is_none_or(|text| !self.without_positions.contains(text))
    }

    /// Returns the words and phrases that are searched for in titles and texts, with true for those that are scored.
    fn written(&self) -> impl Iterator<Item = (&Written, bool)> {
        let scored = self.units.iter().flat_map(|unit| &unit.written).map(|written| (written, true));
        scored.chain(self.unwanted.iter().flat_map(|unit| &unit.written).map(|written| (written, false)))
    }

    /// Returns how often the positions of each term are read, by the term's text.
    pub(crate) fn reads(&self) -> BTreeMap<String, u64> {
        let mut reads = BTreeMap::new();
        for (written, is_scored) in self.written() {
            for term in written.terms() {
                let Some(text) = text_of(term) else { continue };
                *reads.entry(text.to_owned()).or_default() += u64::from(self.reads_positions(written, is_scored, term));
            }
        }
        reads
    }

    /// Returns the words whose stems occur on pages in several languages, in the form of [`compared`].
    pub(crate) fn ambiguous_words(&self, statistics: &Statistics) -> BTreeSet<String> {
        let is_ambiguous = |unit: &&Unit| {
            let written = unit.written.iter().zip(&self.languages).filter(|(_, language)| !language.rules.is_empty());
            written.filter(|(written, _)| written.is_known(statistics)).count() > 1
        };
        self.units.iter().filter(is_ambiguous).filter_map(|unit| compared(&unit.text)).collect()
    }

    /// Returns the documents of a split that may be found: not hidden, and passing all filters.
    pub(crate) fn allowed(&self, split: &Split, hidden: &Hidden) -> Result<Allowed> {
        let mut excluded = split.dead(hidden)?;
        let unwanted = self.unwanted.iter().flat_map(|unit| &unit.written);
        for unwanted in unwanted.chain(self.left_out.iter().flat_map(|filter| &filter.0)) {
            unwanted.insert_docs(split, Arc::make_mut(&mut excluded))?;
        }
        let filters = self.filters.iter().map(|filter| filter.docs(split)).collect::<Result<_, _>>()?;
        Ok(Allowed { excluded, filters })
    }

    fn filters(&self) -> impl Iterator<Item = &Written> {
        self.filters.iter().chain(&self.left_out).flat_map(|filter| &filter.0)
    }

    /// Looks up the query's terms in a split, so that missing bytes become wanted.
    pub(crate) fn look_up(&self, split: &Split) {
        let terms = self.written().map(|(written, _)| written).chain(self.filters()).flat_map(Written::terms);
        for term in terms.filter(|term| split.has(term.field())) {
            // Errors recur, and are reported, when the search runs.
            let inverted = split.segment().inverted_index(term.field());
            let _ = inverted.map(|inverted| inverted.get_term_info(term).map(drop));
        }
    }

    /// Reads from a split everything that the query needs before ranking, so that missing bytes become wanted.
    pub(crate) fn touch(&self, split: &Split) {
        for (written, is_scored) in self.written().chain(self.filters().map(|written| (written, false))) {
            for term in written.terms().filter(|term| split.has(term.field())) {
                let option = match self.reads_positions(written, is_scored, term) {
                    true => IndexRecordOption::WithFreqsAndPositions,
                    false => IndexRecordOption::WithFreqs,
                };
                let inverted = split.segment().inverted_index(term.field());
                let _ = inverted.map(|inverted| inverted.read_postings(term, option).map(drop));
            }
        }
    }

    /// Returns the forms to highlight in the snippet of a page in a language.
    pub(crate) fn marked(&self, language: &str) -> HashSet<String> {
        let number = self.languages.iter().position(|other| other.rules == rules(language));
        let written = self.units.iter().filter_map(|unit| unit.written.get(number?));
        let terms = written.flat_map(Written::terms).filter_map(|term| text_of(term).map(str::to_owned));
        terms.map(|text| crate::tokens::form_and_rules(&text).0.to_owned()).collect()
    }
}

fn terms_of(stems: &[Stem], language: &Language, fields: &Fields) -> Vec<Term> {
    let stems = stems.iter().filter(|stem| stem.rules == language.rules);
    stems.map(|stem| Term::from_field_text(fields.body, &stem.text())).collect()
}

/// Returns the name of the unit that stands in for a word.
fn like(word: &str) -> String {
    format!("like {word}")
}

pub(crate) struct Allowed {
    excluded: Arc<BitSet>,
    filters: Vec<BitSet>,
}

impl Allowed {
    pub(crate) fn contains(&self, doc: u32) -> bool {
        !self.excluded.contains(doc) && self.filters.iter().all(|filter| filter.contains(doc))
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Stem {
    pub(crate) rules: String,
    pub(crate) form: String,
}

impl Stem {
    /// Returns the text of the stem's term in the field of titles and texts.
    pub(crate) fn text(&self) -> String {
        term_text(&self.form, &self.rules)
    }
}

/// Returns the rules by which words are stemmed: those of the languages in `there` that the query allows, and none.
pub(crate) fn languages<'a>(there: impl IntoIterator<Item = &'a String>, query: &Query) -> BTreeSet<String> {
    let (only, except) = (&query.only.languages, &query.except.languages);
    let is_asked = |language: &&String| (only.is_empty() || only.contains(*language)) && !except.contains(*language);
    there.into_iter().filter(is_asked).map(|language| rules(language).to_owned()).chain([String::new()]).collect()
}

struct Words<'a> {
    fields: &'a Fields,
    languages: &'a [String],
    analyzers: &'a mut Analyzers,
}

impl Words<'_> {
    fn unit(&mut self, text: &str, times: u32) -> Unit {
        Unit { text: text.to_owned(), times, written: self.written_in(self.fields.body, text) }
    }

    /// Returns the forms of a word or a phrase in a field, in each language.
    fn written_in(&mut self, field: Field, text: &str) -> Vec<Written> {
        let languages = self.languages.iter();
        languages.map(|rules| Written::new(field, forms_in(self.analyzers, rules, text), rules)).collect()
    }

    /// Adds to each word the forms of the single word that it and a neighbour may be written as.
    fn join(&mut self, units: &mut [Unit], joined: &BTreeMap<String, BTreeSet<String>>) {
        for unit in units {
            for whole in joined.get(&unit.text.to_lowercase()).into_iter().flatten() {
                let wholes = self.written_in(self.fields.body, whole);
                for (written, whole) in unit.written.iter_mut().zip(wholes) {
                    if let (Written::Word(terms), Written::Word(more)) = (written, whole)
                        && !terms.is_empty()
                    {
                        terms.extend(more);
                    }
                }
            }
        }
    }

    /// Returns one filter each for authors, sites and languages, which any value passes, and one per title and label.
    fn filters(&mut self, given: &Filters) -> Vec<Filter> {
        let Fields { host, language, label, title, author, .. } = *self.fields;
        let exact = |field: Field, text: &String| Written::Word(vec![Term::from_field_text(field, text)]);
        // A name has no stems, and is the same in all languages.
        let author = |name: &String| Written::new(author, forms_in(self.analyzers, "", name), "");
        let authors = given.authors.iter().map(author).collect();
        let sites = given.sites.iter().map(|name| exact(host, name)).collect();
        let languages = given.languages.iter().map(|name| exact(language, name)).collect();
        let mut filters = vec![Filter(authors), Filter(sites), Filter(languages)];
        filters.retain(|filter| !filter.0.is_empty());
        filters.extend(given.titles.iter().map(|text| Filter(self.written_in(title, text))));
        filters.extend(given.labels.iter().map(|name| Filter(vec![exact(label, name)])));
        filters
    }

    fn stop_words(&mut self, wanted: &[Wanted], language: &str) -> Bits {
        let analyzer = self.analyzers.for_language(language);
        bits(wanted.iter().map(|word| !word.must && analyzer.is_stop_word(&word.text)))
    }
}

#[cfg(test)]
mod tests;
