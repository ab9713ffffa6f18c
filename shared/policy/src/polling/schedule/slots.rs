//! Slots: the minutes of the eight-hour cycle at which dispatch checks feeds.
//!
//! A feed's slot follows from its key, so polls need no index of due times. A longer interval skips cycles; a shorter
//! one lists the feed under up to seven extra slots (see [`curlew_model::ExtraSlot`]). A tick of dispatch that was cut
//! off resumes at a place: an instant within the slot's minute that stands for the keys (hashes) read so far.

use super::after_skips;
use crate::{rules::Rules, skew::unless_ahead};
use curlew_model::{FeedSource, Millis, Slot, SourceKey, Timestamp};

const CYCLE: i64 = Slot::COUNT as i64;
/// Number of minutes after its slot within which a poll is on time: the maximum time of a batch.
const ON_TIME_MINUTES: i64 = 15;
/// Possible numbers of polls in a cycle; each divides the cycle evenly.
const TIMES: [u16; 3] = [8, 4, 2];
/// Number of minutes beyond the interval to search for the next poll, whatever days are skipped.
const LOOK_AHEAD: i64 = 8 * 3 * CYCLE;

/// Number of places in a slot: the milliseconds of a minute.
const PARTS: u128 = 60_000;
/// Number of values of the first [`DIGITS`] hexadecimal digits of a key.
const NUMBERS: u128 = 1 << 64;
const DIGITS: usize = 16;

/// Returns the number of a feed's slots in a cycle: 1, 2, 4 or 8, never closer together than the interval.
pub fn times_a_cycle(interval: Millis, rules: &Rules) -> u16 {
    let fits = |times: &&u16| interval <= Millis::from_mins(u64::from(Slot::COUNT / **times));
    if rules.adaptive { TIMES.iter().find(fits).copied().unwrap_or(1) } else { 1 }
}

/// True if two intervals lead to the same slots and cycles.
pub fn same_slots(a: Millis, b: Millis, rules: &Rules) -> bool {
    (times_a_cycle(a, rules), cycles(a)) == (times_a_cycle(b, rules), cycles(b))
}

/// Returns the extra slots of a feed that is checked `times` times a cycle, with the keys of their rows.
pub fn extra_slots(feed: &FeedSource, times: u16) -> Vec<(SourceKey, Slot)> {
    let apart = u64::from(Slot::COUNT / times.max(1));
    (1..u64::from(times))
        .filter_map(|n| at_slot(feed, Slot::from_hash(u64::from(feed.slot.index()) + n * apart)))
        .collect()
}

/// Returns the feed's key changed for another slot: the first 16 digits of a key determine its slot.
fn at_slot(feed: &FeedSource, slot: Slot) -> Option<(SourceKey, Slot)> {
    let (number, rest) = feed.key.as_str().split_at_checked(16)?;
    let count = u64::from(Slot::COUNT);
    let number = u64::from_str_radix(number, 16).ok()?.min(u64::MAX - count);
    let number = number - number % count + u64::from(slot.index());
    Some((SourceKey::new(&format!("{number:016x}{rest}")).ok()?, slot))
}

/// Returns the earliest time at which a feed may be polled again, regardless of its slots.
pub fn may_poll_from(feed: &FeedSource, rules: &Rules, now: Timestamp) -> Timestamp {
    let polled_at = unless_ahead(feed.polled_at, rules, now);
    unless_ahead(feed.not_before, rules, now).max(polled_at + rules.poll_floor)
}

/// True if a feed is due when `slot`, its own or an extra one, has come, or shortly after; see [`postponed`].
pub fn feed_is_due(feed: &FeedSource, slot: Slot, rules: &Rules, now: Timestamp) -> bool {
    let times = times_a_cycle(feed.interval, rules);
    // A missed slot is caught up, maybe in the next cycle.
    let came = now.minute() - (now.minute() - i64::from(slot.index())).rem_euclid(CYCLE);
    !feed.gone
        && is_soon(feed, rules, now)
        && into_slot(feed, slot.index().into(), times) == 0
        && (times > 1 || in_cycle(feed, came))
}

/// True if a feed may be polled now, or soon enough to be on time: the last poll may have been a little late, too.
pub fn is_soon(feed: &FeedSource, rules: &Rules, now: Timestamp) -> bool {
    now + lateness(rules) >= may_poll_from(feed, rules, now)
}

/// Returns the maximum delay with which a poll still belongs to its slot: at most a quarter of the floor.
fn lateness(rules: &Rules) -> Millis {
    Millis::from_mins(ON_TIME_MINUTES.unsigned_abs()).min(Millis(rules.poll_floor.0 / 4))
}

fn into_slot(feed: &FeedSource, minute: i64, times: u16) -> i64 {
    (minute - i64::from(feed.slot.index())).rem_euclid(CYCLE / i64::from(times.max(1)))
}

/// True if the feed is polled in the cycle of this minute; the slot spreads feeds with long intervals over the cycles.
fn in_cycle(feed: &FeedSource, minute: i64) -> bool {
    (minute.div_euclid(CYCLE) + i64::from(feed.slot.index())).rem_euclid(cycles(feed.interval)) == 0
}

/// True if a late poll that is not recorded might let the next one come before the floor.
pub fn is_near_floor(feed: &FeedSource, rules: &Rules) -> bool {
    let times = times_a_cycle(feed.interval, rules);
    let apart = CYCLE / i64::from(times) - ON_TIME_MINUTES;
    times > 1 && Millis::from_mins(apart.unsigned_abs()) < rules.poll_floor
}

/// True if a poll at `now` belongs to a slot of the feed that has just come.
pub fn is_on_time(feed: &FeedSource, rules: &Rules, now: Timestamp) -> bool {
    into_slot(feed, now.minute(), times_a_cycle(feed.interval, rules)) <= ON_TIME_MINUTES
}

/// Returns when the poll of the slot at `at` may take place under all limits; `None` if the next slot is sooner.
pub fn postponed(feed: &FeedSource, rules: &Rules, at: Timestamp) -> Option<Timestamp> {
    let allowed = after_skips(at.max(may_poll_from(feed, rules, at)), &feed.polling.hints);
    let minutes = match times_a_cycle(feed.interval, rules) {
        1 => CYCLE.saturating_mul(cycles(feed.interval)),
        times => CYCLE / i64::from(times),
    };
    (allowed < at + Millis::from_mins(minutes.unsigned_abs())).then_some(allowed)
}

/// Returns the earliest allowed time to poll a feed whose hub announced news; `None` if its own slot comes first. Polls
/// without changes are not recorded, so a slot that came within the floor counts as polled.
pub fn early(feed: &FeedSource, rules: &Rules, now: Timestamp) -> Option<Timestamp> {
    let times = times_a_cycle(feed.interval, rules);
    let slot = Timestamp::from_millis((now.minute() - into_slot(feed, now.minute(), times)).saturating_mul(60_000));
    let has_come = if times > 1 { !is_near_floor(feed, rules) } else { in_cycle(feed, slot.minute()) };
    let unwritten = if has_come { slot + lateness(rules) + rules.poll_floor } else { Timestamp::MIN };
    let from = now.max(may_poll_from(feed, rules, now)).max(unwritten);
    let at = after_skips(from, &feed.polling.hints);
    next_poll(feed, rules, now).is_none_or(|next| at < next).then_some(at)
}

/// Returns when a feed is polled at a person's request: now, unless its last poll was less than
/// [`Rules::poll_on_request`] ago, its server sent a `Retry-After`, or it skips these hours.
pub fn on_request(feed: &FeedSource, rules: &Rules, now: Timestamp) -> Timestamp {
    let rested = unless_ahead(feed.polled_at, rules, now) + rules.poll_on_request;
    let asked = feed.polling.retry_at.map_or(Timestamp::MIN, |at| unless_ahead(at, rules, now));
    after_skips(now.max(rested).max(asked), &feed.polling.hints)
}

/// Returns the time of the next scheduled poll of a feed; `None` if its polling has stopped.
pub fn next_poll(feed: &FeedSource, rules: &Rules, now: Timestamp) -> Option<Timestamp> {
    let times = times_a_cycle(feed.interval, rules);
    let apart = CYCLE / i64::from(times);
    let early = may_poll_from(feed, rules, now) - lateness(rules);
    let minute = (now.max(early) + Millis(59_999)).minute();
    let first = minute + (apart - into_slot(feed, minute, times)) % apart;
    let last = first.saturating_add(cycles(feed.interval).saturating_mul(CYCLE)).saturating_add(LOOK_AHEAD);
    let mut slots = (first..=last).step_by(usize::try_from(apart).unwrap_or(1));
    let due = |minute: i64| !feed.gone && (times > 1 || in_cycle(feed, minute));
    slots.find_map(|minute| {
        let at = Timestamp::from_millis(minute.saturating_mul(60_000));
        if due(minute) { postponed(feed, rules, at) } else { None }
    })
}

fn cycles(interval: Millis) -> i64 {
    let cycle = Millis::from_mins(CYCLE.unsigned_abs()).0;
    i64::try_from(interval.0.div_ceil(cycle)).unwrap_or(i64::MAX).max(1)
}

/// A slot that has come and has not been processed completely.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DueSlot {
    /// The slot.
    pub slot: Slot,
    /// Beginning of the minute in which the slot came last.
    pub came: Timestamp,
    /// Place within the slot at which processing starts; `came` for its beginning.
    pub from: Timestamp,
}

/// Returns the slots after the minute of `done` up to the minute of `now`, earliest first, each once; all slots if
/// `done` is missing or in the future. A place `within` one of them is where an earlier tick stopped.
pub fn slots_due(done: Option<Timestamp>, within: Option<Timestamp>, now: Timestamp) -> Vec<DueSlot> {
    let to = now.minute();
    let done = done.filter(|done| done.minute() <= to);
    let oldest = done.map_or(to - CYCLE, |done| done.minute().max(to - CYCLE)) + 1;
    let within = within.filter(|place| (oldest..=to).contains(&place.minute()));
    let first = within.map_or(oldest, Timestamp::minute);
    let due = |minute: i64| {
        let came = Timestamp::from_millis(minute.saturating_mul(60_000));
        let from = within.filter(|_| minute == first).unwrap_or(came);
        DueSlot { slot: Slot::from_hash(minute.rem_euclid(CYCLE).unsigned_abs()), came, from }
    };
    (first..=to).map(due).collect()
}

impl DueSlot {
    /// Returns the place of a key within the slot, rounded down; keys with the same place must be processed together.
    pub fn place_of(&self, key: &SourceKey) -> Timestamp {
        let number = key.as_str().get(..DIGITS).and_then(|digits| u64::from_str_radix(digits, 16).ok()).unwrap_or(0);
        let part = u128::from(number) * PARTS / NUMBERS;
        Timestamp::from_millis(self.came.as_millis().saturating_add(i64::try_from(part).unwrap_or(0)))
    }

    /// Returns a key directly before all keys at or after the place `from`; `None` if those are all keys.
    pub fn after(&self) -> Option<SourceKey> {
        let part = u128::from(self.from.since(self.came).0).min(PARTS - 1);
        let first = u64::try_from((part * NUMBERS).div_ceil(PARTS)).ok()?;
        SourceKey::new(&format!("{:016x}{:f<DIGITS$}", first.checked_sub(1)?, "")).ok()
    }
}
