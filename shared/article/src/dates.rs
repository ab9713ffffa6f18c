//! When a page was published and changed: markup first, then the URL, then the text near its top.

use crate::choose::Chosen;
use crate::dateparse::{Order, find, parse};
use crate::jsonld::Linked;
use crate::microdata::Micro;
use crate::opengraph::OpenGraph;
use crate::outline::{Moment, Outline};
use curlew_model::Timestamp;
use url::Url;

/// Both dates.
#[derive(Debug, Default)]
pub(crate) struct Dated {
    pub(crate) published: Option<Timestamp>,
    pub(crate) modified: Option<Timestamp>,
}

/// Chooses the dates.
pub(crate) fn choose(
    outline: &Outline<'_>,
    graph: &OpenGraph<'_>,
    linked: &Linked,
    micro: &Micro<'_>,
    chosen: &Chosen,
    page: &Url,
    language: Option<&str>,
) -> Dated {
    let order = order(outline, language);
    let read = |text: &str| parse(text, order);
    let place = Place::of(outline, chosen);
    let moments = |wanted: &dyn Fn(&Moment) -> bool| {
        outline.moments.iter().filter(|m| wanted(m)).find_map(|m| read(&m.value).or_else(|| find(&m.value, order)))
    };
    let published = graph
        .published
        .and_then(read)
        .or_else(|| linked.published.as_deref().and_then(read))
        .or_else(|| micro.published.and_then(read))
        .or_else(|| PUBLISHED.iter().filter_map(|name| outline.meta(&[name])).find_map(read))
        .or_else(|| moments(&|m| m.published && !m.outside && place.before_end(m.block)))
        .or_else(|| of_url(page))
        .or_else(|| moments(&|m| !m.modified && !m.foreign && place.near(m.block)))
        .or_else(|| moments(&|m| !m.modified && !m.outside && place.before_end(m.block)))
        .or_else(|| of_text(outline, &place, order))
        .or_else(|| moments(&|m| !m.outside));
    let modified = graph
        .modified
        .and_then(read)
        .or_else(|| linked.modified.as_deref().and_then(read))
        .or_else(|| micro.modified.and_then(read))
        .or_else(|| MODIFIED.iter().filter_map(|name| outline.meta(&[name])).find_map(read))
        .or_else(|| moments(&|m| m.modified && !m.outside));
    Dated { published: published.or(modified), modified }
}

/// Meta names that mean publication, the surest first.
const PUBLISHED: [&str; 28] = [
    "datepublished",
    "publishdate",
    "publish_date",
    "publish-date",
    "publication_date",
    "publicationdate",
    "pubdate",
    "date",
    "dc.date",
    "dc.date.issued",
    "dcterms.date",
    "dcterms.created",
    "dcterms.issued",
    "dcterms.available",
    "dc.created",
    "parsely-pub-date",
    "sailthru.date",
    "article.published",
    "article:published",
    "published-date",
    "citation_publication_date",
    "citation_date",
    "cxenseparse:recs:publishtime",
    "originalpublicationdate",
    "rnews:datepublished",
    "bt:pubdate",
    "shareaholic:article_published_time",
    "creation_date",
];
/// Meta names that mean a change.
const MODIFIED: [&str; 9] = [
    "last-modified",
    "lastmod",
    "modified",
    "datemodified",
    "dcterms.modified",
    "dc.date.modified",
    "article.updated",
    "shareaholic:article_modified_time",
    "revised",
];

/// Whether `03/04/2026` means March or April: only the United States and the Philippines write the month first.
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

/// A date in the path: `/2026/05/01/`, `/2026-05-01-`, `/20260501`.
fn of_url(page: &Url) -> Option<Timestamp> {
    let path = page.path();
    let segments: Vec<&str> = path.split('/').collect();
    let three = segments.windows(3).find_map(|window| {
        let [year, month, day] = window else { return None };
        let plain =
            |text: &str, max: usize| text.len() <= max && text.bytes().all(|b| b.is_ascii_digit()) && !text.is_empty();
        (year.len() == 4 && plain(year, 4) && plain(month, 2) && plain(day, 2))
            .then(|| format!("{year}-{month:0>2}-{day:0>2}"))
    });
    three.and_then(|text| parse(&text, Order::DayFirst)).or_else(|| {
        segments.iter().find_map(|segment| {
            let iso = segment.get(..10).filter(|s| {
                s.bytes()
                    .enumerate()
                    .all(|(i, b)| if i == 4 || i == 7 { matches!(b, b'-' | b'_') } else { b.is_ascii_digit() })
            });
            iso.and_then(|text| parse(&text.replace('_', "-"), Order::DayFirst)).or_else(|| {
                let run = segment.get(..8).filter(|s| s.bytes().all(|b| b.is_ascii_digit()))?;
                let ends = segment.as_bytes().get(8).is_none_or(|b| !b.is_ascii_digit());
                ends.then(|| parse(run, Order::DayFirst)).flatten()
            })
        })
    })
}

/// A date written out in the lines around the beginning of the text.
fn of_text(outline: &Outline<'_>, place: &Place, order: Order) -> Option<Timestamp> {
    /// Longer lines are running text, whose dates are those of what it tells.
    const LONGEST: usize = 120;
    let lines = outline.blocks.iter().enumerate().filter(|(at, block)| place.near(*at) && block.chars <= LONGEST);
    lines.map(|(_, block)| block).find_map(|block| find(&block.text, order))
}

/// Where in the page a date of this article can stand.
struct Place {
    headline: Option<usize>,
    start: usize,
    end: usize,
}

impl Place {
    /// Lines around the headline, and around the beginning of the text, that are looked at.
    const AROUND: usize = 12;

    fn of(outline: &Outline<'_>, chosen: &Chosen) -> Place {
        let headline = outline.headings.iter().find(|(level, ..)| *level == 1).map(|(_, _, block)| *block);
        let end = if chosen.end == 0 { usize::MAX } else { chosen.end };
        Place { headline, start: chosen.start, end }
    }

    fn near(&self, block: usize) -> bool {
        let about = |at: usize| block + Place::AROUND / 2 >= at && block <= at + Place::AROUND;
        self.headline.is_some_and(about) || about(self.start)
    }

    fn before_end(&self, block: usize) -> bool {
        block <= self.end
    }
}
