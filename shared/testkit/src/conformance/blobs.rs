//! Behaviours of [`Blobs`].

use super::samples::{INCREMENTS, RACERS, assert_conflict, by_pages, one_wins, race};
use bytes::Bytes;
use curlew_ports::{Blobs, PortError, Seen, Tag};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Length in bytes of an object that adapters may transfer in several parts.
const LARGE: usize = 20 << 20;

async fn content(blobs: &Arc<dyn Blobs>, key: &str) -> Bytes {
    blobs.get(key).await.expect("reads").expect("is there").bytes
}

async fn tag(blobs: &Arc<dyn Blobs>, key: &str) -> Tag {
    blobs.get(key).await.expect("reads").expect("is there").tag
}

async fn put(blobs: &Arc<dyn Blobs>, key: &str, bytes: impl Into<Bytes>) {
    blobs.put(key, bytes.into()).await.expect("writes");
}

async fn list(blobs: &Arc<dyn Blobs>, prefix: &str) -> Vec<String> {
    blobs.list(prefix, None, 1_000).await.expect("lists")
}

/// Returns bytes of which no two at a distance of a power of two are equal.
fn pattern(length: usize, seed: usize) -> Bytes {
    (0..length).map(|i| u8::try_from((i + seed) % 251).unwrap_or(0)).collect::<Vec<u8>>().into()
}

/// An unknown object can neither be read nor listed.
pub async fn an_unknown_object_is_absent(blobs: &Arc<dyn Blobs>) {
    assert_eq!(blobs.get("a/b").await.expect("reads"), None);
    let range = blobs.get_range("a/b", 0, 0).await;
    assert!(matches!(range, Err(PortError::NotFound(_))), "{range:?}");
    assert_eq!(list(blobs, "").await, [""; 0]);
    // A part of a key is not a key.
    put(blobs, "a/b/c", "x").await;
    assert_eq!(blobs.get("a/b").await.expect("reads"), None);
    let range = blobs.get_range("a/b", 0, 0).await;
    assert!(matches!(range, Err(PortError::NotFound(_))), "{range:?}");
}

/// Objects of any content are read back, at lengths where an adapter may switch its method.
pub async fn an_object_is_read_back(blobs: &Arc<dyn Blobs>) {
    for (length, n) in [1, 255, 4_096, 65_537, (1 << 20) - 1, 1 << 20, (1 << 20) + 1].into_iter().zip(0..) {
        let key = format!("segments/2026/11/21/{n}.jsonl.zst");
        put(blobs, &key, pattern(length, n)).await;
        assert!(content(blobs, &key).await == pattern(length, n), "{length} bytes");
    }
}

/// An empty object is different from an absent one.
pub async fn an_empty_object_is_an_object(blobs: &Arc<dyn Blobs>) {
    put(blobs, "empty", "").await;
    assert_eq!(content(blobs, "empty").await, "");
    assert_eq!(blobs.get_range("empty", 0, 0).await.expect("reads"), "");
    assert!(!blobs.put_if_absent("empty", "x".into()).await.expect("tries"));
    assert_eq!(list(blobs, "").await, ["empty"]);
    let seen = tag(blobs, "empty").await;
    blobs.swap("empty", Some(&seen), "x".into()).await.expect("swaps");
    assert_eq!(content(blobs, "empty").await, "x");
}

/// A large object is read back in full and in part.
pub async fn an_object_of_twenty_megabytes_is_read_back(blobs: &Arc<dyn Blobs>) {
    let large = pattern(LARGE, 3);
    put(blobs, "splits/large", large.clone()).await;
    assert!(content(blobs, "splits/large").await == large);
    let (from, length) = (LARGE / 2 + 1, 1_000_003);
    let range = blobs.get_range("splits/large", from as u64, length as u64).await.expect("reads");
    assert!(range == large.slice(from..from + length));
    let seen = tag(blobs, "splits/large").await;
    blobs.swap("splits/large", Some(&seen), pattern(LARGE, 4)).await.expect("swaps");
    assert!(content(blobs, "splits/large").await == pattern(LARGE, 4));
    assert_conflict(blobs.swap("splits/large", Some(&seen), "late".into()).await);
}

/// A put replaces a longer or a shorter object.
pub async fn the_last_put_wins(blobs: &Arc<dyn Blobs>) {
    for text in ["a long content", "short", "", "a longer content than before"] {
        put(blobs, "a/b", text).await;
        assert_eq!(content(blobs, "a/b").await, text);
    }
}

/// The bytes of an object that was read stay valid after it is replaced or deleted.
pub async fn an_old_content_stays_readable(blobs: &Arc<dyn Blobs>) {
    for length in [10, 2 << 20] {
        put(blobs, "a", pattern(length, 1)).await;
        let old = content(blobs, "a").await;
        put(blobs, "a", pattern(length / 2, 2)).await;
        assert!(old == pattern(length, 1));
        blobs.delete("a").await.expect("deletes");
        assert!(old == pattern(length, 1));
    }
}

/// A range at the beginning, in the middle, at the end, of the whole object, or empty.
pub async fn a_range_is_read(blobs: &Arc<dyn Blobs>) {
    put(blobs, "a", "0123456789").await;
    for (offset, length, expected) in [(0, 3, "012"), (4, 2, "45"), (7, 3, "789"), (0, 10, "0123456789"), (10, 0, "")] {
        assert_eq!(blobs.get_range("a", offset, length).await.expect("reads"), expected);
    }
}

/// A range beyond the end of an object is an error, not empty.
pub async fn a_range_beyond_the_end_is_refused(blobs: &Arc<dyn Blobs>) {
    put(blobs, "a", "0123456789").await;
    for (offset, length) in [(0, 11), (10, 1), (11, 0), (u64::MAX, 1), (1, u64::MAX), (u64::MAX, u64::MAX)] {
        let range = blobs.get_range("a", offset, length).await;
        assert!(matches!(range, Err(PortError::Corrupt { .. })), "{offset} {length}: {range:?}");
    }
}

/// A job that runs twice writes its segment once.
pub async fn put_if_absent_keeps_what_is_there(blobs: &Arc<dyn Blobs>) {
    assert!(blobs.put_if_absent("a/b", "first".into()).await.expect("writes"));
    assert!(!blobs.put_if_absent("a/b", "second".into()).await.expect("tries"));
    assert_eq!(content(blobs, "a/b").await, "first");
    blobs.delete("a/b").await.expect("deletes");
    assert!(blobs.put_if_absent("a/b", "third".into()).await.expect("writes"));
    assert_eq!(content(blobs, "a/b").await, "third");
}

/// The object has the winner's content.
pub async fn one_of_many_puts_if_absent_wins(blobs: &Arc<dyn Blobs>) {
    for round in 0..10 {
        let key = format!("race/{round}");
        let (winner, ()) = one_wins(|n| {
            let (blobs, key, bytes) = (Arc::clone(blobs), key.clone(), pattern(1_000 + n, n));
            async move { blobs.put_if_absent(&key, bytes).await?.then_some(()).ok_or(PortError::Conflict) }
        })
        .await;
        assert!(content(blobs, &key).await == pattern(1_000 + winner, winner));
    }
}

/// A reader with the current tag gets no content, and any other reader gets the object.
pub async fn what_was_seen_is_not_read_again(blobs: &Arc<dyn Blobs>) {
    let key = "manifests/2026.json";
    let ask = async |seen: Option<&Tag>| blobs.get_changed(key, seen).await.expect("asks");
    assert_eq!(ask(None).await, Seen::Same, "there was none, and there is none");
    put(blobs, key, "first").await;
    let Seen::Changed(Some(first)) = ask(None).await else { panic!("there is one now") };
    assert_eq!(first.bytes, "first");
    assert_eq!(ask(Some(&first.tag)).await, Seen::Same);
    let swapped = blobs.swap(key, Some(&first.tag), "second".into()).await.expect("swaps");
    assert_eq!(ask(Some(&swapped)).await, Seen::Same);
    let Seen::Changed(Some(second)) = ask(Some(&first.tag)).await else { panic!("it has changed") };
    assert_eq!((second.bytes.as_ref(), &second.tag), (b"second".as_slice(), &swapped));
    assert!(matches!(ask(Some(&Tag("no tag of ours".into()))).await, Seen::Changed(Some(_))));
    blobs.delete(key).await.expect("deletes");
    assert_eq!(ask(Some(&swapped)).await, Seen::Changed(None));
}

/// A swap returns the tag that readers see and that the next swap needs.
pub async fn a_swap_follows_the_tags(blobs: &Arc<dyn Blobs>) {
    let first = blobs.swap("manifest/2026", None, "1".into()).await.expect("swaps");
    assert_eq!(tag(blobs, "manifest/2026").await, first);
    let second = blobs.swap("manifest/2026", Some(&first), "2".into()).await.expect("swaps");
    assert_ne!(second, first);
    assert_eq!(tag(blobs, "manifest/2026").await, second);
    for stale in [Some(&first), None, Some(&Tag(String::new())), Some(&Tag("no tag".into()))] {
        assert_conflict(blobs.swap("manifest/2026", stale, "9".into()).await);
    }
    assert_eq!(content(blobs, "manifest/2026").await, "2");
}

/// Only one of several swaps that expect no object succeeds.
pub async fn a_swap_that_wants_nothing_there_is_made_once(blobs: &Arc<dyn Blobs>) {
    let (winner, _) = one_wins(|n| {
        let blobs = Arc::clone(blobs);
        async move { blobs.swap("a", None, pattern(10, n)).await }
    })
    .await;
    assert_eq!(content(blobs, "a").await, pattern(10, winner));
    assert_conflict(blobs.swap("b", Some(&tag(blobs, "a").await), "x".into()).await);
    assert_eq!(blobs.get("b").await.expect("reads"), None);
}

/// Only one of several swaps with the same tag succeeds.
pub async fn one_of_many_swaps_wins(blobs: &Arc<dyn Blobs>) {
    put(blobs, "a", "first").await;
    for round in 0..10 {
        let seen = tag(blobs, "a").await;
        one_wins(|n| {
            let (blobs, seen) = (Arc::clone(blobs), seen.clone());
            async move { blobs.swap("a", Some(&seen), format!("{round} {n}").into()).await }
        })
        .await;
    }
}

/// No update is lost among concurrent swaps with retries.
pub async fn racing_swaps_lose_none(blobs: &Arc<dyn Blobs>) {
    put(blobs, "count", "0").await;
    race((0..RACERS).map(|_| {
        let blobs = Arc::clone(blobs);
        async move {
            let mut left = INCREMENTS;
            while left > 0 {
                let seen = blobs.get("count").await.expect("reads").expect("is there");
                let count: u64 = std::str::from_utf8(&seen.bytes).expect("text").parse().expect("a number");
                match blobs.swap("count", Some(&seen.tag), (count + 1).to_string().into()).await {
                    Ok(_) => left -= 1,
                    Err(PortError::Conflict) => {}
                    Err(other) => panic!("{other}"),
                }
            }
        }
    }))
    .await;
    assert_eq!(content(blobs, "count").await, (RACERS * INCREMENTS).to_string());
}

/// A swap detects changes by puts and deletes.
pub async fn a_swap_sees_puts_and_deletes(blobs: &Arc<dyn Blobs>) {
    let first = blobs.swap("a", None, "1".into()).await.expect("swaps");
    put(blobs, "a", "2").await;
    assert_conflict(blobs.swap("a", Some(&first), "9".into()).await);
    let second = tag(blobs, "a").await;
    blobs.delete("a").await.expect("deletes");
    assert_conflict(blobs.swap("a", Some(&second), "9".into()).await);
    blobs.swap("a", None, "3".into()).await.expect("swaps");
    assert_eq!(content(blobs, "a").await, "3");
}

/// Deleting an absent object is not an error.
pub async fn a_delete_is_final_and_repeatable(blobs: &Arc<dyn Blobs>) {
    blobs.delete("a/b/c").await.expect("deletes");
    put(blobs, "a/b/c", "x").await;
    put(blobs, "a/b/d", "y").await;
    blobs.delete("a/b").await.expect("deletes nothing");
    for _ in 0..2 {
        blobs.delete("a/b/c").await.expect("deletes");
        assert_eq!(blobs.get("a/b/c").await.expect("reads"), None);
    }
    assert_eq!(list(blobs, "").await, ["a/b/d"]);
}

/// Byte order sorts a slash after a hyphen and a dot, and before digits; folders must not change that.
pub async fn keys_are_listed_in_byte_order_page_by_page(blobs: &Arc<dyn Blobs>) {
    let mut keys: Vec<String> =
        ["a/b", "a-b", "a.b", "a0", "a_b", "ab", "a/b-c/d", "a/b0", "A/z", "b/1/2/3", "b/1-2", "b/10", "z", "_", "-"]
            .map(str::to_owned)
            .into();
    keys.extend((0..25).map(|n| format!("many/{n:03}")));
    for key in &keys {
        put(blobs, key, key.clone()).await;
    }
    keys.sort_unstable();
    assert_eq!(list(blobs, "").await, keys);
    for limit in [1, 4, 7] {
        let list = async |last: Option<&String>| blobs.list("", last.map(String::as_str), limit).await;
        assert_eq!(by_pages(limit, list).await, keys, "{limit} at a time");
    }
    assert_eq!(blobs.list("", None, 0).await.expect("lists"), [""; 0]);
}

/// A prefix is the beginning of a key, not a folder.
pub async fn a_prefix_may_end_anywhere(blobs: &Arc<dyn Blobs>) {
    for key in ["segments/2026/11/20/a", "segments/2026/11/21/b", "segments/2025/1/c", "segment", "splits/d"] {
        put(blobs, key, "x").await;
    }
    let cases: [(&str, &[&str]); 9] = [
        ("segments/", &["segments/2025/1/c", "segments/2026/11/20/a", "segments/2026/11/21/b"]),
        ("segments/2026/11/2", &["segments/2026/11/20/a", "segments/2026/11/21/b"]),
        ("segments/2026/11/20/a", &["segments/2026/11/20/a"]),
        ("segments/2026/11/20/a/", &[]),
        ("s", &["segment", "segments/2025/1/c", "segments/2026/11/20/a", "segments/2026/11/21/b", "splits/d"]),
        ("segment", &["segment", "segments/2025/1/c", "segments/2026/11/20/a", "segments/2026/11/21/b"]),
        ("x/y/z", &[]),
        ("../", &[]),
        ("/", &[]),
    ];
    for (prefix, expected) in cases {
        assert_eq!(list(blobs, prefix).await, expected, "{prefix}");
    }
    let after = |after| blobs.list("segments/", Some(after), 10);
    assert_eq!(after("segments/2025/1/c").await.expect("lists"), cases[0].1[1..]);
    assert_eq!(after("segments/2026").await.expect("lists"), cases[0].1[1..]);
    assert_eq!(after("a").await.expect("lists"), cases[0].1);
    assert_eq!(after("t").await.expect("lists"), [""; 0]);
}

/// Rejects keys that could leave the store, or differ between file systems.
pub async fn keys_that_are_none_are_refused(blobs: &Arc<dyn Blobs>) {
    let long = format!("a/{}", "b/".repeat(256));
    let bad =
        ["", "/", "/a", "a/", "a//b", ".", "..", "../a", "a/..", "a/../b", "a/./b", "a b", "a\\b", "a\0", "ä", "a:b"];
    for key in bad.into_iter().chain(["a~", "a%2e", "C:/a", "a\n", &long[..513]]) {
        let refused = |error: Option<PortError>| matches!(error, Some(PortError::Corrupt { .. }));
        assert!(refused(blobs.get(key).await.err()), "get {key:?}");
        assert!(refused(blobs.get_range(key, 0, 0).await.err()), "get_range {key:?}");
        assert!(refused(blobs.put(key, "x".into()).await.err()), "put {key:?}");
        assert!(refused(blobs.put_if_absent(key, "x".into()).await.err()), "put_if_absent {key:?}");
        assert!(refused(blobs.swap(key, None, "x".into()).await.err()), "swap {key:?}");
        assert!(refused(blobs.delete(key).await.err()), "delete {key:?}");
    }
    assert_eq!(list(blobs, "").await, [""; 0]);
}

/// A key may have 512 bytes, and all allowed characters.
pub async fn long_keys_are_keys(blobs: &Arc<dyn Blobs>) {
    let long = format!("{}/{}/zz", "a".repeat(254), "b".repeat(254));
    assert_eq!(long.len(), 512);
    for key in [long.as_str(), "AZaz09._-", "...", ".a", "a..b/-"] {
        put(blobs, key, "x").await;
        assert_eq!(content(blobs, key).await, "x");
        assert_eq!(list(blobs, key).await, [key]);
    }
}

/// A reader during a write gets the old or the new content, never a mixture.
pub async fn a_reader_never_sees_half_an_object(blobs: &Arc<dyn Blobs>) {
    let contents = [pattern(300_000, 0), pattern(1_500_000, 1)];
    put(blobs, "a", contents[0].clone()).await;
    let done = Arc::new(AtomicBool::new(false));
    let reader = {
        let (blobs, contents, done) = (Arc::clone(blobs), contents.clone(), Arc::clone(&done));
        tokio::spawn(async move {
            let mut reads = 0;
            while reads == 0 || !done.load(Ordering::Relaxed) {
                let seen = content(&blobs, "a").await;
                assert!(contents.contains(&seen), "{} bytes", seen.len());
                reads += 1;
            }
        })
    };
    for n in 0..30 {
        put(blobs, "a", contents[n % 2].clone()).await;
    }
    done.store(true, Ordering::Relaxed);
    reader.await.expect("the reader saw whole objects only");
}
