//! Writes records.

use sha2::{Digest, Sha256};

/// Media type of a block with an HTTP request.
pub const HTTP_REQUEST: &str = "application/http;msgtype=request";
/// Media type of a block with an HTTP response.
pub const HTTP_RESPONSE: &str = "application/http;msgtype=response";

/// A record to write.
#[derive(Clone, Debug)]
pub struct NewRecord<'a> {
    /// `WARC-Type`, such as `response`.
    pub kind: &'a str,
    /// `WARC-Record-ID`, from [`record_id`].
    pub id: &'a str,
    /// `WARC-Date`: RFC 3339 in UTC.
    pub date: &'a str,
    /// `Content-Type` of the block.
    pub content_type: &'a str,
    /// Additional header lines, such as `WARC-Target-URI`.
    pub more: &'a [(&'a str, &'a str)],
    /// Start of the block: the head of an HTTP message including its blank line, or empty.
    pub head: &'a [u8],
    /// Rest of the block. If there is a head, the payload has a separate digest.
    pub payload: &'a [u8],
}

/// Returns a UUID (version 8, RFC 9562 §5.8) made of a hash, so that a record written twice has the same id.
pub fn record_id(of: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in of {
        hash.update(part.as_bytes());
        hash.update([0]);
    }
    let mut bytes = hash.finalize();
    bytes[6] = bytes[6] & 0x0f | 0x80;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex = hex(&bytes[..16]);
    format!("<urn:uuid:{}-{}-{}-{}-{}>", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}

/// Appends a record to `out`, uncompressed.
pub fn write(out: &mut Vec<u8>, record: &NewRecord<'_>) {
    let NewRecord { kind, id, date, content_type, more, head, payload } = record;
    let length = head.len() + payload.len();
    let mut lines = format!("WARC/1.1\r\nWARC-Type: {kind}\r\nWARC-Record-ID: {id}\r\nWARC-Date: {date}\r\n");
    let mut line = |name: &str, value: &str| {
        lines.push_str(name);
        lines.push_str(": ");
        // A line break in a value would start another header line.
        lines.extend(value.chars().filter(|c| !c.is_control()));
        lines.push_str("\r\n");
    };
    for (name, value) in *more {
        line(name, value);
    }
    line("WARC-Block-Digest", &digest(&[head, payload]));
    if !head.is_empty() && !payload.is_empty() {
        line("WARC-Payload-Digest", &digest(&[payload]));
    }
    line("Content-Type", content_type);
    line("Content-Length", &length.to_string());
    out.reserve(lines.len() + length + 6);
    out.extend_from_slice(lines.as_bytes());
    out.extend_from_slice(b"\r\n");
    out.extend_from_slice(head);
    out.extend_from_slice(payload);
    out.extend_from_slice(b"\r\n\r\n");
}

fn digest(parts: &[&[u8]]) -> String {
    let mut hash = Sha256::new();
    parts.iter().for_each(|part| hash.update(part));
    format!("sha256:{}", hex(&hash.finalize()))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
