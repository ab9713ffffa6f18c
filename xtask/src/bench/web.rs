//! The fixture web in a separate process.

use super::Bench;
use anyhow::{Context, Result, bail};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Maximum time of an answer.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Number of sites, which are all alike, and the size of their content.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    /// Number of sites, each with a separate host key.
    pub(crate) hosts: usize,
    /// Number of pages of each site; the pages have no images.
    pub(crate) pages: usize,
    /// Size of each page, in bytes.
    pub(crate) bytes: usize,
}

impl Size {
    /// Returns the flags of the fixture web for sites of this size.
    pub(crate) fn flags(self) -> Vec<String> {
        let numbers = [("--hosts", self.hosts), ("--pages", self.pages), ("--bytes", self.bytes)];
        let flags = numbers.iter().flat_map(|(name, number)| [(*name).to_owned(), number.to_string()]);
        flags.chain(["--no-images".to_owned()]).collect()
    }
}

/// A running fixture web. Dropping it kills the process.
#[derive(Debug)]
pub(crate) struct Web {
    child: Child,
    addr: String,
    start_urls: Vec<String>,
}

impl Web {
    /// Starts the fixture web with these flags.
    pub(crate) fn start(bench: &Bench, flags: &[String]) -> Result<Web> {
        let mut child = Command::new(&bench.fixtureweb)
            .args(flags)
            .args(["--listen", "127.0.0.1:0", "--sites"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("{} cannot be started", bench.fixtureweb.display()))?;
        let said = child.stdout.take();
        let mut web = Web { child, addr: String::new(), start_urls: Vec::new() };
        for line in said.into_iter().flat_map(|pipe| BufReader::new(pipe).lines()) {
            let line = line?;
            if let Some(addr) = line.strip_prefix("listening on ") {
                web.addr = addr.to_owned();
                return Ok(web);
            }
            web.start_urls.push(line);
        }
        bail!("the fixture web ended before it listened")
    }

    /// Returns the `--resolve` rule for the sites.
    pub(crate) fn rule(&self) -> String {
        format!("*.test={}", self.addr)
    }

    /// Writes the list of sites for `crawl --sites`. Returns its path.
    pub(crate) fn list(&self, bench: &Bench) -> Result<PathBuf> {
        let path = bench.folder.join("sites.txt");
        std::fs::write(&path, self.start_urls.join("\n")).with_context(|| format!("{}", path.display()))?;
        Ok(path)
    }

    /// Fetches the page at a URL.
    pub(crate) fn get(&self, url: &str) -> Result<Vec<u8>> {
        self.exchange(url).with_context(|| format!("{url} cannot be had from the fixture web"))
    }

    fn exchange(&self, url: &str) -> Result<Vec<u8>> {
        let (host, path) = url.strip_prefix("http://").and_then(|rest| rest.split_once('/')).context("no such URL")?;
        let mut stream = TcpStream::connect(&self.addr)?;
        stream.set_read_timeout(Some(TIMEOUT))?;
        // HTTP/1.0, because its bodies have no transfer coding and end with the connection.
        write!(stream, "GET /{path} HTTP/1.0\r\nHost: {host}\r\n\r\n")?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer)?;
        let end =
            answer.windows(4).position(|four| four == b"\r\n\r\n").context("the answer has no end of its head")?;
        if answer.split(|byte| *byte == b' ').nth(1) != Some(b"200".as_slice()) {
            bail!("the answer is no page");
        }
        Ok(answer.split_off(end + 4))
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ended_already = self.child.kill();
        let _status = self.child.wait();
    }
}
