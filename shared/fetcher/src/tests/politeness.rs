//! Tests of the requests that sites receive, and of the parts of their answers that are kept.

use super::server::{Server, call, get, html, make, ok};
use crate::{Config, ConfigError, HttpFetcher};
use curlew_model::{SignatureHeaders, Validators};
use curlew_ports::{Call, CallKind, Fetch, FetchError, Post};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const KINDS: [CallKind; 5] = [CallKind::Robots, CallKind::Home, CallKind::Feed, CallKind::Page, CallKind::Image];

#[tokio::test]
async fn h01_h02_validators_are_sent_byte_for_byte_and_both() {
    for (etag, date) in [
        ("\"abc\"", "Sat, 29 Oct 1994 19:43:31 GMT"),
        ("W/\"0815-\u{e9}\"", "yesterday, about noon"),
        ("unquoted", "Sunday, 06-Nov-94 08:49:37 GMT"),
    ] {
        let server = Server::saying(format!("HTTP/1.1 304 Not Modified\r\nETag: {etag}\r\n\r\n")).await;
        for kind in KINDS {
            let mut call = get(kind, "http://site.test/");
            call.validators = Validators { etag: Some(etag.into()), last_modified: Some(date.into()) };
            let reply = make(&server.fetcher(), &call).await.unwrap();
            assert_eq!(
                (reply.status, reply.body.len(), reply.headers.validators.etag.as_deref()),
                (304, 0, Some(etag))
            );
            let head = server.heads().pop().unwrap();
            assert!(head.contains(&format!("\r\nif-none-match: {etag}\r\n")), "{head}");
            assert!(head.contains(&format!("\r\nif-modified-since: {date}\r\n")), "{head}");
        }
    }
}

#[tokio::test]
async fn h01_a_validator_that_cannot_stand_in_a_header_is_not_sent() {
    let server = Server::saying(html("in")).await;
    let mut call = get(CallKind::Feed, "http://site.test/");
    call.validators = Validators { etag: Some("\"a\r\nX-Injected: 1\"".into()), last_modified: Some(String::new()) };
    make(&server.fetcher(), &call).await.unwrap();
    let head = server.heads()[0].to_ascii_lowercase();
    assert!(!head.contains("x-injected") && !head.contains("if-none-match") && !head.contains("if-modified"), "{head}");
}

#[tokio::test]
async fn h12_h13_h14_h17_each_request_says_who_asks_and_nothing_else() {
    let server = Server::saying(ok("Set-Cookie: id=1\r\nContent-Type: text/html\r\n", b"in")).await;
    let fetcher = server.fetcher();
    for (kind, agent, accept) in [
        (CallKind::Robots, "Test/1 (+", "text/plain,"),
        (CallKind::Home, "Test/1 (+", "text/html,"),
        (CallKind::Feed, "TestFeed/1 (+", "application/atom+xml,"),
        (CallKind::Page, "Test/1 (+", "text/html,"),
        (CallKind::Image, "Test/1 (+", "image/jpeg,"),
    ] {
        call(&fetcher, kind, "http://site.test/a?b=c#fragment").await.unwrap();
        let head = server.heads().pop().unwrap();
        assert!(head.starts_with("GET /a?b=c HTTP/1.1\r\n"), "{head}");
        assert!(head.contains(&format!("\r\nuser-agent: {agent}https://bot.example/)\r\n")), "{head}");
        assert!(head.contains(&format!("\r\naccept: {accept}")) && head.contains("*/*;q=0.1\r\n"), "{head}");
        let mut names: Vec<&str> =
            head.lines().skip(1).filter_map(|line| line.split_once(':')).map(|(name, _)| name).collect();
        names.sort_unstable();
        assert_eq!(names, ["accept", "accept-encoding", "accept-language", "host", "user-agent"]);
    }
    assert!(server.heads().iter().all(|head| head.contains("\r\naccept-encoding: gzip, br, zstd\r\n")));
}

#[tokio::test]
async fn i01_a_signature_is_sent_as_it_is_and_what_cannot_stand_in_a_header_is_not() {
    let server = Server::saying(html("in")).await;
    let mut call = get(CallKind::Page, "http://site.test/");
    let agent = r#"sig1="https://search.example""#.to_owned();
    let input = r#"sig1=("@authority" "signature-agent";key="sig1");created=1;tag="web-bot-auth""#.to_owned();
    call.signature = Some(SignatureHeaders { agent, input, signature: "sig1=:YQ==:\r\nX-Injected: 1".to_owned() });
    make(&server.fetcher(), &call).await.unwrap();
    let head = server.heads()[0].clone();
    assert!(head.contains("\r\nsignature-agent: sig1=\"https://search.example\"\r\n"), "{head}");
    let covered = "\r\nsignature-input: sig1=(\"@authority\" \"signature-agent\";key=\"sig1\");created=1;tag=";
    assert!(head.contains(covered), "{head}");
    assert!(!head.to_ascii_lowercase().contains("x-injected"), "{head}");
}

#[tokio::test]
async fn i01_a_hostile_accept_signature_is_left_out() {
    let asked =
        |value: &str| Server::saying(ok(&format!("Accept-Signature: {value}\r\nContent-Type: text/html\r\n"), b"in"));
    let wanted = r#"sig1=("@authority");tag="web-bot-auth""#;
    assert_eq!(asked(wanted).await.page().await.unwrap().headers.accept_signature.as_deref(), Some(wanted));
    let long = format!("{wanted};x=\"{}\"", "y".repeat(64 << 10));
    assert_eq!(asked(&long).await.page().await.unwrap().headers.accept_signature, None);
    let many =
        format!("{wanted}\r\nAccept-Signature: a=(\"@method\")").replacen("a=", &format!("{}=", "a".repeat(4_060)), 1);
    assert_eq!(asked(&many).await.page().await.unwrap().headers.accept_signature, None, "together they are too long");
}

#[tokio::test]
async fn h17_u35_only_a_hub_is_posted_to_and_by_the_same_guard() {
    let server = Server::saying(ok("Content-Type: text/html\r\n", b"Thank you.")).await;
    let fetcher = server.fetcher();
    let form = Some(Post::form("hub.mode=subscribe&hub.topic=x".to_owned()));
    let post = |url: &str| Call { post: form.clone(), ..get(CallKind::Hub, url) };
    let reply = fetcher.call(&post("http://site.test/hub")).await.unwrap();
    assert_eq!((reply.status, reply.body.len(), reply.body_skipped), (200, 0, true));
    let head = server.heads().pop().unwrap();
    assert!(head.starts_with("POST /hub?"), "{head}");
    assert!(head.contains("\r\ncontent-type: application/x-www-form-urlencoded\r\n"), "{head}");
    assert!(head.contains("\r\ncontent-length: 30\r\n") && head.contains("TestFeed/1 (+"), "{head}");
    for inward in ["http://127.0.0.1/", "http://169.254.169.254/", "http://localhost/", "ftp://site.test/"] {
        assert!(matches!(fetcher.call(&post(inward)).await, Err(FetchError::Refused(_))), "{inward}");
    }
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn t15_cookies_and_referers_are_not_sent_to_the_next_call() {
    let server =
        Server::saying("HTTP/1.1 302 Found\r\nSet-Cookie: id=1\r\nLocation: /next\r\nContent-Length: 0\r\n\r\n").await;
    let fetcher = server.fetcher();
    for path in ["/", "/next"] {
        call(&fetcher, CallKind::Page, &format!("http://site.test{path}")).await.unwrap();
    }
    for head in server.heads() {
        let head = head.to_ascii_lowercase();
        assert!(!head.contains("cookie") && !head.contains("referer"), "{head}");
    }
}

#[tokio::test]
async fn every_header_that_is_acted_upon_is_kept() {
    let headers = "Content-Type: text/html; charset=UTF-8\r\nETag: W/\"x\"\r\nLast-Modified: L\r\nLocation: /l\u{e9}\r\n\
                   Retry-After: 7\r\nCache-Control: max-age=60\r\nCache-Control: private\r\nAge: 5\r\nExpires: E\r\n\
                   X-Robots-Tag: noindex\r\nX-Robots-Tag: otherbot: nofollow\r\nLink: </a>; rel=hub\r\nLink: </b>; rel=self\r\n";
    let kept = Server::saying(ok(headers, b"in")).await.page().await.unwrap().headers;
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(kept.content_type, some("text/html; charset=UTF-8"));
    assert_eq!(kept.validators, Validators { etag: some("W/\"x\""), last_modified: some("L") });
    assert_eq!((kept.location, kept.retry_after), (some("/l\u{e9}"), some("7")));
    assert_eq!((kept.cache_control, kept.age, kept.expires), (some("max-age=60, private"), some("5"), some("E")));
    assert_eq!(kept.robots_tags, ["noindex", "otherbot: nofollow"]);
    assert_eq!(kept.links, ["</a>; rel=hub", "</b>; rel=self"]);
}

#[tokio::test]
async fn h16_calls_to_one_host_share_a_connection() {
    let server = Server::with("127.0.0.1:0", |mut stream, _| async move {
        // The first head was read before; each answer is followed by reading the next head.
        loop {
            if stream.write_all(&html("in")).await.is_err() {
                return stream;
            }
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                match stream.read_u8().await {
                    Ok(byte) => head.push(byte),
                    Err(_) => return stream,
                }
            }
        }
    })
    .await;
    let fetcher = server.fetcher();
    for path in ["robots.txt", "feed", "page"] {
        call(&fetcher, CallKind::Page, &format!("http://site.test/{path}")).await.unwrap();
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn idle_connections_to_many_hosts_do_not_pile_up() {
    let open = Arc::new(AtomicUsize::new(0));
    let counter = open.clone();
    let server = Server::with("127.0.0.1:0", move |mut stream, _| {
        let open = counter.clone();
        async move {
            open.fetch_add(1, Ordering::SeqCst);
            stream.write_all(&html("in")).await.ok();
            // The copy ends when the client closes the connection.
            tokio::io::copy(&mut stream, &mut tokio::io::sink()).await.ok();
            open.fetch_sub(1, Ordering::SeqCst);
            stream
        }
    })
    .await;
    let fetcher = server.fetcher();
    for host in 0..200 {
        call(&fetcher, CallKind::Page, &format!("http://h{host}.test/")).await.unwrap();
    }
    assert_eq!(server.connections(), 200);
    let closed = async {
        while open.load(Ordering::SeqCst) > 0 {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), closed).await.unwrap();
}

#[tokio::test]
async fn the_time_that_a_reply_took_includes_its_body() {
    let server = Server::with("127.0.0.1:0", |mut stream, _| async move {
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 4\r\n\r\nab").await.ok();
        tokio::time::sleep(Duration::from_millis(300)).await;
        stream.write_all(b"cd").await.ok();
        stream
    })
    .await;
    let took = server.page().await.unwrap().took;
    assert!((300..10_000).contains(&took.0), "{took:?}");
}

#[test]
fn h14_a_user_agent_that_cannot_be_sent_is_a_wrong_configuration() {
    for (page, feed) in [("", "Feed/1"), ("Page/1", " "), ("Page/1\r\nX: 1", "Feed/1")] {
        assert!(matches!(HttpFetcher::new(Config::new(page, feed)), Err(ConfigError::Agent(_))), "{page:?} {feed:?}");
    }
}
