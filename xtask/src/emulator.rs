//! The AWS emulator, which all tests of a run share, each with a separate account.

use crate::run::program;
use anyhow::{Context, Result, bail};
use std::fs::File;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::{Duration, Instant};

/// Maximum time until the emulator is ready.
const START: Duration = Duration::from_secs(60);
/// Timeout of a request that checks whether the emulator is ready.
const ANSWER: Duration = Duration::from_secs(5);
/// Interval between these requests.
const LOOK: Duration = Duration::from_millis(50);
/// The region that the emulator simulates.
pub(crate) const REGION: &str = "us-east-1";

/// A running emulator. Dropping it kills the process.
pub(crate) struct Emulator {
    process: Child,
    addr: SocketAddr,
    log: PathBuf,
}

impl Emulator {
    /// Starts an emulator that writes its log and its files to `folder`, and waits until it is ready.
    pub(crate) fn start(ministack: &Path, folder: &Path) -> Result<Emulator> {
        std::fs::create_dir_all(folder).with_context(|| format!("{} cannot be made", folder.display()))?;
        let log = folder.join("log");
        let file = File::create(&log).with_context(|| format!("{} cannot be written", log.display()))?;
        let addr = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let mut command = program(ministack);
        command
            // Without this, the emulator listens on every address of the machine, and runs any code sent to it.
            .env("BIND_HOST", addr.ip().to_string())
            .env("MINISTACK_HOST", addr.ip().to_string())
            .env("GATEWAY_PORT", addr.port().to_string())
            .env("MINISTACK_REGION", REGION)
            .env("TMPDIR", folder)
            .stdout(file.try_clone()?)
            .stderr(file);
        eprintln!("xtask: ministack at {addr}, its log is {}", log.display());
        let process = command.spawn().with_context(|| format!("{} cannot be started", ministack.display()))?;
        let mut emulator = Emulator { process, addr, log };
        emulator.wait_until_ready()?;
        Ok(emulator)
    }

    fn wait_until_ready(&mut self) -> Result<()> {
        let began = Instant::now();
        while !is_ready(self.addr) {
            if let Some(status) = self.process.try_wait()? {
                bail!("the emulator has ended ({status}); its log is {}", self.log.display());
            }
            if began.elapsed() > START {
                bail!("the emulator is not ready after {START:?}; its log is {}", self.log.display());
            }
            std::thread::sleep(LOOK);
        }
        Ok(())
    }

    /// Returns the emulator's address.
    pub(crate) fn address(&self) -> SocketAddr {
        self.addr
    }

    /// Returns the emulator's endpoint URL.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.addr)
    }
}

impl Drop for Emulator {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ended_already = self.process.kill();
        let _ended_already = self.process.wait();
    }
}

fn is_ready(addr: SocketAddr) -> bool {
    let ask = || -> std::io::Result<String> {
        let mut stream = TcpStream::connect_timeout(&addr, ANSWER)?;
        stream.set_read_timeout(Some(ANSWER))?;
        write!(stream, "GET /_ministack/ready HTTP/1.1\r\nHost: {addr}\r\nConnection: close\r\n\r\n")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    };
    ask().is_ok_and(|answer| answer.starts_with("HTTP/1.1 200"))
}
