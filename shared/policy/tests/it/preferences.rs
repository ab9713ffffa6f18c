//! Preferences of sites about the use of their pages: AIPREF, content signals, licences and TDMRep.

use curlew_policy::page::preferences::Preferences;
use curlew_policy::page::signals::ContentSignals;
use curlew_policy::robots::Robots;
use curlew_policy::robots::license::LicenseTerms;
use curlew_policy::robots::tdmrep::{TdmFile, reservation_of, reserved, tdm_url};
use url::Url;

fn read(statement: &str) -> String {
    Preferences::parse(statement.as_bytes()).to_string()
}

fn url(path: &str) -> Url {
    Url::parse("https://reed.example/").unwrap().join(path).unwrap()
}

#[test]
fn p10_only_the_tokens_y_and_n_of_a_dictionary_count() {
    for (statement, expected) in [
        ("search=n", "search=n"),
        ("train-ai=n, search=y", "search=y, train-ai=n"),
        ("  search=n ,\ttrain-ai=y ", "search=n, train-ai=y"),
        ("search=n;exceptions=\"x\";a, train-ai=y", "search=n, train-ai=y"),
        ("search=y, search=n", "search=n"),
        ("search=n, search=?1", ""),
        ("search=n, other=1.5, b=:YQ==:, c=(a \"b\" 1);q, d=@12, e=%\"%c3%a9\", f", "search=n"),
        ("search=\"n\"", ""),
        ("search=?0", ""),
        ("search", ""),
        ("search=N", ""),
        ("search=no", ""),
        ("search=0", ""),
        ("search=(n)", ""),
        ("", ""),
    ] {
        assert_eq!(read(statement), expected, "{statement}");
    }
}

#[test]
fn p10_what_is_no_dictionary_says_nothing_at_all() {
    for statement in [
        "Search=n",
        "search=n, Train-ai=n",
        "search=n,",
        "search=n train-ai=n",
        "search = n",
        "search=n, =n",
        "search=n, a=\"open",
        "search=n, a=\"\u{e9}\"",
        "search=n, a=(b",
        "search=n, a=(b,c)",
        "search=n, a=?2",
        "search=n, a=1.",
        "search=n, a=1.2345",
        "search=n, a=1234567890123456",
        "search=n, a=@1.5",
        "search=n, a=:x",
        "search=n, a=%\"%C3%A9\"",
        "search=n, a=%\"%ff\"",
        "search=n;A",
        "search=n\n",
        ",search=n",
        "search=",
    ] {
        assert_eq!(read(statement), "", "{statement:?}");
    }
    assert_eq!(read(&format!("search=n, a=\"{}\"", "x".repeat(9_000))), "");
    let headers = ["search=y".to_owned(), "search=n".to_owned()];
    assert_eq!(Preferences::of_headers(&headers).search, Some(false), "several headers are one list");
    assert!(Preferences::of_headers(&[]).is_silent());
}

#[test]
fn p11_in_robots_txt_the_longest_path_counts_and_of_as_long_ones_who_says_no() {
    let file = "User-agent: *\nContent-Usage: train-ai=n\nAllow: /\nDisallow: /never/\nContent-Usage: /open/ search=y, train-ai=y # here\n\
        Content-Usage: /open/ search=n\ncontent-usage : /*.pdf$ search=n\nContent-Usage: /mute/\nContent-Usage: /odd/ Search=n\n";
    let robots = Robots::parse(file.as_bytes(), "CurlewBot");
    let usage = |path: &str| robots.usage(&url(path)).to_string();
    assert_eq!(usage("/a"), "train-ai=n", "without a path, every path");
    assert_eq!(usage("/open/a"), "search=n, train-ai=y", "a tie goes to who says no, for each use");
    assert_eq!(usage("/a.pdf"), "search=n", "the longest rule stands alone");
    assert_eq!(usage("/mute/x"), "");
    assert_eq!(usage("/odd/x"), "", "what cannot be read says nothing, and hides what is shorter");
    assert!(!robots.check(&url("/never/x")).allowed);
    assert!(robots.check(&url("/open/a")).allowed, "preferences forbid no call");
    assert!(Robots::default().usage(&url("/")).is_silent());
}

#[test]
fn p11_preferences_belong_to_the_group_that_they_stand_in() {
    let file = "User-agent: *\nContent-Usage: search=n\nUser-agent: CurlewBot\nContent-Usage: search=y\nUser-agent: heron\nContent-Usage: train-ai=n\nDisallow: /x\n";
    let usage = |token| Robots::parse(file.as_bytes(), token).usage(&url("/")).to_string();
    assert_eq!(usage("CurlewBot"), "search=y");
    assert_eq!(usage("egret"), "search=n");
    // For Allow and Disallow RFC 9309 holds, which does not know the line: the names above it are one group.
    assert!(!Robots::parse(file.as_bytes(), "CurlewBot").check(&url("/x")).allowed);
}

#[test]
fn p12_only_search_and_train_ai_are_known_and_the_most_restrictive_statement_is_heeded() {
    assert_eq!(read("train-genai=n, ai-use=n, bots=n"), "");
    let (yes, no) = (Preferences::parse(b"search=y"), Preferences::parse(b"search=n, train-ai=y"));
    for both in [yes.and(no), no.and(yes)] {
        assert_eq!(both.to_string(), "search=n, train-ai=y");
    }
    assert_eq!(yes.and(Preferences::default()), yes);
}

#[test]
fn p14_the_first_location_that_matches_counts() {
    let file = r#"[
        {"location": "/open/*.html$", "tdm-reservation": 0},
        {"location": "/open/", "tdm-reservation": 1, "tdm-policy": "https://reed.example/p"},
        {"location": "/odd/", "tdm-reservation": 2},
        {"location": "/text/", "tdm-reservation": "1"},
        {"location": 7, "tdm-reservation": 1}, 12, {},
        {"location": "/nothing/"},
        {"location": "/*?print", "tdm-reservation": 1}
    ]"#;
    let file = TdmFile::parse(format!("\u{feff}{file}").as_bytes());
    for (path, expected) in [
        ("/open/a.html", Some(false)),
        ("/open/a.html?x", Some(true)),
        ("/%6fpen/b", Some(true)),
        ("/odd/x", None),
        ("/text/", Some(true)),
        ("/nothing/x", None),
        ("/x?print=1", Some(true)),
        ("/x", None),
    ] {
        assert_eq!(file.reservation(&url(path)), expected, "{path}");
    }
    for broken in ["", "{}", "{\"location\": \"/\", \"tdm-reservation\": 1}", "[", "<html>", "\u{0}"] {
        assert_eq!(TdmFile::parse(broken.as_bytes()).reservation(&url("/")), None, "{broken}");
    }
    assert_eq!(TdmFile::parse("[".repeat(200_000).as_bytes()).reservation(&url("/")), None);
    let place = tdm_url(&Url::parse("http://u:p@reed.example:81/a?b").unwrap());
    assert_eq!(place.as_ref().map(Url::as_str), Some("http://reed.example:81/.well-known/tdmrep.json"));
    assert_eq!(tdm_url(&Url::parse("ftp://reed.example/").unwrap()), None);
}

#[test]
fn p14_file_then_header_then_page_and_what_says_nothing_changes_nothing() {
    let meta = |value: &str| vec![("TDM-Reservation".to_owned(), value.to_owned())];
    for (file, header, page, expected) in [
        (None, None, vec![], false),
        (Some(true), None, vec![], true),
        (Some(true), Some("0"), vec![], false),
        (Some(true), Some("yes"), vec![], true),
        (Some(false), Some("1"), vec![], true),
        (Some(true), Some("1"), meta("0"), false),
        (None, Some("0"), meta(" 1 "), true),
        (Some(true), Some("1"), meta("2"), true),
        (None, None, [meta("0"), meta("1")].concat(), true),
        (None, None, vec![("robots".into(), "1".into())], false),
    ] {
        assert_eq!(reservation_of(file, header, &page), expected, "{file:?} {header:?} {page:?}");
    }
    assert_eq!((reserved("1"), reserved("0"), reserved("01"), reserved("")), (Some(true), Some(false), None, None));
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig { failure_persistence: None, ..Default::default() })]

    #[test]
    fn nothing_makes_it_panic(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..200), text in "[a-z=,;\"()?@%:*. 0-9]{0,60}") {
        let _ = Preferences::parse(&bytes);
        let _ = Preferences::parse(text.as_bytes());
        let _ = TdmFile::parse(&bytes).reservation(&url("/a"));
    }

    #[test]
    fn what_is_written_reads_back(search in proptest::prelude::any::<Option<bool>>(), train_ai in proptest::prelude::any::<Option<bool>>()) {
        let written = Preferences { search, train_ai };
        proptest::prop_assert_eq!(Preferences::parse(written.to_string().as_bytes()), written);
    }
}

fn signals(statement: &str) -> String {
    ContentSignals::parse(statement.as_bytes()).to_string()
}

#[test]
fn p17_signals_are_pairs_of_words_and_no_is_heeded_whoever_says_yes() {
    for (statement, expected, search) in [
        ("search=yes,ai-train=no,use=reference", "ai-train=no, search=yes, use=reference", Some(true)),
        ("search=no", "search=no", Some(false)),
        (" Search = NO , AI-Input=yes", "ai-input=yes, search=no", Some(false)),
        ("search=yes, search=no", "search=no", Some(false)),
        ("search=no, search=yes", "search=no", Some(false)),
        ("search=\"no\"; ai-train=yes", "ai-train=yes, search=no", Some(false)),
        ("search=maybe", "search=maybe", None),
        ("search, no, =x, y=, a b=c, search=n o", "", None),
        ("", "", None),
    ] {
        let said = ContentSignals::parse(statement.as_bytes());
        assert_eq!((said.to_string().as_str(), said.search()), (expected, search), "{statement}");
    }
    let many: Vec<String> = (0..100).map(|n| format!("a{n}=yes")).collect();
    assert_eq!(signals(&many.join(",")).split(", ").count(), 8);
    assert_eq!(signals(&format!("search=no, {}", "x".repeat(2_000))), "");
    assert_eq!(signals(&format!("{}=no, search=no", "x".repeat(50))), "search=no");
}

#[test]
fn p17_signals_belong_to_their_group_and_the_longest_path_counts() {
    let file = "User-agent: *\nContent-Signal: search=yes, ai-train=no\nContent-Signal: /closed/ search=no\nAllow: /\n\
        User-agent: CurlewBot\nUser-agent: heron\nContent-Signal: /*.pdf$ search=no\nAllow: /\n";
    let signals = |token: &str, path: &str| Robots::parse(file.as_bytes(), token).signals(&url(path)).to_string();
    assert_eq!(signals("egret", "/a"), "ai-train=no, search=yes");
    assert_eq!(signals("egret", "/closed/a"), "search=no", "the longest rule stands alone");
    assert_eq!(signals("CurlewBot", "/closed/a"), "", "our own group replaces that for everyone");
    assert_eq!(signals("heron", "/a.pdf"), "search=no");
    let tie = Robots::parse(b"User-agent: *\nContent-Signal: search=yes\nContent-signals: search=no\n", "CurlewBot");
    assert_eq!(tie.signals(&url("/")).search(), Some(false));
    assert!(tie.check(&url("/")).allowed, "signals forbid no call");
    assert!(Robots::parse(b"Content-Signal: search=no\n", "CurlewBot").signals(&url("/")).is_silent(), "no group");
    // A file of nothing but signals keeps a bounded number of them.
    let long = format!("User-agent: *\n{}", "Content-Signal: /a search=no\n".repeat(15_000));
    assert!(Robots::parse(long.as_bytes(), "CurlewBot").weight() < 400_000);
}

#[test]
fn p18_a_licence_line_holds_for_the_whole_file_and_is_a_whole_address() {
    let license = |file: &str| Robots::parse(file.as_bytes(), "CurlewBot").license().map(str::to_owned);
    let a = Some("https://reed.example/a.xml".to_owned());
    assert_eq!(license("License: https://reed.example/a.xml\nUser-agent: x\nDisallow: /\n"), a);
    assert_eq!(license("User-agent: x\nDisallow: /\nlicense : https://reed.example/a.xml # terms\n"), a);
    assert_eq!(license("License: /b.xml\nLicense: ftp://b.example/\nLicense: https://reed.example/a.xml\n"), a);
    let own =
        "License: https://reed.example/b.xml\nUser-agent: CurlewBot\nLicense: https://reed.example/a.xml\nAllow: /\n";
    assert_eq!(license(own), a, "that of our own group comes first");
    assert_eq!(license("User-agent: *\nAllow: /\n"), None);
    // It ends no group.
    let file =
        "User-agent: a\nLicense: https://reed.example/a.xml\nUser-agent: CurlewBot\nCrawl-delay: 7\nDisallow: /x\n";
    let robots = Robots::parse(file.as_bytes(), "a");
    assert!(!robots.check(&url("/x")).allowed && robots.crawl_delay().is_some());
}

fn prohibits(document: &str, path: &str) -> bool {
    LicenseTerms::parse(document.as_bytes()).prohibits_search(&url(path))
}

fn rsl(content: &str) -> String {
    format!("<?xml version=\"1.0\"?><rsl xmlns=\"https://rslstandard.org/rsl\">{content}</rsl>")
}

#[test]
fn p19_a_licence_that_prohibits_search_or_all_is_heeded() {
    for (license, expected) in [
        ("<prohibits type=\"usage\">search</prohibits>", true),
        ("<prohibits type=\"usage\">ai-train, Search</prohibits>", true),
        ("<prohibits type='usage'>ai-train\nall</prohibits>", true),
        ("<prohibits type=\"usage\"><![CDATA[search]]></prohibits>", true),
        ("<prohibits>all</prohibits>", true),
        ("<prohibits type=\"usage\">ai-all</prohibits>", false),
        ("<prohibits type=\"user\">all</prohibits>", false),
        ("<prohibits type=\"geo\">search</prohibits>", false),
        ("<permits type=\"usage\">ai-train</permits>", false),
        ("<permits type=\"usage\">search</permits><prohibits type=\"usage\">all</prohibits>", true),
        ("<permits type=\"usage\">all</permits></license><license><prohibits type=\"usage\">search</prohibits>", false),
        ("<payment type=\"crawl\"><prohibits>ai-train</prohibits></payment>", false),
        ("", false),
    ] {
        let document = rsl(&format!("<content url=\"/\"><license>{license}</license></content>"));
        assert_eq!(prohibits(&document, "/a"), expected, "{license}");
    }
    let feed = "<rss xmlns:rsl=\"https://rslstandard.org/rsl\"><channel><item><title>x</title><rsl:content url=\"https://reed.example/a\">\
        <rsl:license><rsl:prohibits type=\"usage\">search</rsl:prohibits></rsl:license></rsl:content></item></channel></rss>";
    assert!(prohibits(feed, "/a") && !prohibits(feed, "/b"));
}

#[test]
fn p19_the_content_with_the_longest_path_on_this_host_counts() {
    let license = |usage: &str| format!("<license><prohibits type=\"usage\">{usage}</prohibits></license>");
    let (no, yes) = (license("search"), license("ai-train"));
    let content = |url: &str, license: &str| format!("<content url=\"{url}\">{license}</content>");
    let document = rsl(&[
        content("/", &yes),
        content("/closed/", &no),
        content("https://reed.example/closed/open/*", &yes),
        content("https://other.example/", &no),
        content("/*.pdf$", &no),
        content("/q?a=1&amp;b=2", &no),
    ]
    .concat());
    for (path, expected) in
        [("/a", false), ("/closed/a", true), ("/closed/open/a", false), ("/x.pdf", true), ("/q?a=1&b=2", true)]
    {
        assert_eq!(prohibits(&document, path), expected, "{path}");
    }
    assert!(prohibits(&rsl(&format!("<content>{no}</content>")), "/x"), "without an address all pages are meant");
    assert!(prohibits(&rsl(&[content("/", &yes), content("/", &no)].concat()), "/"), "a tie goes to who says no");
}

#[test]
fn p19_hostile_licences_are_bounded_and_what_came_whole_counts() {
    let no = "<content url=\"/\"><license><prohibits type=\"usage\">search</prohibits></license></content>";
    assert!(prohibits(&format!("<rsl>{no}<content <<"), "/"), "broken after it");
    let deep = |depth: usize| format!("<rsl>{}{no}", "<a>".repeat(depth));
    assert!(prohibits(&deep(20), "/") && !prohibits(&deep(100_000), "/"));
    let bomb = "<!DOCTYPE rsl [<!ENTITY a \"search\"><!ENTITY b \"&a;&a;\"><!ENTITY x SYSTEM \"file:///etc/passwd\">]>\
        <rsl><content url=\"/\"><license><prohibits type=\"usage\">&b;&x;</prohibits></license></content></rsl>";
    assert!(!prohibits(bomb, "/"), "entities are not expanded");
    let many = "<content url=\"/a\"><license/></content>".repeat(100_000);
    assert!(!prohibits(&format!("<rsl>{many}{no}</rsl>"), "/"), "beyond the limit nothing is read");
    let long = format!("<prohibits>{} search</prohibits>", "x ".repeat(100_000));
    assert!(!prohibits(&rsl(&format!("<content><license>{long}</license></content>")), "/"));
    assert!(!prohibits("\u{0}\u{1}<<<>>>&&&", "/") && !prohibits("", "/"));
}
