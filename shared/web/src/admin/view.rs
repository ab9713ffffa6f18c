//! The layout of all operator's pages. A page has forms, then parts with facts, items and a table. An item is a list
//! entry with buttons. On narrow screens, the rows of a table are shown as lines.

use super::{AdminRequest, ENGLISH};
use crate::form::{self, Notice};
use crate::headers::POLICY_WITH_PICTURES;
use crate::page::{self, Site};
use crate::text::clipped;
use crate::token;
use askama::Template;
use axum::http::StatusCode;
use axum::http::header::CONTENT_SECURITY_POLICY;
use axum::response::Response;
use curlew_model::Timestamp;
use curlew_people::lookup::typed_host;
use url::{Url, form_urlencoded};

/// Maximum number of rows in one part of a list.
pub(super) const ROWS: usize = 50;

/// Maximum length of a text on a page, in characters. Paragraphs of messages and texts of the audit log are shorter.
const MAX_TEXT: usize = 2_100;

/// Path and name of each page in the navigation.
const ROOMS: [(&str, &str); 11] = [
    ("/admin", "Overview"),
    ("/admin/sources", "Sites and feeds"),
    ("/admin/holds", "Holds and blocks"),
    ("/admin/screening", "Screening"),
    ("/admin/overrides", "Overrides"),
    ("/admin/dead", "Dead jobs"),
    ("/admin/messages", "Messages"),
    ("/admin/owners", "Owners"),
    ("/admin/watches", "Watches"),
    ("/admin/settings", "Settings"),
    ("/admin/audit", "Audit log"),
];

#[derive(Template)]
#[template(path = "admin.html")]
pub(super) struct AdminPage<'a> {
    pub(super) site: Site<'a>,
    /// Path of the page, if it is in the navigation.
    pub(super) path: &'static str,
    pub(super) operator: &'a str,
    pub(super) sign_out: Option<Button>,
    pub(super) title: String,
    pub(super) notice: Option<Notice>,
    pub(super) lead: String,
    pub(super) filter: Option<Filter>,
    /// Heading of the forms if they are collapsed at first, else empty.
    pub(super) forms_heading: &'static str,
    pub(super) forms: Vec<Button>,
    pub(super) parts: Vec<Part>,
    /// Address of the next part of a list.
    pub(super) next: Option<String>,
}

/// A form that chooses what a page lists.
pub(super) struct Filter {
    pub(super) label: &'static str,
    pub(super) value: String,
    /// Value and name of each order, and whether it is the current one; empty if there is only one.
    pub(super) orders: Vec<(&'static str, &'static str, bool)>,
}

/// A table. The first column is the title of each row; the other columns are its cells.
pub(super) struct Table {
    pub(super) heads: Vec<&'static str>,
    pub(super) rows: Vec<TableRow>,
}

pub(super) struct TableRow {
    pub(super) title: String,
    /// Path of the admin page about it.
    pub(super) link: Option<String>,
    /// A line below the title; may be empty.
    pub(super) note: String,
    pub(super) cells: Vec<String>,
}

/// A heading with facts and items below it.
#[derive(Default)]
pub(super) struct Part {
    pub(super) heading: String,
    pub(super) facts: Vec<(String, String)>,
    pub(super) items: Vec<Item>,
    pub(super) table: Option<Table>,
    /// Text that is shown if the part is empty.
    pub(super) none: &'static str,
}

#[derive(Default)]
pub(super) struct Item {
    pub(super) title: String,
    /// Path of the admin page about it.
    pub(super) link: Option<String>,
    pub(super) lines: Vec<String>,
    /// A bitmap file in base64, hidden until it is opened.
    pub(super) picture: Option<String>,
    pub(super) buttons: Vec<Button>,
}

/// A form that triggers an act.
pub(super) struct Button {
    act: &'static str,
    about: String,
    label: &'static str,
    token: String,
    is_grave: bool,
    /// Name of each field, and its id, which is unique on the page.
    fields: Vec<(&'static str, String, Field)>,
}

/// A field of a form, with its label if it is visible.
pub(super) enum Field {
    Line(&'static str),
    Lines(&'static str),
    /// A checkbox that must be checked.
    Sure(&'static str),
    /// One of these values, each with its label.
    Choice(&'static str, Vec<(&'static str, &'static str)>),
    Hidden(String),
}

impl AdminRequest {
    /// Returns a page that has only a title and a text below it.
    pub(super) fn page(&self, path: &'static str, title: &str, lead: &str) -> AdminPage<'_> {
        AdminPage {
            site: self.admin.app.site(ENGLISH),
            path,
            operator: &self.operator.name,
            sign_out: self.operator.has_session().then(|| self.button("sign_out", "", "Sign out")),
            title: title.to_owned(),
            notice: None,
            lead: lead.to_owned(),
            filter: None,
            forms_heading: "",
            forms: vec![],
            parts: vec![],
            next: None,
        }
    }

    pub(super) fn button(&self, act: &'static str, about: &str, label: &'static str) -> Button {
        let (app, bound_to) = (&self.admin.app, self.operator.bound_to(act));
        let token = token::issue_for(&app.settings.secret, &bound_to, app.clock.now(), app.next_serial());
        Button { act, about: about.to_owned(), label, token, is_grave: false, fields: vec![] }
    }
}

impl AdminPage<'_> {
    /// Adds a filter by host, and returns the typed host, if any. If it is not a host name, adds a message and fails.
    pub(super) fn filter_by_host(&mut self, request: &AdminRequest, heading: &str) -> Result<Option<String>, ()> {
        let value = request.params.get("filter").unwrap_or_default().trim().to_owned();
        let host = typed_host(&value);
        let is_no_host = !value.is_empty() && host.is_none();
        self.filter = Some(Filter { label: "Filter by host (subdomains included)", value, orders: vec![] });
        if is_no_host {
            self.parts.push(Part::items(heading, vec![], "That is not a host name."));
            return Err(());
        }
        Ok(host)
    }

    /// Adds a part of a list, with a link to the part after the key `next`. An empty list shows the text `none`.
    pub(super) fn add_list(&mut self, heading: &str, items: Vec<Item>, next: Option<&str>, none: &'static str) {
        let none = if next.is_some() { "None in this part of the list." } else { none };
        self.parts.push(Part::items(heading, items, none));
        let mut query = form_urlencoded::Serializer::new(String::new());
        if let Some(filter) = self.filter.as_ref().filter(|filter| !filter.value.is_empty()) {
            query.append_pair("filter", &filter.value);
        }
        self.next = next.map(|key| format!("{}?{}", self.path, query.append_pair("after", key).finish()));
    }
}

impl Button {
    fn has_visible_fields(&self) -> bool {
        self.fields.iter().any(|(_, _, field)| !matches!(field, Field::Hidden(_)))
    }

    /// Marks an act that cannot be undone, and adds a checkbox to confirm it.
    pub(super) fn grave(self) -> Button {
        Button { is_grave: true, ..self }.with("sure", Field::Sure("I am sure: this cannot be undone"))
    }

    pub(super) fn with(mut self, name: &'static str, field: Field) -> Button {
        // The serial number of a form's token is unique.
        let serial = self.token.split('.').nth(1).unwrap_or_default();
        self.fields.push((name, format!("{name}-{serial}"), field));
        self
    }
}

impl Part {
    pub(super) fn facts(heading: &str, facts: Vec<(String, String)>) -> Part {
        Part { heading: heading.to_owned(), facts, ..Part::default() }
    }

    pub(super) fn items(heading: &str, items: Vec<Item>, none: &'static str) -> Part {
        Part { heading: heading.to_owned(), items, none, ..Part::default() }
    }
}

impl Item {
    /// Returns an entry without buttons; empty lines are left out.
    pub(super) fn new(title: &str, lines: impl IntoIterator<Item = String>) -> Item {
        let lines = lines.into_iter().filter(|line| !line.is_empty()).map(|line| shown(&line)).collect();
        Item { title: shown(title), lines, ..Item::default() }
    }

    /// Links the title to an admin page.
    pub(super) fn linked(self, link: Option<String>) -> Item {
        Item { link, ..self }
    }

    pub(super) fn with(mut self, buttons: impl IntoIterator<Item = Button>) -> Item {
        self.buttons.extend(buttons);
        self
    }
}

/// Returns the first [`ROWS`] of the remaining rows of a list, and the key after which the next part begins.
pub(super) fn part_of<T>(left: impl Iterator<Item = T>, key: impl FnOnce(&T) -> String) -> (Vec<T>, Option<String>) {
    let mut rows: Vec<T> = left.take(ROWS + 1).collect();
    let is_last = rows.len() <= ROWS;
    rows.truncate(ROWS);
    let next = rows.last().filter(|_| !is_last).map(key);
    (rows, next)
}

/// Returns a text that is safe to display, cut after [`MAX_TEXT`] characters.
pub(super) fn shown(text: &str) -> String {
    clipped(text, MAX_TEXT)
}

pub(super) fn moment(at: Timestamp) -> String {
    ENGLISH.moment(at)
}

/// Returns the path of the admin page about the host of a URL.
pub(super) fn site_page(url: &str) -> Option<String> {
    let host = Url::parse(url).ok()?.host_str()?.to_owned();
    Some(format!("/admin/site/{host}"))
}

pub(super) fn answer(status: StatusCode, page: &AdminPage<'_>) -> Response {
    let mut response = form::with_form(page::html(ENGLISH, status, "no-store", page));
    response.headers_mut().insert(CONTENT_SECURITY_POLICY, POLICY_WITH_PICTURES);
    response
}
