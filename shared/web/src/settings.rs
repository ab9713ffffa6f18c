//! What the operator decides about the pages.

use curlew_model::Millis;
use url::Url;

/// Settings of the router. Read once at the start; nothing here is read from the environment.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The name of the search engine, as its pages show it.
    pub title: String,
    /// Where the pages are reached from outside, such as `https://search.example`. Only its origin is used.
    /// Without it, what needs an absolute URL of our own (OpenSearch, the robots and security files' own
    /// addresses) is left out: the `Host` header is never believed.
    pub base_url: Option<String>,
    /// The product token that robots.txt files name us by (RFC 9309 §2.2.1).
    pub user_agent_token: String,
    /// The full `User-Agent` value, for people who look into their logs.
    pub user_agent: String,
    /// Where to write to: a URL or a mail address.
    pub contact: Option<String>,
    /// Signs the form's token and hashes callers' addresses. Must be the same in all processes that serve
    /// one site, and known to nobody else.
    pub secret: [u8; 32],
    /// How many forms one address may send a minute.
    pub forms_per_minute: u32,
    /// How many searches, page or API, one address may make a minute. Calls from the loopback
    /// address are not counted: they are the operator's own, or a proxy's, which has to count for itself.
    pub searches_per_minute: u32,
    /// What the bot page says of the crawler's manners.
    pub manners: Manners,
}

/// Manners of the crawler, as they are configured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Manners {
    /// The usual time between two polls of a feed.
    pub poll_interval: Millis,
    /// The least time between two calls to a host key.
    pub min_pause: Millis,
    /// How long a host is left alone after it has refused, at least.
    pub hold_refused: Millis,
    /// How long it is left alone after errors of its server, at least.
    pub hold_server_error: Millis,
}

impl Default for Manners {
    fn default() -> Manners {
        Manners {
            poll_interval: Millis::from_hours(8),
            min_pause: Millis::from_secs(1),
            hold_refused: Millis::from_days(3),
            hold_server_error: Millis::from_days(2),
        }
    }
}

/// Forms of one address a minute, unless configured.
const FORMS_PER_MINUTE: u32 = 10;
/// Searches of one address a minute, unless configured.
const SEARCHES_PER_MINUTE: u32 = 120;

impl Settings {
    /// The defaults. There is none for the secret: one that everybody knows signs nothing.
    pub fn new(secret: [u8; 32]) -> Settings {
        Settings {
            title: "Curlew".to_owned(),
            base_url: None,
            user_agent_token: "CurlewBot".to_owned(),
            user_agent: concat!("CurlewBot/", env!("CARGO_PKG_VERSION")).to_owned(),
            contact: None,
            secret,
            forms_per_minute: FORMS_PER_MINUTE,
            searches_per_minute: SEARCHES_PER_MINUTE,
            manners: Manners::default(),
        }
    }

    /// The origin of [`Settings::base_url`] without a slash at its end, if it is an http(s) URL.
    pub(crate) fn origin(&self) -> Option<String> {
        let url = Url::parse(self.base_url.as_deref()?).ok()?;
        matches!(url.scheme(), "http" | "https").then(|| url.origin().ascii_serialization())
    }

    /// The contact as people read it and as a link leads to it.
    pub(crate) fn contact(&self) -> Option<Contact> {
        self.contact.as_deref().and_then(Contact::of)
    }
}

/// Where to write to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Contact {
    /// As the operator wrote it.
    pub(crate) text: String,
    /// As a URI, when it is one that a link may carry.
    pub(crate) uri: Option<String>,
    /// Whether RFC 9116 §2.5.3 lets it stand in a security.txt: a web URI must be https.
    pub(crate) fit_for_security_txt: bool,
}

impl Contact {
    fn of(raw: &str) -> Option<Contact> {
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
        Some(Contact { text, uri: uri.map(String::from), fit_for_security_txt })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;

    #[test]
    fn a_contact_is_a_link_where_it_can_be_one() {
        let uri = |raw: &str| Contact::of(raw).unwrap().uri;
        assert_eq!(uri("help@example.org").as_deref(), Some("mailto:help@example.org"));
        assert_eq!(uri("mailto:help@example.org").as_deref(), Some("mailto:help@example.org"));
        assert_eq!(uri("https://example.org/contact").as_deref(), Some("https://example.org/contact"));
        assert_eq!(uri("ring twice"), None);
        assert_eq!(uri("javascript:alert(1)"), None);
        assert_eq!(Contact::of("  \r\n"), None);
        assert!(!Contact::of("http://example.org/").unwrap().fit_for_security_txt);
        assert!(!Contact::of("help@example.org\r\nPolicy: https://evil.example").unwrap().text.contains('\n'));
    }

    #[test]
    fn only_the_origin_of_the_base_url_counts() {
        let with = |base: &str| Settings { base_url: Some(base.to_owned()), ..Settings::new([1; 32]) }.origin();
        assert_eq!(with("https://search.example/some/path?x=1").as_deref(), Some("https://search.example"));
        assert_eq!(with("http://127.0.0.1:8080/").as_deref(), Some("http://127.0.0.1:8080"));
        assert_eq!(with("ftp://search.example"), None);
        assert_eq!(with("search.example"), None);
    }
}
