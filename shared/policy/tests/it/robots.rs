//! Tests of robots.txt according to RFC 9309: one for each rule of matching, parsing, and interpreting a fetch.

use curlew_model::{Millis, Timestamp};
use curlew_policy::robots::{
    Decision, Fetched, MAX_AGE, MAX_BYTES, MAX_LINE_BYTES, MIN_AGE, Robots, Standing, TOO_LONG_UNREACHABLE,
    UNREACHABLE_RETRY, classify, fresh_until, product_token, robots_url, stands_in,
};
use url::Url;

const OURS: &str = "CurlewBot";
const NOW: Timestamp = Timestamp::from_millis(1_795_000_000_000);

fn parsed(robots: impl AsRef<[u8]>) -> Robots {
    Robots::parse(robots.as_ref(), OURS)
}

fn check(robots: &str, path: &str) -> Decision {
    parsed(robots).check(&url(path))
}

fn url(path: &str) -> Url {
    Url::parse("https://reed.example/").unwrap().join(path).unwrap()
}

/// Checks paths against a file. The prefix `+` marks an allowed path and `-` a forbidden one.
fn holds(file: impl AsRef<[u8]>, paths: &str) {
    let robots = parsed(&file);
    for path in paths.split(' ') {
        let file = String::from_utf8_lossy(file.as_ref());
        assert_eq!(robots.check(&url(&path[1..])).allowed, path.starts_with('+'), "{path} by {file:?}");
    }
}

/// Checks paths against rules for everyone, as [`holds`] does.
fn hold(cases: &[(&str, &str)]) {
    for (rules, paths) in cases {
        holds(format!("User-agent: *\n{rules}\n"), paths);
    }
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
    holds(
        "hello\n:::\nUser-agent: *\n<<<<\nDisallow: /mud\nDisallow\n\u{1}\u{2}\nAllow: /mud/flat\n",
        "-/mud/deep +/mud/flat",
    );
    let html = "<!doctype html>\n<title>404: not found</title>\n<a href='/'>Disallow: /</a>\n</html>";
    assert!(parsed(html).is_empty() && parsed("").is_empty());
}

#[test]
fn r02_r04_r05_r06_what_a_fetch_means() {
    for (expected, statuses) in [
        (Standing::AllowAll, &[301, 204, 400, 404, 410, 451, 499][..]),
        (Standing::DisallowAll, &[401, 403]),
        (Standing::Unreachable, &[429, 500, 503, 599]),
    ] {
        for status in statuses {
            assert_eq!(classify(&Fetched::Status(*status)), expected, "{status}");
        }
    }
    for (fetched, expected) in [
        (Fetched::Success { body: b"" }, Standing::Rules),
        (Fetched::NotModified, Standing::Rules),
        (Fetched::TooManyRedirects, Standing::AllowAll),
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
    for since in [Millis::ZERO, Millis::from_days(29), TOO_LONG_UNREACHABLE] {
        assert!(stands_in(NOW, NOW + since) && !stands_in(Timestamp::MIN, Timestamp::MIN + since));
    }
    assert!(!stands_in(NOW, NOW + Millis::from_days(31)));
}

#[test]
fn r10_a_copy_lives_for_a_day_at_most() {
    let hour = Millis::from_hours(1);
    for (cache_control, age, life) in [
        (None, None, MAX_AGE),
        (Some("public"), None, MAX_AGE),
        (Some("max-age=31536000"), None, MAX_AGE),
        (Some("max-age=99999999999999999999999"), Some(u64::MAX), MIN_AGE),
        (Some("Public, Max-Age = 3600"), None, hour),
        (Some("max-age=\"3600\""), None, hour),
        (Some("max-age=3600"), Some(600), Millis::from_mins(50)),
        (Some("max-age=7200, max-age=3600"), None, hour),
        (Some("max-age=60"), Some(600), MIN_AGE),
        (Some("no-store"), None, MIN_AGE),
        (Some("max-age=-5"), None, MAX_AGE),
        (Some("s-maxage=5, stale-while-revalidate=9"), Some(9), MAX_AGE),
    ] {
        assert_eq!(fresh_until(Standing::Rules, cache_control, age, NOW), NOW + life, "{cache_control:?} {age:?}");
    }
    assert_eq!(fresh_until(Standing::Unreachable, Some("max-age=86400"), None, NOW), NOW + UNREACHABLE_RETRY);
    assert_eq!(fresh_until(Standing::AllowAll, None, None, NOW), NOW + MAX_AGE);
}

#[test]
fn r11_rules_count_up_to_the_limit_and_one_cut_there_does_not() {
    for (at, rules, says) in [
        (511_900, "Disallow: /reed\n", "-/reed"),
        // The rule ends exactly at the limit, or its line end is beyond the limit.
        (MAX_BYTES - 16, "Disallow: /reed\nAllow: /reed\n", "-/reed"),
        (MAX_BYTES - 15, "Disallow: /reed\nAllow: /reed\n", "-/reed"),
        // The rule is cut in the middle, by the limit or by the reader of the file.
        (MAX_BYTES - 14, "Disallow: /reed\n", "+/reed"),
        (MAX_BYTES - 14, "Disallow: /ree", "+/reed"),
        (MAX_BYTES + 1, "Disallow: /reed\n", "+/reed"),
    ] {
        let head = "User-agent: *\n";
        let file = format!("{head}{}\n{rules}", "#".repeat(at - 1 - head.len()));
        assert_eq!(check(&file, "/reed").allowed, says.starts_with('+'), "{rules:?} at {at}");
    }
}

#[test]
fn r12_the_token_is_compared_whole_and_in_any_case() {
    for name in ["CurlewBot", "curlewbot", "CURLEWBOT/2.0 (+https://reed.example/bot)", "CurlewBot/*", "curlewbot spy"]
    {
        holds(format!("User-agent: {name}\nDisallow: /\n"), "-/");
    }
    for name in ["Curlew", "CurlewBotNews", "CurlewBot-News", "Curlew_Bot", "Bot", "MyCurlewBot", "(CurlewBot)"] {
        holds(format!("User-agent: {name}\nDisallow: /\n"), "+/");
    }
    for (token, file, allowed) in [
        ("Heron9bot", "User-agent: heron9bot/1.0\nDisallow: /\n", false),
        ("Heron9bot", "User-agent: heron\nDisallow: /\n", true),
        ("*", "User-agent: heron\nAllow: /\n\nUser-agent: *\nDisallow: /\n", false),
    ] {
        assert_eq!(Robots::parse(file.as_bytes(), token).check(&url("/")).allowed, allowed, "{token} {file}");
    }
}

#[test]
fn r13_the_token_is_a_part_of_the_header_sent() {
    let sent = "CurlewBot/0.1 (+https://reed.example/bot; bird@reed.example)";
    for (agent, token) in [(sent, "CurlewBot"), ("  Curlew-Feed_Bot", "Curlew-Feed_Bot"), ("*", "*"), ("(none)", "")] {
        assert_eq!(product_token(agent), token);
    }
    assert!(!Robots::parse(b"User-agent: CurlewBot\nDisallow: /", sent).check(&url("/")).allowed);
}

#[test]
fn r14_groups_are_merged_and_the_own_one_stands_alone() {
    for (file, paths) in [
        (
            "User-agent: CurlewBot\nDisallow: /a\n\nUser-agent: *\nDisallow: /b\n\n\
             User-agent: heron\nUser-agent: CurlewBot\nDisallow: /c",
            "-/a +/b -/c",
        ),
        (
            "User-agent: *\nDisallow: /a\n\nUser-agent: heron\nDisallow: /b\n\nUser-agent: *\nDisallow: /c\n",
            "-/a +/b -/c",
        ),
        // The group for our token has no rules; blank lines do not end a group.
        ("User-agent: *\nDisallow: /\nUser-agent: CurlewBot\n", "+/"),
        ("User-agent: CurlewBot\n\n\nUser-agent: heron\n\nDisallow: /\n", "-/"),
    ] {
        holds(file, paths);
    }
}

#[test]
fn r15_no_group_for_us_and_rules_before_the_first_group() {
    holds("User-agent: heron\nDisallow: /\n", "+/");
    holds("Disallow: /\nUser-agent: *\nDisallow: /a\n", "+/b");
    holds("Disallow: /\n", "+/");
}

#[test]
fn r16_other_lines_do_not_end_a_group() {
    let others = "Sitemap: https://reed.example/s.xml\nCrawl-delay: 3\nMood: calm";
    let rules = "Disallow: /a\nSitemap: /t\nDisallow: /b";
    holds(format!("User-agent: CurlewBot\n{others}\nUser-agent: heron\n{rules}\n"), "-/a -/b");
}

#[test]
fn r17_the_longest_match_wins_in_any_order() {
    hold(&[
        ("Allow: /a/b\nDisallow: /a\nDisallow: /a/b/c", "-/a/x +/a/b/x -/a/b/c/x"),
        ("Disallow: /a/b/c\nDisallow: /a\nAllow: /a/b", "-/a/x +/a/b/x -/a/b/c/x"),
        // A star counts as an octet.
        ("Allow: /\nDisallow: /*", "-/x"),
        ("Allow: /$\nDisallow: /", "+/ -/x"),
        // Octets are counted, not letters: 8 against 9.
        ("Allow: /aé\nDisallow: /a*wxyz12", "-/aéwxyz12"),
    ]);
    for (rule, path) in [("Disallow: /a*b", "/axb"), ("Disallow: /aé$", "/aé")] {
        assert_eq!(check(&format!("User-agent: *\n{rule} # not here\n"), path).rule.as_deref(), Some(rule));
    }
    let unmatched = Decision { allowed: true, rule: None, second: Some(true) };
    assert_eq!(check("User-agent: *\nDisallow: /a\n", "/b"), unmatched);
}

#[test]
fn r18_of_two_as_long_the_allowing_one_wins() {
    hold(&[
        ("Disallow: /a\nAllow: /a", "+/a"),
        ("Allow: /a\nDisallow: /a", "+/a"),
        // The rules are equally long in canonical form.
        ("Disallow: /a%7E\nAllow: /a~", "+/a~"),
    ]);
}

#[test]
fn r19_paths_are_compared_from_the_start_with_case_and_query() {
    hold(&[
        ("Disallow: /Mud", "+/mud"),
        ("Disallow: /mud", "+/deep/mud"),
        ("Disallow: mud", "+/mud"),
        ("Disallow: /mud?deep=1", "-/mud?deep=1&x +/mud"),
        ("Disallow: /*?", "-/mud?"),
        ("Disallow: /*deep", "+/mud#deep"),
        ("Disallow:", "+/mud"),
        // An empty rule cancels nothing.
        ("Disallow: /\nDisallow:", "-/mud"),
        ("Allow:\nDisallow: /mud", "+/x"),
    ]);
}

#[test]
fn r20_special_characters_and_literal_ones() {
    hold(&[
        ("Disallow: /*.gif$", "-/a/b.gif +/a/b.gif?x"),
        ("Disallow: /a#b", "-/a/c"),
        ("Disallow: /a%2Ab", "-/a*b +/axb"),
        ("Disallow: /a%24", "-/a$x +/a"),
        // Within a pattern, a dollar sign is an ordinary character.
        ("Disallow: /a$b", "-/a$b"),
        ("Disallow: /a%23", "-/a%23b"),
    ]);
}

#[test]
fn r21_both_sides_are_encoded_alike() {
    hold(&[
        ("Disallow: /ツ", "-/%E3%83%84"),
        ("Disallow: /%e3%83%84", "-/ツ"),
        ("Disallow: /%62", "-/b"),
        ("Disallow: /b", "-/%62"),
        ("Disallow: /a%2fb", "-/a%2Fb +/a/b"),
        ("Disallow: /a/b", "+/a%2Fb"),
        ("Disallow: /~wader", "-/%7Ewader"),
        ("Disallow: /a b", "-/a%20b"),
        ("Disallow: /a<b", "-/a%3Cb"),
        ("Disallow: /?q='x'", "-/?q='x'"),
        ("Disallow: /50%", "-/50%"),
        ("Disallow: /a%3Fb", "+/a?b"),
    ]);
}

/// RFC 9309 §2.2.2 can be read in two ways; the matcher follows the one that fetches less.
#[test]
fn r21_a_disallow_holds_for_both_ways_to_write_a_reserved_character() {
    for (rule, path) in
        [("/a%3Ab", "-/a:b"), ("/a:b", "-/a%3ab"), ("/*%40", "-/x@y"), ("/?q=[", "-/?q=%5Bx"), ("/a%2cb$", "-/a,b")]
    {
        // An Allow matches only as it is written.
        hold(&[(&format!("Disallow: {rule}"), path), (&format!("Disallow: /\nAllow: {rule}"), path)]);
    }
    hold(&[
        ("Disallow: /\nAllow: /a:b", "+/a:b"),
        ("Disallow: /\nAllow: /a%3ab", "+/a%3Ab"),
        // The longest match still wins; the encoded one has more octets.
        ("Disallow: /a%3Ab\nAllow: /a%3Ab/c", "+/a%3Ab/c"),
        ("Disallow: /a%3Ab\nAllow: /a:b", "-/a:b"),
    ]);
}

#[test]
fn r19_a_disallow_that_is_written_as_an_address_of_its_own_host_forbids_its_path() {
    for own in ["https://reed.example/private/", "http://REED.example:80/private/*", "HTTPS://reed.example/private/$"] {
        let file = format!("User-agent: *\nAllow: /\nDisallow: {own}");
        holds(&file, "-/private/ +/public");
        assert_eq!(check(&file, "/private/").rule, Some(format!("Disallow: {own}")));
    }
    hold(&[
        ("Disallow: https://reed.example", "-/x"),
        // These URLs are on other hosts.
        ("Disallow: https://heron.example/\nDisallow: https://reed.example.org/", "+/x"),
        // An Allow with an absolute URL is ignored, as in the RFC.
        ("Disallow: /\nAllow: https://reed.example/", "-/x"),
    ]);
}

#[test]
fn r22_robots_txt_itself_is_always_allowed() {
    let none = Robots::disallow_all();
    let allowed = ["/robots.txt", "/robots.txt/x", "/"].map(|path| none.check(&url(path)).allowed);
    assert_eq!(allowed, [true, false, false]);
    assert!(Robots::default().check(&url("/x")).allowed);
    hold(&[("Disallow: /robots.txt", "-/robots.txt?x")]);
}

#[test]
fn r23_endings_marks_case_and_dirt() {
    let plain = "user-AGENT : *\nDISALLOW\t:  /mud\nallow:/mud/flat\n";
    let utf16 = |mark: &str, bytes: fn(u16) -> [u8; 2]| -> Vec<u8> {
        format!("{mark}{plain}").encode_utf16().flat_map(bytes).collect()
    };
    for file in [
        plain.as_bytes().to_vec(),
        plain.replace('\n', "\r\n").into_bytes(),
        plain.replace('\n', "\r").into_bytes(),
        format!("\u{feff}{plain}").into_bytes(),
        [b"\xEF\xBB", plain.as_bytes()].concat(),
        plain.replace('\n', "\0\n\0").into_bytes(),
        [b"\xFF\xC0\x80\xF5\n", plain.as_bytes(), b"Disallow: /\xFF\xFE\n\0\0"].concat(),
        plain.replace(": ", ":\u{a0}").into_bytes(),
        utf16("\u{feff}", u16::to_le_bytes),
        utf16("\u{feff}", u16::to_be_bytes),
        utf16("", u16::to_le_bytes),
        utf16("", u16::to_be_bytes),
    ] {
        holds(&file, "-/mud +/mud/flat +/x");
    }
}

#[test]
fn r24_a_line_is_read_up_to_its_limit() {
    // Google's matcher reads 16,663 bytes of a line; the last octet of the second rule is cut off.
    let kept = "a".repeat(16_663 - "Disallow: /".len());
    hold(&[
        (&format!("Disallow: /{kept}"), &format!("-/{kept}")),
        (&format!("Disallow: /{kept}b"), &format!("-/{kept}")),
    ]);
    let long = "a".repeat(MAX_LINE_BYTES);
    hold(&[(&format!("Disallow: /{long}/end\nDisallow: /x"), &format!("-/x -/{long} +/a"))]);
    assert!(parsed("x".repeat(1 << 20)).is_empty());
}

#[test]
fn r24_hostile_patterns_end_soon_and_allow_nothing() {
    let path = format!("/{}", "a".repeat(2_000)).repeat(5);
    let file = |rules: u32, pattern: &str| {
        let lines: String = (0..rules).map(|n| format!("Allow: /{pattern}b{n}\n")).collect();
        format!("User-agent: *\n{lines}")
    };
    assert_eq!(parsed(file(3_000, &"*aaaaaaaaaaaaaaaaaaaa".repeat(7))).len(), 3_000);
    // Many stars alone cost nothing.
    holds(format!("User-agent: *\nDisallow: /{}\n", "*a".repeat(8_000)), &format!("-{path}"));
    let decision = check(&file(2_500, &format!("*{}", "a".repeat(190))), &path);
    assert!(!decision.allowed, "a match over the limit of steps must not allow");
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
        let robots = parsed(&file);
        assert_eq!(robots.check(&url("/x")).second, None, "{} bytes", file.len());
        assert_eq!(robots.weight(), robots.bytes_to_match());
    }
    let plain = parsed(lines("Disallow: /mud$", 4));
    assert_eq!(plain.check(&url("/x")).second, Some(true));
    assert_eq!(plain.check(&url(&format!("/{}", "x".repeat(2_048)))).second, None, "a long URL");
    let each = (plain.weight() - plain.bytes_to_match()) / 4;
    assert!((16 << 10..20 << 10).contains(&each), "a regular expression is counted: {each}");
}

#[test]
fn r24_half_a_million_groups_and_rules_stay_small() {
    assert!(parsed("User-agent: x\nAllow:/\n".repeat(500_000)).is_empty());
    let robots = parsed(format!("User-agent: *\n{}", "Allow:/b\n".repeat(500_000)));
    assert!(robots.len() <= MAX_BYTES / "Allow:/b\n".len() && robots.check(&url("/a")).allowed);
}

#[test]
fn r26_crawl_delay_is_read_as_seconds_and_not_capped_here() {
    for (delays, expected) in [
        ("10|10s|10 seconds|10;|10,0|10 s # each", Some(10_000)),
        ("0.5 # s\nDisallow: /x", Some(500)),
        ("86400", Some(86_400_000)),
        ("2\nCrawl-delay: 7\nCrawl-delay: 5", Some(7_000)),
        ("|ten|-1|inf|nan|1e9|1:30", None),
    ] {
        for delay in delays.split('|') {
            let robots = parsed(format!("User-agent: *\nCrawl-delay: {delay}\n"));
            assert_eq!(robots.crawl_delay(), expected.map(Millis), "{delay}");
        }
    }
    assert_eq!(parsed("Crawl-delay: 3\nUser-agent: *\nDisallow: /x\n").crawl_delay(), None);
}

#[test]
fn r26_crawl_delay_is_that_of_the_agents_named_above_it() {
    for (file, seconds) in [
        ("User-agent: *\nCrawl-delay: 5\nUser-agent: CurlewBot\nCrawl-delay: 2\n", Some(2)),
        ("User-agent: *\nCrawl-delay: 5\nUser-agent: CurlewBot\nDisallow: /x\n", None),
        ("User-agent: *\nCrawl-delay: 5\nUser-agent: heron\nCrawl-delay: 90\n", Some(5)),
        ("User-agent: heron\nUser-agent: CurlewBot\nDisallow: /x\nCrawl-delay: 4\n", Some(4)),
    ] {
        assert_eq!(parsed(file).crawl_delay(), seconds.map(Millis::from_secs), "{file}");
    }
}
