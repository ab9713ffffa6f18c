//! Names of thumbnails in records, in search results and in paths of the search page.

use crate::{ImageId, InvalidId, Location, SegmentKey, ids::stored_as_text};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Maximum length of a thumbnail's frame in bytes. It bounds the read that a forged id can cause.
const MAX_FRAME: u64 = 256 * 1024;
const MAX_NAME: usize = 64;

/// Location of a thumbnail. Its text is safe in a URL's path: `HASH`, or `YYYYMMDD-SEGMENT-OFFSET-LENGTH`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum ThumbnailId {
    /// A separate object, named by the hash of the image's URL: an image of another host key, or a site's image.
    Object(ImageId),
    /// A frame in the segment of the page's record.
    Frame(Location),
}

impl ThumbnailId {
    /// Parses a thumbnail's name in either form.
    pub fn new(text: &str) -> Result<ThumbnailId, InvalidId> {
        if let Ok(image) = ImageId::new(text) {
            return Ok(ThumbnailId::Object(image));
        }
        frame(text).map(ThumbnailId::Frame).ok_or_else(|| InvalidId::new("thumbnail id", text))
    }
}

fn frame(text: &str) -> Option<Location> {
    let mut parts = text.split('-');
    let (day, name, offset, length) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    let is_plain = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit() || b.is_ascii_lowercase());
    if parts.next().is_some() || !is_plain(name) || name.len() > MAX_NAME {
        return None;
    }
    let (day, offset, length) = (digits(day)?, digits(offset)?, digits(length)?);
    let (year, month, day) = (day / 10_000, day / 100 % 100, day % 100);
    let segment = SegmentKey::new(&format!("segments/{year:04}/{month:02}/{day:02}/{name}.jsonl.zst")).ok()?;
    let location = Location { segment, offset, length };
    // Each location has exactly one spelling: no leading zeros, eight digits for the day.
    (length <= MAX_FRAME && ThumbnailId::Frame(location.clone()).to_string() == text).then_some(location)
}

fn digits(text: &str) -> Option<u64> {
    text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

impl fmt::Display for ThumbnailId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Location { segment, offset, length } = match self {
            ThumbnailId::Object(image) => return write!(f, "{image}"),
            ThumbnailId::Frame(location) => location,
        };
        let mut parts = segment.as_str().split('/').skip(1);
        let (year, month, day) = (parts.next(), parts.next(), parts.next());
        let name = parts.next().unwrap_or_default().trim_end_matches(".jsonl.zst");
        for part in [year, month, day] {
            f.write_str(part.unwrap_or_default())?;
        }
        write!(f, "-{name}-{offset}-{length}")
    }
}

stored_as_text!(ThumbnailId);

#[cfg(test)]
mod tests {
    use super::*;

    const NAME: &str = "0123456789abcdef0123456789abcdef";

    #[test]
    fn both_forms_come_back_from_their_text() -> Result<(), Box<dyn std::error::Error>> {
        let segment = SegmentKey::new(&format!("segments/2026/11/21/{NAME}.jsonl.zst"))?;
        let frame = ThumbnailId::Frame(Location { segment, offset: 70_012, length: 9_304 });
        assert_eq!(frame.to_string(), format!("20261121-{NAME}-70012-9304"));
        for id in [ThumbnailId::Object(ImageId::new(NAME)?), frame] {
            assert_eq!(ThumbnailId::new(&id.to_string())?, id);
            assert_eq!(serde_json::from_str::<ThumbnailId>(&serde_json::to_string(&id)?)?, id);
        }
        Ok(())
    }

    #[test]
    fn what_could_leave_its_place_or_read_too_much_is_no_id() {
        let long = format!("20261121-{}-1-2", "a".repeat(MAX_NAME + 1));
        let forms = ["", "-", "x", "20261121", "../../etc/passwd", "20261121-a.b-1-2", "20261121-a/b-1-2", &long];
        let numbers = ["20261121-ab-01-2", "20261121-ab-+1-2", "20261121-ab-1-262145", "20261121-ab-1-2-3"];
        for text in forms.into_iter().chain(numbers).chain(["2026112-ab-1-2"]) {
            assert!(ThumbnailId::new(text).is_err(), "{text}");
        }
        assert!(ThumbnailId::new("20261121-ab-0-262144").is_ok());
    }
}
