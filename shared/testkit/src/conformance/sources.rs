//! Behaviours of [`Sources`].

use super::samples::{
    assert_conflict, backfill, by_pages, extra_slot, full_feed, one_wins, site, source_key_in, working_site,
};
use curlew_model::{Slot, Source};
use curlew_ports::{PortError, Sources, Version};
use std::sync::Arc;

/// Slot of the source in most tests.
const SLOT: u64 = 5;

async fn row(sources: &Arc<dyn Sources>, n: u64) -> (Source, Version) {
    sources.get(&source_key_in(n, SLOT)).await.expect("reads").expect("is there")
}

/// A source that was never inserted is absent.
pub async fn an_unknown_source_is_absent(sources: &Arc<dyn Sources>) {
    assert_eq!(sources.get(&source_key_in(1, SLOT)).await.expect("reads"), None);
    assert_eq!(sources.in_slot(Slot::from_hash(0), None, 10).await.expect("lists"), []);
    assert_eq!(sources.list(None, 10).await.expect("lists"), []);
}

/// Every field of a source is read back.
pub async fn feeds_and_sites_are_read_back(sources: &Arc<dyn Sources>) {
    for source in [full_feed(1, 0), site(2, 479), working_site(3, 7), extra_slot(4, 9), backfill(5, 11)] {
        assert!(sources.insert(&source).await.expect("inserts"));
        let (found, version) = sources.get(source.key()).await.expect("reads").expect("is there");
        assert_eq!(found, source);
        assert_ne!(version, Version::ABSENT);
    }
}

/// Only one of several inserts succeeds, also concurrently; the others change nothing.
pub async fn a_source_is_inserted_once(sources: &Arc<dyn Sources>) {
    one_wins(|_| {
        let sources = Arc::clone(sources);
        async move { sources.insert(&site(1, SLOT)).await?.then_some(()).ok_or(PortError::Conflict) }
    })
    .await;
    let before = row(sources, 1).await;
    assert!(!sources.insert(&working_site(1, SLOT)).await.expect("inserts"));
    assert_eq!(row(sources, 1).await, before);
}

/// A swap returns a new version, which the next swap needs.
pub async fn a_swap_replaces_the_row(sources: &Arc<dyn Sources>) {
    sources.insert(&site(1, SLOT)).await.expect("inserts");
    let (_, first) = row(sources, 1).await;
    let second = sources.swap(first, &working_site(1, SLOT)).await.expect("swaps");
    assert_ne!(second, first);
    assert_eq!(row(sources, 1).await, (working_site(1, SLOT), second));
    sources.swap(second, &full_feed(1, SLOT)).await.expect("swaps");
    assert_eq!(row(sources, 1).await.0, full_feed(1, SLOT));
}

/// A writer with a stale version must read the row again.
pub async fn a_stale_swap_conflicts_and_writes_nothing(sources: &Arc<dyn Sources>) {
    sources.insert(&site(1, SLOT)).await.expect("inserts");
    let (_, first) = row(sources, 1).await;
    let second = sources.swap(first, &working_site(1, SLOT)).await.expect("swaps");
    for stale in [Version::ABSENT, first, Version(second.0 + 1)] {
        assert_conflict(sources.swap(stale, &site(1, SLOT)).await);
    }
    assert_eq!(row(sources, 1).await, (working_site(1, SLOT), second));
}

/// A swap of a missing row conflicts with any version.
pub async fn a_swap_of_nothing_conflicts(sources: &Arc<dyn Sources>) {
    for version in [Version::ABSENT, Version(1)] {
        assert_conflict(sources.swap(version, &site(1, SLOT)).await);
    }
    assert_eq!(sources.get(&source_key_in(1, SLOT)).await.expect("reads"), None);
}

/// Only one of several swaps with the same version succeeds.
pub async fn one_of_many_swaps_wins(sources: &Arc<dyn Sources>) {
    sources.insert(&site(1, SLOT)).await.expect("inserts");
    for _ in 0..10 {
        let (_, seen) = row(sources, 1).await;
        one_wins(|_| {
            let sources = Arc::clone(sources);
            async move { sources.swap(seen, &working_site(1, SLOT)).await }
        })
        .await;
    }
}

/// An adapter may read any of the sources together; the result equals that of single reads.
pub async fn sources_that_are_read_together_are_as_they_are_alone(sources: &Arc<dyn Sources>) {
    let of_slot = (0..60).map(|n| if n % 2 == 0 { site(n, SLOT) } else { full_feed(n, SLOT) });
    for source in of_slot.chain((60..70).map(|n| site(n, SLOT + 1))) {
        sources.insert(&source).await.expect("inserts");
    }
    let (_, seen) = row(sources, 4).await;
    sources.swap(seen, &working_site(4, SLOT)).await.expect("swaps");
    let (few, many) = ((63..68).map(|n| source_key_in(n, SLOT + 1)), (3..99).map(|n| source_key_in(n, SLOT)));
    let keys: Vec<_> = few.chain(many.filter(|key| *key != source_key_in(7, SLOT))).collect();
    let mut found = sources.get_together(&keys).await.expect("reads");
    found.sort_by(|(a, _), (b, _)| a.key().cmp(b.key()));
    assert!(found.windows(2).all(|pair| pair[0].0.key() < pair[1].0.key()), "none comes twice");
    for (source, version) in found {
        assert!(keys.contains(source.key()), "{} was not asked for", source.key());
        assert_eq!(sources.get(source.key()).await.expect("reads"), Some((source, version)));
    }
}

/// A slot lists all of its sources and no others.
pub async fn a_slot_gives_its_own_sources_page_by_page(sources: &Arc<dyn Sources>) {
    for n in (0..30).rev() {
        sources.insert(&site(n, n % 3)).await.expect("inserts");
    }
    for slot in 0..3 {
        let expected: Vec<_> = (0..30).filter(|n| n % 3 == slot).map(|n| site(n, slot)).collect();
        let of_slot =
            async |last: Option<&Source>| sources.in_slot(Slot::from_hash(slot), last.map(Source::key), 4).await;
        assert_eq!(by_pages(4, of_slot).await, expected);
    }
    assert_eq!(sources.in_slot(Slot::from_hash(3), None, 4).await.expect("lists"), []);
}

/// The list of a slot has the latest version of a row.
pub async fn a_swapped_source_stays_in_its_slot(sources: &Arc<dyn Sources>) {
    sources.insert(&site(1, SLOT)).await.expect("inserts");
    let (_, seen) = row(sources, 1).await;
    sources.swap(seen, &working_site(1, SLOT)).await.expect("swaps");
    assert_eq!(sources.in_slot(Slot::from_hash(SLOT), None, 4).await.expect("lists"), [working_site(1, SLOT)]);
}

/// The order is arbitrary but the same each time, without duplicates or gaps.
pub async fn sources_are_listed_page_by_page(sources: &Arc<dyn Sources>) {
    for n in (0..20).rev() {
        sources.insert(&site(n, 100 - n)).await.expect("inserts");
    }
    let expected: Vec<_> = (0..20).map(|n| site(n, 100 - n)).collect();
    let mut listed = by_pages(7, async |last: Option<&Source>| sources.list(last.map(Source::key), 7).await).await;
    assert_eq!(sources.list(None, 100).await.expect("lists"), listed);
    listed.sort_by(|a, b| b.key().cmp(a.key()));
    assert_eq!(listed, expected);
}
