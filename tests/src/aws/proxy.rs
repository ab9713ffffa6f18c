//! A proxy in front of an AWS endpoint: it forwards each call, meters what AWS would bill for the call, and makes calls
//! fail by a plan.
//!
//! The proxy speaks HTTP/1.1 on loopback and reads each request and answer in full, since both determine the bill. It
//! passes signatures on unchanged. The endpoint must not check them, since the meter adds fields to the client's
//! requests.

use super::call::{Call, Service};
use super::dynamodb::Asked;
use super::faults::{Fault, Faults};
use super::meter::Meter;
use super::refusal;
use super::waits::Waits;
use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::header::{CONNECTION, CONTENT_LENGTH, HOST, HeaderName, TRANSFER_ENCODING};
use hyper::service::service_fn;
use hyper::{HeaderMap, Request, Response, StatusCode, Uri};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioIo};
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;

/// Maximum number of bytes of a request or an answer: more than a batch of messages or a part of an upload ever has.
const MAX_BODY: usize = 256 * 1024 * 1024;
/// Number of threads of the proxy.
const THREADS: usize = 2;
/// Header with DynamoDB's checksum of an answer, which is wrong once fields were removed.
const CHECKSUM: HeaderName = HeaderName::from_static("x-amz-crc32");

/// A running proxy. Dropping it ends the proxy and the connections through it.
#[derive(Debug)]
pub struct Proxy {
    addr: SocketAddr,
    shared: Arc<Shared>,
    _runtime: Runtime,
}

/// State that all connections share.
#[derive(Debug)]
struct Shared {
    endpoint: String,
    client: Client<HttpConnector, Full<Bytes>>,
    meter: Meter,
    waits: Waits,
    faults: Faults,
}

impl Proxy {
    /// Starts a proxy in front of this endpoint, such as `http://127.0.0.1:4566`.
    pub fn start(endpoint: &str) -> Proxy {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(THREADS).enable_all().build().unwrap();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let addr = listener.local_addr().unwrap();
        let shared = Arc::new(Shared {
            endpoint: endpoint.trim_end_matches('/').to_owned(),
            client: Client::builder(TokioExecutor::new()).build_http(),
            meter: Meter::default(),
            waits: Waits::default(),
            faults: Faults::default(),
        });
        runtime.spawn(accept(listener, Arc::clone(&shared)));
        Proxy { addr, shared, _runtime: runtime }
    }

    /// Returns the address that the proxy listens on.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Returns the proxy's address as an endpoint: the value of `AWS_ENDPOINT_URL` for programs to be metered.
    pub fn url(&self) -> String {
        format!("http://{}", self.addr)
    }

    /// Returns the proxy's meter.
    pub fn meter(&self) -> &Meter {
        &self.shared.meter
    }

    /// Returns how long callers have waited for the endpoint.
    pub fn waits(&self) -> &Waits {
        &self.shared.waits
    }

    /// Returns the faults that the proxy injects; there are none unless a plan is set.
    pub fn faults(&self) -> &Faults {
        &self.shared.faults
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    while let Ok((stream, _)) = listener.accept().await {
        tokio::spawn(converse(stream, Arc::clone(&shared)));
    }
}

async fn converse(stream: TcpStream, shared: Arc<Shared>) {
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request| answer(Arc::clone(&shared), request));
    // Errors here are caused by the client, or by a connection that is cut on purpose.
    let _ = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
}

/// Error that makes the server cut the connection without an answer.
#[derive(Debug)]
struct Cut;

impl std::fmt::Display for Cut {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the connection is cut")
    }
}

impl std::error::Error for Cut {}

/// A request as it is forwarded.
#[derive(Clone)]
struct Outgoing {
    head: hyper::http::request::Parts,
    body: Bytes,
}

async fn answer(shared: Arc<Shared>, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Cut> {
    let (head, body) = request.into_parts();
    // A client that disconnected while it was sending gets no answer.
    let body = Limited::new(body, MAX_BODY).collect().await.map_err(|_| Cut)?.to_bytes();
    let path = head.uri.path_and_query().map_or("/", |path| path.as_str()).to_owned();
    let call = Call::of(head.method.as_str(), &path, &head.headers);
    let bodiless = head.method == hyper::Method::HEAD;
    let fault = shared.faults.next(call.service, &call.operation);
    match fault {
        Some(Fault::Throttled) => return Ok(refusal::throttled(call.service, bodiless).map(Full::new)),
        Some(Fault::ServerError) => return Ok(refusal::server_error(call.service, bodiless).map(Full::new)),
        Some(Fault::Slow(time)) => tokio::time::sleep(time).await,
        _ => {}
    }
    let outgoing = Outgoing { head, body };
    if fault == Some(Fault::Twice) {
        shared.carry_out(&call, &path, outgoing.clone()).await?;
    }
    let answered = shared.carry_out(&call, &path, outgoing).await?;
    match fault {
        Some(Fault::CutAfter) => Err(Cut),
        Some(Fault::ErrorAfter) => Ok(refusal::server_error(call.service, bodiless).map(Full::new)),
        _ => Ok(answered.map(Full::new)),
    }
}

impl Shared {
    async fn carry_out(&self, call: &Call, path: &str, mut outgoing: Outgoing) -> Result<Response<Bytes>, Cut> {
        let asked = (call.service == Service::DynamoDb).then(|| Asked::of(&call.operation, &outgoing.body));
        if let Some(asked) = &asked {
            outgoing.body = Bytes::from(asked.body());
        }
        let request = outgoing.body.clone();
        let waiting = self.waits.begin(call);
        let response = self.forward(path, outgoing).await;
        drop(waiting);
        let response = response?;
        let status = response.status().as_u16();
        let (mut head, body) = response.into_parts();
        if let Some(asked) = &asked {
            let cleaned = asked.metered(&self.meter, call, status, body);
            head.headers.remove(CHECKSUM);
            head.headers.insert(CONTENT_LENGTH, cleaned.len().into());
            return Ok(Response::from_parts(head, cleaned));
        }
        self.meter.answered(call, path, &request, status, &body);
        Ok(Response::from_parts(head, body))
    }

    async fn forward(&self, path: &str, outgoing: Outgoing) -> Result<Response<Bytes>, Cut> {
        let Outgoing { mut head, body } = outgoing;
        head.uri = format!("{}{path}", self.endpoint).parse::<Uri>().map_err(|_| Cut)?;
        one_hop_only(&mut head.headers);
        // The length may have changed, so both headers are set again from the forwarded body.
        head.headers.remove(CONTENT_LENGTH);
        head.headers.remove(HOST);
        let response = match self.client.request(Request::from_parts(head, Full::new(body))).await {
            Ok(response) => response,
            Err(error) => return Ok(unreachable(&error)),
        };
        let (mut head, body) = response.into_parts();
        let body = Limited::new(body, MAX_BODY).collect().await.map_err(|_| Cut)?.to_bytes();
        one_hop_only(&mut head.headers);
        Ok(Response::from_parts(head, body))
    }
}

/// Removes the hop-by-hop headers (RFC 9110 §7.6.1).
fn one_hop_only(headers: &mut HeaderMap) {
    for name in [CONNECTION, TRANSFER_ENCODING, HeaderName::from_static("keep-alive")] {
        headers.remove(name);
    }
}

/// Returns the answer for an endpoint that does not respond.
fn unreachable(error: &hyper_util::client::legacy::Error) -> Response<Bytes> {
    let mut response = Response::new(Bytes::from(format!("the endpoint does not answer: {error}")));
    *response.status_mut() = StatusCode::BAD_GATEWAY;
    response
}
