//! A result as the page shows it. Everything that could be a link or imitate something is decided here.

use crate::host;
use crate::language::Language;
use crate::text::{MAX_SITE, MAX_TITLE, Piece, clipped, pieces};
use crate::words::Search;
use curlew_stages::catalog::results::SearchHit;
use url::Url;

/// Maximum length of a language tag, in bytes (RFC 5646 §4.4.1).
const MAX_TAG: usize = 35;
/// Maximum length of a missing word that is shown, in characters.
const MAX_MISSING: usize = 40;
/// Maximum length of a path that is shown after the host, in characters.
const MAX_PATH: usize = 48;

/// The fields of a result that the template shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HitView {
    /// Target of the title's link, if it is an http or https URL.
    pub(crate) href: Option<String>,
    /// The title, or the address if there is none.
    pub(crate) title: String,
    /// The snippet in pieces.
    pub(crate) snippet: Vec<Piece>,
    /// The host of the link's target.
    pub(crate) host: String,
    /// The path below it, shortened.
    pub(crate) path: String,
    /// The site's own name, unless it is its host.
    pub(crate) site: Option<String>,
    /// The day of publication, for programs and for people.
    pub(crate) day: Option<(String, String)>,
    /// The path of its thumbnail.
    pub(crate) thumb: Option<String>,
    /// Replacement for a missing thumbnail: the first letter of the site.
    pub(crate) initial: String,
    /// The language of title and snippet (RFC 5646), for screen readers.
    pub(crate) lang: Option<String>,
    /// Name of that language, unless it is the page's own.
    pub(crate) language: Option<String>,
    /// Words of the query that the result lacks.
    pub(crate) missing: Vec<String>,
    /// A sentence about later pages with the same content, which are not shown.
    pub(crate) copies: Option<String>,
}

impl HitView {
    /// Returns the view of a hit, in a language.
    pub(crate) fn of(hit: &SearchHit, language: Language) -> HitView {
        let url = web_url(&hit.url);
        let host = url.as_ref().and_then(Url::host_str).map(host::shown).unwrap_or_default();
        let name = clipped(&hit.site, MAX_SITE);
        let title = clipped(&hit.title, MAX_TITLE);
        let day = hit.published.map(|t| t.day());
        let lang = hit.language.as_deref().filter(|lang| is_tag(lang)).map(str::to_owned);
        HitView {
            title: if title.is_empty() { clipped(&hit.url, MAX_TITLE) } else { title },
            snippet: pieces(&hit.snippet, &hit.marks),
            path: url.as_ref().map(shown_path).unwrap_or_default(),
            initial: initial_of(&name).or_else(|| initial_of(&host)).unwrap_or_else(|| "·".to_owned()),
            site: (!name.is_empty() && !same_name(&name, &host)).then_some(name),
            day: day.and_then(|day| language.day(&day).map(|words| (day, words))),
            thumb: hit.thumbnail.as_ref().map(|id| format!("/thumb/{id}")),
            href: url.map(String::from),
            language: lang.as_deref().and_then(|lang| language.name_of(lang)),
            lang,
            missing: hit.missing.iter().map(|word| clipped(word, MAX_MISSING)).collect(),
            copies: copies(hit.copies, language),
            host,
        }
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

fn copies(count: u32, language: Language) -> Option<String> {
    let t = Search::of(language);
    match count {
        0 => None,
        1 => Some(t.one_copy.to_owned()),
        more => Some((t.copies)(more)),
    }
}

fn shown_path(url: &Url) -> String {
    let path = url.path().trim_end_matches('/');
    if path.is_empty() { String::new() } else { clipped(path, MAX_PATH) }
}

fn same_name(name: &str, host: &str) -> bool {
    let bare = |s: &str| s.to_lowercase().trim_start_matches("www.").to_owned();
    bare(name) == bare(host)
}

fn initial_of(name: &str) -> Option<String> {
    let name = name.strip_prefix("www.").unwrap_or(name);
    name.chars().find(|c| c.is_alphanumeric()).map(|c| c.to_uppercase().collect())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;

    fn hit(url: &str, site: &str) -> SearchHit {
        SearchHit {
            url: url.to_owned(),
            title: String::new(),
            snippet: String::new(),
            marks: Vec::new(),
            image: None,
            thumbnail: None,
            site: site.to_owned(),
            published: None,
            language: None,
            all_words: true,
            missing: Vec::new(),
            explanation: None,
            score: 1.0,
            copies: 0,
        }
    }

    fn view(url: &str, site: &str) -> HitView {
        HitView::of(&hit(url, site), Language::English)
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
            let view =
                HitView::of(&SearchHit { language: Some(language.to_owned()), ..hit("https://a.example/", "A") }, own);
            (view.lang, view.language)
        };
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(of("it-IT", Language::English), (some("it-IT"), some("Italian")));
        assert_eq!(of("it-IT", Language::Italian), (some("it-IT"), None));
        assert_eq!(of("EN", Language::Italian), (some("EN"), some("inglese")));
        assert_eq!(of("eu", Language::English), (some("eu"), some("eu")));
        for bad in ["", "i", "english", "en us", "en-", "en\" onclick=\"x", "it-123456789"] {
            assert_eq!(of(bad, Language::English), (None, None), "{bad}");
        }
    }

    #[test]
    fn the_site_is_named_beside_its_host_but_not_twice() {
        assert_eq!(view("https://example.org/", "www.example.org").site, None);
        let named = view("https://example.org/", "Your Bank");
        assert_eq!((named.site.as_deref(), named.host.as_str()), (Some("Your Bank"), "example.org"));
        assert_eq!(named.initial, "Y");
        assert_eq!(view("https://www.example.org/", "").initial, "E");
        assert_eq!(view("data:,", "").initial, "·");
    }
}
