#![allow(clippy::unwrap_used, clippy::disallowed_types, reason = "a test may panic, and be a caller")]
//! The clock is paused: tokio advances it to the next timer as soon as all tasks wait.

use super::*;
use axum::routing::{get, post};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// Length of an answer that does not fit into the system's socket buffers.
const LONG: usize = 64 << 20;

struct Served {
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

async fn served(limits: Limits, trusted: &[&str]) -> Served {
    let router = Router::new()
        .route("/", get(async || "here"))
        .route("/long", get(async || vec![b'a'; LONG]))
        .route("/read", post(async |body: String| body))
        .route("/never", get(async || std::future::pending::<()>().await));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let proxies = Proxies::new(trusted.iter().map(|range| range.parse().unwrap()).collect());
    let (stop, stopped) = oneshot::channel();
    let task = tokio::spawn(serve(listener, router, proxies, limits, async {
        let _told = stopped.await;
    }));
    Served { address, stop, task }
}

const ROOMY: Limits = Limits { connections: 8, of_address: 8 };

async fn connected(served: &Served, sent: &str) -> TcpStream {
    let mut stream = TcpStream::connect(served.address).await.unwrap();
    stream.write_all(sent.as_bytes()).await.unwrap();
    stream
}

/// Returns everything received until the server closes the connection.
async fn rest(mut stream: TcpStream) -> String {
    let mut text = Vec::new();
    // A reset ends the answer, too.
    let _ended = stream.read_to_end(&mut text).await;
    String::from_utf8_lossy(&text).into_owned()
}

const WHOLE: &str = "GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n";

#[tokio::test(start_paused = true)]
async fn a_caller_that_does_not_end_its_header_or_its_body_is_let_go() {
    let served = served(ROOMY, &[]).await;
    assert_eq!(rest(connected(&served, "GET / HTTP/1.1\r\nhost: a\r\nx: ").await).await, "", "a header");
    assert_eq!(rest(connected(&served, "").await).await, "", "nothing at all");
    let idle = rest(connected(&served, "GET / HTTP/1.1\r\nhost: a\r\n\r\n").await).await;
    assert!(idle.starts_with("HTTP/1.1 200") && idle.ends_with("here"), "an idle connection: {idle}");
    let body = connected(&served, "POST /read HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\nhalf").await;
    for late in [body, connected(&served, "GET /never HTTP/1.1\r\nhost: a\r\n\r\n").await] {
        let late = rest(late).await;
        assert!(
            late.starts_with("HTTP/1.1 503") && late.contains("30 seconds"),
            "not 408, which browsers repeat: {late}"
        );
        for header in
            ["connection: close", "x-content-type-options: nosniff", "content-security-policy: default-src 'none'"]
        {
            assert!(late.contains(header), "{header}: {late}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_caller_that_drips_one_byte_after_the_other_is_let_go() {
    let served = served(ROOMY, &[]).await;
    for begun in ["GET / HTTP/1.1\r\nhost: a\r\nx: ", "POST /read HTTP/1.1\r\nhost: a\r\ncontent-length: 4000\r\n\r\n"]
    {
        let mut stream = connected(&served, begun).await;
        let mut drops = 0;
        let mut answer = [0; 64];
        loop {
            tokio::select! {
                _ended = stream.read(&mut answer) => break,
                () = sleep(Duration::from_secs(1)) => {
                    drops += 1;
                    let _dropped = stream.write_all(b"a").await;
                }
            }
            assert!(drops < 600, "still held: {begun}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_caller_that_does_not_read_its_answer_is_let_go() {
    let one = Limits { connections: 1, of_address: 1 };
    let served = served(one, &[]).await;
    let unread = connected(&served, "GET /long HTTP/1.1\r\nhost: a\r\n\r\n").await;
    // The next connection waits in the backlog until the only place is free.
    let next = rest(connected(&served, WHOLE).await).await;
    assert!(next.ends_with("here"), "{next}");
    drop(unread);
}

#[cfg(target_os = "linux")] // where all of 127/8 is this machine
#[tokio::test(start_paused = true)]
async fn an_address_holds_no_more_than_its_share_unless_it_is_a_proxy_of_ours() {
    let few = Limits { connections: 4, of_address: 2 };
    let begun = "POST /read HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\n";
    for (trusted, answered) in [(&[] as &[&str], false), (&["127.0.0.1/32"], true)] {
        let served = served(few, trusted).await;
        let held = [connected(&served, begun).await, connected(&served, begun).await];
        let mut third = TcpStream::connect(served.address).await.unwrap();
        let _may_be_closed = third.write_all(WHOLE.as_bytes()).await;
        assert_eq!(rest(third).await.ends_with("here"), answered, "{trusted:?}");
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind("127.0.0.2:0".parse().unwrap()).unwrap();
        let mut other = socket.connect(served.address).await.unwrap();
        other.write_all(WHOLE.as_bytes()).await.unwrap();
        assert!(rest(other).await.ends_with("here"), "another address has its own share");
        drop(held);
    }
}

#[tokio::test(start_paused = true)]
async fn once_stopped_it_takes_nobody_and_lets_go_of_all() {
    let served = served(ROOMY, &[]).await;
    let idle = connected(&served, "").await;
    let busy = connected(&served, "GET /never HTTP/1.1\r\nhost: a\r\n\r\n").await;
    assert!(rest(connected(&served, WHOLE).await).await.ends_with("here"));
    served.stop.send(()).unwrap();
    served.task.await.unwrap();
    assert!(TcpStream::connect(served.address).await.is_err());
    drop((idle, busy));
}

#[tokio::test(start_paused = true)]
async fn a_request_names_its_host_once() {
    let served = served(ROOMY, &[]).await;
    for (request, status) in [
        ("GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n", "200"),
        ("GET / HTTP/1.0\r\n\r\n", "200"),
        ("GET / HTTP/1.1\r\nconnection: close\r\n\r\n", "400"),
        ("GET / HTTP/1.1\r\nhost: a\r\nHost: a\r\n\r\n", "400"),
        ("GET / HTTP/1.0\r\nhost: a\r\nhost: b\r\n\r\n", "400"),
    ] {
        let answer = rest(connected(&served, request).await).await;
        assert_eq!(answer.split(' ').nth(1), Some(status), "{request}: {answer}");
        assert!(status == "200" || answer.contains("connection: close"), "{answer}");
    }
}
