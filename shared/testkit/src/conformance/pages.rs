//! Behaviours of [`Pages`].

use super::samples::{assert_conflict, by_pages, one_wins, page, page_id, page_states};
use curlew_model::{Gone, Page, PageState, Rejection, Screened};
use curlew_ports::{Pages, PortError, Version};
use std::sync::Arc;

async fn row(pages: &Arc<dyn Pages>, n: u64) -> (Page, Version) {
    pages.get(&page_id(n)).await.expect("reads").expect("is there")
}

fn gone(n: u64) -> Page {
    page(n, PageState::Gone { reason: Gone::NotFound })
}

/// A page without a row is absent.
pub async fn an_unknown_page_is_absent(pages: &Arc<dyn Pages>) {
    assert_eq!(pages.get(&page_id(1)).await.expect("reads"), None);
}

/// The row of a page in any state is read back.
pub async fn every_state_is_read_back(pages: &Arc<dyn Pages>) {
    for (state, n) in page_states().into_iter().zip(0..) {
        let kept = page(n, state);
        assert!(pages.insert(&kept).await.expect("inserts"));
        let (found, version) = row(pages, n).await;
        assert_eq!(found, kept);
        assert_ne!(version, Version::ABSENT);
    }
}

/// A second insert returns false and changes nothing.
pub async fn a_page_is_inserted_once(pages: &Arc<dyn Pages>) {
    assert!(pages.insert(&page(1, PageState::Pending)).await.expect("inserts"));
    let before = row(pages, 1).await;
    assert!(!pages.insert(&gone(1)).await.expect("inserts"));
    assert_eq!(row(pages, 1).await, before);
}

/// If two feeds name the same page at the same time, it is inserted once.
pub async fn one_of_many_inserts_wins(pages: &Arc<dyn Pages>) {
    for n in 0..10 {
        one_wins(|_| {
            let pages = Arc::clone(pages);
            async move { pages.insert(&page(n, PageState::Pending)).await?.then_some(()).ok_or(PortError::Conflict) }
        })
        .await;
    }
}

/// A swap returns a new version, which the next swap needs.
pub async fn a_swap_replaces_the_row(pages: &Arc<dyn Pages>) {
    pages.insert(&page(1, PageState::Pending)).await.expect("inserts");
    let (_, first) = row(pages, 1).await;
    let second = pages.swap(first, &gone(1)).await.expect("swaps");
    assert_ne!(second, first);
    assert_eq!(row(pages, 1).await, (gone(1), second));
    pages.swap(second, &page(1, PageState::Pending)).await.expect("swaps");
    assert_eq!(row(pages, 1).await.0, page(1, PageState::Pending));
}

/// Text that a query language or an expression of a store would interpret stays text, and does not affect other rows.
pub async fn o13_text_that_would_be_a_query_is_kept_as_it_is(pages: &Arc<dyn Pages>) {
    const QUERIES: [&str; 7] = [
        "'; DROP TABLE pages; --",
        "x' OR '1'='1",
        "attribute_exists(pk) OR :v = :v",
        "SET #a0 = :v REMOVE #a1",
        "{\"S\": \"x\"}",
        "%_*?[a]",
        "?1 $1 @v ${v} \u{0}",
    ];
    let odd = |text: &str, n: u64| Page {
        url: format!("https://example.org/?q={text}"),
        ..page(n, PageState::Rejected { reason: Rejection::Screened(Screened::new(vec![text.into()], None)) })
    };
    pages.insert(&page(99, PageState::Pending)).await.expect("inserts");
    let beside = row(pages, 99).await;
    for (text, n) in QUERIES.into_iter().zip(0..) {
        assert!(pages.insert(&odd(text, n)).await.expect("inserts"));
        let (found, version) = row(pages, n).await;
        assert_eq!(found, odd(text, n));
        pages.swap(version, &Page { checked_at: None, ..odd(text, n) }).await.expect("swaps");
    }
    assert_eq!(pages.list(None, 100).await.expect("lists").len(), QUERIES.len() + 1);
    assert_eq!(row(pages, 99).await, beside);
}

/// A writer with a stale version must read the row again.
pub async fn a_stale_swap_conflicts_and_writes_nothing(pages: &Arc<dyn Pages>) {
    pages.insert(&page(1, PageState::Pending)).await.expect("inserts");
    let (_, first) = row(pages, 1).await;
    let second = pages.swap(first, &gone(1)).await.expect("swaps");
    for stale in [Version::ABSENT, first, Version(second.0 + 1)] {
        assert_conflict(pages.swap(stale, &page(1, PageState::Pending)).await);
    }
    assert_eq!(row(pages, 1).await, (gone(1), second));
}

/// A swap of a missing row conflicts with any version.
pub async fn a_swap_of_nothing_conflicts(pages: &Arc<dyn Pages>) {
    for version in [Version::ABSENT, Version(1)] {
        assert_conflict(pages.swap(version, &gone(1)).await);
    }
    assert_eq!(pages.get(&page_id(1)).await.expect("reads"), None);
}

/// Only one of several swaps with the same version succeeds.
pub async fn one_of_many_swaps_wins(pages: &Arc<dyn Pages>) {
    pages.insert(&page(1, PageState::Pending)).await.expect("inserts");
    for _ in 0..10 {
        let (_, seen) = row(pages, 1).await;
        one_wins(|_| {
            let pages = Arc::clone(pages);
            async move { pages.swap(seen, &gone(1)).await }
        })
        .await;
    }
}

/// The order is arbitrary but the same each time, without duplicates or gaps.
pub async fn pages_are_listed_page_by_page(pages: &Arc<dyn Pages>) {
    assert_eq!(pages.list(None, 10).await.expect("lists"), []);
    let numbers = [0x30, 0x2, 0xff, 0x1, 0xa00, 0x9ff, 0xabc];
    for n in numbers {
        pages.insert(&page(n, PageState::Pending)).await.expect("inserts");
    }
    let mut listed = by_pages(2, async |last: Option<&Page>| pages.list(last.map(|p| &p.id), 2).await).await;
    assert_eq!(pages.list(None, 100).await.expect("lists"), listed);
    // A list may begin after any id, such as a random one, even if no page has it.
    for n in [0x0, 0x31, 0xfff] {
        let rest = pages.list(Some(&page_id(n)), 100).await.expect("lists");
        assert!(listed.ends_with(&rest), "after {n:x}: {rest:?}");
    }
    let mut expected: Vec<_> = numbers.iter().map(|n| page(*n, PageState::Pending)).collect();
    expected.sort_by(|a, b| a.id.cmp(&b.id));
    listed.sort_by(|a, b| a.id.cmp(&b.id));
    assert_eq!(listed, expected);
}
