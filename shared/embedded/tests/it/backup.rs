//! Backups of a store in use, and the refusal of backups that were changed.

use super::{DATABASE, HOUR, NOW, dir, get, jobs, open, put};
use curlew_embedded::{Access, BackupError, OpenError, Store, backup, restore};
use curlew_model::{QueueName, Timestamp};
use curlew_ports::Blobs;
use curlew_testkit::sample::{poll, poll_number};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tempfile::TempDir;

const BACKUPS: usize = 5;
/// Number of objects that no writer touches.
const OTHERS: usize = 1_000;
async fn filled(dir: &Path) -> Store {
    let store = open(dir);
    for n in 0..20_u8 {
        put(&store, &format!("o/{n}"), vec![n; 4_000]).await;
        store.ports().queue.send(&[(poll(n.into()), NOW)]).await.expect("sends");
    }
    fs::write(dir.join("keys.json"), "secret").expect("writes");
    store
}

/// Returns the folders of a filled store and of its backups, and the backup.
async fn saved() -> (TempDir, TempDir, PathBuf) {
    let (dir, copies) = (dir(), dir());
    drop(filled(dir.path()).await);
    let copy = copies.path().join("copy");
    backup(dir.path(), &copy, NOW).expect("is taken");
    (dir, copies, copy)
}

/// Each job has an object, which is replaced while the job waits and deleted when it is done. A backup taken meanwhile
/// must have the object of every job in it.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_backup_beside_writers_has_everything_that_its_rows_name() {
    let (dir, copies) = (dir(), dir());
    let store = open(dir.path());
    // Many other objects come first, so that time passes before the objects of jobs are linked.
    fs::create_dir(dir.path().join("objects/a")).expect("creates");
    (0..OTHERS).for_each(|n| fs::write(dir.path().join(format!("objects/a/{n}")), "").expect("writes"));
    let is_over = Arc::new(AtomicBool::new(false));
    let writers: Vec<_> = (0..8_u64)
        .map(|writer| {
            let (store, is_over) = (store.clone(), is_over.clone());
            tokio::spawn(async move {
                let mut n = writer;
                while !is_over.load(Ordering::Relaxed) {
                    let key = format!("o/{n}");
                    put(&store, &key, n.to_string()).await;
                    store.ports().queue.send(&[(poll(n), Timestamp::EPOCH)]).await.expect("sends");
                    put(&store, &key, n.to_string()).await;
                    for done in store.ports().inbox.receive(QueueName::Poll, 1, HOUR, NOW).await.expect("receives") {
                        store.ports().inbox.ack(&done.receipt).await.expect("is done");
                        let key = format!("o/{}", poll_number(&done.job));
                        store.objects().delete(&key).await.expect("deletes");
                    }
                    n += 8;
                }
            })
        })
        .collect();
    for n in 0..BACKUPS {
        let (from, to) = (dir.path().to_owned(), copies.path().join(n.to_string()));
        tokio::task::spawn_blocking(move || backup(&from, &to, NOW)).await.expect("ends").expect("is taken");
    }
    is_over.store(true, Ordering::Relaxed);
    for writer in writers {
        writer.await.expect("writes until it is told to end");
    }
    assert_eq!(fs::read_dir(dir.path().join("incoming")).expect("lists").count(), 0, "nothing is left behind");
    let mut named = 0;
    for n in 0..BACKUPS {
        let twin = copies.path().join(format!("twin-{n}"));
        restore(&copies.path().join(n.to_string()), &twin, false, NOW).expect("is restored");
        let twin = open(&twin);
        twin.recover(NOW).await.expect("recovers");
        for n in jobs(&twin).await {
            assert_eq!(get(&twin, &format!("o/{n}")).await, n.to_string());
            named += 1;
        }
    }
    assert!(named > 0, "no backup had a job on its way");
}

#[tokio::test]
async fn a_restored_store_is_the_one_that_was_saved() {
    let (dir, copy, twin) = (dir(), dir(), dir());
    let (copy, twin) = (copy.path().join("new/backup"), twin.path().join("new/store"));
    let store = filled(dir.path()).await;
    let report = backup(dir.path(), &copy, NOW).expect("is taken while the store is open");
    assert_eq!(report.files, 22);
    // Later changes to the store do not reach the backup.
    put(&store, "o/3", "new").await;
    store.objects().delete("o/4").await.expect("deletes");
    drop(store);
    for access in [Access::Exclusive, Access::Shared] {
        let refused = Store::open(&copy, access).expect_err("is no store");
        assert!(matches!(refused, OpenError::IsBackup { .. }), "{refused}");
    }
    let restored = restore(&copy, &twin, false, NOW).expect("is restored");
    assert_eq!((restored.files, restored.bytes, restored.taken_at), (report.files, report.bytes, NOW));
    let store = open(&twin);
    assert_eq!(jobs(&store).await, (0..20).collect::<Vec<_>>());
    for n in 0..20_u8 {
        assert_eq!(get(&store, &format!("o/{n}")).await, vec![n; 4_000]);
    }
    assert_eq!(fs::read_to_string(twin.join("keys.json")).expect("reads"), "secret");
    put(&store, "o/5", "new").await;
    drop(store);
    restore(&copy, &twin, true, NOW).expect("the backup is still whole");
}

#[cfg(unix)]
#[tokio::test]
async fn a_backup_is_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt;
    let (_dir, _copies, copy) = saved().await;
    for path in [".", "objects", "objects/o", "objects/o/1", "curlew.sqlite3", "keys.json", "backup.json", "SHA256SUMS"]
    {
        let mode = fs::metadata(copy.join(path)).expect("is there").permissions().mode();
        assert_eq!(mode & 0o077, 0, "{path}: {mode:o}");
    }
}

#[tokio::test]
async fn a_running_or_filled_folder_is_not_restored_over() {
    let (dir, copy, other) = (dir(), dir(), dir());
    let copy = copy.path().join("backup");
    let store = filled(dir.path()).await;
    backup(dir.path(), &copy, NOW).expect("is taken");
    for replace in [false, true] {
        let refused = restore(&copy, dir.path(), replace, NOW).expect_err("is in use");
        assert!(matches!(refused, BackupError::Store(OpenError::InUse { .. })), "{refused}");
    }
    drop(store);
    let refused = restore(&copy, dir.path(), false, NOW).expect_err("is not empty");
    assert!(matches!(refused, BackupError::Occupied { .. }), "{refused}");
    fs::write(other.path().join("letter.txt"), "mine").expect("writes");
    let refused = restore(&copy, other.path(), false, NOW).expect_err("is not empty");
    assert!(matches!(refused, BackupError::Occupied { .. }), "{refused}");

    put(&open(dir.path()), "o/1", "later").await;
    let aside = restore(&copy, dir.path(), true, NOW).expect("takes its place").aside.expect("was put aside");
    assert_eq!(fs::read(aside.join("objects/o/1")).expect("is kept"), b"later");
    assert_eq!(get(&open(dir.path()), "o/1").await.len(), 4_000);
}

#[tokio::test]
async fn a_backup_that_was_changed_is_refused_and_names_the_file() {
    let (dir, copies) = (dir(), dir());
    drop(filled(dir.path()).await);
    let half = |bytes: Vec<u8>| bytes[..bytes.len() / 2].to_vec();
    let flipped = |mut bytes: Vec<u8>| {
        let at = bytes.len() / 2;
        bytes[at] ^= 1;
        bytes
    };
    type Change = fn(Vec<u8>) -> Vec<u8>;
    let changes: [(&str, Option<Change>); 3] = [("cut", Some(half)), ("flip", Some(flipped)), ("remove", None)];
    for name in ["curlew.sqlite3", "keys.json", "objects/o/7", "SHA256SUMS"] {
        for (how, change) in changes {
            let copy = copies.path().join(format!("{how}-{}", name.replace('/', "-")));
            backup(dir.path(), &copy, NOW).expect("is taken");
            let bytes = fs::read(copy.join(name)).expect("reads");
            // Write a new file, since the store has a link to the old one.
            fs::remove_file(copy.join(name)).expect("removes");
            if let Some(change) = change {
                fs::write(copy.join(name), change(bytes)).expect("writes");
            }
            let twin = copy.join("twin");
            let refused = restore(&copy, &twin, false, NOW).expect_err("is damaged");
            assert!(matches!(&refused, BackupError::Altered { file, .. } if file == name), "{how}: {refused}");
            let left: Vec<_> = fs::read_dir(&twin).into_iter().flatten().flatten().map(|e| e.file_name()).collect();
            assert!(left.iter().all(|name| name == "curlew.lock" || name == "incoming"), "{left:?}");
        }
    }
}

#[tokio::test]
async fn what_is_no_whole_backup_of_this_version_is_refused() {
    let (_dir, copies, copy) = saved().await;
    let twin = copies.path().join("twin");
    let refusal = |seal: Option<&str>| {
        match seal {
            Some(seal) => fs::write(copy.join("backup.json"), seal).expect("writes"),
            None => fs::remove_file(copy.join("backup.json")).expect("removes"),
        }
        restore(&copy, &twin, false, NOW).expect_err("is refused")
    };
    let seal = |form: u32, store: u32, sums: &str| {
        format!(r#"{{"form":{form},"store":{store},"taken_at":"2026-11-23T09:00:00Z","files":1,"bytes":1{sums}}}"#)
    };
    assert!(matches!(refusal(Some("{")), BackupError::Altered { .. }));
    assert!(matches!(refusal(Some(&seal(1, 1, ""))), BackupError::Unfinished { .. }));
    assert!(matches!(refusal(Some(&seal(1, 99, r#","sums":"x""#))), BackupError::Newer { found: 99, known: 1, .. }));
    assert!(matches!(refusal(Some(&seal(9, 1, r#","sums":"x""#))), BackupError::Newer { found: 9, known: 1, .. }));
    assert!(matches!(refusal(None), BackupError::NotABackup { .. }));
    assert!(!twin.exists());
}

#[tokio::test]
async fn a_backup_goes_into_a_new_folder_elsewhere() {
    let (dir, copies) = (dir(), dir());
    drop(filled(dir.path()).await);
    fs::write(copies.path().join("letter.txt"), "mine").expect("writes");
    let (inside, copy) = (dir.path().join("objects/backup"), copies.path().join("copy"));
    let refused = |from: &Path, to: &Path| backup(from, to, NOW).expect_err("is refused");
    assert!(matches!(refused(dir.path(), copies.path()), BackupError::NotEmpty { .. }));
    assert!(matches!(refused(dir.path(), &inside), BackupError::Inside { .. }) && !inside.exists());
    let no_store = refused(copies.path(), &copies.path().join("new"));
    assert!(matches!(no_store, BackupError::Store(OpenError::NotAStore { .. })), "{no_store}");
    backup(dir.path(), &copy, NOW).expect("is taken");
    assert!(matches!(refused(dir.path(), &copy), BackupError::NotEmpty { .. }));
    let unfinished = r#"{"form":1,"store":1,"taken_at":"2026-11-23T09:00:00Z","files":0,"bytes":0}"#;
    fs::write(copy.join("backup.json"), unfinished).expect("writes");
    assert!(matches!(refused(dir.path(), &copy), BackupError::Unfinished { .. }));
}

#[tokio::test]
async fn what_a_killed_backup_left_is_swept_and_a_living_one_is_not() {
    let (dir, copies) = (dir(), dir());
    drop(filled(dir.path()).await);
    let folder = |name: &str| dir.path().join("incoming").join(name);
    let leave = |name: &str| {
        fs::create_dir_all(folder(name).join("objects/o")).expect("creates");
        fs::write(folder(name).join("objects/o/1"), "old").expect("writes");
    };
    // In a container the next process often has the same number.
    let own = format!("backup-{}", std::process::id());
    ["backup-1", "backup-2", &own].into_iter().for_each(leave);
    let lock = fs::File::open(folder("backup-2")).expect("opens");
    lock.lock().expect("locks");
    backup(dir.path(), &copies.path().join("copy"), NOW).expect("is taken");
    assert!(!folder("backup-1").exists() && !folder(&own).exists());
    leave("backup-1");
    drop(open(dir.path()));
    assert!(!folder("backup-1").exists() && folder("backup-2/objects/o/1").exists());
    drop(lock);
    drop(open(dir.path()));
    assert!(!folder("backup-2").exists());
}

#[tokio::test]
async fn a_restore_that_was_cut_off_is_not_taken_for_a_store() {
    let (dir, _copies, copy) = saved().await;
    fs::write(dir.path().join("curlew.restoring"), "").expect("writes");
    for access in [Access::Exclusive, Access::Shared] {
        let refused = Store::open(dir.path(), access).expect_err("is half restored");
        assert!(refused.to_string().contains("run `curlew restore` again, with --replace"), "{refused}");
    }
    restore(&copy, dir.path(), true, NOW).expect("goes on");
    assert_eq!(jobs(&open(dir.path())).await.len(), 20);
}

#[tokio::test]
async fn a_database_with_rows_that_belong_to_nothing_is_told_and_mended() {
    let dir = dir();
    let store = filled(dir.path()).await;
    assert_eq!(store.check().await.expect("checks"), curlew_embedded::DatabaseReport::default());
    let database = rusqlite::Connection::open(dir.path().join(DATABASE)).expect("opens");
    database.execute("DELETE FROM messages WHERE id IN (3, 4)", []).expect("deletes");
    database.execute("INSERT INTO messages (id, message) VALUES (999, 'stray')", []).expect("writes");
    let report = store.check().await.expect("checks");
    assert_eq!((report.faults.len(), report.lost, report.stray), (0, 2, 1));
    store.mend().await.expect("mends");
    assert_eq!(store.check().await.expect("checks"), curlew_embedded::DatabaseReport::default());
    assert_eq!(jobs(&store).await.len(), 18);
}
