//! The HTTP server under the pages. It bounds what callers may hold, so that none of them keeps the others out, and all of
//! them together keep the crawler from nothing.

mod callers;
pub(crate) mod descriptors;

use axum::Router;
use axum::body::Body;
use axum::http::header::{CONNECTION, HeaderValue};
use axum::http::{Request, Response, StatusCode};
use axum::response::IntoResponse;
use callers::Callers;
use curlew_web::{Caller, Proxies};
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

/// Maximum number of connections at once; further ones wait in the system's backlog.
pub(crate) const MAX_CONNECTIONS: usize = 256;
/// Maximum number of connections of one address, unless it is a trusted proxy's; further ones are closed.
const MAX_CONNECTIONS_OF_ADDRESS: usize = 64;
/// Time for the whole header of a request, from the moment that it is waited for: also how long a connection may be idle.
const HEADER_TIME: Duration = Duration::from_secs(10);
/// Time from the end of the header to the answer; a body has to come within it, too.
const ANSWER_TIME: Duration = Duration::from_secs(30);
/// Age at which a connection takes no further request.
const CONNECTION_TIME: Duration = Duration::from_secs(60);
/// Time after that, or after the program was told to stop, for the answer under way: a caller that reads more slowly is cut
/// off.
const LAST_ANSWER_TIME: Duration = Duration::from_secs(30);
/// Longest header that is read, in bytes; also what one connection buffers.
const MAX_HEADER: usize = 16 << 10;
/// How long to wait when a connection cannot be taken, as when no file descriptor is left.
const ACCEPT_RETRY: Duration = Duration::from_millis(500);

/// What a server may hold.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Connections at once.
    pub(crate) connections: usize,
    /// Connections of one address at once.
    pub(crate) of_address: usize,
}

impl Limits {
    /// The usual limits for a server that may hold so many connections.
    pub(crate) fn of(connections: usize) -> Limits {
        Limits { connections, of_address: MAX_CONNECTIONS_OF_ADDRESS.min(connections) }
    }
}

/// Serves the router until `stop`, then lets the answers under way finish.
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
        let next = async {
            let slot = slots.clone().acquire_owned().await;
            (slot, listener.accept().await)
        };
        let (slot, accepted) = tokio::select! {
            next = next => next,
            () = stop.clone() => break,
        };
        while open.try_join_next().is_some() {}
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::warn!(%error, "a connection could not be taken; the server waits");
                sleep(ACCEPT_RETRY).await;
                continue;
            }
        };
        let share = callers.take(peer.ip());
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
    // Each connection ends by itself within the time for its last answer.
    while open.join_next().await.is_some() {}
}

/// What all connections share.
struct Pages {
    router: Router,
    proxies: Proxies,
    /// True if the operator was told of a proxy that is not named.
    is_warned: AtomicBool,
}

/// Answers the requests of one connection.
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
    // What goes wrong with a connection is its caller's trouble.
    tokio::select! {
        _ended = connection.as_mut() => return,
        () = sleep(CONNECTION_TIME) => {}
        () = stop => {}
    }
    connection.as_mut().graceful_shutdown();
    let _ended = timeout(LAST_ANSWER_TIME, connection).await;
}

async fn answer(pages: &Pages, peer: IpAddr, request: Request<Incoming>) -> Result<Response<Body>, Infallible> {
    let caller = pages.proxies.caller(peer, request.headers());
    if caller.is_none() && !pages.is_warned.swap(true, Ordering::Relaxed) {
        tracing::warn!(
            proxy = %peer,
            "a proxy does not say for whom it calls, so all its visitors share one allowance: name it in `trusted_proxies` of [web], and have it send X-Forwarded-For"
        );
    }
    let mut request = request.map(Body::new);
    request.extensions_mut().insert(Caller(caller));
    match timeout(ANSWER_TIME, pages.router.clone().oneshot(request)).await {
        Ok(answered) => answered,
        // RFC 9110 §15.5.9: the connection is closed, since the rest of the request may still come.
        Err(_) => Ok((StatusCode::REQUEST_TIMEOUT, [(CONNECTION, HeaderValue::from_static("close"))]).into_response()),
    }
}

#[cfg(test)]
mod tests;
