//! Messages to the operator, claims of site owners, dead jobs, and watches.

use super::view::{Field, Item, Part, ROWS, moment, part_of};
use super::{AdminRequest, ENGLISH, FoundPage};
use curlew_model::Job;
use curlew_people::descriptions::job_subject;
use curlew_people::messages::About;
use curlew_people::ownership::claims;
use curlew_people::watches::Watch;
use curlew_policy::site::ownership::proven_until;
use curlew_ports::Dead;

/// Maximum number of jobs on the page.
const JOBS: usize = 200;

/// `GET /admin/messages`
pub(super) async fn messages(request: &AdminRequest) -> FoundPage<'_> {
    let part = request.admin.services.actions.messages.part(request.params.get("after"), ROWS).await?;
    let items = part.rows.iter().map(|(name, kept)| {
        let message = &kept.message;
        let about = match message.about {
            About::Question => "Question",
            About::Crawler => "The crawler behaves badly",
            About::Abuse => "A page should not be found",
            About::Removal => "Remove a site",
        };
        let named = |what: &str, text: &str| if text.is_empty() { String::new() } else { format!("{what} {text}") };
        let lines = [
            format!("{} {name}", moment(kept.at)),
            named("about", &message.address),
            named("answer to", &message.reply_to),
        ];
        let text = message.text.lines().map(str::to_owned);
        let close = request.button("close_message", name, "Delete").grave();
        Item::new(about, lines.into_iter().chain(text)).with([close])
    });
    let mut page =
        request.page("/admin/messages", "Messages", "Newest day first. A message is deleted when its month is over.");
    page.add_list("To read", items.collect(), part.next.as_deref(), "There is none.");
    Ok(Some(page))
}

/// `GET /admin/owners`
pub(super) async fn owners(request: &AdminRequest) -> FoundPage<'_> {
    let now = request.admin.app.clock.now();
    let all = claims(request.admin.services.actions.lookup.politeness.blobs.as_ref()).await?.into_iter();
    let left = all.filter(|of| request.params.get("after").is_none_or(|after| of.host.as_str() > after));
    let (hosts, next) = part_of(left, |of| of.host.clone());
    let items = hosts.iter().flat_map(|of| of.claims.iter().map(move |claim| (of, claim))).map(|(of, claim)| {
        let proof = match (claim.proof, proven_until(claim, now)) {
            (Some((way, _)), Some(until)) => format!("proven by {} until {}", way.as_str(), moment(until)),
            _ => "not proven".to_owned(),
        };
        let asked = claim.asked.iter().map(|(request, at)| {
            let done = claim.done.get(request).filter(|done| *done >= at);
            let done = done.map_or_else(|| "not done yet".to_owned(), |done| format!("done {}", moment(*done)));
            format!("{} {}, {done}", moment(*at), format!("{request:?}").to_lowercase())
        });
        Item::new(&of.host, std::iter::once(proof).chain(asked)).linked(Some(format!("/admin/site/{}", of.host)))
    });
    let lead = "Who claims a site, how it is proven, and what was asked for.";
    let mut page = request.page("/admin/owners", "Owners of sites", lead);
    page.add_list("Claims", items.collect(), next.as_deref(), "Nobody has claimed a site.");
    Ok(Some(page))
}

/// `GET /admin/dead`
pub(super) async fn dead(request: &AdminRequest) -> FoundPage<'_> {
    let all = request.admin.services.actions.lookup.inbox.dead(JOBS + 1).await?;
    let lead = "Jobs that failed again and again, newest first, each with its error and what caused it.";
    let mut page = request.page("/admin/dead", "Dead jobs", lead);
    if !all.is_empty() {
        page.forms.push(request.button("redrive_all", "", "Put all back into their queues"));
    }
    if all.len() > JOBS {
        page.lead += " There are more than are shown.";
    }
    let item = |dead: &Dead| {
        let subject = Job::from_message(&dead.message).ok().map(|job| job_subject(&job));
        let title = format!("{} {}", dead.stage.as_str(), subject.as_deref().unwrap_or("that cannot be read"));
        let button = |act, label| request.button(act, &dead.receipt.0, label);
        let buttons = [button("redrive", "Put back"), button("discard", "Discard").grave()];
        Item::new(&title, [dead.error.clone(), moment(dead.at), dead.message.clone()]).with(buttons)
    };
    page.parts.push(Part::items("Given up", all.iter().take(JOBS).map(item).collect(), "No job was given up."));
    Ok(Some(page))
}

/// `GET /admin/watches`: stored queries, and the delivery status of their matches.
pub(super) async fn watches(request: &AdminRequest) -> FoundPage<'_> {
    let lead = "New pages that match a watch are posted to its receiver after each publishing, signed.";
    let mut page = request.page("/admin/watches", "Watches", lead);
    let add = request.button("add_watch", "", "Add the watch");
    let add = add.with("query", Field::Line("Query, as in search"));
    page.forms = vec![add.with("url", Field::Line("Address that new matches are posted to"))];
    let watches = request.admin.services.actions.watches.list().await?;
    let items = watches.iter().map(|watch| watch_item(request, watch)).collect();
    page.parts.push(Part::items("Webhooks", items, "There is none."));
    Ok(Some(page))
}

fn watch_item(request: &AdminRequest, watch: &Watch) -> Item {
    let receiver = &watch.receiver;
    let last = receiver.delivered_at.map(|at| format!(", last {}", moment(at))).unwrap_or_default();
    let trouble = receiver.error.as_ref().map(|error| match (receiver.given_up, receiver.retry_at) {
        (true, _) => format!("given up: {error}. Its job is among the dead jobs, and goes on when it is put back."),
        (false, Some(at)) => format!("{error}; tried again {}", moment(at)),
        (false, None) => error.clone(),
    });
    let lines = [
        format!("to {}", watch.to),
        format!("{} delivered{last}", ENGLISH.count(receiver.delivered, "match", "matches")),
        trouble.unwrap_or_default(),
    ];
    Item::new(&watch.query, lines).with([request.button("remove_watch", &watch.name, "Remove").grave()])
}
