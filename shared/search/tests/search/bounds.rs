//! Tests of the bounds by which queries leave splits unopened, and of tombstones that are looked up step by step.

use super::*;
use curlew_search::{Bounds, FORM, HOSTS_NAMED, SplitEntry, site_profiles, sites};

fn entry(built: &SplitBuilt) -> SplitEntry {
    let SplitBuilt { docs, tail, .. } = *built;
    let (languages, bounds) = (built.languages.clone(), built.bounds.clone());
    SplitEntry { key: built.name.clone(), form: FORM, docs, languages, tail, bounds, ..SplitEntry::default() }
}

/// Returns pages of five months, three languages and three sites, sorted so that each split has few of each.
fn sorted_pages() -> Vec<Page> {
    let page = |n: usize| {
        let language = ["it", "en", ""][n / 20];
        let host = ["www.example.org", "blog.example.net", "example.com"][n / 7 % 3];
        let day = format!("2026-{:02}-{:02}", 1 + n / 12, 1 + n % 12);
        Page::new(&format!("p{n}"), language, "Pane", "Il pane di ieri.").host(host).day(&day)
    };
    (0..60).map(page).collect()
}

#[test]
fn a_split_that_is_left_unopened_has_no_page_that_matches() {
    let pages = sorted_pages();
    let built: Vec<SplitBuilt> = pages.chunks(7).map(built).collect();
    let splits: Vec<Split> = built.iter().cloned().map(opened).collect();
    let all: Vec<&Split> = splits.iter().collect();
    let merged = entry(&merged(&splits, &HashSet::new()).unwrap());
    let mut least = splits.len();
    let filters = "|lang:it|lang:en lang:it|lang:fr|-lang:it|-lang:it -lang:en|after:2026-03-01|before:2026-02-01|\
        before:2026-01-01|after:2026-05-12|after:2026-05-13|after:2026-02-03 before:2026-02-04|site:example.org|\
        site:www.example.org|site:example.net|site:blog.example.net site:example.com|site:net lang:en|site:example|\
        -site:example.net";
    for filter in filters.split('|') {
        let request = strict(&format!("pane {filter}"), 100);
        let is_chosen = |(built, _): &(&SplitBuilt, &&Split)| entry(built).may_match(&request.query);
        let chosen: Vec<&Split> = built.iter().zip(&all).filter(is_chosen).map(|(_, split)| *split).collect();
        let total = |splits: &[&Split]| search(splits, &Hidden::default(), &request).unwrap().total;
        assert_eq!(total(&chosen), total(&all), "{filter}");
        assert_eq!(total(&chosen) > 0, merged.may_match(&request.query), "{filter}: the bounds of the merged split");
        least = least.min(chosen.len());
        assert!(filter.is_empty() || chosen.len() < splits.len() || filter.starts_with("-site"), "{filter}");
    }
    assert_eq!(least, 0);
}

#[test]
fn what_a_manifest_does_not_know_excludes_nothing() {
    let query = Query::parse("pane site:example.org lang:it after:2026-03-01 before:2026-04-01").unwrap();
    assert!(Bounds::default().may_match(&query));
    let many: Vec<Page> = (0..=HOSTS_NAMED)
        .map(|n| Page::it(&format!("p{n}"), "Pane", "Il pane.").host(&format!("h{n}.example")).day("2026-03-05"))
        .collect();
    assert_eq!(built(&many).bounds.hosts, None);
    assert_eq!(built(&many[1..]).bounds.hosts.map(|hosts| hosts.len()), Some(HOSTS_NAMED));
    // A manifest reads back what it writes, with bounds and without.
    let known = Manifest::new(2026).with_split(entry(&built(&many)), &[]).unwrap();
    assert_eq!(Manifest::from_json(&known.to_json()).unwrap(), known);
    let mut json: serde_json::Value = serde_json::from_slice(&known.to_json()).unwrap();
    let split = json["splits"][0].as_object_mut().unwrap();
    assert!(split.remove("oldest").is_some() && split.remove("newest").is_some() && !split.contains_key("hosts"));
    let unknown = Manifest::from_json(&serde_json::to_vec(&json).unwrap()).unwrap();
    assert!(unknown.splits[0].bounds == Bounds::default() && unknown.splits[0].may_match(&query));
}

#[test]
fn a_site_is_named_by_its_newest_page_in_whichever_split_it_lies() {
    let named = |n: &str, host: &str, day: &str, name: &str| {
        let record = Page::it(n, "Pane", "Il pane.").host(host).day(day).record();
        curlew_model::Record { site_name: Some(name.to_owned()), ..record }
    };
    let recent =
        [named("a", "www.example.org", "2026-03-01", "New name"), named("b", "example.com", "2026-01-01", " ")];
    let old = [named("c", "example.org", "2026-02-01", "Old name")];
    let splits = [recent.to_vec(), old.to_vec()]
        .map(|records| opened(build_split(records.into_iter(), &BuildBudget::default()).unwrap()));
    let splits: Vec<&Split> = splits.iter().collect();
    let names = |most: usize| -> Vec<(String, String, u64)> {
        let profiles = site_profiles(&splits, &Hidden::default(), most).unwrap();
        let entries: Vec<_> = profiles.iter().map(|profile| profile.site.clone()).collect();
        assert_eq!(entries, sites(&splits, &Hidden::default()).unwrap());
        profiles.into_iter().map(|profile| (profile.site.host, profile.name, profile.site.pages)).collect()
    };
    let expected = |name: &str| {
        [("example.com", "example.com", 1), ("example.org", name, 2)].map(|(h, n, p)| (h.to_owned(), n.to_owned(), p))
    };
    assert_eq!(names(2), expected("New name"));
    assert_eq!(names(1), expected("New name"), "the sites with the newest pages come first");
    assert_eq!(names(0), expected("example.org"), "no record may be read");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// The order in which tombstones are added and removed, and earlier lookups, must not change which pages are
    /// hidden.
    #[test]
    fn tombstones_that_come_and_go_hide_what_they_would_hide_at_once(
        steps in prop::collection::vec((prop::collection::btree_set(0_usize..60, 0..12), any::<bool>(), any::<bool>()), 1..8)
    ) {
        let splits = splits(&sorted_pages(), 2);
        let mut gone: BTreeSet<PageId> = BTreeSet::new();
        let mut hidden = Hidden::default();
        for (pages, comes, is_looked_at) in steps {
            for page in pages.iter().map(|n| id(&format!("p{n}"))) {
                if comes { gone.insert(page); } else { gone.remove(&page); }
            }
            let next = Hidden { tombstones: Arc::new(gone.clone()), ..Hidden::default() };
            hidden = next.after(&hidden.tombstones);
            if is_looked_at {
                let alone = Hidden { tombstones: Arc::new(gone.clone()), ..Hidden::default() };
                let fresh = self::splits(&sorted_pages(), 2);
                prop_assert_eq!(ask_all(&splits, &hidden, "pane").hits, ask_all(&fresh, &alone, "pane").hits);
            }
        }
    }
}
