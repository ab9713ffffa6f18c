//! [`GroupLeases`].

use super::samples::{at, group, race, source_key_in};
use curlew_model::{GroupLease, Unchanged};
use curlew_ports::{GroupLeases, PortError, Version};
use std::sync::Arc;

fn lease(n: i64) -> GroupLease {
    let unchanged = Unchanged((0..n.unsigned_abs()).map(|file| (u64::MAX - file, n)).collect());
    GroupLease { due: at(n), first: source_key_in(7, 0), until: at(n + 1), is_finished: n % 2 == 1, unchanged }
}

/// Nobody ever had it.
pub async fn an_unknown_lease_is_absent(groups: &Arc<dyn GroupLeases>) {
    assert_eq!(groups.load(group(0)).await.expect("loads"), (None, Version::ABSENT));
}

/// Each of its fields comes back, and groups do not disturb each other.
pub async fn a_swapped_lease_is_read_back(groups: &Arc<dyn GroupLeases>) {
    let first = groups.swap(group(0), Version::ABSENT, lease(0)).await.expect("swaps");
    groups.swap(group(1), Version::ABSENT, lease(1)).await.expect("swaps");
    assert_eq!(groups.load(group(0)).await.expect("loads"), (Some(lease(0)), first));
    let second = groups.swap(group(0), first, lease(3)).await.expect("swaps");
    assert_eq!(groups.load(group(0)).await.expect("loads"), (Some(lease(3)), second));
    assert_eq!(groups.load(group(1)).await.expect("loads").0, Some(lease(1)));
}

/// A late swap does not get it.
pub async fn a_stale_swap_of_a_lease_conflicts(groups: &Arc<dyn GroupLeases>) {
    let first = groups.swap(group(0), Version::ABSENT, lease(0)).await.expect("swaps");
    let second = groups.swap(group(0), first, lease(1)).await.expect("swaps");
    for stale in [Version::ABSENT, first, Version(second.0 + 1)] {
        let refused = groups.swap(group(0), stale, lease(9)).await;
        assert!(matches!(refused, Err(PortError::Conflict)), "{stale:?}: {refused:?}");
    }
    assert_eq!(groups.load(group(0)).await.expect("loads"), (Some(lease(1)), second));
}

/// Of many that ask at once, one has it.
pub async fn one_of_many_has_the_lease(groups: &Arc<dyn GroupLeases>) {
    let swaps = race((0..16).map(|n| {
        let groups = Arc::clone(groups);
        async move { (n, groups.swap(group(0), Version::ABSENT, lease(n)).await) }
    }))
    .await;
    let won: Vec<_> = swaps.iter().filter_map(|(n, s)| s.as_ref().ok().map(|v| (Some(lease(*n)), *v))).collect();
    assert_eq!(won, [groups.load(group(0)).await.expect("loads")]);
}
