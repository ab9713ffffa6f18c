//! Tests a stack with bad input: unreadable messages, and settings that name missing resources. The stack reports the
//! bad input and does the rest of the work.

use curlew_fixtureweb::Uniform;
use curlew_model::QueueName;
use curlew_tests::aws::emulator::Emulator;
use curlew_tests::aws::stack::{DeadLetter, FUNCTIONS, Stack};
use curlew_tests::{Steps, Web};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const HOSTS: usize = 2;
const PAGES: usize = 2;
/// Maximum time for the whole crawl.
const CRAWL: Duration = Duration::from_secs(240);
/// Interval at which a queue is read.
const LOOK: Duration = Duration::from_millis(200);
/// Key of an object that does not exist.
const LOST: &str = "bodies/2026-01-01/lost.zst";

#[test]
fn what_cannot_be_read_is_given_up_with_the_reason_and_the_rest_is_done() {
    let web =
        Web::uniform(&Uniform { hosts: HOSTS, pages: PAGES, bytes: 8 * 1024, images: false, prefix: "bad".into() });
    let emulator = Emulator::start();
    let stack = Stack::over(&emulator, "bad", &web, &emulator.url(), &[("Watch", "false")]);
    let mut steps = Steps::new();

    // Good and bad messages wait together, so that they form one batch.
    stack.map(QueueName::Discover, false);
    stack.map(QueueName::Extract, false);
    stack.name_sites(&web.starts());
    let unreadable = [
        ("this is no JSON", "not a job"),
        (r#"{"v":9,"job":"discover","site":"x","url":"http://bad-0001.test/"}"#, "version 9"),
        (r#"{"v":1,"job":"dance"}"#, "unknown variant"),
        (r#"{"claim":"claims/lost"}"#, "no longer in the bucket"),
        (
            r#"{"v":1,"job":"poll","feed":"0123456789abcdef0123456789abcdef","url":"http://bad-0001.test/f"}"#,
            "wrong queue",
        ),
    ];
    unreadable.iter().for_each(|(body, _)| stack.send(QueueName::Discover, body));
    wait_for(&stack, QueueName::Discover, HOSTS + unreadable.len());
    stack.map(QueueName::Discover, true);
    wait_for(&stack, QueueName::Extract, HOSTS * PAGES);
    steps.step("messages", || {
        let letters = stack.dead_letters(QueueName::Discover);
        assert_eq!(letters.len(), unreadable.len(), "{letters:?}");
        unreadable.iter().for_each(|(body, reason)| judge(&letters, body, reason));
    });

    let lost = lose_a_body(&stack);
    stack.map(QueueName::Extract, true);
    stack.come_to_rest(CRAWL);
    steps.step("a body that is gone", || {
        let letters = stack.dead_letters(QueueName::Extract);
        assert_eq!(letters.len(), 1, "{letters:?}");
        judge(&letters, &lost, LOST);
    });
    steps.step("the rest is done", || {
        assert_eq!(stack.records().len(), HOSTS * PAGES - 1);
        assert_eq!(stack.all_dead(), unreadable.len() + 1);
    });
    steps.step("the operator sees why", || {
        let rows = stack.list("parked");
        let said = format!("{rows:?}");
        for (_, reason) in unreadable {
            assert!(said.contains(reason), "'{reason}' is missing: {said}");
        }
    });
    steps.step("what is stored fits together", || {
        stack.run(&["fsck"]).ok();
    });
    later(&mut steps, &stack);
    missing(&mut steps, &stack);
    steps.end();
}

/// A stack that a later program has written to: every function refuses its work, and no message is lost.
fn later(steps: &mut Steps, stack: &Stack) {
    let says = ["it is 99", "use or deploy a newer curlew"];
    let version = |version: &str| {
        let item = json!({"k": {"S": "m#version"}, "v": {"N": "2"}, "w": {"S": "test"}, "s": {"S": version}});
        let put = json!({"TableName": stack.called("hosts"), "Item": item});
        stack.api().call("DynamoDB_20120810.PutItem", &put);
    };
    steps.step("a later version", || {
        let known = stack.items("hosts").into_iter().find(|item| item["k"]["S"] == "m#version").unwrap();
        let own = curlew_aws::KNOWN_VERSION.to_string();
        assert_eq!(known["s"]["S"], own, "the first process that read the version wrote it");
        version("99");
        // The restart makes a new process handle the next call.
        stack.restart();
        for function in ["dispatch", "sample", "index"] {
            refused(stack, function, &json!({}), &says);
        }
        FUNCTIONS.iter().for_each(|function| refused(stack, function, &json!({ "smoke": true }), &says));
        let (status, page) = stack.get("/", "");
        assert!(status == 503 && page.contains("try again"), "{status} {page}");
        stack.run(&["status"]).refused(1, &says);
    });
    steps.step("messages of a later version", || {
        let dead = stack.all_dead();
        for stage in QueueName::ALL {
            // A program that read this message would give it up.
            let record = json!({
                "messageId": "left-alone", "receiptHandle": "none", "body": r#"{"v":9,"job":"dance"}"#,
                "attributes": { "ApproximateReceiveCount": "1" }, "eventSource": "aws:sqs"
            });
            let answer = stack.invoked(stage.as_str(), &json!({ "Records": [record] }));
            let failed = json!({ "batchItemFailures": [{ "itemIdentifier": "left-alone" }] });
            assert_eq!(answer, failed, "{}", stage.as_str());
            assert_eq!(refusals(stack, stage), 1, "{}", stage.as_str());
        }
        // A message from the queue waits there for the release that can read it.
        let began = Instant::now();
        stack.send(QueueName::Remove, r#"{"v":9,"job":"dance"}"#);
        while refusals(stack, QueueName::Remove) < 2 {
            assert!(began.elapsed() < CRAWL, "the message is not handed out: {}", stack.told());
            std::thread::sleep(LOOK);
        }
        assert_eq!((stack.waiting(QueueName::Remove), stack.all_dead()), (1, dead));
        version(&curlew_aws::KNOWN_VERSION.to_string());
    });
}

/// Returns the number of batches that a stage's function refused, according to its log.
fn refusals(stack: &Stack, stage: QueueName) -> usize {
    let lines = stack.logged(stage.as_str());
    let is_refusal = |line: &&Value| {
        let says = |words: &str| line["error"].as_str().is_some_and(|error| error.contains(words));
        line["level"] == "ERROR" && line["messages"] == 1 && says("it is 99")
    };
    lines.iter().filter(is_refusal).count()
}

/// Settings that name a table and a bucket that do not exist.
fn missing(steps: &mut Steps, stack: &Stack) {
    steps.step("a table that is missing", || {
        stack.set(&[("CURLEW_STACK", "nobody")]);
        refused(stack, "dispatch", &json!({}), &["table", "nobody-"]);
    });
    steps.step("a bucket that is missing", || {
        stack.set(&[("CURLEW_STACK", stack.name()), ("CURLEW_BUCKET", "nobody-data")]);
        refused(stack, "index", &json!({ "what": "publish" }), &["bucket", "nobody-data"]);
    });
    steps.step("an event that is none", || {
        stack.set(&[("CURLEW_BUCKET", stack.bucket())]);
        refused(stack, "fetch", &json!({ "hello": "world" }), &["no event of SQS"]);
        refused(stack, "sample", &json!({ "count": "many" }), &["not understood"]);
    });
    steps.step("a setting that is wrong", || {
        stack.set(&[("CURLEW_RULES_SLICE", "soon")]);
        refused(stack, "poll", &json!({ "Records": [] }), &["settings", "no length of time"]);
    });
}

/// Calls a function, and checks that it fails with these words.
#[track_caller]
fn refused(stack: &Stack, function: &str, event: &Value, words: &[&str]) {
    let done = stack.invoke(function, event);
    let said = done.payload.to_string().to_lowercase();
    assert!(done.failed, "{said}");
    for word in words {
        assert!(said.contains(&word.to_lowercase()), "'{word}' is missing: {said}");
    }
    assert!(!said.contains("panicked"), "{said}");
}

/// Takes one page's message from its queue and puts it back with a missing body; returns the new message.
#[track_caller]
fn lose_a_body(stack: &Stack) -> String {
    let body = stack.take(QueueName::Extract).expect("pages wait for extraction");
    // The bytes of the body are in attributes; a tab stands for each of them in the message.
    let mut message: Value = serde_json::from_str(&body.replace('\t', "")).unwrap();
    message["body"] = json!({ "stored": LOST });
    let lost = message.to_string();
    stack.send(QueueName::Extract, &lost);
    lost
}

#[track_caller]
fn judge(letters: &[DeadLetter], body: &str, reason: &str) {
    let letter = letters.iter().find(|letter| letter.body == body).unwrap_or_else(|| panic!("not given up: {body}"));
    let error = letter.error.as_deref().unwrap_or_default();
    assert!(error.contains(reason), "'{reason}' is missing: {error}");
    assert!(letter.at.as_deref().is_some_and(|at| at.ends_with('Z')), "{letter:?}");
}

#[track_caller]
fn wait_for(stack: &Stack, stage: QueueName, messages: usize) {
    let began = Instant::now();
    while stack.waiting(stage) != messages {
        let waiting = stack.waiting(stage);
        assert!(began.elapsed() < CRAWL, "{} has {waiting} messages, not {messages}: {}", stage.as_str(), stack.told());
        std::thread::sleep(LOOK);
    }
}
