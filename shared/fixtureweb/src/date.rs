//! Civil dates without a clock: days since 1970-01-01, written in the forms that feeds and pages use.

/// Days from the epoch to 2026-11-14, the newest date in the bundled web.
pub(crate) const NEWEST: i64 = 20_771;

/// A second of a day, UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Stamp {
    days: i64,
    second: u32,
}

impl Stamp {
    pub(crate) const fn new(days: i64, second: u32) -> Stamp {
        Stamp { days, second: second % 86_400 }
    }

    /// Year, month, day (proleptic Gregorian calendar).
    pub(crate) const fn ymd(self) -> (i64, i64, i64) {
        let z = self.days + 719_468;
        let era = z.div_euclid(146_097);
        let doe = z.rem_euclid(146_097);
        let yoe = (doe - doe / 1_460 + doe / 36_524 - doe / 146_096) / 365;
        let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
        let mp = (5 * doy + 2) / 153;
        let month = if mp < 10 { mp + 3 } else { mp - 9 };
        (yoe + era * 400 + if month <= 2 { 1 } else { 0 }, month, doy - (153 * mp + 2) / 5 + 1)
    }

    /// `2026-11-14T08:30:00Z` (RFC 3339).
    pub(crate) fn rfc3339(self) -> String {
        let (h, m, s) = self.clock();
        format!("{}T{h:02}:{m:02}:{s:02}Z", self.date())
    }

    /// `2026-11-14`.
    pub(crate) fn date(self) -> String {
        let (year, month, day) = self.ymd();
        format!("{year:04}-{month:02}-{day:02}")
    }

    /// `Sat, 14 Nov 2026 08:30:00 GMT` (RFC 9110 §5.6.7; also good for RSS).
    pub(crate) fn http(self) -> String {
        const WEEKDAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
        const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
        let (year, month, day) = self.ymd();
        let (h, m, s) = self.clock();
        let weekday = WEEKDAYS[self.days.rem_euclid(7) as usize];
        let month = MONTHS[(month - 1).rem_euclid(12) as usize];
        format!("{weekday}, {day:02} {month} {year:04} {h:02}:{m:02}:{s:02} GMT")
    }

    const fn clock(self) -> (u32, u32, u32) {
        (self.second / 3600, self.second / 60 % 60, self.second % 60)
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
