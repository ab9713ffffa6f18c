//! Stores the content of elements in the draft.

use super::{Mender, Place};
use crate::draft::{MAX_TAGS, Slot};
use crate::leaf::{Construct, Leaf};
use crate::limits::MAX_ATTRIBUTES;
use crate::token::{Tag, attribute};
use crate::{FeedError, Repair, link, names::Ns, paging::Generator, text, vocabulary::Role};
use curlew_model::Millis;
use curlew_text::{date::weekday, references};
use url::Url;

impl<'a> Mender<'a> {
    pub(super) fn leaf(&mut self, role: Role, tag: &Tag<'a>, ns: Ns, local: &str) -> Result<(), FeedError> {
        let construct = Construct::from_tag(tag, ns, self.atom);
        let construct = match role {
            _ if !self.is_wanted(role) => Construct::Binary,
            Role::Title(_) | Role::Summary(_) | Role::Content(_) => construct,
            _ => Construct::Html,
        };
        let max_chars = match role {
            Role::Summary(_) | Role::Content(_) => self.limits.text_chars,
            // One character more than the limit, to detect texts that are too long.
            _ => self.limits.title_chars.max(self.limits.url_bytes) + 1,
        };
        let base = self.own_base(tag);
        let in_force = base.as_ref().or(self.bases.last()).cloned();
        let (prefixes, declared) = (self.names.html_prefixes(), self.declared.clone());
        let mut leaf = Leaf::new(construct, max_chars, in_force.clone(), prefixes, declared, self.work);
        if !tag.empty {
            self.inside(tag, local, Some(&mut leaf))?;
        }
        if leaf.odd_reference {
            self.repaired(Repair::Reference);
        }
        let text = leaf.finish(&mut self.growth_left);
        let base = in_force.unwrap_or_else(|| self.base_of_links());
        match (role, attribute(tag, "src").or_else(|| attribute(tag, "href"))) {
            (Role::Content(_), Some(src)) if self.atom => self.offer_link(6, &src, &base),
            (Role::Link(rank), Some(href)) if text.trim().is_empty() => self.offer_link(rank, &href, &base),
            (Role::Id(rank), _) => self.offer_id(rank, &text, tag, &base),
            (Role::Generator, _) => self.generator(&text, tag),
            (Role::Tag, _) => self.offer_tag(&text, tag),
            _ => self.offer(role, text, construct == Construct::Plain, &base),
        }
        Ok(())
    }

    /// True if a text with that role would be stored. Other texts are skipped.
    fn is_wanted(&self, role: Role) -> bool {
        match (&self.entry, role) {
            (Some(entry), Role::Title(rank)) => entry.title.wants(rank),
            (Some(entry), Role::Author(rank)) => entry.author.wants(rank),
            (Some(entry), Role::Summary(rank)) => entry.summary.wants(rank),
            (Some(entry), Role::Content(rank)) => entry.content.wants(rank),
            (Some(entry), Role::Published(rank)) => entry.published.wants_last(rank),
            (Some(entry), Role::Updated(rank)) => entry.updated.wants_last(rank),
            (None, Role::Title(rank)) => self.feed.title.wants(rank),
            (None, Role::Summary(rank)) => self.feed.summary.wants_last(rank),
            (None, Role::Published(rank) | Role::Updated(rank)) => self.feed.updated.wants_last(rank),
            _ => true,
        }
    }

    /// Reads a link in Atom's form (RFC 4287 §4.2.7).
    pub(super) fn atom_link(&mut self, tag: &Tag<'a>, ns: Ns, local: &str) -> Result<(), FeedError> {
        let (mut href, mut rel, mut media) = (None, String::new(), String::new());
        for (name, value) in tag.attributes().take(MAX_ATTRIBUTES) {
            match name.to_ascii_lowercase().as_str() {
                "href" => href = Some(self.declared.resolved(value)),
                "rel" => rel = value.trim().to_ascii_lowercase(),
                "type" => media = value.trim().to_ascii_lowercase(),
                _ => {}
            }
        }
        let stated = self.own_base(tag).or_else(|| self.bases.last().cloned());
        let base = stated.unwrap_or_else(|| self.base_of_links());
        let Some(href) = href else { return self.leaf(Role::Link(5), tag, ns, local) };
        let foreign = u8::from(!self.atom && ns == Ns::Atom);
        let page = media.is_empty() || media.contains("html");
        let is_about_the_feed = self.open.last().is_some_and(|open| open.place == Place::Feed);
        match rel.strip_prefix("http://www.iana.org/assignments/relation/").unwrap_or(&rel) {
            "" | "alternate" => self.offer_link(1 + foreign + u8::from(!page), &href, &base),
            relation if is_about_the_feed => self.offer_relation(relation, &href, &base),
            _ => {}
        }
        self.skip(tag, local)
    }

    /// Returns the base of links if none is stated: the channel's page in an RSS entry, otherwise the feed's address.
    fn base_of_links(&self) -> Url {
        self.channel.as_ref().filter(|_| self.entry.is_some()).unwrap_or(self.page).clone()
    }

    fn offer_relation(&mut self, relation: &str, href: &str, base: &Url) {
        if self.feed.relation(relation).is_some_and(|known| known.is_none()) {
            let url = self.resolve(href, base);
            if let Some(slot) = self.feed.relation(relation) {
                *slot = url;
            }
        }
    }

    fn generator(&mut self, text: &str, tag: &Tag<'_>) {
        let address = tag.attributes().take(MAX_ATTRIBUTES);
        let address = address.filter(|(name, _)| matches!(*name, "uri" | "url") || name.ends_with("resource"));
        let known = address.map(|(_, value)| value).chain([text]).find_map(Generator::recognise);
        self.feed.generator = self.feed.generator.or(known);
    }

    /// Resolves an address, if the limit on parsed values allows it.
    fn resolve(&mut self, text: &str, base: &Url) -> Option<String> {
        let is_read = self.may_read_value(text.len() + base.as_str().len());
        is_read.then(|| link::resolve(text, base, self.limits.url_bytes))?
    }

    fn link_slot(&mut self) -> &mut Slot {
        match (&mut self.entry, self.feed.deleted.last_mut()) {
            (Some(entry), _) => &mut entry.link,
            (None, Some(deletion)) if self.open.last().is_some_and(|o| o.place == Place::Deleted) => &mut deletion.link,
            (None, _) => &mut self.feed.link,
        }
    }

    fn offer_link(&mut self, rank: u8, text: &str, base: &Url) {
        let atom = self.atom;
        if text.trim().is_empty() || atom && !self.link_slot().wants(rank) {
            return;
        }
        let href = text::attribute_of_element(text, "href").map(references::decode);
        let text = href.as_deref().unwrap_or(text);
        let Some(link) = self.resolve(text, base) else { return self.repaired(Repair::Link) };
        let slot = self.link_slot();
        if atom {
            slot.offer(rank, link);
        } else {
            // The last of several links of an RSS entry wins, as in other feed readers.
            slot.offer_last(rank, link);
            if self.entry.is_none() {
                self.channel = self.feed.link.get().and_then(|link| Url::parse(link).ok());
            }
        }
    }

    pub(super) fn offer_image(&mut self, rank: u8, text: &str) {
        if !self.feed.image.wants(rank) {
            return;
        }
        let base = self.bases.last().unwrap_or(self.page).clone();
        if let Some(image) = self.resolve(&references::decode(text), &base) {
            self.feed.image.offer(rank, image);
        }
    }

    /// Stores an id. An RSS `guid` is also the address of the page, unless its `isPermaLink` is false. In Atom, an id
    /// that is an address is taken for it if there is no link.
    fn offer_id(&mut self, rank: u8, text: &str, tag: &Tag<'_>, base: &Url) {
        let Some(entry) = self.entry.as_mut() else { return };
        entry.id.offer_last(rank, text.trim().to_owned());
        let permalink = attribute(tag, "isPermaLink").is_none_or(|v| !v.trim().eq_ignore_ascii_case("false"));
        if permalink && link::is_absolute(text) {
            self.offer_link(if self.atom { 7 } else { 4 }, text, base);
        }
    }

    /// Stores a tag. Atom's tags are in attributes (RFC 4287 §4.2.2), of which `label` is meant for people.
    fn offer_tag(&mut self, text: &str, tag: &Tag<'_>) {
        let Some(entry) = self.entry.as_mut() else { return };
        let mut stated = ["label", "term"].into_iter().filter_map(|name| attribute(tag, name));
        let name = stated.find(|name| !name.trim().is_empty()).unwrap_or_else(|| text.to_owned());
        if entry.tags.len() < MAX_TAGS && !name.trim().is_empty() {
            entry.tags.push(name);
        }
    }

    fn offer(&mut self, role: Role, text: String, literal: bool, base: &Url) {
        let slots = match (&mut self.entry, role) {
            (_, Role::Link(rank)) => return self.offer_link(rank, &text, base),
            (_, Role::Image(rank)) => return self.offer_image(rank, &text),
            (_, Role::Published(_) | Role::Updated(_)) => return self.offer_date(role, &text),
            (Some(entry), Role::Title(rank)) => return entry.title.offer_title(rank, literal, text),
            (Some(entry), Role::Author(rank)) => (&mut entry.author, rank),
            (Some(entry), Role::Summary(rank)) => (&mut entry.summary, rank),
            (Some(entry), Role::Content(rank)) => (&mut entry.content, rank),
            (None, Role::Title(rank)) => return self.feed.title.offer_title(rank, literal, text),
            (None, Role::Summary(rank)) => return self.feed.summary.offer_last(rank, text),
            (None, Role::Author(rank)) => (&mut self.feed.author, rank),
            (None, Role::Language(rank)) => (&mut self.feed.language, rank),
            (_, role) => return self.hint(role, text.trim()),
        };
        slots.0.offer(slots.1, text);
    }

    fn offer_date(&mut self, role: Role, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        let is_read = self.may_read_value(text.len());
        let language = self.feed.language.get().map(String::as_str);
        let Some(time) = is_read.then(|| text::date(text, language)).flatten() else {
            return self.repaired(Repair::Date);
        };
        let (slot, rank) = match (&mut self.entry, role) {
            (Some(entry), Role::Published(rank)) => (&mut entry.published, rank),
            (Some(entry), Role::Updated(rank)) => (&mut entry.updated, rank),
            (None, Role::Published(rank) | Role::Updated(rank)) => (&mut self.feed.updated, rank),
            _ => return,
        };
        slot.offer_last_time(rank, time);
    }

    fn hint(&mut self, role: Role, text: &str) {
        let feed = &mut self.feed;
        match role {
            Role::Ttl => feed.hints.ttl_minutes = text.parse().ok(),
            Role::SkipHours => {
                feed.hints.skip_hours.extend(text.parse::<u8>().ok().filter(|h| *h <= 24).map(|h| h % 24))
            }
            Role::SkipDays => feed.hints.skip_days.extend(weekday(text)),
            Role::UpdatePeriod => feed.period = period(text),
            Role::UpdateFrequency => feed.frequency = text.parse().ok().filter(|f| *f > 0),
            Role::Archive => feed.paging.is_archive = true,
            Role::Complete => feed.paging.is_complete = true,
            Role::Total => feed.paging.total = text.parse().ok(),
            _ => {}
        }
    }
}

/// Returns an `sy:updatePeriod` in milliseconds.
fn period(text: &str) -> Option<u64> {
    let hours = match text.to_ascii_lowercase().as_str() {
        "hourly" => 1,
        "daily" => 24,
        "weekly" => 7 * 24,
        "monthly" => 30 * 24,
        "yearly" => 365 * 24,
        _ => return None,
    };
    Some(Millis::from_hours(hours).0)
}
