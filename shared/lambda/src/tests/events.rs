//! Parses the sample events in `events/` like their functions.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

use crate::queue::messages;
use crate::scheduled::{IndexEvent, Nothing, SampleEvent, read};
use curlew_model::{Job, QueueName};
use lambda_http::request::{LambdaRequest, RequestContext};
use lambda_http::{Request, RequestExt};
use serde_json::Value;
use std::path::Path;

/// Words in the name of an event that is deliberately invalid.
const WRONG: [&str; 2] = ["unreadable", "wrong-queue"];

fn cases(function: &str) -> Vec<(String, Value)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../events").join(function);
    let mut cases: Vec<(String, Value)> = std::fs::read_dir(folder)
        .unwrap()
        .map(|file| {
            let path = file.unwrap().path();
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            let text = std::fs::read_to_string(&path).unwrap();
            (name, serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display())))
        })
        .collect();
    assert!(cases.len() >= 2, "{function} has too few events");
    cases.sort_by(|a, b| a.0.cmp(&b.0));
    cases
}

pub(crate) fn event(case: &str) -> Value {
    cases("web").into_iter().find(|(name, _)| name == case).unwrap().1
}

#[test]
fn events_of_queues_hold_jobs_of_their_stage() {
    for stage in QueueName::ALL {
        for (name, event) in cases(stage.as_str()) {
            let messages = messages(event).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert!(!messages.is_empty(), "{name}");
            let good = |body: &str| matches!(Job::from_message(body), Ok(job) if job.work.queue() == stage);
            let all_good = messages.iter().all(|message| good(&message.body));
            assert_eq!(all_good, !WRONG.iter().any(|word| name.contains(word)), "{}/{name}", stage.as_str());
        }
    }
}

#[test]
fn the_bad_messages_are_bad_in_the_way_their_case_says() {
    let said = |stage: &str, case: &str| -> Vec<String> {
        let (_, event) = cases(stage).into_iter().find(|(name, _)| name == case).unwrap();
        let messages = messages(event).unwrap();
        messages.iter().filter_map(|message| Job::from_message(&message.body).err()).collect()
    };
    let errors = said("fetch", "unreadable-and-unknown-version");
    assert!(errors.len() == 2 && errors[0].contains("not a job") && errors[1].contains("version 2"), "{errors:?}");
}

#[test]
fn events_of_schedules_are_understood() {
    for (name, event) in cases("dispatch") {
        read::<Nothing>(&event).unwrap_or_else(|e| panic!("{name}: {e}"));
    }
    for (name, event) in cases("index") {
        read::<IndexEvent>(&event).unwrap_or_else(|e| panic!("{name}: {e}"));
    }
    for (name, event) in cases("sample") {
        read::<SampleEvent>(&event).unwrap_or_else(|e| panic!("{name}: {e}"));
    }
}

#[test]
fn events_of_the_function_url_are_requests_with_a_caller() {
    for (name, event) in cases("web") {
        let request: LambdaRequest = serde_json::from_value(event).unwrap_or_else(|e| panic!("{name}: {e}"));
        let request = Request::from(request);
        let Some(RequestContext::ApiGatewayV2(context)) = request.request_context_ref() else { panic!("{name}") };
        assert_eq!(context.http.source_ip.as_deref(), Some("203.0.113.7"), "{name}");
        assert_eq!(request.uri().path(), context.http.path.as_deref().unwrap(), "{name}");
    }
}
