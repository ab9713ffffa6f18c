//! Makes a call: guard, request, checks of the answer, body.

use crate::body::Reader;
use crate::config::{Config, ConfigError};
use crate::connections::{self, EarlyClosers, IDLE_TIMEOUT};
use crate::headers::{self, Agents};
use crate::resolver::{Lookup, SystemLookup, VettingResolver};
use crate::room::Room;
use crate::{failure, guard, media};
use async_trait::async_trait;
use curlew_model::Millis;
use curlew_ports::{Call, CallKind, CpuPool, Fetch, FetchError, InlinePool, Reply};
use reqwest::header::{CONTENT_TYPE, HOST, HeaderValue};
use reqwest::{Certificate, Client, ClientBuilder, Method, Request, Response, StatusCode};
use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout_at};
use tower::util::MapRequestLayer;
use url::{Host, Url};

/// Maximum number of idle connections kept per host: a host never has more than one call at a time.
const MAX_IDLE_PER_HOST: usize = 1;
/// Maximum size of an HTTP/2 header list in bytes. Over HTTP/1.1 the library allows some 400 KiB.
const MAX_HEADER_LIST_BYTES: u32 = 64 << 10;
/// Maximum number of header lines over HTTP/1.1.
const MAX_HEADER_LINES: usize = 256;

/// Wait before another attempt to open a socket when this process has no descriptor left.
const DESCRIPTOR_WAIT: Duration = Duration::from_millis(250);

/// Makes calls over HTTP/1.1 and HTTP/2. Cheap to share but costly to build: one per process or invocation.
pub struct HttpFetcher {
    config: Config,
    agents: Agents,
    resolver: VettingResolver,
    client: Client,
    /// Opens a connection for each call, over HTTP/1.1; built on first use. Also used for calls whose `Host` names
    /// another port than the one connected to, which HTTP/2 cannot express.
    single_use: OnceLock<Client>,
    early_closers: EarlyClosers,
    room: Room,
    pool: Arc<dyn CpuPool>,
}

impl HttpFetcher {
    /// Creates the client; nothing is sent. [`ConfigError`] names the setting that cannot be used.
    pub fn new(config: Config) -> Result<HttpFetcher, ConfigError> {
        HttpFetcher::with_lookup(config, Arc::new(SystemLookup::new()))
    }

    pub(crate) fn with_lookup(config: Config, lookup: Arc<dyn Lookup>) -> Result<HttpFetcher, ConfigError> {
        // The cryptography provider is global to the process. One that is installed already serves as well.
        let _stands_already = rustls::crypto::ring::default_provider().install_default();
        let agents = Agents::new(&config)?;
        let resolver = VettingResolver::new(Arc::new(config.guard.clone()), lookup);
        let client = builder(&config, &resolver)?.build().map_err(ConfigError::Client)?;
        let room = Room::with_limits(config.bodies_bytes, config.bytes.largest());
        let (single_use, early_closers, pool) = (OnceLock::new(), EarlyClosers::default(), Arc::new(InlinePool));
        Ok(HttpFetcher { config, agents, resolver, client, single_use, early_closers, room, pool })
    }

    /// Decodes bodies in this pool. Without a pool they are decoded on the threads that serve the sockets.
    #[must_use]
    pub fn decoding_in(self, pool: Arc<dyn CpuPool>) -> HttpFetcher {
        HttpFetcher { pool, ..self }
    }

    /// Sends the request and waits for the end of the headers; waits for a file descriptor if none is left.
    async fn send(&self, call: &Call, url: &Url, deadline: Instant) -> Result<Response, FetchError> {
        loop {
            match self.send_once(call, url, deadline).await {
                Err(FetchError::Local(_)) if Instant::now() + DESCRIPTOR_WAIT < deadline => {
                    sleep(DESCRIPTOR_WAIT).await
                }
                sent => return sent,
            }
        }
    }

    async fn send_once(&self, call: &Call, url: &Url, deadline: Instant) -> Result<Response, FetchError> {
        // A POST is never sent twice, so it has its own connection.
        let (client, request) = self.prepare(call, url, call.post.is_some() || self.early_closers.has(url))?;
        let (sent, has_opened) = timeout_at(deadline, connections::watched(client.execute(request)))
            .await
            .map_err(|_| FetchError::Cut("no answer in the time of the call".into()))?;
        let response = match sent {
            Err(error) if !has_opened && failure::is_closed_unanswered(&error) => {
                self.early_closers.add(url);
                return Err(FetchError::ClosedIdle);
            }
            Err(error) if !has_opened && failure::is_unprocessed(&error) => return Err(FetchError::ClosedIdle),
            sent => sent.map_err(|error| failure::classify(&error))?,
        };
        self.check_peer(url, response.remote_addr())?;
        if connections::closes_early(response.headers()) {
            self.early_closers.add(url);
        }
        Ok(response)
    }

    /// Returns the request of a call and the client that sends it.
    fn prepare(&self, call: &Call, url: &Url, single_use: bool) -> Result<(&Client, Request), FetchError> {
        let method = if call.post.is_some() { Method::POST } else { Method::GET };
        let mut request = Request::new(method, url.clone());
        *request.headers_mut() = headers::of_call(call, &self.agents);
        *request.body_mut() = call.post.as_ref().map(|post| post.body.clone().into());
        let is_single = self.move_port_to_host_header(&mut request)? || single_use;
        Ok((if is_single { self.single_use() } else { &self.client }, request))
    }

    fn single_use(&self) -> &Client {
        self.single_use.get_or_init(|| {
            let builder = builder(&self.config, &self.resolver).map(|b| b.http1_only().pool_max_idle_per_host(0));
            // The other client was built from the same parts.
            builder.ok().and_then(|builder| builder.build().ok()).unwrap_or_else(|| self.client.clone())
        })
    }

    /// Moves the URL's port to the `Host` header if a rule's port replaces it. Returns true if the port was moved.
    fn move_port_to_host_header(&self, request: &mut Request) -> Result<bool, FetchError> {
        let url = request.url();
        let (Some(Host::Domain(name)), Some(port)) = (url.host(), url.port()) else { return Ok(false) };
        if self.config.guard.rule_for(name).is_none_or(|rule| rule.port.is_none()) {
            return Ok(false);
        }
        let cannot = || FetchError::Refused("the URL cannot be sent".into());
        let host = HeaderValue::from_str(&format!("{name}:{port}")).map_err(|_| cannot())?;
        request.headers_mut().insert(HOST, host);
        request.url_mut().set_port(None).map_err(|()| cannot())?;
        Ok(true)
    }

    /// Checks, as defence in depth, that the address that answered was allowed.
    fn check_peer(&self, url: &Url, peer: Option<SocketAddr>) -> Result<(), FetchError> {
        match url.host() {
            Some(Host::Domain(name)) => self.resolver.check_peer(name, peer),
            Some(host) if guard::literal(&host) == peer.map(|peer| peer.ip()) => Ok(()),
            _ => Err(FetchError::Refused("another address answered than the one that was called".into())),
        }
    }
}

#[async_trait]
impl Fetch for HttpFetcher {
    async fn call(&self, call: &Call) -> Result<Reply, FetchError> {
        let started = Instant::now();
        let deadline = started + call.time.min(self.config.call_timeout).as_duration();
        let url = guard::vet_url(&call.url, &self.config.guard).map_err(|e| FetchError::Refused(e.to_string()))?;
        let response = self.send(call, &url, deadline).await?;
        let status = checked_status(response.status())?;
        let mut reply = Reply { status, headers: headers::of_reply(response.headers()), ..Reply::default() };
        if (200..300).contains(&status) {
            let is_kept = self.config.keep_heads && call.kind == CallKind::Page;
            reply.exchange = is_kept.then(|| headers::exchange(&url, &headers::of_call(call, &self.agents), &response));
            // Judged by the server's value, even if that is too long to be kept.
            let content_type = response.headers().get(CONTENT_TYPE);
            let content_type = content_type.map(|v| String::from_utf8_lossy(v.as_bytes()).into_owned());
            let is_unread = call.post.is_some() && call.kind != CallKind::Engine;
            reply.body_skipped = is_unread || !media::is_wanted(call.kind, content_type.as_deref());
            if !reply.body_skipped && status != 204 {
                let begins_well = |start: &[u8]| media::may_begin(call.kind, content_type.as_deref(), start);
                let (config, room, pool) = (&self.config, &self.room, self.pool.as_ref());
                let reader = Reader { kind: call.kind, config, room, pool };
                let body = reader.read(response, begins_well, deadline).await?;
                reply.body_skipped = body.is_none();
                reply.body = body.unwrap_or_default();
            }
        }
        reply.took = Millis::from_duration_ceil(started.elapsed());
        Ok(reply)
    }

    fn vet(&self, url: &str) -> Result<(), String> {
        guard::vet_url(url, &self.config.guard).map(drop).map_err(|e| e.to_string())
    }
}

/// Returns the status as which an answer to a GET is treated. A proxy that changed a document sends 203, a server that
/// supports deltas may send 226 with a whole document, and an unknown 2xx counts as 200 (RFC 9110 §15).
pub const fn status_as_read(status: u16) -> u16 {
    match status {
        203 | 209..=299 => 200,
        other => other,
    }
}

/// Returns the status of a final answer to a plain GET; 1xx, a part of a document and statuses above 599 are errors.
fn checked_status(status: StatusCode) -> Result<u16, FetchError> {
    match status_as_read(status.as_u16()) {
        206 => Err(FetchError::Protocol("a part of the document (206) that nobody asked for".into())),
        status @ 200..=599 => Ok(status),
        other => Err(FetchError::Protocol(format!("the status {other} is no answer to a GET"))),
    }
}

fn builder(config: &Config, resolver: &VettingResolver) -> Result<ClientBuilder, ConfigError> {
    let roots = config.extra_roots.iter().map(|der| Certificate::from_der(der).map_err(ConfigError::Root));
    let roots: Vec<Certificate> = roots.collect::<Result<_, _>>()?;
    let builder = Client::builder()
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .referer(false)
        .retry(reqwest::retry::never())
        .dns_resolver(resolver.clone())
        .connect_timeout(config.connect_timeout.as_duration())
        .read_timeout(config.read_timeout.as_duration())
        .pool_max_idle_per_host(MAX_IDLE_PER_HOST)
        .pool_idle_timeout(IDLE_TIMEOUT)
        .connector_layer(MapRequestLayer::new(connections::note_opened))
        // A client has to read folded lines (RFC 9112 §5.2). Invalid lines are ignored, as in browsers.
        .http1_allow_obsolete_multiline_headers_in_responses(true)
        .http1_allow_spaces_after_header_name_in_responses(true)
        .http1_ignore_invalid_headers_in_responses(true)
        .http1_max_headers(MAX_HEADER_LINES)
        .http2_max_header_list_size(MAX_HEADER_LIST_BYTES);
    Ok(if roots.is_empty() { builder } else { builder.tls_certs_merge(roots) })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot be set up has to fail")]
    use super::*;
    use crate::tests::server::{Server, call, html};

    /// Restores on purpose what [`builder`] rules out: a proxy that resolves names itself.
    #[tokio::test]
    async fn u33_an_answer_from_an_address_that_was_not_vetted_is_refused() {
        let (server, proxy) = (Server::saying(html("direct")).await, Server::saying(html("proxied")).await);
        let mut fetcher = server.fetcher();
        let through = reqwest::Proxy::http(format!("http://{}", proxy.addr)).unwrap();
        fetcher.client = Client::builder().proxy(through).build().unwrap();
        for url in ["http://site.test/", "http://other.test/"] {
            let result = call(&fetcher, CallKind::Page, url).await;
            assert!(matches!(&result, Err(FetchError::Refused(why)) if why.contains("not vetted")), "{result:?}");
        }
        assert_eq!((server.connections(), proxy.connections()), (0, 2));
    }

    #[test]
    fn a_literal_has_to_answer_itself() {
        let fetcher = HttpFetcher::new(Config::new("Test/1", "Test/1")).unwrap();
        for (url, peer, allowed) in [
            ("http://93.184.216.34/", Some("93.184.216.34:80"), true),
            ("http://93.184.216.34/", Some("127.0.0.1:80"), false),
            ("http://93.184.216.34/", None, false),
            ("http://[2606:2800::1]/", Some("[2606:2800::1]:80"), true),
            ("http://[2606:2800::1]/", Some("[::1]:80"), false),
        ] {
            let peer = peer.map(|text| text.parse().unwrap());
            assert_eq!(fetcher.check_peer(&Url::parse(url).unwrap(), peer).is_ok(), allowed, "{url} {peer:?}");
        }
    }
}
