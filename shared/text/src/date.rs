//! Parses dates from feeds, pages and directives: RFC 822 and its successors, RFC 3339 and ISO 8601, deviations from
//! them, and days in running text in many languages. A date without a zone is taken as UTC, one without a time as
//! midnight.

mod digits;
mod field;
mod names;
mod parts;
mod running;

pub use self::digits::{ascii_digit, ascii_digits};
pub use self::names::weekday;
pub use self::running::DaySpan;

use curlew_model::Timestamp;
use std::ops::RangeInclusive;

/// First year of a date that markup states, or of an instant with its time and its zone.
const OLDEST: i16 = 1800;
/// Number of years by which the Buddhist era, used in Thailand, is ahead.
const BUDDHIST: i16 = 543;
/// Maximum length of text that is parsed, in bytes; a longer field is truncated.
const MAX_BYTES: usize = 200;

/// Position of the month in `03/04/2026`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The second number is the month.
    DayFirst,
    /// The first number is the month, as in American dates with slashes.
    MonthFirst,
}

/// Texts that are accepted as dates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accept {
    /// A field that is meant as a date: unknown words are skipped, missing parts are the first ones, and the 31st of a
    /// month with 30 days is the day after its last.
    Field,
    /// A field that must be a date: every word is part of it, it has a day, and the calendar has that day.
    Exact,
    /// Any text: a machine-readable date with its time, or the first day somewhere in the text with the time after it.
    Anywhere,
}

/// Prior knowledge about a text that is parsed.
#[derive(Clone, Debug)]
pub struct Hints {
    /// Texts that are accepted.
    pub accept: Accept,
    /// Order of day and month if both are numbers with slashes.
    pub order: Order,
    /// Range of plausible years.
    pub years: RangeInclusive<i16>,
    /// Language of the text, as two letters in lower case (ISO 639-1), if it is known.
    pub language: Option<[u8; 2]>,
}

impl Hints {
    /// Dates of feeds: anything that can be understood, in any year, the month first.
    pub const FEED: Hints = Hints { accept: Accept::Field, order: Order::MonthFirst, years: 1..=9999, language: None };
    /// Dates of directives (`unavailable_after`): exact.
    pub const DIRECTIVE: Hints = Hints { accept: Accept::Exact, ..Hints::FEED };

    /// Returns hints for the dates of pages, which are younger than the web unless they state an instant.
    pub const fn page(order: Order) -> Hints {
        Hints { accept: Accept::Anywhere, order, years: 1990..=2100, language: None }
    }

    /// Returns the same hints for what markup states: archives date what was printed before the web.
    pub fn of_markup(self) -> Hints {
        Hints { years: OLDEST..=*self.years.end(), ..self }
    }

    /// Returns the same hints for a text in this language, given by a tag such as `hr` or `hr-HR` (BCP 47).
    pub fn of_language(self, tag: Option<&str>) -> Hints {
        let code = tag.and_then(|tag| tag.split(['-', '_']).next()?.to_ascii_lowercase().as_bytes().try_into().ok());
        Hints { language: code, ..self }
    }

    /// Converts a year to the common era, if it is plausible.
    fn year(&self, year: i32) -> Option<i16> {
        let year = i16::try_from(year).ok()?;
        [year, year.saturating_sub(BUDDHIST)].into_iter().find(|year| self.years.contains(year))
    }
}

/// An instant that a text states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// The instant.
    pub at: Timestamp,
    /// Offset of the stated time zone, in minutes east of UTC; `None` if the text states none.
    pub zone: Option<i16>,
}

/// Returns the instant that a text means, or `None`: nothing is guessed if the day is unknown.
pub fn parse(text: &str, hints: &Hints) -> Option<Moment> {
    parse_instant(text, hints).or_else(|| {
        let day = (hints.accept == Accept::Anywhere).then(|| find(text, hints).into_iter().next())??;
        Some(moment(text, &day, hints)).filter(|moment| !is_unset(moment.at))
    })
}

/// Returns the instant of a day in a text: with the time right after or before it, or else its midnight.
pub fn moment(text: &str, day: &DaySpan, hints: &Hints) -> Moment {
    let text = ascii_digits(text);
    let (before, after) = (text.get(..day.start).unwrap_or_default(), text.get(day.end..).unwrap_or_default());
    let last = before.trim_end_matches(|c: char| !c.is_alphanumeric()).rsplit(' ').next().unwrap_or_default();
    let timed = field::with_time(day.at, after, hints).or_else(|| field::with_time(day.at, last, hints));
    timed.unwrap_or(Moment { at: day.at, zone: None })
}

/// As [`parse`], for a text that is a date as a whole. With [`Accept::Anywhere`] only machine-readable forms count: ISO
/// 8601, seconds or milliseconds since 1970, or day, time and zone in words.
pub fn parse_instant(text: &str, hints: &Hints) -> Option<Moment> {
    let text = text.trim();
    // A date as older libraries for the web wrote it into JSON.
    let text = text.strip_prefix("/Date(").and_then(|rest| rest.split([')', '+', '-']).next()).unwrap_or(text);
    if hints.accept != Accept::Field && text.len() > MAX_BYTES {
        return None;
    }
    let older = || {
        let hints = Hints { accept: Accept::Exact, ..hints.clone().of_markup() };
        field::parse(text, &hints).filter(|moment| moment.zone.is_some())
    };
    match hints.accept {
        Accept::Anywhere => field::parse(text, hints).or_else(older).filter(|moment| !is_unset(moment.at)),
        Accept::Field | Accept::Exact => field::parse(text, hints),
    }
}

/// True for a date that was never set: a counter's zero in some zone, or the first day of spreadsheets and databases.
pub fn is_unset(at: Timestamp) -> bool {
    const DAY_MILLIS: u64 = 86_400_000;
    at.as_millis().unsigned_abs() <= DAY_MILLIS || matches!(at.day().as_str(), "1899-12-30" | "1900-01-01")
}

/// Returns every day written in a text of at most a few lines, in order.
pub fn find(text: &str, hints: &Hints) -> Vec<DaySpan> {
    if text.len() > 4 * MAX_BYTES { Vec::new() } else { running::find(text, hints) }
}

#[cfg(test)]
mod tests;
