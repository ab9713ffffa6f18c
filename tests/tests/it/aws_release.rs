//! Releases of a stack: whatever invokes a function names the alias of its version deployed last, and a smoke test
//! shows that this version works.

use crate::profiles::profiles;
use curlew_tests::Web;
use curlew_tests::aws::api::Api;
use curlew_tests::aws::emulator::Emulator;
use curlew_tests::aws::stack::{FUNCTIONS, Stack};
use serde_json::{Value, json};

#[test]
fn a_deployment_moves_the_alias_and_every_function_answers_its_smoke_test() {
    let (web, emulator) = (Web::demo(), Emulator::strict());
    let stack = Stack::over(&emulator, "fresh", &web, &emulator.url(), &[("Watch", "false")]);
    for source in mappings(&stack) {
        assert!(source.ends_with(":live"), "{source} is invoked past the alias");
    }
    let versions: Vec<String> = FUNCTIONS.iter().map(|function| live(&stack, function)).collect();
    for function in FUNCTIONS {
        let answer = stack.invoked(function, &json!({ "smoke": true }));
        let expected = json!({
            "function": function, "version": env!("CARGO_PKG_VERSION"), "settings_rejected": false, "paused": false,
            "has_contact": true
        });
        assert_eq!(answer, expected);
        let wrong = stack.invoke(function, &json!({ "smoke": true, "count": 1 }));
        assert!(wrong.failed, "{function} answers {}", wrong.payload);
    }
    assert_eq!(stack.get("/status.json", "").0, 200);
    assert_eq!((web.calls().len(), stack.items("hosts").len()), (0, 0), "a smoke test does no work");

    // A change of the environment alone is a new version, too.
    let stack = Stack::over(&emulator, "fresh", &web, &emulator.url(), &[("Watch", "false"), ("Paused", "true")]);
    for (function, before) in FUNCTIONS.iter().zip(versions) {
        assert_ne!(live(&stack, function), before, "{function}");
    }
    assert_eq!(stack.invoked("fetch", &json!({ "smoke": true }))["paused"], true);
}

#[test]
fn each_profile_is_deployed_as_it_stands_but_for_its_endpoint() {
    let emulator = Emulator::start();
    for (profile, (overrides, how)) in profiles() {
        if let Some((_, bucket)) = how.split_once("s3_bucket = \"") {
            Api::new(emulator.addr()).create_bucket(bucket.split('"').next().expect("a name"));
        }
        let name =
            how.split_once("stack_name = \"").and_then(|(_, rest)| rest.split('"').next()).expect("a stack's name");
        let url = emulator.url();
        let own = overrides.iter().filter_map(|set| set.split_once('='));
        let own = own.filter(|(parameter, _)| !["Architecture", "EndpointUrl"].contains(parameter));
        let mut parameters = vec![("Architecture", "x86_64"), ("EndpointUrl", url.as_str())];
        parameters.extend(own);
        if !parameters.iter().any(|(parameter, _)| *parameter == "ContactUrl") {
            parameters.push(("ContactUrl", "https://search.example/bot"));
        }
        let stack = Stack::of_profile(&emulator, &profile, name, &parameters);
        let answer = stack.invoked("fetch", &json!({ "smoke": true }));
        assert_eq!(answer["has_contact"], true, "{profile}: {answer}");
        let path = format!("/2015-03-31/functions/{}/configuration", stack.called("fetch"));
        let configuration = stack.api().lambda("GET", &path, None);
        let level = &configuration["Environment"]["Variables"]["RUST_LOG"];
        assert_eq!(level, if profile == "dev" { "DEBUG" } else { "INFO" }, "{profile}: {configuration}");
        let table = json!({ "TableName": stack.called("pages") });
        let table = stack.api().call("DynamoDB_20120810.DescribeTable", &table);
        assert_eq!(table["Table"]["DeletionProtectionEnabled"], profile == "prod", "{profile}: {table}");
    }
}

/// Returns what the mappings of the stack's queues invoke.
fn mappings(stack: &Stack) -> Vec<String> {
    let all = stack.api().lambda("GET", "/2015-03-31/event-source-mappings/", None);
    let all = all["EventSourceMappings"].as_array().expect("a list").iter();
    let functions: Vec<String> = all.filter_map(|mapping| mapping["FunctionArn"].as_str().map(str::to_owned)).collect();
    assert!(!functions.is_empty());
    functions
}

/// Returns the version that the alias of a function points to.
fn live(stack: &Stack, function: &str) -> String {
    let path = format!("/2015-03-31/functions/{}/aliases/live", stack.called(function));
    let alias: Value = stack.api().lambda("GET", &path, None);
    alias["FunctionVersion"].as_str().expect("a version").to_owned()
}
