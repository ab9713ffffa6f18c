//! A small HTTP server with prepared responses, for errors that an emulator never returns.

use super::names;
use crate::{Connection, Store};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt, BufStream};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

#[derive(Clone, Debug)]
pub(super) struct Asked {
    /// The operation: the text after the last dot of `X-Amz-Target`. Empty for S3.
    pub(super) operation: String,
    pub(super) body: String,
}

#[derive(Clone, Debug)]
pub(super) struct Answer {
    status: u16,
    kind: &'static str,
    body: String,
}

impl Answer {
    pub(super) fn json(status: u16, body: impl Into<String>) -> Answer {
        Answer { status, kind: "application/x-amz-json-1.0", body: body.into() }
    }

    /// Returns an error response of DynamoDB or SQS.
    pub(super) fn refusal(status: u16, code: &str, message: &str) -> Answer {
        Answer::json(status, format!(r#"{{"__type":"com.amazonaws#{code}","message":"{message}"}}"#))
    }

    /// Returns an error response of S3.
    pub(super) fn xml(status: u16, code: &str, message: &str) -> Answer {
        let body = format!("<Error><Code>{code}</Code><Message>{message}</Message></Error>");
        Answer { status, kind: "application/xml", body }
    }
}

type Rule = Box<dyn Fn(&Asked) -> Answer + Send + Sync>;

/// The server; it stops on drop.
pub(super) struct Server {
    pub(super) url: String,
    asked: Arc<Mutex<Vec<Asked>>>,
    accepting: JoinHandle<()>,
}

impl Server {
    /// Starts a server that answers each request with the result of `rule`.
    pub(super) async fn by(rule: impl Fn(&Asked) -> Answer + Send + Sync + 'static) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (rule, log): (Arc<Rule>, _) = (Arc::new(Box::new(rule)), Arc::clone(&asked));
        let accepting = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&rule), Arc::clone(&log)));
            }
        });
        Server { url, asked, accepting }
    }

    /// Starts a server that gives the responses one after another, and repeats the last one.
    pub(super) async fn saying(answers: impl IntoIterator<Item = Answer>) -> Server {
        let answers = Mutex::new(answers.into_iter().collect::<VecDeque<_>>());
        Server::by(move |_| {
            let mut answers = answers.lock().expect("no panic");
            let next = answers.front().expect("an answer").clone();
            if answers.len() > 1 {
                answers.pop_front();
            }
            next
        })
        .await
    }

    pub(super) fn operations(&self) -> Vec<String> {
        self.asked().into_iter().map(|asked| asked.operation).collect()
    }

    pub(super) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().expect("no panic").clone()
    }
}

pub(super) async fn store(server: &Server) -> Store {
    Store::new(&Connection::to(&server.url).await, names())
}

impl Drop for Server {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn serve(stream: TcpStream, rule: Arc<Rule>, log: Arc<Mutex<Vec<Asked>>>) {
    let mut stream = BufStream::new(stream);
    while let Some(asked) = read(&mut stream).await {
        let answer = rule(&asked);
        log.lock().expect("no panic").push(asked);
        let Answer { status, kind, body } = answer;
        let head = format!("HTTP/1.1 {status} -\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\r\n", body.len());
        if stream.write_all(format!("{head}{body}").as_bytes()).await.is_err() || stream.flush().await.is_err() {
            return;
        }
    }
}

async fn read(stream: &mut BufStream<TcpStream>) -> Option<Asked> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    let head = String::from_utf8(head).ok()?;
    let header = |name: &str| {
        let lines = head.lines().filter_map(|line| line.split_once(':'));
        lines.filter(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim().to_owned()).next()
    };
    let mut body = vec![0; header("content-length").and_then(|n| n.parse().ok()).unwrap_or(0)];
    stream.read_exact(&mut body).await.ok()?;
    Some(Asked {
        operation: header("x-amz-target").and_then(|t| t.rsplit('.').next().map(str::to_owned)).unwrap_or_default(),
        body: String::from_utf8_lossy(&body).into_owned(),
    })
}
