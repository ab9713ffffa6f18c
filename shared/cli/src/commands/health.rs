//! `curlew health`: asks a running `curlew serve` whether it is well, as the health check of a container does.

use crate::output;
use anyhow::{Context, Result, bail};
use std::io::{Read, Write};
use std::net::SocketAddr;
use std::time::Duration;

/// The page that is asked for: it fails if the store cannot be read.
const PAGE: &str = "/healthz";
/// Maximum time to connect, and for each part of the answer.
const TIMEOUT: Duration = Duration::from_secs(5);
/// Number of bytes of the status line that are read: `HTTP/1.1 200`.
const STATUS_LINE: usize = 12;

pub(crate) fn run(listen: SocketAddr) -> Result<()> {
    let status = ask(listen).with_context(|| format!("no answer from {listen}: is `curlew serve` running there?"))?;
    if status != 200 {
        bail!("{listen} answers {PAGE} with status {status}: its log says why");
    }
    output::line(format!("{listen} answers."))
}

fn ask(addr: SocketAddr) -> Result<u16> {
    #[allow(clippy::disallowed_types, reason = "it calls Curlew's own server, no site")]
    let mut stream = std::net::TcpStream::connect_timeout(&addr, TIMEOUT)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    write!(stream, "GET {PAGE} HTTP/1.1\r\nHost: {addr}\r\nConnection: close\r\n\r\n")?;
    let mut line = [0; STATUS_LINE];
    stream.read_exact(&mut line)?;
    let status = line.strip_prefix(b"HTTP/1.").and_then(|rest| std::str::from_utf8(rest.get(2..)?).ok());
    status.and_then(|code| code.parse().ok()).context("this is no answer by HTTP/1.1")
}
