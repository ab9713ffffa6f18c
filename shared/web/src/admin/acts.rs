//! The acts of operators: each calls [`curlew_people::actions::Actions`] and reports the outcome.

use super::view::{Button, Field, moment, shown};
use super::{AdminRequest, ENGLISH};
use crate::form::{Filled, Notice};
use crate::secret::keyed;
use curlew_model::Millis;
use curlew_people::actions::{Actions, HoldLift};
use curlew_people::overrides::OverrideEffect;
use curlew_people::suggest::{NamedSource, SuggestError, SuggestOutcome};
use curlew_people::watches::WatchError;
use curlew_ports::stage::StageError;
use hmac::Mac;

/// Maximum number of feeds in a pasted list; longer lists are imported with the command line.
const MAX_FEEDS: usize = 2_000;
/// Maximum number of refused feeds, or of polled feeds, that a report names.
const NAMED: usize = 20;
/// Label of the use of the secret that derives the keys of watches.
const WATCH_KEYS: &[u8] = b"curlew watch 1";

pub(super) struct ActReport {
    pub(super) title: &'static str,
    pub(super) notice: Notice,
    /// Buttons that undo the act.
    pub(super) then: Vec<Button>,
}

impl ActReport {
    fn good(title: &'static str, text: impl Into<String>) -> ActReport {
        ActReport { title, notice: Notice::good(text), then: vec![] }
    }

    /// Returns the report of an act that changed nothing.
    fn nothing(text: impl Into<String>) -> ActReport {
        ActReport { title: "Nothing was changed", notice: Notice::bad(text), then: vec![] }
    }

    /// Returns the report of an act that is still running.
    pub(super) fn under_way() -> ActReport {
        ActReport::good(
            "Under way",
            "This takes a while. It goes on, also if this page is closed; the audit log says when it has ended.",
        )
    }

    fn then(mut self, button: Button) -> ActReport {
        self.then.push(button);
        self
    }
}

/// Carries out the act of a form. Fails with [`StageError::Job`] and a sentence if that is impossible.
pub(super) async fn run(request: &AdminRequest, filled: &Filled) -> Result<ActReport, StageError> {
    let (actions, by) = (&request.admin.services.actions, request.operator.name.as_str());
    let typed = filled.get("about_typed");
    let about = if typed.is_empty() { filled.get("about") } else { typed };
    let undo = |act| request.button(act, about, "Undo");
    let is_sure = filled.get("sure") == "yes";
    let note = Some(filled.get("note").to_owned()).filter(|note| !note.is_empty());
    Ok(match filled.get("act") {
        "block" | "hold" | "allow" | "deny" | "poll" if about.is_empty() => {
            ActReport::nothing("No host or page was named.")
        }
        "add_site" => named(actions.add_site(by, filled.get("url")).await)?,
        "add_feed" => named(actions.add_feed(by, filled.get("url")).await)?,
        "import" => import(actions, by, filled.get("opml")).await?,
        "poll" => {
            let answers = actions.poll(by, &[about.to_owned()]).await?;
            let said = answers.iter().take(NAMED).map(|answer| {
                let reason = answer.reason.as_ref().map(|why| format!(", {why}")).unwrap_or_default();
                let again = answer.again_at.map(|at| format!("; ask again from {}", moment(at))).unwrap_or_default();
                format!("{}: {}{reason}{again}", answer.url, answer.outcome)
            });
            let said = said.collect::<Vec<_>>().join(". ");
            let is_sent = answers.iter().any(|answer| answer.is_sent());
            if is_sent { ActReport::good("Asked for", shown(&said)) } else { ActReport::nothing(shown(&said)) }
        }
        "block" => {
            actions.block(by, about).await?;
            let text = format!("{about} is not called from the next call on, and its pages are not found.");
            ActReport::good("Blocked", text).then(undo("unblock"))
        }
        "unblock" if actions.unblock(by, about).await? => {
            ActReport::good("Block lifted", format!("{about} is no longer blocked.")).then(undo("block"))
        }
        "unblock" => ActReport::nothing(format!("{about} was not blocked.")),
        "hold" => {
            let length: Millis =
                filled.get("length").parse().map_err(|_| StageError::Job("no length of time".into()))?;
            let key = actions.hold(by, about, length).await?;
            let text = format!("{key} is left alone from the next call on. What waits for it is not given up.");
            ActReport::good("Held", text).then(undo("lift_hold"))
        }
        "lift_hold" => match actions.lift_hold(by, about).await? {
            HoldLift::Lifted => {
                let text = format!("{about} is no longer held by an operator. What waits goes on within an hour.");
                let again = undo("hold").with("length", Field::Hidden("7d".to_owned()));
                ActReport::good("Hold lifted", text).then(again)
            }
            HoldLift::WasNone => ActReport::nothing(format!("{about} was not held.")),
            HoldLift::OthersRemain(until) => ActReport::nothing(format!(
                "{about} was not held by an operator. Its own answers have it left alone until {}, which \
                 nobody can lift.",
                moment(until)
            )),
        },
        "allow" => {
            let topics: Vec<String> =
                filled.get("topic").split(", ").filter(|name| !name.is_empty()).map(str::to_owned).collect();
            let text = effect(about, "allowed", actions.allow(by, about, &topics, note).await?);
            ActReport::good("Allowed", text).then(undo("take_back"))
        }
        "deny" => {
            let text = effect(about, "denied", actions.deny(by, about, note).await?);
            ActReport::good("Denied", text).then(undo("take_back"))
        }
        "take_back" => match actions.take_back_override(by, about).await? {
            Some((old, followed)) => {
                let act = if old.is_allowing() { "allow" } else { "deny" };
                let again = undo(act).with("topic", Field::Hidden(old.topics()));
                let again = again.with("note", Field::Hidden(old.rule.note.unwrap_or_default()));
                let text = effect(about, "judged by content screening again", followed);
                ActReport::good("Override removed", text).then(again)
            }
            None => ActReport::nothing(format!("There was no override about {about}.")),
        },
        "add_watch" => add_watch(request, filled).await?,
        "close_message" | "discard" | "remove_watch" if !is_sure => {
            ActReport::nothing("This cannot be undone, so it is only done with a tick beside it.")
        }
        "close_message" if actions.close_message(by, about).await? => {
            ActReport::good("Deleted", "The message is deleted.")
        }
        "close_message" => ActReport::nothing("There is no such message any more."),
        "remove_watch" if actions.remove_watch(by, about).await? => {
            ActReport::good("Removed", "Its matches are no longer posted.")
        }
        "remove_watch" => ActReport::nothing("There is no such watch any more."),
        "redrive_all" => match actions.redrive_all(by).await? {
            0 => ActReport::nothing("No job was given up."),
            n => ActReport::good("Put back", format!("{} put back.", ENGLISH.count(n, "job was", "jobs were"))),
        },
        "redrive" if actions.redrive(by, about).await? => ActReport::good("Put back", "The job is back in its queue."),
        "discard" if actions.discard(by, about).await? => ActReport::good("Discarded", "The job is gone for good."),
        "redrive" | "discard" => ActReport::nothing("There is no such job any more: somebody was quicker."),
        _ => ActReport::nothing("There is no such act."),
    })
}

fn named(outcome: Result<NamedSource, SuggestError>) -> Result<ActReport, StageError> {
    match outcome {
        Ok(named) if named.outcome == SuggestOutcome::Taken => Ok(ActReport::good("Added", "It is looked at now.")),
        Ok(_) => Ok(ActReport::nothing("It was known already; if it is due, it is looked at now.")),
        Err(SuggestError::Refused(why)) => Err(StageError::Job(why.to_string())),
        Err(SuggestError::Stage(error)) => Err(error),
    }
}

async fn add_watch(request: &AdminRequest, filled: &Filled) -> Result<ActReport, StageError> {
    // The form's token is valid only once, so no two watches have the same key.
    let (admin, by) = (&request.admin, &request.operator.name);
    let key = keyed(&admin.app.settings.secret, WATCH_KEYS).chain_update(filled.get("token")).finalize().into_bytes();
    match admin.services.actions.add_watch(by, filled.get("query"), filled.get("url"), &key).await {
        Ok(watch) => {
            let key = watch.secret.unwrap_or_default();
            let text = format!("New matches are posted to {}. Key of the signatures, shown only now: {key}", watch.to);
            Ok(ActReport::good("Watch added", text))
        }
        Err(WatchError::Refused(why)) => Err(StageError::Job(why)),
        Err(WatchError::Stage(error)) => Err(error),
    }
}

async fn import(actions: &Actions, by: &str, text: &str) -> Result<ActReport, StageError> {
    let feeds = actions.read_list(text.to_owned()).await?;
    if feeds.len() > MAX_FEEDS {
        let why = format!("the list has {} feeds: `curlew import opml FILE` takes more than {MAX_FEEDS}", feeds.len());
        return Err(StageError::Job(why));
    }
    let report = actions.import(by, &feeds).await?;
    let counts = format!("{} new, {} known, {} refused.", report.new, report.known, report.refused.len());
    let refused = report.refused.iter().take(NAMED).map(|(_, why)| shown(&why.to_string()));
    let text = std::iter::once(counts).chain(refused).collect::<Vec<_>>().join(" ");
    Ok(if report.new > 0 { ActReport::good("Imported", text) } else { ActReport::nothing(text) })
}

fn effect(about: &str, what: &str, followed: OverrideEffect) -> String {
    let OverrideEffect { removed, taken_up } = followed;
    format!(
        "{about} is {what}. Of the pages known already, {removed} left the index, {taken_up} will be fetched once more \
         within minutes."
    )
}
