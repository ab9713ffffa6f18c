//! Chooses the main image: one that the page offers to other sites, or the first of the text that is not an ornament.

use crate::candidates::parts;
use crate::choose::Evidence;
use crate::choose::body::Body;
use crate::read::images::is_undecoded;
use crate::read::links::{is_ornament, resolve};
use crate::read::outline::{Outline, Picture};
use curlew_text::references;
use url::Url;

/// Chooses images, best first, each with its source: a name of a meta tag, `jsonld`, `microdata`, `image_src`, `body`.
pub(crate) fn choose(evidence: Evidence<'_>, chosen: &Body) -> Vec<(Url, &'static str)> {
    const MAX_CHOICES: usize = 3;
    const MAX_TOLD: usize = 16;
    let Evidence { outline, linked, micro } = evidence;
    let max_bytes = outline.limits.url_bytes;
    // Emblems that the page names: its icons, and the logos of its publisher.
    let signs = outline.icons.iter().copied().chain(linked.logos.iter().map(String::as_str));
    let signs: Vec<Url> = signs.filter_map(|sign| resolve(&outline.base, sign, max_bytes)).collect();
    let is_emblem = |url: &Url| is_emblem(url) || signs.iter().any(|sign| same_file(sign, url));
    let cards = ["og:image", "og:image:url", "og:image:secure_url", "twitter:image", "twitter:image:src"];
    let cards = cards.into_iter().flat_map(|name| outline.metas_of(name).map(move |told| (told, name)));
    let linked = linked.image.as_deref().map(|told| (told, "jsonld"));
    let micro = micro.image.as_deref().map(|told| (told, "microdata"));
    let told = cards.chain(linked).chain(micro).chain(outline.image_src.map(|told| (told, "image_src")));
    let usable = |source: &str| {
        let source = references::decode(source);
        resolve(&outline.base, &source, max_bytes).filter(|url| !is_ornament(&outline.base, url))
    };
    let told: Vec<(Url, &str)> = told.take(MAX_TOLD).filter_map(|(told, by)| Some((usable(told)?, by))).collect();
    let (emblems, mut choices): (Vec<_>, Vec<_>) = told.into_iter().partition(|(url, _)| is_emblem(url));
    let of_body = of_body(outline, chosen, usable, is_emblem).map(|url| (url, "body"));
    choices.dedup_by(|(two, _), (one, _)| same_file(one, two));
    choices.truncate(MAX_CHOICES - 1);
    choices.extend(of_body.into_iter().chain(emblems).take(1));
    choices.sort_by_key(|(url, _)| is_undecoded(url.as_str()));
    choices
}

fn of_body(
    outline: &Outline<'_>,
    chosen: &Body,
    usable: impl Fn(&str) -> Option<Url>,
    is_emblem: impl Fn(&Url) -> bool,
) -> Option<Url> {
    /// Number of blocks above the text that may contain a lead image.
    const ABOVE: usize = 6;
    let is_above_end = |block: usize| chosen.end == 0 || block <= chosen.end;
    let near = |picture: &&Picture<'_>| picture.block + ABOVE >= chosen.start && is_above_end(picture.block);
    let misnamed = parts::misnamed(outline);
    let inside = |picture: &&Picture<'_>| picture.outside.iter().all(|part| misnamed.contains(part));
    let from = |picture: &Picture<'_>| picture.sources.iter().find_map(|source| usable(source));
    let pictures = |behind| outline.pictures.iter().filter(move |picture| picture.is_behind == behind).filter(inside);
    let told = |picture| from(picture).filter(|url| !is_emblem(url));
    let near = |behind| pictures(behind).filter(near).find_map(told);
    let of_page = || pictures(false).find_map(told).or_else(|| pictures(false).find_map(from));
    near(false).or_else(|| near(true)).or_else(of_page)
}

/// True if two URLs name the same file, in any size; the query counts only if the path does not name an image file.
fn same_file(one: &Url, two: &Url) -> bool {
    let path = one.path().to_ascii_lowercase();
    let is_file = [".png", ".jpg", ".jpeg", ".webp", ".gif", ".ico", ".avif"].iter().any(|end| path.ends_with(end));
    one.host_str() == two.host_str() && one.path() == two.path() && (is_file || one.query() == two.query())
}

/// True if a URL is that of the site's emblem: a logo or default image by its file name, or a file of the theme.
fn is_emblem(url: &Url) -> bool {
    let path = url.path().to_ascii_lowercase();
    let name = path.rsplit('/').next().unwrap_or_default();
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let mut words = stem.split(|c: char| !c.is_ascii_alphabetic()).filter(|word| !word.is_empty());
    let sign = |word: &str| {
        matches!(word, "logo" | "logos" | "logotype" | "default" | "icon" | "favicon" | "noimage" | "wordmark")
            || (word.len() <= 16 && (word.ends_with("logo") || word.starts_with("logo")))
    };
    path.contains("/themes/") || words.any(sign)
}
