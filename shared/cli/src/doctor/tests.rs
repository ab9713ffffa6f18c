//! Each finding of each check, from facts that are made up.
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
use std::path::Path;

const NOW: Timestamp = Timestamp::from_millis(1_795_392_000_000);
const FUNCTIONS: [&str; 9] = ["dispatch", "discover", "poll", "fetch", "extract", "remove", "index", "sample", "web"];

/// Facts about a store of this machine that is well.
fn machine() -> Facts {
    let contact = Ok(Some("https://search.example/bot".to_owned()));
    let published = Some(NOW - Millis::from_hours(2));
    let held = [(HoldReason::Forbidden, 2)].into();
    Facts {
        settings: Some(Ok(Ok(StatedSettings {
            contact,
            paused: None,
            pictures: Some(ImageScreening::Skin),
            persons: 0,
        }))),
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

/// Facts about a stack that is well, on an account with the usual quota.
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

fn failed<T>() -> Fact<T> {
    Err(MissingFact::Failed("it broke".to_owned()))
}

fn denied<T>(right: &str) -> Fact<T> {
    Err(MissingFact::Denied(right.to_owned()))
}

/// Changes the facts, and returns what is no longer well.
fn wrong(mut facts: Facts, change: impl FnOnce(&mut Facts)) -> Vec<Finding> {
    change(&mut facts);
    examine(&facts).into_iter().filter(|finding| finding.level != Level::Ok).collect()
}

/// Checks that a change brings one finding of this check and level, with these words and with a remedy; all other
/// checks go on.
#[track_caller]
fn judge(facts: Facts, expected: (&str, Level), words: &[&str], change: impl FnOnce(&mut Facts)) {
    let checks = |findings: &[Finding]| findings.iter().map(|f| f.check).collect::<Vec<_>>();
    let before = checks(&examine(&facts));
    let mut changed = facts;
    change(&mut changed);
    let all = examine(&changed);
    assert!(before.iter().all(|check| checks(&all).contains(check)), "{before:?}: {all:#?}");
    let wrong: Vec<_> = all.iter().filter(|finding| finding.level != Level::Ok).collect();
    let [finding] = wrong.as_slice() else { panic!("{wrong:#?}") };
    assert_eq!((finding.check, finding.level), expected, "{finding:?}");
    let line = finding.line();
    assert!(words.iter().all(|word| line.contains(word)) && !line.contains('\n'), "{line}");
    assert!(finding.see.is_some_and(is_in_docs), "{line}");
}

/// True if a section of the documentation exists.
fn is_in_docs(see: &str) -> bool {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().and_then(Path::parent).unwrap();
    let (file, section) = see.split_once('#').unwrap_or((see, ""));
    let text = std::fs::read_to_string(root.join(file)).unwrap_or_else(|e| panic!("{see}: {e}"));
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
    judge(machine(), ("store", Level::Failed), &["it broke"], |facts| facts.store = Some(failed()));
    judge(machine(), ("store", Level::Warning), &["500 MB"], |facts| facts.free_bytes = Some(500 << 20));
    judge(machine(), ("store", Level::Failed), &["50 MB"], |facts| facts.free_bytes = Some(50 << 20));
    judge(stack(), ("store", Level::Failed), &["it broke", "aws.md#deploy"], |facts| facts.store = Some(failed()));
    let alone = Facts::new(NOW, true, "curlew --aws".to_owned(), failed());
    assert_eq!(examine(&alone).len(), 1, "nothing is said about what was not looked for");
}

#[test]
fn settings_contact_and_pause() {
    let settings = |facts: &mut Facts, settings| facts.settings = Some(settings);
    for (facts, remedy) in [(machine(), "curlew config check"), (stack(), "`curlew --aws config set FILE`")] {
        let mut facts = facts;
        facts.settings = Some(Ok(Err("line 2: no such setting".to_owned())));
        let wrong: Vec<_> = examine(&facts).into_iter().filter(|f| f.level != Level::Ok).collect();
        assert!(wrong.len() == 1 && wrong[0].line().contains("line 2"), "{wrong:?}");
        assert!(wrong[0].check == "settings" && wrong[0].level == Level::Failed && wrong[0].line().contains(remedy));
    }
    let stated =
        |contact, paused| Ok(Ok(StatedSettings { contact, paused, pictures: Some(ImageScreening::Skin), persons: 0 }));
    let contact = || Ok(Some("a@b.example".to_owned()));
    let none = |facts: &mut Facts| settings(facts, stated(Ok(None), None));
    judge(machine(), ("contact", Level::Warning), &["--contact"], none);
    judge(stack(), ("contact", Level::Failed), &["ContactUrl"], none);
    assert_eq!(wrong(stack(), |facts| settings(facts, stated(failed(), None)))[0].check, "contact");
    let by = |by| move |facts: &mut Facts| settings(facts, stated(contact(), Some(by)));
    judge(stack(), ("paused", Level::Warning), &["`curlew --aws config resume`"], by(Origin::File));
    judge(stack(), ("paused", Level::Warning), &["Paused=false"], by(Origin::Environment));
    judge(machine(), ("paused", Level::Warning), &["paused = true"], by(Origin::File));
    judge(machine(), ("paused", Level::Warning), &["environment"], by(Origin::Environment));
    // A paused stack sends nothing, and lets mappings be.
    let found = wrong(stack(), |facts| {
        by(Origin::File)(facts);
        facts.sent_until = Some(Ok(Some(NOW - Millis::from_days(3))));
        facts.queues[0].1 = Ok(due(3));
        of_stack(facts).mappings.as_mut().unwrap()[0].1 = Ok(mapping("Disabled"));
    });
    assert_eq!(found.len(), 1, "{found:#?}");
}

/// A queue in which so many messages are due.
fn due(ready: u64) -> QueueFacts {
    QueueFacts { count: QueueCount { ready, ..QueueCount::default() }, due_since: None }
}

#[test]
fn a_right_is_named_once_whoever_misses_it() {
    let right = "dynamodb:GetItem on the table curlew-hosts";
    judge(
        stack(),
        ("rights", Level::Failed),
        &["missing right: dynamodb:GetItem on the table curlew-hosts"],
        |facts| {
            of_stack(facts).trials.push(denied(right));
            facts.sent_until = Some(denied(right));
            of_stack(facts).version = Ok(None);
        },
    );
    let all = examine(&stack());
    assert!(all.iter().any(|f| f.check == "rights" && f.level == Level::Ok));
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
    judge(stack(), ("version", Level::Warning), &["Deploy"], version(Ok(Some(1))));
    judge(stack(), ("version", Level::Failed), &["of version 99", "2 at most"], version(Ok(Some(99))));
    assert_eq!(wrong(stack(), version(failed()))[0].level, Level::Failed);
}

#[test]
fn functions_that_are_missing_fail_or_differ() {
    let fetch = |change: fn(&mut FunctionFacts)| move |facts: &mut Facts| change(&mut of_stack(facts).functions[3]);
    let broken = ("functions", Level::Failed);
    judge(
        stack(),
        broken,
        &["it broke", "functions-fail"],
        fetch(|function| {
            *function = FunctionFacts { name: "fetch".to_owned(), deployed: failed(), answer: None };
        }),
    );
    judge(stack(), broken, &["it broke"], fetch(|function| function.answer = Some(failed())));
    judge(
        stack(),
        broken,
        &["fetch cannot run: no role"],
        fetch(|function| {
            function.deployed = Ok(Deployment { fault: Some("no role".to_owned()), reserved: None });
        }),
    );
    let odd = ("functions", Level::Warning);
    judge(stack(), odd, &["9.9.9 (fetch)"], fetch(|function| function.answer = Some(Ok(answer("9.9.9")))));
    judge(
        stack(),
        odd,
        &["fetch cannot use the settings", "config check"],
        fetch(|function| {
            let version = env!("CARGO_PKG_VERSION").to_owned();
            function.answer = Some(Ok(SmokeReport { version, rejects_settings: true }));
        }),
    );
    judge(stack(), odd, &["0.0.1 (", "upgrade-it"], |facts| {
        for function in &mut of_stack(facts).functions {
            function.answer = function.answer.take().map(|_| Ok(answer("0.0.1")));
        }
    });
}

#[test]
fn mappings_rest_while_nothing_waits() {
    let off = |ready, ago| {
        move |facts: &mut Facts| {
            facts.queues[2].1 = Ok(due(ready));
            facts.sent_until = Some(Ok(Some(NOW - ago)));
            of_stack(facts).mappings.as_mut().unwrap()[2].1 = Ok(mapping("Disabled"));
        }
    };
    assert_eq!(wrong(stack(), off(0, Millis::ZERO)), []);
    let mut resting = stack();
    off(0, Millis::ZERO)(&mut resting);
    let said = examine(&resting).into_iter().find(|f| f.check == "mappings").unwrap().found;
    assert_eq!(said, "discover, poll, extract, remove on; fetch resting");
    judge(stack(), ("mappings", Level::Warning), &["mapping of fetch is off", "1 message waits"], off(1, Millis::ZERO));
    let found = wrong(stack(), off(4, Millis::from_hours(1)));
    let failed_mapping = found.iter().find(|f| f.check == "mappings").unwrap();
    assert!(failed_mapping.level == Level::Failed && failed_mapping.line().contains("--uuid a-1"), "{found:#?}");
    assert!(failed_mapping.see.is_some_and(is_in_docs));
    let changing = |facts: &mut Facts| of_stack(facts).mappings.as_mut().unwrap()[2].1 = Ok(mapping("Enabling"));
    assert_eq!(wrong(stack(), changing), []);
    judge(stack(), ("mappings", Level::Failed), &["it broke"], |facts| of_stack(facts).mappings = failed());
    judge(stack(), ("mappings", Level::Failed), &["it broke"], |facts| {
        of_stack(facts).mappings.as_mut().unwrap()[0].1 = failed();
    });
}

#[test]
fn executions_of_the_account_and_of_the_stack() {
    let quota = |all, unreserved| move |facts: &mut Facts| of_stack(facts).quota = Ok(QuotaFacts { all, unreserved });
    // Five mappings of two each; dispatch, index, sample and the search page.
    assert_eq!(wrong(stack(), quota(14, 14)), []);
    judge(stack(), ("quota", Level::Warning), &["10 executions", "may want 14"], quota(10, 10));
    judge(stack(), ("quota", Level::Failed), &["WebConcurrency"], quota(10, 0));
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
    judge(stack(), ("alarms", Level::Warning), &["nobody is told", "AlarmEmail"], alarms(AlarmsGoTo::Nobody));
    assert!(wrong(stack(), alarms(AlarmsGoTo::NoAlarms)).is_empty(), "it was deployed so");
}

#[test]
fn what_is_sent_late() {
    let sent = |ago: Option<Millis>| move |facts: &mut Facts| facts.sent_until = Some(Ok(ago.map(|ago| NOW - ago)));
    judge(stack(), ("schedule", Level::Warning), &["dispatch has not run yet"], sent(None));
    assert_eq!(wrong(stack(), sent(Some(Millis::from_mins(9)))), []);
    judge(stack(), ("schedule", Level::Warning), &["due", "11.0 min"], sent(Some(Millis::from_mins(11))));
    judge(stack(), ("schedule", Level::Failed), &["due", "2.0 h"], sent(Some(Millis::from_hours(2))));
    judge(stack(), ("schedule", Level::Failed), &["parked", "3.0 h"], |facts| {
        of_stack(facts).released_until = Ok(Some(NOW - Millis::from_hours(3)));
    });
    assert_eq!(wrong(machine(), sent(None)), []);
    assert_eq!(wrong(machine(), sent(Some(Millis::from_hours(20)))), []);
    judge(machine(), ("schedule", Level::Warning), &["curlew serve"], sent(Some(Millis::from_days(2))));
    assert_eq!(wrong(machine(), |facts| facts.sent_until = Some(failed()))[0].level, Level::Failed);
}

#[test]
fn what_is_due_given_up_or_unknown_in_queues() {
    judge(stack(), ("backlog", Level::Warning), &["20000 messages are due for poll"], |facts| {
        facts.queues[1].1 = Ok(due(20_000));
    });
    let since = |ago| {
        move |facts: &mut Facts| {
            facts.queues[1].1 = Ok(QueueFacts { due_since: Some(NOW - ago), ..due(20_000) });
        }
    };
    assert_eq!(wrong(machine(), since(Millis::from_hours(3))), []);
    judge(machine(), ("backlog", Level::Warning), &["poll", "48.0 h"], since(Millis::from_hours(48)));
    assert_eq!(wrong(machine(), |facts| facts.queues[1].1 = failed())[0].check, "backlog");
    let dead = |facts: &mut Facts| {
        let count = QueueCount { dead: 1, ..QueueCount::default() };
        facts.queues[3].1 = Ok(QueueFacts { count, due_since: None });
    };
    judge(stack(), ("given_up", Level::Warning), &["1 job of extract", "`curlew --aws redrive`"], dead);
    judge(machine(), ("given_up", Level::Warning), &["`curlew redrive`"], dead);
    judge(stack(), ("given_up", Level::Warning), &["2 events", "curlew --aws index"], |facts| {
        of_stack(facts).dead_events = Ok(2);
    });
    assert_eq!(wrong(stack(), |facts| of_stack(facts).dead_events = failed())[0].check, "given_up");
}

#[test]
fn what_waits_to_be_published() {
    let index = |ago: Option<Millis>, has_unpublished| {
        move |facts: &mut Facts| {
            let published = ago.map(|ago| NOW - ago);
            facts.index = Some(Ok(IndexFacts { pages: 7, published, has_unpublished, newer: None }));
        }
    };
    for (ago, waits) in [(None, false), (None, true), (Some(Millis::from_days(9)), false), (Some(Millis::ZERO), true)] {
        assert_eq!(wrong(stack(), index(ago, waits)), []);
        assert_eq!(wrong(machine(), index(ago, waits)), []);
    }
    judge(stack(), ("index", Level::Warning), &["`curlew --aws index`"], index(Some(Millis::from_hours(13)), true));
    judge(machine(), ("index", Level::Failed), &["72.0 h", "`curlew index`"], index(Some(Millis::from_days(3)), true));
    let paused = wrong(stack(), |facts| {
        index(Some(Millis::from_days(9)), true)(facts);
        let contact = Ok(Some("a@b.example".to_owned()));
        facts.settings = Some(Ok(Ok(StatedSettings {
            contact,
            paused: Some(Origin::Environment),
            pictures: Some(ImageScreening::Skin),
            persons: 0,
        })));
    });
    assert!(paused.iter().all(|finding| finding.level == Level::Warning), "{paused:?}");
    assert_eq!(wrong(stack(), |facts| facts.index = Some(failed()))[0].check, "index");
}

#[test]
fn an_index_of_a_newer_version_is_named_and_the_rest_is_examined() {
    let newer = |facts: &mut Facts| facts.index = Some(Ok(IndexFacts { newer: Some(2025), ..IndexFacts::default() }));
    judge(machine(), ("index", Level::Failed), &["newer version", "2025"], newer);
    judge(stack(), ("index", Level::Failed), &["newer version", "2025"], newer);
}

#[test]
fn messages_of_people() {
    let left = |hours: u64| {
        move |facts: &mut Facts| {
            let oldest = Some(NOW - Millis::from_hours(hours));
            facts.messages = Some(Ok(OpenMessages { count: 2, oldest }));
        }
    };
    assert_eq!(wrong(machine(), left(19)), []);
    judge(machine(), ("messages", Level::Warning), &["2 messages", "21.0 h", "`curlew messages`"], left(21));
    judge(stack(), ("messages", Level::Warning), &["`curlew --aws messages`"], left(400));
    assert_eq!(wrong(stack(), |facts| facts.messages = Some(failed()))[0].check, "messages");
}

#[test]
fn rows_that_lie_ahead_of_the_clock() {
    let told = ["3 rows of hosts, feeds or sites lie ahead of the clock", "server.md"];
    judge(machine(), ("clock", Level::Warning), &told, |facts| facts.ahead = Some(Ok(3)));
}

#[test]
fn sites_and_holds() {
    judge(stack(), ("sites", Level::Warning), &["`curlew --aws crawl SITE`"], |facts| {
        facts.has_sources = Some(Ok(false))
    });
    judge(machine(), ("sites", Level::Warning), &["`curlew crawl SITE`"], |facts| facts.has_sources = Some(Ok(false)));
    assert_eq!(wrong(stack(), |facts| facts.counted = Some(Ok(None))), []);
    let held = |sites, n| {
        move |facts: &mut Facts| {
            let held = [(HoldReason::TooManyRequests, n)].into();
            facts.counted = Some(Ok(Some(HoldCount { at: Some(NOW), sites, held })));
        }
    };
    assert_eq!(wrong(stack(), held(2, 2)), [], "too few to tell anything");
    judge(stack(), ("holds", Level::Warning), &["5 hosts are on hold (5 too_many_requests)", "#trouble"], held(8, 5));
    judge(machine(), ("holds", Level::Warning), &["`curlew holds`"], held(8, 5));
}
