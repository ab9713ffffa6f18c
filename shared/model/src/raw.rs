//! Raw pages: what was sent for a page and what came back, where the operator keeps it.

use crate::ids::SegmentKey;
use serde::{Deserialize, Serialize};

/// The heads of the call for a page: of the request as it was sent, of the response as it came, except for the headers
/// that speak of codings and length, since the body is kept decoded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exchange {
    /// Request line and header lines, each with its line break.
    pub request: String,
    /// Status line and header lines, each with its line break.
    pub response: String,
}

/// Place of a page as it was fetched: one zstd frame of the object of raw pages that belongs to the segment of its
/// record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RawFrame {
    /// Day from which on the page is kept raw, as `2026/11/21`. A page that is extracted again keeps it.
    pub day: String,
    /// Offset of the frame in bytes.
    pub offset: u64,
    /// Length of the frame in bytes.
    pub length: u64,
}

impl RawFrame {
    /// Returns the key of the object that belongs to a segment: `raw/YYYY/MM/DD/<name of the segment>.warc.zst`.
    pub fn key(&self, segment: &SegmentKey) -> String {
        let name = segment.as_str().rsplit('/').next().unwrap_or_default();
        format!("raw/{}/{}.warc.zst", self.day, name.split('.').next().unwrap_or_default())
    }
}
