//! Reading a body: bytes, rate, time and ratio are all limited, and what is cut short is no document.

use crate::config::Config;
use crate::decode::{Coding, DecodeError, Decoder, is_gzip_file};
use crate::failure;
use crate::media::TELLING_BYTES;
use crate::room::{Room, Share};
use bytes::Bytes;
use curlew_ports::{CallKind, CpuError, CpuPool, CpuTask, FetchError, InlinePool, compute};
use reqwest::Response;
use reqwest::header::HeaderMap;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// Time that a body has waited for room from which on it is not the server's fault that it came too late.
const OUR_SHARE: Duration = Duration::from_secs(1);
/// Maximum number of coded bytes that are decoded on the thread that reads them, since it serves other sockets, too.
const DECODED_HERE: usize = 16 << 10;
/// Minimum number of coded bytes that are handed to the pool at once, unless the body ends.
const PIECE: usize = 64 << 10;

/// The kind of a body, and the settings, room and pool with which it is read and decoded.
#[derive(Clone, Copy)]
pub(crate) struct Reader<'a> {
    pub(crate) kind: CallKind,
    pub(crate) config: &'a Config,
    pub(crate) room: &'a Room,
    pub(crate) pool: &'a dyn CpuPool,
}

impl Reader<'_> {
    /// Reads and decodes the body of an answer; `None` if its first bytes show that it is not what was asked for.
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
        let (mut piece, mut wire_bytes, mut is_whole) = (Vec::new(), 0, false);
        while !is_whole {
            let waiting = Instant::now();
            timeout_at(deadline, decoder.wait_for_room(piece.len())).await.map_err(|_| no_room())?;
            // The server is not to blame for it.
            pace.started += waiting.elapsed();
            waited += waiting.elapsed();
            let chunk = timeout_at(deadline, response.chunk()).await.map_err(|_| too_late(waited))?;
            let chunk = chunk.map_err(|e| failure::classify(&e))?;
            // A server that always has something ready would keep the timer from being looked at.
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
        self.finished(coding, decoder, false).await.map(Some)
    }

    fn max_bytes(self) -> usize {
        self.config.bytes.limit(self.kind)
    }

    fn decoder(self, coding: Coding) -> Result<Decoder, FetchError> {
        Decoder::new(coding, self.max_bytes(), self.config, self.room.share()).map_err(|error| self.refused(error))
    }

    /// Pushes coded bytes, in the pool if they are many: decoding a few kilobytes may take as long as reading a large
    /// document.
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

    /// Returns the body, or the part of it before the cut. A body that came uncoded may be a gzip file all the same.
    async fn finished(self, coding: Coding, decoder: Decoder, is_cut: bool) -> Result<Bytes, FetchError> {
        let (body, share) = self.taken(decoder, is_cut)?;
        let Some(decoder) = self.gzip_file(coding, &body)? else { return Ok(share.keep(body)) };
        let (decoder, pushed) = self.push(Coding::Gzip, decoder, body).await?;
        self.unpacked(decoder, pushed, is_cut)
    }

    /// Returns the decoder of a body that is a gzip file though it came uncoded. One layer is undone, under the same
    /// limits.
    fn gzip_file(self, coding: Coding, body: &[u8]) -> Result<Option<Decoder>, FetchError> {
        let is_file = coding == Coding::Identity && self.kind != CallKind::Image && is_gzip_file(body);
        is_file.then(|| self.decoder(Coding::Gzip)).transpose()
    }

    /// Returns the content of a gzip file, after all of it was pushed, or as much as could be.
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

/// Decodes a body that is at hand, coded as its headers say. One that does not begin so is taken as it is.
pub(crate) fn decode_whole(
    headers: &HeaderMap,
    body: &[u8],
    kind: CallKind,
    config: &Config,
) -> Result<Bytes, FetchError> {
    let coding = Coding::from_headers(headers).map_err(FetchError::Protocol)?;
    let coding = if coding.may_begin(body) { coding } else { Coding::Identity };
    let room = Room::with_limits(0, config.bytes.limit(kind).saturating_mul(2));
    let reader = Reader { kind, config, room: &room, pool: &InlinePool };
    let mut decoder = reader.decoder(coding)?;
    decoder.push(body).map_err(|error| reader.refused(error))?;
    let (body, share) = reader.taken(decoder, false)?;
    let Some(mut decoder) = reader.gzip_file(coding, &body)? else { return Ok(share.keep(body)) };
    let pushed = decoder.push(&body);
    reader.unpacked(decoder, pushed, false)
}

/// The least speed: once the grace is over, each further second has to have brought `min_rate` bytes.
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

/// Returns the error for a lack of memory: it says nothing about the host, and the document is asked for another time.
fn no_room() -> FetchError {
    FetchError::Local("there was no room or no processor for the body beside other large ones".into())
}
