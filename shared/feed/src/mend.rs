//! Parses a feed of any dialect, however broken. Only the structure is tracked (root, channel, entry, a few
//! containers). Everything below a relevant element is text and everything below any other is skipped, so no cost grows
//! with the depth of the document.

mod fill;
mod root;

use crate::draft::{Deletion, EntryDraft, FeedDraft, RawEntry, keep_newest};
use crate::finish::{deletions, finish};
use crate::limits::{MAX_DEPTH, MAX_VALUES};
use crate::names::{Names, Ns};
use crate::token::{Tag, Token, Tokens, attribute, has_href};
use crate::vocabulary::{Role, ends_a_text, ends_a_word, in_entry, in_feed, is_loose_html};
use crate::{Feed, FeedError, Format, Limits, NotAFeed, Repair, entity::Entities, leaf::Leaf, link, text, work::Work};
use curlew_model::Millis;
use curlew_text::references;
use std::rc::Rc;
use url::Url;

pub(crate) fn mend(text: &str, page: &Url, limits: &Limits, work: &Work) -> Result<Feed, FeedError> {
    let mut mender = Mender::new(text, page, limits, work);
    mender.find_root()?;
    while let Some(token) = mender.tokens.next() {
        match token {
            Token::Start(tag) => mender.start(&tag)?,
            Token::End(name) => mender.end(name),
            Token::Text(_) | Token::CData(_) => {}
        }
        if mender.in_page && mender.open.is_empty() {
            break;
        }
    }
    if mender.in_page && mender.entries.is_empty() {
        return Err(FeedError::NotAFeed(NotAFeed::WebPage));
    }
    Ok(mender.finish())
}

struct Open<'a> {
    place: Place,
    name: &'a str,
    prefix: Option<&'a str>,
    names: usize,
    bases: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Feed,
    Entry,
    Image,
    Author,
    Group,
    Source,
    SkipHours,
    SkipDays,
    Deleted,
}

struct Mender<'a> {
    tokens: Tokens<'a>,
    work: &'a Work,
    limits: &'a Limits,
    page: &'a Url,
    names: Names<'a>,
    /// `xml:base` URLs in scope, innermost last.
    bases: Vec<Url>,
    open: Vec<Open<'a>>,
    format: Format,
    atom: bool,
    /// True if the feed is embedded in a web page.
    in_page: bool,
    declared: Rc<Entities<'a>>,
    feed: FeedDraft,
    entry: Option<EntryDraft>,
    entries: Vec<RawEntry>,
    repairs: Vec<Repair>,
    truncated: bool,
    /// Number of addresses and dates that may still be parsed.
    values_left: usize,
    /// URL of the page that an RSS channel links to.
    channel: Option<Url>,
    /// Number of bytes by which texts may still grow when their addresses are made absolute.
    growth_left: usize,
}

impl<'a> Mender<'a> {
    fn new(text: &'a str, page: &'a Url, limits: &'a Limits, work: &'a Work) -> Mender<'a> {
        Mender {
            tokens: Tokens::new(text, work),
            work,
            limits,
            page,
            names: Names::default(),
            bases: Vec::new(),
            open: Vec::new(),
            format: Format::Rss2,
            atom: false,
            in_page: false,
            declared: Rc::default(),
            feed: FeedDraft::default(),
            entry: None,
            entries: Vec::new(),
            repairs: Vec::new(),
            truncated: false,
            values_left: MAX_VALUES,
            channel: None,
            growth_left: text.len().saturating_mul(4).max(LEAST_GROWTH),
        }
    }

    fn repaired(&mut self, repair: Repair) {
        repair.note_in(&mut self.repairs);
    }

    /// Opens a structural element. `mark` is the state of the namespace declarations before it.
    fn enter(&mut self, place: Place, tag: &Tag<'a>, mark: usize) {
        let bases = self.bases.len();
        if let Some(base) = self.own_base(tag).filter(|_| matches!(place, Place::Feed | Place::Entry | Place::Deleted))
        {
            self.bases.push(base);
        }
        self.open.push(Open { place, name: tag.name, prefix: prefix(tag.name), names: mark, bases });
        if place == Place::Entry {
            let mut entry = EntryDraft::default();
            if let Some(about) = tag.attributes().find(|(n, _)| n.ends_with("about")) {
                entry.id.offer(2, references::decode(about.1).into_owned());
            }
            self.entry = Some(entry);
        }
        if tag.empty {
            self.leave();
        }
    }

    fn leave(&mut self) {
        let Some(open) = self.open.pop() else { return };
        self.names.restore(open.names);
        self.bases.truncate(open.bases);
        let entry = if open.place == Place::Entry { self.entry.take() } else { None };
        self.entries.extend(entry.map(|entry| entry.into_raw(self.atom)));
        if self.entries.len() > self.limits.entries.saturating_mul(2) {
            self.truncated |= keep_newest(&mut self.entries, self.limits.entries);
        }
    }

    fn own_base(&mut self, tag: &Tag<'_>) -> Option<Url> {
        let value = attribute(tag, "xml:base")?;
        let outer = self.bases.last().unwrap_or(self.page).clone();
        let is_read = self.may_read_value(value.len() + outer.as_str().len());
        is_read.then(|| link::rebase(&value, &outer, self.limits.url_bytes))?
    }

    /// Counts one more address or date of that many bytes, including its base. Returns true if it may be parsed.
    fn may_read_value(&mut self, bytes: usize) -> bool {
        const MORE: usize = 256;
        self.work.add(bytes);
        self.values_left.checked_sub(1 + bytes / MORE).map(|left| self.values_left = left).is_some()
    }

    fn start(&mut self, tag: &Tag<'a>) -> Result<(), FeedError> {
        let mark = self.names.mark();
        self.names.declare(tag)?;
        self.work.add(tag.name.len() + self.names.mark());
        let (ns, local) = self.names.resolve(tag.name);
        let place = self.place_for(&local);
        let is_in_group = self.open.last().is_some_and(|open| open.name.ends_with("group"));
        let role = match place {
            _ if self.begins_entry(ns, &local, place) => Role::Entry,
            Place::Feed | Place::Entry if local == "link" && has_href(tag) && matches!(ns, Ns::Core | Ns::Atom) => {
                Role::AtomLink
            }
            Place::Feed => in_feed(ns, &local, self.atom),
            Place::Entry => in_entry(ns, &local, self.atom),
            Place::Deleted if local == "link" && has_href(tag) => Role::AtomLink,
            Place::Image if local == "url" => Role::Image(0),
            Place::Author if local == "name" => {
                Role::Author(if self.open.iter().any(|open| open.place == Place::Source) { 3 } else { 0 })
            }
            Place::Group if ns == Ns::Media && local == "title" => Role::Title(4),
            Place::Group if ns == Ns::Media && local == "description" => Role::Summary(5),
            // `media:content` may contain the title and description, one level deep in a `media:group`.
            Place::Group if ns == Ns::Media && local == "content" && is_in_group => Role::Group,
            Place::Source if local == "author" => Role::AuthorElement,
            Place::SkipHours if local == "hour" => Role::SkipHours,
            Place::SkipDays if local == "day" => Role::SkipDays,
            _ => Role::Other,
        };
        // The author is a text in RSS and an element with a name in Atom; each is also written in the other's form.
        let begins = |start| self.tokens.rest().trim_start().starts_with(start);
        let role = match role {
            Role::Author(_) if local == "author" && begins("<name>") => Role::AuthorElement,
            Role::AuthorElement if place != Place::Source && (begins("<![CDATA[") || !begins("<")) => Role::Author(1),
            role => role,
        };
        match self.apply(role, place, tag, ns, &local)? {
            Some(place) => self.enter(place, tag, mark),
            None => self.names.restore(mark),
        }
        Ok(())
    }

    /// Returns the innermost place, after closing an author element that was left open before the entry's next part.
    fn place_for(&mut self, local: &str) -> Place {
        let place = self.open.last().map_or(Place::Feed, |o| o.place);
        if place == Place::Author && ends_a_word(local) && local != "name" {
            self.repaired(Repair::Unbalanced);
            self.leave();
            return self.open.last().map_or(Place::Feed, |o| o.place);
        }
        place
    }

    /// True if the tag begins an entry, in any place: an unclosed entry must not swallow the next one.
    fn begins_entry(&self, ns: Ns, local: &str, place: Place) -> bool {
        let known = matches!((local, self.atom), ("item", false) | ("entry", _));
        known && matches!(ns, Ns::Core | Ns::Atom) && (place != Place::Entry || local == "item" || self.atom)
    }

    /// Applies an element that is in `at`. Returns the place that it opens if it is a structural one.
    fn apply(&mut self, role: Role, at: Place, tag: &Tag<'a>, ns: Ns, local: &str) -> Result<Option<Place>, FeedError> {
        Ok(match role {
            Role::Entry => {
                while self.open.last().is_some_and(|open| open.place != Place::Feed) {
                    self.repaired(Repair::Unbalanced);
                    self.leave();
                }
                Some(Place::Entry)
            }
            // A second channel's content counts as part of the first channel.
            Role::Channel => (self.open.len() <= 1).then_some(Place::Feed),
            Role::Deleted => self.begin_deletion(tag).then_some(Place::Deleted),
            Role::AuthorElement => {
                if let Some(entry) = self.entry.as_mut().filter(|_| at == Place::Entry) {
                    entry.has_author = true;
                }
                Some(Place::Author)
            }
            Role::Group => Some(Place::Group),
            Role::Source => Some(Place::Source),
            Role::ImageElement => {
                if let Some(resource) = tag.attributes().find(|(n, _)| n.ends_with("resource") || *n == "href") {
                    self.offer_image(3, resource.1);
                }
                Some(Place::Image)
            }
            Role::SkipHours if at == Place::Feed => Some(Place::SkipHours),
            Role::SkipDays if at == Place::Feed => Some(Place::SkipDays),
            Role::AtomLink => return self.atom_link(tag, ns, local).map(|()| None),
            Role::ImageHref(rank) => {
                if let Some(href) = attribute(tag, "href") {
                    self.offer_image(rank, &href);
                }
                return self.skip(tag, local).map(|()| None);
            }
            Role::Other => return self.skip(tag, local).map(|()| None),
            _ => return self.leaf(role, tag, ns, local).map(|()| None),
        })
    }

    /// Adds a deletion, unless there are as many as the limit on entries. Returns true if it was added.
    fn begin_deletion(&mut self, tag: &Tag<'a>) -> bool {
        if self.feed.deleted.len() >= self.limits.entries {
            self.truncated = true;
            return false;
        }
        let id = attribute(tag, "ref").unwrap_or_default();
        let when = attribute(tag, "when").and_then(|text| text::date(&text, None));
        self.feed.deleted.push(Deletion { id, when, ..Deletion::default() });
        true
    }

    fn end(&mut self, name: &str) {
        let at = self.open.iter().rposition(|o| o.name.eq_ignore_ascii_case(name));
        if at.is_none_or(|at| at + 1 < self.open.len()) {
            self.repaired(Repair::Unbalanced);
        }
        while at.is_some_and(|at| self.open.len() > at) {
            self.leave();
        }
    }

    /// Skips an irrelevant element. It ends where an entry begins, in case it was not closed.
    fn skip(&mut self, tag: &Tag<'a>, local: &str) -> Result<(), FeedError> {
        if tag.empty { Ok(()) } else { self.inside(tag, local, None) }
    }

    /// Reads up to the end of an element: its end tag, that of an enclosing element, or a tag that cannot be inside it.
    fn inside(&mut self, tag: &Tag<'a>, local: &str, mut leaf: Option<&mut Leaf<'a>>) -> Result<(), FeedError> {
        let (mut same_name, mut inner_open) = (0_usize, 0_usize);
        let mut depth = self.open.len();
        let is_leaf = leaf.is_some();
        let long_texts = ["description", "content", "encoded", "summary", "body", "div", "subtitle", "tagline"];
        let long_text = is_leaf && long_texts.contains(&local);
        let naked = leaf.as_ref().is_some_and(|l| !l.takes_markup());
        while let Some(token) = self.tokens.next() {
            match token {
                Token::Text(text) => leaf.iter_mut().for_each(|leaf| leaf.text(text)),
                Token::CData(text) => leaf.iter_mut().for_each(|leaf| leaf.cdata(text)),
                Token::Start(inner) => {
                    if self.is_boundary(tag, &inner, is_leaf, long_text) {
                        self.repaired(Repair::Unbalanced);
                        self.tokens.rewind();
                        return Ok(());
                    }
                    if naked {
                        self.repaired(Repair::NakedMarkup);
                    }
                    if !inner.empty {
                        same_name += usize::from(inner.name.eq_ignore_ascii_case(tag.name));
                        inner_open += 1;
                        depth += usize::from(!is_loose_html(&lower(inner.name)));
                        if depth > MAX_DEPTH {
                            return Err(FeedError::TooLarge { what: "nested elements", limit: MAX_DEPTH });
                        }
                    }
                    leaf.iter_mut().for_each(|leaf| leaf.start(&inner));
                }
                Token::End(name) if name.eq_ignore_ascii_case(tag.name) => {
                    if same_name == 0 {
                        return Ok(());
                    }
                    same_name -= 1;
                    inner_open = inner_open.saturating_sub(1);
                    depth = depth.saturating_sub(1);
                    leaf.iter_mut().for_each(|leaf| leaf.end(name));
                }
                Token::End(name) if self.open.iter().any(|o| o.name.eq_ignore_ascii_case(name)) => {
                    self.repaired(Repair::Unbalanced);
                    self.tokens.rewind();
                    return Ok(());
                }
                Token::End(name) if inner_open > 0 => {
                    inner_open -= 1;
                    depth = depth.saturating_sub(usize::from(!is_loose_html(&lower(name)))).max(self.open.len());
                    leaf.iter_mut().for_each(|leaf| leaf.end(name));
                }
                Token::End(_) => self.repaired(Repair::Unbalanced),
            }
        }
        Ok(())
    }

    /// True if a tag inside an element shows that the element was not closed.
    fn is_boundary(&self, outer: &Tag<'_>, inner: &Tag<'a>, is_leaf: bool, long_text: bool) -> bool {
        if prefix(inner.name) != self.open.last().and_then(|o| o.prefix) || inner.name == outer.name && long_text {
            return false;
        }
        let local = lower(inner.name);
        match (is_leaf, long_text) {
            (true, true) => ends_a_text(&local),
            (true, false) => ends_a_word(&local),
            (false, _) => matches!(local.as_str(), "item" | "entry"),
        }
    }

    fn finish(mut self) -> Feed {
        let whole = self.open.is_empty();
        while !self.open.is_empty() {
            self.leave();
        }
        self.truncated |= keep_newest(&mut self.entries, self.limits.entries);
        if self.tokens.cut || !whole {
            self.truncated = true;
            self.repaired(Repair::Cut);
        }
        if self.tokens.doctype {
            self.repaired(Repair::Doctype);
        }
        if self.tokens.bare {
            self.repaired(Repair::BareMarkup);
        }
        let mut hints = std::mem::take(&mut self.feed.hints);
        let frequency = self.feed.frequency.unwrap_or(1);
        hints.update_period = self.feed.period.map(|p| Millis(p / frequency)).filter(|p| *p > Millis::ZERO);
        for list in [&mut hints.skip_hours, &mut hints.skip_days] {
            list.sort_unstable();
            list.dedup();
        }
        let draft = self.feed;
        let language = draft.language.take().map(|l| l.trim().to_ascii_lowercase().replace('_', "-"));
        let mut feed = Feed {
            format: self.format,
            description: draft.summary.take(),
            link: draft.link.take(),
            language: language.filter(|language| is_language(language)),
            image: draft.image.take(),
            updated: draft.updated.take(),
            hints,
            generator: draft.generator,
            paging: draft.paging,
            deleted: deletions(draft.deleted, self.limits),
            repairs: self.repairs,
            truncated: self.truncated,
            ..Feed::default()
        };
        // An entry without an author inherits the feed's (RFC 4287 §4.2.1).
        let author = draft.author.take().filter(|_| self.atom);
        for entry in self.entries.iter_mut().filter(|entry| entry.author.is_none()) {
            entry.author.clone_from(&author);
        }
        let title = draft.title.take().map(|(literal, title)| (literal && self.atom, title));
        finish(&mut feed, title, self.entries, self.limits, self.work);
        feed
    }
}

/// Minimum number of bytes that a feed may grow when addresses are made absolute; a large feed may grow fourfold.
const LEAST_GROWTH: usize = 64 * 1024;

/// True for a text in the form of a language tag (RFC 5646 §2.1); subtags are not checked.
fn is_language(text: &str) -> bool {
    (2..=35).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
}

fn prefix(name: &str) -> Option<&str> {
    name.split_once(':').map(|(prefix, _)| prefix)
}

fn lower(name: &str) -> String {
    let local = name.rsplit(':').next().unwrap_or(name);
    local.chars().take(32).map(|c| c.to_ascii_lowercase()).collect()
}
