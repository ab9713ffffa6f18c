use super::*;
use curlew_model::{Envelope, Millis, Rejection, Slot, SourceKey};

const HOUR: Millis = Millis::from_hours(1);

/// The first minute of the feed's slot.
fn slot() -> Timestamp {
    Timestamp::from_millis(3_000_000 * 480 * 60_000)
}

/// A feed with its slot at [`slot`], last polled a cycle before.
fn feed() -> FeedSource {
    let key = SourceKey::new(&"00".repeat(16)).unwrap_or_else(|e| panic!("{e}"));
    let feed = FeedSource::new(key, Slot::from_hash(0), "https://example.org/feed");
    FeedSource { interval: Rules::default().poll_interval, polled_at: slot() - Millis::from_hours(8), ..feed }
}

fn job() -> Envelope<PollJob> {
    let feed = feed();
    Envelope::new(PollJob::new(feed.key, feed.url))
}

fn on_request() -> Envelope<PollJob> {
    Envelope::new(PollJob { on_request: true, ..job().work })
}

fn admitted(feed: &FeedSource, job: &Envelope<PollJob>, now: Timestamp) -> PollAdmission {
    admit(feed, job, &Rules::default(), now)
}

#[test]
fn a_poll_takes_place_in_its_slot_and_not_a_second_time_soon_after() {
    assert_eq!(admitted(&feed(), &job(), slot()), PollAdmission::Now);
    let polled = FeedSource { polled_at: slot() - Millis::from_mins(30), ..feed() };
    assert!(matches!(admitted(&polled, &job(), slot()), PollAdmission::Never(_)));
}

#[test]
fn a_poll_a_little_before_its_time_waits_for_it() {
    let soon = slot() + Millis::from_mins(5);
    let early = FeedSource { not_before: soon, ..feed() };
    assert_eq!(admitted(&early, &job(), slot()), PollAdmission::At(soon));
}

#[test]
fn a_poll_that_a_person_asks_for_ignores_the_interval_but_not_the_last_poll() {
    let waiting = FeedSource { not_before: slot() + HOUR, ..feed() };
    assert_eq!(admitted(&waiting, &on_request(), slot()), PollAdmission::Now);
    let polled = FeedSource { polled_at: slot(), ..feed() };
    let almost = slot() + Rules::default().poll_on_request - Millis(1);
    assert!(matches!(admitted(&polled, &on_request(), almost), PollAdmission::Never(_)));
    assert_eq!(admitted(&polled, &on_request(), almost + Millis(1)), PollAdmission::Now);
}

#[test]
fn a_feed_that_is_gone_is_not_polled_whoever_asks() {
    let gone = FeedSource { gone: true, ..feed() };
    for job in [job(), on_request()] {
        assert!(matches!(admitted(&gone, &job, slot()), PollAdmission::Never(_)));
    }
}

fn after(job: &Envelope<PollJob>, end: CallEnd<()>, calls: u32) -> AfterVisit {
    after_visit(job, &end, calls, None, &Rules::default(), slot())
}

#[test]
fn a_visit_that_had_no_time_to_call_leaves_the_row_as_it_is() {
    assert_eq!(after(&job(), CallEnd::Later(slot() + HOUR), 0), AfterVisit::Wait(slot() + HOUR));
}

#[test]
fn a_visit_that_began_and_came_to_no_end_counts_and_waits_longer_each_time() {
    let mut last = slot();
    for deferrals in 0..Rules::default().max_deferrals {
        match after(&Envelope { deferrals, ..job() }, CallEnd::Later(slot()), 1) {
            AfterVisit::PutOff(PutOff { until, parks: true, .. }) => {
                assert!(until >= last, "after {deferrals}");
                last = until;
            }
            other => panic!("{other:?}"),
        }
    }
    assert!(last.since(slot()) > HOUR);
}

#[test]
fn a_held_host_parks_the_job_unless_a_person_sent_it_or_it_was_parked_too_often() {
    let held = || CallEnd::Held(slot() + HOUR, HoldReason::TooManyRequests);
    let too_often = Envelope { deferrals: Rules::default().max_deferrals, ..job() };
    for (job, parked) in [(job(), true), (on_request(), false), (too_often, false)] {
        match after(&job, held(), 1) {
            AfterVisit::PutOff(PutOff { until, parks, .. }) => assert_eq!((until, parks), (slot() + HOUR, parked)),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_poll_that_is_put_off_says_so_in_the_row() {
    let put_off = PutOff::new(&job(), slot() + HOUR, "429", &Rules::default());
    let mut row = feed();
    put_off.note(&mut row);
    assert_eq!((row.not_before, row.polling.why), (slot() + HOUR, Why::Held));
    assert_eq!(row.trouble.as_deref(), Some("the host is left alone: 429"));
}

#[test]
fn a_refusal_of_the_feed_itself_is_a_failure_and_parks_nothing() {
    let refused = || CallEnd::Held(slot() + HOUR, HoldReason::Forbidden);
    match after(&job(), refused(), 1) {
        AfterVisit::Fail { wrong: Wrong::Refused, not_before, .. } => assert_eq!(not_before, Some(slot() + HOUR)),
        other => panic!("{other:?}"),
    }
    // A hold that was found is not about this feed.
    assert!(matches!(after(&job(), refused(), 0), AfterVisit::PutOff(_)));
}

#[test]
fn a_call_that_must_not_be_made_is_a_failure_and_an_answer_is_read() {
    let rejected = after(&job(), CallEnd::Rejected(Rejection::Blocked), 0);
    assert!(matches!(rejected, AfterVisit::Fail { wrong: Wrong::Failed, not_before: None, .. }));
    assert_eq!(after(&job(), CallEnd::Reply(()), 1), AfterVisit::Read);
}

fn read(feed: &FeedSource, status: u16, document: Option<Document>) -> Reading {
    read_answer(feed, &FeedAnswer { status, document, conditional: true, speaks_for_feed: true })
}

fn wrong(status: u16, document: Option<Document>) -> Option<Wrong> {
    match read(&FeedSource { seen: vec![1], ..feed() }, status, document) {
        Reading::Wrong(wrong, _) => Some(wrong),
        Reading::Unchanged | Reading::Entries => None,
    }
}

#[test]
fn a_304_is_believed_only_if_it_answers_a_conditional_request() {
    assert_eq!(read(&feed(), 304, None), Reading::Unchanged);
    let unasked = FeedAnswer { status: 304, document: None, conditional: false, speaks_for_feed: true };
    assert!(matches!(read_answer(&feed(), &unasked), Reading::Wrong(Wrong::Unasked, _)));
}

#[test]
fn a_feed_is_suspect_that_is_none_or_has_lost_all_its_entries() {
    assert_eq!(wrong(200, Some(Document::Feed)), None);
    assert_eq!(read(&feed(), 200, Some(Document::Empty)), Reading::Entries, "it never had any");
    assert_eq!(wrong(200, Some(Document::Empty)), Some(Wrong::Suspect));
    assert_eq!(wrong(200, Some(Document::Other("a page".into()))), Some(Wrong::Suspect));
    assert_eq!(wrong(200, Some(Document::Unreadable("too deep".into()))), Some(Wrong::Failed));
}

#[test]
fn each_status_says_what_is_wrong_with_the_feed() {
    for (status, expected) in [
        (410, Wrong::Gone),
        (404, Wrong::Lost),
        (401, Wrong::Refused),
        (403, Wrong::Refused),
        (451, Wrong::Refused),
        (500, Wrong::ServerError),
        (503, Wrong::ServerError),
        (204, Wrong::Failed),
        (418, Wrong::Failed),
    ] {
        assert_eq!(wrong(status, None), Some(expected), "{status}");
    }
}

#[test]
fn a_410_behind_a_temporary_redirect_does_not_end_the_feed() {
    let elsewhere = FeedAnswer { status: 410, document: None, conditional: false, speaks_for_feed: false };
    assert!(matches!(read_answer(&feed(), &elsewhere), Reading::Wrong(Wrong::Failed, _)));
}

fn written(before: &FeedSource, next: &FeedSource, job: &Envelope<PollJob>, now: Timestamp) -> RowWrite {
    row_write(before, next, job, &Rules::default(), now)
}

#[test]
fn a_poll_in_its_minute_that_changes_nothing_is_not_written() {
    assert_eq!(written(&feed(), &feed(), &job(), slot()), RowWrite::None);
    let next = FeedSource { polled_at: slot(), ..feed() };
    assert_eq!(written(&feed(), &next, &job(), slot()), RowWrite::None, "the time of the poll is no change");
    let renamed = FeedSource { title: Some("News".into()), ..feed() };
    assert_eq!(written(&feed(), &renamed, &job(), slot()), RowWrite::Row);
}

#[test]
fn a_poll_whose_feed_asks_to_be_left_alone_beyond_its_next_slot_is_written() {
    let later = FeedSource { not_before: slot() + Millis::from_hours(30), ..feed() };
    assert_eq!(written(&feed(), &later, &job(), slot()), RowWrite::Row);
}

#[test]
fn a_poll_that_no_slot_has_sent_is_written_with_its_time() {
    let held = |mut feed: FeedSource| {
        feed.polling.why = Why::Held;
        feed
    };
    let off_its_minute = slot() + HOUR;
    for (before, job, now) in [
        (feed(), on_request(), slot()),
        (feed(), Envelope { deferrals: 1, ..job() }, slot()),
        (held(feed()), job(), slot()),
        (feed(), job(), off_its_minute),
    ] {
        assert_eq!(written(&before, &before, &job, now), RowWrite::WithTime, "{job:?} at {now}");
    }
}

#[test]
fn a_poll_of_a_further_slot_that_changes_nothing_is_written_only_if_the_next_could_come_before_the_floor() {
    let every = |hours| FeedSource { interval: Millis::from_hours(hours), ..feed() };
    let at_once = slot() + Millis::from_hours(4);
    assert_eq!(written(&every(2), &every(2), &job(), at_once), RowWrite::None);
    assert_eq!(written(&every(4), &every(4), &job(), at_once), RowWrite::None);
    assert_eq!(written(&every(4), &every(4), &job(), at_once + Millis::from_mins(20)), RowWrite::WithTime);
    assert_eq!(written(&every(1), &every(1), &job(), at_once), RowWrite::WithTime);
}
