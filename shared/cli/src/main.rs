//! `curlew`: the local runner and the operator's commands.

mod args;
mod check;
mod commands;
mod config;
#[cfg(test)]
mod documents;
mod failure;
mod history;
mod live_status;
mod log;
mod optional;
mod output;
mod progress;
mod runner;
mod server;
mod status;
mod world;

use anyhow::Result;
use args::{Cli, Command};
use clap::error::ErrorKind;
use commands::Place;
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = match Cli::read(std::env::args_os()) {
        Ok(cli) => cli,
        Err(error) => return unparsed(&error),
    };
    match run(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => failure::report(&error),
    }
}

/// Prints help and version as they are, and wrong usage as one line that names the fault and where to look.
fn unparsed(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() {
        error.exit();
    }
    let text = error.render().to_string();
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        output::error_line(&text);
        return ExitCode::from(2);
    }
    let mut lines = text.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with("tip: to pass"));
    let what = lines.next().unwrap_or_default().trim_start_matches("error: ");
    // The lines that follow name missing arguments or possible values.
    let more: Vec<&str> = lines.take_while(|l| !l.starts_with("Usage:") && !l.starts_with("For more")).collect();
    let more = if more.is_empty() { String::new() } else { format!(" {}", more.join(" ")) };
    output::error_line(&format!("curlew: {what}{more} (see `curlew --help`)"));
    ExitCode::from(2)
}

/// True if the reader closed the pipe: `curlew export records | head` is no failure.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let io = error.downcast_ref::<std::io::Error>();
    io.is_some_and(|e| e.kind() == std::io::ErrorKind::BrokenPipe)
}

fn run(cli: Cli) -> Result<()> {
    if let Command::Check { what } = cli.command {
        return check::run(what, &cli.shared);
    }
    if let Command::Config { what } = cli.command {
        return commands::config::run(&what, &cli.shared);
    }
    let config = config::load(&cli.shared, std::env::vars())?;
    log::start(config.log, cli.shared.verbose);
    server::descriptors::raise();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let done = runtime.block_on(commands::run(cli.command, config, Place::of(&cli.shared)));
    // Tasks that still wait for a socket or a disk are abandoned: every step may run twice.
    runtime.shutdown_background();
    done
}
