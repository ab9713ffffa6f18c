//! The commands, one file each.

mod audit;
mod blocks;
mod crawl;
mod demo;
mod list;
mod opml;
mod publish;
mod search;
mod serve;
pub(crate) mod status;
mod summary;
mod transfer;

use crate::args::{Command, Import};
use crate::config::Config;
use crate::world::World;
use anyhow::Result;
use curlew_embedded::Access;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Runs a command.
pub(crate) async fn run(command: Command, config: Config) -> Result<()> {
    match command {
        Command::Crawl(args) => crawl::run(args, config).await,
        Command::Demo(args) => demo::run(args, config).await,
        Command::Serve { listen } => serve::run(exclusive(config).await?, listen).await,
        Command::Search { query, limit, output } => search::run(&shared(config)?, &query, limit, output.json).await,
        Command::Sample { count, all, output } => {
            publish::sample(exclusive(config).await?, count, all, output.json).await
        }
        Command::Index { year, output } => publish::index(&*exclusive(config).await?, year, output.json).await,
        Command::Status { output } => status::run(&shared(config)?, output.json).await,
        Command::Sites(args) => list::sites(&shared(config)?, &args).await,
        Command::Feeds(args) => list::feeds(&shared(config)?, &args).await,
        Command::Pages(args) => list::pages(&shared(config)?, &args).await,
        Command::Holds(args) => list::holds(&shared(config)?, &args).await,
        Command::Parked(args) => list::parked(&shared(config)?, &args).await,
        Command::Audit(args) => audit::run(&shared(config)?, &args).await,
        Command::Block { host } => blocks::block(&shared(config)?, &host).await,
        Command::Unblock { host } => blocks::unblock(&shared(config)?, &host).await,
        Command::Redrive => blocks::redrive(&shared(config)?).await,
        Command::Export { what, since } => transfer::export(&shared(config)?, what, since).await,
        Command::Import { what: Import::Opml, file } => transfer::import_opml(&*exclusive(config).await?, &file).await,
        Command::Check { .. } => Ok(()),
    }
}

/// The store with its lock, and what a crash left behind taken up again.
async fn exclusive(config: Config) -> Result<Arc<World>> {
    let world = World::open(config, Access::Exclusive)?;
    world.recover().await?;
    Ok(Arc::new(world))
}

/// The store for looking, while another process may be at work.
fn shared(config: Config) -> Result<World> {
    World::open(config, Access::Shared)
}

/// Set when the person at the keyboard, or the system, asks to stop. Asking twice ends at once: the next run
/// takes up what was under way.
pub(crate) fn stop_on_signal() -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    let told = stop.clone();
    tokio::spawn(async move {
        loop {
            wait_for_signal().await;
            if told.swap(true, Ordering::Relaxed) {
                std::process::exit(130);
            }
        }
    });
    stop
}

async fn wait_for_signal() {
    use tokio::signal::unix::{SignalKind, signal};
    match signal(SignalKind::terminate()) {
        Ok(mut terminate) => {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = terminate.recv() => {}
            }
        }
        Err(_) => drop(tokio::signal::ctrl_c().await),
    }
}
