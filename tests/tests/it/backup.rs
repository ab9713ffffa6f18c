//! Backups of a store that is being crawled, and damage that `curlew fsck` finds and repairs.

use crate::commands_failing::is_root;
use crate::kill::judge_store;
use curlew_fixtureweb::{Kind, Uniform};
use curlew_tests::{Child, LIMIT, Server, Store, Web, binary, until};
use rusqlite::Connection;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const HOSTS: usize = 20;
const PAGES: usize = 6;
/// Maximum number of backups during one crawl.
const BACKUPS: usize = 10;
/// Time between two backups.
const PAUSE: Duration = Duration::from_millis(300);
/// Number of bytes of a small disk, which must exceed SQLite's shared memory.
const FILE_BYTES: u64 = 64 << 10;

fn web(prefix: &str, hosts: usize, pages: usize) -> Web {
    Web::uniform(&Uniform { hosts, pages, bytes: 8 * 1024, images: true, prefix: prefix.into() })
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[track_caller]
fn back_up(store: &Store, name: &str) -> PathBuf {
    let to = store.around().join(name);
    let report = store.run(&["backup", path(&to), "--json"]).ok().json();
    assert!(report["files"].as_u64().unwrap() > 0, "{report}");
    to
}

/// Returns the report of fsck, and checks that it lists no damage.
#[track_caller]
fn is_sound(store: &Store) -> Value {
    let report = store.run(&["fsck", "--json"]).ok().json();
    assert_eq!(report["damage"], json!([]), "{report}");
    assert_eq!(report["database"], json!({"faults": [], "lost_messages": 0, "stray_messages": 0}), "{report}");
    report
}

/// Repairs the store and returns the damage that fsck found, of which there must be some.
#[track_caller]
fn damage(store: &Store) -> Vec<String> {
    let found = store.run(&["fsck", "--json"]);
    assert_eq!(found.code(), 1, "{found:?}");
    let kinds = |report: &Value| -> Vec<String> {
        let all = report["damage"].as_array().unwrap().iter();
        all.map(|damage| damage["what"].as_str().unwrap().to_owned()).collect()
    };
    let report = found.json();
    let mended = store.run(&["fsck", "--repair", "--json"]).ok().json();
    assert_eq!((kinds(&mended), &mended["left"]), (kinds(&report), &json!([])), "{mended}");
    is_sound(store);
    kinds(&report)
}

#[test]
fn backups_beside_a_hundred_workers_lose_nothing() {
    let web = web("saved", HOSTS, PAGES);
    let store = Store::brisk(&web);
    let mut crawl = store.start_crawl(&web.starts());
    until(LIMIT, || "the crawl does not begin".into(), || web.calls().len() >= HOSTS);
    let mut backups = Vec::new();
    while crawl.is_running() && backups.len() < BACKUPS {
        backups.push(back_up(&store, &format!("backup-{}", backups.len())));
        std::thread::sleep(PAUSE);
    }
    crawl.wait(LIMIT).ok();
    let expected = judge_store(&store, &web);
    assert_eq!(expected.len(), HOSTS * PAGES);
    assert!(backups.len() > 3, "only {} backups were taken meanwhile", backups.len());

    let mut on_their_way = 0;
    for (n, backup) in backups.iter().enumerate() {
        let twin = Store::brisk(&web);
        twin.run(&["restore", path(backup), "--json"]).ok();
        let report = is_sound(&twin);
        let has_all = report["records"] == HOSTS * PAGES;
        on_their_way += usize::from(!has_all);
        // A restored twin that is crawled to the end has the same pages.
        if n == backups.len() / 3 || n == backups.len() - 1 {
            twin.crawl(&web.starts());
            assert_eq!(judge_store(&twin, &web), expected, "backup {n}");
        }
    }
    eprintln!("{} backups, {on_their_way} of them with pages on their way", backups.len());
    assert!(on_their_way > 0, "every backup was taken after the crawl had ended");
}

#[test]
fn backups_and_restores_that_cannot_be_done_say_why() {
    let web = web("refused", 2, 3);
    let store = Store::crawled(&web);
    let whole = back_up(&store, "whole");
    store.run(&["backup", path(&whole)]).refused(1, &["not empty", "name a new one"]);
    store.run(&["backup", path(&store.data().join("inside"))]).refused(1, &["in the store's folder", "elsewhere"]);
    store.run(&["restore", path(&whole)]).refused(1, &["not empty", "--data", "--replace"]);
    Store::alone().run(&["backup", path(&store.around().join("x"))]).refused(1, &["no", "store"]);
    Store::alone().run(&["restore", path(store.around())]).refused(1, &["not a backup"]);
    for args in [&["status"][..], &["crawl"], &["fsck"]] {
        let mut inside = curlew_tests::curlew(args);
        inside.arg("--data").arg(&whole);
        Child::spawn(inside).wait(LIMIT).refused(1, &["holds a backup", "curlew restore"]);
    }
    // Nobody can create a folder there, not even the superuser.
    store.run(&["backup", "/sys/kernel/curlew"]).refused(1, &["/sys/kernel/curlew", "cannot be written"]);
    let mut readonly = curlew_tests::curlew(["restore", path(&whole), "--data", "/sys/kernel/curlew"]);
    readonly.current_dir(store.around());
    Child::spawn(readonly).wait(LIMIT).refused(1, &["/sys/kernel/curlew", "cannot be written"]);

    // The following backups have been changed.
    let copy = |name: &str| {
        let to = store.around().join(name);
        assert!(Command::new("cp").arg("-r").arg(&whole).arg(&to).status().unwrap().success());
        to
    };
    let split = fs::read_dir(whole.join("objects/splits/")).unwrap().next().unwrap().unwrap().path();
    let split = fs::read_dir(split).unwrap().next().unwrap().unwrap().path();
    let split = path(split.strip_prefix(&whole).unwrap()).to_owned();
    let cut = copy("cut");
    let database = fs::File::options().write(true).open(cut.join("curlew.sqlite3")).unwrap();
    database.set_len(8_192).unwrap();
    let altered = copy("altered");
    let mut bytes = fs::read(altered.join(&split)).unwrap();
    bytes[100] ^= 1;
    fs::write(altered.join(&split), bytes).unwrap();
    let short = copy("short");
    fs::remove_file(short.join(&split)).unwrap();
    let newer = copy("newer");
    let mut seal: Value = serde_json::from_slice(&fs::read(newer.join("backup.json")).unwrap()).unwrap();
    seal["store"] = json!(99);
    fs::write(newer.join("backup.json"), seal.to_string()).unwrap();
    for (backup, words) in [
        (&cut, ["damaged", "curlew.sqlite3", "nothing was restored"]),
        (&altered, ["damaged", &split, "changed or cut short"]),
        (&short, ["damaged", &split, "is missing"]),
        (&newer, ["version 99", "only versions up to 1", "use a newer curlew"]),
    ] {
        let twin = Store::alone();
        twin.run(&["restore", path(backup)]).refused(1, &words);
        assert!(!twin.database().exists());
        // A refused backup does not replace an existing store either.
        store.run(&["restore", path(backup), "--replace"]).refused(1, &words);
        assert_eq!(store.records().len(), 6);
    }

    let serving = Server::start(&store);
    let named = format!("process {}", serving.id());
    for args in [&["restore", path(&whole)][..], &["restore", path(&whole), "--replace"], &["fsck"]] {
        store.run(args).refused(1, &["in use", &named, "wait until it ends"]);
    }
    back_up(&store, "beside");
    serving.stop();

    store.run(&["restore", path(&whole), "--replace"]).ok();
    assert_eq!(store.records().len(), 6);
    is_sound(&store);
    let aside = |entry: &fs::DirEntry| entry.file_name().to_string_lossy().starts_with("before-restore-");
    let aside = fs::read_dir(store.data()).unwrap().map(Result::unwrap).find(aside).unwrap().path();
    assert!(aside.join("curlew.sqlite3").exists(), "the earlier store is kept");

    Connection::open(store.database()).unwrap().pragma_update(None, "user_version", 99).unwrap();
    store.run(&["backup", path(&store.around().join("later"))]).refused(1, &["version 99", "use a newer curlew"]);
}

/// Runs a command with a small disk at `$1`, of `$2` bytes. If permitted, the disk is a file system of its own, which
/// differs from the store's. Otherwise a limit on file sizes makes writes fail as on a full disk. Keeps the files that
/// the command wrote.
const SMALL_DISK: &str = r#"
disk=$1; bytes=$2; shift 2
mkdir "$disk"
if [ "$(id -u)" = 0 ]; then
    mount -t tmpfs -o "size=$bytes" none "$disk" && "$@"
else
    (trap '' XFSZ; ulimit -f $((bytes / 1024)); exec "$@")
fi
code=$?
cp -r "$disk/backup" "$disk-left"
exit $code
"#;

#[test]
fn a_backup_onto_a_full_disk_says_so_and_is_no_backup() {
    let web = web("full", 6, 6);
    let store = Store::crawled(&web);
    let database = fs::metadata(store.database()).unwrap().len();
    assert!(database > FILE_BYTES);
    let onto = |bytes: u64| {
        let disk = store.around().join(format!("disk-{bytes}"));
        let mut script = Command::new(if is_root() { "unshare" } else { "bash" });
        script.args(if is_root() { &["--mount", "bash"][..] } else { &[] }).args(["-c", SMALL_DISK, "small-disk"]);
        script.arg(&disk).arg(bytes.to_string()).arg(binary()).arg("backup").arg(disk.join("backup"));
        store.on_this_store(&mut script);
        let ran = Child::spawn(script).wait(LIMIT);
        (ran, disk.with_file_name(format!("disk-{bytes}-left")))
    };
    // In the first case not even the database fits; in the second, not all objects do.
    let sizes = [FILE_BYTES, database + FILE_BYTES];
    for bytes in sizes.into_iter().take(if is_root() { 2 } else { 1 }) {
        let (ran, left) = onto(bytes);
        ran.refused(1, &["backup", "cannot be finished", "free some space"]);
        store.run(&["backup", path(&left)]).refused(1, &["not finished", "delete that folder"]);
        Store::alone().run(&["restore", path(&left)]).refused(1, &["not finished"]);
        let staged = fs::read_dir(store.data().join("incoming")).unwrap().count();
        assert_eq!((store.records().len(), staged), (36, 0));
        is_sound(&store);
    }
    let (ran, left) = onto(64 << 20);
    ran.ok();
    let twin = Store::alone();
    twin.run(&["restore", path(&left)]).ok();
    assert_eq!((is_sound(&twin)["records"].as_u64(), twin.records().len()), (Some(36), 36));
}

/// Runs a command while nothing can be written in the folder `$1`.
const READ_ONLY: &str = r#"
store=$1; shift
if [ "$(id -u)" = 0 ]; then
    mount --bind "$store" "$store" && mount -o remount,bind,ro "$store" && exec "$@"
else
    trap 'chmod -R u+w "$store"' EXIT
    chmod -R a-w "$store" && "$@"
fi
"#;

#[test]
fn a_store_that_may_not_be_written_is_saved_all_the_same() {
    let web = web("frozen", 1, 2);
    let store = Store::crawled(&web);
    let copy = store.around().join("copy");
    let frozen = |args: &[&str]| {
        let mut script = Command::new(if is_root() { "unshare" } else { "bash" });
        script.args(if is_root() { &["--mount", "bash"][..] } else { &[] }).args(["-c", READ_ONLY, "read-only"]);
        script.arg(store.data()).arg(binary()).args(args);
        store.on_this_store(&mut script);
        Child::spawn(script).wait(LIMIT)
    };
    frozen(&["backup", path(&copy)]).ok();
    // fsck can read the store, too.
    assert!(frozen(&["fsck"]).ok().stdout.contains("2 records"));
    let thumbnail = store.data().join("objects/thumbnails/00/x.jpg");
    fs::create_dir_all(thumbnail.parent().unwrap()).unwrap();
    fs::write(&thumbnail, "x").unwrap();
    let found = frozen(&["fsck"]);
    assert!(found.code() == 1 && found.stdout.contains("x.jpg cannot be read: it is no JPEG"), "{found:?}");
    assert!(
        found.stdout.contains("nothing can be repaired") && found.stderr.contains("make the folder writable"),
        "{found:?}"
    );
    fs::remove_dir_all(thumbnail.parent().unwrap()).unwrap();
    for args in [&["restore", path(&copy), "--replace"][..], &["fsck", "--repair"]] {
        frozen(args).refused(1, &[path(&store.data()), "cannot be written", "permissions"]);
    }
    let twin = Store::alone();
    twin.run(&["restore", path(&copy)]).ok();
    assert_eq!((is_sound(&twin)["records"].as_u64(), store.records().len()), (Some(2), 2));
}

/// Returns the rows of pages, sorted by URL.
fn rows(store: &Store) -> Vec<Value> {
    let mut rows = store.list("pages");
    rows.sort_by_key(|row| row["url"].as_str().unwrap().to_owned());
    rows
}

/// Overwrites a frame with one that zstd tools skip (RFC 8878 §3.1.2).
fn erase(objects: &Path, at: &Value) {
    let number = |name: &str| usize::try_from(at[name].as_u64().unwrap()).unwrap();
    let (offset, length) = (number("offset"), number("length"));
    let segment = objects.join(at["segment"].as_str().unwrap());
    let mut bytes = fs::read(&segment).unwrap();
    bytes[offset..offset + length].fill(0);
    bytes[offset..offset + 4].copy_from_slice(&0x184D_2A50_u32.to_le_bytes());
    bytes[offset + 4..offset + 8].copy_from_slice(&u32::try_from(length - 8).unwrap().to_le_bytes());
    fs::write(&segment, bytes).unwrap();
}

#[test]
fn damage_is_found_and_mended() {
    let web = web("mended", 2, 4);
    let store = Store::crawled(&web);
    is_sound(&store);
    let everything = |ran: &Store| ran.found("site:mended-0001.test").len() + ran.found("site:mended-0002.test").len();
    assert_eq!(everything(&store), 8);
    let objects = store.data().join("objects");
    let year = rows(&store)[0]["state"]["year"].to_string();
    let splits = objects.join("splits").join(&year);

    // One split is lost, and one is damaged.
    for change in [None, Some(vec![b'x'; 10])] {
        for split in fs::read_dir(&splits).unwrap() {
            let split = split.unwrap().path();
            fs::remove_file(&split).unwrap();
            change.iter().for_each(|bytes| fs::write(&split, bytes).unwrap());
        }
        assert!(damage(&store).iter().all(|what| what == "lost_split"));
        assert_eq!(everything(&store), 8);
    }

    let manifest = objects.join("manifests").join(format!("{year}.json"));
    fs::write(&manifest, "{").unwrap();
    assert_eq!(damage(&store)[0], "unreadable");
    assert_eq!(everything(&store), 8);

    // The manifest no longer lists a split.
    let mut listed: Value = serde_json::from_slice(&fs::read(&manifest).unwrap()).unwrap();
    listed["splits"] = json!([]);
    fs::write(&manifest, listed.to_string()).unwrap();
    assert_eq!(damage(&store), vec!["not_indexed"; 8]);
    assert_eq!(everything(&store), 8);

    // A record is damaged, so its whole segment cannot be listed.
    web.clear_calls();
    let all = rows(&store);
    let at = &all[3]["state"]["location"];
    let segment = objects.join(at["segment"].as_str().unwrap());
    let mut bytes = fs::read(&segment).unwrap();
    let offset = usize::try_from(at["offset"].as_u64().unwrap()).unwrap();
    bytes[offset + 4..offset + 12].fill(0xff);
    fs::write(&segment, bytes).unwrap();
    assert_eq!(damage(&store), ["unreadable", "lost_record"]);
    assert_eq!(everything(&store), 7, "the lost record is not found");
    store.let_pass(Duration::from_mins(2));
    store.run(&["crawl", "--json"]).ok();
    let called: Vec<String> =
        web.calls().into_iter().filter(|call| call.kind == Kind::Page).map(|call| call.path).collect();
    let url = all[3]["url"].as_str().unwrap();
    assert!(called.len() == 1 && url.ends_with(&called[0]), "{url} alone is fetched again: {called:?}");
    assert_eq!((everything(&store), store.records().len()), (8, 8));
    is_sound(&store);

    // A row is lost. The repair must delete everything about that page, because no removal would ever find it.
    let gone = all[5]["url"].as_str().unwrap();
    let database = Connection::open(store.database()).unwrap();
    assert_eq!(database.execute("DELETE FROM pages WHERE page ->> 'url' = ?1", [gone]).unwrap(), 1);
    let found = damage(&store);
    assert!(found.contains(&"stray_record".to_owned()) && found.contains(&"stray_hit".to_owned()), "{found:?}");
    assert_eq!(everything(&store), 7);

    // The next damages are a page whose job is lost, a job whose message is lost, and objects that nothing names.
    let page = all[6]["url"].as_str().unwrap();
    let pending =
        "UPDATE pages SET page = json_set(page, '$.state', json('{\"state\":\"pending\"}')) WHERE page ->> 'url' = ?1";
    assert_eq!(database.execute(pending, [page]).unwrap(), 1);
    database.execute("INSERT INTO jobs (stage, due) VALUES ('poll', 4070908800000)", []).unwrap();
    drop(database);
    let orphans =
        [objects.join("thumbnails/ab/ab000000000000000000000000000000.jpg"), objects.join("bodies/2026-11-21/x.zst")];
    for orphan in &orphans {
        fs::create_dir_all(orphan.parent().unwrap()).unwrap();
        fs::write(orphan, [0xff, 0xd8, 0xff]).unwrap();
    }
    let picture = orphans[0].with_file_name("no-picture.jpg");
    fs::write(&picture, "x").unwrap();
    let found = store.run(&["fsck"]);
    assert_eq!(found.code(), 1);
    for words in [page, "no job makes a record of it", "1 job without a message", "2 objects", "it is no JPEG"] {
        assert!(found.stdout.contains(words), "'{words}' is missing: {}", found.stdout);
    }
    store.run(&["fsck", "--repair"]).ok();
    is_sound(&store);
    assert!(orphans.iter().chain([&picture]).all(|path| !path.exists()));
    store.let_pass(Duration::from_mins(2));
    store.run(&["crawl", "--json"]).ok();
    assert_eq!(everything(&store), 7);
    assert!(store.found(&format!("site:{}", "mended-0002.test")).iter().any(|url| url == page));

    // A removal and a change were interrupted after they had erased the old record. This is no damage, and a repair
    // finishes them.
    let (removed, changed) = (&all[0], &all[1]);
    let record = store.records().into_iter().find(|record| record["id"] == changed["id"]).unwrap();
    for page in [removed, changed] {
        erase(&objects, &page["state"]["location"]);
    }
    let mut record = record.as_object().unwrap().clone();
    ["thumbnail", "thumbnail_frame"].iter().for_each(|name| drop(record.remove(*name)));
    record.insert("replaces".to_owned(), changed["state"]["location"].clone());
    record.insert("title".to_owned(), json!("Quite another title"));
    let frame = zstd::bulk::compress(serde_json::to_string(&record).unwrap().as_bytes(), 3).unwrap();
    let segment = objects.join(changed["state"]["location"]["segment"].as_str().unwrap());
    fs::write(segment.with_file_name(format!("{}.jsonl.zst", "0".repeat(64))), frame).unwrap();
    let mut unfinished = [removed["id"].as_str().unwrap(), changed["id"].as_str().unwrap()];
    unfinished.sort_unstable();
    assert_eq!(is_sound(&store)["unfinished"], json!(unfinished));
    let repaired = store.run(&["fsck", "--repair"]).ok();
    assert!(repaired.stdout.contains("2 interrupted removals or changes: finished"), "{repaired:?}");
    assert_eq!(is_sound(&store)["unfinished"], json!([]));
    store.run(&["index"]).ok();
    assert_eq!(everything(&store), 6);
    assert_eq!(rows(&store)[0]["state"]["state"], "gone");
    assert_eq!(store.found("\"quite another title\""), [changed["url"].as_str().unwrap()]);

    // A damaged database is not repaired. Nothing else is repaired either, since its content cannot be trusted.
    let root = store.sql("SELECT rootpage || '' FROM sqlite_schema WHERE name = 'sources_by_slot'");
    let page = root[0].parse::<usize>().unwrap() * 4_096;
    let mut bytes = fs::read(store.database()).unwrap();
    bytes[page - 4_096..page].fill(0xaa);
    fs::write(store.database(), bytes).unwrap();
    let broken = store.run(&["fsck", "--repair"]);
    assert!(broken.code() == 1 && broken.stdout.contains("the database: "), "{broken:?}");
    assert!(broken.stderr.contains("`curlew restore` restores a backup"), "{broken:?}");
}
