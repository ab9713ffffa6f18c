//! The main image: what the page tells others, else the first of the text's images that is not an ornament.

use crate::Limits;
use crate::choose::Chosen;
use crate::dom::attr;
use crate::jsonld::Linked;
use crate::links::resolve;
use crate::microdata::Micro;
use crate::opengraph::OpenGraph;
use crate::outline::{Outline, Picture};
use scraper::node::Element;
use url::Url;

/// Smallest side of an image that can be the main one, in CSS pixels, where the markup gives it.
const SMALLEST: u32 = 100;

/// Chooses the image.
pub(crate) fn choose(
    outline: &Outline<'_>,
    graph: &OpenGraph<'_>,
    linked: &Linked,
    micro: &Micro<'_>,
    chosen: &Chosen,
    limits: &Limits,
) -> Option<Url> {
    let told = [graph.image, linked.image.as_deref(), micro.image, outline.image_src];
    let usable = |source: &str| {
        let source = crate::text::unescape(source);
        resolve(&outline.base, &source, limits.url_bytes).filter(|url| !is_ornament(url))
    };
    if let Some(url) = told.into_iter().flatten().find_map(usable) {
        return Some(url);
    }
    // The lead image often stands a little above the text.
    const ABOVE: usize = 6;
    let near = |picture: &&Picture<'_>| {
        picture.block + ABOVE >= chosen.start && (chosen.end == 0 || picture.block <= chosen.end)
    };
    let fits = |picture: &&Picture<'_>| !picture.outside && large_enough(picture.element);
    let from = |picture: &Picture<'_>| sources(picture.element).into_iter().find_map(usable);
    let pictures = || outline.pictures.iter().filter(fits);
    pictures().filter(near).find_map(from).or_else(|| pictures().find_map(from))
}

/// The addresses an image may have, the best first: lazy loaders keep the real one in `data-…`.
fn sources(element: &Element) -> Vec<&str> {
    let mut found = Vec::new();
    for key in ["data-src", "data-lazy-src", "data-original", "data-orig-file", "data-full-url"] {
        found.extend(attr(element, key));
    }
    for key in ["srcset", "data-srcset", "data-lazy-srcset"] {
        found.extend(attr(element, key).and_then(largest));
    }
    found.extend(attr(element, "src"));
    found.retain(|source| !source.trim_start().starts_with("data:"));
    found
}

/// The largest of the candidates of a `srcset` (HTML, "parsing a srcset attribute").
fn largest(srcset: &str) -> Option<&str> {
    // Addresses may hold commas, so only a comma before white space parts them, as long as there is one.
    let parted = if srcset.contains(", ") || srcset.contains(",\n") {
        srcset.split(", ").flat_map(|s| s.split(",\n")).collect::<Vec<_>>()
    } else {
        srcset.split(" ,").collect()
    };
    parted
        .into_iter()
        .filter_map(|entry| {
            let mut words = entry.split_whitespace();
            let source = words.next()?.trim_matches(',');
            let size =
                words.next().and_then(|d| d.trim_end_matches(['w', 'x', ',']).parse::<f64>().ok()).unwrap_or(1.0);
            (!source.is_empty()).then_some((source, size))
        })
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .map(|(source, _)| source)
}

/// Whether the markup leaves open, or says, that the image is no icon, pixel or avatar.
fn large_enough(element: &Element) -> bool {
    let side = |key| attr(element, key).and_then(|v| v.trim().trim_end_matches("px").parse::<u32>().ok());
    let small = [side("width"), side("height")].into_iter().flatten().any(|pixels| pixels < SMALLEST);
    let named = ["class", "alt", "id"].iter().filter_map(|key| attr(element, key)).any(|names| {
        let names = names.to_ascii_lowercase();
        ["avatar", "logo", "icon", "emoji", "gravatar", "author", "badge", "spinner", "pixel"]
            .iter()
            .any(|word| names.contains(word))
    });
    !small && !named
}

/// Whether an address is that of an icon, a tracking pixel, a placeholder, or no photograph at all.
fn is_ornament(url: &Url) -> bool {
    let path = url.path().to_ascii_lowercase();
    let name = path.rsplit('/').next().unwrap_or_default();
    let kind = [".svg", ".ico", ".mp4", ".webm", ".mp3", ".pdf", ".js"].iter().any(|end| name.ends_with(end));
    let words =
        ["spacer", "pixel.", "1x1", "blank.", "placeholder", "favicon", "sprite", "gravatar", "spinner", "loading."];
    kind || words.iter().any(|word| name.contains(word))
        || path.contains("/avatar")
        || url.host_str().is_some_and(|host| host.ends_with("gravatar.com"))
}
