//! Chooses the author of a page: structured data first, then the lines near its headline.

use crate::markup::jsonld::{AUTHORS, JsonLd};
use crate::markup::microdata::Microdata;
use crate::markup::opengraph::OpenGraph;
use crate::read::dom::without_tags;
use crate::read::gate::Limits;
use crate::read::outline::Outline;
use crate::text::fold;
use curlew_text::date::{Hints, Order, find};
use curlew_text::{hygiene::line, references};

/// Names of meta tags for the author.
const METAS: [&str; 9] = [
    "author",
    "article:author",
    "dc.creator",
    "dcterms.creator",
    "parsely-author",
    "sailthru.author",
    "byl",
    "citation_author",
    "citation_authors",
];
/// Those of which a page has one for each of several authors.
const REPEATED: [&str; 6] =
    ["article:author", "dc.creator", "dcterms.creator", "parsely-author", "citation_author", "citation_authors"];
/// Labels, folded, that a card for other sites sets before its author (Twitter's `label1` and `data1`, as plugins of
/// WordPress write them).
const CARD_LABELS: [&str; 16] = [
    "written by",
    "author",
    "verfasst von",
    "geschrieben von",
    "écrit par",
    "scritto da",
    "escrito por",
    "geschreven door",
    "napisane przez",
    "skriven av",
    "skrevet av",
    "skrevet af",
    "yazan",
    "написано автором",
    "автор",
    "執筆者",
];
/// Words before a name, in any position.
const BY: [&str; 50] = [
    "written by:",
    "written by ",
    "posted by:",
    "posted by ",
    "words by:",
    "words by ",
    "reviewed by ",
    "article by:",
    "article by ",
    "story by:",
    "story by ",
    "published by ",
    "by:",
    "by ",
    "author: ",
    "eingestellt von ",
    "erstellt von ",
    "geschrieben von ",
    "verfasst von ",
    "veröffentlicht von ",
    "écrit par ",
    "posté par ",
    "publié par ",
    "inserito da ",
    "pubblicato da ",
    "scritto da ",
    "escrito por ",
    "postado por ",
    "publicado por ",
    "geplaatst door ",
    "geschreven door ",
    "skriven av ",
    "skrevet av ",
    "skrevet af ",
    "autor: ",
    "autore: ",
    "auteur : ",
    "text: ",
    "Автор: ",
    "автор: ",
    "Текст: ",
    "Συντάκτης: ",
    "بقلم: ",
    "بقلم ",
    "作者：",
    "作者:",
    "文：",
    "著者：",
    "執筆：",
    "글: ",
];
/// Words before a name in a byline. Elsewhere they may be part of the name ("Von Miller").
const OF: [&str; 9] = ["di ", "von ", "par ", "por ", "door ", "av ", "af ", "του ", "της "];
/// Words after a reporter's name in Korean, Chinese and Japanese.
const REPORTERS: [&str; 7] = [" 기자", " 특파원", " 선임기자", "記者", "特派員", "记者", "論説委員"];
/// Lines, folded, that only announce the author's name.
const LABELS: [&str; 14] = [
    "by",
    "written by",
    "words by",
    "posted by",
    "author",
    "autor",
    "autore",
    "auteur",
    "von",
    "par",
    "автор",
    "作者",
    "著者",
    "글",
];
/// Maximum length of the names of several authors, in characters.
const LONGEST: usize = 600;
/// Maximum length of a name, in words; editorial offices have long ones.
const WORDS: usize = 8;

/// Sources that the author is chosen from.
pub(crate) struct AuthorEvidence<'e, 'a> {
    pub(crate) outline: &'e Outline<'a>,
    pub(crate) graph: &'e OpenGraph<'a>,
    pub(crate) linked: &'e JsonLd,
    pub(crate) micro: &'e Microdata,
    /// The headline.
    pub(crate) title: Option<&'e str>,
    /// The site's name.
    pub(crate) site: Option<&'e str>,
    /// The block after the text.
    pub(crate) end: Option<usize>,
}

/// Chooses the author.
pub(crate) fn choose(evidence: &AuthorEvidence<'_, '_>, limits: &Limits) -> Option<String> {
    let AuthorEvidence { outline, graph, linked, micro, title, site, end } = *evidence;
    let named = |text: &str| name(text, false, limits);
    let signed = |text: &str| name(text, true, limits);
    let several: Vec<String> = REPEATED.iter().filter_map(|meta| several(outline, meta)).collect();
    let metas = METAS.iter().filter_map(|meta| outline.meta(&[meta]));
    let told = linked.author.as_deref().into_iter().chain(micro.author.as_deref());
    let told = told.chain(several.iter().map(String::as_str)).chain(metas).chain(graph.author).chain(of_card(outline));
    let shown = outline.bylines.iter().map(String::as_str);
    let at = headline(outline, title);
    let written = near_headline(outline, at).filter(|text| starts_with_by(text) || is_reporter(text));
    let labelled = below_label(outline, at);
    let profiled = profiles(outline, at);
    let dated = near_headline(outline, at).filter_map(|text| before_day(text));
    let site = site.map(fold);
    let all: Vec<String> = told
        .filter_map(named)
        .chain(shown.filter_map(signed))
        .chain(written.filter_map(signed))
        .chain(labelled.filter_map(signed))
        .chain(linked.office.as_deref().and_then(named))
        .chain(profiled.chain(dated).filter(|text| is_person(text)).filter_map(named))
        .collect();
    // A site that names itself as the author often names the writer further down.
    let is_writer = |name: &&String| Some(fold(name)) != site && !is_login(name) && !is_company(name);
    all.iter().find(is_writer).or(all.first()).cloned().or_else(|| below_text(outline, end).find_map(named))
}

/// Returns the names in the metas of one name, if there are several.
fn several(outline: &Outline<'_>, meta: &str) -> Option<String> {
    let mut names: Vec<&str> = Vec::new();
    for name in outline.metas_of(meta).take(AUTHORS).map(str::trim).filter(|name| !name.contains("://")) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    // Papers name the family first.
    let between = if names.iter().any(|name| name.contains(',')) { "; " } else { ", " };
    (names.len() > 1).then(|| names.join(between))
}

/// Returns the author that the page gives to cards on other sites.
fn of_card<'a>(outline: &Outline<'a>) -> Option<&'a str> {
    let pairs = [("twitter:label1", "twitter:data1"), ("twitter:label2", "twitter:data2")];
    let is_label =
        |label: &str| outline.meta(&[label]).is_some_and(|label| CARD_LABELS.contains(&fold(label).as_str()));
    pairs.iter().find(|(label, _)| is_label(label)).and_then(|(_, data)| outline.meta(&[data]))
}

/// Number of lines after the headline in which a byline may stand.
const AROUND: usize = 8;

/// Returns the block of the headline.
fn headline(outline: &Outline<'_>, title: Option<&str>) -> usize {
    let named = outline.headings.iter().find(|heading| Some(heading.text.as_str()) == title);
    named.or(outline.headings_of(1).next()).map_or(0, |heading| heading.block)
}

/// Returns the texts of links to writers' own pages near the headline.
fn profiles<'a>(outline: &'a Outline<'_>, at: usize) -> impl Iterator<Item = &'a str> {
    let near = at.saturating_sub(2)..at + AROUND;
    outline.profiles.iter().filter(move |(_, block)| near.contains(block)).map(|(name, _)| name.as_str())
}

/// Returns the names in lines shortly below the text such as "Posted by Ada at 10:12", as older blogs have them.
fn below_text<'a>(outline: &'a Outline<'_>, end: Option<usize>) -> impl Iterator<Item = &'a str> {
    /// Maximum number of lines below the text.
    const NEAR: usize = 4;
    /// Maximum width of such a line.
    const LONGEST: usize = 120;
    let lines = end.and_then(|end| outline.blocks.get(end..)).unwrap_or_default().iter().take(NEAR);
    let lines =
        lines.filter(|line| line.chars <= LONGEST).map(|line| line.text.trim_start_matches(['.', '…', ' ', '—', '–']));
    lines.filter_map(|line| {
        let dated = line.contains(|c: char| c.is_ascii_digit());
        let name = stripped(line, &BY).or_else(|| stripped(line, &OF).filter(|_| dated))?;
        Some(before_time(name)).filter(|name| !name.contains(','))
    })
}

/// Returns what stands before the time of a line, and before the word that leads to it, or to the section.
fn before_time(line: &str) -> &str {
    /// Maximum length of such a word, in bytes.
    const WORD: usize = 4;
    let end = line.find(|c: char| c.is_ascii_digit()).unwrap_or(line.len());
    let end = [" in ", " | ", " - ", "\n"].iter().filter_map(|mark| line.find(mark)).fold(end, usize::min);
    let before = line.get(..end).unwrap_or_default().trim_end();
    match before.rsplit_once(' ') {
        Some((name, word)) if word.len() <= WORD && word.chars().all(char::is_lowercase) => name.trim_end(),
        _ => before,
    }
}

/// Returns the first part of a line whose other parts have a day in them, as in "Ada Example | 1 May 2026".
fn before_day(line: &str) -> Option<&str> {
    let (name, rest) = line.split_once(['|', '·', '•', '–', '—', '\n'])?;
    let dated = |text: &str| !find(text, &Hints::page(Order::DayFirst)).is_empty();
    (dated(rest) && !dated(name)).then(|| name.trim())
}

/// True if a text reads like the name of a person: a few words, each but the particles with a capital letter.
fn is_person(text: &str) -> bool {
    /// Minimum and maximum number of words.
    const WORDS: std::ops::RangeInclusive<usize> = 2..=4;
    let is_name = |word: &str| {
        let letters = word.chars().all(|c| c.is_alphabetic() || matches!(c, '.' | '-' | '\'' | '’'));
        letters && (word.starts_with(char::is_uppercase) || PARTICLES.contains(&word))
    };
    let text = stripped(text, &BY).unwrap_or(text);
    let mut words = text.split_whitespace();
    WORDS.contains(&words.clone().count())
        && words.all(is_name)
        && !fold(text).split(' ').any(|word| NO_NAMES.contains(&word))
}

/// Words in lower case within names.
const PARTICLES: [&str; 16] =
    ["de", "da", "do", "dos", "del", "della", "di", "du", "la", "le", "van", "von", "der", "den", "al", "bin"];
/// Words that begin with a capital letter in labels, and are no part of a name.
const NO_NAMES: [&str; 36] = [
    "about",
    "all",
    "article",
    "articles",
    "best",
    "blog",
    "breaking",
    "by",
    "category",
    "editorial",
    "guide",
    "home",
    "how",
    "in",
    "last",
    "latest",
    "more",
    "news",
    "on",
    "our",
    "photo",
    "post",
    "posts",
    "posted",
    "press",
    "published",
    "read",
    "release",
    "report",
    "reviews",
    "staff",
    "team",
    "the",
    "updated",
    "view",
    "your",
];

/// Returns the lines shortly before and after the headline.
fn near_headline<'a>(outline: &'a Outline<'_>, at: usize) -> impl Iterator<Item = &'a str> {
    let end = outline.blocks.len().min(at + AROUND);
    outline
        .blocks
        .get(at.saturating_sub(2)..end)
        .unwrap_or_default()
        .iter()
        .filter(|b| b.chars < 100)
        .map(|b| b.text.as_str())
}

/// Returns the lines near the headline that follow a label announcing the author.
fn below_label<'a>(outline: &'a Outline<'_>, at: usize) -> impl Iterator<Item = &'a str> {
    let lines: Vec<&str> = near_headline(outline, at).collect();
    let pairs: Vec<(&str, &str)> = lines.iter().copied().zip(lines.iter().copied().skip(1)).collect();
    let labels = |line: &str| LABELS.contains(&fold(line).as_str());
    let name = |line: &str| (1..=5).contains(&line.split_whitespace().count()) && !line.ends_with('.');
    pairs.into_iter().filter(move |(label, line)| labels(label) && name(line)).map(|(_, line)| line)
}

fn starts_with_by(text: &str) -> bool {
    stripped(text, &BY).or_else(|| stripped(text, &OF)).is_some()
}

/// True if a line begins with a name that is marked as a reporter's.
fn is_reporter(text: &str) -> bool {
    let first = text.split(['|', '·', '｜', '/', '　']).next().unwrap_or_default().trim();
    REPORTERS.iter().any(|word| first.strip_suffix(word).is_some_and(|name| (1..=20).contains(&name.chars().count())))
}

/// Returns the text after one of the words, if it begins with one.
fn stripped<'t>(text: &'t str, words: &[&str]) -> Option<&'t str> {
    let word = words.iter().find(|by| text.get(..by.len()).is_some_and(|start| start.eq_ignore_ascii_case(by)))?;
    text.get(word.len()..).map(str::trim_start)
}

/// Returns the name in a text such as "By Ada Example | May 1, 2026"; `None` if it cannot contain a name. `signed` is
/// true if the page shows the text as a byline.
fn name(text: &str, signed: bool, limits: &Limits) -> Option<String> {
    /// Maximum length of the words for the kind of work, in bytes.
    const MADE: usize = 16;
    let plain = without_tags(text);
    let mut text = plain.trim().trim_matches(['"', '“', '”', '«', '»']);
    // "Recipe by", "View all posts by": a name follows, whatever the kind of work.
    text = text.find(" by ").filter(|at| *at <= MADE).and_then(|at| text.get(at + 1..)).unwrap_or(text);
    while let Some(rest) = stripped(text, &BY).or_else(|| if signed { stripped(text, &OF) } else { None }) {
        text = rest;
    }
    // Numbers that nothing parts from a name are those of the next label, such as the time that reading takes.
    let glued =
        text.char_indices().zip(text.chars().skip(1)).find(|((_, c), next)| c.is_alphabetic() && next.is_ascii_digit());
    let text = match glued {
        Some(((at, c), _)) if text[at..].contains(' ') => &text[..at + c.len_utf8()],
        _ => text,
    };
    // What stands before `@` in an address is no part of the name.
    let text = text.find('@').map_or(text, |at| text[..at].rsplit_once(' ').map_or("", |(before, _)| before));
    let text = text
        .find('/')
        .filter(|at| text[at + 1..].trim_start().starts_with(|c: char| c.is_ascii_digit()))
        .map_or(text, |at| &text[..at]);
    let end = text.find(['|', '｜', '•', '·', '\n', '⋅', '(', ':', '{', '[', '@', '—', '<']).unwrap_or(text.len());
    let name = line(&references::decode(text.get(..end).unwrap_or_default()), limits.title_chars);
    let name = without_role(&name);
    let name = name.trim_matches([' ', ',', '-', '–', '.', '&']);
    let name = REPORTERS.iter().find_map(|word| name.strip_suffix(word)).unwrap_or(name).trim_end();
    let words = name.split_whitespace().count();
    let mut each = name.split([',', ';']).map(|name| name.split_whitespace().count());
    let several = name.matches([',', ';']).count() < AUTHORS && each.all(|words| words <= WORDS);
    let plausible = words > 0 && several;
    let digits = name.chars().any(|c| c.is_ascii_digit()) && !name.chars().next().is_some_and(|c| c.is_ascii_digit());
    let is_name = plausible
        && (!digits || (words <= 3 && find(&plain, &Hints::page(Order::DayFirst)).is_empty()))
        && !name.contains("://")
        && !name.contains("www.")
        && name.chars().any(char::is_alphabetic)
        && (2..=LONGEST).contains(&name.chars().count())
        && !matches!(
            fold(name).as_str(),
            "admin"
                | "author"
                | "authors"
                | "by"
                | "written by"
                | "article by"
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
    (is_name && find(name, &Hints::page(Order::DayFirst)).is_empty()).then(|| name.to_owned())
}

/// Returns names without what their bearers do, if a comma is before it: "Ada Example, Senior Editor".
fn without_role(names: &str) -> &str {
    let is_role = |part: &str| fold(part).split(' ').any(|word| ROLES.contains(&word));
    let mut ends = names.match_indices(", ").map(|(at, _)| at);
    let end = ends.find(|at| names.get(at + 2..).is_some_and(|rest| is_role(rest.split(", ").next().unwrap_or(rest))));
    end.and_then(|end| names.get(..end)).unwrap_or(names)
}

/// Words for what people do who write, folded.
const ROLES: [&str; 26] = [
    "analyst",
    "autorin",
    "chefredakteur",
    "chefredakteurin",
    "columnist",
    "contributor",
    "contributing",
    "correspondent",
    "correspondant",
    "corresponsal",
    "corrispondente",
    "editor",
    "editora",
    "freelance",
    "freelancer",
    "giornalista",
    "jornalista",
    "journalist",
    "journaliste",
    "periodista",
    "redactor",
    "redactora",
    "redakteur",
    "redakteurin",
    "reporter",
    "writer",
];

/// True if a name ends with the form of a company.
fn is_company(name: &str) -> bool {
    const FORMS: [&str; 22] = [
        "ab", "ag", "as", "b v", "bv", "corp", "gmbh", "inc", "limited", "llc", "ltd", "oy", "plc", "pty", "s a",
        "s l", "s p a", "s r l", "s r o", "sp z o o", "srl", "z ú",
    ];
    let name = fold(name);
    FORMS.iter().any(|form| name.strip_suffix(form).is_some_and(|rest| rest.ends_with(' ')))
}

/// True if a name is one word in lower case, as accounts are named.
fn is_login(name: &str) -> bool {
    !name.contains(' ') && name.chars().all(|c| c.is_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_' | '.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_taken_out_of_its_byline() {
        let of = |text: &str, signed| name(text, signed, &Limits::default());
        for (line, want) in [
            ("By Ada Example | May 1, 2026", "Ada Example"),
            ("di Ada Esempio", "Ada Esempio"),
            ("Von Ada Beispiel", "Ada Beispiel"),
            ("Автор: Ада Пример", "Ада Пример"),
            ("بقلم: آدا مثال", "آدا مثال"),
            ("김하늘 기자", "김하늘"),
            ("김하늘 기자 | 입력 2026.05.01", "김하늘"),
            ("山田花子記者", "山田花子"),
            ("文：王小明", "王小明"),
            ("View all posts by Ada Example", "Ada Example"),
            ("Recipe by Ada Example", "Ada Example"),
            ("“Ada Example”", "Ada Example"),
            ("By Ada Example, Senior Editor", "Ada Example"),
            ("Ada Example, Ben Example, staff writer", "Ada Example, Ben Example"),
            ("Article by: Ada Example", "Ada Example"),
            ("Ada Example <img src=x", "Ada Example"),
            ("Ada Example<img alt='' src=https://a.example/x.png>", "Ada Example"),
        ] {
            assert_eq!(of(line, true).as_deref(), Some(want), "{line}");
        }
        assert_eq!(of("Von Miller", false).as_deref(), Some("Von Miller"));
        assert_eq!(of("By Von Miller", false).as_deref(), Some("Von Miller"));
        assert_eq!(of("May 1, 2026", true), None);
        let life = "Ada Example, gardener, has been writing about the weir and all who live beside it for thirty years";
        assert_eq!(of(life, true), None);
        assert!(is_reporter("김하늘 기자 | 입력 2026.05.01") && is_reporter("山田花子記者　2026年5月1日"));
        assert!(!is_reporter("기자") && !is_reporter("입력 2026.05.01"));
    }
}
