//! Chooses the dates of publication and last change: markup first, then the URL, then the text near the top.

use crate::choose::Evidence;
use crate::choose::body::Body;
use crate::choose::byline::{is_person, names_writer};
use crate::lists::{BEFORE_DAYS, MODIFIED_METAS, PUBLISHED_METAS};
use crate::markup::Statements;
use crate::read::changes::{LineDates, says_published, stated};
use crate::read::outline::{Block, Kind, Moment, Outline, Tag};
use crate::read::stored::DATES;
use crate::text::{fold, words};
use curlew_model::{Confidence, Timestamp};
use curlew_text::date::{self, Hints, Order, parse};
use curlew_text::hygiene::head_bytes;
use std::borrow::Cow;

#[derive(Debug, Default)]
pub(crate) struct Dates {
    pub(crate) published: Option<(Timestamp, DateSource)>,
    pub(crate) modified: Option<(Timestamp, DateSource)>,
}

/// Source of a date, and how reliable it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DateSource {
    /// Rule that found it: `opengraph`, `jsonld`, `microdata`, `meta`, `time` (an element marked as a date), `url`,
    /// `text`, `script`, `redated` (the page shows the day of its last change as its date), or `modified` (no other
    /// date is known).
    pub from: &'static str,
    /// How reliable the date is.
    pub confidence: Confidence,
    /// Offset of the stated time zone, in minutes east of UTC; `None` if the page states none.
    pub zone: Option<i16>,
}

type Claim = (Timestamp, DateSource);

pub(crate) fn choose(evidence: Evidence<'_>, chosen: &Body, html: &str, language: Option<&str>) -> Dates {
    let hints = Hints::page(order(evidence.outline, language)).of_language(language);
    let page = DatedPage {
        evidence,
        headline: evidence.outline.headings_of(1).next().map(|heading| heading.block),
        start: chosen.start,
        end: if chosen.end == 0 { usize::MAX } else { chosen.end },
        markup: hints.clone().of_markup(),
        hints,
    };
    let modified = page.modified();
    let published = match page.marked() {
        Some(found) => {
            let found = page.unless_stamped(found, modified);
            Some(page.redated(found, modified).unwrap_or(found))
        }
        // A guessed date must not be later than the last change.
        None => page.in_address_or_lines().filter(|(at, _)| modified.is_none_or(|(last, _)| at.day() <= last.day())),
    };
    let published = published.or_else(|| in_script(html, &page.hints)).or_else(|| {
        let (at, source) = modified?;
        Some((at, DateSource { from: "modified", confidence: Confidence::Low, ..source }))
    });
    Dates { published, modified }
}

fn told_by(from: &'static str, text: &str, hints: &Hints) -> Option<Claim> {
    let moment = parse(text, hints)?;
    Some((moment.at, DateSource { from, confidence: Confidence::High, zone: moment.zone }))
}

fn first_reliable(claims: impl Iterator<Item = Claim>, wanted: Confidence) -> Option<Claim> {
    let mut claims = claims.peekable();
    let first = claims.peek().copied();
    claims.find(|(_, source)| source.confidence >= wanted).or(first)
}

/// A page, with the positions where a date of its article can be, as numbers of blocks.
struct DatedPage<'a> {
    evidence: Evidence<'a>,
    headline: Option<usize>,
    start: usize,
    end: usize,
    hints: Hints,
    markup: Hints,
}

impl DatedPage<'_> {
    /// Number of lines around the headline, and around the beginning of the text, that are examined.
    const AROUND: usize = 12;

    fn near(&self, block: usize) -> bool {
        let about = |at: usize| block + Self::AROUND / 2 >= at && block <= at + Self::AROUND;
        self.headline.is_some_and(about) || about(self.start)
    }

    /// True if the block is below the top of the page, where sites show today's date.
    fn below_top(&self, block: usize) -> bool {
        block + Self::AROUND >= self.headline.unwrap_or(self.start).min(self.start)
    }

    fn told(&self, graph: &[&str], metas: &[&str], data: fn(&Statements) -> Option<&str>) -> Option<Claim> {
        let Evidence { outline, linked, micro } = self.evidence;
        let told = [("opengraph", outline.meta(graph)), ("jsonld", data(linked)), ("microdata", data(micro))];
        let metas = metas.iter().map(|name| ("meta", outline.meta(&[name])));
        told.into_iter().chain(metas).find_map(|(from, text)| told_by(from, text?, &self.markup))
    }

    fn marked(&self) -> Option<Claim> {
        let graph = ["article:published_time", "og:article:published_time", "og:published_time"];
        let own = |m: &Moment| m.published && !m.outside && m.block <= self.end;
        self.told(&graph, &PUBLISHED_METAS, |data| data.published.as_deref())
            .or_else(|| self.moment(&self.markup, Confidence::High, own))
    }

    fn modified(&self) -> Option<Claim> {
        let graph = ["article:modified_time", "og:article:modified_time", "og:updated_time", "article:updated_time"];
        self.told(&graph, &MODIFIED_METAS, |data| data.modified.as_deref())
            .or_else(|| self.moment(&self.markup, Confidence::High, |m| m.modified && !m.outside))
            .or_else(|| {
                let shown = self.days_of_lines(&self.markup).find_map(|(_, stated)| stated.modified)?;
                Some((shown.at, DateSource { from: "text", confidence: Confidence::Medium, zone: shown.zone }))
            })
    }

    fn in_address_or_lines(&self) -> Option<Claim> {
        let of_address = DateSource { from: "url", confidence: Confidence::Medium, zone: None };
        let own = |m: &Moment| !m.modified && !m.outside && m.block <= self.end && self.below_top(m.block);
        let claims = [
            date::day_in_path(self.evidence.outline.page.path()).map(|at| (at, of_address)),
            self.moment(&self.hints, Confidence::Medium, |m| !m.modified && !m.foreign && self.near(m.block)),
            self.moment(&self.hints, Confidence::Medium, own),
            self.dateline(),
            self.moment(&self.hints, Confidence::Low, |m| !m.outside && self.below_top(m.block)),
        ];
        first_reliable(claims.into_iter().flatten(), Confidence::Medium)
    }

    /// Returns an earlier date that the page shows near the headline, if the build stamped both dates, or else `found`.
    fn unless_stamped(&self, found: Claim, modified: Option<Claim>) -> Claim {
        let is_stamped = modified.is_some_and(|(at, _)| at <= found.0 || at.day() == found.0.day());
        let stated = |m: &Moment| !m.modified && !m.outside && self.near(m.block);
        let beside = || self.moment(&self.hints, Confidence::Medium, stated).or_else(|| self.dateline());
        let is_earlier =
            |(at, source): &Claim| source.confidence > Confidence::Low && *at < found.0 && at.day() != found.0.day();
        is_stamped.then(beside).flatten().filter(is_earlier).unwrap_or(found)
    }

    /// Returns the last change if the byline shows its day, and neither the page's top nor its URL that of `found`.
    fn redated(&self, found: Claim, modified: Option<Claim>) -> Option<Claim> {
        let Evidence { outline, linked, .. } = self.evidence;
        let first_day = local_day(found.0, found.1.zone);
        let (at, source) = modified.filter(|(at, source)| local_day(*at, source.zone) > first_day)?;
        if linked.is_live || date::day_in_path(outline.page.path()).is_some_and(|day| day.day() == first_day) {
            return None;
        }
        let moments = outline.moments.iter().filter(|m| !m.modified && !m.outside && self.near(m.block));
        let moments = moments.filter_map(|m| Some((m.block, parse(&m.value, &self.hints)?)));
        let lines = self.days_of_lines(&self.hints).filter_map(|(at, stated)| Some((at, stated.published?)));
        let days: Vec<(usize, String)> =
            moments.chain(lines).map(|(block, shown)| (block, local_day(shown.at, shown.zone))).collect();
        let last_day = local_day(at, source.zone);
        let is_in_byline = days.iter().any(|(block, day)| *day == last_day && self.is_beside_byline(*block));
        let is_redated = is_in_byline && days.iter().all(|(_, day)| *day != first_day);
        is_redated.then_some((at, DateSource { from: "redated", confidence: Confidence::Medium, ..source }))
    }

    /// Returns the first moment that fits; in running text it is a guess, unless the confidence is high.
    fn moment(&self, hints: &Hints, confidence: Confidence, fits: impl Fn(&Moment) -> bool) -> Option<Claim> {
        let outline = self.evidence.outline;
        let claims = outline.moments.iter().filter(|m| fits(m)).filter_map(|m| {
            let shown = parse(&m.value, hints)?;
            let is_guess = || outline.blocks.get(m.block).is_some_and(|block| is_running(block, hints));
            let confidence = if confidence == Confidence::Medium && is_guess() { Confidence::Low } else { confidence };
            Some((shown.at, DateSource { from: "time", confidence, zone: shown.zone }))
        });
        first_reliable(claims, confidence)
    }

    fn days_of_lines(&self, hints: &Hints) -> impl Iterator<Item = (usize, LineDates)> {
        let outline = self.evidence.outline;
        let elsewhere = |at: usize| {
            let foreign = |kind: Kind| matches!(kind, Kind::Hidden | Kind::Comments);
            outline.parts.iter().any(|part| foreign(part.kind) && (part.span.start..part.span.end).contains(&at))
        };
        let near = move |(at, block): &(usize, &Block)| self.near(*at) && block.chars <= LINE && !elsewhere(*at);
        outline.blocks.iter().enumerate().filter(near).map(move |(at, block)| {
            let label = at.checked_sub(1).and_then(|at| outline.blocks.get(at)).filter(|block| block.chars <= LABEL);
            (at, stated(label.map_or("", |block| block.text.as_str()), &parted(&block.text), hints))
        })
    }

    /// Returns the first date of publication near the headline; without a line of its own, the first one is a guess.
    fn dateline(&self) -> Option<Claim> {
        /// Maximum number of lines from one about the last change to the date.
        const BESIDE: usize = 2;
        let (mut changed, mut guess) = (None, None);
        for (at, stated) in self.days_of_lines(&self.hints) {
            if let Some(shown) = stated.published.filter(|_| changed.is_none_or(|line| at <= line + BESIDE)) {
                let block = self.evidence.outline.blocks.get(at);
                let source = |confidence| (shown.at, DateSource { from: "text", confidence, zone: shown.zone });
                if block.is_some_and(|block| is_dateline(&parted(&block.text), &self.hints)) {
                    return Some(source(Confidence::Medium));
                }
                guess = guess.or(Some(source(Confidence::Low)));
            }
            if stated.modified.is_some() && changed.is_none() {
                changed = Some(at);
            }
        }
        guess
    }

    /// True if a block is part of a byline: only short lines are between it and a line that names a writer.
    fn is_beside_byline(&self, block: usize) -> bool {
        /// Maximum number of lines between them, and the maximum width of one.
        const BETWEEN: usize = 2;
        const SHORT: usize = 60;
        let outline = self.evidence.outline;
        let line = |at: usize| outline.blocks.get(at).filter(|block| block.chars <= LINE);
        let names = |at: usize| {
            let marked = outline.bylines.iter().any(|byline| byline.block == at);
            line(at).is_some_and(|block| marked || names_writer(&block.text))
        };
        let is_short =
            |at: usize| line(at).is_some_and(|block| block.chars <= SHORT && !matches!(block.tag, Tag::Heading(_)));
        if !line(block).is_some_and(|own| names(block) || is_dateline(&parted(&own.text), &self.hints)) {
            return false;
        }
        let after = (block..=block + BETWEEN).find(|at| names(*at));
        let before = (block.saturating_sub(BETWEEN)..block).rev().find(|at| names(*at));
        after.is_some_and(|at| (block..at).all(is_short)) || before.is_some_and(|at| (at + 1..block).all(is_short))
    }
}

impl DateSource {
    /// Returns the date as RFC 3339: in UTC, or in the zone of the page if its day differs there.
    pub fn shown(&self, at: Timestamp) -> String {
        match self.zone {
            Some(minutes) if local_day(at, self.zone) != at.day() => at.in_zone(minutes),
            _ => at.to_string(),
        }
    }
}

/// Returns the day of an instant in the zone in which it was stated, in minutes east of UTC.
fn local_day(at: Timestamp, zone: Option<i16>) -> String {
    Timestamp::from_millis(at.as_millis() + i64::from(zone.unwrap_or(0)) * 60_000).day()
}

/// True if a block is long, or words of a sentence or a label such as "Deadline:" precede its first day.
fn is_running(block: &Block, hints: &Hints) -> bool {
    let line = parted(head_bytes(&block.text, 4 * LINE));
    let leads =
        || Some(around_day(&line, hints)?.0.rsplit(BARS).next()?.rsplit(MARKS).next().is_some_and(leads_to_day));
    block.chars > LINE || leads() == Some(false)
}

/// Returns the first date of publication in the data of a script, under the most telling name.
fn in_script(html: &str, hints: &Hints) -> Option<Claim> {
    const MAX_TRIES: usize = 4;
    /// Number of bytes after the name in which the date begins: a quote, a colon and a quote, perhaps escaped.
    const NEAR: usize = 48;
    let mut names = DATES.split(' ').flat_map(|name| html.match_indices(name).take(MAX_TRIES));
    names.find_map(|(at, name)| {
        let rest = head_bytes(html.get(at + name.len()..)?, NEAR);
        let (before, value) = rest.split_at(rest.find(|c: char| c.is_ascii_digit())?);
        if before.contains(',') {
            return None;
        }
        let end = value.find(['"', '\'', '&', '\\', '<', ',']).unwrap_or(value.len());
        let (found, source) = told_by("script", value.get(..end)?, hints)?;
        Some((found, DateSource { confidence: Confidence::Medium, ..source }))
    })
}

/// Returns the order of day and month in `03/04/2026`: the United States and the Philippines write the month first.
fn order(outline: &Outline<'_>, language: Option<&str>) -> Order {
    let region =
        outline.html_lang.or_else(|| outline.meta(&["og:locale"])).and_then(|tag| tag.split(['-', '_']).nth(1));
    match (language, region) {
        (_, Some(region)) if ["us", "ph"].iter().any(|code| region.eq_ignore_ascii_case(code)) => Order::MonthFirst,
        (Some("en") | None, None) => Order::MonthFirst,
        _ => Order::DayFirst,
    }
}

/// Returns a line with spaces where only the style sheet separates its parts, as in "Ada ExampleMay 1, 2026".
fn parted(line: &str) -> Cow<'_, str> {
    let glued = |(one, two): (char, char)| {
        (one.is_lowercase() && (two.is_uppercase() || two.is_ascii_digit()))
            || (one.is_ascii_digit() && two.is_uppercase())
    };
    let pairs = || line.chars().zip(line.chars().skip(1));
    // The "T" and "Z" of an instant are no words.
    if !pairs().any(glued) || line.split_whitespace().any(|word| parse(word, &Hints::page(Order::DayFirst)).is_some()) {
        return Cow::Borrowed(line);
    }
    let mut out: String = line.chars().take(1).collect();
    for (one, two) in pairs() {
        if glued((one, two)) {
            out.push(' ');
        }
        out.push(two);
    }
    Cow::Owned(out)
}

/// True if a line is about its first day: only words of bylines precede it, and few words follow it.
fn is_dateline(line: &str, hints: &Hints) -> bool {
    const MAX_WORDS_AFTER: usize = 8;
    let is_about = |before: &str| before.rsplit(BARS).next().is_some_and(|part| part.split(MARKS).all(leads_to_day));
    around_day(line, hints).is_some_and(|(before, after)| is_about(&before) && words(&after) <= MAX_WORDS_AFTER)
}

fn around_day(line: &str, hints: &Hints) -> Option<(String, String)> {
    let day = date::find(line, hints).into_iter().next()?;
    let line = date::ascii_digits(line);
    Some((line.get(..day.start)?.to_owned(), line.get(day.end..)?.to_owned()))
}

/// True if the words before a day are those of a byline: for publication, a weekday, a writer's name, or none.
fn leads_to_day(before: &str) -> bool {
    const MAX_WORDS: usize = 4;
    let before = before.trim();
    !before.contains(char::is_alphabetic)
        || BEFORE_DAYS.contains(fold(before).as_str())
        || names_writer(before)
        || is_person(before)
        || (says_published(before) && words(before) <= MAX_WORDS)
}

const BARS: [char; 4] = ['|', '·', '•', '\n'];
/// Marks that separate parts of a byline, but also those of a sentence.
const MARKS: [char; 3] = [',', '–', '—'];

/// Maximum width of a line with a date; longer lines are running text, whose dates belong to the story.
const LINE: usize = 120;
/// Maximum length of a line above a date that may be its label.
const LABEL: usize = 30;
