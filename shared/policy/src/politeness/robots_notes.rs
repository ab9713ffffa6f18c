//! Records in the row of a host key that a robots.txt is unchanged, so that its copy need not be written again.

use crate::{address::hash64, robots::MAX_AGE};
use curlew_model::{Millis, Origin, RobotsNotes, Timestamp};

/// Maximum number of noted files: some 200 bytes of the row.
const MAX_NOTES: usize = 8;
/// Age at which the copy of an unchanged robots.txt is written again; a store drops copies after 30 days.
pub const WRITTEN_AGAIN: Millis = Millis::from_days(25);
/// Minimum time for which a note must be valid after the next use of its file to be worth a write.
const HARDLY_USED: Millis = Millis::from_hours(1);

/// Decision about an answer that says that a robots.txt has not changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unchanged {
    /// The file is noted, and the note is worth a write of the host key's row.
    Noted,
    /// The file will be too old at its next use, so the note is kept only if the row is written anyway.
    Needless,
    /// The copy is written again: it is too old, or there are too many notes.
    WriteCopy,
}

/// Notes that the robots.txt `of` an origin, whose `next` use is known, is unchanged since its copy was `written`.
pub fn note(notes: &mut RobotsNotes, of: &Origin, written: Timestamp, now: Timestamp, next: Timestamp) -> Unchanged {
    if written + WRITTEN_AGAIN <= now {
        return Unchanged::WriteCopy;
    }
    notes.0.retain(|_, minute| fresh_until(*minute) > now);
    let file = hash64(of.as_str());
    let has_room = notes.0.len() < MAX_NOTES || notes.0.contains_key(&file);
    if has_room {
        notes.0.insert(file, now.minute());
    }
    match (next + HARDLY_USED < now + MAX_AGE, has_room) {
        (false, _) => Unchanged::Needless,
        (true, true) => Unchanged::Noted,
        (true, false) => Unchanged::WriteCopy,
    }
}

fn fresh_until(minute: i64) -> Timestamp {
    Timestamp::from_millis(minute.saturating_mul(60_000)) + MAX_AGE
}

/// Returns until when the copy written at `written` may be used without a new request; `None` without a note.
pub fn unchanged_until(notes: &RobotsNotes, origin: &Origin, written: Timestamp) -> Option<Timestamp> {
    let minute = *notes.0.get(&hash64(origin.as_str()))?;
    (minute > written.minute()).then(|| fresh_until(minute))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::panic, reason = "a test may panic")]
    use super::*;

    const DAY: i64 = 1_440;

    fn at(minutes: i64) -> Timestamp {
        Timestamp::from_millis(1_764_000_000_000 + minutes * 60_000)
    }

    fn origin(n: usize) -> Origin {
        Origin::new(&format!("https://a{n}.example:443")).unwrap_or_else(|e| panic!("{e}"))
    }

    #[test]
    fn a_file_that_has_not_changed_is_noted_for_a_day_and_its_copy_written_again_after_weeks() {
        let mut notes = RobotsNotes::default();
        assert_eq!(unchanged_until(&notes, &origin(0), at(0)), None);
        assert_eq!(note(&mut notes, &origin(0), at(0), at(1_500), at(1_980)), Unchanged::Noted);
        assert_eq!(unchanged_until(&notes, &origin(0), at(0)), Some(at(1_500) + MAX_AGE));
        assert_eq!(
            unchanged_until(&notes, &origin(0), at(1_500)),
            None,
            "another visit has written what it found then"
        );
        assert_eq!(unchanged_until(&notes, &origin(1), at(0)), None);
        let weeks = at(25 * DAY);
        assert_eq!(note(&mut notes, &origin(0), at(0), weeks, weeks), Unchanged::WriteCopy);
    }

    #[test]
    fn a_note_that_nobody_will_use_is_not_worth_a_write() {
        let mut notes = RobotsNotes::default();
        assert_eq!(note(&mut notes, &origin(0), at(0), at(DAY), at(2 * DAY)), Unchanged::Needless);
        assert_eq!(
            unchanged_until(&notes, &origin(0), at(0)),
            Some(at(2 * DAY)),
            "it goes with what is written anyway"
        );
        assert_eq!(note(&mut notes, &origin(0), at(0), at(DAY), at(2 * DAY - 61)), Unchanged::Noted);
    }

    #[test]
    fn a_row_has_few_notes_and_those_that_are_over_make_room() {
        let mut notes = RobotsNotes::default();
        let wanted = |notes: &mut RobotsNotes, n, now| note(notes, &origin(n), at(0), now, now);
        assert!((0..MAX_NOTES).all(|n| wanted(&mut notes, n, at(1)) == Unchanged::Noted));
        assert_eq!(wanted(&mut notes, MAX_NOTES, at(1)), Unchanged::WriteCopy);
        assert_eq!(wanted(&mut notes, 0, at(2)), Unchanged::Noted, "it has a place already");
        assert_eq!(note(&mut notes, &origin(MAX_NOTES), at(0), at(2), at(9 * DAY)), Unchanged::Needless);
        assert_eq!(wanted(&mut notes, MAX_NOTES, at(1 + DAY)), Unchanged::Noted);
        assert_eq!(notes.0.len(), 2, "{notes:?}");
    }
}
