//! Reads bodies under limits on bytes, rate, time and ratio. A body that is cut short is an error.

use crate::config::Config;
use crate::decode::{Coding, DecodeError, Decoder, is_gzip_file};
use crate::failure;
use crate::media::TELLING_BYTES;
use crate::room::{Room, Share};
use bytes::Bytes;
use curlew_ports::{CallKind, CpuError, CpuPool, CpuTask, FetchError, compute};
use reqwest::Response;
use reqwest::header::HeaderMap;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// Time of waiting for room above which a late body is not the server's fault.
const OUR_SHARE: Duration = Duration::from_secs(1);
/// Maximum number of coded bytes that are decoded on the reading thread, which serves other sockets too.
const DECODED_HERE: usize = 16 << 10;
/// Minimum number of coded bytes that are passed to the pool at once, unless the body ends.
const PIECE: usize = 64 << 10;

/// Reads and decodes a body of this kind, with these settings and within this room and pool.
#[derive(Clone, Copy)]
pub(crate) struct Reader<'a> {
    pub(crate) kind: CallKind,
    pub(crate) config: &'a Config,
    pub(crate) room: &'a Room,
    pub(crate) pool: &'a dyn CpuPool,
}

impl Reader<'_> {
    /// Reads and decodes the body of an answer; `None` if its first bytes show that it is of another type.
    pub(crate) async fn read(
        self,
        mut response: Response,
        begins_well: impl Fn(&[u8]) -> bool,
        deadline: Instant,
    ) -> Result<Option<Bytes>, FetchError> {
        let max_bytes = self.max_bytes();
        let coding = Coding::from_headers(response.headers()).map_err(FetchError::Protocol)?;
        let announced = response.content_length().unwrap_or_default();
        if self.kind != CallKind::Robots && announced > max_bytes as u64 {
            return Err(self.refused(DecodeError::Bytes));
        }
        let mut decoder = self.decoder(coding)?;
        let Config { rate_grace, min_rate, .. } = self.config;
        let mut pace = Pace { started: Instant::now(), grace: rate_grace.0, min_rate: *min_rate };
        let mut waited = Duration::ZERO;
        let too_late = |waited: Duration| match waited < OUR_SHARE {
            true => FetchError::Limit("the body was not complete in the time of the call".into()),
            false => no_room(),
        };
        let (mut piece, mut wire_bytes, mut is_whole, mut cut) = (Vec::new(), 0, false, None);
        while !is_whole {
            let waiting = Instant::now();
            timeout_at(deadline, decoder.wait_for_room(piece.len())).await.map_err(|_| no_room())?;
            // The wait for room is not the server's fault.
            pace.started += waiting.elapsed();
            waited += waiting.elapsed();
            let chunk = timeout_at(deadline, response.chunk()).await.map_err(|_| too_late(waited))?;
            let chunk = match chunk.map_err(|error| failure::classify(&error)) {
                // Some servers announce the length before compression. The checksum shows whether the body is whole.
                Err(error) if coding == Coding::Gzip && announced > 0 => {
                    cut = Some(error);
                    None
                }
                chunk => chunk?,
            };
            // The timer is never polled while the server always has data ready.
            if chunk.is_some() && Instant::now() >= deadline {
                return Err(too_late(waited));
            }
            is_whole = chunk.is_none();
            piece.extend_from_slice(&chunk.unwrap_or_default());
            let is_within = wire_bytes + piece.len() <= max_bytes;
            if coding == Coding::Identity || is_whole || piece.len() >= PIECE || !is_within {
                wire_bytes += piece.len();
                let decoding = Instant::now();
                let pushed = timeout_at(deadline, self.push(coding, decoder, std::mem::take(&mut piece))).await;
                let pushed = pushed.map_err(|_| no_room())??;
                pace.started += decoding.elapsed();
                waited += decoding.elapsed();
                decoder = pushed.0;
                match pushed.1.and(if is_within { Ok(()) } else { Err(DecodeError::Bytes) }) {
                    Ok(()) => {}
                    Err(DecodeError::Bytes) if self.kind == CallKind::Robots => {
                        return self.finished(coding, decoder, true).await.map(Some);
                    }
                    Err(error) => return Err(self.refused(error)),
                }
            }
            let start = decoder.decoded();
            if (start.len() >= TELLING_BYTES || is_whole) && !begins_well(start) {
                return Ok(None);
            }
            pace.check((wire_bytes + piece.len()) as u64)?;
        }
        let body = self.finished(coding, decoder, false).await;
        match cut {
            Some(cut) if !body.as_ref().is_ok_and(|body| body.len() as u64 == announced) => Err(cut),
            _ => body.map(Some),
        }
    }

    /// Decodes a complete body according to its headers. A body that does not begin as coded is returned unchanged.
    pub(crate) fn decode_whole(self, headers: &HeaderMap, body: &[u8]) -> Result<Bytes, FetchError> {
        let coding = Coding::from_headers(headers).map_err(FetchError::Protocol)?;
        let coding = if coding.may_begin(body) { coding } else { Coding::Identity };
        let mut decoder = self.decoder(coding)?;
        decoder.push(body).map_err(|error| self.refused(error))?;
        let (body, share) = self.taken(decoder, false)?;
        let Some(mut decoder) = self.gzip_file(coding, &body)? else { return Ok(share.keep(body)) };
        let pushed = decoder.push(&body);
        self.unpacked(decoder, pushed, false)
    }

    fn max_bytes(self) -> usize {
        self.config.bytes.limit(self.kind)
    }

    fn decoder(self, coding: Coding) -> Result<Decoder, FetchError> {
        Decoder::new(coding, self.max_bytes(), self.config, self.room.share()).map_err(|error| self.refused(error))
    }

    /// Decodes coded bytes, in the pool if they are many: a few kilobytes may take as long to decode as a large
    /// document takes to parse.
    async fn push(
        self,
        coding: Coding,
        mut decoder: Decoder,
        coded: Vec<u8>,
    ) -> Result<(Decoder, Result<(), DecodeError>), FetchError> {
        let is_brief = coding == Coding::Identity || coded.len() <= DECODED_HERE;
        let decode = move || {
            let pushed = decoder.push(&coded);
            (decoder, pushed)
        };
        if is_brief {
            return Ok(decode());
        }
        compute(self.pool, CpuTask::Document, decode).await.map_err(|error| match error {
            CpuError::Overrun(_) => self.refused(DecodeError::Time),
            CpuError::Unavailable(error) => FetchError::Local(error.to_string()),
        })
    }

    /// Returns the body, or the part of it before the cut. A body without a coding may still be a gzip file.
    async fn finished(self, coding: Coding, decoder: Decoder, is_cut: bool) -> Result<Bytes, FetchError> {
        let (body, share) = self.taken(decoder, is_cut)?;
        let Some(decoder) = self.gzip_file(coding, &body)? else { return Ok(share.keep(body)) };
        let (decoder, pushed) = self.push(Coding::Gzip, decoder, body).await?;
        self.unpacked(decoder, pushed, is_cut)
    }

    /// Returns a decoder if a body without a coding is a gzip file. One layer is decoded, under the same limits.
    fn gzip_file(self, coding: Coding, body: &[u8]) -> Result<Option<Decoder>, FetchError> {
        let is_file = coding == Coding::Identity && self.kind != CallKind::Image && is_gzip_file(body);
        is_file.then(|| self.decoder(Coding::Gzip)).transpose()
    }

    /// Returns the content of a gzip file after it was pushed, or the part of it before the cut.
    fn unpacked(self, decoder: Decoder, pushed: Result<(), DecodeError>, is_cut: bool) -> Result<Bytes, FetchError> {
        let is_cut = match pushed {
            Ok(()) => is_cut,
            Err(DecodeError::Bytes) if self.kind == CallKind::Robots => true,
            Err(error) => return Err(self.refused(error)),
        };
        let (body, share) = self.taken(decoder, is_cut)?;
        Ok(share.keep(body))
    }

    fn taken(self, decoder: Decoder, is_cut: bool) -> Result<(Vec<u8>, Share), FetchError> {
        if is_cut { Ok(decoder.into_partial()) } else { decoder.finish().map_err(|error| self.refused(error)) }
    }

    fn refused(self, error: DecodeError) -> FetchError {
        match error {
            DecodeError::Bytes => FetchError::Limit(format!("the body is larger than {} bytes", self.max_bytes())),
            DecodeError::Room => no_room(),
            DecodeError::Time => FetchError::Limit("the body takes too long to decompress".into()),
            DecodeError::Ratio => FetchError::Limit("the body grows beyond reason when decompressed".into()),
            DecodeError::Corrupt(reason) => FetchError::Protocol(reason),
        }
    }
}

/// The minimum speed of a body: once the grace is over, each further second must have brought `min_rate` bytes.
struct Pace {
    started: Instant,
    /// In milliseconds.
    grace: u64,
    min_rate: u64,
}

impl Pace {
    fn check(&self, wire_bytes: u64) -> Result<(), FetchError> {
        let elapsed = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let due = elapsed.saturating_sub(self.grace).saturating_mul(self.min_rate) / 1_000;
        if wire_bytes < due {
            return Err(FetchError::Limit(format!("the body came slower than {} bytes a second", self.min_rate)));
        }
        Ok(())
    }
}

/// Returns the error for a lack of memory or processors, which says nothing about the host: the call is repeated later.
fn no_room() -> FetchError {
    FetchError::Local("there was no room or no processor for the body beside other large ones".into())
}
