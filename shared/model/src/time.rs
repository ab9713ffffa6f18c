//! Instants and durations in milliseconds.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::ops::{Add, Sub};
use std::{fmt, str::FromStr};

/// A non-negative duration in milliseconds.
///
/// Serializes as an integer. Deserializes from an integer or a text such as `500ms`, `30s`, `5m`, `8h`, `7d`. A signed
/// integer is an error: it is a number without a unit in TOML settings, which people write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Millis(pub u64);

/// A text that is not a valid duration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is no length of time such as 500ms, 30s, 5m, 8h or 7d")]
pub struct InvalidMillis(String);

impl FromStr for Millis {
    type Err = InvalidMillis;
    fn from_str(text: &str) -> Result<Millis, InvalidMillis> {
        let invalid = || InvalidMillis(text.chars().take(40).collect());
        let digits = text.trim().trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let number: u64 = digits.trim().parse().map_err(|_| invalid())?;
        match &text.trim()[digits.len()..] {
            "ms" => Ok(Millis(number)),
            "s" => Ok(Millis::from_secs(number)),
            "m" | "min" => Ok(Millis::from_mins(number)),
            "h" => Ok(Millis::from_hours(number)),
            "d" => Ok(Millis::from_days(number)),
            _ => Err(invalid()),
        }
    }
}

impl<'de> Deserialize<'de> for Millis {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Millis, D::Error> {
        struct Either;
        impl serde::de::Visitor<'_> for Either {
            type Value = Millis;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a length of time such as \"500ms\", \"2s\", \"5m\", \"8h\" or \"7d\"")
            }
            fn visit_u64<E: serde::de::Error>(self, ms: u64) -> Result<Millis, E> {
                Ok(Millis(ms))
            }
            fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<Millis, E> {
                Err(E::custom(format!(
                    "{number} has no unit: write a length of time as \"500ms\", \"2s\", \"5m\" or \"8h\""
                )))
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Millis, E> {
                text.parse().map_err(E::custom)
            }
        }
        if d.is_human_readable() { d.deserialize_any(Either) } else { d.deserialize_u64(Either) }
    }
}

impl Millis {
    /// Zero duration.
    pub const ZERO: Millis = Millis(0);

    /// Converts seconds.
    pub const fn from_secs(secs: u64) -> Millis {
        Millis(secs.saturating_mul(1_000))
    }

    /// Converts minutes.
    pub const fn from_mins(mins: u64) -> Millis {
        Millis::from_secs(mins.saturating_mul(60))
    }

    /// Converts hours.
    pub const fn from_hours(hours: u64) -> Millis {
        Millis::from_mins(hours.saturating_mul(60))
    }

    /// Converts days of 24 hours.
    pub const fn from_days(days: u64) -> Millis {
        Millis::from_hours(days.saturating_mul(24))
    }

    /// Converts to [`std::time::Duration`].
    pub const fn as_duration(self) -> std::time::Duration {
        std::time::Duration::from_millis(self.0)
    }

    /// Converts from [`std::time::Duration`], rounded up to a whole millisecond.
    pub fn from_duration_ceil(d: std::time::Duration) -> Millis {
        let whole = u64::try_from(d.as_millis()).unwrap_or(u64::MAX);
        Millis(whole.saturating_add(u64::from(!d.subsec_nanos().is_multiple_of(1_000_000))))
    }

    /// Multiplies the duration; saturates on overflow.
    pub const fn saturating_mul(self, by: u64) -> Millis {
        Millis(self.0.saturating_mul(by))
    }

    /// Returns the difference to `other`, or zero if `other` is larger.
    pub const fn saturating_sub(self, other: Millis) -> Millis {
        Millis(self.0.saturating_sub(other.0))
    }
}

impl Add for Millis {
    type Output = Millis;
    fn add(self, other: Millis) -> Millis {
        Millis(self.0.saturating_add(other.0))
    }
}

/// Milliseconds since 1970, within the years 1 to 9999. Human-readable formats use RFC 3339 in UTC, others an integer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

/// A text that is not a valid RFC 3339 instant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not a date and time as RFC 3339 writes it")]
pub struct InvalidTimestamp(String);

impl Timestamp {
    /// 0001-01-01T00:00:00Z; stands for "never" in comparisons.
    pub const MIN: Timestamp = Timestamp(-62_135_596_800_000);
    /// 9999-12-30T00:00:00Z: one day before the calendar ends, so that it can be formatted with any offset.
    pub const MAX: Timestamp = Timestamp(253_402_128_000_000);
    /// 1970-01-01T00:00:00Z.
    pub const EPOCH: Timestamp = Timestamp(0);

    /// Converts milliseconds since the epoch, clamped to [`Timestamp::MIN`] and [`Timestamp::MAX`].
    pub const fn from_millis(ms: i64) -> Timestamp {
        if ms < Timestamp::MIN.0 {
            Timestamp::MIN
        } else if ms > Timestamp::MAX.0 {
            Timestamp::MAX
        } else {
            Timestamp(ms)
        }
    }

    /// Returns the milliseconds since the epoch.
    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// Returns the time since `earlier`; zero if `earlier` is later.
    pub fn since(self, earlier: Timestamp) -> Millis {
        Millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }

    /// Returns the whole minutes since the epoch, rounded down.
    pub const fn minute(self) -> i64 {
        self.0.div_euclid(60_000)
    }

    /// Returns the year in UTC.
    pub fn year(self) -> i16 {
        self.civil().year()
    }

    /// Returns the day in UTC as `2026-05-01`.
    pub fn day(self) -> String {
        self.civil().date().to_string()
    }

    /// Returns the day of the week in UTC; Monday is 0.
    pub fn weekday(self) -> u8 {
        u8::try_from(self.civil().weekday().to_monday_zero_offset()).unwrap_or(0)
    }

    /// Returns the hour of the day in UTC, 0 to 23.
    pub fn hour(self) -> u8 {
        u8::try_from(self.civil().hour()).unwrap_or(0)
    }

    /// Formats as an HTTP date, `Sat, 21 Nov 2026 03:04:05 GMT` (RFC 9110 §5.6.7), which is also valid in RSS 2.0.
    pub fn http_date(self) -> String {
        jiff::fmt::rfc2822::DateTimePrinter::new().timestamp_to_rfc9110_string(&self.jiff()).unwrap_or_default()
    }

    /// Parses a day such as `2026-05-01`, as its midnight in UTC, or an RFC 3339 instant.
    pub fn parse_day_or_instant(text: &str) -> Result<Timestamp, InvalidTimestamp> {
        // The instant is tried first, because the parser of days ignores everything after the date.
        let as_day = |invalid| {
            let date: jiff::civil::Date = text.parse().map_err(|_| invalid)?;
            let midnight = date.to_zoned(jiff::tz::TimeZone::UTC).map_err(|_| InvalidTimestamp(text.into()))?;
            Ok(Timestamp::from_millis(midnight.timestamp().as_millisecond()))
        };
        text.parse().or_else(as_day)
    }

    fn civil(self) -> jiff::civil::DateTime {
        jiff::tz::TimeZone::UTC.to_datetime(self.jiff())
    }

    /// Returns the instant as RFC 3339 in a zone `minutes` east of UTC; in UTC if there is no such zone.
    pub fn in_zone(self, minutes: i16) -> String {
        let offset = jiff::tz::Offset::from_seconds(i32::from(minutes) * 60);
        offset.map_or(self.to_string(), |offset| self.jiff().display_with_offset(offset).to_string())
    }

    fn jiff(self) -> jiff::Timestamp {
        // Both bounds lie inside jiff's range, so the fallback is never taken.
        jiff::Timestamp::from_millisecond(self.0).unwrap_or_default()
    }
}

impl Add<Millis> for Timestamp {
    type Output = Timestamp;
    fn add(self, by: Millis) -> Timestamp {
        Timestamp::from_millis(self.0.saturating_add(i64::try_from(by.0).unwrap_or(i64::MAX)))
    }
}

impl Sub<Millis> for Timestamp {
    type Output = Timestamp;
    fn sub(self, by: Millis) -> Timestamp {
        Timestamp::from_millis(self.0.saturating_sub(i64::try_from(by.0).unwrap_or(i64::MAX)))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.jiff(), f)
    }
}

impl FromStr for Timestamp {
    type Err = InvalidTimestamp;
    fn from_str(text: &str) -> Result<Timestamp, InvalidTimestamp> {
        text.parse::<jiff::Timestamp>()
            .map(|t| Timestamp::from_millis(t.as_millisecond()))
            .map_err(|_| InvalidTimestamp(text.chars().take(64).collect()))
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        if s.is_human_readable() { s.collect_str(self) } else { s.serialize_i64(self.0) }
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Timestamp, D::Error> {
        if d.is_human_readable() {
            String::deserialize(d)?.parse().map_err(serde::de::Error::custom)
        } else {
            i64::deserialize(d).map(Timestamp::from_millis)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timestamp_reads_back_what_it_writes() {
        for ms in [Timestamp::MIN.0, -1, 0, 1, 1_795_000_000_123, Timestamp::MAX.0] {
            let t = Timestamp::from_millis(ms);
            assert_eq!(t.to_string().parse(), Ok(t), "{t}");
        }
        assert_eq!(Timestamp::from_millis(0).to_string(), "1970-01-01T00:00:00Z");
    }

    #[test]
    fn arithmetic_stops_at_the_bounds() {
        assert_eq!(Timestamp::MAX + Millis(u64::MAX), Timestamp::MAX);
        assert_eq!(Timestamp::MIN - Millis(u64::MAX), Timestamp::MIN);
        assert_eq!(Timestamp::EPOCH.since(Timestamp::MAX), Millis::ZERO);
    }

    #[test]
    fn lengths_of_time_have_units() {
        for (text, ms) in [("500ms", 500), ("30s", 30_000), ("5m", 300_000), ("8h", 28_800_000), ("7d", 604_800_000)] {
            assert_eq!(text.parse(), Ok(Millis(ms)));
        }
        for bad in ["", "h", "5", "5w", "-1s", "1.5h"] {
            assert!(bad.parse::<Millis>().is_err(), "{bad:?}");
        }
        assert_eq!(serde_json::from_str::<Millis>("1500").ok(), Some(Millis(1_500)));
        assert_eq!(serde_json::from_str::<Millis>("\"2s\"").ok(), Some(Millis(2_000)));
        assert!(serde_json::from_str::<Millis>("-1").is_err());
    }

    #[test]
    fn a_day_is_its_midnight() {
        for (text, at) in [("2026-05-01", "00:00:00Z"), ("2026-05-01T17:00:00+02:00", "15:00:00Z")] {
            let read = Timestamp::parse_day_or_instant(text).map(|t| t.to_string());
            assert_eq!(read, Ok(format!("2026-05-01T{at}")));
        }
        assert!(Timestamp::parse_day_or_instant("soon").is_err());
    }
}
