//! Segments: objects that hold many records, each in a separate zstd frame, so that one record can be read by range and
//! the whole by any tool that reads `jsonl.zst`. The thumbnail of a page's own image precedes its record, in a frame
//! that zstd tools skip.

use crate::frames::compressed;
use crate::object::{self, json};
use bytes::Bytes;
use curlew_model::{Location, RawFrame, Record, SegmentKey, ThumbnailId, Timestamp, Year};
use curlew_policy::address::hash_hex;
use curlew_ports::stage::{Result, StageError};
use curlew_ports::{Blobs, PortError};
use std::collections::BTreeMap;
use std::ops::Range;

/// Maximum size of an uncompressed record, in bytes.
const UNPACK_LIMIT: usize = 8 * 1024 * 1024;
/// Magic number of a skippable frame (RFC 8878 §3.1.2) that replaces an erased record.
const ERASED: u32 = 0x184D_2A50;
/// Magic number of a skippable frame with a thumbnail.
const THUMBNAIL: u32 = 0x184D_2A51;
const SKIPPABLE: std::ops::RangeInclusive<u32> = 0x184D_2A50..=0x184D_2A5F;
/// Magic number of a frame (RFC 8878 §3.1.1).
const FRAME: u32 = 0xFD2F_B528;
const SKIPPABLE_HEADER: usize = 8;

/// Maximum number of records of one page that replace each other; publishing erases all but the last.
pub(crate) const REPLACED_IN_A_ROW: usize = 16;

/// Prefix of the keys of segments.
pub const SEGMENTS: &str = "segments/";

/// Returns a day in the form of keys: `2026/11/21`.
pub fn key_day(at: Timestamp) -> String {
    at.day().replace('-', "/")
}

/// Returns the day in a segment's key, as `2026/11/21`.
pub fn segment_day(key: &SegmentKey) -> &str {
    key.as_str().get(9..19).unwrap_or_default()
}

/// Returns the year in the key of the segment at a location.
pub fn segment_year(at: &Location) -> Option<Year> {
    segment_day(&at.segment).get(..4)?.parse().ok()
}

pub(crate) fn year_prefix(year: Year) -> String {
    format!("{SEGMENTS}{year:04}/")
}

/// A record that is to be written to a segment, with its thumbnail.
pub struct Draft {
    /// The record.
    pub record: Record,
    /// Thumbnail as JPEG.
    pub thumbnail: Option<Bytes>,
    /// The page as it was fetched, if it is kept: a frame that [`crate::raw`] made.
    pub raw: Option<Bytes>,
}

/// Writes records as one segment, after the objects of their raw pages, if any are kept; returns the locations of the
/// records, in order. Raw pages are stored under the day that a record already names, or else under today.
pub async fn write(
    blobs: &dyn Blobs,
    drafts: impl IntoIterator<Item = &Draft>,
    now: Timestamp,
) -> Result<Vec<Location>> {
    let today = key_day(now);
    let mut bytes = Vec::new();
    let mut frames = Vec::new();
    let mut raw_pages: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    for Draft { record, thumbnail, raw } in drafts {
        let mut record = record.clone();
        let day = record.raw.take().map_or_else(|| today.clone(), |raw| raw.day);
        if let Some(frame) = raw {
            let object = raw_pages.entry(day.clone()).or_default();
            record.raw = Some(RawFrame { day, offset: object.len() as u64, length: frame.len() as u64 });
            object.extend_from_slice(frame);
        }
        if let Some(jpeg) = thumbnail {
            let before = bytes.len();
            let length = u32::try_from(jpeg.len()).map_err(|e| StageError::Job(e.to_string()))?;
            bytes.extend_from_slice(&skippable(THUMBNAIL, length));
            bytes.extend_from_slice(jpeg);
            record.thumbnail_frame = (bytes.len() - before) as u64;
        }
        let mut line = json(&record)?;
        line.push(b'\n');
        let frame = compressed(&line)?;
        frames.push((bytes.len() as u64, frame.len() as u64));
        bytes.extend_from_slice(&frame);
    }
    // Named by its content, so that a batch that runs twice writes the same object.
    let key = format!("{SEGMENTS}{today}/{}.jsonl.zst", hash_hex(&bytes));
    let segment = SegmentKey::new(&key).map_err(|e| StageError::Job(e.to_string()))?;
    // Named after the segment: raw pages without one are the remains of a crash.
    for (day, raw) in raw_pages {
        blobs.put_if_absent(&RawFrame { day, offset: 0, length: 0 }.key(&segment), raw.into()).await?;
    }
    blobs.put_if_absent(&key, bytes.into()).await?;
    Ok(frames.into_iter().map(|(offset, length)| Location { segment: segment.clone(), offset, length }).collect())
}

fn skippable(magic: u32, content: u32) -> [u8; SKIPPABLE_HEADER] {
    let mut header = [0; SKIPPABLE_HEADER];
    header[..4].copy_from_slice(&magic.to_le_bytes());
    header[4..].copy_from_slice(&content.to_le_bytes());
    header
}

/// Returns the thumbnail in a frame; `None` if it has been erased, or if there is none at this location.
pub async fn thumbnail(blobs: &dyn Blobs, at: &Location) -> Result<Option<Bytes>, PortError> {
    let frame = match blobs.get_range(at.segment.as_str(), at.offset, at.length).await {
        Ok(frame) => frame,
        // The location comes from a request, so it may be arbitrary.
        Err(PortError::NotFound(_) | PortError::Corrupt { .. }) => return Ok(None),
        Err(other) => return Err(other),
    };
    Ok(jpeg(&frame))
}

pub(crate) fn jpeg(frame: &Bytes) -> Option<Bytes> {
    let content = u32::try_from(frame.len().saturating_sub(SKIPPABLE_HEADER)).unwrap_or(0);
    frame.starts_with(&skippable(THUMBNAIL, content)).then(|| frame.slice(SKIPPABLE_HEADER..))
}

pub(crate) fn thumbnail_of(record: &Record, at: &Location) -> Option<Location> {
    let offset = at.offset.checked_sub(record.thumbnail_frame)?;
    (record.thumbnail_frame > 0).then(|| Location { offset, length: record.thumbnail_frame, ..at.clone() })
}

/// Reads single records by range.
pub struct RecordReader<'a>(pub &'a dyn Blobs);

impl RecordReader<'_> {
    /// Returns the record at a location; `None` if it has been erased.
    pub async fn read(&self, at: &Location) -> Result<Option<Record>> {
        let frame = self.0.get_range(at.segment.as_str(), at.offset, at.length).await?;
        decode(&frame, at)
    }

    /// Returns the record at a location, and the earlier ones that it replaces, the latest first; also how this ended.
    pub(crate) async fn read_replaced(&self, at: &Location) -> (Vec<(Location, Record)>, Result<()>) {
        let (mut records, mut next) = (Vec::new(), Some(at.clone()));
        while let Some(at) = next.take().filter(|_| records.len() < REPLACED_IN_A_ROW) {
            match self.read(&at).await {
                Ok(Some(record)) => {
                    next.clone_from(&record.replaces);
                    records.push((at, record));
                }
                Ok(None) => {}
                Err(error) => return (records, Err(error)),
            }
        }
        (records, Ok(()))
    }
}

/// Returns all records of a segment with their locations; erased ones are left out.
pub fn decode_all(segment: &SegmentKey, bytes: &Bytes) -> Result<Vec<(Location, Record)>> {
    let read = |frame: Range<u64>| {
        let location = Location { segment: segment.clone(), offset: frame.start, length: frame.end - frame.start };
        let record = decode(&bytes[frame.start as usize..frame.end as usize], &location).transpose()?;
        Some(record.map(|record| (location, record)))
    };
    frames(segment.as_str(), bytes)?.into_iter().filter_map(read).collect()
}

/// Returns the ranges of all frames of an object that zstd tools do not skip.
pub fn frames(key: &str, bytes: &[u8]) -> Result<Vec<Range<u64>>> {
    let (mut frames, mut at) = (Vec::new(), 0usize);
    while at < bytes.len() {
        let length = frame_length(&bytes[at..]).ok_or_else(|| corrupt(key, "a frame is cut short"))?;
        if bytes[at..].starts_with(&FRAME.to_le_bytes()) {
            frames.push(at as u64..(at + length) as u64);
        }
        at += length;
    }
    Ok(frames)
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

fn decode(frame: &[u8], at: &Location) -> Result<Option<Record>> {
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

/// Overwrites records and their thumbnails, but their raw pages first, with skippable frames of the same length. The
/// frames of an object disappear in one write, and all other offsets stay valid.
pub async fn erase(blobs: &dyn Blobs, segment: &SegmentKey, records: &[(Location, Record)]) -> Result<()> {
    let mut raw_pages: BTreeMap<String, Vec<Range<u64>>> = BTreeMap::new();
    for raw in records.iter().filter_map(|(_, record)| record.raw.as_ref()) {
        raw_pages.entry(raw.key(segment)).or_default().push(raw.offset..raw.offset.saturating_add(raw.length));
    }
    for (key, frames) in raw_pages {
        erase_frames(blobs, &key, &frames).await?;
    }
    let places = records.iter().flat_map(|(at, record)| std::iter::once(at.clone()).chain(thumbnail_of(record, at)));
    let frames: Vec<Range<u64>> = places.map(|at| at.offset..at.offset.saturating_add(at.length)).collect();
    erase_frames(blobs, segment.as_str(), &frames).await
}

/// Overwrites frames of an object, if it exists, with skippable frames of the same length.
pub async fn erase_frames(blobs: &dyn Blobs, key: &str, frames: &[Range<u64>]) -> Result<()> {
    object::change(blobs, key, |bytes| {
        let Some(bytes) = bytes else { return Ok((None, ())) };
        let mut next = bytes.to_vec();
        for frame in frames {
            overwrite(&mut next, key, frame)?;
        }
        Ok(((next != bytes).then_some(next), ()))
    })
    .await
}

/// Rewrites a damaged segment with only these records, at their offsets; zstd tools skip everything else.
pub async fn salvage(blobs: &dyn Blobs, segment: &SegmentKey, good: &[(Location, Record)]) -> Result<()> {
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
            let gap = done as u64..span.start as u64;
            if span.start - done >= SKIPPABLE_HEADER { overwrite(&mut bytes, key, &gap)? } else { bytes.truncate(done) }
        }
        done = span.end;
    }
    blobs.swap(key, Some(&blob.tag), bytes.into()).await?;
    Ok(())
}

fn overwrite(bytes: &mut [u8], key: &str, at: &Range<u64>) -> Result<()> {
    let frame = bytes.get_mut(at.start as usize..at.end as usize).filter(|f| f.len() >= SKIPPABLE_HEADER);
    let frame = frame.ok_or_else(|| corrupt(key, "a location lies outside of it"))?;
    let content = u32::try_from(frame.len() - SKIPPABLE_HEADER).map_err(|e| corrupt(key, &e.to_string()))?;
    frame.fill(0);
    frame[..SKIPPABLE_HEADER].copy_from_slice(&skippable(ERASED, content));
    Ok(())
}
