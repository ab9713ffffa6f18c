//! Caching and retry headers (RFC 9110, RFC 9111), as far as a crawler acts upon them.

use crate::page::directives::parse_date;
use curlew_model::{Millis, Timestamp};

/// Returns the instant of a `Retry-After` value (RFC 9110 §10.2.3); `None` if it is past or invalid.
pub fn retry_after(value: &str, now: Timestamp) -> Option<Timestamp> {
    let value = value.trim();
    if !value.is_empty() && value.bytes().all(|b| b.is_ascii_digit()) {
        // A number that overflows still means "very long".
        let secs = value.parse::<u64>().unwrap_or(u64::MAX);
        return (secs > 0).then(|| now + Millis::from_secs(secs));
    }
    http_date(value).filter(|at| *at > now)
}

/// Parses an HTTP-date in any of its three forms (RFC 9110 §5.6.7), or another date that contains a letter.
pub fn http_date(value: &str) -> Option<Timestamp> {
    value.contains(|c: char| c.is_ascii_alphabetic()).then(|| parse_date(value)).flatten()
}

/// Returns the freshness lifetime of an answer from its creation: `max-age`, or else `Expires` minus `now` (RFC 9111
/// §4.2.1); `None` without either, or with `no-cache` or `no-store`. `Age` is not subtracted.
pub fn lifetime(cache_control: Option<&str>, expires: Option<&str>, now: Timestamp) -> Option<Millis> {
    let mut max_age = None;
    for directive in cache_control.unwrap_or_default().split(',') {
        let (name, value) = directive.split_once('=').unwrap_or((directive, ""));
        match name.trim().to_ascii_lowercase().as_str() {
            "no-cache" | "no-store" => return None,
            "max-age" => max_age = value.trim().trim_matches('"').parse::<u64>().ok().or(max_age),
            _ => {}
        }
    }
    let by_date = || expires.and_then(http_date).map(|at| at.since(now)).filter(|left| *left > Millis::ZERO);
    max_age.map(Millis::from_secs).or_else(by_date)
}

/// Parses an `Age` header (RFC 9111 §5.1); zero if it is missing or invalid.
pub fn age(value: Option<&str>) -> Millis {
    value.and_then(|age| age.trim().parse().ok()).map_or(Millis::ZERO, Millis::from_secs)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> Timestamp {
        "2026-11-21T00:00:00Z".parse().unwrap_or_default()
    }

    #[test]
    fn h08_retry_after_in_seconds_or_as_a_date() {
        assert_eq!(retry_after("120", now()), Some(now() + Millis::from_secs(120)));
        assert_eq!(retry_after("Sat, 21 Nov 2026 01:00:00 GMT", now()), Some(now() + Millis::from_hours(1)));
        for obsolete in ["Saturday, 21-Nov-26 01:00:00 GMT", "Sat Nov 21 01:00:00 2026"] {
            assert_eq!(retry_after(obsolete, now()), Some(now() + Millis::from_hours(1)), "{obsolete}");
        }
        for nonsense in ["", "-1", "0", "soon", "Fri, 99 Nov 2026 01:00:00 GMT", "Sat, 21 Nov 2020 01:00:00 GMT"] {
            assert_eq!(retry_after(nonsense, now()), None, "{nonsense:?}");
        }
        assert_eq!(retry_after("99999999999999999999", now()), Some(Timestamp::MAX));
    }

    #[test]
    fn h10_max_age_or_expires_and_nothing_where_neither_is_said() {
        let in_two_hours = Some("Sat, 21 Nov 2026 02:00:00 GMT");
        for (cache_control, expires, fresh) in [
            (Some("public, max-age=3600"), None, Some(Millis::from_hours(1))),
            (Some("max-age=\"60\""), in_two_hours, Some(Millis::from_secs(60))),
            (Some("max-age=60, no-store"), in_two_hours, None),
            (Some("No-Cache"), in_two_hours, None),
            (Some("max-age=x"), None, None),
            (None, in_two_hours, Some(Millis::from_hours(2))),
            (None, Some("Fri, 20 Nov 2026 02:00:00 GMT"), None),
            (None, Some("0"), None),
        ] {
            assert_eq!(lifetime(cache_control, expires, now()), fresh, "{cache_control:?} {expires:?}");
        }
    }

    #[test]
    fn h11_age_is_in_seconds_and_nonsense_is_none() {
        assert_eq!(age(Some(" 600 ")), Millis::from_secs(600));
        for nonsense in [None, Some("-1"), Some("old")] {
            assert_eq!(age(nonsense), Millis::ZERO);
        }
    }
}
