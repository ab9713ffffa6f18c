//! `curlew backup` and `curlew restore`.

use crate::output::{self, count};
use anyhow::Result;
use curlew_app::{Settings as Config, SystemClock};
use curlew_ports::Clock;
use serde_json::json;
use std::path::PathBuf;

/// Number of bytes of a megabyte, as disks count them.
const MEGABYTE: u64 = 1_000_000;

pub(super) async fn take(config: &Config, dir: PathBuf, json: bool) -> Result<()> {
    let (store, to, now) = (config.data.clone(), dir.clone(), SystemClock::new().now());
    let taken = tokio::task::spawn_blocking(move || curlew_embedded::backup(&store, &to, now)).await??;
    if json {
        return Ok(output::json(&json!({"dir": dir, "at": now, "files": taken.files, "bytes": taken.bytes}))?);
    }
    Ok(output::line(&format!("{} are in {}: {}", size(taken.files, taken.bytes), dir.display(), KEEP))?)
}

/// Advice about a backup.
const KEEP: &str = "keep it as private as the store, and delete it in time, since it has what is removed later";

pub(super) async fn restore(config: &Config, dir: PathBuf, replace: bool, json: bool) -> Result<()> {
    let (from, store, now) = (dir, config.data.clone(), SystemClock::new().now());
    let done = tokio::task::spawn_blocking(move || curlew_embedded::restore(&from, &store, replace, now)).await??;
    if json {
        let (dir, at, aside) = (&config.data, done.taken_at, &done.aside);
        let whole = json!({"dir": dir, "at": at, "files": done.files, "bytes": done.bytes, "aside": aside});
        return Ok(output::json(&whole)?);
    }
    let size = size(done.files, done.bytes);
    output::line(&format!("{size} of {} are in {}; `curlew fsck` checks them", done.taken_at, config.data.display()))?;
    if let Some(aside) = done.aside {
        output::line(&format!("What was there is in {}: delete it when it is of no more use", aside.display()))?;
    }
    Ok(())
}

fn size(files: u64, bytes: u64) -> String {
    format!("{} of {} MB together", count(files, "file"), bytes.div_ceil(MEGABYTE))
}
