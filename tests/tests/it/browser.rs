//! The search page in a real browser: searching by typing and clicking, reading results, and using it without
//! JavaScript.

use curlew_tests::{Browser, Server, Steps, Store, Web};

/// A few of the bundled sites, in two languages and with pictures. One of them has titles that try to inject markup.
const SITES: [&str; 3] = ["cucina-di-casa.test", "harbour-lantern.test", "sharp-tongues.test"];

#[test]
fn a_person_searches_and_sees_results() {
    let web = Web::demo();
    let store = Store::brisk(&web);
    let starts = web.starts_of(&SITES);
    let accepted = web.accepted_of(&SITES);
    assert_eq!(store.crawl(&starts)["accepted"], accepted);
    let server = Server::start(&store);
    let browser = Browser::start();
    let mut steps = Steps::new();

    steps.step("a query is typed and sent", || {
        browser.open(&server.url("/"));
        browser.find("input[name=q]").type_keys("farina uova");
        browser.submit("form button");
        browser.find("main ol article");
        assert!(browser.script("return location.search").as_str().unwrap().contains("q=farina"));
        assert_eq!(browser.script("return document.querySelector('input[name=q]').value"), "farina uova");
    });
    steps.step("a result has all its parts", || {
        let hit = "document.querySelector('main ol article')";
        let read = |what: &str| browser.script(&format!("return {hit}.{what}")).as_str().unwrap_or_default().to_owned();
        assert!(browser.find("main ol article h2 a").text().len() > 10);
        assert!(read("querySelector('h2 a').href").starts_with("http://cucina-di-casa.test/"));
        let marked: Vec<String> =
            browser.find_all("main ol article .snippet mark").iter().map(|mark| mark.text().to_lowercase()).collect();
        assert!(marked.iter().any(|word| ["farina", "farine", "uova", "uovo"].contains(&word.as_str())), "{marked:?}");
        assert!(browser.find("main ol article .snippet").text().len() > 60);
        assert!(browser.find("main ol article .source").text().contains("Cucina di casa"));
        assert!(read("querySelector('time').dateTime").starts_with("20"));
        assert_eq!(read("querySelector('h2 a').rel"), "noopener nofollow ugc");
    });
    steps.step("its thumbnail has loaded", || {
        browser.wait_for("const i = document.querySelector('main ol article img.thumb'); return i !== null && i.complete && i.naturalWidth > 0");
        let seen = browser.script("return document.querySelector('main ol article img.thumb').getBoundingClientRect().width");
        assert!(seen.as_f64().unwrap() > 20.0, "{seen}");
    });
    steps.step("every picture loads as one scrolls", || {
        browser.open(&server.url("/?q=site%3Aharbour-lantern.test"));
        browser.find("main ol article");
        browser.script("for (const i of document.images) i.loading = 'eager'");
        browser.wait_for(
            "return [...document.images].every(i => i.complete && i.naturalWidth > 0) && document.images.length > 0",
        );
    });
    steps.step("titles with markup are text", || {
        browser.open(&server.url("/?q=site%3Asharp-tongues.test"));
        assert_eq!(
            browser.find_all("main ol article").len(),
            web.farm().site("sharp-tongues.test").unwrap().expect.accepted
        );
        assert_eq!(browser.find_all("main script, main iframe, main [onerror], main [onclick]").len(), 0);
        browser.open(&server.url("/?q=%22%3E%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E"));
        assert_eq!(browser.find_all("img[src=x]").len(), 0, "a query must be shown as text");
        assert_eq!(
            browser.script("return document.querySelector('input[name=q]').value"),
            "\"><img src=x onerror=alert(1)>"
        );
    });
    steps.step("nothing found is said, and a bad query explained", || {
        browser.open(&server.url("/?q=xyzzyqwertz"));
        assert!(browser.find("main h1").text().contains("Nothing found"));
        browser.open(&server.url("/?q=before%3Asoon"));
        assert!(!browser.find("main .notice").text().is_empty());
        // The browser reports that the bad query was answered with 400, which is no fault of the page.
        browser.complaints();
    });
    steps.step("the other pages", || {
        for path in ["/bot", "/status", "/suggest"] {
            browser.open(&server.url(path));
            assert!(!browser.find("main h1").text().is_empty(), "{path}");
        }
    });
    steps.step("it fits on a telephone", || {
        browser.resize(360, 740);
        browser.open(&server.url("/?q=farina"));
        browser.find("main ol article");
        assert_eq!(
            browser.script("return document.documentElement.scrollWidth > document.documentElement.clientWidth"),
            false
        );
    });
    steps.step("the browser has nothing to complain of", || {
        for path in ["/", "/?q=farina+uova", "/?q=site%3Asharp-tongues.test", "/bot", "/status", "/suggest"] {
            browser.open(&server.url(path));
            browser.find("main");
        }
        assert_eq!(browser.complaints(), Vec::<String>::new());
    });
    steps.step("all of it works without JavaScript", || {
        browser.disable_scripts();
        browser.open("data:text/html,<p>still</p><script>document.write('r' + 'an')</script>");
        assert!(browser.document().contains("still") && !browser.document().contains("ran"), "{}", browser.document());
        browser.open(&server.url("/?q=farina+uova"));
        let dom = browser.document();
        for part in ["<article>", "<mark>", "class=\"thumb\"", "<time datetime=\"20", "Cucina di casa", "farina"] {
            assert!(dom.contains(part), "{part} is missing: {dom}");
        }
        assert!(!dom.contains("<script"), "the page has no scripts at all");
    });
    drop(browser);
    steps.step("the server ends when it is asked to", || {
        server.stop();
    });
    steps.end();
}
