//! URLs found in pages: resolved, cleaned, and only those that could be called at all.

use crate::Limits;
use crate::glance::Glance;
use crate::opengraph::OpenGraph;
use url::Url;

/// Resolves a reference against a base. Only http and https come back, without user information and fragment, and
/// no longer than `max_bytes`. Whether the address may be called is for the address guard to say.
pub(crate) fn resolve(base: &Url, reference: &str, max_bytes: usize) -> Option<Url> {
    let reference = reference.trim();
    if reference.is_empty() || reference.len() > max_bytes {
        return None;
    }
    let mut url = base.join(reference).ok()?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none_or(str::is_empty) {
        return None;
    }
    url.set_username("").ok()?;
    url.set_password(None).ok()?;
    url.set_fragment(None);
    (url.as_str().len() <= max_bytes).then_some(url)
}

/// The base for a page's references: `<base href>` when it leads to http or https, else the page's own address.
pub(crate) fn base(page: &Url, href: Option<&str>, max_bytes: usize) -> Url {
    href.and_then(|href| resolve(page, href, max_bytes)).unwrap_or_else(|| page.clone())
}

/// The canonical URL: what `<link rel=canonical>` says if it says one thing, else `og:url` when it stays on the host.
pub(crate) fn canonical(head: &Glance, graph: &OpenGraph<'_>, page: &Url, limits: &Limits) -> Option<Url> {
    if head.canonical.is_some() || head.canonical_conflict {
        return head.canonical.clone();
    }
    let url = resolve(page, graph.url?, limits.url_bytes)?;
    let same_host = url.host_str().zip(page.host_str()).is_some_and(|(a, b)| bare(a) == bare(b));
    // A front page named on every page of a site is a template's mistake.
    (same_host && (url.path() != "/" || page.path() == "/")).then_some(url)
}

fn bare(host: &str) -> &str {
    host.strip_prefix("www.").unwrap_or(host)
}
