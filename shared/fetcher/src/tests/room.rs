//! Tests that large bodies share a bounded memory, and that small ones never wait for them.

use super::coding::gzip;
use super::server::{Server, assert_fails, get, make, ok};
use crate::room::{Room, Share};
use crate::{ByteLimits, HttpFetcher};
use curlew_model::Millis;
use curlew_ports::{Call, CallKind, Fetch};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::task::JoinSet;

const LARGE: usize = 1 << 20;

/// Serves `/large`, `/bomb` (the same text, compressed) and `/small`.
async fn server() -> Server {
    // The text compresses a hundredfold, which is plausible.
    let text: Vec<u8> =
        (0..LARGE / 256).flat_map(|n| [format!("{n:08}").into_bytes(), vec![b'a'; 248]].concat()).collect();
    let large = ok("Content-Type: text/html\r\n", &text);
    let bomb = ok("Content-Type: text/html\r\nContent-Encoding: gzip\r\n", &gzip(&text));
    let small = ok("Content-Type: text/html\r\n", &text[..LARGE / 5]);
    Server::with("127.0.0.1:0", move |mut stream, head| {
        let answer = match head.split(['/', '?']).nth(1) {
            Some("large") => large.clone(),
            Some("bomb") => bomb.clone(),
            _ => small.clone(),
        };
        async move {
            tokio::io::AsyncWriteExt::write_all(&mut stream, &answer).await.ok();
            stream
        }
    })
    .await
}

fn fetcher(server: &Server, large_bodies: usize) -> Arc<HttpFetcher> {
    let mut config = server.config();
    config.bytes = ByteLimits { robots: LARGE, page: LARGE, feed: LARGE, sitemap: LARGE, image: LARGE };
    config.bodies_bytes = large_bodies * LARGE;
    Arc::new(HttpFetcher::new(config).unwrap())
}

fn page(name: &str) -> Call {
    Call { time: Millis::from_secs(3), ..get(CallKind::Page, &format!("http://site.test/{name}")) }
}

#[tokio::test]
async fn a_large_body_has_its_room_until_nobody_has_it_any_more() {
    let server = server().await;
    let fetcher = fetcher(&server, 1);
    let first = make(&fetcher, &page("large")).await.unwrap();
    let part = first.body.slice(..9);
    drop(first);
    for name in ["large", "bomb"] {
        assert_fails(&make(&fetcher, &page(name)).await, "Local", "no room");
    }
    assert_eq!(make(&fetcher, &page("small")).await.unwrap().body.len(), LARGE / 5, "small bodies never wait");
    // A waiting body continues as soon as there is room.
    let waits = tokio::spawn({
        let fetcher = fetcher.clone();
        async move { fetcher.call(&Call { time: Millis::from_secs(20), ..page("large") }).await }
    });
    while server.heads().len() < 5 {
        tokio::task::yield_now().await;
    }
    drop(part);
    assert_eq!(waits.await.unwrap().unwrap().body.len(), LARGE);
    assert_eq!(make(&fetcher, &page("bomb")).await.unwrap().body.len(), LARGE);
}

#[tokio::test]
async fn many_large_bodies_at_once_never_take_more_than_their_room() {
    let server = server().await;
    for name in ["large", "bomb"] {
        let fetcher = fetcher(&server, 3);
        let mut calls = JoinSet::new();
        for _ in 0..20 {
            let fetcher = fetcher.clone();
            calls.spawn(async move { fetcher.call(&page(name)).await });
        }
        let replies = calls.join_all().await;
        let kept = replies.iter().filter(|reply| reply.is_ok()).count();
        // A third of a MiB of each body is not counted.
        assert!(kept <= 4, "{kept} bodies of 1 MiB in 3 MiB");
        drop(replies);
        assert!(make(&fetcher, &page(name)).await.is_ok(), "what was taken is given back");
    }
}

/// Lets a body grow step by step, as if it were read.
async fn read(mut share: Share, length: usize, finished: &AtomicUsize) {
    let mut body = vec![];
    while body.len() < length {
        share.wait(body.len()).await;
        body.resize(body.len() + (LARGE / 16), 0);
        assert!(share.grow(body.len()));
        tokio::task::yield_now().await;
    }
    drop(share.keep(body));
    finished.fetch_add(1, Ordering::Relaxed);
}

/// Each body has a part of the room, and waits for the parts of the others.
#[tokio::test]
async fn bodies_that_grow_side_by_side_never_wait_for_each_other_for_ever() {
    let (room, finished) = (Room::with_limits(4 * LARGE, 2 * LARGE), Arc::default());
    let bodies: Vec<_> = (0..64)
        .map(|_| {
            let (share, finished) = (room.share(), Arc::clone(&finished));
            tokio::spawn(async move { read(share, 2 * LARGE, &finished).await })
        })
        .collect();
    let all = async {
        for body in bodies {
            body.await.unwrap();
        }
    };
    tokio::time::timeout(Duration::from_secs(60), all).await.unwrap();
    assert_eq!(finished.load(Ordering::Relaxed), 64);
}
