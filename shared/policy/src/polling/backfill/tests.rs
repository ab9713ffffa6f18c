#![allow(clippy::unwrap_used, reason = "a test may panic")]

use super::*;
use curlew_model::{Hold, HoldReason, Lease, WindowPart};

const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);
const FEED: &str = "https://example.org/feed";

fn key(n: u8) -> SourceKey {
    SourceKey::new(&format!("{n:032x}")).unwrap()
}

fn backfill() -> Backfill {
    let row = Backfill::new(key(1), Slot::from_hash(0), key(2), "https://example.org/".into(), NOW);
    Backfill { phase: BackfillPhase::Feeds(vec![]), ..row }
}

fn feed(number: u32, barren: u32, oldest: Option<Timestamp>) -> DocumentKind {
    DocumentKind::Feed { feed: key(3), number, entries: 10 * (number - 1), barren, oldest }
}

fn url(text: &str) -> Url {
    Url::parse(text).unwrap()
}

fn facts(dates: &[Timestamp]) -> FeedFacts<'static> {
    FeedFacts { dates: dates.iter().map(|date| Some(*date)).collect(), content: 7, ..FeedFacts::default() }
}

#[test]
fn the_archive_comes_first_then_the_next_page_on_the_host_then_the_usual_address() {
    let [archive, next, usual] = ["2025", "2", "?paged=2"].map(|path| url(&format!("https://example.org/{path}")));
    let abroad = url("https://www.blogger.com/2");
    let table = [
        ((Some(&archive), Some(&next), Some(&usual)), Some(&archive)),
        ((None, Some(&next), Some(&usual)), Some(&next)),
        ((None, Some(&abroad), Some(&usual)), Some(&usual)),
        ((None, Some(&abroad), None), Some(&abroad)),
        ((None, None, None), None),
    ];
    for ((prev_archive, next, usual), to) in table {
        let facts = FeedFacts { prev_archive, next, usual, ..facts(&[NOW]) };
        let older = older(&backfill(), &url(FEED), &feed(1, 0, None), &facts, NOW);
        assert_eq!(older.as_ref().ok().map(|older| older.url.as_str()), to.map(Url::as_str), "{older:?}");
        let kind = DocumentKind::Feed { feed: key(3), number: 2, entries: 1, barren: 0, oldest: Some(NOW) };
        assert!(older.is_err() || older.is_ok_and(|older| older.kind == kind));
    }
}

#[test]
fn an_archive_ends_with_an_empty_a_complete_or_a_repeated_document_and_in_a_circle() {
    let next = url("https://example.org/2");
    let ends =
        |row: &Backfill, facts: &FeedFacts<'_>| older(row, &url(FEED), &feed(5, 0, None), facts, NOW).unwrap_err();
    let page = FeedFacts { next: Some(&next), has_new: true, ..facts(&[NOW]) };
    assert!(older(&backfill(), &url(FEED), &feed(5, 0, None), &page, NOW).is_ok());
    assert_eq!(ends(&backfill(), &FeedFacts { dates: vec![], ..page.clone() }), ARCHIVE_READ);
    assert_eq!(ends(&backfill(), &FeedFacts { next: None, ..page.clone() }), ARCHIVE_READ);
    assert!(ends(&backfill(), &FeedFacts { is_complete: true, ..page.clone() }).contains("complete"));
    let mut row = backfill();
    assert!(visit(&mut row, 7) && !visit(&mut row, 7));
    assert!(ends(&row, &page).contains("entries of an earlier one"));
    let mut row = backfill();
    visit(&mut row, hash64(next.as_str()));
    assert!(ends(&row, &page).contains("circle"));
    assert!((100..1_000).all(|n| visit(&mut row, n)));
    assert_eq!(row.visited.len(), 2 * REMEMBERED, "what is remembered is bounded");
}

#[test]
fn two_documents_in_a_row_without_news_and_without_age_end_an_archive() {
    let next = url("https://example.org/2");
    let (day, week) = (NOW - Millis::from_days(1), NOW - Millis::from_days(7));
    let after = |number, barren, has_new, date| {
        let facts = FeedFacts { next: Some(&next), has_new, ..facts(&[date]) };
        older(&backfill(), &url(FEED), &feed(number, barren, Some(day)), &facts, NOW)
    };
    let barren_of = |document: BackfillDocument| match document.kind {
        DocumentKind::Feed { barren, .. } => barren,
        DocumentKind::Sitemap { .. } => 99,
    };
    assert_eq!(after(1, 0, false, NOW).map(barren_of), Ok(0), "the feed itself is known: it is polled");
    assert_eq!(after(2, 0, false, NOW).map(barren_of), Ok(1));
    assert_eq!(after(3, 1, true, NOW).map(barren_of), Ok(0), "something is new");
    assert_eq!(after(3, 1, false, week).map(barren_of), Ok(0), "known, but it leads further back");
    assert!(after(3, 1, false, NOW).unwrap_err().contains("nothing new and nothing older"));
}

#[test]
fn an_archive_ends_where_all_entries_are_older_than_wanted() {
    let next = url("https://example.org/2");
    let since = NOW - Millis::from_days(30);
    let row = Backfill { since: Some(since), ..backfill() };
    let after = |dates: &[Timestamp]| {
        older(&row, &url(FEED), &feed(2, 0, None), &FeedFacts { next: Some(&next), has_new: true, ..facts(dates) }, NOW)
    };
    let old = since - Millis(1);
    assert!(after(&[since, old]).is_ok());
    assert!(after(&[old, old]).unwrap_err().contains("everything since"));
    assert!(is_wanted(Some(since), None) && is_wanted(None, Some(old)) && is_wanted(Some(since), Some(since)));
    assert!(!is_wanted(Some(since), Some(old)));
}

#[test]
fn dates_in_the_future_and_before_the_web_are_none() {
    assert_eq!(date(NOW + Millis::from_days(3), NOW), None);
    assert_eq!(date(EARLIEST - Millis(1), NOW), None);
    assert_eq!(date(Timestamp::MIN, NOW), None);
    assert_eq!(date(EARLIEST, NOW), Some(EARLIEST));
    assert_eq!(EARLIEST.day(), "1990-01-01");
}

#[test]
fn a_host_gives_its_budget_once_a_day_whoever_asks() {
    let rules = Rules::default();
    let mut state = HostState::default();
    let mut take = |wanted, now| {
        let (next, granted) = grant(std::mem::take(&mut state), wanted, &rules, now);
        state = next;
        granted
    };
    let midnight = tomorrow(NOW);
    assert_eq!((0..30).map(|_| take(20, NOW)).sum::<u32>(), 500);
    assert_eq!(take(1, midnight - Millis(1)), 0);
    assert_eq!(take(600, midnight), 500);
    assert_eq!(tomorrow(midnight), midnight + Millis::from_days(1));
}

#[test]
fn steps_are_spread_over_the_day_and_a_cycle_is_caught_up() {
    let rules = Rules { backfill_per_day: 480, ..Rules::default() };
    let step = |row: Backfill, now| pace(row, 20, &rules, now);
    let (mut row, mut taken) = (step(backfill(), NOW), 20);
    assert_eq!(row.due, NOW + Millis::from_hours(1));
    while row.due < NOW + Millis::from_days(1) {
        let now = row.due;
        row = step(row, now);
        taken += 20;
    }
    assert_eq!(taken, 480);
    // After a week without a run, a cycle's pages are caught up at once, but never without a gap for others.
    let (mut now, mut quick) = (row.due + Millis::from_days(7), 20);
    loop {
        row = step(row, now);
        assert!(row.due >= now + Millis::from_secs(20));
        if row.due > now + Millis::from_mins(30) {
            break;
        }
        (now, quick) = (row.due, quick + 20);
    }
    assert!((160..=180).contains(&quick), "{quick}");
}

#[test]
fn a_slow_host_is_left_to_others_for_as_long_as_a_step_takes() {
    let (rules, minute) = (Rules::default(), Millis::from_mins(1));
    assert_eq!(room_until(&HostState::default(), 20, &rules, NOW), NOW + Millis::from_secs(40));
    let slow = HostState { crawl_delay: minute, ..HostState::default() };
    assert_eq!(room_until(&slow, 20, &rules, NOW), NOW + Millis::from_mins(40));
}

#[test]
fn a_held_host_and_the_second_half_of_its_time_are_left_alone() {
    let rules = Rules::default();
    assert_eq!(obstacle(&HostState::default(), &rules, NOW), None);
    let hold = Hold { until: NOW + Millis(5), reason: HoldReason::Forbidden, since: NOW };
    let held = HostState { hold: Some(hold), ..HostState::default() };
    assert_eq!(obstacle(&held, &rules, NOW).unwrap().0, NOW + Millis(5));
    assert_eq!(obstacle(&held, &rules, NOW + Millis(5)), None);
    let spent = |spent| HostState { visited: vec![WindowPart { began: NOW, spent }], ..HostState::default() };
    let free = NOW + rules.window + Millis(rules.window.0 / 8);
    assert_eq!(obstacle(&spent(Millis::from_mins(29)), &rules, NOW), None);
    assert_eq!(obstacle(&spent(Millis::from_mins(30)), &rules, NOW).unwrap().0, free);
    assert_eq!(obstacle(&spent(Millis::from_mins(30)), &rules, free), None);
}

#[test]
fn sitemaps_follow_where_no_feed_leads_back_and_a_person_asks_or_there_is_no_feed() {
    let wanted = [(0, false, false), (1, true, false)];
    let others = [(1, false, false), (9, true, true), (9, false, true)];
    for (documents, asked, has_archive) in wanted.into_iter().chain(others) {
        let wanted = wanted.contains(&(documents, asked, has_archive));
        let row = Backfill { documents, asked, has_archive, ..backfill() };
        assert_eq!(next(&row) == Work::Sitemaps, wanted, "{documents} {asked} {has_archive}");
        let feeds = BackfillPhase::Feeds(vec![key(9)]);
        assert_eq!(next(&Backfill { phase: feeds, ..row }), Work::Feed(key(9)));
    }
    assert!(may_descend(0) && !may_descend(BACKFILL_DEPTH));
}

#[test]
fn a_portion_waits_for_the_visit_that_is_under_way() {
    let rules = Rules::default();
    let lease = |until| Lease { owner: "fetch".into(), until, token: 1 };
    let visited = |until| HostState { lease: Some(lease(until)), ..HostState::default() };
    let again = |until| while_visited(&visited(until), &rules, NOW);
    assert_eq!(again(NOW + Millis(5)), Some(NOW + Millis(5)));
    assert_eq!(again(NOW + Millis::from_mins(5)), Some(NOW + Millis::from_secs(40)), "the time of a portion");
    assert_eq!(again(NOW), None);
    assert_eq!(while_visited(&HostState::default(), &rules, NOW), None);
}

#[test]
fn a_backfill_ends_at_its_limit_and_at_the_most_documents() {
    let document = BackfillDocument { url: FEED.into(), kind: feed(2, 0, None) };
    let row = Backfill { next: Some(document.clone()), ..backfill() };
    assert_eq!(next(&row), Work::Document(document));
    let ends = |row: &Backfill| matches!(next(row), Work::End(_));
    assert!(ends(&Backfill { limit: Some(30), sent: 30, ..row.clone() }));
    assert!(!ends(&Backfill { limit: Some(31), sent: 30, ..row.clone() }));
    assert!(ends(&Backfill { sent: BACKFILL_PAGES, ..row.clone() }));
    assert!(!ends(&Backfill { sent: BACKFILL_PAGES, limit: Some(BACKFILL_PAGES + 1), ..row.clone() }));
    assert!(ends(&Backfill { documents: BACKFILL_DOCUMENTS, ..row }));
}

#[test]
fn a_document_that_fails_too_often_is_left_out_and_what_is_left_goes_on() {
    let document = BackfillDocument { url: FEED.into(), kind: DocumentKind::Sitemap { depth: 0 } };
    let mut row = Backfill { next: Some(document), ..backfill() };
    for n in 1..BACKFILL_TRIES {
        row = set_back(row, Setback::Trouble(NOW + Millis::from_days(1), "503".into()), NOW);
        assert_eq!((row.failures, row.due, row.next.is_some()), (n, NOW + Millis::from_days(1), true));
    }
    for patience in
        [Setback::BudgetSpent, Setback::TurnedOff, Setback::Later(NOW, "".into()), Setback::Undiscovered(NOW)]
    {
        let later = set_back(row.clone(), patience, NOW);
        assert!(later.due > NOW && later.failures == row.failures && later.state == BackfillState::Running);
    }
    let row = set_back(row, Setback::Trouble(NOW, "503".into()), NOW);
    assert_eq!((row.failures, row.next.as_ref(), row.outcome.as_deref()), (0, None, Some("503")));
    assert_eq!(row.state, BackfillState::Running);
    let row = Backfill { failures: BACKFILL_TRIES - 1, ..row };
    let row = set_back(row, Setback::Trouble(NOW, "held".into()), NOW);
    assert_eq!(row.state, BackfillState::GivenUp { reason: "held".into() });
    assert!(!is_lost(&row, NOW + Millis::from_days(9)), "it has ended");
    assert!(!is_lost(&backfill(), NOW) && is_lost(&backfill(), NOW + LOST));
}

#[test]
fn the_days_left_follow_from_what_is_listed() {
    let rules = Rules::default();
    let list = |of, count, done| AddressList { object: String::new(), done, count, of, then: None };
    let row = Backfill {
        phase: BackfillPhase::Rest,
        documents: 2,
        found: 2_000,
        lists: vec![list(Listed::Sitemaps(1), 20, 2), list(Listed::Pages(None), 1_000, 500)],
        ..backfill()
    };
    // 500 pages and 18 sitemaps with a thousand pages each.
    let estimate = |row: &Backfill| {
        let BackfillLine { days, is_least, .. } = line(row, &rules);
        (days, is_least)
    };
    assert_eq!(estimate(&row), (Some(38), false));
    let limited = Backfill { limit: Some(600), sent: 100, ..row.clone() };
    assert_eq!(estimate(&limited), (Some(2), false));
    assert_eq!(estimate(&Backfill { state: BackfillState::Done { reason: String::new() }, ..row }), (None, false));
    let begun = Backfill { phase: BackfillPhase::Begin, ..backfill() };
    assert_eq!(estimate(&begun), (Some(1), true));
}
