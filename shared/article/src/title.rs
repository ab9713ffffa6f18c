//! The headline, by agreement between `<h1>`, `og:title`, JSON-LD and `<title>`.

use crate::Limits;
use crate::jsonld::Linked;
use crate::microdata::Micro;
use crate::opengraph::OpenGraph;
use crate::outline::Outline;
use crate::text::{fold, line, unescape};

/// Chooses the headline.
pub(crate) fn choose(
    outline: &Outline<'_>,
    graph: &OpenGraph<'_>,
    linked: &Linked,
    micro: &Micro<'_>,
    limits: &Limits,
) -> Option<String> {
    let tidy = |text: &str| line(&unescape(text), limits.title_chars);
    let site = graph.site_name.map(tidy).or_else(|| linked.site_name.as_deref().map(tidy)).unwrap_or_default();
    let document = outline.title.as_deref().map(tidy).unwrap_or_default();
    let shared = graph.title.map(tidy).unwrap_or_default();
    let linked_title = linked.headline.as_deref().or(micro.headline).map(tidy).unwrap_or_default();
    let told = [&shared, &linked_title, &document];

    let first = heading(outline, &told, limits);
    if let Some(heading) = first {
        return Some(heading);
    }
    let stripped =
        [without_site(&shared, &site, outline), linked_title.clone(), without_site(&document, &site, outline)];
    // What two of them say is right; else the first that there is.
    let agreed = stripped.iter().enumerate().find(|(at, one)| {
        !one.is_empty() && stripped.iter().enumerate().any(|(other, two)| other != *at && fold(one) == fold(two))
    });
    agreed
        .map(|(_, title)| title.clone())
        .or_else(|| stripped.into_iter().find(|title| !title.is_empty()))
        .or_else(|| outline.headings.iter().find(|(level, ..)| *level == 1).map(|(_, text, _)| text.clone()))
        .filter(|title| !title.is_empty())
}

/// The first heading that what the page tells others about itself agrees with.
fn heading(outline: &Outline<'_>, told: &[&String; 3], limits: &Limits) -> Option<String> {
    /// A heading this short may be contained in a title by chance.
    const SHORTEST: usize = 8;
    let agrees = |text: &str| {
        let folded = fold(text);
        folded.chars().count() >= SHORTEST
            && told.iter().filter(|title| !title.is_empty()).any(|title| {
                let title = fold(title);
                title == folded
                    || title.starts_with(&format!("{folded} "))
                    || title.ends_with(&format!(" {folded}"))
                    || close(&title, &folded)
            })
    };
    let best = |level: u8| {
        outline.headings.iter().filter(move |(l, ..)| *l == level).map(|(_, text, _)| text).find(|text| agrees(text))
    };
    let alone = || {
        // A page with one long <h1> means it, whatever its title says for search engines.
        let mut ones = outline.headings.iter().filter(|(level, ..)| *level == 1).map(|(_, text, _)| text);
        let one = ones.next()?;
        (ones.next().is_none() && one.split_whitespace().count() >= 3).then_some(one)
    };
    best(1).or_else(alone).or_else(|| best(2)).map(|text| line(text, limits.title_chars))
}

/// Whether two folded titles share nearly all their words.
fn close(one: &str, two: &str) -> bool {
    let (a, b): (Vec<&str>, Vec<&str>) = (one.split(' ').collect(), two.split(' ').collect());
    let common = b.iter().filter(|word| a.contains(word)).count();
    b.len() >= 4 && common * 10 >= b.len() * 8 && common * 10 >= a.len() * 6
}

/// A title less the site's name at its end or beginning.
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
    for mark in [" | ", " – ", " — ", " - ", " :: ", " · ", " • ", " » ", " « ", " // ", " / "] {
        if let Some((head, tail)) = title.rsplit_once(mark) {
            if is_site(tail)
                || (mark == " | " && tail.split_whitespace().count() <= 4 && head.split_whitespace().count() >= 4)
            {
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
