//! Find: runs queries over the published splits of all years.

use crate::hidden::{self, HIDDEN_KEY};
use crate::live_index::{LiveIndex, Unsearched};
use crate::manifest::{manifest_key, manifest_years, parse_if_known, search_error};
use crate::remembered::Remembered;
use crate::results::{FindError, PageText, SearchHit, SearchResults, SiteEntry, SiteProfile, Start};
use crate::splits::{OpenSplit, ROUNDS, Splits, endless};
use crate::thumbnails::has_thumbnail;
use curlew_model::{Millis, PageId, QueryError, ThumbnailId, Timestamp, Year};
use curlew_policy::address::{canonical, current_version, page_id, parse};
use curlew_policy::page::offer::text_for_assistants;
use curlew_ports::stage::{Result, StageError};
use curlew_ports::{
    Blobs, Clock, CpuPool, CpuTask, Event, Events, InlinePool, PortError, RangeCache, SearchOutcome, Tag, compute,
};
use curlew_search::{
    CURSOR_KEY_BYTES, Cursor, Hidden, Manifest, Query, Request, Results, SearchError, Split, SplitEntry, search,
    site_profiles, sites, suggest,
};
use futures::future::{try_join, try_join_all};
use futures::stream::{self, StreamExt, TryStreamExt};
use parking_lot::Mutex;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

/// Time for which the list of years is cached. A stale list never shows a page that is gone.
const YEARS_KNOWN_FOR: Millis = Millis::from_mins(10);
/// Number of thumbnails whose existence is checked concurrently for one page of results.
const THUMBNAILS_AT_ONCE: usize = 16;
/// Maximum number of tries of a query whose splits are merged away while it runs.
const TRIES: u32 = 3;
/// Maximum number of sites whose profiles are read, each with a request if the store is remote.
const PROFILES: usize = 2_000;

/// Runs queries.
pub struct Finder {
    blobs: Arc<dyn Blobs>,
    clock: Arc<dyn Clock>,
    splits: Splits,
    pool: Arc<dyn CpuPool>,
    /// Receives every query.
    pub(crate) events: Arc<dyn Events>,
    /// The manifests as they were last read, by year; `None` for one of another version.
    manifests: Mutex<BTreeMap<Year, Arc<Remembered<Option<Manifest>>>>>,
    hidden: Remembered<BTreeSet<String>>,
    read: Mutex<Arc<LiveIndex>>,
    years: Mutex<Option<(BTreeSet<Year>, Millis)>>,
    counted: Mutex<Option<ListedSites<SiteEntry>>>,
    profiles: Mutex<Option<ListedSites<SiteProfile>>>,
    cursor_key: OnceLock<[u8; CURSOR_KEY_BYTES]>,
}

/// Trims the memory of open splits when a query ends, however it ends.
struct Trims<'a>(&'a Splits);

impl Drop for Trims<'_> {
    fn drop(&mut self) {
        self.0.trim();
    }
}

/// The sites of an index, and everything that the list of them depends on.
struct ListedSites<T> {
    index: Arc<LiveIndex>,
    hosts: BTreeSet<String>,
    sites: Arc<[T]>,
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
            profiles: Mutex::default(),
            cursor_key: OnceLock::new(),
        }
    }

    /// Searches the splits in this pool instead of on the caller's thread.
    #[must_use]
    pub fn with_pool(self, pool: Arc<dyn CpuPool>) -> Finder {
        Finder { pool, ..self }
    }

    /// Caches the ranges of the index that it reads. This pays off if the store is remote and memory is small.
    #[must_use]
    pub fn with_range_cache(self, cache: Arc<dyn RangeCache>) -> Finder {
        Finder { splits: self.splits.with_range_cache(cache), ..self }
    }

    /// Sets the key that cursors are signed with. Without it no cursor is given and none is accepted.
    pub fn sign_cursors(&self, key: [u8; CURSOR_KEY_BYTES]) {
        // A store has one secret, so the first key stays.
        let _same = self.cursor_key.set(key);
    }

    /// Runs a query and returns up to `limit` hits from `start` on. Lists parts that it cannot understand in
    /// [`SearchResults::notes`]. Fails with [`FindError::BadQuery`] if it understands none, or the cursor is another's.
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
    pub async fn explain(&self, text: &str, limit: usize) -> Result<SearchResults, FindError> {
        self.run(text, Start::Offset(0), limit, true).await
    }

    /// Returns the page at an address with the text that an assistant may have; `None` if the index has no such page.
    pub async fn page(&self, address: &str) -> Result<Option<PageText>, PortError> {
        let request = Request { with_records: true, ..Request::new(Query::default(), 1, self.clock.now()) };
        let found = self.at_address(address, &request).await.map_err(port_error)?;
        let hit = found.and_then(|found| found.results.hits.into_iter().next());
        let Some((mut hit, record)) = hit.and_then(|mut hit| hit.record.take().map(|record| (hit, record))) else {
            return Ok(None);
        };
        // Copies are reported only in lists.
        hit.copies = 0;
        let text = text_for_assistants(&record).map(str::to_owned);
        Ok(Some(PageText { hit: self.with_thumbnail(hit).await?, text }))
    }

    async fn run(&self, text: &str, start: Start<'_>, limit: usize, explain: bool) -> Result<SearchResults, FindError> {
        let (query, mut notes) = Query::read(text);
        if query.is_empty() {
            return Err(FindError::BadQuery(notes.into_iter().next().unwrap_or(QueryError::Empty)));
        }
        let mut request = Request { explain, ..Request::new(query, limit, self.clock.now()) };
        match start {
            Start::Offset(from) => request.offset = from,
            Start::After(cursor) => {
                let cursor = self.cursor_key.get().and_then(|key| Cursor::decode(cursor, text, key));
                let cursor = cursor.ok_or(FindError::BadQuery(QueryError::Cursor))?;
                request.now = cursor.now;
                request.after = Some(cursor);
            }
        }
        let answer = match self.at_address(text, &request).await.map_err(port_error)? {
            Some(answer) => answer,
            None => self.ask(text, request).await.map_err(port_error)?,
        };
        let Answer { results, suggestion, before, unsearched } = answer;
        let Results { total, partial, copies, hits, unknown, more_of, too_common, next, .. } = results;
        let hits = stream::iter(hits).map(|hit| self.with_thumbnail(hit)).buffered(THUMBNAILS_AT_ONCE);
        let hits = hits.try_collect().await?;
        let next = next.zip(self.cursor_key.get()).map(|(next, key)| next.encode(text, key));
        notes.extend(too_common.into_iter().map(QueryError::TooCommon));
        Ok(SearchResults {
            total,
            partial,
            unsearched: unsearched.pages,
            unsearched_years: unsearched.years,
            unknown,
            copies,
            hits,
            more_of,
            before,
            next,
            suggestion,
            notes,
        })
    }

    /// Answers a request whose text is the address of a page, if the index has that page.
    async fn at_address(&self, text: &str, request: &Request) -> Result<Option<Answer>> {
        let pages = pages_at(text);
        if pages.is_empty() {
            return Ok(None);
        }
        let query = Query { pages, ..Query::default() };
        let answer = self.ask(text, Request { query, after: None, ..request.clone() }).await?;
        Ok(Some(answer).filter(|answer| answer.results.total > 0))
    }

    async fn ask(&self, text: &str, request: Request) -> Result<Answer> {
        let before = request.after.as_ref().map_or(request.offset as u64, |cursor| cursor.seen);
        let (text, request) = (text.to_owned(), Arc::new(request));
        let asked = request.clone();
        let may_match = |split: &SplitEntry| split.may_match(&asked.query);
        let look = move |splits: &[&Split], hidden: &Hidden| {
            let results = search(splits, hidden, &request)?;
            let suggestion = suggest(splits, hidden, &text, &request, &results)?;
            Ok((results, suggestion))
        };
        let (opened, (results, suggestion)) = self.look_at(may_match, look).await?;
        Ok(Answer { results, suggestion, before, unsearched: opened.index.unreadable.clone() })
    }

    /// Returns the sites of the index by host name, recounted only if the index or the blocked hosts have changed.
    pub async fn sites(&self) -> Result<Arc<[SiteEntry]>, PortError> {
        self.listed(&self.counted, sites).await
    }

    /// Returns the sites of the index with their profiles, cached like [`Finder::sites`].
    pub async fn site_profiles(&self) -> Result<Arc<[SiteProfile]>, PortError> {
        self.listed(&self.profiles, |splits, hidden| site_profiles(splits, hidden, PROFILES)).await
    }

    async fn listed<T: Send + 'static>(
        &self,
        known: &Mutex<Option<ListedSites<T>>>,
        list: fn(&[&Split], &Hidden) -> Result<Vec<T>, SearchError>,
    ) -> Result<Arc<[T]>, PortError> {
        let (index, hosts) = self.published().await.map_err(port_error)?;
        let is_same = |known: &&ListedSites<T>| Arc::ptr_eq(&known.index, &index) && known.hosts == *hosts;
        let same = known.lock().as_ref().filter(is_same).map(|l| l.sites.clone());
        if let Some(sites) = same {
            return Ok(sites);
        }
        let (opened, sites) = self.look_at(|_| true, list).await.map_err(port_error)?;
        let sites: Arc<[T]> = sites.into();
        let Opened { index, hidden, .. } = opened;
        let listed = ListedSites { index, hosts: hidden.hosts.clone(), sites: sites.clone() };
        *known.lock() = Some(listed);
        Ok(sites)
    }

    /// Runs a function over the splits that may match, and again if some are merged away meanwhile.
    async fn look_at<T, F>(&self, may_match: impl Fn(&SplitEntry) -> bool, look: F) -> Result<(Opened, T)>
    where
        T: Send + 'static,
        F: Fn(&[&Split], &Hidden) -> Result<T, SearchError> + Clone + Send + 'static,
    {
        let mut tries = 0;
        loop {
            tries += 1;
            let (index, hosts) = self.published().await?;
            let wanted: Vec<usize> = (0..index.entries.len()).filter(|at| may_match(&index.entries[*at])).collect();
            let looked = async {
                let splits = self.splits.wanted(&index.entries, &wanted).await?;
                for (opened, at) in splits.iter().zip(&wanted) {
                    opened.split.set_outdated(index.outdated[*at].clone());
                }
                let hidden = Arc::new(Hidden { hosts: BTreeSet::clone(&hosts), ..index.hidden.clone() });
                let opened = Opened { index, splits, hidden };
                let answer = self.look_in(&opened, &look).await?;
                Ok((opened, answer))
            };
            match looked.await {
                Err(StageError::Port(PortError::NotFound(_))) if tries < TRIES => {}
                answer => return answer,
            }
        }
    }

    async fn look_in<T, F>(&self, opened: &Opened, look: &F) -> Result<T>
    where
        T: Send + 'static,
        F: Fn(&[&Split], &Hidden) -> Result<T, SearchError> + Clone + Send + 'static,
    {
        let splits: Arc<[Arc<Split>]> = opened.splits.iter().map(|opened| opened.split.clone()).collect();
        let _trims = Trims(&self.splits);
        for _ in 0..ROUNDS {
            let (look, splits, hidden) = (look.clone(), splits.clone(), opened.hidden.clone());
            let look = move || look(&splits.iter().map(AsRef::as_ref).collect::<Vec<_>>(), &hidden);
            let error = match compute(self.pool.as_ref(), CpuTask::Query, look).await.map_err(PortError::from)? {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            // If another query is fetching the missing parts, none is fetched here, and the function runs again.
            if !self.splits.fetch(&opened.splits).await? && !error.is_not_here() {
                return Err(search_error(error));
            }
        }
        Err(endless())
    }

    async fn published(&self) -> Result<(Arc<LiveIndex>, Arc<BTreeSet<String>>)> {
        let parse = |bytes: Option<&[u8]>| bytes.map_or_else(|| Ok(BTreeSet::new()), |b| Ok(hidden::parse(b)?.hosts));
        let hosts = self.hidden.load(self.blobs.as_ref(), HIDDEN_KEY, parse);
        let manifests = async { self.manifests(self.clock.now(), self.years().await?).await };
        let (index, (hosts, _)) = try_join(manifests, hosts).await?;
        Ok((index, hosts))
    }

    async fn manifests(&self, now: Timestamp, years: BTreeSet<Year>) -> Result<Arc<LiveIndex>> {
        let remembered: Vec<(Year, Arc<Remembered<Option<Manifest>>>)> = {
            let mut known = self.manifests.lock();
            years.into_iter().map(|year| (year, known.entry(year).or_default().clone())).collect()
        };
        let loaded = remembered.iter().map(async |(year, remembered)| {
            let key = manifest_key(*year);
            remembered.load(self.blobs.as_ref(), &key, |bytes| parse_if_known(*year, bytes)).await
        });
        let (manifests, tags): (Vec<_>, Vec<Option<Tag>>) = try_join_all(loaded).await?.into_iter().unzip();
        let tags: Vec<(Year, Option<Tag>)> = remembered.iter().map(|(year, _)| *year).zip(tags).collect();
        let mut read = self.read.lock();
        if read.tags != tags || read.until.is_some_and(|until| until <= now) {
            let index = LiveIndex::combine(&manifests, tags, now, &read);
            let pages = index.unreadable.pages;
            if pages > 0 && pages != read.unreadable.pages {
                tracing::warn!(
                    pages,
                    "splits have a format that this version does not read; their pages are not searched"
                );
            }
            *read = Arc::new(index);
        }
        Ok(read.clone())
    }

    /// Returns the years whose manifests are read. Listing costs more than reading, so the list is cached.
    async fn years(&self) -> Result<BTreeSet<Year>> {
        let known = self.years.lock().clone();
        let now = self.clock.monotonic();
        let is_new = |at: Millis| now.saturating_sub(at) < YEARS_KNOWN_FOR;
        let mut years = match known.filter(|(_, at)| is_new(*at)) {
            Some((years, _)) => years,
            None => {
                let years: BTreeSet<Year> = manifest_years(self.blobs.as_ref()).await?.into_iter().collect();
                *self.years.lock() = Some((years.clone(), now));
                years
            }
        };
        years.insert(self.clock.now().year());
        Ok(years)
    }

    /// Removes a thumbnail from a hit if its object does not exist (yet); a frame exists as long as its record.
    async fn with_thumbnail(&self, mut hit: SearchHit) -> Result<SearchHit, PortError> {
        if let Some(ThumbnailId::Object(image)) = &hit.thumbnail
            && !has_thumbnail(self.blobs.as_ref(), image).await?
        {
            hit.thumbnail = None;
        }
        Ok(hit)
    }
}

/// The answer of the splits to a request, with the number of hits before it and what was not searched.
struct Answer {
    results: Results,
    suggestion: Option<String>,
    before: u64,
    unsearched: Unsearched,
}

struct Opened {
    index: Arc<LiveIndex>,
    splits: Vec<OpenSplit>,
    hidden: Arc<Hidden>,
}

/// Returns the error of the object store; any other failure here is due to the store's contents.
fn port_error(error: StageError) -> PortError {
    match error {
        StageError::Port(error) => error,
        StageError::Job(why) => PortError::Corrupt { what: "the index".into(), why },
    }
}

/// Returns the pages that a pasted URL may mean, with either scheme, and with or without a final slash; or none.
fn pages_at(text: &str) -> BTreeSet<PageId> {
    let text = text.trim();
    let is_web = |scheme: &str| scheme.eq_ignore_ascii_case("https") || scheme.eq_ignore_ascii_case("http");
    let rest = text.split_once("://").filter(|(scheme, _)| is_web(scheme)).map(|(_, rest)| rest);
    // Without a scheme a host alone may be a word, such as `node.js`.
    let rest = rest.or_else(|| {
        Some(text).filter(|text| text.contains('/') && text.split('/').next().is_some_and(|host| host.contains('.')))
    });
    let Some(rest) = rest.filter(|rest| !rest.contains(char::is_whitespace)) else { return BTreeSet::new() };
    let mut pages = BTreeSet::new();
    for scheme in ["https", "http"] {
        let Ok(mut url) = parse(&format!("{scheme}://{rest}"), None).map(|url| current_version(&url)) else { continue };
        let path = url.path().trim_end_matches('/').to_owned();
        for path in [format!("{path}/"), path] {
            url.set_path(&path);
            pages.insert(page_id(&canonical(&url)));
        }
    }
    pages
}
