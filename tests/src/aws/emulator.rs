//! A running emulator of AWS: a separate process that keeps tables, queues and objects in memory, and runs the
//! functions' zips as processes.
#![allow(clippy::print_stderr, reason = "a test that fails shows the emulator's log")]

use super::api::{Api, REGION};
use crate::program::named;
use std::fs::File;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Maximum time until the emulator is ready.
const START: Duration = Duration::from_secs(60);
/// Interval at which the emulator is asked whether it is ready.
const LOOK: Duration = Duration::from_millis(50);
/// Maximum number of ports to try, since another program may take a free port in the meantime.
const PORTS: usize = 3;
/// Number of the emulator's last log lines that are shown when a test fails.
const LAST_LINES: usize = 60;

/// An empty emulator. Dropping it ends it and the functions that it runs.
#[derive(Debug)]
pub struct Emulator {
    process: Child,
    addr: SocketAddr,
    folder: TempDir,
}

impl Emulator {
    /// Starts an emulator that permits everything to everybody, and waits until it is ready.
    pub fn start() -> Emulator {
        Emulator::start_with(false)
    }

    /// Starts an emulator that permits a function only what its role allows, and checks signatures. The account itself,
    /// which tests use, may still do everything.
    pub fn strict() -> Emulator {
        Emulator::start_with(true)
    }

    fn start_with(strict: bool) -> Emulator {
        for _ in 0..PORTS {
            if let Some(emulator) = Emulator::start_on(free_port(), strict) {
                return emulator;
            }
        }
        panic!("the emulator ended at once, on {PORTS} ports");
    }

    fn start_on(addr: SocketAddr, strict: bool) -> Option<Emulator> {
        let folder = TempDir::with_prefix("curlew-emulator-").unwrap();
        let log = File::create(folder.path().join("log")).unwrap();
        let mut command = Command::new(program());
        for (name, _) in std::env::vars_os() {
            // The emulator would pass these variables to the functions, whose environment comes from the template
            // alone.
            if name.to_str().is_some_and(|name| name.starts_with("AWS_") || name.starts_with("CURLEW_")) {
                command.env_remove(name);
            }
        }
        command
            // By default the emulator listens on every address of the machine, and runs any code that is sent to it.
            .env("BIND_HOST", addr.ip().to_string())
            .env("MINISTACK_HOST", addr.ip().to_string())
            .env("GATEWAY_PORT", addr.port().to_string())
            .env("MINISTACK_REGION", REGION)
            .env("AUTH", strict.to_string())
            // The emulator unpacks the zips into this folder.
            .env("TMPDIR", folder.path())
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log);
        let process = command.spawn().unwrap_or_else(|e| panic!("{command:?}: {e}"));
        let mut emulator = Emulator { process, addr, folder };
        emulator.wait_until_ready().then_some(emulator)
    }

    /// Waits until the emulator is ready; returns false if it has ended.
    fn wait_until_ready(&mut self) -> bool {
        let began = Instant::now();
        loop {
            if self.process.try_wait().unwrap().is_some() {
                eprintln!("{}", self.log());
                return false;
            }
            if Api::new(self.addr).is_ready() {
                return true;
            }
            assert!(began.elapsed() < START, "the emulator is not ready after {START:?}\n{}", self.log());
            std::thread::sleep(LOOK);
        }
    }

    /// Returns the address that the emulator listens on.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Returns the emulator's address as an endpoint.
    pub fn url(&self) -> String {
        format!("http://{}", self.addr)
    }

    /// Returns the emulator's last log lines.
    pub fn log(&self) -> String {
        let text = std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(LAST_LINES)..].join("\n")
    }

    /// Returns the processes of the stack's functions.
    pub fn functions(&self) -> Vec<Function> {
        descendants(self.process.id()).into_iter().filter_map(Function::of).collect()
    }
}

impl Drop for Emulator {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("the emulator's log:\n{}", self.log());
        }
        let functions = descendants(self.process.id());
        // The emulator ends first, so that it starts no further functions. It may have ended already.
        let _ended_already = self.process.kill();
        let _ended_already = self.process.wait();
        kill(&functions);
    }
}

/// A function's process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// The process number.
    pub process: u32,
    /// The function's name.
    pub name: String,
}

impl Function {
    /// Returns the process if it runs a function, and `None` for another helper of the emulator.
    fn of(process: u32) -> Option<Function> {
        let environment = std::fs::read(format!("/proc/{process}/environ")).ok()?;
        let name =
            environment.split(|byte| *byte == 0).find_map(|entry| entry.strip_prefix(b"AWS_LAMBDA_FUNCTION_NAME="))?;
        Some(Function { process, name: String::from_utf8_lossy(name).into_owned() })
    }

    /// Kills the process at once, as a failing machine does; it sends nothing more.
    pub fn kill(&self) {
        kill(&[self.process]);
    }
}

/// Returns the program: `CURLEW_MINISTACK`, or the one that `cargo xtask test` has installed.
fn program() -> PathBuf {
    named("CURLEW_MINISTACK", ".tools/ministack/bin/ministack")
}

/// Returns a port that is free now; another program may take it in the meantime.
fn free_port() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

/// Returns the children of a process, and their descendants.
fn descendants(process: u32) -> Vec<u32> {
    let mut found = vec![process];
    let mut next = 0;
    while let Some(parent) = found.get(next).copied() {
        next += 1;
        let tasks = std::fs::read_dir(format!("/proc/{parent}/task")).into_iter().flatten().flatten();
        for task in tasks {
            let children = std::fs::read_to_string(task.path().join("children")).unwrap_or_default();
            found.extend(children.split_whitespace().filter_map(|child| child.parse::<u32>().ok()));
        }
    }
    found.split_off(1)
}

fn kill(processes: &[u32]) {
    if !processes.is_empty() {
        let numbers = processes.iter().map(u32::to_string);
        // `kill` complains about a process that has ended in the meantime, which does no harm.
        let _some_ended_already =
            Command::new("kill").arg("-KILL").args(numbers).stderr(Stdio::null()).status().unwrap();
    }
}
