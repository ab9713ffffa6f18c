//! Releases of a stack: every caller of a function names the alias of the version that was deployed last, and a smoke
//! test shows that this version works.

use crate::documents::block;
use crate::profiles::profiles;
use curlew_tests::aws::api::Api;
use curlew_tests::aws::emulator::Emulator;
use curlew_tests::aws::stack::{FUNCTIONS, Stack};
use curlew_tests::{Child, Ran, Web, binary, named};
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Page of the documentation whose commands are run.
const PAGE: &str = "docs/aws.md";
/// Maximum time for the commands of a block.
const BLOCK: Duration = Duration::from_secs(240);
/// Maximum time until all pages are accepted, on a busy machine.
const CRAWL: Duration = Duration::from_secs(300);

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

    // A change of the environment variables alone makes a new version, too.
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

/// A folder as a new user has it after `sam build`, and the addresses that its commands use.
struct CleanFolder {
    folder: TempDir,
    endpoint: String,
    web: String,
}

impl CleanFolder {
    fn new(emulator: &Emulator, web: &Web) -> CleanFolder {
        let clean = CleanFolder {
            folder: TempDir::with_prefix("curlew-page-").unwrap(),
            endpoint: emulator.url(),
            web: web.resolve(),
        };
        let profiles = Path::new(env!("CARGO_MANIFEST_DIR")).join("../samconfig.toml");
        let profiles = clean.with_addresses(&std::fs::read_to_string(profiles).unwrap());
        std::fs::write(clean.folder.path().join("samconfig.toml"), profiles).unwrap();
        std::fs::create_dir(clean.folder.path().join(".aws-sam")).unwrap();
        let built = named("CURLEW_FUNCTIONS", "target/stack").canonicalize().unwrap();
        std::os::unix::fs::symlink(built, clean.folder.path().join(".aws-sam/build")).unwrap();
        clean
    }

    fn with_addresses(&self, text: &str) -> String {
        text.replace("http://127.0.0.1:4566", &self.endpoint).replace("*.test=127.0.0.1:7000", &self.web)
    }

    /// Runs commands of the page, except those that compile. The first line of the page's block about the emulator,
    /// which sets its address, is run before them.
    #[track_caller]
    fn run(&self, commands: &str) -> Ran {
        let exports = block(PAGE, "export AWS_ENDPOINT_URL=");
        let lines = exports.lines().take(1).chain(commands.lines());
        let compiles = |line: &&str| line.starts_with("sam build ") || line.starts_with("cargo build ");
        let script: Vec<&str> = lines.filter(|line| !compiles(line)).collect();
        let script = self.with_addresses(&script.join("\n"));
        let script = script.replace("target/release/curlew", binary().to_str().unwrap());
        let sam = named("CURLEW_SAM", ".tools/aws-sam-cli/bin/sam").canonicalize().unwrap();
        let path = format!("{}:{}", sam.parent().unwrap().display(), std::env::var("PATH").unwrap());
        let mut shell = Command::new("bash");
        shell.args(["-euc", &script]).current_dir(self.folder.path()).stdin(Stdio::null());
        shell.env("HOME", self.folder.path()).env("PATH", path).env("SAM_CLI_TELEMETRY", "0");
        Child::spawn(shell).wait(BLOCK).ok()
    }
}

#[test]
fn the_commands_of_the_page_lead_from_a_clean_folder_to_the_first_hit() {
    let (web, emulator) = (Web::demo(), Emulator::start());
    let clean = CleanFolder::new(&emulator, &web);
    let deployed = clean.run(&block(PAGE, "export AWS_ENDPOINT_URL="));
    assert!(deployed.stdout.contains("Successfully created/updated stack"), "{}", deployed.stdout);
    assert!(deployed.stdout.contains("\nsites "), "{}", deployed.stdout);
    clean.run(&block(PAGE, "sam deploy --config-env local --parameter-overrides"));
    let curlew = "target/release/curlew --aws --stack curlew-local";
    let began = Instant::now();
    // The documentation describes this loop.
    while clean.run(&format!("{curlew} status --json")).json()["pages"]["accepted"] != 19 {
        assert!(began.elapsed() < CRAWL, "{}", clean.run(&format!("{curlew} status")).stdout);
        clean.run(&format!("{curlew} tick"));
        std::thread::sleep(Duration::from_secs(2));
    }
    let found = clean.run(&format!("{curlew} tick --publish\n{curlew} search harbour"));
    assert!(found.stdout.contains("harbour-lantern.test/"), "{}", found.stdout);
}

/// Returns the functions that the stack's mappings invoke.
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
