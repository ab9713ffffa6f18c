//! Tests each finding of each check with made-up facts.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "tests read the documents and fail by panicking")]

use super::examine;
use super::facts::{
    AlarmsGoTo, Deployment, Fact, Facts, FunctionFacts, HoldCount, IndexFacts, MappingFacts, MissingFact, QueueFacts,
    QuotaFacts, SmokeReport, StackFacts, StatedSettings,
};
use super::finding::{Finding, Level};
use curlew_app::{ImageScreening, Origin};
use curlew_model::{HoldReason, Millis, QueueName, Timestamp};
use curlew_people::messages::OpenMessages;
use curlew_ports::QueueCount;

const NOW: Timestamp = Timestamp::from_millis(1_795_392_000_000);
const FUNCTIONS: [&str; 9] = ["dispatch", "discover", "poll", "fetch", "extract", "remove", "index", "sample", "web"];

fn machine() -> Facts {
    let published = Some(NOW - Millis::from_hours(2));
    let held = [(HoldReason::Forbidden, 2)].into();
    Facts {
        settings: stated(contact(), None),
        free_bytes: Some(50 << 30),
        has_sources: Some(Ok(true)),
        sent_until: Some(Ok(Some(NOW - Millis::from_mins(2)))),
        queues: QueueName::ALL.map(|stage| (stage, Ok(QueueFacts::default()))).into(),
        index: Some(Ok(IndexFacts { pages: 7, published, has_unpublished: false, newer: None })),
        messages: Some(Ok(OpenMessages::default())),
        counted: Some(Ok(Some(HoldCount { at: None, sites: 9, held }))),
        ahead: Some(Ok(0)),
        ..Facts::new(NOW, false, "curlew".to_owned(), Ok("the store can be opened".to_owned()))
    }
}

fn contact() -> Fact<Option<String>> {
    Ok(Some("https://search.example/bot".to_owned()))
}

fn stated(contact: Fact<Option<String>>, paused: Option<Origin>) -> Option<Fact<Result<StatedSettings, String>>> {
    Some(Ok(Ok(StatedSettings { contact, paused, pictures: Some(ImageScreening::Skin), persons: 0 })))
}

/// Returns facts about a healthy stack, on an account with the default quota.
fn stack() -> Facts {
    let function = |name: &str| FunctionFacts {
        name: name.to_owned(),
        deployed: Ok(Deployment::default()),
        answer: Some(Ok(answer(env!("CARGO_PKG_VERSION")))),
    };
    let mapping = |stage| (stage, Ok(mapping("Enabled")));
    Facts {
        is_stack: true,
        program: "curlew --aws".to_owned(),
        free_bytes: None,
        stack: Some(StackFacts {
            trials: vec![Ok(())],
            version: Ok(Some(2)),
            own_version: 2,
            functions: FUNCTIONS.map(function).into(),
            mappings: Ok(QueueName::ALL.map(mapping).into()),
            quota: Ok(QuotaFacts { all: 1_000, unreserved: 980 }),
            released_until: Ok(Some(NOW - Millis::from_mins(2))),
            dead_events: Ok(0),
            alarms: Some(AlarmsGoTo::Mail),
        }),
        ..machine()
    }
}

fn answer(version: &str) -> SmokeReport {
    SmokeReport { version: version.to_owned(), rejects_settings: false }
}

fn mapping(state: &str) -> MappingFacts {
    MappingFacts { id: "a-1".to_owned(), state: state.to_owned(), max_concurrency: Some(2) }
}

fn of_stack(facts: &mut Facts) -> &mut StackFacts {
    facts.stack.as_mut().unwrap()
}

fn mapping_of(facts: &mut Facts, queue: usize) -> &mut Fact<MappingFacts> {
    &mut of_stack(facts).mappings.as_mut().unwrap()[queue].1
}

fn failed<T>() -> Fact<T> {
    Err(MissingFact::Failed("it broke".to_owned()))
}

fn denied<T>(right: &str) -> Fact<T> {
    Err(MissingFact::Denied(right.to_owned()))
}

/// Changes the facts, and returns the findings that are not ok.
fn wrong(mut facts: Facts, change: impl FnOnce(&mut Facts)) -> Vec<Finding> {
    change(&mut facts);
    examine(&facts).into_iter().filter(|finding| finding.level != Level::Ok).collect()
}

/// Asserts that a change causes only the expected finding, with a link to the docs, and that no check disappears.
#[track_caller]
fn judge(mut facts: Facts, expected: (&str, Level), words: &[&str], change: impl FnOnce(&mut Facts)) {
    let before = examine(&facts);
    change(&mut facts);
    let all = examine(&facts);
    assert!(before.iter().all(|f| all.iter().any(|other| other.check == f.check)), "{before:?}: {all:#?}");
    let wrong: Vec<_> = all.iter().filter(|finding| finding.level != Level::Ok).collect();
    let [finding] = wrong.as_slice() else { panic!("{wrong:#?}") };
    assert_eq!((finding.check, finding.level), expected, "{finding:?}");
    let line = finding.line();
    assert!(words.iter().all(|word| line.contains(word)) && !line.contains('\n'), "{line}");
    assert!(finding.see.is_some_and(is_in_docs), "{line}");
}

#[track_caller]
fn warns(facts: Facts, check: &str, words: &[&str], change: impl FnOnce(&mut Facts)) {
    judge(facts, (check, Level::Warning), words, change);
}

#[track_caller]
fn fails(facts: Facts, check: &str, words: &[&str], change: impl FnOnce(&mut Facts)) {
    judge(facts, (check, Level::Failed), words, change);
}

fn is_in_docs(see: &str) -> bool {
    let (file, section) = see.split_once('#').unwrap_or((see, ""));
    let text = std::fs::read_to_string(crate::tests::root().join(file)).unwrap_or_else(|e| panic!("{see}: {e}"));
    let anchor = |heading: &str| -> String {
        let kept = heading.trim().to_lowercase().replace(' ', "-");
        kept.chars().filter(|c| c.is_alphanumeric() || *c == '-').collect()
    };
    let mut headings = text.lines().filter(|line| line.starts_with('#'));
    section.is_empty() || headings.any(|line| anchor(line.trim_start_matches('#')) == section)
}

#[test]
fn what_is_well_is_said_by_each_check() {
    let said = |facts: Facts| examine(&facts).iter().map(|f| (f.check, f.level)).collect::<Vec<_>>();
    let here = [
        "store", "settings", "contact", "paused", "pictures", "persons", "sites", "clock", "schedule", "backlog",
        "given_up", "index", "messages", "holds",
    ];
    assert_eq!(said(machine()), here.map(|check| (check, Level::Ok)));
    let there: Vec<_> = super::CHECKS
        .iter()
        .flat_map(|(check, _)| [(*check, Level::Ok)].repeat(1 + usize::from(*check == "schedule")))
        .collect();
    assert_eq!(said(stack()), there);
}

#[test]
fn stores_that_cannot_be_opened_or_are_full() {
    fails(machine(), "store", &["it broke"], |facts| facts.store = Some(failed()));
    warns(machine(), "store", &["500 MB"], |facts| facts.free_bytes = Some(500 << 20));
    fails(machine(), "store", &["50 MB"], |facts| facts.free_bytes = Some(50 << 20));
    fails(stack(), "store", &["it broke", "aws.md#deploy"], |facts| facts.store = Some(failed()));
    let alone = Facts::new(NOW, true, "curlew --aws".to_owned(), failed());
    assert_eq!(examine(&alone).len(), 1, "nothing is said about what was not looked for");
}

#[test]
fn settings_contact_and_pause() {
    for (facts, remedy) in [(machine(), "curlew config check"), (stack(), "`curlew --aws config set FILE`")] {
        let wrong = wrong(facts, |facts| facts.settings = Some(Ok(Err("line 2: no such setting".to_owned()))));
        let [finding] = wrong.as_slice() else { panic!("{wrong:?}") };
        assert_eq!((finding.check, finding.level), ("settings", Level::Failed));
        assert!(["line 2", remedy].iter().all(|word| finding.line().contains(word)), "{finding:?}");
    }
    let none = |facts: &mut Facts| facts.settings = stated(Ok(None), None);
    warns(machine(), "contact", &["--contact"], none);
    fails(stack(), "contact", &["ContactUrl"], none);
    assert_eq!(wrong(stack(), |facts| facts.settings = stated(failed(), None))[0].check, "contact");
    let by = |by| move |facts: &mut Facts| facts.settings = stated(contact(), Some(by));
    warns(stack(), "paused", &["`curlew --aws config resume`"], by(Origin::File));
    warns(stack(), "paused", &["Paused=false"], by(Origin::Environment));
    warns(machine(), "paused", &["paused = true"], by(Origin::File));
    warns(machine(), "paused", &["environment"], by(Origin::Environment));
    // A paused stack sends nothing, and its mappings may be disabled.
    let found = wrong(stack(), |facts| {
        by(Origin::File)(facts);
        facts.sent_until = Some(Ok(Some(NOW - Millis::from_days(3))));
        facts.queues[0].1 = Ok(due(3));
        *mapping_of(facts, 0) = Ok(mapping("Disabled"));
    });
    assert_eq!(found.len(), 1, "{found:#?}");
}

fn due(ready: u64) -> QueueFacts {
    QueueFacts { count: QueueCount { ready, ..QueueCount::default() }, due_since: None }
}

#[test]
fn a_right_is_named_once_whoever_misses_it() {
    let right = "dynamodb:GetItem on the table curlew-hosts";
    fails(stack(), "rights", &[&format!("missing right: {right}")], |facts| {
        of_stack(facts).trials.push(denied(right));
        facts.sent_until = Some(denied(right));
        of_stack(facts).version = Ok(None);
    });
    let functions = of_stack(&mut stack()).functions.len();
    let found = wrong(stack(), |facts| {
        for function in &mut of_stack(facts).functions {
            function.answer = None;
            function.deployed = denied(&format!("lambda:GetFunction on the function curlew-{}", function.name));
        }
        of_stack(facts).quota = denied("lambda:GetAccountSettings on the account's Lambda");
        facts.queues[2].1 = denied("sqs:getqueueattributes on the queue curlew-fetch");
    });
    assert_eq!(found.len(), functions + 2, "{found:#?}");
    assert!(found.iter().all(|f| f.check == "rights" && f.level == Level::Failed && f.see.is_some_and(is_in_docs)));
}

#[test]
fn versions_of_rows() {
    let version = |version| move |facts: &mut Facts| of_stack(facts).version = version;
    assert_eq!(wrong(stack(), version(Ok(None))), []);
    warns(stack(), "version", &["Deploy"], version(Ok(Some(1))));
    fails(stack(), "version", &["of version 99", "2 at most"], version(Ok(Some(99))));
    assert_eq!(wrong(stack(), version(failed()))[0].level, Level::Failed);
}

#[test]
fn functions_that_are_missing_fail_or_differ() {
    let fetch = |change: fn(&mut FunctionFacts)| move |facts: &mut Facts| change(&mut of_stack(facts).functions[3]);
    let missing = fetch(|f| (f.deployed, f.answer) = (failed(), None));
    fails(stack(), "functions", &["it broke", "functions-fail"], missing);
    fails(stack(), "functions", &["it broke"], fetch(|f| f.answer = Some(failed())));
    let without_role = fetch(|f| f.deployed = Ok(Deployment { fault: Some("no role".to_owned()), reserved: None }));
    fails(stack(), "functions", &["fetch cannot run: no role"], without_role);
    warns(stack(), "functions", &["9.9.9 (fetch)"], fetch(|f| f.answer = Some(Ok(answer("9.9.9")))));
    let rejects = fetch(|f| {
        f.answer = Some(Ok(SmokeReport { rejects_settings: true, ..answer(env!("CARGO_PKG_VERSION")) }));
    });
    warns(stack(), "functions", &["fetch cannot use the settings", "config check"], rejects);
    warns(stack(), "functions", &["0.0.1 (", "upgrade-it"], |facts| {
        of_stack(facts).functions.iter_mut().for_each(|f| f.answer = Some(Ok(answer("0.0.1"))));
    });
}

#[test]
fn mappings_rest_while_nothing_waits() {
    const POLL: usize = 1;
    const FETCH: usize = 2;
    let off = |queue: usize, ready, ago| {
        move |facts: &mut Facts| {
            facts.queues[queue].1 = Ok(due(ready));
            facts.sent_until = Some(Ok(Some(NOW - ago)));
            *mapping_of(facts, queue) = Ok(mapping("Disabled"));
        }
    };
    assert_eq!(wrong(stack(), off(FETCH, 0, Millis::ZERO)), []);
    let mut resting = stack();
    off(FETCH, 0, Millis::ZERO)(&mut resting);
    let said = examine(&resting).into_iter().find(|f| f.check == "mappings").unwrap().found;
    assert_eq!(said, "discover, poll, extract, remove on; fetch resting");
    assert_eq!(wrong(stack(), off(FETCH, 9, Millis::ZERO)), [], "dispatch lets them gather");
    warns(stack(), "mappings", &["mapping of poll is off", "1 message waits"], off(POLL, 1, Millis::ZERO));
    let found = wrong(stack(), off(FETCH, 4, Millis::from_hours(1)));
    let failed_mapping = found.iter().find(|f| f.check == "mappings").unwrap();
    assert!(failed_mapping.level == Level::Failed && failed_mapping.line().contains("--uuid a-1"), "{found:#?}");
    assert!(failed_mapping.see.is_some_and(is_in_docs));
    assert_eq!(wrong(stack(), |facts| *mapping_of(facts, 2) = Ok(mapping("Enabling"))), []);
    fails(stack(), "mappings", &["it broke"], |facts| of_stack(facts).mappings = failed());
    fails(stack(), "mappings", &["it broke"], |facts| *mapping_of(facts, 0) = failed());
}

#[test]
fn executions_of_the_account_and_of_the_stack() {
    let quota = |all, unreserved| move |facts: &mut Facts| of_stack(facts).quota = Ok(QuotaFacts { all, unreserved });
    // Two for each of five mappings, and one each for dispatch, index, sample and web.
    assert_eq!(wrong(stack(), quota(14, 14)), []);
    warns(stack(), "quota", &["10 executions", "may need 14"], quota(10, 10));
    fails(stack(), "quota", &["WebConcurrency"], quota(10, 0));
    let reserved = |facts: &mut Facts| {
        quota(31, 11)(facts);
        for name in [4, 8] {
            of_stack(facts).functions[name].deployed = Ok(Deployment { fault: None, reserved: Some(10) });
        }
    };
    assert_eq!(wrong(stack(), reserved), [], "what is reserved for a function is none of the rest");
    assert_eq!(wrong(stack(), |facts| of_stack(facts).quota = failed())[0].check, "quota");
}

#[test]
fn alarms_that_tell_nobody_are_a_warning() {
    let alarms = |goes_to| move |facts: &mut Facts| of_stack(facts).alarms = Some(goes_to);
    warns(stack(), "alarms", &["nobody is notified", "AlarmEmail"], alarms(AlarmsGoTo::Nobody));
    assert!(wrong(stack(), alarms(AlarmsGoTo::NoAlarms)).is_empty(), "it was deployed so");
}

#[test]
fn what_is_sent_late() {
    let sent = |ago: Option<Millis>| move |facts: &mut Facts| facts.sent_until = Some(Ok(ago.map(|ago| NOW - ago)));
    warns(stack(), "schedule", &["dispatch has not run yet"], sent(None));
    assert_eq!(wrong(stack(), sent(Some(Millis::from_mins(9)))), []);
    warns(stack(), "schedule", &["due", "11.0 min"], sent(Some(Millis::from_mins(11))));
    fails(stack(), "schedule", &["due", "2.0 h"], sent(Some(Millis::from_hours(2))));
    fails(stack(), "schedule", &["parked", "3.0 h"], |facts| {
        of_stack(facts).released_until = Ok(Some(NOW - Millis::from_hours(3)));
    });
    assert_eq!(wrong(machine(), sent(None)), []);
    assert_eq!(wrong(machine(), sent(Some(Millis::from_hours(20)))), []);
    warns(machine(), "schedule", &["curlew serve"], sent(Some(Millis::from_days(2))));
    assert_eq!(wrong(machine(), |facts| facts.sent_until = Some(failed()))[0].level, Level::Failed);
}

#[test]
fn what_is_due_given_up_or_unknown_in_queues() {
    warns(stack(), "backlog", &["20000 messages are due for poll"], |facts| {
        facts.queues[1].1 = Ok(due(20_000));
    });
    let late = |ago| QueueFacts { due_since: Some(NOW - ago), ..due(20_000) };
    let since = |ago| move |facts: &mut Facts| facts.queues[1].1 = Ok(late(ago));
    assert_eq!(wrong(machine(), since(Millis::from_hours(3))), []);
    warns(machine(), "backlog", &["poll", "48.0 h"], since(Millis::from_hours(48)));
    assert_eq!(wrong(machine(), |facts| facts.queues[1].1 = failed())[0].check, "backlog");
    let count = QueueCount { dead: 1, ..QueueCount::default() };
    let dead = |facts: &mut Facts| facts.queues[3].1 = Ok(QueueFacts { count, due_since: None });
    warns(stack(), "given_up", &["1 job of extract", "`curlew --aws redrive`"], dead);
    warns(machine(), "given_up", &["`curlew redrive`"], dead);
    warns(stack(), "given_up", &["2 events", "curlew --aws index"], |facts| {
        of_stack(facts).dead_events = Ok(2);
    });
    assert_eq!(wrong(stack(), |facts| of_stack(facts).dead_events = failed())[0].check, "given_up");
}

#[test]
fn what_waits_to_be_published() {
    let index = |ago: Option<Millis>, has_unpublished| {
        let facts = IndexFacts { pages: 7, published: ago.map(|ago| NOW - ago), has_unpublished, newer: None };
        move |all: &mut Facts| all.index = Some(Ok(facts))
    };
    for (ago, waits) in [(None, false), (None, true), (Some(Millis::from_days(9)), false), (Some(Millis::ZERO), true)] {
        assert_eq!(wrong(stack(), index(ago, waits)), []);
        assert_eq!(wrong(machine(), index(ago, waits)), []);
    }
    warns(stack(), "index", &["`curlew --aws index`"], index(Some(Millis::from_hours(13)), true));
    fails(machine(), "index", &["72.0 h", "`curlew index`"], index(Some(Millis::from_days(3)), true));
    let paused = wrong(stack(), |facts| {
        index(Some(Millis::from_days(9)), true)(facts);
        facts.settings = stated(contact(), Some(Origin::Environment));
    });
    assert!(paused.iter().all(|finding| finding.level == Level::Warning), "{paused:?}");
    assert_eq!(wrong(stack(), |facts| facts.index = Some(failed()))[0].check, "index");
    let newer = |facts: &mut Facts| facts.index = Some(Ok(IndexFacts { newer: Some(2025), ..IndexFacts::default() }));
    fails(machine(), "index", &["newer version", "2025"], newer);
    fails(stack(), "index", &["newer version", "2025"], newer);
}

#[test]
fn messages_of_people() {
    let left = |hours: u64| {
        let oldest = Some(NOW - Millis::from_hours(hours));
        move |facts: &mut Facts| facts.messages = Some(Ok(OpenMessages { count: 2, oldest }))
    };
    assert_eq!(wrong(machine(), left(19)), []);
    warns(machine(), "messages", &["2 messages", "21.0 h", "`curlew messages`"], left(21));
    warns(stack(), "messages", &["`curlew --aws messages`"], left(400));
    assert_eq!(wrong(stack(), |facts| facts.messages = Some(failed()))[0].check, "messages");
}

#[test]
fn sites_holds_and_rows_that_lie_ahead_of_the_clock() {
    let told = ["3 rows of hosts, feeds or sites are ahead of the clock", "server.md"];
    warns(machine(), "clock", &told, |facts| facts.ahead = Some(Ok(3)));
    let none = |facts: &mut Facts| facts.has_sources = Some(Ok(false));
    warns(stack(), "sites", &["`curlew --aws crawl SITE`"], none);
    warns(machine(), "sites", &["`curlew crawl SITE`"], none);
    assert_eq!(wrong(stack(), |facts| facts.counted = Some(Ok(None))), []);
    let held = |sites, n| {
        let count = HoldCount { at: Some(NOW), sites, held: [(HoldReason::TooManyRequests, n)].into() };
        move |facts: &mut Facts| facts.counted = Some(Ok(Some(count)))
    };
    assert_eq!(wrong(stack(), held(2, 2)), [], "too few to tell anything");
    warns(stack(), "holds", &["5 hosts are on hold (5 too_many_requests)", "#trouble"], held(8, 5));
    warns(machine(), "holds", &["`curlew holds`"], held(8, 5));
}
