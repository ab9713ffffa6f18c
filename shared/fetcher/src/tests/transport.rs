//! Tests with servers that stall, drip, lie about lengths or do not speak HTTP.

use super::server::{
    FakeLookup, HTML, PAGE, Server, assert_case_fails, assert_fails, call, get, html, make, ok, page_under,
};
use crate::{Config, HttpFetcher};
use curlew_model::{Millis, Validators};
use curlew_ports::{CallKind, FetchError};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::AsyncWriteExt;

/// Returns the result of work that must end within a generous time, since the machine may be busy.
async fn soon<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(10), work).await.expect("an end in time")
}

fn hasty(server: &Server) -> Config {
    let brief = Millis(500);
    Config { connect_timeout: brief, read_timeout: brief, rate_grace: brief, ..server.config() }
}

/// Sends `first`, then `piece` for ever, with a pause after each piece.
async fn repeating(first: &str, piece: Vec<u8>, pause: Duration) -> Server {
    let first = first.to_owned();
    Server::with("127.0.0.1:0", move |mut stream, _| {
        let (first, piece) = (first.clone(), piece.clone());
        async move {
            stream.write_all(first.as_bytes()).await.ok();
            while stream.write_all(&piece).await.is_ok() {
                if !pause.is_zero() {
                    tokio::time::sleep(pause).await;
                }
            }
            stream
        }
    })
    .await
}

async fn dripping(first: &str) -> Server {
    repeating(first, b"x".to_vec(), Duration::from_millis(50)).await
}

async fn endless(first: &str, piece: Vec<u8>) -> Server {
    repeating(first, piece, Duration::ZERO).await
}

/// Returns a configuration under which the site is at an address without a [`Server`].
fn config_of(addr: std::net::SocketAddr) -> Config {
    let mut config = Config::new("Test/1", "Test/1");
    config.connect_timeout = Millis(500);
    config.guard.resolve = vec![format!("site.test={addr}").parse().unwrap()];
    config
}

#[tokio::test]
async fn t01_silence_during_the_handshake_ends_with_the_connect_timeout() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let fetcher = HttpFetcher::new(config_of(listener.local_addr().unwrap())).unwrap();
    assert_fails(&soon(call(&fetcher, CallKind::Page, "https://site.test/")).await, "Network", "cause: Timeout");
}

#[tokio::test]
async fn a_refused_connection_is_the_networks_trouble() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let config = config_of(listener.local_addr().unwrap());
    drop(listener);
    assert_fails(&page_under(config).await, "Network", "cause: ConnectionRefused");
}

#[tokio::test]
async fn t02_a_header_drip_ends_with_the_read_timeout() {
    let server = dripping("HTTP/1.1 200 OK\r\n").await;
    assert_fails(&soon(page_under(hasty(&server))).await, "Cut", "silent");
}

#[tokio::test]
async fn t03_a_body_drip_ends_by_its_rate() {
    let server = dripping(&format!("{HTML}\r\n")).await;
    assert_fails(&soon(page_under(hasty(&server))).await, "Limit", "1024 bytes a second");
}

#[tokio::test]
async fn t03_t04_a_body_drip_ends_with_the_calls_time_even_without_a_rate() {
    let server = dripping(&format!("{HTML}\r\n")).await;
    let fetcher = HttpFetcher::new(Config { min_rate: 0, ..hasty(&server) }).unwrap();
    let started = Instant::now();
    let brief = curlew_ports::Call { time: Millis(700), ..get(CallKind::Page, PAGE) };
    assert_fails(&soon(make(&fetcher, &brief)).await, "Limit", "time");
    assert!(started.elapsed() >= Duration::from_millis(700));
}

#[tokio::test]
async fn the_time_of_a_call_has_an_upper_bound_and_counts_from_its_start() {
    let server = Server::stalling("").await;
    let config = Config { call_timeout: Millis(600), ..server.config() };
    assert_fails(&soon(page_under(config)).await, "Cut", "time of the call");
}

#[tokio::test]
async fn t04_an_endless_body_ends_at_the_byte_limit() {
    let chunk = [b"4000\r\n".as_slice(), &[b'a'; 0x4000], b"\r\n"].concat();
    let server = endless(&format!("{HTML}Transfer-Encoding: chunked\r\n\r\n"), chunk).await;
    assert_fails(&server.page().await, "Limit", "3145728 bytes");
}

#[tokio::test]
async fn t04_a_body_whose_announced_length_is_too_large_is_not_begun() {
    let server = Server::stalling(format!("{HTML}Content-Length: 3145729\r\n\r\n")).await;
    assert_fails(&soon(server.page()).await, "Limit", "");
}

#[tokio::test]
async fn r02_robots_txt_is_read_up_to_its_limit_which_is_no_error() {
    let server =
        endless("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n", b"Disallow: /0123456789\n".repeat(1000)).await;
    let reply = call(&server.fetcher(), CallKind::Robots, "http://site.test/robots.txt").await.unwrap();
    assert_eq!(reply.body.len(), 512 << 10);
    let announced = Server::saying(ok("", &vec![b'#'; (512 << 10) + 1])).await;
    let reply = call(&announced.fetcher(), CallKind::Robots, "http://site.test/robots.txt").await.unwrap();
    assert_eq!((reply.body.len(), reply.body_skipped), (512 << 10, false));
}

#[tokio::test]
async fn limits_are_by_kind_and_a_body_of_exactly_the_limit_is_whole() {
    let limits = [
        (CallKind::Page, 3 << 20, "text/html"),
        (CallKind::Feed, 10 << 20, "text/xml"),
        (CallKind::Image, 8 << 20, "image/png"),
    ];
    for (kind, limit, media) in limits {
        for (extra, fits) in [(0, true), (1, false)] {
            let body = vec![b'a'; limit + extra];
            let head = format!("HTTP/1.1 200 OK\r\nContent-Type: {media}\r\n\r\n");
            let server = Server::saying([head.as_bytes(), &body].concat()).await;
            let result = call(&server.fetcher(), kind, PAGE).await;
            match result {
                Ok(reply) => assert!(fits && reply.body.len() == limit, "{kind:?}"),
                Err(error) => assert!(!fits && matches!(error, FetchError::Limit(_)), "{kind:?}: {error}"),
            }
        }
    }
}

#[tokio::test]
async fn t05_a_body_shorter_than_announced_is_an_error() {
    let cut = [
        "Content-Length: 100\r\n\r\nonly this",
        "Transfer-Encoding: chunked\r\n\r\n9\r\nonly this\r\n",
        "Transfer-Encoding: chunked\r\n\r\n99\r\nonly this",
    ];
    for answer in cut {
        let result = Server::saying(format!("{HTML}{answer}")).await.page().await;
        assert_case_fails(answer, &result, "Cut", "\"the answer was cut short\"");
    }
}

#[tokio::test]
async fn t05_no_answer_from_a_server_that_was_reached_says_little_about_it() {
    for answer in ["", "HTTP/1.1 200 OK\r\nContent-Ty"] {
        assert_case_fails(answer, &Server::saying(answer).await.page().await, "Cut", "");
    }
}

#[tokio::test]
async fn t06_without_a_length_the_end_of_the_connection_ends_the_body() {
    let server = Server::saying(format!("{HTML}\r\n<p>all there is")).await;
    assert_eq!(&server.page().await.unwrap().body[..], b"<p>all there is");
}

#[tokio::test]
async fn t07_two_lengths_are_refused() {
    let two = format!("{HTML}Content-Length: 4\r\nContent-Length: 5\r\n\r\nabcde");
    assert_fails(&Server::saying(two).await.page().await, "Protocol", "");
}

#[tokio::test]
async fn t08_of_a_length_and_chunks_the_chunks_win() {
    let both = format!("{HTML}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n0\r\n\r\n");
    assert_eq!(&Server::saying(both).await.page().await.unwrap().body[..], b"abcde");
}

#[tokio::test]
async fn broken_chunks_are_no_http() {
    let broken = format!("{HTML}Transfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n");
    assert_fails(&Server::saying(broken).await.page().await, "Protocol", "framed");
}

#[tokio::test]
async fn t09_more_than_256_header_lines_are_refused() {
    let lines = |n: usize| (0..n).map(|i| format!("X-{i}: y\r\n")).collect::<String>();
    // Content-Length is the last line.
    assert!(Server::saying(ok(&lines(255), b"in")).await.page().await.is_ok());
    assert_fails(&Server::saying(ok(&lines(256), b"in")).await.page().await, "Protocol", "");
}

#[tokio::test]
async fn t10_t11_headers_over_1_kib_are_neither_kept_nor_sent_back() {
    let long = "e".repeat(300 << 10);
    let headers = format!("Content-Type: text/html\r\nETag: \"{long}\"\r\nX-Robots-Tag: noindex\r\n");
    let reply = Server::saying(ok(&headers, b"in")).await.page().await.unwrap();
    assert_eq!((reply.headers.validators.etag, reply.headers.robots_tags), (None, vec!["noindex".into()]));

    let server = Server::saying(html("in")).await;
    let mut call = get(CallKind::Page, PAGE);
    call.validators = Validators { etag: Some(long), last_modified: Some("yesterday".into()) };
    make(&server.fetcher(), &call).await.unwrap();
    let head = server.heads()[0].to_ascii_lowercase();
    assert!(!head.contains("if-none-match") && head.contains("if-modified-since: yesterday\r\n"), "{head}");
}

#[tokio::test]
async fn t10_a_header_block_without_end_is_refused() {
    let server = endless("HTTP/1.1 200 OK\r\nX-Long: ", vec![b'x'; 1 << 16]).await;
    assert_fails(&server.page().await, "Protocol", "");
}

#[tokio::test]
async fn t12_what_is_not_http_is_refused() {
    for answer in [
        "HTTP/1.1 200 OK\r\nX-Control: a\0b\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 abc OK\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 20 OK\r\nContent-Length: 0\r\n\r\n",
        "HTTP/9.9 200 OK\r\nContent-Length: 0\r\n\r\n",
        "<html>an answer of HTTP/0.9</html>",
        "SSH-2.0-OpenSSH_9.9\r\n",
        "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\r\n\r\n",
    ] {
        assert_case_fails(answer, &Server::saying(answer).await.page().await, "Protocol", "");
    }
}

#[tokio::test]
async fn t12_a_header_line_that_is_none_is_left_out_and_a_folded_one_is_read() {
    for dirt in [
        "X-Policy: \r\n\tdefault-src 'self';\r\n  script-src 'self'\r\n",
        "X-Powered-By : x\r\n",
        "this is no header\r\n",
        "X Space: a\r\n",
        "Set-Cookie: a=\x01b\r\n",
        "Set-Cookie: a=\x7f; path=/\r\n  folded: too\r\n",
        ": nameless\r\n",
        "X-Latin: \u{e9}\r\n",
    ] {
        let headers = format!("Content-Type: text/html\r\n{dirt}X-Robots-Tag: noindex,\r\n nofollow\r\n");
        let reply = Server::saying(ok(&headers, b"tide")).await.page().await.unwrap();
        assert_eq!(
            (&reply.body[..], &reply.headers.robots_tags[..]),
            (&b"tide"[..], &["noindex, nofollow".to_owned()][..])
        );
    }
}

/// A body's length is read correctly however its line is written; contradicting lengths are refused.
#[tokio::test]
async fn t07_t08_t12_dirty_lines_smuggle_no_second_answer() {
    let second = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5\r\n\r\nsmuggled";
    for framing in [
        "Content-Length : 4\r\nContent-Length: 5\r\n",
        "Content-Length: 4\r\n 5\r\n",
        "Content-Length: 4, 5\r\n",
        "Content-Length: +4\r\n",
        "Content-Length: 4\r\nContent-Length:\r\n",
    ] {
        let answer = format!("{HTML}{framing}\r\ntide{second}");
        assert_case_fails(framing, &Server::saying(answer).await.page().await, "Protocol", "");
    }
    let (chunks, all) = (format!("4\r\ntide\r\n0\r\n\r\n{second}"), format!("tide{second}"));
    for (framing, sent, body) in [
        ("Transfer-Encoding : chunked\r\n", &chunks, "tide"),
        ("Transfer-Encoding:\r\n chunked\r\nContent-Length: 4\r\n", &chunks, "tide"),
        // An invalid framing line is ignored: the body ends with its connection, and no part of it answers another
        // call.
        ("Content-Length: 4\x01\r\n", &all, all.as_str()),
        ("Transfer-Encoding: chunked\x7f\r\n", &all, all.as_str()),
    ] {
        let server = Server::saying(format!("{HTML}{framing}\r\n{sent}")).await;
        let fetcher = server.fetcher();
        for connections in 1..=2 {
            let reply = call(&fetcher, CallKind::Page, PAGE).await.unwrap();
            assert_eq!((&reply.body[..], server.connections()), (body.as_bytes(), connections), "{framing:?}");
        }
    }
}

#[tokio::test]
async fn t14_a_success_that_http_does_not_know_is_a_200() {
    for (status, read) in [(203, 200), (218, 200), (226, 200), (299, 200), (201, 201), (202, 202), (207, 207)] {
        let answer = format!("HTTP/1.1 {status} X\r\nContent-Type: text/html\r\nContent-Length: 4\r\n\r\ntide");
        let reply = Server::saying(answer).await.page().await.unwrap();
        assert_eq!((reply.status, &reply.body[..]), (read, &b"tide"[..]), "{status}");
    }
}

#[tokio::test]
async fn t14_only_final_answers_to_a_plain_get_are_taken() {
    for status in [206, 600, 999] {
        let answer = format!("HTTP/1.1 {status} X\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\r\nab");
        assert_fails(&Server::saying(answer).await.page().await, "Protocol", "");
    }
    let upgrade = "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n";
    assert_fails(&Server::saying(upgrade).await.page().await, "Protocol", "");

    let no_content = "HTTP/1.1 204 No Content\r\nContent-Type: text/html\r\nContent-Length: 5\r\n\r\nhello";
    let reply = Server::saying(no_content).await.page().await.unwrap();
    assert_eq!((reply.status, reply.body.len()), (204, 0));

    let informed = format!("HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n{HTML}Content-Length: 2\r\n\r\nok");
    assert_eq!(&Server::saying(informed).await.page().await.unwrap().body[..], b"ok");
}

#[tokio::test]
async fn t14_a_flood_of_1xx_ends_in_time() {
    let server = endless("", b"HTTP/1.1 100 Continue\r\n\r\n".repeat(100)).await;
    assert_fails(&soon(page_under(hasty(&server))).await, "Cut", "");
}

#[tokio::test]
async fn t14_the_body_of_an_error_page_is_not_waited_for() {
    for status in [301, 304, 404, 403, 429, 500, 503] {
        let head = format!("HTTP/1.1 {status} X\r\nRetry-After: 120\r\nContent-Length: 1000000\r\n\r\n");
        let reply = soon(Server::stalling(head).await.page()).await.unwrap();
        assert_eq!((reply.status, reply.body.len(), reply.headers.retry_after.as_deref()), (status, 0, Some("120")));
    }
}

#[tokio::test]
async fn t17_retry_after_comes_back_as_it_was_written() {
    for value in ["99999999999", "-1", "Fri, 99 Foo 2026 00:00:00 GMT"] {
        let answer = format!("HTTP/1.1 503 Busy\r\nRetry-After: {value}\r\nContent-Length: 0\r\n\r\n");
        assert_eq!(Server::saying(answer).await.page().await.unwrap().headers.retry_after.as_deref(), Some(value));
    }
}

#[tokio::test]
async fn t18_more_addresses_than_any_site_needs_are_refused() {
    let many = vec!["93.184.216.34"; 1_000];
    let fetcher = HttpFetcher::with_lookup(Config::new("Test/1", "Test/1"), FakeLookup::answering(&[&many])).unwrap();
    assert_fails(&call(&fetcher, CallKind::Page, "http://many.example/").await, "Network", "32");
}

#[tokio::test]
async fn t18_a_lookup_that_does_not_end_ends_with_the_connect_timeout() {
    struct Never;
    #[async_trait::async_trait]
    impl crate::resolver::Lookup for Never {
        async fn addresses(&self, _: &str) -> std::io::Result<Vec<std::net::IpAddr>> {
            std::future::pending().await
        }
    }
    let config = Config { connect_timeout: Millis(500), ..Config::new("Test/1", "Test/1") };
    let fetcher = HttpFetcher::with_lookup(config, Arc::new(Never)).unwrap();
    assert_fails(&soon(call(&fetcher, CallKind::Page, "http://slow.example/")).await, "Network", "");
}

#[tokio::test]
async fn b14_a_body_of_another_media_type_is_left_unread() {
    for (kind, media) in [
        (CallKind::Page, "application/pdf"),
        (CallKind::Home, "image/png"),
        (CallKind::Image, "text/html"),
        (CallKind::Image, "image/svg+xml"),
        (CallKind::Image, "application/octet-stream"),
        (CallKind::Home, "text/plain"),
        (CallKind::Feed, "video/mp4"),
    ] {
        let answer = format!("HTTP/1.1 200 OK\r\nContent-Type: {media}\r\n\r\nsomething");
        let server = Server::saying(answer).await;
        let reply = call(&server.fetcher(), kind, PAGE).await.unwrap();
        assert!(reply.body_skipped && reply.body.is_empty(), "{kind:?} {media}");
        assert_eq!(reply.headers.content_type.as_deref(), Some(media));
    }
}

#[tokio::test]
async fn b14_an_image_or_a_feed_without_a_type_is_known_by_its_first_bytes() {
    let image = [&b"\x89PNG\r\n\x1a\n"[..], &[7; 200_000]].concat();
    let feed = format!("<?xml version=\"1.0\"?><rss>{}</rss>", "<item/>".repeat(30_000));
    for (kind, body) in [(CallKind::Image, &image[..]), (CallKind::Home, feed.as_bytes())] {
        for label in ["application/octet-stream", "binary/octet-stream", "text/plain"] {
            let server = Server::saying(ok(&format!("Content-Type: {label}\r\n"), body)).await;
            let reply = call(&server.fetcher(), kind, PAGE).await.unwrap();
            assert!(!reply.body_skipped && reply.body == body, "{kind:?} {label}");
        }
    }
    // A document of an unwanted type is read only up to its first bytes.
    let server = endless("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n", b"a long story ".repeat(9)).await;
    let reply = call(&server.fetcher(), CallKind::Image, PAGE).await.unwrap();
    assert!(reply.body_skipped && reply.body.is_empty());
}

#[tokio::test]
async fn the_heads_of_a_page_are_handed_on_where_pages_are_kept_raw() {
    let answer = "HTTP/1.1 200 Fine\r\nContent-Type: text/html\r\nX-Tide: high\r\nContent-Length: 4\r\nConnection: close\r\n\r\ntide";
    let server = Server::saying(answer.as_bytes().to_vec()).await;
    let url = "http://site.test/a?b=1";
    assert_eq!(call(&server.fetcher(), CallKind::Page, url).await.unwrap().exchange, None);
    let fetcher = HttpFetcher::new(Config { keep_heads: true, ..server.config() }).unwrap();
    let exchange = call(&fetcher, CallKind::Page, url).await.unwrap().exchange.unwrap();
    let mut sent: Vec<String> = server.heads()[1].trim_end().lines().map(str::to_lowercase).collect();
    let mut kept: Vec<String> = exchange.request.lines().map(str::to_lowercase).collect();
    sent.sort();
    kept.sort();
    assert_eq!(kept, sent, "as it was sent");
    assert_eq!(
        exchange.response,
        "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nx-tide: high\r\nconnection: close\r\n"
    );
    assert_eq!(call(&fetcher, CallKind::Feed, url).await.unwrap().exchange, None, "of pages alone");
}
