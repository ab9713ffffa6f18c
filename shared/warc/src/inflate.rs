//! Decompresses whole files: gzip or zstd, with one member or frame per record or for the whole file.

use flate2::bufread::MultiGzDecoder;
use std::io::{self, BufRead, BufReader, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

const STEP: usize = 128 << 10;
/// Maximum compression ratio of a file, the same as for fetched bodies.
const MAX_RATIO: u64 = 200;
/// Size of the content in bytes from which the ratio is checked.
const RATIO_FLOOR: u64 = 64 << 20;
/// Magic bytes of a gzip member (RFC 1952 §2.3).
const GZIP: [u8; 2] = [0x1f, 0x8b];
/// Magic bytes of a zstd frame (RFC 8878 §3.1.1).
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// Magic bytes of a frame with a dictionary for the other frames (IIPC, "Use of Zstandard in WARC files").
const DICTIONARY: [u8; 4] = [0x5d, 0x2a, 0x4d, 0x18];
/// Last three magic bytes of a skippable frame (RFC 8878 §3.1.2); the first byte is 0x50 to 0x5f.
const SKIPPABLE: [u8; 3] = [0x2a, 0x4d, 0x18];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Plain,
    Gzip,
    Zstd,
    WithDictionary,
}

impl Form {
    fn detect(start: &[u8]) -> Form {
        match start {
            _ if start.starts_with(&GZIP) => Form::Gzip,
            _ if start.starts_with(&DICTIONARY) => Form::WithDictionary,
            _ if start.starts_with(&ZSTD) => Form::Zstd,
            [0x50..=0x5f, rest @ ..] if rest.starts_with(&SKIPPABLE) => Form::Zstd,
            _ => Form::Plain,
        }
    }
}

/// Number of compressed bytes that must yield at least half as many: empty members take time and yield nothing.
const SPARSE: u64 = 1 << 20;

/// Returns a reader for a file's uncompressed content, or an error if the file is compressed twice or with a
/// dictionary. Reading fails if the content exceeds 64 MiB and 200 times the bytes read so far, or if more than
/// [`SPARSE`] compressed bytes yield less than half as many.
pub fn inflate(file: impl Read + Send + 'static) -> io::Result<Box<dyn BufRead + Send>> {
    let (coded, made) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let counted = Counted { inner: file, count: coded.clone(), made: made.clone(), seen: (0, 0) };
    let mut file = BufReader::with_capacity(STEP, counted);
    let form = Form::detect(file.fill_buf()?);
    let decoder: Box<dyn Read + Send> = match form {
        Form::Plain => {
            file.get_mut().seen.0 = u64::MAX;
            return Ok(Box::new(file));
        }
        Form::Gzip => Box::new(MultiGzDecoder::new(file)),
        Form::Zstd => Box::new(zstd::Decoder::with_buffer(file)?),
        Form::WithDictionary => return Err(invalid("it is compressed with a dictionary, which is not understood")),
    };
    let mut content = BufReader::with_capacity(STEP, Bounded { inner: decoder, coded, made });
    if Form::detect(content.fill_buf()?) != Form::Plain {
        return Err(invalid("it is compressed twice"));
    }
    Ok(Box::new(content))
}

fn invalid(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

struct Counted<R> {
    inner: R,
    count: Arc<AtomicU64>,
    made: Arc<AtomicU64>,
    /// Both counts at the last check.
    seen: (u64, u64),
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        let (count, made) = (self.count.fetch_add(read as u64, Ordering::Relaxed), self.made.load(Ordering::Relaxed));
        let part = count.saturating_sub(self.seen.0);
        if part > SPARSE {
            if (made - self.seen.1) * 2 < part {
                return Err(invalid("a part of it holds hardly anything"));
            }
            self.seen = (count, made);
        }
        Ok(read)
    }
}

struct Bounded {
    inner: Box<dyn Read + Send>,
    coded: Arc<AtomicU64>,
    made: Arc<AtomicU64>,
}

impl Read for Bounded {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        let made = self.made.fetch_add(read as u64, Ordering::Relaxed) + read as u64;
        if made > RATIO_FLOOR && made > self.coded.load(Ordering::Relaxed).saturating_mul(MAX_RATIO) {
            return Err(invalid("what it holds is more than 200 times its size"));
        }
        Ok(read)
    }
}
