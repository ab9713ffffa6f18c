//! What there is of the index, as its manifests say.

use crate::catalog::index::load_manifest;
use crate::stage::StageError;
use curlew_model::{Timestamp, Year};
use curlew_ports::Blobs;
use serde::Serialize;

/// Where the manifests lie.
const MANIFESTS: &str = "manifests/";
/// Most years that have an index.
const YEARS: usize = 200;

/// A year of the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct IndexedYear {
    /// The year.
    pub year: Year,
    /// Its pages that can be found.
    pub pages: u64,
    /// When something of it was published last.
    pub published: Option<Timestamp>,
}

/// The years of the index, the newest first: a listing and a read for each. Pages whose `unavailable_after` has passed
/// count until they are removed.
///
/// # Errors
/// What the object store says, or that the index is damaged.
pub async fn indexed_years(blobs: &dyn Blobs) -> Result<Vec<IndexedYear>, StageError> {
    let keys = blobs.list(MANIFESTS, None, YEARS).await?;
    let mut years = Vec::with_capacity(keys.len());
    for key in keys.iter().rev() {
        let Some(year) = key.strip_prefix(MANIFESTS).and_then(|name| name.strip_suffix(".json")?.parse().ok()) else {
            continue;
        };
        let (manifest, _) = load_manifest(blobs, year).await?;
        let pages = manifest.findable();
        years.push(IndexedYear { year, pages, published: manifest.splits.iter().map(|split| split.built_at).max() });
    }
    Ok(years)
}
