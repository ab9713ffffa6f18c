//! The real program crawls the bundled web. The tests check the outcome of every site and entry, and the crawler's
//! conduct by the sites' own logs. Then pages vanish, and have to be gone everywhere.

use curlew_fixtureweb::{Call, Expect, Farm, Kind, Mode, Outcome, Site, judge};
use curlew_tests::{LIMIT, Steps, Store, Web, read, start, text, unpacked_objects};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use tempfile::TempDir;

/// Minimum pause that the program promises, in microseconds.
const PAUSE: u64 = 1_000_000;
/// Two sites whose pages the test makes vanish, each in its own way, and a third whose pages vanish by themselves.
const ASKS_NOT_TO_BE_INDEXED: &str = "bird-ledger.test";
const LOSES_ITS_PAGES: &str = "json-orchard.test";
const FADES: &str = "inchiostro-che-svanisce.test";

#[test]
fn every_site_ends_as_expected_and_what_vanishes_is_gone_everywhere() {
    let web = Web::demo();
    let mut store = Store::new(&web);
    // A page that asks not to be indexed is confirmed at once by a second look.
    store.configure("[rules]\nconfirm_after = \"0s\"\n");
    let summary = store.crawl(&web.starts());
    let seen = Seen::of(&store, web.farm());
    let calls = web.calls();

    let mut steps = Steps::new();
    steps.step("sites", || seen.judge_sites(web.farm()));
    steps.step("entries", || seen.judge_entries(web.farm()));
    steps.step("summary", || judge_summary(&summary, &seen, web.farm(), &calls));
    steps.step("politeness", || judge_manners(&calls, web.farm()));
    steps.step("search", || judge_search(&store, &seen));
    vanishing(&mut steps, &web, &store, &seen);
    steps.end();
}

#[test]
fn the_demo_command_crawls_its_own_web_and_ends() {
    let folder = TempDir::with_prefix("curlew-e2e-").unwrap();
    let data = folder.path().join("data");
    let args = ["demo", "--no-serve", "--json", "--data", data.to_str().unwrap()];
    let summary = start(args).wait(LIMIT).ok().json();
    let farm = Farm::demo();
    assert_eq!(summary["sites"], farm.sites().len());
    assert_eq!(summary["accepted"], farm.sites().iter().map(|site| site.expect.accepted).sum::<usize>());
    assert_eq!(summary["dead"], 0);
    judge_documents(&summary);
    // Pages that vanish at the end of the demo are gone from the store that it leaves behind.
    let audit = start(["audit", "list", "--json", "--data", data.to_str().unwrap()]).wait(LIMIT).ok().rows();
    assert_eq!(audit.len(), 4, "{audit:?}");
}

/// Checks the figures of a run in the documents against this run, except those that depend on pauses.
fn judge_documents(summary: &Value) {
    let reasons = |of: &str| {
        let counts: BTreeMap<String, u64> = serde_json::from_value(summary[of].clone()).unwrap();
        let parts: Vec<String> = counts.iter().map(|(why, count)| format!("{count} {why}")).collect();
        (counts.values().sum::<u64>(), parts.join(", "))
    };
    let ((rejected, why_rejected), (held, why_held)) = (reasons("rejected"), reasons("held"));
    let sites = &summary["sites"];
    let command = format!("crawl a bundled web of {sites} small sites");
    let demo = [
        format!("    {sites} small sites are up on "),
        format!("\n    accepted  {}\n", summary["accepted"]),
        format!("\n    rejected  {rejected} ({why_rejected})\n"),
        format!("\n    held      {held} hosts ({why_held})\n"),
        command.clone(),
    ];
    for (document, lines) in [("README.md", &[command][..]), ("docs/demo.md", &demo)] {
        let text = read(document);
        let missing: Vec<&String> = lines.iter().filter(|line| !text.contains(*line)).collect();
        assert!(missing.is_empty(), "{document} tells of another run of the demo; write there:\n{missing:?}");
    }
}

/// The program's own lists after a crawl.
struct Seen {
    /// Host of the site by the feed's key.
    feeds: BTreeMap<String, String>,
    /// Rows of pages by URL.
    pages: BTreeMap<String, Value>,
    /// Rows of pages by id.
    ids: BTreeMap<String, Value>,
    /// Feed key and URL of each parked page.
    parked: Vec<(String, String)>,
    /// Reason of the hold by host key.
    holds: BTreeMap<String, String>,
}

impl Seen {
    fn of(store: &Store, farm: &Farm) -> Seen {
        let site_of = |feed: &Value| {
            let address = text(feed, "url");
            let host = address.trim_start_matches("http://").split('/').next().unwrap();
            farm.site(host).unwrap().host.clone()
        };
        let works = |feed: &&Value| feed["trouble"].is_null() && feed["gone"] == false;
        let feeds = store.list("feeds");
        let pages = store.list("pages");
        let new_pages = |row: &Value| -> Vec<(String, String)> {
            let job = &row["job"];
            let items = job["items"].as_array().cloned().unwrap_or_default();
            let is_new = |item: &&Value| item["purpose"]["for"] == "new";
            items.iter().filter(is_new).map(|item| (text(job, "feed"), text(item, "url"))).collect()
        };
        let hold = |row: &Value| Some((text(row, "host"), row["state"]["hold"]["reason"].as_str()?.to_owned()));
        Seen {
            feeds: feeds.iter().filter(works).map(|feed| (text(feed, "key"), site_of(feed))).collect(),
            ids: pages.iter().map(|page| (text(page, "id"), page.clone())).collect(),
            pages: pages.into_iter().map(|page| (text(&page, "url"), page)).collect(),
            parked: store.list("parked").iter().flat_map(new_pages).collect(),
            holds: store.list("holds").iter().filter_map(hold).collect(),
        }
    }

    fn accepted(&self) -> usize {
        self.pages.values().filter(|page| page["state"]["state"] == "accepted").count()
    }

    /// Returns the outcome of a site, counted as the farm counts it: by the feed that lists the entry.
    fn site(&self, site: &Site) -> Expect {
        let is_its = |feed: &str| self.feeds.get(feed) == Some(&site.host);
        let mut came_to =
            Expect { feeds: self.feeds.values().filter(|host| **host == site.host).count(), ..Expect::default() };
        for page in self.pages.values().filter(|page| is_its(page["feed"].as_str().unwrap_or_default())) {
            match page["state"]["state"].as_str().unwrap() {
                "accepted" => came_to.accepted += 1,
                // An entry without a callable URL has a row, too, under the feed's own URL.
                "rejected" if text(page, "url").contains("#entry-") => {}
                "rejected" => *came_to.rejected.entry(code(&page["state"]["reason"])).or_default() += 1,
                "alias" => {}
                other => panic!("a page is left {other}: {page}"),
            }
        }
        came_to.parked = self.parked.iter().filter(|(feed, _)| is_its(feed)).count();
        came_to.duplicates = self.duplicates(site);
        let keys: BTreeSet<String> = site.hosts().iter().map(|host| judge::registrable(host)).collect();
        came_to.held = keys.iter().find_map(|key| self.holds.get(key)).map(|reason| known(reason));
        came_to
    }

    /// Returns the number of additional URLs under which entries lead to an accepted page of the site.
    fn duplicates(&self, site: &Site) -> usize {
        let addresses: BTreeSet<&str> = site.entries().iter().map(|(url, _)| bare(url)).collect();
        let ends = addresses.iter().filter_map(|url| self.end(url));
        let ends: Vec<String> =
            ends.filter(|page| page["state"]["state"] == "accepted").map(|page| text(page, "id")).collect();
        ends.len() - ends.iter().collect::<BTreeSet<_>>().len()
    }

    /// Returns the row of a URL after following aliases.
    fn end(&self, url: &str) -> Option<&Value> {
        let page = self.pages.get(bare(url))?;
        match page["state"]["of"].as_str() {
            Some(of) => self.ids.get(of),
            None => Some(page),
        }
    }

    fn judge_sites(&self, farm: &Farm) {
        let mut wrong = Vec::new();
        for site in farm.sites() {
            let (mut came_to, expected) = (self.site(site), site.expect.clone());
            let extra = came_to.feeds.saturating_sub(expected.feeds);
            if extra <= expected.optional_feeds {
                came_to.feeds = came_to.feeds.min(expected.feeds);
                came_to.optional_feeds = expected.optional_feeds;
            }
            if came_to != expected {
                wrong.push(format!("{} ({})\n  came to  {came_to:?}\n  expected {expected:?}", site.host, site.about));
            }
        }
        assert!(wrong.is_empty(), "{} sites have another outcome:\n{}", wrong.len(), wrong.join("\n"));
    }

    fn judge_entries(&self, farm: &Farm) {
        let mut wrong = Vec::new();
        for site in farm.sites().iter().filter(|site| site.expect.entries() > 0) {
            for (url, outcome) in site.entries() {
                let page = self.end(url);
                let state = page.map(|page| text(&page["state"], "state")).unwrap_or_default();
                let fits = match outcome {
                    Outcome::Accepted | Outcome::Duplicate => state == "accepted",
                    Outcome::Repeat => page.is_some(),
                    Outcome::Rejected(why) => {
                        state == "rejected" && page.is_some_and(|page| code(&page["state"]["reason"]) == *why)
                    }
                    Outcome::Parked => page.is_none() && self.parked.iter().any(|(_, parked)| parked == url),
                    Outcome::Ignored => page.is_none(),
                };
                if !fits {
                    wrong.push(format!("{url}: expected {outcome:?}, and its row is {page:?}"));
                }
            }
        }
        assert!(wrong.is_empty(), "{} entries have another outcome:\n{}", wrong.len(), wrong.join("\n"));
    }
}

fn judge_summary(summary: &Value, seen: &Seen, farm: &Farm, calls: &[Call]) {
    let sites = farm.sites();
    assert_eq!(summary["sites"], sites.len());
    assert_eq!(summary["accepted"], seen.accepted());
    assert_eq!(summary["accepted"], sites.iter().map(|site| site.expect.accepted).sum::<usize>());
    assert_eq!(summary["feeds"], seen.feeds.len());
    assert_eq!(summary["dead"], 0, "{summary}");
    // A call whose connection was closed as idle is sent once more, so the site that hangs up sees the call twice.
    let twice = calls.iter().filter(|call| format!("{}{}", call.host, call.path) == HANGS_UP).count() / 2;
    assert_eq!(summary["calls"], calls.len() - twice, "the program made other calls than the sites saw");
    let rejected = seen.pages.values().filter(|page| page["state"]["state"] == "rejected");
    assert_eq!(summary["rejected"], json!(counted(rejected.map(|page| code(&page["state"]["reason"])))));
    assert_eq!(summary["held"], json!(counted(seen.holds.values().map(String::as_str))));
    assert!(summary["parked"].as_u64().unwrap() >= seen.parked.len() as u64, "{summary}");
}

/// A host whose pages have no title. Its home page is called a second time, to distinguish such pages from a bot wall.
const COMPARED_WITH_HOME: &str = "senza-titolo.test/";
/// Home page of a site that accepts a request and closes the connection.
const HANGS_UP: &str = "hang-up.test/";

/// Returns the URLs that were called more often than allowed. Documents of other kinds are left out.
pub(crate) fn called_twice(calls: &[Call]) -> Vec<judge::Repeat> {
    // The call to a site that hangs up is sent once more, since its connection may have been closed as idle.
    let compared =
        |repeat: &judge::Repeat| repeat.times == 2 && [COMPARED_WITH_HOME, HANGS_UP].contains(&repeat.address.as_str());
    let repeated = judge::repeated(calls).into_iter();
    repeated.filter(|repeat| repeat.kind != Kind::Other && !compared(repeat)).collect()
}

fn judge_manners(calls: &[Call], farm: &Farm) {
    assert!(calls.len() > 500, "the crawl made only {} calls", calls.len());
    curlew_tests::judge_manners(calls, farm, PAUSE);
    assert_eq!(judge::impatient(calls, farm), []);
    assert_eq!(judge::homes_asked_again(calls, judge::registrable), BTreeSet::new());

    assert_eq!(called_twice(calls), []);
    let odd: Vec<&Call> =
        calls.iter().filter(|call| call.method != "GET" || !call.user_agent.contains("CurlewBot/")).collect();
    assert!(odd.is_empty(), "{odd:?}");
    // The site that counts calls has not had to defend itself.
    assert!(calls.iter().filter(|call| call.host == "metronome.test").all(|call| call.status != 429));
}

fn judge_search(store: &Store, seen: &Seen) {
    for page in store.records().iter().step_by(25) {
        let (title, url) = (text(page, "title"), text(page, "url"));
        let words: Vec<&str> = title.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 1).collect();
        assert!(store.found(&words.join(" ")).contains(&url), "{url} is not found by its title: {words:?}");
    }
    assert_eq!(store.records().len(), seen.accepted());
}

/// Pages refuse the crawler, are re-checked, and are then gone from the search, the lists and the segments.
fn vanishing(steps: &mut Steps, web: &Web, store: &Store, before: &Seen) {
    let records = store.records();
    let text_of = |url: &str| {
        let record =
            records.iter().find(|record| record["url"] == url).unwrap_or_else(|| panic!("{url} has no record"));
        text(record, "text")
    };
    web.set_mode(FADES, Mode::Later);
    web.set_mode(ASKS_NOT_TO_BE_INDEXED, Mode::NoindexMeta);
    web.set_mode(LOSES_ITS_PAGES, Mode::Pages(410));
    web.clear_calls();
    let mut gone: BTreeMap<String, &str> = BTreeMap::new();
    let of =
        |host: &str| web.farm().site(host).unwrap().entries().iter().map(|(url, _)| url.clone()).collect::<Vec<_>>();
    gone.extend(of(ASKS_NOT_TO_BE_INDEXED).into_iter().map(|url| (url, "noindex")));
    gone.extend(of(LOSES_ITS_PAGES).into_iter().map(|url| (url, "gone")));
    gone.extend(of(FADES).into_iter().zip(["not_found", "gone", "noindex", "noindex"]));

    let sampled = store.run(&["sample", "--all", "--json"]).ok().json();
    steps.step("sample", || {
        assert_eq!(sampled["sampled"], before.accepted());
        assert_eq!(sampled["removed"], json!(counted(gone.values().copied())));
        // Pages of held hosts are fetched later.
        let held: usize =
            web.farm().sites().iter().filter(|site| site.expect.held.is_some()).map(|site| site.expect.accepted).sum();
        assert_eq!(sampled["still_there"], before.accepted() - gone.len() - held, "{sampled}");
    });
    steps.step("politeness of the sample", || {
        let calls = web.calls();
        assert_eq!(judge::closer_than(&calls, judge::registrable, PAUSE), []);
        assert_eq!(judge::impatient(&calls, web.farm()), []);
        assert_eq!(judge::forbidden(&calls, web.farm()), []);
        let other: Vec<_> = calls.iter().filter(|call| call.kind != Kind::Page).collect();
        assert!(other.is_empty(), "a re-check fetches only the page: {other:?}");
    });
    steps.step("gone from the search", || {
        assert_eq!(store.found(&format!("site:{ASKS_NOT_TO_BE_INDEXED}")), Vec::<String>::new());
        assert_eq!(store.found(&format!("site:{LOSES_ITS_PAGES}")), Vec::<String>::new());
        assert_eq!(store.found(&format!("site:{FADES}")).len(), 2);
    });
    steps.step("gone from the lists, noted in the audit", || {
        let audit: BTreeMap<String, String> =
            store.list("audit").iter().map(|line| (text(line, "url"), text(line, "reason"))).collect();
        let expected: BTreeMap<String, String> =
            gone.iter().map(|(url, why)| (url.clone(), (*why).to_owned())).collect();
        assert_eq!(audit, expected);
        for url in gone.keys() {
            assert_eq!(store.run(&["pages", "show", url, "--json"]).ok().json()["state"]["state"], "gone");
        }
        let shown = store.run(&["audit", "show", gone.keys().next().unwrap()]).ok();
        assert_eq!(shown.stdout.lines().filter(|line| line.contains("  removed  ")).count(), 1, "{}", shown.stdout);
        assert!(shown.stdout.contains("0 records") && !shown.stdout.contains("LEFT"), "{}", shown.stdout);
    });
    steps.step("gone from the store", || {
        let left: BTreeSet<String> = store.records().iter().map(|record| text(record, "url")).collect();
        assert_eq!(left.len(), before.accepted() - gone.len());
        let kept = unpacked_objects(&store.data(), "segments");
        let kept: Vec<Value> = kept.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        for url in gone.keys() {
            assert!(!left.contains(url), "{url} is still exported");
            let gone = text_of(url);
            let is_kept = kept.iter().any(|record| record["url"] == **url || text(record, "text") == gone);
            assert!(!is_kept, "{url} is still kept");
        }
        assert_eq!(kept.len(), left.len(), "segments must hold exactly the exported pages");
    });
    steps.step("gone from a refreshed index too", || {
        let year = store.run(&["status", "--json"]).ok().json()["years"][0].to_string();
        let done = store.run(&["index", "--year", &year, "--json"]).ok().json();
        assert_eq!(done["years"][0]["year"].to_string(), year);
        assert_eq!(store.found(&format!("site:{LOSES_ITS_PAGES}")), Vec::<String>::new());
        assert_eq!(store.found(&format!("site:{FADES}")).len(), 2);
    });
}

/// Returns the canonical form of a URL: without a fragment and tracking parameters.
fn bare(url: &str) -> &str {
    let url = url.split('#').next().unwrap_or(url);
    let tracks = |query: &str| query.starts_with("utm_") || query.starts_with("fbclid=");
    url.split_once('?').filter(|(_, query)| tracks(query)).map_or(url, |(bare, _)| bare)
}

/// Returns the word that counts a rejection, from its row.
fn code(reason: &Value) -> &'static str {
    match (reason["why"].as_str().unwrap(), reason["detail"].as_u64()) {
        ("status", Some(404)) => "not_found",
        ("status", Some(410)) => "gone",
        (why, _) => known(why),
    }
}

/// Returns a static copy of a word for an [`Expect`].
fn known(word: &str) -> &'static str {
    word.to_owned().leak()
}

/// Returns the number of times that each word occurs.
fn counted<'a>(words: impl Iterator<Item = &'a str>) -> BTreeMap<&'a str, usize> {
    let mut counts = BTreeMap::new();
    words.for_each(|word| *counts.entry(word).or_default() += 1);
    counts
}

#[test]
fn o09_what_a_site_says_makes_no_line_of_its_own_in_the_log() {
    let web = Web::demo();
    let host = "sharp-tongues.test";
    let trap = "x\u{1b}[31m\u{202e}\r\n2026-01-01T00:00:00Z ERROR forged";
    let feed = format!(
        "<rss version=\"2.0\"><channel><title>{trap}</title><link>http://{host}/</link><item><title>{trap}</title>\
         <link>http://{host}/{trap}</link><guid>{trap}</guid></item></channel></rss>"
    );
    assert!(web.put(host, "/traps", "application/rss+xml", &feed));
    let url = format!("http://{host}/traps");
    for form in ["json", "text"] {
        // This site has no feed, and its URL would start a log line of its own. The program logs that the feed is
        // missing.
        let site = "http://senza-feed.test/\u{1b}[31m%0d%0a2026-01-01T00:00:00Z ERROR forged";
        let ran = Store::new(&web).run(&["-vv", "--log", form, "crawl", "--json", "--feed", &url, site]).ok();
        assert_eq!(ran.json()["entries_seen"], 1);
        let lines: Vec<&str> = ran.stderr.lines().collect();
        assert!(!lines.is_empty(), "the program must log something");
        for line in lines {
            assert!(!line.chars().any(char::is_control) && !line.starts_with("2026-01-01"), "{line:?}");
            if form == "json" {
                assert!(serde_json::from_str::<Value>(line).is_ok_and(|line| line.is_object()), "{line}");
            }
        }
    }
}
