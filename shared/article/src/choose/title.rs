//! The headline, by agreement between `<h1>`, `og:title`, JSON-LD and `<title>`.

use crate::choose::Evidence;
use crate::read::dom::without_tags;
use crate::read::outline::{Heading, Outline};
use crate::text::{alike, fold, is_unspaced, words};
use curlew_text::{hygiene::line, leftovers::is_generic_title, leftovers::is_leftover, references};
use std::ops::{Range, RangeInclusive};

pub(crate) fn choose(evidence: Evidence<'_>) -> Option<String> {
    let Evidence { outline, linked, micro } = evidence;
    let tidy = |text: &str| {
        let text = references::decode(text);
        // A lone start tag is part of the title, as in "The <main> element".
        let is_marked = text.contains("</") || text.contains("<br");
        let text = if is_marked { without_tags(&text).into() } else { text };
        let text = line(&text, outline.limits.title_chars);
        let text = text.trim_matches(ENDS).trim_end_matches(" -").trim_start_matches("- ").to_owned();
        if is_leftover(&text) { String::new() } else { text }
    };
    let site = Site::new(evidence);
    let document = outline.title.as_deref().map(tidy).unwrap_or_default();
    let shared = outline.meta(&["og:title", "twitter:title"]).map(tidy).unwrap_or_default();
    let stated = linked.headline.as_deref().or(micro.headline.as_deref()).map(tidy).unwrap_or_default();
    let told = [&shared, &stated, &document].map(|title| without_site(title, &site));
    // The site's name is the title of its home page only.
    let is_home = outline.page.path() == "/";
    let says = |title: &String| !title.is_empty() && !is_generic_title(title) && (is_home || !site.is_called(title));
    let told: Vec<String> = told.into_iter().filter(says).collect();
    let sentence = || only(outline).filter(|text| words(text) >= 3 && !site.is_called(text) && akin(text, &told));
    let mut own = outline.headings_of(1).map(|heading| &heading.own).filter(|own| words(own) >= 2);
    own.find(|own| told.iter().any(|title| fold(title) == fold(own)))
        .cloned()
        .or_else(|| heading(outline, &told, 1..=1, beginning_of))
        .or_else(|| sentence().map(|text| without_label(text, &told).to_owned()))
        .or_else(|| beginning(outline, &told).filter(|text| !site.is_called(text)))
        .or_else(|| heading(outline, &told, 2..=4, beginning_of))
        .or_else(|| heading(outline, &told, 2..=4, |title, mark| title.get(mark.end..)))
        .or_else(|| told.first().cloned())
        .or_else(|| outline.headings_of(1).next().map(|heading| heading.text.clone()))
        .or_else(|| [shared, stated, document].into_iter().find(|title| !title.is_empty()))
}

/// Returns what stands before a separator. A colon may belong to the headline.
fn beginning_of(title: &str, mark: Range<usize>) -> Option<&str> {
    title.get(..mark.start).filter(|_| title.get(mark).is_some_and(|mark| mark != ": "))
}

type Cut = fn(&str, Range<usize>) -> Option<&str>;

fn heading(outline: &Outline<'_>, stated: &[String], levels: RangeInclusive<u8>, cut: Cut) -> Option<String> {
    const ALIKE: f64 = 0.75;
    let parts_of = |title: &String| separators(title).into_iter().filter_map(|at| cut(title, at)).map(fold).collect();
    let parts: Vec<String> = stated.iter().flat_map(|title| -> Vec<String> { parts_of(title) }).collect();
    let told: Vec<String> = stated.iter().map(|title| fold(title)).chain(parts.iter().cloned()).collect();
    let scored = levels.flat_map(|level| outline.headings_of(level)).filter_map(|Heading { text, level, .. }| {
        let folded = fold(text);
        let score = told.iter().map(|title| alike(title, &folded, ALIKE)).fold(0.0, f64::max);
        // Small headings also name products, and posts of lists.
        (score >= ALIKE && (*level < 3 || parts.contains(&folded))).then_some((text, score))
    });
    let best = scored.reduce(|best, next| if next.1 > best.1 { next } else { best });
    best.map(|(text, _)| without_label(text, stated).to_owned())
}

/// Returns a heading without the label glued before it, if a source has only the rest.
fn without_label<'h>(heading: &'h str, told: &[String]) -> &'h str {
    let behind = heading.split_once(':').map(|(_, behind)| behind).filter(|text| text.starts_with(char::is_alphabetic));
    let ends = |text: &str| told.iter().any(|title| fold(title).ends_with(&fold(text)));
    let is = |text: &&str| told.iter().any(|title| fold(title) == fold(text)) || (ends(text) && !ends(heading));
    behind.filter(is).unwrap_or(heading)
}

fn akin(text: &str, told: &[String]) -> bool {
    /// Share of common words below which a heading is a slogan or the site's name.
    const AKIN: f64 = 0.2;
    let text = fold(text);
    told.is_empty() || told.iter().any(|title| alike(&fold(title), &text, AKIN) >= AKIN)
}

/// Returns the only `<h1>` of a page, if a stated title begins with it: a name of an entry, a product or a person.
fn beginning(outline: &Outline<'_>, told: &[String]) -> Option<String> {
    let one = only(outline)?;
    let name = fold(one);
    let begins =
        |title: &String| fold(title).strip_prefix(&name).is_some_and(|rest| rest.is_empty() || rest.starts_with([' ']));
    (!name.is_empty() && told.iter().any(begins)).then(|| one.clone())
}

fn only<'o>(outline: &'o Outline<'_>) -> Option<&'o String> {
    let mut ones = outline.headings_of(1).map(|heading| &heading.text);
    ones.next().filter(|_| ones.next().is_none())
}

fn separators(title: &str) -> Vec<Range<usize>> {
    const MAX_SEPARATORS: usize = 4;
    let found = marks(title).chain([": "]).flat_map(|mark| title.match_indices(mark).take(MAX_SEPARATORS));
    let mut found: Vec<Range<usize>> = found.map(|(at, mark)| at..at + mark.len()).collect();
    found.sort_unstable_by_key(|mark| (mark.start, mark.end));
    found.truncate(MAX_SEPARATORS);
    found
}

fn marks(title: &str) -> impl Iterator<Item = &'static str> {
    let tight = if title.contains(is_unspaced) { &TIGHT[..] } else { &[] };
    PARTING.iter().chain(tight).copied().filter(|mark| title.contains(mark))
}

/// Separators that remain at the ends of a title if the name beside them is empty.
const ENDS: [char; 7] = [' ', '|', '｜', '·', '•', '–', '—'];
const PARTING: [&str; 25] = [
    " | ", " – ", " — ", " - ", " :: ", " · ", " • ", " » ", " « ", " // ", " / ", "｜", " ｜ ", " ‹ ", " › ", " < ",
    " > ", " ~ ", " ⋆ ", " ★ ", " ― ", " ‒ ", " -- ", " │ ", " ¦ ",
];
/// Marks that also occur within headlines; they separate the site's name only if that is known.
const WITHIN: [&str; 3] = [" : ", ": ", "| "];
/// Separators in Chinese and Japanese, which put no spaces around them.
const TIGHT: [&str; 6] = ["|", "_", "－", "-", "―", "—"];

pub(crate) fn site_name(evidence: Evidence<'_>, headline: Option<&str>) -> Option<String> {
    let Evidence { outline, linked, micro } = evidence;
    let apps = ["application-name", "apple-mobile-web-app-title", "al:android:app_name"];
    let told = outline.meta(&["og:site_name"]).or_else(|| linked.sites().chain(micro.sites()).next());
    let name = told.or_else(|| outline.meta(&apps)).map(str::to_owned);
    let name = name.or_else(|| site_beside(outline.title.as_deref()?, headline?))?;
    let name = line(&references::decode(&name), outline.limits.title_chars);
    (!name.is_empty()).then_some(name)
}

fn site_beside(document: &str, headline: &str) -> Option<String> {
    const MAX_WORDS: usize = 6;
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
    (!headline.is_empty() && !rest.is_empty() && single && words(rest) <= MAX_WORDS).then(|| rest.to_owned())
}

struct Site {
    names: Vec<String>,
    labels: Vec<String>,
    host: String,
}

impl Site {
    fn new(Evidence { outline, linked, micro }: Evidence<'_>) -> Site {
        /// Labels of host names that do not name a site: top-level domains and departments.
        const GENERAL: [&str; 20] = [
            "www", "com", "co", "org", "net", "gov", "edu", "ac", "blog", "blogs", "news", "mobile", "amp", "en",
            "shop", "store", "docs", "help", "support", "learn",
        ];
        let metas = ["og:site_name", "application-name", "apple-mobile-web-app-title"];
        let names =
            linked.sites().chain(micro.sites()).chain(metas.into_iter().filter_map(|name| outline.meta(&[name])));
        let names =
            names.chain(outline.home_names.iter().map(String::as_str)).map(|name| fold(&references::decode(name)));
        let host = outline.base.host_str().unwrap_or_default().trim_start_matches("www.");
        let above = host.rsplit_once('.').map_or(host, |(above, _)| above);
        let labels = above.split('.').filter(|label| label.len() > 1 && !GENERAL.contains(label));
        Site {
            names: names.filter(|name| !name.is_empty()).collect(),
            labels: labels.map(|label| fold(label).replace(' ', "")).collect(),
            host: host.replace(['.', '-'], ""),
        }
    }

    fn is_called(&self, text: &str) -> bool {
        let text = fold(text);
        self.names.contains(&text) || text.replace(' ', "") == self.host
    }

    /// True if a part of a title is the site's name, according to the page or to its host.
    fn is_named(&self, part: &str) -> bool {
        /// Maximum number of words of a part that contains the name among others.
        const WORDS: usize = 6;
        /// Minimum length of a label that is recognized within other words.
        const LONG: usize = 4;
        /// Maximum number of words of a part in which a short label is a separate word, as in "BBC News".
        const FEW: usize = 3;
        let part = fold(part);
        let tight = part.replace(' ', "");
        let initials: String = part.split(' ').filter_map(|word| word.chars().next()).collect();
        let many = part.split(' ').count();
        let within = |label: &String| {
            tight == *label
                || (label.len() >= LONG && many <= WORDS && tight.contains(label.as_str()))
                || (label.len() >= FEW && many <= FEW && part.split(' ').any(|word| word == label))
                || (label.len() >= FEW
                    && many >= FEW
                    && (initials == *label || initials.strip_prefix('t') == Some(label)))
        };
        !part.is_empty() && (self.names.contains(&part) || tight == self.host || self.labels.iter().any(within))
    }
}

fn without_site(title: &str, site: &Site) -> String {
    const MAX_NAMES: usize = 6;
    let mut title = title.trim();
    for _ in 0..MAX_NAMES {
        let Some(rest) = without_name(title, site).filter(|rest| !rest.is_empty()) else { break };
        title = rest;
    }
    title.to_owned()
}

fn without_name<'t>(title: &'t str, site: &Site) -> Option<&'t str> {
    const MAX_TRIES: usize = 8;
    let bars = [" | ", " ｜ ", "｜"];
    // A site's name may have a separator in it.
    for (at, mark) in marks(title).chain(WITHIN).flat_map(|mark| title.match_indices(mark).take(MAX_TRIES)) {
        let (head, tail) = (title.get(..at)?, title.get(at + mark.len()..)?);
        if site.is_called(tail) {
            return Some(head.trim_end());
        }
        if site.is_called(head) {
            return Some(tail.trim_start());
        }
    }
    for mark in marks(title) {
        let Some((head, tail)) = title.rsplit_once(mark) else { continue };
        let short = words(tail) <= if tail.contains(is_unspaced) { 6 } else { 4 };
        if site.is_named(tail) || (bars.contains(&mark) && short && words(head) >= 4) {
            return Some(head.trim());
        }
        if let Some((first, rest)) = title.split_once(mark)
            && site.is_named(first)
        {
            return Some(rest.trim());
        }
    }
    None
}
