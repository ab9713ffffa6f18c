//! A small program behind the router: in-memory pages that are searched word by word, and a clock set by the tests.

pub use crate::answer::Answer;
pub use crate::requests::{body_in_pieces, form, from, request};
use async_trait::async_trait;
use axum::Router;
use axum::body::Body;
use axum::http::{Method, Request};
use bytes::Bytes;
use curlew_app::program::Program;
use curlew_catalog::results::{FindError, PageText, SearchHit, SearchResults, SiteEntry, SiteProfile, Start};
use curlew_catalog::thumbnails::thumbnail_key;
use curlew_crawl::feeds::websub::{Callback, Callbacks, WEB_SECRET};
use curlew_crawl::politeness::access::Politeness;
use curlew_model::{
    Challenge, FeedSource, Hub, Job, MAX_QUERY_BYTES, MAX_QUERY_TERMS, Millis, OwnerRequest, Ownership, QueryError,
    Slot, Source, Subscription, ThumbnailId, Timestamp, Work, Year, hex,
};
use curlew_people::messages::{MESSAGES_A_DAY, Message, Messages};
use curlew_policy::address;
use curlew_policy::page::offer::Withheld;
use curlew_policy::politeness::scope::Scope;
use curlew_policy::polling::subscription;
use curlew_policy::site::exclusions::{Exclusions, Lists};
use curlew_ports::Ports;
use curlew_ports::stage::StageError;
use curlew_ports::{Blobs, Clock, PortError, Sources};
use curlew_testkit::faults::{BlobCall, BlobFate, JudgedBlobs};
use curlew_testkit::memory::{
    CountingSeeds, MemoryBlobs, MemoryFetch, MemoryHosts, MemoryJobs, MemoryMarks, MemoryPages, MemoryRobots,
    MemorySources,
};
use curlew_web::{AdminServices, PageSettings, SearchIndex, Services, ShownSetting, StatusSource, SystemStatus};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use tokio::sync::Semaphore;
use tower::ServiceExt;
use url::Url;

/// The feed whose hub announces updates.
pub const FEED: &str = "https://example.org/feed";

/// A fake index and status source, with the faults of the object store behind the stages.
#[derive(Default)]
pub struct Backend {
    pub pages: Vec<SearchHit>,
    /// Hosts that have results on other pages.
    pub more_of: BTreeSet<String>,
    pub thumbnails: HashMap<ThumbnailId, Bytes>,
    pub status: SystemStatus,
    /// Number of times that the status was requested.
    pub counted: AtomicI64,
    /// Each status count takes a permit, and waits if there is none.
    pub gate: Option<Semaphore>,
    /// Number of messages that are still accepted today, if below a day's limit.
    pub room: Option<usize>,
    /// Queries so far: text, offset, limit.
    pub asked: Mutex<Vec<(String, usize, usize)>>,
    /// Makes the index and the object store fail: `Some(true)` temporarily, `Some(false)` permanently.
    pub broken: Option<bool>,
    /// Key of an object for which compare-and-swap never returns.
    pub stuck: Option<&'static str>,
    /// Number of pages that each query reports as not searched.
    pub unsearched: u64,
    /// Years that each query reports as not searched.
    pub unsearched_years: Vec<Year>,
    /// Notes that each query returns.
    pub notes: Vec<QueryError>,
    /// True if queries of any length are searched.
    pub reads_long: bool,
    /// The text of each page; `None` if the text is the snippet.
    pub text: Option<Result<String, Withheld>>,
    /// A mistyped query, and the one that is suggested.
    pub slip: Option<(&'static str, &'static str)>,
}

impl Backend {
    fn fails(&self) -> Result<(), PortError> {
        self.broken.map_or(Ok(()), |for_a_while| Err(port_error(for_a_while)))
    }
}

fn port_error(for_a_while: bool) -> PortError {
    match for_a_while {
        true => PortError::Throttled { retry_after: Millis(4_200) },
        false => PortError::Corrupt { what: "the manifest".into(), why: "it is <torn>".into() },
    }
}

#[async_trait]
impl StatusSource for Backend {
    async fn status(&self) -> Result<SystemStatus, StageError> {
        self.fails()?;
        self.counted.fetch_add(1, Ordering::SeqCst);
        if let Some(gate) = &self.gate {
            gate.acquire().await.unwrap().forget();
        }
        Ok(self.status.clone())
    }
}

#[async_trait]
impl SearchIndex for Backend {
    async fn sites(&self) -> Result<Arc<[SiteEntry]>, PortError> {
        self.fails()?;
        let mut sites: BTreeMap<String, SiteEntry> = BTreeMap::new();
        for hit in &self.pages {
            let Some(host) = Url::parse(&hit.url).ok().and_then(|url| url.host_str().map(str::to_owned)) else {
                continue;
            };
            let newest = hit.published.unwrap_or(Timestamp::EPOCH);
            let site = sites.entry(host.clone()).or_insert(SiteEntry { host, pages: 0, newest });
            site.pages += 1;
            site.newest = site.newest.max(newest);
        }
        Ok(sites.into_values().collect())
    }

    async fn site_profiles(&self) -> Result<Arc<[SiteProfile]>, PortError> {
        let sites = self.sites().await?;
        let profile = |site: &SiteEntry| {
            let hit = self.pages.iter().find(|hit| hit.url.contains(&format!("/{}/", site.host)));
            let (name, language, feed) =
                hit.map(|hit| (hit.site.clone(), hit.language.clone(), hit.feed.clone())).unwrap_or_default();
            SiteProfile { site: site.clone(), name, language, feed }
        };
        Ok(sites.iter().map(profile).collect())
    }

    async fn page(&self, address: &str) -> Result<Option<PageText>, PortError> {
        self.fails()?;
        let hit = self.pages.iter().find(|hit| hit.url == address).cloned();
        Ok(hit.map(|hit| PageText { text: self.text.clone().unwrap_or_else(|| Ok(hit.snippet.clone())), hit }))
    }

    async fn find(&self, query: &str, start: Start<'_>, limit: usize) -> Result<SearchResults, FindError> {
        let offset = match start {
            Start::Offset(offset) => offset,
            Start::After(cursor) => match cursor.parse() {
                Ok(offset) => offset,
                Err(_) => return Err(FindError::BadQuery(QueryError::Cursor)),
            },
        };
        assert_ne!(query, "panic", "the query asks for a panic");
        self.asked.lock().unwrap().push((query.to_owned(), offset, limit));
        self.fails()?;
        let words: Vec<String> = query.split_whitespace().map(str::to_lowercase).collect();
        let refuse = |wrong| Err(FindError::BadQuery(wrong));
        if query.len() > MAX_QUERY_BYTES && !self.reads_long {
            return refuse(QueryError::TooLong { bytes: query.len() });
        }
        if words.len() > MAX_QUERY_TERMS && !self.reads_long {
            return refuse(QueryError::TooManyTerms);
        }
        if let Some(word) = words.iter().find(|w| w.starts_with('*') || w.starts_with('(')) {
            return refuse(QueryError::Wildcard(format!("<{word}>")));
        }
        let mut hits: Vec<SearchHit> = self.pages.iter().filter(|p| matches(p, &words)).cloned().collect();
        for hit in &mut hits {
            if hit.marks.is_empty() {
                hit.marks = marks(&hit.snippet, &words);
            }
        }
        let total = hits.iter().filter(|hit| hit.all_words).count() as u64;
        let next = (hits.len() > offset + limit).then(|| (offset + limit).to_string());
        Ok(SearchResults {
            total,
            partial: hits.len() as u64 - total,
            unsearched: self.unsearched,
            unsearched_years: self.unsearched_years.clone(),
            unknown: hits.iter().flat_map(|hit| hit.missing.clone()).filter(|word| word.starts_with('x')).collect(),
            copies: hits.iter().map(|hit| u64::from(hit.copies)).sum(),
            hits: hits.into_iter().skip(offset).take(limit).collect(),
            more_of: self.more_of.clone(),
            before: offset as u64,
            next,
            notes: self.notes.clone(),
            suggestion: self.slip.filter(|(typed, _)| *typed == query).map(|(_, meant)| meant.to_owned()),
        })
    }
}

fn matches(page: &SearchHit, words: &[String]) -> bool {
    let text = format!("{} {}", page.title, page.snippet).to_lowercase();
    words.iter().all(|w| match w.strip_prefix('-') {
        Some(unwanted) => !text.contains(unwanted),
        None if w.starts_with("sort:") => true,
        // Each page is in the collection of its category.
        None if w.starts_with("in:") => page.categories.iter().any(|name| *w == format!("in:\"{name}\"")),
        None => match w.strip_prefix("site:") {
            Some(host) => {
                page.url.split('/').nth(2).is_some_and(|name| name == host || name.ends_with(&format!(".{host}")))
            }
            None => text.contains(w.as_str()),
        },
    })
}

/// Returns the byte ranges of the words in an ASCII snippet.
fn marks(snippet: &str, words: &[String]) -> Vec<std::ops::Range<usize>> {
    let lower = snippet.to_ascii_lowercase();
    words.iter().flat_map(|w| lower.match_indices(w.as_str()).map(|(at, m)| at..at + m.len())).collect()
}

/// A clock that tests advance. A sleeping task yields to others until the clock reaches its time.
pub struct HandClock(AtomicI64);

impl HandClock {
    pub fn advance(&self, by: Millis) {
        self.0.fetch_add(i64::try_from(by.0).unwrap(), Ordering::SeqCst);
    }
}

#[async_trait]
impl Clock for HandClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.load(Ordering::SeqCst))
    }

    fn monotonic(&self) -> Millis {
        Millis(u64::try_from(self.0.load(Ordering::SeqCst)).unwrap())
    }

    async fn sleep(&self, length: Millis) {
        let until = self.monotonic() + length;
        while self.monotonic() < until {
            tokio::task::yield_now().await;
        }
    }
}

/// Returns the value of a future that is ready at once, such as one of an in-memory port.
pub fn ready<T>(future: impl Future<Output = T>) -> T {
    match std::pin::pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("an in-memory port must not wait"),
    }
}

/// The router with the stages behind it, over in-memory ports.
pub struct World {
    pub backend: Arc<Backend>,
    pub clock: Arc<HandClock>,
    /// Stores without faults.
    pub ports: Ports,
    /// Callback of the subscription to the hub of [`FEED`].
    pub callback: Callback,
    pub messages: Messages,
    pub router: Router,
}

impl World {
    pub fn of(backend: Backend) -> World {
        World::with(backend, settings())
    }

    pub fn with(backend: Backend, settings: PageSettings) -> World {
        let backend = Arc::new(backend);
        // 2026-11-21T03:00:00Z
        let clock = Arc::new(HandClock(AtomicI64::new(1_795_230_000_000)));
        let (hosts, jobs): (Arc<MemoryHosts>, Arc<MemoryJobs>) = Default::default();
        let blobs: Arc<MemoryBlobs> = Arc::default();
        ready(blobs.put(WEB_SECRET, vec![7; 32].into())).unwrap();
        for (id, bytes) in &backend.thumbnails {
            let ThumbnailId::Object(image) = id else { continue };
            ready(blobs.put(&thumbnail_key(image), bytes.clone())).unwrap();
        }
        for n in backend.room.map_or(0..0, |room| room..MESSAGES_A_DAY) {
            ready(blobs.put(&format!("messages/2026-11-21/{n}.json"), Bytes::new())).unwrap();
        }
        let ports = Ports {
            ledger: hosts.clone(),
            hosts,
            robots: Arc::<MemoryRobots>::default(),
            marks: Arc::<MemoryMarks>::default(),
            pages: Arc::<MemoryPages>::default(),
            sources: Arc::<MemorySources>::default(),
            queue: jobs.clone(),
            inbox: jobs,
            blobs,
            is_billed: false,
        };
        let sound = program(ports.clone(), &clock);
        let callback = subscribed(ports.sources.as_ref(), &sound.crawler.pushes.callbacks, clock.now());
        let services = services(&backend, &behind(&backend, &ports, &clock));
        let router = curlew_web::router(services, settings);
        World { backend, clock, ports, callback, messages: sound.desk.messages, router }
    }

    /// Returns the same world with the operator's pages, as if its process had just started.
    pub fn with_operators(self, settings: PageSettings, trusted_header: Option<&str>) -> World {
        let behind = behind(&self.backend, &self.ports, &self.clock);
        let settings_in_force = [("", "workers", "7"), ("web", "title", "\"<Notes>\"")].map(|(table, key, value)| {
            let [table, key, value, origin] = [table, key, value, "file"].map(str::to_owned);
            ShownSetting { table, key, value, origin }
        });
        let header = trusted_header.map(|name| name.parse().unwrap());
        let admin = Some(AdminServices::new(&behind.desk, header, settings_in_force.into()));
        let services = Services { admin, ..services(&self.backend, &behind) };
        World { router: curlew_web::router(services, settings), ..self }
    }

    /// Returns the sites that were suggested.
    pub fn suggested(&self) -> Vec<String> {
        let rows = ready(self.ports.sources.list(None, 100)).unwrap().into_iter();
        rows.filter_map(|row| if let Source::Site(site) = row { Some(site.url) } else { None }).collect()
    }

    /// Returns the messages to the operator.
    pub fn told(&self) -> Vec<Message> {
        ready(self.messages.list()).unwrap().into_iter().map(|(_, kept)| kept.message).collect()
    }

    fn waiting(&self) -> impl Iterator<Item = Job> {
        ready(self.ports.inbox.waiting(Timestamp::MIN, 100)).unwrap().into_iter().map(|waiting| waiting.job.unwrap())
    }

    /// Returns the waiting requests of claimants.
    pub fn requests(&self) -> Vec<(String, Challenge, OwnerRequest)> {
        let own = |job| {
            if let Job { work: Work::Own(job), .. } = job { Some((job.host, job.challenge, job.request)) } else { None }
        };
        self.waiting().filter_map(own).collect()
    }

    /// Returns the number of waiting polls.
    pub fn polls(&self) -> usize {
        self.waiting().filter(|job| matches!(job, Job { work: Work::Poll(_), .. })).count()
    }

    /// Returns the last path segment of the subscription's callback.
    pub fn ours(&self) -> &str {
        self.callback.url.rsplit('/').next().unwrap()
    }

    /// Returns the hub's signature of a body.
    pub fn signature(&self, body: &[u8]) -> String {
        let mut mac = <Hmac<Sha256> as KeyInit>::new_from_slice(self.callback.secret.as_bytes()).unwrap();
        mac.update(body);
        format!("sha256={}", hex(&mac.finalize().into_bytes()))
    }

    /// Stores the claims to a host.
    pub fn own(&self, all: &Ownership) {
        let key = format!("owners/{}.json", address::hash_hex(all.host.as_bytes()));
        ready(self.ports.blobs.put(&key, serde_json::to_vec(all).unwrap().into())).unwrap();
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.get_with(path, &[]).await
    }

    /// Requests a path with this `Accept-Language`.
    pub async fn get_in(&self, languages: &str, path: &str) -> Answer {
        self.get_with(path, &[("accept-language", languages)]).await
    }

    pub async fn get_with(&self, path: &str, headers: &[(&str, &str)]) -> Answer {
        self.send(request(Method::GET, path, headers)).await
    }

    /// Sends a form from one of our pages, as a browser does.
    pub async fn post(&self, path: &str, fields: &[(&str, &str)]) -> Answer {
        self.send(form(path, fields)).await
    }

    /// Loads a form, waits as people do, fills it in, and sends it.
    pub async fn fill_in(&self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let token = self.token().await;
        self.post(path, &[fields, &[("token", &token)]].concat()).await
    }

    /// Loads a form, waits as people do, and returns its token.
    pub async fn token(&self) -> String {
        let token = self.get("/suggest").await.token();
        self.clock.advance(Millis::from_secs(10));
        token
    }

    /// Returns the queries so far: text, offset, limit.
    pub fn asked(&self) -> Vec<(String, usize, usize)> {
        self.backend.asked.lock().unwrap().clone()
    }

    /// Sends a request unchanged.
    pub async fn send(&self, request: Request<Body>) -> Answer {
        let head = request.method() == Method::HEAD;
        Answer::of(self.router.clone().oneshot(request).await.unwrap(), head).await
    }
}

/// Returns the program behind the pages, over an object store with the faults of the backend.
fn behind(backend: &Backend, ports: &Ports, clock: &Arc<HandClock>) -> Program {
    let blobs = ports.blobs.clone();
    let blobs: Arc<dyn Blobs> = match (backend.broken, backend.stuck) {
        (Some(for_a_while), _) => JudgedBlobs::new(blobs, move |_, _| BlobFate::Fail(port_error(for_a_while))),
        (None, Some(stuck)) => JudgedBlobs::new(blobs, move |call, key| match call {
            BlobCall::Swap if key == stuck => BlobFate::Hang,
            _ => BlobFate::Pass,
        }),
        (None, None) => blobs,
    };
    program(Ports { blobs, ..ports.clone() }, clock)
}

fn services(backend: &Arc<Backend>, behind: &Program) -> Services {
    let services = Services::new(&behind.library, &behind.desk, behind.crawler.pushes.clone(), backend.clone());
    Services { search: backend.clone(), ..services }
}

/// Returns a program over these ports that hubs can call.
fn program(ports: Ports, clock: &Arc<HandClock>) -> Program {
    let lists = Lists { substrings: vec!["blocked".into()], ..Lists::default() };
    let scope = Scope { exclusions: Exclusions::compile(&lists).unwrap(), ..Scope::default() };
    let (web, seeds) = (Arc::<MemoryFetch>::default(), Arc::new(CountingSeeds::new(1)));
    let politeness = Politeness { scope: Arc::new(scope), ..Politeness::over(&ports, web, clock.clone(), seeds) };
    Program::over(Arc::new(politeness), ports, Arc::default())
        .with_crawler(|crawler| crawler.reached_at(Some("https://search.example".into())))
}

/// Stores [`FEED`] with a live subscription whose renewal is being requested.
fn subscribed(sources: &dyn Sources, callbacks: &Callbacks, now: Timestamp) -> Callback {
    let key = address::source_key(&FEED.parse().unwrap());
    let mut feed = FeedSource::new(key.clone(), Slot::from_hash(7), FEED);
    let hub = Hub { url: "https://hub.example/".into(), topic: FEED.into() };
    feed.polling.subscription = Some(Subscription {
        of: subscription::name(&hub),
        begun: now,
        pending: Some(now),
        until: Some(now + Millis::from_days(5)),
        ..Subscription::default()
    });
    feed.polling.hub = Some(hub);
    assert!(ready(sources.insert(&Source::Feed(feed))).unwrap());
    ready(callbacks.for_feed(&key, now)).unwrap().unwrap()
}

/// Returns the settings of the tests, in which all options are set.
pub fn settings() -> PageSettings {
    PageSettings {
        base_url: Some("https://search.example".into()),
        contact: Some("crawler@search.example".into()),
        user_agent: "CurlewBot/9.9 (+https://search.example/bot)".into(),
        ..PageSettings::new([42; 32])
    }
}

/// Returns a hit with these values.
pub fn page(url: &str, title: &str, snippet: &str) -> SearchHit {
    let day = Timestamp::parse_day_or_instant("2026-05-01").unwrap();
    SearchHit {
        url: url.into(),
        title: title.into(),
        snippet: snippet.into(),
        site: "Tidal Notes".into(),
        published: Some(day),
        date: day,
        all_words: true,
        score: 1.5,
        ..SearchHit::default()
    }
}

/// Returns a backend with these pages.
pub fn backend(pages: Vec<SearchHit>) -> Backend {
    Backend { pages, ..Backend::default() }
}

/// Returns the `type` of problem details.
pub fn problem(kind: &str) -> serde_json::Value {
    format!("/api/v1/openapi.json#{kind}").into()
}
