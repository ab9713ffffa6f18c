//! Chooses the author of a page: structured data first, then the lines near its headline.

use crate::choose::Evidence;
use crate::choose::byline::{
    after_by, after_of, any_day, before_time, has_day, introduces, is_address, is_company, is_login, is_office,
    is_person, is_reporter, name, names_writer, without_paper,
};
use crate::markup::MAX_AUTHORS;
use crate::read::outline::{Byline, Outline};
use crate::text::{ends_with_title, fold};
use curlew_text::date::find;

const METAS: &str = "\
    author article:author dc.creator dcterms.creator parsely-author sailthru.author byl citation_author \
    citation_authors";
/// Names of meta tags that a page repeats for each of several authors.
const REPEATED: &str = "article:author dc.creator dcterms.creator parsely-author citation_author citation_authors";

/// Chooses the author of a page with this headline and site, whose text ends before the block `end`.
pub(crate) fn choose(
    evidence: Evidence<'_>,
    title: Option<&str>,
    site: Option<&str>,
    end: Option<usize>,
) -> Option<String> {
    let Evidence { outline, linked, micro } = evidence;
    let chars = outline.limits.title_chars;
    let named = |text: &str| name(text, false, chars);
    let signed = |text: &str| name(text, true, chars);
    let several: Vec<String> = REPEATED.split(' ').filter_map(|meta| several(outline, meta)).collect();
    let metas = METAS.split(' ').filter_map(|meta| outline.meta(&[meta]));
    let told = linked.author.as_deref().into_iter().chain(micro.author.as_deref());
    let told = told
        .chain(several.iter().map(String::as_str))
        .chain(metas)
        .chain(outline.meta(&["og:article:author", "twitter:creator"]))
        .chain(of_card(outline));
    let together = together(outline);
    let bylines = outline.bylines.iter().map(|byline| within(outline, byline));
    let shown = together.iter().map(String::as_str).chain(bylines);
    let at = headline(outline, title);
    let written = near_headline(outline, at).filter(|text| names_writer(text) || is_reporter(text));
    let labelled = below_label(outline, at);
    let beside = at.saturating_sub(2)..at + AROUND;
    let profiled = outline.profiles.iter().filter(|(_, block)| beside.contains(block)).map(|(name, _)| name.as_str());
    let dated = near_headline(outline, at).filter_map(|text| before_day(text).or_else(|| after_day(text)));
    let bare = site.and_then(|site| site.rsplit_once('.')).filter(|(_, end)| (2..=4).contains(&end.len()));
    let site_names = [site.map(fold), bare.map(|(name, _)| fold(name))];
    let all: Vec<String> = told
        .filter_map(named)
        .chain(shown.filter_map(signed))
        .chain(written.filter_map(signed))
        .chain(labelled.filter_map(signed))
        .chain(linked.office.as_deref().and_then(named))
        .chain(profiled.chain(dated).filter(|text| is_person(text)).filter_map(named))
        .collect();
    // A site that names itself, or its office, as the author often names the writer further down.
    let is_account = |name: &str| is_login(name) || is_address(name) || is_company(name) || is_office(name);
    let is_writer = |name: &&String| !site_names.contains(&Some(fold(name))) && !is_account(name);
    let chosen = all.iter().find(is_writer).or(all.first()).cloned();
    let chosen = chosen.or_else(|| below_text(outline, end).find_map(named))?;
    // Data often names only the first of several writers.
    let lines = outline.bylines.iter().filter(|byline| byline.is_name).map(|byline| byline.text.as_str());
    let with_others = |line: &&str| line.strip_prefix(&chosen).is_some_and(|rest| rest.starts_with(", "));
    let are_persons = |line: &&str| line.split(", ").all(is_person);
    let longer = together.as_deref().into_iter().chain(lines).filter(with_others).find(are_persons);
    let better = longer.or_else(|| without_paper(&chosen, site?)).map(str::to_owned);
    Some(better.unwrap_or(chosen))
}

fn several(outline: &Outline<'_>, meta: &str) -> Option<String> {
    let mut names: Vec<&str> = Vec::new();
    for name in outline.metas_of(meta).take(MAX_AUTHORS).map(str::trim).filter(|name| !name.contains("://")) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    // Scientific papers write the family name first.
    let between = if names.iter().any(|name| name.contains(',')) { "; " } else { ", " };
    (names.len() > 1).then(|| names.join(between))
}

fn of_card<'a>(outline: &Outline<'a>) -> Option<&'a str> {
    let pairs = [("twitter:label1", "twitter:data1"), ("twitter:label2", "twitter:data2")];
    let is_label = |label: &str| outline.meta(&[label]).is_some_and(introduces);
    pairs.iter().find(|(label, _)| is_label(label)).and_then(|(_, data)| outline.meta(&[data]))
}

/// Number of lines after the headline that may contain a byline.
const AROUND: usize = 8;

fn headline(outline: &Outline<'_>, title: Option<&str>) -> usize {
    let named = title.and_then(|title| {
        let mut all = outline.headings.iter();
        all.clone()
            .find(|heading| heading.text == title)
            .or_else(|| all.find(|heading| ends_with_title(&heading.text, title)))
    });
    named.or(outline.headings_of(1).next()).map_or(0, |heading| heading.block)
}

/// Returns the names in lines just below the text, such as "Posted by Ada at 10:12".
fn below_text<'a>(outline: &'a Outline<'_>, end: Option<usize>) -> impl Iterator<Item = &'a str> {
    const MAX_LINES: usize = 4;
    const MAX_WIDTH: usize = 120;
    let lines = end.and_then(|end| outline.blocks.get(end..)).unwrap_or_default().iter().take(MAX_LINES);
    lines.filter(|line| line.chars <= MAX_WIDTH).filter_map(|line| {
        let line = line.text.trim_start_matches(['.', '…', ' ', '—', '–']);
        let dated = line.contains(|c: char| c.is_ascii_digit());
        let person = after_of(line).filter(|_| dated).map(before_time).filter(|name| is_person(name));
        after_by(line).map(before_time).or(person).filter(|name| !name.contains(','))
    })
}

/// Returns the first part of a line if its other parts contain a day, as in "Ada Example | 1 May 2026".
fn before_day(line: &str) -> Option<&str> {
    let (name, rest) = line.split_once(['|', '·', '•', '–', '—', '\n'])?;
    (has_day(rest) && !has_day(name)).then(|| name.trim())
}

/// Returns the name after the day of a line: "1 May 2026, 9:30 by Ada Example", or "1 May 2026 — Ada Example".
fn after_day(line: &str) -> Option<&str> {
    let day = find(line, &any_day()).pop()?;
    let rest = line.get(day.end..)?;
    let name = rest.trim_start_matches(|c: char| !c.is_alphabetic());
    let between = &rest[..rest.len() - name.len()];
    let parted = between.contains(['|', '·', '•', '–', '—', '\n']);
    after_by(name).or_else(|| after_of(name)).or(Some(name).filter(|_| parted)).map(before_time)
}

/// Returns all marked names in the line of the first one, joined by commas; `None` if there is only one.
fn together(outline: &Outline<'_>) -> Option<String> {
    let mut names = outline.bylines.iter().filter(|byline| byline.is_name);
    let first = names.next()?;
    let mut all = vec![first.text.as_str()];
    for byline in names.filter(|byline| byline.block == first.block) {
        // Nested elements repeat the same name.
        if !all.iter().any(|name| name.contains(&byline.text) || byline.text.contains(name)) {
            all.push(&byline.text);
        }
    }
    (all.len() > 1).then(|| all.join(", "))
}

/// Returns the only name that is marked within a byline, if the byline begins with it, or else the byline.
fn within<'a>(outline: &'a Outline<'_>, byline: &'a Byline) -> &'a str {
    let line = after_by(&byline.text).unwrap_or(&byline.text);
    let is_inner =
        |other: &&str| !other.is_empty() && !introduces(other) && other.len() < line.len() && line.contains(other);
    let mut inner = outline.bylines.iter().map(|other| other.text.as_str()).filter(is_inner);
    let first = inner.next().filter(|name| line.starts_with(name));
    first.filter(|name| inner.all(|other| name.contains(other) || !is_person(other))).unwrap_or(line)
}

fn near_headline<'a>(outline: &'a Outline<'_>, at: usize) -> impl Iterator<Item = &'a str> {
    let end = outline.blocks.len().min(at + AROUND);
    let near = outline.blocks.get(at.saturating_sub(2)..end).unwrap_or_default().iter();
    near.filter(|block| block.chars < 100).map(|block| block.text.as_str())
}

fn below_label<'a>(outline: &'a Outline<'_>, at: usize) -> impl Iterator<Item = &'a str> {
    let pairs = near_headline(outline, at).zip(near_headline(outline, at).skip(1));
    let is_name = |line: &str| (1..=5).contains(&line.split_whitespace().count()) && !line.ends_with('.');
    pairs.filter(move |(label, line)| introduces(label) && is_name(line)).map(|(_, line)| line)
}
