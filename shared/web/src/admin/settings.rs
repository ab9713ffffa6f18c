//! The settings in force, each with the layer that decides it. They are changed in the file, and read at the start.

use super::Admin;
use super::access::Operator;
use super::view::{AdminPage, Part, shown};

/// `GET /admin/settings`
pub(super) fn page<'a>(admin: &'a Admin, operator: &'a Operator) -> AdminPage<'a> {
    let mut page = AdminPage::new(admin, operator, "/admin/settings", "Settings");
    page.lead = "What is in force since this process began, and where each value comes from. `curlew config show` prints the same; secrets are not shown.".into();
    for setting in &admin.services.settings {
        let heading = if setting.table.is_empty() { "General".to_owned() } else { format!("[{}]", setting.table) };
        if page.parts.last().is_none_or(|part| part.heading != heading) {
            page.parts.push(Part::facts(&heading, vec![]));
        }
        let value = format!("{} ({})", shown(&setting.value), setting.origin);
        if let Some(part) = page.parts.last_mut() {
            part.facts.push((setting.key.clone(), value));
        }
    }
    page
}
