//! Values derived from the settings of the pages.

use crate::page_settings::PageSettings;
use curlew_policy::address::is_of_this_machine;
use url::Url;

/// Returns the origin of an http(s) URL, without a trailing slash.
pub(crate) fn origin_of(url: &str) -> Option<String> {
    let url = Url::parse(url).ok()?;
    matches!(url.scheme(), "http" | "https").then(|| url.origin().ascii_serialization())
}

/// True if the pages serve only the user of this machine: `base_url` is unset, or names this machine.
pub(crate) fn is_personal(settings: &PageSettings) -> bool {
    let Some(base) = settings.base_url.as_deref() else { return true };
    Url::parse(base).is_ok_and(|url| is_of_this_machine(&url))
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OperatorContact {
    /// The contact as the operator wrote it.
    pub(crate) text: String,
    /// The contact as a URI, if its scheme is allowed in a link.
    pub(crate) uri: Option<String>,
    /// True if RFC 9116 §2.5.3 allows the contact in security.txt: a web URI must be https.
    pub(crate) fit_for_security_txt: bool,
}

impl OperatorContact {
    pub(crate) fn parse(raw: &str) -> Option<OperatorContact> {
        // A line break would let a setting add fields to security.txt.
        let text: String = raw.chars().filter(|c| !c.is_control()).collect();
        let text = text.trim().to_owned();
        if text.is_empty() {
            return None;
        }
        let bare_mail = text.contains('@') && !text.contains(':') && !text.contains(char::is_whitespace);
        let candidate = if bare_mail { format!("mailto:{text}") } else { text.clone() };
        let uri = Url::parse(&candidate).ok().filter(|u| matches!(u.scheme(), "http" | "https" | "mailto" | "tel"));
        let fit_for_security_txt = uri.as_ref().is_some_and(|u| u.scheme() != "http");
        let text = text.strip_prefix("mailto:").map_or(text.clone(), str::to_owned);
        Some(OperatorContact { text, uri: uri.map(String::from), fit_for_security_txt })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;

    #[test]
    fn a_contact_is_a_link_where_it_can_be_one() {
        for (raw, uri) in [
            ("help@example.org", "mailto:help@example.org"),
            ("mailto:help@example.org", "mailto:help@example.org"),
            ("https://example.org/contact", "https://example.org/contact"),
            ("ring twice", ""),
            ("javascript:alert(1)", ""),
        ] {
            assert_eq!(OperatorContact::parse(raw).unwrap().uri.unwrap_or_default(), uri, "{raw}");
        }
        assert_eq!(OperatorContact::parse("  \r\n"), None);
        assert!(!OperatorContact::parse("http://example.org/").unwrap().fit_for_security_txt);
        assert!(!OperatorContact::parse("me@example.org\r\nPolicy: x").unwrap().text.contains('\n'));
    }

    #[test]
    fn with_an_address_for_the_public_callers_on_loopback_may_be_anybody() {
        let with = |base: Option<&str>| {
            is_personal(&PageSettings { base_url: base.map(str::to_owned), ..PageSettings::new([1; 32]) })
        };
        for base in [None, Some("http://127.0.0.1:8080/"), Some("http://[::1]:8080"), Some("http://localhost:8080")] {
            assert!(with(base), "{base:?}");
        }
        for base in ["https://search.example", "http://192.0.2.1", "http://localhost.example", "nonsense"] {
            assert!(!with(Some(base)), "{base}");
        }
    }

    #[test]
    fn only_the_origin_of_the_base_url_counts() {
        assert_eq!(origin_of("https://search.example/some/path?x=1").as_deref(), Some("https://search.example"));
        assert_eq!(origin_of("http://127.0.0.1:8080/").as_deref(), Some("http://127.0.0.1:8080"));
        assert_eq!(origin_of("ftp://search.example"), None);
        assert_eq!(origin_of("search.example"), None);
    }
}
