//! Watches: stored queries of the operator's whose new matches are posted to a receiver.
//!
//! Each segment that was published since the last time is read, an index of these records alone is built in memory, and
//! every query runs over it. Matches go into the outbox of their watch, by id alone, before the segments are ticked
//! off, so none is lost; [`Deliver`](super::deliver::Deliver) empties the outbox.

use crate::objects::{from_json, readable};
use crate::suggest::Refusable;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use curlew_catalog::index::TEXT_PER_SPLIT;
use curlew_catalog::listing::all_keys;
use curlew_catalog::manifest::{load_manifest, search_error, unlisted_segments};
use curlew_catalog::segment::SEGMENTS;
use curlew_catalog::{object, segment};
use curlew_crawl::politeness::access::Politeness;
use curlew_model::{DeliverJob, Job, PageId, QueryError, Record, SegmentKey, Timestamp, Year};
use curlew_policy::address::{self, hash_hex};
use curlew_ports::stage::Result;
use curlew_ports::{Blobs, CpuTask, PortError, Queue, compute};
use curlew_search::{
    BuildBudget, Hidden, MAX_DEPTH, Manifest, Query, Request, Scope, SearchError, Split, build_split, search,
};
use serde::{Deserialize, Serialize};
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Display;
use std::sync::Arc;

/// Maximum number of watches: each query runs over all new pages.
pub const MAX_WATCHES: usize = 1_000;
pub(crate) const MATCHES_PER_DELIVERY: usize = 20;
/// Maximum number of deliveries that wait for one receiver; further matches are left out, and the log says so.
const MAX_OUTBOX: usize = 1_000;
/// Maximum number of delivered pages that a watch remembers, so that none is delivered twice because a job ran twice.
const REMEMBERED: usize = 500;
const WATCHES: &str = "watches/";
/// Prefix of the keys of deliveries that wait, by watch.
const OUTBOX: &str = "outbox/";
/// Key of the segments whose records have been matched.
const MATCHED: &str = "watched-segments.json";
const NAME_DIGITS: usize = 16;

/// Error of adding a watch.
pub type WatchError = Refusable<String>;

fn refused<T>(why: impl Into<String>) -> Result<T, WatchError> {
    Err(WatchError::Refused(why.into()))
}

/// A stored query and the receiver of its new matches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Watch {
    /// Name of the watch.
    pub name: String,
    /// The query. Pages that have all of its words match.
    pub query: String,
    /// Address that matches are posted to.
    pub to: String,
    /// Key of the signatures; `None` in lists, since it is shown once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
    /// Time at which it was added.
    pub added: Timestamp,
    /// Fate of its deliveries.
    #[serde(default)]
    pub receiver: ReceiverState,
}

/// Fate of the deliveries to a receiver.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReceiverState {
    /// Matches that were taken.
    pub delivered: u64,
    /// Time of the last delivery that was taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivered_at: Option<Timestamp>,
    /// Tries in a row that failed.
    pub failures: u32,
    /// Time of the first of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failing_since: Option<Timestamp>,
    /// Time of the next try.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_at: Option<Timestamp>,
    /// Reason of the last failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// True if it was given up: matches wait until its job is put back into its queue.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub given_up: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) recent: Vec<PageId>,
}

impl ReceiverState {
    pub(crate) fn took(&mut self, pages: impl IntoIterator<Item = PageId>, now: Timestamp) {
        let before = self.recent.len();
        self.recent.extend(pages);
        self.delivered += (self.recent.len() - before) as u64;
        self.recent.drain(..self.recent.len().saturating_sub(REMEMBERED));
        let (delivered, recent) = (self.delivered, std::mem::take(&mut self.recent));
        *self = ReceiverState { delivered, delivered_at: Some(now), recent, ..ReceiverState::default() };
    }
}

/// A new match, as it waits in an outbox. Only the id of the page is kept, so a removed page leaves nothing behind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Match {
    pub(crate) page: PageId,
    pub(crate) at: Timestamp,
}

/// Adds watches, and finds their new matches.
#[derive(Clone)]
pub struct Watches {
    /// Watches, outboxes, segments and manifests; the guard of addresses, and the pool in which queries run.
    pub(crate) politeness: Arc<Politeness>,
    pub(crate) queue: Arc<dyn Queue>,
}

impl Watches {
    /// Adds a watch whose matches are posted to `to`, signed by a key of these random bytes, unless it is known. A
    /// query that is not understood in full is refused.
    pub async fn add(&self, query: &str, to: &str, random: &[u8]) -> Result<Watch, WatchError> {
        must_be_understood(query)?;
        let to = self.receiver(to)?;
        let name = hash_hex(format!("{query}\n{to}").as_bytes())[..NAME_DIGITS].to_owned();
        if let Some(known) = load(self.politeness.blobs.as_ref(), &name).await? {
            return Ok(known);
        }
        let secret = Some(format!("{SECRET_PREFIX}{}", STANDARD.encode(random)));
        let added = self.politeness.clock.now();
        let watch = Watch { name, query: query.to_owned(), to, secret, added, receiver: ReceiverState::default() };
        self.make_room().await?;
        let added = |known: Option<Watch>| Ok(known.or_else(|| Some(watch.clone())));
        let added = change(self.politeness.blobs.as_ref(), &watch.name, added).await?;
        added.ok_or_else(|| Refusable::Refused("it was removed".to_owned()))
    }

    /// Returns all watches, in the order of their names. A damaged one is left out; it can be removed.
    pub async fn list(&self) -> Result<Vec<Watch>> {
        let blobs = self.politeness.blobs.as_ref();
        let watches = readable(blobs, all_keys(blobs, WATCHES, None).await?).await?;
        Ok(watches.into_iter().map(|(_, watch)| watch).collect())
    }

    /// Removes a watch with all that waits for its receiver; returns false if there is none of this name.
    pub async fn remove(&self, name: &str) -> Result<bool> {
        remove(self.politeness.blobs.as_ref(), name).await
    }

    /// Runs all queries over the records published since the last call, and sends a job for each receiver with matches;
    /// returns their number. After an error the next call goes on.
    pub async fn match_new(&self) -> Result<usize> {
        let watches = self.list().await?;
        if watches.is_empty() {
            return Ok(0);
        }
        let Some(mut matched) = self.matched().await? else {
            self.begin().await?;
            return Ok(0);
        };
        let new = self.published(&matched).await?;
        let mut found = BTreeSet::new();
        for segments in new.chunks(SEGMENTS_AT_ONCE) {
            let records = self.read(segments, &matched).await?;
            for (n, part) in parts(records).into_iter().enumerate() {
                let matches = self.matches(&watches, part).await?;
                for (watch, matches) in watches.iter().zip(matches).filter(|(_, matches)| !matches.is_empty()) {
                    self.put(watch, n, &matches).await?;
                    found.insert(watch.name.clone());
                }
            }
            // First the jobs: one too many finds an empty outbox, one too few would leave a full one.
            let now = self.politeness.clock.now();
            let to_call = watches.iter().filter(|watch| found.contains(&watch.name) && !watch.receiver.given_up);
            let jobs: Vec<_> = to_call.map(|watch| (Job::new(job_of(watch, None)), now)).collect();
            self.queue.send(&jobs).await?;
            matched = self.change_matched(|m| m.with_segments(segments.iter().cloned())).await?;
        }
        self.seal().await?;
        Ok(found.len())
    }

    /// Refuses a new watch if there are [`MAX_WATCHES`]. The first one begins with what is published from now on.
    async fn make_room(&self) -> Result<(), WatchError> {
        let others = self.politeness.blobs.list(WATCHES, None, MAX_WATCHES).await?;
        if others.len() >= MAX_WATCHES {
            return refused(format!("there are {MAX_WATCHES} watches already"));
        }
        if others.is_empty() {
            self.begin().await?;
        }
        Ok(())
    }

    async fn begin(&self) -> Result<()> {
        let published = self.published(&self.matched().await?.unwrap_or_else(|| Manifest::new(0))).await?;
        self.change_matched(|m| m.with_segments(published.iter().cloned())).await?;
        self.seal().await
    }

    /// Forgets the segments of days whose segments are all published and matched.
    async fn seal(&self) -> Result<()> {
        let (manifest, _) = load_manifest(self.politeness.blobs.as_ref(), self.politeness.clock.now().year()).await?;
        let Some(day) = manifest.sealed_through else { return Ok(()) };
        self.change_matched(|m| m.seal(&day)).await.map(drop)
    }

    /// Returns an address in stored form, if matches may be posted there.
    fn receiver(&self, to: &str) -> Result<String, WatchError> {
        let refused = |verb: &str, why: &dyn Display| Refusable::Refused(format!("'{to}' {verb} be called: {why}"));
        let url = address::parse(to, None).map_err(|why| refused("cannot", &why))?;
        self.politeness.fetch.vet(url.as_str()).map_err(|why| refused("may not", &why))?;
        Ok(url.into())
    }

    /// Returns the segments that were matched, as a manifest knows those that are indexed.
    async fn matched(&self) -> Result<Option<Manifest>> {
        let Some(blob) = self.politeness.blobs.get(MATCHED).await? else { return Ok(None) };
        Manifest::from_json(&blob.bytes).map(Some).map_err(search_error)
    }

    async fn change_matched(&self, change: impl Fn(&Manifest) -> Manifest) -> Result<Manifest> {
        object::change(self.politeness.blobs.as_ref(), MATCHED, |bytes| {
            let matched = bytes.map_or_else(|| Ok(Manifest::new(0)), Manifest::from_json).map_err(search_error)?;
            let next = change(&matched);
            let stays = next == matched && bytes.is_some();
            Ok(((!stays).then(|| next.to_json()), next))
        })
        .await
    }

    /// Returns the published segments that were not matched yet, in order.
    async fn published(&self, matched: &Manifest) -> Result<Vec<SegmentKey>> {
        let mut manifests: HashMap<Year, Manifest> = HashMap::new();
        let mut published = Vec::new();
        for key in unlisted_segments(self.politeness.blobs.as_ref(), SEGMENTS, matched).await? {
            let Some(year) = segment::segment_day(&key).get(..4).and_then(|year| year.parse().ok()) else { continue };
            if let Entry::Vacant(entry) = manifests.entry(year) {
                entry.insert(load_manifest(self.politeness.blobs.as_ref(), year).await?.0);
            }
            if manifests[&year].is_indexed(&key) {
                published.push(key);
            }
        }
        Ok(published)
    }

    /// Reads the records of new segments. One that replaces a record that was matched is not new.
    async fn read(&self, segments: &[SegmentKey], matched: &Manifest) -> Result<Vec<Record>> {
        let mut records = Vec::new();
        for key in segments {
            let Some(blob) = self.politeness.blobs.get(key.as_str()).await? else { continue };
            let is_new =
                |record: &Record| !record.replaces.as_ref().is_some_and(|old| matched.is_indexed(&old.segment));
            // Publishing has reported a segment that is damaged.
            let Ok(all) = segment::decode_all(key, &blob.bytes) else { continue };
            records.extend(all.into_iter().map(|(_, record)| record).filter(is_new));
        }
        records.sort_by_key(|record| record.fetched_at);
        Ok(records)
    }

    /// Returns the matches of each watch among these records, in the order of their acceptance.
    async fn matches(&self, watches: &[Watch], records: Vec<Record>) -> Result<Vec<Vec<Match>>> {
        if records.is_empty() {
            return Ok(vec![]);
        }
        let order: BTreeMap<PageId, Timestamp> = records.iter().map(|r| (r.id.clone(), r.fetched_at)).collect();
        let queries: Vec<Query> = watches.iter().map(|watch| Query::read(&watch.query).0).collect();
        let now = self.politeness.clock.now();
        let work = move || -> Result<Vec<Vec<PageId>>, SearchError> {
            let built = build_split(records.into_iter(), &BuildBudget::default())?;
            let split = Split::open(built.bytes.into())?;
            let pages = |query: Query| {
                let request = Request { scope: Scope::AllWords, ..Request::new(query, MAX_DEPTH, now) };
                let results = search(&[&split], &Hidden::default(), &request)?;
                Ok(results.hits.into_iter().filter_map(|hit| hit.id).collect())
            };
            queries.into_iter().map(pages).collect()
        };
        let found = compute(self.politeness.pool.as_ref(), CpuTask::Build, work).await.map_err(PortError::from)?;
        let in_order = |pages: Vec<PageId>| {
            let mut matches: Vec<Match> =
                pages.into_iter().filter_map(|page| Some(Match { at: *order.get(&page)?, page })).collect();
            matches.sort_by_key(|found| found.at);
            matches
        };
        Ok(found.map_err(search_error)?.into_iter().map(in_order).collect())
    }

    /// Puts matches into the outbox of a watch. Its keys are in the order in which they are to be delivered.
    async fn put(&self, watch: &Watch, part: usize, matches: &[Match]) -> Result<()> {
        let prefix = outbox_of(&watch.name);
        let waiting = self.politeness.blobs.list(&prefix, None, MAX_OUTBOX).await?.len();
        let deliveries = matches.len().div_ceil(MATCHES_PER_DELIVERY);
        if waiting + deliveries > MAX_OUTBOX {
            tracing::warn!(
                watch = watch.name,
                to = watch.to,
                waiting,
                "the receiver is far behind; new matches are left out"
            );
        }
        let now = self.politeness.clock.now().as_millis();
        for (n, part_of) in matches.chunks(MATCHES_PER_DELIVERY).enumerate().take(MAX_OUTBOX.saturating_sub(waiting)) {
            let json = object::json(&part_of)?;
            let key = format!("{prefix}{now:015}-{part:03}-{n:04}-{}.json", &hash_hex(&json)[..8]);
            self.politeness.blobs.put_if_absent(&key, json.into()).await?;
        }
        Ok(())
    }
}

/// Beginning of a secret in the form of Standard Webhooks; base64 follows.
pub(crate) const SECRET_PREFIX: &str = "whsec_";
const SEGMENTS_AT_ONCE: usize = 64;

/// Divides records into parts that may be in memory together with their index.
fn parts(records: Vec<Record>) -> Vec<Vec<Record>> {
    let (mut parts, mut part, mut text) = (vec![], vec![], 0);
    for record in records {
        text += record.text.len();
        part.push(record);
        if part.len() >= MAX_DEPTH || text >= TEXT_PER_SPLIT {
            parts.push(std::mem::take(&mut part));
            text = 0;
        }
    }
    parts.push(part);
    parts
}

/// Returns the job that delivers to the receiver of a watch; `retry_at` is the next try of one that has failed.
pub(crate) fn job_of(watch: &Watch, retry_at: Option<Timestamp>) -> DeliverJob {
    DeliverJob { watch: watch.name.clone(), url: watch.to.clone(), retry_at }
}

/// Refuses a query that is not understood in full, since nobody reads notes about it. A `NOT` is read as it was meant.
fn must_be_understood(query: &str) -> Result<(), WatchError> {
    let (_, notes) = Query::read(query);
    match notes.into_iter().find(|note| *note != QueryError::Not) {
        Some(note) => refused(format!("the query cannot be watched as it stands; a search says of it: {note}")),
        None => Ok(()),
    }
}

pub(crate) fn outbox_of(name: &str) -> String {
    format!("{OUTBOX}{name}/")
}

pub(crate) async fn load(blobs: &dyn Blobs, name: &str) -> Result<Option<Watch>> {
    let key = key_of(name);
    Ok(blobs.get(&key).await?.map(|blob| from_json(&key, &blob.bytes)).transpose()?)
}

/// Changes a watch by compare-and-swap; `decide` returns `None` to leave it as it is.
pub(crate) async fn change(
    blobs: &dyn Blobs,
    name: &str,
    decide: impl Fn(Option<Watch>) -> Result<Option<Watch>>,
) -> Result<Option<Watch>> {
    let key = key_of(name);
    object::change(blobs, &key, |bytes| {
        let next = decide(bytes.map(|bytes| from_json(&key, bytes)).transpose()?)?;
        Ok((next.as_ref().map(object::json).transpose()?, next))
    })
    .await
}

pub(crate) async fn remove(blobs: &dyn Blobs, name: &str) -> Result<bool> {
    let is_name = name.len() == NAME_DIGITS && name.bytes().all(|b| b.is_ascii_hexdigit());
    if !is_name || blobs.get(&key_of(name)).await?.is_none() {
        return Ok(false);
    }
    blobs.delete(&key_of(name)).await?;
    for key in all_keys(blobs, &outbox_of(name), None).await? {
        blobs.delete(&key).await?;
    }
    Ok(true)
}

fn key_of(name: &str) -> String {
    format!("{WATCHES}{name}.json")
}
