//! Resolves, cleans and classifies URLs found in pages.

use crate::lists::PROFILES;
use curlew_text::leftovers::is_leftover_address;
use curlew_text::url::{bare, web};
use memchr::memchr2;
use url::{Host, Url};

/// Resolves a reference to an http(s) URL of at most `max_bytes`, without user information and fragment.
pub(crate) fn resolve(base: &Url, reference: &str, max_bytes: usize) -> Option<Url> {
    let mut url = web(reference, base, max_bytes)?;
    url.set_fragment(None);
    (url.as_str().len() <= max_bytes).then_some(url)
}

/// True if a URL is that of an icon, a tracking pixel, a placeholder, another kind of file, or a template's leftover.
pub(crate) fn is_ornament(base: &Url, url: &Url) -> bool {
    let path = url.path().to_ascii_lowercase();
    let name = path.rsplit('/').next().unwrap_or_default();
    let kind = [".svg", ".ico", ".mp4", ".webm", ".mp3", ".pdf", ".js"].iter().any(|end| name.ends_with(end));
    let words =
        ["spacer", "pixel.", "1x1", "blank.", "placeholder", "favicon", "sprite", "gravatar", "spinner", "loading."];
    // A template that was not filled in leads to the front page.
    let empty = path == "/" && url.query().is_none();
    let is_of_nobody = match url.host() {
        Some(Host::Ipv4(ip)) => ip.is_loopback() || ip.is_private() || ip.is_link_local() || ip.is_unspecified(),
        Some(Host::Ipv6(ip)) => ip.is_loopback() || ip.is_unspecified() || ip.is_unique_local(),
        // In two concatenated URLs, the scheme of the second is part of the first one's host name.
        Some(Host::Domain(name)) => {
            let ends = ["http", "https", "undefined", "null", ".localhost", ".local", ".internal", ".lan"];
            !name.contains('.') || ends.iter().any(|end| name.ends_with(end))
        }
        None => true,
    };
    let is_doubled = || url.host() == base.host() && (path.starts_with("/http://") || path.starts_with("/https://"));
    kind || empty
        || is_doubled()
        || is_leftover_address(url)
        || (is_of_nobody && url.host() != base.host())
        || words.iter().any(|word| name.contains(word))
        || path.contains("/avatar")
        || url.host_str().is_some_and(|host| host.ends_with("gravatar.com"))
}

fn after_scheme(reference: &str) -> Option<&str> {
    ["https://", "http://", "//"].iter().find_map(|scheme| reference.strip_prefix(scheme))
}

/// True if a reference leads to another page on the host of `base`, judged by spelling, since a page has many links.
pub(crate) fn is_own(base: &Url, reference: &str) -> bool {
    let reference = reference.trim();
    match after_scheme(reference) {
        Some(rest) => {
            let host = rest.split(['/', '?', '#', ':']).next().unwrap_or_default();
            base.host_str().is_some_and(|own| bare(own).eq_ignore_ascii_case(bare(host)))
        }
        None => {
            let path = reference.split(['/', '?', '#']).next().unwrap_or_default();
            !reference.is_empty() && !reference.starts_with('#') && !path.contains(':')
        }
    }
}

pub(crate) fn is_home(base: &Url, reference: &str) -> bool {
    matches!(path_of(reference), "" | "/" | "/index.html" | "/index.php") && is_own(base, reference)
}

/// Returns the part of a reference after its host, or all of it if it names none.
fn path_of(reference: &str) -> &str {
    let reference = reference.trim();
    after_scheme(reference).map_or(reference, |host| host.find(['/', '?', '#']).map_or("", |at| &host[at..]))
}

/// True if a reference leads to a folder above the page, like the name of a blog or a section.
pub(crate) fn leads_up(base: &Url, reference: &str) -> bool {
    let path = path_of(reference);
    let within = base.path().strip_prefix(path).is_some_and(|rest| !rest.is_empty());
    path.len() > 1 && path.starts_with('/') && path.ends_with('/') && within && is_own(base, reference)
}

pub(crate) fn base(page: &Url, href: Option<&str>, max_bytes: usize) -> Url {
    href.and_then(|href| resolve(page, href, max_bytes)).unwrap_or_else(|| page.clone())
}

/// True if a URL is that of a page about a writer: a name below a folder of writers.
pub(crate) fn is_profile(href: &str) -> bool {
    const MAX_BYTES: usize = 400;
    if href.len() > MAX_BYTES {
        return false;
    }
    let path = memchr2(b'?', b'#', href.as_bytes()).map_or(href, |end| &href[..end]);
    let mut names = path.as_bytes().rsplit(|byte| *byte == b'/').filter(|name| !name.is_empty());
    let (Some(name), Some(folder)) = (names.next(), names.next()) else { return false };
    let is_folder = |known: &&str| known.len() == folder.len() && known.as_bytes().eq_ignore_ascii_case(folder);
    (!name.ends_with(b".html") || name.len() > 6) && PROFILES.iter().any(is_folder)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn references_to_the_same_host_are_told_from_others() {
        let base: Url = "https://www.site.example.org/news/a".parse().unwrap();
        for own in ["/b", "b?x=1", "https://site.example.org/c", "//www.Site.example.org:443/d", "../e:f"] {
            assert!(is_own(&base, own), "{own}");
        }
        for other in ["#top", "", "mailto:a@example.org", "javascript:void(0)", "https://other.example.net/", "//x/y"] {
            assert!(!is_own(&base, other), "{other}");
        }
    }

    #[test]
    fn the_home_page_of_a_host_is_told_from_its_other_pages() {
        let base: Url = "https://www.site.example.org/news/a".parse().unwrap();
        for home in ["/", "https://site.example.org", "http://www.site.example.org/", "//site.example.org/index.php"] {
            assert!(is_home(&base, home), "{home}");
        }
        for other in ["", "#", "a", "/news/", "/?p=1", "https://site.example.org/?p=1", "https://other.example.net/"] {
            assert!(!is_home(&base, other), "{other}");
        }
    }
}
