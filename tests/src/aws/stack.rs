//! A deployed stack: the real template with the real programs, on an emulator.
//!
//! This file contains all changes to a deployed stack that tests make by API, and that a deployment to AWS does not
//! have:
//!
//! - SAM's own bucket, to which SAM uploads the zips: [`ARTIFACTS`];
//! - the visibility timeout of a message, since a test that kills functions would otherwise wait for six times their
//!   timeout: [`Stack::hide_for`];
//! - the timeout of a function, since a job that died comes back when that is over: [`Stack::time_out_after`];
//! - settings without a parameter in the template, since only tests need them: [`Stack::set`], which publishes a
//!   version of each function, as a deployment does;
//! - permissions that IAM implies and a strict emulator does not: [`Stack::grant_batches`];
//! - mappings that are stopped so that a test can itself call a function with the queue's messages: [`Stack::map`].
//!
//! Beyond that the emulator differs from AWS: a mapping hands out at most 10 messages at once and does not wait for its
//! batching window to fill, schedules fire when they are created, and only a [strict](Emulator::strict) emulator
//! enforces roles.

use super::api::{Api, Invoked, REGION};
use super::emulator::Emulator;
use crate::program::{Child, LIMIT, Ran, curlew, named};
use crate::store::args;
use crate::web::Web;
use curlew_model::QueueName;
use serde_json::{Map, Value, json};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The bucket to which SAM uploads the zips.
const ARTIFACTS: &str = "sam-artifacts";
/// Maximum time of a deployment.
const DEPLOY: Duration = Duration::from_secs(240);
/// Interval at which a stack's queues are examined.
const LOOK: Duration = Duration::from_millis(500);
/// Number of consecutive examinations that must find the queues empty before a stack counts as idle. No count includes
/// a message between a function's answer and the message's deletion.
const LOOKS: u32 = 3;
/// Maximum number of messages that one call reads.
const BATCH: usize = 10;
/// Time for which a dead letter is hidden while it is read, in seconds.
const READING: u32 = 60;

/// Alias of a function's last deployed version; all callers use it.
const ALIAS: &str = "live";

/// The functions of a stack.
pub const FUNCTIONS: [&str; 9] =
    ["dispatch", "discover", "poll", "fetch", "extract", "remove", "index", "sample", "web"];

/// A running stack.
#[derive(Debug)]
pub struct Stack {
    name: String,
    bucket: String,
    api: Api,
    /// AWS endpoint that the operator's program uses.
    endpoint: String,
    /// The values of `--resolve` that direct the operator's program to the crawled web, separated by commas.
    resolve: Option<String>,
    /// A home folder for programs that would otherwise write into the tester's own.
    home: TempDir,
}

/// A message that was given up.
#[derive(Clone, Debug)]
pub struct DeadLetter {
    /// The original message.
    pub body: String,
    /// The reason why it was given up, if it is known.
    pub error: Option<String>,
    /// The time at which it was given up, if it is known.
    pub at: Option<String>,
}

impl Stack {
    /// Deploys the built template under this name and with these parameters. The name must be in lower case, since a
    /// bucket's name contains it.
    pub fn deploy(emulator: &Emulator, name: &str, parameters: &[(&str, &str)]) -> Stack {
        // AUTO_EXPAND is needed for the nested stack, which contains the monitoring.
        let capabilities = ["--capabilities", "CAPABILITY_IAM", "CAPABILITY_AUTO_EXPAND"];
        let how = [["--stack-name", name].as_slice(), &["--s3-bucket", ARTIFACTS], &capabilities].concat();
        Stack::deploy_by(emulator, name, &how, parameters)
    }

    /// Deploys the built template with a profile of `samconfig.toml`, which gives the stack this name. The parameters
    /// replace the profile's own.
    pub fn of_profile(emulator: &Emulator, profile: &str, name: &str, parameters: &[(&str, &str)]) -> Stack {
        let settings = concat!(env!("CARGO_MANIFEST_DIR"), "/../samconfig.toml");
        Stack::deploy_by(emulator, name, &["--config-file", settings, "--config-env", profile], parameters)
    }

    fn deploy_by(emulator: &Emulator, name: &str, how: &[&str], parameters: &[(&str, &str)]) -> Stack {
        let api = Api::new(emulator.addr());
        let home = TempDir::with_prefix("curlew-sam-").unwrap();
        api.create_bucket(ARTIFACTS);
        sam_deploy(emulator, how, parameters, home.path());
        let bucket = format!("{name}-data-");
        let bucket = api.buckets().into_iter().find(|found| found.starts_with(&bucket)).expect("a bucket for the data");
        let resolve = parameters.iter().find(|(key, _)| *key == "Resolve").map(|(_, rule)| (*rule).to_owned());
        Stack { name: name.to_owned(), bucket, api, endpoint: emulator.url(), resolve, home }
    }

    /// Deploys a stack whose functions crawl this web and call AWS at this endpoint: the emulator's own, or that of a
    /// proxy in front of it.
    pub fn over(emulator: &Emulator, name: &str, web: &Web, endpoint: &str, more: &[(&str, &str)]) -> Stack {
        let resolve = web.resolve();
        let mut parameters = vec![
            ("Architecture", "x86_64"),
            ("ContactUrl", "https://curlew.test/contact"),
            ("EndpointUrl", endpoint),
            ("AllowNet", "127.0.0.0/8"),
            ("Resolve", resolve.as_str()),
        ];
        parameters.extend_from_slice(more);
        Stack::deploy(emulator, name, &parameters)
    }

    /// Returns the name of the stack.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the bucket with the stack's data.
    pub fn bucket(&self) -> &str {
        &self.bucket
    }

    /// Returns the endpoint that the stack runs on.
    pub fn api(&self) -> &Api {
        &self.api
    }

    /// Returns the operator's program, configured for this stack.
    pub fn curlew(&self, args: &[&str]) -> Command {
        let mut command = curlew(["--aws", "--stack", &self.name]);
        let rules = self.resolve.iter().flat_map(|rules| rules.split(','));
        command.args(rules.flat_map(|rule| ["--resolve", rule])).args(args).env("HOME", self.home.path());
        on_endpoint(&mut command, &self.endpoint);
        command
    }

    /// Runs the operator's program for this stack to its end.
    pub fn run(&self, args: &[&str]) -> Ran {
        Child::spawn(self.curlew(args)).wait(LIMIT)
    }

    /// Runs the operator's program for a stack of another name, with the same endpoint.
    pub fn run_elsewhere(&self, name: &str, args: &[&str]) -> Ran {
        let mut command = curlew(["--aws", "--stack", name]);
        command.args(args).env("HOME", self.home.path());
        on_endpoint(&mut command, &self.endpoint);
        Child::spawn(command).wait(LIMIT)
    }

    /// Calls one of the stack's functions, such as `dispatch`, and waits for the answer.
    #[track_caller]
    pub fn invoke(&self, function: &str, event: &Value) -> Invoked {
        self.api.invoke(&format!("{}:{ALIAS}", self.called(function)), event)
    }

    /// Calls one of the stack's functions, and returns the answer; the call must not fail.
    #[track_caller]
    pub fn invoked(&self, function: &str, event: &Value) -> Value {
        let done = self.invoke(function, event);
        assert!(!done.failed, "{function}: {}\n{}", done.payload, self.api.logs(&self.called(function)).join("\n"));
        done.payload
    }

    /// Returns the lines that a function has logged as JSON, oldest first.
    #[track_caller]
    pub fn logged(&self, function: &str) -> Vec<Value> {
        self.api.logs(&self.called(function)).iter().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// Puts a message into a stage's queue.
    #[track_caller]
    pub fn send(&self, stage: QueueName, body: &str) {
        let message = json!({ "QueueUrl": self.queue(stage, ""), "MessageBody": body });
        self.api.call("AmazonSQS.SendMessage", &message);
    }

    /// Takes a message out of a stage's queue, if one is available now.
    #[track_caller]
    pub fn take(&self, stage: QueueName) -> Option<String> {
        let queue = self.queue(stage, "");
        let got =
            self.api.call("AmazonSQS.ReceiveMessage", &json!({ "QueueUrl": queue, "VisibilityTimeout": READING }));
        let message = &got["Messages"][0];
        let body = message["Body"].as_str()?.to_owned();
        let taken = json!({ "QueueUrl": queue, "ReceiptHandle": message["ReceiptHandle"] });
        self.api.call("AmazonSQS.DeleteMessage", &taken);
        Some(body)
    }

    /// Returns the number of messages in a stage's queue: available, in flight, and delayed.
    #[track_caller]
    pub fn waiting(&self, stage: QueueName) -> usize {
        self.count(&self.queue(stage, ""))
    }

    /// Returns the number of messages that a stage has given up.
    #[track_caller]
    pub fn dead(&self, stage: QueueName) -> usize {
        self.count(&self.queue(stage, "-dead"))
    }

    /// Returns the number of messages that all stages have given up.
    #[track_caller]
    pub fn all_dead(&self) -> usize {
        QueueName::ALL.into_iter().map(|stage| self.dead(stage)).sum()
    }

    /// Returns the messages that a stage has given up. The messages stay in their queue.
    #[track_caller]
    pub fn dead_letters(&self, stage: QueueName) -> Vec<DeadLetter> {
        let queue = self.queue(stage, "-dead");
        let mut letters = Vec::new();
        let mut receipts = Vec::new();
        loop {
            let wanted = json!({ "QueueUrl": queue, "MaxNumberOfMessages": BATCH, "VisibilityTimeout": READING, "MessageAttributeNames": ["All"] });
            let got = self.api.call("AmazonSQS.ReceiveMessage", &wanted);
            let Some(messages) = got["Messages"].as_array().filter(|messages| !messages.is_empty()) else { break };
            for message in messages {
                let attribute =
                    |name: &str| message["MessageAttributes"][name]["StringValue"].as_str().map(str::to_owned);
                let body = message["Body"].as_str().unwrap_or_default().to_owned();
                letters.push(DeadLetter { body, error: attribute("error"), at: attribute("at") });
                receipts.push(message["ReceiptHandle"].clone());
            }
        }
        for receipt in receipts {
            let back = json!({ "QueueUrl": queue, "ReceiptHandle": receipt, "VisibilityTimeout": 0 });
            self.api.call("AmazonSQS.ChangeMessageVisibility", &back);
        }
        letters
    }

    /// Sets the visibility timeout of new receives, in seconds.
    #[track_caller]
    pub fn hide_for(&self, stage: QueueName, seconds: u32) {
        let attributes = json!({ "VisibilityTimeout": seconds.to_string() });
        let set = json!({ "QueueUrl": self.queue(stage, ""), "Attributes": attributes });
        self.api.call("AmazonSQS.SetQueueAttributes", &set);
    }

    /// Sets the timeout of a function, in seconds, which applies from its next version on ([`Stack::set`]).
    #[track_caller]
    pub fn time_out_after(&self, function: &str, seconds: u32) {
        let path = format!("/2015-03-31/functions/{}/configuration", self.called(function));
        self.api.lambda("PUT", &path, Some(&json!({ "Timeout": seconds })));
    }

    /// Sets these environment variables for all functions.
    #[track_caller]
    pub fn set(&self, settings: &[(&str, &str)]) {
        FUNCTIONS.iter().for_each(|function| self.set_of(function, settings));
    }

    /// Sets these environment variables for one function.
    #[track_caller]
    pub fn set_of(&self, function: &str, settings: &[(&str, &str)]) {
        let path = |what: &str| format!("/2015-03-31/functions/{}/{what}", self.called(function));
        let mut variables = self.api.lambda("GET", &path("configuration"), None)["Environment"]["Variables"].clone();
        for (name, value) in settings {
            variables[*name] = Value::from(*value);
        }
        let change = json!({ "Environment": { "Variables": variables } });
        self.api.lambda("PUT", &path("configuration"), Some(&change));
        let published = self.api.lambda("POST", &path("versions"), Some(&json!({})));
        let alias = json!({ "FunctionVersion": published["Version"] });
        self.api.lambda("PUT", &path(&format!("aliases/{ALIAS}")), Some(&alias));
    }

    /// Makes every function begin with a new process, by changing a variable that none reads.
    #[track_caller]
    pub fn restart(&self) {
        let at = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
        self.set(&[("RESTARTED", &at.as_nanos().to_string())]);
    }

    /// Allows everybody who may send a message to send ten at once. On AWS, `sqs:SendMessage` allows `SendMessageBatch`
    /// too, but a [strict](Emulator::strict) emulator treats it as a permission of its own. Likewise, such an emulator
    /// takes reading one mapping for listing all of them.
    #[track_caller]
    pub fn grant_batches(&self) {
        for function in FUNCTIONS {
            let path = format!("/2015-03-31/functions/{}/configuration", self.called(function));
            let role = self.api.lambda("GET", &path, None)["Role"].as_str().unwrap().to_owned();
            let role = role.rsplit('/').next().unwrap();
            let policy = format!("curlew-{function}");
            let mut document = self.api.policy(role, &policy);
            for statement in document["Statement"].as_array_mut().unwrap() {
                let Some(actions) = statement["Action"].as_array_mut() else { continue };
                if actions.iter().any(|action| action == "sqs:SendMessage") {
                    actions.push("sqs:SendMessageBatch".into());
                }
                if actions.iter().any(|action| action == "lambda:GetEventSourceMapping") {
                    actions.push("lambda:ListEventSourceMappings".into());
                }
            }
            self.api.set_policy(role, &policy, &document);
        }
    }

    /// Stops a stage's queue from invoking its function, or lets it do so again.
    #[track_caller]
    pub fn map(&self, stage: QueueName, enabled: bool) {
        const MAPPINGS: &str = "/2015-03-31/event-source-mappings/";
        let all = self.api.lambda("GET", MAPPINGS, None);
        let source = format!(":{}", self.called(stage.as_str()));
        let of_stage = |mapping: &&Value| mapping["EventSourceArn"].as_str().is_some_and(|arn| arn.ends_with(&source));
        let mapping = all["EventSourceMappings"].as_array().unwrap().iter().find(of_stage).expect("a mapping");
        let path = format!("{MAPPINGS}{}", mapping["UUID"].as_str().unwrap());
        self.api.lambda("PUT", &path, Some(&json!({ "Enabled": enabled })));
    }

    /// Gets a path of the search page, through its function.
    #[track_caller]
    pub fn get(&self, path: &str, query: &str) -> (u64, String) {
        let answer = self.visit("GET", path, query, &Map::new(), "");
        assert_ne!(answer["isBase64Encoded"].as_bool(), Some(true), "the page answers bytes: {answer}");
        (answer["statusCode"].as_u64().unwrap(), answer["body"].as_str().unwrap_or_default().to_owned())
    }

    /// Sends a form to a path of the search page, as a browser does; returns the status, the page, and the target of
    /// the redirect.
    #[track_caller]
    pub fn post(&self, path: &str, form: &str) -> (u64, String, String) {
        let headers = [("sec-fetch-site", "same-origin"), ("content-type", "application/x-www-form-urlencoded")];
        let headers = headers.map(|(name, value)| (name.to_owned(), value.into())).into_iter().collect();
        let answer = self.visit("POST", path, "", &headers, form);
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        (answer["statusCode"].as_u64().unwrap(), text(&answer["body"]), text(&answer["headers"]["location"]))
    }

    /// Sends a request to the search page's function, as a function URL does. The names of headers are in lower case.
    #[track_caller]
    pub fn visit(&self, method: &str, path: &str, query: &str, headers: &Map<String, Value>, body: &str) -> Value {
        let mut headers = headers.clone();
        headers.entry("host").or_insert_with(|| "curlew.test".into());
        headers.entry("user-agent").or_insert_with(|| "a test".into());
        self.invoked(
            "web",
            &json!({
                "version": "2.0", "routeKey": "$default", "rawPath": path, "rawQueryString": query, "body": body,
                "headers": headers, "isBase64Encoded": false,
                "requestContext": {
                    "accountId": "anonymous", "apiId": "a", "domainName": "curlew.test", "domainPrefix": "curlew",
                    "requestId": "a", "routeKey": "$default", "stage": "$default", "time": "21/Nov/2026:12:00:00 +0000",
                    "timeEpoch": 1_795_262_400_000_u64,
                    "http": { "method": method, "path": path, "protocol": "HTTP/1.1", "sourceIp": "192.0.2.7", "userAgent": "a test" }
                }
            }),
        )
    }

    /// Returns the URLs that the search page finds, best first, for words that need no escaping in a URL.
    #[track_caller]
    pub fn found(&self, words: &str) -> Vec<String> {
        let (status, body) = self.get("/api/v1/search", &format!("q={}&limit=100", words.replace(' ', "+")));
        assert_eq!(status, 200, "{body}");
        let answer: Value = serde_json::from_str(&body).unwrap();
        answer["hits"].as_array().unwrap().iter().map(|hit| hit["url"].as_str().unwrap().to_owned()).collect()
    }

    /// Returns the output of `curlew WHAT list --json`.
    #[track_caller]
    pub fn list(&self, what: &str) -> Vec<Value> {
        self.run(&[what, "list", "--json"]).ok().rows()
    }

    /// Returns the output of `curlew export records`.
    #[track_caller]
    pub fn records(&self) -> Vec<Value> {
        self.run(&["export", "records"]).ok().rows()
    }

    /// Adds these sites to the stack's crawl.
    #[track_caller]
    pub fn name_sites(&self, sites: &[String]) {
        self.run(&args(&["crawl", "--json"], sites)).ok();
    }

    /// Waits until the queues are empty.
    #[track_caller]
    pub fn come_to_rest(&self, limit: Duration) {
        let began = Instant::now();
        let mut quiet = 0;
        while quiet < LOOKS {
            let waiting: Vec<usize> = QueueName::ALL.into_iter().map(|stage| self.waiting(stage)).collect();
            quiet = if waiting.iter().sum::<usize>() == 0 { quiet + 1 } else { 0 };
            assert!(began.elapsed() < limit, "the queues do not empty, they hold {waiting:?}: {}", self.told());
            std::thread::sleep(LOOK);
        }
    }

    /// Returns the warnings and errors that its functions have logged.
    #[track_caller]
    pub fn told(&self) -> String {
        let mut told = String::new();
        for function in FUNCTIONS {
            let lines = self.logged(function);
            for line in lines.iter().filter(|line| matches!(line["level"].as_str(), Some("WARN" | "ERROR"))) {
                told.push_str(&format!("\n{function}: {line}"));
            }
        }
        told
    }

    /// Returns the items of one of the stack's tables, such as `pages`.
    #[track_caller]
    pub fn items(&self, table: &str) -> Vec<Value> {
        let mut items = Vec::new();
        let mut scan = json!({ "TableName": self.called(table), "ConsistentRead": true });
        loop {
            let got = self.api.call("DynamoDB_20120810.Scan", &scan);
            items.extend(got["Items"].as_array().unwrap().iter().cloned());
            if got["LastEvaluatedKey"].is_null() {
                return items;
            }
            scan["ExclusiveStartKey"] = got["LastEvaluatedKey"].clone();
        }
    }

    /// Returns the full name of one of the stack's tables, functions or queues.
    pub fn called(&self, what: &str) -> String {
        format!("{}-{what}", self.name)
    }

    fn queue(&self, stage: QueueName, suffix: &str) -> String {
        let name = json!({ "QueueName": self.called(&format!("{}{suffix}", stage.as_str())) });
        self.api.call("AmazonSQS.GetQueueUrl", &name)["QueueUrl"].as_str().unwrap().to_owned()
    }

    fn count(&self, queue: &str) -> usize {
        let counts =
            self.api.call("AmazonSQS.GetQueueAttributes", &json!({ "QueueUrl": queue, "AttributeNames": ["All"] }));
        let count =
            |which: &str| counts["Attributes"][which].as_str().and_then(|n| n.parse::<usize>().ok()).unwrap_or(0);
        ["", "NotVisible", "Delayed"].iter().map(|which| count(&format!("ApproximateNumberOfMessages{which}"))).sum()
    }
}

fn sam_deploy(emulator: &Emulator, how: &[&str], parameters: &[(&str, &str)], home: &Path) {
    let template = named("CURLEW_FUNCTIONS", "target/stack").join("template.yaml");
    let mut sam = Command::new(named("CURLEW_SAM", ".tools/aws-sam-cli/bin/sam"));
    on_endpoint(&mut sam, &emulator.url());
    sam.arg("deploy").arg("--template-file").arg(&template).args(how).args([
        "--region",
        REGION,
        "--no-confirm-changeset",
    ]);
    sam.arg("--parameter-overrides").args(parameters.iter().map(|(key, value)| format!("{key}={value}")));
    sam.env("HOME", home).env("SAM_CLI_TELEMETRY", "0").current_dir(home).stdin(Stdio::null());
    Child::spawn(sam).wait(DEPLOY).ok();
}

/// Directs a program to an endpoint, and removes the tester's own AWS login from its environment.
fn on_endpoint(command: &mut Command, endpoint: &str) {
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(|name| name.starts_with("AWS_")) {
            command.env_remove(name);
        }
    }
    command.env("AWS_ENDPOINT_URL", endpoint).env("AWS_REGION", REGION).env("AWS_DEFAULT_REGION", REGION);
    command.env("AWS_ACCESS_KEY_ID", super::api::ACCOUNT).env("AWS_SECRET_ACCESS_KEY", "test");
}
