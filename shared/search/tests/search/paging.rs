//! Tests results over several splits and several pages of results.

use super::*;

#[test]
fn scores_do_not_depend_on_how_pages_are_spread() {
    let pages = Page::many(60);
    let one = splits(&pages, 1);
    let five = splits(&pages, 5);
    assert_eq!((one.len(), five.len()), (1, 5));
    for text in [
        "pane",
        "pane olio",
        "\"pane nuovo\"",
        "run",
        "pane -burro",
        "articolo lang:it",
        "site:example.org",
        "pane sort:date",
    ] {
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
    let splits: Vec<&Split> = splits.iter().collect();
    let query = Query::parse("pane").unwrap();
    let page = |offset, limit| {
        let request = Request { offset, ..first(&query, limit) };
        search(&splits, &Hidden::default(), request).unwrap()
    };
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
    let pages = Page::many(30);
    let before = splits(&pages, 3);
    let after = splits(&Page::many(40), 4);
    for text in ["pane", "pane sort:date", "site:example.org"] {
        let query = Query::parse(text).unwrap();
        let ask = |splits: &[Split], limit, after: Option<&Cursor>| {
            let splits: Vec<&Split> = splits.iter().collect();
            let request = Request { after, ..first(&query, limit) };
            search(&splits, &Hidden::default(), request).unwrap()
        };
        let whole = ask(&before, 1000, None);
        assert_eq!(whole.next, None);
        let (mut parts, mut cursor) = (Vec::new(), None::<Cursor>);
        loop {
            let part = ask(&before, 4, cursor.as_ref());
            assert_eq!(part.total, whole.total);
            parts.extend(part.hits);
            let Some(next) = part.next else { break };
            assert_eq!(next.seen(), parts.len() as u64);
            cursor = Cursor::decode(&next.encode(text, &[7; 32]), text, &[7; 32]);
            assert!(cursor.is_some());
        }
        assert_eq!(parts, whole.hits, "{text}");

        // Sorted by date, nothing moves when a page is published: no result is repeated or skipped.
        if text == "pane sort:date" {
            let first = ask(&before, 10, None);
            let second = ask(&after, 1000, first.next.as_ref());
            let shown: HashSet<&PageId> = first.hits.iter().map(|hit| &hit.id).collect();
            assert!(second.hits.iter().all(|hit| !shown.contains(&hit.id)));
            let rest = whole.hits.iter().skip(10);
            assert!(rest.into_iter().all(|hit| second.hits.iter().any(|other| other.id == hit.id)));
        }
    }
}
