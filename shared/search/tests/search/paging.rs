//! Tests of results over several splits and over several pages of results.

use super::*;

#[test]
fn scores_do_not_depend_on_how_pages_are_spread() {
    let pages = Page::many(60);
    let (one, five) = (splits(&pages, 1), splits(&pages, 5));
    assert_eq!((one.len(), five.len()), (1, 5));
    let texts = "pane|pane olio|\"pane nuovo\"|run|pane -burro|articolo lang:it|site:example.org|pane sort:date";
    for text in texts.split('|') {
        let (one, five) = (ask_all(&one, &Hidden::default(), text), ask_all(&five, &Hidden::default(), text));
        assert!(one.total > 0, "{text}");
        assert_eq!(paths(&one), paths(&five), "{text}");
        for (a, b) in one.hits.iter().zip(&five.hits) {
            assert!((a.score - b.score).abs() < 1e-4, "{text}: {} {}", a.score, b.score);
        }
    }
}

#[test]
fn pages_of_results_are_parts_of_the_whole() {
    let splits = splits(&Page::many(30), 3);
    let page = |offset, limit| answer(&splits, &Hidden::default(), &Request { offset, ..strict("pane", limit) });
    let whole = page(0, 1000);
    let mut parts = Vec::new();
    for offset in (0..40).step_by(7) {
        let part = page(offset, 7);
        assert_eq!(part.total, whole.total);
        parts.extend(part.hits);
    }
    assert_eq!(parts, whole.hits);
    assert_eq!(page(usize::MAX, 10).hits, []);
    assert_eq!(page(0, 0).total, whole.total);
}

#[test]
fn cursors_lead_through_all_results_while_others_publish() {
    let (before, after) = (splits(&Page::many(30), 3), splits(&Page::many(40), 4));
    for text in ["pane", "pane sort:date", "site:example.org"] {
        let whole = answer(&before, &Hidden::default(), &strict(text, 1000));
        assert_eq!(whole.next, None);
        let mut parts = Vec::new();
        for part in each_page(&before, text, &strict(text, 4)) {
            assert_eq!(part.total, whole.total);
            parts.extend(part.hits);
            assert!(part.next.is_none_or(|next| next.seen == parts.len() as u64));
        }
        assert_eq!(parts, whole.hits, "{text}");

        // Results sorted by date do not move when a page is published: none is repeated or skipped.
        if text == "pane sort:date" {
            let first = answer(&before, &Hidden::default(), &strict(text, 10));
            let second = Request { after: first.next, ..strict(text, 1000) };
            let second = answer(&after, &Hidden::default(), &second);
            let has = |hits: &[SearchHit], hit: &SearchHit| hits.iter().any(|other| other.id == hit.id);
            assert!(second.hits.iter().all(|hit| !has(&first.hits, hit)));
            assert!(whole.hits[10..].iter().all(|hit| has(&second.hits, hit)));
        }
    }
}
