//! The overview, with counts and the latest acts; the audit log; the settings in force.

use super::view::{AdminPage, Item, Part, moment, shown};
use super::{AdminRequest, ENGLISH, FoundPage};
use crate::{status, words};
use curlew_people::audit_log::AuditEntry;

/// Number of acts in the overview, and in the audit log.
const LATEST: usize = 5;
const LOGGED: usize = 200;
/// Text that is shown if there are no acts.
const NO_ACTS: &str = "No operator has done anything in the last three months.";

/// `GET /admin`
pub(super) async fn page(request: &AdminRequest) -> FoundPage<'_> {
    let (app, t) = (&request.admin.app, words::Status::in_language(ENGLISH));
    let (status, now) = (app.status.get().await?, app.clock.now());
    let messages = app.services.messages.count().await?;
    let acts = request.admin.services.actions.log.latest(LATEST).await?;
    let number = |name: &str, n: u64| (name.to_owned(), ENGLISH.number(n));

    let late = status.due_since.map_or_else(|| "nothing is late".to_owned(), |due| ENGLISH.roughly(now.since(due)));
    let dead = status.queues.iter().map(|queue| queue.count.dead).sum();
    let published = status.index.iter().filter_map(|year| year.published).max();
    let facts = vec![
        ("Oldest due job".to_owned(), late),
        number("Jobs that were given up", dead),
        number("Messages to read", messages as u64),
        number("Pages in the index", status.index.iter().map(|year| year.pages).sum()),
        ("Index published".to_owned(), published.map_or_else(|| "not yet".to_owned(), moment)),
    ];
    let mut parts = vec![Part::facts("Now", facts)];
    if let Some(counted) = &status.counted {
        let counts = status::counts(t, counted).map(|(name, n)| number(name, n));
        parts.push(Part::facts("Sites and pages", counts.into()));
        let held = counted.held.iter().map(|(why, hosts)| number(words::status::hold(ENGLISH, *why), *hosts)).collect();
        parts.push(Part { none: t.no_holds, ..Part::facts("Hosts on hold, by reason", held) });
    }
    let queues = status.queues.iter().map(|queue| {
        let count = queue.count;
        let text = format!(
            "{} due, {} waiting, {} under way, {} given up",
            count.ready, count.waiting, count.in_flight, count.dead
        );
        (words::status::stage(ENGLISH, queue.stage).to_owned(), text)
    });
    parts.push(Part { none: "Jobs are not counted here.", ..Part::facts("Queues", queues.collect()) });
    parts.push(Part::items("Latest acts", acts.iter().map(logged).collect(), NO_ACTS));
    Ok(Some(AdminPage { parts, ..request.page("/admin", "Overview", "Counts are at most a minute old.") }))
}

/// `GET /admin/audit`: the latest acts, each with its operator.
pub(super) async fn audit_log(request: &AdminRequest) -> FoundPage<'_> {
    let items = request.admin.services.actions.log.latest(LOGGED).await?.iter().map(logged).collect();
    let lead = "What operators did, by these pages and by the command line, newest first. \
                `curlew audit` lists all of it, and the pages that were removed.";
    let mut page = request.page("/admin/audit", "Audit log", lead);
    page.parts.push(Part::items("Latest acts", items, NO_ACTS));
    Ok(Some(page))
}

fn logged(entry: &AuditEntry) -> Item {
    let AuditEntry { at, act, by } = entry;
    let title = format!("{} {}", act.what.replace('_', " "), act.about);
    let how = format!("{}, by {by}", moment(*at));
    Item::new(&title, [how, act.reason.replace('_', " "), act.note.clone().unwrap_or_default()])
}

/// `GET /admin/settings`: the settings in force, each with the layer that sets it.
pub(super) fn settings(request: &AdminRequest) -> AdminPage<'_> {
    let lead = "What is in force since this process began, and where each value comes from. \
                `curlew config show` prints the same; secrets are not shown.";
    let mut page = request.page("/admin/settings", "Settings", lead);
    let tables = request.admin.services.settings.chunk_by(|one, other| one.table == other.table);
    page.parts.extend(tables.map(|settings| {
        let table = &settings[0].table;
        let heading = if table.is_empty() { "General".to_owned() } else { format!("[{table}]") };
        let value = |value: &str, origin: &str| format!("{} ({origin})", shown(value));
        let facts = settings.iter().map(|of| (of.key.clone(), value(&of.value, &of.origin)));
        Part::facts(&heading, facts.collect())
    }));
    page
}
