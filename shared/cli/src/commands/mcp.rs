//! `curlew mcp`.

use super::serve::services;
use crate::world::World;
use anyhow::Result;
use std::os::fd::AsFd;
use std::sync::Arc;
use tokio::fs::File;

/// Serves the tools for assistants over standard input and output, until the input ends.
pub(super) async fn run(world: Arc<World>) -> Result<()> {
    let (services, settings) = services(&world).await?;
    let input = std::io::stdin().as_fd().try_clone_to_owned()?;
    let output = std::io::stdout().as_fd().try_clone_to_owned()?;
    let (input, output) = (File::from_std(input.into()), File::from_std(output.into()));
    Ok(curlew_web::serve_streams(services, settings, input, output).await?)
}
