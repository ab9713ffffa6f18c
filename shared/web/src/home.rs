//! The start page: the search form, the newest pages, and examples of queries that find something.

use crate::app::{App, PageRequest};
use crate::hit::{HitView, WEEK, days_between, web_url};
use crate::language::Language;
use crate::page::{REVALIDATED, Site};
use crate::quota::Allowance;
use crate::refine::address;
use crate::words::{EXAMPLES, Search, example_query};
use askama::Template;
use axum::http::StatusCode;
use axum::response::Response;
use curlew_catalog::results::{SearchHit, SearchResults, SiteEntry, Start};
use curlew_model::Timestamp;

const NEW: usize = 8;
/// Query for the newest of all pages.
pub(crate) const NEWEST: &str = "sort:date";
/// Lengths in characters of words that are used in examples.
const WORD: std::ops::RangeInclusive<usize> = 4..=20;

/// Length in characters of the prefix in the example with `*`.
const BEGINNING: usize = 4;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Example {
    pub(crate) query: String,
    /// Address of the query's results, if it finds something.
    pub(crate) href: Option<String>,
    pub(crate) meaning: &'static str,
}

#[derive(Template)]
#[template(path = "home.html")]
struct Home<'a> {
    site: Site<'a>,
    t: &'static Search,
    origin: Option<&'a str>,
    /// The newest pages, grouped under the name of their day.
    groups: Vec<(&'static str, Vec<HitView>)>,
    counts: Option<String>,
    examples: Vec<Example>,
}

/// Renders the start page. It shows the form alone if the index is unreachable or the caller has searched too often.
pub(crate) async fn show(request: &PageRequest) -> Response {
    let (app, language, t) = (&request.app, request.language, Search::in_language(request.language));
    let newest = if app.admit(Allowance::Search, request.caller).is_ok() { newest(app, NEW).await } else { None };
    let newest = newest.unwrap_or_default();
    let now = app.clock.now();
    let sites = match newest.hits.is_empty() {
        true => None,
        false => app.services.search.sites().await.inspect_err(|error| log("sites", error)).ok(),
    };
    let view = Home {
        site: request.site(),
        t,
        origin: app.origin.as_deref(),
        counts: sites.map(|sites| counts(sites.iter(), language)),
        examples: examples(&newest.hits, language),
        groups: by_day(&newest.hits, language, now),
    };
    request.html(StatusCode::OK, REVALIDATED, &view)
}

/// Groups hits that are sorted by date: today, yesterday, last week, older. If all are old, the group has no name.
fn by_day(hits: &[SearchHit], language: Language, now: Timestamp) -> Vec<(&'static str, Vec<HitView>)> {
    let names = Search::in_language(language).groups;
    let place = |hit: &SearchHit| match days_between(hit.date, now) {
        ..=0 => 0,
        1 => 1,
        2..=WEEK => 2,
        _ => 3,
    };
    let view = |hit: &SearchHit| {
        let view = HitView::new(hit, language, now);
        // The name of the group already states the day.
        if place(hit) < 2 { HitView { day: None, ..view } } else { view }
    };
    let is_old = hits.iter().all(|hit| place(hit) == names.len() - 1);
    let name = |group: &[SearchHit]| if is_old { "" } else { names[place(&group[0])] };
    let groups = hits.chunk_by(|one, other| place(one) == place(other));
    groups.map(|group| (name(group), group.iter().map(view).collect())).collect()
}

pub(crate) fn counts<'a>(sites: impl ExactSizeIterator<Item = &'a SiteEntry>, language: Language) -> String {
    let count = sites.len() as u64;
    let pages = sites.map(|site| site.pages).sum();
    (Search::in_language(language).pages_of_sites)(pages, count)
}

/// Returns the newest pages, or `None` if the index is unreachable.
pub(crate) async fn newest(app: &App, count: usize) -> Option<SearchResults> {
    let found = app.services.search.find(NEWEST, Start::Offset(0), count).await;
    found.inspect_err(|error| log("newest", error)).ok()
}

fn log(tried: &'static str, error: &dyn std::error::Error) {
    tracing::error!(tried, %error, "the start page shows less than it could");
}

/// Returns examples of queries, with words of these pages, or with invented words if the pages give no example.
pub(crate) fn examples(hits: &[SearchHit], language: Language) -> Vec<Example> {
    let found = words(hits);
    let found: Vec<(&str, &str)> = found.iter().map(|(name, word)| (*name, word.as_str())).collect();
    let filled = |words: &[(&str, &str)], is_found: bool| -> Vec<Example> {
        let example = |(pattern, english, italian): &(&str, &'static str, &'static str)| {
            let query = example_query(pattern, words)?;
            let href = is_found.then(|| address(&query));
            Some(Example { query, href, meaning: language.choose(english, italian) })
        };
        EXAMPLES.iter().filter_map(example).collect()
    };
    let examples = filled(&found, true);
    if examples.is_empty() { filled(&Search::in_language(language).example_words, false) } else { examples }
}

/// Picks words of pages for the examples, each with its name in [`EXAMPLES`].
fn words(hits: &[SearchHit]) -> Vec<(&'static str, String)> {
    let titles: Vec<(&SearchHit, Vec<&str>)> = hits.iter().map(|hit| (hit, words_of(&hit.title))).collect();
    let mut words = Vec::new();
    if let Some((at, (_, [one, other, ..]))) =
        titles.iter().map(|(hit, words)| (hit, &words[..])).enumerate().find(|(_, (_, words))| words.len() > 1)
    {
        let lower = one.to_lowercase();
        words.push(("beginning", lower.chars().take(BEGINNING).collect()));
        words.extend([("one", lower), ("other", other.to_lowercase())]);
        let repeats = |hit: &SearchHit| hit.title.to_lowercase().contains(&one.to_lowercase());
        let mut others = titles.iter().enumerate().filter(|(place, (hit, _))| *place != at && !repeats(hit));
        if let Some((_, (hit, longest))) = others.find(|(_, (_, words))| !words.is_empty()) {
            words.push(("third", longest[0].to_lowercase()));
            words.extend(web_url(&hit.url).and_then(|url| Some(("site", url.host_str()?.to_owned()))));
            words.extend(hit.language.clone().filter(|tag| tag.len() == 2).map(|tag| ("language", tag)));
            if let Some(year) = hit.published.map(|at| i64::from(at.year())) {
                words.extend([("after", format!("{year:04}-01-01")), ("before", format!("{:04}-01-01", year + 1))]);
            }
        }
    }
    let phrases = hits.iter().filter_map(|hit| phrase(&hit.title));
    words.extend(phrases.max_by_key(|phrase| phrase.chars().count()).map(|phrase| ("phrase", phrase)));
    let is_name = |name: &&String| name.chars().all(|c| c.is_alphabetic() || c == ' ') && name.chars().count() <= 30;
    let author = hits.iter().filter_map(|hit| hit.author.as_ref()).find(is_name);
    words.extend(author.map(|author| ("author", author.clone())));
    words
}

fn is_word(word: &str) -> bool {
    WORD.contains(&word.chars().count()) && word.chars().all(char::is_alphabetic)
}

/// Returns the distinct words of a title that fit an example, the longest first.
fn words_of(title: &str) -> Vec<&str> {
    let mut words: Vec<&str> = title.split(|c: char| !c.is_alphanumeric()).filter(|word| is_word(word)).collect();
    words.sort_by_key(|word| (std::cmp::Reverse(word.chars().count()), *word));
    words.dedup_by_key(|word| word.to_lowercase());
    words
}

/// Returns two adjacent words of a title that fit an example.
fn phrase(title: &str) -> Option<String> {
    let words: Vec<&str> = title.split(' ').collect();
    let pair = words.windows(2).find(|pair| pair.iter().all(|word| is_word(word)))?;
    Some(pair.join(" ").to_lowercase())
}
