//! Who wrote a page: structured data first, then what the page shows near its headline.

use crate::Limits;
use crate::dateparse::{Order, find};
use crate::jsonld::Linked;
use crate::microdata::Micro;
use crate::opengraph::OpenGraph;
use crate::outline::Outline;
use crate::text::{fold, line, unescape};

/// Names under which meta tags give the author.
const METAS: [&str; 8] = [
    "author",
    "article:author",
    "dc.creator",
    "dcterms.creator",
    "parsely-author",
    "sailthru.author",
    "byl",
    "citation_author",
];
/// What stands before a name in a byline.
const BY: [&str; 13] = [
    "written by ",
    "posted by ",
    "words by ",
    "reviewed by ",
    "article by ",
    "by: ",
    "by ",
    "author: ",
    "di ",
    "von ",
    "par ",
    "por ",
    "door ",
];
/// Longest name, in words; editorial offices have long ones.
const WORDS: usize = 8;

/// Chooses the author.
pub(crate) fn choose(
    outline: &Outline<'_>,
    graph: &OpenGraph<'_>,
    linked: &Linked,
    micro: &Micro,
    site: Option<&str>,
    limits: &Limits,
) -> Option<String> {
    let named = |text: &str| name(text, limits);
    let metas = METAS.iter().filter_map(|meta| outline.meta(&[meta]));
    let told = linked.author.as_deref().into_iter().chain(micro.author.as_deref()).chain(metas).chain(graph.author);
    let shown = outline.bylines.iter().map(String::as_str);
    let written = near_headline(outline).filter(|text| starts_with_by(text));
    let site = site.map(fold);
    let all: Vec<String> =
        told.filter_map(named).chain(shown.filter_map(named)).chain(written.filter_map(named)).collect();
    // A site that names itself as the author often names the writer further down.
    all.iter().find(|name| Some(fold(name)) != site && !is_login(name)).or(all.first()).cloned()
}

/// Lines shortly before and after the headline.
fn near_headline<'a>(outline: &'a Outline<'_>) -> impl Iterator<Item = &'a str> {
    /// How many of them.
    const AROUND: usize = 8;
    let at = outline.headings.iter().find(|(level, ..)| *level == 1).map_or(0, |(_, _, block)| *block);
    let end = outline.blocks.len().min(at + AROUND);
    outline
        .blocks
        .get(at.saturating_sub(2)..end)
        .unwrap_or_default()
        .iter()
        .filter(|b| b.chars < 100)
        .map(|b| b.text.as_str())
}

fn starts_with_by(text: &str) -> bool {
    BY.iter().any(|by| text.get(..by.len()).is_some_and(|start| start.eq_ignore_ascii_case(by)))
}

/// The name in a text such as "By Ada Example | May 1, 2026"; none if there can be no name in it.
fn name(text: &str, limits: &Limits) -> Option<String> {
    let mut text = text.trim();
    while let Some(by) = BY.iter().find(|by| text.get(..by.len()).is_some_and(|start| start.eq_ignore_ascii_case(by))) {
        text = text.get(by.len()..).unwrap_or_default().trim_start();
    }
    let end = text.find(['|', '•', '·', '\n', '⋅', '(', ':', '{', '[', '@', '—']).unwrap_or(text.len());
    let name = line(&unescape(text.get(..end).unwrap_or_default()), limits.title_chars);
    let name = name.trim_matches([' ', ',', '-', '–', '.', '&']);
    let words = name.split_whitespace().count();
    let plausible = (1..=WORDS).contains(&words) || (name.contains(',') && words <= WORDS * 3);
    let digits = name.chars().any(|c| c.is_ascii_digit()) && !name.chars().next().is_some_and(|c| c.is_ascii_digit());
    let is_name = plausible
        && (!digits || words <= 3)
        && !name.contains("://")
        && !name.contains("www.")
        && name.chars().any(char::is_alphabetic)
        && (2..=200).contains(&name.chars().count())
        && !matches!(
            fold(name).as_str(),
            "admin"
                | "author"
                | "authors"
                | "by"
                | "written by"
                | "about the author"
                | "staff"
                | "editor"
                | "guest"
                | "posted by"
                | "share"
                | "sign in"
                | "log in"
                | "null"
                | "undefined"
        );
    (is_name && find(name, Order::DayFirst).is_none()).then(|| name.to_owned())
}

/// Whether a name is one word in lower case, as accounts are named.
fn is_login(name: &str) -> bool {
    !name.contains(' ') && name.chars().all(|c| c.is_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_' | '.'))
}
