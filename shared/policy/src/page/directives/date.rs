//! Dates behind `unavailable_after`.

use curlew_model::Timestamp;
use curlew_text::date::{Hints, parse, weekday};

/// Reads a date with or without time and zone, in the forms of RFC 822, RFC 850, asctime and ISO 8601; without a zone UTC is
/// meant, without a time the day's beginning. `None` if it has a word that no date has, or a day that no calendar has.
pub fn parse_date(text: &str) -> Option<Timestamp> {
    parse(text, &Hints::DIRECTIVE).map(|moment| moment.at)
}

/// Whether this is the English name of a weekday, whole or its first three letters.
pub(super) fn is_weekday(word: &str) -> bool {
    weekday(word).is_some()
}
