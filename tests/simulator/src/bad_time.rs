//! Bad times of the hosts of both simulators' webs, and the instants of their runs.

use curlew_ports::{FetchError, Reply};

/// An instant of a run: milliseconds since its start.
pub(crate) type Moment = u64;

/// A minute of a run.
pub(crate) const MINUTE: Moment = 60_000;
/// An hour of a run.
pub(crate) const HOUR: Moment = 60 * MINUTE;

/// A bad time of a host: from an instant until before another one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BadTime {
    /// Its first instant.
    pub(crate) from: Moment,
    /// The first instant after it.
    pub(crate) to: Moment,
    /// The way in which calls fail in it.
    pub(crate) failure: WebFailure,
}

/// The way in which every call fails in a bad time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WebFailure {
    /// A status.
    Status(u16),
    /// A status with Retry-After in seconds.
    RetryAfter(u16, u64),
    /// The connection is reset.
    Network,
    /// The body is larger than the limit.
    TooLarge,
}

impl WebFailure {
    /// The answer to a call.
    pub(crate) fn answer(self) -> Result<Reply, FetchError> {
        match self {
            WebFailure::Status(status) => Ok(Reply { status, ..Reply::default() }),
            WebFailure::RetryAfter(status, seconds) => {
                let mut reply = Reply { status, ..Reply::default() };
                reply.headers.retry_after = Some(seconds.to_string());
                Ok(reply)
            }
            WebFailure::Network => Err(FetchError::Network("the connection was reset".into())),
            WebFailure::TooLarge => Err(FetchError::Limit("the body is too large".to_owned())),
        }
    }
}

/// The failure of a call at an instant, if it lies in a bad time.
pub(crate) fn failure_at(bad_times: &[BadTime], now: Moment) -> Option<WebFailure> {
    bad_times.iter().find(|bad| bad.from <= now && now < bad.to).map(|bad| bad.failure)
}
