//! Fuzz targets of robots.txt, page directives and licences.

use crate::input::{first_line, unfolded};
use curlew_policy::page::directives::{Directives, parse_date};
use curlew_policy::robots::license::LicenseTerms;
use curlew_policy::robots::{MAX_LINE_BYTES, Robots};
use url::Url;

/// Parses a robots.txt and checks a path, which is the first line of the input.
pub(crate) fn robots(data: &[u8]) {
    let (path, file) = first_line(data);
    let (path, file) = (format!("/{}", String::from_utf8_lossy(&unfolded(path))), unfolded(file));
    for token in ["CurlewBot", "*"] {
        let robots = Robots::parse(&file, token);
        let decision = robots.check_path(&path);
        assert_eq!(decision, Robots::parse(&file, token).check_path(&path), "the same twice");
        assert!(robots.check_path("/robots.txt").allowed);
        if let Ok(url) = Url::parse(&format!("https://reed.example{path}")) {
            let _ = (robots.check(&url), robots.signals(&url), robots.crawl_delay(), robots.weight());
        }
        assert!(
            decision.allowed || decision.rule.is_some() || decision.second == Some(false),
            "nothing is forbidden without a rule"
        );
    }
}

/// Compares the matcher with a literal implementation of RFC 9309 §2.2, on rules over a small alphabet. A check that
/// runs out of steps forbids the path. The other matcher has no limit, so the comparison bounds the work as well.
pub(crate) fn matching(data: &[u8]) {
    const ALPHABET: &[u8] = b"/ab*\n";
    let spelled: Vec<u8> = unfolded(data).iter().map(|byte| ALPHABET[usize::from(*byte) % ALPHABET.len()]).collect();
    let (path, rules) = first_line(&spelled);
    let path = format!("/{}", String::from_utf8_lossy(path).replace('*', "c"));
    let rules: Vec<(bool, bool, String)> = rules
        .split(|byte| *byte == b'\n')
        // The parser ignores the end of a longer line.
        .filter(|rule| rule.len() + "Disallow: /$".len() <= MAX_LINE_BYTES)
        .map(|rule| (rule.len() % 2 == 0, rule.len() % 3 == 0, format!("/{}", String::from_utf8_lossy(rule))))
        .take(64)
        .collect();
    let octets = |(_, anchored, rule): &(bool, bool, String)| rule.len() + usize::from(*anchored);
    let meets = |(_, anchored, rule): &(bool, bool, String)| meets(rule.as_bytes(), *anchored, path.as_bytes());
    let best = rules.iter().filter(|rule| meets(rule)).map(|rule| (octets(rule), rule.0)).max();
    let lines = rules.iter().map(|(allow, anchored, rule)| {
        format!("{}: {rule}{}\n", if *allow { "Allow" } else { "Disallow" }, if *anchored { "$" } else { "" })
    });
    let file = format!("User-agent: *\n{}", lines.collect::<String>());
    let allowed = Robots::parse(file.as_bytes(), "CurlewBot").check_path(&path).allowed;
    assert_eq!(allowed, best.is_none_or(|(_, allow)| allow), "{path} by\n{file}");
}

/// Returns whether a pattern with stars matches a path. Each piece between two stars matches at its first occurrence.
fn meets(pattern: &[u8], anchored: bool, path: &[u8]) -> bool {
    let mut pieces = pattern.split(|byte| *byte == b'*');
    let Some(mut rest) = path.strip_prefix(pieces.next().unwrap_or_default()) else { return false };
    let last = if anchored { pieces.next_back() } else { None };
    if anchored && last.is_none() {
        return rest.is_empty();
    }
    for piece in pieces.filter(|piece| !piece.is_empty()) {
        let Some(at) = rest.windows(piece.len()).position(|window| window == piece) else { return false };
        rest = &rest[at + piece.len()..];
    }
    last.is_none_or(|last| rest.ends_with(last))
}

/// Reads directives: the first line is a header, the second the name of a meta tag, and the rest the tag's content.
pub(crate) fn directives(data: &[u8]) {
    let data = unfolded(data);
    let text = String::from_utf8_lossy(&data);
    let mut lines = text.splitn(3, '\n');
    let mut next = || lines.next().unwrap_or_default().to_owned();
    let (header, name, content) = (next(), next(), next());
    let _ = parse_date(&header);
    let headers = [header];
    let one = Directives::gather(&[], &headers, "CurlewBot");
    let both = Directives::gather(&[(name, content)], &headers, "CurlewBot");
    assert!(both.noindex >= one.noindex && both.nosnippet >= one.nosnippet, "a second directive takes none back");
    let again = Directives::gather(&[("robots".into(), both.names().join(", "))], &[], "CurlewBot");
    assert_eq!(again, both, "directives that were written are read");
    let _ = LicenseTerms::parse(&data).is_empty();
}
