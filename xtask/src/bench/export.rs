//! Exports of 100,000 records: throughput and memory for each format; and time and memory for a stack on the emulator
//! with a latency of 30 ms for each request.

use super::process::measure;
use super::table::Table;
use super::{Bench, Used};
use crate::emulator::{Emulator, REGION};
use crate::run::{cargo, program, run, target};
use crate::tools;
use anyhow::{Context, Result, bail};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

/// Number of records in the larger store; the smaller one has a fifth.
const RECORDS: u64 = 100_000;
/// Minimum throughput of JSON Lines, in megabytes per second.
const RATE: f64 = 50.0;
/// Maximum ratio of the memory for the larger store to that for the smaller.
const GROWTH: f64 = 1.25;
/// Maximum time of the export from the stack, in seconds.
const STACK_SECONDS: f64 = 300.0;
/// Latency that is added to each request to the stack.
const LATENCY: Duration = Duration::from_millis(30);
const STACK: &str = "export";
/// Number of bytes that the proxy reads at a time.
const CHUNK: usize = 64 * 1024;
/// Cargo features of the measured program.
const FEATURES: &str = "aws,parquet";

pub(crate) fn measure_export(bench: &Bench, table: &mut Table) -> Result<()> {
    let release = build()?;
    let curlew = release.join("curlew");
    let fill = |count: u64, folder: &PathBuf| {
        run(program(release.join("examples/fill_store")).arg(count.to_string()).arg(folder))
    };
    let (few, many) = (bench.folder.join("export-few"), bench.folder.join("export-many"));
    fill(RECORDS / 5, &few)?;
    fill(RECORDS, &many)?;
    let mut rate_of_lines = f64::NAN;
    for format in ["jsonl", "csv", "parquet"] {
        let file = bench.folder.join(format!("records.{format}"));
        let exported = |data: &PathBuf| -> Result<(Used, f64)> {
            let mut command = Command::new(&curlew);
            command.args(["export", "records", "--format", format, "--data"]).arg(data).arg("--output").arg(&file);
            Ok((measure(command, None)?, std::fs::metadata(&file)?.len() as f64))
        };
        let (small, _) = exported(&few)?;
        let (large, bytes) = exported(&many)?;
        let megabytes = bytes / 1e6;
        table.figure(format!("{format}, {RECORDS} records: the file"), megabytes, "MB");
        table.figure(format!("{format}: time"), large.seconds, "s");
        if format == "jsonl" {
            rate_of_lines = megabytes / large.seconds;
            table.at_least("jsonl: rate", rate_of_lines, "MB/s", RATE);
            let lines = std::fs::read(&file)?.iter().filter(|byte| **byte == b'\n').count();
            if lines as u64 != RECORDS {
                bail!("{lines} of {RECORDS} records are exported");
            }
        } else {
            let lines = std::fs::metadata(bench.folder.join("records.jsonl"))?.len() as f64 / 1e6;
            table.figure(format!("{format}: time / that of jsonl"), large.seconds * rate_of_lines / lines, "");
        }
        table.figure(format!("{format}: peak resident memory"), large.peak_bytes / 1e6, "MB");
        let growth = large.peak_bytes / small.peak_bytes;
        table.barred(format!("{format}: memory for {RECORDS} / for {} records", RECORDS / 5), growth, "", GROWTH);
    }
    Ok(())
}

pub(crate) fn measure_stack_export(bench: &Bench, table: &mut Table) -> Result<()> {
    let release = build()?;
    let emulator = Emulator::start(&tools::ministack()?, &bench.folder.join("ministack"))?;
    let on_stack = |command: &mut Command, url: &str| {
        command.env("AWS_ENDPOINT_URL", url).env("AWS_REGION", REGION);
        command.env("AWS_ACCESS_KEY_ID", "000000000001").env("AWS_SECRET_ACCESS_KEY", "test");
    };
    let mut fill = program(release.join("examples/fill_store"));
    fill.args([RECORDS.to_string().as_str(), "--aws", STACK]);
    on_stack(&mut fill, &emulator.url());
    run(&mut fill)?;
    let file = bench.folder.join("stack.jsonl");
    let mut export = Command::new(release.join("curlew"));
    export.args(["--aws", "--stack", STACK, "export", "records", "--output"]).arg(&file);
    on_stack(&mut export, &format!("http://{}", delayed(emulator.address())?));
    let used = measure(export, None)?;
    let lines = std::fs::read(&file)?.iter().filter(|byte| **byte == b'\n').count();
    if lines as u64 != RECORDS {
        bail!("{lines} of {RECORDS} records are exported");
    }
    table.barred(format!("{RECORDS} records of a stack, 30 ms a request: time"), used.seconds, "s", STACK_SECONDS);
    table.figure("the same: peak resident memory", used.peak_bytes / 1e6, "MB");
    Ok(())
}

/// Builds the program and the example that fills its store. Returns their folder.
fn build() -> Result<PathBuf> {
    let build = ["build", "--release", "--locked", "-p", "curlew", "--features", FEATURES];
    run(cargo().args(build).args(["--bin", "curlew", "--example", "fill_store"]))?;
    Ok(target()?.join("release"))
}

/// Starts a proxy that forwards requests after [`LATENCY`], and answers at once. Returns the proxy's address. The proxy
/// runs until the process ends.
fn delayed(to: SocketAddr) -> Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            // A connection that cannot be forwarded is closed, and the client tries again.
            let _refused = pass_on(client, to);
        }
    });
    Ok(address)
}

fn pass_on(client: TcpStream, to: SocketAddr) -> Result<()> {
    let server = TcpStream::connect(to).context("the emulator does not answer")?;
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    let (asks, answers) = ((client.try_clone()?, server.try_clone()?), (server, client));
    for ((from, to), latency) in [(asks, LATENCY), (answers, Duration::ZERO)] {
        std::thread::spawn(move || copy(from, to, latency));
    }
    Ok(())
}

fn copy(mut from: TcpStream, mut to: TcpStream, latency: Duration) {
    let mut chunk = vec![0; CHUNK];
    while let Ok(length @ 1..) = from.read(&mut chunk) {
        std::thread::sleep(latency);
        if to.write_all(&chunk[..length]).is_err() {
            break;
        }
    }
    // The other side may be gone already.
    let _gone = to.shutdown(std::net::Shutdown::Write);
}
