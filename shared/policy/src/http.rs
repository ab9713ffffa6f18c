//! What caching and retry headers mean (RFC 9110, RFC 9111), as far as a crawler acts upon them.

use crate::directives::parse_date;
use curlew_model::{Millis, Timestamp};

/// The instant that a `Retry-After` names: seconds or an HTTP-date (RFC 9110 §10.2.3). A date in the
/// past, a negative number or nonsense names none.
pub fn retry_after(value: &str, now: Timestamp) -> Option<Timestamp> {
    let value = value.trim();
    if !value.is_empty() && value.bytes().all(|b| b.is_ascii_digit()) {
        // So many digits that they overflow still mean "very long".
        let secs = value.parse::<u64>().unwrap_or(u64::MAX);
        return (secs > 0).then(|| now + Millis::from_secs(secs));
    }
    http_date(value).filter(|at| *at > now)
}

/// An HTTP-date in any of its three forms (RFC 9110 §5.6.7). A bare number is no date.
pub fn http_date(value: &str) -> Option<Timestamp> {
    let value = value.trim();
    let parser = jiff::fmt::rfc2822::DateTimeParser::new().relaxed_weekday(true);
    let preferred = parser.parse_timestamp(value).map(|at| Timestamp::from_millis(at.as_millisecond()));
    // The obsolete forms begin with the day of the week.
    let obsolete = || value.starts_with(|c: char| c.is_ascii_alphabetic()).then(|| parse_date(value)).flatten();
    preferred.ok().or_else(obsolete)
}

/// How long an answer stays fresh: `max-age` less `Age`, or `Expires` (RFC 9111 §4.2). `None` if it does
/// not say, or says that it must not be stored.
pub fn fresh_for(
    cache_control: Option<&str>,
    age: Option<&str>,
    expires: Option<&str>,
    now: Timestamp,
) -> Option<Millis> {
    let mut max_age = None;
    for directive in cache_control.unwrap_or_default().split(',') {
        let (name, value) = directive.split_once('=').unwrap_or((directive, ""));
        match name.trim().to_ascii_lowercase().as_str() {
            "no-cache" | "no-store" => return None,
            "max-age" => max_age = value.trim().trim_matches('"').parse::<u64>().ok().or(max_age),
            _ => {}
        }
    }
    if let Some(secs) = max_age {
        let age = age.and_then(|a| a.trim().parse::<u64>().ok()).unwrap_or(0);
        return Some(Millis::from_secs(secs.saturating_sub(age)));
    }
    expires.and_then(http_date).map(|at| at.since(now)).filter(|left| *left > Millis::ZERO)
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
    fn h10_h11_max_age_less_age() {
        assert_eq!(fresh_for(Some("public, max-age=3600"), Some("600"), None, now()), Some(Millis::from_secs(3_000)));
        assert_eq!(fresh_for(Some("max-age=60, no-store"), None, None, now()), None);
        assert_eq!(fresh_for(Some("max-age=x"), None, None, now()), None);
        assert_eq!(fresh_for(None, None, Some("Sat, 21 Nov 2026 02:00:00 GMT"), now()), Some(Millis::from_hours(2)));
        assert_eq!(fresh_for(None, None, Some("0"), now()), None);
    }
}
