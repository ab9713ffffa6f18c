//! Origin check: accepts a POST only from our own pages. Other sites' pages must not make their visitors suggest sites,
//! or act with an operator's session. Pages for this machine's user are not served under foreign host names (DNS
//! rebinding).

use axum::http::HeaderMap;
use axum::http::header::{HOST, ORIGIN};
use curlew_policy::address::is_of_this_machine;
use url::{Host, Url};

/// True if the request may come from a form on one of our pages. `own` is our configured origin.
///
/// Browsers send `Sec-Fetch-Site` to trustworthy URLs, and `Origin` with every POST. A caller that sends neither is not
/// a browser, so it does not act on behalf of a visitor.
pub(crate) fn is_ours(headers: &HeaderMap, own: Option<&str>) -> bool {
    if let Some(site) = headers.get("sec-fetch-site") {
        // `none` means that the user started the request, for example by a reload that sends the form again.
        return site == "same-origin" || site == "none";
    }
    let Some(origin) = headers.get(ORIGIN) else { return true };
    let Ok(origin) = origin.to_str() else { return false };
    if let Some(own) = own { origin.eq_ignore_ascii_case(own) } else { is_the_host(origin, headers) }
}

/// True if `origin` has the authority that the request was sent to. Used only if no origin is configured. A page cannot
/// make a browser send another `Host`, and the value is used only for this comparison.
fn is_the_host(origin: &str, headers: &HeaderMap) -> bool {
    let Ok(origin) = Url::parse(origin) else { return false };
    let asked = asked_host(headers, origin.scheme());
    origin.host().is_some() && asked.is_some_and(|asked| origin.origin() == asked.origin())
}

/// False if a browser may have reached us under a foreign host name. IP addresses, `localhost` and names without a dot,
/// as of machines or containers in the same network (RFC 7085), are ours. A browser always sends `Host`.
pub(crate) fn is_by_own_name(headers: &HeaderMap) -> bool {
    let is_own = |url: Url| match url.host() {
        Some(Host::Domain(name)) => !name.contains('.') || is_of_this_machine(&url),
        other => other.is_some(),
    };
    !headers.contains_key(HOST) || asked_host(headers, "http").is_some_and(is_own)
}

/// Returns the host and port of the `Host` header as a URL with this scheme; `None` if it is missing or invalid.
pub fn asked_host(headers: &HeaderMap, scheme: &str) -> Option<Url> {
    Url::parse(&format!("{scheme}://{}", headers.get(HOST)?.to_str().ok()?)).ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;

    fn headers(pairs: &[(&str, &str)]) -> HeaderMap {
        pairs.iter().map(|(n, v)| (n.parse().unwrap(), v.parse().unwrap())).collect()
    }

    #[test]
    fn a_post_is_ours_by_fetch_metadata_or_by_the_configured_origin_or_by_the_host_that_was_asked() {
        let own = "https://search.example";
        for (pairs, own, expected) in [
            (&[("sec-fetch-site", "same-origin"), ("origin", own)][..], Some(own), true),
            (&[("sec-fetch-site", "none"), ("origin", own)], Some(own), true),
            (&[("sec-fetch-site", "same-site"), ("origin", own)], Some(own), false),
            (&[("sec-fetch-site", "cross-site"), ("origin", own)], Some(own), false),
            (&[("origin", own)], Some(own), true),
            (&[], Some(own), true),
            (&[("origin", "http://search.example"), ("host", "search.example")], Some(own), false),
            (&[("origin", "https://search.example.evil.example"), ("host", "search.example")], Some(own), false),
            (&[("origin", "null"), ("host", "search.example")], Some(own), false),
            (&[("origin", "https://search.example:8443"), ("host", "search.example")], Some(own), false),
            (&[("origin", "https://evil.example"), ("host", "evil.example")], Some(own), false),
            (&[("origin", "http://10.0.0.5:8080"), ("host", "10.0.0.5:8080")], None, true),
            (&[("origin", own), ("host", "search.example:443")], None, true),
            (&[("origin", "https://evil.example"), ("host", "search.example")], None, false),
            (&[("origin", "null"), ("host", "search.example")], None, false),
            (&[("origin", "https://a"), ("host", "")], None, false),
        ] {
            assert_eq!(is_ours(&headers(pairs), own), expected, "{pairs:?} {own:?}");
        }
    }

    #[test]
    fn a_name_of_others_is_told_from_addresses_and_names_of_this_network() {
        let own = "localhost:8080 127.0.0.1 192.168.1.7:8080 [::1]:8080 [fe80::1] nas a.localhost";
        let others = "evil.example | evil.example:8080 | 127.0.0.1.evil.example | localhost.evil.example | a b | ";
        let is_own = |host| is_by_own_name(&headers(&[("host", host)]));
        assert!(own.split(' ').all(is_own) && !others.split(" | ").any(is_own));
        assert!(is_by_own_name(&headers(&[])), "no browser");
    }
}
