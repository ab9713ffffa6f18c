//! [`Marks`].

use super::samples::{AWKWARD, at, race};
use curlew_model::Timestamp;
use curlew_ports::{Marks, PortError, Version};
use std::sync::Arc;

/// A mark that was never set is absent.
pub async fn an_unknown_mark_is_absent(marks: &Arc<dyn Marks>) {
    assert_eq!(marks.load("dispatch").await.expect("loads"), (None, Version::ABSENT));
}

/// Any instant may be marked.
pub async fn a_swapped_mark_is_read_back(marks: &Arc<dyn Marks>) {
    let mut seen = Version::ABSENT;
    for instant in [at(0), Timestamp::MIN, Timestamp::EPOCH, Timestamp::from_millis(-1), Timestamp::MAX] {
        let next = marks.swap("dispatch", seen, instant).await.expect("swaps");
        assert_ne!(next, seen);
        assert_eq!(marks.load("dispatch").await.expect("loads"), (Some(instant), next));
        seen = next;
    }
}

/// A tick that fires twice does nothing the second time.
pub async fn a_stale_swap_conflicts_and_writes_nothing(marks: &Arc<dyn Marks>) {
    let first = marks.swap("dispatch", Version::ABSENT, at(1)).await.expect("swaps");
    let second = marks.swap("dispatch", first, at(2)).await.expect("swaps");
    for stale in [Version::ABSENT, first, Version(second.0 + 1)] {
        let refused = marks.swap("dispatch", stale, at(9)).await;
        assert!(matches!(refused, Err(PortError::Conflict)), "{stale:?}: {refused:?}");
    }
    assert_eq!(marks.load("dispatch").await.expect("loads"), (Some(at(2)), second));
    let missing = marks.swap("index", second, at(9)).await;
    assert!(matches!(missing, Err(PortError::Conflict)), "{missing:?}");
}

/// Many ticks at once move the mark once.
pub async fn one_of_many_swaps_wins(marks: &Arc<dyn Marks>) {
    let mut seen = Version::ABSENT;
    for _ in 0..10 {
        let swaps = race((0..16).map(|n| {
            let marks = Arc::clone(marks);
            async move { (n, marks.swap("dispatch", seen, at(n)).await) }
        }))
        .await;
        let won: Vec<_> = swaps.iter().filter_map(|(n, s)| s.as_ref().ok().map(|v| (Some(at(*n)), *v))).collect();
        assert_eq!(won, [marks.load("dispatch").await.expect("loads")]);
        seen = won[0].1;
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
