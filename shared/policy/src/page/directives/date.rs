//! Dates in `unavailable_after`.

use curlew_model::Timestamp;
use curlew_text::date::{Hints, parse, weekday};

/// Parses a date in the forms of RFC 822, RFC 850, asctime and ISO 8601; without a zone in UTC, without a time at
/// midnight. `None` if the text has a word that does not belong to a date, or a day that no calendar has.
pub fn parse_date(text: &str) -> Option<Timestamp> {
    parse(text, &Hints::DIRECTIVE).map(|moment| moment.at)
}

pub(super) fn is_weekday(word: &str) -> bool {
    weekday(word).is_some()
}
