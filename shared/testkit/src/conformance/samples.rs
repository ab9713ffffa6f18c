//! Sample values for all suites: plain ones by number, and ones with awkward values in every field.

use crate::sample;
use bytes::Bytes;
use curlew_model::{
    AddressList, Backfill, BackfillDocument, BackfillPhase, BackfillState, Circuit, DocumentKind, EntryHints,
    ExtraSlot, ExtractJob, Failure, FailureCause, FailureKind, FailureStreak, Fault, FaultCode, Faults, FeedSource,
    Gone, Habit, Hold, HoldReason, HomeLook, HostKey, HostState, Hub, Job, Lease, Listed, Location, Millis, Page,
    PageBody, PageId, PageState, PendingRedirect, PollHints, PollNotes, Polling, Rejection, RobotsNotes, Screened,
    SegmentKey, SentPages, SiteSource, SiteState, Slot, Source, SourceKey, StatedPreferences, Subscription, Substitute,
    Substitutes, Taken, Timestamp, TokenBucket, Trust, UrlHold, Validators, Why, WindowPart,
};
use curlew_ports::PortError;
use futures::future::join_all;
use std::fmt::Debug;
use std::future::Future;

/// Quotes, line ends, a NUL, right-to-left text, and a character outside the Basic Multilingual Plane.
pub(super) const AWKWARD: &str = "a 'b' \"c\" \\ \r\n\t\0 %00 ; -- שלום 🦜 e\u{301}";

/// Number of concurrent writers of one row or object, and the number of increments by each. Each attempt may be a
/// request to an emulator.
pub(super) const RACERS: u64 = 8;
pub(super) const INCREMENTS: u64 = 25;

/// Returns an instant `ms` milliseconds after a fixed one in 2026.
pub(super) fn at(ms: i64) -> Timestamp {
    Timestamp::from_millis(1_790_000_000_000 + ms)
}

pub(super) fn host(name: &str) -> HostKey {
    HostKey::new(name).expect("a host key")
}

pub(super) fn page_id(n: u64) -> PageId {
    PageId::new(&format!("{n:032x}")).expect("a page id")
}

pub(super) fn source_key(n: u64) -> SourceKey {
    SourceKey::new(&format!("{n:032x}")).expect("a source key")
}

/// Returns a source key for a slot, which the first half of the digits determines; the second half is `n`.
pub(super) fn source_key_in(n: u64, slot: u64) -> SourceKey {
    SourceKey::new(&format!("{slot:016x}{n:016x}")).expect("a source key")
}

pub(super) fn full_state() -> HostState {
    HostState {
        signs: true,
        has_imports: true,
        backfilled: Taken { day: i64::MAX, entries: u32::MAX },
        lease: Some(Lease { owner: AWKWARD.into(), until: Timestamp::MAX, token: u64::MAX }),
        last_token: u64::MAX,
        not_before: Timestamp::MIN,
        bucket: Some(TokenBucket { milli_tokens: u64::MAX, at: at(1) }),
        failures: u32::MAX,
        url_holds: vec![UrlHold { url: 7, what: HoldReason::Forbidden, until: at(4), before: 2 }],
        circuit: Circuit::Probe,
        hold: Some(Hold { until: at(2), reason: HoldReason::Network, since: at(-1) }),
        left_alone_until: Some(at(6)),
        holds_in_a_row: 7,
        visited: vec![WindowPart { began: at(3), spent: Millis(u64::MAX) }],
        home_look: Some(HomeLook { url: u32::MAX, text: Some(7), at: at(7) }),
        blocked: ["blog.example.org".to_owned(), "example.org".to_owned()].into(),
        last_response: Millis(1),
        crawl_delay: Millis(u64::MAX),
        sent: sent_pages(),
        substitutes: Substitutes {
            texts: vec![Substitute { text: u32::MAX, pages: vec![0, 7] }],
            holds: 3,
            since: Some(Timestamp::EPOCH),
            vendor: "Anubis".into(),
            noindexed: vec![7],
        },
        pending_redirect: Some(PendingRedirect {
            url: 7,
            targets: vec![AWKWARD.into(), "https://example.org/b".into()],
            is_permanent: true,
            until: at(5),
        }),
        robots: RobotsNotes([(u64::MAX, i64::MAX), (0, 7)].into()),
        polled: PollNotes([(u64::MAX, at(5)), (0, at(7))].into()),
    }
}

fn sent_pages() -> SentPages {
    let mut sent = SentPages::default();
    (1..4).for_each(|n| sent.add(&page_id(n), 3));
    sent
}

pub(super) fn page(n: u64, state: PageState) -> Page {
    let url = format!("https://example.org/{n}?q={AWKWARD}");
    Page {
        feed: n.is_multiple_of(2).then(|| source_key(n)),
        checked_at: n.is_multiple_of(3).then(|| at(5)),
        expires: n.is_multiple_of(5).then(|| at(6)),
        validators: Validators { etag: Some(AWKWARD.into()), last_modified: Some(String::new()) },
        ..Page::new(page_id(n), url, host("example.org"), state, at(i64::try_from(n).unwrap_or(0)))
    }
}

pub(super) fn page_states() -> Vec<PageState> {
    let segment = SegmentKey::new("segments/2026/11/21/ab12.jsonl.zst").expect("a segment key");
    let location = Location { segment, offset: u64::MAX, length: 0 };
    vec![
        PageState::Pending,
        PageState::Accepted { year: -1, location, content_hash: "0123456789abcdef".into() },
        PageState::Rejected { reason: Rejection::Status(404) },
        PageState::Rejected {
            reason: Rejection::Screened(Screened::new(vec![AWKWARD.into(), String::new()], Some(AWKWARD.into()))),
        },
        PageState::Rejected { reason: Rejection::NoTitle },
        PageState::Gone { reason: Gone::Expired },
        PageState::Alias { of: page_id(9) },
    ]
}

pub(super) fn site(n: u64, slot: u64) -> Source {
    let url = format!("https://site-{n}.example/");
    Source::Site(sample::site(source_key_in(n, slot), Slot::from_hash(slot), &url))
}

fn fault() -> Fault {
    Fault { line: u32::MAX, column: 1, code: FaultCode::BadValue, at: AWKWARD.into(), found: String::new() }
}

/// Returns a feed with every field filled, including the ring of seen entries.
pub(super) fn full_feed(n: u64, slot: u64) -> Source {
    Source::Feed(FeedSource {
        key: source_key_in(n, slot),
        slot: Slot::from_hash(slot),
        url: format!("https://example.org/{AWKWARD}"),
        site: Some(source_key(1)),
        format: "atom".into(),
        title: Some(AWKWARD.into()),
        description: Some("d".repeat(20_000)),
        folder: vec![AWKWARD.into(), "f".into()],
        link: Some(String::new()),
        language: Some("it".into()),
        image: Some("https://example.org/i.png".into()),
        validators: Validators { etag: Some("W/\"\\\"".into()), last_modified: Some(AWKWARD.into()) },
        validators_of: Some(AWKWARD.into()),
        interval: Millis(u64::MAX),
        not_before: Timestamp::MAX,
        polled_at: Timestamp::MIN,
        failures: u32::MAX,
        trouble: Some(AWKWARD.into()),
        gone: true,
        moved: Some(("https://example.org/new".into(), 2)),
        polling: full_polling(),
        seen: (0..1_000).map(|i| u64::MAX - i).collect(),
        stamps: (0..1_000).map(|i| u16::MAX - i).collect(),
        faults: Faults { count: u32::MAX, first: vec![fault(); Faults::KEPT] },
    })
}

fn full_polling() -> Polling {
    Polling {
        retry_at: Some(at(11)),
        hints: PollHints {
            ttl: Some(Millis(u64::MAX)),
            update_period: Some(Millis(1)),
            fresh_for: Some(Millis::ZERO),
            crawl_delay: Some(Millis(2)),
            skip_hours: u32::MAX,
            skip_days: u8::MAX,
        },
        habit: Habit { gap: Some(Millis(7)), news_at: Some(Timestamp::MIN) },
        why: Why::RetryAfter,
        streak: Some(FailureStreak { kind: FailureKind::Lost, since: at(0), times: u32::MAX }),
        trust: Trust { content: u64::MAX, verify_at: Some(at(9)), proofs: 1, doubts: 2, distrusted: true, ignored: 2 },
        moved_at: Some(at(4)),
        reopened: true,
        extra_slots: 7,
        hub: Some(Hub { url: AWKWARD.into(), topic: String::new() }),
        subscription: Some(Subscription {
            of: u64::MAX,
            begun: at(1),
            pending: Some(at(2)),
            until: Some(at(3)),
            renew_at: Some(at(4)),
            refusals: 5,
            not_before: at(6),
            ending: true,
            early: Some(at(7)),
        }),
        taken: Taken { day: i64::MAX, entries: 1 },
    }
}

/// Returns a row that lists a feed under a further slot.
pub(super) fn extra_slot(n: u64, slot: u64) -> Source {
    let (key, slot) = (source_key_in(n, slot), Slot::from_hash(slot));
    Source::Extra(ExtraSlot { key, slot, feed: source_key(n), url: AWKWARD.into() })
}

/// Returns a backfill with every field filled.
pub(super) fn backfill(n: u64, slot: u64) -> Source {
    let (key, slot) = (source_key_in(n, slot), Slot::from_hash(slot));
    let kind = DocumentKind::Feed { feed: source_key(n), number: 2, entries: 10, barren: 1, oldest: Some(at(1)) };
    let document = BackfillDocument { url: AWKWARD.into(), kind };
    let list = |of, then| AddressList { object: AWKWARD.into(), done: 1, count: u32::MAX, of, then };
    Source::Backfill(Backfill {
        since: Some(at(1)),
        limit: Some(u64::MAX),
        asked: true,
        state: BackfillState::GivenUp { reason: AWKWARD.into() },
        note: Some(AWKWARD.into()),
        outcome: Some(AWKWARD.into()),
        phase: BackfillPhase::Feeds(vec![source_key(1), source_key(2)]),
        next: Some(BackfillDocument { url: AWKWARD.into(), kind: DocumentKind::Sitemap { depth: 3 } }),
        lists: vec![
            list(Listed::Pages(Some(source_key(3))), Some(document)),
            list(Listed::Pages(None), None),
            list(Listed::Sitemaps(2), None),
        ],
        visited: vec![0, u64::MAX],
        has_archive: true,
        ..Backfill::new(key, slot, source_key(4), AWKWARD.into(), at(2))
    })
}

pub(super) fn working_site(n: u64, slot: u64) -> Source {
    Source::Site(SiteSource {
        state: SiteState::Working { feeds: vec![source_key(1), source_key(2)] },
        image: Some(AWKWARD.into()),
        not_before: at(1),
        failures: 3,
        failure: Some(Failure::new(FailureCause::Dns, AWKWARD)),
        ..sample::site(source_key_in(n, slot), Slot::from_hash(slot), "https://example.org/")
    })
}

pub(super) fn extract(n: u64, bytes: usize) -> Job {
    let body: Vec<u8> = (0..bytes).map(|i| u8::try_from(i % 251).unwrap_or(0)).collect();
    Job::new(ExtractJob {
        page: page_id(n),
        final_url: "https://example.org/b".into(),
        hints: EntryHints { title: Some(AWKWARD.into()), ..EntryHints::default() },
        content_type: Some("text/html".into()),
        robots_tags: vec!["max-snippet:10".into()],
        preferences: StatedPreferences { content_signal: Some("search=yes".into()), ..StatedPreferences::default() },
        fetched_at: at(0),
        calls_left: 1,
        ..sample::page("https://example.org/a", PageBody::Inline(Bytes::from(body)))
    })
}

/// Runs all futures concurrently, each in its own task; returns their results in order.
pub(super) async fn race<T, F>(tasks: impl IntoIterator<Item = F>) -> Vec<T>
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    let running: Vec<_> = tasks.into_iter().map(tokio::spawn).collect();
    join_all(running).await.into_iter().map(|done| done.expect("the task ends")).collect()
}

/// Runs sixteen concurrent writers, of which one must succeed and the others must get a conflict. Returns the winner's
/// number and result.
pub(super) async fn one_wins<T, F>(write: impl Fn(usize) -> F) -> (usize, T)
where
    T: Debug + Send + 'static,
    F: Future<Output = Result<T, PortError>> + Send + 'static,
{
    let ends = race((0..16).map(write)).await;
    let lost = ends.iter().filter(|end| matches!(end, Err(PortError::Conflict))).count();
    assert_eq!(lost, 15, "{ends:?}");
    let won = ends.into_iter().enumerate().find_map(|(n, end)| Some((n, end.ok()?)));
    won.expect("one wins")
}

/// Asserts that a write failed with a conflict.
pub(super) fn assert_conflict<T: Debug>(refused: Result<T, PortError>) {
    assert!(matches!(refused, Err(PortError::Conflict)), "{refused:?}");
}

/// Lists everything in pages of at most `limit`.
pub(super) async fn by_pages<T>(limit: usize, list: impl AsyncFn(Option<&T>) -> Result<Vec<T>, PortError>) -> Vec<T> {
    let mut listed = Vec::new();
    loop {
        let next = list(listed.last()).await.expect("lists");
        assert!(next.len() <= limit, "{} of {limit}", next.len());
        if next.is_empty() {
            return listed;
        }
        listed.extend(next);
    }
}
