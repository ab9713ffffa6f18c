//! Parses dates from feeds, pages and directives: RFC 822 and its successors, RFC 3339 and ISO 8601, common deviations
//! from them, and days in running text in many languages.
//!
//! One pass over a short text, no recursion. A date without a zone is taken as UTC, one without a time as midnight.

mod digits;
mod field;
mod names;
mod parts;
mod running;
mod standard;

pub use self::digits::ascii_digits;
pub use self::names::weekday;
pub use self::running::DaySpan;

use curlew_model::Timestamp;
use std::ops::RangeInclusive;

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
    /// Any text: a machine-readable date with its time, or else the first day written somewhere in the text.
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
}

impl Hints {
    /// Dates of feeds: anything that can be understood, in any year, the month first.
    pub const FEED: Hints = Hints { accept: Accept::Field, order: Order::MonthFirst, years: 1..=9999 };
    /// Dates of directives (`unavailable_after`): exact.
    pub const DIRECTIVE: Hints = Hints { accept: Accept::Exact, order: Order::MonthFirst, years: 1..=9999 };

    /// Returns hints for the dates of pages, which are younger than the web.
    pub const fn page(order: Order) -> Hints {
        Hints { accept: Accept::Anywhere, order, years: 1990..=2100 }
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
        let day = (hints.accept == Accept::Anywhere).then(|| find(text, hints).into_iter().next())?;
        day.map(|day| Moment { at: day.at, zone: None })
    })
}

/// As [`parse`], for a text that is a date as a whole. With [`Accept::Anywhere`] only machine-readable forms count: ISO
/// 8601, RFC 5322, or a count of seconds or milliseconds since 1970.
pub fn parse_instant(text: &str, hints: &Hints) -> Option<Moment> {
    let text = text.trim();
    (hints.accept == Accept::Field || text.len() <= MAX_BYTES).then(|| field::parse(text, hints))?
}

/// Returns every day written in a text of at most a few lines, in order.
pub fn find(text: &str, hints: &Hints) -> Vec<DaySpan> {
    if text.len() > 4 * MAX_BYTES { Vec::new() } else { running::find(text, hints) }
}

#[cfg(test)]
mod tests;
