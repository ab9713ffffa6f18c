//! The operator's pages in a real browser. An operator signs in with a token of the real program, acts, and meets no
//! accessibility barrier (checked by axe-core) on any page, light and dark, on a phone and on a desktop.

use crate::browser_pages::{Looks, do_not_move, must_be_fit, see_pages};
use curlew_tests::{Browser, Server, Steps, Store, Web};

/// Bundled sites: an ordinary one, and one with long and hostile titles.
const SITES: [&str; 2] = ["harbour-lantern.test", "sharp-tongues.test"];
/// A folder of cargo, beside which the pictures are written.
const TMPDIR: &str = env!("CARGO_TARGET_TMPDIR");
/// The pages: the name of the picture, and the path.
const PAGES: [(&str, &str); 12] = [
    ("admin-overview", "/admin"),
    ("admin-sources", "/admin/sources"),
    ("admin-site", "/admin/site/harbour-lantern.test"),
    ("admin-holds", "/admin/holds"),
    ("admin-screening", "/admin/screening"),
    ("admin-overrides", "/admin/overrides"),
    ("admin-dead", "/admin/dead"),
    ("admin-messages", "/admin/messages"),
    ("admin-owners", "/admin/owners"),
    ("admin-watches", "/admin/watches"),
    ("admin-settings", "/admin/settings"),
    ("admin-audit", "/admin/audit"),
];

#[test]
fn an_operator_signs_in_acts_and_meets_no_barrier() {
    operate(Looks::Daily);
}

#[test]
fn an_operator_meets_no_barrier_in_any_form_nightly() {
    operate(Looks::Nightly);
}

fn operate(looks: Looks) {
    let web = Web::demo();
    let store = Store::brisk(&web);
    let starts = web.starts_of(&SITES);
    store.crawl(&starts);
    store.run(&["override", "deny", "https://harbour-lantern.test/none", "--note", "a <test>"]).ok();
    let server = Server::start(&store);
    let browser = Browser::start();
    let mut steps = Steps::new();
    steps.step("who is not signed in sees one page", || {
        assert_eq!(server.get("/admin/sources").status, 401);
        browser.open(&server.url("/admin/sources"));
        must_be_fit(&browser, "en", "sign in");
        browser.keep_picture(TMPDIR, "admin-login-en-desktop-light");
    });
    let printed = store.run(&["admin", "login", "--name", "ana"]).ok();
    let token = printed.stdout.trim().lines().last().unwrap().to_owned();
    steps.step("a token signs in", || {
        browser.find("#token").type_keys(&token);
        browser.submit("form.suggest button");
        assert_eq!(browser.find(".who span").text(), "ana");
    });
    steps.step("a block and its undo", || {
        browser.open(&server.url("/admin/site/harbour-lantern.test"));
        browser.submit("form:has(input[value=block]) button");
        assert_eq!(browser.find("main h1").text(), "Blocked");
        let found = store.found("site:harbour-lantern.test");
        assert_eq!(found, Vec::<String>::new(), "its pages are not found");
        browser.submit("form:has(input[value=unblock]) button");
        assert_eq!(browser.find("main h1").text(), "Block lifted");
        assert!(!store.found("site:harbour-lantern.test").is_empty());
        let audit = store.run(&["audit"]).ok().stdout;
        assert!(audit.contains("by ana") && audit.contains("by command line"), "{audit}");
    });
    see_pages(&browser, &server, &mut steps, &PAGES, "en", |page, form| looks.has(page, form, 4));
    steps.step("pages on a slow line do not move", || do_not_move(&browser, &server, &PAGES, looks));
    steps.step("all sessions end", || {
        store.run(&["admin", "logout"]).ok();
        browser.open(&server.url("/admin"));
        browser.find("#token");
    });
    drop(browser);
    server.stop();
    steps.end();
}
