use super::*;
use crate::rules::Rules;
use curlew_model::{FeedSource, Habit, Millis, PollHints, Slot, SourceKey, Why};

const HOUR: Millis = Millis::from_hours(1);
/// A minute at which a cycle begins.
const START: i64 = 3_000_000 * 480;

fn t(minute: i64) -> Timestamp {
    Timestamp::from_millis(minute * 60_000)
}

fn at(text: &str) -> Timestamp {
    text.parse().unwrap_or_else(|e| panic!("{e}"))
}

fn feed(slot: u64, interval: Millis) -> FeedSource {
    let key = SourceKey::new(&format!("{slot:016x}0123456789abcdef")).unwrap_or_else(|e| panic!("{e}"));
    FeedSource { interval, ..FeedSource::new(key, Slot::from_hash(slot), "https://example.org/feed") }
}

fn unadaptive() -> Rules {
    Rules { adaptive: false, ..Rules::default() }
}

fn asking() -> Inputs {
    Inputs { conditional: true, ..Inputs::default() }
}

#[test]
fn each_slot_comes_once_a_cycle_whatever_the_ticks() {
    let mut seen = vec![0; usize::from(Slot::COUNT)];
    let mut last = t(1_000_000);
    for step in [1, 1, 2, 5, 60, 100, 311] {
        let now = t(last.minute() + step);
        for due in slots_due(Some(last), None, now) {
            seen[usize::from(due.slot.index())] += 1;
        }
        assert!(slots_due(Some(now), None, now).is_empty(), "a tick that fires twice does nothing");
        last = now;
    }
    assert!(seen.iter().all(|n| *n == 1));
    assert_eq!(slots_due(Some(t(0)), None, t(10_000_000)).len(), 480, "what was missed is caught up once");
    assert_eq!(slots_due(None, None, t(5)).len(), 480);
}

#[test]
fn a_place_within_a_slot_is_taken_up_and_one_that_is_old_or_of_the_future_is_not() {
    let (done, now) = (t(1_000_000), t(1_000_010));
    let within = t(1_000_004) + Millis(30_000);
    let due = slots_due(Some(done), Some(within), now);
    assert_eq!((due.len(), due[0].came, due[0].from), (7, t(1_000_004), within));
    assert!(due[1..].iter().all(|due| due.from == due.came && due.after().is_none()));
    for other in [t(1_000_000), t(999_000), t(1_000_011)] {
        assert_eq!(slots_due(Some(done), Some(other), now), slots_due(Some(done), None, now), "{other}");
    }
    let longer = slots_due(Some(t(0)), Some(t(5)), now);
    assert_eq!((longer.len(), longer[0].from), (480, longer[0].came), "it is of another cycle");
}

proptest::proptest! {
    /// No key is skipped, wherever a tick was cut off: the next tick reads exactly the keys from that place on.
    #[test]
    fn after_a_place_come_all_keys_that_have_it_or_a_later_one(last: u64, next: u64) {
        let key = |number: u64| SourceKey::new(&format!("{number:016x}0123456789abcdef")).unwrap_or_else(|e| panic!("{e}"));
        let slot = slots_due(Some(t(6)), None, t(7)).remove(0);
        let place = slot.place_of(&key(last));
        let again = DueSlot { from: place, ..slot.clone() };
        let is_read = again.after().is_none_or(|after| key(next) > after);
        proptest::prop_assert_eq!(is_read, slot.place_of(&key(next)) >= place);
        proptest::prop_assert_eq!(place.minute(), 7);
    }
}

/// Returns the slots under which a feed is listed.
fn slots(feed: &FeedSource, rules: &Rules) -> Vec<Slot> {
    let extra = extra_slots(feed, times_a_cycle(feed.interval, rules)).into_iter().map(|(_, slot)| slot);
    [feed.slot].into_iter().chain(extra).collect()
}

/// Returns the minutes of a week at which dispatch finds the feed due in any of its slots.
fn polls_of_a_week(feed: &FeedSource, rules: &Rules) -> Vec<i64> {
    let slots = slots(feed, rules);
    let due = |minute: &i64| {
        let now = t(START + minute);
        let came = slots_due(Some(now - Millis::from_mins(1)), None, now);
        slots.iter().any(|slot| came.iter().any(|due| due.slot == *slot) && feed_is_due(feed, *slot, rules, now))
    };
    (0..7 * 1_440).filter(due).collect()
}

#[test]
fn a_feed_is_polled_three_times_a_day_or_as_often_as_its_interval_says() {
    let rules = Rules::default();
    for (hours, polls) in [(1, 168), (2, 84), (3, 42), (4, 42), (5, 21), (8, 21), (9, 11), (24, 7), (168, 1)] {
        for slot in [0, 7, 479] {
            let feed = feed(slot, Millis::from_hours(hours));
            let found = polls_of_a_week(&feed, &rules);
            assert!(found.len().abs_diff(polls) <= usize::from(hours == 9), "{hours} h, slot {slot}: {}", found.len());
            let apart = found.windows(2).map(|pair| pair[1] - pair[0]).min().unwrap_or(i64::MAX);
            assert!(apart >= i64::try_from(hours).unwrap_or(0) * 60, "{hours} h: never closer than the interval");
            assert!(found.iter().all(|minute| is_on_time(&feed, &rules, t(START + minute))));
            assert_eq!(next_poll(&feed, &rules, t(START)), found.first().map(|minute| t(START + minute)));
        }
    }
    assert_eq!(polls_of_a_week(&feed(7, HOUR), &unadaptive()).len(), 21, "not more often unless it is adaptive");
    for (slot, minute, on_time) in [(5, 5, true), (5, 500, true), (5, 21, false), (5, 4, false), (479, 480, true)] {
        assert_eq!(is_on_time(&feed(slot, Millis::from_hours(8)), &rules, t(minute)), on_time, "{slot} {minute}");
    }
}

#[test]
fn a_slot_that_was_missed_at_the_end_of_a_cycle_is_caught_up_with_in_the_next() {
    let rules = Rules::default();
    let feed = feed(479, Millis::from_hours(24));
    let due = |minute: i64| feed_is_due(&feed, feed.slot, &rules, t(minute));
    let on_time = (0..3).map(|cycle| START + 480 * cycle + 479).find(|minute| due(*minute));
    let minute = on_time.unwrap_or_default();
    assert!(due(minute + 10), "ten minutes late, which is another cycle");
    assert!(!due(minute + 10 + 480) && !due(minute + 10 + 960));
}

#[test]
fn a_further_slot_has_a_key_that_leads_to_it() {
    for slot in [0, 5, 479, u64::MAX] {
        let mut feed = feed(slot, HOUR);
        feed.slot = Slot::from_hash(slot);
        let extra = extra_slots(&feed, 8);
        assert_eq!(extra.len(), 7);
        for (key, slot) in extra {
            assert_eq!(crate::address::slot(&key), slot, "as an adapter finds it by its key alone");
            assert_ne!(key, feed.key);
        }
        let fewer: Vec<_> = extra_slots(&feed, 2);
        assert!(fewer.iter().all(|few| extra_slots(&feed, 8).contains(few)), "what is listed stays of use");
    }
}

#[test]
fn h07_no_burst_after_an_import_or_restart() {
    let rules = Rules::default();
    let mut f = feed(3, rules.poll_interval);
    f.polled_at = t(480_003);
    assert!(!feed_is_due(&f, f.slot, &rules, t(480_003 + 44)));
    assert_eq!(postponed(&f, &rules, t(480_003 + 45)), Some(t(480_003 + 60)), "never sooner than an hour after");
    f.polled_at = Timestamp::MIN;
    f.not_before = t(480_019);
    assert!(!feed_is_due(&f, f.slot, &rules, t(480_003)));
    f.gone = true;
    assert!(!feed_is_due(&f, f.slot, &rules, t(990_003)));
    assert_eq!(next_poll(&f, &rules, t(0)), None);
}

#[test]
fn h07_an_hour_with_validators_and_a_day_without_whatever_the_history_says() {
    let rules = Rules::default();
    let busy = Habit { gap: Some(Millis::from_mins(1)), news_at: Some(t(0)) };
    let with = plan(&Inputs { habit: busy, ..asking() }, &rules, t(0));
    assert_eq!((with.interval, with.why), (HOUR, Why::History));
    let without = plan(&Inputs { habit: busy, ..Inputs::default() }, &rules, t(0));
    assert_eq!((without.interval, without.why), (Millis::from_hours(24), Why::Blind));
}

#[test]
fn h07_the_floor_holds_between_two_slots_of_a_feed_that_was_polled_late() {
    let rules = Rules::default();
    let mut f = feed(0, HOUR);
    f.polled_at = t(START + 10);
    let next = Slot::from_hash(60);
    assert!(feed_is_due(&f, next, &rules, t(START + 60)), "a job is sent, and waits for the rest of the hour");
    assert_eq!(postponed(&f, &rules, t(START + 60)), Some(t(START + 70)));
    assert_eq!(next_poll(&f, &rules, t(START + 11)), Some(t(START + 70)));
    f.polled_at = t(START + 30);
    assert!(!feed_is_due(&f, next, &rules, t(START + 60)));
}

#[test]
fn f05_f07_f08_h10_hints_only_lengthen_and_are_clamped_and_the_longest_is_named() {
    let rules = Rules::default();
    let days = Millis::from_days;
    for (hint, interval, why) in [
        (None, rules.poll_interval, Why::Usual),
        (Some(Millis::ZERO), rules.poll_interval, Why::Usual),
        (Some(Millis::from_hours(8)), rules.poll_interval, Why::Usual),
        (Some(days(2)), days(2), Why::Ttl),
        (Some(Millis(u64::MAX)), rules.poll_cap, Why::Ttl),
    ] {
        let of = |hints| plan(&Inputs { hints, ..asking() }, &rules, t(0));
        let made = of(PollHints { ttl: hint, ..PollHints::default() });
        assert_eq!((made.interval, made.why), (interval, why), "ttl {hint:?}");
        let made = of(PollHints { fresh_for: hint, ..PollHints::default() });
        assert_eq!(made.interval, interval, "max-age {hint:?}");
        assert!(made.not_before <= t(0) + rules.poll_cap);
    }
    assert_eq!(plan(&Inputs::default(), &rules, t(0)).interval, rules.poll_interval_blind);
    let (ttl, update_period, fresh_for) = (Some(Millis::from_hours(30)), Some(days(3)), Some(days(2)));
    let hints = PollHints { ttl, update_period, fresh_for, ..PollHints::default() };
    let made = plan(&Inputs { hints, ..asking() }, &rules, t(0));
    assert_eq!((made.interval, made.why), (days(3), Why::UpdatePeriod));
}

#[test]
fn h11_age_is_taken_off_max_age() {
    let hours = Millis::from_hours;
    let hints = PollHints { fresh_for: Some(hours(40)), ..PollHints::default() };
    for (age, interval, why, wait) in [(10, 30, Why::Fresh, 30), (9 * 24, 8, Why::Usual, 0)] {
        let made = plan(&Inputs { hints, age: hours(age), ..asking() }, &Rules::default(), t(0));
        assert_eq!(made, Plan { interval: hours(interval), not_before: t(0) + hours(wait), why });
    }
}

#[test]
fn f08_h08_retry_after_puts_the_next_poll_off_within_its_cap() {
    let rules = Rules::default();
    for (asked, waits, why) in [
        (Millis::from_mins(1), Millis::from_mins(1), Why::Usual),
        (Millis::from_days(3), Millis::from_days(3), Why::RetryAfter),
        (Millis::from_days(30), rules.retry_after_cap, Why::RetryAfter),
    ] {
        let made = plan(&Inputs { retry_after: Some(t(0) + asked), ..asking() }, &rules, t(0));
        assert_eq!((made.not_before, made.why, made.interval), (t(0) + waits, why, rules.poll_interval), "{asked:?}");
    }
    let wrong = Some((Millis::from_days(2), Why::Lost));
    let made = plan(&Inputs { wrong, ..asking() }, &rules, t(0));
    assert_eq!((made.not_before, made.why), (t(0) + Millis::from_days(2), Why::Lost));
}

#[test]
fn f06_skips_are_stepped_over_unless_they_cover_everything() {
    let hints = |hours: &[u8], days: &[u8]| {
        let (skip_hours, skip_days) = skips(hours, days);
        PollHints { skip_hours, skip_days, ..PollHints::default() }
    };
    let monday_ten = at("2026-11-23T10:20:00Z");
    let after = |hours: &[u8], days: &[u8]| after_skips(monday_ten, &hints(hours, days));
    assert_eq!(after(&[], &[]), monday_ten);
    assert_eq!(after(&[10, 11], &[]), at("2026-11-23T12:00:00Z"));
    assert_eq!(after(&[], &[0]), at("2026-11-24T00:00:00Z"));
    assert_eq!(after(&(1..=24).collect::<Vec<_>>(), &[]), monday_ten);
    assert_eq!(after(&[], &[0, 1, 2, 3, 4, 5, 6]), monday_ten);
    assert_eq!(skips(&[24, 99], &[9]), (1, 0), "24 is midnight; what is no hour or day is left out");
}

#[test]
fn f06_a_slot_in_a_skipped_hour_is_put_off_and_none_is_lost() {
    let rules = Rules::default();
    // Slots at 2:10, 10:10 and 18:10, all within skipped hours.
    let mut f = feed(130, rules.poll_interval);
    f.polling.hints.skip_hours = skips(&[2, 10, 18, 19], &[]).0;
    assert_eq!(postponed(&f, &rules, at("2026-11-23T18:10:00Z")), Some(at("2026-11-23T20:00:00Z")));
    assert_eq!(next_poll(&f, &rules, at("2026-11-23T00:00:00Z")), Some(at("2026-11-23T03:00:00Z")));
    // Only Mondays: the last slot before a Monday is put off, earlier ones are dropped.
    f.polling.hints = PollHints { skip_days: 0b111_1110, ..PollHints::default() };
    assert_eq!(postponed(&f, &rules, at("2026-11-24T02:10:00Z")), None);
    assert_eq!(postponed(&f, &rules, at("2026-11-29T18:10:00Z")), Some(at("2026-11-30T00:00:00Z")));
    assert_eq!(next_poll(&f, &rules, at("2026-11-24T00:00:00Z")), Some(at("2026-11-30T00:00:00Z")));
    // No slot is due twice because of that, and the feed is polled every Monday.
    let week = (0..21).map(|n| at("2026-11-24T02:10:00Z") + Millis::from_hours(8 * n));
    assert_eq!(week.filter_map(|slot| postponed(&f, &rules, slot)).count(), 4);
}

#[test]
fn history_begins_with_dates_and_is_a_decaying_mean_from_then_on() {
    let hours = Millis::from_hours;
    let habit = |gap: Option<Millis>, news_at| Habit { gap, news_at: Some(news_at) };
    let now = t(100_000);
    let dates = [now - hours(30), now + HOUR, now - hours(10), now - hours(20)];
    let first = start(dates.into_iter(), now);
    assert_eq!(first, habit(Some(hours(10)), now - hours(10)));
    assert_eq!(start([now].into_iter(), now).gap, None, "one date tells no gap");
    let second = news(first, 2, now);
    assert_eq!(second, habit(Some(hours((3 * 10 + 10) / (3 + 2))), now));
    assert_eq!(news(second, 0, now + HOUR), second);
    let bare = news(Habit::default(), 1, now);
    assert_eq!(bare, habit(None, now));
    assert_eq!(news(bare, 4, now + hours(8)).gap, Some(hours(2)));
    // A weekend does not undo the history of a week, and a mean of zero can grow, too.
    for (gap, grown) in [(hours(4), hours(6)), (Millis::ZERO, Millis::from_mins(90))] {
        assert_eq!(news(habit(Some(gap), t(0)), 1, t(64 * 60)).gap, Some(grown), "as if it had been 3 times the mean");
    }
}

#[test]
fn what_comes_within_an_hour_or_with_a_date_that_cannot_be_arrives_together() {
    let habit = Habit { gap: None, news_at: Some(t(600)) };
    let count = |minutes: &[i64]| arrivals(habit, minutes.iter().map(|at| Some(t(*at))), t(1_200));
    assert_eq!(count(&[]), 0);
    assert_eq!(count(&[660, 661, 719]), 1, "a batch");
    assert_eq!(count(&[660, 721, 781]), 3);
    assert_eq!(count(&[1, 2, 500, 9_999]), 1, "of the past and of the future");
    assert_eq!(count(&[1, 661]), 2);
    assert_eq!(arrivals(habit, [None, None], t(1_200)), 1);
    assert_eq!(start([t(1), t(2), t(59)].into_iter(), t(600)).gap, None, "one batch tells no gap");
}

#[test]
fn f08_the_estimate_follows_the_history_between_an_hour_and_a_week() {
    let rules = Rules::default();
    let (hours, day) = (Millis::from_hours, 24);
    for (interval, histories) in [
        (1, &[(0, 0), (7, 15)][..]),
        (2, &[(8, 0), (8, 23)]),
        (4, &[(12, 0), (4, 31)]),
        (8, &[(4, 32), (16, 0), (day, 3), (day, 119)]),
        (24, &[(day, 120), (7 * day, 0), (30 * day, 60 * day)]),
        (72, &[(48 * day, 0), (day, 96 * day)]),
        (168, &[(day, 300 * day)]),
    ] {
        for (gap, silence) in histories {
            let habit = Habit { gap: Some(hours(*gap)), news_at: Some(t(0)) };
            let found = estimate(&habit, &rules, t(0) + hours(*silence));
            assert_eq!(found, Some(hours(interval)), "{gap} {silence}");
        }
    }
    assert_eq!(estimate(&Habit::default(), &rules, t(0)), None);
    let often = Inputs { habit: Habit { gap: Some(HOUR), news_at: None }, ..asking() };
    assert_eq!(plan(&often, &rules, t(0)).why, Why::History);
    let off = plan(&often, &unadaptive(), t(0));
    assert_eq!((off.why, off.interval), (Why::Usual, rules.poll_interval), "if it is switched off");
    assert_eq!(plan(&asking(), &rules, t(0)).interval, rules.poll_interval, "without a history");
    // Hints lengthen the interval from the history, and never shorten it.
    for (gap, ttl, interval) in [(2, 3, 3), (2, 48, 48), (24, 1, 8), (100, 1, 24)] {
        let habit = Habit { gap: Some(hours(gap)), news_at: None };
        let hints = PollHints { ttl: Some(hours(ttl)), ..PollHints::default() };
        let made = plan(&Inputs { habit, hints, ..asking() }, &rules, t(0));
        assert_eq!(made.interval, hours(interval), "{gap} {ttl}");
    }
}

#[test]
fn a_person_waits_for_the_last_poll_retry_after_and_skip_hours_and_for_nothing_else() {
    let rules = Rules::default();
    let now = at("2026-11-24T12:00:00Z");
    let wanted = |change: &dyn Fn(&mut FeedSource)| {
        let mut feed = FeedSource { not_before: now + Millis::from_days(5), ..feed(7, Millis::from_days(7)) };
        change(&mut feed);
        on_request(&feed, &rules, now)
    };
    assert_eq!(wanted(&|_| {}), now, "neither interval nor back-off");
    assert_eq!(wanted(&|feed| feed.polled_at = now - rules.poll_on_request), now);
    assert_eq!(wanted(&|feed| feed.polled_at = now), now + rules.poll_on_request);
    assert_eq!(wanted(&|feed| feed.polling.retry_at = Some(now + HOUR)), now + HOUR);
    assert_eq!(wanted(&|feed| feed.polling.retry_at = Some(now - HOUR)), now);
    assert_eq!(wanted(&|feed| feed.polling.hints.skip_hours = 0b11 << 12), now + HOUR + HOUR);
}

/// Polls a feed according to its history for `days` while posts appear at these minutes. Returns the number of polls a
/// day after the first `learning` days, and the minutes that posts waited for a poll in that time.
fn simulated(posts: &[i64], (days, learning): (i64, i64)) -> (f64, Vec<i64>) {
    let rules = Rules::default();
    let mut feed = feed(7, rules.poll_interval);
    let (end, counted_from) = (days * 1_440, learning * 1_440);
    let (mut seen, mut polls, mut waits) = (0, 0_u32, vec![]);
    for minute in 0..end {
        let now = t(START + minute);
        let came = Slot::from_hash(u64::try_from(now.minute().rem_euclid(480)).unwrap_or_default());
        if !slots(&feed, &rules).contains(&came) || !feed_is_due(&feed, came, &rules, now) {
            continue;
        }
        let new: Vec<i64> = posts[seen..].iter().copied().take_while(|at| *at <= minute).collect();
        seen += new.len();
        let dates = || new.iter().map(|at| t(START + at));
        feed.polling.habit = match (feed.polling.habit, start(dates(), now)) {
            (none, told) if none == Habit::default() && told != none => told,
            (habit, _) => news(habit, arrivals(habit, dates().map(Some), now), now),
        };
        let made = plan(&Inputs { habit: feed.polling.habit, ..asking() }, &rules, now);
        (feed.interval, feed.not_before, feed.polled_at) = (made.interval, made.not_before, now);
        if minute >= counted_from {
            polls += 1;
            waits.extend(new.iter().filter(|at| **at >= counted_from).map(|at| minute - at));
        }
    }
    waits.sort_unstable();
    (f64::from(polls) / (days - learning) as f64, waits)
}

/// Returns the minutes of posts: `of_day` posts a day, at random minutes between 7 and 23 o'clock.
fn posts(seed: u64, days: u64, of_day: impl Fn(u64) -> u64) -> Vec<i64> {
    let at = |day: u64, n: u64| day * 1_440 + 420 + crate::chance::mix(seed ^ day << 20 ^ n << 8) % 960;
    let mut posts: Vec<i64> = (0..days).flat_map(|day| (0..of_day(day)).map(move |n| at(day, n) as i64)).collect();
    posts.sort_unstable();
    posts
}

#[test]
fn a_feed_with_rare_news_is_never_polled_more_than_three_times_a_day() {
    type OfDay = fn(u64) -> u64;
    let cases: [(&str, f64, OfDay); 7] = [
        ("daily", 3.0, |_| 1),
        ("on weekdays", 3.0, |day| u64::from(day % 7 < 5)),
        ("every other day", 3.0, |day| u64::from(day % 2 == 0)),
        ("twice a week", 2.0, |day| u64::from(day % 7 == 1 || day % 7 == 4)),
        ("weekly", 1.1, |day| u64::from(day % 7 == 3)),
        ("monthly", 1.1, |day| u64::from(day % 30 == 3)),
        ("never again", 1.1, |day| u64::from(day < 5)),
    ];
    for (name, most, of_day) in cases {
        for seed in 0..5 {
            let (polls, _) = simulated(&posts(seed, 200, of_day), (200, 30));
            assert!(polls <= most * 1.05, "{name}, seed {seed}: {polls:.2} polls a day");
        }
    }
    let batches: Vec<i64> = (0..28).flat_map(|week| (0..20).map(move |n| week * 10_080 + 600 + n)).collect();
    let (polls, _) = simulated(&batches, (200, 30));
    assert!(polls <= 1.1, "a batch a week: {polls:.2} polls a day");
}

#[test]
fn a_feed_with_news_several_times_a_day_is_polled_soon_after_each() {
    for (name, of_day) in [
        ("3 a day", (|_| 3) as fn(u64) -> u64),
        ("4 a day", |_| 4),
        ("6 on weekdays", |day| if day % 7 < 5 { 6 } else { 0 }),
        ("12 a day", |_| 12),
    ] {
        let (mut polls, mut waits) = (0.0, vec![]);
        for seed in 0..8 {
            let (some, more) = simulated(&posts(seed, 60, of_day), (60, 5));
            (polls, waits) = (polls + some / 8.0, [waits, more].concat());
        }
        waits.sort_unstable();
        let median = waits[waits.len() / 2];
        assert!(median <= 60, "{name}: {median} min");
        assert!(polls <= 24.0, "{name}: {polls}");
    }
}
