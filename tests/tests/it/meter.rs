//! Tests the meter and the faults of the proxy in front of the endpoint that `AWS_ENDPOINT_URL` names. The endpoint
//! must not check signatures; the emulator of `cargo xtask test` does not.

use curlew_tests::aws::call::Service;
use curlew_tests::aws::faults::{Fault, Plan, Rule};
use curlew_tests::aws::meter::{Line, Metered};
use curlew_tests::aws::proxy::Proxy;
use curlew_tests::aws::unit::Unit;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Maximum time to wait for an answer.
const PATIENCE: Duration = Duration::from_secs(30);
const TABLE: &str = "metered";
const QUEUE: &str = "metered";

/// A proxy, and a client of it with an account of its own. The emulator separates tests by account.
struct Client {
    proxy: Proxy,
    account: String,
}

/// Returns an account number of twelve digits that no test has used, not even in an earlier run on the same endpoint.
fn new_account() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    format!("{:012}", since.as_nanos() / 1000 % 1_000_000_000_000)
}

impl Client {
    fn new() -> Client {
        let endpoint = std::env::var("AWS_ENDPOINT_URL").expect(
            "AWS_ENDPOINT_URL must name an AWS endpoint that checks no signatures: run the tests by `cargo xtask test`",
        );
        Client { proxy: Proxy::start(&endpoint), account: new_account() }
    }

    /// Sends a request; returns `None` if the connection is cut before the answer.
    fn send(&self, service: &str, method: &str, path: &str, more: &str, body: &[u8]) -> Option<(u16, String)> {
        let addr: SocketAddr = self.proxy.addr();
        let mut stream = TcpStream::connect(addr).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let scope = format!("{}/20261121/us-east-1/{service}/aws4_request", self.account);
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {addr}\r\nConnection: close\r\nUser-Agent: test app/tester\r\n\
             Authorization: AWS4-HMAC-SHA256 Credential={scope}, SignedHeaders=host, Signature=0\r\n\
             Content-Length: {}\r\n{more}\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(body).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let (head, body) = answer.split_once("\r\n\r\n")?;
        Some((head.split(' ').nth(1)?.parse().unwrap(), body.to_owned()))
    }

    /// Calls a JSON service; returns `None` if the connection is cut.
    fn try_json(&self, target: &str, arguments: &Value) -> Option<(u16, Value)> {
        let service = if target.starts_with("AmazonSQS") { "sqs" } else { "dynamodb" };
        let more = format!("Content-Type: application/x-amz-json-1.0\r\nX-Amz-Target: {target}\r\n");
        let (status, body) = self.send(service, "POST", "/", &more, arguments.to_string().as_bytes())?;
        Some((status, serde_json::from_str(&body).unwrap_or(Value::Null)))
    }

    #[track_caller]
    fn json(&self, target: &str, arguments: &Value) -> Value {
        let (status, value) = self.try_json(target, arguments).unwrap();
        assert_eq!(status, 200, "{target} {arguments}: {value}");
        value
    }

    #[track_caller]
    fn dynamo(&self, operation: &str, arguments: &Value) -> Value {
        self.json(&format!("DynamoDB_20120810.{operation}"), arguments)
    }

    fn s3(&self, method: &str, path: &str, body: &[u8]) -> (u16, String) {
        self.send("s3", method, path, "", body).unwrap()
    }

    fn with_table(self) -> Client {
        self.dynamo(
            "CreateTable",
            &json!({
                "TableName": TABLE,
                "BillingMode": "PAY_PER_REQUEST",
                "AttributeDefinitions": [{"AttributeName": "k", "AttributeType": "S"}, {"AttributeName": "n", "AttributeType": "N"}],
                "KeySchema": [{"AttributeName": "k", "KeyType": "HASH"}, {"AttributeName": "n", "KeyType": "RANGE"}],
            }),
        );
        self.proxy.meter().take();
        self
    }

    /// Creates a queue and returns its URL.
    fn with_queue(self) -> (Client, String) {
        let made = self.json("AmazonSQS.CreateQueue", &json!({"QueueName": QUEUE}));
        self.proxy.meter().take();
        (self, made["QueueUrl"].as_str().unwrap().to_owned())
    }

    /// Creates a bucket and returns its path. All accounts share one namespace of buckets.
    fn with_bucket(self) -> (Client, String) {
        let path = format!("/metered-{}", self.account);
        assert_eq!(self.s3("PUT", &path, b"").0, 200);
        self.proxy.meter().take();
        (self, path)
    }

    fn put(&self, k: &str, n: u32, bytes: usize) {
        self.dynamo("PutItem", &json!({"TableName": TABLE, "Item": item(k, n, bytes)}));
    }

    /// Returns the units of this kind since the last reset of the meter, and resets it.
    #[track_caller]
    fn units(&self, unit: Unit) -> f64 {
        let metered = self.proxy.meter().take();
        let callers = |line: &Line| line.caller != "tester";
        assert_eq!(metered.calls_where(callers), 0, "the user agent identifies every caller: {metered:?}");
        metered.units(unit)
    }
}

/// Returns an item of `bytes` bytes, as DynamoDB counts them: names, key, number, and as much text as is needed.
fn item(k: &str, n: u32, bytes: usize) -> Value {
    let digits = n.to_string().len().div_ceil(2) + 1;
    let fixed = 1 + k.len() + 1 + digits + 1;
    json!({"k": {"S": k}, "n": {"N": n.to_string()}, "s": {"S": "x".repeat(bytes - fixed)}})
}

#[track_caller]
fn close(figure: f64, expected: f64) {
    assert!((figure - expected).abs() < 1e-9, "{figure} and not {expected}");
}

/// Checks that the endpoint and our own reading agree on every write.
#[track_caller]
fn agreed(metered: &Metered) {
    assert!(metered.differences.is_empty() && metered.unclear.is_empty(), "{metered:?}");
    close(metered.units(Unit::Read), 0.0);
}

#[test]
fn writes_are_metered_as_the_endpoint_counts_them() {
    let client = Client::new().with_table();
    for (bytes, units) in [(100, 1.0), (1024, 1.0), (1025, 2.0), (5000, 5.0), (300_000, 293.0)] {
        // Each write replaces a smaller item, so the new image is the larger one.
        client.put("a", 1, bytes);
        let metered = client.proxy.meter().take();
        agreed(&metered);
        close(metered.units(Unit::Write), units);
    }
    client.put("a", 1, 100);
    let metered = client.proxy.meter().take();
    agreed(&metered);
    close(metered.units(Unit::Write), 293.0);

    client.put("b", 2, 3000);
    client.proxy.meter().take();
    client.dynamo("DeleteItem", &json!({"TableName": TABLE, "Key": {"k": {"S": "b"}, "n": {"N": "2"}}}));
    client.dynamo("DeleteItem", &json!({"TableName": TABLE, "Key": {"k": {"S": "b"}, "n": {"N": "2"}}}));
    let metered = client.proxy.meter().take();
    agreed(&metered);
    close(metered.units(Unit::Write), 3.0 + 1.0);

    let puts: Vec<Value> = (0..4).map(|n| json!({"PutRequest": {"Item": item("c", n, 2000)}})).collect();
    client.dynamo("BatchWriteItem", &json!({"RequestItems": {TABLE: puts}}));
    close(client.units(Unit::Write), 8.0);

    let long = json!({":s": {"S": "x".repeat(4000)}});
    let key = json!({"k": {"S": "a"}, "n": {"N": "1"}});
    let update =
        json!({"TableName": TABLE, "Key": key, "UpdateExpression": "SET s = :s", "ExpressionAttributeValues": long});
    let answer = client.dynamo("UpdateItem", &update);
    assert_eq!(answer, json!({}), "the client gets only what it asked for");
    close(client.units(Unit::Write), 4.0);

    let both = json!({"TransactItems": [
        {"Put": {"TableName": TABLE, "Item": item("d", 1, 1500)}},
        {"Put": {"TableName": TABLE, "Item": item("d", 2, 10)}},
    ]});
    client.dynamo("TransactWriteItems", &both);
    close(client.units(Unit::Write), 2.0 * (2.0 + 1.0));
}

#[test]
fn a_condition_that_fails_is_metered() {
    let client = Client::new().with_table();
    client.put("a", 1, 2500);
    client.proxy.meter().take();
    let again =
        json!({"TableName": TABLE, "Item": item("a", 1, 100), "ConditionExpression": "attribute_not_exists(k)"});
    let (status, refused) = client.try_json("DynamoDB_20120810.PutItem", &again).unwrap();
    assert_eq!(status, 400);
    assert!(refused["__type"].as_str().unwrap().ends_with("ConditionalCheckFailedException"), "{refused}");
    assert_eq!(refused["Item"], Value::Null, "the client did not ask for it");
    close(client.units(Unit::Write), 3.0);

    let wrong = json!({"TableName": "nowhere", "Item": item("a", 1, 100)});
    assert_eq!(client.try_json("DynamoDB_20120810.PutItem", &wrong).unwrap().0, 400);
    close(client.units(Unit::Write), 0.0);
}

#[test]
fn reads_are_metered_by_what_was_read() {
    let client = Client::new().with_table();
    for n in 0..10 {
        client.put("a", n, 1000);
    }
    client.put("b", 1, 4097);
    client.proxy.meter().take();
    let get = |k: &str, n: u32, consistent: bool| {
        let key = json!({"k": {"S": k}, "n": {"N": n.to_string()}});
        client.dynamo("GetItem", &json!({"TableName": TABLE, "Key": key, "ConsistentRead": consistent}))
    };
    assert_eq!(get("b", 1, true)["Item"], item("b", 1, 4097));
    close(client.units(Unit::Read), 2.0);
    get("b", 1, false);
    close(client.units(Unit::Read), 1.0);
    assert_eq!(get("absent", 1, true), json!({}));
    close(client.units(Unit::Read), 1.0);
    get("absent", 1, false);
    close(client.units(Unit::Read), 0.5);

    let of_a = json!({"TableName": TABLE, "KeyConditionExpression": "k = :k", "ExpressionAttributeValues": {":k": {"S": "a"}}, "ConsistentRead": true});
    assert_eq!(client.dynamo("Query", &of_a)["Count"], 10);
    close(client.units(Unit::Read), 3.0);

    let keys: Vec<Value> =
        [("a", 1), ("b", 1), ("absent", 1)].map(|(k, n)| json!({"k": {"S": k}, "n": {"N": n.to_string()}})).to_vec();
    let found = client.dynamo("BatchGetItem", &json!({"RequestItems": {TABLE: {"Keys": keys}}}));
    assert_eq!(found["Responses"][TABLE].as_array().unwrap().len(), 2);
    assert_eq!(found.get("ConsumedCapacity"), None, "the client did not ask for it");
    close(client.units(Unit::Read), 0.5 + 1.0 + 0.5);

    client.dynamo("DescribeTable", &json!({"TableName": TABLE}));
    close(client.units(Unit::Free), 1.0);
}

#[test]
fn messages_are_metered_by_64_kib() {
    let (client, url) = Client::new().with_queue();
    client.json("AmazonSQS.SendMessage", &json!({"QueueUrl": url, "MessageBody": "x".repeat(64 * 1024 + 1)}));
    close(client.units(Unit::SqsRequest), 2.0);
    let entries: Vec<Value> = (0..10).map(|n| json!({"Id": n.to_string(), "MessageBody": "y".repeat(300)})).collect();
    client.json("AmazonSQS.SendMessageBatch", &json!({"QueueUrl": url, "Entries": entries}));
    let metered = client.proxy.meter().take();
    close(metered.units(Unit::SqsRequest), 1.0);
    assert_eq!((metered.sent[QUEUE].messages, metered.sent[QUEUE].bytes), (10, 3000));

    let received = client.json("AmazonSQS.ReceiveMessage", &json!({"QueueUrl": url, "MaxNumberOfMessages": 10}));
    let messages = received["Messages"].as_array().unwrap();
    let bytes: usize = messages.iter().map(|message| message["Body"].as_str().unwrap().len()).sum();
    close(client.units(Unit::SqsRequest), bytes.div_ceil(64 * 1024).max(1) as f64);
    client.json("AmazonSQS.DeleteMessage", &json!({"QueueUrl": url, "ReceiptHandle": messages[0]["ReceiptHandle"]}));
    close(client.units(Unit::SqsRequest), 1.0);
    client.json("AmazonSQS.PurgeQueue", &json!({"QueueUrl": url}));
    client.proxy.meter().take();
    client.json("AmazonSQS.ReceiveMessage", &json!({"QueueUrl": url}));
    close(client.units(Unit::SqsRequest), 1.0);
}

#[test]
fn objects_are_metered_by_class() {
    let (client, bucket) = Client::new().with_bucket();
    let body = vec![b'x'; 100_000];
    assert_eq!(client.s3("PUT", &format!("{bucket}/segments/a"), &body).0, 200);
    assert_eq!(client.s3("GET", &format!("{bucket}/segments/a"), b""), (200, String::from_utf8(body).unwrap()));
    let (status, nothing) = client.s3("HEAD", &format!("{bucket}/segments/a"), b"");
    assert_eq!((status, nothing.as_str()), (200, ""));
    assert_eq!(client.s3("GET", &format!("{bucket}/segments/none"), b"").0, 404);
    let (status, listed) = client.s3("GET", &format!("{bucket}?list-type=2&prefix=segments%2F"), b"");
    assert!(status == 200 && listed.contains("<Key>segments/a</Key>"), "{status} {listed}");
    assert_eq!(client.s3("DELETE", &format!("{bucket}/segments/a"), b"").0, 204);
    let metered = client.proxy.meter().take();
    close(metered.units(Unit::S3Write), 2.0);
    close(metered.units(Unit::S3Read), 3.0);
    close(metered.units(Unit::Free), 1.0);
    assert_eq!(metered.object_bytes, 100_000);
    assert_eq!(metered.calls_where(|line| line.target == "segments/"), 6);
}

/// Returns a plan with one rule that makes every covered call fail.
fn always(rule: Rule) -> Plan {
    Plan { seed: 1, rules: vec![Rule { rate: 1.0, ..rule }] }
}

#[test]
fn a_throttled_call_is_not_carried_out_and_not_billed() {
    let (client, bucket) = Client::new().with_table().with_bucket();
    let (client, url) = client.with_queue();
    let faults = client.proxy.faults();
    faults.set(Plan {
        seed: 1,
        rules: [Service::DynamoDb, Service::Sqs, Service::S3].map(|s| Rule::all(s, Fault::Throttled, 1.0)).to_vec(),
    });
    let put = json!({"TableName": TABLE, "Item": item("a", 1, 100)});
    let (status, said) = client.try_json("DynamoDB_20120810.PutItem", &put).unwrap();
    assert_eq!(status, 400);
    assert!(said["__type"].as_str().unwrap().ends_with("#ProvisionedThroughputExceededException"), "{said}");
    let message = json!({"QueueUrl": url, "MessageBody": "x"});
    let (status, said) = client.try_json("AmazonSQS.SendMessage", &message).unwrap();
    assert!(status == 400 && said["__type"].as_str().unwrap().ends_with("#RequestThrottled"), "{said}");
    let (status, said) = client.s3("PUT", &format!("{bucket}/a"), b"x");
    assert!(status == 503 && said.contains("<Code>SlowDown</Code>"), "{said}");
    assert_eq!(client.s3("HEAD", &format!("{bucket}/a"), b""), (503, String::new()));
    assert_eq!(faults.count(Fault::Throttled), 4);

    faults.set(Plan::default());
    assert_eq!(client.proxy.meter().take(), Metered::default(), "throttled calls are not billed");
    let key = json!({"k": {"S": "a"}, "n": {"N": "1"}});
    assert_eq!(client.dynamo("GetItem", &json!({"TableName": TABLE, "Key": key})), json!({}));
    assert_eq!(client.json("AmazonSQS.ReceiveMessage", &json!({"QueueUrl": url})).get("Messages"), None);
    assert_eq!(client.s3("GET", &format!("{bucket}/a"), b"").0, 404);
}

#[test]
fn a_service_that_is_broken_says_so() {
    let client = Client::new().with_table();
    let faults = client.proxy.faults();
    faults.set(Plan {
        seed: 1,
        rules: [Service::DynamoDb, Service::S3].map(|s| Rule::all(s, Fault::ServerError, 1.0)).to_vec(),
    });
    let (status, said) = client.try_json("DynamoDB_20120810.GetItem", &json!({"TableName": TABLE})).unwrap();
    assert!(status == 500 && said["__type"].as_str().unwrap().ends_with("#InternalServerError"), "{said}");
    let (status, said) = client.s3("GET", "/bucket/a", b"");
    assert!(status == 500 && said.contains("<Code>InternalError</Code>"), "{said}");
    assert_eq!(faults.count(Fault::ServerError), 2);
}

#[test]
fn a_lost_answer_is_of_a_call_that_was_carried_out_and_billed() {
    let client = Client::new().with_table();
    let faults = client.proxy.faults();
    let put = |n: u32| json!({"TableName": TABLE, "Item": item("a", n, 100)});
    faults.set(always(Rule::only(Service::DynamoDb, "PutItem", Fault::CutAfter, 1.0)));
    assert_eq!(client.try_json("DynamoDB_20120810.PutItem", &put(1)), None, "the connection is cut");
    faults.set(always(Rule::only(Service::DynamoDb, "PutItem", Fault::ErrorAfter, 1.0)));
    assert_eq!(client.try_json("DynamoDB_20120810.PutItem", &put(2)).unwrap().0, 500);
    assert_eq!((faults.count(Fault::CutAfter), faults.count(Fault::ErrorAfter)), (1, 1));
    close(client.units(Unit::Write), 2.0);
    assert_eq!(client.dynamo("Scan", &json!({"TableName": TABLE}))["Count"], 2, "other operations are left alone");
}

#[test]
fn a_message_is_delivered_twice_and_a_slow_answer_is_right() {
    let (client, url) = Client::new().with_queue();
    let faults = client.proxy.faults();
    faults.set(always(Rule::all(Service::Sqs, Fault::Twice, 1.0)));
    client.json("AmazonSQS.SendMessage", &json!({"QueueUrl": url, "MessageBody": "x"}));
    faults.set(always(Rule::all(Service::Sqs, Fault::Slow(Duration::from_millis(20)), 1.0)));
    let ask = json!({"QueueUrl": url, "AttributeNames": ["ApproximateNumberOfMessages"]});
    let there = client.json("AmazonSQS.GetQueueAttributes", &ask);
    assert_eq!(there["Attributes"]["ApproximateNumberOfMessages"], "2");
    assert_eq!((faults.count(Fault::Twice), faults.count(Fault::Slow(Duration::from_millis(20)))), (1, 1));
    assert_eq!(client.proxy.meter().take().sent[QUEUE].messages, 2);
}
