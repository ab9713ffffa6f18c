//! `curlew poll`: polls feeds now. Each request becomes a job, so leases, pauses, holds and robots.txt apply as usual.
//! A running process does the jobs; if there is none, this process does them.

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
use serde_json::json;
use std::collections::BTreeSet;
use std::sync::Arc;

pub(super) async fn run(names: &[String], output: Output, config: Config, place: &Place) -> Result<()> {
    let world = place.beside(config.clone()).await?;
    // Unlike `explain`, this does not report a refusal as a usage error.
    let requested = world.desk.actions.poll(COMMAND_LINE, names).await.map_err(|error| match error {
        StageError::Job(why) => anyhow!(why),
        StageError::Port(error) => error.into(),
    })?;
    drop(world);
    if !output.json {
        for one in &requested {
            let reason = one.reason.as_ref().map(|text| format!(": {text}")).unwrap_or_default();
            let again = one.again_at.map(|at| format!("; try again from {}", output::when(at))).unwrap_or_default();
            output::line(format!("{}  {}{reason}{again}", printable(&one.url, ADDRESS), one.outcome))?;
        }
    }
    let is_sent = requested.iter().any(PollAnswer::is_sent);
    let at_work = match place {
        Place::Stack(_) => "the stack polls these feeds within a minute",
        Place::Here if is_sent => match exclusive(config).await {
            Ok(world) => return alone(Arc::new(world), &requested, output.json).await,
            Err(error) if matches!(error.downcast_ref(), Some(OpenError::InUse { .. })) => {
                "the running curlew polls these feeds now"
            }
            Err(error) => return Err(error),
        },
        Place::Here => "",
    };
    if output.json {
        output::json(&json!({ "requested": requested }))
    } else if is_sent {
        output::line(at_work)
    } else {
        Ok(())
    }
}

/// Runs the polls and other due work in this process, because no other one runs, until it is idle.
async fn alone(world: Arc<World>, requested: &[PollAnswer], json: bool) -> Result<()> {
    let sent = requested.iter().filter(|one| one.is_sent()).filter_map(|one| address::parse(&one.url, None).ok());
    let sent: BTreeSet<SourceKey> = sent.map(|url| address::source_key(&url)).collect();
    let (mut summary, ran) = until_end(&world, Until::Idle, &sent, json, stop_on_signal()).await?;
    // Leave out the back catalogues, because they are those of all sites.
    summary.history.clear();
    if json {
        output::json(&json!({ "requested": requested, "summary": summary }))?;
    } else {
        summary.print()?;
    }
    ran
}
