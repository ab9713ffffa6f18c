//! The owner of a site in a real browser claims it, proves ownership, sees the stored pages, blocks the site, and has
//! everything removed. Somebody who only claims to be the owner is refused.

use curlew_fixtureweb::Record;
use curlew_tests::{BRISK_PAUSE, Browser, Screen, Server, Steps, Store, Web, judge_pauses, unpacked_objects};
use std::time::Duration;

/// The claimed site, and another one.
const HOST: &str = "harbour-lantern.test";
const OTHER: &str = "cucina-di-casa.test";
const FILE: &str = "/.well-known/curlew-challenge.txt";
/// Minimum time that a person takes to fill in a form.
const FILLING_IN: Duration = Duration::from_millis(3_200);
/// Maximum time to wait for an event.
const PATIENCE: Duration = Duration::from_secs(90);
const ENTER: &str = "\u{e007}";

fn until(what: &str, holds: impl FnMut() -> bool) {
    curlew_tests::until(PATIENCE, || what.to_owned(), holds);
}

/// Starts a claim; returns the path of the claim's page, and the challenge to publish.
fn claim(browser: &Browser, server: &Server) -> (String, String) {
    browser.open(&server.url("/owner"));
    // A form that is submitted at once would be taken for a program's.
    std::thread::sleep(FILLING_IN);
    browser.find("#host").type_keys(&format!("https://{HOST}/{ENTER}"));
    let challenge = browser.find("#challenge").text();
    (browser.script("return location.pathname").as_str().unwrap().to_owned(), challenge)
}

/// Presses the button of a request, and checks that the request is granted.
fn ask(browser: &Browser, request: &str) {
    browser.submit(&format!("form:has(input[value={request}]) button"));
    assert!(browser.find_all("main .notice.bad").is_empty(), "{}", browser.find("main").text());
}

/// Reloads the claim's page until it shows a text.
fn told(browser: &Browser, url: &str, what: &str) {
    until(what, || {
        browser.open(url);
        browser.find("main").text().contains(what)
    });
}

#[test]
fn i05_i06_i08_an_owner_proves_blocks_and_removes_and_nobody_else_does() {
    let web = Web::demo();
    let names = web.name_server();
    let mut store = Store::brisk(&web);
    store.configure(&format!("[web]\nproof_over_http = true\n[network]\nname_server = \"{}\"\n", names.addr()));
    store.crawl(&web.starts_of(&[HOST, OTHER]));
    let sentence = sentence_of(&store);
    let all = web.accepted_of(&[HOST]);
    web.clear_calls();
    let server = Server::start(&store);
    let browser = Browser::beside(&web);
    let mut steps = Steps::new();
    let found = || store.found(&format!("site:{HOST}")).len();
    // The browser calls the web, too, so its calls are left out.
    let calls = || web.calls().into_iter().filter(|call| !call.user_agent.contains("Chrome")).collect::<Vec<_>>();

    steps.step("a result leads to its page", || {
        browser.open(&server.url(&format!("/?q=site%3A{HOST}")));
        browser.find("article h2 a").click();
        until("a call of the browser's", || {
            web.calls().iter().any(|call| call.host == HOST && call.user_agent.contains("Chrome"))
        });
    });
    steps.step("a site is suggested", || {
        browser.open(&server.url("/suggest"));
        std::thread::sleep(FILLING_IN);
        browser.find("#url").type_keys(&format!("bird-ledger.test{ENTER}"));
        assert!(browser.find(".notice.good").text().contains("written down"));
    });
    steps.step("whoever only says so is told nothing and changes nothing", || {
        let (path, _) = claim(&browser, &server);
        assert!(calls().is_empty(), "nothing is called before the owner asks for it: {:?}", calls());
        ask(&browser, "look");
        told(&browser, &server.url(&path), "the home page: there is nothing");
        let page = browser.find("main").text();
        assert!(!page.contains("Remove everything") && !page.contains("/feed"), "{page}");
        assert_eq!(found(), all);
        let called: Vec<String> = calls().into_iter().map(|call| call.path).collect();
        assert_eq!(called, [FILE, "/"], "robots.txt is known from the crawl");
    });
    let mut page = String::new();
    steps.step("a file proves it, and what is kept is told", || {
        let (path, challenge) = claim(&browser, &server);
        assert!(web.put(HOST, FILE, "text/plain", &format!("{challenge}\n")));
        page = server.url(&path);
        ask(&browser, "look");
        told(&browser, &page, "can be found since");
        let text = browser.find("main").text();
        assert!(text.contains("The site is yours, as proved by the file."), "{text}");
        assert_eq!(browser.find_all("ul.kept a").len(), all + 1, "the site's pages and its feed are listed");
        for (screen, size) in [(Screen::PHONE, "phone"), (Screen::DESKTOP, "desktop")] {
            for (dark, scheme) in [(true, "dark"), (false, "light")] {
                browser.be(screen);
                browser.prefer_dark(dark);
                browser.open(&page);
                assert_eq!(browser.barriers(), Vec::<String>::new(), "{size}, {scheme}");
                browser.keep_picture(env!("CARGO_TARGET_TMPDIR"), &format!("claim-proven-en-{size}-{scheme}"));
            }
        }
    });
    steps.step("a TXT record proves it, and the site is not called", || {
        let (path, challenge) = claim(&browser, &server);
        names.set(&format!("_curlew-challenge.{HOST}"), vec![Record::Text(challenge)]);
        let before = calls().len();
        ask(&browser, "look");
        told(&browser, &server.url(&path), "The site is yours, as proved by a TXT record.");
        assert_eq!(calls().len(), before);
    });
    steps.step("a block counts at once, and is taken back", || {
        browser.open(&page);
        ask(&browser, "block");
        assert_eq!(found(), 0);
        ask(&browser, "unblock");
        until("its pages found again", || found() == all);
    });
    steps.step("everything is removed, and nothing is left", || {
        browser.open(&page);
        browser.find("input[name=sure]").click();
        ask(&browser, "forget");
        assert_eq!(found(), 0);
        until("every page gone", || {
            let rows = store.list("pages");
            let ours = rows.iter().filter(|row| row["host"] == HOST && row["state"]["state"] == "accepted");
            ours.count() == 0
        });
        let report = store.run(&["audit", "show", HOST, "--json"]).ok().json();
        assert_eq!((report["clean"].clone(), report["records"].clone()), (true.into(), 0.into()), "{report}");
        assert_eq!(report["removed"].as_array().unwrap().len(), all);
        assert!(!store.found(&format!("site:{OTHER}")).is_empty(), "other sites are not touched");
    });
    steps.step("it was called with the politeness of every visit", || {
        let calls = calls();
        judge_pauses(&calls, BRISK_PAUSE);
    });
    drop(browser);
    server.stop();
    steps.step("its text is in no segment", || {
        let kept = unpacked_objects(&store.data(), "segments");
        assert!(!kept.is_empty() && !kept.contains(&sentence), "found: {sentence}");
    });
    steps.step("the operator sees who claimed what", || {
        let owners = store.run(&["owners", "show", HOST, "--json"]).ok().json();
        assert_eq!(owners["claims"].as_array().unwrap().len(), 3, "{owners}");
    });
    steps.end();
}

/// Returns a sentence from one of the site's records.
fn sentence_of(store: &Store) -> String {
    let records = store.records();
    let ours = records.iter().find(|record| record["url"].as_str().unwrap().contains(HOST)).unwrap();
    let text = ours["text"].as_str().unwrap();
    text.split(". ").find(|sentence| sentence.len() > 60).unwrap().to_owned()
}
