//! The headline, by agreement between `<h1>`, `og:title`, JSON-LD and `<title>`.

use crate::markup::jsonld::JsonLd;
use crate::markup::microdata::Microdata;
use crate::markup::opengraph::OpenGraph;
use crate::read::gate::Limits;
use crate::read::outline::Outline;
use crate::text::{alike, fold, is_unspaced, words};
use curlew_text::{hygiene::line, references};

/// Chooses the headline.
pub(crate) fn choose(
    outline: &Outline<'_>,
    graph: &OpenGraph<'_>,
    linked: &JsonLd,
    micro: &Microdata,
    limits: &Limits,
) -> Option<String> {
    let tidy = |text: &str| line(&references::decode(text), limits.title_chars);
    let site = graph.site_name.map(tidy).or_else(|| linked.site().map(tidy)).unwrap_or_default();
    let document = outline.title.as_deref().map(tidy).unwrap_or_default();
    let shared = graph.title.map(tidy).unwrap_or_default();
    let linked_title = linked.headline.as_deref().or(micro.headline.as_deref()).map(tidy).unwrap_or_default();
    let told: Vec<String> =
        [without_site(&shared, &site, outline), linked_title, without_site(&document, &site, outline)]
            .into_iter()
            .filter(|title| !title.is_empty())
            .collect();
    let is_site = |text: &str| !site.is_empty() && fold(text) == fold(&site);
    heading(outline, &told, 1)
        .or_else(|| alone(outline).filter(|text| !is_site(text) && akin(text, &told)))
        .or_else(|| heading(outline, &told, 2))
        .or_else(|| agreed(&told))
        .or_else(|| told.first().cloned())
        .or_else(|| outline.headings.iter().find(|(level, ..)| *level == 1).map(|(_, text, _)| text.clone()))
        .or((!document.is_empty()).then_some(document))
}

/// Returns the heading of a level that is most similar to the stated titles, if one is similar at all.
fn heading(outline: &Outline<'_>, told: &[String], level: u8) -> Option<String> {
    /// Share of common words from which a heading repeats the headline.
    const ALIKE: f64 = 0.75;
    let told: Vec<String> = told.iter().flat_map(|title| [fold(title), fold(first_part(title))]).collect();
    let mut best: Option<(&str, f64)> = None;
    for (_, text, _) in outline.headings.iter().filter(|(known, ..)| *known == level) {
        let folded = fold(text);
        let score = told.iter().map(|title| alike(title, &folded)).fold(0.0, f64::max);
        if score >= ALIKE && best.is_none_or(|(_, known)| score > known) {
            best = Some((text, score));
        }
    }
    best.map(|(text, _)| text.to_owned())
}

/// Returns the title on which two sources agree.
fn agreed(told: &[String]) -> Option<String> {
    let same =
        |at: usize, one: &String| told.iter().enumerate().any(|(other, two)| other != at && fold(one) == fold(two));
    told.iter().enumerate().find(|(at, one)| same(*at, one)).map(|(_, title)| title.clone())
}

/// True if a heading is related to the stated titles.
fn akin(text: &str, told: &[String]) -> bool {
    /// Share of common words below which a heading is about something else: a slogan, the site's name.
    const AKIN: f64 = 0.2;
    let text = fold(text);
    told.is_empty() || told.iter().any(|title| alike(&fold(title), &text) >= AKIN)
}

/// Returns the only `<h1>` of a page, if it is a sentence and not a name.
fn alone(outline: &Outline<'_>) -> Option<String> {
    let mut ones = outline.headings.iter().filter(|(level, ..)| *level == 1).map(|(_, text, _)| text);
    let one = ones.next()?;
    (ones.next().is_none() && words(one) >= 3).then(|| one.clone())
}

/// Returns the part before the first separator between headline and site name.
fn first_part(title: &str) -> &str {
    let marks = PARTING.iter().chain(if title.contains(is_unspaced) { &TIGHT[..] } else { &[] });
    marks.filter_map(|mark| title.find(mark)).min().and_then(|at| title.get(..at)).unwrap_or(title)
}

/// Separators between a headline and the site's name.
const PARTING: [&str; 13] =
    [" | ", " – ", " — ", " - ", " :: ", " · ", " • ", " » ", " « ", " // ", " / ", "｜", " ｜ "];
/// The same in Chinese and Japanese, which put no spaces around them.
const TIGHT: [&str; 6] = ["|", "_", "－", "-", "―", "—"];

/// Returns the site's name for itself.
pub(crate) fn site_name(
    outline: &Outline<'_>,
    graph: &OpenGraph<'_>,
    linked: &JsonLd,
    micro: &Microdata,
    headline: Option<&str>,
) -> Option<String> {
    let apps = ["application-name", "apple-mobile-web-app-title", "al:android:app_name"];
    let told = graph.site_name.or_else(|| linked.site()).or(micro.site_name.as_deref());
    let name = told.or_else(|| outline.meta(&apps)).map(str::to_owned);
    let name = name.or_else(|| site_beside(outline.title.as_deref()?, headline?))?;
    let name = line(&references::decode(&name), outline.limits.title_chars);
    (!name.is_empty()).then_some(name)
}

/// Returns the site's name that a document's title has after or before the headline; `None` if it has neither.
fn site_beside(document: &str, headline: &str) -> Option<String> {
    /// Maximum number of words in a site's name.
    const WORDS: usize = 6;
    let (document, headline) = (document.trim(), headline.trim());
    let parted = |side: &str, ends: fn(&str, &str) -> bool| PARTING.iter().any(|mark| ends(side, mark.trim_end()));
    let behind = document.strip_prefix(headline).filter(|rest| parted(rest, |rest, mark| rest.starts_with(mark)));
    let before = || {
        let rest = document.strip_suffix(headline)?;
        PARTING.iter().find_map(|mark| rest.strip_suffix(mark))
    };
    let rest = behind.or_else(before)?.trim_matches(|c: char| !c.is_alphanumeric());
    // Several parts form a path of sections.
    let single = !PARTING.iter().any(|mark| rest.contains(mark));
    (!headline.is_empty() && !rest.is_empty() && single && words(rest) <= WORDS).then(|| rest.to_owned())
}

/// Returns a title without the site's name at its end or beginning.
fn without_site(title: &str, site: &str, outline: &Outline<'_>) -> String {
    let host = outline.base.host_str().unwrap_or_default().trim_start_matches("www.");
    let label = fold(host.split('.').next().unwrap_or_default()).replace(' ', "");
    let site = fold(site);
    let is_site = |part: &str| {
        let part = fold(part);
        let tight = part.replace(' ', "");
        !part.is_empty()
            && (part == site
                || tight == host.replace(['.', '-'], "")
                || tight == label
                || (label.len() >= 4 && tight.contains(&label)))
    };
    let bars = [" | ", " ｜ ", "｜"];
    for mark in PARTING.iter().chain(if title.contains(is_unspaced) { &TIGHT[..] } else { &[] }) {
        if let Some((head, tail)) = title.rsplit_once(mark) {
            let short = words(tail) <= if tail.contains(is_unspaced) { 6 } else { 4 };
            if is_site(tail) || (bars.contains(mark) && short && words(head) >= 4) {
                return without_site(head.trim(), &site, outline);
            }
            if let Some((first, rest)) = title.split_once(mark)
                && is_site(first)
            {
                return rest.trim().to_owned();
            }
        }
    }
    title.to_owned()
}
