//! Dates in `unavailable_after`.

use curlew_model::Timestamp;
use curlew_text::date::{Hints, parse, weekday};

/// Parses a date with or without time and zone, in the forms of RFC 822, RFC 850, asctime and ISO 8601; the default
/// zone is UTC, the default time the beginning of the day. `None` if it has a word that does not belong to a date, or a
/// day that no calendar has.
pub fn parse_date(text: &str) -> Option<Timestamp> {
    parse(text, &Hints::DIRECTIVE).map(|moment| moment.at)
}

/// True for the English name of a weekday, whole or its first three letters.
pub(super) fn is_weekday(word: &str) -> bool {
    weekday(word).is_some()
}
