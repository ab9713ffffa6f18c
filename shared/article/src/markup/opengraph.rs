//! Reads Open Graph and Twitter cards (ogp.me), which a page offers to those who link to it.

use crate::read::outline::Outline;

/// The properties in use here, as written.
#[derive(Debug, Default)]
pub(crate) struct OpenGraph<'a> {
    pub(crate) title: Option<&'a str>,
    pub(crate) site_name: Option<&'a str>,
    pub(crate) url: Option<&'a str>,
    pub(crate) locale: Option<&'a str>,
    pub(crate) author: Option<&'a str>,
    pub(crate) published: Option<&'a str>,
    pub(crate) modified: Option<&'a str>,
}

/// Reads the properties from the meta tags.
pub(crate) fn read<'a>(outline: &Outline<'a>) -> OpenGraph<'a> {
    OpenGraph {
        title: outline.meta(&["og:title", "twitter:title"]),
        site_name: outline.meta(&["og:site_name"]),
        url: outline.meta(&["og:url"]),
        locale: outline.meta(&["og:locale"]),
        author: outline.meta(&["og:article:author", "twitter:creator"]),
        published: outline.meta(&["article:published_time", "og:article:published_time", "og:published_time"]),
        modified: outline.meta(&[
            "article:modified_time",
            "og:article:modified_time",
            "og:updated_time",
            "article:updated_time",
        ]),
    }
}
