//! Behaviours of [`Marks`].

use super::samples::{AWKWARD, assert_conflict, at, one_wins};
use curlew_model::Timestamp;
use curlew_ports::{Marks, Version};
use std::sync::Arc;

/// A mark that was never set is absent.
pub async fn an_unknown_mark_is_absent(marks: &Arc<dyn Marks>) {
    assert_eq!(marks.load("dispatch").await.expect("loads"), (None, Version::ABSENT));
}

/// A mark can have any instant.
pub async fn a_swapped_mark_is_read_back(marks: &Arc<dyn Marks>) {
    let mut seen = Version::ABSENT;
    for instant in [at(0), Timestamp::MIN, Timestamp::EPOCH, Timestamp::from_millis(-1), Timestamp::MAX] {
        let next = marks.swap("dispatch", seen, instant).await.expect("swaps");
        assert_ne!(next, seen);
        assert_eq!(marks.load("dispatch").await.expect("loads"), (Some(instant), next));
        seen = next;
    }
}

/// A tick that fires twice moves the mark only once.
pub async fn a_stale_swap_conflicts_and_writes_nothing(marks: &Arc<dyn Marks>) {
    let first = marks.swap("dispatch", Version::ABSENT, at(1)).await.expect("swaps");
    let second = marks.swap("dispatch", first, at(2)).await.expect("swaps");
    for stale in [Version::ABSENT, first, Version(second.0 + 1)] {
        assert_conflict(marks.swap("dispatch", stale, at(9)).await);
    }
    assert_eq!(marks.load("dispatch").await.expect("loads"), (Some(at(2)), second));
    assert_conflict(marks.swap("index", second, at(9)).await);
}

/// Only one of several concurrent ticks moves the mark.
pub async fn one_of_many_swaps_wins(marks: &Arc<dyn Marks>) {
    let mut seen = Version::ABSENT;
    for _ in 0..10 {
        let (winner, version) = one_wins(|n| {
            let marks = Arc::clone(marks);
            async move { marks.swap("dispatch", seen, at(n as i64)).await }
        })
        .await;
        assert_eq!(marks.load("dispatch").await.expect("loads"), (Some(at(winner as i64)), version));
        seen = version;
    }
}

/// Names are compared byte for byte.
pub async fn marks_do_not_disturb_each_other(marks: &Arc<dyn Marks>) {
    let names = ["a", "A", "a ", "a/b", AWKWARD];
    for (name, n) in names.iter().zip(0..) {
        marks.swap(name, Version::ABSENT, at(n)).await.expect("swaps");
    }
    for (name, n) in names.iter().zip(0..) {
        assert_eq!(marks.load(name).await.expect("loads").0, Some(at(n)), "{name:?}");
    }
}
