//! Reads records of untrusted files, one at a time and under limits.

use std::io::{self, BufRead, Read};

const HEAD_BYTES: u64 = 64 << 10;
const STEP_BYTES: u64 = 64 << 10;
const MAGIC: &[u8] = b"WARC/";

/// A record. Its block may be missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WarcRecord {
    /// Offset of the record in the uncompressed file, in bytes.
    pub offset: u64,
    /// Header lines: names in lower case, values trimmed.
    pub headers: Vec<(String, String)>,
    /// Length of the block in bytes, as stated and verified.
    pub length: u64,
    /// The block; `None` if it was not wanted, or exceeds the limit.
    pub block: Option<Vec<u8>>,
}

impl WarcRecord {
    /// Returns the value of the first header line with this name, which must be in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// Error in reading a file, with the offset of the affected record in the uncompressed file.
#[derive(Debug, thiserror::Error)]
#[error("at byte {offset}: {fault}")]
pub struct ReadError {
    /// Offset in bytes.
    pub offset: u64,
    /// The reason.
    pub fault: Fault,
}

/// Kind of a read error.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// No record begins at this offset. The length of the previous record may be wrong.
    #[error("no record begins here")]
    NoRecord,
    /// The header of a record is longer than 64 KiB.
    #[error("the header of the record is too long")]
    LongHead,
    /// The record's length is missing or not a number.
    #[error("the record has no length that can be read")]
    NoLength,
    /// The record does not end where its length says.
    #[error("the record does not end where its length says")]
    WrongLength,
    /// The file ends inside a record.
    #[error("the file ends within the record")]
    Cut,
    /// The file cannot be read or decompressed.
    #[error("{0}")]
    Read(#[source] io::Error),
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Fault {
        if error.kind() == io::ErrorKind::UnexpectedEof { Fault::Cut } else { Fault::Read(error) }
    }
}

/// Reads records from an uncompressed file.
pub struct WarcReader<R> {
    input: R,
    at: u64,
    max_block: u64,
    /// True after an error or the end: nothing after it can be trusted.
    is_over: bool,
}

impl<R: BufRead> WarcReader<R> {
    /// Creates a reader that keeps blocks of at most `max_block` bytes, and skips longer ones.
    pub fn new(input: R, max_block: u64) -> WarcReader<R> {
        WarcReader { input, at: 0, max_block, is_over: false }
    }

    /// Reads the next record; `None` at the end of the file, and after an error has been returned. The block is kept if
    /// `wants` accepts the header lines.
    pub fn next_record(
        &mut self,
        wants: impl FnOnce(&[(String, String)]) -> bool,
    ) -> Result<Option<WarcRecord>, ReadError> {
        if self.is_over {
            return Ok(None);
        }
        let offset = self.at;
        let read = self.record(offset, wants).map_err(|fault| ReadError { offset, fault });
        self.is_over = !matches!(read, Ok(Some(_)));
        read
    }

    fn record(
        &mut self,
        offset: u64,
        wants: impl FnOnce(&[(String, String)]) -> bool,
    ) -> Result<Option<WarcRecord>, Fault> {
        let mut left = HEAD_BYTES;
        let version = self.line(&mut left)?;
        if version.is_empty() {
            return Ok(None);
        }
        if !version.starts_with(MAGIC) {
            return Err(Fault::NoRecord);
        }
        let mut headers: Vec<(String, String)> = Vec::new();
        loop {
            let line = self.line(&mut left)?;
            if !line.ends_with(b"\n") {
                return Err(Fault::Cut);
            }
            let text = String::from_utf8_lossy(&line);
            let text = text.trim_end_matches(['\r', '\n']);
            if text.is_empty() {
                break;
            }
            match (text.starts_with([' ', '\t']), headers.last_mut(), text.split_once(':')) {
                (true, Some((_, value)), _) => {
                    value.push(' ');
                    value.push_str(text.trim());
                }
                (_, _, Some((name, value))) => headers.push((name.trim().to_lowercase(), value.trim().to_owned())),
                _ => return Err(Fault::NoRecord),
            }
        }
        let stated = headers.iter().find(|(name, _)| name == "content-length");
        let length: u64 = stated.and_then(|(_, value)| value.parse().ok()).ok_or(Fault::NoLength)?;
        let is_wanted = length <= self.max_block && wants(&headers);
        let block = self.block(length, is_wanted)?;
        self.end()?;
        Ok(Some(WarcRecord { offset, headers, length, block: is_wanted.then_some(block) }))
    }

    /// Reads a line with its line break; empty at the end of the file. `left` is the number of bytes allowed.
    fn line(&mut self, left: &mut u64) -> Result<Vec<u8>, Fault> {
        let mut line = Vec::new();
        let read = self.input.by_ref().take(*left).read_until(b'\n', &mut line)? as u64;
        (self.at, *left) = (self.at + read, *left - read);
        if *left == 0 { Err(Fault::LongHead) } else { Ok(line) }
    }

    /// Reads or skips a block. Memory grows with the bytes present, not with the stated length.
    fn block(&mut self, length: u64, keep: bool) -> Result<Vec<u8>, Fault> {
        let (mut block, mut left) = (Vec::new(), length);
        while left > 0 {
            let step = left.min(STEP_BYTES);
            let part = &mut self.input.by_ref().take(step);
            let read = if keep { part.read_to_end(&mut block)? as u64 } else { io::copy(part, &mut io::sink())? };
            self.at += read;
            left -= read;
            if read < step {
                return Err(Fault::Cut);
            }
        }
        Ok(block)
    }

    /// Reads the two line breaks after a block. Some programs write `\n` alone, or omit them at the end of the file.
    fn end(&mut self) -> Result<(), Fault> {
        let [first, second] = [self.line_break()?, self.line_break()?];
        let is_end = first.is_empty() || second.is_empty() || first == second;
        if is_end { Ok(()) } else { Err(Fault::WrongLength) }
    }

    fn line_break(&mut self) -> Result<Vec<u8>, Fault> {
        let mut line = Vec::new();
        self.at += self.input.by_ref().take(2).read_until(b'\n', &mut line)? as u64;
        if matches!(line.as_slice(), b"\r\n" | b"\n" | b"") { Ok(line) } else { Err(Fault::WrongLength) }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot be set up has to fail")]
    use super::*;
    use crate::inflate::inflate;
    use crate::writer::{HTTP_RESPONSE, NewRecord, record_id, write};
    use std::io::Write;

    fn record(payload: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let id = record_id(&["a"]);
        let more = [("WARC-Target-URI", "https://example.org/a\r\nX: y")];
        let head = b"HTTP/1.1 200 OK\r\n\r\n";
        let (date, content_type) = ("2026-11-23T12:00:00Z", HTTP_RESPONSE);
        write(&mut bytes, &NewRecord { kind: "response", id: &id, date, content_type, more: &more, head, payload });
        bytes
    }

    /// Returns the number of readable records, and the first error.
    fn read(bytes: &[u8]) -> (usize, Option<String>) {
        let input = match inflate(io::Cursor::new(bytes.to_vec())) {
            Ok(input) => input,
            Err(error) => return (0, Some(error.to_string())),
        };
        let (mut reader, mut number) = (WarcReader::new(input, 1 << 20), 0);
        loop {
            match reader.next_record(|_| true) {
                Ok(Some(_)) => number += 1,
                Ok(None) => return (number, None),
                Err(error) => {
                    assert!(reader.next_record(|_| true).unwrap().is_none(), "nothing is read after an error");
                    return (number, Some(error.to_string()));
                }
            }
        }
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut coder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        coder.write_all(bytes).unwrap();
        coder.finish().unwrap()
    }

    #[test]
    fn a_record_is_read_back() {
        let bytes = record(b"<p>tide</p>");
        let mut reader = WarcReader::new(bytes.as_slice(), 100);
        let read = reader.next_record(|_| true).unwrap().unwrap();
        assert_eq!(read.header("warc-target-uri"), Some("https://example.org/aX: y"), "no value begins a line");
        assert_eq!(read.block.as_deref(), Some(&b"HTTP/1.1 200 OK\r\n\r\n<p>tide</p>"[..]));
        assert_eq!(reader.next_record(|_| true).unwrap(), None);
    }

    #[test]
    fn every_form_is_read() {
        let two = [record(b"a"), record(b"b")].concat();
        let members = [gzip(&record(b"a")), gzip(&record(b"b"))].concat();
        let frames = [zstd::encode_all(&record(b"a")[..], 3).unwrap(), vec![0x50, 0x2a, 0x4d, 0x18, 1, 0, 0, 0, 9]];
        let frames = [frames.concat(), zstd::encode_all(&record(b"b")[..], 3).unwrap()].concat();
        for bytes in [two.clone(), gzip(&two), members, frames, zstd::encode_all(&two[..], 3).unwrap()] {
            assert_eq!(read(&bytes), (2, None));
        }
        assert_eq!(read(b""), (0, None));
    }

    #[test]
    fn members_that_hold_nothing_are_not_read_to_their_end() {
        let (none, noise) = (gzip(b""), (0..6_000_000_u32).map(|n| n.wrapping_mul(n) as u8 ^ (n >> 9) as u8));
        let empty = [gzip(&record(b"a")), none.repeat((8 << 20) / none.len())].concat();
        let (number, error) = read(&empty);
        assert_eq!(number, 1);
        assert!(error.is_some_and(|error| error.ends_with("hardly anything")));
        // Incompressible records do not shrink.
        let noise: Vec<u8> = noise.collect();
        assert_eq!(read(&gzip(&record(&noise))), (1, None));
        let mut stored = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
        stored.write_all(&record(&noise)).unwrap();
        assert_eq!(read(&stored.finish().unwrap()), (1, None));
        assert_eq!(read(&record(&noise)), (1, None));
    }

    #[test]
    fn a_file_that_is_cut_says_where_and_gives_what_was_before() {
        let (one, two) = (record(b"a"), [record(b"a"), record(b"bbbb")].concat());
        for cut in [one.len() + 3, one.len() + 200, two.len() - 6] {
            let (number, error) = read(&two[..cut]);
            assert_eq!(number, 1, "{cut}");
            let error = error.unwrap_or_else(|| panic!("{cut}"));
            assert!(error.starts_with(&format!("at byte {}: ", one.len())), "{error}");
        }
        for packed in [gzip(&two), zstd::encode_all(&two[..], 3).unwrap()] {
            assert!(read(&packed[..packed.len() - 9]).1.is_some());
        }
    }

    #[test]
    fn lengths_that_lie_are_found() {
        let text = String::from_utf8([record(b"a"), record(b"b")].concat()).unwrap();
        let length = "Content-Length: 20";
        assert!(text.contains(length));
        for (lie, says) in [
            ("Content-Length: 19", "does not end where"),
            ("Content-Length: 21", "does not end where"),
            ("Content-Length: 999999", "ends within"),
            ("Content-Length: 18446744073709551615", "ends within"),
            ("Content-Length: 99999999999999999999999", "no length"),
            ("Content-Length: -1", "no length"),
            ("Content: 20", "no length"),
        ] {
            let (number, error) = read(text.replacen(length, lie, 1).as_bytes());
            assert_eq!(number, 0, "{lie}");
            assert!(error.as_ref().is_some_and(|error| error.contains(says)), "{lie}: {error:?}");
        }
    }

    #[test]
    fn what_is_no_warc_or_compressed_twice_is_said() {
        let (number, error) = read(&gzip(&gzip(&record(b"a"))));
        assert!(number == 0 && error.unwrap().contains("compressed twice"));
        assert!(read(&zstd::encode_all(&gzip(&record(b"a"))[..], 3).unwrap()).1.unwrap().contains("compressed twice"));
        assert!(read(b"<html>").1.unwrap().contains("no record begins here"));
        assert!(read(&[b"WARC/1.1\r\nX: ".to_vec(), vec![b'x'; 100_000]].concat()).1.unwrap().contains("too long"));
    }

    #[test]
    fn a_decompression_bomb_ends_early() {
        let head = b"WARC/1.1\r\nWARC-Type: response\r\nContent-Length: 1099511627776\r\n\r\n";
        let mut coder = zstd::Encoder::new(Vec::new(), 3).unwrap();
        coder.write_all(head).unwrap();
        let zeros = vec![0; 1 << 20];
        for _ in 0..300 {
            coder.write_all(&zeros).unwrap();
        }
        let bomb = coder.finish().unwrap();
        assert!(bomb.len() < 1 << 20);
        let (number, error) = read(&bomb);
        assert!(number == 0 && error.as_ref().is_some_and(|error| error.contains("times its size")), "{error:?}");
    }

    #[test]
    fn a_long_block_is_skipped() {
        let bytes = [record(&vec![b'x'; 3 << 20]), record(b"b")].concat();
        let mut reader = WarcReader::new(bytes.as_slice(), 1 << 20);
        assert_eq!(reader.next_record(|_| true).unwrap().unwrap().block, None);
        assert!(reader.next_record(|_| true).unwrap().unwrap().block.is_some());
    }
}
