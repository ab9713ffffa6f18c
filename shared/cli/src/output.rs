//! Writes to standard output and standard error. A closed pipe ends the command quietly.

use anyhow::Result;
use curlew_model::{Fault, Faults, Millis, Timestamp};
pub(crate) use curlew_people::descriptions::count;
use serde::Serialize;
use serde_json::{Value, json};
use std::fmt::Display;
use std::io::{self, Write};

/// Maximum number of characters of an address in a line for people.
pub(crate) const ADDRESS: usize = 90;

/// Writes a line to standard output. A closed pipe and a full disk behind it are errors.
pub(crate) fn line(text: impl Display) -> Result<()> {
    Ok(writeln!(io::stdout().lock(), "{text}")?)
}

pub(crate) fn json(value: &impl Serialize) -> Result<()> {
    line(serde_json::to_string(value)?)
}

/// Writes one answer: `value` for programs, or `text` for people.
pub(crate) fn answer(as_json: bool, value: &impl Serialize, text: impl Display) -> Result<()> {
    if as_json { json(value) } else { line(text) }
}

/// Writes one row per line: JSON for programs; for people the `text` of each row, or `empty` if there are none.
pub(crate) fn list<T: Serialize>(as_json: bool, rows: &[T], empty: &str, text: impl Fn(&T) -> String) -> Result<()> {
    if rows.is_empty() && !as_json {
        return line(empty);
    }
    rows.iter().try_for_each(|row| if as_json { json(row) } else { line(text(row)) })
}

/// Writes a line to standard error; ignores errors, which cannot be reported.
pub(crate) fn error_line(text: impl Display) {
    let _unread = writeln!(io::stderr().lock(), "{text}");
}

/// Returns a number with its noun and verb: `1 page is`, `2 pages are`.
pub(crate) fn count_are(number: u64, noun: &str) -> String {
    format!("{} {}", count(number, noun), if number == 1 { "is" } else { "are" })
}

/// Returns numbers with the words that they count: `3 noindex, 1 gone`.
pub(crate) fn counted(numbers: impl IntoIterator<Item = (impl Display, impl Display)>) -> String {
    let parts = numbers.into_iter().map(|(word, number)| format!("{number} {word}"));
    parts.collect::<Vec<_>>().join(", ")
}

/// Returns [`counted`] numbers in parentheses after a space; an empty string if there are none.
pub(crate) fn in_parentheses(numbers: impl IntoIterator<Item = (impl Display, impl Display)>) -> String {
    match counted(numbers).as_str() {
        "" => String::new(),
        text => format!(" ({text})"),
    }
}

pub(crate) fn length(time: Millis) -> String {
    const MINUTE: u64 = 60_000;
    const HOUR: u64 = 60 * MINUTE;
    match time.0 {
        ms @ 0..1_000 => format!("{ms} ms"),
        ms @ 1_000..MINUTE => format!("{:.1} s", ms as f64 / 1e3),
        ms @ MINUTE..HOUR => format!("{:.1} min", ms as f64 / 6e4),
        ms => format!("{:.1} h", ms as f64 / 3.6e6),
    }
}

/// Returns an instant to the minute, for people: `2026-11-27 20:35 UTC`.
pub(crate) fn when(at: Timestamp) -> String {
    let text = at.to_string();
    match text.get(..16) {
        Some(minute) => format!("{} UTC", minute.replace('T', " ")),
        None => text,
    }
}

/// Returns true if a character controls a terminal or the direction of text (Unicode UAX #9).
pub(crate) fn steers(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Returns a text that is safe for a terminal: with control characters as spaces, cut to `most` characters.
pub(crate) fn printable(text: &str, most: usize) -> String {
    let clean: String = text.chars().map(|c| if steers(c) { ' ' } else { c }).collect();
    if clean.chars().count() <= most {
        return clean;
    }
    clean.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}

/// Returns the number of a feed's faults, and the first ones with their positions, codes and messages.
pub(crate) fn faults(faults: &Faults) -> Value {
    let sentence = |fault: &Fault| {
        json!({
            "line": fault.line,
            "column": fault.column,
            "code": fault.code,
            "message": fault.to_string(),
        })
    };
    json!({"count": faults.count, "first": faults.first.iter().map(sentence).collect::<Vec<_>>()})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_shown_to_the_minute() {
        assert_eq!(when(Timestamp::from_millis(1_795_811_738_151)), "2026-11-27 20:35 UTC");
    }

    #[test]
    fn numbers_and_nouns_agree() {
        let said = [(0, "page"), (1, "page"), (2, "page"), (1, "entry"), (3, "entry"), (2, "address")]
            .map(|(n, w)| count(n, w));
        assert_eq!((count_are(1, "job"), count_are(0, "job")), ("1 job is".to_owned(), "0 jobs are".to_owned()));
        assert_eq!(said, ["0 pages", "1 page", "2 pages", "1 entry", "3 entries", "2 addresses"]);
    }

    #[test]
    fn nothing_that_is_shown_steers_a_terminal() {
        let text: String = (0..=0x2070).filter_map(char::from_u32).filter(|c| steers(*c)).collect();
        assert!(["\u{1b}", "\u{7}", "\r", "\u{9b}", "\u{202e}", "\u{2066}"].iter().all(|c| text.contains(c)));
        assert_eq!(printable(&format!("a{text}b"), 1_000).trim_matches(['a', 'b', ' ']), "");
        assert_eq!(printable("Größe 42 – ½ שלום", 1_000), "Größe 42 – ½ שלום");
    }
}
