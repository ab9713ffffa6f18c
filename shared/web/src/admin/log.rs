//! The audit log: what operators did last, by whom.

use super::Admin;
use super::access::Operator;
use super::view::{AdminPage, Item, Part, moment};
use curlew_people::audit_log::AuditEntry;
use curlew_ports::stage::StageError;

/// Number of entries that are shown.
const SHOWN: usize = 200;

/// `GET /admin/audit`
pub(super) async fn page<'a>(admin: &'a Admin, operator: &'a Operator) -> Result<AdminPage<'a>, StageError> {
    let items = admin.services.actions.log.latest(SHOWN).await?.iter().map(item).collect();
    let mut page = AdminPage::new(admin, operator, "/admin/audit", "Audit log");
    page.lead = "What operators did, by these pages and by the command line, newest first. `curlew audit` lists all of it, and the pages that were removed.".into();
    page.parts.push(Part::items("Latest acts", items, "No operator has done anything in the last three months."));
    Ok(page)
}

/// Returns an entry as an item of a list.
pub(super) fn item(entry: &AuditEntry) -> Item {
    let AuditEntry { at, act, by } = entry;
    let title = format!("{} {}", act.what.replace('_', " "), act.about);
    let how = format!("{}, by {by}", moment(*at));
    Item::new(&title, [how, act.reason.replace('_', " "), act.note.clone().unwrap_or_default()])
}
