use crate::read::dom::{attr, texts};
use crate::read::gate::Limits;
use curlew_text::html::{Piece, Pieces};
use curlew_text::hygiene::head_bytes;
use ego_tree::NodeRef;
use scraper::Node;
use scraper::node::Element;

/// Minimum side length of a main image, in CSS pixels, if the markup states it.
const SMALLEST: u32 = 100;

/// Ranks of the URLs in the tags of an image, best first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Loader,
    Set,
    /// URL of a `<source>` next to the image, which browsers prefer to its `src`.
    Beside,
    Src,
    Other,
    /// A small copy, a placeholder until the image is loaded, or a file that cannot be decoded.
    Last,
}

pub(crate) fn pairs(element: &Element) -> impl Iterator<Item = (&str, &str)> + Clone {
    element.attrs.iter().map(|(name, value)| (&*name.local, &**value))
}

/// Returns the URLs of an image, best first: in the `<noscript>` after it, in its tag and the `<picture>` around it.
pub(crate) fn sources(image: NodeRef<'_, Node>) -> Vec<&str> {
    const MAX_BESIDE: usize = 16;
    let named = |node: &NodeRef<'_, Node>, name: &str| node.value().as_element().is_some_and(|e| e.name() == name);
    let next = image.next_siblings().take(MAX_BESIDE).find(|node| node.value().is_element());
    let scriptless = next.filter(|next| named(next, "noscript")).into_iter().flat_map(without_scripts);
    let around = image.parent().filter(|parent| named(parent, "picture"));
    let beside = around.into_iter().flat_map(|around| around.children().take(MAX_BESIDE));
    let beside = beside.filter(|node| named(node, "source")).filter_map(|node| node.value().as_element());
    let beside = beside.flat_map(|source| {
        let types = ["jpeg", "jpg", "png", "webp"];
        let is_read = attr(source, "type").is_none_or(|kind| types.iter().any(|read| kind.contains(read)));
        let rank = if is_read { Rank::Beside } else { Rank::Last };
        all_ranked(pairs(source)).map(move |(own, address)| (own.max(rank), address))
    });
    let own = image.value().as_element().into_iter().map(pairs).flat_map(all_ranked);
    scriptless.chain(in_order(own.chain(beside))).collect()
}

pub(crate) fn without_scripts<'a>(noscript: NodeRef<'a, Node>) -> impl Iterator<Item = &'a str> {
    const MAX_BYTES: usize = 8 * 1_024;
    texts(noscript).flat_map(|text| {
        let mut pieces = Pieces::new(head_bytes(text, MAX_BYTES), Limits::default().attributes);
        let mut found = Vec::new();
        while let Some(piece) = pieces.next_without_tree() {
            let attributes = || pieces.attributes().iter().copied();
            let is_image = matches!(piece, Piece::Start(tag) if tag.name.eq_ignore_ascii_case("img"));
            if is_image && is_large(attributes()) {
                found.extend(in_order(all_ranked(attributes())));
            }
        }
        found
    })
}

fn in_order<'a>(found: impl Iterator<Item = (Rank, &'a str)>) -> Vec<&'a str> {
    let mut found: Vec<_> = found.collect();
    found.sort_by_key(|(rank, _)| *rank);
    found.into_iter().map(|(_, address)| address).collect()
}

fn all_ranked<'a>(attributes: impl Iterator<Item = (&'a str, &'a str)>) -> impl Iterator<Item = (Rank, &'a str)> {
    attributes.filter_map(|(name, value)| ranked(name, value))
}

fn ranked<'a>(name: &str, value: &'a str) -> Option<(Rank, &'a str)> {
    const COPIES: &str = "thumb small low medium mini tiny mobile blur placeholder preview hover fallback error";
    const WEB: [&str; 3] = ["/", "http://", "https://"];
    let value = value.trim();
    let has = |words: &str| words.split(' ').any(|word| name.contains(word));
    let is_named = value.contains('/') && is_photo(value);
    let (rank, address) = match name {
        "src" if is_file(value, &[".gif"]) => (Rank::Last, value),
        "src" => (Rank::Src, value),
        _ if name.ends_with("srcset") || name.ends_with("src-set") => (Rank::Set, widest(value)?),
        _ if has(COPIES) => (Rank::Last, Some(value).filter(|_| is_named)?),
        _ if name.ends_with("src") => (Rank::Loader, value),
        _ if has("lazy orig") && WEB.iter().any(|start| value.starts_with(start)) => (Rank::Loader, value),
        _ if !is_named => return None,
        _ if has("src url large full") => (Rank::Loader, value),
        _ => (Rank::Other, value),
    };
    let rank = if is_undecoded(address) { Rank::Last } else { rank };
    (!address.is_empty() && !address.starts_with("data:")).then_some((rank, address))
}

pub(crate) fn is_photo(address: &str) -> bool {
    is_file(address, &[".jpg", ".jpeg", ".png", ".webp", ".avif"])
}

/// True if a URL names an image file from which no thumbnail can be made.
pub(crate) fn is_undecoded(address: &str) -> bool {
    is_file(address, &[".avif"])
}

fn is_file(address: &str, ends: &[&str]) -> bool {
    let path = address.split(['?', '#']).next().unwrap_or_default().as_bytes();
    ends.iter().any(|end| {
        path.len() > end.len()
            && path.get(path.len() - end.len()..).is_some_and(|it| it.eq_ignore_ascii_case(end.as_bytes()))
    })
}

/// Returns the widest reasonable image of a `srcset` (HTML, "parse a srcset attribute").
fn widest(srcset: &str) -> Option<&str> {
    const MAX_WIDTH: f64 = 2_560.0;
    let is_blank = |c: char| c.is_ascii_whitespace();
    let mut best: Option<(f64, &str)> = None;
    let mut rest = srcset;
    loop {
        rest = rest.trim_start_matches(|c| is_blank(c) || c == ',');
        if rest.is_empty() {
            return best.map(|(_, address)| address);
        }
        let (written, after) = rest.split_at(rest.find(is_blank).unwrap_or(rest.len()));
        let address = written.trim_end_matches(',');
        let descriptors = if address.len() < written.len() { "" } else { after.split(',').next().unwrap_or_default() };
        rest = after.get(descriptors.len()..).unwrap_or_default();
        let mut sizes =
            descriptors.split_ascii_whitespace().filter_map(|one| one.strip_suffix(['w', 'x'])?.parse().ok());
        let size: f64 = sizes.next().unwrap_or(1.0);
        let fitness = if size > MAX_WIDTH { -size } else { size };
        if best.is_none_or(|(known, _)| fitness > known) {
            best = Some((fitness, address));
        }
    }
}

pub(crate) fn background(style: &str) -> Option<&str> {
    let (_, rest) = style.split_once("background")?;
    let (_, address) = rest.split_once("url(")?;
    address.split(')').next().map(|address| address.trim_matches(['"', '\'', ' ']))
}

pub(crate) fn is_large<'a>(mut attributes: impl Iterator<Item = (&'a str, &'a str)>) -> bool {
    const SMALL: [&str; 9] = ["avatar", "logo", "icon", "emoji", "gravatar", "author", "badge", "spinner", "pixel"];
    attributes.all(|(name, value)| match name {
        "width" | "height" => {
            value.trim().trim_end_matches("px").parse::<u32>().ok().is_none_or(|pixels| pixels >= SMALLEST)
        }
        "class" | "alt" | "id" => {
            let names = value.to_ascii_lowercase();
            !SMALL.iter().any(|word| names.contains(word))
        }
        _ => true,
    })
}
