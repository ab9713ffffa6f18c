//! Maps elements to their roles, in one table for all dialects.

use crate::names::Ns;

/// Role of an element in a feed or an entry. The number ranks elements for the same field: the lowest wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Title(u8),
    Link(u8),
    /// A link in attributes, as in Atom.
    AtomLink,
    /// Id. An RSS `guid` may also be a link.
    Id(u8),
    Published(u8),
    Updated(u8),
    Author(u8),
    /// An author element that contains `name`.
    AuthorElement,
    Summary(u8),
    Content(u8),
    Tag,
    Language(u8),
    Image(u8),
    ImageHref(u8),
    ImageElement,
    Group,
    /// Feed from which the entry was copied.
    Source,
    Entry,
    Deleted,
    Channel,
    Ttl,
    SkipHours,
    SkipDays,
    UpdatePeriod,
    UpdateFrequency,
    Generator,
    Archive,
    Complete,
    Total,
    /// Irrelevant: the element is skipped with its content.
    Other,
}

pub(crate) fn in_entry(ns: Ns, local: &str, atom: bool) -> Role {
    use Ns::{Atom, Content, Core, Dc, Itunes, Media, Other, Xhtml};
    match (ns, local) {
        (Core | Atom, "title") => Role::Title(u8::from(ns == Atom && !atom)),
        (Dc, "title") => Role::Title(2),
        (Itunes, "title") => Role::Title(3),
        (Media, "title") => Role::Title(4),
        (Media, "group") => Role::Group,
        (Atom, "source") => Role::Source,
        (Core, "source") if atom => Role::Source,
        (Atom, "link") => Role::AtomLink,
        (Core, "link") if atom => Role::AtomLink,
        // Proxies that count readers put the article's original address here.
        (Other, "origlink") => Role::Link(0),
        (Core, "link") => Role::Link(1),
        (Core | Atom, "guid" | "id") => Role::Id(u8::from(local == "id" && !atom)),
        (Dc, "identifier") => Role::Id(3),
        (Core | Atom, "published") => Role::Published(1),
        (Core, "pubdate") => Role::Published(0),
        (Dc, "date") => Role::Published(2),
        (Core | Atom | Dc, "issued") => Role::Published(2),
        (Core | Atom | Dc, "created" | "date" | "available") => Role::Published(3),
        (Core | Atom, "updated") => Role::Updated(0),
        (Core | Atom | Dc, "modified" | "lastbuilddate") => Role::Updated(1),
        (Atom, "author") => Role::AuthorElement,
        (Core, "author") if atom => Role::AuthorElement,
        (Dc, "creator") => Role::Author(0),
        (Core, "author") => Role::Author(1),
        (Dc | Itunes, "author") => Role::Author(2),
        (Core | Atom, "category") | (Dc, "subject") => Role::Tag,
        (Core, "description") => Role::Summary(0),
        (Core | Atom, "summary") => Role::Summary(u8::from(!atom)),
        (Dc, "description" | "abstract") => Role::Summary(2),
        (Itunes, "summary") => Role::Summary(3),
        (Itunes, "description" | "subtitle") => Role::Summary(4),
        (Media, "description") => Role::Summary(5),
        (Content, "encoded") => Role::Content(0),
        (Core | Atom, "content") => Role::Content(1),
        (Core | Xhtml, "body" | "div" | "fulltext" | "fullitem") => Role::Content(2),
        _ => Role::Other,
    }
}

/// Returns the role of an element inside a channel or feed, or next to the channel as in RDF.
pub(crate) fn in_feed(ns: Ns, local: &str, atom: bool) -> Role {
    use Ns::{Atom, Core, Dc, History, Itunes, OpenSearch, Sy, Tombstone};
    match (ns, local) {
        (Core | Atom, "item" | "entry") => Role::Entry,
        (Core, "channel") => Role::Channel,
        (Core | Atom, "title") => Role::Title(u8::from(ns == Atom && !atom)),
        (Dc, "title") => Role::Title(2),
        (Itunes, "title") => Role::Title(3),
        (Atom, "link") => Role::AtomLink,
        (Core, "link") if atom => Role::AtomLink,
        (Core, "link") => Role::Link(1),
        (Core | Atom, "description" | "subtitle" | "tagline") => Role::Summary(0),
        (Dc, "description") => Role::Summary(1),
        (Itunes, "summary" | "description") => Role::Summary(2),
        (Itunes, "subtitle") => Role::Summary(3),
        (Core | Atom, "author") if atom => Role::AuthorElement,
        (Core, "language") => Role::Language(0),
        (Dc, "language") => Role::Language(1),
        (Core, "lastbuilddate") => Role::Updated(0),
        (Core | Atom, "updated" | "modified") => Role::Updated(u8::from(!atom)),
        (Core | Atom, "pubdate" | "published") => Role::Updated(2),
        (Dc, "date" | "modified") => Role::Updated(3),
        (Dc, "issued") => Role::Updated(4),
        (Core | Atom, "image") => Role::ImageElement,
        (Core | Atom, "logo") => Role::Image(0),
        (Core | Atom, "icon") => Role::Image(2),
        (Itunes, "image") => Role::ImageHref(1),
        (Core, "ttl") => Role::Ttl,
        (Core, "skiphours") => Role::SkipHours,
        (Core, "skipdays") => Role::SkipDays,
        (Sy, "updateperiod") => Role::UpdatePeriod,
        (Sy, "updatefrequency") => Role::UpdateFrequency,
        (Tombstone, "deleted-entry") => Role::Deleted,
        (Core | Atom, "generator") | (_, "generatoragent") => Role::Generator,
        (History, "archive") => Role::Archive,
        (History, "complete") => Role::Complete,
        (OpenSearch, "totalresults") => Role::Total,
        _ => Role::Other,
    }
}

/// True for elements that never occur inside a text, so that the start of one shows that the text was not closed.
pub(crate) fn ends_a_text(local: &str) -> bool {
    matches!(
        local,
        "item" | "entry" | "channel" | "pubdate" | "guid" | "published" | "updated" | "description" | "lastbuilddate"
    )
}

/// True for elements that end an unclosed link, date, id or name. All of them may occur inside a longer text.
pub(crate) fn ends_a_word(local: &str) -> bool {
    ends_a_text(local)
        || matches!(local, "title" | "link" | "id" | "summary" | "content" | "author" | "category" | "name")
}

/// True for HTML elements whose end tag is forbidden or optional; they do not count as nesting.
pub(crate) fn is_loose_html(local: &str) -> bool {
    [
        "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr",
        "p", "li", "dt", "dd", "tr", "td", "th", "option",
    ]
    .contains(&local)
}
