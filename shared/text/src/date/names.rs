//! Names in dates: months, weekdays, zones and eras. The tables are in `data/`.

use super::Hints;
use std::collections::HashMap;
use std::sync::LazyLock;

const MONTHS: &str = include_str!("../../data/months.txt");
const ZONES: &str = include_str!("../../data/zones.txt");
const WEEKDAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/// Returns the words of a table with their numbers, from lines in which `sign` separates numbers and words.
fn rows(table: &'static str, sign: &'static str) -> impl Iterator<Item = (&'static str, i16)> {
    let lines = table.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(move |line| line.split_once(sign)).flat_map(|(number, words)| {
        let number = number.trim().parse::<i16>().ok();
        words.split_whitespace().filter_map(move |word| Some((word, number?)))
    })
}

/// Returns the month for a name or abbreviation. A word in ASCII needs at least three letters.
pub(super) fn month(word: &str, hints: &Hints) -> Option<i8> {
    static NUMBERS: LazyLock<HashMap<&str, i16>> = LazyLock::new(|| rows(MONTHS, " = ").collect());
    const MAX_CHARS: usize = 12;
    let chars = word.chars().count();
    let shortest = if word.is_ascii() { 3 } else { 2 };
    if !(shortest..=MAX_CHARS).contains(&chars) || word.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let word = word.to_lowercase();
    let of_language = || {
        let language = hints.language?;
        NUMBERS.get(format!("{word}@{}", std::str::from_utf8(&language).ok()?).as_str())
    };
    NUMBERS.get(word.as_str()).or_else(of_language).and_then(|number| i8::try_from(*number).ok())
}

/// Returns the month of the solar Hijri calendar for a name.
pub(super) fn hijri_month(word: &str) -> Option<i8> {
    static NUMBERS: LazyLock<HashMap<&str, i16>> = LazyLock::new(|| rows(MONTHS, " * ").collect());
    NUMBERS.get(word).and_then(|number| i8::try_from(*number).ok())
}

/// Returns the month like [`month`], or else by a lower-case word's beginning. Only for texts known to be dates.
pub(super) fn month_by_beginning(word: &str, hints: &Hints) -> Option<i32> {
    static BEGINNINGS: LazyLock<Vec<(&str, i16)>> = LazyLock::new(|| rows(MONTHS, " ~ ").collect());
    let fitting = || BEGINNINGS.iter().filter(|(beginning, _)| word.starts_with(beginning));
    let longest = || fitting().max_by_key(|(beginning, _)| beginning.len()).map(|(_, number)| i32::from(*number));
    month(word, hints).map(i32::from).or_else(longest)
}

/// Returns the offset in minutes east of UTC for a lower-case zone name.
pub(super) fn zone(name: &str) -> Option<i64> {
    static MINUTES: LazyLock<HashMap<&str, i16>> = LazyLock::new(|| rows(ZONES, " = ").collect());
    MINUTES.get(name).map(|minutes| i64::from(*minutes))
}

/// Returns the day of the week for an English name or at least its first three letters; Monday is 0.
pub fn weekday(text: &str) -> Option<u8> {
    let text = text.trim().to_ascii_lowercase();
    let day = WEEKDAYS.iter().position(|day| text.len() >= 3 && day.starts_with(&text))?;
    u8::try_from(day).ok()
}

/// Returns the year before the first year of a Japanese era, or of the Republic of China.
pub(super) fn era(word: &str) -> Option<i16> {
    Some(match word {
        "令和" => 2018,
        "平成" => 1988,
        "民國" | "民国" => 1911,
        _ => return None,
    })
}

/// True for words between the parts of a date: `1st of May`, `1 de mayo de 2026`, `1 мая 2026 г.`
pub(super) fn is_filler(word: &str) -> bool {
    matches!(
        word.to_lowercase().as_str(),
        "st" | "nd" | "rd" | "th" | "of" | "de" | "del" | "d" | "di" | "er" | "º" | "the" | "den" | "năm" | "г"
    )
}
