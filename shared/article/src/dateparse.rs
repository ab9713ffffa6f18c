//! Dates as pages write them: ISO 8601 and its misspellings, RFC 2822, numbers with a given order, months by name.

use curlew_model::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::{Offset, TimeZone};

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

/// The first date that is written somewhere in a text.
pub(crate) fn find(text: &str, order: Order) -> Option<Timestamp> {
    if text.len() > 4 * LONGEST {
        return None;
    }
    let words = words(text);
    (0..words.len()).find_map(|at| {
        let rest = words.get(at..).unwrap_or_default();
        numeric(rest, order).or_else(|| named(rest)).or_else(|| eastern(rest))
    })
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

/// The words and numbers of a text, with the mark that follows each.
fn words(text: &str) -> Vec<(&str, char)> {
    /// A date is not looked for further into a line than this.
    const MOST: usize = 60;
    let mut out = Vec::new();
    let mut rest = text;
    while out.len() < MOST {
        rest = rest.trim_start_matches(|c: char| !c.is_alphanumeric());
        let digits = rest.starts_with(|c: char| c.is_ascii_digit());
        let end = rest
            .find(|c: char| {
                !c.is_alphanumeric()
                    || c.is_ascii_digit() != digits
                    || matches!(c, '年' | '月' | '日' | '년' | '월' | '일')
            })
            .unwrap_or(rest.len());
        let end = if end == 0 { rest.chars().next().map_or(0, char::len_utf8) } else { end };
        let (word, after) = rest.split_at(end);
        if word.is_empty() {
            break;
        }
        out.push((word, after.chars().next().unwrap_or(' ')));
        rest = after;
    }
    out
}

/// `2026-05-01`, `01.05.2026`, `5/1/2026`: three numbers with the same mark between.
fn numeric(words: &[(&str, char)], order: Order) -> Option<Timestamp> {
    let [(a, mark), (b, second), (c, _), ..] = words else { return None };
    if mark != second || !matches!(mark, '-' | '/' | '.') || ![a, b, c].iter().all(|n| is_digits(n)) {
        return None;
    }
    let date = match (a.len(), b.len(), c.len()) {
        (4, 1..=2, 1..=2) => civil(a, b, c),
        (1..=2, 1..=2, 4) if *mark != '/' || order == Order::DayFirst => civil(c, b, a).or_else(|| civil(c, a, b)),
        (1..=2, 1..=2, 4) => civil(c, a, b).or_else(|| civil(c, b, a)),
        _ => None,
    };
    date.map(midnight)
}

/// `May 1, 2026`, `1 May 2026`, `1st of May 2026`, `1. Mai 2026`, `1 de mayo de 2026`.
fn named(words: &[(&str, char)]) -> Option<Timestamp> {
    let mut rest = words.iter().map(|(word, _)| *word).filter(|word| !is_filler(word)).take(3);
    let (first, second, third) = (rest.next()?, rest.next()?, rest.next()?);
    let date = if let Some(month) = month(first) {
        // Month first: the words between must really follow each other, as in a date.
        (is_digits(second) && is_digits(third) && second.len() <= 2 && third.len() == 4)
            .then(|| civil_of(third, month, second))
            .flatten()
    } else if is_digits(first) && first.len() <= 2 {
        month(second).filter(|_| is_digits(third) && third.len() == 4).and_then(|month| civil_of(third, month, first))
    } else if is_digits(first) && first.len() == 4 {
        month(second).filter(|_| is_digits(third) && third.len() <= 2).and_then(|month| civil_of(first, month, third))
    } else {
        None
    };
    date.map(midnight)
}

/// `2026年5月1日`, `2026년 5월 1일`.
fn eastern(words: &[(&str, char)]) -> Option<Timestamp> {
    let [(year, mark), (_, _), (month, second), (_, _), (day, third), ..] = words else { return None };
    let marks = matches!((mark, second, third), ('年', '月', '日') | ('년', '월', '일'));
    marks.then(|| civil(year, month, day)).flatten().map(midnight)
}

fn is_filler(word: &str) -> bool {
    matches!(
        word.to_lowercase().as_str(),
        "st" | "nd" | "rd" | "th" | "of" | "de" | "del" | "di" | "er" | "º" | "the" | "den"
    )
}

fn civil(year: &str, month: &str, day: &str) -> Option<Date> {
    civil_of(year, month.parse().ok()?, day)
}

fn civil_of(year: &str, month: i8, day: &str) -> Option<Date> {
    let year: i16 = year.parse().ok()?;
    believable(year).then(|| Date::new(year, month, day.parse().ok()?).ok()).flatten()
}

fn believable(year: i16) -> bool {
    (FIRST_YEAR..=LAST_YEAR).contains(&year)
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// The number of a month named in English, Italian, German, French, Spanish, Portuguese, Dutch, Polish, Russian,
/// Swedish, Danish or Turkish, by the letters it begins with.
fn month(word: &str) -> Option<i8> {
    if word.chars().count() < 3 || word.chars().count() > 11 || word.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let word = word.to_lowercase();
    MONTHS.iter().find(|(names, _)| names.split(' ').any(|name| word == name)).map(|(_, number)| *number)
}

const MONTHS: [(&str, i8); 12] = [
    ("jan january gen gennaio januar jänner janvier janv ene enero janeiro januari sty stycznia января янв ocak", 1),
    (
        "feb february febbraio februar février févr fevrier febrero fev fevereiro februari lut lutego февраля фев şubat",
        2,
    ),
    ("mar march marzo märz mrz mars março maart mrt marca марта мар marts mart", 3),
    ("apr april aprile avril avr abr abril kwi kwietnia апреля апр nisan", 4),
    ("may mai mag maggio mayo maio mei maj maja мая mayıs", 5),
    ("jun june giu giugno juni juin junio junho cze czerwca июня июн haziran", 6),
    ("jul july lug luglio juli juillet juil julio julho lip lipca июля июл temmuz", 7),
    ("aug august ago agosto août aout augustus sie sierpnia августа авг augusti ağustos", 8),
    ("sep sept september set settembre septembre septiembre setembro wrz września сентября сен eylül", 9),
    ("oct october ott ottobre okt oktober octobre octubre out outubro paź października октября окт ekim", 10),
    ("nov november novembre noviembre novembro lis listopada ноября ноя kasım", 11),
    (
        "dec december dic dicembre dez dezember décembre decembre déc diciembre dezembro gru grudnia декабря дек aralık",
        12,
    ),
];

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
        ] {
            assert_eq!(day(text).as_deref(), Some("2026-05-01T00:00:00Z"), "{text}");
        }
        assert_eq!(parse("5/1/2026", Order::MonthFirst).map(|t| t.day()).as_deref(), Some("2026-05-01"));
        assert_eq!(parse("13/1/2026", Order::MonthFirst).map(|t| t.day()).as_deref(), Some("2026-01-13"));
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
        ] {
            assert_eq!(day(text), None, "{text}");
        }
    }
}
