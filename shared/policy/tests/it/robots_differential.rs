//! Compares our robots.txt matcher with two others: the crate texting_robots, and a literal implementation in this
//! file.
//!
//! Generated files avoid the known faults of texting_robots 0.2.2: it does not normalise percent-encoding, does not
//! match `User-agent: Foo/1.2`, lets Crawl-delay close a group, turns one rule with many stars into an error of the
//! whole file, obeys rules before any group, reads `$` inside a pattern as an anchor, lets an empty `Disallow:` cancel
//! `Disallow: /`, and does not strip fragments. Each fault has a test below or in `robots.rs`, where our matcher
//! follows RFC 9309.

use curlew_policy::robots::Robots;
use proptest::prelude::*;
use texting_robots::Robot;

const AGENTS: [&str; 4] = ["CurlewBot", "heron", "egret-bot", "*"];

#[derive(Clone, Debug)]
struct Group {
    agents: Vec<&'static str>,
    rules: Vec<(bool, String)>,
}

fn pattern() -> impl Strategy<Value = String> {
    // At most two stars, `$` only at the end, always from the root.
    ("/[ab/]{0,4}", prop::collection::vec("[*][ab/.]{1,3}", 0..3), prop::bool::weighted(0.2))
        .prop_map(|(head, tails, anchored)| format!("{head}{}{}", tails.concat(), if anchored { "$" } else { "" }))
}

fn group() -> impl Strategy<Value = Group> {
    let agents = prop::collection::vec(prop::sample::select(&AGENTS[..]), 1..3);
    let rules = prop::collection::vec((any::<bool>(), pattern()), 1..6);
    (agents, rules).prop_map(|(agents, rules)| Group { agents, rules })
}

fn groups() -> impl Strategy<Value = Vec<Group>> {
    prop::collection::vec(group(), 0..5)
}

fn written(groups: &[Group]) -> String {
    let mut file = String::from("# generated\n");
    for group in groups {
        for agent in &group.agents {
            file.push_str(&format!("User-agent: {agent}\n"));
        }
        for (allow, pattern) in &group.rules {
            file.push_str(&format!("{}: {pattern}\n", if *allow { "Allow" } else { "Disallow" }));
        }
        file.push('\n');
    }
    file
}

/// Decides literally according to RFC 9309 §2.2, at any cost.
fn obvious(groups: &[Group], token: &str, path: &str) -> bool {
    let named = |wanted: &str| groups.iter().any(|g| g.agents.contains(&wanted));
    let wanted = if named(token) { token } else { "*" };
    let rules = groups.iter().filter(|g| g.agents.contains(&wanted)).flat_map(|g| &g.rules);
    let matching = rules.filter(|(_, pattern)| obvious_match(pattern.as_bytes(), path.as_bytes()));
    matching.map(|(allow, pattern)| (pattern.len(), *allow)).max().is_none_or(|(_, allow)| allow)
}

fn obvious_match(pattern: &[u8], path: &[u8]) -> bool {
    match pattern {
        [] => true,
        [b'$'] => path.is_empty(),
        [b'*', rest @ ..] => (0..=path.len()).any(|n| obvious_match(rest, &path[n..])),
        [c, rest @ ..] => path.first() == Some(c) && obvious_match(rest, &path[1..]),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn agrees_with_the_rfc_word_for_word(groups in groups(), paths in prop::collection::vec("/[ab/.]{0,8}", 1..8)) {
        let file = written(&groups);
        for token in ["CurlewBot", "heron", "*"] {
            let ours = Robots::parse(file.as_bytes(), token);
            for path in &paths {
                prop_assert_eq!(ours.check_path(path).allowed, obvious(&groups, token, path), "{} {}\n{}", token, path, file);
            }
        }
    }

    #[test]
    fn agrees_with_texting_robots(groups in groups(), paths in prop::collection::vec("/[ab/.]{0,8}", 1..8)) {
        let file = written(&groups);
        for token in ["CurlewBot", "heron"] {
            let ours = Robots::parse(file.as_bytes(), token);
            let theirs = Robot::new(token, file.as_bytes()).unwrap();
            for path in &paths {
                prop_assert_eq!(ours.check_path(path).allowed, theirs.allowed(path), "{} {}\n{}", token, path, file);
            }
        }
    }

    #[test]
    fn no_bytes_make_it_panic(body in prop::collection::vec(any::<u8>(), 0..600), path in "/\\PC{0,40}") {
        let _ = Robots::parse(&body, "CurlewBot").check_path(&path);
    }

    #[test]
    fn a_disallow_more_never_allows_more(groups in groups(), more in pattern(), path in "/[ab/.]{0,8}") {
        // A group of ours exists already, so the added group merges with it and hides nothing.
        let file = format!("{}\nUser-agent: CurlewBot\nAllow: /a\n", written(&groups));
        let before = Robots::parse(file.as_bytes(), "CurlewBot").check_path(&path).allowed;
        let longer = format!("{file}\nUser-agent: CurlewBot\nDisallow: {more}\n");
        let after = Robots::parse(longer.as_bytes(), "CurlewBot").check_path(&path).allowed;
        prop_assert!(before || !after);
    }
}

/// Forms of an octet: as written in a rule or a path, as RFC 9309 §2.2.2 compares it, and as a `Disallow` compares it.
const WRITTEN: [(&str, &str, &str); 14] = [
    ("a", "a", "a"),
    ("%61", "a", "a"),
    ("/", "/", "/"),
    ("%2f", "%2F", "%2F"),
    (":", ":", ":"),
    ("%3a", "%3A", ":"),
    ("%3A", "%3A", ":"),
    ("?", "?", "?"),
    ("%3F", "%3F", "%3F"),
    ("é", "%C3%A9", "%C3%A9"),
    ("%2A", "%2A", "%2A"),
    ("%2b", "%2B", "+"),
    ("+", "+", "+"),
    ("%25", "%25", "%25"),
];

type Octets = Vec<(&'static str, &'static str, &'static str)>;

fn octets(lengths: std::ops::Range<usize>) -> impl Strategy<Value = Octets> {
    prop::collection::vec(prop::sample::select(&WRITTEN[..]), lengths)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Many rules have the same beginning as other rules and paths, and each octet is written in any form.
    #[test]
    fn agrees_with_the_rfc_word_for_word_in_every_encoding(
        trunk in octets(0..5),
        rules in prop::collection::vec((any::<bool>(), 0..6_usize, octets(0..3), prop::option::of(octets(0..2))), 0..12),
        paths in prop::collection::vec((0..6_usize, octets(0..4)), 1..6),
    ) {
        let grown = |from: usize, more: &Octets| [&trunk[..from.min(trunk.len())], &more[..]].concat();
        let column = |octets: &Octets, of: fn(&(&'static str, &'static str, &'static str)) -> &'static str| -> String {
            octets.iter().map(of).collect()
        };
        let rules: Vec<(bool, Octets)> = rules
            .iter()
            .map(|(allow, from, more, after_star)| {
                let star = after_star.iter().flat_map(|after| std::iter::once(("*", "*", "*")).chain(after.iter().copied()));
                (*allow, grown(*from, more).into_iter().chain(star).collect())
            })
            .collect();
        let lines = rules.iter().map(|(allow, rule)| {
            format!("{}: /{}\n", if *allow { "Allow" } else { "Disallow" }, column(rule, |o| o.0))
        });
        let file = format!("User-agent: *\n{}", lines.collect::<String>());
        let ours = Robots::parse(file.as_bytes(), "CurlewBot");
        for (from, more) in &paths {
            let path = grown(*from, more);
            let matching = rules.iter().filter(|(allow, rule)| {
                let of = if *allow { |o: &(_, &'static str, _)| o.1 } else { |o: &(_, _, &'static str)| o.2 };
                obvious_match(column(rule, of).as_bytes(), column(&path, of).as_bytes())
            });
            let best = matching.map(|(allow, rule)| (column(rule, |o| o.1).len(), *allow)).max();
            let path = format!("/{}", column(&path, |o| o.0));
            prop_assert_eq!(ours.check_path(&path).allowed, best.is_none_or(|(_, allow)| allow), "{}\n{}", path, file);
        }
    }
}

/// Lists differences of texting_robots 0.2.2 from RFC 9309, with the result according to the RFC. Our matcher does not
/// ask the crate where the crate refuses an allowed path. If a case fails after an update, the crate was fixed:
/// `second.rs` may drop a check, or the generator above may write such files.
#[test]
fn the_second_opinion_is_not_asked_where_it_is_wrong() {
    for (file, path, rfc) in [
        // Rules before any group.
        ("Disallow: /a\n", "/a", true),
        ("User_agent: heron\nDisallow: /a\n", "/a", true),
        // Groups that the crate does not recognize as ours.
        ("User-agent: CurlewBot/1.2\nAllow: /\nUser-agent: *\nDisallow: /\n", "/a", true),
        ("User-agent: CurlewBot/1.2\nDisallow: /\n", "/", false),
        ("\u{a0}User-agent: CurlewBot\nAllow: /\nUser-agent: *\nDisallow: /\n", "/a", true),
        ("\u{feff}\u{feff}User-agent: CurlewBot\nAllow: /\nUser-agent: *\nDisallow: /\n", "/a", true),
        (
            "User-agent: CurlewBot\nCrawl-delay: 2\nUser-agent: x\nAllow: /a\n\nUser-agent: CurlewBot\nDisallow: /",
            "/a",
            true,
        ),
        ("User-agent: CurlewBot\nCrawl-delay: 2\nUser-agent: heron\nDisallow: /a\n", "/a", false),
        (
            "User-agent: CurlewBot\nUser-agent \u{2013} see below\nDisallow: /\nUser agent of ours\nAllow: /b\n",
            "/b",
            true,
        ),
        // Patterns and URLs that the crate does not compare octet by octet.
        ("User-agent: *\nDisallow: /%7Ewader\n", "/~wader", false),
        ("User-agent: *\nDisallow: /\nAllow: /%7Ewader\n", "/~wader", true),
        ("User-agent: *\nDisallow: /\nAllow: /~wader\n", "/%7Ewader", true),
        ("User-agent: *\nDisallow: /\nAllow: /a$b\n", "/a$b", true),
        ("User-agent: *\nDisallow: /a%2Ab\n", "/a*b", false),
        ("User-agent: *\nDisallow: /\n\u{a0}Allow: /a\n", "/a", true),
        ("User-agent: *\nDisallow: /\nDisallow:\n", "/a", false),
    ] {
        let theirs = Robot::new("CurlewBot", file.as_bytes()).map(|robot| robot.allowed(path));
        let ours = Robots::parse(file.as_bytes(), "CurlewBot").check_path(path);
        assert_eq!((ours.allowed, ours.second.filter(|_| rfc)), (rfc, None), "{file:?}");
        assert!(theirs.is_err() || theirs.is_ok_and(|allowed| allowed != rfc), "{file:?}");
    }
    let file = "User-agent: *\nDisallow: /a/*/b$\nAllow: /a/\n\nUser-agent: heron\nDisallow: /\n";
    assert_eq!(Robots::parse(file.as_bytes(), "CurlewBot").check_path("/a/c").second, Some(true), "a plain file");
}
