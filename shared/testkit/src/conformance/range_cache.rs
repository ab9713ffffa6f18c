//! Behaviours of a [`RangeCache`] with enough room.

use bytes::Bytes;
use curlew_ports::RangeCache;
use std::ops::Range;
use std::sync::Arc;

const ONE: &str = "splits/2026/one.split";
const TWO: &str = "splits/2026/two.split";

fn range(at: u64, bytes: &str) -> Range<u64> {
    at..at + bytes.len() as u64
}

async fn put(cache: &Arc<dyn RangeCache>, key: &str, pieces: &[(u64, &'static str)]) {
    cache.put(key, pieces.iter().map(|(at, bytes)| (*at, Bytes::from_static(bytes.as_bytes()))).collect()).await;
}

async fn get(cache: &Arc<dyn RangeCache>, key: &str, at: u64, bytes: &str) -> Option<String> {
    let mut found = cache.get(key, &[range(at, bytes)]).await;
    assert_eq!(found.len(), 1, "one answer a place");
    found.pop().flatten().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

/// An unknown range is absent.
pub async fn an_unknown_piece_is_not_there(cache: &Arc<dyn RangeCache>) {
    assert_eq!(cache.get(ONE, &[0..1, 5..9]).await, [None, None]);
    assert!(cache.get(ONE, &[]).await.is_empty());
    cache.put(ONE, vec![]).await;
    cache.keep_only(&[]).await;
    assert_eq!(get(cache, ONE, 0, "a").await, None);
}

/// Ranges are returned in the order of the request.
pub async fn pieces_are_given_back(cache: &Arc<dyn RangeCache>) {
    put(cache, ONE, &[(0, "first"), (u64::from(u32::MAX) + 1, "far away"), (5, "second")]).await;
    let far = u64::from(u32::MAX) + 1;
    let found = cache.get(ONE, &[5..11, 0..5, 11..12, far..far + 8]).await;
    let found: Vec<Option<&[u8]>> = found.iter().map(Option::as_deref).collect();
    assert_eq!(found, [Some(b"second" as &[u8]), Some(b"first"), None, Some(b"far away")]);
    let large = Bytes::from(vec![7; 3_000_000]);
    cache.put(TWO, vec![(9, large.clone())]).await;
    assert_eq!(cache.get(TWO, std::slice::from_ref(&(9..3_000_009))).await, [Some(large)]);
}

/// Only the exact range of a put is found, not a part of it or a longer one.
pub async fn a_piece_is_given_as_it_was_put(cache: &Arc<dyn RangeCache>) {
    put(cache, ONE, &[(4, "piece")]).await;
    for wrong in [4..8, 5..9, 4..10, 3..9] {
        assert_eq!(cache.get(ONE, std::slice::from_ref(&wrong)).await, [None], "{wrong:?}");
    }
}

/// A put replaces a cached range, such as a damaged one.
pub async fn a_piece_is_replaced(cache: &Arc<dyn RangeCache>) {
    put(cache, ONE, &[(4, "piece")]).await;
    put(cache, ONE, &[(4, "PIECE")]).await;
    assert_eq!(get(cache, ONE, 4, "piece").await.as_deref(), Some("PIECE"));
}

/// Similar keys are different keys.
pub async fn objects_do_not_disturb_each_other(cache: &Arc<dyn RangeCache>) {
    let keys = ["a/b", "a-b", "a_b", "a/b/c", "a.b", "A/b", "a/b-4", "a/b.4-9"];
    for key in keys {
        cache.put(key, vec![(4, key.into())]).await;
    }
    for key in keys {
        assert_eq!(get(cache, key, 4, key).await.as_deref(), Some(key));
    }
}

/// Ranges of objects that no longer exist are removed.
pub async fn only_what_is_named_is_kept(cache: &Arc<dyn RangeCache>) {
    for key in [ONE, TWO, "splits/2026/one"] {
        put(cache, key, &[(0, "some"), (4, "more")]).await;
    }
    cache.keep_only(&[TWO, "splits/2026/none.split"]).await;
    assert_eq!(get(cache, ONE, 0, "some").await, None);
    assert_eq!(get(cache, "splits/2026/one", 4, "more").await, None);
    assert_eq!(get(cache, TWO, 4, "more").await.as_deref(), Some("more"));
    put(cache, ONE, &[(0, "anew")]).await;
    assert_eq!(get(cache, ONE, 0, "anew").await.as_deref(), Some("anew"));
}
