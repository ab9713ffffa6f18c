//! Outline of the tree: one walk records everything that the rules need. The text is a list of blocks in document
//! order; the content of an element, such as a candidate for the article, is a run of blocks, a [`Span`].

use crate::read::gate::Limits;
use crate::read::place::Surroundings;
use ego_tree::NodeId;
use std::cell::{Cell, OnceCell};
use url::Url;

pub(crate) type Reason = &'static str;

/// A paragraph, a heading, a list item, or any other run of text without a block boundary in it.
#[derive(Debug, Default)]
pub(crate) struct Block {
    pub(crate) text: String,
    /// Width: the number of characters without white space; wide ones (Chinese, Japanese, Korean) count twice.
    pub(crate) chars: usize,
    pub(crate) link_chars: usize,
    /// Characters inside links to other pages of the same host.
    pub(crate) own_link_chars: usize,
    pub(crate) tag: Tag,
    /// Cached reason why it is not text of this page, regardless of its position.
    pub(crate) by_itself: OnceCell<Option<Reason>>,
    pub(crate) names_section: OnceCell<Option<Section>>,
    pub(crate) repeats_headline: OnceCell<bool>,
    pub(crate) ends_as_sentence: OnceCell<bool>,
}

impl Block {
    pub(crate) fn own_links(&self) -> f64 {
        self.own_link_chars as f64 / self.chars.max(1) as f64
    }

    pub(crate) fn links(&self) -> f64 {
        self.link_chars as f64 / self.chars.max(1) as f64
    }
}

/// Kind of a section that does not belong to the article, inside its text or below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Section {
    Teasers,
    Notice,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Tag {
    Paragraph,
    Heading(u8),
    Item,
    Cell,
    Quote,
    Pre,
    #[default]
    Other,
}

impl Tag {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Tag::Paragraph => "paragraph",
            Tag::Heading(_) => "heading",
            Tag::Item => "item",
            Tag::Cell => "cell",
            Tag::Quote => "quote",
            Tag::Pre => "code",
            Tag::Other => "other",
        }
    }
}

/// Run of blocks inside one element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) start: usize,
    /// Index after the last block.
    pub(crate) end: usize,
    /// Number of the element in document order; ancestors have smaller ones.
    pub(crate) serial: usize,
    pub(crate) parent: usize,
}

impl Span {
    pub(crate) fn holds(&self, other: &Span) -> bool {
        self.serial < other.serial && self.start <= other.start && other.end <= self.end
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    ArticleBody,
    Content,
    Article,
    Main,
}

impl Mark {
    pub(crate) fn extractor(self) -> &'static str {
        match self {
            Mark::ArticleBody => "microdata",
            Mark::Content => "content",
            Mark::Article => "article",
            Mark::Main => "main",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Hidden,
    Chrome,
    Comments,
    Related,
    Widget,
    Meta,
    Caption,
}

impl Kind {
    /// All kinds, most reliable first.
    pub(crate) const ALL: [Kind; 7] =
        [Kind::Hidden, Kind::Chrome, Kind::Comments, Kind::Related, Kind::Widget, Kind::Meta, Kind::Caption];

    pub(crate) fn reason(self) -> &'static str {
        match self {
            Kind::Hidden => "not shown, or marked not to be quoted",
            Kind::Chrome => "navigation, header or footer",
            Kind::Comments => "comments",
            Kind::Related => "other articles, a sidebar",
            Kind::Widget => "sharing, a form, an advertisement or a notice",
            Kind::Meta => "byline, date, tags or about the author",
            Kind::Caption => "caption or credit of an image",
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub(crate) kind: Kind,
    pub(crate) span: Span,
    /// The class or id that indicates the kind; `None` if a tag, a role or hiding does.
    pub(crate) name: Option<PartName>,
    /// True if it is hidden in a way that scripts undo, like panels of accordions.
    pub(crate) folded: bool,
    /// True if it is folded, and its role, tag or class says that it is the panel of an accordion or of tabs.
    pub(crate) panel: bool,
}

impl Part {
    pub(crate) fn new(kind: Kind, span: Span) -> Part {
        Part { kind, span, name: None, folded: false, panel: false }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct PartName {
    /// Number of the name in its page; all elements of one name share it.
    pub(crate) number: u16,
    pub(crate) trust: Trust,
}

/// Trust in a class or id that excludes an element, if the element's content reads like running text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Trust {
    /// The name is about the layout (`sidebar-grid__content`), so the content decides.
    Layout,
    /// The name is trusted unless it covers a whole article.
    Usual,
    /// The name is that of running text, such as a note on cookies.
    Wordy,
}

#[derive(Debug)]
pub(crate) struct Picture<'a> {
    pub(crate) sources: Vec<&'a str>,
    /// True if it is a background image or the poster of a video.
    pub(crate) is_behind: bool,
    /// Number of blocks before it.
    pub(crate) block: usize,
    /// Serial numbers of the elements around it whose names exclude them from the article.
    pub(crate) outside: Vec<usize>,
}

#[derive(Debug)]
pub(crate) struct Prop<'a> {
    pub(crate) names: &'a str,
    pub(crate) value: String,
    pub(crate) in_item: bool,
}

/// A `<time>` or another element that is marked as a date.
#[derive(Debug)]
pub(crate) struct Moment {
    pub(crate) value: String,
    pub(crate) block: usize,
    /// True if the markup, or words next to it, mark it as the time of publication, or of the last change.
    pub(crate) published: bool,
    pub(crate) modified: bool,
    /// True if it is in comments, or hidden.
    pub(crate) foreign: bool,
    /// True if it is in comments or among teasers, or hidden.
    pub(crate) outside: bool,
}

#[derive(Debug)]
pub(crate) struct Heading {
    pub(crate) level: u8,
    pub(crate) text: String,
    /// The text without that of the elements inside, such as a subtitle, a date or a link to edit the page.
    pub(crate) own: String,
    pub(crate) block: usize,
    /// True if it links to the home page or a folder above the page, like the site's name at the top of a page.
    pub(crate) leads_home: bool,
}

/// The text of an element that is marked as a writer's name, or as the line around it.
#[derive(Clone, Debug)]
pub(crate) struct Byline {
    pub(crate) text: String,
    pub(crate) block: usize,
    pub(crate) is_name: bool,
}

#[derive(Debug)]
pub(crate) struct Outline<'a> {
    pub(crate) page: Url,
    pub(crate) base: Url,
    pub(crate) limits: Limits,
    pub(crate) metas: Vec<(String, &'a str)>,
    pub(crate) meta_tags: usize,
    /// Meta elements that carry directives: names in lower case, and contents.
    pub(crate) robots: Vec<(String, &'a str)>,
    pub(crate) canonicals: Vec<&'a str>,
    pub(crate) html_lang: Option<&'a str>,
    pub(crate) title: Option<String>,
    pub(crate) headings: Vec<Heading>,
    /// Texts of links to the home page, and of headings that lead there or to a folder above the page.
    pub(crate) home_names: Vec<String>,
    pub(crate) json: Vec<String>,
    pub(crate) props: Vec<Prop<'a>>,
    pub(crate) items: Vec<NodeId>,
    pub(crate) bylines: Vec<Byline>,
    /// Texts of links to pages about writers, each with the number of blocks before it.
    pub(crate) profiles: Vec<(String, usize)>,
    pub(crate) moments: Vec<Moment>,
    pub(crate) pictures: Vec<Picture<'a>>,
    pub(crate) image_src: Option<&'a str>,
    pub(crate) icons: Vec<&'a str>,
    pub(crate) blocks: Vec<Block>,
    pub(crate) places: Vec<Surroundings>,
    /// Every element that contains text, in the order in which they end.
    pub(crate) spans: Vec<Span>,
    pub(crate) marks: Vec<(Mark, Span)>,
    pub(crate) parts: Vec<Part>,
    /// True if the page's data say that its article is not free. Hidden text is then left out, whatever its length.
    pub(crate) is_paywalled: bool,
    pub(crate) steps: u64,
    /// Number of lines that rules have examined repeatedly, such as those below each heading.
    pub(crate) looks: Cell<u64>,
    /// Cached number of blocks before the `<main>` that begins with the article.
    pub(crate) before_main: OnceCell<usize>,
    boxes: OnceCell<Vec<usize>>,
}

impl<'a> Outline<'a> {
    pub(crate) fn headings_of(&self, level: u8) -> impl Iterator<Item = &Heading> {
        self.headings.iter().filter(move |heading| heading.level == level && !heading.leads_home)
    }

    pub(crate) fn marked(&self, wanted: Mark) -> impl Iterator<Item = Span> {
        self.marks.iter().filter(move |(mark, _)| *mark == wanted).map(|(_, span)| *span)
    }

    pub(crate) fn new(page: &Url, limits: &Limits) -> Outline<'a> {
        Outline {
            page: page.clone(),
            base: page.clone(),
            limits: *limits,
            metas: Vec::new(),
            meta_tags: 0,
            robots: Vec::new(),
            canonicals: Vec::new(),
            html_lang: None,
            title: None,
            headings: Vec::new(),
            home_names: Vec::new(),
            json: Vec::new(),
            props: Vec::new(),
            items: Vec::new(),
            bylines: Vec::new(),
            profiles: Vec::new(),
            moments: Vec::new(),
            pictures: Vec::new(),
            image_src: None,
            icons: Vec::new(),
            blocks: Vec::new(),
            places: Vec::new(),
            spans: Vec::new(),
            marks: Vec::new(),
            parts: Vec::new(),
            is_paywalled: false,
            steps: 0,
            looks: Cell::new(0),
            before_main: OnceCell::new(),
            boxes: OnceCell::new(),
        }
    }

    /// Returns the end of the smallest element that begins with a block and contains more: the box around a heading.
    pub(crate) fn own_box(&self, block: usize) -> Option<usize> {
        let boxes = self.boxes.get_or_init(|| {
            let mut ends = vec![0; self.blocks.len()];
            // Elements end before those around them.
            for span in self.spans.iter().filter(|span| span.end > span.start + 1) {
                if let Some(end @ 0) = ends.get_mut(span.start) {
                    *end = span.end;
                }
            }
            ends
        });
        boxes.get(block).copied().filter(|end| *end > 0)
    }

    pub(crate) fn metas_of<'s>(&'s self, name: &'s str) -> impl Iterator<Item = &'a str> + 's {
        self.metas.iter().filter(move |(known, content)| known == name && !content.trim().is_empty()).map(|(_, c)| *c)
    }

    pub(crate) fn meta(&self, names: &[&str]) -> Option<&'a str> {
        names.iter().find_map(|name| self.metas_of(name).next())
    }
}
