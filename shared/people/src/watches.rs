//! Watches: the operator's stored queries, whose new matches are posted to a receiver.
//!
//! A run reads the segments published since the last run, indexes their records in memory, and runs every query over
//! this index. It writes matches, as page ids, to the outbox of their watch before it marks the segments as matched, so
//! no match is lost. [`Watches::deliver`] empties the outbox.

use crate::objects::{self, from_json, readable};
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
use curlew_ports::{Blobs, CpuTask, Pages, PortError, Queue, compute};
use curlew_search::{
    BuildBudget, Hidden, MAX_DEPTH, Manifest, Query, Request, Scope, SearchError, Split, build_split, search,
};
use serde::{Deserialize, Serialize};
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Display;
use std::sync::Arc;

/// Maximum number of watches; the query of each runs over all new pages.
pub const MAX_WATCHES: usize = 1_000;
pub(crate) const MATCHES_PER_DELIVERY: usize = 20;
/// Maximum number of waiting deliveries per receiver; further matches are dropped with a warning in the log.
const MAX_OUTBOX: usize = 1_000;
/// Number of delivered pages that a watch remembers, so that a job that runs twice does not deliver a page twice.
const REMEMBERED: usize = 500;
const WATCHES: &str = "watches/";
/// Prefix of the keys of waiting deliveries; the watch's name follows.
const OUTBOX: &str = "outbox/";
/// Key of the object that lists the segments already matched.
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
    /// Name of the watch: a hash of query and receiver.
    pub name: String,
    /// The query. A page matches if it has all words of the query.
    pub query: String,
    /// Address that matches are posted to.
    pub to: String,
    /// Key of the signatures; `None` where it must not be shown: people see it once, when the watch is added.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
    /// Time at which the watch was added.
    pub added: Timestamp,
    /// State of the watch's deliveries.
    #[serde(default)]
    pub receiver: ReceiverState,
}

/// State of the deliveries to a receiver.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReceiverState {
    /// Number of delivered matches.
    pub delivered: u64,
    /// Time of the last successful delivery.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivered_at: Option<Timestamp>,
    /// Number of failed attempts since the last success.
    pub failures: u32,
    /// Time of the first failure since the last success.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failing_since: Option<Timestamp>,
    /// Time of the next attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_at: Option<Timestamp>,
    /// Reason of the last failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// True if the receiver was given up: matches wait until an operator puts its job back into the queue.
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

/// A new match in an outbox. It names its page by id only, so a removed page leaves no content behind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Match {
    pub(crate) page: PageId,
    pub(crate) at: Timestamp,
}

/// Adds watches, finds their new matches, and posts these to their receivers.
#[derive(Clone)]
pub struct Watches {
    /// Stores of watches, outboxes, segments and manifests; the address guard; the pool that runs queries.
    pub(crate) politeness: Arc<Politeness>,
    /// Rows of pages, which decide whether a match is still delivered.
    pub(crate) pages: Arc<dyn Pages>,
    pub(crate) queue: Arc<dyn Queue>,
}

impl Watches {
    /// Adds a watch whose matches are posted to `to`, signed with a key of these random bytes; returns the existing
    /// watch if there is one with this query and receiver. Refuses a query that is not understood in full.
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
        let json = object::json(&watch)?;
        if self.politeness.blobs.put_if_absent(&key_of(&watch.name), json.into()).await? {
            return Ok(watch);
        }
        let added = load(self.politeness.blobs.as_ref(), &watch.name).await?;
        added.ok_or_else(|| Refusable::Refused("it was removed".to_owned()))
    }

    /// Returns all watches, ordered by name. Damaged ones are left out, but can be removed.
    pub async fn list(&self) -> Result<Vec<Watch>> {
        let blobs = self.politeness.blobs.as_ref();
        let watches = readable(blobs, all_keys(blobs, WATCHES, None).await?).await?;
        Ok(watches.into_iter().map(|(_, watch)| watch).collect())
    }

    /// Removes a watch and its outbox; returns false if there is no watch of this name.
    pub async fn remove(&self, name: &str) -> Result<bool> {
        remove(self.politeness.blobs.as_ref(), name).await
    }

    /// Runs all queries over the records published since the last call, and sends a job for each watch with matches;
    /// returns the number of these watches. After an error the next call continues.
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
            // Jobs are sent before the segments are marked: a superfluous job does no harm, a lost one would.
            let now = self.politeness.clock.now();
            let to_call = watches.iter().filter(|watch| found.contains(&watch.name) && !watch.receiver.given_up);
            let jobs: Vec<_> = to_call.map(|watch| (Job::new(job_of(watch, None)), now)).collect();
            self.queue.send(&jobs).await?;
            matched = self.change_matched(|m| m.with_segments(segments.iter().cloned())).await?;
        }
        self.seal().await?;
        Ok(found.len())
    }

    /// Refuses a new watch if there are [`MAX_WATCHES`]. The first watch matches only pages published from now on.
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

    /// Removes the segments of a day from the list once all of them are published and matched.
    async fn seal(&self) -> Result<()> {
        let manifest = load_manifest(self.politeness.blobs.as_ref(), self.politeness.clock.now().year()).await?;
        let Some(day) = manifest.sealed_through else { return Ok(()) };
        self.change_matched(|m| m.seal(&day)).await.map(drop)
    }

    /// Returns an address in stored form if matches may be posted to it.
    fn receiver(&self, to: &str) -> Result<String, WatchError> {
        let refused = |verb: &str, why: &dyn Display| Refusable::Refused(format!("'{to}' {verb} be called: {why}"));
        let url = address::parse(to, None).map_err(|why| refused("cannot", &why))?;
        self.politeness.fetch.vet(url.as_str()).map_err(|why| refused("may not", &why))?;
        Ok(url.into())
    }

    /// Returns the matched segments, as a manifest that lists them as indexed; `None` before the first run.
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

    /// Returns the published segments that have not been matched yet, in order.
    async fn published(&self, matched: &Manifest) -> Result<Vec<SegmentKey>> {
        let mut manifests: HashMap<Year, Manifest> = HashMap::new();
        let mut published = Vec::new();
        for key in unlisted_segments(self.politeness.blobs.as_ref(), SEGMENTS, matched).await? {
            let Some(year) = segment::segment_day(&key).get(..4).and_then(|year| year.parse().ok()) else { continue };
            if let Entry::Vacant(entry) = manifests.entry(year) {
                entry.insert(load_manifest(self.politeness.blobs.as_ref(), year).await?);
            }
            if manifests[&year].is_indexed(&key) {
                published.push(key);
            }
        }
        Ok(published)
    }

    /// Reads the records of new segments, except those that replace an already matched record.
    async fn read(&self, segments: &[SegmentKey], matched: &Manifest) -> Result<Vec<Record>> {
        let mut records = Vec::new();
        for key in segments {
            let Some(blob) = self.politeness.blobs.get(key.as_str()).await? else { continue };
            let is_new =
                |record: &Record| !record.replaces.as_ref().is_some_and(|old| matched.is_indexed(&old.segment));
            // Publishing has already reported a damaged segment.
            let Ok(all) = segment::decode_all(key, &blob.bytes) else { continue };
            records.extend(all.into_iter().map(|(_, record)| record).filter(is_new));
        }
        records.sort_by_key(|record| record.fetched_at);
        Ok(records)
    }

    /// Returns the matches of each watch among these records, ordered by the time of their fetch.
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

    /// Writes matches to the outbox of a watch, under keys in the order of delivery.
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

/// Prefix of a secret in the Standard Webhooks format; base64 follows.
pub(crate) const SECRET_PREFIX: &str = "whsec_";
const SEGMENTS_AT_ONCE: usize = 64;

/// Divides records into parts small enough to be in memory together with their index.
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

/// Returns the job that delivers to a watch's receiver; `retry_at` is the time of the next attempt after a failure.
pub(crate) fn job_of(watch: &Watch, retry_at: Option<Timestamp>) -> DeliverJob {
    DeliverJob { watch: watch.name.clone(), url: watch.to.clone(), retry_at }
}

/// Refuses a query that is not understood in full: nobody would read the notes about it. A `NOT` is accepted as meant.
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
    objects::load(blobs, &key_of(name)).await
}

/// Changes the receiver's state of a watch, and returns the watch; `None` if it was removed.
pub(crate) async fn change_receiver(
    blobs: &dyn Blobs,
    name: &str,
    change: impl Fn(&mut ReceiverState),
) -> Result<Option<Watch>> {
    let key = key_of(name);
    object::change(blobs, &key, |bytes| {
        let Some(bytes) = bytes else { return Ok((None, None)) };
        let mut watch: Watch = from_json(&key, bytes)?;
        change(&mut watch.receiver);
        Ok((Some(object::json(&watch)?), Some(watch)))
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
