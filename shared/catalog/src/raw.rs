//! Raw pages: accepted pages as they were fetched, kept for a time if the operator asks for it. A page is one zstd
//! frame of the object that belongs to its segment, with three WARC records: the request, the response with its body
//! decoded, and, as `metadata`, the extraction job without the document.

use crate::frames::compressed;
use crate::hidden::{hidden_hosts, is_hidden};
use crate::listing::all_keys;
use crate::object::json;
use crate::segment::{self, SEGMENTS, key_day};
use bytes::Bytes;
use curlew_model::{Exchange, ExtractJob, Location, Millis, Page, PageBody, PageState, Record, SegmentKey, Timestamp};
use curlew_ports::stage::Result;
use curlew_ports::{Blobs, Clock, Pages};
use curlew_warc::http;
use curlew_warc::reader::WarcReader;
use curlew_warc::writer::{HTTP_REQUEST, HTTP_RESPONSE, NewRecord, record_id, write};
use futures::future::try_join_all;
use std::collections::{HashMap, HashSet};
use std::io::BufReader;
use std::sync::Arc;

/// Prefix of the keys of objects with raw pages.
pub const RAW_PREFIX: &str = "raw/";
/// Maximum size of a block in bytes; bodies that are fetched are far smaller.
const MAX_BLOCK: u64 = 16 << 20;
/// Time after which the segment of raw pages is certainly written, if it ever will be.
const SETTLED_AFTER: Millis = Millis::from_days(2);
/// Number of objects that are deleted at once: a request to a stack may take 30 ms.
const DELETED_AT_ONCE: usize = 16;

/// A page as it was fetched.
#[derive(Clone, Debug)]
pub struct RawPage {
    /// The extraction job: without the document, with the heads of the call.
    pub job: ExtractJob,
    /// The body, decoded, in its own charset.
    pub body: Bytes,
}

impl RawPage {
    /// Returns the request and the response as WARC records; the first is empty if the page was imported.
    pub fn warc(&self) -> [Vec<u8>; 2] {
        let mut records = [Vec::new(), Vec::new()];
        if let Some(exchange) = &self.job.exchange {
            let [request, response] = &mut records;
            if !exchange.request.is_empty() {
                write_request(request, &self.job, exchange);
            }
            write_response(response, &self.job, exchange, &self.body);
        }
        records
    }
}

/// Returns the frame of a page.
pub fn pack(job: &ExtractJob, exchange: &Exchange, body: &[u8]) -> Result<Bytes> {
    let mut bytes = Vec::with_capacity(body.len() + (4 << 10));
    write_request(&mut bytes, job, exchange);
    write_response(&mut bytes, job, exchange, body);
    let about = ExtractJob {
        body: PageBody::Inline(Bytes::new()),
        exchange: None,
        // Extraction of a raw page reads the feed's row instead.
        named_by: None,
        image: None,
        is_without_row: false,
        replaces: None,
        calls_left: 0,
        ..job.clone()
    };
    write_record(&mut bytes, job, "metadata", "application/json", "", &json(&about)?);
    Ok(compressed(&bytes)?.into())
}

pub(crate) fn unpack(frame: &[u8]) -> Option<RawPage> {
    let mut reader = WarcReader::new(BufReader::new(zstd::Decoder::with_buffer(frame).ok()?), MAX_BLOCK);
    let [request, response, about] = [(); 3].map(|()| reader.next_record(|_| true).ok().flatten()?.block);
    let response = Bytes::from(response?);
    let body_length = http::response(&response)?.body.len();
    let (head, body) = response.split_at(response.len() - body_length);
    // `write_response` adds the length again.
    let (lines, _) = std::str::from_utf8(head).ok()?.strip_suffix("\r\n")?.rsplit_once("Content-Length: ")?;
    let lines = lines.to_owned();
    let request = String::from_utf8(request?).ok()?.strip_suffix("\r\n")?.to_owned();
    let mut job: ExtractJob = serde_json::from_slice(&about?).ok()?;
    job.exchange = Some(Exchange { request, response: lines });
    let from = response.len() - body.len();
    Some(RawPage { job, body: response.slice(from..) })
}

fn write_request(out: &mut Vec<u8>, job: &ExtractJob, exchange: &Exchange) {
    write_record(out, job, "request", HTTP_REQUEST, &format!("{}\r\n", exchange.request), &[]);
}

fn write_response(out: &mut Vec<u8>, job: &ExtractJob, exchange: &Exchange, payload: &[u8]) {
    let head = format!("{}Content-Length: {}\r\n\r\n", exchange.response, payload.len());
    write_record(out, job, "response", HTTP_RESPONSE, &head, payload);
}

fn write_record(out: &mut Vec<u8>, job: &ExtractJob, kind: &str, content_type: &str, head: &str, payload: &[u8]) {
    let date = job.fetched_at.to_string();
    let [id, response] = [kind, "response"].map(|kind| record_id(&[kind, job.page.as_str(), &date]));
    let mut more = vec![("WARC-Target-URI", job.final_url.as_str())];
    if kind != "response" {
        more.push(("WARC-Concurrent-To", &response));
    }
    let head = head.as_bytes();
    write(out, &NewRecord { kind, id: &id, date: &date, content_type, more: &more, head, payload });
}

/// An accepted page that is kept raw.
#[derive(Clone, Debug)]
pub struct RawEntry {
    /// Location of its record.
    pub at: Location,
    /// Record of the page.
    pub record: Record,
    /// JPEG that is stored next to the record.
    pub thumbnail: Option<Bytes>,
    frame: Bytes,
}

impl RawEntry {
    /// Reads the page as it was fetched; `None` if the frame has been erased, or is damaged.
    pub fn unpack(&self) -> Option<RawPage> {
        unpack(&self.frame).filter(|page| page.job.page == self.record.id)
    }

    /// True if a page's row points to this record.
    pub fn is_named_by(&self, row: &Page) -> bool {
        matches!(&row.state, PageState::Accepted { location, .. } if *location == self.at)
    }

    /// Returns the frame, to be written again with a revision of the record.
    pub fn frame(&self) -> Bytes {
        self.frame.clone()
    }
}

/// Raw pages, and for how long they are kept.
#[derive(Clone)]
pub struct RawPages {
    /// Objects.
    pub blobs: Arc<dyn Blobs>,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Time for which a page is kept raw.
    pub lifetime: Millis,
}

impl RawPages {
    /// Deletes objects that are too old or have no segment; returns their number. Run it again after an error.
    pub async fn expire(&self) -> Result<usize> {
        let blobs = self.blobs.as_ref();
        let keys = all_keys(blobs, RAW_PREFIX, None).await?;
        let now = self.clock.now();
        let (over, settled) = (key_day(now - self.lifetime), key_day(now - SETTLED_AFTER));
        let Some(first) = keys.iter().map(|key| raw_day(key)).find(|day| *day >= over.as_str()) else {
            return self.delete(&keys.iter().collect::<Vec<_>>()).await;
        };
        let segments = all_keys(blobs, SEGMENTS, Some(format!("{SEGMENTS}{first}"))).await?;
        let names: HashSet<&str> = segments.iter().filter_map(|key| name(key)).collect();
        let is_left = |key: &&String| {
            let day = raw_day(key);
            day < over.as_str() || (day < settled.as_str() && name(key).is_none_or(|name| !names.contains(name)))
        };
        self.delete(&keys.iter().filter(is_left).collect::<Vec<_>>()).await
    }

    /// Returns the keys of raw pages since a day, in order, each with its segment; leaves out those without one.
    pub async fn objects(&self, since: Timestamp) -> Result<Vec<(String, SegmentKey)>> {
        let (blobs, first) = (self.blobs.as_ref(), key_day(since));
        let keys = all_keys(blobs, RAW_PREFIX, Some(format!("{RAW_PREFIX}{first}"))).await?;
        let Some(first) = keys.first().map(|key| raw_day(key)) else { return Ok(Vec::new()) };
        let segments = all_keys(blobs, SEGMENTS, Some(format!("{SEGMENTS}{first}"))).await?;
        let by_name: HashMap<&str, &String> = segments.iter().filter_map(|key| Some((name(key)?, key))).collect();
        let segment = |key: &str| SegmentKey::new(by_name.get(name(key)?)?).ok();
        Ok(keys.iter().filter_map(|key| Some((key.clone(), segment(key)?))).collect())
    }

    /// Returns the pages of one object whose records are in its segment, without asking their rows if they are current.
    pub async fn pages(&self, key: &str, segment: &SegmentKey) -> Result<Vec<RawEntry>> {
        let blobs = self.blobs.as_ref();
        let (Some(raw), Some(blob)) = (blobs.get(key).await?, blobs.get(segment.as_str()).await?) else {
            return Ok(Vec::new());
        };
        let slice = |bytes: &Bytes, offset: u64, length: u64| {
            let end = usize::try_from(offset.checked_add(length)?).ok().filter(|end| *end <= bytes.len())?;
            Some(bytes.slice(usize::try_from(offset).ok()?..end))
        };
        let kept = |(at, record): (Location, Record)| {
            let frame = record.raw.as_ref().filter(|raw| raw.key(segment) == key)?;
            let frame = slice(&raw.bytes, frame.offset, frame.length)?;
            let thumbnail = segment::thumbnail_of(&record, &at).and_then(|at| slice(&blob.bytes, at.offset, at.length));
            let thumbnail = thumbnail.and_then(|frame| segment::jpeg(&frame));
            Some(RawEntry { at, record, thumbnail, frame })
        };
        Ok(segment::decode_all(segment, &blob.bytes)?.into_iter().filter_map(kept).collect())
    }

    /// Returns the pages of one object that a search may show: rows point to their records, and no block hides them.
    pub async fn entries_of_segment(&self, key: &str, segment: &SegmentKey, rows: &dyn Pages) -> Result<Vec<RawEntry>> {
        let hidden = hidden_hosts(self.blobs.as_ref()).await?;
        let mut shown = Vec::new();
        for page in self.pages(key, segment).await? {
            let row = rows.load_eventual(&page.record.id).await?;
            let is_current = row.is_some_and(|(row, _)| page.is_named_by(&row));
            if is_current && !is_hidden(&hidden, &page.record.url) {
                shown.push(page);
            }
        }
        Ok(shown)
    }

    async fn delete(&self, keys: &[&String]) -> Result<usize> {
        for some in keys.chunks(DELETED_AT_ONCE) {
            try_join_all(some.iter().map(|key| self.blobs.delete(key))).await?;
        }
        Ok(keys.len())
    }
}

pub(crate) fn raw_day(key: &str) -> &str {
    key.get(RAW_PREFIX.len()..RAW_PREFIX.len() + 10).unwrap_or_default()
}

/// Returns the name that a segment and the raw pages of its records share.
pub fn name(key: &str) -> Option<&str> {
    key.rsplit('/').next()?.split('.').next()
}
