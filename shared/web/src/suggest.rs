//! The form with which anybody may suggest a site. The address is only passed on; nothing is fetched here.

use crate::app::{ErrorPage, PageRequest};
use crate::form::{self, Filled, FormError, FormView, Notice};
use crate::hit::web_url;
use crate::language::Language;
use crate::page::Site;
use crate::quota::Allowance;
use crate::words::Suggest;
use askama::Template;
use axum::http::StatusCode;
use axum::response::Response;
use curlew_people::suggest::{SuggestError, SuggestOutcome};
use curlew_policy::address::{MAX_URL, with_scheme};

// Any text that fits into the field is read, in any script; if it has too many bytes, the refusal states the reason.
const _: () = assert!(MAX_URL <= form::MAX_LENGTH);

#[derive(Template)]
#[template(path = "suggest.html")]
struct SuggestPage<'a> {
    site: Site<'a>,
    t: &'static Suggest,
    url: &'a str,
    form: &'a FormView,
}

/// `GET /suggest`
pub(crate) async fn show(request: PageRequest) -> Response {
    answer(&request, "", &FormView::fresh(&request, None))
}

/// `POST /suggest`
pub(crate) async fn send(request: PageRequest, filled: Filled) -> Result<Response, ErrorPage> {
    let t = Suggest::in_language(request.language);
    let refused = |error| Ok(answer(&request, filled.get("url"), &FormView::refused(&request, &filled, error)));
    let url = match admit(&request, &filled) {
        Ok(url) => url,
        Err(error) => return refused(error),
    };
    let text = match request.app.services.suggest.offered(&url).await {
        Ok(SuggestOutcome::Taken) => (t.taken)(&url),
        Ok(SuggestOutcome::Known) => (t.known)(&url),
        Err(SuggestError::Refused(why)) => {
            return refused(FormError::new(StatusCode::UNPROCESSABLE_ENTITY, (t.refused)(&why)));
        }
        Err(SuggestError::Stage(error)) => return Err(request.failed("suggest", error)),
    };
    Ok(answer(&request, "", &FormView::fresh(&request, Some(Notice::good(text)))))
}

/// Checks a form and returns its address. Uses up the form's token.
fn admit(request: &PageRequest, filled: &Filled) -> Result<String, FormError> {
    let t = Suggest::in_language(request.language);
    let ticket = form::ticket(request, filled)?;
    let url = address(filled.get("url"), t).map_err(FormError::unfit)?;
    form::spend(request, ticket)?;
    form::admit(request, Allowance::Suggestion, t.enough)?;
    Ok(url)
}

/// Returns the typed text as an absolute URL. Without a scheme, as in `example.org`, https is assumed.
fn address(typed: &str, t: &Suggest) -> Result<String, &'static str> {
    if typed.is_empty() {
        return Err(t.no_address);
    }
    if typed.len() > MAX_URL {
        return Err(t.address_too_long);
    }
    Ok(web_url(&with_scheme(typed)).ok_or(t.not_of_the_web)?.into())
}

fn answer(request: &PageRequest, url: &str, form: &FormView) -> Response {
    let t = Suggest::in_language(request.language);
    form.render(request, &SuggestPage { site: request.site(), t, url, form })
}

#[cfg(test)]
mod tests {
    use crate::language::Language;
    use crate::words::Suggest;

    fn address(typed: &str) -> Result<String, &'static str> {
        super::address(typed, Suggest::in_language(Language::English))
    }

    #[test]
    fn people_may_leave_the_scheme_out() {
        assert_eq!(address("example.org").as_deref(), Ok("https://example.org/"));
        assert_eq!(address("example.org:8080/x").as_deref(), Ok("https://example.org:8080/x"));
        assert_eq!(address("http://example.org/feed").as_deref(), Ok("http://example.org/feed"));
        let long = "a".repeat(3_000);
        let schemes = "javascript:alert(1) ftp://example.org https://me:pw@example.org mailto:me@example.org";
        for bad in schemes.split(' ').chain(["", &long]) {
            assert!(address(bad).is_err(), "{bad}");
        }
    }
}
