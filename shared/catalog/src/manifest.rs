//! The manifest of a year: its object, and its change by compare-and-swap.

use crate::listing::all_keys;
use crate::object;
use crate::segment::SEGMENTS;
use curlew_model::{SegmentKey, Year};
use curlew_ports::stage::{Result, StageError};
use curlew_ports::{Blobs, PortError};
use curlew_search::{Manifest, SearchError};

const MANIFESTS: &str = "manifests/";
const YEARS: usize = 200;

/// Returns the key of a year's manifest.
pub fn manifest_key(year: Year) -> String {
    format!("{MANIFESTS}{year:04}.json")
}

/// Returns the years that have a manifest, in order.
pub(crate) async fn manifest_years(blobs: &dyn Blobs) -> Result<Vec<Year>, PortError> {
    let keys = blobs.list(MANIFESTS, None, YEARS).await?;
    Ok(keys.iter().filter_map(|key| key.strip_prefix(MANIFESTS)?.strip_suffix(".json")?.parse().ok()).collect())
}

/// Loads the manifest of a year; an empty one if there is none.
pub async fn load_manifest(blobs: &dyn Blobs, year: Year) -> Result<Manifest> {
    let blob = blobs.get(&manifest_key(year)).await?;
    parse_manifest(year, blob.as_ref().map(|blob| blob.bytes.as_ref()))
}

pub(crate) fn parse_manifest(year: Year, bytes: Option<&[u8]>) -> Result<Manifest> {
    bytes.map_or_else(|| Ok(Manifest::new(year)), Manifest::from_json).map_err(search_error)
}

/// Parses a manifest like [`parse_manifest`]; `None` if another version has written it, which is logged.
pub(crate) fn parse_if_known(year: Year, bytes: Option<&[u8]>) -> Result<Option<Manifest>> {
    match bytes.map(Manifest::from_json) {
        None => Ok(Some(Manifest::new(year))),
        Some(Err(SearchError::UnknownForm { found, .. })) => {
            tracing::warn!(
                year,
                version = found,
                "the manifest of a year has a format that this version does not read; its pages are not searched"
            );
            Ok(None)
        }
        Some(read) => read.map(Some).map_err(search_error),
    }
}

/// Loads the manifest of a year like [`load_manifest`]; `None` if another version has written it, which is logged.
pub(crate) async fn load_if_known(blobs: &dyn Blobs, year: Year) -> Result<Option<Manifest>> {
    let blob = blobs.get(&manifest_key(year)).await?;
    parse_if_known(year, blob.as_ref().map(|blob| blob.bytes.as_ref()))
}

/// Changes the manifest of a year by compare-and-swap; nothing is written if nothing changes.
pub async fn change_manifest(
    blobs: &dyn Blobs,
    year: Year,
    change: impl Fn(&Manifest) -> Result<Manifest, SearchError>,
) -> Result<Manifest> {
    object::change(blobs, &manifest_key(year), |bytes| {
        let manifest = parse_manifest(year, bytes)?;
        let next = change(&manifest).map_err(search_error)?;
        Ok(((next != manifest).then(|| next.to_json()), next))
    })
    .await
}

/// Returns the unindexed segments below a prefix, in order; days that the manifest has sealed are not listed.
pub async fn unlisted_segments(
    blobs: &dyn Blobs,
    prefix: &str,
    manifest: &Manifest,
) -> Result<Vec<SegmentKey>, PortError> {
    let after = manifest.sealed_through.as_ref().map(|day| format!("{SEGMENTS}{}/~", day.replace('-', "/")));
    let keys = all_keys(blobs, prefix, after).await?;
    Ok(keys.iter().filter_map(|key| SegmentKey::new(key).ok()).filter(|key| !manifest.is_indexed(key)).collect())
}

/// Converts an error of the search index into one that tells the caller what to do next.
pub fn search_error(error: SearchError) -> StageError {
    match error {
        // Another writer was faster.
        SearchError::Stale(_) => StageError::Port(PortError::Conflict),
        error => StageError::Port(PortError::Corrupt { what: "the index".into(), why: error.to_string() }),
    }
}
