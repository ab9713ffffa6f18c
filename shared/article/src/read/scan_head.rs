//! Scans the tags in one cheap pass, for the facts that the fetch stage needs before its next call.

use crate::read::gate::{Limits, Unreadable, admit};
use crate::read::images::is_undecoded;
use crate::read::links::{base, is_ornament, resolve};
use crate::read::stored::may_tell;
use curlew_text::html::{Piece, Pieces, Tag, TextKind};
use curlew_text::hygiene::{head_bytes, line};
use curlew_text::references;
use std::borrow::Cow;
use std::ops::Range;
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
    /// Further choices, best first.
    pub other_images: Vec<Url>,
    /// The text of the first `<title>`.
    pub title: Option<String>,
    /// `<meta http-equiv=refresh>` outside of `<noscript>`; never followed here.
    pub refresh: Option<Refresh>,
    /// `<link rel=license type="application/rsl+xml">`, the first one (RSL 1.0).
    pub license: Option<Url>,
    /// Texts of `<script type="application/rsl+xml">`, up to 64 KiB.
    pub rsl: String,
    /// Number of start tags of the page.
    pub tags: usize,
    /// Ranges of programs and style sheets that [`extract`](crate::extract) does not read, in order.
    pub(crate) programs: Vec<Range<usize>>,
}

impl HeadScan {
    /// Returns the page without programs and style sheets that [`extract`](crate::extract) does not read.
    pub fn without_programs<'h>(&self, html: &'h str) -> Cow<'h, str> {
        if self.programs.is_empty() {
            return Cow::Borrowed(html);
        }
        let mut out = String::with_capacity(html.len());
        let mut from = 0;
        for program in &self.programs {
            out.push_str(html.get(from..program.start).unwrap_or_default());
            from = program.end;
        }
        out.push_str(html.get(from..).unwrap_or_default());
        Cow::Owned(out)
    }
}

const MAX_RSL_BYTES: usize = 64 * 1024;
/// Maximum size of a title that is read; cleaning may remove most of it.
const MAX_TITLE_BYTES: usize = 64 * 1024;
/// The media type of licences (RSL 1.0).
const RSL: &str = "application/rsl+xml";

/// A redirect declared in the page, or in the `Refresh` header of its response.
#[derive(Clone, Debug, PartialEq)]
pub struct Refresh {
    /// Delay in seconds.
    pub seconds: u32,
    /// Target; `None` if it is the page itself or not an http(s) URL.
    pub target: Option<Url>,
}

impl Refresh {
    /// Parses `5; url='/next'` (HTML, "shared declarative refresh steps"); returns `None` if it is not a refresh.
    pub fn parse(content: &str, base: &Url) -> Option<Refresh> {
        let content = content.trim_start();
        let rest = content.trim_start_matches(|c: char| c.is_ascii_digit());
        let number = content.strip_suffix(rest).unwrap_or_default();
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
        Some(Refresh { seconds, target: resolve(base, target, Limits::default().url_bytes) })
    }
}

/// Reads the tags of a page once, in linear time. Fails if the page exceeds one of the limits or is not HTML.
pub fn scan_head(html: &str, page: &Url, limits: &Limits) -> Result<HeadScan, Unreadable> {
    admit(html, limits)?;
    let mut scan = Scan { limits: *limits, ..Scan::default() };
    let mut pieces = Pieces::new(html, limits.attributes);
    while let Some(piece) = pieces.next_without_tree() {
        match piece {
            Piece::Start(tag) => scan.start(&tag, &pieces)?,
            Piece::End(name) => scan.end(name),
            Piece::Text(text, kind) => scan.text(text, kind, pieces.position()),
            Piece::Comment(_) | Piece::Doctype(_) => {}
        }
    }
    Ok(scan.finish(page))
}

/// Returns the contents of the meta tags of this name in a page's head, in order. Visitors may have written later ones.
pub fn head_metas(html: &str, name: &str) -> Vec<String> {
    const OF_HEAD: &str = "html head meta title link base script style noscript template";
    let mut found = Vec::new();
    let mut pieces = Pieces::new(html, Limits::default().attributes);
    while let Some(piece) = pieces.next_without_tree() {
        let Piece::Start(tag) = piece else { continue };
        if !OF_HEAD.split(' ').any(|of_head| tag.name.eq_ignore_ascii_case(of_head)) {
            break;
        }
        let is_it = |it: &str| it.trim().eq_ignore_ascii_case(name);
        if tag.name.eq_ignore_ascii_case("meta") && pieces.attribute("name").is_some_and(is_it) {
            found.extend(pieces.attribute("content").map(|content| references::decode(content).into_owned()));
        }
    }
    found
}

/// State of the scan; references stay as written until the base is known.
#[derive(Default)]
struct Scan {
    limits: Limits,
    found: HeadScan,
    base: Option<String>,
    canonicals: Vec<String>,
    images: [Option<String>; 3],
    title: String,
    title_done: bool,
    reading: Reading,
    refresh: Option<String>,
    in_noscript: bool,
    license: Option<String>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Reading {
    #[default]
    None,
    Title,
    Rsl,
    Style,
    Program,
}

impl Scan {
    fn start(&mut self, tag: &Tag<'_>, pieces: &Pieces<'_>) -> Result<(), Unreadable> {
        self.found.tags += 1;
        if self.found.tags > self.limits.tags {
            return Err(Unreadable::TooManyTags);
        }
        if pieces.has_too_many_attributes() {
            return Err(Unreadable::TooManyAttributes);
        }
        let named = |name: &str| tag.name.eq_ignore_ascii_case(name);
        if named("base") && self.base.is_none() {
            self.base = attribute(pieces, "href");
        } else if named("link") {
            self.link(pieces);
        } else if named("meta") {
            self.meta(pieces);
        } else if named("title") {
            self.reading = Reading::Title;
        } else if named("noscript") {
            self.in_noscript = true;
        } else if named("style") {
            self.reading = Reading::Style;
        } else if named("script") {
            self.reading = match pieces.attribute("type").unwrap_or_default() {
                kind if kind.eq_ignore_ascii_case(RSL) => Reading::Rsl,
                kind if is_program(kind) => Reading::Program,
                _ => Reading::None,
            };
        }
        Ok(())
    }

    fn end(&mut self, name: &str) {
        if self.reading == Reading::Title && name.eq_ignore_ascii_case("title") {
            self.title_done = !self.title.trim().is_empty();
            // White space of empty titles must not be scanned again with each following title.
            if !self.title_done {
                self.title.clear();
            }
        }
        self.in_noscript &= !name.eq_ignore_ascii_case("noscript");
        self.reading = Reading::None;
    }

    fn text(&mut self, text: &str, kind: TextKind, end: usize) {
        let place = end.saturating_sub(text.len())..end;
        match self.reading {
            Reading::Title if !self.title_done => {
                let room = MAX_TITLE_BYTES.saturating_sub(self.title.len());
                self.title.push_str(text.get(..text.ceil_char_boundary(room)).unwrap_or(text));
            }
            Reading::Rsl => {
                let room = MAX_RSL_BYTES.saturating_sub(self.found.rsl.len());
                self.found.rsl.push_str(head_bytes(text, room));
            }
            // In SVG and MathML, the content of `<style>` is markup.
            Reading::Style if kind == TextKind::RawText => self.found.programs.push(place),
            Reading::Program if kind == TextKind::Script && !may_tell(text.as_bytes()) => {
                self.found.programs.push(place)
            }
            Reading::Title | Reading::Style | Reading::Program | Reading::None => {}
        }
    }

    fn link(&mut self, tag: &Pieces<'_>) {
        let (Some(rel), Some(href)) = (attribute(tag, "rel"), attribute(tag, "href")) else { return };
        // Once for each relation, however often a link names it.
        let is = |relation: &str| rel.split_ascii_whitespace().any(|rel| rel.eq_ignore_ascii_case(relation));
        if self.canonicals.len() < CANONICALS && is("canonical") {
            self.canonicals.push(href.clone());
        }
        if is("image_src") {
            keep(&mut self.images[2], &href);
        }
        let is_rsl = || attribute(tag, "type").is_some_and(|kind| kind.trim().eq_ignore_ascii_case(RSL));
        if self.license.is_none() && is("license") && is_rsl() {
            self.license = Some(href);
        }
    }

    fn meta(&mut self, tag: &Pieces<'_>) {
        let Some(content) = attribute(tag, "content") else { return };
        if attribute(tag, "http-equiv").is_some_and(|v| v.trim().eq_ignore_ascii_case("refresh")) {
            if !self.in_noscript {
                self.refresh.get_or_insert(content);
            }
            return;
        }
        let Some(name) = attribute(tag, "name").or_else(|| attribute(tag, "property")) else { return };
        let name = name.trim().to_ascii_lowercase();
        match name.as_str() {
            "og:image" | "og:image:url" | "og:image:secure_url" => keep(&mut self.images[0], &content),
            "twitter:image" | "twitter:image:src" => keep(&mut self.images[1], &content),
            _ if self.found.robots_meta.len() < self.limits.robots_metas && is_directive(&name, &content) => {
                let content = line(&content, self.limits.robots_bytes);
                self.found.robots_meta.push((name, content));
            }
            _ => {}
        }
    }

    fn finish(self, page: &Url) -> HeadScan {
        let max = self.limits.url_bytes;
        let base = base(page, self.base.as_deref(), max);
        let (canonical, canonical_conflict) = one_of(self.canonicals.iter().map(String::as_str), &base, max);
        let title = line(&references::decode(&self.title), self.limits.title_chars);
        let images = self.images.iter().flatten().filter_map(|src| resolve(&base, src, max));
        let mut images = images.filter(|image| !is_ornament(&base, image) && !is_undecoded(image.as_str()));
        HeadScan {
            canonical,
            canonical_conflict,
            image: images.next(),
            other_images: images.collect(),
            title: (!title.is_empty()).then_some(title),
            refresh: self.refresh.as_deref().and_then(|content| Refresh::parse(content, &base)),
            license: self.license.as_deref().and_then(|href| resolve(&base, href, max)),
            ..self.found
        }
    }
}

/// True if a script of this type is a program (HTML, "prepare the script element"). Others are data.
fn is_program(kind: &str) -> bool {
    const TYPES: [&str; 4] = ["", "module", "text/javascript", "application/javascript"];
    TYPES.iter().any(|program| kind.trim().eq_ignore_ascii_case(program))
}

pub(crate) const CANONICALS: usize = 8;

/// Returns the canonical URL if all links name the same one, and true if they conflict (RFC 6596).
pub(crate) fn one_of<'h>(hrefs: impl Iterator<Item = &'h str>, base: &Url, max_bytes: usize) -> (Option<Url>, bool) {
    let canonicals: Vec<Url> = hrefs.filter_map(|href| resolve(base, href, max_bytes)).collect();
    let conflict = canonicals.iter().any(|url| Some(url) != canonicals.first());
    (if conflict { None } else { canonicals.into_iter().next() }, conflict)
}

fn keep(slot: &mut Option<String>, value: &str) {
    if slot.is_none() && !value.trim().is_empty() {
        *slot = Some(value.to_owned());
    }
}

fn attribute(tag: &Pieces<'_>, name: &str) -> Option<String> {
    tag.attribute(name).map(|value| references::decode(value).into_owned())
}

/// True if a meta tag carries directives: it is named `robots`, or has a known directive and a possible robot's name.
pub(crate) fn is_directive(name: &str, content: &str) -> bool {
    const DIRECTIVES: &str = "\
        noindex index nofollow follow none all noarchive nosnippet max-snippet max-image-preview max-video-preview \
        noimageindex notranslate unavailable_after noai noimageai";
    if name == "robots" {
        return true;
    }
    let token = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'));
    token
        && content.split(',').any(|word| {
            let word = word.split(':').next().unwrap_or_default().trim();
            DIRECTIVES.split(' ').any(|known| word.eq_ignore_ascii_case(known))
        })
}
