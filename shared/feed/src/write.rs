//! Writes the strict document that feed-rs reads.

use crate::draft::{EntryDraft, FeedDraft, Kind, Slot};

/// Which of the two strict forms is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    /// RSS 2.0.
    Rss,
    /// Atom 1.0.
    Atom,
}

/// A strict document that grows.
pub(crate) struct Writer {
    family: Family,
    out: String,
}

impl Writer {
    pub(crate) fn new(family: Family) -> Writer {
        let head = match family {
            Family::Rss => {
                "<rss version=\"2.0\" xmlns:content=\"http://purl.org/rss/1.0/modules/content/\" \
                 xmlns:dc=\"http://purl.org/dc/elements/1.1/\" xmlns:atom=\"http://www.w3.org/2005/Atom\"><channel>"
            }
            Family::Atom => "<feed xmlns=\"http://www.w3.org/2005/Atom\">",
        };
        Writer { family, out: head.to_owned() }
    }

    pub(crate) fn entry(&mut self, entry: &EntryDraft) {
        match self.family {
            Family::Rss => {
                self.out.push_str("<item>");
                self.element("title", &entry.title);
                self.element("link", &entry.link);
                self.element("guid", &entry.id);
                self.element("pubDate", &entry.published);
                self.element("atom:updated", &entry.updated);
                self.element("dc:creator", &entry.author);
                self.element("description", &entry.summary);
                self.element("content:encoded", &entry.content);
                self.out.push_str("</item>");
            }
            Family::Atom => {
                self.out.push_str("<entry>");
                self.element("id", &entry.id);
                self.typed("title", &entry.title);
                self.atom_link(&entry.link);
                self.element("published", &entry.published);
                self.element("updated", &entry.updated);
                self.nested("author", "name", &entry.author);
                self.typed("summary", &entry.summary);
                self.typed("content", &entry.content);
                self.out.push_str("</entry>");
            }
        }
    }

    pub(crate) fn finish(mut self, feed: &FeedDraft) -> String {
        match self.family {
            Family::Rss => {
                self.element("title", &feed.title);
                self.element("link", &feed.link);
                self.element("description", &feed.summary);
                self.element("lastBuildDate", &feed.updated);
                self.nested("image", "url", &feed.image);
                self.out.push_str("</channel></rss>");
            }
            Family::Atom => {
                self.typed("title", &feed.title);
                self.atom_link(&feed.link);
                self.typed("subtitle", &feed.summary);
                self.element("updated", &feed.updated);
                self.element("logo", &feed.image);
                self.out.push_str("</feed>");
            }
        }
        self.out
    }

    fn element(&mut self, name: &str, slot: &Slot) {
        self.element_with(name, "", slot);
    }

    fn typed(&mut self, name: &str, slot: &Slot) {
        let kind = if slot.kind() == Kind::Plain { " type=\"text\"" } else { " type=\"html\"" };
        self.element_with(name, kind, slot);
    }

    fn element_with(&mut self, name: &str, attributes: &str, slot: &Slot) {
        if let Some(value) = slot.get() {
            self.out.extend(["<", name, attributes, ">"]);
            escape_into(value, &mut self.out);
            self.out.extend(["</", name, ">"]);
        }
    }

    fn nested(&mut self, outer: &str, inner: &str, slot: &Slot) {
        if slot.get().is_some() {
            self.out.extend(["<", outer, ">"]);
            self.element(inner, slot);
            self.out.extend(["</", outer, ">"]);
        }
    }

    fn atom_link(&mut self, slot: &Slot) {
        if let Some(value) = slot.get() {
            self.out.push_str("<link rel=\"alternate\" href=\"");
            escape_into(value, &mut self.out);
            self.out.push_str("\"/>");
        }
    }
}

/// Text as XML 1.0 may hold it (§2.2): markup escaped, characters that it forbids left out.
pub(crate) fn escape_into(text: &str, out: &mut String) {
    let special =
        |c: char| matches!(c, '&' | '<' | '>' | '"' | '\u{FFFE}' | '\u{FFFF}') || c < ' ' && !matches!(c, '\t' | '\n');
    let mut rest = text;
    while let Some(at) = rest.find(special) {
        out.push_str(&rest[..at]);
        let c = rest[at..].chars().next().unwrap_or_default();
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\r' => out.push('\n'),
            _ => {}
        }
        rest = &rest[at + c.len_utf8()..];
    }
    out.push_str(rest);
}
