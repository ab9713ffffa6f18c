//! `curlew health`: checks that a running `curlew serve` works, for the health check of a container.

use crate::output;
use anyhow::{Context, Result, bail};
use std::io::{Read, Write};
use std::net::SocketAddr;
use std::time::Duration;

/// Path of the health check, which fails if the store cannot be read.
const PAGE: &str = "/healthz";
/// Timeout for connecting, and for each read and write.
const TIMEOUT: Duration = Duration::from_secs(5);
/// Number of bytes read of the status line: `HTTP/1.1 200`.
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
    status.and_then(|code| code.parse().ok()).context("this is not an HTTP/1.1 response")
}
