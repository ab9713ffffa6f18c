//! Checks every page in a real browser, in each language, light and dark, on a phone and on a desktop: no accessibility
//! barrier (WCAG, checked by axe-core), no layout shift, no complaint of the browser, and everything usable by
//! keyboard. The daily test shows each page in one of these forms, so that each form has some page; the nightly test
//! shows each page in each form. Each page's picture is saved in `screenshots` beside cargo's output, for inspection.

use curlew_tests::{Browser, Screen, Server, Steps, Store, Web};
use std::time::{Duration, Instant};

/// Bundled sites, some with pictures and one with long and hostile titles.
const SITES: [&str; 3] = ["cucina-di-casa.test", "harbour-lantern.test", "sharp-tongues.test"];
/// Maximum size in bytes of a page with ten results, including its style sheet and everything else but pictures.
const MOST_BYTES: usize = 60 * 1024;
/// Maximum layout shift while a page loads, which Web Vitals rates as good.
const MOST_MOVED: f64 = 0.1;
/// Maximum time until an element has the focus and shows it.
const FOCUSED: Duration = Duration::from_secs(10);
/// Speed of a slow connection, in bytes per second, at which a page of results takes a second.
const SLOW_LINE: u32 = 16 * 1024;
/// Minimum time that a person takes to fill in a form.
const FILLING_IN: Duration = Duration::from_millis(3_200);
/// A folder of cargo, beside which the pictures are written.
const TMPDIR: &str = env!("CARGO_TARGET_TMPDIR");
const TAB: char = '\u{e004}';
const ENTER: char = '\u{e007}';

/// The pages: the name of the picture, and the path.
const PAGES: [(&str, &str); 14] = [
    ("home", "/"),
    ("results", "/?q=site%3Aharbour-lantern.test"),
    ("results-many", "/?q=site%3Atest&page=2"),
    ("results-words", "/?q=farina+uova"),
    ("results-hostile", "/?q=site%3Asharp-tongues.test"),
    ("results-none", "/?q=xyzzyqwertz"),
    ("sites", "/sites"),
    ("site", "/site/harbour-lantern.test"),
    ("suggest", "/suggest"),
    ("owner", "/owner"),
    ("contact", "/contact"),
    ("bot", "/bot"),
    ("status", "/status"),
    ("refused", "/?q=-nothing"),
];

/// Screens and colour schemes, each with its name.
const FORMS: [(Screen, &str, bool, &str); 4] = [
    (Screen::PHONE, "phone", false, "light"),
    (Screen::PHONE, "phone", true, "dark"),
    (Screen::DESKTOP, "desktop", false, "light"),
    (Screen::DESKTOP, "desktop", true, "dark"),
];
/// Values of `Accept-Language`, and the language of the pages that they lead to.
const LANGUAGES: [(&str, &str); 2] = [("en", "en"), ("it-IT,it;q=0.9,en;q=0.5", "it")];

#[test]
fn every_page_is_fit_for_everybody() {
    look_at_pages(Looks::Daily);
}

#[test]
fn every_page_is_fit_in_every_form_nightly() {
    look_at_pages(Looks::Nightly);
}

/// The forms in which pages are checked.
#[derive(Clone, Copy)]
pub(crate) enum Looks {
    /// Each page is checked in one form, and each form with some page.
    Daily,
    /// Each page is checked in each form.
    Nightly,
}

impl Looks {
    /// Returns true if a page is checked in a form; both are numbers, and there are `forms` forms.
    pub(crate) fn has(self, page: usize, form: usize, forms: usize) -> bool {
        matches!(self, Looks::Nightly) || page % forms == form
    }
}

fn look_at_pages(looks: Looks) {
    let web = Web::demo();
    let mut store = Store::brisk(&web);
    store.configure("contact = \"me@search.example\"\n[web]\nbase_url = \"http://search.example\"\n");
    let starts = web.starts_of(&SITES);
    store.crawl(&starts);
    let server = Server::start(&store);
    let browser = Browser::start();
    let mut steps = Steps::new();
    let claim = claim(&browser, &server);
    let pages: Vec<(&str, &str)> = PAGES.into_iter().chain([("claim", claim.as_str())]).collect();

    for (n, (languages, tag)) in LANGUAGES.into_iter().enumerate() {
        browser.speak(languages);
        let is_seen = |page, form| looks.has(page, n * FORMS.len() + form, LANGUAGES.len() * FORMS.len());
        see_pages(&browser, &server, &mut steps, &pages, tag, is_seen);
    }
    browser.speak("en");
    steps.step("pages that come slowly do not move while they are painted", || {
        do_not_move(&browser, &server, &pages, looks);
    });
    steps.step("a form that was refused", || {
        for (screen, size) in [(Screen::PHONE, "phone"), (Screen::DESKTOP, "desktop")] {
            browser.be(screen);
            browser.open(&server.url("/suggest"));
            browser.find("#url").type_keys("mailto:me@example.org\u{e007}");
            browser.find(".notice.bad");
            must_be_fit(&browser, "en", "the form");
            browser.keep_picture(TMPDIR, &format!("suggest-refused-en-{size}-dark"));
        }
    });
    steps.step("a page that is not there", || {
        browser.open(&server.url("/nowhere"));
        must_be_fit(&browser, "en", "nowhere");
        browser.keep_picture(TMPDIR, "nowhere-en-desktop-dark");
    });
    steps.step("all is reached by keyboard, and the focus is seen", || by_keyboard(&browser, &server));
    steps.step("ten results are small", || ten_results_are_small(&server));
    drop(browser);
    server.stop();
    steps.end();
}

/// Starts a claim as an owner does; returns the path of the claim's page.
fn claim(browser: &Browser, server: &Server) -> String {
    browser.open(&server.url("/owner"));
    // A form that is submitted at once would be taken for a program's.
    std::thread::sleep(FILLING_IN);
    browser.find("#host").type_keys("harbour-lantern.test\u{e007}");
    browser.find("#challenge");
    browser.script("return location.pathname").as_str().unwrap().to_owned()
}

/// Checks pages in a language, each in its forms.
pub(crate) fn see_pages(
    browser: &Browser,
    server: &Server,
    steps: &mut Steps,
    pages: &[(&str, &str)],
    language: &str,
    is_seen: impl Fn(usize, usize) -> bool,
) {
    for (form, (screen, size, dark, scheme)) in FORMS.into_iter().enumerate() {
        browser.be(screen);
        browser.prefer_dark(dark);
        for (_, (name, path)) in pages.iter().enumerate().filter(|(page, _)| is_seen(*page, form)) {
            let name = format!("{name}-{language}-{size}-{scheme}");
            steps.step(&name, || {
                browser.open(&server.url(path));
                must_be_fit(browser, language, &name);
                browser.keep_picture(TMPDIR, &name);
            });
        }
    }
}

/// Checks that a page is in the right language, has no barrier, does not shift, and fits the screen.
#[track_caller]
pub(crate) fn must_be_fit(browser: &Browser, language: &str, name: &str) {
    browser.find("main h1");
    assert_eq!(browser.script("return document.documentElement.lang"), language, "{name}");
    assert_eq!(browser.barriers(), Vec::<String>::new(), "{name}");
    let moved = browser.moved();
    assert!(moved < MOST_MOVED, "{moved} of {name} has moved");
    let wide = "return document.documentElement.scrollWidth > document.documentElement.clientWidth";
    assert_eq!(browser.script(wide), false, "{name} is wider than the screen");
    // A browser reports each answer with an error status, which is no fault of the page.
    let complaints = browser.complaints();
    let faults: Vec<&String> =
        complaints.iter().filter(|c| !c.contains("the server responded with a status")).collect();
    assert_eq!(faults, Vec::<&String>::new(), "{name}");
}

/// Checks that pages do not shift if they arrive slowly and are painted in parts.
#[track_caller]
pub(crate) fn do_not_move(browser: &Browser, server: &Server, pages: &[(&str, &str)], looks: Looks) {
    browser.be_on_a_line_of(Some(SLOW_LINE));
    let mut moved = Vec::new();
    let screens = [(Screen::PHONE, "phone"), (Screen::DESKTOP, "desktop")];
    for (form, (screen, size)) in screens.into_iter().enumerate() {
        browser.be(screen);
        for (_, (name, path)) in pages.iter().enumerate().filter(|(n, _)| looks.has(*n, form, screens.len())) {
            browser.open(&server.url(path));
            moved.push((browser.moved(), *name, size));
        }
    }
    browser.be_on_a_line_of(None);
    moved.retain(|(moved, ..)| *moved >= MOST_MOVED);
    assert!(moved.is_empty(), "{moved:?}");
}

fn by_keyboard(browser: &Browser, server: &Server) {
    let open = |path: &str| {
        browser.open(&server.url(path));
        // A key that is pressed before the first frame is lost.
        browser.script("return new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))");
    };
    browser.be(Screen::DESKTOP);
    open("/?q=site%3Aharbour-lantern.test");
    let header = ["a.skip", "a.mark", "input#q", "form.search button", ".links a", ".links a"];
    for expected in header.into_iter().chain([".chips a"]) {
        browser.press(TAB);
        must_have_focus(browser, expected);
    }
    open("/?q=site%3Aharbour-lantern.test");
    browser.press(TAB);
    browser.press(ENTER);
    browser.press(TAB);
    must_have_focus(browser, ".chips a");
    open("/");
    // Before any key is pressed, the browser decides whether to draw an outline.
    assert_eq!(browser.script("return document.activeElement.matches('input#q')"), true, "the start page's field");
    open("/suggest");
    for expected in header.into_iter().chain(["main a", "input#url", "form.suggest button"]) {
        browser.press(TAB);
        must_have_focus(browser, expected);
    }
    open("/contact");
    for expected in header.into_iter().chain(["select", "#address", "textarea", "#reply_to", "form.suggest button"]) {
        browser.press(TAB);
        must_have_focus(browser, expected);
    }
}

/// Checks that the element has the focus, is on the screen, and shows an outline.
#[track_caller]
fn must_have_focus(browser: &Browser, selector: &str) {
    let script = format!(
        "const e = document.activeElement, s = getComputedStyle(e), r = e.getBoundingClientRect();
         return {{is: e.matches('{selector}'), what: e.outerHTML.slice(0, 80),
                 seen: s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 2
                       && r.left >= 0 && r.top >= 0 && r.right <= innerWidth && r.bottom <= innerHeight}}"
    );
    // A page that has just loaded gets its focus with the next frame.
    let deadline = Instant::now() + FOCUSED;
    let focus = loop {
        let focus = browser.script(&script);
        if (focus["is"] == true && focus["seen"] == true) || Instant::now() > deadline {
            break focus;
        }
        std::thread::sleep(Duration::from_millis(50));
    };
    assert_eq!(focus["is"], true, "{selector} is expected, the focus is on {}", focus["what"]);
    assert_eq!(focus["seen"], true, "the focus on {selector} is not seen: {focus}");
}

fn ten_results_are_small(server: &Server) {
    let page = server.get("/?q=site%3Atest");
    let html = page.text();
    assert_eq!(html.matches("<article>").count(), 10, "ten results");
    let (_, rest) = html.split_once("href=\"/style.css").unwrap();
    let style = server.get(&format!("/style.css{}", rest.split('"').next().unwrap()));
    let bytes = page.body.len() + style.body.len();
    assert!(bytes <= MOST_BYTES, "{bytes} bytes");
}
