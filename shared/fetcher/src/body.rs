//! Reading a body: bytes, rate, time and ratio are all limited, and what is cut short is no document.

use crate::config::Config;
use crate::decode::{Broken, Coding, DecodeError, Decoder, is_gzip_file};
use crate::failure;
use crate::media::TELLING_BYTES;
use crate::room::{Room, Share};
use bytes::Bytes;
use curlew_ports::{CallKind, CpuError, CpuPool, CpuTask, FetchError, compute};
use reqwest::Response;
use reqwest::header::HeaderMap;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// Time that a body has waited for room from which on it is not the server's fault that it came too late.
const OUR_SHARE: Duration = Duration::from_secs(1);
/// Maximum number of coded bytes that are decoded on the thread that reads them: no more, since it serves other
/// sockets, too.
const DECODED_HERE: usize = 16 << 10;
/// Minimum number of coded bytes that are handed to the pool at once, unless the body ends.
const PIECE: usize = 64 << 10;

/// Settings, room and pool with which a body is read and decoded.
#[derive(Clone, Copy)]
pub(crate) struct Means<'a> {
    pub(crate) config: &'a Config,
    pub(crate) room: &'a Room,
    pub(crate) pool: &'a dyn CpuPool,
}

/// Reads and decodes the body of an answer; `None` if its first bytes show that it is not what was asked for.
pub(crate) async fn read(
    mut response: Response,
    kind: CallKind,
    Means { config, room, pool }: Means<'_>,
    begins_well: impl Fn(&[u8]) -> bool,
    deadline: Instant,
) -> Result<Option<Bytes>, FetchError> {
    let means = Means { config, room, pool };
    let max_bytes = config.bytes.limit(kind);
    let cut_is_fine = kind == CallKind::Robots;
    let coding = Coding::from_headers(response.headers()).map_err(FetchError::Protocol)?;
    if !cut_is_fine && response.content_length().is_some_and(|announced| announced > max_bytes as u64) {
        return Err(too_large(max_bytes));
    }
    let mut decoder = decoder(coding, kind, config, room)?;
    let mut pace = Pace { started: Instant::now(), grace: config.rate_grace.0, min_rate: config.min_rate };
    let mut waited = Duration::ZERO;
    let too_late = |waited: Duration| if waited < OUR_SHARE { took_too_long() } else { no_room() };
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
            let pushed = timeout_at(deadline, push(pool, coding, decoder, std::mem::take(&mut piece))).await;
            let pushed = pushed.map_err(|_| no_room())??;
            pace.started += decoding.elapsed();
            waited += decoding.elapsed();
            decoder = pushed.0;
            match pushed.1 {
                Ok(()) if is_within => {}
                Ok(()) | Err(DecodeError::Limit(Broken::Bytes)) => {
                    if !cut_is_fine {
                        return Err(too_large(max_bytes));
                    }
                    let (body, share) = decoder.into_partial();
                    return finished(body, share, coding, kind, means, Cut(true)).await.map(Some);
                }
                Err(e) => return Err(undecodable(e)),
            }
        }
        let start = decoder.decoded();
        if (start.len() >= TELLING_BYTES || is_whole) && !begins_well(start) {
            return Ok(None);
        }
        pace.check((wire_bytes + piece.len()) as u64)?;
    }
    let (body, share) = decoder.finish().map_err(undecodable)?;
    finished(body, share, coding, kind, means, Cut(false)).await.map(Some)
}

/// Pushes coded bytes, in the pool if they are many: decoding a few kilobytes may take as long as reading a large
/// document.
async fn push(
    pool: &dyn CpuPool,
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
    compute(pool, CpuTask::Document, decode).await.map_err(|error| match error {
        CpuError::Overrun(_) => undecodable(DecodeError::Limit(Broken::Time)),
        CpuError::Unavailable(error) => FetchError::Local(error.to_string()),
    })
}

/// Decodes a body that is at hand, coded as its headers say. One that does not begin so is taken as it is.
pub(crate) fn decode_whole(
    headers: &HeaderMap,
    body: &[u8],
    kind: CallKind,
    config: &Config,
) -> Result<Bytes, FetchError> {
    let max_bytes = config.bytes.limit(kind);
    let coding = Coding::from_headers(headers).map_err(FetchError::Protocol)?;
    let coding = if coding.may_begin(body) { coding } else { Coding::Identity };
    let room = Room::with_limits(0, max_bytes.saturating_mul(2));
    let mut decoder = decoder(coding, kind, config, &room)?;
    decoder.push(body).map_err(undecodable)?;
    let (body, share) = decoder.finish().map_err(undecodable)?;
    let Some(mut decoder) = of_gzip_file(&body, coding, kind, config, &room)? else { return Ok(share.keep(body)) };
    let pushed = decoder.push(&body);
    unpacked(decoder, pushed, kind, config, Cut(false))
}

/// True if reading stopped at the limit.
struct Cut(bool);

/// A body that came uncoded may be a gzip file all the same. One layer is undone, under the same limits.
async fn finished(
    body: Vec<u8>,
    share: Share,
    coding: Coding,
    kind: CallKind,
    Means { config, room, pool }: Means<'_>,
    cut: Cut,
) -> Result<Bytes, FetchError> {
    let Some(decoder) = of_gzip_file(&body, coding, kind, config, room)? else { return Ok(share.keep(body)) };
    let (decoder, pushed) = push(pool, Coding::Gzip, decoder, body).await?;
    unpacked(decoder, pushed, kind, config, cut)
}

/// The decoder of a body that is a gzip file though it came uncoded.
fn of_gzip_file(
    body: &[u8],
    coding: Coding,
    kind: CallKind,
    config: &Config,
    room: &Room,
) -> Result<Option<Decoder>, FetchError> {
    if coding != Coding::Identity || kind == CallKind::Image || !is_gzip_file(body) {
        return Ok(None);
    }
    decoder(Coding::Gzip, kind, config, room).map(Some)
}

fn decoder(coding: Coding, kind: CallKind, config: &Config, room: &Room) -> Result<Decoder, FetchError> {
    Decoder::new(coding, config.bytes.limit(kind), config, room.share()).map_err(undecodable)
}

/// Returns the content of a gzip file, after all of it was pushed, or as much as could be.
fn unpacked(
    decoder: Decoder,
    pushed: Result<(), DecodeError>,
    kind: CallKind,
    config: &Config,
    cut: Cut,
) -> Result<Bytes, FetchError> {
    let (body, share) = match pushed {
        Ok(()) if cut.0 => decoder.into_partial(),
        Ok(()) => decoder.finish().map_err(undecodable)?,
        Err(DecodeError::Limit(Broken::Bytes)) if kind == CallKind::Robots => decoder.into_partial(),
        Err(DecodeError::Limit(Broken::Bytes)) => return Err(too_large(config.bytes.limit(kind))),
        Err(e) => return Err(undecodable(e)),
    };
    Ok(share.keep(body))
}

/// The least speed: once the grace is over, each further second has to have brought `min_rate` bytes.
struct Pace {
    started: Instant,
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

fn too_large(max_bytes: usize) -> FetchError {
    FetchError::Limit(format!("the body is larger than {max_bytes} bytes"))
}

fn took_too_long() -> FetchError {
    FetchError::Limit("the body was not complete in the time of the call".into())
}

/// Returns the error for a lack of memory: it says nothing about the host, and the document is asked for another time.
fn no_room() -> FetchError {
    FetchError::Local("there was no room or no processor for the body beside other large ones".into())
}

fn undecodable(error: DecodeError) -> FetchError {
    match error {
        DecodeError::Limit(Broken::Bytes) => FetchError::Limit("the body is larger than allowed".into()),
        DecodeError::Limit(Broken::Room) => no_room(),
        DecodeError::Limit(Broken::Time) => FetchError::Limit("the body takes too long to decompress".into()),
        DecodeError::Limit(Broken::Ratio) => FetchError::Limit("the body grows beyond reason when decompressed".into()),
        DecodeError::Corrupt(reason) => FetchError::Protocol(reason),
    }
}
