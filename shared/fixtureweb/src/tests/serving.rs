//! Tests the server: conditional calls, codings, hostile bodies, odd requests, modes, the log.

use super::{client, demo, get, get_with, running};
use crate::{Catalogue, Farm, Kind, Mode};
use reqwest::header::{HeaderMap, HeaderValue};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

fn header(name: &'static str, value: &str) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(name, HeaderValue::from_str(value).unwrap());
    headers
}

#[tokio::test]
async fn an_unchanged_feed_is_answered_304() {
    let running = demo().await;
    let url = "http://bird-ledger.test/atom.xml";
    let first = get(&running, url).await.unwrap();
    let etag = first.headers()["etag"].to_str().unwrap().to_owned();
    let modified = first.headers()["last-modified"].to_str().unwrap().to_owned();
    assert_eq!(get_with(&running, url, header("if-none-match", &etag)).await.unwrap().status(), 304);
    assert_eq!(get_with(&running, url, header("if-modified-since", &modified)).await.unwrap().status(), 304);
    assert_eq!(get_with(&running, url, header("if-none-match", "\"other\"")).await.unwrap().status(), 200);
    let mut both = header("if-modified-since", &modified);
    both.insert("if-none-match", HeaderValue::from_static("\"other\""));
    assert_eq!(get_with(&running, url, both).await.unwrap().status(), 200);

    let links = running.publish("bird-ledger.test", 2);
    assert_eq!(links.len(), 2);
    let changed = get_with(&running, url, header("if-none-match", &etag)).await.unwrap();
    assert_eq!(changed.status(), 200);
    let text = changed.text().await.unwrap();
    for link in links {
        assert!(text.contains(&link));
        assert_eq!(get(&running, &link).await.unwrap().status(), 200);
    }
}

#[tokio::test]
async fn a_coding_is_used_when_it_is_offered() {
    let running = demo().await;
    for (url, coding) in [
        ("http://alpine-notes.test/", "gzip"),
        ("http://corriere-delle-colline.test/", "br"),
        ("http://the-slow-cyclist.test/index.xml", "zstd"),
    ] {
        let coded = get_with(&running, url, header("accept-encoding", &format!("{coding};q=0.5"))).await.unwrap();
        assert_eq!(coded.headers()["content-encoding"], coding);
        assert_eq!(coded.headers()["vary"], "accept-encoding");
        let coded = coded.bytes().await.unwrap();
        let plain = get_with(&running, url, header("accept-encoding", "identity")).await.unwrap();
        assert!(plain.headers().get("content-encoding").is_none());
        assert_ne!(plain.bytes().await.unwrap(), coded);
    }
}

fn host(url: &str) -> &str {
    url[7..].split('/').next().unwrap()
}

fn path(url: &str) -> &str {
    &url[7 + host(url).len()..]
}

async fn raw(running: &crate::Running, request: &str) -> Vec<u8> {
    let mut stream = tokio::net::TcpStream::connect(running.addr()).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    let _ = tokio::time::timeout(Duration::from_secs(1), stream.read_to_end(&mut answer)).await;
    answer
}

#[tokio::test]
async fn odd_requests_do_no_harm() {
    let running = demo().await;
    let huge = format!("GET / HTTP/1.1\r\nhost: keep-out.test\r\nx: {}\r\n\r\n", "y".repeat(100_000));
    for request in [
        "\r\n\r\n",
        "GET\r\n\r\n",
        "GET / HTTP/9.9\r\n\r\n",
        "GET / HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nhost: \r\nconnection: close\r\n\r\n",
        "GET http://[::1]:80/ HTTP/1.1\r\nhost: [::1]\r\nconnection: close\r\n\r\n",
        "GET /?%%%&&== HTTP/1.1\r\nhost: EARLY-ECHO.test.:99\r\nconnection: close\r\n\r\n",
        "OPTIONS * HTTP/1.1\r\nhost: early-echo.test\r\nconnection: close\r\n\r\n",
        "POST / HTTP/1.1\r\nhost: early-echo.test\r\ncontent-length: 5\r\nconnection: close\r\n\r\nhello",
        &huge,
    ] {
        raw(&running, request).await;
    }
    let answer = raw(&running, "POST / HTTP/1.1\r\nhost: early-echo.test\r\ncontent-length: 5\r\n\r\nhello").await;
    assert!(answer.starts_with(b"HTTP/1.1 405"), "{}", String::from_utf8_lossy(&answer));
    let answer = raw(&running, "GET / HTTP/1.1\r\nhost: EARLY-ECHO.test.:99\r\nconnection: close\r\n\r\n").await;
    assert!(answer.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&answer));
    assert_eq!(get(&running, "http://nobody-here.test/").await.unwrap().status(), 404);
}

#[tokio::test]
async fn rude_bodies_are_rude_and_are_logged() {
    let running = demo().await;
    let bomb = get(&running, "http://bomb-shelter.test/special").await.unwrap();
    assert_eq!(bomb.headers()["content-encoding"], "gzip");
    let mut decoder = flate2::read::GzDecoder::new(std::io::Cursor::new(bomb.bytes().await.unwrap()));
    assert!(std::io::copy(&mut decoder, &mut std::io::sink()).unwrap() > 64 << 20);

    let mut endless = get(&running, "http://fiume-senza-fine.test/special").await.unwrap();
    let mut bytes = 0;
    while bytes < 8 << 20 {
        bytes += endless.chunk().await.unwrap().unwrap().len();
    }
    drop(endless);

    let mut drip = get(&running, "http://slow-drip.test/special").await.unwrap();
    assert_eq!(drip.chunk().await.unwrap().unwrap().len(), 1);
    drop(drip);

    assert!(get(&running, "http://false-length.test/special").await.unwrap().bytes().await.is_err());
    assert!(get(&running, "http://hang-up.test/").await.is_err());
    tokio::time::sleep(Duration::from_millis(500)).await;
    let calls = running.calls();
    let call = |host: &str| calls.iter().find(|call| call.host == host).unwrap_or_else(|| panic!("{host} not logged"));
    assert!(call("bomb-shelter.test").bytes < 200_000);
    assert!(call("fiume-senza-fine.test").bytes >= 8 << 20);
    assert!(call("slow-drip.test").bytes < 10);
    assert_eq!(call("hang-up.test").status, 0);
}

#[tokio::test]
async fn modes_change_what_is_answered() {
    let running = demo().await;
    let site = running.farm().site("inchiostro-che-svanisce.test").unwrap();
    let (host, pages) = (site.host.clone(), site.entries().to_vec());
    assert!(running.set_mode(&host, Mode::Later));
    for (i, status) in [404, 410, 200, 200, 200].into_iter().enumerate() {
        assert_eq!(get(&running, &pages[i].0).await.unwrap().status(), status);
    }
    let third = get(&running, &pages[2].0).await.unwrap().text().await.unwrap();
    assert!(third.contains("noindex"));
    assert_eq!(get(&running, &pages[3].0).await.unwrap().headers()["x-robots-tag"], "noindex");

    let (page, feed) = (pages[5].0.as_str(), format!("http://{host}/feed.xml"));
    running.set_mode(&host, Mode::Pages(410));
    assert_eq!(get(&running, page).await.unwrap().status(), 410);
    assert_eq!(get(&running, &feed).await.unwrap().status(), 200);
    running.set_mode(&host, Mode::NoindexMeta);
    assert!(get(&running, page).await.unwrap().text().await.unwrap().contains("content=\"noindex\""));
    running.set_page_mode(&host, path(page), Mode::Pages(404));
    assert_eq!(get(&running, page).await.unwrap().status(), 404);
    running.set_mode(&host, Mode::Normal);
    assert_eq!(get(&running, &pages[0].0).await.unwrap().status(), 200);
    assert!(!running.set_mode("nobody-here.test", Mode::Normal));
}

#[tokio::test]
async fn limits_of_manners_are_kept() {
    let running = demo().await;
    let pages: Vec<String> =
        running.farm().site("forno-affollato.test").unwrap().entries().iter().map(|(url, _)| url.clone()).collect();
    for url in &pages[..3] {
        assert_eq!(get(&running, url).await.unwrap().status(), 200);
    }
    let refused = get(&running, &pages[3]).await.unwrap();
    assert_eq!((refused.status().as_u16(), refused.headers()["retry-after"].to_str().unwrap()), (429, "120"));

    assert_eq!(get(&running, "http://metronome.test/robots.txt").await.unwrap().status(), 200);
    assert_eq!(get(&running, "http://metronome.test/").await.unwrap().status(), 429);
    tokio::time::sleep(Duration::from_millis(1_000)).await;
    assert_eq!(get(&running, "http://metronome.test/").await.unwrap().status(), 200);
}

#[tokio::test]
async fn calls_are_logged_in_full_and_to_the_file() {
    let path = std::env::temp_dir().join(format!("curlew-fixtureweb-{}.jsonl", std::process::id()));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let file = std::fs::File::create(&path).unwrap();
    let running = crate::serve_logged(crate::Farm::demo().into(), listener, Some(file)).await;
    get_with(&running, "http://lumaca-lenta.test/?a=b", header("x-note", "hello")).await.unwrap().text().await.unwrap();
    let calls = running.calls();
    let call = calls.first().unwrap();
    assert_eq!((call.host.as_str(), call.path.as_str(), call.method.as_str()), ("lumaca-lenta.test", "/?a=b", "GET"));
    assert_eq!((call.kind, call.status, call.user_agent.as_str()), (Kind::Home, 200, "CurlewBot/0 (test)"));
    assert_eq!(call.header("x-note"), Some("hello"));
    assert!(call.end - call.start >= 1_200_000 && call.bytes > 500);
    let line = std::fs::read_to_string(&path).unwrap();
    assert_eq!(&serde_json::from_str::<crate::Call>(line.trim()).unwrap(), call);
    running.clear_calls();
    assert!(running.calls().is_empty());
    let addr = running.addr();
    running.stop().await;
    assert!(client().get(format!("http://{addr}/")).send().await.is_err());
    std::fs::remove_file(&path).unwrap();
}

#[tokio::test]
async fn new_articles_appear_in_the_first_document_only() {
    let running = running(Farm::catalogues(&[(Catalogue::WordPress, 30)])).await;
    let new = running.publish("catalogue-wordpress.test", 1);
    for (path, entries) in [("/feed/", 11), ("/feed/?paged=2", 10)] {
        let text =
            get(&running, &format!("http://catalogue-wordpress.test{path}")).await.unwrap().text().await.unwrap();
        assert_eq!((text.matches("<item>").count(), text.contains(&new[0])), (entries, entries == 11));
    }
    assert_eq!(get(&running, &new[0]).await.unwrap().status(), 200);
    running.stop().await;
}
