//! The gate: limits on what is read at all, and a count of depth, tags and attributes in one linear pass.
//!
//! html5ever is quadratic in depth and in the attributes of one tag, so both are counted on the tags before a tree
//! is built. Tags are only an approximation of the tree (end tags may be left out, formatting elements are
//! re-opened), so `dom::build` counts again, exactly, while it builds: the elements that are open, and the steps taken.

use thiserror::Error;

/// How much of a page is read. Beyond `bytes`, `depth`, `tags` and `attributes` a page is refused; the other limits
/// cut what is taken out of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Longest page, in bytes of UTF-8.
    pub bytes: usize,
    /// Deepest nesting of elements, formatting elements apart.
    pub depth: usize,
    /// Deepest nesting of formatting elements (`<b>`, `<i>`, `<font>` …). Real pages leave hundreds open; that they cost the
    /// tree builder no more than time in proportion to the page is seen to by a count of its steps.
    pub formatting_depth: usize,
    /// Most attributes of one tag.
    pub attributes: usize,
    /// Most start tags, and most nodes of the tree.
    pub tags: usize,
    /// Longest title, author or site name, in characters.
    pub title_chars: usize,
    /// Longest text, in characters.
    pub text_chars: usize,
    /// Longest URL, in bytes.
    pub url_bytes: usize,
    /// Most robots meta tags kept.
    pub robots_metas: usize,
    /// Longest content of one robots meta tag, in bytes.
    pub robots_bytes: usize,
    /// Most values of JSON-LD looked at.
    pub json_values: usize,
    /// Most images of the body looked at.
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

/// Why a page was not read. Trying again does not help.
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
    /// The document is something else than HTML.
    #[error("the document is not HTML: {0}")]
    NotHtml(&'static str),
}

/// How many bytes at the start are looked at to tell HTML from other things.
const SNIFF: usize = 512;

/// Checks what can be told without reading the tags: length, and that it is no other well-known format.
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

/// Follows the open elements from start and end tags, as far as tags alone can tell.
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

/// Names whose end tag may be left out (HTML, "optional tags"), by what closes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Name {
    Formatting,
    /// Formatting, too, but a second one ends the first.
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
    /// Ends the reach of the rules above.
    Scope,
    Other,
}

impl Depth {
    pub(crate) fn new() -> Depth {
        Depth { open: Vec::new(), structure: 0, formatting: 0, serial: 0, tags: 0 }
    }

    /// Counts a start tag. Gives the number under which its end is to be reported.
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

    /// Counts the end tag of the element that has this number; what is still open inside it ends with it.
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

    /// Ends what this start tag ends by being there.
    fn imply_ends(&mut self, name: Name, tag: &str) {
        /// How far up an element is looked for whose end is implied.
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

/// HTML, "formatting": elements that end up in the list of active formatting elements.
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
