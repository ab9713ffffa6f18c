//! Tests that a call waits for a file descriptor if this process may open no more files. The test has a process of its
//! own, since the limit applies to the whole process.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has to fail")]
#![allow(clippy::disallowed_types, reason = "files are held open on purpose")]

use curlew_fetcher::{Config, HttpFetcher};
use curlew_model::{Millis, Validators};
use curlew_ports::{Call, CallKind, Fetch, FetchError};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::fs::File;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// Takes all remaining descriptors.
fn take_all() -> Vec<File> {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: Some(128), maximum }).unwrap();
    std::iter::from_fn(|| File::open("/dev/null").ok()).collect()
}

#[tokio::test]
async fn without_a_descriptor_a_call_waits_and_no_host_is_blamed() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let server = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let _request = stream.read(&mut [0; 1_024]).await.unwrap();
        let answer = "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 4\r\nconnection: close\r\n\r\nhere";
        stream.write_all(answer.as_bytes()).await.unwrap();
    });
    let mut config = Config::new("Test/1", "Test/1");
    config.guard.allow_nets = vec!["127.0.0.0/8".parse().unwrap()];
    config.guard.ports.insert(url::Url::parse(&url).unwrap().port().unwrap());
    let fetcher = HttpFetcher::new(config).unwrap();
    let call = |time| Call {
        url: url.clone(),
        kind: CallKind::Page,
        validators: Validators::default(),
        post: None,
        signature: None,
        time,
    };

    let held = take_all();
    let refused = fetcher.call(&call(Millis::from_secs(1))).await;
    assert!(matches!(refused, Err(FetchError::Local(_))), "{refused:?}");
    let waiting = call(Millis::from_secs(30));
    let (answered, ()) = tokio::join!(fetcher.call(&waiting), async {
        tokio::time::sleep(Duration::from_millis(600)).await;
        drop(held);
    });
    assert_eq!(answered.unwrap().body, "here");
    server.await.unwrap();
}
