//! Tests with two processes, one of which may be killed.
//!
//! The test binary starts itself: if its environment names a folder, the test `child` plays the other process.

use super::{dir, get, jobs, open, put};
use curlew_embedded::{Access, Store};
use curlew_model::Timestamp;
use curlew_ports::Blobs;
use curlew_testkit::sample::poll;
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

const FOLDER: &str = "CURLEW_TEST_FOLDER";
const ROLE: &str = "CURLEW_TEST_ROLE";
/// Number of pages and jobs that the parent waits for before it kills the child.
const LINES: usize = 60;

fn start(dir: &Path, role: &str) -> Child {
    Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "processes::child", "--nocapture", "--test-threads=1"])
        .env(FOLDER, dir)
        .env(ROLE, role)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("starts")
}

/// Returns the lines that the child prints, without those of the test harness.
fn said(child: &mut Child, most: usize) -> Vec<String> {
    let out = BufReader::new(child.stdout.take().expect("a pipe"));
    let lines = out.lines().map_while(Result::ok);
    lines.filter_map(|line| line.split_once("said: ").map(|(_, said)| said.to_owned())).take(most).collect()
}

fn say(what: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "said: {what}").expect("the parent listens");
    out.flush().expect("the parent listens");
}

/// Plays the other process. As an ordinary test it does nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn child() {
    let (Some(dir), Ok(role)) = (std::env::var_os(FOLDER), std::env::var(ROLE)) else { return };
    let dir = Path::new(&dir);
    match role.as_str() {
        "open" => match Store::open(dir, Access::Exclusive) {
            Ok(_) => say("opened"),
            Err(error) => say(&error.to_string()),
        },
        "look" => match Store::open(dir, Access::Shared) {
            Ok(store) => say(&format!("{:?}", store.ports().inbox.next_due().await)),
            Err(error) => say(&error.to_string()),
        },
        _ => write_without_end(open(dir)).await,
    }
}

fn body_of(n: u64) -> Vec<u8> {
    vec![u8::try_from(n % 251).unwrap_or(0); 3_000]
}

/// Runs several concurrent writers, each of which prints every number that the store has accepted.
async fn write_without_end(store: Store) {
    let writers: Vec<_> = (0..4)
        .map(|writer| {
            let store = store.clone();
            tokio::spawn(async move {
                for n in (0..1_000_000).map(|n| n * 4 + writer) {
                    put(&store, &format!("o/{n}"), body_of(n)).await;
                    store.ports().queue.send(&[(poll(n), Timestamp::EPOCH)]).await.expect("sends");
                    say(&n.to_string());
                }
            })
        })
        .collect();
    for writer in writers {
        writer.await.expect("writes until it is killed");
    }
}

#[test]
fn a_second_process_is_refused_and_told_who_is_first() {
    let dir = dir();
    let store = open(dir.path());
    let says = |role: &str| {
        let mut child = start(dir.path(), role);
        let said = said(&mut child, 1);
        child.wait().expect("ends");
        said
    };
    let (number, refused) = (std::process::id(), says("open"));
    assert!(refused[0].contains(&format!("in use by another curlew (process {number})")), "{refused:?}");
    assert_eq!(says("look"), ["Ok(None)"]);
    drop(store);
    assert_eq!(says("open"), ["opened"]);
}

#[tokio::test]
async fn what_a_killed_process_was_told_is_there() {
    let dir = dir();
    let mut seen = BTreeSet::new();
    for _ in 0..3 {
        let mut child = start(dir.path(), "write");
        let told = said(&mut child, LINES);
        child.kill().expect("is killed");
        child.wait().expect("ends");
        assert_eq!(told.len(), LINES);
        seen.extend(told.iter().map(|n| n.parse::<u64>().expect("a number")));
    }
    let store = open(dir.path());
    let jobs: BTreeSet<u64> = jobs(&store).await.into_iter().collect();
    assert!(jobs.is_superset(&seen), "jobs were lost: {:?}", seen.difference(&jobs));
    for n in &jobs {
        assert_eq!(get(&store, &format!("o/{n}")).await, body_of(*n), "the object comes before its job");
    }
    let objects = store.objects().list("o/", None, 1_000_000).await.expect("lists");
    for key in objects {
        assert_eq!(get(&store, &key).await.len(), 3_000, "{key}");
    }
}
