//! Find: runs queries over the published splits of all years.

use crate::hidden::{self, HIDDEN_KEY};
use crate::live_index::{LiveIndex, Unsearched};
use crate::manifest::{manifest_key, parse_if_known, search_error};
use crate::question::{Answered, Question, pages_at};
use crate::remembered::Remembered;
use crate::results::{FindError, PageText, SearchHit, SearchResults, SiteEntry, SiteProfile, Start};
use crate::splits::{OpenSplit, ROUNDS, Splits, endless};
use crate::thumbnails::has_thumbnail;
use curlew_model::{Millis, QueryError, ThumbnailId, Timestamp, Year};
use curlew_policy::page::offer::text_for_assistants;
use curlew_ports::stage::{Result, StageError};
use curlew_ports::{
    Blobs, Clock, CpuPool, CpuTask, Event, Events, InlinePool, PortError, RangeCache, SearchOutcome, Tag, compute,
};
use curlew_search::{
    CURSOR_KEY_BYTES, Cursor, Hidden, Hit, Manifest, Query, Results, SearchError, Split, SplitEntry, site_profiles,
    sites,
};
use futures::future::{try_join, try_join_all};
use futures::stream::{self, StreamExt, TryStreamExt};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

const YEARS: usize = 200;
/// Time for which the years are reused before they are listed again: a stale list never shows a page that is gone.
const YEARS_KNOWN_FOR: Millis = Millis::from_mins(10);
/// Number of thumbnails whose existence is checked side by side for one page of results.
const THUMBNAILS_AT_ONCE: usize = 16;
/// Maximum number of tries of a query whose splits are merged away while it runs.
const TRIES: u32 = 3;
/// Maximum number of sites whose profile is read, each of them a read where the index is far away.
const PROFILES: usize = 2_000;

/// Runs queries.
pub struct Finder {
    blobs: Arc<dyn Blobs>,
    clock: Arc<dyn Clock>,
    splits: Splits,
    pool: Arc<dyn CpuPool>,
    /// Told of every query.
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

/// Bounds what open splits keep when a query ends, however it ends.
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

    /// Runs a query and returns `limit` hits from `start` on. Parts of it that cannot be understood are listed in
    /// [`SearchResults::notes`]; [`FindError::BadQuery`] if nothing can be, or if the cursor is not the query's.
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
        let question = Question {
            text: address.to_owned(),
            query: Query::default(),
            after: None,
            now: self.clock.now(),
            offset: 0,
            limit: 1,
            explain: false,
            with_records: true,
        };
        let found = self.at_address(&question).await.map_err(port_error)?;
        let hit = found.and_then(|(_, ((results, _), _))| results.hits.into_iter().next());
        let Some((mut hit, record)) = hit.and_then(|mut hit| hit.record.take().map(|record| (hit, record))) else {
            return Ok(None);
        };
        // Copies are told of in lists alone.
        hit.copies = 0;
        let text = text_for_assistants(&record).map(str::to_owned);
        Ok(Some(PageText { hit: self.with_thumbnail(hit).await?, text }))
    }

    async fn run(&self, text: &str, start: Start<'_>, limit: usize, explain: bool) -> Result<SearchResults, FindError> {
        let (query, mut notes) = Query::read(text);
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
        let text = text.to_owned();
        let question = Question { text, query, after, now, offset, limit, explain, with_records: false };
        let question = Arc::new(question);
        let at_address = self.at_address(&question).await.map_err(port_error)?;
        let (question, ((results, suggestion), unsearched)) = match at_address {
            Some(found) => found,
            None => (question.clone(), self.ask(&question).await.map_err(port_error)?),
        };
        let hits = stream::iter(results.hits).map(|hit| self.with_thumbnail(hit)).buffered(THUMBNAILS_AT_ONCE);
        let hits = hits.try_collect().await?;
        let before = question.after.as_ref().map_or(question.offset as u64, Cursor::seen);
        let next = results.next.zip(self.cursor_key.get()).map(|(next, key)| next.encode(&question.text, key));
        let Results { total, partial, copies, unknown, more_of, too_common, .. } = results;
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

    /// Returns the page whose address is the text of a question, with the question for it.
    async fn at_address(&self, question: &Question) -> Result<Option<(Arc<Question>, (Answered, Unsearched))>> {
        let pages = pages_at(&question.text);
        if pages.is_empty() {
            return Ok(None);
        }
        let query = Query { pages, ..Query::default() };
        let Question { now, offset, limit, explain, with_records, .. } = *question;
        let text = question.text.clone();
        let at = Arc::new(Question { text, query, after: None, now, offset, limit, explain, with_records });
        let found = self.ask(&at).await?;
        Ok((found.0.0.total > 0).then_some((at, found)))
    }

    async fn ask(&self, question: &Arc<Question>) -> Result<(Answered, Unsearched)> {
        let asked = question.clone();
        let may_match = |split: &SplitEntry| split.may_match(&question.query);
        let (opened, answer) = self.look_at(may_match, move |splits, hidden| asked.look(splits, hidden)).await?;
        Ok((answer, opened.index.unreadable.clone()))
    }

    /// Returns the sites of the index by host name, counted anew only if the index or the blocked hosts have changed.
    pub async fn sites(&self) -> Result<Arc<[SiteEntry]>, PortError> {
        self.listed(&self.counted, sites).await
    }

    /// Returns the sites of the index with their profiles, read anew only as [`Finder::sites`] are counted anew.
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
        let same =
            known.lock().unwrap_or_else(PoisonError::into_inner).as_ref().filter(is_same).map(|l| l.sites.clone());
        if let Some(sites) = same {
            return Ok(sites);
        }
        let (opened, sites) = self.look_at(|_| true, list).await.map_err(port_error)?;
        let sites: Arc<[T]> = sites.into();
        let Opened { index, hidden, .. } = opened;
        let listed = ListedSites { index, hosts: hidden.hosts.clone(), sites: sites.clone() };
        *known.lock().unwrap_or_else(PoisonError::into_inner) = Some(listed);
        Ok(sites)
    }

    /// Runs a function over the splits that may match, and once more if some are merged away meanwhile.
    async fn look_at<T, F>(&self, may_match: impl Fn(&SplitEntry) -> bool, look: F) -> Result<(Opened, T)>
    where
        T: Send + 'static,
        F: Fn(&[&Split], &Hidden) -> Result<T, SearchError> + Clone + Send + 'static,
    {
        let mut tries = 0;
        loop {
            tries += 1;
            let (index, hosts) = self.published().await?;
            let wanted = index.wanted(&may_match);
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
            // A missing part may be on its way for another query, and is then not requested again.
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
            let mut known = self.manifests.lock().unwrap_or_else(PoisonError::into_inner);
            years.into_iter().map(|year| (year, known.entry(year).or_default().clone())).collect()
        };
        let loaded = remembered.iter().map(async |(year, remembered)| {
            let key = manifest_key(*year);
            remembered.load(self.blobs.as_ref(), &key, |bytes| parse_if_known(*year, bytes)).await
        });
        let (manifests, tags): (Vec<_>, Vec<Option<Tag>>) = try_join_all(loaded).await?.into_iter().unzip();
        let tags: Vec<(Year, Option<Tag>)> = remembered.iter().map(|(year, _)| *year).zip(tags).collect();
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
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

    async fn with_thumbnail(&self, hit: Hit) -> Result<SearchHit, PortError> {
        // A thumbnail object may not exist (yet); a frame exists as long as its record.
        let thumbnail = match hit.thumbnail {
            Some(ThumbnailId::Object(image)) if !has_thumbnail(self.blobs.as_ref(), &image).await? => None,
            thumbnail => thumbnail,
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
            categories: hit.tags,
            feed: hit.feed,
            published: hit.published,
            date: hit.date,
            language: hit.language,
            all_words: hit.has_all,
            missing: hit.missing,
            explanation: hit.explanation,
            score: hit.score,
            copies: hit.copies,
        })
    }
}

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
