//! Answers a query over several splits as if they were one index.

use crate::analyze::Analyzers;
use crate::cursor::{AHEAD, Counts, Cursor, Place};
use crate::error::SearchError;
use crate::hidden::Hidden;
use crate::listing::{self, GROUPED, Group, groups, keep_newest_copies};
use crate::plan::{Plan, languages};
use crate::proximity;
use crate::query::{Query, Sort};
use crate::rank::{Candidate, Corpus, Selection, SplitHits, freshness, rank, tally};
use crate::schema;
use crate::snippet::{Snippet, snippet};
use crate::spelling::{DOUBTED, Neighbour, most_slips, neighbours, stand_ins, stems_of};
use crate::split::Split;
use curlew_model::{PageId, Record, ThumbnailId, Timestamp};
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, HashSet};

/// Maximum rank of a hit that is returned, whatever is requested.
pub const MAX_DEPTH: usize = 10_000;
/// Ratio of ranked pages to shown results; more are ranked because copies are shown as one.
const RANKED: usize = 2;
/// Number of best pages for which the positions of words are compared.
const HEAD: usize = 100;

/// A search request.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The query.
    pub query: &'a Query,
    /// Scope of the answer: whether pages with only some of the words follow those with all of them. If results are
    /// sorted by date they never do, since the newest page with any of the words is rarely wanted.
    pub scope: Scope,
    /// Maximum number of hits.
    pub limit: usize,
    /// Number of better hits to skip.
    pub offset: usize,
    /// End of an earlier page of the same query, after which results continue; its time goes into `now`.
    pub after: Option<&'a Cursor>,
    /// Current time; pages that expired before it are not found.
    pub now: Timestamp,
    /// True to explain the score of each hit.
    pub explain: bool,
}

impl<'a> Request<'a> {
    /// Requests the first hits of a query, in the default scope.
    pub fn new(query: &'a Query, limit: usize, now: Timestamp) -> Request<'a> {
        Request { query, scope: Scope::default(), limit, offset: 0, after: None, now, explain: false }
    }
}

/// Pages that answer a query.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// Pages that have all words, followed by those that have some.
    #[default]
    SomeWords,
    /// Only pages that have all words.
    AllWords,
}

/// An answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Results {
    /// Number of visible pages that have all words and can be returned; pages with the same text count as one. A page
    /// that lies in two splits, because a job ran twice, is returned once; it is counted once if both copies are among
    /// the best.
    pub total: u64,
    /// Number of pages that have only some of the words, counted in the same way. They follow the others, unless the
    /// query is a sentence ([`Results::is_mixed`]).
    pub partial: u64,
    /// True if pages with all words and pages with some are mixed: nobody expects all words of a question.
    pub is_mixed: bool,
    /// Number of pages with all words that are not counted in `total`, because they are copies of a page that is.
    pub copies: u64,
    /// The best ones.
    pub hits: Vec<Hit>,
    /// Hosts of these hits that have further results on other pages.
    pub more_of: BTreeSet<String>,
    /// Cursor of the next page of results, if there is more.
    pub next: Option<Cursor>,
    /// Words of the query that no page has, as typed.
    pub unknown: Vec<String>,
    /// Stems similar to the unknown words that were looked up, by the word in lower case.
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
    /// Part of the text that shows why it was found.
    pub snippet: Snippet,
    /// The URL of its main image.
    pub image: Option<String>,
    /// Thumbnail of that image.
    pub thumbnail: Option<ThumbnailId>,
    /// Name of its site, or else its host.
    pub site: String,
    /// Its host.
    pub host: String,
    /// Name of its author.
    pub author: Option<String>,
    /// The feed that named it.
    pub feed: Option<String>,
    /// Publication date that the page states.
    pub published: Option<Timestamp>,
    /// Its language.
    pub language: Option<String>,
    /// Its score; comparable within one answer only.
    pub score: f32,
    /// True if it has all words.
    pub has_all: bool,
    /// Words of the query that it does not have, as typed. Stop words never count as missing.
    pub missing: Vec<String>,
    /// Number of matching later copies that are not returned; the earliest copy is.
    pub copies: u32,
    /// Explanation of the score, if requested.
    pub explanation: Option<Explanation>,
}

/// Explanation of a score, which is the sum of the words' shares times both factors.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explanation {
    /// Words and phrases that are scored, as typed, with the share of each (BM25); zero if the page does not have it.
    pub words: Vec<(String, f32)>,
    /// Factor for words that are near each other.
    pub proximity: f32,
    /// Factor for new pages.
    pub freshness: f32,
}

/// Answers a request. Of equal hits the newer one comes first, then the one with the smaller id, so the order never
/// depends on the distribution of pages over splits.
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
    // If no page has a required word, nothing is found, whatever replaces the others.
    if partial && !unknown.is_empty() && unknown.iter().all(|bit| plan.strict & (1 << bit) == 0) {
        near = stand_in(&splits, &unknown, &mut plan, &mut analyzers)?;
        corpus.weigh(&plan)?;
    }
    let unknown = unknown.into_iter().map(|bit| plan.units[bit].text.clone()).collect();
    let seen = request.after.map_or(0, |cursor| usize::try_from(cursor.seen()).unwrap_or(MAX_DEPTH));
    let room = MAX_DEPTH.saturating_sub(seen);
    let depth = request.offset.saturating_add(request.limit).min(room);

    // One result more than is shown tells whether there are more. Copies can be counted only if all pages are ranked
    // among which they are detected.
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

    // A query with `site:` wants the pages of that site, whether or not two of them are alike.
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
    let earlier: Vec<Group> = groups.extract_if(.., |group| ahead.contains(&group.best.key.0)).collect();
    let order = listing::order(&groups, is_mixed && by_relevance, depth, request.limit);
    let shown = order.get(request.offset.min(order.len())..).unwrap_or_default();
    let is_more = groups.len() > order.len();
    let place = match shown.is_empty() || depth >= room {
        true => None,
        false if is_more => Some(place_after(&groups, &order, &earlier)),
        // Everything ranked is shown, as copies of a few pages.
        false => ranked.last().filter(|_| listed.is_cut).map(|last| (last.place(), Vec::new())),
    };
    let seen = (seen + depth) as u64;
    let next = place.map(|(place, ahead)| Cursor { seen, now: request.now, place, counts, ahead });

    let mut others: HashMap<u64, i64> = HashMap::new();
    groups.iter().for_each(|group| *others.entry(group.first.site).or_default() += 1);
    shown.iter().for_each(|at| *others.entry(groups[*at].first.site).or_default() -= 1);
    let mut more_of = BTreeSet::new();
    // All records are read before the first missing one ends the search, so that all become wanted at once.
    let shown: Vec<&Group> = shown.iter().map(|at| &groups[*at]).collect();
    let records: Vec<_> = shown.iter().map(|group| splits[group.first.at.0].record(group.first.at.1)).collect();
    let mut hits = Vec::with_capacity(shown.len());
    for (group, record) in shown.into_iter().zip(records) {
        let explanation =
            request.explain.then(|| explain(&splits, &plan, &corpus, &group.best, request.now)).transpose()?;
        let hit = Hit { explanation, ..hit(record?, group, &plan, &mut analyzers) };
        if others.get(&group.first.site).is_some_and(|others| *others > 0) {
            more_of.insert(hit.host.clone());
        }
        hits.push(hit);
    }
    let Counts { total, partial, copies } = counts;
    Ok(Results { total, partial, is_mixed: plan.is_sentence, copies, hits, more_of, next, unknown, neighbours: near })
}

/// Returns the words of the query that no page has, as indexes into the plan.
fn unknown(plan: &Plan, corpus: &Corpus<'_>) -> Vec<usize> {
    let is_unknown = |bit: &usize| !corpus.is_known[*bit] && plan.stop_words & (1 << bit) == 0;
    (0..plan.units.len()).filter(is_unknown).collect()
}

/// Adds the stems most similar to some unknown words to the plan; returns the similar stems by word.
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

/// Results of all splits.
#[derive(Default)]
struct Listed {
    total: u64,
    partial: u64,
    head: Vec<Candidate>,
    best: Vec<Candidate>,
    /// True if there were more pages than were kept.
    is_cut: bool,
}

impl Listed {
    fn take(&mut self, found: SplitHits, keep: usize) {
        self.total += found.total;
        self.partial += found.partial;
        self.is_cut |= found.best.len() >= keep;
        self.head.extend(found.head);
        self.best.extend(found.best);
    }

    /// Returns the best pages in order, without outdated copies, and the number of those copies.
    fn ranked(
        &mut self,
        splits: &[&Split],
        plan: &Plan,
        selection: &Selection<'_>,
    ) -> Result<(Vec<Candidate>, [u64; 2]), SearchError> {
        let order = |ranked: &mut Vec<Candidate>| {
            ranked.sort_unstable_by_key(|candidate| Reverse((candidate.rank, candidate.key)))
        };
        // A better score keeps a page among the best hundred, so it ranks as if all pages had been examined.
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

/// Returns the number of pages with all words, or else with some, that are not shown since they are copies.
fn copies(groups: &[Group], has_all: bool) -> u64 {
    let groups = groups.iter().filter(|group| group.best.has_all == has_all);
    groups.map(|group| u64::from(group.size - 1)).sum()
}

/// Returns the place up to which all groups are shown, and the keys of shown groups that come after it: of this page,
/// and of `earlier` ones.
fn place_after(groups: &[Group], order: &[usize], earlier: &[Group]) -> (Place, Vec<u64>) {
    let shown: HashSet<usize> = order.iter().copied().collect();
    let whole = (0..groups.len()).take_while(|at| shown.contains(at)).count();
    let place = groups[whole.saturating_sub(1)].best.place();
    let ahead = order.iter().filter(|at| **at >= whole).map(|at| &groups[*at]);
    let ahead = ahead.chain(earlier.iter().filter(|group| group.best.place().comes_after(place)));
    (place, ahead.map(|group| group.best.key.0).collect())
}

/// Reads everything that a search needs before ranking, at once, from splits that are read by ranges. Bytes that are
/// missing [are wanted](Split::wanted) from then on; the next call asks for those that depend on them.
pub fn warm(splits: &[&Split], hidden: &Hidden, query: &Query) {
    let Some(first) = splits.first() else { return };
    let plan = Plan::new(query, languages(splits, query), first.fields(), &mut Analyzers::default());
    for split in splits {
        // Errors recur, and are reported, when the search runs.
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
        author: record.author,
        feed: record.feed,
        published: record.published,
        language: record.language,
        score: group.best.standing.score(),
        has_all: group.best.has_all,
        copies: group.size - 1,
        explanation: None,
    }
}
