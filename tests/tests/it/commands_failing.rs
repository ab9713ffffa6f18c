//! Commands that are misused, stopped, or cannot continue.

use crate::commands::urls;
use curlew_fixtureweb::Uniform;
use curlew_tests::{Child, LIMIT, Store, Web, args, binary, curlew, start, until};
use rusqlite::Connection;
use serde_json::{Value, json};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

#[test]
fn wrong_usage_is_one_line_and_two() {
    let alone = Store::alone();
    alone.run(&["crawl", "--frobnicate", "a.test"]).refused(2, &["--frobnicate", "--help"]);
    alone.run(&["frobnicate"]).refused(2, &["frobnicate", "(see `curlew --help`)"]);
    alone.run(&["crawl", "--until", "soon"]).refused(2, &["'soon'", "(see `curlew crawl --help`)"]);
    alone.run(&["key", "shwo"]).refused(2, &["shwo", "(see `curlew key --help`)"]);
    for command in ["demo", "serve", "health"] {
        alone.run(&[command, "--listen", "8080"]).refused(2, &["write ADDR:PORT, such as 127.0.0.1:8090", command]);
    }
    alone.run(&["export", "records", "--since", "yesterday"]).refused(2, &["'yesterday'", "2026-05-01"]);
    alone.run(&["crawl", "--history", "--since", "05/01/2026"]).refused(2, &["2026-05-01"]);
    alone.run(&["crawl", "--workers", "many", "a.test"]).refused(2, &["many"]);
    alone.run(&["crawl", "--workers", "0", "a.test"]).refused(2, &["workers"]);
    alone.run(&["crawl", "--allow-net", "10.0.0.0/99", "a.test"]).refused(2, &["10.0.0.0/99"]);
    alone.run(&["crawl", "--resolve", "nonsense", "a.test"]).refused(2, &["nonsense"]);
    alone.run(&["crawl", "--contact", "me", "a.test"]).refused(2, &["contact"]);
    let mut nothing = curlew([] as [&str; 0]);
    nothing.current_dir(alone.around());
    let ran = Child::spawn(nothing).wait(LIMIT);
    assert_eq!(ran.code(), 2, "{ran:?}");
    for site in [
        "::nonsense::",
        "http://",
        "ftp://example.org/",
        "http://user:secret@example.org/",
        "http://127.0.0.1:22/",
        "http://[fe80::1]/",
    ] {
        alone.run(&["crawl", site, "--contact", "me@example.org"]).refused(2, &["cannot be crawled"]);
    }
    for command in ["crawl", "poll"] {
        let ran = alone.run(&[command, "http://me:secret@example.org/", "--contact", "me@example.org"]);
        assert!(ran.code() != 0 && ran.stderr.contains("http://…@example.org/"), "{ran:?}");
        assert!(!format!("{ran:?}").contains("secret"), "{ran:?}");
    }
    alone.run(&["crawl", "example.org"]).refused(2, &["contact", "--contact"]);
    alone.run(&["crawl", "--feed", "https://example.org/feed.xml"]).refused(2, &["contact", "--contact"]);
    assert_eq!(start(["--version"]).wait(LIMIT).ok().stdout.split(' ').next(), Some("curlew"));
    assert!(start(["--help"]).wait(LIMIT).ok().stdout.contains("Usage:"));
}

#[test]
fn a_port_that_is_taken_is_said_before_the_work_begins() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = taken.local_addr().unwrap().to_string();
    let alone = Store::alone();
    for command in ["demo", "serve"] {
        let began = Instant::now();
        let ran = alone.run(&[command, "--listen", &addr]);
        assert_eq!(ran.code(), 1, "{ran:?}");
        assert!(ran.stderr.contains(&addr) && ran.stderr.contains("--listen"), "{ran:?}");
        assert!(!ran.stdout.contains("small sites are up"), "{ran:?}");
        assert!(began.elapsed() < Duration::from_secs(30), "{ran:?}");
    }
}

#[test]
fn a_store_that_cannot_be_used_says_why() {
    let web = Web::uniform(&Uniform { hosts: 1, pages: 1, bytes: 4096, images: false, prefix: "store".into() });
    let made = Store::new(&web);
    for command in ["status", "sites", "search"] {
        let args: &[&str] = if command == "search" { &["search", "x"] } else { &[command] };
        made.run(args).refused(1, &["there is no folder", "crawl something first"]);
    }
    made.crawl(&web.starts());

    // Nobody can create a folder there, not even the superuser.
    for command in [&["crawl", "http://store-0001.test/"][..], &["serve"]] {
        let mut readonly = curlew(command);
        readonly.args(["--data", "/sys/kernel/curlew", "--resolve", &web.resolve()]).current_dir(made.around());
        Child::spawn(readonly)
            .wait(LIMIT)
            .refused(1, &["/sys/kernel/curlew", "cannot be written", "name another folder"]);
    }
    let path = made.file("file", "not a folder");
    let blocked = start(["crawl", "http://store-0001.test/", "--resolve", &web.resolve(), "--data", &path]);
    blocked.wait(LIMIT).refused(1, &[&path, "a file is in the way"]);

    Connection::open(made.database()).unwrap().pragma_update(None, "user_version", 9_999).unwrap();
    for args in [&["crawl"][..], &["status"], &["serve"]] {
        made.run(args).refused(1, &["version 9999", "use a newer curlew"]);
    }
    let text = "this is no database, and long enough to be looked at as one, line after line\n".repeat(100);
    std::fs::write(made.database(), text).unwrap();
    made.run(&["status"]).refused(1, &["not a store"]);
}

#[test]
fn a_second_process_on_the_folder_is_refused() {
    let web = Web::uniform(&Uniform { hosts: 2, pages: 4, bytes: 4096, images: false, prefix: "twice".into() });
    let store = Store::new(&web);
    let first = store.start_crawl(&web.starts());
    until(LIMIT, || "the crawl does not begin".into(), || !web.calls().is_empty());
    let named = format!("process {}", first.id());
    for args in [&["crawl", "http://twice-0002.test/"][..], &["serve"], &["sample", "--all"], &["index"]] {
        store.run(args).refused(1, &["in use", &named, "wait until it ends"]);
    }
    // A process that only reads is allowed.
    store.run(&["status"]).ok();
    assert_eq!(first.wait(LIMIT).ok().json()["accepted"], 8, "the first process was not disturbed");
}

/// A crawl that is asked to stop ends soon and successfully, and the next crawl continues its work.
#[test]
fn a_crawl_that_is_asked_to_stop_or_has_a_deadline_is_taken_up_again() {
    let web = Web::uniform(&Uniform { hosts: 3, pages: 4, bytes: 4096, images: false, prefix: "pause".into() });
    let store = Store::new(&web);
    let began = Instant::now();
    let first = store.run(&args(&["crawl", "--json", "--until", "2s"], &web.starts())).ok().json();
    assert!(first["accepted"].as_u64().unwrap() < 12 && first["parked"].as_u64().unwrap() > 0, "{first}");
    assert!(began.elapsed() < Duration::from_secs(25), "no call begins afterwards: {:?}", began.elapsed());

    let second = store.start(&["crawl", "--json"]);
    std::thread::sleep(Duration::from_millis(1_500));
    second.terminate();
    let asked = Instant::now();
    second.wait(LIMIT).ok();
    assert!(asked.elapsed() < Duration::from_secs(20), "{:?}", asked.elapsed());

    let last = store.run(&["crawl", "--json"]).ok().json();
    assert_eq!((&last["dead"], &last["parked"]), (&json!(0), &json!(0)));
    assert_eq!(store.records().len(), 12, "nothing was lost");
    let found: usize = web.farm().sites().iter().map(|site| store.found(&format!("site:{}", site.host)).len()).sum();
    assert_eq!(found, 12);
}

/// Runs a command on a small in-memory disk in its own mount namespace. Where that is not permitted, file sizes are
/// limited instead.
const FULL_DISK: &str = r#"
set -u
data="$1"; shift
mkdir -p "$data"
if mount -t tmpfs -o size=640k curlew-test "$data" 2>/dev/null; then
    "$@" >full.out 2>full.err; echo "full $?"
    "$@" >again.out 2>again.err; echo "again $?"
    mount -o remount,size=64m "$data"
else
    (trap '' XFSZ; ulimit -f 384; exec "$@") >full.out 2>full.err; echo "full $?"
    (trap '' XFSZ; ulimit -f 384; exec "$@") >again.out 2>again.err; echo "again $?"
fi
"$@" >free.out 2>free.err; echo "free $?"
"$CURLEW" export records --data "$data" >records.out
"$CURLEW" status --json --data "$data" >status.out
"#;

#[test]
fn a_full_disk_is_said_and_loses_nothing() {
    const PAGES: usize = 24;
    let web = Web::uniform(&Uniform { hosts: 12, pages: 2, bytes: 60 * 1024, images: true, prefix: "full".into() });
    let mut store = Store::new(&web);
    store.configure(
        "[rules]\nmin_pause = \"20ms\"\njitter = [\"1ms\", \"2ms\"]\npoisson_mean = \"0ms\"\nrefill = \"1ms\"\n",
    );
    let mut crawl = Command::new(binary());
    crawl.args(["crawl", "--json"]).args(web.starts());
    store.on_this_store(&mut crawl);
    let mut script = Command::new(if is_root() { "unshare" } else { "bash" });
    script.args(if is_root() { &["--mount", "bash"][..] } else { &[] });
    script.args(["-c", FULL_DISK, "full-disk"]).arg(store.data()).arg(crawl.get_program()).args(crawl.get_args());
    script.env("CURLEW", binary()).current_dir(store.around()).stdin(Stdio::null());
    let ran = Child::spawn(script).wait(LIMIT);
    let read = |name: &str| std::fs::read_to_string(store.around().join(name)).unwrap_or_default();
    let all =
        format!("{}\nfull: {}\nagain: {}\nfree: {}", ran.stdout, read("full.err"), read("again.err"), read("free.err"));

    assert!(ran.stdout.contains("full 1"), "a full disk is a failure: {all}");
    let said = read("full.err");
    let last = said.trim_end().lines().last().unwrap_or_default();
    assert!(last.starts_with("curlew: ") && last.contains("full") && last.contains("free some space"), "{all}");
    assert!(!said.contains("panicked"), "{all}");
    assert!(ran.stdout.contains("free 0"), "with free space the crawl continues: {all}");
    let records: Vec<Value> = read("records.out").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(urls(&records).len(), PAGES, "nothing is lost: {all}\n{}", read("free.out"));
    assert_eq!(records.len(), PAGES);
    let status: Value = serde_json::from_str(&read("status.out")).unwrap();
    assert_eq!(status["dead"], 0, "{status}");
}

pub(crate) fn is_root() -> bool {
    let said = Command::new("id").arg("-u").output().unwrap();
    said.stdout.trim_ascii() == b"0"
}
