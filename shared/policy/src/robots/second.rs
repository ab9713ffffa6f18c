//! A second opinion on robots.txt: the crate texting_robots, which is independent of our matcher.
//!
//! A URL may be fetched only if both allow it. Our matcher decides alone where the crate wrongly refuses what the RFC
//! allows (one function for each such form of a file, pattern or URL), panics, or would take too long.

use super::parse::{AgentMatch, Line, agent_match, is_line_end, parse_line};
use super::pattern::stays_as_it_is;
use std::panic::{AssertUnwindSafe, catch_unwind};
use texting_robots::Robot;

const MAX_BYTES: usize = 64 * 1024;
const MAX_LINES: usize = 2_000;
const MAX_PATTERN_BYTES: usize = 512;
/// Maximum number of stars in a pattern: the crate searches the URL once for each.
const MAX_STARS: usize = 16;
/// Maximum number of `$` in a file: the crate compiles a regular expression for each.
const MAX_REGEXES: usize = 4;
const MAX_PATH_BYTES: usize = 2_048;
/// Measured memory of one regular expression in bytes.
pub(super) const REGEX_BYTES: usize = 16 * 1024;
/// Memory of one rule without its text, in bytes.
pub(super) const RULE_BYTES: usize = 128;

#[derive(Debug)]
pub(super) struct SecondOpinion(Robot);

impl SecondOpinion {
    pub(super) fn read(text: &[u8], token: &str) -> Option<SecondOpinion> {
        if !is_within_limits(text) || !is_legible(text, token.as_bytes()) {
            return None;
        }
        let mut robot = catch_unwind(|| Robot::new(token, text)).ok()?.ok()?;
        // Sitemaps take memory, and `sitemaps` reads them.
        robot.sitemaps = Vec::new();
        Some(SecondOpinion(robot))
    }

    pub(super) fn allows(&self, path: &str) -> Option<bool> {
        if path.len() > MAX_PATH_BYTES || !path.bytes().all(stays_as_it_is) {
            return None;
        }
        catch_unwind(AssertUnwindSafe(|| self.0.allowed(path))).ok()
    }
}

fn is_within_limits(text: &[u8]) -> bool {
    text.len() <= MAX_BYTES
        && memchr::memchr2_iter(b'\n', b'\r', text).count() < MAX_LINES
        && memchr::memchr_iter(b'$', text).count() <= MAX_REGEXES
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Group {
    Missing,
    Named,
    /// Names, followed by a Crawl-delay.
    Delayed,
    /// Names and rules.
    Ruled,
}

/// True if the crate divides a file into the same groups and rules as RFC 9309.
fn is_legible(text: &[u8], token: &[u8]) -> bool {
    if text.contains(&0) {
        return false;
    }
    let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
    let mut group = Group::Missing;
    for line in text.split(|b| is_line_end(*b)) {
        let parsed = parse_line(line);
        if !is_plainly_written(line, &parsed) {
            return false;
        }
        match parsed {
            // The crate ends a group at its Crawl-delay, even if more names follow.
            Line::UserAgent(_) if group == Group::Delayed => return false,
            Line::UserAgent(name) if !is_plain_name(name, token) => return false,
            Line::UserAgent(_) => group = Group::Named,
            // The crate obeys rules that are in no group.
            Line::Allow(_) | Line::Disallow(_) if group == Group::Missing => return false,
            Line::Allow(pattern) | Line::Disallow(pattern) if !is_plain_pattern(pattern) => return false,
            Line::Allow(_) | Line::Disallow(_) => group = Group::Ruled,
            Line::CrawlDelay(_) if group == Group::Named => group = Group::Delayed,
            _ => {}
        }
    }
    true
}

/// True if the crate reads a line like our matcher; it knows fewer spellings, and takes some prose for a name.
fn is_plainly_written(line: &[u8], parsed: &Line<'_>) -> bool {
    let start = line.iter().take_while(|b| matches!(b, b' ' | b'\t')).count();
    let begins_with = |key: &str| {
        let rest = line.get(start..).and_then(|line| line.split_at_checked(key.len()));
        rest.is_some_and(|(word, rest)| {
            word.eq_ignore_ascii_case(key.as_bytes()) && matches!(rest, [b':' | b' ' | b'\t', ..])
        })
    };
    let is_name = ["user-agent", "user agent", "useragent"].into_iter().any(begins_with);
    match parsed {
        Line::UserAgent(_) => is_name,
        Line::Allow(_) => begins_with("allow"),
        _ => !is_name,
    }
}

/// True if an agent's name is written in the only form that the crate recognizes.
fn is_plain_name(name: &[u8], token: &[u8]) -> bool {
    match agent_match(name, token) {
        AgentMatch::Us => name.eq_ignore_ascii_case(token),
        AgentMatch::Everyone => name == b"*",
        AgentMatch::Other => true,
    }
}

/// True if the crate compares a pattern correctly octet by octet: it does not normalize, and treats any `$` as an end.
fn is_plain_pattern(pattern: &[u8]) -> bool {
    let body = pattern.strip_suffix(b"$").unwrap_or(pattern);
    let stars = body.iter().filter(|b| **b == b'*').count();
    pattern.len() <= MAX_PATTERN_BYTES && stars <= MAX_STARS && body.iter().all(|b| *b == b'*' || stays_as_it_is(*b))
}
