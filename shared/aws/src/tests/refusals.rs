//! Errors that AWS returns, and how the adapters convert them.

use super::names;
use super::server::{Answer, Server, store};
use crate::{Connection, Functions, KNOWN_VERSION, MissingRight, SmokeAnswer, Store};
use bytes::Bytes;
use curlew_model::{HostKey, HostState, Millis, PageId, QueueName, SourceKey, Timestamp};
use curlew_ports::{Blobs, HostLedger, Inbox, Pages, PortError, Queue, Sources, Version};
use curlew_testkit::sample::poll;
use std::error::Error;

fn host() -> HostKey {
    HostKey::new("example.org").expect("a host key")
}

async fn load(store: &Store) -> Result<(HostState, Version), PortError> {
    store.hosts.load(&host()).await
}

async fn swap(store: &Store) -> Result<Version, PortError> {
    store.hosts.swap(&host(), Version(6), HostState::default()).await
}

/// Returns the errors of the three services' adapters if every request gets this response.
async fn all_say(json: Answer, xml: Answer) -> [PortError; 3] {
    let (rows, objects) = (Server::saying([json]).await, Server::saying([xml]).await);
    let (table, queue, bucket) = (store(&rows).await, store(&rows).await, store(&objects).await);
    let (host, job) = (host(), [(poll(1), Timestamp::MIN)]);
    let (table, queue, bucket) = (table.hosts.clone(), queue.jobs(), bucket.objects());
    let (row, sent, object) = tokio::join!(table.load(&host), queue.send(&job), bucket.get("a"));
    [row.expect_err("is refused"), sent.expect_err("is refused"), object.expect_err("is refused")]
}

/// Returns the error's message, and checks that it does not repeat its cause.
fn sentence(error: &PortError) -> String {
    assert!(matches!(error, PortError::Unavailable { .. }), "{error:?}");
    let source = error.source().expect("a cause").to_string();
    assert!(!error.to_string().contains(&source), "{error}: {source}");
    error.to_string()
}

#[tokio::test]
async fn being_asked_to_slow_down_is_throttling() {
    let coded = |code, s3| all_say(Answer::refusal(400, code, "slow"), Answer::xml(503, s3, "slow"));
    let all = tokio::join!(
        coded("ProvisionedThroughputExceededException", "SlowDown"),
        coded("ThrottlingException", "ThrottlingException"),
        coded("RequestLimitExceeded", "RequestLimitExceeded"),
        all_say(Answer::json(503, ""), Answer::xml(503, "Busy", "")),
    );
    for error in [all.0, all.1, all.2, all.3].into_iter().flatten() {
        assert!(matches!(error, PortError::Throttled { retry_after } if retry_after > Millis::ZERO), "{error:?}");
    }
}

#[tokio::test]
async fn what_fails_for_a_moment_is_asked_again() {
    let slow = || Answer::refusal(400, "ThrottlingException", "slow");
    let server = Server::saying([slow(), Answer::json(500, ""), Answer::json(200, "{}")]).await;
    let loaded = load(&store(&server).await).await.expect("loads at last");
    assert_eq!(loaded.1, Version::ABSENT);
    assert_eq!(server.asked().len(), 3);
}

#[tokio::test]
async fn tables_that_ask_to_slow_down_are_counted_also_if_they_give_in() {
    let slow = |code| Answer::refusal(400, code, "slow");
    let failed = Answer::refusal(400, "ConditionalCheckFailedException", "no");
    let answers = [slow("ThrottlingException"), slow("ProvisionedThroughputExceededException"), Answer::json(500, "")];
    let server = Server::saying(answers.into_iter().chain([failed])).await;
    let connection = Connection::to(&server.url).await;
    let store = Store::new(&connection, names());
    let refused = swap(&store).await;
    assert!(refused.is_err() && server.asked().len() >= 4, "{refused:?}");
    assert_eq!(connection.throttled(), 2);
}

#[tokio::test]
async fn what_is_not_deployed_is_named_with_its_stack() {
    let json = |code| Answer::refusal(400, code, "not found");
    let xml = || Answer::xml(404, "NoSuchBucket", "none");
    let [table, ..] = all_say(json("ResourceNotFoundException"), xml()).await;
    let [_, queue, bucket] = all_say(json("QueueDoesNotExist"), xml()).await;
    for (error, what) in [(table, "the table s-hosts"), (queue, "the queue s-poll"), (bucket, "the bucket s-data-1-x")]
    {
        let expected = format!("{what} does not exist: is the stack s deployed in this region?");
        assert_eq!(sentence(&error), expected);
    }
}

#[tokio::test]
async fn each_refusal_says_what_to_do() {
    let unsigned = "The request signature we calculated does not match the signature you provided.";
    let late = "Signature expired: 20261121T110000Z is now earlier than 20261121T115500Z (20261121T120000Z - 5 min.)";
    let (json, xml) = (Answer::refusal, Answer::xml);
    let unknown = "does not know these credentials";
    for (json, xml, says) in [
        (json(500, "InternalServerError", "oh"), xml(500, "InternalError", "oh"), "failed"),
        (json(400, "ExpiredToken", "x"), xml(400, "ExpiredToken", "x"), "the credentials have expired: sign in again"),
        (json(400, "ExpiredTokenException", "x"), xml(400, "ExpiredTokenException", "x"), "expired: sign in again"),
        (json(400, "InvalidSignatureException", unsigned), xml(403, "SignatureDoesNotMatch", unsigned), unknown),
        (json(400, "UnrecognizedClientException", "invalid"), xml(403, "InvalidAccessKeyId", "no such key"), unknown),
        (
            json(400, "InvalidSignatureException", late),
            xml(403, "RequestTimeTooSkewed", "The difference is too large."),
            "this machine's clock is off: AWS refuses signatures",
        ),
        (json(400, "AccessDeniedException", "no"), xml(403, "AccessDenied", "no"), "check the role's policy"),
    ] {
        for error in all_say(json, xml).await {
            assert!(sentence(&error).contains(says), "{error}");
            assert!(error.is_transient() || says != "failed", "another fault of theirs may pass");
            assert_eq!(
                MissingRight::find(&error).and_then(|right| right.action.as_deref()),
                None,
                "AWS did not say it"
            );
        }
    }
}

#[tokio::test]
async fn a_missing_right_is_known_by_its_action_and_place() {
    let said =
        "User: arn:aws:iam::1:user/eve is not authorized to perform: sqs:sendmessage on resource: x because no policy";
    let json = Answer::refusal(400, "AccessDeniedException", said);
    let [table, queue, bucket] = all_say(json, Answer::xml(403, "AccessDenied", said)).await;
    for (error, place) in [(table, "the table s-hosts"), (queue, "the queue s-poll"), (bucket, "the bucket s-data-1-x")]
    {
        let right = MissingRight::find(&error).unwrap_or_else(|| panic!("{error:?}"));
        assert_eq!((right.action.as_deref(), &*right.place), (Some("sqs:sendmessage"), place));
    }
    let [error, ..] = all_say(Answer::refusal(500, "InternalServerError", "oh"), Answer::xml(500, "x", "oh")).await;
    assert!(MissingRight::find(&error).is_none() && MissingRight::find(&PortError::Conflict).is_none());
}

#[tokio::test]
async fn functions_are_looked_at_by_their_alias_and_answer_their_smoke_test() {
    let configuration = r#"{"State": "Active", "Environment": {"Variables": {"CURLEW_CONTACT": "a@b.example"}}}"#;
    let found =
        format!(r#"{{"Configuration": {configuration}, "Concurrency": {{"ReservedConcurrentExecutions": 20}}}}"#);
    let broken = r#"{"Configuration": {"State": "Failed", "StateReason": "the role is gone"}}"#;
    let answers = [
        Answer::json(200, found),
        Answer::json(200, broken),
        Answer::json(200, r#"{"function": "poll", "version": "1.2.3", "settings_rejected": true, "paused": false}"#),
        Answer::json(200, "[]"),
        Answer::json(200, r#"{"AccountLimit": {"ConcurrentExecutions": 10, "UnreservedConcurrentExecutions": 7}}"#),
        Answer::refusal(404, "ResourceNotFoundException", "no such function"),
    ];
    let server = Server::saying(answers).await;
    let functions = Functions::new(&Connection::to(&server.url).await, "s");
    let web = functions.read("web").await.expect("is there");
    assert_eq!((web.fault, web.reserved), (None, Some(20)));
    assert_eq!(web.environment.get("CURLEW_CONTACT").map(String::as_str), Some("a@b.example"));
    assert_eq!(functions.read("poll").await.expect("is there").fault.as_deref(), Some("the role is gone"));
    let answer = functions.smoke_test("poll").await.expect("answers");
    assert_eq!(answer, SmokeAnswer { version: "1.2.3".to_owned(), settings_rejected: true });
    let odd = functions.smoke_test("poll").await.expect_err("is no answer");
    assert!(odd.to_string().contains("the answer of the function s-poll"), "{odd}");
    let quota = functions.quota().await.expect("answers");
    assert_eq!((quota.all, quota.unreserved), (10, 7));
    let missing = functions.read("fetch").await.expect_err("is not there");
    assert!(missing.to_string().contains("the function s-fetch does not exist"), "{missing}");
}

#[tokio::test]
async fn nobody_there_is_said_so() {
    // Take a port that was free a moment ago.
    let url = Server::saying([Answer::json(200, "{}")]).await.url.clone();
    let error = load(&Store::new(&Connection::to(&url).await, names())).await.expect_err("nobody listens");
    assert!(sentence(&error).contains("AWS cannot be reached"), "{error}");
}

#[tokio::test]
async fn a_write_knows_itself_when_its_answer_was_lost() {
    // The first response is lost; the second one has the item that the first request wrote.
    let server = Server::by({
        let tries = std::sync::atomic::AtomicU32::new(0);
        move |asked| {
            if tries.fetch_add(1, std::sync::atomic::Ordering::Relaxed) == 0 {
                return Answer::json(500, "");
            }
            let wrote: serde_json::Value = serde_json::from_str(&asked.body).expect("JSON");
            let body = serde_json::json!({
                "__type": "com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException",
                "message": "The conditional request failed", "Item": wrote["Item"],
            });
            Answer::json(400, body.to_string())
        }
    })
    .await;
    let version = swap(&store(&server).await).await;
    assert_eq!(version.expect("was its own write"), Version(7));
}

#[tokio::test]
async fn somebody_elses_write_is_a_conflict_and_not_asked_again() {
    let body = r#"{"__type":"com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException","message":"no",
        "Item":{"k":{"S":"h#example.org"},"v":{"N":"7"},"s":{"S":"{}"},"w":{"B":"AAAAAAAAAAA="}}}"#;
    let server = Server::saying([Answer::json(400, body)]).await;
    let refused = swap(&store(&server).await).await;
    assert!(matches!(refused, Err(PortError::Conflict)), "{refused:?}");
    assert_eq!(server.asked().len(), 1);
}

#[tokio::test]
async fn an_item_that_is_none_is_corrupt() {
    for item in [
        r#"{"k":{"S":"h#example.org"},"v":{"N":"1"}}"#,
        r#"{"k":{"S":"h#example.org"},"s":{"S":"{}"}}"#,
        r#"{"k":{"S":"h#example.org"},"v":{"N":"1"},"s":{"S":"{"}}"#,
        r#"{"k":{"S":"h#example.org"},"v":{"N":"1"},"s":{"B":"AAAA"}}"#,
        r#"{"k":{"S":"h#example.org"},"v":{"N":"-1"},"s":{"S":"{}"}}"#,
    ] {
        let server = Server::saying([Answer::json(200, format!(r#"{{"Item":{item}}}"#))]).await;
        let loaded = load(&store(&server).await).await;
        assert!(matches!(loaded, Err(PortError::Corrupt { .. })), "{item}: {loaded:?}");
    }
}

#[tokio::test]
async fn a_conditional_write_that_meets_another_is_tried_again() {
    let busy = || Answer::xml(409, "ConditionalRequestConflict", "at the same time");
    let server = Server::saying([busy(), Answer::xml(412, "PreconditionFailed", "there")]).await;
    let objects = store(&server).await.objects();
    assert!(!objects.put_if_absent("a", Bytes::from_static(b"x")).await.expect("is answered at last"));
    let server = Server::saying([busy()]).await;
    let refused = store(&server).await.objects().swap("a", None, Bytes::new()).await;
    assert!(matches!(refused, Err(PortError::Conflict)), "{refused:?}");
}

#[tokio::test]
async fn only_what_must_be_certain_is_read_at_the_higher_price() {
    let server = Server::saying([Answer::json(200, "{}")]).await;
    let store = store(&server).await;
    let (page, source) = (PageId::new(&"0".repeat(32)), SourceKey::new(&"0".repeat(32)));
    let (page, source) = (page.expect("an id"), source.expect("a key"));
    let _ = load(&store).await.expect("loads");
    let _ = store.hosts.load_eventual(&host()).await.expect("loads");
    store.pages.get(&page).await.expect("reads");
    store.pages.load_eventual(&page).await.expect("reads");
    // A missing source is read once more, since it may have been written just before.
    store.sources.get(&source).await.expect("reads");
    let strong = server.asked().iter().map(|asked| asked.body.contains(r#""ConsistentRead":true"#)).collect::<Vec<_>>();
    assert_eq!(strong, [true, false, true, false, false, true]);
}

#[tokio::test]
async fn nothing_is_asked_before_it_is_needed() {
    let server = Server::saying([Answer::json(200, "{}")]).await;
    let store = store(&server).await;
    let (jobs, _) = (store.jobs(), store.objects());
    jobs.send(&[]).await.expect("sends nothing");
    assert!(
        jobs.receive(QueueName::Poll, 0, Millis::ZERO, Timestamp::EPOCH).await.expect("asks for nothing").is_empty()
    );
    assert_eq!(server.asked().len(), 0);
}

#[tokio::test]
async fn a_stack_of_a_later_version_is_refused_and_a_new_one_gets_its_version() {
    let item = |version: u32| {
        Answer::json(200, format!(r#"{{"Item":{{"k":{{"S":"m#version"}},"v":{{"N":"1"}},"s":{{"S":"{version}"}}}}}}"#))
    };
    let known = Server::saying([item(KNOWN_VERSION)]).await;
    store(&known).await.check_version().await.expect("is known");
    assert_eq!(known.asked().len(), 1, "it is only read");
    let earlier = Server::saying([item(KNOWN_VERSION - 1), Answer::json(200, "{}")]).await;
    store(&earlier).await.check_version().await.expect("is brought up to date");
    assert_eq!(earlier.operations(), ["GetItem", "PutItem"]);
    let later = Server::saying([item(KNOWN_VERSION + 1)]).await;
    let error = store(&later).await.check_version().await.expect_err("is refused");
    assert!(matches!(error, PortError::Corrupt { .. }), "{error:?}");
    assert!(error.to_string().contains(&format!("the stack s cannot be read: it is {}", KNOWN_VERSION + 1)), "{error}");
    assert!(error.to_string().contains("deploy a newer curlew"), "{error}");
    let new = Server::saying([Answer::json(200, "{}")]).await;
    store(&new).await.check_version().await.expect("is written");
    assert_eq!(new.operations(), ["GetItem", "PutItem"]);
    // A function without the permission to write the version only reads it.
    let any = Server::saying([item(KNOWN_VERSION - 1), Answer::json(200, "{}"), item(KNOWN_VERSION + 1)]).await;
    let store_of_any = store(&any).await;
    store_of_any.check_not_later().await.expect("an earlier version is read");
    store_of_any.check_not_later().await.expect("a new stack has none");
    let error = store_of_any.check_not_later().await.expect_err("is refused");
    assert!(error.to_string().contains("deploy a newer curlew"), "{error}");
    assert_eq!(any.operations(), ["GetItem"; 3]);
    let raced = Server::saying([
        Answer::json(200, "{}"),
        Answer::refusal(400, "ConditionalCheckFailedException", "The conditional request failed"),
    ]);
    store(&raced.await).await.check_version().await.expect("another process was first");
}
