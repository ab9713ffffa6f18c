//! Runs the real program.

use serde_json::Value;
use std::ffi::OsStr;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Maximum time of a run. A longer run is ended, and its test fails.
pub const LIMIT: Duration = Duration::from_secs(240);
/// Interval at which a run is examined.
const LOOK: Duration = Duration::from_millis(5);

/// Returns the program under test: `CURLEW_BIN`, or the last build of `cargo xtask test`.
pub fn binary() -> PathBuf {
    named("CURLEW_BIN", "target/programs/curlew")
}

/// Returns a program that the tests need in addition to the workspace's own: the one that the variable names, or a path
/// in the workspace.
pub fn named(variable: &str, path: &str) -> PathBuf {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned();
    let path = std::env::var_os(variable).map_or_else(|| root.join(path), PathBuf::from);
    let what = "run the tests by `cargo xtask test`, which installs it";
    assert!(path.exists(), "{} is not there: {what}, or name it by {variable}", path.display());
    path
}

/// A finished run.
#[derive(Debug)]
pub struct Ran {
    /// The exit status.
    pub status: ExitStatus,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl Ran {
    /// Returns the exit code, or -1 if a signal ended the program.
    pub fn code(&self) -> i32 {
        self.status.code().unwrap_or(-1)
    }

    /// Returns this run after checking that its exit code is 0.
    #[track_caller]
    pub fn ok(self) -> Ran {
        assert_eq!(self.code(), 0, "stdout: {}\nstderr: {}", self.stdout, self.stderr);
        self
    }

    /// Returns the JSON object that was printed.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|e| panic!("{e}: {}\n{}", self.stdout, self.stderr))
    }

    /// Returns the JSON objects that were printed, one on each line.
    #[track_caller]
    pub fn rows(&self) -> Vec<Value> {
        let row = |line: &str| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"));
        self.stdout.lines().map(row).collect()
    }

    /// Checks that the run failed as it should: this exit code, nothing on standard output, and one line on standard
    /// error that contains all these words.
    #[track_caller]
    pub fn refused(&self, code: i32, words: &[&str]) {
        let said = self.stderr.trim_end();
        assert_eq!(self.code(), code, "stdout: {}\nstderr: {said}", self.stdout);
        assert_eq!(said.lines().count(), 1, "the error must be one line: {said}");
        for word in words {
            assert!(said.contains(word), "'{word}' is missing: {said}");
        }
        assert!(!said.contains("panicked"), "{said}");
    }
}

/// A run in progress. Dropping it ends the process.
#[derive(Debug)]
pub struct Child {
    inner: std::process::Child,
    stdout: Option<JoinHandle<Vec<u8>>>,
    stderr: Option<JoinHandle<Vec<u8>>>,
}

impl Child {
    /// Starts a command and captures its output.
    pub fn spawn(mut command: Command) -> Child {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut inner = command.spawn().unwrap_or_else(|e| panic!("{command:?}: {e}"));
        let stdout = inner.stdout.take().map(drain);
        let stderr = inner.stderr.take().map(drain);
        Child { inner, stdout, stderr }
    }

    /// Returns the process number.
    pub fn id(&self) -> u32 {
        self.inner.id()
    }

    /// Returns true while the process is running.
    pub fn is_running(&mut self) -> bool {
        self.inner.try_wait().unwrap().is_none()
    }

    /// Kills the process at once, as `kill -9` does; unwritten data is lost.
    pub fn kill(&mut self) {
        // The process may have ended in the meantime.
        let _ended_already = self.inner.kill();
        self.inner.wait().unwrap();
    }

    /// Asks the process to end, as a service manager does.
    pub fn terminate(&self) {
        let sent = Command::new("kill").args(["-TERM", &self.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }

    /// Waits until the process ends.
    pub fn wait(mut self, limit: Duration) -> Ran {
        let began = Instant::now();
        let status = loop {
            if let Some(status) = self.inner.try_wait().unwrap() {
                break status;
            }
            if began.elapsed() > limit {
                self.kill();
                let (out, err) = self.output();
                panic!("the program did not end within {limit:?}\nstdout: {out}\nstderr: {err}");
            }
            std::thread::sleep(LOOK);
        };
        let (stdout, stderr) = self.output();
        Ran { status, stdout, stderr }
    }

    fn output(&mut self) -> (String, String) {
        let text = |pipe: Option<JoinHandle<Vec<u8>>>| {
            let bytes = pipe.map(|p| p.join().unwrap()).unwrap_or_default();
            String::from_utf8_lossy(&bytes).into_owned()
        };
        (text(self.stdout.take()), text(self.stderr.take()))
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if matches!(self.inner.try_wait(), Ok(None)) {
            self.kill();
        }
    }
}

fn drain(mut pipe: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _cut_short_by_a_kill = pipe.read_to_end(&mut bytes);
        bytes
    })
}

/// Returns the program with these arguments, without the settings of the test machine.
pub fn curlew(args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Command {
    let mut command = Command::new(binary());
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(|name| name.starts_with("CURLEW_")) {
            command.env_remove(name);
        }
    }
    // Tests run in parallel, so they cannot share the default port.
    command.env("CURLEW_METRICS_LISTEN", "off");
    command.args(args).stdin(Stdio::null());
    command
}

/// Starts the program.
pub fn start(args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Child {
    Child::spawn(curlew(args))
}

/// Runs the program to its end with this standard input.
pub fn curlew_with_input(args: &[&str], input: &[u8]) -> Ran {
    let mut command = curlew(args);
    command.stdin(Stdio::piped());
    let mut child = Child::spawn(command);
    let mut pipe = child.inner.stdin.take().unwrap();
    let input = input.to_vec();
    let writer = std::thread::spawn(move || {
        let _it_may_not_want_all = pipe.write_all(&input);
    });
    let ran = child.wait(LIMIT);
    writer.join().unwrap();
    ran
}
