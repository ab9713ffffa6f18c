//! robots.txt: the Robots Exclusion Protocol (RFC 9309), matched by our own code and by a second matcher.
//!
//! Where the RFC leaves a choice, the code chooses the option that fetches less; a comment says so there.
//!
#![doc = include_str!("../../README.md")]

pub mod license;
mod parse;
pub(crate) mod pattern;
mod second;
mod sitemaps;
mod standing;
mod tree;

pub use sitemaps::sitemaps;
pub use standing::{
    Fetched, LicenseAnswer, MAX_AGE, MIN_AGE, Standing, TOO_LONG_UNREACHABLE, UNREACHABLE_RETRY, classify,
    classify_license, fresh_until, stands_in,
};

use crate::page::signals::ContentSignals;
use curlew_model::Millis;
use pattern::{Pattern, Steps, TooManySteps};
use second::SecondOpinion;
use std::{borrow::Cow, sync::Arc};
use tree::Tree;
use url::Url;

/// Maximum number of decompressed bytes that are read of a file; RFC 9309 §2.5 requires at least 500 KiB.
pub const MAX_BYTES: usize = 512 * 1024;
/// Maximum number of bytes that are read of a line, as in Google's matcher.
pub const MAX_LINE_BYTES: usize = 8 * 2_083 - 1;
/// Maximum number of byte comparisons in one check. A file that needs more was made to be slow, and allows nothing.
pub const MAX_STEPS: u64 = 1 << 24;

/// The path that is always allowed (RFC 9309 §2.2.2).
const ROBOTS_PATH: &str = "/robots.txt";

/// The rules of one robots.txt for one product token; by default none, so that everything is allowed.
#[derive(Clone, Debug, Default)]
pub struct Robots {
    /// Most specific rule first; among equally specific rules, allowing ones first.
    rules: Vec<Rule>,
    /// Patterns and texts of all rules, concatenated.
    bytes: Vec<u8>,
    crawl_delay: Option<Millis>,
    tree: Tree,
    /// Longest path first.
    signals: Vec<PathSignals>,
    license: Option<Box<str>>,
    second: Option<Arc<SecondOpinion>>,
}

/// Decision on a URL, with the line that determined it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// True if the URL may be fetched: no matcher refuses it.
    pub allowed: bool,
    /// Line by which our own matcher decided, such as `Disallow: /x`; `None` if no rule matched.
    pub rule: Option<String>,
    /// Verdict of texting_robots, asked if our matcher allows the URL; `Some(false)` means that it alone refuses.
    pub second: Option<bool>,
}

#[derive(Clone, Copy, Debug)]
struct Rule {
    allow: bool,
    anchored: bool,
    /// Length of the canonical pattern in octets, which determines how specific the rule is.
    octets: u16,
    /// Length of the pattern before its first star, in octets.
    prefix: u16,
    /// Pattern in canonical form; that of a `Disallow` is also [folded](pattern::folded).
    pattern: Span,
    text: Span,
}

/// A `Content-Signal` rule (contentsignals.org) for paths that match.
#[derive(Clone, Debug)]
struct PathSignals {
    pattern: Pattern,
    signals: ContentSignals,
}

#[derive(Clone, Copy, Debug)]
struct Span {
    start: u32,
    length: u16,
}

impl Robots {
    /// Parses a decompressed robots.txt for one product token, or for everyone (`*`). Never fails: unreadable lines are
    /// skipped (RFC 9309 §2.3.1.5), as is everything beyond [`MAX_BYTES`] and [`MAX_LINE_BYTES`].
    pub fn parse(body: &[u8], product_token: &str) -> Robots {
        let text = parse::text_of(body);
        let second = SecondOpinion::read(&text, self::product_token(product_token)).map(Arc::new);
        Robots { second, ..parse::read(&text, product_token) }
    }

    /// Returns the rule `Disallow: /` for everyone: only robots.txt itself is allowed.
    pub fn disallow_all() -> Robots {
        Robots::parse(b"User-agent: *\nDisallow: /\n", "*")
    }

    /// Decides if a URL of the file's scheme, host and port (RFC 9309 §2.3) may be fetched, by path and query.
    pub fn check(&self, url: &Url) -> Decision {
        self.check_on(url.host_str(), &path_and_query(url))
    }

    /// Checks a path and query, beginning with `/` and without a fragment, on any host; see [`Robots::check`].
    pub fn check_path(&self, path_and_query: &str) -> Decision {
        self.check_on(None, path_and_query)
    }

    fn check_on(&self, host: Option<&str>, path_and_query: &str) -> Decision {
        if path_and_query == ROBOTS_PATH {
            return Decision { allowed: true, rule: None, second: None };
        }
        let ours = self.decide(host, path_and_query, &mut Steps::new(MAX_STEPS));
        let second = self.second.as_ref().filter(|_| ours.allowed).and_then(|second| second.allows(path_and_query));
        Decision { allowed: ours.allowed && second != Some(false), second, ..ours }
    }

    fn decide(&self, host: Option<&str>, path_and_query: &str, steps: &mut Steps) -> Decision {
        let line = |rule: &Rule| {
            let field = if rule.allow { "Allow" } else { "Disallow" };
            format!("{field}: {}", String::from_utf8_lossy(self.slice(rule.text)))
        };
        let decision = |allowed, rule: Option<&Rule>| Decision { allowed, rule: rule.map(line), second: None };
        let path = pattern::canonical_path(path_and_query.as_bytes());
        let folded = pattern::folded(&path);
        let Ok(met) = self.met(&path, &folded, steps) else { return decision(false, None) };
        for rule in met.into_iter().filter_map(|rank| self.rules.get(rank as usize)) {
            if !self.is_for(rule, host) {
                continue;
            }
            let rest = if rule.allow { &path } else { &folded }.get(usize::from(rule.prefix)..).unwrap_or_default();
            let tail = self.slice(rule.pattern).get(usize::from(rule.prefix)..).unwrap_or_default();
            match pattern::tail_matches(tail, rule.anchored, rest, steps) {
                Ok(false) => {}
                Ok(true) => return decision(rule.allow, Some(rule)),
                Err(TooManySteps) => return decision(false, Some(rule)),
            }
        }
        decision(true, None)
    }

    /// False if a rule is an absolute URL of another host; ports are not compared.
    fn is_for(&self, rule: &Rule, host: Option<&str>) -> bool {
        let (Some((named, _)), Some(host)) = (pattern::split_absolute(self.slice(rule.text)), host) else {
            return true;
        };
        let named = named.split(|b| *b == b':').next().unwrap_or_default();
        named.eq_ignore_ascii_case(host.as_bytes())
    }

    /// Returns the ranks of the rules whose prefix is a prefix of the path, best first.
    fn met(&self, path: &[u8], folded: &[u8], steps: &mut Steps) -> Result<Vec<u32>, TooManySteps> {
        let rule_of = |rank: u32| self.rules.get(rank as usize);
        let prefix_of = |rank: u32| rule_of(rank).map_or(&[][..], |rule| self.prefix(rule));
        let mut met = self.tree.met(path, steps, prefix_of)?;
        if path != folded {
            met.retain(|rank| rule_of(*rank).is_some_and(|rule| rule.allow));
            let forbidding = self.tree.met(folded, steps, prefix_of)?;
            met.extend(forbidding.into_iter().filter(|rank| rule_of(*rank).is_some_and(|rule| !rule.allow)));
            met.sort_unstable();
        }
        Ok(met)
    }

    /// Returns the uncapped `Crawl-delay` of the group (not part of RFC 9309), the longest if there are several.
    pub fn crawl_delay(&self) -> Option<Millis> {
        self.crawl_delay
    }

    /// Returns the content signals for a URL: the rule with the longest path applies; among equals, "no" wins.
    pub fn signals(&self, url: &Url) -> ContentSignals {
        let path = path_and_query(url);
        let path = pattern::canonical_path(path.as_bytes());
        let mut steps = Steps::new(MAX_STEPS);
        let (mut longest, mut signals) = (0, ContentSignals::default());
        for rule in &self.signals {
            match rule.pattern.matches(&path, &mut steps) {
                _ if rule.pattern.octets < longest => break,
                Ok(true) => (longest, signals) = (rule.pattern.octets, signals.and(&rule.signals)),
                Ok(false) => {}
                // A file made to be slow is not read further.
                Err(TooManySteps) => break,
            }
        }
        signals
    }

    /// Returns the URL of the licence (RSL 1.0): from the crawler's group, otherwise the first in the file.
    pub fn license(&self) -> Option<&str> {
        self.license.as_deref()
    }

    /// Returns the approximate memory use in bytes.
    pub fn weight(&self) -> usize {
        let regexes = self.rules.iter().filter(|rule| rule.anchored).count() * second::REGEX_BYTES;
        // The second matcher keeps each pattern twice.
        let twice = self.rules.len() * second::RULE_BYTES + 2 * self.bytes.len();
        self.bytes_to_match() + self.second.as_ref().map_or(0, |_| twice + regexes)
    }

    /// Returns the number of bytes that a check may have to read.
    pub fn bytes_to_match(&self) -> usize {
        let signals =
            self.signals.iter().map(|rule| size_of_val(rule) + rule.pattern.bytes.len() + rule.signals.weight());
        let rules = self.rules.len() * (size_of::<Rule>() + Tree::BYTES_PER_RULE) + self.bytes.len();
        let license = self.license.as_ref().map_or(0, |license| license.len());
        size_of::<Robots>() + rules + signals.sum::<usize>() + license
    }

    /// Returns the number of rules.
    pub fn len(&self) -> usize {
        self.rules.len()
    }

    /// True if there is no rule, so that everything is allowed.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    fn slice(&self, span: Span) -> &[u8] {
        let start = span.start as usize;
        self.bytes.get(start..start + usize::from(span.length)).unwrap_or_default()
    }

    fn prefix(&self, rule: &Rule) -> &[u8] {
        self.slice(rule.pattern).get(..usize::from(rule.prefix)).unwrap_or_default()
    }
}

/// Returns the path and query of a URL.
pub(crate) fn path_and_query(url: &Url) -> Cow<'_, str> {
    match url.query() {
        Some(query) => Cow::Owned(format!("{}?{query}", url.path())),
        None => Cow::Borrowed(url.path()),
    }
}

/// Returns the address of the robots.txt for a URL (RFC 9309 §2.3); `None` unless it is http or https.
pub fn robots_url(url: &Url) -> Option<Url> {
    let is_http = matches!(url.scheme(), "http" | "https");
    let mut robots = url.join(ROBOTS_PATH).ok().filter(|_| is_http)?;
    robots.set_username("").ok()?;
    robots.set_password(None).ok()?;
    Some(robots)
}

/// Returns the product token of a User-Agent value, `CurlewBot` for `CurlewBot/1.0 (+https://example.org/bot)`: a part
/// of the value, so that robots.txt is matched with the name that is sent (RFC 9309 §2.2.1).
pub fn product_token(user_agent: &str) -> &str {
    let value = user_agent.trim_start();
    // `tchar` of RFC 9110 §5.6.2.
    let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    let end = value.find(|c: char| !is_token(c)).unwrap_or(value.len());
    value.get(..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns the number of steps of one check.
    fn steps(rules: &[String], path: &str) -> u64 {
        let file = format!("User-agent: *\n{}\n", rules.join("\n"));
        let mut steps = Steps::new(u64::MAX);
        let _ = Robots::parse(file.as_bytes(), "CurlewBot").decide(None, path, &mut steps);
        u64::MAX - steps.left()
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

        /// Rules repeat the same unit as the URL, some with an ending that the URL lacks, within the limit of a file.
        #[test]
        fn r24_twice_the_rules_or_the_url_takes_about_twice_the_steps(
            unit in "[ab/]{1,3}",
            tails in prop::collection::vec("(|[ab]|[*][ab]{1,3}|[*]aab[$]|b[$]|%3A|c)", 2..16),
            times in 100_usize..500,
        ) {
            let rule = |times: usize, tail: &String| format!("Disallow: /{}{tail}", unit.repeat(times));
            let url = |times: usize| format!("/{}", unit.repeat(times));
            let rules = |times: usize| tails.iter().map(|tail| rule(times, tail)).collect::<Vec<String>>();
            let once = steps(&rules(times), &url(times));
            let more: Vec<String> = [rules(times), rules(times - 1)].concat();
            // Each rule may search the rest of the URL beyond its first star once.
            let searched = (tails.len() * unit.len() * times) as u64;
            for (what, twice, more) in [
                ("rules as long", steps(&more, &url(times)), 0),
                ("longer rules", steps(&rules(2 * times), &url(times)), 0),
                ("a longer URL", steps(&rules(times), &url(2 * times)), searched),
                ("longer rules and URL", steps(&rules(2 * times), &url(2 * times)), 0),
            ] {
                prop_assert!(2 * twice <= 5 * once + 2 * more, "{what}: {once} became {twice}");
            }
        }
    }

    #[test]
    fn what_the_second_matcher_alone_refuses_is_not_allowed() {
        let second = SecondOpinion::read(b"User-agent: *\nDisallow: /a\n", "CurlewBot").map(Arc::new);
        let robots = Robots { second, ..Robots::parse(b"User-agent: *\nDisallow: /b\n", "CurlewBot") };
        let asked = |path| {
            let decision = robots.check_path(path);
            (decision.allowed, decision.second)
        };
        assert_eq!(asked("/a"), (false, Some(false)));
        assert_eq!(asked("/b"), (false, None), "our own forbids it already");
        assert_eq!(asked("/c"), (true, Some(true)));
        assert_eq!(asked("/%61"), (true, None));
        assert_eq!(asked("/robots.txt"), (true, None));
    }

    #[test]
    fn r24_long_rules_and_a_long_url_stay_far_below_the_limit() {
        let rules: Vec<String> = (0..30).map(|n| format!("Allow: /{}{n}", "a".repeat(16_000))).collect();
        let taken = steps(&rules, &format!("/{}", "a".repeat(16_000)));
        assert!(taken < 100_000, "{taken}");
    }
}
