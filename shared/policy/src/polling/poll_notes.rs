//! Notes of polls in the row of a host key, for feeds polled nearly as often as the floor allows. A poll writes that
//! row anyway for its lease, so it need not also write its feed's row to keep the next poll above the floor.

use crate::{address::hash64, rules::Rules, skew::unless_ahead};
use curlew_model::{Millis, PollNotes, SourceKey, Timestamp};

/// Maximum number of noted feeds, some 300 bytes of the row; polls of other feeds write their feeds' rows.
const MAX_NOTES: usize = 8;
/// Time from the request for a lease within which a noted poll must have its answer; a later one writes its feed's row.
const ENDS_WITHIN: Millis = Millis::from_secs(3);

/// A poll that is noted in the row of its host key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotedPoll {
    feed: u64,
    before: Option<Timestamp>,
    until: Timestamp,
}

impl NotedPoll {
    /// Notes a poll that requests its lease at `now` and waits for the floor; `None` if there is no room for the note.
    pub fn note(notes: &mut PollNotes, feed: &SourceKey, rules: &Rules, now: Timestamp) -> Option<NotedPoll> {
        notes.0.retain(|_, at| unless_ahead(*at, rules, now) + rules.poll_floor > now);
        let feed = hash64(feed.as_str());
        let before = notes.0.get(&feed).copied();
        if before.is_none() && notes.0.len() >= MAX_NOTES {
            return None;
        }
        let until = before.map_or(now, |at| at + rules.poll_floor) + ENDS_WITHIN;
        notes.0.insert(feed, until);
        Some(NotedPoll { feed, before, until })
    }

    /// Returns true if the note covers a call that ended at this instant; the floor counts from the end of the call.
    pub fn covers(&self, ended: Timestamp) -> bool {
        ended <= self.until
    }

    /// Removes the note of a poll that did not take place.
    pub fn undo(&self, notes: &mut PollNotes) {
        match self.before {
            Some(at) => notes.0.insert(self.feed, at),
            None => notes.0.remove(&self.feed),
        };
    }
}

/// Returns the latest time at which the noted call of a feed ended.
pub fn latest_end(notes: &PollNotes, feed: &SourceKey, rules: &Rules, now: Timestamp) -> Option<Timestamp> {
    notes.0.get(&hash64(feed.as_str())).map(|at| unless_ahead(*at, rules, now))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::panic, clippy::unwrap_used, reason = "a test may panic")]
    use super::*;

    fn at(minutes: u64, seconds: u64) -> Timestamp {
        Timestamp::from_millis(1_764_000_000_000) + Millis::from_mins(minutes) + Millis::from_secs(seconds)
    }

    fn feed(n: usize) -> SourceKey {
        SourceKey::new(&format!("{n:032x}")).unwrap()
    }

    #[test]
    fn the_next_poll_waits_for_the_floor_from_the_latest_call_that_a_note_covers() {
        let (mut notes, rules) = (PollNotes::default(), Rules::default());
        let first = NotedPoll::note(&mut notes, &feed(0), &rules, at(0, 0)).unwrap();
        assert_eq!((first.before, first.covers(at(0, 3)), first.covers(at(0, 4))), (None, true, false));
        assert_eq!(latest_end(&notes, &feed(0), &rules, at(1, 0)), Some(at(0, 3)));
        let second = NotedPoll::note(&mut notes, &feed(0), &rules, at(59, 0)).unwrap();
        assert_eq!((second.before, second.covers(at(60, 6)), second.covers(at(60, 7))), (Some(at(0, 3)), true, false));
        second.undo(&mut notes);
        assert_eq!(latest_end(&notes, &feed(0), &rules, at(59, 0)), Some(at(0, 3)), "it did not take place");
        first.undo(&mut notes);
        assert_eq!(notes, PollNotes::default());
    }

    #[test]
    fn a_row_has_few_notes_and_those_beyond_the_floor_make_room() {
        let (mut notes, rules) = (PollNotes::default(), Rules::default());
        let mut note = |n, now| NotedPoll::note(&mut notes, &feed(n), &rules, now).is_some();
        assert!((0..MAX_NOTES).all(|n| note(n, at(0, 0))));
        assert!(!note(MAX_NOTES, at(60, 2)) && note(0, at(60, 2)), "none is over, and one has its place");
        assert!(note(MAX_NOTES, at(60, 3)));
        assert_eq!(notes.0.len(), 2, "{notes:?}");
    }
}
