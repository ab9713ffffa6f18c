//! Decides from the words next to a date whether it is that of the first publication or of the last change.

use crate::lists::{CHANGED, PUBLISHED};
use crate::text::tail;
use aho_corasick::AhoCorasick;
use curlew_text::date::{DaySpan, Hints, Moment, ascii_digits, find, moment};
use std::sync::LazyLock;

static PUBLICATION: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| AhoCorasick::new(PUBLISHED.iter()).ok());
static CHANGE: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| AhoCorasick::new(CHANGED.iter()).ok());

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LineDates {
    pub(crate) published: Option<Moment>,
    pub(crate) modified: Option<Moment>,
}

/// Returns the dates in a line; `label` is the line before it, which may say what they are dates of.
pub(crate) fn stated(label: &str, line: &str, hints: &Hints) -> LineDates {
    let found = find(line, hints);
    let line = ascii_digits(line);
    let between = |from: usize, to: usize| line.get(from..to).unwrap_or_default();
    let Some((first, last)) = found.first().zip(found.last()) else { return LineDates::default() };
    // "Updated May 3" has the word before the date, "5月3日更新" after it, and then no word may precede the date.
    let behind = !between(0, first.start).contains(char::is_alphabetic) && says_change(between(last.end, line.len()));
    let mut out = LineDates::default();
    for (at, day) in found.iter().enumerate() {
        let DaySpan { start, end, .. } = day;
        let before = at.checked_sub(1).and_then(|at| found.get(at)).map_or(0, |before| before.end);
        let after = found.get(at + 1).map_or(line.len(), |after| after.start);
        let alone = at == 0 && !between(0, *start).contains(char::is_alphabetic);
        let beside = if behind { between(*end, after) } else { between(before, *start) };
        let changed = says_change(beside) || (alone && !behind && says_change(label));
        let slot = if changed { &mut out.modified } else { &mut out.published };
        slot.get_or_insert_with(|| moment(&line, day, hints));
    }
    out
}

/// True if a few words mark the date next to them as that of a change; words before another number are ignored.
pub(crate) fn says_change(text: &str) -> bool {
    /// Longer texts are about something else.
    const MAX_BYTES: usize = 120;
    /// Words that are about the date are near it.
    const NEAR_BYTES: usize = 400;
    let text = tail(text, NEAR_BYTES);
    let text = text.rsplit(|c: char| c.is_ascii_digit()).find(|part| part.contains(char::is_alphabetic)).unwrap_or("");
    text.len() <= MAX_BYTES && CHANGE.as_ref().is_some_and(|words| words.is_match(&text.to_lowercase()))
}

pub(crate) fn says_published(line: &str) -> bool {
    PUBLICATION.as_ref().is_some_and(|words| words.is_match(&line.to_lowercase()))
}

/// Returns the places of words for publishing and changing in a text in lower case.
pub(crate) fn events(lower: &str) -> impl Iterator<Item = usize> {
    let words = [&PUBLICATION, &CHANGE].into_iter().filter_map(|words| words.as_ref());
    words.flat_map(move |words| words.find_overlapping_iter(lower)).map(|found| found.start())
}

#[cfg(test)]
mod tests {
    use super::*;
    use curlew_text::date::Order;

    fn days(label: &str, line: &str) -> (Option<String>, Option<String>) {
        let stated = stated(label, line, &Hints::page(Order::DayFirst));
        (stated.published.map(|shown| shown.at.day()), stated.modified.map(|shown| shown.at.day()))
    }

    #[test]
    fn a_change_is_told_from_the_publication_in_many_languages() {
        let (first, second) = (Some("2026-05-01".to_owned()), Some("2026-05-03".to_owned()));
        for line in [
            "Published May 1, 2026 | Updated May 3, 2026",
            "May 1, 2026 (last updated 3 May 2026)",
            "Last updated: 3 May 2026. Published: 1 May 2026",
            "Pubblicato il 1 maggio 2026, aggiornato il 3 maggio 2026",
            "01.05.2026, 10:30 Uhr, aktualisiert am 03.05.2026",
            "Publié le 1er mai 2026 à 9h30 - Mis à jour le 3 mai 2026",
            "公開日：2026年5月1日　更新日：2026年5月3日",
            "2026年5月1日 9時30分 公開 2026年5月3日 12時 更新",
            "입력 2026.05.01 09:30 수정 2026.05.03 10:00",
            "1 мая 2026, обновлено 3 мая 2026",
            "1 Μαΐου 2026, Ενημερώθηκε: 3 Μαΐου 2026",
            "1 مايو 2026 - آخر تحديث 3 مايو 2026",
            "1 मई 2026 | अपडेट: 3 मई 2026",
            "1 พ.ค. 2569 อัปเดต 3 พ.ค. 2569",
        ] {
            assert_eq!(days("", line), (first.clone(), second.clone()), "{line}");
        }
        assert_eq!(days("", "Updated May 3, 2026"), (None, second.clone()));
        assert_eq!(days("Last updated", "May 3, 2026"), (None, second.clone()));
        assert_eq!(days("By Ada Example", "May 3, 2026"), (second, None));
        assert_eq!(days("Updated", "nothing"), (None, None));
    }
}
