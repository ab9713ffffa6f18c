//! Finds dates in running text, in many languages.

use super::digits::ascii_digits;
use super::names::{era, hijri_month, is_filler, month};
use super::parts::midnight;
use super::{Hints, Order};
use curlew_model::Timestamp;
use jiff::Span;
use jiff::civil::{Date, date};
use std::ops::RangeInclusive;
use unicode_normalization::char::is_combining_mark;

/// A day in a text, and its byte range in the text after [`ascii_digits`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DaySpan {
    /// Midnight in UTC of the day.
    pub at: Timestamp,
    /// Start of the range.
    pub start: usize,
    /// End of the range, exclusive.
    pub end: usize,
}

pub(super) fn find(text: &str, hints: &Hints) -> Vec<DaySpan> {
    let text = ascii_digits(text);
    if !text.bytes().any(|b| b.is_ascii_digit()) {
        return Vec::new();
    }
    let words = words(&text);
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(rest) = words.get(at..).filter(|rest| !rest.is_empty()) {
        let found = numeric(rest, hints).or_else(|| named(rest, hints)).or_else(|| eastern(rest, hints));
        if let Some((date, used)) = found
            && let (Some(first), Some(last), Some(midnight)) = (rest.first(), rest.get(used - 1), midnight(date))
        {
            out.push(DaySpan { at: midnight, start: first.start, end: last.start + last.text.len() });
            at += used;
        } else {
            at += 1;
        }
    }
    out
}

#[derive(Clone, Copy)]
struct Word<'a> {
    text: &'a str,
    /// Character that follows the word.
    mark: char,
    start: usize,
}

fn words(text: &str) -> Vec<Word<'_>> {
    const MAX_WORDS: usize = 60;
    let is_word = |c: char| c.is_alphanumeric() || is_combining_mark(c);
    let mut out = Vec::new();
    let mut rest = text;
    while out.len() < MAX_WORDS {
        rest = rest.trim_start_matches(|c: char| !is_word(c));
        let digits = rest.starts_with(|c: char| c.is_ascii_digit());
        let end = rest
            .find(|c: char| {
                !is_word(c) || c.is_ascii_digit() != digits || matches!(c, '年' | '月' | '日' | '년' | '월' | '일')
            })
            .unwrap_or(rest.len());
        let end = if end == 0 { rest.chars().next().map_or(0, char::len_utf8) } else { end };
        let (word, after) = rest.split_at(end);
        if word.is_empty() {
            break;
        }
        out.push(Word { text: word, mark: after.chars().next().unwrap_or(' '), start: text.len() - rest.len() });
        rest = after;
    }
    out
}

/// Parses `2026-05-01`, `01.05.2026`, `5/1/2026` or `2026. 5. 1.`: three numbers with equal separators.
fn numeric(words: &[Word<'_>], hints: &Hints) -> Option<(Date, usize)> {
    let [a, b, c, ..] = words else { return None };
    let mark = a.mark;
    let (a, b, c) = (a.text, b.text, if mark == b.mark { c.text } else { return None });
    if !matches!(mark, '-' | '/' | '.' | '／' | '．') || ![a, b, c].iter().all(|n| is_digits(n)) {
        return None;
    }
    let date = match (a.len(), b.len(), c.len()) {
        (4, 1..=2, 1..=2) => civil(hints, a, b, c)
            .or_else(|| b.parse().ok().filter(|_| hints.language == Some(*b"fa")).and_then(|b| common_day(a, b, c))),
        (1..=2, 1..=2, 4) if mark != '/' || hints.order == Order::DayFirst => {
            civil(hints, c, b, a).or_else(|| civil(hints, c, a, b))
        }
        (1..=2, 1..=2, 4) => civil(hints, c, a, b).or_else(|| civil(hints, c, b, a)),
        _ => None,
    };
    date.map(|date| (date, 3))
}

/// True for a whole text such as `01.05.26` or `5/1/26`, unless its language writes the year first.
pub(super) fn is_short(text: &str, hints: &Hints) -> bool {
    const YEAR_FIRST: [&[u8; 2]; 8] = [b"zh", b"ja", b"ko", b"hu", b"lt", b"sv", b"mn", b"fa"];
    let parts: Vec<&str> = text.split(['.', '/']).collect();
    let is_day = matches!(parts[..], [a, b, c] if a.len() <= 2 && b.len() <= 2 && c.len() == 2);
    is_day && parts.iter().all(|part| is_digits(part)) && hints.language.is_none_or(|code| !YEAR_FIRST.contains(&&code))
}

/// Parses `May 1, 2026`, `1 May 2026`, `1st of May 2026`, `1. Mai 2026`, `1 de mayo de 2026`, `1 tháng 5, 2026`.
fn named(words: &[Word<'_>], hints: &Hints) -> Option<(Date, usize)> {
    /// Number of words in `10:30:00 BST 2026`.
    const TIME_AND_YEAR: usize = 5;
    let mut rest = words.iter().enumerate().filter(|(_, word)| !is_filler(word.text)).take(4);
    let mut next = || rest.next().map(|(at, word)| (at, word.text));
    let ((_, first), (_, second), (third_at, third)) = (next()?, next()?, next()?);
    let (date, last) = if let Some(month) = month(first, hints) {
        // If the month is first, day and year must follow directly, or with a time between them (`asctime` in C).
        let is_timed = words.get(third_at).is_some_and(|word| word.mark == ':');
        let is_year = |text: &str| text.len() == 4 && is_digits(text) && !text.starts_with('0');
        let mut after = words.iter().enumerate().skip(third_at).take(if is_timed { TIME_AND_YEAR } else { 1 });
        let (year_at, year) = after.find(|(_, word)| is_year(word.text))?;
        let fits = is_digits(second) && second.len() <= 2;
        (fits.then(|| civil_of(hints, year.text, month, second)).flatten(), year_at)
    } else if is_digits(first) && first.len() <= 2 && second.eq_ignore_ascii_case("tháng") {
        let (at, year) = next()?;
        (civil(hints, year, third, first), at)
    } else if is_digits(first) && first.len() <= 2 {
        let day = || match month(second, hints) {
            Some(month) => civil_of(hints, third, month, first),
            None => common_day(third, hijri_month(second)?, first),
        };
        ((is_digits(third) && third.len() == 4).then(day).flatten(), third_at)
    } else if is_digits(first) && first.len() == 4 {
        let month = month(second, hints).filter(|_| is_digits(third) && third.len() <= 2);
        (month.and_then(|month| civil_of(hints, first, month, third)), third_at)
    } else {
        (None, 0)
    };
    date.map(|date| (date, last + 1))
}

/// Parses `2026年5月1日`, `令和8年5月1日`, `民國115年5月1日`, `2026년 5월 1일`.
fn eastern(words: &[Word<'_>], hints: &Hints) -> Option<(Date, usize)> {
    let (since, skipped) = words.first().and_then(|word| era(word.text)).map_or((0, 0), |since| (since, 1));
    let [year, y, month, m, day, d, ..] = words.get(skipped..)? else { return None };
    let marks = matches!((y.text, m.text, d.text), ("年", "月", "日") | ("년", "월", "일"));
    let number = if since > 0 && year.text == "元" { 1 } else { year.text.parse::<i16>().ok()? };
    let date = marks.then(|| civil(hints, &since.saturating_add(number).to_string(), month.text, day.text)).flatten();
    date.map(|date| (date, skipped + 6))
}

fn civil(hints: &Hints, year: &str, month: &str, day: &str) -> Option<Date> {
    civil_of(hints, year, month.parse().ok()?, day)
}

fn civil_of(hints: &Hints, year: &str, month: i8, day: &str) -> Option<Date> {
    Date::new(hints.year(year.parse().ok()?)?, month, day.parse().ok()?).ok()
}

/// Converts a date of the solar Hijri calendar, used in Iran. Returns `None` if the date does not exist, or is outside
/// the years in which the leap year rule below agrees with the calendar.
fn common_day(year: &str, month: i8, day: &str) -> Option<Date> {
    /// Years in which the rule is valid.
    const YEARS: RangeInclusive<i32> = 1300..=1472;
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

/// Returns the day number of the first day of a solar Hijri year: 8 of 33 years are leap years.
fn first_day(year: i32) -> i32 {
    /// Number of years by which the leap year cycle is shifted.
    const SHIFT: i32 = 1_595;
    let year = year + SHIFT;
    365 * year + year / 33 * 8 + (year % 33 + 3) / 4
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
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
