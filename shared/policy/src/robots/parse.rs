//! Parses a robots.txt into the rules of one product token (RFC 9309 §2.1, §2.2).

use super::tree::Tree;
use super::{MAX_BYTES, MAX_LINE_BYTES, PathSignals, Robots, Rule, Span, pattern, product_token};
use crate::{address, page::signals::ContentSignals};
use curlew_model::Millis;
use std::{borrow::Cow, cmp::Reverse};

const MAX_SIGNALS: usize = 1_000;

/// Returns the text of a file up to the size limit, with UTF-16 converted to UTF-8.
pub(super) fn text_of(body: &[u8]) -> Cow<'_, [u8]> {
    decoded(without_cut_line(body))
}

pub(super) fn read(text: &[u8], token: &str) -> Robots {
    let mut reader = GroupParser { token: product_token(token).as_bytes(), ..GroupParser::default() };
    for line in text.split(|b| *b == b'\n' || *b == b'\r') {
        reader.take(parse_line(line));
    }
    reader.finish()
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line<'a> {
    UserAgent(&'a [u8]),
    Allow(&'a [u8]),
    Disallow(&'a [u8]),
    CrawlDelay(&'a [u8]),
    ContentSignal(&'a [u8]),
    License(&'a [u8]),
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AgentMatch {
    Us,
    Everyone,
    Other,
}

#[derive(Clone, Copy, Debug, Default)]
struct GroupAgents {
    us: bool,
    everyone: bool,
    /// True if the next `User-agent` line begins another group.
    closed: bool,
}

impl GroupAgents {
    fn add(&mut self, named: AgentMatch) {
        if self.closed {
            *self = GroupAgents::default();
        }
        self.us |= named == AgentMatch::Us;
        self.everyone |= named == AgentMatch::Everyone;
    }
}

#[derive(Default)]
struct GroupParser<'a> {
    token: &'a [u8],
    /// True if a group names this crawler: rules for everyone then do not apply (RFC 9309 §2.2.1).
    named: bool,
    /// Closed only by a rule: Crawl-delay and unknown keys do not end a group (§2.2.4).
    group: GroupAgents,
    /// Also closed by a Crawl-delay, so that a delay for everyone does not apply to the agent named below it.
    delay_group: GroupAgents,
    own: Robots,
    general: Robots,
    /// The first licence of the file, in any group.
    license: Option<Box<str>>,
}

impl GroupParser<'_> {
    fn take(&mut self, line: Line<'_>) {
        match line {
            Line::UserAgent(value) => {
                let named = agent_match(value, self.token);
                if named == AgentMatch::Us && !self.named {
                    self.named = true;
                    self.general = Robots::default();
                }
                self.group.add(named);
                self.delay_group.add(named);
            }
            Line::Allow(value) => self.rule(true, value),
            Line::Disallow(value) => self.rule(false, value),
            Line::CrawlDelay(value) => {
                self.delay_group.closed = true;
                if let Some(delay) = seconds(value) {
                    let members = self.delay_group;
                    self.each(members, |c| c.crawl_delay = c.crawl_delay.max(Some(delay)));
                }
            }
            Line::ContentSignal(value) => {
                // A signal does not close the group for Allow and Disallow, since RFC 9309 does not define it.
                self.delay_group.closed = true;
                let members = self.delay_group;
                self.each(members, |c| {
                    if c.signals.len() < MAX_SIGNALS {
                        c.signals.push(path_signals(value));
                    }
                });
            }
            Line::License(value) => {
                // A licence, like Sitemap, belongs to no group and so closes none.
                let Some(license) = license(value) else { return };
                if self.delay_group.us {
                    self.own.license.get_or_insert_with(|| license.clone());
                }
                self.license.get_or_insert(license);
            }
            Line::Other => {}
        }
    }

    fn rule(&mut self, allow: bool, value: &[u8]) {
        self.group.closed = true;
        self.delay_group.closed = true;
        // An empty value neither allows nor disallows anything, but it ends the list of names.
        if !value.is_empty() {
            let members = self.group;
            self.each(members, |c| c.push(allow, value));
        }
    }

    fn each(&mut self, members: GroupAgents, apply: impl Fn(&mut Robots)) {
        if members.us {
            apply(&mut self.own);
        }
        if members.everyone && !self.named {
            apply(&mut self.general);
        }
    }

    fn finish(self) -> Robots {
        let mut robots = if self.named { self.own } else { self.general };
        robots.license = robots.license.or(self.license);
        robots.rules.sort_by_key(|rule| (Reverse(rule.octets), !rule.allow));
        robots.signals.sort_by_key(|rule| Reverse(rule.pattern.octets));
        robots.rules.shrink_to_fit();
        robots.bytes.shrink_to_fit();
        robots.signals.shrink_to_fit();
        robots.tree = Tree::from_prefixes(robots.rules.iter().map(|rule| robots.prefix(rule)));
        robots
    }
}

/// Compares the token according to RFC 9309 §2.2.1 (`Foo/1.2` names `Foo`), or up to a delimiter, for digits.
pub(super) fn agent_match(value: &[u8], token: &[u8]) -> AgentMatch {
    let until = |stop: fn(&u8) -> bool| value.split(stop).next().unwrap_or_default();
    if let [b'*', rest @ ..] = value
        && rest.first().is_none_or(u8::is_ascii_whitespace)
    {
        return AgentMatch::Everyone;
    }
    let strict = until(|b| !(b.is_ascii_alphabetic() || *b == b'-' || *b == b'_'));
    let word = until(|b| b.is_ascii_whitespace() || b"/;,(".contains(b));
    let is_us = |name: &[u8]| !name.is_empty() && name.eq_ignore_ascii_case(token);
    if is_us(strict) || is_us(word) { AgentMatch::Us } else { AgentMatch::Other }
}

impl Robots {
    fn push(&mut self, allow: bool, value: &[u8]) {
        // An absolute URL, unknown to RFC 9309, forbids its path on its host, which fetches less; it allows nothing.
        let path = pattern::split_absolute(value).filter(|_| !allow).map_or(value, |(_, path)| path);
        let path = if path.is_empty() { b"/" } else { path };
        let pattern::Pattern { bytes, anchored, octets } = pattern::canonical_pattern(path);
        let canonical = Cow::Owned(bytes);
        let compared = if allow { canonical } else { pattern::folded(&canonical) };
        let text = self.store(value);
        // Most patterns are in canonical form already, and stored only once.
        let span = match value.starts_with(&compared) {
            true => Span { start: text.start, length: u16::try_from(compared.len()).unwrap_or(u16::MAX) },
            false => self.store(&compared),
        };
        let octets = u16::try_from(octets).unwrap_or(u16::MAX);
        let prefix =
            compared.iter().position(|b| *b == b'*').map_or(span.length, |n| u16::try_from(n).unwrap_or(u16::MAX));
        self.rules.push(Rule { allow, anchored, octets, prefix, pattern: span, text });
    }

    /// Stores bytes. A line has at most [`MAX_LINE_BYTES`], and encoding at most triples them, so start and length fit.
    fn store(&mut self, bytes: &[u8]) -> Span {
        let start = u32::try_from(self.bytes.len()).unwrap_or(u32::MAX);
        self.bytes.extend_from_slice(bytes);
        Span { start, length: u16::try_from(bytes.len()).unwrap_or(u16::MAX) }
    }
}

/// Parses `[path ]signals`; without a path the signals apply to every path.
fn path_signals(value: &[u8]) -> PathSignals {
    let (path, signals) = match value {
        [b'/', ..] => value.split_at(value.iter().position(|b| is_blank(*b)).unwrap_or(value.len())),
        _ => (&b"/"[..], value),
    };
    PathSignals { pattern: pattern::canonical_pattern(path), signals: ContentSignals::parse(trim(signals)) }
}

fn license(value: &[u8]) -> Option<Box<str>> {
    let url = address::parse(std::str::from_utf8(value).ok()?, None).ok()?;
    Some(url.as_str().into())
}

/// Returns the part of the body within the limit; the last line of a body that is cut there counts only if complete.
fn without_cut_line(body: &[u8]) -> &[u8] {
    if body.len() < MAX_BYTES {
        return body;
    }
    let head = &body[..MAX_BYTES];
    if body.get(MAX_BYTES).is_some_and(|b| is_line_end(*b)) {
        return head;
    }
    let end = head.iter().rposition(|b| is_line_end(*b)).unwrap_or(0);
    head.get(..end).unwrap_or_default()
}

pub(super) fn is_line_end(byte: u8) -> bool {
    byte == b'\n' || byte == b'\r'
}

/// Converts UTF-16 to UTF-8; it is recognized by its byte order mark, or by NULs in the first two characters.
fn decoded(body: &[u8]) -> Cow<'_, [u8]> {
    let read_unit: fn([u8; 2]) -> u16 = match body {
        [0xFF, 0xFE, ..] => u16::from_le_bytes,
        [0xFE, 0xFF, ..] => u16::from_be_bytes,
        [a, 0, b, 0, ..] if *a != 0 && *b != 0 => u16::from_le_bytes,
        [0, a, 0, b, ..] if *a != 0 && *b != 0 => u16::from_be_bytes,
        _ => return Cow::Borrowed(body),
    };
    let (pairs, _) = body.as_chunks::<2>();
    let units: Vec<u16> = pairs.iter().map(|pair| read_unit(*pair)).collect();
    Cow::Owned(String::from_utf16_lossy(&units).into_bytes())
}

pub(super) fn parse_line(line: &[u8]) -> Line<'_> {
    let line = line.get(..MAX_LINE_BYTES).unwrap_or(line);
    let line = trim(line.split(|b| *b == b'#').next().unwrap_or_default());
    // Some files omit the colon.
    let known = split_once(line, |b| b == b':').map(|(key, value)| read_field(key, value));
    match known {
        Some(field) if field != Line::Other => field,
        _ => match split_once(line, is_blank) {
            Some((key, value)) if !value.iter().any(|b| is_blank(*b)) => read_field(key, value),
            _ => Line::Other,
        },
    }
}

fn read_field<'a>(key: &[u8], value: &'a [u8]) -> Line<'a> {
    // Non-ASCII bytes before a key are garbage, such as part of a byte order mark.
    let dirt = key.iter().take_while(|b| !b.is_ascii()).count();
    let key = key.get(dirt..).unwrap_or_default();
    type Field<'a> = (&'static [&'static str], fn(&'a [u8]) -> Line<'a>);
    // Spellings that occur in real files.
    let fields: [Field<'a>; 6] = [
        (&["user-agent", "useragent", "user agent", "user_agent"], Line::UserAgent),
        // The misspellings that Google's matcher accepts are obeyed, since that fetches less.
        (&["disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw", "disallowed"], Line::Disallow),
        // Misspelt `Allow` lines are not obeyed: that would fetch more.
        (&["allow"], Line::Allow),
        (&["crawl-delay", "crawldelay", "crawl delay", "crawl_delay"], Line::CrawlDelay),
        (&["content-signal", "content-signals"], Line::ContentSignal),
        (&["license"], Line::License),
    ];
    let is_key = |name: &&str| key.eq_ignore_ascii_case(name.as_bytes());
    fields.iter().find(|(names, _)| names.iter().any(is_key)).map_or(Line::Other, |(_, line)| line(value))
}

fn split_once(line: &[u8], at: impl Fn(u8) -> bool) -> Option<(&[u8], &[u8])> {
    let n = line.iter().position(|b| at(*b))?;
    Some((trim(line.get(..n)?), trim(line.get(n + 1..)?)))
}

/// True for white space, and for NUL, which pads some files.
fn is_blank(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == 0 || byte == 0x0B
}

/// Removes blanks from both ends, including byte order marks, no-break and zero-width spaces.
fn trim(mut bytes: &[u8]) -> &[u8] {
    const UNSEEN: [&[u8]; 3] = [b"\xEF\xBB\xBF", b"\xC2\xA0", b"\xE2\x80\x8B"];
    loop {
        let shorter = match bytes {
            [first, rest @ ..] if is_blank(*first) => Some(rest),
            [rest @ .., last] if is_blank(*last) => Some(rest),
            _ => UNSEEN.iter().find_map(|u| bytes.strip_prefix(*u).or_else(|| bytes.strip_suffix(*u))),
        };
        let Some(rest) = shorter else { return bytes };
        bytes = rest;
    }
}

/// Parses a decimal number of seconds, rounded up: `10`, `0.5`, `10,5`, `10s`, `10 min`; no sign, no exponent.
fn seconds(value: &[u8]) -> Option<Millis> {
    let text = String::from_utf8_lossy(value);
    let digits = |text: &str| text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (whole, rest) = text.split_at(digits(&text));
    let after = rest.strip_prefix(['.', ',']).unwrap_or_default();
    let (fraction, after) = after.split_at(digits(after));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let unit = if fraction.is_empty() { rest } else { after }.trim_start().to_ascii_lowercase();
    if unit.contains(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let (factor, divisor) = match unit.as_str() {
        "ms" | "msec" | "millisecond" | "milliseconds" => (1, 1_000),
        "m" | "min" | "mins" | "minute" | "minutes" => (60, 1),
        "h" | "hour" | "hours" => (3_600, 1),
        _ => (1, 1),
    };
    // A number too great for 64 bits still means "slower", never "ignore".
    let whole = if whole.is_empty() { 0 } else { whole.parse::<u64>().unwrap_or(u64::MAX) };
    let thousandths = format!("{fraction:0<3}").get(..3)?.parse::<u64>().ok()?;
    let beyond = fraction.get(3..).is_some_and(|rest| rest.bytes().any(|b| b != b'0'));
    let delay = Millis::from_secs(whole) + Millis(thousandths + u64::from(beyond));
    Some(Millis(delay.0.saturating_mul(factor).div_ceil(divisor)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_files_are_written() {
        for (line, expected) in [
            ("User-agent: a", Line::UserAgent(b"a")),
            ("  USER-AGENT\t:  a b  # c", Line::UserAgent(b"a b")),
            ("user-agent a", Line::UserAgent(b"a")),
            ("user agent harry potter", Line::Other),
            ("Disallow:/x:y", Line::Disallow(b"/x:y")),
            ("Disallow /x:y", Line::Disallow(b"/x:y")),
            ("Disalow: /x", Line::Disallow(b"/x")),
            ("Disallow:\u{a0}/x\0", Line::Disallow(b"/x")),
            ("Allow: # nothing", Line::Allow(b"")),
            ("Alow: /x", Line::Other),
            ("\u{fffd}\u{fffd}Disallow: /x", Line::Disallow(b"/x")),
            ("Crawl-delay: 1", Line::CrawlDelay(b"1")),
            ("Sitemap: https://example.org/s.xml", Line::Other),
            ("<p>Disallow: /</p>", Line::Other),
            ("", Line::Other),
        ] {
            assert_eq!(parse_line(line.as_bytes()), expected, "{line}");
        }
    }

    #[test]
    fn seconds_are_the_decimal_number_before_a_unit() {
        for (texts, expected) in [
            ("10|10s|10 seconds|10;|10.|10. Please", Some(10_000)),
            ("0.5|0.5 sec|500 ms|500msec|499.5 milliseconds", Some(500)),
            (".25", Some(250)),
            ("1.0001", Some(1_001)),
            ("10,5", Some(10_500)),
            ("2 min|2m", Some(120_000)),
            ("1 hours", Some(3_600_000)),
            ("99999999999999999999999|99999999999999999999999 h", Some(u64::MAX)),
            ("-1|+1|1e3|1:30|inf|s|s 10|.|,|", None),
        ] {
            for text in texts.split('|') {
                assert_eq!(seconds(text.as_bytes()), expected.map(Millis), "{text}");
            }
        }
    }
}
