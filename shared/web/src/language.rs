//! The languages of the pages: chooses one for each request, and formats days, numbers and times in it.

use axum::http::HeaderMap;
use axum::http::header::ACCEPT_LANGUAGE;
use curlew_model::{Millis, Timestamp};
use std::cmp::Reverse;

/// Maximum number of language ranges that are read; browsers send fewer than ten.
const MAX_RANGES: usize = 32;
/// Default quality of a range, in thousandths (RFC 9110 §12.4.2).
const FULL: u16 = 1_000;

/// A language of the pages. Its sentences are in `words`, and long prose is in the templates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    /// English, also for callers who accept neither language.
    English,
    Italian,
}

impl Language {
    /// All languages. The first one wins if a caller has no preference.
    pub(crate) const ALL: [Language; 2] = [Language::English, Language::Italian];

    /// Returns the tag of the language (RFC 5646), for `lang` attributes and `Content-Language`.
    pub(crate) const fn tag(self) -> &'static str {
        self.choose("en", "it")
    }

    pub(crate) const fn choose<T: Copy>(self, english: T, italian: T) -> T {
        match self {
            Language::English => english,
            Language::Italian => italian,
        }
    }

    pub(crate) fn of_headers(headers: &HeaderMap) -> Language {
        // Several lines of one field are equivalent to one line with a comma-separated list (RFC 9110 §5.2).
        let lines: Vec<&str> = headers.get_all(ACCEPT_LANGUAGE).iter().filter_map(|v| v.to_str().ok()).collect();
        Language::preferred(&lines.join(","))
    }

    /// Returns the preferred language of an `Accept-Language` field (RFC 9110 §12.5.4): the one of highest quality, or
    /// the first of equal ones. Returns English if the field accepts neither (§12.1).
    fn preferred(field: &str) -> Language {
        let ranges: Vec<Range<'_>> = field.split(',').take(MAX_RANGES).filter_map(Range::parse).collect();
        let preference = |language: &Language| {
            let named = |range: &&Range<'_>| range.primary.eq_ignore_ascii_case(language.tag());
            let best =
                ranges.iter().enumerate().filter(|(_, range)| named(range)).map(|(at, r)| (r.quality, Reverse(at)));
            let any = || ranges.iter().find(|range| range.primary == "*").map(|r| (r.quality, Reverse(MAX_RANGES)));
            best.max().or_else(any).filter(|(quality, _)| *quality > 0)
        };
        // `max_by_key` returns the last of several maxima.
        Language::ALL.into_iter().rev().max_by_key(preference).unwrap_or(Language::English)
    }

    /// Returns the name of a tag's language, or its code if the name is unknown; `None` for this language itself.
    pub(crate) fn name_of(self, tag: &str) -> Option<String> {
        (code_of(tag) != self.tag()).then(|| self.full_name_of(tag))
    }

    /// Returns the name of a tag's language, also for this language itself, or its code if the name is unknown.
    pub(crate) fn full_name_of(self, tag: &str) -> String {
        let code = code_of(tag);
        let known = NAMES.iter().find(|(known, ..)| *known == code);
        known.map_or(code, |(_, english, italian)| self.choose(*english, *italian).to_owned())
    }

    /// Returns a number with separated thousands: `12,345` or `12.345`.
    pub(crate) fn number(self, number: u64) -> String {
        let digits = number.to_string();
        let mut out = String::with_capacity(digits.len() * 2);
        for (i, digit) in digits.chars().enumerate() {
            if i > 0 && (digits.len() - i).is_multiple_of(3) {
                out.push(self.choose(',', '.'));
            }
            out.push(digit);
        }
        out
    }

    /// Returns a number with the noun that it counts, in the singular or in the plural.
    pub(crate) fn count(self, number: u64, one: &str, many: &str) -> String {
        format!("{} {}", self.number(number), if number == 1 { one } else { many })
    }

    /// Returns a length of time in words, in the largest unit that divides it: `3 days`, `3 giorni`.
    pub(crate) fn span(self, time: Millis) -> String {
        let whole = UNITS.into_iter().find(|(unit, ..)| time.0 >= *unit && time.0.is_multiple_of(*unit));
        let Some((unit, english, italian)) = whole else { return format!("{} ms", self.number(time.0)) };
        let [one, many] = self.choose(english, italian);
        self.count(time.0 / unit, one, many)
    }

    /// Returns a length of time in words, rounded down to a whole unit: `3 hours` for anything from 3 to below 4 hours.
    pub(crate) fn roughly(self, time: Millis) -> String {
        // Below two of a unit, the next smaller unit is more precise.
        let unit = UNITS.into_iter().map(|(unit, ..)| unit).find(|unit| time.0 >= 2 * unit).unwrap_or(1_000);
        self.span(Millis((time.0 / unit).max(1) * unit))
    }

    /// Returns an instant in words, to the minute: `1 May 2026, 03:00 UTC`.
    pub(crate) fn moment(self, at: Timestamp) -> String {
        let day = at.day();
        format!("{}, {} UTC", self.day(&day).unwrap_or(day), minute(at))
    }

    /// Returns a day in words: `1 May 2026` or `1 maggio 2026`, from `2026-05-01`.
    pub(crate) fn day(self, day: &str) -> Option<String> {
        let mut parts = day.splitn(3, '-');
        let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
        let months = self.choose(ENGLISH_MONTHS, ITALIAN_MONTHS);
        let month = months.split(' ').nth(month.parse::<usize>().ok()?.checked_sub(1)?)?;
        Some(format!("{} {month} {}", day.trim_start_matches('0'), year.trim_start_matches('0')))
    }

    /// Returns a short form of a day such as `2026-05-01`: `1 May` if it is in the year of `today`, else `1 May 2026`.
    pub(crate) fn short_day(self, day: &str, today: &str) -> Option<String> {
        const LETTERS: usize = 3;
        let long = self.day(day)?;
        let (number, rest) = long.split_once(' ')?;
        let (month, year) = rest.split_once(' ')?;
        let month = month.get(..LETTERS)?;
        let is_of_this_year = day.split('-').next() == today.split('-').next();
        Some(if is_of_this_year { format!("{number} {month}") } else { format!("{number} {month} {year}") })
    }
}

/// Returns the primary subtag of a language tag.
fn code_of(tag: &str) -> String {
    tag.split('-').next().unwrap_or_default().to_ascii_lowercase()
}

/// Returns the time of day of an instant, to the minute (UTC): `03:00`.
pub(crate) fn minute(at: Timestamp) -> String {
    let minute = at.as_millis().div_euclid(60_000).rem_euclid(1_440);
    format!("{:02}:{:02}", minute / 60, minute % 60)
}

/// Units of time in milliseconds, with their names.
const UNITS: [(u64, [&str; 2], [&str; 2]); 4] = [
    (86_400_000, ["day", "days"], ["giorno", "giorni"]),
    (3_600_000, ["hour", "hours"], ["ora", "ore"]),
    (60_000, ["minute", "minutes"], ["minuto", "minuti"]),
    (1_000, ["second", "seconds"], ["secondo", "secondi"]),
];

/// Common languages of pages: code (ISO 639-1), and the names in English and in Italian.
const NAMES: [(&str, &str, &str); 20] = [
    ("ar", "Arabic", "arabo"),
    ("ca", "Catalan", "catalano"),
    ("cs", "Czech", "ceco"),
    ("da", "Danish", "danese"),
    ("de", "German", "tedesco"),
    ("el", "Greek", "greco"),
    ("en", "English", "inglese"),
    ("es", "Spanish", "spagnolo"),
    ("fi", "Finnish", "finlandese"),
    ("fr", "French", "francese"),
    ("it", "Italian", "italiano"),
    ("ja", "Japanese", "giapponese"),
    ("ko", "Korean", "coreano"),
    ("nl", "Dutch", "olandese"),
    ("pl", "Polish", "polacco"),
    ("pt", "Portuguese", "portoghese"),
    ("ru", "Russian", "russo"),
    ("sv", "Swedish", "svedese"),
    ("uk", "Ukrainian", "ucraino"),
    ("zh", "Chinese", "cinese"),
];
const ENGLISH_MONTHS: &str = "January February March April May June July August September October November December";
const ITALIAN_MONTHS: &str =
    "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre";

/// A language range with its quality. Only the primary subtag counts (`it` of `it-CH`): no page differs by region.
struct Range<'a> {
    primary: &'a str,
    quality: u16,
}

impl Range<'_> {
    /// Parses a range; `None` if it is malformed (RFC 9110 §12.4.2).
    fn parse(text: &str) -> Option<Range<'_>> {
        let mut parts = text.split(';').map(str::trim);
        let primary = parts.next()?.split('-').next()?;
        let quality = match parts.next() {
            None => FULL,
            Some(weight) => quality(weight.strip_prefix("q=").or_else(|| weight.strip_prefix("Q="))?)?,
        };
        (parts.next().is_none() && !primary.is_empty()).then_some(Range { primary, quality })
    }
}

/// Parses a `qvalue`, 0 to 1 with at most three digits after the point; returns thousandths.
fn quality(text: &str) -> Option<u16> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    if part.len() > 3 || !part.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let part: u16 = format!("{part:0<3}").parse().ok()?;
    match whole {
        "0" => Some(part),
        "1" if part == 0 => Some(FULL),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_language_of_highest_quality_is_spoken_and_malformed_ranges_are_passed_over() {
        let english = " | en-GB,en;q=0.9,it;q=0.8 | en, it | fr, de;q=0.9 | * | *, it;q=0.9 | it;q=0 | it;q=0.000, fr";
        let malformed = "it;q=2 | it;q=1.001 | it;q=0.0001 | it;q=-1 | it;q= | it;level=1 | it;q=1;q=1 | ;q=1 | ,,, | \
             ita | i | -it";
        let italian = "it | IT-ch | it-IT,it;q=0.9,en-US;q=0.8,en;q=0.7 | en;q=0.8, it | it, en | fr, it;q=0.1 | \
             *;q=0.5, it;q=0.9 | en;q=0, * | it;q=1.000 | it ; q=0.5 , en;Q=0.4";
        let many = format!("{}it", "fr,".repeat(MAX_RANGES));
        for (fields, language) in [
            (english, Language::English),
            (malformed, Language::English),
            (&many, Language::English),
            (italian, Language::Italian),
        ] {
            for field in fields.split(" | ") {
                assert_eq!(Language::preferred(field), language, "{field}");
            }
        }
    }

    #[test]
    fn numbers_and_days_read_well() {
        let (english, italian) = (Language::English, Language::Italian);
        assert_eq!([english.number(7), english.number(1_234_567)], ["7", "1,234,567"]);
        assert_eq!([italian.number(999), italian.number(12_345)], ["999", "12.345"]);
        assert_eq!(english.day("2026-05-01").as_deref(), Some("1 May 2026"));
        assert_eq!(italian.day("2026-05-01").as_deref(), Some("1 maggio 2026"));
        assert_eq!([english.day("2026-13-01"), italian.day("soon")], [None, None]);
        let short = |language: Language, day| language.short_day(day, "2026-11-27");
        assert_eq!(short(english, "2026-09-04").as_deref(), Some("4 Sep"));
        assert_eq!(short(italian, "2025-05-31").as_deref(), Some("31 mag 2025"));
        assert_eq!(english.span(Millis::from_hours(72)), "3 days");
        assert_eq!(italian.span(Millis::from_secs(1)), "1 secondo");
        assert_eq!(italian.span(Millis::from_hours(36)), "36 ore");
        assert_eq!(english.roughly(Millis::from_mins(119)), "119 minutes");
        assert_eq!(italian.roughly(Millis::from_hours(49)), "2 giorni");
        assert_eq!([italian.roughly(Millis(0)), english.roughly(Millis::from_secs(119))], ["1 secondo", "119 seconds"]);
        let at = Timestamp::from_millis(1_795_230_000_000);
        assert_eq!(italian.moment(at), "21 novembre 2026, 03:00 UTC");
        assert_eq!([english.span(Millis(1_500)), english.span(Millis(0))], ["1,500 ms", "0 ms"]);
    }
}
