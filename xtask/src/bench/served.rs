//! The search page as a browser sees it: the time to the first byte of an answer.

use super::Bench;
use super::table::Table;
use anyhow::{Context, Result, bail};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Maximum time of an answer.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Number of times each query is asked in the warm state.
const ROUNDS: usize = 50;
/// Maximum time to the first byte of a page of results, in milliseconds.
const BAR: f64 = 20.0;

/// Serves a crawled store, and asks these queries, each on a connection of its own.
pub(crate) fn measure(bench: &Bench, data: &Path, rule: &str, queries: &[&str], table: &mut Table) -> Result<()> {
    let mut command = bench.curlew(&["serve", "--listen", "127.0.0.1:0", "--resolve", rule]);
    command.arg("--data").arg(data);
    let served = Served::start(command)?;
    let times = first_bytes(&served.addr, queries)?;
    table.barred("first byte of a page of results, warm, median", times[times.len() / 2], "ms", BAR);
    table.figure("first byte of a page of results, warm, 95th percentile", times[times.len() * 95 / 100], "ms");
    Ok(())
}

/// Returns the milliseconds to the first byte of each answer, sorted: the queries in turn, [`ROUNDS`] times, after one
/// round that is not counted.
pub(crate) fn first_bytes(addr: &str, queries: &[&str]) -> Result<Vec<f64>> {
    let paths: Vec<String> = queries.iter().map(|query| format!("/?q={}", encoded(query))).collect();
    // The first request of each query opens the parts of the index that the others use.
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

/// Returns the time from the connection to the first byte of the answer, which is read to its end.
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

/// The running program. Dropping it ends it.
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

    /// Asks it to end, as a service manager does, and waits until it has.
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
        // It may have ended by itself.
        let _ended_already = self.child.kill();
        let _status = self.child.wait();
    }
}

/// Percent-encodes a text (RFC 3986 §2.1), all but letters and digits.
fn encoded(text: &str) -> String {
    let one =
        |byte: u8| if byte.is_ascii_alphanumeric() { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    text.bytes().map(one).collect()
}
