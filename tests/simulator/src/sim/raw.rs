//! Raw pages that are left at the end of a run that keeps them.

use super::machine::{Machine, PEOPLE, publish};
use super::stores::Shared;
use super::trace::RawSnapshot;
use crate::faults::Faults;
use curlew_catalog::raw::RawPages;
use curlew_model::{Millis, PageId};
use curlew_ports::{Blobs, Clock, Pages, PortError};
use std::sync::Arc;

/// Time for which pages are kept, longer than any run.
const LIFETIME: Millis = Millis::from_days(3_650);
/// Age after which the remains of a batch that died are swept.
const SWEPT_AFTER: Millis = Millis::from_days(3);
/// Number of objects that are listed at a time; higher than the number of objects.
const OBJECTS: usize = 10_000;
/// Beginning of the job that is stored beside each raw page; the page's id follows.
const JOB: &str = "{\"page\":\"";

/// Publishes and sweeps over stores without faults, then reads every byte below `raw/`.
pub(super) async fn look(shared: &Arc<Shared>) -> Result<Vec<RawSnapshot>, String> {
    shared.clock.sleep(SWEPT_AFTER).await;
    let faults = Faults::none(shared.clock.clone());
    let machine = Machine::new(shared, PEOPLE, &faults, 2);
    publish(&machine, false).await?;
    let raw = RawPages { lifetime: LIFETIME, ..machine.program.library.raw.clone() };
    raw.expire().await.map_err(|e| e.to_string())?;
    read(shared).await.map_err(|e| e.to_string())
}

async fn read(shared: &Shared) -> Result<Vec<RawSnapshot>, PortError> {
    let mut left = vec![];
    for key in shared.blobs.list("raw/", None, OBJECTS).await? {
        let Some(blob) = shared.blobs.get(&key).await? else { continue };
        let bytes = zstd::decode_all(&blob.bytes[..])
            .map_err(|e| PortError::Corrupt { what: key.clone(), why: e.to_string() })?;
        for job in String::from_utf8_lossy(&bytes).split(JOB).skip(1) {
            let Some(page) = job.split('"').next().and_then(|id| PageId::new(id).ok()) else { continue };
            let row = shared.pages.get(&page).await?;
            left.push(RawSnapshot { key: key.clone(), page, state: row.map(|(row, _)| row.state) });
        }
    }
    Ok(left)
}
