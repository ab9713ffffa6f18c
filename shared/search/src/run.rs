//! Answers a query over several splits as if they were one index.

use crate::analyze::Analyzers;
use crate::cursor::{AHEAD, Counts, Cursor, Place};
use crate::error::SearchError;
use crate::hidden::Hidden;
use crate::listing::{self, GROUPED, Group, groups, keep_newest_copies};
use crate::plan::{Plan, languages};
use crate::proximity;
use crate::query::{Query, Sort};
use crate::rank::{Candidate, Corpus, Found, Selection, freshness, rank, tally};
use crate::schema;
use crate::snippet::{Snippet, snippet};
use crate::spelling::{DOUBTED, Neighbour, most_slips, neighbours, stand_ins, stems_of};
use crate::split::Split;
use curlew_model::{PageId, Record, ThumbnailId, Timestamp};
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

/// No hit beyond this rank is given, whatever is asked for.
pub const MAX_DEPTH: usize = 10_000;
/// So many times as many pages are ranked as are shown, since copies are shown as one.
const RANKED: usize = 2;
/// Of so many of the best pages it is looked at where their words stand.
const HEAD: usize = 100;

/// A question.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// What is looked for.
    pub query: &'a Query,
    /// Whether pages with only some of the words follow those with all of them. Never if results are sorted by date: the
    /// newest page with any of the words is not what is looked for.
    pub scope: Scope,
    /// Most hits.
    pub limit: usize,
    /// So many better hits are left out.
    pub offset: usize,
    /// Only what comes after the end of an earlier page of the same query; its present goes into `now`.
    pub after: Option<&'a Cursor>,
    /// The present; pages that were to vanish before it are not found.
    pub now: Timestamp,
    /// True if hits say how their scores came about.
    pub explain: bool,
}

impl<'a> Request<'a> {
    /// The first hits of a query, in any scope.
    pub fn new(query: &'a Query, limit: usize, now: Timestamp) -> Request<'a> {
        Request { query, scope: Scope::default(), limit, offset: 0, after: None, now, explain: false }
    }
}

/// Which pages answer a query.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// Those that have all words, and behind them those that have some.
    #[default]
    SomeWords,
    /// Only those that have all words.
    AllWords,
}

/// An answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Results {
    /// The pages that have all words and are not hidden, as many as can be given: pages that say the same count as one. A page
    /// that lies in two splits, because a job ran twice, is given once; it is counted once if both are among the best.
    pub total: u64,
    /// The pages that have only some of the words, counted in the same way. They come behind the others, unless the query is a
    /// sentence ([`Results::is_mixed`]).
    pub partial: u64,
    /// True if pages with all words and pages with some stand among each other: nobody expects all words of a question.
    pub is_mixed: bool,
    /// How many pages have all words besides, which say the same as one that is counted.
    pub copies: u64,
    /// The best ones.
    pub hits: Vec<Hit>,
    /// Where the next page of results goes on, if there is more.
    pub next: Option<Cursor>,
    /// Words of the query that are in no page at all, as they were typed.
    pub unknown: Vec<String>,
    /// Stems that are like the unknown words that were looked up, by the word in lower case.
    pub(crate) neighbours: HashMap<String, Vec<Neighbour>>,
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
    /// True if it has all words.
    pub has_all: bool,
    /// Words of the query that it does not have, as they were typed. Stop words are not missed.
    pub missing: Vec<String>,
    /// How many later pages that say the same match too and are not given; of copies the earliest one is.
    pub copies: u32,
    /// How the score came about, if that was asked for.
    pub explanation: Option<Explanation>,
}

/// How a score came about: it is the sum of the words' times both factors.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// Words and phrases that are scored, as they were typed, and what each adds (BM25); zero if the page does not have it.
    pub words: Vec<(String, f32)>,
    /// The factor for words that stand near each other.
    pub proximity: f32,
    /// The factor for what is new.
    pub freshness: f32,
}

/// Answers a request. Of equal hits the newer one comes first, then the one with the lesser id, so that the order never
/// depends on how pages are spread over splits.
///
/// # Errors
/// If a split cannot be read.
pub fn search(splits: &[&Split], hidden: &Hidden, request: Request<'_>) -> Result<Results, SearchError> {
    let splits: Vec<&Split> = splits.iter().copied().filter(|split| split.docs() > 0).collect();
    let Some(first) = splits.first() else { return Ok(Results::default()) };
    let Request { query, .. } = request;
    let mut analyzers = Analyzers::default();
    let by_relevance = query.sort == Sort::Relevance;
    let partial = by_relevance && request.scope == Scope::SomeWords;
    let mut plan = Plan::new(query, languages(&splits, query), first.fields(), &mut analyzers);
    let mut corpus = Corpus::new(&splits, &plan)?;
    let unknown = unknown(&plan, &corpus);
    let mut near = HashMap::new();
    // Without a word that must be there nothing is found, whatever stands in for the others.
    if partial && !unknown.is_empty() && unknown.iter().all(|bit| plan.strict & (1 << bit) == 0) {
        near = stand_in(&splits, &unknown, &mut plan, &mut analyzers)?;
        corpus.weigh(&plan)?;
    }
    let unknown = unknown.into_iter().map(|bit| plan.units[bit].text.clone()).collect();
    let seen = request.after.map_or(0, |cursor| usize::try_from(cursor.seen()).unwrap_or(MAX_DEPTH));
    let room = MAX_DEPTH.saturating_sub(seen);
    let depth = request.offset.saturating_add(request.limit).min(room);

    // One more than is shown tells whether there is more. Copies can be counted only if all are ranked among which they are
    // looked for.
    let keep = (depth + AHEAD + 1).saturating_mul(RANKED).max(GROUPED);
    let selection = Selection {
        query,
        hidden,
        partial,
        now: request.now,
        after: request.after.map(|cursor| cursor.place),
        keep,
        head: if by_relevance { HEAD } else { 0 },
    };
    let mut listed = Listed::default();
    for split in splits.iter().copied().enumerate() {
        listed.take(rank(split, &plan, &corpus, &selection)?, keep);
    }
    let (ranked, repeated) = listed.ranked(&splits, &plan, &selection)?;

    // Who asks for a site wants its pages, whether or not two of them are alike.
    let is_mixed = query.sites.is_empty();
    let mut groups = groups(&ranked, is_mixed);
    let first_copies = copies(&groups, true);
    let counts = match request.after {
        Some(cursor) => cursor.counts,
        None => Counts {
            total: listed.total - repeated[0] - first_copies,
            partial: listed.partial - repeated[1] - copies(&groups, false),
            copies: first_copies,
        },
    };
    let ahead: HashSet<u64> = request.after.map(|cursor| cursor.ahead.iter().copied().collect()).unwrap_or_default();
    groups.retain(|group| !ahead.contains(&group.best.key.0));
    let order = listing::order(&groups, is_mixed && by_relevance, depth);
    let shown = order.get(request.offset.min(order.len())..).unwrap_or_default();
    let is_more = groups.len() > order.len();
    let place = match shown.is_empty() || depth >= room {
        true => None,
        false if is_more => Some(place_after(&groups, &order)),
        // All that was ranked is shown, as copies of few pages.
        false => ranked.last().filter(|_| listed.is_cut).map(|last| (last.place(), Vec::new())),
    };
    let seen = (seen + depth) as u64;
    let next = place.map(|(place, ahead)| Cursor { seen, now: request.now, place, counts, ahead });

    // All are asked for before one that is not here ends the search.
    let shown: Vec<&Group> = shown.iter().map(|at| &groups[*at]).collect();
    let records: Vec<_> = shown.iter().map(|group| splits[group.first.at.0].record(group.first.at.1)).collect();
    let mut hits = Vec::with_capacity(shown.len());
    for (group, record) in shown.into_iter().zip(records) {
        let explanation =
            request.explain.then(|| explain(&splits, &plan, &corpus, &group.best, request.now)).transpose()?;
        hits.push(Hit { explanation, ..hit(record?, group, &plan, &mut analyzers) });
    }
    let Counts { total, partial, copies } = counts;
    Ok(Results { total, partial, is_mixed: plan.is_sentence, copies, hits, next, unknown, neighbours: near })
}

/// Words of the query that are in no page, by their place in the plan.
fn unknown(plan: &Plan, corpus: &Corpus<'_>) -> Vec<usize> {
    let is_unknown = |bit: &usize| !corpus.is_known[*bit] && plan.stop_words & (1 << bit) == 0;
    (0..plan.units.len()).filter(is_unknown).collect()
}

/// Has the words that are most like some unknown ones looked for in their place; returns what is like each.
fn stand_in(
    splits: &[&Split],
    unknown: &[usize],
    plan: &mut Plan,
    analyzers: &mut Analyzers,
) -> Result<HashMap<String, Vec<Neighbour>>, SearchError> {
    let mut found = HashMap::new();
    let typed = plan.units.len();
    let languages: Vec<String> = plan.languages.iter().map(|language| language.rules.clone()).collect();
    for bit in unknown.iter().take(DOUBTED) {
        let typed = plan.units[*bit].text.clone();
        let word = typed.to_lowercase();
        let near = neighbours(splits, &stems_of(&word, &languages, analyzers), most_slips(&word))?;
        plan.stand_in(&typed, &stand_ins(&near), splits[0]);
        found.insert(word, near);
    }
    splits.iter().for_each(|split| plan.touch_from(typed, split));
    Ok(found)
}

/// What was found in all splits.
#[derive(Default)]
struct Listed {
    total: u64,
    partial: u64,
    head: Vec<Candidate>,
    best: Vec<Candidate>,
    /// There is more than was kept.
    is_cut: bool,
}

impl Listed {
    fn take(&mut self, found: Found, keep: usize) {
        self.total += found.total;
        self.partial += found.partial;
        self.is_cut |= found.best.len() >= keep;
        self.head.extend(found.head);
        self.best.extend(found.best);
    }

    /// The best of all, in their order, without what is outdated; and how many that was.
    fn ranked(
        &mut self,
        splits: &[&Split],
        plan: &Plan,
        selection: &Selection<'_>,
    ) -> Result<(Vec<Candidate>, [u64; 2]), SearchError> {
        let order = |ranked: &mut Vec<Candidate>| {
            ranked.sort_unstable_by_key(|candidate| Reverse((candidate.rank, candidate.key)))
        };
        // A better score keeps a page among the best hundred, so it stands where it would if all pages were looked at.
        order(&mut self.head);
        self.head.truncate(selection.head);
        let is_head: HashSet<(usize, u32)> = self.head.iter().map(|candidate| candidate.at).collect();
        let factors = proximity::factors(splits, plan, &self.head)?;
        let head = self.head.iter().zip(factors).map(|(candidate, factor)| candidate.times(factor));
        let is_after = |candidate: &Candidate| selection.after.is_none_or(|after| candidate.place().comes_after(after));
        let mut ranked: Vec<Candidate> = head.filter(is_after).collect();
        ranked.extend(self.best.iter().filter(|candidate| !is_head.contains(&candidate.at)));
        let repeated = keep_newest_copies(&mut ranked);
        order(&mut ranked);
        ranked.truncate(selection.keep);
        Ok((ranked, repeated))
    }
}

/// Pages with all words, or else with some, that are not shown since another one says the same.
fn copies(groups: &[Group], has_all: bool) -> u64 {
    let groups = groups.iter().filter(|group| group.best.has_all == has_all);
    groups.map(|group| u64::from(group.size - 1)).sum()
}

/// Up to where all is shown, and the keys of what is shown of what comes after.
fn place_after(groups: &[Group], order: &[usize]) -> (Place, Vec<u64>) {
    let shown: HashSet<usize> = order.iter().copied().collect();
    let whole = (0..groups.len()).take_while(|at| shown.contains(at)).count();
    let ahead = order.iter().filter(|at| **at >= whole).map(|at| groups[*at].best.key.0).collect();
    (groups[whole.saturating_sub(1)].best.place(), ahead)
}

/// Asks for what a search will read before it can rank anything, all at once, where splits are read by ranges. What cannot be
/// read yet [is wanted](Split::wanted) from then on; what follows from it is asked for by the next call.
pub fn warm(splits: &[&Split], hidden: &Hidden, query: &Query) {
    let Some(first) = splits.first() else { return };
    let plan = Plan::new(query, languages(splits, query), first.fields(), &mut Analyzers::default());
    for split in splits {
        // Errors come up again, and are told, when the search is run.
        let _ = split.dead(hidden);
        plan.touch(split);
    }
}

fn explain(
    splits: &[&Split],
    plan: &Plan,
    corpus: &Corpus<'_>,
    candidate: &Candidate,
    now: Timestamp,
) -> Result<Explanation, SearchError> {
    let split = splits[candidate.at.0];
    let mut words = Vec::with_capacity(plan.units.len());
    for (bit, unit) in plan.units.iter().enumerate() {
        words.push((unit.text.clone(), tally(split, plan, corpus, 1 << bit)?.of(candidate.at.1).1));
    }
    let freshness = freshness(Timestamp::from_millis(candidate.date), now);
    let sum: f32 = words.iter().map(|(_, score)| score).sum();
    let proximity = if sum > 0.0 { candidate.standing.score() / (sum * freshness) } else { 1.0 };
    Ok(Explanation { words, proximity, freshness })
}

fn hit(record: Record, group: &Group, plan: &Plan, analyzers: &mut Analyzers) -> Hit {
    let language = schema::primary_language(record.language.as_deref());
    let snippet = snippet(&record.text, record.snippet_limit, &plan.marked(&language), analyzers.of(&language));
    let required = plan.languages.get(usize::from(group.best.language)).map_or(0, |language| language.required);
    let is_missing = |bit: usize| required & !group.best.has & (1 << bit) != 0;
    let missing = plan.units.iter().enumerate().filter(|(bit, _)| is_missing(*bit));
    Hit {
        missing: missing.map(|(_, unit)| unit.text.clone()).collect(),
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
        score: group.best.standing.score(),
        has_all: group.best.has_all,
        copies: group.size - 1,
        explanation: None,
    }
}
