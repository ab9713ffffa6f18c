use super::digits::ascii_digits;
use super::names::{is_filler, month_by_beginning, weekday, zone};
use super::parts::Parts;
use super::{Accept, Hints, Moment, Order};
use curlew_model::Timestamp;
use jiff::civil::Date;

/// Maximum length in bytes of a parsed date, without comments.
const MAX_BYTES: usize = 96;
const MAX_WORDS: usize = 24;
/// Forms that are replaced before parsing, in this order. East Asian languages put AM and PM before the time.
/// Vietnamese numbers the months and the days of the week. The day tells the season of an American zone.
const SHORTER: &str = "오전=am |上午=am |午前=am |오후=pm |下午=pm |午後=pm |thg =tháng|- =-|tháng =tháng|thứ =thứ|\
                       standard time=time|daylight time=time|eastern time=et|central time=ct|mountain time=mt|\
                       pacific time=pt";

pub(super) fn parse(text: &str, hints: &Hints) -> Option<Moment> {
    let normal = normalise(text);
    if is_malformed(&normal) {
        return None;
    }
    if let Some(instant) = number(&normal, hints).or_else(|| iso(&normal, hints)?.moment(hints)) {
        return Some(instant);
    }
    if hints.accept != Accept::Anywhere {
        return words(&normal, hints)?.moment(hints);
    }
    // In running text only machine-written dates are accepted: a date with time and zone, and nothing else.
    let exact = Hints { accept: Accept::Exact, ..hints.clone() };
    words(&normal, &exact)?.moment(&exact).filter(|moment| moment.zone.is_some())
}

/// Adds the time at the start of `text`, which may follow a few words such as `um` or `at`, to a day.
pub(super) fn with_time(day: Timestamp, text: &str, hints: &Hints) -> Option<Moment> {
    /// Maximum number of words before the time, and after it.
    const MAX_BESIDE: usize = 3;
    let text = normalise(text);
    let text = text.trim_start_matches(|c: char| !c.is_alphanumeric());
    let is_time = |word: &&str| word.starts_with(|c: char| c.is_ascii_digit());
    let mut words = text.split([' ', ',', '|']).filter(|word| !word.is_empty()).peekable();
    let mut read = Words::new(hints);
    let mut before = "";
    for _ in 0..MAX_BESIDE {
        if let Some(word) = words.next_if(|word| !is_time(word)) {
            read.name(word);
            before = word;
        }
    }
    let time = words.next()?;
    let after = words.peek().copied().unwrap_or_default();
    read.time(&clock_time(before, time, after)?)?;
    words.take(MAX_BESIDE).take_while(|word| !is_time(word)).for_each(|word| read.word(word));
    let parts = read.finish_time()?;
    let millis = (parts.seconds - parts.offset.unwrap_or(0)) * 1_000 + parts.millis;
    Some(Moment { at: Timestamp::from_millis(day.as_millis() + millis), zone: parts.zone() })
}

/// Returns a time of day with colons, from `10:30`, `10h30`, `10h`, or `10.30` next to a word for "o'clock".
fn clock_time(before: &str, time: &str, after: &str) -> Option<String> {
    const HOURS: [&str; 12] = ["uhr", "ore", "alle", "uur", "um", "om", "h", "kl", "kl.", "klo", "am", "pm"];
    if time.contains(':') {
        return Some(time.to_owned());
    }
    let end = time.find(|c: char| !c.is_ascii_digit())?;
    let (hour, rest) = time.split_at_checked(end).filter(|(hour, _)| (1..=2).contains(&hour.len()))?;
    let (mark, minute) = rest.split_at_checked(1)?;
    let (digits, half) = minute.split_at_checked(2).unwrap_or((minute, ""));
    let is_minute = digits.len() == 2 && digits.bytes().all(|b| b.is_ascii_digit());
    match mark {
        "h" if minute.is_empty() => Some(format!("{hour}:00")),
        _ if !is_minute || !matches!(mark, "h" | ".") || half.contains(|c: char| c.is_ascii_digit()) => None,
        "." if ![before, after, half].iter().any(|word| HOURS.contains(word)) => None,
        _ => Some(format!("{hour}:{minute}")),
    }
}

/// Removes comments (RFC 5322 §3.2.2, nested to any depth), and normalizes case, spaces and East Asian units.
fn normalise(text: &str) -> String {
    let mut depth = 0_usize;
    let text = &*ascii_digits(text);
    let mut out = String::new();
    // The last character of the Korean zone's name also means "hour".
    let zone = ["한국 표준시", "한국표준시", "대한민국 표준시"].iter().find_map(|zone| text.split_once(zone));
    let (text, zone) = zone.map_or((text, ""), |(before, _)| (before, " kst"));
    for c in text.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ if depth > 0 => {}
            _ if out.len() >= MAX_BYTES => break,
            '年' | '년' | '月' | '월' => out.push('-'),
            '日' | '일' | '秒' | '초' => out.push(' '),
            '時' | '시' | '分' | '분' => out.push(':'),
            '\u{2212}' | '\u{2010}'..='\u{2013}' => out.push('-'),
            c if c.is_whitespace() || c.is_control() => out.push(' '),
            c => out.extend(c.to_lowercase()),
        }
    }
    let shorter = if out.is_ascii() && !out.contains(' ') { "" } else { SHORTER };
    let pairs = shorter.split('|').filter_map(|pair| pair.split_once('='));
    let out = pairs.fold(out, |out, (long, short)| out.replace(long, short));
    format!("{}{zone}", out.trim())
}

/// True for a month of three digits, as in `2003-012-31`, which is neither a month nor an ordinal date.
fn is_malformed(text: &str) -> bool {
    let mut at = Cursor(text);
    let digits = |at: &mut Cursor<'_>, most| at.digits(most).map(|(_, count)| count);
    digits(&mut at, 4) == Some(4)
        && at.take(&['-']).is_some()
        && digits(&mut at, 3) == Some(3)
        && at.0.starts_with(|c: char| c == '-' || c.is_ascii_digit())
}

/// Parses a number: seconds since 1970, perhaps with a fraction, milliseconds, or a date written without separators.
fn number(text: &str, hints: &Hints) -> Option<Moment> {
    let text = text.trim_start_matches('@');
    let (text, fraction) = text.split_once('.').unwrap_or((text, ""));
    if !text.bytes().chain(fraction.bytes()).all(|b| b.is_ascii_digit()) {
        return None;
    }
    let millis = match text.len() {
        10 => text.parse::<i64>().ok()? * 1_000,
        9 | 11 if hints.accept == Accept::Field => text.parse::<i64>().ok()? * 1_000,
        13 => text.parse().ok()?,
        14 => {
            let (date, time) = text.split_at(8);
            return iso(&format!("{date}t{time}"), hints)?.moment(hints);
        }
        _ => return None,
    };
    let at = Timestamp::from_millis(millis);
    hints.years.contains(&at.year()).then_some(Moment { at, zone: None })
}

struct Cursor<'a>(&'a str);

impl<'a> Cursor<'a> {
    /// Reads up to `most` digits. Returns their value and their number.
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
        self.0 = self.0.trim_start_matches([' ', ',', '_']);
    }
}

/// Parses dates that start with the year: ISO 8601 with week and ordinal dates, and similar forms.
fn iso(text: &str, hints: &Hints) -> Option<Parts> {
    let mut at = Cursor(text);
    let (year, 4) = at.digits(4)? else { return None };
    let mut parts = Parts { year, ..Parts::default() };
    let separated = at.take(&['-', '/', '.']).is_some();
    if at.take(&['w']).is_some() {
        parts = week_date(year, &mut at)?;
    } else if let Some((number, count)) = at.digits(if separated { 3 } else { 4 }) {
        match (count, separated) {
            (3, _) => parts = ordinal_date(year, number)?,
            (4, false) => (parts.month, parts.day) = (Some(number / 100), Some(number % 100)),
            (2, false) => parts.month = Some(number),
            (1 | 2, true) => {
                parts.month = Some(number);
                day_after(&mut at, &mut parts)?;
            }
            _ => return None,
        }
    } else if separated {
        parts.month = Some(month_by_beginning(at.letters(), hints)?);
        day_after(&mut at, &mut parts)?;
    } else if !at.0.is_empty() {
        return None;
    }
    if at.take(&['t']).is_none() {
        at.spaces();
        if at.0.strip_prefix('t').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit())) {
            at.take(&['t']);
        }
    }
    time_and_zone(at, parts, hints)
}

fn day_after(at: &mut Cursor<'_>, parts: &mut Parts) -> Option<()> {
    if at.take(&['-', '/', '.']).is_some() && !at.0.is_empty() {
        parts.day = Some(at.digits(2)?.0);
    }
    Some(())
}

fn ordinal_date(year: i32, day: i32) -> Option<Parts> {
    let first = Date::new(i16::try_from(year).ok()?, 1, 1).ok()?;
    first.with().day_of_year(i16::try_from(day).ok()?).build().ok().map(Parts::from_date)
}

fn week_date(year: i32, at: &mut Cursor<'_>) -> Option<Parts> {
    let (week, _) = at.digits(2)?;
    at.take(&['-']);
    let day = at.digits(1).map_or(1, |(d, _)| d);
    let weekday = jiff::civil::Weekday::from_monday_one_offset(i8::try_from(day).ok()?).ok()?;
    let week = jiff::civil::ISOWeekDate::new(i16::try_from(year).ok()?, i8::try_from(week).ok()?, weekday).ok()?;
    Some(Parts::from_date(week.date()))
}

/// Parses the text after a date: nothing, or a time with an optional zone.
fn time_and_zone(at: Cursor<'_>, parts: Parts, hints: &Hints) -> Option<Parts> {
    let rest = at.0.trim();
    if rest.is_empty() {
        return Some(parts);
    }
    let mut read = Words { parts, year: Some(parts.year), ..Words::new(hints) };
    let (head, tail) = rest.split_at(rest.find(' ').unwrap_or(rest.len()));
    match head.bytes().all(|b| b.is_ascii_digit()) && head.len() != 2 {
        true => read.time(&compact_time(head)?)?,
        false if head.starts_with(|c: char| c.is_ascii_digit()) => read.time(&spread_time(head))?,
        false => read.word(head),
    }
    tail.split([' ', ',']).filter(|w| !w.is_empty()).for_each(|w| read.word(w));
    read.finish_time()
}

/// Inserts colons into `0400` and `040001`.
fn compact_time(digits: &str) -> Option<String> {
    match digits.len() {
        4 => Some(format!("{}:{}", &digits[..2], &digits[2..])),
        6 => Some(format!("{}:{}:{}", &digits[..2], &digits[2..4], &digits[4..])),
        _ => None,
    }
}

/// Inserts colons into `040001z` and `0400:01`. A time with colons is returned unchanged.
fn spread_time(text: &str) -> String {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    match compact_time(&text[..digits]) {
        Some(time) if digits == 4 || !text[digits..].starts_with(':') => format!("{time}{}", &text[digits..]),
        _ => text.to_owned(),
    }
}

/// Parses words in any order: `tue, 10 jun 2025 04:00:01 gmt`, `june 10, 2025`, `10.06.2025 4:00 pm`.
fn words(text: &str, hints: &Hints) -> Option<Parts> {
    let mut read = Words::new(hints);
    for word in text.split([' ', ',', ';', '|', '\'', '’']).filter(|w| !w.is_empty()).take(MAX_WORDS) {
        read.word(word);
    }
    read.finish()
}

struct Words<'h> {
    hints: &'h Hints,
    parts: Parts,
    has_time: bool,
    has_seconds: bool,
    afternoon: Option<bool>,
    day: Option<i32>,
    month: Option<i32>,
    year: Option<i32>,
    /// True if a word was not part of a date.
    has_other: bool,
}

impl<'h> Words<'h> {
    fn new(hints: &'h Hints) -> Words<'h> {
        let parts = Parts::default();
        let (has_time, has_seconds, has_other, afternoon) = (false, false, false, None);
        Words { hints, parts, has_time, has_seconds, afternoon, day: None, month: None, year: None, has_other }
    }

    fn word(&mut self, word: &str) {
        let starts_with_digit = |word: &str| word.starts_with(|c: char| c.is_ascii_digit());
        // A dash may separate date and time.
        let is_time =
            |rest: &&str| starts_with_digit(rest) && (word.starts_with('t') || !self.has_time && rest.contains(':'));
        let word = word.strip_prefix(['t', '-']).filter(is_time).unwrap_or(word);
        let has_h =
            word.split_once('h').is_some_and(|(hour, rest)| [hour, rest].iter().all(|n| n.parse::<u8>().is_ok()));
        let is_number = starts_with_digit(word);
        let is_part = if self.has_time && word.starts_with(['+', '-']) {
            let further = offset(word);
            self.parts.offset = further.map(|seconds| self.parts.offset.unwrap_or(0) + seconds).or(self.parts.offset);
            further.is_some()
        } else if is_number && self.has_time && self.year.is_some() && matches!(word.len(), 4 | 5) {
            self.signless_offset(word)
        } else if is_number && (has_h || word.contains(':')) {
            !self.has_time && self.time(word).is_some()
        } else if is_number && !self.has_time && word.contains('.') && self.day.and(self.month).and(self.year).is_some()
        {
            self.time(word).is_some()
        } else if is_number {
            self.numbers(word)
        } else {
            self.name(word)
        };
        self.has_other |= !is_part;
    }

    /// Reads `02:00` or `0200` after a time with seconds: an offset whose plus sign was decoded to a space.
    fn signless_offset(&mut self, word: &str) -> bool {
        /// In seconds.
        const MAX_OFFSET: i64 = 14 * 3_600;
        let seconds = offset(&format!("+{word}")).filter(|seconds| *seconds <= MAX_OFFSET && self.has_seconds);
        if self.parts.offset.is_none() {
            self.parts.offset = seconds;
        }
        seconds.is_some()
    }

    /// Reads `10`, `10th`, `2025`, `10-jun-2025`, `06/10/2025`, `10.06.2025`, or an hour such as `4pm`.
    fn numbers(&mut self, word: &str) -> bool {
        let parts: Vec<&str> = word.split(['-', '/', '.']).filter(|p| !p.is_empty()).collect();
        if let [a, b, c] = parts[..]
            && let (Ok(a), Ok(b), Ok(c)) = (a.parse(), b.parse(), c.parse())
        {
            let two_digits = word.len() == "26-05-03".len() && word.matches('-').count() == 2;
            return self.numeric_date(a, b, c, word.contains('/'), two_digits);
        }
        let mut is_part = true;
        for part in parts {
            let digits = part.bytes().take_while(u8::is_ascii_digit).count();
            let (number, suffix) = part.split_at(digits);
            match (number.parse::<i32>(), suffix) {
                (Ok(hour), "am" | "pm") if !self.has_time => {
                    self.has_time = true;
                    self.afternoon = Some(suffix == "pm");
                    self.parts.seconds = i64::from(hour) * 3_600;
                }
                (Ok(number), _) => is_part &= self.number(number, digits),
                (Err(_), name) => is_part &= self.name(name),
            }
        }
        is_part
    }

    fn number(&mut self, number: i32, digits: usize) -> bool {
        match digits {
            1 | 2 if self.day.is_none() && number <= 31 => self.day = Some(number),
            1 | 2 if self.year.is_none() => self.year = Some(whole_year(number)),
            3 | 4 if self.year.is_none() => self.year = Some(if digits == 3 { number + 1900 } else { number }),
            // Five or more digits are not a year, and no date is better than a wrong one.
            5.. => self.year = Some(0),
            _ => return false,
        }
        true
    }

    /// Reads three numbers: in the hinted order with slashes; year first with dashes and two digits each (older ISO
    /// 8601); otherwise with the day first, unless that is impossible.
    fn numeric_date(&mut self, a: i32, b: i32, c: i32, slashes: bool, two_digits: bool) -> bool {
        let (day, month, year) = match (a, b, c) {
            (1_000.., _, _) => (c, b, a),
            (_, 1..=12, 1..=31) if two_digits => (c, b, a),
            _ if slashes && self.hints.order == Order::MonthFirst && a <= 12 || b > 12 => (b, a, c),
            _ => (a, b, c),
        };
        (self.day, self.month) = (Some(day), Some(month));
        self.year = Some(if year < 100 { whole_year(year) } else { year });
        // Two small numbers with slashes are ambiguous.
        !slashes || day > 12 || a > 31
    }

    /// Reads a month, a zone, AM or PM. Other names, such as those of weekdays, are not needed.
    fn name(&mut self, word: &str) -> bool {
        // Abbreviation marks, including those of Hebrew and Hindi.
        let word = word.trim_matches(['.', '׳', '॰']);
        let name = word.split(['+', '-']).next().unwrap_or(word);
        if let "am" | "a.m" | "pm" | "p.m" = word {
            self.afternoon = Some(word.starts_with('p'));
        } else if let Some(minutes) = zone(name).filter(|_| self.has_time) {
            // Before the time, "pt" means Friday and "at" is a filler.
            let further = offset(&word[name.len()..]).unwrap_or(0);
            self.parts.offset = Some(minutes * 60 + further);
            self.parts.is_american = matches!(name, "et" | "ct" | "mt" | "pt");
        } else if word.contains('-') && !word.starts_with('-') {
            word.split('-').filter(|w| !w.is_empty()).for_each(|w| self.word(w));
        } else if let Some(month) = month_by_beginning(name, self.hints) {
            // In "mar., 10 juin", the later word is the month, and the earlier one was a weekday.
            self.month = Some(month);
        } else {
            // Letters after the time are an unknown zone. The error of taking it for UTC is at most 14 hours.
            let is_zone = self.has_time && name.len() <= 5 && name.bytes().all(|b| b.is_ascii_alphabetic());
            return is_zone || is_filler(name) || weekday(name).is_some() || zone(name).is_some();
        }
        true
    }

    /// Reads `04:00`, `4:00:01.25pm`, `04:00:01+0200`.
    fn time(&mut self, word: &str) -> Option<()> {
        let mut at = Cursor(word);
        let (hour, _) = at.digits(2)?;
        let minute = at.take(&[':', '.', 'h']).and_then(|_| at.digits(2)).map_or(0, |(m, _)| m);
        let second = at.take(&[':', '.']).and_then(|_| at.digits(2)).map(|(s, _)| s);
        self.has_seconds = second.is_some();
        let second = second.unwrap_or(0);
        if let Some(mark) = at.take(&['.', ',', ':']) {
            self.has_other |= mark == ':';
            let digits = at.0.bytes().take_while(u8::is_ascii_digit).count();
            let fraction = format!("{:0<3}", &at.0[..digits.min(3)]);
            self.parts.millis = fraction.parse().unwrap_or(0);
            at.0 = &at.0[digits..];
        }
        // Hour 24 is midnight of the next day, second 60 the start of the next minute.
        if hour > 24 || minute > 59 || second > 60 {
            return None;
        }
        self.parts.seconds = i64::from(hour * 3_600 + minute * 60 + second);
        self.has_time = true;
        if !at.0.is_empty() {
            self.word(at.0);
        }
        Some(())
    }

    fn finish_time(mut self) -> Option<Parts> {
        let half = 12 * 3_600;
        match self.afternoon {
            Some(true) if self.parts.seconds < half => self.parts.seconds += half,
            Some(false) if (half..half + 3_600).contains(&self.parts.seconds) => self.parts.seconds -= half,
            _ => {}
        }
        (self.hints.accept != Accept::Exact || !self.has_other).then_some(self.parts)
    }

    fn finish(mut self) -> Option<Parts> {
        self.parts = Parts { year: self.year?, month: Some(self.month?), day: self.day, ..self.parts };
        self.finish_time()
    }
}

/// Expands a two-digit year (RFC 5322 §4.3).
fn whole_year(two: i32) -> i32 {
    if two < 50 { two + 2000 } else { two + 1900 }
}

/// Returns the seconds of an offset: `+01`, `-0230`, `+05:30`, `+1`. A zone name in brackets may follow (RFC 9557).
fn offset(text: &str) -> Option<i64> {
    let (sign, digits) = match text.split_at_checked(1)? {
        ("+", digits) => (1, digits),
        ("-", digits) => (-1, digits),
        _ => return None,
    };
    let digits = digits.split('[').next().unwrap_or(digits);
    let (hours, minutes) = match digits.split_once(':') {
        Some(parts) => parts,
        None if digits.len() > 2 => digits.split_at_checked(digits.len() - 2)?,
        None => (digits, "0"),
    };
    let (hours, minutes) = (hours.parse::<i64>().ok()?, minutes.parse::<i64>().ok()?);
    (hours <= 24 && minutes < 60).then_some(sign * (hours * 3_600 + minutes * 60))
}
