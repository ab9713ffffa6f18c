//! Searches like the web function, over the emulator's S3, and counts the reads.
#![allow(clippy::unwrap_used, clippy::panic, clippy::disallowed_methods, reason = "a test")]

use crate::range_cache::{FolderRangeCache, RANGE_CACHE_BYTES};
use crate::tests::world::TestWorld;
use curlew_app::SystemClock;
use curlew_app::program::Program;
use curlew_aws::{Connection, Names, Objects, Store, provision};
use curlew_catalog::find::Finder;
use curlew_catalog::results::Start;
use curlew_fixtureweb::{Text, texts};
use curlew_model::{HostKey, Location, Page, PageId, PageState, QueueName, Record, SegmentKey};
use curlew_ports::Blobs;
use curlew_testkit::faults::{BlobCall, BlobFate, JudgedBlobs};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Number of pages in the split: as many as the index stage puts into one.
const PAGES: usize = 20_000;
/// Maximum number of range reads of one split for a query without a cache.
const MOST_READS: u32 = 12;
/// Queries of two words, common and rare, in several languages.
const QUERIES: [&str; 8] = [
    "fog gullhaven",
    "mending tarbeck",
    "the harbour",
    "fog \"old tarbeck\"",
    "pane roccapiana",
    "pilz erlensee",
    "phare nuit",
    "白雲峠 秋",
];

/// The bucket of a stack, with a count of range reads of splits.
struct Counted {
    bucket: Arc<dyn Blobs>,
    reads: Arc<AtomicU32>,
}

impl Counted {
    fn new(bucket: Arc<Objects>) -> Counted {
        let reads = Arc::<AtomicU32>::default();
        let counter = reads.clone();
        let bucket = JudgedBlobs::new(bucket, move |call, key| {
            let is_of_split = key.starts_with("splits/");
            assert!(!is_of_split || call != BlobCall::Get, "no search reads a whole split");
            counter.fetch_add(u32::from(is_of_split && call == BlobCall::GetRange), Ordering::Relaxed);
            BlobFate::Pass
        });
        Counted { bucket, reads }
    }

    /// Returns the number of range reads, and resets it.
    fn taken(&self) -> u32 {
        self.reads.swap(0, Ordering::Relaxed)
    }
}

/// Returns a new bucket with the index of a program that ran in memory.
async fn bucket(stack: &str, program: &Program) -> Counted {
    let endpoint = std::env::var("AWS_ENDPOINT_URL").unwrap_or_default();
    assert!(!endpoint.is_empty(), "AWS_ENDPOINT_URL is not set: `cargo xtask test` starts an emulator of AWS");
    let connection = Connection::from_environment().await;
    let stack = format!("{stack}{}", std::process::id());
    let names = Names { bucket: format!("{stack}-data-000000000000-us-east-1"), stack };
    provision(&connection, &names).await.unwrap();
    let bucket = Store::new(&connection, names).objects();
    for prefix in ["manifests/", "splits/"] {
        for key in program.ports.blobs.list(prefix, None, 100).await.unwrap() {
            let blob = program.ports.blobs.get(&key).await.unwrap().unwrap();
            bucket.put(&key, blob.bytes).await.unwrap();
        }
    }
    Counted::new(bucket)
}

/// Returns a program with one split of many pages.
async fn published(pages: usize) -> Program {
    let program = TestWorld::new(QueueName::Fetch).program();
    for (n, text) in texts(pages).enumerate() {
        accept(&program, n, text).await;
    }
    program.library.index.publish(2026).await.unwrap();
    assert_eq!(program.ports.blobs.list("splits/", None, 9).await.unwrap().len(), 1);
    program
}

async fn accept(program: &Program, n: usize, Text { language, title, text, .. }: Text) {
    let now = program.clock.now();
    let record = Record {
        host: "example.org".into(),
        title,
        text,
        language: Some(language.into()),
        ..Record::new(PageId::new(&format!("{n:032x}")).unwrap(), format!("https://example.org/{n}"), now)
    };
    keep(program, record).await;
}

/// Stores a record like extract: a segment and a row.
pub(crate) async fn keep(program: &Program, record: Record) {
    let now = program.clock.now();
    let frame = zstd::bulk::compress(&serde_json::to_vec(&record).unwrap(), 1).unwrap();
    let key = format!("segments/{}/{}.jsonl.zst", now.day().replace('-', "/"), record.id);
    let location = Location { segment: SegmentKey::new(&key).unwrap(), offset: 0, length: frame.len() as u64 };
    program.ports.blobs.put(&key, frame.into()).await.unwrap();
    let row = Page::new(
        record.id,
        record.url,
        HostKey::new(&record.host).unwrap(),
        PageState::Accepted { year: now.year(), location, content_hash: String::new() },
        now,
    );
    assert!(program.ports.pages.insert(&row).await.unwrap());
}

/// Returns the search of a function that has just started.
fn finder(bucket: &Counted) -> Finder {
    Finder::new(bucket.bucket.clone(), Arc::new(SystemClock::new()))
}

async fn ask(finder: &Finder, query: &str) -> Vec<String> {
    let found = finder.find(query, Start::Offset(0), 10).await.unwrap();
    assert!(!found.hits.is_empty(), "{query}");
    found.hits.into_iter().map(|hit| hit.url).collect()
}

#[tokio::test]
async fn a_cold_query_takes_at_most_twelve_range_reads_of_one_split_on_s3() {
    let bucket = bucket("cold", &published(PAGES).await).await;
    for query in QUERIES {
        let finder = finder(&bucket);
        ask(&finder, query).await;
        let reads = bucket.taken();
        assert!((2..=MOST_READS).contains(&reads), "{query}: {reads}");
        ask(&finder, query).await;
        assert_eq!(bucket.taken(), 0, "what was read is still there");
    }
}

#[tokio::test]
async fn what_lies_on_local_disk_is_not_read_from_s3_again() {
    let bucket = bucket("near", &published(PAGES / 10).await).await;
    let dir = tempfile::tempdir().unwrap();
    let started =
        || finder(&bucket).with_range_cache(Arc::new(FolderRangeCache::new(dir.path().to_owned(), RANGE_CACHE_BYTES)));
    let found = ask(&started(), QUERIES[0]).await;
    let cold = bucket.taken();
    assert!((2..=MOST_READS).contains(&cold), "{cold}");
    assert_eq!(ask(&started(), QUERIES[0]).await, found);
    assert_eq!(bucket.taken(), 0, "after a start over what the last process has left");
    tear(dir.path());
    assert_eq!(ask(&started(), QUERIES[0]).await, found);
    assert_eq!(bucket.taken(), cold, "what is damaged is read anew");
    assert_eq!(ask(&started(), QUERIES[0]).await, found);
    assert_eq!(bucket.taken(), 0);
}

/// Simulates a crash of the machine: the second half of every file becomes zeros.
fn tear(folder: &Path) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let mut bytes = std::fs::read(&path).unwrap();
        let half = bytes.len() / 2;
        bytes[half..].fill(0);
        std::fs::write(&path, bytes).unwrap();
    }
}
