//! Daily counts for the charts of the status page, in one small object with one writer.

use curlew_catalog::object;
use curlew_model::{Millis, Timestamp};
use curlew_ports::stage::Result;
use curlew_ports::{Blobs, PortError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const KEY: &str = "activity.json";
/// Number of days that are kept, including today.
pub const DAYS: usize = 30;

/// Counts of one day (UTC).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DayCounts {
    /// The day, as `2026-11-23`.
    pub day: String,
    /// Polls of feeds.
    pub polls: u64,
    /// Pages that were taken in.
    pub accepted: u64,
    /// Holds that were laid on host keys.
    pub holds: u64,
}

/// Adds counts to today's, and drops days that are too old. Only one process may call this at a time.
pub async fn add(blobs: &dyn Blobs, now: Timestamp, more: &DayCounts) -> Result<()> {
    let mut days = stored(blobs).await?;
    let today = now.day();
    let place = days.iter().position(|of| of.day == today).unwrap_or(days.len());
    if place == days.len() {
        days.push(DayCounts { day: today, ..DayCounts::default() });
    }
    days[place].polls += more.polls;
    days[place].accepted += more.accepted;
    days[place].holds += more.holds;
    days.sort_by(|a, b| a.day.cmp(&b.day));
    let old = days.len().saturating_sub(DAYS);
    days.drain(..old);
    Ok(blobs.put(KEY, object::json(&days)?.into()).await?)
}

/// Returns the counts of the last [`DAYS`] days, oldest first, from the first day that has counts.
pub async fn last_days(blobs: &dyn Blobs, now: Timestamp) -> Result<Vec<DayCounts>, PortError> {
    let stored = stored(blobs).await?;
    let days = (0..DAYS as u64).rev().map(|ago| (now - Millis::from_days(ago)).day());
    let of = |day: String| {
        let counted = stored.iter().find(|of| of.day == day).cloned();
        counted.unwrap_or(DayCounts { day, ..DayCounts::default() })
    };
    let is_before_all = |of: &DayCounts| stored.iter().all(|counted| counted.day > of.day);
    Ok(if stored.is_empty() { vec![] } else { days.map(of).skip_while(is_before_all).collect() })
}

/// Loads the object; an unreadable one is treated as missing, since it is only for charts.
async fn stored(blobs: &dyn Blobs) -> Result<Vec<DayCounts>, PortError> {
    let days = blobs.get(KEY).await?.and_then(|blob| serde_json::from_slice::<Vec<DayCounts>>(&blob.bytes).ok());
    Ok(days.unwrap_or_default())
}
