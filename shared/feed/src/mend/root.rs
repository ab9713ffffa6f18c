//! Finds the root element of a feed, whatever precedes it.

use super::{Mender, Place};
use crate::token::{Tag, Token, attribute};
use crate::{FeedError, Format, NotAFeed, Repair, entity::Entities, names::Ns};
use std::rc::Rc;

const ATOM_ADDRESS: &str = "www.w3.org/2005/Atom";
const RSS_1_ADDRESS: &str = "purl.org/rss/1.0/";

impl<'a> Mender<'a> {
    pub(super) fn find_root(&mut self) -> Result<(), FeedError> {
        let mut first = None;
        while let Some(token) = self.tokens.next() {
            match token {
                Token::Start(tag) => {
                    let mark = self.names.mark();
                    self.names.declare(&tag)?;
                    let (ns, local) = self.names.resolve(tag.name);
                    // Without this check, a page made of such tags would be searched to its end for each of them.
                    if local == "html" && !self.in_page && !self.may_hold_a_feed() {
                        return Err(FeedError::NotAFeed(NotAFeed::WebPage));
                    }
                    self.in_page |= local == "html";
                    if self.in_page && matches!(&*local, "script" | "style" | "textarea") {
                        self.tokens.pass_over(tag.name);
                    }
                    if self.enter_root(&tag, ns, &local, first.is_none()) {
                        return Ok(());
                    }
                    self.names.restore(mark);
                    first.get_or_insert(local.into_owned());
                    self.repaired(Repair::LeadingJunk);
                }
                Token::Text(text) if text.trim().is_empty() => {}
                _ => self.repaired(Repair::LeadingJunk),
            }
        }
        Err(FeedError::NotAFeed(first.map_or(NotAFeed::NoMarkup, |name| NotAFeed::beginning_with(&name))))
    }

    fn may_hold_a_feed(&self) -> bool {
        let rest = self.tokens.rest();
        self.work.add(rest.len());
        rest.contains("<rss")
            || rest.contains(ATOM_ADDRESS) && (rest.contains("<feed") || rest.contains(":feed"))
            || rest.contains(RSS_1_ADDRESS) && rest.contains("<rdf:RDF")
    }

    /// Enters the root if this tag is one. A channel or entry without a root must be the document's first element.
    fn enter_root(&mut self, tag: &Tag<'a>, ns: Ns, local: &str, first: bool) -> bool {
        let version = tag.attributes().find(|(n, _)| n.eq_ignore_ascii_case("version")).map_or("", |(_, v)| v.trim());
        let format = match local {
            "rss" if version.starts_with("0.9") => Format::Rss09x,
            "rss" if version.starts_with("1.") => Format::Rss1,
            "rss" => Format::Rss2,
            "rdf" if tag.attributes.contains("netscape.com/rdf") => Format::Rss09x,
            "rdf" => Format::Rss1,
            "feed" if version.starts_with("0.") || tag.attributes.contains("purl.org/atom/ns") => Format::Atom03,
            "feed" => Format::Atom,
            "entry" if first => Format::Atom,
            "channel" if first => Format::Rss2,
            _ => return false,
        };
        if ns == Ns::Other && !matches!(local, "rss" | "rdf" | "feed") {
            return false;
        }
        // A page may contain elements of any name.
        let is_certain = match local {
            "feed" => ns == Ns::Atom,
            "rss" => version.starts_with(|c: char| c.is_ascii_digit()),
            _ => local == "rdf" && tag.attributes.contains(RSS_1_ADDRESS),
        };
        if self.in_page && !is_certain {
            return false;
        }
        self.declared = Rc::new(Entities::from_subset(self.tokens.subset));
        self.format = format;
        self.atom = matches!(format, Format::Atom | Format::Atom03);
        if !self.atom {
            self.names.own_default();
        }
        let language = attribute(tag, "xml:lang").unwrap_or_default();
        self.feed.language.offer(2, language);
        let place = if local == "entry" { Place::Entry } else { Place::Feed };
        self.enter(place, tag, self.names.mark());
        true
    }
}
