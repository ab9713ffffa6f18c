//! Parses dates from feeds, pages and directives: RFC 822 and its successors, RFC 3339 and ISO 8601, deviations from
//! them, and dates in running text in many languages. A missing zone means UTC, a missing time midnight.

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

/// Earliest year of a date stated in markup, or of an instant with time and zone.
const OLDEST: i16 = 1800;
/// Difference between the years of the Buddhist era, used in Thailand, and the common era.
const BUDDHIST: i16 = 543;
/// Maximum length in bytes of a text that is a date as a whole. A longer [`Accept::Field`] is truncated.
const MAX_BYTES: usize = 200;

/// Position of the month in dates such as `03/04/2026`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The second number is the month.
    DayFirst,
    /// The first number is the month, as in American dates with slashes.
    MonthFirst,
}

/// Kinds of text accepted as dates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accept {
    /// A field that should contain a date. Unknown words are skipped, a missing month or day is the first one, and the
    /// 31st of a month with 30 days is the 1st of the next month.
    Field,
    /// A field that must be a valid date with a day: every word must be part of it.
    Exact,
    /// Any text: a machine-readable date with a time, or the first date anywhere in the text with the time next to it.
    Anywhere,
}

/// Prior knowledge about the text to parse.
#[derive(Clone, Debug)]
pub struct Hints {
    /// Texts that are accepted.
    pub accept: Accept,
    /// Order of day and month in numeric dates with slashes.
    pub order: Order,
    /// Range of plausible years.
    pub years: RangeInclusive<i16>,
    /// Language of the text, as two lower-case letters (ISO 639-1), if known.
    pub language: Option<[u8; 2]>,
}

impl Hints {
    /// For dates in feeds: everything that can be understood, in any year, with the month first.
    pub const FEED: Hints = Hints { accept: Accept::Field, order: Order::MonthFirst, years: 1..=9999, language: None };
    /// For dates in directives (`unavailable_after`): exact.
    pub const DIRECTIVE: Hints = Hints { accept: Accept::Exact, ..Hints::FEED };

    /// Returns hints for dates in pages, which are not older than the web unless they state an instant.
    pub const fn page(order: Order) -> Hints {
        Hints { accept: Accept::Anywhere, order, years: 1990..=2100, language: None }
    }

    /// Returns these hints for dates in markup, which may be older than the web: archives state the date of printing.
    pub fn of_markup(self) -> Hints {
        Hints { years: OLDEST..=*self.years.end(), ..self }
    }

    /// Returns these hints for a text in the language of a BCP 47 tag such as `hr` or `hr-HR`.
    pub fn of_language(self, tag: Option<&str>) -> Hints {
        let code = tag.and_then(|tag| tag.split(['-', '_']).next()?.to_ascii_lowercase().as_bytes().try_into().ok());
        Hints { language: code, ..self }
    }

    /// Converts a year to the common era; `None` if it is implausible.
    fn year(&self, year: i32) -> Option<i16> {
        let year = i16::try_from(year).ok()?;
        [year, year.saturating_sub(BUDDHIST)].into_iter().find(|year| self.years.contains(year))
    }
}

/// An instant stated by a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// The instant.
    pub at: Timestamp,
    /// Stated offset from UTC in minutes, positive to the east; `None` if the text states no zone.
    pub zone: Option<i16>,
}

/// Returns the instant that a text states; `None` if its day is not known for certain.
pub fn parse(text: &str, hints: &Hints) -> Option<Moment> {
    let found = parse_instant(text, hints).or_else(|| {
        let day = (hints.accept == Accept::Anywhere).then(|| find(text, hints).into_iter().next())??;
        Some(moment(text, &day, hints)).filter(|moment| !is_unset(moment.at))
    });
    let short = || Some(text.trim()).filter(|text| hints.accept == Accept::Anywhere && running::is_short(text, hints));
    found.or_else(|| field::parse(short()?, &Hints { accept: Accept::Field, ..hints.clone() }))
}

/// Returns the instant of a day in a text, using the time directly after or before it, or midnight.
pub fn moment(text: &str, day: &DaySpan, hints: &Hints) -> Moment {
    let text = ascii_digits(text);
    let (before, after) = (text.get(..day.start).unwrap_or_default(), text.get(day.end..).unwrap_or_default());
    let last = before.trim_end_matches(|c: char| !c.is_alphanumeric()).rsplit(' ').next().unwrap_or_default();
    let timed = field::with_time(day.at, after, hints).or_else(|| field::with_time(day.at, last, hints));
    timed.unwrap_or(Moment { at: day.at, zone: None })
}

/// Parses a text that as a whole is a date. With [`Accept::Anywhere`] only machine-readable forms are accepted: ISO
/// 8601, seconds or milliseconds since 1970, or a date in words with time and zone.
pub fn parse_instant(text: &str, hints: &Hints) -> Option<Moment> {
    let text = text.trim();
    // Form in which older web libraries write dates into JSON.
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

/// True for an uninitialized date: zero since 1970 in some zone, or the first day of spreadsheets, databases, languages
/// or file systems.
pub fn is_unset(at: Timestamp) -> bool {
    const FIRST_DAYS: [&str; 5] = ["0001-01-01", "1601-01-01", "1753-01-01", "1899-12-30", "1900-01-01"];
    const DAY_MILLIS: u64 = 86_400_000;
    at.as_millis().unsigned_abs() <= DAY_MILLIS || FIRST_DAYS.contains(&at.day().as_str())
}

/// Returns a day in the path of a URL: `/2026/05/01/`, `/2026/may/01/`, `/2026-05-01-`, `/2026_05_01`, `/20260501`.
pub fn day_in_path(path: &str) -> Option<Timestamp> {
    let hints = Hints { accept: Accept::Exact, ..Hints::page(Order::DayFirst) };
    let segments: Vec<&str> = path.split('/').collect();
    let three = segments.windows(3).map(|parts| parts.join("-"));
    let one = segments.iter().filter_map(|segment| Some(segment.get(..10)?.replace('_', "-")));
    let digits = segments.iter().map(|segment| segment.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default());
    let dashed = three.chain(one).filter(|text| text.find('-') == Some(4) && text.matches('-').count() == 2);
    let run = digits.filter(|run| run.len() == 8).map(str::to_owned);
    dashed.chain(run).find_map(|text| parse_instant(&text, &hints)).map(|day| day.at)
}

/// Returns all dates in a text of at most a few lines, in order.
pub fn find(text: &str, hints: &Hints) -> Vec<DaySpan> {
    if text.len() > 4 * MAX_BYTES { Vec::new() } else { running::find(text, hints) }
}

#[cfg(test)]
mod tests;
