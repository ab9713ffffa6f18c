//! Tests of the binary: it prints its address, answers, appends to its log, and leaves complete lines when it is
//! killed.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should say so at once")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

/// A child process that is killed when the test ends, even if the test fails.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start(arguments: &[&str]) -> (Killed, Vec<String>) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_curlew-fixtureweb"))
        .args(arguments)
        .stdout(Stdio::piped())
        .spawn()
        .map(Killed)
        .unwrap();
    let mut lines = Vec::new();
    for line in BufReader::new(child.0.stdout.take().unwrap()).lines() {
        let line = line.unwrap();
        let last = line.starts_with("listening on ");
        lines.push(line);
        if last {
            break;
        }
    }
    (child, lines)
}

fn get(addr: &str, host: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(addr).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n").unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

#[test]
fn it_serves_logs_and_can_be_killed() {
    let log = std::env::temp_dir().join(format!("curlew-fixtureweb-bin-{}.jsonl", std::process::id()));
    let arguments = ["--hosts", "2", "--pages", "3", "--bytes", "20000", "--no-images", "--sites", "--log"];
    let (child, lines) = start(&[&arguments[..], &[log.to_str().unwrap()]].concat());
    assert_eq!(lines[..2], ["http://uniform-0001.test/", "http://uniform-0002.test/"]);
    let addr = lines[2].strip_prefix("listening on ").unwrap();
    assert!(get(addr, "uniform-0002.test", "/news/2.html").starts_with("HTTP/1.1 200 OK\r\n"));
    assert!(get(addr, "uniform-0002.test", "/news/3.html").starts_with("HTTP/1.1 404 "));
    drop(child);
    let text = std::fs::read_to_string(&log).unwrap();
    let calls: Vec<curlew_fixtureweb::Call> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(calls.iter().map(|call| call.status).collect::<Vec<_>>(), [200, 404]);
    assert!(calls[0].bytes >= 20_000);
    std::fs::remove_file(&log).unwrap();
}

#[test]
fn wrong_usage_is_told() {
    let output = Command::new(env!("CARGO_BIN_EXE_curlew-fixtureweb")).args(["--hosts", "many"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("many is not a number"));
}
