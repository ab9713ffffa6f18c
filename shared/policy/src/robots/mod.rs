//! robots.txt: the Robots Exclusion Protocol (RFC 9309), matched by our own code.
//!
//! [`Robots::parse`] keeps only the rules that hold for one product token, most specific first, and a tree of what stands
//! before their first star. [`Robots::check`] descends that tree once, and of the rules that it meets it takes the most
//! specific one that matches. [`classify`] and [`fresh_until`] say what a fetch of the file means and how
//! long its result may be used.
//!
//! Where the RFC leaves a choice, the one that fetches less is taken, and the place says so.

mod parse;
pub(crate) mod pattern;
mod standing;
pub mod tdmrep;
mod tree;

pub use standing::{
    Fetched, MAX_AGE, MIN_AGE, Standing, TOO_LONG_UNREACHABLE, UNREACHABLE_RETRY, WhileUnreachable, classify,
    fresh_until, while_unreachable,
};

use crate::page::preferences::Preferences;
use curlew_model::Millis;
use pattern::{Steps, TooManySteps};
use std::borrow::Cow;
use tree::Tree;
use url::Url;

/// Decompressed bytes that are read of a file; RFC 9309 §2.5 asks for at least 500 KiB.
pub const MAX_BYTES: usize = 512 * 1024;
/// Bytes that are read of a line, as Google's matcher has it: a buffer of eight times the longest URL of old browsers, less
/// the NUL that ends it.
pub const MAX_LINE_BYTES: usize = 8 * 2_083 - 1;
/// Byte comparisons that one check may take. A file that needs more was made to be slow: nothing is allowed then.
pub const MAX_STEPS: u64 = 1 << 24;

/// The path that is always allowed (RFC 9309 §2.2.2).
const ROBOTS_PATH: &str = "/robots.txt";

/// The rules of one robots.txt for one product token.
#[derive(Clone, Debug, Default)]
pub struct Robots {
    /// Most specific first; of two that are equally specific the allowing one.
    rules: Box<[Rule]>,
    /// Patterns and texts of all rules, one after another.
    bytes: Box<[u8]>,
    crawl_delay: Option<Millis>,
    tree: Tree,
    usage: Box<[Usage]>,
}

/// Whether a URL may be fetched, and because of which line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// True if it may be fetched.
    pub allowed: bool,
    /// The line that decided, as `Disallow: /x`; `None` if no rule matched.
    pub rule: Option<String>,
}

#[derive(Clone, Copy, Debug)]
struct Rule {
    allow: bool,
    /// The pattern ended in `$`.
    anchored: bool,
    /// Octets of the canonical pattern, by which the most specific rule is found.
    octets: u16,
    /// Octets of the pattern before its first star.
    prefix: u16,
    /// In canonical form; that of a `Disallow` is [folded](pattern::folded) besides.
    pattern: Span,
    text: Span,
}

/// A `Content-Usage` rule (draft-ietf-aipref-attach).
#[derive(Clone, Debug)]
struct Usage {
    pattern: Box<[u8]>,
    anchored: bool,
    octets: u16,
    preferences: Preferences,
}

/// A part of [`Robots::bytes`].
#[derive(Clone, Copy, Debug)]
struct Span {
    start: u32,
    length: u16,
}

impl Robots {
    /// Reads a robots.txt for one product token, such as `CurlewBot`. Never fails: what cannot be read is skipped
    /// (RFC 9309 §2.3.1.5), so an HTML page served in its place holds no rules.
    ///
    /// `body` is decompressed. Beyond [`MAX_BYTES`] nothing is read, and a line cut there is dropped; a line is read
    /// up to [`MAX_LINE_BYTES`]. The token `*` asks for the rules that hold for everyone.
    pub fn parse(body: &[u8], product_token: &str) -> Robots {
        parse::read(body, product_token)
    }

    /// No rules: everything is allowed.
    pub fn allow_all() -> Robots {
        Robots::default()
    }

    /// `Disallow: /` for everyone: only robots.txt itself is allowed.
    pub fn disallow_all() -> Robots {
        Robots::parse(b"User-agent: *\nDisallow: /\n", "*")
    }

    /// Whether this URL may be fetched: its path and query are compared, its fragment is not (RFC 9309 §2.2.2).
    /// The URL has to be of the scheme, host and port that the file was fetched for (§2.3).
    pub fn check(&self, url: &Url) -> Decision {
        self.check_path(&path_and_query(url))
    }

    /// As [`Robots::check`], for a path and query that begin with `/` and carry no fragment.
    pub fn check_path(&self, path_and_query: &str) -> Decision {
        if path_and_query == ROBOTS_PATH {
            return Decision { allowed: true, rule: None };
        }
        self.decide(path_and_query, &mut Steps::new(MAX_STEPS))
    }

    /// As [`Robots::check_path`], with the steps that it may take.
    fn decide(&self, path_and_query: &str, steps: &mut Steps) -> Decision {
        let path = pattern::canonical_path(path_and_query.as_bytes());
        let folded = pattern::folded(&path);
        let Ok(met) = self.met(&path, &folded, steps) else { return Decision { allowed: false, rule: None } };
        for rule in met.into_iter().filter_map(|rank| self.rules.get(rank as usize)) {
            let rest = if rule.allow { &path } else { &folded }.get(usize::from(rule.prefix)..).unwrap_or_default();
            let tail = self.slice(rule.pattern).get(usize::from(rule.prefix)..).unwrap_or_default();
            match pattern::tail_matches(tail, rule.anchored, rest, steps) {
                Ok(false) => {}
                Ok(true) => return Decision { allowed: rule.allow, rule: Some(self.line(rule)) },
                Err(TooManySteps) => return Decision { allowed: false, rule: Some(self.line(rule)) },
            }
        }
        Decision { allowed: true, rule: None }
    }

    /// Ranks of the rules whose prefix a path begins with, best first.
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

    /// The `Crawl-delay` of the group, rounded up to a whole millisecond; the longest if there are several.
    ///
    /// Not part of RFC 9309. It is not capped here. What is no plain decimal number is ignored.
    pub fn crawl_delay(&self) -> Option<Millis> {
        self.crawl_delay
    }

    /// What may be done with the page of a URL that may be fetched, as `Content-Usage` rules say it (draft-ietf-aipref-
    /// attach): the rule with the longest path counts, and of several as long ones who says no.
    pub fn usage(&self, url: &Url) -> Preferences {
        if self.usage.is_empty() {
            return Preferences::default();
        }
        let path = path_and_query(url);
        let path = pattern::canonical_path(path.as_bytes());
        let mut steps = Steps::new(MAX_STEPS);
        let mut found = Preferences::default();
        let mut longest = None;
        for rule in &self.usage {
            if longest.is_some_and(|octets| rule.octets < octets) {
                break;
            }
            // A file made to be slow has no preferences that could be known; it was allowed to be fetched.
            let Ok(matched) = pattern::matches(&rule.pattern, rule.anchored, &path, &mut steps) else { break };
            if matched {
                longest = Some(rule.octets);
                found = found.and(rule.preferences);
            }
        }
        found
    }

    /// Bytes of memory that this takes, about.
    pub fn weight(&self) -> usize {
        let usage: usize = self.usage.iter().map(|rule| size_of::<Usage>() + rule.pattern.len()).sum();
        size_of::<Robots>() + self.rules.len() * (size_of::<Rule>() + Tree::BYTES_PER_RULE) + self.bytes.len() + usage
    }

    /// How many rules are kept.
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

    /// What stands before the first star of a rule.
    fn prefix(&self, rule: &Rule) -> &[u8] {
        self.slice(rule.pattern).get(..usize::from(rule.prefix)).unwrap_or_default()
    }

    fn line(&self, rule: &Rule) -> String {
        let field = if rule.allow { "Allow" } else { "Disallow" };
        format!("{field}: {}", String::from_utf8_lossy(self.slice(rule.text)))
    }
}

/// What rules are compared with: path and query, without the fragment.
pub(crate) fn path_and_query(url: &Url) -> Cow<'_, str> {
    match url.query() {
        Some(query) => Cow::Owned(format!("{}?{query}", url.path())),
        None => Cow::Borrowed(url.path()),
    }
}

/// Where the robots.txt that holds for a URL lies: its own scheme, host and port, without credentials (RFC 9309 §2.3).
///
/// `None` for a URL that is neither http nor https.
pub fn robots_url(url: &Url) -> Option<Url> {
    let is_http = matches!(url.scheme(), "http" | "https");
    is_http.then(|| url.join(ROBOTS_PATH).ok()).flatten().and_then(|mut robots| {
        robots.set_username("").ok()?;
        robots.set_password(None).ok()?;
        Some(robots)
    })
}

/// The product token of a User-Agent value: `CurlewBot` of `CurlewBot/1.0 (+https://example.org/bot)`.
///
/// A part of what was given, so the token that robots.txt is asked for is always a substring of the header that is
/// sent (RFC 9309 §2.2.1).
pub fn product_token(user_agent: &str) -> &str {
    let value = user_agent.trim_start();
    let end = value.find(|c: char| !is_token_char(c)).unwrap_or(value.len());
    value.get(..end).unwrap_or_default()
}

/// `tchar` of RFC 9110 §5.6.2, of which a product name is made.
fn is_token_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Steps that one check takes.
    fn steps(rules: &[String], path: &str) -> u64 {
        let file = format!("User-agent: *\n{}\n", rules.join("\n"));
        let mut steps = Steps::new(u64::MAX);
        let _ = Robots::parse(file.as_bytes(), "CurlewBot").decide(path, &mut steps);
        u64::MAX - steps.left()
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

        /// Rules made of a unit as the URL is, some of which end in what the URL has not. The file stays below its limit.
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
            // What a URL has beyond a rule's first star is there to be searched by each such rule, once.
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
    fn r24_long_rules_and_a_long_url_stay_far_below_the_limit() {
        let rules: Vec<String> = (0..30).map(|n| format!("Allow: /{}{n}", "a".repeat(16_000))).collect();
        let taken = steps(&rules, &format!("/{}", "a".repeat(16_000)));
        assert!(taken < 100_000, "{taken}");
    }
}
