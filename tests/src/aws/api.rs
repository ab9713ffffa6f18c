//! Calls to an AWS endpoint by plain HTTP, with which tests read and act without any of the program's code.
//!
//! The emulator checks no signature. It reads the account and the service from the signature's header.

use crate::http::{Answer, HttpCall, exchange};
use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::time::Duration;

/// Region that the emulator simulates, and that every call names.
pub const REGION: &str = "us-east-1";
/// The default account.
pub const ACCOUNT: &str = "000000000000";
/// Maximum time of a call to a table, a queue or an object.
const PATIENCE: Duration = Duration::from_secs(90);
/// Maximum running time of a function, which is the highest timeout.
const RUN: Duration = Duration::from_secs(900);

/// An endpoint.
#[derive(Clone, Copy, Debug)]
pub struct Api {
    addr: SocketAddr,
}

/// Outcome of an invocation.
#[derive(Clone, Debug)]
pub struct Invoked {
    /// The function's answer, or its error.
    pub payload: Value,
    /// True if the function failed: it reported an error, ended, or timed out.
    pub failed: bool,
}

impl Api {
    /// Creates the endpoint at this address.
    pub fn new(addr: SocketAddr) -> Api {
        Api { addr }
    }

    /// Returns true if the endpoint accepts calls.
    pub(crate) fn is_ready(&self) -> bool {
        let call = HttpCall { method: "GET", path: "/_ministack/ready", headers: &[], body: b"", patience: PATIENCE };
        exchange(self.addr, &call).is_ok_and(|answer| answer.status == 200)
    }

    /// Calls an operation by its target, such as `AmazonSQS.GetQueueUrl`.
    #[track_caller]
    pub fn call(&self, target: &str, arguments: &Value) -> Value {
        self.try_call(target, arguments).unwrap_or_else(|error| panic!("{target} {arguments}: {error}"))
    }

    /// Calls an operation by its target.
    ///
    /// # Errors
    /// Returns the service's error message.
    #[track_caller]
    pub fn try_call(&self, target: &str, arguments: &Value) -> Result<Value, String> {
        let (service, version) = match target.split('.').next().unwrap_or_default() {
            "AmazonSQS" => ("sqs", "1.0"),
            "DynamoDB_20120810" => ("dynamodb", "1.0"),
            "Logs_20140328" => ("logs", "1.1"),
            other => panic!("no such service: {other}"),
        };
        let content = format!("application/x-amz-json-{version}");
        let headers = [("Content-Type", content.as_str()), ("X-Amz-Target", target)];
        let answer = self.send(service, "POST", "/", &headers, arguments.to_string().as_bytes(), PATIENCE);
        match answer.status {
            200 => Ok(serde_json::from_slice(&answer.body).unwrap_or(Value::Null)),
            status => Err(format!("{status} {}", answer.text())),
        }
    }

    /// Calls a function and waits for its answer.
    #[track_caller]
    pub fn invoke(&self, function: &str, event: &Value) -> Invoked {
        let path = format!("/2015-03-31/functions/{function}/invocations");
        let answer = self.send("lambda", "POST", &path, &[], event.to_string().as_bytes(), RUN);
        assert_eq!(answer.status, 200, "{function}: {}", answer.text());
        let failed = answer.header("x-amz-function-error").is_some();
        Invoked { payload: serde_json::from_slice(&answer.body).unwrap_or(Value::Null), failed }
    }

    /// Calls an operation of Lambda by its method and path, such as `GET /2015-03-31/event-source-mappings/`.
    #[track_caller]
    pub fn lambda(&self, method: &str, path: &str, arguments: Option<&Value>) -> Value {
        let body = arguments.map(Value::to_string).unwrap_or_default();
        let answer = self.send("lambda", method, path, &[], body.as_bytes(), PATIENCE);
        assert!((200..300).contains(&answer.status), "{method} {path}: {}", answer.text());
        serde_json::from_slice(&answer.body).unwrap_or(Value::Null)
    }

    /// Returns the document of a role's policy.
    #[track_caller]
    pub fn policy(&self, role: &str, policy: &str) -> Value {
        let answer = self.iam(&[("Action", "GetRolePolicy"), ("RoleName", role), ("PolicyName", policy)]);
        let document = between(&answer, "<PolicyDocument>", "</PolicyDocument>");
        let text = percent_decode_str(document.first().expect("a policy")).decode_utf8().unwrap();
        serde_json::from_str(&text).unwrap()
    }

    /// Replaces the document of a role's policy.
    #[track_caller]
    pub fn set_policy(&self, role: &str, policy: &str, document: &Value) {
        let document = document.to_string();
        let put = [("RoleName", role), ("PolicyName", policy), ("PolicyDocument", document.as_str())];
        self.iam(&[[("Action", "PutRolePolicy")].as_slice(), &put].concat());
    }

    /// Creates a user with this policy; returns the user's access key and its secret.
    #[track_caller]
    pub fn create_user(&self, name: &str, document: &Value) -> [String; 2] {
        let (document, user) = (document.to_string(), ("UserName", name));
        self.iam(&[("Action", "CreateUser"), user]);
        self.iam(&[("Action", "PutUserPolicy"), user, ("PolicyName", "own"), ("PolicyDocument", &document)]);
        let key = self.iam(&[("Action", "CreateAccessKey"), user]);
        ["AccessKeyId", "SecretAccessKey"]
            .map(|part| between(&key, &format!("<{part}>"), &format!("</{part}>")).remove(0))
    }

    #[track_caller]
    fn iam(&self, fields: &[(&str, &str)]) -> String {
        let field = |(name, value): &(&str, &str)| format!("&{name}={}", utf8_percent_encode(value, NON_ALPHANUMERIC));
        let form = format!("Version=2010-05-08{}", fields.iter().map(field).collect::<String>());
        let content = [("Content-Type", "application/x-www-form-urlencoded")];
        let answer = self.send("iam", "POST", "/", &content, form.as_bytes(), PATIENCE);
        assert_eq!(answer.status, 200, "{fields:?}: {}", answer.text());
        answer.text()
    }

    /// Creates a bucket.
    #[track_caller]
    pub fn create_bucket(&self, bucket: &str) {
        self.s3("PUT", bucket, b"");
    }

    /// Returns the names of all buckets.
    #[track_caller]
    pub fn buckets(&self) -> Vec<String> {
        between(&self.s3("GET", "", b"").text(), "<Name>", "</Name>")
    }

    /// Returns the keys of all objects with this prefix.
    #[track_caller]
    pub fn keys(&self, bucket: &str, prefix: &str) -> Vec<String> {
        let mut keys: Vec<String> = Vec::new();
        loop {
            let after = keys.last().map(|key| format!("&start-after={key}")).unwrap_or_default();
            let listed = self.s3("GET", &format!("{bucket}?list-type=2&prefix={prefix}{after}"), b"").text();
            keys.extend(between(&listed, "<Key>", "</Key>"));
            if !listed.contains("<IsTruncated>true") {
                return keys;
            }
        }
    }

    /// Returns the bytes of an object.
    #[track_caller]
    pub fn object(&self, bucket: &str, key: &str) -> Vec<u8> {
        self.s3("GET", &format!("{bucket}/{key}"), b"").body
    }

    /// Puts an object.
    #[track_caller]
    pub fn put_object(&self, bucket: &str, key: &str, bytes: &[u8]) {
        self.s3("PUT", &format!("{bucket}/{key}"), bytes);
    }

    /// Deletes an object.
    #[track_caller]
    pub fn delete_object(&self, bucket: &str, key: &str) {
        self.s3("DELETE", &format!("{bucket}/{key}"), b"");
    }

    #[track_caller]
    fn s3(&self, method: &str, path: &str, body: &[u8]) -> Answer {
        let answer = self.send("s3", method, &format!("/{path}"), &[], body, PATIENCE);
        let status = if method == "DELETE" { 204 } else { 200 };
        assert_eq!(answer.status, status, "{method} {path}: {}", answer.text());
        answer
    }

    /// Returns the messages that a function has logged, oldest first.
    #[track_caller]
    pub fn logs(&self, function: &str) -> Vec<String> {
        let group = json!({ "logGroupName": format!("/aws/lambda/{function}") });
        match self.try_call("Logs_20140328.FilterLogEvents", &group) {
            Ok(found) => {
                let events = found["events"].as_array().unwrap();
                events.iter().map(|event| event["message"].as_str().unwrap_or_default().to_owned()).collect()
            }
            Err(none) if none.contains("ResourceNotFound") => Vec::new(),
            Err(error) => panic!("{error}"),
        }
    }

    #[track_caller]
    fn send(
        &self,
        service: &str,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
        patience: Duration,
    ) -> Answer {
        let scope = format!(
            "AWS4-HMAC-SHA256 Credential={ACCOUNT}/20261121/{REGION}/{service}/aws4_request, SignedHeaders=host, Signature=0"
        );
        let mut all = vec![("Authorization", scope.as_str())];
        all.extend_from_slice(headers);
        exchange(self.addr, &HttpCall { method, path, headers: &all, body, patience })
            .unwrap_or_else(|e| panic!("{method} http://{}{path}: {e}", self.addr))
    }
}

/// Returns the texts between two tags of an XML document whose tags have no attributes or blanks.
fn between(xml: &str, open: &str, close: &str) -> Vec<String> {
    let pieces = xml.split(open).skip(1);
    pieces.filter_map(|piece| piece.split_once(close)).map(|(text, _)| text.to_owned()).collect()
}
