//! A client of search engines with a `_bulk` API: posts batches of actions, and retries while the engine is busy.

use anyhow::{Context, Result, anyhow, bail};
use curlew_fetcher::{Config as FetcherConfig, Guard, HttpFetcher};
use curlew_model::{Millis, Validators};
use curlew_ports::{Call, CallKind, Clock, Fetch, FetchError, Post};
use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use url::Url;

const NDJSON: &str = "application/x-ndjson";
const AGENT: &str = concat!("Curlew/", env!("CARGO_PKG_VERSION"));
/// Maximum time that an engine may take for a batch.
const BATCH_TIME: Millis = Millis::from_secs(120);
const TRIES: u32 = 6;
/// Wait before the second try; doubled before each further one.
const FIRST_WAIT: Millis = Millis::from_secs(1);
/// Maximum length of an engine's error text in a message, in characters.
const WORDS: usize = 200;

/// An action in `_bulk` format: the action's line and the document's line, if there is a document.
pub(super) type Action = Vec<u8>;

pub(super) struct Engine {
    url: String,
    headers: Vec<(&'static str, String)>,
    fetch: Arc<dyn Fetch>,
    clock: Arc<dyn Clock>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Answer {
    errors: bool,
    /// Error of an engine that failed midway, although it answered 200.
    error: Option<Value>,
    /// Outcome of each action, by the action's name, in order. Some engines omit them if all succeeded.
    items: Vec<BTreeMap<String, Outcome>>,
}

#[derive(Debug, Deserialize)]
struct Outcome {
    #[serde(default, rename = "_id")]
    id: String,
    status: u16,
    error: Option<Value>,
}

/// The result of one call with a batch.
#[derive(Debug, Default, PartialEq, Eq)]
struct Judgement {
    /// Number of actions at the start of the batch that are done, or permanently refused.
    settled: usize,
    /// Documents that the engine will never accept, each with the reason.
    refused: Vec<String>,
    /// Reason why the remaining actions must be posted again.
    busy: String,
}

impl Engine {
    /// Returns a client of the engine at `to`; the file `authorization` has the value of that header.
    pub(super) fn new(to: &Url, authorization: Option<&Path>, guard: &Guard, clock: Arc<dyn Clock>) -> Result<Engine> {
        let mut url = to.clone();
        url.path_segments_mut().map_err(|()| anyhow!("'{to}' has no path"))?.pop_if_empty().push("_bulk");
        let mut headers = Vec::new();
        if let Some(path) = authorization {
            let value = fs::read_to_string(path).with_context(|| format!("{} cannot be read", path.display()))?;
            headers.push(("authorization", value.trim().to_owned()));
        }
        let mut config = FetcherConfig::new(AGENT, AGENT);
        (config.read_timeout, config.call_timeout) = (BATCH_TIME, BATCH_TIME);
        config.guard.resolve.clone_from(&guard.resolve);
        config.guard.ports.extend(url.port_or_known_default());
        config.guard.allow_nets = vec![IpNet::V4(Ipv4Net::default()), IpNet::V6(Ipv6Net::default())];
        let fetch = Arc::new(HttpFetcher::new(config)?);
        fetch.vet(url.as_str()).map_err(|why| anyhow!("'{to}' cannot be called: {why}"))?;
        Ok(Engine { url: url.into(), headers, fetch, clock })
    }

    /// Posts actions in order, and retries from the first busy one. Returns the reasons of refusals.
    pub(super) async fn take(&self, actions: &[Action]) -> Result<Vec<String>> {
        let (mut left, mut refused) = (actions, Vec::new());
        let mut wait = FIRST_WAIT;
        let mut why = String::new();
        for tried in 1..=TRIES {
            let judgement = self.post(left).await?;
            refused.extend(judgement.refused);
            left = left.get(judgement.settled..).unwrap_or_default();
            if left.is_empty() {
                if refused.len() == actions.len() && refused.len() > 1 {
                    bail!("{} takes none of {} documents, such as {}", self.url, refused.len(), refused[0]);
                }
                return Ok(refused);
            }
            why = judgement.busy;
            if tried < TRIES {
                self.clock.sleep(wait).await;
                wait = Millis(wait.0 * 2);
            }
        }
        bail!("{} was busy {TRIES} times: {why}", self.url)
    }

    async fn post(&self, actions: &[Action]) -> Result<Judgement> {
        let post = Post { content_type: NDJSON, body: actions.concat().into(), headers: self.headers.clone() };
        let call = Call {
            url: self.url.clone(),
            kind: CallKind::Engine,
            validators: Validators::default(),
            post: Some(post),
            signature: None,
            time: BATCH_TIME,
        };
        let busy = |busy: String| Ok(Judgement { busy, ..Judgement::default() });
        match self.fetch.call(&call).await {
            Ok(reply) if (200..300).contains(&reply.status) => {
                let answer = serde_json::from_slice(&reply.body);
                judge(&answer.with_context(|| format!("{} does not answer as `_bulk` does", self.url))?, actions.len())
            }
            Ok(reply) if matches!(reply.status, 429 | 500..) => busy(format!("it answered {}", reply.status)),
            Ok(reply) => bail!("{} answered {}", self.url, reply.status),
            Err(FetchError::Refused(why) | FetchError::Limit(why) | FetchError::Protocol(why)) => {
                bail!("{}: {why}", self.url)
            }
            Err(error) => busy(error.to_string()),
        }
    }
}

/// Judges an answer. Fails if an action failed for a reason other than its document or a busy engine.
fn judge(answer: &Answer, actions: usize) -> Result<Judgement> {
    if let Some(error) = &answer.error {
        bail!("the engine gave up: {}", words(error));
    }
    if !answer.errors {
        return Ok(Judgement { settled: actions, ..Judgement::default() });
    }
    if answer.items.len() != actions {
        bail!("the engine reports {} outcomes of {actions} actions", answer.items.len());
    }
    let mut judgement = Judgement::default();
    for (action, outcome) in answer.items.iter().flatten() {
        let why = || outcome.error.as_ref().map_or_else(|| format!("status {}", outcome.status), words);
        match outcome.status {
            200..300 => {}
            404 if action == "delete" => {}
            // The document is at fault: for example, a field has another type in the engine's mapping.
            400 if action != "delete" => judgement.refused.push(format!("{}: {}", outcome.id, why())),
            429 | 500.. => {
                judgement.busy = why();
                break;
            }
            status => bail!("the engine answers {status} to '{action}' of {}: {}", outcome.id, why()),
        }
        judgement.settled += 1;
    }
    Ok(judgement)
}

/// Returns an engine's description of an error, in one line of bounded length.
fn words(error: &Value) -> String {
    let field = |name: &str| error.get(name).and_then(Value::as_str);
    let text = match (field("type"), field("reason")) {
        (Some(kind), Some(reason)) => format!("{kind}: {reason}"),
        _ => error.as_str().map_or_else(|| error.to_string(), ToOwned::to_owned),
    };
    crate::output::printable(&text, WORDS)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;
    use async_trait::async_trait;
    use curlew_app::SystemClock;
    use curlew_ports::Reply;
    use std::sync::Mutex;
    use tokio::time::Instant;

    /// A fake engine that gives these answers in turn, and keeps the posted bodies.
    struct Scripted {
        answers: Mutex<Vec<(u16, String)>>,
        posted: Mutex<Vec<String>>,
    }

    #[async_trait]
    impl Fetch for Scripted {
        async fn call(&self, call: &Call) -> Result<Reply, FetchError> {
            let body = call.post.as_ref().unwrap().body.to_vec();
            self.posted.lock().unwrap().push(String::from_utf8(body).unwrap());
            let (status, body) = self.answers.lock().unwrap().remove(0);
            Ok(Reply { status, body: body.into(), ..Reply::default() })
        }

        fn vet(&self, _: &str) -> Result<(), String> {
            Ok(())
        }
    }

    const DONE: &str = r#"{"took":1,"errors":false}"#;

    /// Returns an answer with this outcome of the first action, while the others succeed.
    fn answer(first: &str) -> String {
        let others = r#"{"index":{"_id":"b","status":201}},{"delete":{"_id":"c","status":404}}"#;
        format!(r#"{{"errors":true,"items":[{first},{others}]}}"#)
    }

    /// Posts three actions. Returns the result, the posted bodies, and the time taken in seconds.
    async fn take(answers: &[(u16, &str)]) -> (Result<Vec<String>>, Vec<String>, u64) {
        let answers = Mutex::new(answers.iter().map(|(status, body)| (*status, (*body).to_owned())).collect());
        let script = Arc::new(Scripted { answers, posted: Mutex::default() });
        let (fetch, clock) = (script.clone(), Arc::new(SystemClock::new()));
        let engine = Engine { url: "http://e/_bulk".into(), headers: vec![], fetch, clock };
        let began = Instant::now();
        let taken = engine.take(&["a\n", "b\n", "c\n"].map(|text| text.as_bytes().to_vec())).await;
        (taken, script.posted.lock().unwrap().clone(), began.elapsed().as_secs())
    }

    #[tokio::test(start_paused = true)]
    async fn a_busy_engine_gets_the_rest_again_in_order() {
        const BUSY: &str = r#"{"errors":true,"items":[{"index":{"_id":"a","status":201}},
            {"index":{"_id":"b","status":429,"error":{"type":"es_rejected","reason":"full"}}},
            {"delete":{"_id":"c","status":200}}]}"#;
        let (taken, posted, seconds) = take(&[(503, ""), (200, BUSY), (200, DONE)]).await;
        assert_eq!(taken.unwrap(), Vec::<String>::new());
        assert_eq!(posted, ["a\nb\nc\n", "a\nb\nc\n", "b\nc\n"]);
        assert_eq!(seconds, 1 + 2);

        let (taken, posted, seconds) = take(&[(429, ""); 9]).await;
        assert!(taken.unwrap_err().to_string().contains("was busy 6 times: it answered 429"));
        assert_eq!((posted.len(), seconds), (6, 1 + 2 + 4 + 8 + 16));
    }

    #[tokio::test]
    async fn a_document_that_is_refused_keeps_no_other_back_but_other_errors_do() {
        let failed = |status, kind, reason| {
            let error = serde_json::json!({"type": kind, "reason": reason});
            answer(&serde_json::json!({"index": {"_id": "a", "status": status, "error": error}}).to_string())
        };
        let (taken, ..) = take(&[(200, &failed(400, "mapper_parsing_exception", "no date"))]).await;
        assert_eq!(taken.unwrap(), ["a: mapper_parsing_exception: no date"]);
        let none = ["a", "b", "c"].map(|id| format!(r#"{{"index":{{"_id":"{id}","status":400}}}}"#)).join(",");
        for (status, body, why) in [
            (401, "", "answered 401"),
            (200, "<html>", "does not answer as `_bulk` does"),
            (200, r#"{"errors":false,"error":"bulk index data format error","items":[]}"#, "gave up: bulk index data"),
            (200, r#"{"errors":true,"items":[]}"#, "0 outcomes of 3 actions"),
            (
                200,
                &failed(403, "cluster_block_exception", "read-only"),
                "403 to 'index' of a: cluster_block_exception: read-only",
            ),
            (
                200,
                &format!(r#"{{"errors":true,"items":[{none}]}}"#),
                "takes none of 3 documents, such as a: status 400",
            ),
        ] {
            let said = take(&[(status, body)]).await.0.unwrap_err().to_string();
            assert!(said.contains(why), "{said}");
        }
    }
}
