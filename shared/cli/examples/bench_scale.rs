//! Measures a year of many short pages on simulated object storage, for `cargo xtask bench scale`:
//! `bench_scale PAGES UPGRADED FOLDER`.
//!
//! The store is a folder and an embedded database. Each call for an object takes 30 ms longer and transfers 90 MB a
//! second; each call for a row takes 5 ms longer. The splits of the year are built and merged as publishing does, from
//! 20,000 records each. Only the pages that a step publishes or removes have rows and segments.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program for the command line")]

use anyhow::{Context, Result, bail, ensure};
use async_trait::async_trait;
use bytes::Bytes;
use curlew_catalog::find::Finder;
use curlew_catalog::index::{Index, PAGES_PER_SPLIT};
use curlew_catalog::removal::Removal;
use curlew_catalog::results::Start;
use curlew_catalog::segment::{Draft, write};
use curlew_embedded::{Access, Store};
use curlew_model::{Gone, HostKey, Millis, Page, PageId, PageState, Record, SegmentKey, Timestamp, Year};
use curlew_people::erasure::{Erasure, StepLimits};
use curlew_policy::chance::mix;
use curlew_ports::{Blob, Blobs, Clock, CpuError, CpuPool, CpuTask, Pages, PortError, Seen, Tag, Version};
use curlew_search::{BuildBudget, FORM, Manifest, OLDEST_FORM, SplitEntry, Tier, build_split};
use futures::stream::{self, StreamExt, TryStreamExt};
use serde_json::json;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

const YEAR: Year = 2026;
/// Delay of each call for an object.
const OBJECT_LATENCY: Duration = Duration::from_millis(30);
/// Number of bytes that one call transfers in a second.
const BYTES_A_SECOND: f64 = 90e6;
/// Delay of each call for a row.
const ROW_LATENCY: Duration = Duration::from_millis(5);
/// Number of pages that the measured publishing publishes.
const NEW: u64 = 100_000;
/// Number of pages of the host that is erased.
const ERASED: u64 = 10_000;
/// The host that is erased.
const HOST: &str = "erased.example";
/// Number of portions that are built in parallel.
const WORKERS: usize = 10;
/// Number of records in a segment.
const RECORDS: u64 = 100;
/// Number of words in a text, and of different words.
const WORDS: u64 = 14;
const VOCABULARY: u64 = 50_000;
/// Number of hosts of the other pages.
const HOSTS: u64 = 5_000;
/// Number of days over which the pages of the year are spread.
const DAYS: u64 = 330;
/// Number of measured queries.
const COLD: u64 = 40;
const WARM: u64 = 200;

#[tokio::main]
async fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [pages, upgraded, folder] = args.as_slice() else { bail!("usage: bench_scale PAGES UPGRADED FOLDER") };
    let world = World::new(pages.parse().context("PAGES is a number")?, Path::new(folder))?;
    println!("{}", world.measure(upgraded.parse().context("UPGRADED is a number")?).await?);
    Ok(())
}

/// The store, with and without delays.
struct World {
    count: u64,
    words: Arc<[String]>,
    plain: Arc<dyn Blobs>,
    plain_rows: Arc<dyn Pages>,
    blobs: Arc<FarBlobs>,
    rows: Arc<dyn Pages>,
    clock: Arc<dyn Clock>,
    _store: Store,
}

impl World {
    fn new(count: u64, folder: &Path) -> Result<World> {
        let store = Store::open(folder, Access::Exclusive)?;
        let (plain, plain_rows): (Arc<dyn Blobs>, Arc<dyn Pages>) = (store.objects(), store.ports().pages);
        let blobs = FarBlobs { plain: plain.clone(), calls: AtomicU64::new(0), bytes: AtomicU64::new(0) };
        let rows = Arc::new(FarPages(plain_rows.clone()));
        let now = Timestamp::parse_day_or_instant("2026-12-05T12:00:00Z")?;
        let clock = Arc::new(YearsEnd { now, began: Instant::now() });
        let words = (0..VOCABULARY).map(word).collect();
        Ok(World { count, words, plain, plain_rows, blobs: Arc::new(blobs), rows, clock, _store: store })
    }

    async fn measure(&self, upgraded: u64) -> Result<serde_json::Value> {
        let filled = self.timed("fill", self.fill()).await?;
        let deltas = self.manifest().await?.splits.len();
        let merged = self.timed("merge", async { Ok(self.index().publish(YEAR).await?) }).await?;
        let splits = self.manifest().await?.splits;
        let index_bytes: u64 = splits.iter().map(|split| split.bytes).sum();

        let new: Vec<u64> = (self.count..self.count + NEW).collect();
        for part in new.chunks(RECORDS as usize) {
            self.write(part, self.clock.now(), host).await?;
        }
        let published = self.timed("publish", async { Ok(self.index().publish(YEAR).await?) }).await?;
        ensure!(published.0.added == NEW, "{:?}", published.0);
        let cold = self.queries(COLD, false, "").await?;
        let pruned = self.queries(COLD, false, " lang:en after:2026-11-20").await?;
        let warm = self.queries(WARM, true, "").await?;

        let removal = Removal::new(self.rows.clone(), self.blobs.clone(), self.clock.clone(), Arc::new(()));
        let finder = self.finder();
        let first = record(self.count, host(self.count), self.day(self.count), &self.words);
        let query = format!("\"{}\"", first.title);
        let before = total(&finder, &query).await?;
        let removed = self.timed("removal", async { Ok(removal.remove(&first.id, Gone::NotFound).await?) }).await?;
        let after = self.timed("query after it", total(&finder, &query)).await?;
        ensure!(after.0 + 1 == before, "{before} pages, then {}", after.0);

        let (pages, blobs, limits) = (self.rows.as_ref(), self.blobs.as_ref(), StepLimits::default());
        let erasure = Erasure { pages, blobs, removal: &removal, limits };
        let site = format!("site:{HOST}");
        ensure!(total(&finder, &site).await? > 0, "nothing to erase");
        let steps = async {
            let (mut erased, mut after) = (0, None);
            loop {
                let (more, next) = erasure.of_host(HOST, Timestamp::MAX, Timestamp::MAX, after).await?;
                (erased, after) = (erased + more, next);
                if after.is_none() {
                    return Ok::<u64, anyhow::Error>(erased);
                }
            }
        };
        let erased = self.timed("erasure", steps).await?;
        ensure!(erased.0 == ERASED && total(&finder, &site).await? == 0, "{} pages were erased", erased.0);

        let (upgraded, upgrade, asked, empty) = self.upgrade(upgraded).await?;
        Ok(json!({
            "pages": self.count, "fill_s": filled.1, "deltas": deltas, "merge_s": merged.1, "merged": merged.0.rewritten,
            "splits": splits.len(), "index_mb": index_bytes as f64 / 1e6, "publish_s": published.1,
            "cold": cold, "pruned": pruned, "warm": warm,
            "removal_ms": removed.1 * 1e3, "after_removal_ms": after.1 * 1e3, "erasure_s": erased.1,
            "upgraded": upgraded, "upgrade_s": upgrade, "asked": asked, "empty": empty,
        }))
    }

    async fn timed<T>(&self, what: &str, work: impl Future<Output = Result<T>>) -> Result<(T, f64)> {
        let began = Instant::now();
        let done = work.await.with_context(|| what.to_owned())?;
        let seconds = began.elapsed().as_secs_f64();
        eprintln!("{what}: {seconds:.2} s");
        Ok((done, seconds))
    }

    fn index(&self) -> Index {
        Index {
            blobs: self.blobs.clone(),
            pages: self.rows.clone(),
            clock: self.clock.clone(),
            pool: Arc::new(Threads),
            portions_at_once: WORKERS,
            pages_per_split: PAGES_PER_SPLIT,
        }
    }

    /// Returns a finder as of a process that has just started.
    fn finder(&self) -> Finder {
        Finder::new(self.blobs.clone(), self.clock.clone()).with_pool(Arc::new(Threads))
    }

    async fn manifest(&self) -> Result<Manifest> {
        let blob = self.plain.get(&manifest_key()).await?.context("no manifest")?;
        Ok(Manifest::from_json(&blob.bytes)?)
    }

    /// Fills the year with splits of all pages, and with the segments and rows of the pages that are erased later.
    async fn fill(&self) -> Result<()> {
        // Each of these pages has the number of the page that it replaces.
        let every = (self.count / ERASED).max(1);
        let erased = (0..ERASED).map(|n| n * every).collect::<Vec<u64>>();
        let mut manifest = Manifest::new(YEAR);
        for part in erased.chunks(RECORDS as usize) {
            let at = self.day(part[0]);
            manifest = manifest.with_segments([self.write(part, at, |_| HOST.to_owned()).await?]);
        }
        let per_split = PAGES_PER_SPLIT as u64;
        let parts =
            (0..self.count.div_ceil(per_split)).map(|part| part * per_split..((part + 1) * per_split).min(self.count));
        let cores = std::thread::available_parallelism()?.get();
        let entries: Vec<SplitEntry> = stream::iter(parts)
            .map(|numbers| async move {
                let (words, day, count) = (self.words.clone(), self.day(numbers.start), self.count);
                let records = numbers.map(move |n| {
                    let is_erased = n.is_multiple_of(every) && n / every < ERASED;
                    record(n, if is_erased { HOST.to_owned() } else { host(n) }, day_of(n, count), &words)
                });
                let build = move || build_split(records, &BuildBudget::default());
                let built = tokio::task::spawn_blocking(build).await??;
                let entry = SplitEntry {
                    key: format!("splits/{YEAR}/{}.split", built.name),
                    docs: built.docs,
                    bytes: built.bytes.len() as u64,
                    languages: built.languages,
                    built_at: day,
                    form: FORM,
                    tier: Tier::Delta,
                    since: day,
                    purged_at: self.clock.now(),
                    generation: 0,
                    first_expiry: None,
                    tail: built.tail,
                    bounds: built.bounds,
                };
                self.plain.put(&entry.key, built.bytes.into()).await?;
                Ok::<_, anyhow::Error>(entry)
            })
            .buffered(cores)
            .try_collect()
            .await?;
        for entry in entries {
            manifest = manifest.with_split(entry, &[])?;
        }
        self.plain.put(&manifest_key(), manifest.seal("2026-12-03").to_json().into()).await?;
        Ok(())
    }

    /// Writes a segment of pages, and the rows of the pages.
    async fn write(&self, numbers: &[u64], at: Timestamp, host: impl Fn(u64) -> String) -> Result<SegmentKey> {
        let record = |n: &u64| record(*n, host(*n), if *n < self.count { self.day(*n) } else { at }, &self.words);
        let drafts: Vec<Draft> =
            numbers.iter().map(record).map(|record| Draft { record, thumbnail: None, raw: None }).collect();
        let locations = write(self.plain.as_ref(), &drafts, at).await?;
        let segment = locations.first().context("a segment without records")?.segment.clone();
        let rows = drafts.iter().zip(locations).map(|(Draft { record, .. }, location)| {
            let state = PageState::Accepted { year: YEAR, location, content_hash: String::new() };
            Ok(Page::new(record.id.clone(), record.url.clone(), HostKey::new(&record.host)?, state, at))
        });
        let rows: Vec<Page> = rows.collect::<Result<_>>()?;
        let inserts = rows.iter().map(|row| self.plain_rows.insert(row));
        futures::future::try_join_all(inserts).await?;
        Ok(segment)
    }

    fn day(&self, n: u64) -> Timestamp {
        day_of(n, self.count)
    }

    /// Measures queries of two words and a filter. Each runs in a new process, or all in one that has answered others.
    async fn queries(&self, count: u64, is_warm: bool, filter: &str) -> Result<serde_json::Value> {
        let one = self.finder();
        if is_warm {
            for n in 0..count / 4 {
                one.find(&self.query(1_000_000 + n, filter), Start::Offset(0), 10).await?;
            }
        }
        let (mut times, mut found) = (Vec::new(), 0);
        let (calls, bytes) = self.blobs.counts();
        for n in 0..count {
            let new = self.finder();
            let began = Instant::now();
            let pages = total(if is_warm { &one } else { &new }, &self.query(n, filter)).await?;
            times.push(began.elapsed().as_secs_f64() * 1e3);
            found += u64::from(pages > 0);
        }
        let (calls_after, bytes_after) = self.blobs.counts();
        times.sort_by(f64::total_cmp);
        let at = |share: f64| times[((times.len() - 1) as f64 * share).round() as usize];
        let told = json!({
            "median": at(0.5), "p95": at(0.95), "found": found, "asked": count,
            "calls": (calls_after - calls) as f64 / count as f64,
            "mb": (bytes_after - bytes) as f64 / 1e6 / count as f64,
        });
        eprintln!("queries{filter}, {}: {told}", if is_warm { "warm" } else { "cold" });
        Ok(told)
    }

    fn query(&self, n: u64, filter: &str) -> String {
        let word = |seed: u64| &self.words[rank(mix(seed))];
        format!("{} {}{filter}", word(2 * n + 77), word(2 * n + 78))
    }

    /// Marks splits of at least `pages` pages as splits of an older format, and publishes while another task searches.
    /// Returns the number of pages, the seconds, the number of searches, and the number of searches with missing hits.
    async fn upgrade(&self, pages: u64) -> Result<(u64, f64, u64, u64)> {
        let mut manifest = self.manifest().await?;
        let mut marked = 0;
        for split in &mut manifest.splits {
            if marked >= pages {
                break;
            }
            let mut bytes = self.plain.get(&split.key).await?.context("no split")?.bytes.to_vec();
            let at = bytes.len() - 12;
            bytes[at..at + 4].copy_from_slice(&OLDEST_FORM.to_le_bytes());
            // Splits of another format have other names.
            split.key = split.key.replace(".split", "-old.split");
            self.plain.put(&split.key, bytes.into()).await?;
            (split.form, split.bounds) = (OLDEST_FORM, curlew_search::Bounds::default());
            marked += split.docs;
        }
        self.plain.put(&manifest_key(), manifest.to_json().into()).await?;
        let (finder, is_over) = (self.finder(), AtomicBool::new(false));
        let query = self.query(3, "");
        let expected = total(&finder, &query).await?;
        let searching = async {
            let (mut asked, mut less) = (0, 0);
            while !is_over.load(Ordering::Relaxed) {
                less += u64::from(total(&finder, &query).await? < expected);
                asked += 1;
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
            Ok::<_, anyhow::Error>((asked, less))
        };
        let upgrading = async {
            let done = self.timed("upgrade", async { Ok(self.index().publish(YEAR).await?) }).await;
            is_over.store(true, Ordering::Relaxed);
            done
        };
        let ((_, seconds), (asked, less)) = futures::try_join!(upgrading, searching)?;
        ensure!(!self.manifest().await?.is_outdated(), "the upgrade is not whole");
        Ok((marked, seconds, asked, less))
    }
}

async fn total(finder: &Finder, query: &str) -> Result<u64> {
    Ok(finder.find(query, Start::Offset(0), 10).await?.total)
}

fn manifest_key() -> String {
    format!("manifests/{YEAR}.json")
}

fn host(n: u64) -> String {
    format!("site{}.example", mix(n) % HOSTS)
}

/// Returns the day on which a page of the year was published.
fn day_of(n: u64, count: u64) -> Timestamp {
    let first = Timestamp::from_millis(1_767_225_600_000);
    first + Millis::from_days(n.min(count - 1) * DAYS / count)
}

/// Returns the rank of a word. A few words are frequent, as in any language.
fn rank(chance: u64) -> usize {
    let at = chance % VOCABULARY;
    usize::try_from(at * at / VOCABULARY).unwrap_or_default()
}

/// Returns a word of three to ten letters.
fn word(n: u64) -> String {
    (0..3 + mix(n) % 8).map(|place| char::from(b'a' + (mix(n << 8 | place) % 26) as u8)).collect()
}

fn record(n: u64, host: String, published: Timestamp, words: &[String]) -> Record {
    let text =
        |from: u64, to: u64| (from..to).map(|at| words[rank(mix(n << 6 | at))].as_str()).collect::<Vec<_>>().join(" ");
    let url = format!("https://{host}/{n}");
    let id = format!("{:016x}{:016x}", mix(n), mix(!n));
    let id = PageId::new(&id).unwrap_or_else(|_| unreachable!("32 digits are an id"));
    Record {
        host,
        title: text(0, 4),
        text: text(4, 4 + WORDS),
        language: Some(["en", "de", "it"][(n % 3) as usize].to_owned()),
        published: Some(published),
        ..Record::new(id, url, published)
    }
}

/// Builds and queries on threads that may block; there are as many as workers.
struct Threads;

#[async_trait]
impl CpuPool for Threads {
    async fn run(&self, _: CpuTask, work: Box<dyn FnOnce() + Send>) -> Result<(), CpuError> {
        let lost = |error| CpuError::Unavailable(PortError::unavailable("a thread was lost", error));
        tokio::task::spawn_blocking(work).await.map_err(lost)
    }
}

/// A clock that starts at the end of the year and advances with real time.
struct YearsEnd {
    now: Timestamp,
    began: Instant,
}

#[async_trait]
impl Clock for YearsEnd {
    fn now(&self) -> Timestamp {
        self.now + self.monotonic()
    }

    fn monotonic(&self) -> Millis {
        Millis(u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX))
    }

    async fn sleep(&self, time: Millis) {
        tokio::time::sleep(time.as_duration()).await;
    }
}

/// Objects whose calls are delayed.
struct FarBlobs {
    plain: Arc<dyn Blobs>,
    calls: AtomicU64,
    bytes: AtomicU64,
}

impl FarBlobs {
    async fn far(&self, bytes: usize) {
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        tokio::time::sleep(OBJECT_LATENCY + Duration::from_secs_f64(bytes as f64 / BYTES_A_SECOND)).await;
    }

    fn counts(&self) -> (u64, u64) {
        (self.calls.load(Ordering::Relaxed), self.bytes.load(Ordering::Relaxed))
    }
}

#[async_trait]
impl Blobs for FarBlobs {
    async fn get(&self, key: &str) -> Result<Option<Blob>, PortError> {
        let blob = self.plain.get(key).await?;
        self.far(blob.as_ref().map_or(0, |blob| blob.bytes.len())).await;
        Ok(blob)
    }

    async fn get_changed(&self, key: &str, seen: Option<&Tag>) -> Result<Seen, PortError> {
        let answer = self.plain.get_changed(key, seen).await?;
        self.far(if let Seen::Changed(Some(blob)) = &answer { blob.bytes.len() } else { 0 }).await;
        Ok(answer)
    }

    async fn get_range(&self, key: &str, offset: u64, length: u64) -> Result<Bytes, PortError> {
        let bytes = self.plain.get_range(key, offset, length).await?;
        self.far(bytes.len()).await;
        Ok(bytes)
    }

    async fn put(&self, key: &str, bytes: Bytes) -> Result<(), PortError> {
        self.far(bytes.len()).await;
        self.plain.put(key, bytes).await
    }

    async fn put_if_absent(&self, key: &str, bytes: Bytes) -> Result<bool, PortError> {
        self.far(bytes.len()).await;
        self.plain.put_if_absent(key, bytes).await
    }

    async fn swap(&self, key: &str, seen: Option<&Tag>, bytes: Bytes) -> Result<Tag, PortError> {
        self.far(bytes.len()).await;
        self.plain.swap(key, seen, bytes).await
    }

    async fn delete(&self, key: &str) -> Result<(), PortError> {
        self.far(0).await;
        self.plain.delete(key).await
    }

    async fn list(&self, prefix: &str, after: Option<&str>, limit: usize) -> Result<Vec<String>, PortError> {
        self.far(0).await;
        self.plain.list(prefix, after, limit).await
    }
}

/// Rows whose calls are delayed.
struct FarPages(Arc<dyn Pages>);

#[async_trait]
impl Pages for FarPages {
    async fn get(&self, id: &PageId) -> Result<Option<(Page, Version)>, PortError> {
        tokio::time::sleep(ROW_LATENCY).await;
        self.0.get(id).await
    }

    async fn insert(&self, page: &Page) -> Result<bool, PortError> {
        tokio::time::sleep(ROW_LATENCY).await;
        self.0.insert(page).await
    }

    async fn swap(&self, seen: Version, page: &Page) -> Result<Version, PortError> {
        tokio::time::sleep(ROW_LATENCY).await;
        self.0.swap(seen, page).await
    }

    async fn list(&self, after: Option<&PageId>, limit: usize) -> Result<Vec<Page>, PortError> {
        tokio::time::sleep(ROW_LATENCY).await;
        self.0.list(after, limit).await
    }
}
