//! A search result as the page shows it. This module decides which URLs become links and how names are displayed.

use crate::host;
use crate::language::Language;
use crate::refine::{address, with};
use crate::text::{MAX_SITE, MAX_TITLE, Piece, clipped, pieces};
use crate::words::Search;
use curlew_catalog::results::SearchHit;
use curlew_model::Timestamp;
use url::Url;

/// Maximum number of missing words displayed for a hit.
const MOST_MISSING: usize = 12;
/// Maximum length of a language tag, in bytes (RFC 5646 §4.4.1).
const MAX_TAG: usize = 35;
/// Maximum length of a displayed missing word, in characters.
const MAX_MISSING: usize = 40;
/// Maximum length of the path displayed after the host, in characters.
const MAX_PATH: usize = 48;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HitView {
    /// Target of the title's link, if it is an http or https URL.
    pub(crate) href: Option<String>,
    pub(crate) title: String,
    pub(crate) snippet: Vec<Piece>,
    pub(crate) host: String,
    /// The path of the URL, shortened.
    pub(crate) path: String,
    /// The site's name, or its host if it has no name.
    pub(crate) site: String,
    pub(crate) site_page: Option<String>,
    pub(crate) author: Option<String>,
    /// The day of publication: in ISO 8601, and in words.
    pub(crate) day: Option<(String, String)>,
    pub(crate) thumb: Option<String>,
    /// Replacement for a missing thumbnail: the first letter of the site.
    pub(crate) initial: String,
    /// The language of title and snippet (RFC 5646), for screen readers.
    pub(crate) lang: Option<String>,
    /// Name of the hit's language, unless it is that of the page.
    pub(crate) language: Option<String>,
    pub(crate) missing: Vec<String>,
    /// A sentence about later pages with the same content, which are not shown.
    pub(crate) copies: Option<String>,
    /// Text and address of a search for more pages of the site.
    pub(crate) more: Option<(String, String)>,
    /// Address of a search for pages with words of the title.
    pub(crate) like: Option<String>,
}

impl HitView {
    pub(crate) fn new(hit: &SearchHit, language: Language, now: Timestamp) -> HitView {
        let (url, t) = (web_url(&hit.url), Search::in_language(language));
        let host = url.as_ref().and_then(Url::host_str).map(host::display_name).unwrap_or_default();
        let name = clipped(&hit.site, MAX_SITE);
        let title = clipped(&hit.title, MAX_TITLE);
        let author = hit.author.as_deref().map(|name| clipped(name, MAX_SITE)).filter(|name| !name.is_empty());
        let lang = hit.language.as_deref().filter(|lang| is_tag(lang)).map(str::to_owned);
        let bare = |name: &str| name.to_lowercase().trim_start_matches("www.").to_owned();
        HitView {
            like: like(&title),
            title: if title.is_empty() { clipped(&hit.url, MAX_TITLE) } else { title },
            snippet: pieces(&hit.snippet, &hit.marks),
            path: url.as_ref().map(|url| clipped(url.path().trim_end_matches('/'), MAX_PATH)).unwrap_or_default(),
            initial: initial_of(&name).or_else(|| initial_of(&host)).unwrap_or_else(|| "·".to_owned()),
            author: author.filter(|author| bare(author) != bare(&name)),
            site: if name.is_empty() { host.clone() } else { name },
            site_page: url.as_ref().and_then(Url::host_str).and_then(site_page),
            day: hit.published.and_then(|at| Some((at.day(), day_in_words(at, now, language)?))),
            thumb: hit.thumbnail.as_ref().map(|id| format!("/thumb/{id}")),
            href: url.map(String::from),
            language: lang.as_deref().and_then(|lang| language.name_of(lang)),
            lang,
            missing: hit.missing.iter().take(MOST_MISSING).map(|word| clipped(word, MAX_MISSING)).collect(),
            copies: match hit.copies {
                0 => None,
                1 => Some(t.one_copy.to_owned()),
                more => Some((t.copies)(more)),
            },
            host,
            more: None,
        }
    }

    /// Returns the text and address of a search for more pages of the hit's site.
    pub(crate) fn more_of(&self, query: &str, language: Language) -> Option<(String, String)> {
        let host = self.site_page.as_deref()?.rsplit('/').next()?;
        let address = address(&with(query, &format!("site:{host}")));
        Some(((Search::in_language(language).more_from)(&self.site), address))
    }
}

/// Maximum number of a title's words in a search for similar pages.
const LIKE_WORDS: usize = 12;

/// Returns the address of a search for pages with words of a title; `None` if it has fewer than two words.
fn like(title: &str) -> Option<String> {
    let divides = |c: char| c.is_whitespace() || c.is_ascii_punctuation() || "“”„«»「」".contains(c);
    let words: Vec<&str> = title.split(divides).filter(|word| word.contains(char::is_alphanumeric)).collect();
    (words.len() > 1).then(|| address(&words[..words.len().min(LIKE_WORDS)].join(" ").to_lowercase()))
}

/// Returns the address of our page about a site; `None` if the host is an IPv6 address.
pub(crate) fn site_page(host: &str) -> Option<String> {
    let name = curlew_text::url::bare(host);
    let is_name = name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_'));
    (is_name && !name.is_empty()).then(|| format!("/site/{name}"))
}

/// Maximum age, in days, of a day that is named relative to today.
pub(crate) const WEEK: i64 = 7;

/// Returns the number of days (UTC) from `at` to `now`.
pub(crate) fn days_between(at: Timestamp, now: Timestamp) -> i64 {
    let day = |at: Timestamp| at.as_millis().div_euclid(86_400_000);
    day(now) - day(at)
}

/// Returns a day in words, relative to today for a week. Hours are not named, since many dates have no time.
fn day_in_words(at: Timestamp, now: Timestamp, language: Language) -> Option<String> {
    let t = Search::in_language(language);
    match days_between(at, now) {
        0 => Some(t.today.to_owned()),
        1 => Some(t.yesterday.to_owned()),
        days @ 2..=WEEK => Some((t.days_ago)(days.unsigned_abs())),
        _ => language.short_day(&at.day(), &now.day()),
    }
}

/// Returns the URL if a link may lead to it: http or https, with a host and without credentials.
pub(crate) fn web_url(text: &str) -> Option<Url> {
    let url = Url::parse(text).ok()?;
    let plain = url.username().is_empty() && url.password().is_none();
    (matches!(url.scheme(), "http" | "https") && url.has_host() && plain).then_some(url)
}

/// True if a text has the form of a language tag: subtags of letters and digits, the first of two or three letters.
fn is_tag(text: &str) -> bool {
    let mut subtags = text.split('-');
    let fits = |subtag: &str| (1..=8).contains(&subtag.len()) && subtag.bytes().all(|b| b.is_ascii_alphanumeric());
    let is_language = |first: &str| matches!(first.len(), 2 | 3) && first.bytes().all(|b| b.is_ascii_alphabetic());
    text.len() <= MAX_TAG && subtags.next().is_some_and(is_language) && subtags.all(fits)
}

pub(crate) fn initial_of(name: &str) -> Option<String> {
    let name = curlew_text::url::bare(name);
    name.chars().find(|c| c.is_alphanumeric()).map(|c| c.to_uppercase().collect())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_795_230_000_000);

    fn hit(url: &str, site: &str) -> SearchHit {
        SearchHit { url: url.to_owned(), site: site.to_owned(), all_words: true, score: 1.0, ..SearchHit::default() }
    }

    fn view(url: &str, site: &str) -> HitView {
        HitView::new(&hit(url, site), Language::English, NOW)
    }

    #[test]
    fn only_web_urls_become_links() {
        for bad in ["javascript:alert(1)", "data:text/html,x", "//x", "", "https://me:pw@example.org/", "file:///etc"] {
            assert_eq!(view(bad, "Site").href, None, "{bad}");
        }
        let named = view("https://example.org/a/b/", "Example");
        assert_eq!((named.href.as_deref(), named.path.as_str()), (Some("https://example.org/a/b/"), "/a/b"));
        assert_eq!(named.title, "https://example.org/a/b/", "a title is never empty");
    }

    #[test]
    fn a_language_is_named_if_it_is_not_the_pages_own() {
        let of = |language: &str, own| {
            let hit = SearchHit { language: Some(language.to_owned()), ..hit("https://a.example/", "A") };
            let HitView { lang, language, .. } = HitView::new(&hit, own, NOW);
            format!("{} {}", lang.unwrap_or_default(), language.unwrap_or_default())
        };
        assert_eq!(of("it-IT", Language::English), "it-IT Italian");
        assert_eq!(of("it-IT", Language::Italian), "it-IT ");
        assert_eq!(of("EN", Language::Italian), "EN inglese");
        assert_eq!(of("eu", Language::English), "eu eu");
        for bad in ["", "i", "english", "en us", "en-", "en\" onclick=\"x", "it-123456789"] {
            assert_eq!(of(bad, Language::English), " ", "{bad}");
        }
    }

    #[test]
    fn an_author_is_named_unless_the_site_is_called_so() {
        let by = |author: &str| {
            let hit = SearchHit { author: Some(author.to_owned()), ..hit("https://a.example/", "Anna Rossi") };
            HitView::new(&hit, Language::English, NOW).author
        };
        assert_eq!(by("Bo\u{202e}b").as_deref(), Some("Bob"));
        assert_eq!((by("anna rossi"), by(" ")), (None, None));
    }

    #[test]
    fn days_of_the_last_week_are_named_by_their_distance() {
        let day = |days: i64| {
            day_in_words(Timestamp::from_millis(NOW.as_millis() - days * 86_400_000), NOW, Language::English)
        };
        let said = [0, 1, 2, 7, 8, -1].map(|days| day(days).unwrap());
        assert_eq!(said, ["today", "yesterday", "2 days ago", "7 days ago", "13 Nov", "22 Nov"]);
    }

    #[test]
    fn the_site_is_named_beside_its_host() {
        assert_eq!(view("https://www.example.org/", "").site, "www.example.org");
        assert_eq!(view("https://www.example.org/", "").site_page.as_deref(), Some("/site/example.org"));
        assert_eq!(view("https://[2001:db8::1]/", "").site_page, None);
        let named = view("https://example.org/", "Your Bank");
        assert_eq!((named.site.as_str(), named.host.as_str()), ("Your Bank", "example.org"));
        assert_eq!(named.initial, "Y");
        assert_eq!(view("https://www.example.org/", "").initial, "E");
        assert_eq!(view("data:,", "").initial, "·");
    }
}
