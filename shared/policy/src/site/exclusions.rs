//! Exclusions by the operator: URLs that are never called, by substring (`/text/`), prefix, regular expression or
//! extension. A rule applies to the URL and to its canonical form, so that `/text/` also excludes `/%74ext/`.

use crate::address;
use regex::{RegexSet, RegexSetBuilder};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use url::Url;

/// Maximum number of rules of one kind.
pub const MAX_RULES: usize = 10_000;
/// Maximum number of regular expressions; each URL is matched against all of them at once.
pub const MAX_PATTERNS: usize = 1_000;
/// Maximum length of one rule in bytes.
pub const MAX_RULE_BYTES: usize = 2_048;
/// Maximum memory of the compiled regular expressions, and also of their matcher's cache, in bytes.
pub const MAX_COMPILED_BYTES: usize = 8 * 1024 * 1024;

/// Rules as written by an operator. All are case-sensitive, except extensions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Lists {
    /// A URL that contains one of these is excluded.
    pub substrings: Vec<String>,
    /// A URL that begins with one of these is excluded; each is an absolute http or https URL.
    pub prefixes: Vec<String>,
    /// A URL that one of these regular expressions matches anywhere is excluded.
    pub patterns: Vec<String>,
    /// A URL whose last path segment ends in one of these is excluded, such as `pdf`; a leading dot is ignored.
    pub extensions: Vec<String>,
}

/// The rule that excludes a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// Kind of rule.
    pub kind: &'static str,
    /// Rule as written.
    pub rule: String,
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the {} '{}'", self.kind, self.rule)
    }
}

/// Compiled rules; without any, nothing is excluded.
#[derive(Clone, Debug, Default)]
pub struct Exclusions {
    lists: Lists,
    prefixes: Vec<String>,
    extensions: Vec<String>,
    patterns: Option<RegexSet>,
}

impl Exclusions {
    /// Checks and compiles the rules; the error names the first that is empty, invalid or above a limit.
    pub fn compile(lists: &Lists) -> Result<Exclusions, String> {
        each_fits("substrings", &lists.substrings, MAX_RULES)?;
        each_fits("prefixes", &lists.prefixes, MAX_RULES)?;
        each_fits("patterns", &lists.patterns, MAX_PATTERNS)?;
        each_fits("extensions", &lists.extensions, MAX_RULES)?;
        Ok(Exclusions {
            lists: lists.clone(),
            prefixes: lists.prefixes.iter().map(|p| prefix(p)).collect::<Result<_, _>>()?,
            extensions: lists.extensions.iter().map(|e| extension(e)).collect::<Result<_, _>>()?,
            patterns: patterns(&lists.patterns)?,
        })
    }

    /// True if there is no rule.
    pub fn is_empty(&self) -> bool {
        self.lists == Lists::default()
    }

    /// Returns the rule that excludes a URL, if there is one. Its fragment is ignored.
    pub fn excludes(&self, url: &Url) -> Option<Reason> {
        if self.is_empty() {
            return None;
        }
        let plain = without_fragment(url);
        let canonical = address::canonical(url);
        self.excludes_text(&plain, url.path()).or_else(|| {
            (canonical.as_str() != plain).then(|| self.excludes_text(canonical.as_str(), canonical.path())).flatten()
        })
    }

    fn excludes_text(&self, text: &str, path: &str) -> Option<Reason> {
        let reason = |kind, list: &[String], n: usize| Some(Reason { kind, rule: list.get(n)?.clone() });
        if let Some(n) = self.lists.substrings.iter().position(|s| text.contains(s.as_str())) {
            return reason("substring", &self.lists.substrings, n);
        }
        if let Some(n) = self.prefixes.iter().position(|p| text.starts_with(p.as_str())) {
            return reason("prefix", &self.lists.prefixes, n);
        }
        if !self.extensions.is_empty() {
            let file = path.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
            if let Some(n) = self.extensions.iter().position(|e| file.ends_with(e.as_str())) {
                return reason("extension", &self.lists.extensions, n);
            }
        }
        let matched = self.patterns.as_ref().and_then(|set| set.matches(text).iter().next());
        matched.and_then(|n| reason("pattern", &self.lists.patterns, n))
    }
}

fn each_fits(what: &str, rules: &[String], most: usize) -> Result<(), String> {
    if rules.len() > most {
        return Err(format!("{what}: there are {} rules, and at most {most} are taken", rules.len()));
    }
    match rules.iter().find(|r| r.is_empty() || r.len() > MAX_RULE_BYTES) {
        // An empty rule would exclude everything.
        Some(rule) if rule.is_empty() => Err(format!("{what}: a rule is empty")),
        Some(_) => Err(format!("{what}: a rule is longer than {MAX_RULE_BYTES} bytes")),
        None => Ok(()),
    }
}

/// Normalizes a prefix like a URL: the host in lower case, without the default port.
fn prefix(text: &str) -> Result<String, String> {
    let wrong = |why: &str| format!("prefixes: '{text}' {why}");
    let url = Url::parse(text).map_err(|e| wrong(&format!("is no absolute URL ({e})")))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(wrong("is neither http nor https"));
    }
    Ok(without_fragment(&url).into_owned())
}

fn extension(text: &str) -> Result<String, String> {
    let bare = text.trim_start_matches('.').to_ascii_lowercase();
    if bare.is_empty() || bare.contains(['/', '?', '#']) {
        return Err(format!("extensions: '{text}' is no extension of a file's name"));
    }
    Ok(format!(".{bare}"))
}

fn patterns(list: &[String]) -> Result<Option<RegexSet>, String> {
    if list.is_empty() {
        return Ok(None);
    }
    let set = |rules: &[String]| {
        RegexSetBuilder::new(rules).size_limit(MAX_COMPILED_BYTES).dfa_size_limit(MAX_COMPILED_BYTES).build()
    };
    set(list).map(Some).map_err(|all| {
        // The set does not say which of its members is invalid.
        let one = list.iter().find_map(|rule| set(std::slice::from_ref(rule)).err().map(|e| (rule, e)));
        match one {
            Some((rule, why)) => format!("patterns: '{rule}' cannot be used: {}", one_line(&why)),
            None => format!("patterns: together they cannot be used: {}", one_line(&all)),
        }
    })
}

/// Returns the last line of an error message, which describes the mistake; the lines before it point into the pattern.
fn one_line(error: &regex::Error) -> String {
    error.to_string().lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned()
}

fn without_fragment(url: &Url) -> Cow<'_, str> {
    match url.fragment() {
        None => Cow::Borrowed(url.as_str()),
        Some(_) => {
            let mut url = url.clone();
            url.set_fragment(None);
            Cow::Owned(url.into())
        }
    }
}
