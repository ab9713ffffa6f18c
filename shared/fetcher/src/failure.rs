//! Classifies the HTTP library's errors by what the caller has to do, each as a sentence without the URL.

use crate::guard::Refusal;
use crate::resolver::LookupFailed;
use curlew_model::{Failure, FailureCause};
use curlew_ports::FetchError;
use std::error::Error;
use std::io;

/// Maximum length of a reason, in characters.
const MAX_REASON_CHARS: usize = 160;

pub(crate) fn classify(error: &reqwest::Error) -> FetchError {
    // This refusal comes from a look-up. A captive portal that answers for all names may be to blame, and not the name.
    if let Some(refusal) = find::<Refusal>(error) {
        return FetchError::Network(Failure::new(FailureCause::Address, refusal.to_string()));
    }
    if chain(error).any(is_out_of_descriptors) {
        return FetchError::Local("this process has no file descriptor left for one more connection".into());
    }
    if let Some(failed) = find::<LookupFailed>(error) {
        return FetchError::Network(Failure::new(FailureCause::Dns, failed.to_string()));
    }
    if error.is_builder() {
        return FetchError::Refused("the URL cannot be sent".into());
    }
    if error.is_timeout() {
        return match error.is_connect() {
            true => FetchError::Network(Failure::new(FailureCause::Timeout, "no connection in time")),
            false => FetchError::Cut("the server was silent for too long".into()),
        };
    }
    if error.is_connect() {
        return FetchError::Network(Failure::new(unconnected(error), format!("no connection: {}", reason(error))));
    }
    let hyper = find::<hyper::Error>(error);
    if hyper.is_some_and(hyper::Error::is_incomplete_message) {
        return FetchError::Cut("the connection was closed before an answer".into());
    }
    if hyper.is_some_and(hyper::Error::is_parse) {
        return FetchError::Protocol(format!("the answer is not HTTP: {}", reason(error)));
    }
    match find::<io::Error>(error).map(io::Error::kind) {
        Some(io::ErrorKind::UnexpectedEof) => FetchError::Cut("the answer was cut short".into()),
        Some(io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput) => {
            FetchError::Protocol(format!("the body is not framed as HTTP says: {}", reason(error)))
        }
        _ => FetchError::Cut(format!("the connection broke: {}", reason(error))),
    }
}

/// Returns true if an established connection ended before the head of an answer was complete.
pub(crate) fn is_closed_unanswered(error: &reqwest::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
    let ended = |kind| matches!(kind, BrokenPipe | ConnectionAborted | ConnectionReset | UnexpectedEof);
    let is_end = find::<hyper::Error>(error).is_some_and(hyper::Error::is_incomplete_message)
        || find::<io::Error>(error).is_some_and(|error| ended(error.kind()));
    is_end && !error.is_connect() && !error.is_timeout()
}

/// Returns true if the server states that it has not processed the request: it ends an HTTP/2 connection in an orderly
/// way (RFC 9113 §6.8), or refuses a stream (§8.7).
pub(crate) fn is_unprocessed(error: &reqwest::Error) -> bool {
    let is_orderly = |reason| matches!(reason, Some(h2::Reason::NO_ERROR | h2::Reason::REFUSED_STREAM));
    find::<h2::Error>(error).is_some_and(|error| error.is_remote() && is_orderly(error.reason()))
}

/// Classifies a failed connection by the innermost error of the system or of TLS. TLS errors are invalid data, or an
/// end of file during the handshake.
fn unconnected(error: &reqwest::Error) -> FailureCause {
    let kinds = chain(error).filter_map(|e| e.downcast_ref::<io::Error>()).map(io::Error::kind);
    match kinds.last() {
        Some(io::ErrorKind::ConnectionRefused) => FailureCause::ConnectionRefused,
        Some(io::ErrorKind::TimedOut) => FailureCause::Timeout,
        Some(io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof) => FailureCause::Tls,
        _ => FailureCause::Network,
    }
}

/// Returns the first error of a type in the chain of sources. After an `io::Error` comes the error that it wraps.
fn find<'a, T: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a T> {
    chain(error).find_map(|e| e.downcast_ref::<T>())
}

fn chain<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |e| cause(*e))
}

fn cause<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a (dyn Error + 'static)> {
    match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
        Some(inner) => Some(inner),
        None => error.source(),
    }
}

/// Returns true if this process, or the whole system, has no file descriptor left.
fn is_out_of_descriptors(error: &(dyn Error + 'static)) -> bool {
    // EMFILE and ENFILE (POSIX, <errno.h>), the same numbers on Linux, macOS and the BSDs.
    let number = error.downcast_ref::<io::Error>().and_then(io::Error::raw_os_error);
    matches!(number, Some(24 | 23))
}

/// Returns the text of the innermost error, without the layers around it. The text may quote the other side.
fn reason(error: &reqwest::Error) -> String {
    let text = chain(error).last().map(ToString::to_string).unwrap_or_default();
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(MAX_REASON_CHARS).collect()
}
