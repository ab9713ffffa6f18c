//! XML namespaces: maps declared and undeclared prefixes to vocabularies.

use crate::{FeedError, limits::MAX_NAMESPACES, token::Tag};
use std::borrow::Cow;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ns {
    /// Elements of the feed's own format: RSS of any version, or Atom in an Atom feed.
    Core,
    /// Atom elements, in any feed.
    Atom,
    Content,
    /// Dublin Core elements and terms.
    Dc,
    Itunes,
    /// RSS syndication module.
    Sy,
    Rdf,
    Xhtml,
    /// SVG and MathML, whose elements are also part of HTML.
    InHtml,
    Media,
    /// Atom's tombstones (RFC 6721).
    Tombstone,
    /// Feed paging and archiving (RFC 5005).
    History,
    /// OpenSearch elements that describe a list of results.
    OpenSearch,
    Other,
}

/// Maximum number of prefixes for HTML elements per text. Elements with further prefixes keep them.
pub(crate) const MAX_HTML_PREFIXES: usize = 16;

#[derive(Default)]
pub(crate) struct Names<'a> {
    declared: Vec<(&'a str, Ns)>,
}

impl<'a> Names<'a> {
    pub(crate) fn mark(&self) -> usize {
        self.declared.len()
    }

    pub(crate) fn restore(&mut self, mark: usize) {
        self.declared.truncate(mark);
    }

    pub(crate) fn declare(&mut self, tag: &Tag<'a>) -> Result<(), FeedError> {
        if tag.attributes.len() < 5 || !tag.attributes.contains("xmlns") && !tag.attributes.contains("XMLNS") {
            return Ok(());
        }
        for (name, value) in tag.attributes() {
            let prefix = match name.split_once(':') {
                Some((xmlns, prefix)) if xmlns.eq_ignore_ascii_case("xmlns") => prefix,
                None if name.eq_ignore_ascii_case("xmlns") => "",
                _ => continue,
            };
            if self.declared.len() == MAX_NAMESPACES {
                return Err(FeedError::TooLarge { what: "namespace declarations", limit: MAX_NAMESPACES });
            }
            self.declared.push((prefix, of_uri(value.trim(), prefix)));
        }
        Ok(())
    }

    /// Treats the default namespace as the feed's own format: an RSS feed that declares Atom's still means RSS.
    pub(crate) fn own_default(&mut self) {
        for (_, ns) in self.declared.iter_mut().filter(|(prefix, _)| prefix.is_empty()) {
            *ns = Ns::Core;
        }
    }

    pub(crate) fn html_prefixes(&self) -> Vec<&'a str> {
        let of_html = self.declared.iter().rev().filter(|(prefix, ns)| is_of_html(*ns) && !prefix.is_empty());
        of_html.map(|(prefix, _)| *prefix).take(MAX_HTML_PREFIXES).collect()
    }

    /// Returns the vocabulary and the lower-case local name of an element.
    pub(crate) fn resolve(&self, name: &'a str) -> (Ns, Cow<'a, str>) {
        let (prefix, local) = name.split_once(':').unwrap_or(("", name));
        let declared = self.declared.iter().rev().find(|(p, _)| *p == prefix).map(|(_, ns)| *ns);
        // No known name is longer than 32 characters.
        let plain = local.len() <= 32 && !local.bytes().any(|b| b.is_ascii_uppercase());
        let lower = || local.chars().take(32).map(|c| c.to_ascii_lowercase()).collect();
        let local = if plain { Cow::Borrowed(local) } else { Cow::Owned(lower()) };
        (declared.unwrap_or_else(|| of_prefix(prefix)), local)
    }
}

/// True if a namespace URI denotes HTML elements.
pub(crate) fn is_html(uri: &str) -> bool {
    is_of_html(of_uri(uri.trim(), "x"))
}

fn is_of_html(ns: Ns) -> bool {
    matches!(ns, Ns::Xhtml | Ns::InHtml)
}

/// Returns the vocabulary of a namespace URI, ignoring case, scheme and trailing signs. Old spellings are included.
fn of_uri(uri: &str, prefix: &str) -> Ns {
    let uri = uri.trim_end_matches(['/', '#']).to_ascii_lowercase();
    let uri = uri.split_once("://").map_or(uri.as_str(), |(_, rest)| rest);
    match uri {
        "www.w3.org/2005/atom" | "purl.org/atom/ns" | "purl.org/net/echo" | "purl.org/atom/1.0" => Ns::Atom,
        "purl.org/rss/1.0/modules/content" => Ns::Content,
        "purl.org/dc/elements/1.1" | "purl.org/dc/elements/1.0" | "purl.org/dc/terms" => Ns::Dc,
        "www.itunes.com/dtds/podcast-1.0.dtd" | "www.google.com/schemas/play-podcasts/1.0" => Ns::Itunes,
        "purl.org/rss/1.0/modules/syndication" => Ns::Sy,
        "www.w3.org/1999/02/22-rdf-syntax-ns" => Ns::Rdf,
        "www.w3.org/1999/xhtml" => Ns::Xhtml,
        "www.w3.org/2000/svg" | "www.w3.org/1998/math/mathml" => Ns::InHtml,
        "search.yahoo.com/mrss" | "tools.search.yahoo.com/mrss" => Ns::Media,
        "purl.org/atompub/tombstones/1.0" => Ns::Tombstone,
        "purl.org/syndication/history/1.0" => Ns::History,
        "a9.com/-/spec/opensearch/1.1" | "a9.com/-/spec/opensearchrss/1.0" => Ns::OpenSearch,
        // An unknown default namespace is taken to be the feed's own format.
        _ if prefix.is_empty() => Ns::Core,
        _ if is_rss(uri) => Ns::Core,
        _ => Ns::Other,
    }
}

fn is_rss(uri: &str) -> bool {
    uri.starts_with("purl.org/rss/1.0") && !uri.contains("modules")
        || uri.starts_with("purl.org/net/rss")
        || uri.contains("netscape.com/rdf/simple")
        || uri.starts_with("backend.userland.com/rss")
        || uri.starts_with("blogs.law.harvard.edu/tech/rss")
}

fn of_prefix(prefix: &str) -> Ns {
    match prefix {
        "" | "rss" => Ns::Core,
        "atom" | "atom10" | "a10" => Ns::Atom,
        "content" => Ns::Content,
        "dc" | "dcterms" => Ns::Dc,
        "itunes" | "googleplay" => Ns::Itunes,
        "sy" => Ns::Sy,
        "rdf" => Ns::Rdf,
        "xhtml" => Ns::Xhtml,
        "media" => Ns::Media,
        "at" => Ns::Tombstone,
        "fh" => Ns::History,
        "openSearch" | "opensearch" => Ns::OpenSearch,
        _ => Ns::Other,
    }
}
