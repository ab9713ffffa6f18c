//! The commands, in one file for each command or group.

mod admin;
mod audit;
mod backup;
mod blocks;
pub(crate) mod config;
mod crawl;
mod demo;
mod failures;
mod fsck;
pub(crate) mod health;
mod key;
mod list;
pub(crate) mod manual;
mod messages;
pub(crate) mod model;
mod named;
mod overrides;
mod owners;
mod poll;
mod publish;
mod reextract;
mod search;
mod serve;
mod site;
mod summary;
mod trace;
pub(crate) mod transfer;
mod warc;
mod watch;

use crate::apart;
use crate::args::{Command, Import, KeyWhat, Shared, With};
use crate::failure::usage;
use crate::world::World;
use anyhow::Result;
use curlew_app::Settings as Config;
use curlew_embedded::Access;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const STACK: &str = "curlew";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Here,
    Stack(String),
}

impl Place {
    pub(crate) fn new(flags: &Shared) -> Place {
        if flags.aws { Place::Stack(flags.stack.clone().unwrap_or_else(|| STACK.to_owned())) } else { Place::Here }
    }

    /// Opens the store with its lock, and recovers from a crash. A stack has and needs no lock.
    async fn alone(&self, config: Config) -> Result<Arc<World>> {
        Ok(Arc::new(match self {
            Place::Here => exclusive(config).await?,
            Place::Stack(name) => Box::pin(World::of_stack(config, name)).await?,
        }))
    }

    /// Opens the store for reads and small changes, while another process may be using it.
    async fn beside(&self, config: Config) -> Result<World> {
        match self {
            Place::Here => World::open(config, Access::Shared),
            // Boxed, because this large future would enlarge the future of every command.
            Place::Stack(name) => Box::pin(World::of_stack(config, name)).await,
        }
    }

    /// Returns the program's name with the flags that select this place, for advice to users.
    pub(super) fn program(&self) -> String {
        match self {
            Place::Here => "curlew".to_owned(),
            Place::Stack(name) if name == STACK => "curlew --aws".to_owned(),
            Place::Stack(name) => format!("curlew --aws --stack {name}"),
        }
    }
}

/// Returns the name of a command that works on this machine only; `None` for all others.
fn only_here(command: &Command) -> Option<&'static str> {
    match command {
        Command::Demo(_) => Some("demo"),
        Command::Serve { .. } => Some("serve"),
        Command::Admin(_) => Some("admin"),
        Command::Backup { .. } => Some("backup"),
        Command::Restore { .. } => Some("restore"),
        _ => None,
    }
}

pub(crate) async fn run(command: Command, config: Config, place: Place) -> Result<()> {
    if let (Some(name), Place::Stack(_)) = (only_here(&command), &place) {
        return Err(usage(format!("`curlew {name}` works on this machine only: omit --aws")));
    }
    match command {
        Command::Config(what) => match &place {
            Place::Here => Ok(()),
            Place::Stack(name) => Box::pin(config::on_stack(&what, &config, name)).await,
        },
        Command::Crawl(args) => match &place {
            Place::Here => crawl::run(args, config).await,
            Place::Stack(_) => crawl::name_only(args, &place.beside(config).await?, &place).await,
        },
        Command::Demo(args) => demo::run(args, config).await,
        Command::Serve { listen } => serve::run(Arc::new(exclusive(config).await?.listening()), listen).await,
        // Boxed, because the future of a whole crawl is large.
        Command::Poll { names, output } => Box::pin(poll::run(&names, output, config, &place)).await,
        Command::Search { query, limit, explain, output } => {
            search::run(&place.beside(config).await?, &query, limit, explain, output.json).await
        }
        Command::Mcp => serve::mcp(&Arc::new(place.beside(config).await?)).await,
        Command::Sample { count, all, output } => {
            publish::sample(place.alone(config).await?, &place, count, all, output.json).await
        }
        Command::Index { year, output } => publish::index(&*place.alone(config).await?, year, output.json).await,
        Command::Status(output) => crate::status::run(&place.beside(config).await?, output.json).await,
        Command::Sites(args) => list::sites(&place.beside(config).await?, &args).await,
        Command::Feeds(args) => list::feeds(&place.beside(config).await?, &args).await,
        Command::Pages(args) => list::pages(&place.beside(config).await?, &args).await,
        Command::Holds(args) => list::holds(&place.beside(config).await?, &args).await,
        Command::Parked(args) => list::parked(&place.beside(config).await?, &args).await,
        Command::Audit(args) => audit::run(&place.beside(config).await?, &args).await,
        Command::Trace { page, log_file, output } => {
            trace::run(&place.beside(config).await?, &page, log_file.as_deref(), output.json).await
        }
        Command::Block { host } => blocks::block(&place.beside(config).await?, &host).await,
        Command::Unblock { host } => blocks::unblock(&place.beside(config).await?, &host).await,
        Command::Hold { host, length } => blocks::hold(&place.beside(config).await?, &host, length).await,
        Command::Unhold { host } => blocks::unhold(&place.beside(config).await?, &host).await,
        Command::Override(args) => overrides::run(&place.beside(config).await?, args).await,
        Command::Model(args) => Box::pin(model::run(args, config, &place)).await,
        Command::Messages(args) => messages::run(&place.beside(config).await?, args).await,
        Command::Owners(args) => owners::run(&place.beside(config).await?, &args).await,
        Command::Admin(what) => admin::run(&place.beside(config).await?, what).await,
        // The first key may be made before the store exists.
        Command::Key(args) if place == Place::Here && args.what == KeyWhat::New && !config.data.exists() => {
            key::run(&Box::pin(exclusive(config)).await?, &args).await
        }
        Command::Key(args) => key::run(&place.beside(config).await?, &args).await,
        Command::Watch(args) => watch::run(&place.beside(config).await?, args).await,
        Command::Tick(args) => match &place {
            Place::Here => Err(usage("`curlew tick` is for stacks: add --aws; `curlew serve` has its own schedules")),
            Place::Stack(stack) => Box::pin(publish::tick(stack, &args)).await,
        },
        Command::Redrive { names } => blocks::redrive(&place.beside(config).await?, &names).await,
        Command::Discard { names } => blocks::discard(&place.beside(config).await?, &names).await,
        Command::Backup { dir, output } => backup::take(&config, dir, output.json).await,
        Command::Restore { dir, replace, output } => backup::restore(&config, dir, replace, output.json).await,
        Command::Fsck { repair, output } => fsck::run(&place, config, repair, output.json).await,
        Command::Reextract(args) => reextract::run(&*place.alone(config).await?, args).await,
        Command::Export(what) => transfer::export(&place.beside(config).await?, what).await,
        Command::Import(With { what, json }) => {
            let world = place.alone(config).await?;
            match what {
                Import::Opml { file } => transfer::import_opml(&world, &file, json).await,
                Import::Warc { files } => warc::import(&world, &files, json).await,
            }
        }
        // `main` ran these commands, which need no store, or none that can be opened.
        Command::Check { .. }
        | Command::Doctor { .. }
        | Command::Init(_)
        | Command::Completions { .. }
        | Command::Man { .. }
        | Command::Health { .. } => Ok(()),
    }
}

/// Opens the store on this machine with its lock, and recovers from a crash.
async fn exclusive(config: Config) -> Result<World> {
    let world = World::open(config::with_eye(config)?, Access::Exclusive)?;
    world.recover().await?;
    Ok(world)
}

/// Returns a flag that the first SIGINT or SIGTERM sets. The second one ends the process at once with exit code 130.
pub(crate) fn stop_on_signal() -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    let told = stop.clone();
    let watched = apart::run("curlew-signals", tokio::runtime::Builder::new_current_thread(), async move {
        loop {
            wait_for_signal().await;
            if told.swap(true, Ordering::Relaxed) {
                std::process::exit(130);
            }
        }
    });
    if let Err(error) = watched {
        tracing::warn!(error = format!("{error:#}"), "a request to stop will end the program at once");
    }
    stop
}

async fn wait_for_signal() {
    use tokio::signal::unix::{SignalKind, signal};
    let terminated = async {
        match signal(SignalKind::terminate()) {
            Ok(mut terminate) => drop(terminate.recv().await),
            Err(_) => std::future::pending().await,
        }
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        () = terminated => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_names_the_stack() {
        let program = |line: &str| {
            let cli = crate::args::Cli::read(line.split(' ').map(Into::into)).unwrap_or_else(|e| panic!("{e}"));
            Place::new(&cli.shared).program()
        };
        assert_eq!(program("curlew status"), "curlew");
        assert_eq!(program("curlew --aws status"), "curlew --aws");
        assert_eq!(program("curlew --aws --stack curlew-dev status"), "curlew --aws --stack curlew-dev");
    }
}
