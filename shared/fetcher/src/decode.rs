//! Decodes content codings under limits while the bytes arrive.
//!
//! The HTTP library's own decoders are not used: they hide how many bytes came over the wire, accept brotli's large
//! windows and zstd windows of 128 MiB, and return an upper-case or stacked coding as if it were the document.

use crate::config::Config;
use crate::room::Share;
use brotli_decompressor::{BrotliDecompressStream, BrotliResult, BrotliState, StandardAlloc};
use flate2::write::MultiGzDecoder;
use reqwest::header::{CONTENT_ENCODING, HeaderMap};
use std::io::{self, Write};
use std::time::Duration;
use zstd::stream::raw::{DParameter, Decoder as ZstdRaw, Operation};

pub(crate) const OFFERED: &str = "gzip, br, zstd";
/// First bytes of a gzip document with its only compression method (RFC 1952 §2.3).
const GZIP_MAGIC: [u8; 3] = [0x1f, 0x8b, 8];
/// First bytes of a zstd frame (RFC 8878 §3.1.1).
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// Binary logarithm of the maximum window: 8 MiB, the limit for servers in the zstd coding (RFC 9659 §3).
const ZSTD_WINDOW_LOG: u32 = 23;
const STEP_BYTES: usize = 32 << 10;
/// Number of coded bytes between two checks of the limits: deflate expands them to at most 1 MiB.
const CODED_STEP_BYTES: usize = 1 << 10;
/// Usual ratio of a document's size to its coded size.
const USUAL_RATIO: usize = 4;
/// Size above which the ratio is checked, in both directions: small repetitive documents compress well.
const RATIO_FLOOR_BYTES: usize = 1 << 20;
/// Names of content codings that are not supported: those of the registry, of object stores and of archives. Any other
/// unknown name means no coding: servers write charsets, media types and transfer encodings there.
const OTHER_CODINGS: &str = "aes128gcm aws-chunked brotli bzip2 compress dcb dcz deflate deflate-raw exi lz4 lzma pack200-gzip sdch \
                             snappy x-bzip2 x-compress x-deflate xz zlib";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Coding {
    Identity,
    Gzip,
    Brotli,
    Zstd,
}

impl Coding {
    /// Parses `Content-Encoding`; names are case-insensitive and `x-gzip` is gzip (RFC 9110 §8.4.1). More than one
    /// coding, or one that was not offered, is an error with its reason; names of other things are ignored.
    pub(crate) fn from_headers(headers: &HeaderMap) -> Result<Coding, String> {
        let mut coding = Coding::Identity;
        for value in headers.get_all(CONTENT_ENCODING) {
            for name in String::from_utf8_lossy(value.as_bytes()).split(',') {
                let name = name.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
                let next = match name.as_str() {
                    "gzip" | "x-gzip" => Coding::Gzip,
                    "br" => Coding::Brotli,
                    "zstd" => Coding::Zstd,
                    other if OTHER_CODINGS.split(' ').any(|name| name == other) => {
                        return Err(format!("the content coding '{other}' was not offered"));
                    }
                    _ => continue,
                };
                if coding != Coding::Identity {
                    return Err("several content codings on top of each other".into());
                }
                coding = next;
            }
        }
        Ok(coding)
    }

    /// Returns true if a body in this coding may begin with these bytes.
    pub(crate) fn may_begin(self, body: &[u8]) -> bool {
        match self {
            Coding::Identity | Coding::Brotli => true,
            Coding::Gzip => is_gzip_file(body),
            Coding::Zstd => body.starts_with(&ZSTD_MAGIC),
        }
    }
}

/// Reason for which a body is not decoded further.
#[derive(Debug)]
pub(crate) enum DecodeError {
    /// The decoded body exceeds the limit; its bytes up to the limit are kept.
    Bytes,
    /// The body is implausibly larger than its coded form.
    Ratio,
    /// Decoding takes more processor time than a document may.
    Time,
    /// There is no room for the body now, because of other bodies.
    Room,
    Corrupt(String),
}

pub(crate) struct Decoder {
    state: State,
    out: Output,
}

enum State {
    Identity,
    Gzip(Gzip),
    Brotli(Brotli),
    Zstd(Zstd),
}

struct Gzip {
    decoder: Box<MultiGzDecoder<Vec<u8>>>,
    /// True once a member has begun.
    begun: bool,
    /// True once a complete member was followed by bytes that begin no other one.
    ended: bool,
}

struct Brotli {
    state: Box<BrotliState<StandardAlloc, StandardAlloc, StandardAlloc>>,
    ended: bool,
}

struct Zstd {
    raw: Box<ZstdRaw<'static>>,
    ended: bool,
}

impl Decoder {
    /// Creates a decoder whose output is limited to `max_bytes`, under the configured limits of ratio and time.
    pub(crate) fn new(coding: Coding, max_bytes: usize, config: &Config, share: Share) -> Result<Decoder, DecodeError> {
        let state = match coding {
            Coding::Identity => State::Identity,
            Coding::Gzip => {
                let decoder = Box::new(MultiGzDecoder::new(Vec::new()));
                State::Gzip(Gzip { decoder, begun: false, ended: false })
            }
            Coding::Brotli => {
                let alloc = StandardAlloc::default;
                // "Strict" refuses large windows, which are not part of RFC 7932.
                let state = Box::new(BrotliState::new_strict(alloc(), alloc(), alloc()));
                State::Brotli(Brotli { state, ended: false })
            }
            Coding::Zstd => {
                let mut raw = Box::new(ZstdRaw::new().map_err(corrupt)?);
                raw.set_parameter(DParameter::WindowLogMax(ZSTD_WINDOW_LOG)).map_err(corrupt)?;
                State::Zstd(Zstd { raw, ended: false })
            }
        };
        let (max_ratio, max_time) = (config.max_ratio, config.decode_time.as_duration());
        let (bytes, time) = (Vec::new(), Duration::ZERO);
        Ok(Decoder { state, out: Output { bytes, coded: 0, time, max_bytes, max_ratio, max_time, share } })
    }

    pub(crate) fn decoded(&self) -> &[u8] {
        &self.out.bytes
    }

    /// Waits for room for this number of coded bytes, decoded at the usual ratio, and for the next piece.
    pub(crate) async fn wait_for_room(&mut self, coded: usize) {
        let length = self.out.bytes.len().saturating_add(coded.saturating_mul(USUAL_RATIO));
        self.out.share.wait(length.min(self.out.max_bytes)).await;
    }

    pub(crate) fn push(&mut self, input: &[u8]) -> Result<(), DecodeError> {
        if matches!(self.state, State::Identity) {
            self.out.coded += input.len() as u64;
            return self.out.take(input);
        }
        let (began, before) = (processor_time(), self.out.time);
        let mut made = vec![0; STEP_BYTES];
        // No step is empty, since zstd would take an empty one for the start of another frame.
        for step in input.chunks(CODED_STEP_BYTES) {
            self.out.coded += step.len() as u64;
            match &mut self.state {
                State::Identity => {}
                State::Gzip(gzip) => gzip.push(step, &mut self.out)?,
                State::Brotli(brotli) => brotli.push(step, &mut made, &mut self.out)?,
                State::Zstd(zstd) => zstd.push(step, &mut made, &mut self.out)?,
            }
            self.out.time = before + processor_time().saturating_sub(began);
            self.out.check_cost()?;
        }
        Ok(())
    }

    /// Returns the body, which has to be complete, with its share of the room.
    pub(crate) fn finish(mut self) -> Result<(Vec<u8>, Share), DecodeError> {
        // An empty body is an empty document in every coding, since servers label empty answers too.
        if self.out.coded == 0 {
            return Ok(self.into_partial());
        }
        let truncated = || DecodeError::Corrupt("the compressed body is cut short".into());
        match &mut self.state {
            // Without its checksum, a body may be incomplete or damaged.
            State::Gzip(gzip) => {
                let is_within = !gzip.begun || gzip.decoder.header().is_some();
                if !gzip.ended && gzip.decoder.try_finish().is_err() && is_within {
                    return Err(truncated());
                }
                gzip.drain(&mut self.out)?;
            }
            State::Brotli(Brotli { ended: false, .. }) | State::Zstd(Zstd { ended: false, .. }) => {
                return Err(truncated());
            }
            _ => {}
        }
        Ok(self.into_partial())
    }

    /// Returns the bytes that were decoded before a limit stopped the decoder, with their share of the room.
    pub(crate) fn into_partial(self) -> (Vec<u8>, Share) {
        (self.out.bytes, self.out.share)
    }
}

/// Returns true if a body without a coding is a gzip file, such as a feed named `.xml.gz`.
pub(crate) fn is_gzip_file(body: &[u8]) -> bool {
    body.starts_with(&GZIP_MAGIC)
}

struct Output {
    bytes: Vec<u8>,
    coded: u64,
    /// Processor time of decoding so far.
    time: Duration,
    max_bytes: usize,
    max_ratio: u64,
    max_time: Duration,
    share: Share,
}

impl Output {
    fn take(&mut self, decoded: &[u8]) -> Result<(), DecodeError> {
        let room = self.max_bytes.saturating_sub(self.bytes.len());
        let taken = decoded.len().min(room);
        if !self.share.grow(self.bytes.len() + taken) {
            return Err(DecodeError::Room);
        }
        self.bytes.extend_from_slice(&decoded[..taken]);
        if decoded.len() > room {
            return Err(DecodeError::Bytes);
        }
        let plausible = self.coded.saturating_mul(self.max_ratio);
        if self.bytes.len() > RATIO_FLOOR_BYTES && self.bytes.len() as u64 > plausible {
            return Err(DecodeError::Ratio);
        }
        Ok(())
    }

    /// Refuses coded bytes that cost more than they yield. An honest coding does not lengthen a document; empty blocks,
    /// frames and members, and blocks with large tables, take time and yield nothing.
    fn check_cost(&self) -> Result<(), DecodeError> {
        if self.coded > RATIO_FLOOR_BYTES as u64 && (self.bytes.len() as u64) * 2 < self.coded {
            return Err(DecodeError::Corrupt("the compressed body holds hardly anything".into()));
        }
        if self.time > self.max_time { Err(DecodeError::Time) } else { Ok(()) }
    }
}

/// Returns the processor time of the current thread, or wall-clock time on platforms other than Linux.
#[cfg(target_os = "linux")]
fn processor_time() -> Duration {
    Duration::try_from(rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime)).unwrap_or_default()
}

#[cfg(not(target_os = "linux"))]
fn processor_time() -> Duration {
    static FIRST: std::sync::LazyLock<std::time::Instant> = std::sync::LazyLock::new(std::time::Instant::now);
    FIRST.elapsed()
}

impl Gzip {
    /// Decodes gzip members. Later bytes that begin no member are ignored: padding, or a text added by the server.
    fn push(&mut self, mut input: &[u8], out: &mut Output) -> Result<(), DecodeError> {
        while !input.is_empty() && !self.ended {
            let written = self.decoder.write(input);
            self.drain(out)?;
            let is_in_header = self.decoder.header().is_none();
            match written {
                Ok(count @ 1..) => input = &input[count..],
                _ if is_in_header && self.begun => self.ended = true,
                _ => return Err(DecodeError::Corrupt("the gzip body is broken".into())),
            }
            self.begun |= !is_in_header;
        }
        Ok(())
    }

    fn drain(&mut self, out: &mut Output) -> Result<(), DecodeError> {
        let decoded = self.decoder.get_mut();
        let taken = out.take(decoded);
        decoded.clear();
        taken
    }
}

impl Brotli {
    fn push(&mut self, input: &[u8], step: &mut [u8], out: &mut Output) -> Result<(), DecodeError> {
        let (state, mut left, mut at) = (&mut *self.state, input.len(), 0);
        while !self.ended {
            let (mut room, mut made, mut total) = (step.len(), 0, 0);
            let result =
                BrotliDecompressStream(&mut left, &mut at, input, &mut room, &mut made, step, &mut total, state);
            out.take(&step[..made])?;
            match result {
                BrotliResult::ResultSuccess => self.ended = true,
                BrotliResult::NeedsMoreOutput => {}
                BrotliResult::NeedsMoreInput => return Ok(()),
                BrotliResult::ResultFailure => return Err(DecodeError::Corrupt("the brotli body is broken".into())),
            }
        }
        let trailing = || DecodeError::Corrupt("the compressed body goes on after its end".into());
        if left == 0 { Ok(()) } else { Err(trailing()) }
    }
}

impl Zstd {
    fn push(&mut self, mut input: &[u8], step: &mut [u8], out: &mut Output) -> Result<(), DecodeError> {
        loop {
            let status = self.raw.run_on_buffers(input, step).map_err(corrupt)?;
            out.take(&step[..status.bytes_written])?;
            input = &input[status.bytes_read..];
            // A body may consist of several frames (RFC 8878 §3); it may end after any complete frame.
            self.ended = status.remaining == 0;
            let flushed = status.bytes_written < step.len();
            if input.is_empty() && (self.ended || flushed) {
                return Ok(());
            }
        }
    }
}

fn corrupt(error: io::Error) -> DecodeError {
    DecodeError::Corrupt(format!("the zstd body is broken: {error}"))
}
