//! Indexed years: the number of pages of each year, read from the manifests.

use crate::manifest::{load_if_known, manifest_years};
use curlew_model::{Timestamp, Year};
use curlew_ports::Blobs;
use curlew_ports::stage::Result;
use schemars::JsonSchema;
use serde::Serialize;

/// A year of the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct IndexedYear {
    /// The year.
    pub year: Year,
    /// Number of its pages that can be found.
    pub pages: u64,
    /// Number of its splits.
    #[serde(skip_serializing)]
    pub splits: usize,
    /// Time at which one of its pages was last published.
    #[schemars(with = "Option<String>", extend("format" = "date-time"))]
    pub published: Option<Timestamp>,
    /// True if a newer version of the program wrote its manifest: this version reads nothing else of it, and searches
    /// no page.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_newer: bool,
}

/// Returns the years of the index that have splits, newest first, with one listing and one read for each year. Pages
/// whose `unavailable_after` has passed count until they are removed.
pub async fn indexed_years(blobs: &dyn Blobs) -> Result<Vec<IndexedYear>> {
    let mut years = Vec::new();
    for year in manifest_years(blobs).await?.into_iter().rev() {
        let Some(manifest) = load_if_known(blobs, year).await? else {
            years.push(IndexedYear { year, pages: 0, splits: 0, published: None, is_newer: true });
            continue;
        };
        if manifest.splits.is_empty() {
            continue;
        }
        let pages = manifest.findable();
        let (splits, published) = (manifest.splits.len(), manifest.splits.iter().map(|split| split.built_at).max());
        years.push(IndexedYear { year, pages, splits, published, is_newer: false });
    }
    Ok(years)
}
