//! Dates as feeds, pages and directives write them: RFC 822 and its successors, RFC 3339 and ISO 8601, what people make of
//! them, and days in running text in many languages.
//!
//! One pass over a short text, no recursion. A date without a zone is taken as UTC; one without a time as midnight.

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

/// Years by which the Buddhist era, which Thailand counts by, is ahead.
const BUDDHIST: i16 = 543;
/// Longest text that is parsed, in bytes; of a field longer than this only the beginning is.
const MAX_BYTES: usize = 200;

/// Which number of `03/04/2026` is the month.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The second one.
    DayFirst,
    /// The first one, as Americans write it with slashes.
    MonthFirst,
}

/// Which texts are accepted as dates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accept {
    /// A field that is meant as a date: unknown words are passed over, missing parts are the first ones, and the 31st of a
    /// month that has 30 days is the day after its last.
    Field,
    /// A field that must be a date: every word is part of it, it has a day, and a calendar has that day.
    Exact,
    /// Any text: a date as machines write it, with its time, or else the first day that is written somewhere in the text.
    Anywhere,
}

/// Knowledge of a text before it is parsed.
#[derive(Clone, Debug)]
pub struct Hints {
    /// Which texts are accepted.
    pub accept: Accept,
    /// Order of day and month where both are numbers with slashes.
    pub order: Order,
    /// Years that are believed.
    pub years: RangeInclusive<i16>,
}

impl Hints {
    /// The dates of feeds: whatever can be understood, in any year, the month first.
    pub const FEED: Hints = Hints { accept: Accept::Field, order: Order::MonthFirst, years: 1..=9999 };
    /// The dates of directives (`unavailable_after`): exact.
    pub const DIRECTIVE: Hints = Hints { accept: Accept::Exact, order: Order::MonthFirst, years: 1..=9999 };

    /// The dates of pages, which are younger than the web.
    pub const fn page(order: Order) -> Hints {
        Hints { accept: Accept::Anywhere, order, years: 1990..=2100 }
    }

    /// A year of the common era, if it is believed.
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
    /// Minutes east of UTC of the zone that the text states with the time; none if it states none.
    pub zone: Option<i16>,
}

/// The instant that a text means, or `None`: no guess is made where no day can be told.
pub fn parse(text: &str, hints: &Hints) -> Option<Moment> {
    parse_instant(text, hints).or_else(|| {
        let day = (hints.accept == Accept::Anywhere).then(|| find(text, hints).into_iter().next())?;
        day.map(|day| Moment { at: day.at, zone: None })
    })
}

/// [`parse`] of a text that as a whole is a date; where [`Accept::Anywhere`] holds, as machines write it: ISO 8601, RFC
/// 5322, or a count of seconds or milliseconds since 1970.
pub fn parse_instant(text: &str, hints: &Hints) -> Option<Moment> {
    let text = text.trim();
    (hints.accept == Accept::Field || text.len() <= MAX_BYTES).then(|| field::parse(text, hints))?
}

/// Every day that is written in a text of at most a few lines, in order.
pub fn find(text: &str, hints: &Hints) -> Vec<DaySpan> {
    if text.len() > 4 * MAX_BYTES { Vec::new() } else { running::find(text, hints) }
}

#[cfg(test)]
mod tests;
