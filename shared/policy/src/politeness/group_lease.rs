//! The lease that polls of a group share, so that a quiet poll writes no lease of its own.
//!
//! Each of two visits that want a host key writes its own lease first and then reads the other's, strongly consistent: whoever
//! polls under a group's lease has written that and reads the host key's state; whoever takes the host key's own lease has
//! written that and reads the leases of the groups that the state names ([`HostState::polled_in`]). So at least one of them
//! sees the other and steps back.

use crate::address::hash64;
use crate::politeness::admission::{CLOCKS_DIFFER, spend_untold};
use crate::politeness::pace;
use crate::robots::MAX_AGE;
use crate::rules::Rules;
use curlew_model::{GroupLease, HostState, Millis, Origin, PollGroup, SourceKey, Timestamp, Unchanged};

/// Maximum number of groups that a host key is polled in by shared leases: each of them costs every visit a read. Feeds beyond
/// them are polled under leases of the host key's own.
const MAX_GROUPS: usize = 4;
/// Time after which the end of a shared lease means nothing any more: by then every pause has passed and the burst allowance is
/// whole again.
const REMEMBERED: Millis = Millis::from_mins(10);
/// Time after which polls ask again for a lease that is in force: most of them are given back long before they run out.
const ASK_AGAIN: Millis = Millis::from_mins(1);
/// Maximum number of files that are noted as unchanged in the lease of a group, which is some 10 KB.
const MAX_UNCHANGED: usize = 1_000;
/// Age of a stored robots.txt from which on it is written again even if it has not changed: a store that forgets copies after 30
/// days keeps it then, and where notes are lost a copy still stands in for days.
pub const WRITTEN_AGAIN: Millis = Millis::from_days(21);

/// Answer to polls that ask for the lease of their group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Taking {
    /// The group's lease is granted, once it is written.
    Taken(GroupLease),
    /// The polls were settled under the group's last lease: this is a second delivery.
    Done,
    /// The group's lease is in force; ask again at this time.
    Busy(Timestamp),
    /// The last holder of the group's lease, which had the same polls, has died. One of the polls may be to blame, so
    /// each is run on its own.
    Broken,
}

/// Asks for the lease of a group, for the polls of the slot that came at `due`, of which this feed is the first.
pub fn take(
    found: Option<&GroupLease>,
    (due, first): (Timestamp, &SourceKey),
    length: Millis,
    now: Timestamp,
) -> Taking {
    let is_theirs = |lease: &GroupLease| lease.due == due && lease.first == *first;
    match found {
        Some(lease) if lease.is_finished && is_theirs(lease) => Taking::Done,
        Some(lease) if !lease.is_finished && lease.until > now => Taking::Busy(lease.until.min(now + ASK_AGAIN)),
        Some(lease) if !lease.is_finished && is_theirs(lease) => Taking::Broken,
        _ => {
            let mut unchanged = found.map(|lease| lease.unchanged.clone()).unwrap_or_default();
            unchanged.0.retain(|_, minute| fresh_until(*minute) > now);
            let until = now + length;
            Taking::Taken(GroupLease { due, first: first.clone(), until, is_finished: false, unchanged })
        }
    }
}

/// Returns until when a robots.txt that was as its copy says may be used without asking again.
fn fresh_until(minute: i64) -> Timestamp {
    Timestamp::from_millis(minute.saturating_mul(60_000)) + MAX_AGE
}

/// Notes that the robots.txt of an origin was asked for and has not changed since its copy was written. False if it is not noted, and
/// the copy has to be written: it is too old, or there are too many notes.
pub fn note_unchanged(notes: &mut Unchanged, origin: &Origin, written: Timestamp, now: Timestamp) -> bool {
    let is_noted = written + WRITTEN_AGAIN > now && notes.0.len() < MAX_UNCHANGED;
    if is_noted {
        notes.0.insert(hash64(origin.as_str()), now.minute());
    }
    is_noted
}

/// Returns until when the copy of a robots.txt may be used without asking again, by the notes of polls; `None` if they say nothing
/// of the copy that was written then.
pub fn unchanged_until(notes: &Unchanged, origin: &Origin, written: Timestamp) -> Option<Timestamp> {
    let minute = *notes.0.get(&hash64(origin.as_str()))?;
    (minute > written.minute()).then(|| fresh_until(minute))
}

/// Adds the notes of another group.
pub fn join_notes(mut notes: Unchanged, others: &Unchanged) -> Unchanged {
    for (file, minute) in &others.0 {
        let known = notes.0.entry(*file).or_insert(*minute);
        *known = (*known).max(*minute);
    }
    notes
}

/// Returns the lease with which all polls under it were settled.
pub fn finish(lease: GroupLease, now: Timestamp) -> GroupLease {
    GroupLease { until: now, is_finished: true, ..lease }
}

/// Meaning of a group's lease for a visit of a host key that is polled in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupUse {
    /// A poll may be calling the host key, until this instant.
    InForce(Timestamp),
    /// The last call, if there was one, ended here at the latest.
    Ended(Timestamp),
}

/// Returns what a group's lease means for a visit.
pub fn group_use(lease: &GroupLease, now: Timestamp) -> GroupUse {
    if !lease.is_finished && lease.until > now { GroupUse::InForce(lease.until) } else { GroupUse::Ended(lease.until) }
}

/// The state of a host key after calls under a group's lease that ended at this instant: nobody has written when they were, so one
/// full pause passes, as after a lease that has run out.
pub fn after_group(mut state: HostState, ended: Timestamp, rules: &Rules, now: Timestamp, seed: u64) -> HostState {
    if ended + REMEMBERED > now {
        let from = now.min(ended + CLOCKS_DIFFER);
        state.not_before = state.not_before.max(from + pace::pause(&state, rules, seed));
        state = spend_untold(state, rules, now);
    }
    state
}

/// True if a host key may be polled under the lease of this group.
pub fn is_polled_in(state: &HostState, group: PollGroup) -> bool {
    state.polled_in.contains(&group)
}

/// The state of a host key that is polled in this group from now on, if it is in few enough.
pub fn join(mut state: HostState, group: PollGroup) -> HostState {
    if !is_polled_in(&state, group) && state.polled_in.len() < MAX_GROUPS {
        state.polled_in.push(group);
    }
    state
}

#[cfg(test)]
mod tests {
    #![allow(clippy::panic, reason = "a test may panic")]
    use super::*;
    use curlew_model::Slot;

    const LENGTH: Millis = Millis::from_mins(5);

    fn at(minutes: i64) -> Timestamp {
        Timestamp::from_millis(1_764_000_000_000 + minutes * 60_000)
    }

    fn key(digit: &str) -> SourceKey {
        SourceKey::new(&digit.repeat(32)).unwrap_or_else(|e| panic!("{e}"))
    }

    fn taking(found: Option<&GroupLease>, due: Timestamp, now: Timestamp) -> Taking {
        take(found, (due, &key("0")), LENGTH, now)
    }

    #[test]
    fn polls_of_a_slot_have_the_lease_once_and_a_second_delivery_does_nothing() {
        let Taking::Taken(lease) = taking(None, at(0), at(1)) else { panic!("nobody had it") };
        assert_eq!(taking(Some(&lease), at(0), at(2)), Taking::Busy(at(3)));
        let shortly = at(6) - Millis(1);
        assert_eq!(taking(Some(&lease), at(480), shortly), Taking::Busy(at(6)), "other polls wait, too");
        let done = finish(lease, at(3));
        assert_eq!(taking(Some(&done), at(0), at(4)), Taking::Done);
        assert!(matches!(taking(Some(&done), at(480), at(480)), Taking::Taken(_)), "the next cycle's are others");
        let rest = take(Some(&done), (at(0), &key("1")), LENGTH, at(4));
        assert!(matches!(rest, Taking::Taken(_)), "and so are those of another message");
    }

    #[test]
    fn a_file_that_has_not_changed_is_noted_for_a_day_and_its_copy_written_again_after_weeks() {
        let origin = Origin::new("https://a.example:443").unwrap_or_else(|e| panic!("{e}"));
        let mut notes = Unchanged::default();
        assert_eq!(unchanged_until(&notes, &origin, at(0)), None);
        assert!(note_unchanged(&mut notes, &origin, at(0), at(1_500)));
        assert_eq!(unchanged_until(&notes, &origin, at(0)), Some(at(1_500) + MAX_AGE));
        assert_eq!(unchanged_until(&notes, &origin, at(1_500)), None, "another visit has written what it found then");
        assert!(!note_unchanged(&mut notes, &origin, at(0), at(21 * 1_440)));
        let lease = |unchanged| GroupLease { due: at(0), first: key("0"), until: at(1), is_finished: true, unchanged };
        let kept = |now| match taking(Some(&lease(notes.clone())), now, now) {
            Taking::Taken(lease) => lease.unchanged,
            other => panic!("{other:?}"),
        };
        assert_eq!(kept(at(1_500 + 1_439)), notes);
        assert!(kept(at(1_500 + 1_440)).is_empty());
        let mut full = Unchanged((0..MAX_UNCHANGED as u64).map(|file| (file, 0)).collect());
        assert!(!note_unchanged(&mut full, &origin, at(0), at(1)));
    }

    #[test]
    fn polls_whose_lease_ran_out_are_run_each_on_its_own() {
        let Taking::Taken(lease) = taking(None, at(0), at(1)) else { panic!("nobody had it") };
        assert_eq!(taking(Some(&lease), at(0), at(6)), Taking::Broken);
        assert!(matches!(taking(Some(&lease), at(480), at(480)), Taking::Taken(_)));
    }

    #[test]
    fn a_visit_waits_a_full_pause_after_a_shared_lease() {
        let rules = Rules::default();
        let Taking::Taken(lease) = taking(None, at(0), at(0)) else { panic!("nobody had it") };
        assert_eq!(group_use(&lease, at(1)), GroupUse::InForce(at(5)));
        assert_eq!(group_use(&lease, at(5)), GroupUse::Ended(at(5)), "whoever died in it calls no more");
        let ended = group_use(&finish(lease, at(1)), at(1));
        assert_eq!(ended, GroupUse::Ended(at(1)));
        let state = after_group(HostState::default(), at(1), &rules, at(1), 7);
        assert!(state.not_before >= at(1) + rules.min_pause);
        assert_eq!(after_group(HostState::default(), at(1), &rules, at(12), 7), HostState::default());
    }

    #[test]
    fn a_host_key_is_polled_in_few_groups() {
        let group = |n| PollGroup::of(Slot::of(n), &key("0"));
        let state = (0..9).chain(0..9).fold(HostState::default(), |state, n| join(state, group(n)));
        assert_eq!(state.polled_in.len(), MAX_GROUPS);
        assert!(is_polled_in(&state, group(0)) && !is_polled_in(&state, group(8)));
    }
}
