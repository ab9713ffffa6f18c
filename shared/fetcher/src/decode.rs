//! Content codings, undone under limits while the bytes arrive.
//!
//! The HTTP library's own decoders are not used: they hide how many bytes came over the wire, take brotli's large
//! windows and zstd windows of 128 MiB, and pass an upper-case or stacked coding on as if it were the document.

use crate::room::Share;
use brotli_decompressor::{BrotliDecompressStream, BrotliResult, BrotliState, StandardAlloc};
use flate2::write::MultiGzDecoder;
use reqwest::header::{CONTENT_ENCODING, HeaderMap};
use std::io::{self, Write};
use zstd::stream::raw::{DParameter, Decoder as ZstdRaw, Operation};

/// Content codings offered to servers: those that [`Coding`] knows.
pub(crate) const OFFERED: &str = "gzip, br, zstd";
/// First bytes of a gzip document with its only compression method (RFC 1952 §2.3).
const GZIP_MAGIC: [u8; 3] = [0x1f, 0x8b, 8];
/// First bytes of a zstd frame (RFC 8878 §3.1.1).
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// Windows up to 8 MiB, which is the most that a server may use for the zstd coding (RFC 9659 §3).
const ZSTD_WINDOW_LOG: u32 = 23;
/// Bytes decoded in one step.
const STEP_BYTES: usize = 32 << 10;
/// Coded bytes given to the gzip decoder in one step; deflate makes at most 1,032 bytes of one, so a step stays near 1 MiB.
const GZIP_STEP_BYTES: usize = 1 << 10;
/// The ratio is judged from here on: small documents of few words compress well.
const RATIO_FLOOR_BYTES: usize = 1 << 20;

/// The one content coding of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Coding {
    Identity,
    Gzip,
    Brotli,
    Zstd,
}

impl Coding {
    /// Reads `Content-Encoding`; names are case-insensitive and `x-gzip` is gzip (RFC 9110 §8.4.1). More than one
    /// coding, or one that was not offered, is an error with its reason.
    pub(crate) fn of(headers: &HeaderMap) -> Result<Coding, String> {
        let mut codings = Vec::new();
        for value in headers.get_all(CONTENT_ENCODING) {
            let value = value.to_str().map_err(|_| "a content coding that is no text")?;
            let names = value.split(',').map(|name| name.trim().to_ascii_lowercase());
            codings.extend(names.filter(|name| !name.is_empty() && name != "identity"));
        }
        match codings.as_slice() {
            [] => Ok(Coding::Identity),
            [one] => match one.as_str() {
                "gzip" | "x-gzip" => Ok(Coding::Gzip),
                "br" => Ok(Coding::Brotli),
                "zstd" => Ok(Coding::Zstd),
                other => Err(format!(
                    "the content coding '{}' was not offered",
                    other.escape_debug().take(40).collect::<String>()
                )),
            },
            _ => Err("several content codings on top of each other".into()),
        }
    }
}

impl Coding {
    /// True if a body may begin so in this coding.
    pub(crate) fn may_begin(self, body: &[u8]) -> bool {
        match self {
            Coding::Identity | Coding::Brotli => true,
            Coding::Gzip => is_gzip_file(body),
            Coding::Zstd => body.starts_with(&ZSTD_MAGIC),
        }
    }
}

/// The limit that a body broke.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Broken {
    /// More decoded bytes than the limit; that many have been kept.
    Bytes,
    /// More times its coded size than is plausible.
    Ratio,
    /// More than there is room for just now, beside other bodies.
    Room,
}

/// Error of a body that cannot be decoded further.
#[derive(Debug)]
pub(crate) enum DecodeError {
    /// A limit was broken.
    Limit(Broken),
    /// It is not what its coding says.
    Corrupt(String),
}

/// Decodes one body.
pub(crate) struct Decoder {
    state: State,
    out: Output,
}

enum State {
    Identity,
    Gzip(Box<MultiGzDecoder<Vec<u8>>>),
    Brotli { state: Box<BrotliState<StandardAlloc, StandardAlloc, StandardAlloc>>, ended: bool },
    Zstd { raw: Box<ZstdRaw<'static>>, ended: bool },
}

impl Decoder {
    /// A decoder whose output is at most `max_bytes`, and at most `max_ratio` times its input once it is large.
    pub(crate) fn new(coding: Coding, max_bytes: usize, max_ratio: u64, share: Share) -> Result<Decoder, DecodeError> {
        let state = match coding {
            Coding::Identity => State::Identity,
            Coding::Gzip => State::Gzip(Box::new(MultiGzDecoder::new(Vec::new()))),
            Coding::Brotli => {
                let alloc = StandardAlloc::default;
                // "Strict" refuses large windows, which RFC 7932 does not know.
                State::Brotli { state: Box::new(BrotliState::new_strict(alloc(), alloc(), alloc())), ended: false }
            }
            Coding::Zstd => State::Zstd { raw: Box::new(zstd_raw().map_err(corrupt)?), ended: false },
        };
        Ok(Decoder { state, out: Output { bytes: Vec::new(), coded: 0, max_bytes, max_ratio, share } })
    }

    /// Coded bytes given so far.
    pub(crate) fn coded(&self) -> u64 {
        self.out.coded
    }

    /// Waits until the next piece finds room.
    pub(crate) async fn wait_for_room(&mut self) {
        self.out.share.wait(self.out.bytes.len()).await;
    }

    /// Takes the next coded bytes.
    pub(crate) fn push(&mut self, input: &[u8]) -> Result<(), DecodeError> {
        // An empty piece (HTTP/2 has empty DATA frames) would look to zstd like the start of another frame.
        if input.is_empty() {
            return Ok(());
        }
        self.out.coded += input.len() as u64;
        match &mut self.state {
            State::Identity => self.out.take(input),
            State::Gzip(decoder) => push_gzip(decoder, input, &mut self.out),
            State::Brotli { state, ended } => push_brotli(state, ended, input, &mut self.out),
            State::Zstd { raw, ended } => push_zstd(raw, ended, input, &mut self.out),
        }
    }

    /// Ends the body, which has to be complete; it comes with its share of the room.
    pub(crate) fn finish(mut self) -> Result<(Vec<u8>, Share), DecodeError> {
        // Nothing at all is an empty document in every coding: servers label empty answers too.
        if self.out.coded == 0 {
            return Ok(self.into_partial());
        }
        let truncated = || DecodeError::Corrupt("the compressed body is cut short".into());
        match &mut self.state {
            State::Gzip(decoder) => {
                decoder.try_finish().map_err(|_| truncated())?;
                drain(decoder, &mut self.out)?;
            }
            State::Brotli { ended: false, .. } | State::Zstd { ended: false, .. } => return Err(truncated()),
            _ => {}
        }
        Ok(self.into_partial())
    }

    /// Returns what was decoded before a limit stopped it.
    pub(crate) fn into_partial(self) -> (Vec<u8>, Share) {
        (self.out.bytes, self.out.share)
    }
}

/// True if an uncoded body is a gzip file, as feeds named `.xml.gz` are.
pub(crate) fn is_gzip_file(body: &[u8]) -> bool {
    body.starts_with(&GZIP_MAGIC)
}

struct Output {
    bytes: Vec<u8>,
    coded: u64,
    max_bytes: usize,
    max_ratio: u64,
    share: Share,
}

impl Output {
    fn take(&mut self, decoded: &[u8]) -> Result<(), DecodeError> {
        let room = self.max_bytes.saturating_sub(self.bytes.len());
        let taken = decoded.len().min(room);
        if !self.share.grow(self.bytes.len() + taken) {
            return Err(DecodeError::Limit(Broken::Room));
        }
        self.bytes.extend_from_slice(&decoded[..taken]);
        if decoded.len() > room {
            return Err(DecodeError::Limit(Broken::Bytes));
        }
        let plausible = self.coded.saturating_mul(self.max_ratio);
        if self.bytes.len() > RATIO_FLOOR_BYTES && self.bytes.len() as u64 > plausible {
            return Err(DecodeError::Limit(Broken::Ratio));
        }
        Ok(())
    }
}

fn push_gzip(decoder: &mut MultiGzDecoder<Vec<u8>>, input: &[u8], out: &mut Output) -> Result<(), DecodeError> {
    let mut coded = out.coded - input.len() as u64;
    for step in input.chunks(GZIP_STEP_BYTES) {
        decoder.write_all(step).map_err(|_| DecodeError::Corrupt("the gzip body is broken".into()))?;
        drain(decoder, out)?;
        coded += step.len() as u64;
        // Whoever compresses does not make a document longer; empty blocks and members take time and yield nothing.
        if coded > RATIO_FLOOR_BYTES as u64 && out.bytes.len() as u64 * 2 < coded {
            return Err(DecodeError::Corrupt("the gzip body holds hardly anything".into()));
        }
    }
    Ok(())
}

fn drain(decoder: &mut MultiGzDecoder<Vec<u8>>, out: &mut Output) -> Result<(), DecodeError> {
    let decoded = decoder.get_mut();
    let taken = out.take(decoded);
    decoded.clear();
    taken
}

fn push_brotli(
    state: &mut BrotliState<StandardAlloc, StandardAlloc, StandardAlloc>,
    ended: &mut bool,
    input: &[u8],
    out: &mut Output,
) -> Result<(), DecodeError> {
    let mut step = vec![0; STEP_BYTES];
    let (mut left, mut at) = (input.len(), 0);
    loop {
        if *ended {
            return if left == 0 { Ok(()) } else { Err(trailing()) };
        }
        let (mut room, mut made, mut total) = (step.len(), 0, 0);
        let result =
            BrotliDecompressStream(&mut left, &mut at, input, &mut room, &mut made, &mut step, &mut total, state);
        out.take(&step[..made])?;
        match result {
            BrotliResult::ResultSuccess => *ended = true,
            BrotliResult::NeedsMoreOutput => {}
            BrotliResult::NeedsMoreInput => return Ok(()),
            BrotliResult::ResultFailure => return Err(DecodeError::Corrupt("the brotli body is broken".into())),
        }
    }
}

fn push_zstd(
    raw: &mut ZstdRaw<'static>,
    ended: &mut bool,
    mut input: &[u8],
    out: &mut Output,
) -> Result<(), DecodeError> {
    let mut step = vec![0; STEP_BYTES];
    loop {
        let status = raw.run_on_buffers(input, &mut step).map_err(corrupt)?;
        out.take(&step[..status.bytes_written])?;
        input = &input[status.bytes_read..];
        // A body may consist of several frames (RFC 8878 §3); it is complete where one of them is.
        *ended = status.remaining == 0;
        let flushed = status.bytes_written < step.len();
        if input.is_empty() && (*ended || flushed) {
            return Ok(());
        }
    }
}

fn zstd_raw() -> io::Result<ZstdRaw<'static>> {
    let mut raw = ZstdRaw::new()?;
    raw.set_parameter(DParameter::WindowLogMax(ZSTD_WINDOW_LOG))?;
    Ok(raw)
}

fn corrupt(error: io::Error) -> DecodeError {
    DecodeError::Corrupt(format!("the zstd body is broken: {error}"))
}

fn trailing() -> DecodeError {
    DecodeError::Corrupt("the compressed body goes on after its end".into())
}
