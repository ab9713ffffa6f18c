//! `curlew poll`: polls feeds now, whatever their schedule says.
//!
//! A request only puts a job into the queue: leases, pauses, holds and robots.txt apply as to every poll. The running
//! process takes the job; if there is none, this process does.

use super::crawl::until_end;
use super::{Place, exclusive, stop_on_signal};
use crate::args::{Output, Until};
use crate::output::{self, ADDRESS, printable};
use crate::world::World;
use anyhow::{Result, anyhow};
use curlew_app::Settings as Config;
use curlew_embedded::OpenError;
use curlew_model::SourceKey;
use curlew_people::audit_log::COMMAND_LINE;
use curlew_people::poll_requests::PollAnswer;
use curlew_policy::address;
use curlew_ports::stage::StageError;
use std::collections::BTreeSet;
use std::sync::Arc;

pub(super) async fn run(names: &[String], output: Output, config: Config, place: &Place) -> Result<()> {
    let world = place.beside(config.clone()).await?;
    let requested = world.desk.actions.poll(COMMAND_LINE, names).await.map_err(plainly)?;
    drop(world);
    let is_sent = requested.iter().any(PollAnswer::is_sent);
    if !output.json {
        for one in &requested {
            let reason = one.reason.as_ref().map(|text| format!(": {text}")).unwrap_or_default();
            let again = one.again_at.map(|at| format!("; ask again from {}", output::when(at))).unwrap_or_default();
            let line = format!("{}  {}{reason}{again}", printable(&one.url, ADDRESS), one.outcome);
            output::line(&line)?;
        }
    }
    let at_work = match place {
        Place::Stack(_) => Some("the stack polls what was sent within a minute".to_owned()),
        Place::Here if is_sent => match exclusive(config).await {
            Ok(world) => return alone(Arc::new(world), &requested, output.json).await,
            Err(error) => match error.downcast_ref::<OpenError>() {
                Some(OpenError::InUse { .. }) => Some("the curlew that is at work polls what was sent now".to_owned()),
                _ => return Err(error),
            },
        },
        Place::Here => None,
    };
    match at_work {
        _ if output.json => output::json(&serde_json::json!({ "requested": requested }))?,
        Some(who) if is_sent => output::line(&who)?,
        _ => {}
    }
    Ok(())
}

/// Returns an error of the ports as it is, and a sentence as an error of its own.
fn plainly(error: StageError) -> anyhow::Error {
    match error {
        StageError::Job(why) => anyhow!(why),
        StageError::Port(error) => error.into(),
    }
}

/// Polls in this process, since no other runs, and does other due work, until it is idle. The summary tells of the
/// feeds that were asked for.
async fn alone(world: Arc<World>, requested: &[PollAnswer], json: bool) -> Result<()> {
    let sent = requested.iter().filter(|one| one.is_sent()).filter_map(|one| address::parse(&one.url, None).ok());
    let sent: BTreeSet<SourceKey> = sent.map(|url| address::source_key(&url)).collect();
    let (summary, ran) = until_end(&world, Until::Idle, &sent, json, stop_on_signal()).await?;
    let summary = summary.without_history();
    if json {
        output::json(&serde_json::json!({ "requested": requested, "summary": summary }))?;
    } else {
        summary.print()?;
    }
    ran
}
