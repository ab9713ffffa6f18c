//! Dates as pages write them behind `unavailable_after`: RFC 822, RFC 850, asctime and ISO 8601, and what lies between.

use curlew_model::Timestamp;

/// No date that is meant as one is longer.
const MAX_DATE_BYTES: usize = 64;
const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const WEEKDAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
/// Names of zones and their minutes east of Greenwich: those of RFC 822 §5.1, and Europe's.
const ZONES: [(&str, i32); 22] = [
    ("gmt", 0),
    ("utc", 0),
    ("ut", 0),
    ("z", 0),
    ("est", -300),
    ("edt", -240),
    ("cst", -360),
    ("cdt", -300),
    ("mst", -420),
    ("mdt", -360),
    ("pst", -480),
    ("pdt", -420),
    ("wet", 0),
    ("west", 60),
    ("bst", 60),
    ("cet", 60),
    ("cest", 120),
    ("met", 60),
    ("mest", 120),
    ("eet", 120),
    ("eest", 180),
    ("msk", 180),
];

/// Reads a date with or without time and zone; without a zone UTC is meant, without a time the day's beginning.
///
/// A year of two digits is read as RFC 2822 §4.3 says. `None` for what is no date, or a day that no calendar has.
pub fn parse_date(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    if text.is_empty() || text.len() > MAX_DATE_BYTES {
        return None;
    }
    iso(text).or_else(|| Words::read(text)?.instant())
}

/// Whether this is the English name of a weekday, whole or its first three letters.
pub(super) fn is_weekday(word: &str) -> bool {
    let word = word.to_ascii_lowercase();
    word.len() >= 3 && WEEKDAYS.iter().any(|day| day.starts_with(&word))
}

/// ISO 8601 as far as RFC 3339 has it; also without a zone, and with a blank in place of the `T`.
fn iso(text: &str) -> Option<Timestamp> {
    if !text.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let parse = |t: &str| t.parse::<Timestamp>().ok();
    let day = || parse(&format!("{text}T00:00:00Z"));
    parse(text).or_else(|| parse(&format!("{text}Z"))).or_else(day).or_else(|| {
        // `2026-05-01 10:00 UTC`, `2026-05-01T10:00 +0200`
        let (stamp, zone) = text.rsplit_once(' ')?;
        let minutes = zone_name(zone).or_else(|| offset(zone))?;
        parse(&format!("{stamp}{}", offset_text(minutes)))
    })
}

/// The parts of a date written in words, in whatever order they come.
#[derive(Default)]
struct Words {
    day: Option<u8>,
    month: Option<usize>,
    year: Option<u16>,
    time: Option<(u8, u8, u8)>,
    afternoon: Option<bool>,
    zone: Option<i32>,
}

impl Words {
    fn read(text: &str) -> Option<Words> {
        let mut words = Words::default();
        for word in text.split([' ', '\t', ',']).filter(|w| !w.is_empty()) {
            words.take(word)?;
        }
        Some(words)
    }

    /// `None` ends the reading: a word that no date has.
    fn take(&mut self, word: &str) -> Option<()> {
        let lower = word.to_ascii_lowercase();
        if let Some(minutes) = offset(word).filter(|_| self.time.is_some()) {
            self.zone = Some(minutes);
        } else if let Some((day, month_year)) = word.split_once('-') {
            let (month, year) = month_year.split_once('-')?;
            self.number(day)?;
            self.month = Some(month_number(&month.to_ascii_lowercase())?);
            self.number(year)?;
        } else if word.contains(':') {
            self.time = Some(clock(lower.trim_end_matches('z'))?);
        } else if word.starts_with(|c: char| c.is_ascii_digit()) {
            self.number(&lower)?;
        } else if let Some(month) = month_number(&lower) {
            self.month = Some(month);
        } else if let Some(minutes) = zone_name(&lower) {
            self.zone = Some(minutes);
        } else if lower == "am" || lower == "pm" {
            self.afternoon = Some(lower == "pm");
        } else if !is_weekday(&lower) && !self.is_unknown_zone(word) {
            return None;
        }
        Some(())
    }

    /// Letters behind the time are a zone that we do not know; at most 14 hours are lost by taking it for UTC.
    fn is_unknown_zone(&self, word: &str) -> bool {
        self.time.is_some() && word.len() <= 5 && word.bytes().all(|b| b.is_ascii_alphabetic())
    }

    /// The first number of at most two digits is the day, the other one the year.
    fn number(&mut self, digits: &str) -> Option<()> {
        let value: u16 = digits.parse().ok()?;
        if digits.len() <= 2 && self.day.is_none() {
            self.day = u8::try_from(value).ok();
        } else if self.year.is_none() {
            self.year = Some(match (digits.len(), value) {
                (2, 0..=49) => 2000 + value,
                (2 | 3, _) => 1900 + value,
                _ => value,
            });
        } else {
            return None;
        }
        Some(())
    }

    fn instant(&self) -> Option<Timestamp> {
        let (hour, minute, second) = self.time.unwrap_or_default();
        let hour = match self.afternoon {
            Some(true) if hour < 12 => hour + 12,
            Some(false) if hour == 12 => 0,
            _ => hour,
        };
        let zone = offset_text(self.zone.unwrap_or(0));
        let (year, month, day) = (self.year?, self.month?, self.day?);
        // A leap second is read as the one before it; jiff refuses days that are none.
        let second = second.min(59);
        format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{zone}").parse().ok()
    }
}

fn month_number(word: &str) -> Option<usize> {
    let letters = word.trim_end_matches('.');
    let head = letters.get(..3)?;
    letters
        .bytes()
        .all(|b| b.is_ascii_alphabetic())
        .then(|| MONTHS.iter().position(|m| *m == head))
        .flatten()
        .map(|n| n + 1)
}

/// `15:00` or `15:00:30`, fractions dropped.
fn clock(word: &str) -> Option<(u8, u8, u8)> {
    let mut numbers = word.split(':').map(|n| n.split('.').next().unwrap_or_default().parse::<u8>().ok());
    let (hour, minute) = (numbers.next()??, numbers.next()??);
    let second = numbers.next().unwrap_or(Some(0))?;
    numbers.next().is_none().then_some((hour, minute, second))
}

fn zone_name(word: &str) -> Option<i32> {
    ZONES.iter().find(|(name, _)| word.eq_ignore_ascii_case(name)).map(|(_, minutes)| *minutes)
}

/// `+0200`, `-05:00`: minutes east of Greenwich.
fn offset(word: &str) -> Option<i32> {
    let sign = match word.as_bytes().first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let digits = word.get(1..)?.replace(':', "");
    if digits.len() != 4 || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let (hours, minutes) = (digits.get(..2)?.parse::<i32>().ok()?, digits.get(2..)?.parse::<i32>().ok()?);
    (hours <= 14 && minutes < 60).then_some(sign * (hours * 60 + minutes))
}

fn offset_text(minutes: i32) -> String {
    let sign = if minutes < 0 { '-' } else { '+' };
    format!("{sign}{:02}:{:02}", minutes.abs() / 60, minutes.abs() % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_instant_in_every_form() {
        let expected = "2027-08-25T15:00:00Z".parse().ok();
        for text in [
            "Wed, 25 Aug 2027 15:00:00 GMT",
            "25 Aug 27 15:00 UT",
            "Wednesday, 25-Aug-27 15:00:00 GMT",
            "25-Aug-2027 10:00:00 EST",
            "25 August 2027 17:00:00 +0200",
            "Wed Aug 25 15:00:00 2027",
            "Aug 25, 2027 3:00 PM",
            "25 Aug 2027 15:00:00 XYZ",
            "2027-08-25T15:00:00Z",
            "2027-08-25T17:00:00+02:00",
            "2027-08-25T15:00",
            "2027-08-25 15:00:00",
            "2027-08-25 17:00:00 CEST",
            "2027-08-25T15:00:00.000Z",
        ] {
            assert_eq!(parse_date(text), expected, "{text}");
        }
    }

    #[test]
    fn a_day_alone_is_its_beginning() {
        let expected = "2027-08-25T00:00:00Z".parse().ok();
        for text in ["2027-08-25", "25 Aug 2027", "25-Aug-2027", "Wed, 25 Aug 2027"] {
            assert_eq!(parse_date(text), expected, "{text}");
        }
        assert_eq!(parse_date("25 Aug 94").map(|t| t.year()), Some(1994));
    }

    #[test]
    fn what_is_no_date_is_none() {
        for text in [
            "",
            "soon",
            "25 Foo 2027",
            "31 Feb 2027",
            "2027-02-31",
            "25:00",
            "Aug 2027",
            "1 2 3 4",
            "12:00:00:00 1 Jan 2027",
            "99 Aug 2027 15:00:00 GMT",
            "-",
            "--",
            "a-b-c",
            "25 Aug 2027 99:99",
        ] {
            assert_eq!(parse_date(text), None, "{text:?}");
        }
        assert_eq!(parse_date(&"1 ".repeat(40_000)), None);
    }
}
