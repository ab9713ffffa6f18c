//! Settings of the pages, and values derived from them.

use curlew_crawl::politeness::signing::SignatureMode;
use curlew_model::with_defaults;
use curlew_policy::address::is_of_this_machine;
use curlew_policy::rules::Rules;
use url::Url;

with_defaults! {
    /// Settings of the router, read once at the start. Nothing here reads the environment.
    #[derive(Clone, Debug)]
    pub struct PageSettings {
        /// The name of the search engine, as its pages show it.
        pub title: String = "Curlew".to_owned(),
        /// Public URL of the pages, such as `https://search.example`. Only its origin is used. Without it, features
        /// that need an absolute URL (OpenSearch, feeds, `Canonical` in security.txt) are left out, because the `Host`
        /// header is never trusted.
        pub base_url: Option<String> = None,
        /// True if something in front of the router decides which host names lead here, such as a Lambda function URL.
        /// If false, and `base_url` is unset or names this machine, requests under foreign host names are refused: a
        /// web page may have pointed its own name here (DNS rebinding).
        pub any_host: bool = false,
        /// Our product token in robots.txt files (RFC 9309 §2.2.1).
        pub user_agent_token: String = "CurlewBot".to_owned(),
        /// The full `User-Agent` value, for people who read their logs.
        pub user_agent: String = concat!("CurlewBot/", env!("CARGO_PKG_VERSION")).to_owned(),
        /// The operator's contact: a URL or a mail address.
        pub contact: Option<String> = None,
        /// Secret that signs forms' tokens and hashes callers' addresses. It must be the same in all processes that
        /// serve one site, and known to nobody else.
        pub secret: [u8; 32],
        /// Number of forms per hour, from all callers of one process together, after which each form must be open for a
        /// minute before it is sent. With 0, every form must. Values above 8,192 count as 8,192.
        pub calm_forms_per_hour: usize = 120,
        /// Maximum number of searches per minute by one address, on the pages and the API together. Calls from loopback
        /// are not limited if `base_url` is unset or names this machine: they come from its user.
        pub searches_per_minute: u32 = 120,
        /// True to serve the tools for assistants (MCP) at `/mcp`.
        pub mcp: bool = false,
        /// Requests that are signed once there is a key, if any; stated on the bot page.
        pub signatures: Option<SignatureMode> = None,
        /// The crawler's politeness rules, stated on the bot page.
        pub rules: Rules = Rules::default(),
    }

    /// Returns the default settings. The secret has no default, because it must not be public.
    new(secret: [u8; 32])
}

impl PageSettings {
    /// Returns the origin of `base_url`, without a trailing slash.
    pub(crate) fn origin(&self) -> Option<String> {
        let url = Url::parse(self.base_url.as_deref()?).ok()?;
        matches!(url.scheme(), "http" | "https").then(|| url.origin().ascii_serialization())
    }

    /// True if the pages serve only the user of this machine: `base_url` is unset, or names this machine.
    pub(crate) fn is_personal(&self) -> bool {
        let Some(base) = self.base_url.as_deref() else { return true };
        Url::parse(base).is_ok_and(|url| is_of_this_machine(&url))
    }
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

    fn with_base(base: Option<&str>) -> PageSettings {
        PageSettings { base_url: base.map(str::to_owned), ..PageSettings::new([1; 32]) }
    }

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
        let with = |base: Option<&str>| with_base(base).is_personal();
        for base in [None, Some("http://127.0.0.1:8080/"), Some("http://[::1]:8080"), Some("http://localhost:8080")] {
            assert!(with(base), "{base:?}");
        }
        for base in ["https://search.example", "http://192.0.2.1", "http://localhost.example", "nonsense"] {
            assert!(!with(Some(base)), "{base}");
        }
    }

    #[test]
    fn only_the_origin_of_the_base_url_counts() {
        assert_eq!(
            with_base(Some("https://search.example/some/path?x=1")).origin().as_deref(),
            Some("https://search.example")
        );
        assert_eq!(with_base(Some("http://127.0.0.1:8080/")).origin().as_deref(), Some("http://127.0.0.1:8080"));
        assert_eq!(with_base(Some("ftp://search.example")).origin(), None);
        assert_eq!(with_base(Some("search.example")).origin(), None);
    }
}
