//! Limits on the pages that are read. html5ever is quadratic in depth and in the attributes of one tag, so `tokens`
//! counts tags and attributes before it passes a tag on, and `sink` counts open elements and steps.

use thiserror::Error;

/// Limits on reading a page: `bytes`, both depths, `tags` and `attributes` refuse it; the others truncate the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum length of a page, in bytes of UTF-8.
    pub bytes: usize,
    /// Maximum nesting of elements, not counting formatting elements.
    pub depth: usize,
    /// Maximum nesting of formatting elements (`<b>`, `<i>`, `<font>` …). Real pages leave hundreds open.
    pub formatting_depth: usize,
    /// Maximum number of attributes of one tag.
    pub attributes: usize,
    /// Maximum number of start tags; four times as many nodes are allowed in the tree.
    pub tags: usize,
    /// Maximum length of a title, author or site name, in characters.
    pub title_chars: usize,
    /// Maximum length of the text, in characters.
    pub text_chars: usize,
    /// Maximum length of a URL, in bytes.
    pub url_bytes: usize,
    /// Maximum number of robots meta tags kept.
    pub robots_metas: usize,
    /// Maximum length of the content of one robots meta tag, in bytes.
    pub robots_bytes: usize,
    /// Maximum number of values of JSON-LD examined.
    pub json_values: usize,
    /// Maximum number of images of the body examined.
    pub images: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            bytes: 6 * 1024 * 1024,
            depth: 512,
            formatting_depth: 4_500,
            attributes: 256,
            tags: 150_000,
            title_chars: 1_000,
            text_chars: 500_000,
            url_bytes: 2_048,
            robots_metas: 32,
            robots_bytes: 1_024,
            json_values: 20_000,
            images: 500,
        }
    }
}

/// Reasons why a page was not read. Retrying does not help.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Unreadable {
    /// Elements are nested deeper than [`Limits::depth`], or so many are left open that each tag takes too many steps.
    #[error("elements are nested too deep")]
    TooDeep,
    /// More tags, or more nodes, than [`Limits::tags`].
    #[error("too many tags")]
    TooManyTags,
    /// A tag has more attributes than [`Limits::attributes`].
    #[error("a tag has too many attributes")]
    TooManyAttributes,
    /// The page is longer than [`Limits::bytes`].
    #[error("the page is too large")]
    TooLarge,
    /// The document is not HTML.
    #[error("the document is not HTML: {0}")]
    NotHtml(&'static str),
}

const SNIFF: usize = 512;

/// Checks the length, and that the page is not of another well-known format; reads no tags.
pub(crate) fn admit(html: &str, limits: &Limits) -> Result<(), Unreadable> {
    if html.len() > limits.bytes {
        return Err(Unreadable::TooLarge);
    }
    let start = html.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{FEFF}');
    let prefix: String = start.chars().take(SNIFF).collect();
    let magic = [
        ("%PDF-", "PDF"),
        ("\u{89}PNG", "PNG"),
        ("\u{FFFD}PNG", "PNG"),
        ("GIF8", "GIF"),
        ("PK\u{3}\u{4}", "ZIP"),
        ("{\\rtf", "RTF"),
    ];
    if let Some((_, name)) = magic.iter().find(|(mark, _)| prefix.starts_with(mark)) {
        return Err(Unreadable::NotHtml(name));
    }
    // NUL bytes do occur in sloppy pages, but not among the first characters of one.
    if prefix.contains('\0') && !prefix.contains('<') {
        return Err(Unreadable::NotHtml("binary data"));
    }
    Ok(())
}

/// True for elements of the list of active formatting elements (HTML, "formatting").
pub(crate) fn is_formatting(tag: &str) -> bool {
    matches!(
        tag,
        "a" | "b" | "big" | "code" | "em" | "font" | "i" | "nobr" | "s" | "small" | "strike" | "strong" | "tt" | "u"
    )
}
