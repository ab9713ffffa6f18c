//! Tests of sites' preferences about the use of their pages: content signals and licences.

use curlew_model::{PageId, Record, SnippetLimit, StatedPreferences, Timestamp};
use curlew_policy::page::offer::{Withheld, text_for_assistants};
use curlew_policy::page::signals::ContentSignals;
use curlew_policy::robots::Robots;
use curlew_policy::robots::license::LicenseTerms;
use url::Url;

fn url(path: &str) -> Url {
    Url::parse("https://reed.example/").unwrap().join(path).unwrap()
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
    let signals = |statement: &str| ContentSignals::parse(statement.as_bytes()).to_string();
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
    assert_eq!(signals("egret", "/closed/a"), "search=no", "only the signal with the longest path counts");
    assert_eq!(signals("CurlewBot", "/closed/a"), "", "our own group replaces that for everyone");
    assert_eq!(signals("heron", "/a.pdf"), "search=no");
    let tie = Robots::parse(b"User-agent: *\nContent-Signal: search=yes\nContent-signals: search=no\n", "CurlewBot");
    assert_eq!(tie.signals(&url("/")).search(), Some(false));
    assert!(tie.check(&url("/")).allowed, "signals must not forbid a call");
    assert!(Robots::parse(b"Content-Signal: search=no\n", "CurlewBot").signals(&url("/")).is_silent(), "no group");
    // A bounded number of signals is kept from a file that has only signals.
    let long = format!("User-agent: *\n{}", "Content-Signal: /a search=no\n".repeat(15_000));
    assert!(Robots::parse(long.as_bytes(), "CurlewBot").weight() < 400_000);
}

#[test]
fn p18_a_licence_line_holds_for_the_whole_file_and_is_a_whole_address() {
    let ours = "License: https://reed.example/a.xml";
    for (file, is_named) in [
        (format!("{ours}\nUser-agent: x\nDisallow: /\n"), true),
        ("User-agent: x\nDisallow: /\nlicense : https://reed.example/a.xml # terms\n".to_owned(), true),
        (format!("License: /b.xml\nLicense: ftp://b.example/\n{ours}\n"), true),
        // The licence of our own group takes precedence.
        (format!("License: https://reed.example/b.xml\nUser-agent: CurlewBot\n{ours}\nAllow: /\n"), true),
        ("User-agent: *\nAllow: /\n".to_owned(), false),
    ] {
        let robots = Robots::parse(file.as_bytes(), "CurlewBot");
        assert_eq!(robots.license(), is_named.then_some("https://reed.example/a.xml"), "{file}");
    }
    // A licence line does not end a group.
    let file = format!("User-agent: a\n{ours}\nUser-agent: CurlewBot\nCrawl-delay: 7\nDisallow: /x\n");
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
    assert!(prohibits(&rsl(&format!("<content>{no}</content>")), "/x"), "without a URL the licence covers all pages");
    assert!(prohibits(&rsl(&[content("/", &yes), content("/", &no)].concat()), "/"), "in a tie the prohibition wins");
}

#[test]
fn p19_hostile_licences_are_bounded_and_what_came_whole_counts() {
    let no = "<content url=\"/\"><license><prohibits type=\"usage\">search</prohibits></license></content>";
    assert!(prohibits(&format!("<rsl>{no}<content <<"), "/"), "the document is broken after the prohibition");
    let deep = |depth: usize| format!("<rsl>{}{no}", "<a>".repeat(depth));
    assert!(prohibits(&deep(20), "/") && !prohibits(&deep(100_000), "/"));
    let bomb = "<!DOCTYPE rsl [<!ENTITY a \"search\"><!ENTITY b \"&a;&a;\"><!ENTITY x SYSTEM \"file:///etc/passwd\">]>\
        <rsl><content url=\"/\"><license><prohibits type=\"usage\">&b;&x;</prohibits></license></content></rsl>";
    assert!(!prohibits(bomb, "/"), "entities must not be expanded");
    let many = "<content url=\"/a\"><license/></content>".repeat(100_000);
    assert!(!prohibits(&format!("<rsl>{many}{no}</rsl>"), "/"), "nothing beyond the limit is read");
    let long = format!("<prohibits>{} search</prohibits>", "x ".repeat(100_000));
    assert!(!prohibits(&rsl(&format!("<content><license>{long}</license></content>")), "/"));
    assert!(!prohibits("\u{0}\u{1}<<<>>>&&&", "/") && !prohibits("", "/"));
}

#[test]
fn p06_assistants_are_given_no_text_that_a_page_or_its_site_withholds() {
    let text = "A résumé of reeds";
    for (signal, no_archive, limit, expected) in [
        ("", false, None, Ok(text)),
        ("ai-input=yes, ai-train=no, search=yes", false, None, Ok(text)),
        ("ai-input=no, search=yes", false, None, Err(Withheld::NoInput)),
        ("search=yes, use=reference", false, None, Err(Withheld::ReferenceOnly)),
        ("", true, None, Err(Withheld::NoArchive)),
        ("", false, Some(0), Ok("")),
        ("", false, Some(8), Ok("A résumé")),
        ("", false, Some(u32::MAX), Ok(text)),
    ] {
        let record = Record {
            text: text.to_owned(),
            preferences: StatedPreferences { content_signal: Some(signal.to_owned()), license: None },
            no_archive,
            snippet_limit: SnippetLimit(limit),
            ..Record::new(PageId::new(&"0".repeat(32)).unwrap(), url("/").into(), Timestamp::EPOCH)
        };
        assert_eq!(text_for_assistants(&record), expected, "{signal} {limit:?}");
    }
}
