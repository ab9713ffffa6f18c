//! Civil dates without a clock: days since 1970-01-01, formatted for feeds and pages.

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::fmt::rfc2822::DateTimePrinter;
use jiff::tz::TimeZone;

/// Days from the epoch to 2026-11-14, the newest date in the bundled web.
pub(crate) const NEWEST: i64 = 20_771;

/// An instant with a precision of seconds, in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Stamp(Timestamp);

impl Stamp {
    pub(crate) fn new(days: i64, second: u32) -> Stamp {
        Stamp(Timestamp::from_second(days * 86_400 + i64::from(second % 86_400)).unwrap_or_default())
    }

    pub(crate) fn day(self) -> Date {
        TimeZone::UTC.to_datetime(self.0).date()
    }

    /// Formats as `2026-11-14T08:30:00Z` (RFC 3339).
    pub(crate) fn rfc3339(self) -> String {
        self.0.to_string()
    }

    /// Formats as `2026-11-14`.
    pub(crate) fn date(self) -> String {
        self.day().to_string()
    }

    /// Formats as `Sat, 14 Nov 2026 08:30:00 GMT` (RFC 9110 §5.6.7; also valid in RSS).
    pub(crate) fn http(self) -> String {
        DateTimePrinter::new().timestamp_to_rfc9110_string(&self.0).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_right() {
        assert_eq!(Stamp::new(0, 0).http(), "Thu, 01 Jan 1970 00:00:00 GMT");
        assert_eq!(Stamp::new(NEWEST, 30_600).http(), "Sat, 14 Nov 2026 08:30:00 GMT");
        assert_eq!(Stamp::new(NEWEST, 30_600).rfc3339(), "2026-11-14T08:30:00Z");
        assert_eq!(Stamp::new(11_016, 0).date(), "2000-02-29");
    }
}
