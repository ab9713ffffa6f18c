//! Resolves addresses: absolute, `http(s)`, of limited length, without a password.

use curlew_text::leftovers::is_leftover;
pub(crate) use curlew_text::url::is_absolute;
use curlew_text::url::{parse, web};
use url::Url;

/// Resolves an address; `None` if unusable.
pub(crate) fn resolve(text: &str, base: &Url, max_bytes: usize) -> Option<String> {
    let text = Some(text.trim()).filter(|text| !is_leftover(text))?;
    let url = web(text, base, max_bytes)?;
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
