//! Tests of the addresses that are connected to, as seen by servers.

use super::server::{FakeLookup, Server, assert_fails, call, get, html};
use crate::resolver::{Lookup, SystemLookup};
use crate::{Config, HttpFetcher};
use curlew_ports::{CallKind, Fetch, FetchError, Reply};
use std::sync::Arc;
use tokio::io::AsyncWriteExt;

/// Returns a fetcher that may call these networks on the server's port, and uses this resolver.
fn fetcher(server: &Server, nets: &[&str], lookup: &Arc<impl Lookup + 'static>) -> HttpFetcher {
    let mut config = Config::new("Test/1", "Test/1");
    config.guard.ports.insert(server.addr.port());
    config.guard.allow_nets = nets.iter().map(|net| net.parse().unwrap()).collect();
    HttpFetcher::with_lookup(config, lookup.clone()).unwrap()
}

fn url(server: &Server, host: &str) -> String {
    format!("http://{host}:{}/", server.addr.port())
}

#[tokio::test]
async fn u08_a_literal_never_reaches_the_resolver_and_is_refused_all_the_same() {
    let server = Server::saying(html("in")).await;
    let lookup = FakeLookup::answering(&[&["93.184.216.34"]]);
    let fetcher = fetcher(&server, &[], &lookup);
    for host in ["127.0.0.1", "2130706433", "[::ffff:127.0.0.1]", "0.0.0.0", "0"] {
        assert_fails(&call(&fetcher, CallKind::Page, &url(&server, host)).await, "Refused", "");
    }
    assert_eq!((lookup.asked(), server.connections()), (0, 0));
}

/// Asserts that the name was not called because of this address, and may be called once it has another.
fn assert_refused(result: &Result<Reply, FetchError>, address: &str) {
    assert_fails(result, "Network", "cause: Address");
    assert_fails(result, "Network", address);
}

#[tokio::test]
async fn u18_a_name_with_one_address_that_is_not_allowed_is_refused_whole() {
    let server = Server::saying(html("in")).await;
    let lookup = FakeLookup::answering(&[&["127.0.0.1", "10.1.2.3"]]);
    let result =
        call(&fetcher(&server, &["127.0.0.1/32"], &lookup), CallKind::Page, &url(&server, "both.example")).await;
    assert_refused(&result, "10.1.2.3");
    assert_eq!((lookup.asked(), server.connections()), (1, 0));
}

#[tokio::test]
async fn u19_rebinding_meets_a_refusal_since_check_and_connection_are_one_step() {
    // 127.0.0.2 stands for the public address; its server and the private one listen on the same port.
    let public = Server::with("127.0.0.2:0", |mut stream, _| async move {
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\npublic").await.ok();
        stream
    })
    .await;
    let inner = Server::with(&format!("127.0.0.1:{}", public.addr.port()), |stream, _| async move { stream }).await;
    let lookup = FakeLookup::answering(&[&["127.0.0.2"], &["127.0.0.1"]]);
    let fetcher = fetcher(&public, &["127.0.0.2/32"], &lookup);
    let first = call(&fetcher, CallKind::Page, &url(&public, "rebind.example")).await.unwrap();
    assert_eq!((&first.body[..], lookup.asked()), (&b"public"[..], 1));
    let second = call(&fetcher, CallKind::Page, &url(&public, "rebind.example")).await;
    assert_refused(&second, "127.0.0.1");
    assert_eq!((lookup.asked(), public.connections(), inner.connections()), (2, 1, 0));
}

#[tokio::test]
async fn u20_u21_what_cannot_be_looked_up_is_not_called() {
    let server = Server::saying(html("in")).await;
    for answers in [&[][..], &[&[][..]][..]] {
        let lookup = FakeLookup::answering(answers);
        let result =
            call(&fetcher(&server, &["127.0.0.0/8"], &lookup), CallKind::Page, &url(&server, "no.example")).await;
        assert_fails(&result, "Network", "cause: Dns");
        assert_fails(&result, "Network", "no.example");
    }
    let only_v6 = FakeLookup::answering(&[&["::1"]]);
    let result =
        call(&fetcher(&server, &["127.0.0.0/8"], &only_v6), CallKind::Page, &url(&server, "six.example")).await;
    assert_refused(&result, "::1");
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn a_name_of_the_hosts_file_is_called_there_and_judged_as_any_other() {
    let server = Server::saying(html("in")).await;
    let path = std::env::temp_dir().join(format!("curlew-hosts-{}-{}", std::process::id(), server.addr.port()));
    tokio::fs::write(&path, "127.0.0.1 localhost intranet.example\n").await.unwrap();
    let lookup = Arc::new(SystemLookup::with_hosts_file(&path));
    let with = |nets: &[&str]| fetcher(&server, nets, &lookup);
    let address = url(&server, "intranet.example");
    let refused = call(&with(&[]), CallKind::Page, &address).await;
    assert_refused(&refused, "127.0.0.1");
    assert_eq!(server.connections(), 0);
    let allowed = call(&with(&["127.0.0.0/8"]), CallKind::Page, &address).await;
    let gone = tokio::fs::remove_file(&path).await;
    assert_eq!((allowed.unwrap().status, server.connections()), (200, 1));
    gone.unwrap();
}

#[tokio::test]
async fn u22_u23_u25_a_redirect_comes_back_and_its_target_is_judged_like_any_url() {
    for target in
        ["http://127.0.0.1:9001/next", "file:///etc/passwd", "gopher://x.example/", "data:,x", "http://inner.internal/"]
    {
        let server =
            Server::saying(format!("HTTP/1.1 302 Found\r\nLocation: {target}\r\nContent-Length: 4\r\n\r\ngone")).await;
        let fetcher = server.fetcher();
        let reply = call(&fetcher, CallKind::Feed, "http://site.test/feed").await.unwrap();
        assert_eq!((reply.status, reply.headers.location.as_deref(), reply.body.len()), (302, Some(target), 0));
        assert!(fetcher.vet(target).is_err());
        assert_fails(&call(&fetcher, CallKind::Feed, target).await, "Refused", "");
        assert_eq!(server.heads().len(), 1);
    }
}

#[tokio::test]
async fn u24_a_redirect_without_a_target_has_no_location() {
    for answer in ["HTTP/1.1 302 Found\r\n\r\n", "HTTP/1.1 301 Moved\r\nLocation:\r\nContent-Length: 0\r\n\r\n"] {
        let reply = Server::saying(answer).await.page().await.unwrap();
        assert_eq!((reply.status / 100, reply.headers.location), (3, None));
    }
}

#[tokio::test]
async fn u27_credentials_are_never_sent() {
    let server = Server::saying(html("in")).await;
    let result = call(&server.fetcher(), CallKind::Page, "http://user:pw@site.test/").await;
    assert!(matches!(&result, Err(FetchError::Refused(why)) if !why.contains("pw")), "{result:?}");
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn u32_one_host_with_and_without_its_trailing_dot() {
    let server = Server::saying(html("in")).await;
    call(&server.fetcher(), CallKind::Page, "http://SITE.test./").await.unwrap();
    assert!(server.heads()[0].to_ascii_lowercase().contains("\r\nhost: site.test\r\n"), "{:?}", server.heads());
}

/// Environment variable of the test's child process, which makes the call: the address of the server.
const CHILD: &str = "CURLEW_TEST_SERVER";

/// Runs this test again in a child process with proxies in its environment.
#[tokio::test]
async fn u33_the_environment_s_proxy_is_not_obeyed() {
    if let Ok(addr) = std::env::var(CHILD) {
        return call_with_proxies_around(&addr).await;
    }
    let server = Server::saying(html("direct")).await;
    let proxy = Server::saying(html("proxied")).await;
    let mut child = tokio::process::Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "tests::address::u33_the_environment_s_proxy_is_not_obeyed", "--nocapture"]);
    for name in ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"] {
        child.env(name, format!("http://{}", proxy.addr));
    }
    let output = child.env(CHILD, server.addr.to_string()).output().await.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    assert_eq!((server.heads().len(), proxy.connections()), (1, 0));
}

async fn call_with_proxies_around(addr: &str) {
    let mut config = Config::new("Test/1", "Test/1");
    config.guard.resolve = vec![format!("site.test={addr}").parse().unwrap()];
    let reply = call(&HttpFetcher::new(config).unwrap(), CallKind::Page, "http://site.test/").await.unwrap();
    assert_eq!(&reply.body[..], b"direct");
}

#[tokio::test]
async fn u34_alt_svc_is_ignored_and_connections_belong_to_one_name() {
    let other = Server::saying(html("other")).await;
    let alt = format!("Alt-Svc: h2=\":{0}\"; ma=86400, http/1.1=\":{0}\"\r\n", other.addr.port());
    let answer = crate::tests::server::ok(&alt, b"origin");
    // The connection stays open, so that it could be reused for another name.
    let server = Server::stalling(answer).await;
    let fetcher = server.fetcher();
    for name in ["a.test", "b.test", "c.test"] {
        assert_eq!(&call(&fetcher, CallKind::Page, &format!("http://{name}/")).await.unwrap().body[..], b"origin");
    }
    assert_eq!((server.connections(), other.connections()), (3, 0));
}

#[tokio::test]
async fn u35_every_kind_of_call_passes_the_same_gate() {
    let server = Server::saying(html("in")).await;
    let fetcher = HttpFetcher::new(Config::new("Test/1", "Test/1")).unwrap();
    for kind in [CallKind::Robots, CallKind::Home, CallKind::Feed, CallKind::Page, CallKind::Image] {
        assert_fails(&fetcher.call(&get(kind, &format!("http://{}/", server.addr))).await, "Refused", "");
    }
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn u36_an_allowed_network_is_called_by_literal_and_by_name() {
    let server = Server::saying(html("lan")).await;
    let lookup = FakeLookup::answering(&[&["127.0.0.1"]]);
    let fetcher = fetcher(&server, &["127.0.0.0/8"], &lookup);
    for host in ["127.0.0.1", "nas.example"] {
        assert_eq!(&call(&fetcher, CallKind::Page, &url(&server, host)).await.unwrap().body[..], b"lan", "{host}");
    }
    assert_eq!(lookup.asked(), 1);
}

#[tokio::test]
async fn a_rule_replaces_the_port_for_connecting_only() {
    let server = Server::saying(html("in")).await;
    let fetcher = server.fetcher();
    for (url, host) in
        [("http://a.test/", "a.test"), ("http://a.test:9999/x", "a.test:9999"), ("http://b.a.test:80/", "b.a.test")]
    {
        call(&fetcher, CallKind::Page, url).await.unwrap();
        let head = server.heads().pop().unwrap().to_ascii_lowercase();
        assert!(head.contains(&format!("\r\nhost: {host}\r\n")), "{url}: {head}");
    }
}
