//! Leaves: each answers requests about some of the splits, and a search merges what they answer.
//!
//! A search knows splits only through leaves, and merges the answers of one leaf or of many in the same way. So what is
//! found does not depend on how splits are spread over leaves: statistics are summed before anything is ranked, each leaf
//! keeps as many of its best pages as the search needs in all, and pages of results are made of what is best of all.
//!
//! [`OpenLeaf`] has its splits open in this process. A [`FarLeaf`] repeats what another process has answered; a request
//! that was not answered yet ends the search with [`SearchError::is_not_here`], and is wanted from then on, as a missing
//! part of a split is.

use crate::analyze::{Analyzers, Mode};
use crate::error::SearchError;
use crate::hidden::Hidden;
use crate::hit::{Hit, hit};
use crate::plan::{Plan, Stem, Wording};
use crate::proximity;
use crate::rank::{Candidate, Corpus, Score, Selection, rank, tally};
use crate::schema::{self, head};
use crate::spelling::{Neighbour, beginning_with, neighbours};
use crate::split::Split;
use crate::statistics::Statistics;
use curlew_model::Record;
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use strsim::osa_distance as distance;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, DocSet, TERMINATED, Term};

/// Maximum number of pages of one stem that are read for a word.
pub(crate) const PAGES_READ: usize = 2;
/// Prefix of a page's text that is read for a word, in bytes.
const TEXT_READ: usize = 16 * 1024;

/// A document: the number of its split, and its number there.
pub(crate) type Address = (usize, DocId);

/// Something that answers requests about some splits.
pub trait Leaf {
    /// Returns the numbers of its splits: their places in the order in which they were published.
    fn splits(&self) -> &[usize];

    /// Returns the languages of its pages, as [`Split::languages`].
    fn languages(&self) -> BTreeSet<String>;

    /// Answers a request.
    ///
    /// # Errors
    /// [`SearchError::is_not_here`] if something is missing that is wanted from then on: supply it, and ask again. Others if
    /// a split cannot be read.
    fn ask(&self, request: &LeafRequest) -> Result<LeafAnswer, SearchError>;
}

/// A request to a leaf.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LeafRequest(pub(crate) Ask);

/// The answer to a [`LeafRequest`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LeafAnswer(pub(crate) Answer);

/// Question to a leaf.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Ask {
    /// Number of pages that have each of some terms; the query that they belong to is about to be ranked.
    Count { terms: Vec<String>, wording: Wording },
    /// Stems that are similar to some others, by at most this number of typos, after this number of steps in each
    /// split.
    Similar { stems: Vec<Stem>, most: usize, steps: usize },
    /// Stems that begin like a word.
    Beginning { with: String },
    /// The best pages, and the number of all.
    Rank { wording: Wording, statistics: Statistics, selection: Selection },
    /// How some pages are shown.
    Show { wording: Wording, pages: Vec<Address> },
    /// Amount that each unit of the plan adds to the scores of some pages.
    Explain { wording: Wording, statistics: Statistics, pages: Vec<Address> },
    /// How words with some stems are written: each as similar as possible to a word that was typed.
    Spell { stems: Vec<(Stem, String)> },
}

/// Answers of a leaf, each to the request of the same place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Answer {
    Counted(Statistics),
    Similar(Vec<Neighbour>),
    Ranked(Ranked),
    Shown(Vec<Hit>),
    Explained(Vec<Vec<f32>>),
    Spelled(Vec<Vec<SpelledPage>>),
}

/// The best pages of a leaf.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Ranked {
    /// Number of pages that have all words, and of those that have some.
    pub(crate) total: u64,
    pub(crate) partial: u64,
    /// True if there are more pages than `best` keeps.
    pub(crate) is_cut: bool,
    /// Best of all candidates, each with its score if it is among the best of all leaves.
    pub(crate) head: Vec<(Candidate, Score)>,
    /// Best candidates after the requested place.
    pub(crate) best: Vec<Candidate>,
}

/// A page that was read for the spelling of a word: its split, and the word on it with its distance, if it is there.
pub(crate) type SpelledPage = (usize, Option<(usize, String)>);

impl Ask {
    /// True if this is the kind of answer that was asked for, and is whole.
    fn is_answered_by(&self, answer: &Answer) -> bool {
        match (self, answer) {
            (Ask::Count { .. }, Answer::Counted(_))
            | (Ask::Similar { .. } | Ask::Beginning { .. }, Answer::Similar(_))
            | (Ask::Rank { .. }, Answer::Ranked(_)) => true,
            (Ask::Show { pages, .. }, Answer::Shown(hits)) => pages.len() == hits.len(),
            (Ask::Explain { pages, .. }, Answer::Explained(shares)) => pages.len() == shares.len(),
            (Ask::Spell { stems }, Answer::Spelled(words)) => stems.len() == words.len(),
            _ => false,
        }
    }

    /// Returns the answer of a leaf that has no pages.
    fn answer_of_nobody(&self) -> Answer {
        match self {
            Ask::Count { .. } => Answer::Counted(Statistics::default()),
            Ask::Similar { .. } | Ask::Beginning { .. } => Answer::Similar(Vec::new()),
            Ask::Rank { .. } => Answer::Ranked(Ranked::default()),
            Ask::Show { .. } => Answer::Shown(Vec::new()),
            Ask::Explain { .. } => Answer::Explained(Vec::new()),
            Ask::Spell { .. } => Answer::Spelled(Vec::new()),
        }
    }

    fn wording(&self) -> Option<&Wording> {
        match self {
            Ask::Count { wording, .. }
            | Ask::Rank { wording, .. }
            | Ask::Show { wording, .. }
            | Ask::Explain { wording, .. } => Some(wording),
            Ask::Similar { .. } | Ask::Beginning { .. } | Ask::Spell { .. } => None,
        }
    }
}

/// Has each of some leaves answer a request. All are asked before the first that has not answered yet ends the search.
pub(crate) fn ask_each<'a, T>(
    requests: impl IntoIterator<Item = (&'a dyn Leaf, Ask)>,
    read: impl Fn(Answer) -> Option<T>,
) -> Result<Vec<T>, SearchError> {
    let answers = requests.into_iter().map(|(leaf, ask)| leaf.ask(&LeafRequest(ask)));
    let answers: Vec<Result<LeafAnswer, SearchError>> = answers.collect();
    let other = || SearchError::Damaged { what: "answer of a leaf", reason: "it answers something else".into() };
    answers.into_iter().map(|answer| read(answer?.0).ok_or_else(other)).collect()
}

/// Asks about some pages, each the leaf that has it; returns the answers in the order of the pages, and nothing for pages
/// of a leaf that does not answer.
pub(crate) fn ask_about<T>(
    leaves: &[&dyn Leaf],
    pages: &[Address],
    ask: impl Fn(Vec<Address>) -> Ask,
    read: impl Fn(Answer) -> Option<Vec<T>>,
) -> Result<Vec<Option<T>>, SearchError> {
    let places = leaves.iter().map(|leaf| {
        let is_there = |place: &usize| leaf.splits().contains(&pages[*place].0);
        (*leaf, (0..pages.len()).filter(is_there).collect::<Vec<usize>>())
    });
    let places: Vec<(&dyn Leaf, Vec<usize>)> = places.filter(|(_, places)| !places.is_empty()).collect();
    let requests = places.iter().map(|(leaf, places)| (*leaf, ask(places.iter().map(|at| pages[*at]).collect())));
    let answers = ask_each(requests, read)?;
    let mut all: Vec<Option<T>> = pages.iter().map(|_| None).collect();
    for ((_, places), answers) in places.iter().zip(answers) {
        for (place, answer) in places.iter().zip(answers) {
            all[*place] = Some(answer);
        }
    }
    Ok(all)
}

/// A leaf whose splits are open in this process.
pub struct OpenLeaf<'a> {
    numbers: Vec<usize>,
    splits: Vec<&'a Split>,
    hidden: &'a Hidden,
    analyzers: RefCell<Analyzers>,
}

impl<'a> OpenLeaf<'a> {
    /// Creates the leaf of these splits, each with its number, in the order of their numbers.
    pub fn new(splits: impl IntoIterator<Item = (usize, &'a Split)>, hidden: &'a Hidden) -> OpenLeaf<'a> {
        let (numbers, splits) = splits.into_iter().filter(|(_, split)| split.docs() > 0).unzip();
        OpenLeaf { numbers, splits, hidden, analyzers: RefCell::default() }
    }

    fn numbered(&self) -> impl Iterator<Item = (usize, &'a Split)> {
        self.numbers.iter().copied().zip(self.splits.iter().copied())
    }

    fn split(&self, number: usize) -> Option<&'a Split> {
        self.numbered().find(|(other, _)| *other == number).map(|(_, split)| split)
    }

    /// Reads everything that a request about a plan needs, at once, so that missing bytes become wanted. Before its terms are
    /// counted, nobody knows how long their lists are, and whether they are to be read.
    fn warm(&self, ask: &Ask, plan: &Plan) {
        for split in &self.splits {
            // Errors recur, and are reported, when the search runs.
            let _ = split.dead(self.hidden);
            match ask {
                Ask::Count { .. } => plan.look_up(split),
                _ => plan.touch(split),
            }
        }
    }

    fn rank(
        &self,
        (wording, plan): (&Wording, &Plan),
        statistics: &Statistics,
        selection: &Selection,
    ) -> Result<Ranked, SearchError> {
        let corpus = Corpus::new(statistics, plan);
        let (mut all, mut head) = (Ranked::default(), Vec::new());
        for split in self.numbered() {
            let found = rank(split, (&wording.query, plan), self.hidden, &corpus, selection)?;
            all.total += found.total;
            all.partial += found.partial;
            all.is_cut |= found.best.len() >= selection.keep;
            head.extend(found.head);
            all.best.extend(found.best);
        }
        all.is_cut |= keep_best(&mut all.best, selection.keep);
        // Only the best of all leaves gain by their words' being near each other, and those are among these.
        keep_best(&mut head, selection.head);
        let factors = proximity::factors(|number| self.split(number), plan, &head)?;
        all.head = head.iter().zip(factors).map(|(page, factor)| (*page, page.times(factor).score)).collect();
        Ok(all)
    }

    /// Returns the records of some pages. All are read before the first missing one ends the search, so that all become
    /// wanted at once.
    fn records(&self, pages: &[Address]) -> Result<Vec<Record>, SearchError> {
        let no_split = || SearchError::damaged_split("its leaf does not have it");
        let read = |(number, doc): &Address| self.split(*number).ok_or_else(no_split)?.record(*doc);
        pages.iter().map(read).collect::<Vec<_>>().into_iter().collect()
    }

    fn explain(&self, plan: &Plan, statistics: &Statistics, pages: &[Address]) -> Result<Vec<Vec<f32>>, SearchError> {
        let corpus = Corpus::new(statistics, plan);
        let mut shares = vec![vec![0.0; plan.units.len()]; pages.len()];
        for (number, split) in self.numbered() {
            let is_there = |(_, (other, _)): &(_, &Address)| *other == number;
            let mut here: Vec<(&mut Vec<f32>, &Address)> = shares.iter_mut().zip(pages).filter(is_there).collect();
            let units = if here.is_empty() { 0 } else { plan.units.len() };
            for bit in 0..units {
                let tallies = tally(split, plan, &corpus, bit..bit + 1)?;
                here.iter_mut().for_each(|(shares, (_, doc))| shares[bit] = tallies.score(*doc));
            }
        }
        Ok(shares)
    }

    /// Returns, from the first pages with a stem that may be shown, the word with this stem that is most similar to `like`.
    fn spell(&self, stem: &Stem, like: &str, analyzers: &mut Analyzers) -> Result<Vec<SpelledPage>, SearchError> {
        let mut read = Vec::new();
        for (number, split) in self.numbered() {
            let dead = split.dead(self.hidden)?;
            let body = split.fields().body;
            let term = Term::from_field_text(body, &stem.text());
            let postings = split.segment().inverted_index(body)?.read_postings(&term, IndexRecordOption::Basic)?;
            let Some(mut postings) = postings else { continue };
            while postings.doc() != TERMINATED && read.len() < PAGES_READ {
                let doc = postings.doc();
                postings.advance();
                if !dead.contains(doc) {
                    read.push((number, word_of(&split.record(doc)?, stem, like, analyzers)));
                }
            }
        }
        Ok(read)
    }
}

impl Leaf for OpenLeaf<'_> {
    fn splits(&self) -> &[usize] {
        &self.numbers
    }

    fn languages(&self) -> BTreeSet<String> {
        self.splits.iter().flat_map(|split| split.languages()).cloned().collect()
    }

    fn ask(&self, request: &LeafRequest) -> Result<LeafAnswer, SearchError> {
        let LeafRequest(ask) = request;
        let analyzers = &mut *self.analyzers.borrow_mut();
        let answer = match ask {
            Ask::Count { terms, .. } => Statistics::of(&self.splits, terms).map(Answer::Counted),
            Ask::Similar { stems, most, steps } => neighbours(&self.splits, stems, *most, *steps).map(Answer::Similar),
            Ask::Beginning { with } => beginning_with(&self.splits, with).map(Answer::Similar),
            Ask::Rank { wording, statistics, selection } => {
                let plan = wording.plan(analyzers);
                self.rank((wording, &plan), statistics, selection).map(Answer::Ranked)
            }
            Ask::Show { wording, pages } => self.records(pages).map(|records| {
                let plan = wording.plan(analyzers);
                Answer::Shown(records.into_iter().map(|record| hit(record, pages.len(), &plan, analyzers)).collect())
            }),
            Ask::Explain { wording, statistics, pages } => {
                self.explain(&wording.plan(analyzers), statistics, pages).map(Answer::Explained)
            }
            Ask::Spell { stems } => {
                let words = stems.iter().map(|(stem, like)| self.spell(stem, like, analyzers));
                words.collect::<Result<_, _>>().map(Answer::Spelled)
            }
        };
        if let (Err(_), Some(wording)) = (&answer, ask.wording()) {
            self.warm(ask, &wording.plan(analyzers));
        }
        answer.map(LeafAnswer)
    }
}

/// Sorts candidates, the best first, and keeps at most `most` of them; returns true if there were more.
pub(crate) fn keep_best(candidates: &mut Vec<Candidate>, most: usize) -> bool {
    candidates.sort_unstable_by_key(|candidate| Reverse(*candidate));
    let is_cut = candidates.len() > most;
    candidates.truncate(most);
    is_cut
}

/// Returns the word of a page with a stem that is most similar to `like`, and its distance.
fn word_of(record: &Record, stem: &Stem, like: &str, analyzers: &mut Analyzers) -> Option<(usize, String)> {
    let mut best: Option<(usize, String)> = None;
    let language = schema::primary_language(record.language.as_deref());
    let author = record.author.as_deref().unwrap_or_default();
    for text in [&record.title, author, head(&record.text, TEXT_READ)] {
        analyzers.of(&language).each(text, Mode::Index, &mut |word| {
            if word.form == stem.form || word.other == Some(&stem.form) {
                let word = text[word.span].to_lowercase();
                let apart = distance(like, &word);
                if best.as_ref().is_none_or(|(least, _)| apart < *least) {
                    best = Some((apart, word));
                }
            }
        });
    }
    best
}

/// A leaf in another process, as far as it has answered.
pub struct FarLeaf {
    splits: Vec<usize>,
    languages: BTreeSet<String>,
    state: Mutex<FarState>,
}

#[derive(Default)]
struct FarState {
    answers: Vec<(LeafRequest, LeafAnswer)>,
    wanted: Vec<LeafRequest>,
    is_lost: bool,
}

impl FarLeaf {
    /// Creates the leaf of the splits of these numbers, whose pages have these languages. It has not answered anything.
    pub fn new(splits: Vec<usize>, languages: BTreeSet<String>) -> FarLeaf {
        FarLeaf { splits, languages, state: Mutex::default() }
    }

    /// Returns the requests that a search has made in vain, and forgets them: have them answered, and
    /// [supply](FarLeaf::supply) the answers.
    pub fn wanted(&self) -> Vec<LeafRequest> {
        std::mem::take(&mut self.state().wanted)
    }

    /// Accepts the answers to some requests; returns false if they are not the answers to these.
    #[must_use]
    pub fn supply(&self, requests: Vec<LeafRequest>, answers: Vec<LeafAnswer>) -> bool {
        let are_answers = requests.len() == answers.len()
            && requests.iter().zip(&answers).all(|(request, answer)| request.0.is_answered_by(&answer.0));
        if are_answers {
            self.state().answers.extend(requests.into_iter().zip(answers));
        }
        are_answers
    }

    /// Gives the leaf up: from now on it answers as if it had no pages. What it has answered before stays.
    pub fn lose(&self) {
        self.state().is_lost = true;
    }

    /// True if it was given up.
    pub fn is_lost(&self) -> bool {
        self.state().is_lost
    }

    fn state(&self) -> MutexGuard<'_, FarState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Leaf for FarLeaf {
    fn splits(&self) -> &[usize] {
        &self.splits
    }

    fn languages(&self) -> BTreeSet<String> {
        self.languages.clone()
    }

    fn ask(&self, request: &LeafRequest) -> Result<LeafAnswer, SearchError> {
        let mut state = self.state();
        if let Some((_, answer)) = state.answers.iter().find(|(other, _)| other == request) {
            return Ok(answer.clone());
        }
        if state.is_lost {
            return Ok(LeafAnswer(request.0.answer_of_nobody()));
        }
        if !state.wanted.contains(request) {
            state.wanted.push(request.clone());
        }
        Err(SearchError::not_here("a leaf has not answered yet"))
    }
}
