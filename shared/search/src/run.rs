//! Answers a query over several splits as if they were one index.

use crate::analyze::{Analyzers, Mode, rules};
use crate::collect::{Candidate, Ranking};
use crate::query::{Query, Sort};
use crate::schema::{self, Fields};
use crate::snippet::{Snippet, snippet};
use crate::split::Split;
use crate::{Cursor, Manifest, SearchError};
use curlew_model::{PageId, Record, ThumbnailId, Timestamp};
use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use tantivy::query::{
    AllQuery, Bm25StatisticsProvider, BooleanQuery, BoostQuery, ConstScoreQuery, DisjunctionMaxQuery, EmptyQuery,
    EnableScoring, PhraseQuery, Query as EngineQuery, TermQuery, TermSetQuery,
};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{BitSet, Score, Term};

/// No hit beyond this rank is given, whatever is asked for.
pub const MAX_DEPTH: usize = 10_000;
/// Texts whose fingerprints differ in no more bits are copies of each other.
pub const COPY_BITS: u32 = 10;
/// So many times as many pages are ranked as are shown, since copies are shown as one.
const RANKED: usize = 2;
/// Among so many of the best pages copies are looked for, and counted.
const GROUPED: usize = 1_000;
/// How much more a word counts in the title than in the text.
const TITLE_BOOST: Score = 2.5;

/// What must not be found, whatever is asked for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Hidden {
    /// Pages that are gone. Shared, so that a split looks them up once and not with every query: keep one [`Hidden`]
    /// for as long as its manifests stay the same.
    pub tombstones: Arc<BTreeSet<PageId>>,
    /// Blocked hosts, lower case, A-labels; what is below them is hidden too.
    pub hosts: BTreeSet<String>,
}

impl Hidden {
    /// The tombstones of some years, the pages whose time is over, and blocked hosts.
    pub fn of<'a>(
        manifests: impl IntoIterator<Item = &'a Manifest>,
        hosts: BTreeSet<String>,
        now: Timestamp,
    ) -> Hidden {
        let tombstones = manifests.into_iter().flat_map(|m| m.tombstones.iter().chain(m.expired(now)).cloned());
        Hidden { tombstones: Arc::new(tombstones.collect()), hosts }
    }
}

/// A question.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// What is looked for.
    pub query: &'a Query,
    /// Most hits.
    pub limit: usize,
    /// So many better hits are left out.
    pub offset: usize,
    /// Only what comes after the end of an earlier page of the same query; its present goes into `now`.
    pub after: Option<Cursor>,
    /// The present; pages that were to vanish before it are not found.
    pub now: Timestamp,
}

/// An answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Results {
    /// The pages that match and are not hidden, as many as can be given: pages that say the same count as one. A page that
    /// lies in two splits, because a job ran twice, is given once; it is counted once if both are among the best.
    pub total: u64,
    /// How many pages match besides, which say the same as one that is counted.
    pub copies: u64,
    /// The best ones.
    pub hits: Vec<Hit>,
    /// Where the next page of results goes on, if there is more.
    pub next: Option<Cursor>,
}

/// A page that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// Its id.
    pub id: PageId,
    /// Its URL.
    pub url: String,
    /// Its title.
    pub title: String,
    /// The part of the text that shows why it was found.
    pub snippet: Snippet,
    /// The URL of its main image.
    pub image: Option<String>,
    /// The thumbnail of it.
    pub thumbnail: Option<ThumbnailId>,
    /// The name of its site, or else its host.
    pub site: String,
    /// Its host.
    pub host: String,
    /// When it says that it was published.
    pub published: Option<Timestamp>,
    /// Its language.
    pub language: Option<String>,
    /// Its score; comparable within one answer only.
    pub score: f32,
    /// How many later pages that say the same match too and are not given; of copies the earliest one is.
    pub copies: u32,
}

/// Answers a request. Of equal hits the newer one comes first, then the one with the lesser id, so that the order never
/// depends on how pages are spread over splits.
///
/// # Errors
/// If a split cannot be read.
pub fn search(splits: &[&Split], hidden: &Hidden, request: Request<'_>) -> Result<Results, SearchError> {
    let splits: Vec<&Split> = splits.iter().copied().filter(|split| split.docs() > 0).collect();
    let Some(first) = splits.first() else { return Ok(Results::default()) };
    let mut analyzers = Analyzers::default();
    let languages = languages(&splits, request.query);
    let plan = Plan::new(request.query, &languages, first.fields(), &mut analyzers);
    let corpus = Corpus::new(&splits, &plan.synonyms)?;
    let seen = request.after.map_or(0, |cursor| usize::try_from(cursor.seen()).unwrap_or(MAX_DEPTH));
    let room = MAX_DEPTH.saturating_sub(seen);
    let depth = request.offset.saturating_add(request.limit).min(room);

    // One more than is shown tells whether there is more. Copies can be counted only if all are ranked among which they are
    // looked for.
    let keep = (depth + 1).saturating_mul(RANKED).max(GROUPED);
    let (mut total, mut rest, mut cut) = (0, 0, false);
    let mut ranked = Vec::new();
    for (number, split) in splits.iter().enumerate() {
        let excluded = plan.excluded(split, hidden)?;
        let ranking = Ranking::new(split, request.query, request.now, keep, excluded);
        let ranking = ranking.after(request.after.map(|cursor| cursor.place));
        let found = split.searcher().search_with_statistics_provider(&plan.query, &ranking, &corpus)?;
        total += found.total;
        rest += found.rest;
        cut |= found.best.len() >= keep;
        ranked.extend(found.best.into_iter().map(|candidate| Ranked {
            split: number,
            date: match request.query.sort {
                Sort::Relevance => candidate.rank.1,
                Sort::Date => candidate.rank.0,
            },
            candidate,
        }));
    }
    let repeated = keep_newest_copies(&mut ranked);
    ranked.sort_unstable_by_key(|ranked| Reverse((ranked.candidate.rank, ranked.candidate.key)));
    ranked.truncate(keep);
    // Who asks for a site wants its pages, whether or not two of them are alike.
    let groups = groups(&ranked, request.query.sites.is_empty());
    let copies = (ranked.len() - groups.len()) as u64;
    // What came before the place that was asked for has been counted as it was given.
    let given = seen as u64 + rest - repeated - copies;
    let shown = groups.get(request.offset.min(groups.len())..depth.min(groups.len())).unwrap_or_default();
    let last = match shown.last() {
        Some(last) if groups.len() > depth => Some(&ranked[last.best]),
        // All that was ranked is shown, as copies of few pages.
        Some(_) if cut => ranked.last(),
        _ => None,
    };
    let next = last.filter(|_| depth < room).map(|last| Cursor {
        seen: (seen + depth) as u64,
        now: request.now,
        place: last.candidate.place(),
    });

    // All are asked for before one that is not here ends the search.
    let of = |group: &Group| &ranked[group.first];
    let records: Vec<_> = shown.iter().map(|group| splits[of(group).split].record(of(group).candidate.doc)).collect();
    let mut hits = Vec::with_capacity(shown.len());
    for (group, record) in shown.iter().zip(records) {
        let score = ranked[group.best].candidate.score();
        let copies = group.size - 1;
        hits.push(Hit { copies, ..hit(record?, score, &plan.marked, &mut analyzers) });
    }
    Ok(Results { total: given, copies: (total - repeated).saturating_sub(given), hits, next })
}

/// Pages that say the same; mostly one alone.
struct Group {
    /// The one that matches best, as the place of the group among the results.
    best: usize,
    /// The one that was there first, which is shown.
    first: usize,
    /// How many there are.
    size: u32,
}

/// Pages by their rank, copies as one. A copy of a page that was shown further before, at the end of another answer, is on
/// its own; so is each page unless `may_group`.
fn groups(ranked: &[Ranked], may_group: bool) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::with_capacity(ranked.len());
    let date = |at: usize| ranked[at].date;
    for (at, Ranked { candidate, .. }) in ranked.iter().enumerate() {
        let print = candidate.print.filter(|_| may_group && at < GROUPED);
        let copy_of = print.and_then(|print| {
            let others = groups.iter_mut().take(GROUPED);
            let is_copy = |other: u64| (print ^ other).count_ones() <= COPY_BITS;
            others.into_iter().find(|group| ranked[group.best].candidate.print.is_some_and(is_copy))
        });
        match copy_of {
            Some(group) => {
                group.size += 1;
                if date(at) < date(group.first) {
                    group.first = at;
                }
            }
            None => groups.push(Group { best: at, first: at, size: 1 }),
        }
    }
    groups
}

/// Asks for what a search will read before it can rank anything, all at once, where splits are read by ranges. What cannot be
/// read yet [is wanted](Split::wanted) from then on; what follows from it is asked for by the next call.
pub fn warm(splits: &[&Split], hidden: &Hidden, query: &Query) {
    let Some(first) = splits.first() else { return };
    let plan = Plan::new(query, &languages(splits, query), first.fields(), &mut Analyzers::default());
    for split in splits {
        // Errors come up again, and are told, when the search is run.
        let _ = split.dead(hidden);
        for (term, option) in &plan.terms {
            let inverted = split.segment().inverted_index(term.field());
            let _ = inverted.map(|inverted| inverted.read_postings(term, *option).map(drop));
        }
    }
}

struct Ranked {
    split: usize,
    /// Its date in milliseconds.
    date: i64,
    candidate: Candidate,
}

/// Leaves of each page only the copy in the latest split, and says how many were left out.
fn keep_newest_copies(ranked: &mut Vec<Ranked>) -> u64 {
    let mut newest: HashMap<u64, usize> = HashMap::new();
    for ranked in ranked.iter() {
        let split = newest.entry(ranked.candidate.key.0).or_insert(ranked.split);
        *split = ranked.split.max(*split);
    }
    let before = ranked.len();
    ranked.retain(|ranked| newest.get(&ranked.candidate.key.0) == Some(&ranked.split));
    (before - ranked.len()) as u64
}

fn hit(record: Record, score: f32, marked: &HashSet<String>, analyzers: &mut Analyzers) -> Hit {
    let language = schema::primary_language(record.language.as_deref());
    let snippet = snippet(&record.text, record.snippet_limit, marked, analyzers.of(&language));
    Hit {
        snippet,
        site: record.site_name.filter(|name| !name.trim().is_empty()).unwrap_or_else(|| record.host.clone()),
        id: record.id,
        url: record.url,
        title: record.title,
        image: record.image,
        thumbnail: record.thumbnail,
        host: record.host,
        published: record.published,
        language: record.language,
        score,
        copies: 0,
    }
}

/// The languages by whose rules the words are stemmed: those asked for, or else those there are; and always none.
pub(crate) fn languages(splits: &[&Split], query: &Query) -> BTreeSet<String> {
    let there = splits.iter().flat_map(|split| split.languages());
    let asked = there.filter(|language| query.languages.is_empty() || query.languages.contains(*language));
    let left = asked.filter(|language| !query.not_languages.contains(*language));
    left.map(|language| rules(language).to_owned()).chain([String::new()]).collect()
}

/// A query as the engine runs it.
struct Plan {
    /// What a page must have.
    query: BooleanQuery,
    /// What a page must have none of.
    unwanted: Vec<Box<dyn EngineQuery>>,
    /// Terms that stand for one word and share one statistic, so that a form that is rare because it belongs to
    /// another language does not count for more.
    synonyms: Vec<Vec<Term>>,
    /// Forms that are marked in snippets.
    marked: HashSet<String>,
    /// All terms that are looked up, and what is read of them.
    terms: Vec<(Term, IndexRecordOption)>,
}

impl Plan {
    fn new(query: &Query, languages: &BTreeSet<String>, fields: &Fields, analyzers: &mut Analyzers) -> Plan {
        let mut words = Words { fields, languages, analyzers, synonyms: Vec::new(), terms: Vec::new() };
        let mut wanted = Vec::new();
        let mut marked = HashSet::new();
        for clause in &query.wanted {
            let forms = words.forms(&clause.text);
            wanted.push(words.query(&forms));
            marked.extend(forms.into_iter().flatten().map(|(_, form)| form));
        }
        if query.wanted.is_empty() {
            wanted.push(unscored(AllQuery));
        }
        if !query.authors.is_empty() {
            let any = query.authors.iter().map(|name| words.author_query(name)).collect();
            wanted.push(unscored(BooleanQuery::union(any)));
        }
        wanted.extend(any_of(fields.host, &query.sites).map(unscored));
        wanted.extend(any_of(fields.language, &query.languages).map(unscored));

        let synonyms = std::mem::take(&mut words.synonyms);
        let mut unwanted: Vec<Box<dyn EngineQuery>> = Vec::new();
        for clause in &query.unwanted {
            let forms = words.forms(&clause.text);
            unwanted.push(words.query(&forms));
        }
        unwanted.extend(query.not_authors.iter().map(|name| words.author_query(name)));
        unwanted.extend(any_of(fields.host, &query.not_sites).map(unscored));
        unwanted.extend(any_of(fields.language, &query.not_languages).map(unscored));
        let terms = std::mem::take(&mut words.terms);
        Plan { query: BooleanQuery::intersection(wanted), unwanted, synonyms, marked, terms }
    }

    /// The documents of a split that are hidden or have what is not wanted.
    fn excluded(&self, split: &Split, hidden: &Hidden) -> Result<Arc<BitSet>, SearchError> {
        let mut excluded = split.dead(hidden)?;
        for unwanted in &self.unwanted {
            let weight = unwanted.weight(EnableScoring::disabled_from_searcher(split.searcher()))?;
            let docs = Arc::make_mut(&mut excluded);
            weight.for_each_no_score(split.segment(), &mut |found| {
                for doc in found {
                    docs.insert(*doc);
                }
            })?;
        }
        Ok(excluded)
    }
}

/// Filters choose pages and do not change their scores.
fn any_of(field: Field, texts: &BTreeSet<String>) -> Option<TermSetQuery> {
    (!texts.is_empty()).then(|| TermSetQuery::new(texts.iter().map(|text| Term::from_field_text(field, text))))
}

fn unscored(query: impl EngineQuery) -> Box<dyn EngineQuery> {
    Box::new(ConstScoreQuery::new(Box::new(query), 0.0))
}

/// One way to write a clause: forms and their positions.
type Form = Vec<(usize, String)>;

/// The ways to write a clause by the rules of one language: with accents and without.
fn forms_in(analyzers: &mut Analyzers, language: &str, text: &str) -> BTreeSet<Form> {
    let words = analyzers.of(language).words(text, Mode::Query);
    let first = words.iter().map(|word| (word.position, word.form.clone())).collect();
    let other = words.into_iter().map(|word| (word.position, word.other.unwrap_or(word.form))).collect();
    [first, other].into_iter().filter(|form: &Form| !form.is_empty()).collect()
}

/// Makes queries of words.
struct Words<'a> {
    fields: &'a Fields,
    languages: &'a BTreeSet<String>,
    analyzers: &'a mut Analyzers,
    synonyms: Vec<Vec<Term>>,
    terms: Vec<(Term, IndexRecordOption)>,
}

impl Words<'_> {
    /// All ways to write a clause, over all languages.
    fn forms(&mut self, text: &str) -> BTreeSet<Form> {
        self.languages.iter().flat_map(|language| forms_in(self.analyzers, language, text)).collect()
    }

    /// Finds a clause in the title, the text or the author's name.
    fn query(&mut self, forms: &BTreeSet<Form>) -> Box<dyn EngineQuery> {
        if forms.is_empty() {
            return Box::new(EmptyQuery);
        }
        let title = self.field_query(self.fields.title, forms);
        let body = self.field_query(self.fields.body, forms);
        let author = self.field_query(self.fields.author, forms);
        let title = Box::new(BoostQuery::new(title, TITLE_BOOST));
        Box::new(BooleanQuery::union(vec![title, body, author]))
    }

    /// Finds the pages of an author.
    fn author_query(&mut self, name: &str) -> Box<dyn EngineQuery> {
        let forms = forms_in(self.analyzers, "", name);
        if forms.is_empty() { Box::new(EmptyQuery) } else { self.field_query(self.fields.author, &forms) }
    }

    /// The best match of any form: a page that has two forms of one word has it no better than once.
    fn field_query(&mut self, field: Field, forms: &BTreeSet<Form>) -> Box<dyn EngineQuery> {
        let term = |form: &str| Term::from_field_text(field, form);
        let mut synonyms = Vec::new();
        let mut queries: Vec<Box<dyn EngineQuery>> = Vec::with_capacity(forms.len());
        for form in forms {
            if let [(_, only)] = form.as_slice() {
                synonyms.push(term(only));
                self.terms.push((term(only), IndexRecordOption::WithFreqs));
                queries.push(Box::new(TermQuery::new(term(only), IndexRecordOption::WithFreqs)));
            } else {
                let terms: Vec<_> = form.iter().map(|(position, form)| (*position, term(form))).collect();
                let read = IndexRecordOption::WithFreqsAndPositions;
                self.terms.extend(terms.iter().map(|(_, term)| (term.clone(), read)));
                queries.push(Box::new(PhraseQuery::new_with_offset(terms)));
            }
        }
        if synonyms.len() > 1 {
            self.synonyms.push(synonyms);
        }
        Box::new(DisjunctionMaxQuery::new(queries))
    }
}

/// Statistics of all splits together.
struct Corpus<'a> {
    splits: &'a [&'a Split],
    docs: u64,
    /// How many pages have the most frequent of a term's synonyms.
    shared: HashMap<Term, u64>,
}

impl<'a> Corpus<'a> {
    fn new(splits: &'a [&'a Split], synonyms: &[Vec<Term>]) -> Result<Corpus<'a>, SearchError> {
        let docs = splits.iter().map(|split| u64::from(split.segment().max_doc())).sum();
        let mut corpus = Corpus { splits, docs, shared: HashMap::new() };
        let mut shared: HashMap<Term, u64> = HashMap::new();
        for terms in synonyms {
            let mut most = 0;
            for term in terms {
                most = corpus.doc_freq(term)?.max(most);
            }
            for term in terms {
                let known = shared.entry(term.clone()).or_default();
                *known = most.max(*known);
            }
        }
        corpus.shared = shared;
        Ok(corpus)
    }
}

impl Bm25StatisticsProvider for Corpus<'_> {
    fn total_num_tokens(&self, field: Field) -> tantivy::Result<u64> {
        let tokens = self.splits.iter().map(|split| split.segment().inverted_index(field));
        tokens.map(|inverted| Ok(inverted?.total_num_tokens())).sum()
    }

    fn total_num_docs(&self) -> tantivy::Result<u64> {
        Ok(self.docs)
    }

    fn doc_freq(&self, term: &Term) -> tantivy::Result<u64> {
        if let Some(shared) = self.shared.get(term) {
            return Ok(*shared);
        }
        self.splits.iter().map(|split| split.searcher().doc_freq(term)).sum()
    }
}
