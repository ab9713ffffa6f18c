//! Searches while the program is under siege: it reads pages of the maximum length, and has connections that never
//! finish their requests.

use super::Bench;
use super::crawls::{QUERIES, crawl};
use super::process::measure;
use super::served::{Served, first_bytes, first_bytes_of_callers};
use super::table::Table;
use super::web::{Size, Web};
use anyhow::{Context, Result};
use std::fs;
use std::io::Write;
use std::net::TcpStream;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// Sites that are searched.
const QUIET: Size = Size { hosts: 20, pages: 10, bytes: 20 * 1024 };
/// Sites that are crawled meanwhile, with pages of nearly the maximum length. The first hosts have the names of the
/// quiet ones, so only four are new.
const HEAVY: Size = Size { hosts: QUIET.hosts + 4, pages: 40, bytes: 5_900_000 };
/// Settings that accept such pages, and make only short pauses between them.
const SETTINGS: &str = "[limits]\npage_bytes = 6000000\n[rules]\nmin_pause = \"60ms\"\njitter = [\"10ms\", \"20ms\"]\npoisson_mean = \"0ms\"\nrefill = \"1ms\"\n";
/// Number of connections that send their headers byte by byte.
const SLOW: usize = 500;
/// Interval at which each connection sends a byte, and closed ones are replaced.
const DRIP: Duration = Duration::from_secs(1);
/// Maximum 95th percentile of the time to the first byte of a page of results, in milliseconds.
const BAR: f64 = 50.0;
/// Number of callers who search meanwhile, each once a second.
const CALLERS: u32 = 200;
/// Maximum 99th percentile of the time of their searches, in milliseconds.
const CALLERS_BAR: f64 = 500.0;

pub(crate) fn measure_siege(bench: &Bench, table: &mut Table) -> Result<()> {
    let (quiet, heavy) = (Web::start(bench, &QUIET.flags())?, Web::start(bench, &HEAVY.flags())?);
    let data = bench.folder.join("siege");
    crawl(bench, &quiet, QUIET, &data)?;
    let settings = bench.folder.join("siege.toml");
    fs::write(&settings, SETTINGS).with_context(|| settings.display().to_string())?;
    let (list, rule) = (heavy.list(bench)?, heavy.rule());
    let on_heavy = |args: &[&str]| -> Command {
        let mut command = bench.curlew(args);
        command.arg("--data").arg(&data).arg("--config").arg(&settings).args(["--resolve", &rule]);
        command
    };
    let mut name = on_heavy(&["crawl", "--json", "--until", "1s"]);
    name.arg("--sites").arg(list);
    measure(name, None)?;
    // The besiegers use one address, and the searchers another.
    let served = Served::start(on_heavy(&["serve", "--listen", "[::]:0"]))?;
    let port = served.addr.rsplit(':').next().context("an address has a port")?.to_owned();
    let (besiegers, searchers) = (format!("[::1]:{port}"), format!("127.0.0.1:{port}"));
    let is_over = AtomicBool::new(false);
    let times = thread::scope(|scope| {
        scope.spawn(|| besiege(&besiegers, &is_over));
        thread::sleep(2 * DRIP);
        let times = first_bytes(&searchers, &QUERIES, "/?q=");
        is_over.store(true, Ordering::Relaxed);
        times
    })?;
    let many = first_bytes_of_callers(&searchers, &QUERIES, CALLERS)?;
    let what = format!("first byte of a page of results, {SLOW} slow connections and pages of 5.9 MB being read");
    table.figure(format!("{what}, median"), times[times.len() / 2], "ms");
    table.barred(format!("{what}, 95th percentile"), times[times.len() * 95 / 100], "ms", BAR);
    let what = format!("the same of {CALLERS} callers who search once a second, pages being read");
    table.figure(format!("{what}, median"), many[many.len() / 2], "ms");
    table.barred(format!("{what}, 95th percentile"), many[many.len() * 95 / 100], "ms", BAR);
    table.barred(format!("{what}, 99th percentile"), many[many.len() * 99 / 100], "ms", CALLERS_BAR);
    served.stop()
}

/// Keeps [`SLOW`] connections with unfinished headers open until `is_over` is set.
fn besiege(addr: &str, is_over: &AtomicBool) {
    let mut held: Vec<TcpStream> = Vec::new();
    while !is_over.load(Ordering::Relaxed) {
        held.retain_mut(|stream| stream.write_all(b"a").is_ok());
        while held.len() < SLOW {
            let Ok(mut stream) = TcpStream::connect(addr) else { break };
            if stream.write_all(b"GET /?q=a HTTP/1.1\r\nHost: a\r\nX-A: ").is_ok() {
                held.push(stream);
            }
        }
        thread::sleep(DRIP);
    }
}
