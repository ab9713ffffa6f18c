use super::*;
use curlew_model::{Millis, Rejection, Slot, SourceKey};

const HOUR: Millis = Millis::from_hours(1);
/// The first minute of the feed's slot.
const SLOT: Timestamp = Timestamp::from_millis(3_000_000 * 480 * 60_000);

/// Returns a feed with its slot at [`SLOT`], last polled a cycle before.
fn feed() -> FeedSource {
    let key = SourceKey::new(&"00".repeat(16)).unwrap_or_else(|e| panic!("{e}"));
    let feed = FeedSource::new(key, Slot::from_hash(0), "https://example.org/feed");
    FeedSource { interval: Rules::default().poll_interval, polled_at: SLOT - Millis::from_hours(8), ..feed }
}

fn job() -> Envelope<PollJob> {
    Envelope::new(PollJob::new(feed().key, feed().url))
}

fn on_request() -> Envelope<PollJob> {
    Envelope::new(PollJob { on_request: true, ..job().work })
}

#[test]
fn a_poll_takes_place_in_its_slot_or_as_asked_for_unless_the_feed_was_just_polled_or_is_gone() {
    let soon = SLOT + Millis::from_mins(5);
    let rested = SLOT + Rules::default().poll_on_request;
    let polled = FeedSource { polled_at: SLOT, ..feed() };
    let gone = FeedSource { gone: true, ..feed() };
    for (name, feed, job, now, admitted) in [
        ("its slot", feed(), job(), SLOT, Some(PollAdmission::Now)),
        ("polled", FeedSource { polled_at: SLOT - Millis::from_mins(30), ..feed() }, job(), SLOT, None),
        ("a little early", FeedSource { not_before: soon, ..feed() }, job(), SLOT, Some(PollAdmission::At(soon))),
        // A person's poll ignores the interval, but not the last poll.
        ("asked", FeedSource { not_before: SLOT + HOUR, ..feed() }, on_request(), SLOT, Some(PollAdmission::Now)),
        ("asked too soon", polled.clone(), on_request(), rested - Millis(1), None),
        ("asked later", polled, on_request(), rested, Some(PollAdmission::Now)),
        ("gone", gone.clone(), job(), SLOT, None),
        ("gone, asked", gone, on_request(), SLOT, None),
    ] {
        let admission = admit(&feed, &job, &Rules::default(), now);
        match admitted {
            Some(admitted) => assert_eq!(admission, admitted, "{name}"),
            None => assert!(matches!(admission, PollAdmission::Never(_)), "{name}: {admission:?}"),
        }
    }
}

fn after(job: &Envelope<PollJob>, end: CallEnd<()>, calls: u32) -> AfterVisit {
    after_visit(job, &end, calls, None, &Rules::default(), SLOT)
}

#[test]
fn what_follows_a_visit_depends_on_its_end_and_on_whether_anything_was_called() {
    assert_eq!(after(&job(), CallEnd::Later(SLOT + HOUR), 0), AfterVisit::Wait(SLOT + HOUR));
    assert_eq!(after(&job(), CallEnd::Reply(()), 1), AfterVisit::Read);
    let rejected = after(&job(), CallEnd::Rejected(Rejection::Blocked), 0);
    assert!(matches!(rejected, AfterVisit::Fail { wrong: Wrong::Failed, not_before: None, .. }), "{rejected:?}");
    // A refusal of the feed itself is a failure and parks nothing; a hold that existed before concerns other URLs.
    let refused = || CallEnd::Held(SLOT + HOUR, HoldReason::Forbidden);
    let failed = after(&job(), refused(), 1);
    let until = Some(SLOT + HOUR);
    assert!(matches!(failed, AfterVisit::Fail { wrong: Wrong::Refused, not_before, .. } if not_before == until));
    assert!(matches!(after(&job(), refused(), 0), AfterVisit::PutOff(_)));
}

#[test]
fn a_visit_that_began_and_came_to_no_end_counts_and_waits_longer_each_time() {
    let mut last = SLOT;
    for deferrals in 0..Rules::default().max_deferrals {
        match after(&Envelope { deferrals, ..job() }, CallEnd::Later(SLOT), 1) {
            AfterVisit::PutOff(PutOff { until, parks: true, .. }) if until >= last => last = until,
            other => panic!("{other:?} after {deferrals}"),
        }
    }
    assert!(last.since(SLOT) > HOUR);
}

#[test]
fn a_held_host_parks_the_job_unless_a_person_sent_it_or_it_was_parked_too_often() {
    let too_often = Envelope { deferrals: Rules::default().max_deferrals, ..job() };
    for (job, parked) in [(job(), true), (on_request(), false), (too_often, false)] {
        match after(&job, CallEnd::Held(SLOT + HOUR, HoldReason::TooManyRequests), 1) {
            AfterVisit::PutOff(PutOff { until, parks, .. }) => assert_eq!((until, parks), (SLOT + HOUR, parked)),
            other => panic!("{other:?}"),
        }
    }
    let mut row = feed();
    PutOff::new(&job(), SLOT + HOUR, "429", &Rules::default()).note(&mut row);
    assert_eq!((row.not_before, row.polling.why), (SLOT + HOUR, Why::Held));
    assert_eq!(row.trouble.as_deref(), Some("the host is left alone: 429"));
}

#[test]
fn each_answer_says_what_is_wrong_with_the_feed() {
    let known = FeedSource { seen: vec![1], ..feed() };
    for (status, document, expected) in [
        (200, Some(Document::Feed), None),
        (200, Some(Document::Empty), Some(Wrong::Suspect)),
        (200, Some(Document::Other("a page".into())), Some(Wrong::Suspect)),
        (200, Some(Document::Unreadable("too deep".into())), Some(Wrong::Failed)),
        (410, None, Some(Wrong::Gone)),
        (404, None, Some(Wrong::Lost)),
        (401, None, Some(Wrong::Refused)),
        (403, None, Some(Wrong::Refused)),
        (451, None, Some(Wrong::Refused)),
        (500, None, Some(Wrong::ServerError)),
        (503, None, Some(Wrong::ServerError)),
        (204, None, Some(Wrong::Failed)),
        (418, None, Some(Wrong::Failed)),
    ] {
        let answer = FeedAnswer { status, document, conditional: true, speaks_for_feed: true };
        match (read_answer(&known, &answer), expected) {
            (Reading::Wrong(wrong, _), Some(expected)) => assert_eq!(wrong, expected, "{answer:?}"),
            (reading, expected) => assert_eq!((reading, expected), (Reading::Entries, None), "{answer:?}"),
        }
    }
    // A feed that never had entries may be empty; a 304 needs a conditional request, and a 410 must be the feed's own.
    let answer = |status, document, is_ours| {
        let answer = FeedAnswer { status, document, conditional: is_ours, speaks_for_feed: is_ours };
        read_answer(&feed(), &answer)
    };
    assert_eq!(answer(200, Some(Document::Empty), true), Reading::Entries);
    assert_eq!(answer(304, None, true), Reading::Unchanged);
    assert!(matches!(answer(304, None, false), Reading::Wrong(Wrong::Unasked, _)));
    assert!(matches!(answer(410, None, false), Reading::Wrong(Wrong::Failed, _)));
}

#[test]
fn a_row_is_written_if_it_says_something_new_or_its_poll_came_off_its_minute() {
    let every = |hours| FeedSource { interval: Millis::from_hours(hours), ..feed() };
    let mut held = feed();
    held.polling.why = Why::Held;
    let further = SLOT + Millis::from_hours(4);
    for (name, before, next, job, now, expected) in [
        ("nothing new", feed(), feed(), job(), SLOT, RowWrite::None),
        ("the time of the poll", feed(), FeedSource { polled_at: SLOT, ..feed() }, job(), SLOT, RowWrite::None),
        ("a title", feed(), FeedSource { title: Some("News".into()), ..feed() }, job(), SLOT, RowWrite::Row),
        (
            "a wait beyond the next slot",
            feed(),
            FeedSource { not_before: SLOT + Millis::from_hours(30), ..feed() },
            job(),
            SLOT,
            RowWrite::Row,
        ),
        ("on request", feed(), feed(), on_request(), SLOT, RowWrite::WithTime),
        ("deferred", feed(), feed(), Envelope { deferrals: 1, ..job() }, SLOT, RowWrite::WithTime),
        ("held", held.clone(), held, job(), SLOT, RowWrite::WithTime),
        ("off its minute", feed(), feed(), job(), SLOT + HOUR, RowWrite::WithTime),
        // A poll in an extra slot is written only if the next one could come before the floor.
        ("every 2 h", every(2), every(2), job(), further, RowWrite::None),
        ("every 4 h", every(4), every(4), job(), further, RowWrite::None),
        ("every 4 h, late", every(4), every(4), job(), further + Millis::from_mins(20), RowWrite::WithTime),
        ("every hour", every(1), every(1), job(), further, RowWrite::WithTime),
    ] {
        assert_eq!(row_write(&before, &next, &job, false, &Rules::default(), now), expected, "{name}");
    }
    let noted = |next| row_write(&every(1), &every(next), &job(), true, &Rules::default(), further);
    assert_eq!(noted(1), RowWrite::None, "the host's row tells the time");
    assert_eq!(noted(2), RowWrite::WithTime, "the next poll does not ask the host's row");
}
