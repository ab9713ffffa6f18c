//! Pages about sites and about collections, which are the folders of the operator's list of feeds.

use crate::app::{App, ErrorPage, PageRequest};
use crate::hit::{HitView, site_page, web_url};
use crate::page::{REVALIDATED, Site};
use crate::quota::Allowance;
use crate::refine::{address, query_string};
use crate::text::{MAX_SITE, clipped};
use crate::words::Sites;
use crate::{home, host};
use askama::Template;
use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::Response;
use curlew_catalog::results::{FindError, SearchHit, SearchResults, Start};
use curlew_model::Timestamp;
use curlew_people::directory::notes;
use url::{Host, form_urlencoded};

/// Number of newest pages on the page of a site.
const NEW: usize = 10;
/// Maximum number of feeds that the page of a site links to.
const FEEDS: usize = 3;
/// Maximum length of a displayed description, in characters.
const MAX_DESCRIPTION: usize = 300;
/// Maximum number of pages of a site for which the oldest page is looked up.
const SEARCHED: u64 = 10_000;

/// The page about a site or a collection. A collection has neither a host nor a home page.
#[derive(Template)]
#[template(path = "site.html")]
struct SitePage<'a> {
    site: Site<'a>,
    t: &'static Sites,
    name: String,
    host: String,
    home: Option<String>,
    description: String,
    /// Sentence with the number of pages and the date of the oldest one.
    counts: String,
    feeds: Vec<String>,
    /// Name and address of each collection that the site is in.
    collections: Vec<(String, String)>,
    /// Query part of the URLs of our feeds of these pages, if we serve feeds.
    follow: Option<String>,
    new: Vec<HitView>,
    /// Address of the search for all pages.
    all: String,
    /// Filter with which a search of these pages begins.
    start: String,
}

/// `GET /site/{host}`
pub(crate) async fn show(request: PageRequest, Path(name): Path<String>) -> Result<Response, ErrorPage> {
    let name = host_name(&name).ok_or_else(|| request.no_such_page())?;
    request.admit(Allowance::Search)?;
    let filter = format!("site:{name}");
    let found = newest(&request, "site", &filter).await?;
    let first = found.hits.first().ok_or_else(|| request.no_such_page())?;
    let notes = request.tried("site", notes(request.app.services.sources.as_ref(), first.feed.clone())).await?;
    let title = Some(clipped(&first.site, MAX_SITE)).filter(|title| !title.is_empty());
    let mut view = SitePage {
        host: host::display_name(&name),
        home: Some(home_of(first, &name)),
        description: clipped(notes.description.as_deref().unwrap_or_default(), MAX_DESCRIPTION),
        collections: notes.folder.iter().map(|name| (clipped(name, MAX_SITE), collection_page(name))).collect(),
        feeds: notes.feeds.iter().filter_map(|feed| web_url(feed)).take(FEEDS).map(String::from).collect(),
        ..SitePage::new(&request, title.unwrap_or_else(|| host::display_name(&name)), &filter, &found).await
    };
    // The heading names the site, so each hit names its author instead.
    for hit in &mut view.new {
        (hit.site_page, hit.site) = (None, hit.author.take().unwrap_or_default());
    }
    Ok(request.html(StatusCode::OK, REVALIDATED, &view))
}

/// `GET /c/{name}`: the newest pages of a collection.
pub(crate) async fn collection(request: PageRequest, Path(name): Path<String>) -> Result<Response, ErrorPage> {
    request.admit(Allowance::Search)?;
    let name = clipped(&name.replace('"', " "), MAX_SITE);
    let filter = format!("in:\"{name}\"");
    let found = newest(&request, "collection", &filter).await?;
    // The query drops a filter with an invalid name, and then finds all pages.
    if !found.notes.is_empty() || found.hits.is_empty() {
        return Err(request.no_such_page());
    }
    let view = SitePage::new(&request, name, &filter, &found).await;
    Ok(request.html(StatusCode::OK, REVALIDATED, &view))
}

/// Returns the newest pages that match a filter, or a 404 page if the filter cannot be parsed.
async fn newest(request: &PageRequest, tried: &'static str, filter: &str) -> Result<SearchResults, ErrorPage> {
    let query = format!("{filter} {}", home::NEWEST);
    request.app.services.search.find(&query, Start::Offset(0), NEW).await.map_err(|error| match error {
        FindError::BadQuery(_) => request.no_such_page(),
        FindError::Port(error) => request.failed(tried, error),
    })
}

impl<'a> SitePage<'a> {
    async fn new(request: &'a PageRequest, name: String, filter: &str, found: &SearchResults) -> SitePage<'a> {
        let (app, site, language) = (&request.app, request.site(), request.language);
        let (t, now) = (Sites::in_language(language), app.clock.now());
        let query = format!("{filter} {}", home::NEWEST);
        let since = oldest(app, &query, found.total).await.and_then(|at| language.day(&at.day()));
        SitePage {
            site,
            t,
            name,
            host: String::new(),
            home: None,
            description: String::new(),
            counts: (t.counts)(found.total, since.as_deref()),
            feeds: Vec::new(),
            collections: Vec::new(),
            follow: site.opensearch.then(|| query_string(filter)),
            new: found.hits.iter().map(|hit| HitView::new(hit, language, now)).collect(),
            all: address(&query),
            start: format!("{filter} "),
        }
    }
}

fn collection_page(name: &str) -> String {
    format!("/c/{}", form_urlencoded::byte_serialize(name.as_bytes()).collect::<String>().replace('+', "%20"))
}

/// Returns a host name in the index's form (A-labels in lower case, without `www.`); `None` if it is not a host name.
pub(crate) fn host_name(typed: &str) -> Option<String> {
    let Host::Domain(name) = Host::parse(typed).ok()? else { return None };
    let name = curlew_text::url::bare(&name);
    (site_page(name).is_some() && name.contains('.')).then(|| name.to_owned())
}

/// Returns the date of the last page of a query that is sorted by date; `None` beyond [`SEARCHED`] pages.
async fn oldest(app: &App, query: &str, total: u64) -> Option<Timestamp> {
    let last = usize::try_from(total.min(SEARCHED)).ok()?.checked_sub(1).filter(|_| total <= SEARCHED)?;
    let found = app.services.search.find(query, Start::Offset(last), 1).await;
    found.ok()?.hits.first()?.published
}

/// Returns the URL of a site's home page: on the hit's host if its name ends with `name`, else on `name`.
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
        let others = " | org | 127.0.0.1 | [::1] | a b.example | x.example lang:it | x.example/../y | %00.example";
        for bad in others.split(" | ") {
            assert_eq!(host_name(bad), None, "{bad}");
        }
    }
}
