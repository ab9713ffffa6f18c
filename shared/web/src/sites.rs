//! Pages about sites: the list of all that have pages in the index, and one page for each.

use crate::app::{App, CallerAddress};
use crate::hit::{HitView, site_page, web_url};
use crate::language::Language;
use crate::page::{self, REVALIDATED, Site};
use crate::params::Params;
use crate::quota::Allowance;
use crate::refine::{address, query_string};
use crate::text::{MAX_SITE, clipped};
use crate::words::{Search, Sites};
use crate::{home, host};
use askama::Template;
use axum::extract::{Path, State};
use axum::http::{StatusCode, Uri};
use axum::response::Response;
use curlew_catalog::results::{FindError, SearchHit, SiteEntry, Start};
use curlew_model::Timestamp;
use std::sync::Arc;
use url::Host;

/// Number of sites on one page of the list.
const SITES: usize = 200;
/// Number of newest pages on the page of a site.
const NEW: usize = 10;
/// Maximum number of pages of a site among which the oldest is looked for.
const SEARCHED: u64 = 10_000;

/// A site in the list.
struct SiteRow {
    host: String,
    page: Option<String>,
    pages: String,
    /// Day of the newest page, for programs and for people.
    newest: Option<(String, String)>,
}

#[derive(Template)]
#[template(path = "sites.html")]
struct SitesPage<'a> {
    site: Site<'a>,
    t: &'static Sites,
    counts: String,
    rows: Vec<SiteRow>,
    previous: Option<String>,
    next: Option<String>,
    /// Words such as `2 of 7`, if there are several pages.
    place: Option<String>,
}

#[derive(Template)]
#[template(path = "site.html")]
struct SitePage<'a> {
    site: Site<'a>,
    t: &'static Sites,
    name: String,
    host: String,
    /// Address of the site.
    home: String,
    /// Number of pages and since when, as a sentence.
    counts: String,
    /// The feed that names its newest page.
    feed: Option<String>,
    /// The query part of the addresses of our own feeds about it, if there are any.
    follow: Option<String>,
    new: Vec<HitView>,
    /// Address of the search for all pages.
    all: String,
    /// Query to begin a search of this site with.
    start: String,
}

/// `GET /sites`
pub(crate) async fn list(State(app): State<Arc<App>>, caller: CallerAddress, language: Language, uri: Uri) -> Response {
    let (site, t) = (app.site(language), Sites::in_language(language));
    if let Err(wait) = app.admit(Allowance::Search, caller) {
        return page::too_many(site, wait);
    }
    let sites = match app.services.search.sites().await {
        Ok(sites) => sites,
        Err(error) => return page::stage_error(site, "sites", &error.into()),
    };
    let last = sites.len().div_ceil(SITES).max(1);
    let number = Params::parse(&uri).ok().and_then(|params| params.number("page", 1).ok());
    let Some(number) = number.filter(|number| (1..=last).contains(number)) else {
        return page::no_such_page(site);
    };
    let link = |number: usize| if number == 1 { "/sites".to_owned() } else { format!("/sites?page={number}") };
    let rows = sites.iter().skip((number - 1) * SITES).take(SITES);
    let today = app.clock.now().day();
    let view = SitesPage {
        site,
        t,
        counts: home::counts(&sites, language),
        rows: rows.map(|site| row(site, language, &today)).collect(),
        previous: (number > 1).then(|| link(number - 1)),
        next: (number < last).then(|| link(number + 1)),
        place: (last > 1).then(|| format!("{number} {} {last}", Search::in_language(language).of)),
    };
    page::html(language, StatusCode::OK, REVALIDATED, &view)
}

fn row(site: &SiteEntry, language: Language, today: &str) -> SiteRow {
    let day = site.newest.day();
    SiteRow {
        host: host::display_name(&site.host),
        page: site_page(&site.host),
        pages: language.number(site.pages),
        newest: language.short_day(&day, today).map(|words| (day, words)),
    }
}

/// `GET /site/{host}`
pub(crate) async fn show(
    State(app): State<Arc<App>>,
    caller: CallerAddress,
    language: Language,
    Path(name): Path<String>,
) -> Response {
    let (site, t) = (app.site(language), Sites::in_language(language));
    let Some(name) = host_name(&name) else { return page::no_such_page(site) };
    if let Err(wait) = app.admit(Allowance::Search, caller) {
        return page::too_many(site, wait);
    }
    let query = format!("site:{name} {}", home::NEWEST);
    let found = match app.services.search.find(&query, Start::Offset(0), NEW).await {
        Ok(found) => found,
        Err(FindError::BadQuery(_)) => return page::no_such_page(site),
        Err(FindError::Port(error)) => return page::stage_error(site, "site", &error.into()),
    };
    let Some(first) = found.hits.first() else { return page::no_such_page(site) };
    let oldest = oldest(&app, &query, found.total).await;
    let now = app.clock.now();
    let number = language.number(found.total);
    let since = oldest.and_then(|at| language.day(&at.day()));
    let view = SitePage {
        site,
        t,
        name: Some(clipped(&first.site, MAX_SITE))
            .filter(|name| !name.is_empty())
            .unwrap_or_else(|| host::display_name(&name)),
        home: home_of(first, &name),
        host: host::display_name(&name),
        counts: (t.counts)(found.total, &number, since.as_deref()),
        feed: first.feed.as_deref().and_then(web_url).map(String::from),
        follow: site.opensearch.then(|| query_string(&format!("site:{name}"))),
        new: found.hits.iter().map(|hit| HitView::new(hit, language, now)).collect(),
        all: address(&query),
        start: format!("site:{name} "),
    };
    page::html(language, StatusCode::OK, REVALIDATED, &view)
}

/// Returns a host name in the form of the index: A-labels in lower case, without `www.`.
fn host_name(typed: &str) -> Option<String> {
    let Host::Domain(name) = Host::parse(typed).ok()? else { return None };
    let name = name.strip_prefix("www.").unwrap_or(&name);
    (site_page(name).is_some() && name.contains('.')).then(|| name.to_owned())
}

/// Returns the date of the oldest page of a query that is sorted by date.
async fn oldest(app: &App, query: &str, total: u64) -> Option<Timestamp> {
    let last = usize::try_from(total.min(SEARCHED)).ok()?.checked_sub(1).filter(|_| total <= SEARCHED)?;
    let found = app.services.search.find(query, Start::Offset(last), 1).await;
    found.ok()?.hits.first()?.published
}

/// Returns the address of a site's home page: that of its page's host if it is the site's own.
fn home_of(hit: &SearchHit, name: &str) -> String {
    let url = web_url(&hit.url).filter(|url| url.host_str().is_some_and(|host| host.ends_with(name)));
    url.and_then(|url| url.join("/").ok()).map_or_else(|| format!("https://{name}/"), String::from)
}

#[cfg(test)]
mod tests {
    use super::host_name;

    #[test]
    fn only_names_of_hosts_have_a_page() {
        assert_eq!(host_name("WWW.Tide.example").as_deref(), Some("tide.example"));
        assert_eq!(host_name("münchen.example").as_deref(), Some("xn--mnchen-3ya.example"));
        for bad in
            ["", "org", "127.0.0.1", "[::1]", "a b.example", "x.example lang:it", "x.example/../y", "%00.example"]
        {
            assert_eq!(host_name(bad), None, "{bad}");
        }
    }
}
