//! robots.txt as RFC 9309 has it: one test for each rule of matching, of reading a file, and of what a fetch means.

use curlew_model::{Millis, Timestamp};
use curlew_policy::robots::{
    Decision, Fetched, MAX_AGE, MAX_BYTES, MAX_LINE_BYTES, MIN_AGE, Robots, Standing, TOO_LONG_UNREACHABLE,
    UNREACHABLE_RETRY, WhileUnreachable, classify, fresh_until, product_token, robots_url, while_unreachable,
};
use url::Url;

const OURS: &str = "CurlewBot";

fn check(robots: &str, path: &str) -> Decision {
    Robots::parse(robots.as_bytes(), OURS).check(&url(path))
}

fn allowed(robots: &str, path: &str) -> bool {
    check(robots, path).allowed
}

/// For rules that hold for everyone.
fn rules_allow(rules: &str, path: &str) -> bool {
    allowed(&format!("User-agent: *\n{rules}\n"), path)
}

fn url(path: &str) -> Url {
    Url::parse("https://reed.example/").unwrap().join(path).unwrap()
}

fn delay(robots: &str) -> Option<Millis> {
    Robots::parse(robots.as_bytes(), OURS).crawl_delay()
}

#[test]
fn r01_each_scheme_host_and_port_has_its_own_file() {
    for (page, expected) in [
        ("http://reed.example/a/b?c#d", Some("http://reed.example/robots.txt")),
        ("https://reed.example/ROBOTS.TXT", Some("https://reed.example/robots.txt")),
        ("https://Reed.example:8443/", Some("https://reed.example:8443/robots.txt")),
        ("https://www.reed.example:443/", Some("https://www.reed.example/robots.txt")),
        ("https://me:secret@reed.example/", Some("https://reed.example/robots.txt")),
        ("ftp://reed.example/", None),
        ("mailto:bird@reed.example", None),
    ] {
        let found = robots_url(&Url::parse(page).unwrap());
        assert_eq!(found.as_ref().map(Url::as_str), expected, "{page}");
    }
}

#[test]
fn r02_lines_that_mean_nothing_are_skipped_and_the_rest_counts() {
    let file = "hello\n:::\nUser-agent: *\n<<<<\nDisallow: /mud\nDisallow\n\u{1}\u{2}\nAllow: /mud/flat\n";
    assert!(!allowed(file, "/mud/deep"));
    assert!(allowed(file, "/mud/flat"));
    let html = "<!doctype html>\n<html><head><title>404: not found</title></head>\n<body>\n<a href='/'>Disallow: /</a>\n</body></html>";
    assert!(Robots::parse(html.as_bytes(), OURS).is_empty());
    assert!(Robots::parse(b"", OURS).is_empty());
}

#[test]
fn r02_r04_r05_r06_what_a_fetch_means() {
    for (fetched, expected) in [
        (Fetched::Success { body: b"" }, Standing::Rules),
        (Fetched::NotModified, Standing::Rules),
        (Fetched::TooManyRedirects, Standing::AllowAll),
        (Fetched::Status(301), Standing::AllowAll),
        (Fetched::Status(204), Standing::AllowAll),
        (Fetched::Status(400), Standing::AllowAll),
        (Fetched::Status(404), Standing::AllowAll),
        (Fetched::Status(410), Standing::AllowAll),
        (Fetched::Status(451), Standing::AllowAll),
        (Fetched::Status(499), Standing::AllowAll),
        (Fetched::Status(401), Standing::DisallowAll),
        (Fetched::Status(403), Standing::DisallowAll),
        (Fetched::Status(429), Standing::Unreachable),
        (Fetched::Status(500), Standing::Unreachable),
        (Fetched::Status(503), Standing::Unreachable),
        (Fetched::Status(599), Standing::Unreachable),
        (Fetched::Unreachable, Standing::Unreachable),
        (Fetched::RefusedHop, Standing::Unreachable),
    ] {
        assert_eq!(classify(&fetched), expected, "{fetched:?}");
    }
}

#[test]
fn r07_no_fault_ends_in_allowed() {
    for status in (0..200).chain([206, 226]).chain(500..=1_000).chain([u16::MAX]) {
        assert_eq!(classify(&Fetched::Status(status)), Standing::Unreachable, "{status}");
    }
}

#[test]
fn r08_r09_an_older_copy_for_thirty_days_then_nothing() {
    let since = Timestamp::from_millis(1_795_000_000_000);
    let day = |n| since + Millis::from_days(n);
    assert_eq!(while_unreachable(since, day(0), true), WhileUnreachable::OlderCopy);
    assert_eq!(while_unreachable(since, day(29), true), WhileUnreachable::OlderCopy);
    assert_eq!(while_unreachable(since, since + TOO_LONG_UNREACHABLE, true), WhileUnreachable::OlderCopy);
    assert_eq!(while_unreachable(since, day(31), true), WhileUnreachable::DisallowAll);
    assert_eq!(while_unreachable(since, day(0), false), WhileUnreachable::DisallowAll);
    assert_eq!(while_unreachable(since, day(31), false), WhileUnreachable::DisallowAll);
}

#[test]
fn r10_a_copy_lives_for_a_day_at_most() {
    let now = Timestamp::from_millis(1_795_000_000_000);
    let life = |cache_control, age| fresh_until(Standing::Rules, now, cache_control, age).since(now);
    assert_eq!(life(None, None), MAX_AGE);
    assert_eq!(life(Some("public"), None), MAX_AGE);
    assert_eq!(life(Some("max-age=31536000"), None), MAX_AGE);
    assert_eq!(life(Some("max-age=99999999999999999999999"), Some(u64::MAX)), MIN_AGE);
    assert_eq!(life(Some("Public, Max-Age = 3600"), None), Millis::from_hours(1));
    assert_eq!(life(Some("max-age=\"3600\""), None), Millis::from_hours(1));
    assert_eq!(life(Some("max-age=3600"), Some(600)), Millis::from_mins(50));
    assert_eq!(life(Some("max-age=7200, max-age=3600"), None), Millis::from_hours(1));
    assert_eq!(life(Some("max-age=60"), Some(600)), MIN_AGE);
    assert_eq!(life(Some("no-store"), None), MIN_AGE);
    assert_eq!(life(Some("max-age=-5"), None), MAX_AGE);
    assert_eq!(life(Some("s-maxage=5, stale-while-revalidate=9"), Some(9)), MAX_AGE);
    let retried = fresh_until(Standing::Unreachable, now, Some("max-age=86400"), None);
    assert_eq!(retried, now + UNREACHABLE_RETRY);
    assert_eq!(fresh_until(Standing::AllowAll, now, None, None), now + MAX_AGE);
}

#[test]
fn r11_rules_count_up_to_the_limit_and_one_cut_there_does_not() {
    let head = "User-agent: *\n";
    let late = |at: usize, rule: &str| {
        let mut file = head.as_bytes().to_vec();
        file.resize(at - 1, b'#');
        file.push(b'\n');
        file.extend_from_slice(rule.as_bytes());
        file
    };
    let allows = |file: &[u8], path| Robots::parse(file, OURS).check(&url(path)).allowed;
    assert!(!allows(&late(511_900, "Disallow: /reed\n"), "/reed"));
    assert!(!allows(&late(MAX_BYTES - 16, "Disallow: /reed\nAllow: /reed\n"), "/reed"), "ends where the limit is");
    assert!(!allows(&late(MAX_BYTES - 15, "Disallow: /reed\nAllow: /reed\n"), "/reed"), "its line end is beyond");
    assert!(allows(&late(MAX_BYTES - 14, "Disallow: /reed\n"), "/reed"), "cut in the middle");
    assert!(allows(&late(MAX_BYTES - 14, "Disallow: /ree"), "/reed"), "cut by whoever read it");
    assert!(allows(&late(MAX_BYTES + 1, "Disallow: /reed\n"), "/reed"));
}

#[test]
fn r12_the_token_is_compared_whole_and_in_any_case() {
    for name in ["CurlewBot", "curlewbot", "CURLEWBOT/2.0 (+https://reed.example/bot)", "CurlewBot/*", "curlewbot spy"]
    {
        assert!(!allowed(&format!("User-agent: {name}\nDisallow: /\n"), "/"), "{name}");
    }
    for name in ["Curlew", "CurlewBotNews", "CurlewBot-News", "Curlew_Bot", "Bot", "MyCurlewBot", "(CurlewBot)"] {
        assert!(allowed(&format!("User-agent: {name}\nDisallow: /\n"), "/"), "{name}");
    }
    let numbered = |token: &str, file: &str| Robots::parse(file.as_bytes(), token).check(&url("/")).allowed;
    assert!(!numbered("Heron9bot", "User-agent: heron9bot/1.0\nDisallow: /\n"));
    assert!(numbered("Heron9bot", "User-agent: heron\nDisallow: /\n"));
    assert!(!numbered("*", "User-agent: heron\nAllow: /\n\nUser-agent: *\nDisallow: /\n"));
}

#[test]
fn r13_the_token_is_a_part_of_the_header_sent() {
    let sent = "CurlewBot/0.1 (+https://reed.example/bot; bird@reed.example)";
    assert_eq!(product_token(sent), "CurlewBot");
    assert_eq!(product_token("  Curlew-Feed_Bot"), "Curlew-Feed_Bot");
    assert_eq!(product_token("*"), "*");
    assert_eq!(product_token("(none)"), "");
    assert!(!Robots::parse(b"User-agent: CurlewBot\nDisallow: /", sent).check(&url("/")).allowed);
}

#[test]
fn r14_groups_are_merged_and_the_own_one_stands_alone() {
    let file = "User-agent: CurlewBot\nDisallow: /a\n\nUser-agent: *\nDisallow: /b\n\nUser-agent: heron\nUser-agent: CurlewBot\nDisallow: /c\n";
    assert!(!allowed(file, "/a"));
    assert!(allowed(file, "/b"));
    assert!(!allowed(file, "/c"));
    let general = "User-agent: *\nDisallow: /a\n\nUser-agent: heron\nDisallow: /b\n\nUser-agent: *\nDisallow: /c\n";
    assert!(!allowed(general, "/a"));
    assert!(allowed(general, "/b"));
    assert!(!allowed(general, "/c"));
    assert!(allowed("User-agent: *\nDisallow: /\nUser-agent: CurlewBot\n", "/"), "a group of ours without rules");
    assert!(!allowed("User-agent: CurlewBot\n\n\nUser-agent: heron\n\nDisallow: /\n", "/"), "blank lines end nothing");
}

#[test]
fn r15_no_group_for_us_and_rules_before_the_first_group() {
    assert!(allowed("User-agent: heron\nDisallow: /\n", "/"));
    assert!(allowed("Disallow: /\nUser-agent: *\nDisallow: /a\n", "/b"));
    assert!(allowed("Disallow: /\n", "/"));
}

#[test]
fn r16_other_lines_do_not_end_a_group() {
    let file = "User-agent: CurlewBot\nSitemap: https://reed.example/s.xml\nCrawl-delay: 3\nMood: calm\nUser-agent: heron\nDisallow: /a\nSitemap: /t\nDisallow: /b\n";
    assert!(!allowed(file, "/a"));
    assert!(!allowed(file, "/b"));
}

#[test]
fn r17_the_longest_match_wins_in_any_order() {
    for file in ["Allow: /a/b\nDisallow: /a\nDisallow: /a/b/c", "Disallow: /a/b/c\nDisallow: /a\nAllow: /a/b"] {
        assert!(!rules_allow(file, "/a/x"));
        assert!(rules_allow(file, "/a/b/x"));
        assert!(!rules_allow(file, "/a/b/c/x"));
    }
    assert!(!rules_allow("Allow: /\nDisallow: /*", "/x"), "a star is an octet too");
    assert!(rules_allow("Allow: /$\nDisallow: /", "/"));
    assert!(!rules_allow("Allow: /$\nDisallow: /", "/x"));
    assert!(!rules_allow("Allow: /aé\nDisallow: /a*wxyz12", "/aéwxyz12"), "octets, not letters: 8 against 9");
    assert_eq!(check("User-agent: *\nDisallow: /a*b # not here\n", "/axb").rule, Some("Disallow: /a*b".into()));
    assert_eq!(check("User-agent: *\nDisallow: /aé$\n", "/aé").rule, Some("Disallow: /aé$".into()));
    assert_eq!(
        check("User-agent: *\nDisallow: /a\n", "/b"),
        Decision { allowed: true, rule: None, second: Some(true) }
    );
}

#[test]
fn r18_of_two_as_long_the_allowing_one_wins() {
    assert!(rules_allow("Disallow: /a\nAllow: /a", "/a"));
    assert!(rules_allow("Allow: /a\nDisallow: /a", "/a"));
    assert!(rules_allow("Disallow: /a%7E\nAllow: /a~", "/a~"), "as long once both are in one form");
}

#[test]
fn r19_paths_are_compared_from_the_start_with_case_and_query() {
    assert!(rules_allow("Disallow: /Mud", "/mud"));
    assert!(rules_allow("Disallow: /mud", "/deep/mud"));
    assert!(rules_allow("Disallow: mud", "/mud"));
    assert!(!rules_allow("Disallow: /mud?deep=1", "/mud?deep=1&x"));
    assert!(rules_allow("Disallow: /mud?deep=1", "/mud"));
    assert!(!rules_allow("Disallow: /*?", "/mud?"));
    assert!(rules_allow("Disallow: /*deep", "/mud#deep"));
    assert!(rules_allow("Disallow:", "/mud"));
    assert!(!rules_allow("Disallow: /\nDisallow:", "/mud"), "an empty one takes nothing back");
    assert!(rules_allow("Allow:\nDisallow: /mud", "/x"));
}

#[test]
fn r20_special_characters_and_literal_ones() {
    assert!(!rules_allow("Disallow: /*.gif$", "/a/b.gif"));
    assert!(rules_allow("Disallow: /*.gif$", "/a/b.gif?x"));
    assert!(!rules_allow("Disallow: /a#b", "/a/c"));
    assert!(!rules_allow("Disallow: /a%2Ab", "/a*b"));
    assert!(rules_allow("Disallow: /a%2Ab", "/axb"));
    assert!(!rules_allow("Disallow: /a%24", "/a$x"));
    assert!(rules_allow("Disallow: /a%24", "/a"));
    assert!(!rules_allow("Disallow: /a$b", "/a$b"), "within a pattern it is a letter like others");
    assert!(!rules_allow("Disallow: /a%23", "/a%23b"));
}

#[test]
fn r21_both_sides_are_encoded_alike() {
    for (rule, path) in [
        ("/ツ", "/%E3%83%84"),
        ("/%e3%83%84", "/ツ"),
        ("/%62", "/b"),
        ("/b", "/%62"),
        ("/a%2fb", "/a%2Fb"),
        ("/~wader", "/%7Ewader"),
        ("/a b", "/a%20b"),
        ("/a<b", "/a%3Cb"),
        ("/?q='x'", "/?q='x'"),
        ("/50%", "/50%"),
    ] {
        assert!(!rules_allow(&format!("Disallow: {rule}"), path), "{rule} {path}");
    }
    assert!(rules_allow("Disallow: /a%2Fb", "/a/b"));
    assert!(rules_allow("Disallow: /a/b", "/a%2Fb"));
    assert!(rules_allow("Disallow: /a%3Fb", "/a?b"));
}

/// RFC 9309 §2.2.2 can be read in two ways; the one that fetches less is taken.
#[test]
fn r21_a_disallow_holds_for_both_ways_to_write_a_reserved_character() {
    for (rule, path) in
        [("/a%3Ab", "/a:b"), ("/a:b", "/a%3ab"), ("/*%40", "/x@y"), ("/?q=[", "/?q=%5Bx"), ("/a%2cb$", "/a,b")]
    {
        assert!(!rules_allow(&format!("Disallow: {rule}"), path), "{rule} {path}");
        assert!(
            !rules_allow(&format!("Disallow: /\nAllow: {rule}"), path),
            "an Allow is taken as it is written: {rule}"
        );
    }
    assert!(rules_allow("Disallow: /\nAllow: /a:b", "/a:b"));
    assert!(rules_allow("Disallow: /\nAllow: /a%3ab", "/a%3Ab"));
    assert!(rules_allow("Disallow: /a%3Ab\nAllow: /a%3Ab/c", "/a%3Ab/c"), "the longest match wins as ever");
    assert!(!rules_allow("Disallow: /a%3Ab\nAllow: /a:b", "/a:b"), "the encoded one has more octets");
}

#[test]
fn r19_a_disallow_that_is_written_as_an_address_of_its_own_host_forbids_its_path() {
    for own in ["https://reed.example/private/", "http://REED.example:80/private/*", "HTTPS://reed.example/private/$"] {
        let rules = format!("Allow: /\nDisallow: {own}");
        assert!(!rules_allow(&rules, "/private/"), "{own}");
        assert!(rules_allow(&rules, "/public"), "{own}");
        assert_eq!(check(&format!("User-agent: *\n{rules}"), "/private/").rule, Some(format!("Disallow: {own}")));
    }
    assert!(!rules_allow("Disallow: https://reed.example", "/x"));
    assert!(rules_allow("Disallow: https://heron.example/\nDisallow: https://reed.example.org/", "/x"), "another host");
    assert!(!rules_allow("Disallow: /\nAllow: https://reed.example/", "/x"), "nothing is allowed that the RFC forbids");
}

#[test]
fn r22_robots_txt_itself_is_always_allowed() {
    assert!(Robots::disallow_all().check(&url("/robots.txt")).allowed);
    assert!(!Robots::disallow_all().check(&url("/robots.txt/x")).allowed);
    assert!(!Robots::disallow_all().check(&url("/")).allowed);
    assert!(Robots::allow_all().check(&url("/x")).allowed);
    assert!(!rules_allow("Disallow: /robots.txt", "/robots.txt?x"));
}

#[test]
fn r23_endings_marks_case_and_dirt() {
    let plain = "user-AGENT : *\nDISALLOW\t:  /mud\nallow:/mud/flat\n";
    let utf16 = |text: &str, big: bool, mark: bool| -> Vec<u8> {
        let mark = if mark { "\u{feff}" } else { "" };
        let units = mark.encode_utf16().chain(text.encode_utf16());
        units.flat_map(|u| if big { u.to_be_bytes() } else { u.to_le_bytes() }).collect()
    };
    let files = [
        plain.as_bytes().to_vec(),
        plain.replace('\n', "\r\n").into_bytes(),
        plain.replace('\n', "\r").into_bytes(),
        format!("\u{feff}{plain}").into_bytes(),
        [b"\xEF\xBB", plain.as_bytes()].concat(),
        plain.replace('\n', "\0\n\0").into_bytes(),
        [b"\xFF\xC0\x80\xF5\n", plain.as_bytes(), b"Disallow: /\xFF\xFE\n\0\0"].concat(),
        plain.replace(": ", ":\u{a0}").into_bytes(),
        utf16(plain, false, true),
        utf16(plain, true, true),
        utf16(plain, false, false),
        utf16(plain, true, false),
    ];
    for file in files {
        let robots = Robots::parse(&file, OURS);
        assert!(!robots.check(&url("/mud")).allowed, "{:?}", String::from_utf8_lossy(&file));
        assert!(robots.check(&url("/mud/flat")).allowed, "{:?}", String::from_utf8_lossy(&file));
        assert!(robots.check(&url("/x")).allowed, "{:?}", String::from_utf8_lossy(&file));
    }
}

#[test]
fn r24_a_line_is_read_up_to_its_limit() {
    // Google's matcher keeps 16,663 bytes of a line.
    let kept = "a".repeat(16_663 - "Disallow: /".len());
    assert!(!allowed(&format!("User-agent: *\nDisallow: /{kept}\n"), &format!("/{kept}")));
    assert!(!allowed(&format!("User-agent: *\nDisallow: /{kept}b\n"), &format!("/{kept}")), "the last one is cut off");
    let long = "a".repeat(MAX_LINE_BYTES);
    let file = format!("User-agent: *\nDisallow: /{long}/end\nDisallow: /x\n");
    assert!(!allowed(&file, "/x"));
    assert!(!allowed(&file, &format!("/{long}")));
    assert!(allowed(&file, "/a"));
    let one_line = "x".repeat(1 << 20);
    assert!(Robots::parse(one_line.as_bytes(), OURS).is_empty());
}

#[test]
fn r24_hostile_patterns_end_soon_and_allow_nothing() {
    let path = format!("/{}", "a".repeat(2_000));
    let mut file = String::from("User-agent: *\n");
    for n in 0..3_000 {
        file.push_str(&format!("Allow: /{}b{n}\n", "*aaaaaaaaaaaaaaaaaaaa".repeat(7)));
    }
    let robots = Robots::parse(file.as_bytes(), OURS);
    assert_eq!(robots.len(), 3_000);
    let harmless = format!("User-agent: *\nDisallow: /{}\n", "*a".repeat(8_000));
    assert!(!allowed(&harmless, &path.repeat(5)), "many stars alone cost nothing");
    let mut worse = String::from("User-agent: *\n");
    for n in 0..2_500 {
        worse.push_str(&format!("Allow: /*{}b{n}\n", "a".repeat(190)));
    }
    let decision = check(&worse, &path.repeat(5));
    assert!(!decision.allowed, "over the limit of steps");
    assert!(decision.rule.is_some_and(|rule| rule.starts_with("Allow: /*a")));
}

#[test]
fn r24_the_second_matcher_is_not_asked_about_what_would_take_it_long() {
    let lines = |line: &str, times: usize| format!("User-agent: *\n{}", format!("{line}\n").repeat(times));
    for file in [
        lines("Disallow: /mud", 100_000).get(..500 << 10).unwrap().to_owned(),
        lines("", 65_000),
        lines("Disallow: /mud", 2_000),
        lines("Disallow: /mud$", 5),
        lines("Disallow /mud$ and more$", 60),
        lines(&format!("Disallow: /{}", "*a".repeat(17)), 1),
        lines(&format!("Disallow: /{}$", "a*".repeat(250)), 1),
        lines(&format!("Disallow: /{}", "a".repeat(513)), 1),
        lines(&format!("Disallow: /{}", "*".repeat(8_000)), 1),
    ] {
        let robots = Robots::parse(file.as_bytes(), OURS);
        assert_eq!(robots.check(&url("/x")).second, None, "{} bytes", file.len());
        assert_eq!(robots.weight(), robots.bytes_to_match());
    }
    let plain = Robots::parse(lines("Disallow: /mud$", 4).as_bytes(), OURS);
    assert_eq!(plain.check(&url("/x")).second, Some(true));
    assert_eq!(plain.check(&url(&format!("/{}", "x".repeat(2_048)))).second, None, "a long URL");
    let each = (plain.weight() - plain.bytes_to_match()) / 4;
    assert!((16 << 10..20 << 10).contains(&each), "a regular expression is counted: {each}");
}

#[test]
fn r24_half_a_million_groups_and_rules_stay_small() {
    let groups = "User-agent: x\nAllow:/\n".repeat(500_000);
    assert!(Robots::parse(groups.as_bytes(), OURS).is_empty());
    let rules = format!("User-agent: *\n{}", "Allow:/b\n".repeat(500_000));
    let robots = Robots::parse(rules.as_bytes(), OURS);
    assert!(robots.len() <= MAX_BYTES / "Allow:/b\n".len());
    assert!(robots.check(&url("/a")).allowed);
}

#[test]
fn r26_crawl_delay_is_read_as_seconds_and_not_capped_here() {
    assert_eq!(delay("User-agent: *\nCrawl-delay: 10\n"), Some(Millis::from_secs(10)));
    assert_eq!(delay("User-agent: *\ncrawl-delay: 0.5 # s\nDisallow: /x\n"), Some(Millis(500)));
    assert_eq!(delay("User-agent: *\nCrawl-delay: 86400\n"), Some(Millis::from_secs(86_400)));
    assert_eq!(delay("User-agent: *\nCrawl-delay: 2\nCrawl-delay: 7\nCrawl-delay: 5\n"), Some(Millis::from_secs(7)));
    for nonsense in ["", "ten", "-1", "inf", "nan", "1e9", "1:30"] {
        assert_eq!(delay(&format!("User-agent: *\nCrawl-delay: {nonsense}\n")), None, "{nonsense}");
    }
    for ten_seconds in ["10s", "10 seconds", "10;", "10,0", "10 s # each"] {
        assert_eq!(
            delay(&format!("User-agent: *\nCrawl-delay: {ten_seconds}\n")),
            Some(Millis::from_secs(10)),
            "{ten_seconds}"
        );
    }
    assert_eq!(delay("Crawl-delay: 3\nUser-agent: *\nDisallow: /x\n"), None);
}

#[test]
fn r26_crawl_delay_is_that_of_the_agents_named_above_it() {
    assert_eq!(
        delay("User-agent: *\nCrawl-delay: 5\nUser-agent: CurlewBot\nCrawl-delay: 2\n"),
        Some(Millis::from_secs(2))
    );
    assert_eq!(delay("User-agent: *\nCrawl-delay: 5\nUser-agent: CurlewBot\nDisallow: /x\n"), None);
    assert_eq!(
        delay("User-agent: *\nCrawl-delay: 5\nUser-agent: heron\nCrawl-delay: 90\n"),
        Some(Millis::from_secs(5))
    );
    assert_eq!(
        delay("User-agent: heron\nUser-agent: CurlewBot\nDisallow: /x\nCrawl-delay: 4\n"),
        Some(Millis::from_secs(4))
    );
}
