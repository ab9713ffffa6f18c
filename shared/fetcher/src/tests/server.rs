//! Servers with prepared answers, and fetchers that reach them.

use crate::resolver::Lookup;
use crate::{Config, HttpFetcher};
use async_trait::async_trait;
use curlew_model::{Millis, Validators};
use curlew_ports::{Call, CallKind, Fetch, FetchError, Reply};
use std::collections::VecDeque;
use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Start of the head of an HTML answer; further header lines follow.
pub(crate) const HTML: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n";
pub(crate) const PAGE: &str = "http://site.test/";
/// A string in the URLs of the tests that no error message may repeat.
const SECRET: &str = "secret-token";

pub(crate) struct Server {
    pub(crate) addr: SocketAddr,
    heads: Arc<Mutex<Vec<String>>>,
    connections: Arc<AtomicUsize>,
}

impl Server {
    /// Answers each request with these bytes, then closes the connection.
    pub(crate) async fn saying(answer: impl Into<Vec<u8>>) -> Server {
        Server::answering(answer.into(), Duration::ZERO).await
    }

    /// Answers each request with these bytes, and never ends.
    pub(crate) async fn stalling(answer: impl Into<Vec<u8>>) -> Server {
        Server::answering(answer.into(), Duration::from_secs(60)).await
    }

    async fn answering(answer: Vec<u8>, rest: Duration) -> Server {
        Server::with("127.0.0.1:0", move |mut stream, _| {
            let answer = answer.clone();
            async move {
                stream.write_all(&answer).await.ok();
                if !rest.is_zero() {
                    // A sleep of zero length takes a millisecond too.
                    tokio::time::sleep(rest).await;
                }
                stream
            }
        })
        .await
    }

    /// Reads one request head, passes the connection to `act`, and closes the connection that `act` returns.
    pub(crate) async fn with<F, A>(bind: &str, act: F) -> Server
    where
        F: Fn(TcpStream, String) -> A + Send + Sync + 'static,
        A: Future<Output = TcpStream> + Send + 'static,
    {
        let listener = TcpListener::bind(bind).await.unwrap();
        let addr = listener.local_addr().unwrap();
        let (heads, connections) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicUsize::new(0)));
        let (heads_seen, opened, act) = (heads.clone(), connections.clone(), Arc::new(act));
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                opened.fetch_add(1, Ordering::SeqCst);
                let (heads, act) = (heads_seen.clone(), act.clone());
                tokio::spawn(async move {
                    let Some(head) = read_head(&mut stream).await else { return };
                    heads.lock().unwrap().push(head.clone());
                    let mut stream = act(stream, head).await;
                    stream.shutdown().await.ok();
                    // Reading to the end prevents the kernel from resetting the connection too early.
                    tokio::io::copy(&mut stream, &mut tokio::io::sink()).await.ok();
                });
            }
        });
        Server { addr, heads, connections }
    }

    pub(crate) fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }

    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// Returns a configuration under which every name below `test` is this server.
    pub(crate) fn config(&self) -> Config {
        let mut config = Config::new("Test/1 (+https://bot.example/)", "TestFeed/1 (+https://bot.example/)");
        config.guard.resolve = vec![format!("*.test={}", self.addr).parse().unwrap()];
        config
    }

    pub(crate) fn fetcher(&self) -> HttpFetcher {
        HttpFetcher::new(self.config()).unwrap()
    }

    pub(crate) async fn page(&self) -> Result<Reply, FetchError> {
        page_under(self.config()).await
    }
}

pub(crate) async fn page_under(config: Config) -> Result<Reply, FetchError> {
    call(&HttpFetcher::new(config).unwrap(), CallKind::Page, PAGE).await
}

/// Asserts that a call failed with an error of this kind and this text.
pub(crate) fn assert_fails(result: &Result<Reply, FetchError>, kind: &str, says: &str) {
    assert_case_fails("", result, kind, says);
}

/// Asserts that a call failed in one of several cases; see [`assert_fails`].
pub(crate) fn assert_case_fails(case: &str, result: &Result<Reply, FetchError>, kind: &str, says: &str) {
    let error = format!("{:?}", result.as_ref().err());
    let is_it = error.starts_with(&format!("Some({kind}(")) && error.contains(says);
    assert!(is_it, "{case:?} should be {kind} {says}: {result:?}");
}

async fn read_head(stream: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    String::from_utf8(head).ok()
}

/// Returns a call without validators that may take 20 s.
pub(crate) fn get(kind: CallKind, url: &str) -> Call {
    let mark = if url.contains('?') { '&' } else { '?' };
    let url = if url.starts_with("http") { format!("{url}{mark}key={SECRET}") } else { url.into() };
    Call { url, kind, validators: Validators::default(), post: None, signature: None, time: Millis::from_secs(20) }
}

/// Makes a call and checks the reason of a failure: short, one line, without the query.
pub(crate) async fn call(fetcher: &HttpFetcher, kind: CallKind, url: &str) -> Result<Reply, FetchError> {
    make(fetcher, &get(kind, url)).await
}

/// Makes a prepared call; see [`call`].
pub(crate) async fn make(fetcher: &HttpFetcher, call: &Call) -> Result<Reply, FetchError> {
    let result = fetcher.call(call).await;
    if let Err(error) = &result {
        let text = error.to_string();
        let readable = !text.is_empty() && text.len() < 220 && !text.contains(char::is_control);
        assert!(readable && !text.contains(SECRET) && !text.contains("error sending"), "{text:?}");
    }
    result
}

pub(crate) fn ok(headers: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 200 OK\r\n{headers}Content-Length: {}\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

pub(crate) fn html(body: &str) -> Vec<u8> {
    ok("Content-Type: text/html\r\n", body.as_bytes())
}

/// A resolver with prepared answers, the last of which repeats.
pub(crate) struct FakeLookup {
    answers: Mutex<VecDeque<Vec<IpAddr>>>,
    asked: AtomicUsize,
}

impl FakeLookup {
    pub(crate) fn answering(answers: &[&[&str]]) -> Arc<FakeLookup> {
        let answers = answers.iter().map(|ips| ips.iter().map(|ip| ip.parse().unwrap()).collect()).collect();
        Arc::new(FakeLookup { answers: Mutex::new(answers), asked: AtomicUsize::new(0) })
    }

    pub(crate) fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

#[async_trait]
impl Lookup for FakeLookup {
    async fn addresses(&self, _: &str) -> io::Result<Vec<IpAddr>> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let mut answers = self.answers.lock().unwrap();
        let answer = if answers.len() > 1 { answers.pop_front() } else { answers.front().cloned() };
        answer.ok_or_else(|| io::Error::other("no answer"))
    }
}
