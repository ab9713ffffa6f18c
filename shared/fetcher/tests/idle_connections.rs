//! Tests with servers that close idle connections at the very moment at which the next request arrives.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has to fail")]

use curlew_fetcher::{Config, HttpFetcher};
use curlew_model::{Millis, Validators};
use curlew_ports::{Call, CallKind, Fetch, FetchError, Post, Reply};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Act {
    /// Answers with these headers, and continues.
    Answer(&'static str),
    Close,
    Reset,
    /// Sends half a head, and closes the connection.
    Half,
}
use Act::{Answer, Close, Half, Reset};

const FINE: Act = Answer("");

/// A server that records the connection of each request.
struct Server {
    addr: SocketAddr,
    requests: Arc<Mutex<Vec<usize>>>,
}

impl Server {
    /// Starts a server that closes connections after they have been idle for `idle`. Each connection has its own list
    /// of acts, the last of which repeats.
    async fn new(idle: Duration, acts: &'static [&'static [Act]]) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (addr, requests) = (listener.local_addr().unwrap(), Arc::new(Mutex::new(Vec::new())));
        let seen = requests.clone();
        tokio::spawn(async move {
            for connection in 0.. {
                let (stream, _) = listener.accept().await.unwrap();
                let acts = acts[connection.min(acts.len() - 1)];
                tokio::spawn(serve(stream, idle, acts, connection, seen.clone()));
            }
        });
        Server { addr, requests }
    }

    fn fetcher(&self) -> HttpFetcher {
        let mut config = Config::new("Test/1", "Test/1");
        config.guard.resolve = vec![format!("*.test={}", self.addr).parse().unwrap()];
        HttpFetcher::new(config).unwrap()
    }

    fn requests(&self) -> Vec<usize> {
        self.requests.lock().unwrap().clone()
    }
}

async fn serve(mut stream: TcpStream, idle: Duration, acts: &[Act], connection: usize, seen: Arc<Mutex<Vec<usize>>>) {
    for number in 0.. {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            match timeout(idle, stream.read_u8()).await {
                Ok(Ok(byte)) => head.push(byte),
                _ => return,
            }
        }
        seen.lock().unwrap().push(connection);
        match acts[number.min(acts.len() - 1)] {
            Answer(headers) => {
                let answer =
                    format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 4\r\n{headers}\r\ntide");
                stream.write_all(answer.as_bytes()).await.unwrap();
            }
            Close => return,
            Reset => return stream.set_zero_linger().unwrap(),
            Half => return stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Ty").await.unwrap(),
        }
    }
}

async fn get(fetcher: &HttpFetcher, post: Option<Post>) -> Result<Reply, FetchError> {
    let kind = if post.is_some() { CallKind::Receiver } else { CallKind::Page };
    let url = "http://site.test/".to_owned();
    let (validators, time) = (Validators::default(), Millis::from_secs(20));
    fetcher.call(&Call { url, kind, validators, post, signature: None, time }).await
}

/// Makes a call as a visit does: repeats it if the connection was closed as idle.
async fn get_again(fetcher: &HttpFetcher) -> Result<Reply, FetchError> {
    match get(fetcher, None).await {
        Err(FetchError::ClosedIdle) => get(fetcher, None).await,
        other => other,
    }
}

const LONG: Duration = Duration::from_secs(60);

#[tokio::test]
async fn t19_a_connection_that_was_used_before_and_ends_unanswered_was_idle_and_the_next_one_is_new() {
    for ending in [&[FINE, Close] as &'static [Act], &[FINE, Reset], &[FINE, Half]] {
        let server = Server::new(LONG, vec![ending, &[FINE]].leak()).await;
        let fetcher = server.fetcher();
        get(&fetcher, None).await.unwrap();
        assert_eq!(get(&fetcher, None).await, Err(FetchError::ClosedIdle), "{ending:?}");
        for _ in 0..3 {
            assert_eq!(get(&fetcher, None).await.unwrap().body, "tide", "{ending:?}");
        }
        // From then on each call has a connection of its own.
        assert_eq!(server.requests(), [0, 0, 1, 2, 3], "{ending:?}");
    }
}

#[tokio::test]
async fn t19_a_new_connection_that_ends_unanswered_is_a_failure() {
    for ending in [&[Close] as &'static [Act], &[Reset], &[Half]] {
        let server = Server::new(LONG, vec![ending].leak()).await;
        let refused = get(&server.fetcher(), None).await;
        assert!(matches!(refused, Err(FetchError::Cut(_))), "{ending:?}: {refused:?}");
        assert_eq!(server.requests(), [0], "{ending:?}");
    }
}

#[tokio::test]
async fn t19_a_server_is_not_believed_twice_in_a_row_that_it_closed_an_idle_connection() {
    let server = Server::new(LONG, &[&[FINE, Close], &[Close]]).await;
    let fetcher = server.fetcher();
    get(&fetcher, None).await.unwrap();
    assert_eq!(get(&fetcher, None).await, Err(FetchError::ClosedIdle));
    for sent in [vec![0, 0, 1], vec![0, 0, 1, 2]] {
        let refused = get(&fetcher, None).await;
        assert!(matches!(refused, Err(FetchError::Cut(_))), "{refused:?}");
        assert_eq!(server.requests(), sent);
    }
}

#[tokio::test]
async fn t19_a_post_is_sent_once_on_a_connection_of_its_own() {
    let server = Server::new(LONG, &[&[FINE], &[Close]]).await;
    let fetcher = server.fetcher();
    get(&fetcher, None).await.unwrap();
    let refused = get(&fetcher, Some(Post::form("a=b".into()))).await;
    assert!(matches!(refused, Err(FetchError::Cut(_))), "{refused:?}");
    get(&fetcher, None).await.unwrap();
    assert_eq!(server.requests(), [0, 1, 0]);
}

#[tokio::test]
async fn t19_a_connection_is_used_again_unless_its_server_says_that_it_closes_it_soon() {
    for (stated, connections) in [
        ("", [0, 0]),
        ("Keep-Alive: timeout=5, max=100\r\n", [0, 0]),
        ("Keep-Alive: max=7\r\n", [0, 0]),
        ("Keep-Alive: timeout=soon\r\n", [0, 0]),
        ("Keep-Alive: timeout=1\r\n", [0, 1]),
        ("keep-alive: max=9, Timeout = 3\r\n", [0, 1]),
        ("Keep-Alive: timeout=0\r\n", [0, 1]),
    ] {
        let server = Server::new(LONG, vec![&*vec![Answer(stated)].leak()].leak()).await;
        let fetcher = server.fetcher();
        for _ in 0..2 {
            get(&fetcher, None).await.unwrap();
        }
        assert_eq!(server.requests(), connections, "{stated:?}");
    }
}

/// The pause equals the server's idle time, so requests and closes cross.
#[tokio::test]
async fn t19_all_calls_are_answered_however_soon_a_server_closes_idle_connections() {
    let mut sites = JoinSet::new();
    for idle in [500, 800, 1_000, 1_001, 1_050, 1_500, 2_000, 2_900, 3_000, 5_000] {
        for early in [0, 1, 3, 9] {
            sites.spawn(async move {
                let server = Server::new(Duration::from_millis(idle), &[&[FINE]]).await;
                let fetcher = server.fetcher();
                for _ in 0..3 {
                    assert_eq!(get_again(&fetcher).await.unwrap().body, "tide", "{idle} ms");
                    sleep(Duration::from_millis(idle.min(3_000) - early)).await;
                }
            });
        }
    }
    sites.join_all().await;
}
