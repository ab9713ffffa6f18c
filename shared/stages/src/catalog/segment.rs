//! Segments: objects that hold many records, each in its own zstd frame, so that one record is readable by range and
//! the whole by any tool that reads `jsonl.zst`. The thumbnail of a page's own image lies before its record, in a frame
//! that zstd tools skip.

use crate::stage::StageError;
use bytes::Bytes;
use curlew_model::{Location, Record, SegmentKey, ThumbnailId, Timestamp, Year};
use curlew_policy::address::hash_hex;
use curlew_ports::{Blobs, PortError};

/// Compression level of zstd for records. They are stored for good.
const LEVEL: i32 = 3;
/// Maximum size of an uncompressed record, in bytes.
const UNPACK_LIMIT: usize = 8 * 1024 * 1024;
/// Magic number of a skippable frame (RFC 8878 §3.1.2) that replaces an erased record.
const ERASED: u32 = 0x184D_2A50;
/// Magic number of a skippable frame with a thumbnail.
const THUMBNAIL: u32 = 0x184D_2A51;
/// All magic numbers of skippable frames.
const SKIPPABLE: std::ops::RangeInclusive<u32> = 0x184D_2A50..=0x184D_2A5F;
/// Magic number of a frame (RFC 8878 §3.1.1).
const FRAME: u32 = 0xFD2F_B528;
/// Bytes of a skippable frame's header.
const SKIPPABLE_HEADER: usize = 8;
/// Maximum number of tries to erase a record while others erase in the same segment.
const ERASE_TRIES: u32 = 8;

/// Returns the day in a segment's key, as `2026/11/21`.
pub fn segment_day(key: &SegmentKey) -> &str {
    key.as_str().get(9..19).unwrap_or_default()
}

/// Returns the year in the key of the segment at a location.
pub(crate) fn segment_year(at: &Location) -> Option<Year> {
    segment_day(&at.segment).get(..4)?.parse().ok()
}

/// Returns the prefix of the keys of a year's segments.
pub(crate) fn year_prefix(year: Year) -> String {
    format!("segments/{year:04}/")
}

/// A record that is to be written to a segment, with its thumbnail.
pub struct Draft {
    /// The record.
    pub record: Record,
    /// JPEG.
    pub thumbnail: Option<Bytes>,
}

/// Writes records as one segment; returns their locations in the order of the records.
///
/// # Errors
/// The object store's error, or that a record cannot be encoded.
pub async fn write(
    blobs: &dyn Blobs,
    drafts: impl IntoIterator<Item = &Draft>,
    now: Timestamp,
) -> Result<Vec<Location>, StageError> {
    let mut bytes = Vec::new();
    let mut frames = Vec::new();
    for Draft { record, thumbnail } in drafts {
        let mut record = record.clone();
        if let Some(jpeg) = thumbnail {
            let before = bytes.len();
            let length = u32::try_from(jpeg.len()).map_err(|e| StageError::Job(e.to_string()))?;
            bytes.extend_from_slice(&skippable(THUMBNAIL, length));
            bytes.extend_from_slice(jpeg);
            record.thumbnail_frame = (bytes.len() - before) as u64;
        }
        let mut line = serde_json::to_vec(&record).map_err(|e| StageError::Job(e.to_string()))?;
        line.push(b'\n');
        let frame = zstd::bulk::compress(&line, LEVEL).map_err(|e| StageError::Job(e.to_string()))?;
        frames.push((bytes.len() as u64, frame.len() as u64));
        bytes.extend_from_slice(&frame);
    }
    // Named by its content, so that a batch that runs twice writes the same object.
    let key = format!("segments/{}/{}.jsonl.zst", now.day().replace('-', "/"), hash_hex(&bytes));
    let segment = SegmentKey::new(&key).map_err(|e| StageError::Job(e.to_string()))?;
    blobs.put_if_absent(&key, bytes.into()).await?;
    Ok(frames.into_iter().map(|(offset, length)| Location { segment: segment.clone(), offset, length }).collect())
}

/// Returns the header of a skippable frame with `content` bytes of content.
fn skippable(magic: u32, content: u32) -> [u8; SKIPPABLE_HEADER] {
    let mut header = [0; SKIPPABLE_HEADER];
    header[..4].copy_from_slice(&magic.to_le_bytes());
    header[4..].copy_from_slice(&content.to_le_bytes());
    header
}

/// Returns the thumbnail in a frame; `None` if it has been erased, or if there is none at this location.
pub(crate) async fn thumbnail(blobs: &dyn Blobs, at: &Location) -> Result<Option<Bytes>, PortError> {
    let frame = match blobs.get_range(at.segment.as_str(), at.offset, at.length).await {
        Ok(frame) => frame,
        // The location comes from a request, so any may be asked for.
        Err(PortError::NotFound(_) | PortError::Corrupt { .. }) => return Ok(None),
        Err(other) => return Err(other),
    };
    let content = u32::try_from(frame.len().saturating_sub(SKIPPABLE_HEADER)).unwrap_or(0);
    Ok(frame.starts_with(&skippable(THUMBNAIL, content)).then(|| frame.slice(SKIPPABLE_HEADER..)))
}

/// Returns the location of a record's thumbnail, if it has one.
pub(crate) fn thumbnail_of(record: &Record, at: &Location) -> Option<Location> {
    let offset = at.offset.checked_sub(record.thumbnail_frame)?;
    (record.thumbnail_frame > 0).then(|| Location { offset, length: record.thumbnail_frame, ..at.clone() })
}

/// Reads single records by range.
pub struct RecordReader<'a>(pub &'a dyn Blobs);

impl RecordReader<'_> {
    /// Returns the record at a location; `None` if it has been erased.
    ///
    /// # Errors
    /// The object store's error, or that the record cannot be decoded.
    pub async fn read(&self, at: &Location) -> Result<Option<Record>, StageError> {
        let frame = self.0.get_range(at.segment.as_str(), at.offset, at.length).await?;
        decode(&frame, at)
    }
}

/// Returns all records of a segment with their locations; erased ones are left out.
pub(crate) fn decode_all(segment: &SegmentKey, bytes: &Bytes) -> Result<Vec<(Location, Record)>, StageError> {
    let mut records = Vec::new();
    let mut at = 0usize;
    while at < bytes.len() {
        let rest = &bytes[at..];
        let length = frame_length(rest).ok_or_else(|| corrupt(segment.as_str(), "a frame is cut short"))?;
        let location = Location { segment: segment.clone(), offset: at as u64, length: length as u64 };
        if let Some(record) = decode(&rest[..length], &location)? {
            records.push((location, record));
        }
        at += length;
    }
    Ok(records)
}

fn frame_length(bytes: &[u8]) -> Option<usize> {
    let magic = u32::from_le_bytes(bytes.get(..4)?.try_into().ok()?);
    let length = if SKIPPABLE.contains(&magic) {
        SKIPPABLE_HEADER + u32::from_le_bytes(bytes.get(4..8)?.try_into().ok()?) as usize
    } else if magic == FRAME {
        zstd::zstd_safe::find_frame_compressed_size(bytes).ok()?
    } else {
        return None;
    };
    (length > 0 && length <= bytes.len()).then_some(length)
}

fn decode(frame: &[u8], at: &Location) -> Result<Option<Record>, StageError> {
    let magic = frame.first_chunk().map(|magic| u32::from_le_bytes(*magic));
    if magic.is_some_and(|magic| SKIPPABLE.contains(&magic)) {
        return Ok(None);
    }
    let unreadable = |why: String| corrupt(at.segment.as_str(), &why);
    let line = zstd::bulk::decompress(frame, UNPACK_LIMIT).map_err(|e| unreadable(e.to_string()))?;
    let mut record: Record = serde_json::from_slice(&line).map_err(|e| unreadable(e.to_string()))?;
    if let Some(at) = thumbnail_of(&record, at) {
        record.thumbnail = Some(ThumbnailId::Frame(at));
    }
    Ok(Some(record))
}

fn corrupt(segment: &str, why: &str) -> StageError {
    StageError::Port(PortError::Corrupt { what: segment.to_owned(), why: why.to_owned() })
}

/// Overwrites records and their thumbnails with skippable frames of the same length. They disappear in one write, every
/// other offset stays right, and zstd tools skip them.
pub(crate) async fn erase(
    blobs: &dyn Blobs,
    segment: &SegmentKey,
    records: &[(Location, Record)],
) -> Result<(), StageError> {
    let key = segment.as_str();
    for _ in 0..ERASE_TRIES {
        let Some(blob) = blobs.get(key).await? else { return Ok(()) };
        let mut bytes = blob.bytes.to_vec();
        for (at, record) in records {
            for at in std::iter::once(at.clone()).chain(thumbnail_of(record, at)) {
                overwrite(&mut bytes, &at)?;
            }
        }
        if bytes == blob.bytes {
            return Ok(());
        }
        match blobs.swap(key, Some(&blob.tag), bytes.into()).await {
            Ok(_) => return Ok(()),
            Err(PortError::Conflict) => {}
            Err(other) => return Err(other.into()),
        }
    }
    Err(PortError::Conflict.into())
}

/// Writes a damaged segment anew with these of its records alone, each with its thumbnail and at its place; all else
/// becomes frames that zstd tools skip.
pub(crate) async fn salvage(
    blobs: &dyn Blobs,
    segment: &SegmentKey,
    good: &[(Location, Record)],
) -> Result<(), StageError> {
    let key = segment.as_str();
    let Some(blob) = blobs.get(key).await? else { return Ok(()) };
    let span = |(at, record): &(Location, Record)| {
        let from = thumbnail_of(record, at).map_or(at.offset, |thumbnail| thumbnail.offset);
        from as usize..(at.offset + at.length) as usize
    };
    let mut spans: Vec<_> = good.iter().map(span).collect();
    spans.sort_by_key(|span| span.start);
    let (mut bytes, mut done) = (blob.bytes.to_vec(), 0);
    let length = bytes.len();
    for span in spans.into_iter().chain(std::iter::once(length..length)) {
        if span.start > done {
            let gap = Location { segment: segment.clone(), offset: done as u64, length: (span.start - done) as u64 };
            if span.start - done >= SKIPPABLE_HEADER { overwrite(&mut bytes, &gap)? } else { bytes.truncate(done) }
        }
        done = span.end;
    }
    blobs.swap(key, Some(&blob.tag), bytes.into()).await?;
    Ok(())
}

fn overwrite(bytes: &mut [u8], at: &Location) -> Result<(), StageError> {
    let key = at.segment.as_str();
    let (from, to) = (at.offset as usize, (at.offset + at.length) as usize);
    let frame = bytes.get_mut(from..to).filter(|f| f.len() >= SKIPPABLE_HEADER);
    let frame = frame.ok_or_else(|| corrupt(key, "a location lies outside of it"))?;
    let content = u32::try_from(frame.len() - SKIPPABLE_HEADER).map_err(|e| corrupt(key, &e.to_string()))?;
    frame.fill(0);
    frame[..SKIPPABLE_HEADER].copy_from_slice(&skippable(ERASED, content));
    Ok(())
}
