//! Find: runs queries over the splits of all years, as they are published now.

use crate::block::hidden_hosts;
use crate::index::{load_manifest, search_error};
use crate::{StageError, thumbnail};
use curlew_model::{Millis, PageId, ThumbnailId, Timestamp, Year};
use curlew_ports::{Blobs, Clock, FindError, Found, FoundHit, PortError, Tag};
use curlew_search::{Hidden, Hit, Query, Request, Split, search};
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

/// Most years that have an index.
const YEARS: usize = 200;
/// How long it is taken for granted that there is no manifest but those of the years known and of the present one. One
/// more year makes more pages found and none fewer, so nothing that is gone depends on it.
const YEARS_KNOWN_FOR: Millis = Millis::from_mins(10);
/// How often a query starts over since a split was merged away under it.
const TRIES: u32 = 3;

/// Runs queries.
pub struct Finder {
    blobs: Arc<dyn Blobs>,
    clock: Arc<dyn Clock>,
    /// Splits never change, so one that is open stays open while a manifest lists it.
    open: Mutex<HashMap<String, Arc<Split>>>,
    /// The manifests as they were read last.
    read: Mutex<Arc<Read>>,
    /// The years that have a manifest, and when that was found out, by the monotonic clock.
    years: Mutex<Option<(BTreeSet<Year>, Millis)>>,
}

/// The manifests of all years, and what they say must not be found. Made anew only when one of them changes or a page's
/// time is over, since a split remembers where the tombstones of one set lie in it.
#[derive(Default)]
struct Read {
    tags: Vec<(Year, Option<Tag>)>,
    splits: Vec<String>,
    tombstones: Arc<BTreeSet<PageId>>,
    /// When one more page must not be found.
    until: Option<Timestamp>,
}

impl Finder {
    /// Over this object store.
    pub fn new(blobs: Arc<dyn Blobs>, clock: Arc<dyn Clock>) -> Finder {
        Finder { blobs, clock, open: Mutex::default(), read: Mutex::default(), years: Mutex::default() }
    }

    /// Runs a query: `limit` hits after the first `offset`.
    ///
    /// # Errors
    /// A sentence about the query, or what the object store says.
    pub async fn find(&self, text: &str, offset: usize, limit: usize) -> Result<Found, FindError> {
        let query = Query::parse(text).map_err(|e| FindError::BadQuery(e.to_string()))?;
        let now = self.clock.now();
        let mut tries = 0;
        loop {
            tries += 1;
            match self.once(&query, offset, limit, now).await {
                Err(StageError::Port(PortError::NotFound(_))) if tries < TRIES => {}
                Err(StageError::Port(error)) => return Err(FindError::Port(error)),
                Err(StageError::Job(why)) => {
                    return Err(FindError::Port(PortError::Corrupt { what: "the index".into(), why }));
                }
                Ok(found) => return Ok(found),
            }
        }
    }

    async fn once(&self, query: &Query, offset: usize, limit: usize, now: Timestamp) -> Result<Found, StageError> {
        let read = self.manifests(now).await?;
        let splits = self.splits(&read.splits).await?;
        let hosts = hidden_hosts(self.blobs.as_ref()).await?;
        let hidden = Hidden { tombstones: read.tombstones.clone(), hosts };
        let refs: Vec<&Split> = splits.iter().map(Arc::as_ref).collect();
        let results = search(&refs, &hidden, Request { query, limit, offset, now }).map_err(search_error)?;
        let mut hits = Vec::with_capacity(results.hits.len());
        for hit in results.hits {
            hits.push(self.shown(hit).await?);
        }
        Ok(Found { total: results.total, hits })
    }

    async fn manifests(&self, now: Timestamp) -> Result<Arc<Read>, StageError> {
        let mut manifests = Vec::new();
        let mut tags = Vec::new();
        for year in self.years().await? {
            let (manifest, tag) = load_manifest(self.blobs.as_ref(), year).await?;
            manifests.push(manifest);
            tags.push((year, tag));
        }
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if read.tags != tags || read.until.is_some_and(|until| until <= now) {
            let splits = manifests.iter().flat_map(|m| m.splits.iter().map(|s| s.key.clone())).collect();
            let tombstones = Hidden::of(&manifests, BTreeSet::new(), now).tombstones;
            let until = manifests.iter().filter_map(|m| m.next_expiry(now)).min();
            *read = Arc::new(Read { tags, splits, tombstones, until });
        }
        Ok(read.clone())
    }

    /// The years to read the manifests of. Listing costs more than reading, so it is done now and then.
    async fn years(&self) -> Result<BTreeSet<Year>, StageError> {
        let known = self.years.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let now = self.clock.monotonic();
        let is_new = |at: Millis| now.saturating_sub(at) < YEARS_KNOWN_FOR;
        let mut years = match known.filter(|(_, at)| is_new(*at)) {
            Some((years, _)) => years,
            None => {
                let keys = self.blobs.list("manifests/", None, YEARS).await?;
                let years: BTreeSet<Year> =
                    keys.iter().filter_map(|key| key.get(10..14).and_then(|y| y.parse().ok())).collect();
                *self.years.lock().unwrap_or_else(PoisonError::into_inner) = Some((years.clone(), now));
                years
            }
        };
        years.insert(self.clock.now().year());
        Ok(years)
    }

    async fn splits(&self, keys: &[String]) -> Result<Vec<Arc<Split>>, StageError> {
        let mut splits = Vec::with_capacity(keys.len());
        for key in keys {
            let known = self.open.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned();
            splits.push(match known {
                Some(split) => split,
                None => {
                    let blob = self.blobs.get(key).await?.ok_or_else(|| PortError::NotFound(key.clone()))?;
                    Arc::new(Split::open(blob.bytes).map_err(search_error)?)
                }
            });
        }
        let now_open = keys.iter().cloned().zip(splits.iter().cloned()).collect();
        *self.open.lock().unwrap_or_else(PoisonError::into_inner) = now_open;
        Ok(splits)
    }

    async fn shown(&self, hit: Hit) -> Result<FoundHit, StageError> {
        // A thumbnail that was never made, or not yet, is not promised to the reader. One that lies beside its record is
        // there as long as that is.
        let thumbnail = match hit.thumbnail {
            Some(ThumbnailId::Frame(at)) => Some(ThumbnailId::Frame(at)),
            Some(id) => thumbnail(self.blobs.as_ref(), &id).await?.map(|_| id),
            None => None,
        };
        Ok(FoundHit {
            url: hit.url,
            title: hit.title,
            snippet: hit.snippet.text,
            marks: hit.snippet.marks,
            image: hit.image,
            thumbnail,
            site: hit.site,
            published: hit.published,
            score: hit.score,
        })
    }
}
