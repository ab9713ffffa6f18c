//! Marks of interstitials: headers, markup and addresses by which vendors' walls are recognized at the first answer.
//! The main signal is behaviour (`interstitial.rs`), which needs several pages, but no vendor's name.

use memchr::memmem::Finder;
use std::sync::LazyLock;
use url::Url;

/// The list of marks, and the description of its format.
const LIST: &str = include_str!("../../data/interstitials.txt");
/// Number of bytes at the beginning of a document that are searched for marks.
pub const SEARCHED_BYTES: usize = 32 * 1024;
/// Length in characters above which a text counts as an article; the explanation on Anubis' wall has some 1,200.
const ARTICLE_CHARS: usize = 2_000;

struct Mark {
    /// Place of the mark: `header`, `refusal` (a header of a refusal), `body`, `address`, `parked`.
    place: &'static str,
    vendor: &'static str,
    text: &'static str,
    finder: Finder<'static>,
}

static MARKS: LazyLock<Vec<Mark>> = LazyLock::new(|| LIST.lines().filter_map(mark).collect());

/// Parses a line of the list; `None` if it is no mark. A test checks that every line except comments is a mark.
fn mark(line: &'static str) -> Option<Mark> {
    let cells: Vec<&str> = line.split('|').map(str::trim).collect();
    let [place @ ("header" | "refusal" | "body" | "address" | "parked"), vendor, text] = cells[..] else { return None };
    Some(Mark { place, vendor, text, finder: Finder::new(text) })
}

fn marks_in(place: &str) -> impl Iterator<Item = &'static Mark> {
    MARKS.iter().filter(move |mark| mark.place == place)
}

/// Returns the vendor whose mark is in the headers (names in lower case). Answers with 3xx, 404 or 410 are no walls.
pub fn by_headers(status: u16, headers: &[(String, String)]) -> Option<&'static str> {
    if matches!(status, 300..=399 | 404 | 410) {
        return None;
    }
    let is_refusal = matches!(status, 401 | 403 | 405 | 429);
    let mut marks = marks_in("header").chain(marks_in("refusal").filter(|_| is_refusal));
    marks.find(|mark| headers.iter().any(|header| carries(header, mark.text))).map(|mark| mark.vendor)
}

fn carries((name, value): &(String, String), mark: &str) -> bool {
    mark.split_once(':')
        .is_some_and(|(wanted, part)| name == wanted && value.to_ascii_lowercase().contains(part.trim_start()))
}

/// Returns the vendor whose wall is at the URL to which a page's redirects led.
pub fn by_address(address: &Url) -> Option<&'static str> {
    let place = format!("{}{}", address.host_str().unwrap_or_default(), address.path());
    let is_at = |mark: &&'static Mark| {
        if mark.text.starts_with('/') { address.path().starts_with(mark.text) } else { place.starts_with(mark.text) }
    };
    marks_in("address").find(is_at).map(|mark| mark.vendor)
}

/// Marks found in the markup of a document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DocumentMarks {
    /// Vendor of a bot wall.
    pub wall: Option<&'static str>,
    /// True if the document is that of a parked domain.
    pub is_parked: bool,
}

/// Finds the marks in a document's markup. An article has none, and a mark in the visible text is only a mention.
pub fn in_document(html: &str, text: &str) -> DocumentMarks {
    if text.chars().nth(ARTICLE_CHARS).is_some() {
        return DocumentMarks::default();
    }
    let html = html[..html.floor_char_boundary(SEARCHED_BYTES)].to_ascii_lowercase();
    let text = text.to_ascii_lowercase();
    let find = |place| {
        let mark = marks_in(place).find(|mark| mark.finder.find(html.as_bytes()).is_some())?;
        (!text.contains(mark.text)).then_some(mark.vendor)
    };
    DocumentMarks { wall: find("body"), is_parked: find("parked").is_some() }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]
    use super::*;

    fn headers(lines: &[(&str, &str)]) -> Vec<(String, String)> {
        lines.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn every_line_of_the_list_is_a_mark() {
        let lines = LIST.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).count();
        assert_eq!(MARKS.len(), lines);
        for mark in MARKS.iter() {
            assert!(!mark.vendor.is_empty() && mark.text.len() >= 6, "{}", mark.text);
            assert_eq!(mark.text, mark.text.to_ascii_lowercase());
        }
        let wrong = ["nowhere | X | y", "header | X", "", "header | X | y | z"];
        assert!(wrong.into_iter().all(|line| mark(line).is_none()));
    }

    #[test]
    fn headers_that_only_challenges_carry_tell_at_any_status_but_that_of_a_missing_page() {
        let cloudflare = [("server", "cloudflare"), ("cf-mitigated", "Challenge")];
        for status in [200, 202, 402, 403, 429, 503] {
            assert_eq!(by_headers(status, &headers(&cloudflare)), Some("Cloudflare"), "{status}");
        }
        for status in [301, 304, 404, 410] {
            assert_eq!(by_headers(status, &headers(&cloudflare)), None, "{status}");
        }
        // Headers that ordinary pages also have count only with a refusal.
        for (status, line, vendor) in [
            (202, ("x-amzn-waf-action", "challenge"), Some("AWS WAF")),
            (403, ("x-sucuri-block", "x"), Some("Sucuri")),
            (403, ("cf-ray", "8f3a"), None),
            (200, ("x-datadome", "protected"), None),
            (403, ("x-datadome", "protected"), Some("DataDome")),
            (200, ("set-cookie", "_pxhd=ab; Path=/"), None),
            (403, ("set-cookie", "_pxhd=ab; Path=/"), Some("HUMAN")),
            (403, ("set-cookie", "session=_px"), None),
        ] {
            assert_eq!(by_headers(status, &headers(&[("server", "cloudflare"), line])), vendor, "{status} {line:?}");
        }
    }

    #[test]
    fn markup_tells_where_there_is_no_article() {
        let anubis = "<html><SCRIPT ID=\"anubis_challenge\" type=application/json>{}</script><p>Wait.</p></html>";
        let mention = "Set id=\"anubis_challenge\"";
        // Only the beginning is searched, and ordinary pages contain a script that detects bots.
        let late = format!("{}{anubis}", " ".repeat(SEARCHED_BYTES));
        let detection = "<script src=\"/cdn-cgi/challenge-platform/scripts/jsd/main.js\"></script>";
        for (html, text, vendor) in [
            (anubis, "Wait.", Some("Anubis")),
            (anubis, &"An article. ".repeat(200), None),
            (mention, mention, None),
            (&late, "Wait.", None),
            (detection, "A photograph.", None),
            ("<script>window._cf_chl_opt={}</script>", "", Some("Cloudflare")),
            ("<script>window.gokuProps = {}</script>", "", Some("AWS WAF")),
            ("<script>var dd={'host':'geo.captcha-delivery.com'}</script>", "", Some("DataDome")),
            ("<div id=\"px-captcha\"></div>", "", Some("HUMAN")),
            ("<script>sucuri_cloudproxy_js='';</script>", "", Some("Sucuri")),
        ] {
            assert_eq!(in_document(html, text).wall, vendor, "{html:.80}");
        }
        let parked = "<script src=\"https://img.sedoparking.com/js/x.js\"></script>";
        let marks = in_document(parked, "example.org is for sale");
        assert_eq!(marks, DocumentMarks { wall: None, is_parked: true });
        assert_eq!(in_document("<p>x</p>", "x"), DocumentMarks::default());
    }

    #[test]
    fn a_consent_wall_is_told_by_where_it_stands() {
        let at = |url: &str| by_address(&Url::parse(url).unwrap());
        assert_eq!(at("https://consent.yahoo.com/v2/collectConsent?sessionId=1"), Some("consent"));
        assert_eq!(at("https://www.example.org/consent/tcf/story/1"), Some("consent"));
        assert_eq!(at("https://example.org/2026/consent/tcf/"), None);
        assert_eq!(at("https://consent.yahoo.com.example.org/"), None);
    }
}
