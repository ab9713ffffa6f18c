//! Resolves addresses: absolute, `http(s)`, of limited length, without a password.

use curlew_text::leftovers::is_leftover;
use curlew_text::url::{parse, web};
use std::borrow::Cow;
use url::Url;

/// Resolves an address; `None` if unusable. An address that begins with `www.` or the base's host gets a scheme, and
/// `https:/example.org/` its second slash. Of two schemes in a row (`https://https://`), the last counts.
pub(crate) fn resolve(text: &str, base: &Url, max_bytes: usize) -> Option<String> {
    let mut text = Some(text.trim()).filter(|text| !is_leftover(text))?;
    while let Some(rest) = after_scheme(text).filter(|rest| is_absolute(rest)) {
        text = rest;
    }
    let host = after_scheme(text).unwrap_or(text).split(['/', '?', '#', ':']).next().unwrap_or_default();
    let is_www = || host.get(..4).is_some_and(|www| www.eq_ignore_ascii_case("www.")) && host[4..].contains('.');
    let is_own = || host.contains('.') && base.host_str().is_some_and(|own| own.eq_ignore_ascii_case(host));
    let whole = match is_absolute(text) {
        true if host.contains('.') && !text.contains("://") => Cow::Owned(text.replacen(":/", "://", 1)),
        false if is_www() || is_own() => Cow::Owned(format!("//{text}")),
        _ => Cow::Borrowed(text),
    };
    let url = web(&whole, base, max_bytes)?;
    (url.as_str().len() <= max_bytes).then(|| url.into())
}

/// Returns the base URL set by an `xml:base` attribute inside the base `outer` (XML Base §3).
pub(crate) fn rebase(value: &str, outer: &Url, max_bytes: usize) -> Option<Url> {
    let value = value.trim();
    if value.len() > max_bytes {
        return None;
    }
    parse(value, Some(outer)).ok().filter(|u| matches!(u.scheme(), "http" | "https") && u.as_str().len() <= max_bytes)
}

/// True if an id can be the address of the entry's page, which is the default meaning of `guid`.
pub(crate) fn is_absolute(text: &str) -> bool {
    after_scheme(text.trim()).is_some()
}

/// Returns the part of an `http` or `https` address after its scheme and slashes.
fn after_scheme(text: &str) -> Option<&str> {
    let (scheme, rest) = text.split_once(":/")?;
    let is_web = scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https");
    is_web.then(|| rest.trim_start_matches('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_web_addresses_are_kept() {
        let base: Url = "https://example.org/blog/feed".parse().expect("a URL");
        let kept = |text: &str| resolve(text, &base, 2_048);
        assert_eq!(kept(" post/1 ").as_deref(), Some("https://example.org/blog/post/1"));
        let archived = "https://archive.example/https://example.net/a";
        assert_eq!(kept(archived).as_deref(), Some(archived));
        assert_eq!(kept("//example.net/a").as_deref(), Some("https://example.net/a"));
        assert_eq!(kept("http://user:secret@example.net/a").as_deref(), Some("http://example.net/a"));
        for bad in [
            "",
            "null",
            "undefined",
            "{{ page.url }}",
            "javascript:alert(1)",
            "data:text/html,x",
            "mailto:a@example.org",
            "file:///etc/passwd",
            "http://",
        ] {
            assert_eq!(kept(bad), None, "{bad}");
        }
        assert_eq!(kept(&format!("/{}", "a".repeat(100_000))), None);
    }
}
