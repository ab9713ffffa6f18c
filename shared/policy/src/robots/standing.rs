//! What a fetch of robots.txt means (RFC 9309 §2.3.1), and how long its result may be used (§2.4).

use curlew_model::{Millis, Timestamp};
use serde::{Deserialize, Serialize};

/// No copy is used for longer without asking again (RFC 9309 §2.4).
pub const MAX_AGE: Millis = Millis::from_hours(24);
/// A shorter life is respected down to this, so that `max-age=0` does not cost one more call a page.
pub const MIN_AGE: Millis = Millis::from_mins(1);
/// When a file that could not be reached is asked for again.
pub const UNREACHABLE_RETRY: Millis = Millis::from_hours(1);
/// What RFC 9309 §2.3.1.4 calls a reasonably long time.
pub const TOO_LONG_UNREACHABLE: Millis = Millis::from_days(30);

/// How the fetch of a robots.txt ended, redirects followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fetched<'a> {
    /// 2xx with a whole body.
    Success {
        /// The body, decompressed.
        body: &'a [u8],
    },
    /// Any other status; a redirect without a usable Location too.
    Status(u16),
    /// DNS, connection, TLS, time-out, a body cut short.
    Unreachable,
    /// More than five redirects, or a loop.
    TooManyRedirects,
    /// A redirect to an address that may not be called.
    RefusedHop,
    /// 304: the stored copy holds on.
    NotModified,
}

/// What is known of the robots.txt of one scheme, host and port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// The stored body is to be obeyed.
    Rules,
    /// There is none (4xx but for 401, 403 and 429): everything is allowed.
    AllowAll,
    /// It is refused to us (401, 403): nothing is allowed.
    DisallowAll,
    /// The server could not be reached or is in trouble (5xx, 429, network): nothing is allowed, unless an older copy
    /// may still be used; see [`while_unreachable`].
    Unreachable,
}

/// What to go by while the file cannot be reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhileUnreachable {
    /// The older copy, although it is past its time.
    OlderCopy,
    /// Nothing is allowed.
    DisallowAll,
}

/// What a fetch means.
///
/// RFC 9309 §2.3.1 with three choices that fetch less than it allows: 401 and 403 disallow everything, 429 counts as
/// the server being in trouble, and so does a redirect to an address that may not be called. Whatever is no answer
/// that HTTP knows counts as trouble too: no fault ever ends in "allowed".
pub fn classify(fetched: &Fetched<'_>) -> Standing {
    match fetched {
        Fetched::Success { .. } | Fetched::NotModified => Standing::Rules,
        Fetched::Status(401 | 403) => Standing::DisallowAll,
        Fetched::Status(429) => Standing::Unreachable,
        // 204 and 205 have no body and so no rules; 206 was not asked for and is only a part.
        Fetched::Status(204 | 205 | 300..=399 | 400..=499) | Fetched::TooManyRedirects => Standing::AllowAll,
        Fetched::Status(_) | Fetched::Unreachable | Fetched::RefusedHop => Standing::Unreachable,
    }
}

/// Until when the result of a fetch may be used.
///
/// At most [`MAX_AGE`], less if `Cache-Control: max-age` less the response's `Age` (in seconds) says so, never less
/// than [`MIN_AGE`]. What could not be reached is tried again after [`UNREACHABLE_RETRY`].
pub fn fresh_until(
    standing: Standing,
    fetched_at: Timestamp,
    cache_control: Option<&str>,
    age: Option<u64>,
) -> Timestamp {
    if standing == Standing::Unreachable {
        return fetched_at + UNREACHABLE_RETRY;
    }
    let life =
        cache_control.and_then(lifetime).map_or(MAX_AGE, |l| l.saturating_sub(Millis::from_secs(age.unwrap_or(0))));
    fetched_at + life.clamp(MIN_AGE, MAX_AGE)
}

/// What to go by at `now` if the file has not been reachable since `since`.
///
/// RFC 9309 §2.4 lets an older copy be used for as long as the server is in trouble, and §2.3.1.4 lets a crawler
/// behave after a long time as if there were no file. We take the slower choice of both: the older copy for
/// [`TOO_LONG_UNREACHABLE`], then nothing is allowed until the file can be reached again.
pub fn while_unreachable(since: Timestamp, now: Timestamp, has_copy: bool) -> WhileUnreachable {
    if has_copy && now.since(since) <= TOO_LONG_UNREACHABLE {
        WhileUnreachable::OlderCopy
    } else {
        WhileUnreachable::DisallowAll
    }
}

/// What Cache-Control (RFC 9111 §5.2.2) says of the life of a response in a private cache, if anything.
fn lifetime(cache_control: &str) -> Option<Millis> {
    let mut shortest: Option<Millis> = None;
    for directive in cache_control.split(',') {
        let (name, value) = directive.split_once('=').unwrap_or((directive, ""));
        let life = match name.trim().to_ascii_lowercase().as_str() {
            "no-store" | "no-cache" => Some(Millis::ZERO),
            "max-age" => delta_seconds(value),
            _ => None,
        };
        shortest = match (shortest, life) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
    }
    shortest
}

/// RFC 9111 §1.2.2: digits, and what is too great means the greatest. Found in quotes, too.
fn delta_seconds(value: &str) -> Option<Millis> {
    let digits = value.trim().trim_matches('"');
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    Some(Millis::from_secs(digits.parse().unwrap_or(u64::MAX)))
}
