//! Raw pages of a run that keeps them: what is left of them once nothing moves any more.

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
/// Time after which what a batch has left behind that died is swept.
const SWEPT_AFTER: Millis = Millis::from_days(3);
/// Objects that are listed at a time; more than there are.
const OBJECTS: usize = 10_000;
/// Beginning of the job that lies beside each raw page; its id follows.
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
