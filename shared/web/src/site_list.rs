//! The list of all sites that have pages in the index, as a page and in the API.

use crate::api::{self, Refusal};
use crate::app::{App, ErrorPage, PageRequest};
use crate::hit::{initial_of, site_page};
use crate::language::Language;
use crate::page::{REVALIDATED, Site};
use crate::params::{MAX_REACH, Params};
use crate::quota::Allowance;
use crate::text::{MAX_SITE, clean, clipped};
use crate::words::{Search, Sites};
use crate::{home, host};
use askama::Template;
use axum::http::{StatusCode, Uri};
use axum::response::Response;
use curlew_catalog::results::SiteProfile;
use curlew_model::Timestamp;
use curlew_people::directory::{SiteNotes, notes_on};
use curlew_ports::PortError;
use curlew_ports::stage::StageError;
use schemars::JsonSchema;
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::BTreeSet;
use url::form_urlencoded;

const SITES: usize = 50;
const LETTERS: usize = 40;
/// Maximum length of a displayed description, in characters.
const MAX_DESCRIPTION: usize = 140;
/// Values of the parameter `order`, in the order of their labels in `Sites::orders`. The first is the default.
const ORDERS: [&str; 3] = ["name", "newest", "pages"];

struct SiteRow {
    name: String,
    host: String,
    page: Option<String>,
    initial: String,
    pages: String,
    /// Day of the newest page: in ISO 8601, and in words.
    newest: Option<(String, String)>,
    language: Option<String>,
    description: String,
}

/// Filter and order of the list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Choice<'a> {
    /// Text that the name or the host contains; empty for all sites.
    filter: &'a str,
    /// First letter of the name; empty for all sites.
    letter: &'a str,
    /// Index of the order in [`ORDERS`].
    order: usize,
}

#[derive(Template)]
#[template(path = "sites.html")]
struct SitesPage<'a> {
    site: Site<'a>,
    t: &'static Sites,
    /// Numbers of all pages and sites, in words; `None` if there are no sites.
    counts: Option<String>,
    filter: &'a str,
    /// Value and label of each order, and whether it is the current one.
    orders: Vec<(&'static str, &'static str, bool)>,
    /// Each first letter, the link to its sites, and whether it is the current one.
    letters: Vec<(String, String, bool)>,
    rows: Vec<SiteRow>,
    previous: Option<String>,
    next: Option<String>,
    /// Words such as `2 of 7`, if there are several pages.
    place: Option<String>,
}

/// `GET /sites?filter=&letter=&order=&page=`
pub(crate) async fn show(request: PageRequest, uri: Uri) -> Result<Response, ErrorPage> {
    request.admit(Allowance::Search)?;
    let (app, language, t) = (&request.app, request.language, Sites::in_language(request.language));
    let sites = request.tried("sites", app.services.search.site_profiles()).await?;
    let params = Params::parse(&uri).map_err(|_| request.no_such_page())?;
    let choice = Choice::new(&params);
    let chosen = choice.select(&sites);
    let last = chosen.len().div_ceil(SITES).max(1);
    let number = params.number("page", 1).ok().filter(|number| (1..=last).contains(number));
    let number = number.ok_or_else(|| request.no_such_page())?;
    let part: Vec<&SiteProfile> = chosen.into_iter().skip((number - 1) * SITES).take(SITES).collect();
    let notes = request.tried("sites", notes(app, &part)).await?;
    let now = app.clock.now();
    let view = SitesPage {
        site: request.site(),
        t,
        counts: (!sites.is_empty()).then(|| home::counts(sites.iter().map(|site| &site.site), language)),
        filter: choice.filter,
        orders: (0..ORDERS.len()).map(|order| (ORDERS[order], t.orders[order], order == choice.order)).collect(),
        letters: letters(&sites, choice, t),
        rows: part.iter().zip(notes).map(|(site, notes)| row(site, notes, language, now)).collect(),
        previous: (number > 1).then(|| choice.address(number - 1)),
        next: (number < last).then(|| choice.address(number + 1)),
        place: (last > 1).then(|| format!("{number} {} {last}", Search::in_language(language).of)),
    };
    Ok(request.html(StatusCode::OK, REVALIDATED, &view))
}

impl<'a> Choice<'a> {
    fn new(params: &'a Params) -> Choice<'a> {
        let text = |name: &str| params.get(name).unwrap_or_default().trim();
        let order = ORDERS.iter().position(|order| *order == text("order")).unwrap_or_default();
        Choice { filter: text("filter"), letter: text("letter"), order }
    }

    /// Returns the sites that match the filter and the letter, in their original order.
    fn chosen<'s>(&self, sites: &'s [SiteProfile]) -> Vec<&'s SiteProfile> {
        let filter = host::display_name(&self.filter.to_lowercase());
        let is_chosen = |site: &&SiteProfile| {
            let has_text = || {
                // Hosts are matched in displayed form, not in punycode: "3ya" does not match "münchen".
                let names = [shown_name(site).to_lowercase(), host::display_name(&site.site.host)];
                names.iter().any(|name| name.contains(&filter))
            };
            (self.letter.is_empty() || initial_of(&shown_name(site)).as_deref() == Some(self.letter))
                && (filter.is_empty() || has_text())
        };
        sites.iter().filter(is_chosen).collect()
    }

    /// Returns the sites that match the filter and the letter, in the chosen order.
    fn select<'s>(&self, sites: &'s [SiteProfile]) -> Vec<&'s SiteProfile> {
        let mut chosen = self.chosen(sites);
        match self.order {
            1 => chosen.sort_by_key(|site| Reverse(site.site.newest)),
            2 => chosen.sort_by_key(|site| Reverse(site.site.pages)),
            _ => chosen.sort_by_cached_key(|site| shown_name(site).to_lowercase()),
        }
        chosen
    }

    fn address(&self, page: usize) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        let order = ORDERS[self.order];
        for (name, value) in [("filter", self.filter), ("letter", self.letter), ("order", order)] {
            if !value.is_empty() && value != ORDERS[0] {
                query.append_pair(name, value);
            }
        }
        if page > 1 {
            query.append_pair("page", &page.to_string());
        }
        let query = query.finish();
        if query.is_empty() { "/sites".to_owned() } else { format!("/sites?{query}") }
    }
}

/// Returns a link to all sites, then the first letters of all names with links to their sites.
fn letters(sites: &[SiteProfile], choice: Choice<'_>, t: &Sites) -> Vec<(String, String, bool)> {
    let all: BTreeSet<String> = sites.iter().filter_map(|site| initial_of(&shown_name(site))).collect();
    let link = |letter: &str, words: &str| {
        let chosen = Choice { letter, filter: "", ..choice };
        (words.to_owned(), chosen.address(1), letter == choice.letter)
    };
    let letters = all.iter().take(LETTERS).map(|letter| link(letter, letter));
    std::iter::once(link("", t.all_letters)).chain(letters).collect()
}

/// Returns the displayed name of a site, or its displayed host if it has no name.
fn shown_name(profile: &SiteProfile) -> String {
    let name = clipped(&profile.name, MAX_SITE);
    if name.is_empty() || name == profile.site.host { host::display_name(&profile.site.host) } else { name }
}

async fn notes(app: &App, sites: &[&SiteProfile]) -> Result<Vec<SiteNotes>, PortError> {
    let feeds = sites.iter().map(|site| site.feed.clone()).collect();
    notes_on(app.services.sources.as_ref(), feeds).await
}

fn row(profile: &SiteProfile, notes: SiteNotes, language: Language, now: Timestamp) -> SiteRow {
    let (site, name) = (&profile.site, shown_name(profile));
    let day = site.newest.day();
    let description = clipped(&notes.description.unwrap_or_default(), MAX_DESCRIPTION);
    SiteRow {
        page: site_page(&site.host),
        initial: initial_of(&name).unwrap_or_else(|| "·".to_owned()),
        pages: (Sites::in_language(language).pages)(site.pages),
        newest: language.short_day(&day, &now.day()).map(|words| (day, words)),
        language: profile.language.as_deref().and_then(|tag| language.name_of(tag)),
        description: if name == description { String::new() } else { description },
        host: host::display_name(&site.host),
        name,
    }
}

/// A part of the list for programs.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Sites")]
pub(crate) struct SitePart {
    /// Number of all sites that match the filter.
    total: usize,
    sites: Vec<SiteForPrograms>,
    /// The cursor of the next part, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

/// A site for programs.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Site")]
struct SiteForPrograms {
    host: String,
    /// The site's name, or else its host.
    name: String,
    /// The description that its feed states.
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    /// Language of its newest page.
    #[serde(skip_serializing_if = "Option::is_none")]
    language: Option<String>,
    feeds: Vec<String>,
    /// Number of its pages in the index.
    pages: u64,
    /// Date of its newest page.
    #[schemars(with = "String", extend("format" = "date-time"))]
    newest: Timestamp,
}

/// `GET /api/v1/sites?filter=&limit=&cursor=`
pub(crate) async fn answer(request: PageRequest, uri: Uri) -> Result<Response, Refusal> {
    Ok(api::answer(part(&request, &api::params(&uri)?).await?))
}

/// Returns a part of the sites that match a filter, sorted by host. The cursor is the host after which the part begins.
pub(crate) async fn part(request: &PageRequest, params: &Params) -> Result<SitePart, Refusal> {
    let limit = api::limit(params, MAX_REACH)?;
    api::admit(request)?;
    let app = &request.app;
    let part = async {
        let sites = app.services.search.site_profiles().await?;
        let after = params.get("cursor").unwrap_or_default();
        let filter = params.get("filter").unwrap_or_default().trim();
        let chosen = Choice { filter, ..Choice::default() }.chosen(&sites);
        let first = chosen.partition_point(|site| site.site.host.as_str() <= after);
        let part: Vec<&SiteProfile> = chosen.iter().skip(first).take(limit).copied().collect();
        let notes = notes(app, &part).await?;
        let next = part.last().filter(|_| first + limit < chosen.len()).map(|site| site.site.host.clone());
        let sites_of_part = part.into_iter().zip(notes).map(|(site, notes)| SiteForPrograms::new(site, notes));
        Ok(SitePart { total: chosen.len(), sites: sites_of_part.collect(), next })
    };
    part.await.map_err(|error: StageError| api::out_of_reach("sites", &error))
}

impl SiteForPrograms {
    fn new(site: &SiteProfile, notes: SiteNotes) -> SiteForPrograms {
        SiteForPrograms {
            host: site.site.host.clone(),
            name: clean(&site.name),
            description: notes.description.as_deref().map(clean),
            language: site.language.clone(),
            feeds: notes.feeds.into_iter().filter(|feed| crate::hit::web_url(feed).is_some()).collect(),
            pages: site.site.pages,
            newest: site.site.newest,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use curlew_catalog::results::SiteEntry;

    fn site(host: &str, name: &str, pages: u64, newest: i64) -> SiteProfile {
        let site = SiteEntry { host: host.to_owned(), pages, newest: Timestamp::from_millis(newest) };
        SiteProfile { site, name: name.to_owned(), ..SiteProfile::default() }
    }

    #[test]
    fn sites_are_chosen_by_text_or_letter_and_ordered() {
        let sites = [
            site("a.example", "Tidal Notes", 3, 1),
            site("b.example", "bird blog", 1, 3),
            site("xn--mnchen-3ya.example", "xn--mnchen-3ya.example", 2, 2),
        ];
        let hosts = |choice: Choice<'_>| -> Vec<&str> {
            choice.select(&sites).into_iter().map(|site| site.site.host.as_str()).collect()
        };
        let all = Choice::default();
        assert_eq!(hosts(all), ["b.example", "xn--mnchen-3ya.example", "a.example"], "by name");
        assert_eq!(hosts(Choice { order: 1, ..all })[0], "b.example");
        assert_eq!(hosts(Choice { order: 2, ..all })[0], "a.example");
        assert_eq!(hosts(Choice { letter: "B", ..all }), ["b.example"]);
        for filter in ["NOTES", "a.ex"] {
            assert_eq!(hosts(Choice { filter, ..all }), ["a.example"], "{filter}");
        }
        assert_eq!(hosts(Choice { filter: "mün", ..all }), ["xn--mnchen-3ya.example"]);
        assert_eq!(all.address(1), "/sites");
        let chosen = Choice { filter: "a b", letter: "B", order: 2 };
        assert_eq!(chosen.address(3), "/sites?filter=a+b&letter=B&order=pages&page=3");
    }
}
