//! Screening: rejected pages with the topics and words that decided, and the operators' overrides.

use super::Admin;
use super::access::Operator;
use super::view::{AdminPage, Button, FieldKind, Item, ROWS, moment, part_of, site_page};
use crate::params::Params;
use curlew_crawl::pages::overrides::StoredOverride;
use curlew_model::PageId;
use curlew_people::lookup::ScreenedPage;
use curlew_people::overrides::topic_names;
use curlew_ports::stage::StageError;
use std::cmp::Reverse;

/// `GET /admin/screening`; `None` for a place in the list that is none.
pub(super) async fn rejected<'a>(
    admin: &'a Admin,
    operator: &'a Operator,
    params: &Params,
) -> Result<Option<AdminPage<'a>>, StageError> {
    let path = "/admin/screening";
    let (title, heading) = ("Screening", "Rejected pages");
    let (mut page, host) = AdminPage::by_host(admin, operator, path, (title, heading), params);
    page.lead =
        "Pages that content screening rejected, with what decided. A page that is allowed is fetched once more.".into();
    let Ok(host) = host else { return Ok(Some(page)) };
    let Ok(after) = params.after(PageId::new) else { return Ok(None) };
    let part = admin.services.lookup.screened(host.as_deref(), after, ROWS).await?;
    let item = |ScreenedPage { url, at, why }: &ScreenedPage| {
        let because = why.because.clone().unwrap_or_default();
        let allow = Button::new(admin, operator, "allow", url, "Allow");
        let item = Item::new(url, [why.topics.join(", "), because, moment(*at)]).linked(site_page(url));
        Item { picture: why.picture.clone(), ..item }.with([allow])
    };
    let items = part.rows.iter().map(item).collect();
    page.add_list(path, (heading, items), part.next.as_ref().map(PageId::as_str), "There is none.");
    Ok(Some(page))
}

/// `GET /admin/overrides`
pub(super) async fn overrides<'a>(
    admin: &'a Admin,
    operator: &'a Operator,
    params: &Params,
) -> Result<AdminPage<'a>, StageError> {
    let path = "/admin/overrides";
    let mut page = AdminPage::new(admin, operator, path, "Overrides");
    page.lead = "Newest first. They decide about a page or a site, whatever content screening says of it.".into();
    let topics = std::iter::once(("", "all topics")).chain(topic_names().map(|name| (name, name)));
    let target = "A page’s whole URL, or a host: all names below it too";
    let allow = Button::new(admin, operator, "allow", "", "Allow")
        .with("about_typed", target, FieldKind::Line)
        .with("topic", "Only what this topic rejects", FieldKind::Choice(topics.collect()))
        .with("note", "The reason", FieldKind::Line);
    let deny = Button::new(admin, operator, "deny", "", "Deny").with("about_typed", target, FieldKind::Line).with(
        "note",
        "The reason",
        FieldKind::Line,
    );
    page.forms = vec![allow, deny];
    // A key of its own place, which others may not shift.
    let key = |given: &StoredOverride| format!("{:015} {}", given.at.as_millis(), given.target());
    let mut all = admin.services.actions.overrides.list().await?;
    all.sort_by_key(|given| Reverse(key(given)));
    let left = all.into_iter().filter(|given| params.get("after").is_none_or(|after| key(given).as_str() < after));
    let (rows, next) = part_of(left, key);
    let item = |given: &StoredOverride| {
        let topics = given.topics();
        let word = if given.is_allowing() { "allowed" } else { "denied" };
        let only = if topics.is_empty() { String::new() } else { format!("only {topics}") };
        let remove = Button::new(admin, operator, "take_back", given.target(), "Remove");
        let note = given.rule.note.clone().unwrap_or_default();
        Item::new(given.target(), [format!("{word}, {}", moment(given.at)), only, note]).with([remove])
    };
    page.add_list(path, ("In force", rows.iter().map(item).collect()), next.as_deref(), "There is no override.");
    Ok(page)
}
