//! Messages to the operator, the claims of sites' owners, and jobs that were given up.

use super::Admin;
use super::access::Operator;
use super::view::{AdminPage, Button, Item, Part, ROWS, moment, part_of};
use crate::params::Params;
use curlew_model::{Job, Way};
use curlew_people::descriptions::job_subject;
use curlew_people::messages::About;
use curlew_people::ownership::claims;
use curlew_policy::site::ownership::proven_until;
use curlew_ports::Dead;
use curlew_ports::stage::StageError;

/// Maximum number of jobs that are shown.
const JOBS: usize = 200;

/// `GET /admin/messages`
pub(super) async fn messages<'a>(
    admin: &'a Admin,
    operator: &'a Operator,
    params: &Params,
) -> Result<AdminPage<'a>, StageError> {
    let path = "/admin/messages";
    let part = admin.services.actions.messages.part(params.get("after"), ROWS).await?;
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
        let close = Button::new(admin, operator, "close_message", name, "Delete").grave();
        Item::new(about, lines.into_iter().chain(text)).with([close])
    });
    let mut page = AdminPage::new(admin, operator, path, "Messages");
    page.lead = "Newest day first. A message is deleted when its month is over.".into();
    page.add_list(path, ("To read", items.collect()), part.next.as_deref(), "There is none.");
    Ok(page)
}

/// `GET /admin/owners`
pub(super) async fn owners<'a>(
    admin: &'a Admin,
    operator: &'a Operator,
    params: &Params,
) -> Result<AdminPage<'a>, StageError> {
    let (path, now) = ("/admin/owners", admin.app.clock.now());
    let all = claims(admin.services.lookup.politeness.blobs.as_ref()).await?.into_iter();
    let left = all.filter(|of| params.get("after").is_none_or(|after| of.host.as_str() > after));
    let (hosts, next) = part_of(left, |of| of.host.clone());
    let items = hosts.iter().flat_map(|of| of.claims.iter().map(move |claim| (of, claim))).map(|(of, claim)| {
        let proof = match (claim.proof, proven_until(claim, now)) {
            (Some((way, _)), Some(until)) => {
                let way = match way {
                    Way::Dns => "a TXT record",
                    Way::File => "a file",
                    Way::Meta => "its home page",
                };
                format!("proven by {way} until {}", moment(until))
            }
            _ => "not proven".to_owned(),
        };
        let asked = claim.asked.iter().map(|(request, at)| {
            let done = claim.done.get(request).filter(|done| *done >= at);
            let done = done.map_or_else(|| "not done yet".to_owned(), |done| format!("done {}", moment(*done)));
            format!("{} {}, {done}", moment(*at), format!("{request:?}").to_lowercase())
        });
        Item::new(&of.host, std::iter::once(proof).chain(asked)).linked(Some(format!("/admin/site/{}", of.host)))
    });
    let mut page = AdminPage::new(admin, operator, path, "Owners of sites");
    page.lead = "Who claims a site, how it is proven, and what was asked for.".into();
    page.add_list(path, ("Claims", items.collect()), next.as_deref(), "Nobody has claimed a site.");
    Ok(page)
}

/// `GET /admin/dead`
pub(super) async fn dead<'a>(admin: &'a Admin, operator: &'a Operator) -> Result<AdminPage<'a>, StageError> {
    let all = admin.services.lookup.inbox.dead(JOBS + 1).await?;
    let mut page = AdminPage::new(admin, operator, "/admin/dead", "Dead jobs");
    page.lead = "Jobs that failed again and again, newest first, each with its error and what caused it.".into();
    if !all.is_empty() {
        page.forms.push(Button::new(admin, operator, "redrive_all", "", "Put all back into their queues"));
    }
    if all.len() > JOBS {
        page.lead += " There are more than are shown.";
    }
    let item = |dead: &Dead| {
        let subject = Job::from_message(&dead.message).ok().map(|job| job_subject(&job));
        let title = format!("{} {}", dead.stage.as_str(), subject.as_deref().unwrap_or("that cannot be read"));
        let button = |act, label| Button::new(admin, operator, act, &dead.receipt.0, label);
        let buttons = [button("redrive", "Put back"), button("discard", "Discard").grave()];
        Item::new(&title, [dead.error.clone(), moment(dead.at), dead.message.clone()]).with(buttons)
    };
    page.parts.push(Part::items("Given up", all.iter().take(JOBS).map(item).collect(), "No job was given up."));
    Ok(page)
}
