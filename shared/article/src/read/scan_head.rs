//! Scans the tags in one cheap pass, for the facts that the fetch stage needs before its next call.

use crate::read::gate::{Depth, admit};
use crate::read::gate::{Limits, Unreadable};
use crate::read::links::resolve;
use curlew_text::{hygiene::line, references};
use lol_html::html_content::{Element, TextChunk};
use lol_html::{HtmlRewriter, MemorySettings, Settings, element, end_tag, text};
use std::cell::RefCell;
use std::rc::Rc;
use url::Url;

/// Statements of a page about itself in its tags.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HeadScan {
    /// `<link rel=canonical>`; `None` if there are several different ones (RFC 6596).
    pub canonical: Option<Url>,
    /// True if the page names several different canonical URLs.
    pub canonical_conflict: bool,
    /// Meta tags that carry directives, for every robot named: name in lower case, content.
    pub robots_meta: Vec<(String, String)>,
    /// Image that the head names: `og:image`, `twitter:image`, `link rel=image_src`.
    pub image: Option<Url>,
    /// The text of the first `<title>`.
    pub title: Option<String>,
    /// `<meta http-equiv=refresh>`; never followed here.
    pub refresh: Option<Refresh>,
    /// `<link rel=license type="application/rsl+xml">`, the first one (RSL 1.0).
    pub license: Option<Url>,
    /// Texts of `<script type="application/rsl+xml">`, up to 64 KiB.
    pub rsl: String,
    /// Number of start tags of the page.
    pub tags: usize,
}

/// Maximum size of the licences in a page, in bytes; what follows is dropped.
const RSL_BYTES: usize = 64 * 1024;
/// The media type of licences (RSL 1.0).
const RSL: &str = "application/rsl+xml";

/// A redirect declared in the page.
#[derive(Clone, Debug, PartialEq)]
pub struct Refresh {
    /// Delay in seconds.
    pub seconds: u32,
    /// Target; `None` if it is the page itself or no http(s) address.
    pub target: Option<Url>,
}

/// Memory limit of the tag reader in bytes: a longer tag is an attack.
const READER_BYTES: usize = 8 * 1024 * 1024;

/// Reads the tags of a page once, in linear time, and counts depth, tags and attributes as it goes.
///
/// # Errors
/// If the page exceeds one of the limits, or is not HTML.
pub fn scan_head(html: &str, page: &Url, limits: &Limits) -> Result<HeadScan, Unreadable> {
    admit(html, limits)?;
    let seen = Rc::new(RefCell::new(Scan::new(*limits)));
    let at_element = {
        let seen = Rc::clone(&seen);
        element!("*", move |tag| {
            let serial = seen.borrow_mut().start(tag)?;
            if tag.can_have_content() {
                let seen = Rc::clone(&seen);
                tag.on_end_tag(end_tag!(move |_| {
                    seen.borrow_mut().depth.end(serial);
                    Ok(())
                }))?;
            }
            Ok(())
        })
    };
    let at_title = {
        let seen = Rc::clone(&seen);
        text!("title", move |chunk: &mut TextChunk<'_>| {
            seen.borrow_mut().title_text(chunk);
            Ok(())
        })
    };
    let at_license = {
        let seen = Rc::clone(&seen);
        text!("script[type='application/rsl+xml' i]", move |chunk: &mut TextChunk<'_>| {
            let rsl = &mut seen.borrow_mut().rsl;
            let room = RSL_BYTES.saturating_sub(rsl.len());
            let text = chunk.as_str();
            rsl.push_str(text.get(..text.floor_char_boundary(room)).unwrap_or_default());
            Ok(())
        })
    };
    let settings = Settings::new()
        .append_element_content_handler(at_element)
        .append_element_content_handler(at_title)
        .append_element_content_handler(at_license)
        .with_strict(false)
        .with_memory_settings(MemorySettings::new().with_max_allowed_memory_usage(READER_BYTES));
    let outcome = {
        let mut reader = HtmlRewriter::new(settings, |_: &[u8]| {});
        reader.write(html.as_bytes()).and_then(|()| reader.end())
    };
    let mut seen = seen.borrow_mut();
    match (seen.refused, outcome) {
        (Some(why), _) => Err(why),
        // The only other possible failure is the reader's memory limit: one enormous tag.
        (None, Err(_)) => Err(Unreadable::TooLarge),
        (None, Ok(())) => Ok(seen.finish(page)),
    }
}

/// Returns the contents of the meta tags of this name in a page's head, in order. Tags after the head do not count,
/// since they may come from visitors.
pub fn head_metas(html: &str, name: &str) -> Vec<String> {
    let found = Rc::new(RefCell::new((false, Vec::new())));
    let (at_body, at_meta) = (Rc::clone(&found), Rc::clone(&found));
    let wanted = name.to_owned();
    let settings = Settings::new()
        .append_element_content_handler(element!("*", move |tag| {
            let is_of_head =
                ["html", "head", "meta", "title", "link", "base", "script", "style", "noscript", "template"];
            if !is_of_head.contains(&tag.tag_name().as_str()) {
                at_body.borrow_mut().0 = true;
            }
            Ok(())
        }))
        .append_element_content_handler(element!("meta[name][content]", move |tag| {
            let mut found = at_meta.borrow_mut();
            let is_it = tag.get_attribute("name").is_some_and(|it| it.trim().eq_ignore_ascii_case(&wanted));
            if is_it && !found.0 {
                found.1.extend(tag.get_attribute("content").map(|content| references::decode(&content).into_owned()));
            }
            Ok(())
        }))
        .with_strict(false)
        .with_memory_settings(MemorySettings::new().with_max_allowed_memory_usage(READER_BYTES));
    let mut reader = HtmlRewriter::new(settings, |_: &[u8]| {});
    // A tag that is too long for the reader ends the scan; tags before it count.
    reader.write(html.as_bytes()).and_then(|()| reader.end()).ok();
    found.take().1
}

/// State of the scan; references stay as written until the base is known.
struct Scan {
    limits: Limits,
    depth: Depth,
    refused: Option<Unreadable>,
    base: Option<String>,
    canonicals: Vec<String>,
    robots_meta: Vec<(String, String)>,
    images: [Option<String>; 3],
    title: String,
    title_done: bool,
    refresh: Option<String>,
    license: Option<String>,
    rsl: String,
    tags: usize,
}

impl Scan {
    fn new(limits: Limits) -> Scan {
        Scan {
            limits,
            depth: Depth::new(),
            refused: None,
            base: None,
            canonicals: Vec::new(),
            robots_meta: Vec::new(),
            images: [None, None, None],
            title: String::new(),
            title_done: false,
            refresh: None,
            license: None,
            rsl: String::new(),
            tags: 0,
        }
    }

    fn start(&mut self, tag: &Element<'_, '_>) -> Result<u32, Unreadable> {
        let name = tag.tag_name();
        self.tags += 1;
        let counted = self.depth.start(&name, tag.attributes().len(), tag.can_have_content(), &self.limits);
        if let Err(why) = counted {
            self.refused = Some(why);
        }
        match name.as_str() {
            "base" if self.base.is_none() => self.base = attribute(tag, "href"),
            "link" => self.link(tag),
            "meta" => self.meta(tag),
            _ => {}
        }
        counted
    }

    fn link(&mut self, tag: &Element<'_, '_>) {
        let (Some(rel), Some(href)) = (attribute(tag, "rel"), attribute(tag, "href")) else { return };
        for rel in rel.split_ascii_whitespace() {
            if rel.eq_ignore_ascii_case("canonical") && self.canonicals.len() < CANONICALS {
                self.canonicals.push(href.clone());
            } else if rel.eq_ignore_ascii_case("image_src") {
                keep(&mut self.images, 2, &href);
            } else if rel.eq_ignore_ascii_case("license")
                && self.license.is_none()
                && attribute(tag, "type").is_some_and(|kind| kind.trim().eq_ignore_ascii_case(RSL))
            {
                self.license = Some(href.clone());
            }
        }
    }

    fn meta(&mut self, tag: &Element<'_, '_>) {
        let Some(content) = attribute(tag, "content") else { return };
        if attribute(tag, "http-equiv").is_some_and(|v| v.trim().eq_ignore_ascii_case("refresh")) {
            self.refresh.get_or_insert(content);
            return;
        }
        let Some(name) = attribute(tag, "name").or_else(|| attribute(tag, "property")) else { return };
        let name = name.trim().to_ascii_lowercase();
        match name.as_str() {
            "og:image" | "og:image:url" | "og:image:secure_url" => keep(&mut self.images, 0, &content),
            "twitter:image" | "twitter:image:src" => keep(&mut self.images, 1, &content),
            _ if self.robots_meta.len() < self.limits.robots_metas && is_directive(&name, &content) => {
                let content = line(&content, self.limits.robots_bytes);
                self.robots_meta.push((name, content));
            }
            _ => {}
        }
    }

    fn title_text(&mut self, chunk: &TextChunk<'_>) {
        if !self.title_done && self.title.len() < self.limits.title_chars.saturating_mul(8) {
            self.title.push_str(chunk.as_str());
        }
        if chunk.last_in_text_node() {
            self.title_done = !self.title.trim().is_empty();
            // Blanks of empty titles must not be scanned again with each following title.
            if !self.title_done {
                self.title.clear();
            }
        }
    }

    fn finish(&mut self, page: &Url) -> HeadScan {
        let max = self.limits.url_bytes;
        let base = crate::read::links::base(page, self.base.as_deref(), max);
        let (canonical, canonical_conflict) = one_of(self.canonicals.iter().map(String::as_str), &base, max);
        let title = line(&references::decode(&self.title), self.limits.title_chars);
        HeadScan {
            canonical,
            canonical_conflict,
            robots_meta: std::mem::take(&mut self.robots_meta),
            image: self.images.iter().flatten().find_map(|src| resolve(&base, src, max)),
            title: (!title.is_empty()).then_some(title),
            refresh: self.refresh.as_deref().and_then(|content| refresh(content, &base, max)),
            license: self.license.as_deref().and_then(|href| resolve(&base, href, max)),
            rsl: std::mem::take(&mut self.rsl),
            tags: self.tags,
        }
    }
}

/// Maximum number of canonical links kept; more are a conflict anyway.
pub(crate) const CANONICALS: usize = 8;

/// Returns the canonical URL if all links name the same one, and true if they conflict (RFC 6596).
pub(crate) fn one_of<'h>(hrefs: impl Iterator<Item = &'h str>, base: &Url, max_bytes: usize) -> (Option<Url>, bool) {
    let canonicals: Vec<Url> = hrefs.filter_map(|href| resolve(base, href, max_bytes)).collect();
    let conflict = canonicals.iter().any(|url| Some(url) != canonicals.first());
    (if conflict { None } else { canonicals.into_iter().next() }, conflict)
}

fn keep(slots: &mut [Option<String>; 3], slot: usize, value: &str) {
    if let Some(slot) = slots.get_mut(slot)
        && slot.is_none()
        && !value.trim().is_empty()
    {
        *slot = Some(value.to_owned());
    }
}

/// Returns an attribute's value with its entities decoded, which the tag reader leaves as written.
fn attribute(tag: &Element<'_, '_>, name: &str) -> Option<String> {
    tag.get_attribute(name)
        .map(|value| if value.contains('&') { references::decode(&value).into_owned() } else { value })
}

/// True if a meta tag carries directives for robots: `robots`, a robot's own name, or a rights reservation (TDMRep).
/// The names of robots are unknown here, so any name counts if its content begins with a directive.
pub(crate) fn is_directive(name: &str, content: &str) -> bool {
    if matches!(name, "robots" | "tdm-reservation" | "tdm-policy") {
        return true;
    }
    let token = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'));
    token
        && content.split(',').any(|word| {
            let word = word.split(':').next().unwrap_or_default().trim();
            [
                "noindex",
                "index",
                "nofollow",
                "follow",
                "none",
                "all",
                "noarchive",
                "nosnippet",
                "max-snippet",
                "max-image-preview",
                "max-video-preview",
                "noimageindex",
                "notranslate",
                "unavailable_after",
                "noai",
                "noimageai",
            ]
            .iter()
            .any(|known| word.eq_ignore_ascii_case(known))
        })
}

/// Reads `5; url='/next'` (HTML, "shared declarative refresh steps").
fn refresh(content: &str, base: &Url, max_bytes: usize) -> Option<Refresh> {
    let content = content.trim_start();
    let digits = content.len() - content.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, rest) = content.split_at(digits);
    if number.is_empty() && !rest.starts_with('.') {
        return None;
    }
    let seconds = if number.is_empty() { 0 } else { number.parse().unwrap_or(u32::MAX) };
    let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.').trim_start();
    let rest = rest.trim_start_matches([';', ',']).trim_start();
    let target = match rest.get(..3) {
        Some(word) if word.eq_ignore_ascii_case("url") => {
            rest.get(3..).and_then(|rest| rest.trim_start().strip_prefix('=')).map_or(rest, str::trim_start)
        }
        _ => rest,
    };
    let target = match target.chars().next() {
        Some(quote @ ('"' | '\'')) => target.get(1..).and_then(|t| t.split(quote).next()).unwrap_or_default(),
        _ => target,
    };
    Some(Refresh { seconds, target: resolve(base, target, max_bytes) })
}
