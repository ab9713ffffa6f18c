//! Mappings of a deployed stack are off while there is nothing to do. Dispatch switches them off, with the permissions
//! of its own role, and on again when a site is named, which is then crawled. `curlew doctor` finds no fault in such a
//! stack, and it reports real faults.

use curlew_fixtureweb::{Uniform, judge};
use curlew_model::QueueName;
use curlew_tests::aws::emulator::Emulator;
use curlew_tests::aws::stack::Stack;
use curlew_tests::{BRISK, BRISK_PAUSE, Child, Ran, Steps, Web};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Number of pages of the site.
const PAGES: usize = 3;
/// Maximum time until all mappings are off, and until the site is crawled.
const LIMIT: Duration = Duration::from_secs(240);
/// Time between two ticks.
const TICK: Duration = Duration::from_secs(2);
/// Key of the settings of the stack.
const SETTINGS: &str = "config/curlew.toml";

#[test]
fn mappings_of_unused_queues_rest_and_wake_for_a_site_that_is_named() {
    let web = Web::uniform(&Uniform { hosts: 1, pages: PAGES, bytes: 8 * 1024, images: false, prefix: "tide".into() });
    let emulator = Emulator::strict();
    let more = [("Watch", "false"), ("FunctionUrl", "false"), ("RestAfter", "3")];
    let stack = Stack::over(&emulator, "restful", &web, &emulator.url(), &more);
    stack.grant_batches();
    stack.set(&BRISK);
    let mut steps = Steps::new();

    steps.step("all rest", || tick_until(&stack, || states(&stack).iter().all(|state| state == "Disabled")));
    steps.step("a site is crawled", || {
        stack.name_sites(&web.starts());
        assert_eq!(states(&stack)[QueueName::Discover as usize], "Disabled", "only dispatch switches the mapping on");
        tick_until(&stack, || {
            stack.list("pages").iter().filter(|page| page["state"]["state"] == "accepted").count() == PAGES
        });
        assert_eq!(stack.all_dead(), 0, "{}", stack.told());
        let calls = web.calls();
        assert_eq!(judge::closer_than(&calls, judge::registrable, BRISK_PAUSE), []);
    });
    steps.step("all rest again", || tick_until(&stack, || states(&stack).iter().all(|state| state == "Disabled")));
    steps.step("nothing went wrong in dispatch", || {
        let lines = stack.logged("dispatch");
        let wrong: Vec<_> = lines.iter().filter(|line| line["level"] != "INFO" && line["level"] != "DEBUG").collect();
        assert!(wrong.is_empty(), "{wrong:?}");
        // Four mappings are switched off at first. Later three are switched on and off again; feeds that discovery
        // finds are not polled at once.
        let switched = |on: &str| lines.iter().filter(|line| line.to_string().contains(on)).count();
        assert!(
            switched("mapping is switched off") >= 7 && switched("mapping is switched on") >= 3,
            "{}",
            stack.told()
        );
    });
    examining(&mut steps, &stack);
    steps.step("paused, nothing is switched", || {
        stack.run(&["config", "pause"]).ok();
        stack.restart();
        stack.map(QueueName::Poll, true);
        for _ in 0..4 {
            assert_eq!(stack.invoked("dispatch", &json!({})), json!({ "paused": true }));
            std::thread::sleep(TICK);
        }
        assert_eq!(states(&stack)[QueueName::Poll as usize], "Enabled");
    });
    steps.end();
}

/// Runs `curlew doctor` while the stack is healthy, and while something is wrong.
fn examining(steps: &mut Steps, stack: &Stack) {
    let api = stack.api();
    steps.step("doctor: all is well", || {
        // The last tick may be too long ago.
        stack.invoked("dispatch", &json!({}));
        let said = stack.run(&["doctor"]).ok().stdout;
        assert!(said.lines().count() >= 15 && said.lines().all(|line| line.starts_with("ok ")), "{said}");
        assert!(said.contains("discover, poll, fetch, extract, remove resting"), "{said}");
        assert!(said.contains("sites can reach you at https://curlew.test/contact"), "{said}");
        let told = stack.run(&["doctor", "--json"]).ok().json();
        let keys: Vec<&str> = told["checks"][0].as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!((&told["ok"], keys), (&json!(true), vec!["check", "found", "level", "remedy", "see"]));
    });
    steps.step("doctor: a dead letter, and settings that cannot be used", || {
        let queue = json!({ "QueueName": stack.called("fetch-dead") });
        let queue = api.call("AmazonSQS.GetQueueUrl", &queue)["QueueUrl"].clone();
        api.call("AmazonSQS.SendMessage", &json!({ "QueueUrl": queue, "MessageBody": "this is no JSON" }));
        api.put_object(stack.bucket(), SETTINGS, b"[web]\ntitel = \"x\"\n");
        let said = wrong(&stack.run(&["doctor", "--json"]));
        api.delete_object(stack.bucket(), SETTINGS);
        let found = |check: &str, level: &str, words: &str| {
            let is_so =
                |row: &&Value| row["check"] == check && row["level"] == level && row.to_string().contains(words);
            assert!(said.iter().any(|row| is_so(&row)), "{check} {level} {words}: {said:#?}");
        };
        found("given_up", "warning", "1 job of fetch given up");
        found("settings", "failed", "config/curlew.toml, line 2, column 1: there is no setting `titel`");
        let others = ["given_up", "settings", "functions"];
        assert!(said.iter().all(|row| others.iter().any(|check| row["check"] == *check)), "{said:#?}");
        api.call("AmazonSQS.PurgeQueue", &json!({ "QueueUrl": queue }));
    });
    steps.step("doctor: rights that are missing", || {
        let table = format!("arn:aws:dynamodb:*:*:table/{}", stack.called("pages"));
        let web = format!("arn:aws:lambda:*:*:function:{}*", stack.called("web"));
        let policy = json!({ "Version": "2012-10-17", "Statement": [
            { "Effect": "Allow", "Action": "*", "Resource": "*" },
            { "Effect": "Deny", "Action": "dynamodb:Scan", "Resource": table },
            { "Effect": "Deny", "Action": "lambda:GetFunction", "Resource": web },
            { "Effect": "Deny", "Action": "sqs:GetQueueAttributes", "Resource": "*" },
        ] });
        let [key, secret] = api.create_user("watcher", &policy);
        let mut doctor = stack.curlew(&["doctor", "--json"]);
        doctor.env("AWS_ACCESS_KEY_ID", key).env("AWS_SECRET_ACCESS_KEY", secret);
        let said = wrong(&Child::spawn(doctor).wait(LIMIT));
        let found: Vec<&str> = said.iter().map(|row| row["found"].as_str().unwrap()).collect();
        let queues = QueueName::ALL.map(|stage| stack.called(stage.as_str()));
        let queues = queues.iter().map(|queue| format!("sqs:GetQueueAttributes on the queue {queue}"));
        let rights = [
            format!("dynamodb:Scan on the table {}", stack.called("pages")),
            format!("lambda:GetFunction on the function {}", stack.called("web")),
        ];
        for right in rights.into_iter().chain(queues) {
            let is_said = found.iter().any(|found| found.eq_ignore_ascii_case(&format!("missing right: {right}")));
            assert!(is_said, "{right}: {said:#?}");
        }
        // Dispatch may still warn of the settings that an earlier step broke.
        let is_expected = |row: &Value| row["check"] == "rights" || row["level"] == "warning";
        assert!(said.iter().all(is_expected), "{said:#?}");
    });
    steps.step("doctor: no such stack", || {
        let elsewhere = stack.run_elsewhere("nobody", &["doctor"]);
        assert!(elsewhere.code() == 1 && elsewhere.stdout.contains("nobody-data"), "{elsewhere:?}");
        assert_eq!(elsewhere.stdout.lines().count(), 1, "{elsewhere:?}");
    });
}

/// Returns the failed checks and warnings of a run that has failed.
#[track_caller]
fn wrong(ran: &Ran) -> Vec<Value> {
    assert_eq!(ran.code(), 1, "{ran:?}");
    let told = ran.json();
    assert_eq!(told["ok"], false, "{told}");
    let rows = told["checks"].as_array().expect("a list").iter();
    rows.filter(|row| row["level"] != "ok").cloned().collect()
}

/// Runs dispatch until `is_so` returns true.
#[track_caller]
fn tick_until(stack: &Stack, is_so: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < LIMIT, "mappings are {:?}: {}", states(stack), stack.told());
        stack.invoked("dispatch", &json!({}));
        std::thread::sleep(TICK);
    }
}

/// Returns the states of the mappings of all queues, in the order of [`QueueName::ALL`].
fn states(stack: &Stack) -> Vec<Value> {
    let all = stack.api().lambda("GET", "/2015-03-31/event-source-mappings/", None);
    let all = all["EventSourceMappings"].as_array().expect("a list");
    let of = |stage: QueueName| {
        let source = format!(":{}", stack.called(stage.as_str()));
        let mapping =
            all.iter().find(|mapping| mapping["EventSourceArn"].as_str().is_some_and(|arn| arn.ends_with(&source)));
        mapping.expect("a mapping")["State"].clone()
    };
    QueueName::ALL.into_iter().map(of).collect()
}
