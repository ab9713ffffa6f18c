//! Origin check: accepts a POST only from a page of ours (hostile.md's "cross-site POST"). There is no cookie to abuse,
//! but other sites' pages must not make their visitors suggest sites.

use axum::http::HeaderMap;
use axum::http::header::{HOST, ORIGIN};
use url::Url;

/// True if the request may come from a form on our own page. `own` is our configured origin.
///
/// Browsers send `Sec-Fetch-Site` to trustworthy URLs, and `Origin` with every POST; a caller that sends neither is no
/// browser, so it acts with no authority but its own.
pub(crate) fn is_ours(headers: &HeaderMap, own: Option<&str>) -> bool {
    if let Some(site) = headers.get("sec-fetch-site") {
        // `none` is a person's own act, such as sending the form again after a reload.
        return site == "same-origin" || site == "none";
    }
    let Some(origin) = headers.get(ORIGIN) else { return true };
    let Ok(origin) = origin.to_str() else { return false };
    match own {
        Some(own) => origin.eq_ignore_ascii_case(own),
        None => is_the_host(origin, headers),
    }
}

/// True if the origin's authority is the one that the request was sent to; used without a configured origin. A page
/// cannot make a browser send another `Host`, and the value is used for nothing but this comparison.
fn is_the_host(origin: &str, headers: &HeaderMap) -> bool {
    let Some(host) = headers.get(HOST).and_then(|h| h.to_str().ok()) else { return false };
    let Ok(origin) = Url::parse(origin) else { return false };
    let Ok(asked) = Url::parse(&format!("{}://{host}", origin.scheme())) else { return false };
    origin.host().is_some() && origin.origin() == asked.origin()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs.iter().map(|(n, v)| (n.parse().unwrap(), v.parse().unwrap())).collect()
    }

    #[test]
    fn fetch_metadata_decides_when_it_is_there() {
        for (site, ours) in [("same-origin", true), ("none", true), ("same-site", false), ("cross-site", false)] {
            let headers = headers(&[("sec-fetch-site", site), ("origin", "https://search.example")]);
            assert_eq!(is_ours(&headers, Some("https://search.example")), ours, "{site}");
        }
    }

    #[test]
    fn the_origin_must_be_the_configured_one() {
        let own = Some("https://search.example");
        assert!(is_ours(&headers(&[("origin", "https://search.example")]), own));
        let lie = [("origin", "https://evil.example"), ("host", "evil.example")];
        for bad in
            ["http://search.example", "https://search.example.evil.example", "null", "https://search.example:8443"]
        {
            assert!(!is_ours(&headers(&[("origin", bad), ("host", "search.example")]), own), "{bad}");
        }
        assert!(!is_ours(&headers(&lie), own));
        assert!(is_ours(&headers(&[]), own));
    }

    #[test]
    fn without_a_configured_origin_it_must_be_the_host_that_was_asked() {
        assert!(is_ours(&headers(&[("origin", "http://10.0.0.5:8080"), ("host", "10.0.0.5:8080")]), None));
        assert!(is_ours(&headers(&[("origin", "https://search.example"), ("host", "search.example:443")]), None));
        for (origin, host) in
            [("https://evil.example", "search.example"), ("null", "search.example"), ("https://a", "")]
        {
            assert!(!is_ours(&headers(&[("origin", origin), ("host", host)]), None), "{origin} {host}");
        }
    }
}
