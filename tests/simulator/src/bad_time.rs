//! Types that both simulators' webs share: moments of a run, replies, and bad times of hosts.

use bytes::Bytes;
use curlew_ports::{FetchError, Reply};

/// A moment of a run, in milliseconds since its start.
pub(crate) type Moment = u64;

pub(crate) const MINUTE: Moment = 60_000;
pub(crate) const HOUR: Moment = 60 * MINUTE;

/// A time in which a host fails: `from` is included, `to` is not.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BadTime {
    pub(crate) from: Moment,
    pub(crate) to: Moment,
    pub(crate) failure: WebFailure,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WebFailure {
    Status(u16),
    RetryAfter(u16, u64),
    /// The connection is reset.
    Network,
    /// The body is larger than the limit.
    TooLarge,
}

impl WebFailure {
    pub(crate) fn answer(self) -> Result<Reply, FetchError> {
        match self {
            WebFailure::Status(code) => Ok(status(code)),
            WebFailure::RetryAfter(code, seconds) => {
                let mut reply = status(code);
                reply.headers.retry_after = Some(seconds.to_string());
                Ok(reply)
            }
            WebFailure::Network => Err(FetchError::Network("the connection was reset".into())),
            WebFailure::TooLarge => Err(FetchError::Limit("the body is too large".to_owned())),
        }
    }
}

/// Returns the failure of a call at `now` if a bad time includes it.
pub(crate) fn failure_at(bad_times: &[BadTime], now: Moment) -> Option<WebFailure> {
    bad_times.iter().find(|bad| bad.from <= now && now < bad.to).map(|bad| bad.failure)
}

pub(crate) fn status(code: u16) -> Reply {
    Reply { status: code, ..Reply::default() }
}

pub(crate) fn document(media_type: &str, body: impl Into<Bytes>) -> Reply {
    let mut reply = Reply { body: body.into(), ..status(200) };
    reply.headers.content_type = Some(format!("{media_type}; charset=utf-8"));
    reply
}
