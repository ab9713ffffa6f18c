//! Dates as feeds write them: RFC 822 and its successors, RFC 3339 and ISO 8601, and what people make of them.
//!
//! One pass over a short text, no recursion. A date without a zone is taken as UTC; one without a time as midnight.

mod names;
mod strict;

use self::names::{month, zone};
use curlew_model::Timestamp;

/// Signs of a date that are looked at, comments left out.
const MAX_CHARS: usize = 96;

/// Words of a date that are looked at.
const MAX_WORDS: usize = 24;
/// Korea's time as it is written there.
const KOREAN_ZONES: [&str; 3] = [
    "\u{D55C}\u{AD6D} \u{D45C}\u{C900}\u{C2DC}",
    "\u{D55C}\u{AD6D}\u{D45C}\u{C900}\u{C2DC}",
    "\u{B300}\u{D55C}\u{BBFC}\u{AD6D} \u{D45C}\u{C900}\u{C2DC}",
];

/// The instant that a text means, or `None`: no guess is made where no day can be told.
pub(crate) fn parse(text: &str) -> Option<Timestamp> {
    if let Some(millis) = strict::rss(text).or_else(|| strict::atom(text)).and_then(Moment::instant) {
        return Some(Timestamp::from_millis(millis));
    }
    let text = normalise(text);
    if is_malformed(&text) {
        return None;
    }
    let moment = number(&text)
        .or_else(|| iso(&text).and_then(Moment::instant))
        .or_else(|| words(&text).and_then(Moment::instant));
    moment.map(Timestamp::from_millis)
}

/// The day of the week that an English name means, Monday being 0.
pub(crate) fn weekday(text: &str) -> Option<u8> {
    let text = text.trim().to_ascii_lowercase();
    let days = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
    let day = days.iter().position(|d| text.len() >= 3 && d.starts_with(&text))?;
    u8::try_from(day).ok()
}

/// Parts of a date and time.
#[derive(Clone, Copy, Debug, Default)]
struct Moment {
    year: i32,
    month: i32,
    day: i32,
    /// Seconds since midnight.
    seconds: i64,
    /// Thousandths of a second.
    millis: i64,
    /// Seconds east of Greenwich.
    offset: i64,
}

impl Moment {
    fn instant(self) -> Option<i64> {
        let part = |n: i32| i8::try_from(n).ok();
        let year = i16::try_from(self.year).ok().filter(|y| (1..=9999).contains(y))?;
        // The 31st of a month that has 30 days is taken as the day after its last.
        let days = i64::from(self.day - 1);
        let first = jiff::civil::Date::new(year, part(self.month)?, 1).ok().filter(|_| (0..=30).contains(&days))?;
        let midnight = jiff::tz::Offset::UTC.to_timestamp(first.at(0, 0, 0, 0)).ok()?.as_second();
        Some((midnight + days * 86_400 + self.seconds - self.offset) * 1_000 + self.millis)
    }
}

/// Comments out (RFC 5322 §3.2.2, however deep), lower case, one kind of space, East Asian units as signs.
fn normalise(text: &str) -> String {
    let mut depth = 0_usize;
    let mut out = String::new();
    // Its last sign is that of an hour, too.
    let zone = KOREAN_ZONES.iter().find_map(|zone| text.split_once(zone));
    let (text, zone) = zone.map_or((text, ""), |(before, _)| (before, " kst"));
    for c in text.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ if depth > 0 => {}
            _ if out.len() >= MAX_CHARS => break,
            '\u{5E74}' | '\u{B144}' | '\u{6708}' | '\u{C6D4}' => out.push('-'),
            '\u{65E5}' | '\u{C77C}' | '\u{79D2}' | '\u{CD08}' => out.push(' '),
            '\u{6642}' | '\u{C2DC}' | '\u{5206}' | '\u{BD84}' => out.push(':'),
            '\u{2212}' | '\u{2010}'..='\u{2013}' => out.push('-'),
            c if c.is_whitespace() || c.is_control() => out.push(' '),
            c => out.extend(c.to_lowercase()),
        }
    }
    // Korean morning and afternoon stand before the time.
    let out = out.replace("\u{C624}\u{C804}", "am ").replace("\u{C624}\u{D6C4}", "pm ");
    let out = out.replace("- ", "-");
    format!("{}{zone}", out.trim())
}

/// A month of three digits, as in `2003-012-31`: neither a month nor the day of a year.
fn is_malformed(text: &str) -> bool {
    let mut at = Cursor(text);
    let digits = |at: &mut Cursor<'_>, most| at.digits(most).map(|(_, count)| count);
    digits(&mut at, 4) == Some(4)
        && at.take(&['-']).is_some()
        && digits(&mut at, 3) == Some(3)
        && at.0.starts_with(|c: char| c == '-' || c.is_ascii_digit())
}

/// Digits only: seconds or milliseconds since 1970, or a date written without separators.
fn number(text: &str) -> Option<i64> {
    if !text.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    match text.len() {
        9..=11 => text.parse::<i64>().ok().map(|s| s * 1_000),
        13 => text.parse().ok(),
        14 => {
            let (date, time) = text.split_at(8);
            iso(&format!("{date}t{time}")).and_then(Moment::instant)
        }
        _ => None,
    }
}

/// A text that is read from the left.
struct Cursor<'a>(&'a str);

impl<'a> Cursor<'a> {
    /// Up to `most` digits, as a number and their count.
    fn digits(&mut self, most: usize) -> Option<(i32, usize)> {
        let count = self.0.bytes().take(most).take_while(u8::is_ascii_digit).count();
        let (digits, rest) = self.0.split_at(count);
        let number = digits.parse().ok()?;
        self.0 = rest;
        Some((number, count))
    }

    fn take(&mut self, signs: &[char]) -> Option<char> {
        let first = self.0.chars().next().filter(|c| signs.contains(c))?;
        self.0 = &self.0[first.len_utf8()..];
        Some(first)
    }

    fn letters(&mut self) -> &'a str {
        let end = self.0.find(|c: char| !c.is_alphabetic()).unwrap_or(self.0.len());
        let (letters, rest) = self.0.split_at(end);
        self.0 = rest;
        letters
    }

    fn spaces(&mut self) {
        self.0 = self.0.trim_start_matches([' ', ',']);
    }
}

/// Year first: ISO 8601 with its week and ordinal dates, and what resembles it.
fn iso(text: &str) -> Option<Moment> {
    let mut at = Cursor(text);
    let (year, 4) = at.digits(4)? else { return None };
    let mut moment = Moment { year, month: 1, day: 1, ..Moment::default() };
    let separated = at.take(&['-', '/', '.']).is_some();
    if at.take(&['w']).is_some() {
        moment = week_date(year, &mut at)?;
    } else if let Some((number, count)) = at.digits(if separated { 3 } else { 4 }) {
        match (count, separated) {
            (3, _) => moment = ordinal_date(year, number)?,
            (4, false) => (moment.month, moment.day) = (number / 100, number % 100),
            (2, false) => moment.month = number,
            (1 | 2, true) => {
                moment.month = number;
                day_after(&mut at, &mut moment)?;
            }
            _ => return None,
        }
    } else if separated {
        moment.month = month(at.letters())?;
        day_after(&mut at, &mut moment)?;
    } else if !at.0.is_empty() {
        return None;
    }
    if at.take(&['t']).is_none() {
        at.spaces();
        if at.0.strip_prefix('t').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit())) {
            at.take(&['t']);
        }
    }
    time_and_zone(at, &mut moment)?;
    Some(moment)
}

fn day_after(at: &mut Cursor<'_>, moment: &mut Moment) -> Option<()> {
    if at.take(&['-', '/', '.']).is_some() && !at.0.is_empty() {
        moment.day = at.digits(2)?.0;
    }
    Some(())
}

fn ordinal_date(year: i32, day: i32) -> Option<Moment> {
    let first = jiff::civil::Date::new(i16::try_from(year).ok()?, 1, 1).ok()?;
    let date = first.with().day_of_year(i16::try_from(day).ok()?).build().ok()?;
    Some(Moment { year, month: date.month().into(), day: date.day().into(), ..Moment::default() })
}

fn week_date(year: i32, at: &mut Cursor<'_>) -> Option<Moment> {
    let (week, _) = at.digits(2)?;
    at.take(&['-']);
    let day = at.digits(1).map_or(1, |(d, _)| d);
    let weekday = jiff::civil::Weekday::from_monday_one_offset(i8::try_from(day).ok()?).ok()?;
    let week = jiff::civil::ISOWeekDate::new(i16::try_from(year).ok()?, i8::try_from(week).ok()?, weekday).ok()?;
    let date = week.date();
    Some(Moment { year: date.year().into(), month: date.month().into(), day: date.day().into(), ..Moment::default() })
}

/// What follows a date: nothing, or a time and perhaps a zone.
fn time_and_zone(at: Cursor<'_>, moment: &mut Moment) -> Option<()> {
    let rest = at.0.trim();
    if !rest.is_empty() {
        let mut read = Words { moment: *moment, ..Words::default() };
        let (head, tail) = rest.split_at(rest.find(' ').unwrap_or(rest.len()));
        match head.bytes().all(|b| b.is_ascii_digit()) && head.len() != 2 {
            true => read.time(&compact_time(head)?)?,
            false if head.starts_with(|c: char| c.is_ascii_digit()) => read.time(&spread_time(head))?,
            false => read.word(head),
        }
        tail.split([' ', ',']).filter(|w| !w.is_empty()).for_each(|w| read.word(w));
        *moment = read.finish_time()?;
    }
    Some(())
}

/// `0400` and `040001` with their colons.
fn compact_time(digits: &str) -> Option<String> {
    match digits.len() {
        4 => Some(format!("{}:{}", &digits[..2], &digits[2..])),
        6 => Some(format!("{}:{}:{}", &digits[..2], &digits[2..4], &digits[4..])),
        _ => None,
    }
}

/// `040001z` with its colons; what has some already stays.
fn spread_time(text: &str) -> String {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    match compact_time(&text[..digits]) {
        Some(time) if !text[digits..].starts_with(':') => format!("{time}{}", &text[digits..]),
        _ => text.to_owned(),
    }
}

/// Words in whatever order: `tue, 10 jun 2025 04:00:01 gmt`, `june 10, 2025`, `10.06.2025 4:00 pm`.
fn words(text: &str) -> Option<Moment> {
    let mut read = Words::default();
    for word in text.split([' ', ',', ';', '|']).filter(|w| !w.is_empty()).take(MAX_WORDS) {
        read.word(word);
    }
    read.finish()
}

/// What was found among the words of a date.
#[derive(Default)]
struct Words {
    moment: Moment,
    has_time: bool,
    afternoon: Option<bool>,
    day: Option<i32>,
    month: Option<i32>,
    year: Option<i32>,
}

impl Words {
    fn word(&mut self, word: &str) {
        let signed = word.starts_with(['+', '-']);
        if signed && self.has_time {
            if let Some(offset) = offset(word) {
                self.moment.offset += offset;
            }
        } else if word.contains(':') && word.starts_with(|c: char| c.is_ascii_digit()) {
            let _ = self.time(word);
        } else if word.starts_with(|c: char| c.is_ascii_digit()) {
            self.numbers(word);
        } else {
            self.name(word);
        }
    }

    /// `10`, `10th`, `2025`, `10-jun-2025`, `06/10/2025`, `10.06.2025`, and an hour as in `4pm`.
    fn numbers(&mut self, word: &str) {
        let parts: Vec<&str> = word.split(['-', '/', '.']).filter(|p| !p.is_empty()).collect();
        if let [a, b, c] = parts[..]
            && let (Ok(a), Ok(b), Ok(c)) = (a.parse(), b.parse(), c.parse())
        {
            let two_digits = word.len() == "26-05-03".len() && word.matches('-').count() == 2;
            return self.numeric_date(a, b, c, word.contains('/'), two_digits);
        }
        for part in parts {
            let digits = part.bytes().take_while(u8::is_ascii_digit).count();
            let (number, suffix) = part.split_at(digits);
            match (number.parse::<i32>(), suffix) {
                (Ok(hour), "am" | "pm") if !self.has_time => {
                    self.has_time = true;
                    self.afternoon = Some(suffix == "pm");
                    self.moment.seconds = i64::from(hour) * 3_600;
                }
                (Ok(number), _) => self.number(number, digits),
                (Err(_), name) => self.name(name),
            }
        }
    }

    fn number(&mut self, number: i32, digits: usize) {
        match digits {
            1 | 2 if self.day.is_none() && number <= 31 => self.day = Some(number),
            1 | 2 if self.year.is_none() => self.year = Some(whole_year(number)),
            3 | 4 if self.year.is_none() => self.year = Some(if digits == 3 { number + 1900 } else { number }),
            // More digits are no year, and no date is better than a wrong one.
            5.. => self.year = Some(0),
            _ => {}
        }
    }

    /// Three numbers: the month first with slashes, as Americans write; the year first with dashes and two digits each, as ISO
    /// 8601 had it; the day first otherwise; unless that cannot be.
    fn numeric_date(&mut self, a: i32, b: i32, c: i32, slashes: bool, two_digits: bool) {
        let (day, month, year) = match (a, b, c) {
            (1_000.., _, _) => (c, b, a),
            (_, 1..=12, 1..=31) if two_digits => (c, b, a),
            _ if slashes && a <= 12 || b > 12 => (b, a, c),
            _ => (a, b, c),
        };
        (self.day, self.month) = (Some(day), Some(month));
        self.year = Some(if year < 100 { whole_year(year) } else { year });
    }

    /// A month, a zone, morning or afternoon; any other name, such as a day's, says nothing that is needed.
    fn name(&mut self, word: &str) {
        let word = word.trim_matches('.');
        match word {
            "am" | "a.m" => self.afternoon = Some(false),
            "pm" | "p.m" => self.afternoon = Some(true),
            _ => {
                let name = word.split(['+', '-']).next().unwrap_or(word);
                // "at" is Atlantic time after a time, and a word before it.
                if let Some(minutes) = zone(name).filter(|_| name != "at" || self.has_time) {
                    self.moment.offset = minutes * 60;
                    if let Some(offset) = offset(&word[name.len()..]) {
                        self.moment.offset += offset;
                    }
                } else if word.contains('-') && !word.starts_with('-') {
                    word.split('-').filter(|w| !w.is_empty()).for_each(|w| self.word(w));
                } else if let Some(month) = month(name) {
                    // "mar., 10 juin": the later one is the month, the earlier one was a day's name.
                    self.month = Some(month);
                }
            }
        }
    }

    /// `04:00`, `4:00:01.25pm`, `04:00:01+0200`.
    fn time(&mut self, word: &str) -> Option<()> {
        let mut at = Cursor(word);
        let (hour, _) = at.digits(2)?;
        let minute = at.take(&[':', '.']).and_then(|_| at.digits(2)).map_or(0, |(m, _)| m);
        let second = at.take(&[':', '.']).and_then(|_| at.digits(2)).map_or(0, |(s, _)| s);
        if at.take(&['.', ',', ':']).is_some() {
            let digits = at.0.bytes().take_while(u8::is_ascii_digit).count();
            let fraction = format!("{:0<3}", &at.0[..digits.min(3)]);
            self.moment.millis = fraction.parse().unwrap_or(0);
            at.0 = &at.0[digits..];
        }
        // An hour of 24 is the next day's midnight, a second of 60 the next minute's first.
        if hour > 24 || minute > 59 || second > 60 {
            return None;
        }
        self.moment.seconds = i64::from(hour * 3_600 + minute * 60 + second);
        self.has_time = true;
        if !at.0.is_empty() {
            self.word(at.0);
        }
        Some(())
    }

    fn finish_time(mut self) -> Option<Moment> {
        let half = 12 * 3_600;
        match self.afternoon {
            Some(true) if self.moment.seconds < half => self.moment.seconds += half,
            Some(false) if (half..half + 3_600).contains(&self.moment.seconds) => self.moment.seconds -= half,
            _ => {}
        }
        Some(self.moment)
    }

    fn finish(mut self) -> Option<Moment> {
        self.moment.day = self.day.unwrap_or(1);
        self.moment.month = self.month?;
        self.moment.year = self.year?;
        self.finish_time()
    }
}

/// Two digits of a year (RFC 5322 §4.3).
fn whole_year(two: i32) -> i32 {
    if two < 50 { two + 2000 } else { two + 1900 }
}

/// Seconds of `+01`, `-0230`, `+05:30`, `+1`.
fn offset(text: &str) -> Option<i64> {
    let (sign, digits) = match text.split_at_checked(1)? {
        ("+", digits) => (1, digits),
        ("-", digits) => (-1, digits),
        _ => return None,
    };
    let (hours, minutes) = match digits.split_once(':') {
        Some(parts) => parts,
        None if digits.len() > 2 => digits.split_at_checked(digits.len() - 2)?,
        None => (digits, "0"),
    };
    let (hours, minutes) = (hours.parse::<i64>().ok()?, minutes.parse::<i64>().ok()?);
    (hours <= 24 && minutes < 60).then_some(sign * (hours * 3_600 + minutes * 60))
}

#[cfg(test)]
mod tests;
