//! The exporter: sends spans in batches, and drops what a collector does not take in time.

use crate::message::{
    ExportRequest, ExportResponse, KeyValue, Resource, ResourceSpans, Scope, ScopeSpans, Span, Value,
};
use prost::Message;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue, InvalidHeaderValue, RETRY_AFTER};
use reqwest::{Client, Response, StatusCode};
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::mpsc::Receiver;
use tokio::time::{sleep, timeout};
use url::Url;

/// Path of the traces below the address of a collector (OTLP specification, "OTLP/HTTP Request").
const PATH: &str = "v1/traces";
/// Media type of requests.
const PROTOBUF: HeaderValue = HeaderValue::from_static("application/x-protobuf");
/// Name of this service, and of the scope of its spans.
const NAME: &str = "curlew";
/// Maximum number of spans of a request; some 200 KiB.
const MAX_BATCH: usize = 512;
/// Time for which spans are gathered before they are sent.
const GATHER: Duration = Duration::from_secs(1);
/// Maximum time of a request.
const REQUEST_TIME: Duration = Duration::from_secs(10);
/// Wait before a request is repeated, and the most that this doubles to, or that a collector may ask for.
const RETRY_WAIT: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(60));
/// Maximum time for the rest when the program ends.
const FLUSH_TIME: Duration = Duration::from_secs(5);
/// Maximum number of bytes of an answer that are read.
const MAX_ANSWER: usize = 16 << 10;

/// Error that no exporter can be set up.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// The authorization is no value of a header.
    #[error("the authorization cannot be sent as a header")]
    Authorization(#[source] InvalidHeaderValue),
    /// There is no HTTP client.
    #[error("there is no HTTP client for spans")]
    Client(#[source] reqwest::Error),
}

/// Sends spans to a collector. The future of [`Exporter::run`] has to be polled for it.
pub struct Exporter {
    client: Client,
    address: Url,
    queue: Receiver<Span>,
    /// Number of spans that were not exported.
    lost: Arc<AtomicU64>,
    /// Spans that are being sent. They stay here until the collector has answered.
    batch: Vec<Span>,
    /// True while the collector does not take spans, which was logged.
    is_away: bool,
}

/// Answer of a collector.
#[derive(Debug)]
enum Outcome {
    /// It took all but this number of spans.
    Taken(u64),
    /// It does not want them, for this reason; nor would it if they were sent again.
    Refused(String),
    /// It cannot be reached or has too much to do; it may have said for how long.
    Away(String, Option<Duration>),
}

impl Exporter {
    pub(crate) fn new(
        collector: &Url,
        authorization: Option<&str>,
        (queue, lost): (Receiver<Span>, Arc<AtomicU64>),
    ) -> Result<Exporter, SetupError> {
        // The provider of cryptography is the process's. One that stands already is as good.
        let _stands_already = rustls::crypto::ring::default_provider().install_default();
        let mut headers = HeaderMap::from_iter([(CONTENT_TYPE, PROTOBUF)]);
        if let Some(text) = authorization {
            let mut value = HeaderValue::from_str(text).map_err(SetupError::Authorization)?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        let client = Client::builder()
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            .user_agent(concat!("curlew/", env!("CARGO_PKG_VERSION")))
            .default_headers(headers)
            .timeout(REQUEST_TIME)
            .build()
            .map_err(SetupError::Client)?;
        Ok(Exporter { client, address: traces_at(collector), queue, lost, batch: Vec::new(), is_away: false })
    }

    /// Exports spans until `stop`, then what is left, for some seconds at most.
    pub async fn run(mut self, stop: impl Future<Output = ()> + Send) {
        tokio::select! {
            () = stop => {}
            () = self.export() => {}
        }
        // A request that was cut off is repeated: its spans have the same ids then.
        let _flushed_in_time = timeout(FLUSH_TIME, self.flush()).await;
        let left = self.batch.len() + self.queue.len();
        let lost = self.lost.load(Ordering::Relaxed) + u64::try_from(left).unwrap_or(u64::MAX);
        if lost > 0 {
            tracing::warn!(spans = lost, "spans could not be exported, and are lost");
        }
    }

    /// Sends batch after batch, each until the collector answers. Ends when nobody can open spans any more.
    async fn export(&mut self) {
        loop {
            if self.batch.is_empty() {
                if self.queue.recv_many(&mut self.batch, MAX_BATCH).await == 0 {
                    return;
                }
                if self.batch.len() < MAX_BATCH {
                    sleep(GATHER).await;
                    self.gather();
                }
            }
            let mut wait = RETRY_WAIT.0;
            while let Some(asked) = self.send().await {
                sleep(asked.unwrap_or(wait).min(RETRY_WAIT.1)).await;
                wait = (wait * 2).min(RETRY_WAIT.1);
            }
        }
    }

    /// Sends what is left, unless the collector is away.
    async fn flush(&mut self) {
        loop {
            self.gather();
            if self.batch.is_empty() || self.send().await.is_some() {
                return;
            }
        }
    }

    /// Fills the batch with spans that are there.
    fn gather(&mut self) {
        while self.batch.len() < MAX_BATCH
            && let Ok(span) = self.queue.try_recv()
        {
            self.batch.push(span);
        }
    }

    /// Sends the batch once. It is empty afterwards, unless the collector is away: then returns the time for which it asks
    /// to be left alone, if it does.
    async fn send(&mut self) -> Option<Option<Duration>> {
        let request = self.client.post(self.address.clone()).body(request(&self.batch).encode_to_vec());
        let rejected = match answer(request.send().await).await {
            Outcome::Taken(rejected) => {
                if std::mem::take(&mut self.is_away) {
                    let lost = self.lost.load(Ordering::Relaxed);
                    tracing::info!(lost, "spans are exported again");
                }
                rejected
            }
            Outcome::Refused(error) => {
                if !std::mem::replace(&mut self.is_away, true) {
                    tracing::warn!(collector = %self.address, error, "the collector refuses spans, which are dropped");
                }
                self.batch.len() as u64
            }
            Outcome::Away(error, asked) => {
                if !std::mem::replace(&mut self.is_away, true) {
                    tracing::warn!(collector = %self.address, error, "the collector takes no spans; they wait, as far as there is room");
                }
                return Some(asked);
            }
        };
        self.lost.fetch_add(rejected, Ordering::Relaxed);
        self.batch.clear();
        None
    }
}

/// Returns the address of the traces of a collector.
fn traces_at(collector: &Url) -> Url {
    let mut address = collector.clone();
    if let Ok(mut path) = address.path_segments_mut() {
        path.pop_if_empty().extend(PATH.split('/'));
    }
    address
}

fn request(spans: &[Span]) -> ExportRequest {
    let text = |key: &str, text: &str| KeyValue::new(key, Value::Text(text.to_owned()));
    let version = env!("CARGO_PKG_VERSION");
    let attributes = vec![
        text("service.name", NAME),
        text("service.version", version),
        KeyValue::new("process.pid", Value::Number(std::process::id().into())),
    ];
    let scope = Scope { name: NAME.to_owned(), version: version.to_owned() };
    let scope_spans = vec![ScopeSpans { scope: Some(scope), spans: spans.to_vec() }];
    ExportRequest { resource_spans: vec![ResourceSpans { resource: Some(Resource { attributes }), scope_spans }] }
}

/// Reads the answer to a request, by the rules of "OTLP/HTTP Response".
async fn answer(sent: reqwest::Result<Response>) -> Outcome {
    let response = match sent {
        Ok(response) => response,
        Err(error) => return Outcome::Away(root_cause(&error), None),
    };
    let status = response.status();
    match status {
        _ if status.is_success() => Outcome::Taken(rejected(response).await),
        StatusCode::TOO_MANY_REQUESTS
        | StatusCode::BAD_GATEWAY
        | StatusCode::SERVICE_UNAVAILABLE
        | StatusCode::GATEWAY_TIMEOUT => {
            let asked = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.trim().parse().ok());
            Outcome::Away(format!("it answered {status}"), asked.map(Duration::from_secs))
        }
        _ => Outcome::Refused(format!("it answered {status}")),
    }
}

/// Returns the number of spans that a collector rejected of a request that it took.
async fn rejected(mut response: Response) -> u64 {
    let mut body = Vec::new();
    while let Ok(Some(piece)) = response.chunk().await {
        if body.len() + piece.len() > MAX_ANSWER {
            return 0;
        }
        body.extend_from_slice(&piece);
    }
    let partial = ExportResponse::decode(body.as_slice()).ok().and_then(|answer| answer.partial_success);
    partial.map_or(0, |partial| u64::try_from(partial.rejected_spans).unwrap_or(0))
}

/// Returns the error at the bottom of another one, which says what is wrong.
fn root_cause(error: &reqwest::Error) -> String {
    let mut cause: &dyn Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot be set up has to fail")]
    use super::*;
    use crate::message::PartialSuccess;
    use std::sync::Mutex;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;
    use tokio::sync::mpsc;

    #[test]
    fn traces_lie_below_the_address_of_the_collector() {
        for (collector, traces) in [
            ("http://127.0.0.1:4318", "http://127.0.0.1:4318/v1/traces"),
            ("http://127.0.0.1:4318/", "http://127.0.0.1:4318/v1/traces"),
            ("https://example.org/otlp", "https://example.org/otlp/v1/traces"),
            ("https://example.org/otlp/", "https://example.org/otlp/v1/traces"),
        ] {
            assert_eq!(traces_at(&Url::parse(collector).unwrap()).as_str(), traces);
        }
    }

    /// Starts a collector that gives these answers, one a connection, and keeps the requests.
    async fn collector(answers: Vec<Vec<u8>>) -> (Url, Arc<Mutex<Vec<String>>>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = Url::parse(&format!("http://{}", listener.local_addr().unwrap())).unwrap();
        let requests: Arc<Mutex<Vec<String>>> = Arc::default();
        let kept = requests.clone();
        tokio::spawn(async move {
            for answer in answers {
                let (mut stream, _) = listener.accept().await.unwrap();
                let mut got = Vec::new();
                loop {
                    let mut piece = [0; 4_096];
                    let n = stream.read(&mut piece).await.unwrap();
                    got.extend_from_slice(&piece[..n]);
                    let text = String::from_utf8_lossy(&got).to_lowercase();
                    let length =
                        text.split("content-length: ").nth(1).and_then(|rest| rest.split('\r').next()?.parse().ok());
                    let head = got.windows(4).position(|four| four == b"\r\n\r\n");
                    if n == 0
                        || head.zip(length).is_some_and(|(head, length): (usize, usize)| got.len() >= head + 4 + length)
                    {
                        break;
                    }
                }
                kept.lock().unwrap().push(String::from_utf8_lossy(&got).into_owned());
                stream.write_all(&answer).await.unwrap();
            }
        });
        (url, requests)
    }

    fn said(status: &str, more: &str, body: &[u8]) -> Vec<u8> {
        let head = format!("HTTP/1.1 {status}\r\n{more}Content-Length: {}\r\nConnection: close\r\n\r\n", body.len());
        [head.as_bytes(), body].concat()
    }

    /// Returns an exporter to which one span was handed, by somebody who is gone; and the number of lost spans.
    fn with_a_span(url: &Url, authorization: Option<&str>) -> Result<(Exporter, Arc<AtomicU64>), SetupError> {
        let ((sender, receiver), lost) = (mpsc::channel(1), Arc::default());
        sender.try_send(Span { name: "poll".to_owned(), ..Span::default() }).unwrap();
        Ok((Exporter::new(url, authorization, (receiver, Arc::clone(&lost)))?, lost))
    }

    #[tokio::test]
    async fn a_collector_that_is_busy_gets_the_same_spans_again() {
        let (url, requests) =
            collector(vec![said("503 Busy", "Retry-After: 0\r\n", b""), said("200 OK", "", b"")]).await;
        let (exporter, lost) = with_a_span(&url, Some("Basic c2VjcmV0")).unwrap();
        exporter.run(std::future::pending()).await;
        let requests = requests.lock().unwrap();
        assert_eq!((requests.len(), lost.load(Ordering::Relaxed)), (2, 0), "{requests:?}");
        assert!(requests[0].starts_with("POST /v1/traces HTTP/1.1\r\n"), "{requests:?}");
        for line in ["content-type: application/x-protobuf", "authorization: Basic c2VjcmV0"] {
            assert!(requests[0].contains(line), "{line}: {requests:?}");
        }
        let bodies: Vec<&str> = requests.iter().map(|all| all.split_once("\r\n\r\n").unwrap().1).collect();
        assert!(bodies[0].contains("poll") && bodies[0] == bodies[1], "{bodies:?}");
    }

    #[tokio::test]
    async fn spans_that_a_collector_rejects_are_counted_and_not_sent_again() {
        let partial = PartialSuccess { rejected_spans: 1, error_message: "no room".to_owned() };
        let partial = ExportResponse { partial_success: Some(partial) }.encode_to_vec();
        for answer in [said("400 Bad Request", "", b""), said("200 OK", "", &partial)] {
            let (url, requests) = collector(vec![answer]).await;
            let (exporter, lost) = with_a_span(&url, None).unwrap();
            exporter.run(std::future::pending()).await;
            assert_eq!((requests.lock().unwrap().len(), lost.load(Ordering::Relaxed)), (1, 1));
        }
    }

    #[tokio::test]
    async fn what_is_left_is_sent_when_the_program_ends() {
        let (url, requests) = collector(vec![said("200 OK", "", b"")]).await;
        let (exporter, _) = with_a_span(&url, None).unwrap();
        exporter.run(std::future::ready(())).await;
        assert_eq!(requests.lock().unwrap().len(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_collector_that_hangs_does_not_keep_the_program_from_ending() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = Url::parse(&format!("http://{}", listener.local_addr().unwrap())).unwrap();
        let (exporter, _) = with_a_span(&url, None).unwrap();
        exporter.run(std::future::ready(())).await;
    }

    #[test]
    fn an_authorization_is_one_line() {
        let url = Url::parse("http://127.0.0.1:4318").unwrap();
        assert!(matches!(with_a_span(&url, Some("a\r\nb: c")), Err(SetupError::Authorization(_))));
    }
}
