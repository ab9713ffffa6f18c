//! Meaning of the result of fetching robots.txt (RFC 9309 §2.3.1), and its lifetime (§2.4).

use curlew_model::{Millis, Timestamp, words};

/// Maximum lifetime of a copy (RFC 9309 §2.4).
pub const MAX_AGE: Millis = Millis::from_hours(24);
/// Minimum lifetime of a copy, so that `max-age=0` does not cost an extra call per page.
pub const MIN_AGE: Millis = Millis::from_mins(1);
/// Time after which an unreachable file is requested again.
pub const UNREACHABLE_RETRY: Millis = Millis::from_hours(1);
/// The "reasonably long period of time" of RFC 9309 §2.3.1.4.
pub const TOO_LONG_UNREACHABLE: Millis = Millis::from_days(30);

/// Outcome of the fetch of a robots.txt, after redirects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fetched<'a> {
    /// 2xx with a complete body.
    Success {
        /// The body, decompressed.
        body: &'a [u8],
    },
    /// Any other status, including a redirect without a usable Location.
    Status(u16),
    /// Failure of DNS, connection or TLS, a time-out, or a truncated body.
    Unreachable,
    /// More than five redirects, or a loop.
    TooManyRedirects,
    /// A redirect to an address that may not be called.
    RefusedHop,
    /// 304: the stored copy stays valid.
    NotModified,
}

words! {
    /// Standing of the robots.txt of one scheme, host and port.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Standing {
        /// The stored body is obeyed.
        Rules = "rules",
        /// There is no file (4xx except 401, 403 and 429): everything is allowed.
        AllowAll = "allow_all",
        /// Access is refused (401, 403): nothing is allowed.
        DisallowAll = "disallow_all",
        /// The server fails (5xx, 429): nothing is allowed except according to an older copy, see [`stands_in`].
        Unreachable = "unreachable",
    }
}

/// Returns the standing after a fetch according to RFC 9309 §2.3.1, with choices that fetch less: 401 and 403 disallow
/// everything; 429, a redirect to an address that may not be called, and an unknown status are failures.
pub fn classify(fetched: &Fetched<'_>) -> Standing {
    match fetched {
        Fetched::Success { .. } | Fetched::NotModified => Standing::Rules,
        Fetched::Status(401 | 403) => Standing::DisallowAll,
        Fetched::Status(429) => Standing::Unreachable,
        // 204 and 205 have no body; 206, unrequested, is only a part.
        Fetched::Status(204 | 205 | 300..=399 | 400..=499) | Fetched::TooManyRedirects => Standing::AllowAll,
        Fetched::Status(_) | Fetched::Unreachable | Fetched::RefusedHop => Standing::Unreachable,
    }
}

/// Meaning of the answer to a request for a licence (RSL).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LicenseAnswer {
    /// The answer is the licence.
    Content,
    /// There is no licence, so nothing is stated.
    Absent,
    /// The licence is refused to the crawler: its terms are unknown, neither a permission nor a prohibition.
    Refused,
}

/// Returns the meaning of the status of the answer to a request for a licence.
pub fn classify_license(status: u16) -> LicenseAnswer {
    match status {
        200 => LicenseAnswer::Content,
        202 | 401 | 402 | 403 | 429 | 451 => LicenseAnswer::Refused,
        _ => LicenseAnswer::Absent,
    }
}

/// Returns until when the result of a fetch may be used: `max-age` minus `Age` (seconds), within [`MIN_AGE`] and
/// [`MAX_AGE`]; an unreachable file is requested again after [`UNREACHABLE_RETRY`].
pub fn fresh_until(standing: Standing, cache_control: Option<&str>, age: Option<u64>, now: Timestamp) -> Timestamp {
    if standing == Standing::Unreachable {
        return now + UNREACHABLE_RETRY;
    }
    let age = Millis::from_secs(age.unwrap_or(0));
    let life = cache_control.and_then(lifetime).map_or(MAX_AGE, |life| life.saturating_sub(age));
    now + life.clamp(MIN_AGE, MAX_AGE)
}

/// True if a copy of `body_at` ([`Timestamp::MIN`] if there is none) is obeyed at `now` while its file is unreachable:
/// for [`TOO_LONG_UNREACHABLE`] (RFC 9309 §2.4). After that nothing is allowed, although §2.3.1.4 permits treating the
/// file as missing.
pub fn stands_in(body_at: Timestamp, now: Timestamp) -> bool {
    body_at > Timestamp::MIN && now.since(body_at) <= TOO_LONG_UNREACHABLE
}

/// Returns the lifetime of a response in a private cache (RFC 9111 §5.2.2).
fn lifetime(cache_control: &str) -> Option<Millis> {
    let lives = cache_control.split(',').filter_map(|directive| {
        let (name, value) = directive.split_once('=').unwrap_or((directive, ""));
        match name.trim().to_ascii_lowercase().as_str() {
            "no-store" | "no-cache" => Some(Millis::ZERO),
            "max-age" => delta_seconds(value),
            _ => None,
        }
    });
    lives.min()
}

/// Parses digits (RFC 9111 §1.2.2), with or without quotes; a value that overflows is capped.
fn delta_seconds(value: &str) -> Option<Millis> {
    let digits = value.trim().trim_matches('"');
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    Some(Millis::from_secs(digits.parse().unwrap_or(u64::MAX)))
}
