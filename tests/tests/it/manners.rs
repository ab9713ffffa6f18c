//! Crawls servers with odd manners side by side. Browsers tolerate all of these manners, and none of them may lose a
//! page.

use curlew_tests::{BRISK, Child, LIMIT, Store};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

/// Number of articles of each site.
const PAGES: usize = 5;
/// Time after which a server closes an idle connection. It is close to the program's pause, so that closes and requests
/// cross.
const IDLE: Duration = Duration::from_millis(70);
const SETTINGS: &str = "[rules]\nadaptive = false\n[pages]\nimage = \"optional\"\n";
const WORDS: [&str; 24] = [
    "harbour", "tide", "stone", "wall", "morning", "heron", "marsh", "lantern", "rope", "slate", "copper", "garden",
    "bread", "kettle", "window", "meadow", "river", "oak", "ferry", "market", "winter", "letter", "saddle", "orchard",
];

/// The way in which a server answers.
#[derive(Clone, Copy)]
struct Manner {
    name: &'static str,
    status: &'static str,
    /// Additional header lines of each answer.
    lines: &'static str,
    /// Bytes after a compressed body; `None` if bodies are not compressed.
    gzip: Option<&'static [u8]>,
    ends: Ends,
}

/// The way in which a server ends a connection.
#[derive(Clone, Copy, PartialEq)]
enum Ends {
    /// The connection ends with each answer, which says so.
    Stated,
    /// The connection ends some time after the last answer.
    Idle,
    /// The connection ends when the second request has arrived.
    Closed,
    /// The connection is reset when the second request has arrived.
    Reset,
}

const PLAIN: Manner = Manner { name: "plain", status: "200 OK", lines: "", gzip: None, ends: Ends::Stated };
const MANNERS: [Manner; 14] = [
    PLAIN,
    Manner { name: "folded", lines: "X-Policy:\r\n\tdefault-src 'self';\r\n\tscript-src 'self'\r\n", ..PLAIN },
    Manner { name: "blanks", lines: "X-Powered-By : a thing\r\n", ..PLAIN },
    Manner { name: "nocolon", lines: "this is no header\r\n", ..PLAIN },
    Manner { name: "control", lines: "Set-Cookie: a=b\x01c\r\nSet-Cookie: d=\x7f\r\n", ..PLAIN },
    Manner { name: "charset", lines: "Content-Encoding: UTF-8\r\n", ..PLAIN },
    Manner { name: "nothing", lines: "Content-Encoding: none\r\n", ..PLAIN },
    Manner { name: "both", lines: "Content-Encoding: gzip, utf-8\r\n", gzip: Some(&[]), ..PLAIN },
    Manner { name: "padded", lines: "Content-Encoding: gzip\r\n", gzip: Some(&[0; 512]), ..PLAIN },
    Manner { name: "proxied", status: "203 Non-Authoritative Information", ..PLAIN },
    Manner { name: "delta", status: "226 IM Used", ..PLAIN },
    Manner { name: "idle", lines: "Keep-Alive: timeout=5\r\n", ends: Ends::Idle, ..PLAIN },
    Manner { name: "closes", ends: Ends::Closed, ..PLAIN },
    Manner { name: "resets", ends: Ends::Reset, ..PLAIN },
];
/// A server whose feed exceeds the size limit.
const LARGE: Manner = Manner { name: "large", ..PLAIN };
/// Length of that feed in bytes.
const LARGE_BYTES: usize = 11 << 20;

/// Returns pseudorandom words, which follow from the seed.
fn words(seed: &str, count: usize) -> String {
    let mut state = seed.bytes().fold(7_u64, |state, byte| state.wrapping_mul(31).wrapping_add(byte.into()));
    let mut word = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        WORDS[(state >> 33) as usize % WORDS.len()]
    };
    (0..count).map(|_| word()).collect::<Vec<_>>().join(" ")
}

fn document(host: &str, path: &str) -> (&'static str, String) {
    let title = words(&format!("{host}{path}"), 4);
    match path {
        "/robots.txt" => ("text/plain", "User-agent: *\nDisallow: /private/\n".to_owned()),
        "/" => {
            let link = r#"<link rel="alternate" type="application/rss+xml" href="/feed.xml">"#;
            ("text/html", format!("<html><head><title>{host}</title>{link}</head><body>home</body></html>"))
        }
        // Not even the media type shows that this is a feed.
        "/feed.xml" => {
            let items = (0..PAGES).map(|n| format!("<item><title>{n}</title><link>http://{host}/p/{n}</link></item>"));
            let head = format!("<title>{host}</title><link>http://{host}/</link>");
            let feed = format!("<rss version=\"2.0\"><channel>{head}{}</channel></rss>", items.collect::<String>());
            let padding = if host == "large.test" { LARGE_BYTES } else { 0 };
            ("binary/octet-stream", format!("{feed}{}", " ".repeat(padding)))
        }
        _ => {
            let text: String = (0..4).map(|n| format!("<p>{}.</p>", words(&format!("{host}{path}{n}"), 40))).collect();
            let body = format!("<article><h1>{title}</h1>{text}</article>");
            ("text/html", format!("<html><head><title>{title}</title></head><body>{body}</body></html>"))
        }
    }
}

fn read_head(stream: &mut TcpStream) -> Option<String> {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).ok()?;
        head.push(byte[0]);
    }
    String::from_utf8(head).ok()
}

fn serve(mut stream: TcpStream) -> Option<()> {
    let mut resets = false;
    for number in 0.. {
        if resets {
            // Closing a connection with unread data makes a reset.
            return stream.read_exact(&mut [0]).ok();
        }
        let head = read_head(&mut stream)?;
        let path = head.split(' ').nth(1)?;
        let host = head.lines().find_map(|line| line.to_lowercase().strip_prefix("host: ").map(str::to_owned))?;
        let manner = MANNERS.iter().chain([&LARGE]).find(|manner| host == format!("{}.test", manner.name))?;
        match manner.ends {
            Ends::Closed if number > 0 => return Some(()),
            Ends::Reset => resets = true,
            Ends::Idle => stream.set_read_timeout(Some(IDLE)).ok()?,
            _ => {}
        }
        let (media, text) = document(&host, path);
        let mut body = text.into_bytes();
        if let Some(after) = manner.gzip {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
            encoder.write_all(&body).ok()?;
            body = [&encoder.finish().ok()?[..], after].concat();
        }
        let end = if manner.ends == Ends::Stated { "Connection: close\r\n" } else { "" };
        let Manner { status, lines, .. } = manner;
        let head =
            format!("HTTP/1.1 {status}\r\nContent-Type: {media}\r\n{lines}{end}Content-Length: {}\r\n\r\n", body.len());
        stream.write_all(&[head.as_bytes(), &body].concat()).ok()?;
        if manner.ends == Ends::Stated {
            return Some(());
        }
    }
    None
}

fn start() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        listener.incoming().flatten().for_each(|stream| drop(std::thread::spawn(|| serve(stream))));
    });
    addr
}

#[test]
fn t19_no_manner_of_a_server_loses_a_page() {
    let mut store = Store::alone();
    store.configure(SETTINGS);
    let resolve = format!("*.test={}", start());
    let hosts = MANNERS.map(|manner| format!("{}.test", manner.name));
    let starts = hosts.clone().map(|host| format!("http://{host}/"));
    let args = ["crawl", "--json", "--resolve", &resolve].into_iter().chain(starts.iter().map(String::as_str));
    let mut crawl = store.command(&args.collect::<Vec<_>>());
    crawl.envs(BRISK);
    Child::spawn(crawl).wait(LIMIT).ok();
    for host in hosts {
        let all: BTreeSet<String> = (0..PAGES).map(|n| format!("http://{host}/p/{n}")).collect();
        let found: BTreeSet<String> = store.found(&format!("site:{host}")).into_iter().collect();
        assert_eq!(found, all, "{host}");
    }
}

#[test]
fn a_feed_that_is_too_large_says_so_with_the_limit_whether_it_was_found_or_named() {
    let resolve = format!("*.test={}", start());
    for named in [&["http://large.test/"][..], &["--feed", "http://large.test/feed.xml"]] {
        let store = Store::alone();
        let mut crawl = store.command(&[&["crawl", "--json", "--resolve", &resolve][..], named].concat());
        crawl.envs(BRISK);
        let summary = Child::spawn(crawl).wait(LIMIT).json();
        let reason = summary["failed"][0]["reason"].as_str().unwrap();
        assert!(reason.contains("the body is larger than 10485760 bytes"), "{summary}");
    }
}
