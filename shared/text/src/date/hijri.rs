//! Days of the solar Hijri calendar, which Iran uses.

use jiff::Span;
use jiff::civil::{Date, date};

/// Returns the day of the common era; `None` if the calendar has no such day, or if the year is none in which the rule
/// for leap years below is the calendar's own.
pub(super) fn common_day(year: &str, month: i8, day: &str) -> Option<Date> {
    /// Years for which the rule holds.
    const YEARS: std::ops::RangeInclusive<i32> = 1300..=1472;
    /// First day of the year 1405.
    const KNOWN: Date = date(2026, 3, 21);
    let (year, day) = (year.parse().ok().filter(|year| YEARS.contains(year))?, day.parse::<i32>().ok()?);
    let month = i32::from(month);
    let is_leap = first_day(year + 1) - first_day(year) == 366;
    let length = match month {
        1..=6 => 31,
        7..=11 => 30,
        12 => 29 + i32::from(is_leap),
        _ => return None,
    };
    let before = (month - 1) * 31 - (month - 7).max(0);
    let days = first_day(year) - first_day(1405) + before + day - 1;
    (1..=length).contains(&day).then(|| KNOWN.checked_add(Span::new().days(days)).ok())?
}

/// Returns the number of the first day of a year, counted from one that is the same for all: 8 of 33 years are leap
/// years.
fn first_day(year: i32) -> i32 {
    /// Years by which the cycle is shifted.
    const SHIFT: i32 = 1_595;
    let year = year + SHIFT;
    365 * year + year / 33 * 8 + (year % 33 + 3) / 4
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_of_iran_are_days_of_the_common_era() {
        for (year, month, day, common) in [
            ("1405", 1, "1", date(2026, 3, 21)),
            ("1405", 2, "11", date(2026, 5, 1)),
            ("1403", 12, "30", date(2025, 3, 20)),
            ("1404", 1, "1", date(2025, 3, 21)),
            ("1402", 7, "21", date(2023, 10, 13)),
            ("1399", 12, "30", date(2021, 3, 20)),
            ("1357", 11, "22", date(1979, 2, 11)),
        ] {
            assert_eq!(common_day(year, month, day), Some(common), "{year} {month} {day}");
        }
        for (year, month, day) in [("1405", 7, "31"), ("1404", 12, "30"), ("1405", 13, "1"), ("2026", 5, "1")] {
            assert_eq!(common_day(year, month, day), None, "{year} {month} {day}");
        }
    }
}
