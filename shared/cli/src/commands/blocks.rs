//! `curlew block`, `unblock`, `hold`, `unhold`, `redrive` and `discard`.

use crate::failure::usage;
use crate::output;
use crate::world::World;
use anyhow::{Result, bail};
use curlew_model::Millis;
use curlew_people::actions::HoldLift;
use curlew_people::audit_log::COMMAND_LINE;
use curlew_ports::stage::StageError;

/// Turns a refused request into a usage error; passes port errors on unchanged.
pub(super) fn explain(error: StageError) -> anyhow::Error {
    match error {
        StageError::Job(why) => usage(why),
        StageError::Port(error) => error.into(),
    }
}

pub(super) async fn block(world: &World, host: &str) -> Result<()> {
    let key = world.desk.actions.block(COMMAND_LINE, host).await.map_err(explain)?;
    output::line(format!(
        "{host} is blocked: it is not contacted again, and its pages are hidden from search (host key {key})"
    ))
}

pub(super) async fn unblock(world: &World, host: &str) -> Result<()> {
    let was_blocked = world.desk.actions.unblock(COMMAND_LINE, host).await.map_err(explain)?;
    output::line(format!("{host} {}", if was_blocked { "is no longer blocked" } else { "was not blocked" }))
}

pub(super) async fn hold(world: &World, host: &str, length: Millis) -> Result<()> {
    let key = world.desk.actions.hold(COMMAND_LINE, host, length).await.map_err(explain)?;
    let (state, _) = world.ports.ledger.load(&key).await?;
    let hold = state.hold_at(world.clock.now());
    let until = hold.map(|hold| format!("until {}, ", output::when(hold.until))).unwrap_or_default();
    output::line(format!("{key} is on hold {until}from the next call on; its waiting jobs are kept"))
}

pub(super) async fn unhold(world: &World, host: &str) -> Result<()> {
    output::line(match world.desk.actions.lift_hold(COMMAND_LINE, host).await.map_err(explain)? {
        HoldLift::Lifted => format!("{host} is no longer held; its waiting jobs continue within an hour"),
        HoldLift::WasNone => format!("{host} was not held"),
        HoldLift::OthersRemain(until) => {
            let until = output::when(until);
            format!("{host} was not held by an operator; its own responses caused a hold until {until}")
        }
    })
}

pub(super) async fn redrive(world: &World, names: &[String]) -> Result<()> {
    let mut count = names.len() as u64;
    for name in names {
        if !world.desk.actions.redrive(COMMAND_LINE, name).await? {
            bail!("no job '{name}' was given up");
        }
    }
    if names.is_empty() {
        count = world.desk.actions.redrive_all(COMMAND_LINE).await?;
    }
    output::line(format!("{} back in the queues; the next crawl runs them", output::count_are(count, "job")))
}

pub(super) async fn discard(world: &World, names: &[String]) -> Result<()> {
    for name in names {
        if !world.desk.actions.discard(COMMAND_LINE, name).await? {
            bail!("no job '{name}' was given up");
        }
    }
    output::line(format!("{} permanently deleted", output::count_are(names.len() as u64, "job")))
}
