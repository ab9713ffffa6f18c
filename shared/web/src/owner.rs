//! The pages for the owners of sites: claim a site, prove it, see its stored state, make requests.
//!
//! The address of a claim's page carries its key, so anybody who knows the address may do all that its page offers, and
//! nobody else can make a form for it. Requests are passed on; nothing is fetched here.

use crate::app::{App, CallerAddress};
use crate::claim;
use crate::form::{self, Filled, FormError, FormToken, Notice};
use crate::hit::web_url;
use crate::language::Language;
use crate::page::{self, Site, too_many};
use crate::quota::Allowance;
use crate::text::clean;
use crate::words::{self, Form};
use askama::Template;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, HeaderValue, LOCATION};
use axum::response::{IntoResponse, Response};
use curlew_model::{Challenge, OwnerRequest, Timestamp};
use curlew_people::block::BlockedBy;
use curlew_people::ownership::{ClaimView, HostView, RequestOutcome};
use curlew_ports::stage::StageError;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Maximum length of a host name (RFC 1035 §2.3.4).
const MAX_HOST: usize = 253;

#[derive(Template)]
#[template(path = "owner.html")]
struct BeginPage<'a> {
    site: Site<'a>,
    t: &'static words::Owner,
    form: &'static Form,
    host: &'a str,
    form_token: &'a FormToken,
    notice: Option<Notice>,
}

#[derive(Template)]
#[template(path = "claim.html")]
struct OwnerPage<'a> {
    site: Site<'a>,
    t: &'static words::Owner,
    /// Path of the page itself.
    path: &'a str,
    claimed: &'a ClaimView,
    challenge: &'a str,
    notice: Option<Notice>,
    /// Requests that are not carried out yet.
    waits: Vec<&'static str>,
    /// Places in which the challenge was not found, and the reasons.
    misses: Vec<(&'static str, &'static str)>,
    proven: Option<String>,
    kept: Option<Shown>,
}

/// The stored state of a host, as it is shown.
struct Shown {
    /// True if the owner may block it; `may_unblock` if the owner may lift the block.
    may_block: bool,
    may_unblock: bool,
    is_without_history: bool,
    rows: Vec<(&'static str, String)>,
    robots: Option<String>,
    told_at: Option<String>,
    counts: Vec<(String, String)>,
    feeds: Vec<Line>,
    history: Vec<Line>,
    pages: Vec<Line>,
}

/// A feed or a page.
struct Line {
    url: String,
    href: Option<String>,
    words: String,
}

/// `GET /owner`
pub(crate) async fn begin(State(app): State<Arc<App>>, language: Language) -> Response {
    beginning(&app, language, StatusCode::OK, "", None, None)
}

/// `POST /owner`: begins a claim; its page has an address of its own.
pub(crate) async fn claim(
    State(app): State<Arc<App>>,
    caller: CallerAddress,
    language: Language,
    filled: Filled,
) -> Response {
    match admit(&app, caller, language, &filled) {
        Ok(host) => {
            let serial = app.serial.fetch_add(1, Ordering::Relaxed);
            let key = claim::issue(&app.settings.secret, &host, app.clock.now(), serial);
            match HeaderValue::from_str(&path(&host, &key)) {
                Ok(to) => {
                    let never_kept = HeaderValue::from_static("no-store");
                    (StatusCode::SEE_OTHER, [(LOCATION, to), (CACHE_CONTROL, never_kept)]).into_response()
                }
                Err(_) => page::internal(app.site(language)),
            }
        }
        Err(Ok(error)) => error.answer(&filled, |status, kept, notice| {
            beginning(&app, language, status, filled.get("host"), kept, notice)
        }),
        Err(Err(text)) => {
            let notice = Some(Notice::bad(text));
            beginning(&app, language, StatusCode::UNPROCESSABLE_ENTITY, filled.get("host"), None, notice)
        }
    }
}

/// Returns the claimed host, or the fault of the form or of the host.
fn admit(
    app: &App,
    caller: CallerAddress,
    language: Language,
    filled: &Filled,
) -> Result<String, Result<FormError, String>> {
    let t = words::Owner::in_language(language);
    let ticket = form::ticket(app, caller, language, filled).map_err(Ok)?;
    let typed = filled.get("host");
    if typed.is_empty() {
        return Err(Ok(FormError::kept(StatusCode::UNPROCESSABLE_ENTITY, t.no_site)));
    }
    let host =
        app.services.owners.site_of(typed).map_err(|why| Err((words::Suggest::in_language(language).refused)(&why)))?;
    form::spend(app, language, ticket).map_err(Ok)?;
    Ok(host)
}

/// `GET /owner/{host}/{key}`
pub(crate) async fn show(
    State(app): State<Arc<App>>,
    caller: CallerAddress,
    language: Language,
    Path((host, key)): Path<(String, String)>,
) -> Response {
    let Some(challenge) = opened(&app, &host, &key) else { return page::no_such_page(app.site(language)) };
    // Each look reads a few objects.
    if let Err(wait) = app.admit(Allowance::Search, caller) {
        return too_many(app.site(language), wait);
    }
    answer(&app, language, StatusCode::OK, &host, &key, &challenge, None).await
}

/// `POST /owner/{host}/{key}`: takes a request.
pub(crate) async fn request(
    State(app): State<Arc<App>>,
    caller: CallerAddress,
    language: Language,
    Path((host, key)): Path<(String, String)>,
    filled: Filled,
) -> Response {
    let t = words::Owner::in_language(language);
    let Some(challenge) = opened(&app, &host, &key) else { return page::no_such_page(app.site(language)) };
    if let Err(error) = form::allow(&app, caller, language, &filled) {
        let response =
            answer(&app, language, error.status, &host, &key, &challenge, Some(Notice::bad(error.text))).await;
        return error.with_wait(response);
    }
    let unfit = |text: &str| (StatusCode::UNPROCESSABLE_ENTITY, Notice::bad(text));
    let (status, notice) = match read_request(&filled) {
        None => unfit(t.no_request),
        Some(OwnerRequest::Forget) if filled.get("sure") != "yes" => unfit(t.not_sure),
        Some(request) => match ask(&app, caller, &host, &challenge, request).await {
            Ok(RequestOutcome::ByDnsOnly) => (StatusCode::OK, Notice::good(t.by_dns_only)),
            Ok(RequestOutcome::Granted) => (StatusCode::OK, Notice::good((t.granted)(request))),
            Ok(RequestOutcome::Unproven) => (StatusCode::FORBIDDEN, Notice::bad(t.unproven)),
            Ok(RequestOutcome::Refused) => (StatusCode::FORBIDDEN, Notice::bad(t.refused)),
            Ok(RequestOutcome::TooSoon(at)) => {
                (StatusCode::TOO_MANY_REQUESTS, Notice::bad(format!("{} {}.", t.too_soon, language.moment(at))))
            }
            Err(error) => return page::stage_error(app.site(language), "owner", &error),
        },
    };
    answer(&app, language, status, &host, &key, &challenge, Some(notice)).await
}

/// Passes a request on, and whether its caller may have the site called for it.
async fn ask(
    app: &App,
    caller: CallerAddress,
    host: &str,
    challenge: &Challenge,
    request: OwnerRequest,
) -> Result<RequestOutcome, StageError> {
    if request == OwnerRequest::Look
        && let Err(wait) = app.admit(Allowance::Look, caller)
    {
        return Ok(RequestOutcome::TooSoon(app.clock.now() + wait));
    }
    let may_call = request != OwnerRequest::Look || app.may_have_called(host, caller);
    app.services.owners.request(host, challenge, request, may_call).await
}

fn read_request(filled: &Filled) -> Option<OwnerRequest> {
    Some(match filled.get("request") {
        "look" => OwnerRequest::Look,
        "report" => OwnerRequest::Report,
        "block" => OwnerRequest::Block,
        "unblock" => OwnerRequest::Unblock,
        "visit" => OwnerRequest::Visit,
        "forget" => OwnerRequest::Forget,
        "history_off" => OwnerRequest::HistoryOff,
        "history_on" => OwnerRequest::HistoryOn,
        _ => return None,
    })
}

/// Returns the challenge of a key.
fn opened(app: &App, host: &str, key: &str) -> Option<Challenge> {
    if host.len() > MAX_HOST {
        return None;
    }
    claim::challenge(&app.settings.secret, host, key, app.clock.now())
}

fn path(host: &str, key: &str) -> String {
    format!("/owner/{host}/{key}")
}

fn beginning(
    app: &App,
    language: Language,
    status: StatusCode,
    host: &str,
    kept: Option<&Filled>,
    notice: Option<Notice>,
) -> Response {
    let (form_token, t, form) =
        (FormToken::new(app, kept), words::Owner::in_language(language), Form::in_language(language));
    let page = BeginPage { site: app.site(language), t, form, host, form_token: &form_token, notice };
    form::with_form(page::html(language, status, "no-store", &page))
}

async fn answer(
    app: &App,
    language: Language,
    status: StatusCode,
    host: &str,
    key: &str,
    challenge: &Challenge,
    notice: Option<Notice>,
) -> Response {
    let claimed = match app.services.owners.claimed(host, challenge).await {
        Ok(claimed) => claimed,
        Err(error) => return page::stage_error(app.site(language), "owner", &error),
    };
    let t = words::Owner::in_language(language);
    let claim = claimed.claim.as_ref();
    let waits = claim.into_iter().flat_map(|claim| {
        let is_open =
            |(request, asked): &(&OwnerRequest, &Timestamp)| claim.done.get(request).is_none_or(|done| done < *asked);
        claim.asked.iter().filter(is_open).map(|(request, _)| (t.waits)(*request))
    });
    let proof = claim.and_then(|claim| claim.proof).zip(claimed.proven_until);
    let misses = claim.filter(|_| proof.is_none()).map(|claim| claim.misses.clone()).unwrap_or_default();
    let page = OwnerPage {
        site: app.site(language),
        t,
        path: &path(host, key),
        challenge: challenge.as_str(),
        notice,
        waits: waits.collect(),
        misses: misses.into_iter().map(|(way, miss)| ((t.way)(way), (t.miss)(miss))).collect(),
        proven: proof.map(|((way, _), until)| (t.proven)((t.way)(way), &language.moment(until))),
        kept: claimed.held.as_ref().map(|kept| host_details(language, t, kept)),
        claimed: &claimed,
    };
    form::with_form(page::html(language, status, "no-store", &page))
}

fn host_details(language: Language, t: &words::Owner, kept: &HostView) -> Shown {
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
        rows.push((t.wall, (t.wall_since)(&moment(*since), vendor)));
    }
    if let Some(robots) = &kept.robots {
        let lets_in = if robots.lets_in { t.lets_in } else { t.keeps_out };
        rows.push((t.robots, format!("{lets_in} {}", (t.robots_read)(&moment(robots.at), &moment(robots.until)))));
    }
    let report = kept.report.as_ref();
    let line = |url: &str, words: String| Line { url: clean(url), href: web_url(url).map(String::from), words };
    Shown {
        may_block: kept.block == BlockedBy::Nobody,
        may_unblock: kept.block == BlockedBy::Owner,
        is_without_history: kept.is_without_history,
        rows,
        robots: kept.robots.as_ref().map(|robots| lines(&robots.text)).filter(|text| !text.is_empty()),
        told_at: report.map(|told| moment(told.at)),
        counts: report
            .into_iter()
            .flat_map(|told| &told.counts)
            .map(|(state, n)| ((t.state)(*state).to_owned(), language.number(*n)))
            .collect(),
        feeds: report
            .into_iter()
            .flat_map(|told| &told.feeds)
            .map(|feed| line(&feed.url, (t.feed)(feed.polled_at.map(moment), feed.next.map(moment))))
            .collect(),
        history: report
            .into_iter()
            .flat_map(|told| &told.history)
            .map(|history| line(&history.url, (t.history_line)(history, language.number(history.sent))))
            .collect(),
        pages: report
            .into_iter()
            .flat_map(|told| &told.pages)
            .map(|page| line(&page.url, (t.page)(page, &moment(page.at), page.checked_at.map(moment))))
            .collect(),
    }
}

/// Returns a text of several lines, each cleaned for display.
fn lines(text: &str) -> String {
    text.lines().map(clean).collect::<Vec<_>>().join("\n")
}
