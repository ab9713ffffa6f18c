//! Reads the canonical URL and the page's directives from the tree. No directive may be missed, but the tree does not
//! show the content of `<noscript>` and `<template>`: if the page has more such tags, `scan_head` reads all of them.

use crate::choose::Evidence;
use crate::read::gate::Unreadable;
use crate::read::links::resolve;
use crate::read::outline::Outline;
use crate::read::scan_head::{HeadScan, one_of, scan_head};
use curlew_text::html::Pieces;
use curlew_text::hygiene::line;
use curlew_text::url::bare;
use memchr::memchr_iter;
use url::Url;

/// Reads canonical URL and directives from the outline if that is complete, or else from the tags, within their limits.
pub(crate) fn read(html: &str, outline: &Outline<'_>) -> Result<HeadScan, Unreadable> {
    let limits = &outline.limits;
    if hides_tags(html, outline) {
        return scan_head(html, &outline.page, limits);
    }
    let (canonical, canonical_conflict) = one_of(outline.canonicals.iter().copied(), &outline.base, limits.url_bytes);
    let robots = outline.robots.iter().take(limits.robots_metas);
    let robots_meta = robots.map(|(name, content)| (name.clone(), line(content, limits.robots_bytes))).collect();
    Ok(HeadScan { canonical, canonical_conflict, robots_meta, ..HeadScan::default() })
}

/// True if there may be a `meta` tag, or a canonical link, that the tree does not show; comments and scripts count too.
fn hides_tags(html: &str, outline: &Outline<'_>) -> bool {
    const MAX_LINK_BYTES: usize = 4_096;
    const MAX_ATTRIBUTES: usize = 32;
    /// Number of bytes of links that are read for each byte of the page, so that nested links are not read repeatedly.
    const MAX_TIMES: usize = 4;
    let (mut metas, mut left) = (0, MAX_TIMES * html.len());
    memchr_iter(b'<', html.as_bytes()).any(|at| {
        let tag = html.get(at..).unwrap_or_default();
        let named =
            |name: &[u8]| tag.as_bytes().get(1..=name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name));
        metas += usize::from(named(b"meta"));
        if outline.canonicals.is_empty() && named(b"link") {
            let head = tag.get(..tag.ceil_char_boundary(MAX_LINK_BYTES)).unwrap_or(tag);
            let is_enough = left < head.len();
            left = left.saturating_sub(head.len());
            let mut pieces = Pieces::new(head, MAX_ATTRIBUTES);
            let ends = pieces.next_piece(|| false).is_some();
            let rel = pieces.attribute("rel").unwrap_or_default();
            let is_canonical = rel.split_ascii_whitespace().any(|word| word.eq_ignore_ascii_case("canonical"));
            if is_enough || !ends || is_canonical || pieces.has_too_many_attributes() {
                return true;
            }
        }
        metas > outline.meta_tags
    })
}

/// Returns the canonical URL and its source: `link` if all canonical links agree; else `og:url` on the same host; else
/// the URL in JSON-LD (`mainEntityOfPage`), `twitter:url` or microdata, if it has the page's path.
pub(crate) fn canonical(head: &HeadScan, evidence: Evidence<'_>) -> Option<(Url, &'static str)> {
    let Evidence { outline, linked, .. } = evidence;
    let (page, max_bytes) = (&outline.page, outline.limits.url_bytes);
    if head.canonical.is_some() || head.canonical_conflict {
        return head.canonical.clone().map(|url| (url, "link"));
    }
    let same_host = |url: &Url| url.host_str().zip(page.host_str()).is_some_and(|(a, b)| bare(a) == bare(b));
    // A front page named on every page of a site is a mistake of the template.
    let shared = outline.meta(&["og:url"]).and_then(|url| resolve(page, url, max_bytes));
    if let Some(url) = shared.filter(|url| same_host(url) && (url.path() != "/" || page.path() == "/")) {
        return Some((url, "og:url"));
    }
    let own = |told: Option<&str>, by| {
        let url = resolve(page, told?, max_bytes)?;
        (same_host(&url) && url.path().trim_end_matches('/') == page.path().trim_end_matches('/')).then_some((url, by))
    };
    let micro = outline.props.iter().find(|prop| prop.names.split_ascii_whitespace().any(|n| n == "mainEntityOfPage"));
    own(linked.address.as_deref(), "jsonld")
        .or_else(|| own(outline.meta(&["twitter:url"]), "twitter:url"))
        .or_else(|| own(micro.map(|prop| prop.value.as_str()).filter(|value| !value.is_empty()), "microdata"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use crate::{Limits, extract, scan_head};

    /// The tree and the tags must yield the same directives, also in places that the tree does not show.
    #[test]
    fn no_directive_is_missed_wherever_it_stands() {
        let page = "https://site.example.org/news/a".parse().unwrap();
        let limits = Limits::default();
        for html in [
            "<meta name=robots content=noindex>",
            "<META CONTENT='NoIndex, follow' NAME=' Robots '><meta property=robots content=nosnippet>",
            "<noscript><meta name=robots content=noindex></noscript>",
            "<body><div><meta name=googlebot content='max-snippet:5'></div>",
            "<template><meta name=robots content=none></template><svg><meta name=robots content=all></svg>",
            "<select><meta name=robots content=noindex></select><table><meta name=robots content=noarchive>",
            "<!-- <meta name=robots content=noindex> --><script>'<meta name=robots content=none>'</script>",
            "<meta http-equiv=refresh name=robots content='1'><meta name=robots>",
            "<link rel='alternate canonical' href=/b><base href=/x/><link rel=canonical href=/b>",
            "<noscript><link rel=canonical href=/c></noscript>",
            "<link rel=canonical href=/b><link rel=canonical href=/c>",
            "<frameset><meta name=robots content=noindex></frameset>",
        ] {
            let seen = scan_head(html, &page, &limits).unwrap();
            let article = extract(html, &page, &limits).unwrap();
            assert_eq!((seen.canonical, seen.robots_meta), (article.canonical, article.robots_meta), "{html}");
        }
    }
}
