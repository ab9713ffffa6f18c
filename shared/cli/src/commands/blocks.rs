//! `curlew block`, `unblock` and `redrive`.

use crate::failure::usage;
use crate::output;
use crate::world::World;
use anyhow::Result;
use curlew_stages::stage::StageError;

/// Number of jobs that are put back at a time.
const LIST: usize = 500;

pub(super) fn explain(error: StageError) -> anyhow::Error {
    match error {
        StageError::Job(why) => usage(why),
        StageError::Port(error) => error.into(),
    }
}

pub(super) async fn block(world: &World, host: &str) -> Result<()> {
    let key = world.blocks.block(host).await.map_err(explain)?;
    output::line(&format!(
        "{host} is blocked: it is not called from the next call on, and its pages are not found (host key {key})"
    ))?;
    Ok(())
}

pub(super) async fn unblock(world: &World, host: &str) -> Result<()> {
    if world.blocks.unblock(host).await.map_err(explain)? {
        output::line(&format!("{host} is no longer blocked"))?;
    } else {
        output::line(&format!("{host} was not blocked"))?;
    }
    Ok(())
}

pub(super) async fn redrive(world: &World) -> Result<()> {
    let now = world.clock.now();
    let mut count = 0;
    loop {
        let dead = world.ports.inbox.dead(LIST).await?;
        if dead.is_empty() {
            break;
        }
        for job in dead {
            world.ports.inbox.redrive(&job.receipt, now).await?;
            count += 1;
        }
    }
    output::line(&format!("{} back in the queues; the next crawl runs them", output::count_are(count, "job")))?;
    Ok(())
}
