//! The server: one listener, HTTP/1.1, sites selected by the `Host` header, a log of all calls.

use crate::body::{LoggedBody, Stream};
use crate::coding::{self, Coding};
use crate::farm::Farm;
use crate::hub::{HUB, Hub, MAX_FORM, Signed, Subscriber};
use crate::live::{Live, Mode};
use crate::log::{Call, Kind, Log, readable};
use crate::picture::Gallery;
use crate::reply::{Body, Reply};
use crate::text::fnv;
use bytes::Bytes;
use http_body_util::{BodyExt, Collected, Limited};
use hyper::body::Incoming;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::{JoinHandle, JoinSet};

/// Maximum number of concurrent connections; further ones wait.
const MAX_CONNECTIONS: usize = 4_096;
/// Maximum size of a request's header in bytes.
const MAX_HEADER_BYTES: usize = 32 * 1024;
/// Maximum number of header fields of a request.
const MAX_HEADERS: usize = 64;
/// Maximum time for a client to send a request's header, including idle time before it. Clients close idle connections
/// earlier, so the server never closes one during a new request.
const HEADER_TIMEOUT: Duration = Duration::from_secs(600);

/// A running server. It stops on drop too, but less gracefully than with [`Running::stop`].
#[derive(Debug)]
pub struct Running {
    addr: SocketAddr,
    shared: Arc<ServerState>,
    stop: watch::Sender<bool>,
    accepting: JoinHandle<()>,
}

/// State shared by all connections.
#[derive(Debug)]
struct ServerState {
    farm: Arc<Farm>,
    log: Log,
    gallery: Gallery,
    live: Mutex<HashMap<String, Live>>,
    bomb: OnceLock<Bytes>,
    hub: Arc<Hub>,
}

/// Serves the farm on this listener until stopped. Accepts every connection, since the caller chose the address.
///
/// Must be called within a tokio runtime.
pub async fn serve(farm: Arc<Farm>, listener: TcpListener) -> Running {
    serve_logged(farm, listener, None).await
}

/// Serves a farm like [`serve`], and appends every finished call to a file as a line of JSON.
pub async fn serve_logged(farm: Arc<Farm>, listener: TcpListener, file: Option<File>) -> Running {
    let addr = listener.local_addr().unwrap_or_else(|_| SocketAddr::from(([127, 0, 0, 1], 0)));
    let (stop, stopped) = watch::channel(false);
    let shared = Arc::new(ServerState {
        farm,
        log: Log::new(file),
        gallery: Gallery::default(),
        live: Mutex::new(HashMap::new()),
        bomb: OnceLock::new(),
        hub: Arc::default(),
    });
    let accepting = tokio::spawn(accept(listener, Arc::clone(&shared), stopped));
    Running { addr, shared, stop, accepting }
}

impl Running {
    /// Returns the address on which the server listens.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Returns the sites that the server serves.
    pub fn farm(&self) -> &Farm {
        &self.shared.farm
    }

    /// Returns all finished calls, sorted by start time. At most a million are kept.
    pub fn calls(&self) -> Vec<Call> {
        self.shared.log.calls()
    }

    /// Deletes the logged calls.
    pub fn clear_calls(&self) {
        self.shared.log.clear();
    }

    /// Returns the microseconds since the server's start, on the clock of [`Call::start`].
    pub fn now_micros(&self) -> u64 {
        self.shared.log.now()
    }

    /// Sets the mode of a host's site. Returns false if no site answers for the host.
    pub fn set_mode(&self, host: &str, mode: Mode) -> bool {
        self.shared.change(host, |live| live.set_mode(mode))
    }

    /// Sets the mode of one address (host, path with query), regardless of the site's mode. Returns false if no site
    /// answers for the host.
    pub fn set_page_mode(&self, host: &str, path: &str, mode: Mode) -> bool {
        self.shared.change(host, |live| {
            live.page_modes.insert(format!("{host}{path}"), mode);
        })
    }

    /// Publishes `more` new entries at the top of all feeds of a site, with their pages. Returns their addresses, the
    /// newest first; empty if no site answers for the host or the site has no feed.
    pub fn publish(&self, host: &str, more: usize) -> Vec<String> {
        let Some(site) = self.shared.farm.site(host) else { return Vec::new() };
        let mut live = self.shared.live.lock().unwrap_or_else(PoisonError::into_inner);
        live.entry(site.host.clone()).or_default().publish(site, more)
    }

    /// Sets the document at a host and path. Returns false if no site answers for the host.
    pub fn put(&self, host: &str, path: &str, media_type: &str, text: &str) -> bool {
        self.shared.change(host, |live| live.put(host, path, media_type, text))
    }

    /// Returns the confirmed subscribers of the hub, whose host is [`HUB`].
    pub fn subscribers(&self) -> Vec<Subscriber> {
        self.shared.hub.subscribers()
    }

    /// Makes the hub notify all subscribers of a topic; returns their statuses, 0 for one that did not respond.
    pub async fn deliver(&self, topic: &str, body: &[u8], signed: Signed) -> Vec<u16> {
        self.shared.hub.deliver(topic, body, signed).await
    }

    /// Stops accepting connections, closes the open ones, and waits until all are closed.
    pub async fn stop(mut self) {
        let _ = self.stop.send(true);
        // Waiting fails only if the task has panicked, which the runtime has already reported.
        let _ = (&mut self.accepting).await;
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.stop.send(true);
        self.accepting.abort();
    }
}

async fn accept(listener: TcpListener, shared: Arc<ServerState>, mut stopped: watch::Receiver<bool>) {
    let permits = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let mut connections = JoinSet::new();
    loop {
        let Ok(permit) = Arc::clone(&permits).acquire_owned().await else { break };
        let stream = tokio::select! {
            _ = stopped.changed() => break,
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => stream,
                // A lack of file descriptors, or a client that is gone, does not stop the server.
                Err(_) => {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                    continue;
                }
            },
        };
        let shared = Arc::clone(&shared);
        connections.spawn(async move {
            converse(stream, shared).await;
            drop(permit);
        });
        while connections.try_join_next().is_some() {}
    }
    connections.shutdown().await;
}

async fn converse(stream: TcpStream, shared: Arc<ServerState>) {
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request| answer(Arc::clone(&shared), request));
    // Errors here are the client's fault, or a disconnection that the site simulates.
    let _ = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIMEOUT)
        .max_buf_size(MAX_HEADER_BYTES)
        .max_headers(MAX_HEADERS)
        .serve_connection(TokioIo::new(stream), service)
        .await;
}

/// Answers a request; an error closes the connection without an answer.
async fn answer(shared: Arc<ServerState>, request: Request<Incoming>) -> io::Result<Response<LoggedBody>> {
    let start = shared.log.now();
    let host = host_of(&request);
    let path = request.uri().path_and_query().map_or("/", |p| p.as_str()).to_owned();
    let (head, body) = request.into_parts();
    let reply = if host == HUB && head.method == Method::POST {
        let form = Limited::new(body, MAX_FORM).collect().await.map(Collected::to_bytes);
        let taken = form.is_ok_and(|form| shared.hub.take(&form));
        Reply::status(Kind::Other, if taken { 202 } else { 400 })
    } else {
        shared.decide(&host, &path, &head.method, start)
    };
    if let Some(site) = shared.farm.site(&host)
        && !site.delay.is_zero()
    {
        tokio::time::sleep(site.delay).await;
    }
    let mut call = Call {
        kind: reply.kind,
        status: reply.status,
        start,
        end: start,
        bytes: 0,
        user_agent: text_of(&head.headers, "user-agent"),
        method: head.method.as_str().to_owned(),
        headers: readable(&head.headers),
        host,
        path,
    };
    if matches!(reply.body, Body::Hangup) {
        call.status = 0;
        shared.log.end(call);
        return Err(io::ErrorKind::ConnectionAborted.into());
    }
    Ok(shared.respond(reply, call, &head.headers).await)
}

/// Returns the requested host in lower case, without a port: the target's authority if present, else the `Host` header.
fn host_of(request: &Request<Incoming>) -> String {
    let header = request.headers().get("host").and_then(|value| value.to_str().ok());
    let host = request.uri().host().or(header).unwrap_or("");
    let bare = if host.starts_with('[') { host } else { host.split(':').next().unwrap_or("") };
    bare.trim_end_matches('.').to_ascii_lowercase()
}

fn text_of(headers: &HeaderMap, name: &str) -> String {
    headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned()).unwrap_or_default()
}

impl ServerState {
    fn change(&self, host: &str, change: impl FnOnce(&mut Live)) -> bool {
        let Some(site) = self.farm.site(host) else { return false };
        change(self.live.lock().unwrap_or_else(PoisonError::into_inner).entry(site.host.clone()).or_default());
        true
    }

    fn decide(&self, host: &str, path: &str, method: &Method, now: u64) -> Reply {
        let Some(site) = self.farm.site(host) else { return Reply::status(Kind::Other, 404) };
        if method != Method::GET && method != Method::HEAD {
            return Reply::status(Kind::Other, 405).with("allow", "GET, HEAD").with("connection", "close");
        }
        let mut live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        live.entry(site.host.clone()).or_default().decide(site, host, path, now)
    }

    async fn respond(self: &Arc<ServerState>, reply: Reply, mut call: Call, asked: &HeaderMap) -> Response<LoggedBody> {
        let mut headers = reply.headers.clone();
        let stream = self.stream(&reply, &mut headers, &text_of(asked, "accept-encoding")).await;
        let unchanged = call.kind == Kind::Feed && call.status == 200 && is_unchanged(&headers, asked);
        if unchanged {
            call.status = 304;
            headers.retain(|(name, _)| !matches!(*name, "content-type" | "content-encoding"));
        }
        let stream = if unchanged { Stream::empty() } else { stream };
        let shared = Arc::clone(self);
        let ending = move |bytes| shared.log.end(Call { bytes, ..call });
        let mut response = Response::new(LoggedBody::new(stream, ending));
        let status = if unchanged { 304 } else { reply.status };
        *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        for (name, value) in headers {
            if let Ok(value) = HeaderValue::from_str(&value) {
                response.headers_mut().append(HeaderName::from_static(name), value);
            }
        }
        response
    }

    /// Prepares the body for sending, and adds the entity tag and coding to the headers.
    async fn stream(
        self: &Arc<ServerState>,
        reply: &Reply,
        headers: &mut Vec<(&'static str, String)>,
        accept: &str,
    ) -> Stream {
        let plain = match &reply.body {
            Body::Plain(bytes) => bytes.clone(),
            Body::Feed(doc) => Bytes::from(doc.write()),
            Body::Pieces(pieces) => return Stream::pieces(pieces.clone()),
            Body::Picture(seed, form) => {
                let (gallery, seed, form) = (self.gallery.clone(), *seed, *form);
                tokio::task::spawn_blocking(move || gallery.picture(seed, form)).await.unwrap_or_default()
            }
            Body::Bomb(mebibytes) => {
                headers.push(("content-encoding", Coding::Gzip.token().to_owned()));
                let (shared, mebibytes) = (Arc::clone(self), *mebibytes);
                let make = move || shared.bomb.get_or_init(|| coding::gzip_bomb(mebibytes)).clone();
                tokio::task::spawn_blocking(make).await.unwrap_or_default()
            }
            Body::Endless(piece, times) => return Stream::endless(piece.clone(), *times),
            Body::Drip(bytes, pause) => return Stream::drip(bytes.clone(), *pause),
            Body::Short { sent, promised } => return Stream::short(sent.clone(), *promised),
            Body::Hangup => Bytes::new(),
        };
        if reply.kind == Kind::Feed && !headers.iter().any(|(name, _)| *name == "etag") {
            headers.push(("etag", format!("\"{:016x}\"", fnv(&plain))));
        }
        match reply.coding {
            Some(coding) if coding.is_offered(accept) => {
                headers.push(("content-encoding", coding.token().to_owned()));
                headers.push(("vary", "accept-encoding".to_owned()));
                Stream::pieces(vec![coding.encode(&plain)])
            }
            _ => Stream::pieces(vec![plain]),
        }
    }
}

/// True if the document is unchanged (RFC 9110 §13.2.2): If-None-Match decides; without it, If-Modified-Since must be
/// equal to the date of the document.
fn is_unchanged(headers: &[(&'static str, String)], asked: &HeaderMap) -> bool {
    let ours = |wanted: &str| headers.iter().find(|(name, _)| *name == wanted).map(|(_, value)| value.as_str());
    if let Some(tags) = asked.get("if-none-match").and_then(|value| value.to_str().ok()) {
        return ours("etag").is_some_and(|etag| tags.split(',').any(|tag| tag.trim().trim_start_matches("W/") == etag));
    }
    let since = asked.get("if-modified-since").and_then(|value| value.to_str().ok());
    since.is_some() && since == ours("last-modified")
}
