//! The search page as a browser sees it: measures the time to the first byte of an answer.

use super::Bench;
use super::table::Table;
use crate::run::{output, program, root};
use crate::tools;
use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Maximum time of an answer.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Number of measured requests for each query, after one that warms up.
const ROUNDS: usize = 50;
/// Maximum time to the first byte of a page of results, in milliseconds.
const BAR: f64 = 20.0;

/// Maximum ratio of the API's answer time to that of tantivy, with the same texts stored and ten snippets.
const OF_TANTIVY: f64 = 2.0;

/// Serves a crawled store, and sends these queries, each on a new connection. Also sends the queries that consist only
/// of words to the API and to tantivy.
pub(crate) fn measure(bench: &Bench, data: &Path, rule: &str, queries: &[&str], table: &mut Table) -> Result<()> {
    let mut command = bench.curlew(&["serve", "--listen", "127.0.0.1:0", "--resolve", rule]);
    command.arg("--data").arg(data);
    let served = Served::start(command)?;
    let times = first_bytes(&served.addr, queries, "/?q=")?;
    table.barred("first byte of a page of results, warm, median", times[times.len() / 2], "ms", BAR);
    table.figure("first byte of a page of results, warm, 95th percentile", times[times.len() * 95 / 100], "ms");
    let words: Vec<&str> = queries.iter().filter(|query| !query.contains([':', '-', '"'])).copied().collect();
    let times = first_bytes(&served.addr, &words, "/api/v1/search?q=")?;
    let (ours, theirs) = (times[times.len() / 2], tantivy(bench, data, &words)?);
    table.figure("answer of the API, warm, median", ours, "ms");
    table.figure("the same by tantivy in Python, its text stored and ten snippets", theirs, "ms");
    table.barred("the API / tantivy", ours / theirs, "", OF_TANTIVY);
    Ok(())
}

/// Returns the median time of tantivy's answers over the same records, in milliseconds.
fn tantivy(bench: &Bench, data: &Path, queries: &[&str]) -> Result<f64> {
    let mut export = bench.curlew(&["export", "records"]);
    let docs = output(export.arg("--data").arg(data))?;
    let queries: String = queries.iter().map(|query| format!("{}\n", json!({"query": query}))).collect();
    let [docs_path, queries_path] = ["docs.jsonl", "queries.jsonl"].map(|name| bench.folder.join(name));
    fs::write(&docs_path, docs)?;
    fs::write(&queries_path, queries)?;
    let peers = root().join(super::search::PEERS);
    let told = output(program(tools::tantivy()?).arg(peers).args([docs_path, queries_path]).arg("tantivy"))?;
    let told: Value = serde_json::from_str(&told).context("the peer prints no JSON")?;
    told["median_ms"].as_f64().context("the peer prints no median")
}

/// Requests the queries in turn, appended to a path, [`ROUNDS`] times, after one round that is not counted. Returns the
/// times to the first byte of each answer, in milliseconds, sorted.
pub(crate) fn first_bytes(addr: &str, queries: &[&str], path: &str) -> Result<Vec<f64>> {
    let paths: Vec<String> = queries.iter().map(|query| format!("{path}{}", encoded(query))).collect();
    // The first request of each query opens the parts of the index that later requests use.
    for path in &paths {
        first_byte(addr, path)?;
    }
    let mut times: Vec<f64> = Vec::with_capacity(paths.len() * ROUNDS);
    for path in paths.iter().cycle().take(paths.len() * ROUNDS) {
        times.push(first_byte(addr, path)?.as_secs_f64() * 1e3);
    }
    times.sort_by(f64::total_cmp);
    Ok(times)
}

/// Simulates callers who each send one of the queries per second. Returns the times to the first byte of each answer,
/// in milliseconds, sorted.
pub(crate) fn first_bytes_of_callers(addr: &str, queries: &[&str], callers: u32) -> Result<Vec<f64>> {
    /// Number of queries of one caller.
    const SEARCHES: usize = 10;
    let paths: Vec<String> = queries.iter().map(|query| format!("/?q={}", encoded(query))).collect();
    let began = Instant::now();
    let caller = |number: u32| -> Result<Vec<f64>> {
        let of_caller = paths.iter().cycle().skip(number as usize).take(SEARCHES);
        let times = of_caller.zip(0..).map(|(path, second)| {
            let due = Duration::from_secs(1) * second + Duration::from_secs(1) * number / callers;
            thread::sleep(due.saturating_sub(began.elapsed()));
            Ok(first_byte(addr, path)?.as_secs_f64() * 1e3)
        });
        times.collect()
    };
    let mut times = thread::scope(|scope| {
        let threads: Vec<_> = (0..callers).map(|number| scope.spawn(move || caller(number))).collect();
        let times = threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| bail!("a caller panicked")));
        Ok::<_, anyhow::Error>(times.collect::<Result<Vec<_>>>()?.concat())
    })?;
    times.sort_by(f64::total_cmp);
    Ok(times)
}

/// Requests a path, and reads the whole answer. Returns the time from connecting to the first byte.
fn first_byte(addr: &str, path: &str) -> Result<Duration> {
    let began = Instant::now();
    let mut stream = TcpStream::connect(addr)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {addr}\r\nConnection: close\r\n\r\n")?;
    let mut answer = vec![0];
    stream.read_exact(&mut answer)?;
    let first = began.elapsed();
    stream.read_to_end(&mut answer)?;
    if !answer.starts_with(b"HTTP/1.1 200 ") {
        bail!("{path} is not answered with a page");
    }
    Ok(first)
}

/// A running `curlew serve`. Dropping it kills the process.
pub(crate) struct Served {
    child: Child,
    pub(crate) addr: String,
}

impl Served {
    pub(crate) fn start(mut command: Command) -> Result<Served> {
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().context("curlew cannot be started")?;
        let said = child.stdout.take();
        let mut served = Served { child, addr: String::new() };
        for line in said.into_iter().flat_map(|pipe| BufReader::new(pipe).lines()) {
            if let Some((addr, _)) = line?.split_once("http://").and_then(|(_, rest)| rest.split_once('/')) {
                served.addr = addr.to_owned();
                return Ok(served);
            }
        }
        bail!("curlew ended before it listened")
    }

    /// Sends SIGTERM, as a service manager does, and waits for the end. Fails if the exit code is not 0.
    pub(crate) fn stop(mut self) -> Result<()> {
        let asked = Command::new("kill").arg(self.child.id().to_string()).status().context("kill cannot be started")?;
        let status = self.child.wait()?;
        if !asked.success() || !status.success() {
            bail!("curlew did not end well: {status}");
        }
        Ok(())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ended_already = self.child.kill();
        let _status = self.child.wait();
    }
}

/// Percent-encodes all bytes except letters and digits (RFC 3986 §2.1).
fn encoded(text: &str) -> String {
    let one =
        |byte: u8| if byte.is_ascii_alphanumeric() { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    text.bytes().map(one).collect()
}
