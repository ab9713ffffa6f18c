//! Answers a query over several splits as if they were one index.

use crate::analyze::Analyzers;
use crate::bits::bits;
use crate::budget::{Lists, ReadBudget, Unread};
use crate::cursor::{AHEAD, Counts, Cursor, Place};
use crate::error::Result;
use crate::hidden::Hidden;
use crate::hit::{Explanation, SearchHit, hit};
use crate::listing::{self, GROUPED, Group, groups, keep_newest_copies};
use crate::lookups::{Mended, beginnings, mend};
use crate::open_splits::{Address, OpenSplits, Ranked, keep_best};
use crate::plan::{Plan, Stem, Typed, languages};
use crate::query::{Query, Sort};
use crate::rank::{Candidate, Corpus, Selection, completeness, dates_of, freshness};
use crate::schema::schema;
use crate::spelling::languages_of;
use crate::split::Split;
use crate::statistics::Statistics;
use curlew_model::Timestamp;
use std::collections::{BTreeSet, HashMap, HashSet};

/// Maximum rank of a hit that is returned, whatever is requested.
pub const MAX_DEPTH: usize = 10_000;
/// Ratio of ranked pages to shown results; more are ranked because copies are shown as one.
const RANKED: usize = 2;
/// Number of best pages for which the positions of words are compared.
const HEAD: usize = 100;

/// A search request.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The query.
    pub query: Query,
    /// Scope of the answer. Results that are sorted by date always have all words.
    pub scope: Scope,
    /// Maximum number of hits.
    pub limit: usize,
    /// Number of better hits to skip.
    pub offset: usize,
    /// End of an earlier page of the same query, after which results continue; set `now` to its time.
    pub after: Option<Cursor>,
    /// Current time; pages that expired before it are not found.
    pub now: Timestamp,
    /// True to explain the score of each hit.
    pub explain: bool,
    /// True to return the whole record of each hit.
    pub with_records: bool,
    /// Limits on what is read of the index.
    pub budget: ReadBudget,
}

impl Request {
    /// Requests the first hits of a query, in the default scope.
    pub fn new(query: Query, limit: usize, now: Timestamp) -> Request {
        Request { query, limit, now, ..Request::default() }
    }
}

/// Pages that answer a query.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// Pages that have all words, and those that have some, for which their scores are lower.
    #[default]
    SomeWords,
    /// Only pages that have all words.
    AllWords,
}

/// An answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Results {
    /// Number of visible pages that have all words and can be returned; pages with the same text count as one.
    pub total: u64,
    /// Number of pages that have only some of the words, counted in the same way.
    pub partial: u64,
    /// Number of pages with all words that are not counted in `total`, because they are copies of a page that is.
    pub copies: u64,
    /// The best ones.
    pub hits: Vec<SearchHit>,
    /// Hosts of these hits that have further results on other pages.
    pub more_of: BTreeSet<String>,
    /// Cursor of the next page of results, if there is more.
    pub next: Option<Cursor>,
    /// Words of the query that no page has, as typed.
    pub unknown: Vec<String>,
    /// Words and phrases, as typed, of which a part was not searched, since it is beyond [`Request::budget`].
    pub too_common: Vec<String>,
    /// Replacements for the unknown words that were looked up.
    pub(crate) mended: Vec<Mended>,
}

/// Answers a request. Of equal hits the newer one comes first, then the one with the smaller id. If splits lack bytes,
/// these become wanted, and the search fails with [`is_not_here`](crate::SearchError::is_not_here).
pub fn search(splits: &[&Split], hidden: &Hidden, request: &Request) -> Result<Results> {
    let open = OpenSplits::new(splits, hidden);
    if open.splits.is_empty() {
        return Ok(Results::default());
    }
    let (query, after) = (&request.query, request.after.as_ref());
    let mut analyzers = Analyzers::default();
    let by_relevance = query.sort == Sort::Relevance;
    let partial = by_relevance && request.scope == Scope::SomeWords;
    let Prepared { plan, statistics, unknown, mended } = prepare(&open, request, partial, &mut analyzers)?;
    let seen = after.map_or(0, |cursor| usize::try_from(cursor.seen).unwrap_or(MAX_DEPTH));
    let room = MAX_DEPTH.saturating_sub(seen);
    let depth = request.offset.saturating_add(request.limit).min(room);

    // One result more than is shown tells whether there are more; copies are counted among the pages that are ranked.
    let keep = (depth + AHEAD + 1).saturating_mul(RANKED).max(GROUPED);
    let selection = Selection {
        partial,
        sort: query.sort,
        dates: dates_of(query),
        now: request.now,
        after: after.map(|cursor| cursor.place),
        keep,
        head: if by_relevance { HEAD } else { 0 },
    };
    let found = open.rank(&plan, &statistics, &selection)?;
    let (ranked, repeated) = in_order(&found, &selection);

    // A query with `site:` wants the pages of that site, whether or not two of them are alike.
    let mixes_sites = query.only.sites.is_empty();
    let mut groups = groups(&ranked, mixes_sites, by_relevance);
    let first_copies = copies(&groups, true);
    let counts = match after {
        Some(cursor) => cursor.counts,
        None => Counts {
            total: found.total - repeated[0] - first_copies,
            partial: found.partial - repeated[1] - copies(&groups, false),
            copies: first_copies,
        },
    };
    let ahead: HashSet<u64> = after.map(|cursor| cursor.ahead.iter().copied().collect()).unwrap_or_default();
    let earlier: Vec<Group> = groups.extract_if(.., |group| ahead.contains(&group.best.key.0)).collect();
    let order = listing::order(&groups, mixes_sites && by_relevance, depth, request.limit);
    let shown = order.get(request.offset.min(order.len())..).unwrap_or_default();
    let is_more = groups.len() > order.len();
    let place = match shown.is_empty() || depth >= room {
        true => None,
        false if is_more => Some(place_after(&groups, &order, &earlier)),
        // All ranked pages are shown already, as copies of a few.
        false => ranked.last().filter(|_| found.is_cut).map(|last| (last.place(), Vec::new())),
    };
    let seen = (seen + depth) as u64;
    let next = place.map(|(place, ahead)| Cursor { seen, now: request.now, place, counts, ahead });

    let mut others: HashMap<u64, i64> = HashMap::new();
    groups.iter().for_each(|group| *others.entry(group.first.site).or_default() += 1);
    shown.iter().for_each(|at| *others.entry(groups[*at].first.site).or_default() -= 1);
    let mut more_of = BTreeSet::new();
    let shown: Vec<&Group> = shown.iter().map(|at| &groups[*at]).collect();
    let pages: Vec<Address> = shown.iter().map(|group| group.first.at).collect();
    let records = open.records(&pages, &plan)?;
    let explanations = match request.explain {
        true => explain(&open, &plan, &statistics, &shown, request.now)?.into_iter().map(Some).collect(),
        false => vec![None; shown.len()],
    };
    let mut hits = Vec::with_capacity(shown.len());
    for ((group, record), explanation) in shown.into_iter().zip(records).zip(explanations) {
        if others.get(&group.first.site).is_some_and(|others| *others > 0) {
            more_of.insert(record.host.clone());
        }
        let whole = request.with_records.then(|| Box::new(record.clone()));
        let hit = hit(record, group, pages.len(), &plan, &mut analyzers);
        hits.push(SearchHit { explanation, record: whole, ..hit });
    }
    let Counts { total, partial, copies } = counts;
    let too_common = plan.too_common;
    Ok(Results { total, partial, copies, hits, more_of, next, unknown, too_common, mended })
}

/// The plan of a query, and the results of the look-ups for it.
struct Prepared {
    plan: Plan,
    statistics: Statistics,
    /// Words of the query that no page has, as typed.
    unknown: Vec<String>,
    mended: Vec<Mended>,
}

/// Plans a query within its budget: completes beginnings of words, and adds stand-ins for unknown words.
fn prepare(open: &OpenSplits<'_>, request: &Request, partial: bool, analyzers: &mut Analyzers) -> Result<Prepared> {
    let (query, fields) = (&request.query, schema().1);
    let beginnings = beginnings(&open.splits, query, analyzers)?;
    let mut plan = Plan::new(query, languages(&open.languages(), query), &fields, analyzers);
    beginnings.iter().for_each(|(word, stems)| plan.spell_out(word, stems, &fields));
    let mut statistics = Statistics::default();
    count(open, &plan, &mut statistics)?;
    statistics.spelled_in = languages_of(&open.splits, &plan.ambiguous_words(&statistics))?;
    let unknown = unknown(&plan, &Corpus::new(&statistics, &plan));
    let mut mended = match request.scope {
        Scope::SomeWords => mend(open, &plan, &unknown, &statistics, analyzers)?,
        Scope::AllWords => Vec::new(),
    };
    // If no page has a required word, nothing is found, whatever replaces the others.
    if partial && !mended.is_empty() && !unknown.iter().any(|word| plan.is_strict(word)) {
        mended.iter().for_each(|mended| plan.stand_in(&mended.word, &mended.stems, &fields));
        count(open, &plan, &mut statistics)?;
        // A word without its signs may be on no page either.
        let is_known = |stem: &Stem| statistics.pages_with(&stem.text()).is_none_or(|pages| pages > 0);
        mended.retain(|mended| mended.stems.iter().any(is_known));
    }
    let lists: Vec<Lists> = plan.reads().into_iter().map(|(text, times)| statistics.lists(text, times)).collect();
    plan.leave_unread(&Unread::beyond(request.budget, &lists));
    Ok(Prepared { plan, statistics, unknown: unknown.into_iter().map(|word| word.text).collect(), mended })
}

/// Returns the words of the query of which no page has any part.
fn unknown(plan: &Plan, corpus: &Corpus<'_>) -> Vec<Typed> {
    let known = bits(corpus.is_known.iter().copied()) | plan.stop_words();
    plan.typed.iter().filter(|word| (word.units & known).is_empty()).cloned().collect()
}

/// Counts the pages that have the terms of a plan, as far as they were not counted before.
fn count(open: &OpenSplits<'_>, plan: &Plan, statistics: &mut Statistics) -> Result<()> {
    let terms: Vec<String> = plan.reads().into_keys().filter(|term| statistics.pages_with(term).is_none()).collect();
    if !terms.is_empty() {
        // Each count includes the total numbers of pages again, so only terms are carried over.
        *statistics = open.count(&terms, plan)?.with_terms_of(std::mem::take(statistics));
    }
    Ok(())
}

/// Returns the best pages in order, without outdated copies, and the number of those copies.
fn in_order(found: &Ranked, selection: &Selection) -> (Vec<Candidate>, [u64; 2]) {
    // Proximity only raises scores, so the pages of the head stay ahead of all others.
    let is_head: HashSet<Address> = found.head.iter().map(|(candidate, _)| candidate.at).collect();
    let head = found.head.iter().map(|(candidate, score)| candidate.with(*score));
    let is_after = |candidate: &Candidate| selection.after.is_none_or(|after| candidate.place().comes_after(after));
    let mut ranked: Vec<Candidate> = head.filter(is_after).collect();
    ranked.extend(found.best.iter().filter(|candidate| !is_head.contains(&candidate.at)));
    let repeated = keep_newest_copies(&mut ranked);
    keep_best(&mut ranked, selection.keep);
    (ranked, repeated)
}

/// Returns the number of pages with all words, or with some of them, that are not shown because they are copies.
fn copies(groups: &[Group], has_all: bool) -> u64 {
    let groups = groups.iter().filter(|group| group.best.has_all == has_all);
    groups.map(|group| u64::from(group.size - 1)).sum()
}

/// Returns the place up to which all groups are shown, and the keys of shown groups (also `earlier` ones) after it.
fn place_after(groups: &[Group], order: &[usize], earlier: &[Group]) -> (Place, Vec<u64>) {
    let shown: HashSet<usize> = order.iter().copied().collect();
    let whole = (0..groups.len()).take_while(|at| shown.contains(at)).count();
    let place = groups[whole.saturating_sub(1)].best.place();
    let ahead = order.iter().filter(|at| **at >= whole).map(|at| &groups[*at]);
    let ahead = ahead.chain(earlier.iter().filter(|group| group.best.place().comes_after(place)));
    (place, ahead.map(|group| group.best.key.0).collect())
}

/// Explains the scores of the best pages of some groups.
fn explain(
    open: &OpenSplits<'_>,
    plan: &Plan,
    statistics: &Statistics,
    groups: &[&Group],
    now: Timestamp,
) -> Result<Vec<Explanation>> {
    let pages: Vec<Address> = groups.iter().map(|group| group.best.at).collect();
    let explained = groups.iter().zip(open.explain(plan, statistics, &pages)?).map(|(group, shares)| {
        let words: Vec<(String, f32)> = plan.units.iter().map(|unit| unit.text.clone()).zip(shares).collect();
        let freshness = freshness(Timestamp::from_millis(group.best.date), now);
        let sum: f32 = words.iter().map(|(_, score)| score).sum();
        let completeness = completeness(group.best.has_all);
        let rest = sum * freshness * completeness;
        let proximity = if rest > 0.0 { group.best.score.value() / rest } else { 1.0 };
        Explanation { words, proximity, freshness, completeness }
    });
    Ok(explained.collect())
}
