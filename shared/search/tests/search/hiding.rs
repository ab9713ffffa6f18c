//! Tests of hidden pages, and of limits on how much of a page may be shown.

use super::*;

#[test]
fn what_is_hidden_is_neither_found_nor_counted() {
    let pages = [
        Page::it("a", "Pane", "Il pane.").host("example.org"),
        Page::it("b", "Pane", "Il pane.").host("shop.example.net"),
        Page::it("c", "Pane", "Il pane.").host("example.net"),
        Page::it("d", "Pane", "Il pane.").host("otherexample.net").until("2026-11-20"),
        Page::it("e", "Pane", "Il pane.").host("otherexample.net").until("2026-11-22"),
    ];
    let splits = splits(&pages, 2);
    assert_eq!(ask_all(&splits, &Hidden::default(), "pane").total, 4, "d must have expired");
    let gone = Hidden { tombstones: Arc::new([id("a")].into()), ..Hidden::default() };
    assert_eq!(sorted(paths(&ask_all(&splits, &gone, "pane"))), ["b", "c", "e"]);
    let blocked = Hidden { hosts: ["example.net".to_owned()].into(), ..gone };
    assert_eq!(paths(&ask_all(&splits, &blocked, "pane")), ["e"]);
    assert_eq!(ask_all(&splits, &Hidden::default(), "pane").total, 4, "a page need not stay hidden");
    for filter in ["", "site:otherexample.net", "-site:otherexample.net", "lang:it", "after:2026-10-31", "-burro"] {
        let some = format!("pane xylomarimbula {filter}");
        assert_eq!(ask_all(&splits, &blocked, &some).total, 0, "{some}");
    }

    let lapsed: HashSet<PageId> = splits.iter().flat_map(|split| split.lapsed(now()).unwrap()).collect();
    assert_eq!(lapsed, [id("d")].into());
}

#[test]
fn tombstones_of_all_years_are_minded() {
    let years = [Manifest::new(2025).with_tombstones([id("a")]), Manifest::new(2026).with_tombstones([id("b")])];
    let hidden = Hidden::new(&years, BTreeSet::new(), now());
    let split = [split(&["a", "b", "c"].map(|name| Page::it(name, "Pane", "Il pane.")))];
    assert_eq!(paths(&ask_all(&split, &hidden, "pane")), ["c"]);
}

#[test]
fn p07_a_page_whose_time_was_learned_later_is_hidden_from_then_on() {
    let (soon, later) = (now() + Millis::from_hours(1), now() + Millis::from_hours(2));
    let manifest = Manifest::new(2026).with_expiry(&id("a"), Some(soon)).with_expiry(&id("b"), Some(later));
    let read = Manifest::from_json(&manifest.to_json()).unwrap();
    assert_eq!(read, manifest);
    let hidden = |at| Hidden::new([&read], BTreeSet::new(), at).tombstones.len();
    assert_eq!([now(), soon, later].map(hidden), [0, 1, 2]);
    assert_eq!([now(), soon, later].map(|at| read.next_expiry(at)), [Some(soon), Some(later), None]);
    let changed = read.with_expiry(&id("a"), None).with_tombstones([id("b")]);
    assert!(changed.expiries.is_empty(), "the expiry was taken back");
    // A manifest in the old format has no such entry.
    assert!(!String::from_utf8(changed.to_json()).unwrap().contains("expiries"));
}

#[test]
fn p06_pages_decide_how_much_is_shown() {
    let split = split(&[
        Page::it("a", "Uno", "Il pane quotidiano, e molto altro da leggere.").snippet(SnippetLimit(Some(0))),
        Page::it("b", "Due", "Il pane quotidiano, e molto altro da leggere.").snippet(SnippetLimit(Some(12))),
        Page::it("c", "Tre", "Il pane quotidiano, e molto altro da leggere."),
    ]);
    let results = ask(&split, "pane sort:date");
    let [a, b, c] = results.hits.as_slice() else { panic!("three hits") };
    assert_eq!((a.snippet.as_str(), a.marks.len()), ("", 0));
    assert!(b.snippet.chars().count() <= 12);
    assert_eq!(&c.snippet[c.marks[0].clone()], "pane");
    assert_eq!((c.site.as_str(), c.host.as_str()), ("Il sito", "example.org"));
}
