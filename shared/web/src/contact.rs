//! The form for messages to the operator: questions, complaints about the crawler, reports of pages that should not be
//! found, and requests for removal by owners without a proof. A message changes nothing by itself; a person reads it.

use crate::app::{ErrorPage, PageRequest};
use crate::form::{self, Filled, FormError, FormView, Notice};
use crate::page::Site;
use crate::quota::Allowance;
use crate::words::Contact;
use askama::Template;
use axum::http::StatusCode;
use axum::response::Response;
use curlew_people::messages::{About, Message, MessageOutcome};

/// Maximum length of a message, as browsers count it.
const MAX_TEXT: usize = 2_000;
/// Maximum length of the sender's mail address (RFC 5321 §4.5.3.1.3).
const MAX_REPLY_TO: usize = 254;
/// Maximum length of the address that a message is about.
const MAX_ADDRESS: usize = 1_000;
const _: () = assert!(MAX_TEXT + MAX_REPLY_TO + MAX_ADDRESS <= form::MAX_LENGTH);

#[derive(Template)]
#[template(path = "contact.html")]
struct ContactPage<'a> {
    site: Site<'a>,
    t: &'static Contact,
    about: About,
    address: &'a str,
    text: &'a str,
    reply_to: &'a str,
    form: &'a FormView,
}

/// `GET /contact`
pub(crate) async fn show(request: PageRequest) -> Response {
    answer(&request, &Filled::default(), &FormView::fresh(&request, None))
}

/// `POST /contact`
pub(crate) async fn send(request: PageRequest, filled: Filled) -> Result<Response, ErrorPage> {
    let t = Contact::in_language(request.language);
    let refused = |error| Ok(answer(&request, &filled, &FormView::refused(&request, &filled, error)));
    let message = match admit(&request, &filled) {
        Ok(message) => message,
        Err(error) => return refused(error),
    };
    match request.app.services.messages.take(&message).await {
        Ok(MessageOutcome::Taken) => {
            let form = FormView::fresh(&request, Some(Notice::good(t.taken)));
            Ok(answer(&request, &Filled::default(), &form))
        }
        Ok(MessageOutcome::Full) => refused(FormError::new(StatusCode::SERVICE_UNAVAILABLE, t.full)),
        Err(error) => Err(request.failed("contact", error)),
    }
}

/// Checks a form and returns its message. Uses up the form's token.
fn admit(request: &PageRequest, filled: &Filled) -> Result<Message, FormError> {
    let t = Contact::in_language(request.language);
    let ticket = form::ticket(request, filled)?;
    let (text, address, reply_to) = (filled.get("text"), filled.get("address"), filled.get("reply_to"));
    if text.is_empty() {
        return Err(FormError::unfit(t.empty));
    }
    let fields = [(text, MAX_TEXT), (address, MAX_ADDRESS), (reply_to, MAX_REPLY_TO)];
    if fields.iter().any(|(field, most)| form::length(field) > *most) {
        return Err(FormError::unfit(t.too_long));
    }
    if !reply_to.is_empty() && !is_mail_address(reply_to) {
        return Err(FormError::unfit(t.no_mail_address));
    }
    form::spend(request, ticket)?;
    form::admit(request, Allowance::Message, t.enough)?;
    let about = filled.choice("about").unwrap_or_default();
    Ok(Message { about, address: address.to_owned(), text: text.to_owned(), reply_to: reply_to.to_owned() })
}

/// True if a text looks like a mail address. This catches typing errors; it does not show that the address exists.
fn is_mail_address(text: &str) -> bool {
    let plain = text.chars().all(|c| !c.is_control() && !c.is_whitespace() && !"<>,;\"".contains(c));
    plain && text.split_once('@').is_some_and(|(who, at)| !who.is_empty() && at.contains('.') && !at.contains('@'))
}

fn answer(request: &PageRequest, filled: &Filled, form: &FormView) -> Response {
    let page = ContactPage {
        site: request.site(),
        t: Contact::in_language(request.language),
        about: filled.choice("about").unwrap_or_default(),
        address: filled.get("address"),
        text: filled.get("text"),
        reply_to: filled.get("reply_to"),
        form,
    };
    form.render(request, &page)
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
