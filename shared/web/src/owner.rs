//! The pages for site owners: claim a site, prove ownership, see the stored state, make requests.
//!
//! The URL of a claim's page contains the claim's key. Anybody who knows the URL may do everything that the page
//! offers; nobody else can forge its forms, so they have no token. Requests are passed on; nothing is fetched here.

use crate::app::{ErrorPage, PageRequest};
use crate::claim;
use crate::form::{self, Filled, FormError, FormView, Notice};
use crate::hit::web_url;
use crate::language::Language;
use crate::page::{self, Site};
use crate::quota::Allowance;
use crate::text::clean;
use crate::words::{self, Owner, Suggest};
use askama::Template;
use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use curlew_model::{BackfillLine, Challenge, FeedLine, OwnerRequest, PageLine, ReportedState, Timestamp};
use curlew_people::block::BlockedBy;
use curlew_people::ownership::{ClaimView, HostView, RequestOutcome};
use curlew_ports::stage::StageError;
use serde::Deserialize;

/// Maximum length of a host name (RFC 1035 §2.3.4).
const MAX_HOST: usize = 253;

#[derive(Template)]
#[template(path = "owner.html")]
struct BeginPage<'a> {
    site: Site<'a>,
    t: &'static Owner,
    host: &'a str,
    form: &'a FormView,
}

#[derive(Template)]
#[template(path = "claim.html")]
struct OwnerPage<'a> {
    site: Site<'a>,
    t: &'static Owner,
    path: &'a str,
    claimed: &'a ClaimView,
    challenge: &'a str,
    notice: Option<Notice>,
    /// Requests that are not carried out yet.
    waits: Vec<&'static str>,
    /// Places in which the challenge was not found, and the reasons.
    misses: Vec<(&'static str, &'static str)>,
    proven: Option<String>,
    /// The stored state of the site, and its displayed form.
    kept: Option<(&'a HostView, Shown)>,
}

#[derive(Default)]
struct Shown {
    rows: Vec<(&'static str, String)>,
    robots: Option<String>,
    told_at: Option<String>,
    counts: Vec<(&'static str, String)>,
    /// Feeds, back catalogues and pages, each list with its heading.
    lists: Vec<(&'static str, Vec<Line>)>,
}

struct Line {
    url: String,
    href: Option<String>,
    words: String,
}

/// Path parameters of a claim's page.
#[derive(Deserialize)]
pub(crate) struct ClaimPath {
    host: String,
    key: String,
}

/// A claim whose key is genuine.
struct Claim {
    host: String,
    path: String,
    challenge: Challenge,
}

/// `GET /owner`
pub(crate) async fn begin(request: PageRequest) -> Response {
    beginning(&request, "", &FormView::fresh(&request, None))
}

/// `POST /owner`: begins a claim, and redirects to its page.
pub(crate) async fn claim(request: PageRequest, filled: Filled) -> Response {
    let host = match admit(&request, &filled) {
        Ok(host) => host,
        Err(error) => {
            return beginning(&request, filled.get("host"), &FormView::refused(&request, &filled, error));
        }
    };
    let app = &request.app;
    let key = claim::issue(&app.settings.secret, &host, app.clock.now(), app.next_serial());
    Redirect::to(&path(&host, &key)).into_response()
}

/// Returns the claimed host. Uses up the form's token.
fn admit(request: &PageRequest, filled: &Filled) -> Result<String, FormError> {
    let ticket = form::ticket(request, filled)?;
    let typed = filled.get("host");
    if typed.is_empty() {
        return Err(FormError::unfit(Owner::in_language(request.language).no_site));
    }
    let host = request.app.services.owners.site_of(typed).map_err(|why| {
        let text = (Suggest::in_language(request.language).refused)(&why);
        FormError::new(StatusCode::UNPROCESSABLE_ENTITY, text)
    })?;
    form::spend(request, ticket)?;
    Ok(host)
}

/// `GET /owner/{host}/{key}`
pub(crate) async fn show(request: PageRequest, Path(of): Path<ClaimPath>) -> Result<Response, ErrorPage> {
    let claim = opened(&request, of)?;
    // Each view reads a few objects from the store.
    request.admit(Allowance::Search)?;
    answer(&request, StatusCode::OK, &claim, None).await
}

/// `POST /owner/{host}/{key}`: handles a request of the owner.
pub(crate) async fn request(
    request: PageRequest,
    Path(of): Path<ClaimPath>,
    filled: Filled,
) -> Result<Response, ErrorPage> {
    let t = Owner::in_language(request.language);
    let claim = opened(&request, of)?;
    if let Err(error) = form::allow(&request, &filled) {
        let response = answer(&request, error.status, &claim, Some(Notice::bad(&*error.text))).await?;
        return Ok(page::waiting(response, error.wait));
    }
    let unfit = |text: &str| (StatusCode::UNPROCESSABLE_ENTITY, Notice::bad(text));
    let (status, notice) = match filled.choice("request") {
        None => unfit(t.no_request),
        Some(OwnerRequest::Forget) if filled.get("sure") != "yes" => unfit(t.not_sure),
        Some(wish) => match request.tried("owner", ask(&request, &claim, wish)).await? {
            RequestOutcome::ByDnsOnly => (StatusCode::OK, Notice::good(t.by_dns_only)),
            RequestOutcome::Granted => (StatusCode::OK, Notice::good(words::owner::granted(request.language, wish))),
            RequestOutcome::Unproven => (StatusCode::FORBIDDEN, Notice::bad(t.unproven)),
            RequestOutcome::Refused => (StatusCode::FORBIDDEN, Notice::bad(t.refused)),
            RequestOutcome::TooSoon(at) => {
                let text = format!("{} {}.", t.too_soon, request.language.moment(at));
                (StatusCode::TOO_MANY_REQUESTS, Notice::bad(text))
            }
        },
    };
    answer(&request, status, &claim, Some(notice)).await
}

/// Passes a request on, and states whether the caller's allowance lets the site be called for it.
async fn ask(request: &PageRequest, claim: &Claim, wish: OwnerRequest) -> Result<RequestOutcome, StageError> {
    let app = &request.app;
    if wish == OwnerRequest::Look
        && let Err(wait) = app.admit(Allowance::Look, request.caller)
    {
        return Ok(RequestOutcome::TooSoon(app.clock.now() + wait));
    }
    let may_call = wish != OwnerRequest::Look || app.may_have_called(&claim.host, request.caller);
    app.services.owners.request(&claim.host, &claim.challenge, wish, may_call).await
}

fn opened(request: &PageRequest, ClaimPath { host, key }: ClaimPath) -> Result<Claim, ErrorPage> {
    let app = &request.app;
    let challenge = claim::challenge(&app.settings.secret, &host, &key, app.clock.now());
    let challenge = challenge.filter(|_| host.len() <= MAX_HOST).ok_or_else(|| request.no_such_page())?;
    Ok(Claim { path: path(&host, &key), host, challenge })
}

fn path(host: &str, key: &str) -> String {
    format!("/owner/{host}/{key}")
}

fn beginning(request: &PageRequest, host: &str, form: &FormView) -> Response {
    let t = Owner::in_language(request.language);
    form.render(request, &BeginPage { site: request.site(), t, host, form })
}

async fn answer(
    request: &PageRequest,
    status: StatusCode,
    claim: &Claim,
    notice: Option<Notice>,
) -> Result<Response, ErrorPage> {
    let (language, t) = (request.language, Owner::in_language(request.language));
    let claimed = request.app.services.owners.claimed(&claim.host, &claim.challenge);
    let claimed = request.tried("owner", claimed).await?;
    let known = claimed.claim.as_ref();
    let waits = known.into_iter().flat_map(|claim| {
        let is_open =
            |(request, asked): &(&OwnerRequest, &Timestamp)| claim.done.get(request).is_none_or(|done| done < *asked);
        claim.asked.iter().filter(is_open).map(|(request, _)| words::owner::waits(language, *request))
    });
    let proof = known.and_then(|claim| claim.proof).zip(claimed.proven_until);
    let misses = known.filter(|_| proof.is_none()).map(|claim| claim.misses.clone()).unwrap_or_default();
    let way_name = |way| words::owner::way(language, way);
    let page = OwnerPage {
        site: request.site(),
        t,
        path: &claim.path,
        challenge: claim.challenge.as_str(),
        notice,
        waits: waits.collect(),
        misses: misses.into_iter().map(|(way, miss)| (way_name(way), words::owner::miss(language, miss))).collect(),
        proven: proof.map(|((way, _), until)| (t.proven)(way_name(way), &language.moment(until))),
        kept: claimed.held.as_ref().map(|kept| (kept, host_details(language, t, kept))),
        claimed: &claimed,
    };
    Ok(form::with_form(request.html(status, "no-store", &page)))
}

fn host_details(language: Language, t: &Owner, kept: &HostView) -> Shown {
    let moment = |at: Timestamp| language.moment(at);
    let blocked = match kept.block {
        BlockedBy::Nobody => t.blocked_by_nobody,
        BlockedBy::Owner => t.blocked_by_owner,
        BlockedBy::Operator => t.blocked_by_operator,
    };
    let history = if kept.is_without_history { t.history_is_off } else { t.history_is_on };
    let mut rows = vec![
        (t.block, blocked.to_owned()),
        (t.pause, language.span(kept.pause)),
        (t.not_before, moment(kept.not_before)),
        (t.history, history.to_owned()),
    ];
    if let Some((until, reason)) = kept.hold {
        rows.push((t.hold, format!("{} ({})", moment(until), reason.replace('_', " "))));
    }
    if let Some((since, vendor)) = &kept.wall {
        let vendor = if vendor.is_empty() { String::new() } else { format!(" ({vendor})") };
        rows.push((t.wall, (t.wall_since)(&format!("{}{vendor}", moment(*since)))));
    }
    if let Some(robots) = &kept.robots {
        let lets_in = if robots.lets_in { t.lets_in } else { t.keeps_out };
        rows.push((t.robots, format!("{lets_in} {}", (t.robots_read)(&moment(robots.at), &moment(robots.until)))));
    }
    let robots = kept.robots.as_ref().map(|robots| lines(&robots.text)).filter(|text| !text.is_empty());
    let Some(told) = &kept.report else { return Shown { rows, robots, ..Shown::default() } };
    let line = |url: &str, words: String| Line { url: clean(url), href: web_url(url).map(String::from), words };
    let count = |(state, n): (&ReportedState, &u64)| (words::owner::state(language, *state), language.number(*n));
    let feed = |of: &FeedLine| line(&of.url, (t.feed)(of.polled_at.map(moment), of.next.map(moment)));
    let history = |of: &BackfillLine| line(&of.url, (t.history_line)(of, language.number(of.sent)));
    let page = |of: &PageLine| line(&of.url, (t.page)(of, &moment(of.at), of.checked_at.map(moment)));
    Shown {
        rows,
        robots,
        told_at: Some(moment(told.at)),
        counts: told.counts.iter().map(count).collect(),
        lists: vec![
            (t.feeds, told.feeds.iter().map(feed).collect()),
            (t.history, told.history.iter().map(history).collect()),
            (t.pages, told.pages.iter().map(page).collect()),
        ],
    }
}

fn lines(text: &str) -> String {
    text.lines().map(clean).collect::<Vec<_>>().join("\n")
}
