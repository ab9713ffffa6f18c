//! Watches: stored queries, and the delivery status of their matches.

use super::Admin;
use super::access::Operator;
use super::view::{AdminPage, Button, FieldKind, Item, Part, count, moment};
use curlew_people::watches::Watch;
use curlew_ports::stage::StageError;

/// `GET /admin/watches`
pub(super) async fn page<'a>(admin: &'a Admin, operator: &'a Operator) -> Result<AdminPage<'a>, StageError> {
    let mut page = AdminPage::new(admin, operator, "/admin/watches", "Watches");
    page.lead = "New pages that match a watch are posted to its receiver after each publishing, signed.".into();
    let add = Button::new(admin, operator, "add_watch", "", "Add the watch")
        .with("query", "Query, as in search", FieldKind::Line)
        .with("url", "Address that new matches are posted to", FieldKind::Line);
    page.forms = vec![add];
    let watches = admin.services.actions.watches.list().await?;
    let items = watches.iter().map(|watch| item(admin, operator, watch)).collect();
    page.parts.push(Part::items("Webhooks", items, "There is none."));
    Ok(page)
}

fn item(admin: &Admin, operator: &Operator, watch: &Watch) -> Item {
    let receiver = &watch.receiver;
    let last = receiver.delivered_at.map(|at| format!(", last {}", moment(at))).unwrap_or_default();
    let trouble = receiver.error.as_ref().map(|error| match (receiver.given_up, receiver.retry_at) {
        (true, _) => format!("given up: {error}. Its job is among the dead jobs, and goes on when it is put back."),
        (false, Some(at)) => format!("{error}; tried again {}", moment(at)),
        (false, None) => error.clone(),
    });
    let lines = [
        format!("to {}", watch.to),
        format!("{} delivered{last}", count(receiver.delivered, "match", "matches")),
        trouble.unwrap_or_default(),
    ];
    let remove = Button::new(admin, operator, "remove_watch", &watch.name, "Remove").grave();
    Item::new(&watch.query, lines).with([remove])
}
