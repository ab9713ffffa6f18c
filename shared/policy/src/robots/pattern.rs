//! Canonical form of paths and patterns, and matching of patterns (RFC 9309 §2.2.2, §2.2.3).
//!
//! Unreserved characters are literal; characters that are neither reserved nor unreserved are percent-encoded. An
//! encoded reserved character stays encoded, since `%2F` is not `/`. `*`, `$` and `'` (which URL parsers encode only in
//! queries) are always encoded.
//!
//! RFC 9309 §2.2.2 can be read in two ways for other reserved characters: encode them before the comparison, or decode
//! only unreserved ones. The code chooses what fetches less: a `Disallow` forbids both forms ([`folded`]), an `Allow`
//! allows only its literal form. `/`, `?` and `#` are exempt, since they divide a URL into parts.

use memchr::memmem;
use std::borrow::Cow;

/// Reserved characters (RFC 3986 §2.2) that a `Disallow` also matches in their encoded form.
const FOLDED: &[u8] = b":[]@!&()+,;=";

pub(crate) struct Steps(u64);

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TooManySteps;

impl Steps {
    pub(crate) fn new(limit: u64) -> Steps {
        Steps(limit)
    }

    #[cfg(test)]
    pub(super) fn left(&self) -> u64 {
        self.0
    }

    pub(super) fn spend(&mut self, steps: usize) -> Result<(), TooManySteps> {
        self.0 = self.0.checked_sub(steps as u64).ok_or(TooManySteps)?;
        Ok(())
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pattern {
    /// Octets of the pattern, where `*` stands for any octets, without a final `$`.
    pub(crate) bytes: Vec<u8>,
    pub(crate) anchored: bool,
    /// Length of the pattern in octets, including special characters, which determines the most specific rule.
    pub(crate) octets: usize,
}

pub(crate) fn canonical_pattern(value: &[u8]) -> Pattern {
    let (value, anchored) = if let [rest @ .., b'$'] = value { (rest, true) } else { (value, false) };
    let mut bytes = Vec::with_capacity(value.len());
    canonical(value, true, &mut bytes);
    let octets = bytes.len() + usize::from(anchored);
    // A trailing star has no effect, since a rule is a prefix.
    bytes.dedup_by(|a, b| *a == b'*' && *b == b'*');
    if !anchored && bytes.last() == Some(&b'*') {
        bytes.pop();
    }
    Pattern { bytes, anchored, octets }
}

pub(crate) fn canonical_path(path: &[u8]) -> Cow<'_, [u8]> {
    if path.iter().all(|b| stays_as_it_is(*b)) {
        return Cow::Borrowed(path);
    }
    let mut out = Vec::with_capacity(path.len() + 16);
    canonical(path, false, &mut out);
    Cow::Owned(out)
}

/// Decodes encoded reserved characters in a canonical path or pattern, for the comparison with a `Disallow`.
pub(crate) fn folded<'a>(canonical: &Cow<'a, [u8]>) -> Cow<'a, [u8]> {
    let is_folded =
        |at: usize| hex_pair(canonical.get(at + 1..)?).map(|(value, _)| value).filter(|v| FOLDED.contains(v));
    if !memchr::memchr_iter(b'%', canonical).any(|at| is_folded(at).is_some()) {
        return canonical.clone();
    }
    let mut out = Vec::with_capacity(canonical.len());
    let mut at = 0;
    while let Some(byte) = canonical.get(at) {
        let plain = if *byte == b'%' { is_folded(at) } else { None };
        out.push(plain.unwrap_or(*byte));
        at += if plain.is_some() { 3 } else { 1 };
    }
    Cow::Owned(out)
}

pub(super) fn split_absolute(value: &[u8]) -> Option<(&[u8], &[u8])> {
    let after = |scheme: &str| {
        let (start, after) = value.split_at_checked(scheme.len())?;
        start.eq_ignore_ascii_case(scheme.as_bytes()).then_some(after)
    };
    let after = after("https://").or_else(|| after("http://"))?;
    Some(after.split_at(memchr::memchr(b'/', after).unwrap_or(after.len())))
}

impl Pattern {
    pub(crate) fn matches(&self, path: &[u8], steps: &mut Steps) -> Result<bool, TooManySteps> {
        let star = memchr::memchr(b'*', &self.bytes).unwrap_or(self.bytes.len());
        let (prefix, tail) = self.bytes.split_at(star);
        steps.spend(1 + prefix.len().min(path.len()))?;
        path.strip_prefix(prefix).map_or(Ok(false), |rest| tail_matches(tail, self.anchored, rest, steps))
    }
}

/// True if the rest of a pattern matches the rest of a path. Takes linear time: each piece is searched once, leftmost.
pub(super) fn tail_matches(
    tail: &[u8],
    anchored: bool,
    mut rest: &[u8],
    steps: &mut Steps,
) -> Result<bool, TooManySteps> {
    let Some(pieces) = tail.strip_prefix(b"*") else { return Ok(!anchored || rest.is_empty()) };
    let mut pieces = pieces.split(|b| *b == b'*');
    let last = if anchored { pieces.next_back() } else { None };
    for piece in pieces {
        let Some(at) = memmem::find(rest, piece) else {
            steps.spend(piece.len() + rest.len())?;
            return Ok(false);
        };
        let end = at + piece.len();
        steps.spend(piece.len() + end)?;
        rest = rest.get(end..).unwrap_or_default();
    }
    let last = last.unwrap_or_default();
    steps.spend(last.len().min(rest.len()))?;
    Ok(rest.ends_with(last))
}

fn canonical(raw: &[u8], is_pattern: bool, out: &mut Vec<u8>) {
    let mut rest = raw;
    while let [byte, tail @ ..] = rest {
        rest = tail;
        if *byte == b'%'
            && let Some((value, after)) = hex_pair(tail)
        {
            rest = after;
            if is_unreserved(value) { out.push(value) } else { push_encoded(value, out) }
        } else if stays_as_it_is(*byte) || (is_pattern && *byte == b'*') {
            out.push(*byte);
        } else {
            push_encoded(*byte, out);
        }
    }
}

fn hex_pair(bytes: &[u8]) -> Option<(u8, &[u8])> {
    let [high, low, rest @ ..] = bytes else { return None };
    let digit = |b: u8| char::from(b).to_digit(16).and_then(|d| u8::try_from(d).ok());
    Some((digit(*high)? << 4 | digit(*low)?, rest))
}

fn push_encoded(byte: u8, out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    out.extend([b'%', DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
}

/// True for unreserved characters (RFC 3986 §2.3).
fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~".contains(&byte)
}

/// True for unreserved characters, and for reserved ones (RFC 3986 §2.2) except the three that are always encoded.
pub(super) fn stays_as_it_is(byte: u8) -> bool {
    is_unreserved(byte) || b":/?#[]@!&()+,;=".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matched(rule: &str, path: &str) -> bool {
        let p = canonical_pattern(rule.as_bytes());
        p.matches(&canonical_path(path.as_bytes()), &mut Steps::new(1 << 20)) == Ok(true)
    }

    #[test]
    fn wildcards_and_anchors() {
        for (rule, path, expected) in [
            ("/", "/", true),
            ("/a", "/ab", true),
            ("/a$", "/ab", false),
            ("/a$", "/a", true),
            ("/*", "/x", true),
            ("*", "/x", true),
            ("*/feed", "/a/b/feed/c", true),
            ("/a*c", "/abbbc", true),
            ("/a*c$", "/abcbc", true),
            ("/a*c$", "/abcbd", false),
            ("/a**c$", "/ac", true),
            ("/ab*b$", "/ab", false),
            ("/*.php$", "/x.php?y", false),
            ("/a*$", "/ab", true),
            ("/*ab*ab$", "/ab", false),
            ("/*ab*ab$", "/aabab", true),
            ("$", "/", false),
            ("/$", "/", true),
        ] {
            assert_eq!(matched(rule, path), expected, "{rule} {path}");
        }
    }

    #[test]
    fn a_leftmost_search_agrees_with_trying_everything() {
        // Compares all patterns of up to five characters and paths of up to six with an obvious recursion.
        fn obvious(pattern: &[u8], anchored: bool, path: &[u8]) -> bool {
            match pattern {
                [] => !anchored || path.is_empty(),
                [b'*', rest @ ..] => (0..=path.len()).any(|n| obvious(rest, anchored, &path[n..])),
                [c, rest @ ..] => path.first() == Some(c) && obvious(rest, anchored, &path[1..]),
            }
        }
        fn words(letters: &[u8], longest: u32) -> Vec<Vec<u8>> {
            let mut all = vec![vec![]];
            for length in 1..=longest {
                for n in 0..letters.len().pow(length) {
                    all.push((0..length).map(|i| letters[n / letters.len().pow(i) % letters.len()]).collect());
                }
            }
            all
        }
        let paths = words(b"ab", 6);
        for pattern in words(b"ab*", 5) {
            for anchored in [false, true] {
                let rule = Pattern { bytes: pattern.clone(), anchored, octets: pattern.len() };
                for path in &paths {
                    let ours = rule.matches(path, &mut Steps::new(1 << 20));
                    assert_eq!(ours, Ok(obvious(&pattern, anchored, path)), "{pattern:?} {anchored} {path:?}");
                }
            }
        }
    }

    #[test]
    fn one_form_for_both_sides() {
        let form = |text: &str| String::from_utf8_lossy(&canonical_path(text.as_bytes())).into_owned();
        assert_eq!(form("/%7ejoe/%62%2f%c3%a9é"), "/~joe/b%2F%C3%A9%C3%A9");
        assert_eq!(form("/100%/%zz%4"), "/100%25/%25zz%254");
        assert_eq!(form("/a b<c>|\"'*$"), "/a%20b%3Cc%3E%7C%22%27%2A%24");
        assert_eq!(form(&form("/%7ejoe/%62%2f%é*%")), form("/%7ejoe/%62%2f%é*%"));
    }

    #[test]
    fn a_disallow_takes_reserved_characters_for_the_same_encoded_or_not() {
        let form = |text: &str| String::from_utf8_lossy(&folded(&canonical_path(text.as_bytes()))).into_owned();
        assert_eq!(form("/a%3Ab:c%40%5b%5D%21%26%28%29%2b%2C%3b%3D"), "/a:b:c@[]!&()+,;=");
        assert_eq!(form("/%2F%3F%23%2A%24%27%25%C3"), "/%2F%3F%23%2A%24%27%25%C3", "what divides or is special stays");
        assert_eq!(form("/%253A%"), "/%253A%25", "nothing is decoded twice");
    }

    /// Checks the documented bound, counted in comparisons, on patterns made to be slow.
    #[test]
    fn r24_a_match_takes_no_more_steps_than_rule_and_path_together() {
        let spent = |pattern: &str, path: &str| {
            let pattern = canonical_pattern(pattern.as_bytes());
            let mut steps = Steps::new(u64::MAX);
            let _ = pattern.matches(path.as_bytes(), &mut steps);
            u64::MAX - steps.left()
        };
        for (rule, path) in [("*a", "a"), ("*aaaab", "a"), ("*a*ab", "ab"), ("a*a*aab$", "a"), ("*ab*ba", "abba")] {
            for times in [1, 10, 100, 400] {
                let (rule, path) = (format!("/{}", rule.repeat(times)), format!("/{}", path.repeat(times * 8)));
                let bound = (rule.len() + path.len() + 2) as u64;
                assert!(spent(&rule, &path) <= bound, "{rule:.40} {path:.40} {times}");
            }
        }
    }

    #[test]
    fn the_step_limit_ends_a_search() {
        let pattern = canonical_pattern(format!("/{}b", "*aaaaaaaa".repeat(9)).as_bytes());
        let path = format!("/{}", "a".repeat(4_000));
        assert_eq!(pattern.matches(path.as_bytes(), &mut Steps::new(1_000)), Err(TooManySteps));
        assert_eq!(pattern.matches(path.as_bytes(), &mut Steps::new(1 << 20)), Ok(false));
    }
}
