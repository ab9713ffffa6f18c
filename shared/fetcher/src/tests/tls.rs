//! Tests of TLS: certificates are checked, and HTTP/2 is negotiated by ALPN.

use super::server::{assert_fails, call};
use crate::{Config, HttpFetcher};
use bytes::Bytes;
use curlew_ports::{CallKind, FetchError};
use http_body_util::Full;
use hyper::service::service_fn;
use hyper::{Request, Response, Version};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rcgen::{CertificateParams, CertifiedIssuer, KeyPair, date_time_ymd};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

/// A certificate authority and the one certificate that it issued.
struct Issued {
    root: Vec<u8>,
    chain: Vec<u8>,
    key: KeyPair,
}

fn issue(name: &str, expired: bool) -> Issued {
    let mut authority = CertificateParams::default();
    authority.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(authority, KeyPair::generate().unwrap()).unwrap();
    let mut leaf = CertificateParams::new([name.to_string()]).unwrap();
    (leaf.not_before, leaf.not_after) =
        (date_time_ymd(2020, 1, 1), if expired { date_time_ymd(2021, 1, 1) } else { date_time_ymd(4000, 1, 1) });
    let key = KeyPair::generate().unwrap();
    let chain = leaf.signed_by(&key, &authority).unwrap().der().to_vec();
    Issued { root: authority.der().to_vec(), chain, key }
}

/// Requests that the server received: version, and authority or Host header.
type Seen = Arc<Mutex<Vec<(Version, String)>>>;

fn acceptor(issued: &Issued, alpn: &[&str]) -> TlsAcceptor {
    let key = PrivateKeyDer::try_from(issued.key.serialize_der()).unwrap();
    let mut config =
        ServerConfig::builder().with_no_client_auth().with_single_cert(vec![issued.chain.clone().into()], key).unwrap();
    config.alpn_protocols = alpn.iter().map(|name| name.as_bytes().to_vec()).collect();
    TlsAcceptor::from(Arc::new(config))
}

async fn serve(issued: &Issued, alpn: &[&str], headers: usize) -> (SocketAddr, Seen) {
    let acceptor = acceptor(issued, alpn);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (addr, seen) = (listener.local_addr().unwrap(), Seen::default());
    let log = seen.clone();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (acceptor, log) = (acceptor.clone(), log.clone());
            tokio::spawn(async move {
                let Ok(stream) = acceptor.accept(stream).await else { return };
                let two = stream.get_ref().1.alpn_protocol() == Some(b"h2");
                let service = service_fn(move |request: Request<hyper::body::Incoming>| {
                    let authority = request.uri().authority().map(ToString::to_string);
                    let host =
                        request.headers().get("host").map(|h| String::from_utf8_lossy(h.as_bytes()).into_owned());
                    log.lock().unwrap().push((request.version(), authority.or(host).unwrap_or_default()));
                    let mut answer = Response::builder().header("content-type", "text/html");
                    for i in 0..headers {
                        answer = answer.header(format!("x-{i}"), "y".repeat(1_000));
                    }
                    async move { answer.body(Full::new(Bytes::from_static(b"over TLS"))) }
                });
                let io = TokioIo::new(stream);
                if two {
                    hyper::server::conn::http2::Builder::new(TokioExecutor::new())
                        .serve_connection(io, service)
                        .await
                        .ok();
                } else {
                    hyper::server::conn::http1::Builder::new().serve_connection(io, service).await.ok();
                }
            });
        }
    });
    (addr, seen)
}

fn fetcher(addr: SocketAddr, roots: &[&Issued]) -> HttpFetcher {
    let mut config = Config::new("Test/1", "Test/1");
    config.guard.resolve = vec![format!("*.test={addr}").parse().unwrap()];
    config.extra_roots = roots.iter().map(|issued| issued.root.clone()).collect();
    HttpFetcher::new(config).unwrap()
}

#[tokio::test]
async fn http_2_is_spoken_where_the_server_offers_it_and_http_1_elsewhere() {
    let issued = issue("site.test", false);
    for (alpn, version) in
        [(&["h2", "http/1.1"][..], Version::HTTP_2), (&["http/1.1"], Version::HTTP_11), (&[], Version::HTTP_11)]
    {
        let (addr, seen) = serve(&issued, alpn, 0).await;
        let reply = call(&fetcher(addr, &[&issued]), CallKind::Page, "https://site.test/page").await.unwrap();
        assert_eq!((reply.status, &reply.body[..]), (200, &b"over TLS"[..]));
        assert_eq!(seen.lock().unwrap()[..], [(version, "site.test".into())]);
    }
}

/// Types of HTTP/2 frames (RFC 9113 §6).
const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const GOAWAY: u8 = 7;

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// Answers the first request of each connection with 204, and the second with a GOAWAY with this error code that names
/// the first as the last one processed. Returns the stream identifiers of the requests.
async fn serve_one_a_connection(issued: &Issued, error: u32) -> (SocketAddr, Arc<Mutex<Vec<u32>>>) {
    let acceptor = acceptor(issued, &["h2"]);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (addr, streams) = (listener.local_addr().unwrap(), Arc::new(Mutex::new(Vec::new())));
    let log = streams.clone();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let mut stream = acceptor.accept(stream).await.unwrap();
            let mut preface = [0; 24];
            stream.read_exact(&mut preface).await.unwrap();
            stream.write_all(&frame(SETTINGS, 0, 0, &[])).await.unwrap();
            let mut head = [0; 9];
            while stream.read_exact(&mut head).await.is_ok() {
                let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
                stream.read_exact(&mut vec![0; usize::try_from(length).unwrap()]).await.unwrap();
                let id = u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
                match (head[3], id) {
                    (SETTINGS, _) if head[4] == 0 => stream.write_all(&frame(SETTINGS, 1, 0, &[])).await.unwrap(),
                    // The static table's `:status: 204` (RFC 7541, appendix A), with the end of headers and stream.
                    (HEADERS, 1) => stream.write_all(&frame(HEADERS, 5, 1, &[0x89])).await.unwrap(),
                    (HEADERS, _) => {
                        let payload = [1_u32.to_be_bytes(), error.to_be_bytes()].concat();
                        stream.write_all(&frame(GOAWAY, 0, 0, &payload)).await.unwrap();
                    }
                    _ => {}
                }
                if head[3] == HEADERS {
                    log.lock().unwrap().push(id);
                }
            }
        }
    });
    (addr, streams)
}

#[tokio::test]
async fn t19_a_request_that_the_end_of_an_http_2_connection_left_out_was_not_looked_at() {
    let issued = issue("site.test", false);
    // NO_ERROR and ENHANCE_YOUR_CALM (RFC 9113 §7).
    for (error, is_unprocessed) in [(0, true), (11, false)] {
        let (addr, streams) = serve_one_a_connection(&issued, error).await;
        let fetcher = fetcher(addr, &[&issued]);
        let get = || call(&fetcher, CallKind::Page, "https://site.test/page");
        assert_eq!(get().await.unwrap().status, 204);
        let second = get().await;
        assert_eq!(matches!(second, Err(FetchError::ClosedIdle)), is_unprocessed, "{second:?}");
        assert_eq!(get().await.unwrap().status, 204);
        assert_eq!(streams.lock().unwrap()[..], [1, 3, 1]);
    }
}

#[tokio::test]
async fn a_rule_with_a_port_keeps_the_urls_port_in_the_host_header_over_tls_too() {
    let issued = issue("site.test", false);
    let (addr, seen) = serve(&issued, &["h2", "http/1.1"], 0).await;
    call(&fetcher(addr, &[&issued]), CallKind::Page, "https://site.test:8443/page").await.unwrap();
    assert_eq!(seen.lock().unwrap()[..], [(Version::HTTP_11, "site.test:8443".into())]);
}

#[tokio::test]
async fn t13_a_huge_header_list_over_http_2_is_an_error() {
    let issued = issue("site.test", false);
    for (headers, fits) in [(40, true), (90, false)] {
        let (addr, _) = serve(&issued, &["h2"], headers).await;
        let result = call(&fetcher(addr, &[&issued]), CallKind::Page, "https://site.test/").await;
        assert_eq!(result.is_ok(), fits, "{headers}: {result:?}");
    }
}

#[tokio::test]
async fn t16_h20_certificates_are_never_overridden() {
    let (good, expired) = (issue("site.test", false), issue("site.test", true));
    let cases = [
        ("unknown authority", &good, vec![], "https://site.test/"),
        ("another authority", &good, vec![&expired], "https://site.test/"),
        ("another name", &good, vec![&good], "https://other.test/"),
        ("expired", &expired, vec![&expired], "https://site.test/"),
    ];
    for (case, issued, roots, url) in cases {
        let (addr, seen) = serve(issued, &["h2", "http/1.1"], 0).await;
        let result = call(&fetcher(addr, &roots), CallKind::Page, url).await;
        assert_fails(&result, "Network", "cause: Tls");
        assert_fails(&result, "Network", "certificate");
        assert!(seen.lock().unwrap().is_empty(), "{case}");
    }
}

#[tokio::test]
async fn t16_a_server_without_tls_is_the_networks_trouble() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            // The server answers 400 to the first bytes, which are not a request, as web servers do.
            stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await.ok();
            tokio::spawn(async move { tokio::io::copy(&mut stream, &mut tokio::io::sink()).await });
        }
    });
    assert_fails(&call(&fetcher(addr, &[]), CallKind::Page, "https://site.test/").await, "Network", "cause: Tls");
}
