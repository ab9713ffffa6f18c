//! Dates as pages write them: ISO 8601 and its misspellings, RFC 2822, numbers with a given order, months by name.

use crate::months::month;
use curlew_model::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::{Offset, TimeZone};
use std::borrow::Cow;
use unicode_normalization::char::is_combining_mark;

/// Which number of `03/04/2026` is the month.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    DayFirst,
    MonthFirst,
}

/// Earliest year that a web page can have.
const FIRST_YEAR: i16 = 1990;
/// Latest year believed; what is later than "now" is for the caller to clamp.
const LAST_YEAR: i16 = 2100;
/// Longer texts are no dates, in bytes.
const LONGEST: usize = 200;

/// The instant that a text, as a whole, stands for. A day alone is its midnight in UTC.
pub(crate) fn parse(text: &str, order: Order) -> Option<Timestamp> {
    let text = text.trim();
    if text.is_empty() || text.len() > LONGEST {
        return None;
    }
    iso(text).or_else(|| rfc2822(text)).or_else(|| epoch(text)).or_else(|| find(text, order))
}

/// Returns whether a text, as a whole, is a date as machines write it: ISO 8601, RFC 5322, or a count of seconds.
pub(crate) fn is_instant(text: &str) -> bool {
    let text = text.trim();
    text.len() <= LONGEST && (iso(text).is_some() || rfc2822(text).is_some() || epoch(text).is_some())
}

/// The first date that is written somewhere in a text.
pub(crate) fn find(text: &str, order: Order) -> Option<Timestamp> {
    find_all(text, order).first().map(|found| found.at)
}

/// A date in a line, and which bytes of the line (as [`plain`] leaves it) it is written in.
pub(crate) struct Written {
    pub(crate) at: Timestamp,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// Every date that is written in a text of at most a few lines.
pub(crate) fn find_all(text: &str, order: Order) -> Vec<Written> {
    if text.len() > 4 * LONGEST {
        return Vec::new();
    }
    let text = plain(text);
    if !text.bytes().any(|b| b.is_ascii_digit()) {
        return Vec::new();
    }
    let words = words(&text);
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(rest) = words.get(at..).filter(|rest| !rest.is_empty()) {
        let found = numeric(rest, order).or_else(|| named(rest)).or_else(|| eastern(rest));
        if let Some((date, used)) = found
            && let (Some(first), Some(last)) = (rest.first(), rest.get(used - 1))
        {
            out.push(Written { at: midnight(date), start: first.start, end: last.start + last.text.len() });
            at += used;
        } else {
            at += 1;
        }
    }
    out
}

/// A text with the digits of all scripts as ASCII ones (Unicode, general category Nd), and without the full stops of
/// Thai abbreviations (`พ.ค.`).
pub(crate) fn plain(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let is_thai = |c: char| ('\u{E01}'..='\u{E4E}').contains(&c);
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c == '.' && out.ends_with(is_thai) {
            continue;
        }
        out.push(digit(c).unwrap_or(c));
    }
    Cow::Owned(out)
}

/// The ASCII digit that a decimal digit of another script stands for.
fn digit(c: char) -> Option<char> {
    /// Zeros of the scripts whose digits are in use on the web: Arabic, Persian, Devanagari, Bengali, Gurmukhi, Gujarati,
    /// Tamil, Telugu, Kannada, Malayalam, Thai, Lao, Myanmar, Khmer, full-width.
    const ZEROS: [char; 15] = [
        '\u{660}', '\u{6F0}', '\u{966}', '\u{9E6}', '\u{A66}', '\u{AE6}', '\u{BE6}', '\u{C66}', '\u{CE6}', '\u{D66}',
        '\u{E50}', '\u{ED0}', '\u{1040}', '\u{17E0}', '\u{FF10}',
    ];
    let zero = ZEROS.iter().find(|zero| (0..10).contains(&(i64::from(u32::from(c)) - i64::from(u32::from(**zero)))))?;
    char::from_digit(u32::from(c) - u32::from(*zero), 10)
}

/// `2026-05-01`, with or without a time and an offset, in all the spellings that are in use.
fn iso(text: &str) -> Option<Timestamp> {
    let (date, rest) = if text.len() >= 10 && is_digits(text.get(..4)?) && !text.as_bytes().get(4)?.is_ascii_digit() {
        let mark = text.get(4..5).filter(|m| matches!(*m, "-" | "/" | "."))?;
        let mut parts = text.splitn(3, mark);
        let (year, month, rest) = (parts.next()?, parts.next()?, parts.next()?);
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count().min(2);
        (civil(year, month, rest.get(..digits)?)?, rest.get(digits..)?)
    } else if text.len() >= 8 && is_digits(text.get(..8)?) && !text.as_bytes().get(8).is_some_and(u8::is_ascii_digit) {
        (civil(text.get(..4)?, text.get(4..6)?, text.get(6..8)?)?, text.get(8..)?)
    } else {
        return None;
    };
    if rest.as_bytes().first().is_some_and(u8::is_ascii_digit) {
        return None;
    }
    Some(with_time(date, rest.trim_start_matches(['T', 't', ' ', ',', '_'])))
}

/// The instant of a day and what is written after it; a time that cannot be read counts as none.
fn with_time(date: Date, text: &str) -> Timestamp {
    let digits = |from: usize| text.get(from..from + 2).filter(|d| is_digits(d)).and_then(|d| d.parse::<i8>().ok());
    let colon = |at: usize| text.as_bytes().get(at) == Some(&b':');
    let (Some(hour), true, Some(minute)) = (digits(0), colon(2), digits(3)) else {
        return instant(date.at(0, 0, 0, 0), 0);
    };
    let second = if colon(5) { digits(6) } else { None };
    let rest = text.get(if second.is_some() { 8 } else { 5 }..).unwrap_or_default();
    let rest = rest.trim_start_matches(|c: char| c == '.' || c == ',' || c.is_ascii_digit()).trim_start();
    let hour = match (rest.get(..2), hour) {
        (Some(half), 1..=11) if half.eq_ignore_ascii_case("pm") => hour + 12,
        (Some(half), 12) if half.eq_ignore_ascii_case("am") => 0,
        _ => hour,
    };
    let Ok(time) = jiff::civil::Time::new(hour, minute, second.unwrap_or(0).min(59), 0) else {
        return instant(date.at(0, 0, 0, 0), 0);
    };
    instant(date.to_datetime(time), offset(rest))
}

/// Minutes east of UTC that a text in ISO 8601 or RFC 5322 states after its time; none if it states no zone.
pub(crate) fn zone(text: &str) -> Option<i16> {
    /// Longest zone: `+02:00`.
    const LONGEST: usize = 6;
    let text = text.trim();
    let colon = text.find(':')?;
    let after = text.get(colon..)?;
    if after.ends_with(['Z', 'z']) || after.ends_with("GMT") || after.ends_with("UTC") {
        return Some(0);
    }
    let sign = after.rfind(['+', '-']).filter(|at| after.len() - at <= LONGEST)?;
    let stated = after.get(sign..)?;
    let minutes = offset(stated) / 60;
    i16::try_from(minutes).ok()
}

/// Seconds east of UTC of `+02:00`, `-0500`, `+02`, ` +0200`; UTC for all else.
fn offset(text: &str) -> i32 {
    let sign = match text.as_bytes().first() {
        Some(b'+') => 1,
        Some(b'-') => -1,
        _ => return 0,
    };
    let digits: String = text.chars().skip(1).filter(|c| *c != ':').take_while(char::is_ascii_digit).take(4).collect();
    let part = |range: std::ops::Range<usize>| digits.get(range).and_then(|d| d.parse::<i32>().ok()).unwrap_or(0);
    let seconds = sign * (part(0..2) * 3_600 + part(2..4) * 60);
    // The widest offsets in use are -12:00 and +14:00.
    if (-50_400..=50_400).contains(&seconds) { seconds } else { 0 }
}

fn instant(at: DateTime, offset: i32) -> Timestamp {
    let zone = Offset::from_seconds(offset).map_or(TimeZone::UTC, TimeZone::fixed);
    at.to_zoned(zone).map_or(Timestamp::EPOCH, |zoned| Timestamp::from_millis(zoned.timestamp().as_millisecond()))
}

fn midnight(date: Date) -> Timestamp {
    instant(date.at(0, 0, 0, 0), 0)
}

/// `Fri, 01 May 2026 09:00:00 +0200` (RFC 5322 §3.3).
fn rfc2822(text: &str) -> Option<Timestamp> {
    let zoned = jiff::fmt::rfc2822::parse(text).ok()?;
    believable(zoned.year()).then(|| Timestamp::from_millis(zoned.timestamp().as_millisecond()))
}

/// Seconds or milliseconds since 1970.
fn epoch(text: &str) -> Option<Timestamp> {
    if !is_digits(text) || !matches!(text.len(), 10 | 13) {
        return None;
    }
    let number: i64 = text.parse().ok()?;
    let at = Timestamp::from_millis(if text.len() == 10 { number * 1_000 } else { number });
    believable(at.year()).then_some(at)
}

/// A word or a number of a text.
#[derive(Clone, Copy)]
struct Word<'a> {
    text: &'a str,
    /// The character that follows it.
    mark: char,
    /// Where it begins, in bytes.
    start: usize,
}

/// The words and numbers of a text.
fn words(text: &str) -> Vec<Word<'_>> {
    /// A date is not looked for further into a line than this.
    const MOST: usize = 60;
    let is_word = |c: char| c.is_alphanumeric() || is_combining_mark(c);
    let mut out = Vec::new();
    let mut rest = text;
    while out.len() < MOST {
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

/// `2026-05-01`, `01.05.2026`, `5/1/2026`, `2026. 5. 1.`: three numbers with the same mark between.
fn numeric(words: &[Word<'_>], order: Order) -> Option<(Date, usize)> {
    let [a, b, c, ..] = words else { return None };
    let mark = a.mark;
    let (a, b, c) = (a.text, b.text, if mark == b.mark { c.text } else { return None });
    if !matches!(mark, '-' | '/' | '.' | '／' | '．') || ![a, b, c].iter().all(|n| is_digits(n)) {
        return None;
    }
    let date = match (a.len(), b.len(), c.len()) {
        (4, 1..=2, 1..=2) => civil(a, b, c),
        (1..=2, 1..=2, 4) if mark != '/' || order == Order::DayFirst => civil(c, b, a).or_else(|| civil(c, a, b)),
        (1..=2, 1..=2, 4) => civil(c, a, b).or_else(|| civil(c, b, a)),
        _ => None,
    };
    date.map(|date| (date, 3))
}

/// `May 1, 2026`, `1 May 2026`, `1st of May 2026`, `1. Mai 2026`, `1 de mayo de 2026`, `1 tháng 5, 2026`.
fn named(words: &[Word<'_>]) -> Option<(Date, usize)> {
    let mut rest = words.iter().enumerate().filter(|(_, word)| !is_filler(word.text)).take(4);
    let mut next = || rest.next().map(|(at, word)| (at, word.text));
    let ((_, first), (_, second), (third_at, third)) = (next()?, next()?, next()?);
    let (date, last) = if let Some(month) = month(first) {
        // Month first: the words between must really follow each other, as in a date.
        let fits = is_digits(second) && is_digits(third) && second.len() <= 2 && third.len() == 4;
        (fits.then(|| civil_of(third, month, second)).flatten(), third_at)
    } else if is_digits(first) && first.len() <= 2 && second.eq_ignore_ascii_case("tháng") {
        let (at, year) = next()?;
        (civil(year, third, first), at)
    } else if is_digits(first) && first.len() <= 2 {
        let month = month(second).filter(|_| is_digits(third) && third.len() == 4);
        (month.and_then(|month| civil_of(third, month, first)), third_at)
    } else if is_digits(first) && first.len() == 4 {
        let month = month(second).filter(|_| is_digits(third) && third.len() <= 2);
        (month.and_then(|month| civil_of(first, month, third)), third_at)
    } else {
        (None, 0)
    };
    date.map(|date| (date, last + 1))
}

/// `2026年5月1日`, `令和8年5月1日`, `民國115年5月1日`, `2026년 5월 1일`.
fn eastern(words: &[Word<'_>]) -> Option<(Date, usize)> {
    let (since, skipped) = words.first().and_then(|word| era(word.text)).map_or((0, 0), |since| (since, 1));
    let [year, y, month, m, day, d, ..] = words.get(skipped..)? else { return None };
    let marks = matches!((y.text, m.text, d.text), ("年", "月", "日") | ("년", "월", "일"));
    let number = if since > 0 && year.text == "元" { 1 } else { year.text.parse::<i16>().ok()? };
    let date = marks.then(|| civil(&(since + number).to_string(), month.text, day.text)).flatten();
    date.map(|date| (date, skipped + 6))
}

/// The year before the first one of an era of Japan or of the Republic of China.
fn era(word: &str) -> Option<i16> {
    Some(match word {
        "令和" => 2018,
        "平成" => 1988,
        "民國" | "民国" => 1911,
        _ => return None,
    })
}

fn is_filler(word: &str) -> bool {
    matches!(
        word.to_lowercase().as_str(),
        "st" | "nd" | "rd" | "th" | "of" | "de" | "del" | "di" | "er" | "º" | "the" | "den" | "năm" | "г"
    )
}

fn civil(year: &str, month: &str, day: &str) -> Option<Date> {
    civil_of(year, month.parse().ok()?, day)
}

fn civil_of(year: &str, month: i8, day: &str) -> Option<Date> {
    /// The Buddhist era, which Thailand counts by, is so many years ahead.
    const BUDDHIST: i16 = 543;
    let year: i16 = year.parse().ok()?;
    let year = if believable(year - BUDDHIST) { year - BUDDHIST } else { year };
    believable(year).then(|| Date::new(year, month, day.parse().ok()?).ok()).flatten()
}

fn believable(year: i16) -> bool {
    (FIRST_YEAR..=LAST_YEAR).contains(&year)
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(text: &str) -> Option<String> {
        parse(text, Order::DayFirst).map(|t| t.to_string())
    }

    #[test]
    fn instants_are_read_in_all_their_spellings() {
        for text in [
            "2026-05-01T09:30:00+02:00",
            "2026-05-01T09:30:00.123+0200",
            "2026-05-01 09:30:00 +02:00",
            "2026-05-01T07:30Z",
            "20260501T07:30:00Z",
            "Fri, 01 May 2026 09:30:00 +0200",
        ] {
            assert_eq!(day(text).as_deref(), Some("2026-05-01T07:30:00Z"), "{text}");
        }
    }

    #[test]
    fn a_zone_is_told_only_where_it_is_stated() {
        assert_eq!(zone("2026-05-01T09:30:00+02:00"), Some(120));
        assert_eq!(zone("2026-05-01T09:30:00-0330"), Some(-210));
        assert_eq!(zone("Fri, 01 May 2026 09:30:00 +0200"), Some(120));
        assert_eq!(zone("2026-05-01T09:30Z"), Some(0));
        assert_eq!(zone("2026-05-01T09:30:00"), None);
        assert_eq!(zone("2026-05-01"), None);
    }

    #[test]
    fn days_are_read_in_many_languages() {
        for text in [
            "2026-05-01",
            "2026/05/01",
            "20260501",
            "01.05.2026",
            "1/5/2026",
            "May 1, 2026",
            "May 1st, 2026",
            "1 May 2026",
            "Friday, 1 May 2026",
            "1 maggio 2026",
            "1. Mai 2026",
            "1er mai 2026",
            "1 de mayo de 2026",
            "Pubblicato il 1 maggio 2026 alle 10",
            "2026年5月1日",
            "2026년 5월 1일",
            "1 мая 2026",
            "1 травня 2026 р.",
            "1 Μαΐου 2026",
            "٣٠ أبريل ثم ١ مايو ٢٠٢٦",
            "الجمعة 1 مايو 2026 - 10:30",
            "1 मई 2026",
            "१ मई २०२६",
            "1 พฤษภาคม 2569",
            "๑ พ.ค. ๒๕๖๙",
            "1 במאי 2026",
            "ngày 1 tháng 5 năm 2026",
            "2026. május 1.",
            "1. toukokuuta 2026",
            "2026. 5. 1. 오전 9:30",
            "2026.05.01",
            "令和8年5月1日(金)",
            "令和８年５月１日",
            "民國115年5月1日",
            "2026／5／1",
            "Thứ Sáu, 1/5/2026",
            "1 mai 2026",
        ] {
            assert_eq!(day(text).as_deref(), Some("2026-05-01T00:00:00Z"), "{text}");
        }
        assert_eq!(parse("5/1/2026", Order::MonthFirst).map(|t| t.day()).as_deref(), Some("2026-05-01"));
        assert_eq!(parse("13/1/2026", Order::MonthFirst).map(|t| t.day()).as_deref(), Some("2026-01-13"));
    }

    #[test]
    fn every_date_of_a_line_is_found_with_its_place() {
        let line = "公開 2026年5月1日 更新 2026年5月3日";
        let found: Vec<_> =
            find_all(line, Order::DayFirst).iter().map(|w| (w.at.day(), &line[w.start..w.end])).collect();
        assert_eq!(found, [("2026-05-01".to_owned(), "2026年5月1日"), ("2026-05-03".to_owned(), "2026年5月3日")]);
    }

    #[test]
    fn what_is_no_date_is_none() {
        for text in [
            "",
            "today",
            "1.2.3",
            "99999-01-01",
            "2026-13-01",
            "2026-02-30",
            "0000-00-00",
            "10:30",
            "1899-01-01",
            "123456789",
            "令和8年",
            "5月1日",
            "ข่าว 3 มี 4",
        ] {
            assert_eq!(day(text), None, "{text}");
        }
    }
}
