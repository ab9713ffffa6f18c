//! Find: runs queries over the splits of all years, as they are published now.

use crate::catalog::hidden::hidden_hosts;
use crate::catalog::index::{load_manifest, search_error};
use crate::catalog::results::{Explanation, FindError, SearchHit, SearchResults, Start};
use crate::catalog::splits::{ListedSplit, OpenSplit, Splits, endless};
use crate::catalog::thumbnails::thumbnail;
use crate::stage::StageError;
use curlew_model::{Millis, PageId, QueryError, ThumbnailId, Timestamp, Year};
use curlew_ports::{Blobs, Clock, CpuPool, CpuTask, InlinePool, PortError, Shelf, Tag, compute};
use curlew_search::{
    CURSOR_KEY_BYTES, Cursor, Hidden, Hit, Query, Request, Results, SearchError, Split, search, suggest, warm,
};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Most years that have an index.
const YEARS: usize = 200;
/// How long it is taken for granted that there is no manifest but those of the years known and of the present one. One
/// more year makes more pages found and none fewer, so nothing that is gone depends on it.
const YEARS_KNOWN_FOR: Millis = Millis::from_mins(10);
/// How often a query starts over since a split was merged away under it.
const TRIES: u32 = 3;
/// How often more of the splits is fetched for one query.
const ROUNDS: u32 = 64;

/// Runs queries.
pub struct Finder {
    blobs: Arc<dyn Blobs>,
    clock: Arc<dyn Clock>,
    splits: Splits,
    pool: Arc<dyn CpuPool>,
    /// The manifests as they were read last.
    read: Mutex<Arc<LiveIndex>>,
    /// The years that have a manifest, and when that was found out, by the monotonic clock.
    years: Mutex<Option<(BTreeSet<Year>, Millis)>>,
    /// What cursors are signed by, if they are.
    cursor_key: OnceLock<[u8; CURSOR_KEY_BYTES]>,
}

/// The manifests of all years, and what they say must not be found. Made anew only when one of them changes or a page's
/// time is over, since a split remembers where the tombstones of one set lie in it.
#[derive(Default)]
struct LiveIndex {
    tags: Vec<(Year, Option<Tag>)>,
    splits: Vec<ListedSplit>,
    /// Pages of which each of the splits has only an outdated copy.
    outdated: Vec<Arc<BTreeSet<PageId>>>,
    tombstones: Arc<BTreeSet<PageId>>,
    /// When one more page must not be found.
    until: Option<Timestamp>,
}

impl Finder {
    /// Over this object store.
    pub fn new(blobs: Arc<dyn Blobs>, clock: Arc<dyn Clock>) -> Finder {
        let splits = Splits::new(blobs.clone());
        let pool = Arc::new(InlinePool);
        Finder {
            blobs,
            clock,
            splits,
            pool,
            read: Mutex::default(),
            years: Mutex::default(),
            cursor_key: OnceLock::new(),
        }
    }

    /// The same where splits are searched in a pool, and not on the thread of the caller.
    #[must_use]
    pub fn with_pool(self, pool: Arc<dyn CpuPool>) -> Finder {
        Finder { pool, ..self }
    }

    /// The same with a shelf for what it reads of the index. Worth having where objects are far away and memory is small.
    #[must_use]
    pub fn with_shelf(self, shelf: Arc<dyn Shelf>) -> Finder {
        Finder { splits: self.splits.with_shelf(shelf), ..self }
    }

    /// Signs cursors by the secret of the pages from now on. Without it none is given, and none is read.
    pub fn sign_cursors(&self, key: [u8; CURSOR_KEY_BYTES]) {
        // Of one store there is one secret; the first stays.
        let _same = self.cursor_key.set(key);
    }

    /// Runs a query: `limit` hits from `start` on; what of the query cannot be understood is left out, and said.
    ///
    /// # Errors
    /// A sentence about the query if nothing of it is understood, or about the cursor if it is none of this query; or what
    /// the object store says.
    pub async fn find(&self, text: &str, start: Start<'_>, limit: usize) -> Result<SearchResults, FindError> {
        self.run(text, start, limit, false).await
    }

    /// The first hits of a query, each with how its score came about.
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
        let mut tries = 0;
        loop {
            tries += 1;
            match self.once(&question).await {
                Err(StageError::Port(PortError::NotFound(_))) if tries < TRIES => {}
                Err(StageError::Port(error)) => return Err(FindError::Port(error)),
                Err(StageError::Job(why)) => {
                    return Err(FindError::Port(PortError::Corrupt { what: "the index".into(), why }));
                }
                Ok(found) => return Ok(SearchResults { notes, ..found }),
            }
        }
    }

    async fn once(&self, question: &Arc<Question>) -> Result<SearchResults, StageError> {
        let read = self.manifests(self.clock.now()).await?;
        let splits = self.splits.all(&read.splits).await?;
        for (opened, outdated) in splits.iter().zip(&read.outdated) {
            opened.split.set_outdated(outdated.clone());
        }
        let hosts = hidden_hosts(self.blobs.as_ref()).await?;
        let hidden = Arc::new(Hidden { tombstones: read.tombstones.clone(), hosts });
        let (results, suggestion) = self.answer(&splits, &hidden, question).await?;
        self.splits.trim();
        let mut hits = Vec::with_capacity(results.hits.len());
        for hit in results.hits {
            hits.push(self.shown(hit).await?);
        }
        let before = question.after.as_ref().map_or(question.offset as u64, Cursor::seen);
        let next = results.next.zip(self.cursor_key.get()).map(|(next, key)| next.encode(&question.text, key));
        let Results { total, partial, is_mixed, copies, unknown, .. } = results;
        Ok(SearchResults { total, partial, is_mixed, unknown, copies, hits, before, next, suggestion, notes: vec![] })
    }

    /// Searches, and fetches what is not here, until all is.
    async fn answer(
        &self,
        splits: &[OpenSplit],
        hidden: &Arc<Hidden>,
        question: &Arc<Question>,
    ) -> Result<(Results, Option<String>), StageError> {
        let open: Arc<[Arc<Split>]> = splits.iter().map(|opened| opened.split.clone()).collect();
        for _ in 0..ROUNDS {
            let (question, open, hidden) = (question.clone(), open.clone(), hidden.clone());
            let look = move || question.look(&open, &hidden);
            let error = match compute(self.pool.as_ref(), CpuTask::Query, look).await.map_err(PortError::from)? {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            // What is not here may be on its way for another query, and then it is not asked for again.
            if !self.splits.fetch(splits).await? && !error.is_not_here() {
                return Err(search_error(error));
            }
        }
        Err(endless())
    }

    async fn manifests(&self, now: Timestamp) -> Result<Arc<LiveIndex>, StageError> {
        let mut manifests = Vec::new();
        let mut tags = Vec::new();
        for year in self.years().await? {
            let (manifest, tag) = load_manifest(self.blobs.as_ref(), year).await?;
            manifests.push(manifest);
            tags.push((year, tag));
        }
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if read.tags != tags || read.until.is_some_and(|until| until <= now) {
            // What another version wrote is found again once the next publishing has built it anew.
            let splits =
                manifests.iter().flat_map(|m| m.splits.iter().filter(|s| s.is_readable()).map(move |s| (m, s)));
            let (splits, outdated) = splits.map(|(m, s)| (ListedSplit::of(s), Arc::new(m.outdated_in(s)))).unzip();
            let tombstones = Hidden::of(&manifests, BTreeSet::new(), now).tombstones;
            let until = manifests.iter().filter_map(|m| m.next_expiry(now)).min();
            *read = Arc::new(LiveIndex { tags, splits, outdated, tombstones, until });
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

    async fn shown(&self, hit: Hit) -> Result<SearchHit, StageError> {
        // A thumbnail that was never made, or not yet, is not promised to the reader. One that lies beside its record is
        // there as long as that is.
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
            published: hit.published,
            language: hit.language,
            all_words: hit.has_all,
            missing: hit.missing,
            explanation: hit.explanation.map(|why| Explanation {
                words: why.words,
                proximity: why.proximity,
                freshness: why.freshness,
            }),
            score: hit.score,
            copies: hit.copies,
        })
    }
}

/// What is asked.
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
    /// Searches what is here. If something is not, all that the query needs is noted as wanted.
    fn look(&self, splits: &[Arc<Split>], hidden: &Hidden) -> Result<(Results, Option<String>), SearchError> {
        let Question { text, query, after, now, offset, limit, explain } = self;
        let splits: Vec<&Split> = splits.iter().map(AsRef::as_ref).collect();
        let after = after.as_ref();
        let request = Request { offset: *offset, after, explain: *explain, ..Request::new(query, *limit, *now) };
        let answered = search(&splits, hidden, request).and_then(|results| {
            let suggestion = suggest(&splits, hidden, (text, query), &results, *now)?;
            Ok((results, suggestion))
        });
        answered.inspect_err(|_| warm(&splits, hidden, query))
    }
}
