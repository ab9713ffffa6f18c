//! Tests of the store through its public interface.

mod backup;
mod processes;
mod store;

use curlew_embedded::{Access, Store};
use curlew_model::{Millis, QueueName, Timestamp};
use curlew_ports::Blobs;
use curlew_testkit::sample::poll_number;
use std::path::Path;
use tempfile::TempDir;

const DATABASE: &str = "curlew.sqlite3";
const HOUR: Millis = Millis::from_hours(1);
const NOW: Timestamp = Timestamp::from_millis(1_790_000_000_000);

fn dir() -> TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

fn open(dir: &Path) -> Store {
    Store::open(dir, Access::Exclusive).expect("opens")
}

async fn put(store: &Store, key: &str, bytes: impl Into<bytes::Bytes>) {
    store.objects().put(key, bytes.into()).await.expect("writes");
}

async fn get(store: &Store, key: &str) -> bytes::Bytes {
    store.objects().get(key).await.expect("reads").expect("is there").bytes
}

/// Returns the numbers of a store's due jobs.
async fn jobs(store: &Store) -> Vec<u64> {
    let received = store.ports().inbox.receive(QueueName::Poll, 1_000_000, HOUR, NOW).await.expect("receives");
    received.iter().map(|delivery| poll_number(&delivery.job)).collect()
}
