//! `curlew backup` and `curlew restore`.

use crate::output::{self, count};
use anyhow::Result;
use curlew_app::{Settings as Config, SystemClock};
use curlew_ports::Clock;
use serde_json::json;
use std::path::PathBuf;

const MEGABYTE: u64 = 1_000_000;
const KEEP: &str =
    "keep it as private as the store, and delete it when it is old, because it contains pages that are removed later";

pub(super) async fn take(config: &Config, dir: PathBuf, json: bool) -> Result<()> {
    let (store, to, now) = (config.data.clone(), dir.clone(), SystemClock::new().now());
    let taken = tokio::task::spawn_blocking(move || curlew_embedded::backup(&store, &to, now)).await??;
    let whole = json!({"dir": dir, "at": now, "files": taken.files, "bytes": taken.bytes});
    output::answer(json, &whole, format!("{} are in {}: {KEEP}", size(taken.files, taken.bytes), dir.display()))
}

pub(super) async fn restore(config: &Config, dir: PathBuf, replace: bool, json: bool) -> Result<()> {
    let (store, now) = (config.data.clone(), SystemClock::new().now());
    let done = tokio::task::spawn_blocking(move || curlew_embedded::restore(&dir, &store, replace, now)).await??;
    let (dir, at, aside) = (&config.data, done.taken_at, &done.aside);
    let whole = json!({"dir": dir, "at": at, "files": done.files, "bytes": done.bytes, "aside": aside});
    let size = size(done.files, done.bytes);
    output::answer(json, &whole, format!("{size} of {at} are in {}; `curlew fsck` checks them", dir.display()))?;
    match aside.as_ref().filter(|_| !json) {
        Some(aside) => {
            output::line(format!("The previous store is in {}; delete it when you no longer need it", aside.display()))
        }
        None => Ok(()),
    }
}

fn size(files: u64, bytes: u64) -> String {
    format!("{} of {} MB together", count(files, "file"), bytes.div_ceil(MEGABYTE))
}
