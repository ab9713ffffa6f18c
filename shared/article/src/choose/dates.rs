//! Chooses the dates of publication and last change: markup first, then the URL, then the text near the top.

use crate::choose::body::Body;
use crate::choose::byline::{is_person, starts_with_by};
use crate::lists::{BEFORE_DAYS, MODIFIED_METAS, PUBLISHED_METAS};
use crate::markup::jsonld::JsonLd;
use crate::markup::microdata::Microdata;
use crate::markup::opengraph::OpenGraph;
use crate::read::changes::{LineDates, says_published, stated};
use crate::read::outline::{Block, Kind, Moment, Outline, Tag};
use crate::read::stored::DATES;
use crate::text::{fold, words};
use curlew_model::{Confidence, Timestamp};
use curlew_text::date::{self, Hints, Order, parse};
use curlew_text::hygiene::head_bytes;
use std::borrow::Cow;
use url::Url;

/// Both dates.
#[derive(Debug, Default)]
pub(crate) struct Dates {
    pub(crate) published: Option<(Timestamp, DateSource)>,
    pub(crate) modified: Option<(Timestamp, DateSource)>,
}

/// Source of a date, and how reliable it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DateSource {
    /// Rule that found it: `opengraph`, `jsonld`, `microdata`, `meta`, `time` (an element marked as a date), `url`,
    /// `text`, `script`, `redated` (the page shows the day of its last change as its date), or `modified` (only the
    /// time of the last change is known).
    pub from: &'static str,
    /// Reliability of the date.
    pub confidence: Confidence,
    /// Offset of the stated time zone, in minutes east of UTC; `None` if the page states none.
    pub zone: Option<i16>,
}

/// Sources that the dates are chosen from.
pub(crate) struct Evidence<'a> {
    pub(crate) outline: &'a Outline<'a>,
    pub(crate) graph: &'a OpenGraph<'a>,
    pub(crate) linked: &'a JsonLd,
    pub(crate) micro: &'a Microdata,
    pub(crate) chosen: &'a Body,
    pub(crate) page: &'a Url,
    pub(crate) html: &'a str,
    pub(crate) language: Option<&'a str>,
}

/// Chooses the dates.
pub(crate) fn choose(evidence: &Evidence<'_>) -> Dates {
    let hints = &Hints::page(order(evidence.outline, evidence.language)).of_language(evidence.language);
    let modified = modified(evidence, &hints.clone().of_markup());
    let published = match marked(evidence, &hints.clone().of_markup()) {
        Some(found) => {
            Some(unless_redated(unless_stamped(found, modified, evidence, hints), modified, evidence, hints))
        }
        // A guessed date must not be later than the last change.
        None => in_address_or_lines(evidence, hints)
            .filter(|(at, _)| modified.is_none_or(|(last, _)| at.day() <= last.day())),
    };
    let published = published.or_else(|| in_script(evidence.html, hints)).or_else(|| {
        let (at, source) = modified?;
        Some((at, DateSource { from: "modified", confidence: Confidence::Low, ..source }))
    });
    Dates { published, modified }
}

type Claim = (Timestamp, DateSource);

/// Parses a date that markup gives.
fn told_by(from: &'static str, text: &str, hints: &Hints) -> Option<Claim> {
    let moment = parse(text, hints)?;
    Some((moment.at, DateSource { from, confidence: Confidence::High, zone: moment.zone }))
}

/// Returns the publication date according to the markup.
fn marked(evidence: &Evidence<'_>, hints: &Hints) -> Option<Claim> {
    let place = Place::new(evidence.outline, evidence.chosen);
    let read = |from, text: Option<&str>| told_by(from, text?, hints);
    read("opengraph", evidence.graph.published)
        .or_else(|| read("jsonld", evidence.linked.published.as_deref()))
        .or_else(|| read("microdata", evidence.micro.published.as_deref()))
        .or_else(|| PUBLISHED_METAS.iter().find_map(|name| read("meta", evidence.outline.meta(&[name]))))
        .or_else(|| {
            let own = |m: &Moment| m.published && !m.outside && place.before_end(m.block);
            moment(evidence.outline, hints, Confidence::High, own)
        })
}

/// Returns the publication date according to the address, or to the lines near the headline.
fn in_address_or_lines(evidence: &Evidence<'_>, hints: &Hints) -> Option<Claim> {
    let outline = evidence.outline;
    let place = Place::new(outline, evidence.chosen);
    let plain = |from, confidence| move |at| (at, DateSource { from, confidence, zone: None });
    let own = |m: &Moment| !m.modified && !m.outside && place.before_end(m.block) && place.below_top(m.block);
    let claims = [
        day_of_address(evidence.page).map(plain("url", Confidence::Medium)),
        moment(outline, hints, Confidence::Medium, |m| !m.modified && !m.foreign && place.near(m.block)),
        moment(outline, hints, Confidence::Medium, own),
        dateline(outline, &place, hints),
        moment(outline, hints, Confidence::Low, |m| !m.outside && place.below_top(m.block)),
    ];
    first_reliable(claims.into_iter().flatten(), Confidence::Medium)
}

/// Returns the first claim that is as reliable as wanted, or else the first one.
fn first_reliable(claims: impl Iterator<Item = Claim>, wanted: Confidence) -> Option<Claim> {
    let mut first = None;
    for claim in claims {
        if claim.1.confidence >= wanted {
            return Some(claim);
        }
        first.get_or_insert(claim);
    }
    first
}

/// Replaces dates stamped by the build. Systems that rebuild pages write the time of the last build as the publication
/// date, too. So if both dates are of one day, or the publication is the later one, an earlier date shown beside the
/// headline wins.
fn unless_stamped(found: Claim, modified: Option<Claim>, evidence: &Evidence<'_>, hints: &Hints) -> Claim {
    let stamped = modified.is_some_and(|(at, _)| at <= found.0 || at.day() == found.0.day());
    let place = Place::new(evidence.outline, evidence.chosen);
    let beside = || {
        let stated = |m: &Moment| !m.modified && !m.outside && place.near(m.block);
        moment(evidence.outline, hints, Confidence::Medium, stated)
            .or_else(|| dateline(evidence.outline, &place, hints))
    };
    match stamped.then(beside).flatten() {
        Some(shown) if shown.1.confidence > Confidence::Low && shown.0 < found.0 && shown.0.day() != found.0.day() => {
            shown
        }
        _ => found,
    }
}

/// Replaces the date of a redated page. Sites that rewrite a page show one day in its byline, without mentioning a
/// change, and it is that of the last change. The publisher stands by that day, so it wins, unless the older one is
/// shown near the headline, too, or in the address, or the byline's day may be that of the latest entry of a live blog.
fn unless_redated(found: Claim, modified: Option<Claim>, evidence: &Evidence<'_>, hints: &Hints) -> Claim {
    let Some((at, source)) =
        modified.filter(|(at, source)| local_day(*at, source.zone) > local_day(found.0, found.1.zone))
    else {
        return found;
    };
    let first_day = local_day(found.0, found.1.zone);
    if evidence.linked.is_live || day_of_address(evidence.page).is_some_and(|day| day.day() == first_day) {
        return found;
    }
    let (outline, place) = (evidence.outline, Place::new(evidence.outline, evidence.chosen));
    let moments = outline.moments.iter().filter(|m| !m.modified && !m.outside && place.near(m.block));
    let moments = moments.filter_map(|m| Some((m.block, parse(&m.value, hints)?)));
    let lines = days_of_lines(outline, &place, hints).filter_map(|(at, stated)| Some((at, stated.published?)));
    let days: Vec<(usize, String)> =
        moments.chain(lines).map(|(block, shown)| (block, local_day(shown.at, shown.zone))).collect();
    let last_day = local_day(at, source.zone);
    let is_in_byline = days.iter().any(|(block, day)| *day == last_day && is_beside_byline(outline, *block, hints));
    if is_in_byline && days.iter().all(|(_, day)| *day != first_day) {
        return (at, DateSource { from: "redated", confidence: Confidence::Medium, ..source });
    }
    found
}

impl DateSource {
    /// Returns the date as RFC 3339: in UTC, or in the zone of the page where that has another day, which is the one
    /// that its readers see.
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

/// Returns the time of the last change.
fn modified(evidence: &Evidence<'_>, hints: &Hints) -> Option<Claim> {
    let read = |from, text: Option<&str>| told_by(from, text?, hints);
    read("opengraph", evidence.graph.modified)
        .or_else(|| read("jsonld", evidence.linked.modified.as_deref()))
        .or_else(|| read("microdata", evidence.micro.modified.as_deref()))
        .or_else(|| MODIFIED_METAS.iter().find_map(|name| read("meta", evidence.outline.meta(&[name]))))
        .or_else(|| moment(evidence.outline, hints, Confidence::High, |m| m.modified && !m.outside))
        .or_else(|| {
            let place = Place::new(evidence.outline, evidence.chosen);
            let shown = days_of_lines(evidence.outline, &place, hints).find_map(|(_, stated)| stated.modified)?;
            Some((shown.at, DateSource { from: "text", confidence: Confidence::Medium, zone: shown.zone }))
        })
}

/// Returns the first of the moments that fit and can be parsed, preferring one that its line is about. In running text
/// it is a guess, unless the markup says more.
fn moment(
    outline: &Outline<'_>,
    hints: &Hints,
    confidence: Confidence,
    fits: impl Fn(&Moment) -> bool,
) -> Option<Claim> {
    let claims = outline.moments.iter().filter(|m| fits(m)).filter_map(|m| {
        let shown = parse(&m.value, hints)?;
        let is_guess = || outline.blocks.get(m.block).is_some_and(|block| is_running(block, hints));
        let confidence = if confidence == Confidence::Medium && is_guess() { Confidence::Low } else { confidence };
        Some((shown.at, DateSource { from: "time", confidence, zone: shown.zone }))
    });
    first_reliable(claims, confidence)
}

/// True if words of a sentence, or a label such as "Deadline:", lead to the first day of a block.
fn is_running(block: &Block, hints: &Hints) -> bool {
    let line = parted(head_bytes(&block.text, 4 * LINE));
    let leads =
        || Some(around_day(&line, hints)?.0.rsplit(BARS).next()?.rsplit(MARKS).next().is_some_and(leads_to_day));
    block.chars > LINE || leads() == Some(false)
}

/// Returns the first date of publication in the data of a script, by the most telling name.
fn in_script(html: &str, hints: &Hints) -> Option<Claim> {
    /// Maximum number of occurrences of a name that are tried.
    const TRIES: usize = 4;
    /// Maximum distance between the name and the date: a quote, a colon and a quote, perhaps escaped.
    const NEAR: usize = 48;
    let names = DATES.iter().flat_map(|name| html.match_indices(name).take(TRIES));
    names.into_iter().find_map(|(at, name)| {
        let rest = html.get(at + name.len()..)?;
        let rest = head_bytes(rest, NEAR);
        let start =
            rest.find(|c: char| c.is_ascii_digit()).filter(|at| !rest.get(..*at).is_some_and(|b| b.contains(',')))?;
        let value = rest.get(start..)?;
        let end = value.find(['"', '\'', '&', '\\', '<', ',']).unwrap_or(value.len());
        let (found, source) = told_by("script", value.get(..end)?, hints)?;
        Some((found, DateSource { confidence: Confidence::Medium, ..source }))
    })
}

/// Returns the order of day and month in `03/04/2026`: only the United States and the Philippines write the month
/// first.
fn order(outline: &Outline<'_>, language: Option<&str>) -> Order {
    let region =
        outline.html_lang.or_else(|| outline.meta(&["og:locale"])).and_then(|tag| tag.split(['-', '_']).nth(1));
    match (language, region) {
        (_, Some(region)) if region.eq_ignore_ascii_case("us") || region.eq_ignore_ascii_case("ph") => {
            Order::MonthFirst
        }
        (Some("en") | None, None) => Order::MonthFirst,
        _ => Order::DayFirst,
    }
}

/// Months as addresses name them.
const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// Returns a date in the path: `/2026/05/01/`, `/2026/may/01/`, `/2026-05-01-`, `/20260501`.
fn day_of_address(page: &Url) -> Option<Timestamp> {
    let parse = |text: &str| date::parse(text, &Hints::page(Order::DayFirst)).map(|day| day.at);
    let path = page.path();
    let segments: Vec<&str> = path.split('/').collect();
    let three = segments.windows(3).find_map(|window| {
        let [year, month, day] = window else { return None };
        let plain =
            |text: &str, max: usize| text.len() <= max && text.bytes().all(|b| b.is_ascii_digit()) && !text.is_empty();
        let named = MONTHS.iter().position(|name| month.eq_ignore_ascii_case(name)).map(|at| (at + 1).to_string());
        let month = named.or_else(|| plain(month, 2).then(|| (*month).to_owned()))?;
        (year.len() == 4 && plain(year, 4) && plain(day, 2)).then(|| format!("{year}-{month:0>2}-{day:0>2}"))
    });
    three.and_then(|text| parse(&text)).or_else(|| {
        segments.iter().find_map(|segment| {
            let iso = segment.get(..10).filter(|s| {
                s.bytes()
                    .enumerate()
                    .all(|(i, b)| if i == 4 || i == 7 { matches!(b, b'-' | b'_') } else { b.is_ascii_digit() })
            });
            iso.and_then(|text| parse(&text.replace('_', "-"))).or_else(|| {
                let run = segment.get(..8).filter(|s| s.bytes().all(|b| b.is_ascii_digit()))?;
                let ends = segment.as_bytes().get(8).is_none_or(|b| !b.is_ascii_digit());
                ends.then(|| parse(run)).flatten()
            })
        })
    })
}

/// Returns the dates written in the lines around the beginning of the text.
fn days_of_lines<'t>(
    outline: &'t Outline<'_>,
    place: &'t Place,
    hints: &'t Hints,
) -> impl Iterator<Item = (usize, LineDates)> + 't {
    let elsewhere = |at: usize| {
        let foreign = |kind: Kind| matches!(kind, Kind::Hidden | Kind::Comments);
        outline.parts.iter().any(|part| foreign(part.kind) && (part.span.start..part.span.end).contains(&at))
    };
    let near = move |(at, block): &(usize, &Block)| place.near(*at) && block.chars <= LINE && !elsewhere(*at);
    let lines = outline.blocks.iter().enumerate().filter(near);
    lines.map(move |(at, block)| {
        let label = at.checked_sub(1).and_then(|at| outline.blocks.get(at)).filter(|block| block.chars <= LABEL);
        (at, stated(label.map_or("", |block| block.text.as_str()), &parted(&block.text), hints))
    })
}

/// Returns a line with spaces where a word ends and another begins without one: pages set the parts of a byline apart
/// by style alone, as in "Ada ExampleMay 1, 2026".
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

/// Returns the publication date that a line states: the first date near the headline, unless a word marks it as a
/// change; then one beside it, since dates further on belong to the story. It is a guess if the line is about something
/// else.
fn dateline(outline: &Outline<'_>, place: &Place, hints: &Hints) -> Option<Claim> {
    /// Maximum number of lines after the one about the change.
    const BESIDE: usize = 2;
    let mut changed = None;
    for (at, stated) in days_of_lines(outline, place, hints) {
        if let Some(shown) = stated.published.filter(|_| changed.is_none_or(|line| at <= line + BESIDE)) {
            return Some((shown.at, source_of_line(outline.blocks.get(at), shown, hints)));
        }
        if stated.modified.is_some() && changed.is_none() {
            changed = Some(at);
        }
    }
    None
}

/// Returns the source of a day that a line shows, which is a guess if the line is about something else.
fn source_of_line(block: Option<&Block>, shown: date::Moment, hints: &Hints) -> DateSource {
    let is_stated = block.is_some_and(|block| is_dateline(&parted(&block.text), hints));
    let confidence = if is_stated { Confidence::Medium } else { Confidence::Low };
    DateSource { from: "text", confidence, zone: shown.zone }
}

/// True if a line is about its first day: before it are only words for publication, a weekday or a byline, and few
/// words are after it.
fn is_dateline(line: &str, hints: &Hints) -> bool {
    /// Maximum number of words after the day.
    const AFTER: usize = 8;
    let is_about = |before: &str| before.rsplit(BARS).next().is_some_and(|part| part.split(MARKS).all(leads_to_day));
    around_day(line, hints).is_some_and(|(before, after)| is_about(&before) && words(&after) <= AFTER)
}

/// Returns what stands before and after the first day of a line.
fn around_day(line: &str, hints: &Hints) -> Option<(String, String)> {
    let day = date::find(line, hints).into_iter().next()?;
    let line = date::ascii_digits(line);
    Some((line.get(..day.start)?.to_owned(), line.get(day.end..)?.to_owned()))
}

/// True if words lead to a day as those of bylines do: for publication, a weekday, a writer's name, or none at all.
fn leads_to_day(before: &str) -> bool {
    /// Maximum number of words about publication.
    const WORDS: usize = 4;
    let before = before.trim();
    !before.contains(char::is_alphabetic)
        || BEFORE_DAYS.contains(fold(before).as_str())
        || starts_with_by(before)
        || is_person(before)
        || (says_published(before) && words(before) <= WORDS)
}

/// Marks that set the parts of a byline apart.
const BARS: [char; 4] = ['|', '·', '•', '\n'];
/// Marks that part them as they part those of a sentence.
const MARKS: [char; 3] = [',', '–', '—'];

/// True if a block is part of a byline: nothing but short lines lies between it and one that names a writer.
fn is_beside_byline(outline: &Outline<'_>, block: usize, hints: &Hints) -> bool {
    /// Maximum number of lines between, and the maximum width of one.
    const BETWEEN: usize = 2;
    const SHORT: usize = 60;
    let line = |at: usize| outline.blocks.get(at).filter(|block| block.chars <= LINE);
    let names = |at: usize| {
        let marked = outline.bylines.iter().any(|byline| byline.block == at);
        line(at).is_some_and(|block| marked || starts_with_by(&block.text))
    };
    let is_short =
        |at: usize| line(at).is_some_and(|block| block.chars <= SHORT && !matches!(block.tag, Tag::Heading(_)));
    if !line(block).is_some_and(|own| names(block) || is_dateline(&parted(&own.text), hints)) {
        return false;
    }
    let after = (block..=block + BETWEEN).find(|at| names(*at));
    let before = (block.saturating_sub(BETWEEN)..block).rev().find(|at| names(*at));
    after.is_some_and(|at| (block..at).all(is_short)) || before.is_some_and(|at| (at + 1..block).all(is_short))
}

/// Maximum width of a line with a date; longer lines are running text, whose dates belong to the story.
const LINE: usize = 120;
/// Maximum length of a line above a date that may be its label.
const LABEL: usize = 30;

/// Positions in the page at which a date of this article can stand.
struct Place {
    headline: Option<usize>,
    start: usize,
    end: usize,
}

impl Place {
    /// Number of lines around the headline, and around the beginning of the text, that are examined.
    const AROUND: usize = 12;

    fn new(outline: &Outline<'_>, chosen: &Body) -> Place {
        let headline = outline.headings_of(1).next().map(|heading| heading.block);
        let end = if chosen.end == 0 { usize::MAX } else { chosen.end };
        Place { headline, start: chosen.start, end }
    }

    fn near(&self, block: usize) -> bool {
        let about = |at: usize| block + Place::AROUND / 2 >= at && block <= at + Place::AROUND;
        self.headline.is_some_and(about) || about(self.start)
    }

    /// True if the block is below the top of the page, where sites show today's date.
    fn below_top(&self, block: usize) -> bool {
        block + Place::AROUND >= self.headline.unwrap_or(self.start).min(self.start)
    }

    fn before_end(&self, block: usize) -> bool {
        block <= self.end
    }
}
