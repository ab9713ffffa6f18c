//! The overview: counts, holds by reason, dead jobs, lateness, the latest acts.

use super::access::Operator;
use super::view::{AdminPage, Part, moment};
use super::{Admin, ENGLISH, log};
use crate::status;
use crate::words;
use curlew_ports::stage::StageError;

/// Number of acts that are shown.
const ACTS: usize = 5;

/// `GET /admin`
pub(super) async fn page<'a>(admin: &'a Admin, operator: &'a Operator) -> Result<AdminPage<'a>, StageError> {
    let (t, now) = (words::Status::in_language(ENGLISH), admin.app.clock.now());
    let status = admin.app.status.get().await?;
    let messages = admin.app.services.messages.count().await?;
    let acts = admin.services.actions.log.latest(ACTS).await?;
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
        let held = counted.held.iter().map(|(why, hosts)| number((t.hold)(*why), *hosts)).collect();
        parts.push(Part { none: t.no_holds, ..Part::facts("Hosts on hold, by reason", held) });
    }
    let queues = status.queues.iter().map(|queue| {
        let count = queue.count;
        let text = format!(
            "{} due, {} waiting, {} under way, {} given up",
            count.ready, count.waiting, count.in_flight, count.dead
        );
        ((t.stage)(queue.stage).to_owned(), text)
    });
    parts.push(Part { none: "Jobs are not counted here.", ..Part::facts("Queues", queues.collect()) });
    let acts = acts.iter().map(log::item).collect();
    parts.push(Part::items("Latest acts", acts, "No operator has done anything in the last three months."));
    let mut page = AdminPage::new(admin, operator, "/admin", "Overview");
    page.lead = "Counts are at most a minute old.".into();
    page.parts = parts;
    Ok(page)
}
