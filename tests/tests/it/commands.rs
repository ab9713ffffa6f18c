//! Runs every command on a crawled store, with its output for people and for programs.

use curlew_tests::{Server, Steps, Store, Web};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::net::TcpListener;

/// Some of the bundled sites: three languages, refusals, a hold, a page that forbids copies, and a site without a feed.
const SITES: [&str; 7] = [
    "cucina-di-casa.test",
    "harbour-lantern.test",
    "waldwege.test",
    "short-quotes.test",
    "dead-links.test",
    "forno-affollato.test",
    "senza-feed.test",
];
/// Fields that `crawl --json` must print.
const SUMMARY: &str =
    "sites feeds entries_seen pages_fetched accepted rejected held parked dead calls bytes seconds cpu_seconds";

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_else(|| panic!("no {name} in {value}"))
}

pub(crate) fn urls(rows: &[Value]) -> BTreeSet<String> {
    rows.iter().map(|row| text(row, "url").to_owned()).collect()
}

#[test]
fn commands_on_a_crawled_store() {
    let web = Web::demo();
    let store = Store::brisk(&web);
    let starts = web.starts_of(&SITES);
    let summary = store.crawl(&starts);
    let accepted = web.accepted_of(&SITES);

    let mut steps = Steps::new();
    steps.step("crawl: the summary has all its names", || {
        for name in SUMMARY.split(" ") {
            assert!(!summary[name].is_null(), "{name} is missing: {summary}");
        }
        assert_eq!((&summary["sites"], &summary["accepted"]), (&json!(SITES.len()), &json!(accepted)));
        assert_eq!(summary["rejected"], json!({"not_found": 2, "gone": 1, "media_type": 1}));
        assert_eq!(summary["held"], json!({"too_many_requests": 1}));
        assert!(summary["parked"].as_u64().unwrap() >= 4, "{summary}");
        assert!(summary["seconds"].as_f64().unwrap() > summary["cpu_seconds"].as_f64().unwrap());
    });
    searching(&mut steps, &store);
    lists(&mut steps, &store, accepted);
    moving(&mut steps, &web, &store, accepted);
    upkeep(&mut steps, &store, accepted);
    serving(&mut steps, &store);
    steps.end();
}

/// Fields of each hit of `search --json`, which scripts rely on.
const FIXED: [&str; 7] = ["url", "title", "snippet", "image", "site", "published", "score"];
/// Fields that a hit may have if the page states their content. More may be added here, but none may be removed.
const ADDED: [&str; 1] = ["author"];

fn searching(steps: &mut Steps, store: &Store) {
    steps.step("search: for programs", || {
        let answer = store.run(&["search", "torta", "--json", "--limit", "2"]).ok().json();
        let names: BTreeSet<&str> = answer.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(names, BTreeSet::from(["total", "hits"]));
        let hits = answer["hits"].as_array().unwrap();
        assert_eq!(hits.len(), 2);
        assert!(answer["total"].as_u64().unwrap() >= 2);
        for hit in hits {
            let names: BTreeSet<&str> = hit.as_object().unwrap().keys().map(String::as_str).collect();
            let fixed = BTreeSet::from(FIXED);
            assert_eq!(fixed.difference(&names).count(), 0, "{names:?}");
            assert!(names.difference(&fixed).all(|name| ADDED.contains(name)), "{names:?}");
            assert!(text(hit, "published").ends_with('Z'));
        }
        assert!(hits[0]["score"].as_f64() >= hits[1]["score"].as_f64(), "the best comes first");
    });
    steps.step("search: for people", || {
        let said = store.run(&["search", "torta"]).ok().stdout;
        assert!(said.contains("http://cucina-di-casa.test/") && said.contains("pages"), "{said}");
        assert_eq!(store.run(&["search", "xyzzyqwertz"]).ok().stdout, "0 pages\nNo results for 'xyzzyqwertz'.\n");
    });
    steps.step("search: pages with some of the words follow, and say so", || {
        let answer = store.run(&["search", "torta", "xyzzyqwertz", "--json", "--limit", "1"]).ok().json();
        let (hit, all) = (&answer["hits"][0], store.found("torta").len() as u64);
        assert_eq!((answer["total"].as_u64(), answer["partial"].as_u64()), (Some(0), Some(all)));
        assert_eq!((&hit["all_words"], &hit["missing"][0]), (&false.into(), &"xyzzyqwertz".into()));
        let said = store.run(&["search", "torta", "xyzzyqwertz", "--explain"]).ok().stdout;
        for sentence in ["0 pages with all words;", "No results for 'xyzzyqwertz'.", "Without: xyzzyqwertz"] {
            assert!(said.contains(sentence), "{sentence}: {said}");
        }
        assert!(said.contains("  Score ") && said.contains(" = (torta "), "{said}");
    });
    steps.step("search: words and phrases", || {
        let torta = store.found("torta");
        assert!(!torta.is_empty());
        assert_eq!(store.found("TORTE"), torta, "words are stemmed and their case is ignored");
        let phrase = store.found("\"torta di mele\"");
        assert!(!phrase.is_empty() && phrase.iter().all(|url| torta.contains(url)));
        assert_eq!(store.found("\"mele di torta\""), Vec::<String>::new());
        assert_eq!(store.found("torta -mele").len() + store.found("torta mele").len(), torta.len());
        // A shell passes on separate words, and a phrase without its quotes.
        let apart = store.run(&["search", "torta di mele", "burro", "--json"]).ok().json();
        assert!(apart["total"].as_u64().unwrap() > 0);
    });
    steps.step("search: filters and order", || {
        let all = store.found("site:cucina-di-casa.test");
        assert!(!all.is_empty() && all.iter().all(|url| url.starts_with("http://cucina-di-casa.test/")));
        let german = store.found("lang:de");
        assert!(!german.is_empty() && german.iter().all(|url| url.contains("waldwege.test")));
        let at = |query: &str| -> Vec<String> {
            let answer = store.run(&["search", query, "--json", "--limit", "100"]).ok().json();
            answer["hits"].as_array().unwrap().iter().map(|hit| text(hit, "published").to_owned()).collect()
        };
        let newest_first = at("site:cucina-di-casa.test sort:date");
        assert!(newest_first.is_sorted_by(|a, b| a >= b), "{newest_first:?}");
        let middle = &newest_first[newest_first.len() / 2][..10];
        let (before, after) = (
            at(&format!("site:cucina-di-casa.test before:{middle}")),
            at(&format!("site:cucina-di-casa.test after:{middle}")),
        );
        assert_eq!(before.len() + after.len(), newest_first.len());
        assert!(before.iter().all(|at| at.as_str() < middle) && after.iter().all(|at| at.as_str() >= middle));
    });
    steps.step("search: used wrongly", || {
        store.run(&["search", "before:soon"]).refused(2, &["soon", "before:2026"]);
        store.run(&["search", ""]).refused(2, &["word"]);
        store.run(&["search", "a", "--limit", "1000000"]).refused(2, &["--limit"]);
        store.run(&["search"]).refused(2, &["QUERY"]);
    });
}

fn lists(steps: &mut Steps, store: &Store, accepted: usize) {
    steps.step("sites", || {
        let rows = store.list("sites");
        assert_eq!(rows.len(), SITES.len());
        let show = store.run(&["sites", "show", "http://senza-feed.test/", "--json"]).ok().json();
        assert_eq!(show["state"]["state"], "feedless", "{show}");
        assert!(store.run(&["sites"]).ok().stdout.contains("no feed:"));
    });
    steps.step("feeds", || {
        let rows = store.list("feeds");
        let kitchen = rows.iter().find(|row| text(row, "url").contains("cucina-di-casa")).unwrap();
        assert_eq!(text(kitchen, "title"), "Cucina di casa");
        assert!(text(&kitchen["validators"], "etag").starts_with('"'));
        let show = store.run(&["feeds", "show", text(kitchen, "key"), "--json"]).ok().json();
        assert_eq!(show["url"], kitchen["url"]);
        assert!(text(&show, "next_poll") > text(&show, "polled_at"), "{show}");
        assert!(
            text(&show, "next_poll_because").starts_with("every 24 h, since so often something new comes"),
            "{show}"
        );
        let host = text(kitchen, "url").split('/').nth(2).unwrap();
        let site = store.run(&["sites", "show", host, "--json"]).ok().json();
        assert_eq!(
            (&site["feeds"][0]["url"], &site["feeds"][0]["next"]),
            (&kitchen["url"], &show["next_poll"]),
            "{site}"
        );
        assert!(site["pages"]["accepted"].as_u64().unwrap() > 0 && !site["latest"][0]["url"].is_null(), "{site}");
        assert!(site["hold"].is_null() && site["pace"]["ruled_by"].is_string() && !site["robots"].is_null(), "{site}");
        let told = store.run(&["sites", "show", host]).ok().stdout;
        assert!(told.contains(text(kitchen, "url")) && told.contains("robots.txt"), "{told}");
    });
    steps.step("pages", || {
        let rows = store.list("pages");
        let is = |state: &str| rows.iter().filter(|row| row["state"]["state"] == state).count();
        assert_eq!((is("accepted"), is("rejected"), is("pending")), (accepted, 4, 0));
        let rejected = rows.iter().find(|row| row["state"]["reason"]["why"] == "media_type").unwrap();
        let show = store.run(&["pages", "show", text(rejected, "url")]).ok().stdout;
        assert!(show.contains("application/pdf"), "the reason is in the page's row: {show}");
        let listed = store.run(&["pages", "list"]).ok().stdout;
        assert!(listed.contains("the server answered 410"), "{listed}");
    });
    steps.step("holds and parked", || {
        let holds = store.list("holds");
        assert_eq!(holds.len(), 1, "{holds:?}");
        assert_eq!(holds[0]["host"], "forno-affollato.test");
        let said = store.run(&["holds"]).ok().stdout;
        assert!(said.contains("too_many_requests until 20"), "{said}");
        let parked = store.list("parked");
        let waits = parked.iter().find(|row| {
            row["job"]["host"] == "forno-affollato.test"
                && row["job"]["items"].as_array().is_some_and(|items| items.len() == 4)
        });
        let row = waits.unwrap_or_else(|| panic!("{parked:?}"));
        assert!(text(row, "due") > text(&holds[0]["state"]["hold"], "since"));
        let show = store.run(&["parked", "show", text(row, "about"), "--json"]).ok().rows();
        assert!(show.iter().any(|shown| shown["due"] == row["due"]));
    });
    steps.step("status", || {
        let status = store.run(&["status", "--json"]).ok().json();
        assert_eq!((&status["sites"], &status["pages"]["accepted"]), (&json!(SITES.len()), &json!(accepted)));
        assert_eq!(status["rejected"], json!({"not_found": 2, "gone": 1, "media_type": 1}));
        assert_eq!((&status["held"], &status["dead"]), (&json!({"too_many_requests": 1}), &json!(0)));
        let said = store.run(&["status"]).ok().stdout;
        assert!(said.contains("rejected: media_type") && said.contains("too_many_requests"), "{said}");
    });
    steps.step("doctor", || {
        let report = store.run(&["doctor", "--json"]).ok().json();
        let rows = report["checks"].as_array().unwrap();
        let of = |level: &str| -> Vec<&str> {
            rows.iter().filter(|row| row["level"] == level).map(|row| text(row, "check")).collect()
        };
        assert_eq!((&report["ok"], of("warning"), of("failed")), (&json!(true), vec!["contact"], vec![]), "{report}");
        let checks = [
            "store", "settings", "paused", "pictures", "persons", "sites", "clock", "schedule", "backlog", "given_up",
            "index", "messages", "holds",
        ];
        assert_eq!(of("ok"), checks);
        let said = store.run(&["doctor"]).ok().stdout;
        assert!(said.contains("ok       holds      1 host is on hold (1 too_many_requests)"), "{said}");
        assert!(said.contains("warning  contact  ") && said.contains("--contact"), "{said}");
        // Wrong settings do not prevent any other check.
        let wrong = store.file("wrong.toml", "contact = \"a@b.example\"\nworkers = 0\n");
        let ran = store.run(&["doctor", "--json", "--config", &wrong]);
        let report = ran.json();
        let rows = report["checks"].as_array().unwrap();
        let failed: Vec<&Value> = rows.iter().filter(|row| row["level"] == "failed").collect();
        // Wrong settings leave out three checks that depend on settings: pauses, pictures and persons.
        assert_eq!((ran.code(), failed.len(), rows.len()), (1, 1, checks.len() - 3), "{report}");
        assert!(text(failed[0], "found").contains("workers must be"), "{report}");
        let ran = Store::alone().run(&["doctor"]);
        assert!(ran.code() == 1 && ran.stdout.contains("crawl something first"), "{ran:?}");
        assert!(ran.stderr.starts_with("curlew: 1 check failed"), "{ran:?}");
    });
    steps.step("what is not there", || {
        for what in ["sites", "feeds", "pages", "holds", "parked", "audit"] {
            store.run(&[what, "show", "http://nowhere.test/"]).refused(1, &["nowhere.test"]);
        }
        assert_eq!(store.list("audit"), Vec::<Value>::new());
    });
}

fn moving(steps: &mut Steps, web: &Web, store: &Store, accepted: usize) {
    let feeds = store.list("feeds");
    steps.step("export records", || {
        let records = store.records();
        assert_eq!(records.len(), accepted);
        for record in &records {
            let no_copy = record["no_archive"] == true;
            assert_eq!(text(record, "text").is_empty(), no_copy, "a page may ask that no copy of it be offered");
            assert!(!text(record, "title").is_empty() && text(record, "fetched_at").ends_with('Z'));
        }
        assert_eq!(records.iter().filter(|record| record["no_archive"] == true).count(), 1);
        assert_eq!(store.run(&["export", "records", "--since", "2020-01-01"]).ok().rows().len(), accepted);
        assert_eq!(store.run(&["export", "records", "--since", "2199-01-01"]).ok().stdout, "");
        store.run(&["export", "records", "--since", "yesterday"]).refused(2, &["yesterday"]);
    });
    steps.step("export feeds", || {
        assert_eq!(urls(&store.run(&["export", "feeds"]).ok().rows()), urls(&feeds));
        assert_eq!(store.run(&["export", "feeds", "--since", "2199-01-01"]).ok().stdout, "");
    });
    steps.step("export opml, import opml", || {
        let said = store.run(&["export", "opml"]).ok().stdout;
        assert!(said.starts_with("<?xml") && said.contains("<opml version=\"2.0\">"), "{said}");
        let opml = store.file("feeds.opml", &said);
        let other = Store::brisk(web);
        let said = other.run(&["import", "opml", &opml]).ok().stdout;
        assert!(said.contains(&format!("{} feeds are new", feeds.len())), "{said}");
        assert!(other.run(&["import", "opml", &opml]).ok().stdout.starts_with("0 feeds are new"));
        assert_eq!(urls(&other.list("feeds")), urls(&feeds));
    });
    steps.step("crawl --opml, --feed, --sites, --until", || {
        let other = Store::brisk(web);
        let feed = |host: &str| web.farm().site(host).unwrap().feed_urls().remove(0);
        let outline =
            format!("<outline text=\"x\"><outline type=\"rss\" xmlUrl=\"{}\"/></outline>", feed("early-echo.test"));
        let opml = other.file("one.opml", format!("<opml version=\"1.1\"><body>{outline}</body></opml>"));
        let sites = other.file("sites.txt", "# Sites\n\n http://brief-notes.test/  # short ones\n");
        let relics = feed("rdf-relics.test");
        let args = ["crawl", "--opml", &opml, "--sites", &sites, "--feed", &relics, "--json", "--until", "3m"];
        let summary = other.run(&args).ok().json();
        let of = |host: &str| web.farm().site(host).unwrap().expect.accepted;
        assert_eq!(
            summary["accepted"],
            of("early-echo.test") + of("rdf-relics.test") + of("brief-notes.test"),
            "{summary}"
        );
        assert_eq!((&summary["sites"], &summary["feeds"]), (&json!(1), &json!(3)));
    });
    steps.step("crawl: for people, and nothing due", || {
        let said = store.run(&["crawl"]).ok().stdout;
        assert!(said.contains("sites     7") && said.contains("Nothing was due"), "{said}");
    });
    steps.step("crawl and import: used wrongly", || {
        let other = Store::brisk(web);
        other.run(&["crawl"]).refused(2, &["nothing to crawl", "name a site"]);
        other.run(&["crawl", "--sites", "/no/such/file"]).refused(1, &["/no/such/file", "cannot be read"]);
        other.run(&["crawl", "--until", "soon", "http://a.test/"]).refused(2, &["soon"]);
        other.run(&["crawl", "--history", "--limit", "0", "http://a.test/"]).refused(2, &["'0'", "--limit"]);
        other.run(&["config", "set", "/no/such/file"]).refused(2, &["--aws"]);
        let mut paused = Store::brisk(web);
        paused.configure("paused = true\n");
        paused.run(&["crawl", "http://early-echo.test/"]).refused(2, &["paused"]);
        other.run(&["import", "opml", "/no/such/file"]).refused(1, &["/no/such/file", "cannot be read"]);
        let text = other.file("text.txt", "no feeds here");
        other.run(&["import", "opml", &text]).refused(1, &["OPML"]);
    });
}

fn upkeep(steps: &mut Steps, store: &Store, accepted: usize) {
    steps.step("index", || {
        let done = store.run(&["index", "--json"]).ok().json();
        assert_eq!(done["years"][0]["added"], 0, "the crawl has published already");
        let year = done["years"][0]["year"].to_string();
        let done = store.run(&["index", "--year", &year, "--json"]).ok().json();
        assert_eq!(done["years"][0]["splits"], 1);
        assert!(store.run(&["index"]).ok().stdout.starts_with(&year));
        store.run(&["index", "--year", "12"]).refused(2, &["12"]);
        store.run(&["index", "--year", "1999"]).refused(1, &["1999", "curlew status"]);
    });
    steps.step("sample", || {
        // Pages that were fetched today are re-checked only if all pages are requested.
        let some = store.run(&["sample", "--count", "2", "--json"]).ok().json();
        for name in ["sampled", "still_there", "removed", "calls"] {
            assert!(!some[name].is_null(), "{name}: {some}");
        }
        assert!(some["sampled"].as_u64().unwrap() <= 2);
        assert_eq!(store.records().len(), accepted);
        store.run(&["sample", "--count", "few"]).refused(2, &["few"]);
    });
    steps.step("redrive", || {
        assert!(store.run(&["redrive"]).ok().stdout.starts_with("0 jobs"));
    });
}

fn serving(steps: &mut Steps, store: &Store) {
    steps.step("serve", || {
        let server = Server::start(store);
        let home = server.get("/");
        assert_eq!(home.status, 200);
        assert!(home.text().contains("<form") && home.header("content-security-policy").is_some());
        let answer: Value = serde_json::from_slice(&server.get("/api/v1/search?q=farina").body).unwrap();
        let found = store.found("farina");
        assert_eq!(answer["total"], found.len());
        assert_eq!(answer["hits"][0]["url"], found[0].as_str());
        let page = server.get("/?q=farina").text();
        assert!(page.contains(&found[0]) && page.contains("<mark>"));
        for path in ["/bot", "/status", "/suggest", "/robots.txt", "/style.css"] {
            assert_eq!(server.get(path).status, 200, "{path}");
        }
        assert!(server.get("/bot").text().contains("CurlewBot"));
        let status = server.get("/status").text();
        assert!(status.contains("Too many requests (429)"));
        assert_eq!(status.matches("<figure>").count(), 3, "the charts show today's crawl");
        assert_eq!(server.get("/nowhere").status, 404);
        // Other processes may read and block while the server runs, and the next search applies the block.
        store.run(&["block", "cucina-di-casa.test"]).ok();
        let hidden: Value =
            serde_json::from_slice(&server.get("/api/v1/search?q=site:cucina-di-casa.test").body).unwrap();
        assert_eq!(hidden["total"], 0);
        store.run(&["unblock", "cucina-di-casa.test"]).ok();
        // A second process that would write is refused.
        store.run(&["crawl"]).refused(1, &["in use", &format!("process {}", server.id())]);
        server.stop();
    });
    steps.step("serve: the address is taken", || {
        let taken = TcpListener::bind("127.0.0.1:0").unwrap();
        let addr = taken.local_addr().unwrap().to_string();
        store.run(&["serve", "--listen", &addr]).refused(1, &[&addr, "--listen"]);
        store.run(&["serve", "--listen", "here"]).refused(2, &["here"]);
    });
}
