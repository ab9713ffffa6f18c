//! `curlew status`: shows counts, held hosts, parked jobs, and the reasons why pages were rejected.

use crate::output;
use crate::status::Status;
use crate::world::World;
use anyhow::Result;

pub(super) async fn run(world: &World, json: bool) -> Result<()> {
    let status = Status::gather(world).await?;
    if json {
        return Ok(output::json(&status)?);
    }
    let lines = status.lines();
    let width = lines.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    for (name, value) in lines {
        output::line(&format!("{name:width$}  {value}"))?;
    }
    Ok(())
}
