//! Pages that content screening rejected, with the deciding topics and words, and the operators' overrides.

use super::view::{Field, Item, ROWS, moment, part_of, site_page};
use super::{AdminRequest, FoundPage};
use curlew_crawl::pages::overrides::StoredOverride;
use curlew_model::PageId;
use curlew_people::lookup::ScreenedPage;
use curlew_people::overrides::topic_names;
use std::cmp::Reverse;

/// `GET /admin/screening`
pub(super) async fn rejected(request: &AdminRequest) -> FoundPage<'_> {
    let heading = "Rejected pages";
    let lead = "Pages that content screening rejected, with what decided. A page that is allowed is fetched once more.";
    let mut page = request.page("/admin/screening", "Screening", lead);
    let Ok(host) = page.filter_by_host(request, heading) else { return Ok(Some(page)) };
    let Ok(after) = request.params.get("after").map(PageId::new).transpose() else { return Ok(None) };
    let part = request.admin.services.actions.lookup.screened(host.as_deref(), after, ROWS).await?;
    let item = |ScreenedPage { url, at, why }: &ScreenedPage| {
        let because = why.because.clone().unwrap_or_default();
        let item = Item::new(url, [why.topics.join(", "), because, moment(*at)]).linked(site_page(url));
        Item { picture: why.picture.clone(), ..item }.with([request.button("allow", url, "Allow")])
    };
    let items = part.rows.iter().map(item).collect();
    page.add_list(heading, items, part.next.as_ref().map(PageId::as_str), "There is none.");
    Ok(Some(page))
}

/// `GET /admin/overrides`
pub(super) async fn overrides(request: &AdminRequest) -> FoundPage<'_> {
    let lead = "Newest first. They decide about a page or a site, whatever content screening says of it.";
    let mut page = request.page("/admin/overrides", "Overrides", lead);
    let form = |act, label| {
        let target = Field::Line("A page’s whole URL, or a host: all names below it too");
        request.button(act, "", label).with("about_typed", target)
    };
    let topics = std::iter::once(("", "all topics")).chain(topic_names().map(|name| (name, name)));
    let topic = Field::Choice("Only what this topic rejects", topics.collect());
    let forms = [form("allow", "Allow").with("topic", topic), form("deny", "Deny")];
    page.forms = forms.map(|form| form.with("note", Field::Line("The reason"))).into();
    // A position by key stays valid if other overrides are removed.
    let key = |given: &StoredOverride| format!("{:015} {}", given.at.as_millis(), given.target());
    let mut all = request.admin.services.actions.overrides.list().await?;
    all.sort_by_key(|given| Reverse(key(given)));
    let after = request.params.get("after");
    let left = all.into_iter().filter(|given| after.is_none_or(|after| key(given).as_str() < after));
    let (rows, next) = part_of(left, key);
    let item = |given: &StoredOverride| {
        let topics = given.topics();
        let word = if given.is_allowing() { "allowed" } else { "denied" };
        let only = if topics.is_empty() { String::new() } else { format!("only {topics}") };
        let note = given.rule.note.clone().unwrap_or_default();
        let lines = [format!("{word}, {}", moment(given.at)), only, note];
        Item::new(given.target(), lines).with([request.button("take_back", given.target(), "Remove")])
    };
    page.add_list("In force", rows.iter().map(item).collect(), next.as_deref(), "There is no override.");
    Ok(Some(page))
}
