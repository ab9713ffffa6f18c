//! Tests of opening, refusing, sharing and reopening stores.

use super::{DATABASE, HOUR, NOW, dir, get, open, put};
use bytes::Bytes;
use curlew_embedded::{Access, OpenError, Store};
use curlew_model::{HostKey, HostState, Millis, QueueName, Timestamp};
use curlew_ports::{Blobs, PortError, Version};
use curlew_testkit::sample::poll;
use rusqlite::Connection;
use std::fs;
use std::path::Path;

/// Returns the error of opening the store, which must be one line.
fn refusal(dir: &Path, access: Access) -> OpenError {
    let error = Store::open(dir, access).expect_err("is refused");
    assert!(!error.to_string().contains('\n'), "{error}");
    error
}

fn host(name: &str) -> HostKey {
    HostKey::new(name).expect("a host key")
}

#[tokio::test]
async fn a_store_is_read_back_after_it_was_closed() {
    let dir = dir();
    let store = open(dir.path());
    let version = store.ports().marks.swap("m", Version::ABSENT, Timestamp::MAX).await.expect("swaps");
    put(&store, "a/b", "x").await;
    drop(store);
    let store = open(dir.path());
    assert_eq!(store.ports().marks.load("m").await.expect("loads"), (Some(Timestamp::MAX), version));
    assert_eq!(get(&store, "a/b").await, "x");
}

/// Returns a path and the paths of all files and folders below it.
#[cfg(unix)]
fn everything(path: &Path) -> Vec<std::path::PathBuf> {
    let mut all = vec![path.to_owned()];
    if path.is_dir() {
        all.extend(fs::read_dir(path).expect("lists").flat_map(|entry| everything(&entry.expect("an entry").path())));
    }
    all
}

#[cfg(unix)]
#[tokio::test]
async fn a_store_is_its_owners_alone_and_one_of_an_earlier_version_becomes_so() {
    use std::os::unix::fs::PermissionsExt;
    let open_to_others = |path: &Path| fs::metadata(path).expect("is there").permissions().mode() & 0o077 != 0;
    let dir = dir();
    let folder = dir.path().join("new/store");
    let fill = async |store: &Store| {
        store.ports().marks.swap("m", Version::ABSENT, Timestamp::MAX).await.expect("swaps");
        put(store, "web-secret", "x").await;
        store.objects().put_if_absent("a/b/c", Bytes::from_static(b"x")).await.expect("writes");
    };
    let store = open(&folder);
    fill(&store).await;
    let files = everything(&folder);
    for name in ["curlew.sqlite3", "curlew.sqlite3-wal", "curlew.sqlite3-shm", "curlew.lock", "a/b/c"] {
        assert!(files.iter().any(|path| path.ends_with(name)), "{name}: {files:?}");
    }
    assert_eq!(
        files.into_iter().filter(|path| open_to_others(path)).collect::<Vec<_>>(),
        [] as [std::path::PathBuf; 0]
    );
    drop(store);
    for path in everything(&folder) {
        let mode = if path.is_dir() { 0o755 } else { 0o644 };
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("changes");
    }
    let _store = open(&folder);
    for path in ["objects", "incoming", "curlew.sqlite3", "curlew.lock"] {
        assert!(!open_to_others(&folder.join(path)), "{path}");
    }
}

#[tokio::test]
async fn the_lock_is_held_until_the_last_part_is_dropped() {
    let dir = dir();
    let store = open(dir.path());
    let marks = store.ports().marks;
    let objects = store.objects();
    drop(store);
    assert!(matches!(refusal(dir.path(), Access::Exclusive), OpenError::InUse { .. }));
    drop(marks);
    assert!(matches!(refusal(dir.path(), Access::Exclusive), OpenError::InUse { .. }));
    drop(objects);
    open(dir.path());
}

#[tokio::test]
async fn people_can_look_and_block_while_another_is_at_work() {
    let dir = dir();
    let working = open(dir.path());
    let seen =
        working.ports().ledger.swap(&host("a.example"), Version::ABSENT, HostState::default()).await.expect("swaps");
    put(&working, "a", "x").await;

    let looking = Store::open(dir.path(), Access::Shared).expect("opens");
    let (state, version) = looking.ports().ledger.load(&host("a.example")).await.expect("loads");
    assert_eq!((&state, version), (&HostState::default(), seen));
    assert_eq!(get(&looking, "a").await, "x");
    let blocked = HostState { blocked: ["a.example".to_owned()].into(), ..state };
    looking.ports().ledger.swap(&host("a.example"), version, blocked.clone()).await.expect("swaps");

    let refused = working.ports().ledger.swap(&host("a.example"), seen, HostState::default()).await;
    assert!(matches!(refused, Err(PortError::Conflict)), "{refused:?}");
    assert_eq!(working.ports().ledger.load(&host("a.example")).await.expect("loads").0, blocked);
    drop(looking);
    working.ports().marks.swap("m", Version::ABSENT, Timestamp::MIN).await.expect("still works");
}

#[tokio::test]
async fn jobs_of_a_process_that_is_no_more_are_ready_again() {
    let dir = dir();
    let (now, hour) = (NOW, HOUR);
    let store = open(dir.path());
    store.ports().queue.send(&[(poll(1), now), (poll(2), now), (poll(3), now + hour)]).await.expect("sends");
    let before = store.ports().inbox.receive(QueueName::Poll, 1, hour, now).await.expect("receives");
    drop(store);

    let store = open(dir.path());
    assert_eq!(store.recover(now).await.expect("recovers"), 1);
    assert_eq!(store.recover(now).await.expect("recovers"), 0);
    store.ports().inbox.ack(&before[0].receipt).await.expect("is harmless");
    let received = store.ports().inbox.receive(QueueName::Poll, 10, hour, now).await.expect("receives");
    let jobs: Vec<_> = received.iter().map(|d| (d.job.clone().expect("a job"), d.receives)).collect();
    assert_eq!(jobs, [(poll(1), 2), (poll(2), 1)], "the job that was handed out must come first");
    drop(store);

    let store = open(dir.path());
    store.ports().queue.send(&[(poll(4), Timestamp::EPOCH)]).await.expect("sends");
    assert_eq!(store.recover(now).await.expect("recovers"), 2);
    let received = store.ports().inbox.receive(QueueName::Poll, 2, hour, now).await.expect("receives");
    let receives: Vec<_> = received.iter().map(|d| d.receives).collect();
    assert_eq!(receives, [3, 2], "the job that was handed out most often must come first");
}

#[tokio::test]
async fn jobs_that_a_wrong_clock_put_off_for_years_are_due_when_the_store_is_opened_again() {
    let dir = dir();
    let (now, days) = (NOW, Millis::from_days);
    let store = open(dir.path());
    store.ports().queue.send(&[(poll(1), now + days(7_300)), (poll(2), now + days(28))]).await.expect("sends");
    assert_eq!(store.recover(now).await.expect("recovers"), 0);
    let received = store.ports().inbox.receive(QueueName::Poll, 10, days(1), now).await.expect("receives");
    assert_eq!(received.into_iter().map(|d| d.job.expect("a job")).collect::<Vec<_>>(), [poll(1)]);
}

#[test]
fn what_is_no_store_of_ours_or_damaged_is_left_alone() {
    let notes = "These are my notes, and they are not a database at all. ".repeat(100);
    let later = |path: &Path| {
        drop(open(path.parent().expect("a folder")));
        let database = Connection::open(path).expect("opens");
        database.pragma_update(None, "user_version", 99).expect("writes");
    };
    let foreign = |path: &Path| {
        let database = Connection::open(path).expect("opens");
        database.execute_batch("CREATE TABLE t (x); INSERT INTO t VALUES (7);").expect("writes");
    };
    let no_database = |path: &Path| fs::write(path, &notes).expect("writes");
    let damaged = |path: &Path| {
        drop(open(path.parent().expect("a folder")));
        let mut bytes = fs::read(path).expect("reads");
        // The header stays valid; the page that lists the tables is destroyed.
        bytes[100..4_096].fill(0xaa);
        fs::write(path, bytes).expect("writes");
    };
    type Case<'a> = (&'a dyn Fn(&Path), &'a str, &'a str);
    let cases: [Case<'_>; 4] = [
        (&later, "NewerVersion", "has version 99, but this program knows only versions up to 1: use a newer curlew"),
        (&foreign, "NotAStore", "another program"),
        (&no_database, "NotAStore", "not a database"),
        (&damaged, "Damaged", "put back a copy"),
    ];
    for (spoil, kind, says) in cases {
        let dir = dir();
        let path = dir.path().join(DATABASE);
        spoil(&path);
        let before = fs::read(&path).expect("reads");
        for access in [Access::Exclusive, Access::Shared] {
            let error = refusal(dir.path(), access);
            assert!(format!("{error:?}").starts_with(kind) && error.to_string().contains(says), "{error:?}: {error}");
        }
        assert_eq!(fs::read(&path).expect("reads"), before, "{says}");
    }
}

#[tokio::test]
async fn a_damaged_table_is_told() {
    let dir = dir();
    let store = open(dir.path());
    for n in 0..200 {
        let name = format!("mark-{n}");
        store.ports().marks.swap(&name, Version::ABSENT, Timestamp::MIN).await.expect("swaps");
    }
    drop(store);
    let path = dir.path().join(DATABASE);
    let mut bytes = fs::read(&path).expect("reads");
    bytes[4_096..].fill(0xaa);
    fs::write(&path, bytes).expect("writes");
    let store = open(dir.path());
    let error = store.ports().marks.load("mark-1").await.expect_err("is damaged");
    assert!(matches!(error, PortError::Corrupt { .. }), "{error:?}");
}

#[tokio::test]
async fn a_row_that_cannot_be_read_names_itself() {
    let dir = dir();
    let store = open(dir.path());
    let database = Connection::open(dir.path().join(DATABASE)).expect("opens");
    let insert = "INSERT INTO hosts (host, version, state) VALUES ('a.example', 1, '{\"failures\":-1}')";
    database.execute(insert, []).expect("writes");
    let error = store.ports().ledger.load(&host("a.example")).await.expect_err("cannot be read");
    assert!(matches!(&error, PortError::Corrupt { what, .. } if what.contains("a.example")), "{error:?}");
}

#[test]
fn nothing_there_is_no_store_to_look_at() {
    let dir = dir();
    let missing = dir.path().join("missing");
    for path in [dir.path(), &missing] {
        let error = refusal(path, Access::Shared);
        assert!(matches!(error, OpenError::NotAStore { .. } | OpenError::Missing { .. }), "{error:?}");
        assert!(error.to_string().contains("crawl something first"), "{error}");
    }
    assert!(!missing.exists());
    assert_eq!(fs::read_dir(dir.path()).expect("reads").count(), 0, "looking leaves nothing behind");
}

#[test]
fn a_file_in_the_way_is_told() {
    let dir = dir();
    let file = dir.path().join("file");
    fs::write(&file, "x").expect("writes");
    for path in [file.clone(), file.join("below")] {
        let error = refusal(&path, Access::Exclusive);
        assert!(matches!(&error, OpenError::NotAStore { why, .. } if why.contains("in the way")), "{error:?}");
    }
    assert_eq!(fs::read_to_string(&file).expect("reads"), "x");
}

/// Not even the superuser can create folders in `/sys`.
#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_cannot_be_written_is_told() {
    let error = refusal(Path::new("/sys/curlew-store"), Access::Exclusive);
    assert!(matches!(error, OpenError::ReadOnly { .. }), "{error:?}");
    assert!(error.to_string().contains("permissions"), "{error}");
}

#[tokio::test]
async fn what_was_never_finished_is_swept() {
    let dir = dir();
    let store = open(dir.path());
    put(&store, "a/b", "x").await;
    drop(store);
    let left = dir.path().join("incoming").join("123-0");
    fs::write(&left, "half an obj").expect("writes");
    let looking = Store::open(dir.path(), Access::Shared).expect("opens");
    assert!(left.exists(), "another process may still be writing it");
    drop(looking);
    let store = open(dir.path());
    assert!(!left.exists());
    assert_eq!(store.objects().list("", None, 10).await.expect("lists"), ["a/b"]);
    put(&store, "c", "y").await;
    assert!(!store.objects().put_if_absent("c", Bytes::from_static(b"z")).await.expect("tries"));
    assert_eq!(fs::read_dir(dir.path().join("incoming")).expect("reads").count(), 0);
}

#[tokio::test]
async fn objects_that_cannot_be_written_leave_the_old_ones() {
    let dir = dir();
    let store = open(dir.path());
    put(&store, "a/b", "old").await;
    // Not even the superuser can create a file below `incoming` once `incoming` is a file.
    fs::remove_dir(dir.path().join("incoming")).expect("removes");
    fs::write(dir.path().join("incoming"), "").expect("writes");
    let error = store.objects().put("a/b", Bytes::from_static(b"new")).await;
    assert!(error.is_err());
    assert_eq!(get(&store, "a/b").await, "old");
}

#[tokio::test]
async fn a_key_that_is_a_folder_of_others_is_refused() {
    let dir = dir();
    let objects = open(dir.path()).objects();
    objects.put("a/b", Bytes::new()).await.expect("writes");
    for key in ["a", "a/b/c"] {
        for refused in [
            objects.put(key, Bytes::new()).await.err(),
            objects.put_if_absent(key, Bytes::new()).await.err(),
            objects.swap(key, None, Bytes::new()).await.err(),
        ] {
            assert!(matches!(refused, Some(PortError::Corrupt { .. })), "{key}: {refused:?}");
        }
        assert_eq!(objects.get(key).await.expect("reads"), None);
        objects.delete(key).await.expect("deletes nothing");
    }
    assert_eq!(objects.list("", None, 10).await.expect("lists"), ["a/b"]);
}

#[tokio::test]
async fn files_that_are_no_objects_are_not_listed() {
    let dir = dir();
    let objects = open(dir.path()).objects();
    objects.put("a", Bytes::new()).await.expect("writes");
    for name in ["a~", "a b", ".DS Store"] {
        fs::write(dir.path().join("objects").join(name), "").expect("writes");
    }
    assert_eq!(objects.list("", None, 10).await.expect("lists"), ["a"]);
}

/// Increments a number in an object `times` times, each time by a swap that is retried until it succeeds.
async fn count_up(store: Store, times: u64) {
    let objects = store.objects();
    for _ in 0..times {
        loop {
            let blob = objects.get("count").await.expect("reads").expect("is there");
            let number: u64 = std::str::from_utf8(&blob.bytes).expect("text").parse().expect("a number");
            match objects.swap("count", Some(&blob.tag), Bytes::from((number + 1).to_string())).await {
                Ok(tag) => {
                    let now = objects.get("count").await.expect("reads").expect("is there");
                    let is_newer = now.bytes != (number + 1).to_string();
                    assert!(is_newer || now.tag == tag, "the tag must be that of the written bytes");
                    break;
                }
                Err(PortError::Conflict) => {}
                Err(other) => panic!("{other}"),
            }
        }
    }
}

/// Each opened store has its own latches, like another process.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_swap_beside_that_of_another_process_is_lost() {
    const TIMES: u64 = 100;
    let dir = dir();
    let first = open(dir.path());
    put(&first, "count", "0").await;
    let beside = || Store::open(dir.path(), Access::Shared).expect("opens");
    let writers = [first.clone(), beside(), beside(), beside()].map(|store| tokio::spawn(count_up(store, TIMES)));
    for writer in writers {
        writer.await.expect("counts");
    }
    assert_eq!(get(&first, "count").await, (4 * TIMES).to_string());
}
