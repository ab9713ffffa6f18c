//! Microdata of schema.org (HTML, "microdata"): `itemprop` and its value. The body is a mark of `outline`.

use crate::outline::Outline;

/// The properties that are of use here: the first filled value of each.
#[derive(Debug, Default)]
pub(crate) struct Micro<'a> {
    pub(crate) headline: Option<&'a str>,
    pub(crate) published: Option<&'a str>,
    pub(crate) modified: Option<&'a str>,
    pub(crate) image: Option<&'a str>,
    pub(crate) author: Option<&'a str>,
}

/// Reads the properties.
pub(crate) fn read<'a>(outline: &'a Outline<'_>) -> Micro<'a> {
    let first = |wanted: &str| {
        outline
            .props
            .iter()
            .find(|(names, value)| {
                !value.trim().is_empty() && names.split_ascii_whitespace().any(|name| name == wanted)
            })
            .map(|(_, value)| value.as_str())
    };
    Micro {
        headline: first("headline"),
        published: first("datePublished").or_else(|| first("dateCreated")),
        modified: first("dateModified"),
        image: first("image").or_else(|| first("thumbnailUrl")),
        author: first("author").or_else(|| first("creator")),
    }
}
