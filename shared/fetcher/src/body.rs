//! Reading a body: bytes, rate, time and ratio are all limited, and what is cut short is no document.

use crate::config::Config;
use crate::decode::{Broken, Coding, DecodeError, Decoder, is_gzip_file};
use crate::failure;
use bytes::Bytes;
use curlew_ports::{CallKind, FetchError};
use reqwest::Response;
use tokio::time::{Instant, timeout_at};

/// Reads and decodes the body of an answer.
pub(crate) async fn read(
    mut response: Response,
    kind: CallKind,
    config: &Config,
    deadline: Instant,
) -> Result<Bytes, FetchError> {
    let max_bytes = config.bytes.of(kind);
    let cut_is_fine = kind == CallKind::Robots;
    let coding = Coding::of(response.headers()).map_err(FetchError::Protocol)?;
    if !cut_is_fine && response.content_length().is_some_and(|announced| announced > max_bytes as u64) {
        return Err(too_large(max_bytes));
    }
    let mut decoder = Decoder::new(coding, max_bytes, config.max_ratio).map_err(undecodable)?;
    let pace = Pace { started: Instant::now(), grace: config.rate_grace.0, min_rate: config.min_rate };
    loop {
        let chunk = timeout_at(deadline, response.chunk()).await.map_err(|_| took_too_long())?;
        let Some(chunk) = chunk.map_err(|e| failure::of(&e))? else { break };
        // A server that always has something ready would keep the timer from being looked at.
        if Instant::now() >= deadline {
            return Err(took_too_long());
        }
        match decoder.push(&chunk) {
            Ok(()) if decoder.coded() <= max_bytes as u64 => {}
            Ok(()) | Err(DecodeError::Limit(Broken::Bytes)) => {
                if !cut_is_fine {
                    return Err(too_large(max_bytes));
                }
                return finished(decoder.into_partial(), coding, kind, config, Cut(true));
            }
            Err(e) => return Err(undecodable(e)),
        }
        pace.check(decoder.coded())?;
    }
    let body = decoder.finish().map_err(undecodable)?;
    finished(body, coding, kind, config, Cut(false))
}

/// Whether reading stopped at the limit.
struct Cut(bool);

/// A body that came uncoded may be a gzip file all the same. One layer is undone, under the same limits.
fn finished(body: Vec<u8>, coding: Coding, kind: CallKind, config: &Config, cut: Cut) -> Result<Bytes, FetchError> {
    if coding != Coding::Identity || kind == CallKind::Image || !is_gzip_file(&body) {
        return Ok(body.into());
    }
    let max_bytes = config.bytes.of(kind);
    let mut decoder = Decoder::new(Coding::Gzip, max_bytes, config.max_ratio).map_err(undecodable)?;
    let done = match decoder.push(&body) {
        Ok(()) if cut.0 => decoder.into_partial(),
        Ok(()) => decoder.finish().map_err(undecodable)?,
        Err(DecodeError::Limit(Broken::Bytes)) if kind == CallKind::Robots => decoder.into_partial(),
        Err(DecodeError::Limit(Broken::Bytes)) => return Err(too_large(max_bytes)),
        Err(e) => return Err(undecodable(e)),
    };
    Ok(done.into())
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

fn undecodable(error: DecodeError) -> FetchError {
    match error {
        DecodeError::Limit(Broken::Bytes) => FetchError::Limit("the body is larger than allowed".into()),
        DecodeError::Limit(Broken::Ratio) => FetchError::Limit("the body grows beyond reason when decompressed".into()),
        DecodeError::Corrupt(reason) => FetchError::Protocol(reason),
    }
}
