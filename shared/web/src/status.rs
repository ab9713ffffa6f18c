//! The status page: the program's state and activity, in numbers.

use crate::api::{self, JSON, Problem, Refusal};
use crate::app::{App, ErrorPage, PageRequest};
use crate::language::Language;
use crate::page::{self, Site, typed};
use crate::system_status::{QueueStatus, SystemStatus};
use crate::words;
use askama::Template;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use curlew_model::{SourceKey, Timestamp};
use curlew_people::activity::DayCounts;
use curlew_people::stats::PublicCounts;
use schemars::JsonSchema;
use serde::Serialize;
use std::sync::Arc;

/// Key of a row that does not exist. The health check reads it to see whether rows can be read.
const NO_SOURCE: &str = "00000000000000000000000000000000";
/// Height of a chart's highest bar, and width of a bar with the gap after it.
const CHART: (u64, usize) = (48, 10);

#[derive(Template)]
#[template(path = "status.html")]
struct StatusPage<'a> {
    site: Site<'a>,
    t: &'static words::Status,
    numbers: Vec<Row>,
    sections: Vec<Section>,
    /// Names of the queues with the numbers of jobs that are due, waiting, under way and given up.
    queues: Vec<(&'static str, [String; 4])>,
    charts: Vec<Chart>,
    /// The days of the charts with their numbers, the newest first.
    days: Vec<(String, [String; 3])>,
    /// A sentence about the oldest job.
    oldest: Option<String>,
    /// A sentence about the time of the weekly counts, or their absence; `None` if they were counted just now.
    counted: Option<String>,
}

struct Chart {
    /// Prefix of the ids of the chart's elements.
    id: &'static str,
    name: &'static str,
    sentence: String,
    bars: Vec<Bar>,
}

/// Position and size of a bar, in the units of [`CHART`].
struct Bar {
    x: usize,
    y: u64,
    height: u64,
}

/// Facts under a heading.
struct Section {
    heading: &'static str,
    rows: Vec<Row>,
    /// The text for an empty section.
    none: &'static str,
}

struct Row {
    name: String,
    value: String,
    /// The value in machine-readable form, if it is a time.
    at: Option<Timestamp>,
    /// The time in full, in words.
    note: String,
}

/// The status for programs.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Status")]
pub(crate) struct ForPrograms {
    status: Arc<SystemStatus>,
}

/// `GET /status`
pub(crate) async fn show(request: PageRequest) -> Result<Response, ErrorPage> {
    let status = request.tried("status", request.app.status.get()).await?;
    let page = StatusPage::new(request.site(), &status, request.app.clock.now());
    Ok(request.html(StatusCode::OK, "no-store", &page))
}

/// `GET /status.json`
pub(crate) async fn json(State(app): State<Arc<App>>) -> Result<Response, Refusal> {
    let status = app.status.get().await.map_err(|error| api::out_of_reach("status", &error))?;
    Ok((typed(JSON, "no-store"), Json(ForPrograms { status })).into_response())
}

/// `GET /healthz`: checks that rows and objects of the store can be read. It logs only errors.
pub(crate) async fn health(State(app): State<Arc<App>>) -> Response {
    let store = async {
        if let Ok(key) = SourceKey::new(NO_SOURCE) {
            app.services.sources.get(&key).await?;
        }
        app.services.blobs.list("manifests/", None, 1).await
    };
    match store.await {
        Ok(_) => (typed("text/plain; charset=utf-8", "no-store"), "ok").into_response(),
        Err(error) => {
            page::outcome("health", &error.into());
            api::problem(Problem::UNAVAILABLE, "The store cannot be read: the log of this server says why.")
        }
    }
}

impl StatusPage<'_> {
    fn new<'a>(site: Site<'a>, status: &SystemStatus, now: Timestamp) -> StatusPage<'a> {
        let (language, t) = (site.language, words::Status::in_language(site.language));
        let row = |name: &str, count: u64| Row {
            name: name.to_owned(),
            value: language.number(count),
            at: None,
            note: String::new(),
        };
        let mut numbers = vec![row(t.findable, status.index.iter().map(|year| year.pages).sum())];
        let mut sections = Vec::new();
        // The pages of each year, unless all pages are from one year.
        if status.index.len() > 1 {
            let rows = status.index.iter().map(|year| row(&(t.of_year)(year.year), year.pages)).collect();
            sections.push(Section { heading: t.index, rows, none: "" });
        }
        if let Some(counted) = &status.counted {
            numbers.push(row(t.sites, counted.sites));
            // The number of sites is at the top of the page already.
            let rows = counts(t, counted).into_iter().skip(1).map(|(name, n)| row(name, n)).collect();
            sections.push(Section { heading: t.crawl, rows, none: "" });
            let held = counted.held.iter().map(|(why, hosts)| row(words::status::hold(language, *why), *hosts));
            sections.push(Section { heading: t.holds, rows: held.collect(), none: t.no_holds });
        }
        if let Some(at) = status.index.iter().filter_map(|year| year.published).max() {
            let value = (t.ago)(&language.roughly(now.since(at)));
            numbers.push(Row { name: t.published.to_owned(), value, at: Some(at), note: language.moment(at) });
        }
        let queue = |QueueStatus { stage, count }: &QueueStatus| {
            let numbers = [count.ready, count.waiting, count.in_flight, count.dead];
            (words::status::stage(language, *stage), numbers.map(|n| language.number(n)))
        };
        let day = |of: &DayCounts| {
            let numbers = [of.polls, of.accepted, of.holds].map(|n| language.number(n));
            (language.day(&of.day).unwrap_or_else(|| of.day.clone()), numbers)
        };
        StatusPage {
            site,
            t,
            numbers,
            sections,
            queues: status.queues.iter().map(queue).collect(),
            charts: charts(language, &status.activity),
            days: status.activity.iter().rev().map(day).collect(),
            oldest: status.due_since.map(|due| (t.oldest)(&language.roughly(now.since(due)))),
            counted: match (&status.counted, status.counted_at) {
                (None, _) => Some(t.not_counted.to_owned()),
                (Some(_), at) => at.map(|at| (t.counted_at)(&language.moment(at))),
            },
        }
    }
}

type DayNumber = fn(&DayCounts) -> u64;

/// Returns the charts of the last days; empty if there are no days yet.
fn charts(language: Language, days: &[DayCounts]) -> Vec<Chart> {
    let t = words::Status::in_language(language);
    let kinds: [(_, _, DayNumber); 3] = [
        ("polls", t.polls, |of| of.polls),
        ("accepted", t.accepted, |of| of.accepted),
        ("holds", t.laid, |of| of.holds),
    ];
    let chart = |(id, name, number): (&'static str, &'static str, DayNumber)| {
        let most = days.iter().map(number).max().unwrap_or_default();
        let all = days.iter().map(number).sum();
        // A number above zero always has a visible bar.
        let height = |n: u64| if n == 0 { 0 } else { (n.saturating_mul(CHART.0) / most.max(1)).max(1) };
        let bar = |(x, of): (usize, &DayCounts)| {
            let height = height(number(of));
            Bar { x: x * CHART.1, y: CHART.0 - height, height }
        };
        let sentence = (t.in_days)(&language.number(all), &language.number(most));
        Chart { id, name, sentence, bars: days.iter().enumerate().map(bar).collect() }
    };
    if days.is_empty() { vec![] } else { kinds.map(chart).into() }
}

/// Returns the counts of sites, feeds and pages, each with its name.
pub(crate) fn counts(t: &words::Status, counted: &PublicCounts) -> [(&'static str, u64); 6] {
    [
        (t.sites, counted.sites),
        (t.feeds, counted.feeds),
        (t.accepted, counted.accepted),
        (t.pending, counted.pending),
        (t.rejected, counted.rejected),
        (t.gone, counted.gone),
    ]
}
