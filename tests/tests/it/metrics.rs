//! The metrics of `curlew serve`, read by the parser of Prometheus's client for Python and compared with their
//! documentation.

use curlew_tests::{Child, Server, Store, Web, get, request_with, until};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::net::{SocketAddr, TcpListener};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Number of pages that must be accepted before the metrics are checked.
const PAGES: f64 = 20.0;
/// Maximum time until these pages are accepted.
const CRAWLED: Duration = Duration::from_secs(180);
/// Maximum time until a server listens, and until it ends.
const END: Duration = Duration::from_secs(60);
/// Python program that prints the parsed metrics as JSON.
const READ: &str = "
import json, sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families as families
print(json.dumps([{'name': f.name, 'type': f.type, 'samples': [[s.name, s.labels, s.value] for s in f.samples]}
                  for f in families(sys.stdin.read())]))
";

/// Parses metrics. Panics if a number is not finite, because Python prints such a number in a form that is not JSON.
fn read(text: &str) -> Vec<Value> {
    let python = std::env::var_os("CURLEW_OPENMETRICS")
        .expect("CURLEW_OPENMETRICS names a Python with prometheus-client: `cargo xtask test` installs it");
    let mut child = Command::new(python)
        .args(["-c", READ])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let out = child.wait_with_output().unwrap();
    assert!(out.status.success(), "{}\n{text}", String::from_utf8_lossy(&out.stderr));
    serde_json::from_slice(&out.stdout).unwrap()
}

/// Starts a server with metrics at the address `metrics`.
fn serve(store: &Store, listen: SocketAddr, metrics: SocketAddr) -> Child {
    let mut command = store.command(&["serve", "--listen", &listen.to_string()]);
    command.env("CURLEW_METRICS_LISTEN", metrics.to_string());
    let child = Child::spawn(command);
    let listens = |addr| std::net::TcpStream::connect(addr).is_ok();
    until(END, || "the server does not listen".into(), || listens(metrics) && listens(listen));
    child
}

/// Returns the documented families, with the values of each label.
fn documented() -> BTreeMap<String, BTreeMap<String, BTreeSet<String>>> {
    let page = curlew_tests::read("docs/reference/metrics.md");
    let rows = page.lines().filter(|line| line.starts_with("| `"));
    let family = |row: &str| {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        let name = cells[0].trim_matches('`').trim_end_matches("_total").to_owned();
        let labels = cells[2].trim_matches('|').split(';').filter_map(|label| {
            let (name, values) = label.split_once(':')?;
            Some((name.trim().trim_matches('`').to_owned(), values.split(',').map(|v| v.trim().to_owned()).collect()))
        });
        (name, labels.collect())
    };
    rows.map(family).collect()
}

/// Returns the value of a series, or 0 if there is none.
fn number(text: &str, series: &str) -> f64 {
    let line = text.lines().find_map(|line| line.strip_prefix(series));
    line.and_then(|value| value.trim().parse().ok()).unwrap_or(0.0)
}

#[test]
fn a_crawl_in_numbers_is_read_by_the_parser_and_as_documented() {
    let web = Web::demo();
    let store = Store::brisk(&web);
    // The feeds are imported, which calls no site, so the server counts every answer of the sites.
    let feeds = web.farm().sites().iter().flat_map(|site| site.feed_urls());
    let outlines: String = feeds.map(|url| format!("<outline xmlUrl=\"{url}\"/>")).collect();
    let opml = store.file("feeds.opml", format!("<opml version=\"2.0\"><body>{outlines}</body></opml>"));
    store.run(&["import", "opml", &opml]).ok();
    // After this the feeds are overdue.
    store.let_pass(Duration::from_secs(86_400));
    let (listen, metrics) = (Server::free_address(), Server::free_address());
    let server = serve(&store, listen, metrics);
    assert_eq!(get(listen, "/metrics").status, 404, "the server's pages have no metrics");
    let (began, mut text) = (Instant::now(), String::new());
    while number(&text, "curlew_pages_total{verdict=\"accepted\"}") < PAGES
        || number(&text, "curlew_polls_total") < 1.0
        || number(&text, "curlew_holds_total{reason=\"too_many_requests\"}") < 1.0
        || number(&text, "curlew_pages_total{verdict=\"rejected\"}") < 1.0
    {
        assert!(began.elapsed() < CRAWLED, "{text}");
        std::thread::sleep(Duration::from_millis(200));
        text = get(metrics, "/metrics").text();
    }
    for path in ["/?q=farina", "/?q=nonesuchword", "/api/v1/search?q=%22"] {
        get(listen, path);
    }
    let answer = get(metrics, "/metrics");
    assert!(answer.header("content-type").unwrap().starts_with("application/openmetrics-text; version=1.0.0"));
    let (families, documented) = (read(&answer.text()), documented());
    let names: BTreeSet<&str> = families.iter().map(|family| family["name"].as_str().unwrap()).collect();
    assert_eq!(names, documented.keys().map(String::as_str).collect());
    let mut series = 0;
    for family in &families {
        let known = &documented[family["name"].as_str().unwrap()];
        for sample in family["samples"].as_array().unwrap() {
            series += 1;
            for (label, value) in sample[1].as_object().unwrap().iter().filter(|(label, _)| *label != "le") {
                let values = known.get(label).unwrap_or_else(|| panic!("{label} is not documented: {sample}"));
                assert!(values.contains(value.as_str().unwrap()), "{value} is not documented: {sample}");
            }
        }
    }
    assert!((100..2_000).contains(&series), "{series} series");
    let value = |name: &str, label: &str| -> f64 {
        let samples = families.iter().flat_map(|family| family["samples"].as_array().unwrap());
        let of = samples
            .filter(|s| s[0] == name && (label.is_empty() || s[1].as_object().unwrap().values().any(|v| v == label)));
        of.map(|sample| sample[2].as_f64().unwrap()).sum()
    };
    for (name, label) in [
        ("curlew_calls_total", "feed"),
        ("curlew_calls_total", "page"),
        ("curlew_received_bytes_total", "page"),
        ("curlew_politeness_wait_seconds_count", "pause"),
        ("curlew_holds_total", "too_many_requests"),
        ("curlew_polls_total", ""),
        ("curlew_poll_lateness_seconds_count", ""),
        ("curlew_pages_rejected_total", ""),
        ("curlew_search_seconds_count", "nothing"),
        ("curlew_store_bytes", "database"),
        ("curlew_store_free_bytes", ""),
        ("process_cpu_seconds_total", ""),
        ("process_resident_memory_bytes", ""),
        ("process_open_fds", ""),
    ] {
        assert!(value(name, label) > 0.0, "{name} {label}:\n{}", answer.text());
    }
    server.terminate();
    server.wait(END).ok();
}

#[test]
fn metrics_are_told_to_nobody_without_the_token() {
    let mut store = Store::alone();
    let (listen, metrics, token) = (Server::free_address(), Server::free_address(), "0123456789abcdef");
    store.configure(&format!("[metrics]\ntoken = \"{token}\"\n"));
    let server = serve(&store, listen, metrics);
    for path in ["/metrics", "/", "/nothing"] {
        let refused = get(metrics, path);
        assert_eq!((refused.status, refused.body.len()), (401, 0), "{path}");
    }
    let answer = request_with(metrics, "GET", "/metrics", &[("Authorization", "Bearer 0123456789abcdef")]);
    assert!(answer.status == 200 && answer.text().ends_with("# EOF\n"));
    assert_eq!(request_with(metrics, "GET", "/metrics", &[("Authorization", "Bearer 0123456789abcdee")]).status, 401);
    server.terminate();
    server.wait(END).ok();
    assert!(!store.run(&["config", "show"]).ok().stdout.contains(token), "the token is not shown");
}

#[test]
fn an_address_for_everybody_needs_a_token_and_a_taken_one_is_no_reason_to_end() {
    let store = Store::alone();
    let mut command = store.command(&["serve", "--listen", &Server::free_address().to_string()]);
    command.env("CURLEW_METRICS_LISTEN", "0.0.0.0:9464");
    Child::spawn(command).wait(END).refused(2, &["[metrics] token"]);
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let server = serve(&store, Server::free_address(), taken.local_addr().unwrap());
    server.terminate();
    let ran = server.wait(END).ok();
    assert!(ran.stderr.contains("[metrics] listen"), "{}", ran.stderr);
}
