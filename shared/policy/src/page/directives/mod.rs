//! The directives of a page: robots meta tags and the headers X-Robots-Tag and Robots-Tag, as the large search engines
//! document them. The most restrictive of all directives that address this crawler wins.

mod robots_tag;

pub use robots_tag::robots_tag_lines;

use curlew_model::{SnippetLimit, Timestamp};
use curlew_text::date::{Hints, parse, weekday};
use serde::{Deserialize, Serialize};

/// Maximum number of bytes that are read of one header or one tag's content.
pub const MAX_VALUE_BYTES: usize = 8 * 1024;

/// Directives that take a value after a colon; none of them is the name of a robot.
const WITH_VALUE: &[&str] = &["unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"];
const EVERY_ROBOT: &str = "robots";

/// The directives of a page, combined from all that apply to this crawler.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Directives {
    /// The page must not be indexed; its text is not stored.
    pub noindex: bool,
    /// Links on the page must not be followed.
    pub nofollow: bool,
    /// No part of the text is shown with a result.
    pub nosnippet: bool,
    /// No copy of the text is offered.
    pub noarchive: bool,
    /// Maximum number of characters of the text that are shown with a result.
    pub max_snippet: Option<u32>,
    /// Instant after which the page must not appear in results.
    pub unavailable_after: Option<Timestamp>,
    /// No image of the page is shown.
    pub noimageindex: bool,
}

impl Directives {
    /// Combines the directives for all robots and for this crawler, whose name in robots.txt is `product_token`.
    ///
    /// `meta` holds name (in lower case) and content of each `<meta>` element. `x_robots_tag` holds the `X-Robots-Tag`
    /// headers and the [lines](robots_tag_lines) of `Robots-Tag`.
    pub fn gather(meta: &[(String, String)], x_robots_tag: &[String], product_token: &str) -> Directives {
        let mut all = Directives::default();
        for (_, content) in meta.iter().filter(|(name, _)| speaks_to_us(name.trim(), product_token)) {
            parts(content).for_each(|part| all.add(part));
        }
        for header in x_robots_tag {
            all.add_header(header, product_token);
        }
        all
    }

    /// Returns the directives that are set, in the syntax of pages: `noindex`, `max-snippet:50`, …
    pub fn names(&self) -> Vec<String> {
        let flags = [
            (self.noindex, "noindex"),
            (self.nofollow, "nofollow"),
            (self.nosnippet, "nosnippet"),
            (self.noarchive, "noarchive"),
            (self.noimageindex, "noimageindex"),
        ];
        let mut names: Vec<String> = flags.iter().filter(|(set, _)| *set).map(|(_, name)| (*name).to_owned()).collect();
        names.extend(self.max_snippet.map(|n| format!("max-snippet:{n}")));
        names.extend(self.unavailable_after.map(|t| format!("unavailable_after:{t}")));
        names
    }

    /// True if `now` is after `unavailable_after`.
    pub fn expired(&self, now: Timestamp) -> bool {
        self.unavailable_after.is_some_and(|t| now > t)
    }

    /// Returns the maximum length of the text shown with a result.
    pub fn snippet_limit(&self) -> SnippetLimit {
        SnippetLimit(if self.nosnippet { Some(0) } else { self.max_snippet })
    }

    /// Adds the directives of one header, where a robot's name applies to all directives that follow it.
    fn add_header(&mut self, header: &str, product_token: &str) {
        let mut for_us = true;
        for part in parts(header) {
            let (name, directive) = robot_prefix(part).map_or((None, part), |(name, rest)| (Some(name), rest));
            for_us = name.map_or(for_us, |name| speaks_to_us(name, product_token));
            if for_us {
                self.add(directive);
            }
        }
    }

    fn add(&mut self, part: &str) {
        match part.split_once([':', '=']) {
            Some((name, value)) => self.add_valued(&name.trim().to_ascii_lowercase(), value.trim()),
            None => {
                part.split_whitespace().for_each(|word| self.add_flag(&word.trim_matches('"').to_ascii_lowercase()))
            }
        }
    }

    fn add_flag(&mut self, name: &str) {
        match name {
            "none" => (self.noindex, self.nofollow) = (true, true),
            "noindex" => self.noindex = true,
            "nofollow" => self.nofollow = true,
            "nosnippet" => self.nosnippet = true,
            "noarchive" | "nocache" => self.noarchive = true,
            "noimageindex" => self.noimageindex = true,
            _ => {}
        }
    }

    fn add_valued(&mut self, name: &str, value: &str) {
        match name {
            // -1 means no limit, and does not parse as a number here.
            "max-snippet" => self.max_snippet = self.max_snippet.into_iter().chain(value.parse().ok()).min(),
            "unavailable_after" => {
                self.unavailable_after = self.unavailable_after.into_iter().chain(parse_date(value)).min();
            }
            _ => {}
        }
    }
}

fn speaks_to_us(name: &str, product_token: &str) -> bool {
    name.eq_ignore_ascii_case(EVERY_ROBOT) || name == "*" || name.eq_ignore_ascii_case(product_token)
}

fn robot_prefix(part: &str) -> Option<(&str, &str)> {
    let (name, rest) = part.split_once(':')?;
    let name = name.trim();
    let is_name = name == "*"
        || (name.starts_with(|c: char| c.is_ascii_alphabetic())
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_./".contains(&b)));
    let is_directive = WITH_VALUE.iter().any(|d| name.eq_ignore_ascii_case(d));
    (is_name && !is_directive).then_some((name, rest.trim()))
}

/// Parses a date in the form of RFC 822, RFC 850, asctime or ISO 8601 (default: midnight, UTC); `None` if invalid.
pub fn parse_date(text: &str) -> Option<Timestamp> {
    parse(text, &Hints::DIRECTIVE).map(|moment| moment.at)
}

/// Splits a list at commas and semicolons, but not at the comma of an RFC 822 date: `Sat, 25 Aug 2007 …`.
fn parts(value: &str) -> impl Iterator<Item = &str> {
    let end = value.floor_char_boundary(MAX_VALUE_BYTES.min(value.len()));
    let mut rest = value.get(..end).unwrap_or_default();
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let mut end = rest.find([',', ';']).unwrap_or(rest.len());
        let part = rest[..end].to_ascii_lowercase();
        let after = part.rsplit_once("unavailable_after").map(|(_, after)| after.trim_matches([' ', ':', '=']));
        if after.is_some_and(|day| weekday(day).is_some()) {
            end += rest[end..].get(1..).map_or(0, |after| 1 + after.find([',', ';']).unwrap_or(after.len()));
        }
        let part = rest[..end].trim();
        rest = rest.get(end + 1..).unwrap_or_default();
        Some(part)
    })
    .filter(|part| !part.is_empty())
}
