//! `curlew`: the local runner and the operator's commands.

mod args;
mod check;
mod clock;
mod commands;
mod config;
mod contact;
mod failure;
mod front;
mod output;
mod progress;
mod runner;
mod tally;
mod world;

use anyhow::Result;
use args::{Cli, Command, LogForm};
use clap::Parser;
use config::Config;
use std::io::IsTerminal;
use std::process::ExitCode;
use tracing_subscriber::EnvFilter;

fn main() -> ExitCode {
    let cli = Cli::parse();
    match run(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => failure::report(&error),
    }
}

/// `curlew export records | head` is no failure.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let io = error.downcast_ref::<std::io::Error>();
    io.is_some_and(|e| e.kind() == std::io::ErrorKind::BrokenPipe)
}

fn run(cli: Cli) -> Result<()> {
    if let Command::Check { what } = cli.command {
        return check::run(what, &cli.shared);
    }
    let config = Config::load(&cli.shared, std::env::vars())?;
    start_log(&config);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let done = runtime.block_on(commands::run(cli.command, config));
    // What still waits for a socket or a disk is not waited for: every step may run twice.
    runtime.shutdown_background();
    done
}

fn start_log(config: &Config) {
    let level = match config.verbose {
        0 => "warn",
        1 => "info,curlew=info",
        _ => "debug,hyper=info,h2=info,rustls=info,reqwest=info,tantivy=warn",
    };
    let builder = tracing_subscriber::fmt().with_env_filter(EnvFilter::new(level)).with_writer(std::io::stderr);
    match config.log {
        LogForm::Json => builder.json().flatten_event(true).init(),
        LogForm::Text => builder.with_target(false).with_ansi(std::io::stderr().is_terminal()).init(),
    }
}
