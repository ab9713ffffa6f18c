//! Recognizes the parts of a page that are not the article by tag names, roles, classes and ids.

use crate::lists::{self, HIDING, LAYOUT, OF_WRITERS, TEXTS, WORDY};
use crate::read::elements::Attributes;
use crate::read::outline::{Kind, PartName, Trust};
use crate::read::place::{NameBits, hash, words_of};
use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use foldhash::HashMap;
use std::sync::LazyLock;

static PARTS: LazyLock<Vec<(&str, Kind)>> = LazyLock::new(|| by_kind(&lists::PARTS).collect());
static WHOLE_NAMES: LazyLock<HashMap<&str, Kind>> = LazyLock::new(|| by_kind(&lists::WHOLE_NAMES).collect());
/// Kinds that the first or last part of a short name indicates, as in `post__tags`.
static NAME_ENDS: LazyLock<HashMap<&str, Kind>> = LazyLock::new(|| by_kind(&lists::NAME_ENDS).collect());

fn by_kind(list: &[&'static str]) -> impl Iterator<Item = (&'static str, Kind)> {
    let kind = |name: &str| Kind::ALL.into_iter().find(|kind| format!("{kind:?}").eq_ignore_ascii_case(name));
    list.iter().filter_map(|entry| entry.split_once(' ')).filter_map(move |(name, entry)| Some((entry, kind(name)?)))
}

static AUTOMATON: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .match_kind(MatchKind::LeftmostLongest)
        // A DFA takes more memory than the other kinds, but a third of their steps.
        .kind(Some(AhoCorasickKind::DFA))
        .build(PARTS.iter().map(|(part, _)| part))
        .ok()
});

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NameMeaning {
    kind: Option<(Kind, Option<PartName>)>,
    hides: bool,
    pub(crate) content: bool,
    /// True if it marks a writer's name, or the line around it; `name` is true if it marks the name alone.
    pub(crate) byline: bool,
    pub(crate) name: bool,
    pub(crate) date: bool,
    pub(crate) words: NameBits,
    pub(crate) hash: u64,
}

impl NameMeaning {
    fn read<'a>(names: &'a str, number: impl FnOnce(&'a str) -> Option<PartName>) -> NameMeaning {
        /// Longer names are generated.
        const MAX_BYTES: usize = 200;
        let short = names.len() <= MAX_BYTES;
        let lower = names.to_ascii_lowercase();
        NameMeaning {
            kind: if short { of_names(names).map(|(kind, name)| (kind, number(name))) } else { None },
            // A name such as `md:block` shows an element that `hidden` hides again on wider screens.
            hides: names.split_ascii_whitespace().any(|name| HIDING.contains(name)) && !names.contains(':'),
            content: lower.split_ascii_whitespace().any(|name| TEXTS.contains(name)),
            byline: of_writers(&lower).next().is_some() || is_formatted_name(names),
            name: of_writers(&lower).any(|name| name.ends_with("name")) || is_formatted_name(names),
            date: short && is_date_class(names),
            words: if short { words_of(names) } else { 0 },
            hash: hash(0, names.as_bytes()),
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Names<'a> {
    meanings: HashMap<&'a str, NameMeaning>,
    numbers: HashMap<&'a str, PartName>,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ElementNames {
    pub(crate) class: NameMeaning,
    pub(crate) id: NameMeaning,
}

impl<'a> Names<'a> {
    pub(crate) fn meaning(&mut self, names: &'a str) -> NameMeaning {
        /// A page with more names generates them.
        const MAX_CACHED: usize = 4_096;
        if names.is_empty() {
            return NameMeaning::default();
        }
        if let Some(known) = self.meanings.get(names) {
            return *known;
        }
        let meaning = NameMeaning::read(names, |name| self.number(name));
        if self.meanings.len() < MAX_CACHED {
            self.meanings.insert(names, meaning);
        }
        meaning
    }

    fn number(&mut self, name: &'a str) -> Option<PartName> {
        const MAX_NUMBER: u16 = 4_096;
        if let Some(known) = self.numbers.get(name) {
            return Some(*known);
        }
        let number = u16::try_from(self.numbers.len()).ok().filter(|number| *number < MAX_NUMBER)?;
        let new = PartName { number, trust: trust(name) };
        self.numbers.insert(name, new);
        Some(new)
    }
}

pub(crate) fn kind(tag: &str, attributes: &Attributes<'_>, names: &ElementNames) -> Option<(Kind, Option<PartName>)> {
    if attributes.conceals || attributes.is_unspoken || names.class.hides {
        return Some((Kind::Hidden, None));
    }
    let by_tag = match tag {
        "nav" | "footer" => Some(Kind::Chrome),
        "aside" => Some(Kind::Related),
        "form" => Some(Kind::Widget),
        "figcaption" => Some(Kind::Caption),
        // A heading's name says how it looks; the section below it is judged separately.
        "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => return None,
        // These elements contain the page; their classes describe the page.
        "html" | "body" | "main" | "article" => return None,
        _ => None,
    };
    let by_names = || [names.class.kind, names.id.kind].into_iter().flatten().min_by_key(|(kind, _)| *kind);
    by_tag.or_else(|| by_role(attributes.role)).map(|kind| (kind, None)).or_else(by_names)
}

fn by_role(role: &str) -> Option<Kind> {
    match role {
        "navigation" | "banner" | "contentinfo" | "menu" | "menubar" | "search" | "toolbar" => Some(Kind::Chrome),
        "complementary" => Some(Kind::Related),
        "dialog" | "alertdialog" | "tooltip" => Some(Kind::Widget),
        _ => None,
    }
}

fn of_names(names: &str) -> Option<(Kind, &str)> {
    let part = AUTOMATON.as_ref().and_then(|automaton| {
        automaton
            .find_iter(names)
            .filter(|found| !is_of_subscribers(names, found.end()))
            .filter_map(|found| PARTS.get(found.pattern().as_usize()).map(|(_, kind)| (*kind, found.start())))
            .min_by_key(|(kind, _)| *kind)
    });
    let part = part.map(|(kind, at)| {
        let (before, from) = names.split_at(at);
        let start = before.rfind(|c: char| c.is_ascii_whitespace()).map_or(0, |space| space + 1);
        let length = from.find(|c: char| c.is_ascii_whitespace()).unwrap_or(from.len());
        (kind, names.get(start..at + length).unwrap_or(names))
    });
    let whole = || names.split_ascii_whitespace().filter_map(|name| Some((of_name(name)?, name)));
    part.or_else(|| whole().min_by_key(|(kind, _)| *kind))
}

/// True if the word that ends at `end` is part of `subscriber`: such an element is shown to subscribers.
fn is_of_subscribers(names: &str, end: usize) -> bool {
    names.get(..end).is_some_and(|before| before.ends_with("subscribe"))
        && names.get(end..).is_some_and(|rest| rest.starts_with("r-"))
}

fn trust(name: &str) -> Trust {
    let name = name.to_ascii_lowercase();
    let mut parts = name.split(['-', '_', ':']).filter(|part| !part.is_empty());
    if WORDY.iter().any(|word| name.contains(word)) {
        Trust::Wordy
    } else if parts.any(|part| LAYOUT.contains(part)) {
        Trust::Layout
    } else {
        Trust::Usual
    }
}

fn of_name(name: &str) -> Option<Kind> {
    /// A longer name describes more than the element itself.
    const MAX_PARTS: usize = 3;
    let name = name.to_ascii_lowercase();
    let mut parts = name.split(['-', '_']).filter(|part| !part.is_empty());
    if parts.clone().count() > MAX_PARTS {
        return None;
    }
    let whole = WHOLE_NAMES.get(name.as_str()).or_else(|| NAME_ENDS.get(name.as_str()));
    whole.or_else(|| NAME_ENDS.get(parts.clone().next()?)).or_else(|| NAME_ENDS.get(parts.next_back()?)).copied()
}

/// Returns the names of a lower-case class that mean a writer, but not a box, an image or a biography of one.
fn of_writers(lower: &str) -> impl Iterator<Item = &str> {
    const MAX_BYTES: usize = 40;
    lower.split_ascii_whitespace().filter(|name| {
        let of_writer = || WRITERS.as_ref().is_some_and(|writers| writers.is_match(*name));
        let of_thing = || !name.ends_with("name") && OF_WRITERS.iter().any(|part| name.contains(part));
        name.len() <= MAX_BYTES && of_writer() && !of_thing()
    })
}

static WRITERS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| AhoCorasick::new(lists::WRITERS.iter()).ok());

fn is_formatted_name(class: &str) -> bool {
    class.split_ascii_whitespace().any(|name| name == "fn")
}

fn is_date_class(class: &str) -> bool {
    let may = class.bytes().any(|b| matches!(b, b'D' | b'T' | b'b'));
    let camel = may && ["Date", "Time", "ublished"].iter().any(|word| class.contains(word));
    camel || class.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| lists::DATES.contains(word))
}
