//! Licences of Really Simple Licensing (RSL 1.0, rslstandard.org): a licence that prohibits `search` or `all` is
//! obeyed, unless another licence of the same content permits it.

use crate::address;
use crate::robots::pattern::{self, Pattern, Steps};
use crate::robots::{MAX_STEPS, path_and_query};
use curlew_text::links::{MOST_LINKS, parameter, split, target};
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use std::borrow::Cow;
use url::Url;

/// Media type of licence documents, in links and scripts.
pub const MEDIA_TYPE: &str = "application/rsl+xml";
/// Maximum number of bytes that are read of a document.
pub const MAX_LICENSE_BYTES: usize = 256 * 1024;
const MAX_CONTENTS: usize = 1_000;
/// Maximum number of tags and texts that are read of a document.
const MAX_EVENTS: usize = 50_000;
const MAX_DEPTH: usize = 32;
/// Maximum length of an element's text, in bytes.
const MAX_TEXT: usize = 1_024;

/// Statements of a licence document about search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LicenseTerms(Vec<Content>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Content {
    host: Option<String>,
    pattern: Pattern,
    usage: Usage,
}

/// Statements of a licence, or of all licences of a content, about the usage `search`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Usage {
    prohibits: bool,
    permits: bool,
}

/// Returns the URL of the licence in the `Link` headers: `<…>; rel="license"; type="application/rsl+xml"`.
pub fn linked(headers: &[String], base: &Url) -> Option<Url> {
    let is_license = |link: &&str| parameter(link, "type").is_some_and(|kind| kind.eq_ignore_ascii_case(MEDIA_TYPE));
    let links = headers.iter().flat_map(|header| split(header)).take(MOST_LINKS);
    links.filter(is_license).find_map(|link| address::parse(target(link, "license")?, Some(base)).ok())
}

impl LicenseTerms {
    /// Parses a document, feed or script. Never fails: keeps the part before an error. Entities are not expanded.
    pub fn parse(document: &[u8]) -> LicenseTerms {
        let document = document.get(..MAX_LICENSE_BYTES).unwrap_or(document);
        let text = String::from_utf8_lossy(document);
        let mut reader = Reader::from_str(&text);
        reader.config_mut().check_end_names = false;
        let mut state = DocumentReader::default();
        for _ in 0..MAX_EVENTS {
            let goes_on = match reader.read_event() {
                Ok(Event::Start(tag)) => state.start(&tag, false),
                Ok(Event::Empty(tag)) => state.start(&tag, true),
                Ok(Event::End(_)) => state.end(),
                Ok(Event::Text(text)) => state.text(&text),
                Ok(Event::CData(text)) => state.text(&text),
                Ok(Event::Eof) | Err(_) => false,
                Ok(_) => true,
            };
            if !goes_on || state.contents.len() >= MAX_CONTENTS {
                break;
            }
        }
        LicenseTerms(state.contents)
    }

    /// True if there are no statements about any page.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// True if the content with the longest path that matches a URL prohibits search; among equals, one is enough.
    pub fn prohibits_search(&self, url: &Url) -> bool {
        let path = path_and_query(url);
        let path = pattern::canonical_path(path.as_bytes());
        let host = url.host_str().unwrap_or_default();
        let mut steps = Steps::new(MAX_STEPS);
        let mut longest = 0;
        let mut prohibited = false;
        for content in &self.0 {
            if content.pattern.octets < longest || content.host.as_deref().is_some_and(|named| named != host) {
                continue;
            }
            // A document made to be slow is not read further.
            let Ok(matched) = content.pattern.matches(&path, &mut steps) else { break };
            if matched {
                let says_no = content.usage.prohibits && !content.usage.permits;
                prohibited = says_no || (prohibited && content.pattern.octets == longest);
                longest = content.pattern.octets;
            }
        }
        prohibited
    }
}

#[derive(Default)]
struct DocumentReader {
    contents: Vec<Content>,
    open: Vec<Element>,
    content: Option<Content>,
    license: Option<Usage>,
    usage: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Element {
    Content,
    License,
    Permits,
    Prohibits,
    Other,
}

impl DocumentReader {
    /// Handles a start tag; false if the document is too deep.
    fn start(&mut self, tag: &BytesStart<'_>, is_empty: bool) -> bool {
        if self.open.len() >= MAX_DEPTH {
            return false;
        }
        let is_usage = || attribute(tag, "type").is_none_or(|kind| kind.trim().eq_ignore_ascii_case("usage"));
        let element = match tag.local_name().as_ref() {
            "content" if self.content.is_none() => {
                self.content = Some(content(attribute(tag, "url").as_deref().unwrap_or_default()));
                Element::Content
            }
            "license" if self.content.is_some() && self.license.is_none() => {
                self.license = Some(Usage::default());
                Element::License
            }
            "permits" if self.license.is_some() && is_usage() => Element::Permits,
            "prohibits" if self.license.is_some() && is_usage() => Element::Prohibits,
            _ => Element::Other,
        };
        if matches!(element, Element::Permits | Element::Prohibits) {
            self.usage.clear();
        }
        self.open.push(element);
        if is_empty { self.end() } else { true }
    }

    fn text(&mut self, text: &str) -> bool {
        if matches!(self.open.last(), Some(Element::Permits | Element::Prohibits)) && self.usage.len() < MAX_TEXT {
            self.usage.push_str(text);
        }
        true
    }

    fn end(&mut self) -> bool {
        match self.open.pop() {
            Some(element @ (Element::Permits | Element::Prohibits)) if names_search(&self.usage) => {
                if let Some(license) = &mut self.license {
                    license.permits |= element == Element::Permits;
                    license.prohibits |= element == Element::Prohibits;
                }
            }
            Some(Element::License) => {
                if let (Some(license), Some(content)) = (self.license.take(), &mut self.content) {
                    content.usage.prohibits |= license.prohibits;
                    content.usage.permits |= license.permits && !license.prohibits;
                }
            }
            Some(Element::Content) => self.contents.extend(self.content.take()),
            _ => {}
        }
        true
    }
}

/// True if a list separated by blanks or commas has `search`, or `all`, which includes it.
fn names_search(usage: &str) -> bool {
    let usage = usage.get(..usage.floor_char_boundary(MAX_TEXT)).unwrap_or_default();
    usage
        .split(|c: char| c == ',' || c.is_whitespace())
        .any(|word| word.eq_ignore_ascii_case("search") || word.eq_ignore_ascii_case("all"))
}

/// Returns the content for an absolute URL or a path pattern as in robots.txt; all pages if it is empty.
fn content(url: &str) -> Content {
    let url = url.trim();
    let (host, path) = match Url::parse(url) {
        Ok(whole) => {
            let after = url.split_once("://").map_or("", |(_, after)| after);
            (whole.host_str().map(str::to_owned), after.find('/').map_or("", |at| &after[at..]))
        }
        Err(_) => (None, url),
    };
    let path = if path.is_empty() { "/" } else { path };
    Content { host, pattern: pattern::canonical_pattern(path.as_bytes()), usage: Usage::default() }
}

fn attribute(tag: &BytesStart<'_>, name: &str) -> Option<String> {
    let mut attributes = tag.attributes();
    let readable = attributes.with_checks(false).filter_map(Result::ok);
    let value = readable.take(MAX_DEPTH).find(|it| it.key.local_name().as_ref() == name)?.value;
    Some(quick_xml::escape::unescape(&value).map(Cow::into_owned).unwrap_or_else(|_| value.into_owned()))
}
