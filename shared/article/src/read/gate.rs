//! Limits on the pages that are read, and a count of depth, tags and attributes in one linear pass.
//!
//! html5ever is quadratic in depth and in the attributes of one tag, so both are counted on the tags before a tree is
//! built. Tags only approximate the tree (end tags may be left out, formatting elements are re-opened), so `dom::build`
//! counts open elements and steps again, exactly, while it builds.

use thiserror::Error;

/// Limits on reading a page. A page beyond `bytes`, `depth`, `tags` or `attributes` is refused; the other limits
/// truncate the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum length of a page, in bytes of UTF-8.
    pub bytes: usize,
    /// Maximum nesting of elements, not counting formatting elements.
    pub depth: usize,
    /// Maximum nesting of formatting elements (`<b>`, `<i>`, `<font>` …). Real pages leave hundreds open; a separate
    /// count of steps ensures that they cost the tree builder only time in proportion to the page.
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
    /// Elements are nested deeper than [`Limits::depth`], or too many are left open, so that each tag takes too many
    /// steps.
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

/// Number of bytes at the start that are examined to recognize other formats.
const SNIFF: usize = 512;

/// Checks the length, and that the page is no other well-known format; reads no tags.
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

/// Tracks the open elements by start and end tags alone.
#[derive(Debug)]
pub(crate) struct Depth {
    open: Vec<OpenTag>,
    structure: usize,
    formatting: usize,
    serial: u32,
    tags: usize,
}

#[derive(Debug)]
struct OpenTag {
    serial: u32,
    name: Name,
}

/// Names whose end tag may be left out (HTML, "optional tags"), grouped by the tags that close them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Name {
    Formatting,
    /// Also a formatting element, but a second one ends the first.
    Anchor,
    Paragraph,
    ListItem,
    Definition,
    Option,
    OptionGroup,
    Cell,
    Row,
    RowGroup,
    Ruby,
    Heading,
    /// Limits the reach of the rules above.
    Scope,
    Other,
}

impl Depth {
    pub(crate) fn new() -> Depth {
        Depth { open: Vec::new(), structure: 0, formatting: 0, serial: 0, tags: 0 }
    }

    /// Counts a start tag. Returns the number with which its end is to be reported.
    pub(crate) fn start(
        &mut self,
        tag: &str,
        attributes: usize,
        can_have_content: bool,
        limits: &Limits,
    ) -> Result<u32, Unreadable> {
        self.tags += 1;
        self.serial += 1;
        if self.tags > limits.tags {
            return Err(Unreadable::TooManyTags);
        }
        if attributes > limits.attributes {
            return Err(Unreadable::TooManyAttributes);
        }
        let name = kind(tag);
        self.imply_ends(name, tag);
        if can_have_content {
            self.push(name);
        }
        if self.structure > limits.depth || self.formatting > limits.formatting_depth {
            return Err(Unreadable::TooDeep);
        }
        Ok(self.serial)
    }

    /// Counts the end tag of the element with this number, which also ends the elements still open inside it.
    pub(crate) fn end(&mut self, serial: u32) {
        let at = self.open.partition_point(|open| open.serial < serial);
        if self.open.get(at).is_some_and(|open| open.serial == serial) {
            self.truncate(at);
        }
    }

    fn push(&mut self, name: Name) {
        self.open.push(OpenTag { serial: self.serial, name });
        *self.counter(name) += 1;
    }

    fn truncate(&mut self, to: usize) {
        while self.open.len() > to {
            if let Some(open) = self.open.pop() {
                *self.counter(open.name) -= 1;
            }
        }
    }

    fn counter(&mut self, name: Name) -> &mut usize {
        if matches!(name, Name::Formatting | Name::Anchor) { &mut self.formatting } else { &mut self.structure }
    }

    /// Ends the elements that this start tag ends implicitly.
    fn imply_ends(&mut self, name: Name, tag: &str) {
        /// Maximum number of ancestors searched for an element whose end is implied.
        const REACH: usize = 16;
        let closes: &[Name] = match name {
            Name::ListItem | Name::Definition => &[name, Name::Paragraph],
            Name::Anchor => &[Name::Anchor],
            Name::Option => &[Name::Option],
            Name::OptionGroup => &[Name::Option, Name::OptionGroup],
            Name::Cell => &[Name::Cell],
            Name::Row => &[Name::Cell, Name::Row],
            Name::RowGroup => &[Name::Cell, Name::Row, Name::RowGroup],
            Name::Ruby => &[Name::Ruby],
            Name::Heading => &[Name::Heading, Name::Paragraph],
            Name::Paragraph => &[Name::Paragraph],
            Name::Scope | Name::Other if ends_paragraph(tag) => &[Name::Paragraph],
            _ => return,
        };
        let mut cut = None;
        for (at, open) in self.open.iter().enumerate().rev().take(REACH) {
            if closes.contains(&open.name) {
                cut = Some(at);
            } else if matches!(open.name, Name::Scope | Name::Other) {
                break;
            }
        }
        if let Some(at) = cut {
            self.truncate(at);
        }
    }
}

fn kind(tag: &str) -> Name {
    match tag {
        "a" | "nobr" => Name::Anchor,
        _ if is_formatting(tag) => Name::Formatting,
        "p" => Name::Paragraph,
        "li" => Name::ListItem,
        "dd" | "dt" => Name::Definition,
        "option" => Name::Option,
        "optgroup" => Name::OptionGroup,
        "td" | "th" => Name::Cell,
        "tr" => Name::Row,
        "tbody" | "thead" | "tfoot" | "colgroup" | "caption" => Name::RowGroup,
        "rb" | "rp" | "rt" | "rtc" => Name::Ruby,
        "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => Name::Heading,
        "table" | "ul" | "ol" | "dl" | "div" | "section" | "article" | "select" | "ruby" => Name::Scope,
        _ => Name::Other,
    }
}

/// True for elements of the list of active formatting elements (HTML, "formatting").
pub(crate) fn is_formatting(tag: &str) -> bool {
    matches!(
        tag,
        "a" | "b" | "big" | "code" | "em" | "font" | "i" | "nobr" | "s" | "small" | "strike" | "strong" | "tt" | "u"
    )
}

fn ends_paragraph(tag: &str) -> bool {
    matches!(
        tag,
        "address"
            | "article"
            | "aside"
            | "blockquote"
            | "center"
            | "details"
            | "dialog"
            | "dir"
            | "div"
            | "dl"
            | "fieldset"
            | "figcaption"
            | "figure"
            | "footer"
            | "form"
            | "header"
            | "hgroup"
            | "hr"
            | "main"
            | "menu"
            | "nav"
            | "ol"
            | "pre"
            | "search"
            | "section"
            | "summary"
            | "table"
            | "ul"
    )
}
