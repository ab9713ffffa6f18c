//! The form for messages to the operator: questions, complaints about the crawler, reports of pages that should not be
//! found, and requests for removal by owners who cannot give a proof. It changes nothing; people read the messages.

use crate::app::{App, CallerAddress};
use crate::form::{self, Filled, FormError, FormToken, Notice};
use crate::language::Language;
use crate::page::{self, Site};
use crate::quota::Allowance;
use crate::words::{self, Form};
use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use curlew_people::messages::{About, Message, MessageOutcome};
use std::sync::Arc;

/// Maximum length of a message, as browsers count it.
const MAX_TEXT: usize = 2_000;
/// Maximum length of an address for answers (RFC 5321 §4.5.3.1.3).
const MAX_REPLY_TO: usize = 254;
/// Maximum length of the address that a message is about.
const MAX_ADDRESS: usize = 1_000;
const _: () = assert!(MAX_TEXT + MAX_REPLY_TO + MAX_ADDRESS <= form::MAX_LENGTH);

#[derive(Template)]
#[template(path = "contact.html")]
struct ContactPage<'a> {
    site: Site<'a>,
    t: &'static words::Contact,
    form: &'static Form,
    about: About,
    address: &'a str,
    text: &'a str,
    reply_to: &'a str,
    form_token: &'a FormToken,
    notice: Option<Notice>,
}

impl ContactPage<'_> {
    /// Returns true if the message was taken, so that there is nothing left to fill in.
    fn is_sent(&self) -> bool {
        self.notice.as_ref().is_some_and(|notice| notice.good)
    }
}

/// `GET /contact`
pub(crate) async fn show(State(app): State<Arc<App>>, language: Language) -> Response {
    answer(&app, language, StatusCode::OK, &Filled::default(), None, None)
}

/// `POST /contact`
pub(crate) async fn send(
    State(app): State<Arc<App>>,
    caller: CallerAddress,
    language: Language,
    filled: Filled,
) -> Response {
    let refused = |error: FormError| {
        error.answer(&filled, |status, kept, notice| answer(&app, language, status, &filled, kept, notice))
    };
    let message = match admit(&app, caller, language, &filled) {
        Ok(message) => message,
        Err(error) => return refused(error),
    };
    let t = words::Contact::in_language(language);
    match app.services.messages.take(&message).await {
        Ok(MessageOutcome::Taken) => {
            let notice = Some(Notice::good(t.taken));
            answer(&app, language, StatusCode::OK, &Filled::default(), None, notice)
        }
        Ok(MessageOutcome::Full) => refused(FormError::new(StatusCode::SERVICE_UNAVAILABLE, t.full)),
        Err(error) => page::stage_error(app.site(language), "contact", &error),
    }
}

/// Returns the message if it may be passed on. Uses up the form's token.
fn admit(app: &App, caller: CallerAddress, language: Language, filled: &Filled) -> Result<Message, FormError> {
    let t = words::Contact::in_language(language);
    let ticket = form::ticket(app, caller, language, filled)?;
    let unfit = |text| FormError::kept(StatusCode::UNPROCESSABLE_ENTITY, text);
    let (text, address, reply_to) = (filled.get("text"), filled.get("address"), filled.get("reply_to"));
    if text.is_empty() {
        return Err(unfit(t.empty));
    }
    let fields = [(text, MAX_TEXT), (address, MAX_ADDRESS), (reply_to, MAX_REPLY_TO)];
    if fields.iter().any(|(field, most)| form::length(field) > *most) {
        return Err(unfit(t.too_long));
    }
    if !reply_to.is_empty() && !is_mail_address(reply_to) {
        return Err(unfit(t.no_mail_address));
    }
    form::spend(app, language, ticket)?;
    app.admit(Allowance::Message, caller)
        .map_err(|wait| FormError { wait: Some(wait), ..FormError::new(StatusCode::TOO_MANY_REQUESTS, t.enough) })?;
    Ok(Message {
        about: about(filled),
        address: address.to_owned(),
        text: text.to_owned(),
        reply_to: reply_to.to_owned(),
    })
}

fn about(filled: &Filled) -> About {
    match filled.get("about") {
        "crawler" => About::Crawler,
        "abuse" => About::Abuse,
        "removal" => About::Removal,
        _ => About::Question,
    }
}

/// True if a text looks like a mail address. This finds typing errors; only a message shows whether the address exists.
fn is_mail_address(text: &str) -> bool {
    let plain = text.chars().all(|c| !c.is_control() && !c.is_whitespace() && !"<>,;\"".contains(c));
    plain && text.split_once('@').is_some_and(|(who, at)| !who.is_empty() && at.contains('.') && !at.contains('@'))
}

fn answer(
    app: &App,
    language: Language,
    status: StatusCode,
    filled: &Filled,
    kept: Option<&Filled>,
    notice: Option<Notice>,
) -> Response {
    let form_token = FormToken::new(app, kept);
    let page = ContactPage {
        site: app.site(language),
        t: words::Contact::in_language(language),
        form: Form::in_language(language),
        about: about(filled),
        address: filled.get("address"),
        text: filled.get("text"),
        reply_to: filled.get("reply_to"),
        form_token: &form_token,
        notice,
    };
    form::with_form(page::html(language, status, "no-store", &page))
}

#[cfg(test)]
mod tests {
    use super::is_mail_address;

    #[test]
    fn what_is_no_address_of_mail_is_asked_for_again() {
        for good in ["me@example.org", "first.last+tag@mail.example.org", "è@esempio.it"] {
            assert!(is_mail_address(good), "{good}");
        }
        for bad in ["me", "@example.org", "me@", "me@here", "a@b@c.d", "me@example.org, you@example.org", "<me@a.b>"] {
            assert!(!is_mail_address(bad), "{bad}");
        }
    }
}
