//! A query that is asked of leaves: other processes, each of which opens a part of the splits.
//!
//! The root reads the manifests, says which splits each leaf answers for, asks all of them at once in rounds, and merges
//! what they answer ([`curlew_search::search_leaves`]). A leaf opens only splits that the manifests list, and reads itself
//! which pages are hidden: the root tells it the tags of what it has read, and what a leaf knows with other tags is asked
//! for anew. So no leaf finds what the root knows to be gone.

use crate::catalog::manifest::search_error;
use crate::catalog::splits::{ROUNDS, endless};
use crate::stage::{StageError, with_causes};
use async_trait::async_trait;
use bytes::Bytes;
use curlew_model::{Millis, Year};
use curlew_ports::{Clock, CpuPool, CpuTask, PortError, Tag, compute};
use curlew_search::{FarLeaf, Leaf, LeafAnswer, LeafRequest, OpenLeaf, SearchError, SplitEntry, routes};
use futures::future::{Either, join_all, select};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Time that a leaf has for one round of a query; one that answers later is given up for this query. A cold start and the
/// reads of a cold query take about two seconds.
const LEAF_TIME: Millis = Millis::from_secs(5);
/// Time that all rounds of a query may take together. The function behind the search page has 30 seconds.
const QUERY_TIME: Millis = Millis::from_secs(15);
/// Version of what root and leaf say to each other. While a new version is deployed bit by bit, both are there.
const FORM: u32 = 3;

/// The processes that answer for parts of the splits.
#[async_trait]
pub trait Leaves: Send + Sync {
    /// Returns how many there are.
    fn count(&self) -> usize;

    /// Hands a request to a leaf, which answers it by `Finder::answer_as_leaf`.
    async fn ask(&self, leaf: usize, request: Bytes) -> Result<Bytes, PortError>;
}

/// Leaves, and the number of splits that may match a query from which it is asked of them.
#[derive(Clone)]
pub(crate) struct LeafPlan {
    pub(crate) leaves: Arc<dyn Leaves>,
    pub(crate) from: usize,
}

/// Request of a root to a leaf.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct LeafCall {
    form: u32,
    /// Tags of the manifests that the root has read, by year.
    pub(crate) manifests: Vec<(Year, Option<String>)>,
    /// Tag of the list of blocked hosts that the root has read.
    pub(crate) hosts: Option<String>,
    /// The splits that the leaf answers for: keys by number.
    pub(crate) splits: BTreeMap<usize, String>,
    pub(crate) requests: Vec<LeafRequest>,
}

/// Answer of a leaf.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum LeafReply {
    /// The answers, in the order of the requests.
    Answers(Vec<LeafAnswer>),
    /// A split is not listed any more: the root has to read the manifests anew.
    Stale,
}

impl LeafCall {
    /// Reads what a root says.
    ///
    /// # Errors
    /// If it is something else, or of another version.
    pub(crate) fn read(text: &[u8]) -> Result<LeafCall, StageError> {
        let wrong = |error| StageError::Job(format!("it is no request to a leaf: {error}"));
        let call: LeafCall = serde_json::from_slice(text).map_err(wrong)?;
        match call.form == FORM {
            true => Ok(call),
            false => Err(StageError::Job(format!("a request to a leaf of form {} is not understood", call.form))),
        }
    }
}

/// Knowledge of the root: the tags of manifests and of the list of blocked hosts, and the splits.
pub(crate) struct Known<'a> {
    pub(crate) manifests: &'a [(Year, Option<Tag>)],
    pub(crate) hosts: Option<&'a Tag>,
    pub(crate) entries: &'a [SplitEntry],
}

/// Searches those of the splits that a query wants by asking leaves; returns the result, and the number of pages whose
/// leaves did not answer.
///
/// # Errors
/// [`PortError::NotFound`] if a split is not listed any more; that no leaf answers; or an error of the search itself.
pub(crate) async fn ask_leaves<T, F>(
    leaves: &dyn Leaves,
    (clock, pool): (&dyn Clock, &dyn CpuPool),
    known: Known<'_>,
    wanted: &[usize],
    look: F,
) -> Result<(T, u64), StageError>
where
    T: Send + 'static,
    F: Fn(&[&dyn Leaf]) -> Result<T, SearchError> + Clone + Send + 'static,
{
    let parts: Arc<[Part]> = parts(known.entries, wanted, leaves.count()).into();
    let until = clock.monotonic() + QUERY_TIME;
    for _ in 0..ROUNDS {
        let (look, here) = (look.clone(), parts.clone());
        let look = move || look(&here.iter().map(|part| &part.far as &dyn Leaf).collect::<Vec<_>>());
        match compute(pool, CpuTask::Query, look).await.map_err(PortError::from)? {
            Ok(answer) => return Ok((answer, parts.iter().filter(|part| part.far.is_lost()).map(|p| p.pages).sum())),
            Err(error) if !error.is_not_here() => return Err(search_error(error)),
            Err(_) => {}
        }
        let time = LEAF_TIME.min(until.saturating_sub(clock.monotonic()));
        let rounds = parts.iter().map(|part| ask_part(leaves, clock, part, &known, time));
        for round in join_all(rounds).await {
            round?;
        }
        if parts.iter().all(|part| part.far.is_lost()) {
            let what = "no leaf of the search answers".to_owned();
            return Err(StageError::Port(PortError::Unavailable { what, source: None }));
        }
    }
    Err(endless())
}

/// The splits of one leaf.
struct Part {
    leaf: usize,
    splits: BTreeMap<usize, String>,
    /// Number of pages in them.
    pages: u64,
    far: FarLeaf,
}

/// Divides the wanted splits among leaves. The leaf of a split does not depend on the query.
fn parts(entries: &[SplitEntry], wanted: &[usize], leaves: usize) -> Vec<Part> {
    let splits: Vec<(&str, u64)> = entries.iter().map(|entry| (entry.key.as_str(), entry.docs)).collect();
    let routes = routes(&splits, leaves);
    let mut numbers: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    wanted.iter().for_each(|at| numbers.entry(routes[*at]).or_default().push(*at));
    let part = |(leaf, numbers): (usize, Vec<usize>)| Part {
        leaf,
        splits: numbers.iter().map(|at| (*at, entries[*at].key.clone())).collect(),
        pages: numbers.iter().map(|at| entries[*at].docs).sum(),
        far: FarLeaf::new(numbers.clone(), numbers.iter().flat_map(|at| &entries[*at].languages).cloned().collect()),
    };
    numbers.into_iter().map(part).collect()
}

/// Has a leaf answer what the search wants of it; one that fails, or takes longer than `time`, is given up.
async fn ask_part(
    leaves: &dyn Leaves,
    clock: &dyn Clock,
    part: &Part,
    known: &Known<'_>,
    time: Millis,
) -> Result<(), StageError> {
    let requests = part.far.wanted();
    if requests.is_empty() {
        return Ok(());
    }
    let text = |tag: Option<&Tag>| tag.map(|Tag(text)| text.clone());
    let call = LeafCall {
        form: FORM,
        manifests: known.manifests.iter().map(|(year, tag)| (*year, text(tag.as_ref()))).collect(),
        hosts: text(known.hosts),
        splits: part.splits.clone(),
        requests,
    };
    let bytes = serde_json::to_vec(&call).map_err(|error| StageError::Job(error.to_string()))?;
    let why = match select(leaves.ask(part.leaf, bytes.into()), clock.sleep(time)).await {
        Either::Left((Ok(reply), _)) => match serde_json::from_slice(&reply) {
            Ok(LeafReply::Stale) => return Err(PortError::NotFound("a split".into()).into()),
            Ok(LeafReply::Answers(answers)) => match part.far.supply(call.requests, answers) {
                true => return Ok(()),
                false => "its answers are to other requests".to_owned(),
            },
            Err(error) => format!("its answer cannot be read: {error}"),
        },
        Either::Left((Err(error), _)) => with_causes(&error),
        Either::Right(_) => format!("it takes longer than {} ms", time.0),
    };
    part.far.lose();
    let (leaf, pages) = (part.leaf, part.pages);
    tracing::warn!(leaf, pages, error = why, "a leaf of the search does not answer; its pages are left out");
    Ok(())
}

/// Answers the requests to a leaf over its open splits.
///
/// # Errors
/// [`SearchError::is_not_here`] if parts of splits are missing, which are wanted from then on.
pub(crate) fn answers(leaf: &OpenLeaf<'_>, requests: &[LeafRequest]) -> Result<Vec<LeafAnswer>, SearchError> {
    // All are tried before the first that lacks something ends the round, so that all that is missing is read at once.
    requests.iter().map(|request| leaf.ask(request)).collect::<Vec<_>>().into_iter().collect()
}
