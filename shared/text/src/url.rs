//! Parses untrusted URLs.

use std::borrow::Cow;
use url::{ParseError, Url};

/// Maximum length of a host name, in characters (RFC 1035 §2.3.4).
const NAME: usize = 253;
/// Maximum length of a label of a host name, in characters (RFC 1035 §2.3.4), before and after IDNA mapping.
const LABEL: usize = 63;

/// Parses a URL, relative to `base` if given. The old pseudo-scheme `feed:` is replaced by the scheme after it, or else
/// by the scheme of the base, or `http`. A reference that begins with `www.` or the base's host gets a scheme, and
/// `https:/example.org/` its second slash. Of two schemes in a row (`https://https://`), the last counts.
///
/// # Errors
/// The text is not a URL, or its host name is too long. A long name is rejected before it is decoded, because the time
/// for decoding grows with the square of a label's length.
pub fn parse(text: &str, base: Option<&Url>) -> Result<Url, ParseError> {
    let whole = without_feed_scheme(text.trim(), base);
    let whole = with_slashes(&whole, base);
    let text = &*whole;
    if has_long_label(text, base) {
        return Err(ParseError::IdnaError);
    }
    let url = Url::options().base_url(base).parse(text)?;
    if url.host_str().is_some_and(|host| host.len() > NAME) { Err(ParseError::IdnaError) } else { Ok(url) }
}

/// Removes a leading `feed:`, as in `feed://h/rss`, `feed:https://h/rss` or `feed:://h/rss`.
fn without_feed_scheme<'t>(text: &'t str, base: Option<&Url>) -> Cow<'t, str> {
    let parts = text.split_once(':').filter(|(scheme, _)| scheme.trim_start().eq_ignore_ascii_case("feed"));
    let Some(rest) = parts.map(|(_, rest)| rest.trim_start_matches(':')) else { return text.into() };
    match rest.starts_with("//") {
        true => format!("{}:{rest}", base.map_or("http", Url::scheme)).into(),
        false => rest.into(),
    }
}

/// Adds the slashes that a reference to another host lacks, and drops a scheme before another one.
fn with_slashes<'t>(mut text: &'t str, base: Option<&Url>) -> Cow<'t, str> {
    while let Some(rest) = after_scheme(text).filter(|rest| is_absolute(rest)) {
        text = rest;
    }
    let host = after_scheme(text).unwrap_or(text).split(['/', '?', '#', ':']).next().unwrap_or_default();
    if !host.contains('.') {
        return text.into();
    }
    let is_www = || host.get(..4).is_some_and(|www| www.eq_ignore_ascii_case("www.")) && host[4..].contains('.');
    let is_own = || base.and_then(Url::domain).is_some_and(|own| bare(own).eq_ignore_ascii_case(bare(host)));
    match is_absolute(text) {
        true if !text.contains("://") => text.replacen(":/", "://", 1).into(),
        false if is_www() || is_own() => format!("//{text}").into(),
        _ => text.into(),
    }
}

/// Returns a host name, given in lower case, without `www.`.
pub fn bare(host: &str) -> &str {
    host.strip_prefix("www.").unwrap_or(host)
}

/// True if a text begins with the scheme of a web address.
pub fn is_absolute(text: &str) -> bool {
    after_scheme(text.trim()).is_some()
}

/// Returns the part of an `http` or `https` address after its scheme and slashes.
fn after_scheme(text: &str) -> Option<&str> {
    let rest = text.get(..4).filter(|scheme| scheme.eq_ignore_ascii_case("http")).and(text.get(4..))?;
    let rest = rest.strip_prefix(['s', 'S']).unwrap_or(rest);
    rest.strip_prefix(":/").map(|rest| rest.trim_start_matches('/'))
}

/// Resolves a reference of at most `max_bytes` to an `http` or `https` URL without user information; `None` if invalid.
pub fn web(reference: &str, base: &Url, max_bytes: usize) -> Option<Url> {
    let reference = reference.trim();
    if reference.is_empty() || reference.len() > max_bytes {
        return None;
    }
    let mut url = parse(reference, Some(base)).ok()?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none_or(str::is_empty) {
        return None;
    }
    url.set_username("").ok()?;
    url.set_password(None).ok()?;
    Some(url)
}

/// True if a URL has an authority with a label that is too long.
fn has_long_label(text: &str, base: Option<&Url>) -> bool {
    // URL parsers ignore these characters everywhere (URL standard, "basic URL parser").
    let whole: Cow<'_, str> = match text.contains(['\t', '\n', '\r']) {
        true => text.replace(['\t', '\n', '\r'], "").into(),
        false => text.into(),
    };
    let text = whole.trim_start_matches(|c: char| c <= ' ');
    let scheme = text.split_once(':').filter(|(scheme, _)| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
    });
    let rest = scheme.map_or(text, |(_, rest)| rest);
    let slashes = rest.len() - rest.trim_start_matches(['/', '\\']).len();
    let is_of_base = |scheme: &str| base.is_some_and(|base| base.scheme().eq_ignore_ascii_case(scheme));
    if slashes < 2 && scheme.is_none_or(|(scheme, _)| slashes == 0 && is_of_base(scheme)) {
        return false;
    }
    let authority = rest.get(slashes..).unwrap_or_default();
    let authority = authority.split(['/', '\\', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    host.split(['.', '。', '．', '｡']).any(|label| !label.starts_with('[') && characters(label) > LABEL)
}

/// Returns the number of characters in a label. A percent-encoded character counts as one (RFC 3986 §2.1).
fn characters(label: &str) -> usize {
    let (mut rest, mut number) = (label.as_bytes(), 0);
    while let [byte, more @ ..] = rest {
        let hex = more.first_chunk::<2>().filter(|_| *byte == b'%').and_then(|hex| std::str::from_utf8(hex).ok());
        let encoded = hex.and_then(|hex| u8::from_str_radix(hex, 16).ok());
        // Continuation bytes of a character begin with these bits (RFC 3629 §3).
        number += usize::from(encoded.unwrap_or(*byte) & 0xC0 != 0x80);
        rest = if encoded.is_some() { more.get(2..).unwrap_or_default() } else { more };
    }
    number
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;

    #[test]
    fn the_scheme_feed_stands_for_the_one_behind_it() {
        let base: Url = "https://example.org/a/b".parse().unwrap();
        for (text, alone, in_a_page) in [
            ("feed://h.example/rss", "http://h.example/rss", "https://h.example/rss"),
            (" FEED://h.example/rss ", "http://h.example/rss", "https://h.example/rss"),
            ("feed:https://h.example/rss", "https://h.example/rss", "https://h.example/rss"),
            ("Feed:http://h.example/rss", "http://h.example/rss", "http://h.example/rss"),
            ("feed:://h.example/rss", "http://h.example/rss", "https://h.example/rss"),
            ("feed:/rss", "", "https://example.org/rss"),
            ("https://h.example/feed:1", "https://h.example/feed:1", "https://h.example/feed:1"),
        ] {
            assert_eq!(parse(text, None).map(String::from).unwrap_or_default(), alone, "{text}");
            assert_eq!(parse(text, Some(&base)).map(String::from).unwrap_or_default(), in_a_page, "{text}");
        }
        assert!(parse(&format!("feed://xn--{}", "a".repeat(1_985)), None).is_err());
    }

    #[test]
    fn an_address_without_its_scheme_is_that_of_the_host_that_it_names() {
        let base: Url = "https://www.example.org/a/b".parse().unwrap();
        for (text, whole) in [
            ("www.example.org/post", "https://www.example.org/post"),
            (" Example.org/post?x=1", "https://example.org/post?x=1"),
            ("example.org", "https://example.org/"),
            ("WWW.other.example:8080/post", "https://www.other.example:8080/post"),
            ("https:/other.example/post", "https://other.example/post"),
            ("http://https://other.example/post", "https://other.example/post"),
            ("https://archive.example/https://a.example/", "https://archive.example/https://a.example/"),
            ("example.org.html", "https://www.example.org/a/example.org.html"),
            ("www.html", "https://www.example.org/a/www.html"),
            ("other.example/post", "https://www.example.org/a/other.example/post"),
            ("/example.org/post", "https://www.example.org/example.org/post"),
            ("http://example.org/post", "http://example.org/post"),
        ] {
            assert_eq!(parse(text, Some(&base)).map(String::from), Ok(whole.to_owned()), "{text}");
        }
    }

    #[test]
    fn names_that_no_host_has_are_refused_before_they_are_decoded() {
        let long = "a".repeat(1_985);
        let base: Url = "https://example.org/a/b".parse().unwrap();
        for text in [
            format!("http://xn--{long}"),
            format!("  HTTP:\\\\xn--{long}/path"),
            format!("ht\ntp://x\tn--{long}"),
            format!("//user:secret@xn--{long}:80/"),
            format!("http:xn--{long}"),
            format!("h{}ttp://xn--{long}", "\t".repeat(64)),
            format!("https://%78n--{long}/"),
            format!("https://{}example.org/", "label.".repeat(50)),
        ] {
            assert!(parse(&text, Some(&base)).is_err(), "{text:.60}");
        }
        for (text, whole) in [
            ("c", "https://example.org/a/c".to_owned()),
            ("//example.net/d", "https://example.net/d".to_owned()),
            ("https://bücher.example/", "https://xn--bcher-kva.example/".to_owned()),
            ("http://[2001:db8::1]:8080/", "http://[2001:db8::1]:8080/".to_owned()),
            (&long, format!("https://example.org/a/{long}")),
            (&format!("https:{long}"), format!("https://example.org/a/{long}")),
            (
                "https://%D0%BF%D1%80%D0%B8%D0%BC%D0%B5%D1%80%D0%BF%D1%80%D0%B8%D0%BC%D0%B5%D1%80.example/",
                "https://xn--e1aahbscqdfdbd.example/".into(),
            ),
            (&format!("/{long}:x"), format!("https://example.org/{long}:x")),
            (&format!("https://example.net/{long}"), format!("https://example.net/{long}")),
        ] {
            assert_eq!(parse(text, Some(&base)).map(String::from), Ok(whole), "{text:.60}");
        }
    }
}
