//! Tests that the served content meets the expectations.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should say so at once")]

mod expectations;
mod judging;
mod serving;
mod walls;

use crate::{Farm, Running, serve};
use reqwest::header::HeaderMap;

/// Starts a server with the bundled web.
async fn demo() -> Running {
    running(Farm::demo()).await
}

async fn running(farm: Farm) -> Running {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    serve(farm.into(), listener).await
}

/// Returns a client that follows no redirects and decodes gzip, brotli and zstd.
fn client() -> reqwest::Client {
    thread_local! {
        static CLIENT: reqwest::Client = {
            let _stands_already = rustls::crypto::ring::default_provider().install_default();
            let builder = reqwest::Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none());
            builder.pool_max_idle_per_host(0).user_agent("CurlewBot/0 (test)").build().unwrap()
        };
    }
    CLIENT.with(Clone::clone)
}

/// Sends a GET to an `http://….test` address with these additional headers.
async fn get_with(running: &Running, url: &str, headers: HeaderMap) -> reqwest::Result<reqwest::Response> {
    let rest = url.strip_prefix("http://").unwrap();
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let target = format!("http://{}{path}", running.addr());
    client().get(target).header("host", host).headers(headers).send().await
}

async fn get(running: &Running, url: &str) -> reqwest::Result<reqwest::Response> {
    get_with(running, url, HeaderMap::new()).await
}
