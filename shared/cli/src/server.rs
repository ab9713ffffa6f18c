//! The HTTP server of the pages. No caller locks others out, and all together take no resources of the crawler.

mod callers;
pub(crate) mod descriptors;

use axum::Router;
use axum::body::Body;
use axum::http::header::{CONNECTION, HOST, HeaderValue};
use axum::http::{Request, Response, StatusCode, Version};
use axum::response::IntoResponse;
use callers::Callers;
use curlew_web::{Caller, Proxies, ThroughProxy};
use futures::FutureExt;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tower::ServiceExt;

/// Maximum number of concurrent connections; further ones wait in the system's backlog.
pub(crate) const MAX_CONNECTIONS: usize = 256;
/// Maximum number of connections of one address, unless it is a trusted proxy; fewer if few are free.
const MAX_CONNECTIONS_OF_ADDRESS: usize = 64;
/// Maximum time for the whole header of a request; also the maximum idle time of a connection.
const HEADER_TIME: Duration = Duration::from_secs(10);
/// Maximum time from the end of the header to the answer; a body must arrive within it, too.
const ANSWER_TIME: Duration = Duration::from_secs(30);
/// Text of the answer to a request that took too long.
const TOO_LATE: &str = "There was no answer within 30 seconds. The request may have succeeded nevertheless.";
/// Text of the answer to a request that must have one Host field, and has none or several (RFC 9112 §3.2).
const NO_HOST: &str = "The request must have one Host field.";
/// Age after which a connection takes no further request.
const CONNECTION_TIME: Duration = Duration::from_secs(60);
/// Maximum time for the current answer after [`CONNECTION_TIME`], or after the program has to stop.
const LAST_ANSWER_TIME: Duration = Duration::from_secs(30);
/// Maximum length of a header, in bytes; also the size of a connection's buffer.
const MAX_HEADER: usize = 16 << 10;
/// Wait after a connection could not be accepted, for example because no file descriptor was left.
const ACCEPT_RETRY: Duration = Duration::from_millis(500);

#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) connections: usize,
    pub(crate) of_address: usize,
}

impl Limits {
    /// Returns the default limits for a server with at most `connections` connections.
    pub(crate) fn new(connections: usize) -> Limits {
        Limits { connections, of_address: MAX_CONNECTIONS_OF_ADDRESS.min(connections) }
    }
}

/// Serves the router until `stop`, then lets current answers finish.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    proxies: Proxies,
    limits: Limits,
    stop: impl Future<Output = ()> + Send + 'static,
) {
    let stop = stop.shared();
    let slots = Arc::new(Semaphore::new(limits.connections));
    let callers = Callers::new(limits.of_address);
    let pages = Arc::new(Pages { router, proxies, is_warned: AtomicBool::new(false) });
    let mut open = JoinSet::new();
    loop {
        let next = async { (slots.clone().acquire_owned().await, listener.accept().await) };
        let (slot, accepted) = tokio::select! {
            next = next => next,
            () = stop.clone() => break,
        };
        while open.try_join_next().is_some() {}
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted; the server waits");
                sleep(ACCEPT_RETRY).await;
                continue;
            }
        };
        let share = callers.take(peer.ip(), slots.available_permits());
        if share.is_none() && !pages.proxies.trusts(peer.ip()) {
            continue;
        }
        let (pages, stop) = (pages.clone(), stop.clone());
        open.spawn(async move {
            let _held = (slot, share);
            connection(stream, peer, pages, stop).await;
        });
    }
    drop(listener);
    // Each connection ends within `LAST_ANSWER_TIME`.
    while open.join_next().await.is_some() {}
}

struct Pages {
    router: Router,
    proxies: Proxies,
    /// True once the operator was warned about a proxy that does not name its callers.
    is_warned: AtomicBool,
}

async fn connection(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    peer: SocketAddr,
    pages: Arc<Pages>,
    stop: impl Future<Output = ()>,
) {
    let service = service_fn(|request| answer(&pages, peer.ip(), request));
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEADER_TIME).max_buf_size(MAX_HEADER);
    let mut connection = pin!(builder.serve_connection(TokioIo::new(stream), service));
    // A connection's error concerns only its caller.
    tokio::select! {
        _ended = connection.as_mut() => return,
        () = sleep(CONNECTION_TIME) => {}
        () = stop => {}
    }
    connection.as_mut().graceful_shutdown();
    let _ended = timeout(LAST_ANSWER_TIME, connection).await;
}

async fn answer(pages: &Pages, peer: IpAddr, request: Request<Incoming>) -> Result<Response<Body>, Infallible> {
    // The bytes that follow may belong to another request, so close the connection.
    let refused = async |status: StatusCode, text: &'static str| {
        let close = [(CONNECTION, HeaderValue::from_static("close"))];
        Ok(curlew_web::secure((status, close, text).into_response()).await)
    };
    let hosts = request.headers().get_all(HOST).iter().count();
    if hosts > 1 || hosts == 0 && request.version() == Version::HTTP_11 {
        return refused(StatusCode::BAD_REQUEST, NO_HOST).await;
    }
    let caller = pages.proxies.caller(peer, request.headers());
    if caller.is_none() && !pages.is_warned.swap(true, Ordering::Relaxed) {
        tracing::warn!(
            proxy = %peer,
            "a proxy does not forward the addresses of its visitors, so all of them share one allowance: add it to \
             `trusted_proxies` of [web], and make it send X-Forwarded-For"
        );
    }
    let mut request = request.map(Body::new);
    request.extensions_mut().insert(Caller(caller));
    request.extensions_mut().insert(ThroughProxy(pages.proxies.trusts(peer)));
    match timeout(ANSWER_TIME, pages.router.clone().oneshot(request)).await {
        Ok(answered) => answered,
        // Not 408, because browsers repeat a request after it.
        Err(_) => refused(StatusCode::SERVICE_UNAVAILABLE, TOO_LATE).await,
    }
}

#[cfg(test)]
mod tests;
