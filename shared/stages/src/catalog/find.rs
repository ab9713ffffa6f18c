//! Find: runs queries over the published splits of all years.

use crate::catalog::hidden::{self, HIDDEN_KEY};
use crate::catalog::manifest::{manifest_key, parse_manifest, search_error};
use crate::catalog::remembered::Remembered;
use crate::catalog::results::{FindError, SearchHit, SearchResults, SiteEntry, Start};
use crate::catalog::splits::{ListedSplit, OpenSplit, Splits, endless};
use crate::catalog::thumbnails::thumbnail;
use crate::stage::StageError;
use curlew_model::{Millis, PageId, QueryError, ThumbnailId, Timestamp, Year};
use curlew_ports::{
    Blobs, Clock, CpuPool, CpuTask, Event, Events, InlinePool, PortError, RangeCache, SearchOutcome, Tag, compute,
};
use curlew_search::{
    CURSOR_KEY_BYTES, Cursor, Hidden, Hit, Manifest, Query, Request, Results, SearchError, Split, SplitEntry, search,
    sites, suggest, warm,
};
use futures::future::{try_join, try_join_all};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Maximum number of years that have an index.
const YEARS: usize = 200;
/// Time for which the list of years with a manifest is reused before it is listed again. A new year only adds pages, so
/// a stale list never shows a page that is gone.
const YEARS_KNOWN_FOR: Millis = Millis::from_mins(10);
/// Maximum number of tries of a query whose splits are merged away while it runs.
const TRIES: u32 = 3;
/// Maximum number of rounds of reading split data for one query.
const ROUNDS: u32 = 64;

/// Runs queries.
pub struct Finder {
    blobs: Arc<dyn Blobs>,
    clock: Arc<dyn Clock>,
    splits: Splits,
    pool: Arc<dyn CpuPool>,
    events: Arc<dyn Events>,
    /// The manifests as they were last read, by year.
    manifests: Mutex<BTreeMap<Year, Arc<Remembered<Manifest>>>>,
    /// The blocked hosts as they were last read.
    hidden: Remembered<BTreeSet<String>>,
    /// Content of all manifests together.
    read: Mutex<Arc<LiveIndex>>,
    /// The years that have a manifest, and the monotonic time at which they were listed.
    years: Mutex<Option<(BTreeSet<Year>, Millis)>>,
    /// The sites as they were last counted.
    counted: Mutex<Option<CountedSites>>,
    /// Key that cursors are signed with, once it is set.
    cursor_key: OnceLock<[u8; CURSOR_KEY_BYTES]>,
}

/// The sites of an index, and everything that their count depends on.
struct CountedSites {
    index: Arc<LiveIndex>,
    hosts: BTreeSet<String>,
    sites: Arc<[SiteEntry]>,
}

/// The manifests of all years, and the pages that they hide. It is rebuilt only when a manifest changes or a page
/// expires, since a split caches the positions of one set of tombstones.
#[derive(Default)]
struct LiveIndex {
    tags: Vec<(Year, Option<Tag>)>,
    entries: Vec<SplitEntry>,
    splits: Vec<ListedSplit>,
    /// Pages of which the split at the same index has only an outdated copy.
    outdated: Vec<Arc<BTreeSet<PageId>>>,
    /// The pages that no query may find, without those of blocked hosts.
    hidden: Hidden,
    /// Time at which the next page expires.
    until: Option<Timestamp>,
}

impl Finder {
    /// Creates a finder over this object store.
    pub fn new(blobs: Arc<dyn Blobs>, clock: Arc<dyn Clock>) -> Finder {
        let splits = Splits::new(blobs.clone());
        let pool = Arc::new(InlinePool);
        Finder {
            blobs,
            clock,
            splits,
            pool,
            events: Arc::new(()),
            manifests: Mutex::default(),
            hidden: Remembered::default(),
            read: Mutex::default(),
            years: Mutex::default(),
            counted: Mutex::default(),
            cursor_key: OnceLock::new(),
        }
    }

    /// Searches the splits in this pool instead of on the caller's thread.
    #[must_use]
    pub fn with_pool(self, pool: Arc<dyn CpuPool>) -> Finder {
        Finder { pool, ..self }
    }

    /// Tells this sink of every query.
    #[must_use]
    pub fn with_events(self, events: Arc<dyn Events>) -> Finder {
        Finder { events, ..self }
    }

    /// Caches the ranges that it reads of the index here. This pays where objects are far away and memory is small.
    #[must_use]
    pub fn with_range_cache(self, cache: Arc<dyn RangeCache>) -> Finder {
        Finder { splits: self.splits.with_range_cache(cache), ..self }
    }

    /// Sets the key that cursors are signed with. Without it no cursor is given and none is accepted.
    pub fn sign_cursors(&self, key: [u8; CURSOR_KEY_BYTES]) {
        // A store has one secret, so the first key stays.
        let _same = self.cursor_key.set(key);
    }

    /// Runs a query and returns `limit` hits from `start` on. Parts of the query that cannot be understood are left out
    /// and listed in [`SearchResults::notes`].
    ///
    /// # Errors
    /// [`FindError::BadQuery`] if nothing of the query can be understood or the cursor does not belong to it; or the
    /// object store's error.
    pub async fn find(&self, text: &str, start: Start<'_>, limit: usize) -> Result<SearchResults, FindError> {
        let began = self.clock.monotonic();
        let found = self.run(text, start, limit, false).await;
        let outcome = match &found {
            Ok(results) if results.total > 0 => SearchOutcome::Hits,
            Ok(_) => SearchOutcome::Nothing,
            Err(FindError::BadQuery(_)) => SearchOutcome::BadQuery,
            Err(FindError::Port(_)) => SearchOutcome::Failed,
        };
        self.events.note(&Event::Searched { outcome, took: self.clock.monotonic().saturating_sub(began) });
        found
    }

    /// Returns the first hits of a query, each with an explanation of its score.
    ///
    /// # Errors
    /// As [`Finder::find`].
    pub async fn explain(&self, text: &str, limit: usize) -> Result<SearchResults, FindError> {
        self.run(text, Start::Offset(0), limit, true).await
    }

    async fn run(&self, text: &str, start: Start<'_>, limit: usize, explain: bool) -> Result<SearchResults, FindError> {
        let (query, notes) = Query::read(text);
        if query.is_empty() {
            return Err(FindError::BadQuery(notes.into_iter().next().unwrap_or(QueryError::Empty)));
        }
        let (mut after, mut now, mut offset) = (None, self.clock.now(), 0);
        match start {
            Start::Offset(from) => offset = from,
            Start::After(cursor) => {
                let cursor = self.cursor_key.get().and_then(|key| Cursor::decode(cursor, text, key));
                let cursor = cursor.ok_or(FindError::BadQuery(QueryError::Cursor))?;
                now = cursor.now();
                after = Some(cursor);
            }
        }
        let question = Arc::new(Question { text: text.to_owned(), query, after, now, offset, limit, explain });
        let asked = question.clone();
        let look = move |splits: &[&Split], hidden: &Hidden| asked.look(splits, hidden);
        let (_, (results, suggestion)) =
            self.look(|split| split.may_match(&question.query), look).await.map_err(port_error)?;
        let mut hits = Vec::with_capacity(results.hits.len());
        for hit in results.hits {
            hits.push(self.shown(hit).await.map_err(port_error)?);
        }
        let before = question.after.as_ref().map_or(question.offset as u64, Cursor::seen);
        let next = results.next.zip(self.cursor_key.get()).map(|(next, key)| next.encode(&question.text, key));
        let Results { total, partial, is_mixed, copies, unknown, more_of, .. } = results;
        Ok(SearchResults { total, partial, is_mixed, unknown, copies, hits, more_of, before, next, suggestion, notes })
    }

    /// Returns the sites that have pages in the index, in the order of their host names. They are counted anew only if
    /// the index or the list of blocked hosts has changed.
    ///
    /// # Errors
    /// The object store's error.
    pub async fn sites(&self) -> Result<Arc<[SiteEntry]>, PortError> {
        let index = self.manifests(self.clock.now()).await.map_err(port_error)?;
        let hosts = self.hidden_hosts().await.map_err(port_error)?;
        let same = |counted: &&CountedSites| Arc::ptr_eq(&counted.index, &index) && counted.hosts == *hosts;
        let counted =
            self.counted.lock().unwrap_or_else(PoisonError::into_inner).as_ref().filter(same).map(|c| c.sites.clone());
        if let Some(sites) = counted {
            return Ok(sites);
        }
        let (opened, sites) = self.look(|_| true, sites).await.map_err(port_error)?;
        let sites: Arc<[SiteEntry]> = sites.into();
        let Opened { index, hidden, .. } = opened;
        let counted = CountedSites { index, hosts: hidden.hosts.clone(), sites: sites.clone() };
        *self.counted.lock().unwrap_or_else(PoisonError::into_inner) = Some(counted);
        Ok(sites)
    }

    /// Runs a function over the published splits that `may_match`, and once more if some of them are merged away
    /// meanwhile.
    async fn look<T, F>(
        &self,
        may_match: impl Fn(&SplitEntry) -> bool + Sync,
        look: F,
    ) -> Result<(Opened, T), StageError>
    where
        T: Send + 'static,
        F: Fn(&[&Split], &Hidden) -> Result<T, SearchError> + Clone + Send + 'static,
    {
        let mut tries = 0;
        loop {
            tries += 1;
            match self.look_once(&may_match, &look).await {
                Err(StageError::Port(PortError::NotFound(_))) if tries < TRIES => {}
                answer => return answer,
            }
        }
    }

    async fn look_once<T, F>(
        &self,
        may_match: &(impl Fn(&SplitEntry) -> bool + Sync),
        look: &F,
    ) -> Result<(Opened, T), StageError>
    where
        T: Send + 'static,
        F: Fn(&[&Split], &Hidden) -> Result<T, SearchError> + Clone + Send + 'static,
    {
        let opened = self.open(may_match).await?;
        let splits: Arc<[Arc<Split>]> = opened.splits.iter().map(|opened| opened.split.clone()).collect();
        // The parts that a round lacks are read before the next one.
        for _ in 0..ROUNDS {
            let (look, splits, hidden) = (look.clone(), splits.clone(), opened.hidden.clone());
            let look = move || look(&splits.iter().map(AsRef::as_ref).collect::<Vec<_>>(), &hidden);
            let error = match compute(self.pool.as_ref(), CpuTask::Query, look).await.map_err(PortError::from)? {
                Ok(answer) => {
                    self.splits.trim();
                    return Ok((opened, answer));
                }
                Err(error) => error,
            };
            // A missing part may be on its way for another query, and is then not requested again.
            if !self.splits.fetch(&opened.splits).await? && !error.is_not_here() {
                return Err(search_error(error));
            }
        }
        Err(endless())
    }

    async fn open(&self, may_match: &(impl Fn(&SplitEntry) -> bool + Sync)) -> Result<Opened, StageError> {
        let (index, hosts) = try_join(self.manifests(self.clock.now()), self.hidden_hosts()).await?;
        let wanted: Vec<usize> = (0..index.entries.len()).filter(|at| may_match(&index.entries[*at])).collect();
        let splits = self.splits.wanted(&index.splits, &wanted).await?;
        for (opened, at) in splits.iter().zip(wanted) {
            opened.split.set_outdated(index.outdated[at].clone());
        }
        let hidden = Arc::new(Hidden { hosts: BTreeSet::clone(&hosts), ..index.hidden.clone() });
        Ok(Opened { index, splits, hidden })
    }

    async fn hidden_hosts(&self) -> Result<Arc<BTreeSet<String>>, StageError> {
        let parse = |bytes: Option<&[u8]>| bytes.map_or_else(|| Ok(BTreeSet::new()), |b| Ok(hidden::parse(b)?.hosts));
        Ok(self.hidden.load(self.blobs.as_ref(), HIDDEN_KEY, parse).await?.0)
    }

    async fn manifests(&self, now: Timestamp) -> Result<Arc<LiveIndex>, StageError> {
        let years = self.years().await?;
        let remembered: Vec<(Year, Arc<Remembered<Manifest>>)> = {
            let mut known = self.manifests.lock().unwrap_or_else(PoisonError::into_inner);
            years.into_iter().map(|year| (year, known.entry(year).or_default().clone())).collect()
        };
        let loaded = remembered.iter().map(async |(year, remembered)| {
            let key = manifest_key(*year);
            remembered.load(self.blobs.as_ref(), &key, |bytes| parse_manifest(*year, bytes)).await
        });
        let (manifests, tags): (Vec<Arc<Manifest>>, Vec<Option<Tag>>) = try_join_all(loaded).await?.into_iter().unzip();
        let tags: Vec<(Year, Option<Tag>)> = remembered.iter().map(|(year, _)| *year).zip(tags).collect();
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if read.tags != tags || read.until.is_some_and(|until| until <= now) {
            *read = Arc::new(LiveIndex::of(&manifests, tags, now, &read));
        }
        Ok(read.clone())
    }

    /// Returns the years whose manifests are read. Listing costs more than reading, so the list is cached.
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

    async fn shown(&self, hit: Hit) -> Result<SearchHit, StageError> {
        // A thumbnail object that does not exist (yet) is not linked. A thumbnail frame beside its record exists as
        // long as the record.
        let thumbnail = match hit.thumbnail {
            Some(ThumbnailId::Frame(at)) => Some(ThumbnailId::Frame(at)),
            Some(id) => thumbnail(self.blobs.as_ref(), &id).await?.map(|_| id),
            None => None,
        };
        Ok(SearchHit {
            url: hit.url,
            title: hit.title,
            snippet: hit.snippet.text,
            marks: hit.snippet.marks,
            image: hit.image,
            thumbnail,
            site: hit.site,
            author: hit.author,
            feed: hit.feed,
            published: hit.published,
            language: hit.language,
            all_words: hit.has_all,
            missing: hit.missing,
            explanation: hit.explanation,
            score: hit.score,
            copies: hit.copies,
        })
    }
}

impl LiveIndex {
    /// Combines the manifests of all years. What is as it was in the last ones keeps its address, by which open splits
    /// know that they need not look it up again.
    fn of(manifests: &[Arc<Manifest>], tags: Vec<(Year, Option<Tag>)>, now: Timestamp, last: &LiveIndex) -> LiveIndex {
        let known: HashMap<&str, &Arc<BTreeSet<PageId>>> =
            last.entries.iter().map(|entry| entry.key.as_str()).zip(&last.outdated).collect();
        // Splits of a format that cannot be read are left out until the next publishing has replaced them.
        let readable = manifests.iter().flat_map(|m| m.splits.iter().filter(|s| s.is_readable()).map(move |s| (m, s)));
        let (mut entries, mut splits, mut outdated) = (Vec::new(), Vec::new(), Vec::new());
        for (manifest, entry) in readable {
            let pages = manifest.outdated_in(entry);
            let same = known.get(entry.key.as_str()).filter(|known| BTreeSet::eq(known, &pages));
            outdated.push(same.map_or_else(|| Arc::new(pages), |known| Arc::clone(known)));
            splits.push(ListedSplit::of(entry));
            entries.push(entry.clone());
        }
        let hidden = Hidden::of(manifests.iter().map(AsRef::as_ref), BTreeSet::new(), now);
        let hidden = match hidden.tombstones == last.hidden.tombstones {
            true => last.hidden.clone(),
            false => hidden.after(&last.hidden.tombstones),
        };
        let until = manifests.iter().filter_map(|m| m.next_expiry(now)).min();
        LiveIndex { tags, entries, splits, outdated, hidden, until }
    }
}

/// The published splits, opened, and the pages that are hidden in them.
struct Opened {
    index: Arc<LiveIndex>,
    splits: Vec<OpenSplit>,
    hidden: Arc<Hidden>,
}

/// Returns the error of an object store; nothing else can fail here but by its contents.
fn port_error(error: StageError) -> PortError {
    match error {
        StageError::Port(error) => error,
        StageError::Job(why) => PortError::Corrupt { what: "the index".into(), why },
    }
}

/// A query with its options.
struct Question {
    text: String,
    query: Query,
    after: Option<Cursor>,
    now: Timestamp,
    offset: usize,
    limit: usize,
    explain: bool,
}

impl Question {
    /// Searches the parts that are in memory. If one is missing, marks all parts that the query needs as wanted.
    fn look(&self, splits: &[&Split], hidden: &Hidden) -> Result<(Results, Option<String>), SearchError> {
        let Question { text, query, after, now, offset, limit, explain } = self;
        let after = after.as_ref();
        let request = Request { offset: *offset, after, explain: *explain, ..Request::new(query, *limit, *now) };
        let answered = search(splits, hidden, request).and_then(|results| {
            let suggestion = suggest(splits, hidden, (text, query), &results, *now)?;
            Ok((results, suggestion))
        });
        answered.inspect_err(|_| warm(splits, hidden, query))
    }
}
